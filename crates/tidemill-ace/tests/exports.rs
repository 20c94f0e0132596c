//! `libace.so` exports the functions that `functions.csv` lists and no other, and each is what the list says it is.
//!
//! `functions.csv` has a row for every name that version 12 of the Advantage Client Engine exports, and for the few functions of OpenADS
//! that programs may call besides. Its columns: the name;
//! its kind, which is its chapter in the header; whether the header declares it; its state; why it is not available.
//! State and reason follow from the source, and so does the page: `UPDATE=1 cargo test -p tidemill-ace --test exports`
//! writes both anew.

mod built;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ace::constants::AE_FUNCTION_NOT_AVAILABLE;
use ace::unavailable::{UNAVAILABLE, Unavailable};

#[test]
fn library_exports_every_listed_function_and_no_other() {
    let library = built::library();
    let output = Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=just-symbols"])
        .arg(&library)
        .output()
        .expect("nm, which comes with the linker, runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "nm {}: {said}", library.display());

    let symbols = String::from_utf8_lossy(&output.stdout);
    let versioned = |symbol: &&str| symbol.contains('@');
    let (versioned, exported): (BTreeSet<&str>, BTreeSet<&str>) = symbols.lines().partition(versioned);
    let rows = rows();
    let listed: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(rows.iter().filter(|row| row.kind != OF_OPENADS).count(), 578);
    assert_eq!(
        listed.difference(&exported).collect::<Vec<_>>(),
        [&""; 0],
        "are not exported"
    );
    assert_eq!(
        exported.difference(&listed).collect::<Vec<_>>(),
        [&""; 0],
        "are not listed"
    );

    // The version that programs ask for that were linked with SAP's library: every function has it, or none.
    let versions: BTreeSet<&str> = versioned
        .iter()
        .filter_map(|symbol| symbol.strip_suffix("@ADS_ACE"))
        .collect();
    let expected = if ace::versions::PRESENT {
        listed
    } else {
        BTreeSet::new()
    };
    assert_eq!(versions, expected);
    // The version itself is a symbol too.
    assert!(versioned.len() <= versions.len() + 1, "{versioned:?}");
}

#[test]
fn unavailable_functions_say_so() {
    for Unavailable { name, function, .. } in UNAVAILABLE {
        assert_eq!(function(), AE_FUNCTION_NOT_AVAILABLE, "{name}");
    }
}

/// The program that calls everything with arguments that make no sense checks no answers.
#[test]
fn every_function_that_is_done_is_called_where_answers_are_checked() {
    let unavailable = unavailable();
    let mut called = BTreeSet::new();
    for part in ["tests/c", "tests/python", "examples"] {
        let entries = fs::read_dir(folder().join(part)).expect("the folder of the programs is there");
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        for path in paths.filter(|path| !path.ends_with("hostile.c")) {
            let text = fs::read_to_string(path).expect("a program is text");
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            called.extend(words.filter(|word| word.starts_with("Ads")).map(str::to_owned));
        }
    }
    let rows = rows();
    let done = rows.iter().filter(|row| !unavailable.contains_key(row.name.as_str()));
    let uncalled: Vec<&str> = done
        .map(|row| row.name.as_str())
        .filter(|name| !called.contains(*name))
        .collect();
    assert_eq!(uncalled, [""; 0]);
}

#[test]
fn every_other_function_is_a_shim() {
    let shims = shims();
    let unavailable = unavailable();
    for row in rows() {
        let written = shims.contains(&row.name);
        assert_ne!(
            written,
            unavailable.contains_key(row.name.as_str()),
            "{}: a shim: {written}",
            row.name
        );
    }
}

#[test]
fn header_declares_what_the_list_says() {
    let header = fs::read_to_string(folder().join("include/ace.h")).expect("ace.h is there");
    let declared: BTreeSet<&str> = header
        .lines()
        .filter_map(|line| Some(line.strip_prefix("UNSIGNED32 ENTRYPOINT ")?.split_once('(')?.0))
        .collect();
    let listed = rows();
    let listed: BTreeSet<&str> = listed
        .iter()
        .filter(|row| row.declared)
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(declared, listed);
}

#[test]
fn list_and_page_follow_from_the_source() {
    let unavailable = unavailable();
    let mut rows = rows();
    for row in &mut rows {
        row.why = unavailable.get(row.name.as_str()).map(|function| function.why.text());
    }
    let page = folder().join("../../docs/ace/functions.md");
    for (path, now) in [(list(), list_of(&rows)), (page, page_of(&rows))] {
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, now).expect("the file is written");
            continue;
        }
        let text = fs::read_to_string(&path).expect("the file is there");
        let old = text.lines().find(|line| !now.contains(line)).unwrap_or_default();
        let path = path.display();
        assert!(
            text == now,
            "{path} is old (as in {old:?}): run this test with UPDATE=1"
        );
    }
}

