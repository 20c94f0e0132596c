//! Conditions and joins over rows without some of their values, in each format, against DuckDB.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tidemill_sql::{Session, SessionOptions};
use tidemill_testkit::Python;

use crate::statements::csv;

/// Makes the tables as Parquet and CSV files in two folders, and answers the statements of a file, a line each.
const DUCKDB: &str = r#"
import os, sys, duckdb
c = duckdb.connect()
c.execute("""CREATE TABLE a AS SELECT * FROM (VALUES
    (1, 5, 1, 1.5, 'x', 1.25), (2, NULL, 2, NULL, 'y', 2.35), (3, 7, NULL, -2.0, NULL, NULL), (4, 3, 1, 0.0, 'x', 0.00),
    (5, NULL, NULL, 2.5, '', 7.75), (6, 1, 2, 1.5, 'z', 2.40), (7, 3, 3, NULL, NULL, -0.01), (8, 12, 3, 4.0, 'y', 99.95)
  ) t(id, i, g, f, s, d)""")
c.execute("""CREATE TABLE b AS SELECT * FROM (VALUES
    (1, 1, 3, 'x', 1.2), (2, 2, NULL, 'w', 2.35), (3, NULL, 5, NULL, 2.4), (4, 2, 7, 'x', NULL), (9, 3, 12, 'y', 0.0), (10, 5, NULL, NULL, 7.8)
  ) t(k, g, i, s, d)""")
c.execute("CREATE TABLE e AS SELECT * FROM b WHERE FALSE")
for t in ('a', 'b', 'e'):
    c.execute(f"ALTER TABLE {t} ALTER d TYPE DECIMAL(9, 2)")
    c.execute(f"COPY (FROM {t} ORDER BY 1) TO '{sys.argv[1]}/{t}.parquet'")
    c.execute(f"COPY (FROM {t} ORDER BY 1) TO '{sys.argv[2]}/{t}.csv'")
def text(v):
    if v is None: return ''
    if isinstance(v, bool): return str(v).lower()
    if isinstance(v, str): return v
    return f'{float(v):g}'
for q in open(sys.argv[3]):
    rows = [','.join(map(text, r)) for r in c.execute(q).fetchall()]
    print(';'.join(rows if 'ORDER BY' in q else sorted(rows)))
"#;

/// Conditions on a row of `a`.
const CONDITIONS: &[&str] = &[
    "i NOT IN (SELECT b.i FROM b)",
    "i NOT IN (SELECT b.i FROM b WHERE b.i IS NOT NULL)",
    "i NOT IN (SELECT e.i FROM e)",
    "i NOT IN (SELECT b.i FROM b WHERE b.g = a.g)",
    "i + 0 NOT IN (SELECT b.i FROM b WHERE b.k < a.id)",
    "i IN (SELECT ABS(b.i) FROM b WHERE b.k < a.id)",
    "i + 2 IN (SELECT b.i FROM b WHERE b.g = a.g)",
    "i NOT IN (SELECT ABS(b.i) FROM b WHERE b.g = a.g)",
    "i NOT IN (SELECT MAX(b.i) FROM b WHERE b.g = a.g)",
    "i IN (SELECT COUNT(b.i) + 3 FROM b WHERE b.g = a.g)",
    "g NOT IN (SELECT COUNT(*) FROM b WHERE b.g = a.id)",
    "s NOT IN (SELECT b.s FROM b WHERE b.k <> a.id AND b.s IS NOT NULL)",
    "NOT (g NOT IN (SELECT b.g FROM b))",
    "NOT (g IN (SELECT b.g FROM b))",
    "NOT (i IN (SELECT b.i FROM b) AND g IN (SELECT b.g FROM b))",
    "(g IN (SELECT b.g FROM b)) IS NULL",
    "(g NOT IN (SELECT b.g FROM b WHERE b.k = a.id)) = TRUE",
    "id = 1 OR g NOT IN (SELECT b.g FROM b WHERE b.g IS NOT NULL)",
    "5 NOT IN (SELECT b.i FROM b)",
    "4 NOT IN (SELECT b.i FROM b WHERE b.i IS NOT NULL) AND id < 3",
    "NULL NOT IN (SELECT e.i FROM e)",
    "i IN (3, i) AND EXISTS (SELECT 1 FROM b)",
    "NOT (i NOT IN (3, i)) AND EXISTS (SELECT 1 FROM b)",
    "i IN (3, g, id) OR i IN (12, NULL)",
    "i NOT IN (3, NULL, 7) OR id = 2",
    "i IN (3, CASE WHEN s LIKE 'x%' THEN 1 ELSE i END)",
    "g NOT IN (3, CASE WHEN s NOT LIKE 'x%' THEN 1 ELSE i END)",
    "EXISTS (SELECT 1 FROM b WHERE b.i = ALL (SELECT CAST(NULL AS INTEGER)) OR b.k < a.id - 5)",
    "EXISTS (SELECT 1 FROM b WHERE EXISTS (SELECT 1 FROM e) OR NOT EXISTS (SELECT 1 FROM e WHERE e.k = b.k) AND b.k = a.id + 1)",
    "EXISTS (SELECT MAX(b.i) FROM b WHERE b.g = a.g)",
    "NOT EXISTS (SELECT COUNT(*) FROM b WHERE b.g = a.g)",
    "i > ALL (SELECT b.i FROM b WHERE b.g = a.g)",
    "i <> ANY (SELECT b.i FROM b)",
    "s IS DISTINCT FROM 'x' AND i > 3",
    "i IS NOT DISTINCT FROM g OR i IS NOT DISTINCT FROM NULL AND id > 2",
    "FALSE = id IN (1, 2) AND id < 5",
    "i IN (1, 3, 7, 8) AND i IN (2, 4, 5, 6)",
    "i IN (1, 3, 7, 8) AND i NOT IN (1, 3, 7, 8, 9)",
    "i NOT IN (1, 3, 7, 8) OR i NOT IN (2, 4, 5, 6)",
    "i NOT IN (1, 3, 7, 8) OR i IN (1, 3, 7, 8)",
    "-f IN (0, 2)",
    "-f = 0 OR NULLIF(-f, 0) IS NULL",
];

