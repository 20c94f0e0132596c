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
try:
    from google.protobuf import descriptor_pb2
except ImportError:
    descriptor_pb2 = None


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


def descriptors():
    """shop.Order and its shop.Order.Line, and shop.Note, which has one of the fields of shop.Order."""
    Field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name='shop.proto', package='shop', syntax='proto2')
    order = file.message_type.add(name='Order')
    line = order.nested_type.add(name='Line')
    note = file.message_type.add(name='Note')
    for message, name, number, kind, label, type_name in [
        (order, 'number', 1, Field.TYPE_SINT64, Field.LABEL_OPTIONAL, None),
        (order, 'text', 2, Field.TYPE_STRING, Field.LABEL_OPTIONAL, None),
        (order, 'counts', 3, Field.TYPE_UINT32, Field.LABEL_REPEATED, None),
        (order, 'line', 4, Field.TYPE_MESSAGE, Field.LABEL_OPTIONAL, '.shop.Order.Line'),
        (line, 'price', 1, Field.TYPE_SINT32, Field.LABEL_OPTIONAL, None),
        (line, 'name', 2, Field.TYPE_STRING, Field.LABEL_OPTIONAL, None),
        (note, 'remark', 2, Field.TYPE_STRING, Field.LABEL_OPTIONAL, None),
    ]:
        message.field.add(name=name, number=number, type=kind, label=label, type_name=type_name)
    return descriptor_pb2.FileDescriptorSet(file=[file])


