//! Tells the program which commit and which features it is built from, for `tidemill --version`.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TIDEMILL_COMMIT");
    let commit = env::var("TIDEMILL_COMMIT").ok().or_else(commit_of_clone);
    let commit = commit.unwrap_or_else(|| "commit not known".to_owned());
    println!("cargo::rustc-env=TIDEMILL_COMMIT={commit}");

    // Cargo gives each feature as CARGO_FEATURE_NAME.
    let features = env::vars().filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase));
    let mut features: Vec<String> = features.filter(|name| name != "default").collect();
    features.sort_unstable();
    let features = match features.is_empty() {
        true => "none".to_owned(),
        false => features.join(" ").replace('_', "-"),
    };
    println!("cargo::rustc-env=TIDEMILL_FEATURES={features}");
}

/// The commit of the clone that this is built in; `None` where there is no clone, or no Git.
fn commit_of_clone() -> Option<String> {
    // The log changes with every commit and checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
