//! The statements that are under way, so that another connection can cancel one.

use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pgwire::messages::startup::SecretKey;

use crate::statement::Canceller;

/// The connections by the numbers that clients are told.
#[derive(Debug, Default)]
pub(crate) struct Running {
    next: AtomicI32,
    known: Mutex<HashMap<i32, (SecretKey, Canceller)>>,
}

impl Running {
    /// The number of a new connection.
    pub(crate) fn add(&self, key: SecretKey, canceller: Canceller) -> i32 {
        let number = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.known().insert(number, (key, canceller));
        number
    }

    pub(crate) fn remove(&self, number: i32) {
        self.known().remove(&number);
    }

    /// Cancels what a connection does, for who knows its key.
    pub(crate) fn cancel(&self, number: i32, key: &SecretKey) {
        if let Some((known, canceller)) = self.known().get(&number)
            // Of two versions of the protocol, whose keys are written in two ways.
            && known.eq_value(key)
        {
            canceller.cancel();
        }
    }

    /// How many connections there are.
    pub(crate) fn count(&self) -> usize {
        self.known().len()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<i32, (SecretKey, Canceller)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends once the client at the other end of a connection has gone.
pub(crate) async fn gone(line: &TcpStream) {
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        match line.peek(&mut [0]) {
            // It has closed the connection.
            Ok(0) => return,
            // It has sent its next message already, or nothing yet.
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
