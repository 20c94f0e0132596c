//! One connection to a server: its socket, TLS, the handshake, and the commands of the protocol.
//!
//! MySQL's manual of the protocol, "Connection Phase" and "Command Phase". Every session has UTF-8, the time zone UTC, and a mode in which
//! no value is cut silently ([`SETTINGS`]).

use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Handle};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::column_definition::ColumnDefinition;
use crate::error::{Error, Fault, Result, ServerError, shown};
use crate::handshake::{self, Greeting};
use crate::options::Options;
use crate::packets::{LARGEST, Packets};
use crate::reader::Reader;

/// How a server is reached.
pub(crate) struct Route {
    pub(crate) options: Options,
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// A connection on which one command runs at a time.
pub(crate) struct Connection {
    packets: Packets<Box<dyn Socket>>,
    /// What the server's list of connections calls it.
    id: u32,
    /// Whether nothing stands between the columns of a result and its rows.
    deprecates_eof: bool,
}

/// What a connection is made of.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> Socket for S {}

/// The first answer to a command.
#[derive(Debug)]
pub(crate) enum Answer {
    /// There are no rows.
    Done(Done),
    /// Rows with these columns follow.
    Columns(Vec<ColumnDefinition>),
    /// The file of a LOAD DATA LOCAL is to follow.
    File,
}

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) affected: u64,
    pub(crate) warnings: u16,
    status: u16,
}

/// What comes among rows.
#[derive(Debug)]
pub(crate) enum Sent<'a> {
    Row(&'a [u8]),
    End(Done),
}

/// A prepared statement.
#[derive(Debug)]
pub(crate) struct Statement {
    id: u32,
}

impl Connection {
    pub(crate) async fn open(route: &Route) -> Result<Self> {
        let limit = route.options.connect_timeout;
        let opened = timeout(limit, Self::open_unbounded(route)).await;
        opened.unwrap_or_else(|_| Err(too_slow(&route.options, limit)))
    }

    async fn open_unbounded(route: &Route) -> Result<Self> {
        let options = &route.options;
        let mut packets = Packets::new(route.stream().await?);
        let refused = |fault: Fault| refused(options, fault);
        let greeting = greet(&mut packets).await.map_err(refused)?;
        let has_database = options.database.is_some();
        let capabilities = handshake::capabilities(&greeting, route.tls.is_some(), has_database);
        if let Some(config) = &route.tls {
            packets = encrypt(options, config, packets, &greeting, capabilities).await?;
        }
        let is_private = route.tls.is_some() || options.is_socket();
        let user = options.user.clone().or_else(|| std::env::var("USER").ok());
        let who = Who {
            user: user.unwrap_or_default(),
            password: options.password.clone().unwrap_or_default(),
            database: options.database.as_deref(),
            is_private,
        };
        let admitted = who.prove(&mut packets, &greeting, capabilities).await;
        admitted.map_err(refused)?;
        let mut connection = Self {
            packets,
            id: greeting.connection,
            deprecates_eof: capabilities & handshake::DEPRECATE_EOF != 0,
        };
        connection.execute(SETTINGS).await.map_err(refused)?;
        Ok(connection)
    }

    /// A connection over which an answer comes, and nothing else.
    pub(crate) fn of_answer(socket: Box<dyn Socket>) -> Self {
        Self {
            packets: Packets::new(socket).with_number(1),
            id: 0,
            deprecates_eof: true,
        }
    }

    /// Whether the server answers.
    pub(crate) async fn ping(&mut self) -> Result<(), Fault> {
        self.command(COM_PING, &[]).await?;
        self.answer().await.map(drop)
    }

    /// Runs a statement that gives no rows; those of one that does are left out.
    pub(crate) async fn execute(&mut self, statement: &str) -> Result<Done, Fault> {
        match self.query(statement).await? {
            Answer::Done(done) => Ok(done),
            Answer::Columns(_) => self.skip().await,
            Answer::File => Err(Fault::Protocol(UNASKED.to_owned())),
        }
    }

