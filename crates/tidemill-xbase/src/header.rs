//! The file header: what kind of table this is, how many records it has and where they begin.
//!
//! Layouts: "Table File Structure (.dbc, .dbf, .frx, …)" of the Visual FoxPro documentation (dBASE III and later),
//! "Data File Header Structure for the dBASE Version 7 Table File" (dbase.com knowledge base), and the dBASE II header
//! of the HelpPC reference. docs/formats/dbf.md has the tables. Field descriptors are in `field`.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::adt::{self, AdtHeader};
use crate::error::{Error, Result};
use crate::julian;
use crate::source::Source;

/// The family of programs that a table's version byte points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// dBASE II and FoxBASE 1 (02): a header of 521 bytes with 16-byte descriptors.
    Dbase2,
    /// dBASE III PLUS, Clipper, Harbour, FoxBASE+ (03 without, 83 with memos) and FoxBASE (FB).
    Dbase3,
    /// dBASE IV (43, 63 SQL tables; 7B, 8B, 8E, CB with memos).
    Dbase4,
    /// dBASE 5 for Windows (05).
    Dbase5,
    /// Visual dBASE 7 (04, 8C with memos): a header of 68 bytes with 48-byte descriptors.
    Dbase7,
    /// FoxPro 2 and everything that writes FPT memos beside a DBF (F5).
    FoxPro2,
    /// Visual FoxPro (30, 31 with autoincrement, 32 with varchar, varbinary or blob).
    VisualFoxPro,
    /// HiPer-SIx and Harbour with SMT memos (E5).
    Six,
    /// The Advantage Database Server's own tables (`.adt`), which are no DBF: the first bytes are `Advantage Table`.
    Adt,
}

/// How the first byte of a record says that the record is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deletion {
    mask: u8,
    value: u8,
}

impl Deletion {
    /// A star.
    pub(crate) const DBF: Self = Self {
        mask: 0xFF,
        value: b'*',
    };
    /// The lowest bit.
    pub(crate) const ADT: Self = Self { mask: 1, value: 1 };

    /// Whether a record is deleted that begins with these bytes.
    #[inline(always)]
    pub(crate) fn is_deleted(self, record: &[u8]) -> bool {
        record.first().is_some_and(|flag| flag & self.mask == self.value)
    }
}

impl Dialect {
    /// Whether a record that begins with these bytes is deleted: by a star, or in an ADT by the lowest bit of the first byte.
    pub fn is_deleted(self, record: &[u8]) -> bool {
        self.deletion().is_deleted(record)
    }

    pub(crate) fn deletion(self) -> Deletion {
        match self {
            Self::Adt => Deletion::ADT,
            _ => Deletion::DBF,
        }
    }

    /// Whether tables have candidate indexes: only those of Visual FoxPro do.
    pub fn has_candidate_indexes(self) -> bool {
        self == Self::VisualFoxPro
    }
}

/// A day as a header stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CivilDate {
    /// The year, such as 2026.
    pub year: u16,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, 1 to 31.
    pub day: u8,
}

/// What the first bytes of a table say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The version byte, offset 0; of an ADT the version of its format, offset 20.
    pub version: u8,
    /// What the version byte means.
    pub dialect: Dialect,
    /// The day of the last change; `None` where the bytes are no date. A year byte below 80 counts from 2000 (FoxPro
    /// writes the year modulo 100), others from 1900.
    pub last_update: Option<CivilDate>,
    /// The number of records as the header has it, deleted ones included.
    pub record_count: u32,
    /// The offset of the first record, in bytes.
    pub header_len: u32,
    /// The length of a record in bytes, the deletion flag included.
    pub record_len: u32,
    /// The language byte, offset 29; 0 where the table names no code page.
    pub language: u8,
    /// The language driver of a dBASE 7 table, offset 32, which names the code page ([`CodePage::from_language_driver`]); empty where
    /// there is none.
    ///
    /// [`CodePage::from_language_driver`]: crate::CodePage::from_language_driver
    pub language_driver: String,
    /// Whether a production index (CDX, MDX) belongs to the table: bit 0 of offset 28.
    pub production_index: bool,
    /// Whether the table is a database container (DBC): bit 2 of offset 28, Visual FoxPro only.
    pub database: bool,
    /// Whether a dBASE IV transaction was left incomplete: offset 14.
    pub incomplete_transaction: bool,
    /// Whether the records are encrypted: by dBASE IV (offset 15), or by Advantage under a password.
    pub encrypted: bool,
    /// What only the header of an ADT says.
    pub adt: Option<Box<AdtHeader>>,
}

impl CivilDate {
    /// The day by the system's clock, in universal time.
    pub fn today() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let days = i32::try_from(since_epoch.as_secs() / 86_400).unwrap_or_default();
        let (year, month, day) = julian::civil_from_unix_days(days);
        Self {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: u8::try_from(month).unwrap_or(1),
            day: u8::try_from(day).unwrap_or(1),
        }
    }
}

impl Dialect {
    /// The dialect of a version byte; `None` for bytes that no program is known to write.
    pub(crate) fn from_version(version: u8) -> Option<Self> {
        Some(match version {
            0x02 => Self::Dbase2,
            0x03 | 0x83 | 0xFB => Self::Dbase3,
            0x43 | 0x63 | 0x7B | 0x8B | 0x8E | 0xCB => Self::Dbase4,
            0x05 => Self::Dbase5,
            0x04 | 0x8C => Self::Dbase7,
            0xF5 => Self::FoxPro2,
            0x30..=0x32 => Self::VisualFoxPro,
            0xE5 => Self::Six,
            _ => return None,
        })
    }

