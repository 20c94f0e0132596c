//! xBase tables and their copies under SQL: pushdown, counts, deleted records, and answers that equal a naive evaluation.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{BooleanArray, Decimal128Array, Int64Array, RecordBatch, StringArray};
use tidemill_sql::{CopyOptions, Location, Session, SessionOptions};
use tidemill_xbase::{CivilDate, CreateOptions, Deleted, FieldSpec, TableWriter};

use crate::destination;

/// A row of the generated tables, as a program would hold it.
#[derive(Clone, Debug)]
struct Row {
    id: i64,
    tag: String,
    cents: Option<i128>,
    open: Option<bool>,
    deleted: bool,
}

/// A condition as a program would write it.
type Holds<'a> = &'a dyn Fn(&Row) -> bool;

/// Rows from a seed. SplitMix64, so that a failure's seed makes the same rows everywhere.
fn rows(seed: u64, count: usize) -> Vec<Row> {
    let mut state = seed;
    let mut random = move |bound: u64| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    };
    (0..count)
        .map(|id| Row {
            id: id as i64 - 5,
            tag: ["", "a", "B", "Zz", "ä", "longer"][random(6) as usize].to_owned(),
            cents: (random(7) > 0).then(|| i128::from(random(200_000)) - 100_000),
            open: (random(5) > 0).then(|| random(2) == 0),
            deleted: random(9) == 0,
        })
        .collect()
}

fn write(path: &Path, rows: &[Row]) {
    let fields = [
        FieldSpec::new("ID", 'N', 8, 0),
        FieldSpec::new("TAG", 'C', 6, 0),
        FieldSpec::new("AMOUNT", 'N', 10, 2),
        FieldSpec::new("OPEN", 'L', 1, 0),
    ];
    let cents: Vec<Option<i128>> = rows.iter().map(|row| row.cents).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([
        (
            "ID",
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.id))) as _,
            true,
        ),
        (
            "TAG",
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.tag))) as _,
            true,
        ),
        (
            "AMOUNT",
            Arc::new(
                Decimal128Array::from(cents)
                    .with_precision_and_scale(12, 2)
                    .expect("fits"),
            ) as _,
            true,
        ),
        (
            "OPEN",
            Arc::new(BooleanArray::from_iter(rows.iter().map(|row| row.open))) as _,
            true,
        ),
    ])
    .expect("a batch");
    let mut writer = TableWriter::create(
        path,
        &fields,
        &CreateOptions::new(CivilDate {
            year: 2024,
            month: 6,
            day: 30,
        }),
    )
    .expect("created");
    let deleted = BooleanArray::from_iter(rows.iter().map(|row| Some(row.deleted)));
    writer.write(&batch, Some(&deleted)).expect("written");
    writer.finish().expect("finished");
}

async fn ids(session: &Session, sql: &str) -> Vec<i64> {
    let batches = session.query(sql).await.expect(sql).collect().await.expect(sql);
    batches
        .iter()
        .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect()
}

async fn plan(session: &Session, sql: &str) -> String {
    session.explain(sql).await.expect(sql)
}

