"""The SQLAlchemy dialect: ``create_engine("tidemill:///srv/books")``.

The path of the URL is that of a folder, as in ``file:`` URIs, so it is absolute. Parameters of the URL are options of the driver
by their whole names (``?tidemill.deleted=include``). Other databases are given by ``connect_args``:
``create_engine("tidemill://", connect_args={"uri": "clickhouse://me@host/shop"})``, or ``{"uri": "books"}`` for a relative path.

Tables are made as Visual FoxPro tables, whose columns can be NULL. A primary key of one integer counts by itself (``AutoInc``).

What a table of this kind cannot have:

- Foreign keys are left out of CREATE TABLE: nothing checks them.
- Server defaults and CHECK constraints are a ``CompileError``: a table that silently lost them would take other rows.
- ``Time`` is text of the form ``13:05:59.250000``, read back as a time by columns that are declared so.
- What a transaction changed waits for its commit; CREATE and DROP do not wait, and are refused while changes do.
"""

from __future__ import annotations

import datetime
import zlib
from contextlib import closing
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

import pyarrow
import pyarrow.types
from adbc_driver_manager import AdbcStatusCode
from sqlalchemy import exc, types, util
from sqlalchemy.engine import default, reflection
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPIModule
from sqlalchemy.engine.url import URL
from sqlalchemy.sql import compiler

from adbc_driver_tidemill import dbapi

__all__ = ["TidemillDialect"]

#: What a character column holds. Longer texts go to memos.
_LONGEST_TEXT = 254
#: The digits of an N column, without its sign and its decimal point.
_MOST_DIGITS = 38


class _BigInteger(types.BigInteger):
    """A whole number, also where the column gives it as a decimal without decimals."""

    def result_processor(self, dialect: Any, coltype: Any) -> Optional[Callable[[Any], Any]]:
        return lambda value: value if value is None else int(value)


class _Time(types.Time):
    """A time of day in a column of text, or in one of a store that has such a type."""

    def bind_processor(self, dialect: Any) -> Optional[Callable[[Any], Any]]:
        return lambda value: value.isoformat("microseconds") if isinstance(value, datetime.time) else value

    def literal_processor(self, dialect: Any) -> Callable[[Any], str]:
        return lambda value: f"'{value.isoformat('microseconds')}'"

    def result_processor(self, dialect: Any, coltype: Any) -> Optional[Callable[[Any], Any]]:
        return lambda value: datetime.time.fromisoformat(value.rstrip()) if isinstance(value, str) else value


class TidemillCompiler(compiler.SQLCompiler):
    def limit_clause(self, select: Any, **kw: Any) -> str:
        text = ""
        if select._limit_clause is not None:
            text += "\n LIMIT " + self.process(select._limit_clause, **kw)
        if select._offset_clause is not None:
            text += "\n OFFSET " + self.process(select._offset_clause, **kw)
        return text

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        """There are no locks of rows that are only read."""
        return ""

    def visit_empty_set_expr(self, element_types: Any, **kw: Any) -> str:
        return "SELECT 1 WHERE 1 != 1"


