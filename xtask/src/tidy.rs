//! `cargo xtask tidy`: the design's rules, as checks that can fail.
//!
//! Each rule is a function from what it looks at (the dependency graph, the lock file, the tracked files) to the places
//! where it is broken, so that its test shows it failing on a few made-up lines. Exceptions are data, each with its
//! reason, and an exception that nothing needs any more is itself a breach.
//!
//! What the compiler and clippy check is not checked again here, nor is anything that needs a build.

mod code;
mod dependencies;
mod documents;
mod exceptions;
mod fuzzing;
mod lock;
mod sources;
mod unsafe_code;

use std::fmt;

use anyhow::Result;

use crate::workspace::Workspace;
use sources::Files;

/// Checks every rule and prints where it is broken; true when none is.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let files = Files::tracked(&workspace.root)?;
    let lock = files.text("Cargo.lock").map(lock::parse).unwrap_or_default();
    let rules: [(&str, Vec<Breach>); 15] = [
        (
            "engines depend on none of each other",
            dependencies::engines_stand_alone(&workspace.members),
        ),
        (
            "DataFusion only where it belongs",
            dependencies::datafusion_in_its_place(&workspace.members),
        ),
        (
            "tokio only where it belongs",
            dependencies::tokio_in_its_place(&workspace.members),
        ),
        (
            "engines use the parts of Arrow, not the umbrella",
            dependencies::arrow_by_parts(&workspace.members),
        ),
        (
            "nothing that ships depends on the testkit",
            dependencies::testkit_stays_behind(&workspace.members),
        ),
        ("one Arrow, the one of DataFusion", lock::one_arrow(&lock)),
        ("one sqlparser, the one of DataFusion", lock::one_sqlparser(&lock)),
        (
            "unsafe only in listed files, each block explained",
            unsafe_code::listed(&files, exceptions::UNSAFE),
        ),
        (
            "no file of more than 800 lines",
            sources::no_long_files(&files, exceptions::LONG),
        ),
        ("nothing unfinished", sources::nothing_unfinished(&files)),
        ("no paths of build machines", sources::no_machine_paths(&files)),
        (
            "each crate is described, and named in ARCHITECTURE.md",
            documents::crates_described(workspace, &files),
        ),
        (
            "each folder of the corpus has a README.md",
            documents::corpus_provenance(&files),
        ),
        ("README.md names its two commands", documents::readme_commands(&files)),
        (
            "each decoder has a fuzz target, each target its seeds",
            fuzzing::targets(workspace, &files, crate::fuzz::TARGETS),
        ),
    ];
    let mut good = true;
    for (rule, breaches) in &rules {
        for breach in breaches {
            println!("{rule}: {breach}");
            good = false;
        }
    }
    println!(
        "tidy: {} rules, {} breaches",
        rules.len(),
        rules.iter().map(|(_, breaches)| breaches.len()).sum::<usize>()
    );
    Ok(good)
}

/// A place where a rule is broken.
#[derive(Debug, Eq, PartialEq)]
struct Breach {
    /// A crate, a file, or a file and a line.
    place: String,
    what: String,
}

impl Breach {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
