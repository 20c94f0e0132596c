//! The HTTP door.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{Served, books};

/// An answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
    /// Whether the body has its end.
    is_whole: bool,
}

impl Answer {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Sends a request as its lines are written here, and reads the whole answer.
pub(super) fn ask(served: &Served, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    let mut stream = TcpStream::connect(served.http.expect("it listens")).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
    let host = if headers.iter().any(|header| header.starts_with("Host:")) {
        ""
    } else {
        "Host: localhost\r\n"
    };
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    // A server that has heard enough answers, and may close the connection before all is sent.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("read");
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("headers");
    let (head, body) = bytes.split_at(at + 4);
    let headers = String::from_utf8_lossy(head).into_owned();
    let status = headers
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .expect("a status");
    let (body, is_whole) = match headers.to_lowercase().contains("transfer-encoding: chunked") {
        true => unchunked(body),
        false => (body.to_vec(), true),
    };
    Answer {
        status,
        headers,
        body,
        is_whole,
    }
}

/// The body without the sizes of its pieces, and whether the last one is there.
fn unchunked(mut body: &[u8]) -> (Vec<u8>, bool) {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).expect("text"), 16).expect("a size");
        let Some(piece) = body.get(end + 2..end + 2 + size) else {
            break;
        };
        whole.extend_from_slice(piece);
        if size == 0 {
            return (whole, true);
        }
        body = body.get(end + 2 + size + 2..).unwrap_or_default();
    }
    (whole, false)
}

fn sql(served: &Served, statement: &str) -> Answer {
    ask(served, "POST", "/sql", &[], statement)
}

/// The header that logs somebody in: `name:password`.
pub(super) fn basic(name_and_password: &str) -> String {
    // Base64, by hand: no crate of it is among the tests' own.
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for three in name_and_password.as_bytes().chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            encoded.push(match place <= three.len() {
                true => char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]),
                false => '=',
            });
        }
    }
    format!("Authorization: Basic {encoded}")
}

#[test]
fn statements_are_answered_in_every_format() {
    let served = Served::begin();
    let answer = sql(
        &served,
        "SELECT order_no, day, total, NULL AS nothing FROM orders WHERE order_no = 1",
    )
    .json();
    let first = &answer["answers"][0];
    assert_eq!(first["rows"], serde_json::json!([[1, "2024-02-29", "10.50", null]]));
    assert_eq!(first["columns"][1]["type"], "date");
    let answer = sql(
        &served,
        "SELECT 9007199254740993 AS large, 1.5 AS half; SELECT COUNT(*) FROM numbers",
    )
    .json();
    assert_eq!(answer["answers"][0]["rows"][0][0], "9007199254740993", "{answer}");
    assert_eq!(answer["answers"][1]["rows"], serde_json::json!([[1000]]));
    let changed = sql(&served, "UPDATE orders SET total = total WHERE order_no < 3").json();
    assert_eq!(changed["answers"][0]["changed"], 2, "{changed}");
    let asked = r#"{"sql": "SELECT order_no FROM orders WHERE total > ? ORDER BY 1", "parameters": [15], "limit": 1}"#;
    let json = "Content-Type: application/json";
    let answer = ask(&served, "POST", "/sql", &[json], asked).json();
    assert_eq!(answer["answers"][0]["rows"], serde_json::json!([[2]]));
    assert_eq!(answer["answers"][0]["truncated"], true);
    for (kind, begins) in [
        ("text/csv", &b"order_no\n1\n"[..]),
        ("application/x-ndjson", b"{\"order_no\":1}\n"),
        ("application/vnd.apache.arrow.stream", b"\xff\xff\xff\xff"),
        ("application/vnd.apache.parquet", b"PAR1"),
    ] {
        let accept = format!("Accept: {kind}");
        let answer = ask(
            &served,
            "POST",
            "/sql",
            &[&accept],
            "SELECT order_no FROM orders ORDER BY 1",
        );
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
        assert!(
            answer
                .body
                .to_ascii_lowercase()
                .starts_with(&begins.to_ascii_lowercase()),
            "{kind}: {}",
            answer.text()
        );
        if kind.ends_with("parquet") {
            std::fs::write(served.path().join("got.parquet"), &answer.body).expect("written");
            let read = served
                .folder()
                .run(&["sql", "SELECT COUNT(*) AS n FROM 'got.parquet'", "--format", "csv"]);
            assert_eq!(read.done(), "n\n3\n");
        }
    }
}

