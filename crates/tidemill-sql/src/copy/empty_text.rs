//! Empty text and NULL, of which some formats have only one: what a copy makes of the other is counted, and told.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_cast::cast;
use arrow_schema::{DataType, Schema};
use tidemill_xbase::Dialect;

use crate::Result;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::sink::{FileOptions, is_adt};

/// What a format has in the place of empty text and of NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// NULL is read as empty text.
    EmptyText,
    /// Empty text is read as NULL.
    Null,
}

/// Counts the values of columns of text that become others.
#[derive(Debug)]
pub(super) struct EmptyText {
    kept: Kept,
    /// Place, name, and how many values became others so far.
    columns: Vec<(usize, String, u64)>,
}

impl EmptyText {
    /// `None` for a destination that has both, and for one without columns of text.
    pub(super) fn of(destination: &Location, options: &FileOptions, schema: &Schema) -> Option<Self> {
        let kept = match (destination.format, &destination.place) {
            (Format::Xbase, Place::File(path)) if is_adt(path) => Kept::Null,
            (Format::Xbase, _) if options.dialect == Dialect::VisualFoxPro => return None,
            (Format::Xbase, _) => Kept::EmptyText,
            (Format::Excel(_), _) => Kept::Null,
            _ => return None,
        };
        let fields = schema.fields().iter().enumerate();
        let columns = fields.filter(|(_, field)| is_text(field.data_type()));
        let columns: Vec<_> = columns.map(|(place, field)| (place, field.name().clone(), 0)).collect();
        (!columns.is_empty()).then_some(Self { kept, columns })
    }

    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for (place, _, count) in &mut self.columns {
            let Some(column) = batch.columns().get(*place) else {
                continue;
            };
            *count += match self.kept {
                Kept::EmptyText => column.logical_null_count() as u64,
                Kept::Null => {
                    let text = cast(column, &DataType::Utf8)?;
                    text.as_string::<i32>()
                        .iter()
                        .filter(|value| *value == Some(""))
                        .count() as u64
                }
            };
        }
        Ok(())
    }

    /// A line for each column with such values.
    pub(super) fn notes(&self, destination: &Location) -> Vec<String> {
        let (from, to) = match self.kept {
            Kept::EmptyText => ("NULL", "empty text"),
            Kept::Null => ("empty text", "NULL"),
        };
        let changed = self.columns.iter().filter(|(_, _, count)| *count > 0);
        let notes = changed.map(|(_, name, count)| {
            let rows = if *count == 1 { "row" } else { "rows" };
            format!("{destination}: column {name}: {from} became {to} in {count} {rows}")
        });
        notes.collect()
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => values.is_string(),
        data_type => data_type.is_string(),
    }
}
