//! What crates.io shows of a crate and what it takes of it: the crates that others use alone can be published as they are.

use std::{collections::BTreeSet, process::Stdio};

use anyhow::{Context, Result, bail};

use super::Breach;
use crate::{
    cargo::cargo,
    workspace::{Member, Workspace},
};

/// The crates that others use without the command line. What they depend on is published with them.
const PUBLISHED: [&str; 5] = [
    "tidemill-bench",
    "tidemill-clickhouse",
    "tidemill-cql",
    "tidemill-riegeli",
    "tidemill-xbase",
];

/// What users see before they have the crate, and what crates.io asks for.
pub(super) fn described(members: &[Member]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for name in PUBLISHED {
        let Some(member) = members.iter().find(|member| member.name == name) else {
            breaches.push(Breach::new(name, "is no member of the workspace"));
            continue;
        };
        let facts = [
            ("readme", member.readme.as_deref() == Some("README.md")),
            (
                "description",
                member.description.as_deref().is_some_and(|text| !text.is_empty()),
            ),
            ("documentation", member.documentation.is_some()),
            ("keywords", (1..=KEYWORDS_MAX).contains(&member.keywords.len())),
            ("categories", (1..=KEYWORDS_MAX).contains(&member.categories.len())),
        ];
        let missing = facts.into_iter().filter(|(_, is_there)| !is_there);
        breaches.extend(missing.map(|(key, _)| Breach::new(name, format!("its Cargo.toml lacks {key}"))));
    }
    breaches
}

/// Dependencies within the workspace that have no version: cargo does not package what has such.
pub(super) fn versioned(members: &[Member]) -> Vec<Breach> {
    let find = |name: &str| members.iter().find(|member| member.name == name);
    let mut waiting: Vec<&Member> = PUBLISHED.iter().filter_map(|name| find(name)).collect();
    let mut seen = BTreeSet::new();
    let mut breaches = Vec::new();
    while let Some(member) = waiting.pop() {
        if seen.insert(member.name.as_str()) {
            let without = member.without_version.iter();
            breaches
                .extend(without.map(|name| Breach::new(&member.name, format!("asks for {name} without a version"))));
            waiting.extend(member.dependencies.iter().filter_map(|name| find(name)));
        }
    }
    breaches
}

/// The files of each package, by `cargo package --list`, which builds nothing.
pub(super) fn packages(workspace: &Workspace) -> Result<Vec<(&'static str, String)>> {
    let list = |name| {
        let output = cargo(&workspace.root)
            .args(["package", "--list", "--allow-dirty", "--offline", "-p", name])
            .stderr(Stdio::piped())
            .output()
            .context("cargo package does not start")?;
        if !output.status.success() {
            bail!("cargo package: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok((name, String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    PUBLISHED.into_iter().map(list).collect()
}

/// What a package must have, and what it must not have, because it needs files of the repository.
pub(super) fn packaged(packages: &[(&str, String)]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (name, list) in packages {
        for file in ["LICENSE", "README.md"] {
            if !list.lines().any(|line| line == file) {
                breaches.push(Breach::new(*name, format!("its package lacks {file}")));
            }
        }
        for folder in ["benches/", "tests/"] {
            if let Some(file) = list.lines().find(|line| line.starts_with(folder)) {
                breaches.push(Breach::new(
                    *name,
                    format!("its package has {file}: exclude \"/{}\"", folder.trim_end_matches('/')),
                ));
            }
        }
    }
    breaches
}

/// What crates.io takes.
const KEYWORDS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Member {
        Member {
            name: name.into(),
            description: Some("tables".into()),
            readme: Some("README.md".into()),
            documentation: Some("https://docs.rs/x".into()),
            keywords: vec!["dbf".into()],
            categories: vec!["encoding".into()],
            ..Member::default()
        }
    }

    #[test]
    fn what_crates_io_shows() {
        let mut members: Vec<Member> = PUBLISHED.into_iter().map(member).collect();
        assert_eq!(described(&members), []);
        members[0].readme = None;
        members[1].keywords = vec!["one".into(); 6];
        members[2].categories.clear();
        members[3].description = Some(String::new());
        members.pop();
        let expected = [
            Breach::new("tidemill-bench", "its Cargo.toml lacks readme"),
            Breach::new("tidemill-clickhouse", "its Cargo.toml lacks keywords"),
            Breach::new("tidemill-cql", "its Cargo.toml lacks categories"),
            Breach::new("tidemill-riegeli", "its Cargo.toml lacks description"),
            Breach::new("tidemill-xbase", "is no member of the workspace"),
        ];
        assert_eq!(described(&members), expected);
    }

    #[test]
    fn versions_of_dependencies() {
        let mut bench = member("tidemill-bench");
        bench.dependencies = vec!["tidemill-ads".into()];
        let mut ads = member("tidemill-ads");
        ads.without_version = vec!["tidemill-trust".into()];
        let mut sql = member("tidemill-sql");
        sql.without_version = vec!["tidemill-csv".into()];
        let expected = [Breach::new("tidemill-ads", "asks for tidemill-trust without a version")];
        assert_eq!(versioned(&[bench, ads, sql]), expected);
    }

    #[test]
    fn files_of_packages() {
        let sound = "Cargo.toml\nLICENSE\nREADME.md\nsrc/lib.rs\nsrc/tests/x.rs\n".to_owned();
        let bad = "Cargo.toml\nREADME.md.orig\nLICENSE\nsrc/lib.rs\ntests/a.rs\ntests/b.rs\n".to_owned();
        let expected = [
            Breach::new("bad", "its package lacks README.md"),
            Breach::new("bad", "its package has tests/a.rs: exclude \"/tests\""),
        ];
        assert_eq!(packaged(&[("sound", sound), ("bad", bad)]), expected);
    }
}
