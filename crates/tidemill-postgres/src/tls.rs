//! Encrypted connections to a server.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tidemill_client::tls::{self, Pem, Settings};
use tokio_rustls::rustls::ClientConfig;

use crate::error::{Error, Result};
use crate::options::TlsOptions;

/// What connections are encrypted with.
///
/// # Errors
///
/// [`Error::Tls`] when a file can't be read or is not what it should be.
pub(crate) fn config(options: &TlsOptions) -> Result<Arc<ClientConfig>> {
    let identity = options.identity.as_ref();
    let settings = Settings {
        trusted: options.authorities.as_deref().map(pem).transpose()?,
        identity: identity
            .map(|(certificate, key)| Ok::<_, Error>((pem(certificate)?, pem(key)?)))
            .transpose()?,
        accepts_any_certificate: !options.verify,
    };
    let config = tls::config(&settings).map_err(|error| Error::Tls {
        what: error.to_string(),
    })?;
    Ok(Arc::new(config))
}

fn pem(path: &Path) -> Result<Pem> {
    let name = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => Ok(Pem { name, bytes }),
        Err(error) => Err(Error::Tls {
            what: format!("{name}: {error}"),
        }),
    }
}
