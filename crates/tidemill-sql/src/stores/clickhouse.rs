//! Tables of a ClickHouse server.
//!
//! A scan is one SELECT: its columns, its limit, and the conditions that mean the same there as here ([`condition`]) are in the
//! text, which EXPLAIN shows; what is left of the statement runs here. A scan that wants no columns but only rows to count asks
//! the server for their number. Rows come in the order in which the server sends them, which is none unless its table has one.
//!
//! `JSON` and `Dynamic`, whose blocks differ in their types, are text: the server writes it.

mod condition;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use tidemill_clickhouse::client::{Client, Options};
use tidemill_clickhouse::{Block, DataType, sql_text};
use tokio::sync::mpsc::Sender;

use self::condition::{Columns, Condition};
use super::decimals::{widen, widened};
use super::server_scan::{ServerRead, ServerScan, uncounted};
use crate::answer::Answer;
use crate::location::{Location, Place};
use crate::server_url::ServerUrl;
use crate::{Error, Result};

pub(super) async fn open(location: &Location, clients: &Clients) -> Result<Arc<dyn TableProvider>> {
    let Place::Server(url) = &location.place else {
        return Err(Error::Unsupported {
            what: format!("{location}: a ClickHouse table in a file"),
            hint: "files of ClickHouse's have the extension .native".to_owned(),
        });
    };
    let table = ServerTable::find(url, clients).await?;
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

/// The names of a database's tables, in order.
pub(super) async fn tables_of(database: &ServerUrl, clients: &Clients) -> Result<Vec<String>> {
    ServerTable::connect(database, clients).await?.siblings().await
}

/// What a server answers to a statement in its own SQL; for a statement without rows the columns of a change.
pub(crate) async fn answer(server: &ServerUrl, sql: &str, clients: &Clients) -> Result<Answer> {
    let server = ServerTable::connect(server, clients).await?;
    let failed = || Error::clickhouse(&server.place);
    let mut rows = server.client.query(sql).stream().await.map_err(failed())?;
    let Some(schema) = rows.schema().as_ref().map(widened) else {
        while rows.next().await.map_err(failed())?.is_some() {}
        return Answer::counted(None);
    };
    let (place, promised) = (server.place, Arc::clone(&schema));
    let batches = rows.into_stream().map(move |batch| {
        let batch = batch.map_err(Error::clickhouse(&place));
        let batch = batch.and_then(|batch| as_promised(batch, &promised, &place));
        batch.map_err(|error| DataFusionError::External(Box::new(error)))
    });
    Ok(Answer::streamed(Box::pin(RecordBatchStreamAdapter::new(
        schema, batches,
    ))))
}

/// The clients of a session, by server and user.
#[derive(Debug, Default)]
pub(crate) struct Clients(tokio::sync::Mutex<HashMap<String, Client>>);

impl Clients {
    async fn get(&self, url: &ServerUrl, options: Options) -> tidemill_clickhouse::Result<Client> {
        let mut clients = self.0.lock().await;
        let key = url.client();
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = Client::with_options(options).await?;
        clients.insert(key, client.clone());
        Ok(client)
    }
}

/// A connection to a server, and the name of a table there.
pub(crate) struct ServerTable {
    client: Client,
    /// The URL without its password.
    place: String,
    database: String,
    table: String,
}

impl ServerTable {
    pub(crate) async fn connect(url: &ServerUrl, clients: &Clients) -> Result<Self> {
        let place = url.to_string();
        let (options, table) = Options::parse_with_table(url.as_str()).map_err(Error::clickhouse(&place))?;
        let database = options.database.clone();
        let client = clients.get(url, options).await.map_err(Error::clickhouse(&place))?;
        Ok(Self {
            client,
            place,
            database,
            table: table.unwrap_or_default(),
        })
    }

    /// Connects to the table that is there, whose name may differ in case.
    pub(crate) async fn find(url: &ServerUrl, clients: &Clients) -> Result<Self> {
        Self::connect(url, clients).await?.found().await
    }

    /// This table if it is there, or the one whose name differs in case.
    pub(crate) async fn found(self) -> Result<Self> {
        const NAMED: usize = 12;
        let mut table = self;
        if table.exists().await? {
            return Ok(table);
        }
        let mut names = table.siblings().await?;
        let mut fitting = names
            .iter()
            .filter(|name| name.to_lowercase() == table.table.to_lowercase());
        if let (Some(only), None) = (fitting.next(), fitting.next()) {
            table.table.clone_from(only);
            return Ok(table);
        }
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        Err(Error::NotFound {
            name: table.place,
            hint: match names.is_empty() {
                true => "the database has no tables".to_owned(),
                false => format!("the database has {}", names.join(", ")),
            },
        })
    }

    /// Ends the queries whose names begin so, and waits until they are gone.
    pub(crate) async fn end_queries(&self, job: &str) -> Result<()> {
        /// A server stores what it has received in less.
        const PATIENCE: Duration = Duration::from_secs(60);
        let ended = self.client.end_queries(job, PATIENCE).await;
        ended.map(drop).map_err(Error::clickhouse(&self.place))
    }

    /// Whether the engine of the table keeps each row that it is given.
    pub(crate) async fn keeps_rows(&self) -> Result<bool> {
        let database = match self.database.as_str() {
            "" => "currentDatabase()".to_owned(),
            database => sql_text::string(database),
        };
        let table = sql_text::string(&self.table);
        let sql = format!("SELECT engine FROM system.tables WHERE database = {database} AND name = {table}");
        let found = self.client.query(sql).collect().await;
        let found = found.map_err(Error::clickhouse(&self.place))?;
        let mut engines = found
            .iter()
            .filter_map(|batch| batch.columns().first()?.as_string_opt::<i32>())
            .flat_map(|engines| engines.iter().flatten());
        Ok(engines.next().is_some_and(crate::sink::keeps_rows))
    }

    /// The names of the tables of the database.
    async fn siblings(&self) -> Result<Vec<String>> {
        let database = match self.database.as_str() {
            "" => "currentDatabase()".to_owned(),
            database => sql_text::string(database),
        };
        let sql = format!("SELECT name FROM system.tables WHERE database = {database} ORDER BY name");
        let names = self.client.query(sql).collect().await;
        let names = names.map_err(Error::clickhouse(&self.place))?;
        let columns = names
            .iter()
            .filter_map(|batch| batch.columns().first()?.as_string_opt::<i32>());
        Ok(columns
            .flat_map(|names| names.iter().flatten().map(str::to_owned))
            .collect())
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The URL without its password.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// The name in the text of a statement.
    pub(crate) fn name(&self) -> String {
        self.sibling(&self.table)
    }

    /// The table's own name.
    pub(crate) fn table(&self) -> &str {
        &self.table
    }

    /// The name of another table of the same database, in the text of a statement.
    pub(crate) fn sibling(&self, table: &str) -> String {
        match self.database.as_str() {
            "" => sql_text::name(table),
            database => format!("{}.{}", sql_text::name(database), sql_text::name(table)),
        }
    }

    pub(crate) async fn exists(&self) -> Result<bool> {
        Ok(self.number(&format!("EXISTS TABLE {}", self.name())).await? != 0)
    }

    pub(crate) async fn execute(&self, sql: &str) -> Result<()> {
        let executed = self.client.execute(sql).await;
        executed.map(drop).map_err(Error::clickhouse(&self.place))
    }

    /// The number that is a statement's whole answer.
    pub(crate) async fn number(&self, sql: &str) -> Result<u64> {
        let answer = self.client.query(sql).collect().await;
        let answer = answer.map_err(Error::clickhouse(&self.place))?;
        let column = answer.first().and_then(|batch| batch.columns().first());
        let number = column.and_then(|column| {
            let number = arrow_cast::cast(column, &ArrowType::UInt64).ok()?;
            number.as_primitive_opt::<UInt64Type>()?.values().first().copied()
        });
        number.ok_or_else(|| Error::Unsupported {
            what: format!("{}: an answer other than a number to {sql}", self.place),
            hint: "please report it".to_owned(),
        })
    }

    /// The table's columns and their types.
    async fn header(&self) -> Result<Block> {
        let failed = || Error::clickhouse(&self.place);
        let mut answer = self
            .client
            .query(format!("SELECT * FROM {} LIMIT 0", self.name()))
            .stream()
            .await
            .map_err(failed())?;
        let header = answer.header_block().cloned();
        while answer.next().await.map_err(failed())?.is_some() {}
        header.ok_or_else(|| Error::NotFound {
            name: self.place.clone(),
            hint: "the server told no columns".to_owned(),
        })
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
            .field("place", &self.table.place)
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
fn as_promised(batch: RecordBatch, promised: &SchemaRef, place: &str) -> Result<RecordBatch> {
    widen(batch, promised).map_err(|error| Error::Unsupported {
        what: format!("{place}: rows whose blocks differ in their types ({error})"),
        hint: "cast those columns to a type of their own, as by a view".to_owned(),
    })
}

#[async_trait::async_trait]
impl ServerRead for ClickHouseScan {
    const NAME: &'static str = "ClickHouseScan";

    fn place(&self) -> &str {
        &self.table.place
    }

    fn query(&self) -> String {
        self.query.clone()
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>) -> Result<()> {
        let failed = || Error::clickhouse(&self.table.place);
        if self.projected.fields().is_empty() {
            let count = self.table.number(&self.query).await?;
            for rows in uncounted(&self.projected, count) {
                if sender.send(rows.map_err(Into::into)).await.is_err() {
                    break;
                }
            }
            return Ok(());
        }
        let mut query = self.table.client.query(self.query.as_str());
        if self.json_as_text {
            query = query.setting("output_format_native_write_json_as_string", 1_u64);
        }
        let mut answer = query.stream().await.map_err(failed())?;
        while let Some(batch) = answer.next().await.map_err(failed())? {
            if sender
                .send(Ok(as_promised(batch, &self.projected, &self.table.place)?))
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
