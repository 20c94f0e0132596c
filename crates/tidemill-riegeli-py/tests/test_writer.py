"""RecordWriter: what it writes is read back, and every promise of flush, positions and options holds."""

import io
import multiprocessing
import os
import tempfile
import unittest

import goldens
import tidemill_riegeli as riegeli

TEXT = goldens.dataset('text')


class Message:
    def __init__(self, text):
        self.text = text

    def SerializeToString(self):
        return self.text.encode()


def written(records, **options):
    file = io.BytesIO()
    with riegeli.RecordWriter(file, owns_dest=False, **options) as writer:
        writer.write_records(records)
    return file.getvalue()


def read(data):
    with riegeli.RecordReader(data) as reader:
        return list(reader.read_records())


class Options(unittest.TestCase):
    def test_positions_do_not_change_with_close(self):
        for options in ('uncompressed', 'uncompressed,parallelism:2'):
            writer = riegeli.RecordWriter(io.BytesIO(), owns_dest=False, options=options)
            for record in (b'first', b'second'):
                writer.write_record(record)
            last = writer.last_pos
            writer.close()
            self.assertEqual(writer.last_pos, last)
            self.assertGreater(writer.pos, last)
            writer = riegeli.RecordWriter(io.BytesIO(), owns_dest=False, options=options)
            writer.close()
            with self.assertRaises(riegeli.FailedPreconditionError):
                writer.last_pos

    def test_records_come_back_with_every_codec_and_layout(self):
        codecs = ('uncompressed', 'brotli:1', 'zstd:3', 'snappy', 'zstd:1,window_log:12')
        for dataset in ('text', 'kitchen', 'mixed_nonproto', 'empties', 'empty'):
            records = goldens.dataset(dataset)
            for codec in codecs:
                for layout in ('', ',transpose', ',transpose,bucket_fraction:0.1', ',chunk_size:1k', ',padding:4k'):
                    with self.subTest(dataset=dataset, options=codec + layout):
                        self.assertEqual(read(written(records, options=codec + layout)), records)

    def test_uncompressed_files_are_those_of_the_cpp_library(self):
        seen = 0
        for entry in goldens.entries():
            options = entry.get('options', '')
            if 'uncompressed' not in options or entry.get('args') or '+' in entry['dataset'] or 'made_by' in entry:
                continue
            path = goldens.FOLDER / 'datasets' / f'{entry["dataset"]}.recs'
            if not path.exists():
                continue
            with self.subTest(file=entry['file']):
                data = written(goldens.dataset(entry['dataset']), options=options)
                self.assertEqual(data, goldens.path(entry['file']).read_bytes())
                seen += 1
        self.assertGreater(seen, 10)

    def test_wrong_options_say_what_is_expected(self):
        for options in ('zstd:99', 'fast', 'brotli,snappy'):
            with self.assertRaisesRegex(riegeli.RiegeliError, 'expected') as raised:
                riegeli.RecordWriter(io.BytesIO(), options=options)
            self.assertEqual(raised.exception.kind, 'option')

    def test_metadata_are_written_and_read_back(self):
        metadata = riegeli.RecordsMetadata(
            file_comment='a comment', record_type_name='p.M', file_descriptor=[b'\x0a\x01f'], num_records=3
        )
        for arguments in ({'metadata': metadata}, {'serialized_metadata': metadata.SerializeToString()}):
            with riegeli.RecordReader(written([b'a'], **arguments)) as reader:
                self.assertEqual(reader.read_serialized_metadata(), metadata.SerializeToString())
                self.assertEqual(reader.read_metadata(), metadata)
                self.assertEqual(reader.read_record(), b'a')
        with self.assertRaises(TypeError):
            written([], metadata=metadata, serialized_metadata=b'x')
        self.assertEqual(written([b'a'], metadata=riegeli.RecordsMetadata()), written([b'a']))


class Destinations(unittest.TestCase):
    def test_paths_and_file_objects_hold_the_same_bytes(self):
        expected = written(TEXT, options='uncompressed')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'f.riegeli')
            for dest in (lambda: path, lambda: open(path, 'wb'), lambda: io.FileIO(path, 'wb')):
                with riegeli.RecordWriter(dest(), options='uncompressed') as writer:
                    writer.write_records(TEXT)
                with open(path, 'rb') as file:
                    self.assertEqual(file.read(), expected)

    def test_a_file_that_was_opened_for_appending_is_appended_to(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'f.riegeli')
            for part in (TEXT[:100], TEXT[100:]):
                with riegeli.RecordWriter(open(path, 'ab')) as writer:
                    writer.write_records(part)
            self.assertEqual(read(path), TEXT)

    def test_a_stream_is_written_from_where_it_is_said_to_be(self):
        class Stream:
            def __init__(self):
                self.data = b''

            def write(self, data):
                self.data += bytes(data[:1000])
                return min(len(data), 1000)

        first, second = Stream(), Stream()
        with riegeli.RecordWriter(first, owns_dest=False) as writer:
            writer.write_records(TEXT[:9])
        with riegeli.RecordWriter(second, owns_dest=False, assumed_pos=len(first.data)) as writer:
            writer.write_records(TEXT[9:])
        self.assertEqual(read(first.data + second.data), TEXT)

    def test_a_file_is_closed_by_who_owns_it(self):
        for owns_dest in (True, False):
            dest = io.BytesIO()
            with riegeli.RecordWriter(dest, owns_dest=owns_dest) as writer:
                self.assertIs(writer.dest, dest)
            self.assertEqual(dest.closed, owns_dest)

    def test_what_the_file_object_raises_comes_through(self):
        class Full(io.BytesIO):
            def write(self, data):
                raise OSError(28, 'No space left on device')

        writer = riegeli.RecordWriter(Full())
        writer.write_record(b'a')
        with self.assertRaises(OSError) as raised:
            writer.flush()
        self.assertEqual(raised.exception.errno, 28)

    def test_what_is_no_destination_is_refused(self):
        with self.assertRaises(TypeError):
            riegeli.RecordWriter(5)
        with self.assertRaises(FileNotFoundError) as raised:
            riegeli.RecordWriter('no/such/folder/f')
        self.assertEqual(raised.exception.filename, 'no/such/folder/f')