/// Statements with joins.
const JOINS: &[&str] = &[
    "SELECT g, COUNT(*) FROM a JOIN b USING (g) WHERE g > 1 GROUP BY g ORDER BY g",
    "SELECT g, COUNT(a.id), COUNT(*) FROM a RIGHT JOIN b USING (g) GROUP BY g ORDER BY g NULLS LAST",
    "SELECT g, COUNT(a.id), COUNT(b.k) FROM a FULL JOIN b USING (g) GROUP BY g ORDER BY g NULLS LAST",
    "SELECT g, a.id, b.k FROM a FULL JOIN b USING (g) WHERE g IS NOT NULL ORDER BY g, a.id NULLS LAST, b.k NULLS LAST",
    "SELECT g + 1 AS h, k FROM a RIGHT JOIN b USING (g) WHERE a.id IS NULL ORDER BY k",
    "SELECT COUNT(*) FROM a NATURAL JOIN b WHERE g = 1",
    "SELECT g, i, s, k FROM a NATURAL RIGHT JOIN b ORDER BY k",
    "SELECT g, i, id, k FROM a NATURAL FULL JOIN b WHERE g <> 9 ORDER BY g, i NULLS LAST, id NULLS LAST, k NULLS LAST",
    "SELECT * FROM a RIGHT JOIN (SELECT k AS id, i AS j FROM b) c USING (id) ORDER BY id",
    "SELECT * FROM a FULL JOIN (SELECT k AS id, i AS j FROM b) c USING (id) ORDER BY id",
    "SELECT id, x.i, y.g FROM a x JOIN a y USING (id) JOIN a z USING (id) WHERE id < 4 ORDER BY id",
    "SELECT id, a.i, x.i FROM a FULL JOIN (SELECT k AS id, i FROM b) x USING (id) FULL JOIN (SELECT k + 5 AS id, g FROM b) y USING (id) ORDER BY id",
    "SELECT COUNT(*) FROM b JOIN (a x JOIN a y USING (id)) ON b.i = x.i WHERE id > 2",
    "SELECT COUNT(*) FROM (a x NATURAL JOIN a y)",
    "SELECT g FROM a JOIN b USING (g) WHERE EXISTS (SELECT 1 FROM e RIGHT JOIN b c ON c.k = e.k WHERE c.k = a.id AND c.i >= 3) ORDER BY g",
    "SELECT g, (SELECT COUNT(*) FROM b c WHERE c.i = a.i) AS n FROM a LEFT JOIN b USING (g) ORDER BY g NULLS FIRST, n, a.id LIMIT 4",
    "SELECT COUNT(*) FROM a JOIN a b1 ON a.s IS NOT DISTINCT FROM b1.s",
    "SELECT COUNT(*) FROM a JOIN a b1 ON a.s IS NOT DISTINCT FROM b1.s WHERE a.i = b1.i",
    "SELECT COUNT(*) FROM a JOIN a y ON a.s = y.s JOIN a z ON y.i IS NOT DISTINCT FROM z.i",
    "SELECT COUNT(*) FROM a x, a y, b z WHERE x.s IS NOT DISTINCT FROM y.s AND x.i = y.i AND y.g = z.g",
    "SELECT COUNT(*) FROM a x LEFT JOIN a y ON x.s IS NOT DISTINCT FROM y.s AND x.g = y.g",
    "SELECT COUNT(*) FROM a RIGHT JOIN b ON a.g = b.g WHERE (b.k = 1 OR a.i <= b.i) AND b.g < 3",
    "SELECT COUNT(*) FROM a FULL JOIN b ON a.g = b.g WHERE (b.k = 1 OR a.i <= b.i) AND b.i > 2",
    "SELECT COUNT(*) FROM (VALUES (1, 10), (1, 20)) x(p, q) RIGHT JOIN (VALUES (1, 5, 2), (1, 15, 2)) y(p, q, r) ON x.p = y.p WHERE (y.r = 1 OR x.q <= y.q) AND y.r = 2",
    "SELECT COUNT(*) FROM a LEFT JOIN b ON a.i = b.i AND b.g NOT IN (SELECT g FROM e)",
    "SELECT COUNT(*) FROM a JOIN b ON a.g = b.g AND a.i NOT IN (SELECT i FROM b c WHERE c.k < b.k)",
    "SELECT b.g, a.g AS h FROM a JOIN b ON a.i = b.i ORDER BY b.g NULLS LAST, a.g NULLS LAST LIMIT 3",
    "SELECT 2 AS u, i FROM a UNION ALL SELECT 1, k FROM b WHERE k = 1 ORDER BY u, i DESC NULLS LAST LIMIT 3",
    "SELECT i IN (SELECT i FROM b WHERE k > 2) AS y, COUNT(*) FROM a GROUP BY 1 ORDER BY 1 NULLS FIRST",
    "SELECT g FROM a GROUP BY g HAVING MAX(i) NOT IN (SELECT i FROM b WHERE i IS NOT NULL) ORDER BY g NULLS LAST",
];

