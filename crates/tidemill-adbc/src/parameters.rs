//! Parameter values from the rows of a batch.

use adbc_core::error::Result;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use tidemill_ads::sql::Value;
use tidemill_sql::{stand_ins, values_of};

use crate::error::{invalid, of_session};

/// The values of each row, in the order of the statement's parameters. Columns are matched by position or by name.
///
/// # Errors
///
/// [`Status::InvalidArguments`](adbc_core::error::Status::InvalidArguments) for a type that ADS SQL lacks, and for a name without a column.
pub(crate) fn rows(batch: &RecordBatch, names: &[Option<String>], by_name: bool) -> Result<Vec<Vec<Value>>> {
    let columns = in_order(batch, names, by_name)?;
    values_of(&columns, batch.num_rows()).map_err(|error| invalid(error.to_string()))
}

/// The columns of a batch in the order of the statement's parameters.
fn in_order(batch: &RecordBatch, names: &[Option<String>], by_name: bool) -> Result<Vec<ArrayRef>> {
    let schema = batch.schema();
    let named = |name: &Option<String>| {
        let Some(name) = name else {
            return Err(invalid("values go by names, and a parameter is ?, which has none"));
        };
        let mut fields = schema.fields().iter();
        let place = fields.position(|field| field.name().trim_start_matches(':').eq_ignore_ascii_case(name));
        place.ok_or_else(|| invalid(format!("parameter :{name} has no value")))
    };
    let order = match by_name {
        true => names.iter().map(named).collect::<Result<Vec<_>>>()?,
        false => (0..batch.num_columns()).collect(),
    };
    let columns = order.into_iter().filter_map(|place| batch.columns().get(place));
    Ok(columns.cloned().collect())
}

/// The values of the first row, with stand-ins of the column's type for NULL; `None` if it has no NULL.
///
/// # Errors
///
/// As [`rows`].
pub(crate) fn without_nulls(
    batch: &RecordBatch,
    names: &[Option<String>],
    by_name: bool,
) -> Result<Option<Vec<Value>>> {
    let columns = in_order(batch, names, by_name)?;
    stand_ins(&columns).map_err(|error| invalid(error.to_string()))
}

/// The names and types of a statement's parameters. A type is known only once a value is bound.
///
/// # Errors
///
/// As [`parameters`](tidemill_ads::sql::parameters).
pub(crate) fn schema(sql: &str) -> Result<Schema> {
    let names = names(sql)?.into_iter();
    let fields = names.map(|name| Field::new(name.unwrap_or_default(), DataType::Null, true));
    Ok(Schema::new(fields.collect::<Vec<_>>()))
}

/// # Errors
///
/// As [`parameters`](tidemill_ads::sql::parameters).
pub(crate) fn names(sql: &str) -> Result<Vec<Option<String>>> {
    tidemill_ads::sql::parameters(sql).map_err(|error| of_session(error.into()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::StringArray;

    use super::*;

    #[test]
    fn named_parameters_go_by_name_and_others_by_place() {
        let text = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("b", text("B")), ("a", text("A"))]).expect("a batch");
        let named = [Some("A".to_owned()), Some("B".to_owned())];
        let letters = |by_name| rows(&batch, &named, by_name).expect("values").remove(0);
        let value = |text: &str| Value::Text(text.to_owned());
        assert_eq!(letters(true), [value("A"), value("B")]);
        assert_eq!(letters(false), [value("B"), value("A")]);
        for unknown in [None, Some("C".to_owned())] {
            assert!(rows(&batch, &[unknown], true).is_err());
        }
    }
}
