//! CQL's types as Arrow's, and the other way round. The table of both is in `docs/cql.md`.
//!
//! What Arrow has no type for is kept in the metadata of the field ([`CQL_TYPE`]): that a text is an `ascii`, a `uuid` or a
//! `decimal`, that a list is a set, which user-defined type a struct is. UUIDs and addresses are text, not bytes, because that is
//! what statements compare them with.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit};
use scylla::frame::response::result::{CollectionType, ColumnType, NativeType};

use crate::cql_text;
use crate::error::{Error, Result};

/// The key of a field's metadata that holds the column's CQL type, such as `frozen<set<timeuuid>>`.
pub const CQL_TYPE: &str = "cql.type";

/// The field of a column of type `typ`. Every column may be null, and so may whatever is nested in it except a map's keys.
pub fn field(name: &str, typ: &ColumnType<'_>) -> Field {
    spelled_field(name, typ, &cql_text::type_name(typ))
}

/// [`field`], for a type that the schema spells so: only there is it declared whether a collection is frozen.
pub(crate) fn spelled_field(name: &str, typ: &ColumnType<'_>, spelled: &str) -> Field {
    let metadata = HashMap::from([(CQL_TYPE.to_owned(), spelled.to_owned())]);
    Field::new(name, data_type(typ), true).with_metadata(metadata)
}

/// The Arrow type whose arrays hold the values of a CQL type.
pub fn data_type(typ: &ColumnType<'_>) -> DataType {
    match typ {
        ColumnType::Native(native) => native_type(native),
        ColumnType::Collection {
            typ: CollectionType::List(element) | CollectionType::Set(element),
            ..
        } => DataType::List(Arc::new(field(Field::LIST_FIELD_DEFAULT_NAME, element))),
        ColumnType::Collection {
            typ: CollectionType::Map(key, value),
            ..
        } => {
            let entries = Fields::from(vec![field("key", key).with_nullable(false), field("value", value)]);
            DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
        }
        ColumnType::Vector { typ, dimensions } => DataType::FixedSizeList(
            Arc::new(field(Field::LIST_FIELD_DEFAULT_NAME, typ)),
            i32::from(*dimensions),
        ),
        ColumnType::Tuple(types) => {
            let fields = types.iter().enumerate();
            DataType::Struct(fields.map(|(at, typ)| field(&(at + 1).to_string(), typ)).collect())
        }
        ColumnType::UserDefinedType { definition, .. } => {
            let fields = definition.field_types.iter();
            DataType::Struct(fields.map(|(name, typ)| field(name, typ)).collect())
        }
        // Types that the driver learns later: their bytes as they are.
        _ => DataType::Binary,
    }
}

fn native_type(native: &NativeType) -> DataType {
    match native {
        NativeType::Boolean => DataType::Boolean,
        NativeType::TinyInt => DataType::Int8,
        NativeType::SmallInt => DataType::Int16,
        NativeType::Int => DataType::Int32,
        NativeType::BigInt | NativeType::Counter => DataType::Int64,
        NativeType::Float => DataType::Float32,
        NativeType::Double => DataType::Float64,
        NativeType::Ascii
        | NativeType::Text
        | NativeType::Uuid
        | NativeType::Timeuuid
        | NativeType::Inet
        | NativeType::Varint
        | NativeType::Decimal => DataType::Utf8,
        NativeType::Date => DataType::Date32,
        NativeType::Time => DataType::Time64(TimeUnit::Nanosecond),
        NativeType::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        NativeType::Duration => DataType::Interval(IntervalUnit::MonthDayNano),
        _ => DataType::Binary,
    }
}

/// The CQL type of a new column for the values of a field, as CREATE TABLE has it: the type that the field's metadata names, where
/// its values are of that type still, else the one that holds every value, or nearly so.
///
/// Collections are frozen, so that an empty one is kept apart from NULL. A counter becomes a `bigint`.
///
/// # Errors
///
/// [`Error::Unsupported`] for types that Cassandra has no place for, as for unions.
///
/// ```
/// use arrow_schema::{DataType, Field};
/// use tidemill_cql::arrow_type::column_type;
///
/// let field = Field::new_list("tags", Field::new_list_field(DataType::Utf8, true), true);
/// assert_eq!(column_type(&field)?, "frozen<list<text>>");
/// # Ok::<(), tidemill_cql::Error>(())
/// ```
pub fn column_type(field: &Field) -> Result<String> {
    let declared = field.metadata().get(CQL_TYPE).map_or("", String::as_str);
    let (declared, is_thawed) = match declared.strip_prefix("frozen<").and_then(|rest| rest.strip_suffix('>')) {
        Some(inner) => (inner, false),
        None => (declared, declared.contains('<')),
    };
    let head = declared.split('<').next().unwrap_or_default();
    Ok(match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) => {
            let kind = if head == "set" { "set" } else { "list" };
            wrapped(format!("{kind}<{}>", frozen(item)?), is_thawed)
        }
        DataType::FixedSizeList(item, length @ 1..=65_535) => format!("vector<{}, {length}>", frozen(item)?),
        DataType::FixedSizeList(item, _) => wrapped(format!("list<{}>", frozen(item)?), false),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => wrapped(
                format!("map<{}, {}>", frozen(&fields[0])?, frozen(&fields[1])?),
                is_thawed,
            ),
            _ => return Err(unsupported(field)),
        },
        DataType::Struct(fields) if fields.is_empty() => return Err(unsupported(field)),
        DataType::Struct(_) if !head.is_empty() && head != "tuple" => wrapped(declared.to_owned(), !is_frozen(field)),
        DataType::Struct(fields) => {
            let types = fields.iter().map(|field| frozen(field)).collect::<Result<Vec<_>>>()?;
            format!("tuple<{}>", types.join(", "))
        }
        DataType::Dictionary(_, values) => scalar(values).ok_or_else(|| unsupported(field))?.to_owned(),
        data_type => {
            let as_declared = NATIVES
                .iter()
                .find(|native| cql_text::native_name(native) == head && native_type(native) == *data_type);
            match as_declared {
                Some(native) => cql_text::native_name(native).to_owned(),
                None if is_uuid(field) => "uuid".to_owned(),
                None => scalar(data_type).ok_or_else(|| unsupported(field))?.to_owned(),
            }
        }
    })
}