#[test]
fn errors_have_a_place_and_a_way_on() {
    let served = Served::begin();
    for (statement, status, sqlstate, position) in [
        ("SELECT totl FROM orders", 400, "42703", Some(8)),
        ("SELECT * FROM ordes", 400, "42P01", Some(15)),
        ("SELECT * FROM 'secret.csv'", 400, "42P01", None),
        ("SELECT * FROM '../secret.csv'", 403, "42501", None),
        ("SELEC", 400, "42601", Some(1)),
        (" ; ", 400, "42601", None),
    ] {
        let answer = sql(&served, statement);
        let error = &answer.json()["error"];
        assert_eq!(
            (answer.status, error["sqlstate"].as_str()),
            (status, Some(sqlstate)),
            "{statement}: {error}"
        );
        if let Some(position) = position {
            assert_eq!(error["position"], position, "{statement}: {error}");
        }
    }
    for kind in [
        "application/json",
        "text/csv",
        "application/x-ndjson",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.parquet",
    ] {
        let accept = format!("Accept: {kind}");
        let statement = "SELECT CAST(name AS INTEGER) AS n FROM customers";
        let answer = ask(&served, "POST", "/sql", &[&accept], statement);
        assert_eq!(answer.status, 400, "{kind}: {}", answer.headers);
        assert!(
            answer.json()["error"]["message"].is_string(),
            "{kind}: {}",
            answer.text()
        );
    }
    assert_eq!(ask(&served, "GET", "/nothing", &[], "").status, 404);
    let accept = "Accept: image/png";
    assert_eq!(ask(&served, "POST", "/sql", &[accept], "SELECT 1").status, 406);
    let json = "Content-Type: application/json";
    for body in ["", "{}", "[1]", r#"{"sql": 1}"#, r#"{"sql": "SELECT 1", "other": 2}"#] {
        assert_eq!(ask(&served, "POST", "/sql", &[json], body).status, 400, "{body}");
    }
}

#[test]
fn what_there_is_is_told() {
    let served = Served::begin();
    let tables = ask(&served, "GET", "/tables", &[], "").json();
    assert_eq!(tables["schemas"][0]["name"], "public");
    let names: Vec<_> = tables["schemas"][0]["tables"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|table| table["name"].clone())
        .collect();
    assert_eq!(names, ["customers", "numbers", "orders"]);
    assert_eq!(tables["schemas"][1]["tables"][0]["name"], "words");
    let table = ask(&served, "GET", "/tables/orders", &[], "").json();
    assert_eq!(
        (&table["rows"], &table["columns"][2]["type"]),
        (&3.into(), &"date".into()),
        "{table}"
    );
    assert_eq!(
        ask(&served, "GET", "/tables/more.words", &[], "").json()["format"],
        "csv"
    );
    assert_eq!(ask(&served, "GET", "/tables/..%2Fsecret", &[], "").status, 404);
    assert_eq!(ask(&served, "GET", "/healthz", &[], "").text(), "ok");
    drop(sql(&served, "SELECT 1"));
    let metrics = ask(&served, "GET", "/metrics", &[], "").text();
    assert!(metrics.contains("\ntidemill_statements_total 1\n"), "{metrics}");
    let described = ask(&served, "GET", "/openapi.json", &[], "").json();
    assert!(described["paths"]["/sql"]["post"].is_object());
    let page = ask(&served, "GET", "/", &[], "");
    assert!(
        page.text().contains("console.js") && page.headers.contains("content-security-policy: default-src 'none'"),
        "{}",
        page.headers
    );
}

