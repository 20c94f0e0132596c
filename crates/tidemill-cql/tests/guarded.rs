//! A node that wants a password, over connections that are encrypted.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tidemill_cql::{Client, Error, Options};
use tidemill_testkit::{Cassandra, ServerPem};

async fn connect(node: &Cassandra, who: &str, query: &str) -> Result<Client, Error> {
    let url = format!("cql://{who}@{}/?timeout=10&{query}", node.native());
    let (options, _) = Options::parse(&url).unwrap();
    Client::connect(options).await
}

fn authority(folder: &Path, name: &str) -> (CertifiedIssuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, issuer.pem()).unwrap();
    (issuer, path.to_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_and_certificates_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (issuer, ca) = authority(folder.path(), "ca.pem");
    let (_, other_ca) = authority(folder.path(), "other.pem");
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &issuer).unwrap();
    let pem = ServerPem {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        client_authority: None,
    };
    let Some(node) = Cassandra::need_guarded(&pem) else {
        return;
    };

    // The first user is made while the node comes up.
    let begun = Instant::now();
    let client = loop {
        match connect(&node, "cassandra:cassandra", &format!("secure=true&ca={ca}")).await {
            Ok(client) => break client,
            Err(error) if begun.elapsed() > Duration::from_secs(60) => panic!("{error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    };
    assert!(client.tables("system").await.unwrap().contains(&"local".to_owned()));
    connect(&node, "cassandra:cassandra", "secure=true&verify=false")
        .await
        .unwrap();
    connect(&node, "cassandra:cassandra", "").await.unwrap();

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
