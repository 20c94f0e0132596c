"""Frames of pandas, polars, pyarrow and DuckDB go into every store and come back equal.

The law: what a store takes comes back equal, with the name that its column had; what it cannot keep is refused by an error that
names the column, and leaves nothing behind. What a store may refuse is listed in ``REFUSED``: all else it must take.
"""

import datetime
import decimal
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import duckdb
import pandas
import polars
import pyarrow

import cql
import tidemill
from adbc_driver_tidemill import dbapi

D = decimal.Decimal
MOMENT = datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)

#: Columns by their kinds: with None, and with the least and the greatest value where there is one.
COLUMNS = {
    'int8': pyarrow.array([1, None, -(2**7), 2**7 - 1], pyarrow.int8()),
    'int16': pyarrow.array([1, None, -(2**15), 2**15 - 1], pyarrow.int16()),
    'int32': pyarrow.array([1, None, -(2**31), 2**31 - 1], pyarrow.int32()),
    'int64': pyarrow.array([1, None, -(2**63), 2**63 - 1], pyarrow.int64()),
    'uint8': pyarrow.array([1, None, 2**8 - 1], pyarrow.uint8()),
    'uint16': pyarrow.array([1, None, 2**16 - 1], pyarrow.uint16()),
    'uint32': pyarrow.array([1, None, 2**32 - 1], pyarrow.uint32()),
    'uint64': pyarrow.array([1, None, 2**64 - 1], pyarrow.uint64()),
    'float32': pyarrow.array([0.1, None, -1.5, 0.0], pyarrow.float32()),
    'float64': pyarrow.array([0.1, None, 1e300, -0.0], pyarrow.float64()),
    'nan': pyarrow.array([1.5, None, math.nan, math.inf, -math.inf], pyarrow.float64()),
    'decimal': pyarrow.array([D('1.25'), None, D('-99999999.99'), D(0)], pyarrow.decimal128(10, 2)),
    'decimal_whole': pyarrow.array([D(125), None, D(-9999999999)], pyarrow.decimal128(10, 0)),
    'decimal_large': pyarrow.array([D('1' * 28 + '.1234567890'), None], pyarrow.decimal128(38, 10)),
    'bool': pyarrow.array([True, None, False]),
    'text': pyarrow.array(['a', None, 'Größe €', '']),
    'text_world': pyarrow.array(['日本', None, '😀']),
    'text_blanks': pyarrow.array(['a ', None, ' ', '\n']),
    'text_long': pyarrow.array(['x' * 300, None, 'ü' * 70_000]),
    'text_large': pyarrow.array(['a', None], pyarrow.large_string()),
    'text_view': pyarrow.array(['a', None], pyarrow.string_view()),
    'text_dictionary': pyarrow.array(['a', None, 'b', 'a']).dictionary_encode(),
    'bytes': pyarrow.array([b'\0\xff', None, b'', b'a ']),
    'bytes_fixed': pyarrow.array([b'abcd', None], pyarrow.binary(4)),
    'date': pyarrow.array([datetime.date(2024, 2, 29), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    'time_ms': pyarrow.array([datetime.time(1, 2, 3, 456000), None, datetime.time(0)], pyarrow.time32('ms')),
    'time_us': pyarrow.array([datetime.time(1, 2, 3, 456789), None], pyarrow.time64('us')),
    'moment_s': pyarrow.array([MOMENT.replace(microsecond=0), None], pyarrow.timestamp('s')),
    'moment_ms': pyarrow.array([MOMENT.replace(microsecond=456000), None], pyarrow.timestamp('ms')),
    # What is finer than a millisecond is looked for in the values, not in the type.
    'moment_us_whole': pyarrow.array([MOMENT.replace(microsecond=456000), None], pyarrow.timestamp('us')),
    'moment_ns_whole': pyarrow.array([MOMENT.replace(microsecond=0), None], pyarrow.timestamp('ns')),
    'moment_us': pyarrow.array([MOMENT, None], pyarrow.timestamp('us')),
    'moment_ns': pyarrow.array([1_709_168_523_456_789_123, None], pyarrow.timestamp('ns')),
    'moment_utc': pyarrow.array([MOMENT.replace(microsecond=0), None], pyarrow.timestamp('us', 'UTC')),
    'moment_zone': pyarrow.array([MOMENT.replace(microsecond=0), None], pyarrow.timestamp('us', 'Europe/Vienna')),
    'nothing': pyarrow.array([None, None], pyarrow.int64()),
}

#: Names of columns: long, alike in their first letters, in small and capital letters, and words of SQL.
NAMES = [
    'a_very_long_name_of_a_column',
    'a_very_long_name_of_another',
    'lower',
    'UPPER',
    'MixedCase',
    'with a blank',
    'with.a.dot',
    'größe',
    'select',
    '1st',
    'Unnamed: 0',
]

FINE = {'time_us', 'moment_us', 'moment_ns'}
ZONES = {'moment_utc', 'moment_zone'}

#: What each store may refuse, since it has no place for it.
REFUSED = {
    'xbase': FINE | ZONES | {'text_world', 'time_ms', 'decimal_large'},
    'riegeli': set(),
    'parquet': set(),
    'arrow': set(),
    # 18.16, the server of the tests, has no times of day and none finer than a second.
    'clickhouse': FINE | ZONES | {'time_ms', 'moment_ms', 'moment_us_whole', 'date'},
    'cassandra': {'moment_us', 'moment_ns'} | ZONES,
}


class Stores(unittest.TestCase):
    """Where tables are made: each test has an empty folder, and new names on servers."""

    count = 0
    PREFIX = f'{time.time_ns() % 10**9}_'

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def connect(self, store, settings=''):
        if store == 'clickhouse':
            address = os.environ.get('TIDEMILL_TEST_CLICKHOUSE') or self.skipTest('no ClickHouse server is installed')
            return tidemill.connect(f'clickhouse://default@{address}/default{settings}')
        if store == 'cassandra':
            address = os.environ.get('TIDEMILL_TEST_CASSANDRA') or self.skipTest('no Cassandra node is installed')
            cql.run(address, "CREATE KEYSPACE IF NOT EXISTS frames WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            return tidemill.connect(f'cql://{address}/frames')
        return tidemill.connect(self.folder)

    def options(self, store):
        """What a statement must be told that makes a table."""
        return {'tidemill.ingest.primary_key': 'k'} if store == 'cassandra' else None

    def new_table(self, store):
        """The name of a table that there is not yet, and what stands for it in a query."""
        Stores.count += 1
        # Servers may have tables of an earlier run.
        name = f'frame{Stores.PREFIX}{Stores.count}'
        if store in ('parquet', 'arrow', 'riegeli'):
            return f'{name}.{store}', f"'{name}.{store}'"
        return name, name

    def read(self, connection, source):
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT * FROM {source}')
            return cursor.fetch_arrow_table()

    def check(self, found, expected, times=1, store=None):
        """``found`` has the columns of ``expected``, and its rows ``times`` times in any order. How names are spelled is a test of its own."""
        if store == 'clickhouse':
            found = without_utc(found, expected)
        self.assertEqual([name.lower() for name in found.column_names], [name.lower() for name in expected.column_names])
        found_rows = zip(*(values(column, field.type) for column, field in zip(found.columns, expected.schema)))
        expected_rows = zip(*(values(column) for column in expected.columns))
        found_rows, expected_rows = sorted(found_rows, key=str), sorted(list(expected_rows) * times, key=str)
        self.assertEqual(len(found_rows), len(expected_rows))
        # One by one: unittest takes minutes to show how thousands of rows differ.
        for one, other in zip(found_rows, expected_rows):
            self.assertEqual(one, other)


def without_utc(found, expected):
    """``found`` with times without a zone where ``expected`` has such: ClickHouse keeps them in UTC, and gives them back so."""
    for place, field in enumerate(expected.schema):
        kind = found.schema.field(place).type
        if pyarrow.types.is_timestamp(field.type) and field.type.tz is None and getattr(kind, 'tz', None) in ('UTC', 'Etc/UTC'):
            column = found.column(place).cast(pyarrow.timestamp(kind.unit))
            found = found.set_column(place, found.schema.field(place).name, column)
    return found


def values(column, kind=None):
    """The values of a column as they compare: all of one type, NaN equal to itself, zeros with their signs."""
    kind = kind or column.type
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    if pyarrow.types.is_decimal(kind):
        return [value if value is None else str(D(value).quantize(D(1).scaleb(-kind.scale), context=EXACT)) for value in column.to_pylist()]
    if pyarrow.types.is_floating(kind):
        return [repr(value) for value in column.cast(kind).to_pylist()]
    if pyarrow.types.is_integer(kind) and pyarrow.types.is_decimal(column.type):
        return [value if value is None else int(value) for value in column.to_pylist()]
    if pyarrow.types.is_fixed_size_binary(kind):
        return column.to_pylist()
    if pyarrow.types.is_timestamp(kind) and (kind.tz is None) != (getattr(column.type, 'tz', None) is None):
        return [f'{column.type} for {kind}'] * len(column)
    # A cast that loses something is an error.
    return column.cast(kind).cast(pyarrow.int64()).to_pylist() if pyarrow.types.is_timestamp(kind) else column.cast(kind).to_pylist()


EXACT = decimal.Context(prec=80, traps=[decimal.Inexact])


def with_key(column, name='v'):
    """A table of a key and of the column."""
    return pyarrow.table({'k': pyarrow.array(range(len(column)), pyarrow.int32()), name: column})


class Columns(Stores):
    def check_store(self, store):
        with self.connect(store) as connection:
            for kind, column in COLUMNS.items():
                with self.subTest(kind):
                    self.check_column(store, connection, kind, column)

    def check_column(self, store, connection, kind, column):
        expected = with_key(column)
        table, source = self.new_table(store)
        before = sorted(file.name for file in self.folder.iterdir())
        with connection.cursor(adbc_stmt_kwargs=self.options(store)) as cursor:
            try:
                rows = cursor.adbc_ingest(table, expected, mode='create')
            except dbapi.Error as error:
                self.assertIn(kind, REFUSED[store], error)
                # A fault of the program's data, and no fault of the driver.
                self.assertNotIsInstance(error, dbapi.InternalError)
                self.assertRegex(str(error).lower(), r'\bv\b')
                connection.rollback()
                self.assertEqual(sorted(file.name for file in self.folder.iterdir()), before)
                return
        connection.commit()
        self.assertEqual(rows, len(expected))
        if (store, kind) == ('clickhouse', 'bytes'):
            # Its strings are read as text, unless it is told that they are none.
            with self.connect(store, '?binary_strings=true') as binary:
                self.check(self.read(binary, source), expected, store=store)
            return
        self.check(self.read(connection, source), expected, store=store)

    def test_xbase(self):
        self.check_store('xbase')

    def test_whole_numbers_keep_their_types_in_xbase(self):
        expected = pyarrow.table({
            'a': pyarrow.array([-(2**31), None, 2**31 - 1], pyarrow.int32()),
            'b': pyarrow.array([-(2**63), None, 2**63 - 1], pyarrow.int64()),
            'c': pyarrow.array([1, None, -1], pyarrow.int64()),
        })
        table, source = self.new_table('xbase')
        with self.connect('xbase') as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(table, expected)
            found = self.read(connection, source)
        self.assertEqual(found.schema.types, expected.schema.types)
        self.assertEqual(found.to_pydict(), expected.to_pydict())

    def test_riegeli(self):
        self.check_store('riegeli')

    def test_parquet(self):
        self.check_store('parquet')

    def test_arrow(self):
        self.check_store('arrow')

    def test_clickhouse(self):
        self.check_store('clickhouse')

    def test_cassandra(self):
        self.check_store('cassandra')


class Names(Stores):
    def test_names_come_back(self):
        for store in REFUSED:
            with self.subTest(store), self.connect(store) as connection:
                for names in (*([name] for name in NAMES), NAMES):
                    with self.subTest(names):
                        expected = pyarrow.table({'k': [1], **dict.fromkeys(names, ['a'])})
                        table, source = self.new_table(store)
                        with connection.cursor(adbc_stmt_kwargs=self.options(store)) as cursor:
                            cursor.adbc_ingest(table, expected)
                            # The same frame finds the columns that it made.
                            if store in ('xbase', 'clickhouse'):
                                cursor.adbc_ingest(table, expected, mode='append')
                        connection.commit()
                        found = self.read(connection, source)
                        self.assertEqual(found.column_names, expected.column_names)
                        with connection.cursor() as cursor:
                            cursor.execute('SELECT {} FROM {}'.format(', '.join(f'"{name}"' for name in names), source))
                            self.assertEqual(cursor.fetchone(), ('a',) * len(names))
                        self.assertEqual(connection.adbc_get_table_schema(table).names, expected.column_names)


class Modes(Stores):
    #: What every store takes.
    FIRST = pyarrow.table(
        {
            'k': pyarrow.array([1, 2, 3], pyarrow.int32()),
            'customer_name': ['a', None, 'Größe'],
            'customer_number': pyarrow.array([1, 2, None], pyarrow.int64()),
            'v': [0.5, None, -1.0],
        }
    )
    #: Wider than the first.
    SECOND = pyarrow.table(
        {
            'k': pyarrow.array([4, 5], pyarrow.int32()),
            'customer_name': [None, 'b' * 400],
            'customer_number': pyarrow.array([2**40, None], pyarrow.int64()),
            'v': [None, 1e300],
        }
    )

    def check_store(self, store, appends=True):
        both = pyarrow.concat_tables([self.FIRST, self.SECOND])
        with self.connect(store) as connection:
            table, source = self.new_table(store)

            def ingest(mode, rows):
                with connection.cursor(adbc_stmt_kwargs=self.options(store)) as cursor:
                    self.assertEqual(cursor.adbc_ingest(table, rows, mode=mode), len(rows))
                connection.commit()

            if appends:
                with self.assertRaises(dbapi.ProgrammingError) as caught:
                    ingest('append', self.FIRST)
                self.assertEqual(caught.exception.status_code.name, 'NOT_FOUND')
            ingest('create', self.FIRST)
            self.check(self.read(connection, source), self.FIRST)
            with self.assertRaises(dbapi.Error) as caught:
                ingest('create', self.SECOND)
            self.assertEqual(caught.exception.status_code.name, 'ALREADY_EXISTS')
            connection.rollback()
            self.check(self.read(connection, source), self.FIRST)
            if appends:
                ingest('append', self.SECOND)
                self.check(self.read(connection, source), both)
                ingest('create_append', self.FIRST.slice(0, 0))
                self.check(self.read(connection, source), both)
            else:
                with self.assertRaises(dbapi.NotSupportedError):
                    ingest('append', self.SECOND)
                self.check(self.read(connection, source), self.FIRST)
            if store != 'cassandra':
                for rows in (self.SECOND, self.FIRST):
                    ingest('replace', rows)
                    self.check(self.read(connection, source), rows)
            table, source = self.new_table(store)
            ingest('create_append', self.FIRST)
            self.check(self.read(connection, source), self.FIRST)
            if appends and store != 'cassandra':
                for times in (2, 3):
                    ingest('append', self.FIRST)
                    self.check(self.read(connection, source), self.FIRST, times)

    def test_xbase(self):
        self.check_store('xbase')

    def test_riegeli(self):
        self.check_store('riegeli', appends=False)

    def test_parquet(self):
        self.check_store('parquet', appends=False)

    def test_arrow(self):
        self.check_store('arrow', appends=False)

    def test_clickhouse(self):
        self.check_store('clickhouse')

    def test_cassandra(self):
        self.check_store('cassandra')

    def test_no_rows(self):
        for store in REFUSED:
            with self.subTest(store), self.connect(store) as connection:
                table, source = self.new_table(store)
                with connection.cursor(adbc_stmt_kwargs=self.options(store)) as cursor:
                    self.assertEqual(cursor.adbc_ingest(table, self.FIRST.slice(0, 0)), 0)
                connection.commit()
                found = self.read(connection, source)
                self.check(found, self.FIRST.slice(0, 0))

    def test_no_columns(self):
        """A table without columns is refused, or comes back as it was, and the driver goes on."""
        for store in REFUSED:
            with self.subTest(store), self.connect(store) as connection:
                table, source = self.new_table(store)
                with connection.cursor() as cursor:
                    try:
                        cursor.adbc_ingest(table, pyarrow.table({}))
                    except dbapi.Error as error:
                        self.assertNotIsInstance(error, dbapi.InternalError)
                        connection.rollback()
                    else:
                        connection.commit()
                        self.assertEqual(self.read(connection, source).column_names, [])
                    cursor.execute('SELECT 1')
                    self.assertEqual(cursor.fetchall(), [(1,)])

    def test_what_an_append_cannot_keep_changes_nothing(self):
        with self.connect('xbase') as connection, connection.cursor() as cursor:
            cursor.execute('CREATE TABLE t ( k Integer, name Char(5) NULL, n Numeric(4,0) NULL )')
            cursor.execute("INSERT INTO t VALUES ( 1, 'a', 1 )")
            connection.commit()
            for rows in (
                {'k': [2, 3], 'name': ['b', 'much too long']},
                {'k': [2, 3], 'n': [1, 10**6]},
                {'k': ['x', 'y']},
                {'k': [2, 3], 'nothing': [1, 2]},
            ):
                with self.subTest(rows), self.assertRaises((dbapi.DataError, dbapi.ProgrammingError, dbapi.NotSupportedError)):
                    cursor.adbc_ingest('t', pyarrow.table(rows), mode='append')
                connection.rollback()
                cursor.execute('SELECT COUNT(*) FROM t')
                self.assertEqual(cursor.fetchall(), [(1,)])


class Libraries(Stores):
    """Frames as each library makes them, by its own ways of writing and reading."""

    STORES = ('xbase', 'parquet', 'riegeli', 'clickhouse')
    MOMENTS = [datetime.datetime(2024, 1, 2, 3, 4, 5), None]

    def test_pandas(self):
        frame = pandas.DataFrame(
            {
                'order_number': [1, 2],
                'customer_name': ['a', None],
                'total_amount': [1.5, math.nan],
                'when_it_was': pandas.to_datetime(self.MOMENTS),
                'is_paid': [True, False],
                'kind_of_order': pandas.Categorical(['x', 'y']),
            }
        )
        for store in self.STORES:
            with self.subTest(store), self.connect(store) as connection:
                table, source = self.new_table(store)
                # pandas looks for the table and drops it, which takes a table of the folder or of a server.
                for mode in ('fail', 'replace', 'replace', 'append') if store in ('xbase', 'clickhouse') else ('fail',):
                    frame.to_sql(table, connection, index=False, if_exists=mode)
                    connection.commit()
                    back = pandas.read_sql(f'SELECT * FROM {source}', connection)
                    expected = pandas.concat([frame, frame]) if mode == 'append' else frame
                    back = back.sort_values(back.columns[0]).reset_index(drop=True)
                    expected = expected.sort_values('order_number').reset_index(drop=True)
                    back = back.rename(columns=str.lower)
                    if store == 'clickhouse':
                        # It keeps times without a zone in UTC.
                        back['when_it_was'] = back['when_it_was'].dt.tz_localize(None)
                    # Of the same unit; a time with a zone does not become one without.
                    back = back.astype({'when_it_was': expected['when_it_was'].dtype})
                    pandas.testing.assert_frame_equal(back, expected, check_dtype=False, check_categorical=False)

    def test_polars(self):
        frame = polars.DataFrame(
            {
                'order_number': [1, 2],
                'customer_name': ['a', None],
                'total_amount': [D('1.50'), None],
                'ratio': [math.nan, None],
                'when_it_was': self.MOMENTS,
                'day': [datetime.date(2024, 1, 2), None],
                'is_paid': [True, None],
                'raw': [b'\0', None],
            }
        )
        for store in self.STORES:
            with self.subTest(store), self.connect(store) as connection:
                table, source = self.new_table(store)
                for mode in ('fail', 'replace', 'replace') + (('append',) if store in ('xbase', 'clickhouse') else ()):
                    # With a dot, a name would be that of a schema and a table.
                    named = f'"{table}"' if '.' in table else table
                    frame.write_database(named, connection, engine='adbc', if_table_exists=mode)
                    back = polars.read_database(f'SELECT * FROM {source}', connection).sort(polars.first())
                    expected = polars.concat([frame, frame]) if mode == 'append' else frame
                    expected = expected.sort('order_number')
                    back = back.rename(str.lower)
                    self.assertEqual(back.columns, expected.columns)
                    self.assertEqual(str(back.cast(expected.schema).rows()), str(expected.rows()))

    def test_polars_writes_tables_of_schemas(self):
        address = os.environ.get('TIDEMILL_TEST_CLICKHOUSE') or self.skipTest('no ClickHouse server is installed')
        frame = polars.DataFrame({'a': [1, 2]})
        shop = f'clickhouse://default@{address}/default'
        table, _ = self.new_table('clickhouse')
        with tidemill.connect(self.folder, attach={'shop': shop}) as connection:
            frame.write_database(f'shop.{table}', connection, engine='adbc')
            back = polars.read_database(f'SELECT * FROM shop.{table} ORDER BY a', connection)
        self.assertEqual(back.rows(), frame.rows())
        self.assertEqual(list(self.folder.iterdir()), [])

    #: Writes the categories of a frame of polars, a dictionary of views, and reads them back.
    CATEGORIES = '''
import sys
import polars
import tidemill

with tidemill.connect(sys.argv[1]) as connection, connection.cursor() as cursor:
    for kind in polars.Categorical, polars.Enum(["x", "y"]):
        frame = polars.DataFrame({"v": polars.Series(["x", None, "y"], dtype=kind)})
        cursor.adbc_ingest(sys.argv[2], frame, mode="replace")
        connection.commit()
        cursor.execute(f"SELECT * FROM \'{sys.argv[2]}\'")
        print([str(value) for (value,) in cursor.fetchall()])
'''

    def test_categories_of_polars(self):
        for store in ('xbase', 'parquet', 'riegeli', 'arrow'):
            with self.subTest(store):
                table = f'categories.{"dbf" if store == "xbase" else store}'
                # In a process of its own: what goes wrong deep inside of a writer may take the process with it.
                answer = subprocess.run(
                    [sys.executable, '-c', self.CATEGORIES, self.folder, table], capture_output=True, text=True
                )
                self.assertEqual(answer.stdout, "['x', 'None', 'y']\n" * 2, answer.stderr[-500:])
                self.assertEqual(answer.returncode, 0, answer.stderr[-500:])

    def test_duckdb(self):
        database = duckdb.connect()
        self.addCleanup(database.close)
        query = (
            "SELECT range::INTEGER AS k, range AS order_number, 'n' || range AS customer_name, range::DECIMAL(10,2) AS total_amount, "
            "DATE '2024-01-01' + range::INTEGER AS day, TIMESTAMP '2024-01-01 00:00:00' + INTERVAL 1 HOUR * range AS when_it_was, "
            'CASE WHEN range % 2 = 0 THEN range / 2 END AS half, range % 3 = 0 AS third FROM range(3000)'
        )
        expected = database.execute(query).to_arrow_table()
        for store in self.STORES:
            with self.subTest(store), self.connect(store) as connection:
                table, source = self.new_table(store)
                with connection.cursor() as cursor:
                    reader = database.cursor().execute(query).to_arrow_reader(1000)
                    self.assertEqual(cursor.adbc_ingest(table, reader, mode='create'), 3000)
                    connection.commit()
                    cursor.execute(f'SELECT * FROM {source}')
                    stream = cursor.fetch_record_batch()
                    found = database.cursor().execute('SELECT * FROM stream').to_arrow_table()
                self.check(found, expected, store=store)

    def test_pyarrow(self):
        """Batches, readers and tables of several pieces."""
        batch = pyarrow.record_batch({'k': pyarrow.array([1, 2], pyarrow.int32()), 'name': ['a', None]})
        many = pyarrow.table({'k': pyarrow.chunked_array([[1], [2, 3], []], pyarrow.int32()), 'name': pyarrow.chunked_array([['a'], [None, 'b'], []], pyarrow.string())})
        empty = pyarrow.record_batch({'k': pyarrow.array([], pyarrow.int32()), 'name': pyarrow.array([], pyarrow.string())})
        batches = [empty, batch, empty]
        for store in self.STORES:
            for rows, expected in (
                (batch, pyarrow.Table.from_batches([batch])),
                (many, many),
                (pyarrow.RecordBatchReader.from_batches(batch.schema, batches), pyarrow.Table.from_batches([batch])),
            ):
                with self.subTest(store, rows=type(rows)), self.connect(store) as connection, connection.cursor() as cursor:
                    table, source = self.new_table(store)
                    self.assertEqual(cursor.adbc_ingest(table, rows), len(expected))
                    connection.commit()
                    self.check(self.read(connection, source), expected)

    def test_a_reader_that_fails_leaves_nothing(self):
        batch = pyarrow.record_batch({'k': [1, 2]})

        def batches():
            yield batch
            raise RuntimeError('the source is gone')

        for store in self.STORES:
            with self.subTest(store), self.connect(store) as connection, connection.cursor() as cursor:
                table, source = self.new_table(store)
                with self.assertRaisesRegex(dbapi.Error, 'the source is gone'):
                    cursor.adbc_ingest(table, pyarrow.RecordBatchReader.from_batches(batch.schema, batches()))
                connection.rollback()
                with self.assertRaises(dbapi.Error) as caught:
                    self.read(connection, source)
                self.assertEqual(caught.exception.status_code.name, 'NOT_FOUND')
                self.assertEqual([file.name for file in self.folder.iterdir() if file.suffix != '.tmlog'], [])
