//! What a session needs of a connection that it keeps: each statement's answer, and what lasts between texts.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_cast::display::array_value_to_string;
use tempfile::TempDir;
use tidemill_ads::sql::{Prepared, StatementOptions, Streamed, Value};
use tidemill_ads::{Connection, Settings};

struct Session {
    connection: Connection,
    settings: Settings,
    options: StatementOptions,
}

impl Session {
    fn new(folder: &TempDir) -> Self {
        Self {
            connection: Connection::open(folder.path()).unwrap(),
            settings: Settings {
                show_deleted: false,
                ..Settings::default()
            },
            options: StatementOptions::default(),
        }
    }

    /// What each statement answers, at most so many of them: rows as text, or how many records it changed.
    fn answers(&mut self, text: &str, values: &[Value], most: usize) -> Result<Vec<String>, String> {
        let mut tables = self.connection.tables(&self.settings, &self.options);
        let prepared = Arc::new(Prepared::new(text, &mut tables).map_err(|error| error.to_string())?);
        let mut answers = Vec::new();
        let run = prepared.stream_each(&mut tables, values, |answer| {
            answers.push(match answer {
                Streamed::Rows(rows) => rows.map(|batch| shown(&batch.unwrap())).collect::<Vec<_>>().concat(),
                Streamed::Changed(count) => format!("{count} changed"),
                _ => "done".to_owned(),
            });
            match answers.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        run.map(|()| answers).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(&mut self, text: &str, expected: &[&str]) {
        assert_eq!(self.answers(text, &[], usize::MAX).unwrap(), expected, "{text}");
    }
}

fn shown(batch: &arrow_array::RecordBatch) -> String {
    let row = |row: usize| {
        let cells = batch
            .columns()
            .iter()
            .map(|column| array_value_to_string(column, row).unwrap());
        format!("({})", cells.collect::<Vec<_>>().join(","))
    };
    (0..batch.num_rows()).map(row).collect()
}

#[test]
fn every_statement_of_a_script_answers() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::new(&folder);
    session.check(
        "SELECT 1 AS a FROM system.iota; SELECT 2 AS a FROM system.iota;",
        &["(1)", "(2)"],
    );
    session.check(
        "CREATE TABLE t ( n Integer ); INSERT INTO t VALUES ( 1 ), ( 2 ); SELECT n FROM t; DELETE FROM t WHERE n = 1;",
        &["done", "2 changed", "(1)(2)", "1 changed"],
    );
    assert_eq!(session.connection.last_affected(), Some(1));
    let script = "DECLARE @i Integer; @i = 0; WHILE @i < 3 DO @i = @i + 1; SELECT @i AS i FROM system.iota; END WHILE; \
                  SELECT n FROM t;";
    session.check(script, &["(1)", "(2)", "(3)", "(2)"]);
    assert_eq!(session.connection.last_affected(), None);
    assert_eq!(
        session.answers(script, &[], 2).unwrap(),
        ["(1)", "(2)"],
        "whoever wants no more ends the script"
    );
    session.check("SELECT n FROM t", &["(2)"]);
    assert_eq!(session.connection.last_affected(), None);
    session.check("UPDATE t SET n = 3", &["1 changed"]);
    assert_eq!(session.connection.last_affected(), Some(1));
    // A fault in the middle leaves what was done before.
    let error = session
        .answers("UPDATE t SET n = 4; SELECT nothing FROM t;", &[], 9)
        .unwrap_err();
    assert!(error.contains("nothing") || error.contains("NOTHING"), "{error}");
    session.check("SELECT n FROM t", &["(4)"]);
}

#[test]
fn transactions_views_and_temporary_tables_last_from_text_to_text() {
    let folder = tempfile::tempdir().unwrap();
    let (mut session, mut other) = (Session::new(&folder), Session::new(&folder));
    session.check(
        "CREATE TABLE t ( n Integer ); INSERT INTO t VALUES ( 1 ), ( 2 );",
        &["done", "2 changed"],
    );
    session.check("BEGIN TRANSACTION", &["done"]);
    assert!(session.connection.is_in_transaction());
    session.check("DELETE FROM t", &["2 changed"]);
    session.check("SELECT COUNT(*) FROM t", &["(0)"]);
    other.check("SELECT COUNT(*) FROM t", &["(2)"]);
    session.check("ROLLBACK", &["done"]);
    assert!(!session.connection.is_in_transaction());
    session.check("SELECT COUNT(*) FROM t", &["(2)"]);

    session.check("CREATE VIEW v AS SELECT n FROM t WHERE n > 1", &["done"]);
    session.check("SELECT n FROM v", &["(2)"]);
    assert!(other.answers("SELECT n FROM v", &[], 9).is_err());

    session.check("SELECT n AS a_rather_long_name INTO #x FROM t", &["2 changed"]);
    session.check("CREATE TABLE #y ( n Integer )", &["done"]);
    session.check("SELECT a_rather_long_name FROM #x", &["(1)(2)"]);
    assert!(other.answers("SELECT * FROM #x", &[], 9).is_err());
    let files = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let files: Vec<_> = files.filter(|name| name.to_string_lossy().ends_with(".dbf")).collect();
    assert_eq!(files, ["t.dbf"]);
    let temporary: Vec<(String, PathBuf, Option<Vec<String>>)> = session
        .connection
        .temporary_tables()
        .map(|table| {
            (
                table.name.to_owned(),
                table.path.to_owned(),
                table.field_names.map(|names| names.to_vec()),
            )
        })
        .collect();
    assert_eq!(temporary[0].0, "#x");
    assert_eq!(temporary[0].2.as_deref(), Some(&["a_rather_long_name".to_owned()][..]));
    assert_eq!((temporary[1].0.as_str(), &temporary[1].2), ("#y", &None));
    drop(session);
    assert!(temporary.iter().all(|(_, path, _)| !path.parent().unwrap().exists()));
}

#[test]
fn too_many_values_are_refused_as_too_few_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::new(&folder);
    session.check("CREATE TABLE t ( n Integer )", &["done"]);
    for (text, values) in [
        ("SELECT n FROM t WHERE n = ?", 2),
        ("SELECT n FROM t WHERE n = ?", 0),
        ("SELECT n FROM t", 1),
        ("INSERT INTO t VALUES ( :a )", 2),
        ("INSERT INTO t VALUES ( 1 ); SELECT n FROM t WHERE n = :a;", 2),
    ] {
        let values = vec![Value::Integer(1); values];
        let error = session.answers(text, &values, 9).unwrap_err();
        assert!(error.contains("07001"), "{text}: {error}");
    }
    session.check("SELECT COUNT(*) FROM t", &["(0)"]);
}
