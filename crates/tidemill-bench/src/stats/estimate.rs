//! A value and how sure it is.

use std::f64::consts::SQRT_2;

use serde::{Deserialize, Serialize};
use statrs::{
    distribution::{ContinuousCDF as _, StudentsT},
    function::erf::{erfc, erfc_inv},
};

/// The confidence of every interval that is reported.
pub const CONFIDENCE: f64 = 0.95;

/// A measured value with its standard error and interval of confidence, in the unit of what it estimates.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its standard error; missing when there is too little data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub std_err: Option<f64>,
    /// From how many degrees of freedom the standard error was estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freedom: Option<f64>,
    /// The lower end of the interval; missing when the data set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end of the interval; missing when the data set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Estimate {
    /// A value of which nothing more is known.
    pub fn bare(value: f64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }

    /// A mean with a symmetric interval of Student's t.
    pub fn mean(value: f64, std_err: f64, freedom: f64) -> Self {
        let Some(t) = student_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom) else {
            return Self::bare(value);
        };
        Self {
            value,
            std_err: Some(std_err),
            freedom: Some(freedom),
            low: Some(value - t * std_err),
            high: Some(value + t * std_err),
        }
    }

    /// The same of what cannot be below 0: neither is an end of its interval.
    #[must_use]
    pub(crate) fn cut_at_zero(self) -> Self {
        let cut = |end: f64| end.max(0.0);
        Self {
            low: self.low.map(cut),
            high: self.high.map(cut),
            ..self
        }
    }

    /// The same without ends that do not hold the value, as reports of others or of earlier versions have them.
    #[must_use]
    pub(crate) fn with_ends_that_hold(self) -> Self {
        Self {
            low: self.low.filter(|low| *low <= self.value),
            high: self.high.filter(|high| *high >= self.value),
            ..self
        }
    }

    /// The same in a unit that is so many times as large.
    pub(crate) fn in_units_of(self, unit: f64) -> Self {
        let scale = |value: f64| value / unit;
        Self {
            value: scale(self.value),
            std_err: self.std_err.map(scale),
            freedom: self.freedom,
            low: self.low.map(scale),
            high: self.high.map(scale),
        }
    }
}

/// From so many degrees of freedom on, Student's t is normal but for a correction.
const NEARLY_NORMAL: f64 = 100.0;

/// The quantile of Student's t; nothing without degrees of freedom.
pub(crate) fn student_quantile(share: f64, freedom: f64) -> Option<f64> {
    (freedom > 0.0 && !freedom.is_infinite()).then_some(())?;
    if share < 0.5 {
        return student_quantile(1.0 - share, freedom).map(|t| -t);
    }
    if freedom >= NEARLY_NORMAL {
        // Fisher and Cornish's expansion in one over the freedom.
        let z = normal_quantile(share);
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        return Some(z + first / freedom + second / (freedom * freedom));
    }
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let (mut low, mut high) = (0.0, 2.0);
    while student.cdf(high) < share && high < 1e9 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        match student.cdf(middle) < share {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(high)
}

/// The quantile of the normal distribution.
pub(crate) fn normal_quantile(share: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * share)
}

/// The probability of a t at least as far from zero.
pub(crate) fn student_two_sided(t: f64, freedom: f64) -> Option<f64> {
    (freedom > 0.0 && freedom.is_finite() && t.is_finite()).then_some(())?;
    if freedom > 1e5 {
        return Some(erfc(t.abs() / SQRT_2));
    }
    Some((2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.cdf(-t.abs())).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_as_tables_have_them() {
        for (freedom, expected) in [(1.0, 12.706), (4.0, 2.776), (30.0, 2.042), (120.0, 1.980), (1e9, 1.960)] {
            let found = student_quantile(0.975, freedom).unwrap();
            assert!((found - expected).abs() < 1e-3, "{freedom}: {found}");
            assert!((student_two_sided(found, freedom).unwrap() - 0.05).abs() < 1e-6);
        }
        assert_eq!(student_quantile(0.975, 0.0), None);
        assert_eq!(student_two_sided(f64::NAN, 3.0), None);
    }

    #[test]
    fn ends_hold_the_value_and_are_not_below_zero() {
        let mean = Estimate::mean(3.0, 10.0, 5.0);
        assert!(mean.low.is_some_and(|low| low < 0.0));
        assert_eq!(
            (mean.cut_at_zero().low, mean.cut_at_zero().high),
            (Some(0.0), mean.high)
        );
        let outside = Estimate {
            low: Some(98.96),
            high: Some(101.0),
            ..Estimate::bare(81.59)
        };
        let held = outside.with_ends_that_hold();
        assert_eq!((held.low, held.high), (None, Some(101.0)));
    }

    #[test]
    fn a_mean_without_freedom_has_no_interval() {
        assert_eq!(Estimate::mean(3.0, 1.0, 0.0), Estimate::bare(3.0));
        assert_eq!(Estimate::mean(3.0, f64::NAN, f64::NAN), Estimate::bare(3.0));
    }
}
