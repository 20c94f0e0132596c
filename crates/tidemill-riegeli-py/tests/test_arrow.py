"""read_arrow: columns by the stored schema, or one column of records."""

import io
import threading
import unittest

import goldens
import tidemill_riegeli as riegeli

try:
    import pyarrow
except ImportError:
    pyarrow = None


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field of a message: bytes by length, a number zigzag."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value << 1 if value >= 0 else (-value << 1) - 1)


def typed_file(rows, options='transpose,zstd'):
    """A file of rows (int64, text): the Arrow schema is field 29801 of the metadata."""
    schema = pyarrow.schema([('number', pyarrow.int64()), ('text', pyarrow.string())])
    metadata = varint(29801 << 3 | 2) + varint(len(schema.serialize())) + schema.serialize().to_pybytes()
    file = io.BytesIO()
    with riegeli.RecordWriter(file, owns_dest=False, options=options, serialized_metadata=metadata) as writer:
        for number, text in rows:
            record = b'' if number is None else field(1, number)
            writer.write_record(record + (b'' if text is None else field(2, text.encode())))
    return file.getvalue()


@unittest.skipIf(pyarrow is None, 'pyarrow is not installed')
class Arrow(unittest.TestCase):
    ROWS = [(number - 50, None if number % 7 == 0 else f'text {number}') for number in range(1000)]

    def test_records_without_a_schema_are_one_column(self):
        for entry in ('cpp/text.simple_brotli.riegeli', 'cpp/text.transpose_zstd.riegeli'):
            with riegeli.RecordReader(goldens.path(entry)) as reader:
                table = pyarrow.table(reader.read_arrow())
                self.assertEqual(table.schema, pyarrow.schema([pyarrow.field('record', pyarrow.binary(), False)]))
                self.assertEqual(table['record'].to_pylist(), goldens.dataset('text'))

    def test_rows_have_the_columns_of_the_stored_schema(self):
        reader = riegeli.RecordReader(typed_file(self.ROWS))
        batches = reader.read_arrow()
        self.assertEqual(batches.column_names, ['number', 'text'])
        expected = {'number': [row[0] for row in self.ROWS], 'text': [row[1] for row in self.ROWS]}
        # Each consumer reads the file anew.
        for _ in range(2):
            self.assertEqual(pyarrow.table(batches).to_pydict(), expected)
        self.assertEqual(pyarrow.schema(batches).names, ['number', 'text'])

    def test_columns_limit_and_batches_are_chosen(self):
        reader = riegeli.RecordReader(typed_file(self.ROWS))
        reader.read_record()
        position = reader.pos
        batches = reader.read_arrow(['text', 'number'], limit=250, batch_size=100)
        stream = pyarrow.RecordBatchReader.from_stream(batches)
        sizes = [batch.num_rows for batch in stream]
        self.assertEqual(sizes, [100, 100, 50])
        table = pyarrow.table(reader.read_arrow(['text'], limit=3))
        self.assertEqual(table.to_pydict(), {'text': [None, 'text 1', 'text 2']})
        self.assertEqual(reader.pos, position)
        with self.assertRaises(KeyError):
            reader.read_arrow(['nothing'])

    def test_damage_ends_the_stream_or_is_passed(self):
        path = goldens.path('cpp/bad.chunk_data_first.riegeli')
        with self.assertRaisesRegex(Exception, 'chunk data hash'):
            pyarrow.table(riegeli.RecordReader(path).read_arrow())
        skipped = []
        table = pyarrow.table(riegeli.RecordReader(path, recovery=skipped.append).read_arrow())
        self.assertEqual(table.num_rows, 299)
        self.assertEqual([(region.begin, region.end) for region in skipped], [(64, 162)])

        def raising(region):
            raise LookupError('enough')

        with self.assertRaisesRegex(Exception, 'enough'):
            pyarrow.table(riegeli.RecordReader(path, recovery=raising).read_arrow())

    def test_a_record_that_is_no_row_is_named(self):
        data = typed_file([(1, 'a')], options='uncompressed')
        broken = data.replace(b'\x12\x01a', b'\x12\x09a')
        self.assertNotEqual(data, broken)
        with self.assertRaises(Exception):
            pyarrow.table(riegeli.RecordReader(broken).read_arrow())

    def test_threads_read_one_file_at_once(self):
        batches = riegeli.RecordReader(typed_file(self.ROWS * 20)).read_arrow()
        expected, tables = pyarrow.table(batches), [None] * 4

        def work(index):
            tables[index] = pyarrow.table(batches)

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(tables))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all(table.equals(expected) for table in tables))

    def test_a_file_object_is_read_from_threads_of_the_consumer(self):
        data = typed_file(self.ROWS)
        table = pyarrow.table(riegeli.RecordReader(io.BytesIO(data)).read_arrow())
        self.assertEqual(table.num_rows, len(self.ROWS))


if __name__ == '__main__':
    unittest.main()
