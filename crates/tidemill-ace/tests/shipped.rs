//! The library as it ships: its size, how it is installed and linked, and how soon it is there.

mod built;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Bytes, without symbols.
const SIZE_LIMIT: u64 = 14_800_000;
/// From the start of a program to the first record of its table.
const LOAD_LIMIT: Duration = Duration::from_millis(20);
/// How often the program is started: what else the machine does delays some starts, and not the quickest.
const STARTS: usize = 20;

#[test]
fn the_library_that_ships_is_small() {
    let size = fs::metadata(built::shipped()).expect("Cargo made it").len();
    assert!(
        size <= SIZE_LIMIT,
        "{}: {size} bytes, the limit is {SIZE_LIMIT}",
        built::shipped().display()
    );
}

#[test]
fn what_the_page_installs_is_found_by_pkg_config_and_soon_at_its_first_record() {
    let tools = Command::new("sh")
        .args(["-c", "cc --version && pkg-config --version"])
        .output();
    if !tools.is_ok_and(|output| output.status.success()) {
        return tidemill_testkit::lacks("no C compiler or no pkg-config here");
    }
    let made = tempfile::tempdir().expect("a temporary folder");
    let prefix = made.path().join("prefix");
    let (install, compile) = commands_of_the_page();
    let install = install
        .replace("/usr/local", &prefix.display().to_string())
        .replace("target/libace/libace.so", &built::shipped().display().to_string());
    succeeds(&mut shell(&install, &prefix));

    let found = succeeds(&mut shell("pkg-config --modversion ace", &prefix));
    assert_eq!(String::from_utf8_lossy(&found.stdout), "12.0\n");
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for source in ["examples/first_table", "tests/c/first_record"] {
        let name = source.rsplit('/').next().unwrap_or_default();
        let compile = compile
            .replace("first_table.c", &own.join(format!("{source}.c")).display().to_string())
            .replace("-o first_table", &format!("-o {}", made.path().join(name).display()));
        succeeds(&mut shell(&compile, &prefix));
    }

    let program = |name: &str| {
        let mut command = Command::new(made.path().join(name));
        command.arg(made.path()).env("LD_LIBRARY_PATH", prefix.join("lib"));
        command
    };
    succeeds(&mut program("first_table"));
    let quickest = (0..STARTS).map(|_| {
        let start = Instant::now();
        let output = succeeds(&mut program("first_record"));
        let taken = start.elapsed();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "Adams\n");
        taken
    });
    let quickest = quickest.min().expect("it was started");
    println!("started, loaded, read the first record and ended in {quickest:?}");
    assert!(quickest <= LOAD_LIMIT, "{quickest:?}, the limit is {LOAD_LIMIT:?}");
}

/// What docs/ace/README.md says to run: how to install the library that is built, and how to compile the example with it.
fn commands_of_the_page() -> (String, String) {
    let page = fs::read_to_string(root().join("docs/ace/README.md")).expect("the page is there");
    let lines = page.lines().filter_map(|line| line.strip_prefix("    "));
    let lines: Vec<&str> = lines.collect();
    let from = lines.iter().position(|line| line.starts_with("install -D"));
    let until = lines.iter().position(|line| *line == "ldconfig");
    let (Some(from), Some(until)) = (from, until) else {
        panic!("the page does not tell how to install the library");
    };
    let compile = lines.iter().find(|line| line.starts_with("cc first_table.c"));
    let compile = compile.expect("the page tells how to compile the example");
    (lines[from..until].join("\n"), (*compile).to_owned())
}

/// The commands, at the root of the project, where pkg-config looks into this prefix only.
fn shell(commands: &str, prefix: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-ec", commands]).current_dir(root());
    command.env("PKG_CONFIG_LIBDIR", prefix.join("lib/pkgconfig"));
    command
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
