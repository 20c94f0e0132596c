//! PostgreSQL's types, as far as the bytes of their values go.

use std::fmt;

use tokio_postgres::types::{Kind, Type as WireType};

/// A type of PostgreSQL. Domains are their base types. Shown as CREATE TABLE has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// `boolean`
    Bool,
    /// `smallint`
    Int2,
    /// `integer`
    Int4,
    /// `bigint`
    Int8,
    /// `oid`: the number of something in the catalogue.
    Oid,
    /// `real`
    Float4,
    /// `double precision`
    Float8,
    /// `numeric`, with its precision and its scale, which is negative or larger than the precision now and then.
    Numeric(Option<(u16, i16)>),
    /// `text`
    Text,
    /// `varchar`, with the most characters that a value has.
    Varchar(Option<u32>),
    /// `char(n)`, whose blanks at the end are no part of the value.
    Bpchar(Option<u32>),
    /// `name`: of something in the catalogue.
    Name,
    /// `xml`
    Xml,
    /// An enum, by its name.
    Enum(String),
    /// `json`
    Json,
    /// `jsonb`
    Jsonb,
    /// `bytea`
    Bytea,
    /// `date`
    Date,
    /// `time`
    Time,
    /// `timestamp`, without a time zone.
    Timestamp,
    /// `timestamp with time zone`: an instant.
    TimestampTz,
    /// `interval`
    Interval,
    /// `uuid`
    Uuid,
    /// `void`: of functions that return nothing.
    Void,
    /// An array.
    Array(Box<Type>),
    /// Any other type, by its name, with a length where the column has one: `inet`, `bit(8)`. Its values are read and written as text.
    Other(String),
}

impl Type {
    /// The type of a column that the server described.
    pub(crate) fn of_wire(wire: &WireType, modifier: i32) -> Self {
        match wire.kind() {
            Kind::Array(element) => Self::Array(Box::new(Self::of_wire(element, modifier))),
            Kind::Domain(base) => Self::of_wire(base, modifier),
            Kind::Enum(_) => Self::Enum(qualified(wire)),
            _ => Self::simple(wire, modifier),
        }
    }

    fn simple(wire: &WireType, modifier: i32) -> Self {
        // The length of a varlena's header, which these modifiers have added (`VARHDRSZ`).
        const HEADER: i32 = 4;
        let plain = u32::try_from(modifier).ok();
        let modifier = modifier.checked_sub(HEADER).filter(|modifier| *modifier >= 0);
        let length = || modifier.and_then(|length| u32::try_from(length).ok());
        match *wire {
            WireType::BOOL => Self::Bool,
            WireType::INT2 => Self::Int2,
            WireType::INT4 => Self::Int4,
            WireType::INT8 => Self::Int8,
            WireType::OID => Self::Oid,
            WireType::FLOAT4 => Self::Float4,
            WireType::FLOAT8 => Self::Float8,
            WireType::NUMERIC => Self::Numeric(modifier.and_then(precision_and_scale)),
            // A text that has no type yet is sent as one.
            WireType::TEXT | WireType::UNKNOWN => Self::Text,
            WireType::VARCHAR => Self::Varchar(length()),
            WireType::BPCHAR => Self::Bpchar(length()),
            WireType::NAME => Self::Name,
            WireType::XML => Self::Xml,
            WireType::JSON => Self::Json,
            WireType::JSONB => Self::Jsonb,
            WireType::BYTEA => Self::Bytea,
            WireType::DATE => Self::Date,
            WireType::TIME => Self::Time,
            WireType::TIMESTAMP => Self::Timestamp,
            WireType::TIMESTAMPTZ => Self::TimestampTz,
            WireType::INTERVAL => Self::Interval,
            WireType::UUID => Self::Uuid,
            WireType::VOID => Self::Void,
            WireType::BIT => Self::bits("bit", plain),
            WireType::VARBIT => Self::bits("varbit", plain),
            WireType::TIMETZ => Self::with_length("timetz", plain),
            _ => Self::Other(qualified(wire)),
        }
    }

    /// Without a length `bit` would be one bit in a statement, where columns and values of the type have as many as they have.
    fn bits(name: &str, length: Option<u32>) -> Self {
        let name = if length.is_some() { name } else { "varbit" };
        Self::with_length(name, length)
    }

    fn with_length(name: &str, length: Option<u32>) -> Self {
        Self::Other(match length {
            Some(length) => format!("{name}({length})"),
            None => name.to_owned(),
        })
    }

    /// Whether values come and go in a form of bytes that this crate knows; those of other types do as text.
    #[must_use]
    pub fn is_known(&self) -> bool {
        match self {
            Self::Array(element) => element.is_known() && !matches!(**element, Self::Array(_)),
            Self::Other(_) => false,
            _ => true,
        }
    }

