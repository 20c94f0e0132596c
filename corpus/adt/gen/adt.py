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


def double_key(value):
    packed = bytearray(struct.pack(">d", value + 0.0))
    if packed[0] & 0x80:
        return bytes(byte ^ 0xFF for byte in packed)
    packed[0] ^= 0x80
    return bytes(packed)


def key(kind, width, value):
    """A part of a key; zeros for NULL."""
    if kind in (CHARACTER, CICHARACTER, RAW):
        if value is None:
            return bytes(width)
        text = value.lower() if kind == CICHARACTER else value
        return text.encode("cp1252").ljust(width)
    if kind == LOGICAL:
        return b"\0" if value is None else b"T" if value else b"F"
    if value is None:
        return bytes(4 if kind == TIME else 8)
    if kind == DATE:
        return double_key(float(julian(value)))
    if kind in (TIMESTAMP, MODTIME):
        return struct.pack(">II", julian(value[0]), value[1] + 1)
    if kind == TIME:
        return struct.pack(">I", value + 1)
    if kind == MONEY:
        return struct.pack(">Q", (int(Decimal(value) * 10_000) + 2**63))
    if kind in (LONG, ROWVERSION):
        return struct.pack(">Q", value + 2**63)
    return double_key(float(value))


class Pages:
    """The pages of an ADI, of 512 bytes, by number."""

    PAGE = 512

    def __init__(self):
        self.pages = [bytes(self.PAGE)] * 3

    def add(self, page):
        self.pages.append(bytes(page).ljust(self.PAGE, b"\0"))
        return len(self.pages) - 1

    def tree(self, entries, key_len, fill, root=None):
        """Packs sorted (key, record) pairs; the page of the root."""
        leaves, entry_len = [], 5
        count_bits = key_len.bit_length()
        recno_bits = 8 * entry_len - 2 * count_bits
        leaf, texts, before = [], b"", b""
        for stored, recno in entries:
            own = len(stored.rstrip(fill))
            shared = 0
            while shared < min(own, len(before)) and stored[shared] == before[shared]:
                shared += 1
            if 24 + (len(leaf) + 1) * entry_len + len(texts) + own - (shared if leaf else 0) > self.PAGE:
                leaves.append((leaf, texts))
                leaf, texts, shared = [], b"", 0
            if not leaf:
                shared = 0
            texts = stored[shared:own] + texts
            leaf.append((stored, recno, shared, key_len - own))
            before = stored
        leaves.append((leaf, texts))
        first = len(self.pages)
        numbers = [first + at for at in range(len(leaves))] if root is None or len(leaves) > 1 else [root]
        level = []
        for at, (leaf, texts) in enumerate(leaves):
            left = numbers[at - 1] if at else 0xFFFFFFFF
            right = numbers[at + 1] if at + 1 < len(leaves) else 0xFFFFFFFF
            page = bytearray(struct.pack("<HHII", 2 + (len(leaves) == 1), len(leaf), left, right))
            page += struct.pack("<HI", self.PAGE - 24 - len(leaf) * entry_len - len(texts), min(2**recno_bits - 1, 2**32 - 1))
            page += bytes([2**count_bits - 1, 2**count_bits - 1, recno_bits, count_bits, count_bits, entry_len])
            for _, recno, shared, trailing in leaf:
                packed = recno | (trailing << count_bits | shared) << recno_bits
                page += packed.to_bytes(entry_len, "little")
            page = page.ljust(self.PAGE - len(texts), b"\0") + texts
            if numbers == [root]:
                self.pages[root] = bytes(page)
            else:
                assert self.add(page) == numbers[at]
            if leaf:
                level.append((leaf[-1][0], leaf[-1][1], numbers[at]))
        while len(level) > 1:
            room = (self.PAGE - 12) // (key_len + 8)
            groups = [level[at : at + room] for at in range(0, len(level), room)]
            first = len(self.pages)
            above = []
            for at, group in enumerate(groups):
                left = first + at - 1 if at else 0xFFFFFFFF
                right = first + at + 1 if at + 1 < len(groups) else 0xFFFFFFFF
                page = bytearray(struct.pack("<HHII", int(len(groups) == 1), len(group), left, right))
                for stored, recno, child in group:
                    page += stored + struct.pack(">II", recno, child)
                above.append((group[-1][0], group[-1][1], self.add(page)))
            level = above
        return level[0][2] if level else numbers[0]


def header(root, key_len, options, filler, expression="", condition="", descending=False):
    page = bytearray(1024)
    struct.pack_into("<III", page, 0, root, 0, 0)
    struct.pack_into("<HBBH", page, 12, key_len, options, filler, 1024)
    texts = expression.encode() + b"\0" + condition.encode() + b"\0"
    struct.pack_into("<HHHHH", page, 502, int(descending), 0, len(condition) + 1, 0, len(expression) + 1)
    page[512 : 512 + len(texts)] = texts
    return page


