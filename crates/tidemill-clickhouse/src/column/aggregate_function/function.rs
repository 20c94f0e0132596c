//! The states of functions by their own names.
//!
//! Several functions keep numbers as they are, and of other values a hash. Which types are numbers to them differs: each says
//! what its own are.

use super::{
    form::{Call, Form, Known, Unknown},
    part::{Count, Part},
    value::{average, integer, moment, number, number_or_enum, plain, quantity, small_number, sum, width},
};
use crate::{DataType, revision::Revision};

impl Form {
    /// The parts of a state of a function whose arguments cannot be `NULL`.
    pub(super) fn function(self, call: Call<'_>) -> Known {
        use Part::{Bytes, Fixed, Switch, Varint};
        let version_0 = || match self.version {
            0 => Ok(()),
            _ => Err(Unknown::Version),
        };
        let known = match (call.name, call.arguments) {
            // Maps by key, and quantiles that always sample the same, are those whose states have versions.
            (
                "sumMap"
                | "minMap"
                | "maxMap"
                | "sumMappedArrays"
                | "minMappedArrays"
                | "maxMappedArrays"
                | "sumMapWithOverflow"
                | "sumMapFiltered"
                | "sumMapFilteredWithOverflow",
                [DataType::Array(key), values @ ..],
            ) => return self.arrays_by_key(key, values),
            (
                "sumMap" | "minMap" | "maxMap" | "sumMappedArrays" | "minMappedArrays" | "maxMappedArrays",
                [DataType::Tuple(elements)],
            ) => {
                let arrays: Vec<_> = elements.iter().map(|element| element.data_type.clone()).collect();
                return match &arrays[..] {
                    [DataType::Array(key), values @ ..] => self.arrays_by_key(key, values),
                    _ => Err(Unknown::Length),
                };
            }
            ("quantileDeterministic" | "quantilesDeterministic", [value, _]) => return self.deterministic(value),

            ("count", [] | [_]) => vec![Varint],
            ("sum", [value]) => vec![Fixed(sum(value)?)],
            ("sumWithOverflow", [value @ DataType::Decimal { .. }]) => vec![Fixed(width(value)?)],
            ("sumWithOverflow", [value]) => vec![Fixed(number(value)?)],
            ("sumCount", [value]) => vec![Fixed(sum(value)?), Varint],
            ("sumKahan", [value]) if number(value).is_ok() => vec![Fixed(16)],
            ("avg", [value]) => vec![Fixed(average(value)?), Varint],
            // The sum of the weights is a varint when they are whole.
            ("avgWeighted", [value, weight]) if both(value, weight, small_number) => match weight {
                DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => vec![Fixed(8), Varint],
                _ => vec![Fixed(16)],
            },
            ("deltaSum", [value]) => vec![Fixed(3 * small_number(value)? + 1)],
            ("deltaSumTimestamp", [value, time]) => {
                vec![Fixed(3 * small_number(value)? + 2 * number_or_time(time)? + 1)]
            }

            ("min" | "max" | "any" | "anyLast" | "singleValueOrNull", [value]) => return self.single_value(value),
            ("anyHeavy", [value]) => [self.single_value(value)?, vec![Fixed(8)]].concat(),
            ("argMin" | "argMax" | "argAndMin" | "argAndMax", [result, value]) => {
                [self.single_value(result)?, self.single_value(value)?].concat()
            }
            ("any_respect_nulls" | "anyLast_respect_nulls", [value]) => {
                let none = Vec::new;
                vec![Switch(vec![(1, none()), (2, none()), (3, self.value(value)?)])]
            }

            ("groupBitAnd" | "groupBitOr" | "groupBitXor", [value]) => vec![Fixed(integer(value)?)],
            // A set while they are few, then a bitmap.
            ("groupBitmap", [value]) => vec![Switch(vec![(0, vec![Part::list(integer(value)?)]), (1, vec![Bytes])])],

            ("varPop" | "varSamp" | "stddevPop" | "stddevSamp", [_]) => vec![Fixed(3 * moment(call.arguments)?)],
            ("skewPop" | "skewSamp", [_]) | ("covarPop" | "covarSamp", [_, _]) => {
                vec![Fixed(4 * moment(call.arguments)?)]
            }
            ("kurtPop" | "kurtSamp", [_]) => vec![Fixed(5 * moment(call.arguments)?)],
            ("corr", [_, _]) => vec![Fixed(6 * moment(call.arguments)?)],
            // The number of rows, means, and sums of squares.
            ("varPopStable" | "varSampStable" | "stddevPopStable" | "stddevSampStable", [_]) => vec![Varint, Fixed(16)],
            ("covarPopStable" | "covarSampStable", [_, _]) => vec![Varint, Fixed(24)],
            ("corrStable", [_, _]) => vec![Varint, Fixed(40)],
            ("covarPopMatrix" | "covarSampMatrix", [_, ..]) => vec![Fixed(pairs(call.arguments)? * 4 * 8)],
            ("corrMatrix", [_, ..]) => vec![Fixed(pairs(call.arguments)? * 6 * 8)],

            ("boundingRatio", [_, _]) => vec![Switch(vec![(0, vec![Fixed(32)]), (1, Vec::new())])],
            ("simpleLinearRegression", [_, _]) => vec![Fixed(40)],
            ("exponentialMovingAverage", [_, _]) => vec![Fixed(16)],
            ("studentTTest" | "welchTTest", [_, _]) => vec![Fixed(48)],
            ("meanZTest" | "studentTTestOneSample", [_, _]) => vec![Fixed(32)],
            ("rankCorr" | "mannWhitneyUTest" | "kolmogorovSmirnovTest" | "largestTriangleThreeBuckets", [_, _]) => {
                vec![Part::repeat(Count::Sum, vec![Fixed(8)])]
            }
            // Sums, sums of squares, and numbers of rows by group.
            ("analysisOfVariance", [_, _]) => vec![Part::list(8), Part::list(8), Part::list(8)],
            // How many rows there are, and of each value on both sides and of each pair.
            ("cramersV" | "cramersVBiasCorrected" | "theilsU" | "contingency", [_, _]) => {
                vec![Fixed(8), Part::list(16), Part::list(16), Part::list(24)]
            }
            ("entropy", [value]) => {
                let key = plain(value).ok().filter(|width| *width <= 8).unwrap_or(16);
                vec![Part::list(key + 8)]
            }
            ("entropy", [_, _, ..]) => vec![Part::list(8 + 16)],
            ("histogram", [_]) => vec![Fixed(16), Part::list(16)],
            ("sparkbar", [x, y]) => {
                let pair = quantity(x)? + number(y)?;
                vec![Fixed(2 * pair), Part::list(pair)]
            }
            ("maxIntersections" | "maxIntersectionsPosition", [begin, end]) if both(begin, end, small_number) => {
                vec![Part::list(16)]
            }
            ("intervalLengthSum", [begin, _]) => sorted(2 * quantity(begin)?),
            ("retention", [_, ..]) => vec![Fixed(4)],
            ("windowFunnel", [time, _, ..]) => sorted(quantity(time)? + 1),
            ("sequenceMatch" | "sequenceCount" | "sequenceMatchEvents", [time, _, ..]) => sorted(quantity(time)? + 8),

            // How much of the hashes was given up, and the others.
            ("uniq", [_, ..]) => vec![Fixed(1), Part::list(4)],
            ("uniqExact", [value]) => vec![Part::list(match value {
                DataType::Date32 | DataType::Uuid => width(value)?,
                value => plain(value).unwrap_or(16),
            })],
            ("uniqExact", [_, _, ..]) => vec![Part::list(16)],
            ("uniqHLL12", [value]) => hyper_log_log(match value {
                DataType::Date32 => 4,
                value => plain(value).unwrap_or(8),
            }),
            ("uniqHLL12", [_, _, ..]) => hyper_log_log(8),
            ("uniqCombined" | "uniqCombined64", [_, ..]) => return combined(call),
            ("uniqUpTo", [_, ..]) => return self.up_to(call),

            ("groupArray" | "groupUniqArray", [value]) => vec![Part::repeat(Count::Varint, vec![item(value)])],
            ("groupArrayLast", [value]) => vec![Part::repeat(Count::Varint, vec![item(value)]), Fixed(8)],
            // How many rows there were, and where its generator of random numbers is.
            ("groupArraySample", [value]) => vec![Part::repeat(Count::Varint, vec![item(value)]), Fixed(8), Bytes],
            ("groupArraySorted", [value]) => vec![Part::repeat(
                Count::Varint,
                match plain(value) {
                    Ok(width) => vec![Fixed(width)],
                    Err(_) => vec![Part::optional(self.value(value)?)],
                },
            )],
            ("groupArrayInsertAt", [value, _]) => {
                let place = Switch(vec![(0, self.value(value)?), (1, Vec::new())]);
                vec![Part::repeat(Count::Varint, vec![place])]
            }
            ("groupArrayMovingSum" | "groupArrayMovingAvg", [value]) => vec![Part::list(sum(value)?)],
            // How many arrays there were, and what all had.
            ("groupArrayIntersect", [DataType::Array(value)]) => {
                let value = number_or_enum(value).map_or(Bytes, Fixed);
                vec![Varint, Part::repeat(Count::Varint, vec![value])]
            }
            // Of a limited number of values it is known where each begins and ends.
            ("groupConcat", [_]) => match call.last_numbers::<1>() {
                Some(_) => vec![Bytes, Part::repeat(Count::Varint, vec![Varint, Varint])],
                None => vec![Bytes],
            },
            // Values with their count and its error, and counts of those that are not among them.
            ("topK" | "topKWeighted" | "approx_top_k" | "approx_top_sum", [value, ..]) => vec![
                Part::repeat(Count::Varint, vec![item(value), Varint, Varint]),
                Part::repeat(Count::Varint, vec![Varint]),
            ],

            // The size of the sample, the number of rows, where the generator of random numbers is, and the sample.
            ("quantile" | "quantiles", [value]) => vec![Part::Repeat {
                count: Count::Lesser,
                head: vec![Bytes],
                each: vec![Fixed(quantity(value)?)],
            }],
            (name, [value])
                if is_quantile(
                    name,
                    &["Exact", "ExactLow", "ExactHigh", "ExactExclusive", "ExactInclusive"],
                ) =>
            {
                vec![Part::list(quantity(value)?)]
            }
            (name, [value, _])
                if is_quantile(
                    name,
                    &[
                        "ExactWeighted",
                        "ExactWeightedInterpolated",
                        "InterpolatedWeighted",
                        "PrometheusHistogram",
                    ],
                ) =>
            {
                vec![Part::list(quantity(value)? + 8)]
            }
            (name, [_] | [_, _]) if is_quantile(name, &["Timing", "TimingWeighted"]) => vec![Switch(vec![
                (1, vec![Part::repeat(Count::U16, vec![Fixed(2)])]),
                (2, vec![Part::repeat(Count::U64, vec![Fixed(2)])]),
                (3, vec![Part::Timings]),
            ])],
            // Pairs of a mean and a count.
            (name, [_] | [_, _]) if is_quantile(name, &["TDigest", "TDigestWeighted"]) => vec![Part::list(8)],
            (name, [_] | [_, _]) if is_quantile(name, &["BFloat16", "BFloat16Weighted"]) => vec![Part::list(2 + 8)],
            (name, [_]) if is_quantile(name, &["DD"]) => sketch(),
            (name, [value]) if is_quantile(name, &["GK"]) => vec![
                // The threshold to compress at, the error, and the number of rows.
                Fixed(24),
                Part::repeat(Count::U64, vec![Fixed(quantity(value)? + 16)]),
            ],

            ("nothing" | "nothingNull" | "nothingUInt64", _) => vec![Fixed(1)],
            _ => return Err(Unknown::Length),
        };
        version_0()?;
        Ok(known)
    }

