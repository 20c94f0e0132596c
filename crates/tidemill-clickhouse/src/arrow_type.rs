//! The one table of ClickHouse types and Arrow types, in both directions.
//!
//! Every ClickHouse type has an Arrow type that holds all of its values. Where Arrow's type says less than ClickHouse's
//! (a `Date` is an Arrow date like `Date32`, an `IPv4` an unsigned number), the text of the ClickHouse type is kept in the
//! field's metadata as an Arrow extension type, [`EXTENSION_NAME`]; [`data_type`] reads it first. It is kept on the
//! innermost field that needs it, so an Arrow program that takes a list apart finds it on the items.
//!
//! `DateTime` and `DateTime64` without a time zone are instants in UTC, or in the time zone that a client asked for its session:
//! only that name in the Arrow type differs, not the extension's text.
//!
//! The page `docs/formats/clickhouse-types.md` has the table; a test holds it to this code.
//!
//! Values are not converted here: `column` does that.

use std::{collections::HashMap, sync::Arc};

use arrow_schema::{
    DataType as ArrowType, Field, FieldRef, Fields, TimeUnit, UnionFields, UnionMode,
    extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY},
};

use crate::{
    DataType, Error, Result,
    data_type::{Element, IntervalKind},
};

/// The extension type of fields whose Arrow type says less than their ClickHouse type, whose text is the extension's
/// metadata.
pub const EXTENSION_NAME: &str = "tidemill.clickhouse";

/// What a `String` of ClickHouse, which may hold any bytes, is in Arrow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum StringType {
    /// [`ArrowType::Utf8`]; bytes that are not UTF-8 are an error.
    #[default]
    Utf8,
    /// [`ArrowType::Binary`], which holds everything.
    Binary,
    /// As the first rows say, for each column: [`ArrowType::Utf8`] when all strings of the column in the first block with rows are
    /// UTF-8, and [`ArrowType::Binary`] otherwise. All blocks of a file or an answer have the same schema, so in a column that
    /// began as text, bytes that are not UTF-8 are an error. Without any rows it is [`ArrowType::Utf8`].
    ByContent,
}

impl StringType {
    /// What strings are decoded as, before their content is looked at.
    pub(crate) fn decoded(self) -> Self {
        match self {
            Self::Utf8 => Self::Utf8,
            Self::Binary | Self::ByContent => Self::Binary,
        }
    }
}

/// Returns the field for a column of type `data_type`.
///
/// It is nullable when the type is `Nullable`, `LowCardinality(Nullable)`, or can be `NULL` by itself (`Variant`, `Dynamic`).
/// `JSON` is text here, as the server sends it with `output_format_native_write_json_as_string`; a block that holds it as
/// columns has a struct instead. `Dynamic` is a union without members; a block adds the types that it holds.
pub fn field(name: impl Into<String>, data_type: &DataType, strings: StringType) -> Field {
    field_of(name, data_type, arrow_type(data_type, strings))
}

/// Returns the Arrow type of a column of type `data_type`, as in [`field`].
pub fn arrow_type(data_type: &DataType, strings: StringType) -> ArrowType {
    arrow_type_in(data_type, strings, None)
}

