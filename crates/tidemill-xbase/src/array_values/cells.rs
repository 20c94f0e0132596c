//! The cells of a field, filled from an array a column at a time.
//!
//! A loop for each pair of types whose values become bytes without a conversion. NULL, and what such a loop does not write (text
//! beyond ASCII, a number that is not one of the field's), is left to the caller, who takes every value there is, or refuses it.

use std::ops::Range;

use arrow_array::GenericByteArray;
use arrow_array::types::ByteArrayType;

use super::{ArrayValues, Scale, Typed};
use crate::error::Result;
use crate::field::FieldKind;
use crate::value::{Format, write_number};

/// The cells of one field in records that lie behind each other.
#[derive(Debug)]
pub(crate) struct Cells<'b> {
    pub(crate) records: &'b mut [u8],
    /// Bytes of a record, at least 1.
    pub(crate) stride: usize,
    /// Where the field is in each.
    pub(crate) place: Range<usize>,
}

/// Takes a row and its record, whose cell then holds anything.
type Other<'o> = &'o mut dyn FnMut(usize, &mut [u8]) -> Result<()>;

impl ArrayValues<'_> {
    /// Writes the values into the cells of a field, and calls `other` for each that is not written.
    ///
    /// # Errors
    /// The first of `other`.
    pub(crate) fn fill(&self, format: &Format, cells: Cells<'_>, other: Other<'_>) -> Result<()> {
        match format.kind {
            FieldKind::Numeric | FieldKind::Float => self.fill_numbers(format, cells, other),
            FieldKind::NumericDouble => self.fill_each(cells, other, |_, _| false),
            FieldKind::Character => self.fill_text(cells, other),
            _ => self.fill_binary(format.kind, cells, other),
        }
    }

    fn fill_numbers(&self, format: &Format, cells: Cells<'_>, other: Other<'_>) -> Result<()> {
        match self.typed {
            Typed::Int8(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::Int16(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::Int32(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::Int64(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::UInt8(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::UInt16(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::UInt32(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::UInt64(values) => self.fill_whole(values, 0, format, cells, other),
            Typed::Decimal32(values, Scale::Behind(scale)) => self.fill_whole(values, scale, format, cells, other),
            Typed::Decimal64(values, Scale::Behind(scale)) => self.fill_whole(values, scale, format, cells, other),
            Typed::Decimal128(values, Scale::Behind(scale)) => self.fill_whole(values, scale, format, cells, other),
            // All digits of a double are kept, which takes more to find.
            Typed::Single(_) | Typed::Double(_) if format.kind == FieldKind::Float => {
                self.fill_each(cells, other, |_, _| false)
            }
            Typed::Single(values) => self.fill_each(cells, other, |row, cell| {
                let value = values.get(row).copied().map(f64::from);
                value.is_some_and(|value| format.put_nearest(value, cell))
            }),
            Typed::Double(values) => self.fill_each(cells, other, |row, cell| {
                values.get(row).is_some_and(|value| format.put_nearest(*value, cell))
            }),
            _ => self.fill_each(cells, other, |_, _| false),
        }
    }

    /// Numbers without a fraction, or with one of no more decimals than the field has.
    fn fill_whole<T>(&self, values: &[T], scale: u8, format: &Format, cells: Cells<'_>, other: Other<'_>) -> Result<()>
    where
        T: Copy + TryInto<i64>,
    {
        let places = format.decimals.checked_sub(scale);
        let Some(power) = places.and_then(|places| 10_i64.checked_pow(places.into())) else {
            return self.fill_each(cells, other, |_, _| false);
        };
        self.fill_each(cells, other, |row, cell| {
            let value = values.get(row).and_then(|value| (*value).try_into().ok());
            let unscaled = value.and_then(|value| power.checked_mul(value));
            unscaled.is_some_and(|unscaled| write_number(unscaled.into(), format.decimals, cell))
        })
    }

    fn fill_text(&self, cells: Cells<'_>, other: Other<'_>) -> Result<()> {
        match self.typed {
            Typed::Text(array) => self.fill_ascii(array, cells, other),
            Typed::LargeText(array) => self.fill_ascii(array, cells, other),
            Typed::TextView(array) => {
                self.fill_each(cells, other, |row, cell| put_ascii(array.value(row).as_bytes(), cell))
            }
            _ => self.fill_each(cells, other, |_, _| false),
        }
    }

    fn fill_ascii<T>(&self, array: &GenericByteArray<T>, cells: Cells<'_>, other: Other<'_>) -> Result<()>
    where
        T: ByteArrayType<Native = str>,
    {
        self.fill_each(cells, other, |row, cell| put_ascii(array.value(row).as_bytes(), cell))
    }

    fn fill_binary(&self, kind: FieldKind, cells: Cells<'_>, other: Other<'_>) -> Result<()> {
        match (kind, &self.typed) {
            (FieldKind::Logical, Typed::Logical(array)) => self.fill_each(cells, other, |row, cell| {
                cell.fill(if array.value(row) { b'T' } else { b'F' });
                cell.len() == 1
            }),
            (FieldKind::Double, Typed::Double(values)) => self.fill_each(cells, other, |row, cell| {
                let pair = values.get(row).zip(cell.as_mut_array());
                pair.is_some_and(|(value, cell)| {
                    *cell = value.to_le_bytes();
                    true
                })
            }),
            _ => self.fill_each(cells, other, |_, _| false),
        }
    }

    /// Lets `put` write each value but NULL. Where it answers `false`, `other` is asked.
    #[inline]
    fn fill_each(&self, cells: Cells<'_>, other: Other<'_>, put: impl Fn(usize, &mut [u8]) -> bool) -> Result<()> {
        let Cells { records, stride, place } = cells;
        for (row, record) in records.chunks_exact_mut(stride).enumerate() {
            let is_value = !self.nulls.is_some_and(|nulls| nulls.is_null(row));
            let cell = record.get_mut(place.clone()).filter(|_| is_value);
            if !cell.is_some_and(|cell| put(row, cell)) {
                other(row, record)?;
            }
        }
        Ok(())
    }
}

/// Every code page has the bytes of ASCII.
#[inline]
fn put_ascii(text: &[u8], cell: &mut [u8]) -> bool {
    match cell.split_at_mut_checked(text.len()) {
        Some((own, blanks)) if text.is_ascii() => {
            own.copy_from_slice(text);
            blanks.fill(b' ');
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Decimal32Array, Decimal64Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
        Int64Array, LargeStringArray, StringArray, StringViewArray, UInt64Array,
    };

    use super::*;
    use crate::codepage::CodePage;
    use crate::conversion::convert;
    use crate::value::Value;

    /// Numbers at the edges of their types and of the fields below, text with and without ASCII, each with a NULL behind it.
    fn arrays() -> Vec<ArrayRef> {
        let wholes = [0, 1, -1, 9, 10, 99_999, -99_999, 100_000, i64::MAX, i64::MIN];
        let doubles = [0.0, -0.0, 1.25, 0.125, -7.005, 1e15, -1e300, f64::NAN, f64::INFINITY];
        let texts = ["", "  ", "abc", "abcdef", "abcdefg", "h\u{e9}", "\u{20ac}\u{4e00}"];
        let decimals = wholes.map(i128::from).into_iter().chain([i128::MAX, i128::MIN]);
        let decimals: Decimal128Array = decimals.map(Some).chain([None]).collect();
        vec![
            Arc::new(
                [1, -1, i8::MIN]
                    .into_iter()
                    .map(Some)
                    .chain([None])
                    .collect::<Int8Array>(),
            ),
            Arc::new(wholes.into_iter().map(Some).chain([None]).collect::<Int64Array>()),
            Arc::new(UInt64Array::from(vec![Some(7), Some(u64::MAX), None])),
            Arc::new(
                Decimal32Array::from(vec![Some(12), None])
                    .with_precision_and_scale(9, 1)
                    .unwrap(),
            ),
            Arc::new(
                Decimal64Array::from(vec![Some(12), None])
                    .with_precision_and_scale(9, 3)
                    .unwrap(),
            ),
            Arc::new(decimals.with_precision_and_scale(38, 2).unwrap()),
            Arc::new(Float32Array::from(vec![Some(1.5), Some(0.1), None])),
            Arc::new(doubles.into_iter().map(Some).chain([None]).collect::<Float64Array>()),
            Arc::new(texts.into_iter().map(Some).chain([None]).collect::<StringArray>()),
            Arc::new(texts.into_iter().map(Some).chain([None]).collect::<LargeStringArray>()),
            Arc::new(texts.into_iter().map(Some).chain([None]).collect::<StringViewArray>()),
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
        ]
    }

    #[test]
    fn what_is_written_as_a_column_is_what_each_value_becomes_by_itself() {
        let mut written = 0;
        for (kind, width, decimals) in [
            (FieldKind::Numeric, 8, 2),
            (FieldKind::Numeric, 6, 0),
            (FieldKind::Float, 20, 18),
            (FieldKind::Character, 6, 0),
            (FieldKind::Logical, 1, 0),
            (FieldKind::Double, 8, 0),
            (FieldKind::Date, 8, 0),
        ] {
            let codepage = CodePage::Cp1252;
            let format = Format {
                kind,
                width,
                decimals,
                codepage,
                is_untranslated: false,
            };
            for array in arrays() {
                let values = ArrayValues::new("column", &array).unwrap();
                let stride = width + 2;
                let mut records = vec![b'?'; stride * array.len()];
                let mut left = Vec::new();
                let cells = Cells {
                    records: &mut records,
                    stride,
                    place: 1..1 + width,
                };
                let other = &mut |row, _: &mut [u8]| {
                    left.push(row);
                    Ok(())
                };
                values.fill(&format, cells, other).unwrap();
                for (row, record) in records
                    .chunks_exact(stride)
                    .enumerate()
                    .filter(|(row, _)| !left.contains(row))
                {
                    let mut cell = vec![b'!'; width];
                    let value = values.get(row);
                    assert_ne!(value, Value::Null);
                    let converted = convert(value, kind, false).unwrap();
                    format.put(converted.value(), &mut cell, &mut Vec::new()).unwrap();
                    let about = format!("{kind:?} {:?} {value:?}", array.data_type());
                    assert_eq!(record[1..=width], cell, "{about}");
                    assert_eq!((record[0], record[width + 1]), (b'?', b'?'), "{about}");
                    written += 1;
                }
            }
        }
        assert!(written > 60, "only {written} values were written as columns");
    }
}
