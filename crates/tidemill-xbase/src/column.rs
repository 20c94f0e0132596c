//! One column of one window: a strided slice of bytes straight into an Arrow array.
//!
//! Every type has one loop over its cells and one or two buffers that become the array; no value exists on its own. What
//! a loop does not recognise goes to a cold function that knows every form a program may have left, and decides between
//! null, error and damage.
//!
//! This module does no I/O except for memos, which come through [`MemoReader`].

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, TimestampMillisecondType};
use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::codepage::Decoder;
use crate::damage::{Damage, DamageLog};
use crate::digits::{Number, Shape, parse_text, trim};
use crate::error::{BadValue, Error, Result};
use crate::field::{Field, FieldKind};
use crate::header::u32_at;
use crate::julian;
use crate::memo::{Fault, Memo, MemoReader};
use crate::null_test::NullTest;
use crate::numeric_text;
use crate::table::{Blank, Table};
use crate::variant;
use crate::wide;

/// The records of a window that a batch is made of.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// Whole records, one after another.
    pub(crate) bytes: &'a [u8],
    pub(crate) stride: usize,
    /// The index of the first record in the table.
    pub(crate) first: u32,
    /// Which records of the window; `None` for all.
    pub(crate) picked: Option<&'a [u32]>,
    pub(crate) len: usize,
}

impl Rows<'_> {
    /// Where row `i` begins in the window.
    #[inline(always)]
    fn start(&self, i: usize) -> usize {
        self.index(i) * self.stride
    }

    #[inline(always)]
    fn index(&self, i: usize) -> usize {
        match self.picked {
            None => i,
            Some(picked) => picked.get(i).map_or(0, |r| *r as usize),
        }
    }

    /// The bytes of row `i`.
    #[inline(always)]
    fn record_bytes(&self, i: usize) -> &[u8] {
        let start = self.start(i);
        self.bytes.get(start..start + self.stride).unwrap_or_default()
    }

    /// The table's index of row `i`.
    pub(crate) fn record(&self, i: usize) -> u32 {
        self.first
            .saturating_add(u32::try_from(self.index(i)).unwrap_or(u32::MAX))
    }
}

/// What decoding a column needs beside its bytes.
pub(crate) struct Context<'a> {
    pub(crate) table: &'a Table,
    pub(crate) memos: &'a mut MemoReader,
    /// Where faults go while recovering; `None` makes the first one an error.
    pub(crate) log: Option<&'a DamageLog>,
}

/// A batch ends early when its memos would take more than this.
const MEMO_BUDGET: usize = 32 << 20;

/// The column of `field` for `rows`: an array of as many values, or of fewer when memos are large (at least one).
pub(crate) fn decode(cx: &mut Context<'_>, rows: &Rows<'_>, field: &Field) -> Result<ArrayRef> {
    let cells = Cells {
        cx,
        rows,
        field,
        null: cx.table.fields.null_test(field),
    };
    if field.width == 0 {
        return Ok(nulls(field, rows.len));
    }
    match field.kind {
        FieldKind::Character | FieldKind::CharacterBinary | FieldKind::System => cells.text(),
        FieldKind::CharacterWide => cells.wide(wide::decode),
        FieldKind::VarcharWide => cells.wide(|cell, out| wide::decode_whole(wide::varying(cell), out)),
        FieldKind::Varchar | FieldKind::Varbinary => cells.varying(),
        FieldKind::Memo | FieldKind::MemoBinary | FieldKind::MemoWide | FieldKind::Variant => memos(cx, rows, field),
        FieldKind::Numeric | FieldKind::Float => match field.data_type() {
            DataType::Int64 => cells.numbers::<Int64Type>(|v| v, |v| i64::try_from(v).ok()),
            DataType::Decimal128(..) => {
                let held = field.numbers();
                cells.numbers::<Decimal128Type>(i128::from, |v| held.contains(&v).then_some(v))
            }
            _ => Err(Error::Misuse(format!("field {} has no numeric type", field.name))),
        },
        FieldKind::Integer | FieldKind::IntegerDbase7 => cells.integers(),
        FieldKind::Counter => cells.fixed::<Int64Type>(|b| Ok(Some(i64::from(u32::from_le_bytes(chunk(b)))))),
        FieldKind::Currency => cells.fixed::<Decimal128Type>(|b| Ok(Some(i128::from(i64::from_le_bytes(chunk(b)))))),
        FieldKind::NumericDouble => cells.doubles(),
        FieldKind::Double => cells.fixed::<Float64Type>(|b| Ok(Some(f64::from_le_bytes(chunk(b))))),
        FieldKind::DoubleDbase7 => cells.fixed::<Float64Type>(|b| Ok(double_dbase7(u64::from_be_bytes(chunk(b))))),
        FieldKind::Time => cells.fixed::<Time32MillisecondType>(time),
        FieldKind::Timestamp => cells.fixed::<TimestampMillisecondType>(timestamp),
        FieldKind::TimestampDbase7 => cells.fixed::<TimestampMillisecondType>(timestamp_dbase7),
        FieldKind::Date => cells.fixed::<Date32Type>(date),
        FieldKind::DateBinary => cells.fixed::<Date32Type>(date_binary),
        FieldKind::DatePacked => cells.fixed::<Date32Type>(date_packed),
        FieldKind::Logical => cells.logicals(),
    }
}

