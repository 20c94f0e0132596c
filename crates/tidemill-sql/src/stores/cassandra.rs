//! Tables of a Cassandra cluster.
//!
//! A scan reads the ring side by side in ranges of tokens, or, where conditions name the partitions that are wanted, those alone
//! ([`condition`]). Its columns, its limit and these conditions are in the text of its statements, which EXPLAIN shows; what is
//! left of the statement runs here. A scan that wants no columns but only rows to count has them counted by the cluster. Rows
//! come in the order of their tokens, and in a partition in that of its clustering key.

mod condition;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use tidemill_cql::{Client, Options, Rows, Scan, Table};
use tokio::sync::mpsc::Sender;

use self::condition::Key;
use super::decimals::{widen, widened};
use super::server_scan::{ServerRead, ServerScan, uncounted};
use crate::location::{Location, Place};
use crate::server_url::ServerUrl;
use crate::{Error, Result};

pub(super) async fn open(location: &Location, clients: &Clients) -> Result<Arc<dyn TableProvider>> {
    let Place::Server(url) = &location.place else {
        return Err(Error::Unsupported {
            what: format!("{location}: a Cassandra table in a file"),
            hint: "name the table as cql://host/keyspace/table".to_owned(),
        });
    };
    let named = NamedTable::connect(url, clients).await?;
    let table = Arc::new(named.find().await?);
    Ok(Arc::new(CassandraTable {
        schema: widened(&table.schema()),
        key: Key::new(&table),
        place: named.place,
        table,
    }))
}

/// The names of a keyspace's tables, in order.
pub(super) async fn tables_of(keyspace: &ServerUrl, clients: &Clients) -> Result<Vec<String>> {
    let named = NamedTable::connect(keyspace, clients).await?;
    let names = named.client.tables(&named.keyspace).await;
    names.map_err(Error::cassandra(&named.place))
}

/// The clients of a session, by cluster and user.
#[derive(Debug, Default)]
pub(crate) struct Clients(tokio::sync::Mutex<HashMap<String, Client>>);

/// A connection to a cluster, and the name of a table there.
pub(crate) struct NamedTable {
    pub(crate) client: Client,
    /// The URL without its password.
    pub(crate) place: String,
    pub(crate) keyspace: String,
    pub(crate) table: String,
}

impl NamedTable {
    pub(crate) async fn connect(url: &ServerUrl, clients: &Clients) -> Result<Self> {
        let place = url.to_string();
        let (options, path) = Options::parse(url.as_str()).map_err(Error::cassandra(&place))?;
        let mut clients = clients.0.lock().await;
        let client = match clients.get(&url.client()) {
            Some(client) => client.clone(),
            None => {
                let client = Client::connect(options).await.map_err(Error::cassandra(&place))?;
                clients.insert(url.client(), client.clone());
                client
            }
        };
        Ok(Self {
            client,
            place,
            keyspace: path.keyspace.unwrap_or_default(),
            table: path.table.unwrap_or_default(),
        })
    }

    /// The table that is there, whose name may differ in case.
    pub(crate) async fn find(&self) -> Result<Table> {
        let found = self.client.table(&self.keyspace, &self.table).await;
        found.map_err(Error::cassandra(&self.place))
    }
}

struct CassandraTable {
    table: Arc<Table>,
    /// The URL without its password.
    place: String,
    schema: SchemaRef,
    key: Key,
}

impl fmt::Debug for CassandraTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassandraTable")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl TableProvider for CassandraTable {
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
        let restriction = self.key.restrict(&filters.iter().collect::<Vec<_>>());
        if restriction.taken.contains(&false) {
            return Err(DataFusionError::Internal(format!(
                "{}: a condition that was promised to the cluster",
                self.place
            )));
        }
        let rows = restriction.parts.map_or(Rows::All, Rows::Where);
        let scan = Scan::new(Arc::clone(&self.table), &projection, rows);
        let scan = scan.map_err(|error| DataFusionError::External(Box::new(Error::cassandra(&self.place)(error))))?;
        let scan = CassandraScan {
            scan: scan.limit(limit.map(|limit| limit as u64)),
            place: self.place.clone(),
            projected: Arc::new(self.schema.project(&projection)?),
        };
        Ok(DataSourceExec::from_data_source(ServerScan(scan)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        let pushed = self.key.restrict(filters).taken.into_iter().map(|taken| match taken {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        });
        Ok(pushed.collect())
    }
}

/// The read of a table.
#[derive(Clone)]
struct CassandraScan {
    scan: Scan,
    place: String,
    projected: SchemaRef,
}

#[async_trait::async_trait]
impl ServerRead for CassandraScan {
    const NAME: &'static str = "CassandraScan";

    fn place(&self) -> &str {
        &self.place
    }

    fn query(&self) -> String {
        self.scan.text()
    }

    fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    async fn run(&self, sender: &Sender<EngineResult<RecordBatch>>) -> Result<()> {
        let failed = || Error::cassandra(&self.place);
        if self.projected.fields().is_empty() {
            let count = self.scan.count().await.map_err(failed())?;
            for rows in uncounted(&self.projected, count) {
                if sender.send(rows.map_err(Into::into)).await.is_err() {
                    break;
                }
            }
            return Ok(());
        }
        let mut batches = self.scan.batches();
        while let Some(batch) = batches.next().await.map_err(failed())? {
            if sender.send(Ok(widen(batch, &self.projected)?)).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}
