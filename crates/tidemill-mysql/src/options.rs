//! Where a server is and how it is asked, as a URL says it:
//! `mysql://user:password@host:3306/database/table?secure=true&ca=root.pem`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tidemill_client::keys;

use crate::error::{Error, Result};

/// The settings of a [`Client`](crate::Client). Shown without the password.
///
/// | in the query of the URL | means | default |
/// |---|---|---|
/// | `user=NAME`, `password=TEXT` | who asks, as in front of the host | the user of the system, without a password |
/// | `host=NAME`, `port=N` | the server, where the URL has no host: also a Unix socket | `/run/mysqld/mysqld.sock`, 3306 |
/// | `secure=true` | connections are encrypted (TLS) | `false` |
/// | `ca=FILE` | certificates (PEM) that the server's is checked against; with TLS | those of the system |
/// | `cert=FILE`, `key=FILE` | the client's own certificate and key (PEM); with TLS | none |
/// | `verify=false` | any certificate is taken; with TLS | `true` |
/// | `timeout=TIME` | how long the server may be silent while it owes an answer: seconds, or a duration such as `1m30s` | no limit |
/// | `connect_timeout=TIME` | how long connecting may take, TLS and password too | 10 |
/// | `unrepresentable=NAME` | `error` or `null`: what becomes of values that Arrow's types do not have, see [`Unrepresentable`] | `error` |
///
/// The keys that other clients have mean the same, and so do their aliases: [`tidemill_client::keys`]. Every other key is an error.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The server's name or address, or its Unix socket, which begins with a `/`.
    pub host: String,
    /// The port. Default: 3306.
    pub port: u16,
    /// Who asks. Default: whoever runs the program.
    pub user: Option<String>,
    /// The user's password. Default: none.
    pub password: Option<String>,
    /// The database in which tables are that name none. Default: none.
    pub database: Option<String>,
    /// How connections are encrypted. Default: not.
    pub tls: Option<TlsOptions>,
    /// How long the server may be silent while it owes an answer: also as long as it sorts, or makes an index. Default: no limit, but a
    /// server whose machine is gone is noticed.
    pub timeout: Option<Duration>,
    /// How long connecting may take. Default: 10 s.
    pub connect_timeout: Duration,
    /// What becomes of values that Arrow's types do not have. Default: they are errors.
    pub unrepresentable: Unrepresentable,
}

/// What becomes of a value that Arrow's type does not have: the day `0000-00-00`, and others with a month or a day 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unrepresentable {
    /// Reading ends with an error that names the row, the column and the value.
    #[default]
    Error,
    /// It is read as NULL.
    Null,
}

/// How connections are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsOptions {
    /// Certificates that the server's is checked against, in PEM. Default: those of the system.
    pub authorities: Option<PathBuf>,
    /// The client's own certificate and its key, in PEM. Default: none.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether the server's certificate is checked, and that it is of the host's name. Default: yes.
    pub verify: bool,
}

impl TlsOptions {
    /// Encrypted connections to a server whose certificate the system trusts.
    #[must_use]
    pub fn new() -> Self {
        Self {
            authorities: None,
            identity: None,
            verify: true,
        }
    }
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What is behind the host in a URL, each where it is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The database, which is in [`Options::database`] too.
    pub database: Option<String>,
    /// The table.
    pub table: Option<String>,
}