/// Statements that the planner refused, or that made it panic.
const OTHERS: &[&str] = &[
    "SELECT MAX(i), MAX(CAST(i AS VARCHAR)) FROM a",
    "SELECT g, CAST(g AS VARCHAR) AS h, COUNT(*) FROM a GROUP BY g, CAST(g AS VARCHAR) ORDER BY g NULLS LAST",
    "SELECT CAST(g AS VARCHAR) AS h, SUM(i), SUM(CAST(i AS DOUBLE PRECISION)) FROM a GROUP BY CAST(g AS VARCHAR), g HAVING SUM(i) > 3 ORDER BY CAST(g AS VARCHAR) NULLS LAST",
    "SELECT id FROM a WHERE id IN (VALUES (1), (2)) ORDER BY id",
    "SELECT id, LAG(CAST(DATE '2024-01-31' + 365 AS DATE), 1, DATE '2024-01-31') OVER (ORDER BY id) = DATE '2025-01-30' AS y FROM a ORDER BY id",
    "SELECT id, MIN(DATE '2024-01-31' + i) OVER (ORDER BY id) = DATE '2024-02-05' AS y FROM a ORDER BY id",
    "SELECT id FROM a WHERE TRUE = id IN (1, 2) AND FALSE = (s LIKE 'y%') ORDER BY id",
    "SELECT COUNT(*) FILTER (WHERE TRUE = id IN (1, 2)), COUNT(*) FILTER (WHERE FALSE = id BETWEEN 2 AND 3) FROM a",
    "SELECT DISTINCT ON (g) g, id FROM a ORDER BY g NULLS LAST, g NULLS LAST, id DESC",
    "SELECT id FROM a WHERE i IN (SELECT MAX(i) FROM b GROUP BY g) OR i IN (SELECT MIN(i) FROM b GROUP BY s) ORDER BY id",
    "SELECT id, RANK() OVER (PARTITION BY ABS(LEAST(i, i)) ORDER BY id) AS y FROM a ORDER BY id",
    "SELECT id, SUM(g) OVER (PARTITION BY 'y', ABS(i) ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS y FROM a ORDER BY id",
    "SELECT id, COUNT(*) OVER (PARTITION BY COALESCE(i, g), s = 'x' ORDER BY ABS(i) NULLS FIRST, id) AS y FROM a ORDER BY id",
    "SELECT id, GREATEST(MOD(id, 3), 1) AS y, MOD(GREATEST(id, 2), 3) AS z, GREATEST(SIGN(g), 0) AS w FROM a ORDER BY id",
    "SELECT GREATEST(MOD(MAX(id), 3), 1) AS y, MOD(GREATEST(MIN(id), 2), 3) AS z FROM a",
    "SELECT SUM((SELECT MAX(b.i) FROM b)) AS y, SUM((SELECT COUNT(*) FROM b)) AS z FROM a",
    "SELECT id FROM a WHERE (SELECT MAX(NULLIF(b.i, 3)) FROM b) >= ANY (SELECT MAX(b.g) FROM b)",
    // Columns of one name in a correlated condition over two tables.
    "SELECT COUNT(*) AS y FROM b c WHERE EXISTS (SELECT 1 FROM a JOIN b ON a.id = b.k WHERE a.g = c.g AND b.g = c.k)",
    "SELECT COUNT(*) AS y FROM b c WHERE EXISTS (SELECT 1 FROM a JOIN b ON a.id = b.k WHERE c.g BETWEEN a.g AND b.g)",
    "SELECT c.id FROM a c WHERE EXISTS (SELECT 1 FROM a JOIN b ON a.g = b.g WHERE a.s = c.s AND b.s <> c.s)",
    "SELECT c.id FROM a c WHERE c.i > (SELECT MIN(a.g) FROM a JOIN b ON a.g = b.g WHERE a.s = c.s AND b.s = c.s)",
    "SELECT c.k FROM b c WHERE c.k NOT IN (SELECT a.g FROM a, b WHERE a.g < b.g - 100 OR b.g > c.k)",
    "SELECT c.id FROM a c WHERE c.g IN (SELECT b.k AS g FROM b WHERE b.g = c.g)",
    "SELECT c.id, x.y FROM a c, LATERAL (SELECT COUNT(*) AS y FROM a, b WHERE a.g = c.g AND b.g = c.id) x ORDER BY c.id",
    // A column that is constant below an outer join is not constant above it.
    "SELECT a.id, b.g FROM a LEFT JOIN b ON b.k = a.id AND b.g = 2 ORDER BY b.g NULLS FIRST, a.id LIMIT 3",
    "SELECT a.id, v.y FROM a LEFT JOIN (SELECT TRUE AS y, k FROM b) v ON v.k = a.id ORDER BY v.y NULLS FIRST, a.id LIMIT 5",
    "SELECT a.id, v.y FROM (SELECT 7 AS y, k FROM b) v RIGHT JOIN a ON v.k = a.id ORDER BY v.y NULLS LAST, a.id DESC LIMIT 5",
    "SELECT a.id, ROW_NUMBER() OVER (ORDER BY v.y NULLS FIRST, a.id) AS z FROM a LEFT JOIN (SELECT TRUE AS y, k FROM b) v ON v.k = a.id",
    "SELECT a.id, COUNT(*) OVER (PARTITION BY v.y) AS z FROM a FULL JOIN (SELECT TRUE AS y, k FROM b) v ON v.k = a.id ORDER BY a.id NULLS FIRST, z",
    "SELECT v.y, COUNT(*) AS z FROM a LEFT JOIN (SELECT 1 AS y, k FROM b) v ON v.k = a.id GROUP BY v.y",
    "SELECT id FROM a WHERE (CASE WHEN id < 0 THEN 2 END) NOT IN (SELECT b.g FROM b WHERE b.g IS NOT NULL)",
    "SELECT id FROM a WHERE i + NULL NOT IN (SELECT b.k FROM b)",
    "SELECT id FROM a WHERE (SELECT 5 FROM b WHERE k = 99) IS NULL ORDER BY id",
    "SELECT id, (SELECT 5 FROM b WHERE k = 99) AS y, COALESCE((SELECT COUNT(*) FROM b WHERE k = 99 GROUP BY g), 7) AS z FROM a ORDER BY id",
    "SELECT id FROM a WHERE 1 <= ALL (SELECT MIN(b.i) FROM b WHERE b.k = a.g) ORDER BY id",
    "SELECT id FROM a WHERE 0 = ANY (SELECT COUNT(*) FROM b WHERE b.g = a.id) ORDER BY id",
    "SELECT id FROM a WHERE i IN (SELECT DISTINCT i + 1 FROM b) OR id = 8 ORDER BY id",
    "SELECT id, CASE WHEN g = 1 THEN 10 WHEN id > 3 THEN NULL END AS y FROM a ORDER BY id",
    "SELECT DISTINCT ON (g + 1) g, id FROM a WHERE g IS NOT NULL ORDER BY g + 1, id",
    "SELECT GROUPING(g) AS y, g, COUNT(*) AS z FROM a GROUP BY ROLLUP (g, 0 - 3)",
    "SELECT SUM(b.k) AS y, COUNT(*) FILTER (WHERE (a.g = 1) IS TRUE) AS z FROM a FULL JOIN b ON a.id = b.k",
    "SELECT id, g FROM a EXCEPT SELECT x.id, y.id FROM a x JOIN a y ON y.id = x.g WHERE x.id < 5",
    "SELECT x.id, y.id AS z FROM a x JOIN a y ON y.id = x.g INTERSECT ALL SELECT v.id, w.id FROM a v JOIN a w ON w.id = v.g",
    "SELECT id FROM a WHERE g IN ((SELECT MIN(b.g) FROM b), 3) OR id NOT IN ((1), (2 + 2), 5)",
    "SELECT g FROM a WHERE id > 100 GROUP BY g HAVING MIN(ABS(i)) > 2",
    "SELECT MIN(ABS(i)) > 2 AS y, MAX(i + 1) + 1 AS z FROM a WHERE id > 100",
    "SELECT CASE WHEN g IN (i, g) THEN 1 END AS y, COUNT(*) AS z FROM a GROUP BY ROLLUP (CASE WHEN g IN (i, g) THEN 1 END)",
    "SELECT COALESCE(5, i) + g AS y, s, COUNT(*) AS z FROM a GROUP BY CUBE (COALESCE(5, i) + g, s)",
    "SELECT g, ABS(i) AS y, GROUPING(ABS(i)) AS z, COUNT(*) AS w FROM a GROUP BY GROUPING SETS ((g), (ABS(i)), (g, ABS(i)), ())",
];

