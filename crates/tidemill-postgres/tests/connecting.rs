//! Connections to real servers, with and without TLS.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tidemill_postgres::{Client, Error, Options};
use tidemill_testkit::{Postgres, ServerPem};

async fn connect(url: &str) -> Result<Client, Error> {
    Client::connect(Options::parse(url)?.0).await
}

#[tokio::test]
async fn passwords_sockets_and_names_are_taken() {
    let Some(server) = Postgres::need() else { return };
    let (address, socket) = (server.address(), server.socket_folder().display().to_string());
    let socket = socket.replace('/', "%2F");
    let port = address.port();
    server.psql("CREATE DATABASE \"My Shop\"").unwrap();
    for url in [
        server.url(),
        server.url().replace("/postgres", "/My%20Shop"),
        format!("postgresql://ferrywoman:open%2Fsesame%3F@localhost:{port}/postgres?sslmode=prefer"),
        format!("postgres://{socket}:{port}/postgres?user=ferrywoman&password=open%2Fsesame%3F"),
        format!(
            "postgres:///postgres?host={socket}&port={port}&user=ferrywoman&password=open%2Fsesame%3F&sslmode=prefer"
        ),
    ] {
        let client = connect(&url).await.unwrap();
        assert_eq!(client.tables(None).await.unwrap(), Vec::<String>::new());
        assert!(!format!("{client:?}").contains("sesame"));
    }
    for (url, named, sqlstate) in [
        (
            format!("postgres://ferrywoman:sesame@{address}/postgres"),
            "password authentication failed",
            Some("28P01"),
        ),
        (
            format!("postgres://ferrywoman@{address}/postgres"),
            "password missing",
            None,
        ),
        (
            server.url().replace("/postgres", "/nowhere"),
            "\"nowhere\" does not exist",
            Some("3D000"),
        ),
        (
            format!("{}?secure=true&verify=false", server.url()),
            "does not encrypt",
            None,
        ),
        (
            format!("{}?options=-c%20nothing%3D1", server.url()),
            "nothing",
            Some("42704"),
        ),
        ("postgres://ferrywoman:sesame@127.0.0.1:1/d".to_owned(), "refused", None),
        (
            "postgres://ferrywoman:sesame@%2Fnowhere/d".to_owned(),
            "/nowhere/.s.PGSQL.5432",
            None,
        ),
    ] {
        let error = connect(&url).await.unwrap_err();
        let text = tidemill_postgres::with_causes(&error);
        assert!(text.contains(named) && !text.contains("sesame"), "{url}: {text}");
        assert_eq!(error.sqlstate(), sqlstate, "{url}");
        assert!(matches!(error, Error::Connect { .. }), "{error}");
    }
}

#[tokio::test]
async fn connections_are_encrypted_and_certificates_checked() {
    let (authority, other) = (authority(), authority());
    let signed = |names: &[&str], by: &CertifiedIssuer<'static, KeyPair>| {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, by).unwrap();
        (certificate.pem(), key.serialize_pem())
    };
    let (certificate, key) = signed(&["127.0.0.1"], &authority);
    let pem = ServerPem {
        certificate,
        key,
        client_authority: Some(authority.pem()),
    };
    let Some(server) = Postgres::need_encrypted(&pem) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = signed(&["ferrywoman"], &authority);
    for (name, text) in [
        ("ca", authority.pem()),
        ("other", other.pem()),
        ("cert", cert),
        ("key", key),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let file = |name: &str| folder.path().join(name).display().to_string().replace('/', "%2F");
    let identity = format!("cert={}&key={}", file("cert"), file("key"));
    let by_libpq = format!("sslcert={}&sslkey={}", file("cert"), file("key"));
    let localhost = server.url().replace("127.0.0.1", "localhost");
    for (url, query, named) in [
        (server.url(), format!("ca={}&{identity}", file("ca")), None),
        (
            server.url(),
            format!("sslmode=verify-full&sslrootcert={}&{by_libpq}", file("ca")),
            None,
        ),
        (server.url(), format!("sslmode=require&{by_libpq}"), None),
        (server.url(), format!("sslmode=prefer&{identity}"), None),
        (localhost.clone(), format!("secure&verify=false&{identity}"), None),
        (localhost, format!("ca={}&{identity}", file("ca")), Some("TLS")),
        (server.url(), format!("ca={}&{identity}", file("other")), Some("TLS")),
        (server.url(), format!("ca={}", file("ca")), Some("certificate")),
        (server.url(), "sslmode=disable".to_owned(), Some("no encryption")),
        (server.url(), format!("ca={}", file("nothing")), Some("nothing")),
        (
            server.url(),
            format!("ca={}", file("key")),
            Some("expected a certificate"),
        ),
    ] {
        let connected = connect(&format!("{url}?{query}")).await;
        match named {
            None => {
                let session = connected.unwrap().session().await.unwrap();
                let answer = session
                    .run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                    .await
                    .unwrap();
                let tidemill_postgres::Answer::Rows(mut rows) = answer else {
                    panic!("no rows")
                };
                let batch = rows.next().await.unwrap().unwrap();
                assert!(
                    arrow_array::cast::AsArray::as_boolean(batch.column(0)).value(0),
                    "{query}"
                );
            }
            Some(named) => {
                let error = connected.unwrap_err().to_string();
                assert!(error.contains(named) && !error.contains("sesame"), "{query}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_server_of_postgresql_is_told() {
    for (answer, named) in [
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(),
            "is this a PostgreSQL server?",
        ),
        (b"R\x7f\xff\xff\xff", "1 GiB"),
        (b"R\0\0\0\x02", "found one of type"),
        (b"", "closed"),
        (b"R\0\0\0\x08\0\0\0\x07", "unsupported authentication method"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1000]);
            stream.write_all(answer).unwrap();
        });
        let error = connect(&format!("postgres://u:sesame@{address}/d"))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(named), "{error}");
        server.join().unwrap();
    }
    // One that never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://u@{}/d?connect_timeout=0.2", listener.local_addr().unwrap());
    let error = connect(&url).await.unwrap_err().to_string();
    assert!(
        error.contains("within 0.2 s") && error.contains("connect_timeout"),
        "{error}"
    );
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    // Whose certificates have another name, lest they look as if they had signed themselves.
    params.distinguished_name.push(DnType::CommonName, "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}
