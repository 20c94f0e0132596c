//! The type of a column, from its declaration and its stored values.
//!
//! SQLite stores whole numbers, floating-point numbers, text and bytes, in any column (*Datatypes In SQLite*, sqlite.org/datatype3.html).
//! Logicals, decimals, dates and times are conventions of programs, indicated by the declared type:
//!
//! | declared | stored | Arrow |
//! |---|---|---|
//! | `INTEGER`, all with `INT` | whole number | Int64 |
//! | `BOOLEAN`, `BOOL` | 0 or 1 | Boolean |
//! | `REAL`, `DOUBLE`, `FLOAT` | number | Float64 |
//! | `DECIMAL(p, s)`, `NUMERIC(p, s)` of at most 15 digits | number | Decimal128(p, s) |
//! | `TEXT`, `CHAR`, `CLOB` | text | Utf8 |
//! | `BLOB` | bytes | Binary |
//! | `DATE` | `2024-02-29` | Date32 |
//! | `DATETIME`, `TIMESTAMP` | `2024-02-29 13:05:59.25`, also with `T` | Timestamp(µs) |
//! | `TIMESTAMPTZ` | the same with `Z` or an offset | Timestamp(µs, "UTC") |
//! | `TIME` | `13:05:59.25` | Time64(µs) |
//!
//! If the first rows do not conform to it, or nothing is declared, the stored values decide: all whole numbers, all numbers, or text.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float64Builder, Int64Builder,
    StringBuilder, Time64MicrosecondBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::types::{Decimal128Type, DecimalType};
use arrow_schema::{DataType, Field, TimeUnit};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use rusqlite::types::ValueRef;

use crate::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Boolean,
    Real,
    Decimal(u8, i8),
    Text,
    Blob,
    Date,
    Timestamp { zoned: bool },
    Time,
}

/// Decimals that a floating-point number represents exactly.
const EXACT_DIGITS: u8 = 15;

impl Kind {
    /// The type of a declaration; `None` if only the values show it.
    pub(super) fn declared(declaration: &str) -> Option<Self> {
        let text = declaration.to_ascii_uppercase();
        let (name, arguments) = match text.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.split(')').next()),
            None => (text.trim(), None),
        };
        Some(match name {
            "BOOLEAN" | "BOOL" => Self::Boolean,
            "DATE" => Self::Date,
            "TIME" => Self::Time,
            "TIMESTAMPTZ" | "DATETIMETZ" | "TIMESTAMP WITH TIME ZONE" => Self::Timestamp { zoned: true },
            "DATETIME" | "TIMESTAMP" => Self::Timestamp { zoned: false },
            "DECIMAL" | "NUMERIC" | "NUMBER" => {
                let (precision, scale) = arguments?.split_once(',').unwrap_or((arguments?, "0"));
                let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
                let is_exact = (1..=EXACT_DIGITS).contains(&precision) && (0..=precision as i8).contains(&scale);
                is_exact.then_some(Self::Decimal(precision, scale))?
            }
            // The rules of "Determination Of Column Affinity", in their order.
            _ if name.contains("INT") => Self::Integer,
            _ if ["CHAR", "CLOB", "TEXT"].iter().any(|text| name.contains(text)) => Self::Text,
            _ if name.contains("BLOB") => Self::Blob,
            _ if ["REAL", "FLOA", "DOUB"].iter().any(|real| name.contains(real)) => Self::Real,
            _ => return None,
        })
    }

    /// The type for the values of an Arrow column.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a type that SQLite has no values for.
    pub(super) fn of_arrow(field: &Field, place: &str) -> Result<Self> {
        use DataType as A;
        let of = |data_type: &DataType| {
            Some(match data_type {
                A::Int8 | A::Int16 | A::Int32 | A::Int64 | A::UInt8 | A::UInt16 | A::UInt32 | A::UInt64 => {
                    Self::Integer
                }
                A::Boolean => Self::Boolean,
                A::Float16 | A::Float32 | A::Float64 => Self::Real,
                A::Decimal32(precision, scale) | A::Decimal64(precision, scale) | A::Decimal128(precision, scale)
                    if *precision <= EXACT_DIGITS && *scale >= 0 =>
                {
                    Self::Decimal(*precision, *scale)
                }
                A::Null | A::Utf8 | A::LargeUtf8 | A::Utf8View => Self::Text,
                A::Decimal32(..) | A::Decimal64(..) | A::Decimal128(..) | A::Decimal256(..) => Self::Text,
                A::Binary | A::LargeBinary | A::BinaryView | A::FixedSizeBinary(_) => Self::Blob,
                A::Date32 => Self::Date,
                A::Date64 => Self::Timestamp { zoned: false },
                A::Timestamp(_, zone) => Self::Timestamp { zoned: zone.is_some() },
                A::Time32(_) | A::Time64(_) => Self::Time,
                _ => return None,
            })
        };
        let data_type = match field.data_type() {
            A::Dictionary(_, values) => values,
            data_type => data_type,
        };
        of(data_type).ok_or_else(|| Error::Unsupported {
            what: format!("{place}: column {}: {data_type} in SQLite", field.name()),
            hint: "cast it to text with a SELECT, or leave it out".to_owned(),
        })
    }

    /// The declaration in a new table.
    pub(super) fn declaration(self) -> String {
        match self {
            Self::Integer => "INTEGER".to_owned(),
            Self::Boolean => "BOOLEAN".to_owned(),
            Self::Real => "REAL".to_owned(),
            Self::Decimal(precision, scale) => format!("DECIMAL({precision}, {scale})"),
            Self::Text => "TEXT".to_owned(),
            Self::Blob => "BLOB".to_owned(),
            Self::Date => "DATE".to_owned(),
            Self::Timestamp { zoned: false } => "DATETIME".to_owned(),
            Self::Timestamp { zoned: true } => "TIMESTAMPTZ".to_owned(),
            Self::Time => "TIME".to_owned(),
        }
    }

    /// The Arrow type of its values.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Integer => DataType::Int64,
            Self::Boolean => DataType::Boolean,
            Self::Real => DataType::Float64,
            Self::Decimal(precision, scale) => DataType::Decimal128(precision, scale),
            Self::Text => DataType::Utf8,
            Self::Blob => DataType::Binary,
            Self::Date => DataType::Date32,
            Self::Timestamp { zoned } => DataType::Timestamp(TimeUnit::Microsecond, zoned.then(|| "UTC".into())),
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
        }
    }
}

