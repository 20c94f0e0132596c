//! The columns of a result, as the server describes them (MySQL's manual of the protocol, "Column Definition").

use crate::data_type::{Integer, Size, Type};
use crate::reader::Reader;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnDefinition {
    pub(crate) name: String,
    pub(crate) character_set: u16,
    /// In bytes, of the longest value.
    pub(crate) length: u32,
    /// How values are sent.
    pub(crate) wire: u8,
    pub(crate) flags: u16,
    pub(crate) decimals: u8,
}

impl ColumnDefinition {
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(payload);
        // The catalogue, the schema, the table, and the table without its alias.
        for _ in 0..4 {
            reader.length_encoded_bytes()?;
        }
        let name = String::from_utf8_lossy(reader.length_encoded_bytes()?).into_owned();
        // The column without its alias.
        reader.length_encoded_bytes()?;
        let mut fixed = Reader::new(reader.length_encoded_bytes()?);
        Some(Self {
            name,
            character_set: fixed.u16()?,
            length: fixed.u32()?,
            wire: fixed.u8()?,
            flags: fixed.u16()?,
            decimals: fixed.u8()?,
        })
    }

    /// The type, without the members of an `enum`, which the server does not send.
    pub(crate) fn typ(&self) -> Type {
        let is_unsigned = self.flags & UNSIGNED != 0;
        let integer = |integer| Type::Integer(integer, is_unsigned);
        let fraction = if self.decimals <= 6 { self.decimals } else { 0 };
        match self.wire {
            wire::TINY => integer(Integer::Tiny),
            wire::SHORT => integer(Integer::Small),
            wire::INT24 => integer(Integer::Medium),
            wire::LONG => integer(Integer::Int),
            wire::LONGLONG => integer(Integer::Big),
            wire::DECIMAL | wire::NEWDECIMAL => self.decimal(is_unsigned),
            wire::FLOAT => Type::Float,
            wire::DOUBLE => Type::Double,
            wire::BIT => Type::Bit(u8::try_from(self.length).unwrap_or(64)),
            wire::YEAR => Type::Year,
            wire::DATE | wire::NEWDATE => Type::Date,
            wire::TIME => Type::Time(fraction),
            wire::DATETIME => Type::DateTime(fraction),
            wire::TIMESTAMP => Type::Timestamp(fraction),
            wire::GEOMETRY => Type::Geometry("geometry".to_owned()),
            wire::JSON => Type::Json,
            wire::NULL => Type::Text(Size::Long),
            _ if self.flags & ENUM != 0 => Type::Enum(Vec::new()),
            _ if self.flags & SET != 0 => Type::Set(Vec::new()),
            _ if self.character_set == BINARY => Type::Blob(Size::Long),
            _ => Type::Text(Size::Long),
        }
    }

    /// The length counts the sign and the point.
    fn decimal(&self, is_unsigned: bool) -> Type {
        let beside = u32::from(self.decimals > 0) + u32::from(!is_unsigned);
        let digits = self
            .length
            .saturating_sub(beside)
            .clamp(1, u32::from(Type::MOST_DIGITS));
        let digits = u8::try_from(digits).unwrap_or(Type::MOST_DIGITS);
        Type::Decimal(digits.max(self.decimals), self.decimals)
    }
}

/// "Field types": how values are sent.
pub(crate) mod wire {
    pub(crate) const DECIMAL: u8 = 0;
    pub(crate) const TINY: u8 = 1;
    pub(crate) const SHORT: u8 = 2;
    pub(crate) const LONG: u8 = 3;
    pub(crate) const FLOAT: u8 = 4;
    pub(crate) const DOUBLE: u8 = 5;
    pub(crate) const NULL: u8 = 6;
    pub(crate) const TIMESTAMP: u8 = 7;
    pub(crate) const LONGLONG: u8 = 8;
    pub(crate) const INT24: u8 = 9;
    pub(crate) const DATE: u8 = 10;
    pub(crate) const TIME: u8 = 11;
    pub(crate) const DATETIME: u8 = 12;
    pub(crate) const YEAR: u8 = 13;
    pub(crate) const NEWDATE: u8 = 14;
    pub(crate) const BIT: u8 = 16;
    pub(crate) const JSON: u8 = 245;
    pub(crate) const NEWDECIMAL: u8 = 246;
    #[cfg(test)]
    pub(crate) const VAR_STRING: u8 = 253;
    pub(crate) const GEOMETRY: u8 = 255;
}

// "Column Definition Flags".
const UNSIGNED: u16 = 1 << 5;
const ENUM: u16 = 1 << 8;
const SET: u16 = 1 << 11;
/// The character set of bytes.
const BINARY: u16 = 63;