/// A null of every kind for `len` rows: what a memo column is without its file.
pub(crate) fn nulls(field: &Field, len: usize) -> ArrayRef {
    arrow_array::new_null_array(&field.data_type(), len)
}

impl Context<'_> {
    /// An error, or while recovering damage and null.
    #[cold]
    fn bad(
        &self,
        rows: &Rows<'_>,
        i: usize,
        field: &Field,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Result<()> {
        let record = rows.record(i);
        let (expected, found) = (expected.into(), found.into());
        let begin = self.table.record_offset(record) + field.offset as u64;
        if self.log.is_none() && self.table.options.null_for_bad_values {
            let what = format!("field {}: null, for it is not {expected}", field.name);
            let end = begin + field.width as u64;
            self.table.notes.add(&what, record.saturating_add(1), begin, end);
            return Ok(());
        }
        let Some(log) = self.log else {
            return Err(Error::Value(Box::new(BadValue {
                path: self.table.path().to_owned(),
                record: record.saturating_add(1),
                field: field.name.clone(),
                expected,
                found,
            })));
        };
        log.add(Damage {
            begin,
            end: begin + field.width as u64,
            records: Some(record..record.saturating_add(1)),
            why: format!("field {}: expected {expected}, found {found}", field.name),
        });
        Ok(())
    }
}

/// Where a bit of a field is in `_NullFlags`: offset in the record and mask.
fn flag(table: &Table, bit: Option<u16>) -> Option<(usize, u8)> {
    let (offset, _) = table.fields.null_flags?;
    bit.map(|bit| (offset + usize::from(bit / 8), 1 << (bit % 8)))
}

fn is_set(rows: &Rows<'_>, i: usize, flag: Option<(usize, u8)>) -> bool {
    flag.is_some_and(|(offset, mask)| rows.bytes.get(rows.start(i) + offset).is_some_and(|b| b & mask != 0))
}

struct Cells<'a, 'b> {
    cx: &'a Context<'b>,
    rows: &'a Rows<'a>,
    field: &'a Field,
    null: Option<NullTest>,
}

impl Cells<'_, '_> {
    #[inline(always)]
    fn is_null(&self, i: usize) -> bool {
        self.null.is_some_and(|null| null.is_null(self.rows.record_bytes(i)))
    }

