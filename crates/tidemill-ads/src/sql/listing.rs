//! Rows that the engine itself gives: those of tables of `system` and of procedures, whose columns are written as in `AdsCreateTable`.

use arrow_array::ArrayRef;

use super::answer::{ColumnDescription, Rows};
use super::error::Result;
use super::select::batch_of;
use super::value::{Type, Value};
use super::vector::Vector;
use crate::FieldType;

/// Rows that are made one after the other.
#[derive(Debug)]
pub(super) struct Listing {
    columns: Vec<(&'static str, Type)>,
    /// Which of the columns have whole numbers of 16 bits.
    short: Vec<bool>,
    rows: Vec<Vec<Value>>,
}

impl Listing {
    /// No rows, of columns like `Name,Character,200;Field_Num,Integer`.
    pub(super) fn new(definition: &'static str) -> Self {
        let columns = definition.split(';').filter(|column| !column.is_empty());
        let short = columns.clone().map(|column| column.ends_with(",ShortInt")).collect();
        let column = |written: &'static str| {
            let mut parts = written.split(',');
            let (name, type_name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let length = parts.next().and_then(|length| length.parse().ok()).unwrap_or(0);
            let type_of = match type_name {
                "Character" => Type::Text(length),
                "Integer" | "ShortInt" => Type::Integer,
                "Logical" => Type::Logical,
                "Double" => Type::Double,
                "Timestamp" => Type::Timestamp,
                "Time" => Type::Time,
                "Binary" => Type::Bytes,
                _ => Type::Memo,
            };
            (name, type_of)
        };
        Self {
            columns: columns.map(column).collect(),
            short,
            rows: Vec::new(),
        }
    }

    /// Adds a row; columns behind the last value are NULL.
    pub(super) fn row(&mut self, values: impl IntoIterator<Item = Value>) {
        let mut row: Vec<Value> = values.into_iter().collect();
        row.resize(self.columns.len(), Value::Null);
        self.rows.push(row);
    }

    /// The rows, in the order in which they were added.
    ///
    /// # Errors
    /// When a value is not of its column's type.
    pub(super) fn finish(self) -> Result<Rows> {
        let (count, mut cells) = (self.rows.len(), vec![Vec::new(); self.columns.len()]);
        for row in self.rows {
            for (column, value) in cells.iter_mut().zip(row) {
                column.push(value);
            }
        }
        let arrays = self.columns.iter().zip(cells);
        let arrays =
            arrays.map(|((_, type_of), cells)| Vector::of_values(cells, *type_of).into_answer(*type_of, count));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let columns: Vec<_> = self
            .columns
            .iter()
            .zip(self.short)
            .map(|((name, type_of), is_short)| {
                let column = ColumnDescription::of_type((*name).to_owned(), *type_of);
                match is_short {
                    true => ColumnDescription {
                        field_type: FieldType::ShortInteger,
                        length: 2,
                        ..column
                    },
                    false => column,
                }
            })
            .collect();
        let batch = batch_of(&columns, arrays, count)?;
        Ok(Rows {
            columns,
            batches: vec![batch],
        })
    }
}

/// A text.
pub(super) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// A whole number; NULL beyond 64 bits.
pub(super) fn number(number: impl TryInto<i64>) -> Value {
    number.try_into().map_or(Value::Null, Value::Integer)
}
