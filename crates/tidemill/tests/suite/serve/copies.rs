//! Copies that are begun over HTTP, deleted records, and reports of load tests.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidemill_testkit::{Python, corpus};

use super::http::{ask, basic};
use super::{Served, add_user, books};
use crate::run::Run;

const JSON: &str = "Content-Type: application/json";

fn begin(served: &Served, headers: &[&str], copy: &Value) -> (u16, Value) {
    let mut all = vec![JSON];
    all.extend(headers);
    let answer = ask(served, "POST", "/copies", &all, &copy.to_string());
    (answer.status, answer.json())
}

/// The copy, when it has ended.
fn ended(served: &Served, headers: &[&str], begun: &Value) -> Value {
    let start = Instant::now();
    loop {
        let copies = ask(served, "GET", "/copies", headers, "").json();
        let found = copies["copies"].as_array().expect("a list").iter();
        let mut found = found.filter(|copy| copy["id"] == begun["id"]);
        let copy = found
            .next()
            .unwrap_or_else(|| panic!("{begun} is not among {copies}"))
            .clone();
        if copy["state"] != "running" {
            return copy;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{copy}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Serves the books, a folder `out` and a database of SQLite `shop`.
fn with_targets(args: &[&str]) -> Served {
    let folder = books();
    std::fs::create_dir(folder.file("out")).expect("made");
    drop(folder.run(&["copy", "books/customers.dbf", "sqlite:shop.db//known", "--create"]));
    let mut all = vec!["books", "--attach", "out=out", "--attach", "shop=sqlite:shop.db"];
    all.extend(args);
    Served::with(folder, &all)
}

#[test]
fn tables_and_answers_are_copied_into_what_is_served() {
    let served = with_targets(&[]);
    let tables = ask(&served, "GET", "/tables", &[], "").json();
    let targets: Vec<_> = tables["schemas"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|schema| &schema["target"])
        .collect();
    assert_eq!(targets, ["folder", "folder", "database"]);
    let formats = tables["formats"].as_array().expect("a list").clone();
    assert!(formats.contains(&json!("parquet")), "{formats:?}");

    let orders = json!({ "source": { "table": "orders" }, "target": { "schema": "out", "name": "orders 2024", "format": "parquet" } });
    let (status, begun) = begin(&served, &[], &orders);
    assert_eq!((status, &begun["target"]), (202, &json!("out.orders 2024")), "{begun}");
    let copy = ended(&served, &[], &begun);
    assert_eq!(
        (
            &copy["state"],
            &copy["rows"],
            &copy["expected"],
            &copy["compared_columns"]
        ),
        (&json!("done"), &json!(3), &json!(3), &json!(4)),
        "{copy}"
    );
    // It is a table from now on, which is not replaced unless that is asked for.
    let (status, refused) = begin(&served, &[], &orders);
    assert_eq!(
        (status, &refused["error"]["sqlstate"]),
        (400, &json!("42P07")),
        "{refused}"
    );
    let mut again = orders.clone();
    again["overwrite"] = json!(true);
    let (_, begun) = begin(&served, &[], &again);
    assert_eq!(ended(&served, &[], &begun)["state"], "done");

    let sql =
        "SELECT c.name, SUM(o.total) AS total FROM orders o JOIN customers c ON c.cust_no = o.cust_no GROUP BY c.name";
    let sums = json!({ "source": { "sql": sql }, "target": { "schema": "shop", "name": "sums" }, "verify": "count" });
    let (_, begun) = begin(&served, &[], &sums);
    let copy = ended(&served, &[], &begun);
    assert_eq!((&copy["state"], &copy["rows"]), (&json!("done"), &json!(2)), "{copy}");
    let answer = ask(
        &served,
        "POST",
        "/sql",
        &[],
        "SELECT total FROM shop.sums ORDER BY total",
    )
    .json();
    assert_eq!(
        answer["answers"][0]["rows"].as_array().map(Vec::len),
        Some(2),
        "{answer}"
    );

    // What has ended is taken from the list.
    let path = format!("/copies/{}", begun["id"].as_str().expect("a name"));
    assert_eq!(ask(&served, "DELETE", &path, &[], "").status, 204);
    assert_eq!(ask(&served, "DELETE", &path, &[], "").status, 404);
}

#[test]
fn a_copy_that_cannot_be_made_is_refused() {
    let served = with_targets(&[]);
    let source = json!({ "table": "orders" });
    for (copy, status, sqlstate) in [
        (
            json!({ "source": source, "target": { "schema": "nope", "name": "t", "format": "csv" } }),
            400,
            "3F000",
        ),
        (
            json!({ "source": source, "target": { "schema": "out", "name": "../t", "format": "csv" } }),
            400,
            "42602",
        ),
        (
            json!({ "source": source, "target": { "schema": "out", "name": ".t", "format": "csv" } }),
            400,
            "42602",
        ),
        (
            json!({ "source": source, "target": { "schema": "out", "name": "t?delim=;", "format": "csv" } }),
            400,
            "42602",
        ),
        (
            json!({ "source": source, "target": { "schema": "shop", "name": "t'; DROP TABLE known; --" } }),
            400,
            "42602",
        ),
        (
            json!({ "source": source, "target": { "schema": "out", "name": "t", "format": "csv/../../x" } }),
            400,
            "22023",
        ),
        (
            json!({ "source": source, "target": { "schema": "out", "name": "t" } }),
            400,
            "22023",
        ),
        (
            json!({ "source": { "table": "nope" }, "target": { "schema": "out", "name": "t", "format": "csv" } }),
            400,
            "42P01",
        ),
        (
            json!({ "source": { "table": "../secret.csv" }, "target": { "schema": "out", "name": "t", "format": "csv" } }),
            403,
            "42501",
        ),
        (
            json!({ "source": { "sql": "DELETE FROM orders" }, "target": { "schema": "out", "name": "t", "format": "csv" } }),
            400,
            "42601",
        ),
        (
            json!({ "source": { "sql": "SELEC" }, "target": { "schema": "out", "name": "t", "format": "csv" } }),
            400,
            "42601",
        ),
        (json!({ "source": source }), 400, "22023"),
        (
            json!({ "source": source, "target": { "schema": "out", "name": "t", "format": "csv" }, "verify": "full" }),
            400,
            "0A000",
        ),
    ] {
        let (told, error) = begin(&served, &[], &copy);
        assert_eq!(
            (told, error["error"]["sqlstate"].as_str()),
            (status, Some(sqlstate)),
            "{copy}: {error}"
        );
    }
    // A link is replaced, and what it leads to stays as it is.
    let (link, secret) = (served.path().join("out/link.csv"), served.path().join("secret.csv"));
    std::os::unix::fs::symlink(&secret, &link).expect("linked");
    let copy =
        json!({ "source": source, "target": { "schema": "out", "name": "link", "format": "csv" }, "overwrite": true });
    let (_, begun) = begin(&served, &[], &copy);
    drop(ended(&served, &[], &begun));
    assert_eq!(std::fs::read_to_string(secret).expect("read"), "s\n1\n");
}

#[test]
fn users_copy_what_they_may_read_to_where_they_may_write() {
    let folder = books();
    std::fs::create_dir(folder.file("out")).expect("made");
    add_user(&folder, "ann", "secret", &["--write"]);
    add_user(&folder, "bob", "secret", &[]);
    add_user(&folder, "eve", "secret", &["--write", "--schemas", "out"]);
    let served = Served::with(folder, &["books", "--attach", "out=out", "--users", "users"]);
    let login = |user: &str| basic(&format!("{user}:secret"));
    let (ann, bob, eve) = (login("ann"), login("bob"), login("eve"));
    let copy = json!({ "source": { "table": "orders" }, "target": { "schema": "out", "name": "t", "format": "csv" } });
    assert_eq!(begin(&served, &[&bob], &copy).0, 403);
    let tables = ask(&served, "GET", "/tables", &[&bob], "").json();
    assert_eq!(tables["schemas"][0]["target"], Value::Null, "{tables}");
    // Eve's schema is `out` alone.
    assert_eq!(begin(&served, &[&eve], &copy).0, 400);
    let into_public =
        json!({ "source": { "sql": "SELECT 1 AS n" }, "target": { "schema": "public", "name": "t", "format": "csv" } });
    assert_eq!(begin(&served, &[&eve], &into_public).1["error"]["sqlstate"], "3F000");
    let (status, begun) = begin(&served, &[&ann], &copy);
    assert_eq!(status, 202, "{begun}");
    assert_eq!(ended(&served, &[&ann], &begun)["state"], "done");
    // Nobody sees or stops the copies of others.
    assert_eq!(ask(&served, "GET", "/copies", &[&eve], "").json()["copies"], json!([]));
    let path = format!("/copies/{}", begun["id"].as_str().expect("a name"));
    assert_eq!(ask(&served, "DELETE", &path, &[&eve], "").status, 404);
}

#[test]
fn a_copy_is_stopped() {
    let served = with_targets(&[]);
    let endless = "SELECT a.n FROM numbers a, numbers b, numbers c, numbers d";
    let copy = json!({ "source": { "sql": endless }, "target": { "schema": "out", "name": "t", "format": "csv" } });
    let begun: Vec<Value> = (0..8).map(|_| begin(&served, &[], &copy).1).collect();
    let (status, refused) = begin(&served, &[], &copy);
    assert_eq!(
        (status, &refused["error"]["sqlstate"]),
        (503, &json!("53300")),
        "{refused}"
    );
    let start = Instant::now();
    for copy in &begun {
        let path = format!("/copies/{}", copy["id"].as_str().expect("a name"));
        assert_eq!(ask(&served, "DELETE", &path, &[], "").status, 200);
    }
    for copy in &begun {
        assert_eq!(ended(&served, &[], copy)["state"], "stopped");
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    // No file of them is left.
    let start = Instant::now();
    while std::fs::read_dir(served.path().join("out")).expect("listed").count() > 0 {
        assert!(start.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn deleted_records_are_rows_where_they_are_asked_for() {
    let folder = books();
    drop(
        folder
            .run(&["sql", "DELETE FROM 'books/orders.dbf' WHERE order_no = 2"])
            .done(),
    );
    let served = Served::with(folder, &["books"]);
    let table = ask(&served, "GET", "/tables/orders", &[], "").json();
    assert_eq!((&table["rows"], &table["records"]), (&json!(2), &json!(3)), "{table}");
    let rows = |deleted: bool| {
        let body = json!({ "sql": "SELECT * FROM orders LIMIT 2 OFFSET 1", "deleted": deleted });
        let answer = ask(&served, "POST", "/sql", &[JSON], &body.to_string()).json();
        answer["answers"][0]["rows"].clone()
    };
    assert_eq!(rows(false), json!([[3, 2, "2024-03-01", "30.00"]]));
    let all = json!([
        [2, 2, "2024-03-01", "20.00", true],
        [3, 2, "2024-03-01", "30.00", false]
    ]);
    assert_eq!(rows(true), all);
}

#[test]
fn reports_of_load_tests_are_pages() {
    let folder = books();
    std::fs::create_dir(folder.file("reports")).expect("made");
    for name in ["own_repeated.json", "own_killed.json"] {
        std::fs::copy(corpus("bench/reports").join(name), folder.file("reports").join(name)).expect("copied");
    }
    std::fs::write(folder.file("reports/other.json"), "{}").expect("written");
    std::os::unix::fs::symlink(folder.file("secret.csv"), folder.file("reports/link.json")).expect("linked");
    let served = Served::with(folder, &["books", "--reports", "reports"]);
    let reports = ask(&served, "GET", "/reports", &[], "").json();
    let mut names: Vec<_> = reports["reports"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|report| &report["name"])
        .collect();
    names.sort_by_key(|name| name.as_str());
    assert_eq!(names, ["other.json", "own_killed.json", "own_repeated.json"]);
    let page = ask(&served, "GET", "/reports/own_repeated.json", &[], "");
    assert!(page.status == 200 && page.text().contains("<svg"), "{}", page.headers);
    assert!(
        page.headers.contains("sandbox") && page.headers.contains("text/html"),
        "{}",
        page.headers
    );
    let wrong = ask(&served, "GET", "/reports/other.json", &[], "");
    assert!(
        wrong.status == 400 && wrong.text().contains("other.json"),
        "{}",
        wrong.text()
    );
    for path in ["link.json", "..%2Fsecret.csv", "nope.json"] {
        assert_eq!(
            ask(&served, "GET", &format!("/reports/{path}"), &[], "").status,
            404,
            "{path}"
        );
    }
}

/// The description is what the server does: requests are generated from it, right and wrong ones.
#[test]
fn schemathesis_finds_no_answer_that_is_not_described() {
    let Some(python) = Python::need(&["schemathesis==4.32.5"]) else {
        return;
    };
    let served = with_targets(&[]);
    let address = served.http.expect("it listens");
    let output = python
        .command()
        .args([
            "-m",
            "schemathesis.cli",
            "run",
            &format!("http://{address}/openapi.json"),
        ])
        .args([
            "--url",
            &format!("http://{address}"),
            "--seed",
            "7",
            "--max-examples",
            "100",
            "--request-timeout",
            "20",
        ])
        // What is valid by its form need not be SQL.
        .args([
            "--checks",
            "all",
            "--exclude-checks",
            "positive_data_acceptance",
            "--no-color",
        ])
        .current_dir(served.path())
        .output();
    let run = Run::of(output.expect("schemathesis"));
    assert_eq!(
        run.code,
        Some(0),
        "{}\n{}",
        String::from_utf8_lossy(&run.stdout),
        run.stderr
    );
}
