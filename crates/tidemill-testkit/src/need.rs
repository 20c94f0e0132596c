//! How a test says that it could not run.

use std::{
    env,
    fs::OpenOptions,
    io::{self, Write},
    panic::Location,
    path::Path,
    thread,
};

use crate::installation::{Installation, Server};

/// Names the file that [`need`] appends to: one line per test that did not run, `test TAB where TAB why`.
pub const NOT_RUN_ENV: &str = "TIDEMILL_NOT_RUN";

/// The installation of a server, or `None` after noting that the calling test does not run and why.
///
/// The note goes to standard error past the test runner's capture, and into the file that [`NOT_RUN_ENV`] names.
///
/// # Panics
///
/// When that file cannot be written: a test that could not run must not pass unseen.
#[must_use]
#[track_caller]
pub fn need(server: Server) -> Option<Installation> {
    match Installation::find(server) {
        Ok(installation) => Some(installation),
        Err(why) => {
            not_run(&why.to_string(), Location::caller());
            None
        }
    }
}

/// Notes that the calling test does not run for want of a program of the machine, and why.
///
/// ```no_run
/// tidemill_testkit::lacks("no valgrind here");
/// ```
///
/// # Panics
///
/// As [`need`].
#[track_caller]
pub fn lacks(why: &str) {
    not_run(why, Location::caller());
}

pub(crate) fn not_run(why: &str, place: &Location<'_>) {
    let line = line(&test_name(), why, place);
    // Not `eprintln!`: the test runner would keep it, since the test passes.
    let _ = io::stderr().write_all(format!("not run: {line}").as_bytes());
    if let Some(path) = env::var_os(NOT_RUN_ENV) {
        append(Path::new(&path), &line).unwrap_or_else(|error| panic!("{}: {error}", Path::new(&path).display()));
    }
}

fn line(test: &str, why: &str, place: &Location<'_>) -> String {
    let flat = |text: &str| text.replace(['\t', '\n'], " ");
    format!("{}\t{}:{}\t{}\n", flat(test), place.file(), place.line(), flat(why))
}

/// One write per line, so that tests of several processes do not mix theirs.
fn append(path: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)?
        .write_all(line.as_bytes())
}

/// The test runner names each test's thread after it, unless it runs them one by one in the main thread.
fn test_name() -> String {
    let program = env::current_exe().ok();
    let program = program
        .as_deref()
        .and_then(Path::file_stem)
        .unwrap_or_default()
        .to_string_lossy();
    // cargo ends the name of a test program with a dash and a hash.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    format!("{program} {}", thread::current().name().unwrap_or("main"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_line_and_notes_add_up() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("not-run");
        let place = Location::caller();
        for why in ["no java", "it said:\nno\tlists"] {
            append(&file, &line(&test_name(), why, place)).expect("a note");
        }
        let notes = std::fs::read_to_string(&file).expect("the notes");
        let here = format!("{}:{}", place.file(), place.line());
        let test = "tidemill_testkit need::tests::a_note_is_one_line_and_notes_add_up";
        assert_eq!(
            notes,
            format!("{test}\t{here}\tno java\n{test}\t{here}\tit said: no lists\n")
        );
    }
}
