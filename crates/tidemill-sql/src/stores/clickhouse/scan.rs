//! The table provider.
//!
//! A scan is one SELECT with its columns, its limit, and the conditions that have the same meaning there (`condition.rs`). EXPLAIN shows
//! the text; the rest of the query runs here. For a scan without columns, the server returns the number of rows. Groups, joins, and LIMIT
//! with ORDER BY may be pushed down too (`select.rs`). Rows come in the server's order, which is undefined unless its table has one.
//!
//! `JSON` and `Dynamic`, whose types differ between blocks, are read as text that the server writes.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result as EngineResult;
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::Count;
use tidemill_clickhouse::{DataType, sql_text};
use tokio::sync::mpsc::Sender;

use super::condition::Columns;
use super::error_at;
use super::select::ClickHouseSql;
use super::table::ServerTable;
use crate::planned_scan::planned_scan;
use crate::stores::decimals::{widen, widened};
use crate::stores::server::condition::{condition, pushed, texts_of};
use crate::stores::server::counted;
use crate::stores::server::push_down::Operation;
use crate::stores::server::scan::{ServerRead, ServerScan};
use crate::stores::server::select::{Dialect as _, Output, Select};
use crate::{Error, Result};

/// Opens the table for the planner.
pub(super) async fn open(table: ServerTable) -> Result<Arc<dyn TableProvider>> {
    let header = table.header().await?;
    let columns = header.batch.schema();
    let columns = columns.fields().iter().zip(&header.types);
    let fields = columns.clone().map(|(field, data_type)| told_as(field, data_type));
    Ok(Arc::new(ClickHouseTable {
        schema: widened(&Arc::new(Schema::new(fields.collect::<Vec<_>>()))),
        selected: columns
            .map(|(field, data_type)| selected(field.name(), data_type))
            .collect(),
        columns: Columns::new(&header),
        table: Arc::new(table),
    }))
}

/// The field of a column in query results, whose instants are in the session's time zone.
fn told_as(field: &Field, data_type: &DataType) -> Field {
    match data_type {
        DataType::Dynamic { .. } => Field::new(field.name(), ArrowType::Utf8, true),
        _ => field.clone(),
    }
}

/// A column in the SELECT list.
fn selected(name: &str, data_type: &DataType) -> Output<DataType> {
    let name = sql_text::name(name);
    let text = match data_type {
        DataType::Dynamic { .. } => format!("CAST({name}, 'Nullable(String)') AS {name}"),
        _ => name,
    };
    Output::column(text, data_type.clone())
}

/// Whether a type contains `JSON`.
fn has_json(data_type: &DataType) -> bool {
    match data_type {
        DataType::Json(_) => true,
        DataType::Nullable(inner) | DataType::Array(inner) => has_json(inner),
        DataType::Map(key, value) => has_json(key) || has_json(value),
        DataType::Tuple(elements) => elements.iter().any(|element| has_json(&element.data_type)),
        _ => false,
    }
}

struct ClickHouseTable {
    table: Arc<ServerTable>,
    schema: SchemaRef,
    /// The columns in the SELECT list.
    selected: Vec<Output<DataType>>,
    columns: Columns,
}

impl fmt::Debug for ClickHouseTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClickHouseTable")
            .field("place", &self.table.place())
            .finish_non_exhaustive()
    }
}

impl ClickHouseTable {
    fn plan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.schema.fields().len()).collect(), Clone::clone);
        let projected = Arc::new(self.schema.project(&projection)?);
        let conditions = texts_of(filters, |filter| condition(&self.columns, filter))?;
        let columns = projection.iter().map(|&column| self.selected[column].clone());
        let select = Select::new(columns.collect(), &self.table.name(), &conditions, limit);
        let scan = ClickHouseScan {
            table: Arc::clone(&self.table),
            select,
            is_pushed: false,
            json_as_text: projected
                .fields()
                .iter()
                .any(|field| self.columns.is(field.name(), has_json)),
            projected,
        };
        Ok(DataSourceExec::from_data_source(ServerScan::new(Arc::new(scan))))
    }
}

#[async_trait::async_trait]
impl TableProvider for ClickHouseTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    planned_scan!();

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        Ok(pushed(filters, |filter| condition(&self.columns, filter)))
    }
}

/// One SELECT, in the physical plan.
#[derive(Clone)]
struct ClickHouseScan {
    /// The table, or one of the tables that it reads.
    table: Arc<ServerTable>,
    select: Select<ClickHouseSql>,
    /// Whether more than the table's scan was pushed down.
    is_pushed: bool,
    /// Whether the server writes `JSON` as text. Servers before 54429 refuse unknown settings.
    json_as_text: bool,
    /// Without columns, the server returns the number of rows.
    projected: SchemaRef,
}

/// Converts a block's rows to the schema of the plan.
pub(super) fn as_promised(batch: RecordBatch, promised: &SchemaRef, place: &str) -> Result<RecordBatch> {
    widen(batch, promised).map_err(|error| Error::Unsupported {
        what: format!("{place}: rows whose blocks differ in their types ({error})"),
        hint: "cast those columns to a type of their own, as by a view".to_owned(),
    })
}

