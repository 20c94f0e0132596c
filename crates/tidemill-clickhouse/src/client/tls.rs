//! Encrypted connections, by rustls.

use std::{io::BufReader, sync::Arc};

use tokio_rustls::{
    TlsConnector,
    rustls::{
        self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature},
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    },
};

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
    /// Makes what connections are encrypted with.
    pub(crate) fn connector(&self) -> Result<TlsConnector> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("tls", &error))?;
        let builder = if self.accepts_any_certificate {
            let verifier = AnyCertificate(ring::default_provider().signature_verification_algorithms);
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        } else {
            builder.with_root_certificates(self.roots()?)
        };
        let config = match &self.client_pem {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let certificates = certificates(&pem.certificates, "the client's certificate")?;
                let key = PrivateKeyDer::from_pem_slice(&pem.key).map_err(|error| wrong("the client's key", &error))?;
                builder
                    .with_client_auth_cert(certificates, key)
                    .map_err(|error| wrong("the client's certificate", &error))?
            }
        };
        Ok(TlsConnector::from(Arc::new(config)))
    }

    /// The name that the certificate of the server at `host` must have.
    pub(crate) fn server_name(&self, host: &str) -> Result<ServerName<'static>> {
        let name = self.server_name.as_deref().unwrap_or(host);
        ServerName::try_from(name.to_owned()).map_err(|error| wrong("the server's name", &error))
    }

    fn roots(&self) -> Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        match &self.trusted_pem {
            Some(pem) => {
                for certificate in certificates(pem, "the trusted certificates")? {
                    roots
                        .add(certificate)
                        .map_err(|error| wrong("the trusted certificates", &error))?;
                }
            }
            None => {
                // Some certificates of a system may be of kinds that nobody reads: those are left out.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() {
            return Err(Error::Option {
                option: "the trusted certificates".to_owned(),
                expected: "at least one".to_owned(),
            });
        }
        Ok(roots)
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
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_reader_iter(BufReader::new(pem)).collect::<std::result::Result<Vec<_>, _>>();
    certificates.map_err(|error| wrong(what, &error))
}

fn wrong(what: &str, error: &dyn std::error::Error) -> Error {
    Error::Option {
        option: what.to_owned(),
        expected: format!("what TLS can use: {error}"),
    }
}
