"""RecordReader beyond what the goldens show: sources, moves, searches, recovery, errors."""

import gc
import io
import os
import pathlib
import pickle
import tempfile
import threading
import unittest
import weakref

import goldens
import tidemill_riegeli as riegeli

TEXT = goldens.dataset('text')
TEXT_FILE = goldens.path('cpp/text.uncompressed_chunk_size100.riegeli')
DAMAGED = goldens.path('cpp/bad.chunk_data_first.riegeli')


def file_of(records, options='uncompressed,chunk_size:1k'):
    file = io.BytesIO()
    with riegeli.RecordWriter(file, owns_dest=False, options=options) as writer:
        writer.write_records(records)
    return file.getvalue()


class Stream:
    """An object with read() only, that gives little at a time."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, size):
        return self.file.read(min(size, 1000))


class Message:
    """What the reader and writer ask of a message class."""

    def __init__(self, text):
        self.text = text

    @classmethod
    def FromString(cls, serialized):
        return cls(serialized.decode())

    def SerializeToString(self):
        return self.text.encode()


class Sources(unittest.TestCase):
    def test_every_kind_of_source_gives_the_records(self):
        data = TEXT_FILE.read_bytes()
        with tempfile.NamedTemporaryFile() as raw:
            raw.write(data)
            raw.flush()
            sources = [
                str(TEXT_FILE),
                TEXT_FILE,
                data,
                bytearray(data),
                memoryview(data),
                memoryview(data)[:],
                open(TEXT_FILE, 'rb'),
                io.FileIO(TEXT_FILE),
                open(raw.name, 'r+b'),
                io.BytesIO(data),
                Stream(data),
            ]
            for src in sources:
                with self.subTest(src=src if not isinstance(src, bytes) else 'bytes'):
                    with riegeli.RecordReader(src) as reader:
                        self.assertEqual(list(reader.read_records()), TEXT)
                        self.assertEqual(reader.supports_random_access, not isinstance(src, Stream))

    def test_what_fileno_belongs_to_is_not_taken_for_the_contents(self):
        import gzip

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'text.riegeli.gz')
            with gzip.open(path, 'wb') as file:
                file.write(TEXT_FILE.read_bytes())
            with riegeli.RecordReader(gzip.open(path, 'rb')) as reader:
                self.assertEqual(list(reader.read_records()), TEXT)

    def test_an_open_file_is_read_from_where_it_is(self):
        for src in (open(TEXT_FILE, 'rb'), io.BytesIO(TEXT_FILE.read_bytes())):
            src.seek(162)
            with riegeli.RecordReader(src) as reader:
                self.assertEqual(list(reader.read_records()), TEXT[1:])

    def test_a_file_is_closed_by_who_owns_it(self):
        for owns_src in (True, False):
            src = open(TEXT_FILE, 'rb')
            with riegeli.RecordReader(src, owns_src=owns_src) as reader:
                self.assertIs(reader.src, src)
            self.assertEqual(src.closed, owns_src)
            src.close()

    def test_a_stream_goes_forwards_only(self):
        with riegeli.RecordReader(io.BytesIO(TEXT_FILE.read_bytes()), assumed_pos=0) as reader:
            self.assertEqual(reader.read_record(), TEXT[0])
            self.assertFalse(reader.supports_random_access)
            with self.assertRaises(OSError):
                reader.search_for_record(lambda record: 0)
            with self.assertRaises(riegeli.RiegeliError):
                reader.size()
            self.assertEqual(list(reader.read_records()), TEXT[1:])
            self.assertEqual(reader.size(), TEXT_FILE.stat().st_size)
        with self.assertRaises(ValueError):
            riegeli.RecordReader(io.BytesIO(), assumed_pos=64)

    def test_what_is_no_source_is_refused(self):
        with self.assertRaises(TypeError):
            riegeli.RecordReader(5)
        with self.assertRaises(FileNotFoundError) as raised:
            riegeli.RecordReader('no/such/file.riegeli')
        self.assertEqual(raised.exception.filename, 'no/such/file.riegeli')
        with self.assertRaises(OSError):
            riegeli.RecordReader(os.curdir)

    def test_what_the_file_object_raises_comes_through(self):
        class Refusing(io.BytesIO):
            def read(self, size=-1):
                raise ZeroDivisionError('no bytes today')

        reader = riegeli.RecordReader(Refusing(TEXT_FILE.read_bytes()))
        with self.assertRaisesRegex(ZeroDivisionError, 'no bytes today'):
            reader.read_record()

    def test_an_object_that_returns_more_than_asked_for_is_refused(self):
        class Lavish(Stream):
            def read(self, size):
                return b'x' * (size + 1)

        with self.assertRaisesRegex(OSError, r'read\(\d+\) returned'):
            riegeli.RecordReader(Lavish(b'')).read_record()


class Moves(unittest.TestCase):
    def setUp(self):
        self.reader = riegeli.RecordReader(TEXT_FILE)

    def test_positions_lead_back_to_their_records(self):
        keys = list(self.reader.read_records_with_keys())
        self.assertEqual([record for _, record in keys], TEXT)
        for position, record in reversed(keys):
            self.reader.seek(position)
            self.assertEqual(self.reader.pos, position)
            self.assertEqual(self.reader.read_record(), record)
            self.assertEqual(self.reader.last_pos, position)
            self.reader.seek_numeric(position.numeric)
            self.assertEqual(self.reader.read_record(), record)

    def test_seek_back_goes_through_the_file_from_its_end(self):
        self.reader.seek_numeric(self.reader.size())
        self.assertIsNone(self.reader.read_record())
        found = []
        while self.reader.seek_back():
            found.append(self.reader.read_record())
            self.reader.seek_back()
        self.assertEqual(found, TEXT[::-1])

    def test_last_pos_needs_a_record(self):
        with self.assertRaises(riegeli.RiegeliError):
            self.reader.last_pos
        self.reader.read_record()
        self.assertEqual(self.reader.last_pos, riegeli.RecordPosition(64, 0))
        self.reader.seek_numeric(0)
        with self.assertRaises(riegeli.RiegeliError):
            self.reader.last_pos

    def test_a_closed_reader_keeps_its_position_and_nothing_else(self):
        self.reader.read_record()
        position = self.reader.pos
        self.reader.close()
        self.reader.close()
        self.assertEqual(self.reader.pos, position)
        for use in (self.reader.read_record, self.reader.size, self.reader.read_arrow):
            with self.assertRaises(ValueError):
                use()

    def test_messages_are_parsed_by_their_class(self):
        self.assertEqual(self.reader.read_message(Message).text, TEXT[0].decode())
        position, message = self.reader.read_message_with_key(Message)
        self.assertEqual((position, message.text), (self.reader.last_pos, TEXT[1].decode()))
        self.assertEqual([m.text.encode() for m in self.reader.read_messages(Message)], TEXT[2:])
        self.assertIsNone(self.reader.read_message(Message))
        self.reader.seek_numeric(0)
        pairs = self.reader.read_messages_with_keys(Message)
        self.assertEqual([m.text.encode() for _, m in pairs], TEXT)

    def test_the_file_format_is_checked(self):
        self.assertTrue(self.reader.check_file_format())
        self.assertFalse(riegeli.RecordReader(b'').check_file_format())
        with self.assertRaises(riegeli.RiegeliError):
            riegeli.RecordReader(b'not a file of records' * 5).check_file_format()


class Searches(unittest.TestCase):
    def setUp(self):
        self.keys = [b'%04d' % key for key in range(0, 2000, 2)]
        self.reader = riegeli.RecordReader(file_of(self.keys, 'uncompressed,chunk_size:100'))

    @staticmethod
    def compare(record, wanted):
        return (record > wanted) - (record < wanted)

    def test_every_key_and_every_gap_is_found(self):
        for wanted in (b'%04d' % key for key in range(0, 2000, 7)):
            present = wanted in self.keys
            next_key = next((key for key in self.keys if key >= wanted), None)
            with self.subTest(wanted=wanted):
                found = self.reader.search_for_record(lambda record: self.compare(record, wanted))
                self.assertEqual(found, 0 if present else 1)
                self.assertEqual(self.reader.read_record(), next_key)
                found = self.reader.search(lambda reader: self.compare(reader.read_record(), wanted))
                self.assertEqual(found, 0 if present else 1)
                self.assertEqual(self.reader.read_record(), next_key)

    def test_a_message_is_searched_for(self):
        found = self.reader.search_for_message(Message, lambda message: int(message.text) - 501)
        self.assertEqual(found, 1)
        self.assertEqual(self.reader.read_record(), b'0502')

    def test_records_before_and_records_that_cannot_be_judged_end_at_the_end(self):
        self.assertEqual(self.reader.search_for_record(lambda record: -1.5), -1)
        self.assertIsNone(self.reader.read_record())
        self.assertIsNone(self.reader.search_for_record(lambda record: None))
        self.assertIsNone(self.reader.search_for_record(lambda record: float('nan')))

    def test_a_search_is_logarithmic(self):
        seen = []
        self.reader.search_for_record(lambda record: seen.append(record) or self.compare(record, b'0777'))
        self.assertLess(len(seen), 40)

    def test_what_the_test_raises_comes_through_and_the_reader_stays(self):
        def raising(record):
            raise KeyError(record)

        with self.assertRaises(KeyError):
            self.reader.search_for_record(raising)
        with self.assertRaises(TypeError):
            self.reader.search_for_record(lambda record: 'before')
        self.reader.seek_numeric(0)
        self.assertEqual(self.reader.read_record(), b'0000')

    def test_the_test_cannot_move_the_reader(self):
        with self.assertRaisesRegex(RuntimeError, 'in use'):
            self.reader.search(lambda reader: reader.seek_numeric(0))


class Recovery(unittest.TestCase):
    def test_damage_is_an_error_with_its_facts(self):
        reader = riegeli.RecordReader(DAMAGED)
        with self.assertRaises(riegeli.RiegeliError) as raised:
            reader.read_record()
        error = raised.exception
        self.assertEqual((error.kind, error.file, error.offset), ('corrupt', str(DAMAGED), 162))
        self.assertEqual((error.expected, error.found), (0x5FCC232C64AD6C35, 0x55DE9713A4D49598))
        self.assertIn(str(DAMAGED), str(error))

    def test_a_file_that_ends_inside_a_chunk_is_an_error_of_close(self):
        data = TEXT_FILE.read_bytes()[:-5]
        reader = riegeli.RecordReader(data)
        self.assertEqual(list(reader.read_records()), TEXT[:-1])
        with self.assertRaises(riegeli.RiegeliError) as raised:
            reader.close()
        error = raised.exception
        self.assertEqual((error.kind, error.file, error.offset), ('truncated', None, len(data)))
        self.assertEqual(error.expected - error.found, 5)
        skipped = []
        with riegeli.RecordReader(data, recovery=skipped.append) as reader:
            self.assertEqual(len(list(reader.read_records())), len(TEXT) - 1)
        self.assertEqual([region.end for region in skipped], [len(data)])

    def test_stop_iteration_ends_reading(self):
        def stop(region):
            raise StopIteration

        reader = riegeli.RecordReader(DAMAGED, recovery=stop)
        self.assertIsNone(reader.read_record())
        self.assertEqual(reader.read_record(), TEXT[1])

    def test_what_the_recovery_function_raises_comes_through(self):
        def raising(region):
            raise LookupError(str(region))

        reader = riegeli.RecordReader(DAMAGED, recovery=raising)
        with self.assertRaisesRegex(LookupError, r'\[64, 162\): chunk data hash'):
            reader.read_record()
        self.assertEqual(list(reader.read_records()), TEXT[1:])

    def test_the_recovery_function_cannot_use_the_reader(self):
        failures = []

        def recovery(region):
            try:
                reader.read_record()
            except RuntimeError as error:
                failures.append(str(error))

        reader = riegeli.RecordReader(DAMAGED, recovery=recovery)
        self.assertEqual(len(list(reader.read_records())), len(TEXT) - 1)
        self.assertEqual(len(failures), 1)

    def test_an_error_on_the_way_out_wins_over_that_of_close(self):
        with self.assertRaises(ZeroDivisionError):
            with riegeli.RecordReader(TEXT_FILE.read_bytes()[:-5]) as reader:
                list(reader.read_records())
                1 / 0


    def test_what_reading_failed_with_is_raised_again_by_close(self):
        reader = riegeli.RecordReader(DAMAGED)
        for call in (reader.read_record, reader.read_record, reader.close):
            with self.assertRaisesRegex(riegeli.InvalidArgumentError, 'chunk data hash'):
                call()
        reader.close()
        # Not when the reader has left it.
        reader = riegeli.RecordReader(DAMAGED)
        with self.assertRaises(riegeli.RiegeliError):
            reader.read_record()
        reader.seek(riegeli.RecordPosition(0, 0))
        reader.close()


def invalid_messages(count=9, invalid=(3, 5)):
    """A file of messages and of what is none, three to a chunk, with the positions of the records and of the end."""
    file, positions = io.BytesIO(), []
    with riegeli.RecordWriter(file, owns_dest=False, options='uncompressed,chunk_size:60') as writer:
        for number in range(count):
            writer.write_record(b'\xff' * 9 if number in invalid else b'number %02d' % number)
            positions.append(writer.last_pos)
        writer.close()
        positions.append(writer.pos)
    return file.getvalue(), positions


class InvalidMessages(unittest.TestCase):
    class Strict(Message):
        @classmethod
        def FromString(cls, serialized):
            from google.protobuf.message import DecodeError

            if serialized.startswith(b'\xff'):
                raise DecodeError('no message')
            return super().FromString(serialized)

    def setUp(self):
        try:
            from google.protobuf.message import DecodeError
        except ImportError:
            self.skipTest('needs protobuf')
        self.DecodeError = DecodeError
        self.data, self.positions = invalid_messages()

    def regions(self):
        region = lambda number: (self.positions[number].numeric, self.positions[number + 1].numeric, 'no message')
        return [region(3), region(5)]

    def test_without_a_recovery_function_they_are_raised_and_passed(self):
        reader = riegeli.RecordReader(self.data)
        read = lambda: reader.read_message(self.Strict).text
        self.assertEqual([read() for _ in range(3)], ['number 00', 'number 01', 'number 02'])
        with self.assertRaises(self.DecodeError):
            read()
        self.assertEqual(read(), 'number 04')
        reader.close()

    def test_a_recovery_function_is_told_of_them(self):
        sound = [f'number {number:02}' for number in (0, 1, 2, 4, 6, 7, 8)]
        ways = (
            lambda reader: [message.text for message in reader.read_messages(self.Strict)],
            lambda reader: [message.text for _, message in reader.read_messages_with_keys(self.Strict)],
            lambda reader: [message.text for message in iter(lambda: reader.read_message(self.Strict), None)],
            lambda reader: [found[1].text for found in iter(lambda: reader.read_message_with_key(self.Strict), None)],
        )
        for way in ways:
            skipped = []
            with riegeli.RecordReader(self.data, recovery=skipped.append) as reader:
                self.assertEqual(way(reader), sound)
            self.assertEqual([(region.begin, region.end, region.message) for region in skipped], self.regions())

    def test_a_recovery_function_can_end_reading_or_raise(self):
        def stop(region):
            raise StopIteration

        def raising(region):
            raise LookupError(region.message)

        with riegeli.RecordReader(self.data, recovery=stop) as reader:
            self.assertEqual(len(list(reader.read_messages(self.Strict))), 3)
            self.assertEqual(reader.read_message(self.Strict).text, 'number 04')
        with riegeli.RecordReader(self.data, recovery=raising) as reader:
            with self.assertRaisesRegex(LookupError, 'no message'):
                list(reader.read_messages(self.Strict))
        # What is not a DecodeError is nobody's to pass.
        reader = riegeli.RecordReader(self.data, recovery=print)
        reader.seek(self.positions[3])
        with self.assertRaises(UnicodeDecodeError):
            reader.read_message(Message)

    def test_a_search_passes_them(self):
        def test_for(wanted):
            return lambda message: (message.text > wanted) - (message.text < wanted)

        for number in (0, 2, 4, 6, 8):
            skipped = []
            reader = riegeli.RecordReader(self.data, recovery=skipped.append)
            self.assertEqual(reader.search_for_message(self.Strict, test_for(f'number {number:02}')), 0)
            self.assertEqual(reader.pos, self.positions[number])
            found = [(region.begin, region.end, region.message) for region in skipped]
            self.assertLessEqual(set(found), set(self.regions()))
        reader = riegeli.RecordReader(self.data)
        with self.assertRaises(self.DecodeError):
            reader.search_for_message(self.Strict, lambda message: -1)

        def stop(region):
            raise StopIteration

        reader = riegeli.RecordReader(self.data, recovery=stop)
        self.assertIsNone(reader.search_for_message(self.Strict, lambda message: -1))

    def test_stop_iteration_ends_a_search(self):
        def stop(_):
            raise StopIteration

        reader = riegeli.RecordReader(invalid_messages(9, ())[0])
        self.assertIsNone(reader.search(stop))
        self.assertIsNone(reader.search_for_record(stop))
        self.assertIsNone(reader.search_for_message(Message, stop))
        reader.seek_numeric(0)
        self.assertEqual(reader.read_record(), b'number 00')

    def test_metadata_that_are_none_are_a_decode_error_or_a_region(self):
        file = io.BytesIO()
        with riegeli.RecordWriter(file, owns_dest=False, serialized_metadata=b'\xff' * 20) as writer:
            writer.write_record(b'a record')
        for src in (file.getvalue(), Stream(file.getvalue())):
            reader = riegeli.RecordReader(src)
            with self.assertRaises(self.DecodeError) as raised:
                reader.read_metadata()
            self.assertIsInstance(raised.exception, riegeli.InvalidArgumentError)
            self.assertEqual((raised.exception.kind, raised.exception.code), ('metadata', 3))
            self.assertEqual(str(pickle.loads(pickle.dumps(raised.exception))), str(raised.exception))
            self.assertEqual(reader.read_record(), b'a record')
        skipped = []
        for src in (file.getvalue(), Stream(file.getvalue())):
            reader = riegeli.RecordReader(src, recovery=skipped.append)
            self.assertEqual(reader.read_metadata(), riegeli.RecordsMetadata())
            self.assertEqual(reader.read_record(), b'a record')
        begin = reader.last_pos.chunk_begin
        self.assertEqual([(region.begin, region.end) for region in skipped], [(64, begin)] * 2)

        def stop(region):
            raise StopIteration

        self.assertIsNone(riegeli.RecordReader(file.getvalue(), recovery=stop).read_metadata())


class Life(unittest.TestCase):
    def test_a_cycle_through_the_recovery_function_is_collected(self):
        class Owner:
            def __init__(self):
                self.reader = riegeli.RecordReader(TEXT_FILE, recovery=self.skip)

            def skip(self, region):
                pass

        owner = Owner()
        owner.reader.read_record()
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        self.assertIsNone(gone())

    def test_an_iterator_keeps_its_reader(self):
        records = riegeli.RecordReader(TEXT_FILE).read_records()
        gc.collect()
        self.assertEqual(list(records), TEXT)

    def test_two_threads_do_not_get_one_record_twice(self):
        reader = riegeli.RecordReader(TEXT_FILE)
        found, lock = [], threading.Lock()

        def work():
            while True:
                try:
                    record = reader.read_record()
                except RuntimeError:
                    continue
                if record is None:
                    return
                with lock:
                    found.append(record)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found), sorted(TEXT))

    def test_readers_of_several_threads_read_the_same_bytes(self):
        data = file_of([b'%d' % number * 50 for number in range(5000)], 'brotli:6,chunk_size:10k')
        expected = list(riegeli.RecordReader(data).read_records())
        answers = [None] * 8

        def work(index):
            answers[index] = list(riegeli.RecordReader(data).read_records())

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(answers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all(answer == expected for answer in answers))

    def test_paths_of_pathlib_and_text_are_named_in_the_representation(self):
        self.assertEqual(repr(riegeli.RecordReader(pathlib.Path(TEXT_FILE))), f'<RecordReader src="{TEXT_FILE}">')
        self.assertEqual(repr(riegeli.RecordReader(b'')), '<RecordReader src=bytes>')


if __name__ == '__main__':
    unittest.main()