    /// Sends a statement as a text. What it answers in rows is in texts too.
    pub(crate) async fn query(&mut self, statement: &str) -> Result<Answer, Fault> {
        self.command(COM_QUERY, statement.as_bytes()).await?;
        self.answer().await
    }

    pub(crate) async fn prepare(&mut self, statement: &str) -> Result<Statement, Fault> {
        self.command(COM_STMT_PREPARE, statement.as_bytes()).await?;
        let payload = self.packets.read().await?;
        let mut reader = Reader::new(payload);
        let mut parse = || match reader.u8()? {
            0 => Some((reader.u32()?, reader.u16()?, reader.u16()?)),
            _ => None,
        };
        let Some((id, columns, parameters)) = parse() else {
            return Err(failure(payload).unwrap_or_else(|| Fault::unexpected("a prepared statement", payload)));
        };
        // Columns come again with the rows.
        for count in [parameters, columns] {
            self.skip_definitions(count).await?;
        }
        Ok(Statement { id })
    }

    /// Runs a prepared statement without parameters.
    pub(crate) async fn run(&mut self, statement: &Statement) -> Result<Answer, Fault> {
        let mut body = statement.id.to_le_bytes().to_vec();
        // Without a cursor, once.
        body.extend_from_slice(&[0, 1, 0, 0, 0]);
        self.command(COM_STMT_EXECUTE, &body).await?;
        self.answer().await
    }

    /// Has the server forget a statement; there is no answer.
    pub(crate) async fn close(&mut self, statement: &Statement) -> Result<(), Fault> {
        self.command(COM_STMT_CLOSE, &statement.id.to_le_bytes()).await
    }

    async fn command(&mut self, kind: u8, body: &[u8]) -> Result<(), Fault> {
        self.packets.restart();
        let mut payload = Vec::with_capacity(body.len() + 1);
        payload.push(kind);
        payload.extend_from_slice(body);
        Ok(self.packets.write(&payload).await?)
    }

    pub(crate) async fn answer(&mut self) -> Result<Answer, Fault> {
        let payload = self.packets.read().await?;
        let count = match payload.first() {
            Some(0) => return Done::of_ok(payload).map(Answer::Done),
            Some(0xfb) => return Ok(Answer::File),
            Some(0xff) => None,
            _ => Reader::new(payload).length_encoded(),
        };
        match count
            .and_then(|count| usize::try_from(count).ok())
            .filter(|count| *count <= MOST_COLUMNS)
        {
            Some(count) => self.definitions(count).await.map(Answer::Columns),
            None => Err(failure(payload).unwrap_or_else(|| Fault::unexpected("at most 4096 columns", payload))),
        }
    }

    async fn definitions(&mut self, count: usize) -> Result<Vec<ColumnDefinition>, Fault> {
        let mut columns = Vec::new();
        for _ in 0..count {
            let payload = self.packets.read().await?;
            let column = ColumnDefinition::parse(payload);
            columns.push(column.ok_or_else(|| Fault::unexpected("the definition of a column", payload))?);
        }
        self.end_of_definitions(count).await?;
        Ok(columns)
    }

    async fn skip_definitions(&mut self, count: u16) -> Result<(), Fault> {
        for _ in 0..count {
            self.packets.read().await?;
        }
        self.end_of_definitions(count.into()).await
    }

    async fn end_of_definitions(&mut self, count: usize) -> Result<(), Fault> {
        if count > 0 && !self.deprecates_eof {
            let payload = self.packets.read().await?;
            if payload.first() != Some(&0xfe) {
                return Err(Fault::unexpected("the end of the columns", payload));
            }
        }
        Ok(())
    }

