"""Tables of old and new places under one SQL: DB-API 2.0 connections whose results are Arrow."""

from __future__ import annotations

import os
from typing import Mapping, Optional, Union

import adbc_driver_tidemill
from adbc_driver_tidemill import dbapi
from adbc_driver_tidemill._version import __version__

__all__ = ["__version__", "connect", "driver"]


def driver() -> str:
    """The path of the ADBC driver, for other driver managers."""
    return adbc_driver_tidemill.driver_path()


def connect(
    uri: Union[str, "os.PathLike[str]"] = ".",
    *,
    attach: Optional[Mapping[str, Union[str, "os.PathLike[str]"]]] = None,
    options: Optional[Mapping[str, str]] = None,
    autocommit: bool = False,
) -> dbapi.Connection:
    """Connects to the tables of a folder, or to the database of a server (``clickhouse://user@host:9000/database``).

    ``attach`` gives names to tables elsewhere: paths, URLs, or databases of servers, whose tables are then ``name.table``.
    ``options`` are options of the driver by their whole names (``{"tidemill.deleted": "include"}``).

    As DB-API 2.0 wants it, changes of xBase tables last from ``commit()`` on, unless ``autocommit`` is set.
    """
    settings = {f"tidemill.attach.{name}": os.fspath(place) for name, place in (attach or {}).items()}
    settings.update(options or {})
    return dbapi.connect(uri, settings, autocommit=autocommit)
