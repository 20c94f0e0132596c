//! Records that are `tensorflow.Example` or `tensorflow.SequenceExample` messages, which most TFRecord files hold: with one column for
//! each feature, and no descriptor needed.
//!
//! Such a message is a map from names to lists of values of one of three types. Which names and types there are is nowhere told but in
//! the records, so the columns are found by a sample of them ([`ExampleSampler`]):
//!
//! | feature | column |
//! |---|---|
//! | int64 values | Int64 |
//! | float values | Float32 |
//! | bytes values | Binary |
//! | not exactly one value in some record of the sample | List of these |
//! | a feature list (`SequenceExample`) of features with one value each | List of these |
//! | any other feature list | List of List of these |
//!
//! Columns are in the order of their names, the features before the feature lists; a feature list with the name of a feature is called
//! `feature_lists.NAME`. Where a record does not have the feature the value is null; a feature with an empty list has an empty list. A
//! later record that does not fit these columns is an error ([`ExampleError`]), never other data.
//!
//! Source: tensorflow/tensorflow, `tensorflow/core/example/example.proto` and `feature.proto`. Maps and messages that are in a record
//! more than once mean what protobuf says they mean: the last entry of a name counts, and messages are merged.
//!
//! ```
//! use arrow_array::{cast::AsArray, types::Int64Type};
//! use tidemill_riegeli::{
//!     tensorflow_example::{ExampleDecoder, ExampleKind, ExampleSampler},
//!     tfrecord::{TfRecordReader, TfRecordWriter},
//! };
//!
//! // Two examples, as TensorFlow serializes them: {"label": [7]} and {"label": [8]}.
//! let example = |label: u8| [b"\n\x10\n\x0e\n\x05label\x12\x05\x1a\x03\n\x01", &[label][..]].concat();
//! let mut writer = TfRecordWriter::new(Vec::new());
//! writer.write_record(&example(7))?;
//! writer.write_record(&example(8))?;
//! let file = writer.close()?;
//!
//! let mut sampler = ExampleSampler::new(ExampleKind::Example);
//! let mut reader = TfRecordReader::new(&file[..]);
//! while sampler.len() < 1_000
//!     && let Some(record) = reader.read_record()?
//! {
//!     sampler.add(record, format_args!("record {}", sampler.len()))?;
//! }
//! let schema = sampler.finish();
//! assert_eq!(schema.arrow_schema().field(0).name(), "label");
//!
//! let mut decoder = ExampleDecoder::new(&schema);
//! let mut reader = TfRecordReader::new(&file[..]);
//! let mut number = 0;
//! while let Some(record) = reader.read_record()? {
//!     decoder.append(record, format_args!("record {number}"))?;
//!     number += 1;
//!     // `decoder.is_full()` says when to take a batch in between.
//! }
//! let batch = decoder.finish()?;
//! assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[7, 8]);
//! # Ok::<(), tidemill_riegeli::Error>(())
//! ```
//!
//! Examples are not written here.

mod column;
mod decoder;
mod descriptors;
mod message;
mod schema;

use std::fmt;

pub use self::{
    decoder::ExampleDecoder,
    descriptors::descriptors,
    schema::{ExampleSampler, ExampleSchema},
};
use crate::{RecordType, error::RowProblem};

/// The most features that the records of a file may have.
pub const MAX_FEATURES: usize = 16_384;

/// Which of the two messages records are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExampleKind {
    /// `tensorflow.Example`: features.
    Example,
    /// `tensorflow.SequenceExample`: features of the whole, and lists of features.
    SequenceExample,
}

impl ExampleKind {
    /// Returns the message of this full name, `None` for others.
    #[must_use]
    pub fn from_message_name(name: &str) -> Option<Self> {
        [Self::Example, Self::SequenceExample]
            .into_iter()
            .find(|kind| kind.message_name() == name)
    }

    /// Returns the full name of the message: `tensorflow.Example` or `tensorflow.SequenceExample`.
    #[must_use]
    pub fn message_name(self) -> &'static str {
        match self {
            Self::Example => "tensorflow.Example",
            Self::SequenceExample => "tensorflow.SequenceExample",
        }
    }

    /// Returns the message with its [descriptors], for metadata of Riegeli files and for
    /// [`MessageSchema`](crate::MessageSchema).
    #[must_use]
    pub fn record_type(self) -> RecordType {
        RecordType {
            name: self.message_name().to_owned(),
            descriptors: descriptors(),
        }
    }
}

/// The type of the values of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeatureKind {
    /// `BytesList`.
    Bytes,
    /// `FloatList`.
    Float,
    /// `Int64List`.
    Int64,
}

impl fmt::Display for FeatureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Float => "float",
            Self::Int64 => "int64",
        })
    }
}

/// A record that is no example, or does not fit the columns that were found by other records.
#[derive(Debug, thiserror::Error)]
#[error("{place}{}: {problem}", OfFeature(feature.as_deref()))]
#[non_exhaustive]
pub struct ExampleError {
    /// Which record, as the caller called it.
    pub place: String,
    /// The feature, where it is about one.
    pub feature: Option<String>,
    /// What is wrong.
    pub problem: ExampleProblem,
}

/// What is wrong with a record that should be an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExampleProblem {
    /// Not a protobuf message.
    #[error("not an example: {0}")]
    Message(RowProblem),
    /// A field that the message does not have: it is another message.
    #[error("not a {message} message: it has a field {number}")]
    Field {
        /// The message that was expected.
        message: &'static str,
        /// The number of the field.
        number: u32,
    },
    /// Values of another type.
    #[error("expected {expected} values, as in records before, found {found} values")]
    Kind {
        /// The type of the column.
        expected: FeatureKind,
        /// The type in the record.
        found: FeatureKind,
    },
    /// Another number of values than one where the column has one.
    #[error(
        "expected one value, as in the records that the columns were found by, found {found}; find the columns by more records"
    )]
    Count {
        /// How many there are.
        found: usize,
    },
    /// A feature without a column.
    #[error("no record that the columns were found by has this feature; find the columns by more records")]
    Unknown,
    /// More features than the limit.
    #[error("there are more than {limit} features")]
    TooMany {
        /// [`MAX_FEATURES`].
        limit: usize,
    },
    /// More values than a batch can hold.
    #[error("the batch has no room for the values of this record; take smaller batches")]
    Full,
}

impl From<RowProblem> for ExampleProblem {
    fn from(problem: RowProblem) -> Self {
        Self::Message(problem)
    }
}

struct OfFeature<'a>(Option<&'a str>);

impl fmt::Display for OfFeature<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(feature) => write!(f, ", feature `{feature}`"),
            None => Ok(()),
        }
    }
}
