//! `cargo xtask bench`: the benchmarks of the leaf crates, in the release profile.
//!
//! A benchmark is a program with `harness = false` that states its data and its question and prints its own lines; this
//! finds and runs them. Comparisons with other libraries are in `peers/`, which nothing else needs.

use anyhow::{Result, bail};
use clap::Args as ClapArgs;

use crate::{
    cargo::{cargo, run as run_command},
    workspace::{HEAVY, Workspace},
};

/// Which benchmarks.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Only the benchmarks whose name, or whose crate's name, contains this.
    name: Option<String>,
}

/// Runs them one after the other; true when each ended well.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    let wanted = args.name.as_deref().unwrap_or_default();
    let found: Vec<(&str, &str)> = workspace
        .members
        .iter()
        .filter(|member| !HEAVY.contains(&member.name.as_str()))
        .flat_map(|member| {
            member
                .benches
                .iter()
                .map(|bench| (member.name.as_str(), bench.as_str()))
        })
        .filter(|(package, bench)| package.contains(wanted) || bench.contains(wanted))
        .collect();
    if found.is_empty() {
        bail!(
            "no leaf crate has a benchmark{}",
            args.name.iter().map(|name| format!(" like {name}")).collect::<String>()
        );
    }
    let mut good = true;
    for (package, bench) in found {
        println!("\n== {package} {bench}");
        good &= run_command(cargo(&workspace.root).args(["bench", "--quiet", "-p", package, "--bench", bench]))?;
    }
    Ok(good)
}
