//! The settings of `clickhouse-client`: its configuration file and environment, taken as it takes them.
//!
//! ```no_run
//! # async fn example() -> tidemill_clickhouse::Result<()> {
//! use tidemill_clickhouse::client::{Client, Options};
//!
//! // What `clickhouse-client --connection staging` would connect to.
//! let client = Client::with_options(Options::from_client_config(None, Some("staging"))?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The file is the first of these that exists, each with the ending `.xml`, `.yaml` or `.yml`: `./clickhouse-client`,
//! `$XDG_CONFIG_HOME/clickhouse/config` (or `~/.config/clickhouse/config`), `~/.clickhouse-client/config`,
//! `/etc/clickhouse-client/config`. Taken from it are
//!
//! | element | option |
//! |---|---|
//! | `host`, `port` (or `tcp_port`, `tcp_port_secure`) | [`Options::endpoints`] |
//! | `user`, `password`, `database`, `quota_key` | those of [`Options`] |
//! | `secure`, `no-secure` | [`Options::tls`]; port 9440 and hosts of ClickHouse Cloud are encrypted as well |
//! | `compression` (whether), `network_compression_method` (how) | [`Options::compression`] |
//! | `connect_timeout`, `receive_timeout`, `send_timeout` in seconds | [`Options::connect_timeout`], `read_timeout`, `write_timeout` |
//! | `tcp_keep_alive_timeout` in seconds | [`Options::keep_alive`] |
//! | `tls-sni-override` | `TlsOptions::server_name` |
//! | `openSSL.client.caConfig` | `TlsOptions::trusted_pem`, a file or a folder of them, instead of the system's |
//! | `openSSL.client.certificateFile`, `privateKeyFile` | `TlsOptions::client_pem`; without a key it is in the certificate's file |
//! | `openSSL.client.verificationMode` `none`, `invalidCertificateHandler.name` `AcceptCertificateHandler`, `accept-invalid-certificate` | `TlsOptions::accepts_any_certificate` |
//! | `connections_credentials`, of each `connection` `name`, `hostname`, `port`, `secure`, `user`, `password`, `database`, `accept-invalid-certificate` | over all of the above, for the connection that is asked for, or the one that is named as the host |
//!
//! `CLICKHOUSE_HOST`, `CLICKHOUSE_USER` and `CLICKHOUSE_PASSWORD` of the environment stand in for what the file does not say.
//! An element with the attribute `from_env` has its text from the environment.
//!
//! Sources: the documentation of ClickHouse, "Command-line client", section "Configuration files";
//! `Common/Config/getClientConfigPath.cpp`, `parseConnectionCredentials.cpp`, `YAMLParser.cpp`, `Client/ConnectionParameters.cpp`
//! and `programs/client/Client.cpp`.
//!
//! Not taken are settings of queries, which in that file cannot be told from settings of the program, what is for a terminal
//! (history, prompt, formats), SSH keys and tokens. Folders of further files (`config.d`) are not merged, and elements that
//! are to be had elsewhere (`incl`, `from_zk`) are refused.

mod element;
mod xml;
mod yaml;

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use self::element::Element;
use super::{ClientPem, Endpoint, Options, TlsOptions};
use crate::{Compression, Error, Result};

impl Options {
    /// Makes options of what `clickhouse-client` would use: of the file at `path`, or where it looks for one, and of the
    /// environment. `connection` is one of those that the file names. Without a file the options are those of the
    /// environment, and `localhost`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] when the file cannot be read or understood, has a value that is none, names a certificate that
    /// cannot be read, or has no connection of that name; [`Error::Limit`] for a file of more than a mebibyte, or elements in
    /// one another without an end; [`Error::Unsupported`] for elements that are to be had elsewhere. Passwords are in none of
    /// them.
    pub fn from_client_config(path: Option<&Path>, connection: Option<&str>) -> Result<Self> {
        let places = Places {
            here: PathBuf::from("."),
            system: PathBuf::from("/etc"),
            environment: &|name| env::var(name).ok(),
        };
        places.options(path, connection)
    }
}

