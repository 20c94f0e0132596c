//! Where a server is and how it is asked, as a URL says it:
//! `mysql://user:password@host:3306/database/table?secure=true&ca=root.pem`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tidemill_client::keys;
use tidemill_client::url::{self, Form};

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
            port: FORM.port,
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
        let parts = FORM.parse(url)?;
        let mut options = Self::new(DEFAULT_HOST);
        let has_host = parts.host.is_some();
        if let Some((host, port)) = parts.host {
            (options.host, options.port) = (host, port);
        }
        (options.user, options.password) = (parts.user, parts.password);
        let path = path_of(parts.names)?;
        options.database.clone_from(&path.database);
        let mut tls = Tls::default();
        for (key, value) in &parts.pairs {
            tls.set(&mut options, key, value, has_host)?;
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
            "port" => options.port = url::port(value)?,
            "user" => options.user = Some(value.to_owned()),
            "password" => options.password = Some(value.to_owned()),
            "secure" => self.secure = Some(url::truth(key, value)?),
            "ca" => self.authorities = Some(value.into()),
            "cert" => self.certificate = Some(value.into()),
            "key" => self.key = Some(value.into()),
            "verify" => self.any_certificate = !url::truth(key, value)?,
            "skip_verify" => self.any_certificate = url::truth(key, value)?,
            "timeout" => options.timeout = Some(url::limit(key, value)?),
            "connect_timeout" => options.connect_timeout = url::limit(key, value)?,
            "unrepresentable" => {
                options.unrepresentable = match value {
                    "error" => Unrepresentable::Error,
                    "null" => Unrepresentable::Null,
                    _ => return Err(url::unexpected(key, value, "error or null").into()),
                }
            }
            _ => return Err(FORM.unknown(key).into()),
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

/// What URLs look like.
const FORM: Form = Form {
    schemes: &["mysql", "mariadb"],
    path: "host/database/table",
    keys: &[
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
    ],
    canonical: keys::canonical,
    port: 3306,
};
const DEFAULT_HOST: &str = "/run/mysqld/mysqld.sock";

fn path_of(names: Vec<String>) -> Result<Path> {
    let mut names = names.into_iter();
    let (database, table) = (names.next(), names.next());
    match names.next() {
        Some(more) => Err(wrong(format!("expected {FORM}, found {more:?} behind the table"))),
        None => Ok(Path { database, table }),
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::Url { what: what.into() }
}

impl From<url::Error> for Error {
    fn from(error: url::Error) -> Self {
        wrong(error.0)
    }
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
