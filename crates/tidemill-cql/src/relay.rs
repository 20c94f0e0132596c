//! A relay between the driver and the nodes, within the process. The driver takes memory for any length that a frame claims, for any
//! number of columns, and calls itself for each type within a type; the relay lets through only frames that are there in full and that
//! say nothing absurd.
//!
//! Each node has a listener on a loopback address, which the driver connects to in its place. The first request of a connection that
//! is not OPTIONS must carry a secret (`CLIENT_ID` of STARTUP), so that no other process of the machine reaches the nodes with this
//! client's certificate. TLS ends here: the driver's side is plain and does not leave the machine.
//!
//! Failures on the way to a node are reported to the driver as an ERROR of the protocol, with a message of the relay.
//!
//! Not supported: ScyllaDB's shard-aware ports. The driver is configured not to use them.

mod frames;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{self, Either};
use scylla::client::SelfIdentity;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::TranslationError;
use scylla::policies::address_translator::{AddressTranslator, UntranslatedPeer};
use scylla_cql::frame::Compression;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;
use uuid::Uuid;

use crate::connection::{HEADER, Stream, invalid};
use frames::{Answers, Rules};

/// The listeners of a client, in the runtime that it was put before a driver in. They end when it is dropped.
pub struct Relay {
    state: Arc<State>,
    listeners: Mutex<Listeners>,
}

/// What a connection to a node is made with.
struct State {
    tls: Option<Arc<ClientConfig>>,
    connect_timeout: Duration,
    /// What compression the driver asks for.
    compression: Option<Compression>,
    secret: String,
}

#[derive(Default)]
struct Listeners {
    of_nodes: HashMap<Node, SocketAddr>,
    /// The node that a listener's port stands for.
    by_port: HashMap<u16, Node>,
    tasks: Vec<AbortHandle>,
}

/// A node as it is named: by its address, or by a name that may have several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Address(SocketAddr),
    Named(String, u16),
}

impl Relay {
    /// A relay to nodes over TLS, if it is given, that may take so long to connect to each. The compression is what it asks of the nodes.
    pub fn new(tls: Option<Arc<ClientConfig>>, connect_timeout: Duration, compression: Option<Compression>) -> Self {
        Self {
            state: Arc::new(State {
                tls,
                connect_timeout,
                compression,
                secret: Uuid::new_v4().simple().to_string(),
            }),
            listeners: Mutex::default(),
        }
    }

