"""Puts the driver's library into the wheel.

It is the file that TIDEMILL_ADBC_LIBRARY names, or else the one that cargo makes of this clone, which takes minutes at first.
"""

import os
import shutil
import subprocess
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


class WithLibrary(build_py):
    def run(self):
        super().run()
        shutil.copyfile(library(), Path(self.build_lib) / 'tidemill' / LIBRARY)


class ForOnePlatform(Distribution):
    def has_ext_modules(self):
        return True


class ForEveryPython(bdist_wheel):
    def get_tag(self):
        _, _, platform = super().get_tag()
        return 'py3', 'none', platform


setup(distclass=ForOnePlatform, cmdclass={'build_py': WithLibrary, 'bdist_wheel': ForEveryPython})
