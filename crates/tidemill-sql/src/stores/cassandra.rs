//! Cassandra: tables of a cluster, through CQL.
//!
//! [Scans](scan) read the token ranges of all nodes, or the partitions that [conditions](condition) name. A new table is [filled](sink)
//! under its final name, since Cassandra cannot rename tables.

mod condition;
mod scan;
mod sink;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use percent_encoding::percent_decode_str;
use tidemill_cql::{Client, Options, Table};

use self::sink::CassandraSink;
use super::server::{Address, Filling, Kind, ServerStore, ServerUrl, TableChange, TableOptions, TableSink};
use crate::answer::Answer;
use crate::error::Fault;
use crate::{Error, Result};

pub(super) const KIND: Kind = Kind {
    scheme: "cql",
    aliases: &[],
    name: "cassandra",
    container: "keyspace",
    address: Address::Host,
    ddl: None,
    store: || Box::new(Cassandra::default()),
};

/// The clusters that a session is connected to.
#[derive(Debug, Default)]
struct Cassandra(Clients);

#[async_trait::async_trait]
impl ServerStore for Cassandra {
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>> {
        scan::open(NamedTable::connect(table, &self.0).await?).await
    }

    async fn tables_of(&self, keyspace: &ServerUrl) -> Result<Vec<String>> {
        let named = NamedTable::connect(keyspace, &self.0).await?;
        let names = named.client.tables(&named.keyspace).await;
        names.map_err(error_at(&named.place))
    }

    async fn find(&self, table: &ServerUrl) -> Result<Option<String>> {
        let named = NamedTable::connect(table, &self.0).await?;
        match named.find().await {
            Ok(_) => Ok(Some(
                percent_decode_str(table.last_part()).decode_utf8_lossy().into_owned(),
            )),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn answer(&self, cluster: &ServerUrl, _statement: &str) -> Result<Answer> {
        Err(Error::Unsupported {
            what: format!("{cluster}: statements in CQL"),
            hint: "tables of Cassandra can be named in statements of Tidemill's own SQL".to_owned(),
        })
    }

    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()> {
        Err(Error::Unsupported {
            what: format!("{table}: {change}"),
            hint: "this is done for tables of xBase and of ClickHouse; cqlsh does it for Cassandra".to_owned(),
        })
    }

    async fn new_columns(
        &self,
        _table: &ServerUrl,
        schema: &Schema,
        _options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>> {
        let columns = schema.fields().iter().map(|field| {
            let to = tidemill_cql::arrow_type::column_type(field);
            Ok((Arc::clone(field), to.map_err(error_at(field.name()))?))
        });
        columns.collect()
    }

    /// By token, and by the clustering key within a partition.
    fn is_read_in_order(&self) -> bool {
        true
    }

    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>> {
        let named = NamedTable::connect(table, &self.0).await?;
        Ok(Box::new(CassandraSink::begin(named, schema, filling).await?))
    }
}

/// Converts an error of the client or the cluster.
fn error_at(place: impl std::fmt::Display) -> impl FnOnce(tidemill_cql::Error) -> Error {
    use tidemill_cql::Error as E;
    let place = place.to_string();
    move |error| Error::Server {
        place,
        fault: match error {
            E::Unsupported { .. } => Fault::Unsupported,
            E::NotFound { .. } => Fault::NotFound,
            E::Url { .. } => Fault::Statement,
            E::Value { .. } | E::Corrupt { .. } | E::Arrow(_) => Fault::Value,
            _ => Fault::Io,
        },
        is_of_connection: matches!(error, E::Connect { .. }),
        error: Box::new(error),
    }
}

/// The clients of a session, by cluster and user.
#[derive(Debug, Default)]
pub(super) struct Clients(tokio::sync::Mutex<HashMap<String, Client>>);

/// A connection to a cluster, with the name of a table.
pub(super) struct NamedTable {
    pub(super) client: Client,
    /// The URL without its password.
    pub(super) place: String,
    pub(super) keyspace: String,
    pub(super) table: String,
}

impl NamedTable {
    pub(super) async fn connect(url: &ServerUrl, clients: &Clients) -> Result<Self> {
        let place = url.to_string();
        let (options, path) = Options::parse(url.as_str()).map_err(error_at(&place))?;
        let mut clients = clients.0.lock().await;
        let client = match clients.get(&url.client()) {
            Some(client) => client.clone(),
            None => {
                let client = Client::connect(options).await.map_err(error_at(&place))?;
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

    /// Finds the table, whose name may differ in case.
    pub(super) async fn find(&self) -> Result<Table> {
        let found = self.client.table(&self.keyspace, &self.table).await;
        found.map_err(|error| match error {
            tidemill_cql::Error::NotFound {
                kind: "table",
                name,
                hint,
            } => Error::NotFound {
                name: format!("{}: {name}", self.place),
                hint,
            },
            error => error_at(&self.place)(error),
        })
    }
}
