//! Whether a running statement continues: the program, or a timeout, may stop it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::error::{Error, Kind, Result};

/// Who is asked whether a statement goes on.
///
/// It is asked before each chunk of records that an expression is evaluated over, for each record that is changed and each
/// statement of a script, on the thread that runs the statement. A statement that is stopped has
/// changed nothing; those of a script that came before it stay.
///
/// # What is not asked
///
/// Conditions and sums that kernels answer in one pass over a table's bytes, which takes milliseconds for a million records, are not
/// interrupted. An [`Analytical`](super::Analytical) engine asks by [`TableSource::is_cancelled`](super::TableSource::is_cancelled).
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<Ask>>);

type Ask = dyn Fn() -> ControlFlow<()> + Send + Sync;

impl Watch {
    /// Asks a function.
    pub fn new(ask: impl Fn() -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(ask)))
    }

    /// Asks.
    ///
    /// # Errors
    /// [`Kind::Stopped`].
    pub fn check(&self) -> Result<()> {
        match self.0.as_ref().map(|ask| ask()) {
            Some(ControlFlow::Break(())) => Err(Error::new(Kind::Stopped, "The statement was stopped")),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.0.is_some()).finish()
    }
}
