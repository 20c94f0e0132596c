//! Encrypted connections, by rustls.

use std::sync::Arc;

use tidemill_client::tls::{self, Pem, Settings};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use crate::{Error, Result};

/// How connections are encrypted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TlsOptions {
    /// Certificates that are trusted, as PEM, instead of the system's. Default: the system's.
    pub trusted_pem: Option<Vec<u8>>,
    /// The client's certificate and those that sign it, and its key, as PEM. Default: none.
    pub client_pem: Option<ClientPem>,
    /// The name that the server's certificate must have. Default: the host.
    pub server_name: Option<String>,
    /// Whether any certificate of the server is taken: by anybody, of any name, out of date. The connection is then encrypted,
    /// but for whoever answers. Default: false.
    pub accepts_any_certificate: bool,
}

/// A certificate and its key.
#[derive(Clone, Eq, PartialEq)]
pub struct ClientPem {
    /// The certificate, then those that sign it.
    pub certificates: Vec<u8>,
    /// The key.
    pub key: Vec<u8>,
}

/// The key is not shown.
impl std::fmt::Debug for ClientPem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientPem").finish_non_exhaustive()
    }
}

impl TlsOptions {
    /// That there is a key where there is a certificate, and the other way round.
    pub(crate) fn check_pair(&self) -> Result<()> {
        let is_half = |own: &ClientPem| own.certificates.is_empty() != own.key.is_empty();
        match self.client_pem.as_ref().is_some_and(is_half) {
            true => Err(Error::Option {
                option: "cert".to_owned(),
                expected: "`key` beside it: the client's certificate and its key go together".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Makes what connections are encrypted with.
    pub(crate) fn connector(&self) -> Result<TlsConnector> {
        self.check_pair()?;
        let pem = |name: &str, bytes: &[u8]| Pem {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        };
        let trusted = self.trusted_pem.as_ref();
        let client = self.client_pem.as_ref();
        let settings = Settings {
            trusted: trusted.map(|bytes| pem("the trusted certificates (`ca`)", bytes)),
            identity: client.map(|own| {
                (
                    pem("the client's certificate (`cert`)", &own.certificates),
                    pem("the client's key (`key`)", &own.key),
                )
            }),
            accepts_any_certificate: self.accepts_any_certificate,
        };
        let config = tls::config(&settings).map_err(|error| wrong(&error.name, &error.problem))?;
        Ok(TlsConnector::from(Arc::new(config)))
    }

    /// The name that the certificate of the server at `host` must have.
    pub(crate) fn server_name(&self, host: &str) -> Result<ServerName<'static>> {
        let name = self.server_name.as_deref().unwrap_or(host);
        ServerName::try_from(name.to_owned()).map_err(|error| wrong("the server's name", &error.to_string()))
    }
}

fn wrong(what: &str, problem: &str) -> Error {
    Error::Option {
        option: what.to_owned(),
        expected: format!("what TLS can use: {problem}"),
    }
}
