//! Encrypted connections: to the real server, and to one behind a proxy that encrypts as servers of today do.

use std::{env, net::SocketAddr, process::Command, sync::Arc, time::Duration};

use arrow_array::{cast::AsArray, types::UInt8Type};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tidemill_clickhouse::{
    Error,
    client::{Client, ClientPem, Options, TlsOptions},
};
use tidemill_testkit::{ClickHouse, ServerPem};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, pem::PemObject},
        server::WebPkiClientVerifier,
    },
};

fn options(server: SocketAddr) -> Options {
    crate::impatient::options(server, Duration::from_secs(5), Duration::from_secs(10))
}

async fn one(client: &Client) -> Result<u8, Error> {
    let batches = client.query("SELECT 1").collect().await?;
    Ok(batches[0].column(0).as_primitive::<UInt8Type>().value(0))
}

fn refused_by_tls(error: &Error) -> bool {
    let action = "agree on TLS with the server";
    matches!(error, Error::Io { action: found, .. } if *found == action)
}

/// A certificate authority, and PEM of a certificate of its own making with its key.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        // Names of its own: who has the name of its issuer has signed itself.
        parameters.distinguished_name.push(DnType::CommonName, "authority");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    fn issue(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        (parameters.signed_by(&key, &self.0).unwrap(), key)
    }
}

