//! Tables of `system` that need no data dictionary: `iota`, `tables`, `columns`, `indexes`.
//!
//! They have the columns of ADS's tables of the same name ("system.tables", "system.columns", "system.indexes" in its help) that a folder
//! of free tables can fill.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};

use super::answer::{ColumnDescription, Rows};
use super::error::Result;
use super::select::batch_of;
use super::statement::TableName;
use super::tables::Tables;
use super::value::Type;

/// The rows of a table of `system`; `None` when there is none of this name.
///
/// # Errors
/// When a table of the folder cannot be opened.
pub(super) fn rows(name: &str, tables: &mut dyn Tables) -> Result<Option<Rows>> {
    Ok(Some(match name {
        "tables" => table_rows(tables)?,
        "columns" => column_rows(tables)?,
        "indexes" => index_rows(tables)?,
        _ => return Ok(None),
    }))
}

fn table_rows(tables: &mut dyn Tables) -> Result<Rows> {
    let mut rows = Table::new(&[
        ("Name", Type::Text(200)),
        ("Table_Relative_Path", Type::Text(260)),
        ("Table_Type", Type::Integer),
        ("Record_Count", Type::Integer),
    ]);
    for name in tables.table_names()? {
        let table = tables.snapshot(&TableName::new(name.clone()))?;
        let file = table
            .table()
            .path()
            .file_name()
            .map(|file| file.to_string_lossy().into_owned());
        let kind = match table.table().header().dialect {
            tidemill_xbase::Dialect::VisualFoxPro => 4,
            tidemill_xbase::Dialect::FoxPro2 => 2,
            _ => 1,
        };
        rows.texts[0].push(Some(name));
        rows.texts[1].push(file);
        rows.numbers[2].push(kind);
        rows.numbers[3].push(i64::from(table.table().record_count()));
    }
    rows.finish()
}

fn column_rows(tables: &mut dyn Tables) -> Result<Rows> {
    let mut rows = Table::new(&[
        ("Name", Type::Text(200)),
        ("Parent", Type::Text(200)),
        ("Field_Num", Type::Integer),
        ("Field_Type", Type::Text(20)),
        ("Field_Length", Type::Integer),
        ("Field_Decimal", Type::Integer),
    ]);
    for name in tables.table_names()? {
        let table = tables.snapshot(&TableName::new(name.clone()))?;
        for (number, field) in (1..).zip(table.table().fields()) {
            let column = ColumnDescription::of_field(field.name.clone(), field, table.table());
            rows.texts[0].push(Some(column.name));
            rows.texts[1].push(Some(name.clone()));
            rows.numbers[2].push(number);
            rows.texts[3].push(Some(format!("{:?}", column.field_type)));
            rows.numbers[4].push(i64::from(column.length));
            rows.numbers[5].push(i64::from(column.decimals));
        }
    }
    rows.finish()
}

fn index_rows(tables: &mut dyn Tables) -> Result<Rows> {
    let mut rows = Table::new(&[
        ("Name", Type::Text(200)),
        ("Parent", Type::Text(200)),
        ("Index_Expression", Type::Text(510)),
        ("Index_Condition", Type::Text(510)),
        ("Index_Key_Length", Type::Integer),
    ]);
    for name in tables.table_names()? {
        let table = tables.snapshot(&TableName::new(name.clone()))?;
        for order in table.orders()? {
            let tag = order.order().tag();
            rows.texts[0].push(Some(tag.name.clone()));
            rows.texts[1].push(Some(name.clone()));
            rows.texts[2].push(Some(tag.expression.clone()));
            rows.texts[3].push(tag.condition.clone());
            rows.numbers[4].push(i64::try_from(tag.key_len).unwrap_or(i64::MAX));
        }
    }
    rows.finish()
}

/// Columns that grow side by side.
struct Table<'t> {
    columns: &'t [(&'t str, Type)],
    texts: Vec<Vec<Option<String>>>,
    numbers: Vec<Vec<i64>>,
}

impl<'t> Table<'t> {
    fn new(columns: &'t [(&'t str, Type)]) -> Self {
        Self {
            columns,
            texts: vec![Vec::new(); columns.len()],
            numbers: vec![Vec::new(); columns.len()],
        }
    }

    fn finish(self) -> Result<Rows> {
        let arrays = self.columns.iter().zip(self.texts.into_iter().zip(self.numbers));
        let arrays: Vec<ArrayRef> = arrays
            .map(|((_, type_of), (texts, numbers))| -> ArrayRef {
                match type_of {
                    Type::Integer => Arc::new(Int64Array::from(numbers)),
                    _ => Arc::new(texts.into_iter().collect::<StringArray>()),
                }
            })
            .collect();
        let rows = arrays.first().map_or(0, arrow_array::Array::len);
        let described = self.columns.iter();
        let columns: Vec<_> = described
            .map(|(name, type_of)| ColumnDescription::of_type((*name).to_owned(), *type_of))
            .collect();
        let batch = batch_of(&columns, arrays, rows)?;
        Ok(Rows {
            columns,
            batches: vec![batch],
        })
    }
}
