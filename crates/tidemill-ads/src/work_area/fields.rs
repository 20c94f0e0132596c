//! The fields of the current record, as texts and values.

use std::borrow::Cow;
use std::ops::Range;

use tidemill_xbase::expression::{Record, RecordBytes, Value};
use tidemill_xbase::{AdtType, Dialect, Field, FieldKind};

use super::{TableType, WorkArea};
use crate::date_format::{clock, julian};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// The types of fields, by the numbers of ACE (`ADS_LOGICAL` and so on).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
#[expect(missing_docs, reason = "each is the ADS_ constant of its name")]
pub enum FieldType {
    Logical = 1,
    Numeric = 2,
    Date = 3,
    String = 4,
    Memo = 5,
    Binary = 6,
    Image = 7,
    Varchar = 8,
    CompactDate = 9,
    Double = 10,
    Integer = 11,
    ShortInteger = 12,
    Time = 13,
    Timestamp = 14,
    Autoincrement = 15,
    Raw = 16,
    CurrencyDouble = 17,
    Money = 18,
    LongLong = 19,
    CaseInsensitiveString = 20,
    RowVersion = 21,
    ModificationTime = 22,
    VarcharFox = 23,
    VarbinaryFox = 24,
    System = 25,
    NChar = 26,
    NVarchar = 27,
    NMemo = 28,
}

/// What reading and changing a field need to know of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) kind: FieldKind,
    offset: usize,
    pub(super) width: usize,
    pub(super) decimals: u8,
}

impl Shape {
    /// Where it lies in the record.
    pub(super) fn place(self) -> Range<usize> {
        self.offset..self.offset + self.width
    }
}

impl FieldType {
    /// The type of a field.
    pub fn of(field: &Field, dialect: Dialect) -> Self {
        if let Some(adt_type) = field.adt_type {
            return Self::of_adt(adt_type);
        }
        let is_vfp = dialect == Dialect::VisualFoxPro;
        match (field.kind, field.letter) {
            _ if field.autoincrement.is_some() => Self::Autoincrement,
            (_, '^') => Self::RowVersion,
            (_, '=') => Self::ModificationTime,
            (FieldKind::Character, _) => Self::String,
            (FieldKind::CharacterBinary, _) => Self::Raw,
            (FieldKind::Numeric | FieldKind::Float, _) => Self::Numeric,
            (FieldKind::Logical, _) => Self::Logical,
            (FieldKind::Date, _) => Self::Date,
            (FieldKind::DateBinary | FieldKind::DatePacked, _) if field.width == 3 => Self::CompactDate,
            (FieldKind::DateBinary | FieldKind::DatePacked, _) => Self::Date,
            (FieldKind::Integer, _) if field.decimals > 0 => Self::Numeric,
            (FieldKind::Integer, _) if field.width == 8 => Self::LongLong,
            (FieldKind::Integer, _) if field.width <= 2 => Self::ShortInteger,
            (FieldKind::Integer | FieldKind::IntegerDbase7, _) => Self::Integer,
            (FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble, _) => Self::Double,
            (FieldKind::Currency, _) => Self::Money,
            (FieldKind::Time, _) => Self::Time,
            (FieldKind::Timestamp | FieldKind::TimestampDbase7, _) => Self::Timestamp,
            (FieldKind::Memo, _) => Self::Memo,
            (FieldKind::MemoBinary, 'P') => Self::Image,
            (FieldKind::MemoBinary, _) => Self::Binary,
            (FieldKind::Varchar, _) if is_vfp => Self::VarcharFox,
            (FieldKind::Varchar, _) => Self::Varchar,
            (FieldKind::Varbinary, _) => Self::VarbinaryFox,
            (FieldKind::Variant | FieldKind::System, _) => Self::System,
            _ => Self::System,
        }
    }