#[async_trait::async_trait]
impl ServerRead for ClickHouseScan {
    fn name(&self) -> &'static str {
        "ClickHouseScan"
    }

    fn place(&self) -> &str {
        self.table.place()
    }

    fn query(&self) -> String {
        let text = match self.projected.fields().is_empty() {
            true => self.select.count(),
            false => self.select.text(),
        };
        match text.contains(ClickHouseSql::LEFT_JOIN) {
            true => text + " SETTINGS join_use_nulls = 1",
            false => text,
        }
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>, received: &Count) -> Result<()> {
        let failed = || error_at(self.table.place());
        if self.projected.fields().is_empty() {
            let count = self.table.number(&self.query()).await?;
            counted::send(&self.projected, count, sender).await;
            return Ok(());
        }
        if self.connections() > 1
            && let Some((columns, condition)) = self.select.of_table()
        {
            let mut read = self.table.client().read_table(self.table.name()).columns(columns);
            if let Some(condition) = condition {
                read = read.condition(condition);
            }
            let mut answer = read.stream().await.map_err(failed())?;
            while let Some(batch) = answer.next().await.map_err(failed())? {
                let batch = as_promised(batch, &self.projected, self.table.place())?;
                if sender.send(Ok(batch)).await.is_err() {
                    break;
                }
            }
            let summaries = answer.summaries().iter();
            received.add(summaries.map(|summary| counted::bytes(summary.received_bytes)).sum());
            return Ok(());
        }
        let mut query = self.table.client().query(self.query());
        if self.json_as_text {
            query = query.setting("output_format_native_write_json_as_string", 1_u64);
        }
        let mut answer = query.stream().await.map_err(failed())?;
        while let Some(batch) = answer.next().await.map_err(failed())? {
            let batch = match self.is_pushed {
                true => self.select.answer(&batch, &self.projected)?,
                false => as_promised(batch, &self.projected, self.table.place())?,
            };
            if sender.send(Ok(batch)).await.is_err() {
                break;
            }
        }
        received.add(counted::bytes(answer.summary().received_bytes));
        Ok(())
    }

    /// The number in the URL, for plain reads of the table. `JSON` as text is a setting of a single query.
    fn connections(&self) -> usize {
        let is_plain = !self.is_pushed && !self.json_as_text && self.select.of_table().is_some();
        match is_plain && !self.projected.fields().is_empty() {
            true => self.table.client().options().parallel.max(1),
            false => 1,
        }
    }

    fn push_down(&self, operation: &Operation<'_>, schema: &SchemaRef) -> Option<Arc<dyn ServerRead>> {
        let other = |other: &dyn ServerRead| -> Option<Select<ClickHouseSql>> {
            let other = (other as &dyn Any).downcast_ref::<Self>()?;
            let is_near = self.table.is_on_server_of(&other.table) && !other.json_as_text;
            is_near.then(|| other.select.clone())
        };
        let select = self.select.after(operation, other)?;
        Some(Arc::new(Self {
            table: Arc::clone(&self.table),
            select,
            is_pushed: true,
            json_as_text: self.json_as_text,
            projected: Arc::clone(schema),
        }))
    }
}

impl fmt::Debug for ClickHouseScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClickHouseScan")
            .field("place", &self.table.place())
            .field("query", &self.query())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tidemill_clickhouse::NativeReader;
    use tidemill_clickhouse::arrow_type::{self, StringType};
    use tidemill_testkit::Chdb;

    use super::*;

    /// A current server returns the promised columns in every block.
    #[test]
    fn objects_and_dynamic_columns_are_text() {
        let Some(mut server) = Chdb::need() else { return };
        let columns = [
            ("d`", "Dynamic"),
            ("j", "JSON"),
            ("a", "Array(JSON)"),
            ("n", "Nullable(Decimal(9, 2))"),
        ]
        .map(|(name, data_type)| (name, data_type.parse::<DataType>().expect(data_type)));
        let list = columns.each_ref().map(|(name, data_type)| selected(name, data_type));
        let fields = columns
            .each_ref()
            .map(|(name, data_type)| told_as(&arrow_type::field(*name, data_type, StringType::Utf8), data_type));
        let schema = widened(&Arc::new(Schema::new(fields.to_vec())));
        let json = columns.iter().any(|(_, data_type)| has_json(data_type));
        for row in [
            r#"1::Dynamic AS `d\``, '{"a":1}'::JSON AS j, ['{"b":[2]}'::JSON] AS a, 1.25::Nullable(Decimal(9, 2)) AS n"#,
            r#"'x'::Dynamic AS `d\``, '{}'::JSON AS j, []::Array(JSON) AS a, NULL::Nullable(Decimal(9, 2)) AS n"#,
        ] {
            let select = Select::<ClickHouseSql>::new(list.to_vec(), &format!("(SELECT {row})"), &[], None).text();
            let sql = format!(
                "{select} SETTINGS output_format_native_write_json_as_string = {}",
                u8::from(json)
            );
            let native = server.query(&sql, "Native").expect("an answer");
            for block in NativeReader::new(native.as_slice()) {
                let batch = block.expect("a block").batch;
                let names = batch.schema();
                assert_eq!(names.field(0).name(), "d`");
                widen(batch, &schema).expect("the columns that were promised");
            }
        }
        assert!(!has_json(&"Enum8('JSON' = 1)".parse().expect("a type")));
    }
}
