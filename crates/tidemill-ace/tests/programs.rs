//! Programs in C over `libace.so`: by themselves, under valgrind and with AddressSanitizer, and linked with another library
//! of the name.
//!
//! A test that needs what the machine lacks is noted as not run.

mod built;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Programs that check the answers of their calls.
const PROGRAMS: [&str; 32] = [
    "tests/c/walk.c",
    "tests/c/lengths.c",
    "tests/c/refusals.c",
    "tests/c/characters.c",
    "tests/c/sql.c",
    "tests/c/callbacks.c",
    "tests/c/management.c",
    "tests/c/places.c",
    "tests/c/variants.c",
    "tests/c/bindings.c",
    "tests/c/leaks.c",
    "tests/c/threads.c",
    "tests/c/values.c",
    "tests/c/objects.c",
    "tests/c/candidates.c",
    "tests/c/read_only.c",
    "tests/c/damaged.c",
    "tests/c/adt.c",
    "tests/c/dictionary.c",
    "tests/c/own_dictionary.c",
    "tests/c/dictionary_programs.c",
    "tests/c/dictionary_objects.c",
    "tests/c/dictionary_switches.c",
    "tests/c/dictionary_links.c",
    "tests/c/full_text.c",
    "tests/c/unpublished.c",
    "tests/c/replication.c",
    "tests/c/internals.c",
    "tests/c/encryption.c",
    "tests/c/connect_string.c",
    "tests/c/codes.c",
    "tests/c/openads.c",
];

#[test]
fn calls_answer_as_expected() {
    each_program_succeeds(&built::library(), &["-pthread"], &[]);
}

/// Over the library that ships: under valgrind, the one of the tests takes minutes.
#[test]
fn valgrind_finds_nothing_in_the_programs() {
    if !exists("valgrind") {
        return tidemill_testkit::lacks("no valgrind here");
    }
    // A map of Rust's is pointed to in its middle, so that what the library remembers of files looks possibly lost.
    let valgrind = [
        "valgrind",
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
    ];
    each_program_succeeds(built::shipped(), &["-pthread"], &valgrind);
}

#[test]
fn address_sanitizer_finds_nothing_in_the_programs() {
    let flags = ["-fsanitize=address", "-fno-omit-frame-pointer", "-g", "-pthread"];
    if !links("int main(void) { return 0; }", &flags) {
        return tidemill_testkit::lacks("no AddressSanitizer here");
    }
    each_program_succeeds(&built::library(), &flags, &[]);
}

