//! Some formats have only one of empty text or bytes and NULL. A copy counts and reports the values that become the other.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_cast::cast;
use arrow_schema::{DataType, Schema};
use tidemill_xbase::Dialect;

use crate::Result;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::sink::{FileOptions, is_adt};

/// What a format lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// NULL is read back as an empty value.
    Empty,
    /// An empty value is read back as NULL.
    Null,
}

/// Counts the changed values of text and binary columns.
#[derive(Debug)]
pub(super) struct EmptyValues {
    kept: Kept,
    columns: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    place: usize,
    name: String,
    /// The name of its empty value in messages.
    empty: &'static str,
    /// How many values were changed so far.
    count: u64,
}

impl EmptyValues {
    /// `None` for a destination that has both, or without such columns.
    pub(super) fn of(destination: &Location, options: &FileOptions, schema: &Schema) -> Option<Self> {
        let kept = match (destination.format, &destination.place) {
            (Format::Xbase, Place::File(path)) if is_adt(path) => Kept::Null,
            (Format::Xbase, _) if options.dialect == Dialect::VisualFoxPro => return None,
            (Format::Xbase, _) => Kept::Empty,
            (Format::Excel(_), _) => Kept::Null,
            _ => return None,
        };
        let fields = schema.fields().iter().enumerate();
        let columns = fields.filter_map(|(place, field)| {
            Some(Counted {
                place,
                name: field.name().clone(),
                empty: empty_value(field.data_type())?,
                count: 0,
            })
        });
        let columns: Vec<_> = columns.collect();
        (!columns.is_empty()).then_some(Self { kept, columns })
    }

    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for Counted { place, count, .. } in &mut self.columns {
            let Some(column) = batch.columns().get(*place) else {
                continue;
            };
            *count += match self.kept {
                Kept::Empty => column.logical_null_count() as u64,
                Kept::Null => {
                    let bytes = cast(column, &DataType::Binary)?;
                    let values = bytes.as_binary::<i32>().iter();
                    values.filter(|value| value.is_some_and(<[u8]>::is_empty)).count() as u64
                }
            };
        }
        Ok(())
    }

    /// A line for each column with changed values.
    pub(super) fn notes(&self, destination: &Location) -> Vec<String> {
        let changed = self.columns.iter().filter(|column| column.count > 0);
        let notes = changed.map(|Counted { name, empty, count, .. }| {
            let (from, to) = match self.kept {
                Kept::Empty => ("NULL", *empty),
                Kept::Null => (*empty, "NULL"),
            };
            let rows = if *count == 1 { "row" } else { "rows" };
            format!("{destination}: column {name}: {from} became {to} in {count} {rows}")
        });
        notes.collect()
    }
}

/// The name of a type's empty value in messages; `None` for types without one.
fn empty_value(data_type: &DataType) -> Option<&'static str> {
    match data_type {
        DataType::Dictionary(_, values) => empty_value(values),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some("empty bytes"),
        // It is written as a text column.
        DataType::Null => Some("empty text"),
        data_type => data_type.is_string().then_some("empty text"),
    }
}