/// The kind of the functions that ACE has not.
const OF_OPENADS: &str = "openads";

/// A row of the list.
struct Row {
    name: String,
    kind: String,
    declared: bool,
    /// Why the function is not available; none says that it is.
    why: Option<&'static str>,
}

/// The rows of the list, without what follows from the source.
fn rows() -> Vec<Row> {
    let text = fs::read_to_string(list()).expect("functions.csv is there");
    let rows = text.lines().skip(1).map(|line| {
        let mut columns = line.split(',').map(str::to_owned);
        let mut next = || columns.next().unwrap_or_else(|| panic!("a short row: {line}"));
        Row {
            name: next(),
            kind: next(),
            declared: next() == "yes",
            why: None,
        }
    });
    rows.collect()
}

fn list_of(rows: &[Row]) -> String {
    let mut text = String::from("name,kind,declared,state,why\n");
    for row in rows {
        let declared = if row.declared { "yes" } else { "no" };
        let state = if row.why.is_some() { "unavailable" } else { "done" };
        let why = row.why.unwrap_or_default();
        writeln!(text, "{},{},{declared},{state},{why}", row.name, row.kind).expect("a string takes everything");
    }
    text
}

fn page_of(rows: &[Row]) -> String {
    let done = |row: &&Row| row.why.is_none();
    let (more, of_ace): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.kind == OF_OPENADS);
    let mut kinds: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        kinds.entry(&row.kind).or_default().push(row);
    }
    let mut text = format!(
        "# Functions of libace.so\n\n\
         Every function that version 12 of the Advantage Client Engine exports, {} in all. {} are done. The others\n\
         answer `AE_FUNCTION_NOT_AVAILABLE` (5042), each with its reason; none pretends success. A star marks a name that\n\
         `ace.h` does not declare, because no public source gives its parameters.\n\n\
         {} more functions are [those of OpenADS](#{OF_OPENADS}) that mean something here: programs that were written for it call them.\n\n\
         This page follows from `crates/tidemill-ace/functions.csv`; a test writes it and keeps it true.\n\n\
         | kind | done | not available |\n|---|---:|---:|\n",
        of_ace.len(),
        of_ace.iter().copied().filter(done).count(),
        more.len()
    );
    for (kind, rows) in &kinds {
        let done = rows.iter().filter(|row| row.why.is_none()).count();
        writeln!(text, "| [{kind}](#{kind}) | {done} | {} |", rows.len() - done).expect("a string takes everything");
    }
    for (kind, rows) in &kinds {
        write!(text, "\n## {kind}\n\n| function | state |\n|---|---|\n").expect("a string takes everything");
        for row in rows {
            let star = if row.declared { "" } else { " *" };
            let state = row
                .why
                .map_or_else(|| "done".to_owned(), |why| format!("not available: {why}"));
            writeln!(text, "| `{}`{star} | {state} |", row.name).expect("a string takes everything");
        }
    }
    text
}

fn unavailable() -> BTreeMap<&'static str, &'static Unavailable> {
    let functions: BTreeMap<_, _> = UNAVAILABLE.iter().map(|function| (function.name, function)).collect();
    assert_eq!(functions.len(), UNAVAILABLE.len(), "a function is listed twice");
    functions
}

/// Names of the functions of the Advantage Client Engine that a file of `src` defines.
fn shims() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![folder().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder of the sources is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                names.extend(functions_of(&fs::read_to_string(path).expect("a source is text")));
            }
        }
    }
    names
}

/// Names of functions in the source, of which the ABI's begin with a capital.
fn functions_of(source: &str) -> Vec<String> {
    let behind = source.split("fn ").skip(1);
    let names = behind.filter_map(|rest| rest.split_once('(').map(|(name, _)| name.to_owned()));
    names
        .filter(|name| name.starts_with("Ads") || name.starts_with("ObsAds"))
        .collect()
}

fn list() -> PathBuf {
    folder().join("functions.csv")
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
