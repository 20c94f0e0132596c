//! Converts the rows of an engine's answer to rows of ADS SQL.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field as ArrowField, SchemaRef};

use crate::FieldType;
use crate::sql::answer::{ColumnDescription, Rows};
use crate::sql::value::Type;

impl ColumnDescription {
    /// A column of an engine's answer. A field of a table has the type in its metadata.
    pub fn of_arrow(field: &ArrowField) -> Self {
        let get = |key: &str| field.metadata().get(key).map(String::as_str);
        let remembered = get("xbase.type").and_then(|letter| {
            let width: u32 = get("xbase.width")?.parse().ok()?;
            let decimals: u16 = get("xbase.decimals")?.parse().ok()?;
            let field_type = match letter {
                "C" => FieldType::String,
                "V" => FieldType::VarcharFox,
                "N" | "F" => FieldType::Numeric,
                "L" => FieldType::Logical,
                "D" => FieldType::Date,
                "I" if decimals == 0 => FieldType::Integer,
                "B" => FieldType::Double,
                "Y" => FieldType::Money,
                "T" => FieldType::Timestamp,
                "M" => return Some((FieldType::Memo, 0, 0)),
                _ => return None,
            };
            Some((field_type, width, decimals))
        });
        let name = field.name().clone();
        match remembered {
            Some((field_type, length, decimals)) => Self {
                name,
                field_type,
                length,
                decimals,
            },
            None => Self::of_type(name, Type::of_arrow(field.data_type(), None).unwrap_or(Type::Bytes)),
        }
    }
}

impl Rows {
    /// The rows of an engine's answer, with the column types that clients see.
    pub fn of_batches(schema: &SchemaRef, mut batches: Vec<RecordBatch>) -> Self {
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(Arc::clone(schema)));
        }
        let columns = schema.fields().iter().map(|field| ColumnDescription::of_arrow(field));
        Self {
            columns: columns.collect(),
            batches,
        }
    }
}
