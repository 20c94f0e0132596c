//! Tables that are made as SQL has them, where a program asks for it.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use tempfile::TempDir;
use tidemill_ads::sql::{StatementOptions, TableName, Value};
use tidemill_ads::{Connection, Settings};
use tidemill_xbase::{OpenOptions, Table};

struct Session {
    folder: TempDir,
    connection: Connection,
    options: StatementOptions,
}

impl Session {
    fn new(standard: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path()).unwrap();
        let options = StatementOptions {
            standard_tables: standard,
            reuses_deleted: standard,
            ..StatementOptions::default()
        };
        Self {
            folder,
            connection,
            options,
        }
    }

    fn run(&mut self, text: &str, values: &[Value]) -> Result<(), String> {
        let settings = Settings {
            show_deleted: !self.options.reuses_deleted,
            ..Settings::default()
        };
        let done = self.connection.execute(text, values, &settings, &self.options);
        done.map(drop).map_err(|error| error.to_string())
    }

    fn fields(&self, table: &str) -> Vec<String> {
        let table = Table::open(self.folder.path().join(table), &OpenOptions::new()).unwrap();
        let fields = table.fields().iter();
        fields
            .map(|field| {
                format!(
                    "{} {}{}",
                    field.name,
                    field.letter,
                    if field.nullable { " NULL" } else { "" }
                )
            })
            .collect()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| !name.ends_with(".tmlog"))
            .collect();
        names.sort();
        names
    }
}

const TABLE: &str = "CREATE TABLE t ( order_number Integer, \"Größe\" VarChar(10) NOT NULL, at Time, note VarChar(1000), d DOUBLE PRECISION )";

#[test]
fn columns_can_be_null_and_keep_their_names() {
    let mut session = Session::new(true);
    session.run(TABLE, &[]).unwrap();
    assert_eq!(
        session.fields("t.dbf"),
        ["order_number I NULL", "Größe V", "at T NULL", "note M NULL", "d B NULL"]
    );
    let insert = "INSERT INTO t (order_number, \"Größe\", at) VALUES (?, ?, ?)";
    session
        .run(insert, &[Value::Null, Value::Text("a".to_owned()), Value::Time(1_000)])
        .unwrap();
    session
        .run("UPDATE t SET order_number = 7 WHERE order_number IS NULL", &[])
        .unwrap();
    assert_eq!(session.files(), ["t.dbc", "t.dbf", "t.dct", "t.dcx", "t.fpt"]);
    session.run("DROP TABLE t", &[]).unwrap();
    assert_eq!(session.files(), Vec::<String>::new());
    // Names that fit need no container.
    session
        .run("CREATE TABLE u ( id AutoInc, Name Char(5), PRIMARY KEY (Name) )", &[])
        .unwrap();
    assert_eq!(session.fields("u.dbf"), ["id I", "Name C"]);
    assert_eq!(session.files(), ["u.cdx", "u.dbf"]);
}

#[test]
fn a_table_of_another_database_is_not_one_of_the_same_name() {
    for standard in [false, true] {
        let mut session = Session::new(standard);
        session.run("CREATE TABLE t ( id Integer )", &[]).unwrap();
        session.run("INSERT INTO t VALUES (1)", &[]).unwrap();
        let before = std::fs::read(session.folder.path().join("t.dbf")).unwrap();
        for statement in [
            "INSERT INTO other.t VALUES (2)",
            "UPDATE other.t SET id = 2",
            "DELETE FROM other.t",
            "MERGE other.t ON id = 1 WHEN MATCHED THEN UPDATE SET id = 2",
            "CREATE INDEX id ON other.t (id)",
            "ALTER TABLE other.t ADD COLUMN n Integer",
            "DROP TABLE other.t",
            "SELECT * FROM other.t",
            "DELETE FROM a.b.t",
        ] {
            let error = session.run(statement, &[]).expect_err(statement);
            assert!(error.contains(".t"), "{statement}: {error}");
        }
        session.run("DROP TABLE IF EXISTS other.t", &[]).unwrap();
        assert_eq!(session.files(), ["t.dbf"]);
        assert_eq!(std::fs::read(session.folder.path().join("t.dbf")).unwrap(), before);
    }
}

#[test]
fn the_name_of_a_file_makes_it_an_adt() {
    let mut session = Session::new(true);
    session
        .run("CREATE TABLE \"t.adt\" ( id AutoInc PRIMARY KEY, word Char(5) )", &[])
        .unwrap();
    session.run("INSERT INTO \"t.adt\" (word) VALUES ('a')", &[]).unwrap();
    assert_eq!(session.files(), ["t.adi", "t.adt"]);
}

