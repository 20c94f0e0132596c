//! Where a cluster is and how it is asked, as a URL says it:
//! `cql://user:password@host:9042,other/keyspace/table?dc=east&consistency=local_quorum`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use scylla::frame::Compression;
use scylla::frame::types::Consistency;
use tidemill_client::keys;

use crate::error::{Error, Result};

/// The settings of a [`Client`](crate::Client). Shown without the password.
///
/// | in the query of the URL | means | default |
/// |---|---|---|
/// | `dc=NAME` | nodes of this data centre are asked first | any |
/// | `consistency=NAME` | `one`, `local_quorum`, … for reads and writes | `local_quorum` |
/// | `user=NAME`, `password=TEXT` | who asks, as in front of the hosts | nobody |
/// | `secure=true` | connections are encrypted (TLS) | `false` |
/// | `ca=FILE` | certificates (PEM) that the nodes' are checked against; with TLS | those of the system |
/// | `cert=FILE`, `key=FILE` | the client's own certificate and key (PEM); with TLS | none |
/// | `verify=false` | any certificate is taken; with TLS | `true` |
/// | `compression=NAME` | `lz4`, `snappy`, `none`; `true` is `lz4` | `none` |
/// | `page_size=N` | rows of a page | 5000 |
/// | `in_flight=N` | rows or batches that are written, or pages that are read, at a time | 256 and 8 |
/// | `timeout=TIME` | how long a request may take: seconds, or a duration such as `1m30s` | 30 |
/// | `connect_timeout=TIME` | how long finding a node, and what it tells of the cluster, may take in all | 10 |
///
/// The keys that other clients have mean the same, and so do their aliases: [`tidemill_client::keys`]. Every other key is an error.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The nodes to begin with, `host` or `host:port`. At least one.
    pub hosts: Vec<String>,
    /// Who asks. Default: nobody, for clusters that let everybody in.
    pub user: Option<String>,
    /// The user's password.
    pub password: String,
    /// The data centre whose nodes are asked first. Default: any.
    pub datacenter: Option<String>,
    /// How many replicas must answer. Default: `LocalQuorum`.
    pub consistency: Consistency,
    /// How connections are encrypted. Default: not.
    pub tls: Option<TlsOptions>,
    /// How bodies of frames are made shorter. Default: not.
    pub compression: Option<Compression>,
    /// Rows of a page, at least 1. Default: 5000.
    pub page_size: i32,
    /// Requests under way at a time, at least 1. Default: 256 where rows are written, 8 where they are read.
    pub in_flight: Option<usize>,
    /// How long a request may take. Default: 30 s.
    pub timeout: Duration,
    /// How long connecting may take in all: finding a node that answers, and hearing from it of the others. Default: 10 s.
    pub connect_timeout: Duration,
}

/// How connections are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsOptions {
    /// Certificates that those of the nodes are checked against, in PEM. Default: those of the system.
    pub authorities: Option<PathBuf>,
    /// The client's own certificate and its key, in PEM. Default: none.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether the nodes' certificates are checked. Default: yes.
    pub verify: bool,
}

impl Default for TlsOptions {
    /// Certificates are checked against those of the system, and the client has none.
    fn default() -> Self {
        Self {
            authorities: None,
            identity: None,
            verify: true,
        }
    }
}

/// What is after the hosts in a URL, each where it is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Path {
    /// The keyspace.
    pub keyspace: Option<String>,
    /// The table.
    pub table: Option<String>,
}

