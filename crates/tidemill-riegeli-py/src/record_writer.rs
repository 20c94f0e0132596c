//! Writing records.
//!
//! Source: google/riegeli, `python/riegeli/records/record_writer.cc`.
//!
//! As with a reader, a call takes the writer out of its place and puts it back. A record that fits the open chunk is copied
//! into it at once; the interpreter is released for records that may fill it.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use pyo3::{
    PyTraverseError, PyVisit,
    exceptions::{PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyBytes, PyMemoryView},
};
use tidemill_riegeli::{Error, WriterOptions};

use crate::{
    destination::Destination,
    error::{FailedPreconditionError, raise, raise_at},
    flush_type::FlushType,
    fork::Birthplace,
    output::{ObjectOutput, Output},
    record_position::RecordPosition,
};

type Writer = tidemill_riegeli::RecordWriter<Output>;

/// Writes a Riegeli/records file.
///
/// dest: the path of a file to create or empty, or a binary file object with write(). One that was opened for appending is
///   appended to.
/// owns_dest: whether close() closes dest, if it is a file object.
/// assumed_pos: where in the file dest is. None asks dest, and takes 0 for what does not tell.
/// options: as for the C++ library, such as 'transpose,zstd:3'.
/// metadata: a RecordsMetadata, of this package or a protobuf message. Written to an empty file only.
/// serialized_metadata: the same in serialized form.
#[pyclass(module = "tidemill_riegeli", frozen, subclass, weakref)]
pub(crate) struct RecordWriter {
    slot: Mutex<Slot>,
    object: Option<ObjectOutput>,
    path: Option<PathBuf>,
    owns_dest: bool,
    birthplace: Birthplace,
}

/// Where the writer is.
enum Slot {
    Ready(Open),
    /// Taken out by a call.
    InUse,
    Closed {
        pos: RecordPosition,
        last_pos: Option<RecordPosition>,
    },
}

