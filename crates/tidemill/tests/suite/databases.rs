//! Folders of tables into databases, with their keys.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidemill_testkit::{MariaDb, Postgres};

use crate::big_table;
use crate::run::Folder;

/// Two tables with indexes.
fn books() -> Folder {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.file("books")).expect("made");
    for statement in [
        "CREATE TABLE 'books/orders.dbf' (order_no Integer, cust_no Integer, day Date, total Numeric(10, 2))",
        "CREATE TABLE 'books/customers.dbf' (cust_no Integer, name Char(20), city Char(20))",
        "INSERT INTO 'books/customers.dbf' VALUES (1, 'Ann', 'York'), (2, 'Olav', 'Oslo')",
        "INSERT INTO 'books/orders.dbf' VALUES (1, 1, '2024-02-29', 10.5), (2, 2, '2024-03-01', 20), (3, 2, '2024-03-01', 30)",
        "CREATE INDEX order_no ON 'books/orders.dbf' (order_no)",
        "CREATE INDEX by_day ON 'books/orders.dbf' (day, order_no)",
        "EXECUTE PROCEDURE sp_CreateIndex('books/customers.dbf', NULL, 'BY_NAME', 'UPPER(name)', NULL, 2, 512)",
        "CREATE INDEX cust_no ON 'books/customers.dbf' (cust_no)",
    ] {
        drop(folder.run(&["sql", statement]).done());
    }
    folder
}

fn check(folder: &Folder, database: &str, indexes: &str) {
    let copied = folder.run(&["copy", "books", database, "--create", "--keys", "--verify", "full"]);
    let told = copied.stderr.clone();
    drop(copied.done());
    assert!(told.contains("BY_NAME") && told.contains("left out"), "{told}");
    let sql = |place: &str, statement: &str| {
        let answer = folder.run(&["sql", place, database, statement, "--format", "csv"]);
        answer.done()
    };
    let listed = sql("--server", indexes).to_lowercase();
    assert_eq!(listed.lines().count(), 4, "{listed}");
    for columns in ["(order_no)", "day", "(cust_no)"] {
        assert!(listed.replace('"', "").contains(columns), "{listed}");
    }
    let joined = "SELECT c.city, SUM(o.total) AS total FROM orders o JOIN customers c ON c.cust_no = o.cust_no \
                  GROUP BY c.city ORDER BY 1";
    assert_eq!(
        sql("--dir", joined).to_lowercase(),
        "city,total\noslo,50.00\nyork,10.50\n"
    );
    let again = folder.run(&["copy", "books", database, "--create"]).failed();
    assert!(again.contains("already exists"), "{again}");
    drop(
        folder
            .run(&["copy", "books", database, "--create", "--overwrite", "--keys"])
            .done(),
    );
    // A resumed copy has the same keys.
    let resumed = [
        "copy",
        "books",
        database,
        "--create",
        "--overwrite",
        "--keys",
        "--resume",
        "--verify",
        "full",
    ];
    drop(folder.run(&resumed).done());
    assert_eq!(sql("--server", indexes).to_lowercase(), listed);
    drop(folder.run(&["copy", database, "back", "--to", "dbf"]).done());
    let all = folder.run(&["sql", "SELECT COUNT(*) AS n FROM 'back/orders.dbf'", "--format", "csv"]);
    assert_eq!(all.done(), "n\n3\n");
}

#[test]
fn a_table_of_a_database_is_replaced_by_create_and_overwrite_alone() {
    let folder = books();
    let shop = "sqlite:shop.db/orders";
    drop(folder.run(&["copy", "books/orders.dbf", shop, "--create"]).done());
    let count = |expected: &str| {
        let counted = folder.run(&[
            "sql",
            "--dir",
            "sqlite:shop.db",
            "SELECT COUNT(*) AS n FROM orders",
            "--format",
            "csv",
        ]);
        assert_eq!(counted.done(), format!("n\n{expected}\n"));
    };
    for options in [&["--overwrite"][..], &["--overwrite", "--dry-run"]] {
        let refused = folder
            .run(&[&["copy", "books/orders.dbf", shop], options].concat())
            .failed();
        assert!(refused.contains("add --create"), "{refused}");
    }
    count("3");
    drop(
        folder
            .run(&["copy", "books/orders.dbf", shop, "--create", "--overwrite"])
            .done(),
    );
    count("3");
    drop(folder.run(&["copy", "books/orders.dbf", shop]).done());
    count("6");
}

