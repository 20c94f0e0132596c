//! A script's values as CQL, written straight into the request.
//!
//! | CQL | value |
//! |---|---|
//! | `tinyint` … `bigint`, `counter` | a whole number in range |
//! | `float`, `double` | a float, or a whole number |
//! | `decimal`, `varint` | a whole number, or a text of digits; `decimal` also a float |
//! | `text`, `ascii` | a text |
//! | `blob` | bytes, or a list of bytes; a text is its UTF-8 |
//! | `boolean` | `true`, `false` |
//! | `uuid`, `timeuuid` | a UUID, or its text |
//! | `inet` | a text |
//! | `timestamp` | milliseconds since 1970, or a text `2024-12-31T23:59:59Z` |
//! | `date` | days since 1970 plus 2^31, or a text `2024-12-31` |
//! | `time` | nanoseconds since midnight, or a text `23:59:59.125` |
//! | `duration` | a text `1y2mo3d4h5m6s`, or an object of `months`, `days`, `nanoseconds` |
//! | `list`, `set`, `vector` | a list or a tuple |
//! | `map` | a list of pairs, or an object |
//! | `tuple` | a tuple or a list, of at most its length |
//! | a UDT | an object or a struct; fields that it has not are NULL |
//!
//! `None` and `()` are NULL. A parameter by name that the object does not have stays unset.

use std::net::IpAddr;

use chrono::{DateTime, NaiveDate, NaiveTime};
use rune::Value;
use rune::runtime::{Bytes, Object, TypeValue};
use scylla::frame::response::result::{CollectionType, ColumnSpec, ColumnType, NativeType};
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::value::SerializeValue as _;
use scylla::serialize::writers::{CellValueBuilder, CellWriter, RowWriter};
use scylla::value::CqlDuration;
use tidemill_cql::decimal::{decimal_from_text, varint, varint_from_text};
use tidemill_cql::vint;

use super::super::Parameters;
use super::duration;
use crate::context::{Failure, FailureKind};
use crate::script::Uuid;

/// The parameters of a statement.
pub(super) struct Row<'a>(pub(super) Parameters<'a>);

