//! One record as the row form sees it.

use super::value::{DAY_MS, Type, Value};
use crate::column;
use crate::digits::{parse_text, trim};
use crate::error::{BadValue, Error, Result};
use crate::field::{Field, FieldKind};
use crate::header::u32_at;
use crate::numeric_text;
use crate::table::Table;
use crate::wide;

/// The values of one record.
pub trait Record {
    /// The value of a field, by its place among the fields that the program was compiled for. A character field has its
    /// whole width.
    ///
    /// # Errors
    /// When the value cannot be had.
    fn value(&self, field: usize) -> Result<Value<'_>>;

    /// As [`Record::value`], for keys that Visual FoxPro makes: a moment is a whole second, and stars in a number, which say that it was
    /// too wide for its field, are higher than every number.
    ///
    /// # Errors
    /// As [`Record::value`].
    fn foxpro_value(&self, field: usize) -> Result<Value<'_>> {
        self.value(field)
    }

    /// `RECNO()`: the number of the record, counted from 1.
    fn record_no(&self) -> u32;

    /// `DELETED()`.
    fn is_deleted(&self) -> bool;
}

/// A record as its bytes stand in the table.
#[derive(Debug, Clone, Copy)]
pub struct RecordBytes<'a> {
    table: &'a Table,
    record_no: u32,
    bytes: &'a [u8],
}

impl<'a> RecordBytes<'a> {
    /// The record with this number, counted from 1; `bytes` begin with the deletion flag.
    pub fn new(table: &'a Table, record_no: u32, bytes: &'a [u8]) -> Self {
        Self {
            table,
            record_no,
            bytes,
        }
    }

    /// What it is a record of.
    pub(crate) fn table(&self) -> &'a Table {
        self.table
    }

    /// The deletion flag and what follows it.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    fn has_bit(&self, bit: Option<u16>) -> bool {
        let (Some(bit), Some((offset, width))) = (bit, self.table.fields.null_flags) else {
            return false;
        };
        let at = usize::from(bit / 8);
        at < width
            && self
                .bytes
                .get(offset + at)
                .is_some_and(|flags| flags & (1 << (bit % 8)) != 0)
    }

    fn bad(&self, field: &Field, expected: &str) -> Error {
        Error::Value(Box::new(BadValue {
            path: self.table.path().to_owned(),
            record: self.record_no,
            field: field.name.clone(),
            expected: expected.to_owned(),
            found: format!("{:02x?}", self.cell(field)),
        }))
    }

    fn cell(&self, field: &Field) -> &'a [u8] {
        self.bytes
            .get(field.offset..field.offset + field.width)
            .unwrap_or_default()
    }
}

