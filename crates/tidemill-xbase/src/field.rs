//! Field descriptors: names, types and places of the columns.
//!
//! A descriptor has 32 bytes (dBASE III and later), 16 (dBASE II) or 48 (dBASE 7). Where a field lies in the record
//! follows from the widths before it; the displacement that FoxPro stores is only checked. Decoding the values is the
//! business of `column`.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef, TimeUnit};

use crate::adt::{self, AdtType};
use crate::codepage::CodePage;
use crate::damage::{Damage, DamageLog};
use crate::error::{Error, Result};
use crate::header::{Dialect, Header, u32_at};
use crate::note::Note;
use crate::null_test::{NullCell, NullTest};
use crate::numeric_text;
use crate::source::Source;

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name, decoded with the table's code page. No two fields have the same, not even in another case: a repeated
    /// name is followed by `_2`, `_3`, …
    pub name: String,
    /// The name in the table's header, of up to 10 bytes. It is [`Field::name`], unless the table's database container has a long
    /// one; every look-up by name accepts both.
    pub short_name: String,
    /// How the bytes are to be read.
    pub kind: FieldKind,
    /// The type letter of the descriptor.
    pub letter: char,
    /// The width in the record, in bytes.
    pub width: usize,
    /// The digits after the decimal point.
    pub decimals: u8,
    /// The offset in the record; the deletion flag is at 0.
    pub offset: usize,
    /// Whether the field can be NULL: by a bit of `_NullFlags`, or in an ADT by what it holds.
    pub nullable: bool,
    /// Whether the bytes are exempt from code page translation.
    pub binary: bool,
    /// What the next record gets, for an autoincrement field.
    pub autoincrement: Option<Autoincrement>,
    /// The type of an ADT's field; `None` in a DBF. The letter is then that of the DBF type that holds the same.
    pub adt_type: Option<AdtType>,
    /// Where the descriptor is in the file.
    pub(crate) descriptor_at: u64,
    pub(crate) null_bit: Option<u16>,
    pub(crate) varlength_bit: Option<u16>,
    /// What an ADT's cell holds that is NULL.
    pub(crate) null_cell: Option<NullCell>,
}

/// The counter of an autoincrement field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Autoincrement {
    /// The value that the next record gets.
    pub next: u32,
    /// What is added after that.
    pub step: u32,
}

/// How the bytes of a field are to be read. The crate's documentation has the table of Arrow types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// `C`: text padded with blanks.
    Character,
    /// `C` with the binary flag: bytes of a fixed width. Where the values are found to be text, it is [`FieldKind::Character`]. A field
    /// of a width that its type does not have, too, where its place is known.
    CharacterBinary,
    /// NChar of an ADT, and the type 1A of Harbour: text in UTF-16, little-endian, padded with blanks.
    CharacterWide,
    /// The type 1B of Harbour (`Q:U`): text in UTF-16, little-endian, of a varying length, which the last two bytes count in units.
    VarcharWide,
    /// `N`: decimal digits as text.
    Numeric,
    /// `F`: as `N`, and an exponent is allowed.
    Float,
    /// `N` and `F` of which a cell has an exponent or more decimals than the field declares: a double, which keeps its digits. Found
    /// by looking at the records, of `F` at all of them.
    NumericDouble,
    /// `L`: one of `TtYyFfNn?` or a blank.
    Logical,
    /// `D` of 8 bytes: YYYYMMDD.
    Date,
    /// `D` of 3 or 4 bytes: a Julian day number (Harbour).
    DateBinary,
    /// `V` of 3 bytes: year, month and day packed into bits (SIx, Harbour).
    DatePacked,
    /// `I`, `+`, `^`, `V` of 4 bytes: a little-endian integer of 1, 2, 3, 4 or 8 bytes, scaled by the decimals.
    Integer,
    /// AutoIncrement of an ADT: a little-endian integer of 4 bytes without a sign.
    Counter,
    /// `I`, `+` of dBASE 7: big-endian, the sign bit turned around; all zero is blank.
    IntegerDbase7,
    /// `B`, `O` of 8 bytes: an IEEE 754 double.
    Double,
    /// `O` of dBASE 7: a double that sorts by its bytes; all zero is blank.
    DoubleDbase7,
    /// `Y`: 64-bit integer of ten-thousandths.
    Currency,
    /// `T` of 4 bytes: milliseconds since midnight (Harbour).
    Time,
    /// `T`, `@`, `=` of 8 bytes: a Julian day number and milliseconds since midnight.
    Timestamp,
    /// `@` of dBASE 7: a big-endian double of milliseconds, 86,400,000 of which are the beginning of the year 1; all zero is
    /// blank.
    TimestampDbase7,
    /// `M`: text in the memo file.
    Memo,
    /// `M` with the binary flag, `G`, `P`, `W` and `B` of 10 bytes: bytes in the memo file. An `M` whose values are found to be text is
    /// [`FieldKind::Memo`].
    MemoBinary,
    /// NMemo of an ADT: text in UTF-16, little-endian, in the memo file.
    MemoWide,
    /// `V` of Visual FoxPro: text up to a length that the last byte holds.
    Varchar,
    /// `Q`, and `V` with the binary flag: bytes up to a length that the last byte holds. A `V` whose values are found to be text is
    /// [`FieldKind::Varchar`].
    Varbinary,
    /// `V` of 6 bytes and more: a value of any type (SIx, Harbour), given as text.
    Variant,
    /// `0`: the null flags and other fields that belong to the system.
    System,
}

