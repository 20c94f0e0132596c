//! The workspace as `cargo metadata` sees it: where it is, its members, and what they ask for directly.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use crate::{fuzz, wheel};

/// The crates that build DataFusion, which takes minutes: they are tested in the release profile, together, so that
/// the tests and `cargo run --release` share one build of it. Every other member is a leaf.
pub(crate) const HEAVY: [&str; 4] = ["tidemill-sql", "tidemill-server", "tidemill-adbc", "tidemill"];

/// The crate without code that names features of what is below DataFusion, and so builds it.
pub(crate) const FEATURES: &str = "tidemill-features";

/// The members of the workspace and its root.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) members: Vec<Member>,
}

/// One member and what its manifest says.
#[derive(Debug, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    /// The file that crates.io shows.
    pub(crate) readme: Option<String>,
    pub(crate) documentation: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) categories: Vec<String>,
    /// Names of direct dependencies that ship: normal and build, not dev.
    pub(crate) dependencies: Vec<String>,
    /// Those of them that only a feature asks for.
    pub(crate) optional: Vec<String>,
    /// Those of them that are in the workspace and asked for in any version.
    pub(crate) without_version: Vec<String>,
    pub(crate) benches: Vec<String>,
    pub(crate) has_library: bool,
}

/// A package of the dependency graph.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// An SPDX expression, in older packages with `/` for OR.
    pub(crate) licence: Option<String>,
    /// Where it comes from; `None` is a path.
    pub(crate) source: Option<String>,
}

