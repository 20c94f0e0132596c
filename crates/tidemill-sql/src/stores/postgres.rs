//! PostgreSQL: tables and views of a server, through COPY in its binary format.
//!
//! A [scan](scan) selects columns and rows by one SELECT, with the conditions, groups, joins and limits that [have the same
//! meaning](dialect) there. A table is [filled](sink) in one transaction.

mod computed;
mod dialect;
mod scan;
mod sink;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use tidemill_postgres::sql_text::{literal, quoted};
use tidemill_postgres::{Client, Options, Table, arrow_type};

use self::sink::PostgresSink;
use super::server::resuming::Resumable;
use super::server::{
    Address, Filling, ForeignKey, KeyTable, Kind, Relating, ServerStore, ServerUrl, TableChange, TableOptions,
    TableSink,
};
use crate::answer::Answer;
use crate::error::Fault;
use crate::{Error, Result};

pub(super) const KIND: Kind = Kind {
    scheme: "postgres",
    aliases: &["postgresql"],
    name: "postgres",
    container: "database",
    address: Address::Host,
    ddl: Some(sink::ddl),
    store: || Box::new(Postgres::default()),
};

/// The servers that a session is connected to.
#[derive(Debug, Default)]
struct Postgres(Clients);

#[async_trait::async_trait]
impl ServerStore for Postgres {
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>> {
        scan::open(NamedTable::connect(table, &self.0).await?).await
    }

    async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<String>> {
        let named = NamedTable::connect(database, &self.0).await?;
        let tables = named.client.tables(named.schema.as_deref()).await;
        tables.map_err(error_at(&named.place))
    }

