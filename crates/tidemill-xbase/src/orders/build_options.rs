//! How indexes are made: with how much memory, and who is told of it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::index::{KeySorter, Progress};

/// How to make indexes from a table's records.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use tidemill_xbase::BuildOptions;
///
/// let stop = Arc::new(AtomicBool::new(false));
/// let is_stopped = Arc::clone(&stop);
/// let options = BuildOptions::new().memory_limit(64 << 20).progress(move |order, progress| {
///     eprintln!("{order}: {} keys", progress.keys);
///     if is_stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
/// });
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct BuildOptions {
    memory_limit: usize,
    report: Option<Arc<Mutex<Report>>>,
}

type Report = dyn FnMut(&str, Progress) -> ControlFlow<()> + Send;

impl BuildOptions {
    /// Every option at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// About how much memory the keys of an order may take while they are sorted; more of them go to a temporary file in the
    /// system's folder for such. Default: 256 MiB.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Is told every few thousand keys which order is made and how far it is, and stops it by [`ControlFlow::Break`]: what was
    /// there before is left as it was, and the call ends in [`Error::Cancelled`](crate::Error::Cancelled). Packing tells it
    /// the records, as those of an order without a name, and can be stopped until the packed table takes the place of the old
    /// one; the orders that follow from it are made to their end. Default: none.
    #[must_use]
    pub fn progress(mut self, report: impl FnMut(&str, Progress) -> ControlFlow<()> + Send + 'static) -> Self {
        self.report = Some(Arc::new(Mutex::new(report)));
        self
    }

    /// These options, but who is told cannot stop the work.
    pub(crate) fn without_stop(&self) -> Self {
        let report = self.report.clone().map(|report| {
            let told: Arc<Mutex<Report>> = Arc::new(Mutex::new(move |order: &str, progress| {
                let _ = report.lock().unwrap_or_else(PoisonError::into_inner)(order, progress);
                ControlFlow::Continue(())
            }));
            told
        });
        Self { report, ..*self }
    }

    /// Tells how far work is that makes no order.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub(crate) fn tell(&self, progress: Progress) -> Result<()> {
        let told = self.report.as_ref().map(|report| {
            let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
            report("", progress)
        });
        match told {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }

    /// A sorter of an order's keys that obeys these options.
    pub(crate) fn apply(&self, order: &str, sorter: KeySorter) -> KeySorter {
        let sorter = sorter.memory_limit(self.memory_limit);
        let Some(report) = self.report.clone() else {
            return sorter;
        };
        let order = order.to_owned();
        sorter.progress(move |progress| report.lock().unwrap_or_else(PoisonError::into_inner)(&order, progress))
    }
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            memory_limit: 256 << 20,
            report: None,
        }
    }
}

impl fmt::Debug for BuildOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuildOptions")
            .field("memory_limit", &self.memory_limit)
            .finish_non_exhaustive()
    }
}