impl FieldKind {
    /// Whether values are kept in the memo file, always or when they are long.
    pub fn uses_memo(self) -> bool {
        matches!(self, Self::Memo | Self::MemoBinary | Self::MemoWide | Self::Variant)
    }

    /// Whether values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Double | Self::DoubleDbase7 | Self::NumericDouble) || self.is_exact_number()
    }

    /// Whether values are whole numbers or decimals.
    pub fn is_exact_number(self) -> bool {
        matches!(
            self,
            Self::Numeric | Self::Float | Self::Integer | Self::Counter | Self::IntegerDbase7 | Self::Currency
        )
    }

    /// The Arrow type of a field of this kind, width and decimals.
    pub(crate) fn data_type(self, width: usize, decimals: u8) -> DataType {
        let scale = i8::try_from(decimals).unwrap_or(i8::MAX).min(38);
        match self {
            Self::Character
            | Self::CharacterWide
            | Self::VarcharWide
            | Self::Varchar
            | Self::Memo
            | Self::MemoWide
            | Self::Variant => DataType::Utf8,
            Self::Counter => DataType::Int64,
            Self::CharacterBinary | Self::MemoBinary | Self::Varbinary | Self::System => DataType::Binary,
            Self::Numeric if decimals == 0 && width <= 18 => DataType::Int64,
            Self::Numeric | Self::Float => {
                let digits = u8::try_from(width).unwrap_or(u8::MAX).saturating_add(decimals);
                DataType::Decimal128(digits.clamp(1, 38), scale)
            }
            Self::Integer | Self::IntegerDbase7 if decimals == 0 => {
                if width > 4 {
                    DataType::Int64
                } else {
                    DataType::Int32
                }
            }
            Self::Integer | Self::IntegerDbase7 => {
                let digits = match width {
                    1 => 3,
                    2 => 5,
                    3 => 7,
                    4 => 10,
                    _ => 19,
                };
                DataType::Decimal128(digits.max(decimals.min(38)), scale)
            }
            Self::Logical => DataType::Boolean,
            Self::Date | Self::DateBinary | Self::DatePacked => DataType::Date32,
            Self::Double | Self::DoubleDbase7 | Self::NumericDouble => DataType::Float64,
            Self::Currency => DataType::Decimal128(19, 4),
            Self::Time => DataType::Time32(TimeUnit::Millisecond),
            Self::Timestamp | Self::TimestampDbase7 => DataType::Timestamp(TimeUnit::Millisecond, None),
        }
    }
}

