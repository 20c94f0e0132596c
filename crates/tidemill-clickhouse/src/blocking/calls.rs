//! Where the calls of a blocking client run: in the thread that makes them.
//!
//! A thread that takes care of sockets would have to be woken by each packet, and would then wake the caller: that takes as
//! much time as the query. So there is none as long as a call leaves nothing behind. What may be left, a cancelled query that
//! is read to its end or the clock of an insert, is driven by a thread that ends with it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::{
    runtime::{Builder, Runtime},
    time::sleep,
};

use crate::{Error, Result};

/// What the calls of a client and its clones run on.
#[derive(Debug)]
pub(super) struct Calls {
    runtime: Runtime,
    /// Whether there is a thread that drives what calls left.
    is_driven: AtomicBool,
}

impl Calls {
    pub(super) fn new() -> Result<Arc<Self>> {
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Arc::new(Self {
            runtime: runtime.map_err(Error::io("watch sockets"))?,
            is_driven: AtomicBool::new(false),
        }))
    }

    /// Waits for `call` in this thread.
    pub(super) fn wait<T>(self: &Arc<Self>, call: impl Future<Output = T>) -> T {
        let output = self.runtime.block_on(call);
        self.drive_what_is_left();
        output
    }

    /// Drops something that may leave a task.
    pub(super) fn drop<T>(self: &Arc<Self>, value: T) {
        let within = self.runtime.enter();
        drop(value);
        drop(within);
        self.drive_what_is_left();
    }

    fn drive_what_is_left(self: &Arc<Self>) {
        if !self.has_tasks() || self.is_driven.swap(true, Ordering::SeqCst) {
            return;
        }
        let calls = Arc::clone(self);
        let thread = thread::Builder::new().name("clickhouse".to_owned());
        if thread.spawn(move || calls.drive()).is_err() {
            // What is left continues with the next call.
            self.is_driven.store(false, Ordering::SeqCst);
        }
    }

    fn drive(&self) {
        loop {
            self.runtime.block_on(async {
                while self.has_tasks() {
                    sleep(LOOK).await;
                }
            });
            self.is_driven.store(false, Ordering::SeqCst);
            // Who left a task in between saw that it is driven.
            if !self.has_tasks() || self.is_driven.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }

    fn has_tasks(&self) -> bool {
        self.runtime.metrics().num_alive_tasks() > 0
    }
}

/// How often it is looked whether anything is left to drive.
const LOOK: Duration = Duration::from_millis(20);
