//! Statistics of a table's columns: counts, minimum and maximum, distribution, and suspicious values.
//!
//! A [`Summary`] reads each row once, and its memory depends on the columns, not on the rows. So two statistics are estimates for many
//! values: distinct values are counted exactly up to [`KEPT_HASHES`], and within about 1 percent above (the k least hashes: Bar-Yossef et
//! al., "Counting distinct elements in a data stream", 2002); quartiles and histogram are those of a random sample of [`SAMPLE`] values
//! (Vitter, "Random sampling with a reservoir", 1985), or of all values if there are no more.

mod frequent;
mod numbers;
mod suspicions;

use std::collections::BTreeSet;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{DataType, SchemaRef};
use datafusion::common::hash_utils::{QualityRandomState, create_hashes};

use self::frequent::Frequent;
use self::numbers::Numbers;
pub use self::numbers::{as_numbers, text_of_number};
use self::suspicions::Suspicions;
use crate::{Answer, Result, with_uuids_as_text};

/// The most distinct values that are counted exactly.
pub const KEPT_HASHES: usize = 16_384;

/// The most values of a column in the sample for its quartiles and histogram.
pub const SAMPLE: usize = 65_536;

/// How many bars a histogram has.
pub const BARS: usize = 16;

/// The columns of a table, summarized.
#[derive(Debug, Clone)]
pub struct Summary {
    /// How many rows there are.
    pub rows: u64,
    /// In the table's order.
    pub columns: Vec<ColumnSummary>,
}

/// The statistics of a column. Values are formatted as text.
#[derive(Debug, Clone)]
pub struct ColumnSummary {
    /// The column's name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// How many values are NULL.
    pub nulls: u64,
    /// The number of distinct values; `None` for types that are not compared.
    pub distinct: Option<u64>,
    /// Whether `distinct` is an estimate.
    pub is_estimate: bool,
    /// The least value; texts compare by their bytes.
    pub least: Option<String>,
    /// The greatest value.
    pub greatest: Option<String>,
    /// The mean of numbers.
    pub mean: Option<f64>,
    /// The standard deviation of numbers, of a population.
    pub deviation: Option<f64>,
    /// The quartiles of numbers, dates and times: values of the column.
    pub quartiles: Option<[String; 3]>,
    /// How many values lie in each of [`BARS`] ranges of equal width, from the minimum to the maximum; for numbers, dates and times.
    pub histogram: Option<Vec<u64>>,
    /// The most frequent values with their counts, unless nearly every value is unique.
    pub frequent: Vec<(String, u64)>,
    /// Suspicious properties of the values.
    pub suspicions: Vec<String>,
}

impl Summary {
    /// Reads an answer to its end. `progress` is called after each batch with the number of rows so far.
    ///
    /// # Errors
    ///
    /// As [`Answer::next`].
    pub async fn of(mut answer: Answer, mut progress: impl FnMut(u64)) -> Result<Self> {
        let schema = answer.schema();
        let (mut rows, mut columns) = (0, columns_of(&schema));
        while let Some(batch) = answer.next().await? {
            rows += batch.num_rows() as u64;
            add(&mut columns, &batch)?;
            progress(rows);
        }
        let columns = columns.into_iter().map(|column| column.finish(rows));
        Ok(Self {
            rows,
            columns: columns.collect::<Result<_>>()?,
        })
    }
}

fn columns_of(schema: &SchemaRef) -> Vec<Column> {
    let fields = schema.fields().iter();
    fields
        .map(|field| Column::new(field.name(), field.data_type()))
        .collect()
}

fn add(columns: &mut [Column], batch: &RecordBatch) -> Result<()> {
    let batch = with_uuids_as_text(batch)?;
    for (column, values) in columns.iter_mut().zip(batch.columns()) {
        column.add(values)?;
    }
    Ok(())
}

/// The statistics of a column, as far as it was read.
struct Column {
    name: String,
    data_type: DataType,
    nulls: u64,
    compared: Option<Compared>,
    numbers: Option<Numbers>,
    suspicions: Suspicions,
}

/// The statistics of a type that is compared.
#[derive(Default)]
struct Compared {
    rows: Option<RowConverter>,
    range: Option<(OwnedRow, OwnedRow)>,
    distinct: Distinct,
    frequent: Frequent,
}

