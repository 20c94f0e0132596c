//! What the ends of the names of functions change about their states: `sumIf`, `uniqArray`, `avgForEach`, …

use super::{
    form::{Call, Form, Known, Unknown},
    part::{Count, Part},
    value::number_or_enum,
};
use crate::DataType;

impl Form {
    /// The parts of a state of a function whose name ends with that of a combinator.
    ///
    /// Sources: `Combinators` among the `AggregateFunctions` of ClickHouse.
    pub(super) fn combinator(self, call: Call<'_>) -> Known {
        let Call { name, arguments, .. } = call;
        let nested = |name, arguments: &[DataType]| {
            self.call(Call {
                name,
                arguments,
                ..call
            })
        };
        let one_of_several = |name, arguments: &[DataType]| {
            let form = Self {
                is_one_of_several: true,
                ..self
            };
            form.call(Call {
                name,
                arguments,
                ..call
            })
        };
        if let Some(name) = name.strip_suffix("If") {
            return match arguments.split_last() {
                Some((DataType::UInt8 | DataType::Bool, arguments)) => nested(name, arguments),
                _ => Err(Unknown::Length),
            };
        }
        if let Some(name) = name.strip_suffix("Array") {
            return nested(name, &items(arguments)?);
        }
        if let Some(name) = name.strip_suffix("ForEach") {
            let each = one_of_several(name, &items(arguments)?)?;
            return Ok(vec![Part::repeat(Count::U64, each)]);
        }
        if let Some(name) = name.strip_suffix("OrNull").or_else(|| name.strip_suffix("OrDefault")) {
            // Whether there was a row comes last.
            return Ok([nested(name, arguments)?, vec![Part::Fixed(1)]].concat());
        }
        if name.ends_with("Distinct") {
            // The state is the set of what the function gets in the end.
            let value = match arguments {
                [value] => number_or_enum(value).map_or(Part::Bytes, Part::Fixed),
                _ => Part::Bytes,
            };
            return Ok(vec![Part::repeat(Count::Varint, vec![value])]);
        }
        if let Some(name) = name.strip_suffix("ArgMin").or_else(|| name.strip_suffix("ArgMax")) {
            let (value, arguments) = arguments.split_last().ok_or(Unknown::Length)?;
            return Ok([nested(name, arguments)?, self.single_value(value)?].concat());
        }
        if let Some(name) = name.strip_suffix("Resample") {
            return self.resample(Call { name, ..call });
        }
        if name.ends_with("Merge") {
            let [DataType::AggregateFunction(function)] = arguments else {
                return Err(Unknown::Length);
            };
            return self.nested_state(function);
        }
        if let Some(name) = name.strip_suffix("SimpleState").or_else(|| name.strip_suffix("State")) {
            return nested(name, arguments);
        }
        match (name.strip_suffix("Map"), name.strip_suffix("Tuple"), arguments) {
            (Some(name), _, [DataType::Map(key, value)]) => {
                let value = one_of_several(name, std::slice::from_ref(value))?;
                let key = match &**key {
                    DataType::FixedString(_) => vec![Part::Bytes],
                    key => self.value(key)?,
                };
                Ok(vec![Part::repeat(Count::Varint, [key, value].concat())])
            }
            (_, Some(name), [DataType::Tuple(elements)]) => {
                let parts = elements
                    .iter()
                    .map(|element| nested(name, std::slice::from_ref(&element.data_type)));
                Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
            }
            _ => Err(Unknown::Length),
        }
    }

    /// A state for each step from the beginning to the end that are the last parameters.
    fn resample(self, call: Call<'_>) -> Known {
        let ([begin, end, step], parameters) = call.last_numbers().ok_or(Unknown::Length)?;
        let (_, arguments) = call.arguments.split_last().ok_or(Unknown::Length)?;
        let count = match (step, end.checked_sub(begin)) {
            (1.., Some(width @ 1..)) => u64::try_from((width - 1) / step + 1).unwrap_or(u64::MAX),
            _ => return Err(Unknown::Length),
        };
        if count > MAX_RESAMPLES {
            return Err(Unknown::Length);
        }
        let each = self.call(Call {
            name: call.name,
            parameters,
            arguments,
        })?;
        if each.is_empty() {
            return Err(Unknown::Length);
        }
        Ok(vec![Part::repeat(Count::Given(count), each)])
    }
}

/// The types of the items of arrays.
fn items(arrays: &[DataType]) -> Result<Vec<DataType>, Unknown> {
    let item = |array: &DataType| match array {
        DataType::Array(item) => Ok((**item).clone()),
        _ => Err(Unknown::Length),
    };
    arrays.iter().map(item).collect()
}

/// The most that ClickHouse makes.
const MAX_RESAMPLES: u64 = 1 << 20;
