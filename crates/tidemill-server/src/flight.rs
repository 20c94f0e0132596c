//! Arrow Flight SQL ([protocol][docs]), over the messages of the crate `arrow-flight` and the transport of `tonic`.
//!
//! | file | what |
//! |---|---|
//! | `door.rs` | what each request of a client does |
//! | `statements.rs` | what statements and uploads do |
//! | `service.rs` | the requests that `arrow-flight` has no method for |
//! | `caller.rs` | who sends a request, and with which session |
//! | `kept.rs` | state between requests: results, prepared statements, transactions |
//! | `rows.rs` | results as messages |
//! | `uploads.rs` | rows that a client sends |
//! | `metadata.rs` | which tables and types there are, and what the server can do |
//!
//! A statement runs in the session of its connection, or of its transaction. What a connection leaves unfetched or uncommitted ends
//! with it.
//!
//! [docs]: https://arrow.apache.org/docs/format/FlightSql.html

mod caller;
mod door;
mod kept;
mod metadata;
mod rows;
mod service;
mod statements;
mod uploads;

use std::sync::Arc;
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::{Code, Response, Status};

pub(crate) use self::caller::Tokens;
use self::door::Door;
use self::service::Service;
use crate::failure::Failure;
use crate::listener::Incoming;
use crate::server::Shared;

/// The most bytes of a message of a client.
const LARGEST: usize = 64 << 20;

/// The interval of keepalive pings, and how long a client may take to answer one.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// The most requests of a connection in flight.
const REQUESTS: u32 = 100;

/// The response to a request.
type Reply<T> = Result<Response<T>, Status>;

/// Answers requests until the server ends.
pub(crate) async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut stop = shared.stop.clone();
    let incoming = Incoming::begin(listener, &shared, &[b"h2"]);
    let door = Arc::new(Door::new(shared));
    let tidied = Arc::clone(&door);
    let tidying = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            tidied.kept.tidy();
        }
    });
    let service = FlightServiceServer::new(Service(door)).max_decoding_message_size(LARGEST);
    let ended = async move {
        let _ = stop.wait_for(|ends| *ends).await;
    };
    // It returns only after a shutdown, and then without an error.
    let _ = Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .max_concurrent_streams(REQUESTS)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming.into_stream(), ended)
        .await;
    tidying.abort();
}

/// An error as a gRPC status. Its SQLSTATE is in the metadata `sqlstate`.
fn status(failure: &Failure) -> Status {
    let code = match &*failure.state {
        "42P01" | "42703" => Code::NotFound,
        "42P07" => Code::AlreadyExists,
        "42501" | "25006" => Code::PermissionDenied,
        "0A000" => Code::Unimplemented,
        "57014" => Code::Cancelled,
        "54000" | "53200" | "53300" => Code::ResourceExhausted,
        state if state.starts_with("XX") => Code::Internal,
        state if state.starts_with("58") || state.starts_with("08") => Code::Unavailable,
        _ => Code::InvalidArgument,
    };
    let message = match &failure.hint {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message.clone(),
    };
    let mut status = Status::new(code, message);
    if let Ok(state) = failure.state.parse() {
        status.metadata_mut().insert("sqlstate", state);
    }
    status
}
