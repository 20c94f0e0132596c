//! The connections by their cancel keys, so that another connection can cancel a statement.

use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pgwire::messages::startup::SecretKey;

use crate::statement::Canceller;

/// The connections by the process numbers that clients receive.
#[derive(Debug, Default)]
pub(crate) struct Running {
    next: AtomicI32,
    known: Mutex<HashMap<i32, (SecretKey, Canceller)>>,
}

impl Running {
    /// Adds a connection, and returns its number.
    pub(crate) fn add(&self, key: SecretKey, canceller: Canceller) -> i32 {
        let number = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.known().insert(number, (key, canceller));
        number
    }

    pub(crate) fn remove(&self, number: i32) {
        self.known().remove(&number);
    }

    /// Cancels the statement of a connection, if the key is right.
    pub(crate) fn cancel(&self, number: i32, key: &SecretKey) {
        if let Some((known, canceller)) = self.known().get(&number)
            // The key's encoding depends on the version of the protocol.
            && known.eq_value(key)
        {
            canceller.cancel();
        }
    }

    /// The number of connections.
    pub(crate) fn count(&self) -> usize {
        self.known().len()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<i32, (SecretKey, Canceller)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the client has disconnected.
pub(crate) async fn gone(line: &TcpStream) {
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        match line.peek(&mut [0]) {
            // The client has closed the connection.
            Ok(0) => return,
            // The client's next message waits already, or nothing came yet.
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
