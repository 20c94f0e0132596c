//! Fills a table by one ingestion. The server rolls back an aborted request, so that a cancelled copy aborts it: an end of the stream would
//! mean that the rows are complete.

use std::future::ready;

use arrow_array::RecordBatch;
use arrow_flight::FlightDescriptor;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use arrow_flight::sql::{
    CommandStatementIngest, DoPutUpdateResult, ProstMessageExt as _, TableDefinitionOptions, TableExistsOption,
    TableNotExistOption,
};
use arrow_schema::SchemaRef;
use futures::channel::mpsc;
use futures::{SinkExt as _, StreamExt as _};
use prost::Message as _;
use tokio::task::JoinHandle;

use super::client::NamedTable;
use super::error_at;
use crate::stores::server::fitting::{columns_for, fitted, unfit};
use crate::stores::server::{Filling, IfThere, TableSink};
use crate::{Error, Result, for_programs};

/// The most batches in flight.
const BATCHES_IN_FLIGHT: usize = 2;

pub(super) struct FlightSink {
    /// The URL, without its password.
    place: String,
    expected: SchemaRef,
    rows: u64,
    batches: mpsc::Sender<RecordBatch>,
    filling: Option<JoinHandle<Result<u64, FlightError>>>,
}

impl Drop for FlightSink {
    fn drop(&mut self) {
        // Aborts before the end of the batches is seen.
        if let Some(filling) = self.filling.take() {
            filling.abort();
        }
    }
}

impl FlightSink {
    pub(super) async fn begin(named: NamedTable, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Self> {
        use {TableExistsOption as There, TableNotExistOption as Missing};
        let (making, there) = (filling.making, filling.there);
        let found = match named.found().await {
            Ok(found) => Some(found),
            Err(Error::NotFound { .. }) if making.create => None,
            Err(error) => return Err(error),
        };
        let exists = || Error::Exists {
            place: named.place.clone(),
        };
        let (expected, if_exists, if_not_exist) = match &found {
            Some(found) if !making.create || there.keeps_rows() => {
                let expected = columns_for(&found.columns, schema, (filling.columns, there), &named.place)?;
                (expected, There::Append, Missing::Fail)
            }
            Some(_) if there != IfThere::Replace => return Err(exists()),
            Some(_) => (for_programs(schema), There::Replace, Missing::Create),
            None => (for_programs(schema), There::Fail, Missing::Create),
        };
        let command = CommandStatementIngest {
            table_definition_options: Some(TableDefinitionOptions {
                if_not_exist: if_not_exist.into(),
                if_exists: if_exists.into(),
            }),
            table: found
                .as_ref()
                .map_or_else(|| named.table.clone(), |found| found.name.clone()),
            schema: Some(found.map_or_else(|| named.schema.clone(), |found| found.schema)),
            ..CommandStatementIngest::default()
        };
        let (batches, incoming) = mpsc::channel(BATCHES_IN_FLIGHT);
        let place = named.place.clone();
        let filling = tokio::spawn(fill(named, command, expected.clone(), incoming));
        Ok(Self {
            place,
            expected,
            rows: 0,
            batches,
            filling: Some(filling),
        })
    }

    /// The result of the ingestion.
    async fn ended(filling: JoinHandle<Result<u64, FlightError>>, place: &str) -> Result<u64> {
        match filling.await {
            Ok(done) => done.map_err(error_at(place)),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(error_at(place)(FlightError::protocol(error.to_string()))),
            },
        }
    }
}

/// Sends all rows, and waits for their number.
async fn fill(
    named: NamedTable,
    command: CommandStatementIngest,
    schema: SchemaRef,
    batches: mpsc::Receiver<RecordBatch>,
) -> Result<u64, FlightError> {
    let descriptor = FlightDescriptor::new_cmd(command.as_any().encode_to_vec());
    let encoder = FlightDataEncoderBuilder::new()
        .with_flight_descriptor(Some(descriptor))
        .with_schema(schema)
        .build(batches.map(Ok));
    let (wrong, mut is_wrong) = tokio::sync::mpsc::channel(1);
    // A batch that cannot be encoded must not end the stream: the request is aborted.
    let messages = encoder.filter_map(move |message| {
        let message = message.map_err(|error| drop(wrong.try_send(error)));
        ready(message.ok())
    });
    let mut client = named.client.sql();
    let put = async {
        let mut answer = client.do_put(messages).await?;
        let answer = answer
            .message()
            .await
            .map_err(|status| FlightError::Tonic(Box::new(status)))?;
        let answer = answer.ok_or_else(|| FlightError::protocol("the server does not say how many rows it took"))?;
        let answer = DoPutUpdateResult::decode(answer.app_metadata)
            .map_err(|error| FlightError::DecodeError(error.to_string()))?;
        u64::try_from(answer.record_count)
            .map_err(|_| FlightError::protocol("the server took an unknown number of rows"))
    };
    tokio::select! {
        biased;
        Some(error) = is_wrong.recv() => Err(error),
        done = put => done,
    }
}

#[async_trait::async_trait]
impl TableSink for FlightSink {
    fn columns(&self) -> Vec<String> {
        let fields = self.expected.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let fitted = fitted(batch, &self.expected, &self.place, self.rows)?;
        self.rows += batch.num_rows() as u64;
        if self.batches.send(fitted).await.is_ok() {
            return Ok(());
        }
        // The server has stopped reading; its error is reported.
        if let Some(filling) = self.filling.take() {
            Self::ended(filling, &self.place).await?;
        }
        Err(unfit(&self.place, "", "the server took no more rows"))
    }

    async fn finish(mut self: Box<Self>) -> Result<u64> {
        self.batches.close_channel();
        let Some(filling) = self.filling.take() else {
            return Err(unfit(&self.place, "", "the server took no more rows"));
        };
        let taken = Self::ended(filling, &self.place).await?;
        match taken == self.rows {
            true => Ok(taken),
            false => Err(unfit(
                &self.place,
                "",
                format!("the server took {taken} rows of {}", self.rows),
            )),
        }
    }

    async fn give_up(mut self: Box<Self>) {
        if let Some(filling) = self.filling.take() {
            filling.abort();
            // Waits until the request is aborted.
            let _ = filling.await;
        }
    }
}
