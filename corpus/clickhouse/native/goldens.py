"""Writes the files of this folder again: `python goldens.py` in an environment with `chdb`.

Each line of queries.tsv is a name, a query and, sometimes, settings. NAME.native is the answer in FORMAT Native, NAME.hex
the same bytes to look at; answers.txt has all answers as ClickHouse shows them, with the names and types of the columns.
"""

import pathlib
import tempfile

from chdb.session import Session

SETTINGS = ", ".join(
    f"{name}=1"
    for name in (
        "allow_experimental_variant_type",
        "allow_experimental_dynamic_type",
        "allow_experimental_json_type",
        "allow_experimental_qbit_type",
        "enable_time_time64_type",
        "allow_suspicious_low_cardinality_types",
        "allow_suspicious_variant_types",
    )
)


def dump(data):
    """Sixteen bytes a line: where, in hexadecimal, and as ASCII."""
    for begin in range(0, len(data), 16):
        line = data[begin : begin + 16]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in line)
        yield f"{begin:08x}: {line.hex(' '):47}  {text}\n"


folder = pathlib.Path(__file__).parent
session = Session(tempfile.mkdtemp())
answers = []
for line in (folder / "queries.tsv").read_text().splitlines():
    name, query, *settings = line.split("\t")
    query = f"{query} SETTINGS {', '.join([SETTINGS, *settings])}"
    native = session.query(query, "Native").bytes()
    (folder / f"{name}.native").write_bytes(native)
    (folder / f"{name}.hex").write_text("".join(dump(native)))
    answers.append(f"== {name}\n".encode() + session.query(query, "TabSeparatedWithNamesAndTypes").bytes())
(folder / "answers.txt").write_bytes(b"".join(answers))
