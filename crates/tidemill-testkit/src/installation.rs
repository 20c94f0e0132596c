//! Where `cargo xtask provision` puts servers, and what it notes about them.
//!
//! One folder per server in the cache, and in it `stamp.json`: the recipe that it was made by, the versions of its parts,
//! and the folders that hold shared libraries. A folder without a stamp is no installation: it is written last.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::error::ServerError;

/// A server that tests talk to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Server {
    /// ClickHouse, from Debian's packages.
    ClickHouse,
    /// Apache Cassandra, from Maven Central.
    Cassandra,
    /// ClickHouse of today as a Python library, from PyPI.
    Chdb,
    /// MariaDB, from Debian's packages.
    MariaDb,
}

impl Server {
    /// Every server.
    pub const ALL: [Self; 4] = [Self::ClickHouse, Self::Cassandra, Self::Chdb, Self::MariaDb];

    /// Name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClickHouse => "ClickHouse",
            Self::Cassandra => "Cassandra",
            Self::Chdb => "chdb",
            Self::MariaDb => "MariaDB",
        }
    }

    /// The folder of the cache that this server is installed in, whether it is or not.
    #[must_use]
    pub fn folder(self) -> PathBuf {
        cache_folder().join(match self {
            Self::ClickHouse => "clickhouse",
            Self::Cassandra => "cassandra",
            Self::Chdb => "chdb",
            Self::MariaDb => "mariadb",
        })
    }

    /// The way of installing that this version of the project expects; an installation by another one is rebuilt.
    #[must_use]
    pub fn recipe(self) -> &'static str {
        match self {
            Self::ClickHouse => "debian 1",
            Self::Cassandra => "org.apache.cassandra:cassandra-all:5.0.9",
            Self::Chdb => "chdb==4.4.0 chdb-core==26.9.0",
            Self::MariaDb => "debian 1",
        }
    }
}

/// A server that is ready to start.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Which server it is.
    pub server: Server,
    /// The folder that its files are in; `/` when the system's own packages are used.
    pub root: PathBuf,
    /// Folders below `root` that hold shared libraries.
    pub libraries: Vec<PathBuf>,
    /// Versions of its parts, one `name=version` each.
    pub versions: Vec<String>,
}

impl Installation {
    /// The installation in the cache folder.
    ///
    /// # Errors
    ///
    /// [`ServerError::NotProvisioned`] when there is none of the expected recipe, [`ServerError::Stamp`] when its
    /// description is damaged, [`ServerError::Java`] when it is there and nothing can run it.
    pub fn find(server: Server) -> Result<Self, ServerError> {
        let found = Self::read(server, &server.folder())?;
        if server == Server::Cassandra {
            java().ok_or(ServerError::Java)?;
        }
        Ok(found)
    }

    /// What is started: the server of ClickHouse or MariaDB, the folder of Cassandra's jars, or the Python that has chdb.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.root.join(match self.server {
            Server::ClickHouse => "usr/sbin/clickhouse-server",
            Server::Cassandra => "lib",
            Server::Chdb => "bin/python",
            Server::MariaDb => "usr/sbin/mariadbd",
        })
    }

    /// The search path of shared libraries with those of this installation; `None` where it has none of its own.
    pub(crate) fn library_path(&self) -> Option<OsString> {
        if self.libraries.is_empty() {
            return None;
        }
        let ours = self.libraries.iter().map(|folder| self.root.join(folder));
        let path = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let others = env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
        Some(env::join_paths(ours.chain(others)).unwrap_or_default())
    }

    /// Notes this installation in `folder`, which makes it one.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when the note cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ServerError> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let stamp = json!({
            "recipe": self.server.recipe(),
            "system": self.root == Path::new("/"),
            "libraries": self.libraries.iter().map(|path| text(path)).collect::<Vec<_>>(),
            "versions": self.versions,
        });
        let path = folder.join(STAMP);
        fs::write(&path, format!("{stamp:#}\n")).map_err(ServerError::io(path.display().to_string()))
    }

    fn read(server: Server, folder: &Path) -> Result<Self, ServerError> {
        let missing = || ServerError::NotProvisioned {
            server: server.name(),
            folder: folder.to_owned(),
        };
        let path = folder.join(STAMP);
        let text = fs::read_to_string(&path).map_err(|_| missing())?;
        let stamp: Value = serde_json::from_str(&text).map_err(|error| ServerError::Stamp {
            path,
            why: error.to_string(),
        })?;
        if stamp["recipe"] != server.recipe() {
            return Err(missing());
        }
        let list = |key: &str| -> Vec<String> {
            stamp[key]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let found = Self {
            server,
            root: if stamp["system"] == true {
                PathBuf::from("/")
            } else {
                folder.to_owned()
            },
            libraries: list("libraries").into_iter().map(PathBuf::from).collect(),
            versions: list("versions"),
        };
        // The system's own packages may have been removed since.
        if found.program().exists() {
            Ok(found)
        } else {
            Err(missing())
        }
    }
}