    /// Puts the relay between a driver and its nodes: `hosts`, each `host` or `host:port`, to begin with, and those that they name. The
    /// builder has no nodes, no TLS and no translator of addresses of its own.
    ///
    /// # Errors
    ///
    /// When no port of the loopback address can be had.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio with I/O.
    pub fn before(
        self: &Arc<Self>,
        builder: SessionBuilder,
        hosts: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> io::Result<SessionBuilder> {
        let mut builder = builder
            // The relay lets in nobody else.
            .custom_identity(SelfIdentity::new().with_client_id(self.state.secret.clone()))
            // A port of the node's, and not of the relay's.
            .disallow_shard_aware_port(true)
            .compression(self.state.compression)
            .address_translator(Arc::<Self>::clone(self));
        for host in hosts {
            builder = builder.known_node_addr(self.listener(Node::parse(host.as_ref()))?);
        }
        Ok(builder)
    }

    /// The node that the driver means by an address: one of a listener, or one that a node reported, with the port of a listener.
    pub(crate) fn node(&self, mut address: SocketAddr) -> Node {
        let listeners = self.listeners();
        let Some(node) = listeners.by_port.get(&address.port()) else {
            return Node::Address(address);
        };
        if listeners.of_nodes.get(node) == Some(&address) {
            return node.clone();
        }
        address.set_port(node.port());
        Node::Address(address)
    }

    /// The listener of a node, which is begun when there is none.
    fn listener(&self, node: Node) -> io::Result<SocketAddr> {
        let mut listeners = self.listeners();
        if let Some(address) = listeners.of_nodes.get(&node) {
            return Ok(*address);
        }
        if listeners.of_nodes.len() >= MOST_NODES {
            return Err(io::Error::other(format!(
                "the cluster names more than {MOST_NODES} nodes"
            )));
        }
        let loopback = [
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
        ];
        let listener = std::net::TcpListener::bind(&loopback[..])?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let task = tokio::spawn(listen(listener, node.clone(), Arc::clone(&self.state)));
        listeners.tasks.push(task.abort_handle());
        listeners.by_port.insert(address.port(), node.clone());
        listeners.of_nodes.insert(node, address);
        Ok(address)
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The addresses that nodes report about one another. The driver gives each the port of the node that reported it, which is a listener's.
#[async_trait]
#[expect(elided_lifetimes_in_paths, reason = "async_trait wants the lifetimes of the trait")]
impl AddressTranslator for Relay {
    async fn translate_address(&self, peer: &UntranslatedPeer) -> Result<SocketAddr, TranslationError> {
        let listener = self.listener(self.node(peer.untranslated_address()));
        listener.map_err(|error| TranslationError::IoError(Arc::new(error)))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        for task in &self.listeners().tasks {
            task.abort();
        }
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the secret.
        f.debug_struct("Relay")
            .field("nodes", &self.listeners().of_nodes)
            .finish_non_exhaustive()
    }
}

impl Node {
    /// Reads `host`, `host:port`, `[address of IPv6]:port`, or an address of IPv6 alone.
    fn parse(text: &str) -> Self {
        if let Ok(address) = text.parse() {
            return Self::Address(address);
        }
        if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse() {
            return Self::Address(SocketAddr::new(ip, PORT));
        }
        match text.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
            Some((host, Ok(port))) => Self::Named(host.to_owned(), port),
            _ => Self::Named(text.to_owned(), PORT),
        }
    }

    fn port(&self) -> u16 {
        match self {
            Self::Address(address) => address.port(),
            Self::Named(_, port) => *port,
        }
    }

    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::Address(address) => Ok(vec![*address]),
            Self::Named(host, port) => Ok(lookup_host((host.as_str(), *port)).await?.collect()),
        }
    }

