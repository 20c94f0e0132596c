//! Where a writer's bytes go: a path or an open file.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyBytes};
use tidemill_riegeli::Durable;

/// What a writer writes to.
pub(crate) enum Output {
    File {
        file: BufWriter<File>,
        /// The directory of a new file, until it was made durable.
        directory: Option<PathBuf>,
    },
    Object(BufWriter<ObjectOutput>),
}

/// A Python file object: anything with `write`.
#[derive(Clone)]
pub(crate) struct ObjectOutput {
    /// `None` once the garbage collector has broken a cycle.
    object: Arc<Mutex<Option<Py<PyAny>>>>,
}

impl Output {
    /// Creates the file at `path`, or empties it.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let directory = path.parent().map(|directory| match directory.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => directory.to_path_buf(),
        });
        Ok(Self::File {
            file: BufWriter::with_capacity(BUFFER, File::create(path)?),
            directory,
        })
    }

    pub(crate) fn object(object: ObjectOutput) -> Self {
        Self::Object(BufWriter::with_capacity(BUFFER, object))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { file, .. } => file.write(bytes),
            Self::Object(object) => object.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { file, .. } => file.flush(),
            Self::Object(object) => object.flush(),
        }
    }
}

impl Durable for Output {
    /// An object with a `fileno` is synchronised by the system; others keep what they have anyway.
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        match self {
            Self::File { file, directory } => {
                file.get_ref().sync_data()?;
                if let Some(path) = directory {
                    File::open(path)?.sync_all()?;
                }
                *directory = None;
                Ok(())
            }
            Self::Object(object) => object.get_ref().sync(),
        }
    }
}

/// Chunks come in pieces of up to 64 KiB, and small ones whole.
const BUFFER: usize = 256 << 10;

impl ObjectOutput {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        Self {
            object: Arc::new(Mutex::new(Some(object.clone().unbind()))),
        }
    }

    /// Returns the object.
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner);
        object.as_ref().map(|object| object.bind(py).clone())
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

    fn with<T>(&self, call: impl FnOnce(Bound<'_, PyAny>) -> io::Result<T>) -> io::Result<T> {
        Python::attach(|py| match self.object(py) {
            Some(object) => call(object),
            None => Err(io::Error::new(io::ErrorKind::NotConnected, "the file object is gone")),
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.with(|object| {
            let py = object.py();
            // In memory there is nothing to synchronise: io.BytesIO says so by an OSError.
            let Ok(number) = object.call_method0("fileno") else {
                return Ok(());
            };
            py.import("os")?.call_method1("fsync", (number,))?;
            Ok(())
        })
    }
}

impl Write for ObjectOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|object| {
            let written = object.call_method1("write", (PyBytes::new(object.py(), bytes),))?;
            // A raw file that is not blocking may write nothing, and says None.
            match written.extract::<Option<usize>>()? {
                Some(written) if written <= bytes.len() => Ok(written),
                Some(written) => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("write() of {} bytes wrote {written}", bytes.len()),
                )),
                None => Err(io::ErrorKind::WouldBlock.into()),
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|object| {
            if object.hasattr("flush")? {
                object.call_method0("flush")?;
            }
            Ok(())
        })
    }
}