impl Options {
    /// Settings for a cluster that has these nodes, the others at their defaults.
    pub fn new(hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            hosts: hosts.into_iter().map(Into::into).collect(),
            user: None,
            password: String::new(),
            datacenter: None,
            consistency: Consistency::LocalQuorum,
            tls: None,
            compression: None,
            page_size: 5000,
            in_flight: None,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
        }
    }

    /// Reads a URL, with the keyspace and the table that it names. `%2F` is a slash in a name.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], which names the part and what was expected there.
    ///
    /// ```
    /// let (options, path) = tidemill_cql::Options::parse("cql://ann:secret@h1:9043,h2/shop/orders?page_size=100")?;
    /// assert_eq!(options.hosts, ["h1:9043", "h2"]);
    /// assert_eq!((path.keyspace.as_deref(), path.table.as_deref()), (Some("shop"), Some("orders")));
    /// assert!(!format!("{options:?}").contains("secret"));
    /// # Ok::<(), tidemill_cql::Error>(())
    /// ```
    pub fn parse(url: &str) -> Result<(Self, Path)> {
        let wrong = |what: String| Error::Url { what };
        let rest = url
            .split_once("://")
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("cql"))
            .map(|(_, rest)| rest)
            .ok_or_else(|| wrong("expected cql://host/keyspace/table".to_owned()))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let mut keys = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        if path.contains('@') || keys.any(|key| key.contains(['@', '/'])) {
            // What is in front of it may be a password.
            return Err(wrong(
                "expected cql://user:password@host/keyspace/table; a / in a name is %2F, a ? is %3F, an @ is %40"
                    .to_owned(),
            ));
        }
        let (who, hosts) = match authority.rsplit_once('@') {
            Some((who, hosts)) => (Some(who), hosts),
            None => (None, authority),
        };
        if hosts.is_empty() || hosts.split(',').any(str::is_empty) {
            return Err(wrong(format!(
                "expected cql://host/keyspace/table, found the hosts {hosts:?}"
            )));
        }
        let mut options = Self::new(hosts.split(','));
        if let Some(who) = who {
            let (user, password) = who.split_once(':').unwrap_or((who, ""));
            options.user = Some(decoded(user)?);
            options.password = decoded(password)?;
        }
        let mut names = path.trim_end_matches('/').split('/').filter(|name| !name.is_empty());
        let mut name = || names.next().map(decoded).transpose();
        let path = Path {
            keyspace: name()?,
            table: name()?,
        };
        if let Some(more) = name()? {
            return Err(wrong(format!(
                "expected cql://host/keyspace/table, found {more:?} behind the table"
            )));
        }
        let mut query_options = Query::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = match pair.split_once('=') {
                Some(pair) => pair,
                None if KEYS.contains(&keys::canonical(pair)) => (pair, "true"),
                // It may be a part of a password.
                None => {
                    return Err(wrong(
                        "expected KEY=VALUE after the ?; an & in a value is %26".to_owned(),
                    ));
                }
            };
            query_options.set(&mut options, key, &decoded(value)?)?;
        }
        options.tls = query_options.tls()?;
        Ok((options, path))
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("hosts", &self.hosts)
            .field("user", &self.user)
            .field("datacenter", &self.datacenter)
            .field("consistency", &self.consistency)
            .field("tls", &self.tls)
            .field("compression", &self.compression)
            .field("page_size", &self.page_size)
            .field("in_flight", &self.in_flight)
            .field("timeout", &self.timeout)
            .field("connect_timeout", &self.connect_timeout)
            .finish_non_exhaustive()
    }
}

/// What belongs together in a URL's query though it stands apart.
#[derive(Default)]
struct Query {
    secure: Option<bool>,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    any_certificate: bool,
}

impl Query {
    fn set(&mut self, options: &mut Options, key: &str, value: &str) -> Result<()> {
        match keys::canonical(key) {
            "dc" => options.datacenter = Some(value.to_owned()),
            "consistency" => options.consistency = consistency(value)?,
            "user" => options.user = Some(value.to_owned()),
            "password" => value.clone_into(&mut options.password),
            "secure" => self.secure = Some(truth(key, value)?),
            "ca" => self.authorities = Some(value.into()),
            "cert" => self.certificate = Some(value.into()),
            "key" => self.key = Some(value.into()),
            "verify" => self.any_certificate = !truth(key, value)?,
            "skip_verify" => self.any_certificate = truth(key, value)?,
            "compression" => options.compression = compression(key, value)?,
            "page_size" => options.page_size = positive(key, value)?,
            "in_flight" => options.in_flight = Some(usize::try_from(positive(key, value)?).unwrap_or(usize::MAX)),
            "timeout" => options.timeout = duration(key, value)?,
            "connect_timeout" => options.connect_timeout = duration(key, value)?,
            _ => {
                let hint = match keys::meant(key, KEYS) {
                    Some(meant) => format!("{meant} is one"),
                    None => format!("there are {}", KEYS.join(", ")),
                };
                return Err(Error::Url {
                    what: format!("there is no option {key:?}; {hint}"),
                });
            }
        }
        Ok(())
    }

    fn tls(self) -> Result<Option<TlsOptions>> {
        let wrong = |what: &str| Err(Error::Url { what: what.to_owned() });
        let identity = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return wrong("the options cert and key go together"),
        };
        let is_meant = self.authorities.is_some() || identity.is_some() || self.any_certificate;
        match self.secure {
            Some(false) if is_meant => return wrong("the options ca, cert, key and verify go with secure=true"),
            None | Some(false) if !is_meant => return Ok(None),
            _ => {}
        }
        Ok(Some(TlsOptions {
            authorities: self.authorities,
            identity,
            verify: !self.any_certificate,
        }))
    }
}

/// All keys, without aliases.
const KEYS: [&str; 14] = [
    "dc",
    "consistency",
    "user",
    "password",
    "secure",
    "ca",
    "cert",
    "key",
    "verify",
    "compression",
    "page_size",
    "in_flight",
    "timeout",
    "connect_timeout",
];

fn truth(key: &str, value: &str) -> Result<bool> {
    keys::truth(value).ok_or_else(|| unexpected(key, value, "true or false"))
}

fn duration(key: &str, value: &str) -> Result<Duration> {
    keys::limit(value).ok_or_else(|| unexpected(key, value, "seconds above 0, or a duration such as 1m30s"))
}

