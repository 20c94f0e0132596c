//! `cargo xtask provision`: the servers that tests talk to, into the cache folder, without root.
//!
//! Each server has a recipe that fills a temporary folder beside its place; the stamp is written last and the folder is
//! renamed, so an interrupted run leaves no half of a server. When the stamp is there nothing is done. A program that a
//! recipe needs and the machine lacks gives one line.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, anyhow, bail};
use tidemill_testkit::{Installation, Server, debian, java};

/// Fetches what is missing and tells about each server; false when one cannot be had.
pub(crate) fn run() -> Result<bool> {
    let mut complete = true;
    for server in Server::ALL {
        match ensure(server) {
            Ok(installation) => {
                let first = installation.versions.first().map(String::as_str).unwrap_or_default();
                println!(
                    "{}: {} ({first}, {} parts)",
                    server.name(),
                    server.folder().display(),
                    installation.versions.len()
                );
            }
            Err(why) => {
                println!("{}: not available: {why:#}", server.name());
                complete = false;
            }
        }
    }
    Ok(complete)
}

/// Fetches what is missing, and says what cannot be had in one line each; tests that need it say so themselves.
pub(crate) fn run_for_tests() {
    for server in Server::ALL {
        if let Err(why) = ensure(server) {
            eprintln!("{}: not available: {why:#}", server.name());
        }
    }
}

fn ensure(server: Server) -> Result<Installation> {
    let folder = server.folder();
    if let Ok(installation) = Installation::find(server) {
        return Ok(installation);
    }
    let parent = folder.parent().context("the cache folder is the root")?;
    fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    let prefix = format!(".{}.", server.name().to_lowercase());
    let new = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent);
    let new = new.with_context(|| parent.display().to_string())?.keep();
    let made = match server {
        Server::ClickHouse => debian(&new, server, &["clickhouse-server", "clickhouse-client"]),
        Server::Cassandra => cassandra(&new),
        Server::Chdb => chdb(&new),
        Server::MariaDb => debian(&new, server, &["mariadb-server-core", "mariadb-client-core"]),
        other => bail!("no recipe for {}", other.name()),
    }
    .and_then(|installation| Ok(installation.write(&new)?))
    .and_then(|()| put_in_place(&new, &folder));
    if made.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    made?;
    Ok(Installation::find(server)?)
}

/// Renames `new` to `folder`; what was there (another recipe, or the same from a run at the same time) goes.
fn put_in_place(new: &Path, folder: &Path) -> Result<()> {
    let mut old = new.as_os_str().to_owned();
    old.push(".old");
    let old = PathBuf::from(old);
    if folder.exists() {
        fs::rename(folder, &old).with_context(|| format!("moving {} away", folder.display()))?;
    }
    fs::rename(new, folder).with_context(|| format!("renaming {} to {}", new.display(), folder.display()))?;
    let _ = fs::remove_dir_all(old);
    Ok(())
}

/// A server from Debian's packages, the first of which has the server.
fn debian(folder: &Path, server: Server, packages: &[&str]) -> Result<Installation> {
    eprintln!("provision: {} from Debian's packages", server.name());
    let first = packages.first().context("no package")?;
    let unpacked = debian::unpack(packages, folder).map_err(|why| anyhow!(why))?;
    let Some(mut unpacked) = unpacked else {
        // Every package is installed in the system already.
        return Ok(Installation {
            server,
            root: PathBuf::from("/"),
            libraries: Vec::new(),
            versions: vec![format!("{first}=system")],
        });
    };
    // The server first: it is the one that people ask about.
    let prefix = format!("{first}=");
    unpacked
        .versions
        .sort_by_key(|package| (!package.starts_with(&prefix), package.clone()));
    Ok(Installation {
        server,
        root: folder.to_owned(),
        libraries: unpacked.libraries,
        versions: unpacked.versions,
    })
}

/// Cassandra from Maven Central: its jar and all that it runs with.
fn cassandra(folder: &Path) -> Result<Installation> {
    eprintln!("provision: Cassandra from Maven Central");
    java().context("no java 11 or 17 in JAVA_HOME, /usr/lib/jvm or PATH")?;
    let mut parts = Server::Cassandra.recipe().split(':');
    let (Some(group), Some(artifact), Some(version)) = (parts.next(), parts.next(), parts.next()) else {
        bail!("{} is no Maven coordinate", Server::Cassandra.recipe());
    };
    fs::write(folder.join("pom.xml"), pom(group, artifact, version))?;
    let lib = folder.join("lib");
    answer(
        Command::new("mvn")
            .args(["-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"])
            .arg(format!("-DoutputDirectory={}", lib.display()))
            .current_dir(folder),
    )?;
    let mut versions = Vec::new();
    for entry in fs::read_dir(&lib).with_context(|| lib.display().to_string())? {
        versions.push(entry?.file_name().to_string_lossy().into_owned());
    }
    versions.sort_by_key(|jar| (!jar.starts_with(artifact), jar.clone()));
    Ok(Installation {
        server: Server::Cassandra,
        root: folder.to_owned(),
        libraries: Vec::new(),
        versions,
    })
}

/// chdb from PyPI, in a Python environment of its own. Its other dependencies are for data frames, which nothing here uses.
fn chdb(folder: &Path) -> Result<Installation> {
    eprintln!("provision: chdb from PyPI");
    answer(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let packages = Server::Chdb.recipe().split(' ');
    answer(
        Command::new(folder.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-deps"])
            .args(packages.clone()),
    )?;
    Ok(Installation {
        server: Server::Chdb,
        root: folder.to_owned(),
        libraries: Vec::new(),
        versions: packages.map(|package| package.replacen("==", "=", 1)).collect(),
    })
}

fn pom(group: &str, artifact: &str, version: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tidemill</groupId><artifactId>provision</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>
  </dependencies>
</project>
"
    )
}

/// What a program printed, or its last words when it failed.
pub(crate) fn answer(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => anyhow!("{program} is not installed"),
            _ => anyhow!("{program}: {error}"),
        })?;
    if !output.status.success() {
        let words = [output.stderr, output.stdout].concat();
        bail!("{program}: {}", last_line(&String::from_utf8_lossy(&words)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The first line that names an error, else the last line.
fn last_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines
        .clone()
        .find(|line| line.starts_with("E: ") || line.starts_with("[ERROR] "));
    error.or_else(|| lines.next_back()).unwrap_or("failed without a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_explains() {
        assert_eq!(
            last_line("Reading…\nE: Unable to locate package x\nmore"),
            "E: Unable to locate package x"
        );
        assert_eq!(last_line("one\ntwo\n\n"), "two");
        assert_eq!(last_line(""), "failed without a word");
    }

    #[test]
    fn a_missing_program_is_one_line() {
        let error = answer(&mut Command::new("tidemill-no-such-program")).expect_err("it does not exist");
        assert_eq!(error.to_string(), "tidemill-no-such-program is not installed");
    }

    #[test]
    fn a_new_installation_takes_the_place_of_the_old() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let (new, place) = (cache.path().join(".new.1"), cache.path().join("server"));
        for content in ["first", "second"] {
            fs::create_dir(&new).expect("a folder");
            fs::write(new.join("file"), content).expect("a file");
            put_in_place(&new, &place).expect("a rename");
            assert_eq!(fs::read_to_string(place.join("file")).expect("the file"), content);
        }
        assert_eq!(
            fs::read_dir(cache.path()).expect("the folder").count(),
            1,
            "nothing else is left"
        );
    }
}