/// [`arrow_type`] in a session whose instants without a zone of their own are in `session_zone`.
pub(crate) fn arrow_type_in(data_type: &DataType, strings: StringType, session_zone: Option<&str>) -> ArrowType {
    let inner_type = |inner: &DataType| arrow_type_in(inner, strings, session_zone);
    let field = |name: String, inner: &DataType| field_of(name, inner, inner_type(inner));
    let child = |name: &str, inner: &DataType| Arc::new(field(name.to_owned(), inner));
    let zone = |zone: &Option<Arc<str>>| Some(arrow_zone(zone.as_deref().or(session_zone)));
    match data_type {
        DataType::Int8 => ArrowType::Int8,
        DataType::Int16 => ArrowType::Int16,
        DataType::Int32 => ArrowType::Int32,
        DataType::Int64 => ArrowType::Int64,
        DataType::UInt8 => ArrowType::UInt8,
        DataType::UInt16 => ArrowType::UInt16,
        DataType::UInt32 | DataType::Ipv4 => ArrowType::UInt32,
        DataType::UInt64 => ArrowType::UInt64,
        DataType::Int128 | DataType::UInt128 => ArrowType::Decimal256(39, 0),
        DataType::Int256 | DataType::UInt256 => ArrowType::FixedSizeBinary(32),
        DataType::Float32 | DataType::BFloat16 => ArrowType::Float32,
        DataType::Float64 => ArrowType::Float64,
        DataType::Bool => ArrowType::Boolean,
        DataType::String => match strings {
            StringType::Utf8 | StringType::ByContent => ArrowType::Utf8,
            StringType::Binary => ArrowType::Binary,
        },
        DataType::FixedString(length) => ArrowType::FixedSizeBinary(fixed_size(*length)),
        DataType::Date | DataType::Date32 => ArrowType::Date32,
        DataType::DateTime(own) => ArrowType::Timestamp(TimeUnit::Second, zone(own)),
        DataType::DateTime64(precision, own) => ArrowType::Timestamp(time_unit(*precision), zone(own)),
        DataType::Time => ArrowType::Duration(TimeUnit::Second),
        DataType::Time64(precision) => ArrowType::Duration(time_unit(*precision)),
        DataType::Interval(kind) => match interval_unit(*kind) {
            Some(unit) => ArrowType::Duration(unit),
            None => ArrowType::Int64,
        },
        DataType::Uuid | DataType::Ipv6 => ArrowType::FixedSizeBinary(16),
        DataType::Enum8(_) | DataType::Enum16(_) => dictionary(ArrowType::Utf8),
        DataType::Decimal { precision, scale } => {
            // At most 76, which fits.
            let scale = i8::try_from(*scale).unwrap_or(i8::MAX);
            match DataType::decimal_width(*precision) {
                4 => ArrowType::Decimal32(*precision, scale),
                8 => ArrowType::Decimal64(*precision, scale),
                16 => ArrowType::Decimal128(*precision, scale),
                _ => ArrowType::Decimal256(*precision, scale),
            }
        }
        DataType::Array(item) => ArrowType::List(child(ITEM, item)),
        DataType::Nullable(inner) => inner_type(inner),
        DataType::Tuple(elements) => ArrowType::Struct(
            element_names(elements)
                .zip(elements.iter())
                .map(|(name, element)| child(&name, &element.data_type))
                .collect(),
        ),
        DataType::Map(key, value) => ArrowType::Map(entries(child(KEY, key), child(VALUE, value)), false),
        DataType::LowCardinality(inner) => dictionary(inner_type(inner)),
        DataType::Nothing => ArrowType::Null,
        DataType::Point => ArrowType::Struct(["x", "y"].map(|name| child(name, &DataType::Float64)).into()),
        DataType::Variant(types) => union(types.iter().map(|inner| field(inner.to_string(), inner))),
        DataType::Dynamic { .. } => union([]),
        DataType::Json(_) => ArrowType::Utf8,
        DataType::QBit(number, dimension) => ArrowType::FixedSizeList(child(ITEM, number), fixed_size(*dimension)),
        DataType::AggregateFunction(_) => ArrowType::Binary,
        DataType::Ring
        | DataType::LineString
        | DataType::MultiLineString
        | DataType::Polygon
        | DataType::MultiPolygon
        | DataType::Geometry
        | DataType::Nested(_)
        | DataType::SimpleAggregateFunction(_) => match data_type.underlying() {
            Some(inner) => inner_type(&inner),
            // A function without arguments has no values, and is refused by the parser.
            None => ArrowType::Null,
        },
    }
}

/// Returns the ClickHouse type that a column of `field` is written as when nothing else is asked for.
///
/// # Errors
///
/// [`Error::Unsupported`] when ClickHouse has no such type, [`Error::Type`] when the extension's text is not a type.
pub fn data_type(field: &Field) -> Result<DataType> {
    data_type_within(field, DataType::MAX_DEPTH)
}