fn compression(key: &str, value: &str) -> Result<Option<Compression>> {
    match value.to_ascii_lowercase().as_str() {
        "lz4" | "true" | "1" => Ok(Some(Compression::Lz4)),
        "snappy" => Ok(Some(Compression::Snappy)),
        "none" | "false" | "0" => Ok(None),
        _ => Err(unexpected(key, value, "lz4, snappy or none")),
    }
}

fn decoded(text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    // The text may be a password.
    decoded.map(Into::into).map_err(|_| Error::Url {
        what: "expected UTF-8 after the % of the URL".to_owned(),
    })
}

fn positive(key: &str, value: &str) -> Result<i32> {
    match value.parse::<std::num::NonZeroU16>() {
        Ok(number) => Ok(i32::from(number.get())),
        Err(_) => Err(unexpected(key, value, "a whole number from 1 to 65535")),
    }
}

fn unexpected(key: &str, value: &str, expected: &str) -> Error {
    Error::Url {
        what: format!("option {key}: expected {expected}, found {value:?}"),
    }
}

fn consistency(name: &str) -> Result<Consistency> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "any" => Consistency::Any,
        "one" => Consistency::One,
        "two" => Consistency::Two,
        "three" => Consistency::Three,
        "quorum" => Consistency::Quorum,
        "all" => Consistency::All,
        "local_one" => Consistency::LocalOne,
        "local_quorum" => Consistency::LocalQuorum,
        "each_quorum" => Consistency::EachQuorum,
        _ => {
            let known = "any, one, two, three, quorum, all, local_one, local_quorum, each_quorum";
            return Err(Error::Url {
                what: format!("option consistency: expected one of {known}, found {name:?}"),
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_all_settings() {
        let (options, path) = Options::parse(
            "CQL://a%40b:p%2F%3As@h1,h2:9043/My%20Keys/t%2Fx/?dc=east&consistency=ONE&secure&ca=/ca.pem&cert=c&key=k\
             &verify=false&page_size=7&in_flight=3&timeout=5&connect_timeout=2",
        )
        .unwrap();
        assert_eq!(options.hosts, ["h1", "h2:9043"]);
        assert_eq!(
            (options.user.as_deref(), options.password.as_str()),
            (Some("a@b"), "p/:s")
        );
        assert_eq!(
            (path.keyspace.as_deref(), path.table.as_deref()),
            (Some("My Keys"), Some("t/x"))
        );
        assert_eq!(options.datacenter.as_deref(), Some("east"));
        assert_eq!(options.consistency, Consistency::One);
        let tls = TlsOptions {
            authorities: Some("/ca.pem".into()),
            identity: Some(("c".into(), "k".into())),
            verify: false,
        };
        assert_eq!(options.tls, Some(tls));
        assert_eq!(
            (options.page_size, options.in_flight, options.timeout.as_secs()),
            (7, Some(3), 5)
        );
        assert_eq!(options.connect_timeout.as_secs(), 2);
        let (options, _) = Options::parse(
            "cql://h?username=u&password=s&ssl=1&ca_certificate=c&skip_verify=0&compress=true&timeout=1m30s",
        )
        .unwrap();
        let tls = options.tls.unwrap();
        assert_eq!((tls.authorities, tls.verify), (Some("c".into()), true));
        assert_eq!((options.user.as_deref(), options.password.as_str()), (Some("u"), "s"));
        assert_eq!(
            (options.timeout.as_secs(), options.compression),
            (90, Some(Compression::Lz4))
        );
        let (options, _) = Options::parse("cql://h?ca=c").unwrap();
        assert!(options.tls.is_some_and(|tls| tls.verify));
        let (_, path) = Options::parse("cql://h").unwrap();
        assert_eq!(path, Path::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, named) in [
            ("clickhouse://h/k/t", "cql://"),
            ("cql:///k/t", "hosts"),
            ("cql://h,,i/k/t", "hosts"),
            ("cql://h/k/t/u", "\"u\""),
            ("cql://u:sec/ret@h/k", "%2F"),
            ("cql://u:sec?ret@h/k", "%3F"),
            ("cql://h/k?pagesize=1", "page_size"),
            ("cql://h/k?page_size=0", "page_size"),
            ("cql://h/k?consistency=most", "local_quorum"),
            ("cql://h/k?secure=perhaps", "true or false"),
            ("cql://h/k?ca=x&secure=0", "secure=true"),
            ("cql://h/k?verfy=false", "verify"),
            ("cql://h/k?password=sec&ret", "%26"),
            ("cql://h/k?timeout=0", "timeout"),
            ("cql://h/k?compression=zstd", "lz4, snappy"),
            ("cql://h/k?secure&cert=x", "cert and key"),
            ("cql://u:sec%ffret@h/k", "UTF-8"),
        ] {
            let error = Options::parse(url).unwrap_err().to_string();
            assert!(error.contains(named) && !error.contains("ret"), "{url}: {error}");
        }
    }
}
