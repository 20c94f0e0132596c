"""Lays out hand.dbf and its indexes byte by byte, as docs/formats/xbase-index.md describes MDX, NDX and IDX.

Nothing of Tidemill is used, so that its reader is held against a second reading of the description. Pages are not full, so that
three levels come of 300 records. Run it in the folder of the corpus: python3 gen/dbase_indexes.py
"""

import struct

RECORDS = 300
BLANK_DAY = 1e300


def records():
    state = 20261126
    rows = []
    for recno in range(1, RECORDS + 1):
        state = (state * 1103515245 + 12345) % 2**31
        code = "".join("ABCDEFGHab"[state // (1024 * 7**i) % 10] for i in range(4)).ljust(6)
        state = (state * 1103515245 + 12345) % 2**31
        hundredths = (state // 1024) % 40000 - 20000
        if recno % 9 == 0:
            hundredths = 0
        day = None if recno % 11 == 0 else 2451545 + (state // 4096) % 900
        rows.append((code, hundredths, day, recno % 13 == 0))
    return rows


def civil(julian):
    """The date of a Julian day as YYYYMMDD (Fliegel and Van Flandern)."""
    a = julian + 32044
    b = (4 * a + 3) // 146097
    c = a - 146097 * b // 4
    d = (4 * c + 3) // 1461
    e = c - 1461 * d // 4
    m = (5 * e + 2) // 153
    return "%04d%02d%02d" % (100 * b + d - 4800 + m // 10, m + 3 - 12 * (m // 10), e - (153 * m + 2) // 5 + 1)


def table(rows):
    fields = [("CODE", "C", 6, 0), ("NUM", "N", 9, 2), ("DAY", "D", 8, 0)]
    length = 1 + sum(width for _, _, width, _ in fields)
    head = struct.pack("<4BIHH16xBBH", 3, 126, 11, 26, len(rows), 32 + 32 * len(fields) + 1, length, 1, 0, 0)
    for name, letter, width, decimals in fields:
        head += struct.pack("<11sc4xBB13xB", name.encode(), letter.encode(), width, decimals, 1)
    body = b""
    for code, hundredths, day, deleted in rows:
        number = "%9.2f" % (hundredths / 100)
        body += b"*" if deleted else b" "
        body += code.encode() + number.encode() + (civil(day) if day else " " * 8).encode()
    return head + b"\r" + body + b"\x1a"


def decimal(hundredths):
    digits = str(abs(hundredths)).rjust(3, "0")
    digits = digits[:-2].lstrip("0"), digits[-2:]
    before = len(digits[0])
    text = digits[0] + digits[1]
    if before == 0:
        stripped = text.lstrip("0")
        before = len(stripped) - len(text)
        text = stripped
    text = text.rstrip("0")
    if not text:
        return bytes([0x34, 1]) + bytes(10)
    count = len(text) + len(text) % 2
    packed = bytes.fromhex(text.ljust(20, "0"))
    return bytes([0x34 + before, (0x80 if hundredths < 0 else 0) | count << 2 | 1]) + packed


def sortable(number):
    bits = struct.unpack(">Q", struct.pack(">d", number))[0]
    bits = bits ^ 2**64 - 1 if bits >> 63 else bits | 1 << 63
    return struct.pack(">Q", bits)


def julian(day):
    return struct.pack("<d", BLANK_DAY if day is None else float(day))


def tree(entries, rooms, first_page, pages_a_node, leaf, branch):
    """Pages from the leaves up. An entry is a key and a record; a node is its last key and its page."""
    made, level, below = [], 0, entries
    while True:
        room = rooms[min(level, 1)]
        groups = [below[i : i + room] for i in range(0, len(below), room)]
        numbers = [first_page + pages_a_node * (len(made) + i) for i in range(len(groups))]
        for at, group in enumerate(groups):
            around = (numbers[at - 1] if at else None, numbers[at + 1] if at + 1 < len(groups) else None)
            made.append((leaf if level == 0 else branch)(group, around, len(groups) == 1, len(made)))
        nodes = [(group[-1][0], number) for group, number in zip(groups, numbers)]
        if len(nodes) == 1:
            return b"".join(made), nodes[0][1]
        below, level = nodes, level + 1


def mdx(rows):
    tags = [
        ("CODE", b"C", 6, 0x10, "CODE", None, lambda r: (r[0], r[0].encode())),
        ("NUM", b"N", 12, 0x10, "NUM", None, lambda r: (r[1], decimal(r[1]))),
        ("NUMDOWN", b"N", 12, 0x18, "NUM", None, lambda r: (-r[1], decimal(r[1]))),
        ("DAY", b"D", 8, 0x10, "DAY", None, lambda r: (BLANK_DAY if r[2] is None else r[2], julian(r[2]))),
        ("UNI", b"C", 6, 0x40, "UPPER(CODE)", None, lambda r: (r[0].upper(), r[0].upper().encode())),
        ("PLUS", b"N", 12, 0x10, "NUM", "NUM > 0", lambda r: (r[1], decimal(r[1]))),
    ]
    file = bytearray(2048)
    struct.pack_into("<B3B16sHHBBBxHxxI", file, 0, 2, 126, 11, 26, b"HAND", 2, 1024, 1, 48, 32, len(tags), 0)
    struct.pack_into("<BBB", file, 44, 126, 11, 26)
    file[529] = 1
    for at, (name, letter, key_len, form, expression, condition, key) in enumerate(tags):
        item = 544 + 32 * at
        struct.pack_into("<I11sB3BBc", file, item, len(file) // 512, name.encode(), form & 0x10, 0, 0, at, 2, letter)
        entry = (4 + key_len + 3) // 4 * 4
        order = sorted((key(row)[0], recno) for recno, row in enumerate(rows, 1) if condition is None or row[1] > 0)
        if form & 0x40:
            order = [pair for i, pair in enumerate(order) if i == 0 or order[i - 1][0] != pair[0]]
        entries = [(key(rows[recno - 1])[1], recno) for _, recno in order]

        def node(group, last, made):
            page = struct.pack("<II", len(group) - (1 if last else 0), made)
            for stored, number in group[: len(group) - (1 if last else 0)]:
                page += struct.pack("<I", number) + stored.ljust(entry - 4, b"\0")
            return (page + (struct.pack("<I", group[-1][1]) if last else b"")).ljust(1024, b"\0")

        header = bytearray(1024)
        begin = len(file) // 512 + 2
        pages, root = tree(
            entries,
            (60, 3),
            begin,
            2,
            lambda group, around, is_root, made: node(group, False, begin + 2 * made - 2 if made else 0),
            lambda group, around, is_root, made: node(group, True, begin + 2 * made - 2),
        )
        per_page = (1024 - 8) // entry
        struct.pack_into("<IIBcxxHHHH", header, 0, root, len(pages) // 512, form, letter, key_len, per_page, letter == b"D", entry)
        header[20], header[23] = 2, 1 if form & 0x40 else 0
        header[24 : 24 + len(expression)] = expression.encode()
        if condition:
            header[245] = 1
            header[762 : 762 + len(condition)] = condition.encode()
        header[246] = 1
        file += header + pages
    struct.pack_into("<I", file, 32, len(file) // 512)
    return bytes(file)


def ndx(expression, entries, numeric):
    key_len = len(entries[0][0])
    entry = (8 + key_len + 3) // 4 * 4

    def page(group, is_branch):
        count = len(group) - is_branch
        page = struct.pack("<I", count)
        for stored, number in group[:count]:
            page += struct.pack("<II", *((number, 0) if is_branch else (0, number))) + stored.ljust(entry - 8, b"\0")
        return (page + (struct.pack("<I", group[-1][1]) if is_branch else b"")).ljust(512, b"\0")

    pages, root = tree(
        entries,
        (11, 11),
        1,
        1,
        lambda group, *_: page(group, 0),
        lambda group, *_: page(group, 1),
    )
    head = struct.pack("<II4xHHHH3xB", root, 1 + len(pages) // 512, key_len, (512 - 8) // entry, numeric, entry, 0)
    return (head + expression.encode()).ljust(512, b"\0") + pages


def idx(expression, entries):
    key_len = len(entries[0][0])

    def page(group, around, is_root, leaf):
        sides = [0xFFFFFFFF if side is None else side for side in around]
        page = struct.pack("<HHII", leaf + is_root, len(group), *sides)
        return (page + b"".join(stored + struct.pack(">I", number) for stored, number in group)).ljust(512, b"\0")

    pages, root = tree(
        entries,
        (9, 9),
        512,
        512,
        lambda group, around, is_root, made: page(group, around, is_root, 2),
        lambda group, around, is_root, made: page(group, around, is_root, 0),
    )
    head = struct.pack("<IIIHBB", root, 0xFFFFFFFF, 512 + len(pages), key_len, 0, 1)
    return (head + expression.encode()).ljust(512, b"\0") + pages


def ordered(rows, sort, stored):
    order = sorted((sort(row), recno) for recno, row in enumerate(rows, 1))
    return [(stored(rows[recno - 1]), recno) for _, recno in order]


def main():
    rows = records()
    by_code = ordered(rows, lambda row: row[0], lambda row: row[0].encode())
    by_day = ordered(rows, lambda row: row[2] or 1e300, lambda row: julian(row[2]))
    by_number = ordered(rows, lambda row: row[1], lambda row: struct.pack("<d", row[1] / 100))
    number_idx = ordered(rows, lambda row: row[1], lambda row: sortable(row[1] / 100))
    day_idx = ordered(rows, lambda row: row[2] or 0, lambda row: sortable(float(row[2] or 0)))
    for name, content in {
        "hand.dbf": table(rows),
        "hand.mdx": mdx(rows),
        "hand_code.ndx": ndx("code", by_code, 0),
        "hand_num.ndx": ndx("num", by_number, 1),
        "hand_day.ndx": ndx("day", by_day, 1),
        "hand_code.idx": idx("code", by_code),
        "hand_num.idx": idx("num", number_idx),
        "hand_day.idx": idx("day", day_idx),
    }.items():
        with open(name, "wb") as file:
            file.write(content)


main()
