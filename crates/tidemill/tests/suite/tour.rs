//! `tour`.

use std::fs;
use std::path::PathBuf;

use tidemill_testkit::{Chdb, ClickHouse};

use crate::run::Folder;

#[test]
fn the_tour_of_the_books_ends_with_equal_answers_and_a_report() {
    let folder = Folder::with(&[]);
    let shown = folder.run(&["tour", "--out", "out", "--load-test", "1"]).done();
    assert!(shown.contains("All 5 answers agree in all formats."), "{shown}");
    assert!(
        shown.contains("$ tidemill bench run out/load_test.rn xbase:out/books"),
        "{shown}"
    );
    assert!(!shown.contains("ANOTHER ANSWER"), "{shown}");
    assert!(shown.contains("\nnext: tidemill serve out/books "), "{shown}");
    assert_eq!(shown.matches("same answer").count(), 10, "{shown}");
    assert!(shown.contains("$ tidemill sql --dir out/books \"SELECT"), "{shown}");
    let page = fs::read_to_string(folder.file("out/report.html")).expect("a report");
    assert_eq!(page.matches("<svg").count(), 3, "sizes, times and the load test");
    assert_eq!(page.matches("the same answer").count(), 10);
    assert!(
        !page.contains("src=") && !page.contains("href="),
        "the page needs nothing beside itself"
    );
    assert!(
        page.contains("Köln") || page.contains("München"),
        "umlauts went from code page 850 to the page"
    );
}