    /// Keys, and for each a value of each array: of version 1 as the widest type of its kind.
    ///
    /// Source: `AggregateFunctionSumMap.cpp` of ClickHouse.
    fn arrays_by_key(self, key: &DataType, values: &[DataType]) -> Known {
        if self.is_one_of_several && self.version == 0 && self.revision == Revision::FILE {
            return Err(Unknown::Version);
        }
        let mut each = self.value(key)?;
        for array in values {
            let DataType::Array(value) = array else {
                return Err(Unknown::Length);
            };
            each.extend(match (self.version, &**value) {
                (0, value) => self.value(value)?,
                (1, DataType::Nullable(value)) => {
                    vec![Part::Switch(vec![(0, self.widest(value)?), (1, Vec::new())])]
                }
                (1, value) => self.widest(value)?,
                _ => return Err(Unknown::Version),
            });
        }
        Ok(vec![Part::repeat(Count::Varint, each)])
    }

    fn widest(self, value: &DataType) -> Known {
        match sum(value) {
            Ok(width) => Ok(vec![Part::Fixed(width)]),
            Err(_) => self.value(value),
        }
    }

    /// Pairs of a value and a hash, with gaps. Before version 1 the size of the sample may be more than there is.
    ///
    /// Source: `ReservoirSamplerDeterministic.h` of ClickHouse.
    fn deterministic(self, value: &DataType) -> Known {
        let width = match value {
            DataType::Date | DataType::DateTime(_) => width(value)?,
            value => number(value)?,
        };
        let pair = match width {
            ..8 => vec![Part::Fixed(8)],
            width => vec![Part::Fixed(width + 8)],
        };
        match self.version {
            0 => Ok(vec![Part::repeat(Count::Lesser, pair)]),
            1 if !self.is_one_of_several => Ok(vec![
                Part::Repeat {
                    count: Count::U64,
                    head: vec![Part::Fixed(8)],
                    each: pair,
                },
                Part::Fixed(1),
            ]),
            _ => Err(Unknown::Version),
        }
    }

