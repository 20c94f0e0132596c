//! Another Tidemill, or any server of Arrow Flight SQL: `flight://host:8815/schema/table`.
//!
//! A [scan](scan) is one SELECT, with the columns, conditions, groups, joins and limits that [have the same meaning](dialect) there. If the
//! server is not a Tidemill, less is pushed down. A table is [filled](sink) by one ingestion.

mod client;
mod dialect;
mod scan;
mod sink;

use std::sync::Arc;

use arrow_flight::error::FlightError;
use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use tonic::Code;

use self::client::Clients;
use self::sink::FlightSink;
use super::server::{Address, Filling, Kind, ServerStore, ServerUrl, TableChange, TableOptions, TableSink};
use crate::answer::Answer;
use crate::error::Fault;
use crate::{Error, Result};

pub(super) const KIND: Kind = Kind {
    scheme: "flight",
    aliases: &["flightsql"],
    name: "flight",
    container: "schema",
    address: Address::Host,
    ddl: None,
    store: || Box::new(Flight::default()),
};

/// The servers that a session is connected to.
#[derive(Debug, Default)]
struct Flight(Clients);

#[async_trait::async_trait]
impl ServerStore for Flight {
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>> {
        scan::open(self.0.table(table).await?).await
    }

    async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<String>> {
        let named = self.0.table(database).await?;
        let tables = named.list(None, false).await?;
        Ok(tables.into_iter().map(|table| table.name).collect())
    }

    async fn find(&self, table: &ServerUrl) -> Result<Option<String>> {
        match self.0.table(table).await?.found().await {
            Ok(table) => Ok(Some(table.name)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn kept_rows(&self, table: &ServerUrl) -> Result<Option<u64>> {
        let named = self.0.table(table).await?;
        let found = named.found().await?;
        let count = format!("SELECT COUNT(*) FROM {}", found.quoted());
        named.number(&count).await.map(Some)
    }

    async fn answer(&self, server: &ServerUrl, statement: &str) -> Result<Answer> {
        scan::answer(self.0.table(server).await?, statement).await
    }

    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()> {
        let named = self.0.table(table).await?;
        let found = match named.found().await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) if change == (TableChange::Drop { if_exists: true }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let verb = match change {
            TableChange::Drop { .. } => "DROP TABLE",
            TableChange::Truncate => "DELETE FROM",
        };
        named.execute(format!("{verb} {}", found.quoted())).await
    }

    async fn new_columns(
        &self,
        _table: &ServerUrl,
        schema: &Schema,
        _options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>> {
        let columns = schema.fields().iter();
        let columns = columns.map(|field| {
            (
                Arc::clone(field),
                format!("{}, as the server maps it", field.data_type()),
            )
        });
        Ok(columns.collect())
    }

    fn updates(&self) -> bool {
        false
    }

    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>> {
        let named = self.0.table(table).await?;
        Ok(Box::new(FlightSink::begin(named, schema, filling).await?))
    }
}

/// Converts an error of the client or the server.
fn error_at(place: &str) -> impl FnOnce(FlightError) -> Error {
    let place = place.to_owned();
    move |error| {
        let (code, error) = match error {
            FlightError::Tonic(status) => (Some(status.code()), Explained::of(&status)),
            // The client crate rewords some errors of a server.
            other => (None, Explained(other.to_string())),
        };
        Error::Server {
            place,
            fault: match code {
                Some(Code::NotFound) => Fault::NotFound,
                Some(Code::Unimplemented) => Fault::Unsupported,
                Some(Code::InvalidArgument | Code::AlreadyExists | Code::PermissionDenied) => Fault::Statement,
                Some(Code::OutOfRange) => Fault::Value,
                _ => Fault::Io,
            },
            is_of_connection: matches!(code, Some(Code::Unavailable | Code::Unauthenticated)),
            error: Box::new(error),
        }
    }
}

/// A server's error in readable form.
#[derive(Debug)]
struct Explained(String);

impl Explained {
    fn of(status: &tonic::Status) -> Self {
        let state = status.metadata().get("sqlstate").and_then(|state| state.to_str().ok());
        let hint = match status.code() {
            Code::Unauthenticated => " (give a name and a password: flight://name:password@host)",
            Code::Unavailable => " (is the server there, and is the connection encrypted? ?secure=1)",
            _ => "",
        };
        let state = state.map(|state| format!(" (SQLSTATE {state})")).unwrap_or_default();
        Self(format!("{}{state}{hint}", status.message()))
    }
}

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Explained {}
