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

/// Declares the classes below [`RiegeliError`], each with the number of its status, and [`declare`], which gives them their
/// attributes.
macro_rules! classes {
    ($($class:ident = $code:literal, $doc:literal;)*) => {
        $(create_exception!(tidemill_riegeli, $class, RiegeliError, $doc);)*

        /// Gives the exception classes their attributes, so that they are there also when Python code raises them, and adds the
        /// classes to the module.
        pub(crate) fn declare(module: &Bound<'_, PyModule>) -> PyResult<()> {
            let py = module.py();
            let class = py.get_type::<RiegeliError>();
            FACTS.iter().try_for_each(|fact| class.setattr(*fact, py.None()))?;
            $(
                let class = py.get_type::<$class>();
                class.setattr("code", $code)?;
                module.add(stringify!($class), class)?;
            )*
            Ok(())
        }
    };
}

// Source of the names and numbers: google/riegeli, `python/riegeli/base/riegeli_error.py`.
classes! {
    CancelledError = 1, "The call was cancelled.";
    UnknownError = 2, "An error that nothing is known of.";
    InvalidArgumentError = 3, "A damaged or truncated file, metadata that are none, or options that do not parse.";
    DeadlineExceededError = 4, "A time limit passed.";
    NotFoundError = 5, "Something is not there.";
    AlreadyExistsError = 6, "Something is there already.";
    PermissionDeniedError = 7, "Something is not allowed.";
    UnauthenticatedError = 16, "It is not known who asks.";
    ResourceExhaustedError = 8, "A chunk or a record is larger than the limit.";
    FailedPreconditionError = 9, "A call that needs another one before it, such as last_pos before a record.";
    AbortedError = 10, "The call was given up.";
    OutOfRangeError = 11, "Something past the end.";
    UnimplementedError = 12, "A sound file of a kind that cannot be read, or a call that the source does not support.";
    InternalError = 13, "An error of this library.";
    UnavailableError = 14, "A service does not answer.";
    DataLossError = 15, "A damaged TFRecord file, or a file that is not any more what it was when it was opened.";
}

const FACTS: [&str; 5] = ["kind", "file", "offset", "expected", "found"];

/// Turns an error into the exception to raise.
pub(crate) fn raise(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Io { file, action, source } => raise_io(py, file.path(), action, source),
        Error::Position { .. } | Error::Field { .. } => PyValueError::new_err(error.to_string()),
        error => {
            let text = error.to_string();
            let exception = match error {
                Error::Limit { .. } => ResourceExhaustedError::new_err(text),
                Error::Unsupported { .. } => UnimplementedError::new_err(text),
                // As TensorFlow says it of TFRecord files.
                Error::Frame(_) => DataLossError::new_err(text),
                _ => InvalidArgumentError::new_err(text),
            };
            match Facts::of(&error).set(exception.value(py)) {
                Ok(()) => exception,
                Err(failure) => failure,
            }
        }
    }
}

/// Returns the exception for metadata of `file`, which may have no name. It is a `DecodeError` of the protobuf package as well, if
/// that is there.
pub(crate) fn metadata_error(py: Python<'_>, file: &str, problem: &str) -> PyErr {
    let text = match file {
        "" => problem.to_owned(),
        file => format!("{file}: {problem}"),
    };
    let class = py.import("tidemill_riegeli._decode_error");
    let exception = class.and_then(|module| module.getattr("MetadataDecodeError")?.call1((text,)));
    let exception = match exception {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => return failure,
    };
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

/// Returns whether an exception is the one of the protobuf package for bytes that are no message.
pub(crate) fn is_decode_error(py: Python<'_>, error: &PyErr) -> bool {
    let class = py
        .import("google.protobuf.message")
        .and_then(|module| module.getattr("DecodeError"));
    class.is_ok_and(|class| error.matches(py, class).unwrap_or(false))
}

/// Turns an error of a writer that writes to `path` into the exception to raise.
pub(crate) fn raise_at(py: Python<'_>, path: Option<&Path>, error: Error) -> PyErr {
    match error {
        Error::Io { action, source, .. } => raise_io(py, path, action, source),
        error => raise(py, error),
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
