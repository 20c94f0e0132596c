//! Rows of `COPY … TO STDOUT (FORMAT binary)` into Arrow's buffers.
//!
//! | bytes | meaning |
//! |---|---|
//! | 11 | `PGCOPY\n\xff\r\n\0` |
//! | `int32`, `int32`, bytes | flags; the length of a header's extension, and the extension |
//! | `int16` | how many fields the row has; -1 behind the last row |
//! | `int32`, bytes | the length of each field, -1 for NULL, and its value as its type is sent |
//!
//! PostgreSQL's manual, "COPY: Binary Format". A row is looked through before its first value is taken, so that one that has not come
//! whole waits for the rest.

mod values;

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, SchemaRef};

use self::values::Values;
use crate::data_type::Type;
use crate::error::{Error, Misfit, Result};
use crate::options::Unrepresentable;

/// Takes the bytes of a copy, in whatever pieces they come, and gives batches.
pub(crate) struct Decoder {
    schema: SchemaRef,
    columns: Vec<Values>,
    /// The table or the statement, as errors name it.
    place: String,
    unrepresentable: Unrepresentable,
    stage: Stage,
    /// What has come of a row whose rest has not.
    carry: Vec<u8>,
    /// Rows and about how many bytes there are in the batch.
    rows: usize,
    bytes: usize,
    /// Rows of the batches before.
    before: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Header,
    Rows,
    Done,
}

impl Decoder {
    /// A decoder of rows whose fields have these types.
    pub(crate) fn new(
        schema: SchemaRef,
        types: &[Type],
        place: String,
        unrepresentable: Unrepresentable,
    ) -> Result<Self> {
        let columns = schema.fields().iter().zip(types);
        let columns = columns
            .map(|(field, typ)| Values::new(field, typ))
            .collect::<Result<_>>()?;
        Ok(Self {
            schema,
            columns,
            place,
            unrepresentable,
            stage: Stage::Header,
            carry: Vec::new(),
            rows: 0,
            bytes: 0,
            before: 0,
        })
    }

    /// Rows in the batch, and about how many bytes of memory they take.
    pub(crate) fn pending(&self) -> (usize, usize) {
        (self.rows, self.bytes)
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        if self.carry.is_empty() {
            let taken = self.take(bytes)?;
            self.carry.extend_from_slice(bytes.get(taken..).unwrap_or_default());
            return Ok(());
        }
        self.carry.extend_from_slice(bytes);
        let carry = std::mem::take(&mut self.carry);
        let taken = self.take(&carry)?;
        self.carry = carry;
        self.carry.drain(..taken);
        Ok(())
    }

    /// Takes what has come whole, and tells how many bytes that is.
    fn take(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut taken = 0;
        loop {
            let rest = bytes.get(taken..).unwrap_or_default();
            let length = match self.stage {
                Stage::Header => self.header(rest)?,
                Stage::Rows => self.row(rest)?,
                Stage::Done if rest.is_empty() => return Ok(taken),
                Stage::Done => return Err(self.corrupt("no more", format!("{} bytes behind the end", rest.len()))),
            };
            match length {
                Some(length) => taken += length,
                None => return Ok(taken),
            }
        }
    }

    fn header(&mut self, bytes: &[u8]) -> Result<Option<usize>> {
        let begin = bytes.get(..SIGNATURE.len()).unwrap_or(bytes);
        if !SIGNATURE.starts_with(begin) {
            return Err(self.corrupt("the signature PGCOPY", format!("{begin:02x?}")));
        }
        let Some([f3, f2, f1, f0, e3, e2, e1, e0, rest @ ..]) = bytes.get(SIGNATURE.len()..) else {
            return Ok(None);
        };
        let flags = u32::from_be_bytes([*f3, *f2, *f1, *f0]);
        if flags != 0 {
            return Err(self.corrupt("no flags", format!("0x{flags:08x}")));
        }
        let extension = i32::from_be_bytes([*e3, *e2, *e1, *e0]);
        let length = usize::try_from(extension)
            .ok()
            .filter(|length| *length <= LARGEST_EXTENSION);
        let Some(length) = length else {
            return Err(self.corrupt("a header's extension of at most 64 KiB", format!("{extension} bytes")));
        };
        if rest.len() < length {
            return Ok(None);
        }
        self.stage = Stage::Rows;
        Ok(Some(SIGNATURE.len() + 8 + length))
    }