#[test]
fn a_statement_over_a_database_makes_no_table_beside_it() {
    let folder = books();
    drop(
        folder
            .run(&["copy", "books/orders.dbf", "sqlite:shop.db/orders", "--create"])
            .done(),
    );
    for sql in ["CREATE TABLE made (a INTEGER)", "SELECT order_no INTO made FROM orders"] {
        let refused = folder.run(&["sql", "--dir", "sqlite:shop.db", sql]).failed();
        assert!(refused.contains("tidemill copy --create"), "{sql}: {refused}");
    }
    assert!(!folder.file("made.dbf").exists());
}

#[test]
fn a_folder_goes_into_sqlite_with_its_indexes() {
    let folder = books();
    let indexes = "SELECT sql FROM sqlite_schema WHERE type = 'index' ORDER BY name";
    check(&folder, "sqlite:shop.db", indexes);
    let run = folder.run(&["inspect", "shop.db"]);
    assert!(run.stderr.contains("sqlite:FILE/TABLE"), "{}", run.stderr);
}

#[test]
fn a_folder_goes_into_postgresql_with_its_indexes() {
    let Some(server) = Postgres::need() else { return };
    let indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1";
    check(&books(), &server.url(), indexes);
}

#[test]
fn a_folder_goes_into_mariadb_with_its_indexes() {
    let Some(server) = MariaDb::need() else { return };
    let indexes = "SELECT TABLE_NAME, CONCAT('(', GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX), ')') AS columns \
                   FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'shop' GROUP BY TABLE_NAME, INDEX_NAME ORDER BY 1, 2";
    check(&books(), &server.url(), indexes);
}

/// Copies tables of a Visual FoxPro container. `keys` lists the foreign keys of a database.
fn check_relations(database: &str, keys: &str, expected: &[&str]) {
    let folder = Folder::with(&[]);
    folder.add("xbase/containers/shop", "shop");
    let copy = |more: &[&str]| folder.run(&[&["copy", "shop", database, "--create", "--keys"], more].concat());
    let planned = copy(&["--dry-run"]).done();
    assert!(
        planned.contains(" foreign key (order_no) to orders (order_no) on delete cascade\n"),
        "{planned}"
    );
    let listed = || {
        let answer = folder.run(&["sql", "--server", database, keys, "--format", "csv"]);
        answer.done().to_lowercase().replace('"', "")
    };
    let all = format!("{}\n", expected.join("\n")).to_lowercase();
    // A table that is whole already has its keys once.
    for more in [
        &["--resume"][..],
        &["--resume"],
        &["--overwrite"],
        &["--overwrite", "--resume"],
    ] {
        let copied = copy(more);
        let told = copied.stderr.clone();
        drop(copied.done());
        assert!(
            told.contains("relations left out: customers (the keys of its index tag boss are not unique)"),
            "{told}"
        );
        assert!(!told.contains("foreign key"), "{told}");
        assert_eq!(listed(), all, "{more:?}");
    }
    let inspected = folder.run(&["inspect", "shop/orders.dbf"]).done();
    assert!(
        inspected.contains("cust_no to Customers (cust_no), update: cascade, delete: restrict, insert: restrict"),
        "{inspected}"
    );
    // A copy that fails leaves the keys that there were: before it has begun, and half way.
    let items = folder.file("shop/items.dbf");
    let whole = std::fs::read(&items).expect("read");
    std::fs::write(&items, &whole[..whole.len() - 30]).expect("written");
    let failed = copy(&["--overwrite"]).failed();
    assert!(failed.contains("nothing was copied"), "{failed}");
    assert!(failed.contains("items.dbf"), "{failed}");
    assert_eq!(listed(), all);
    let said = copy(&["--overwrite", "--keep-going"]).stderr;
    assert!(said.contains("not copied: "), "{said}");
    assert_eq!(listed(), all);
    std::fs::write(&items, &whole).expect("written");
    let other = folder.file("shop/employees.dbf");
    for sql in [
        "CREATE TABLE 'shop/employees.dbf' (amount NUMERIC(8, 2))",
        "INSERT INTO 'shop/employees.dbf' VALUES (12.50)",
    ] {
        drop(folder.run(&["sql", sql]).done());
    }
    let mut bytes = std::fs::read(&other).expect("read");
    let place = bytes.windows(5).rposition(|part| part == b"12.50").expect("the amount");
    bytes[place..place + 5].copy_from_slice(b"12,xx");
    std::fs::write(&other, &bytes).expect("written");
    let failed = copy(&["--overwrite"]).failed();
    assert!(failed.contains("(--keep-going copies the others)"), "{failed}");
    assert_eq!(listed(), all);
    std::fs::remove_file(&other).expect("removed");
    // Visual FoxPro keeps no relation of itself, so that records may have no parent.
    drop(
        folder
            .run(&["sql", "INSERT INTO 'shop/orders.dbf' VALUES (13, 9, NULL)"])
            .done(),
    );
    for more in [&["--overwrite"][..], &["--overwrite", "--resume"]] {
        let copied = copy(more);
        let told = copied.stderr.clone();
        drop(copied.done());
        assert!(
            told.contains("orders: foreign key (cust_no) to customers"),
            "{more:?}: {told}"
        );
    }
    let count = folder.run(&[
        "sql",
        "--dir",
        database,
        "SELECT COUNT(*) AS n FROM orders",
        "--format",
        "csv",
    ]);
    assert_eq!(count.done(), "n\n4\n");
    // SQLite has a key from the start, and asks nobody whether it holds.
    let left = listed().lines().count();
    assert_eq!(left, if database.starts_with("sqlite") { 4 } else { 3 }, "{}", listed());
}

