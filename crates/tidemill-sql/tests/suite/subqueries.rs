//! Every form of subquery, over the statement's own table and over another with the same rows, against DuckDB.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tidemill_sql::{Session, SessionOptions};
use tidemill_testkit::Python;

use crate::statements::{csv, csv_of};

/// Conditions on a row of `emp`, with `{t}` for the table of the subquery.
fn conditions() -> Vec<String> {
    let mut conditions = Vec::new();
    for op in ["=", "<>", "<", "<=", ">", ">="] {
        for (quantifier, condition) in [
            ("ALL", "id > 2"),
            ("ALL", "id > 0"),
            ("ANY", "id > 2"),
            ("ANY", "id > 99"),
        ] {
            conditions.push(format!(
                "pay {op} {quantifier} (SELECT pay FROM {{t}} WHERE {condition})"
            ));
            // Columns of both tables in one condition, told apart by nothing but their places.
            conditions.push(format!("mgr {op} {quantifier} (SELECT id FROM {{t}} WHERE pay < 300)"));
        }
        conditions.push(format!("pay {op} (SELECT MAX(pay) FROM {{t}})"));
        conditions.push(format!(
            "pay {op} (SELECT AVG(x.pay) FROM {{t}} x WHERE x.dept = emp.dept)"
        ));
        conditions.push(format!(
            "EXISTS (SELECT 1 FROM {{t}} x WHERE x.pay {op} emp.pay AND x.id <> emp.id)"
        ));
        conditions.push(format!("NOT EXISTS (SELECT 1 FROM {{t}} x WHERE x.id {op} emp.mgr)"));
        conditions.push(format!(
            "pay {op} ALL (SELECT pay FROM {{t}} WHERE dept IN (SELECT dept FROM {{t}} WHERE mgr = 2))"
        ));
    }
    for not in ["", "NOT "] {
        conditions.push(format!(
            "mgr {not}IN (SELECT x.id FROM {{t}} x WHERE x.dept = emp.dept AND x.pay > emp.pay)"
        ));
        conditions.push(format!("pay {not}IN (SELECT pay FROM {{t}} WHERE id > 3)"));
        conditions.push(format!("id {not}IN (SELECT mgr FROM {{t}} WHERE dept = 'a')"));
        conditions.push(format!(
            "{not}EXISTS (SELECT 1 FROM {{t}} x WHERE x.mgr = emp.id AND x.pay >= ANY (SELECT pay FROM {{t}} WHERE dept = 'b'))"
        ));
    }
    conditions.extend(
        [
            "7 NOT IN (SELECT mgr FROM {t})",
            "NULL NOT IN (SELECT mgr FROM {t}) AND id > 2",
            "7 NOT IN (SELECT mgr FROM {t} WHERE mgr IS NOT NULL) AND id > 2",
            "mgr IS NOT DISTINCT FROM 2 AND id < 4",
            "id > 1 AND mgr IS DISTINCT FROM 2 OR EXISTS (SELECT 1 FROM {t} x WHERE x.mgr IS DISTINCT FROM emp.id AND x.id = 99)",
            "TRUE = id IN (SELECT id FROM {t} WHERE id < 3)",
            "(dept, pay) IN (SELECT dept, pay + 0 FROM {t} WHERE id > 3)",
            "(dept, pay) NOT IN (SELECT x.dept, x.pay FROM {t} x WHERE x.id > 3)",
            "(emp.pay, emp.dept) NOT IN (SELECT MAX(pay), dept FROM {t} GROUP BY dept)",
            "mgr IN (SELECT x.id FROM {t} x WHERE x.dept = emp.dept ORDER BY x.pay DESC, x.id LIMIT 2)",
        ]
        .map(str::to_owned),
    );
    conditions
}

