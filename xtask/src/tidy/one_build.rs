//! The tests of the crates over DataFusion and `cargo run --release` must share one build of it.
//!
//! Cargo joins the features that all selected packages ask for, those of dev-dependencies too when tests are built. A
//! test library that asks one small crate for one more feature would have cargo build that crate, and everything over it,
//! a second time.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result, bail};

use super::Breach;
use crate::{cargo::cargo, workspace::HEAVY};

/// What cargo would build for the command line, and for the tests of the crates over DataFusion.
pub(super) fn trees(root: &Path, members: &[&str]) -> Result<(String, String)> {
    let tests: Vec<&str> = HEAVY.into_iter().filter(|name| members.contains(name)).collect();
    Ok((
        tree(root, &["tidemill"], "normal,build")?,
        tree(root, &tests, "normal,build,dev")?,
    ))
}

/// Packages that are built differently for the tests, with both sets of features.
pub(super) fn shared(command_line: &str, tests: &str) -> Vec<Breach> {
    let packages = |text: &str| -> BTreeSet<String> {
        text.lines()
            .map(|line| line.trim_end_matches(" (*)").to_owned())
            .collect()
    };
    let (plain, tests) = (packages(command_line), packages(tests));
    let features = |line: &str| {
        line.rsplit_once(SEPARATOR)
            .map(|(_, features)| features.to_owned())
            .unwrap_or_default()
    };
    plain
        .difference(&tests)
        .map(|line| {
            let package = line.split(SEPARATOR).next().unwrap_or_default();
            let prefix = format!("{package}{SEPARATOR}");
            let others: Vec<_> = tests
                .iter()
                .filter(|line| line.starts_with(&prefix))
                .map(|line| features(line))
                .collect();
            let what = format!(
                "built with features [{}], for the tests with [{}]",
                features(line),
                others.join("] [")
            );
            Breach::new(package, what)
        })
        .collect()
}

fn tree(root: &Path, packages: &[&str], edges: &str) -> Result<String> {
    let format = format!("{{p}}{SEPARATOR}{{f}}");
    let output = cargo(root)
        .args(["tree", "--prefix", "none", "--edges", edges, "--format", &format])
        .args(packages.iter().flat_map(|name| ["-p", name]))
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
        let what = "built with features [], for the tests with [std,sys_rng]";
        assert_eq!(shared(plain, tests), [Breach::new("getrandom v0.4.3", what)]);
        assert_eq!(shared(plain, plain), []);
    }
}
