//! The end of a process that closed nothing: what waits to be written is written. And its forks: what a child inherits of its
//! parent's connections is the parent's, whose files, locks and waiting changes it shares, so that the child's calls are refused and
//! its end writes nothing. It may open connections of its own.
//!
//! What this module does not do: it is not there when a process is killed or leaves by `_exit`, and it passes connections by
//! that another thread is using at that moment.

use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::call::call;
use crate::handle::{self, Object};

unsafe extern "C" {
    fn atexit(work: extern "C" fn()) -> c_int;
}

static ONCE: Once = Once::new();

/// How many forks lie between this process and the one that opened the first connection.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// How many forks lie between this process and the one that opened the first connection: 0 in that one.
pub(crate) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Closes everything at the end of the process, and notices when it is forked.
pub(crate) fn watch_process() {
    ONCE.call_once(|| {
        // SAFETY: the functions take nothing, stay as long as the library, and the one does what a forked child may do: it counts.
        // Where they cannot be noted, a child is not told from its parent, as in other libraries.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        // SAFETY: the function takes nothing and stays as long as the library. Where it cannot be noted, whoever opened the
        // tables closes them, as they should.
        let _ = unsafe { atexit(close_all) };
    });
}

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    handle::forget_recent();
}

extern "C" fn close_all() {
    call(|| {
        for (_, object) in handle::all() {
            if let Object::Connection(session) = object
                && let Ok(mut session) = session.try_lock()
            {
                session.close_all()?;
            }
        }
        Ok(())
    });
}
