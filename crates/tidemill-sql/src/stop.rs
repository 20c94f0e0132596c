//! Stopping statements that run on threads of their own: on request, or because nobody waits for their result any more.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidemill_ads::sql::Watch;

type IsStopped = Arc<dyn Fn() -> bool + Send + Sync>;

tokio::task_local! {
    /// What the work that is under way asks.
    static ASKED: IsStopped;
}

/// Waits for work whose statements over xBase tables are stopped as soon as `is_stopped` says so, with an
/// [`Error::Ads`](crate::Error::Ads). A statement that was stopped has changed nothing. Others go on: they are stopped when nobody waits
/// for them.
pub async fn stoppable<T>(is_stopped: impl Fn() -> bool + Send + Sync + 'static, work: impl Future<Output = T>) -> T {
    ASKED.scope(Arc::new(is_stopped), work).await
}

/// Stops what another thread does once this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// What the other thread asks.
    pub(crate) fn watch(&self) -> Watch {
        let (is_dropped, asked) = (Arc::clone(&self.0), ASKED.try_with(Arc::clone).ok());
        Watch::new(move || {
            match is_dropped.load(Ordering::Relaxed) || asked.as_ref().is_some_and(|is_stopped| is_stopped()) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
