//! Rows to records: a prepared encoder for each column appends its field straight to the chunk.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, RecordBatch,
    cast::AsArray,
    types::{
        Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
        UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::{
    column::{Storage, field_number},
    descriptor,
};
use crate::{
    RecordWriter, Result, WriterOptions,
    varint::{MAX_VARINT64, write_varint64},
};

/// Writes record batches as rows.
///
/// A writer that is dropped without [`finish`](Self::finish) leaves an incomplete file.
pub struct RowWriter<W> {
    writer: RecordWriter<W>,
    schema: SchemaRef,
    storages: Vec<Storage>,
    rows: u64,
}

impl RowWriter<BufWriter<File>> {
    /// Creates the file, or empties it. The metadata of `options` are replaced by those of the rows.
    ///
    /// # Errors
    /// [`Error::ColumnType`](crate::Error::ColumnType) for a column without a mapping;
    /// [`Error::Io`](crate::Error::Io).
    pub fn create(path: impl AsRef<Path>, schema: SchemaRef, options: WriterOptions) -> Result<Self> {
        let options = options.metadata(&descriptor::metadata(&schema)?);
        Self::over(RecordWriter::create(path, options)?, schema)
    }
}

impl<W: Write> RowWriter<W> {
    /// Writes a file to `dest`. The metadata of `options` are replaced by those of the rows.
    ///
    /// # Errors
    /// As [`RowWriter::create`].
    pub fn new(dest: W, schema: SchemaRef, options: WriterOptions) -> Result<Self> {
        let options = options.metadata(&descriptor::metadata(&schema)?);
        Self::over(RecordWriter::new(dest, options)?, schema)
    }

    fn over(writer: RecordWriter<W>, schema: SchemaRef) -> Result<Self> {
        let storages = schema
            .fields()
            .iter()
            .map(|field| Storage::of(field))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            writer,
            schema,
            storages,
            rows: 0,
        })
    }

    /// Writes the rows of a batch, whose columns must have the types of the schema, in its order. Names and metadata are not
    /// compared.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow) for other columns, [`Error::Io`](crate::Error::Io). After an error the file is
    /// incomplete.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let types = |schema: &SchemaRef| -> Vec<DataType> {
            schema.fields().iter().map(|field| field.data_type().clone()).collect()
        };
        let (expected, found) = (types(&self.schema), types(batch.schema_ref()));
        if expected != found {
            return Err(ArrowError::SchemaError(format!(
                "a batch with columns of types {found:?}, expected {expected:?}"
            ))
            .into());
        }
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            if !field.is_nullable() && column.null_count() > 0 {
                return Err(ArrowError::InvalidArgumentError(format!(
                    "null in column `{}`, which is not nullable",
                    field.name()
                ))
                .into());
            }
        }
        let columns: Vec<Column<'_>> = (0..batch.num_columns())
            .map(|index| Column::new(index, self.storages[index], batch.column(index)))
            .collect();
        for row in 0..batch.num_rows() {
            self.writer.write_record_with(|out| {
                for column in &columns {
                    column.append(row, out);
                }
            })?;
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Completes the file and returns the number of rows.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn finish(self) -> Result<u64> {
        let rows = self.rows;
        self.into_dest()?;
        Ok(rows)
    }

    /// Completes the file and returns what was written to.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn into_dest(self) -> Result<W> {
        self.writer.close()
    }
}

/// A column of a batch with its tag.
struct Column<'a> {
    tag: [u8; 5],
    tag_length: usize,
    nulls: Option<&'a NullBuffer>,
    cells: Cells<'a>,
}

enum Cells<'a> {
    Bool(&'a BooleanArray),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    SmallDecimal(&'a [i128]),
    LargeDecimal(&'a [i128]),
    Offsets32(&'a [i32], &'a [u8]),
    Offsets64(&'a [i64], &'a [u8]),
    Other(&'a ArrayRef),
}

impl<'a> Column<'a> {
    fn new(index: usize, storage: Storage, array: &'a ArrayRef) -> Self {
        let mut encoded = Vec::with_capacity(5);
        let tag = field_number(index) << 3 | u32::from(storage.wire_type());
        write_varint64(u64::from(tag), &mut encoded);
        let mut tag = [0; 5];
        let tag_length = encoded.len();
        tag[..tag_length].copy_from_slice(&encoded);
        Self {
            tag,
            tag_length,
            nulls: array.nulls().filter(|nulls| nulls.null_count() > 0),
            cells: Cells::new(array),
        }
    }

    #[inline]
    fn append(&self, row: usize, out: &mut Vec<u8>) {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return;
        }
        let tag = &self.tag[..self.tag_length];
        let varint = |value: u64, out: &mut Vec<u8>| append_varint(tag, value, out);
        match self.cells {
            Cells::Bool(cells) => varint(u64::from(cells.value(row)), out),
            Cells::I8(cells) => varint(zigzag(cells[row].into()), out),
            Cells::I16(cells) => varint(zigzag(cells[row].into()), out),
            Cells::I32(cells) => varint(zigzag(cells[row].into()), out),
            Cells::I64(cells) => varint(zigzag(cells[row]), out),
            Cells::U8(cells) => varint(cells[row].into(), out),
            Cells::U16(cells) => varint(cells[row].into(), out),
            Cells::U32(cells) => varint(cells[row].into(), out),
            Cells::U64(cells) => varint(cells[row], out),
            Cells::F32(cells) => append_fixed(tag, &cells[row].to_le_bytes(), out),
            Cells::F64(cells) => append_fixed(tag, &cells[row].to_le_bytes(), out),
            // A decimal of 18 digits fits 64 bits; digits beyond the precision are cut off like those of any overflow.
            Cells::SmallDecimal(cells) => varint(zigzag(cells[row] as i64), out),
            Cells::LargeDecimal(cells) => append_bytes(tag, &cells[row].to_be_bytes(), out),
            Cells::Offsets32(offsets, values) => {
                append_bytes(tag, &values[offsets[row] as usize..offsets[row + 1] as usize], out);
            }
            Cells::Offsets64(offsets, values) => {
                append_bytes(tag, &values[offsets[row] as usize..offsets[row + 1] as usize], out);
            }
            Cells::Other(array) => append_bytes(tag, other_value(array, row), out),
        }
    }
}

