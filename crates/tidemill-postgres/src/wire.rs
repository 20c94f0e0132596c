//! Rows as a server of PostgreSQL's protocol sends them, and the values that its clients send: for a program that is a server itself.
//!
//! Values in binary are those of `encode` and `decode`. Their text is made of their bytes, so that there is one way from an array to a
//! value (`text.rs`).

mod text;

use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_buffer::NullBuffer;
use tokio_postgres::types::Type as WireType;

use crate::binary_copy::rows_of_copy;
use crate::data_type::Type;
use crate::encode::{Cell, HEADER, TRAILER, cell, element_number, measured, unsupported_cell};
use crate::error::{Error, Misfit, Result};

/// In which form values are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueFormat {
    /// As text (format code 0).
    #[default]
    Text,
    /// In binary (format code 1).
    Binary,
}

/// The rows of a batch as the values of `DataRow` messages ([Message Formats][docs]).
///
/// [docs]: https://www.postgresql.org/docs/15/protocol-message-formats.html
///
/// ```
/// use std::sync::Arc;
/// use tidemill_postgres::arrow_array::{ArrayRef, Int32Array, RecordBatch};
/// use tidemill_postgres::Type;
/// use tidemill_postgres::wire::{ValueFormat, WireRows};
///
/// let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
/// let batch = RecordBatch::try_from_iter_with_nullable([("n", numbers, true)]).expect("a batch");
/// let rows = WireRows::new(&batch, &[(Type::Int4, ValueFormat::Text)])?;
/// let mut values = Vec::new();
/// rows.write(0, &mut values)?;
/// rows.write(1, &mut values)?;
/// assert_eq!(values, b"\0\0\0\x017\xff\xff\xff\xff");
/// # Ok::<(), tidemill_postgres::Error>(())
/// ```
pub struct WireRows<'a> {
    columns: Vec<WireColumn<'a>>,
    /// The bytes of a value whose text is written.
    bytes: RefCell<Vec<u8>>,
}

impl std::fmt::Debug for WireRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WireRows")
            .field("columns", &self.columns.len())
            .finish()
    }
}

struct WireColumn<'a> {
    name: String,
    typ: Type,
    format: ValueFormat,
    nulls: Option<NullBuffer>,
    cell: Cell<'a>,
}

impl<'a> WireRows<'a> {
    /// The rows of a batch, whose columns are sent as these types.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for arrays that no column of the type takes.
    pub fn new(batch: &'a RecordBatch, columns: &[(Type, ValueFormat)]) -> Result<Self> {
        let schema = batch.schema();
        let arrays = batch.columns().iter().zip(schema.fields()).zip(columns);
        let columns = arrays.map(|((array, field), (typ, format))| {
            let cell = cell(array, typ).ok_or_else(|| unsupported_cell(array, field.name(), typ, PLACE))?;
            Ok(WireColumn {
                name: field.name().clone(),
                typ: typ.clone(),
                format: *format,
                nulls: array.logical_nulls(),
                cell,
            })
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            bytes: RefCell::default(),
        })
    }

    /// Appends the values of a row, each behind its length.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] for a value that its type does not hold.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let bytes = &mut *self.bytes.borrow_mut();
        for column in &self.columns {
            if column.is_null(row) {
                out.extend_from_slice(&(-1_i32).to_be_bytes());
                continue;
            }
            measured(out, |out| column.write(column.format, row, bytes, out))
                .map_err(|misfit| column.error(misfit, row))?;
        }
        Ok(())
    }

    /// Appends the value of a row and a column as text, without its length; returns false, and appends nothing, for NULL.
    ///
    /// # Errors
    ///
    /// As [`WireRows::write`].
    pub fn write_text(&self, row: usize, column: usize, out: &mut Vec<u8>) -> Result<bool> {
        let Some(column) = self.columns.get(column).filter(|column| !column.is_null(row)) else {
            return Ok(false);
        };
        let written = column.write(ValueFormat::Text, row, &mut self.bytes.borrow_mut(), out);
        written.map_err(|misfit| column.error(misfit, row))?;
        Ok(true)
    }
}

impl WireColumn<'_> {
    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    fn write(&self, format: ValueFormat, row: usize, bytes: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), Misfit> {
        if format == ValueFormat::Binary || text::is_its_bytes(&self.typ) {
            return (self.cell)(row, out);
        }
        bytes.clear();
        (self.cell)(row, bytes)?;
        text::push(&self.typ, bytes, out)
    }

    fn error(&self, misfit: Misfit, row: usize) -> Error {
        misfit.at(PLACE, (row as u64).saturating_add(1), &self.name)
    }
}