impl Field {
    /// The Arrow type of the column.
    pub fn data_type(&self) -> DataType {
        self.kind.data_type(self.width, self.decimals)
    }

    /// Whether a blank is no value, so that it can be told from all values: of digits, dates, moments and logicals.
    pub fn has_blank(&self) -> bool {
        matches!(self.letter, 'N' | 'F' | 'D' | 'T' | '@' | 'L')
    }

    /// Whether Visual FoxPro leaves the bytes alone when it translates text (NOCPTRANS), which may be text all the same.
    pub(crate) fn is_untranslated(&self) -> bool {
        self.binary && self.adt_type.is_none() && matches!(self.letter, 'C' | 'M' | 'V')
    }

    /// The numbers that the column of a numeric field holds, in units of the last decimal.
    pub(crate) fn numbers(&self) -> RangeInclusive<i128> {
        match self.data_type() {
            DataType::Decimal128(precision, _) => {
                let largest = 10_i128.saturating_pow(precision.into()).saturating_sub(1);
                -largest..=largest
            }
            _ => i64::MIN.into()..=i64::MAX.into(),
        }
    }

    /// The Arrow field: always nullable, because damage becomes null when recovering. Its metadata keeps what the type
    /// cannot say (`xbase.type`, `xbase.width`, `xbase.decimals`), so that a copy has the same structure, the short name of a
    /// field that has a long one (`xbase.name`), and whether new records get its next number (`xbase.autoincrement`).
    pub fn arrow_field(&self) -> ArrowField {
        let field = ArrowField::new(&self.name, self.data_type(), true);
        if self.kind == FieldKind::Variant {
            // As text its values have another width.
            return field;
        }
        let mut metadata = HashMap::from([
            ("xbase.type".to_owned(), self.letter.to_string()),
            ("xbase.width".to_owned(), self.width.to_string()),
            ("xbase.decimals".to_owned(), self.decimals.to_string()),
        ]);
        if let Some(adt_type) = self.adt_type {
            metadata.insert("xbase.adt".to_owned(), adt_type.name().to_owned());
        }
        if self.is_untranslated() {
            metadata.insert("xbase.nocptrans".to_owned(), "true".to_owned());
        }
        if self.autoincrement.is_some() {
            metadata.insert("xbase.autoincrement".to_owned(), "true".to_owned());
        }
        if self.short_name != self.name {
            metadata.insert("xbase.name".to_owned(), self.short_name.clone());
        }
        field.with_metadata(metadata)
    }
}

/// The descriptors of a table: visible fields and what the hidden ones say.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) visible: Vec<Field>,
    /// Offset and width of `_NullFlags` in the record.
    pub(crate) null_flags: Option<(usize, usize)>,
    /// Of the visible fields.
    pub(crate) schema: SchemaRef,
    /// What the header contradicts itself in.
    pub(crate) notes: Vec<Note>,
}

impl Fields {
    /// What says of a record that a field is NULL, where it can be.
    pub(crate) fn null_test(&self, field: &Field) -> Option<NullTest> {
        if let Some(cell) = field.null_cell {
            return Some(NullTest::of_cell(cell, field.offset, field.width));
        }
        let (bit, (offset, width)) = (field.null_bit?, self.null_flags?);
        let (at, mask) = (usize::from(bit / 8), 1 << (bit % 8));
        (at < width).then_some(NullTest::Bit { at: offset + at, mask })
    }

    /// The same under longer names, which are told apart; `None` when these are not as many.
    pub(crate) fn with_long_names(&self, names: &[String]) -> Option<Self> {
        let mut renamed = self.renamed(names)?;
        tell_apart(&mut renamed.visible);
        for (field, own) in renamed.visible.iter_mut().zip(&self.visible) {
            field.short_name.clone_from(&own.short_name);
        }
        let columns: Vec<_> = renamed.visible.iter().map(Field::arrow_field).collect();
        renamed.schema = Arc::new(Schema::new(columns));
        Some(renamed)
    }

