"""ArrayRecordWriter and ArrayRecordReader: records by their numbers."""

import gc
import io
import os
import tempfile
import threading
import unittest

import goldens
import tidemill_riegeli as riegeli

RECORDS = [b'record %d ' % number * (number % 7) for number in range(500)]


def file_of(records, options=''):
    file = io.BytesIO()
    with riegeli.ArrayRecordWriter(file, options) as writer:
        for record in records:
            writer.write(record)
    return file.getvalue()


class Writing(unittest.TestCase):
    def test_every_option_makes_a_file_that_is_read_back(self):
        for options in (
            '',
            'group_size:1,uncompressed',
            'group_size:65536,zstd:3',
            'group_size:10,brotli:1,pad_to_block_boundary:true',
            'group_size:7,snappy,max_parallelism:2',
            'transpose,group_size:100',
        ):
            with self.subTest(options=options):
                reader = riegeli.ArrayRecordReader(file_of(RECORDS, options))
                self.assertEqual(reader.num_records(), len(RECORDS))
                self.assertEqual(reader.read_all(), RECORDS)

    def test_paths_and_kinds_of_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'some.array_record')
            writer = riegeli.ArrayRecordWriter(path, options='group_size:2', file_writer_buffer_size=1 << 20)
            self.assertTrue(writer.ok() and writer.is_open())
            for record in (b'bytes', bytearray(b'array'), memoryview(b'view')):
                writer.write(record)
            with self.assertRaises(TypeError):
                writer.write('text')
            writer.close()
            writer.close()
            self.assertFalse(writer.ok() or writer.is_open())
            with self.assertRaises(ValueError):
                writer.write(b'late')
            self.assertIn('some.array_record', repr(writer))
            self.assertEqual(riegeli.ArrayRecordReader(path).read_all(), [b'bytes', b'array', b'view'])
            # Any reader of these files has the same records.
            self.assertEqual(list(riegeli.RecordDataSource(path)), [b'bytes', b'array', b'view'])
        with self.assertRaises(FileNotFoundError):
            riegeli.ArrayRecordWriter(os.path.join(folder, 'gone'))

    def test_options_that_do_not_parse_are_value_errors(self):
        for options in ('blah', 'group_size:0', 'zstd:1,brotli'):
            with self.assertRaises(ValueError):
                riegeli.ArrayRecordWriter(io.BytesIO(), options)

    def test_what_is_left_by_an_exception_has_no_index(self):
        file = io.BytesIO()
        with self.assertRaises(KeyError):
            with riegeli.ArrayRecordWriter(file) as writer:
                writer.write(b'a record')
                raise KeyError
        self.assertFalse(writer.is_open())
        with self.assertRaises(riegeli.RiegeliError):
            riegeli.ArrayRecordReader(file.getvalue())

    @unittest.skipUnless(hasattr(os, 'fork'), 'needs fork')
    def test_a_child_process_does_not_write(self):
        file = io.BytesIO()
        writer = riegeli.ArrayRecordWriter(file)
        writer.write(b'of the parent')
        child = os.fork()
        if child == 0:
            try:
                writer.write(b'of the child')
            except RuntimeError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        writer.close()
        self.assertEqual(riegeli.ArrayRecordReader(file.getvalue()).read_all(), [b'of the parent'])

    def test_what_the_file_object_raises_comes_through(self):
        class Full(io.BytesIO):
            def write(self, data):
                raise BufferError('full')

        writer = riegeli.ArrayRecordWriter(Full())
        writer.write(b'a record')
        with self.assertRaisesRegex(BufferError, 'full'):
            writer.close()