    /// What comes next among rows, when it has come.
    pub(crate) fn sent(&mut self) -> Result<Option<Sent<'_>>, Fault> {
        if !self.packets.advance(LARGEST)? {
            return Ok(None);
        }
        let payload = self.packets.payload();
        match payload.first() {
            Some(0xfe) if self.deprecates_eof && payload.len() < LONGEST_END => Done::of_ok(payload),
            Some(0xfe) if payload.len() < 9 => Done::of_eof(payload),
            Some(0xff) => Err(failure(payload).unwrap_or_else(|| Fault::unexpected("an error", payload))),
            _ => return Ok(Some(Sent::Row(payload))),
        }
        .map(|done| Some(Sent::End(done)))
    }

    /// Waits for more of what comes. Nothing is lost when this is given up.
    pub(crate) async fn fill(&mut self) -> Result<(), Fault> {
        Ok(self.packets.fill().await?)
    }

    /// Goes behind the last row.
    async fn skip_rows(&mut self) -> Result<Done, Fault> {
        loop {
            match self.sent()? {
                Some(Sent::End(done)) => return Ok(done),
                Some(Sent::Row(_)) => {}
                None => self.fill().await?,
            }
        }
    }

    /// Goes behind the last row, and behind the results that follow.
    pub(crate) async fn skip(&mut self) -> Result<Done, Fault> {
        let done = self.skip_rows().await?;
        self.skip_further(done).await
    }

    /// Goes behind the results that follow one, as those of a CALL.
    pub(crate) async fn skip_further(&mut self, mut done: Done) -> Result<Done, Fault> {
        while done.has_more() {
            done = match self.answer().await? {
                Answer::Done(done) => done,
                Answer::Columns(_) => self.skip_rows().await?,
                Answer::File => return Err(Fault::Protocol(UNASKED.to_owned())),
            };
        }
        Ok(done)
    }

    /// Sends the next bytes of a file; without any, its end.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        Ok(self.packets.write(bytes).await?)
    }
}

impl Done {
    /// Of an OK packet.
    fn of_ok(payload: &[u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(payload);
        let mut parse = || {
            reader.u8()?;
            let affected = reader.length_encoded()?;
            // The number that the server gave the last row.
            reader.length_encoded()?;
            Some(Self {
                affected,
                status: reader.u16()?,
                warnings: reader.u16()?,
            })
        };
        parse().ok_or_else(|| Fault::unexpected("the end of an answer", payload))
    }

    /// Of an EOF packet.
    fn of_eof(payload: &[u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(payload);
        let mut parse = || {
            reader.u8()?;
            Some(Self {
                affected: 0,
                warnings: reader.u16()?,
                status: reader.u16()?,
            })
        };
        parse().ok_or_else(|| Fault::unexpected("the end of the rows", payload))
    }

    pub(crate) fn has_more(self) -> bool {
        self.status & MORE_RESULTS != 0
    }
}

/// Who asks.
struct Who<'a> {
    user: String,
    password: String,
    database: Option<&'a str>,
    /// Whether nobody else reads what is sent.
    is_private: bool,
}

impl Who<'_> {
    async fn prove(
        &self,
        packets: &mut Packets<Box<dyn Socket>>,
        greeting: &Greeting,
        capabilities: u32,
    ) -> Result<(), Fault> {
        // A server that would have another plugin asks for that.
        let (mut plugin, mut nonce) = (greeting.plugin.clone(), greeting.nonce.clone());
        let proof = handshake::proof(&plugin, &self.password, &nonce).unwrap_or_default();
        let response = handshake::response(capabilities, &self.user, self.database, &plugin, &proof);
        packets.write(&response).await?;
        for _ in 0..MOST_ROUNDS {
            let payload = packets.read().await?;
            let further = match payload.split_first() {
                Some((0, _)) => return Ok(()),
                Some((0xfe, rest)) => {
                    let switched = handshake::switch(rest);
                    (plugin, nonce) = switched.ok_or_else(|| Fault::unexpected("a way to log in", payload))?;
                    handshake::proof(&plugin, &self.password, &nonce).ok_or_else(|| unknown(&plugin))?
                }
                // The server has the password at hand, and OK follows.
                Some((1, [3])) if plugin == handshake::CACHING_SHA2 => continue,
                Some((1, [4])) if plugin == handshake::CACHING_SHA2 => self.bare_password()?,
                _ => return Err(failure(payload).unwrap_or_else(|| Fault::unexpected("a way to log in", payload))),
            };
            packets.write(&further).await?;
        }
        Err(Fault::Protocol(format!(
            "no end of logging in after {MOST_ROUNDS} rounds"
        )))
    }

