//! Confined names: tables of the folder and of attached places, but no paths, for users who must not see the rest of the machine.

use std::path::{Path, PathBuf};

use tidemill_trust::without_secrets;

use super::{Attached, Found, Names, existing_in_any_case, is_object};
use crate::location::{Location, Place};
use crate::stores::server::ServerUrl;
use crate::{Error, Result};

impl Names {
    /// Sets whether names may only be tables of the folder and of attached places. Default: no.
    pub(crate) fn set_confined(&mut self, confined: bool) {
        self.is_confined = confined;
    }

    /// Lets files below a folder be named by absolute paths although names are confined.
    pub(crate) fn allow_paths(&mut self, folder: PathBuf) {
        self.allowed.push(folder);
    }

    /// The file of an allowed path, after links are resolved.
    fn allowed_file(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(name);
        let is_allowed = path.is_absolute() && self.allowed.iter().any(|folder| is_within(path, folder));
        (is_allowed && path.is_file()).then(|| path.to_owned())
    }

    /// The folders that contain all named tables; `None` if names are not confined.
    ///
    /// # Errors
    ///
    /// As [`Names::path`].
    pub(crate) fn confined_to(&self) -> Result<Option<Vec<PathBuf>>> {
        if !self.is_confined {
            return Ok(None);
        }
        let mut folders: Vec<PathBuf> = self.dir.iter().chain(&self.allowed).cloned().collect();
        for (name, _) in self.attached() {
            if let Some(Attached::Folder(folder)) = self.attached_schema(name)?
                && !folders.contains(&folder)
            {
                folders.push(folder);
            }
        }
        Ok(Some(folders))
    }

    /// The folder of new tables that are named without a path.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] if names are confined and there is no folder.
    pub(crate) fn folder_of_new_tables(&self) -> Result<&Path> {
        match self.folder() {
            Some(folder) => Ok(folder),
            None if self.is_confined => Err(Error::Denied {
                what: "a new table without a schema".to_owned(),
                hint: "write the name of a schema before it".to_owned(),
            }),
            None => Ok(Path::new("")),
        }
    }

    /// # Errors
    ///
    /// [`Error::Denied`] for a name with a path, if names are confined.
    pub(crate) fn check_plain(&self, name: &str) -> Result<()> {
        let is_place = name.contains(['/', '\\']) || name == "-" || name == "..";
        match self.is_confined && (is_place || ServerUrl::new(name).is_some() || is_object(name)) {
            false => Ok(()),
            true => Err(Error::Denied {
                what: format!("{}: a path or a URL in place of a table", without_secrets(name)),
                hint: "name a table of the folders and databases that are served".to_owned(),
            }),
        }
    }

    /// A table of the folder or the database, by its name, or by an allowed path.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for a path, a pattern, a URL, and a symbolic link out of the folder; as [`Names::find`].
    pub(super) fn by_name(&self, name: &str) -> Result<Found> {
        if let Some(path) = self.allowed_file(name) {
            return Location::existing(&path).map(Found::table);
        }
        self.check_plain(name)?;
        if let Some(database) = &self.database {
            return Location::server(database.with_table(name)).map(Found::table);
        }
        let Some(folder) = &self.dir else {
            return Err(Error::NotFound {
                name: name.to_owned(),
                hint: "no folder is served: write the name of a database before it".to_owned(),
            });
        };
        let file = existing_in_any_case(&folder.join(name)).filter(|path| path.is_file());
        let found = match file {
            Some(path) => Found::table(Location::existing(&path)?),
            None => self.by_stem(name)?,
        };
        if let Found::Table { location, .. } = &found
            && let Place::File(path) = &location.place
            && !is_within(path, folder)
        {
            return Err(Error::Denied {
                what: format!("{name}: a symbolic link out of the folder"),
                hint: "copy the table into the folder, or have the administrator attach it".to_owned(),
            });
        }
        Ok(found)
    }
}

fn is_within(path: &Path, folder: &Path) -> bool {
    let is_link = |path: &Path| path.symlink_metadata().map_or(true, |found| found.is_symlink());
    if path.parent() == Some(folder) && path.file_name().is_some() && !is_link(path) {
        return true;
    }
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_tables_are_in_a_folder_that_is_served() {
        let mut names = Names::default();
        assert_eq!(names.folder_of_new_tables().expect("here"), Path::new(""));
        names.set_confined(true);
        assert!(names.folder_of_new_tables().is_err());
        names.set_dir(PathBuf::from("books"));
        assert_eq!(names.folder_of_new_tables().expect("known"), Path::new("books"));
    }

    #[test]
    fn only_tables_of_the_folders_are_found() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        for name in ["books", "books/old", "shop"] {
            std::fs::create_dir(at(name)).expect("made");
        }
        for name in ["books/orders.csv", "books/old/a.csv", "shop/items.csv", "secret.csv"] {
            std::fs::write(at(name), "a\n1\n").expect("written");
        }
        for name in ["books/link.csv", "shop/secret.csv"] {
            std::os::unix::fs::symlink(at("secret.csv"), at(name)).expect("linked");
        }
        let mut names = Names::default();
        names.set_dir(at("books"));
        names.attach("shop", at("shop").to_string_lossy());
        names.attach("known", at("secret.csv").to_string_lossy());
        let outside = at("secret.csv").to_string_lossy().into_owned();
        for is_confined in [false, true] {
            names.set_confined(is_confined);
            for name in ["orders", "ORDERS.csv", "shop.items", "known"] {
                assert!(names.find(name).is_ok(), "{name}");
            }
            let paths = [
                outside.as_str(),
                "../secret.csv",
                "old/a.csv",
                "-",
                "old\\a.csv",
                "link",
                "link.csv",
                "shop.secret",
                "shop./etc/passwd",
                "shop...",
                "https://localhost/x.csv",
                "s3://bucket/x.csv",
            ];
            for name in paths {
                let found = names.find(name);
                match is_confined {
                    true => assert!(
                        matches!(found, Err(Error::Denied { .. } | Error::NotFound { .. })),
                        "{name}: {found:?}"
                    ),
                    false => assert!(!matches!(found, Err(Error::Denied { .. })), "{name}: {found:?}"),
                }
            }
            for name in ["*.csv", "o*"] {
                assert_eq!(names.find(name).is_ok(), !is_confined, "{name}");
            }
        }
        assert_eq!(names.confined_to().expect("known"), Some(vec![at("books"), at("shop")]));

        // An allowed folder, but no link out of it.
        names.allow_paths(at("shop"));
        let path = |name: &str| at(name).to_string_lossy().into_owned();
        assert!(names.find(&path("shop/items.csv")).is_ok());
        for name in [
            "shop/secret.csv",
            "shop/../secret.csv",
            "shop/*.csv",
            "shop/none.csv",
            "secret.csv",
        ] {
            assert!(matches!(names.find(&path(name)), Err(Error::Denied { .. })), "{name}");
        }
        assert!(matches!(names.find("shop/items.csv"), Err(Error::Denied { .. })));
    }
}
