//! Values of Arrow arrays as the bytes of CQL's types, written into a request.
//!
//! An [`Encoder`] takes every array whose values are, without a loss, values of the column's type: those of the type that
//! [`arrow_type::data_type`] tells, and relatives of it. That a value does fit is looked at for each.

use std::net::IpAddr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, IntervalMonthDayNanoType, Time64NanosecondType, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::{IntervalMonthDayNano, NullBuffer, OffsetBuffer};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use scylla::frame::response::result::{CollectionType, ColumnType, NativeType};
use scylla::serialize::writers::{CellOverflowError, CellWriter};
use uuid::Uuid;

use crate::decimal;
use crate::error::{Misfit, Result};
use crate::{cql_text, vint};

/// Whether values of an Arrow type can be values of a CQL type. Some of them may not be: text that is no UUID, a number that is
/// too large.
pub fn accepts(typ: &ColumnType<'_>, data_type: &DataType) -> bool {
    if let DataType::Dictionary(_, values) = data_type {
        return accepts(typ, values);
    }
    let is_text = data_type.is_string();
    match typ {
        _ if data_type.is_null() => true,
        ColumnType::Native(native) => match native {
            NativeType::Boolean => *data_type == DataType::Boolean,
            NativeType::TinyInt | NativeType::SmallInt | NativeType::Int | NativeType::BigInt | NativeType::Counter => {
                data_type.is_integer()
            }
            NativeType::Float => matches!(data_type, DataType::Float16 | DataType::Float32),
            NativeType::Double => data_type.is_floating(),
            NativeType::Text | NativeType::Ascii | NativeType::Inet => is_text,
            NativeType::Uuid | NativeType::Timeuuid => is_text || *data_type == DataType::FixedSizeBinary(16),
            NativeType::Varint | NativeType::Decimal => is_text || data_type.is_integer() || is_decimal(data_type),
            NativeType::Date => matches!(data_type, DataType::Date32),
            NativeType::Time => matches!(data_type, DataType::Time32(_) | DataType::Time64(_)),
            NativeType::Timestamp => matches!(data_type, DataType::Timestamp(..)),
            NativeType::Duration => matches!(data_type, DataType::Duration(_) | DataType::Interval(_)),
            NativeType::Blob => is_bytes(data_type),
            _ => false,
        },
        ColumnType::Collection {
            typ: CollectionType::List(element) | CollectionType::Set(element),
            ..
        }
        | ColumnType::Vector { typ: element, .. } => match data_type {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                accepts(element, item.data_type())
            }
            _ => false,
        },
        ColumnType::Collection {
            typ: CollectionType::Map(key, value),
            ..
        } => match data_type {
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) if fields.len() == 2 => {
                    accepts(key, fields[0].data_type()) && accepts(value, fields[1].data_type())
                }
                _ => false,
            },
            _ => false,
        },
        ColumnType::Tuple(types) => match data_type {
            DataType::Struct(fields) if fields.len() == types.len() => fields
                .iter()
                .zip(types)
                .all(|(field, typ)| accepts(typ, field.data_type())),
            _ => false,
        },
        ColumnType::UserDefinedType { definition, .. } => match data_type {
            DataType::Struct(fields) => fields.iter().all(|field| {
                let known = definition
                    .field_types
                    .iter()
                    .find(|(name, _)| *name == field.name().as_str());
                known.is_some_and(|(_, typ)| accepts(typ, field.data_type()))
            }),
            _ => false,
        },
        _ => false,
    }
}

fn is_decimal(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..)
    )
}

fn is_bytes(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_)
    )
}

/// The cells of an array's values, as [`array_of_cells`](crate::array_of_cells) takes them.
///
/// # Errors
///
/// [`Error::Value`](crate::Error::Value) for a value that the type can't hold.
pub fn cells_of_array(typ: &ColumnType<'_>, array: &ArrayRef) -> Result<Vec<Option<Vec<u8>>>> {
    let name = cql_text::type_name(typ);
    let failed = |row: usize| {
        let name = &name;
        move |misfit: Misfit| misfit.written("an array", row as u64 + 1, name)
    };
    let encoder = Encoder::new(typ, array).map_err(failed(0))?;
    let mut cells = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        let mut cell = Vec::new();
        if !encoder.is_null(row) {
            let written = encoder.write(row, CellWriter::new_without_size(&mut cell));
            written.map_err(failed(row))?;
        }
        cells.push((!encoder.is_null(row)).then_some(cell));
    }
    Ok(cells)
}

/// Writes the values of one column.
pub(crate) struct Encoder {
    nulls: Option<NullBuffer>,
    write: Box<dyn Write>,
}

