//! SQL over a table of dBASE whose production index is an MDX: it answers conditions, and follows changes.

use std::path::Path;
use std::sync::Arc;

use arrow_cast::display::array_value_to_string;
use tempfile::TempDir;
use tidemill_ads::sql::{Prepared, StatementOptions, Streamed};
use tidemill_ads::{Connection, IndexOptions, Settings, TableOptions};
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
    drop(connection);
    verify(&folder.path().join("hand.dbf"));
}

#[test]
fn statements_make_tags_of_the_mdx_and_drop_them() {
    let folder = copy();
    let mut connection = Connection::open(folder.path()).unwrap();
    for sql in [
        "DROP INDEX hand.plus",
        "CREATE INDEX daynum ON hand ( day, num )",
        "CREATE UNIQUE INDEX codes ON hand ( code )",
        "CREATE INDEX down ON hand ( num DESC )",
        "INSERT INTO hand ( code, num, day ) VALUES ( 'zz9', 7777, '2024-02-29' )",
        "DROP INDEX hand.down",
        "EXECUTE PROCEDURE sp_CreateIndex( 'hand', '', 'high', 'NUM', 'NUM > 50', 0, 512 )",
    ] {
        run(&mut connection, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let mut listed = |what: &str| {
        let sql = format!("SELECT {what} FROM system.indexes WHERE parent = 'hand' ORDER BY name");
        column(&mut connection, &sql)
    };
    assert_eq!(
        listed("name"),
        ["CODE", "CODES", "DAY", "DAYNUM", "HIGH", "NUM", "NUMDOWN", "UNI"]
    );
    assert!(listed("index_file_name").iter().all(|file| file.ends_with("hand.mdx")));
    let refused = run(&mut connection, "CREATE INDEX num ON hand ( code )").unwrap_err();
    assert!(refused.contains("already"), "{refused}");
    let refused = run(&mut connection, "DROP INDEX hand.plus").unwrap_err();
    assert!(refused.to_lowercase().contains("plus"), "{refused}");
    let high = run(&mut connection, "SELECT COUNT(*) FROM hand WHERE num > 50").unwrap();
    run(&mut connection, "EXECUTE PROCEDURE sp_Reindex( 'hand', 512 )").unwrap();
    drop(connection);
    let path = folder.path().join("hand.dbf");
    verify(&path);
    assert!(!path.with_extension("cdx").exists());
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    let count = index.order("HIGH").unwrap().order().key_count().unwrap();
    assert_eq!(count.to_string(), high);
}

#[test]
fn work_areas_make_tags_of_the_mdx_and_drop_them() {
    let folder = copy();
    let (mut connection, settings) = (Connection::open(folder.path()).unwrap(), Settings::default());
    let options = TableOptions::default();
    let id = connection.open_table("hand", &options, &settings).unwrap();
    let (table, mdx) = (folder.path().join("hand.dbf"), folder.path().join("hand.mdx"));
    // The name of the table is that of its production index.
    assert_eq!(connection.index_path("HAND", "cdx", &table, &settings).unwrap(), mdx);
    let cdx = connection.index_path("hand.cdx", "cdx", &table, &settings).unwrap();
    assert_eq!(cdx, folder.path().join("hand.cdx"));
    let area = connection.area(id).unwrap();
    let descending = IndexOptions {
        is_descending: true,
        ..IndexOptions::default()
    };
    let down = area
        .create_index(None, "DOWN", "NUM", Some("NUM > 0"), &descending, &settings)
        .unwrap();
    assert_eq!(area.index_path(down).unwrap(), mdx);
    // One of the same name gives way.
    let code = area
        .create_index(
            Some(&mdx),
            "code",
            "UPPER(CODE)",
            None,
            &IndexOptions::default(),
            &settings,
        )
        .unwrap();
    assert_eq!(area.order_tag(code).unwrap().expression, "UPPER(CODE)");
    let refused = area.create_index(Some(&cdx), "X", "NUM", None, &IndexOptions::default(), &settings);
    assert!(refused.is_err() && !cdx.exists());
    let custom = IndexOptions {
        is_custom: true,
        ..IndexOptions::default()
    };
    area.create_index(None, "MINE", "NUM", None, &custom, &settings)
        .unwrap_err();
    let mut walked = Vec::new();
    connection.go_top(id, Some(down), &settings).unwrap();
    while !connection.area(id).unwrap().is_eof() {
        walked.push(connection.area(id).unwrap().number_in(1).unwrap());
        connection.skip(id, Some(down), 1, &settings).unwrap();
    }
    assert!(walked.len() > 100 && walked.is_sorted_by(|a, b| a >= b));
    let area = connection.area(id).unwrap();
    area.delete_index(down).unwrap();
    let uni = area.order_named("UNI").unwrap();
    area.delete_index(uni).unwrap();
    assert!(area.order_named("DOWN").is_err());
    connection.close_table(id).unwrap();
    drop(connection);
    verify(&table);
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

/// The first column of the answer.
fn column(connection: &mut Connection, sql: &str) -> Vec<String> {
    let (settings, options) = (Settings::default(), StatementOptions::default());
    let mut tables = connection.tables(&settings, &options);
    let prepared = Arc::new(Prepared::new(sql, &mut tables).unwrap());
    let mut found = Vec::new();
    if let Streamed::Rows(rows) = prepared.stream(&mut tables, &[]).unwrap() {
        for batch in rows {
            let batch = batch.unwrap();
            let rows = 0..batch.num_rows();
            found.extend(rows.map(|row| array_value_to_string(batch.column(0), row).unwrap().trim().to_owned()));
        }
    }
    found
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
