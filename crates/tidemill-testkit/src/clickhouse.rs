//! A ClickHouse server of one's own.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    time::Duration,
};

use crate::{
    error::ServerError,
    installation::{Installation, Server},
    need::need,
    process::{Process, free_ports, loopback, run_folder, write},
};

/// A running ClickHouse server with an empty data folder: loopback only, user `default` without a password.
///
/// It is killed when this is dropped, and its folder is deleted unless the test panics.
#[derive(Debug)]
pub struct ClickHouse {
    process: Process,
    command: Command,
    http: SocketAddr,
    native: SocketAddr,
    secure: Option<SocketAddr>,
}

/// What a server encrypts its connections with, as PEM.
#[derive(Clone, Debug)]
pub struct ServerPem {
    /// Its certificate.
    pub certificate: String,
    /// The key of that.
    pub key: String,
    /// Who must have signed the certificates of clients. `None`: clients need none.
    pub client_authority: Option<String>,
}

impl ClickHouse {
    /// A user who has a password, and the password.
    pub const GUARDED: (&str, &str) = ("ferrywoman", "open/sesame?");

    /// A server, or `None` after noting that the calling test does not run (see [`need`]).
    ///
    /// # Panics
    ///
    /// When a server is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        let installation = need(Server::ClickHouse)?;
        Some(Self::start(&installation).unwrap_or_else(|error| error.fail()))
    }

    /// A server that listens for encrypted connections too. Otherwise as [`ClickHouse::need`].
    ///
    /// # Panics
    ///
    /// When a server is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need_encrypted(pem: &ServerPem) -> Option<Self> {
        let installation = need(Server::ClickHouse)?;
        Some(Self::start_with(&installation, Some(pem)).unwrap_or_else(|error| error.fail()))
    }

    /// Starts a server and waits until it answers over HTTP and listens for the native protocol.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when it cannot be started, [`ServerError::Ended`] or [`ServerError::Silent`] when it does not
    /// come up within a minute.
    pub fn start(installation: &Installation) -> Result<Self, ServerError> {
        Self::start_with(installation, None)
    }

    fn start_with(installation: &Installation, pem: Option<&ServerPem>) -> Result<Self, ServerError> {
        let folder = run_folder("clickhouse")?;
        let [http, native, secure] = free_ports()?;
        for name in ["data", "tmp", "user_files", "format_schemas"] {
            fs::create_dir(folder.path().join(name)).map_err(ServerError::io(name))?;
        }
        let encryption = pem.map(|pem| encryption(folder.path(), secure, pem)).transpose()?;
        let config = config(folder.path(), http, native, &encryption.unwrap_or_default());
        write(folder.path().join("config.xml"), &config)?;
        write(folder.path().join("users.xml"), USERS)?;

        let mut command = Command::new(installation.program());
        command.arg(format!("--config-file={}", folder.path().join("config.xml").display()));
        if let Some(path) = installation.library_path() {
            command.env("LD_LIBRARY_PATH", path);
        }
        let process = Process::start(Server::ClickHouse.name(), folder, &mut command)?;
        let mut server = Self {
            process,
            command,
            http: loopback(http),
            native: loopback(native),
            secure: pem.is_some().then(|| loopback(secure)),
        };
        server.wait()?;
        Ok(server)
    }

    /// Kills the server and starts it again, with its data and at the same addresses.
    ///
    /// # Errors
    ///
    /// Those of [`ClickHouse::start`].
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.process.restart(&mut self.command)?;
        self.wait()
    }

    fn wait(&mut self) -> Result<(), ServerError> {
        let (http, native) = (self.http, self.native);
        self.process.wait_for(START_LIMIT, || {
            TcpStream::connect(native).is_ok() && request(http, "SELECT 1").is_ok_and(|answer| answer == "1\n")
        })
    }

    /// Where the native protocol is spoken inside of TLS, by a server of [`ClickHouse::need_encrypted`].
    #[must_use]
    pub fn secure(&self) -> Option<SocketAddr> {
        self.secure
    }

    /// Where the native protocol is spoken.
    #[must_use]
    pub fn native(&self) -> SocketAddr {
        self.native
    }

    /// Where HTTP is spoken.
    #[must_use]
    pub fn http(&self) -> SocketAddr {
        self.http
    }

    /// The answer to a query over HTTP, in the query's own format (tab-separated unless it says otherwise).
    ///
    /// # Errors
    ///
    /// [`ServerError::Answer`] with the server's words when it refuses the query, [`ServerError::Io`] when the
    /// connection breaks.
    pub fn query(&self, query: &str) -> Result<String, ServerError> {
        request(self.http, query)
    }
}

