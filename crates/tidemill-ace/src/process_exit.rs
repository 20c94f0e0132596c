//! The end of a process that closed nothing: what waits to be written is written.
//!
//! What this module does not do: it is not there when a process is killed or leaves by `_exit`, and it passes connections by
//! that another thread is using at that moment.

use std::ffi::c_int;
use std::sync::Once;

use crate::call::call;
use crate::handle::{self, Object};

unsafe extern "C" {
    fn atexit(work: extern "C" fn()) -> c_int;
}

static ONCE: Once = Once::new();

/// Closes everything at the end of the process.
pub(crate) fn close_all_then() {
    ONCE.call_once(|| {
        // SAFETY: the function takes nothing and stays as long as the library. Where it cannot be noted, whoever opened the
        // tables closes them, as they should.
        let _ = unsafe { atexit(close_all) };
    });
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