@unittest.skipIf(pyarrow is None, 'pyarrow is not installed')
@unittest.skipIf(descriptor_pb2 is None, 'protobuf is not installed')
class Messages(unittest.TestCase):
    OPTIONS = ('uncompressed', 'zstd,chunk_size:5000', 'transpose,uncompressed', 'transpose,zstd,chunk_size:5000')
    ROWS = [
        {
            'number': number - 500,
            'text': None if number % 7 == 0 else f'text {number}',
            'counts': list(range(number % 4)),
            'line': None if number % 3 == 0 else {'price': number, 'name': None if number % 2 else 'name'},
        }
        for number in range(1000)
    ]

    @staticmethod
    def record(row):
        record = field(1, row['number'])
        if row['text'] is not None:
            record += field(2, row['text'].encode())
        record += b''.join(varint(3 << 3) + varint(count) for count in row['counts'])
        if row['line'] is not None:
            name = row['line']['name']
            record += field(4, field(1, row['line']['price']) + (b'' if name is None else field(2, name.encode())))
        return record

    def file(self, options, metadata=None, rows=ROWS):
        file = io.BytesIO()
        with riegeli.RecordWriter(file, owns_dest=False, options=options, metadata=metadata) as writer:
            writer.write_records(self.record(row) for row in rows)
        return file.getvalue()

    @staticmethod
    def metadata(record_type='shop.Order'):
        files = [file.SerializeToString() for file in descriptors().file]
        return riegeli.RecordsMetadata(record_type_name=record_type, file_descriptor=files)

    def test_fields_of_messages_are_columns(self):
        for options in self.OPTIONS:
            with self.subTest(options=options):
                batches = riegeli.RecordReader(self.file(options, self.metadata())).read_arrow()
                self.assertEqual(batches.column_names, ['number', 'text', 'counts', 'line'])
                # Each consumer reads the file anew.
                for _ in range(2):
                    table = pyarrow.table(batches)
                    self.assertEqual(table.to_pylist(), self.ROWS)
                self.assertEqual(table.schema, pyarrow.schema(batches))
                self.assertEqual(table.schema.field('number').type, pyarrow.int64())

    def test_columns_limit_and_batches_of_messages_are_chosen(self):
        for options in self.OPTIONS:
            with self.subTest(options=options):
                reader = riegeli.RecordReader(self.file(options, self.metadata()))
                batches = reader.read_arrow(['line', 'number'], limit=250, batch_size=100)
                stream = list(pyarrow.RecordBatchReader.from_stream(batches))
                self.assertLessEqual(max(batch.num_rows for batch in stream), 100)
                table = pyarrow.Table.from_batches(stream)
                self.assertEqual(table.column_names, ['line', 'number'])
                expected = [{name: row[name] for name in ('line', 'number')} for row in self.ROWS[:250]]
                self.assertEqual(table.to_pylist(), expected)
                self.assertEqual(pyarrow.schema(batches), table.schema)
                self.assertEqual(pyarrow.table(reader.read_arrow(limit=0)).num_rows, 0)
                with self.assertRaises(KeyError):
                    reader.read_arrow(['price'])

    def test_a_field_projection_leaves_columns_out(self):
        for options in self.OPTIONS:
            with self.subTest(options=options):
                data = self.file(options, self.metadata())
                reader = riegeli.RecordReader(data, field_projection=[[1], [4, 2]])
                expected = [
                    {'number': row['number'], 'line': row['line'] and {'name': row['line']['name']}}
                    for row in self.ROWS
                ]
                self.assertEqual(pyarrow.table(reader.read_arrow()).to_pylist(), expected)
                self.assertEqual(
                    pyarrow.table(reader.read_arrow(['line'])).to_pylist(),
                    [{'line': row['line']} for row in expected],
                )

    def test_a_type_is_given_where_the_file_has_none_or_another_one(self):
        given = descriptors().SerializeToString()
        for options in self.OPTIONS:
            with self.subTest(options=options):
                without, with_type = self.file(options), self.file(options, self.metadata())
                raw = pyarrow.table(riegeli.RecordReader(without).read_arrow())
                self.assertEqual(raw.column_names, ['record'])
                self.assertEqual(raw['record'].to_pylist(), [self.record(row) for row in self.ROWS])
                notes = [{'remark': row['text']} for row in self.ROWS]
                for data, record_type, descriptor, expected in [
                    (without, 'shop.Order', given, self.ROWS),
                    (without, 'shop.Note', given, notes),
                    (with_type, 'shop.Note', given, notes),
                    (with_type, 'shop.Note', None, notes),
                    (with_type, None, given, self.ROWS),
                ]:
                    batches = riegeli.RecordReader(data).read_arrow(record_type=record_type, descriptor=descriptor)
                    self.assertEqual(pyarrow.table(batches).to_pylist(), expected)

    def test_raw_records_are_bytes_whatever_they_are(self):
        expected = [self.record(row) for row in self.ROWS]
        for options in self.OPTIONS:
            with self.subTest(options=options):
                reader = riegeli.RecordReader(self.file(options, self.metadata()))
                table = pyarrow.table(reader.read_arrow(raw=True))
                self.assertEqual(table.schema, pyarrow.schema([pyarrow.field('record', pyarrow.binary(), False)]))
                self.assertEqual(table['record'].to_pylist(), expected)
                batches = reader.read_arrow(['record'], raw=True, limit=250, batch_size=100)
                sizes = [batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(batches)]
                self.assertEqual(sizes, [100, 100, 50])
                with self.assertRaises(KeyError):
                    reader.read_arrow(['number'], raw=True)
                with self.assertRaises(ValueError):
                    reader.read_arrow(raw=True, record_type='shop.Order')
        rows = [(1, 'a'), (None, 'b')]
        table = pyarrow.table(riegeli.RecordReader(typed_file(rows)).read_arrow(raw=True))
        self.assertEqual(table['record'].to_pylist(), [field(1, 1) + field(2, b'a'), field(2, b'b')])

    def test_a_type_that_is_not_there_is_an_error(self):
        given = descriptors().SerializeToString()
        without = riegeli.RecordReader(self.file('uncompressed'))
        for record_type, descriptor in [(None, given), ('shop.Order', None), ('shop.Order', b'\xff')]:
            with self.assertRaises(ValueError):
                without.read_arrow(record_type=record_type, descriptor=descriptor)
        with self.assertRaises(riegeli.RiegeliError) as raised:
            without.read_arrow(record_type='shop.Line', descriptor=given)
        self.assertEqual(raised.exception.kind, 'metadata')
        with self.assertRaises(riegeli.RiegeliError):
            riegeli.RecordReader(self.file('uncompressed', self.metadata('shop.None'))).read_arrow()

    def test_a_stored_schema_comes_before_the_message_type(self):
        schema = pyarrow.schema([('as stored', pyarrow.int64())]).serialize().to_pybytes()
        metadata = self.metadata().SerializeToString() + varint(29801 << 3 | 2) + varint(len(schema)) + schema
        file = io.BytesIO()
        with riegeli.RecordWriter(file, owns_dest=False, serialized_metadata=metadata) as writer:
            writer.write_record(field(1, 5))
        reader = riegeli.RecordReader(file.getvalue())
        self.assertEqual(pyarrow.table(reader.read_arrow()).to_pydict(), {'as stored': [5]})
        order = pyarrow.table(reader.read_arrow(record_type='shop.Order'))
        self.assertEqual(order.to_pylist(), [{'number': 5, 'text': None, 'counts': [], 'line': None}])

    def test_damage_and_records_that_are_no_messages(self):
        rows = self.ROWS[:100]
        data = bytearray(self.file('uncompressed,chunk_size:1000', self.metadata(), rows))
        # In a record of a chunk behind the metadata.
        data[data.index(b'text 50')] ^= 1
        with self.assertRaisesRegex(Exception, 'chunk data hash'):
            pyarrow.table(riegeli.RecordReader(bytes(data)).read_arrow())
        skipped = []
        table = pyarrow.table(riegeli.RecordReader(bytes(data), recovery=skipped.append).read_arrow())
        self.assertEqual(len(skipped), 1)
        left = table.to_pylist()
        self.assertLess(len(left), len(rows))
        self.assertEqual(left, [row for row in rows if row in left])

        def raising(region):
            raise LookupError('enough')

        with self.assertRaisesRegex(Exception, 'enough'):
            pyarrow.table(riegeli.RecordReader(bytes(data), recovery=raising).read_arrow())
        file = io.BytesIO()
        with riegeli.RecordWriter(file, owns_dest=False, metadata=self.metadata()) as writer:
            writer.write_record(b'\x12\x09a')
        with self.assertRaises(Exception):
            pyarrow.table(riegeli.RecordReader(file.getvalue()).read_arrow())


if __name__ == '__main__':
    unittest.main()
