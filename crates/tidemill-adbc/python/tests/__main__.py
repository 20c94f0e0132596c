"""Runs every test, and ends a run that hangs with the traces of its threads."""

import faulthandler
import pathlib
import unittest

if __name__ == '__main__':
    faulthandler.dump_traceback_later(300, exit=True)
    unittest.main(module=None, argv=['tests', 'discover', '-v', '-s', str(pathlib.Path(__file__).parent)])
