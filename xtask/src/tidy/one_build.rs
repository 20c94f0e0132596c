//! All builds over DataFusion must share one build of it: `cargo run --release`, the command line without its optional stores, the
//! drivers, and the tests.
//!
//! Cargo joins the features that all selected packages ask for, those of dev-dependencies too when tests are built. A
//! selection that asks one small crate for one more feature, or one less, would have cargo build that crate, and everything over it,
//! a second time. `tidemill-features` asks for what any of them needs.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result, bail};

use super::Breach;
use crate::{cargo::cargo, workspace::HEAVY};

/// What cargo would build.
pub(super) struct Trees {
    /// For the command line.
    command_line: String,
    /// For the tests of the crates over DataFusion.
    tests: String,
    /// For other selections, by their arguments.
    others: Vec<(String, String)>,
    /// For DataFusion alone.
    datafusion: String,
}

/// Selections that are built beside the command line and the tests.
const OTHERS: [&[&str]; 5] = [
    &["-p", "tidemill", "--no-default-features"],
    &["-p", "tidemill-sql"],
    &["-p", "tidemill-adbc", "-p", "tidemill-ace"],
    // What `cargo xtask fuzz` builds.
    &[
        "-p",
        "tidemill-fuzz",
        "-p",
        "tidemill-sql",
        "-p",
        "tidemill-server",
        "-p",
        "tidemill-adbc",
        "-p",
        "tidemill",
    ],
    // And with the doors.
    &[
        "-p",
        "tidemill-fuzz",
        "--features",
        "tidemill-fuzz/doors",
        "-p",
        "tidemill-sql",
        "-p",
        "tidemill-server",
        "-p",
        "tidemill-adbc",
        "-p",
        "tidemill",
    ],
];

impl Trees {
    pub(super) fn of(root: &Path, members: &[&str]) -> Result<Self> {
        let tests = HEAVY.into_iter().filter(|name| members.contains(name));
        let tests: Vec<&str> = tests.flat_map(|name| ["-p", name]).collect();
        let normal = "normal,build";
        let others = OTHERS.map(|selection| Ok((selection.join(" "), tree(root, selection, normal)?)));
        Ok(Self {
            command_line: tree(root, &["-p", "tidemill"], normal)?,
            tests: tree(root, &tests, "normal,build,dev")?,
            others: others.into_iter().collect::<Result<_>>()?,
            datafusion: tree(root, &["-p", "datafusion"], normal)?,
        })
    }

    /// Packages that are built with other features than for the tests: of the command line any, of the others those below DataFusion.
    pub(super) fn differences(&self) -> Vec<Breach> {
        let below = packages(&self.datafusion);
        let below: BTreeSet<&str> = below.iter().map(|line| name(line)).collect();
        let others = self.others.iter().flat_map(|(selection, tree)| {
            let differences = differences(tree, &self.tests, selection).into_iter();
            differences.filter(|(package, _)| below.contains(package.as_str()))
        });
        let command_line = differences(&self.command_line, &self.tests, "the command line");
        let all = command_line.into_iter().chain(others);
        all.map(|(package, what)| Breach::new(package, what)).collect()
    }
}

fn packages(tree: &str) -> BTreeSet<String> {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// The name and the version of a package.
fn name(line: &str) -> &str {
    line.split(SEPARATOR).next().unwrap_or_default()
}

/// Packages that a selection has with features that they do not have in the tests, with both.
fn differences(selected: &str, tests: &str, selection: &str) -> Vec<(String, String)> {
    let (selected, tests) = (packages(selected), packages(tests));
    let features = |line: &str| {
        line.rsplit_once(SEPARATOR)
            .map(|(_, features)| features.to_owned())
            .unwrap_or_default()
    };
    let different = selected.difference(&tests).map(|line| {
        let package = name(line);
        let prefix = format!("{package}{SEPARATOR}");
        let others: Vec<_> = tests
            .iter()
            .filter(|line| line.starts_with(&prefix))
            .map(|line| features(line))
            .collect();
        let what = format!(
            "for {selection} built with features [{}], for the tests with [{}]",
            features(line),
            others.join("] [")
        );
        (package.to_owned(), what)
    });
    different.collect()
}

fn tree(root: &Path, selection: &[&str], edges: &str) -> Result<String> {
    let format = format!("{{p}}{SEPARATOR}{{f}}");
    let output = cargo(root)
        .args(["tree", "--prefix", "none", "--edges", edges, "--format", &format])
        .args(selection)
        .output()
        .context("cargo tree does not start")?;
    if !output.status.success() {
        bail!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

const SEPARATOR: char = '|';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_tests_ask_for_is_found() {
        let plain = "tidemill v0.1.0 (x)|\ngetrandom v0.4.3|\ntempfile v3.27.0|default\ntempfile v3.27.0|default (*)\n";
        let tests = "tidemill v0.1.0 (x)|\ngetrandom v0.4.3|std,sys_rng\ntempfile v3.27.0|default\nproptest v1|std\n";
        let trees = |command_line: &str, other: &str| Trees {
            command_line: command_line.to_owned(),
            tests: tests.to_owned(),
            others: vec![("-p x".to_owned(), other.to_owned())],
            datafusion: "datafusion v55|\nslab v1|default\n".to_owned(),
        };
        let what = "for the command line built with features [], for the tests with [std,sys_rng]";
        let breach = Breach::new("getrandom v0.4.3", what);
        assert_eq!(trees(plain, "").differences(), [breach]);
        assert_eq!(trees(tests, "").differences(), []);
        let other = "slab v1|\nclap v1|std\n";
        let what = "for -p x built with features [], for the tests with []";
        assert_eq!(trees(tests, other).differences(), [Breach::new("slab v1", what)]);
    }
}
