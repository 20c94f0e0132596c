//! Numbers, days and moments of records as whole numbers that order as the values do.
//!
//! A number is scaled by its field's decimals, a day is the number that YYYYMMDD writes (0 for none), a moment the
//! milliseconds since Julian day 0 (0 for none). A test is then one comparison with two bounds.

use std::ops::RangeInclusive;

use super::{Block, Understood};
use crate::column;
use crate::digits::{Number, Shape, parse_text};
use crate::field::{Field, FieldKind};
use crate::header::u32_at;
use crate::julian;
use crate::table::Table;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;
/// Julian day number of 1970-01-01.
const UNIX_EPOCH: i64 = 2_440_588;

/// A field whose values are whole numbers.
#[derive(Debug, Clone)]
pub(crate) struct NumberCell {
    form: Form,
    at: usize,
    width: usize,
    decimals: u8,
    /// Digits beyond the decimals are rounded.
    rounds: bool,
    /// What a column of it holds: an exponent tells more than the digits of its width.
    held: RangeInclusive<i128>,
}

#[derive(Debug, Clone)]
enum Form {
    /// Digits that end with a word, after it was shifted up.
    Short(Shape<u64>, Load),
    Long(Shape<u128>, Load),
    /// Digits of any length.
    Digits,
    Date(Load),
    DateBinary,
    DatePacked,
    Integer,
    IntegerDbase7,
    Counter,
    Time,
    Timestamp,
}

/// Where a word is read, and by how many bits it is shifted so that the field ends it.
#[derive(Debug, Clone, Copy)]
struct Load {
    at: usize,
    shift: u32,
}

impl Load {
    fn new(field: &Field, bytes: usize, stride: usize) -> Option<Self> {
        let end = field.offset + field.width;
        if let Some(at) = end.checked_sub(bytes).filter(|_| end <= stride) {
            return Some(Self { at, shift: 0 });
        }
        let shift = 8 * u32::try_from(bytes.checked_sub(field.width)?).ok()?;
        (field.offset + bytes <= stride).then_some(Self {
            at: field.offset,
            shift,
        })
    }
}

impl Load {
    #[inline(always)]
    fn word<const N: usize>(self, record: &[u8]) -> Option<[u8; N]> {
        record.get(self.at..)?.first_chunk().copied()
    }
}

impl NumberCell {
    /// The cell of a field of a table; `None` for fields that are no whole numbers.
    pub(crate) fn new(field: &Field, table: &Table) -> Option<Self> {
        let (width, decimals, stride) = (field.width, field.decimals, table.stride());
        let form = match field.kind {
            FieldKind::Numeric | FieldKind::Float => {
                let short = Shape::<u64>::new(width, decimals).zip(Load::new(field, 8, stride));
                let long = || Shape::<u128>::new(width, decimals).zip(Load::new(field, 16, stride));
                match short {
                    Some((shape, load)) => Form::Short(shape, load),
                    None => long().map_or(Form::Digits, |(shape, load)| Form::Long(shape, load)),
                }
            }
            FieldKind::Date => Form::Date(Load::new(field, 8, stride)?),
            FieldKind::DateBinary => Form::DateBinary,
            FieldKind::DatePacked => Form::DatePacked,
            FieldKind::Integer | FieldKind::Currency => Form::Integer,
            FieldKind::IntegerDbase7 => Form::IntegerDbase7,
            FieldKind::Counter => Form::Counter,
            FieldKind::Time => Form::Time,
            FieldKind::Timestamp => Form::Timestamp,
            _ => return None,
        };
        Some(Self {
            form,
            at: field.offset,
            width,
            decimals: if field.kind == FieldKind::Currency { 4 } else { decimals },
            rounds: table.rounds(field),
            held: field.numbers(),
        })
    }

    /// The digits behind the point that the whole numbers have.
    pub(crate) fn decimals(&self) -> u8 {
        self.decimals
    }

