//! Dates, times and durations that cannot be written as text.
//!
//! The writers of text support a calendar of 262,143 years before and after year 0, and days of 24 hours. For other values they would write
//! an error message instead of the value.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Date64Type, DurationMillisecondType, DurationSecondType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, GenericListArray, OffsetSizeTrait, PrimitiveArray, RecordBatch,
};
use arrow_schema::{DataType, TimeUnit};

use crate::{Error, Result};

/// The range of days from 1970 that the calendar supports, with a margin.
const DAYS: i64 = 95_000_000;
const SECONDS: i64 = DAYS * 86_400;
const DAY: i64 = 86_400;
/// The longest duration in milliseconds (`chrono::TimeDelta`).
const DURATION: i64 = i64::MAX;

/// Checks that all values can be written as text.
///
/// # Errors
///
/// [`Error::Unsupported`] for the first value that cannot be written as text, with its column.
pub fn check_moments(batch: &RecordBatch) -> Result<()> {
    let columns = batch.columns().iter().zip(batch.schema_ref().fields());
    for (column, field) in columns {
        if let Some(value) = unwritable(column) {
            return Err(Error::Unsupported {
                what: format!(
                    "the value {value} of column {}, a {} beyond what can be written as text,",
                    field.name(),
                    column.data_type()
                ),
                hint: "leave it out, or CAST the column to BIGINT".to_owned(),
            });
        }
    }
    Ok(())
}

/// The first value in an array, or in nested arrays, that cannot be written as text.
fn unwritable(array: &ArrayRef) -> Option<i64> {
    let array = array.as_ref();
    match array.data_type() {
        DataType::Date32 => beyond(array.as_primitive::<Date32Type>(), -DAYS, DAYS),
        DataType::Date64 => beyond(array.as_primitive::<Date64Type>(), -SECONDS * 1_000, SECONDS * 1_000),
        DataType::Time32(TimeUnit::Second) => beyond(array.as_primitive::<Time32SecondType>(), 0, DAY - 1),
        DataType::Time32(_) => beyond(array.as_primitive::<Time32MillisecondType>(), 0, DAY * 1_000 - 1),
        DataType::Time64(TimeUnit::Microsecond) => {
            beyond(array.as_primitive::<Time64MicrosecondType>(), 0, DAY * 1_000_000 - 1)
        }
        DataType::Time64(_) => beyond(array.as_primitive::<Time64NanosecondType>(), 0, DAY * 1_000_000_000 - 1),
        DataType::Timestamp(TimeUnit::Second, _) => {
            beyond(array.as_primitive::<TimestampSecondType>(), -SECONDS, SECONDS)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => beyond(
            array.as_primitive::<TimestampMillisecondType>(),
            -SECONDS * 1_000,
            SECONDS * 1_000,
        ),
        DataType::Timestamp(TimeUnit::Microsecond, _) => beyond(
            array.as_primitive::<TimestampMicrosecondType>(),
            -SECONDS * 1_000_000,
            SECONDS * 1_000_000,
        ),
        DataType::Duration(TimeUnit::Second) => {
            let most = DURATION / 1_000;
            beyond(array.as_primitive::<DurationSecondType>(), -most, most)
        }
        DataType::Duration(TimeUnit::Millisecond) => {
            beyond(array.as_primitive::<DurationMillisecondType>(), -DURATION, DURATION)
        }
        DataType::List(_) => within(array.as_list::<i32>()),
        DataType::LargeList(_) => within(array.as_list::<i64>()),
        DataType::ListView(_) => unwritable(array.as_list_view::<i32>().values()),
        DataType::LargeListView(_) => unwritable(array.as_list_view::<i64>().values()),
        DataType::FixedSizeList(..) => unwritable(array.as_fixed_size_list().values()),
        DataType::Struct(_) => array.as_struct().columns().iter().find_map(unwritable),
        DataType::Map(..) => array.as_map().entries().columns().iter().find_map(unwritable),
        DataType::Dictionary(..) => array
            .as_any_dictionary_opt()
            .and_then(|values| unwritable(values.values())),
        _ => None,
    }
}

/// Checks only the values that the lists refer to.
fn within<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Option<i64> {
    let offsets = lists.value_offsets();
    let (first, last) = (offsets.first()?.as_usize(), offsets.last()?.as_usize());
    unwritable(&lists.values().slice(first, last - first))
}

/// The first value outside of a range.
fn beyond<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &PrimitiveArray<T>, least: i64, most: i64) -> Option<i64> {
    let mut values = array.iter().flatten().map(Into::into);
    values.find(|value| !(least..=most).contains(value))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{Date32Builder, ListBuilder};
    use arrow_array::{Date32Array, DurationSecondArray, Time32SecondArray, TimestampMicrosecondArray};

    use super::*;

    #[test]
    fn what_no_text_is_written_for_is_found_within_values_too() {
        let mut lists = ListBuilder::new(Date32Builder::new());
        lists.append_value([Some(0), None]);
        lists.append_value([Some(0), None, Some(2_147_483_647)]);
        let lists = lists.finish();
        let found: [(ArrayRef, Option<i64>); 8] = [
            (
                Arc::new(Date32Array::from(vec![Some(-719_528), None, Some(2_932_896)])),
                None,
            ),
            (Arc::new(Date32Array::from(vec![102_932_896])), Some(102_932_896)),
            (Arc::new(lists.slice(1, 1)), Some(2_147_483_647)),
            (Arc::new(lists.slice(0, 1)), None),
            (Arc::new(Time32SecondArray::from(vec![86_399])), None),
            (Arc::new(Time32SecondArray::from(vec![86_400])), Some(86_400)),
            (
                Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN])),
                Some(i64::MIN),
            ),
            (Arc::new(DurationSecondArray::from(vec![i64::MAX])), Some(i64::MAX)),
        ];
        for (array, expected) in found {
            assert_eq!(unwritable(&array), expected, "{array:?}");
        }
    }
}