#[test]
fn the_books_are_the_same_every_time() {
    let folder = Folder::with(&[]);
    folder.run(&["tour", "--out", "one", "--load-test", "0"]).done();
    folder.run(&["tour", "--out", "two", "--load-test", "0"]).done();
    for name in [
        "CUSTOMERS.DBF",
        "LINES.DBF",
        "LINES.FPT",
        "ORDERS.DBF",
        "ORDERS.FPT",
        "PRODUCTS.DBF",
    ] {
        let read = |out: &str| {
            fs::read(folder.file(&format!("{out}/books/{name}"))).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        assert!(read("one") == read("two"), "{name}");
    }
}

#[test]
fn the_tour_takes_tables_of_ones_own() {
    let folder = Folder::with(&["xbase/types_vfp.dbf", "xbase/types_vfp.fpt", "xbase/ord_cdx.dbf"]);
    let shown = folder.run(&["tour", ".", "--out", "out"]).done();
    assert!(shown.contains("All 5 answers agree in all formats."), "{shown}");
}

/// The commands that ask the server in its own SQL, one by one; a server of today answers the same to the same words.
fn ask_in_own_words(folder: &Folder, out: &str, shown: &str, url: &str) {
    let mut today = Chdb::need();
    let copies: Vec<PathBuf> = fs::read_dir(folder.file(&format!("{out}/parquet")))
        .expect("copies")
        .map(|copy| copy.expect("a copy").path())
        .collect();
    let mut asked = 0;
    for command in shown
        .lines()
        .filter_map(|line| line.strip_prefix("$ tidemill sql --server "))
    {
        // The URL is shown without its password.
        let (_, sql) = command.split_once(' ').expect("a URL and a statement");
        let sql = sql.trim_matches('"').replace("\\`", "`");
        let answer = folder.run(&["sql", "--server", url, &sql, "--format", "csv"]).done();
        let (_, rows) = answer.split_once('\n').expect("a line of names");
        assert!(!rows.is_empty(), "{sql}");
        asked += 1;
        let Some(today) = &mut today else { continue };
        let mut over_copies = sql.clone();
        for copy in &copies {
            let table = copy.file_stem().expect("a name").to_string_lossy();
            let read = format!("FROM file('{}', Parquet) AS {table}", copy.display());
            over_copies = over_copies
                .replace(&format!("FROM {table}"), &read)
                .replace(&format!("FROM `{table}`"), &read);
        }
        let theirs = today.query(&over_copies, "CSV").expect(&over_copies);
        let theirs = String::from_utf8(theirs).expect("text");
        assert_eq!(plain(rows), plain(&theirs), "{sql}");
    }
    assert_eq!(asked, 5, "{shown}");
}

/// CSV without quotes and marks of NULL, its numbers without zeros at their end.
fn plain(csv: &str) -> String {
    let plain_field = |field: &str| match field.contains('.') {
        true => field.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => field.replace("\\N", ""),
    };
    let lines = csv.lines().map(|line| {
        let fields = line.split(',').map(|field| plain_field(field.trim_matches('"')));
        fields.collect::<Vec<_>>().join(",")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_tour_asks_a_server_about_tables_of_ones_own() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = Folder::with(&["xbase/ord_cdx.dbf"]);
    folder.run(&["tour", "--out", "out", "--load-test", "0"]).done();
    server.query("CREATE DATABASE own").expect("a database");
    // The server as clickhouse-client would find it.
    let address = server.native();
    let config = format!(
        "<config><host>{}</host><port>{}</port></config>",
        address.ip(),
        address.port()
    );
    fs::write(folder.file("client.xml"), config).expect("written");
    let url = "clickhouse:///own?config=client.xml";
    for tables in ["out/books", "."] {
        let shown = folder
            .run(&[
                "tour",
                tables,
                "--out",
                "again",
                "--load-test",
                "0",
                "--clickhouse",
                url,
            ])
            .done();
        assert!(shown.contains("All 5 answers agree in all formats."), "{shown}");
        ask_in_own_words(&folder, "again", &shown, url);
    }
    let statement = ["sql", "--server", url, "DROP TABLE `ord_cdx`"];
    folder.run(&statement).done();
    let error = folder.run(&statement).failed();
    assert_eq!(error.matches("doesn't exist").count(), 1, "{error}");
}

#[test]
fn the_tour_goes_on_to_a_server_when_there_is_one() {
    let Some(server) = ClickHouse::need() else { return };
    let folder = Folder::with(&[]);
    let url = format!("clickhouse://default:@{}/default", server.native());
    for _ in 0..2 {
        let shown = folder
            .run(&["tour", "--out", "out", "--load-test", "0", "--clickhouse", &url])
            .done();
        assert!(shown.contains("All 5 answers agree in all formats."), "{shown}");
        assert_eq!(shown.matches("same answer").count(), 20, "{shown}");
        assert!(shown.contains(" --create --overwrite"), "{shown}");
        ask_in_own_words(&folder, "out", &shown, &url);
    }
    let tables = server.query("SHOW TABLES").expect("tables");
    assert_eq!(
        tables.split_whitespace().collect::<Vec<_>>(),
        ["CUSTOMERS", "LINES", "ORDERS", "PRODUCTS"]
    );

    // The commands that it showed, one by one.
    folder
        .run(&["copy", "out/books", &url, "--create", "--overwrite"])
        .done();
    let asked = [
        "sql",
        "SELECT COUNT(*) AS n FROM customers",
        "--dir",
        &url,
        "--format",
        "csv",
    ];
    let from_the_server = folder.run(&asked).done();
    let asked = [
        "sql",
        "SELECT COUNT(*) AS n FROM customers",
        "--dir",
        "out/books",
        "--format",
        "csv",
    ];
    assert_eq!(from_the_server, folder.run(&asked).done());
    let table = format!("{url}/customers");
    folder.run(&["copy", &table, "back.parquet"]).done();
    // Logicals are numbers on a server of this age.
    let ask = |table: &str| {
        let sql = format!("SELECT cust_no, name, city, since, credit FROM '{table}' ORDER BY cust_no");
        folder.run(&["sql", &sql, "--format", "csv", "--blank", "null"]).done()
    };
    assert!(ask("back.parquet") == ask("out/books/customers.dbf"));
    let secret = url.replace("default:@", "default@") + "?password=";
    let table = secret.replace("?", "/products?");
    let line = folder.run(&["cat", &table, "--limit", "1", "--format", "csv"]).done();
    assert_eq!(line.lines().count(), 2, "{line}");
    assert!(folder.run(&["inspect", &table]).done().contains("PROD_NO"));
    assert!(
        folder
            .run(&["verify", &table])
            .done()
            .contains("792 records, no damage")
    );
    folder.run(&["copy", &url, "all", "--to", "riegeli"]).done();
    assert!(folder.file("all/ORDERS.riegeli").is_file());
    let wrong = url.replace("default:@", "default:opensesame@");
    assert!(
        !folder
            .run(&["copy", &wrong, "all", "--to", "csv"])
            .failed()
            .contains("opensesame")
    );
}