impl Workspace {
    /// Asks cargo about the workspace that it runs this program for: one target folder may serve several clones.
    pub(crate) fn load() -> Result<Self> {
        let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let manifest = Path::new(&folder).parent().context("xtask has no parent folder")?;
        let output = crate::cargo::cargo(manifest)
            .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
            .output()
            .context("cargo metadata does not start")?;
        if !output.status.success() {
            return Err(anyhow!(
                "cargo metadata: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        Self::from_metadata(&serde_json::from_slice(&output.stdout).context("output of cargo metadata")?)
    }

    /// Every package that is built on this machine, members and others.
    pub(crate) fn packages(&self) -> Result<Vec<Package>> {
        let metadata = metadata(&self.root, &["--filter-platform", &crate::cargo::host()?])?;
        let packages = metadata["packages"].as_array().context("metadata lacks packages")?;
        Ok(packages.iter().map(Package::from_metadata).collect())
    }

    /// Members that do not build DataFusion, by name, without the wheel's, whose tests are not cargo's, and the fuzz targets', which has none.
    pub(crate) fn leaves(&self) -> Vec<&str> {
        self.members
            .iter()
            .map(|m| m.name.as_str())
            .filter(|name| !HEAVY.contains(name) && ![wheel::CRATE, fuzz::CRATE, FEATURES].contains(name))
            .collect()
    }

    /// The version of what users install.
    pub(crate) fn version(&self) -> Result<&str> {
        let program = self.members.iter().find(|member| member.name == "tidemill");
        Ok(&program.context("the workspace has no tidemill")?.version)
    }

    /// Members that do, by name.
    pub(crate) fn heavy(&self) -> Vec<&str> {
        self.members
            .iter()
            .map(|m| m.name.as_str())
            .filter(|name| HEAVY.contains(name))
            .collect()
    }

    fn from_metadata(metadata: &Value) -> Result<Self> {
        let path = |key: &str| {
            metadata[key]
                .as_str()
                .map(PathBuf::from)
                .with_context(|| format!("metadata lacks {key}"))
        };
        let packages = metadata["packages"].as_array().context("metadata lacks packages")?;
        let mut members: Vec<Member> = packages.iter().map(Member::from_package).collect();
        members.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self {
            root: path("workspace_root")?,
            target: path("target_directory")?,
            members,
        })
    }
}

impl Package {
    fn from_metadata(package: &Value) -> Self {
        let text = |key: &str| package[key].as_str().map(str::to_owned);
        Self {
            name: text("name").unwrap_or_default(),
            licence: text("license"),
            source: text("source"),
        }
    }
}

fn metadata(folder: &Path, args: &[&str]) -> Result<Value> {
    let output = crate::cargo::cargo(folder)
        .args(["metadata", "--format-version", "1"])
        .args(args)
        .output()
        .context("cargo metadata does not start")?;
    if !output.status.success() {
        return Err(anyhow!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    serde_json::from_slice(&output.stdout).context("output of cargo metadata")
}

impl Member {
    fn from_package(package: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let is = |target: &Value, kind: &str| list(&target["kind"]).iter().any(|k| k.as_str() == Some(kind));
        let targets = list(&package["targets"]);
        let dependencies = list(&package["dependencies"]);
        let ships = |dependency: &&Value| dependency["kind"].as_str() != Some("dev");
        let is_optional = |dependency: &&Value| dependency["optional"].as_bool() == Some(true);
        let name = |dependency: &Value| text(&dependency["name"]);
        let lacks_version =
            |dependency: &&Value| dependency["path"].is_string() && dependency["req"].as_str() == Some("*");
        let words = |key: &str| list(&package[key]).iter().map(text).collect();
        let word = |key: &str| package[key].as_str().map(str::to_owned);
        Self {
            name: text(&package["name"]),
            version: text(&package["version"]),
            description: word("description"),
            readme: word("readme"),
            documentation: word("documentation"),
            keywords: words("keywords"),
            categories: words("categories"),
            dependencies: dependencies.iter().filter(ships).map(name).collect(),
            optional: dependencies
                .iter()
                .filter(ships)
                .filter(is_optional)
                .map(name)
                .collect(),
            without_version: dependencies
                .iter()
                .filter(ships)
                .filter(lacks_version)
                .map(name)
                .collect(),
            benches: targets
                .iter()
                .filter(|t| is(t, "bench"))
                .map(|t| text(&t["name"]))
                .collect(),
            has_library: targets.iter().any(|t| is(t, "lib")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dev_dependencies_do_not_count_and_members_are_split() {
        let metadata = serde_json::json!({
            "workspace_root": "r", "target_directory": "t",
            "packages": [
                {"name": "tidemill", "description": null, "dependencies": [], "targets": [{"kind": ["bin"], "name": "tidemill"}]},
                {"name": "tidemill-riegeli-py", "description": "d", "dependencies": [], "targets": [{"kind": ["cdylib"], "name": "x"}]},
                {"name": "tidemill-features", "description": "d", "dependencies": [], "targets": [{"kind": ["lib"], "name": "f"}]},
                {"name": "tidemill-fuzz", "description": "d", "dependencies": [], "targets": [{"kind": ["bin"], "name": "dbf"}]},
                {"name": "tidemill-xbase", "description": "d", "targets": [{"kind": ["lib"], "name": "x"}, {"kind": ["bench"], "name": "decode"}],
                 "dependencies": [{"name": "a", "kind": null}, {"name": "b", "kind": "dev"}, {"name": "c", "kind": "build", "optional": true},
                                  {"name": "d", "kind": null, "path": "r/d", "req": "*"}, {"name": "e", "kind": "dev", "path": "r/e", "req": "*"}],
                 "readme": "README.md", "keywords": ["dbf"]},
            ],
        });
        let workspace = Workspace::from_metadata(&metadata).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(workspace.leaves(), ["tidemill-xbase"]);
        assert_eq!(workspace.heavy(), ["tidemill"]);
        let xbase = &workspace.members[4];
        assert_eq!(xbase.dependencies, ["a", "c", "d"]);
        assert_eq!(xbase.without_version, ["d"]);
        assert_eq!((xbase.readme.as_deref(), xbase.keywords.len()), (Some("README.md"), 1));
        assert_eq!(xbase.optional, ["c"]);
        assert_eq!(xbase.benches, ["decode"]);
        assert!(xbase.has_library);
    }
}
