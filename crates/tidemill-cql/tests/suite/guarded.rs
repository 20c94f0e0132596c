//! A node that wants a password, over connections that are encrypted.
use std::future::poll_fn;
use std::path::Path;
use std::task::Poll;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use scylla::client::session_builder::SessionBuilder;
use scylla::frame::types::Consistency;
use scylla::policies::load_balancing::DefaultPolicy;
use tidemill_cql::connection::{
    Compression, Connections, ConnectionsOptions, Execute, ExecuteDefaults, Handshake, Login, Reply, Sent,
};
use tidemill_cql::{Client, Error, Options, TlsOptions, tls};
use tidemill_testkit::{Cassandra, ServerPem};

async fn connect(node: &Cassandra, who: &str, query: &str) -> Result<Client, Error> {
    let url = format!("cql://{who}@{}/?timeout=10&{query}", node.native());
    let (options, _) = Options::parse(&url).unwrap();
    Client::connect(options).await
}

/// The first user is made while the node comes up.
async fn soon(node: &Cassandra, query: &str) -> Client {
    let begun = Instant::now();
    loop {
        match connect(node, "cassandra:cassandra", query).await {
            Ok(client) => return client,
            Err(error) if begun.elapsed() > Duration::from_secs(60) => panic!("{error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    }
}

fn authority(folder: &Path, name: &str) -> (CertifiedIssuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, issuer.pem()).unwrap();
    (issuer, path.to_str().unwrap().to_owned())
}

/// A certificate and its key.
fn signed(issuer: &CertifiedIssuer<'static, KeyPair>) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    (certificate.signed_by(&key, issuer).unwrap().pem(), key.serialize_pem())
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_show_their_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let (issuer, ca) = authority(folder.path(), "ca.pem");
    let (stranger, _) = authority(folder.path(), "stranger.pem");
    let (certificate, key) = signed(&issuer);
    let pem = ServerPem {
        certificate,
        key,
        client_authority: Some(issuer.pem()),
    };
    let Some(node) = Cassandra::need_guarded(&pem) else {
        return;
    };
    let identity = |name: &str, issuer: &CertifiedIssuer<'static, KeyPair>| {
        let (certificate, key) = signed(issuer);
        let [cert, key_file] = ["cert", "key"].map(|kind| folder.path().join(format!("{name}.{kind}.pem")));
        std::fs::write(&cert, certificate).unwrap();
        std::fs::write(&key_file, key).unwrap();
        format!("secure=true&ca={ca}&cert={}&key={}", cert.display(), key_file.display())
    };
    let client = soon(&node, &identity("friend", &issuer)).await;
    assert!(client.tables("system").await.unwrap().contains(&"local".to_owned()));
    for query in [identity("stranger", &stranger), format!("secure=true&ca={ca}")] {
        let error = connect(&node, "cassandra:cassandra", &query).await.unwrap_err();
        assert!(!error.to_string().contains(":cassandra"), "{error}");
    }
}

/// How connections begin that go past the driver.
async fn requests_past_the_driver(node: &Cassandra, ca: &str) {
    let tls = |authorities: Option<&str>| {
        let mut options = TlsOptions::default();
        options.authorities = authorities.map(Into::into);
        options.verify = authorities.is_some();
        Some(tls::config(&options).unwrap())
    };
    let login = |password: &str| {
        Some(Login {
            user: "cassandra".to_owned(),
            password: password.to_owned(),
        })
    };
    let driver = SessionBuilder::new()
        .known_node_addr(node.native())
        .user("cassandra", "cassandra")
        .build()
        .await
        .unwrap();
    let text = "SELECT release_version FROM system.local WHERE key = 'local'";
    let defaults = ExecuteDefaults {
        consistency: Consistency::One,
        serial_consistency: None,
        timeout: Duration::from_secs(10),
    };
    let execute = Execute::new(&driver.prepare(text).await.unwrap(), defaults);
    for (login, tls, compression, expected) in [
        (login("cassandra"), None, None, Sent::Sent),
        (login("cassandra"), tls(Some(ca)), None, Sent::Sent),
        (login("cassandra"), tls(None), Some(Compression::Lz4), Sent::Sent),
        (login("swordfish"), None, None, Sent::Elsewhere),
        (None, None, None, Sent::Elsewhere),
    ] {
        let options = ConnectionsOptions {
            per_node: 1,
            connect_timeout: Duration::from_secs(20),
            policy: DefaultPolicy::builder().build(),
            handshake: Handshake {
                login,
                tls,
                compression,
            },
            relay: None,
        };
        let mut connections = Connections::new(driver.get_cluster_state(), options).await;
        let now = Instant::now();
        let sent = connections.send(&execute, (), now, |_| Ok::<_, Error>(())).unwrap();
        assert_eq!(sent, expected);
        if sent == Sent::Elsewhere {
            continue;
        }
        let mut outcomes = Vec::new();
        let answered = poll_fn(|context| {
            connections.poll(context, &mut outcomes);
            match outcomes.is_empty() {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        });
        tokio::time::timeout(Duration::from_secs(20), answered).await.unwrap();
        assert!(
            matches!(outcomes[..], [((), Ok(Reply::Rows { count: 1, .. }))]),
            "{outcomes:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_and_certificates_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (issuer, ca) = authority(folder.path(), "ca.pem");
    let (_, other_ca) = authority(folder.path(), "other.pem");
    let (certificate, key) = signed(&issuer);
    let pem = ServerPem {
        certificate,
        key,
        client_authority: None,
    };
    let Some(node) = Cassandra::need_guarded(&pem) else {
        return;
    };

    let client = soon(&node, &format!("secure=true&ca={ca}")).await;
    assert!(client.tables("system").await.unwrap().contains(&"local".to_owned()));
    connect(&node, "cassandra:cassandra", "secure=true&verify=false")
        .await
        .unwrap();
    connect(&node, "cassandra:cassandra", "").await.unwrap();
    requests_past_the_driver(&node, &ca).await;

    for (who, query, named) in [
        ("cassandra:swordfish", "", "password"),
        ("cassandra:swordfish", "secure=true&verify=false", "password"),
        ("nobody:swordfish", "", "nobody"),
        (
            "cassandra:swordfish",
            &format!("secure=true&ca={other_ca}"),
            "certificate",
        ),
        ("cassandra:swordfish", "secure=true", "certificate"),
        ("cassandra:swordfish", "secure=true&ca=/no/such/file", "/no/such/file"),
    ] {
        let error = connect(&node, who, query).await.unwrap_err();
        let text = format!("{error} {error:?}").to_lowercase();
        assert!(text.contains(named), "{query}: {error}");
        assert!(!text.contains("swordfish"), "{error}");
    }
}
