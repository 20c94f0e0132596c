//! The form of a state: which parts it has.

use super::part::Part;
use crate::{DataType, data_type::AggregateFunction, revision::Revision};

/// The parts of a state, in their order.
pub(super) type Known = Result<Vec<Part>, Unknown>;

/// Why the parts of a state are not known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unknown {
    /// Nothing here knows them.
    Length,
    /// Versions of ClickHouse write different ones, and nothing tells which wrote these.
    Version,
}

/// What the form of a state depends on besides its function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// The version of the state: 0 where the type has none.
    pub(super) version: u64,
    /// The state is one of several within another. ClickHouse does not hand on to them which version they are to be written as,
    /// but reads them as that version: it does not read what it wrote where that is not its default.
    pub(super) is_one_of_several: bool,
    pub(super) revision: Revision,
}

/// A function with its parameters and arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) parameters: &'a str,
    pub(super) arguments: &'a [DataType],
}

impl Form {
    /// The parts of a state of `function` on a connection of `revision`, or in a file.
    pub(super) fn of(function: &AggregateFunction, revision: Revision) -> Known {
        let form = Self {
            version: 0,
            is_one_of_several: false,
            revision,
        };
        match form.nested_state(function)? {
            // As many rows as anybody says would take no bytes.
            parts if parts.is_empty() => Err(Unknown::Length),
            parts => Ok(parts),
        }
    }

    /// Whether the other side may be as old as ClickHouse 18.16.
    pub(super) fn is_old(self) -> bool {
        self.revision != Revision::FILE && self.revision < Revision::STATE_VERSIONS
    }

    /// The parts of a state of `function` where the other side is the same.
    pub(super) fn nested_state(self, function: &AggregateFunction) -> Known {
        // Functions see what dictionaries stand for.
        let argument = |argument: &DataType| match argument {
            DataType::LowCardinality(inner) => (**inner).clone(),
            other => other.clone(),
        };
        let arguments: Vec<_> = function.arguments.iter().map(argument).collect();
        let form = Self {
            version: function.version.unwrap_or_default(),
            ..self
        };
        form.call(Call {
            name: &function.name,
            parameters: function.parameters.as_deref().unwrap_or_default(),
            arguments: &arguments,
        })
    }

    /// The parts of a state of a function, with a byte in front where arguments that may be `NULL` ask for one.
    pub(super) fn call(self, call: Call<'_>) -> Known {
        if call.name.len() > MAX_NAME {
            return Err(Unknown::Length);
        }
        let keeps_nulls = matches!(call.name, "any_respect_nulls" | "anyLast_respect_nulls");
        if keeps_nulls || !call.arguments.iter().any(is_nullable) {
            return self.without_nulls(call);
        }
        let has_flag = self.has_flag(call)?;
        let arguments = call.arguments.iter().map(|argument| match argument {
            DataType::Nullable(inner) => (**inner).clone(),
            other => other.clone(),
        });
        let arguments: Vec<_> = arguments.collect();
        let parts = self.without_nulls(Call {
            arguments: &arguments,
            ..call
        })?;
        Ok(match has_flag {
            true => vec![Part::optional(parts)],
            false => parts,
        })
    }

    fn without_nulls(self, call: Call<'_>) -> Known {
        match self.function(call) {
            Err(Unknown::Length) => self.combinator(call),
            known => known,
        }
    }

    /// Whether a byte in front says that a row without `NULL` came.
    ///
    /// Sources: `AggregateFunctionNull.cpp` and `AggregateFunctionIf.cpp` of ClickHouse. ClickHouse 18.16 has the byte where
    /// the result may be `NULL`.
    fn has_flag(self, call: Call<'_>) -> Result<bool, Unknown> {
        match call.name {
            "count" => return Ok(false),
            // They care for `NULL` themselves.
            "windowFunnel" | "intervalLengthSum" => return Err(Unknown::Length),
            name if name.contains("_respect_nulls") => return Err(Unknown::Length),
            _ => {}
        }
        let result = call.result();
        let in_old = result == Outcome::Value;
        let is_given = if call.name.ends_with("If") {
            let condition_alone = call
                .arguments
                .split_last()
                .is_some_and(|(_, rest)| !rest.iter().any(is_nullable));
            (in_old && !condition_alone) || call.gives_default()
        } else {
            in_old || call.gives_default() || call.arguments.len() > 1
        };
        // Whether a tuple may be `NULL` depends on version and settings.
        if result == Outcome::Tuple && (call.arguments.len() == 1 || call.name.ends_with("If")) {
            return Err(Unknown::Version);
        }
        if self.is_old() && is_given != in_old {
            return Err(Unknown::Version);
        }
        Ok(is_given)
    }
}