    /// Where the field descriptors begin.
    pub(crate) fn prologue_len(self) -> u32 {
        match self {
            Self::Dbase2 => 8,
            Self::Dbase7 => 68,
            Self::Adt => adt::HEADER_LEN,
            _ => 32,
        }
    }

    /// The size of one field descriptor.
    pub(crate) fn descriptor_len(self) -> u32 {
        match self {
            Self::Dbase2 => 16,
            Self::Dbase7 => 48,
            Self::Adt => adt::DESCRIPTOR_LEN,
            _ => 32,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dbase2 => "dBASE II",
            Self::Dbase3 => "dBASE III",
            Self::Dbase4 => "dBASE IV",
            Self::Dbase5 => "dBASE 5",
            Self::Dbase7 => "dBASE 7",
            Self::FoxPro2 => "FoxPro 2",
            Self::VisualFoxPro => "Visual FoxPro",
            Self::Six => "SIx",
            Self::Adt => "ADT",
        })
    }
}

impl Header {
    /// dBASE II has room for 32 descriptors and a terminator, whatever it uses.
    pub(crate) const DBASE2_LEN: u32 = 521;

    pub(crate) fn read(source: &Source) -> Result<Self> {
        let mut window = Vec::new();
        // Most prologues have as many bytes: one read fetches them whole.
        let at_hand = usize::try_from(source.len()).unwrap_or(usize::MAX).clamp(1, 32);
        let head = source.read("version byte", 0, at_hand, &mut window)?;
        if adt::begins(head) {
            return adt::read_header(source);
        }
        let version = head.first().copied().unwrap_or_default();
        let dialect = Dialect::from_version(version).ok_or_else(|| {
            Error::corrupt(
                source.path(),
                "version byte",
                0,
                "02 03 04 05 30 31 32 43 63 7b 83 8b 8c 8e cb e5 f5 or fb",
                format!("{version:02x}"),
            )
        })?;
        let len = dialect.prologue_len() as usize;
        let bytes = match head.get(..len) {
            Some(bytes) => bytes,
            None => source.read("table header", 0, len, &mut window)?,
        };
        let header = if dialect == Dialect::Dbase2 {
            Self::dbase2(bytes)
        } else {
            Self::dbase3(bytes, dialect)
        };
        header.ok_or_else(|| Error::corrupt(source.path(), "table header", 0, format!("{len} bytes"), "fewer"))
    }

    /// The header of a file that begins with these bytes, of which 32 are enough, or 40 of an ADT; `None` where no table begins so: by the version
    /// byte, the date, and the lengths of the header and of a record.
    pub fn of_beginning(bytes: &[u8]) -> Option<Self> {
        if adt::begins(bytes) {
            return adt::header_of_beginning(bytes);
        }
        let dialect = Dialect::from_version(*bytes.first()?)?;
        let (header, date) = match dialect {
            Dialect::Dbase2 => (Self::dbase2(bytes)?, bytes.get(3..5)?),
            _ => (Self::dbase3(bytes, dialect)?, bytes.get(2..4)?),
        };
        // Tables that were never changed have zeros for the date.
        let has_date = matches!(date, [0, 0] | [1..=12, 1..=31]);
        let least = dialect.prologue_len() + 1;
        let has_fields = header.header_len >= least + dialect.descriptor_len() && header.record_len > 1;
        // A table without fields has nothing but the flag of each record.
        let is_bare = header.header_len == least && header.record_len == 1;
        (has_date && (has_fields || is_bare)).then_some(header)
    }

    /// A header that says nothing.
    pub(crate) fn blank(dialect: Dialect) -> Self {
        Self {
            version: 0,
            dialect,
            last_update: None,
            record_count: 0,
            header_len: 0,
            record_len: 0,
            language: 0,
            language_driver: String::new(),
            production_index: false,
            database: false,
            incomplete_transaction: false,
            encrypted: false,
            adt: None,
        }
    }

    fn dbase2(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            version: *bytes.first()?,
            last_update: date(*bytes.get(5)?, *bytes.get(3)?, *bytes.get(4)?),
            record_count: u32::from(u16_at(bytes, 1)?),
            header_len: Self::DBASE2_LEN,
            record_len: u32::from(u16_at(bytes, 6)?),
            ..Self::blank(Dialect::Dbase2)
        })
    }

    fn dbase3(bytes: &[u8], dialect: Dialect) -> Option<Self> {
        let flags = *bytes.get(28)?;
        // Programs of the dBASE III family leave garbage of their LAN work area at 12..28.
        let dbase4 = matches!(dialect, Dialect::Dbase4 | Dialect::Dbase5 | Dialect::Dbase7);
        Some(Self {
            version: *bytes.first()?,
            dialect,
            last_update: date(*bytes.get(1)?, *bytes.get(2)?, *bytes.get(3)?),
            record_count: u32_at(bytes, 4)?,
            header_len: u32::from(u16_at(bytes, 8)?),
            record_len: u32::from(u16_at(bytes, 10)?),
            language: *bytes.get(29)?,
            language_driver: match dialect {
                Dialect::Dbase7 => driver(bytes.get(32..64).unwrap_or_default()),
                _ => String::new(),
            },
            production_index: flags & 1 != 0,
            database: dialect == Dialect::VisualFoxPro && flags & 4 != 0,
            incomplete_transaction: dbase4 && *bytes.get(14)? == 1,
            encrypted: dbase4 && *bytes.get(15)? == 1,
            adt: None,
        })
    }
}

fn driver(bytes: &[u8]) -> String {
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name.trim_ascii()).into_owned()
}

fn date(year: u8, month: u8, day: u8) -> Option<CivilDate> {
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day);
    let century = if year < 80 { 2000 } else { 1900 };
    valid.then(|| CivilDate {
        year: century + u16::from(year),
        month,
        day,
    })
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}
