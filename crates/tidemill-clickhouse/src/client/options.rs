//! What a client is told: where the servers are, who it is, how long it waits.

use std::{fmt, path::Path, str::FromStr, time::Duration};

use percent_encoding::percent_decode_str;
use tidemill_client::keys;

use super::{
    session,
    tls::{ClientPem, TlsOptions},
    trace::TraceSource,
};
use crate::{
    Compression, Error, Limits, Result,
    arrow_type::StringType,
    packet::client::{Setting, SettingValue},
};

/// How a [`Client`](super::Client) reaches its servers.
///
/// Made by [`Options::new`], or parsed from a URL:
///
/// ```
/// use tidemill_clickhouse::client::Options;
///
/// let options: Options = "clickhouse://reader:secret@db1,db2:9001/logs?compression=zstd&max_threads=4".parse()?;
/// assert_eq!(options.endpoints.len(), 2);
/// assert_eq!(options.database, "logs");
/// // Passwords are not shown.
/// assert!(!format!("{options:?}").contains("secret"));
/// # Ok::<(), tidemill_clickhouse::Error>(())
/// ```
///
/// The query of a URL may have `user`, `password`, `token`, `database`, `compression`, `secure` (whether connections are encrypted),
/// `ca`, `cert`, `key` (files, as PEM) and `verify` (false: any certificate is taken), which make them so, `server_name`, `timeout` (of
/// a statement), `connect_timeout`, `read_timeout`, `write_timeout`, `idle_timeout`, `keep_alive`, `pool_timeout` (seconds, with or
/// without a fraction, or durations such as `1m30s`), `pool_size`, `parallel` (connections that read one table), `collect_limit` and `block_limit` (bytes), `binary_strings` (true: strings are
/// [`StringType::Binary`], for bytes that are no UTF-8; auto: [`StringType::ByContent`]), `quota_key` and `client_name`. They have the
/// names that other clients know them by as aliases ([`tidemill_client::keys`]).
///
/// Settings of the server for all queries are `setting.NAME`, as in `setting.max_threads=4`. A name of several words that is no option,
/// or one of the few settings of one word (`readonly`, `extremes`, `final`, `profile`, …), is taken for a setting without that, too.
/// Every other name is an error, also one that is a letter away from an option. Of the settings the client itself heeds
/// `session_timezone`, as [`Request::session_time_zone`](super::Request::session_time_zone) says.
///
/// A URL without a host, as in `clickhouse:///logs`, means what `clickhouse-client` would connect to
/// ([`Options::from_client_config`]); the rest of the URL goes over it. Its query may have `connection`, one of those that the
/// configuration file names, and `config`, the path of that file.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The servers, which are equal. The first that answers is used, and each new connection begins with the next.
    pub endpoints: Vec<Endpoint>,
    /// The user. Default: `default`.
    pub user: String,
    /// The password. Default: none.
    pub password: String,
    /// The database that names without one mean. Default: the user's.
    pub database: String,
    /// How blocks travel. The server is asked to use LZ4HC and ZSTD where they are chosen; otherwise it answers as it does by
    /// itself, and every way is understood. Default: [`Compression::Lz4`].
    pub compression: Compression,
    /// Whether and how connections are encrypted. Default: not.
    pub tls: Option<TlsOptions>,
    /// Settings for all queries.
    pub settings: Vec<Setting>,
    /// What the client calls itself.
    pub client_name: String,
    /// The key of the quota to use.
    pub quota_key: String,
    /// How long a connection to one server may take in all, with its handshakes. Default: 10 seconds.
    pub connect_timeout: Duration,
    /// How often all servers are tried before a connection fails. Default: 2.
    pub connect_rounds: u32,
    /// How long a server may be silent while a query runs, or send less than 16 bytes a second and no whole packet. It sends
    /// progress all the time, and may do so for as long as a query takes: only a deadline or a handle ends that. A ping, a
    /// question for tables and the change of roles take no longer than this in all. Default: 300 seconds.
    pub read_timeout: Duration,
    /// How long a server may take nothing of what is sent. Default: 300 seconds.
    pub write_timeout: Duration,
    /// How long a connection that nobody uses is kept without asking whether it still works. Default: 30 seconds.
    pub idle_timeout: Duration,
    /// How long a connection may be silent before the operating system asks, behind the program's back, whether its other end
    /// is there, and finds that it is not. Zero: never. Default: 290 seconds, less than many a firewall takes to forget.
    pub keep_alive: Duration,
    /// How long a server may take to stop a query that was cancelled, before its connection is closed. Default: 5 seconds.
    pub cancel_timeout: Duration,
    /// How long a statement may take in all, a query or an insert, whatever the server says meanwhile: what
    /// [`Request::deadline`](super::Request::deadline) is for those that have none of their own. Default: none.
    pub deadline: Option<Duration>,
    /// The most memory, in bytes, that rows may take which are collected ([`Request::collect`](super::Request::collect),
    /// [`RowsRequest::fetch_all`](super::RowsRequest::fetch_all)). Default: 2 GiB.
    pub collect_limit: u64,
    /// The most connections at a time. Default: 16.
    pub pool_size: usize,
    /// By how many connections [`Client::read_table`](super::Client::read_table) reads a table, at most `pool_size`. Default: 1.
    pub parallel: usize,
    /// How long a query waits for one of them when all are in use. Default: 60 seconds.
    pub pool_timeout: Duration,
    /// What strings become in Arrow.
    pub strings: StringType,
    /// Bounds on what a block may ask for; `block_limit` is [`Limits::memory`].
    pub limits: Limits,
    /// Who knows which span of OpenTelemetry a query belongs to. Default: nobody.
    pub trace_source: Option<TraceSource>,
}