    /// Where the cell of row `i` begins in the window.
    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        self.rows.start(i) + self.field.offset
    }

    #[inline(always)]
    fn cell(&self, i: usize) -> &[u8] {
        let at = self.at(i);
        self.rows.bytes.get(at..at + self.field.width).unwrap_or_default()
    }

    fn bad(&self, i: usize, expected: &str) -> Result<()> {
        let found = format!("{:?}", self.cx.table.codepage().decode(self.cell(i)));
        self.cx.bad(self.rows, i, self.field, expected, found)
    }

    /// The bytes that end where the cell ends: one load, except at the window's very beginning.
    #[inline(always)]
    fn word<const N: usize>(&self, i: usize) -> [u8; N] {
        let end = self.at(i) + self.field.width;
        let loaded = end
            .checked_sub(N)
            .and_then(|from| self.rows.bytes.get(from..end))
            .and_then(<[u8]>::first_chunk);
        match loaded {
            Some(word) => *word,
            None => {
                let mut word = [b' '; N];
                for (slot, byte) in word.iter_mut().rev().zip(self.cell(i).iter().rev()) {
                    *slot = *byte;
                }
                word
            }
        }
    }

    fn numbers<T: ArrowPrimitiveType>(
        &self,
        narrow: impl Fn(i64) -> T::Native,
        wide: impl Fn(i128) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let (width, decimals) = (self.field.width, self.field.decimals);
        if let Some(shape) = Shape::<u64>::new(width, decimals) {
            self.numbers_by::<T>(|i| shape.parse(self.word(i)), narrow, wide)
        } else if let Some(shape) = Shape::<u128>::new(width, decimals) {
            self.numbers_by::<T>(|i| shape.parse(self.word(i)), narrow, wide)
        } else {
            self.numbers_by::<T>(|_| Number::Other, narrow, wide)
        }
    }

    fn numbers_by<T: ArrowPrimitiveType>(
        &self,
        fast: impl Fn(usize) -> Number<i64>,
        narrow: impl Fn(i64) -> T::Native,
        wide: impl Fn(i128) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let mut column = Column::<T>::new(self.rows.len);
        let blank = (self.cx.table.options.blank == Blank::Zero).then(|| narrow(0));
        let round = self.field.kind == FieldKind::Float;
        for i in 0..self.rows.len {
            if self.is_null(i) {
                column.push(None);
                continue;
            }
            match fast(i) {
                Number::Value(value) => column.value(narrow(value)),
                Number::Blank => column.push(blank),
                Number::Other => match parse_text(self.cell(i), self.field.decimals, round) {
                    Ok(None) => column.push(blank),
                    Ok(Some(value)) => match wide(value) {
                        Some(value) => column.value(value),
                        None => {
                            self.bad(i, &format!("a value that {} holds", self.field.data_type()))?;
                            column.push(None);
                        }
                    },
                    Err(expected) => match self.rounded(i).and_then(&wide) {
                        Some(value) => {
                            self.note_rounded(i);
                            column.value(value);
                        }
                        None => {
                            self.bad(i, expected)?;
                            column.push(None);
                        }
                    },
                },
            }
        }
        Ok(column.finish(self.field))
    }

    /// A number of more digits behind the point than the field declares, where the column was not found to be one of doubles.
    fn rounded(&self, i: usize) -> Option<i128> {
        let number = parse_text(self.cell(i), self.field.decimals, self.cx.table.rounds(self.field));
        number.ok().flatten()
    }

    #[cold]
    fn note_rounded(&self, i: usize) {
        let (table, field, record) = (self.cx.table, self.field, self.rows.record(i));
        let begin = table.record_offset(record) + field.offset as u64;
        let what = format!(
            "field {}: rounded to the {} decimals that it declares, for it has more",
            field.name, field.decimals
        );
        let end = begin + field.width as u64;
        table.notes.add(&what, record.saturating_add(1), begin, end);
    }

    fn doubles(&self) -> Result<ArrayRef> {
        let blank = (self.cx.table.options.blank == Blank::Zero).then_some(0.0);
        self.fixed::<Float64Type>(|text| Ok(numeric_text::double(text)?.or(blank)))
    }

    fn integers(&self) -> Result<ArrayRef> {
        let dbase7 = self.field.kind == FieldKind::IntegerDbase7;
        let read = |bytes: &[u8]| {
            if dbase7 {
                integer_dbase7(bytes)
            } else {
                Some(integer(bytes))
            }
        };
        match self.field.data_type() {
            DataType::Int32 => self.fixed::<Int32Type>(|b| Ok(read(b).and_then(|v| i32::try_from(v).ok()))),
            DataType::Int64 => self.fixed::<Int64Type>(|b| Ok(read(b))),
            _ => self.fixed::<Decimal128Type>(|b| Ok(read(b).map(i128::from))),
        }
    }

    fn fixed<T: ArrowPrimitiveType>(
        &self,
        read: impl Fn(&[u8]) -> Result<Option<T::Native>, &'static str>,
    ) -> Result<ArrayRef> {
        let mut column = Column::<T>::new(self.rows.len);
        for i in 0..self.rows.len {
            if self.is_null(i) {
                column.push(None);
                continue;
            }
            match read(self.cell(i)) {
                Ok(value) => column.push(value),
                Err(expected) => {
                    self.bad(i, expected)?;
                    column.push(None);
                }
            }
        }
        Ok(column.finish(self.field))
    }

    fn logicals(&self) -> Result<ArrayRef> {
        let mut values = BooleanBufferBuilder::new(self.rows.len);
        let mut nulls = NullBufferBuilder::new(self.rows.len);
        let zero = self.cx.table.options.blank == Blank::Zero;
        for i in 0..self.rows.len {
            let cell = if self.is_null(i) {
                None
            } else {
                self.cell(i).first().copied()
            };
            let (value, valid) = match cell {
                Some(b'T' | b't' | b'Y' | b'y' | b'1') => (true, true),
                Some(b'F' | b'f' | b'N' | b'n' | b'0') => (false, true),
                Some(b' ' | b'?' | 0) => (false, zero),
                None => (false, false),
                Some(_) => {
                    self.bad(i, "one of T Y 1 F N 0 ? or a blank")?;
                    (false, false)
                }
            };
            values.append(value);
            nulls.append(valid);
        }
        Ok(Arc::new(BooleanArray::new(values.finish(), nulls.finish())))
    }

    fn text(&self) -> Result<ArrayRef> {
        let mut text = Text::new(self.rows.len, self.rows.len.saturating_mul(self.field.width));
        let binary = self.field.data_type() == DataType::Binary;
        let keep = self.cx.table.options.keep_trailing_blanks || binary;
        let decoder = (!binary).then(|| self.cx.table.codepage().decoder());
        let width = self.field.width;
        let short = Short::new(width).filter(|_| !keep);
        for i in 0..self.rows.len {
            if short.is_none() && i % Self::AHEAD == 0 {
                self.touch(i);
            }
            if self.is_null(i) {
                text.null();
                continue;
            }
            if let Some(short) = short
                && let Some((word, len)) = self.forward(i).and_then(|word| short.trim(word))
            {
                text.short(word, len)?;
                continue;
            }
            let cell = self.cell(i);
            let cell = if keep { cell } else { trim_end(cell) };
            text.value(cell, decoder)?;
        }
        text.finish(binary)
    }

    const AHEAD: usize = 128;

    /// Loads the cells of the next rows into the cache. Where a text ends is known only when its bytes are there, so the
    /// misses of one cell after another would add up; these loads wait for nothing and overlap.
    fn touch(&self, from: usize) {
        let end = (from + Self::AHEAD).min(self.rows.len);
        let last = self.field.width.saturating_sub(1);
        let touched = (from..end).fold(0, |sum, i| {
            sum ^ self.rows.bytes.get(self.at(i) + last).copied().unwrap_or(0)
        });
        std::hint::black_box(touched);
    }

    /// The eight bytes from the cell's beginning on, where the window has them.
    #[inline(always)]
    fn forward(&self, i: usize) -> Option<[u8; 8]> {
        let at = self.at(i);
        self.rows.bytes.get(at..at + 8).and_then(<[u8]>::first_chunk).copied()
    }

    fn wide(&self, decode: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), &'static str>) -> Result<ArrayRef> {
        let mut text = Text::new(self.rows.len, self.rows.len.saturating_mul(self.field.width) / 2);
        let mut scratch = Vec::new();
        for i in 0..self.rows.len {
            scratch.clear();
            match decode(self.cell(i), &mut scratch) {
                _ if self.is_null(i) => text.null(),
                Ok(()) => text.value(&scratch, None)?,
                Err(expected) => {
                    self.bad(i, expected)?;
                    text.null();
                }
            }
        }
        text.finish(false)
    }

    fn varying(&self) -> Result<ArrayRef> {
        let mut text = Text::new(self.rows.len, self.rows.len.saturating_mul(self.field.width));
        let binary = self.field.data_type() == DataType::Binary;
        let decoder = (!binary).then(|| self.cx.table.codepage().decoder());
        let bit = flag(self.cx.table, self.field.varlength_bit);
        for i in 0..self.rows.len {
            if self.is_null(i) {
                text.null();
                continue;
            }
            let cell = self.cell(i);
            // The last byte is the length when the bit is set; a value that fills the field needs no length.
            let len = match (bit, cell.split_last()) {
                (Some(_), Some((len, _))) if is_set(self.rows, i, bit) => usize::from(*len),
                (None, Some((len, _))) => usize::from(*len),
                _ => cell.len(),
            };
            match cell.get(..len) {
                Some(value) => text.value(value, decoder)?,
                None => {
                    let expected = format!("a length of at most {} in the last byte", cell.len());
                    self.cx.bad(self.rows, i, self.field, expected, len.to_string())?;
                    text.null();
                }
            }
        }
        text.finish(binary)
    }
}

