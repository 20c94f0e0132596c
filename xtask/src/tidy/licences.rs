//! Rules over every package that is built: its licence, its origin, and what must not be in the tree. cargo-deny checks
//! the same and more where it is installed; this needs nothing.

use super::Breach;
use crate::workspace::Package;

/// Licences are allowed by the `allow` list of `deny.toml`, so that there is one list.
pub(super) fn allowed(packages: &[Package], deny: &str) -> Vec<Breach> {
    let allowed = allow_list(deny);
    packages
        .iter()
        .filter_map(|package| {
            let expression = package.licence.as_deref().unwrap_or("none");
            let fits = Expression::new(expression).evaluate(&allowed).unwrap_or(false);
            (!fits).then(|| Breach::new(&package.name, format!("its licence is {expression}")))
        })
        .collect()
}

pub(super) fn from_crates_io(packages: &[Package]) -> Vec<Breach> {
    packages
        .iter()
        .filter_map(|package| {
            let source = package.source.as_deref()?;
            (source != CRATES_IO).then(|| Breach::new(&package.name, format!("comes from {source}")))
        })
        .collect()
}

pub(super) fn no_other_tls(packages: &[Package]) -> Vec<Breach> {
    let others = packages
        .iter()
        .filter(|package| OTHER_TLS.contains(&package.name.as_str()));
    others
        .map(|package| Breach::new(&package.name, "is in the tree"))
        .collect()
}

/// The quoted words of `allow = […]`.
fn allow_list(deny: &str) -> Vec<&str> {
    let list = deny
        .split_once("\nallow = [")
        .and_then(|(_, rest)| rest.split_once(']'));
    list.map(|(list, _)| list.split('"').skip(1).step_by(2).collect())
        .unwrap_or_default()
}

/// An SPDX licence expression: `OR` binds weaker than `AND`, `WITH` belongs to its licence, `/` is an old `OR`.
struct Expression<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Expression<'a> {
    fn new(text: &'a str) -> Self {
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let mut rest = word;
            while let Some(at) = rest.find(['(', ')', '/']) {
                let (before, behind) = rest.split_at(at);
                let (sign, behind) = behind.split_at(1);
                words.extend([before, if sign == "/" { "OR" } else { sign }]);
                rest = behind;
            }
            words.push(rest);
        }
        words.retain(|word| !word.is_empty());
        Self { words, at: 0 }
    }

    /// `None` when the text is no expression.
    fn evaluate(mut self, allowed: &[&str]) -> Option<bool> {
        let answer = self.any(allowed)?;
        (self.at == self.words.len()).then_some(answer)
    }

    fn any(&mut self, allowed: &[&str]) -> Option<bool> {
        let mut answer = self.all(allowed)?;
        while self.take("OR") {
            answer |= self.all(allowed)?;
        }
        Some(answer)
    }

    fn all(&mut self, allowed: &[&str]) -> Option<bool> {
        let mut answer = self.one(allowed)?;
        while self.take("AND") {
            answer &= self.one(allowed)?;
        }
        Some(answer)
    }

    fn one(&mut self, allowed: &[&str]) -> Option<bool> {
        if self.take("(") {
            let answer = self.any(allowed)?;
            return self.take(")").then_some(answer);
        }
        let mut licence = self.next()?.to_owned();
        if self.take("WITH") {
            licence = format!("{licence} WITH {}", self.next()?);
        }
        Some(allowed.contains(&licence.as_str()))
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    fn take(&mut self, word: &str) -> bool {
        let here = self.words.get(self.at) == Some(&word);
        self.at += usize::from(here);
        here
    }
}

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
const OTHER_TLS: [&str; 3] = ["openssl", "openssl-sys", "native-tls"];

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str =
        "[licenses]\nversion = 2\nallow = [\n    \"MIT\",\n    \"Apache-2.0\",\n    \"Unicode-3.0\",\n]\n";

    fn package(licence: Option<&str>, source: Option<&str>) -> Package {
        Package {
            name: "p".into(),
            licence: licence.map(str::to_owned),
            source: source.map(str::to_owned),
        }
    }

    #[test]
    fn licence_expressions() {
        let rows = [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(GPL-3.0 OR Apache-2.0) AND Unicode-3.0", true),
            ("GPL-3.0 OR Apache-2.0 AND Zlib", false),
            ("Apache-2.0 WITH LLVM-exception", false),
            ("Apache-2.0 WITH LLVM-exception OR MIT", true),
            ("", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT MIT", false),
        ];
        for (licence, allowed_here) in rows {
            assert_eq!(
                allowed(&[package(Some(licence), None)], DENY).is_empty(),
                allowed_here,
                "{licence}"
            );
        }
        assert_eq!(allowed(&[package(None, None)], DENY).len(), 1);
        assert_eq!(
            allowed(&[package(Some("MIT"), None)], "").len(),
            1,
            "no list allows nothing"
        );
    }

    #[test]
    fn origins() {
        let origins = [None, Some(CRATES_IO), Some("git+https://example.org/x")].map(|source| package(None, source));
        assert_eq!(from_crates_io(&origins).len(), 1);
    }

    #[test]
    fn other_tls() {
        let packages = ["rustls", "openssl-sys"].map(|name| Package {
            name: name.into(),
            ..Package::default()
        });
        assert_eq!(no_other_tls(&packages), [Breach::new("openssl-sys", "is in the tree")]);
    }
}
