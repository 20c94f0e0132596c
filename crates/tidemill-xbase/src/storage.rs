//! A file that is written in place, behind a trait so that tests can let the nth write fail.
//!
//! What is written is visible to other programs at once, but for what [`WaitingWrites`](crate::waiting_writes) keeps back.

use std::fmt;
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::stamp::FileStamp;
use crate::waiting_writes::WaitingWrites;

/// What writing in place asks of a file.
pub(crate) trait Storage: fmt::Debug + Send + Sync {
    fn len(&self) -> io::Result<u64>;
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    fn set_len(&self, len: u64) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;

    /// Whether what was written may be taken back.
    fn takes_back(&self) -> bool {
        false
    }

    /// How often something that was written was taken back, as when a transaction is rolled back.
    fn taken_back(&self) -> u64 {
        0
    }

    /// About how many bytes wait in memory to be written.
    fn waiting(&self) -> usize {
        0
    }

    /// Writes what waits in memory, all of it or nothing.
    fn write_out(&self) -> io::Result<()> {
        Ok(())
    }

    /// What the file looks like, if it holds all that was written: `None` while something waits or lies over it.
    fn stamp(&self) -> Option<FileStamp> {
        None
    }

    /// The storage as one whose way can be changed, if it is.
    fn as_switched(&self) -> Option<&Switched> {
        None
    }
}

/// A storage with its name; a clone is another handle on the same.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    path: PathBuf,
    storage: Arc<dyn Storage>,
}

impl DataFile {
    pub(crate) fn new(path: &Path, storage: Box<dyn Storage>) -> Self {
        Self {
            path: path.to_owned(),
            storage: Arc::from(storage),
        }
    }

    /// Bytes that are only read.
    pub(crate) fn in_memory(path: &Path, bytes: Vec<u8>) -> Self {
        Self::new(path, Box::new(Memory(bytes)))
    }

    /// Bytes that are changed in memory.
    pub(crate) fn scratch(path: &Path, bytes: Vec<u8>) -> Self {
        Self::new(path, Box::new(Scratch(Mutex::new(bytes))))
    }

    pub(crate) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn len(&self) -> Result<u64> {
        self.storage.len().map_err(|e| Error::io(&self.path, "read", e))
    }

    /// Fills `buf` from `offset` on.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the file ends before, perhaps because another program shortened it.
    pub(crate) fn read(&self, what: impl fmt::Display, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.storage.read_exact_at(buf, offset).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => {
                let expected = format!("{} bytes", buf.len());
                Error::corrupt(&self.path, what.to_string(), offset, expected, "the end of the file")
            }
            _ => Error::io(&self.path, "read", e),
        })
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.storage
            .write_all_at(bytes, offset)
            .map_err(|e| Error::io(&self.path, "write", e))
    }

    pub(crate) fn set_len(&self, len: u64) -> Result<()> {
        self.storage.set_len(len).map_err(|e| Error::io(&self.path, "write", e))
    }

    /// As [`Storage::taken_back`].
    pub(crate) fn taken_back(&self) -> u64 {
        self.storage.taken_back()
    }

    /// As [`Storage::waiting`].
    pub(crate) fn waiting(&self) -> usize {
        self.storage.waiting()
    }

    /// As [`Storage::write_out`].
    pub(crate) fn write_out(&self) -> Result<()> {
        self.storage.write_out().map_err(|e| Error::io(&self.path, "write", e))
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.storage.sync().map_err(|e| Error::io(&self.path, "sync", e))
    }
}

/// A file that is read and written straight, with changes that wait in memory, or through something that lies over it for a
/// while.
#[derive(Debug)]
pub(crate) struct Switched {
    /// The file, and what waits to be written to it.
    waiting: WaitingWrites<Arc<File>>,
    over: RwLock<Option<Box<dyn Storage>>>,
    /// Which way it goes, so that nobody has to wait to learn that nothing lies over it.
    way: AtomicU8,
    /// Whether what lies over it takes something back, for the same reason.
    takes_back: AtomicBool,
    /// What was taken back through those that lie over it no more.
    taken_back: AtomicU64,
}

/// The way to a file.
#[derive(Debug)]
pub(crate) enum Way {
    Straight,
    /// Changes wait in memory.
    Waiting,
    Through(Box<dyn Storage>),
}

impl Way {
    const STRAIGHT: u8 = 0;
    const WAITING: u8 = 1;
    const THROUGH: u8 = 2;
}