/// A server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endpoint {
    /// A name or address.
    pub host: String,
    /// The port. Default: 9000, or 9440 with TLS.
    pub port: Option<u16>,
}

impl Options {
    /// Makes options for one server, given as `host` or `host:port`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] when the port is none.
    pub fn new(endpoint: &str) -> Result<Self> {
        Ok(Self {
            endpoints: vec![endpoint.parse()?],
            user: "default".to_owned(),
            password: String::new(),
            database: String::new(),
            compression: Compression::default(),
            tls: None,
            settings: Vec::new(),
            client_name: concat!("Tidemill ", env!("CARGO_PKG_VERSION")).to_owned(),
            quota_key: String::new(),
            connect_timeout: Duration::from_secs(10),
            connect_rounds: 2,
            read_timeout: Duration::from_secs(300),
            write_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(290),
            cancel_timeout: Duration::from_secs(5),
            deadline: None,
            collect_limit: 2 << 30,
            pool_size: 16,
            parallel: 1,
            pool_timeout: Duration::from_secs(60),
            strings: StringType::default(),
            limits: Limits::default(),
            trace_source: None,
        })
    }

    /// Parses a URL whose path may name a table after the database: `clickhouse://host/database/table`.
    ///
    /// # Errors
    ///
    /// Those of parsing [`Options`].
    pub fn parse_with_table(url: &str) -> Result<(Self, Option<String>)> {
        let wrong = |expected: &str| Error::Option {
            // Not the whole URL: it may have a password.
            option: "url".to_owned(),
            expected: expected.to_owned(),
        };
        let rest = ["clickhouse://", "tcp://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| wrong("clickhouse://user:password@host:port/database"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let mut names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        if path.contains('@') || names.any(|name| name.contains(['@', '/'])) {
            // What is in front of it may be a password, and no part of the URL is what it seems.
            return Err(wrong(
                "clickhouse://user:password@host:port/database, where a / in a name is %2F, a ? is %3F and an @ is %40",
            ));
        }
        let mut query = pairs(query)?;
        let mut options = match (authority, hosts) {
            ("", _) => {
                let mut take = |name: &str| {
                    let at = query.iter().rposition(|(found, _)| found == name)?;
                    Some(query.remove(at).1)
                };
                let (config, connection) = (take("config"), take("connection"));
                Self::from_client_config(config.as_deref().map(Path::new), connection.as_deref())?
            }
            (_, "") => return Err(wrong("a host behind clickhouse://")),
            _ => {
                let mut options = Self::new("localhost")?;
                options.endpoints = hosts.split(',').map(str::parse).collect::<Result<_>>()?;
                options
            }
        };
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        if !user.is_empty() {
            options.user = decoded(user, "user")?;
        }
        if !password.is_empty() {
            options.password = decoded(password, "password")?;
        }
        let (database, table) = path.split_once('/').unwrap_or((path, ""));
        if !database.is_empty() {
            options.database = decoded(database, "database")?;
        }
        let table = decoded(table.trim_end_matches('/'), "table")?;
        // What makes connections encrypted is seen beside secure=false wherever it stands.
        let (secure, others): (Vec<_>, Vec<_>) = query.iter().partition(|(name, _)| canonical(name) == "secure");
        for (name, value) in secure.into_iter().chain(others) {
            options.set(name, value)?;
        }
        let is_plain = query
            .iter()
            .any(|(name, value)| canonical(name) == "secure" && keys::truth(value) == Some(false));
        if is_plain && options.tls.is_some() {
            return Err(Error::Option {
                option: "secure=false".to_owned(),
                expected: "secure=true together with `ca`, `cert`, `key`, `server_name` and `verify=false`".to_owned(),
            });
        }
        if let Some(tls) = &options.tls {
            tls.check_pair()?;
        }
        Ok((options, Some(table).filter(|table| !table.is_empty())))
    }

