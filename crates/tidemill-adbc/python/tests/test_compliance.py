"""DB-API 2.0 as the tests of the package dbapi-compliance ask for it.

What it asks for and the driver does not do is listed with the reason. A test of the list that passes fails the run, so the
list stays true.
"""

import pathlib
import tempfile
import unittest

import dbapi20

import adbc_driver_tidemill.dbapi

#: By the name of the test, why it fails.
EXPECTED = {
    'test_non_idempotent_close': 'closing a connection twice is not an error: PEP 249 leaves it open, and all of Python closes twice',
}


class Compliance(dbapi20.DatabaseAPI20Test):
    driver = adbc_driver_tidemill.dbapi
    # There are no stored procedures.
    lower_func = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.connect_args = (pathlib.Path(folder.name),)

    def tearDown(self):
        """The folder goes with its tables."""

    def test_nextset(self):
        with self.assertRaises(self.driver.NotSupportedError), self._connect() as connection, connection.cursor() as cursor:
            cursor.nextset()

    def test_setoutputsize(self):
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.setoutputsize(1000)
            cursor.setoutputsize(2000, 0)


for name in EXPECTED:
    setattr(Compliance, name, unittest.expectedFailure(getattr(Compliance, name)))


def load_tests(loader, standard_tests, pattern):
    """Not the class of the package, which stands for no driver."""
    return loader.loadTestsFromTestCase(Compliance)
