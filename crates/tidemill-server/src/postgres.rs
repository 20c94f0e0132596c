//! PostgreSQL's protocol ([Frontend/Backend Protocol][docs], version 3), over the messages of the crate `pgwire`.
//!
//! | file | what |
//! |---|---|
//! | `door.rs` | what each message of a client does |
//! | `startup.rs` | logins |
//! | `command.rs` | classifies a statement: SQL for the session, or a command of the protocol |
//! | `client.rs` | a client's session, settings and transaction |
//! | `rows.rs` | results as rows |
//! | `parameters.rs` | types and values of parameters |
//! | `lists.rs` | arrays as parameters |
//! | `catalog.rs` | `pg_catalog` for clients |
//! | `functions.rs` | PostgreSQL's functions about a connection, and `pg_sleep` |
//! | `copy.rs` | `COPY … TO STDOUT` and `COPY … FROM STDIN` |
//! | `failure.rs` | errors with SQLSTATE and position |
//!
//! [docs]: https://www.postgresql.org/docs/15/protocol.html

mod catalog;
mod client;
mod column_names;
mod command;
mod copy;
mod door;
pub(crate) mod failure;
mod functions;
mod lists;
mod parameters;
mod prepared_by_name;
mod rows;
mod running;
mod settings;
mod standard_sql;
mod startup;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, SinkExt as _, StreamExt as _};
use pgwire::api::{ClientInfo as _, PgWireConnectionState};
use pgwire::error::PgWireError;
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use pgwire::tokio::server::{MaybeTls, PgWireMessageServerCodec, negotiate_tls, process_error, process_message};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tokio_util::codec::Framed;

use self::command::Prepared;
pub(crate) use self::command::split;
use self::door::Door;
pub(crate) use self::parameters::types_of_marks;
pub(crate) use self::rows::{Rows, Source};
pub(crate) use self::running::Running;
use crate::listener::acceptor;
use crate::server::Shared;

/// A connection with a client, after the negotiation of TLS.
type Socket = Framed<MaybeTls, PgWireMessageServerCodec<Arc<Prepared>>>;

/// How long a client may take to log in.
const LOGIN_TIME: Duration = Duration::from_secs(30);

/// Accepts clients until the server ends.
pub(crate) async fn listen(listener: TcpListener, shared: Arc<Shared>, open: Arc<Semaphore>) {
    let mut stop = shared.stop.clone();
    let tls = shared.tls.as_ref().map(|config| acceptor(config, &[b"postgresql"]));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ended(&mut stop) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Usually no file descriptor is left; one may become free.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let permit = Arc::clone(&open).try_acquire_owned();
        let (shared, tls) = (Arc::clone(&shared), tls.clone());
        tokio::spawn(async move {
            let is_full = permit.is_err();
            let _permit = permit;
            // A client that disconnects needs no response.
            let _ = connection(stream, shared, tls, is_full).await;
        });
    }
}

async fn connection(
    stream: TcpStream,
    shared: Arc<Shared>,
    tls: Option<TlsAcceptor>,
    is_full: bool,
) -> Result<(), std::io::Error> {
    let peer = stream.peer_addr()?;
    // A second handle, which detects a disconnect while a statement runs and nothing is read.
    let stream = stream.into_std()?;
    let line = stream.try_clone()?;
    let stream = TcpStream::from_std(stream)?;
    let deadline = tokio::time::Instant::now() + LOGIN_TIME;
    let negotiated = tokio::time::timeout_at(deadline, negotiate_tls(stream, tls));
    let Ok(Some(mut socket)) = negotiated.await.unwrap_or(Ok(None)) else {
        return Ok(());
    };
    if is_full {
        let error = failure::fatal("53300", format!("there are {} connections already", shared.connections));
        return end_with(&mut socket, error).await;
    }
    if shared.asks_for_certificates && !matches!(socket.get_ref(), MaybeTls::Tls(_)) {
        let message = "a client certificate is needed; connect with sslmode=require, sslcert=FILE and sslkey=FILE";
        return end_with(&mut socket, failure::fatal("28000", message)).await;
    }
    let mut stop = shared.stop.clone();
    let door = Arc::new(Door::new(shared, peer, line));
    loop {
        let is_known = !matches!(
            socket.state(),
            PgWireConnectionState::AwaitingStartup | PgWireConnectionState::AuthenticationInProgress
        );
        let message = tokio::select! {
            // pgwire 0.41 trusts the lengths within a message, and panics if they exceed it.
            message = AssertUnwindSafe(socket.next()).catch_unwind() => message,
            () = tokio::time::sleep_until(deadline), if !is_known => {
                return end_with(&mut socket, failure::fatal("08P01", "the login took too long")).await;
            }
            () = ended(&mut stop) => {
                return end_with(&mut socket, failure::fatal("57P01", "the server ends")).await;
            }
        };
        let message = match message {
            Ok(Some(Ok(PgWireFrontendMessage::Terminate(_))) | None) => return Ok(()),
            Ok(Some(Ok(message))) => message,
            Ok(Some(Err(PgWireError::IoError(_)))) => return Ok(()),
            Ok(Some(Err(error))) => {
                return end_with(&mut socket, failure::fatal("08P01", error.to_string())).await;
            }
            Err(_) => {
                let message = "a length within the message leads beyond it";
                return end_with(&mut socket, failure::fatal("08P01", message)).await;
            }
        };
        let is_extended = match socket.state() {
            PgWireConnectionState::CopyInProgress(is_extended) => is_extended,
            _ => message.is_extended_query(),
        };
        let of_door = || Arc::clone(&door);
        let done = process_message(
            message,
            &mut socket,
            of_door(),
            of_door(),
            of_door(),
            of_door(),
            of_door(),
        );
        if let Err(error) = done.await {
            match error {
                PgWireError::IoError(_) => return Ok(()),
                // A connection ends when its login fails.
                error if !door.is_open() => return end_with(&mut socket, failure::of_login(error)).await,
                error => process_error(&mut socket, error, is_extended).await?,
            }
        }
    }
}

/// Waits until the server ends.
async fn ended(stop: &mut watch::Receiver<bool>) {
    // The sender is dropped only with the server.
    let _ = stop.wait_for(|ends| *ends).await;
}

async fn end_with(socket: &mut Socket, error: PgWireError) -> Result<(), std::io::Error> {
    let info: pgwire::error::ErrorInfo = error.into();
    socket.send(PgWireBackendMessage::ErrorResponse(info.into())).await?;
    socket.close().await
}
