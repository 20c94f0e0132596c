//! Clients that show certificates.

use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use super::{Served, books};
use crate::run::{Folder, Run};

pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

pub(crate) fn authority(folder: &Folder, name: &str) -> Authority {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    std::fs::write(folder.file(&format!("{name}.pem")), issuer.pem()).expect("written");
    issuer
}

/// Writes `NAME.pem` and `NAME.key`.
pub(crate) fn identity(folder: &Folder, name: &str, issuer: &Authority) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, issuer).expect("signed");
    std::fs::write(folder.file(&format!("{name}.pem")), certificate.pem()).expect("written");
    let file = folder.file(&format!("{name}.key"));
    std::fs::write(&file, key.serialize_pem()).expect("written");
    // libpq reads no key that others can read.
    let mode = Command::new("chmod").arg("600").arg(&file).status();
    assert!(mode.expect("chmod").success());
}

#[test]
fn only_clients_with_a_certificate_come_in() {
    let folder = books();
    let known = authority(&folder, "authority");
    identity(&folder, "server", &known);
    identity(&folder, "ann", &known);
    identity(&folder, "eve", &authority(&folder, "other"));
    let served = Served::with(
        folder,
        &[
            "books",
            "--tls-cert",
            "server.pem",
            "--tls-key",
            "server.key",
            "--tls-client-ca",
            "authority.pem",
        ],
    );
    let psql = |settings: &str| {
        let place = format!(
            "host=localhost port={} user=ann dbname=tidemill {settings}",
            served.port()
        );
        let mut psql = Command::new("psql");
        psql.args(["-X", "-At", "-d", &place, "-c", "SELECT COUNT(*) FROM orders"]);
        Run::of(
            psql.current_dir(served.path())
                .output()
                .expect("psql, which postgresql-client has"),
        )
    };
    let with =
        |name: &str| format!("sslmode=verify-full sslrootcert=authority.pem sslcert={name}.pem sslkey={name}.key");
    assert_eq!(psql(&with("ann")).done(), "3\n");
    for (settings, told) in [
        (with("eve"), "unknown ca|decrypt error|certificate"),
        (
            "sslmode=require sslcert=none sslkey=none".to_owned(),
            "certificate required",
        ),
        ("sslmode=disable".to_owned(), "a client certificate is needed"),
    ] {
        let said = psql(&settings).failed();
        assert!(told.split('|').any(|told| said.contains(told)), "{settings}: {said}");
    }
    let flight = |settings: &str| {
        let port = served.flight.expect("it listens").port();
        let url = format!("flight://localhost:{port}/public/orders?ca=authority.pem{settings}");
        served.folder().run(&["inspect", &url])
    };
    drop(flight("&cert=ann.pem&key=ann.key").done());
    drop(flight("&cert=eve.pem&key=eve.key").failed());
    drop(flight("").failed());
    assert!(flight("&cert=ann.pem").failed().contains("one of cert and key"));

    let script = "import ssl, sys, urllib.request\n\
        tls = ssl.create_default_context(cafile='authority.pem')\n\
        if sys.argv[2:]: tls.load_cert_chain(*sys.argv[2:])\n\
        print(urllib.request.urlopen(sys.argv[1] + '/healthz', context=tls).read().decode())\n";
    let https = |identity: &[&str]| {
        let url = format!("https://localhost:{}", served.http.expect("it listens").port());
        let python = Command::new("python3")
            .args(["-c", script, &url])
            .args(identity)
            .current_dir(served.path())
            .output();
        Run::of(python.expect("python3"))
    };
    assert_eq!(https(&["ann.pem", "ann.key"]).done(), "ok\n");
    let refused = https(&[]).stderr;
    assert!(refused.to_lowercase().contains("certificate"), "{refused}");
    assert_eq!(served.end(), Some(0));
}