    /// Sets what a name in the query of a URL means.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] when the value is none of the option.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(Error::Option {
                option: name.to_owned(),
                expected: format!("no option of this name: {instead}"),
            });
        }
        match canonical(name) {
            // As a setting it would be shown, and sent as one.
            other if other != "password" && other.eq_ignore_ascii_case("password") => {
                return Err(Error::Option {
                    option: other.to_owned(),
                    expected: "`password`, in small letters".to_owned(),
                });
            }
            "compression" => {
                self.compression = match value {
                    "1" | "true" => Compression::default(),
                    "0" | "false" => Compression::None,
                    other => other.parse()?,
                }
            }
            "skip_verify" => self.accept_any_certificate(is_true(name, value)?),
            "verify" => self.accept_any_certificate(!is_true(name, value)?),
            "token" => {
                TOKEN_USER.clone_into(&mut self.user);
                value.clone_into(&mut self.password);
            }
            "secure" => match is_true(name, value)? {
                true => drop(self.tls.get_or_insert_default()),
                false => self.tls = None,
            },
            "connect_timeout" => self.connect_timeout = limit(name, value)?,
            "read_timeout" => self.read_timeout = limit(name, value)?,
            "write_timeout" => self.write_timeout = limit(name, value)?,
            "idle_timeout" => self.idle_timeout = seconds(name, value)?,
            "keep_alive" => self.keep_alive = seconds(name, value)?,
            "pool_timeout" => self.pool_timeout = seconds(name, value)?,
            "timeout" => self.deadline = Some(limit(name, value)?),
            "collect_limit" => match value.parse() {
                Ok(bytes) => self.collect_limit = bytes,
                _ => return Err(expected(name, value, "a number of bytes")),
            },
            "block_limit" => match value.parse() {
                Ok(bytes) => self.limits.memory = bytes,
                _ => return Err(expected(name, value, "a number of bytes")),
            },
            "binary_strings" => match value {
                "1" | "true" => self.strings = StringType::Binary,
                "0" | "false" => self.strings = StringType::Utf8,
                "auto" => self.strings = StringType::ByContent,
                _ => return Err(expected(name, value, "true, false or auto")),
            },
            "pool_size" => match value.parse() {
                Ok(size @ 1..) => self.pool_size = size,
                _ => return Err(expected(name, value, "a number from 1")),
            },
            "parallel" => match value.parse() {
                Ok(connections @ 1..) => self.parallel = connections,
                _ => return Err(expected(name, value, "a number from 1")),
            },
            "user" => value.clone_into(&mut self.user),
            "password" => value.clone_into(&mut self.password),
            "database" => value.clone_into(&mut self.database),
            "ca" => self.tls.get_or_insert_default().trusted_pem = Some(pem(name, value)?),
            "cert" => self.client_pem().certificates = pem(name, value)?,
            "key" => self.client_pem().key = pem(name, value)?,
            "server_name" => self.tls.get_or_insert_default().server_name = Some(value.to_owned()),
            "quota_key" => value.clone_into(&mut self.quota_key),
            "client_name" => value.clone_into(&mut self.client_name),
            session::TIME_ZONE => self.settings.push(Setting {
                // As text, and known to the server, who would take texts for other times.
                is_important: true,
                ..Setting::new(name, value)
            }),
            other => {
                let setting = match other.strip_prefix(SETTING) {
                    Some(setting) => setting,
                    None if is_setting(other) => other,
                    None => return Err(unknown(other)),
                };
                self.settings.push(Setting::new(setting, SettingValue::parse(value)));
            }
        }
        Ok(())
    }

    /// Whether any certificate is taken, which only matters for connections with TLS.
    fn accept_any_certificate(&mut self, accepts: bool) {
        if accepts || self.tls.is_some() {
            self.tls.get_or_insert_default().accepts_any_certificate = accepts;
        }
    }

    fn client_pem(&mut self) -> &mut ClientPem {
        let tls = self.tls.get_or_insert_default();
        tls.client_pem.get_or_insert_with(|| ClientPem {
            certificates: Vec::new(),
            key: Vec::new(),
        })
    }

    /// The port of `endpoint`, or the one that is usual.
    pub(crate) fn port(&self, endpoint: &Endpoint) -> u16 {
        endpoint.port.unwrap_or(if self.tls.is_some() { 9440 } else { 9000 })
    }
}

