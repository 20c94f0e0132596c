//! ADT: the tables of the Advantage Database Server, with names of 128 bytes, fields that are NULL by what they hold, and deleted
//! records whose space is used again.
//!
//! There is no public description by the maker. The layout was read out of the bytes of 69 tables that Advantage and Borland's
//! converters wrote (29,248 records), and types and limits are those of the Advantage help, version 12 ("ADT Field Types and
//! Specifications", "Advantage Proprietary File Format Specifications", "ADT Deleted Records"). docs/formats/adt.md has the tables.
//!
//! The first bytes of the file tell an ADT: no version byte of a DBF is an `A`. A data dictionary (`.add`) is an ADT under another
//! name in its first bytes, and is read as a table.
//!
//! Not here: values, which `column` decodes by the kinds that the fields get here; memos, which `memo` reads.

mod counters;
mod field_type;
mod free_list;
pub(crate) mod layout;

use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::field::{Autoincrement, Faults, Field, FieldKind};
use crate::header::{Dialect, Header, u16_at, u32_at};
use crate::source::Source;

pub(crate) use counters::Counters;
pub use field_type::AdtType;
pub(crate) use free_list::FreeList;

/// What the header of an ADT says beyond what every table's does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdtHeader {
    /// The value that the next record gets in autoincrement fields, offset 80; 0 where no record was ever counted.
    pub next_autoincrement: u32,
    /// The last row version that was given, offset 360.
    pub row_version: u64,
    /// The number of the first record of the list of free ones, counted from 1, offset 40; 0 for none.
    pub first_free: u32,
    /// How many records are in that list, offset 48.
    pub free_count: u32,
    /// Whether the table belongs to a data dictionary: bit 4 of offset 88.
    pub in_dictionary: bool,
    /// The name of that dictionary's file, offset 92; empty for none. Nothing is opened by it.
    pub dictionary: String,
    /// Whether the file is itself a data dictionary.
    pub is_dictionary: bool,
}

/// What an ADT begins with, and what a data dictionary does.
pub(crate) const TABLE_MAGIC: &[u8] = b"Advantage Table\0";
const DICTIONARY_MAGIC: &[u8] = b"ADS Data Dictionary\0";

pub(crate) const HEADER_LEN: u32 = 400;
pub(crate) const DESCRIPTOR_LEN: u32 = 200;
/// The flag of a record that is not deleted, and of one that is.
pub(crate) const LIVE: u8 = 0x04;
pub(crate) const DELETED: u8 = 0x05;
/// The deletion flag and the link of the list of free records.
pub(crate) const RECORD_PROLOGUE: usize = 5;
/// The longest record of the format.
pub(crate) const RECORD_LEN_MAX: u32 = 65_530;
const NAME_LEN: usize = 128;

/// Offsets in the header.
pub(crate) const VERSION_AT: usize = 20;
pub(crate) const RECORD_COUNT_AT: u64 = 24;
pub(crate) const HEADER_LEN_AT: u64 = 32;
pub(crate) const RECORD_LEN_AT: u64 = 36;
pub(crate) const FIRST_FREE_AT: u64 = 40;
pub(crate) const FREE_COUNT_AT: u64 = 48;
pub(crate) const DIGEST_AT: usize = 56;
pub(crate) const DIGEST_LEN: usize = 20;
pub(crate) const AUTOINCREMENT_AT: u64 = 80;
pub(crate) const FLAGS_AT: usize = 88;
pub(crate) const DICTIONARY_AT: usize = 92;
pub(crate) const DICTIONARY_LEN: usize = 260;
pub(crate) const OBJECT_AT: usize = 352;
pub(crate) const FIELD_COUNT_AT: usize = 358;
pub(crate) const ROW_VERSION_AT: u64 = 360;

/// Bits of the flags.
const FLAG_MEMO: u16 = 0x01;
const FLAG_AUTOINCREMENT: u16 = 0x02;
pub(crate) const FLAG_IN_DICTIONARY: u16 = 0x10;

/// Whether the first byte of a record is one that Advantage writes: bit 2 alone or nothing, and bit 0 for a deleted record. Bit 1 was
/// seen of a deleted record only.
pub(crate) fn is_flag(flag: u8) -> bool {
    matches!(flag, 0x00 | 0x04 | 0x01 | 0x05 | 0x07)
}

/// Whether a file that begins so is an ADT.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(TABLE_MAGIC) || bytes.starts_with(DICTIONARY_MAGIC)
}

