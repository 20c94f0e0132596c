//! The types of columns (MySQL's manual, "Data Types").

use std::fmt;

use crate::sql_text::literal;

/// The type of a column. Shown as a statement spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// Whole numbers, and whether they have no sign.
    Integer(Integer, bool),
    /// `decimal(p,s)`: how many digits, and how many of them stand behind the point.
    Decimal(u8, u8),
    /// 4 bytes.
    Float,
    /// 8 bytes.
    Double,
    /// `bit(n)`.
    Bit(u8),
    /// A year: 0, and 1901 to 2155.
    Year,
    /// A day.
    Date,
    /// A time, or a span from -838:59:59 to 838:59:59, with so many digits behind the second.
    Time(u8),
    /// A day and a time without a zone, with so many digits behind the second.
    DateTime(u8),
    /// An instant from 1970 to 2038, with so many digits behind the second.
    Timestamp(u8),
    /// `char(n)`.
    Char(u32),
    /// `varchar(n)`.
    VarChar(u32),
    /// `text` and its kin.
    Text(Size),
    /// `binary(n)`.
    Binary(u32),
    /// `varbinary(n)`.
    VarBinary(u32),
    /// `blob` and its kin.
    Blob(Size),
    /// One of some texts. Of results they are not known.
    Enum(Vec<String>),
    /// Any of some texts, with commas between.
    Set(Vec<String>),
    /// JSON. MariaDB has it as `longtext` with a check.
    Json,
    /// A `point`, a `polygon` and so on: the SRID in four bytes, and well-known binary.
    Geometry(String),
    /// Any other, as it is declared, whose values are texts: `uuid`, `inet4`, `inet6`.
    Other(String),
}

/// How many bytes a whole number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// One.
    Tiny,
    /// Two.
    Small,
    /// Three.
    Medium,
    /// Four.
    Int,
    /// Eight.
    Big,
}

/// How long texts and blobs may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 255 bytes.
    Tiny,
    /// 64 KiB.
    Normal,
    /// 16 MiB.
    Medium,
    /// 4 GiB.
    Long,
}

impl Type {
    /// The most digits of a `decimal`.
    pub const MOST_DIGITS: u8 = 65;
    /// The most digits of a `decimal` behind the point.
    pub const LARGEST_SCALE: u8 = 30;

    /// Reads a type as the catalogue and statements spell it: `int(10) unsigned`, `enum('a','b')`.
    #[must_use]
    pub fn named(text: &str) -> Self {
        let text = text.trim();
        let end = text.find(['(', ' ']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let name = name.to_ascii_lowercase();
        let (arguments, attributes) = match rest.strip_prefix('(').and_then(|rest| rest.rsplit_once(')')) {
            Some((arguments, attributes)) => (Some(arguments), attributes),
            None => (None, rest),
        };
        let is_unsigned = attributes.to_ascii_lowercase().contains("unsigned");
        let integer = |integer| Self::Integer(integer, is_unsigned);
        let number = || arguments.and_then(|text| text.trim().parse::<u32>().ok());
        let fraction = || number().and_then(|digits| u8::try_from(digits).ok()).unwrap_or(0);
        match name.as_str() {
            "tinyint" | "bool" | "boolean" => integer(Integer::Tiny),
            "smallint" => integer(Integer::Small),
            "mediumint" => integer(Integer::Medium),
            "int" | "integer" => integer(Integer::Int),
            "bigint" => integer(Integer::Big),
            "decimal" | "numeric" => decimal(arguments),
            "float" => Self::Float,
            "double" | "real" => Self::Double,
            "bit" => Self::Bit(number().and_then(|bits| u8::try_from(bits).ok()).unwrap_or(1)),
            "year" => Self::Year,
            "date" => Self::Date,
            "time" => Self::Time(fraction()),
            "datetime" => Self::DateTime(fraction()),
            "timestamp" => Self::Timestamp(fraction()),
            "char" => Self::Char(number().unwrap_or(1)),
            "varchar" => Self::VarChar(number().unwrap_or(1)),
            "tinytext" => Self::Text(Size::Tiny),
            "text" => Self::Text(Size::Normal),
            "mediumtext" => Self::Text(Size::Medium),
            "longtext" => Self::Text(Size::Long),
            "binary" => Self::Binary(number().unwrap_or(1)),
            "varbinary" => Self::VarBinary(number().unwrap_or(1)),
            "tinyblob" => Self::Blob(Size::Tiny),
            "blob" => Self::Blob(Size::Normal),
            "mediumblob" => Self::Blob(Size::Medium),
            "longblob" => Self::Blob(Size::Long),
            "enum" => Self::Enum(members(arguments.unwrap_or_default())),
            "set" => Self::Set(members(arguments.unwrap_or_default())),
            "json" => Self::Json,
            "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
            | "geometrycollection" | "geomcollection" => Self::Geometry(name),
            _ => Self::Other(text.to_owned()),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = |f: &mut fmt::Formatter<'_>, name: &str, digits: u8| match digits {
            0 => f.write_str(name),
            _ => write!(f, "{name}({digits})"),
        };
        match self {
            Self::Integer(integer, is_unsigned) => {
                let name = match integer {
                    Integer::Tiny => "tinyint",
                    Integer::Small => "smallint",
                    Integer::Medium => "mediumint",
                    Integer::Int => "int",
                    Integer::Big => "bigint",
                };
                write!(f, "{name}{}", if *is_unsigned { " unsigned" } else { "" })
            }
            Self::Decimal(precision, scale) => write!(f, "decimal({precision},{scale})"),
            Self::Float => f.write_str("float"),
            Self::Double => f.write_str("double"),
            Self::Bit(bits) => write!(f, "bit({bits})"),
            Self::Year => f.write_str("year"),
            Self::Date => f.write_str("date"),
            Self::Time(digits) => fraction(f, "time", *digits),
            Self::DateTime(digits) => fraction(f, "datetime", *digits),
            Self::Timestamp(digits) => fraction(f, "timestamp", *digits),
            Self::Char(length) => write!(f, "char({length})"),
            Self::VarChar(length) => write!(f, "varchar({length})"),
            Self::Text(size) => write!(f, "{}text", prefix(*size)),
            Self::Binary(length) => write!(f, "binary({length})"),
            Self::VarBinary(length) => write!(f, "varbinary({length})"),
            Self::Blob(size) => write!(f, "{}blob", prefix(*size)),
            Self::Enum(members) => write!(f, "enum({})", spelt(members)),
            Self::Set(members) => write!(f, "set({})", spelt(members)),
            Self::Json => f.write_str("json"),
            Self::Geometry(name) | Self::Other(name) => f.write_str(name),
        }
    }
}

fn prefix(size: Size) -> &'static str {
    match size {
        Size::Tiny => "tiny",
        Size::Normal => "",
        Size::Medium => "medium",
        Size::Long => "long",
    }
}

