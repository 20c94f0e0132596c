"""The dialect of SQLAlchemy: tables, Core, the ORM, frames."""

import datetime
import decimal
import pathlib
import tempfile
import unittest
from typing import List, Optional

import pandas
import polars
import pyarrow
import pyarrow.parquet
import sqlalchemy
from sqlalchemy import exc, orm, types

import tidemill

BIG = 2**63 - 1


class Base(orm.DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = 'customers'
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(types.String(30))
    credit: orm.Mapped[Optional[decimal.Decimal]] = orm.mapped_column(types.Numeric(10, 2))
    born: orm.Mapped[Optional[datetime.date]]
    seen: orm.Mapped[Optional[datetime.datetime]]
    wakes: orm.Mapped[Optional[datetime.time]]
    active: orm.Mapped[Optional[bool]]
    note: orm.Mapped[Optional[str]] = orm.mapped_column(types.Text)
    picture: orm.Mapped[Optional[bytes]]
    large: orm.Mapped[Optional[int]] = orm.mapped_column(types.BigInteger)
    small: orm.Mapped[Optional[int]] = orm.mapped_column(types.SmallInteger)
    ratio: orm.Mapped[Optional[float]]
    more: orm.Mapped[Optional[dict]] = orm.mapped_column(types.JSON(none_as_null=True))
    orders: orm.Mapped[List['Order']] = orm.relationship(back_populates='customer')


class Order(Base):
    __tablename__ = 'orders'
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    # The names of its index and of the foreign key are longer than an xBase table takes.
    customer_id: orm.Mapped[int] = orm.mapped_column('cust', sqlalchemy.ForeignKey('customers.id'), index=True)
    total: orm.Mapped[Optional[decimal.Decimal]] = orm.mapped_column(types.Numeric(8, 2))
    customer: orm.Mapped[Customer] = orm.relationship(back_populates='orders')


#: A value of each type, at its limits where it has some.
VALUES = {
    'name': 'Größe',
    'credit': decimal.Decimal('-99999999.99'),
    'born': datetime.date(1990, 2, 28),
    'seen': datetime.datetime(2024, 2, 29, 1, 2, 3, 456000),
    'wakes': datetime.time(6, 30, 0, 5),
    'active': True,
    'note': 'x' * 70_000,
    'picture': b'\0\xff',
    'large': -BIG,
    'small': -(2**15),
    'ratio': 0.1,
    'more': {'a': [1, None]},
}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.engine = sqlalchemy.create_engine(f'tidemill://{self.folder}')
        # Before the folder goes.
        self.addCleanup(self.engine.dispose)


class Urls(Folder):
    def check(self, url, **settings):
        engine = sqlalchemy.create_engine(url, **settings)
        with engine.connect() as connection:
            self.assertEqual(connection.scalar(sqlalchemy.text('SELECT COUNT(*) FROM t')), 0)
        engine.dispose()

    def test_the_folder_and_its_options(self):
        with tidemill.connect(self.folder) as connection, connection.cursor() as cursor:
            cursor.execute('CREATE TABLE t ( a Integer )')
        self.check(f'tidemill://{self.folder}')
        self.check(f'tidemill:///{self.folder}')
        self.check(f'tidemill+adbc://{self.folder}')
        self.check(f'tidemill://{self.folder}?tidemill.deleted=include')
        self.check('tidemill://', connect_args={'uri': self.folder})
        with self.assertRaises(exc.NotSupportedError):
            self.check(f'tidemill://{self.folder}?tidemill.nothing=1')

    def test_a_host_is_refused_with_the_right_form(self):
        with self.assertRaisesRegex(exc.ArgumentError, 'tidemill:///srv/books'):
            self.check('tidemill://me:secret@books/orders')

    def test_a_folder_that_there_is_not(self):
        with self.assertRaisesRegex(exc.DBAPIError, 'nowhere'):
            self.check(f'tidemill://{self.folder}/nowhere')


class Orm(Folder):
    def setUp(self):
        super().setUp()
        Base.metadata.create_all(self.engine)
        with orm.Session(self.engine) as session:
            session.add(Customer(**VALUES, orders=[Order(total=5), Order(total=decimal.Decimal('7.25'))]))
            session.add(Customer(name='Ada'))
            session.commit()

    def test_values_go_round(self):
        with orm.Session(self.engine) as session:
            full, bare = session.scalars(sqlalchemy.select(Customer).order_by(Customer.id)).all()
            self.assertEqual({name: getattr(full, name) for name in VALUES}, VALUES)
            self.assertEqual(bare.name, 'Ada')
            for name in VALUES:
                if name != 'name':
                    self.assertIsNone(getattr(bare, name), name)

    def test_keys_count_and_relations_load(self):
        with orm.Session(self.engine) as session:
            customer = session.scalars(sqlalchemy.select(Customer).where(Customer.name == 'Größe')).one()
            self.assertEqual(customer.id, 1)
            self.assertEqual([(order.id, order.total) for order in customer.orders], [(1, 5), (2, decimal.Decimal('7.25'))])
            sums = sqlalchemy.select(Customer.name, sqlalchemy.func.sum(Order.total)).join(Order).group_by(Customer.name)
            self.assertEqual(session.execute(sums).all(), [('Größe', decimal.Decimal('12.25'))])
            new = Order(customer=customer)
            session.add(new)
            session.flush()
            self.assertEqual((new.id, new.customer_id), (3, 1))

    def test_changes_and_deletions(self):
        with orm.Session(self.engine) as session:
            customer = session.get(Customer, 2)
            customer.note, customer.active = 'changed', False
            session.commit()
            session.delete(session.get(Order, 1))
            session.commit()
        with orm.Session(self.engine) as session:
            customer = session.get(Customer, 2)
            self.assertEqual((customer.note, customer.active), ('changed', False))
            self.assertIsNone(session.get(Order, 1))
            many = sqlalchemy.update(Customer).where(Customer.id > 0).values(small=Customer.id + 1)
            self.assertEqual(session.execute(many).rowcount, 2)
            self.assertEqual(session.scalars(sqlalchemy.select(Customer.small).order_by(Customer.id)).all(), [2, 3])

    def count(self, session):
        return session.scalar(sqlalchemy.select(sqlalchemy.func.count()).select_from(Customer))

    def test_transactions(self):
        with orm.Session(self.engine) as session:
            session.add(Customer(name='Cleo'))
            session.flush()
            self.assertEqual(self.count(session), 3)
            with orm.Session(self.engine) as other:
                self.assertEqual(self.count(other), 2)
            session.rollback()
            self.assertEqual(self.count(session), 2)

    def test_savepoints(self):
        with orm.Session(self.engine) as session:
            with self.assertRaises(KeyError), session.begin_nested():
                session.add(Customer(name='Cleo'))
                session.flush()
                raise KeyError
            with session.begin_nested():
                session.add(Customer(name='Dan'))
            session.commit()
            names = session.scalars(sqlalchemy.select(Customer.name).order_by(Customer.id)).all()
            self.assertEqual(names, ['Größe', 'Ada', 'Dan'])

    def test_autocommit(self):
        with self.engine.connect().execution_options(isolation_level='AUTOCOMMIT') as connection:
            connection.execute(sqlalchemy.delete(Order))
            with orm.Session(self.engine) as session:
                self.assertIsNone(session.get(Order, 1))

    def test_everything_can_be_dropped(self):
        Base.metadata.drop_all(self.engine)
        self.assertEqual(sqlalchemy.inspect(self.engine).get_table_names(), [])
        self.assertEqual([file.suffix for file in self.folder.iterdir() if file.suffix != '.tmlog'], [])


class Tables(Folder):
    def test_reflection(self):
        Base.metadata.create_all(self.engine)
        inspector = sqlalchemy.inspect(self.engine)
        self.assertEqual(sorted(inspector.get_table_names()), ['customers', 'orders'])
        self.assertTrue(inspector.has_table('CUSTOMERS'))
        self.assertFalse(inspector.has_table('nothing'))
        self.assertEqual(inspector.get_schema_names(), [])
        with self.assertRaises(exc.NoSuchTableError):
            inspector.get_columns('nothing')
        found = {column['name']: str(column['type']) for column in inspector.get_columns('customers')}
        expected = {
            'id': 'INTEGER',
            'name': 'VARCHAR(30)',
            'credit': 'NUMERIC(10, 2)',
            'born': 'DATE',
            'seen': 'DATETIME',
            'wakes': 'VARCHAR(15)',
            'active': 'BOOLEAN',
            'note': 'TEXT',
            'picture': 'BLOB',
            'large': 'BIGINT',
            'small': 'INTEGER',
            'ratio': 'DOUBLE',
            'more': 'TEXT',
        }
        self.assertEqual(found, expected)
        table = sqlalchemy.Table('orders', sqlalchemy.MetaData(), autoload_with=self.engine)
        self.assertEqual(table.columns.keys(), ['id', 'cust', 'total'])
        self.assertEqual(table.primary_key.columns.keys(), ['id'])

    def test_what_is_reflected_is_made_again_alike(self):
        Base.metadata.create_all(self.engine)
        metadata = sqlalchemy.MetaData()
        metadata.reflect(self.engine)
        again = metadata.tables['customers'].to_metadata(sqlalchemy.MetaData(), name='again')
        again.create(self.engine)
        columns = [
            [(column['name'], str(column['type'])) for column in sqlalchemy.inspect(self.engine).get_columns(table)]
            for table in ('customers', 'again')
        ]
        self.assertEqual(columns[0], columns[1])

    def test_attached_databases_are_schemas_and_files_are_tables(self):
        pyarrow.parquet.write_table(pyarrow.table({'a': [1, 2]}), self.folder / 'numbers.parquet')
        inspector = sqlalchemy.inspect(self.engine)
        self.assertEqual(inspector.get_table_names(), ['numbers'])
        with self.engine.connect() as connection:
            table = sqlalchemy.Table('numbers', sqlalchemy.MetaData(), autoload_with=connection)
            self.assertEqual(connection.scalars(sqlalchemy.select(table.c.a)).all(), [1, 2])
            by_name = sqlalchemy.table('numbers.parquet', sqlalchemy.column('a'))
            self.assertEqual(connection.scalars(sqlalchemy.select(by_name.c.a)).all(), [1, 2])

    def test_names_that_must_be_quoted(self):
        columns = ['select', 'order', 'a b', 'größe', 'index', 'Mixed', 'from', 'date', 'user', 'limit', 'end', 'top']
        table = sqlalchemy.Table(
            'group', sqlalchemy.MetaData(), *(sqlalchemy.Column(name, types.Integer) for name in columns)
        )
        table.create(self.engine)
        with self.engine.begin() as connection:
            connection.execute(table.insert(), [dict.fromkeys(columns, number) for number in (1, 2)])
            query = sqlalchemy.select(*table.c).where(*(column > 1 for column in table.c))
            self.assertEqual(connection.execute(query).one(), (2,) * len(columns))

    def test_what_a_table_cannot_have(self):
        for column in (
            sqlalchemy.Column('a', types.Integer, server_default='5'),
            sqlalchemy.Column('a', types.Integer, sqlalchemy.CheckConstraint('a > 5')),
            sqlalchemy.Column('a', types.Numeric(60, 2)),
        ):
            with self.subTest(column), self.assertRaises(exc.CompileError):
                sqlalchemy.Table('t', sqlalchemy.MetaData(), column).create(self.engine)
        self.assertEqual(list(self.folder.glob('t.*')), [])

    def test_keys_are_checked(self):
        table = sqlalchemy.Table(
            'a_long_name',
            sqlalchemy.MetaData(),
            sqlalchemy.Column('code', types.String(5), primary_key=True),
            sqlalchemy.Column('n', types.Integer, unique=True),
        )
        table.create(self.engine)
        with self.engine.begin() as connection:
            connection.execute(table.insert().values(code='x', n=1))
        for values in ({'code': 'x', 'n': 2}, {'code': 'y', 'n': 1}):
            with self.subTest(values), self.assertRaises(exc.IntegrityError), self.engine.begin() as connection:
                connection.execute(table.insert().values(**values))
        with self.engine.begin() as connection:
            connection.execute(table.insert(), [{'code': 'a', 'n': None}, {'code': 'b', 'n': None}])
            connection.execute(table.delete().where(table.c.code == 'x'))
            connection.execute(table.insert().values(code='x', n=1))
            found = connection.execute(sqlalchemy.select(table.c.code, table.c.n).order_by(table.c.code)).all()
        self.assertEqual([tuple(row) for row in found], [('a', None), ('b', None), ('x', 1)])
        inspector = sqlalchemy.inspect(self.engine)
        self.assertEqual(inspector.get_pk_constraint('a_long_name')['constrained_columns'], ['code'])
        self.assertEqual([one['column_names'] for one in inspector.get_unique_constraints('a_long_name')], [['n']])


class Core(Folder):
    def setUp(self):
        super().setUp()
        self.table = sqlalchemy.Table(
            'numbers',
            sqlalchemy.MetaData(),
            sqlalchemy.Column('n', types.Integer),
            sqlalchemy.Column('word', types.String(10)),
        )
        self.table.create(self.engine)
        with self.engine.begin() as connection:
            words = ['one', 'two', 'three', 'four', None]
            connection.execute(self.table.insert(), [{'n': n + 1, 'word': word} for n, word in enumerate(words)])

    def check(self, statement, expected):
        with self.subTest(str(statement)), self.engine.connect() as connection:
            self.assertEqual([tuple(row) for row in connection.execute(statement)], expected)

    def test_queries(self):
        select, func, t = sqlalchemy.select, sqlalchemy.func, self.table.c
        other = self.table.alias('order')
        self.check(select(t.n).order_by(t.n).limit(2), [(1,), (2,)])
        self.check(select(t.n).order_by(t.n).limit(2).offset(3), [(4,), (5,)])
        self.check(select(t.n).order_by(t.n.desc()).offset(3), [(2,), (1,)])
        self.check(select(t.n).where(t.n.in_([1, 5, 9])).order_by(t.n), [(1,), (5,)])
        self.check(select(t.n).where(t.n.in_([])), [])
        self.check(select(t.n).where(t.n.not_in([])).where(t.n == 1), [(1,)])
        self.check(select(t.n).where(t.word.is_(None)), [(5,)])
        self.check(select(t.n).where(t.word.like('t%')).order_by(t.n), [(2,), (3,)])
        self.check(select(t.n).where(t.word.startswith('t', autoescape=True)).order_by(t.n), [(2,), (3,)])
        self.check(select(t.n).where(t.word.ilike('T%')).order_by(t.n), [(2,), (3,)])
        self.check(select(t.n).where(sqlalchemy.not_(t.n.between(2, 5))), [(1,)])
        self.check(select(t.word + '!').where(t.n == 1), [('one!',)])
        self.check(select(sqlalchemy.cast(t.n, types.String(5))).where(t.n == 1), [('1',)])
        self.check(select(func.count(), func.max(t.n), func.lower(func.min(t.word))).select_from(self.table), [(5, 5, 'four')])
        self.check(select(sqlalchemy.case((t.n > 3, 'many'), else_='few')).where(t.n.in_([3, 4])).order_by(t.n), [('few',), ('many',)])
        self.check(select(t.n, other.c.n).join(other, other.c.n == t.n + 3).order_by(t.n), [(1, 4), (2, 5)])
        self.check(select(t.n).where(select(other.c.n).where(other.c.n == t.n * 5).exists()), [(1,)])
        self.check(select(t.n).where(t.n > 4).union_all(select(t.n).where(t.n < 2)).order_by('n'), [(1,), (5,)])
        self.check(select(sqlalchemy.literal('a'), sqlalchemy.literal(2), sqlalchemy.true()), [('a', 2, True)])
        self.check(select(t.n).where(t.n == 1).with_for_update(), [(1,)])
        part = select(t.n).where(t.n > 3).cte('part')
        self.check(select(func.sum(part.c.n)), [(9,)])
        self.check(select(select(t.n).where(t.n == 1).exists()), [(True,)])

    def test_changes(self):
        with self.engine.begin() as connection:
            inserted = connection.execute(self.table.insert().values([{'n': 6}, {'n': 7}]))
            self.assertEqual(inserted.rowcount, 2)
            self.assertEqual(connection.execute(self.table.delete().where(self.table.c.n > 5)).rowcount, 2)
            self.assertEqual(connection.execute(self.table.update().values(word='x')).rowcount, 5)
            self.assertFalse(connection.execute(self.table.update().values(word='y')).returns_rows)


class Frames(Folder):
    FRAME = pandas.DataFrame(
        {
            'id': [1, 2, BIG],
            'customer': ['a', None, 'ä'],
            'v': [1.5, None, 3.0],
            'when': pandas.to_datetime(['2024-01-01 00:00:00', '2024-01-02 03:04:05', None]),
            'flag': [True, False, True],
        }
    )

    def test_pandas(self):
        for mode, times in (('fail', 1), ('append', 2), ('append', 3), ('replace', 1), ('replace', 1)):
            with self.subTest(mode, times=times):
                self.FRAME.to_sql('frame', self.engine, index=False, if_exists=mode)
                back = pandas.read_sql_table('frame', self.engine)
                expected = pandas.concat([self.FRAME] * times, ignore_index=True)
                pandas.testing.assert_frame_equal(back, expected, check_dtype=False)
        with self.assertRaises(ValueError):
            self.FRAME.to_sql('frame', self.engine, if_exists='fail')

    def test_pandas_with_its_index(self):
        self.FRAME.to_sql('frame', self.engine)
        back = pandas.read_sql_table('frame', self.engine, index_col='index')
        pandas.testing.assert_frame_equal(back, self.FRAME, check_dtype=False, check_names=False)

    def test_long_names(self):
        frame = pandas.DataFrame({'customer_name': ['a'], 'customer_number': [1], 'MixedCase': [2]})
        for _ in range(2):
            frame.to_sql('frame', self.engine, index=False, if_exists='append')
        back = pandas.read_sql_table('frame', self.engine)
        self.assertEqual(back.columns.tolist(), frame.columns.tolist())
        self.assertEqual(len(back), 2)

    def test_polars(self):
        frame = polars.DataFrame({'a': [1, None], 'b': ['x', 'ü']})
        for _ in range(2):
            frame.write_database('frame', self.engine, if_table_exists='replace')
            self.assertEqual(polars.read_database('SELECT * FROM frame', self.engine).rows(), frame.rows())
