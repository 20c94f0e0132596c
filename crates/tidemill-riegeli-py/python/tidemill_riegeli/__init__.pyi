"""Riegeli/records files: reading, writing, random access, recovery, and Arrow."""

from os import PathLike
from types import TracebackType
from typing import (
    Any,
    Callable,
    Final,
    Iterable,
    Iterator,
    List,
    Optional,
    Protocol,
    SupportsIndex,
    Tuple,
    Type,
    TypeVar,
    Union,
    final,
    overload,
)

_Bytes = Union[bytes, bytearray, memoryview]
_Path = Union[str, 'PathLike[str]']
_Projection = Iterable[Iterable[int]]

class _Source(Protocol):
    def read(self, size: int, /) -> bytes: ...

class _Destination(Protocol):
    def write(self, data: bytes, /) -> Optional[int]: ...

class _Message(Protocol):
    def SerializeToString(self) -> bytes: ...

_T = TypeVar('_T')
_T_co = TypeVar('_T_co', covariant=True)

class _MessageType(Protocol[_T_co]):
    def FromString(self, serialized: bytes, /) -> _T_co: ...

EXISTENCE_ONLY: Final[int]
"""At the end of a path of a field projection: the field is kept where it is present, without its value."""

class RiegeliError(Exception):
    """A file that cannot be read or written, with the facts as attributes."""

    kind: Optional[str]
    """'corrupt', 'truncated', 'unsupported', 'limit', 'metadata', 'array_record', 'row', 'option' or 'other'."""
    file: Optional[str]
    """Path of the file, None when it is not known."""
    offset: Optional[int]
    """Byte of the file at which reading stopped."""
    expected: Optional[int]
    """With found: the two numbers that disagree."""
    found: Optional[int]

class CancelledError(RiegeliError):
    code: int

class UnknownError(RiegeliError):
    code: int

class InvalidArgumentError(RiegeliError):
    code: int

class DeadlineExceededError(RiegeliError):
    code: int

class NotFoundError(RiegeliError):
    code: int

class AlreadyExistsError(RiegeliError):
    code: int

class PermissionDeniedError(RiegeliError):
    code: int

class UnauthenticatedError(RiegeliError):
    code: int

class ResourceExhaustedError(RiegeliError):
    code: int

class FailedPreconditionError(RiegeliError):
    code: int

class AbortedError(RiegeliError):
    code: int

class OutOfRangeError(RiegeliError):
    code: int

class UnimplementedError(RiegeliError):
    code: int

class InternalError(RiegeliError):
    code: int

class UnavailableError(RiegeliError):
    code: int

class DataLossError(RiegeliError):
    code: int

@final
class FlushType:
    """How far written records are to get."""

    FROM_OBJECT: Final[FlushType]
    """To the destination of the writer."""
    FROM_PROCESS: Final[FlushType]
    """Out of the process."""
    FROM_MACHINE: Final[FlushType]
    """To the device."""
    def __int__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RecordPosition:
    """The position of a record: the beginning of its chunk and its number in the chunk."""

    def __new__(cls, chunk_begin: int, record_index: int) -> RecordPosition: ...
    @property
    def chunk_begin(self) -> int: ...
    @property
    def record_index(self) -> int: ...
    @property
    def numeric(self) -> int: ...
    @classmethod
    def from_str(cls, serialized: str) -> RecordPosition: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, serialized: Union[bytes, bytearray]) -> RecordPosition: ...
    def __eq__(self, other: object) -> bool: ...
    def __lt__(self, other: RecordPosition) -> bool: ...
    def __le__(self, other: RecordPosition) -> bool: ...
    def __gt__(self, other: RecordPosition) -> bool: ...
    def __ge__(self, other: RecordPosition) -> bool: ...
    def __hash__(self) -> int: ...

