//! A table by a symbolic link: it is the table behind the link, with its memos, its index and its log.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::sql_rows::{lines_of, with_the_clock};
use tidemill_ads::sql::{Answer, ConnectionTables, Error, Prepared};
use tidemill_ads::{Connection, Settings, TableOptions};
use tidemill_xbase::{KeySettings, OpenOptions, Table, TableIndex};

fn run(sql: &str, tables: &mut ConnectionTables<'_>) -> Result<Vec<String>, Error> {
    match Prepared::new(sql, tables)?.run_static(tables, &[])? {
        Answer::Rows(rows) => Ok(lines_of(&rows)),
        _ => Ok(Vec::new()),
    }
}

#[track_caller]
fn done(sql: &str, tables: &mut ConnectionTables<'_>) -> Vec<String> {
    run(sql, tables).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// What lies in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_link_to_a_table_is_the_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let (real, links) = (folder.path().join("real"), folder.path().join("links"));
    std::fs::create_dir(&real).expect("a folder");
    std::fs::create_dir(&links).expect("a folder");
    let (settings, options) = with_the_clock();
    let mut connection = Connection::open(&real).expect("a connection");
    let mut tables = connection.tables(&settings, &options);
    done("CREATE TABLE t ( id Integer, m Memo )", &mut tables);
    done("CREATE INDEX id ON t ( id )", &mut tables);
    done("INSERT INTO t VALUES ( 1, 'one' )", &mut tables);
    drop(connection);
    symlink(real.join("t.dbf"), links.join("other.dbf")).expect("a link");

    let mut connection = Connection::open(&links).expect("a connection");
    let mut tables = connection.tables(&settings, &options);
    assert_eq!(done("SELECT id, m FROM other WHERE id = 1", &mut tables), ["1|one"]);
    done("INSERT INTO other VALUES ( 2, 'two' )", &mut tables);
    done("UPDATE other SET id = 7 WHERE id = 1", &mut tables);
    done("BEGIN TRANSACTION", &mut tables);
    done("UPDATE other SET m = 'seven' WHERE id = 7", &mut tables);
    done("COMMIT WORK", &mut tables);
    done("CREATE INDEX back ON other ( id DESC )", &mut tables);
    assert_eq!(
        done("SELECT id, m FROM other ORDER BY id", &mut tables),
        ["2|two", "7|seven"]
    );
    let refused = run("DROP TABLE other", &mut tables).expect_err("a link");
    assert!(refused.message().contains("is a link to"), "{refused}");

    // A work area by the link is one of the same table.
    let area = connection
        .open_table("other", &TableOptions::default(), &Settings::default())
        .expect("a work area");
    let area = connection.area(area).expect("a work area");
    assert_eq!(area.path(), real.join("t.dbf").canonicalize().expect("a path"));
    drop(connection);
    assert_eq!(names(&links), ["other.dbf"]);
    assert_eq!(names(&real), ["t.cdx", "t.dbf", "t.fpt"]);
    let table = std::sync::Arc::new(Table::open(real.join("t.dbf"), &OpenOptions::new()).expect("a table"));
    let settings = KeySettings::new(table.codepage());
    let index = TableIndex::open(real.join("t.cdx"), &table, &settings).expect("an index");
    let findings = index.verify(&table).expect("a check");
    assert!(findings.is_empty() && index.orders().len() == 2, "{findings:?}");
}
