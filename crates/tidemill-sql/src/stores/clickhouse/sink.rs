//! Fills a table of a ClickHouse server, and creates it on request.
//!
//! A new table is a draft until it is complete (`draft.rs`). Rows are inserted into an existing table as they arrive; after an error, the
//! inserted rows remain.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Schema, SchemaRef};
use tidemill_clickhouse::client::Insert;
use tidemill_clickhouse::packet::server::ServerHello;
use tidemill_clickhouse::{DataType, arrow_type, sql_text};
use uuid::Uuid;

use super::draft::Draft;
use super::error_at;
use super::order_key::{is_ordered, spelled, with_key};
use super::table::ServerTable;
use crate::Result;
use crate::stores::server::fitting::{column_of, fitted};
use crate::stores::server::{Filling, IfThere, TableOptions, TableSink};

pub(super) struct ClickHouseSink {
    table: ServerTable,
    insert: Insert,
    /// The columns of the rows, in order.
    expected: SchemaRef,
    draft: Option<Draft>,
    rows: u64,
}

impl ClickHouseSink {
    /// Starts to fill the table. Without column names, the rows have all columns of the table.
    pub(super) async fn begin(mut table: ServerTable, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Self> {
        let &Filling {
            columns,
            making: options,
            there,
            job,
            ..
        } = filling;
        let mut draft = None;
        let adds = there.keeps_rows();
        if !options.create || (adds && table.exists().await?) {
            table = table.found().await?;
        } else if there == IfThere::GoOn {
            // The server may still be creating it for a killed copy.
            let name = format!("IF NOT EXISTS {}", table.name());
            make_table(&table, &name, schema, options).await?;
            table = table.found().await?;
        } else {
            draft = Some(Draft::make(&table, schema, options, there).await?);
        }
        let into = draft
            .as_ref()
            .map_or_else(|| table.name(), |draft| draft.name().to_owned());
        let mut insert = table.client().insert(into);
        if !columns.is_empty() {
            insert = insert.columns(columns);
        }
        if let Some(job) = job {
            insert = insert.query_id(format!("{job}{}", Uuid::new_v4().simple()));
        }
        let begun = insert.begin().await.map_err(error_at(table.place()));
        match (begun, draft) {
            (Ok(insert), draft) => Ok(Self {
                expected: with_bytes_for_text(&insert.schema(), schema),
                table,
                insert,
                draft,
                rows: 0,
            }),
            (Err(error), Some(draft)) => {
                draft.drop(&table).await;
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }
}

/// Binary values for a String column stay binary, since they need not be valid text.
fn with_bytes_for_text(expected: &SchemaRef, rows: &SchemaRef) -> SchemaRef {
    let fields = expected.fields().iter().map(|field| {
        let is_bytes = column_of(rows, field.name()).is_some_and(|place| rows.field(place).data_type().is_binary());
        match is_bytes && field.data_type().is_string() {
            true => Arc::new(Field::clone(field).with_data_type(ArrowType::Binary)),
            false => Arc::clone(field),
        }
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

#[async_trait::async_trait]
impl TableSink for ClickHouseSink {
    fn columns(&self) -> Vec<String> {
        let schema = self.insert.schema();
        schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let fitted = fitted(batch, &self.expected, self.table.place(), self.rows)?;
        self.rows += batch.num_rows() as u64;
        let written = self.insert.write(&fitted).await;
        written.map_err(error_at(self.table.place()))
    }

    /// Renames a draft.
    async fn finish(self: Box<Self>) -> Result<u64> {
        let Self {
            table, insert, draft, ..
        } = *self;
        let inserted = insert.finish().await.map_err(error_at(table.place()));
        let Some(mut draft) = draft else {
            return Ok(inserted?.rows);
        };
        let finished = match inserted {
            Ok(inserted) => draft.publish(&table, inserted.rows).await.map(|()| inserted.rows),
            Err(error) => Err(error),
        };
        if finished.is_err() {
            draft.drop(&table).await;
        }
        finished
    }

    async fn give_up(self: Box<Self>) {
        let Self {
            table, insert, draft, ..
        } = *self;
        drop(insert);
        if let Some(draft) = draft {
            draft.drop(&table).await;
        }
    }
}

/// Creates a table with columns for rows of this schema. `name` follows CREATE TABLE.
pub(super) async fn make_table(
    table: &ServerTable,
    name: &str,
    schema: &SchemaRef,
    options: &TableOptions,
) -> Result<()> {
    let options = &spelled(options, schema);
    let columns = new_columns(table, schema, options).await?;
    let columns = columns
        .iter()
        .map(|(field, data_type)| format!("{} {data_type}", sql_text::name(field.name())));
    let order = match is_ordered(options) {
        true => format!(" ORDER BY {}", options.order_by),
        false => String::new(),
    };
    let columns = columns.collect::<Vec<_>>().join(", ");
    let made = format!("CREATE TABLE {name} ({columns}) ENGINE = {}{order}", options.engine);
    table.execute(&made).await
}

/// The columns of a new table, in types that its server has.
pub(super) async fn new_columns(
    table: &ServerTable,
    schema: &Schema,
    options: &TableOptions,
) -> Result<Vec<(FieldRef, DataType)>> {
    let failed = || error_at(table.place());
    let hello = table.client().server().await.map_err(failed())?;
    let mut columns = Vec::new();
    for field in with_key(schema, &spelled(options, schema)).fields() {
        let data_type = column_type(field, &hello).map_err(failed())?;
        columns.push((Arc::clone(field), data_type));
    }
    Ok(columns)
}

/// The statement that creates a table with this name, which keeps the order of rows, on a server with all types.
pub(super) fn ddl(table: &str, schema: &Schema) -> Result<String> {
    let columns = schema.fields().iter().map(|field| {
        let data_type = arrow_type::data_type(field).map_err(error_at(table))?;
        Ok(format!("{} {data_type}", sql_text::name(field.name())))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let made = crate::ddl::statement(&sql_text::name(table), columns.into_iter());
    Ok(format!("{made}\nENGINE = MergeTree ORDER BY tuple()"))
}

/// Whether an engine keeps every row: others merge rows with equal keys, or store none.
pub(super) fn keeps_rows(engine: &str) -> bool {
    let name = engine.split('(').next().unwrap_or_default().trim();
    let name = name.strip_prefix("Replicated").unwrap_or(name);
    ["MergeTree", "Memory", "Log", "TinyLog", "StripeLog"].contains(&name)
}

/// The type of a new table's column, among those of the server.
fn column_type(field: &Field, hello: &ServerHello) -> tidemill_clickhouse::Result<DataType> {
    let data_type = arrow_type::data_type(field)?;
    Ok(known_type(data_type, (hello.version_major, hello.version_minor)))
}

/// A type, or its replacement on a server of this version. Values outside its range are refused one by one.
fn known_type(data_type: DataType, version: (u64, u64)) -> DataType {
    /// The versions that introduced a type: `CHANGELOG` of ClickHouse.
    const DATE_TIME_64: (u64, u64) = (20, 1);
    const DATE_32: (u64, u64) = (21, 9);
    const BOOL: (u64, u64) = (21, 12);
    match data_type {
        DataType::Nullable(inner) => DataType::Nullable(Arc::new(known_type(inner.as_ref().clone(), version))),
        DataType::Array(inner) => DataType::Array(Arc::new(known_type(inner.as_ref().clone(), version))),
        DataType::LowCardinality(inner) if version < (19, 0) => known_type(inner.as_ref().clone(), version),
        DataType::Bool if version < BOOL => DataType::UInt8,
        DataType::Date32 if version < DATE_32 => DataType::Date,
        // A time without zone is displayed unchanged.
        DataType::DateTime64(_, zone) if version < DATE_TIME_64 => DataType::DateTime(zone.or(Some("UTC".into()))),
        DataType::DateTime64(precision, None) => DataType::DateTime64(precision, Some("UTC".into())),
        other => other,
    }
}