/// Statements over types that CSV files do not have.
const TYPED: &[&str] = &[
    "SELECT id FROM a WHERE ROUND(d, 1) = 2.4 ORDER BY id",
    "SELECT id FROM a WHERE ROUND(d, 1) IN (1.3, 2.4, 7.8) ORDER BY id",
    "SELECT id FROM a WHERE ROUND(d, 1) NOT IN (1.3, 2.35) ORDER BY id",
    "SELECT id FROM a WHERE d NOT IN (SELECT ROUND(b.d, 1) FROM b WHERE b.d IS NOT NULL) ORDER BY id",
    "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.i > ALL (SELECT e.i FROM e) AND b.k > a.id) ORDER BY id",
    "SELECT a.id, k FROM a JOIN b ON ROUND(a.d, 1) = b.d ORDER BY 1, 2",
    "SELECT ROUND(d, 1) AS y, COUNT(*) AS z FROM a GROUP BY CUBE (ROUND(d, 1))",
    "SELECT ROUND(d, 1) AS y, g, COUNT(*) AS z FROM a GROUP BY GROUPING SETS ((ROUND(d, 1)), (g))",
    "SELECT id, RANK() OVER (PARTITION BY ABS(LEAST(d, d)) ORDER BY id) AS y FROM a ORDER BY id",
];

