//! Selects rows and columns of batches, for engines that read whole rows.

use arrow_array::RecordBatch;
use arrow_select::filter::filter_record_batch;

use super::Request;
use crate::Result;

/// Applies a request's filter, projection and limit to batches.
pub(crate) struct Chosen {
    request: Request,
    /// The columns of the input batches, as indices into the engine's schema.
    columns: Vec<usize>,
    left: usize,
}

impl Chosen {
    /// For batches that have the columns of the projection and the filter: [`Chosen::columns`].
    pub(crate) fn needed(request: Request) -> Self {
        let mut columns = request.projection.clone();
        columns.extend(request.filter.iter().flat_map(|filter| &filter.columns));
        columns.sort_unstable();
        columns.dedup();
        Self::among(columns, request)
    }

    /// For batches that have these columns, in ascending order.
    pub(crate) fn among(columns: Vec<usize>, request: Request) -> Self {
        Self {
            left: request.limit.unwrap_or(usize::MAX),
            columns,
            request,
        }
    }

    /// The columns that the input batches must have.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Whether the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Applies the request to a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`](crate::Error::Engine) if the filter fails on a value.
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