impl FromStr for Options {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self> {
        match Self::parse_with_table(url)? {
            (options, None) => Ok(options),
            (_, Some(table)) => Err(expected("url", &table, "no table after the database")),
        }
    }
}

/// The password is not shown.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("endpoints", &self.endpoints)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("compression", &self.compression)
            .field("tls", &self.tls)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl FromStr for Endpoint {
    type Err = Error;

    /// Parses `host`, `host:port`, `[address]` or `[address]:port`.
    fn from_str(text: &str) -> Result<Self> {
        // Without what is after the host: of a URL that is none it may be a password.
        let host_only = text.split(':').next().unwrap_or_default();
        let wrong = || expected("endpoint", host_only, "host or host:port");
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or_else(wrong)?;
                (
                    host,
                    if rest.is_empty() {
                        None
                    } else {
                        Some(rest.strip_prefix(':').ok_or_else(wrong)?)
                    },
                )
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        if host.is_empty() {
            return Err(wrong());
        }
        let port = port.map(|port| port.parse().map_err(|_| wrong())).transpose()?;
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?;
        } else {
            f.write_str(&self.host)?;
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The names and values in the query of a URL.
fn pairs(query: &str) -> Result<Vec<(String, String)>> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = match pair.split_once('=') {
            Some(pair) => pair,
            None if OPTIONS.contains(&canonical(pair)) || is_setting(pair) => (pair, "1"),
            // It may be a part of a password.
            None => {
                return Err(Error::Option {
                    option: "url".to_owned(),
                    expected: "NAME=VALUE pairs after the ?, where an & in a value is %26".to_owned(),
                });
            }
        };
        Ok((decoded(name, "a name in the query of the URL")?, decoded(value, name)?))
    });
    pairs.collect()
}

fn decoded(text: &str, what: &str) -> Result<String> {
    match percent_decode_str(text).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Error::Option {
            option: what.to_owned(),
            expected: "UTF-8 after the percent signs".to_owned(),
        }),
    }
}

/// What is in a file of certificates or a key.
fn pem(name: &str, path: &str) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| expected(name, path, &format!("a file that can be read ({error})")))
}

fn is_true(name: &str, value: &str) -> Result<bool> {
    keys::truth(value).ok_or_else(|| expected(name, value, "true or false"))
}