fn statements() -> Vec<String> {
    let mut statements: Vec<String> = JOINS.iter().chain(OTHERS).map(|&sql| sql.to_owned()).collect();
    for condition in CONDITIONS {
        statements.push(format!("SELECT id FROM a WHERE {condition} ORDER BY id"));
        statements.push(format!("SELECT COUNT(*) FILTER (WHERE {condition}) FROM a"));
        statements.push(format!(
            "SELECT id FROM (SELECT id, {condition} AS y FROM a) z WHERE NOT y ORDER BY id"
        ));
        statements.push(format!(
            "SELECT id, CASE WHEN {condition} THEN 1 WHEN NOT ({condition}) THEN 2 ELSE 3 END AS y FROM a ORDER BY id"
        ));
    }
    statements
}

async fn answer(session: &Session, sql: &str) -> String {
    let batches = match session.query(sql).await {
        Ok(answer) => answer.collect().await,
        Err(error) => Err(error),
    };
    let text = match batches {
        Ok(batches) => crate::statements::csv_of(&batches),
        Err(error) => return error.to_string(),
    };
    let value = |value: &str| match value.parse::<f64>() {
        Ok(number) => number.to_string(),
        Err(_) => value.trim_matches('"').to_owned(),
    };
    let row = |line: &str| line.split(',').map(value).collect::<Vec<_>>().join(",");
    let mut rows: Vec<String> = text.lines().map(row).collect();
    if !sql.contains("ORDER BY") {
        rows.sort_unstable();
    }
    rows.join(";")
}

