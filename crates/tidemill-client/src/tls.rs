//! What connections are encrypted with, by rustls.

use std::{fmt, path::Path, sync::Arc};

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
};

/// What is trusted, and who the client is.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Certificates that are trusted instead of the system's. Default: the system's.
    pub trusted: Option<Pem>,
    /// The client's certificate with those that sign it, and its key. Default: none.
    pub identity: Option<(Pem, Pem)>,
    /// Whether any certificate of the server is taken: by anybody, of any name, out of date. Default: false.
    pub accepts_any_certificate: bool,
}

impl Settings {
    /// Reads the files that a client's options name.
    ///
    /// # Errors
    ///
    /// [`Error`] for a file that cannot be read.
    pub fn of_files(trusted: Option<&Path>, identity: Option<(&Path, &Path)>, verify: bool) -> Result<Self, Error> {
        let identity = identity.map(|(certificate, key)| Ok::<_, Error>((Pem::read(certificate)?, Pem::read(key)?)));
        Ok(Self {
            trusted: trusted.map(Pem::read).transpose()?,
            identity: identity.transpose()?,
            accepts_any_certificate: !verify,
        })
    }
}

/// A text in PEM, and what errors call it: the path of a file, or what it is.
#[derive(Clone)]
pub struct Pem {
    /// What errors call it.
    pub name: String,
    /// The text.
    pub bytes: Vec<u8>,
}

impl Pem {
    /// # Errors
    ///
    /// [`Error`] for a file that cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self { name, bytes }),
            Err(error) => Err(Error {
                name,
                problem: error.to_string(),
            }),
        }
    }
}

/// The text may be a key, and is not shown.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pem").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why connections cannot be encrypted so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The [`Pem`] that it is about, or `TLS`.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.problem)
    }
}

impl std::error::Error for Error {}

/// Makes what connections are encrypted with: TLS 1.2 and 1.3, by *ring*.
///
/// # Errors
///
/// [`Error`] for PEM that holds no certificate or key, a key that is not the certificate's, and a system without any certificate.
pub fn config(settings: &Settings) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong("TLS"))?;
    let builder = match settings.accepts_any_certificate {
        true => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(algorithms))),
        false => builder.with_root_certificates(roots(settings.trusted.as_ref())?),
    };
    match &settings.identity {
        None => Ok(builder.with_no_client_auth()),
        Some((certificate, key)) => {
            let certificates = certificates(certificate)?;
            let own = PrivateKeyDer::from_pem_slice(&key.bytes).map_err(wrong(&key.name))?;
            builder
                .with_client_auth_cert(certificates, own)
                .map_err(wrong(&key.name))
        }
    }
}

fn roots(trusted: Option<&Pem>) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    let Some(pem) = trusted else {
        // Some certificates of a system may be of kinds that nobody reads: those are left out.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return match roots.is_empty() {
            true => Err(wrong("TLS")(
                "the system has no trusted certificates; name a file of them",
            )),
            false => Ok(roots),
        };
    };
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(wrong(&pem.name))?;
    }
    Ok(roots)
}

fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, Error> {
    let all = CertificateDer::pem_slice_iter(&pem.bytes).collect::<Result<Vec<_>, _>>();
    let all = all.map_err(wrong(&pem.name))?;
    match all.is_empty() {
        true => Err(wrong(&pem.name)("expected a certificate, found none")),
        false => Ok(all),
    }
}

fn wrong<E: fmt::Display>(name: &str) -> impl FnOnce(E) -> Error + '_ {
    move |error| Error {
        name: name.to_owned(),
        problem: error.to_string(),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use rcgen::generate_simple_self_signed;

    use super::*;

    fn pem(name: &str, text: &str) -> Pem {
        Pem {
            name: name.to_owned(),
            bytes: text.as_bytes().to_vec(),
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_key_is_shown() {
        let signed = generate_simple_self_signed(["h".to_owned()]).unwrap();
        let (certificate, key) = (signed.cert.pem(), signed.signing_key.serialize_pem());
        let other = generate_simple_self_signed(["h".to_owned()]).unwrap();
        let other = other.signing_key.serialize_pem();
        let settings = |trusted: &str, own: &str, key: &str| Settings {
            trusted: Some(pem("ca.pem", trusted)),
            identity: Some((pem("cert.pem", own), pem("key.pem", key))),
            accepts_any_certificate: false,
        };
        let right = settings(&certificate, &certificate, &key);
        config(&right).unwrap();
        let shown = format!("{right:?}");
        assert!(shown.contains("key.pem") && !shown.contains("BEGIN"), "{shown}");
        for (settings, name) in [
            (settings("", &certificate, &key), "ca.pem"),
            (settings(&key, &certificate, &key), "ca.pem"),
            (settings(&certificate, "nothing", &key), "cert.pem"),
            (settings(&certificate, &certificate, &certificate), "key.pem"),
            (settings(&certificate, &certificate, &other), "key.pem"),
        ] {
            assert_eq!(config(&settings).unwrap_err().name, name);
        }
    }
}
