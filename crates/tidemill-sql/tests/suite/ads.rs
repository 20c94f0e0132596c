//! Statements that change xBase tables, and ADS's own forms of SELECT.

use tidemill_sql::{Error, Session, SessionOptions};

use crate::statements::csv;

async fn refused(session: &Session, sql: &str) -> Error {
    match session.query(sql).await {
        Ok(_) => panic!("{sql}: no error"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn tables_are_made_filled_changed_and_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let made = "CREATE TABLE shop ( id Integer, name Char(10), price Numeric(8,2) )";
    assert_eq!(csv(&session, made).await, "");
    let added = "INSERT INTO shop VALUES ( 1, 'lamp', 12.50 ), ( 2, 'desk', 99 ), ( 3, 'chair', 49.90 )";
    assert_eq!(csv(&session, added).await, "3\n");
    assert_eq!(csv(&session, "CREATE INDEX id ON shop ( id )").await, "");
    assert_eq!(
        csv(&session, "UPDATE shop SET price = price * 2 WHERE id = 1").await,
        "1\n"
    );
    assert_eq!(csv(&session, "DELETE FROM shop WHERE name = 'desk'").await, "1\n");
    assert_eq!(
        csv(&session, "INSERT INTO shop ( id, name ) SELECT id + 10, name FROM shop").await,
        "2\n"
    );
    let all = "SELECT id, name, price FROM shop ORDER BY id";
    assert_eq!(
        csv(&session, all).await,
        "1,lamp,25.00\n3,chair,49.90\n11,lamp,\n13,chair,\n"
    );
    let merged = "MERGE INTO shop USING other ON shop.id = other.id WHEN MATCHED THEN UPDATE SET name = other.name";
    assert!(matches!(refused(&session, merged).await, Error::Ads(_)));
    assert_eq!(csv(&session, all).await.lines().count(), 4);
    csv(&session, "ALTER TABLE shop ADD COLUMN note Char(5)").await;
    assert_eq!(
        csv(&session, "SELECT * FROM shop WHERE id = 3").await,
        "3,chair,49.90,\n"
    );
    csv(&session, "DROP TABLE shop").await;
    let gone = refused(&session, all).await.to_string();
    assert!(
        gone.starts_with("table shop not found; ") && gone.ends_with("(line 1, column 29)"),
        "{gone}"
    );
}

#[tokio::test]
async fn scripts_and_the_forms_of_ads_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let script = "CREATE TABLE t ( id Integer );
        DECLARE n Integer;
        n = 0;
        WHILE n < 5 DO
            INSERT INTO t VALUES ( n );
            n = n + 1;
        END WHILE;
        SELECT COUNT(*) AS how_many FROM t;";
    assert_eq!(csv(&session, script).await, "5\n");
    let some = "SELECT {static} TOP 2 START AT 2 id FROM t ORDER BY id";
    assert_eq!(csv(&session, some).await, "1\n2\n");
    let undone = "BEGIN TRANSACTION; DELETE FROM t; ROLLBACK WORK; SELECT COUNT(*) AS n FROM t;";
    assert_eq!(csv(&session, undone).await, "5\n");
    let open = "BEGIN TRANSACTION; DELETE FROM t;";
    csv(&session, open).await;
    assert_eq!(csv(&session, "SELECT COUNT(*) AS n FROM t").await, "0\n");
    csv(&session, "ROLLBACK WORK").await;
    assert_eq!(csv(&session, "SELECT COUNT(*) AS n FROM t").await, "5\n");
    let wrong = refused(&session, "UPDATE t SET nothing = 1").await.to_string();
    assert_eq!(
        wrong,
        "column nothing not found; the columns are ID (line 1, column 14)"
    );
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder")
        .map(|entry| entry.expect("a file").file_name())
        .collect();
    assert_eq!(names, ["t.dbf"]);
}

#[tokio::test]
async fn changes_go_by_subqueries_and_by_joins_of_any_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for sql in [
        "CREATE TABLE orders ( id Integer, cust Integer, total Numeric(9,2), city Char(8) )",
        "CREATE TABLE lines ( ord Integer, price Numeric(9,2) )",
        "CREATE TABLE customers ( cust Integer, town Integer )",
        "CREATE TABLE towns ( town Integer, name Char(8) )",
        "CREATE INDEX id ON orders ( id )",
        "INSERT INTO orders ( id, cust ) VALUES ( 1, 1 ), ( 2, 1 ), ( 3, 2 ), ( 4, 3 ), ( 5, 9 )",
        "INSERT INTO lines VALUES ( 1, 2.50 ), ( 1, 4 ), ( 2, 1 ), ( 3, 100 ), ( 4, 0.25 )",
        "INSERT INTO customers VALUES ( 1, 7 ), ( 2, 8 ), ( 3, 7 )",
        "INSERT INTO towns VALUES ( 7, 'York' ), ( 8, 'Ulm' )",
    ] {
        csv(&session, sql).await;
    }
    let all = "SELECT id, total, city FROM orders ORDER BY id";
    let summed = "UPDATE orders SET total = (SELECT SUM(l.price) FROM lines l WHERE l.ord = orders.id) \
                  WHERE id IN (SELECT ord FROM lines)";
    assert_eq!(csv(&session, summed).await, "4\n");
    assert_eq!(csv(&session, all).await, "1,6.50,\n2,1.00,\n3,100.00,\n4,0.25,\n5,,\n");
    let named = "UPDATE orders SET city = t.name FROM orders o JOIN customers c ON c.cust = o.cust \
                 JOIN towns t ON t.town = c.town WHERE o.total > 0.5";
    assert_eq!(csv(&session, named).await, "3\n");
    assert_eq!(
        csv(&session, all).await,
        "1,6.50,York\n2,1.00,York\n3,100.00,Ulm\n4,0.25,\n5,,\n"
    );
    let lost = "DELETE FROM orders FROM orders o LEFT JOIN customers c ON c.cust = o.cust WHERE c.cust IS NULL";
    assert_eq!(csv(&session, lost).await, "1\n");
    let dear = "DELETE FROM orders WHERE total > (SELECT AVG(total) FROM orders)";
    assert_eq!(csv(&session, dear).await, "1\n");
    assert_eq!(csv(&session, all).await, "1,6.50,York\n2,1.00,York\n4,0.25,\n");
    let next = "INSERT INTO customers VALUES ( (SELECT MAX(cust) + 1 FROM customers), DEFAULT ), ( 5, (SELECT MIN(town) FROM towns) )";
    assert_eq!(csv(&session, next).await, "2\n");
    let merged = "MERGE customers c USING lines l ON ( c.cust = l.ord AND c.town NOT IN (SELECT town FROM towns WHERE name = 'Ulm') ) \
                  WHEN MATCHED THEN UPDATE SET town = (SELECT COUNT(*) FROM lines x WHERE x.ord = l.ord) + 10 \
                  WHEN NOT MATCHED THEN INSERT SELECT l.ord + 100, MAX(t.town) FROM towns t";
    assert_eq!(csv(&session, merged).await, "5\n");
    assert_eq!(
        csv(&session, "SELECT cust, town FROM customers ORDER BY cust, town").await,
        "1,12\n2,8\n3,11\n4,11\n5,7\n102,8\n"
    );
    csv(&session, "DELETE FROM customers WHERE cust > 3").await;
    let unfit = "UPDATE orders SET city = (SELECT MAX(l.price) FROM lines l), cust = (SELECT MAX(name) FROM towns)";
    assert!(matches!(refused(&session, unfit).await, Error::Ads(_)));
    let undone = format!(
        "BEGIN TRANSACTION; {summed}; DELETE FROM orders WHERE id IN (SELECT ord FROM lines); ROLLBACK WORK; {all};"
    );
    assert_eq!(csv(&session, &undone).await, "1,6.50,York\n2,1.00,York\n4,0.25,\n");
}