    /// The same under other names; `None` when these are not as many.
    pub(crate) fn renamed(&self, names: &[String]) -> Option<Self> {
        let named = |(field, name): (&Field, &String)| Field {
            name: name.clone(),
            short_name: name.clone(),
            ..field.clone()
        };
        let visible: Vec<_> = self.visible.iter().zip(names).map(named).collect();
        let columns: Vec<_> = visible.iter().map(Field::arrow_field).collect();
        (names.len() == self.visible.len()).then(|| Self {
            visible,
            null_flags: self.null_flags,
            schema: Arc::new(Schema::new(columns)),
            notes: self.notes.clone(),
        })
    }

    fn of(mut fields: Vec<Field>, null_flags: Option<(usize, usize)>, faults: Faults<'_>) -> Self {
        for field in &mut fields {
            field.short_name.clone_from(&field.name);
        }
        let columns: Vec<_> = fields.iter().map(Field::arrow_field).collect();
        Self {
            visible: fields,
            null_flags,
            schema: Arc::new(Schema::new(columns)),
            notes: faults.notes.into_inner(),
        }
    }

    /// Reads every descriptor and gives each field its place.
    ///
    /// # Errors
    /// When fields cannot be placed: descriptors are cut off or have an unknown type, or their widths do not fit into the
    /// header's record length; while recovering these are logged instead, and fields that cannot be read are left out. What else
    /// contradicts itself is a note, or when `strict` an error too.
    pub(crate) fn read(
        source: &Source,
        header: &Header,
        codepage: CodePage,
        (recover, strict): (Option<&DamageLog>, bool),
    ) -> Result<Self> {
        let faults = Faults {
            source,
            recover,
            strict,
            notes: RefCell::default(),
        };
        if header.dialect == Dialect::Adt {
            let mut fields = adt::read_fields(&faults, header, codepage)?;
            keep_visible(&mut fields, header.record_len as usize);
            return Ok(Self::of(fields, None, faults));
        }
        let raw = read_descriptors(&faults, header)?;
        let (mut fields, mut widths) = (Vec::with_capacity(raw.len()), Vec::with_capacity(raw.len()));
        let flags_count = header.dialect == Dialect::VisualFoxPro || raw.iter().any(|d| d.letter == b'0');
        let long_names = raw.iter().map(|d| d.long_width()).sum::<usize>() + 1 == header.record_len as usize;
        let fills =
            long_names || raw.iter().map(|d| usize::from(d.width)).sum::<usize>() + 1 == header.record_len as usize;
        for descriptor in &raw {
            let width = if long_names {
                descriptor.long_width()
            } else {
                usize::from(descriptor.width)
            };
            widths.push(width);
            match descriptor.field(header.dialect, codepage, width, flags_count) {
                Ok(field) => {
                    if field.width != width {
                        let what = format!("field {}", field.name);
                        let expected = format!("a width of {}", field.width);
                        faults.note(
                            descriptor.offset,
                            32,
                            &what,
                            &expected,
                            &format!("{width}, the rest is not read"),
                        )?;
                    } else if width == 0 {
                        let what = format!("field {}", field.name);
                        faults.note(descriptor.offset, 32, &what, "a width of at least 1", "0: it is null")?;
                    }
                    fields.push(field);
                }
                Err(expected) => {
                    let found = format!("{:?} of {width} bytes", char::from(descriptor.letter));
                    let mut field = descriptor.opaque(codepage, width);
                    // Of a type with an unknown width it is known where the bytes are when the widths fill the record.
                    if fills && width > 0 && KNOWN_LETTERS.contains(&descriptor.letter) {
                        let (what, found) = (
                            format!("type of field {}", field.name),
                            format!("{found}, which are read as they are"),
                        );
                        faults.note(descriptor.offset, 32, &what, expected, &found)?;
                        field.kind = FieldKind::CharacterBinary;
                    } else {
                        faults.report(descriptor.offset, 32, "type of a field", expected, found)?;
                    }
                    fields.push(field);
                }
            }
        }
        place(&faults, header, (&raw, &widths), &mut fields)?;
        let null_flags = number_null_bits(&mut fields, header.dialect);
        let record_len = header.record_len as usize;
        keep_visible(&mut fields, record_len);
        let doubles = numeric_text::find_doubles(source, header, &fields)?;
        for place in doubles {
            if let Some(field) = fields.get_mut(place) {
                field.kind = FieldKind::NumericDouble;
            }
        }
        let null_flags = null_flags.filter(|(offset, width)| offset + width <= record_len);
        Ok(Self::of(fields, null_flags, faults))
    }
}

