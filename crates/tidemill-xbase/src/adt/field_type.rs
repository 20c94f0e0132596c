//! The types of an ADT's fields, by their numbers and names.

use std::fmt;

use crate::field::FieldKind;
use crate::null_test::NullCell;

/// The type of an ADT's field. Names and limits are those of "ADT Field Types and Specifications" in the Advantage help; the numbers
/// are those of its client's header, which the tables have too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdtType {
    /// True or false.
    Logical,
    /// A decimal number as text.
    Numeric,
    /// A day.
    Date,
    /// Text of a fixed width.
    Character,
    /// Text in the memo file.
    Memo,
    /// Bytes in the memo file.
    Binary,
    /// A picture in the memo file.
    Image,
    /// The text of varying length of old versions.
    VarChar,
    /// A double.
    Double,
    /// A whole number of four bytes.
    Integer,
    /// A whole number of two bytes.
    ShortInteger,
    /// A time of day.
    Time,
    /// A moment.
    Timestamp,
    /// A number that the table gives, one more for each record.
    AutoIncrement,
    /// Bytes of a fixed width.
    Raw,
    /// An amount as a double.
    CurDouble,
    /// An amount of ten-thousandths.
    Money,
    /// A whole number of eight bytes.
    LongInteger,
    /// Text of a fixed width that compares without regard to case.
    CiCharacter,
    /// A number that grows with each change of any record.
    RowVersion,
    /// The moment of a record's last change.
    ModTime,
    /// Text up to a length.
    VarCharFox,
    /// Bytes up to a length.
    VarBinaryFox,
    /// Text in UTF-16 of a fixed width.
    NChar,
    /// Text in UTF-16 up to a length.
    NVarChar,
    /// Text in UTF-16 in the memo file.
    NMemo,
}

impl AdtType {
    /// Every type, in the order of the numbers.
    pub const ALL: [Self; 26] = [
        Self::Logical,
        Self::Numeric,
        Self::Date,
        Self::Character,
        Self::Memo,
        Self::Binary,
        Self::Image,
        Self::VarChar,
        Self::Double,
        Self::Integer,
        Self::ShortInteger,
        Self::Time,
        Self::Timestamp,
        Self::AutoIncrement,
        Self::Raw,
        Self::CurDouble,
        Self::Money,
        Self::LongInteger,
        Self::CiCharacter,
        Self::RowVersion,
        Self::ModTime,
        Self::VarCharFox,
        Self::VarBinaryFox,
        Self::NChar,
        Self::NVarChar,
        Self::NMemo,
    ];

    /// The number that a descriptor has for it.
    pub fn code(self) -> u16 {
        match self {
            Self::Logical => 1,
            Self::Numeric => 2,
            Self::Date => 3,
            Self::Character => 4,
            Self::Memo => 5,
            Self::Binary => 6,
            Self::Image => 7,
            Self::VarChar => 8,
            Self::Double => 10,
            Self::Integer => 11,
            Self::ShortInteger => 12,
            Self::Time => 13,
            Self::Timestamp => 14,
            Self::AutoIncrement => 15,
            Self::Raw => 16,
            Self::CurDouble => 17,
            Self::Money => 18,
            Self::LongInteger => 19,
            Self::CiCharacter => 20,
            Self::RowVersion => 21,
            Self::ModTime => 22,
            Self::VarCharFox => 23,
            Self::VarBinaryFox => 24,
            Self::NChar => 26,
            Self::NVarChar => 27,
            Self::NMemo => 28,
        }
    }

    /// The type of a descriptor's number; `None` for numbers that are none.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }

    /// The name by which tables are created.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logical => "Logical",
            Self::Numeric => "Numeric",
            Self::Date => "Date",
            Self::Character => "Character",
            Self::Memo => "Memo",
            Self::Binary => "Binary",
            Self::Image => "Image",
            Self::VarChar => "VarChar",
            Self::Double => "Double",
            Self::Integer => "Integer",
            Self::ShortInteger => "ShortInt",
            Self::Time => "Time",
            Self::Timestamp => "TimeStamp",
            Self::AutoIncrement => "AutoIncrement",
            Self::Raw => "Raw",
            Self::CurDouble => "CurDouble",
            Self::Money => "Money",
            Self::LongInteger => "LongInt",
            Self::CiCharacter => "CICharacter",
            Self::RowVersion => "RowVersion",
            Self::ModTime => "ModTime",
            Self::VarCharFox => "VarCharFox",
            Self::VarBinaryFox => "VarBinaryFox",
            Self::NChar => "NChar",
            Self::NVarChar => "NVarChar",
            Self::NMemo => "NMemo",
        }
    }

    /// The type of a name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(name))
    }

    /// The width of every field of the type, in bytes; `None` where it is the table's to say.
    pub fn fixed_width(self) -> Option<u16> {
        match self {
            Self::Logical => Some(1),
            Self::ShortInteger => Some(2),
            Self::Date | Self::Integer | Self::Time | Self::AutoIncrement => Some(4),
            Self::Double
            | Self::Timestamp
            | Self::CurDouble
            | Self::Money
            | Self::LongInteger
            | Self::RowVersion
            | Self::ModTime => Some(8),
            Self::Memo | Self::Binary | Self::Image | Self::NMemo => Some(9),
            _ => None,
        }
    }

    /// Whether the table sets the values itself.
    pub fn is_automatic(self) -> bool {
        matches!(self, Self::AutoIncrement | Self::RowVersion | Self::ModTime)
    }

    /// How the bytes are read.
    pub(crate) fn kind(self) -> FieldKind {
        match self {
            Self::Logical => FieldKind::Logical,
            Self::Numeric => FieldKind::Numeric,
            Self::Date => FieldKind::DateBinary,
            Self::Character | Self::CiCharacter => FieldKind::Character,
            Self::Memo => FieldKind::Memo,
            Self::Binary | Self::Image => FieldKind::MemoBinary,
            Self::NMemo => FieldKind::MemoWide,
            Self::Double | Self::CurDouble => FieldKind::Double,
            Self::Integer | Self::ShortInteger | Self::LongInteger | Self::RowVersion => FieldKind::Integer,
            Self::Time => FieldKind::Time,
            Self::Timestamp | Self::ModTime => FieldKind::Timestamp,
            Self::AutoIncrement => FieldKind::Counter,
            Self::Raw => FieldKind::CharacterBinary,
            Self::Money => FieldKind::Currency,
            Self::NChar => FieldKind::CharacterWide,
            Self::VarChar | Self::VarCharFox | Self::VarBinaryFox | Self::NVarChar => FieldKind::System,
        }
    }

    /// The letter of the DBF type that holds the same.
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Logical => 'L',
            Self::Numeric => 'N',
            Self::Date => 'D',
            Self::Character | Self::CiCharacter | Self::Raw | Self::NChar => 'C',
            Self::Memo | Self::NMemo => 'M',
            Self::Binary => 'W',
            Self::Image => 'P',
            Self::Double | Self::CurDouble => 'B',
            Self::Integer | Self::ShortInteger | Self::LongInteger => 'I',
            Self::RowVersion => '^',
            Self::ModTime => '=',
            Self::AutoIncrement => '+',
            Self::Time | Self::Timestamp => 'T',
            Self::Money => 'Y',
            Self::VarChar | Self::VarCharFox | Self::NVarChar => 'V',
            Self::VarBinaryFox => 'Q',
        }
    }

    /// What a cell holds that is NULL; `None` for the types that are never NULL ("Null Field Values").
    pub(crate) fn null_cell(self) -> Option<NullCell> {
        match self {
            Self::AutoIncrement | Self::RowVersion | Self::ModTime => None,
            Self::Logical | Self::Numeric => Some(NullCell::Unset),
            Self::Date => Some(NullCell::Zeros),
            Self::Timestamp => Some(NullCell::Moment),
            Self::Character | Self::CiCharacter | Self::Raw | Self::NChar => Some(NullCell::Zeros),
            Self::Memo | Self::Binary | Self::Image | Self::NMemo => Some(NullCell::Memo),
            Self::Double | Self::CurDouble => Some(NullCell::Word(0x8000_0000_0000_0020)),
            Self::Integer => Some(NullCell::Word(0x8000_0000)),
            Self::ShortInteger => Some(NullCell::Word(0x8000)),
            Self::Time => Some(NullCell::Word(0xFFFF_FFFF)),
            Self::Money | Self::LongInteger => Some(NullCell::Word(1 << 63)),
            Self::VarChar | Self::VarCharFox | Self::VarBinaryFox | Self::NVarChar => None,
        }
    }

    /// Whether the bytes are exempt from code page translation.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Raw | Self::Binary | Self::Image)
    }

    /// What keeps a field from being read, of types whose layout no file at hand has shown.
    pub(crate) fn unknown(self, width: usize) -> Option<String> {
        /// The width of a memo whose bytes are compressed ("ADT Field Types and Specifications").
        const COMPRESSED: usize = 16;
        match self {
            Self::Memo | Self::Binary | Self::NMemo if width == COMPRESSED => {
                Some(format!("{self} values that are compressed"))
            }
            Self::VarChar | Self::VarCharFox | Self::VarBinaryFox | Self::NVarChar => {
                Some(format!("{self}, of which it is not known where the length stands"))
            }
            _ => None,
        }
    }

    /// Whether a field of this type can have this width and so many decimals.
    ///
    /// # Errors
    /// What it can have.
    pub(crate) fn check_width(self, width: usize, decimals: u8) -> Result<(), String> {
        let fits = match (self, self.fixed_width()) {
            (_, Some(fixed)) => width == usize::from(fixed),
            (Self::Numeric, None) => {
                (2..=32).contains(&width) && (decimals == 0 || usize::from(decimals) <= width.saturating_sub(2))
            }
            (Self::NChar, None) => width > 0 && width.is_multiple_of(2),
            (_, None) => width > 0,
        };
        match (fits, self.fixed_width()) {
            (true, _) => Ok(()),
            (false, Some(fixed)) => Err(format!("{self} of {fixed} bytes")),
            (false, None) => match self {
                Self::Numeric => Err("Numeric of 2 to 32 bytes, with two more than decimals".to_owned()),
                Self::NChar => Err("NChar of two bytes for each character".to_owned()),
                _ => Err(format!("{self} of at least 1 byte")),
            },
        }
    }
}

impl fmt::Display for AdtType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
