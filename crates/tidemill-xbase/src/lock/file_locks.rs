//! Taking locks: the kernel's, and this process's own table of them.
//!
//! The kernel refuses or grants at once; waiting is asking again until the timeout, because no call of the kernel waits
//! for a limited time. Outside Linux only the table of this process is asked.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::lock::{LockKind, LockRange, LockSubject};

/// A lock that somebody else holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {subject} is locked by {holder} ({range}); waited {} ms", path.display(), waited.as_millis())]
#[non_exhaustive]
pub struct LockRefused {
    /// The file.
    pub path: PathBuf,
    /// What was to be locked.
    pub subject: LockSubject,
    /// The bytes that were to be locked.
    pub range: LockRange,
    /// Who holds a lock that is in the way.
    pub holder: LockHolder,
    /// How long the request was repeated.
    pub waited: Duration,
}

/// Who holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockHolder {
    /// Another handle of this process.
    ThisProcess,
    /// The process with this id.
    Process(u32),
    /// Somebody; the kernel does not tell who holds open-file-description locks, `flock` and locks of other machines.
    Unknown,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisProcess => f.write_str("another handle of this process"),
            Self::Process(id) => write!(f, "process {id}"),
            Self::Unknown => f.write_str("another process"),
        }
    }
}

/// Whether other programs may have the file open too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    Shared,
    Exclusive,
}

/// The shortest wait for a file that is open elsewhere. Between `fork` and `exec`, a child process shares the open files of its parent:
/// their locks outlast the parent's `close`.
pub(crate) const UNTIL_EXEC: Duration = Duration::from_millis(100);

/// Takes the lock by which Harbour marks an open file on Unix, `flock` over the whole of it (`src/rtl/filesys.c`; seen
/// in corpus/xbase/locks.json); it ends when the file is closed, here and in every child process that was just started.
///
/// # Errors
/// [`Error::Locked`] when another program has the file open in a way that excludes this.
pub(crate) fn open_shared_or_exclusive(file: &File, path: &Path, sharing: Sharing, timeout: Duration) -> Result<()> {
    let range = LockRange {
        start: 0,
        end: u64::MAX,
    };
    retry(path, LockSubject::Open, range, timeout.max(UNTIL_EXEC), || {
        try_open(file, sharing)
    })
}

/// As [`open_shared_or_exclusive`], without waiting: `false` when another program has the file open in a way that excludes this.
pub(crate) fn is_free_to_open(file: &File, path: &Path, sharing: Sharing) -> Result<bool> {
    let holder = try_open(file, sharing).map_err(|e| Error::io(path, "lock", e))?;
    Ok(holder.is_none())
}

