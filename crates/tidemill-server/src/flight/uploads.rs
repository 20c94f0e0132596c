//! Rows that a client uploads: parameter values, and rows for a table.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use arrow_array::RecordBatch;
use arrow_flight::decode::{DecodedFlightData, DecodedPayload, FlightDataDecoder};
use arrow_flight::sql::server::PeekableFlightDataStream;
use arrow_schema::{ArrowError, SchemaRef};
use futures::future::{Either, select};
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use tidemill_trust::printable;
use tokio::sync::mpsc;
use tonic::Status;

use super::LARGEST;

/// The most batches buffered ahead of the reader.
const BATCHES: usize = 4;

/// Rows that a client uploads.
pub(super) struct Upload {
    pub(super) schema: SchemaRef,
    decoder: FlightDataDecoder,
}

/// Why an upload is incomplete.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("the client went away before its last row")]
    Gone,
    #[error("{0}")]
    Wrong(String),
}

impl From<Broken> for tidemill_sql::Error {
    fn from(broken: Broken) -> Self {
        ArrowError::ExternalError(Box::new(broken)).into()
    }
}

/// A message from the connection's task. Without [`Piece::End`], the client disconnected.
enum Piece {
    Batch(RecordBatch),
    Wrong(String),
    End,
}

/// The next message; `None` at the end.
///
/// arrow-ipc 59.3 checks the frame of a message, but panics if a part that a schema needs is missing (`convert.rs`, `fb_to_schema`), and if
/// a buffer extends beyond the message (`Buffer::slice_with_length`).
async fn decoded(decoder: &mut FlightDataDecoder) -> Option<Result<DecodedFlightData, String>> {
    match AssertUnwindSafe(decoder.next()).catch_unwind().await {
        Ok(message) => message.map(|message| message.map_err(|error| error.to_string())),
        Err(_) => Some(Err("an Arrow message that contradicts itself".to_owned())),
    }
}

impl Upload {
    /// Waits for the schema of the rows; `None` if there are no rows.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` if the first message is not a schema.
    pub(super) async fn begin(stream: PeekableFlightDataStream) -> Result<Option<Self>, Status> {
        let mut decoder = FlightDataDecoder::new(stream.map_err(Into::into));
        loop {
            let Some(message) = decoded(&mut decoder).await else {
                return Ok(None);
            };
            match message.map_err(|error| wrong(&error))?.payload {
                DecodedPayload::None => {}
                DecodedPayload::Schema(schema) => return Ok(Some(Self { schema, decoder })),
                DecodedPayload::RecordBatch(_) => return Err(wrong("rows came before their schema")),
            }
        }
    }

    /// The next batch; `None` at the end.
    async fn next(&mut self) -> Result<Option<RecordBatch>, String> {
        while let Some(message) = decoded(&mut self.decoder).await {
            match message?.payload {
                DecodedPayload::None => {}
                DecodedPayload::RecordBatch(batch) => return Ok(Some(batch)),
                DecodedPayload::Schema(_) => return Err("a second schema came".to_owned()),
            }
        }
        Ok(None)
    }

    /// All rows, as parameter values.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a message that is not a batch, `RESOURCE_EXHAUSTED` for more than 64 MiB.
    pub(super) async fn all(mut self) -> Result<Vec<RecordBatch>, Status> {
        let (mut batches, mut size) = (Vec::new(), 0_usize);
        while let Some(batch) = self.next().await.map_err(|error| wrong(&error))? {
            size = size.saturating_add(batch.get_array_memory_size());
            if size > LARGEST {
                return Err(Status::resource_exhausted(format!(
                    "the values of parameters have more than {LARGEST} bytes; send them in parts"
                )));
            }
            batches.push(batch);
        }
        Ok(match batches.is_empty() {
            // Without rows, the statement does not run.
            true => vec![RecordBatch::new_empty(self.schema)],
            false => batches,
        })
    }

    /// Passes the rows to work on another thread as they arrive, and waits for the work.
    pub(super) async fn into<T, W: Future<Output = T>>(mut self, work: impl FnOnce(SchemaRef, Batches) -> W) -> T {
        let (pieces, received) = mpsc::channel(BATCHES);
        let work = work(self.schema.clone(), Batches(received));
        let feed = async move {
            loop {
                let piece = match self.next().await {
                    Ok(Some(batch)) => Piece::Batch(batch),
                    Ok(None) => Piece::End,
                    Err(error) => Piece::Wrong(error),
                };
                let is_last = !matches!(piece, Piece::Batch(_));
                // The receiver is gone if the work failed before.
                if pieces.send(piece).await.is_err() || is_last {
                    return std::future::pending::<Infallible>().await;
                }
            }
        };
        match select(pin!(work), pin!(feed)).await {
            Either::Left((done, _)) => done,
            Either::Right((never, _)) => match never {},
        }
    }
}

/// The batches of an upload, for another thread.
pub(super) struct Batches(mpsc::Receiver<Piece>);

impl Iterator for Batches {
    type Item = tidemill_sql::Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.0.blocking_recv() {
            Some(Piece::Batch(batch)) => Some(Ok(batch)),
            Some(Piece::End) => None,
            Some(Piece::Wrong(what)) => Some(Err(Broken::Wrong(what).into())),
            None => Some(Err(Broken::Gone.into())),
        }
    }
}

fn wrong(what: &str) -> Status {
    Status::invalid_argument(printable(what).into_owned())
}