fn data_type_within(field: &Field, depth: usize) -> Result<DataType> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Error::Limit {
            what: "depth of a type",
            limit: DataType::MAX_DEPTH as u64,
            found: DataType::MAX_DEPTH as u64 + 1,
        });
    };
    match field.extension_type_name() {
        Some(EXTENSION_NAME) => return field.extension_type_metadata().unwrap_or_default().parse(),
        Some("arrow.uuid") if *field.data_type() == ArrowType::FixedSizeBinary(16) => {
            return Ok(nullable(DataType::Uuid, field.is_nullable()));
        }
        Some("arrow.json")
            if matches!(
                field.data_type(),
                ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View
            ) =>
        {
            return Ok(nullable(DataType::Json(Arc::default()), field.is_nullable()));
        }
        _ => {}
    }
    let item = |item: &FieldRef| Ok::<_, Error>(Arc::new(data_type_within(item, depth)?));
    let plain = match field.data_type() {
        ArrowType::List(inner) | ArrowType::LargeList(inner) | ArrowType::FixedSizeList(inner, _) => {
            return Ok(DataType::Array(item(inner)?));
        }
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(fields) if fields.len() == 2 => {
                return Ok(DataType::Map(item(&fields[0])?, item(&fields[1])?));
            }
            _ => return Err(unsupported(field)),
        },
        ArrowType::Union(members, _) => {
            let types = members
                .iter()
                .filter(|(_, member)| *member.data_type() != ArrowType::Null);
            let types = types.map(|(_, member)| data_type_within(member, depth));
            return Ok(DataType::variant(types.collect::<Result<_>>()?));
        }
        ArrowType::Dictionary(_, values) => {
            let values = Field::new("", (**values).clone(), field.is_nullable());
            return Ok(DataType::LowCardinality(Arc::new(data_type_within(&values, depth)?)));
        }
        ArrowType::Struct(fields) => {
            let unnamed = fields
                .iter()
                .enumerate()
                .all(|(index, field)| *field.name() == (index + 1).to_string());
            let elements = fields.iter().map(|field| {
                let data_type = data_type_within(field, depth)?;
                Ok(if unnamed {
                    Element::unnamed(data_type)
                } else {
                    Element::named(field.name().as_str(), data_type)
                })
            });
            DataType::Tuple(elements.collect::<Result<_>>()?)
        }
        ArrowType::Int8 => DataType::Int8,
        ArrowType::Int16 => DataType::Int16,
        ArrowType::Int32 => DataType::Int32,
        ArrowType::Int64 => DataType::Int64,
        ArrowType::UInt8 => DataType::UInt8,
        ArrowType::UInt16 => DataType::UInt16,
        ArrowType::UInt32 => DataType::UInt32,
        ArrowType::UInt64 => DataType::UInt64,
        ArrowType::Float32 => DataType::Float32,
        ArrowType::Float64 => DataType::Float64,
        ArrowType::Boolean => DataType::Bool,
        ArrowType::Utf8
        | ArrowType::LargeUtf8
        | ArrowType::Utf8View
        | ArrowType::Binary
        | ArrowType::LargeBinary
        | ArrowType::BinaryView => DataType::String,
        ArrowType::FixedSizeBinary(length) => match u32::try_from(*length) {
            Ok(length @ 1..) => DataType::FixedString(length),
            _ => return Err(unsupported(field)),
        },
        ArrowType::Date32 => DataType::Date32,
        ArrowType::Timestamp(unit, zone) => DataType::DateTime64(precision(*unit), zone.clone()),
        ArrowType::Duration(unit) => DataType::Interval(match unit {
            TimeUnit::Second => IntervalKind::Second,
            TimeUnit::Millisecond => IntervalKind::Millisecond,
            TimeUnit::Microsecond => IntervalKind::Microsecond,
            TimeUnit::Nanosecond => IntervalKind::Nanosecond,
        }),
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale)
        | ArrowType::Decimal256(precision, scale) => match u8::try_from(*scale) {
            Ok(scale) if scale <= *precision => DataType::Decimal {
                precision: *precision,
                scale,
            },
            _ => return Err(unsupported(field)),
        },
        ArrowType::Null => return Ok(DataType::Nullable(Arc::new(DataType::Nothing))),
        _ => return Err(unsupported(field)),
    };
    Ok(nullable(plain, field.is_nullable()))
}

/// Returns the field of a column of type `data_type` that has this Arrow type, which may differ from that of [`field`] in
/// the members of unions and structs.
pub(crate) fn field_of(name: impl Into<String>, data_type: &DataType, arrow_type: ArrowType) -> Field {
    let field = Field::new(name, arrow_type, is_nullable(data_type));
    let extension = match data_type {
        DataType::Uuid => ("arrow.uuid", String::new()),
        DataType::Nullable(inner) if **inner == DataType::Uuid => ("arrow.uuid", String::new()),
        _ if speaks_for_itself(data_type) => return field,
        _ => (EXTENSION_NAME, data_type.to_string()),
    };
    let mut metadata = HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_owned(), extension.0.to_owned())]);
    if !extension.1.is_empty() {
        metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), extension.1);
    }
    field.with_metadata(metadata)
}

/// The dense union of these members and `NULL`, whose type numbers are their positions.
pub(crate) fn union(members: impl IntoIterator<Item = Field>) -> ArrowType {
    let members: Vec<FieldRef> = members
        .into_iter()
        .chain([Field::new(NULL, ArrowType::Null, true)])
        .map(Arc::new)
        .collect();
    // The readers refuse unions of more members than there are type numbers.
    let members = (0..=i8::MAX).zip(members).collect::<UnionFields>();
    ArrowType::Union(members, UnionMode::Dense)
}