    /// The type of a field of an ADT.
    pub(crate) fn of_adt(adt_type: AdtType) -> Self {
        match adt_type {
            AdtType::Logical => Self::Logical,
            AdtType::Numeric => Self::Numeric,
            AdtType::Date => Self::Date,
            AdtType::Character => Self::String,
            AdtType::Memo => Self::Memo,
            AdtType::Binary => Self::Binary,
            AdtType::Image => Self::Image,
            AdtType::VarChar => Self::Varchar,
            AdtType::Double => Self::Double,
            AdtType::Integer => Self::Integer,
            AdtType::ShortInteger => Self::ShortInteger,
            AdtType::Time => Self::Time,
            AdtType::Timestamp => Self::Timestamp,
            AdtType::AutoIncrement => Self::Autoincrement,
            AdtType::Raw => Self::Raw,
            AdtType::CurDouble => Self::CurrencyDouble,
            AdtType::Money => Self::Money,
            AdtType::LongInteger => Self::LongLong,
            AdtType::CiCharacter => Self::CaseInsensitiveString,
            AdtType::RowVersion => Self::RowVersion,
            AdtType::ModTime => Self::ModificationTime,
            AdtType::VarCharFox => Self::VarcharFox,
            AdtType::VarBinaryFox => Self::VarbinaryFox,
            AdtType::NChar => Self::NChar,
            AdtType::NVarChar => Self::NVarchar,
            AdtType::NMemo => Self::NMemo,
            _ => Self::System,
        }
    }
}