#[tokio::test]
async fn changes_may_use_expressions_that_ads_sql_does_not_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for sql in [
        "CREATE TABLE t ( id Integer, day Date, a Integer, b Integer, name Char(10) )",
        "INSERT INTO t VALUES ( 1, {d '2024-01-31'}, 5, 7, 'ab cd' ), ( 2, {d '2023-12-01'}, 9, 2, 'ef' )",
    ] {
        csv(&session, sql).await;
    }
    for (sql, changed) in [
        (
            "UPDATE t SET a = GREATEST(a, b), day = day + INTERVAL '1' MONTH WHERE STARTS_WITH(name, 'a')",
            "1\n",
        ),
        (
            "UPDATE t SET name = SPLIT_PART(name, ' ', 2) WHERE (a > 6) IS NOT FALSE AND LEAST(a, b) > 2",
            "1\n",
        ),
        (
            "INSERT INTO t (id, day, name) VALUES ( 3, DATE_TRUNC('month', DATE '2024-05-17'), LPAD('x', 3, '-') )",
            "1\n",
        ),
        ("DELETE FROM t WHERE DATE_TRUNC('year', day) = DATE '2023-01-01'", "1\n"),
    ] {
        assert_eq!(csv(&session, sql).await, changed, "{sql}");
    }
    let all = "SELECT id, day, a, name FROM t ORDER BY id";
    assert_eq!(csv(&session, all).await, "1,2024-02-29,7,cd\n3,2024-05-01,0,--x\n");
    let unknown = refused(&session, "UPDATE t SET a = NO_SUCH(a)").await.to_string();
    assert!(unknown.to_lowercase().contains("no_such"), "{unknown}");
}

