//! Records of many files by one number, as PyTorch's DataLoader and Grain ask for them.
//!
//! Where every record is, is found out once, from the chunk headers or from the index of an ArrayRecord file. A record then takes a binary search and, unless its
//! chunk lies decoded in the cache, one chunk to read.
//!
//! Names and behaviours follow google/array_record, `python/array_record_data_source.py`. There, batches are read by a pool
//! of threads, which a forked process would not have; here nothing outlives a call, and who wants threads calls from several.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use pyo3::{
    exceptions::{PyFileNotFoundError, PyIndexError, PyValueError},
    prelude::*,
    types::{PyBytes, PyDict, PyList, PySlice, PyTuple},
};
use tidemill_riegeli::{
    ArrayRecordProblem, Error, FileSource, ReaderOptions, RecordIndex, RecordPosition, array_record::ArrayRecordReader,
};

use crate::{
    chunk_cache::ChunkCache,
    error::{DataLossError, raise},
    record_reader::{field_paths, projection_of},
};

/// The reader of a file of the data source.
pub(crate) type ShardReader = tidemill_riegeli::RecordReader<FileSource>;

/// The records of one or more Riegeli/records or ArrayRecord files, by number: len(source), source[i], source[i:j],
/// source.__getitems__([i, j]).
///
/// It can be pickled, and used after a fork and from several threads. A pickle has the paths and options; who loads it opens
/// the files again.
///
/// paths: a path, a pattern such as 'data-*-of-00010', or a list of both. Files of a pattern are sorted by name.
/// field_projection: as for RecordReader.
/// cached_chunks: how many decoded chunks, with their open files, are kept for the next records.
#[pyclass(module = "tidemill_riegeli", frozen, subclass, weakref)]
pub(crate) struct RecordDataSource {
    shards: Vec<Shard>,
    /// For each file, how many records there are in it and those before.
    ends: Vec<u64>,
    options: ReaderOptions,
    /// As it was given, for the pickle.
    field_projection: Option<Vec<Vec<u32>>>,
    cached_chunks: usize,
    cache: Mutex<ChunkCache>,
}

struct Shard {
    path: PathBuf,
    index: RecordIndex,
}

/// Where a record of the source is.
#[derive(Clone, Copy)]
struct Place {
    shard: usize,
    position: RecordPosition,
}

#[pymethods]
impl RecordDataSource {
    #[new]
    #[pyo3(signature = (paths, *, field_projection=None, cached_chunks=16))]
    fn new(
        py: Python<'_>,
        paths: &Bound<'_, PyAny>,
        field_projection: Option<&Bound<'_, PyAny>>,
        cached_chunks: usize,
    ) -> PyResult<Self> {
        let field_projection = field_projection.map(field_paths).transpose()?;
        let mut options = ReaderOptions::new();
        if let Some(paths) = &field_projection {
            options = options.field_projection(projection_of(py, paths)?);
        }
        let paths = expand(paths)?;
        let shards = py
            .detach(|| open_all(paths, &options))
            .map_err(|error| raise(py, error))?;
        let ends = shards.iter().scan(0_u64, |end, shard| {
            *end = end.saturating_add(shard.index.len());
            Some(*end)
        });
        Ok(Self {
            ends: ends.collect(),
            shards,
            options,
            field_projection,
            cached_chunks,
            cache: Mutex::new(ChunkCache::new(cached_chunks)),
        })
    }

