"""The Python of docs/adbc.md runs, one block behind another, over the tables that it names."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

import pandas
import pyarrow
import sqlalchemy

import tidemill

PAGE = pathlib.Path(__file__).parents[4] / 'docs/adbc.md'


class Documents(unittest.TestCase):
    def test_the_page(self):
        text = PAGE.read_text(encoding='utf-8')
        blocks = re.findall(r'```python\n(.*?)```', text, re.DOTALL)
        self.assertEqual(len(blocks), 2)
        with tempfile.TemporaryDirectory() as folder:
            books = pathlib.Path(folder) / 'books'
            shop = pathlib.Path(folder) / 'shop'
            for made in (books, shop):
                made.mkdir()
            # An attached folder is a schema, as a database of a server is.
            where = {"'books/'": repr(str(books)), "'clickhouse://me@host/shop'": repr(str(shop)), '//srv/books': str(books)}
            with tidemill.connect(books) as connection, connection.cursor() as cursor:
                cursor.execute('CREATE TABLE customers (cust Integer, name VarChar(20), city VarChar(20))')
                cursor.execute("INSERT INTO customers VALUES (7, 'Ada', 'Leeds'), (8, 'Olav', 'Oslo')")
                connection.commit()
            with tidemill.connect(shop) as connection, connection.cursor() as cursor:
                cursor.adbc_ingest('orders', pyarrow.table({'cust': [7, 7, 8], 'total': [1.5, 2.5, 3.0]}))
                connection.commit()
            metadata = sqlalchemy.MetaData()
            names = {
                'table': pyarrow.table({'cust': [9], 'name': ['Bo'], 'city': ['Rome']}),
                'frame': pandas.DataFrame({'total': [50.0, 150.0]}),
                'orders': sqlalchemy.Table('orders', metadata, sqlalchemy.Column('total', sqlalchemy.Float)),
                'pandas': pandas,
                'sqlalchemy': sqlalchemy,
            }
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                for block in blocks:
                    for before, behind in where.items():
                        block = block.replace(before, behind)
                    exec(compile(block, str(PAGE), 'exec'), names)
            names['engine'].dispose()
            self.assertEqual(printed.getvalue(), "[('Ada', 4.0), ('Olav', 3.0)]\n1\n")
            self.assertTrue((books / 'orders.dbf').is_file(), os.listdir(books))
            with tidemill.connect(books) as connection, connection.cursor() as cursor:
                cursor.execute('SELECT cust, city FROM customers ORDER BY cust')
                self.assertEqual(cursor.fetchall(), [(7, 'York'), (8, 'Oslo'), (9, 'Rome')])