fn try_open(file: &File, sharing: Sharing) -> io::Result<Option<LockHolder>> {
    let taken = match sharing {
        Sharing::Shared => file.try_lock_shared(),
        Sharing::Exclusive => file.try_lock(),
    };
    match taken {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(LockHolder::Unknown)),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// The byte-range locks that one handle holds on one file; dropping it gives them back.
#[derive(Debug)]
pub(crate) struct FileLocks {
    /// `None`: nobody else can have it, and every lock is granted.
    file: Option<Arc<File>>,
    path: PathBuf,
    identity: FileIdentity,
    handle: u64,
}

/// The number of the next handle or owner.
static NEXT_HANDLE: AtomicU64 = AtomicU64::new(0);

/// The number of an owner of locks that is no single handle.
pub(crate) fn new_owner() -> u64 {
    NEXT_HANDLE.fetch_add(1, Ordering::Relaxed)
}

impl FileLocks {
    pub(crate) fn new(file: Arc<File>, path: &Path) -> Result<Self> {
        let identity = FileIdentity::of(&file, path).map_err(|e| Error::io(path, "open", e))?;
        let handle = NEXT_HANDLE.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            file: Some(file),
            path: path.to_owned(),
            identity,
            handle,
        })
    }

    /// The locks of something in memory.
    pub(crate) fn in_memory(path: &Path) -> Self {
        let handle = NEXT_HANDLE.fetch_add(1, Ordering::Relaxed);
        Self {
            file: None,
            path: path.to_owned(),
            identity: FileIdentity::in_memory(handle),
            handle,
        }
    }

    pub(crate) fn identity(&self) -> &FileIdentity {
        &self.identity
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file_name(&self) -> OsString {
        self.path.file_name().unwrap_or_default().to_owned()
    }

    /// Takes a range, or changes the kind of one that this handle holds already.
    ///
    /// # Errors
    /// [`Error::Locked`] when others hold it until the timeout, [`Error::Io`].
    pub(crate) fn lock(&self, subject: LockSubject, range: LockRange, kind: LockKind, timeout: Duration) -> Result<()> {
        self.lock_for(self.handle, subject, range, kind, timeout)
    }

    /// As [`FileLocks::lock`], for an owner of several handles. What one of them has taken for it, the others are granted without
    /// asking the kernel; they all give it back at once.
    ///
    /// # Errors
    /// As [`FileLocks::lock`].
    pub(crate) fn lock_for(
        &self,
        owner: u64,
        subject: LockSubject,
        range: LockRange,
        kind: LockKind,
        timeout: Duration,
    ) -> Result<()> {
        retry(&self.path, subject, range, timeout, || {
            self.try_lock(owner, range, kind)
        })
    }

    /// Takes a range if nobody is in the way, else returns who is.
    pub(crate) fn try_range(&self, range: LockRange, kind: LockKind) -> io::Result<Option<LockHolder>> {
        self.try_lock(self.handle, range, kind)
    }

    /// Whether somebody else holds a lock of any of these bytes. Nothing is taken.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn is_held(&self, range: LockRange) -> Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        let ours = |h: &Held| h.identity == self.identity && h.handle != self.handle && h.range.overlaps(&range);
        if table().iter().any(ours) {
            return Ok(true);
        }
        kernel::is_held(file, range).map_err(|e| Error::io(&self.path, "ask for the locks of", e))
    }

    /// Whether another handle of the same owner goes by what this one has locked.
    pub(crate) fn is_lending(&self, range: LockRange) -> bool {
        let held = table();
        let own = held.iter().find(|h| h.handle == self.handle && h.range == range);
        own.is_some_and(|own| {
            held.iter().any(|h| {
                let is_same_file = h.identity == self.identity && h.range.overlaps(&range);
                is_same_file && h.is_lent && h.owner == own.owner && h.handle != self.handle
            })
        })
    }

    /// Gives a range back that this handle took as a whole.
    pub(crate) fn unlock(&self, range: LockRange) -> Result<()> {
        let was_lent = self.forget(range);
        match &self.file {
            Some(file) if !was_lent => kernel::unlock(file, range).map_err(|e| Error::io(&self.path, "unlock", e)),
            _ => Ok(()),
        }
    }

    /// Gives back what lies before `start` in a range that this handle took as a whole for itself.
    ///
    /// # Errors
    /// [`Error::Io`]; all of it is held then.
    pub(crate) fn keep_end(&self, range: LockRange, start: u64) -> Result<()> {
        let (Some(file), Some(end)) = (&self.file, start.checked_sub(1)) else {
            return Ok(());
        };
        let mut held = table();
        let before = LockRange { end, ..range };
        kernel::unlock(file, before).map_err(|e| Error::io(&self.path, "unlock", e))?;
        let is_it = |h: &&mut Held| h.handle == self.handle && h.range == range;
        if let Some(lock) = held.iter_mut().find(is_it) {
            lock.range.start = start;
        }
        Ok(())
    }

    /// Who is in the way; `None` when the lock was taken.
    fn try_lock(&self, owner: u64, range: LockRange, kind: LockKind) -> io::Result<Option<LockHolder>> {
        let Some(file) = &self.file else { return Ok(None) };
        let mut held = table();
        let ours = |h: &Held| h.identity == self.identity && h.range.overlaps(&range);
        let is_lent = held.iter().any(|h| {
            let covers = h.range.start <= range.start && range.end <= h.range.end;
            let suffices = h.kind == LockKind::Exclusive || kind == LockKind::Shared;
            ours(h) && h.handle != self.handle && h.owner == owner && covers && suffices && !h.is_lent
        });
        let in_the_way = held.iter().any(|h| {
            ours(h)
                && h.handle != self.handle
                && h.owner != owner
                && (kind == LockKind::Exclusive || h.kind == LockKind::Exclusive)
        });
        if in_the_way {
            return Ok(Some(LockHolder::ThisProcess));
        }
        // Two handles of an owner that share a range would keep each other from having it alone in the kernel.
        let shared = held.iter_mut().find(|h| {
            let is_owners = ours(h) && h.handle != self.handle && h.owner == owner && h.range == range;
            is_owners && kind == LockKind::Exclusive && h.kind == LockKind::Shared && !h.is_lent
        });
        let mut is_lent = is_lent;
        if let Some((shared, other)) = shared.and_then(|h| Some((h.file.upgrade()?, h))).filter(|_| !is_lent) {
            if let Some(holder) = kernel::try_lock(&shared, range, kind)? {
                return Ok(Some(holder));
            }
            other.kind = kind;
            is_lent = true;
        } else if !is_lent && let Some(holder) = kernel::try_lock(file, range, kind)? {
            return Ok(Some(holder));
        }
        held.retain(|h| !(h.handle == self.handle && h.range == range));
        held.push(Held {
            identity: self.identity.clone(),
            handle: self.handle,
            owner,
            range,
            kind,
            file: Arc::downgrade(file),
            is_lent,
        });
        Ok(None)
    }

    /// Lets the other handles of an owner have what this one has locked for itself.
    pub(crate) fn give_to(&self, owner: u64) {
        for lock in table().iter_mut().filter(|h| h.handle == self.handle) {
            lock.owner = owner;
        }
    }

    /// Forgets a range, and returns whether another handle holds it.
    fn forget(&self, range: LockRange) -> bool {
        let mut held = table();
        let is_it = |h: &Held| h.handle == self.handle && h.range == range;
        let was_lent = held.iter().any(|h| is_it(h) && h.is_lent);
        held.retain(|h| !is_it(h));
        was_lent
    }
}