impl SerializeRow for Row<'_> {
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        write_row(self.0, context.columns(), writer).map_err(SerializationError::new)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Writes the parameters, each with its length in front.
#[inline]
pub(super) fn write_row(
    parameters: Parameters<'_>,
    columns: &[ColumnSpec<'_>],
    writer: &mut RowWriter<'_>,
) -> Result<(), Failure> {
    parameters.for_each(columns.iter().map(|column| column.name()), |at, value| {
        let cell = writer.make_cell_writer();
        match value {
            Some(value) => write(value, columns[at].typ(), cell).map_err(|failure| Failure {
                message: format!("parameter {}: {}", columns[at].name(), failure.message),
                ..failure
            }),
            None => {
                cell.set_unset();
                Ok(())
            }
        }
    })
}

fn misfit(value: &Value, typ: &ColumnType<'_>) -> Failure {
    let why = format!("{} is no {}", shown(value), name(typ));
    Failure::new(FailureKind::Parameters, why)
}

/// The value, unless it is long.
fn shown(value: &Value) -> String {
    if let Ok(text) = value.borrow_string_ref() {
        let short: String = text.chars().take(32).collect();
        return format!("{short:?}");
    }
    if let Ok(number) = value.as_integer::<i64>() {
        return number.to_string();
    }
    if let Ok(number) = value.as_float() {
        return format!("{number:?}");
    }
    format!("a value of the type {}", value.type_info())
}

/// The type as CQL names it.
fn name(typ: &ColumnType<'_>) -> String {
    match typ {
        ColumnType::Native(native) => format!("{native:?}").to_ascii_lowercase(),
        ColumnType::Collection { typ, .. } => match typ {
            CollectionType::List(element) => format!("list<{}>", name(element)),
            CollectionType::Set(element) => format!("set<{}>", name(element)),
            CollectionType::Map(key, value) => format!("map<{}, {}>", name(key), name(value)),
            _ => "collection".to_owned(),
        },
        ColumnType::Vector { typ, dimensions } => format!("vector<{}, {dimensions}>", name(typ)),
        ColumnType::UserDefinedType { definition, .. } => definition.name.to_string(),
        ColumnType::Tuple(types) => format!("tuple<{}>", types.iter().map(name).collect::<Vec<_>>().join(", ")),
        _ => format!("{typ:?}"),
    }
}

/// Writes one value, with its length in front.
fn write(value: &Value, typ: &ColumnType<'_>, cell: CellWriter<'_>) -> Result<(), Failure> {
    // What most statements have, without a look at what else it might be.
    if let (ColumnType::Native(NativeType::BigInt), Ok(number)) = (typ, value.as_signed()) {
        return bytes(&number.to_be_bytes(), cell);
    }
    if value.into_unit().is_ok() {
        cell.set_null();
        return Ok(());
    }
    if let Ok(option) = value.borrow_ref::<Option<Value>>() {
        return match option.as_ref() {
            Some(value) => write(value, typ, cell),
            None => {
                cell.set_null();
                Ok(())
            }
        };
    }
    match typ {
        ColumnType::Native(native) => native_value(value, native, typ, cell),
        ColumnType::Collection { typ: collection, .. } => {
            let mut builder = cell.into_value_builder();
            match collection {
                CollectionType::List(element) | CollectionType::Set(element) => {
                    elements(value, element, typ, &mut builder)?
                }
                CollectionType::Map(key, element) => pairs(value, key, element, typ, &mut builder)?,
                _ => return Err(misfit(value, typ)),
            }
            finish(builder)
        }
        ColumnType::Vector {
            typ: element,
            dimensions,
        } => {
            let mut builder = cell.into_value_builder();
            match (&**element, value.borrow_ref::<Bytes>()) {
                (ColumnType::Native(NativeType::Float), Ok(packed)) => {
                    packed_floats(&packed, usize::from(*dimensions), typ, &mut builder)?;
                }
                _ => vector(value, element, usize::from(*dimensions), typ, &mut builder)?,
            }
            finish(builder)
        }
        ColumnType::Tuple(types) => {
            let mut builder = cell.into_value_builder();
            with_items(value, typ, |items| {
                if items.len() > types.len() {
                    return Err(misfit(value, typ));
                }
                items
                    .iter()
                    .zip(types)
                    .try_for_each(|(item, typ)| write(item, typ, builder.make_sub_writer()))
            })?;
            finish(builder)
        }
        ColumnType::UserDefinedType { definition, .. } => {
            let mut builder = cell.into_value_builder();
            let mut field = |value: Option<&Value>, typ: &ColumnType<'_>| match value {
                Some(value) => write(value, typ, builder.make_sub_writer()),
                None => {
                    builder.make_sub_writer().set_null();
                    Ok(())
                }
            };
            let fields = &definition.field_types;
            match value.as_type_value() {
                Ok(TypeValue::Object(object)) => {
                    known_fields(&object, fields, typ)?;
                    fields
                        .iter()
                        .try_for_each(|(name, typ)| field(object.get(name.as_ref()), typ))?;
                }
                Ok(TypeValue::Struct(object)) => {
                    fields
                        .iter()
                        .try_for_each(|(name, typ)| field(object.get(name.as_ref()), typ))?;
                }
                _ => return Err(misfit(value, typ)),
            }
            finish(builder)
        }
        _ => Err(misfit(value, typ)),
    }
}

fn finish(builder: CellValueBuilder<'_>) -> Result<(), Failure> {
    let too_long = |_| Failure::new(FailureKind::Parameters, "a value has more than 2^31 bytes");
    builder.finish().map(drop).map_err(too_long)
}

/// A misspelt field would silently be NULL.
fn known_fields<'a, N: AsRef<str> + 'a, T: 'a>(
    object: &Object,
    fields: impl IntoIterator<Item = &'a (N, T)>,
    typ: &ColumnType<'_>,
) -> Result<(), Failure> {
    let names: Vec<&str> = fields.into_iter().map(|(name, _)| name.as_ref()).collect();
    match object.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => {
            let why = format!("the type {} has no field {}", name(typ), key.as_str());
            Err(Failure::new(FailureKind::Parameters, why))
        }
        None => Ok(()),
    }
}

