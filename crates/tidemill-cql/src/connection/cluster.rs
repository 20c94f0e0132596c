//! The connections of a thread to all nodes: which one a request takes, and how broken ones come back.

use std::fmt;
use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use scylla::cluster::ClusterState;
use scylla::policies::load_balancing::{LoadBalancingPolicy, RoutingInfo};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use super::stream::Stream;
use crate::relay::{Node as Place, Relay};

use super::{Compression, Connection, Execute, Fault, Handshake, Outcome};

/// What connections are made with.
#[derive(Debug, Clone)]
pub struct ConnectionsOptions {
    /// How many there are to each node.
    pub per_node: usize,
    /// How long it may take to make one.
    pub connect_timeout: Duration,
    /// Which node a request goes to: the policy of the driver's session.
    pub policy: Arc<dyn LoadBalancingPolicy>,
    /// What each begins with.
    pub handshake: Handshake,
    /// What is between the driver and the nodes, whose addresses are then the relay's. The connections are made to the nodes themselves:
    /// their answers are bounded as the relay's are. Default: nothing.
    pub relay: Option<Arc<Relay>>,
}

/// The connections of one thread to all nodes of a cluster. `T` tells requests apart.
pub struct Connections<T> {
    options: ConnectionsOptions,
    cluster: Arc<ClusterState>,
    nodes: Vec<Node<T>>,
    /// Values of a request whose node depends on them.
    values: Vec<u8>,
}

#[derive(Debug)]
struct Node<T> {
    host_id: Uuid,
    address: SocketAddr,
    links: Vec<Link<T>>,
    /// The link that the next request takes.
    turn: usize,
}

#[derive(Debug)]
enum Link<T> {
    Up(Box<Connection<T>>),
    Connecting {
        connecting: JoinHandle<io::Result<Stream>>,
        delay: Duration,
    },
    Down {
        until: Instant,
        delay: Duration,
    },
}

/// Whether a request is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// Its outcome comes with [`Connections::poll`] or [`Connections::tick`].
    Sent,
    /// There is no connection to where it belongs, or none with a free stream: the driver is to be asked.
    Elsewhere,
}

impl<T: Copy> Connections<T> {
    /// Whether all nodes of a cluster can be had by such connections.
    pub fn serves(cluster: &ClusterState) -> bool {
        cluster.get_nodes_info().iter().all(|node| node.sharder().is_none())
    }