/// The type of a text in UTF-16, which Harbour calls `C:U`.
const WIDE: u8 = 0x1A;
/// The type of a memo in UTF-16, which Harbour calls `M:U`.
const WIDE_MEMO: u8 = 0x1C;
/// The type of Harbour's fields in UTF-16 of a varying length.
const WIDE_VARYING: u8 = 0x1B;
/// The letters of types whose widths are limited.
const KNOWN_LETTERS: &[u8] = b"BDGIMOPTVWY@=+^7";

/// Leaves out what belongs to the system and what does not lie within a record, and tells the names of the others apart.
fn keep_visible(fields: &mut Vec<Field>, record_len: usize) {
    fields.retain(|field| field.kind != FieldKind::System && field.offset + field.width <= record_len);
    tell_apart(fields);
}

/// Gives every field a name of its own, because a column is found by its name, in any case: a name that an earlier field
/// has is followed by `_2`, `_3`, …, and an empty one becomes `FIELD1`, `FIELD2`, … by its place.
fn tell_apart(fields: &mut [Field]) {
    let mut taken = HashSet::new();
    for (index, field) in fields.iter_mut().enumerate() {
        if field.name.is_empty() {
            field.name = format!("FIELD{}", index + 1);
        }
        let given = field.name.clone();
        let mut number = 2;
        while !taken.insert(field.name.to_lowercase()) {
            field.name = format!("{given}_{number}");
            number += 1;
        }
    }
}

/// A field descriptor as it is stored.
struct Descriptor {
    offset: u64,
    name: Vec<u8>,
    letter: u8,
    width: u8,
    decimals: u8,
    displacement: u32,
    flags: u8,
    autoincrement: Autoincrement,
}

impl Descriptor {
    fn parse(dialect: Dialect, offset: u64, bytes: &[u8]) -> Option<Self> {
        let name_len = if dialect == Dialect::Dbase7 { 32 } else { 11 };
        let name = bytes.get(..name_len)?;
        let name = name
            .split(|b| *b == 0)
            .next()
            .unwrap_or_default()
            .trim_ascii_end()
            .to_vec();
        let letter = *bytes.get(name_len)?;
        let none = Autoincrement { next: 0, step: 0 };
        let (width, decimals, displacement, flags, autoincrement) = match dialect {
            Dialect::Dbase2 => (*bytes.get(12)?, *bytes.get(15)?, 0, 0, none),
            Dialect::Dbase7 => {
                let next = bytes.get(40..)?.first_chunk().map(|b| u32::from_le_bytes(*b))?;
                (*bytes.get(33)?, *bytes.get(34)?, 0, 0, Autoincrement { next, step: 1 })
            }
            _ => {
                let autoincrement = Autoincrement {
                    next: u32_at(bytes, 19)?,
                    step: u32::from(*bytes.get(23)?),
                };
                (
                    *bytes.get(16)?,
                    *bytes.get(17)?,
                    u32_at(bytes, 12)?,
                    *bytes.get(18)?,
                    autoincrement,
                )
            }
        };
        Some(Self {
            offset,
            name,
            letter,
            width,
            decimals,
            displacement,
            flags,
            autoincrement,
        })
    }

    /// Clipper and Harbour keep the upper byte of a long character field's width where others keep the decimals.
    fn long_width(&self) -> usize {
        match self.letter {
            b'C' | WIDE | WIDE_VARYING => usize::from(u16::from_le_bytes([self.width, self.decimals])),
            _ => usize::from(self.width),
        }
    }