impl Drop for FileLocks {
    fn drop(&mut self) {
        let Some(file) = &self.file else { return };
        let mut held = table();
        for lock in held.iter().filter(|h| h.handle == self.handle && !h.is_lent) {
            // The kernel gives them back anyhow when the last handle on this opening of the file is closed.
            let _ = kernel::unlock(file, lock.range);
        }
        held.retain(|h| h.handle != self.handle);
    }
}

/// A lock of this process.
#[derive(Debug)]
struct Held {
    identity: FileIdentity,
    handle: u64,
    owner: u64,
    range: LockRange,
    kind: LockKind,
    /// What it is locked through.
    file: Weak<File>,
    /// Whether another handle of the owner holds it in the kernel.
    is_lent: bool,
}

/// The locks of a process. A forked child has a table of its own: what its parent holds is not its own, and another thread of the
/// parent may have been at its table at that moment.
struct Process {
    id: u32,
    held: Mutex<Vec<Held>>,
    child: OnceLock<Box<Process>>,
}

fn table() -> MutexGuard<'static, Vec<Held>> {
    static FIRST: OnceLock<Process> = OnceLock::new();
    let id = crate::process::id();
    let new = || Process {
        id,
        held: Mutex::default(),
        child: OnceLock::new(),
    };
    let mut process = FIRST.get_or_init(new);
    while process.id != id {
        process = process.child.get_or_init(|| Box::new(new()));
    }
    // A thread that panicked left whole entries behind.
    process.held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks until the lock is taken or the time is up, with longer and longer pauses.
fn retry(
    path: &Path,
    subject: LockSubject,
    range: LockRange,
    timeout: Duration,
    mut attempt: impl FnMut() -> io::Result<Option<LockHolder>>,
) -> Result<()> {
    let began = Instant::now();
    let mut pauses = Pauses::default();
    loop {
        let Some(holder) = attempt().map_err(|e| Error::io(path, "lock", e))? else {
            return Ok(());
        };
        let waited = began.elapsed();
        let left = timeout.saturating_sub(waited);
        if left.is_zero() {
            return Err(Error::Locked(Box::new(LockRefused {
                path: path.to_owned(),
                subject,
                range,
                holder,
                waited,
            })));
        }
        pauses.sleep(left);
    }
}