class TidemillDDLCompiler(compiler.DDLCompiler):
    def get_column_specification(self, column: Any, **kwargs: Any) -> str:
        if column.server_default is not None:
            raise exc.CompileError(f"column {column.name}: an xBase table has no defaults; use Column(default=…)")
        name = self.preparer.format_column(column)
        # A value that the program gives is refused where the table counts, so this is only for keys that nobody gives.
        if column is column.table._autoincrement_column and column.default is None:
            return f"{name} AUTOINC"
        kind = self.dialect.type_compiler_instance.process(column.type, type_expression=column)
        return f"{name} {kind} {'NULL' if column.nullable else 'NOT NULL'}"

    def visit_primary_key_constraint(self, constraint: Any, **kw: Any) -> Any:
        # The index of a key belongs to its table, and its name has at most ten bytes.
        columns = constraint.columns_autoinc_first if constraint._implicit_generated else constraint.columns
        names = ", ".join(self.preparer.quote(column.name) for column in columns)
        return f"CONSTRAINT PK PRIMARY KEY ({names})" if names else None

    def visit_create_index(self, create: Any, *args: Any, **kw: Any) -> str:
        index = create.element
        self._verify_index_table(index)
        names = ", ".join(self.sql_compiler.process(e, include_table=False, literal_binds=True) for e in index.expressions)
        unique = "UNIQUE " if index.unique else ""
        return f"CREATE {unique}INDEX {_index_name(index)} ON {self.preparer.format_table(index.table)} ({names})"

    def visit_drop_index(self, drop: Any, **kw: Any) -> str:
        index = drop.element
        return f"DROP INDEX {self.preparer.format_table(index.table)}.{_index_name(index)}"

    def visit_foreign_key_constraint(self, constraint: Any, **kw: Any) -> Any:
        return None

    def visit_unique_constraint(self, constraint: Any, **kw: Any) -> Any:
        """A unique constraint without its name, which is longer than those of index tags."""
        names = ", ".join(self.preparer.quote(column.name) for column in constraint)
        return f"UNIQUE ({names})" if names else None

    def visit_check_constraint(self, constraint: Any, **kw: Any) -> str:
        raise exc.CompileError(f"{constraint.sqltext}: an xBase table has no CHECK constraints")

    visit_column_check_constraint = visit_check_constraint


class TidemillTypeCompiler(compiler.GenericTypeCompiler):
    def visit_SMALLINT(self, type_: Any, **kw: Any) -> str:
        return "SHORT"

    def visit_BIGINT(self, type_: Any, **kw: Any) -> str:
        # Room for nineteen digits and the sign.
        return "NUMERIC(20, 0)"

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    visit_REAL = visit_DOUBLE = visit_DOUBLE_PRECISION = visit_FLOAT

    def visit_NUMERIC(self, type_: Any, **kw: Any) -> str:
        scale = 6 if type_.scale is None else type_.scale
        precision = 18 if type_.precision is None else type_.precision
        if not 0 < precision <= _MOST_DIGITS or not 0 <= scale <= precision:
            raise exc.CompileError(f"NUMERIC({precision}, {scale}): an xBase column has 1 to {_MOST_DIGITS} digits")
        # An xBase column counts the sign and the decimal point too.
        return f"NUMERIC({precision + 1 + (scale > 0)}, {scale})"

    visit_DECIMAL = visit_NUMERIC

    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:
        return f"VARCHAR({type_.length})" if type_.length and type_.length <= _LONGEST_TEXT else "MEMO"

    visit_NVARCHAR = visit_VARCHAR

    def visit_CHAR(self, type_: Any, **kw: Any) -> str:
        length = type_.length or 1
        return f"CHAR({length})" if length <= _LONGEST_TEXT else "MEMO"

    visit_NCHAR = visit_CHAR

    def visit_TEXT(self, type_: Any, **kw: Any) -> str:
        return "MEMO"

    visit_CLOB = visit_NCLOB = visit_JSON = visit_TEXT

    def visit_BLOB(self, type_: Any, **kw: Any) -> str:
        return "BLOB"

    def visit_BINARY(self, type_: Any, **kw: Any) -> str:
        return f"VARBINARY({type_.length})" if type_.length and type_.length <= _LONGEST_TEXT else "BLOB"

    visit_VARBINARY = visit_BINARY

    def visit_BOOLEAN(self, type_: Any, **kw: Any) -> str:
        return "LOGICAL"

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP"

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP"

    def visit_TIME(self, type_: Any, **kw: Any) -> str:
        return "VARCHAR(15)"