    fn bare_password(&self) -> Result<Vec<u8>, Fault> {
        match self.is_private {
            true => Ok([self.password.as_bytes(), b"\0"].concat()),
            false => Err(Fault::Protocol(
                "the server asks for the password itself (caching_sha2_password), which is not sent over a connection that is not \
                 encrypted; secure=true encrypts it"
                    .to_owned(),
            )),
        }
    }
}

fn unknown(plugin: &str) -> Fault {
    Fault::Protocol(format!(
        "the server asks for {:?} to log in; known are mysql_native_password and caching_sha2_password",
        shown(plugin.as_bytes())
    ))
}

async fn greet(packets: &mut Packets<Box<dyn Socket>>) -> Result<Greeting, Fault> {
    let payload = packets.read().await?;
    let greeting = Greeting::parse(payload);
    let greeting = greeting.ok_or_else(|| {
        failure(payload).unwrap_or_else(|| Fault::unexpected("the greeting of a MySQL or MariaDB server", payload))
    })?;
    let needed = handshake::PROTOCOL_41 | handshake::SECURE_CONNECTION;
    match greeting.capabilities & needed == needed {
        true => Ok(greeting),
        false => Err(Fault::Protocol(format!(
            "the server's version {:?} is older than 4.1",
            shown(greeting.version.as_bytes())
        ))),
    }
}

async fn encrypt(
    options: &Options,
    config: &Arc<ClientConfig>,
    mut packets: Packets<Box<dyn Socket>>,
    greeting: &Greeting,
    capabilities: u32,
) -> Result<Packets<Box<dyn Socket>>> {
    if greeting.capabilities & handshake::SSL == 0 {
        let what = "the server does not encrypt connections; secure=false asks it without";
        return Err(unreachable(options, what));
    }
    let head = handshake::head(capabilities);
    packets
        .write(&head)
        .await
        .map_err(|error| refused(options, error.into()))?;
    // Lest something be taken for encrypted that is not.
    if packets.has_more() {
        return Err(unreachable(
            options,
            "the server sent more than its greeting before TLS",
        ));
    }
    let name = ServerName::try_from(options.host.clone()).map_err(|error| Error::Tls {
        what: format!("{}: {error}", options.host),
    })?;
    let (stream, number) = packets.into_stream();
    let stream = TlsConnector::from(Arc::clone(config)).connect(name, stream).await;
    let stream = stream.map_err(|error| unreachable(options, format!("TLS: {error}")))?;
    Ok(Packets::new(Box::new(stream) as Box<dyn Socket>).with_number(number))
}

/// The server's error, where a payload is one.
fn failure(payload: &[u8]) -> Option<Fault> {
    let rest = payload.strip_prefix(&[0xff])?;
    ServerError::parse(rest).map(|error| Fault::Server(Box::new(error)))
}

impl Route {
    async fn stream(&self) -> Result<Box<dyn Socket>> {
        let Options { host, port, .. } = &self.options;
        let failed = |error: io::Error| unreachable(&self.options, error.to_string());
        if self.options.is_socket() {
            return Ok(Box::new(UnixStream::connect(host).await.map_err(failed)?));
        }
        let stream = TcpStream::connect((host.as_str(), *port)).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let alive = TcpKeepalive::new().with_time(KEEPALIVE);
        SockRef::from(&stream).set_tcp_keepalive(&alive).map_err(failed)?;
        Ok(Box::new(stream))
    }

    /// Has the server end a connection and what it does for it. It is a wish: what has ended already is not stopped.
    async fn kill(&self, id: u32) {
        let statement = format!("KILL CONNECTION {id}");
        let _ = timeout(self.options.connect_timeout, self.execute(&statement)).await;
    }