/// Calls `take` with the items of a list or a tuple.
fn with_items(
    value: &Value,
    typ: &ColumnType<'_>,
    take: impl FnOnce(&[Value]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Ok(list) = value.borrow_ref::<rune::runtime::Vec>() {
        return take(&list);
    }
    match value.as_type_value() {
        Ok(TypeValue::Tuple(tuple)) => take(&tuple),
        _ => Err(misfit(value, typ)),
    }
}

fn count(items: usize, builder: &mut CellValueBuilder<'_>) -> Result<(), Failure> {
    let count = i32::try_from(items)
        .map_err(|_| Failure::new(FailureKind::Parameters, "a collection has more than 2^31 items"))?;
    builder.append_bytes(&count.to_be_bytes());
    Ok(())
}

fn elements(
    value: &Value,
    element: &ColumnType<'_>,
    typ: &ColumnType<'_>,
    builder: &mut CellValueBuilder<'_>,
) -> Result<(), Failure> {
    with_items(value, typ, |items| {
        count(items.len(), builder)?;
        items
            .iter()
            .try_for_each(|item| write(item, element, builder.make_sub_writer()))
    })
}

fn pairs(
    value: &Value,
    key: &ColumnType<'_>,
    element: &ColumnType<'_>,
    typ: &ColumnType<'_>,
    builder: &mut CellValueBuilder<'_>,
) -> Result<(), Failure> {
    if let Ok(TypeValue::Object(object)) = value.as_type_value() {
        count(object.len(), builder)?;
        for (name, item) in object.iter() {
            let name = name.as_str().to_owned();
            let name = rune::to_value(name).map_err(|e| Failure::new(FailureKind::Misuse, e.to_string()))?;
            write(&name, key, builder.make_sub_writer())?;
            write(item, element, builder.make_sub_writer())?;
        }
        return Ok(());
    }
    with_items(value, typ, |items| {
        count(items.len(), builder)?;
        items.iter().try_for_each(|pair| {
            with_items(pair, typ, |pair| match pair {
                [name, item] => {
                    write(name, key, builder.make_sub_writer())?;
                    write(item, element, builder.make_sub_writer())
                }
                _ => Err(misfit(value, typ)),
            })
        })
    })
}

/// Elements of fixed width are stored back to back. Each other element follows its length, an unsigned vint.
fn vector(
    value: &Value,
    element: &ColumnType<'_>,
    dimensions: usize,
    typ: &ColumnType<'_>,
    builder: &mut CellValueBuilder<'_>,
) -> Result<(), Failure> {
    with_items(value, typ, |items| {
        if items.len() != dimensions {
            let why = format!("{} wants {dimensions} items, found {}", name(typ), items.len());
            return Err(Failure::new(FailureKind::Parameters, why));
        }
        for item in items {
            if item.into_unit().is_ok() || item.borrow_ref::<Option<Value>>().is_ok_and(|option| option.is_none()) {
                return Err(Failure::new(FailureKind::Parameters, "a vector holds no NULL"));
            }
            if fixed_width(element) {
                write(item, element, builder.make_sub_writer_without_size())?;
            } else {
                let mut bytes = Vec::new();
                write(item, element, CellWriter::new_without_size(&mut bytes))?;
                let mut length = Vec::new();
                vint::put_unsigned(&mut length, bytes.len() as u64);
                builder.append_bytes(&length);
                builder.append_bytes(&bytes);
            }
        }
        Ok(())
    })
}

/// Floats as files of vectors have them, four bytes each with the least first, which the protocol has last.
fn packed_floats(
    packed: &[u8],
    dimensions: usize,
    typ: &ColumnType<'_>,
    builder: &mut CellValueBuilder<'_>,
) -> Result<(), Failure> {
    let (floats, rest) = packed.as_chunks::<4>();
    if floats.len() != dimensions || !rest.is_empty() {
        let why = format!("{} wants {} bytes, found {}", name(typ), 4 * dimensions, packed.len());
        return Err(Failure::new(FailureKind::Parameters, why));
    }
    for float in floats {
        builder.append_bytes(&f32::from_le_bytes(*float).to_be_bytes());
    }
    Ok(())
}

fn fixed_width(typ: &ColumnType<'_>) -> bool {
    match typ {
        ColumnType::Native(native) => native.type_size_for_vector().is_some(),
        ColumnType::Vector { typ, .. } => fixed_width(typ),
        _ => false,
    }
}

fn bytes(bytes: &[u8], cell: CellWriter<'_>) -> Result<(), Failure> {
    let too_long = |_| Failure::new(FailureKind::Parameters, "a value has more than 2^31 bytes");
    cell.set_value(bytes).map(drop).map_err(too_long)
}

fn native_value(value: &Value, native: &NativeType, typ: &ColumnType<'_>, cell: CellWriter<'_>) -> Result<(), Failure> {
    let no = || misfit(value, typ);
    let integer = || value.as_integer::<i64>().map_err(|_| no());
    let number = || {
        value
            .as_float()
            .or_else(|_| value.as_integer::<i64>().map(|n| n as f64))
            .map_err(|_| no())
    };
    let text = value.borrow_string_ref().ok();
    match native {
        NativeType::BigInt | NativeType::Counter => bytes(&integer()?.to_be_bytes(), cell),
        NativeType::Int => bytes(&i32::try_from(integer()?).map_err(|_| no())?.to_be_bytes(), cell),
        NativeType::SmallInt => bytes(&i16::try_from(integer()?).map_err(|_| no())?.to_be_bytes(), cell),
        NativeType::TinyInt => bytes(&i8::try_from(integer()?).map_err(|_| no())?.to_be_bytes(), cell),
        NativeType::Float => bytes(&(number()? as f32).to_be_bytes(), cell),
        NativeType::Double => bytes(&number()?.to_be_bytes(), cell),
        NativeType::Boolean => bytes(&[u8::from(value.as_bool().map_err(|_| no())?)], cell),
        NativeType::Text => bytes(text.ok_or_else(no)?.as_bytes(), cell),
        NativeType::Ascii => bytes(text.filter(|text| text.is_ascii()).ok_or_else(no)?.as_bytes(), cell),
        NativeType::Blob => match (
            text,
            value.borrow_ref::<Bytes>(),
            value.borrow_ref::<rune::runtime::Vec>(),
        ) {
            (Some(text), ..) => bytes(text.as_bytes(), cell),
            (_, Ok(blob), _) => bytes(&blob, cell),
            (_, _, Ok(list)) => {
                let all: Option<Vec<u8>> = list.iter().map(|item| item.as_integer().ok()).collect();
                bytes(&all.ok_or_else(no)?, cell)
            }
            _ => Err(no()),
        },
        NativeType::Uuid | NativeType::Timeuuid => {
            let uuid = match (value.borrow_ref::<Uuid>(), text) {
                (Ok(uuid), _) => uuid.0,
                (_, Some(text)) => uuid::Uuid::parse_str(&text).map_err(|_| no())?,
                _ => return Err(no()),
            };
            bytes(uuid.as_bytes(), cell)
        }
        NativeType::Inet => match text.and_then(|text| text.parse().ok()).ok_or_else(no)? {
            IpAddr::V4(address) => bytes(&address.octets(), cell),
            IpAddr::V6(address) => bytes(&address.octets(), cell),
        },
        NativeType::Timestamp => {
            let millis = match text {
                Some(text) => DateTime::parse_from_rfc3339(&text)
                    .map_err(|_| no())?
                    .timestamp_millis(),
                None => integer()?,
            };
            bytes(&millis.to_be_bytes(), cell)
        }
        NativeType::Date => {
            let days = match text {
                Some(text) => {
                    let date = NaiveDate::parse_from_str(&text, "%Y-%m-%d").map_err(|_| no())?;
                    date.signed_duration_since(NaiveDate::default()).num_days() + (1 << 31)
                }
                None => integer()?,
            };
            bytes(&u32::try_from(days).map_err(|_| no())?.to_be_bytes(), cell)
        }
        NativeType::Time => {
            let nanos = match text {
                Some(text) => {
                    let time = NaiveTime::parse_from_str(&text, "%H:%M:%S%.f").map_err(|_| no())?;
                    time.signed_duration_since(NaiveTime::MIN)
                        .num_nanoseconds()
                        .ok_or_else(no)?
                }
                None => integer()?,
            };
            if !(0..86_400_000_000_000).contains(&nanos) {
                return Err(no());
            }
            bytes(&nanos.to_be_bytes(), cell)
        }
        NativeType::Duration => {
            let duration = match text {
                Some(text) => duration::parse(&text),
                None => duration_of(value),
            };
            let written = duration.ok_or_else(no)?.serialize(typ, cell);
            written
                .map(drop)
                .map_err(|e| Failure::new(FailureKind::Parameters, e.to_string()))
        }
        NativeType::Varint => {
            let number = match text {
                Some(text) => varint_from_text(text.trim()).ok_or_else(no)?,
                None => varint(i128::from(integer()?)),
            };
            bytes(&number, cell)
        }
        NativeType::Decimal => {
            let written = match text {
                Some(text) => text.trim().to_owned(),
                None => match value.as_float() {
                    // Its shortest digits that are this float and no other.
                    Ok(float) if float.is_finite() => format!("{float}"),
                    _ => integer()?.to_string(),
                },
            };
            bytes(&decimal_from_text(&written).ok_or_else(no)?, cell)
        }
        _ => Err(no()),
    }
}

fn duration_of(value: &Value) -> Option<CqlDuration> {
    let object = value.borrow_ref::<Object>().ok()?;
    let field = |name: &str| object.get(name).map_or(Some(0), |value| value.as_integer::<i64>().ok());
    if object
        .keys()
        .any(|key| !["months", "days", "nanoseconds"].contains(&key.as_str()))
    {
        return None;
    }
    Some(CqlDuration {
        months: i32::try_from(field("months")?).ok()?,
        days: i32::try_from(field("days")?).ok()?,
        nanoseconds: field("nanoseconds")?,
    })
}