    /// One bit a record from its number. [`Number::Other`] is what only the row form can read.
    #[inline(always)]
    pub(crate) fn collect(&self, block: &Block<'_>, out: &mut [u64], mut test: impl FnMut(Number<i64>) -> bool) {
        match &self.form {
            Form::Short(shape, load) => block.collect_words::<8>(out, load.at, |word| {
                let word = (u64::from_le_bytes(word) << load.shift).to_le_bytes();
                test(match shape.parse(word) {
                    Number::Other => self.digits(word.get(8 - self.width..).unwrap_or_default()),
                    number => number,
                })
            }),
            Form::Long(shape, load) => block.collect_words::<16>(out, load.at, |word| {
                let word = (u128::from_le_bytes(word) << load.shift).to_le_bytes();
                test(match shape.parse(word) {
                    Number::Other => self.digits(word.get(16 - self.width..).unwrap_or_default()),
                    number => number,
                })
            }),
            Form::Date(load) => block.collect_words::<8>(out, load.at, |word| test(day(word))),
            Form::Integer => block.collect(out, |record| test(Number::Value(column::integer(self.cell(record))))),
            _ => block.collect(out, |record| test(self.read(record))),
        }
    }

    /// The shape of digits that one word holds, where it is read and how far it is shifted.
    pub(crate) fn short(&self) -> Option<(Shape<u64>, usize, u32)> {
        match &self.form {
            Form::Short(shape, load) => Some((*shape, load.at, load.shift)),
            _ => None,
        }
    }

    /// The number of a record exactly, also where it is longer than 64 bits; `None` is blank.
    ///
    /// # Errors
    /// When the bytes are no number that the column holds.
    pub(crate) fn exact(&self, record: &[u8]) -> Result<Option<i128>, ()> {
        match self.read(record) {
            Number::Value(number) => Ok(Some(i128::from(number))),
            Number::Blank => Ok(None),
            Number::Other => self.parsed(self.cell(record)),
        }
    }

    /// The number of a record.
    #[inline]
    pub(crate) fn read(&self, record: &[u8]) -> Number<i64> {
        let cell = self.cell(record);
        let days = |days: Result<Option<i32>, _>| match days {
            Ok(Some(days)) => written(days),
            Ok(None) => Number::Blank,
            Err(_) => Number::Other,
        };
        match &self.form {
            Form::Short(shape, load) => match load.word::<8>(record) {
                Some(word) => match shape.parse((u64::from_le_bytes(word) << load.shift).to_le_bytes()) {
                    Number::Other => self.digits(cell),
                    number => number,
                },
                None => Number::Other,
            },
            Form::Long(shape, load) => match load.word::<16>(record) {
                Some(word) => match shape.parse((u128::from_le_bytes(word) << load.shift).to_le_bytes()) {
                    Number::Other => self.digits(cell),
                    number => number,
                },
                None => Number::Other,
            },
            Form::Digits => self.digits(cell),
            Form::Date(_) => cell.first_chunk().map_or(Number::Other, |word| day(*word)),
            Form::DateBinary => days(column::date_binary(cell)),
            Form::DatePacked => days(column::date_packed(cell)),
            Form::Integer => Number::Value(column::integer(cell)),
            Form::IntegerDbase7 => column::integer_dbase7(cell).map_or(Number::Blank, Number::Value),
            Form::Counter => u32_at(cell, 0).map_or(Number::Other, |number| Number::Value(number.into())),
            Form::Time => match column::time(cell) {
                Ok(ms) => Number::Value(ms.map_or(0, i64::from)),
                Err(_) => Number::Other,
            },
            Form::Timestamp => match column::timestamp(cell) {
                Ok(Some(ms)) => Number::Value(ms.saturating_add(UNIX_EPOCH * DAY_MS)),
                Ok(None) => Number::Blank,
                Err(_) => Number::Other,
            },
        }
    }

    fn cell<'a>(&self, record: &'a [u8]) -> &'a [u8] {
        record.get(self.at..self.at + self.width).unwrap_or_default()
    }

    #[cold]
    fn digits(&self, cell: &[u8]) -> Number<i64> {
        match self.parsed(cell) {
            Ok(None) => Number::Blank,
            Ok(Some(value)) => i64::try_from(value).map_or(Number::Other, Number::Value),
            Err(()) => Number::Other,
        }
    }

    fn parsed(&self, cell: &[u8]) -> Result<Option<i128>, ()> {
        let number = parse_text(cell, self.decimals, self.rounds).map_err(|_| ())?;
        match number.is_none_or(|number| self.held.contains(&number)) {
            true => Ok(number),
            false => Err(()),
        }
    }
}

