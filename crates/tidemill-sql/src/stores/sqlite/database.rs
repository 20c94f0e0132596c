//! A database file, and the connections to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::{dialect, error_at};
use crate::stores::server::ServerUrl;
use crate::{Error, Result};

/// A database file, with the name of a table.
#[derive(Clone, Debug)]
pub(super) struct Database {
    /// The URL of the table.
    place: String,
    path: PathBuf,
    /// The name in the URL; empty if it names none.
    table: String,
    values: Values,
    /// How long to wait for a lock of another program.
    timeout: Duration,
}

/// How values of another type than their column's are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// They are errors.
    Strict,
    /// They are NULL.
    Null,
    /// Every column is text.
    Text,
}

/// The longest value that is read from a smaller database.
const LONGEST_VALUE: u64 = 64 << 20;

impl Database {
    /// # Errors
    ///
    /// [`Error::Unsupported`] for an unknown setting.
    pub(super) fn of(url: &ServerUrl) -> Result<Self> {
        let (path, query) = url.file();
        let table = match url.names_table() {
            true => percent_encoding::percent_decode_str(url.last_part())
                .decode_utf8_lossy()
                .into_owned(),
            false => String::new(),
        };
        let mut database = Self {
            place: url.to_string(),
            path,
            table,
            values: Values::Strict,
            timeout: Duration::from_secs(5),
        };
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            match (name, value) {
                ("values", "strict") => database.values = Values::Strict,
                ("values", "null") => database.values = Values::Null,
                ("values", "text") => database.values = Values::Text,
                ("timeout", value) if seconds(value).is_some() => database.timeout = seconds(value).unwrap_or_default(),
                _ => {
                    return Err(Error::Unsupported {
                        what: format!("{url}: {setting}"),
                        hint: "the settings of a SQLite database are values=strict, values=null, values=text and timeout=SECONDS"
                            .to_owned(),
                    });
                }
            }
        }
        Ok(database)
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn table(&self) -> &str {
        &self.table
    }

    pub(super) fn values(&self) -> Values {
        self.values
    }

    /// Opens a read-only connection. Blocks the calling thread.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the file does not exist.
    pub(super) fn read(&self) -> Result<Connection> {
        if !self.path.is_file() {
            return Err(Error::NotFound {
                name: self.place.clone(),
                hint: format!("there is no file {}", self.path.display()),
            });
        }
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // No stored value is longer than the file. A value computed by a view must not take more memory.
        let longest = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        let longest = i32::try_from(longest.max(LONGEST_VALUE)).unwrap_or(i32::MAX);
        let limited = connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest);
        limited.map_err(error_at(&self.place))?;
        Ok(connection)
    }

    /// Opens a writable connection, and creates a missing database. Blocks the calling thread.
    pub(super) fn write(&self) -> Result<Connection> {
        self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens a connection to create and replace tables. It does not enforce foreign keys: otherwise, dropping a table would delete its rows
    /// one by one, with those that refer to them ("Making Other Kinds Of Table Schema Changes" of SQLite's documentation of ALTER TABLE).
    pub(super) fn make(&self) -> Result<Connection> {
        let connection = self.write()?;
        connection
            .pragma_update(None, "foreign_keys", false)
            .map_err(error_at(&self.place))?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection> {
        // Each connection is used by one thread at a time.
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(&self.path, flags)?;
            connection.busy_timeout(self.timeout)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            // Double quotes always mean a name, never a string.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
            connection.pragma_update(None, "cell_size_check", true)?;
            // In KiB.
            connection.pragma_update(None, "cache_size", -65_536)?;
            Ok(connection)
        };
        open().map_err(error_at(&self.place))
    }

    /// Runs blocking work on a separate thread.
    pub(super) async fn wait<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T> + Send + 'static,
    {
        let database = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&database)).await;
        done.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Error::Unsupported {
                what: format!("{}: {error}", self.place),
                hint: "the program is ending".to_owned(),
            }),
        })
    }

    /// The names of its tables and views, sorted.
    pub(super) async fn tables(&self) -> Result<Vec<String>> {
        self.wait(|database| database.tables_of(&database.read()?)).await
    }

    fn tables_of(&self, connection: &Connection) -> Result<Vec<String>> {
        const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') \
                              AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
        let names = || -> rusqlite::Result<Vec<String>> {
            connection.prepare(TABLES)?.query_map([], |row| row.get(0))?.collect()
        };
        names().map_err(error_at(&self.place))
    }

    /// The name of the table as the database spells it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the existing tables.
    pub(super) async fn found(&self) -> Result<String> {
        self.wait(|database| database.found_by(&database.read()?)).await
    }

    pub(super) fn found_by(&self, connection: &Connection) -> Result<String> {
        let tables = self.tables_of(connection)?;
        let exactly = tables.iter().find(|name| **name == self.table);
        let found = exactly.or_else(|| tables.iter().find(|name| name.eq_ignore_ascii_case(&self.table)));
        found.cloned().ok_or_else(|| Error::NotFound {
            name: self.place.clone(),
            hint: match tables.is_empty() {
                true => "the database has no tables".to_owned(),
                false => format!("the database has {}", tables.join(", ")),
            },
        })
    }

    /// The other tables that refer to a table, sorted.
    pub(super) async fn referring_to(&self, table: &str) -> Result<Vec<String>> {
        const REFERRING: &str = "SELECT DISTINCT child.name FROM sqlite_schema child, pragma_foreign_key_list(child.name) key \
                                 WHERE child.type = 'table' AND key.\"table\" = ?1 COLLATE NOCASE \
                                 AND child.name <> ?1 COLLATE NOCASE ORDER BY 1";
        let table = table.to_owned();
        let found = self.wait(move |database| {
            let connection = database.read()?;
            let names = || -> rusqlite::Result<Vec<String>> {
                connection
                    .prepare(REFERRING)?
                    .query_map([&table], |row| row.get(0))?
                    .collect()
            };
            names().map_err(error_at(&database.place))
        });
        found.await
    }

    /// The result of a query that returns a single number.
    pub(super) async fn number(&self, query: String) -> Result<u64> {
        let number = self.wait(move |database| {
            let connection = database.read()?;
            let number = connection.query_row(&query, [], |row| row.get::<_, i64>(0));
            number.map_err(error_at(&database.place))
        });
        Ok(u64::try_from(number.await?).unwrap_or_default())
    }

    pub(super) async fn execute(&self, statement: String) -> Result<()> {
        let done = self.wait(move |database| {
            let connection = database.write()?;
            connection.execute_batch(&statement).map_err(error_at(&database.place))
        });
        done.await
    }

    /// The columns of a SELECT of all columns of a table.
    pub(super) fn list(&self, connection: &Connection, table: &str) -> Result<Vec<(String, Option<String>)>> {
        let statement = connection.prepare(&format!("SELECT * FROM {}", dialect::name(table)));
        let statement = statement.map_err(error_at(&self.place))?;
        let columns = statement.columns();
        Ok(columns
            .map(|column| (column.name().to_owned(), column.decl_type().map(str::to_owned)))
            .collect())
    }
}

fn seconds(text: &str) -> Option<Duration> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}