/// The type of what is nested in another: no collection or user-defined type stands there unfrozen.
fn frozen(field: &Field) -> Result<String> {
    let text = column_type(field)?;
    let is_native = !text.contains('<') && !matches!(field.data_type(), DataType::Struct(_));
    let is_whole = is_native
        || ["frozen<", "tuple<", "vector<"]
            .iter()
            .any(|head| text.starts_with(head));
    Ok(wrapped(text, is_whole))
}

fn wrapped(text: String, is_whole: bool) -> String {
    match is_whole {
        true => text,
        false => format!("frozen<{text}>"),
    }
}

fn is_frozen(field: &Field) -> bool {
    field
        .metadata()
        .get(CQL_TYPE)
        .is_some_and(|declared| declared.starts_with("frozen<"))
}

/// Whether a field says that it holds UUIDs, by Arrow's canonical extension type.
pub(crate) fn is_uuid(field: &Field) -> bool {
    *field.data_type() == DataType::FixedSizeBinary(16) && field.extension_type_name() == Some("arrow.uuid")
}

fn scalar(data_type: &DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Boolean => "boolean",
        DataType::Int8 => "tinyint",
        DataType::Int16 | DataType::UInt8 => "smallint",
        DataType::Int32 | DataType::UInt16 => "int",
        DataType::Int64 | DataType::UInt32 => "bigint",
        DataType::UInt64 => "varint",
        DataType::Float16 | DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            "decimal"
        }
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "blob",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time",
        DataType::Timestamp(..) => "timestamp",
        DataType::Duration(_) | DataType::Interval(_) => "duration",
        _ => return None,
    })
}

fn unsupported(field: &Field) -> Error {
    Error::Unsupported {
        what: format!("column {}: {} in Cassandra", field.name(), field.data_type()),
        hint: "cast it to another type, or leave it out".to_owned(),
    }
}

/// The native types that new columns may have: all but `counter`.
pub const NATIVES: &[NativeType] = &[
    NativeType::Ascii,
    NativeType::Boolean,
    NativeType::Blob,
    NativeType::Date,
    NativeType::Decimal,
    NativeType::Double,
    NativeType::Duration,
    NativeType::Float,
    NativeType::Int,
    NativeType::BigInt,
    NativeType::Text,
    NativeType::Timestamp,
    NativeType::Inet,
    NativeType::SmallInt,
    NativeType::TinyInt,
    NativeType::Time,
    NativeType::Timeuuid,
    NativeType::Uuid,
    NativeType::Varint,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn native(native: NativeType) -> Box<ColumnType<'static>> {
        Box::new(ColumnType::Native(native))
    }

    fn list(frozen: bool, element: Box<ColumnType<'static>>) -> ColumnType<'static> {
        ColumnType::Collection {
            frozen,
            typ: CollectionType::List(element),
        }
    }

    #[test]
    fn a_type_comes_back_from_its_field() {
        for typ in NATIVES {
            let typ = ColumnType::Native(typ.clone());
            assert_eq!(column_type(&field("x", &typ)).unwrap(), cql_text::type_name(&typ));
        }
        let set = |frozen| ColumnType::Collection {
            frozen,
            typ: CollectionType::Set(native(NativeType::Timeuuid)),
        };
        let map = ColumnType::Collection {
            frozen: false,
            typ: CollectionType::Map(native(NativeType::Ascii), Box::new(set(true))),
        };
        let vector = ColumnType::Vector {
            typ: native(NativeType::Float),
            dimensions: 3,
        };
        let tuple = ColumnType::Tuple(vec![map.clone(), vector.clone()]);
        for typ in [
            set(false),
            set(true),
            map,
            vector,
            tuple.clone(),
            list(true, Box::new(tuple)),
        ] {
            assert_eq!(column_type(&field("x", &typ)).unwrap(), cql_text::type_name(&typ));
        }
    }

    #[test]
    fn metadata_that_no_longer_fits_is_left() {
        let declared = |data_type, declared: &str| {
            let metadata = HashMap::from([(CQL_TYPE.to_owned(), declared.to_owned())]);
            column_type(&Field::new("x", data_type, true).with_metadata(metadata)).unwrap()
        };
        assert_eq!(declared(DataType::Utf8, "uuid"), "uuid");
        assert_eq!(declared(DataType::Int32, "uuid"), "int");
        assert_eq!(declared(DataType::Int64, "counter"), "bigint");
        assert_eq!(declared(DataType::Utf8, "list<int>"), "text");
        assert_eq!(declared(DataType::Decimal128(9, 2), "decimal"), "decimal");
        let fields = DataType::Struct(vec![Field::new("a", DataType::Int32, true)].into());
        assert_eq!(declared(fields.clone(), "frozen<\"Point\">"), "frozen<\"Point\">");
        assert_eq!(declared(fields.clone(), "point"), "point");
        assert_eq!(declared(fields, ""), "tuple<int>");
    }
}
