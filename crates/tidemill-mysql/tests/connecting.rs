//! Connections to real servers, with and without TLS, and to what is none.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tidemill_mysql::{Answer, Client, Error, Options, Read};
use tidemill_testkit::{MariaDb, ServerPem};

async fn connect(url: &str) -> Result<Client, Error> {
    Client::connect(Options::parse(url)?.0).await
}

async fn text(client: &Client, query: &str) -> String {
    let mut rows = Read::begin(client, "t", query, None).await.unwrap();
    let batch = rows.next().await.unwrap().unwrap();
    batch.column(0).as_string::<i32>().value(0).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords_sockets_and_names_are_taken() {
    let Some(server) = MariaDb::need() else { return };
    let (address, socket) = (server.address(), server.socket().display().to_string());
    let socket = socket.replace('/', "%2F");
    let port = address.port();
    server
        .query("CREATE DATABASE `My Shop`; CREATE USER nobody IDENTIFIED BY ''; GRANT ALL ON shop.* TO nobody")
        .unwrap();
    for url in [
        server.url(),
        server.url().replace("/shop", "/My%20Shop"),
        format!("mariadb://ferrywoman:open%2Fsesame%3F@localhost:{port}/shop?secure=false"),
        format!("mysql://{socket}/shop?user=ferrywoman&password=open%2Fsesame%3F"),
        format!("mysql:///shop?host={socket}&user=ferrywoman&password=open%2Fsesame%3F"),
        format!("mysql://nobody@{address}/shop"),
    ] {
        let client = connect(&url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(client.tables(None).await.unwrap(), Vec::<String>::new());
        assert!(!format!("{client:?}").contains("sesame"));
    }
    for (url, named, code) in [
        (
            format!("mysql://ferrywoman:sesame@{address}/shop"),
            "Access denied",
            Some(1045),
        ),
        (
            format!("mysql://ferrywoman@{address}/shop"),
            "Access denied",
            Some(1045),
        ),
        (
            server.url().replace("/shop", "/nowhere"),
            "Unknown database 'nowhere'",
            Some(1049),
        ),
        (
            format!("{}?secure=true&verify=false", server.url()),
            "does not encrypt",
            None,
        ),
        ("mysql://ferrywoman:sesame@127.0.0.1:1/d".to_owned(), "refused", None),
        (
            "mysql://ferrywoman:sesame@%2Fnowhere%2Fsocket/d".to_owned(),
            "/nowhere/socket",
            None,
        ),
    ] {
        let error = connect(&url).await.unwrap_err();
        let text = tidemill_mysql::with_causes(&error);
        assert!(text.contains(named) && !text.contains("sesame"), "{url}: {text}");
        assert_eq!(error.code(), code, "{url}");
        assert!(matches!(error, Error::Connect { .. }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
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
    let Some(server) = MariaDb::need_encrypted(&pem) else {
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
    let localhost = server.url().replace("127.0.0.1", "localhost");
    for (url, query, named) in [
        (server.url(), format!("ca={}&{identity}", file("ca")), None),
        (server.url(), format!("secure&skip_verify=true&{identity}"), None),
        (localhost.clone(), format!("ssl=true&verify=false&{identity}"), None),
        (localhost, format!("ca={}&{identity}", file("ca")), Some("TLS")),
        (server.url(), format!("ca={}&{identity}", file("other")), Some("TLS")),
        // The server wants a certificate of the client.
        (server.url(), format!("ca={}", file("ca")), Some("Access denied")),
        (server.url(), String::new(), Some("Access denied")),
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
                let client = connected.unwrap_or_else(|error| panic!("{query}: {error}"));
                let cipher =
                    "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_version'";
                assert!(text(&client, cipher).await.starts_with("TLS"), "{query}");
            }
            Some(named) => {
                let error = connected.unwrap_err().to_string();
                assert!(error.contains(named) && !error.contains("sesame"), "{query}: {error}");
            }
        }
    }
}

/// A server that says this to whoever connects, and then stays silent until the client goes, or sends the last part for ever.
fn saying(parts: Vec<Vec<u8>>, endless: Option<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, parts, endless) = (stream.unwrap(), parts.clone(), endless.clone());
            thread::spawn(move || {
                for (number, part) in parts.iter().enumerate() {
                    if number > 0 && !matches!(stream.read(&mut [0; 1 << 16]), Ok(1..)) {
                        return;
                    }
                    if stream.write_all(part).is_err() {
                        return;
                    }
                }
                match endless {
                    Some(bytes) => while stream.write_all(&bytes).is_ok() {},
                    None => while matches!(stream.read(&mut [0; 1 << 16]), Ok(1..)) {},
                }
            });
        }
    });
    address
}

fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = (payload.len() as u32).to_le_bytes();
    [&[a, b, c, number], payload].concat()
}

fn greeting() -> Vec<u8> {
    let mut bytes = b"\x0a5.5.5-10.11.19-MariaDB\0\x04\0\0\0abcdefgh\0".to_vec();
    bytes.extend_from_slice(b"\xfe\xff\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0");
    bytes.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &bytes)
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_server_of_mysql_is_told() {
    for (answer, named) in [
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            "is this a MySQL or MariaDB server?",
        ),
        (b"\xff\xff\xff\0".to_vec(), "at most 16384 bytes"),
        (packet(0, b"\x09old"), "the greeting of a MySQL or MariaDB server"),
        (
            packet(0, b"\xff\x10\x04#08004Too many connections"),
            "Too many connections",
        ),
        (packet(0, b""), "the greeting"),
        ([greeting(), packet(7, OK)].concat(), "expected the packet number"),
        (
            [greeting(), packet(2, b"\xfeclient_magic\0abc")].concat(),
            "\"client_magic\" to log in",
        ),
        ([greeting(), packet(2, b"\xfb/etc/passwd")].concat(), "a way to log in"),
    ] {
        let address = saying(vec![answer], None);
        let url = format!("mysql://u:sesame@{address}/d?connect_timeout=5");
        let error = connect(&url).await.unwrap_err().to_string();
        assert!(error.contains(named) && !error.contains("sesame"), "{error}");
    }
    // One that never answers.
    let address = saying(vec![Vec::new()], None);
    let error = connect(&format!("mysql://u@{address}/d?connect_timeout=0.2")).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("within 0.2 s") && error.contains("connect_timeout"),
        "{error}"
    );
}

/// The definition of a text column with a name.
fn definition(number: u8, name: &[u8]) -> Vec<u8> {
    let mut payload = b"\x03def\0\0\0".to_vec();
    payload.extend_from_slice(&[0xfc]);
    payload.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
    payload.extend_from_slice(name);
    payload.extend_from_slice(b"\0\x0c\x2d\0\x04\0\0\0\xfd\0\0\0\0\0");
    packet(number, &payload)
}

