"""Lays out the tables of this folder by docs/formats/adt.md, with their memos and indexes, and what is in them as JSON.

Run from this folder: python3 gen/adt.py
"""

import json
import struct
from datetime import date
from decimal import Decimal

NULL_DOUBLE = bytes.fromhex("2000000000000080")
LOGICAL, NUMERIC, DATE, CHARACTER, MEMO, BINARY, IMAGE = 1, 2, 3, 4, 5, 6, 7
DOUBLE, INTEGER, SHORT, TIME, TIMESTAMP, AUTOINC, RAW, CURDOUBLE, MONEY = 10, 11, 12, 13, 14, 15, 16, 17, 18
LONG, CICHARACTER, ROWVERSION, MODTIME, NCHAR, NMEMO = 19, 20, 21, 22, 26, 28
NAMES = {
    LOGICAL: "Logical", NUMERIC: "Numeric", DATE: "Date", CHARACTER: "Character", MEMO: "Memo", BINARY: "Binary",
    IMAGE: "Image", DOUBLE: "Double", INTEGER: "Integer", SHORT: "ShortInt", TIME: "Time", TIMESTAMP: "TimeStamp",
    AUTOINC: "AutoIncrement", RAW: "Raw", CURDOUBLE: "CurDouble", MONEY: "Money", LONG: "LongInt",
    CICHARACTER: "CICharacter", ROWVERSION: "RowVersion", MODTIME: "ModTime", NCHAR: "NChar", NMEMO: "NMemo",
}
BLOCK = 8


def julian(text):
    return date.fromisoformat(text).toordinal() + 1721425


