//! The tracked files, and rules over their text.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::{
    Breach,
    code::{code_of, lines_with},
};

/// The files that git tracks, and those that it would (not ignored), by path with forward slashes.
#[derive(Default)]
pub(super) struct Files {
    files: BTreeMap<String, Option<String>>,
}

impl Files {
    pub(super) fn tracked(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .stderr(Stdio::inherit())
            .output()
            .context("git does not start")?;
        if !output.status.success() {
            bail!("git cannot list the files of {}", root.display());
        }
        let mut files = BTreeMap::new();
        for name in String::from_utf8(output.stdout)
            .context("a file name is not UTF-8")?
            .split_terminator('\0')
        {
            let path = root.join(name);
            // A file that git knows and that is gone is about to be removed.
            if let Ok(bytes) = fs::read(&path) {
                files.insert(name.to_owned(), String::from_utf8(bytes).ok());
            }
        }
        Ok(Self { files })
    }

    /// Every path.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The text of a file, if it is there and is text.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Path and text of each Rust source.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.with_extension(&["rs"])
    }

    pub(super) fn with_extension(&self, extensions: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(move |(path, text)| {
            let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
            extension
                .is_some_and(|extension| extensions.contains(&extension))
                .then_some((path.as_str(), text.as_deref()?))
        })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self {
            files: files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())))
                .collect(),
        }
    }
}

/// A file that may break a rule, and why.
pub(super) type Exception = (&'static str, &'static str);

pub(super) fn no_long_files(files: &Files, exceptions: &[Exception]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, text) in files.rust() {
        let (lines, excepted) = (text.lines().count(), exceptions.iter().any(|(name, _)| *name == path));
        if lines > LONGEST && !excepted {
            breaches.push(Breach::new(
                path,
                format!("{lines} lines, at most {LONGEST}: look for the seam"),
            ));
        } else if lines <= LONGEST && excepted {
            breaches.push(Breach::new(path, "is in the table of exceptions and needs none"));
        }
    }
    breaches.extend(gone(files, exceptions));
    breaches
}

pub(super) fn nothing_unfinished(files: &Files) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, text) in files.rust() {
        let code = code_of(text);
        for word in UNFINISHED {
            let found = lines_with(&code, word);
            breaches.extend(found.iter().map(|line| Breach::new(format!("{path}:{line}"), word)));
        }
    }
    breaches
}

/// What turns bytes into values knows no runtime, so that any can use it.
pub(super) fn tokio_only_in_the_client(files: &Files) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, text) in files.rust() {
        let module = path.strip_prefix(CLICKHOUSE);
        let is_protocol = module.is_some_and(|module| !CLIENT.iter().any(|name| module.starts_with(name)));
        if is_protocol {
            let found = lines_with(&code_of(text), "tokio");
            breaches.extend(found.iter().map(|line| Breach::new(format!("{path}:{line}"), "tokio")));
        }
    }
    breaches
}

pub(super) fn no_machine_paths(files: &Files) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, text) in files.with_extension(&["rs", "md", "toml", "lock", "slt", "sh", "yml", "yaml", "html", "snap"])
    {
        for (index, line) in text.lines().enumerate() {
            // The address of a page is no path: what counts begins with its slash.
            let begins = |folder: &str| {
                line.match_indices(folder).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | '>'))
                })
            };
            breaches.extend(
                MACHINE_FOLDERS
                    .iter()
                    .filter(|folder| begins(folder))
                    .map(|folder| Breach::new(format!("{path}:{}", index + 1), format!("a path below {folder}"))),
            );
        }
    }
    breaches
}

/// Exceptions for files that are not there.
pub(super) fn gone(files: &Files, exceptions: &[Exception]) -> Vec<Breach> {
    exceptions
        .iter()
        .filter(|(path, _)| files.text(path).is_none())
        .map(|(path, _)| Breach::new(*path, "is in a table of exceptions and does not exist"))
        .collect()
}

const LONGEST: usize = 800;
const CLICKHOUSE: &str = "crates/tidemill-clickhouse/src/";
const CLIENT: [&str; 4] = ["client.rs", "client/", "blocking.rs", "blocking/"];
const UNFINISHED: [&str; 4] = ["todo!", "unimplemented!", "dbg!", "#[ignore"];
/// In two parts each, so that this file does not break the rule.
const MACHINE_FOLDERS: [&str; 4] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files() {
        let long = "\n".repeat(801);
        let files = Files::of(&[("a.rs", &long), ("b.rs", "x\n"), ("c.md", &long)]);
        assert_eq!(no_long_files(&files, &[]).len(), 1);
        assert_eq!(no_long_files(&files, &[("a.rs", "a table")]), []);
        let stale = no_long_files(
            &files,
            &[("a.rs", "a table"), ("b.rs", "was long"), ("d.rs", "was there")],
        );
        assert_eq!(
            stale.iter().map(|breach| breach.place.as_str()).collect::<Vec<_>>(),
            ["b.rs", "d.rs"]
        );
    }

    #[test]
    fn unfinished() {
        let files = Files::of(&[
            (
                "a.rs",
                "fn a() {\n    todo!()\n}\n#[ignore = \"slow\"]\nfn b() { dbg!(1); unimplemented!(\"x\") }",
            ),
            ("b.rs", "// todo!() in a comment\nlet x = \"dbg!\"; my_dbg!(x);"),
        ]);
        let places: Vec<_> = nothing_unfinished(&files)
            .into_iter()
            .map(|breach| breach.place)
            .collect();
        assert_eq!(places, ["a.rs:2", "a.rs:5", "a.rs:5", "a.rs:4"]);
    }

    #[test]
    fn tokio_in_a_protocol() {
        let text = "// not tokio\nuse tokio::net::TcpStream;";
        let of = |module: &str| (format!("{CLICKHOUSE}{module}"), text);
        let files = [
            of("column/client.rs"),
            of("client/pool.rs"),
            of("blocking.rs"),
            of("frame.rs"),
        ];
        let mut files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        files.push(("crates/tidemill-sql/src/frame.rs", text));
        let breaches = tokio_only_in_the_client(&Files::of(&files));
        let places: Vec<_> = breaches.into_iter().map(|breach| breach.place).collect();
        assert_eq!(
            places,
            [
                format!("{CLICKHOUSE}column/client.rs:2"),
                format!("{CLICKHOUSE}frame.rs:2")
            ]
        );
    }

    #[test]
    fn machine_paths() {
        let machine = |folder: &str| format!("see {folder}me/x\nhttps://example.org{folder}x and src{folder}x\n");
        for folder in MACHINE_FOLDERS {
            let files = Files::of(&[("docs/a.md", &machine(folder)), ("a.dbf", &machine(folder))]);
            let breaches = no_machine_paths(&files);
            assert_eq!(breaches, [Breach::new("docs/a.md:1", format!("a path below {folder}"))]);
        }
    }
}
