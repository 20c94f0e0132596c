//! Encrypted connections to a cluster.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::args::ConnectionArgs;
use crate::error::{Error, Result};

/// What connections are encrypted with, when they are.
pub(super) fn config(options: &ConnectionArgs) -> Result<Option<Arc<ClientConfig>>> {
    if !options.ssl {
        return Ok(None);
    }
    let wrong = |e: rustls::Error| Error::Misuse(format!("TLS: {e}"));
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    let builder = if options.ssl_peer_verification {
        builder.with_root_certificates(roots(options.ssl_ca.as_deref())?)
    } else {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(algorithms)))
    };
    let config = match (&options.ssl_cert, &options.ssl_key) {
        (Some(certificate), Some(key)) => {
            let key = PrivateKeyDer::from_pem_slice(&read(key)?)
                .map_err(|e| Error::Misuse(format!("{}: {e}", key.display())))?;
            builder
                .with_client_auth_cert(certificates(certificate)?, key)
                .map_err(wrong)?
        }
        (None, None) => builder.with_no_client_auth(),
        _ => return Err(Error::Misuse("--ssl-cert and --ssl-key go together".to_owned())),
    };
    Ok(Some(Arc::new(config)))
}

fn roots(authority: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match authority {
        Some(path) => {
            for certificate in certificates(path)? {
                roots
                    .add(certificate)
                    .map_err(|e| Error::Misuse(format!("{}: {e}", path.display())))?;
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
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let all = all.map_err(|e| Error::Misuse(format!("{}: {e}", path.display())))?;
    if all.is_empty() {
        return Err(Error::Misuse(format!(
            "{}: expected a certificate, found none",
            path.display()
        )));
    }
    Ok(all)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io("read", path))
}

/// Takes any certificate, as Latte does. That the server has its key is checked all the same.
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