    /// The paths of the files.
    #[getter]
    fn paths(&self) -> Vec<&OsStr> {
        self.shards.iter().map(|shard| shard.path.as_os_str()).collect()
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.len())?)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, record_key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = record_key.cast::<PySlice>() {
            let length = isize::try_from(self.len())?;
            let range = slice.indices(length)?;
            let mut keys = Vec::with_capacity(range.slicelength);
            let mut key = range.start;
            for _ in 0..range.slicelength {
                // Within 0 and the number of records, by what `indices` promises.
                keys.push(u64::try_from(key)?);
                key += range.step;
            }
            return Ok(self.read_many(py, &keys)?.into_any());
        }
        let place = self.place(self.number(record_key)?)?;
        let mut record = None;
        self.read_chunk(py, &[place], |_, bytes| record = Some(bytes))?;
        record.map(Bound::into_any).ok_or_else(|| out_of_range(self.len()))
    }

    /// Returns the records of these numbers, in their order. Records of one chunk are read together.
    fn __getitems__<'py>(&self, py: Python<'py>, record_keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let keys = record_keys.try_iter()?.map(|key| self.number(&key?));
        self.read_many(py, &keys.collect::<PyResult<Vec<u64>>>()?)
    }

    /// Lets the decoded chunks and open files go. The source can still be used.
    fn close(&self, py: Python<'_>) {
        let idle = self.cache().clear();
        py.detach(|| drop(idle));
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _exc_type: &Bound<'_, PyAny>,
        _exc_value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> bool {
        self.close(py);
        false
    }

    /// The same for the same paths, so that a checkpoint of Grain is recognised.
    fn __repr__(&self) -> String {
        let mut paths = Vec::new();
        for shard in &self.shards {
            paths.extend_from_slice(shard.path.as_os_str().as_encoded_bytes());
            paths.push(0);
        }
        let hash = tidemill_riegeli::hash(&paths);
        format!(
            "RecordDataSource(files={}, records={}, hash_of_paths={hash:016x})",
            self.shards.len(),
            self.len()
        )
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("field_projection", &self.field_projection)?;
        options.set_item("cached_chunks", self.cached_chunks)?;
        Ok(((self.paths(),).into_pyobject(py)?, options))
    }
}

impl RecordDataSource {
    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Reads a record's number, which counts from the end when it is negative.
    fn number(&self, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let number: i64 = key.extract()?;
        let number = match u64::try_from(number) {
            Ok(number) => Some(number),
            Err(_) => self.len().checked_sub(number.unsigned_abs()),
        };
        number
            .filter(|&number| number < self.len())
            .ok_or_else(|| out_of_range(self.len()))
    }

    fn place(&self, number: u64) -> PyResult<Place> {
        let shard = self.ends.partition_point(|&end| end <= number);
        let before = match shard.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        let position = self
            .shards
            .get(shard)
            .and_then(|found| found.index.position(number - before));
        let position = position.ok_or_else(|| out_of_range(self.len()))?;
        Ok(Place { shard, position })
    }

    fn read_many<'py>(&self, py: Python<'py>, numbers: &[u64]) -> PyResult<Bound<'py, PyList>> {
        let places = numbers.iter().map(|&number| self.place(number));
        let places = places.collect::<PyResult<Vec<Place>>>()?;
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&at| numbers.get(at));
        let mut records: Vec<Option<Bound<'py, PyBytes>>> = vec![None; places.len()];
        let of_chunk = |&at: &usize| places.get(at).map(|place| (place.shard, place.position.chunk_begin));
        for together in order.chunk_by(|a, b| of_chunk(a) == of_chunk(b)) {
            let wanted: Vec<Place> = together.iter().filter_map(|&at| places.get(at).copied()).collect();
            self.read_chunk(py, &wanted, |nth, bytes| {
                if let Some(record) = together.get(nth).and_then(|&at| records.get_mut(at)) {
                    *record = Some(bytes);
                }
            })?;
        }
        PyList::new(py, records)
    }

    /// Gives each of the records at `places`, which are all in one chunk, to `give`, with its number among them.
    fn read_chunk<'py>(
        &self,
        py: Python<'py>,
        places: &[Place],
        mut give: impl FnMut(usize, Bound<'py, PyBytes>),
    ) -> PyResult<()> {
        let Some(first) = places.first() else {
            return Ok(());
        };
        let (shard, chunk) = (first.shard, first.position.chunk_begin);
        let taken = self.cache().take(shard, chunk);
        let mut reader = match taken {
            Some((reader, true)) => reader,
            other => py
                .detach(|| self.load(other.map(|(reader, _)| reader), *first))
                .map_err(|error| raise(py, error))?,
        };
        for (nth, place) in places.iter().enumerate() {
            // Inside the decoded chunk nothing is read.
            let found = reader.seek(place.position).map_err(|error| raise(py, error))?;
            let record = match found {
                true => reader.read_record().map_err(|error| raise(py, error))?,
                false => None,
            };
            let record = record
                .map(|record| PyBytes::new(py, record))
                .ok_or_else(|| changed(self.path(shard)))?;
            if reader.last_pos() != place.position {
                return Err(changed(self.path(shard)));
            }
            give(nth, record);
        }
        // Those that are left over close their files.
        let left_over = self.cache().put(shard, chunk, reader);
        if left_over.is_some() {
            py.detach(|| drop(left_over));
        }
        Ok(())
    }

    /// Decodes the chunk of `place`, with a reader of the same file if there is one.
    fn load(&self, reader: Option<Box<ShardReader>>, place: Place) -> Result<Box<ShardReader>, Error> {
        let mut reader = match reader {
            Some(reader) => reader,
            None => Box::new(ShardReader::open(self.path(place.shard), &self.options)?),
        };
        reader.seek(place.position)?;
        // Decodes the chunk, if seeking did not; the record is read again from there.
        reader.read_record()?;
        Ok(reader)
    }

    fn path(&self, shard: usize) -> &Path {
        self.shards.get(shard).map_or("".as_ref(), |shard| shard.path.as_path())
    }

    fn cache(&self) -> MutexGuard<'_, ChunkCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the files and finds their records, several at a time: on file systems far away each file takes a while.
