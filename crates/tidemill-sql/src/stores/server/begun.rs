//! Answers of statements that run on a separate thread.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use tokio::sync::{mpsc, oneshot};

use crate::Result;
use crate::answer::Answer;

/// The first message of a statement.
pub(crate) enum Begun {
    Rows(SchemaRef),
    /// It returns no rows; how many rows it changed, if it changes rows.
    Changed(Option<u64>),
}

/// Where a statement reports its result.
pub(crate) struct Told {
    pub(crate) begun: oneshot::Sender<Begun>,
    pub(crate) rows: mpsc::Sender<Result<RecordBatch>>,
}

/// The answer of the statement that `run` executes. Its error follows the rows that were sent, or replaces them.
pub(crate) async fn answer<F>(run: impl FnOnce(Told) -> F) -> Result<Answer>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    const BATCHES_IN_FLIGHT: usize = 2;
    let (begun, begins) = oneshot::channel();
    let (rows, mut batches) = mpsc::channel(BATCHES_IN_FLIGHT);
    let failed = rows.clone();
    let running = run(Told { begun, rows });
    tokio::spawn(async move {
        if let Err(error) = running.await {
            // The receiver may be gone.
            let _ = failed.send(Err(error)).await;
        }
    });
    match begins.await {
        Ok(Begun::Changed(rows)) => match batches.recv().await {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Answer::counted(rows),
        },
        Ok(Begun::Rows(schema)) => {
            let batches = futures::stream::unfold(batches, |mut batches| async move {
                let batch = batches.recv().await?;
                Some((
                    batch.map_err(|error| DataFusionError::External(Box::new(error))),
                    batches,
                ))
            });
            Ok(Answer::streamed(Box::pin(RecordBatchStreamAdapter::new(
                schema, batches,
            ))))
        }
        // It failed before its first message.
        Err(_) => match batches.recv().await {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Answer::counted(None),
        },
    }
}