    /// The type that a text names, where it is one of those of every server: `varchar(20)`, `numeric(10,2)[]`.
    pub(crate) fn named(text: &str) -> Option<Self> {
        if let Some(element) = text.strip_suffix("[]") {
            return Some(Self::Array(Box::new(Self::named(element)?)));
        }
        let (name, arguments) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, arguments)) => (name, Some(arguments)),
            None => (text, None),
        };
        let length = || arguments.map(str::parse::<u32>).transpose().ok();
        Some(match name {
            "numeric" => match arguments {
                None => Self::Numeric(None),
                Some(arguments) => {
                    let (precision, scale) = arguments.split_once(',')?;
                    Self::Numeric(Some((precision.parse().ok()?, scale.parse().ok()?)))
                }
            },
            "varchar" => Self::Varchar(length()?),
            "char" => Self::Bpchar(length()?),
            "bit" | "varbit" => Self::bits(name, length()?),
            "timetz" => Self::with_length(name, length()?),
            _ if arguments.is_some() => return None,
            "boolean" => Self::Bool,
            "smallint" => Self::Int2,
            "integer" => Self::Int4,
            "bigint" => Self::Int8,
            "oid" => Self::Oid,
            "real" => Self::Float4,
            "double precision" => Self::Float8,
            "text" => Self::Text,
            "name" => Self::Name,
            "xml" => Self::Xml,
            "json" => Self::Json,
            "jsonb" => Self::Jsonb,
            "bytea" => Self::Bytea,
            "date" => Self::Date,
            "time" => Self::Time,
            "timestamp" => Self::Timestamp,
            "timestamp with time zone" => Self::TimestampTz,
            "interval" => Self::Interval,
            "uuid" => Self::Uuid,
            other if OTHERS.contains(&other) => Self::Other(other.to_owned()),
            _ => return None,
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Bool => "boolean",
            Self::Int2 => "smallint",
            Self::Int4 => "integer",
            Self::Int8 => "bigint",
            Self::Oid => "oid",
            Self::Float4 => "real",
            Self::Float8 => "double precision",
            Self::Numeric(Some((precision, scale))) => return write!(f, "numeric({precision},{scale})"),
            Self::Numeric(None) => "numeric",
            Self::Text => "text",
            Self::Varchar(Some(length)) => return write!(f, "varchar({length})"),
            Self::Varchar(None) => "varchar",
            Self::Bpchar(Some(length)) => return write!(f, "char({length})"),
            // Without a length `char` would have one letter.
            Self::Bpchar(None) => "bpchar",
            Self::Name => "name",
            Self::Xml => "xml",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
            Self::Bytea => "bytea",
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::TimestampTz => "timestamp with time zone",
            Self::Interval => "interval",
            Self::Uuid => "uuid",
            Self::Void => "void",
            Self::Array(element) => return write!(f, "{element}[]"),
            Self::Enum(name) | Self::Other(name) => name,
        };
        f.write_str(name)
    }
}

/// Of a `numeric`'s modifier (`make_numeric_typmod` in PostgreSQL's `numeric.c`): the scale has eleven bits and a sign.
fn precision_and_scale(modifier: i32) -> Option<(u16, i16)> {
    let precision = u16::try_from(modifier >> 16).ok()?;
    let scale = ((modifier & 0x7ff) ^ 1024) - 1024;
    Some((precision, i16::try_from(scale).ok()?))
}

fn qualified(wire: &WireType) -> String {
    match wire.schema() {
        "pg_catalog" => wire.name().to_owned(),
        schema => format!(
            "{}.{}",
            crate::sql_text::quoted(schema),
            crate::sql_text::quoted(wire.name())
        ),
    }
}

/// The types of every server whose values are text here.
const OTHERS: [&str; 21] = [
    "inet",
    "cidr",
    "macaddr",
    "macaddr8",
    "money",
    "tsvector",
    "tsquery",
    "point",
    "line",
    "lseg",
    "box",
    "path",
    "polygon",
    "circle",
    "int4range",
    "int8range",
    "numrange",
    "daterange",
    "tsrange",
    "tstzrange",
    "pg_lsn",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in [
            "boolean",
            "numeric",
            "numeric(10,-2)",
            "numeric(10,2)[]",
            "varchar(20)",
            "varchar",
            "char(3)",
            "timestamp with time zone",
            "text[]",
            "inet",
            "bit(8)",
            "bit(8)[]",
            "varbit",
            "varbit(5)",
            "timetz",
            "timetz(0)",
        ] {
            assert_eq!(Type::named(name).map(|found| found.to_string()).as_deref(), Some(name));
        }
        for name in [
            "",
            "numeric(x)",
            "shop.colour",
            "text; DROP TABLE t",
            "text(1)",
            "char(1",
            "bit()",
            "bit(x)",
            "bit(1); DROP TABLE t",
            "inet(1)",
        ] {
            assert_eq!(Type::named(name), None, "{name}");
        }
    }

    #[test]
    fn modifiers_tell_precision_and_length() {
        for (wire, modifier, expected) in [
            (WireType::NUMERIC, -1, "numeric"),
            (WireType::NUMERIC, ((12 << 16) | 3) + 4, "numeric(12,3)"),
            (WireType::NUMERIC, ((12 << 16) | (-3 & 0x7ff)) + 4, "numeric(12,-3)"),
            (WireType::VARCHAR, 14, "varchar(10)"),
            (WireType::VARCHAR, -1, "varchar"),
            (WireType::NUMERIC_ARRAY, ((12 << 16) | 3) + 4, "numeric(12,3)[]"),
            (WireType::INET, -1, "inet"),
            (WireType::BIT, 8, "bit(8)"),
            (WireType::BIT_ARRAY, 3, "bit(3)[]"),
            (WireType::VARBIT, 5, "varbit(5)"),
            (WireType::VARBIT, -1, "varbit"),
            // `bit` would have one.
            (WireType::BIT, -1, "varbit"),
            (WireType::TIMETZ, 0, "timetz(0)"),
            (WireType::TIMETZ, -1, "timetz"),
        ] {
            assert_eq!(Type::of_wire(&wire, modifier).to_string(), expected);
        }
        // As older files have it.
        assert_eq!(Type::named("bit"), Type::named("varbit"));
    }
}
