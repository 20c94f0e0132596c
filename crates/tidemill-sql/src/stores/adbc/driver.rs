//! Drivers, and the databases that they open.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use adbc_core::options::{AdbcVersion, InfoCode, ObjectDepth, OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Connection, Database, Driver, LOAD_FLAG_DEFAULT, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedDriver};
use arrow_array::cast::AsArray;
use arrow_array::{Array, StructArray, UnionArray};

use super::error_at;
use crate::stores::server::ServerUrl;
use crate::{Error, Result};

/// The databases of a session, by their URLs without a table.
#[derive(Debug, Default)]
pub(super) struct Databases(tokio::sync::Mutex<HashMap<String, Opened>>);

/// An open database, and the conventions of its statements.
#[derive(Clone)]
struct Opened {
    database: ManagedDatabase,
    quote: char,
    /// Whether the driver's ingestion matches columns by position, and needs all of them.
    appends_by_place: bool,
    /// Options of each connection.
    connection: Arc<Vec<(OptionConnection, String)>>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("quote", &self.quote)
            .finish_non_exhaustive()
    }
}

/// A table of a database; with an empty name, the database itself.
#[derive(Clone, Debug)]
pub(super) struct Table {
    opened: Opened,
    /// The URL, without secrets.
    place: String,
    /// As the URL names it.
    name: String,
}

impl Databases {
    /// # Errors
    ///
    /// [`Error::Unsupported`] without a driver, [`Error::Server`] if it cannot be loaded or cannot open the database.
    pub(super) async fn table(&self, url: &ServerUrl) -> Result<Table> {
        let place = url.to_string();
        let name = match url.names_table() {
            true => percent_encoding::percent_decode_str(url.last_part())
                .decode_utf8_lossy()
                .into_owned(),
            false => String::new(),
        };
        let key = url.client();
        let mut databases = self.0.lock().await;
        if let Some(opened) = databases.get(&key) {
            let opened = opened.clone();
            return Ok(Table { opened, place, name });
        }
        let settings = Settings::of(url)?;
        let opened = blocking({
            let place = place.clone();
            move || settings.open().map_err(error_at(&place))
        });
        let opened = opened.await?;
        databases.insert(key, opened.clone());
        Ok(Table { opened, place, name })
    }
}

/// The settings to open a database with.
struct Settings {
    driver: String,
    entrypoint: Option<String>,
    database: Vec<(OptionDatabase, String)>,
    connection: Vec<(OptionConnection, String)>,
}

impl Settings {
    fn of(url: &ServerUrl) -> Result<Self> {
        let mut settings = Self {
            driver: String::new(),
            entrypoint: None,
            database: Vec::new(),
            connection: Vec::new(),
        };
        if url.kind().to_string() == "duckdb" {
            settings.driver = "duckdb".to_owned();
            settings.entrypoint = Some("duckdb_adbc_init".to_owned());
            let path = url.file().0.to_string_lossy().into_owned();
            settings.database.push((OptionDatabase::Other("path".to_owned()), path));
        }
        for (name, value) in url.options() {
            let value = value.to_owned();
            match name {
                "driver" => settings.driver = value,
                "entrypoint" => settings.entrypoint = Some(value),
                "uri" => settings.database.push((OptionDatabase::Uri, value)),
                "username" => settings.database.push((OptionDatabase::Username, value)),
                "password" => settings.database.push((OptionDatabase::Password, value)),
                "catalog" => settings.connection.push((OptionConnection::CurrentCatalog, value)),
                "schema" => settings.connection.push((OptionConnection::CurrentSchema, value)),
                other if other.starts_with("adbc.connection.") => {
                    settings
                        .connection
                        .push((OptionConnection::Other(other.to_owned()), value));
                }
                other => settings.database.push((OptionDatabase::Other(other.to_owned()), value)),
            }
        }
        if settings.driver.is_empty() {
            return Err(Error::Unsupported {
                what: format!("{url}: a database without a driver"),
                hint: "name it as adbc:driver=/path/to/libdriver.so;uri=..., or by the name of its manifest".to_owned(),
            });
        }
        Ok(settings)
    }

    /// Loads the driver, and opens the database with it.
    fn open(self) -> adbc_core::error::Result<Opened> {
        let entrypoint = self.entrypoint.as_ref().map(String::as_bytes);
        let mut driver =
            ManagedDriver::load_from_name(&self.driver, entrypoint, AdbcVersion::V110, LOAD_FLAG_DEFAULT, None)?;
        let options = self.database.into_iter();
        let options = options.map(|(name, value)| (name, OptionValue::String(value)));
        let opened = Opened {
            database: driver.new_database_with_opts(options)?,
            quote: '"',
            appends_by_place: false,
            connection: Arc::new(self.connection),
        };
        let vendor = match opened.connect()?.get_info(Some(HashSet::from([InfoCode::VendorName]))) {
            Ok(info) => vendor(info)?.to_ascii_lowercase(),
            // A driver need not report it.
            Err(_) => String::new(),
        };
        Ok(Opened {
            quote: quote_of(&vendor),
            appends_by_place: vendor.contains("duckdb"),
            ..opened
        })
    }
}

