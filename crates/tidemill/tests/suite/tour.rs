//! `tour`.

use std::fs;

use tidemill_testkit::ClickHouse;

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
        assert_eq!(shown.matches("same answer").count(), 15, "{shown}");
        assert!(shown.contains(" --create --overwrite"), "{shown}");
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