/// Queries with `{t}` for the table of the subquery.
fn queries() -> Vec<String> {
    let mut queries: Vec<String> = conditions()
        .iter()
        .map(|condition| format!("SELECT id FROM emp WHERE {condition} ORDER BY id"))
        .collect();
    let behind = " LEFT JOIN (SELECT id AS one FROM emp2 WHERE id < 5) c ON c.one = b.boss";
    for rest in ["", behind] {
        queries.extend(conditions().iter().map(|condition| {
            format!("SELECT emp.id FROM emp JOIN (SELECT id AS boss FROM emp2) b ON {condition} AND emp.mgr = b.boss{rest} ORDER BY emp.id")
        }));
    }
    for form in [
        "SELECT id, CASE WHEN {c} THEN 1 WHEN NOT ({c}) THEN 2 ELSE 3 END AS n FROM emp ORDER BY id",
        "SELECT k, COUNT(*) AS n FROM (SELECT CASE WHEN {c} THEN 1 ELSE 0 END AS k FROM emp) s GROUP BY k ORDER BY k",
        "SELECT dept, COUNT(*) FILTER (WHERE {c}) AS n, SUM(CASE WHEN {c} THEN pay ELSE 0 END) AS m FROM emp GROUP BY dept ORDER BY dept",
        "SELECT emp.id, COALESCE(b.boss, -1) AS n FROM emp LEFT JOIN (SELECT id AS boss FROM emp2) b ON emp.mgr = b.boss AND {c} ORDER BY emp.id",
        "SELECT COALESCE(emp.id, -1) AS e, COALESCE(b.boss, -1) AS n FROM emp FULL JOIN (SELECT id AS boss FROM emp2) b ON emp.mgr = b.boss AND {c} ORDER BY 1, 2",
    ] {
        queries.extend(conditions().iter().map(|condition| form.replace("{c}", condition)));
    }
    queries.extend(
        [
            "SELECT id FROM emp WHERE pay >= ANY (SELECT x.pay FROM {t} x WHERE x.dept = emp.dept ORDER BY x.pay DESC, x.id LIMIT 1 OFFSET 1) ORDER BY id",
            "SELECT id FROM (SELECT id, dept IN (SELECT dept FROM {t} WHERE pay > 300) AND id > 2 AS y FROM emp) s WHERE y ORDER BY id",
            "SELECT emp.id, x.id AS n FROM emp CROSS JOIN LATERAL (SELECT y.id FROM {t} y WHERE y.dept = emp.dept ORDER BY y.pay DESC, y.id LIMIT 2) x ORDER BY emp.id, x.id",
            "SELECT emp.id, COALESCE(x.twice, -1) AS n FROM emp LEFT JOIN LATERAL (SELECT 2 * y.pay AS twice FROM {t} y WHERE y.mgr = emp.id AND y.pay > 90 ORDER BY y.id LIMIT 1 OFFSET 1) x ON TRUE ORDER BY emp.id",
            "SELECT emp.id, x.one FROM emp CROSS JOIN LATERAL (SELECT 1 AS one FROM {t} y WHERE y.mgr = emp.id LIMIT 1) x ORDER BY emp.id",
            "SELECT emp.id, x.n FROM emp, LATERAL (SELECT COUNT(*) AS n FROM {t} y WHERE y.mgr = emp.id) x ORDER BY emp.id",
            "SELECT emp.id, ROW_NUMBER() OVER (ORDER BY CASE WHEN EXISTS (SELECT 1 FROM {t} x WHERE x.mgr = emp.id) THEN 0 ELSE 1 END, emp.id) AS n FROM emp ORDER BY emp.id",
            "SELECT emp.id, RANK() OVER (ORDER BY CASE WHEN emp.pay IN (SELECT pay FROM {t} WHERE id > 4) THEN 0 ELSE 1 END) AS r, COUNT(*) OVER (PARTITION BY CASE WHEN EXISTS (SELECT 1 FROM {t} x WHERE x.mgr = emp.id) THEN 0 ELSE 1 END) AS n FROM emp ORDER BY emp.id",
            "SELECT id, (SELECT COUNT(*) FROM {t} x WHERE x.dept = emp.dept) AS n FROM emp ORDER BY id",
            "SELECT id, (SELECT MAX(pay) FROM {t}) - pay AS n FROM emp ORDER BY id",
            "SELECT dept FROM emp GROUP BY dept HAVING SUM(pay) >= ALL (SELECT SUM(pay) FROM {t} GROUP BY dept)",
            "SELECT dept FROM emp GROUP BY dept HAVING MAX(pay) = (SELECT MAX(pay) FROM {t}) ORDER BY dept",
            "SELECT a.id, b.id AS boss FROM emp a JOIN {t} b ON a.mgr = b.id AND b.pay IN (SELECT x.pay FROM {t} x WHERE x.dept = 'a') ORDER BY a.id",
            "SELECT emp.id FROM emp LEFT JOIN {t} b ON emp.mgr = b.id WHERE emp.pay > ALL (SELECT pay FROM {t} WHERE id > 5) ORDER BY emp.id",
            "SELECT s.id FROM (SELECT id, pay FROM emp WHERE pay < ANY (SELECT pay FROM {t})) s WHERE s.pay IN (SELECT pay FROM {t}) ORDER BY s.id",
            "WITH rich AS (SELECT id, pay FROM emp WHERE pay > (SELECT AVG(pay) FROM {t})) SELECT id FROM rich WHERE pay <= ALL (SELECT pay FROM rich)",
            "SELECT id FROM emp WHERE pay = (SELECT MIN(pay) FROM {t}) UNION SELECT id FROM emp WHERE pay = (SELECT MAX(pay) FROM {t}) ORDER BY id",
            "SELECT id, COALESCE((SELECT x.pay FROM {t} x WHERE x.id = emp.mgr), -1) AS n FROM emp ORDER BY id",
            "SELECT id, COALESCE((SELECT x.pay - 1 FROM {t} x WHERE x.id = emp.mgr AND x.pay > 100), -1) AS n FROM emp ORDER BY id",
            "SELECT id FROM emp WHERE (SELECT x.dept FROM {t} x WHERE x.id = emp.mgr) = 'a' ORDER BY id",
            "SELECT id, COALESCE((SELECT DISTINCT x.mgr FROM {t} x WHERE x.id = emp.mgr), -1) AS n FROM emp ORDER BY id",
            "SELECT id, (SELECT x.id FROM {t} x WHERE x.dept = emp.dept ORDER BY x.pay DESC, x.id LIMIT 1) AS n FROM emp ORDER BY id",
            "SELECT id, COALESCE((SELECT x.pay FROM {t} x WHERE x.dept = emp.dept AND x.id > 3 ORDER BY x.id LIMIT 1), -1) AS n FROM emp ORDER BY id",
            "SELECT id FROM emp WHERE pay >= (SELECT x.pay FROM {t} x WHERE x.dept = emp.dept ORDER BY x.id DESC LIMIT 1) ORDER BY id",
            "SELECT SUM(boss) AS n FROM (SELECT (SELECT x.pay FROM {t} x WHERE x.id = emp.mgr) AS boss FROM emp) s",
        ]
        .map(str::to_owned),
    );
    queries
}