/// The values that a client sends for parameters of these types, each `None` for NULL, as a batch of one row.
///
/// # Errors
///
/// [`Error::Value`] for bytes that are no value of their type, [`Error::Unsupported`] for a type whose values this crate does not know.
pub fn parameters(values: &[(Type, ValueFormat, Option<&[u8]>)]) -> Result<RecordBatch> {
    let mut copy = HEADER.to_vec();
    let count = i16::try_from(values.len()).map_err(|_| Error::Unsupported {
        what: format!("{} parameters", values.len()),
        hint: format!("give at most {}", i16::MAX),
    })?;
    copy.extend_from_slice(&count.to_be_bytes());
    for (number, (typ, format, bytes)) in values.iter().enumerate() {
        let name = format!("${}", number + 1);
        let wrong = |misfit: Misfit| misfit.at("the parameters", 1, &name);
        match (bytes, format) {
            (None, _) => copy.extend_from_slice(&(-1_i32).to_be_bytes()),
            (Some(bytes), ValueFormat::Binary) => measured(&mut copy, |out| {
                out.extend_from_slice(bytes);
                Ok(())
            })
            .map_err(wrong)?,
            (Some(bytes), ValueFormat::Text) => {
                let text = std::str::from_utf8(bytes).map_err(|error| wrong(Misfit::new("UTF-8", error)))?;
                measured(&mut copy, |out| binary_of_text(typ, text, out)).map_err(wrong)?;
            }
        }
    }
    copy.extend_from_slice(TRAILER);
    let columns = values
        .iter()
        .enumerate()
        .map(|(number, (typ, _, _))| (format!("${}", number + 1), typ.clone()));
    rows_of_copy(&columns.collect::<Vec<_>>(), &copy, copy.len())
}

/// Appends the bytes of a value whose text is given.
fn binary_of_text(typ: &Type, text: &str, out: &mut Vec<u8>) -> Result<(), Misfit> {
    if *typ == Type::Bytea {
        return text::push_bytea(text, out);
    }
    let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
    match cell(&array, typ) {
        Some(cell) => cell(0, out),
        None => Err(Misfit::new(format!("a value of type {typ} in binary"), "text")),
    }
}

impl Type {
    /// The number of the type in the catalogue (`oid`), which is the same on every server. Types of a server's own are `text`.
    #[must_use]
    pub fn oid(&self) -> u32 {
        let wire = match self {
            Self::Array(element) => return array_oid(element),
            Self::Void => WireType::VOID,
            _ => return element_number(self).unwrap_or(WireType::TEXT.oid()),
        };
        wire.oid()
    }

    /// The type that a number in the catalogue means; `None` for types of a server's own.
    #[must_use]
    pub fn of_oid(oid: u32) -> Option<Self> {
        WireType::from_oid(oid).map(|wire| Self::of_wire(&wire, -1))
    }

    /// How many bytes a value has, as `RowDescription` says it: -1 where values differ.
    #[must_use]
    pub fn size(&self) -> i16 {
        match self {
            Self::Bool => 1,
            Self::Int2 => 2,
            Self::Int4 | Self::Oid | Self::Float4 | Self::Date => 4,
            Self::Int8 | Self::Float8 | Self::Time | Self::Timestamp | Self::TimestampTz => 8,
            Self::Interval | Self::Uuid => 16,
            Self::Name => 64,
            _ => -1,
        }
    }

    /// What `RowDescription` says of the type beyond its number: the length of a `varchar`, the scale of a `numeric`; -1 for nothing.
    #[must_use]
    pub fn modifier(&self) -> i32 {
        const HEADER: i32 = 4;
        match self {
            Self::Numeric(Some((precision, scale))) => {
                (i32::from(*precision) << 16 | (i32::from(*scale) & 0x7ff)).saturating_add(HEADER)
            }
            Self::Varchar(Some(length)) | Self::Bpchar(Some(length)) => {
                i32::try_from(*length).map_or(-1, |length| length.saturating_add(HEADER))
            }
            _ => -1,
        }
    }
}

/// The number of an array's type.
fn array_oid(element: &Type) -> u32 {
    let text = WireType::TEXT_ARRAY;
    let wire = match element {
        Type::Bool => WireType::BOOL_ARRAY,
        Type::Int2 => WireType::INT2_ARRAY,
        Type::Int4 => WireType::INT4_ARRAY,
        Type::Int8 => WireType::INT8_ARRAY,
        Type::Oid => WireType::OID_ARRAY,
        Type::Float4 => WireType::FLOAT4_ARRAY,
        Type::Float8 => WireType::FLOAT8_ARRAY,
        Type::Numeric(_) => WireType::NUMERIC_ARRAY,
        Type::Varchar(_) => WireType::VARCHAR_ARRAY,
        Type::Bpchar(_) => WireType::BPCHAR_ARRAY,
        Type::Name => WireType::NAME_ARRAY,
        Type::Xml => WireType::XML_ARRAY,
        Type::Json => WireType::JSON_ARRAY,
        Type::Jsonb => WireType::JSONB_ARRAY,
        Type::Bytea => WireType::BYTEA_ARRAY,
        Type::Date => WireType::DATE_ARRAY,
        Type::Time => WireType::TIME_ARRAY,
        Type::Timestamp => WireType::TIMESTAMP_ARRAY,
        Type::TimestampTz => WireType::TIMESTAMPTZ_ARRAY,
        Type::Interval => WireType::INTERVAL_ARRAY,
        Type::Uuid => WireType::UUID_ARRAY,
        Type::Text | Type::Enum(_) | Type::Void | Type::Array(_) | Type::Other(_) => text,
    };
    wire.oid()
}

/// What errors call it.
const PLACE: &str = "the answer";

#[cfg(test)]
mod tests;