/// The types of the values seen so far.
#[derive(Debug)]
pub(super) struct Seen {
    declared: Option<Kind>,
    /// Accepts values of the declared type.
    column: Option<Column>,
    /// Whether a value was not of the declared type.
    is_other: bool,
    integers: bool,
    reals: bool,
    texts: bool,
    blobs: bool,
}

impl Seen {
    pub(super) fn new(declared: Option<Kind>) -> Self {
        Self {
            column: declared.map(|kind| Column::new(Type::of(kind), 0)),
            declared,
            is_other: false,
            integers: false,
            reals: false,
            texts: false,
            blobs: false,
        }
    }

    pub(super) fn look_at(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => return,
            ValueRef::Integer(_) => self.integers = true,
            ValueRef::Real(_) => self.reals = true,
            ValueRef::Text(_) => self.texts = true,
            ValueRef::Blob(_) => self.blobs = true,
        }
        self.is_other |= self.column.as_mut().is_none_or(|column| !column.push(value));
    }

    /// The type of the column.
    pub(super) fn decide(self) -> Type {
        let (kind, is_converted) = match self.declared {
            Some(kind) if !self.is_other => (kind, false),
            _ if self.blobs => (Kind::Blob, self.integers || self.reals || self.texts),
            _ if self.texts => (Kind::Text, self.integers || self.reals),
            _ if self.reals => (Kind::Real, false),
            _ if self.integers => (Kind::Integer, false),
            _ => (Kind::Text, true),
        };
        Type { kind, is_converted }
    }
}

/// The type of a column, and whether values of other types are converted to it, to text or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) kind: Kind,
    pub(super) is_converted: bool,
}

impl Type {
    pub(super) fn of(kind: Kind) -> Self {
        Self {
            kind,
            is_converted: false,
        }
    }
}

/// A builder of the values of a column.
#[derive(Debug)]
pub(super) enum Column {
    Integer(Int64Builder),
    Boolean(BooleanBuilder),
    Real(Float64Builder),
    Decimal(Decimal128Builder, u8, i8),
    Text(StringBuilder, bool),
    Blob(BinaryBuilder, bool),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder, bool),
    Time(Time64MicrosecondBuilder),
}

