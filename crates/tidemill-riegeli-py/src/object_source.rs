//! A Python file object as a source: anything with `read`, and with `seek` for random access.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use pyo3::{PyTraverseError, PyVisit, prelude::*, pybacked::PyBackedBytes, sync::MutexExt};
use tidemill_riegeli::Source;

pub(crate) struct ObjectSource {
    /// `None` once the garbage collector has broken a cycle.
    object: Mutex<Option<Py<PyAny>>>,
    /// `None` for a stream.
    size: Option<u64>,
    /// Keeps `seek` and `read` of two threads apart, and knows where a stream is. The interpreter is released while a thread
    /// waits for it.
    at: Mutex<u64>,
}

impl ObjectSource {
    /// Reads from `object`, at positions if it can `seek` and `stream` is not asked for.
    pub(crate) fn new(object: &Bound<'_, PyAny>, stream: bool) -> PyResult<Self> {
        let seekable = !stream
            && object.hasattr("seek")?
            && match object.hasattr("seekable")? {
                true => object.call_method0("seekable")?.is_truthy()?,
                false => true,
            };
        let size = match seekable {
            true => {
                let before = object.call_method0("tell")?;
                object.call_method1("seek", (0, 2))?;
                let size = object.call_method0("tell")?.extract()?;
                object.call_method1("seek", (before,))?;
                Some(size)
            }
            false => None,
        };
        Ok(Self {
            object: Mutex::new(Some(object.clone().unbind())),
            size,
            at: Mutex::new(0),
        })
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.object.try_lock() {
            Ok(object) => visit.call(&*object),
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn clear(&self) {
        let _object = self.object.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Returns the object.
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner);
        object.as_ref().map(|object| object.bind(py).clone())
    }

    fn read(&self, py: Python<'_>, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let object = self
            .object(py)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, "the file object is gone"))?;
        let mut at = self.at.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if self.size.is_some() {
            // Others may use the object between two calls.
            object.call_method1("seek", (pos,))?;
        } else if *at != pos {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("a stream at byte {at} cannot go to byte {pos}"),
            ));
        }
        let read = object.call_method1("read", (buffer.len(),))?;
        if read.is_none() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let bytes: PyBackedBytes = read.extract().map_err(PyErr::from)?;
        let Some(room) = buffer.get_mut(..bytes.len()) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("read({}) returned {} bytes", buffer.len(), bytes.len()),
            ));
        };
        room.copy_from_slice(&bytes);
        *at = pos + bytes.len() as u64;
        Ok(bytes.len())
    }
}

impl Source for ObjectSource {
    fn size(&self) -> io::Result<u64> {
        self.size.ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| self.read(py, pos, buffer))
    }

    fn is_stream(&self) -> bool {
        self.size.is_none()
    }
}
