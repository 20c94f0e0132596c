//! A program in C over `libace.so`, whose joins go to the library of this crate.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod built;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use built::built;
use tempfile::TempDir;

const ENGINE: &str = "libtidemill_adbc.so";
const ENGINE_ENV: &str = "TIDEMILL_ANALYTICAL_LIBRARY";

#[test]
fn joins_are_answered_in_the_transaction_and_with_the_words_of_ads() {
    let program = Program::new(&[]);
    program.install(ENGINE, &built(ENGINE));
    // Found beside libace.so.
    program.succeeds(program.command().env_remove(ENGINE_ENV));
}

#[test]
fn address_sanitizer_finds_nothing_in_joins() {
    let flags = ["-fsanitize=address", "-fno-omit-frame-pointer", "-g"];
    let program = Program::new(&flags);
    // What the engine's threads keep is no leak.
    program.succeeds(
        program
            .command()
            .env(ENGINE_ENV, built(ENGINE))
            .env("ASAN_OPTIONS", "detect_leaks=0"),
    );
}

#[test]
fn joins_without_the_library_name_it() {
    let program = Program::new(&[]);
    // Behind a link the library would be found beside the file itself.
    let ace = program.path("libace.so");
    fs::remove_file(&ace).unwrap();
    fs::copy(built("libace.so"), &ace).unwrap();
    let beside = program.path(ENGINE);
    program.refuses(program.command().env_remove(ENGINE_ENV), &beside.display().to_string());
    let elsewhere = "/nowhere/engine.so";
    program.refuses(program.command().env(ENGINE_ENV, elsewhere), elsewhere);
}

#[test]
fn joins_with_a_library_of_another_version_are_refused() {
    let program = Program::new(&[]);
    let source = program.path("other.c");
    fs::write(
        &source,
        "int TidemillAnalyticalQuery(unsigned version) { return version > 0 ? 2 : 0; }",
    )
    .unwrap();
    let other = program.path(ENGINE);
    run(Command::new("cc")
        .args(["-shared", "-fPIC"])
        .arg(&source)
        .arg("-o")
        .arg(&other));
    program.refuses(program.command().env_remove(ENGINE_ENV), "is of another version");
}

/// `tests/c/joins.c` beside a `libace.so`, in a folder of their own.
struct Program {
    folder: TempDir,
}

impl Program {
    /// A C compiler is there: the codecs needed it.
    fn new(flags: &[&str]) -> Self {
        let program = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        program.install("libace.so", &built("libace.so"));
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let ace = here.join("../tidemill-ace");
        run(Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror"])
            .args(flags)
            .arg("-I")
            .arg(ace.join("include"))
            .arg("-I")
            .arg(ace.join("tests/c"))
            .arg(here.join("tests/c/joins.c"))
            .arg("-L")
            .arg(program.folder.path())
            .args(["-lace", "-o"])
            .arg(program.path("program")));
        program
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The loader tells a library where the link to it is.
    fn install(&self, name: &str, file: &Path) {
        std::os::unix::fs::symlink(file, self.path(name)).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.path("program"));
        // Cargo's own path leads to a library that may be older.
        command.env("LD_LIBRARY_PATH", self.folder.path());
        command
    }

    #[track_caller]
    fn succeeds(&self, command: &mut Command) {
        let data = tempfile::tempdir().unwrap();
        let output = command.arg(data.path()).output().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, said(&output));
    }

    #[track_caller]
    fn refuses(&self, command: &mut Command, part: &str) {
        let data = tempfile::tempdir().unwrap();
        let output = command.arg(data.path()).arg(part).output().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, said(&output));
    }
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