class TidemillIdentifierPreparer(compiler.IdentifierPreparer):
    reserved_words = compiler.RESERVED_WORDS | frozenset(
        """
        add alter as at autoinc begin between blob by case char close column commit create cross cursor date declare default
        delete desc distinct do drop each end escape except exec execute exists fetch finally for full function grant group
        having if in index inner insert intersect into is join key leave left like limit logical memo merge money natural not
        null numeric of offset on open or order outer output percent primary print procedure raise return right rollback row
        savepoint select set start sum table then time timestamp to top transaction trigger try union unique update user using
        values view when where while with work
        """.split()
    )


class TidemillExecutionContext(default.DefaultExecutionContext):
    def get_lastrowid(self) -> Any:
        """The number that the table gave to the row that this connection inserted last."""
        with closing(self._dbapi_connection.cursor()) as cursor:
            cursor.execute("SELECT LASTAUTOINC(CONNECTION) FROM system.iota")
            row = cursor.fetchone()
        return row[0] if row else None


class TidemillDialect(default.DefaultDialect):
    """ADBC connections by DB-API 2.0, and ADS SQL."""

    name = "tidemill"
    driver = "adbc"
    default_paramstyle = "qmark"
    supports_statement_cache = True

    statement_compiler = TidemillCompiler
    ddl_compiler = TidemillDDLCompiler
    type_compiler_cls = TidemillTypeCompiler
    preparer = TidemillIdentifierPreparer
    execution_ctx_cls = TidemillExecutionContext
    colspecs = {types.BigInteger: _BigInteger, types.Time: _Time}

    # A name that has no letter in lower case means the same name in lower case, as Python writes it.
    requires_name_normalize = True
    max_identifier_length = 128
    # SQLAlchemy 2.0 looks for them, 2.1 does not. None is Python's own.
    _json_serializer = None
    _json_deserializer = None
    postfetch_lastrowid = True
    supports_alter = False
    supports_comments = False
    supports_default_values = True
    supports_multivalues_insert = True
    supports_native_boolean = True
    supports_native_decimal = True

    @classmethod
    def import_dbapi(cls) -> DBAPIModule:
        return dbapi  # type: ignore[return-value]

    def create_connect_args(self, url: URL) -> Tuple[List[Any], Dict[str, Any]]:
        """The folder and the options of a URL.

        Raises ``ArgumentError`` for a user, a host or a port, which a folder does not have.
        """
        if url.host or url.username or url.port:
            raise exc.ArgumentError(
                f"{url.render_as_string()}: the URL names a folder, as tidemill:///srv/books; "
                'give a server as connect_args={"uri": …}'
            )
        options: Dict[str, str] = {}
        for name, value in url.query.items():
            if not isinstance(value, str):
                raise exc.ArgumentError(f"{name} is in the URL twice")
            options[name] = value
        arguments: Dict[str, Any] = {"db_kwargs": options}
        if url.database:
            arguments["uri"] = "/" + url.database.lstrip("/")
        return [], arguments

    def normalize_name(self, name: Any) -> Any:
        """A name as Python has it: in lower case where an xBase table has it in upper case."""
        return name.lower() if name is not None and name == name.upper() else name

    def denormalize_name(self, name: Any) -> Any:
        """Names are found without regard to case."""
        return name

    def get_isolation_level_values(self, dbapi_connection: DBAPIConnection) -> List[Any]:
        return ["READ COMMITTED", "AUTOCOMMIT"]

    def get_default_isolation_level(self, dbapi_connection: DBAPIConnection) -> Any:
        return "READ COMMITTED"

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        return "AUTOCOMMIT" if dbapi_connection.autocommit else "READ COMMITTED"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        dbapi_connection.autocommit = level == "AUTOCOMMIT"

    def do_release_savepoint(self, connection: Any, name: str) -> None:
        """A savepoint ends with its transaction."""

    def _get_server_version_info(self, connection: Any) -> Tuple[int, ...]:
        version = _connection(connection).adbc_get_info()["vendor_version"]
        return tuple(int(part) for part in version.split("-")[0].split("."))

    def _get_default_schema_name(self, connection: Any) -> Any:
        return None

    @reflection.cache
    def get_schema_names(self, connection: Any, **kw: Any) -> List[str]:
        """The names of the attached databases. The tables of the folder are in none of them."""
        return [schema["db_schema_name"] for schema in _schemas(connection, "db_schemas") if schema["db_schema_name"]]

    @reflection.cache
    def get_table_names(self, connection: Any, schema: Optional[str] = None, **kw: Any) -> List[str]:
        return [
            self.normalize_name(table["table_name"])
            for found in _schemas(connection, "tables")
            if (found["db_schema_name"] or "") == (schema or "")
            for table in found["db_schema_tables"] or []
        ]

    def has_table(self, connection: Any, table_name: str, schema: Optional[str] = None, **kw: Any) -> bool:
        self._ensure_has_table_connection(connection)
        try:
            _table_schema(connection, table_name, schema)
        except exc.NoSuchTableError:
            return False
        return True

    @reflection.cache
    def get_columns(self, connection: Any, table_name: str, schema: Optional[str] = None, **kw: Any) -> List[Any]:
        return [
            {
                "name": self.normalize_name(field.name),
                "type": _type(field),
                "nullable": field.nullable,
                "default": None,
                "autoincrement": (field.metadata or {}).get(b"xbase.autoincrement") == b"true",
            }
            for field in _table_schema(connection, table_name, schema)
        ]

    @reflection.cache
    def get_pk_constraint(self, connection: Any, table_name: str, schema: Optional[str] = None, **kw: Any) -> Any:
        found = self._constraints(connection, table_name, schema, "PRIMARY KEY")
        return {"constrained_columns": found[0] if found else [], "name": None}

    def _constraints(self, connection: Any, table_name: str, schema: Optional[str], kind: str) -> List[List[str]]:
        """The columns of each constraint of a kind."""
        _table_schema(connection, table_name, schema)
        # A name is a pattern: "_" stands for any letter.
        catalogs = _connection(connection).adbc_get_objects(depth="all", table_name_filter=table_name).read_all().to_pylist()
        return [
            [self.normalize_name(column) for column in constraint["constraint_column_names"]]
            for catalog in catalogs
            for found in catalog["catalog_db_schemas"] or []
            if (found["db_schema_name"] or "") == (schema or "")
            for table in found["db_schema_tables"] or []
            if table["table_name"].lower() == table_name.lower()
            for constraint in table["table_constraints"] or []
            if constraint["constraint_type"] == kind
        ]

    @reflection.cache
    def get_foreign_keys(self, connection: Any, table_name: str, schema: Optional[str] = None, **kw: Any) -> List[Any]:
        _table_schema(connection, table_name, schema)
        return []

    @reflection.cache
    def get_indexes(self, connection: Any, table_name: str, schema: Optional[str] = None, **kw: Any) -> List[Any]:
        _table_schema(connection, table_name, schema)
        return []

    @reflection.cache
    def get_unique_constraints(self, connection: Any, table_name: str, schema: Optional[str] = None, **kw: Any) -> Any:
        found = self._constraints(connection, table_name, schema, "UNIQUE")
        return [{"column_names": columns, "name": None} for columns in found]

    @reflection.cache
    def get_check_constraints(self, connection: Any, table_name: str, schema: Optional[str] = None, **kw: Any) -> Any:
        _table_schema(connection, table_name, schema)
        return []

    @reflection.cache
    def get_view_names(self, connection: Any, schema: Optional[str] = None, **kw: Any) -> List[str]:
        return []