#[tokio::test]
async fn answers_equal_a_naive_evaluation_over_the_table_and_its_copies() {
    for seed in 0..6 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let rows = rows(seed, 3_000 + seed as usize * 4_000);
        let table = folder.path().join("GEN.DBF");
        write(&table, &rows);
        let source = Location::existing(&table).expect("a table");
        let options = SessionOptions::default().dir(folder.path());
        let over_table = Session::new(options.threads(3));
        for extension in ["riegeli", "parquet"] {
            let copy = folder.path().join("copy").with_extension(extension);
            let copied = over_table
                .copy(&source, &destination(&copy), &CopyOptions::default(), |_| {})
                .await
                .expect("copied");
            assert_eq!(
                copied.rows as usize,
                rows.iter().filter(|row| !row.deleted).count(),
                "seed {seed}"
            );
        }
        let conditions: [(&str, Holds<'_>); 7] = [
            ("amount > 0", &|row| row.cents.is_some_and(|cents| cents > 0)),
            ("amount BETWEEN -10.5 AND 99.99", &|row| {
                row.cents.is_some_and(|cents| (-1_050..=9_999).contains(&cents))
            }),
            ("tag = 'a' OR tag = 'ä'", &|row| row.tag == "a" || row.tag == "ä"),
            ("tag <> '' AND open", &|row| {
                !row.tag.is_empty() && row.open == Some(true)
            }),
            ("NOT open OR amount IS NULL", &|row| {
                row.open == Some(false) || row.cents.is_none()
            }),
            ("id % 7 = 3 AND tag LIKE '_z'", &|row| {
                row.id % 7 == 3 && row.tag == "Zz"
            }),
            ("UPPER(tag) IN ('B', 'LONGER')", &|row| {
                row.tag == "B" || row.tag == "longer"
            }),
        ];
        for (condition, holds) in conditions {
            let expected: Vec<i64> = rows
                .iter()
                .filter(|row| !row.deleted && holds(row))
                .map(|row| row.id)
                .collect();
            for name in ["GEN.DBF", "copy.riegeli", "copy.parquet"] {
                let found = ids(&over_table, &format!("SELECT id FROM '{name}' WHERE {condition}")).await;
                assert_eq!(found, expected, "seed {seed}, {name}, {condition}");
                let limited = ids(
                    &over_table,
                    &format!("SELECT ID FROM '{name}' WHERE {condition} LIMIT 5"),
                )
                .await;
                assert_eq!(
                    limited,
                    expected[..expected.len().min(5)],
                    "seed {seed}, {name}, {condition}"
                );
            }
        }
        let expected: i128 = rows.iter().filter(|row| !row.deleted).filter_map(|row| row.cents).sum();
        for name in ["GEN.DBF", "copy.riegeli", "copy.parquet"] {
            let sql = format!("SELECT CAST(SUM(amount) * 100 AS BIGINT) FROM '{name}'");
            assert_eq!(
                i128::from(ids(&over_table, &sql).await[0]),
                expected,
                "seed {seed}, {name}"
            );
        }
    }
}

#[tokio::test]
async fn projection_filter_and_limit_reach_the_scan() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(&folder.path().join("GEN.DBF"), &rows(1, 100));
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let source = Location::existing(&folder.path().join("GEN.DBF")).expect("a table");
    let copy = folder.path().join("COPY.riegeli");
    session
        .copy(&source, &destination(&copy), &CopyOptions::default(), |_| {})
        .await
        .expect("copied");
    for (table, scan) in [("gen", "XbaseScan"), ("copy", "RiegeliScan")] {
        let plan = plan(
            &session,
            &format!("WITH q AS (SELECT tag FROM {table} WHERE amount > 5 LIMIT 3) SELECT tag FROM q"),
        )
        .await;
        let line = plan
            .lines()
            .find(|line| line.contains(scan))
            .unwrap_or_else(|| panic!("no {scan} in\n{plan}"));
        assert!(line.contains("columns=[TAG]"), "{line}");
        assert!(line.contains("filter=AMOUNT@2 >"), "{line}");
        assert!(line.contains("limit=3"), "{line}");
        assert!(!plan.contains("FilterExec"), "{plan}");
    }
}

