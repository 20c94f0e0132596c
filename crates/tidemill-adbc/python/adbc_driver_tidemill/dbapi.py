"""DB-API 2.0 connections to Tidemill, with the extensions of ``adbc_driver_manager.dbapi`` for Arrow.

Parameters are ``?`` or ``:name``. A statement that changes something has no rows: ``description`` is None, ``rowcount`` says
how many rows it changed, and fetching is an error.
"""

from __future__ import annotations

import os
from typing import Any, List, Mapping, NoReturn, Optional, Tuple, Type, TypeVar, Union

import adbc_driver_manager
from adbc_driver_manager import dbapi as manager
from adbc_driver_manager.dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    DatabaseError,
    DataError,
    Date,
    DateFromTicks,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    Warning,
    apilevel,
    threadsafety,
)

import adbc_driver_tidemill

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

#: How statements mark parameters: by ``?``.
paramstyle = "qmark"

#: The type of bytes, as DB-API calls it.
Binary = bytes


def connect(
    uri: Optional[Union[str, "os.PathLike[str]"]] = None,
    db_kwargs: Optional[Mapping[str, str]] = None,
    conn_kwargs: Optional[Mapping[str, str]] = None,
    *,
    autocommit: bool = False,
) -> "Connection":
    """Connects to the tables of a folder, or to the database of a server.

    ``uri`` is a folder, also as ``file:`` or ``tidemill:`` URI, or the database of a server
    (``clickhouse://user@host:9000/database``). Default: the current folder. ``db_kwargs`` and ``conn_kwargs`` are options of
    the database and of the connection by their whole names (``{"tidemill.deleted": "include"}``).

    As DB-API 2.0 wants it, changes of xBase tables last from ``commit()`` on, unless ``autocommit`` is set.

    Raises ``Error`` as :func:`adbc_driver_tidemill.connect` does.
    """
    database = adbc_driver_tidemill.connect(uri, db_kwargs)
    connection = None
    try:
        connection = adbc_driver_manager.AdbcConnection(database, **(conn_kwargs or {}))
        return Connection(database, connection, conn_kwargs, autocommit=autocommit)
    except BaseException:
        if connection is not None:
            connection.close()
        database.close()
        raise


# What the manager has private differs from version to version. The classes below use none of it, and become those of what the
# manager has made.


class Connection(manager.Connection):
    """A connection. ``connect`` makes it."""

    def cursor(self, *, adbc_stmt_kwargs: Optional[Mapping[str, Any]] = None) -> "Cursor":
        """A new cursor. ``adbc_stmt_kwargs`` are options of its statement by their whole names."""
        cursor = _become(super().cursor(), Cursor)
        try:
            cursor.adbc_statement.set_options(**(adbc_stmt_kwargs or {}))
        except BaseException:
            # Nobody has the cursor, so nobody can close it, and an open statement keeps its connection open.
            cursor.close()
            raise
        return cursor

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own. Turning it on commits what waits."""
        return self.adbc_connection.get_option(_AUTOCOMMIT) == "true"

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if value != self.autocommit:
            self.adbc_connection.set_autocommit(value)

    def commit(self) -> None:
        """Commits the changes since the last commit. With autocommit there are none."""
        if not self.autocommit:
            self.adbc_connection.commit()

    def rollback(self) -> None:
        """Takes back the changes since the last commit. With autocommit there are none."""
        if not self.autocommit:
            self.adbc_connection.rollback()

    def adbc_clone(self) -> "Connection":
        """A new connection to the same database."""
        return _become(super().adbc_clone(), Connection)


class Cursor(manager.Cursor):
    """A cursor. ``Connection.cursor`` makes it."""

    @property
    def description(self) -> Optional[List[Tuple[Any, ...]]]:
        """Name and Arrow type of each column of the rows, or None where the statement has no rows."""
        return super().description or None

    def fetchone(self) -> Optional[Tuple[Any, ...]]:
        """The next row, or None behind the last one."""
        self._require_rows("fetchone")
        return super().fetchone()

    def fetchmany(self, size: Optional[int] = None) -> List[Tuple[Any, ...]]:
        """At most ``size`` rows, or as many as ``arraysize``."""
        self._require_rows("fetchmany")
        return super().fetchmany(size)

    def fetchall(self) -> List[Tuple[Any, ...]]:
        """The rows that are left."""
        self._require_rows("fetchall")
        return super().fetchall()

    def callproc(self, procname: str, parameters: Any = ()) -> NoReturn:
        """There are no stored procedures. Raises ``NotSupportedError``."""
        raise NotSupportedError(f"{procname}: there are no stored procedures")

    def _require_rows(self, method: str) -> None:
        """Fetching from a statement that has no rows is an error, by DB-API 2.0. As Arrow it has a table without columns."""
        if not self.rownumber and self.description is None:
            raise ProgrammingError(
                f"{method}: there are no rows to fetch; no query was run, or the last statement changed something, and rowcount "
                "says how many rows",
                status_code=adbc_driver_manager.AdbcStatusCode.INVALID_STATE,
            )


_AUTOCOMMIT = "adbc.connection.autocommit"

_Made = TypeVar("_Made")


def _become(made: Any, cls: Type[_Made]) -> _Made:
    """What the manager made, as a class over the manager's own."""
    made.__class__ = cls
    found: _Made = made
    return found