fn memos(cx: &mut Context<'_>, rows: &Rows<'_>, field: &Field) -> Result<ArrayRef> {
    let null = cx.table.fields.null_test(field);
    let mut text = Text::new(rows.len, 0);
    let binary = field.data_type() == DataType::Binary;
    let is_utf8 = binary || field.kind == FieldKind::MemoWide;
    let decoder = (!is_utf8).then(|| cx.table.codepage().decoder());
    let mut scratch = Vec::new();
    for i in 0..rows.len {
        if text.values.len() > MEMO_BUDGET {
            break;
        }
        if null.is_some_and(|null| null.is_null(rows.record_bytes(i))) {
            text.null();
            continue;
        }
        let at = rows.start(i) + field.offset;
        let cell = rows.bytes.get(at..at + field.width).unwrap_or_default();
        scratch.clear();
        let read = match (field.kind, cx.table.memo()) {
            (FieldKind::MemoWide, Some(memo)) => wide_memo(cx.memos, memo, cell, &mut scratch),
            (FieldKind::Variant, memo) => variant::read(cx.memos, memo, cell, &mut scratch),
            (_, Some(memo)) => cx.memos.read(memo, cell, &mut scratch),
            (_, None) => return Ok(nulls(field, rows.len)),
        };
        if let Err(fault) = read {
            let memo = cx
                .table
                .memo()
                .map(|m| m.path().display().to_string())
                .unwrap_or_default();
            let found = format!("{} (byte {} of {memo})", fault.found, fault.offset);
            cx.bad(rows, i, field, fault.expected, found)?;
            text.null();
            continue;
        }
        if text.value(&scratch, decoder).is_err() {
            return Err(Error::Limit {
                path: cx.table.path().to_owned(),
                record: rows.record(i).saturating_add(1),
                field: field.name.clone(),
                bytes: scratch.len() as u64,
                limit: i32::MAX as u64,
            });
        }
    }
    text.finish(binary)
}