#[tokio::test]
async fn deleted_records_are_rows_only_when_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = rows(7, 20_000);
    write(&folder.path().join("GEN.DBF"), &rows);
    let deleted = rows.iter().filter(|row| row.deleted).count() as i64;
    for (which, expected) in [
        (Deleted::Skip, 20_000 - deleted),
        (Deleted::Include, 20_000),
        (Deleted::Only, deleted),
    ] {
        let session = Session::new(SessionOptions::default().dir(folder.path()).deleted(which));
        assert_eq!(ids(&session, "SELECT COUNT(*) FROM gen").await, [expected], "{which:?}");
        let counted = ids(&session, "SELECT COUNT(*) FROM gen WHERE id > -100").await;
        assert_eq!(counted, [expected], "{which:?}");
        // A count comes from the header, without a scan, only where no deleted record stands in the way.
        let by_engine = "WITH q AS (SELECT COUNT(*) AS n FROM gen) SELECT n FROM q";
        assert_eq!(ids(&session, by_engine).await, [expected], "{which:?}");
        let from_header = !plan(&session, by_engine).await.contains("XbaseScan");
        assert_eq!(from_header, which == Deleted::Include, "{which:?}");
    }
}

#[tokio::test]
async fn a_damaged_table_is_an_error_that_names_the_file_and_recovery_reads_the_rest() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("GEN.DBF");
    write(&path, &rows(3, 1_000));
    let mut bytes = std::fs::read(&path).expect("read");
    bytes.truncate(bytes.len() - 5_000);
    std::fs::write(&path, bytes).expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let error = match session.query("SELECT * FROM gen").await {
        Err(error) => error,
        Ok(answer) => answer.collect().await.expect_err("the file is short"),
    };
    assert!(error.to_string().contains("GEN.DBF"), "{error}");
    let session = Session::new(SessionOptions::default().dir(folder.path()).recover(true));
    let left = ids(&session, "SELECT id FROM gen").await.len();
    assert!((500..900).contains(&left), "{left}");
}

#[test]
fn record_numbers_are_those_of_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("GEN.DBF");
    let rows = rows(9, 300);
    write(&path, &rows);
    let table = Arc::new(tidemill_xbase::Table::open(&path, &tidemill_xbase::OpenOptions::default()).expect("opened"));
    let scan = tidemill_xbase::Scan::default().projection(vec![0]).system_columns(true);
    for batch in table.scan(scan).expect("a scan") {
        let batch = batch.expect("a batch");
        let ids = batch.column(0).as_primitive::<Int64Type>();
        let numbers = batch.column(1).as_primitive::<UInt32Type>();
        for row in 0..batch.num_rows() {
            assert_eq!(ids.value(row) + 6, i64::from(numbers.value(row)));
        }
    }
}

#[tokio::test]
async fn an_index_leaves_a_join_few_records_to_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (table, one) = (folder.path().join("gen.dbf"), folder.path().join("one.dbf"));
    let mut rows = rows(7, 9_000);
    write(&table, &rows);
    let only = Row {
        deleted: false,
        ..rows[0].clone()
    };
    write(&one, &[only]);
    let session = Session::new(SessionOptions::default().dir(folder.path()).threads(2));
    for field in ["ID", "TAG", "AMOUNT"] {
        let made = session
            .query(&format!("CREATE INDEX by_{field} ON gen ( {field} )"))
            .await;
        made.expect(field).collect().await.expect(field);
    }
    let units = |row: &Row| row.cents.unwrap_or(0);
    let conditions: &[(&str, bool, Holds<'_>)] = &[
        ("gen.ID = 77", true, &|row| row.id == 77),
        ("77 >= gen.ID", true, &|row| row.id <= 77),
        ("gen.ID BETWEEN 100 AND 140", true, &|row| (100..=140).contains(&row.id)),
        ("gen.ID IN ( 5, 6, 7000 )", true, &|row| [5, 6, 7000].contains(&row.id)),
        ("gen.ID = 5 OR gen.AMOUNT > 999.5", true, &|row| {
            row.id == 5 || units(row) > 99_950
        }),
        ("gen.ID < 900 AND gen.TAG = 'a'", true, &|row| {
            row.id < 900 && row.tag == "a"
        }),
        ("gen.ID = 77 AND gen.OPEN", true, &|row| {
            row.id == 77 && row.open == Some(true)
        }),
        ("gen.TAG = 'none'", true, &|_| false),
        // Blanks have the key of 0, too, and most of the records would be read.
        ("gen.AMOUNT = 0", false, &|row| row.cents == Some(0)),
        ("gen.TAG = 'Zz'", false, &|row| row.tag == "Zz"),
        ("gen.ID > 10", false, &|row| row.id > 10),
        ("gen.ID + 0 = 77", false, &|row| row.id == 77),
        ("gen.TAG > 'Z' AND gen.TAG < 'Zzz'", false, &|row| row.tag == "Zz"),
        ("NOT gen.ID = 77", false, &|row| row.id != 77),
    ];
    for is_fresh in [true, false] {
        for (condition, is_narrow, holds) in conditions {
            let sql = format!("SELECT gen.ID FROM gen, one WHERE {condition} ORDER BY gen.ID");
            let kept = rows.iter().filter(|row| !row.deleted && holds(row));
            assert_eq!(
                ids(&session, &sql).await,
                kept.map(|row| row.id).collect::<Vec<_>>(),
                "{sql}"
            );
            let shown = plan(&session, &sql).await;
            assert_eq!(
                shown.contains("index=gen.cdx"),
                *is_narrow && is_fresh,
                "{sql}: {shown}"
            );
        }
        // Whoever changes the table without its index leaves one that has not as many entries.
        rows.push(Row {
            id: 77,
            tag: "a".to_owned(),
            cents: None,
            open: Some(true),
            deleted: false,
        });
        rows.sort_by_key(|row| row.id);
        write(&table, &rows);
    }
}