fn spelt(members: &[String]) -> String {
    let members = members.iter().map(|member| literal(member));
    members.collect::<Vec<_>>().join(",")
}

fn decimal(arguments: Option<&str>) -> Type {
    let mut numbers = arguments.into_iter().flat_map(|text| text.split(','));
    let mut next = |otherwise| {
        let number = numbers.next().and_then(|text| text.trim().parse::<u8>().ok());
        number.unwrap_or(otherwise)
    };
    let precision = next(10).clamp(1, Type::MOST_DIGITS);
    Type::Decimal(precision, next(0).min(precision))
}

/// The texts of `'a','it''s'`. The catalogue doubles quotation marks and escapes as texts in statements do (`append_unescaped` in the
/// servers' `unireg.cc`).
fn members(text: &str) -> Vec<String> {
    let mut members = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\'' {
            continue;
        }
        let mut member = String::new();
        while let Some(letter) = letters.next() {
            match letter {
                '\'' if letters.next_if_eq(&'\'').is_some() => member.push('\''),
                '\'' => break,
                '\\' => member.extend(letters.next().map(|letter| match letter {
                    '0' => '\0',
                    'n' => '\n',
                    'r' => '\r',
                    letter => letter,
                })),
                letter => member.push(letter),
            }
        }
        members.push(member);
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_the_catalogue_spells_them() {
        for (text, expected) in [
            ("int(10) unsigned zerofill", "int unsigned"),
            ("tinyint(1)", "tinyint"),
            ("BIGINT(20)", "bigint"),
            ("decimal(12,3) unsigned", "decimal(12,3)"),
            ("double(10,2)", "double"),
            ("bit(1)", "bit(1)"),
            ("timestamp(6)", "timestamp(6)"),
            ("datetime", "datetime"),
            ("year(4)", "year"),
            ("enum('a','it''s',',()')", "enum('a','it''s',',()')"),
            ("set('x','y')", "set('x','y')"),
            (r"enum('a\\b')", r"enum('a\\b')"),
            ("longtext", "longtext"),
            ("varbinary(3000)", "varbinary(3000)"),
            ("point", "point"),
            ("inet6", "inet6"),
            ("uuid", "uuid"),
        ] {
            assert_eq!(Type::named(text).to_string(), expected);
        }
        assert_eq!(Type::named("decimal(200,99)"), Type::Decimal(65, 65));
        assert_eq!(
            Type::named("enum('a','it''s')"),
            Type::Enum(vec!["a".to_owned(), "it's".to_owned()])
        );
    }
}
