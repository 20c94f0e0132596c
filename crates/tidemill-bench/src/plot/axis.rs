//! Axes: what a coordinate means, where marks stand, and what is written beside them.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

/// What an axis measures.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// What stands beside it, with the unit.
    pub label: &'static str,
    /// How its coordinates are read.
    pub scale: Scale,
}

/// How a coordinate is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scale {
    /// As it is, from zero.
    Linear,
    /// The power of ten that is the value.
    Logarithm,
    /// How many nines: 2 is the 99th percentile.
    Nines,
}

/// A value that is less has no measure on a linear axis.
const SMALLEST: f64 = 1e-9;
/// Marks of a decade, as long as there are few decades.
const WITHIN: [f64; 3] = [1.0, 2.0, 5.0];
const FEW_DECADES: f64 = 2.5;

impl Axis {
    /// From where to where an axis goes that shows these values; twice 0 when there are none.
    pub(super) fn range(&self, values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        match self.scale {
            _ if low > high => (0.0, 0.0),
            Scale::Linear => (low.min(0.0), if high > SMALLEST { high * 1.05 } else { 1.0 }),
            Scale::Logarithm => (mark_at_most(low - 0.02), mark_at_least(high + 0.02)),
            Scale::Nines => (0.0, high.max(1.0)),
        }
    }
}

/// The marks of a decade around a power of ten, as powers of ten, in order.
fn marks_around(value: f64) -> impl DoubleEndedIterator<Item = f64> {
    let decade = value.floor();
    [-1.0, 0.0, 1.0]
        .into_iter()
        .flat_map(move |offset| WITHIN.map(|mark| decade + offset + mark.log10()))
}

fn mark_at_most(value: f64) -> f64 {
    marks_around(value).rev().find(|mark| *mark <= value).unwrap_or(value)
}

fn mark_at_least(value: f64) -> f64 {
    marks_around(value).find(|mark| *mark >= value).unwrap_or(value)
}

impl Scale {
    /// What is written beside a mark.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Self::Linear => significant(value),
            Self::Logarithm => significant(10_f64.powf(value)),
            Self::Nines => {
                let percent = 100.0 * (1.0 - 10_f64.powf(-value));
                let decimals = (value.ceil() as usize)
                    .saturating_sub(2)
                    .max(usize::from(value.fract() != 0.0 && value > 1.0));
                format!("{percent:.decimals$}")
            }
        }
    }
}

/// Three digits or more, whole numbers whole: marks are round, 0.1 and not 0.100.
fn significant(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 100.0 || (value - value.round()).abs() < 1e-9 => return format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.1 => format!("{value:.3}"),
        size if size >= 1e-4 => format!("{value:.4}"),
        _ => format!("{value:.7}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An axis from one coordinate to another, with its marks where the scale has round values.
pub(super) struct Span {
    scale: Scale,
    inner: RangedCoordf64,
}

impl Span {
    pub(super) fn new(scale: Scale, from: f64, to: f64) -> Self {
        Self {
            scale,
            inner: (from..to).into(),
        }
    }

    /// The marks of a scale that is no linear one.
    fn marks(&self) -> Vec<f64> {
        let Range { start, end } = self.inner.range();
        let slack = 1e-9;
        let inside = |mark: &f64| (start - slack..=end + slack).contains(mark);
        let wholes = || {
            (0..)
                .map(|step| start.ceil() + f64::from(step))
                .take_while(|mark| *mark <= end + slack)
        };
        match self.scale {
            Scale::Linear => Vec::new(),
            Scale::Logarithm if end - start <= FEW_DECADES => {
                let decades = (0..=4).map(|step| start.floor() + f64::from(step));
                let marks = decades.flat_map(|decade| WITHIN.map(|mark| decade + mark.log10()));
                marks.filter(inside).collect()
            }
            Scale::Logarithm => wholes().collect(),
            // The median is where most look first.
            Scale::Nines => [0.0, 2_f64.log10()]
                .into_iter()
                .chain(wholes().skip(1))
                .filter(inside)
                .collect(),
        }
    }
}

impl Ranged for Span {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.inner.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match self.scale {
            Scale::Linear => self.inner.key_points(hint),
            Scale::Logarithm | Scale::Nines => {
                let marks = self.marks();
                let each = marks.len().div_ceil(hint.max_num_points().max(1)).max(1);
                marks.into_iter().step_by(each).collect()
            }
        }
    }

    fn range(&self) -> Range<f64> {
        self.inner.range()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let check = |scale: Scale, value: f64, expected: &str| assert_eq!(scale.text(value), expected);
        check(Scale::Linear, 1500.0, "1500");
        check(Scale::Linear, 0.25, "0.25");
        check(Scale::Linear, 1.5, "1.5");
        check(Scale::Logarithm, -1.0, "0.1");
        check(Scale::Logarithm, 2_f64.log10(), "2");
        check(Scale::Logarithm, -3.0 + 5_f64.log10(), "0.005");
        check(Scale::Logarithm, -5.0, "0.00001");
        check(Scale::Logarithm, 3.0, "1000");
        check(Scale::Nines, 0.0, "0");
        check(Scale::Nines, 2_f64.log10(), "50");
        check(Scale::Nines, 1.0, "90");
        check(Scale::Nines, 2.0, "99");
        check(Scale::Nines, 4.0, "99.99");
    }

    fn marked(scale: Scale, values: &[f64], most: usize) -> Vec<String> {
        let axis = Axis { label: "", scale };
        let (from, to) = axis.range(values.iter().copied());
        let marks = Span::new(scale, from, to).key_points(most);
        marks.into_iter().map(|mark| scale.text(mark)).collect()
    }

    #[test]
    fn logarithms_are_marked_at_decades_and_round_values() {
        let ms = |values: &[f64]| values.iter().map(|value| value.log10()).collect::<Vec<_>>();
        let check = |values: &[f64], expected: &[&str]| {
            assert_eq!(marked(Scale::Logarithm, &ms(values), 12), expected, "{values:?}");
        };
        check(&[0.3, 3_000.0], &["1", "10", "100", "1000"]);
        check(&[1.2, 40.0], &["1", "2", "5", "10", "20", "50"]);
        check(&[0.31, 0.44], &["0.2", "0.5"]);
        check(&[7.0, 7.0], &["5", "10"]);
        // Fewer where there is no room for all.
        assert_eq!(
            marked(Scale::Logarithm, &[-4.0, 4.0], 5),
            ["0.0001", "0.01", "1", "100", "10000"]
        );
        assert_eq!(marked(Scale::Nines, &[0.0, 3.2], 12), ["0", "50", "90", "99", "99.9"]);
    }
}
