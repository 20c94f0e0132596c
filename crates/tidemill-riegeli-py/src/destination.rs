//! What a writer is opened with: a path, or a file object.

use std::path::{Path, PathBuf};

use pyo3::{exceptions::PyTypeError, prelude::*};

use crate::{
    error::raise_io,
    output::{ObjectOutput, Output},
};

/// An open destination.
pub(crate) struct Destination {
    pub(crate) output: Output,
    pub(crate) object: Option<ObjectOutput>,
    pub(crate) path: Option<PathBuf>,
}

impl Destination {
    /// Creates the file at a path, or empties it; a file object is taken as it is.
    pub(crate) fn open(dest: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = dest.py();
        if let Ok(path) = dest.extract::<PathBuf>() {
            let output = py.detach(|| Output::create(&path));
            return Ok(Self {
                output: output.map_err(|error| raise_io(py, Some(&path), "create the file", error))?,
                object: None,
                path: Some(path),
            });
        }
        if !dest.hasattr("write")? {
            return Err(PyTypeError::new_err(format!(
                "expected a path or a binary file object, not {}",
                dest.get_type().name()?
            )));
        }
        let object = ObjectOutput::new(dest);
        Ok(Self {
            output: Output::object(object.clone()),
            object: Some(object),
            path: None,
        })
    }

    /// Returns the representation of a writer of this class.
    pub(crate) fn describe(
        py: Python<'_>,
        class: &str,
        object: Option<&ObjectOutput>,
        path: Option<&Path>,
    ) -> PyResult<String> {
        Ok(match object.and_then(|object| object.object(py)) {
            Some(object) => format!("<{class} dest={}>", object.repr()?),
            None => format!("<{class} dest={:?}>", path.unwrap_or(Path::new(""))),
        })
    }
}
