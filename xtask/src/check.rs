//! `cargo xtask check -p CRATE`: the inner loop. Format, lints and tests of one crate and of nothing else.

use anyhow::{Result, bail};
use clap::Args as ClapArgs;

use crate::{
    cargo::{cargo, run as run_command},
    test,
    workspace::{HEAVY, Workspace},
};

/// Which crates.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A crate to check; may be given more than once.
    #[arg(short, long, value_name = "CRATE", required = true)]
    package: Vec<String>,
}

/// Runs the checks in the order of their cost and stops at the first that fails.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    for package in &args.package {
        if !workspace.members.iter().any(|member| &member.name == package) {
            bail!("the workspace has no crate {package}");
        }
        // The same profile as the tests, so that nothing is built for the check alone.
        let profile: &[&str] = if HEAVY.contains(&package.as_str()) {
            &["--release"]
        } else {
            &[]
        };
        let good = run_command(cargo(&workspace.root).args(["fmt", "--check", "-p", package]))?
            && run_command(
                cargo(&workspace.root)
                    .args(["clippy", "--quiet", "--all-targets", "-p", package])
                    .args(profile)
                    .args(["--", "-D", "warnings"]),
            )?
            && test::packages(workspace, &[package], profile)?;
        if !good {
            return Ok(false);
        }
    }
    Ok(true)
}
