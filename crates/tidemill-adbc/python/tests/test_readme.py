"""The program of the README prints what the README says."""

import pathlib
import re
import subprocess
import sys
import unittest

README = pathlib.Path(__file__).parents[1] / 'README.md'


class Readme(unittest.TestCase):
    def test_the_first_program(self):
        text = README.read_text(encoding='utf-8')
        program = re.search(r'```python\n(.*?)```', text, re.DOTALL)[1]
        expected = re.search(r'```text\n(.*?)```', text, re.DOTALL)[1]
        answer = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, encoding='utf-8')
        self.assertEqual(answer.stdout, expected, answer.stderr)
