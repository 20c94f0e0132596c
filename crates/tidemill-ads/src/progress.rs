//! Progress of long work: index builds, packing, copies. The callback can stop it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tidemill_xbase::BuildOptions;

/// A callback that gets the progress of long work in percent, and decides whether the work continues.
///
/// It is called for each percent and every two seconds, from 0 on for each order that is built, and a last time with 100 when
/// the work has ended, stopped or not. Stopped work leaves the files as they were, except for records that were copied into a
/// table that existed before.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Tell>>);

type Tell = dyn Fn(u16) -> ControlFlow<()> + Send + Sync;

impl Progress {
    /// Tells a function.
    pub fn new(tell: impl Fn(u16) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.0.is_some()).finish()
    }
}

/// The long work of a table, of which there is one at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work(Arc<Mutex<Option<UnderWay>>>);

#[derive(Debug)]
struct UnderWay {
    progress: Progress,
    /// How many records the table has.
    records: u64,
    order: String,
    told: Option<(u16, Instant)>,
}

/// How long nothing is told while the percent stays the same.
const PAUSE: Duration = Duration::from_secs(2);

impl Work {
    /// How indexes are made: what is under way then is told of it.
    pub(crate) fn build_options(&self) -> BuildOptions {
        let work = self.clone();
        BuildOptions::new().progress(move |order, progress| match work.lock().as_mut() {
            Some(under_way) => under_way.keys(order, progress.keys, progress.total),
            None => ControlFlow::Continue(()),
        })
    }

    /// Begins work on a table of so many records.
    pub(crate) fn begin(&self, progress: &Progress, records: u32) {
        *self.lock() = progress.0.is_some().then(|| UnderWay {
            progress: progress.clone(),
            records: records.into(),
            order: String::new(),
            told: None,
        });
    }

    /// Tells that so many of all records are done.
    pub(crate) fn tell(&self, done: u64, all: u64) -> ControlFlow<()> {
        match self.lock().as_mut() {
            Some(under_way) => under_way.percent(done, all),
            None => ControlFlow::Continue(()),
        }
    }

    /// Ends the work.
    pub(crate) fn end(&self) {
        let ended = self.lock().take();
        if let Some(tell) = ended.and_then(|under_way| under_way.progress.0) {
            let _ = tell(100);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<UnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnderWay {
    /// Keys are taken in, which is half of the work, and then packed into pages.
    fn keys(&mut self, order: &str, keys: u64, total: Option<u64>) -> ControlFlow<()> {
        if self.order != order {
            order.clone_into(&mut self.order);
            self.told = None;
        }
        match total {
            Some(total) if order.is_empty() => self.percent(keys, total),
            Some(total) => self.percent(keys.saturating_add(total), total.saturating_mul(2)),
            None => self.percent(keys, self.records.saturating_mul(2)),
        }
    }

    fn percent(&mut self, done: u64, all: u64) -> ControlFlow<()> {
        let part = u128::from(done) * 100 / u128::from(all.max(1));
        let percent = u16::try_from(part).unwrap_or(99).min(99);
        let is_news = self
            .told
            .is_none_or(|(told, when)| told != percent || when.elapsed() >= PAUSE);
        match &self.progress.0 {
            Some(tell) if is_news => {
                self.told = Some((percent, Instant::now()));
                tell(percent)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_percent_is_told_once_and_the_end_always() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&seen);
        let progress = Progress::new(move |percent| {
            heard.lock().unwrap().push(percent);
            match percent {
                3 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        let work = Work::default();
        assert_eq!(work.tell(1, 2), ControlFlow::Continue(()), "nothing is under way");
        work.begin(&progress, 1000);
        for done in [0, 1, 9, 10, 19, 25] {
            assert_eq!(work.tell(done, 1000), ControlFlow::Continue(()));
        }
        assert_eq!(work.tell(30, 1000), ControlFlow::Break(()));
        work.end();
        work.end();
        assert_eq!(*seen.lock().unwrap(), [0, 1, 2, 3, 100]);
    }

    #[test]
    fn percents_begin_anew_for_each_order() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&seen);
        let progress = Progress::new(move |percent| {
            heard.lock().unwrap().push(percent);
            ControlFlow::Continue(())
        });
        let work = Work::default();
        work.begin(&progress, 100);
        let mut under_way = work.lock();
        let under_way = under_way.as_mut().unwrap();
        for (order, keys, total) in [
            ("", 50, Some(100)),
            ("A", 50, None),
            ("A", 100, None),
            ("A", 50, Some(100)),
            ("A", 100, Some(100)),
            ("B", 50, None),
            ("B", 200, None),
        ] {
            assert_eq!(under_way.keys(order, keys, total), ControlFlow::Continue(()));
        }
        assert_eq!(*seen.lock().unwrap(), [50, 25, 50, 75, 99, 25, 99]);
    }
}
