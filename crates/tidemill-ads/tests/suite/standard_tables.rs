//! Tables that are made as SQL has them, where a program asks for it.

use tempfile::TempDir;
use tidemill_ads::sql::{StatementOptions, Value};
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
            ..StatementOptions::default()
        };
        Self {
            folder,
            connection,
            options,
        }
    }

    fn run(&mut self, text: &str, values: &[Value]) -> Result<(), String> {
        let settings = Settings::default();
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
