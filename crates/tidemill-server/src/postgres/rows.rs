//! Results as rows: each batch of Arrow is encoded as `DataRow` messages when it is needed.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};
use bytes::{Bytes, BytesMut};
use datafusion::arrow::compute::cast;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt as _;
use pgwire::api::Type as WireType;
use pgwire::api::portal::Format;
use pgwire::api::results::FieldFormat;
use pgwire::error::PgWireError;
use pgwire::messages::data::{DataRow, FieldDescription, RowDescription};
use tidemill_postgres::Type;
use tidemill_postgres::arrow_type::column_type;
use tidemill_postgres::wire::{ValueFormat, WireRows};
use tidemill_sql::{Answer, check_moments};

use super::column_names::ColumnNames;
use super::failure;
use crate::failure::Failure;

/// The source of rows.
pub(crate) enum Source {
    /// The answer of a statement of the session, and its text for errors.
    Session(Answer, String),
    /// A query over the catalogue.
    Catalog(SendableRecordBatchStream),
    /// Rows in memory.
    Ready(VecDeque<RecordBatch>, SchemaRef),
}

impl Source {
    pub(crate) fn of_batch(batch: RecordBatch) -> Self {
        let schema = batch.schema();
        Self::Ready(VecDeque::from([batch]), schema)
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::Session(answer, _) => answer.schema(),
            Self::Catalog(stream) => stream.schema(),
            Self::Ready(_, schema) => Arc::clone(schema),
        }
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>, PgWireError> {
        match self {
            Self::Session(answer, text) => answer.next().await.map_err(|error| failure::of_session(&error, text)),
            Self::Catalog(stream) => stream.next().await.transpose().map_err(failure::of_catalog),
            Self::Ready(batches, _) => Ok(batches.pop_front()),
        }
    }
}

/// A column as it is sent to the client.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) name: String,
    pub(crate) typ: Type,
    how: How,
    /// A type that only the catalogue has.
    special: Option<Special>,
}

/// Types that only the catalogue has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Special {
    /// `"char"`, encoded as text.
    Letter,
    /// `int2vector` and `oidvector`: in text, numbers separated by blanks; in binary, arrays.
    Vector(WireType),
}

impl Special {
    fn of(field: &Field) -> Option<Self> {
        match field.metadata().get(SPECIAL).map(String::as_str) {
            Some(LETTER) => Some(Self::Letter),
            Some(INT2_VECTOR) => Some(Self::Vector(WireType::INT2_VECTOR)),
            Some(OID_VECTOR) => Some(Self::Vector(WireType::OID_VECTOR)),
            _ => None,
        }
    }
}

/// How an array is converted before it is sent.
#[derive(Clone, Debug)]
enum How {
    AsItIs,
    /// Cast to a type that the protocol has.
    Cast(DataType),
    /// As JSON, for structs, maps and lists of lists.
    Json,
    /// As text with blanks between the numbers.
    Vector,
}

/// The columns to send for a schema.
pub(crate) fn sent(schema: &SchemaRef) -> Vec<Sent> {
    let columns = schema.fields().iter().map(|field| {
        let (typ, how) = sent_as(field);
        Sent {
            name: field.name().clone(),
            typ,
            how,
            special: Special::of(field),
        }
    });
    columns.collect()
}

/// Renames columns as PostgreSQL names them.
pub(crate) fn name_columns(columns: &mut [Sent], names: Option<&ColumnNames>) {
    let Some(names) = names else { return };
    let count = columns.len();
    for (place, column) in columns.iter_mut().enumerate() {
        if let Some(name) = names.name(place, count) {
            name.clone_into(&mut column.name);
        }
    }
}

fn sent_as(field: &Field) -> (Type, How) {
    let microseconds = match field.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            Some(DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))
        }
        DataType::Time64(TimeUnit::Nanosecond) => Some(DataType::Time64(TimeUnit::Microsecond)),
        DataType::Duration(TimeUnit::Nanosecond) => Some(DataType::Duration(TimeUnit::Microsecond)),
        _ => None,
    };
    let how = match microseconds {
        Some(data_type) => How::Cast(data_type),
        None => How::AsItIs,
    };
    // OIDs, which have their own type for clients.
    if *field.data_type() == DataType::Int32 && field.metadata().contains_key(OID) {
        return (Type::Oid, How::AsItIs);
    }
    match column_type(field) {
        Ok(typ) => (typ, how),
        Err(_) => (Type::Json, How::Json),
    }
}

/// The key of a field's metadata by which datafusion-pg-catalog marks OIDs.
pub(super) const OID: &str = "pg.oid_alias";