/// What a function gives, as far as it decides whether that may be `NULL`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Value,
    Tuple,
    /// A list, a map, or what may be `NULL` anyway.
    Other,
}

impl Call<'_> {
    /// What the function gives when its arguments are not `NULL`.
    fn result(self) -> Outcome {
        let Self { name, arguments, .. } = self;
        let of_first = || match arguments.first().map(without_null) {
            Some(DataType::Array(_) | DataType::Map(..) | DataType::Nested(_)) => Outcome::Other,
            Some(DataType::Tuple(_)) => Outcome::Tuple,
            _ => Outcome::Value,
        };
        let of = |name, arguments| {
            Self {
                name,
                arguments,
                ..self
            }
            .result()
        };
        match name {
            "min" | "max" | "any" | "anyLast" | "anyHeavy" | "argMin" | "argMax" => of_first(),
            "sumCount"
            | "argAndMin"
            | "argAndMax"
            | "simpleLinearRegression"
            | "studentTTest"
            | "welchTTest"
            | "meanZTest"
            | "studentTTestOneSample"
            | "mannWhitneyUTest"
            | "kolmogorovSmirnovTest"
            | "analysisOfVariance"
            | "sumMap"
            | "minMap"
            | "maxMap" => Outcome::Tuple,
            "singleValueOrNull"
            | "retention"
            | "histogram"
            | "largestTriangleThreeBuckets"
            | "corrMatrix"
            | "covarPopMatrix"
            | "covarSampMatrix"
            | "categoricalInformationValue" => Outcome::Other,
            name if name.starts_with("group") && name.contains("Array") => Outcome::Other,
            name if name.starts_with("topK") || name.starts_with("approx_top") => Outcome::Other,
            name if name.starts_with("quantiles") => Outcome::Other,
            name => {
                let all_but_last = arguments.split_last().map_or(arguments, |(_, rest)| rest);
                if name.ends_with("OrNull")
                    || name.ends_with("ForEach")
                    || name.ends_with("Resample")
                    || name.ends_with("Map")
                {
                    Outcome::Other
                } else if name.ends_with("Tuple") {
                    Outcome::Tuple
                } else if let Some(name) = ["If", "ArgMin", "ArgMax"].iter().find_map(|end| name.strip_suffix(end)) {
                    of(name, all_but_last)
                } else if let Some(name) = ["OrDefault", "Distinct"].iter().find_map(|end| name.strip_suffix(end)) {
                    of(name, arguments)
                } else {
                    Outcome::Value
                }
            }
        }
    }

    /// Whether the function gives its default where all arguments are `NULL`, and not `NULL`.
    fn gives_default(self) -> bool {
        let mut name = self.name;
        while let Some(rest) = COMBINATORS.iter().find_map(|end| name.strip_suffix(end)) {
            name = rest;
        }
        name.starts_with("quantiles") || GIVES_DEFAULT.contains(&name)
    }

    /// The last parameters, as numbers, and the others.
    pub(super) fn last_numbers<const N: usize>(&self) -> Option<([i128; N], &str)> {
        let mut rest = self.parameters;
        let mut numbers = [0; N];
        for number in numbers.iter_mut().rev() {
            let (before, last) = rest.rsplit_once(',').unwrap_or(("", rest));
            *number = last.trim().parse().ok()?;
            rest = before.trim_end();
        }
        Some((numbers, rest))
    }
}

pub(super) fn is_nullable(argument: &DataType) -> bool {
    matches!(argument, DataType::Nullable(_))
}

fn without_null(argument: &DataType) -> &DataType {
    match argument {
        DataType::Nullable(inner) => inner,
        other => other,
    }
}

/// More than the name of a function with each of ClickHouse's combinators once, so that what follows names ends.
const MAX_NAME: usize = 256;

/// What may stand after the name of a function without changing what it gives for `NULL`.
const COMBINATORS: [&str; 10] = [
    "If",
    "Array",
    "OrNull",
    "OrDefault",
    "Distinct",
    "ForEach",
    "Resample",
    "ArgMin",
    "ArgMax",
    "Map",
];

/// Functions with `returns_default_when_only_null` among their properties, besides `quantiles…`.
const GIVES_DEFAULT: [&str; 8] = [
    "count",
    "uniq",
    "uniqExact",
    "uniqHLL12",
    "uniqUpTo",
    "deltaSum",
    "deltaSumTimestamp",
    "categoricalInformationValue",
];