/// The number that a day is written as; [`Number::Blank`] for no day.
#[inline(always)]
fn day(word: [u8; 8]) -> Number<i64> {
    match Shape::<u64>::new(8, 0).map(|shape| shape.parse(word)) {
        Some(number) if plain_day(word).1 => number,
        _ => uncommon_day(word),
    }
}

/// The eight digits of a day, the first one highest (blanks are zeros), and whether they are certainly one of the calendar
/// or none.
#[inline(always)]
fn plain_day(word: [u8; 8]) -> (u64, bool) {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const UPPER: u64 = 0xF0F0_F0F0_F0F0_F0F0;
    let digits = u64::from_be_bytes(word);
    let above = digits.wrapping_add(0x0606_0606_0606_0606);
    let (month, day) = (digits >> 16 & 0xFFFF, digits & 0xFFFF);
    // A day up to 28 is one of every month.
    let is_day = (((digits ^ ZEROS) | (above ^ ZEROS)) & UPPER == 0)
        & (digits >> 32 != ZEROS >> 32)
        & (month.wrapping_sub(0x3031) <= 0x3132 - 0x3031)
        & (day.wrapping_sub(0x3031) <= 0x3238 - 0x3031);
    let is_none = (digits == 0x2020_2020_2020_2020) | (digits == ZEROS);
    (digits | 0x1010_1010_1010_1010, is_day | is_none)
}

#[cold]
fn uncommon_day(word: [u8; 8]) -> Number<i64> {
    match column::date(&word) {
        Ok(Some(days)) => written(days),
        Ok(None) => Number::Blank,
        Err(_) => Number::Other,
    }
}

/// A day as YYYYMMDD writes it, from days since 1970-01-01.
pub(crate) fn written(days: i32) -> Number<i64> {
    let (year, month, day) = julian::civil_from_unix_days(days);
    Number::Value(i64::from(year) * 10_000 + i64::from(month) * 100 + i64::from(day))
}

/// What tells of some cells whether they have their usual form.
#[derive(Default)]
struct Seen<W> {
    excess: W,
    bytes: W,
}

impl<W: std::ops::BitOrAssign> Seen<W> {
    #[inline(always)]
    fn see(&mut self, excess: W, bytes: W) {
        self.excess |= excess;
        self.bytes |= bytes;
    }
}

/// Whether the number of a record lies between two, both included; a blank one is 0.
#[derive(Debug, Clone)]
pub(crate) struct NumberTest {
    pub(crate) cell: NumberCell,
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// Whether those outside are meant.
    pub(crate) is_outside: bool,
}

