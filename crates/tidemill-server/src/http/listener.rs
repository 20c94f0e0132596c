//! Connections, encrypted or not.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::server::TlsStream;

use crate::server::Shared;

/// How long a client may take to agree on how the connection is encrypted.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The connections of an address.
pub(super) struct Incoming {
    ready: mpsc::Receiver<(Stream, SocketAddr)>,
    address: io::Result<SocketAddr>,
}

impl Incoming {
    /// Takes connections, so that one that is slow to begin holds nobody up.
    pub(super) fn begin(listener: TcpListener, shared: Arc<Shared>) -> Self {
        let (sender, ready) = mpsc::channel(64);
        let address = listener.local_addr();
        let open = Arc::new(Semaphore::new(shared.connections));
        tokio::spawn(async move {
            loop {
                // Others wait until a connection ends.
                let Ok(permit) = Arc::clone(&open).acquire_owned().await else {
                    return;
                };
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = sender.closed() => return,
                };
                let Ok((stream, peer)) = accepted else {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let (sender, tls) = (sender.clone(), shared.tls.clone());
                tokio::spawn(async move {
                    // Small answers are not to wait for more.
                    let _ = stream.set_nodelay(true);
                    let kind = match tls {
                        None => Kind::Plain(stream),
                        Some(acceptor) => {
                            let agreed = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
                            let Ok(Ok(stream)) = agreed else { return };
                            Kind::Tls(Box::new(stream))
                        }
                    };
                    let stream = Stream { kind, _permit: permit };
                    let _ = sender.send((stream, peer)).await;
                });
            }
        });
        Self { ready, address }
    }
}

impl Listener for Incoming {
    type Io = Stream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Stream, SocketAddr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.address {
            Ok(address) => Ok(*address),
            Err(error) => Err(error.kind().into()),
        }
    }
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) SocketAddr);

impl Connected<IncomingStream<'_, Incoming>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Incoming>) -> Self {
        Self(*stream.remote_addr())
    }
}

/// A connection.
pub(super) struct Stream {
    kind: Kind,
    _permit: tokio::sync::OwnedSemaphorePermit,
}

enum Kind {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().kind {
            Kind::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Kind::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().kind {
            Kind::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Kind::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().kind {
            Kind::Plain(stream) => Pin::new(stream).poll_flush(context),
            Kind::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().kind {
            Kind::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Kind::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
