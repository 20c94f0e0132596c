//! The comment of a table that was made from Arrow columns, which stores their original definitions.
//!
//! Cassandra sorts a table's columns by name, spells them in lower case, and has fewer types than Arrow. The comment stores
//! the order, the spelling, the types and the metadata of the columns, as JSON:
//!
//! ```json
//! {"arrow":[{"name":"PRICE","type":"Decimal128(9, 2)","metadata":{"xbase.width":"9"}}]}
//! ```
//!
//! A column that the comment does not name, or whose values no longer have the stored type, has the type of its CQL type.

use std::collections::BTreeMap;

use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema};
use serde::{Deserialize, Serialize};

use crate::arrow_type::CQL_TYPE;
use crate::error::Result;

#[derive(Serialize, Deserialize)]
struct Comment {
    arrow: Vec<OriginalColumn>,
}

/// A column as it was when the table was made.
#[derive(Serialize, Deserialize)]
pub(crate) struct OriginalColumn {
    pub(crate) name: String,
    #[serde(rename = "type")]
    data_type: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
}

/// The comment of a new table for rows of this schema.
pub(crate) fn comment(schema: &Schema) -> String {
    let arrow = schema.fields().iter().map(|field| OriginalColumn {
        name: field.name().clone(),
        data_type: field.data_type().to_string(),
        metadata: field
            .metadata()
            .iter()
            .filter(|(key, _)| *key != CQL_TYPE)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    });
    let comment = Comment { arrow: arrow.collect() };
    // Text in a list in an object is JSON whatever the text.
    serde_json::to_string(&comment).unwrap_or_default()
}

/// The columns in a comment, in order; none if it is a comment of another kind.
pub(crate) fn read(comment: &str) -> Vec<OriginalColumn> {
    serde_json::from_str::<Comment>(comment).map_or_else(|_| Vec::new(), |comment| comment.arrow)
}

impl OriginalColumn {
    /// The field as it was, when values of `field`'s type still make values of it.
    pub(crate) fn restore(&self, field: Field) -> Field {
        let mut metadata = field.metadata().clone();
        metadata.extend(self.metadata.clone());
        let data_type = self.data_type.parse::<DataType>().ok();
        let data_type = data_type.filter(|wanted| conform(&new_empty_array(field.data_type()), wanted).is_ok());
        let data_type = data_type.unwrap_or_else(|| field.data_type().clone());
        Field::new(self.name.as_str(), data_type, true).with_metadata(metadata)
    }
}

/// The array as one of type `wanted`. A value that is not of that type is an error.
pub(crate) fn conform(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    if array.data_type() == wanted {
        return Ok(ArrayRef::clone(array));
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    Ok(cast_with_options(array, wanted, &strict)?)
}
