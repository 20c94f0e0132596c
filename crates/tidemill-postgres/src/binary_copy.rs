//! Copies in the binary format that are there as bytes, such as files that `COPY … TO 'file' (FORMAT binary)` wrote.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use crate::arrow_type;
use crate::data_type::Type;
use crate::decode::Decoder;
use crate::encode::{HEADER, Limit, TRAILER, Target, encode};
use crate::error::{Error, Result};
use crate::options::Unrepresentable;

/// The rows of a copy, whose columns have these names and types: the format has neither. They are taken in pieces of so many bytes, at
/// least 1, which changes nothing but what is kept in between.
///
/// # Errors
///
/// [`Error::Corrupt`] for bytes that are no copy of so many columns, [`Error::Value`] for a value that is none of its type, and
/// [`Error::Unsupported`] for a type that is read as text.
///
/// ```
/// use tidemill_postgres::{Type, copy_of_rows, rows_of_copy};
///
/// let columns = [("n".to_owned(), Type::Int4)];
/// let bytes = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04\0\0\0\x07\xff\xff";
/// let rows = rows_of_copy(&columns, bytes, 1024)?;
/// assert_eq!(rows.num_rows(), 1);
/// assert_eq!(copy_of_rows(&rows, &[Type::Int4])?, bytes);
/// # Ok::<(), tidemill_postgres::Error>(())
/// ```
pub fn rows_of_copy(columns: &[(String, Type)], bytes: &[u8], piece: usize) -> Result<RecordBatch> {
    let fields = columns.iter().map(|(name, typ)| arrow_type::field(name, typ, true));
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let types: Vec<Type> = columns.iter().map(|(_, typ)| typ.clone()).collect();
    let mut decoder = Decoder::new(schema, &types, PLACE.to_owned(), Unrepresentable::Error)?;
    for piece in bytes.chunks(piece.max(1)) {
        decoder.feed(piece)?;
    }
    decoder.finish()?;
    decoder.batch()
}

/// A copy whose bytes come piece by piece.
pub struct CopyReader(Decoder);

impl std::fmt::Debug for CopyReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyReader").finish_non_exhaustive()
    }
}

impl CopyReader {
    /// A copy whose columns have these names and types.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a type that is read as text.
    pub fn new(columns: &[(String, Type)]) -> Result<Self> {
        let fields = columns.iter().map(|(name, typ)| arrow_type::field(name, typ, true));
        let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let types: Vec<Type> = columns.iter().map(|(_, typ)| typ.clone()).collect();
        Decoder::new(schema, &types, PLACE.to_owned(), Unrepresentable::Error).map(Self)
    }

    /// Takes the next bytes, and gives the rows that are whole.
    ///
    /// # Errors
    ///
    /// As [`rows_of_copy`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<RecordBatch> {
        self.0.feed(bytes)?;
        self.0.batch()
    }

    /// Ends the copy, which the end of its bytes does where its trailer is missing: servers take it so from their clients.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when the last row is not whole.
    pub fn finish(&mut self) -> Result<()> {
        if self.0.finish().is_err() {
            // Within a row these bytes are a part of it, and the end is still missing.
            self.0.feed(TRAILER)?;
        }
        self.0.finish()
    }
}

/// The copy of rows for columns of these types.
///
/// # Errors
///
/// [`Error::Value`] for a value that its column does not hold exactly, [`Error::Unsupported`] for arrays that no column of the type takes.
pub fn copy_of_rows(rows: &RecordBatch, types: &[Type]) -> Result<Vec<u8>> {
    if rows.num_columns() != types.len() {
        return Err(Error::Unsupported {
            what: format!("{PLACE}: {} columns for {} types", rows.num_columns(), types.len()),
            hint: "give one type for each column".to_owned(),
        });
    }
    let schema = rows.schema();
    let targets = schema.fields().iter().zip(types).map(|(field, typ)| Target {
        name: field.name().clone(),
        typ: typ.clone(),
        is_nullable: true,
        limit: Limit::of(typ, -1),
    });
    let mut bytes = HEADER.to_vec();
    encode(rows, &targets.collect::<Vec<_>>(), PLACE, 0, &mut bytes)?;
    bytes.extend_from_slice(TRAILER);
    Ok(bytes)
}

/// What errors call it.
const PLACE: &str = "the copy";