/// What the server says to a client that logs in, sets up its session and asks whether the server is there.
fn admitted() -> Vec<Vec<u8>> {
    vec![greeting(), packet(2, OK), packet(1, OK), packet(1, OK)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_server_gets_no_memory_and_no_file() {
    let prepared = packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0");
    let cases: [(Vec<Vec<u8>>, &str); 5] = [
        // More columns than a result has, each with a long name.
        (
            vec![prepared.clone(), packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f")],
            "at most 4096 columns",
        ),
        (
            vec![
                prepared.clone(),
                [packet(1, b"\x02"), definition(2, &[b'x'; 20_000])].concat(),
            ],
            "at most 16384 bytes",
        ),
        // A file of this machine.
        (vec![prepared.clone(), packet(1, b"\xfb/etc/passwd")], "gives none"),
        // A row that says that it is longer than all memory.
        (
            vec![
                prepared.clone(),
                [
                    packet(1, b"\x01"),
                    definition(2, b"c"),
                    packet(3, b"\0\0\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"),
                ]
                .concat(),
            ],
            "expected a value, found the end of the row",
        ),
        // An error whose text goes on for ever.
        (vec![packet(1, &[0xff; 20_000])], "at most 16384 bytes"),
    ];
    for (behind, named) in cases {
        let address = saying([admitted(), behind].concat(), None);
        let client = connect(&format!("mysql://u@{address}/d?timeout=5&connect_timeout=5"))
            .await
            .unwrap();
        let error = match Read::begin(&client, "t", "SELECT 1", None).await {
            Err(error) => error,
            Ok(mut rows) => rows.next().await.unwrap_err(),
        };
        assert!(error.to_string().contains(named), "{named}: {error}");
    }
    // A catalogue without an end.
    let rows = [packet(1, b"\x01"), definition(2, b"c")].concat();
    let row = packet(3, &[b"\0\0\xfd\0\0\x10".as_slice(), &vec![b'x'; 1 << 20]].concat());
    let mut numbered = Vec::new();
    for number in 0..=255_u8 {
        let mut row = row.clone();
        row[3] = number.wrapping_add(3);
        numbered.extend_from_slice(&row);
    }
    let address = saying([admitted(), vec![prepared, rows]].concat(), Some(numbered));
    let client = connect(&format!("mysql://u@{address}/d?timeout=5&connect_timeout=5"))
        .await
        .unwrap();
    let error = client.tables(None).await.unwrap_err().to_string();
    assert!(error.contains("64 MiB"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_run_one_after_another_on_a_connection_of_their_own() {
    let Some(server) = MariaDb::need() else { return };
    let client = connect(&server.url()).await.unwrap();
    let run = async |text: &str| match client.run(text).await {
        Ok(Answer::Changed(rows)) => Ok((rows, Vec::new())),
        Ok(Answer::Rows(mut rows)) => {
            let batch = rows.next().await?.unwrap();
            assert!(rows.next().await?.is_none());
            Ok((None, vec![batch]))
        }
        Err(error) => Err(error),
    };
    let changed = async |text: &str| run(text).await.map(|(rows, _)| rows);
    assert_eq!(
        changed("CREATE TABLE t (n int PRIMARY KEY); -- ; a remark\n")
            .await
            .unwrap(),
        None
    );
    assert_eq!(changed("INSERT INTO t VALUES (1), (2), (3)").await.unwrap(), Some(3));
    assert_eq!(changed("BEGIN; DELETE FROM t; ROLLBACK").await.unwrap(), None);
    // What is not committed is undone.
    assert_eq!(changed("BEGIN; DELETE FROM t").await.unwrap(), Some(3));
    let (_, rows) = run("SET @x = 2; SELECT n FROM t WHERE n > @x; SELECT count(*) FROM t WHERE n >= @x")
        .await
        .unwrap();
    assert_eq!(rows[0].column(0).as_primitive::<Int64Type>().values(), &[2]);
    // Nor does it hold for the next.
    assert_eq!(text(&client, "SELECT CAST(ifnull(@x, 'none') AS CHAR)").await, "none");
    let procedure =
        "CREATE PROCEDURE twice() BEGIN UPDATE t SET n = n + 10 ORDER BY n DESC; SELECT count(*) FROM t; END";
    assert_eq!(changed(procedure).await.unwrap(), None);
    let (_, rows) = run("CALL twice()").await.unwrap();
    assert_eq!(rows[0].num_rows(), 1);
    let (_, rows) = run("ANALYZE TABLE t").await.unwrap();
    assert!(rows[0].num_rows() > 0);
    let error = run("INSERT INTO t VALUES (99); SELECT * FROM nowhere; INSERT INTO t VALUES (98)")
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(1146), "{error}");
    assert_eq!(server.query("SELECT max(n) FROM t").unwrap(), "99\n");
    let error = run("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t")
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("LOAD DATA of a file of this machine"),
        "{error}"
    );
    assert_eq!(changed(" -- nothing").await.unwrap_err().code(), Some(1065));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(server.query("SELECT count(*) FROM t").unwrap(), "4\n");
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    // Whose certificates have another name, lest they look as if they had signed themselves.
    params.distinguished_name.push(DnType::CommonName, "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}
