//! Functions of `libace.so` in any order with arguments that make no sense: no crash, no hang, nothing left open.
//!
//! `HOSTILE_SEED` repeats a run, `HOSTILE_CALLS` makes it longer; with `CALLS=1` the program tells each call.

mod built;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use ace::unavailable::UNAVAILABLE;

#[test]
fn calls_that_make_no_sense_are_errors() {
    if !Command::new("cc")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return tidemill_testkit::lacks("no C compiler here");
    }
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = fs::read_to_string(crate_folder.join("include/ace.h")).expect("ace.h is there");
    let calls = calls_of(&header);
    assert!(calls.lines().count() > 100, "few functions were found:\n{calls}");

    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("calls.h"), format!("#define CALLS \\\n{calls}\n")).expect("the calls are written");
    let library = built::library();
    let libraries = library.parent().expect("the library is in a folder");
    let program = folder.path().join("program");
    let compile = |flags: &[&str]| {
        let output = Command::new("cc")
            .args(["-std=gnu99", "-g", "-Wall", "-Wno-format-nonliteral", "-include"])
            .arg(folder.path().join("calls.h"))
            .args(flags)
            .arg("-I")
            .arg(crate_folder.join("include"))
            .arg(crate_folder.join("tests/c/hostile.c"))
            .arg("-L")
            .arg(libraries)
            .args(["-lace", "-o"])
            .arg(&program)
            .output()
            .expect("cc runs");
        output.status.success().then_some(()).ok_or(output.stderr)
    };
    if compile(&["-fsanitize=address"]).is_err() {
        compile(&[]).unwrap_or_else(|said| panic!("{}", String::from_utf8_lossy(&said)));
    }

    let given = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seeds = given("HOSTILE_SEED").map_or(1..=6, |seed| seed..=seed);
    let calls = given("HOSTILE_CALLS").unwrap_or(2000);
    for seed in seeds {
        let data = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(&program)
            .arg(data.path())
            .args([seed.to_string(), calls.to_string()])
            .env("LD_LIBRARY_PATH", libraries)
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let end: Vec<&str> = said.lines().rev().take(60).collect();
        let end: Vec<&str> = end.into_iter().rev().collect();
        assert!(
            output.status.success(),
            "HOSTILE_SEED={seed}: {}:\n{}",
            output.status,
            end.join("\n")
        );
    }
}

/// After it nothing is connected any more.
const ENDS_ALL: &str = "AdsDisableLocalConnections";

/// A row for each function that does something, with the kinds of its parameters.
fn calls_of(header: &str) -> String {
    let mut rows = String::new();
    for declaration in header.split("UNSIGNED32 ENTRYPOINT ").skip(1) {
        let Some((declaration, _)) = declaration.split_once(';') else {
            continue;
        };
        let Some((name, parameters)) = declaration.split_once('(') else {
            continue;
        };
        if UNAVAILABLE.iter().any(|function| function.name == name) || name == ENDS_ALL {
            continue;
        }
        let is_callback = parameters.contains("(WINAPI");
        let kinds = match is_callback {
            true => "cn".to_owned(),
            false => parameters
                .trim_end_matches(')')
                .split(',')
                .filter_map(kind_of)
                .collect(),
        };
        writeln!(
            rows,
            "{{\"{name}\", (any_function) (void (*)(void)) {name}, \"{kinds}\"}}, \\"
        )
        .expect("a string takes everything");
    }
    rows
}

/// The kind of a parameter, as `hostile.c` names it; a double has none.
fn kind_of(parameter: &str) -> Option<char> {
    let parameter = parameter.trim();
    let (of, name) = parameter.rsplit_once([' ', '*']).unwrap_or_default();
    let is_length = ["Len", "NumRecords", "StructSize"]
        .iter()
        .any(|end| name.ends_with(end) && !name.ends_with("WordLen"));
    match of.trim().trim_end_matches('*').trim() {
        _ if parameter == "void" => None,
        "DOUBLE" if !parameter.contains('*') => None,
        "ADSHANDLE" if !parameter.contains('*') => Some('h'),
        _ if !parameter.contains('*') && is_length => Some('l'),
        _ if !parameter.contains('*') => Some('n'),
        _ if parameter.contains("**") => Some('8'),
        _ if name == "pucFldName" => Some('f'),
        _ if SELF_DESCRIBING.contains(&name) => Some('b'),
        "UNSIGNED8" => Some('t'),
        "WCHAR" => Some('w'),
        "UNSIGNED16" if is_length => Some('m'),
        "UNSIGNED32" if is_length => Some('q'),
        "UNSIGNED16" | "SIGNED16" => Some('2'),
        "UNSIGNED32" | "SIGNED32" => Some('4'),
        "DOUBLE" | "ADSHANDLE" | "SIGNED64" | "UNSIGNED64" => Some('8'),
        "VOID" => Some('b'),
        _ => Some('s'),
    }
}

/// Bytes whose length is part of them, or fixed, or a table's or an order's to decide.
const SELF_DESCRIBING: [&str; 8] = [
    "pucBookmark",
    "pucBookmark1",
    "pucBookmark2",
    "pucDBFDate",
    "pucFormattedDate",
    "pucKey",
    "pucRecBuf",
    "pusSegFieldNumbers",
];