/// Writes the value of a row that is not null.
trait Write: Send + Sync {
    fn write(&self, row: usize, cell: CellWriter<'_>) -> Result<(), Misfit>;
}

impl<F: Fn(usize, CellWriter<'_>) -> Result<(), Misfit> + Send + Sync> Write for F {
    fn write(&self, row: usize, cell: CellWriter<'_>) -> Result<(), Misfit> {
        self(row, cell)
    }
}

impl Encoder {
    /// For the values of `array`, which [`accepts`] says can be of type `typ`.
    pub(crate) fn new(typ: &ColumnType<'_>, array: &ArrayRef) -> Result<Self, Misfit> {
        let unfit = || Misfit::new(cql_text::type_name(typ), array.data_type());
        if !accepts(typ, array.data_type()) {
            return Err(unfit());
        }
        let array = match array.data_type() {
            DataType::Dictionary(_, values) => &cast(array, values)?,
            _ => array,
        };
        let write = match typ {
            _ if array.data_type().is_null() => Box::new(null),
            ColumnType::Native(native) => native_encoder(native, array)?,
            ColumnType::Collection {
                typ: CollectionType::List(element) | CollectionType::Set(element),
                ..
            } => {
                let (offsets, items) = elements(array)?;
                let items = Self::new(element, &items)?;
                boxed(move |row, cell| {
                    let (start, end) = (offsets[row], offsets[row + 1]);
                    collection(cell, end - start, |builder| {
                        (start..end).try_for_each(|at| items.element(at, builder.make_sub_writer()))
                    })
                })
            }
            ColumnType::Collection {
                typ: CollectionType::Map(key, value),
                ..
            } => {
                let map = array.as_map();
                let offsets = wide(map.offsets());
                let (keys, values) = (Self::new(key, map.keys())?, Self::new(value, map.values())?);
                boxed(move |row, cell| {
                    let (start, end) = (offsets[row], offsets[row + 1]);
                    collection(cell, end - start, |builder| {
                        (start..end).try_for_each(|at| {
                            keys.element(at, builder.make_sub_writer())?;
                            values.element(at, builder.make_sub_writer())
                        })
                    })
                })
            }
            ColumnType::Vector { typ, dimensions } => vector(typ, usize::from(*dimensions), array)?,
            ColumnType::Tuple(types) => {
                let columns = array.as_struct().columns().iter().zip(types);
                structure(
                    columns
                        .map(|(column, typ)| Self::new(typ, column).map(Some))
                        .collect::<Result<_, _>>()?,
                )
            }
            ColumnType::UserDefinedType { definition, .. } => {
                let array = array.as_struct();
                let columns = definition.field_types.iter().map(|(name, typ)| {
                    let column = array.column_by_name(name);
                    column.map(|column| Self::new(typ, column)).transpose()
                });
                structure(columns.collect::<Result<_, _>>()?)
            }
            _ => return Err(unfit()),
        };
        Ok(Self {
            nulls: array.logical_nulls(),
            write,
        })
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Writes a value, or NULL.
    pub(crate) fn write(&self, row: usize, cell: CellWriter<'_>) -> Result<(), Misfit> {
        match self.is_null(row) {
            true => null(row, cell),
            false => self.write.write(row, cell),
        }
    }

    /// Writes what stands in a collection, where there is no NULL.
    fn element(&self, row: usize, cell: CellWriter<'_>) -> Result<(), Misfit> {
        match self.is_null(row) {
            true => Err(Misfit::new("a value in the collection", "NULL")),
            false => self.write.write(row, cell),
        }
    }
}

fn native_encoder(native: &NativeType, array: &ArrayRef) -> Result<Box<dyn Write>, Misfit> {
    let data_type = array.data_type();
    Ok(match native {
        NativeType::Boolean => {
            let array: BooleanArray = array.as_boolean().clone();
            boxed(move |row, cell| put(cell, &[u8::from(array.value(row))]))
        }
        NativeType::TinyInt => integers::<Int8Type, 1>(array, "a tinyint", i8::to_be_bytes)?,
        NativeType::SmallInt => integers::<Int16Type, 2>(array, "a smallint", i16::to_be_bytes)?,
        NativeType::Int => integers::<Int32Type, 4>(array, "an int", i32::to_be_bytes)?,
        NativeType::BigInt | NativeType::Counter => integers::<Int64Type, 8>(array, "a bigint", i64::to_be_bytes)?,
        NativeType::Float => fixed::<Float32Type, 4>(array, f32::to_be_bytes)?,
        NativeType::Double => fixed::<Float64Type, 8>(array, f64::to_be_bytes)?,
        NativeType::Date => fixed::<Date32Type, 4>(array, |days| (days.cast_unsigned() ^ 1 << 31).to_be_bytes())?,
        NativeType::Time => {
            let times = primitive::<Time64NanosecondType>(array)?;
            boxed(move |row, cell| match times.value(row) {
                nanos @ 0..NANOSECONDS_OF_DAY => put(cell, &nanos.to_be_bytes()),
                nanos => Err(Misfit::new("a time below 24 h", format!("{nanos} ns"))),
            })
        }
        NativeType::Timestamp => timestamps(array)?,
        NativeType::Duration => durations(array)?,
        NativeType::Blob => {
            let bytes = cast(array, &DataType::Binary)?;
            let bytes: BinaryArray = bytes.as_binary().clone();
            boxed(move |row, cell| put(cell, bytes.value(row)))
        }
        NativeType::Uuid | NativeType::Timeuuid if !data_type.is_string() => {
            let bytes = array.as_fixed_size_binary().clone();
            boxed(move |row, cell| put(cell, bytes.value(row)))
        }
        NativeType::Text => texts(array, "text", |text, cell| Some(put(cell, text.as_bytes())))?,
        NativeType::Ascii => texts(array, "ASCII", |text, cell| {
            text.is_ascii().then(|| put(cell, text.as_bytes()))
        })?,
        NativeType::Uuid | NativeType::Timeuuid => texts(array, "a UUID", |text, cell| {
            Some(put(cell, Uuid::try_parse(text.trim()).ok()?.as_bytes()))
        })?,
        NativeType::Inet => texts(array, "an IP address", |text, cell| {
            Some(match text.trim().parse().ok()? {
                IpAddr::V4(address) => put(cell, &address.octets()),
                IpAddr::V6(address) => put(cell, &address.octets()),
            })
        })?,
        NativeType::Varint if data_type.is_string() => texts(array, "a whole number", |text, cell| {
            Some(put(cell, &decimal::varint_from_text(text.trim())?))
        })?,
        NativeType::Decimal if data_type.is_string() => texts(array, "a decimal", |text, cell| {
            Some(put(cell, &decimal::decimal_from_text(text.trim())?))
        })?,
        NativeType::Varint => {
            let (number, scale) = numbers(array)?;
            let scale = u32::from(scale.unsigned_abs());
            let factor = 10_i128
                .checked_pow(scale)
                .ok_or_else(|| Misfit::new("varint", data_type))?;
            let shown = Arc::clone(array);
            boxed(move |row, cell| match number(row) {
                Some(number) if number % factor == 0 => put(cell, &decimal::varint(number / factor)),
                _ => Err(Misfit::new("a whole number", shown_value(&shown, row))),
            })
        }
        NativeType::Decimal => match data_type {
            DataType::Decimal256(_, scale) => {
                let scale = i32::from(*scale).to_be_bytes();
                let wide = array.as_primitive::<Decimal256Type>().clone();
                boxed(move |row, cell| {
                    let digits = wide.value(row).to_be_bytes();
                    let sign = if digits[0] >= 0x80 { 0xff } else { 0 };
                    let repeated = digits
                        .windows(2)
                        .take_while(|pair| pair[0] == sign && (pair[1] ^ sign) < 0x80)
                        .count();
                    put(cell, &[&scale, &digits[repeated..]].concat())
                })
            }
            _ => {
                let (number, scale) = numbers(array)?;
                let scale = i32::from(scale).to_be_bytes();
                let shown = Arc::clone(array);
                boxed(move |row, cell| {
                    let number = number(row).ok_or_else(|| Misfit::new("a decimal", shown_value(&shown, row)))?;
                    put(cell, &[&scale[..], &decimal::varint(number)].concat())
                })
            }
        },
        _ => return Err(Misfit::new(cql_text::native_name(native), data_type)),
    })
}

/// Integers of the column's own type, or of another that each must fit.
fn integers<T, const N: usize>(
    array: &ArrayRef,
    what: &'static str,
    bytes: fn(T::Native) -> [u8; N],
) -> Result<Box<dyn Write>, Misfit>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i128>,
{
    if *array.data_type() == T::DATA_TYPE {
        return fixed::<T, N>(array, bytes);
    }
    let (number, _) = numbers(array)?;
    let shown = Arc::clone(array);
    Ok(boxed(move |row, cell| {
        let converted = number(row).and_then(|number| T::Native::try_from(number).ok());
        let converted = converted.ok_or_else(|| Misfit::new(what, shown_value(&shown, row)))?;
        put(cell, &bytes(converted))
    }))
}

/// Whole numbers of any type, and how many of their digits are after the point.
#[expect(clippy::type_complexity, reason = "a number for a row")]
fn numbers(array: &ArrayRef) -> Result<(Box<dyn Fn(usize) -> Option<i128> + Send + Sync>, i8), Misfit> {
    Ok(match array.data_type() {
        DataType::UInt64 => {
            let array = array.as_primitive::<UInt64Type>().clone();
            (Box::new(move |row| Some(i128::from(array.value(row)))), 0)
        }
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal128(_, scale) => {
            let array = cast(array, &DataType::Decimal128(38, *scale))?;
            let array = array.as_primitive::<Decimal128Type>().clone();
            (Box::new(move |row| Some(array.value(row))), *scale)
        }
        DataType::Decimal256(_, scale) => {
            let array = array.as_primitive::<Decimal256Type>().clone();
            (Box::new(move |row| array.value(row).to_i128()), *scale)
        }
        _ => {
            let array = primitive::<Int64Type>(array)?;
            (Box::new(move |row| Some(i128::from(array.value(row)))), 0)
        }
    })
}

fn fixed<T: ArrowPrimitiveType, const N: usize>(
    array: &ArrayRef,
    bytes: fn(T::Native) -> [u8; N],
) -> Result<Box<dyn Write>, Misfit> {
    let array = primitive::<T>(array)?;
    Ok(boxed(move |row, cell| put(cell, &bytes(array.value(row)))))
}

fn texts(
    array: &ArrayRef,
    what: &'static str,
    write: fn(&str, CellWriter<'_>) -> Option<Result<(), Misfit>>,
) -> Result<Box<dyn Write>, Misfit> {
    let array = cast(array, &DataType::Utf8)?;
    let array: StringArray = array.as_string().clone();
    Ok(boxed(move |row, cell| {
        write(array.value(row), cell).unwrap_or_else(|| {
            let found: String = array.value(row).chars().take(40).collect();
            Err(Misfit::new(what, format!("{found:?}")))
        })
    }))
}

/// Instants of any unit, of whole milliseconds.
fn timestamps(array: &ArrayRef) -> Result<Box<dyn Write>, Misfit> {
    let DataType::Timestamp(unit, _) = array.data_type() else {
        return Err(Misfit::new("timestamp", array.data_type()));
    };
    let (times, per_millisecond) = match unit {
        TimeUnit::Second => (1000, 1),
        TimeUnit::Millisecond => (1, 1),
        TimeUnit::Microsecond => (1, 1_000),
        TimeUnit::Nanosecond => (1, 1_000_000),
    };
    let ticks = primitive::<Int64Type>(array)?;
    let shown = Arc::clone(array);
    Ok(boxed(move |row, cell| match ticks.value(row).checked_mul(times) {
        Some(ticks) if ticks % per_millisecond == 0 => put(cell, &(ticks / per_millisecond).to_be_bytes()),
        _ => Err(Misfit::new("a time of whole milliseconds", shown_value(&shown, row))),
    }))
}

fn durations(array: &ArrayRef) -> Result<Box<dyn Write>, Misfit> {
    let intervals = match array.data_type() {
        DataType::Duration(unit) => {
            let per_unit = match unit {
                TimeUnit::Second => 1_000_000_000,
                TimeUnit::Millisecond => 1_000_000,
                TimeUnit::Microsecond => 1_000,
                TimeUnit::Nanosecond => 1,
            };
            let ticks = primitive::<Int64Type>(array)?;
            let shown = Arc::clone(array);
            return Ok(boxed(move |row, cell| {
                let nanoseconds = ticks.value(row).checked_mul(per_unit);
                let nanoseconds = nanoseconds.ok_or_else(|| Misfit::new("a duration", shown_value(&shown, row)))?;
                put_duration(cell, IntervalMonthDayNano::new(0, 0, nanoseconds))
            }));
        }
        _ => cast(array, &DataType::Interval(IntervalUnit::MonthDayNano))?,
    };
    let intervals = intervals.as_primitive::<IntervalMonthDayNanoType>().clone();
    Ok(boxed(move |row, cell| put_duration(cell, intervals.value(row))))
}

fn put_duration(cell: CellWriter<'_>, value: IntervalMonthDayNano) -> Result<(), Misfit> {
    let parts = [i64::from(value.months), i64::from(value.days), value.nanoseconds];
    if parts.iter().any(|part| *part < 0) && parts.iter().any(|part| *part > 0) {
        let found = format!("{} months, {} days, {} ns", parts[0], parts[1], parts[2]);
        return Err(Misfit::new("a duration whose parts are all of one sign", found));
    }
    let mut bytes = Vec::with_capacity(16);
    parts.iter().for_each(|part| vint::put_signed(&mut bytes, *part));
    put(cell, &bytes)
}

/// Elements of a fixed width follow each other directly, others each after its length.
fn vector(typ: &ColumnType<'_>, dimensions: usize, array: &ArrayRef) -> Result<Box<dyn Write>, Misfit> {
    let (offsets, items) = elements(array)?;
    let items = Encoder::new(typ, &items)?;
    let is_fixed = typ.type_size_for_vector().is_some();
    Ok(boxed(move |row, cell| {
        let (start, end) = (offsets[row], offsets[row + 1]);
        if end - start != dimensions {
            return Err(Misfit::new(format!("{dimensions} elements"), end - start));
        }
        let mut builder = cell.into_value_builder();
        let mut element = Vec::new();
        for at in start..end {
            if is_fixed {
                items.element(at, builder.make_sub_writer_without_size())?;
            } else {
                element.clear();
                items.element(at, CellWriter::new_without_size(&mut element))?;
                let mut length = Vec::new();
                vint::put_unsigned(&mut length, element.len() as u64);
                builder.append_bytes(&length);
                builder.append_bytes(&element);
            }
        }
        builder.finish().map(drop).map_err(too_long)
    }))
}

/// Fields in the order of their type; those that the rows do not have are NULL.
fn structure(columns: Vec<Option<Encoder>>) -> Box<dyn Write> {
    boxed(move |row, cell| {
        let mut builder = cell.into_value_builder();
        for column in &columns {
            match column {
                Some(column) => column.write(row, builder.make_sub_writer())?,
                None => null(row, builder.make_sub_writer())?,
            }
        }
        builder.finish().map(drop).map_err(too_long)
    })
}

fn collection(
    cell: CellWriter<'_>,
    count: usize,
    write: impl FnOnce(&mut scylla::serialize::writers::CellValueBuilder<'_>) -> Result<(), Misfit>,
) -> Result<(), Misfit> {
    let length = i32::try_from(count).map_err(|_| Misfit::new("less than 2^31 elements", count))?;
    let mut builder = cell.into_value_builder();
    builder.append_bytes(&length.to_be_bytes());
    write(&mut builder)?;
    builder.finish().map(drop).map_err(too_long)
}

/// Where the elements of each list begin, and the elements.
fn elements(array: &ArrayRef) -> Result<(Vec<usize>, ArrayRef), Misfit> {
    Ok(match array.data_type() {
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let offsets = list
                .offsets()
                .iter()
                .map(|offset| usize::try_from(*offset).unwrap_or_default());
            (offsets.collect(), Arc::clone(list.values()))
        }
        DataType::FixedSizeList(_, length) => {
            let list = array.as_fixed_size_list();
            let length = usize::try_from(*length).unwrap_or_default();
            (
                (0..=list.len()).map(|row| row * length).collect(),
                Arc::clone(list.values()),
            )
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            (wide(list.offsets()), Arc::clone(list.values()))
        }
        other => return Err(Misfit::new("a list", other)),
    })
}

fn wide(offsets: &OffsetBuffer<i32>) -> Vec<usize> {
    offsets
        .iter()
        .map(|offset| usize::try_from(*offset).unwrap_or_default())
        .collect()
}

fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<PrimitiveArray<T>, Misfit> {
    Ok(cast(array, &T::DATA_TYPE)?.as_primitive::<T>().clone())
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Misfit> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    arrow_cast::cast(array, to).map_err(|error| Misfit::new(to, error))
}

fn boxed(write: impl Fn(usize, CellWriter<'_>) -> Result<(), Misfit> + Send + Sync + 'static) -> Box<dyn Write> {
    Box::new(write)
}

fn null(_row: usize, cell: CellWriter<'_>) -> Result<(), Misfit> {
    let _ = cell.set_null();
    Ok(())
}

fn put(cell: CellWriter<'_>, bytes: &[u8]) -> Result<(), Misfit> {
    cell.set_value(bytes).map(drop).map_err(too_long)
}

fn too_long(_: CellOverflowError) -> Misfit {
    Misfit::new("less than 2^31 bytes", "more")
}

fn shown_value(array: &ArrayRef, row: usize) -> String {
    array_value_to_string(array, row).unwrap_or_else(|error| error.to_string())
}

const NANOSECONDS_OF_DAY: i64 = 86_400_000_000_000;