    async fn find(&self, table: &ServerUrl) -> Result<Option<String>> {
        let named = NamedTable::connect(table, &self.0).await?;
        match named.find().await {
            Ok(table) => Ok(Some(table.name)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn kept_rows(&self, table: &ServerUrl) -> Result<Option<u64>> {
        let named = NamedTable::connect(table, &self.0).await?;
        let found = named.find().await?;
        let count = format!("SELECT count(*) FROM {}", found.quoted_name());
        scan::number_of(&named.client, &named.place, &count).await.map(Some)
    }

    async fn answer(&self, server: &ServerUrl, statement: &str) -> Result<Answer> {
        scan::answer(NamedTable::connect(server, &self.0).await?, statement).await
    }

    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()> {
        let named = NamedTable::connect(table, &self.0).await?;
        let found = match named.find().await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) if change == (TableChange::Drop { if_exists: true }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let verb = match change {
            TableChange::Drop { .. } => "DROP TABLE",
            TableChange::Truncate => "TRUNCATE TABLE",
        };
        let done = named.client.execute(&format!("{verb} {}", found.quoted_name())).await;
        done.map(drop).map_err(error_at(&named.place))
    }

    async fn new_columns(
        &self,
        _table: &ServerUrl,
        schema: &Schema,
        _options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>> {
        let columns = schema.fields().iter().map(|field| {
            let to = arrow_type::column_type(field).map_err(error_at(field.name()))?;
            Ok((Arc::clone(field), to.to_string()))
        });
        columns.collect()
    }

    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>> {
        let named = NamedTable::connect(table, &self.0).await?;
        Ok(Box::new(PostgresSink::begin(named, schema, filling).await?))
    }

    fn transactions(&self) -> Option<&dyn Resumable> {
        Some(self)
    }

    fn relating(&self) -> Option<&dyn Relating> {
        Some(self)
    }
}

#[async_trait::async_trait]
impl Resumable for Postgres {
    async fn make_draft(
        &self,
        draft: &ServerUrl,
        _table: &ServerUrl,
        schema: &SchemaRef,
        making: &TableOptions,
    ) -> Result<()> {
        let draft = NamedTable::connect(draft, &self.0).await?;
        sink::make_draft(&draft, schema, making).await
    }

    async fn wait_for_writers(&self, table: &ServerUrl) -> Result<()> {
        let named = NamedTable::connect(table, &self.0).await?;
        let found = named.find().await?;
        let waited = named.client.wait_for_writers(&found).await;
        waited.map_err(error_at(&named.place))
    }

    async fn publish_draft(
        &self,
        draft: &ServerUrl,
        table: &ServerUrl,
        schema: &SchemaRef,
        making: &TableOptions,
        replaces: bool,
    ) -> Result<()> {
        let draft = NamedTable::connect(draft, &self.0).await?.find().await?;
        let table = NamedTable::connect(table, &self.0).await?;
        sink::publish_draft(&draft, table, schema, making, replaces).await
    }
}

/// The keys need the indexes that tables get when they are filled.
#[async_trait::async_trait]
impl Relating for Postgres {
    async fn make_foreign_key(&self, table: &ServerUrl, parent: &ServerUrl, key: &ForeignKey) -> Result<u64> {
        let (named, parent) = (
            NamedTable::connect(table, &self.0).await?,
            NamedTable::connect(parent, &self.0).await?,
        );
        let (table, parent) = (named.find().await?, parent.find().await?);
        let made = key.statement(&named.key_table(&table), &named.key_table(&parent))?;
        named.client.execute(&made).await.map_err(error_at(&named.place))?;
        Ok(0)
    }

    async fn drop_foreign_keys(&self, tables: &[ServerUrl]) -> Result<()> {
        let Some(first) = tables.first() else { return Ok(()) };
        let named = NamedTable::connect(first, &self.0).await?;
        let mut found = Vec::new();
        for table in tables {
            match NamedTable::connect(table, &self.0).await?.find().await {
                Ok(table) => found.push(literal(&table.quoted_name())),
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let tables = format!("(ARRAY[{}]::regclass[])", found.join(", "));
        let dropped = format!(
            "DO {} LANGUAGE plpgsql",
            literal(&format!(
                "DECLARE key record; BEGIN FOR key IN SELECT conrelid::regclass AS child, conname FROM pg_constraint \
                 WHERE contype = 'f' AND conrelid = ANY {tables} AND confrelid = ANY {tables} LOOP \
                 EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', key.child, key.conname); END LOOP; END"
            ))
        );
        named.client.execute(&dropped).await.map_err(error_at(&named.place))?;
        Ok(())
    }
}

/// Converts an error of the client or the server.
fn error_at(place: &str) -> impl FnOnce(tidemill_postgres::Error) -> Error {
    use tidemill_postgres::Error as E;
    let place = place.to_owned();
    move |error| Error::Server {
        place,
        fault: match (&error, error.sqlstate().and_then(|state| state.get(..2))) {
            (E::Unsupported { .. }, _) | (_, Some("0A")) => Fault::Unsupported,
            (E::NotFound { .. }, _) => Fault::NotFound,
            (E::Value { .. } | E::Corrupt { .. } | E::Arrow(_), _) | (_, Some("22" | "23")) => Fault::Value,
            (E::Url { .. }, _) | (_, Some("42")) => Fault::Statement,
            _ => Fault::Io,
        },
        is_of_connection: matches!(error, E::Connect { .. } | E::Broken { .. } | E::Timeout { .. }),
        error: Box::new(error),
    }
}

/// The clients of a session, by server, database and user.
#[derive(Debug, Default)]
struct Clients(tokio::sync::Mutex<HashMap<String, Client>>);

/// A connection to a server, with the name of a table.
struct NamedTable {
    client: Client,
    /// The server, the database and the user.
    server: String,
    /// The URL without its password.
    place: String,
    schema: Option<String>,
    table: String,
}

impl NamedTable {
    async fn connect(url: &ServerUrl, clients: &Clients) -> Result<Self> {
        let (place, server) = (url.to_string(), url.client());
        let (options, path) = Options::parse(url.as_str()).map_err(error_at(&place))?;
        let mut clients = clients.0.lock().await;
        let client = match clients.get(&server) {
            Some(client) => client.clone(),
            None => {
                let client = Client::connect(options).await.map_err(error_at(&place))?;
                clients.insert(server.clone(), client.clone());
                client
            }
        };
        Ok(Self {
            client,
            server,
            place,
            schema: path.schema,
            table: path.table.unwrap_or_default(),
        })
    }

    /// The table, for a statement that adds a foreign key.
    fn key_table<'t>(&'t self, table: &'t Table) -> KeyTable<'t> {
        KeyTable {
            name: table.quoted_name(),
            columns: table.columns.iter().map(|column| column.name.as_str()).collect(),
            quoted,
            place: &self.place,
        }
    }

    /// Finds the table, whose name may differ in case.
    async fn find(&self) -> Result<Table> {
        let found = self.client.table(self.schema.as_deref(), &self.table).await;
        found.map_err(|error| match error {
            tidemill_postgres::Error::NotFound {
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
