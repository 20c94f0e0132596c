//! Names, values and types in the text of CQL statements.

use std::borrow::Cow;

use scylla::frame::response::result::{CollectionType, ColumnType, NativeType};

/// A name as statements have it: in quotes unless it would come out the same without.
///
/// ```
/// assert_eq!(tidemill_cql::cql_text::name("city"), "city");
/// assert_eq!(tidemill_cql::cql_text::name("City \"x\""), "\"City \"\"x\"\"\"");
/// assert_eq!(tidemill_cql::cql_text::name("select"), "\"select\"");
/// ```
pub fn name(name: &str) -> Cow<'_, str> {
    let is_plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
        && !RESERVED.contains(&name);
    match is_plain {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))),
    }
}

/// A text as statements have it.
pub fn string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A type as CQL spells it.
pub fn type_name(typ: &ColumnType<'_>) -> String {
    nested(typ, false)
}

fn nested(typ: &ColumnType<'_>, in_another: bool) -> String {
    let inner = |typ: &ColumnType<'_>| nested(typ, true);
    let (text, is_frozen) = match typ {
        ColumnType::Native(native) => return native_name(native).to_owned(),
        ColumnType::Vector { typ, dimensions } => return format!("vector<{}, {dimensions}>", inner(typ)),
        ColumnType::Collection { frozen, typ } => (
            match typ {
                CollectionType::List(element) => format!("list<{}>", inner(element)),
                CollectionType::Set(element) => format!("set<{}>", inner(element)),
                CollectionType::Map(key, value) => format!("map<{}, {}>", inner(key), inner(value)),
                other => format!("{other:?}"),
            },
            *frozen,
        ),
        ColumnType::UserDefinedType { frozen, definition } => (name(&definition.name).into_owned(), *frozen),
        // Tuples are frozen whether they say so or not.
        ColumnType::Tuple(types) => (
            format!("tuple<{}>", types.iter().map(inner).collect::<Vec<_>>().join(", ")),
            false,
        ),
        other => return format!("{other:?}"),
    };
    match is_frozen || (in_another && !matches!(typ, ColumnType::Tuple(_))) {
        true => format!("frozen<{text}>"),
        false => text,
    }
}

pub(crate) fn native_name(native: &NativeType) -> &'static str {
    match native {
        NativeType::Ascii => "ascii",
        NativeType::Boolean => "boolean",
        NativeType::Blob => "blob",
        NativeType::Counter => "counter",
        NativeType::Date => "date",
        NativeType::Decimal => "decimal",
        NativeType::Double => "double",
        NativeType::Duration => "duration",
        NativeType::Float => "float",
        NativeType::Int => "int",
        NativeType::BigInt => "bigint",
        NativeType::Text => "text",
        NativeType::Timestamp => "timestamp",
        NativeType::Inet => "inet",
        NativeType::SmallInt => "smallint",
        NativeType::TinyInt => "tinyint",
        NativeType::Time => "time",
        NativeType::Timeuuid => "timeuuid",
        NativeType::Uuid => "uuid",
        NativeType::Varint => "varint",
        _ => "a type that the driver does not name",
    }
}

/// Words that are no names without quotes: `ReservedKeywords` of Cassandra 5.0, and those that its predecessors reserved.
const RESERVED: &[&str] = &[
    "add",
    "allow",
    "alter",
    "and",
    "apply",
    "asc",
    "authorize",
    "batch",
    "begin",
    "by",
    "columnfamily",
    "create",
    "default",
    "delete",
    "desc",
    "describe",
    "drop",
    "entries",
    "execute",
    "from",
    "full",
    "grant",
    "if",
    "in",
    "index",
    "infinity",
    "insert",
    "into",
    "is",
    "keyspace",
    "limit",
    "materialized",
    "mbean",
    "mbeans",
    "modify",
    "nan",
    "norecursive",
    "not",
    "null",
    "of",
    "on",
    "or",
    "order",
    "primary",
    "rename",
    "replace",
    "revoke",
    "schema",
    "select",
    "set",
    "table",
    "to",
    "token",
    "truncate",
    "unlogged",
    "unset",
    "update",
    "use",
    "using",
    "values",
    "view",
    "where",
    "with",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_spelled_as_they_are_declared() {
        let text = || Box::new(ColumnType::Native(NativeType::Text));
        let list = ColumnType::Collection {
            frozen: false,
            typ: CollectionType::List(text()),
        };
        assert_eq!(type_name(&list), "list<text>");
        let map = ColumnType::Collection {
            frozen: true,
            typ: CollectionType::Map(text(), Box::new(list)),
        };
        assert_eq!(type_name(&map), "frozen<map<text, frozen<list<text>>>>");
        let tuple = ColumnType::Tuple(vec![
            ColumnType::Vector {
                typ: Box::new(ColumnType::Native(NativeType::Float)),
                dimensions: 3,
            },
            map,
        ]);
        assert_eq!(
            type_name(&tuple),
            "tuple<vector<float, 3>, frozen<map<text, frozen<list<text>>>>>"
        );
    }
}