fn session(folder: &Path) -> Session {
    Session::new(SessionOptions::default().dir(folder))
}

#[tokio::test]
async fn nulls_count_in_conditions_and_joins_as_in_duckdb() {
    let Some(python) = Python::need(&["duckdb==2.0.0"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let [parquet, texts, tables] = ["parquet", "csv", "xbase"].map(|name| folder.path().join(name));
    for folder in [&parquet, &texts, &tables] {
        fs::create_dir(folder).expect("a folder");
    }
    let list = folder.path().join("statements");
    let statements = statements();
    let all: Vec<&str> = statements
        .iter()
        .map(String::as_str)
        .chain(TYPED.iter().copied())
        .collect();
    fs::write(&list, all.join("\n")).expect("written");
    let expected = python.run(DUCKDB, &[&parquet, &texts, &list]);
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(expected.len(), all.len());
    let copied = session(&tables);
    for name in ["a", "b", "e"] {
        let rows = parquet.join(format!("{name}.parquet"));
        csv(&copied, &format!("SELECT * INTO {name} FROM [{}]", rows.display())).await;
    }
    let mut wrong = String::new();
    for (folder, with_decimals) in [(&parquet, true), (&texts, false), (&tables, true)] {
        let session = session(folder);
        let asked = if with_decimals { all.len() } else { statements.len() };
        for (sql, expected) in all.iter().zip(&expected).take(asked) {
            let found = answer(&session, sql).await;
            if found != *expected {
                let name = folder.file_name().unwrap_or_default().display();
                let _ = writeln!(wrong, "{name}: {sql}\n  gives {found}\n  not   {expected}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn a_change_looks_at_conditions_that_its_table_does_not_take() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(folder.path());
    fs::write(folder.path().join("rows.csv"), "id,i\n1,1\n2,\n3,3\n").expect("written");
    csv(&session, "SELECT id AS k, i INTO u FROM rows WHERE id < 3").await;
    for (condition, left) in [
        ("i IN (3, i) AND EXISTS (SELECT 1 FROM u)", "2\n"),
        ("NOT (i NOT IN (3, i)) AND EXISTS (SELECT 1 FROM u)", "2\n"),
        (
            "i IS NOT DISTINCT FROM 1 AND id < 4 AND EXISTS (SELECT 1 FROM u)",
            "2\n3\n",
        ),
        ("i IS NOT DISTINCT FROM 1 AND id > 4", "1\n2\n3\n"),
        ("5 NOT IN (SELECT i FROM u)", "1\n2\n3\n"),
        ("i + 0 NOT IN (SELECT u.i FROM u WHERE u.k < t.id)", "2\n3\n"),
        (
            "EXISTS (SELECT 1 FROM u WHERE u.i = ALL (SELECT CAST(NULL AS Integer)) OR u.k < t.id - 1)",
            "1\n2\n",
        ),
    ] {
        csv(&session, "DROP TABLE IF EXISTS t").await;
        csv(&session, "SELECT * INTO t FROM rows").await;
        csv(&session, &format!("DELETE FROM t WHERE {condition}")).await;
        assert_eq!(csv(&session, "SELECT id FROM t ORDER BY id").await, left, "{condition}");
    }
}