def _index_name(index: Any) -> str:
    """The name of an index. It has at most ten bytes, so a longer one is told by its checksum."""
    name = str(index.name)
    return name if len(name) <= 10 and name.isascii() and name.isidentifier() else f"IX{zlib.crc32(name.lower().encode()):08X}"


def _connection(connection: Any) -> dbapi.Connection:
    """The connection of ours below one of SQLAlchemy's."""
    found = connection.connection.dbapi_connection
    assert isinstance(found, dbapi.Connection)
    return found


def _schemas(connection: Any, depth: Any) -> List[Dict[str, Any]]:
    catalogs = _connection(connection).adbc_get_objects(depth=depth).read_all().to_pylist()
    return [schema for catalog in catalogs for schema in catalog["catalog_db_schemas"] or []]


def _table_schema(connection: Any, table_name: str, schema: Optional[str]) -> pyarrow.Schema:
    try:
        return _connection(connection).adbc_get_table_schema(table_name, db_schema_filter=schema)
    except dbapi.Error as error:
        if error.status_code == AdbcStatusCode.NOT_FOUND:
            raise exc.NoSuchTableError(f"{schema}.{table_name}" if schema else table_name) from error
        raise


def _type(field: pyarrow.Field) -> types.TypeEngine[Any]:
    """The type of a column: as the xBase table has it, or else by the type of its values."""
    kind = field.type
    metadata = field.metadata or {}
    letter = metadata.get(b"xbase.type", b"").decode()
    width = int(metadata.get(b"xbase.width", b"0"))
    if letter in ("N", "F"):
        decimals = int(metadata.get(b"xbase.decimals", b"0"))
        # Without the sign and the decimal point, as TidemillTypeCompiler adds them.
        digits = max(width - 1 - (decimals > 0), 1)
        return types.Numeric(max(digits, decimals), decimals) if decimals else _whole(digits)
    if letter == "C":
        return types.CHAR(width)
    if letter == "V":
        return types.VARCHAR(width)
    for is_kind, made in _TYPES:
        if is_kind(kind):
            return made(kind)
    util.warn(f"column {field.name}: {kind} has no type of SQLAlchemy")
    return types.NullType()


