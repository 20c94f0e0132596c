//! The recovery function of a reader.
//!
//! It is called where the Rust library asks whether to go on behind damage. What it raises cannot pass through the library:
//! it is kept, reading stops, and the call that met the damage raises it.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::{PyTraverseError, PyVisit, exceptions::PyStopIteration, prelude::*};
use tidemill_riegeli::ReaderOptions;

use crate::skipped_region::SkippedRegion;

pub(crate) struct Recovery {
    /// `None` once the garbage collector has broken a cycle.
    function: Mutex<Option<Py<PyAny>>>,
    raised: Mutex<Option<PyErr>>,
}

impl Recovery {
    pub(crate) fn new(function: Py<PyAny>) -> Arc<Self> {
        Arc::new(Self {
            function: Mutex::new(Some(function)),
            raised: Mutex::new(None),
        })
    }

    /// Returns `options` of a reader that asks this function.
    pub(crate) fn options(self: &Arc<Self>, options: ReaderOptions) -> ReaderOptions {
        let this = Arc::clone(self);
        options.on_recovery(move |region| Python::attach(|py| this.decide(py, region)))
    }

    /// Returns what the function raised since the last call of this.
    pub(crate) fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.function.try_lock() {
            Ok(function) => visit.call(&*function),
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn clear(&self) {
        // Dropped behind the lock: that may run Python code.
        let _function = self.function.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Tells the function of a region that is left out, and returns whether to go on behind it.
    pub(crate) fn ask(&self, py: Python<'_>, region: SkippedRegion) -> PyResult<bool> {
        let function = self.function.lock().unwrap_or_else(PoisonError::into_inner);
        let function = function.as_ref().map(|function| function.clone_ref(py));
        let Some(function) = function else {
            return Ok(false);
        };
        match function.call1(py, (region,)) {
            Ok(_) => Ok(true),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn decide(&self, py: Python<'_>, region: &tidemill_riegeli::SkippedRegion) -> bool {
        self.ask(py, SkippedRegion::from(region)).unwrap_or_else(|error| {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            false
        })
    }
}