@final
class SkippedRegion:
    """A part of a file that could not be read."""

    def __new__(cls, begin: int, end: int, message: str) -> SkippedRegion: ...
    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def message(self) -> str: ...
    @property
    def length(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RecordsMetadata:
    """Information about a file, which helps to interpret its records."""

    file_comment: Optional[str]
    record_type_name: Optional[str]
    file_descriptor: List[bytes]
    """Serialized FileDescriptorProto messages, dependencies first; set as a whole."""
    record_writer_options: Optional[str]
    num_records: Optional[int]
    def __new__(
        cls,
        *,
        file_comment: Optional[str] = None,
        record_type_name: Optional[str] = None,
        file_descriptor: List[bytes] = ...,
        record_writer_options: Optional[str] = None,
        num_records: Optional[int] = None,
    ) -> RecordsMetadata: ...
    def SerializeToString(self) -> bytes: ...
    @classmethod
    def FromString(cls, serialized: bytes) -> RecordsMetadata: ...
    def __eq__(self, other: object) -> bool: ...

@final
class RecordBatches:
    """The rows of a file as Arrow record batches. Each consumer reads the file anew."""

    @property
    def column_names(self) -> List[str]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

class RecordReader:
    """Reads the records of a Riegeli/records file, in order or from any position on."""

    def __new__(
        cls,
        src: Union[_Path, _Bytes, _Source],
        *,
        owns_src: bool = True,
        assumed_pos: Optional[int] = None,
        field_projection: Optional[_Projection] = None,
        recovery: Optional[Callable[[SkippedRegion], Any]] = None,
    ) -> RecordReader: ...
    @property
    def src(self) -> Optional[Any]: ...
    @property
    def pos(self) -> RecordPosition: ...
    @property
    def last_pos(self) -> RecordPosition: ...
    @property
    def supports_random_access(self) -> bool: ...
    def check_file_format(self) -> bool: ...
    def read_metadata(self) -> Optional[RecordsMetadata]: ...
    def read_serialized_metadata(self) -> Optional[bytes]: ...
    def read_record(self) -> Optional[bytes]: ...
    def read_record_with_key(self) -> Optional[Tuple[RecordPosition, bytes]]: ...
    def read_message(self, message_type: _MessageType[_T]) -> Optional[_T]: ...
    def read_message_with_key(self, message_type: _MessageType[_T]) -> Optional[Tuple[RecordPosition, _T]]: ...
    def read_records(self) -> Iterator[bytes]: ...
    def read_records_with_keys(self) -> Iterator[Tuple[RecordPosition, bytes]]: ...
    def read_messages(self, message_type: _MessageType[_T]) -> Iterator[_T]: ...
    def read_messages_with_keys(self, message_type: _MessageType[_T]) -> Iterator[Tuple[RecordPosition, _T]]: ...
    def set_field_projection(self, field_projection: Optional[_Projection]) -> None: ...
    def seek(self, pos: RecordPosition) -> None: ...
    def seek_numeric(self, pos: int) -> None: ...
    def seek_back(self) -> bool: ...
    def size(self) -> int: ...
    def search(self, test: Callable[[RecordReader], Optional[float]]) -> Optional[int]: ...
    def search_for_record(self, test: Callable[[bytes], Optional[float]]) -> Optional[int]: ...
    def search_for_message(
        self, message_type: _MessageType[_T], test: Callable[[_T], Optional[float]]
    ) -> Optional[int]: ...
    def read_arrow(
        self,
        columns: Optional[List[str]] = None,
        *,
        limit: Optional[int] = None,
        batch_size: int = 8192,
        record_type: Optional[str] = None,
        descriptor: Optional[bytes] = None,
        raw: bool = False,
    ) -> RecordBatches: ...
    def close(self) -> None: ...
    def __enter__(self) -> RecordReader: ...
    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> bool: ...

class ArrayRecordWriter:
    """Writes an ArrayRecord file. Only close() makes one that can be read."""

    def __new__(
        cls,
        path: Union[_Path, _Destination],
        options: str = '',
        *,
        file_writer_buffer_size: Optional[int] = None,
    ) -> ArrayRecordWriter: ...
    def ok(self) -> bool: ...
    def is_open(self) -> bool: ...
    def write(self, record: _Bytes) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> ArrayRecordWriter: ...
    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> bool: ...

class ArrayRecordReader:
    """Reads records of an ArrayRecord file, in order or by their numbers."""

    def __new__(
        cls,
        path: Union[_Path, _Bytes, _Source],
        options: str = '',
        *,
        file_reader_buffer_size: Optional[int] = None,
    ) -> ArrayRecordReader: ...
    def ok(self) -> bool: ...
    def is_open(self) -> bool: ...
    def num_records(self) -> int: ...
    def record_index(self) -> int: ...
    def writer_options_string(self) -> str: ...
    def seek(self, record_index: int) -> None: ...
    @overload
    def read(self) -> bytes: ...
    @overload
    def read(self, indices: Iterable[int], /) -> List[bytes]: ...
    @overload
    def read(self, begin: int, end: int, /) -> List[bytes]: ...
    def read_all(self) -> List[bytes]: ...
    def close(self) -> None: ...
    def __enter__(self) -> ArrayRecordReader: ...
    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> bool: ...

class _CompressionOptions(Protocol):
    @property
    def compression_type(self) -> Optional[str]: ...

class TFRecordWriter:
    """Writes a TFRecord file."""

    def __new__(
        cls, path: Union[_Path, _Destination], options: Union[str, _CompressionOptions, None] = None
    ) -> TFRecordWriter: ...
    def write(self, record: _Bytes) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> TFRecordWriter: ...
    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> bool: ...

class TFRecordReader:
    """Reads the records of a TFRecord file, in order."""

    def __new__(
        cls,
        src: Union[_Path, _Bytes, _Source],
        *,
        compression_type: Optional[str] = None,
        recovery: Optional[Callable[[SkippedRegion], Any]] = None,
    ) -> TFRecordReader: ...
    @property
    def compression_type(self) -> str: ...
    @property
    def pos(self) -> int: ...
    def read_record(self) -> Optional[bytes]: ...
    def __iter__(self) -> TFRecordReader: ...
    def __next__(self) -> bytes: ...
    def close(self) -> None: ...
    def __enter__(self) -> TFRecordReader: ...
    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> bool: ...

class _FileInstruction(Protocol):
    @property
    def filename(self) -> _Path: ...
    @property
    def skip(self) -> int: ...
    @property
    def take(self) -> int: ...

class RecordDataSource:
    """The records of one or more files, by number."""

    def __new__(
        cls,
        paths: Union[_Path, _FileInstruction, Iterable[Union[_Path, _FileInstruction]]],
        *,
        field_projection: Optional[_Projection] = None,
        cached_chunks: int = 16,
    ) -> RecordDataSource: ...
    @property
    def paths(self) -> List[str]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, record_key: SupportsIndex) -> bytes: ...
    @overload
    def __getitem__(self, record_key: slice) -> List[bytes]: ...
    def __getitems__(self, record_keys: Iterable[SupportsIndex]) -> List[bytes]: ...
    def __iter__(self) -> Iterator[bytes]: ...
    def close(self) -> None: ...
    def __enter__(self) -> RecordDataSource: ...
    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> bool: ...

class RecordWriter:
    """Writes a Riegeli/records file."""

    def __new__(
        cls,
        dest: Union[_Path, _Destination],
        *,
        owns_dest: bool = True,
        assumed_pos: Optional[int] = None,
        options: str = '',
        metadata: Optional[_Message] = None,
        serialized_metadata: Union[bytes, bytearray, None] = None,
    ) -> RecordWriter: ...
    @property
    def dest(self) -> Optional[Any]: ...
    @property
    def pos(self) -> RecordPosition: ...
    @property
    def last_pos(self) -> RecordPosition: ...
    def write_record(self, record: _Bytes) -> None: ...
    def write_message(self, record: _Message) -> None: ...
    def write_records(self, records: Iterable[_Bytes]) -> None: ...
    def write_messages(self, records: Iterable[_Message]) -> None: ...
    def flush(self, flush_type: FlushType = ...) -> None: ...
    def estimated_size(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self) -> RecordWriter: ...
    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> bool: ...

def set_record_type(metadata: Any, message_type: Any) -> None:
    """Says in `metadata` that the records are messages of a class."""

def get_record_type(metadata: Any) -> Optional[Any]:
    """Returns the message class of the records, None if the metadata do not have it. Needs the `protobuf` package."""
