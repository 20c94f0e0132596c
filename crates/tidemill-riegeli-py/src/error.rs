//! Errors as Python exceptions that carry the same facts.
//!
//! What the operating system refuses is an `OSError` with its number and file, what a Python object raises goes through
//! unchanged, and everything else is a `RiegeliError`.

use std::path::{Path, PathBuf};

use pyo3::{
    create_exception,
    exceptions::{PyException, PyOSError, PyValueError},
    prelude::*,
};
use tidemill_riegeli::{ArrayRecordProblem, Damage, Error, FileName};

create_exception!(
    tidemill_riegeli,
    RiegeliError,
    PyException,
    "A file that cannot be read or written, with the facts as attributes.\n\n\
     kind: 'corrupt', 'truncated', 'unsupported', 'limit', 'metadata', 'array_record', 'row', 'option' or 'other'.\n\
     file: path of the file, None when it is not known.\n\
     offset: byte of the file at which reading stopped, or None.\n\
     expected, found: the two numbers that disagree, or None."
);

const FACTS: [&str; 5] = ["kind", "file", "offset", "expected", "found"];

/// Gives the exception class its attributes, so that they are there also when Python code raises it.
pub(crate) fn declare_facts(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<RiegeliError>();
    FACTS.iter().try_for_each(|fact| class.setattr(*fact, py.None()))
}

/// Turns an error into the exception to raise.
pub(crate) fn raise(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Io { file, action, source } => raise_io(py, file.path(), action, source),
        Error::Position { .. } | Error::Field { .. } => PyValueError::new_err(error.to_string()),
        error => {
            let exception = RiegeliError::new_err(error.to_string());
            match Facts::of(&error).set(exception.value(py)) {
                Ok(()) => exception,
                Err(failure) => failure,
            }
        }
    }
}

/// Returns the exception for metadata of `file`, which may have no name.
pub(crate) fn metadata_error(py: Python<'_>, file: &str, problem: &str) -> PyErr {
    let exception = RiegeliError::new_err(match file {
        "" => problem.to_owned(),
        file => format!("{file}: {problem}"),
    });
    let facts = Facts {
        kind: "metadata",
        file: (!file.is_empty()).then(|| file.into()),
        ..Facts::default()
    };
    match facts.set(exception.value(py)) {
        Ok(()) => exception,
        Err(failure) => failure,
    }
}

/// Turns an answer of the operating system, or what a Python object raised, into the exception to raise.
pub(crate) fn raise_io(py: Python<'_>, path: Option<&Path>, action: &str, source: std::io::Error) -> PyErr {
    if source.get_ref().is_some_and(|inner| inner.is::<PyErr>()) {
        return source.into();
    }
    let Some(number) = source.raw_os_error() else {
        return PyOSError::new_err(match path {
            Some(path) => format!("{}: cannot {action}: {source}", path.display()),
            None => format!("cannot {action}: {source}"),
        });
    };
    // With these arguments Python makes it FileNotFoundError, PermissionError and so on.
    let text = py
        .import("os")
        .and_then(|os| os.call_method1("strerror", (number,))?.extract::<String>());
    let text = text.unwrap_or_else(|_| source.to_string());
    let path = path.map(|path| path.as_os_str().to_owned());
    PyOSError::new_err((number, format!("cannot {action}: {text}"), path))
}

/// What the attributes of the exception say.
#[derive(Default)]
struct Facts {
    kind: &'static str,
    file: Option<PathBuf>,
    offset: Option<u64>,
    expected: Option<u64>,
    found: Option<u64>,
}

impl Facts {
    fn of(error: &Error) -> Self {
        let kind = |kind, file: &FileName| Self {
            kind,
            file: file.path().map(Path::to_path_buf),
            ..Self::default()
        };
        match error {
            Error::Corrupt(corrupt) => Self {
                offset: Some(corrupt.offset),
                ..kind("corrupt", &corrupt.file).of_damage(&corrupt.damage)
            },
            Error::Frame(frame) => Self {
                offset: Some(frame.offset),
                ..kind("corrupt", &frame.file).of_damage(&frame.damage)
            },
            Error::Truncated {
                file,
                chunk_begin,
                found,
                expected,
            } => Self {
                offset: Some(chunk_begin.saturating_add(*found)),
                expected: *expected,
                found: Some(*found),
                ..kind("truncated", file)
            },
            Error::Unsupported { file, offset, .. } => Self {
                offset: Some(*offset),
                ..kind("unsupported", file)
            },
            Error::Limit {
                file,
                offset,
                limit,
                found,
                ..
            } => Self {
                offset: Some(*offset),
                expected: Some(*limit),
                found: Some(*found),
                ..kind("limit", file)
            },
            Error::Row(row) => Self {
                offset: Some(row.position.numeric()),
                ..kind("row", &row.file)
            },
            Error::Metadata { file, .. } => kind("metadata", file),
            Error::ArrayRecord { file, problem } => {
                let (expected, found) = match *problem {
                    ArrayRecordProblem::Count { expected, found, .. } => (Some(expected), Some(found)),
                    ArrayRecordProblem::Version { found } => (Some(1), found.map(u64::from)),
                    _ => (None, None),
                };
                Self {
                    expected,
                    found,
                    ..kind("array_record", file)
                }
            }
            Error::Option { .. } => kind("option", &FileName::default()),
            _ => kind("other", &FileName::default()),
        }
    }

    fn of_damage(self, damage: &Damage) -> Self {
        let (expected, found) = match *damage {
            Damage::BlockHeaderHash { stored, computed }
            | Damage::ChunkHeaderHash { stored, computed }
            | Damage::ChunkDataHash { stored, computed } => (Some(computed), Some(stored)),
            Damage::BlockHeaderDisagrees { expected, found, .. } | Damage::Mismatch { expected, found, .. } => {
                (Some(expected), Some(found))
            }
            Damage::TooLarge { limit, found, .. } => (Some(limit), Some(found)),
            Damage::NotEmpty { found, .. } => (Some(0), Some(found)),
            Damage::UnknownCompression { byte } => (None, Some(byte.into())),
            _ => (None, None),
        };
        Self {
            expected,
            found,
            ..self
        }
    }

    fn set(self, exception: &Bound<'_, pyo3::exceptions::PyBaseException>) -> PyResult<()> {
        let [kind, file, offset, expected, found] = FACTS;
        // As text: a pathlib.Path cannot be compared with what most callers have.
        let path = self.file.map(|path| path.into_os_string());
        exception.setattr(kind, self.kind)?;
        exception.setattr(file, path)?;
        exception.setattr(offset, self.offset)?;
        exception.setattr(expected, self.expected)?;
        exception.setattr(found, self.found)
    }
}
