"""RecordDataSource: records by number, in one process and in many."""

import multiprocessing
import os
import pickle
import random
import sys
import tempfile
import threading
import unittest

import goldens
import tidemill_riegeli as riegeli

TEXT = goldens.dataset('text')
SHARDS = [
    goldens.path('cpp/text.uncompressed_chunk_size100.riegeli'),
    goldens.path('cpp/empty.simple_zstd.riegeli'),
    goldens.path('cpp/kitchen.transpose_uncompressed_chunk_size1k.riegeli'),
    goldens.path('cpp/mixed_empty.simple_snappy.riegeli'),
]
EMPTY = goldens.records_hash([])
RECORDS = TEXT + goldens.dataset('kitchen') + goldens.dataset('mixed_empty')


def read_some(arguments):
    """What a worker does: it has the source by inheritance or from a pickle."""
    source, keys = arguments
    return [source[key] for key in keys], source.__getitems__(keys)


INHERITED = None


def read_inherited(keys):
    return read_some((INHERITED, keys))


def shuffled(count, seed):
    keys = list(range(count))
    random.Random(seed).shuffle(keys)
    return keys


class Numbers(unittest.TestCase):
    def setUp(self):
        self.source = riegeli.RecordDataSource(SHARDS)

    def test_every_number_has_its_record(self):
        self.assertEqual(len(self.source), len(RECORDS))
        self.assertEqual(list(self.source), RECORDS)
        for key in shuffled(len(RECORDS), 1):
            self.assertEqual(self.source[key], RECORDS[key])
            self.assertEqual(self.source[key - len(RECORDS)], RECORDS[key])

    def test_every_golden_file_is_indexed(self):
        for entry in goldens.entries():
            if entry['cpp_plain']['read_status'] != 'OK' or not entry['cpp_plain']['close_ok']:
                continue
            path = goldens.path(entry['file'])
            with self.subTest(file=entry['file']):
                source = riegeli.RecordDataSource(path, cached_chunks=2)
                records = source[:]
                self.assertEqual(goldens.records_hash(records), entry['cpp_plain']['sha256_lenprefixed'])
                keys = shuffled(len(records), 2)[:50]
                self.assertEqual([source[key] for key in keys], [records[key] for key in keys])

    def test_array_record_files_have_the_records_of_their_own_index(self):
        entries = goldens.entries('array_record')
        self.assertGreaterEqual(len(entries), 5)
        total = 0
        for entry in entries:
            expected = entry['array_record']
            with self.subTest(file=entry['file']):
                source = riegeli.RecordDataSource(goldens.path(entry['file']))
                records = list(source)
                self.assertEqual(len(source), expected['records'])
                self.assertEqual(goldens.records_hash(records), expected.get('sha256_lenprefixed', EMPTY))
                keys = shuffled(len(records), 5)
                self.assertEqual(source.__getitems__(keys), [records[key] for key in keys])
                total += len(records)
        mixed = riegeli.RecordDataSource([goldens.FOLDER / 'array_record' / '*.array_record', SHARDS[0]])
        self.assertEqual(len(mixed), total + len(TEXT))
        self.assertEqual(mixed[-1], TEXT[-1])

    def test_an_array_record_file_without_its_postscript_is_refused(self):
        data = goldens.path('array_record/ar_text_g1_zstd3.array_record').read_bytes()
        with tempfile.NamedTemporaryFile() as file:
            file.write(data[:-65536])
            file.flush()
            with self.assertRaisesRegex(riegeli.RiegeliError, 'without a valid postscript') as raised:
                riegeli.RecordDataSource(file.name)
            self.assertEqual((raised.exception.kind, raised.exception.file), ('corrupt', file.name))

    def test_parts_of_files_shards_and_instructions(self):
        class Instruction:
            def __init__(self, filename, skip, take):
                self.filename, self.skip, self.take = filename, skip, take

        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, 'data.array_record')
            records = []
            for shard in range(3):
                with riegeli.ArrayRecordWriter(f'{name}-0000{shard}-of-00003', 'group_size:2') as writer:
                    for number in range(5):
                        writer.write(b'%d/%d' % (shard, number))
                        records.append(b'%d/%d' % (shard, number))
            first, second = f'{name}-00000-of-00003', f'{name}-00001-of-00003'
            for paths, expected in (
                (f'{name}@3', records),
                ([f'{name}@3', first], records + records[:5]),
                (f'{first}[0:3]', records[:3]),
                ([f'{first}[2:2]', f'{second}[1:5]'], records[6:10]),
                (Instruction(first, 2, 1), records[2:3]),
                ([Instruction(first, 3, -1), second, f'{name}-0000[02]-of-00003'], records[3:10] + records[:5] + records[10:]),
            ):
                source = riegeli.RecordDataSource(paths)
                self.assertEqual(len(source), len(expected))
                self.assertEqual(list(source), expected)
                self.assertEqual([source[key] for key in range(-len(expected), 0)], expected)
                again = pickle.loads(pickle.dumps(source))
                self.assertEqual((list(again), repr(again)), (expected, repr(source)))
            self.assertNotEqual(repr(riegeli.RecordDataSource(first)), repr(riegeli.RecordDataSource(f'{first}[0:4]')))
            self.assertEqual(riegeli.RecordDataSource(f'{first}[0:4]').paths, [first])
            for wrong in (f'{first}[0:6]', f'{first}[6:6]', Instruction(first, 0, 6), Instruction(first, 1 << 63, 1 << 62)):
                with self.assertRaisesRegex(ValueError, 'there are 5'):
                    riegeli.RecordDataSource(wrong)
            for missing in (f'{name}@4', f'{name}@100000', f'{name}@0', f'{first}[2:1]', f'{first}[:3]'):
                with self.assertRaises(FileNotFoundError):
                    riegeli.RecordDataSource(missing)
            # A file may have such a name.
            for literal in ('x@2', 'x[0:1]'):
                path = os.path.join(folder, literal)
                os.link(first, path)
                self.assertEqual(list(riegeli.RecordDataSource(path)), records[:5])

    def test_an_array_record_file_with_a_damaged_index_is_refused(self):
        data = bytearray(goldens.path('array_record/ar_text_g100_zstd3.array_record').read_bytes())
        for at in (1681, 1681 + 45):
            damaged = bytearray(data)
            damaged[at] ^= 1
            with tempfile.NamedTemporaryFile() as file:
                file.write(damaged)
                file.flush()
                with self.assertRaises(riegeli.RiegeliError) as raised:
                    riegeli.RecordDataSource(file.name)
                self.assertEqual(raised.exception.file, file.name)

    def test_batches_come_in_the_order_of_their_numbers(self):
        keys = shuffled(len(RECORDS), 3) + [0, 0, -1]
        self.assertEqual(self.source.__getitems__(keys), [RECORDS[key] for key in keys])
        self.assertEqual(self.source.__getitems__(iter(keys)), [RECORDS[key] for key in keys])
        self.assertEqual(self.source.__getitems__([]), [])

    def test_slices_are_those_of_a_list(self):
        for part in (slice(None), slice(5, 9), slice(-3, None), slice(None, None, -7), slice(9, 5), slice(10**6, None)):
            self.assertEqual(self.source[part], RECORDS[part])

    def test_numbers_that_there_are_not_are_errors(self):
        for key in (len(RECORDS), -len(RECORDS) - 1, 1 << 62):
            with self.assertRaises(IndexError):
                self.source[key]
            with self.assertRaises(IndexError):
                self.source.__getitems__([0, key])
        for key in ('0', 1.0, None):
            with self.assertRaises(TypeError):
                self.source[key]

    def test_the_cache_is_bounded_and_can_be_let_go(self):
        def open_files():
            return len(os.listdir('/dev/fd'))

        before = open_files()
        source = riegeli.RecordDataSource(SHARDS, cached_chunks=3)
        for key in shuffled(len(RECORDS), 4):
            source[key]
            self.assertLessEqual(open_files(), before + 3)
        with source:
            source[0]
        self.assertEqual(open_files(), before)
        self.assertEqual(source[1], RECORDS[1])

    def test_a_projection_is_kept_in_every_record(self):
        path = goldens.path('cpp/wide.transpose_zstd.riegeli')
        source = riegeli.RecordDataSource([path], field_projection=[[5], [4, riegeli.EXISTENCE_ONLY]])
        with riegeli.RecordReader(path, field_projection=[[5], [4, 0]]) as reader:
            expected = list(reader.read_records())
        self.assertEqual(source[:], expected)
        self.assertEqual(pickle.loads(pickle.dumps(source))[:], expected)

    def test_damage_is_an_error_of_its_records_only(self):
        source = riegeli.RecordDataSource(goldens.path('cpp/bad.chunk_data_first.riegeli'))
        with self.assertRaises(riegeli.RiegeliError) as raised:
            source[0]
        self.assertEqual(raised.exception.offset, 162)
        self.assertEqual(source[1:], TEXT[1:])

    def test_a_file_that_ends_inside_a_chunk_is_refused(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(SHARDS[0].read_bytes()[:-1])
            file.flush()
            with self.assertRaises(riegeli.RiegeliError) as raised:
                riegeli.RecordDataSource(file.name)
            self.assertEqual((raised.exception.kind, raised.exception.file), ('truncated', file.name))

    def test_a_file_that_shrinks_is_an_error_and_no_wrong_record(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(SHARDS[0].read_bytes())
            file.flush()
            source = riegeli.RecordDataSource(file.name)
            file.truncate(1000)
            self.assertEqual(source[3], TEXT[3])
            with self.assertRaises(riegeli.RiegeliError):
                source[200]


class Paths(unittest.TestCase):
    def test_patterns_are_sorted_and_names_of_files_are_taken_as_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ('f-1', 'f-0', 'f-[2]')]
            for path in paths:
                with riegeli.RecordWriter(path) as writer:
                    writer.write_record(os.path.basename(path).encode())
            self.assertEqual(list(riegeli.RecordDataSource(folder + '/f-?')), [b'f-0', b'f-1'])
            self.assertEqual(list(riegeli.RecordDataSource([paths[2], folder + '/*-0'])), [b'f-[2]', b'f-0'])
            source = riegeli.RecordDataSource(folder + '/f*')
            self.assertEqual(source.paths, sorted(paths))
            self.assertEqual(pickle.loads(pickle.dumps(source)).paths, source.paths)
            with self.assertRaises(FileNotFoundError):
                riegeli.RecordDataSource(folder + '/g*')

    def test_what_is_no_path_is_refused(self):
        with self.assertRaises(FileNotFoundError) as raised:
            riegeli.RecordDataSource([SHARDS[0], 'no/such/file'])
        self.assertEqual(raised.exception.filename, 'no/such/file')
        for wrong in ([], ()):
            with self.assertRaises(ValueError):
                riegeli.RecordDataSource(wrong)
        for wrong in (5, [5], None):
            with self.assertRaises(TypeError):
                riegeli.RecordDataSource(wrong)

    def test_the_representation_tells_sources_apart(self):
        source = riegeli.RecordDataSource(SHARDS)
        self.assertEqual(repr(source), repr(riegeli.RecordDataSource(SHARDS)))
        self.assertNotEqual(repr(source), repr(riegeli.RecordDataSource(SHARDS[::-1])))
        self.assertIn(f'files=4, records={len(RECORDS)}', repr(source))


class Processes(unittest.TestCase):
    BATCHES = [shuffled(len(RECORDS), seed)[:200] for seed in range(16)]
    EXPECTED = [([RECORDS[key] for key in keys],) * 2 for keys in BATCHES]

    def test_a_pool_of_forks_reads_the_source_that_it_inherits(self):
        global INHERITED
        INHERITED = riegeli.RecordDataSource(SHARDS, cached_chunks=4)
        INHERITED[250]
        stop = threading.Event()

        def read_meanwhile():
            while not stop.is_set():
                INHERITED[random.randrange(len(RECORDS))]

        # Threads of the parent that are reading at the moment of the fork take nothing from the children.
        threads = [threading.Thread(target=read_meanwhile) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            with multiprocessing.get_context('fork').Pool(4) as pool:
                answers = pool.map_async(read_inherited, self.BATCHES, chunksize=1).get(60)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(answers, self.EXPECTED)

    def test_a_pool_of_new_processes_reads_the_source_from_a_pickle(self):
        source = riegeli.RecordDataSource(SHARDS)
        with multiprocessing.get_context('spawn').Pool(2) as pool:
            answers = pool.map_async(read_some, [(source, keys) for keys in self.BATCHES], chunksize=4).get(60)
        self.assertEqual(answers, self.EXPECTED)

    def test_threads_share_a_source(self):
        source = riegeli.RecordDataSource(SHARDS, cached_chunks=3)
        answers = [None] * len(self.BATCHES)

        def work(index):
            answers[index] = read_some((source, self.BATCHES[index]))

        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            threads = [threading.Thread(target=work, args=(index,)) for index in range(len(answers))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(switch)
        self.assertEqual(answers, self.EXPECTED)

    def test_a_reader_goes_on_in_a_child(self):
        reader = riegeli.RecordReader(SHARDS[0])
        reader.read_record()
        with multiprocessing.get_context('fork').Pool(1, initializer=globals().update, initargs=({'READER': reader},)) as pool:
            child = pool.apply_async(read_rest).get(60)
        self.assertEqual(child, TEXT[1:])
        self.assertEqual(list(reader.read_records()), TEXT[1:])


READER = None


def read_rest():
    return list(READER.read_records())


if __name__ == '__main__':
    unittest.main()
