//! Schemas as other programs take them, and give them back.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{Field, Schema, SchemaRef};

/// Where a column's type at a ClickHouse server is, for programs: they take an extension type that they do not know for another type.
const CLICKHOUSE_TYPE: &str = "clickhouse.type";
/// The extension type by which the engine knows it.
const CLICKHOUSE_EXTENSION: &str = "tidemill.clickhouse";

/// A schema in which no column is of an extension type that only this project knows.
pub fn for_programs(schema: &SchemaRef) -> SchemaRef {
    renamed(schema, |metadata| {
        if metadata.get(EXTENSION_TYPE_NAME_KEY).map(String::as_str) == Some(CLICKHOUSE_EXTENSION) {
            metadata.remove(EXTENSION_TYPE_NAME_KEY);
            if let Some(data_type) = metadata.remove(EXTENSION_TYPE_METADATA_KEY) {
                metadata.insert(CLICKHOUSE_TYPE.to_owned(), data_type);
            }
        }
    })
}

/// The schema that [`for_programs`] was given, of rows that come back.
pub fn from_programs(schema: &SchemaRef) -> SchemaRef {
    renamed(schema, |metadata| {
        if let Some(data_type) = metadata.remove(CLICKHOUSE_TYPE) {
            metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), CLICKHOUSE_EXTENSION.to_owned());
            metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), data_type);
        }
    })
}

fn renamed(schema: &SchemaRef, change: impl Fn(&mut HashMap<String, String>)) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let mut metadata = field.metadata().clone();
        change(&mut metadata);
        field.as_ref().clone().with_metadata(metadata)
    });
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}
