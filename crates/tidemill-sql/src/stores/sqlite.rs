//! SQLite: the tables and views of a database in a file.
//!
//! A column has the [type](kind) that its table declares, if the first rows conform to it: SQLite itself accepts any value in any column. A
//! [scan](scan) is one SELECT, with the columns, conditions, groups and limits that have the same meaning there. A table is [filled](sink)
//! in one transaction.
//!
//! A file can only supply rows. It is opened without extensions, and its views can call only SQLite's harmless functions (`PRAGMA
//! trusted_schema = OFF`).

mod database;
mod dialect;
mod kind;
mod rows;
mod scan;
mod sink;

use std::sync::Arc;

use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;

use self::database::Database;
use self::kind::Kind as ColumnKind;
use self::sink::{SqliteSink, Writers};
use super::server::resuming::Resumable;
use super::server::{
    Address, Filling, ForeignKey, Kind, Relating, ServerStore, ServerUrl, TableChange, TableOptions, TableSink,
};
use crate::answer::Answer;
use crate::error::Fault;
use crate::{Error, Result};

pub(super) const KIND: Kind = Kind {
    scheme: "sqlite",
    aliases: &[],
    name: "sqlite",
    container: "database",
    address: Address::File(&["db", "db3", "sqlite", "sqlite3", "s3db", "gpkg", "mbtiles"]),
    ddl: Some(sink::ddl),
    store: || Box::new(Sqlite::default()),
};

/// The locks of the databases that a session writes to.
#[derive(Debug, Default)]
struct Sqlite(Writers);

#[async_trait::async_trait]
impl ServerStore for Sqlite {
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>> {
        scan::open(Database::of(table)?).await
    }

    async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<String>> {
        Database::of(database)?.tables().await
    }

    async fn find(&self, table: &ServerUrl) -> Result<Option<String>> {
        let database = Database::of(table)?;
        match database.found().await {
            Ok(name) => Ok(Some(name)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn kept_rows(&self, table: &ServerUrl) -> Result<Option<u64>> {
        let database = Database::of(table)?;
        let name = database.found().await?;
        database
            .number(format!("SELECT count(*) FROM {}", dialect::name(&name)))
            .await
            .map(Some)
    }

    async fn answer(&self, database: &ServerUrl, statement: &str) -> Result<Answer> {
        rows::answer(Database::of(database)?, statement).await
    }

    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()> {
        let database = Database::of(table)?;
        let name = match database.found().await {
            Ok(name) => name,
            Err(Error::NotFound { .. }) if change == (TableChange::Drop { if_exists: true }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let referring = database.referring_to(&name).await?;
        if !referring.is_empty() {
            return Err(Error::Unsupported {
                what: format!("{table}: {change} of a table that {} refers to", referring.join(", ")),
                hint: "drop or empty that table first".to_owned(),
            });
        }
        let name = dialect::name(&name);
        let statement = match change {
            TableChange::Drop { .. } => format!("DROP TABLE {name}"),
            TableChange::Truncate => format!("DELETE FROM {name}"),
        };
        database.execute(statement).await
    }

    async fn new_columns(
        &self,
        table: &ServerUrl,
        schema: &Schema,
        _options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>> {
        let place = table.to_string();
        let columns = schema.fields().iter().map(|field| {
            let kind = ColumnKind::of_arrow(field, &place)?;
            Ok((Arc::clone(field), kind.declaration()))
        });
        columns.collect()
    }

    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>> {
        let database = Database::of(table)?;
        let turn = self.0.turn(database.path()).await;
        Ok(Box::new(SqliteSink::begin(database, turn, schema, filling).await?))
    }

    fn transactions(&self) -> Option<&dyn Resumable> {
        Some(self)
    }

    fn relating(&self) -> Option<&dyn Relating> {
        Some(self)
    }
}

#[async_trait::async_trait]
impl Resumable for Sqlite {
    async fn make_draft(
        &self,
        draft: &ServerUrl,
        _table: &ServerUrl,
        schema: &SchemaRef,
        making: &TableOptions,
    ) -> Result<()> {
        sink::make_draft(&Database::of(draft)?, schema, making).await
    }

    /// SQLite has one writer at a time, and a killed one leaves nothing in flight.
    async fn wait_for_writers(&self, table: &ServerUrl) -> Result<()> {
        Database::of(table)?
            .execute("BEGIN IMMEDIATE; ROLLBACK".to_owned())
            .await
    }

    async fn publish_draft(
        &self,
        draft: &ServerUrl,
        table: &ServerUrl,
        _schema: &SchemaRef,
        making: &TableOptions,
        replaces: bool,
    ) -> Result<()> {
        let draft = Database::of(draft)?.found().await?;
        sink::publish_draft(&Database::of(table)?, draft, making, replaces).await
    }
}

/// A table has its foreign keys from the start. SQLite checks them when a program enables that and changes rows.
#[async_trait::async_trait]
impl Relating for Sqlite {
    async fn make_foreign_key(&self, table: &ServerUrl, parent: &ServerUrl, key: &ForeignKey) -> Result<u64> {
        let (child, parent) = (Database::of(table)?, Database::of(parent)?);
        let (table, parent) = (child.found().await?, parent.found().await?);
        let pairs = key.columns.iter().zip(&key.parent_columns);
        let (mut given, mut same) = (Vec::new(), Vec::new());
        for (own, other) in pairs {
            let (own, other) = (dialect::name(own), dialect::name(other));
            given.push(format!("child.{own} IS NOT NULL"));
            same.push(format!("parent.{other} = child.{own}"));
        }
        let orphans = format!(
            "SELECT count(*) FROM {} child WHERE {} AND NOT EXISTS (SELECT 1 FROM {} parent WHERE {})",
            dialect::name(&table),
            given.join(" AND "),
            dialect::name(&parent),
            same.join(" AND ")
        );
        child.number(orphans).await
    }

    /// Replacing a table does not affect the tables that refer to it.
    async fn drop_foreign_keys(&self, _tables: &[ServerUrl]) -> Result<()> {
        Ok(())
    }
}

/// Converts an error of SQLite.
fn error_at(place: &str) -> impl FnOnce(rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Code;
    let place = place.to_owned();
    move |error| {
        let code = error.sqlite_error_code();
        let fault = match code {
            Some(Code::ConstraintViolation | Code::TypeMismatch | Code::TooBig | Code::DatabaseCorrupt) => Fault::Value,
            Some(Code::Unknown) => Fault::Statement,
            Some(Code::NotADatabase | Code::NotFound) => Fault::NotFound,
            _ => Fault::Io,
        };
        Error::Server {
            place,
            fault,
            is_of_connection: matches!(code, Some(Code::CannotOpen)),
            error: Box::new(Explained(error)),
        }
    }
}

/// An error of SQLite with a hint.
#[derive(Debug)]
struct Explained(rusqlite::Error);

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use rusqlite::ErrorCode as Code;
        let Self(error) = self;
        error.fmt(f)?;
        f.write_str(match error.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => {
                " (another program writes to it: try again, or wait longer with ?timeout=SECONDS)"
            }
            Some(Code::ReadOnly) => {
                " (the file or its folder cannot be written, or a program that ended has left a journal beside it)"
            }
            Some(Code::NotADatabase) => " (it may be encrypted)",
            Some(Code::TooBig) => " (a value that is longer than 64 MiB and than the file)",
            _ => "",
        })
    }
}

impl std::error::Error for Explained {}
