"""How the driver is found: packages, URIs, manifests, types."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import adbc_driver_manager
import adbc_driver_manager.dbapi
import pandas
import polars

import adbc_driver_tidemill
import adbc_driver_tidemill.dbapi
import tidemill
from adbc_driver_tidemill import manifest


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / 'my books'
        self.folder.mkdir()
        with tidemill.connect(self.folder, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute('CREATE TABLE towns ( name Char(10), people Integer )')
            cursor.execute("INSERT INTO towns VALUES ( 'York', 141 ), ( 'Ulm', 129 )")

    def run_module(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, '-m', 'adbc_driver_tidemill', *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )


class Places(Package):
    def check(self, connection):
        with connection, connection.cursor() as cursor:
            cursor.execute('SELECT name FROM towns ORDER BY name')
            self.assertEqual(cursor.fetchall(), [('Ulm',), ('York',)])

    def test_both_packages_connect(self):
        self.check(tidemill.connect(self.folder))
        self.check(adbc_driver_tidemill.dbapi.connect(self.folder))
        self.check(adbc_driver_tidemill.dbapi.connect(str(self.folder), {'tidemill.deleted': 'include'}))
        self.check(adbc_driver_tidemill.dbapi.connect(db_kwargs={'uri': str(self.folder)}))
        self.assertRegex(tidemill.__version__, r'^\d+\.\d+\.\d+$')

    def test_below_db_api(self):
        with adbc_driver_tidemill.connect(self.folder) as database:
            with adbc_driver_manager.AdbcConnection(database) as connection:
                self.assertEqual(connection.get_option('adbc.connection.autocommit'), 'true')

    def test_a_database_that_there_is_not_leaves_nothing_open(self):
        with self.assertRaises(adbc_driver_tidemill.dbapi.ProgrammingError):
            adbc_driver_tidemill.dbapi.connect(self.folder / 'nowhere')
        with self.assertRaises(adbc_driver_tidemill.dbapi.NotSupportedError):
            adbc_driver_tidemill.dbapi.connect(self.folder, conn_kwargs={'tidemill.nothing': '1'})

    def test_uris(self):
        uri = self.folder.as_uri()
        for place in (uri, uri.replace('file://', 'file://localhost'), uri.replace('file:', 'tidemill:')):
            with self.subTest(place):
                self.check(adbc_driver_tidemill.dbapi.connect(place))

    def test_polars_finds_the_driver_by_a_uri(self):
        uri = self.folder.as_uri().replace('file:', 'tidemill:')
        frame = polars.read_database_uri('SELECT name FROM towns ORDER BY name', uri, engine='adbc')
        self.assertEqual(frame.rows(), [('Ulm',), ('York',)])
        polars.DataFrame({'a': [1]}).write_database('made', uri, engine='adbc')
        self.assertTrue((self.folder / 'made.dbf').exists())

    def test_pandas_takes_the_connection(self):
        with tidemill.connect(self.folder) as connection:
            frame = pandas.read_sql('SELECT * FROM towns ORDER BY people', connection)
            self.assertEqual(frame.iloc[:, 0].tolist(), ['Ulm', 'York'])
            self.assertEqual(frame.iloc[:, 1].tolist(), [129, 141])


class Cursors(Package):
    def test_a_change_has_a_count_and_no_rows(self):
        with tidemill.connect(self.folder) as connection, connection.cursor() as cursor:
            for statement, rows in (
                ("INSERT INTO towns VALUES ( 'Bath', 94 ), ( 'Graz', 302 )", 2),
                ('UPDATE towns SET people = people + 1', 4),
                ("DELETE FROM towns WHERE name = 'Bath'", 1),
                ("DELETE FROM towns WHERE name = 'Bath'", 0),
            ):
                with self.subTest(statement):
                    cursor.execute(statement)
                    self.assertIsNone(cursor.description)
                    self.assertEqual(cursor.rowcount, rows)
                    for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall):
                        with self.assertRaises(adbc_driver_tidemill.dbapi.ProgrammingError):
                            fetch()
                    self.assertEqual(cursor.fetch_arrow_table().column_names, [])

    def test_a_query_without_rows_has_a_description(self):
        with tidemill.connect(self.folder) as connection, connection.cursor() as cursor:
            cursor.execute('SELECT name FROM towns WHERE people < 0')
            self.assertEqual(len(cursor.description), 1)
            self.assertIsNone(cursor.fetchone())
            self.assertEqual(cursor.fetchall(), [])

    def test_options_of_a_statement_that_are_refused_leave_nothing_open(self):
        with tidemill.connect(self.folder) as connection:
            with self.assertRaises(adbc_driver_tidemill.dbapi.NotSupportedError):
                connection.cursor(adbc_stmt_kwargs={'tidemill.nothing': '1'})
            # Closing would be an error.

    def test_autocommit_can_be_turned_on_and_off(self):
        with tidemill.connect(self.folder) as connection, connection.cursor() as cursor:
            self.assertFalse(connection.autocommit)
            cursor.execute("INSERT INTO towns VALUES ( 'Bath', 94 )")
            connection.autocommit = True
            cursor.execute("INSERT INTO towns VALUES ( 'Graz', 302 )")
            connection.rollback()
            connection.autocommit = False
            cursor.execute('DELETE FROM towns')
            connection.rollback()
            cursor.execute('SELECT COUNT(*) FROM towns')
            self.assertEqual(cursor.fetchall(), [(4,)])

    def test_a_clone_is_a_connection_of_its_own(self):
        with tidemill.connect(self.folder) as connection, connection.cursor() as cursor:
            cursor.execute('DELETE FROM towns')
            with connection.adbc_clone() as clone, clone.cursor() as other:
                self.assertIsInstance(clone, adbc_driver_tidemill.dbapi.Connection)
                other.execute('SELECT COUNT(*) FROM towns')
                self.assertEqual(other.fetchone(), (2,))

    def test_the_connection_is_that_of_the_manager(self):
        with tidemill.connect(self.folder) as connection:
            # By this pandas and polars know ADBC.
            self.assertIsInstance(connection, adbc_driver_manager.dbapi.Connection)
            self.assertIsInstance(connection.cursor(), adbc_driver_manager.dbapi.Cursor)


class Manifest(Package):
    def test_a_manager_finds_the_driver_by_its_name(self):
        place = self.folder / 'configuration'
        answer = self.run_module('install', 'user', XDG_CONFIG_HOME=str(place))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        path = place / 'adbc' / 'drivers' / 'tidemill.toml'
        self.assertEqual(answer.stdout, f'{path}\n')
        self.assertEqual(path.read_text(), manifest.text())
        self.assertEqual([file.name for file in path.parent.iterdir()], ['tidemill.toml'])
        program = (
            'import adbc_driver_manager.dbapi as manager, sys\n'
            'with manager.connect("tidemill", db_kwargs={"uri": sys.argv[1]}) as c, c.cursor() as cursor:\n'
            '    cursor.execute("SELECT COUNT(*) FROM towns"); print(cursor.fetchall())'
        )
        environment = {**os.environ, 'XDG_CONFIG_HOME': str(place)}
        answer = subprocess.run(
            [sys.executable, '-c', program, self.folder], env=environment, capture_output=True, text=True
        )
        self.assertEqual(answer.stdout, '[(2,)]\n', answer.stderr)

    def test_what_cannot_be_written_is_an_error(self):
        (self.folder / 'file').write_text('')
        answer = self.run_module('install', 'user', XDG_CONFIG_HOME=str(self.folder / 'file'))
        self.assertEqual((answer.returncode, answer.stdout), (2, ''))
        self.assertTrue(answer.stderr.startswith('error: '), answer.stderr)

    def test_the_library_can_be_named(self):
        self.assertEqual(self.run_module('path').stdout.strip(), tidemill.driver())
        self.assertEqual(self.run_module('manifest').stdout, manifest.text())
        self.assertIn(f'= "{tidemill.driver()}"', manifest.text())

    def test_places(self):
        with self.assertRaises(ValueError):
            manifest.folder('elsewhere')
        self.assertEqual(manifest.folder('system'), pathlib.Path('/etc/adbc/drivers'))


class Types(unittest.TestCase):
    #: What a program with types sees of the packages.
    PROGRAM = '''
import adbc_driver_tidemill
import adbc_driver_tidemill.dbapi
import adbc_driver_tidemill.manifest
import adbc_driver_tidemill.sqlalchemy
import tidemill

connection: adbc_driver_tidemill.dbapi.Connection = tidemill.connect("books", attach={"a": "b.parquet"})
cursor: adbc_driver_tidemill.dbapi.Cursor = connection.cursor()
path: str = tidemill.driver()
tidemill.connect(7)
'''

    @unittest.skipIf(importlib.util.find_spec('mypy') is None, 'mypy is not installed')
    def test_the_packages_are_typed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / 'program.py'
            program.write_text(self.PROGRAM)
            packages = pathlib.Path(tidemill.__file__).parents[1]
            settings = pathlib.Path(folder) / 'mypy.ini'
            # pyarrow has no types, and pandas has them in a package of their own.
            settings.write_text(
                '[mypy]\nstrict = true\n[mypy-pyarrow.*]\nignore_missing_imports = true\n'
                '[mypy-pandas.*]\nignore_missing_imports = true\n'
            )
            command = [sys.executable, '-m', 'mypy', '--config-file', settings, '--cache-dir', f'{folder}/cache']
            inside = [*command, '-p', 'adbc_driver_tidemill', '-p', 'tidemill']
            # From their own folder, so that they are looked at as sources.
            answer = subprocess.run(inside, cwd=packages, env=without_path(), capture_output=True, text=True)
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
            answer = subprocess.run([*command, program], env={**os.environ, 'MYPYPATH': ''}, cwd=packages, capture_output=True, text=True)
            lines = answer.stdout.splitlines()
            # The last call alone is wrong.
            self.assertEqual(len(lines), 2, answer.stdout + answer.stderr)
            self.assertIn(': error: Argument 1 to "connect" has incompatible type "int"', lines[0])


def without_path():
    return {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}


if __name__ == '__main__':
    unittest.main()