/// Seconds, or a duration as Go writes it: `10s`, `1m30s`, `500ms`.
fn seconds(name: &str, value: &str) -> Result<Duration> {
    keys::duration(value).ok_or_else(|| expected(name, value, "seconds, or a duration such as 1m30s"))
}

/// The same, above 0.
fn limit(name: &str, value: &str) -> Result<Duration> {
    keys::limit(value).ok_or_else(|| expected(name, value, "seconds above 0, or a duration such as 1m30s"))
}

/// Who logs in by a token: what servers know it by (ClickHouse, `src/Core/Protocol.h`, `JWT_AUTHENTICAION_MARKER`).
const TOKEN_USER: &str = " JWT AUTHENTICATION ";

/// The option that a name stands for, whatever client it comes from: those that all clients share, and those of ClickHouse's.
fn canonical(name: &str) -> &str {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or_else(|| keys::canonical(name), |(_, own)| own)
}

/// Whether a name is taken for that of a server's setting: nearly all of them have several words, and the others are few. What is a
/// letter away from an option is none.
fn is_setting(name: &str) -> bool {
    let has_words = name.contains('_') && keys::meant(name, OPTIONS).is_none();
    has_words || SHORT_SETTINGS.contains(&name)
}

fn unknown(name: &str) -> Error {
    let hint = match keys::meant(name, OPTIONS) {
        Some(meant) => format!("`{meant}`, most likely"),
        None => format!("one of {}", OPTIONS.join(", ")),
    };
    Error::Option {
        option: name.to_owned(),
        expected: format!("{hint}; a setting of the server is written `{SETTING}{name}`"),
    }
}

/// What stands in front of the name of a server's setting.
const SETTING: &str = "setting.";

/// All options, without aliases.
const OPTIONS: [&str; 29] = [
    "user",
    "password",
    "token",
    "database",
    "secure",
    "ca",
    "cert",
    "key",
    "verify",
    "server_name",
    "compression",
    "timeout",
    "connect_timeout",
    "read_timeout",
    "write_timeout",
    "idle_timeout",
    "keep_alive",
    "pool_timeout",
    "pool_size",
    "parallel",
    "collect_limit",
    "block_limit",
    "binary_strings",
    "quota_key",
    "client_name",
    "session_timezone",
    "connection",
    "config",
    "setting.NAME",
];

/// Settings of one word (ClickHouse, `src/Core/Settings.cpp`).
const SHORT_SETTINGS: [&str; 9] = [
    "dialect", "extremes", "final", "limit", "offset", "priority", "profile", "readonly", "workload",
];

/// Names that clients of ClickHouse give to options of ours: clickhouse-go, ch-go, clickhouse-driver for Python.
const ALIASES: [(&str, &str); 4] = [
    ("deadline", "timeout"),
    ("send_receive_timeout", "read_timeout"),
    ("max_open_conns", "pool_size"),
    ("jwt", "token"),
];

/// Names of options of other clients that are none here, and what is instead. A server would refuse them as settings.
const REFUSED: [(&str, &str); 8] = [
    (
        "alt_hosts",
        "several hosts stand side by side, as in clickhouse://one,two:9001/database",
    ),
    (
        "connection_open_strategy",
        "of several hosts each connection takes the next",
    ),
    ("debug", "a subscriber of the crate tracing gets what the client does"),
    ("block_buffer_size", "blocks are read as they are asked for"),
    (
        "max_idle_conns",
        "pool_size bounds all connections, and idle_timeout closes those that are idle",
    ),
    ("conn_max_lifetime", "idle_timeout closes connections that are idle"),
    (
        "http_proxy",
        "connections are of the native protocol, and go to the server itself",
    ),
    (
        "protocol",
        "connections are of the native protocol; its port is 9000, or 9440 with TLS",
    ),
];

