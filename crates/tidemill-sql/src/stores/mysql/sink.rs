//! A table of a server, filled and, when asked, made. One that is made or replaced has another name until all rows are there, since
//! statements that make tables commit by themselves; one that is there is filled in one transaction.
//!
//! Names of a new table and of its columns that have no small letters are made small: on most systems MySQL takes `ORDERS` and `orders` for
//! two tables. Character fields of xBase are made a `varchar` of their width, since texts without a limit have no whole index.

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
    /// Rows that are there already, of which errors count on.
    rows_before: u64,
}

impl MysqlSink {
    /// Begins to fill the table. Without names of columns, rows are for all columns of a table that is there.
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
                    // The name as the server has it, where the URL spells it in other letters.
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

/// The field that rows have for a column: of the type that it is read in, or of their own where Arrow has no cast and the column takes it,
/// as times of a day.
fn expected_field(column: &Column, rows: &SchemaRef) -> Field {
    let field = column.field();
    let from = column_of(rows, &column.name).map(|place| rows.field(place).data_type());
    match from.filter(|from| !can_cast_types(from, field.data_type()) && accepts(from, &column.typ)) {
        Some(from) => field.with_data_type(from.clone()),
        None => field,
    }
}

/// A table with columns for rows of this schema.
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

/// A table with columns for rows of this schema. Names that are changed stay as comments.
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

/// Makes an empty table with its primary key, without its other indexes.
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

/// Gives a draft that is filled its indexes and the name of the table.
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
    // The name as the server has it, where the URL spells it in other letters.
    let name = found.map_or_else(|| small(&table.table), |found| found.name);
    let database = Some(draft.database.as_str());
    let published = Fill::publish(&table.client, database, &draft.name, &name, &new, replaces).await;
    published.map_err(error_at(&table.place))
}

/// The statement that makes a table of this name.
pub(super) fn ddl(table: &str, schema: &Schema) -> Result<String> {
    let schema = small_names(&Arc::new(schema.clone()));
    let made = new_table(table, &schema, &TableOptions::default())?;
    made.create(&quoted(&small(table))).map_err(error_at(table))
}

/// The width of a character field of xBase, in bytes, which are at least as many as its letters.
fn width_of(field: &Field) -> Option<u32> {
    let metadata = |key: &str| field.metadata().get(key).map(String::as_str);
    let is_character = *field.data_type() == DataType::Utf8 && metadata("xbase.type") == Some("C");
    let width = metadata("xbase.width").filter(|_| is_character)?.parse().ok()?;
    (1..=LONGEST_FIELD).contains(&width).then_some(width)
}

/// Longer texts stay without a limit.
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