/// The key of a field's metadata that names a type of the catalogue only.
pub(super) const SPECIAL: &str = "tidemill.catalog-type";

/// Text of one character: `"char"`.
pub(super) const LETTER: &str = "char";

/// A list of numbers with subscripts from 0.
pub(super) const INT2_VECTOR: &str = "int2vector";
pub(super) const OID_VECTOR: &str = "oidvector";

/// The RowDescription of these columns in these formats.
pub(crate) fn description(columns: &[Sent], formats: &Format) -> RowDescription {
    let fields = columns.iter().enumerate().map(|(place, column)| {
        let format = match format_of(formats, place) {
            ValueFormat::Text => FieldFormat::Text,
            ValueFormat::Binary => FieldFormat::Binary,
        };
        let (oid, size, modifier) = match &column.special {
            Some(Special::Letter) => (WireType::CHAR.oid(), 1, -1),
            Some(Special::Vector(vector)) => (vector.oid(), -1, -1),
            None => (column.typ.oid(), column.typ.size(), column.typ.modifier()),
        };
        FieldDescription::new(column.name.clone(), 0, 0, oid, size, modifier, format.value())
    });
    RowDescription::new(fields.collect())
}

/// The format of a column; a client sets one for all, or one for each.
pub(super) fn format_of(formats: &Format, place: usize) -> ValueFormat {
    let is_binary = match formats {
        Format::UnifiedText => false,
        Format::UnifiedBinary => true,
        Format::Individual(codes) => codes.get(place) == Some(&1),
    };
    match is_binary {
        true => ValueFormat::Binary,
        false => ValueFormat::Text,
    }
}

/// Rows that are sent to a client.
pub(crate) struct Rows {
    source: Source,
    pub(crate) columns: Vec<Sent>,
    types: Vec<(Type, ValueFormat)>,
    written: VecDeque<DataRow>,
    /// The rest of a batch that was read in part.
    rest: Option<RecordBatch>,
    /// The command tag sent after the last row.
    pub(crate) tag: String,
    /// How many rows the user may still read.
    left: Option<u64>,
}

impl Rows {
    /// Rows of a source, at most `most` if it is set.
    pub(crate) fn new(source: Source, tag: &str, most: Option<u64>) -> Self {
        let mut columns = sent(&source.schema());
        if matches!(source, Source::Catalog(_)) {
            // Integer lists of the catalogue are lists of OIDs. asyncpg knows that type without a further query.
            let numbers = Type::Array(Box::new(Type::Int4));
            for column in columns.iter_mut().filter(|column| column.typ == numbers) {
                column.typ = Type::Array(Box::new(Type::Oid));
            }
        }
        Self {
            types: Vec::new(),
            written: VecDeque::new(),
            rest: None,
            tag: tag.to_owned(),
            left: most,
            columns,
            source,
        }
    }

    /// Renames columns as PostgreSQL names them.
    pub(crate) fn name_columns(&mut self, names: Option<&ColumnNames>) {
        name_columns(&mut self.columns, names);
    }

    /// Rows in memory, already converted for sending.
    pub(crate) fn ready(batches: VecDeque<RecordBatch>, columns: Vec<Sent>, tag: &str) -> Self {
        let schema = batches
            .front()
            .map_or_else(|| Arc::new(arrow_schema::Schema::empty()), RecordBatch::schema);
        let columns = columns.into_iter().map(|column| Sent {
            how: How::AsItIs,
            ..column
        });
        Self {
            types: Vec::new(),
            written: VecDeque::new(),
            rest: None,
            tag: tag.to_owned(),
            left: None,
            columns: columns.collect(),
            source: Source::Ready(batches, schema),
        }
    }

    /// Sets the formats that the client requested.
    pub(crate) fn set_formats(&mut self, formats: &Format) {
        for (place, column) in self.columns.iter_mut().enumerate() {
            if matches!(column.special, Some(Special::Vector(_))) && format_of(formats, place) == ValueFormat::Text {
                (column.typ, column.how) = (Type::Text, How::Vector);
            }
        }
        let types = self.columns.iter().enumerate();
        self.types = types
            .map(|(place, column)| (column.typ.clone(), format_of(formats, place)))
            .collect();
    }

