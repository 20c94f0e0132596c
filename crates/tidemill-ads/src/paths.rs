//! From the names that programs of other systems use to paths: backslashes, drive letters, shares, and letters of either case.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorCode, Result};

/// Where files are looked for, and which folder a drive or a share is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paths {
    /// Beginnings of names, in capitals and with slashes, and the folders that they are.
    roots: Vec<(String, PathBuf)>,
    /// Names that stand for one file each, in capitals, or for what is no table of ours, and why.
    files: Vec<(String, Result<PathBuf, String>)>,
    /// Where a name without a folder is looked for first, as the program names it. Default: the connection's folder.
    pub default_folder: Option<String>,
    /// Where it is looked for then.
    pub search_path: Vec<String>,
    /// Folders that a name must lead into, whole and without symbolic links. Default: none; a name leads anywhere.
    within: Option<Vec<PathBuf>>,
}

impl Paths {
    /// Drives and shares as a setting names them: `C:=/srv/data;\\SERVER\SHARE=/srv/share`.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidOption`] for a part that is not `name=folder`.
    pub fn with_drives(setting: &str) -> Result<Self> {
        let mut roots = Vec::new();
        for part in setting.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, folder)) = part
                .split_once('=')
                .filter(|(name, folder)| !name.is_empty() && !folder.is_empty())
            else {
                let what = format!("{part:?} is not like C:=/srv/data");
                return Err(Error::new(ErrorCode::InvalidOption, what));
            };
            let name = name.replace('\\', "/").trim_end_matches('/').to_uppercase();
            roots.push((name, PathBuf::from(folder)));
        }
        // The longest first, so that a folder of a drive may be elsewhere than the drive.
        roots.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Ok(Self {
            roots,
            ..Self::default()
        })
    }

    /// Gives a file a name of its own, before all others.
    pub fn attach(&mut self, name: &str, file: impl Into<PathBuf>) {
        self.files.push((name.to_uppercase(), Ok(file.into())));
    }

    /// Takes a name for something that cannot be opened, so that no other file of this name is.
    pub fn refuse(&mut self, name: &str, why: impl Into<String>) {
        self.files.push((name.to_uppercase(), Err(why.into())));
    }

    /// Refuses every name that leads out of these folders, be it by a path, a drive or a symbolic link. Names that are attached lead where
    /// they were told.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPath`] for a folder that is not there.
    pub fn confine(&mut self, folders: impl IntoIterator<Item = PathBuf>) -> Result<()> {
        let whole = folders.into_iter().map(|folder| {
            let whole = folder.canonicalize();
            whole.map_err(|error| Error::new(ErrorCode::InvalidPath, format!("{}: {error}", folder.display())))
        });
        self.within = Some(whole.collect::<Result<_>>()?);
        Ok(())
    }

    /// # Errors
    /// [`ErrorCode::InvalidPath`] for a path out of the folders that names are confined to.
    fn check_confined(&self, name: &str, path: PathBuf) -> Result<PathBuf> {
        let Some(folders) = &self.within else { return Ok(path) };
        // A new file is where its folder is.
        let whole = match path.symlink_metadata() {
            Ok(_) => path.canonicalize().ok(),
            Err(_) => match (path.parent(), path.file_name()) {
                (Some(folder), Some(file)) => folder.canonicalize().ok().map(|folder| folder.join(file)),
                _ => None,
            },
        };
        let is_attached = self.files.iter().any(|(_, file)| file.as_ref() == Ok(&path));
        match is_attached || whole.is_some_and(|whole| folders.iter().any(|folder| whole.starts_with(folder))) {
            true => Ok(path),
            false => {
                let what = format!("{name}: it is outside of the folders whose tables may be named here");
                Err(Error::new(ErrorCode::InvalidPath, what))
            }
        }
    }

    /// The file that a name stands for, with or without an extension; `None` for a name that is looked for in folders.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPath`] for a name that was [refused](Self::refuse).
    pub(crate) fn attached(&self, name: &str) -> Result<Option<PathBuf>> {
        if self.files.is_empty() {
            return Ok(None);
        }
        let upper = name.trim().to_uppercase();
        match self.files.iter().find(|(attached, _)| *attached == upper) {
            None => Ok(None),
            Some((_, Ok(file))) => Ok(Some(file.clone())),
            Some((_, Err(why))) => Err(Error::new(ErrorCode::InvalidPath, why.clone())),
        }
    }

    /// Whether files can be had at a location: a folder, a drive or share that a folder is set for, or a file in one of these.
    pub fn reach(&self, location: &str) -> bool {
        self.resolve(location, Path::new("."))
            .is_ok_and(|path| path.is_dir() || path.parent().is_some_and(Path::is_dir))
    }

    /// The path of a name; one that is not whole begins in `folder`. Each part of it that is not there in these letters is
    /// looked for in any case.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidPath`] for a drive that is not mapped and for a path out of the folders that names are
    /// [confined](Self::confine) to, [`ErrorCode::NoConnection`] for a server.
    pub fn resolve(&self, name: &str, folder: &Path) -> Result<PathBuf> {
        let name = name.trim();
        match self.attached(name)? {
            Some(file) => Ok(file),
            None => self.check_confined(name, self.found(name, folder)?),
        }
    }

    /// Where a name without a folder is looked for first; `None`: in the connection's folder.
    ///
    /// # Errors
    /// As [`Paths::resolve`].
    pub(crate) fn default_path(&self) -> Result<Option<PathBuf>> {
        let folder = self.default_folder.as_deref();
        folder.map(|folder| self.resolve(folder, Path::new("."))).transpose()
    }

    fn found(&self, name: &str, folder: &Path) -> Result<PathBuf> {
        let found = self.placed(name, folder)?;
        if name.contains(['/', '\\', ':']) || self.search_path.is_empty() || found.exists() {
            return Ok(found);
        }
        // A folder that cannot be reached has no file.
        let folders = self.search_path.iter();
        let folders = folders.filter_map(|folder| self.placed(folder.trim(), Path::new(".")).ok());
        let mut elsewhere = folders.map(|folder| in_any_case(&folder, name));
        Ok(elsewhere.find(|path| path.exists()).unwrap_or(found))
    }

    /// A name without the search path.
    fn placed(&self, name: &str, folder: &Path) -> Result<PathBuf> {
        let name = name.replace('\\', "/");
        let upper = name.to_uppercase();
        for (root, path) in &self.roots {
            // Capitals may be longer than small letters; then the name is none of these.
            if let Some(rest) = upper.strip_prefix(root.as_str())
                && (rest.is_empty() || rest.starts_with('/') || root.ends_with(':'))
                && let Some(rest) = name.get(root.len()..)
            {
                return Ok(in_any_case(path, rest.trim_start_matches('/')));
            }
        }
        if name.as_bytes().get(1) == Some(&b':') {
            let what = format!(
                "{name}: no folder is set for the drive {}",
                name.get(..2).unwrap_or_default()
            );
            return Err(Error::new(ErrorCode::InvalidPath, what));
        }
        if name.starts_with("//") {
            let what = format!("{name}: servers are not supported, and no folder is set for the share");
            return Err(Error::new(ErrorCode::NoConnection, what));
        }
        let root = if name.starts_with('/') { Path::new("/") } else { folder };
        Ok(in_any_case(root, name.trim_start_matches('/')))
    }
}

