//! Where a server is and how it is asked, as a URL says it:
//! `postgres://user:password@host:5432/database/schema/table?sslmode=verify-full&ca=root.pem`.

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
/// | `host=NAME`, `port=N` | the server, where the URL has no host: also the folder of a Unix socket | `/var/run/postgresql`, 5432 |
/// | `secure=true` | connections are encrypted (TLS) | `false` |
/// | `ca=FILE`, `sslrootcert=FILE` | certificates (PEM) that the server's is checked against; with TLS | those of the system |
/// | `cert=FILE`, `key=FILE`, `sslcert=FILE`, `sslkey=FILE` | the client's own certificate and key (PEM); with TLS | none |
/// | `verify=false` | any certificate is taken; with TLS | `true` |
/// | `sslmode=NAME` | what libpq calls it, instead of `secure` and `verify`; see [`TlsOptions`] | |
/// | `timeout=TIME` | how long the server may be silent while it owes an answer: seconds, or a duration such as `1m30s` | no limit |
/// | `connect_timeout=TIME` | how long connecting may take, TLS and password too | 10 |
/// | `application_name=TEXT` | what the server's lists call the connection | `tidemill` |
/// | `options=TEXT` | settings of the session, as `-c statement_timeout=5min` | none |
/// | `unrepresentable=NAME` | `error` or `null`: what becomes of values that Arrow's types do not have, see [`Unrepresentable`] | `error` |
///
/// The keys that other clients have mean the same, and so do their aliases: [`tidemill_client::keys`]. Every other key is an error.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The server's name or address, or the folder of its Unix socket, which begins with a `/`.
    pub host: String,
    /// The port, which a Unix socket has in its name too. Default: 5432.
    pub port: u16,
    /// Who asks. Default: whoever runs the program.
    pub user: Option<String>,
    /// The user's password. Default: none.
    pub password: Option<String>,
    /// The database. Default: the one that is called as the user.
    pub database: Option<String>,
    /// How connections are encrypted. Default: not.
    pub tls: Option<TlsOptions>,
    /// How long the server may be silent while it owes an answer: also as long as it sorts, or makes an index. Default: no limit, but a
    /// server whose machine is gone is noticed.
    pub timeout: Option<Duration>,
    /// How long connecting may take. Default: 10 s.
    pub connect_timeout: Duration,
    /// What the server's lists call the connection. Default: `tidemill`.
    pub application_name: String,
    /// Settings of the session, as on the server's command line. Default: none.
    pub session: Option<String>,
    /// What becomes of values that Arrow's types do not have. Default: they are errors.
    pub unrepresentable: Unrepresentable,
}

/// What becomes of a value that Arrow's type does not have: `infinity` of a date or a timestamp, a timestamp behind the year 294246, `NaN` of a
/// `numeric(p, s)`, and an interval whose time has more than 64 bits of nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unrepresentable {
    /// Reading ends with an error that names the row, the column and the value.
    #[default]
    Error,
    /// It is read as NULL.
    Null,
}

/// How connections are encrypted. What libpq's `sslmode` stands for:
///
/// | `sslmode` | encrypted | the certificate is checked |
/// |---|---|---|
/// | `disable` | no | |
/// | `allow`, `prefer` | if the server does | no |
/// | `require` | yes | with `sslrootcert` only |
/// | `verify-ca`, `verify-full` | yes | yes, and that it is of the host's name: more than libpq does for `verify-ca` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsOptions {
    /// Certificates that the server's is checked against, in PEM. Default: those of the system.
    pub authorities: Option<PathBuf>,
    /// The client's own certificate and its key, in PEM. Default: none.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether the server's certificate is checked, and that it is of the host's name. Default: yes.
    pub verify: bool,
    /// Whether a server that does not encrypt is asked all the same. Default: no.
    pub is_optional: bool,
}

impl TlsOptions {
    /// Encrypted connections to a server whose certificate the system trusts.
    #[must_use]
    pub fn new() -> Self {
        Self {
            authorities: None,
            identity: None,
            verify: true,
            is_optional: false,
        }
    }

