//! Connections of HTTP and Flight SQL, encrypted or not.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::server::Shared;

/// How long a client may take to agree on how the connection is encrypted.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a client may go on sending when its connection is to end.
const LINGER: Duration = Duration::from_secs(2);

/// The connections of an address.
pub(crate) struct Incoming {
    ready: mpsc::Receiver<Stream>,
    pub(crate) address: io::Result<SocketAddr>,
}

impl Incoming {
    /// Takes connections, so that one that is slow to begin holds nobody up. An encrypted one speaks one of these protocols, by their
    /// names in the registry of [ALPN](https://www.rfc-editor.org/rfc/rfc7301).
    pub(crate) fn begin(listener: TcpListener, shared: &Shared, protocols: &[&[u8]]) -> Self {
        let (sender, ready) = mpsc::channel(64);
        let address = listener.local_addr();
        let open = Arc::new(Semaphore::new(shared.connections));
        let tls = shared.tls.as_ref().map(|config| acceptor(config, protocols));
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
                let (sender, tls) = (sender.clone(), tls.clone());
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
                    let stream = Stream {
                        kind,
                        peer,
                        lingers: None,
                        _permit: permit,
                    };
                    let _ = sender.send(stream).await;
                });
            }
        });
        Self { ready, address }
    }

    /// The next connection; `None` when no more are taken.
    pub(crate) async fn next(&mut self) -> Option<Stream> {
        self.ready.recv().await
    }

    /// The connections, one after the other.
    pub(crate) fn into_stream(self) -> impl futures::Stream<Item = io::Result<Stream>> {
        futures::stream::unfold(self, |mut incoming| async {
            let stream = incoming.next().await?;
            Some((Ok(stream), incoming))
        })
    }
}

/// Agrees on TLS for connections that speak these protocols.
pub(crate) fn acceptor(config: &Arc<ServerConfig>, protocols: &[&[u8]]) -> TlsAcceptor {
    let mut config = ServerConfig::clone(config);
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// A connection.
pub(crate) struct Stream {
    kind: Kind,
    pub(crate) peer: SocketAddr,
    /// Until when what a client still sends is read, once nothing more is sent.
    lingers: Option<Pin<Box<Sleep>>>,
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

    /// Ends the answer, and reads what the client still sends: a connection that is closed before takes the answer away with it.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.lingers.is_none() {
            ready!(match &mut this.kind {
                Kind::Plain(stream) => Pin::new(stream).poll_shutdown(context),
                Kind::Tls(stream) => Pin::new(stream).poll_shutdown(context),
            })?;
        }
        let lingers = this.lingers.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        if lingers.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut rest = [0; 8192];
            let mut rest = ReadBuf::new(&mut rest);
            let read = match &mut this.kind {
                Kind::Plain(stream) => Pin::new(stream).poll_read(context, &mut rest),
                Kind::Tls(stream) => Pin::new(stream).poll_read(context, &mut rest),
            };
            if ready!(read).is_err() || rest.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
