//! `tidemill shell`, from a pipe and on a terminal.

use std::fs;
use std::process::Command;

use crate::run::{Folder, Run};

fn people() -> Folder {
    let folder = Folder::with(&[]);
    fs::write(folder.file("people.csv"), "id,name\n1,Ann\n2,Bob\n3,\n").expect("written");
    folder
}

fn piped(folder: &Folder, text: &str) -> Run {
    folder.fed(&["shell"], text)
}

#[test]
fn statements_of_a_pipe_are_run_one_after_the_other() {
    let folder = people();
    let text = "SELECT COUNT(*) AS n\nFROM people;\n\\format csv\nSELECT name FROM people WHERE id = 1; SELECT 2 AS two FROM people LIMIT 1;\n\\q\nSELECT 1/0;\n";
    assert_eq!(piped(&folder, text).done(), "{\"n\":3}\nname\nAnn\ntwo\n2\n");
    let text = "\\attach p=people.csv\nSELECT MAX(id) AS m FROM p;\n\\o new.csv\nSELECT * FROM p;\n\\d p\n";
    let answer = piped(&folder, text).done();
    assert!(answer.starts_with("{\"m\":3}\n{\"column_name\":\"id\""), "{answer}");
    let written = fs::read_to_string(folder.file("new.csv")).expect("a file");
    assert_eq!(written, "id,name\n1,Ann\n2,Bob\n3,\n");
    // A file that is there is not replaced.
    let error = piped(&folder, "\\o new.csv\nSELECT 1 AS one FROM people;\n").failed();
    assert!(error.contains("new.csv: already exists"), "{error}");
    let books = "\\o book.xlsx\nSELECT * FROM people;\n\\format csv\nSELECT COUNT(*) AS n FROM 'book.xlsx';\n";
    assert_eq!(piped(&folder, books).done(), "n\n3\n");
}

#[test]
fn a_statement_that_fails_ends_a_pipe() {
    let folder = people();
    let run = piped(
        &folder,
        "SELECT 1 AS one FROM people LIMIT 1;\nSELECT nam FROM people;\nSELECT 2 FROM people;\n",
    );
    assert_eq!(run.code, Some(2));
    assert_eq!(String::from_utf8_lossy(&run.stdout), "{\"one\":1}\n");
    assert!(
        run.stderr.contains("column nam not found; did you mean name?"),
        "{}",
        run.stderr
    );
    assert!(piped(&folder, "\\x\n").failed().contains("there is no command \\x"));
}

/// Python's `pty` gives the program a terminal.
#[test]
fn people_type_at_a_prompt() {
    let folder = people();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/shell.py");
    let output = Command::new("python3")
        .args([script, env!("CARGO_BIN_EXE_tidemill")])
        .current_dir(folder.path())
        .env("XDG_STATE_HOME", folder.path())
        .output()
        .expect("python3");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