/// The header of a file that [begins](begins) as an ADT.
pub(crate) fn read_header(source: &Source) -> Result<Header> {
    let mut window = Vec::new();
    let bytes = source.read("table header", 0, HEADER_LEN as usize, &mut window)?;
    let short = || {
        let expected = format!("{HEADER_LEN} bytes");
        Error::corrupt(source.path(), "table header", 0, expected, "fewer")
    };
    let header = header(bytes).ok_or_else(short)?;
    let least = RECORD_PROLOGUE as u32;
    if header.record_len < least || header.record_len > RECORD_LEN_MAX {
        return Err(Error::corrupt(
            source.path(),
            "record length",
            RECORD_LEN_AT,
            format!("{least} to {RECORD_LEN_MAX} bytes"),
            header.record_len.to_string(),
        ));
    }
    Ok(header)
}

/// The header of a file by its first 400 bytes.
fn header(bytes: &[u8]) -> Option<Header> {
    let flags = u16_at(bytes, FLAGS_AT)?;
    let digest = bytes.get(DIGEST_AT..DIGEST_AT + DIGEST_LEN)?;
    let dictionary = bytes.get(DICTIONARY_AT..DICTIONARY_AT + DICTIONARY_LEN)?;
    let dictionary = dictionary.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_dictionary = bytes.starts_with(DICTIONARY_MAGIC);
    let in_dictionary = flags & FLAG_IN_DICTIONARY != 0;
    let number = |at: u64| u32_at(bytes, usize::try_from(at).ok()?);
    Some(Header {
        version: *bytes.get(VERSION_AT)?,
        dialect: Dialect::Adt,
        record_count: number(RECORD_COUNT_AT)?,
        header_len: number(HEADER_LEN_AT)?,
        record_len: number(RECORD_LEN_AT)?,
        // The tables of a dictionary have its digest, which says nothing of the table itself.
        encrypted: !in_dictionary && !is_dictionary && digest.iter().any(|byte| *byte != 0),
        adt: Some(Box::new(AdtHeader {
            next_autoincrement: number(AUTOINCREMENT_AT)?,
            row_version: u64_at(bytes, ROW_VERSION_AT as usize)?,
            first_free: number(FIRST_FREE_AT)?,
            free_count: number(FREE_COUNT_AT)?,
            in_dictionary,
            dictionary: String::from_utf8_lossy(dictionary).into_owned(),
            is_dictionary,
        })),
        ..Header::blank(Dialect::Adt)
    })
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// As [`Header::of_beginning`], of bytes that [begin](begins) as an ADT, of which 40 are enough.
pub(crate) fn header_of_beginning(bytes: &[u8]) -> Option<Header> {
    let mut whole = bytes.get(..40)?.to_vec();
    whole.extend_from_slice(bytes.get(40..).unwrap_or_default());
    whole.resize(whole.len().max(HEADER_LEN as usize), 0);
    let header = header(&whole)?;
    let lengths = RECORD_PROLOGUE as u32..=RECORD_LEN_MAX;
    (header.header_len >= HEADER_LEN && lengths.contains(&header.record_len)).then_some(header)
}

/// Reads the descriptors and gives each field its place.
///
/// # Errors
/// As [`Fields::read`](crate::field::Fields::read).
pub(crate) fn read_fields(faults: &Faults<'_>, header: &Header, codepage: CodePage) -> Result<Vec<Field>> {
    let source = faults.source;
    let (begin, each) = (u64::from(HEADER_LEN), u64::from(DESCRIPTOR_LEN));
    let mut end = u64::from(header.header_len);
    if end > source.len() {
        let found = format!("a file of {} bytes", source.len());
        faults.report(HEADER_LEN_AT, 4, "header length", format!("{end} bytes"), found)?;
        end = source.len();
    }
    if end < begin || !(end - begin).is_multiple_of(each) {
        let expected = format!("{begin} bytes and {each} for each field");
        faults.report(HEADER_LEN_AT, 4, "header length", expected, end.to_string())?;
    }
    let count = end.saturating_sub(begin) / each;
    let mut window = Vec::new();
    let said = source.read("number of fields", FIELD_COUNT_AT as u64, 2, &mut window)?;
    let said = u64::from(u16_at(said, 0).unwrap_or_default());
    if said != count {
        let expected = format!("{count}, as the header's length says");
        faults.note(
            FIELD_COUNT_AT as u64,
            2,
            "number of fields",
            &expected,
            &said.to_string(),
        )?;
    }
    let len = usize::try_from(count * each).unwrap_or_default();
    let mut window = Vec::new();
    let bytes = source.read("field descriptors", begin, len, &mut window)?;
    let next = header.adt.as_ref().map_or(0, |adt| adt.next_autoincrement);
    let mut fields = Vec::new();
    let mut place = RECORD_PROLOGUE;
    for (offset, bytes) in (begin..).step_by(each as usize).zip(bytes.chunks_exact(each as usize)) {
        let Some(descriptor) = Descriptor::parse(bytes) else {
            continue;
        };
        let name = codepage.decode(descriptor.name);
        if descriptor.offset != place {
            let what = format!("offset of field {name}");
            faults.report(offset + 131, 2, &what, place.to_string(), descriptor.offset.to_string())?;
        }
        place += descriptor.width;
        if place > header.record_len as usize {
            let what = format!("end of field {name}");
            let expected = format!("at most the record length, {}", header.record_len);
            faults.report(offset + 135, 2, &what, expected, place.to_string())?;
        }
        match descriptor.field(name, offset, next) {
            Ok(field) => fields.push(field),
            Err(Refused::Corrupt(expected, field)) => {
                let found = format!("type {} of {} bytes", descriptor.code, descriptor.width);
                let what = format!("type of field {}", field.name);
                faults.report(offset + 129, 2, &what, expected, found)?;
                fields.push(*field);
            }
            Err(Refused::Unsupported(what, field)) => {
                let what = format!("field {}: {what}", field.name);
                faults.unsupported(offset, each, &what)?;
                fields.push(*field);
            }
        }
    }
    if place != header.record_len as usize {
        let expected = format!("{place}, the flag, the link and the widths of the fields");
        faults.report(
            RECORD_LEN_AT,
            4,
            "record length",
            expected,
            header.record_len.to_string(),
        )?;
    }
    Ok(fields)
}

/// A field descriptor as it is stored.
struct Descriptor<'a> {
    name: &'a [u8],
    code: u16,
    offset: usize,
    width: usize,
    decimals: u8,
}