impl Record for RecordBytes<'_> {
    fn value(&self, field: usize) -> Result<Value<'_>> {
        let Some(field) = self.table.fields().get(field) else {
            return Err(Error::Misuse(format!("there is no field with index {field}")));
        };
        if field.width == 0
            || self
                .table
                .fields
                .null_test(field)
                .is_some_and(|null| null.is_null(self.bytes))
        {
            return Ok(Value::Null);
        }
        let cell = self.cell(field);
        if cell.len() != field.width {
            return Err(self.bad(field, "a record of the table's length"));
        }
        let days = |days: Result<Option<i32>, &'static str>| match days {
            Ok(days) => Ok(days.map_or(Value::Date(0), Value::from_unix_days)),
            Err(expected) => Err(self.bad(field, expected)),
        };
        match field.kind {
            FieldKind::Character | FieldKind::CharacterBinary => Ok(Value::text(cell)),
            FieldKind::Varchar | FieldKind::Varbinary => {
                let len = match (
                    self.has_bit(field.varlength_bit) || field.varlength_bit.is_none(),
                    cell.last(),
                ) {
                    (true, Some(len)) => usize::from(*len),
                    _ => cell.len(),
                };
                cell.get(..len)
                    .map(Value::text)
                    .ok_or_else(|| self.bad(field, "a length within the field"))
            }
            FieldKind::Numeric | FieldKind::Float => {
                if cell.iter().all(|b| matches!(b, b' ' | 0)) {
                    return Ok(Value::Number(0.0));
                }
                match parse_text(cell, field.decimals, self.table.rounds(field)) {
                    Ok(value) => Ok(Value::Number(scaled(value.unwrap_or(0), field.decimals))),
                    Err(expected) => Err(self.bad(field, expected)),
                }
            }
            FieldKind::NumericDouble => match numeric_text::double(cell) {
                Ok(value) => Ok(Value::Number(value.unwrap_or(0.0))),
                Err(expected) => Err(self.bad(field, expected)),
            },
            FieldKind::Logical => match cell {
                [b'T' | b't' | b'Y' | b'y' | b'1'] => Ok(Value::Logical(true)),
                [b'F' | b'f' | b'N' | b'n' | b'0' | b' ' | b'?' | 0] => Ok(Value::Logical(false)),
                _ => Err(self.bad(field, "one of T Y 1 F N 0 ? or a blank")),
            },
            FieldKind::Date => days(column::date(cell)),
            FieldKind::DateBinary => days(column::date_binary(cell)),
            FieldKind::DatePacked => days(column::date_packed(cell)),
            FieldKind::Integer => Ok(Value::Number(scaled(i128::from(column::integer(cell)), field.decimals))),
            FieldKind::Counter => Ok(Value::Number(f64::from(u32_at(cell, 0).unwrap_or_default()))),
            FieldKind::CharacterWide => wide::to_page(cell, self.table.codepage())
                .map(Value::text)
                .map_err(|expected| self.bad(field, expected)),
            FieldKind::VarcharWide => wide::varying_to_page(wide::varying(cell), self.table.codepage())
                .map(Value::text)
                .map_err(|expected| self.bad(field, expected)),
            FieldKind::IntegerDbase7 => {
                let value = column::integer_dbase7(cell).unwrap_or(0);
                Ok(Value::Number(scaled(i128::from(value), field.decimals)))
            }
            FieldKind::Currency => Ok(Value::Number(scaled(i128::from(column::integer(cell)), 4))),
            FieldKind::Double => match <[u8; 8]>::try_from(cell) {
                Ok(bytes) => Ok(Value::Number(f64::from_le_bytes(bytes))),
                Err(_) => Err(self.bad(field, "eight bytes")),
            },
            FieldKind::DoubleDbase7 => match <[u8; 8]>::try_from(cell) {
                Ok(bytes) => {
                    let value = column::double_dbase7(u64::from_be_bytes(bytes));
                    Ok(Value::Number(value.unwrap_or(0.0)))
                }
                Err(_) => Err(self.bad(field, "eight bytes")),
            },
            FieldKind::Time => match column::time(cell) {
                Ok(ms) => Ok(Value::Timestamp(i64::from(ms.unwrap_or(0)))),
                Err(expected) => Err(self.bad(field, expected)),
            },
            FieldKind::Timestamp | FieldKind::TimestampDbase7 => {
                let moment = match field.kind {
                    FieldKind::Timestamp => column::timestamp(cell),
                    _ => column::timestamp_dbase7(cell),
                };
                match moment {
                    Ok(ms) => Ok(ms.map_or(Value::Timestamp(0), Value::from_unix_ms)),
                    Err(expected) => Err(self.bad(field, expected)),
                }
            }
            FieldKind::Memo | FieldKind::MemoBinary | FieldKind::MemoWide | FieldKind::Variant | FieldKind::System => {
                Err(Error::Misuse(format!(
                    "field {}: its value is not in the record but in the memo file; evaluate over a batch instead",
                    field.name
                )))
            }
        }
    }

    fn foxpro_value(&self, field: usize) -> Result<Value<'_>> {
        let described = self.table.fields().get(field);
        Ok(match (self.value(field)?, described) {
            (Value::Timestamp(ms), Some(field)) if field.kind == FieldKind::Timestamp => {
                Value::Timestamp((ms + 500).div_euclid(1000) * 1000)
            }
            (Value::Number(_), Some(field)) if has_overflown(field, self.cell(field)) => Value::Number(f64::INFINITY),
            (value, _) => value,
        })
    }

    fn record_no(&self) -> u32 {
        self.record_no
    }

    fn is_deleted(&self) -> bool {
        self.table.deletion().is_deleted(self.bytes)
    }
}

