//! Checksums of columns, to compare the written rows with those read back from the copy.
//!
//! A column's checksum is the sum of its values' hashes (64 bits, modulo 2^64). Another checksum covers whole rows. Sums do not depend on
//! the order of rows, and the sums of parts of a table add up to that of the whole. They detect damage and mistakes, not forgery.

use std::cmp::Ordering;
use std::fmt;
use std::hash::BuildHasher;
use std::ops::Sub;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use datafusion::common::hash_utils::{QualityRandomState, create_hashes};

use crate::error::Left;
use crate::stores::server::fitting::of_one_width;
use crate::uuid_text::is_uuid;
use crate::{Error, Result};

/// The same in every process, so that checksums of different runs can be compared.
const SEED: u64 = 0;

/// The positions of the columns in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// The same positions.
    Same,
    /// The same positions, except for this column, which is last.
    LastIs(usize),
    /// Any positions; columns are matched by name, without regard to case.
    ByName,
}

/// The number of records, and optionally the checksum of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordSum {
    records: u64,
    sum: Option<Sum>,
}

impl RecordSum {
    pub(crate) fn new(has_sum: bool) -> Self {
        Self {
            records: 0,
            sum: has_sum.then(Sum::default),
        }
    }

    pub(crate) fn add(&mut self, record: &[u8]) {
        self.records += 1;
        if let Some(sum) = &mut self.sum {
            sum.add(&[QualityRandomState::with_seed(SEED).hash_one(record)]);
        }
    }

    /// The number of records.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Compares the written records with those found.
    ///
    /// # Errors
    ///
    /// [`Error::RowCount`], [`Error::Checksum`].
    pub(crate) fn compare(&self, found: &Self, place: &str) -> Result<()> {
        self.compare_counts(found.records, place)?;
        match self.sum == found.sum {
            true => Ok(()),
            false => Err(Error::Checksum {
                place: place.to_owned(),
                column: "(whole records)".to_owned(),
                written: self.sum.unwrap_or_default().to_string(),
                found: found.sum.unwrap_or_default().to_string(),
                left: Left::Removed,
            }),
        }
    }

    /// # Errors
    ///
    /// [`Error::RowCount`].
    pub(crate) fn compare_counts(&self, found: u64, place: &str) -> Result<()> {
        match self.records == found {
            true => Ok(()),
            false => Err(Error::RowCount {
                place: place.to_owned(),
                written: self.records,
                found,
                left: Left::Removed,
            }),
        }
    }
}

/// The checksums of some columns of a table.
#[derive(Clone, Debug)]
pub(crate) struct Checksums {
    columns: Vec<Column>,
    rows: Sum,
    /// The number of added rows.
    seen: u64,
}