impl Options {
    /// Settings for a server, the others at their defaults.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port: DEFAULT_PORT,
            user: None,
            password: None,
            database: None,
            tls: None,
            timeout: None,
            connect_timeout: Duration::from_secs(10),
            unrepresentable: Unrepresentable::Error,
        }
    }

    /// Reads a URL, with the table that it names: `mysql://` or `mariadb://`, then host, database and table. `%2F` is a slash in a
    /// name; a host that begins with one is a Unix socket.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], which names the part and what was expected there.
    ///
    /// ```
    /// let (options, path) = tidemill_mysql::Options::parse("mysql://ann:secret@h:3307/shop/orders?timeout=60")?;
    /// assert_eq!((options.host.as_str(), options.port), ("h", 3307));
    /// assert_eq!((path.database.as_deref(), path.table.as_deref()), (Some("shop"), Some("orders")));
    /// assert!(!format!("{options:?}").contains("secret"));
    /// # Ok::<(), tidemill_mysql::Error>(())
    /// ```
    pub fn parse(url: &str) -> Result<(Self, Path)> {
        let rest = url
            .split_once("://")
            .filter(|(scheme, _)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
            .map(|(_, rest)| rest)
            .ok_or_else(|| wrong(format!("expected {FORM}")))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let mut keys = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        if path.contains('@') || keys.any(|key| key.contains(['@', '/'])) {
            // What is in front of it may be a password.
            return Err(wrong(
                "expected mysql://user:password@host/database/table; a / in a name is %2F, a ? is %3F, an @ is %40",
            ));
        }
        let (who, host) = match authority.rsplit_once('@') {
            Some((who, host)) => (Some(who), host),
            None => (None, authority),
        };
        let mut options = Self::new(DEFAULT_HOST);
        if !host.is_empty() {
            (options.host, options.port) = host_and_port(host)?;
        }
        if let Some(who) = who {
            let (user, password) = match who.split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (who, None),
            };
            options.user = Some(decoded(user)?).filter(|user| !user.is_empty());
            options.password = password.map(decoded).transpose()?;
        }
        let names = path.trim_end_matches('/').split('/').filter(|name| !name.is_empty());
        let path = path_of(names.map(decoded).collect::<Result<_>>()?)?;
        options.database.clone_from(&path.database);
        let mut tls = Tls::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = match pair.split_once('=') {
                Some(pair) => pair,
                None if KEYS.contains(&keys::canonical(pair)) => (pair, "true"),
                // It may be a part of a password.
                None => return Err(wrong("expected KEY=VALUE after the ?; an & in a value is %26")),
            };
            tls.set(&mut options, key, &decoded(value)?, !host.is_empty())?;
        }
        options.tls = tls.options()?;
        match options.is_socket() && options.tls.is_some() {
            true => Err(wrong(
                "a Unix socket is not encrypted; leave out secure and the certificates",
            )),
            false => Ok((options, path)),
        }
    }

    /// Whether the host is a Unix socket.
    pub(crate) fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }

    /// The server, as errors name it.
    pub(crate) fn address(&self) -> String {
        match self.is_socket() {
            true => self.host.clone(),
            false if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("tls", &self.tls)
            .field("timeout", &self.timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("unrepresentable", &self.unrepresentable)
            .finish_non_exhaustive()
    }
}

/// What belongs together in a URL's query though it stands apart.
#[derive(Default)]
struct Tls {
    secure: Option<bool>,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    any_certificate: bool,
}

impl Tls {
    fn set(&mut self, options: &mut Options, key: &str, value: &str, has_host: bool) -> Result<()> {
        match keys::canonical(key) {
            "host" | "port" if has_host => {
                return Err(wrong(format!("the URL has a host already; leave out the option {key}")));
            }
            "host" => value.clone_into(&mut options.host),
            "port" => options.port = port(value)?,
            "user" => options.user = Some(value.to_owned()),
            "password" => options.password = Some(value.to_owned()),
            "secure" => self.secure = Some(truth(key, value)?),
            "ca" => self.authorities = Some(value.into()),
            "cert" => self.certificate = Some(value.into()),
            "key" => self.key = Some(value.into()),
            "verify" => self.any_certificate = !truth(key, value)?,
            "skip_verify" => self.any_certificate = truth(key, value)?,
            "timeout" => options.timeout = Some(duration(key, value)?),
            "connect_timeout" => options.connect_timeout = duration(key, value)?,
            "unrepresentable" => {
                options.unrepresentable = match value {
                    "error" => Unrepresentable::Error,
                    "null" => Unrepresentable::Null,
                    _ => return Err(unexpected(key, value, "error or null")),
                }
            }
            _ => {
                let hint = match keys::meant(key, KEYS) {
                    Some(meant) => format!("{meant} is one"),
                    None => format!("there are {}", KEYS.join(", ")),
                };
                return Err(wrong(format!("there is no option {key:?}; {hint}")));
            }
        }
        Ok(())
    }

    fn options(self) -> Result<Option<TlsOptions>> {
        let identity = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(wrong("the options cert and key go together")),
        };
        let is_meant = self.authorities.is_some() || identity.is_some() || self.any_certificate;
        match self.secure {
            Some(false) if is_meant => Err(wrong("the options ca, cert, key and verify go with secure=true")),
            None | Some(false) if !is_meant => Ok(None),
            _ => Ok(Some(TlsOptions {
                authorities: self.authorities,
                identity,
                verify: !self.any_certificate,
            })),
        }
    }
}

/// All keys, without aliases.
const KEYS: [&str; 12] = [
    "user",
    "password",
    "host",
    "port",
    "secure",
    "ca",
    "cert",
    "key",
    "verify",
    "timeout",
    "connect_timeout",
    "unrepresentable",
];

const SCHEMES: [&str; 2] = ["mysql", "mariadb"];
const FORM: &str = "mysql://host/database/table";
const DEFAULT_HOST: &str = "/run/mysqld/mysqld.sock";
const DEFAULT_PORT: u16 = 3306;

fn path_of(names: Vec<String>) -> Result<Path> {
    let mut names = names.into_iter();
    let (database, table) = (names.next(), names.next());
    match names.next() {
        Some(more) => Err(wrong(format!("expected {FORM}, found {more:?} behind the table"))),
        None => Ok(Path { database, table }),
    }
}

