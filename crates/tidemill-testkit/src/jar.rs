//! Jars of Maven Central, for the drivers that they are.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::installation::{cache_folder, once};
use crate::need::not_run;
use crate::process::run;

/// The jar of an artifact as Maven names it (`org.postgresql:postgresql:42.7.7`), without what it depends on, or `None` after noting that
/// the calling test does not run and why: no Maven, or no artifact.
#[must_use]
#[track_caller]
pub fn jar(artifact: &str) -> Option<PathBuf> {
    match find(artifact, &cache_folder()) {
        Ok(file) => Some(file),
        Err(why) => {
            not_run(&why, Location::caller());
            None
        }
    }
}

fn find(artifact: &str, cache: &Path) -> Result<PathBuf, String> {
    let mut parts = artifact.split(':').skip(1);
    let (Some(name), Some(version)) = (parts.next(), parts.next()) else {
        return Err(format!("{artifact}: expected a group, a name and a version"));
    };
    let file = cache.join("jars").join(format!("{name}-{version}.jar"));
    once(&file, |unfinished| {
        let mut maven = Command::new("mvn");
        maven
            .args(["-q", "-B", "dependency:copy"])
            .arg(format!("-Dartifact={artifact}"))
            .arg(format!("-DoutputDirectory={}", unfinished.display()))
            .current_dir(unfinished);
        run(&mut maven, "mvn dependency:copy")?;
        Ok(unfinished.join(format!("{name}-{version}.jar")))
    })?;
    match file.is_file() {
        true => Ok(file),
        false => Err(format!("mvn dependency:copy {artifact}: there is no jar")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_jar_that_is_kept_is_not_fetched() {
        let cache = tempfile::tempdir().expect("a folder");
        assert!(find("postgresql", cache.path()).is_err());
        let kept = cache.path().join("jars/postgresql-1.jar");
        fs::create_dir(cache.path().join("jars")).expect("made");
        fs::write(&kept, "").expect("written");
        assert_eq!(find("org.postgresql:postgresql:1", cache.path()), Ok(kept));
    }
}