#[test]
fn otherwise_tables_are_those_of_ads() {
    let mut session = Session::new(false);
    assert!(session.run(TABLE, &[]).is_err());
    session
        .run("CREATE TABLE u ( id Integer, name Char(5) NULL )", &[])
        .unwrap();
    assert_eq!(session.fields("u.dbf"), ["ID I", "NAME C NULL"]);
}

#[test]
fn a_table_whose_key_cannot_be_made_is_not_there() {
    for standard in [false, true] {
        let mut session = Session::new(standard);
        let refused = session.run("CREATE TABLE customers_and_more ( m Memo, PRIMARY KEY (m) )", &[]);
        assert!(refused.is_err());
        assert_eq!(session.files(), Vec::<String>::new());
        // The name of the key is cut to what an index takes.
        session
            .run("CREATE TABLE customers_and_more ( k VarChar(4), PRIMARY KEY (k) )", &[])
            .map_or_else(
                |_| assert!(!standard, "a standard table has a field for the key"),
                |()| assert!(session.files().contains(&"customers_and_more.cdx".to_owned())),
            );
    }
}

#[test]
fn unique_columns_are_unique_and_what_is_deleted_is_gone() {
    let mut session = Session::new(true);
    let create = "CREATE TABLE t (id Integer PRIMARY KEY, code VarChar(5) UNIQUE NULL, a Integer, b Char(3) NOT NULL, \
                  CONSTRAINT both UNIQUE (a, b))";
    session.run(create, &[]).unwrap();
    session
        .run("CREATE TABLE uniques (unique Integer, n Integer, primary Integer)", &[])
        .unwrap();
    let create =
        "CREATE TABLE keys (id Integer UNIQUE NOT NULL PRIMARY KEY NOT NULL, b Char(3) CONSTRAINT other UNIQUE)";
    session.run(create, &[]).unwrap();
    assert_eq!(session.fields("keys.dbf"), ["id I", "b C NULL"]);
    for sql in [
        "INSERT INTO t VALUES (1, 'x', 1, 'p')",
        "INSERT INTO t VALUES (2, NULL, NULL, 'p')",
        "INSERT INTO t VALUES (3, NULL, NULL, 'p')",
        "CREATE UNIQUE INDEX n ON uniques (n)",
        "INSERT INTO uniques VALUES (1, 1, 1)",
        "INSERT INTO uniques VALUES (1, NULL, 1)",
        "INSERT INTO uniques VALUES (1, NULL, 1)",
    ] {
        session.run(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    for sql in [
        "INSERT INTO t VALUES (1, 'y', 2, 'p')",
        "INSERT INTO t VALUES (4, 'x', 2, 'p')",
        "INSERT INTO t VALUES (4, 'y', 1, 'p')",
        "UPDATE t SET code = 'x' WHERE id = 2",
        "INSERT INTO uniques VALUES (2, 1, 1)",
    ] {
        let error = session.run(sql, &[]).unwrap_err();
        assert!(error.contains("NativeError = 7057"), "{sql}: {error}");
    }
    for sql in [
        "DELETE FROM t WHERE id = 1",
        "INSERT INTO t VALUES (1, 'z', 1, 'p')",
        "DELETE FROM t WHERE id = 3",
        "MERGE t ON (id = 3) WHEN NOT MATCHED THEN INSERT (id, b) VALUES (3, 'q')",
    ] {
        session.run(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let table = Table::open(session.folder.path().join("t.dbf"), &OpenOptions::new()).unwrap();
    assert_eq!((table.record_count(), table.deleted_count().unwrap()), (3, 0));

    for sql in [
        "INSERT INTO t (id, b) VALUES (9, NULL)",
        "UPDATE t SET b = NULL",
        "INSERT INTO t (id, b) SELECT 9, NULL FROM system.iota",
    ] {
        let error = session.run(sql, &[]).unwrap_err();
        assert!(error.contains("NativeError = 5205"), "{sql}: {error}");
    }
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int32Array::from(vec![9, 10])) as ArrayRef),
        ("b", Arc::new(StringArray::from(vec![Some("p"), None]))),
    ]);
    let settings = Settings::default();
    let mut tables = session.connection.tables(&settings, &session.options);
    let error = tables.append(&TableName::new("t"), &batch.unwrap()).unwrap_err();
    assert!(error.to_string().contains("NativeError = 5205"), "{error}");
    let table = Table::open(session.folder.path().join("t.dbf"), &OpenOptions::new()).unwrap();
    assert_eq!(table.record_count(), 3);

    // Where nobody asks for it, as in ADS, the index has deleted records too.
    let mut session = Session::new(false);
    session.run("CREATE TABLE t (id Integer PRIMARY KEY)", &[]).unwrap();
    session.run("INSERT INTO t VALUES (1)", &[]).unwrap();
    session.run("DELETE FROM t", &[]).unwrap();
    session.run("INSERT INTO t VALUES (1)", &[]).unwrap_err();
}