fn expected(name: &str, value: &str, expected: &str) -> Error {
    Error::Option {
        option: format!("{name}={value}"),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_all() {
        let (options, table) = Options::parse_with_table(
            "clickhouse://us%40er:p%3Aw@one:9001,[::1]:9002,three/db/t?secure=1&read_timeout=0.5&max_threads=3&a_b=x%20y",
        )
        .unwrap();
        assert_eq!((options.user.as_str(), options.password.as_str()), ("us@er", "p:w"));
        assert_eq!(
            options.endpoints.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["one:9001", "[::1]:9002", "three"]
        );
        assert_eq!(options.port(&options.endpoints[2]), 9440);
        assert_eq!((options.database.as_str(), table.as_deref()), ("db", Some("t")));
        assert_eq!(options.read_timeout, Duration::from_millis(500));
        assert_eq!(
            options.settings,
            [Setting::new("max_threads", 3_u64), Setting::new("a_b", "x y")]
        );
        let options: Options = "clickhouse://h?deadline=2.5&binary_strings=true&collect_limit=1000"
            .parse()
            .unwrap();
        assert_eq!(options.deadline, Some(Duration::from_millis(2500)));
        assert_eq!((options.strings, options.collect_limit), (StringType::Binary, 1000));
        assert_eq!(options.settings, []);
    }

    #[test]
    fn names_that_mean_nothing_are_refused_and_settings_have_a_way_in() {
        for (name, hint) in [
            ("verfy", "`verify`"),
            ("conect_timeout", "`connect_timeout`"),
            ("pool-size", "`pool_size`"),
            ("Timeout", "`timeout`"),
            ("colour", "one of user,"),
            ("", "one of user,"),
        ] {
            let mut options = Options::new("h").unwrap();
            let error = options.set(name, "1").unwrap_err().to_string();
            assert!(error.contains(hint) && error.contains("`setting."), "{name}: {error}");
        }
        let url = "clickhouse://h?setting.verify=1&setting.max_threads=3&send_timeout=5&readonly=1&timeout=2.5&ca=%2Fdev%2Fnull";
        let options: Options = url.parse().unwrap();
        let settings = ["verify", "max_threads", "send_timeout", "readonly"];
        assert_eq!(
            options.settings.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            settings
        );
        assert_eq!(options.deadline, Some(Duration::from_millis(2500)));
        assert!(options.tls.is_some());
    }

    #[test]
    fn names_of_other_clients_mean_what_they_mean_there() {
        let options: Options =
            "clickhouse://h?username=ann&compress=false&dial_timeout=1m30s&send_receive_timeout=0.5&\
                                max_open_conns=3&secure=true&skip_verify=true"
                .parse()
                .unwrap();
        assert_eq!((options.user.as_str(), options.pool_size), ("ann", 3));
        assert_eq!(options.compression, Compression::None);
        assert_eq!(options.connect_timeout, Duration::from_secs(90));
        assert_eq!(options.read_timeout, Duration::from_millis(500));
        assert!(options.tls.is_some_and(|tls| tls.accepts_any_certificate));
        assert_eq!(options.settings, []);
        let plain: Options = "clickhouse://h?verify=true".parse().unwrap();
        assert_eq!((plain.tls, plain.settings), (None, Vec::new()));
        for (name, _) in REFUSED {
            let error = format!("clickhouse://h?{name}=1")
                .parse::<Options>()
                .unwrap_err()
                .to_string();
            assert!(error.contains(name), "{error}");
        }
        for wrong in ["10x", "s", "", "-1s", "1s2"] {
            let url = format!("clickhouse://h?dial_timeout={wrong}");
            assert!(url.parse::<Options>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_certificate_and_its_key_go_together() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "PEM").unwrap();
        let path = file.path().display();
        for half in ["cert", "client_key"] {
            let url = format!("clickhouse://h?{half}={path}");
            let error = url.parse::<Options>().unwrap_err().to_string();
            assert!(error.contains("go together"), "{error}");
        }
        let both = format!("clickhouse://h?key={path}&certfile={path}")
            .parse::<Options>()
            .unwrap();
        assert!(both.tls.is_some_and(|tls| tls.client_pem.is_some()));
    }

    #[test]
    fn a_token_logs_in_and_is_not_shown() {
        let options: Options = "clickhouse://h?token=eyJ.secret.x".parse().unwrap();
        assert_eq!(
            (options.user.as_str(), options.password.as_str()),
            (TOKEN_USER, "eyJ.secret.x")
        );
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn who_asks_may_stand_behind_the_question_mark() {
        let options: Options = "clickhouse://h?user=u&password=secret&database=d&server_name=n"
            .parse()
            .unwrap();
        assert_eq!((options.user.as_str(), options.password.as_str()), ("u", "secret"));
        assert_eq!(options.database, "d");
        assert_eq!(options.tls.as_ref().unwrap().server_name.as_deref(), Some("n"));
        assert!(!format!("{options:?}").contains("secret"));
        let options: Options = "clickhouse://u:se#c@r:et@h/d?setting.x=a@b/c".parse().unwrap();
        assert_eq!(
            (options.password.as_str(), options.endpoints[0].host.as_str()),
            ("se#c@r:et", "h")
        );
        assert_eq!(options.settings, [Setting::new("x", "a@b/c")]);
    }

    #[test]
    fn without_a_host_the_settings_of_clickhouse_client_count() {
        let file = tempfile::Builder::new().suffix(".xml").tempfile().unwrap();
        let config = "<config><host>one</host><user>u</user><password>secret</password><database>d</database>\
            <connections_credentials><connection><name>staging</name><hostname>two</hostname><port>9001</port></connection>\
            </connections_credentials></config>";
        std::fs::write(file.path(), config).unwrap();
        let parsed = |path: &str, more: &str| {
            let url = format!("clickhouse:///{path}?config={}{more}", file.path().display());
            Options::parse_with_table(&url)
        };
        let (options, table) = parsed("", "").unwrap();
        assert_eq!((options.endpoints[0].host.as_str(), table), ("one", None));
        assert_eq!(
            (
                options.user.as_str(),
                options.password.as_str(),
                options.database.as_str()
            ),
            ("u", "secret", "d")
        );
        let (options, table) = parsed("e/t", "&connection=staging&user=v&max_threads=3").unwrap();
        assert_eq!(options.endpoints[0].to_string(), "two:9001");
        assert_eq!(
            (options.user.as_str(), options.database.as_str(), table.as_deref()),
            ("v", "e", Some("t"))
        );
        assert_eq!(options.settings, [Setting::new("max_threads", 3_u64)]);
        let (options, table) = parsed("/t", "").unwrap();
        assert_eq!((options.database.as_str(), table.as_deref()), ("d", Some("t")));
        let error = parsed("", "&connection=production").unwrap_err();
        assert!(error.to_string().contains("connection=production"), "{error}");
    }

    #[test]
    fn wrong_urls_are_refused_without_their_password() {
        for url in [
            "http://u:secret@h",
            "clickhouse://u:secret@",
            "clickhouse://u:secret@h:port",
            "clickhouse://u:secret@h?secure=2",
            "clickhouse://u:secret@h?pool_size=0",
            "clickhouse://u:secret@h?read_timeout=-1",
            "clickhouse://u:secret@h?compression=lzma",
            "clickhouse://u:secret@h?deadline=soon",
            "clickhouse://u:secret@h?binary_strings=2",
            "clickhouse://u:secret@h?collect_limit=1G",
            "clickhouse://u:secret@[::1",
            "clickhouse://u:secret@h,",
            "clickhouse://u:p/secret@h/d",
            "clickhouse://u:1/secret@h/d",
            "clickhouse://u:secret/p@h/d",
            "clickhouse://u:p?secret@h/d",
            "clickhouse://u:1?secret@h/d",
            "clickhouse://u:secret?p@h/d",
            "clickhouse://u:1?p@h/secret=1",
            "clickhouse://h?password=secret&ca=/nowhere",
            "clickhouse://h?Password=secret",
            "clickhouse://h?password=secret&secure=false&verify=false",
            "clickhouse://h?password=secret&verify=false&secure=false",
            "clickhouse://h?password=secret&timeout=0",
            "clickhouse://h?password=secret&connect_timeout=0s",
            "clickhouse://h?password=a&secret",
        ] {
            let error = url.parse::<Options>().unwrap_err();
            assert!(matches!(error, Error::Option { .. }), "{url}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
    }
}
