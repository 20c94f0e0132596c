//! Fills a table of a server, and creates it on request. A new or replaced table has another name until all rows are there, since DDL
//! commits implicitly; an existing one is filled in one transaction.
//!
//! Upper-case names of a new table and its columns become lower case: on most systems MySQL treats `ORDERS` and `orders` as different
//! tables. Character fields of xBase become `varchar` of their width, since texts without a limit cannot be indexed completely.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::can_cast_types;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tidemill_mysql::sql_text::quoted;
use tidemill_mysql::{Column, Fill, IfThere as FillIfThere, NewIndex, NewTable, Table, Type, accepts};

use super::{NamedTable, error_at};
use crate::stores::server::fitting::{column_of, columns_for, fitted};
use crate::stores::server::new_table::{counts, keys, old_name, small, small_names};
use crate::stores::server::{Filling, IfThere, TableOptions, TableSink};
use crate::{Error, Result};

pub(super) struct MysqlSink {
    fill: Fill,
    /// The URL without its password.
    place: String,
    /// The columns of the rows, in order.
    expected: SchemaRef,
    /// Rows that were there before; errors count rows on from them.
    rows_before: u64,
}

impl MysqlSink {
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
        let client = &named.client;
        let adds = there.keeps_rows();
        let (begun, expected) = match found {
            Some(found) if !making.create || adds => {
                let written: Vec<&Column> = found.columns.iter().filter(|column| !column.is_generated).collect();
                let fields = written.iter().map(|column| expected_field(column, schema));
                let known = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
                let expected = columns_for(&known, schema, (columns, there), &named.place)?;
                let names: Vec<String> = expected.fields().iter().map(|field| field.name().clone()).collect();
                let there = match there {
                    IfThere::Update => FillIfThere::Update,
                    _ => FillIfThere::Append,
                };
                (Fill::begin(client, &found, &names, there).await, expected)
            }
            Some(_) if there != IfThere::Replace => {
                return Err(Error::Exists {
                    place: named.place.clone(),
                });
            }
            found => {
                let (original, schema) = (schema, small_names(schema));
                let new = named_table(&named, (&schema, original), &named.table, making)?;
                let begun = match &found {
                    // The server's spelling of the name, which may differ from the URL's.
                    Some(found) => Fill::replace(client, Some(&found.database), &found.name, &new).await,
                    None => Fill::create(client, None, &small(&named.table), &new).await,
                };
                (begun, schema)
            }
        };
        Ok(Self {
            fill: begun.map_err(error_at(&named.place))?.behind(rows_before),
            rows_before,
            place: named.place.clone(),
            expected,
        })
    }
}

/// The field that the rows must have for a column: of its type, or of their own if Arrow cannot cast it but the column accepts it, as times
/// of day.
fn expected_field(column: &Column, rows: &SchemaRef) -> Field {
    let field = column.field();
    let from = column_of(rows, &column.name).map(|place| rows.field(place).data_type());
    match from.filter(|from| !can_cast_types(from, field.data_type()) && accepts(from, &column.typ)) {
        Some(from) => field.with_data_type(from.clone()),
        None => field,
    }
}

/// A new table with columns for rows of this schema.
pub(super) fn new_table(place: &str, schema: &SchemaRef, making: &TableOptions) -> Result<NewTable> {
    let mut table = NewTable::of_schema(schema).map_err(error_at(place))?;
    for (column, field) in table.columns.iter_mut().zip(schema.fields()) {
        if let Some(width) = width_of(field) {
            column.typ = Type::VarChar(width);
        }
    }
    let keys = keys(schema, making, place)?;
    table.primary_key = keys.primary;
    let indexes = keys.indexes.into_iter().map(|index| NewIndex {
        columns: index.columns,
        is_unique: index.is_unique,
    });
    table.indexes.extend(indexes);
    Ok(table)
}

/// A new table with columns for rows of this schema. Original names that were changed become comments.
fn named_table(
    named: &NamedTable,
    (schema, original): (&SchemaRef, &SchemaRef),
    table: &str,
    making: &TableOptions,
) -> Result<NewTable> {
    let mut new = new_table(&named.place, schema, making)?;
    new.comment = old_name(table, &small(table));
    for (column, field) in new.columns.iter_mut().zip(original.fields()) {
        column.counts = counts(field);
        column.comment = old_name(field.name(), &column.name);
    }
    Ok(new)
}

/// Creates an empty table with its primary key, without its other indexes.
pub(super) async fn make_draft(
    draft: &NamedTable,
    table: &str,
    schema: &SchemaRef,
    making: &TableOptions,
) -> Result<()> {
    let new = named_table(draft, (&small_names(schema), schema), table, making)?;
    let create = new.create(&quoted(&draft.table)).map_err(error_at(&draft.place))?;
    let made = draft.client.execute(&create).await;
    made.map(drop).map_err(error_at(&draft.place))
}

/// Adds the indexes to a filled draft, and renames it to the table.
pub(super) async fn publish_draft(
    draft: &Table,
    table: NamedTable,
    schema: &SchemaRef,
    making: &TableOptions,
    replaces: bool,
) -> Result<()> {
    let new = named_table(&table, (&small_names(schema), schema), &table.table, making)?;
    let found = match table.find().await {
        Ok(found) => Some(found),
        Err(Error::NotFound { .. }) => None,
        Err(error) => return Err(error),
    };
    // The server's spelling of the name, which may differ from the URL's.
    let name = found.map_or_else(|| small(&table.table), |found| found.name);
    let database = Some(draft.database.as_str());
    let published = Fill::publish(&table.client, database, &draft.name, &name, &new, replaces).await;
    published.map_err(error_at(&table.place))
}

/// The statement that creates a table with this name.
pub(super) fn ddl(table: &str, schema: &Schema) -> Result<String> {
    let schema = small_names(&Arc::new(schema.clone()));
    let made = new_table(table, &schema, &TableOptions::default())?;
    made.create(&quoted(&small(table))).map_err(error_at(table))
}

/// The width of an xBase character field in bytes, at least the number of its characters.
fn width_of(field: &Field) -> Option<u32> {
    let metadata = |key: &str| field.metadata().get(key).map(String::as_str);
    let is_character = *field.data_type() == DataType::Utf8 && metadata("xbase.type") == Some("C");
    let width = metadata("xbase.width").filter(|_| is_character)?.parse().ok()?;
    (1..=LONGEST_FIELD).contains(&width).then_some(width)
}

/// Longer texts get no limit.
const LONGEST_FIELD: u32 = 255;

#[async_trait::async_trait]
impl TableSink for MysqlSink {
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

    async fn give_up(self: Box<Self>) {
        self.fill.give_up().await;
    }
}