#[derive(Clone, Debug)]
struct Column {
    /// The column's position among the read columns, and in the copy.
    place: usize,
    name: String,
    /// The type in which its values are hashed.
    data_type: DataType,
    is_uuid: bool,
    sum: Sum,
    nulls: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum(u64);

impl Sum {
    fn add(&mut self, hashes: &[u64]) {
        self.0 = hashes.iter().fold(self.0, |sum, hash| sum.wrapping_add(*hash));
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Sub for Sum {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

impl Checksums {
    /// Empty checksums of the columns that `is_kept` selects.
    pub(crate) fn new(schema: &SchemaRef, is_kept: impl Fn(usize) -> bool) -> Self {
        let fields = schema.fields().iter().enumerate();
        let columns = fields
            .filter(|(place, _)| is_kept(*place))
            .map(|(place, field)| Column {
                place,
                name: field.name().clone(),
                data_type: plain(field.data_type()),
                is_uuid: is_uuid(field),
                sum: Sum::default(),
                nulls: 0,
            });
        Self {
            columns: columns.collect(),
            rows: Sum::default(),
            seen: 0,
        }
    }

    /// Text that the table converts is hashed in the column's type there: `5.50` and `5.5` are the same number. So are bytes that the table
    /// pads to a fixed width.
    pub(crate) fn reading_text_as(mut self, table: &SchemaRef) -> Self {
        for column in &mut self.columns {
            let Some(field) = place_of(table, &column.name).and_then(|place| table.fields().get(place)) else {
                continue;
            };
            let is_filled_up = matches!(field.data_type(), DataType::FixedSizeBinary(_));
            if column.data_type.is_string() || (column.data_type.is_binary() && is_filled_up) {
                (column.data_type, column.is_uuid) = (plain(field.data_type()), is_uuid(field));
            }
        }
        self
    }

    /// Empty checksums of the same columns in a copy, whose positions may differ.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if a column is missing.
    pub(crate) fn of_copy(&self, found: &SchemaRef, places: Places, place: &str) -> Result<Self> {
        let mut copy = self.clone();
        (copy.rows, copy.seen) = (Sum::default(), 0);
        for column in &mut copy.columns {
            (column.sum, column.nulls) = (Sum::default(), 0);
            if let Places::LastIs(last) = places {
                column.place = match column.place.cmp(&last) {
                    Ordering::Less => column.place,
                    Ordering::Equal => found.fields().len().saturating_sub(1),
                    Ordering::Greater => column.place - 1,
                };
            }
            if places == Places::ByName {
                column.place = place_of(found, &column.name).ok_or_else(|| Error::Unsupported {
                    what: format!("{place}: a copy without column {}, compared by checksums", column.name),
                    hint: "compare by counts".to_owned(),
                })?;
            }
        }
        Ok(copy)
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] for a column whose values cannot equal the written ones.
    pub(crate) fn add(&mut self, batch: &RecordBatch, place: &str) -> Result<()> {
        let state = QualityRandomState::with_seed(SEED);
        let mut hashes = vec![0; batch.num_rows()];
        let mut compared = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let found = batch.columns().get(column.place);
            let array = found.and_then(|found| converted(found, &column.data_type, column.is_uuid));
            let array = array.ok_or_else(|| match found.and_then(|found| unfit(found, &column.data_type)) {
                Some((row, text)) => Error::Unfit {
                    place: place.to_owned(),
                    row: self.seen + row as u64 + 1,
                    column: column.name.clone(),
                    expected: format!("a value of {}", column.data_type),
                    found: text,
                    hint: "give it another type or value with a SELECT",
                },
                None => Error::Checksum {
                    place: place.to_owned(),
                    column: column.name.clone(),
                    written: column.data_type.to_string(),
                    found: found.map_or_else(|| "no column".to_owned(), |found| found.data_type().to_string()),
                    left: Left::Removed,
                },
            })?;
            column.nulls += array.logical_null_count() as u64;
            hashes.fill(0);
            create_hashes([&array], &state, &mut hashes)?;
            column.sum.add(&hashes);
            compared.push(array);
        }
        hashes.fill(0);
        create_hashes(&compared, &state, &mut hashes)?;
        // The hash of a row is the sum of its columns' hashes. Mixed once more, so that values exchanged between rows change the total.
        for hash in &mut hashes {
            *hash = state.hash_one(*hash);
        }
        self.rows.add(&hashes);
        self.seen += batch.num_rows() as u64;
        Ok(())
    }

    /// The checksums of what was added after `before`.
    pub(crate) fn since(mut self, before: &Self) -> Self {
        for (column, before) in self.columns.iter_mut().zip(&before.columns) {
            column.sum = column.sum - before.sum;
            column.nulls = column.nulls.wrapping_sub(before.nulls);
        }
        self.rows = self.rows - before.rows;
        self
    }

    /// Compares the written rows with those found at `place`.
    ///
    /// # Errors
    ///
    /// [`Error::Checksum`] with the first column that differs.
    pub(crate) fn compare(&self, found: &Self, place: &str) -> Result<()> {
        let differs = |column: &str, written: String, found: String| Error::Checksum {
            place: place.to_owned(),
            column: column.to_owned(),
            written,
            found,
            left: Left::Removed,
        };
        for (written, found) in self.columns.iter().zip(&found.columns) {
            if written.nulls != found.nulls {
                let nulls = |count: u64| format!("{count} {}", if count == 1 { "NULL" } else { "NULLs" });
                return Err(differs(&written.name, nulls(written.nulls), nulls(found.nulls)));
            }
            if written.sum != found.sum {
                let sum = |sum: &_| format!("checksum {sum}");
                return Err(differs(&written.name, sum(&written.sum), sum(&found.sum)));
            }
        }
        if self.rows != found.rows {
            let sum = |sum: &_| format!("checksum {sum}");
            return Err(differs("(whole rows)", sum(&self.rows), sum(&found.rows)));
        }
        Ok(())
    }

    /// How many columns are compared.
    pub(crate) fn column_count(&self) -> usize {
        self.columns.len()
    }
}

/// The column with this name; without an exact match, one that differs only in case.
fn place_of(schema: &SchemaRef, name: &str) -> Option<usize> {
    let mut fields = schema.fields().iter();
    let exact = schema.index_of(name).ok();
    exact.or_else(|| fields.position(|field| field.name().eq_ignore_ascii_case(name)))
}

/// The logical type of the values, without dictionaries and views.
fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}

/// The first text that is not a value of a type, and its row.
fn unfit(texts: &ArrayRef, to: &DataType) -> Option<(usize, String)> {
    let texts = cast(texts, &DataType::Utf8)
        .ok()
        .filter(|_| plain(texts.data_type()).is_string())?;
    let values = cast(&texts, to).ok()?;
    let row = (0..texts.len()).find(|row| texts.is_valid(*row) && values.is_null(*row))?;
    Some((row, format!("{:?}", texts.as_string::<i32>().value(row))))
}

/// The same values in another type; `None` if one of them does not fit.
fn converted(array: &ArrayRef, to: &DataType, is_uuid: bool) -> Option<ArrayRef> {
    let from = array.data_type();
    if from == to {
        return Some(Arc::clone(array));
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let cast = |array: &ArrayRef, to: &DataType| cast_with_options(array, to, &strict).ok();
    match (from, to) {
        (from, DataType::FixedSizeBinary(width)) if from.is_string() || from.is_binary() => {
            of_one_width(array, *width, is_uuid).ok()
        }
        // A time without zone was written as the instant in UTC.
        (DataType::Timestamp(unit, Some(_)), DataType::Timestamp(_, None)) => {
            cast(&cast(array, &in_universal_time(*unit))?, to)
        }
        // Some servers store a time of day as an interval.
        (DataType::Duration(_), DataType::Time32(_) | DataType::Time64(_)) => {
            let microseconds = cast(array, &DataType::Duration(TimeUnit::Microsecond))?;
            let time = cast(
                &cast(&microseconds, &DataType::Int64)?,
                &DataType::Time64(TimeUnit::Microsecond),
            )?;
            let found = cast(&time, to)?;
            // An interval that is no time of day differs.
            let is_same = cast(&found, time.data_type())?.to_data() == time.to_data();
            is_same.then_some(found)
        }
        _ => cast(array, to),
    }
}

fn in_universal_time(unit: TimeUnit) -> DataType {
    DataType::Timestamp(unit, Some("UTC".into()))
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{
        DictionaryArray, DurationMicrosecondArray, Int64Array, StringArray, Time32MillisecondArray,
        TimestampMicrosecondArray, TimestampMillisecondArray,
    };

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
    }

    fn people(ids: &[Option<i64>], names: &[Option<&str>]) -> RecordBatch {
        batch(vec![
            ("id", Arc::new(Int64Array::from(ids.to_vec()))),
            ("name", Arc::new(StringArray::from(names.to_vec()))),
        ])
    }

    fn sums(batches: &[RecordBatch]) -> Checksums {
        let mut sums = Checksums::new(&batches[0].schema(), |_| true);
        for batch in batches {
            sums.add(batch, "t").unwrap();
        }
        sums
    }

    #[test]
    fn a_text_that_a_column_cannot_take_is_named_with_its_row() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("1"), None]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let mut sums = Checksums::new(&batch(vec![("n", Arc::clone(&texts))]).schema(), |_| true)
            .reading_text_as(&batch(vec![("n", numbers)]).schema());
        sums.add(&batch(vec![("n", texts)]), "t").unwrap();
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("2"), Some("3x")]));
        let error = sums.add(&batch(vec![("n", texts)]), "t").unwrap_err();
        assert_eq!(
            error.to_string(),
            "t: row 4, column n: expected a value of Int64, found \"3x\"; give it another type or value with a SELECT"
        );
    }

    #[test]
    fn spans_are_compared_with_times_of_a_day() {
        let times: ArrayRef = Arc::new(Time32MillisecondArray::from(vec![Some(0), Some(86_399_999), None]));
        let spans: ArrayRef = Arc::new(DurationMicrosecondArray::from(vec![
            Some(0),
            Some(86_399_999_000),
            None,
        ]));
        assert_eq!(converted(&spans, times.data_type(), false), Some(Arc::clone(&times)));
        let finer: ArrayRef = Arc::new(DurationMicrosecondArray::from(vec![1]));
        assert_eq!(converted(&finer, times.data_type(), false), None);
        let longer: ArrayRef = Arc::new(DurationMicrosecondArray::from(vec![86_400_000_000]));
        assert_ne!(
            converted(&longer, times.data_type(), false),
            Some(Arc::new(Time32MillisecondArray::from(vec![0])) as _)
        );
    }

    #[test]
    fn texts_are_compared_with_bytes_of_one_width_and_with_uuids() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("ab"), None]));
        let fixed = converted(&texts, &DataType::FixedSizeBinary(4), false).expect("bytes");
        assert_eq!(fixed.as_fixed_size_binary().value(0), b"ab\0\0");
        assert!(fixed.is_null(1));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["67E55044-10b1-426f-9247-bb680e5fe0c8", "x"]));
        let uuid = DataType::FixedSizeBinary(16);
        let found = converted(&texts.slice(0, 1), &uuid, true).expect("a UUID");
        assert_eq!(found.as_fixed_size_binary().value(0)[..3], [0x67, 0xE5, 0x50]);
        assert_eq!(converted(&texts, &uuid, true), None);
    }

    #[test]
    fn order_and_batches_do_not_matter_and_parts_add_up() {
        let whole = people(&[Some(1), Some(2), None], &[Some("a"), Some("b"), None]);
        let turned = people(&[None, Some(2), Some(1)], &[None, Some("b"), Some("a")]);
        let (first, rest) = (whole.slice(0, 1), whole.slice(1, 2));
        let expected = sums(&[whole]);
        expected.compare(&sums(&[turned]), "t").unwrap();
        expected.compare(&sums(&[rest.clone(), first.clone()]), "t").unwrap();
        sums(std::slice::from_ref(&rest))
            .compare(&expected.since(&sums(&[first])), "t")
            .unwrap();
    }

    #[test]
    fn what_differs_is_named() {
        let written = sums(&[people(&[Some(1), Some(2)], &[Some("a"), Some("b")])]);
        for (found, said) in [
            (people(&[Some(1), Some(3)], &[Some("a"), Some("b")]), "column id"),
            (people(&[Some(1), Some(2)], &[Some("a"), None]), "column name"),
            (people(&[Some(1), Some(2)], &[Some("a"), Some("b ")]), "column name"),
            (people(&[Some(2), Some(1)], &[Some("a"), Some("b")]), "(whole rows)"),
        ] {
            let error = written.compare(&sums(&[found]), "t.dbf").unwrap_err().to_string();
            assert!(error.starts_with("t.dbf") && error.contains(said), "{error}");
        }
    }

    #[test]
    fn values_are_compared_whatever_their_layout() {
        let plain = batch(vec![
            ("t", Arc::new(StringArray::from(vec!["x", "y", "x"]))),
            ("at", Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3]))),
        ]);
        let other = batch(vec![
            ("t", Arc::new(DictionaryArray::<Int32Type>::from_iter(["x", "y", "x"]))),
            (
                "at",
                Arc::new(TimestampMicrosecondArray::from(vec![1000, 2000, 3000]).with_timezone("Europe/Oslo")),
            ),
        ]);
        let written = sums(std::slice::from_ref(&plain));
        let mut found = written.of_copy(&other.schema(), Places::ByName, "t").unwrap();
        found.add(&other, "t").unwrap();
        written.compare(&found, "t").unwrap();
        let without = batch(vec![("t", Arc::new(StringArray::from(vec!["x"])))]);
        assert!(written.of_copy(&without.schema(), Places::ByName, "t").is_err());
    }
}