    /// Of an `sslmode`; `None` for `disable`.
    fn from_mode(mode: &str, has_authorities: bool) -> Result<Option<Self>> {
        let (verify, is_optional) = match mode {
            "disable" => return Ok(None),
            "allow" | "prefer" => (false, true),
            "require" => (has_authorities, false),
            "verify-ca" | "verify-full" => (true, false),
            _ => {
                let known = "disable, allow, prefer, require, verify-ca or verify-full";
                return Err(url::unexpected("sslmode", mode, known).into());
            }
        };
        Ok(Some(Self {
            verify,
            is_optional,
            ..Self::new()
        }))
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
    /// The schema: the first of two names behind the database.
    pub schema: Option<String>,
    /// The table: the last name behind the database.
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
            application_name: "tidemill".to_owned(),
            session: None,
            unrepresentable: Unrepresentable::Error,
        }
    }

    /// Reads a URL, with the schema and the table that it names: `postgres://` or `postgresql://`, then host, database, schema and table, or
    /// database and table. `%2F` is a slash in a name; a host that begins with one is the folder of a Unix socket.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], which names the part and what was expected there.
    ///
    /// ```
    /// let (options, path) = tidemill_postgres::Options::parse("postgres://ann:secret@h:5433/shop/public/orders?timeout=60")?;
    /// assert_eq!((options.host.as_str(), options.port), ("h", 5433));
    /// assert_eq!((path.schema.as_deref(), path.table.as_deref()), (Some("public"), Some("orders")));
    /// assert!(!format!("{options:?}").contains("secret"));
    /// # Ok::<(), tidemill_postgres::Error>(())
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
        let mut query_options = Query::default();
        for (key, value) in &parts.pairs {
            query_options.set(&mut options, key, value, has_host)?;
        }
        options.tls = query_options.tls()?;
        if options.is_socket()
            && let Some(tls) = &options.tls
        {
            if !tls.is_optional {
                return Err(wrong(
                    "a Unix socket is not encrypted; leave out secure, sslmode and the certificates",
                ));
            }
            options.tls = None;
        }
        Ok((options, path))
    }

    /// Whether the host is the folder of a Unix socket.
    pub(crate) fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }

    /// The server, as errors name it.
    pub(crate) fn address(&self) -> String {
        match self.is_socket() {
            true => format!("{}/.s.PGSQL.{}", self.host, self.port),
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
            .field("application_name", &self.application_name)
            .field("unrepresentable", &self.unrepresentable)
            .finish_non_exhaustive()
    }
}

/// What belongs together in a URL's query though it stands apart.
#[derive(Default)]
struct Query {
    secure: Option<bool>,
    mode: Option<String>,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    any_certificate: bool,
}

