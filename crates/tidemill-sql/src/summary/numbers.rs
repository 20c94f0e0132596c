//! The distribution of numbers, dates and times.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{BARS, ColumnSummary, SAMPLE, text_of};
use crate::Result;

/// The numbers of a column; dates and times are counts of days and of units of time.
pub(super) struct Numbers {
    /// Dates and times have no mean.
    has_mean: bool,
    count: u64,
    sum: f64,
    /// The rounding error of the sum: Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974.
    rounded: f64,
    /// By Welford's recurrence ("Note on a method for calculating corrected sums of squares and products", 1962).
    mean: f64,
    squares: f64,
    least: f64,
    greatest: f64,
    sample: Vec<f64>,
    /// With a constant seed, so that two summaries of a table agree.
    random: StdRng,
}

impl Numbers {
    /// `None` for types that are not numbers.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        (data_type.is_numeric() || data_type.is_temporal()).then(|| Self {
            has_mean: data_type.is_numeric(),
            count: 0,
            sum: 0.0,
            rounded: 0.0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            sample: Vec::new(),
            random: StdRng::seed_from_u64(0),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 rows")]
    pub(super) fn add(&mut self, values: &ArrayRef) -> Result<()> {
        let values = as_numbers(values)?;
        for value in values.as_primitive::<Float64Type>().iter().flatten() {
            if !value.is_finite() {
                continue;
            }
            self.count += 1;
            let sum = self.sum + value;
            self.rounded += match self.sum.abs() >= value.abs() {
                true => self.sum - sum + value,
                false => value - sum + self.sum,
            };
            self.sum = sum;
            let distance = value - self.mean;
            self.mean += distance / self.count as f64;
            self.squares += distance * (value - self.mean);
            self.least = self.least.min(value);
            self.greatest = self.greatest.max(value);
            if self.sample.len() < SAMPLE {
                self.sample.push(value);
            } else if let Some(place) = usize::try_from(self.random.random_range(0..self.count))
                .ok()
                .and_then(|place| self.sample.get_mut(place))
            {
                *place = value;
            }
        }
        Ok(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "places within the sample"
    )]
    pub(super) fn finish(mut self, data_type: &DataType, summary: &mut ColumnSummary) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        if self.has_mean {
            let mean = (self.sum + self.rounded) / self.count as f64;
            // A sum of large numbers may overflow.
            summary.mean = Some(if mean.is_finite() { mean } else { self.mean });
            summary.deviation = Some((self.squares / self.count as f64).sqrt());
        }
        self.sample.sort_by(f64::total_cmp);
        // The first value that is at least as large as this share of the values, as PostgreSQL's `percentile_disc`.
        let quartile = |share: f64| {
            let place = (share * self.sample.len() as f64).ceil() as usize;
            let value = self.sample.get(place.saturating_sub(1)).copied();
            text_of_number(value.unwrap_or_default(), data_type)
        };
        summary.quartiles = Some([quartile(0.25)?, quartile(0.5)?, quartile(0.75)?]);
        let width = (self.greatest - self.least) / BARS as f64;
        if width > 0.0 && width.is_finite() {
            let mut bars = vec![0_u64; BARS];
            for value in &self.sample {
                let bar = ((value - self.least) / width) as usize;
                if let Some(bar) = bars.get_mut(bar.min(BARS - 1)) {
                    *bar += 1;
                }
            }
            summary.histogram = Some(bars);
        }
        Ok(())
    }
}

/// Numbers, dates and times as numbers, such as days since 1970.
///
/// # Errors
///
/// [`Error::Engine`](crate::Error::Engine) for values that are none of these.
pub fn as_numbers(values: &ArrayRef) -> Result<ArrayRef> {
    let whole = match values.data_type() {
        DataType::Date32 | DataType::Time32(_) => cast(values, &DataType::Int32)?,
        kind if kind.is_temporal() => cast(values, &DataType::Int64)?,
        _ => Arc::clone(values),
    };
    Ok(cast(&whole, &DataType::Float64)?)
}

/// A number of [`as_numbers`], formatted like its column.
///
/// # Errors
///
/// [`Error::Engine`](crate::Error::Engine) for a number outside the range of the type.
pub fn text_of_number(number: f64, data_type: &DataType) -> Result<String> {
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![number]));
    let value = match data_type {
        DataType::Date32 | DataType::Time32(_) => cast(&cast(&numbers, &DataType::Int32)?, data_type)?,
        kind if kind.is_temporal() => cast(&cast(&numbers, &DataType::Int64)?, data_type)?,
        // A number that does not fit a type of few digits is formatted unchanged.
        _ => cast(&numbers, data_type)
            .ok()
            .filter(|value| value.null_count() == 0)
            .unwrap_or(numbers),
    };
    text_of(&value, 0)
}
