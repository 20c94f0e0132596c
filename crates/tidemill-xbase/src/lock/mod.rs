//! Locks on byte ranges that other xBase programs understand.
//!
//! A DBF has no lock manager: programs that share a table agree on byte offsets far behind its end and lock those.
//! [`LockScheme`] knows the offsets, [`LockRange`] is one of them, and `file_locks` asks the kernel for it.
//!
//! On Linux the locks are open-file-description locks (`F_OFD_SETLK`): they conflict with the POSIX locks of Harbour and
//! Samba, and unlike those they also conflict between two handles of one process and survive the closing of another
//! handle on the same file. A table of this process's locks names the owner when the owner is this process.
//!
//! # Network file systems
//!
//! On a local file system the locks hold for every process of the machine. NFS 4 carries byte-range locks to the
//! server, and NFS 3 does so where lockd runs; both see the locks of other clients, but Linux turns `flock` on NFS into a
//! byte-range lock over the whole file, which then collides with record locks of another open: a table on NFS can
//! be opened exclusively by one client or shared by programs that take no `flock`. SMB mounts carry byte-range locks to
//! the server as mandatory ones unless mounted with `nobrl`, which keeps them on the client, where other clients do not
//! see them. Nothing here detects such a mount.
//!
//! # What this module does not do
//!
//! It knows no transactions and detects no deadlock: a request that waits ends by its timeout. Advantage's proprietary
//! mode has no ranges: its server opens the files exclusively and keeps the locks in its own memory ("Advantage
//! Proprietary Locking", Advantage 9.1 help); [`OpenMode::Exclusive`](crate::OpenMode::Exclusive) is what others see of
//! it. Whether such a server also locks ranges within its files is not known.

mod at_rest;
mod commit_gate;
mod file_locks;
mod scheme;

pub(crate) use commit_gate::Closed;
pub use commit_gate::CommitGate;
pub(crate) use file_locks::{FileIdentity, FileLocks, Sharing, is_free_to_open, new_owner, open_shared_or_exclusive};
pub use file_locks::{LockHolder, LockRefused};
pub use scheme::{IndexLock, LockKind, LockRange, LockScheme, LockSubject, TableLocks};