impl WorkArea {
    /// The place of a field, by its name in any case, among [`WorkArea::fields`].
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldName`].
    pub fn field_named(&self, name: &str) -> Result<usize> {
        match Field::find(self.fields(), name.trim()) {
            Some(field) => Ok(field),
            None => self.refuse(ErrorCode::InvalidFieldName, format!("there is no field {name:?}")),
        }
    }

    /// A field by its place, from 0.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldNumber`].
    pub fn field(&self, field: usize) -> Result<&Field> {
        match self.fields().get(field) {
            Some(field) => Ok(field),
            None => self.refuse(
                ErrorCode::InvalidFieldNumber,
                format!("there is no field {}", field.saturating_add(1)),
            ),
        }
    }

    /// What a field looks like, as [`WorkArea::field`].
    pub(super) fn shape(&self, field: usize) -> Result<Shape> {
        let known = self.field(field)?;
        Ok(Shape {
            kind: known.kind,
            offset: known.offset,
            width: known.width,
            decimals: known.decimals,
        })
    }

    /// The type of a field.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldNumber`].
    pub fn field_type(&self, field: usize) -> Result<FieldType> {
        Ok(FieldType::of(self.field(field)?, self.editor.header().dialect))
    }

    /// The bytes of the current record, the deletion flag first.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`].
    pub fn record_bytes(&mut self) -> Result<&[u8]> {
        self.current()?;
        Ok(&self.record.bytes)
    }

    /// The bytes of a record without values, as an append makes it.
    pub fn blank_record(&self) -> Vec<u8> {
        self.editor.blank_record()
    }

    /// Whether the current record is marked as deleted, or will be when it is written.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`].
    pub fn is_deleted(&mut self) -> Result<bool> {
        let dialect = self.table.header().dialect;
        Ok(dialect.is_deleted(self.record_bytes()?) || self.record.is_deleted)
    }

    /// The text of a field: character fields in their whole width, numbers as the record has them or in digits, dates in the
    /// format that is set, logical ones as `T` or `F`, and whole memos.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`], [`ErrorCode::InvalidFieldNumber`]; for what is damaged.
    pub fn text(&mut self, field: usize, settings: &Settings) -> Result<Cow<'_, [u8]>> {
        let record = self.current()?;
        let known = self.shape(field)?;
        if known.kind.uses_memo() {
            return Ok(Cow::Owned(self.memo(field)?));
        }
        if matches!(known.kind, FieldKind::Character | FieldKind::CharacterWide) && self.holds_null(field)? {
            let width = match known.kind {
                FieldKind::CharacterWide => known.width / 2,
                _ => known.width,
            };
            return Ok(Cow::Owned(vec![b' '; width]));
        }
        let cell = self.record.bytes.get(known.place()).unwrap_or_default();
        match known.kind {
            FieldKind::Character => return Ok(self.to_program(Cow::Borrowed(cell))),
            FieldKind::CharacterBinary | FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble => {
                return Ok(Cow::Borrowed(cell));
            }
            FieldKind::Variant | FieldKind::System => return Ok(Cow::Borrowed(&[])),
            _ => {}
        }
        let bytes = RecordBytes::new(&self.table, record, &self.record.bytes);
        let text = match bytes.value(field)? {
            Value::Character(text) => return Ok(self.to_program(Cow::Owned(text.into_owned()))),
            Value::Null => return Ok(Cow::Borrowed(&[])),
            Value::Logical(value) => if value { "T" } else { "F" }.to_owned(),
            Value::Number(number) => {
                let decimals = match known.kind {
                    FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble => {
                        usize::from(settings.decimals)
                    }
                    FieldKind::Currency => 4,
                    _ => usize::from(known.decimals),
                };
                format!("{number:.decimals$}")
            }
            Value::Date(day) => settings.date_format.format(day),
            Value::Timestamp(ms) if known.kind == FieldKind::Time => clock(ms),
            Value::Timestamp(0) => String::new(),
            Value::Timestamp(ms) => {
                let (day, of_day) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
                format!("{} {}", settings.date_format.format(day), clock(of_day))
            }
        };
        Ok(Cow::Owned(text.into_bytes()))
    }

    /// A number: of a number's field its value, of a date or time its Julian day number, of a text the number that it begins
    /// with. What is blank is 0.
    ///
    /// # Errors
    /// As [`WorkArea::text`]; [`ErrorCode::InvalidFieldType`] for memos and logical fields.
    pub fn number_in(&mut self, field: usize) -> Result<f64> {
        match self.value(field)? {
            Value::Number(number) => Ok(number),
            Value::Null => Ok(0.0),
            #[expect(
                clippy::cast_precision_loss,
                reason = "days and milliseconds of a calendar are exact in a double"
            )]
            Value::Date(day) => Ok(day as f64),
            #[expect(
                clippy::cast_precision_loss,
                reason = "days and milliseconds of a calendar are exact in a double"
            )]
            Value::Timestamp(ms) => Ok(ms as f64 / DAY_MS as f64),
            Value::Character(text) => Ok(leading_number(&text)),
            Value::Logical(_) => self.refuse(ErrorCode::InvalidFieldType, "a logical field has no number"),
        }
    }

    /// A whole number, exactly: integers of 64 bits too.
    ///
    /// # Errors
    /// As [`WorkArea::number_in`]; [`ErrorCode::ValueOverflow`] for a number beyond 64 bits.
    pub fn integer_in(&mut self, field: usize) -> Result<i64> {
        self.current()?;
        let known = self.field(field)?;
        let cell = self.record.bytes.get(known.offset..known.offset + known.width);
        if let (FieldKind::Integer, 0, Some(cell)) = (known.kind, known.decimals, cell.and_then(<[u8]>::first_chunk))
            && known.width == 8
        {
            let whole = i64::from_le_bytes(*cell);
            return Ok(if self.holds_null(field)? { 0 } else { whole });
        }
        let number = self.number_in(field)?.trunc();
        #[expect(clippy::cast_precision_loss, reason = "the bounds are powers of two")]
        if !(i64::MIN as f64..i64::MAX as f64).contains(&number) {
            return self.refuse(ErrorCode::ValueOverflow, format!("{number} is no integer of 64 bits"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "it was compared with the bounds")]
        Ok(number as i64)
    }

    /// The Julian day number of a date; 0 when it is blank.
    ///
    /// # Errors
    /// As [`WorkArea::text`]; [`ErrorCode::InvalidFieldType`] for fields without dates.
    pub fn julian_in(&mut self, field: usize) -> Result<i64> {
        match self.value(field)? {
            Value::Date(day) => Ok(day),
            Value::Timestamp(ms) => Ok(ms.div_euclid(DAY_MS)),
            Value::Null => Ok(0),
            _ => self.refuse(ErrorCode::InvalidFieldType, "the field has no dates"),
        }
    }

    /// The milliseconds since midnight of a time.
    ///
    /// # Errors
    /// As [`WorkArea::julian_in`].
    pub fn milliseconds_in(&mut self, field: usize) -> Result<i64> {
        match self.value(field)? {
            Value::Timestamp(ms) => Ok(ms.rem_euclid(DAY_MS)),
            Value::Date(_) | Value::Null => Ok(0),
            _ => self.refuse(ErrorCode::InvalidFieldType, "the field has no times"),
        }
    }

    /// Whether a logical field is true; blank is false.
    ///
    /// # Errors
    /// As [`WorkArea::text`]; [`ErrorCode::InvalidFieldType`] for others.
    pub fn logical_in(&mut self, field: usize) -> Result<bool> {
        match self.value(field)? {
            Value::Logical(value) => Ok(value),
            Value::Null => Ok(false),
            _ => self.refuse(ErrorCode::InvalidFieldType, "the field is not logical"),
        }
    }

    /// Whether a field is NULL; of tables without NULL, whether it is blank.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`], [`ErrorCode::InvalidFieldNumber`].
    pub fn is_null(&mut self, field: usize) -> Result<bool> {
        match self.options.table_type {
            TableType::Vfp => self.holds_null(field),
            TableType::Ntx | TableType::Cdx | TableType::Adt => self.is_empty(field),
        }
    }

    fn holds_null(&mut self, field: usize) -> Result<bool> {
        self.current()?;
        let known = self.field(field)?;
        if !known.nullable || known.kind.uses_memo() || known.kind == FieldKind::Variant {
            return Ok(false);
        }
        Ok(self.value(field)? == Value::Null)
    }

    /// Whether a field is blank: nothing but blanks, no memo, or NULL. A field of an ADT is when it is NULL (SAP's help, `AdsIsEmpty`).
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`], [`ErrorCode::InvalidFieldNumber`].
    pub fn is_empty(&mut self, field: usize) -> Result<bool> {
        self.current()?;
        let known = self.shape(field)?;
        if known.kind.uses_memo() {
            return Ok(self.memo(field)?.is_empty());
        }
        if self.holds_null(field)? || self.is_adt() {
            return self.holds_null(field);
        }
        let cell = self.record.bytes.get(known.place()).unwrap_or_default();
        let is_blank = |byte: &u8| match known.kind {
            FieldKind::Character | FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble => {
                matches!(byte, b' ' | 0)
            }
            FieldKind::Logical => matches!(byte, b' ' | b'?' | 0),
            FieldKind::Date => matches!(byte, b' ' | b'0' | 0),
            _ => *byte == 0,
        };
        Ok(cell.iter().all(is_blank))
    }

    /// The bytes of a memo; none where there is no memo. Of one in UTF-16, its text in the table's code page, with a question mark for
    /// what that has not got.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`]; [`ErrorCode::InvalidFieldType`] for other fields.
    pub fn memo(&mut self, field: usize) -> Result<Vec<u8>> {
        let record = self.current()?;
        let known = self.field(field)?;
        if !known.kind.uses_memo() {
            return self.refuse(
                ErrorCode::InvalidFieldType,
                format!("field {} has no memos", known.name),
            );
        }
        let kind = known.kind;
        let waiting = self.record.memos.iter().find(|(changed, _)| *changed == field);
        let bytes = match waiting {
            Some((_, value)) => value.clone().unwrap_or_default(),
            None => {
                let bytes = self.editor.memo_bytes(record, &self.record.bytes, field)?;
                match kind {
                    FieldKind::MemoWide => self.in_table_page(&bytes),
                    _ => bytes,
                }
            }
        };
        Ok(match kind {
            FieldKind::Memo => self.to_program(Cow::Owned(bytes)).into_owned(),
            _ => bytes,
        })
    }

    /// A text in UTF-16, little-endian, in the code page of the table.
    fn in_table_page(&self, bytes: &[u8]) -> Vec<u8> {
        let (units, _) = bytes.as_chunks::<2>();
        let letters = char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit)));
        let mut out = Vec::with_capacity(units.len());
        for letter in letters {
            let known = letter.is_ok_and(|letter| {
                let codepage = self.table.codepage();
                codepage.encode(letter.encode_utf8(&mut [0; 4]), &mut out).is_ok()
            });
            if !known {
                out.push(b'?');
            }
        }
        out
    }

    /// The bytes of a field as the record has them.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`], [`ErrorCode::InvalidFieldNumber`].
    pub fn raw_bytes(&mut self, field: usize) -> Result<&[u8]> {
        self.current()?;
        let known = self.field(field)?;
        let place = known.offset..known.offset + known.width;
        Ok(self.record.bytes.get(place).unwrap_or_default())
    }

    /// A check sum (CRC-32C) of the current record, with its memos if they are wanted. Two records have the same one if their
    /// values are the same.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`]; for memos that are damaged.
    pub fn check_sum(&mut self, with_memos: bool) -> Result<u32> {
        let mut bytes = self.record_bytes()?.to_vec();
        let memos: Vec<usize> = self
            .fields()
            .iter()
            .enumerate()
            .filter(|(_, field)| field.kind.uses_memo())
            .map(|(at, _)| at)
            .collect();
        for at in memos {
            // Where a memo lies is no value.
            let place = self.field(at).map(|field| field.offset..field.offset + field.width)?;
            bytes.get_mut(place).unwrap_or_default().fill(b' ');
            if with_memos {
                let memo = self.memo(at)?;
                bytes.extend((memo.len() as u64).to_le_bytes());
                bytes.extend(memo);
            }
        }
        Ok(crc32c::crc32c(&bytes))
    }

    /// The value that the record appended last has in the table's autoincrement field; 0 where none was appended, or the table has no
    /// such field.
    pub fn last_autoincrement(&self) -> u32 {
        self.last_autoincrement
    }

    fn value(&mut self, field: usize) -> Result<Value<'_>> {
        let record = self.current()?;
        let known = self.field(field)?;
        if known.kind.uses_memo() || matches!(known.kind, FieldKind::Variant | FieldKind::System) {
            let name = &known.name;
            return self.refuse(
                ErrorCode::InvalidFieldType,
                format!("field {name} has no value of this type"),
            );
        }
        let bytes = RecordBytes::new(&self.table, record, &self.record.bytes);
        Ok(bytes.value(field)?.into_owned())
    }

    /// The code page of texts as programs see them.
    pub fn program_codepage(&self) -> tidemill_xbase::CodePage {
        if self.options.is_oem {
            PROGRAMS
        } else {
            self.table.codepage()
        }
    }

    /// The Julian day number of the last change, as the header has it; 0 when it has none.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn last_update(&mut self) -> Result<i64> {
        let table = self.editor.table()?;
        let day = table.header().last_update;
        let day = day.and_then(|day| julian(day.year.into(), day.month.into(), day.day.into()));
        Ok(day.unwrap_or(0))
    }

    /// Text of the table as programs see it.
    pub(super) fn to_program<'b>(&self, bytes: Cow<'b, [u8]>) -> Cow<'b, [u8]> {
        match self.options.is_oem {
            true => translate(self.table.codepage(), PROGRAMS, bytes),
            false => bytes,
        }
    }

    /// Text of a program as the table holds it.
    pub(super) fn to_table<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        match self.options.is_oem {
            true => translate(PROGRAMS, self.table.codepage(), Cow::Borrowed(bytes)),
            false => Cow::Borrowed(bytes),
        }
    }
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// The code page of Windows that programs see text of an OEM table in.
const PROGRAMS: tidemill_xbase::CodePage = tidemill_xbase::CodePage::Cp1252;

/// Text in another code page, byte for byte: what that has not got becomes a question mark.
fn translate(from: tidemill_xbase::CodePage, to: tidemill_xbase::CodePage, bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if bytes.is_ascii() {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len());
    for letter in from.decode(&bytes).chars() {
        let mut buffer = [0; 4];
        if to.encode(letter.encode_utf8(&mut buffer), &mut out).is_err() {
            out.push(b'?');
        }
    }
    Cow::Owned(out)
}

fn leading_number(text: &[u8]) -> f64 {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    text.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0.0)
}

/// The day of a Julian day number, for error messages and checks.
pub(super) fn is_day(julian: i64) -> Result<(), Error> {
    match julian == 0 || Value::Date(julian).unix_days().is_some() {
        true => Ok(()),
        false => Err(Error::new(
            ErrorCode::InvalidDate,
            format!("{julian} is no day of a calendar"),
        )),
    }
}
