//! Averages, computed here from the sums and counts of a server.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, DecimalType, Int64Type};
use arrow_array::{ArrayRef, Decimal128Array, Float64Array};
use arrow_cast::display::FormatOptions;
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{ArrowError, DataType as ArrowType};

use crate::Result;

/// The average of each group, from the sum of its values and their count; for decimals, with the digits of DataFusion's `avg`
/// (`DecimalAverager` of datafusion-functions-aggregate-common 55).
pub(super) fn average(sums: &ArrayRef, counts: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let scale = match sums.data_type() {
        ArrowType::Decimal32(_, scale) | ArrowType::Decimal64(_, scale) | ArrowType::Decimal128(_, scale) => *scale,
        _ => 0,
    };
    let sums = cast_with_options(sums, &ArrowType::Decimal128(38, scale), &STRICT)?;
    let counts = cast(counts, &ArrowType::Int64)?;
    let (sums, counts) = (
        sums.as_primitive::<Decimal128Type>(),
        counts.as_primitive::<Int64Type>(),
    );
    let groups = sums.iter().zip(counts.iter()).map(|(sum, count)| match (sum, count) {
        (Some(sum), Some(count)) if count > 0 => Some((sum, count)),
        _ => None,
    });
    let ArrowType::Decimal128(precision, to_scale) = *to else {
        let averages = groups.map(|group| group.map(|(sum, count)| sum as f64 / count as f64));
        return Ok(Arc::new(averages.collect::<Float64Array>()));
    };
    let overflow = || ArrowError::ComputeError("an average has more digits than its type".to_owned());
    let factor = u32::try_from(to_scale - scale)
        .ok()
        .and_then(|digits| 10_i128.checked_pow(digits));
    let factor = factor.ok_or_else(overflow)?;
    let averages = groups.map(|group| {
        let Some((sum, count)) = group else { return Ok(None) };
        let average = sum.checked_mul(factor).ok_or_else(overflow)? / i128::from(count);
        Decimal128Type::validate_decimal_precision(average, precision, to_scale)?;
        Ok(Some(average))
    });
    let averages = averages.collect::<Result<Decimal128Array, ArrowError>>()?;
    Ok(Arc::new(averages.with_precision_and_scale(precision, to_scale)?))
}

/// An overflow is an error.
pub(super) const STRICT: CastOptions<'_> = CastOptions {
    safe: false,
    format_options: FormatOptions::new(),
};