fn host_and_port(text: &str) -> Result<(String, u16)> {
    if text.contains(',') {
        return Err(wrong(format!("expected one host, found {text:?}")));
    }
    let (host, rest) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host.to_owned(), rest),
        None => {
            let at = text.find(':').unwrap_or(text.len());
            let (host, rest) = text.split_at(at);
            (decoded(host)?, rest)
        }
    };
    match rest.strip_prefix(':') {
        _ if host.is_empty() => Err(wrong(format!("expected a host, found {text:?}"))),
        Some(number) => Ok((host, port(number)?)),
        None if rest.is_empty() => Ok((host, DEFAULT_PORT)),
        None => Err(wrong(format!("expected host:port, found {text:?}"))),
    }
}

fn port(value: &str) -> Result<u16> {
    let port = value.parse().ok().filter(|port| *port != 0);
    port.ok_or_else(|| unexpected("port", value, "a number from 1 to 65535"))
}

fn truth(key: &str, value: &str) -> Result<bool> {
    keys::truth(value).ok_or_else(|| unexpected(key, value, "true or false"))
}

fn duration(key: &str, value: &str) -> Result<Duration> {
    keys::limit(value).ok_or_else(|| unexpected(key, value, "seconds above 0, or a duration such as 1m30s"))
}

fn decoded(text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    // The text may be a password.
    let decoded = decoded.map_err(|_| wrong("expected UTF-8 after the % of the URL"))?;
    match decoded.contains('\0') {
        true => Err(wrong("expected no NUL (%00) in the URL")),
        false => Ok(decoded.into_owned()),
    }
}

fn unexpected(key: &str, value: &str, expected: &str) -> Error {
    wrong(format!("option {key}: expected {expected}, found {value:?}"))
}

fn wrong(what: impl Into<String>) -> Error {
    Error::Url { what: what.into() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    #[test]
    fn a_url_has_all_settings() {
        let (options, path) = Options::parse(
            "MariaDB://a%40b:p%2F%3As@[::1]:3307/My%20Shop/t%2Fx/?secure&ca=/ca.pem&cert=c&key=k&verify=false&timeout=5\
             &connect_timeout=2&unrepresentable=null",
        )
        .unwrap();
        assert_eq!((options.host.as_str(), options.port), ("::1", 3307));
        assert_eq!(options.user.as_deref(), Some("a@b"));
        assert_eq!(options.password.as_deref(), Some("p/:s"));
        assert_eq!(options.database.as_deref(), Some("My Shop"));
        assert_eq!(path.database, options.database);
        assert_eq!(path.table.as_deref(), Some("t/x"));
        let tls = TlsOptions {
            authorities: Some("/ca.pem".into()),
            identity: Some(("c".into(), "k".into())),
            verify: false,
        };
        assert_eq!(options.tls, Some(tls));
        assert_eq!(options.timeout, Some(Duration::from_secs(5)));
        assert_eq!(options.connect_timeout.as_secs(), 2);
        assert_eq!(options.unrepresentable, Unrepresentable::Null);
    }

    #[test]
    fn sockets_are_files() {
        for url in ["mysql://%2Frun%2Fdb.sock/d", "mysql:///d?host=/run/db.sock"] {
            let (options, _) = Options::parse(url).unwrap();
            assert_eq!(
                (options.address().as_str(), options.is_socket()),
                ("/run/db.sock", true)
            );
        }
        let (options, path) = Options::parse("mysql://").unwrap();
        assert_eq!((options.host.as_str(), path), (DEFAULT_HOST, Path::default()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, named) in [
            ("postgres://h/k/t", "mysql://"),
            ("mysql://h,i/k/t", "one host"),
            ("mysql://h/d/t/u", "\"u\""),
            ("mysql://u:sec/ret@h/k", "%2F"),
            ("mysql://u:sec?ret@h/k", "%3F"),
            ("mysql://h:0/k", "65535"),
            ("mysql://h/k?secur=true", "secure is one"),
            ("mysql://h/k?secure=perhaps", "true or false"),
            ("mysql://h/k?ca=x&secure=0", "secure=true"),
            ("mysql://h/k?password=sec&ret", "%26"),
            ("mysql://h/k?timeout=0", "timeout"),
            ("mysql://h/k?host=i", "host already"),
            ("mysql://h/k?secure&cert=x", "cert and key"),
            ("mysql:///k?secure", "socket"),
            ("mysql://h/k?compression=zlib", "connect_timeout"),
            ("mysql://u:sec%ffret@h/k", "UTF-8"),
            ("mysql://u:sec%00ret@h/k", "NUL"),
        ] {
            let error = Options::parse(url).unwrap_err().to_string();
            assert!(error.contains(named) && !error.contains("ret@"), "{url}: {error}");
        }
    }
}