impl Column {
    pub(super) fn new(Type { kind, is_converted }: Type, rows: usize) -> Self {
        match kind {
            Kind::Integer => Self::Integer(Int64Builder::with_capacity(rows)),
            Kind::Boolean => Self::Boolean(BooleanBuilder::with_capacity(rows)),
            Kind::Real => Self::Real(Float64Builder::with_capacity(rows)),
            Kind::Decimal(precision, scale) => {
                let builder = Decimal128Builder::with_capacity(rows).with_data_type(kind.data_type());
                Self::Decimal(builder, precision, scale)
            }
            Kind::Text => Self::Text(StringBuilder::with_capacity(rows, 16 * rows), is_converted),
            Kind::Blob => Self::Blob(BinaryBuilder::with_capacity(rows, 16 * rows), is_converted),
            Kind::Date => Self::Date(Date32Builder::with_capacity(rows)),
            Kind::Timestamp { zoned } => {
                let builder = TimestampMicrosecondBuilder::with_capacity(rows).with_data_type(kind.data_type());
                Self::Timestamp(builder, zoned)
            }
            Kind::Time => Self::Time(Time64MicrosecondBuilder::with_capacity(rows)),
        }
    }

    /// Adds a value. Returns false, without adding it, if it is not of the column's type.
    pub(super) fn push(&mut self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (column, ValueRef::Null) => column.push_null(),
            (Self::Integer(values), ValueRef::Integer(value)) => values.append_value(value),
            (Self::Boolean(values), ValueRef::Integer(value @ (0 | 1))) => values.append_value(value == 1),
            (Self::Real(values), ValueRef::Real(value)) => values.append_value(value),
            (Self::Real(values), ValueRef::Integer(value)) if (value as f64) as i64 == value => {
                values.append_value(value as f64);
            }
            (Self::Decimal(values, precision, scale), value) => match decimal(value, *precision, *scale) {
                Some(value) => values.append_value(value),
                None => return false,
            },
            (Self::Text(values, _), ValueRef::Text(text)) => match std::str::from_utf8(text) {
                Ok(text) => values.append_value(text),
                Err(_) => return false,
            },
            (Self::Text(values, true), ValueRef::Integer(value)) => values.append_value(value.to_string()),
            (Self::Text(values, true), ValueRef::Real(value)) => values.append_value(format!("{value:?}")),
            (Self::Text(values, true), ValueRef::Blob(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => values.append_value(text),
                Err(_) => return false,
            },
            (Self::Blob(values, _), ValueRef::Blob(bytes)) => values.append_value(bytes),
            (Self::Blob(values, true), ValueRef::Text(text)) => values.append_value(text),
            (Self::Blob(values, true), ValueRef::Integer(value)) => values.append_value(value.to_string()),
            (Self::Blob(values, true), ValueRef::Real(value)) => values.append_value(format!("{value:?}")),
            (Self::Date(values), ValueRef::Text(text)) => match date(text) {
                Some(date) => values.append_value(days(date)),
                None => return false,
            },
            (Self::Timestamp(values, zoned), ValueRef::Text(text)) => match timestamp(text, *zoned) {
                Some(micros) => values.append_value(micros),
                None => return false,
            },
            (Self::Time(values), ValueRef::Text(text)) => match std::str::from_utf8(text).ok().and_then(time) {
                Some(time) => values.append_value(micros_of_day(time)),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    pub(super) fn push_null(&mut self) {
        match self {
            Self::Integer(values) => values.append_null(),
            Self::Boolean(values) => values.append_null(),
            Self::Real(values) => values.append_null(),
            Self::Decimal(values, ..) => values.append_null(),
            Self::Text(values, _) => values.append_null(),
            Self::Blob(values, _) => values.append_null(),
            Self::Date(values) => values.append_null(),
            Self::Timestamp(values, _) => values.append_null(),
            Self::Time(values) => values.append_null(),
        }
    }

    /// Takes the values added so far.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Integer(values) => ArrayBuilder::finish(values),
            Self::Boolean(values) => ArrayBuilder::finish(values),
            Self::Real(values) => ArrayBuilder::finish(values),
            Self::Decimal(values, ..) => ArrayBuilder::finish(values),
            Self::Text(values, _) => Arc::new(values.finish()),
            Self::Blob(values, _) => Arc::new(values.finish()),
            Self::Date(values) => ArrayBuilder::finish(values),
            Self::Timestamp(values, _) => ArrayBuilder::finish(values),
            Self::Time(values) => ArrayBuilder::finish(values),
        }
    }
}

/// A value of at most 15 digits; `None` if it has more decimals than the column.
fn decimal(value: ValueRef<'_>, precision: u8, scale: i8) -> Option<i128> {
    let factor = 10_i128.checked_pow(u32::try_from(scale).ok()?)?;
    let digits = match value {
        ValueRef::Integer(value) => i128::from(value).checked_mul(factor)?,
        ValueRef::Real(value) => {
            let digits = (value * factor as f64).round();
            // The nearest floating-point number to these digits is this one.
            (digits.abs() < 1e15 && digits / factor as f64 == value).then_some(digits as i128)?
        }
        _ => return None,
    };
    Decimal128Type::validate_decimal_precision(digits, precision, scale).ok()?;
    Some(digits)
}

fn date(text: &[u8]) -> Option<NaiveDate> {
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *text else {
        return None;
    };
    let number = |digits: &[u8]| {
        let digit = |so_far: Option<u32>, digit: &u8| match digit {
            b'0'..=b'9' => Some(so_far? * 10 + u32::from(digit - b'0')),
            _ => None,
        };
        digits.iter().fold(Some(0), digit)
    };
    let year = i32::try_from(number(&[y0, y1, y2, y3])?).ok()?;
    NaiveDate::from_ymd_opt(year, number(&[m0, m1])?, number(&[d0, d1])?)
}

/// Days since 1970-01-01.
fn days(date: NaiveDate) -> i32 {
    date.to_epoch_days()
}

fn time(text: &str) -> Option<NaiveTime> {
    let formats = match text.len() {
        5 => "%H:%M",
        8 => "%H:%M:%S",
        _ => "%H:%M:%S%.f",
    };
    let time = NaiveTime::parse_from_str(text, formats).ok()?;
    (time.nanosecond() % 1_000 == 0).then_some(time)
}

fn micros_of_day(time: NaiveTime) -> i64 {
    i64::from(time.num_seconds_from_midnight()) * 1_000_000 + i64::from(time.nanosecond() / 1_000)
}

/// Microseconds since 1970-01-01.
fn timestamp(text: &[u8], zoned: bool) -> Option<i64> {
    let (day, rest) = text.split_at_checked(10)?;
    let day = date(day)?;
    let rest = std::str::from_utf8(rest).ok()?;
    if rest.is_empty() && !zoned {
        return Some(day.and_time(NaiveTime::MIN).and_utc().timestamp_micros());
    }
    let rest = rest.strip_prefix(' ').or_else(|| rest.strip_prefix('T'))?;
    let (clock, offset) = match rest.find(['Z', '+', '-']) {
        Some(at) => (rest[..at].trim_end(), Some(&rest[at..])),
        None => (rest, None),
    };
    let local = day.and_time(time(clock)?);
    let seconds = match (offset, zoned) {
        (None, false) | (Some("Z"), true) => 0,
        (Some(offset), true) => seconds_east(offset)?,
        _ => return None,
    };
    Some(local.and_utc().timestamp_micros() - seconds * 1_000_000)
}

/// The seconds of `+HH:MM`.
fn seconds_east(offset: &str) -> Option<i64> {
    let (sign, clock) = match offset.strip_prefix('-') {
        Some(clock) => (-1, clock),
        None => (1, offset.strip_prefix('+')?),
    };
    let clock = NaiveTime::parse_from_str(clock, "%H:%M").ok()?;
    Some(sign * i64::from(clock.num_seconds_from_midnight()))
}

/// Appends the text of a date; `None` outside the years that SQLite supports, 0000 to 9999.
pub(super) fn write_date(days: i32, text: &mut String) -> Option<ValueRef<'_>> {
    let date = in_range(NaiveDate::from_epoch_days(days)?)?;
    written(text, format_args!("{date}"))
}

