//! SQL over a table of dBASE whose production index is an MDX: it answers conditions, and follows changes.

use std::path::Path;
use std::sync::Arc;

use arrow_cast::display::array_value_to_string;
use tempfile::TempDir;
use tidemill_ads::sql::{Prepared, StatementOptions, Streamed};
use tidemill_ads::{Connection, Settings};
use tidemill_xbase::{KeySettings, OpenOptions, Table, TableIndex};

#[test]
fn an_mdx_answers_conditions_and_follows_changes() {
    let folder = copy();
    let mut connection = Connection::open(folder.path()).unwrap();
    let check = |connection: &mut Connection, sql: &str, expected: &str| {
        assert_eq!(run(connection, sql).unwrap(), expected, "{sql}");
    };
    check(&mut connection, "SELECT COUNT(*) FROM hand WHERE num > 0", "135");
    run(&mut connection, "INSERT INTO hand ( code, num ) VALUES ( 'zz1', 1.25 )").unwrap();
    run(
        &mut connection,
        "INSERT INTO hand ( code, num ) VALUES ( 'zz2', -1.25 )",
    )
    .unwrap();
    check(&mut connection, "SELECT COUNT(*) FROM hand WHERE num > 0", "136");
    check(&mut connection, "SELECT num FROM hand WHERE code = 'zz2'", "-1.25");
    run(&mut connection, "UPDATE hand SET num = 7777 WHERE code = 'zz1'").unwrap();
    check(&mut connection, "SELECT code FROM hand WHERE num = 7777", "zz1");
    run(&mut connection, "DELETE FROM hand WHERE code = 'zz2'").unwrap();
    run(&mut connection, "BEGIN TRANSACTION").unwrap();
    run(&mut connection, "INSERT INTO hand ( code ) VALUES ( 'zz3' )").unwrap();
    run(&mut connection, "ROLLBACK WORK").unwrap();
    check(&mut connection, "SELECT COUNT(*) FROM hand WHERE code = 'zz3'", "0");
    let refused = run(&mut connection, "CREATE INDEX again ON hand ( num )").unwrap_err();
    assert!(refused.contains("MDX") || refused.contains("mdx"), "{refused}");
    drop(connection);
    verify(&folder.path().join("hand.dbf"));
}

#[test]
fn a_table_is_read_beside_an_mdx_that_cannot_be_read_and_not_changed() {
    let folder = copy();
    std::fs::write(folder.path().join("hand.mdx"), b"no index").unwrap();
    let mut connection = Connection::open(folder.path()).unwrap();
    let count = run(&mut connection, "SELECT COUNT(*) FROM hand WHERE num > 0").unwrap();
    assert_eq!(count, "135");
    let refused = run(&mut connection, "INSERT INTO hand ( code ) VALUES ( 'zz3' )").unwrap_err();
    assert!(refused.contains("hand.mdx"), "{refused}");
}

/// The table of the corpus with its MDX.
fn copy() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase");
    for name in ["hand.dbf", "hand.mdx"] {
        std::fs::copy(corpus.join(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// Every key of the MDX is that of its record.
fn verify(table: &Path) {
    let table = Arc::new(Table::open(table, &OpenOptions::new()).unwrap());
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()));
    let mut findings = index.unwrap().unwrap().verify(&table).unwrap();
    findings.retain(|finding| !finding.is_note());
    assert_eq!(findings, []);
}

/// The first value of the answer.
fn run(connection: &mut Connection, sql: &str) -> Result<String, String> {
    let (settings, options) = (Settings::default(), StatementOptions::default());
    let mut tables = connection.tables(&settings, &options);
    let prepared = Arc::new(Prepared::new(sql, &mut tables).map_err(|error| error.to_string())?);
    match prepared.stream(&mut tables, &[]).map_err(|error| error.to_string())? {
        Streamed::Rows(mut rows) => match rows.next() {
            Some(batch) => {
                let batch = batch.map_err(|error| error.to_string())?;
                Ok(array_value_to_string(batch.column(0), 0).unwrap().trim().to_owned())
            }
            None => Ok(String::new()),
        },
        _ => Ok(String::new()),
    }
}
