//! How far a flush goes.
//!
//! Source: google/riegeli, `riegeli/base/types.h` and `python/riegeli/base/utils.h`.

use pyo3::prelude::*;

/// How far written records are to get.
#[pyclass(module = "tidemill_riegeli", eq, eq_int, frozen, hash, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FlushType {
    /// To the destination of the writer: who shares it sees them.
    #[pyo3(name = "FROM_OBJECT")]
    Object,
    /// Out of the process: whoever opens the file sees them.
    #[pyo3(name = "FROM_PROCESS")]
    Process,
    /// To the device: they stay when the machine loses its power.
    #[pyo3(name = "FROM_MACHINE")]
    Machine,
}

impl From<FlushType> for tidemill_riegeli::FlushType {
    fn from(flush_type: FlushType) -> Self {
        match flush_type {
            FlushType::Object => Self::FromObject,
            FlushType::Process => Self::FromProcess,
            FlushType::Machine => Self::FromMachine,
        }
    }
}