    /// A count, and if it is not more than the parameter so many values.
    fn up_to(self, call: Call<'_>) -> Known {
        let most = match (call.parameters, call.last_numbers()) {
            ("", _) => 5,
            (_, Some(([most], ""))) => u8::try_from(most).map_err(|_| Unknown::Length)?,
            _ => return Err(Unknown::Length),
        };
        let width = match call.arguments {
            // 18.16 hashes them.
            [DataType::Uuid] if self.is_old() => return Err(Unknown::Version),
            [DataType::Ipv4] => 8,
            [value @ (DataType::Date32 | DataType::Uuid)] => width(value)?,
            [value] => plain(value).unwrap_or(8),
            _ => 8,
        };
        Ok(vec![Part::repeat(Count::UpTo(most), vec![Part::Fixed(width)])])
    }
}

/// A value on its own, or after its length.
fn item(value: &DataType) -> Part {
    plain(value).map_or(Part::Bytes, Part::Fixed)
}

fn number_or_time(value: &DataType) -> Result<usize, Unknown> {
    match value {
        DataType::Date | DataType::DateTime(_) => width(value),
        value => small_number(value),
    }
}

fn both(a: &DataType, b: &DataType, width: impl Fn(&DataType) -> Result<usize, Unknown>) -> bool {
    width(a).is_ok() && width(b).is_ok()
}