def _whole(digits: int) -> types.TypeEngine[Any]:
    return types.Integer() if digits <= 9 else types.BigInteger() if digits <= 19 else types.Numeric(digits, 0)


def _is_text(kind: pyarrow.DataType) -> bool:
    if pyarrow.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    # By its name: older versions of pyarrow have no views.
    return str(kind) in ("string", "large_string", "string_view")


def _is_binary(kind: pyarrow.DataType) -> bool:
    return str(kind) in ("binary", "large_binary", "binary_view") or pyarrow.types.is_fixed_size_binary(kind)


_Made = Callable[[pyarrow.DataType], types.TypeEngine[Any]]


def _plain(made: Type[types.TypeEngine[Any]]) -> _Made:
    return lambda kind: made()


_TYPES: List[Tuple[Callable[[pyarrow.DataType], bool], _Made]] = [
    (pyarrow.types.is_boolean, _plain(types.Boolean)),
    (lambda kind: kind in (pyarrow.int8(), pyarrow.int16(), pyarrow.uint8()), _plain(types.SmallInteger)),
    (lambda kind: kind in (pyarrow.int32(), pyarrow.uint16()), _plain(types.Integer)),
    (lambda kind: kind in (pyarrow.int64(), pyarrow.uint32()), _plain(types.BigInteger)),
    (lambda kind: kind == pyarrow.uint64(), lambda kind: types.Numeric(20, 0)),
    (pyarrow.types.is_float64, _plain(types.Double)),
    (pyarrow.types.is_floating, _plain(types.Float)),
    (pyarrow.types.is_decimal, lambda kind: types.Numeric(kind.precision, kind.scale)),
    (_is_text, _plain(types.Text)),
    (_is_binary, _plain(types.LargeBinary)),
    (pyarrow.types.is_date, _plain(types.Date)),
    (pyarrow.types.is_time, _plain(types.Time)),
    (pyarrow.types.is_timestamp, lambda kind: types.DateTime(timezone=kind.tz is not None)),
    (pyarrow.types.is_duration, _plain(types.Interval)),
]
