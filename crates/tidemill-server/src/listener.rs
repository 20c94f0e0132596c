//! Connections of HTTP and Flight SQL, with or without TLS.

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

/// The most time of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long data of a client is still read after the response is complete.
const LINGER: Duration = Duration::from_secs(2);

/// The accepted connections of an address.
pub(crate) struct Incoming {
    ready: mpsc::Receiver<Stream>,
    pub(crate) address: io::Result<SocketAddr>,
}

impl Incoming {
    /// Accepts connections. Each handshake has its own task, so that a slow client does not block the others. Encrypted connections speak
    /// one of `protocols`, named as [ALPN](https://www.rfc-editor.org/rfc/rfc7301) registers them.
    pub(crate) fn begin(listener: TcpListener, shared: &Shared, protocols: &[&[u8]]) -> Self {
        let (sender, ready) = mpsc::channel(64);
        let address = listener.local_addr();
        let open = Arc::new(Semaphore::new(shared.connections));
        let tls = shared.tls.as_ref().map(|config| acceptor(config, protocols));
        tokio::spawn(async move {
            loop {
                // At the limit, new connections wait until one ends.
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
                    // Small responses are sent at once.
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

    /// The next connection; `None` once the listener has stopped.
    pub(crate) async fn next(&mut self) -> Option<Stream> {
        self.ready.recv().await
    }

    /// The connections as a stream.
    pub(crate) fn into_stream(self) -> impl futures::Stream<Item = io::Result<Stream>> {
        futures::stream::unfold(self, |mut incoming| async {
            let stream = incoming.next().await?;
            Some((Ok(stream), incoming))
        })
    }
}

/// An acceptor of TLS for these protocols.
pub(crate) fn acceptor(config: &Arc<ServerConfig>, protocols: &[&[u8]]) -> TlsAcceptor {
    let mut config = ServerConfig::clone(config);
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// A connection.
pub(crate) struct Stream {
    kind: Kind,
    pub(crate) peer: SocketAddr,
    /// Once the response is complete: until when data of the client is still read.
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

    /// Ends the response, then reads what the client still sends: closing with unread data would reset the connection, and the client could
    /// lose the response.
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
