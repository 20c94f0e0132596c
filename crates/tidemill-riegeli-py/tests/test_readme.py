"""The examples do what they say."""

import contextlib
import doctest
import io
import os
import pathlib
import tempfile
import unittest

import tidemill_riegeli as riegeli


class Examples(unittest.TestCase):
    def test_the_first_example_of_the_readme_prints_what_is_below_it(self):
        readme = (pathlib.Path(__file__).parent.parent / 'README.md').read_text()
        program = readme.split('```python\n')[1].split('```')[0]
        expected = readme.split('```text\n')[1].split('```')[0]
        printed, before = io.StringIO(), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                with contextlib.redirect_stdout(printed):
                    exec(program, {})
            finally:
                os.chdir(before)
        self.assertEqual(printed.getvalue(), expected)

    def test_the_example_of_the_package_prints_what_is_below_it(self):
        outcome = doctest.testmod(riegeli)
        self.assertEqual((outcome.failed, outcome.attempted > 0), (0, True))


if __name__ == '__main__':
    unittest.main()
