//! Sorts the keys of a new order: in memory, and when they take more than a limit in runs in a temporary file.
//!
//! In memory the first eight bytes of each key are compared as one number, already in the order's collation and direction;
//! only when these are equal are the keys themselves looked at, and then the records. A run in the file is a sorted part;
//! at the end the runs are read side by side, the lowest entry first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::storage::DataFile;
use crate::{own_name, regular_file};

use super::IndexDialect;
use super::key_order::KeyOrder;
use super::order_spec::OrderSpec;

/// How far a new order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The keys that were taken in, and then those that were packed into pages.
    pub keys: u64,
    /// How many there are; `None` while they are taken in.
    pub total: Option<u64>,
}

type Report = Box<dyn FnMut(Progress) -> ControlFlow<()> + Send>;

/// The keys of one new order, for [`IndexBuilder::add`](super::IndexBuilder::add).
pub struct KeySorter {
    name: String,
    key_len: usize,
    record_count: u32,
    order: KeyOrder,
    is_unique: bool,
    is_candidate: bool,
    memory_limit: usize,
    keys: Vec<u8>,
    recnos: Vec<u32>,
    /// The bytes of each run of the file.
    runs: Vec<u64>,
    file: Option<TemporaryFile>,
    count: u64,
    report: Option<Report>,
}

/// How many keys go by between two reports.
const REPORT_EVERY: u64 = 1 << 12;

impl KeySorter {
    /// A sorter for a table of `record_count` records.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a length that keys of the order's type do not have.
    pub fn new(order: &OrderSpec, dialect: IndexDialect, record_count: u32) -> Result<Self> {
        order.codec(dialect)?;
        Ok(Self {
            name: order.name.clone(),
            key_len: order.key_len,
            record_count,
            order: order.key_order(dialect),
            is_unique: order.is_unique,
            is_candidate: order.is_candidate,
            memory_limit: 256 << 20,
            keys: Vec::new(),
            recnos: Vec::new(),
            runs: Vec::new(),
            file: None,
            count: 0,
            report: None,
        })
    }

    /// About how much memory keys may take before they go to a temporary file. Default: 256 MiB.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Is told every few thousand keys how far the order is, and stops it by [`ControlFlow::Break`]. Default: none.
    #[must_use]
    pub fn progress(mut self, report: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static) -> Self {
        self.report = Some(Box::new(report));
        self
    }

    /// Who is told cannot stop the order any more.
    pub(crate) fn without_stop(mut self) -> Self {
        self.report = self.report.take().map(|mut report| -> Report {
            Box::new(move |progress| {
                let _ = report(progress);
                ControlFlow::Continue(())
            })
        });
        self
    }

    pub(crate) fn is_candidate(&self) -> bool {
        self.is_candidate
    }

    /// Takes a key in, of the order's key length, and its record.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a key of another length and a record that the table does not have; [`Error::Cancelled`];
    /// [`Error::Io`].
    pub fn push(&mut self, key: &[u8], recno: u32) -> Result<()> {
        if key.len() != self.key_len {
            return self.refuse(&format!("a key of {} bytes, not {}", key.len(), self.key_len));
        }
        if recno == 0 || recno > self.record_count {
            return self.refuse(&format!("record {recno} of a table of {}", self.record_count));
        }
        self.keys.extend_from_slice(key);
        self.recnos.push(recno);
        self.count += 1;
        if self.count.is_multiple_of(REPORT_EVERY) {
            self.tell(Progress {
                keys: self.count,
                total: None,
            })?;
        }
        // Beside key and record there is a place of 16 bytes for each while they are sorted.
        if self.keys.len() + 20 * self.recnos.len() >= self.memory_limit {
            self.write_run()?;
        }
        Ok(())
    }

    /// Whether the order can be made: two records of one key are an error in a candidate index.
    pub(crate) fn check(self) -> Result<()> {
        self.finish(|_, _| Ok(()))
    }

    /// As [`KeySorter::finish`], for who compares the entries with those of a file.
    pub(crate) fn each(self, give: impl FnMut(&[u8], u32) -> Result<()>) -> Result<()> {
        self.finish(give)
    }

    /// Gives the entries in the order of its tree to `give`; of equal keys only the first when they are to be unique.
    pub(super) fn finish(mut self, mut give: impl FnMut(&[u8], u32) -> Result<()>) -> Result<()> {
        let (is_unique, is_candidate) = (self.is_unique, self.is_candidate);
        let (total, order) = (self.count, self.order.clone());
        let (mut last, mut done) = (None::<(Vec<u8>, u32)>, 0);
        let mut report = self.report.take();
        let mut give = |key: &[u8], recno: u32| {
            done += 1;
            if done % REPORT_EVERY == 0 {
                tell(
                    &mut report,
                    Progress {
                        keys: done,
                        total: Some(total),
                    },
                )?;
            }
            if is_unique || is_candidate {
                match &mut last {
                    Some((last, holder)) if order.compare(last, key).is_eq() => {
                        let holder = *holder;
                        return if is_unique {
                            Ok(())
                        } else {
                            Err(Error::DuplicateKey { record: recno, holder })
                        };
                    }
                    Some((last, holder)) => {
                        last.copy_from_slice(key);
                        *holder = recno;
                    }
                    none => *none = Some((key.to_vec(), recno)),
                }
            }
            give(key, recno)
        };
        if self.runs.is_empty() {
            for place in self.sorted() {
                let (key, recno) = self.entry(place);
                give(key, recno)?;
            }
            return Ok(());
        }
        self.write_run()?;
        self.merge(&mut give)
    }