impl Column {
    fn new(name: &str, data_type: &DataType) -> Self {
        let is_compared = !data_type.is_nested();
        Self {
            name: name.to_owned(),
            data_type: data_type.clone(),
            nulls: 0,
            compared: is_compared.then(Compared::default),
            numbers: Numbers::of(data_type),
            suspicions: Suspicions::of(data_type),
        }
    }

    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        self.nulls += values.logical_null_count() as u64;
        let valid = match values.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => arrow_select::filter::filter(values, &nulls.into_inner().into())?,
            None => ArrayRef::clone(values),
        };
        if valid.is_empty() {
            return Ok(());
        }
        if let Some(compared) = &mut self.compared {
            compared.add(&valid)?;
        }
        if let Some(numbers) = &mut self.numbers {
            numbers.add(&valid)?;
        }
        self.suspicions.add(&valid)
    }

    fn finish(self, rows: u64) -> Result<ColumnSummary> {
        let values = rows - self.nulls;
        let mut summary = ColumnSummary {
            name: self.name,
            nulls: self.nulls,
            distinct: None,
            is_estimate: false,
            least: None,
            greatest: None,
            mean: None,
            deviation: None,
            quartiles: None,
            histogram: None,
            frequent: Vec::new(),
            suspicions: Vec::new(),
            data_type: self.data_type,
        };
        if let Some(compared) = self.compared {
            let (distinct, is_estimate) = compared.distinct.count();
            // An estimate must not exceed the number of values.
            (summary.distinct, summary.is_estimate) = (Some(distinct.min(values)), is_estimate);
            (summary.least, summary.greatest) = compared.range()?;
            summary.frequent = compared.frequent.finish();
        }
        if let Some(numbers) = self.numbers {
            numbers.finish(&summary.data_type.clone(), &mut summary)?;
        }
        summary.suspicions = self.suspicions.finish(rows, values, summary.distinct);
        Ok(summary)
    }
}

impl Compared {
    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        let mut hashes = vec![0; values.len()];
        create_hashes([values], &QualityRandomState::with_seed(0), &mut hashes)?;
        self.distinct.add(&hashes);
        self.frequent.add(values, &hashes)?;
        let converter = match &mut self.rows {
            Some(converter) => converter,
            none => none.insert(RowConverter::new(vec![SortField::new(values.data_type().clone())])?),
        };
        let rows = converter.convert_columns(std::slice::from_ref(values))?;
        let (Some(least), Some(greatest)) = (rows.iter().min(), rows.iter().max()) else {
            return Ok(());
        };
        match &mut self.range {
            None => self.range = Some((least.owned(), greatest.owned())),
            Some((known_least, known_greatest)) => {
                if least < known_least.row() {
                    *known_least = least.owned();
                }
                if greatest > known_greatest.row() {
                    *known_greatest = greatest.owned();
                }
            }
        }
        Ok(())
    }

    fn range(&self) -> Result<(Option<String>, Option<String>)> {
        let (Some(converter), Some((least, greatest))) = (&self.rows, &self.range) else {
            return Ok((None, None));
        };
        let values = converter.convert_rows([least.row(), greatest.row()])?;
        match values.first() {
            Some(values) => Ok((Some(text_of(values, 0)?), Some(text_of(values, 1)?))),
            None => Ok((None, None)),
        }
    }
}

/// A value as text.
pub(crate) fn text_of(values: &ArrayRef, row: usize) -> Result<String> {
    let options = FormatOptions::default().with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"));
    let formatter = ArrayFormatter::try_new(values, &options)?;
    Ok(formatter.value(row).try_to_string()?)
}

/// The least hashes seen so far: of few values all, of many enough to estimate their number.
#[derive(Default)]
struct Distinct {
    least: BTreeSet<u64>,
    is_full: bool,
}

impl Distinct {
    fn add(&mut self, hashes: &[u64]) {
        for hash in hashes {
            if self.is_full && self.least.last().is_some_and(|greatest| hash > greatest) {
                continue;
            }
            if self.least.insert(*hash) && self.least.len() > KEPT_HASHES {
                self.least.pop_last();
                self.is_full = true;
            }
        }
    }

    /// The number of distinct values, and whether it is an estimate.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    fn count(&self) -> (u64, bool) {
        let kept = self.least.len() as u64;
        match self.least.last() {
            Some(greatest) if self.is_full => {
                let share = *greatest as f64 / u64::MAX as f64;
                (((kept - 1) as f64 / share).round() as u64, true)
            }
            _ => (kept, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn many_distinct_values_are_estimated() {
        let mut distinct = Distinct::default();
        let hash = |number: u64| QualityRandomState::with_seed(0).hash_one(number);
        for (values, tolerated) in [(16_384_u64, 0_u64), (200_000, 4_000), (1_000_000, 20_000)] {
            let hashes: Vec<u64> = (0..values).map(hash).collect();
            distinct.add(&hashes);
            let (count, is_estimate) = distinct.count();
            assert!(count.abs_diff(values) <= tolerated, "{count} of {values}");
            assert_eq!(is_estimate, tolerated > 0);
        }
    }
}
