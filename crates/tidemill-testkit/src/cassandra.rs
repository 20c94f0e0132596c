//! A Cassandra node of one's own.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    process::Command,
    time::Duration,
};

use crate::{
    clickhouse::ServerPem,
    error::ServerError,
    installation::{Installation, Server, java},
    need::need,
    process::{Process, free_ports, run_folder, write},
};

/// A running Cassandra node with no data: loopback only, no password, a heap of 512 MB.
///
/// It is killed when this is dropped, and its folder is deleted unless the test panics.
#[derive(Debug)]
pub struct Cassandra {
    process: Process,
    native: SocketAddr,
}

impl Cassandra {
    /// A node, or `None` after noting that the calling test does not run (see [`need`]).
    ///
    /// # Panics
    ///
    /// When it is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        let installation = need(Server::Cassandra)?;
        Some(Self::start(&installation).unwrap_or_else(|error| error.fail()))
    }

    /// A node that lets in users by their passwords only (`cassandra` with the password `cassandra`, soon after it is up), over
    /// connections that may be encrypted. Otherwise as [`Cassandra::need`].
    ///
    /// # Panics
    ///
    /// When it is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need_guarded(pem: &ServerPem) -> Option<Self> {
        let installation = need(Server::Cassandra)?;
        Some(Self::start_with(&installation, &guard(pem)).unwrap_or_else(|error| error.fail()))
    }

    /// Two nodes of one cluster, each with half of the tokens, at the same port of 127.0.0.1 and 127.0.0.2. Otherwise as
    /// [`Cassandra::need`].
    ///
    /// # Panics
    ///
    /// When it is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need_two() -> Option<[Self; 2]> {
        let installation = need(Server::Cassandra)?;
        let start = || {
            let ports = free_ports()?;
            let [one, other] = ["-9223372036854775808", "0"];
            // One after the other: the second asks the first who is there, but for no data, of which there are none.
            let mut first = Self::start_at(&installation, FIRST, ports, &format!("initial_token: {one}\n"))?;
            let mut second = Self::start_at(
                &installation,
                Ipv4Addr::new(127, 0, 0, 2),
                ports,
                &format!("initial_token: {other}\nauto_bootstrap: false\n"),
            )?;
            // What is written to the first before it knows the second's half of the ring stays with the first, where no one
            // looks for it later.
            first.wait_for_peer(other)?;
            second.wait_for_peer(one)?;
            Ok([first, second])
        };
        Some(start().unwrap_or_else(|error: ServerError| error.fail()))
    }

    /// Starts a node and waits until it speaks CQL, which takes 10 s of processor time or so.
    ///
    /// # Errors
    ///
    /// [`ServerError::Java`] when nothing can run it, [`ServerError::Io`] when it cannot be started,
    /// [`ServerError::Ended`] or [`ServerError::Silent`] when it does not come up within four minutes.
    pub fn start(installation: &Installation) -> Result<Self, ServerError> {
        Self::start_with(installation, "")
    }

    fn start_with(installation: &Installation, more: &str) -> Result<Self, ServerError> {
        Self::start_at(installation, FIRST, free_ports()?, more)
    }

    /// Starts a node at an address, its ports those for CQL, other nodes, and other nodes over TLS.
    fn start_at(
        installation: &Installation,
        address: Ipv4Addr,
        ports: [u16; 3],
        more: &str,
    ) -> Result<Self, ServerError> {
        let folder = run_folder("cassandra")?;
        let address = IpAddr::from(address);
        let yaml = folder.path().join("cassandra.yaml");
        let settings = config(folder.path(), address, ports);
        write(yaml.clone(), &format!("{settings}{more}"))?;
        write(folder.path().join("logback.xml"), LOGBACK)?;
        // The first node waits so long for others. Another one waits so long for the first, which may be slow to answer.
        let ring_delay = match address == FIRST {
            true => Duration::from_millis(100),
            false => Duration::from_secs(30),
        };
        let mut command = Command::new(java().ok_or(ServerError::Java)?);
        command
            .args(JVM)
            .arg(format!("-Dcassandra.ring_delay_ms={}", ring_delay.as_millis()))
            .arg(format!("-Dcassandra.config=file://{}", yaml.display()))
            .arg(format!("-Dcassandra.storagedir={}/run", folder.path().display()))
            .arg(format!(
                "-Dlogback.configurationFile={}/logback.xml",
                folder.path().display()
            ))
            .arg("-cp")
            .arg(installation.program().join("*"))
            .arg("org.apache.cassandra.service.CassandraDaemon");
        let process = Process::start(Server::Cassandra.name(), folder, &mut command)?;
        let mut node = Self {
            process,
            native: SocketAddr::from((address, ports[0])),
        };
        let address = node.native;
        node.process.wait_for(START_LIMIT, || options(address).is_ok())?;
        Ok(node)
    }

    /// Waits until this node knows another one by its only token.
    fn wait_for_peer(&mut self, token: &str) -> Result<(), ServerError> {
        let address = self.native;
        // The last value of the answer's only row: a set of one text.
        let mut tokens = 1_u32.to_be_bytes().to_vec();
        tokens.extend(u32::try_from(token.len()).unwrap_or_default().to_be_bytes());
        tokens.extend(token.as_bytes());
        self.process.wait_for(START_LIMIT, || {
            peers(address).is_ok_and(|answer| answer.ends_with(&tokens))
        })
    }

    /// Makes the node stand still, as one whose machine is out of reach, or lets it go on.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when it cannot be told so.
    pub fn pause(&self, still: bool) -> Result<(), ServerError> {
        self.process.pause(still)
    }

    /// Where CQL is spoken.
    #[must_use]
    pub fn native(&self) -> SocketAddr {
        self.native
    }

    /// The body of the node's answer to an OPTIONS frame: a string multimap of what it supports.
    ///
    /// # Errors
    ///
    /// [`ServerError::Answer`] when the answer is no SUPPORTED frame, [`ServerError::Io`] when the connection breaks.
    pub fn supported(&self) -> Result<Vec<u8>, ServerError> {
        options(self.native)
    }
}

