"""The files of corpus/riegeli, with the answers of the C++ library."""

import hashlib
import json
import os
import pathlib
import struct

FOLDER = pathlib.Path(
    os.environ.get('TIDEMILL_CORPUS', pathlib.Path(__file__).resolve().parents[3] / 'corpus')
) / 'riegeli'


def entries(folder='cpp'):
    manifest = json.loads((FOLDER / 'manifest.json').read_text())
    return [entry for entry in manifest['entries'] if str(entry.get('file', '')).startswith(folder + '/')]


def path(name):
    return FOLDER / name


def dataset(name):
    """The records of datasets/NAME.recs: each a length (u32 LE) and its bytes."""
    data = (FOLDER / 'datasets' / f'{name}.recs').read_bytes()
    records, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from('<I', data, at)
        records.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return records


def records_hash(records):
    digest = hashlib.sha256()
    for record in records:
        digest.update(struct.pack('<I', len(record)))
        digest.update(record)
    return digest.hexdigest()
