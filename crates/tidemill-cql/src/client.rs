//! A client of a cluster.

use std::fmt;
use std::sync::Arc;

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};
use scylla::response::query_result::QueryRowsResult;
use scylla::serialize::row::SerializeRow;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use tidemill_client::with_causes;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::relay::Relay;
use crate::table::Table;
use crate::tls;

/// Connections to a cluster. Clones share them.
#[derive(Clone)]
pub struct Client {
    pub(crate) session: Arc<Session>,
    pub(crate) options: Arc<Options>,
    pub(crate) balancing: Arc<dyn LoadBalancingPolicy>,
}

impl Client {
    /// Connects to the first node that answers, and finds the others by it.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`] when no node answers or none lets the user in; [`Error::Tls`].
    pub async fn connect(options: Options) -> Result<Self> {
        let mut balancing = DefaultPolicy::builder().token_aware(true);
        if let Some(datacenter) = &options.datacenter {
            balancing = balancing.prefer_datacenter(datacenter.clone()).permit_dc_failover(true);
        }
        let balancing = balancing.build();
        let profile = ExecutionProfile::builder()
            .consistency(options.consistency)
            .load_balancing_policy(Arc::clone(&balancing))
            .request_timeout(Some(options.timeout))
            .build();
        let tls = options.tls.as_ref().map(tls::config).transpose()?;
        let relay = Arc::new(Relay::new(tls, options.connect_timeout, options.compression));
        let mut builder = SessionBuilder::new()
            .connection_timeout(options.connect_timeout)
            .hostname_resolution_timeout(Some(options.connect_timeout))
            // Of the driver's own questions, which it asks later too.
            .metadata_request_clientside_timeout(options.timeout)
            // Which nodes have copies. Columns are looked up when they are asked for: a cluster may have thousands of tables.
            .fetch_full_schema_metadata(false)
            .default_execution_profile_handle(profile.into_handle());
        if let Some(user) = &options.user {
            builder = builder.user(user, &options.password);
        }
        let limit = options.connect_timeout;
        let connect = |what| Error::Connect {
            hosts: options.hosts.join(","),
            what,
        };
        let builder = relay.before(builder, &options.hosts);
        let builder = builder.map_err(|error| connect(error.to_string()))?;
        // The driver's limits are those of each step of its own, and of each node, one after another.
        let built = timeout(limit, builder.build()).await.map_err(|_| {
            connect(format!(
                "no answer within {} s (`connect_timeout`)",
                limit.as_secs_f64()
            ))
        })?;
        let session = built.map_err(|error| connect(with_causes(&error)))?;
        Ok(Self {
            session: Arc::new(session),
            options: Arc::new(options),
            balancing,
        })
    }

    /// The table or view of this name, or the only one whose name differs from it in case. A virtual table (`system_views`) is that
    /// of whichever node is asked.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a keyspace or a table that is not there, [`Error::Request`].
    pub async fn table(&self, keyspace: &str, table: &str) -> Result<Table> {
        Table::find(self, keyspace, table).await
    }

    /// The names of a keyspace's tables and views, in order.
    ///
    /// # Errors
    ///
    /// As [`Client::table`].
    pub async fn tables(&self, keyspace: &str) -> Result<Vec<String>> {
        let keyspace = self.keyspace(keyspace).await?;
        self.tables_of(&keyspace).await
    }

    pub(crate) async fn tables_of(&self, keyspace: &Keyspace) -> Result<Vec<String>> {
        let views = (!keyspace.is_virtual).then_some(("views", "view_name"));
        let mut names = Vec::new();
        for (relation, column) in [("tables", "table_name")].into_iter().chain(views) {
            let text = format!(
                "SELECT {column} FROM {}.{relation} WHERE keyspace_name = ?",
                keyspace.schema()
            );
            names.extend(self.texts(&text, (&keyspace.name,)).await?);
        }
        names.sort();
        Ok(names)
    }

