//! Results of a call that the traits of `adbc_core` cannot return: the number of rows changed by a statement that is executed as a query,
//! and the error of a batch that failed.
//!
//! Both are stored in the thread of the call. The enclosing function of the C interface (`export.rs`) takes them.

use std::cell::RefCell;

use adbc_core::error::Error;

/// The results of the current call on this thread.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// How many rows a statement changed.
    pub(crate) rows_affected: Option<i64>,
    /// Why the batch failed.
    pub(crate) error: Option<Error>,
}

thread_local! {
    static OUTCOME: RefCell<Outcome> = RefCell::default();
}

pub(crate) fn set_rows_affected(rows: Option<i64>) {
    OUTCOME.with_borrow_mut(|outcome| outcome.rows_affected = rows);
}

pub(crate) fn set_error(error: Error) {
    OUTCOME.with_borrow_mut(|outcome| outcome.error = Some(error));
}

/// Takes the results stored since the last call of this function.
pub(crate) fn take() -> Outcome {
    OUTCOME.take()
}
