//! A node that takes connections and says nothing.

use std::time::{Duration, Instant};

use tidemill_cql::{Client, Error, Options};
use tokio::net::TcpListener;

#[tokio::test]
async fn connecting_ends_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut options = Options::new([listener.local_addr().expect("an address").to_string()]);
    options.connect_timeout = Duration::from_millis(700);
    let mut taken = Vec::new();
    let begin = Instant::now();
    let error = tokio::select! {
        connected = Client::connect(options) => connected.expect_err("nobody answers"),
        // Kept open.
        () = async { loop { taken.push(listener.accept().await) } } => unreachable!("it goes on"),
    };
    let took = begin.elapsed();
    assert!(
        took >= Duration::from_millis(600) && took < Duration::from_secs(3),
        "{took:?}"
    );
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
}
