//! What must be written down: crates, the origin of goldens, the two commands, the pages of the book; and that links lead
//! somewhere, and quoted messages are still those of the program.

use std::collections::BTreeSet;

use super::{Breach, sources::Files};
use crate::workspace::Workspace;

pub(super) fn crates_described(workspace: &Workspace, files: &Files) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for member in &workspace.members {
        if member.description.as_deref().is_none_or(str::is_empty) {
            breaches.push(Breach::new(&member.name, "its Cargo.toml has no description"));
        }
        if files
            .text("ARCHITECTURE.md")
            .is_some_and(|text| !text.contains(&format!("`{}`", member.name)))
        {
            breaches.push(Breach::new(
                "ARCHITECTURE.md",
                format!("does not name `{}`", member.name),
            ));
        }
    }
    breaches
}

pub(super) fn corpus_provenance(files: &Files) -> Vec<Breach> {
    let folders: BTreeSet<&str> = files
        .paths()
        .filter_map(|path| path.strip_prefix("corpus/")?.split_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    folders
        .into_iter()
        .filter(|folder| files.text(&format!("corpus/{folder}/README.md")).is_none())
        .map(|folder| {
            Breach::new(
                format!("corpus/{folder}"),
                "no README.md says where its files come from",
            )
        })
        .collect()
}

pub(super) fn readme_commands(files: &Files) -> Vec<Breach> {
    let text = files.text("README.md").unwrap_or_default();
    ["cargo run --release -- tour", "cargo xtask test"]
        .into_iter()
        .filter(|command| !text.contains(command))
        .map(|command| Breach::new("README.md", format!("does not name `{command}`")))
        .collect()
}

/// Documents that say nothing: an edit that went wrong leaves such.
pub(super) fn none_empty(files: &Files) -> Vec<Breach> {
    let empty = files.with_extension(&["md"]).filter(|(_, text)| text.trim().is_empty());
    empty.map(|(path, _)| Breach::new(path, "is empty")).collect()
}

/// Links from one document to another file of the project that is not there. Places within a page are not checked.
pub(super) fn links_lead_somewhere(files: &Files) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, text) in files.with_extension(&["md"]) {
        let mut is_code = false;
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            }
            if is_code || line.starts_with("    ") {
                continue;
            }
            // A bracket in a span of code is no link.
            let prose: String = line.split('`').step_by(2).collect();
            for link in prose.split("](").skip(1) {
                let target = link.split([')', '#']).next().unwrap_or_default();
                if target.is_empty() || target.contains(':') {
                    continue;
                }
                let found = within(path, target);
                let is_there = |place: &str| files.paths().any(|path| leads_to(path, place));
                if !found.as_deref().is_some_and(is_there) {
                    breaches.push(Breach::new(
                        format!("{path}:{}", number + 1),
                        format!("{target} is not there"),
                    ));
                }
            }
        }
    }
    breaches
}

/// Pages below docs/ that the book does not list.
pub(super) fn pages_in_the_book(files: &Files) -> Vec<Breach> {
    const BOOK: &str = "docs/SUMMARY.md";
    let summary = files.text(BOOK).unwrap_or_default();
    let pages = files.paths().filter_map(|path| path.strip_prefix("docs/"));
    let pages = pages.filter(|page| page.ends_with(".md") && *page != "SUMMARY.md");
    pages
        .filter(|page| !summary.contains(&format!("]({page})")))
        .map(|page| Breach::new(BOOK, format!("does not list {page}")))
        .collect()
}

/// Messages that the page of troubleshooting quotes and that no source has: they were changed since. `…` stands for a part
/// that differs from case to case.
pub(super) fn quoted_messages_exist(files: &Files) -> Vec<Breach> {
    const PAGE: &str = "docs/troubleshooting.md";
    let page = files.text(PAGE).unwrap_or_default().replace('\n', " ");
    let sources: Vec<String> = files.rust().map(|(_, text)| without_line_ends(text)).collect();
    let quoted = page.split("**").skip(1).step_by(2);
    let parts = quoted.filter_map(|quoted| Some(quoted.strip_prefix('`')?.strip_suffix('`')?.split('…')));
    let parts = parts.flatten().map(str::trim).filter(|part| part.len() > 3);
    parts
        .filter(|part| !sources.iter().any(|source| source.contains(part)))
        .map(|part| Breach::new(PAGE, format!("no source says {part:?}")))
        .collect()
}