#[pymethods]
impl RecordWriter {
    #[new]
    #[pyo3(signature = (
        dest, *, owns_dest=true, assumed_pos=None, options="", metadata=None, serialized_metadata=None,
    ))]
    fn new(
        py: Python<'_>,
        dest: &Bound<'_, PyAny>,
        owns_dest: bool,
        assumed_pos: Option<u64>,
        options: &str,
        metadata: Option<&Bound<'_, PyAny>>,
        serialized_metadata: Option<PyBackedBytes>,
    ) -> PyResult<Self> {
        let mut options: WriterOptions = options.parse().map_err(|error| raise(py, error))?;
        let serialized = match metadata {
            Some(_) if serialized_metadata.is_some() => {
                return Err(PyTypeError::new_err(
                    "metadata and serialized_metadata are two names for one thing: give one",
                ));
            }
            Some(metadata) => Some(metadata.call_method0("SerializeToString")?.extract()?),
            None => serialized_metadata,
        };
        // Metadata without a field are not written.
        if let Some(serialized) = serialized.filter(|serialized: &PyBackedBytes| !serialized.is_empty()) {
            options = options.serialized_metadata(serialized.to_vec());
        }
        let chunk_size = options.effective_chunk_size();

        // Before the file is created, so that a place that does not tell leaves no empty one.
        let pos = match assumed_pos {
            Some(pos) => pos,
            None if dest.hasattr("write")? => position(dest)?,
            None => 0,
        };
        let Destination { output, object, path } = Destination::open(dest)?;
        let writer = py.detach(|| Writer::new_durable(output, pos, options));
        Ok(Self {
            slot: Mutex::new(Slot::Ready(Open {
                writer: Box::new(writer.map_err(|error| raise_at(py, path.as_deref(), error))?),
                chunk_size,
                size_so_far: 0,
            })),
            object,
            path,
            owns_dest,
            birthplace: Birthplace::here(),
        })
    }

    /// The file object that is written to, None for a path.
    #[getter]
    fn dest<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.object.as_ref()?.object(py)
    }

    /// Where the next record will be, as long as it fits the open chunk. Does not change with close(). With parallelism, this
    /// waits for the chunks in work.
    #[getter]
    fn pos(&self, py: Python<'_>) -> PyResult<RecordPosition> {
        if let Slot::Closed { pos, .. } = &*self.slot() {
            return Ok(*pos);
        }
        self.known(py, |writer| writer.pos())?.ok_or_else(no_record)
    }

    /// The position of the record that was written last; there must be one. Does not change with close(). With parallelism, this
    /// waits for the chunks in work.
    #[getter]
    fn last_pos(&self, py: Python<'_>) -> PyResult<RecordPosition> {
        if let Slot::Closed { last_pos, .. } = &*self.slot() {
            return last_pos.ok_or_else(no_record);
        }
        self.known(py, |writer| writer.last_pos())?.ok_or_else(no_record)
    }

    /// Writes a record: bytes, a bytearray or a memoryview.
    fn write_record(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        let record = bytes_of(record)?;
        if let Slot::Ready(open) = &mut *self.slot()
            && open.has_room(record.len())
            && self.birthplace.is_here()
        {
            let written = open.write_record(&record);
            return written.map_err(|error| raise_at(py, self.path.as_deref(), error));
        }
        self.with(py, |open| open.write_record(&record))
    }

    /// Writes a record: a message.
    fn write_message(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write_record(py, &record.call_method0("SerializeToString")?)
    }

    /// Writes the records of an iterable.
    fn write_records(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> PyResult<()> {
        records
            .try_iter()?
            .try_for_each(|record| self.write_record(py, &record?))
    }

    /// Writes the messages of an iterable.
    fn write_messages(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> PyResult<()> {
        records
            .try_iter()?
            .try_for_each(|record| self.write_message(py, &record?))
    }

    /// Ends the open chunk and takes what was written as far as flush_type says. Often done, it costs compression.
    #[pyo3(signature = (flush_type=FlushType::Process))]
    fn flush(&self, py: Python<'_>, flush_type: FlushType) -> PyResult<()> {
        self.with(py, |open| {
            open.size_so_far = 0;
            open.writer.flush(flush_type.into())
        })
    }

    /// Returns the size of the file without the open chunk and those in work.
    fn estimated_size(&self) -> PyResult<u64> {
        match &*self.slot() {
            Slot::Ready(open) => Ok(open.writer.estimated_size()),
            Slot::Closed { pos, .. } => Ok(pos.0.chunk_begin),
            Slot::InUse => Err(in_use()),
        }
    }

    /// Writes the open chunk and ends writing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if let Slot::Closed { .. } = &*self.slot() {
            return Ok(());
        }
        self.birthplace.check()?;
        let mut open = take(&mut self.slot(), Slot::InUse)?;
        let flushed = py.detach(|| open.writer.flush(FlushType::Process.into()));
        // After a failure nobody knows.
        let pos = RecordPosition(open.writer.pos().unwrap_or_default());
        let last_pos = open.writer.last_pos().map(RecordPosition);
        *self.slot() = Slot::Closed { pos, last_pos };
        py.detach(|| drop(open));
        if let Some(object) = self.dest(py).filter(|_| self.owns_dest) {
            object.call_method0("close")?;
        }
        flushed.map_err(|error| raise_at(py, self.path.as_deref(), error))
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exc_type: &Bound<'_, PyAny>,
        _exc_value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        match self.close(py) {
            Err(error) if exc_type.is_none() => Err(error),
            _ => Ok(false),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Destination::describe(py, "RecordWriter", self.object.as_ref(), self.path.as_deref())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.object {
            Some(object) => object.traverse(&visit),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Some(object) = &self.object {
            object.clear();
        }
    }
}

impl RecordWriter {
    /// Calls `work` with the writer while the interpreter is released.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Open) -> Result<T, Error> + Send) -> PyResult<T> {
        self.birthplace.check()?;
        let mut open = take(&mut self.slot(), Slot::InUse)?;
        let result = py.detach(|| work(&mut open));
        *self.slot() = Slot::Ready(open);
        result.map_err(|error| raise_at(py, self.path.as_deref(), error))
    }

    /// Returns a position, once it is known.
    fn known(
        &self,
        py: Python<'_>,
        position: impl Fn(&Writer) -> Option<tidemill_riegeli::RecordPosition> + Send + Sync,
    ) -> PyResult<Option<RecordPosition>> {
        if let Slot::Ready(open) = &*self.slot()
            && let Some(position) = position(&open.writer)
        {
            return Ok(Some(RecordPosition(position)));
        }
        self.with(py, |open| {
            open.writer.write_chunks_in_work()?;
            Ok(position(&open.writer).map(RecordPosition))
        })
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RecordWriter {
    /// In a child process, what waits in buffers is the parent's to write, and threads that encode are the parent's to join.
    fn drop(&mut self) {
        if !self.birthplace.is_here()
            && let Ok(slot) = self.slot.get_mut()
        {
            std::mem::forget(std::mem::replace(slot, Slot::InUse));
        }
    }
}

/// A writer, and what it needs to tell when a record may fill the open chunk. The guess decides only about the interpreter.
struct Open {
    writer: Box<Writer>,
    chunk_size: u64,
    size_so_far: u64,
}

impl Open {
    /// Returns whether a record of `size` bytes leaves the chunk open.
    fn has_room(&self, size: usize) -> bool {
        let size = size as u64;
        size <= LARGE && self.size_so_far.saturating_add(size + 2 * RECORD_OVERHEAD) <= self.chunk_size
    }

    fn write_record(&mut self, record: &[u8]) -> Result<(), Error> {
        self.writer.write_record(record)?;
        let added = (record.len() as u64).saturating_add(RECORD_OVERHEAD);
        let joined = self.size_so_far.saturating_add(added);
        let size = if joined > self.chunk_size { added } else { joined };
        let closed = size.saturating_add(RECORD_OVERHEAD) > self.chunk_size;
        self.size_so_far = if closed { 0 } else { size };
        Ok(())
    }
}

/// What a record counts in a chunk on top of its bytes (google/riegeli, `doc/record_writer_options.md`, `chunk_size`).
const RECORD_OVERHEAD: u64 = 8;

/// A record whose copy takes long enough to let others run meanwhile.
const LARGE: u64 = 64 << 10;

/// Takes the writer out of its place.
fn take(slot: &mut Slot, instead: Slot) -> PyResult<Open> {
    match std::mem::replace(slot, instead) {
        Slot::Ready(open) => Ok(open),
        other => {
            let error = match &other {
                Slot::Closed { .. } => PyValueError::new_err("the writer is closed"),
                _ => in_use(),
            };
            *slot = other;
            Err(error)
        }
    }
}

/// Returns where a file object is, 0 if it cannot tell.
fn position(dest: &Bound<'_, PyAny>) -> PyResult<u64> {
    let seekable = match dest.hasattr("seekable")? {
        true => dest.call_method0("seekable")?.is_truthy()?,
        false => dest.hasattr("seek")?,
    };
    match seekable && dest.hasattr("tell")? {
        true => dest.call_method0("tell")?.extract(),
        false => Ok(0),
    }
}

/// Returns the bytes of a bytes-like object, without a copy of `bytes`.
pub(crate) fn bytes_of(record: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    if let Ok(bytes) = record.extract() {
        return Ok(bytes);
    }
    if record.is_instance_of::<PyMemoryView>() {
        return record
            .py()
            .get_type::<PyBytes>()
            .call1((record,))?
            .extract()
            .map_err(Into::into);
    }
    Err(PyTypeError::new_err(format!(
        "expected bytes, bytearray or memoryview, not {}",
        record.get_type().name()?
    )))
}

#[cold]
fn in_use() -> PyErr {
    PyRuntimeError::new_err("the writer is in use by another thread")
}

#[cold]
fn no_record() -> PyErr {
    FailedPreconditionError::new_err("no record was written")
}
