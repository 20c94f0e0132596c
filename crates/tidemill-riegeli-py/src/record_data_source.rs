//! Records of many files by one number, as PyTorch's DataLoader and Grain ask for them.
//!
//! Where every record is, is found out once, from the chunk headers or from the index of an ArrayRecord file. A record then takes a binary search and, unless its
//! chunk lies decoded in the cache, one chunk to read.
//!
//! Names and behaviours follow google/array_record, `python/array_record_data_source.py`. There, batches are read by a pool
//! of threads, which a forked process would not have; here nothing outlives a call, and who wants threads calls from several.

use std::{
    ffi::{OsStr, OsString},
    ops::Range,
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
/// paths: one of these, or a list of them:
///   a path;
///   a pattern such as 'data-*-of-00010', whose files are sorted by name;
///   'data.array_record@10' for the ten files data.array_record-00000-of-00010 and so on;
///   'data.array_record[100:200]' for some of the records of a file;
///   an object with filename, skip and take, as the FileInstruction of TFDS, for the same.
///   A file that has such a name is that file.
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
    /// The records of the file that are records of the source.
    range: Range<u64>,
    /// Whether these were asked for, and not all that there are.
    is_part: bool,
}

impl Shard {
    fn len(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// Returns what the shard is opened by: its path, and the records if they are not all.
    fn name(&self) -> OsString {
        let mut name = self.path.as_os_str().to_owned();
        if self.is_part {
            name.push(format!("[{}:{}]", self.range.start, self.range.end));
        }
        name
    }
}

/// What is asked for of a file.
struct Part {
    path: PathBuf,
    /// The first record, and how many; all that are behind it if that is not said.
    skip: u64,
    take: Option<u64>,
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
        let parts = expand(paths)?;
        let shards = py.detach(|| open_all(parts, &options));
        let shards = shards.map_err(|failure| match failure {
            Failure::Library(error) => raise(py, error),
            Failure::Part(problem) => PyValueError::new_err(problem),
        })?;
        let ends = shards.iter().scan(0_u64, |end, shard| {
            *end = end.saturating_add(shard.len());
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
            paths.extend_from_slice(shard.name().as_encoded_bytes());
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
        let names: Vec<OsString> = self.shards.iter().map(Shard::name).collect();
        Ok(((names,).into_pyobject(py)?, options))
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
            .and_then(|found| found.index.position(found.range.start + (number - before)));
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

/// Why a source cannot be opened.
enum Failure {
    Library(Error),
    /// There are not the records that were asked for.
    Part(String),
}

/// Opens the files and finds their records, several at a time: on file systems far away each file takes a while.
fn open_all(parts: Vec<Part>, options: &ReaderOptions) -> Result<Vec<Shard>, Failure> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(at) else {
                return Ok(done);
            };
            done.push((at, open_part(part, options)?));
        }
    };
    let found: Result<Vec<Vec<(usize, Shard)>>, Failure> = std::thread::scope(|scope| {
        // This thread is one of them. Where no more can be started, those that are do the work.
        let more = (1..parts.len().min(OPENING_THREADS))
            .map_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok());
        let threads: Vec<_> = more.collect();
        let mut found = vec![work()];
        for thread in threads {
            found.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        found.into_iter().collect()
    });
    let mut found: Vec<(usize, Shard)> = found?.into_iter().flatten().collect();
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, shard)| shard).collect())
}

fn open_part(part: &Part, options: &ReaderOptions) -> Result<Shard, Failure> {
    let index = index(&part.path, options).map_err(Failure::Library)?;
    let end = match part.take {
        None => Some(index.len()),
        Some(take) => part.skip.checked_add(take),
    };
    match end {
        Some(end) if part.skip <= end && end <= index.len() => Ok(Shard {
            path: part.path.clone(),
            range: part.skip..end,
            is_part: part.skip > 0 || end < index.len(),
            index,
        }),
        _ => Err(Failure::Part(format!(
            "{}: records from {} on, {} of them, are asked for, and there are {}",
            part.path.display(),
            part.skip,
            part.take.unwrap_or_default(),
            index.len()
        ))),
    }
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

/// Reads what a data source is made of: one of what [`expand_one`] takes, or a sequence of them.
fn expand(paths: &Bound<'_, PyAny>) -> PyResult<Vec<Part>> {
    let mut expanded = Vec::new();
    if paths.extract::<PathBuf>().is_ok() || is_file_instruction(paths)? {
        expand_one(paths, &mut expanded)?;
    } else {
        for path in paths.try_iter()? {
            expand_one(&path?, &mut expanded)?;
        }
    }
    match expanded.is_empty() {
        true => Err(PyValueError::new_err("a data source needs at least one path")),
        false => Ok(expanded),
    }
}

fn is_file_instruction(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(item.hasattr("filename")? && item.hasattr("skip")? && item.hasattr("take")?)
}

/// Adds the files that a path, a pattern, a number of shards, a part of a file or a file instruction stands for. A file may have the
/// name of any of these.
fn expand_one(item: &Bound<'_, PyAny>, expanded: &mut Vec<Part>) -> PyResult<()> {
    if is_file_instruction(item)? {
        expanded.push(Part {
            path: item.getattr("filename")?.extract()?,
            skip: item.getattr("skip")?.extract()?,
            // A negative number takes all, as TFDS has it.
            take: u64::try_from(item.getattr("take")?.extract::<i64>()?).ok(),
        });
        return Ok(());
    }
    let path: PathBuf = item.extract()?;
    let whole = |path: PathBuf| Part {
        path,
        skip: 0,
        take: None,
    };
    if path.exists() {
        expanded.push(whole(path));
        return Ok(());
    }
    if let Some(part) = path.to_str().and_then(part_of_file) {
        expanded.push(part);
        return Ok(());
    }
    if let Some(shards) = path.to_str().and_then(shards) {
        expanded.extend(shards.map(whole));
        return Ok(());
    }
    let is_pattern = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(|byte| b"*?[".contains(byte));
    if !is_pattern {
        expanded.push(whole(path));
        return Ok(());
    }
    let glob = item.py().import("glob")?;
    let mut found: Vec<PathBuf> = glob.call_method1("glob", (path.as_os_str(),))?.extract()?;
    if found.is_empty() {
        return Err(PyFileNotFoundError::new_err(format!(
            "no file is like {}",
            path.display()
        )));
    }
    found.sort();
    expanded.extend(found.into_iter().map(whole));
    Ok(())
}

/// Reads `PATH[BEGIN:END]`.
fn part_of_file(text: &str) -> Option<Part> {
    let (path, range) = text.strip_suffix(']')?.rsplit_once('[')?;
    let (begin, end) = range.split_once(':')?;
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| is_number)
    };
    let (begin, end) = (number(begin)?, number(end)?);
    Some(Part {
        path: path.into(),
        skip: begin,
        take: Some(end.checked_sub(begin)?),
    })
}

/// Reads `NAME@COUNT`, and returns the names of the shards.
fn shards(text: &str) -> Option<impl Iterator<Item = PathBuf>> {
    let (name, count) = text.rsplit_once('@')?;
    let is_number = !name.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    let count: u32 = count
        .parse()
        .ok()
        .filter(|count| is_number && (1..=MOST_SHARDS).contains(count))?;
    let name = name.to_owned();
    Some((0..count).map(move |number| format!("{name}-{number:05}-of-{count:05}").into()))
}

/// Names of shards have five digits.
const MOST_SHARDS: u32 = 99_999;

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