    /// The field, or what would have been allowed instead.
    fn field(
        &self,
        dialect: Dialect,
        codepage: CodePage,
        width: usize,
        flags_count: bool,
    ) -> Result<Field, &'static str> {
        let flags = if flags_count { self.flags } else { 0 };
        let binary = flags & 4 != 0;
        let dbase7 = dialect == Dialect::Dbase7;
        let vfp = dialect == Dialect::VisualFoxPro;
        let kind = match (self.letter, width) {
            (b'C', _) if binary => FieldKind::CharacterBinary,
            (b'C', _) => FieldKind::Character,
            (b'N', _) => FieldKind::Numeric,
            (b'F', _) => FieldKind::Float,
            (b'L', _) => FieldKind::Logical,
            (b'D', 0 | 8..) => FieldKind::Date,
            (b'D', 3 | 4) => FieldKind::DateBinary,
            (b'V', 1..) if vfp && binary => FieldKind::Varbinary,
            (b'V', 1..) if vfp => FieldKind::Varchar,
            (b'V', 3) => FieldKind::DatePacked,
            (b'V', 4) => FieldKind::Integer,
            (b'V', 6..) => FieldKind::Variant,
            (b'I' | b'+', 4) if dbase7 => FieldKind::IntegerDbase7,
            (b'I', 0..=4 | 8) | (b'+' | b'^', 4 | 8) | (b'2', 2) | (b'4', 4) => FieldKind::Integer,
            (b'O', 8) if dbase7 => FieldKind::DoubleDbase7,
            (b'B' | b'O' | b'8', 8) => FieldKind::Double,
            (b'Y', 8) => FieldKind::Currency,
            (b'T', 4) => FieldKind::Time,
            (b'@', 8) if dbase7 => FieldKind::TimestampDbase7,
            (b'T' | b'@' | b'=' | b'7', 8) => FieldKind::Timestamp,
            (b'M', 4 | 10) if binary => FieldKind::MemoBinary,
            (b'M', 4 | 10) => FieldKind::Memo,
            (b'G' | b'P' | b'W' | b'B', 4 | 10) => FieldKind::MemoBinary,
            (b'Q', 1..) => FieldKind::Varbinary,
            (WIDE, 2..) if width.is_multiple_of(2) => FieldKind::CharacterWide,
            (WIDE_VARYING, 4..) if width.is_multiple_of(2) => FieldKind::VarcharWide,
            (WIDE_MEMO, 4 | 10) => FieldKind::MemoWide,
            (b'0', 1..) => FieldKind::System,
            (b'Q' | b'0', _) => return Err("a width of at least 1"),
            (b'D', _) => return Err("a width of 3, 4 or 8"),
            (b'I' | b'+' | b'^', _) => return Err("a width of 1, 2, 3, 4 or 8"),
            (b'M' | b'G' | b'P' | b'W', _) => return Err("a width of 4 or 10"),
            (b'B' | b'Y' | b'T' | b'@' | b'=' | b'7' | b'O' | b'V', _) => return Err("a width of 8"),
            _ => return Err("one of C N F D L M I B Y T @ = + ^ O Q V P G W 0"),
        };
        // What is behind a day and a logical is filler.
        let read = match kind {
            FieldKind::Date => width.min(8),
            FieldKind::Logical => width.min(1),
            _ => width,
        };
        let mut field = self.opaque(codepage, read);
        field.kind = kind;
        field.binary = binary;
        field.nullable = flags & 2 != 0 && kind != FieldKind::System;
        field.decimals = match kind {
            FieldKind::Numeric | FieldKind::Float | FieldKind::Integer | FieldKind::Double => self.decimals,
            FieldKind::Currency => 4,
            _ => 0,
        };
        let counts = self.letter == b'+' || (vfp && flags & 8 != 0);
        field.autoincrement = counts.then_some(self.autoincrement);
        Ok(field)
    }

    /// A field that takes its place in the record and is not shown.
    fn opaque(&self, codepage: CodePage, width: usize) -> Field {
        Field {
            name: codepage.decode(&self.name),
            short_name: String::new(),
            kind: FieldKind::System,
            letter: char::from(self.letter),
            width,
            decimals: 0,
            offset: 0,
            nullable: false,
            binary: false,
            autoincrement: None,
            descriptor_at: self.offset,
            adt_type: None,
            null_bit: None,
            varlength_bit: None,
            null_cell: None,
        }
    }
}