    /// One row, when it is there in full.
    fn row(&mut self, bytes: &[u8]) -> Result<Option<usize>> {
        let [high, low, fields @ ..] = bytes else {
            return Ok(None);
        };
        let count = i16::from_be_bytes([*high, *low]);
        if count == -1 {
            self.stage = Stage::Done;
            return Ok(Some(2));
        }
        if usize::try_from(count) != Ok(self.columns.len()) {
            return Err(self.corrupt(format!("{} fields", self.columns.len()), count));
        }
        let Some(length) = self.length(fields)? else {
            return Ok(None);
        };
        let (mut rest, mut size) = (fields, 0);
        for index in 0..self.columns.len() {
            let Ok(Some((value, behind))) = field(rest) else {
                // It was looked through already.
                return Ok(None);
            };
            size += self.value(index, value)?;
            rest = behind;
        }
        self.rows += 1;
        self.bytes += size;
        Ok(Some(2 + length))
    }

    /// The bytes of a row's fields, when they are all there.
    fn length(&self, fields: &[u8]) -> Result<Option<usize>> {
        let mut rest = fields;
        for index in 0..self.columns.len() {
            match field(rest) {
                Ok(Some((_, behind))) => rest = behind,
                Ok(None) => return Ok(None),
                Err(length) => {
                    let name = self.name(index);
                    return Err(self.corrupt(format!("a length of at most 1 GiB, or -1, in column {name}"), length));
                }
            }
        }
        Ok(Some(fields.len() - rest.len()))
    }

    /// Takes the values of a row, which came by themselves.
    pub(crate) fn values<'a>(&mut self, fields: impl ExactSizeIterator<Item = Result<Option<&'a [u8]>>>) -> Result<()> {
        if fields.len() != self.columns.len() {
            return Err(self.corrupt(format!("{} fields", self.columns.len()), fields.len()));
        }
        let mut size = 0;
        for (index, value) in fields.enumerate() {
            size += self.value(index, value?)?;
        }
        self.rows += 1;
        self.bytes += size;
        Ok(())
    }

    fn value(&mut self, index: usize, value: Option<&[u8]>) -> Result<usize> {
        let Some(column) = self.columns.get_mut(index) else {
            return Ok(0);
        };
        let is_nullable = self.schema.fields().get(index).is_some_and(|field| field.is_nullable());
        let taken = match value {
            Some(bytes) => column.append(bytes),
            None if is_nullable => {
                column.append_null();
                Ok(1)
            }
            None => Err(values::Refusal::Corrupt(Misfit::new(
                "a value",
                "NULL, which the column does not take",
            ))),
        };
        let misfit = match taken {
            Ok(size) => return Ok(size),
            Err(values::Refusal::Unrepresentable(_))
                if is_nullable && self.unrepresentable == Unrepresentable::Null =>
            {
                column.append_null();
                return Ok(1);
            }
            Err(values::Refusal::Unrepresentable(misfit) | values::Refusal::Corrupt(misfit)) => misfit,
        };
        Err(misfit.at(&self.place, self.row_number(), self.name(index)))
    }

    /// The rows since the last batch.
    pub(crate) fn batch(&mut self) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        self.before += rows as u64;
        let columns = self.columns.iter_mut().map(Values::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?)
    }

    /// Checks that the last row was the last.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.stage {
            Stage::Done => Ok(()),
            _ => Err(self.corrupt("the end of the rows", format!("{} bytes of a row", self.carry.len()))),
        }
    }

    fn name(&self, index: usize) -> &str {
        self.schema.fields().get(index).map_or("", |field| field.name())
    }

    fn row_number(&self) -> u64 {
        self.before + self.rows as u64 + 1
    }

    fn corrupt(&self, expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Error {
        Error::Corrupt {
            place: self.place.clone(),
            row: self.row_number(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

/// The bytes of a field (`None` for NULL), and the bytes after it.
type Field<'a> = (Option<&'a [u8]>, &'a [u8]);

/// The first field. `None` when it has not come whole, and an error for a length that none has.
fn field(bytes: &[u8]) -> Result<Option<Field<'_>>, i32> {
    let Some((length, rest)) = bytes.split_first_chunk() else {
        return Ok(None);
    };
    let length = i32::from_be_bytes(*length);
    match usize::try_from(length) {
        Ok(length) if length <= LARGEST_FIELD => {
            Ok(rest.split_at_checked(length).map(|(value, rest)| (Some(value), rest)))
        }
        _ if length == -1 => Ok(Some((None, rest))),
        _ => Err(length),
    }
}

/// Whether the Arrow type holds the values of a type that are read.
pub(crate) fn reads_into(typ: &Type, data_type: &DataType) -> bool {
    crate::arrow_type::data_type(typ) == *data_type
}

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
const LARGEST_EXTENSION: usize = 1 << 16;
/// What the server itself allocates for a value at most (`MaxAllocSize` in its `memutils.h`).
const LARGEST_FIELD: usize = 1 << 30;

#[cfg(test)]
mod tests;