/// The cache folder: `$TIDEMILL_CACHE`, else `$XDG_CACHE_HOME/tidemill`, else `~/.cache/tidemill`.
#[must_use]
pub fn cache_folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("TIDEMILL_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("tidemill")))
        .or_else(|| set("HOME").map(|folder| folder.join(".cache/tidemill")))
        .unwrap_or_else(|| env::temp_dir().join("tidemill"))
}

/// Makes a file or a folder of the cache that is not there. `make` fills a folder beside it, and returns what of it takes the place: tests
/// that run at the same time make one each, and the first one to be done is everybody's.
pub(crate) fn once(place: &Path, make: impl FnOnce(&Path) -> Result<PathBuf, String>) -> Result<(), String> {
    if place.exists() {
        return Ok(());
    }
    let parent = place.parent().unwrap_or(place);
    let unfinished = fs::create_dir_all(parent)
        .and_then(|()| tempfile::Builder::new().prefix("unfinished-").tempdir_in(parent))
        .map_err(|error| format!("{}: {error}", parent.display()))?;
    let made = make(unfinished.path())?;
    match fs::rename(&made, place) {
        // Another test was first.
        Err(error) if !place.exists() => Err(format!("{}: {error}", place.display())),
        _ => Ok(()),
    }
}

/// A Java that Cassandra 5.0 runs on: 17 or 11 (it refuses to start on 25, which forbids the security manager).
///
/// `None` when neither `JAVA_HOME`, `/usr/lib/jvm` nor `PATH` has one.
#[must_use]
pub fn java() -> Option<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin/java"));
    let mut installed: Vec<PathBuf> = fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/java"))
        .collect();
    installed.sort();
    home.into_iter()
        .chain(installed)
        .filter(|path| path.exists())
        .chain([PathBuf::from("java")])
        .find(|path| matches!(java_version(path), Some(11 | 17)))
}

fn java_version(java: &Path) -> Option<u32> {
    let output = Command::new(java).arg("-version").output().ok()?;
    major_version(&String::from_utf8_lossy(&output.stderr))
}

/// The first number of the quoted version in what `java -version` prints.
fn major_version(text: &str) -> Option<u32> {
    text.split('"').nth(1)?.split('.').next()?.parse().ok()
}

const STAMP: &str = "stamp.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_versions() {
        assert_eq!(
            major_version("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK"),
            Some(17)
        );
        assert_eq!(major_version("java version \"1.8.0_402\""), Some(1));
        assert_eq!(major_version("sh: java: not found"), None);
    }

    #[test]
    fn a_stamp_is_read_back_and_another_recipe_is_not_provisioned() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let written = Installation {
            server: Server::ClickHouse,
            root: folder.path().to_owned(),
            libraries: vec!["usr/lib".into()],
            versions: vec!["libre2-9=20220601".into()],
        };
        let read = |server| Installation::read(server, folder.path());
        assert!(matches!(
            read(Server::ClickHouse),
            Err(ServerError::NotProvisioned { .. })
        ));
        written.write(folder.path()).expect("the stamp");
        assert!(
            matches!(read(Server::ClickHouse), Err(ServerError::NotProvisioned { .. })),
            "the program is missing"
        );
        fs::create_dir_all(written.program()).expect("something in the program's place");
        let found = read(Server::ClickHouse).expect("an installation");
        assert_eq!(
            (found.root, found.libraries, found.versions),
            (written.root, written.libraries, written.versions)
        );
        assert!(matches!(
            read(Server::Cassandra),
            Err(ServerError::NotProvisioned { .. })
        ));
        fs::write(folder.path().join(STAMP), "{").expect("a damaged stamp");
        assert!(matches!(read(Server::ClickHouse), Err(ServerError::Stamp { .. })));
    }
}
