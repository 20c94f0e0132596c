//! Arrays of other Arrow types than those of ClickHouse's types, as they come back from files that know fewer types.

use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType as ArrowType;

use crate::{
    DataType,
    arrow_type::{StringType, arrow_type},
};

/// The values in the Arrow type of `data_type`. `None` if the type of the array is none that a file may have had in its place, or
/// there is no way there that takes every value back.
pub(crate) fn as_type(data_type: &DataType, array: &ArrayRef) -> Option<ArrayRef> {
    if !may_stand_for(data_type, array.data_type()) {
        return None;
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    [StringType::Utf8, StringType::Binary].into_iter().find_map(|strings| {
        let target = arrow_type(data_type, strings);
        // Views have no way of their own to values of one width.
        let array = match array.data_type() {
            ArrowType::BinaryView => &cast_with_options(array, &ArrowType::Binary, &strict).ok()?,
            _ => array,
        };
        let there = cast_with_options(array, &target, &strict).ok()?;
        let back = cast_with_options(&there, array.data_type(), &strict).ok()?;
        (back.to_data() == array.to_data() && there.null_count() == array.null_count()).then_some(there)
    })
}

/// Whether a column of the type may come back as this Arrow type. Numbers for text, or numbers for instants whose unit nobody knows,
/// are other columns.
fn may_stand_for(data_type: &DataType, found: &ArrowType) -> bool {
    let is_bytes = matches!(
        found,
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView | ArrowType::FixedSizeBinary(_)
    );
    let is_text = matches!(found, ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View);
    match data_type {
        DataType::Nullable(inner) | DataType::LowCardinality(inner) => may_stand_for(inner, found),
        DataType::DateTime(_) | DataType::DateTime64(..) => matches!(found, ArrowType::Timestamp(..)),
        DataType::Time64(_) => matches!(found, ArrowType::Duration(_)),
        // Of one unit only.
        DataType::Time => matches!(found, ArrowType::Duration(_)) || found.is_integer(),
        DataType::Interval(_) => matches!(found, ArrowType::Duration(_)) || found.is_integer(),
        DataType::Ipv4 => found.is_integer(),
        DataType::Int128 | DataType::UInt128 => found.is_decimal() || found.is_integer(),
        DataType::Decimal { .. } => found.is_decimal(),
        DataType::Uuid | DataType::Ipv6 | DataType::Int256 | DataType::UInt256 => is_bytes,
        DataType::FixedString(_) => is_bytes || is_text,
        DataType::Enum8(_) | DataType::Enum16(_) => is_text,
        _ => false,
    }
}
