//! What must be written down: crates, the origin of goldens, the two commands.

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
}
