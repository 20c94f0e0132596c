//! ClickHouse: tables of a server, through its native protocol.
//!
//! A [scan](scan) selects columns and rows by one SELECT, with the [conditions](condition) that have the same meaning there.
//! [Tables](table) are found by their names; a new one is [filled](sink) as a draft under another name.

mod computed;
mod condition;
mod draft;
mod order_key;
mod scan;
mod select;
mod sink;
mod table;

use std::sync::Arc;

use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use self::scan::as_promised;
use self::sink::ClickHouseSink;
use self::table::{Clients, ServerTable};
use super::decimals::widened;
use super::server::{Address, Filling, Kind, ServerStore, ServerUrl, TableChange, TableOptions, TableSink};
use crate::answer::Answer;
use crate::error::clickhouse_fault;
use crate::{Error, Result};

pub(super) const KIND: Kind = Kind {
    scheme: "clickhouse",
    aliases: &[],
    name: "clickhouse",
    container: "database",
    address: Address::Host,
    ddl: Some(sink::ddl),
    store: || Box::new(ClickHouse::default()),
};

/// The servers that a session is connected to.
#[derive(Debug, Default)]
struct ClickHouse(Clients);

#[async_trait::async_trait]
impl ServerStore for ClickHouse {
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>> {
        scan::open(ServerTable::find(table, &self.0).await?).await
    }

    async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<String>> {
        ServerTable::connect(database, &self.0).await?.siblings().await
    }

    async fn find(&self, table: &ServerUrl) -> Result<Option<String>> {
        match ServerTable::find(table, &self.0).await {
            Ok(found) => Ok(Some(found.table().to_owned())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn kept_rows(&self, table: &ServerUrl) -> Result<Option<u64>> {
        let found = ServerTable::find(table, &self.0).await?;
        let rows = found.number(&format!("SELECT count() FROM {}", found.name())).await?;
        let tells = rows == 0 || found.keeps_rows().await?;
        Ok(tells.then_some(rows))
    }

    async fn answer(&self, server: &ServerUrl, statement: &str) -> Result<Answer> {
        let server = ServerTable::connect(server, &self.0).await?;
        let failed = || error_at(server.place());
        let mut rows = server.client().query(statement).stream().await.map_err(failed())?;
        let Some(schema) = rows.schema().as_ref().map(widened) else {
            while rows.next().await.map_err(failed())?.is_some() {}
            return Answer::counted(None);
        };
        let (place, promised) = (server.place().to_owned(), Arc::clone(&schema));
        let batches = rows.into_stream().map(move |batch| {
            let batch = batch.map_err(error_at(&place));
            let batch = batch.and_then(|batch| as_promised(batch, &promised, &place));
            batch.map_err(|error| DataFusionError::External(Box::new(error)))
        });
        Ok(Answer::streamed(Box::pin(RecordBatchStreamAdapter::new(
            schema, batches,
        ))))
    }

    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()> {
        let table = ServerTable::connect(table, &self.0).await?;
        table.execute(&format!("{change} {}", table.name())).await
    }

    async fn new_columns(
        &self,
        table: &ServerUrl,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>> {
        let table = ServerTable::connect(table, &self.0).await?;
        let columns = sink::new_columns(&table, schema, options).await?;
        let columns = columns.into_iter();
        Ok(columns.map(|(field, to)| (field, to.to_string())).collect())
    }

    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>> {
        let table = ServerTable::connect(table, &self.0).await?;
        Ok(Box::new(ClickHouseSink::begin(table, schema, filling).await?))
    }

    fn resumes(&self) -> bool {
        true
    }

    async fn end_predecessors(&self, server: &ServerUrl, job: &str) -> Result<()> {
        ServerTable::connect(server, &self.0).await?.end_queries(job).await
    }
}

/// Converts an error of the client or the server.
fn error_at(place: impl std::fmt::Display) -> impl FnOnce(tidemill_clickhouse::Error) -> Error {
    use tidemill_clickhouse::Error as E;
    let place = place.to_string();
    move |error| {
        let is_of_connection = matches!(
            error,
            E::Io { .. } | E::Closed { .. } | E::Timeout { .. } | E::Truncated { .. }
        );
        Error::Server {
            place,
            fault: clickhouse_fault(&error),
            is_of_connection,
            error: Box::new(error),
        }
    }
}