impl<'a> Cells<'a> {
    fn new(array: &'a ArrayRef) -> Self {
        fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> &[T::Native] {
            array.as_primitive::<T>().values()
        }
        use arrow_array::types::{
            DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
            Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
            TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
        };
        use arrow_schema::TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        match array.data_type() {
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Int8 => Self::I8(values::<Int8Type>(array)),
            DataType::Int16 => Self::I16(values::<Int16Type>(array)),
            DataType::Int32 => Self::I32(values::<Int32Type>(array)),
            DataType::Date32 => Self::I32(values::<Date32Type>(array)),
            DataType::Time32(Second) => Self::I32(values::<Time32SecondType>(array)),
            DataType::Time32(_) => Self::I32(values::<Time32MillisecondType>(array)),
            DataType::Int64 => Self::I64(values::<Int64Type>(array)),
            DataType::Date64 => Self::I64(values::<Date64Type>(array)),
            DataType::Time64(Microsecond) => Self::I64(values::<Time64MicrosecondType>(array)),
            DataType::Time64(_) => Self::I64(values::<Time64NanosecondType>(array)),
            DataType::Timestamp(Second, _) => Self::I64(values::<TimestampSecondType>(array)),
            DataType::Timestamp(Millisecond, _) => Self::I64(values::<TimestampMillisecondType>(array)),
            DataType::Timestamp(Microsecond, _) => Self::I64(values::<TimestampMicrosecondType>(array)),
            DataType::Timestamp(Nanosecond, _) => Self::I64(values::<TimestampNanosecondType>(array)),
            DataType::Duration(Second) => Self::I64(values::<DurationSecondType>(array)),
            DataType::Duration(Millisecond) => Self::I64(values::<DurationMillisecondType>(array)),
            DataType::Duration(Microsecond) => Self::I64(values::<DurationMicrosecondType>(array)),
            DataType::Duration(Nanosecond) => Self::I64(values::<DurationNanosecondType>(array)),
            DataType::UInt8 => Self::U8(values::<UInt8Type>(array)),
            DataType::UInt16 => Self::U16(values::<UInt16Type>(array)),
            DataType::UInt32 => Self::U32(values::<UInt32Type>(array)),
            DataType::UInt64 => Self::U64(values::<UInt64Type>(array)),
            DataType::Float32 => Self::F32(values::<Float32Type>(array)),
            DataType::Float64 => Self::F64(values::<Float64Type>(array)),
            DataType::Decimal128(precision, _) => {
                let values = values::<Decimal128Type>(array);
                if *precision <= 18 {
                    Self::SmallDecimal(values)
                } else {
                    Self::LargeDecimal(values)
                }
            }
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                Self::Offsets32(array.value_offsets(), array.value_data())
            }
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                Self::Offsets32(array.value_offsets(), array.value_data())
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                Self::Offsets64(array.value_offsets(), array.value_data())
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                Self::Offsets64(array.value_offsets(), array.value_data())
            }
            _ => Self::Other(array),
        }
    }
}

fn other_value(array: &ArrayRef, row: usize) -> &[u8] {
    match array.data_type() {
        DataType::Utf8View => array.as_string_view().value(row).as_bytes(),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => array.as_fixed_size_binary().value(row),
    }
}

#[inline]
fn append_varint(tag: &[u8], mut value: u64, out: &mut Vec<u8>) {
    let mut field = [0_u8; 5 + MAX_VARINT64];
    field[..tag.len()].copy_from_slice(tag);
    let mut length = tag.len();
    while value >= 0x80 {
        field[length] = (value & 0x7f) as u8 | 0x80;
        value >>= 7;
        length += 1;
    }
    field[length] = (value & 0x7f) as u8;
    out.extend_from_slice(&field[..=length]);
}

#[inline]
fn append_fixed(tag: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(tag);
    out.extend_from_slice(value);
}

#[inline]
fn append_bytes(tag: &[u8], value: &[u8], out: &mut Vec<u8>) {
    append_varint(tag, value.len() as u64, out);
    out.extend_from_slice(value);
}

/// Folds the sign into the lowest bit.
#[inline]
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}
