//! A table of a server, by its name in statements.

use std::collections::HashMap;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_schema::DataType as ArrowType;
use tidemill_clickhouse::client::{Client, Options};
use tidemill_clickhouse::{Block, sql_text};

use super::error_at;
use crate::stores::server::ServerUrl;
use crate::{Error, Result};

/// The clients of a session, by server and user.
#[derive(Debug, Default)]
pub(super) struct Clients(tokio::sync::Mutex<HashMap<String, Client>>);

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

/// A connection to a server, with the name of a table.
pub(super) struct ServerTable {
    client: Client,
    /// The server, with the password.
    server: String,
    /// The URL without its password.
    place: String,
    database: String,
    table: String,
}

impl ServerTable {
    pub(super) async fn connect(url: &ServerUrl, clients: &Clients) -> Result<Self> {
        let place = url.to_string();
        let (options, table) = Options::parse_with_table(url.as_str()).map_err(error_at(&place))?;
        let database = options.database.clone();
        let client = clients.get(url, options).await.map_err(error_at(&place))?;
        Ok(Self {
            client,
            server: url.server(),
            place,
            database,
            table: table.unwrap_or_default(),
        })
    }

    /// Connects to an existing table, whose name may differ in case.
    pub(super) async fn find(url: &ServerUrl, clients: &Clients) -> Result<Self> {
        Self::connect(url, clients).await?.found().await
    }

    /// This table if it exists, or the one whose name differs only in case.
    pub(super) async fn found(self) -> Result<Self> {
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

    /// Ends the queries whose names have this prefix, and waits for them.
    pub(super) async fn end_queries(&self, job: &str) -> Result<()> {
        /// A server stores received rows in less time.
        const PATIENCE: Duration = Duration::from_secs(60);
        let ended = self.client.end_queries(job, PATIENCE).await;
        ended.map(drop).map_err(error_at(&self.place))
    }

    /// Whether the engine of the table keeps every row.
    pub(super) async fn keeps_rows(&self) -> Result<bool> {
        let database = match self.database.as_str() {
            "" => "currentDatabase()".to_owned(),
            database => sql_text::string(database),
        };
        let table = sql_text::string(&self.table);
        let sql = format!("SELECT engine FROM system.tables WHERE database = {database} AND name = {table}");
        let found = self.client.query(sql).collect().await;
        let found = found.map_err(error_at(&self.place))?;
        let mut engines = found
            .iter()
            .filter_map(|batch| batch.columns().first()?.as_string_opt::<i32>())
            .flat_map(|engines| engines.iter().flatten());
        Ok(engines.next().is_some_and(super::sink::keeps_rows))
    }

    /// The names of the tables in the database.
    pub(super) async fn siblings(&self) -> Result<Vec<String>> {
        let database = match self.database.as_str() {
            "" => "currentDatabase()".to_owned(),
            database => sql_text::string(database),
        };
        let sql = format!("SELECT name FROM system.tables WHERE database = {database} ORDER BY name");
        let names = self.client.query(sql).collect().await;
        let names = names.map_err(error_at(&self.place))?;
        let columns = names
            .iter()
            .filter_map(|batch| batch.columns().first()?.as_string_opt::<i32>());
        Ok(columns
            .flat_map(|names| names.iter().flatten().map(str::to_owned))
            .collect())
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The URL without its password.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Whether one statement can also name a table of the other: an empty database name is that of the connection.
    pub(super) fn is_on_server_of(&self, other: &Self) -> bool {
        self.server == other.server && (self.database == other.database || !other.database.is_empty())
    }

    /// The quoted name for statements.
    pub(super) fn name(&self) -> String {
        self.sibling(&self.table)
    }

    /// The table's own name.
    pub(super) fn table(&self) -> &str {
        &self.table
    }

    /// The quoted name of another table of the same database.
    pub(super) fn sibling(&self, table: &str) -> String {
        match self.database.as_str() {
            "" => sql_text::name(table),
            database => format!("{}.{}", sql_text::name(database), sql_text::name(table)),
        }
    }

    pub(super) async fn exists(&self) -> Result<bool> {
        Ok(self.number(&format!("EXISTS TABLE {}", self.name())).await? != 0)
    }

    pub(super) async fn execute(&self, sql: &str) -> Result<()> {
        let executed = self.client.execute(sql).await;
        executed.map(drop).map_err(error_at(&self.place))
    }

    /// The result of a statement that returns a single number.
    pub(super) async fn number(&self, sql: &str) -> Result<u64> {
        let answer = self.client.query(sql).collect().await;
        let answer = answer.map_err(error_at(&self.place))?;
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
    pub(super) async fn header(&self) -> Result<Block> {
        let failed = || error_at(&self.place);
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
