//! The exact sum of numbers stored as text.

use std::collections::BTreeMap;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use bigdecimal::{BigDecimal, Zero as _};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

/// Adds numbers as PostgreSQL does: the sum has as many decimals as the value with the most.
#[derive(Debug, Default)]
pub(crate) struct NumericSum {
    total: BigDecimal,
    /// How many values have each number of decimals.
    decimals: BTreeMap<i64, i64>,
    /// The number of values: a window without values has no sum.
    values: i64,
    nans: i64,
    infinities: i64,
    negative_infinities: i64,
}

impl NumericSum {
    /// Adds the values, or subtracts them.
    fn add(&mut self, values: &ArrayRef, is_added: bool) -> Result<()> {
        let count = if is_added { 1 } else { -1 };
        for text in values.as_string::<i32>().iter().flatten() {
            self.values += count;
            let special = match text {
                "NaN" => &mut self.nans,
                "Infinity" => &mut self.infinities,
                "-Infinity" => &mut self.negative_infinities,
                text => {
                    let number = number(text)?;
                    *self.decimals.entry(number.fractional_digit_count()).or_default() += count;
                    match is_added {
                        true => self.total += number,
                        false => self.total -= number,
                    }
                    continue;
                }
            };
            *special += count;
        }
        Ok(())
    }

    fn text(&self) -> Option<String> {
        (self.values > 0).then(
            || match (self.nans > 0, self.infinities > 0, self.negative_infinities > 0) {
                (false, false, false) => {
                    let mut decimals = self.decimals.iter().rev().filter(|(_, count)| **count > 0);
                    let decimals = decimals.next().map_or(0, |(decimals, _)| (*decimals).max(0));
                    self.total.with_scale(decimals).to_plain_string()
                }
                (false, true, false) => "Infinity".to_owned(),
                (false, false, true) => "-Infinity".to_owned(),
                _ => "NaN".to_owned(),
            },
        )
    }
}

fn number(text: &str) -> Result<BigDecimal> {
    let number: Option<BigDecimal> = text.trim().parse().ok();
    // Adding a number with a larger exponent would write as many zeros.
    let number =
        number.filter(|number| number.is_zero() || number.fractional_digit_count().unsigned_abs() <= MOST_DIGITS);
    number.ok_or_else(|| {
        DataFusionError::Execution(format!(
            "a SUM of {text:?}, which is no number of at most {MOST_DIGITS} digits"
        ))
    })
}

/// More digits than PostgreSQL's `numeric` has on one side of the point.
const MOST_DIGITS: u64 = 200_000;

impl Accumulator for NumericSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        values.iter().try_for_each(|values| self.add(values, true))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        values.iter().try_for_each(|values| self.add(values, false))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Utf8(self.text())])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Utf8(self.text()))
    }

    fn size(&self) -> usize {
        size_of_val(self) + usize::try_from(self.total.digits() / 2).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::StringArray;

    use super::*;

    fn sum(values: &[Option<&str>]) -> Result<ScalarValue> {
        let mut sum = NumericSum::default();
        let (one, other) = values.split_at(values.len() / 2);
        sum.update_batch(&[Arc::new(StringArray::from(one.to_vec()))])?;
        let mut rest = NumericSum::default();
        rest.update_batch(&[Arc::new(StringArray::from(other.to_vec()))])?;
        let state = rest.state()?.into_iter().map(|state| state.to_array());
        sum.merge_batch(&state.collect::<Result<Vec<_>>>()?)?;
        sum.evaluate()
    }

    #[test]
    fn sums_have_every_digit() {
        for (values, expected) in [
            (&[][..], None),
            (&[None, None], None),
            (&[Some("1.50"), None, Some("1.5")], Some("3.00")),
            (&[Some("0.1"), Some("0.2")], Some("0.3")),
            (
                &[Some("99999999999999999999999999999999999999999.9"), Some("0.1")],
                Some("100000000000000000000000000000000000000000.0"),
            ),
            (&[Some("-5"), Some("5")], Some("0")),
            (&[Some("1"), Some("NaN")], Some("NaN")),
            (&[Some("1"), Some("Infinity")], Some("Infinity")),
            (&[Some("-Infinity"), Some("Infinity")], Some("NaN")),
        ] {
            assert_eq!(
                sum(values).unwrap(),
                ScalarValue::Utf8(expected.map(str::to_owned)),
                "{values:?}"
            );
        }
        for text in ["1e999999999", "1e-999999999", "x", ""] {
            assert!(sum(&[Some(text)]).is_err(), "{text}");
        }
    }

    #[test]
    fn a_window_that_moves_on_takes_values_away() {
        let mut sum = NumericSum::default();
        let batch = |values: &[&str]| -> [ArrayRef; 1] { [Arc::new(StringArray::from(values.to_vec()))] };
        sum.update_batch(&batch(&["1.25", "NaN", "2"])).unwrap();
        sum.retract_batch(&batch(&["1.25", "NaN"])).unwrap();
        assert_eq!(sum.evaluate().unwrap(), ScalarValue::from("2"));
        sum.retract_batch(&batch(&["2"])).unwrap();
        assert_eq!(sum.evaluate().unwrap(), ScalarValue::Utf8(None));
    }
}
