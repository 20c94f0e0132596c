//! Rules over the lock file: one Arrow and one sqlparser, those that DataFusion is built on.

use super::Breach;

/// The Arrow of DataFusion 55. Another release of DataFusion brings another one: change both in one commit.
const ARROW: &str = "59.";

/// A package of the lock file.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Locked {
    name: String,
    version: String,
}

/// The packages of a `Cargo.lock`, which cargo writes with one key a line, `name` before `version`.
pub(super) fn parse(text: &str) -> Vec<Locked> {
    let mut packages = Vec::new();
    let mut name = None;
    for line in text.lines() {
        let value = |key: &str| {
            line.strip_prefix(key)?
                .strip_prefix(" = \"")?
                .strip_suffix('"')
                .map(str::to_owned)
        };
        if line == "[[package]]" {
            name = None;
        } else if let Some(found) = value("name") {
            name = Some(found);
        } else if let Some(version) = value("version") {
            packages.extend(name.take().map(|name| Locked { name, version }));
        }
    }
    packages
}

pub(super) fn one_arrow(packages: &[Locked]) -> Vec<Breach> {
    // arrow-pg has versions of its own.
    let is_arrow =
        |name: &str| name == "arrow" || name == "parquet" || name.starts_with("arrow-") && name != "arrow-pg";
    packages
        .iter()
        .filter(|package| is_arrow(&package.name) && !package.version.starts_with(ARROW))
        .map(|package| {
            Breach::new(
                "Cargo.lock",
                format!("{} {} where {ARROW}x is DataFusion's", package.name, package.version),
            )
        })
        .collect()
}

pub(super) fn one_sqlparser(packages: &[Locked]) -> Vec<Breach> {
    let versions: Vec<_> = packages
        .iter()
        .filter(|p| p.name == "sqlparser")
        .map(|p| p.version.as_str())
        .collect();
    match versions[..] {
        [] | [_] => Vec::new(),
        _ => vec![Breach::new(
            "Cargo.lock",
            format!("sqlparser in versions {}", versions.join(" and ")),
        )],
    }
}

/// Packages with a fault that a list of advisories says is mended in a later version: a line has the advisory, the crate and the first
/// version without it.
pub(super) fn no_advisories(packages: &[Locked], advisories: &str) -> Vec<Breach> {
    let lines = advisories.lines().filter(|line| !line.starts_with('#'));
    let advisories = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?, words.next()?))
    });
    advisories
        .flat_map(|(advisory, name, mended)| {
            let affected = packages
                .iter()
                .filter(move |package| package.name == name && numbers(&package.version) < numbers(mended));
            affected.map(move |package| {
                let (name, version) = (&package.name, &package.version);
                Breach::new(
                    "Cargo.lock",
                    format!("{name} {version}: {advisory}, mended in {mended}"),
                )
            })
        })
        .collect()
}

/// The numbers of a version, without what is behind a hyphen or a plus.
fn numbers(version: &str) -> Vec<u64> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    release.split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_with_a_known_fault_is_found() {
        let list = "# a list\nRUSTSEC-1 quick-xml 0.41.0\nRUSTSEC-2 tokio 1.9.0\n";
        let found = |packages| no_advisories(&lock(packages), list).len();
        assert_eq!(
            found(&[("quick-xml", "0.41.0"), ("tokio", "1.10.1"), ("x", "0.1.0")]),
            0
        );
        assert_eq!(found(&[("quick-xml", "0.39.4"), ("tokio", "1.8.9+x")]), 2);
    }

    fn lock(packages: &[(&str, &str)]) -> Vec<Locked> {
        let text: String = packages
            .iter()
            .map(|(name, version)| {
                format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\ndependencies = [\n \"x\",\n]\n\n")
            })
            .collect();
        let parsed = parse(&format!("version = 4\n\n{text}"));
        assert_eq!(parsed.len(), packages.len());
        parsed
    }

    #[test]
    fn a_second_arrow_is_found() {
        assert_eq!(
            one_arrow(&lock(&[
                ("arrow-array", "59.3.2"),
                ("parquet", "59.3.2"),
                ("arrow-schema", "59.3.2")
            ])),
            []
        );
        let both = one_arrow(&lock(&[
            ("arrow-array", "59.3.2"),
            ("arrow-array", "60.1.0"),
            ("arrowhead", "1.0.0"),
        ]));
        assert_eq!(
            both,
            [Breach::new(
                "Cargo.lock",
                "arrow-array 60.1.0 where 59.x is DataFusion's"
            )]
        );
    }

    #[test]
    fn a_second_sqlparser_is_found() {
        assert_eq!(
            one_sqlparser(&lock(&[("sqlparser", "0.62.0"), ("sqlparser_derive", "0.5.0")])),
            []
        );
        assert_eq!(
            one_sqlparser(&lock(&[("sqlparser", "0.62.0"), ("sqlparser", "0.63.0")])).len(),
            1
        );
    }
}
