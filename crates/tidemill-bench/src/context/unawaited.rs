//! Calls that a script makes and does not await. They ask nothing, so that a cycle of them measures nothing, and nothing says so.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::stats::Counts;

/// How many there were, by the names of the methods.
#[derive(Debug, Default)]
pub(super) struct Unawaited(RefCell<BTreeMap<&'static str, u64>>);

impl Unawaited {
    #[cold]
    pub(super) fn count(&self, method: &'static str) {
        *self.0.borrow_mut().entry(method).or_default() += 1;
    }

    pub(super) fn total(&self) -> u64 {
        self.0.borrow().values().sum()
    }

    pub(super) fn take(&self) -> Counts {
        let counts = std::mem::take(&mut *self.0.borrow_mut());
        counts
            .into_iter()
            .map(|(method, count)| (method.to_owned(), count))
            .collect()
    }
}

/// Counts a call when it is dropped before it has begun.
struct Call {
    unawaited: Rc<Unawaited>,
    method: &'static str,
    has_begun: bool,
}

impl Call {
    /// Whoever is polled is awaited.
    fn begin(mut self) {
        self.has_begun = true;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.has_begun {
            self.unawaited.count(self.method);
        }
    }
}

/// The call of a method, which is counted unless somebody awaits it.
pub(super) fn call<T>(
    unawaited: Rc<Unawaited>,
    method: &'static str,
    asked: impl Future<Output = T> + 'static,
) -> impl Future<Output = T> + 'static {
    let call = Call {
        unawaited,
        method,
        has_begun: false,
    };
    async move {
        call.begin();
        asked.await
    }
}
