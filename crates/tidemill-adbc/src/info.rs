//! Information about the driver.

use std::collections::HashSet;
use std::sync::Arc;

use adbc_core::constants::ADBC_VERSION_1_1_0;
use adbc_core::error::Result;
use adbc_core::options::InfoCode;
use adbc_core::schemas::GET_INFO_SCHEMA;
use arrow_array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array, UnionArray, new_empty_array,
};
use arrow_schema::DataType;

/// The version of the Arrow crates that are built in.
const ARROW_VERSION: &str = "v59";

enum Value {
    Text(&'static str),
    Flag(bool),
    Number(i64),
}

/// The requested information; `None` is all.
///
/// # Errors
///
/// None known.
pub(crate) fn batch(codes: Option<&HashSet<InfoCode>>) -> Result<RecordBatch> {
    let version = env!("CARGO_PKG_VERSION");
    let known = [
        (InfoCode::VendorName, Value::Text("Tidemill")),
        (InfoCode::VendorVersion, Value::Text(version)),
        (InfoCode::VendorArrowVersion, Value::Text(ARROW_VERSION)),
        (InfoCode::VendorSql, Value::Flag(true)),
        (InfoCode::VendorSubstrait, Value::Flag(false)),
        (InfoCode::DriverName, Value::Text("ADBC Tidemill Driver")),
        (InfoCode::DriverVersion, Value::Text(version)),
        (InfoCode::DriverArrowVersion, Value::Text(ARROW_VERSION)),
        (InfoCode::DriverAdbcVersion, Value::Number(ADBC_VERSION_1_1_0.into())),
    ];
    let asked = known
        .into_iter()
        .filter(|(code, _)| codes.is_none_or(|codes| codes.contains(code)));
    let (mut names, mut types, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    let (mut texts, mut flags, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (code, value) in asked {
        names.push(u32::from(&code));
        let (type_id, offset) = match value {
            Value::Text(text) => (0, push(&mut texts, text)),
            Value::Flag(flag) => (1, push(&mut flags, flag)),
            Value::Number(number) => (2, push(&mut numbers, number)),
        };
        types.push(type_id);
        offsets.push(offset);
    }
    let schema = GET_INFO_SCHEMA.clone();
    let DataType::Union(fields, _) = schema.field(1).data_type().clone() else {
        return Err(crate::error::invalid_state("information is a union in ADBC"));
    };
    let mut children: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(texts)),
        Arc::new(BooleanArray::from(flags)),
        Arc::new(Int64Array::from(numbers)),
    ];
    let others = fields.iter().skip(children.len());
    children.extend(others.map(|(_, field)| new_empty_array(field.data_type())));
    let values = UnionArray::try_new(fields, types.into(), Some(offsets.into()), children)?;
    let names = UInt32Array::from(names);
    Ok(RecordBatch::try_new(schema, vec![Arc::new(names), Arc::new(values)])?)
}

/// Appends a value, and returns its offset.
fn push<T>(values: &mut Vec<T>, value: T) -> i32 {
    values.push(value);
    i32::try_from(values.len() - 1).unwrap_or(i32::MAX)
}