#[test]
fn other_pages_cannot_ask() {
    let served = Served::begin();
    for (headers, status) in [
        (&["Origin: http://localhost"][..], 200),
        (&["Origin: https://evil.example"], 403),
        (&["Origin: null"], 403),
        (&["Sec-Fetch-Site: cross-site"], 403),
        (&["Sec-Fetch-Site: same-origin"], 200),
        (&["Host: evil.example"], 403),
    ] {
        assert_eq!(
            ask(&served, "POST", "/sql", headers, "SELECT 1").status,
            status,
            "{headers:?}"
        );
    }
    assert_eq!(ask(&served, "GET", "/tables", &["Host: evil.example"], "").status, 403);
}

#[test]
fn a_statement_is_cancelled_by_its_name() {
    let served = Served::begin();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let long = "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d";
            ask(&served, "POST", "/sql", &["X-Statement: long"], long)
        });
        while ask(&served, "DELETE", "/sql/long", &[], "").status != 204 {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(50));
        }
        let answer = slow.join().expect("answered");
        assert_eq!(
            (answer.status, answer.json()["error"]["sqlstate"].as_str()),
            (499, Some("57014"))
        );
    });
    assert_eq!(ask(&served, "DELETE", "/sql/long", &[], "").status, 404);
}

#[test]
fn rows_that_are_sent_end_when_they_are_cancelled() {
    let served = Served::begin();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            // A billion rows.
            let long = "SELECT a.n FROM numbers a, numbers b, numbers c";
            ask(
                &served,
                "POST",
                "/sql",
                &["Accept: text/csv", "X-Statement: rows"],
                long,
            )
        });
        while ask(&served, "DELETE", "/sql/rows", &[], "").status != 204 {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(50));
        }
        let answer = slow.join().expect("answered");
        // Without the last piece of the body, a client knows that it is not whole.
        assert!(answer.status == 499 || !answer.is_whole, "{}", answer.headers);
    });
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// A cancellation may come between the first rows and the headers, which the client needs nevertheless.
#[test]
fn whoever_is_cancelled_early_gets_headers() {
    let served = Served::begin();
    for _ in 0..100 {
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                let rows = "SELECT a.n FROM numbers a, numbers b, numbers c";
                ask(
                    &served,
                    "POST",
                    "/sql",
                    &["Accept: text/csv", "X-Statement: early"],
                    rows,
                )
            });
            while ask(&served, "DELETE", "/sql/early", &[], "").status != 204 {}
            let answer = asked.join().expect("answered");
            assert!(answer.status == 499 || !answer.is_whole, "{}", answer.headers);
        });
    }
}

#[test]
fn statements_of_one_name_are_cancelled_together() {
    let served = Served::begin();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let both = [(), ()].map(|()| {
            scope.spawn(|| {
                let long = "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d";
                ask(&served, "POST", "/sql", &["X-Statement: both"], long).status
            })
        });
        // One may begin after the other was cancelled.
        while both.iter().any(|statement| !statement.is_finished()) {
            ask(&served, "DELETE", "/sql/both", &[], "");
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(both.map(|statement| statement.join().expect("answered")), [499, 499]);
    });
}

#[test]
fn the_commands_of_the_page_about_serving_work() {
    let folder = crate::run::Folder::with(&[]);
    drop(folder.run(&["tour", "--load-test", "0"]).done());
    let served = Served::with(folder, &["tidemill-tour/books"]);
    let http = served.http.expect("it listens").to_string();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md");
    let page = std::fs::read_to_string(page).expect("read");
    let flight = served.flight.expect("it listens").to_string();
    let is_run = |line: &&str| line.starts_with("curl ") || line.contains("flight://127.0.0.1:8815/public");
    let commands: Vec<&str> = page
        .lines()
        .filter(|line| !line.starts_with('|'))
        .filter(is_run)
        .collect();
    assert_eq!(commands.len(), 7);
    for command in commands {
        let here = command
            .replace("127.0.0.1:8080", &http)
            .replace("127.0.0.1:8815", &flight)
            .replace("tidemill ", &format!("{} ", env!("CARGO_BIN_EXE_tidemill")))
            .replace("curl ", "curl --fail-with-body -sS ");
        let output = std::process::Command::new("sh")
            .args(["-c", &here])
            .current_dir(served.path())
            .output();
        let run = crate::run::Run::of(output.expect("sh"));
        assert_eq!(
            run.code,
            Some(0),
            "{command}: {}{}",
            String::from_utf8_lossy(&run.stdout),
            run.stderr
        );
    }
    let read = served
        .folder()
        .run(&["sql", "SELECT COUNT(*) AS n FROM 'orders.parquet'", "--format", "csv"]);
    assert_eq!(read.done(), "n\n58855\n");
    let psql = served.psql("SELECT COUNT(*) FROM public.orders");
    assert_eq!(psql.done(), "58855\n");
}

