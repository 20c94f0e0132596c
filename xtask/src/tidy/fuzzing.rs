//! Each engine's decoders are fuzzed, and each target begins with what the corpus has. Targets over doors of the server are built only
//! when they are asked for.

use super::{Breach, dependencies::ENGINES, sources::Files};
use crate::{
    fuzz::{DOORS, Target},
    workspace::Workspace,
};

pub(super) fn targets(workspace: &Workspace, files: &Files, targets: &[Target]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let declared = declared(files.text("fuzz/Cargo.toml").unwrap_or_default());
    for (name, needs_doors) in &declared {
        let Some(target) = targets.iter().find(|target| target.name == name) else {
            breaches.push(Breach::new(
                "fuzz/Cargo.toml",
                format!("{name} has no seeds: add it to xtask's table of targets"),
            ));
            continue;
        };
        if target.is_door() != *needs_doors {
            let what = match needs_doors {
                true => format!("{name} needs the feature {DOORS}, and tries none"),
                false => format!("{name} does not need the feature {DOORS}, and would be built with all others"),
            };
            breaches.push(Breach::new("fuzz/Cargo.toml", what));
        }
    }
    for target in targets {
        if !declared.iter().any(|(name, _)| name == target.name) {
            breaches.push(Breach::new(
                "fuzz/Cargo.toml",
                format!("does not have {}, which xtask's table has", target.name),
            ));
        }
        if !files
            .paths()
            .any(|path| path.starts_with(&format!("corpus/{}/", target.corpus)))
        {
            breaches.push(Breach::new(
                target.name,
                format!("corpus/{} has no seeds for it", target.corpus),
            ));
        }
    }
    for engine in workspace
        .members
        .iter()
        .map(|member| member.name.as_str())
        .filter(|name| ENGINES.contains(name))
    {
        if !targets.iter().any(|target| target.engine == engine) {
            breaches.push(Breach::new(engine, "has no fuzz target"));
        }
    }
    breaches
}

/// Names of the `[[bin]]` sections of a manifest, and whether they need the feature of the doors.
fn declared(manifest: &str) -> Vec<(String, bool)> {
    let sections = manifest
        .split("\n[")
        .filter_map(|section| section.strip_prefix("[bin]]"));
    let needed = format!("required-features = [\"{DOORS}\"]");
    sections
        .filter_map(|section| {
            let mut lines = section.lines();
            let name = lines.find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))?;
            Some((name.to_owned(), section.lines().any(|line| line == needed)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fuzz::Seeds, workspace::Member};

    const DBF: Target = Target {
        name: "dbf",
        engine: "tidemill-xbase",
        corpus: "xbase",
        seeds: Seeds::DbfAndMemo,
    };

    fn check(manifest: &str, corpus: &str, known: &[Target], breaches: usize) {
        let members = vec![Member {
            name: "tidemill-xbase".into(),
            ..Member::default()
        }];
        let workspace = Workspace {
            root: "".into(),
            target: "".into(),
            members,
        };
        let files = Files::of(&[("fuzz/Cargo.toml", manifest), (corpus, "")]);
        let found = targets(&workspace, &files, known);
        assert_eq!(found.len(), breaches, "{found:?}");
    }

    #[test]
    fn targets_seeds_and_engines_agree() {
        let dbf = "[package]\nname = \"fuzz\"\n\n[[bin]]\nname = \"dbf\"\npath = \"dbf.rs\"\n";
        check(dbf, "corpus/xbase/a.dbf", &[DBF], 0);
        check(dbf, "corpus/riegeli/a", &[DBF], 1);
        check("[package]\nname = \"fuzz\"\n", "corpus/xbase/a.dbf", &[DBF], 1);
        check(
            &format!("{dbf}\n[[bin]]\nname = \"memo\"\n"),
            "corpus/xbase/a.dbf",
            &[DBF],
            1,
        );
        check("[package]\n", "corpus/xbase/a.dbf", &[], 1);
    }

    #[test]
    fn doors_are_behind_their_feature_and_nothing_else_is() {
        const DOOR: Target = Target {
            name: "door",
            engine: "tidemill-server",
            corpus: "xbase",
            seeds: Seeds::Files,
        };
        let manifest = |name: &str, more: &str| format!("[package]\n\n[[bin]]\nname = \"{name}\"\n{more}");
        let needs = "required-features = [\"doors\"]\n";
        // That no target runs the engine is a breach in all of them.
        for (target, more, breaches) in [(DOOR, needs, 1), (DOOR, "", 2)] {
            check(&manifest("door", more), "corpus/xbase/a.dbf", &[target], breaches);
        }
        check(&manifest("dbf", ""), "corpus/xbase/a.dbf", &[DBF], 0);
        check(&manifest("dbf", needs), "corpus/xbase/a.dbf", &[DBF], 1);
    }
}
