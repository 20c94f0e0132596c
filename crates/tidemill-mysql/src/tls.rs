//! Encrypted connections to a server.

use std::sync::Arc;

use tidemill_client::tls::{self, Settings};
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
    let identity = identity.map(|(certificate, key)| (certificate.as_path(), key.as_path()));
    let settings = Settings::of_files(options.authorities.as_deref(), identity, options.verify);
    let config = settings.and_then(|settings| tls::config(&settings));
    config.map(Arc::new).map_err(|error| Error::Tls {
        what: error.to_string(),
    })
}
