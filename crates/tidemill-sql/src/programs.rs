//! Converts schemas for other programs, and back.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{Field, Schema, SchemaRef};

/// The metadata key of a ClickHouse column type, for programs: they handle unknown extension types as other types.
const CLICKHOUSE_TYPE: &str = "clickhouse.type";
/// The extension type for it within this project.
const CLICKHOUSE_EXTENSION: &str = "tidemill.clickhouse";

/// A schema without the extension types of this project.
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

/// The inverse of [`for_programs`], for rows that come back.
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
