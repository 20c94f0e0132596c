//! Orders of columns whose text has a varying length: keys are as wide as the column, as those of CHAR are.

use tempfile::TempDir;
use tidemill_ads::sql::{Answer, Prepared, StatementOptions};
use tidemill_ads::{Connection, Settings, TableOptions, TableType};

struct Folder {
    _folder: TempDir,
    connection: Connection,
    options: StatementOptions,
}

impl Folder {
    fn new(table_type: TableType) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let table = TableOptions {
            table_type,
            ..TableOptions::default()
        };
        Self {
            connection: Connection::open(folder.path()).unwrap(),
            _folder: folder,
            options: StatementOptions {
                table,
                ..StatementOptions::default()
            },
        }
    }

    fn try_run(&mut self, sql: &str) -> Result<Answer, String> {
        let settings = Settings {
            show_deleted: false,
            ..Settings::default()
        };
        let mut tables = self.connection.tables(&settings, &self.options);
        let prepared = Prepared::new(sql, &mut tables).map_err(|e| e.to_string())?;
        prepared.run_static(&mut tables, &[]).map_err(|e| e.to_string())
    }

    fn run(&mut self, sql: &str) -> Answer {
        self.try_run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn count(&mut self, sql: &str) -> usize {
        match self.run(sql) {
            Answer::Rows(rows) => rows.count(),
            other => panic!("{sql}: {other:?}"),
        }
    }

    fn refused(&mut self, sql: &str) -> String {
        match self.try_run(sql) {
            Err(error) => error,
            Ok(done) => panic!("{sql}: {done:?}"),
        }
    }
}

#[test]
fn orders_of_columns_of_varying_length_are_made_and_kept() {
    for table_type in [TableType::Vfp, TableType::Cdx] {
        for column in ["VARCHAR(10)", "VARCHAR(10) NULL"] {
            for index in ["INDEX", "UNIQUE INDEX"] {
                let mut folder = Folder::new(table_type);
                folder.run(&format!("CREATE TABLE k2 ( id INTEGER, name {column} )"));
                folder.run(&format!("CREATE {index} n1 ON k2 ( name )"));
                for (id, name) in ["b", "abc", "exactly 10", "", "zz"].iter().enumerate() {
                    folder.run(&format!("INSERT INTO k2 VALUES ( {id}, '{name}' )"));
                }
                folder.run("UPDATE k2 SET name = 'abcd' WHERE name = 'abc'");
                folder.run("DELETE FROM k2 WHERE name = 'zz'");
                let what = format!("{table_type:?} {column} {index}");
                for (condition, expected) in [
                    ("name = 'abc'", 0),
                    ("name = 'abcd'", 1),
                    ("name = 'exactly 10'", 1),
                    ("name >= 'abcd' AND name < 'c'", 2),
                    ("name > 'b'", 1),
                    ("name LIKE 'ab%'", 1),
                    ("name = 'zz'", 0),
                ] {
                    let found = folder.count(&format!("SELECT id FROM k2 WHERE {condition}"));
                    assert_eq!(found, expected, "{what}: {condition}");
                }
                folder.run("DROP INDEX k2.n1");
                folder.run("CREATE INDEX n1 ON k2 ( name )");
                assert_eq!(folder.count("SELECT id FROM k2 WHERE name = 'b'"), 1, "{what}");
            }
        }
    }
}

#[test]
fn a_primary_key_that_varies_in_length_is_one_like_others() {
    for table_type in [TableType::Vfp, TableType::Cdx] {
        let [varying, padded] = ["VARCHAR(10)", "CHAR(10)"].map(|column| {
            let mut folder = Folder::new(table_type);
            folder.run(&format!("CREATE TABLE k3 ( name {column} PRIMARY KEY, v INTEGER )"));
            folder.run("INSERT INTO k3 VALUES ( 'one', 1 )");
            folder.run("INSERT INTO k3 VALUES ( 'on', 2 )");
            let is_refused = folder.try_run("INSERT INTO k3 VALUES ( 'one', 3 )").is_err();
            (
                is_refused,
                folder.count("SELECT v FROM k3 WHERE name = 'one'"),
                folder.count("SELECT v FROM k3 WHERE name = 'on'"),
            )
        });
        assert_eq!(varying, padded, "{table_type:?}");
    }
}

#[test]
fn columns_without_keys_are_named() {
    let mut folder = Folder::new(TableType::Vfp);
    folder.run("CREATE TABLE k4 ( id INTEGER, remark MEMO, photo BLOB, long_one CHAR(250), bits VARBINARY(10) )");
    for (column, why) in [
        ("remark", "REMARK"),
        ("photo", "PHOTO"),
        ("long_one", "250 bytes, not 1 to 240: LONG_ONE is too long"),
    ] {
        let error = folder.refused(&format!("CREATE INDEX {column} ON k4 ( {column} )"));
        assert!(error.to_uppercase().contains(&why.to_uppercase()), "{error}");
    }
    folder.run("CREATE INDEX bits ON k4 ( bits )");
    folder.run("INSERT INTO k4 ( id, bits ) VALUES ( 1, 'abc' )");
    assert_eq!(folder.count("SELECT id FROM k4 WHERE id = 1"), 1);
}