    /// Connects to the first address that can be had.
    pub(crate) async fn connect(&self, tls: Option<&Arc<ClientConfig>>) -> io::Result<Stream> {
        let mut last = io::Error::other("the name has no address");
        for address in self.addresses().await? {
            match Stream::connect(address, tls).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Named(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

/// The connections end with the task.
async fn listen(listener: TcpListener, node: Node, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            // The result was reported to the driver.
            Ok((driver, _)) => drop(connections.spawn(relay(driver, node.clone(), Arc::clone(&state)))),
            // No more files can be opened, for now.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// One connection, from its first request to its end.
async fn relay(mut driver: TcpStream, node: Node, state: Arc<State>) -> io::Result<()> {
    driver.set_nodelay(true)?;
    let mut request = Request::read(&mut driver).await?;
    let connected = timeout(state.connect_timeout, node.connect(state.tls.as_ref())).await;
    let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let mut server = match connected {
        Ok(server) => server,
        Err(error) => {
            let message = format!("the node {node} cannot be reached: {error}");
            return driver.write_all(&frames::error(request.stream(), &message)).await;
        }
    };
    let mut answers = Answers::new(Rules {
        compression: state.compression,
        has_metadata_ids: false,
    });
    // The driver asks for the options of a node, and hears of them, before it says who it is.
    while request.opcode() == OPTIONS {
        request.write(&mut server).await?;
        let answered = answers.relay_some(&mut server, &mut driver, &node, request.stream());
        timeout(state.connect_timeout, answered).await??;
        request = Request::read(&mut driver).await?;
    }
    if request.opcode() != STARTUP || !request.take_secret(&state.secret) {
        return Err(invalid("a stranger connected".to_owned()));
    }
    answers.rules.has_metadata_ids = request.names(METADATA_IDS);
    request.write(&mut server).await?;
    let begun = request.stream();
    let (mut from_driver, mut to_driver) = driver.split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let requests = async {
        copy(&mut from_driver, &mut to_server).await?;
        to_server.shutdown().await
    };
    let replies = async {
        loop {
            answers
                .relay_some(&mut from_server, &mut to_driver, &node, begun)
                .await?;
        }
    };
    match future::select(std::pin::pin!(requests), std::pin::pin!(replies)).await {
        Either::Left((ended, _)) | Either::Right((ended, _)) => ended,
    }
}

/// A request of the driver, header and body.
struct Request(Vec<u8>);

impl Request {
    async fn read(driver: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let mut bytes = vec![0; HEADER];
        driver.read_exact(&mut bytes).await?;
        let length = bytes.last_chunk().map_or(0, |length| u32::from_be_bytes(*length));
        if length > LONGEST_STARTUP {
            return Err(invalid(format!("a STARTUP of {length} bytes")));
        }
        bytes.resize(HEADER + length as usize, 0);
        driver.read_exact(bytes.get_mut(HEADER..).unwrap_or_default()).await?;
        Ok(Self(bytes))
    }

    async fn write(&self, server: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        server.write_all(&self.0).await?;
        server.flush().await
    }

    fn stream(&self) -> [u8; 2] {
        match self.0.as_slice() {
            [_, _, high, low, ..] => [*high, *low],
            _ => [0, 0],
        }
    }

    fn opcode(&self) -> u8 {
        self.0.get(4).copied().unwrap_or_default()
    }

    /// Whether the secret is here; the node does not get it.
    fn take_secret(&mut self, secret: &str) -> bool {
        let secret = secret.as_bytes();
        let at = self.0.windows(secret.len()).position(|part| part == secret);
        let place = at.and_then(|at| self.0.get_mut(at..at + secret.len()));
        place.map(|place| place.fill(b'0')).is_some()
    }

    fn names(&self, option: &str) -> bool {
        self.0.windows(option.len()).any(|part| part == option.as_bytes())
    }
}

const STARTUP: u8 = 0x01;
const OPTIONS: u8 = 0x05;
/// An extension of ScyllaDB: what is prepared has one more field.
const METADATA_IDS: &str = "SCYLLA_USE_METADATA_ID";
/// Names and values of options are short.
const LONGEST_STARTUP: u32 = 1 << 16;
const PORT: u16 = 9042;
/// Each has a listener. The largest clusters have a thousand.
const MOST_NODES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_with_and_without_ports() {
        for (text, shown) in [
            ("10.0.0.1", "10.0.0.1:9042"),
            ("10.0.0.1:9043", "10.0.0.1:9043"),
            ("::1", "[::1]:9042"),
            ("[::1]", "[::1]:9042"),
            ("[::1]:9043", "[::1]:9043"),
            ("h1", "h1:9042"),
            ("h1.example:9043", "h1.example:9043"),
        ] {
            assert_eq!(Node::parse(text).to_string(), shown, "{text}");
        }
    }

    /// Sends the bytes of `sent` to a relay of a node that accepts connections, and returns what the node receives.
    async fn received(sent: impl FnOnce(&str) -> Vec<u8>) -> Vec<u8> {
        let node = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let relay = Relay::new(None, Duration::from_secs(5), None);
        let address = relay.listener(Node::Address(node.local_addr().unwrap())).unwrap();
        let mut driver = TcpStream::connect(address).await.unwrap();
        driver.write_all(&sent(&relay.state.secret)).await.unwrap();
        let (mut accepted, _) = node.accept().await.unwrap();
        driver.shutdown().await.unwrap();
        let mut received = Vec::new();
        timeout(Duration::from_secs(5), accepted.read_to_end(&mut received))
            .await
            .unwrap()
            .unwrap();
        received
    }

    #[tokio::test]
    async fn only_the_driver_of_this_client_is_let_in() {
        let frame = |opcode: u8, body: &[u8]| {
            let length = u32::try_from(body.len()).unwrap().to_be_bytes();
            [&[4, 0, 0, 7, opcode], &length[..], body].concat()
        };
        // Behind STARTUP everything goes through.
        let whole = received(|secret| [frame(STARTUP, secret.as_bytes()), b"more".to_vec()].concat()).await;
        assert_eq!(whole, [frame(STARTUP, &[b'0'; 32]), b"more".to_vec()].concat());
        let stranger = received(|_| [frame(STARTUP, &[b'a'; 32]), b"more".to_vec()].concat()).await;
        assert_eq!(stranger, b"");
        let stranger = received(|secret| frame(0x07, secret.as_bytes())).await;
        assert_eq!(stranger, b"");
    }
}
