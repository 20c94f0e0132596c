//! A table as the planner scans it.
//!
//! A scan is one SELECT: its columns, its limit, and the conditions that mean the same there as here (`condition.rs`) are in the
//! text, which EXPLAIN shows; what is left of the statement runs here. A scan that wants no columns but only rows to count asks
//! the server for their number. Rows come in the order in which the server sends them, which is none unless its table has one.
//!
//! `JSON` and `Dynamic`, whose blocks differ in their types, are text: the server writes it.

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
use tidemill_clickhouse::{DataType, sql_text};
use tokio::sync::mpsc::Sender;

use super::condition::{Columns, Condition};
use super::error_at;
use super::table::ServerTable;
use crate::stores::decimals::{widen, widened};
use crate::stores::server::scan::{ServerRead, ServerScan, uncounted};
use crate::{Error, Result};

/// The table as the planner scans it.
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

/// The field of a column in the answers to our queries, whose instants are in the time zone of the session.
fn told_as(field: &Field, data_type: &DataType) -> Field {
    match data_type {
        DataType::Dynamic { .. } => Field::new(field.name(), ArrowType::Utf8, true),
        _ => field.clone(),
    }
}

/// A column in the list of a SELECT.
fn selected(name: &str, data_type: &DataType) -> String {
    let name = sql_text::name(name);
    match data_type {
        DataType::Dynamic { .. } => format!("CAST({name}, 'Nullable(String)') AS {name}"),
        _ => name,
    }
}

/// Whether `JSON` is in a type.
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
    /// The columns in the list of a SELECT.
    selected: Vec<String>,
    columns: Columns,
}

impl fmt::Debug for ClickHouseTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClickHouseTable")
            .field("place", &self.table.place())
            .finish_non_exhaustive()
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

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.map_or_else(|| (0..self.schema.fields().len()).collect(), Clone::clone);
        let projected = Arc::new(self.schema.project(&projection)?);
        let mut rows = format!("FROM {}", self.table.name());
        let conditions = filters.iter().filter_map(|filter| self.columns.condition(filter));
        let conditions: Vec<String> = conditions.map(|condition| condition.text).collect();
        if !conditions.is_empty() {
            rows += &format!(" WHERE {}", conditions.join(" AND "));
        }
        if let Some(limit) = limit {
            rows += &format!(" LIMIT {limit}");
        }
        let names: Vec<&str> = projection
            .iter()
            .map(|&column| self.selected[column].as_str())
            .collect();
        let query = match (names.is_empty(), limit) {
            (false, _) => format!("SELECT {} {rows}", names.join(", ")),
            (true, None) => format!("SELECT count() {rows}"),
            (true, Some(_)) => format!("SELECT count() FROM (SELECT 1 {rows})"),
        };
        let scan = ClickHouseScan {
            table: Arc::clone(&self.table),
            query,
            json_as_text: projected
                .fields()
                .iter()
                .any(|field| self.columns.is(field.name(), has_json)),
            projected,
        };
        Ok(DataSourceExec::from_data_source(ServerScan(scan)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        let pushed = filters.iter().map(|filter| match self.columns.condition(filter) {
            Some(Condition { exact: true, .. }) => TableProviderFilterPushDown::Exact,
            Some(Condition { exact: false, .. }) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        });
        Ok(pushed.collect())
    }
}

/// One SELECT, as the physical plan holds it.
#[derive(Clone)]
struct ClickHouseScan {
    table: Arc<ServerTable>,
    query: String,
    /// Whether the server is asked to write `JSON` as text. Servers before 54429 refuse settings that they don't know.
    json_as_text: bool,
    /// Without columns, the answer to `query` is the number of rows.
    projected: SchemaRef,
}

/// The rows of a block in the columns that were promised for all of them.
pub(super) fn as_promised(batch: RecordBatch, promised: &SchemaRef, place: &str) -> Result<RecordBatch> {
    widen(batch, promised).map_err(|error| Error::Unsupported {
        what: format!("{place}: rows whose blocks differ in their types ({error})"),
        hint: "cast those columns to a type of their own, as by a view".to_owned(),
    })
}

#[async_trait::async_trait]
impl ServerRead for ClickHouseScan {
    const NAME: &'static str = "ClickHouseScan";

    fn place(&self) -> &str {
        self.table.place()
    }

    fn query(&self) -> String {
        self.query.clone()
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>) -> Result<()> {
        let failed = || error_at(self.table.place());
        if self.projected.fields().is_empty() {
            let count = self.table.number(&self.query).await?;
            for rows in uncounted(&self.projected, count) {
                if sender.send(rows.map_err(Into::into)).await.is_err() {
                    break;
                }
            }
            return Ok(());
        }
        let mut query = self.table.client().query(self.query.as_str());
        if self.json_as_text {
            query = query.setting("output_format_native_write_json_as_string", 1_u64);
        }
        let mut answer = query.stream().await.map_err(failed())?;
        while let Some(batch) = answer.next().await.map_err(failed())? {
            if sender
                .send(Ok(as_promised(batch, &self.projected, self.table.place())?))
                .await
                .is_err()
            {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tidemill_clickhouse::NativeReader;
    use tidemill_clickhouse::arrow_type::{self, StringType};
    use tidemill_testkit::Chdb;

    use super::*;

    /// A server of today answers our SELECT with the columns that we promise, in every block.
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
        let list = columns
            .each_ref()
            .map(|(name, data_type)| selected(name, data_type))
            .join(", ");
        let fields = columns
            .each_ref()
            .map(|(name, data_type)| told_as(&arrow_type::field(*name, data_type, StringType::Utf8), data_type));
        let schema = widened(&Arc::new(Schema::new(fields.to_vec())));
        let json = columns.iter().any(|(_, data_type)| has_json(data_type));
        for row in [
            r#"1::Dynamic AS `d\``, '{"a":1}'::JSON AS j, ['{"b":[2]}'::JSON] AS a, 1.25::Nullable(Decimal(9, 2)) AS n"#,
            r#"'x'::Dynamic AS `d\``, '{}'::JSON AS j, []::Array(JSON) AS a, NULL::Nullable(Decimal(9, 2)) AS n"#,
        ] {
            let sql = format!(
                "SELECT {list} FROM (SELECT {row}) SETTINGS output_format_native_write_json_as_string = {}",
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