/// Runs all programs, as many at once as there are processors.
fn each_program_succeeds(library: &Path, flags: &[&str], behind: &[&str]) {
    if !exists("cc") {
        return tidemill_testkit::lacks("no C compiler here");
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(source) = PROGRAMS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(program) = Program::over(library, source, flags) else {
                return;
            };
            let output = program.run(behind);
            assert!(output.status.success(), "{source}: {}", said(&output));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
}

#[test]
fn what_waits_is_written_when_a_program_leaves_without_closing() {
    let Some(program) = Program::of("tests/c/leave.c", &[]) else {
        return;
    };
    let output = program.run(&[]);
    assert!(output.status.success(), "{}", said(&output));
    let path = program.folder.path().join("data/left.dbf");
    let table = tidemill_xbase::Table::open(path, &tidemill_xbase::OpenOptions::new()).expect("a sound table");
    assert_eq!(table.record_count(), 1000);
    assert_eq!(table.file_len(), u64::from(table.header().header_len) + 1000 * 9 + 1);
}

/// By itself: what another thread had in its hands when the process was forked is lost in the child, as valgrind tells.
#[test]
fn what_a_forked_child_inherits_is_refused_and_stays_as_it_is() {
    let Some(program) = Program::of("tests/c/fork.c", &["-pthread"]) else {
        return;
    };
    let output = program.run(&[]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn example_in_c_prints_what_its_page_shows() {
    let Some(program) = Program::of("examples/first_table.c", &[]) else {
        return;
    };
    check_example(&program.run(&[]));
}

#[test]
fn example_in_python_prints_what_its_page_shows() {
    if !exists("python3") {
        return tidemill_testkit::lacks("no python3 here");
    }
    let data = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new("python3")
        .arg(folder().join("examples/first_table.py"))
        .arg(data.path())
        .env("LIBACE", built::library())
        .output()
        .expect("python3 runs");
    check_example(&output);
}

/// SAP's library has the soname `libace.so.12.00` and symbols of version `ADS_ACE`, and so has the one that the program is
/// linked with here.
#[test]
fn programs_that_were_linked_with_another_library_run() {
    if !exists("cc") || !ace::versions::PRESENT {
        return tidemill_testkit::lacks("no C compiler here, or no symbol versions");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| fs::write(path(name), text).expect("the file is written");
    write(
        "other.c",
        "unsigned AdsDDClose(unsigned long a) { return (unsigned) a; }",
    );
    write("other.map", "ADS_ACE { global: Ads*; local: *; };");
    write(
        "program.c",
        "unsigned AdsDDClose(unsigned long); int main(void) { return AdsDDClose(3) == 5024 ? 7 : 1; }",
    );
    let cc = |arguments: &[&str]| {
        let output = Command::new("cc").args(arguments).current_dir(folder.path()).output();
        let output = output.expect("cc runs");
        assert!(output.status.success(), "{}", said(&output));
    };
    cc(&[
        "-shared",
        "-fPIC",
        "other.c",
        "-Wl,--version-script=other.map",
        "-Wl,-soname,libace.so.12.00",
        "-o",
        "libace.so",
    ]);
    cc(&["program.c", "-L.", "-lace", "-o", "program"]);
    fs::remove_file(path("libace.so")).expect("the other library goes");
    std::os::unix::fs::symlink(built::library(), path("libace.so.12.00")).expect("a link is made");

    let output = Command::new(path("program"))
        .env("LD_LIBRARY_PATH", folder.path())
        .output();
    let output = output.expect("the program runs");
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
    assert_eq!(said(&output), "", "the loader warns");
}

/// A program that was made from a source of this crate, in a folder of its own.
struct Program {
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl Program {
    /// Over the library that Cargo made for the tests; none if there is no C compiler.
    fn of(source: &str, flags: &[&str]) -> Option<Self> {
        Self::over(&built::library(), source, flags)
    }

    fn over(library: &Path, source: &str, flags: &[&str]) -> Option<Self> {
        if !exists("cc") {
            tidemill_testkit::lacks("no C compiler here");
            return None;
        }
        let made = tempfile::tempdir().expect("a temporary folder");
        let libraries = library.parent().expect("the library is in a folder");
        let output = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
            .arg(folder().join("include"))
            .args(flags)
            .arg(folder().join(source))
            .arg("-L")
            .arg(libraries)
            .args(["-lace", "-o"])
            .arg(made.path().join("program"))
            .output()
            .expect("cc runs");
        assert!(output.status.success(), "{source}: {}", said(&output));
        Some(Self {
            folder: made,
            library: library.to_owned(),
        })
    }

    /// Runs it, behind a command that runs programs perhaps, with an empty folder as its argument.
    fn run(&self, behind: &[&str]) -> Output {
        let data = self.folder.path().join("data");
        fs::create_dir(&data).expect("a folder is made");
        let program = self.folder.path().join("program");
        let mut command = match behind {
            [] => Command::new(program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        // Cargo's own path leads to a library that may be older.
        let libraries = self.library.parent().expect("the library is in a folder");
        command.env("LD_LIBRARY_PATH", libraries);
        command.arg(data).output().expect("the program runs")
    }
}

fn check_example(output: &Output) {
    assert!(output.status.success(), "{}", said(output));
    let page = fs::read_to_string(folder().join("../../docs/ace/README.md")).expect("the page is there");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        page.contains(printed.as_ref()),
        "docs/ace/README.md does not show:\n{printed}"
    );
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn exists(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

fn links(program: &str, flags: &[&str]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("program.c");
    fs::write(&source, program).expect("the program is written");
    let output = Command::new("cc")
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(folder.path().join("program"))
        .output();
    output.is_ok_and(|output| output.status.success())
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
