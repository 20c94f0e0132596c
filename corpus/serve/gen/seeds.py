"""Writes the seeds of the fuzz targets over the doors of `tidemill serve`: what clients say, in the forms that the targets take.

Run from this folder: python3 gen/seeds.py (with pyarrow, for the rows that a client of Flight sends)
"""

import struct
from pathlib import Path

import pyarrow

# The first byte of an input; the highest two bits tell in how many pieces it is sent.
CUT_IN_TWO, CUT_IN_FIVE, CUT_IN_SIXTEEN = 0x40, 0x80, 0xC0


def write(folder, seeds):
    Path(folder).mkdir(exist_ok=True)
    for name, seed in seeds.items():
        Path(folder, name).write_bytes(seed)


def text(value):
    return value.encode() + b"\0"


# PostgreSQL: a type, a length, the content.


def packet(kind, content=b""):
    assert len(content) < 256, content
    return kind.encode() + bytes([len(content)]) + content


def query(sql):
    return packet("Q", text(sql))


def parse(name, sql, *types):
    return packet("P", text(name) + text(sql) + struct.pack(f">h{len(types)}i", len(types), *types))


def bind(portal, name, *values, result=0):
    given = b"".join(struct.pack(">i", len(value)) + value for value in values)
    return packet("B", text(portal) + text(name) + struct.pack(">hh", 0, len(values)) + given + struct.pack(">hh", 1, result))


def execute(portal, rows=0):
    return packet("E", text(portal) + struct.pack(">i", rows))


def whole(kind, content):
    """A message with its length in four bytes."""
    return kind.encode() + struct.pack(">i", len(content) + 4) + content


def startup(version, parameters):
    body = struct.pack(">hh", *version) + parameters
    return struct.pack(">i", len(body) + 4) + body


SYNC, FLUSH = packet("S"), packet("H")
ANN = b"user\0ann\0database\0tidemill\0\0"

write("postgres", {
    "query": b"\0" + query("SELECT c10, n82, d, t, l, m FROM types WHERE i > 0 ORDER BY n82 DESC LIMIT 5"),
    "queries": bytes([CUT_IN_SIXTEEN]) + query("SELECT 1; SELECT code, num FROM days WHERE num < 0; SELECT 'ä'"),
    "empty": b"\0" + query("") + query(";"),
    "wrong": b"\0" + query("SELECT nothing FROM types") + query("SELEC 1") + query("SELECT * FROM nothing"),
    "extended": bytes([CUT_IN_FIVE])
    + parse("s", "SELECT code, num FROM days WHERE num > $1 AND code <> $2", 701, 25)
    + packet("D", b"Ss\0") + bind("p", "s", b"1.5", b"ab", result=1) + packet("D", b"Pp\0")
    + execute("p", 2) + execute("p", 2) + packet("C", b"Pp\0") + SYNC,
    "unnamed": b"\0" + parse("", "SELECT $1::int + 1") + bind("", "", b"41") + execute("") + FLUSH + SYNC,
    "change": b"\0"
    + query("INSERT INTO types (c10, n82) VALUES ('new', 1.5)")
    + query("UPDATE types SET n82 = n82 + 1 WHERE c10 = 'new'") + query("DELETE FROM types WHERE c10 = 'new'"),
    "transaction": b"\0"
    + query("BEGIN") + query("DELETE FROM days WHERE num > 0") + query("SAVEPOINT a") + query("DELETE FROM days")
    + query("ROLLBACK TO SAVEPOINT a") + query("SELECT COUNT(*) FROM days") + query("COMMIT"),
    "cursor": b"\0"
    + query("BEGIN") + query("DECLARE c CURSOR FOR SELECT code FROM days ORDER BY code") + query("FETCH 3 FROM c")
    + query("FETCH ALL FROM c") + query("CLOSE c") + query("ROLLBACK"),
    "copy_out": b"\0"
    + query("COPY types (c10, n82, d, l) TO STDOUT (FORMAT csv, HEADER)") + query("COPY days TO STDOUT (FORMAT binary)"),
    "copy_in": bytes([CUT_IN_TWO])
    + query("COPY days (code, num) FROM STDIN") + packet("d", b"abc\t1.5\n\\N\t") + packet("d", b"2\n") + packet("c")
    + query("COPY days FROM STDIN (FORMAT csv)") + packet("d", b"abc,1,") + packet("f", text("no more")),
    "prepared": b"\0"
    + query("PREPARE q (int) AS SELECT code FROM days WHERE num = $1") + query("EXECUTE q (1)") + query("DEALLOCATE q"),
    "catalog": b"\0"
    + query("SELECT c.relname, a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid")
    + query("SELECT table_name FROM information_schema.tables"),
    "settings": b"\0"
    + query("SET statement_timeout = 50") + query("SHOW ALL") + query("SET TIME ZONE 'UTC'") + query("SELECT version()")
    + query("RESET ALL") + query("DISCARD ALL"),
    "script": b"\0" + query("DECLARE @n INTEGER; @n = 1; WHILE @n < 3 DO @n = @n + 1; END WHILE; SELECT @n FROM system.iota;"),
    "table": b"\0"
    + query("CREATE TABLE fresh (a Integer, b Char(5))") + query("CREATE INDEX a ON fresh (a)") + query("DROP TABLE fresh"),
    "kinds": b"\0" + b"".join(packet(kind, b"\0\0\0\0") for kind in "FpdcfDECBP") + SYNC,
    "bytes": b"\1" + whole("Q", text("SELECT 1")) + whole("X", b""),
    "half": b"\1" + whole("Q", text("SELECT COUNT(*) FROM days"))[:-3],
    "long": b"\1Q\x7f\xff\xff\xff",
    "short": b"\1Q\0\0\0\3",
    "startup": b"\2" + startup((3, 0), ANN) + whole("Q", text("SELECT 1")) + whole("X", b""),
    "startup_3_2": b"\2" + startup((3, 2), b"user\0ann\0_pq_.x\0" b"1\0\0") + whole("X", b""),
    "ssl": b"\2" + startup((1234, 5679), b"") + startup((1234, 5680), b"") + startup((3, 0), ANN) + whole("X", b""),
    "cancel": b"\2" + startup((1234, 5678), struct.pack(">ii", 1, 2)),
    "tls": b"\2\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
    "parameters": b"\3" + packet("x", b"user\0ann\0options\0-c statement_timeout=50\0client_encoding\0UTF8\0\0")[1:] + query("SHOW statement_timeout"),
})

