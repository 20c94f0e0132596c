//! Panics of the query engine as errors: the statement fails, and the program continues.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{FutureExt as _, StreamExt as _};

use crate::{Error, Result};

/// The result of planning, or the error for a panic.
pub(crate) async fn caught<T>(planning: impl Future<Output = Result<T>>) -> Result<T> {
    match AssertUnwindSafe(planning).catch_unwind().await {
        Ok(planned) => planned,
        Err(panic) => Err(defect(&*panic)),
    }
}

/// The same batches, with an error for a panic. Nothing follows it.
pub(crate) fn caught_in(stream: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let schema = stream.schema();
    let batches = AssertUnwindSafe(stream).catch_unwind();
    let batches =
        batches.map(|batch| batch.unwrap_or_else(|panic| Err(DataFusionError::External(Box::new(defect(&*panic))))));
    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
}

fn defect(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Error::Defect {
        what: text.unwrap_or("no message").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::RecordBatch;
    use arrow_schema::Schema;

    use super::*;
    use crate::answer::Answer;

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_end() {
        let planned: Result<()> = caught(async { panic!("no plan for {}", 7) }).await;
        assert!(planned.is_err_and(|error| error.to_string().contains("no plan for 7")));
        let batches = futures::stream::iter(0..3).map(|number| match number {
            1 => panic!("a bad batch"),
            _ => Ok(RecordBatch::new_empty(Arc::new(Schema::empty()))),
        });
        let stream = RecordBatchStreamAdapter::new(Arc::new(Schema::empty()), batches);
        let mut answer = Answer::streamed(caught_in(Box::pin(stream)));
        assert!(answer.next().await.is_ok_and(|batch| batch.is_some()));
        let error = answer.next().await.expect_err("a panic").to_string();
        assert!(error.contains("a bad batch") && error.contains("report"), "{error}");
        assert!(answer.next().await.is_ok_and(|batch| batch.is_none()));
    }
}
