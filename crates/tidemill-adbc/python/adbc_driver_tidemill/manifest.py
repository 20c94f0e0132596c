"""The driver manifest, by which a driver manager of any language finds the library under the name ``tidemill``.

A manifest is a TOML file in a folder that driver managers search (ADBC, *Driver Manager and Manifests*). It has the absolute
path of the library, which is known only once the wheel is installed: ``python -m adbc_driver_tidemill install`` writes it.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import adbc_driver_tidemill
from adbc_driver_tidemill._version import __version__

__all__ = ["PLACES", "folder", "install", "text"]

#: What `folder` knows.
PLACES = ("environment", "user", "system")


def text() -> str:
    """The manifest of the library of this package, as TOML."""
    # A string of JSON is a basic string of TOML.
    quoted = json.dumps
    return f"""manifest_version = 1

name = "Tidemill"
version = {quoted(__version__)}
publisher = "The Tidemill authors"
license = "Apache-2.0"

[ADBC]
version = "1.1.0"

[Driver]
entrypoint = {quoted(adbc_driver_tidemill.ENTRYPOINT)}

[Driver.shared]
{_platform()} = {quoted(adbc_driver_tidemill.driver_path(), ensure_ascii=False)}
"""


def folder(place: str) -> Path:
    """The folder of manifests for a virtual or conda environment, a user, or the system.

    Raises ``ValueError`` for another place, and for ``environment`` where Python runs in none.
    """
    if place == "environment":
        if sys.prefix == sys.base_prefix and "CONDA_PREFIX" not in os.environ:
            raise ValueError("Python runs in no virtual environment; the places are user and system")
        return Path(sys.prefix) / "etc" / "adbc" / "drivers"
    if place == "user":
        configuration = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(configuration) / "adbc" / "drivers"
    if place == "system":
        return Path("/etc/adbc/drivers")
    raise ValueError(f"{place!r} is no place; the places are {', '.join(PLACES)}")


def install(place: str) -> Path:
    """Writes the manifest, over an older one, and returns its path.

    Raises ``ValueError`` as :func:`folder` does, and ``OSError`` when it cannot be written.
    """
    path = folder(place) / "tidemill.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Renamed, so that nobody reads half of it.
    with tempfile.TemporaryDirectory(dir=path.parent) as unfinished:
        file = Path(unfinished) / path.name
        file.write_text(text(), encoding="utf-8")
        os.replace(file, path)
    return path


def _platform() -> str:
    """Operating system and processor, as manifests call them."""
    machine = platform.machine().lower()
    names = {"x86_64": "amd64", "aarch64": "arm64"}
    libc = "" if platform.libc_ver()[0] == "glibc" else "_musl"
    return f"linux_{names.get(machine, machine)}{libc}"