/// How long somebody sleeps who asks for a lock again and again: most locks are held for less than a millisecond, and who waits for
/// a person costs little.
#[derive(Debug)]
pub(super) struct Pauses {
    next: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            next: Duration::from_micros(50),
        }
    }
}

impl Pauses {
    const LONGEST: Duration = Duration::from_millis(4);

    /// Sleeps, at most as long as there is left.
    pub(super) fn sleep(&mut self, left: Duration) {
        std::thread::sleep(self.next.min(left));
        self.next = (self.next * 2).min(Self::LONGEST);
    }
}

/// The same for every opening of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg(unix)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

#[cfg(unix)]
impl FileIdentity {
    pub(crate) fn of(file: &File, _path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let meta = file.metadata()?;
        Ok(Self {
            device: meta.dev(),
            inode: meta.ino(),
        })
    }

    /// What no file has: no device has all bits set.
    fn in_memory(number: u64) -> Self {
        Self {
            device: u64::MAX,
            inode: number,
        }
    }
}

/// The same for every opening of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg(not(unix))]
pub(crate) struct FileIdentity(PathBuf);

#[cfg(not(unix))]
impl FileIdentity {
    pub(crate) fn of(_file: &File, path: &Path) -> io::Result<Self> {
        path.canonicalize().map(Self)
    }

