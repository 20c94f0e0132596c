"""Puts the driver's library into the wheel, without symbols that only a debugger reads.

It is the file that TIDEMILL_ADBC_LIBRARY names, or else the one that cargo makes of this clone, which takes minutes at first.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

LIBRARY = 'libtidemill_adbc.so'


def library():
    named = os.environ.get('TIDEMILL_ADBC_LIBRARY')
    if named:
        return Path(named)
    root = Path(__file__).resolve().parents[3]
    # The packages whose tests share one build of the query engine.
    packages = ['-p', 'tidemill', '-p', 'tidemill-sql', '-p', 'tidemill-adbc']
    subprocess.run(['cargo', 'build', '--release', '--locked', *packages], cwd=root, check=True)
    target = Path(os.environ.get('CARGO_TARGET_DIR', root / 'target'))
    return root / target / 'release' / LIBRARY


def strip(path):
    """Takes a quarter off the library: the names of functions that it does not export."""
    program = os.environ.get('STRIP', 'strip')
    try:
        subprocess.run([program, '--strip-unneeded', path], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f'warning: the library keeps its symbols, since {program} fails: {error}', file=sys.stderr)


class WithLibrary(build_py):
    def run(self):
        # What an earlier build left would be in the wheel too.
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        place = Path(self.build_lib) / 'adbc_driver_tidemill' / LIBRARY
        shutil.copyfile(library(), place)
        strip(place)


class ForOnePlatform(Distribution):
    def has_ext_modules(self):
        return True


class ForEveryPython(bdist_wheel):
    def get_tag(self):
        _, _, platform = super().get_tag()
        return 'py3', 'none', platform


setup(distclass=ForOnePlatform, cmdclass={'build_py': WithLibrary, 'bdist_wheel': ForEveryPython})
