//! Encrypted connections to a cluster.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Error, Result};
use crate::options::TlsOptions;

/// What connections are encrypted with.
///
/// # Errors
///
/// [`Error::Tls`] when a file can't be read or is not what it should be.
pub fn config(options: &TlsOptions) -> Result<Arc<ClientConfig>> {
    let wrong = |error: rustls::Error| Error::Tls {
        what: error.to_string(),
    };
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    let builder = match options.verify {
        true => builder.with_root_certificates(roots(options.authorities.as_deref())?),
        false => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(algorithms))),
    };
    Ok(Arc::new(match &options.identity {
        Some((certificate, key)) => {
            let own = certificates(certificate)?;
            let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(unread(key))?;
            builder.with_client_auth_cert(own, key).map_err(wrong)?
        }
        None => builder.with_no_client_auth(),
    }))
}

fn roots(authorities: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(path) => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(unread(path))?;
            }
        }
        None => {
            // Some certificates of a system may be of kinds that nobody reads: those are left out.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let pem = read(path)?;
    let all: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(unread(path))?;
    match all.is_empty() {
        true => Err(unread(path)("expected a certificate, found none")),
        false => Ok(all),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(unread(path))
}

fn unread<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> Error + '_ {
    move |error| Error::Tls {
        what: format!("{}: {error}", path.display()),
    }
}

/// Takes any certificate. That the server has its key is checked all the same.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