/// A memo in UTF-16.
fn wide_memo(memos: &mut MemoReader, memo: &Memo, cell: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut bytes = Vec::new();
    memos.read(memo, cell, &mut bytes)?;
    wide::decode(&bytes, out).map_err(|expected| Fault::new(0, expected, format!("{} bytes", bytes.len())))
}

/// Values and validity of a fixed-width column.
struct Column<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
}

impl<T: ArrowPrimitiveType> Column<T> {
    fn new(len: usize) -> Self {
        Self {
            values: Vec::with_capacity(len),
            nulls: NullBufferBuilder::new(len),
        }
    }

    #[inline(always)]
    fn value(&mut self, value: T::Native) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    #[inline(always)]
    fn push(&mut self, value: Option<T::Native>) {
        self.values.push(value.unwrap_or_default());
        self.nulls.append(value.is_some());
    }

    fn finish(mut self, field: &Field) -> ArrayRef {
        let array = PrimitiveArray::<T>::new(ScalarBuffer::from(self.values), self.nulls.finish());
        Arc::new(array.with_data_type(field.data_type()))
    }
}

/// Offsets, bytes and validity of a column of text or bytes.
struct Text {
    offsets: Vec<i32>,
    values: Vec<u8>,
    nulls: NullBufferBuilder,
}

