"""Compares every value of the xBase tables of a folder with what dbfread and GDAL (through pyogrio) read of it.

    cargo build --release -p tidemill-peers-xbase-values
    python3 xbase-values/compare.py FOLDER [--program target/release/tidemill-peers-xbase-values] [--show 3]

Each of the two that Python does not have is left out. Differences are counted by kind: the type of the field, and what is different.
Readers get the code page that Tidemill took, so that letters are compared and not guesses; dbfread gets tables of every
extension, GDAL those named .dbf, of which its types of dBASE III are compared. Ends with 1 where a table is refused that another reads, or a value is different in a kind that is
not in EXPECTED, whose entries say why.
"""

import argparse
import collections
import datetime
import json
import pathlib
import subprocess
import sys

try:
    import dbfread
except ImportError:
    dbfread = None
try:
    import pyogrio.raw
except ImportError:
    pyogrio = None

EXTENSIONS = {".dbf", ".dbc", ".scx", ".vcx", ".frx", ".lbx", ".pjx", ".mnx"}

# Where the other one is wrong, or shows the same otherwise.
EXPECTED = {
    ("GDAL", "C", "blanks around"): "GDAL takes blanks off the beginning too",
    ("dbfread", "M", "a value here, none there"): "dbfread looks for memos in .fpt and .dbt alone",
    ("dbfread", "M", "blanks around"): "dbfread adds the 8 bytes of a memo's head of dBASE IV to its length",
    ("dbfread", "M", "text"): "dbfread adds the 8 bytes of a memo's head of dBASE IV to its length",
    ("dbfread", "", "compressed"): "dbfread does not expand tables of DATASUS",
    ("GDAL", "", "compressed"): "GDAL does not expand tables of DATASUS",
}
for reader in ("GDAL", "dbfread"):
    EXPECTED[reader, "C", "bytes"] = EXPECTED[reader, "V", "bytes"] = f"{reader} reads bytes as text"
    EXPECTED[reader, "V", "length"] = f"{reader} shows V as wide as its field"
    for letter in "CMV":
        EXPECTED[reader, letter, "no letter there"] = f"{reader} has U+FFFD or nothing where the code page has a letter of users"
# GDAL reads those of dBASE III; of others it shows the bytes as text, or nothing.
TYPES_OF_GDAL = "CNFDL"
EPOCH = datetime.datetime(1970, 1, 1)
PYTHON = {
    "utf-8": "utf-8", "iso-8859-1": "latin-1", "macintosh": "mac_roman", "x-mac-cyrillic": "mac_cyrillic", "cp895": None, "mazovia": None,
    "euc-jp": "euc_jp",
}


class Table:
    """What Tidemill reads."""

    def __init__(self, program, path):
        run = subprocess.run([program, path], capture_output=True, check=False)
        self.error = run.stderr.decode("utf-8", "replace").strip() if run.returncode else None
        lines = [] if self.error else run.stdout.decode("utf-8").split("\n")[:-1]
        head = json.loads(lines[0]) if lines else {}
        self.fields = head.get("fields", [])
        self.codepage = head.get("codepage")
        self.rows = [[plain(value) for value in json.loads(line)] for line in lines[1:]]


def plain(value):
    """A value as Python has it."""
    if not isinstance(value, dict):
        return value
    (kind, content), = value.items()
    if kind == "n":
        return float(content)
    if kind == "d":
        return (EPOCH + datetime.timedelta(days=content)).date() if -719162 <= content < 2932897 else content
    if kind == "t":
        return EPOCH + datetime.timedelta(milliseconds=content)
    return bytes.fromhex(content) if kind == "b" else content


def by_dbfread(path, table):
    encoding = PYTHON.get(table.codepage, table.codepage) or "ascii"
    found = dbfread.DBF(str(path), encoding=encoding, char_decode_errors="replace", ignore_missing_memofile=True, load=False)
    names = found.field_names
    rows = [[record.get(name) for name in names] for record in found]
    return [name for name in names], rows


def by_gdal(path, table):
    encoding = PYTHON.get(table.codepage, table.codepage) or "ascii"
    encoding = {"utf-8": "UTF-8", "latin-1": "ISO-8859-1"}.get(encoding, encoding.upper())
    meta, _, _, columns = pyogrio.raw.read(str(path), encoding=encoding, datetime_as_string=True)
    columns = [column.tolist() for column in columns]
    return list(meta["fields"]), [list(row) for row in zip(*columns)] if columns else []


