//! Answers of statements that run in a thread of their own.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use tokio::sync::{mpsc, oneshot};

use crate::Result;
use crate::answer::Answer;

/// What a statement begins with.
pub(crate) enum Begun {
    Rows(SchemaRef),
    /// It gives none; how many rows it changed, where it changes rows.
    Changed(Option<u64>),
}

/// Where a statement tells of its rows, in order.
pub(crate) struct Told {
    pub(crate) begun: oneshot::Sender<Begun>,
    pub(crate) rows: mpsc::Sender<Result<RecordBatch>>,
}

/// The answer of a statement that `run` runs. What it fails with comes behind the rows that it has told, or instead of them.
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
            // Nobody may wait for it.
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
        // It ended before it began.
        Err(_) => match batches.recv().await {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Answer::counted(None),
        },
    }
}