    /// Has the server end a connection and what it does, and lets go of it: in the background, while the
    /// runtime lives.
    pub(crate) fn abandon(self: &Arc<Self>, connection: Connection) {
        if let Ok(runtime) = Handle::try_current() {
            let route = Arc::clone(self);
            runtime.spawn(async move { route.end(connection, None).await });
        }
    }

    /// Has the server end a connection and what it does, and then run a statement, on a thread of its own, which needs no runtime that goes
    /// on; waits for it as long as [`WAITED`].
    pub(crate) fn end_now(self: &Arc<Self>, connection: Connection, then: String) {
        let (route, (done, waiting)) = (Arc::clone(self), mpsc::channel());
        let end = move || {
            if let Ok(runtime) = Builder::new_current_thread().enable_all().build() {
                runtime.block_on(route.end(connection, Some(then)));
            }
            // Nobody may wait any more.
            let _ = done.send(());
        };
        if thread::Builder::new().spawn(end).is_ok() {
            let _ = waiting.recv_timeout(WAITED);
        }
    }

    /// Has the server end a connection and what it does, and then run a statement.
    pub(crate) async fn end(&self, connection: Connection, then: Option<String>) {
        // After a restart, the server may give this number to another connection.
        if !connection.packets.is_broken() {
            self.kill(connection.id).await;
        }
        drop(connection);
        if let Some(statement) = then {
            // Nobody is there to be told.
            let _ = timeout(ABANDONED, self.execute(&statement)).await;
        }
    }

    /// Runs a statement on a connection of its own.
    async fn execute(&self, statement: &str) -> Result<()> {
        let mut connection = Connection::open(self).await?;
        let done = connection.execute(statement).await;
        done.map(drop).map_err(|fault| Error::of("tidying up", fault))
    }
}

fn unreachable(options: &Options, what: impl Into<String>) -> Error {
    Error::Connect {
        host: options.address(),
        what: what.into(),
        server: None,
    }
}

fn refused(options: &Options, fault: Fault) -> Error {
    let (what, server) = match fault {
        Fault::Server(error) => (error.to_string(), Some(error)),
        Fault::Io(error) => (error.to_string(), None),
        Fault::Protocol(what) => (what, None),
    };
    Error::Connect {
        host: options.address(),
        what,
        server,
    }
}

fn too_slow(options: &Options, limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    unreachable(
        options,
        format!("no answer within {seconds} s; the option connect_timeout allows more"),
    )
}

/// The settings of every session: `TIMESTAMP` in UTC, no value cut silently, 0 in an AUTO_INCREMENT column is 0, a client that takes or
/// gives its rows slowly is waited for, and no setting of the server leaves out rows, sorts by less of a text than its first 1024 bytes, or
/// finds by `IS NULL` what was inserted last.
const SETTINGS: &str = "SET NAMES utf8mb4, time_zone = '+00:00', autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,\
    NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO', net_write_timeout = 31536000, net_read_timeout = 31536000, \
    sql_select_limit = 18446744073709551615, max_sort_length = 1024, sql_auto_is_null = 0";

/// After how long a silence the system asks whether the server's machine is there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// How long a table that was not finished may take to go: as long as its rows take to be rolled back.
const ABANDONED: Duration = Duration::from_secs(600);
/// "Column Count Limits".
const MOST_COLUMNS: usize = 4096;
/// How long a program that gives a table up waits for it to go.
const WAITED: Duration = Duration::from_secs(20);
/// Of logging in.
const MOST_ROUNDS: usize = 8;
/// A longer payload that begins with `0xfe` is a row.
const LONGEST_END: usize = 0xff_ffff;
/// `SERVER_MORE_RESULTS_EXISTS`.
const MORE_RESULTS: u16 = 8;
const UNASKED: &str = "the server asked for a file of this machine, which it does not get";

// "Command Phase".
const COM_QUERY: u8 = 3;
const COM_PING: u8 = 14;
const COM_STMT_PREPARE: u8 = 22;
const COM_STMT_EXECUTE: u8 = 23;
const COM_STMT_CLOSE: u8 = 25;