def same(reader, field, own, other):
    """Whether two values are one, or the kind of their difference."""
    if isinstance(other, float) and other != other:
        other = None
    if own is None or own == "" or own == b"":
        if other in (None, "", b"") or (isinstance(other, (str, bytes)) and not other.strip("\0 " if isinstance(other, str) else b"\0 ")):
            return None
        if other in (0, 0.0, False) and reader == "GDAL":
            return None
        return "blank or bad here, a value there"
    if other is None:
        return "a value here, none there"
    if isinstance(own, (str, bytes)) and field["type"] in "VQ" and len(other) >= field["width"] - 1 > len(own):
        return "length"
    if isinstance(own, str) and field["type"] == "V" and str(other).startswith(own) and not str(other)[len(own) : -1].strip():
        return "length"
    if isinstance(own, bytes):
        other = other.encode("latin-1", "replace") if isinstance(other, str) else other
        return None if bytes(own).rstrip(b"\0 ") == bytes(other).rstrip(b"\0 ") else "bytes"
    if isinstance(own, bool):
        return None if own == (other if isinstance(other, bool) else str(other) in ("1", "T", "True", "Y")) else "logical"
    if isinstance(own, float):
        try:
            other = float(other)
        except (TypeError, ValueError):
            return "number and text"
        return None if own == other or abs(own - other) <= 1e-12 * max(abs(own), abs(other)) else "number"
    if isinstance(own, (datetime.datetime, datetime.date)):
        theirs = other.isoformat() if hasattr(other, "isoformat") else str(other).replace(" ", "T")
        return None if own.isoformat()[:19] == theirs[:19] else "date"
    if isinstance(own, str):
        if isinstance(other, bytes):
            return None if own.encode("latin-1", "replace") == other.rstrip(b"\0 ") else "bytes and text"
        other = str(other)
        if own.rstrip("\0 ") == other.rstrip("\0 "):
            return None
        if own.strip("\0 \r\n") == other.strip("\0 \r\n"):
            return "blanks around"
        if "\N{REPLACEMENT CHARACTER}" in other or any("\ue000" <= c <= "\uf8ff" for c in own):
            return "no letter there"
        return "letters" if any(ord(c) > 126 for c in own + other) else "text"
    return "type"


def compare(reader, read, path, table, counts, shown, show):
    try:
        names, rows = read(path, table)
    except Exception as error:  # noqa: BLE001: whatever another reader throws
        counts[reader, "", "refused there"] += table.error is None
        return str(error)
    if table.error:
        counts[reader, "", "refused here"] += 1
        shown[reader, "", "refused here"].append(f"{path}: {table.error}")
        return None
    if not names:
        return None
    if len(rows) != len(table.rows) and path.suffix.lower() == ".dbc" and not rows:
        counts[reader, "", "compressed"] += 1
        return None
    if len(rows) != len(table.rows):
        counts[reader, "", "records"] += 1
        shown[reader, "", "records"].append(f"{path}: {len(table.rows)} here, {len(rows)} there")
    own_names = [field["name"].upper() for field in table.fields]
    their_names = [name.upper() for name in names]
    # Of two fields with a name nobody knows which one the other shows.
    places = [
        (at, own_names.index(name.upper()))
        for at, name in enumerate(names)
        if own_names.count(name.upper()) == their_names.count(name.upper()) == 1 and (reader != "GDAL" or table.fields[own_names.index(name.upper())]["type"] in TYPES_OF_GDAL)
    ]
    counts[reader, "", "fields not compared"] += len(own_names) - len(places)
    for number, (own, other) in enumerate(zip(table.rows, rows), 1):
        for there, here in places:
            field = table.fields[here]
            counts[reader, "", "values"] += 1
            kind = same(reader, field, own[here], other[there])
            if kind:
                key = reader, field["type"], kind
                counts[key] += 1
                if len(shown[key]) < show:
                    shown[key].append(f"{path}: row {number}, {field['name']}: {own[here]!r} here, {other[there]!r} there")
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--program", default="target/release/tidemill-peers-xbase-values")
    arguments.add_argument("--show", type=int, default=3, help="how many differences of each kind are shown")
    arguments = arguments.parse_args()
    readers = {}
    if dbfread:
        readers["dbfread"] = (by_dbfread, EXTENSIONS)
    if pyogrio:
        readers["GDAL"] = (by_gdal, {".dbf"})
    if not readers:
        sys.exit("neither dbfread nor pyogrio is there")
    paths = sorted(path for path in arguments.folder.rglob("*") if path.suffix.lower() in EXTENSIONS and path.is_file())
    counts, shown, refused, values = collections.Counter(), collections.defaultdict(list), [], 0
    for path in paths:
        table = Table(arguments.program, path)
        values += sum(map(len, table.rows))
        reasons = {}
        for reader, (read, extensions) in readers.items():
            if path.suffix.lower() in extensions:
                reasons[reader] = compare(reader, read, path, table, counts, shown, arguments.show)
        if table.error:
            refused.append(f"{path}: {table.error}" + "".join(f"\n    {name}: {why}" for name, why in reasons.items() if why))
    print(f"{len(paths)} tables, {values} values read here, {len(refused)} tables refused here")
    for line in refused:
        print("  refused here: " + line)
    bad = False
    for key, count in sorted(counts.items()):
        reader, letter, kind = key
        is_fine = key in EXPECTED or kind in ("values", "refused there", "fields not compared")
        bad |= not is_fine and count > 0
        print(f"{reader:8} {letter or '-'} {kind}: {count}" + (f" ({EXPECTED[key]})" if key in EXPECTED else ""))
        for line in shown[key]:
            print("    " + line)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