impl Text {
    fn new(rows: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        // Short values are stored eight bytes at a time.
        Self {
            offsets,
            values: Vec::with_capacity(bytes + 8),
            nulls: NullBufferBuilder::new(rows),
        }
    }

    fn null(&mut self) {
        let end = self.offsets.last().copied().unwrap_or_default();
        self.offsets.push(end);
        self.nulls.append_null();
    }

    #[inline(always)]
    fn short(&mut self, word: [u8; 8], len: usize) -> Result<()> {
        let end = self.values.len() + len;
        self.values.extend_from_slice(&word);
        self.values.truncate(end);
        self.end()
    }

    #[inline]
    fn value(&mut self, bytes: &[u8], decoder: Option<Decoder>) -> Result<()> {
        match decoder {
            Some(decoder) if !bytes.is_ascii() => decoder.decode_into(bytes, &mut self.values),
            _ => self.values.extend_from_slice(bytes),
        }
        self.end()
    }

    #[inline(always)]
    fn end(&mut self) -> Result<()> {
        let end = i32::try_from(self.values.len())
            .map_err(|_| Error::Misuse("a batch of more than 2 GiB of text: ask for smaller batches".to_owned()))?;
        self.offsets.push(end);
        self.nulls.append_non_null();
        Ok(())
    }

    fn finish(mut self, binary: bool) -> Result<ArrayRef> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let values = Buffer::from_vec(self.values);
        let nulls: Option<NullBuffer> = self.nulls.finish();
        Ok(if binary {
            Arc::new(BinaryArray::try_new(offsets, values, nulls)?)
        } else {
            Arc::new(StringArray::try_new(offsets, values, nulls)?)
        })
    }
}

/// Trims character fields of up to eight bytes in one word.
#[derive(Clone, Copy)]
struct Short {
    beyond: u64,
}

impl Short {
    const BLANKS: u64 = u64::from_le_bytes([b' '; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

    fn new(width: usize) -> Option<Self> {
        let bits = u32::try_from(width)
            .ok()
            .filter(|w| (1..=8).contains(w))
            .map(|w| w * 8)?;
        Some(Self {
            beyond: u64::MAX.checked_shl(bits).unwrap_or(0),
        })
    }

    /// The word and its length without trailing blanks; `None` when it is not plain text.
    #[inline(always)]
    fn trim(self, word: [u8; 8]) -> Option<([u8; 8], usize)> {
        let word = u64::from_le_bytes(word);
        let word = (word & !self.beyond) | (Self::BLANKS & self.beyond);
        let len = 8 - (word ^ Self::BLANKS).leading_zeros() as usize / 8;
        // A NUL at the end is padding too, which the long way knows.
        let last = (word >> (8 * len.saturating_sub(1))) & 0xFF;
        (word & Self::HIGH == 0 && last != 0).then(|| (word.to_le_bytes(), len))
    }
}

/// Without blanks and NULs at the end.
fn trim_end(cell: &[u8]) -> &[u8] {
    let mut cell = cell;
    while let Some((rest, last)) = cell.split_last_chunk::<8>() {
        let blanks = (u64::from_le_bytes(*last) ^ Short::BLANKS).leading_zeros() as usize / 8;
        if blanks < 8 {
            cell = cell.get(..cell.len() - blanks).unwrap_or_default();
            break;
        }
        cell = rest;
    }
    while let Some((b' ' | 0, rest)) = cell.split_last() {
        cell = rest;
    }
    cell
}

fn chunk<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// A little-endian integer of one to eight bytes.
#[inline(always)]
pub(crate) fn integer(bytes: &[u8]) -> i64 {
    match *bytes {
        [a] => i64::from(i8::from_le_bytes([a])),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c] => i64::from(i32::from_le_bytes([0, a, b, c]) >> 8),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(chunk(bytes)),
    }
}

/// Big-endian with the sign bit set for positive numbers, so that bytes sort as numbers do.
pub(crate) fn integer_dbase7(bytes: &[u8]) -> Option<i64> {
    let word = u32::from_be_bytes(chunk(bytes));
    (word != 0).then(|| i64::from((word ^ 0x8000_0000).cast_signed()))
}

pub(crate) fn double_dbase7(word: u64) -> Option<f64> {
    let sign = 1 << 63;
    (word != 0).then(|| f64::from_bits(if word & sign != 0 { word ^ sign } else { !word }))
}

pub(crate) fn date(cell: &[u8]) -> Result<Option<i32>, &'static str> {
    let expected = "a date as YYYYMMDD";
    let word: [u8; 8] = *cell.first_chunk().ok_or(expected)?;
    let shape = Shape::<u64>::new(8, 0).ok_or(expected)?;
    if let Number::Value(number) = shape.parse(word)
        && word.iter().all(u8::is_ascii_digit)
    {
        if number == 0 {
            return Ok(None);
        }
        let part = |n: i64| i32::try_from(n).unwrap_or_default();
        return julian::unix_days_from_civil(part(number / 10_000), part(number / 100 % 100), part(number % 100))
            .map(Some)
            .ok_or("a day of the calendar");
    }
    // Programs that have no date leave its punctuation, or a zero.
    let is_blank = |byte: &u8| matches!(byte, b' ' | 0 | b'/' | b'-' | b'.' | b'0');
    match trim(cell).iter().all(is_blank) {
        true => Ok(None),
        false => Err(expected),
    }
}