/// Where a client looks.
struct Places<'a> {
    here: PathBuf,
    system: PathBuf,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl Places<'_> {
    fn options(&self, path: Option<&Path>, connection: Option<&str>) -> Result<Options> {
        let config = match path.map(Path::to_owned).or_else(|| self.find()) {
            Some(path) => self.read(&path)?,
            None => Element::default(),
        };
        Chosen::new(&config, connection, self.environment)?.options()
    }

    fn find(&self) -> Option<PathBuf> {
        let variable = |name| {
            (self.environment)(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = variable("HOME");
        let config_home = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        let stems = [
            Some(self.here.join("clickhouse-client")),
            config_home.map(|folder| folder.join("clickhouse/config")),
            home.map(|folder| folder.join(".clickhouse-client/config")),
            Some(self.system.join("clickhouse-client/config")),
        ];
        let files = stems.into_iter().flatten().flat_map(|stem| {
            let stem = stem.into_os_string();
            ENDINGS.map(|ending| {
                let mut file = stem.clone();
                file.push(ending);
                PathBuf::from(file)
            })
        });
        files.into_iter().find(|file| file.exists())
    }

    fn read(&self, path: &Path) -> Result<Element> {
        let length = fs::metadata(path).map_err(|error| unreadable(path, &error))?.len();
        if length > MAX_FILE {
            return Err(Error::Limit {
                what: "the length of a configuration file",
                limit: MAX_FILE,
                found: length,
            });
        }
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let parsed = match path.extension().and_then(|ending| ending.to_str()) {
            Some("yaml" | "yml") => yaml::parse(&text, self.environment),
            _ => xml::parse(&text, self.environment),
        };
        parsed.map_err(|error| match error {
            Error::Option { option, expected } => Error::Option {
                option: format!("{}: {option}", path.display()),
                expected,
            },
            other => other,
        })
    }
}

/// A configuration, and what goes over it and under it.
struct Chosen<'a> {
    config: &'a Element,
    connection: Option<&'a Element>,
    host: String,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Chosen<'a> {
    fn new(
        config: &'a Element,
        connection: Option<&str>,
        environment: &'a dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let host = config.text_at("host").map(str::to_owned);
        let host = host
            .or_else(|| environment("CLICKHOUSE_HOST"))
            .unwrap_or_else(|| "localhost".to_owned());
        let wanted = connection.unwrap_or(&host);
        let connections = config.get("connections_credentials").into_iter();
        // Of two with one name the last counts.
        let found = connections
            .flat_map(Element::children)
            .rfind(|element| element.text_at("name") == Some(wanted));
        if connection.is_some() && found.is_none() {
            return Err(Error::Option {
                option: format!("connection={wanted}"),
                expected: "one of connections_credentials in the configuration file".to_owned(),
            });
        }
        let host = match found {
            Some(found) => found.text_at("hostname").unwrap_or(wanted).to_owned(),
            None => host,
        };
        Ok(Self {
            config,
            connection: found,
            host,
            environment,
        })
    }

    fn options(&self) -> Result<Options> {
        let mut options = Options::new("localhost")?;
        let port = self.number("port")?;
        let is_secure = self.is_secure(port)?;
        let port = match port {
            Some(port) => Some(port),
            None => self.number(if is_secure { "tcp_port_secure" } else { "tcp_port" })?,
        };
        options.endpoints = vec![Endpoint {
            host: self.host.clone(),
            port,
        }];
        for (name, variable, option) in [
            ("user", "CLICKHOUSE_USER", &mut options.user),
            ("password", "CLICKHOUSE_PASSWORD", &mut options.password),
            ("database", "", &mut options.database),
            ("quota_key", "", &mut options.quota_key),
        ] {
            let written = self.get(name).map(|element| element.raw_text().to_owned());
            let stands_in = || {
                Some(variable)
                    .filter(|name| !name.is_empty())
                    .and_then(self.environment)
            };
            if let Some(text) = written.or_else(stands_in) {
                *option = text;
            }
        }
        for (name, option) in [
            ("connect_timeout", &mut options.connect_timeout),
            ("receive_timeout", &mut options.read_timeout),
            ("send_timeout", &mut options.write_timeout),
            ("tcp_keep_alive_timeout", &mut options.keep_alive),
        ] {
            if let Some(text) = self.text(name) {
                let seconds = text.parse().ok();
                let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                *option = time.ok_or_else(|| wrong(name, text, "seconds"))?;
            }
        }
        if let Some(method) = self.text("network_compression_method") {
            options.compression = method.to_ascii_lowercase().parse()?;
        }
        if self.flag("compression")? == Some(false) {
            options.compression = Compression::None;
        }
        if is_secure {
            options.tls = Some(self.tls()?);
        }
        Ok(options)
    }

    fn is_secure(&self, port: Option<u16>) -> Result<bool> {
        if self.flag("secure")? == Some(true) {
            return Ok(true);
        }
        let is_forbidden = self.flag("no-secure")? == Some(true);
        Ok(!is_forbidden && (self.host.ends_with(CLOUD) || port == Some(SECURE_PORT)))
    }

    fn tls(&self) -> Result<TlsOptions> {
        let mut tls = TlsOptions::default();
        let file = |name: &str| self.config.text_at(&format!("openSSL.client.{name}")).map(Path::new);
        if let Some(path) = file("caConfig") {
            tls.trusted_pem = Some(certificates(path)?);
        }
        if let Some(certificate) = file("certificateFile") {
            tls.client_pem = Some(ClientPem {
                certificates: read_bytes(certificate)?,
                key: read_bytes(file("privateKeyFile").unwrap_or(certificate))?,
            });
        }
        tls.server_name = self.text("tls-sni-override").map(str::to_owned);
        let is = |name: &str, value: &str| {
            let found = self.config.text_at(&format!("openSSL.client.{name}"));
            found.is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        tls.accepts_any_certificate = is("verificationMode", "none")
            || is("invalidCertificateHandler.name", "AcceptCertificateHandler")
            || self.flag("accept-invalid-certificate")? == Some(true);
        Ok(tls)
    }

    /// The element of the connection, or of the file.
    fn get(&self, name: &str) -> Option<&'a Element> {
        let connection = self.connection.and_then(|element| element.get(name));
        connection.or_else(|| self.config.get(name))
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).map(Element::text)
    }

    fn number(&self, name: &str) -> Result<Option<u16>> {
        let number = self.text(name).map(|text| {
            let number = text.parse().map_err(|_| wrong(name, text, "a number of 16 bits"));
            number.map(Some)
        });
        number.unwrap_or(Ok(None))
    }

    /// Source: `Poco::Util::AbstractConfiguration::parseBool`.
    fn flag(&self, name: &str) -> Result<Option<bool>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(Some(true)),
            "0" | "false" | "no" | "off" => Ok(Some(false)),
            _ => Err(wrong(name, text, "true or false")),
        }
    }
}

/// The certificates of a file, or of all files of a folder.
fn certificates(path: &Path) -> Result<Vec<u8>> {
    if !path.is_dir() {
        return read_bytes(path);
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
        let file = entry.map_err(|error| unreadable(path, &error))?.path();
        if file.is_file() {
            all.extend(read_bytes(&file)?);
            all.push(b'\n');
        }
    }
    Ok(all)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::Option {
        option: path.display().to_string(),
        expected: format!("a file that can be read: {error}"),
    }
}

fn wrong(name: &str, found: &str, expected: &str) -> Error {
    Error::Option {
        option: format!("{name}={found}"),
        expected: expected.to_owned(),
    }
}

const ENDINGS: [&str; 3] = [".xml", ".yaml", ".yml"];
const MAX_FILE: u64 = 1 << 20;
/// `DBMS_DEFAULT_SECURE_PORT` of ClickHouse.
const SECURE_PORT: u16 = 9440;
const CLOUD: &str = ".clickhouse.cloud";

#[cfg(test)]
mod tests;