#[tokio::test]
async fn keys_of_few_rows_are_looked_up_in_the_index() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = rows(11, 9_000);
    write(&folder.path().join("gen.dbf"), &rows);
    let keys: Vec<i64> = (0..40).map(|key| key * 311 - 2_000).collect();
    let lines: String = keys.iter().map(|key| format!("{key},{}\n", key % 5)).collect();
    std::fs::write(folder.path().join("few.csv"), format!("id,kind\n{lines}")).expect("written");
    let session = Session::new(SessionOptions::default().dir(folder.path()).threads(2));
    let found: Vec<i64> = rows
        .iter()
        .filter(|row| !row.deleted && keys.contains(&row.id))
        .map(|row| row.id)
        .collect();
    let statements = [
        "SELECT gen.ID FROM few JOIN gen ON gen.ID = few.id ORDER BY gen.ID",
        "SELECT gen.ID FROM few LEFT JOIN gen ON gen.ID = few.id WHERE gen.ID IS NOT NULL ORDER BY gen.ID",
        "SELECT few.id FROM few WHERE EXISTS (SELECT 1 FROM gen WHERE gen.ID = few.id) ORDER BY few.id",
    ];
    for is_indexed in [false, true] {
        if is_indexed {
            let made = session
                .query("CREATE INDEX by_id ON gen ( ID )")
                .await
                .expect("an index");
            made.collect().await.expect("an index");
        }
        for sql in statements {
            assert_eq!(ids(&session, sql).await, found, "{sql}");
            let shown = plan(&session, sql).await;
            assert_eq!(shown.contains("KeyLookup: column=ID"), is_indexed, "{sql}: {shown}");
        }
        let nobody = "SELECT gen.ID FROM few JOIN gen ON gen.ID = few.id WHERE few.kind = 9";
        assert_eq!(ids(&session, nobody).await, Vec::<i64>::new());
        // A limit is of the table's rows, not of those with a key.
        let first = "SELECT COUNT(*) AS n FROM few JOIN (SELECT ID FROM gen ORDER BY ID LIMIT 2000) g ON g.ID = few.id";
        let expected = rows.iter().filter(|row| !row.deleted).take(2_000);
        let expected = expected.filter(|row| keys.contains(&row.id)).count();
        assert_eq!(ids(&session, first).await, [i64::try_from(expected).expect("small")]);
    }
}