enum Refused {
    /// What would have been allowed, and the field without its type.
    Corrupt(String, Box<Field>),
    /// What is not known.
    Unsupported(String, Box<Field>),
}

impl<'a> Descriptor<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let name = bytes.get(..NAME_LEN)?.split(|byte| *byte == 0).next()?;
        Some(Self {
            name,
            code: u16_at(bytes, 129)?,
            offset: usize::from(u16_at(bytes, 131)?),
            width: usize::from(u16_at(bytes, 135)?),
            decimals: u8::try_from(u16_at(bytes, 137)?).unwrap_or(u8::MAX),
        })
    }

    /// The field; `next` is what the table's counter gives next.
    fn field(&self, name: String, descriptor_at: u64, next: u32) -> Result<Field, Refused> {
        let opaque = Field {
            name,
            short_name: String::new(),
            kind: FieldKind::System,
            letter: '0',
            width: self.width,
            decimals: 0,
            offset: self.offset,
            nullable: false,
            binary: false,
            autoincrement: None,
            adt_type: None,
            descriptor_at,
            null_bit: None,
            varlength_bit: None,
            null_cell: None,
        };
        let Some(adt_type) = AdtType::from_code(self.code) else {
            let expected = "the code of a type (1 to 28)".to_owned();
            return Err(Refused::Corrupt(expected, Box::new(opaque)));
        };
        if let Some(unknown) = adt_type.unknown(self.width) {
            return Err(Refused::Unsupported(unknown, Box::new(opaque)));
        }
        if let Err(expected) = adt_type.check_width(self.width, self.decimals) {
            return Err(Refused::Corrupt(expected, Box::new(opaque)));
        }
        let (kind, counts) = (adt_type.kind(), adt_type == AdtType::AutoIncrement);
        Ok(Field {
            kind,
            letter: adt_type.letter(),
            decimals: match kind {
                FieldKind::Numeric | FieldKind::Double => self.decimals,
                FieldKind::Currency => 4,
                _ => 0,
            },
            nullable: adt_type.null_cell().is_some(),
            binary: adt_type.is_binary(),
            autoincrement: counts.then_some(Autoincrement { next, step: 1 }),
            adt_type: Some(adt_type),
            null_cell: adt_type.null_cell(),
            ..opaque
        })
    }
}
