//! What the writers of columns write to: bytes of a block.

use arrow_array::{Array, cast::AsArray};
use arrow_schema::DataType as ArrowType;

use crate::{BlockError, Calendar, Error, Result, revision::Revision};

/// The bytes of one block.
pub(crate) struct Output<'a> {
    pub(crate) bytes: &'a mut Vec<u8>,
    /// Where the block begins in `bytes`.
    begin: usize,
    pub(crate) revision: Revision,
    /// What the dates are checked against.
    pub(crate) calendar: Calendar,
    /// The values are those of a dictionary, whose strings are after their lengths at any revision.
    pub(crate) in_dictionary: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn new(bytes: &'a mut Vec<u8>, revision: Revision, calendar: Calendar) -> Self {
        Self {
            begin: bytes.len(),
            bytes,
            revision,
            calendar,
            in_dictionary: false,
        }
    }

    /// Whether the values of strings come after their offsets.
    pub(crate) fn string_offsets(&self) -> bool {
        self.revision >= Revision::STRING_OFFSETS && !self.in_dictionary
    }

    pub(crate) fn u64(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// A number in groups of seven bits, the lowest first.
    pub(crate) fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    /// Bytes after their length.
    pub(crate) fn string(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// An error at this place.
    pub(crate) fn error(&self, what: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::Block(Box::new(BlockError {
            column: String::new(),
            row: None,
            what,
            offset: (self.bytes.len() - self.begin) as u64,
            expected: expected.into(),
            found: found.into(),
        }))
    }

    /// An error about the value in a row.
    pub(crate) fn value_error(
        &self,
        row: usize,
        what: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        let mut error = self.error(what, expected, found);
        if let Error::Block(error) = &mut error {
            error.row = Some(row as u64);
        }
        error
    }

    /// The error for an array of another type than is written.
    pub(crate) fn array_type(&self, expected: impl Into<String>, found: &ArrowType) -> Error {
        self.error(ARROW_TYPE, expected, found.to_string())
    }

    /// The array as one of numbers of type `T`.
    pub(crate) fn primitive<'b, T: arrow_array::ArrowPrimitiveType>(
        &self,
        array: &'b dyn Array,
    ) -> Result<&'b arrow_array::PrimitiveArray<T>> {
        array
            .as_primitive_opt::<T>()
            .ok_or_else(|| self.array_type(T::DATA_TYPE.to_string(), array.data_type()))
    }
}

/// What an error is about when an array is of a type that a column of ClickHouse cannot be written from.
pub(crate) const ARROW_TYPE: &str = "an Arrow array";