/// How many pairs there are of numbers, of each with itself too.
fn pairs(values: &[DataType]) -> Result<usize, Unknown> {
    moment(values)?;
    let count = values.len();
    count
        .checked_mul(count + 1)
        .map(|twice| twice / 2)
        .ok_or(Unknown::Length)
}

/// Whether they are sorted, and values of so many bytes behind 64 bits of their number.
fn sorted(width: usize) -> Vec<Part> {
    vec![Part::Fixed(1), Part::repeat(Count::U64, vec![Part::Fixed(width)])]
}

/// A set of values of so many bytes while they are few, then a counter of 4096 places by 32 bits.
fn hyper_log_log(width: usize) -> Vec<Part> {
    vec![Part::Switch(vec![
        (0, vec![Part::list(width)]),
        (1, vec![Part::Fixed(counter_width(12, u32::BITS as usize))]),
    ])]
}

/// A few values, a set of hashes, then a counter.
///
/// Source: `CombinedCardinalityEstimator.h` of ClickHouse.
fn combined(call: Call<'_>) -> Known {
    let precision = match (call.parameters, call.last_numbers()) {
        ("", _) => 17,
        (_, Some(([precision @ 12..=20], ""))) => usize::try_from(precision).map_err(|_| Unknown::Length)?,
        _ => return Err(Unknown::Length),
    };
    let hash_width = match call.arguments {
        _ if call.name == "uniqCombined64" => 8,
        [DataType::String | DataType::FixedString(_) | DataType::Ipv6] => 8,
        _ => 4,
    };
    let hashes = vec![Part::list(hash_width)];
    Ok(vec![Part::Switch(vec![
        (1, hashes.clone()),
        (2, hashes),
        (3, vec![Part::Fixed(counter_width(precision, 8 * hash_width))]),
    ])])
}

/// The width of a counter of `2^precision` places, 12 at least: a rank for each, how often each rank is there, and how many
/// places are empty.
///
/// Source: `HyperLogLogCounter.h` of ClickHouse.
fn counter_width(precision: usize, hash_bits: usize) -> usize {
    let rank_bits = if hash_bits == 64 { 6 } else { 5 };
    let places = 1 << precision;
    let ranks = hash_bits - precision + 2;
    places * rank_bits / 8 + 4 * ranks + if precision < 16 { 2 } else { 4 }
}

fn is_quantile(name: &str, kinds: &[&str]) -> bool {
    let kind = name.strip_prefix("quantiles").or_else(|| name.strip_prefix("quantile"));
    kind.is_some_and(|kind| kinds.contains(&kind))
}

/// A logarithmic mapping of a base and an offset, counts of positive values, of negative ones, and of zeros. A byte before each
/// says what it is.
///
/// Source: `DDSketch.h` and `DDSketch/Store.h` of ClickHouse.
fn sketch() -> Vec<Part> {
    let counts = Part::Switch(vec![
        // From which place on and by which steps, then a count for each place.
        (
            0x0c,
            vec![Part::Repeat {
                count: Count::Varint,
                head: vec![Part::Varint, Part::Varint],
                each: vec![Part::Fixed(8)],
            }],
        ),
        // How many places further, and a count.
        (
            0x04,
            vec![Part::repeat(Count::Varint, vec![Part::Varint, Part::Fixed(8)])],
        ),
    ]);
    let marked = |mark, part| Part::Switch(vec![(mark, vec![part])]);
    vec![
        marked(0x02, Part::Fixed(16)),
        marked(0x01, counts.clone()),
        marked(0x03, counts),
        marked(0x04, Part::Fixed(8)),
    ]
}
