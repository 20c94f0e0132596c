//! Reading records.
//!
//! Source: google/riegeli, `python/riegeli/records/record_reader.cc`. Searching is in `search`.
//!
//! A call takes the reader out of its place, works with the interpreter released, and puts it back. Who comes meanwhile,
//! another thread or the reader's own recovery function, gets a `RuntimeError` instead of waiting for what may never come.

use std::{
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use pyo3::{
    PyTraverseError, PyVisit,
    exceptions::{PyRuntimeError, PyStopIteration, PyValueError},
    prelude::*,
    pybacked::PyBackedBytes,
    types::PyBytes,
};
use tidemill_riegeli::{Error, Field, FieldProjection, ReaderOptions, SharedSource};

use crate::{
    error::{FailedPreconditionError, UnimplementedError, is_decode_error, raise},
    input::Input,
    record_batches::{Given, GivenType, RecordBatches, Selection},
    record_iter::RecordIter,
    record_position::RecordPosition,
    records_metadata::RecordsMetadata,
    recovery::Recovery,
    search::{Candidate, search},
    skipped_region::SkippedRegion,
};

/// The reader of the Rust library.
pub(crate) type Reader = tidemill_riegeli::RecordReader<SharedSource>;

/// Reads the records of a Riegeli/records file, in order or from any position on.
///
/// src: a path, bytes with the contents of a file, or a binary file object with read(), and seek() and tell() for random
///   access. A plain file on disk is read at positions by the system, whatever the position of the object.
/// owns_src: whether close() closes src, if it is a file object.
/// assumed_pos: 0 reads src as a stream, without seek(). None asks src whether it can seek.
/// field_projection: paths of field numbers to keep, EXISTENCE_ONLY at the end for presence without value. None keeps all.
/// recovery: called with a SkippedRegion for damage, which is passed when it returns; StopIteration ends reading. None
///   makes damage a RiegeliError.
#[pyclass(module = "tidemill_riegeli", frozen, subclass, weakref)]
pub(crate) struct RecordReader {
    slot: Mutex<Slot>,
    options: Mutex<ReaderOptions>,
    recovery: Option<Arc<Recovery>>,
    input: Input,
    owns_src: bool,
    /// Whether the last call failed.
    failed: AtomicBool,
}

/// Where the reader is.
pub(crate) enum Slot {
    Ready(Box<Reader>),
    /// Taken out by a call.
    InUse,
    /// Taken out by a search, which asks about this record unless it was read already.
    Searching(Option<Py<PyBytes>>),
    Closed {
        pos: RecordPosition,
    },
}

#[pymethods]
impl RecordReader {
    #[new]
    #[pyo3(signature = (src, *, owns_src=true, assumed_pos=None, field_projection=None, recovery=None))]
    fn new(
        py: Python<'_>,
        src: &Bound<'_, PyAny>,
        owns_src: bool,
        assumed_pos: Option<u64>,
        field_projection: Option<&Bound<'_, PyAny>>,
        recovery: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        if assumed_pos.is_some_and(|pos| pos > 0) {
            return Err(PyValueError::new_err("a stream begins at position 0"));
        }
        let recovery = recovery.map(Recovery::new);
        let mut options = ReaderOptions::new().field_projection(projection(field_projection)?);
        if let Some(recovery) = &recovery {
            options = recovery.options(options);
        }
        let input = Input::open(src, assumed_pos.is_some())?;
        let opened = py.detach(|| {
            let mut reader = Reader::from_source(Arc::clone(&input.source), &input.name, &options)?;
            if input.begin > 0 {
                reader.seek(tidemill_riegeli::RecordPosition::new(input.begin, 0))?;
            }
            Ok(Box::new(reader))
        });
        Ok(Self {
            slot: Mutex::new(Slot::Ready(opened.map_err(|error| raise(py, error))?)),
            options: Mutex::new(options),
            recovery,
            input,
            owns_src,
            failed: AtomicBool::new(false),
        })
    }

    /// The file object that is read, None for a path and for bytes.
    #[getter]
    fn src<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.input.object.as_ref()?.object(py)
    }

    /// Where the next record is. Does not change with close().
    #[getter]
    fn pos(&self) -> PyResult<RecordPosition> {
        match &*self.slot() {
            Slot::Ready(reader) => Ok(RecordPosition(reader.pos())),
            Slot::Closed { pos } => Ok(*pos),
            Slot::InUse | Slot::Searching(_) => Err(in_use()),
        }
    }

    /// The position of the record that was read last; there must be one, and no move since.
    #[getter]
    pub(crate) fn last_pos(&self) -> PyResult<RecordPosition> {
        match &*self.slot() {
            Slot::Ready(reader) if reader.last_record_is_valid() => Ok(RecordPosition(reader.last_pos())),
            Slot::InUse | Slot::Searching(_) => Err(in_use()),
            _ => Err(FailedPreconditionError::new_err("no record was read")),
        }
    }

    /// Whether the reader can go to any position.
    #[getter]
    fn supports_random_access(&self) -> PyResult<bool> {
        match &*self.slot() {
            Slot::Ready(reader) => Ok(reader.supports_random_access()),
            Slot::InUse | Slot::Searching(_) => Err(in_use()),
            Slot::Closed { .. } => Ok(false),
        }
    }

    /// Returns whether the file looks like Riegeli/records, False if it ends before that can be told. Damage is a
    /// RiegeliError; the recovery function is not asked.
    fn check_file_format(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |reader| reader.check_file_format())
    }

    /// Returns the file metadata, None at the end of the file.
    fn read_metadata(&self, py: Python<'_>) -> PyResult<Option<RecordsMetadata>> {
        let read = self.with(py, |reader| {
            let serialized = reader.metadata()?.map(<[u8]>::to_vec);
            Ok(serialized.map(|serialized| (serialized, reader.metadata_place())))
        })?;
        let Some((serialized, place)) = read else {
            return Ok(None);
        };
        match RecordsMetadata::of(py, &serialized, &self.input.name) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) => {
                let place = place.unwrap_or_default();
                let goes_on = self.recover(py, error, || Ok(place))?;
                Ok(goes_on.then(RecordsMetadata::default))
            }
        }
    }

    /// Returns the file metadata as a serialized RecordsMetadata message, None at the end of the file.
    fn read_serialized_metadata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let serialized = self.with(py, |reader| reader.metadata().map(|found| found.map(<[u8]>::to_vec)))?;
        Ok(serialized.map(|serialized| PyBytes::new(py, &serialized)))
    }

    /// Reads the next record, None at the end of the file.
    pub(crate) fn read_record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut reader = {
            let mut slot = self.slot();
            match &mut *slot {
                Slot::Ready(reader) if reader.records_at_hand() > 0 => {
                    let record = reader.read_record().map_err(|error| self.fail(py, error))?;
                    return Ok(record.map(|record| PyBytes::new(py, record)));
                }
                Slot::Searching(record) => return Ok(record.take().map(|record| record.into_bound(py))),
                slot => take(slot, Slot::InUse)?,
            }
        };
        let record = match py.detach(|| reader.read_record()) {
            Ok(record) => Ok(record.map(|record| PyBytes::new(py, record))),
            Err(error) => Err(self.fail(py, error)),
        };
        self.put_back(reader);
        self.check_recovery()?;
        record
    }

    /// Reads the next record, and returns its position and the record. None at the end of the file.
    fn read_record_with_key<'py>(&self, py: Python<'py>) -> PyResult<Option<(RecordPosition, Bound<'py, PyBytes>)>> {
        match self.read_record(py)? {
            Some(record) => Ok(Some((self.last_pos()?, record))),
            None => Ok(None),
        }
    }

    /// Reads the next record as a message of this class, None at the end of the file. A record that is no such message is a region
    /// for the recovery function, if there is one and the class raises DecodeError.
    fn read_message<'py>(
        &self,
        py: Python<'py>,
        message_type: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.next_message(py, message_type)
    }

    /// Reads the next record as a message of this class, and returns its position and the message. None at the end.
    fn read_message_with_key<'py>(
        &self,
        py: Python<'py>,
        message_type: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(RecordPosition, Bound<'py, PyAny>)>> {
        match self.next_message(py, message_type)? {
            Some(message) => Ok(Some((self.last_pos()?, message))),
            None => Ok(None),
        }
    }

    /// Returns an iterator over the records that are left.
    fn read_records(this: Py<Self>) -> RecordIter {
        RecordIter::new(this, None, false)
    }

    /// Returns an iterator over the records that are left, each with its position before it.
    fn read_records_with_keys(this: Py<Self>) -> RecordIter {
        RecordIter::new(this, None, true)
    }

    /// Returns an iterator over the records that are left, as messages of this class.
    fn read_messages(this: Py<Self>, message_type: Py<PyAny>) -> RecordIter {
        RecordIter::new(this, Some(message_type), false)
    }

    /// Returns an iterator over the records that are left, as messages of this class, each with its position before it.
    fn read_messages_with_keys(this: Py<Self>, message_type: Py<PyAny>) -> RecordIter {
        RecordIter::new(this, Some(message_type), true)
    }

    /// Keeps only these fields from the next record on; None keeps all.
    #[pyo3(signature = (field_projection))]
    fn set_field_projection(&self, py: Python<'_>, field_projection: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let projection = projection(field_projection)?;
        {
            let mut options = self.options();
            *options = options.clone().field_projection(projection.clone());
        }
        self.with(py, |reader| reader.set_field_projection(projection))
    }

    /// Goes to a position that pos or last_pos returned for the same file.
    fn seek(&self, py: Python<'_>, pos: RecordPosition) -> PyResult<()> {
        self.with(py, |reader| reader.seek(pos.0)).map(drop)
    }

    /// Goes to the record that a number from 0 to the size of the file stands for; between records, to the next one.
    fn seek_numeric(&self, py: Python<'_>, pos: u64) -> PyResult<()> {
        self.with(py, |reader| reader.seek_numeric(pos)).map(drop)
    }

    /// Goes back by one record. Returns False at the beginning of the file.
    fn seek_back(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |reader| reader.seek_back())
    }

    /// Returns the size of the file in bytes.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        let size = self.with(py, |reader| Ok(reader.size()))?;
        size.ok_or_else(|| UnimplementedError::new_err("the size of a stream is not known before its end"))
    }

    /// Searches for a record, or for where it would be.
    ///
    /// test is called with this reader before some record, and returns a negative number if that is before the wanted
    /// position, 0 if it is a wanted record, a positive number if it is behind, and None if that cannot be told. Records
    /// must be in this order. It may raise StopIteration to end the search: then the answer is None. Afterwards the reader is at a wanted record; if there is none, at the first one behind; else
    /// at the end of the file. Returns -1, 0, 1 or None, as test would of the whole file.
    fn search(this: &Bound<'_, Self>, test: &Bound<'_, PyAny>) -> PyResult<Option<i8>> {
        let (reader, test) = (this.clone().unbind(), test.clone().unbind());
        search(this, move |py, _| test.bind(py).call1((&reader,)))
    }

    /// Searches as search() does, with a test that is called with the record.
    fn search_for_record(this: &Bound<'_, Self>, test: &Bound<'_, PyAny>) -> PyResult<Option<i8>> {
        let test = test.clone().unbind();
        search(this, move |py, candidate| test.bind(py).call1((candidate.record,)))
    }

    /// Searches as search() does, with a test that is called with the record as a message of this class. A record that is no such
    /// message is a region for the recovery function, and then judged as None.
    fn search_for_message(
        this: &Bound<'_, Self>,
        message_type: &Bound<'_, PyAny>,
        test: &Bound<'_, PyAny>,
    ) -> PyResult<Option<i8>> {
        let (message_type, test) = (message_type.clone().unbind(), test.clone().unbind());
        let reader = this.clone().unbind();
        search(this, move |py, candidate| {
            let Candidate { record, positions } = candidate;
            match parse(message_type.bind(py), record) {
                Ok(message) => test.bind(py).call1((message,)),
                Err(error) => {
                    let place = positions.start.numeric()..positions.end.numeric();
                    match reader.get().recover(py, error, || Ok(place))? {
                        // Whether it is before or behind cannot be told.
                        true => Ok(py.None().into_bound(py)),
                        false => Err(PyStopIteration::new_err(())),
                    }
                }
            }
        })
    }

    /// Reads all of the file as Arrow, wherever the reader is, and without moving it.
    ///
    /// Returns an object with __arrow_c_stream__, which pyarrow, polars and others take. Files with a stored Arrow schema
    /// give its columns; files of messages, whose type and descriptors are in the metadata or given here, a column for each
    /// field; others one binary column `record`.
    ///
    /// columns: names of the columns to read, in this order. None reads all.
    /// limit: the largest number of rows. None reads all.
    /// batch_size: the largest number of rows in a batch.
    /// record_type: full name of the type of the messages. None takes the one in the metadata.
    /// descriptor: a serialized FileDescriptorSet that has the type, whatever the metadata say. None takes theirs.
    /// raw: whether the records are not looked into: one column, record, with the bytes of each.
    #[pyo3(signature = (columns=None, *, limit=None, batch_size=8192, record_type=None, descriptor=None, raw=false))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn read_arrow(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        limit: Option<usize>,
        batch_size: usize,
        record_type: Option<String>,
        descriptor: Option<PyBackedBytes>,
        raw: bool,
    ) -> PyResult<RecordBatches> {
        if let Slot::Closed { .. } = &*self.slot() {
            return Err(closed());
        }
        if raw && (record_type.is_some() || descriptor.is_some()) {
            return Err(PyValueError::new_err(
                "raw records have no record_type and no descriptor",
            ));
        }
        let options = self.options().clone();
        RecordBatches::open(
            py,
            &self.input,
            &options,
            self.recovery.clone(),
            match raw {
                true => Given::Raw,
                false => Given::Type(GivenType {
                    descriptor,
                    name: record_type,
                }),
            },
            Selection {
                columns,
                limit,
                batch_size,
            },
        )
    }

    /// Ends reading. A file that ends inside a chunk is a RiegeliError, or a region for the recovery function; damage that the last
    /// call failed with is raised again.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let reader = {
            let mut slot = self.slot();
            match &*slot {
                Slot::Closed { .. } => return Ok(()),
                Slot::InUse | Slot::Searching(_) => return Err(in_use()),
                Slot::Ready(reader) => {
                    let pos = RecordPosition(reader.pos());
                    take(&mut slot, Slot::Closed { pos })?
                }
            }
        };
        let closed = py.detach(|| {
            let mut reader = reader;
            if self.failed.load(Ordering::Relaxed) {
                // Not passed meanwhile, it is there again.
                reader.check_file_format()?;
            }
            reader.close()
        });
        if let Some(object) = self.input.object.as_ref().filter(|_| self.owns_src)
            && let Some(object) = object.object(py)
            && object.hasattr("close")?
        {
            object.call_method0("close")?;
        }
        self.check_recovery()?;
        closed.map(drop).map_err(|error| raise(py, error))
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
        Ok(match self.src(py) {
            Some(src) => format!("<RecordReader src={}>", src.repr()?),
            None if self.input.name.is_empty() => "<RecordReader src=bytes>".to_owned(),
            None => format!("<RecordReader src={:?}>", self.input.name),
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(recovery) = &self.recovery {
            recovery.traverse(&visit)?;
        }
        match &self.input.object {
            Some(object) => object.traverse(&visit),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Some(recovery) = &self.recovery {
            recovery.clear();
        }
        if let Some(object) = &self.input.object {
            object.clear();
        }
    }
}

impl RecordReader {
    /// Reads the next record that is a message of this class.
    pub(crate) fn next_message<'py>(
        &self,
        py: Python<'py>,
        message_type: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        while let Some(record) = self.read_record(py)? {
            let place = || {
                let behind = self.pos()?;
                Ok(self.last_pos()?.0.numeric()..behind.0.numeric())
            };
            match parse(message_type, &record) {
                Ok(message) => return Ok(Some(message)),
                Err(error) => {
                    if !self.recover(py, error, place)? {
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Tells the recovery function of what lies at `place` and is no message, as `error` says, and returns whether to go on.
    /// Raises the error if there is no such function, or the error is another one.
    fn recover(&self, py: Python<'_>, error: PyErr, place: impl FnOnce() -> PyResult<Range<u64>>) -> PyResult<bool> {
        match &self.recovery {
            Some(recovery) if is_decode_error(py, &error) => {
                let place = place()?;
                let region = SkippedRegion {
                    begin: place.start,
                    end: place.end,
                    message: error.value(py).str()?.extract()?,
                };
                recovery.ask(py, region)
            }
            _ => Err(error),
        }
    }

    /// Notes that a call failed, and returns the exception of it.
    pub(crate) fn fail(&self, py: Python<'_>, error: Error) -> PyErr {
        self.failed.store(true, Ordering::Relaxed);
        raise(py, error)
    }

    /// Calls `work` with the reader while the interpreter is released.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Reader) -> Result<T, Error> + Send) -> PyResult<T> {
        let mut reader = self.take_out(Slot::InUse)?;
        let result = py.detach(|| work(&mut reader));
        self.put_back(reader);
        self.check_recovery()?;
        self.failed.store(false, Ordering::Relaxed);
        result.map_err(|error| self.fail(py, error))
    }

    /// Takes the reader out, and leaves `instead` in its place.
    pub(crate) fn take_out(&self, instead: Slot) -> PyResult<Box<Reader>> {
        take(&mut self.slot(), instead)
    }

    pub(crate) fn put_back(&self, reader: Box<Reader>) {
        *self.slot() = Slot::Ready(reader);
    }

    /// Raises what the recovery function raised.
    pub(crate) fn check_recovery(&self) -> PyResult<()> {
        let raised = self.recovery.as_ref().and_then(|recovery| recovery.take_raised());
        raised.map_or(Ok(()), Err)
    }

    pub(crate) fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn options(&self) -> MutexGuard<'_, ReaderOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the reader out of its place.
fn take(slot: &mut Slot, instead: Slot) -> PyResult<Box<Reader>> {
    match std::mem::replace(slot, instead) {
        Slot::Ready(reader) => Ok(reader),
        other => {
            let error = match &other {
                Slot::Closed { .. } => closed(),
                _ => in_use(),
            };
            *slot = other;
            Err(error)
        }
    }
}

/// Parses a record as a message of `message_type`.
pub(crate) fn parse<'py>(
    message_type: &Bound<'py, PyAny>,
    record: &Bound<'py, PyBytes>,
) -> PyResult<Bound<'py, PyAny>> {
    message_type.call_method1("FromString", (record,))
}

/// Reads a field projection: paths of field numbers, `None` for all.
fn projection(paths: Option<&Bound<'_, PyAny>>) -> PyResult<FieldProjection> {
    match paths {
        Some(paths) => projection_of(paths.py(), &field_paths(paths)?),
        None => Ok(FieldProjection::all()),
    }
}

/// Reads paths of field numbers.
pub(crate) fn field_paths(paths: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u32>>> {
    let path = |path: Bound<'_, PyAny>| path.try_iter()?.map(|number| number?.extract()).collect();
    paths.try_iter()?.map(|found| path(found?)).collect()
}

/// Returns the projection that keeps the fields at `paths`.
pub(crate) fn projection_of(py: Python<'_>, paths: &[Vec<u32>]) -> PyResult<FieldProjection> {
    let fields = paths.iter().map(|path| Field::new(path.as_slice()));
    fields.collect::<Result<_, Error>>().map_err(|error| raise(py, error))
}

#[cold]
fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "the reader is in use: by another thread, or by the call that this function was called from",
    )
}

#[cold]
fn closed() -> PyErr {
    PyValueError::new_err("the reader is closed")
}