    /// The next rows, at most a batch; `None` at the end.
    ///
    /// # Errors
    ///
    /// Errors of the scan; a value outside the range of its type; SQLSTATE 54000 for more rows than the user may read.
    pub(crate) async fn next(&mut self) -> Result<Option<VecDeque<DataRow>>, PgWireError> {
        if !self.written.is_empty() {
            return Ok(Some(std::mem::take(&mut self.written)));
        }
        while let Some(batch) = self.next_batch().await? {
            let rows = self.write(&batch)?;
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }

    /// The next batch, converted for sending; `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`Rows::next`].
    pub(crate) async fn next_batch(&mut self) -> Result<Option<RecordBatch>, PgWireError> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(rest));
        }
        let Some(batch) = self.source.next().await? else {
            return Ok(None);
        };
        if let Some(left) = &mut self.left {
            let rows = batch.num_rows() as u64;
            *left = left.checked_sub(rows).ok_or_else(Failure::too_many_rows)?;
        }
        as_sent(&batch, &self.columns).map(Some)
    }

    /// Returns rows, to be read next.
    pub(crate) fn put_back(&mut self, rows: VecDeque<DataRow>) {
        self.written = rows;
    }

    /// Returns the rest of a batch, to be read next.
    pub(crate) fn put_back_batch(&mut self, batch: RecordBatch) {
        self.rest = Some(batch);
    }

    fn write(&self, batch: &RecordBatch) -> Result<VecDeque<DataRow>, PgWireError> {
        let writer = WireRows::new(batch, &self.types).map_err(|error| failure::of_value(&error))?;
        let count = i16::try_from(self.types.len()).map_err(|_| too_many_columns(self.types.len()))?;
        let mut bytes = Vec::with_capacity(batch.num_rows() * self.types.len() * 12);
        let mut ends = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            writer
                .write(row, &mut bytes)
                .map_err(|error| failure::of_value(&error))?;
            ends.push(bytes.len());
        }
        let mut bytes = BytesMut::from(Bytes::from(bytes));
        let mut begin = 0;
        let rows = ends.into_iter().map(|end| {
            let row = bytes.split_to(end - begin);
            begin = end;
            DataRow::new(row, count)
        });
        Ok(rows.collect())
    }
}

/// An error: the protocol counts columns in 16 bits.
fn too_many_columns(count: usize) -> PgWireError {
    failure::error(
        "54011",
        format!("an answer of {count} columns; at most {} can be sent", i16::MAX),
    )
}

fn as_sent(batch: &RecordBatch, columns: &[Sent]) -> Result<RecordBatch, PgWireError> {
    if columns.iter().all(|column| matches!(column.how, How::AsItIs)) {
        return Ok(batch.clone());
    }
    if columns.iter().any(|column| matches!(column.how, How::Json)) {
        check_moments(batch).map_err(|error| failure::error("22008", error.to_string()))?;
    }
    let arrays = batch.columns().iter().zip(batch.schema_ref().fields()).zip(columns);
    let arrays = arrays.map(|((array, field), column)| match &column.how {
        How::AsItIs => Ok(Arc::clone(array)),
        How::Cast(data_type) => cast(array, data_type).map_err(|error| failure::error("22003", error.to_string())),
        How::Json => json(array, field),
        How::Vector => Ok(vector(array)),
    });
    let arrays = arrays.collect::<Result<Vec<ArrayRef>, PgWireError>>()?;
    let fields = arrays.iter().zip(columns);
    let fields = fields.map(|(array, column)| Field::new(&column.name, array.data_type().clone(), true));
    let schema = arrow_schema::Schema::new(fields.collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), arrays).map_err(|error| failure::error("XX000", error.to_string()))
}

/// The values of an array as JSON.
fn json(array: &ArrayRef, field: &Arc<Field>) -> Result<ArrayRef, PgWireError> {
    let wrong = |error: arrow_schema::ArrowError| failure::error("0A000", error.to_string());
    let options = arrow_json::writer::EncoderOptions::default().with_explicit_nulls(true);
    let mut encoder = arrow_json::writer::make_encoder(field, array, &options).map_err(wrong)?;
    let texts = (0..array.len()).map(|row| {
        if array.is_null(row) {
            return Ok(None);
        }
        let mut text = Vec::new();
        encoder.encode(row, &mut text);
        String::from_utf8(text)
            .map(Some)
            .map_err(|error| failure::error("22021", error.to_string()))
    });
    let texts: StringArray = texts.collect::<Result<Vec<_>, PgWireError>>()?.into_iter().collect();
    Ok(Arc::new(texts))
}

/// The numbers of lists as text with blanks between them.
fn vector(array: &ArrayRef) -> ArrayRef {
    let Some(lists) = array.as_list_opt::<i32>() else {
        return Arc::clone(array);
    };
    let texts = lists.iter().map(|list| {
        let numbers = cast(&list?, &DataType::Utf8).ok()?;
        let numbers = numbers.as_string_opt::<i32>()?.iter().flatten().collect::<Vec<_>>();
        Some(numbers.join(" "))
    });
    Arc::new(texts.collect::<StringArray>())
}
