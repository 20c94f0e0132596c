//! Where a reader's bytes come from: a path, bytes in memory, or an open file.
//!
//! A path, and an open file that is a plain one on disk, are read by the system at positions: without the interpreter, and
//! without a position that processes share. Other objects are asked through their methods.

use std::{fs::File, path::PathBuf, sync::Arc};

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    pybacked::PyBackedBytes,
    types::{PyByteArray, PyBytes, PyMemoryView},
};
use tidemill_riegeli::{BytesSource, FileSource, SharedSource};

use crate::{error::raise_io, object_source::ObjectSource};

/// What a reader was opened with.
pub(crate) struct Input {
    pub(crate) source: SharedSource,
    /// What errors call the file; empty for what has no name.
    pub(crate) name: String,
    /// Where in an open file to begin.
    pub(crate) begin: u64,
    pub(crate) object: Option<Arc<ObjectSource>>,
}

impl Input {
    /// Opens `src`. A `stream` is read once, from its beginning, and not asked for positions.
    pub(crate) fn open(src: &Bound<'_, PyAny>, stream: bool) -> PyResult<Self> {
        let py = src.py();
        if src.is_instance_of::<PyBytes>() {
            return Ok(Self::memory(src.extract()?));
        }
        if src.is_instance_of::<PyByteArray>() || src.is_instance_of::<PyMemoryView>() {
            // These can change: the copy cannot.
            let bytes = py.get_type::<PyBytes>().call1((src,))?;
            return Ok(Self::memory(bytes.extract()?));
        }
        if let Ok(path) = src.extract::<PathBuf>() {
            let file = py
                .detach(|| open_plain(&path))
                .map_err(|error| raise_io(py, Some(&path), "open the file", error))?;
            return Ok(Self {
                source: Arc::new(FileSource::new(file)),
                name: path.display().to_string(),
                begin: 0,
                object: None,
            });
        }
        if !src.hasattr("read")? {
            return Err(PyTypeError::new_err(format!(
                "expected a path, bytes, or a binary file object, not {}",
                src.get_type().name()?
            )));
        }
        let name = src.getattr("name").and_then(|name| name.extract::<String>());
        let object = Arc::new(ObjectSource::new(src, stream)?);
        let begin = match stream {
            true => 0,
            false => position(src),
        };
        let source: SharedSource = match if stream { None } else { plain_file(src)? } {
            Some(file) => Arc::new(FileSource::new(file)),
            None => Arc::clone(&object) as SharedSource,
        };
        Ok(Self {
            source,
            name: name.unwrap_or_default(),
            begin,
            object: Some(object),
        })
    }

    fn memory(bytes: PyBackedBytes) -> Self {
        Self {
            source: Arc::new(BytesSource(bytes)),
            name: String::new(),
            begin: 0,
            object: None,
        }
    }
}

fn open_plain(path: &std::path::Path) -> std::io::Result<File> {
    let file = File::open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            "not a plain file; what can be read only once is opened in Python and passed as an object",
        )),
    }
}

/// Returns where an open file is; 0 for what does not tell.
fn position(src: &Bound<'_, PyAny>) -> u64 {
    let position = src.call_method0("tell").and_then(|position| position.extract());
    position.unwrap_or(0)
}

/// Opens the plain file that `src` reads once more, `None` if it is not one or not read as it is. Only the classes that `open`
/// makes are looked into: `fileno` of others may belong to a file that holds other bytes than `read` returns.
fn plain_file(src: &Bound<'_, PyAny>) -> PyResult<Option<File>> {
    let io = src.py().import("io")?;
    let raw = match src.get_type().is(&io.getattr("BufferedReader")?) {
        true => src.getattr("raw")?,
        false => src.clone(),
    };
    if !raw.get_type().is(&io.getattr("FileIO")?) {
        return Ok(None);
    }
    let number: i32 = raw.call_method0("fileno")?.extract()?;
    let file = File::open(format!("/dev/fd/{number}")).ok();
    Ok(file.filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file())))
}
