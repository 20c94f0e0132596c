//! A client that soon gives up: what tests want that wait for it to.

use std::{net::SocketAddr, time::Duration};

use tidemill_clickhouse::client::Options;

/// Options for the server there, which is tried once: connecting may take so long, and silence may last so long.
pub(crate) fn options(server: SocketAddr, connecting: Duration, silence: Duration) -> Options {
    let mut options = Options::new(&server.to_string()).expect("an address");
    options.connect_timeout = connecting;
    options.read_timeout = silence;
    options.cancel_timeout = Duration::from_millis(250);
    options.connect_rounds = 1;
    options
}
