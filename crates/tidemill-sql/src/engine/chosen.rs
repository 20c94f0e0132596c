//! Rows and columns that are chosen of batches, for engines that read whole rows.

use arrow_array::RecordBatch;
use arrow_select::filter::filter_record_batch;

use super::Request;
use crate::Result;

/// Chooses what a request asks for, batch by batch.
pub(crate) struct Chosen {
    request: Request,
    /// The columns of the batches, by their numbers in the engine's schema.
    columns: Vec<usize>,
    left: usize,
}

impl Chosen {
    /// Of batches that have the columns that are asked for, or that the filter looks at: [`Chosen::columns`].
    pub(crate) fn needed(request: Request) -> Self {
        let mut columns = request.projection.clone();
        columns.extend(request.filter.iter().flat_map(|filter| &filter.columns));
        columns.sort_unstable();
        columns.dedup();
        Self::among(columns, request)
    }

    /// Of batches that have these columns, in ascending order.
    pub(crate) fn among(columns: Vec<usize>, request: Request) -> Self {
        Self {
            left: request.limit.unwrap_or(usize::MAX),
            columns,
            request,
        }
    }

    /// The columns that batches have to have.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Whether there are as many rows as were asked for.
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// What is chosen of a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`](crate::Error::Engine) for a value that the filter cannot look at.
    pub(crate) fn of(&mut self, mut batch: RecordBatch) -> Result<RecordBatch> {
        let place = |column: &usize| self.columns.binary_search(column).unwrap_or_default();
        if let Some(filter) = &mut self.request.filter {
            let looked_at: Vec<usize> = filter.columns.iter().map(place).collect();
            let chosen = (filter.predicate)(&batch.project(&looked_at)?)?;
            batch = filter_record_batch(&batch, &chosen)?;
        }
        let batch = batch.slice(0, batch.num_rows().min(self.left));
        self.left -= batch.num_rows();
        let wanted: Vec<usize> = self.request.projection.iter().map(place).collect();
        Ok(batch.project(&wanted)?)
    }
}