class Memos:
    """An ADM: the next free block and the length of a block, big-endian; values from 2048 on."""

    def __init__(self):
        self.data = bytearray(2048)

    def put(self, value):
        block = len(self.data) // BLOCK
        self.data += value + bytes(-len(value) % BLOCK)
        return struct.pack("<IIB", block, len(value), 0)

    def bytes(self):
        struct.pack_into(">II", self.data, 0, len(self.data) // BLOCK, BLOCK)
        return bytes(self.data)


def cell(kind, width, decimals, value, memos):
    if value is None:
        return {
            LOGICAL: b" ", NUMERIC: b" " * width, DOUBLE: NULL_DOUBLE, CURDOUBLE: NULL_DOUBLE,
            INTEGER: struct.pack("<i", -2**31), SHORT: struct.pack("<h", -2**15), TIME: b"\xff" * 4,
            TIMESTAMP: bytes(4) + b"\xff" * 4,
            MONEY: struct.pack("<q", -2**63), LONG: struct.pack("<q", -2**63),
        }.get(kind, bytes(width))
    if kind == LOGICAL:
        return b"T" if value else b"F"
    if kind == NUMERIC:
        return f"{value:>{width}}".encode()
    if kind == DATE:
        return struct.pack("<I", julian(value))
    if kind in (CHARACTER, CICHARACTER):
        return value.encode("cp1252").ljust(width)
    if kind == RAW:
        return bytes.fromhex(value).ljust(width, b"\0")
    if kind == NCHAR:
        return value.encode("utf-16-le") + b" \0" * (width // 2 - len(value.encode("utf-16-le")) // 2)
    if kind == MEMO:
        return memos.put(value.encode("cp1252"))
    if kind == NMEMO:
        return memos.put(value.encode("utf-16-le"))
    if kind in (BINARY, IMAGE):
        return memos.put(bytes.fromhex(value))
    if kind in (DOUBLE, CURDOUBLE):
        return struct.pack("<d", value)
    if kind == INTEGER:
        return struct.pack("<i", value)
    if kind == SHORT:
        return struct.pack("<h", value)
    if kind == TIME:
        return struct.pack("<I", value)
    if kind in (TIMESTAMP, MODTIME):
        day, ms = value
        return struct.pack("<II", julian(day), ms)
    if kind == AUTOINC:
        return struct.pack("<I", value)
    if kind in (LONG, ROWVERSION):
        return struct.pack("<q", value)
    if kind == MONEY:
        return struct.pack("<q", int(Decimal(value) * 10_000))
    raise ValueError(kind)


def table(name, fields, rows, deleted=(), autoincrement=0, row_version=0):
    """Writes an ADT, its ADM where it has memos, and the JSON. `deleted`: the numbers of records, the last deleted first."""
    memos = Memos()
    offset, descriptors = 5, b""
    for field_name, kind, width, decimals in fields:
        descriptor = bytearray(200)
        descriptor[: len(field_name.encode("cp1252"))] = field_name.encode("cp1252")
        struct.pack_into("<HHHHH", descriptor, 129, kind, offset, 0, width, decimals)
        if kind == MONEY:
            struct.pack_into("<I", descriptor, 139, 4)
        descriptors += descriptor
        offset += width
    link = dict(zip(deleted, [*deleted[1:], 0]))
    body = b""
    for number, row in enumerate(rows, 1):
        body += struct.pack("<BI", 5 if number in link else 4, link.get(number, 0))
        for (_, kind, width, decimals), value in zip(fields, row):
            packed = cell(kind, width, decimals, value, memos)
            assert len(packed) == width, (name, kind, value)
            body += packed
    kinds = [kind for _, kind, _, _ in fields]
    has_memos = any(kind in (MEMO, BINARY, IMAGE, NMEMO) for kind in kinds)
    header = bytearray(400)
    header[:15] = b"Advantage Table"
    struct.pack_into("<I", header, 20, 2 if any(kind >= NCHAR for kind in kinds) else 1)
    struct.pack_into("<I", header, 24, len(rows))
    struct.pack_into("<II", header, 32, 400 + len(descriptors), offset)
    struct.pack_into("<I", header, 40, deleted[0] if deleted else 0)
    struct.pack_into("<I", header, 48, len(deleted))
    struct.pack_into("<I", header, 80, autoincrement)
    struct.pack_into("<H", header, 88, has_memos | (AUTOINC in kinds) << 1)
    struct.pack_into("<HH", header, 356, 4, len(fields))
    struct.pack_into("<I", header, 360, row_version)
    data = bytes(header) + descriptors + body
    open(f"{name}.adt", "wb").write(data)
    if has_memos:
        open(f"{name}.adm", "wb").write(memos.bytes())
    described = [[n, NAMES[k], w, d] for n, k, w, d in fields]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    with open(f"{name}.json", "w") as out:
        out.write('{"fields": ' + json.dumps(described, ensure_ascii=False) + ",\n")
        out.write(f'"deleted": {json.dumps(list(deleted))},\n"rows": [\n' + ",\n".join(lines) + "\n]}\n")
    return data


FIELDS = [
    ("Id", AUTOINC, 4, 0), ("Paid", LOGICAL, 1, 0), ("Rate in %", NUMERIC, 9, 3), ("Day", DATE, 4, 0),
    ("Full Name", CHARACTER, 12, 0), ("City", CICHARACTER, 10, 0), ("Note", MEMO, 9, 0), ("Blob", BINARY, 9, 0),
    ("Picture", IMAGE, 9, 0), ("Length (cm)", DOUBLE, 8, 2), ("Count", INTEGER, 4, 0), ("Small", SHORT, 2, 0),
    ("At", TIME, 4, 0), ("Moment", TIMESTAMP, 8, 0), ("Key", RAW, 4, 0), ("Cost", CURDOUBLE, 8, 2),
    ("Price", MONEY, 8, 0), ("Big", LONG, 8, 0), ("Version", ROWVERSION, 8, 0), ("Changed", MODTIME, 8, 0),
    ("Wide", NCHAR, 12, 0), ("Wide Note", NMEMO, 9, 0),
    ("A name of 128 bytes " + "x" * 108, INTEGER, 4, 0),
]


def types():
    moment = ["2026-11-26", 43_200_001]
    full = [
        1, True, "-12.250", "2026-11-26", "Ærø", "Odense", "paid in März", "00ff10", "424d3a00", 50.25, -7, 300, 45_000,
        moment, "deadbeef", 19.99, "-922337203685477.5807", 2**62, 11, moment, "Жук", "письмо 🌊", 128,
    ]
    empty = [2] + [None] * 17 + [12, moment, None, None, None]
    blank = [
        3, False, "0.000", "1970-01-01", "", "", None, None, None, 0.0, 0, 0, 0, ["1970-01-01", 0], None, 0.0, "0.0000", 0, 13,
        moment, "", None, 0,
    ]
    extreme = [
        4294967295, True, "99999.999", "9999-12-31", "x" * 12, "ÅÄÖ", "é" * 1000, "01" * 300, "ff", 1.7e308, 2**31 - 1,
        2**15 - 1, 86_399_999, ["0001-01-01", 86_399_999], "00000001", -1.7e308, "922337203685477.5807", -(2**63) + 1, 14, moment,
        "abcdef", "y" * 700, -(2**31) + 1,
    ]
    low = [5, False, "-9999.999", "0001-01-01", " a", "b", "1", "02", "03", -5e-324, -(2**31) + 1, -(2**15) + 1, 1, moment,
           "01000000", -0.0, "-0.0001", -1, 15, moment, " z", "1", -1]
    rows = [full, empty, blank, extreme, low]
    for number in range(6, 13):
        rows.append([number, *full[1:18], 10 + number, moment, *full[20:]])
    table("types", FIELDS, rows, deleted=(9, 6, 12), autoincrement=4294967295, row_version=22)


if __name__ == "__main__":
    types()