/// Turns a fault into an error, or into damage while recovering.
pub(crate) struct Faults<'a> {
    pub(crate) source: &'a Source,
    recover: Option<&'a DamageLog>,
    strict: bool,
    notes: RefCell<Vec<Note>>,
}

impl Faults<'_> {
    /// Takes note of what leaves no doubt where the fields are, or refuses it when everything is to be as it should.
    pub(crate) fn note(&self, offset: u64, len: u64, what: &str, expected: &str, found: &str) -> Result<()> {
        if self.strict {
            return self.report(offset, len, what, expected, found);
        }
        self.notes.borrow_mut().push(Note {
            begin: offset,
            end: offset + len,
            record: None,
            count: 1,
            what: format!("{what}: expected {expected}, found {found}"),
        });
        Ok(())
    }

    /// Refuses what nobody knows how to read, or while recovering leaves it out.
    pub(crate) fn unsupported(&self, offset: u64, len: u64, what: &str) -> Result<()> {
        let Some(log) = self.recover else {
            return Err(Error::Unsupported {
                path: self.source.path().to_owned(),
                what: format!("{what}; read the other fields with the option to recover"),
            });
        };
        log.add(Damage {
            begin: offset,
            end: offset + len,
            records: None,
            why: what.to_owned(),
        });
        Ok(())
    }

    pub(crate) fn report(
        &self,
        offset: u64,
        len: u64,
        what: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Result<()> {
        let (expected, found) = (expected.into(), found.into());
        let Some(log) = self.recover else {
            return Err(Error::corrupt(self.source.path(), what, offset, expected, found));
        };
        let why = format!("{what}: expected {expected}, found {found}");
        log.add(Damage {
            begin: offset,
            end: offset + len,
            records: None,
            why,
        });
        Ok(())
    }
}

fn read_descriptors(faults: &Faults<'_>, header: &Header) -> Result<Vec<Descriptor>> {
    let source = faults.source;
    let begin = header.dialect.prologue_len();
    let each = header.dialect.descriptor_len();
    let mut end = u64::from(header.header_len);
    if end > source.len() {
        let found = format!("a file of {} bytes", source.len());
        faults.report(8, 2, "header length", format!("{end} bytes"), found)?;
        end = source.len();
    }
    if end < u64::from(begin) {
        faults.report(
            8,
            2,
            "header length",
            format!("at least {begin} bytes"),
            format!("{end}"),
        )?;
        end = u64::from(begin).min(source.len());
    }
    let mut window = Vec::new();
    let len = usize::try_from(end.saturating_sub(u64::from(begin))).unwrap_or(0);
    let bytes = source.read("field descriptors", u64::from(begin), len, &mut window)?;
    let mut descriptors = Vec::new();
    let mut offset = u64::from(begin);
    for chunk in bytes.chunks(each as usize) {
        // dBASE ends the array with 0x0D; some programs leave it out and fill up the header's length with zeros.
        if matches!(chunk.first(), None | Some(0x0D)) || chunk.iter().all(|b| *b == 0) {
            break;
        }
        match Descriptor::parse(header.dialect, offset, chunk).filter(|_| chunk.len() == each as usize) {
            Some(descriptor) => descriptors.push(descriptor),
            None => {
                let found = format!("{} bytes up to the end of the header", chunk.len());
                let (len, expected) = (chunk.len() as u64, format!("0d or {each} bytes"));
                // Where the fields fill the record, no descriptor is missing.
                let widths = descriptors
                    .iter()
                    .map(|known: &Descriptor| usize::from(known.width))
                    .sum::<usize>();
                match widths + 1 == header.record_len as usize {
                    true => faults.note(offset, len, "end of the field descriptors", &expected, &found)?,
                    false => faults.report(offset, len, "field descriptor", expected, found)?,
                }
            }
        }
        offset += u64::from(each);
    }
    if descriptors.is_empty() && header.record_len <= 1 {
        faults.note(u64::from(begin), 1, "field descriptors", "at least one field", "none")?;
    } else if descriptors.is_empty() {
        faults.report(u64::from(begin), 1, "field descriptors", "at least one field", "none")?;
    }
    Ok(descriptors)
}