/// The name of the database's vendor; empty if the driver does not report it.
fn vendor(info: impl arrow_array::RecordBatchReader) -> adbc_core::error::Result<String> {
    for batch in info {
        let batch = batch?;
        let values = batch
            .columns()
            .get(1)
            .and_then(|values| values.as_any().downcast_ref::<UnionArray>());
        let Some(values) = values.filter(|values| !values.is_empty()) else {
            continue;
        };
        if let Some(name) = values.value(0).as_string_opt::<i32>().filter(|name| !name.is_empty()) {
            return Ok(name.value(0).to_owned());
        }
    }
    Ok(String::new())
}

/// The quote of identifiers: databases like MySQL use double quotes for strings.
fn quote_of(vendor: &str) -> char {
    let has_backticks = ["mysql", "mariadb", "bigquery", "databricks", "spark", "clickhouse"];
    match has_backticks.iter().any(|known| vendor.contains(known)) {
        true => '`',
        false => '"',
    }
}

impl Opened {
    fn connect(&self) -> adbc_core::error::Result<ManagedConnection> {
        let options = self.connection.iter().cloned();
        let options = options.map(|(name, value)| (name, OptionValue::String(value)));
        self.database.new_connection_with_opts(options)
    }
}

impl Table {
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the driver's ingestion matches columns by position, and needs all of them.
    pub(super) fn appends_by_place(&self) -> bool {
        self.opened.appends_by_place
    }

    /// Opens a separate connection. Blocks the calling thread.
    pub(super) fn connect(&self) -> Result<ManagedConnection> {
        self.opened.connect().map_err(error_at(&self.place))
    }

    /// A quoted name.
    pub(super) fn quoted(&self, name: &str) -> String {
        let quote = self.opened.quote;
        let doubled = name.replace(quote, &format!("{quote}{quote}"));
        format!("{quote}{doubled}{quote}")
    }

    /// Runs blocking work on a separate thread.
    pub(super) async fn wait<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T> + Send + 'static,
    {
        let table = self.clone();
        blocking(move || work(&table)).await
    }

    pub(super) fn execute(&self, statement: &str) -> Result<()> {
        let run = || {
            let mut run = self.opened.connect()?.new_statement()?;
            run.set_sql_query(statement)?;
            run.execute_update().map(|_| ())
        };
        run().map_err(error_at(&self.place))
    }

    /// The names of the tables and views of the connection's current catalog and schema, sorted.
    pub(super) fn siblings(&self) -> Result<Vec<String>> {
        let list = || -> adbc_core::error::Result<Vec<String>> {
            let connection = self.opened.connect()?;
            let current = |option| {
                connection
                    .get_option_string(option)
                    .ok()
                    .filter(|name| !name.is_empty())
            };
            let (catalog, schema) = (
                current(OptionConnection::CurrentCatalog),
                current(OptionConnection::CurrentSchema),
            );
            let objects = connection.get_objects(
                ObjectDepth::Tables,
                catalog.as_deref(),
                schema.as_deref(),
                None,
                None,
                None,
            )?;
            let mut names = Vec::new();
            for batch in objects {
                let batch = batch?;
                let catalogs = StructArray::from(batch);
                for schemas in within(&catalogs, "catalog_db_schemas") {
                    for tables in within(&schemas, "db_schema_tables") {
                        names.extend(texts(&tables, "table_name"));
                    }
                }
            }
            names.sort_unstable();
            names.dedup();
            Ok(names)
        };
        list().map_err(error_at(&self.place))
    }

    /// The name of the table as the database spells it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the existing tables.
    pub(super) fn found(&self) -> Result<String> {
        let tables = self.siblings()?;
        let exactly = tables.iter().find(|name| **name == self.name);
        let found = exactly.or_else(|| tables.iter().find(|name| name.eq_ignore_ascii_case(&self.name)));
        found.cloned().ok_or_else(|| {
            const SHOWN: usize = 20;
            let names: Vec<&str> = tables.iter().take(SHOWN).map(String::as_str).collect();
            Error::NotFound {
                name: self.place.clone(),
                hint: match tables.len() {
                    0 => "the driver lists no tables".to_owned(),
                    count if count > SHOWN => {
                        format!("the database has {} and {} others", names.join(", "), count - SHOWN)
                    }
                    _ => format!("the database has {}", names.join(", ")),
                },
            }
        })
    }
}

/// The structs in a list column.
fn within(of: &StructArray, column: &str) -> Vec<StructArray> {
    let Some(lists) = of.column_by_name(column).and_then(|lists| lists.as_list_opt::<i32>()) else {
        return Vec::new();
    };
    lists
        .iter()
        .flatten()
        .filter_map(|list| list.as_struct_opt().cloned())
        .collect()
}

fn texts(of: &StructArray, column: &str) -> Vec<String> {
    let texts = of.column_by_name(column).and_then(|texts| texts.as_string_opt::<i32>());
    texts.into_iter().flatten().flatten().map(str::to_owned).collect()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Error::Unsupported {
                what: format!("a driver's answer: {error}"),
                hint: "the program is ending".to_owned(),
            }),
        },
    }
}
