"""The ADBC driver of Tidemill: the library, its options, and connections below DB-API.

``adbc_driver_tidemill.dbapi`` has DB-API 2.0 connections. ``tidemill.connect`` makes the same with names of its own for the
usual options.
"""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Mapping, Optional, Union

import adbc_driver_manager

__all__ = ["ENTRYPOINT", "DatabaseOptions", "connect", "driver_path"]

# There is no __version__ here: polars takes it for a version of ADBC, and writes no tables of schemas for those before 0.8.
# tidemill.__version__ is the version of the wheel.

#: The function of the library that a driver manager calls first.
ENTRYPOINT = "AdbcTidemillInit"


class DatabaseOptions(enum.Enum):
    """Options of a database that this driver alone has. Their values are text."""

    #: Before a name: a path, a URL or the database of a server that has this name in statements.
    ATTACH = "tidemill.attach."
    #: The code page of xBase tables, over what they say themselves.
    CODEPAGE = "tidemill.codepage"
    #: Records that are marked as deleted: ``skip``, ``include`` or ``only``. Default: ``skip``.
    DELETED = "tidemill.deleted"
    #: Before a letter: the folder that is this drive.
    DRIVE = "tidemill.drive."
    #: ``true`` reads on behind damage. Default: ``false``.
    RECOVER = "tidemill.recover"
    #: The most threads that a statement uses. Default: one for each processor.
    THREADS = "tidemill.threads"


def driver_path() -> str:
    """The path of the library, for other driver managers."""
    return str(Path(__file__).parent / "libtidemill_adbc.so")


def connect(
    uri: Optional[Union[str, "os.PathLike[str]"]] = None,
    db_kwargs: Optional[Mapping[str, str]] = None,
) -> adbc_driver_manager.AdbcDatabase:
    """Opens a database, from which ``adbc_driver_manager.AdbcConnection`` makes connections.

    ``uri`` is a folder, also as ``file:`` or ``tidemill:`` URI, or the database of a server
    (``clickhouse://user@host:9000/database``). Default: the current folder. ``db_kwargs`` are options by their whole names.

    Raises ``adbc_driver_manager.Error``: NOT_FOUND when there is no such folder, NOT_IMPLEMENTED for an unknown option,
    INVALID_ARGUMENT for a value that it cannot have.
    """
    options = dict(db_kwargs or {})
    if uri is not None:
        options["uri"] = os.fspath(uri)
    return adbc_driver_manager.AdbcDatabase(driver=driver_path(), entrypoint=ENTRYPOINT, **options)