impl NumberTest {
    /// One bit a record.
    pub(crate) fn run(&self, block: &Block<'_>, out: &mut [u64]) -> Understood {
        match &self.cell.form {
            Form::Short(shape, load) => {
                let [low, high] = self
                    .bounds(|number| shape.plain_digits(number))
                    .unwrap_or([u64::MAX; 2]);
                let span = high - low;
                match load.shift {
                    0 => self.run_plain::<8, _>(
                        block,
                        out,
                        load.at,
                        |word, seen| {
                            let plain = shape.plain(word);
                            seen.see(plain.excess, plain.bytes);
                            plain.digits.wrapping_sub(low) <= span
                        },
                        |seen| shape.is_plain(seen.excess, seen.bytes),
                    ),
                    shift => self.run_plain::<8, _>(
                        block,
                        out,
                        load.at,
                        |word, seen| {
                            let plain = shape.plain((u64::from_le_bytes(word) << shift).to_le_bytes());
                            seen.see(plain.excess, plain.bytes);
                            plain.digits.wrapping_sub(low) <= span
                        },
                        |seen| shape.is_plain(seen.excess, seen.bytes),
                    ),
                }
            }
            Form::Long(shape, load) => {
                let [low, high] = self
                    .bounds(|number| shape.plain_digits(number))
                    .unwrap_or([u128::MAX; 2]);
                let span = high - low;
                self.run_plain::<16, _>(
                    block,
                    out,
                    load.at,
                    |word, seen| {
                        let plain = shape.plain((u128::from_le_bytes(word) << load.shift).to_le_bytes());
                        seen.see(plain.excess, plain.bytes);
                        plain.digits.wrapping_sub(low) <= span
                    },
                    |seen| shape.is_plain(seen.excess, seen.bytes),
                )
            }
            Form::Date(load) => {
                let text = |number: i64| {
                    let text = format!("{number:08}").into_bytes();
                    text.try_into().ok().map(u64::from_be_bytes)
                };
                let [low, high] = self.bounds(text).unwrap_or([u64::MAX; 2]);
                self.run_plain::<8, _>(
                    block,
                    out,
                    load.at,
                    |word, seen: &mut Seen<bool>| {
                        let (text, is_day) = plain_day(word);
                        seen.see(!is_day, false);
                        text.wrapping_sub(low) <= high - low
                    },
                    |seen| !seen.excess,
                )
            }
            _ => self.run_any(block, out),
        }
    }

    /// The bounds as texts; `None` where they hold no number that such a text can be.
    fn bounds<W: Copy + PartialEq>(&self, text: impl Fn(i64) -> Option<W>) -> Option<[W; 2]> {
        let (low, mut high) = (self.low.max(0), self.high);
        if low > high {
            return None;
        }
        let low = text(low)?;
        while text(high).is_none() {
            // Some power of ten less one is the greatest that fits.
            high = i64::try_from(10_u64.pow(high.ilog10()) - 1).ok()?;
        }
        Some([low, text(high)?])
    }

    /// As `test` says; 64 records with one whose form it did not know are read anew.
    #[inline(always)]
    fn run_plain<const N: usize, W: Default>(
        &self,
        block: &Block<'_>,
        out: &mut [u64],
        at: usize,
        test: impl Fn([u8; N], &mut Seen<W>) -> bool,
        is_plain: impl Fn(&Seen<W>) -> bool,
    ) -> Understood {
        let mut understood = Understood::Yes;
        for (word, part) in out.iter_mut().zip(block.words()) {
            let mut seen = Seen::default();
            part.collect_words::<N>(std::slice::from_mut(word), at, |bytes| test(bytes, &mut seen));
            if !is_plain(&seen) {
                if self.run_any(&part, std::slice::from_mut(word)) == Understood::No {
                    understood = Understood::No;
                }
            } else if self.is_outside {
                *word = !*word;
            }
        }
        understood
    }

    fn run_any(&self, block: &Block<'_>, out: &mut [u64]) -> Understood {
        let (mut understood, low, is_outside) = (true, self.low, self.is_outside);
        let is_empty = self.low > self.high;
        let span = self.high.wrapping_sub(low).cast_unsigned();
        self.cell.collect(block, out, |number| {
            let number = match number {
                Number::Value(number) => number,
                Number::Blank => 0,
                Number::Other => {
                    understood = false;
                    0
                }
            };
            ((number.wrapping_sub(low).cast_unsigned() <= span) & !is_empty) != is_outside
        });
        Understood::when(understood)
    }
}

/// Whether the double of a record lies between two, both included. What is no number lies nowhere.
#[derive(Debug, Clone)]
pub(crate) struct DoubleTest {
    pub(crate) at: usize,
    /// Whether the bytes sort, as dBASE 7 has them.
    pub(crate) sorts: bool,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_outside: bool,
}

impl DoubleTest {
    pub(crate) fn run(&self, block: &Block<'_>, out: &mut [u64]) {
        block.collect_words::<8>(out, self.at, |word| {
            let number = match self.sorts {
                true => column::double_dbase7(u64::from_be_bytes(word)).unwrap_or(0.0),
                false => f64::from_le_bytes(word),
            };
            (self.low <= number && number <= self.high) != self.is_outside
        });
    }
}