#[test]
fn relations_of_a_container_are_foreign_keys_in_sqlite() {
    let keys = "SELECT child.name AS child, key.\"from\", key.\"table\", key.on_update, key.on_delete \
                FROM sqlite_schema child, pragma_foreign_key_list(child.name) key ORDER BY 1";
    let expected = [
        "child,from,table,on_update,on_delete",
        "customers,boss,customers,NO ACTION,NO ACTION",
        "items,order_no,orders,NO ACTION,CASCADE",
        "orders,cust_no,customers,CASCADE,NO ACTION",
    ];
    check_relations("sqlite:shop.db", keys, &expected);
}

#[test]
fn relations_of_a_container_are_foreign_keys_in_postgresql() {
    let Some(server) = Postgres::need() else { return };
    let keys = "SELECT conrelid::regclass::text AS child, pg_get_constraintdef(oid) AS key FROM pg_constraint \
                WHERE contype = 'f' ORDER BY 1";
    let expected = [
        "child,key",
        "customers,FOREIGN KEY (boss) REFERENCES customers(cust_no)",
        "items,FOREIGN KEY (order_no) REFERENCES orders(order_no) ON DELETE CASCADE",
        "orders,FOREIGN KEY (cust_no) REFERENCES customers(cust_no) ON UPDATE CASCADE",
    ];
    check_relations(&server.url(), keys, &expected);
}

#[test]
fn relations_of_a_container_are_foreign_keys_in_mariadb() {
    let Some(server) = MariaDb::need() else { return };
    let keys = "SELECT table_name AS child, referenced_table_name AS parent, update_rule, delete_rule \
                FROM information_schema.referential_constraints WHERE constraint_schema = database() ORDER BY 1";
    let expected = [
        "child,parent,update_rule,delete_rule",
        "customers,customers,RESTRICT,RESTRICT",
        "items,orders,RESTRICT,CASCADE",
        "orders,customers,CASCADE,RESTRICT",
    ];
    check_relations(&server.url(), keys, &expected);
}

