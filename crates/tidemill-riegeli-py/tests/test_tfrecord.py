"""TFRecordWriter and TFRecordReader, with what Python's own modules make of the same bytes."""

import gzip
import io
import os
import tempfile
import unittest
import zlib

import tidemill_riegeli as riegeli

RECORDS = [b'record %d ' % number * (number % 7) for number in range(500)]


def file_of(records, options=None):
    file = io.BytesIO()
    with riegeli.TFRecordWriter(file, options) as writer:
        for record in records:
            writer.write(record)
    return file.getvalue()


class Writing(unittest.TestCase):
    def test_a_record_has_the_bytes_of_the_format(self):
        # CRC-32C of 32 zeros is 8a9136aa (RFC 3720, B.4).
        masked = (((0x8A9136AA >> 15 | 0x8A9136AA << 17) & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF
        data = file_of([bytes(32)])
        self.assertEqual((len(data), data[:8], data[44:]), (48, (32).to_bytes(8, 'little'), masked.to_bytes(4, 'little')))

    def test_compressed_files_are_those_of_gzip_and_zlib(self):
        class Options:
            compression_type = 'GZIP'

        plain = file_of(RECORDS)
        self.assertEqual(file_of(RECORDS, ''), plain)
        self.assertEqual(gzip.decompress(file_of(RECORDS, 'GZIP')), plain)
        self.assertEqual(gzip.decompress(file_of(RECORDS, Options())), plain)
        self.assertEqual(zlib.decompress(file_of(RECORDS, 'ZLIB')), plain)
        for wrong in ('gzip', 'BROTLI'):
            with self.assertRaises(ValueError):
                riegeli.TFRecordWriter(io.BytesIO(), wrong)

    def test_paths_kinds_of_bytes_and_flush(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'some.tfrecord')
            writer = riegeli.TFRecordWriter(path)
            for record in (b'bytes', bytearray(b'array'), memoryview(b'view')):
                writer.write(record)
            with self.assertRaises(TypeError):
                writer.write('text')
            writer.flush()
            self.assertEqual(list(riegeli.TFRecordReader(path)), [b'bytes', b'array', b'view'])
            writer.close()
            writer.close()
            with self.assertRaises(ValueError):
                writer.write(b'late')
            self.assertIn('some.tfrecord', repr(writer))
            self.assertIn('some.tfrecord', repr(riegeli.TFRecordReader(path)))

    @unittest.skipUnless(hasattr(os, 'fork'), 'needs fork')
    def test_a_child_process_does_not_write(self):
        file = io.BytesIO()
        writer = riegeli.TFRecordWriter(file)
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
        self.assertEqual(list(riegeli.TFRecordReader(file.getvalue())), [b'of the parent'])


class Reading(unittest.TestCase):
    def test_the_compression_is_found_or_said(self):
        plain = file_of(RECORDS)
        for name, data in (
            ('', plain),
            ('GZIP', gzip.compress(plain)),
            ('GZIP', gzip.compress(plain) + bytes(100)),
            ('ZLIB', zlib.compress(plain)),
        ):
            for src in (data, io.BytesIO(data)):
                with riegeli.TFRecordReader(src) as reader:
                    self.assertEqual(reader.compression_type, name)
                    self.assertEqual(list(reader), RECORDS)
                    self.assertIsNone(reader.read_record())
            self.assertEqual(list(riegeli.TFRecordReader(data, compression_type=name)), RECORDS)
        with self.assertRaises(riegeli.DataLossError):
            next(riegeli.TFRecordReader(plain, compression_type='ZLIB'))
        with self.assertRaises(ValueError):
            riegeli.TFRecordReader(plain, compression_type='LZ4')

    def test_streams_and_positions(self):
        class Stream:
            def __init__(self, data):
                self.file = io.BytesIO(data)

            def read(self, size):
                return self.file.read(min(size, 100))

        reader = riegeli.TFRecordReader(Stream(file_of(RECORDS)))
        self.assertEqual(reader.pos, 0)
        self.assertEqual(reader.read_record(), b'')
        self.assertEqual(reader.pos, 16)
        self.assertEqual(list(reader), RECORDS[1:])
        file = io.BytesIO(file_of(RECORDS))
        file.seek(16)
        with self.assertRaisesRegex(ValueError, 'seek'):
            riegeli.TFRecordReader(file)

    def test_damage_is_an_error_or_a_region(self):
        data = bytearray(file_of([b'first', b'second', b'third']))
        data[21 + 12] ^= 1
        data = bytes(data)
        reader = riegeli.TFRecordReader(data)
        self.assertEqual(next(reader), b'first')
        with self.assertRaisesRegex(riegeli.DataLossError, 'byte 21: checksum of the record') as raised:
            next(reader)
        self.assertEqual((raised.exception.kind, raised.exception.offset, raised.exception.code), ('corrupt', 21, 15))
        skipped = []
        self.assertEqual(list(riegeli.TFRecordReader(data, recovery=skipped.append)), [b'first', b'third'])
        self.assertEqual([(region.begin, region.end) for region in skipped], [(21, 43)])

        def stop(region):
            raise StopIteration

        reader = riegeli.TFRecordReader(data, recovery=stop)
        self.assertEqual(list(reader), [b'first'])
        self.assertIsNone(reader.read_record())

        def raising(region):
            raise LookupError(str(region))

        with self.assertRaisesRegex(LookupError, r'\[21, 43\)'):
            list(riegeli.TFRecordReader(data, recovery=raising))
        # Cut off.
        skipped.clear()
        self.assertEqual(list(riegeli.TFRecordReader(data[:-1], recovery=skipped.append)), [b'first'])
        self.assertEqual(skipped[-1].end, len(data) - 1)

    def test_another_file_is_called_by_its_name(self):
        for data, name in (
            (b'<!DOCTYPE html><html></html>', 'HTML'),
            (b'version https://git-lfs.github.com/spec/v1\n', 'Git LFS'),
        ):
            with self.assertRaisesRegex(riegeli.DataLossError, name):
                next(riegeli.TFRecordReader(data))

    def test_a_closed_reader_is_closed(self):
        reader = riegeli.TFRecordReader(file_of(RECORDS))
        reader.close()
        reader.close()
        with self.assertRaises(ValueError):
            reader.read_record()


if __name__ == '__main__':
    unittest.main()