impl Switched {
    pub(crate) fn new(file: Arc<File>) -> Self {
        Self {
            waiting: WaitingWrites::over(file),
            over: RwLock::new(None),
            way: AtomicU8::new(Way::STRAIGHT),
            takes_back: AtomicBool::new(false),
            taken_back: AtomicU64::new(0),
        }
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        self.waiting.below()
    }

    /// Goes another way from now on. Nothing waits.
    pub(crate) fn switch(&self, way: Way) {
        let (number, over) = match way {
            Way::Straight => (Way::STRAIGHT, None),
            Way::Waiting => (Way::WAITING, None),
            Way::Through(over) => (Way::THROUGH, Some(over)),
        };
        self.waiting.begin();
        let mut place = self.over.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = place.take() {
            self.taken_back.fetch_add(old.taken_back(), Ordering::AcqRel);
        }
        let takes_back = over.as_ref().is_some_and(|over| over.takes_back());
        self.takes_back.store(takes_back, Ordering::Release);
        *place = over;
        self.way.store(number, Ordering::Release);
    }

    fn with<T>(&self, work: impl FnOnce(&dyn Storage) -> T) -> T {
        if self.way.load(Ordering::Acquire) == Way::THROUGH {
            let over = self.over.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(over) = &*over {
                return work(&**over);
            }
        }
        match self.way.load(Ordering::Acquire) {
            Way::WAITING => work(&self.waiting),
            _ => work(self.file()),
        }
    }
}

impl Storage for Switched {
    fn len(&self) -> io::Result<u64> {
        self.with(|storage| storage.len())
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.with(|storage| storage.read_exact_at(buf, offset))
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.with(|storage| storage.write_all_at(bytes, offset))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with(|storage| storage.set_len(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.with(|storage| storage.sync())
    }

    fn taken_back(&self) -> u64 {
        let before = self.taken_back.load(Ordering::Acquire);
        match self.takes_back.load(Ordering::Acquire) {
            true => before + self.with(|storage| storage.taken_back()),
            false => before,
        }
    }

    fn waiting(&self) -> usize {
        self.with(|storage| storage.waiting())
    }

    fn write_out(&self) -> io::Result<()> {
        self.with(|storage| storage.write_out())
    }

    fn stamp(&self) -> Option<FileStamp> {
        self.with(|storage| storage.stamp())
    }

    fn as_switched(&self) -> Option<&Switched> {
        Some(self)
    }
}

/// Bytes that cannot be changed.
#[derive(Debug)]
struct Memory(Vec<u8>);

impl Storage for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = self.0.get(start..).and_then(|rest| rest.get(..buf.len()));
        buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_all_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that can be changed.
#[derive(Debug)]
struct Scratch(Mutex<Vec<u8>>);

impl Scratch {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        // Every change is made at once.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Scratch {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.bytes();
        let found = bytes.get(start..).and_then(|rest| rest.get(..buf.len()));
        buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_all_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = start.checked_add(new.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        let mut bytes = self.bytes();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        if let Some(place) = bytes.get_mut(start..end) {
            place.copy_from_slice(new);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.bytes().resize(len, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Storage for Arc<dyn Storage> {
    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buf, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        (**self).write_all_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        (**self).set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        (**self).sync()
    }

    fn taken_back(&self) -> u64 {
        (**self).taken_back()
    }

    fn waiting(&self) -> usize {
        (**self).waiting()
    }

    fn write_out(&self) -> io::Result<()> {
        (**self).write_out()
    }

    fn stamp(&self) -> Option<FileStamp> {
        (**self).stamp()
    }
}

impl Storage for Arc<File> {
    /// Where its end is, which costs less than half of asking for all that the system knows of the file. Nothing reads or writes at the
    /// place that this leaves behind.
    fn len(&self) -> io::Result<u64> {
        (&**self).seek(io::SeekFrom::End(0))
    }

    fn stamp(&self) -> Option<FileStamp> {
        Some(FileStamp::new(&self.metadata().ok()?, SystemTime::now()))
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&**self, buf, offset)
    }

    #[cfg(unix)]
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&**self, bytes, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        while !buf.is_empty() {
            match self.seek_read(buf, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    buf = buf.get_mut(n..).unwrap_or_default();
                    offset += n as u64;
                }
            }
        }
        Ok(())
    }

    #[cfg(windows)]
    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        while !bytes.is_empty() {
            match self.seek_write(bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => {
                    bytes = bytes.get(n..).unwrap_or_default();
                    offset += n as u64;
                }
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}