fn open_all(paths: Vec<PathBuf>, options: &ReaderOptions) -> Result<Vec<Shard>, Error> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(at) else {
                return Ok(done);
            };
            done.push((at, index(path, options)?));
        }
    };
    let found: Result<Vec<Vec<(usize, RecordIndex)>>, Error> = std::thread::scope(|scope| {
        // This thread is one of them. Where no more can be started, those that are do the work.
        let more = (1..paths.len().min(OPENING_THREADS))
            .map_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok());
        let threads: Vec<_> = more.collect();
        let mut found = vec![work()];
        for thread in threads {
            found.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        found.into_iter().collect()
    });
    let mut found: Vec<(usize, RecordIndex)> = found?.into_iter().flatten().collect();
    found.sort_by_key(|(at, _)| *at);
    let shards = paths.into_iter().zip(found);
    Ok(shards.map(|(path, (_, index))| Shard { path, index }).collect())
}

/// Finds the records of a file: those of an ArrayRecord file by its own index, which is not among them, and without which it is
/// damaged.
fn index(path: &Path, options: &ReaderOptions) -> Result<RecordIndex, Error> {
    match ArrayRecordReader::open(path, options) {
        Ok(reader) => Ok(RecordIndex::of_array_record(&reader)),
        Err(Error::ArrayRecord {
            problem: ArrayRecordProblem::Size { .. } | ArrayRecordProblem::NoPostscript { .. },
            ..
        }) => ShardReader::open(path, &options.clone().stop_at_footer(true))?.index_records(),
        Err(error) => Err(error),
    }
}

/// How many files are opened at a time.
const OPENING_THREADS: usize = 16;

/// Reads what a data source is made of: paths and patterns, one or a sequence of them.
fn expand(paths: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let mut expanded = Vec::new();
    if let Ok(path) = paths.extract::<PathBuf>() {
        expand_one(paths.py(), path, &mut expanded)?;
    } else {
        for path in paths.try_iter()? {
            expand_one(paths.py(), path?.extract()?, &mut expanded)?;
        }
    }
    match expanded.is_empty() {
        true => Err(PyValueError::new_err("a data source needs at least one path")),
        false => Ok(expanded),
    }
}

/// Adds a path, or the files that it is a pattern of. A file may have the name of a pattern.
fn expand_one(py: Python<'_>, path: PathBuf, expanded: &mut Vec<PathBuf>) -> PyResult<()> {
    let is_pattern = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(|byte| b"*?[".contains(byte));
    if !is_pattern || path.exists() {
        expanded.push(path);
        return Ok(());
    }
    let mut found: Vec<PathBuf> = py
        .import("glob")?
        .call_method1("glob", (path.as_os_str(),))?
        .extract()?;
    if found.is_empty() {
        return Err(PyFileNotFoundError::new_err(format!(
            "no file is like {}",
            path.display()
        )));
    }
    found.sort();
    expanded.append(&mut found);
    Ok(())
}

#[cold]
fn out_of_range(len: u64) -> PyErr {
    PyIndexError::new_err(format!("the record number is out of range: there are {len} records"))
}

#[cold]
fn changed(path: &Path) -> PyErr {
    DataLossError::new_err(format!(
        "{}: a record is not where it was when the file was opened",
        path.display()
    ))
}