class Reading(unittest.TestCase):
    def setUp(self):
        self.reader = riegeli.ArrayRecordReader(file_of(RECORDS, 'group_size:10'))

    def test_golden_files_of_the_original(self):
        for entry in goldens.entries('array_record'):
            reader = riegeli.ArrayRecordReader(goldens.path(entry['file']))
            expected = entry['array_record']
            self.assertEqual(reader.num_records(), expected['records'])
            records = reader.read_all()
            if 'sha256_lenprefixed' in expected:
                self.assertEqual(goldens.records_hash(records), expected['sha256_lenprefixed'])
            self.assertIn(f'group_size:{expected["options"].split("group_size:")[1].split(",")[0]},',
                          reader.writer_options_string())

    def test_in_order_and_from_any_number(self):
        self.assertEqual([self.reader.read() for _ in RECORDS], RECORDS)
        with self.assertRaises(IndexError):
            self.reader.read()
        for number in (0, 499, 37, 500, 10**9):
            self.reader.seek(number)
            self.assertEqual(self.reader.record_index(), min(number, 500))
            if number < 500:
                self.assertEqual(self.reader.read(), RECORDS[number])
                self.assertEqual(self.reader.record_index(), number + 1)
        with self.assertRaises(OverflowError):
            self.reader.seek(-1)

    def test_some_by_their_numbers(self):
        self.reader.seek(5)
        numbers = [499, 0, 0, 250, 11]
        self.assertEqual(self.reader.read(numbers), [RECORDS[number] for number in numbers])
        self.assertEqual(self.reader.read([]), [])
        for begin, end in ((0, 500), (3, 4), (-3, -1), (0, -1), (490, 500)):
            self.assertEqual(self.reader.read(begin, end), RECORDS[begin:end])
        for begin, end in ((0, 0), (3, 2), (0, 501), (-501, 3), (500, 500)):
            with self.assertRaises(IndexError):
                self.reader.read(begin, end)
        for numbers in ([500], [0, 1 << 40]):
            with self.assertRaises(IndexError):
                self.reader.read(numbers)
        for arguments in (('0',), (1, 2, 3), (None, 2)):
            with self.assertRaises(TypeError):
                self.reader.read(*arguments)
        # None of this moves the reader.
        self.assertEqual(self.reader.record_index(), 5)

    def test_more_than_is_read_at_a_time(self):
        records = [os.urandom(100_000) for _ in range(30)]
        self.assertEqual(riegeli.ArrayRecordReader(file_of(records)).read_all(), records)

    def test_options_are_checked(self):
        data = file_of(RECORDS[:3])
        for options in (
            '',
            'readahead_buffer_size:0,max_parallelism:0',
            'readahead_buffer_size:1.5M, max_parallelism:auto',
            'index_storage_option:offloaded,',
        ):
            self.assertEqual(riegeli.ArrayRecordReader(data, options, file_reader_buffer_size=1024).read(), RECORDS[0])
        for options in ('blah', 'max_parallelism:-1', 'readahead_buffer_size:x', 'index_storage_option:x'):
            with self.assertRaises(ValueError):
                riegeli.ArrayRecordReader(data, options)

    def test_a_closed_reader_is_closed(self):
        with self.reader as reader:
            self.assertTrue(reader.ok() and reader.is_open())
        self.assertFalse(reader.ok() or reader.is_open())
        for call in (reader.read, reader.read_all, reader.num_records, reader.record_index):
            with self.assertRaises(ValueError):
                call()
        reader.close()

    def test_damage_is_an_error_of_what_is_damaged(self):
        data = bytearray(file_of(RECORDS, 'group_size:10,uncompressed'))
        data[110] ^= 1
        reader = riegeli.ArrayRecordReader(bytes(data))
        with self.assertRaises(riegeli.InvalidArgumentError):
            reader.read()
        self.assertEqual(reader.read(10, 20), RECORDS[10:20])
        # Without the end there is no index.
        with self.assertRaisesRegex(riegeli.RiegeliError, 'no multiple of 65536'):
            riegeli.ArrayRecordReader(bytes(data[:-1]))
        with self.assertRaisesRegex(riegeli.RiegeliError, 'no postscript'):
            riegeli.ArrayRecordReader(bytes(data[:-65536]))
        with self.assertRaisesRegex(riegeli.RiegeliError, 'Git LFS'):
            riegeli.ArrayRecordReader(b'version https://git-lfs.github.com/spec/v1\noid sha256:0\n' * 3)

    def test_threads_take_turns(self):
        found, refused = [], 0

        def work():
            nonlocal refused
            while True:
                try:
                    found.append(self.reader.read())
                except RuntimeError:
                    refused += 1
                except IndexError:
                    return

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found), sorted(RECORDS))

    def test_a_cycle_through_the_file_object_is_collected(self):
        import weakref

        file = io.BytesIO(file_of(RECORDS))
        reader = riegeli.ArrayRecordReader(file)
        file.reader = reader
        gone = weakref.ref(reader)
        del file, reader
        gc.collect()
        self.assertIsNone(gone())


if __name__ == '__main__':
    unittest.main()