#[test]
fn a_copy_that_is_interrupted_leaves_nothing_in_mariadb() {
    let Some(server) = MariaDb::need() else { return };
    let tables = || server.query("SHOW TABLES").expect("tables");
    let folder = Folder::with(&[]);
    let (rows, there) = (
        "SELECT value AS n FROM generate_series(1, 100000000)",
        format!("{}/numbers", server.url()),
    );
    let mut command = folder.command(&["copy", rows, &there, "--create"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut copying = command.spawn().expect("started");
    let begun = Instant::now();
    while tables().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "no table is made");
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupt = Command::new("kill").args(["-INT", &copying.id().to_string()]).status();
    assert!(interrupt.expect("kill").success());
    assert_eq!(copying.wait().expect("ended").code(), Some(130));
    // A server that has much to undo may still be at it.
    let told = Instant::now();
    while !tables().is_empty() {
        assert!(told.elapsed() < Duration::from_secs(60), "{}", tables());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn rows_of_a_database_are_changed_by_update_and_delete() {
    let folder = books();
    folder
        .run(&["copy", "books", "sqlite:shop.db", "--create", "--keys"])
        .done();
    let sql = |statement: &str| folder.run(&["sql", "--attach", "shop=sqlite:shop.db", statement]);
    let update = "UPDATE shop.orders SET total = 12.25, day = DATE '2024-04-01' WHERE cust_no = 2 AND order_no < 3";
    assert_eq!(sql(update).done(), "{\"rows\":1}\n");
    assert_eq!(
        sql("DELETE FROM shop.orders o WHERE o.total = 10.5 OR o.order_no IN (3, 4)")
            .failed()
            .lines()
            .count(),
        1
    );
    assert_eq!(
        sql("DELETE FROM shop.orders o WHERE o.order_no IN (3, 4)").done(),
        "{\"rows\":1}\n"
    );
    let refused = sql("UPDATE shop.customers SET city = UPPER(city)").failed();
    assert!(
        refused.contains("sqlite:shop.db/customers") && refused.contains("--server"),
        "{refused}"
    );
    let script =
        "UPDATE shop.customers SET city = 'Bonn' WHERE name = 'Ann'; SELECT city FROM shop.customers ORDER BY cust_no";
    assert!(
        sql(script)
            .done()
            .ends_with("{\"CITY\":\"Bonn\"}\n{\"CITY\":\"Oslo\"}\n"),
        "the script"
    );
    let orders = sql("SELECT order_no, total, day FROM shop.orders ORDER BY order_no").done();
    assert_eq!(
        orders,
        "{\"ORDER_NO\":1,\"TOTAL\":10.50,\"DAY\":\"2024-02-29\"}\n{\"ORDER_NO\":2,\"TOTAL\":12.25,\"DAY\":\"2024-04-01\"}\n"
    );
}

/// Kills copies of so many records as soon as a part of the rows is committed, and resumes them. `names` lists the tables of the database.
fn check_resuming(database: &str, names: &str, records: u32) {
    let folder = Folder::with(&[]);
    let place = format!("{database}/big");
    let sql = |way: &str, statement: &str| {
        let answer = folder.run(&["sql", way, database, statement, "--format", "csv"]);
        answer.done().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let drafts = || {
        let names = folder.run(&["sql", "--server", database, names, "--format", "csv"]);
        // There is no database yet, or its first table is just being made.
        let names = if names.code == Some(0) {
            names.done()
        } else {
            String::new()
        };
        let drafts = names.lines().filter(|name| name.contains("tidemill_copy"));
        drafts.map(|name| name.trim_matches('"').to_owned()).collect::<Vec<_>>()
    };
    // None of a table that has just been dropped or renamed.
    let rows = |table: &str| -> u32 {
        let count = format!("SELECT COUNT(*) AS n FROM \"{table}\"");
        let counted = folder.run(&["sql", "--dir", database, &count, "--format", "csv"]);
        let counted = String::from_utf8_lossy(&counted.stdout);
        let rows = counted.lines().nth(1).and_then(|rows| rows.parse().ok());
        rows.unwrap_or(0)
    };
    let kill = |copy: &[&str], outdated: &[String]| {
        let mut command = folder.command(copy);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut copying = command.spawn().expect("started");
        let begun = Instant::now();
        // It waits while it is looked at, so that it does not end meanwhile.
        let signal = |name: &str| {
            let sent = Command::new("kill").args([name, &copying.id().to_string()]).status();
            assert!(sent.expect("kill").success(), "{name}");
        };
        loop {
            signal("-STOP");
            let is_begun = |draft: &String| !outdated.contains(draft) && rows(draft) > 0;
            if drafts().iter().any(is_begun) {
                break;
            }
            signal("-CONT");
            assert!(begun.elapsed() < Duration::from_secs(60), "no rows are committed");
            std::thread::sleep(Duration::from_millis(20));
        }
        copying.kill().expect("killed");
        copying.wait().expect("ended");
        // A database that undoes what was not committed may be locked for a moment.
        let killed = Instant::now();
        let drafts = loop {
            let found = drafts();
            if !found.is_empty() || killed.elapsed() > Duration::from_secs(20) {
                break found;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        assert!(!drafts.is_empty(), "nothing is left to resume");
        let committed = rows(&drafts[0]);
        assert!(
            drafts.len() == 1 && (1..records).contains(&committed),
            "{drafts:?}, {committed} rows"
        );
    };
    let copy = ["copy", "BIG.DBF", &place, "--create", "--resume", "--primary-key", "id"];

    big_table::write(&folder.file("BIG.DBF"), records);
    kill(&copy, &[]);
    let told = || {
        let run = folder.run(&copy);
        let told = run.stderr.clone();
        drop(run.done());
        told
    };
    let resumed = told();
    // All but those that were committed.
    assert!(!resumed.contains("400,000 rows"), "{resumed}");
    assert!(drafts().is_empty());
    let whole = format!("{records},{records},0,{}", records - 1);
    let ids = "SELECT COUNT(*), COUNT(DISTINCT id), MIN(id), MAX(id) FROM big";
    assert_eq!(sql("--dir", ids), [whole.as_str()]);
    // It has its key.
    let twice = folder.run(&["copy", "BIG.DBF", &place]).failed();
    assert!(twice.contains("big"), "{twice}");
    assert_eq!(sql("--dir", ids), [whole.as_str()]);
    // It is whole: nothing is left to do, and nothing is added to a table of other rows.
    let again = told();
    assert!(again.contains(" 0 rows"), "{again}");
    big_table::write(&folder.file("BIG.DBF"), records + 1);
    let other = folder.run(&copy).failed();
    assert!(other.contains("already exists"), "{other}");
    big_table::write(&folder.file("BIG.DBF"), records - 1);
    let fewer = folder.run(&copy).failed();
    assert!(fewer.contains("still there"), "{fewer}");

    // One that is replaced is read until the new one is whole, and a draft of rows that the file has no more is dropped.
    let replace = [&copy[..], &["--overwrite", "--verify", "full"]].concat();
    kill(&replace, &[]);
    let outdated = drafts();
    assert_eq!(sql("--dir", ids), [whole.as_str()]);
    big_table::write(&folder.file("BIG.DBF"), records);
    kill(&replace, &outdated);
    assert_ne!(drafts(), outdated);
    drop(folder.run(&replace).done());
    assert!(drafts().is_empty());
    assert_eq!(sql("--dir", ids), [whole.as_str()]);
}

#[test]
fn a_copy_that_has_nothing_to_resume_makes_no_database() {
    let folder = books();
    let resumed = ["copy", "books/orders.dbf", "sqlite:none.db/orders", "--resume"];
    let refused = folder.run(&resumed).failed();
    assert!(refused.contains("no such table"), "{refused}");
    assert!(!folder.file("none.db").exists());
}

#[test]
fn a_copy_into_sqlite_that_was_killed_is_resumed() {
    // SQLite writes more rows in the time in which the test looks.
    check_resuming(
        "sqlite:shop.db",
        "SELECT name FROM sqlite_schema WHERE type = 'table'",
        1_500_000,
    );
}

#[test]
fn a_copy_into_postgresql_that_was_killed_is_resumed() {
    let Some(server) = Postgres::need() else { return };
    check_resuming(
        &server.url(),
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
        400_000,
    );
}

#[test]
fn a_copy_into_mariadb_that_was_killed_is_resumed() {
    let Some(server) = MariaDb::need() else { return };
    let names = "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop'";
    check_resuming(&server.url(), names, 400_000);
}

#[test]
fn rows_of_another_store_are_added_to_a_table_of_a_folder_that_is_named_from_here() {
    let folder = books();
    std::fs::write(folder.file("books/numbers.csv"), "n\n7\n8\n").expect("written");
    let sql = |statement: &str| {
        folder
            .run(&["sql", "--dir", "books", statement, "--format", "csv"])
            .done()
    };
    drop(sql("INSERT INTO orders (order_no) SELECT n FROM numbers"));
    assert_eq!(sql("SELECT COUNT(*) AS n FROM orders"), "n\n5\n");
    drop(sql("TRUNCATE TABLE orders"));
    assert_eq!(sql("SELECT COUNT(*) AS n FROM orders"), "n\n0\n");
}