/// Whether a number was too wide for its field, as FoxPro, Clipper and dBASE write it: in stars.
fn has_overflown(field: &Field, cell: &[u8]) -> bool {
    let is_text = matches!(
        field.kind,
        FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble
    );
    let text = trim(cell);
    is_text && !text.is_empty() && text.iter().all(|byte| *byte == b'*')
}

/// The record that an append makes: every field blank, number 0. It decides how long a key is.
pub(super) struct BlankRecord<'a> {
    pub(super) fields: &'a [Field],
}

impl Record for BlankRecord<'_> {
    fn value(&self, field: usize) -> Result<Value<'_>> {
        match self.fields.get(field) {
            // Keys of text of a varying length are as long as the longest.
            Some(field) if matches!(field.kind, FieldKind::Varchar | FieldKind::Varbinary) => {
                Ok(Value::text(vec![b' '; field.width]))
            }
            Some(field) if field.kind == FieldKind::VarcharWide => {
                Ok(Value::text(vec![b' '; (field.width / 2).saturating_sub(1)]))
            }
            Some(field) => Ok(blank(field)),
            None => Err(Error::Misuse(format!("there is no field with index {field}"))),
        }
    }

    fn record_no(&self) -> u32 {
        0
    }

    fn is_deleted(&self) -> bool {
        false
    }
}

/// What a field is in a blank record.
pub(crate) fn blank(field: &Field) -> Value<'static> {
    match type_of(field.kind) {
        Type::Character => Value::text(vec![b' '; full_width(field)]),
        Type::Number => Value::Number(0.0),
        Type::Logical => Value::Logical(false),
        Type::Date => Value::Date(0),
        Type::Timestamp => Value::Timestamp(0),
        Type::Null => Value::Null,
    }
}

/// The type of a field in expressions.
pub(crate) fn type_of(kind: FieldKind) -> Type {
    match kind {
        FieldKind::Character
        | FieldKind::CharacterBinary
        | FieldKind::CharacterWide
        | FieldKind::VarcharWide
        | FieldKind::Memo
        | FieldKind::MemoBinary
        | FieldKind::MemoWide
        | FieldKind::Varchar
        | FieldKind::Varbinary
        | FieldKind::Variant
        | FieldKind::System => Type::Character,
        FieldKind::Numeric
        | FieldKind::Float
        | FieldKind::NumericDouble
        | FieldKind::Integer
        | FieldKind::Counter
        | FieldKind::IntegerDbase7
        | FieldKind::Double
        | FieldKind::DoubleDbase7
        | FieldKind::Currency => Type::Number,
        FieldKind::Logical => Type::Logical,
        FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => Type::Date,
        FieldKind::Time | FieldKind::Timestamp | FieldKind::TimestampDbase7 => Type::Timestamp,
    }
}

/// How long every value of a field is: the width of padded text, else 0.
pub(super) fn full_width(field: &Field) -> usize {
    match field.kind {
        FieldKind::Character | FieldKind::CharacterBinary => field.width,
        FieldKind::CharacterWide => field.width / 2,
        _ => 0,
    }
}

/// A scaled integer as a double: rounded once where both fit a double, thus the double nearest to the decimal.
pub(crate) fn scaled(value: i128, decimals: u8) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "numbers are doubles in this language")]
    let value = value as f64;
    if decimals == 0 {
        value
    } else {
        value / power_of_ten(decimals)
    }
}

/// Ten to the power of the decimals, exact up to 22.
pub(super) fn power_of_ten(decimals: u8) -> f64 {
    10f64.powi(i32::from(decimals))
}

/// Milliseconds of a time of day as a timestamp without a day.
pub(super) fn time_of_day(ms: i32) -> i64 {
    i64::from(ms).rem_euclid(DAY_MS)
}