#[test]
fn users_have_passwords_and_rights() {
    let folder = books();
    for (name, rights) in [
        ("ann", &["--write"][..]),
        ("bob", &["--schemas", "more", "--rows", "5"]),
    ] {
        super::add_user(&folder, name, "secret", rights);
    }
    let written = std::fs::read_to_string(folder.file("users")).expect("read");
    assert!(
        written.contains("SCRAM-SHA-256$4096:") && !written.contains("secret"),
        "{written}"
    );
    let served = Served::with(folder, &["books", "more", "--users", "users"]);
    let as_user = |user: &str, statement: &str| ask(&served, "POST", "/sql", &[&basic(user)], statement).status;
    let refused = sql(&served, "SELECT 1");
    assert!(
        refused.status == 401 && refused.headers.contains("www-authenticate: Basic"),
        "{}",
        refused.headers
    );
    assert_eq!(as_user("ann:secret", "UPDATE orders SET total = total"), 200);
    assert_eq!(as_user("bob:secret", "SELECT * FROM more.words"), 200);
    assert_eq!(as_user("bob:secret", "SELECT * FROM orders"), 400);
    assert_eq!(as_user("bob:secret", "DELETE FROM more.words"), 403);
    assert_eq!(as_user("bob:secret", "SELECT 1; SELECT 2"), 200);
    assert_eq!(
        as_user("bob:secret", "SELECT * FROM (EXECUTE PROCEDURE sp_ZapTable('words')) x"),
        400
    );
    // psql logs in by SCRAM.
    assert_eq!(served.psql("SELECT w FROM more.words").done(), "ä\n");
    assert_eq!(ask(&served, "GET", "/healthz", &[], "").status, 200);
    assert_eq!(
        ask(&served, "GET", "/tables", &[&basic("bob:secret")], "").json()["schemas"][0]["name"],
        "more"
    );
    for _ in 0..3 {
        assert_eq!(as_user("ann:wrong", "SELECT 1"), 401);
    }
    assert_eq!(as_user("ann:secret", "SELECT 1"), 429);
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(as_user("ann:secret", "SELECT 1"), 200);
    let listed = served.folder().run(&["user", "remove", "bob", "--users", "users"]);
    drop(listed.done());
    assert!(
        !std::fs::read_to_string(served.path().join("users"))
            .expect("read")
            .contains("bob")
    );
}

#[test]
fn other_machines_need_users_and_a_certificate() {
    let folder = books();
    for address in ["--postgres", "--flight", "--http"] {
        let said = folder.run(&["serve", "books", address, "0.0.0.0:0"]).failed();
        assert!(
            said.contains("0.0.0.0:0 can be reached by other machines") && said.contains("tidemill user add"),
            "{said}"
        );
    }
    let said = folder.run(&["serve", "nothing"]).failed();
    assert!(said.contains("nothing: no such folder"), "{said}");
    let said = folder
        .run(&["serve", "books", "more", "--attach", "MORE=books"])
        .failed();
    assert!(said.contains("would be named MORE"), "{said}");
    std::fs::write(folder.file("users"), "ann secret\n").expect("written");
    let said = folder.run(&["serve", "books", "--users", "users"]).failed();
    assert!(
        said.contains("users, line 1") && said.contains("SCRAM-SHA-256$"),
        "{said}"
    );
}
