//! What a call says beside its result, for which the traits of `adbc_core` have no room: the number of rows that a statement changed
//! while a program asks for rows, and the error behind a batch that does not come.
//!
//! Both are left on the thread of the call, and taken by the function of the C interface around it (`export.rs`).

use std::cell::RefCell;

use adbc_core::error::Error;

/// What the call in flight on this thread left.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// How many rows a statement changed.
    pub(crate) rows_affected: Option<i64>,
    /// Why there is no batch.
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

/// What was left since this was called last.
pub(crate) fn take() -> Outcome {
    OUTCOME.take()
}