pub(crate) fn date_binary(cell: &[u8]) -> Result<Option<i32>, &'static str> {
    let day = match *cell {
        [a, b, c] => u32::from_le_bytes([a, b, c, 0]),
        _ => u32_at(cell, 0).unwrap_or_default(),
    };
    if day == 0 || day == 0x2020_2020 || day == 0x0020_2020 {
        return Ok(None);
    }
    julian::unix_days(day)
        .map(Some)
        .ok_or("a Julian day number before the year 10000")
}

pub(crate) fn date_packed(cell: &[u8]) -> Result<Option<i32>, &'static str> {
    let &[a, b, c] = cell else {
        return Err("three bytes");
    };
    let word = i32::from_be_bytes([0, a, b, c]);
    if word == 0 {
        return Ok(None);
    }
    julian::unix_days_from_civil(word >> 9, (word >> 5) & 15, word & 31)
        .map(Some)
        .ok_or("a day of the calendar")
}

pub(crate) fn time(cell: &[u8]) -> Result<Option<i32>, &'static str> {
    let ms = u32_at(cell, 0).unwrap_or_default();
    if ms < 86_400_000 {
        Ok(i32::try_from(ms).ok())
    } else {
        Err("at most 86399999 milliseconds")
    }
}

pub(crate) fn timestamp(cell: &[u8]) -> Result<Option<i64>, &'static str> {
    let (day, ms) = (u32_at(cell, 0).unwrap_or_default(), u32_at(cell, 4).unwrap_or_default());
    if (day, ms) == (0, 0) || cell == b"        " {
        return Ok(None);
    }
    // Visual FoxPro computes in doubles, so a time just before midnight may be stored as midnight.
    if ms > 86_400_000 {
        return Err("at most 86400000 milliseconds");
    }
    let days = julian::unix_days(day).ok_or("a Julian day number before the year 10000")?;
    Ok(Some(i64::from(days) * 86_400_000 + i64::from(ms)))
}

/// The milliseconds of 1970-01-01 in dBASE 7, which counts from the day before the year 1.
pub(crate) const DBASE7_EPOCH_MS: i64 = 719_163 * 86_400_000;

pub(crate) fn timestamp_dbase7(cell: &[u8]) -> Result<Option<i64>, &'static str> {
    let expected = "milliseconds from the year 1 to 9999, as a double";
    if cell.iter().all(|byte| *byte == 0) || cell.iter().all(|byte| *byte == b' ') {
        return Ok(None);
    }
    let ms = f64::from_be_bytes(chunk(cell)).round();
    if !(DBASE7_FIRST..DBASE7_END).contains(&ms) {
        return Err(expected);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below 2^53, where every whole number is a double"
    )]
    let ms = ms as i64;
    Ok(Some(ms - DBASE7_EPOCH_MS))
}

/// The beginning of the year 1, and of the year 10000.
const DBASE7_FIRST: f64 = 86_400_000.0;
const DBASE7_END: f64 = 3_652_060.0 * 86_400_000.0;
