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
mod licences;
mod lock;
mod one_build;
mod published;
mod sources;
mod unsafe_code;

use std::fmt;

use anyhow::Result;

use crate::workspace::Workspace;
use sources::Files;

/// Checks every rule and prints where it is broken; true when none is.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let files = Files::tracked(&workspace.root)?;
    let members = &workspace.members;
    let lock = files.text("Cargo.lock").map(lock::parse).unwrap_or_default();
    let packages = workspace.packages()?;
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let trees = one_build::Trees::of(&workspace.root, &names)?;
    let deny = files.text("deny.toml").unwrap_or_default();
    let published = published::packages(workspace)?;

    let mut report = Report::default();
    report.rule(
        "engines depend on none of each other",
        dependencies::engines_stand_alone(members),
    );
    report.rule(
        "DataFusion only where it belongs",
        dependencies::datafusion_in_its_place(members),
    );
    report.rule("tokio only where it belongs", dependencies::tokio_in_its_place(members));
    report.rule(
        "no tokio in ClickHouse's protocol",
        sources::tokio_only_in_the_client(&files),
    );
    report.rule(
        "parts of Arrow, not the umbrella",
        dependencies::arrow_by_parts(members),
    );
    report.rule(
        "nothing that ships needs the testkit",
        dependencies::testkit_stays_behind(members),
    );
    report.rule("one Arrow, the one of DataFusion", lock::one_arrow(&lock));
    report.rule("one sqlparser, the one of DataFusion", lock::one_sqlparser(&lock));
    report.rule(
        "no crate with a known advisory",
        lock::no_advisories(&lock, files.text(".ci/advisories.txt").unwrap_or_default()),
    );
    report.rule(
        "all that stands over DataFusion shares one build of it",
        trees.differences(),
    );
    report.rule("published crates are described", published::described(members));
    report.rule("published crates ask for versions", published::versioned(members));
    report.rule(
        "packages of published crates are whole",
        published::packaged(&published),
    );
    report.rule("licences as deny.toml allows", licences::allowed(&packages, deny));
    report.rule("every package from crates.io", licences::from_crates_io(&packages));
    report.rule("TLS is rustls", licences::no_other_tls(&packages));
    report.rule(
        "unsafe only in listed files, each block argued",
        unsafe_code::listed(&files, exceptions::UNSAFE),
    );
    report.rule(
        "no file of more than 800 lines",
        sources::no_long_files(&files, exceptions::LONG),
    );
    report.rule("nothing unfinished", sources::nothing_unfinished(&files));
    report.rule("no paths of build machines", sources::no_machine_paths(&files));
    report.rule(
        "crates are described, and in ARCHITECTURE.md",
        documents::crates_described(workspace, &files),
    );
    report.rule("goldens have a README.md", documents::corpus_provenance(&files));
    report.rule("README.md names its two commands", documents::readme_commands(&files));
    report.rule("no document is empty", documents::none_empty(&files));
    report.rule(
        "links of documents lead somewhere",
        documents::links_lead_somewhere(&files),
    );
    report.rule("docs/SUMMARY.md lists every page", documents::pages_in_the_book(&files));
    report.rule(
        "docs/troubleshooting.md quotes messages as they are",
        documents::quoted_messages_exist(&files),
    );
    report.rule(
        "decoders are fuzzed from the corpus",
        fuzzing::targets(workspace, &files, crate::fuzz::TARGETS),
    );
    println!("tidy: {} rules, {} breaches", report.rules, report.breaches);
    Ok(report.breaches == 0)
}

#[derive(Default)]
struct Report {
    rules: usize,
    breaches: usize,
}

impl Report {
    fn rule(&mut self, rule: &str, breaches: Vec<Breach>) {
        self.rules += 1;
        self.breaches += breaches.len();
        for breach in breaches {
            println!("{rule}: {breach}");
        }
    }
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