/// A path below a folder, each part in the letters that it has there.
fn in_any_case(folder: &Path, rest: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
        let exact = path.join(part);
        let found = match part == ".." || exact.symlink_metadata().is_ok() {
            true => None,
            false => std::fs::read_dir(&path).ok().and_then(|entries| {
                let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
                let same = |name: &std::ffi::OsString| {
                    name.to_str()
                        .is_some_and(|name| name.to_lowercase() == part.to_lowercase())
                };
                // The same one whatever order the folder is read in.
                names.filter(same).min()
            }),
        };
        path = found.map_or(exact, |name| path.join(name));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_systems_become_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("Data/Old")).unwrap();
        std::fs::write(root.join("Data/Orders.DBF"), b"").unwrap();
        std::fs::write(root.join("Data/Old/x.dbf"), b"").unwrap();
        let drives = format!("C:={0};\\\\srv\\Share={0}/Data", root.display());
        let paths = Paths::with_drives(&drives).unwrap();
        let orders = root.join("Data/Orders.DBF");
        for name in [
            "data\\ORDERS.dbf",
            "C:\\Data\\orders.dbf",
            "c:data/orders.dbf",
            "\\\\SRV\\share\\orders.dbf",
            "./Data/Old/../orders.dbf",
        ] {
            let path = paths.resolve(name, root).unwrap();
            assert_eq!(path.canonicalize().unwrap(), orders.canonicalize().unwrap(), "{name}");
        }
        assert_eq!(paths.resolve("new.dbf", root).unwrap(), root.join("new.dbf"));
        let searched = Paths {
            search_path: vec!["D:\\Gone".to_owned(), "C:\\data\\old".to_owned()],
            default_folder: Some("D:\\Gone".to_owned()),
            ..paths.clone()
        };
        assert_eq!(searched.resolve("X.DBF", root).unwrap(), root.join("Data/Old/x.dbf"));
        assert_eq!(searched.default_path().unwrap_err().code(), ErrorCode::InvalidPath);
        let mut named = paths.clone();
        named.attach("Orders", root.join("Data/Old/x.dbf"));
        assert_eq!(
            named.resolve("ORDERS", folder.path()).unwrap(),
            root.join("Data/Old/x.dbf")
        );
        named.refuse("Books", "Books is a Parquet file");
        assert_eq!(named.attached("orders").unwrap(), Some(root.join("Data/Old/x.dbf")));
        assert_eq!(named.attached("orders.dbf").unwrap(), None);
        assert_eq!(named.attached("BOOKS").unwrap_err().code(), ErrorCode::InvalidPath);
        assert_eq!(
            paths.resolve("D:\\x.dbf", root).unwrap_err().code(),
            ErrorCode::InvalidPath
        );
        assert_eq!(
            paths.resolve("\\\\other\\x\\y.dbf", root).unwrap_err().code(),
            ErrorCode::NoConnection
        );
        std::os::unix::fs::symlink(root.join("Data/Old"), root.join("Data/link")).unwrap();
        let mut confined = paths.clone();
        confined.confine([root.join("Data")]).unwrap();
        confined.attach("known", root.join("known.dbf"));
        for (name, is_allowed) in [
            ("orders.dbf", true),
            ("new.dbf", true),
            ("old/x.dbf", true),
            ("link/x.dbf", true),
            ("C:\\Data\\orders.dbf", true),
            ("known", true),
            ("../outside.dbf", false),
            ("C:\\outside.dbf", false),
            ("/etc/passwd", false),
            ("none/x.dbf", false),
            ("..", false),
        ] {
            let path = confined.resolve(name, &root.join("Data"));
            assert_eq!(path.is_ok(), is_allowed, "{name}: {path:?}");
        }
        std::fs::remove_file(root.join("Data/link")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("Data/link")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("Data/y.dbf")).unwrap();
        std::os::unix::fs::symlink("/tmp/nothing-is-here", root.join("Data/z.dbf")).unwrap();
        for name in ["link/passwd", "link/new.dbf", "y.dbf", "z.dbf"] {
            let path = confined.resolve(name, &root.join("Data"));
            assert_eq!(path.unwrap_err().code(), ErrorCode::InvalidPath, "{name}");
        }
        for bad in ["C:", "=x", "C:=;D:=/x"] {
            assert_eq!(
                Paths::with_drives(bad).unwrap_err().code(),
                ErrorCode::InvalidOption,
                "{bad}"
            );
        }
    }
}