    /// The keyspace of this name, or the only one whose name differs from it in case.
    pub(crate) async fn keyspace(&self, name: &str) -> Result<Keyspace> {
        let names = self
            .texts("SELECT keyspace_name FROM system_schema.keyspaces", ())
            .await?;
        let hint = match pick(name, names) {
            Ok(name) => {
                return Ok(Keyspace {
                    name,
                    is_virtual: false,
                });
            }
            Err(hint) => hint,
        };
        // Servers before Cassandra 4 have none, nor a place that tells of them.
        let names = self
            .texts("SELECT keyspace_name FROM system_virtual_schema.keyspaces", ())
            .await;
        let found = names.ok().and_then(|names| pick(name, names).ok());
        found
            .map(|name| Keyspace { name, is_virtual: true })
            .ok_or_else(|| Error::NotFound {
                kind: "keyspace",
                name: name.to_owned(),
                hint: format!("the cluster has {hint}"),
            })
    }

    /// Runs a statement that answers no rows.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub async fn execute(&self, cql: &str) -> Result<()> {
        let executed = self.session.query_unpaged(cql, ()).await;
        executed.map(drop).map_err(request(cql, "executing"))
    }

    /// Creates a table by its text, and waits until all nodes know of it.
    pub(crate) async fn change_schema(&self, place: &str, doing: &str, cql: &str) -> Result<()> {
        let changed = self.session.query_unpaged(cql, ()).await;
        changed.map_err(request(place, doing))?;
        let agreed = self.session.await_schema_agreement().await;
        agreed.map(drop).map_err(request(place, doing))
    }

    /// Prepares a statement. The driver asks every node, and waits for one that is silent for as long as it is.
    pub(crate) async fn prepare(
        &self,
        statement: impl Into<Statement>,
        place: &str,
        doing: &str,
    ) -> Result<PreparedStatement> {
        let limit = self.options.timeout;
        let prepared = timeout(limit, self.session.prepare(statement)).await;
        let prepared = prepared.map_err(|_| Error::Request {
            place: place.to_owned(),
            doing: doing.to_owned(),
            what: format!(
                "the statement was not prepared within {} s (`timeout`)",
                limit.as_secs_f64()
            ),
        })?;
        prepared.map_err(request(place, doing))
    }

    /// The rows of a system table.
    pub(crate) async fn system_rows(&self, cql: &str, values: impl SerializeRow) -> Result<QueryRowsResult> {
        let mut statement = Statement::new(cql);
        statement.set_is_idempotent(true);
        let answer = self.session.query_unpaged(statement, values).await;
        let rows = answer.map_err(request(cql, "reading"))?.into_rows_result();
        rows.map_err(request(cql, "reading"))
    }

    async fn texts(&self, cql: &str, values: impl SerializeRow) -> Result<Vec<String>> {
        let rows = self.system_rows(cql, values).await?;
        let texts = rows.rows::<(String,)>().map_err(request(cql, "reading"))?;
        texts
            .map(|row| row.map(|(text,)| text).map_err(request(cql, "reading")))
            .collect()
    }
}

/// A keyspace that is there.
#[derive(Debug)]
pub(crate) struct Keyspace {
    pub(crate) name: String,
    /// Whether its tables are made by each node of what it knows, and are the node's own.
    pub(crate) is_virtual: bool,
}

impl Keyspace {
    /// The keyspace whose tables tell of its tables.
    pub(crate) fn schema(&self) -> &'static str {
        if self.is_virtual {
            "system_virtual_schema"
        } else {
            "system_schema"
        }
    }
}

/// The name that is there, or the only one that differs in case; else the names that are there, for an error.
pub(crate) fn pick(name: &str, names: Vec<String>) -> Result<String, String> {
    const NAMED: usize = 12;
    if names.iter().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let mut matching = names.iter().filter(|known| known.to_lowercase() == name.to_lowercase());
    if let (Some(only), None) = (matching.next(), matching.next()) {
        return Ok(only.clone());
    }
    let more = names.len().saturating_sub(NAMED);
    let mut hint = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 {
        hint += &format!(" and {more} more");
    }
    Err(if hint.is_empty() { "none".to_owned() } else { hint })
}

/// What becomes of the driver's error while `doing` something at `place`.
pub(crate) fn request<E: std::error::Error + 'static>(place: &str, doing: &str) -> impl FnOnce(E) -> Error {
    let (place, doing) = (place.to_owned(), doing.to_owned());
    move |error| failed(&place, &doing, &error)
}

pub(crate) fn failed(place: &str, doing: &str, error: &dyn std::error::Error) -> Error {
    Error::Request {
        place: place.to_owned(),
        doing: doing.to_owned(),
        what: with_causes(error),
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