impl Query {
    fn set(&mut self, options: &mut Options, key: &str, value: &str, has_host: bool) -> Result<()> {
        match canonical(key) {
            "host" | "port" if has_host => {
                return Err(wrong(format!("the URL has a host already; leave out the option {key}")));
            }
            "host" => value.clone_into(&mut options.host),
            "port" => options.port = url::port(value)?,
            "user" => options.user = Some(value.to_owned()),
            "password" => options.password = Some(value.to_owned()),
            "secure" => self.secure = Some(url::truth(key, value)?),
            "sslmode" => self.mode = Some(value.to_owned()),
            "ca" if key == "sslrootcert" && value == "system" => self.authorities = None,
            "ca" => self.authorities = Some(value.into()),
            "cert" => self.certificate = Some(value.into()),
            "key" => self.key = Some(value.into()),
            "verify" => self.any_certificate = !url::truth(key, value)?,
            "skip_verify" => self.any_certificate = url::truth(key, value)?,
            "timeout" => options.timeout = Some(url::limit(key, value)?),
            "connect_timeout" => options.connect_timeout = url::limit(key, value)?,
            "application_name" => value.clone_into(&mut options.application_name),
            "options" => options.session = Some(value.to_owned()),
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

    fn tls(self) -> Result<Option<TlsOptions>> {
        let identity = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(wrong("the options cert and key go together")),
        };
        let is_meant = self.authorities.is_some() || identity.is_some() || self.any_certificate;
        let tls = match (self.secure, self.mode) {
            (Some(_), Some(_)) => return Err(wrong("the options secure and sslmode do not go together")),
            (_, Some(_)) if self.any_certificate => {
                return Err(wrong("the options verify and sslmode do not go together"));
            }
            (_, Some(mode)) => TlsOptions::from_mode(&mode, self.authorities.is_some())?,
            (Some(false), None) if is_meant => {
                return Err(wrong("the options ca, cert, key and verify go with secure=true"));
            }
            (None | Some(false), None) if !is_meant => None,
            _ => Some(TlsOptions {
                verify: !self.any_certificate,
                ..TlsOptions::new()
            }),
        };
        Ok(tls.map(|tls| TlsOptions {
            authorities: self.authorities,
            identity,
            ..tls
        }))
    }
}

/// libpq's names for what has a name already.
fn canonical(key: &str) -> &str {
    match key {
        "sslrootcert" => "ca",
        "sslcert" => "cert",
        "sslkey" => "key",
        _ => keys::canonical(key),
    }
}

/// What URLs look like.
const FORM: Form = Form {
    schemes: &["postgres", "postgresql"],
    path: "host/database/schema/table",
    keys: &[
        "user",
        "password",
        "host",
        "port",
        "secure",
        "sslmode",
        "ca",
        "cert",
        "key",
        "verify",
        "timeout",
        "connect_timeout",
        "application_name",
        "options",
        "unrepresentable",
    ],
    canonical,
    port: 5432,
};
const DEFAULT_HOST: &str = "/var/run/postgresql";

fn path_of(names: Vec<String>) -> Result<Path> {
    let mut names = names.into_iter();
    let database = names.next();
    let (schema, table) = match (names.next(), names.next(), names.next()) {
        (schema @ Some(_), table @ Some(_), None) => (schema, table),
        (table, None, None) => (None, table),
        (_, _, more) => {
            let more = more.unwrap_or_default();
            return Err(wrong(format!("expected {FORM}, found {more:?} behind the table")));
        }
    };
    Ok(Path {
        database,
        schema,
        table,
    })
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
            "PostgreSQL://a%40b:p%2F%3As@[::1]:5433/My%20Shop/s/t%2Fx/?secure&ca=/ca.pem&cert=c&key=k&verify=false&timeout=5\
             &connect_timeout=2&application_name=a%20b&options=-c%20statement_timeout%3D9&unrepresentable=null",
        )
        .unwrap();
        assert_eq!((options.host.as_str(), options.port), ("::1", 5433));
        assert_eq!(options.user.as_deref(), Some("a@b"));
        assert_eq!(options.password.as_deref(), Some("p/:s"));
        assert_eq!(options.database.as_deref(), Some("My Shop"));
        assert_eq!(
            (path.schema.as_deref(), path.table.as_deref()),
            (Some("s"), Some("t/x"))
        );
        let tls = TlsOptions {
            authorities: Some("/ca.pem".into()),
            identity: Some(("c".into(), "k".into())),
            verify: false,
            is_optional: false,
        };
        assert_eq!(options.tls, Some(tls));
        assert_eq!(options.timeout, Some(Duration::from_secs(5)));
        assert_eq!(options.connect_timeout.as_secs(), 2);
        assert_eq!(options.application_name, "a b");
        assert_eq!(options.session.as_deref(), Some("-c statement_timeout=9"));
        assert_eq!(options.unrepresentable, Unrepresentable::Null);
        let (_, path) = Options::parse("postgres://h/d/t").unwrap();
        assert_eq!((path.schema, path.table.as_deref()), (None, Some("t")));
    }

    #[test]
    fn sockets_are_folders() {
        for url in ["postgres://%2Frun%2Fpg:5433/d", "postgres:///d?host=/run/pg&port=5433"] {
            let (options, _) = Options::parse(url).unwrap();
            assert_eq!(options.address(), "/run/pg/.s.PGSQL.5433");
        }
        let (options, _) = Options::parse("postgres:///d?sslmode=prefer").unwrap();
        assert_eq!((options.host.as_str(), options.tls), (DEFAULT_HOST, None));
    }

    #[test]
    fn modes_are_those_of_libpq() {
        for (query, expected) in [
            ("sslmode=disable", None),
            ("sslmode=prefer", Some((false, true))),
            ("sslmode=require", Some((false, false))),
            ("sslmode=require&sslrootcert=c", Some((true, false))),
            ("sslmode=verify-ca", Some((true, false))),
            ("sslmode=verify-full&sslrootcert=system", Some((true, false))),
            ("ca=c", Some((true, false))),
            ("secure=true", Some((true, false))),
            ("secure=false", None),
        ] {
            let (options, _) = Options::parse(&format!("postgres://h/d?{query}")).unwrap();
            let found = options.tls.map(|tls| (tls.verify, tls.is_optional));
            assert_eq!(found, expected, "{query}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, named) in [
            ("mysql://h/k/t", "postgres://"),
            ("postgres://h,i/k/t", "one host"),
            ("postgres://h/d/s/t/u", "\"u\""),
            ("postgres://u:sec/ret@h/k", "%2F"),
            ("postgres://u:sec?ret@h/k", "%3F"),
            ("postgres://h:0/k", "65535"),
            ("postgres://h/k?sslmod=require", "sslmode"),
            ("postgres://h/k?sslmode=most", "verify-full"),
            ("postgres://h/k?secure=perhaps", "true or false"),
            ("postgres://h/k?ca=x&secure=0", "secure=true"),
            ("postgres://h/k?secure=1&sslmode=prefer", "secure and sslmode"),
            ("postgres://h/k?password=sec&ret", "%26"),
            ("postgres://h/k?timeout=0", "timeout"),
            ("postgres://h/k?host=i", "host already"),
            ("postgres://h/k?secure&cert=x", "cert and key"),
            ("postgres:///k?secure", "socket"),
            ("postgres://h/k?gssencmode=disable", "application_name"),
            ("postgres://u:sec%ffret@h/k", "UTF-8"),
            ("postgres://u:sec%00ret@h/k", "NUL"),
        ] {
            let error = Options::parse(url).unwrap_err().to_string();
            assert!(error.contains(named) && !error.contains("ret@"), "{url}: {error}");
        }
    }
}