/// Sends OPTIONS and takes SUPPORTED: CQL binary protocol v4, sections 4.1.3 (OPTIONS) and 4.2.4 (SUPPORTED).
fn options(address: SocketAddr) -> Result<Vec<u8>, ServerError> {
    ask(&mut connect(address)?, 0x05, &[], 0x06)
}

/// What `system.peers` says of the tokens of others, as the body of a RESULT: CQL binary protocol v4, sections 4.1.1 (STARTUP),
/// 4.1.4 (QUERY) and 4.2.5.2 (Rows).
fn peers(address: SocketAddr) -> Result<Vec<u8>, ServerError> {
    let mut stream = connect(address)?;
    ask(&mut stream, 0x01, b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0", 0x02)?;
    // The length of the text, the text, consistency ONE, no flags.
    let query = b"\0\0\0\x1fSELECT tokens FROM system.peers\0\x01\0";
    ask(&mut stream, 0x07, query, 0x08)
}

fn connect(address: SocketAddr) -> Result<TcpStream, ServerError> {
    let stream = TcpStream::connect(address).map_err(ServerError::io("connecting to Cassandra"))?;
    stream
        .set_read_timeout(Some(ANSWER_LIMIT))
        .map_err(ServerError::io("setting a timeout"))?;
    Ok(stream)
}

/// Sends a request and takes the body of its answer: CQL binary protocol v4, section 2 (frame header).
fn ask(stream: &mut TcpStream, request: u8, body: &[u8], answer: u8) -> Result<Vec<u8>, ServerError> {
    // Version 4 request, no flags, stream 0.
    let mut frame = vec![0x04, 0, 0, 0, request];
    frame.extend(u32::try_from(body.len()).unwrap_or_default().to_be_bytes());
    frame.extend(body);
    stream
        .write_all(&frame)
        .map_err(ServerError::io("sending a request to Cassandra"))?;
    let mut header = [0; 9];
    stream
        .read_exact(&mut header)
        .map_err(ServerError::io("reading Cassandra's answer"))?;
    let length = match header {
        [0x84, _, 0, 0, opcode, length @ ..] if opcode == answer => length,
        _ => {
            return Err(ServerError::Answer {
                server: Server::Cassandra.name(),
                expected: "the answer of version 4 that goes with the request",
                found: format!("{header:02x?}"),
            });
        }
    };
    let mut body = Vec::new();
    stream
        .take(u64::from(u32::from_be_bytes(length)))
        .read_to_end(&mut body)
        .map_err(ServerError::io("reading Cassandra's answer"))?;
    Ok(body)
}

/// The least that 5.0 starts with. The node at 127.0.0.1 is asked for others.
fn config(folder: &Path, address: IpAddr, [native, storage, storage_tls]: [u16; 3]) -> String {
    let folder = folder.display();
    format!(
        "cluster_name: tidemill
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: periodic
commitlog_sync_period: 10000ms
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: \"127.0.0.1:{storage}\"
listen_address: {address}
rpc_address: {address}
storage_port: {storage}
ssl_storage_port: {storage_tls}
native_transport_port: {native}
data_file_directories: [{folder}/run/data]
commitlog_directory: {folder}/run/commitlog
hints_directory: {folder}/run/hints
saved_caches_directory: {folder}/run/saved_caches
cdc_raw_directory: {folder}/run/cdc_raw
auto_snapshot: false
write_request_timeout: 10s
read_request_timeout: 10s
"
    )
}

/// Passwords, and TLS for those who begin with it.
fn guard(pem: &ServerPem) -> String {
    // Text in a YAML block goes by its indentation.
    let block = |text: &str| text.trim().replace('\n', "\n        ");
    let trusted = pem.client_authority.as_ref().unwrap_or(&pem.certificate);
    format!(
        "authenticator: PasswordAuthenticator
client_encryption_options:
  enabled: true
  optional: true
  require_client_auth: {}
  ssl_context_factory:
    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory
    parameters:
      private_key: |
        {}
        {}
      trusted_certificates: |
        {}
",
        pem.client_authority.is_some(),
        block(&pem.key),
        block(&pem.certificate),
        block(trusted),
    )
}

/// The node that others ask who is there.
const FIRST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// The three openings without which 5.0 does not start on Java 17 (its own scripts pass many more), a small heap, and no
/// waiting for other nodes.
const JVM: [&str; 9] = [
    "-Xms512m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Djava.net.preferIPv4Stack=true",
];

const LOGBACK: &str = "<configuration>
  <appender name=\"out\" class=\"ch.qos.logback.core.ConsoleAppender\">
    <encoder><pattern>%-5level %date{HH:mm:ss} %msg%n</pattern></encoder>
  </appender>
  <root level=\"INFO\"><appender-ref ref=\"out\"/></root>
</configuration>
";

const START_LIMIT: Duration = Duration::from_secs(240);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