const ROWS: [(i64, &str, i64, i64); 8] = [
    (1, "a", 100, 2),
    (2, "a", 350, 0),
    (3, "a", 200, 2),
    (4, "b", 90, 5),
    (5, "b", 400, 2),
    (6, "b", 200, 5),
    (7, "c", 400, 5),
    (8, "c", 100, 7),
];

const DUCKDB: &str = r#"
import sys, duckdb
c = duckdb.connect()
rows = eval(open(sys.argv[1]).read())
for t in ('emp', 'emp2'):
    c.execute(f'CREATE TABLE {t} (id INT, dept VARCHAR, pay INT, mgr INT)')
    c.executemany(f'INSERT INTO {t} VALUES (?, ?, ?, ?)', rows)
for q in open(sys.argv[2]):
    print(';'.join(','.join(f'{v:g}' if isinstance(v, (int, float)) else str(v) for v in r) for r in c.execute(q).fetchall()))
"#;

/// What DuckDB answers, a line each.
fn duckdb(python: &Python, folder: &Path, queries: &[String]) -> Vec<String> {
    let (rows, texts) = (folder.join("rows"), folder.join("queries"));
    fs::write(&rows, format!("{:?}", ROWS)).expect("written");
    fs::write(&texts, queries.join("\n")).expect("written");
    let answers = python.run(DUCKDB, &[&rows, &texts]);
    answers.lines().map(str::to_owned).collect()
}

async fn make(session: &Session, table: &str) {
    let values = ROWS.map(|(id, dept, pay, mgr)| format!("({id}, '{dept}', {pay}, {mgr})"));
    csv(
        session,
        &format!("CREATE TABLE {table} (id Integer, dept Char(4), pay Integer, mgr Integer)"),
    )
    .await;
    csv(session, &format!("INSERT INTO {table} VALUES {}", values.join(", "))).await;
}