/// A source whose texts over several lines are on one.
fn without_line_ends(source: &str) -> String {
    let mut parts = source.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// Whether a path is a place, or in the folder that it is.
fn leads_to(path: &str, place: &str) -> bool {
    path.strip_prefix(place)
        .is_some_and(|rest| rest.is_empty() || place.is_empty() || rest.starts_with('/'))
}

/// The path that a link in a document means; `None` if it leaves the project.
fn within(document: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Member;

    #[test]
    fn crates() {
        let member = |name: &str, description: Option<&str>| Member {
            name: name.into(),
            description: description.map(str::to_owned),
            ..Member::default()
        };
        let members = vec![member("tidemill-xbase", Some("tables")), member("tidemill", None)];
        let workspace = Workspace {
            root: "".into(),
            target: "".into(),
            members,
        };
        let files = Files::of(&[("ARCHITECTURE.md", "`tidemill-xbase`: tables")]);
        let expected = [
            Breach::new("tidemill", "its Cargo.toml has no description"),
            Breach::new("ARCHITECTURE.md", "does not name `tidemill`"),
        ];
        assert_eq!(crates_described(&workspace, &files), expected);
        assert_eq!(crates_described(&workspace, &Files::default()).len(), 1);
    }

    #[test]
    fn corpus() {
        let files = Files::of(&[
            ("corpus/xbase/README.md", "by Harbour"),
            ("corpus/xbase/a.dbf", ""),
            ("corpus/riegeli/deep/b", ""),
        ]);
        assert_eq!(
            corpus_provenance(&files),
            [Breach::new(
                "corpus/riegeli",
                "no README.md says where its files come from"
            )]
        );
    }

    #[test]
    fn readme() {
        assert_eq!(readme_commands(&Files::default()).len(), 2);
        let files = Files::of(&[("README.md", "cargo run --release -- tour\ncargo test")]);
        assert_eq!(
            readme_commands(&files),
            [Breach::new("README.md", "does not name `cargo xtask test`")]
        );
    }

    #[test]
    fn empty_documents() {
        let files = Files::of(&[("SECURITY.md", "\n"), ("README.md", "words"), ("a.txt", "")]);
        assert_eq!(none_empty(&files), [Breach::new("SECURITY.md", "is empty")]);
    }

    #[test]
    fn links() {
        let page = "[a](b.md#x) [c](../crates/one) [web](https://x.org) [here](#there)\n\
            ```\n[x](no.md)\n```\n`[y](no.md)` [gone](formats/gone.md) [out](../../x.md)\n";
        let files = Files::of(&[("docs/a.md", page), ("docs/b.md", "b"), ("crates/one/Cargo.toml", "")]);
        let expected = [
            Breach::new("docs/a.md:5", "formats/gone.md is not there"),
            Breach::new("docs/a.md:5", "../../x.md is not there"),
        ];
        assert_eq!(links_lead_somewhere(&files), expected);
    }

    #[test]
    fn messages() {
        let page = "**`cannot open …; try\nagain`**. Text.\n\n**`gone …`**, **`, found`**. **Bold.** `code`\n";
        let source = "format!(\"cannot open {path}; try \\\n    again\"), \", found {x}\"";
        let files = Files::of(&[("docs/troubleshooting.md", page), ("a.rs", source)]);
        let expected = [Breach::new("docs/troubleshooting.md", "no source says \"gone\"")];
        assert_eq!(quoted_messages_exist(&files), expected);
    }

    #[test]
    fn the_book() {
        let files = Files::of(&[
            ("docs/SUMMARY.md", "- [One](one.md)"),
            ("docs/one.md", "1"),
            ("docs/formats/two.md", "2"),
        ]);
        let expected = [Breach::new("docs/SUMMARY.md", "does not list formats/two.md")];
        assert_eq!(pages_in_the_book(&files), expected);
    }
}