/// The text of an instant, in a format of SQLite's own functions.
pub(super) fn write_timestamp(micros: i64, zoned: bool, text: &mut String) -> Option<ValueRef<'_>> {
    let time: NaiveDateTime = DateTime::from_timestamp_micros(micros)?.naive_utc();
    in_range(time.date())?;
    let zone = if zoned { "Z" } else { "" };
    written(text, format_args!("{time}{zone}"))
}

pub(super) fn write_time(micros: i64, text: &mut String) -> Option<ValueRef<'_>> {
    let (seconds, micros) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let nanos = u32::try_from(micros).ok()? * 1_000;
    let time = NaiveTime::from_num_seconds_from_midnight_opt(u32::try_from(seconds).ok()?, nanos)?;
    written(text, format_args!("{time}"))
}

fn written<'t>(text: &'t mut String, value: fmt::Arguments<'_>) -> Option<ValueRef<'t>> {
    text.write_fmt(value).ok()?;
    Some(ValueRef::Text(text.as_bytes()))
}

fn in_range(date: NaiveDate) -> Option<NaiveDate> {
    use chrono::Datelike;
    (0..=9999).contains(&date.year()).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_name_types_as_sqlite_and_its_users_read_them() {
        for (declaration, kind) in [
            ("INTEGER", Some(Kind::Integer)),
            ("unsigned big int", Some(Kind::Integer)),
            ("varchar(255)", Some(Kind::Text)),
            ("NCHAR(55)", Some(Kind::Text)),
            ("blob", Some(Kind::Blob)),
            ("DOUBLE PRECISION", Some(Kind::Real)),
            ("decimal(10,2)", Some(Kind::Decimal(10, 2))),
            ("NUMERIC(9)", Some(Kind::Decimal(9, 0))),
            ("NUMERIC(20, 2)", None),
            ("NUMERIC", None),
            ("DECIMAL(5, 9)", None),
            ("Boolean", Some(Kind::Boolean)),
            ("DATE", Some(Kind::Date)),
            ("timestamp", Some(Kind::Timestamp { zoned: false })),
            ("TIMESTAMP WITH TIME ZONE", Some(Kind::Timestamp { zoned: true })),
            ("time", Some(Kind::Time)),
            ("", None),
        ] {
            assert_eq!(Kind::declared(declaration), kind, "{declaration}");
        }
    }

    #[test]
    fn texts_are_dates_and_times_where_all_of_them_is_one() {
        let at = |text: &str, zoned| timestamp(text.as_bytes(), zoned);
        assert_eq!(at("1970-01-02", false), Some(86_400_000_000));
        assert_eq!(at("1970-01-01T00:00:01.5", false), Some(1_500_000));
        assert_eq!(at("1970-01-01 00:01", false), Some(60_000_000));
        assert_eq!(at("1970-01-01 01:00:00+01:00", true), Some(0));
        assert_eq!(at("1970-01-01 00:00:00Z", true), Some(0));
        assert_eq!(at("1970-01-01 00:00:00Z", false), None);
        assert_eq!(at("1970-01-01 00:00:00", true), None);
        assert_eq!(at("1970-01-01x00:00:00", false), None);
        assert_eq!(at("01.02.1970", false), None);
        assert_eq!(at("1970-02-30", false), None);
        assert_eq!(at("é970-02-30", false), None);
        for micros in [0, 1, 1_500_000, -62_167_219_200_000_000] {
            let mut text = String::new();
            write_timestamp(micros, false, &mut text).expect("a time");
            assert_eq!(at(&text, false), Some(micros), "{text}");
        }
        assert_eq!(write_timestamp(i64::MAX, false, &mut String::new()), None);
        assert_eq!(write_date(-1, &mut String::new()), Some(ValueRef::Text(b"1969-12-31")));
        assert_eq!(
            write_time(47_159_250_000, &mut String::new()),
            Some(ValueRef::Text(b"13:05:59.250"))
        );
    }

    #[test]
    fn a_number_is_a_decimal_of_all_its_digits_or_none() {
        let of = |value: f64| decimal(ValueRef::Real(value), 15, 2);
        assert_eq!(of(0.1), Some(10));
        assert_eq!(of(-9_999_999_999_999.99), Some(-999_999_999_999_999));
        assert_eq!(of(0.125), None);
        assert_eq!(of(f64::NAN), None);
        assert_eq!(decimal(ValueRef::Integer(7), 3, 2), Some(700));
        assert_eq!(decimal(ValueRef::Integer(70), 3, 2), None);
    }
}