# HTTP: texts.

write("http", {
    "tables": b"0GET /tables",
    "table": b"0GET /tables/types?x=1\nAccept-Encoding: gzip",
    "metrics": b"0GET /metrics",
    "page": b"0HEAD /\nOrigin: http://localhost",
    "sql": b"0POST /sql\nContent-Type: application/json\nX-Statement: a\n\n"
    b'{"sql": "SELECT c10, n82, t, m FROM types WHERE i > ?", "parameters": [1], "limit": 3, "deleted": true}',
    "cancel": b"0DELETE /sql/a",
    "copies": b"0GET /copies",
    "copy": b'0POST /copies\n\n{"source": {"table": "days"}, "target": {"schema": "public", "name": "copy", "format": "parquet"}, "verify": "full"}',
    "copy_query": b'0POST /copies\n\n{"source": {"sql": "SELECT * FROM types"}, "target": {"schema": "public", "name": "types", "format": "dbf"},'
    b' "overwrite": true, "lossy": true, "verify": "count"}',
    "copy_stop": b"0DELETE /copies/0123456789abcdef0123456789abcdef",
    "reports": b"0GET /reports/a.json",
    "elsewhere": b"0POST /sql\nOrigin: http://elsewhere.example\nSec-Fetch-Site: cross-site\n\nSELECT 1",
    "json": b'1{"sql": "SELECT * FROM days WHERE num BETWEEN :a AND :b", "parameters": [-1.5, "2"]}',
    "json_arrow": b'9{"sql": "SELECT * FROM types", "limit": 2}',
    "json_parquet": b'={"sql": "SELECT code, COUNT(*) FROM days GROUP BY code"}',
    "text": b"2SELECT COUNT(*), SUM(num) FROM days GROUP BY day; SELECT 1",
    "text_csv": b"6SELECT * FROM types, days",
    "text_cut": b"\xc2INSERT INTO days (code, num) VALUES ('a', 1); UPDATE days SET num = 2 WHERE code = 'a'",
    "bytes": b"3GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /tables HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "chunked": b"3POST /sql HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n8\r\nSELECT 1\r\n0\r\n\r\n",
    "expecting": b"3POST /sql HTTP/1.1\r\nHost: [::1]:80\r\nExpect: 100-continue\r\nContent-Length: 8\r\nConnection: close\r\n\r\nSELECT 1",
    "half": b"3POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nSELECT",
    "http2": b"3PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
})

