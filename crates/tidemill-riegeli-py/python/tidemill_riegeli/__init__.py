"""Riegeli/records files: reading, writing, random access, recovery, and Arrow.

The names are those of the Python API of google/riegeli:

>>> import io, tidemill_riegeli as riegeli
>>> file = io.BytesIO()
>>> with riegeli.RecordWriter(file, owns_dest=False, options='zstd') as writer:
...     writer.write_records([b'first', b'second'])
>>> with riegeli.RecordReader(file.getvalue()) as reader:
...     list(reader.read_records())
[b'first', b'second']
"""

import os as _os

from ._native import (
    AbortedError,
    AlreadyExistsError,
    ArrayRecordReader,
    ArrayRecordWriter,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    EXISTENCE_ONLY,
    FailedPreconditionError,
    FlushType,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    RecordBatches,
    RecordDataSource,
    RecordPosition,
    RecordReader,
    RecordsMetadata,
    RecordWriter,
    ResourceExhaustedError,
    RiegeliError,
    SkippedRegion,
    TFRecordReader,
    TFRecordWriter,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
    _forked,
)
from ._record_type import get_record_type, set_record_type

__all__ = [
    'AbortedError',
    'AlreadyExistsError',
    'ArrayRecordReader',
    'ArrayRecordWriter',
    'CancelledError',
    'DataLossError',
    'DeadlineExceededError',
    'EXISTENCE_ONLY',
    'FailedPreconditionError',
    'FlushType',
    'InternalError',
    'InvalidArgumentError',
    'NotFoundError',
    'OutOfRangeError',
    'PermissionDeniedError',
    'RecordBatches',
    'RecordDataSource',
    'RecordPosition',
    'RecordReader',
    'RecordWriter',
    'RecordsMetadata',
    'ResourceExhaustedError',
    'RiegeliError',
    'SkippedRegion',
    'TFRecordReader',
    'TFRecordWriter',
    'UnauthenticatedError',
    'UnavailableError',
    'UnimplementedError',
    'UnknownError',
    'get_record_type',
    'set_record_type',
]

if hasattr(_os, 'register_at_fork'):
    # Writers of the parent refuse to write in a child.
    _os.register_at_fork(after_in_child=_forked)
