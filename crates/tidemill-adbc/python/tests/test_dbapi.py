"""Statements by DB-API 2.0 and by Arrow."""

import datetime
import decimal
import pathlib
import tempfile
import threading
import time
import unittest

import adbc_driver_manager
import pyarrow
import pyarrow.parquet

import tidemill

JOIN = (
    'SELECT o.id, c.name FROM orders o JOIN customers c ON c.cust = o.cust '
    'ORDER BY o.id'
)


class Books(unittest.TestCase):
    """A folder with two tables that were made by SQL."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with self.connect(autocommit=True) as connection:
            with connection.cursor() as cursor:
                for statement in (
                    'CREATE TABLE orders ( id Integer, cust Integer, total Numeric(8,2), paid Date, done Logical )',
                    'CREATE TABLE customers ( cust Integer, name Char(12) )',
                    "INSERT INTO customers VALUES ( 1, 'Ada' ), ( 2, 'Größe' )",
                ):
                    cursor.execute(statement)
                cursor.executemany(
                    'INSERT INTO orders VALUES ( ?, ?, ?, ?, ? )',
                    [
                        (10, 1, decimal.Decimal('5.25'), datetime.date(2024, 2, 29), True),
                        (11, 2, decimal.Decimal('7.00'), None, False),
                        (12, 1, decimal.Decimal('-0.75'), datetime.date(1999, 12, 31), True),
                    ],
                )

    def connect(self, **settings):
        return tidemill.connect(self.folder, **settings)

    def rows(self, sql, connection=None, parameters=None):
        if connection is None:
            with self.connect() as connection:
                return self.rows(sql, connection, parameters)
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall()


class Queries(Books):
    def test_values_come_as_python_has_them(self):
        rows = self.rows('SELECT * FROM orders ORDER BY id')
        self.assertEqual(rows[0], (10, 1, decimal.Decimal('5.25'), datetime.date(2024, 2, 29), True))
        self.assertEqual(rows[1], (11, 2, decimal.Decimal('7.00'), None, False))
        self.assertEqual(len(rows), 3)

    def test_joins_and_columns_are_described(self):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(JOIN)
            self.assertEqual([column[0] for column in cursor.description], ['id', 'name'])
            self.assertEqual(cursor.fetchone(), (10, 'Ada'))
            self.assertEqual(cursor.fetchmany(1), [(11, 'Größe')])
            self.assertEqual(cursor.fetchall(), [(12, 'Ada')])

    def test_arrow(self):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute('SELECT id, total FROM orders')
            table = cursor.fetch_arrow_table()
        self.assertEqual(table.schema.field('total').type, pyarrow.decimal128(10, 2))
        self.assertEqual(table.column('id').to_pylist(), [10, 11, 12])

    def test_record_batches_stream(self):
        count = 200_000
        numbers = pyarrow.table({'n': pyarrow.array(range(count), pyarrow.int64())})
        pyarrow.parquet.write_table(numbers, self.folder / 'numbers.parquet')
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute('SELECT n FROM numbers')
            reader = cursor.fetch_record_batch()
            first = reader.read_next_batch()
            self.assertLess(first.num_rows, count)
            self.assertEqual(first.num_rows + sum(batch.num_rows for batch in reader), count)

    def test_parameters(self):
        found = self.rows('SELECT id FROM orders WHERE total > ? AND cust = ?', parameters=(1, 1))
        self.assertEqual(found, [(10,)])
        joined = self.rows(
            'SELECT o.id FROM orders o JOIN customers c ON c.cust = o.cust WHERE c.name = ? AND o.paid < ?',
            parameters=('Ada', datetime.date(2000, 1, 1)),
        )
        self.assertEqual(joined, [(12,)])

    def test_many_rows_of_parameters_are_many_runs(self):
        with self.connect() as connection, connection.cursor() as cursor:
            batch = pyarrow.record_batch({'cust': pyarrow.array([2, 1, 9])})
            cursor.execute('SELECT id FROM orders WHERE cust = ?', batch)
            self.assertEqual(cursor.fetchall(), [(11,), (10,), (12,)])
            # They are gone with their query.
            cursor.execute('SELECT COUNT(*) FROM orders')
            self.assertEqual(cursor.fetchall(), [(3,)])

    def test_parameters_by_name(self):
        sql = 'SELECT id FROM orders WHERE cust = :cust AND total > :least'
        self.assertEqual(self.rows(sql, parameters={'least': 1, 'cust': 1}), [(10,)])

    def test_other_stores_and_attached_names(self):
        places = self.folder / 'elsewhere'
        places.mkdir()
        towns = pyarrow.table({'cust': [1, 2], 'town': ['York', 'Ulm']})
        pyarrow.parquet.write_table(towns, places / 'towns.parquet')
        with self.connect(attach={'towns': places / 'towns.parquet'}) as connection:
            rows = self.rows(
                'SELECT c.name, t.town FROM customers c JOIN towns t ON t.cust = c.cust ORDER BY 1', connection
            )
        self.assertEqual(rows, [('Ada', 'York'), ('Größe', 'Ulm')])

    def test_schema_of_a_query_and_of_its_parameters(self):
        with self.connect() as connection, connection.cursor() as cursor:
            schema = cursor.adbc_execute_schema('SELECT id, total * 2 AS twice FROM orders WHERE cust = ?')
            self.assertEqual(schema.names, ['id', 'twice'])
            parameters = cursor.adbc_prepare('SELECT id FROM orders WHERE cust = :who AND total > :least')
            self.assertEqual(parameters.names, ['WHO', 'LEAST'])
            self.assertEqual(parameters.types, [pyarrow.null()] * 2)


class Faults(Books):
    def check(self, sql, error, sqlstate, native_code=None):
        with self.assertRaises(error) as caught:
            self.rows(sql)
        self.assertEqual(caught.exception.sqlstate, sqlstate, str(caught.exception))
        if native_code is not None:
            # The place of a vendor's code is taken in ADBC 1.1: it says that there are details.
            self.assertEqual(caught.exception.details, [(b'native_code', str(native_code).encode())])

    def test_faults_have_a_class_a_state_and_a_code(self):
        self.check('SELEC 1', adbc_driver_manager.ProgrammingError, '42000')
        self.check('SELECT nothing FROM orders', adbc_driver_manager.ProgrammingError, 'S0022', 2121)
        self.check('SELECT * FROM nothing', adbc_driver_manager.ProgrammingError, 'HY000', 7041)
        self.check(JOIN.replace('c.name', 'c.nothing'), adbc_driver_manager.ProgrammingError, 'S0022', 2121)

    def test_there_must_be_a_folder(self):
        with self.assertRaises(adbc_driver_manager.Error) as caught:
            tidemill.connect(self.folder / 'nowhere')
        self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.NOT_FOUND)

    def test_options_that_there_are_not_are_refused(self):
        with self.assertRaises(adbc_driver_manager.NotSupportedError):
            self.connect(options={'tidemill.nothing': '1'})
        with self.assertRaises(adbc_driver_manager.ProgrammingError):
            self.connect(options={'tidemill.deleted': 'perhaps'})

    def test_a_parameter_without_a_value(self):
        self.check('SELECT id FROM orders WHERE id = ?', adbc_driver_manager.ProgrammingError, '07001')


class Transactions(Books):
    def test_commit_and_rollback(self):
        insert = 'INSERT INTO orders ( id, cust ) VALUES ( ?, 2 )'
        with self.connect() as connection:
            with connection.cursor() as cursor:
                cursor.execute(insert, (20,))
                cursor.execute('DELETE FROM orders WHERE id = 10')
                # It sees what it has done, in both lanes, and others do not.
                self.assertEqual(self.rows(JOIN, connection), [(11, 'Größe'), (12, 'Ada'), (20, 'Größe')])
                self.assertEqual(self.rows('SELECT COUNT(*) FROM orders', connection), [(3,)])
                self.assertEqual(self.rows(JOIN), [(10, 'Ada'), (11, 'Größe'), (12, 'Ada')])
                connection.rollback()
                self.assertEqual(self.rows(JOIN, connection), [(10, 'Ada'), (11, 'Größe'), (12, 'Ada')])
                cursor.execute(insert, (21,))
                connection.commit()
                self.assertEqual(self.rows('SELECT id FROM orders WHERE cust = 2'), [(11,), (21,)])

    def test_what_is_not_committed_is_gone(self):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute('DELETE FROM orders')
        self.assertEqual(self.rows('SELECT COUNT(*) FROM orders'), [(3,)])

    def test_many_rows_are_one_transaction(self):
        with self.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.executemany('INSERT INTO orders ( id ) VALUES ( ? )', [(30,), (31,), (32,)])
            self.assertEqual(cursor.rowcount, 3)
            with self.assertRaises(adbc_driver_manager.Error):
                cursor.executemany('INSERT INTO orders ( id, paid ) VALUES ( ?, ? )', [(40, '2024-01-01'), (41, 'never')])
        self.assertEqual(self.rows('SELECT COUNT(*) FROM orders WHERE id >= 30'), [(3,)])

    def test_a_change_says_how_many_rows(self):
        with self.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute('UPDATE orders SET total = 0 WHERE cust = 1')
            self.assertEqual(cursor.rowcount, 2)

    def test_commit_needs_a_transaction(self):
        with self.connect(autocommit=True) as connection:
            with self.assertRaises(adbc_driver_manager.Error):
                connection.adbc_connection.commit()


class Ingestion(Books):
    ROWS = pyarrow.table({'cust': pyarrow.array([7, 8], pyarrow.int64()), 'name': ['Cleo', 'Dan']})

    def ingest(self, table, mode, rows=None, commit=True):
        with self.connect() as connection, connection.cursor() as cursor:
            count = cursor.adbc_ingest(table, self.ROWS if rows is None else rows, mode=mode)
            if commit:
                connection.commit()
            return count

    def test_append(self):
        self.assertEqual(self.ingest('customers', 'append'), 2)
        self.assertEqual(self.rows('SELECT name FROM customers WHERE cust > 6'), [('Cleo',), ('Dan',)])
        self.ingest('customers', 'append', commit=False)
        self.assertEqual(self.rows('SELECT COUNT(*) FROM customers'), [(4,)])

    def test_append_is_whole_or_nothing(self):
        batches = [
            pyarrow.record_batch({'cust': [1], 'name': ['x']}),
            pyarrow.record_batch({'cust': [2], 'name': ['much too long a name']}),
        ]
        with self.assertRaises(adbc_driver_manager.Error):
            self.ingest('customers', 'append', pyarrow.RecordBatchReader.from_batches(batches[0].schema, batches))
        self.assertEqual(self.rows('SELECT COUNT(*) FROM customers'), [(2,)])

    def test_create_replace_and_create_append(self):
        for table in ('fresh', 'fresh.parquet', 'fresh.riegeli'):
            with self.subTest(table=table):
                self.assertEqual(self.ingest(table, 'create'), 2)
                with self.assertRaises(adbc_driver_manager.Error) as caught:
                    self.ingest(table, 'create')
                self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.ALREADY_EXISTS)
                self.assertEqual(self.ingest(table, 'replace'), 2)
                self.assertEqual(self.rows(f"SELECT COUNT(*) FROM '{table}'" if '.' in table else 'SELECT COUNT(*) FROM "fresh.dbf"'), [(2,)])
        self.assertEqual(self.ingest('fresh.dbf', 'create_append'), 2)
        self.assertEqual(self.ingest('another', 'create_append'), 2)
        self.assertEqual(self.rows('SELECT COUNT(*) FROM "fresh.dbf"'), [(4,)])
        with self.assertRaises(adbc_driver_manager.NotSupportedError):
            self.ingest('fresh.parquet', 'append')

    def test_append_needs_a_table_and_its_columns(self):
        with self.assertRaises(adbc_driver_manager.Error) as caught:
            self.ingest('nothing', 'append')
        self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.NOT_FOUND)
        with self.assertRaises(adbc_driver_manager.ProgrammingError):
            self.ingest('customers', 'append', pyarrow.table({'shoe': [44]}))


class Metadata(Books):
    def test_objects(self):
        with self.connect() as connection:
            catalogs = connection.adbc_get_objects(table_name_filter='ORD%').read_all().to_pylist()
            self.assertEqual(len(catalogs), 1)
            (schema,) = catalogs[0]['catalog_db_schemas']
            (table,) = schema['db_schema_tables']
            self.assertEqual((table['table_name'].lower(), table['table_type']), ('orders', 'TABLE'))
            columns = [(column['column_name'], column['ordinal_position']) for column in table['table_columns']]
            self.assertEqual(columns[:3], [('id', 1), ('cust', 2), ('total', 3)])
            self.assertEqual(table['table_columns'][2]['remarks'], 'N(8,2)')
            names = connection.adbc_get_objects(depth='tables').read_all().to_pylist()
            found = [table['table_name'].lower() for table in names[0]['catalog_db_schemas'][0]['db_schema_tables']]
            self.assertEqual(found, ['customers', 'orders'])
            self.assertIsNone(connection.adbc_get_objects(depth='catalogs').read_all().to_pylist()[0]['catalog_db_schemas'])

    def test_table_schema_types_and_info(self):
        with self.connect() as connection:
            self.assertEqual(connection.adbc_get_table_schema('CUSTOMERS').names, ['cust', 'name'])
            self.assertEqual(connection.adbc_get_table_types(), ['TABLE'])
            info = connection.adbc_get_info()
            self.assertEqual(info['vendor_name'], 'Tidemill')
            self.assertEqual(info['driver_adbc_version'], 1_001_000)


class Cancelling(Books):
    # The pairs of 100,000 numbers would take minutes.
    ENDLESS = 'SELECT COUNT(*) FROM numbers a, numbers b WHERE a.n * b.n % 7 = 3'

    def setUp(self):
        super().setUp()
        numbers = pyarrow.table({'n': pyarrow.array(range(100_000), pyarrow.int64())})
        pyarrow.parquet.write_table(numbers, self.folder / 'numbers.parquet')

    def check(self, cancel_of, sql=ENDLESS):
        with self.connect() as connection, connection.cursor() as cursor:
            timer = threading.Timer(0.5, cancel_of(connection, cursor))
            timer.start()
            begun = time.monotonic()
            # Rows come by way of pyarrow, and so does what happens to them.
            with self.assertRaises((adbc_driver_manager.Error, pyarrow.ArrowException)) as caught:
                cursor.execute(sql)
                cursor.fetchall()
            timer.join()
            self.assertLess(time.monotonic() - begun, 20)
            self.assertIn('cancelled', str(caught.exception).lower())
            # It has really stopped: the process does nothing any more.
            time.sleep(0.5)
            before = time.process_time()
            time.sleep(1)
            self.assertLess(time.process_time() - before, 0.5)
            self.assertEqual(self.rows('SELECT COUNT(*) FROM orders', connection), [(3,)])

    def test_a_statement(self):
        self.check(lambda connection, cursor: cursor.adbc_cancel)

    def test_a_connection(self):
        self.check(lambda connection, cursor: connection.adbc_cancel)

    def test_a_script_without_end(self):
        self.check(
            lambda connection, cursor: cursor.adbc_cancel,
            'DECLARE @n Integer; SET @n = 0; WHILE @n >= 0 DO SET @n = 0; END WHILE;',
        )
