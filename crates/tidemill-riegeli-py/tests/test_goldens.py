"""Reading files of the C++ library gives what the C++ library reads."""

import hashlib
import io
import json
import struct
import unittest

import goldens
import tidemill_riegeli as riegeli


CLASSES = {
    'INVALID_ARGUMENT': riegeli.InvalidArgumentError,
    'UNIMPLEMENTED': riegeli.UnimplementedError,
    'RESOURCE_EXHAUSTED': riegeli.ResourceExhaustedError,
}


def read(src, recovery):
    """Returns records, positions, the error that ended reading, and whether closing went well."""
    reader = riegeli.RecordReader(src, recovery=recovery)
    records, positions, error = [], hashlib.sha256(), None
    try:
        for position, record in reader.read_records_with_keys():
            records.append(record)
            positions.update(struct.pack('<QQ', position.chunk_begin, position.record_index))
    except riegeli.RiegeliError as raised:
        error = raised
    end = reader.pos
    try:
        reader.close()
        closed = True
    except riegeli.RiegeliError as raised:
        # What reading failed with is raised again.
        assert str(raised) == str(error) if error else raised.kind == 'truncated', raised
        closed = False
    return records, positions.hexdigest(), error, closed, end


class Goldens(unittest.TestCase):
    def test_records_statuses_and_skipped_regions_are_those_of_the_cpp_library(self):
        entries = goldens.entries()
        self.assertGreater(len(entries), 100)
        for entry in entries:
            path = goldens.path(entry['file'])
            for mode in ('cpp_plain', 'cpp_recover'):
                expected = entry[mode]
                for src in (path, path.read_bytes(), open(path, 'rb'), io.BytesIO(path.read_bytes())):
                    with self.subTest(file=entry['file'], mode=mode, src=type(src).__name__):
                        skipped = []
                        recovery = skipped.append if mode == 'cpp_recover' else None
                        records, positions, error, closed, end = read(src, recovery)
                        self.assertEqual(len(records), expected['records'])
                        self.assertEqual(goldens.records_hash(records), expected['sha256_lenprefixed'])
                        self.assertEqual(error is None, expected['read_status'] == 'OK', error)
                        self.assertEqual(closed, expected['close_ok'])
                        if error is None:
                            self.assertEqual([end.chunk_begin, end.record_index], expected['end_pos'])
                        else:
                            self.assertIn(error.kind, ('corrupt', 'unsupported'))
                            status = expected['read_status'].split(':')[0]
                            self.assertIsInstance(error, CLASSES[status])
                        regions = [(region['begin'], region['end']) for region in expected['skipped']]
                        self.assertEqual([(region.begin, region.end) for region in skipped], regions)
                        if mode == 'cpp_recover' and 'positions_sha256' in entry:
                            self.assertEqual(positions, entry['positions_sha256'])

    def test_metadata_are_those_of_the_cpp_library(self):
        seen = 0
        for entry in goldens.entries():
            expected = entry['cpp_plain']['metadata_hex']
            with self.subTest(file=entry['file']):
                reader = riegeli.RecordReader(goldens.path(entry['file']))
                if expected == '<error>':
                    with self.assertRaises(riegeli.RiegeliError):
                        reader.read_serialized_metadata()
                    continue
                metadata = reader.read_serialized_metadata()
                seen += bool(metadata)
                self.assertEqual('<end>' if metadata is None else metadata.hex(), expected)
                self.assertEqual(
                    reader.read_metadata(),
                    None if metadata is None else riegeli.RecordsMetadata.FromString(metadata),
                )
        self.assertGreater(seen, 2)

    def test_projections_are_those_of_the_cpp_library(self):
        seen = 0
        for entry in goldens.entries():
            for text, expected in entry.get('projections', {}).items():
                with self.subTest(file=entry['file'], projection=text):
                    paths = [
                        [] if path == 'root' else [int(number) for number in path.split('.')]
                        for path in text.split(',')
                        if path not in ('', 'none')
                    ]
                    with riegeli.RecordReader(goldens.path(entry['file']), field_projection=paths) as reader:
                        records = list(reader.read_records())
                    self.assertEqual(goldens.records_hash(records), expected['sha256_lenprefixed'])
                    with riegeli.RecordReader(goldens.path(entry['file'])) as reader:
                        reader.check_file_format()
                        reader.set_field_projection(paths)
                        self.assertEqual(list(reader.read_records()), records)
                    seen += 1
        self.assertGreater(seen, 50)

    def test_seeks_by_number_are_those_of_the_cpp_library(self):
        manifest = json.loads((goldens.FOLDER / 'manifest.json').read_text())
        traces = [entry for entry in manifest['entries'] if 'seek_numeric_file' in entry]
        self.assertGreater(len(traces), 0)
        for trace in traces:
            with riegeli.RecordReader(goldens.path(trace['seek_numeric_file'])) as reader:
                for pos, *found in trace['results']:
                    with self.subTest(file=trace['seek_numeric_file'], pos=pos):
                        reader.seek_numeric(pos)
                        record = reader.read_record_with_key()
                        if record is None:
                            self.assertEqual(found, [None])
                        else:
                            position, record = record
                            self.assertEqual([position.chunk_begin, position.record_index, len(record)], found)


if __name__ == '__main__':
    unittest.main()