/// TLS in front of a server.
async fn encrypted(server: SocketAddr, authority: &Authority, client_must_show: bool) -> SocketAddr {
    let (certificate, key) = authority.issue("localhost");
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if client_must_show {
        let mut roots = RootCertStore::empty();
        roots.add(authority.0.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    let config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let (Ok(mut near), Ok(mut far)) = (acceptor.accept(socket).await, TcpStream::connect(server).await) {
                    let _ = copy_bidirectional(&mut near, &mut far).await;
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn tls_trusts_its_authority_and_nobody_else() {
    let Some(server) = ClickHouse::need() else { return };
    let authority = Authority::new();
    let address = encrypted(server.native(), &authority, false).await;
    let with = |trusted: &Authority, name: &str| {
        let mut tls = TlsOptions::default();
        tls.trusted_pem = Some(trusted.pem());
        tls.server_name = Some(name.to_owned());
        let mut options = options(address);
        options.tls = Some(tls);
        options
    };
    let client = Client::with_options(with(&authority, "localhost")).await.unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
    let mut rows = 0;
    let mut stream = client
        .query("SELECT number FROM system.numbers LIMIT 1000000")
        .await
        .unwrap();
    while let Some(batch) = stream.next().await.unwrap() {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 1_000_000);

    for wrong in [with(&Authority::new(), "localhost"), with(&authority, "elsewhere")] {
        let refused = Client::with_options(wrong).await.unwrap_err();
        assert!(
            matches!(
                refused,
                Error::Io {
                    action: "agree on TLS with the server",
                    ..
                }
            ),
            "{refused:?}"
        );
    }
    // Unless it is told to trust anybody.
    let mut careless = with(&Authority::new(), "elsewhere");
    if let Some(tls) = &mut careless.tls {
        tls.accepts_any_certificate = true;
    }
    assert_eq!(one(&Client::with_options(careless).await.unwrap()).await.unwrap(), 1);
}

#[tokio::test]
async fn tls_shows_the_client_s_certificate() {
    let Some(server) = ClickHouse::need() else { return };
    let authority = Authority::new();
    let mut options = options(encrypted(server.native(), &authority, true).await);
    let mut tls = TlsOptions::default();
    tls.trusted_pem = Some(authority.pem());
    tls.server_name = Some("localhost".to_owned());
    options.tls = Some(tls.clone());
    assert!(Client::with_options(options.clone()).await.is_err());
    let (certificate, key) = authority.issue("client");
    tls.client_pem = Some(ClientPem {
        certificates: certificate.pem().into_bytes(),
        key: key.serialize_pem().into_bytes(),
    });
    options.tls = Some(tls);
    let client = Client::with_options(options).await.unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
}

#[tokio::test]
async fn the_server_hears_which_name_is_meant() {
    let authority = Authority::new();
    let (certificate, key) = authority.issue("inner.example.com");
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut tls = TlsOptions::default();
    tls.trusted_pem = Some(authority.pem());
    tls.server_name = Some("inner.example.com".to_owned());
    let mut options = options(listener.local_addr().unwrap());
    options.tls = Some(tls);
    let heard = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let stream = TlsAcceptor::from(Arc::new(config)).accept(socket).await.unwrap();
        stream.get_ref().1.server_name().map(str::to_owned)
    });
    // It is no ClickHouse: the connection ends behind the handshake of TLS.
    assert!(Client::with_options(options).await.is_err());
    assert_eq!(heard.await.unwrap().as_deref(), Some("inner.example.com"));
}

/// Options for the real server, whose certificate `authority` has signed.
fn options_of(server: &ClickHouse, authority: &Authority) -> Options {
    let mut tls = TlsOptions::default();
    tls.trusted_pem = Some(authority.pem());
    tls.server_name = Some("localhost".to_owned());
    let mut options = options(server.secure().unwrap());
    options.tls = Some(tls);
    options
}

impl Authority {
    fn server(&self, client_authority: Option<&Authority>) -> ServerPem {
        let (certificate, key) = self.issue("localhost");
        ServerPem {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            client_authority: client_authority.map(|authority| authority.0.pem()),
        }
    }

    fn client(&self) -> ClientPem {
        let (certificate, key) = self.issue("client");
        ClientPem {
            certificates: certificate.pem().into_bytes(),
            key: key.serialize_pem().into_bytes(),
        }
    }
}

#[tokio::test]
async fn the_real_server_is_spoken_to_through_tls() {
    let authority = Authority::new();
    let Some(mut server) = ClickHouse::need_encrypted(&authority.server(None)) else {
        return;
    };
    let client = Client::with_options(options_of(&server, &authority)).await.unwrap();
    let mut rows = 0;
    let mut stream = client
        .query("SELECT number FROM system.numbers LIMIT 1000000")
        .await
        .unwrap();
    while let Some(batch) = stream.next().await.unwrap() {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 1_000_000);
    client
        .execute("CREATE TABLE t (number UInt64) ENGINE = Memory")
        .await
        .unwrap();
    let mut insert = client.insert("t").await.unwrap();
    for batch in client
        .query("SELECT number FROM system.numbers LIMIT 200000")
        .collect()
        .await
        .unwrap()
    {
        insert.write(&batch).await.unwrap();
    }
    assert_eq!(insert.finish().await.unwrap().rows, 200_000);

    // By name, with the name's certificate and no other.
    let mut by_name = options_of(&server, &authority);
    by_name.endpoints = vec![
        format!("localhost:{}", server.secure().unwrap().port())
            .parse()
            .unwrap(),
    ];
    if let Some(tls) = &mut by_name.tls {
        tls.server_name = None;
    }
    assert_eq!(
        one(&Client::with_options(by_name.clone()).await.unwrap())
            .await
            .unwrap(),
        1
    );
    for name in ["elsewhere", "127.0.0.1"] {
        if let Some(tls) = &mut by_name.tls {
            tls.server_name = Some(name.to_owned());
        }
        let refused = Client::with_options(by_name.clone()).await.unwrap_err();
        assert!(refused_by_tls(&refused), "{refused:?}");
    }
    let refused = Client::with_options(options_of(&server, &Authority::new()))
        .await
        .unwrap_err();
    assert!(refused_by_tls(&refused), "{refused:?}");

    // Whether an encrypted connection has died cannot be seen from outside: it is asked, or the query is sent again.
    server.restart().unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
}

#[tokio::test]
async fn the_real_server_wants_the_client_s_certificate() {
    let authority = Authority::new();
    let Some(server) = ClickHouse::need_encrypted(&authority.server(Some(&authority))) else {
        return;
    };
    let mut options = options_of(&server, &authority);
    assert!(Client::with_options(options.clone()).await.is_err());
    let with = |client: &Authority, options: &mut Options| {
        if let Some(tls) = &mut options.tls {
            tls.client_pem = Some(client.client());
        }
    };
    with(&Authority::new(), &mut options);
    assert!(Client::with_options(options.clone()).await.is_err());
    with(&authority, &mut options);
    assert_eq!(one(&Client::with_options(options).await.unwrap()).await.unwrap(), 1);
}

#[tokio::test]
async fn unencrypted_connections_to_the_encrypted_port_are_refused_in_time() {
    let authority = Authority::new();
    let Some(server) = ClickHouse::need_encrypted(&authority.server(None)) else {
        return;
    };
    let mut plain = options(server.secure().unwrap());
    plain.connect_timeout = Duration::from_secs(2);
    assert!(Client::with_options(plain).await.is_err());
    let mut encrypted = options_of(&server, &authority);
    encrypted.endpoints = options(server.native()).endpoints;
    encrypted.connect_timeout = Duration::from_secs(2);
    assert!(Client::with_options(encrypted).await.is_err());
}

/// The roots of the system are found by the environment, which is that of a process: the test calls itself.
#[tokio::test]
async fn the_system_s_roots_are_trusted_by_default() {
    const ADDRESS: &str = "TIDEMILL_TEST_SECURE_ADDRESS";
    if let Ok(address) = env::var(ADDRESS) {
        let mut options = options(address.parse().unwrap());
        options.endpoints = vec![address.replace("127.0.0.1", "localhost").parse().unwrap()];
        options.tls = Some(TlsOptions::default());
        assert_eq!(one(&Client::with_options(options).await.unwrap()).await.unwrap(), 1);
        return;
    }
    let authority = Authority::new();
    let Some(server) = ClickHouse::need_encrypted(&authority.server(None)) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [ours, others] = ["ours.pem", "others.pem"].map(|name| folder.path().join(name));
    std::fs::write(&ours, authority.pem()).unwrap();
    std::fs::write(&others, Authority::new().pem()).unwrap();
    for (roots, is_trusted) in [(ours, true), (others, false)] {
        let mut itself = Command::new(env::current_exe().unwrap());
        itself.args(["--exact", "client_tls::the_system_s_roots_are_trusted_by_default"]);
        itself.env(ADDRESS, server.secure().unwrap().to_string());
        itself.env("SSL_CERT_FILE", roots).env_remove("SSL_CERT_DIR");
        assert_eq!(itself.output().unwrap().status.success(), is_trusted);
    }
}