#[tokio::test]
async fn a_share_of_joined_rows_is_that_of_one_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    csv(&session, "CREATE TABLE t ( id Integer )").await;
    csv(&session, "INSERT INTO t VALUES ( 1 ), ( 2 ), ( 3 ), ( 4 ), ( 5 )").await;
    for share in [
        "50 PERCENT",
        "0 PERCENT",
        "100 PERCENT",
        "40 PERCENT START AT 2",
        "1 PERCENT START AT 5",
        "90 PERCENT START AT 9",
        "2 START AT 4",
    ] {
        let one = csv(&session, &format!("SELECT TOP {share} id FROM t ORDER BY id")).await;
        let joined = format!("SELECT TOP {share} a.id FROM t a JOIN t b ON a.id = b.id ORDER BY a.id");
        assert_eq!(csv(&session, &joined).await, one, "{share}");
    }
    let pairs = "t a JOIN t b ON a.id = b.id";
    for (within, ids) in [
        (
            "SELECT id FROM t WHERE id IN (SELECT TOP 50 PERCENT a.id FROM {pairs} ORDER BY a.id) ORDER BY id",
            "1,2,3",
        ),
        (
            "SELECT q.id FROM (SELECT TOP 40 PERCENT a.id FROM {pairs} ORDER BY b.id DESC) q ORDER BY q.id",
            "4,5",
        ),
        (
            "SELECT q.id FROM (SELECT TOP 90 PERCENT a.id FROM {pairs} ORDER BY a.id) q WHERE q.id > 3 ORDER BY q.id",
            "4,5",
        ),
        (
            "WITH q AS (SELECT TOP 1 PERCENT a.id FROM {pairs} ORDER BY a.id) SELECT * FROM q",
            "1",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT TOP 60 PERCENT id FROM t UNION ALL SELECT TOP 40 PERCENT a.id FROM {pairs} WHERE a.id > 4) q",
            "4",
        ),
        (
            "SELECT TOP 60 PERCENT q.id FROM (SELECT TOP 80 PERCENT a.id FROM {pairs} ORDER BY a.id) q ORDER BY q.id",
            "1,2,3",
        ),
    ] {
        let answer = csv(&session, &within.replace("{pairs}", pairs)).await;
        assert_eq!(answer.trim_end().replace('\n', ","), ids, "{within}");
    }
    let bounded = Session::new(SessionOptions::default().dir(folder.path()).memory(1 << 20));
    let many = "SELECT TOP 100 PERCENT a.id FROM t a, t b, t c, t d, t e, t f, t g, t h";
    let told = match bounded.query(many).await {
        Ok(answer) => answer
            .collect()
            .await
            .expect_err("390,625 numbers need more")
            .to_string(),
        Err(error) => error.to_string(),
    };
    assert!(told.contains("TopPercentExec"), "{told}");
}

#[tokio::test]
async fn an_index_that_cannot_be_used_is_told_and_the_records_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    csv(&session, "CREATE TABLE t ( id Integer )").await;
    csv(&session, "INSERT INTO t VALUES ( 1 ), ( 2 ), ( 3 )").await;
    csv(&session, "CREATE INDEX id ON t ( id )").await;
    let some = "SELECT id FROM t WHERE id > 1";
    assert_eq!(csv(&session, some).await, "2\n3\n");
    assert!(session.damage().is_empty());
    let index = folder.path().join("t.cdx");
    let whole = std::fs::read(&index).expect("read");
    std::fs::write(&index, [vec![0xd4; 2048], whole[2048..].to_vec()].concat()).expect("written");
    assert_eq!(csv(&session, some).await, "2\n3\n");
    let told = session.damage();
    assert!(
        told.len() == 1 && told[0].contains("t.cdx") && told[0].contains("read without it"),
        "{told:?}"
    );
    // What changes the table must not leave the index as it is.
    assert!(refused(&session, "DELETE FROM t").await.to_string().contains("t.cdx"));
}