/// The field of the entries of a map.
pub(crate) fn entries(key: FieldRef, value: FieldRef) -> FieldRef {
    Arc::new(Field::new(
        "entries",
        ArrowType::Struct(Fields::from([key, value])),
        false,
    ))
}

/// The names of a tuple's elements; elements without names are called by their numbers, as ClickHouse itself does.
pub(crate) fn element_names(elements: &[Element]) -> impl Iterator<Item = String> {
    elements.iter().enumerate().map(|(index, element)| match &element.name {
        Some(name) => (**name).to_owned(),
        None => (index + 1).to_string(),
    })
}

/// The unit that holds ticks of `precision` digits without loss: itself or the next finer one.
pub(crate) fn time_unit(precision: u8) -> TimeUnit {
    match precision {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

/// The digits of a unit.
pub(crate) fn precision(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// The unit of intervals that Arrow has a duration for.
pub(crate) fn interval_unit(kind: IntervalKind) -> Option<TimeUnit> {
    match kind {
        IntervalKind::Second => Some(TimeUnit::Second),
        IntervalKind::Millisecond => Some(TimeUnit::Millisecond),
        IntervalKind::Microsecond => Some(TimeUnit::Microsecond),
        IntervalKind::Nanosecond => Some(TimeUnit::Nanosecond),
        _ => None,
    }
}

/// The name of the fields of list items.
pub(crate) const ITEM: &str = "item";
/// The name of the fields of map keys.
pub(crate) const KEY: &str = "key";
/// The name of the fields of map values.
pub(crate) const VALUE: &str = "value";
/// The name of the member of unions that stands for `NULL`.
pub(crate) const NULL: &str = "NULL";

fn dictionary(values: ArrowType) -> ArrowType {
    ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(values))
}

/// Lengths of types are below 2^24.
fn fixed_size(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// ClickHouse calls offsets `Fixed/UTC+05:30:00`, Arrow `+05:30`. Instants without a zone of their own are UTC.
pub(crate) fn arrow_zone(zone: Option<&str>) -> Arc<str> {
    let Some(zone) = zone else { return UTC.into() };
    let offset = zone
        .strip_prefix(FIXED_ZONE)
        .and_then(|offset| offset.strip_suffix(":00"));
    match offset {
        Some(offset) if offset.len() == "+05:30".len() => offset.into(),
        _ => zone.into(),
    }
}

fn is_nullable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Nullable(_)
        | DataType::Variant(_)
        | DataType::Dynamic { .. }
        | DataType::Geometry
        | DataType::Nothing => true,
        DataType::LowCardinality(inner) => is_nullable(inner),
        DataType::SimpleAggregateFunction(function) => function.arguments.first().is_some_and(is_nullable),
        _ => false,
    }
}

fn nullable(data_type: DataType, nullable: bool) -> DataType {
    if nullable {
        DataType::Nullable(Arc::new(data_type))
    } else {
        data_type
    }
}

/// Whether [`data_type`] finds this type from the Arrow type alone.
fn speaks_for_itself(data_type: &DataType) -> bool {
    match data_type {
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float32
        | DataType::Float64
        | DataType::Bool
        | DataType::String
        | DataType::FixedString(_)
        | DataType::Date32
        | DataType::Decimal { .. }
        | DataType::Array(_)
        | DataType::Map(..)
        | DataType::Variant(_) => true,
        DataType::DateTime64(digits, Some(zone)) => {
            precision(time_unit(*digits)) == *digits && !zone.starts_with(FIXED_ZONE)
        }
        DataType::Interval(kind) => interval_unit(*kind).is_some(),
        DataType::Tuple(elements) => {
            let numbered = |(index, element): (usize, &Element)| {
                element
                    .name
                    .as_deref()
                    .is_some_and(|name| name == (index + 1).to_string())
            };
            elements.is_empty() || !elements.iter().enumerate().all(numbered)
        }
        DataType::Nullable(inner) => **inner == DataType::Nothing || speaks_for_itself(inner),
        DataType::LowCardinality(inner) => speaks_for_itself(inner),
        _ => false,
    }
}

fn unsupported(field: &Field) -> Error {
    Error::Unsupported {
        what: format!("column `{}` of Arrow type {}", field.name(), field.data_type()),
        hint: "ClickHouse has no such type; cast the column",
    }
}

const UTC: &str = "UTC";
const FIXED_ZONE: &str = "Fixed/UTC";