# Flight: a verb, a kind, a length, a message.

HANDSHAKE, LIST_FLIGHTS, GET_INFO, POLL_INFO, GET_SCHEMA, DO_GET, DO_PUT, DO_EXCHANGE, DO_ACTION, LIST_ACTIONS = range(10)
MORE, FIRST, TICKET, SECOND = 0x10, 0x20, 0x40, 0x80
(_, QUERY, PREPARED_QUERY, UPDATE, PREPARED_UPDATE, INGEST, _, CATALOGS, SCHEMAS, TABLES, TABLE_TYPES, SQL_INFO, TYPE_INFO,
 PRIMARY_KEYS, EXPORTED_KEYS, IMPORTED_KEYS, CROSS_REFERENCE) = range(17)
_, PREPARE, CLOSE, BEGIN, END, BEGIN_SAVEPOINT, END_SAVEPOINT, CANCEL_QUERY, CANCEL_INFO, CLOSE_SESSION = range(10)


def varint(value):
    low = value & 0x7F
    return bytes([low]) if value < 0x80 else bytes([low | 0x80]) + varint(value >> 7)


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def message(verb, kind=0, content=b""):
    return bytes([verb, kind]) + struct.pack(">H", len(content)) + content


def put(kind, command, data=b"", verb=0):
    return message(verb | DO_PUT, kind, struct.pack(">H", len(command)) + command + data)


def flight_data(encapsulated):
    """The fields of a FlightData for a message of Arrow's streams: its header and its body."""
    _, length = struct.unpack_from("<Ii", encapsulated)
    header, body = encapsulated[8:8 + length], encapsulated[8 + length:]
    return field(2, header) + (field(1000, body) if body else b"")


ROWS = pyarrow.record_batch({
    "a": pyarrow.array([1, None, 3], pyarrow.int32()),
    "b": pyarrow.array(["x", "ä", None]),
    "c": pyarrow.array([1.5, None, -2.0]),
})
WORDS = pyarrow.record_batch({"w": pyarrow.array(["a", "b", "a"]).dictionary_encode()})
VALUES = pyarrow.record_batch({"1": pyarrow.array([1.5, 2.0])})


def rows(batch):
    return flight_data(batch.schema.serialize().to_pybytes()), flight_data(batch.serialize().to_pybytes())


