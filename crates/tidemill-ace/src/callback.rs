//! Functions of programs that are told how far long work is, and can stop it.
//!
//! Each thread has its own, as ACE has it. While one runs, functions of the library that need a connection answer 6619: the one
//! that it was called from is still at work.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tidemill_ads::sql::Watch;
use tidemill_ads::{ErrorCode, Progress, Result, Settings};

use crate::call::{call_anywhere, refuse};
use crate::handle::lock;
use crate::settings::settings;

/// A function of a program, with the number that it wants to be called with.
#[derive(Debug, Clone, Copy)]
enum Callback {
    Percent(extern "C" fn(u16) -> u32),
    Numbered(extern "C" fn(u16, u32) -> u32, u32),
    Wide(extern "C" fn(u16, i64) -> u32, i64),
}

impl Callback {
    fn tell(self, percent: u16) -> ControlFlow<()> {
        let _running = Running::begin();
        let answer = match self {
            Self::Percent(function) => function(percent),
            Self::Numbered(function, number) => function(percent, number),
            Self::Wide(function, number) => function(percent, number),
        };
        match answer {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

thread_local! {
    static CALLBACK: Cell<Option<Callback>> = const { Cell::new(None) };
    static ABORT: Cell<Option<extern "C" fn() -> u32>> = const { Cell::new(None) };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// How many functions of the program run, in all threads, so that calls need not look at their thread while there are none.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A function of the program runs until this is dropped.
struct Running;

impl Running {
    fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        IS_RUNNING.set(true);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        IS_RUNNING.set(false);
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether this thread is in a function of the program that the library called.
pub(crate) fn is_running() -> bool {
    RUNNING.load(Ordering::Relaxed) != 0 && IS_RUNNING.get()
}

/// The settings for what takes long: with the function of this thread that is told of it.
pub(crate) fn watched() -> Settings {
    let mut settings = settings().as_ref().clone();
    if let Some(callback) = CALLBACK.get() {
        settings.progress = Progress::new(move |percent| callback.tell(percent));
    }
    settings
}

/// How often a function is asked whether a statement goes on.
const PAUSE: Duration = Duration::from_secs(2);

/// Who says whether a statement goes on that begins now: the time that it has, and the function of this thread. `None` when neither does.
pub(crate) fn watch(time: Option<Duration>) -> Option<Watch> {
    let abort = ABORT.get();
    if time.is_none() && abort.is_none() {
        return None;
    }
    let begin = Instant::now();
    let asked = Mutex::new(begin);
    Some(Watch::new(move || {
        let now = Instant::now();
        if time.is_some_and(|time| now - begin >= time) {
            return ControlFlow::Break(());
        }
        let Some(function) = abort.filter(|_| is_time_again(&asked, now)) else {
            return ControlFlow::Continue(());
        };
        let _running = Running::begin();
        match function() {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }))
}

/// Whether a pause is over; the next one then begins.
fn is_time_again(asked: &Mutex<Instant>, now: Instant) -> bool {
    let mut asked = lock(asked);
    let is_over = now - *asked >= PAUSE;
    if is_over {
        *asked = now;
    }
    is_over
}

fn register(callback: Option<Callback>) -> Result<()> {
    match callback {
        Some(_) => {
            CALLBACK.set(callback);
            Ok(())
        }
        None => refuse(
            ErrorCode::InvalidCallback,
            "a function must be given, and the pointer is null",
        ),
    }
}

/// Lets a function be told in percent how far long work of this thread is; another answer than 0 stops it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRegisterProgressCallback(function: Option<extern "C" fn(u16) -> u32>) -> u32 {
    call_anywhere(|| register(function.map(Callback::Percent)))
}

/// As [`AdsRegisterProgressCallback`], with a number for the function.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRegisterCallbackFunction(function: Option<extern "C" fn(u16, u32) -> u32>, number: u32) -> u32 {
    call_anywhere(|| register(function.map(|function| Callback::Numbered(function, number))))
}

/// As [`AdsRegisterProgressCallback`], with a number for the function.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRegisterCallbackFunction101(function: Option<extern "C" fn(u16, i64) -> u32>, number: i64) -> u32 {
    call_anywhere(|| register(function.map(|function| Callback::Wide(function, number))))
}

/// Removes the progress functions of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearCallbackFunction() -> u32 {
    call_anywhere(|| {
        CALLBACK.set(None);
        Ok(())
    })
}

/// As [`AdsClearCallbackFunction`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearProgressCallback() -> u32 {
    AdsClearCallbackFunction()
}

/// Lets a function be asked about every two seconds whether a statement of this thread goes on; another answer than 0 stops it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRegisterSQLAbortFunc(function: Option<extern "C" fn() -> u32>) -> u32 {
    call_anywhere(|| match function {
        Some(_) => {
            ABORT.set(function);
            Ok(())
        }
        None => refuse(
            ErrorCode::InvalidCallback,
            "a function must be given, and the pointer is null",
        ),
    })
}

/// Removes the function of this thread that can stop statements.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearSQLAbortFunc() -> u32 {
    call_anywhere(|| {
        ABORT.set(None);
        Ok(())
    })
}
