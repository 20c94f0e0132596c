//! Counts: rows of a scan without columns, and bytes.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, SchemaRef};
use datafusion::common::Result as EngineResult;
use tokio::sync::mpsc::Sender;

/// Sends this many rows without columns, while the receiver exists.
pub(crate) async fn send(schema: &SchemaRef, count: u64, sender: &Sender<EngineResult<RecordBatch>>) {
    for rows in without_columns(schema, count) {
        if sender.send(rows.map_err(Into::into)).await.is_err() {
            break;
        }
    }
}

/// A number of bytes, as metrics need it.
#[cfg(any(feature = "clickhouse", feature = "postgres"))]
pub(crate) fn bytes(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Batches of this many rows without columns.
fn without_columns(schema: &SchemaRef, count: u64) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send {
    // COUNT creates a value for each row of a batch.
    const ROWS: u64 = 1 << 20;
    let schema = Arc::clone(schema);
    (0..count.div_ceil(ROWS)).map(move |batch| {
        let rows = (count - batch * ROWS).min(ROWS);
        let options = RecordBatchOptions::new().with_row_count(usize::try_from(rows).ok());
        RecordBatch::try_new_with_options(Arc::clone(&schema), Vec::new(), &options)
    })
}

#[cfg(test)]
mod tests {
    use arrow_schema::Schema;

    use super::*;

    #[test]
    fn counted_rows_come_in_batches_that_no_count_makes_large() {
        let schema = Arc::new(Schema::empty());
        let rows = |count| without_columns(&schema, count).map(|batch| batch.expect("rows").num_rows() as u64);
        for count in [0, 1, 1 << 20, (1 << 20) + 1, 5 << 20] {
            assert_eq!(rows(count).sum::<u64>(), count);
        }
        assert_eq!(rows(u64::MAX).next(), Some(1 << 20));
    }
}