def dictionary(batch):
    """The messages of a stream, which has dictionaries before its batches."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    stream, messages = sink.getvalue().to_pybytes(), []
    for found in pyarrow.ipc.MessageReader.open_stream(stream):
        messages.append(flight_data(found.serialize().to_pybytes()))
    return messages


SCHEMA, BATCH = rows(ROWS)
OF_VALUES, SOME_VALUES = rows(VALUES)
OF_WORDS, WORD_LIST, SOME_WORDS = dictionary(WORDS)
CREATE = field(1, field(1, 1) + field(2, 1)) + field(2, "fresh")
APPEND = field(1, field(1, 2) + field(2, 2)) + field(2, "days") + field(3, "public")


def ask(kind, command):
    return message(GET_INFO, kind, command) + message(DO_GET | TICKET)


# The first bytes of a client of HTTP/2 after its settings: a call of ListActions, with its one message, which is empty.
PATH = b"/arrow.flight.protocol.FlightService/ListActions"
HEADERS = b"\x83\x86\x04" + bytes([len(PATH)]) + PATH + b"\x01\x09localhost\x0f\x10\x10application/grpc\0\x02te\x08trailers"
EMPTY = b"\0\0\0\0\0"


def frame(kind, flags, stream, content=b""):
    return bytes([kind, flags, stream, len(content)]) + content


def framed(kind, flags, stream, content=b""):
    return struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + content


write("flight", {
    "query": b"\0" + ask(QUERY, field(1, "SELECT c10, n82, d, t, m FROM types WHERE l ORDER BY n82")),
    "wrong": b"\0" + ask(QUERY, field(1, "SELECT nothing FROM types")) + ask(QUERY, field(1, "")),
    "change": bytes([CUT_IN_FIVE])
    + ask(QUERY, field(1, "INSERT INTO days (code, num) VALUES ('new', 1)")) + put(UPDATE, field(1, "DELETE FROM days WHERE code = 'new'")),
    "schema": b"\0" + message(GET_SCHEMA, QUERY, field(1, "SELECT * FROM types")) + message(POLL_INFO, QUERY, field(1, "SELECT 1")),
    "prepared": b"\0"
    + message(DO_ACTION, PREPARE, field(1, "SELECT code FROM days WHERE num > ?"))
    + put(PREPARED_QUERY, b"", OF_VALUES, FIRST) + message(MORE | DO_PUT, 0, SOME_VALUES)
    + message(GET_INFO | FIRST, PREPARED_QUERY) + message(DO_GET | TICKET) + message(DO_ACTION | FIRST, CLOSE),
    "prepared_change": b"\0"
    + message(DO_ACTION, PREPARE, field(1, "UPDATE days SET num = num + ?"))
    + put(PREPARED_UPDATE, b"", OF_VALUES, FIRST) + message(MORE | DO_PUT, 0, SOME_VALUES) + message(DO_ACTION | FIRST, CLOSE),
    "transaction": b"\0"
    + message(DO_ACTION, BEGIN) + message(GET_INFO | SECOND, QUERY, field(1, "DELETE FROM days")) + message(DO_GET | TICKET)
    + message(DO_ACTION | FIRST, END, field(2, 2)),
    "savepoint": b"\0"
    + message(DO_ACTION, BEGIN) + message(DO_ACTION | FIRST, BEGIN_SAVEPOINT, field(2, "a")) + message(DO_ACTION | FIRST, END_SAVEPOINT, field(2, 2)),
    "ingest": b"\0" + put(INGEST, CREATE, SCHEMA) + message(MORE | DO_PUT, 0, BATCH) + message(MORE | DO_PUT, 0, BATCH),
    "ingest_words": b"\0"
    + put(INGEST, CREATE, OF_WORDS) + message(MORE | DO_PUT, 0, WORD_LIST) + message(MORE | DO_PUT, 0, SOME_WORDS),
    "ingest_append": bytes([CUT_IN_SIXTEEN]) + put(INGEST, APPEND, SCHEMA) + message(MORE | DO_PUT, 0, BATCH),
    "metadata": b"\0"
    + b"".join(
        message(DO_GET, kind, command)
        for kind, command in [
            (CATALOGS, b""), (SCHEMAS, field(2, "p%")), (TABLES, field(3, "%s") + field(5, 1)), (TABLE_TYPES, b""), (SQL_INFO, field(1, 0)),
            (TYPE_INFO, field(1, 4)), (PRIMARY_KEYS, field(3, "days")), (EXPORTED_KEYS, field(3, "days")), (IMPORTED_KEYS, field(3, "days")),
            (CROSS_REFERENCE, field(3, "days") + field(6, "types")),
        ]
    ),
    "described": b"\0" + message(GET_INFO, TABLES, field(5, 1)) + message(DO_GET | TICKET) + message(GET_INFO, SQL_INFO),
    "cancel": b"\0" + message(GET_INFO, QUERY, field(1, "SELECT 1")) + message(DO_ACTION, CANCEL_INFO) + message(DO_ACTION, CANCEL_QUERY, field(1, b"")),
    "others": b"\0"
    + message(HANDSHAKE, 0, field(2, field(2, "ann") + field(3, "secret"))) + message(LIST_FLIGHTS) + message(LIST_ACTIONS)
    + message(DO_EXCHANGE, QUERY, b"\0\0") + message(DO_ACTION, CLOSE_SESSION),
    "frames": b"\1" + frame(1, 4, 1, HEADERS) + frame(0, 1, 1, EMPTY) + frame(8, 0, 1, b"\0\0\0\1") + frame(2, 0, 1, b"\0\0\0\0\1"),
    "frames_settings": b"\1" + frame(4, 0, 0, b"\0\5\0\0\x40\0") + frame(6, 0, 0, b"12345678") + frame(3, 0, 1, b"\0\0\0\x08") + frame(7, 0, 0, bytes(8)),
    "bytes": b"\2" + framed(1, 4, 1, HEADERS) + framed(0, 1, 1, EMPTY),
    "half": b"\2" + framed(1, 4, 1, HEADERS) + framed(0, 0, 1, b"\0\0\0\0\x09half"),
    "headers": b"\3" + (lambda more: bytes([len(more)]) + more)(b"\0\x0dauthorization\x0cBasic YTpiCg==\0\x0cgrpc-timeout\x021S") + b"\x08\2",
})