    fn entry(&self, place: u32) -> (&[u8], u32) {
        let place = place as usize;
        let begin = place * self.key_len;
        let key = self.keys.get(begin..begin + self.key_len).unwrap_or_default();
        (key, self.recnos.get(place).copied().unwrap_or_default())
    }

    /// The places of the entries in memory, sorted.
    fn sorted(&self) -> Vec<u32> {
        let keys = self.keys.chunks_exact(self.key_len.max(1));
        let mut places: Vec<(u64, u32)> = keys
            .zip(0..)
            .map(|(key, place)| (self.order.prefix(key), place))
            .collect();
        if self.key_len <= 8 && self.order.is_by_bytes_alone() && self.recnos.is_sorted() {
            // The number is all of the key, and places ascend as records do.
            places.sort_unstable();
        } else {
            places.sort_unstable_by(|a, b| {
                a.0.cmp(&b.0).then_with(|| {
                    let (a, b) = (self.entry(a.1), self.entry(b.1));
                    self.order.compare(a.0, b.0).then(a.1.cmp(&b.1))
                })
            });
        }
        places.into_iter().map(|(_, place)| place).collect()
    }

    /// Sorts what is in memory and writes it to the file.
    fn write_run(&mut self) -> Result<()> {
        let places = self.sorted();
        let mut bytes = Vec::with_capacity(places.len() * (self.key_len + 4));
        for place in places {
            let (key, recno) = self.entry(place);
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(&recno.to_le_bytes());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(TemporaryFile::create()?),
        };
        file.file.write(self.runs.iter().sum(), &bytes)?;
        self.runs.push(bytes.len() as u64);
        self.keys.clear();
        self.recnos.clear();
        Ok(())
    }

    fn merge(&self, give: &mut impl FnMut(&[u8], u32) -> Result<()>) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let width = self.key_len + 4;
        let window = (self.memory_limit / self.runs.len().max(1)).clamp(width, 1 << 20) / width * width;
        let mut heap = BinaryHeap::with_capacity(self.runs.len());
        let mut at = 0;
        for run in &self.runs {
            let reader = RunReader {
                order: &self.order,
                key_len: self.key_len,
                at,
                end: at + run,
                window: Vec::new(),
                place: 0,
                capacity: window,
            };
            at += run;
            heap.extend(reader.filled(&file.file)?);
        }
        while let Some(mut run) = heap.pop() {
            let (key, recno) = run.entry();
            give(key, recno)?;
            run.place += width;
            heap.extend(run.filled(&file.file)?);
        }
        Ok(())
    }

    fn tell(&mut self, progress: Progress) -> Result<()> {
        tell(&mut self.report, progress)
    }

    fn refuse<T>(&self, why: &str) -> Result<T> {
        Err(Error::Misuse(format!("index tag {}: {why}", self.name)))
    }
}

impl std::fmt::Debug for KeySorter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySorter")
            .field("name", &self.name)
            .field("count", &self.count)
            .field("runs", &self.runs.len())
            .finish_non_exhaustive()
    }
}

fn tell(report: &mut Option<Report>, progress: Progress) -> Result<()> {
    match report.as_mut().map(|report| report(progress)) {
        Some(ControlFlow::Break(())) => Err(Error::Cancelled),
        _ => Ok(()),
    }
}

/// A run that is read window by window. Of two the greater one is that whose entry comes first, as a heap wants it.
struct RunReader<'a> {
    order: &'a KeyOrder,
    key_len: usize,
    at: u64,
    end: u64,
    window: Vec<u8>,
    place: usize,
    capacity: usize,
}

impl RunReader<'_> {
    /// With an entry in its window; `None` behind the last one.
    fn filled(mut self, file: &DataFile) -> Result<Option<Self>> {
        if self.place >= self.window.len() {
            let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
            if left == 0 {
                return Ok(None);
            }
            self.window.resize(left.min(self.capacity), 0);
            file.read("sorted keys", self.at, &mut self.window)?;
            self.at += self.window.len() as u64;
            self.place = 0;
        }
        Ok(Some(self))
    }

    fn entry(&self) -> (&[u8], u32) {
        let entry = self.window.get(self.place..self.place + self.key_len + 4);
        let (key, recno) = entry.and_then(<[u8]>::split_last_chunk::<4>).unwrap_or((&[], &[0; 4]));
        (key, u32::from_le_bytes(*recno))
    }
}

impl Ord for RunReader<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.entry(), other.entry());
        self.order.compare(b.0, a.0).then(b.1.cmp(&a.1))
    }
}

impl PartialOrd for RunReader<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunReader<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RunReader<'_> {}

/// A file in the system's folder for such, removed when it is dropped.
struct TemporaryFile {
    file: DataFile,
    path: PathBuf,
}

impl TemporaryFile {
    fn create() -> Result<Self> {
        let (path, file) = own_name::make(&std::env::temp_dir(), own_name::PREFIX, ".keys", regular_file::create)?;
        Ok(Self {
            file: DataFile::new(&path, Box::new(Arc::new(file))),
            path,
        })
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // What cannot be removed is in the way of nobody.
        let _ = std::fs::remove_file(&self.path);
    }
}
