//! One copy in more than one file: `orders@4.riegeli` is `orders-00000-of-00004.riegeli` and three more.
//!
//! If the number of rows is known, each file gets the same number, and the files in sequence have the rows in their order. Otherwise the
//! files take turns.

use arrow_array::RecordBatch;

use super::Sink;
use crate::Result;

/// Rows per turn of a file.
const TURN: u64 = 1_000;

/// Chooses the file of the next rows.
#[derive(Debug)]
pub(crate) struct Shares {
    files: u64,
    /// Rows per file, if known.
    each: Option<u64>,
    given: u64,
}

impl Shares {
    /// Distributes `expected` rows over this many files.
    pub(crate) fn new(files: usize, expected: Option<u64>) -> Self {
        let files = (files as u64).max(1);
        Self {
            files,
            each: expected.map(|rows| rows.div_ceil(files).max(1)),
            given: 0,
        }
    }

    /// The file of the next rows, and how many of `rows` it gets.
    pub(crate) fn next(&mut self, rows: u64) -> (usize, u64) {
        if self.files == 1 {
            return (0, rows);
        }
        let last = self.files - 1;
        let (file, room) = match self.each {
            // The last file gets rows beyond the expected number.
            Some(each) if self.given / each < last => (self.given / each, each - self.given % each),
            Some(_) => (last, u64::MAX),
            None => (self.given / TURN % self.files, TURN - self.given % TURN),
        };
        let taken = rows.min(room);
        self.given += taken;
        (usize::try_from(file).unwrap_or_default(), taken)
    }
}

/// A sink for each file.
pub(crate) struct ShardedSink {
    sinks: Vec<Box<dyn Sink>>,
    shares: Shares,
}

impl ShardedSink {
    pub(crate) fn new(sinks: Vec<Box<dyn Sink>>, expected: Option<u64>) -> Self {
        Self {
            shares: Shares::new(sinks.len(), expected),
            sinks,
        }
    }
}

impl Sink for ShardedSink {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut from = 0;
        while from < batch.num_rows() {
            let (file, rows) = self.shares.next((batch.num_rows() - from) as u64);
            let rows = usize::try_from(rows).unwrap_or(batch.num_rows() - from);
            if let Some(sink) = self.sinks.get_mut(file) {
                sink.write(&batch.slice(from, rows))?;
            }
            from += rows;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.sinks.into_iter().try_for_each(Sink::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of each file.
    fn shared(files: usize, expected: Option<u64>, batches: &[u64]) -> Vec<Vec<u64>> {
        let (mut shares, mut rows, mut number) = (Shares::new(files, expected), vec![Vec::new(); files], 0);
        for batch in batches {
            let mut left = *batch;
            while left > 0 {
                let (file, taken) = shares.next(left);
                rows[file].extend(number..number + taken);
                (number, left) = (number + taken, left - taken);
            }
        }
        rows
    }

    #[test]
    fn files_have_the_rows_in_their_order_where_their_number_is_known() {
        assert_eq!(shared(2, Some(5), &[4, 1]), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(shared(3, Some(1), &[1]), [vec![0], vec![], vec![]]);
        assert_eq!(shared(2, Some(2), &[5]), [vec![0], vec![1, 2, 3, 4]]);
        assert_eq!(shared(2, Some(0), &[2]), [vec![0], vec![1]]);
    }

    #[test]
    fn files_take_turns_where_it_is_not() {
        let rows = shared(3, None, &[2_500, 1_000]);
        assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [1_500, 1_000, 1_000]);
        assert_eq!(rows[0][1_000], 3_000);
    }
}
