//! Any database that has an ADBC driver: `adbc:driver=NAME;uri=…`.
//!
//! A [driver](driver) is a shared library, loaded on first use. A [scan](scan) is one SELECT of columns, with the conditions that have the
//! same meaning in every database; groups, joins and orders are evaluated here. A table is [filled](sink) by the driver's bulk ingestion,
//! in a transaction if the driver supports them.

mod driver;
mod duckdb;
mod scan;
mod sink;

use std::sync::Arc;

use adbc_core::error::Status;
use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;

use self::driver::{Databases, Table};
use super::server::{Address, Filling, Kind, ServerStore, ServerUrl, TableChange, TableOptions, TableSink};
use crate::answer::Answer;
use crate::error::Fault;
use crate::{Error, Result};

pub(super) const KIND: Kind = Kind {
    scheme: "adbc",
    aliases: &[],
    name: "adbc",
    container: "database",
    address: Address::Options,
    ddl: None,
    store: || Box::new(Adbc::default()),
};

/// DuckDB's library is an ADBC driver for its files.
pub(super) const DUCKDB: Kind = Kind {
    scheme: "duckdb",
    aliases: &[],
    name: "duckdb",
    container: "database",
    address: Address::File(&["duckdb", "ddb", "db"]),
    ddl: Some(duckdb::ddl),
    store: || Box::new(Adbc::default()),
};

/// The databases that a session has opened.
#[derive(Debug, Default)]
struct Adbc(Databases);

#[async_trait::async_trait]
impl ServerStore for Adbc {
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>> {
        scan::open(self.0.table(table).await?).await
    }

    async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<String>> {
        self.0.table(database).await?.wait(Table::siblings).await
    }

    async fn find(&self, table: &ServerUrl) -> Result<Option<String>> {
        match self.0.table(table).await?.wait(Table::found).await {
            Ok(name) => Ok(Some(name)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn answer(&self, database: &ServerUrl, statement: &str) -> Result<Answer> {
        scan::answer(self.0.table(database).await?, statement.to_owned()).await
    }

    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()> {
        let table = self.0.table(table).await?;
        let done = table.wait(move |table| {
            let name = match table.found() {
                Ok(name) => name,
                Err(Error::NotFound { .. }) if change == (TableChange::Drop { if_exists: true }) => return Ok(()),
                Err(error) => return Err(error),
            };
            let verb = match change {
                TableChange::Drop { .. } => "DROP TABLE",
                TableChange::Truncate => "DELETE FROM",
            };
            table.execute(&format!("{verb} {}", table.quoted(&name)))
        });
        done.await
    }

    async fn new_columns(
        &self,
        _table: &ServerUrl,
        schema: &Schema,
        _options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>> {
        let columns = schema.fields().iter();
        Ok(columns
            .map(|field| {
                (
                    Arc::clone(field),
                    format!("{}, as the driver maps it", field.data_type()),
                )
            })
            .collect())
    }

    fn updates(&self) -> bool {
        false
    }

    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>> {
        let table = self.0.table(table).await?;
        Ok(Box::new(sink::AdbcSink::begin(table, schema, filling).await?))
    }
}

/// Converts an error of the driver.
fn error_at(place: &str) -> impl FnOnce(adbc_core::error::Error) -> Error {
    let place = place.to_owned();
    move |error| Error::Server {
        place,
        fault: match error.status {
            Status::NotImplemented => Fault::Unsupported,
            Status::NotFound => Fault::NotFound,
            Status::InvalidArguments | Status::InvalidState | Status::AlreadyExists => Fault::Statement,
            Status::InvalidData | Status::Integrity => Fault::Value,
            _ => Fault::Io,
        },
        is_of_connection: error.status == Status::IO,
        error: Box::new(DriverError::from(error)),
    }
}

/// A driver's error in readable form.
#[derive(Debug)]
struct DriverError {
    message: String,
    sqlstate: Option<String>,
}

impl From<adbc_core::error::Error> for DriverError {
    fn from(error: adbc_core::error::Error) -> Self {
        let letters = error.sqlstate.iter().filter_map(|letter| u8::try_from(*letter).ok());
        let sqlstate: String = letters.filter(u8::is_ascii_alphanumeric).map(char::from).collect();
        Self {
            message: error.message,
            sqlstate: (sqlstate.len() == 5 && sqlstate != "00000").then_some(sqlstate),
        }
    }
}

impl std::fmt::Display for DriverError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.sqlstate {
            Some(sqlstate) => write!(f, " (SQLSTATE {sqlstate})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DriverError {}