    /// Connects to all nodes, and waits until there is one connection to each or it is known that there is none.
    pub async fn new(cluster: Arc<ClusterState>, options: ConnectionsOptions) -> Self {
        let mut connections = Self {
            options,
            nodes: Vec::new(),
            values: Vec::new(),
            cluster,
        };
        connections.connect_to_new();
        std::future::poll_fn(|context| {
            let mut is_connecting = false;
            for node in &mut connections.nodes {
                node.poll_connecting(context, connections.options.handshake.compression);
                let is_up = node.links.iter().any(|link| matches!(link, Link::Up(_)));
                is_connecting |= !is_up && node.links.iter().any(|link| matches!(link, Link::Connecting { .. }));
            }
            if is_connecting { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        connections
    }

    /// Puts a request into the buffer of the connection that it takes. `values` writes each value after its length.
    ///
    /// # Errors
    /// What `values` says; nothing is sent then.
    #[inline]
    pub fn send<E>(
        &mut self,
        execute: &Execute,
        tag: T,
        now: Instant,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Sent, E> {
        if let [node] = self.nodes.as_mut_slice() {
            return node.send(execute, tag, now, values);
        }
        self.values.clear();
        values(&mut self.values)?;
        let mut routing = RoutingInfo::default();
        routing.consistency = execute.consistency();
        routing.serial_consistency = execute.serial_consistency();
        routing.token = execute.token(&self.values);
        routing.table = execute.table();
        let picked = self.options.policy.pick(&routing, &self.cluster);
        let host_id = picked.map(|(node, _shard)| node.host_id);
        let node = self.nodes.iter_mut().find(|node| Some(node.host_id) == host_id);
        let Some(node) = node else {
            return Ok(Sent::Elsewhere);
        };
        node.send(execute, tag, now, |buffer| {
            buffer.extend_from_slice(&self.values);
            Ok(())
        })
    }

    /// Writes and reads as much as there is. Wakes the caller when there is more.
    pub fn poll(&mut self, context: &mut Context<'_>, outcomes: &mut Vec<(T, Outcome)>) {
        for node in &mut self.nodes {
            node.poll_connecting(context, self.options.handshake.compression);
            for link in &mut node.links {
                if let Link::Up(connection) = link
                    && let Err(error) = connection.poll(context, outcomes)
                {
                    *link = broken(connection, &error, outcomes);
                }
            }
        }
    }

    /// Gives up what takes too long, tries again to connect, and follows the cluster when it has changed. To be called every few
    /// milliseconds; [`Connections::poll`] has to follow.
    pub fn tick(&mut self, now: Instant, cluster: Arc<ClusterState>, outcomes: &mut Vec<(T, Outcome)>) {
        for node in &mut self.nodes {
            for link in &mut node.links {
                match link {
                    Link::Up(connection) => {
                        let late = |tag, limit| outcomes.push((tag, Err(Box::new(Fault::Timeout(limit)))));
                        if let Err(error) = connection.sweep(now, late) {
                            *link = broken(connection, &error, outcomes);
                        }
                    }
                    Link::Down { until, delay } if *until <= now => {
                        *link = connect(node.address, *delay, &self.options);
                    }
                    Link::Down { .. } | Link::Connecting { .. } => {}
                }
            }
        }
        if Arc::ptr_eq(&self.cluster, &cluster) {
            return;
        }
        self.cluster = cluster;
        let known = addresses(&self.cluster);
        let error = io::Error::other("the node left the cluster, or has another address");
        for mut gone in self
            .nodes
            .extract_if(.., |node| !known.contains(&(node.host_id, node.address)))
        {
            for link in &mut gone.links {
                if let Link::Up(connection) = link {
                    *link = broken(connection, &error, outcomes);
                }
            }
        }
        self.connect_to_new();
    }

    /// Begins to connect to the nodes that are not yet known.
    fn connect_to_new(&mut self) {
        for (host_id, address) in addresses(&self.cluster) {
            if self.nodes.iter().any(|node| node.host_id == host_id) {
                continue;
            }
            let links = (0..self.options.per_node).map(|_| connect(address, FIRST_DELAY, &self.options));
            self.nodes.push(Node {
                host_id,
                address,
                links: links.collect(),
                turn: 0,
            });
        }
    }
}

/// The nodes that the driver connects to.
fn addresses(cluster: &ClusterState) -> Vec<(Uuid, SocketAddr)> {
    let nodes = cluster.get_nodes_info().iter().filter(|node| node.is_enabled());
    let address = |node: &Arc<scylla::cluster::Node>| SocketAddr::new(node.address.ip(), node.address.port());
    nodes.map(|node| (node.host_id, address(node))).collect()
}

impl<T: Copy> Node<T> {
    #[inline]
    fn send<E>(
        &mut self,
        execute: &Execute,
        tag: T,
        now: Instant,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Sent, E> {
        for _ in 0..self.links.len() {
            self.turn = if self.turn + 1 < self.links.len() {
                self.turn + 1
            } else {
                0
            };
            if let Some(Link::Up(connection)) = self.links.get_mut(self.turn)
                && connection.streams.has_free()
            {
                return connection.send(execute, tag, now, values).map(|()| Sent::Sent);
            }
        }
        Ok(Sent::Elsewhere)
    }

    fn poll_connecting(&mut self, context: &mut Context<'_>, compression: Option<Compression>) {
        for link in &mut self.links {
            if let Link::Connecting { connecting, delay } = link
                && let Poll::Ready(connected) = Pin::new(connecting).poll(context)
            {
                *link = match connected {
                    Ok(Ok(stream)) => Link::Up(Box::new(Connection::new(stream, compression))),
                    // The driver has the words for it, when a request comes to it.
                    Ok(Err(_)) | Err(_) => Link::Down {
                        until: Instant::now() + *delay,
                        delay: (2 * *delay).min(LONGEST_DELAY),
                    },
                };
            }
        }
    }
}

fn connect<T>(address: SocketAddr, delay: Duration, options: &ConnectionsOptions) -> Link<T> {
    let (handshake, limit) = (options.handshake.clone(), options.connect_timeout);
    let place = match &options.relay {
        Some(relay) => relay.node(address),
        None => Place::Address(address),
    };
    let connecting = tokio::spawn(async move {
        let connected = timeout(limit, handshake.connect(&place)).await;
        connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    });
    Link::Connecting { connecting, delay }
}

/// Notifies all waiters, and starts again after a while.
fn broken<T: Copy>(connection: &Connection<T>, error: &io::Error, outcomes: &mut Vec<(T, Outcome)>) -> Link<T> {
    let fault = |tag| (tag, Err(Box::new(Fault::Broken(error.to_string()))));
    outcomes.extend(connection.streams.waiting().map(fault));
    Link::Down {
        until: Instant::now() + FIRST_DELAY,
        delay: 2 * FIRST_DELAY,
    }
}

impl<T> Drop for Connections<T> {
    fn drop(&mut self) {
        for link in self.nodes.iter().flat_map(|node| &node.links) {
            if let Link::Connecting { connecting, .. } = link {
                connecting.abort();
            }
        }
    }
}

impl<T> fmt::Debug for Connections<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses: Vec<_> = self.nodes.iter().map(|node| node.address).collect();
        f.debug_struct("Connections")
            .field("nodes", &addresses)
            .finish_non_exhaustive()
    }
}

/// How long a connection that broke is not tried again, and how long at most one that cannot be had.
const FIRST_DELAY: Duration = Duration::from_millis(50);
const LONGEST_DELAY: Duration = Duration::from_secs(2);