/// Gives each field its offset and compares the sum with the header.
fn place(
    faults: &Faults<'_>,
    header: &Header,
    (raw, widths): (&[Descriptor], &[usize]),
    fields: &mut [Field],
) -> Result<()> {
    let record_len = header.record_len as usize;
    let whole = 1 + widths.iter().sum::<usize>();
    // Where the file's length says so, the widths are right and the record length is not.
    let is_record_len =
        has_length_of(faults.source, header, record_len) || !has_length_of(faults.source, header, whole);
    let mut offset = 1;
    for ((field, descriptor), width) in fields.iter_mut().zip(raw).zip(widths) {
        field.offset = offset;
        let stored = descriptor.displacement as usize;
        // dBASE keeps a memory address there, so only Visual FoxPro's displacement means anything.
        if header.dialect == Dialect::VisualFoxPro && stored != 0 && stored != offset {
            let what = format!("displacement of field {}", field.name);
            let (expected, found) = (offset.to_string(), stored.to_string());
            match whole == record_len {
                true => faults.note(descriptor.offset + 12, 4, &what, &expected, &found)?,
                false => faults.report(descriptor.offset + 12, 4, &what, expected, found)?,
            }
        }
        offset += width;
        if offset > record_len {
            let what = format!("end of field {}", field.name);
            let (expected, found) = (format!("at most the record length, {record_len}"), offset.to_string());
            // The last byte of the last field is the flag of the next record.
            let is_last = offset == whole && offset == record_len + 1;
            let is_clipped = is_last && is_record_len && field.width > 1 && field.width == *width;
            match is_clipped {
                true => {
                    faults.note(descriptor.offset, 32, &what, &expected, &found)?;
                    field.width -= 1;
                }
                false => faults.report(descriptor.offset, 32, &what, expected, found)?,
            }
        }
    }
    if !fields.is_empty() && offset < record_len {
        let expected = format!("{offset}, the flag byte and the widths of the fields");
        match is_record_len {
            true => faults.note(
                10,
                2,
                "record length",
                &expected,
                &format!("{record_len}: the rest is not read"),
            )?,
            false => faults.report(10, 2, "record length", expected, record_len.to_string())?,
        }
    }
    Ok(())
}

/// Whether the file is as long as its records would be with this length, and perhaps a byte or two at its end.
fn has_length_of(source: &Source, header: &Header, record_len: usize) -> bool {
    let records = u64::from(header.record_count) * record_len as u64;
    let left = source.len().checked_sub(u64::from(header.header_len) + records);
    header.record_count > 0 && left.is_some_and(|left| left <= 2)
}

/// Hands out the bits of `_NullFlags` in field order: for a variable length first, then for NULL.
fn number_null_bits(fields: &mut [Field], dialect: Dialect) -> Option<(usize, usize)> {
    let flags = fields.iter().find(|f| f.letter == '0').map(|f| (f.offset, f.width));
    let mut next = 0;
    let mut take = |wanted: bool| {
        let bit = (wanted && flags.is_some_and(|(_, width)| usize::from(next) < width * 8)).then_some(next);
        next += u16::from(wanted);
        bit
    };
    for field in fields {
        let varies = matches!(field.kind, FieldKind::Varchar | FieldKind::Varbinary);
        let varies = varies && (dialect == Dialect::VisualFoxPro || field.kind == FieldKind::Varbinary);
        field.varlength_bit = take(varies);
        field.null_bit = take(field.nullable);
    }
    flags
}