#[tokio::test]
async fn subqueries_over_the_statements_own_table_answer_as_over_another() {
    let Some(python) = Python::need(&["duckdb==2.0.0"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    make(&session, "emp").await;
    make(&session, "emp2").await;
    let queries = queries();
    let over = |table: &str| -> Vec<String> { queries.iter().map(|query| query.replace("{t}", table)).collect() };
    let expected = duckdb(&python, folder.path(), &over("emp"));
    assert_eq!(expected.len(), queries.len());
    let mut wrong = String::new();
    for (own, (other, expected)) in over("emp").iter().zip(over("emp2").iter().zip(&expected)) {
        for query in [own, other] {
            let found = match session.query(query).await {
                Ok(answer) => match answer.collect().await {
                    Ok(batches) => csv_of(&batches),
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            };
            let found = found.trim_end().replace('\n', ";").replace(".0", "");
            if found != *expected {
                let _ = writeln!(wrong, "{query}\n  gives {found}\n  not   {expected}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn joins_that_only_ask_whether_there_is_a_row_have_a_short_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    make(&session, "emp").await;
    for (join, expected) in [("SEMI", "2\n5\n7\n"), ("ANTI", "1\n3\n4\n6\n8\n")] {
        for side in ["", "LEFT "] {
            let sql = format!("SELECT emp.id FROM emp {side}{join} JOIN emp b ON b.mgr = emp.id ORDER BY emp.id");
            assert_eq!(csv(&session, &sql).await, expected, "{sql}");
        }
    }
    // Functions of ADS, and columns in any case.
    csv(&session, "SELECT * INTO emp2 FROM emp WHERE id < 4").await;
    for on in ["ON TRIM(emp.dept) = TRIM(b.DEPT)", "USING (DEPT)", "USING (dept)"] {
        let sql = format!("SELECT emp.id FROM emp SEMI JOIN emp2 b {on} ORDER BY emp.id");
        assert_eq!(csv(&session, &sql).await, "1\n2\n3\n", "{sql}");
    }
}

#[tokio::test]
async fn a_subquery_of_an_outer_join_that_depends_on_both_sides_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    make(&session, "emp").await;
    for condition in [
        "b.pay > (SELECT AVG(x.pay) FROM emp x WHERE x.dept = emp.dept AND x.id <> b.id)",
        "EXISTS (SELECT 1 FROM emp x WHERE x.id = b.mgr AND x.dept = emp.dept)",
        "emp.id IN (SELECT x.id FROM emp x WHERE x.id = b.mgr)",
    ] {
        for join in ["LEFT", "RIGHT", "FULL"] {
            let sql = format!("SELECT emp.id FROM emp {join} JOIN emp b ON b.id = emp.mgr AND {condition}");
            let error = session.query(&sql).await.err().expect("refused").to_string();
            assert!(
                error.contains("a subquery in the ON of an outer, SEMI or ANTI join"),
                "{sql}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn changes_with_subqueries_over_their_own_table_change_what_a_query_finds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    make(&session, "emp2").await;
    for condition in conditions() {
        make(&session, "emp").await;
        let over = |table: &str| condition.replace("{t}", table);
        let query = format!("SELECT id FROM emp WHERE {} ORDER BY id", over("emp2"));
        let expected = csv(&session, &query).await;
        csv(&session, &format!("UPDATE emp SET dept = 'X' WHERE {}", over("emp"))).await;
        let changed = csv(&session, "SELECT id FROM emp WHERE dept = 'X' ORDER BY id").await;
        assert_eq!(changed, expected, "UPDATE … {condition}");

        csv(&session, "DROP TABLE emp").await;
        make(&session, "emp").await;
        csv(&session, &format!("DELETE FROM emp WHERE {}", over("emp"))).await;
        let kept = csv(&session, "SELECT id FROM emp ORDER BY id").await;
        let all = csv(&session, "SELECT id FROM emp2 ORDER BY id").await;
        let is_deleted = |id: &&str| expected.lines().any(|deleted| deleted == *id);
        let left: String = all
            .lines()
            .filter(|id| !is_deleted(id))
            .map(|id| format!("{id}\n"))
            .collect();
        assert_eq!(kept, left, "DELETE … {condition}");
        csv(&session, "DROP TABLE emp").await;
    }
}

#[tokio::test]
async fn a_merge_takes_its_own_table_as_its_source() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    make(&session, "emp").await;
    csv(
        &session,
        "MERGE INTO emp ON emp.id = (SELECT MIN(id) FROM emp WHERE pay >= ALL (SELECT pay FROM emp)) \
         WHEN MATCHED THEN UPDATE SET emp.dept = 'X'",
    )
    .await;
    assert_eq!(csv(&session, "SELECT id FROM emp WHERE dept = 'X'").await, "5\n");
}

#[tokio::test]
async fn a_scalar_subquery_of_several_rows_is_an_error_where_an_outer_row_has_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    make(&session, "emp").await;
    csv(&session, "SELECT * INTO emp2 FROM emp").await;
    for table in ["emp", "emp2"] {
        let bosses = format!("SELECT id, (SELECT x.id FROM {table} x WHERE x.mgr = emp.id) AS n FROM emp");
        // 7 is the only one with one, and who has none has no value.
        let one = format!("{bosses} WHERE emp.id IN (1, 7) ORDER BY id");
        assert_eq!(csv(&session, &one).await, "1,\n7,8\n");
        let error = match session.query(&bosses).await {
            Ok(rows) => rows.collect().await.expect_err("2 has two"),
            Err(error) => error,
        };
        let error = error.to_string();
        assert!(error.contains("more than one row"), "{error}");
        let changed =
            format!("UPDATE emp SET pay = (SELECT x.pay + 1 FROM {table} x WHERE x.id = emp.mgr) WHERE mgr = 7");
        csv(&session, &changed).await;
        assert_eq!(csv(&session, "SELECT pay FROM emp WHERE id = 8").await, "401\n");
    }
}

#[tokio::test]
async fn not_in_keeps_a_row_without_a_value_where_the_subquery_is_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.csv"), "id,a,c\n1,,1\n2,,2\n3,7,1\n4,8,1\n5,7,2\n").expect("written");
    fs::write(folder.path().join("u.csv"), "b,c\n7,1\n,3\n").expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let sql = "SELECT id FROM t WHERE t.a NOT IN (SELECT u.b FROM u WHERE u.c = t.c) ORDER BY id";
    assert_eq!(csv(&session, sql).await, "2\n4\n5\n");
    let sql = "SELECT id FROM t WHERE a NOT IN (SELECT b FROM u WHERE u.c = t.c + 1) ORDER BY id";
    assert_eq!(csv(&session, sql).await, "1\n3\n4\n");
}

#[tokio::test]
async fn in_is_unknown_where_a_null_could_be_the_value() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.csv"), "id,x\n1,1\n2,2\n3,\n").expect("written");
    fs::write(folder.path().join("n.csv"), "id,x\n1,1\n9,\n").expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let all = "SELECT n.x FROM n";
    for (condition, expected) in [
        ("x NOT IN (ALL) OR m.id = 99", ""),
        ("(x NOT IN (ALL)) IS NULL", "2\n3\n"),
        ("(m.x IN (ALL)) IS NULL", "2\n3\n"),
        ("x IN (ALL) OR m.id = 3", "1\n3\n"),
        ("NOT (x IN (ALL)) OR m.id = 2", "2\n"),
        ("NOT (x IN (ALL) OR m.id = 99)", ""),
        ("NOT (m.x IN (ALL WHERE n.x = m.x))", "2\n3\n"),
        ("(x IN (ALL WHERE n.x > 0)) IS NULL", "3\n"),
        ("x NOT IN (ALL WHERE n.x > 0) OR m.id = 3", "2\n3\n"),
        (
            "CASE WHEN x IN (ALL) THEN 1 WHEN x NOT IN (ALL) THEN 2 ELSE 3 END = 3",
            "2\n3\n",
        ),
        ("x NOT IN (ALL WHERE 1 = 0) OR m.id = 0", "1\n2\n3\n"),
        ("x NOT IN (SELECT MAX(n.x) FROM n) OR m.id = 0", "2\n"),
        ("x NOT IN (ALL WHERE n.id = m.id) OR m.id = 99", "2\n3\n"),
    ] {
        let sql = format!(
            "SELECT m.id FROM m WHERE {} ORDER BY m.id",
            condition.replace("ALL", all)
        );
        assert_eq!(csv(&session, &sql).await, expected, "{sql}");
        // As a column, and of an aggregate.
        let condition = condition.replace("ALL", all);
        let sql = format!("SELECT id FROM (SELECT m.id, {condition} AS y FROM m) s WHERE y ORDER BY id");
        assert_eq!(csv(&session, &sql).await, expected, "{sql}");
        let sql = format!("SELECT COUNT(*) FILTER (WHERE {condition}) AS n FROM m");
        assert_eq!(
            csv(&session, &sql).await,
            format!("{}\n", expected.lines().count()),
            "{sql}"
        );
    }
    for (columns, expected) in [
        ("(m.x, m.id) IN (SELECT n.x, n.id FROM n)", "true,false,false"),
        ("(m.id, m.x) IN (SELECT 3, 3)", "false,false,"),
        ("(m.x, 9) NOT IN (SELECT n.x, n.id FROM n)", ",,"),
        (
            "(m.x, 9) NOT IN (SELECT n.x, n.id FROM n WHERE n.id = m.id)",
            "true,true,true",
        ),
    ] {
        let sql = format!("SELECT {columns} AS y FROM m ORDER BY m.id");
        let found = csv(&session, &sql).await;
        assert_eq!(
            found.trim_end_matches('\n').replace("\"\"", "").replace('\n', ","),
            expected,
            "{sql}"
        );
    }
    csv(&session, "SELECT * INTO d FROM m").await;
    csv(&session, "SELECT * INTO e FROM n").await;
    csv(&session, "DELETE FROM d WHERE x NOT IN (SELECT e.x FROM e) OR id = 99").await;
    assert_eq!(csv(&session, "SELECT COUNT(*) AS n FROM d").await, "3\n");
}

/// Within its own query, the name of a WITH query is that of the table; behind it, its rows. RECURSIVE alone means itself.
#[tokio::test]
async fn a_with_query_may_have_the_name_of_the_table_that_it_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.csv"), "id,pay\n1,10\n2,20\n3,30\n").expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    csv(&session, "SELECT * INTO d FROM t").await;
    for table in ["t", "d"] {
        for (sql, expected) in [
            (
                "WITH {t} AS (SELECT id FROM {t} WHERE id > 1) SELECT COUNT(*) AS n FROM {t}",
                "2\n",
            ),
            (
                "WITH {t} AS (SELECT id FROM {t} WHERE id > 1), u AS (SELECT id FROM {t} WHERE id > 2) SELECT u.id FROM u",
                "3\n",
            ),
            (
                "WITH {t} AS (SELECT {t}.pay * 2 AS twice FROM {t}) SELECT MAX({t}.twice) AS n FROM {t} WHERE twice < (SELECT MAX(twice) FROM {t})",
                "40\n",
            ),
            (
                "SELECT COUNT(*) AS n FROM {t} WHERE id IN (WITH {t} AS (SELECT id FROM {t} WHERE pay > 10) SELECT id FROM {t})",
                "2\n",
            ),
        ] {
            let sql = sql.replace("{t}", table);
            assert_eq!(csv(&session, &sql).await, expected, "{sql}");
        }
    }
}

#[tokio::test]
async fn sets_with_all_count_repeated_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("l.csv"), "a,b\n1,x\n1,x\n1,x\n2,y\n,\n,\n").expect("written");
    fs::write(folder.path().join("r.csv"), "a,b\n1,x\n2,y\n2,y\n,\n").expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    csv(&session, "SELECT * INTO l2 FROM l").await;
    csv(&session, "SELECT * INTO r2 FROM r").await;
    for (set, expected) in [
        ("EXCEPT ALL", ",\n1,x\n1,x\n"),
        ("EXCEPT", ""),
        ("INTERSECT ALL", ",\n1,x\n2,y\n"),
        ("INTERSECT", ",\n1,x\n2,y\n"),
    ] {
        let sql = format!("SELECT a, b FROM l {set} SELECT a, b FROM r ORDER BY a");
        assert_eq!(csv(&session, &sql).await, expected, "{sql}");
        let sql = format!("SELECT COUNT(*) AS n FROM (SELECT a FROM l2 {set} SELECT a FROM r2) s");
        let count = expected.lines().count();
        assert_eq!(csv(&session, &sql).await, format!("{count}\n"), "{sql}");
    }
}