class Records(unittest.TestCase):
    def test_bytes_like_objects_and_messages_are_records(self):
        file = io.BytesIO()
        with riegeli.RecordWriter(file, owns_dest=False) as writer:
            writer.write_record(b'bytes')
            writer.write_record(bytearray(b'array'))
            writer.write_record(memoryview(b'views')[1:])
            writer.write_message(Message('one'))
            writer.write_messages(Message(text) for text in ('two', 'three'))
            for wrong in ('text', 5, None):
                with self.assertRaises(TypeError):
                    writer.write_record(wrong)
        self.assertEqual(read(file.getvalue()), [b'bytes', b'array', b'iews', b'one', b'two', b'three'])

    def test_positions_are_those_of_the_reader(self):
        for options in (
            'uncompressed,chunk_size:100',
            'transpose,zstd',
            'brotli:1,chunk_size:1k',
            'brotli:1,chunk_size:1k,parallelism:2',
        ):
            file, positions = io.BytesIO(), []
            with riegeli.RecordWriter(file, owns_dest=False, options=options) as writer:
                with self.assertRaises(riegeli.RiegeliError):
                    writer.last_pos
                for record in TEXT:
                    writer.write_record(record)
                    positions.append(writer.last_pos)
                self.assertLessEqual(writer.estimated_size(), len(file.getvalue()) + (1 << 20))
            with riegeli.RecordReader(file.getvalue()) as reader:
                self.assertEqual([position for position, _ in reader.read_records_with_keys()], positions)
            self.assertEqual(writer.pos, riegeli.RecordPosition(len(file.getvalue()), 0))
            self.assertEqual(writer.estimated_size(), len(file.getvalue()))

    def test_flush_makes_records_readable_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'f.riegeli')
            for dest in (lambda: path, lambda: open(path, 'wb'), lambda: open(path, 'wb', buffering=0)):
                writer, expected = riegeli.RecordWriter(dest()), []
                for flush_type in (riegeli.FlushType.FROM_PROCESS, riegeli.FlushType.FROM_MACHINE):
                    writer.write_record(b'record')
                    expected.append(b'record')
                    writer.flush(flush_type)
                    self.assertEqual(read(path), expected)
                writer.close()
        in_memory = io.BytesIO()
        writer = riegeli.RecordWriter(in_memory)
        writer.write_record(b'a')
        writer.flush(riegeli.FlushType.FROM_MACHINE)
        self.assertEqual(read(in_memory.getvalue()), [b'a'])

    def test_a_closed_writer_refuses(self):
        writer = riegeli.RecordWriter(io.BytesIO())
        writer.close()
        writer.close()
        for use in (lambda: writer.write_record(b'a'), writer.flush):
            with self.assertRaises(ValueError):
                use()

    def test_the_writer_of_the_parent_refuses_in_a_child(self):
        file = io.BytesIO()
        writer = riegeli.RecordWriter(file, owns_dest=False)
        writer.write_record(b'parent')

        def child(queue):
            for use in (lambda: writer.write_record(b'child'), writer.flush, writer.close):
                try:
                    use()
                    queue.put('written')
                except RuntimeError as error:
                    queue.put(str(error))

        context = multiprocessing.get_context('fork')
        queue = context.SimpleQueue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        for _ in range(3):
            self.assertIn('forked', queue.get())
        process.join()
        writer.close()
        self.assertEqual(read(file.getvalue()), [b'parent'])

    def test_a_child_that_lets_go_of_a_writer_writes_nothing_and_does_not_hang(self):
        for options in ('uncompressed', 'zstd,parallelism:2,chunk_size:1k'):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'f.riegeli')
                writers = [riegeli.RecordWriter(path, options=options)]
                writers[0].write_records(TEXT)
                writers[0].pos
                process = multiprocessing.get_context('fork').Process(target=writers.clear)
                process.start()
                process.join(20)
                self.assertEqual(process.exitcode, 0)
                writers.pop().close()
                self.assertEqual(read(path), TEXT)


if __name__ == '__main__':
    unittest.main()
