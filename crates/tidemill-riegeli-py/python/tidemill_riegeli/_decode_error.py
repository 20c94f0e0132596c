"""The error for metadata that are no message; loaded when the first one is met.

Programs for the C++ library's Python API expect protobuf's DecodeError, which is there only with the `protobuf` package.
"""

from ._native import InvalidArgumentError

try:
    from google.protobuf.message import DecodeError
except ImportError:
    _bases = (InvalidArgumentError,)
else:
    _bases = (InvalidArgumentError, DecodeError)


class MetadataDecodeError(*_bases):
    """Metadata that are not a RecordsMetadata message: a DecodeError as well, if the `protobuf` package is installed."""