    /// What no file has: the path is relative.
    fn in_memory(number: u64) -> Self {
        Self(PathBuf::from(format!("in memory {number}")))
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    //! `fcntl` with `F_OFD_SETLK` and `F_OFD_GETLK` (fcntl_locking(2)).

    use std::fs::File;
    use std::io;

    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    use super::LockHolder;
    use crate::lock::{LockKind, LockRange};

    /// Who is in the way; `None` when the lock was taken.
    pub(super) fn try_lock(file: &File, range: LockRange, kind: LockKind) -> io::Result<Option<LockHolder>> {
        let request = request(range, lock_type(kind))?;
        match fcntl(file, FcntlArg::F_OFD_SETLK(&request)) {
            Ok(_) => Ok(None),
            Err(Errno::EAGAIN | Errno::EACCES) => {
                let mut found = request;
                Ok(Some(match fcntl(file, FcntlArg::F_OFD_GETLK(&mut found)) {
                    // Minus one stands for an open-file-description lock, and 0 for a process out of sight.
                    Ok(_) if found.l_pid > 0 => {
                        u32::try_from(found.l_pid).map_or(LockHolder::Unknown, LockHolder::Process)
                    }
                    _ => LockHolder::Unknown,
                }))
            }
            Err(e) => Err(e.into()),
        }
    }

    pub(super) fn is_held(file: &File, range: LockRange) -> io::Result<bool> {
        let mut found = request(range, libc::F_WRLCK)?;
        fcntl(file, FcntlArg::F_OFD_GETLK(&mut found))?;
        Ok(i32::from(found.l_type) != libc::F_UNLCK)
    }

    pub(super) fn unlock(file: &File, range: LockRange) -> io::Result<()> {
        fcntl(file, FcntlArg::F_OFD_SETLK(&request(range, libc::F_UNLCK)?))?;
        Ok(())
    }

    fn lock_type(kind: LockKind) -> i32 {
        match kind {
            LockKind::Shared => libc::F_RDLCK,
            LockKind::Exclusive => libc::F_WRLCK,
        }
    }

    fn request(range: LockRange, lock_type: i32) -> io::Result<libc::flock> {
        let outside = |_| io::Error::from(io::ErrorKind::InvalidInput);
        Ok(libc::flock {
            l_type: i16::try_from(lock_type).map_err(outside)?,
            l_whence: 0,
            l_start: i64::try_from(range.start).map_err(outside)?,
            l_len: i64::try_from(range.byte_len()).map_err(outside)?,
            // The kernel demands 0 for open-file-description locks.
            l_pid: 0,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    //! No lock of the kernel is taken here: other processes are not kept out.

    use std::fs::File;
    use std::io;

    use super::LockHolder;
    use crate::lock::{LockKind, LockRange};

    pub(super) fn try_lock(_file: &File, _range: LockRange, _kind: LockKind) -> io::Result<Option<LockHolder>> {
        Ok(None)
    }

    pub(super) fn is_held(_file: &File, _range: LockRange) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn unlock(_file: &File, _range: LockRange) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    const NOW: Duration = Duration::ZERO;
    const RANGE: LockRange = LockRange { start: 100, end: 109 };

    fn opened(path: &Path) -> FileLocks {
        let file = File::options().read(true).write(true).open(path).unwrap();
        FileLocks::new(Arc::new(file), path).unwrap()
    }

    #[test]
    fn the_kernel_shows_the_range_until_it_is_given_back() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let inode = file.as_file().metadata().unwrap().ino();
        let shown = || {
            let all = std::fs::read_to_string("/proc/locks").unwrap();
            all.lines().any(|line| {
                line.contains("OFDLCK") && line.contains("WRITE") && line.contains(&format!(":{inode} 100 109"))
            })
        };
        let locks = opened(file.path());
        locks
            .lock(LockSubject::Header, RANGE, LockKind::Exclusive, NOW)
            .unwrap();
        assert!(shown());
        locks.unlock(RANGE).unwrap();
        assert!(!shown());
        locks
            .lock(LockSubject::Header, RANGE, LockKind::Exclusive, NOW)
            .unwrap();
        drop(locks);
        assert!(!shown());
    }

    #[test]
    fn two_handles_of_one_process_conflict_and_the_error_says_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (one, two) = (opened(file.path()), opened(file.path()));
        one.lock(LockSubject::Record(7), RANGE, LockKind::Exclusive, NOW)
            .unwrap();
        let inside = LockRange { start: 109, end: 120 };
        let error = two
            .lock(LockSubject::File, inside, LockKind::Shared, Duration::from_millis(30))
            .unwrap_err();
        let Error::Locked(refused) = error else {
            panic!("{error}")
        };
        assert_eq!(
            (refused.subject, refused.range, refused.holder),
            (LockSubject::File, inside, LockHolder::ThisProcess)
        );
        assert!(refused.waited >= Duration::from_millis(30), "{:?}", refused.waited);
        let beside = LockRange { start: 110, end: 120 };
        two.lock(LockSubject::File, beside, LockKind::Exclusive, NOW).unwrap();
    }

    #[test]
    fn shared_locks_live_together_and_keep_out_an_exclusive_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (one, two) = (opened(file.path()), opened(file.path()));
        one.lock(LockSubject::Index, RANGE, LockKind::Shared, NOW).unwrap();
        two.lock(LockSubject::Index, RANGE, LockKind::Shared, NOW).unwrap();
        assert!(two.lock(LockSubject::Index, RANGE, LockKind::Exclusive, NOW).is_err());
        drop(one);
        two.lock(LockSubject::Index, RANGE, LockKind::Exclusive, NOW).unwrap();
    }

    #[test]
    fn a_request_waits_until_the_holder_lets_go() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (one, two) = (opened(file.path()), opened(file.path()));
        one.lock(LockSubject::Header, RANGE, LockKind::Exclusive, NOW).unwrap();
        let holder = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(one);
        });
        two.lock(LockSubject::Header, RANGE, LockKind::Exclusive, Duration::from_secs(10))
            .unwrap();
        holder.join().unwrap();
    }

    #[test]
    fn an_exclusive_opening_keeps_every_other_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = |sharing| {
            let opened = File::open(file.path()).unwrap();
            open_shared_or_exclusive(&opened, file.path(), sharing, NOW).map(|()| opened)
        };
        let (one, two) = (open(Sharing::Shared).unwrap(), open(Sharing::Shared).unwrap());
        assert!(matches!(open(Sharing::Exclusive), Err(Error::Locked(_))));
        drop((one, two));
        let _alone = open(Sharing::Exclusive).unwrap();
        assert!(matches!(open(Sharing::Shared), Err(Error::Locked(_))));
    }
}