/// One HTTP/1.0 request, for which the server closes the connection behind its answer.
fn request(address: SocketAddr, query: &str) -> Result<String, ServerError> {
    let mut stream = TcpStream::connect(address).map_err(ServerError::io("connecting to ClickHouse"))?;
    stream
        .set_read_timeout(Some(ANSWER_LIMIT))
        .map_err(ServerError::io("setting a timeout"))?;
    let head = format!("POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n", query.len());
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(query.as_bytes()))
        .map_err(ServerError::io("sending a query to ClickHouse"))?;
    let mut answer = Vec::new();
    stream
        .read_to_end(&mut answer)
        .map_err(ServerError::io("reading ClickHouse's answer"))?;
    body(&String::from_utf8_lossy(&answer))
}

/// The body of an answer whose status is 200.
fn body(answer: &str) -> Result<String, ServerError> {
    let wrong = || ServerError::Answer {
        server: Server::ClickHouse.name(),
        expected: "HTTP status 200",
        found: answer.chars().take(1000).collect(),
    };
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(wrong)?;
    if head.split(' ').nth(1) == Some("200") {
        Ok(body.to_owned())
    } else {
        Err(wrong())
    }
}

/// The least that 18.16 starts with. The server of that time reads relative paths against the folder it was started in,
/// so these are absolute.
fn config(folder: &Path, http: u16, native: u16, encryption: &str) -> String {
    let folder = folder.display();
    format!(
        "<?xml version=\"1.0\"?>
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{http}</http_port>
  <tcp_port>{native}</tcp_port>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <user_files_path>{folder}/user_files/</user_files_path>
  <format_schema_path>{folder}/format_schemas/</format_schema_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>268435456</mark_cache_size>
  <remote_servers>
    <one_shard>
      <shard><replica><host>127.0.0.1</host><port>{native}</port></replica></shard>
    </one_shard>
    <two_shards>
      <shard><replica><host>127.0.0.1</host><port>{native}</port><default_database>east</default_database></replica></shard>
      <shard><replica><host>127.0.0.1</host><port>{native}</port><default_database>west</default_database></replica></shard>
    </two_shards>
  </remote_servers>
{encryption}</yandex>
"
    )
}

/// Writes what `pem` has, and gives the part of the configuration that names it.
fn encryption(folder: &Path, port: u16, pem: &ServerPem) -> Result<String, ServerError> {
    write(folder.join("server.crt"), &pem.certificate)?;
    write(folder.join("server.key"), &pem.key)?;
    let clients = match &pem.client_authority {
        Some(authority) => {
            write(folder.join("clients.crt"), authority)?;
            format!(
                "<verificationMode>strict</verificationMode><caConfig>{}/clients.crt</caConfig>",
                folder.display()
            )
        }
        None => "<verificationMode>none</verificationMode>".to_owned(),
    };
    let folder = folder.display();
    Ok(format!(
        "  <tcp_port_secure>{port}</tcp_port_secure>
  <openSSL><server>
    <certificateFile>{folder}/server.crt</certificateFile><privateKeyFile>{folder}/server.key</privateKeyFile>
    {clients}<loadDefaultCAFile>false</loadDefaultCAFile><disableProtocols>sslv2,sslv3</disableProtocols>
  </server></openSSL>
"
    ))
}

const USERS: &str = "<?xml version=\"1.0\"?>
<yandex>
  <profiles><default/></profiles>
  <users>
    <default>
      <password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
    </default>
    <ferrywoman>
      <password>open/sesame?</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
    </ferrywoman>
  </users>
  <quotas><default/></quotas>
</yandex>
";

const START_LIMIT: Duration = Duration::from_secs(60);
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_status_200_is_an_answer() {
        assert_eq!(body("HTTP/1.0 200 OK\r\nX: y\r\n\r\n1\n").expect("an answer"), "1\n");
        for answer in ["HTTP/1.0 500 Oops\r\n\r\nCode: 62", "HTTP/1.0 200 OK\r\n", ""] {
            assert!(matches!(body(answer), Err(ServerError::Answer { .. })), "{answer:?}");
        }
    }
}