def index(name, fields, rows, deleted, orders):
    """Writes an ADI. Orders: name, expression, key of a row (None leaves it out), length, filler, and more."""
    pages, tags, golden = Pages(), [], []
    for tag, expression, make, key_len, filler, *more in orders:
        condition, unique, descending = [*more, *["", False, False][len(more) :]]
        entries = [(make(row), number) for number, row in enumerate(rows, 1) if number not in deleted]
        entries = sorted((stored, number) for stored, number in entries if stored is not None)
        at = len(pages.pages)
        pages.add(b"")
        pages.add(b"")
        root = pages.tree(entries, key_len, bytes([filler]))
        options = 0x60 | unique | (8 if condition else 0)
        page = header(root, key_len, options, filler, expression, condition, descending)
        pages.pages[at], pages.pages[at + 1] = bytes(page[:512]), bytes(page[512:])
        tags.append((tag.encode("cp1252").ljust(128), at))
        walked = [number for _, number in entries]
        golden.append({"tag": tag, "expression": expression, "condition": condition, "unique": unique,
                       "descending": descending, "key_len": key_len,
                       "records": walked[::-1] if descending else walked})
    root = pages.tree(sorted(tags), 128, b" ", root=2)
    first = header(root, 128, 0x60, 0x20)
    struct.pack_into("<H", first, 18, 512)
    first[20:24] = bytes.fromhex("738c0529")
    first[502:] = bytes(522)
    pages.pages[0], pages.pages[1] = bytes(first[:512]), bytes(first[512:])
    open(f"{name}.adi", "wb").write(b"".join(pages.pages))
    with open(f"{name}.orders.json", "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(order) for order in golden) + "\n]\n")


def orders():
    fields = [
        ("Order No", AUTOINC, 4, 0), ("Customer", CHARACTER, 20, 0), ("City", CICHARACTER, 12, 0), ("Day", DATE, 4, 0),
        ("Price", MONEY, 8, 0), ("Weight", DOUBLE, 8, 2), ("Paid", LOGICAL, 1, 0), ("Sent", TIMESTAMP, 8, 0),
        ("Count", INTEGER, 4, 0), ("Big", LONG, 8, 0), ("At", TIME, 4, 0), ("Digits", NUMERIC, 8, 0),
    ]
    state = 39

    def below(limit):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % limit

    names = ["Müller", "Smith", "Ærø", "de la Cruz", "O'Brien", "smith", "Zimmermann", "Ö"]
    cities = ["Odense", "ODENSE", "Åbo", "ÅBO", "Köln", "köln", "Paris"]
    rows = []
    for number in range(1, 231):
        null = lambda value: None if below(9) == 0 else value
        rows.append([
            number,
            null(f"{names[below(8)]} {below(40)}"[:20]),
            null(cities[below(7)]),
            null(f"20{below(30):02}-{below(12) + 1:02}-{below(28) + 1:02}"),
            null(f"{'-' if below(3) == 0 else ''}{below(900)}.{below(10000):04}"),
            null((below(2000) - 500) / 8),
            null(below(2) == 0),
            null([f"20{below(30):02}-{below(12) + 1:02}-{below(28) + 1:02}", below(86_400_000)]),
            null(below(50) - 20),
            null((below(100) - 50) * 10**15),
            null(below(86_400_000)),
            null(str(below(1000))),
        ])
    deleted = [220, 17, 42, 200, 229]
    table("orders", fields, rows, deleted=deleted, autoincrement=231)

    def part(at, kind=None):
        _, own, width, _ = fields[at]
        return lambda row: key(kind or own, width, row[at])

    def upper(at):
        width = fields[at][2]
        ascii_upper = lambda text: "".join(c.upper() if c.isascii() else c for c in text)
        return lambda row: bytes(width) if row[at] is None else ascii_upper(row[at]).encode("cp1252").ljust(width)

    index("orders", fields, rows, deleted, [
        ("NUMBER", "F1", part(0), 8, 0, "", True),
        ("CUSTOMER", "F2", part(1), 20, 0x20),
        ("UPPER", "UPPER(F2)", upper(1), 20, 0x20),
        ("CITY", "F3", part(2), 12, 0x20),
        ("BY DAY, OLD ONES LAST", "F4", part(3), 8, 0, "", False, True),
        ("PRICE", "F5", part(4), 8, 0),
        ("WEIGHT", "F6", part(5), 8, 0),
        ("PAID", "F7", part(6), 1, 0),
        ("SENT", "F8", part(7), 8, 0),
        ("COUNT", "F9", part(8), 8, 0),
        ("BIG", "F10", part(9), 8, 0),
        ("AT", "F11", part(10), 4, 0),
        ("CITY AND DAY", "F3;F4", lambda row: part(2)(row) + part(3)(row), 20, 0),
        ("COUNT AND NAME", "F9;UPPER(F2)", lambda row: part(8)(row) + upper(1)(row), 28, 0),
        ("TEXTS", "F2;F3", lambda row: part(1)(row) + part(2)(row), 32, 0x20),
        ("COUNTED", "F9", lambda row: None if row[8] is None else part(8)(row), 8, 0, "F9 <> NULL"),
        ("LARGE", "F2", lambda row: part(1)(row) if row[8] is not None and row[8] > 10 else None, 20, 0x20, "F9 > 10"),
    ])


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
    orders()
