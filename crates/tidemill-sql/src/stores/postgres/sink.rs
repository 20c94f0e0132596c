//! Fills a table of a server, and creates it on request, in one transaction: the rows become visible when all of them are there, and a
//! replaced table can be read until then.
//!
//! Upper-case names of a new table and its columns become lower case: PostgreSQL reads unquoted `Total` and `TOTAL` as `total`.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tidemill_postgres::sql_text::quoted;
use tidemill_postgres::{Column, Fill, IfThere as FillIfThere, NewIndex, NewTable, Table};

use super::{NamedTable, error_at};
use crate::stores::server::fitting::{columns_for, fitted};
use crate::stores::server::new_table::{counts, keys, old_name, small, small_names};
use crate::stores::server::{Filling, IfThere, TableOptions, TableSink};
use crate::{Error, Result};

pub(super) struct PostgresSink {
    fill: Fill,
    /// The URL without its password.
    place: String,
    /// The columns of the rows, in order.
    expected: SchemaRef,
    /// Rows that were there before; errors count rows on from them.
    rows_before: u64,
}

/// Text for a binary column stays text, since PostgreSQL parses it (`\x00ff`). Columns are matched by position, whatever their names are.
fn with_text_for_bytes(expected: &SchemaRef, rows: &SchemaRef) -> SchemaRef {
    let fields = expected.fields().iter().enumerate().map(|(place, field)| {
        let is_text = rows
            .fields()
            .get(place)
            .is_some_and(|from| from.data_type().is_string());
        match is_text && field.data_type().is_binary() {
            true => Arc::new(Field::clone(field).with_data_type(DataType::Utf8)),
            false => Arc::clone(field),
        }
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

impl PostgresSink {
    /// Starts to fill the table. Without column names, the rows have all columns of an existing table.
    pub(super) async fn begin(named: NamedTable, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Self> {
        let &Filling {
            columns,
            making,
            there,
            rows_before,
            ..
        } = filling;
        let found = match named.find().await {
            Ok(found) => Some(found),
            Err(Error::NotFound { .. }) if making.create => None,
            Err(error) => return Err(error),
        };
        let failed = || error_at(&named.place);
        let (client, in_schema) = (&named.client, named.schema.as_deref());
        let adds = there.keeps_rows();
        let (begun, expected) = match found {
            Some(found) if !making.create || adds => {
                let written = found.columns.iter().filter(|column| !column.is_generated);
                let written = written.map(Column::field).collect::<Vec<_>>();
                let expected = columns_for(&Arc::new(Schema::new(written)), schema, (columns, there), &named.place)?;
                let expected = with_text_for_bytes(&expected, schema);
                let names: Vec<String> = expected.fields().iter().map(|field| field.name().clone()).collect();
                let there = match there {
                    IfThere::Update => FillIfThere::Update,
                    _ => FillIfThere::Append,
                };
                let begun = Fill::begin(client, &found, &names, there).await;
                (begun, expected)
            }
            Some(_) if there != IfThere::Replace => {
                return Err(Error::Exists {
                    place: named.place.clone(),
                });
            }
            found => {
                let (original, schema) = (schema, small_names(schema));
                let new = new_table(&named, (&schema, original), making)?;
                // The server's spelling of the name, which may differ from the URL's.
                let name = found
                    .as_ref()
                    .map_or_else(|| small(&named.table), |found| found.name.clone());
                let in_schema = found.as_ref().map(|found| found.schema_name.as_str()).or(in_schema);
                let begun = match &found {
                    Some(_) => Fill::replace(client, in_schema, &name, &new).await,
                    None => Fill::create(client, in_schema, &name, &new).await,
                };
                (begun, schema)
            }
        };
        Ok(Self {
            fill: begun.map_err(failed())?.behind(rows_before),
            rows_before,
            place: named.place.clone(),
            expected,
        })
    }
}

/// Creates an empty table without keys and indexes.
pub(super) async fn make_draft(draft: &NamedTable, schema: &SchemaRef, making: &TableOptions) -> Result<()> {
    let new = new_table(draft, (&small_names(schema), schema), making)?;
    let in_schema = draft.schema.as_deref().map(|schema| format!("{}.", quoted(schema)));
    let name = format!("{}{}", in_schema.unwrap_or_default(), quoted(&draft.table));
    let made = draft.client.execute(&new.create(&name)).await;
    made.map(drop).map_err(error_at(&draft.place))
}

/// Adds the keys to a filled draft, and renames it to the table.
pub(super) async fn publish_draft(
    draft: &Table,
    table: NamedTable,
    schema: &SchemaRef,
    making: &TableOptions,
    replaces: bool,
) -> Result<()> {
    let new = new_table(&table, (&small_names(schema), schema), making)?;
    let found = match table.find().await {
        Ok(found) => Some(found),
        Err(Error::NotFound { .. }) => None,
        Err(error) => return Err(error),
    };
    // The server's spelling of the name, which may differ from the URL's.
    let name = found.map_or_else(|| small(&table.table), |found| found.name);
    let in_schema = Some(draft.schema_name.as_str());
    let published = Fill::publish(&table.client, in_schema, &draft.name, &name, &new, replaces).await;
    published.map_err(error_at(&table.place))
}

/// The statement that creates a table with this name.
pub(super) fn ddl(table: &str, schema: &Schema) -> Result<String> {
    let schema = small_names(&Arc::new(schema.clone()));
    let made = NewTable::of_schema(&schema).map_err(error_at(table))?;
    Ok(made.create(&format!("\"{}\"", small(table).replace('"', "\"\""))))
}

/// A new table with columns for rows of this schema. Original names that were changed become comments.
fn new_table(
    named: &NamedTable,
    (schema, original): (&SchemaRef, &SchemaRef),
    making: &TableOptions,
) -> Result<NewTable> {
    let mut table = NewTable::of_schema(schema).map_err(error_at(&named.place))?;
    table.comment = old_name(&named.table, &small(&named.table));
    for (column, field) in table.columns.iter_mut().zip(original.fields()) {
        column.is_identity = counts(field);
        column.comment = old_name(field.name(), &column.name);
    }
    let keys = keys(schema, making, &named.place)?;
    table.primary_key = keys.primary;
    let indexes = keys.indexes.into_iter().map(|index| NewIndex {
        columns: index.columns,
        is_unique: index.is_unique,
    });
    table.indexes.extend(indexes);
    Ok(table)
}

#[async_trait::async_trait]
impl TableSink for PostgresSink {
    fn columns(&self) -> Vec<String> {
        self.expected
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let fitted = fitted(batch, &self.expected, &self.place, self.rows_before + self.fill.rows())?;
        self.fill.write(&fitted).await.map_err(error_at(&self.place))
    }

    async fn finish(self: Box<Self>) -> Result<u64> {
        self.fill.finish().await.map_err(error_at(&self.place))
    }

    /// The server rolls back the transaction when the connection ends.
    async fn give_up(self: Box<Self>) {
        drop(self.fill);
    }
}
