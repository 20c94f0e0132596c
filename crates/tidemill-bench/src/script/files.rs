//! Which files a script may read: a workload is a program of somebody else's, more often than not.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The files of a script: those in its folder and below, and what the command line names as the value of a parameter.
#[derive(Debug)]
pub(super) enum Files {
    /// Whatever the user may read.
    Any,
    /// In these folders, and these files. As the system names them: without links and dots.
    Within(Vec<PathBuf>),
}

impl Files {
    /// Those of the script at `path`, which was given `parameters`.
    pub(super) fn of(path: &Path, parameters: &[(String, String)], is_any: bool) -> Self {
        if is_any {
            return Self::Any;
        }
        // A workload that comes with the program has no folder.
        let folder = path
            .canonicalize()
            .ok()
            .and_then(|path| Some(path.parent()?.to_owned()));
        // A text may be written as one of Rune, in quotes.
        let named = parameters.iter().filter_map(|(_, value)| {
            let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            Path::new(quoted.unwrap_or(value)).canonicalize().ok()
        });
        Self::Within(folder.into_iter().chain(named).collect())
    }

    /// Opens a file, found from the folder that the program runs in.
    ///
    /// # Errors
    /// Those of the system, each with the name, and [`ErrorKind::PermissionDenied`] for a file that the script may not read.
    pub(super) fn open(&self, name: &str) -> io::Result<File> {
        let about = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
        let Self::Within(places) = self else {
            return File::open(name).map_err(about);
        };
        let refused = |why: &str| {
            let text = format!(
                "{name}: {why}; a workload may read what is in its own folder and what a -P names, and with --allow-files everything"
            );
            Err(io::Error::new(ErrorKind::PermissionDenied, text))
        };
        let path = match Path::new(name).canonicalize() {
            Ok(path) => path,
            // Whether a file elsewhere is there is none of its business.
            Err(error)
                if error.kind() == ErrorKind::NotFound && !name.contains("..") && !Path::new(name).is_absolute() =>
            {
                return Err(about(error));
            }
            Err(_) => return refused("there is no such file that the workload may read"),
        };
        if !places.iter().any(|place| path.starts_with(place)) {
            return refused("it is elsewhere");
        }
        // By the name without links: one that is put there meanwhile leads nowhere else.
        let file = File::open(&path).map_err(about)?;
        match file.metadata().map_err(about)?.is_file() {
            true => Ok(file),
            false => refused("it is no file"),
        }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// As [`Self::open`], and for bytes that are no UTF-8.
    pub(super) fn text(&self, name: &str) -> io::Result<String> {
        let text = io::read_to_string(self.open(name)?);
        text.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_script_reads_its_folder_and_what_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        for name in ["own", "own/data", "named", "quoted"] {
            fs::create_dir(path(name)).unwrap();
        }
        for name in [
            "own/a.rn",
            "own/a.txt",
            "own/data/b.txt",
            "named/c.txt",
            "quoted/d.txt",
            "secret.txt",
        ] {
            fs::write(path(name), name).unwrap();
        }
        std::os::unix::fs::symlink(path("secret.txt"), path("own/link.txt")).unwrap();
        std::os::unix::fs::symlink(path("own/data"), path("own/inside")).unwrap();
        let given = [
            ("place".to_owned(), path("named/c.txt")),
            ("rows".to_owned(), "7".to_owned()),
            ("folder".to_owned(), format!("\"{}/\"", path("quoted"))),
        ];
        let files = Files::of(Path::new(&path("own/a.rn")), &given, false);
        for name in [
            "own/a.txt",
            "own/data/b.txt",
            "own/inside/b.txt",
            "own/data/../a.txt",
            "named/c.txt",
            "quoted/d.txt",
        ] {
            assert!(files.text(&path(name)).is_ok(), "{name}");
        }
        for name in [
            "secret.txt",
            "own/link.txt",
            "own/../secret.txt",
            "own/data",
            "nothing.txt",
            "../../etc/passwd",
        ] {
            let name = if name.starts_with("..") {
                name.to_owned()
            } else {
                path(name)
            };
            let error = files.text(&name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{name}");
            assert!(error.to_string().contains("--allow-files"), "{error}");
        }
        let none = Files::of(Path::new("key_value.rn"), &[], false);
        assert!(none.text(&path("own/a.txt")).is_err());
        assert!(Files::Any.text(&path("secret.txt")).is_ok());
        let error = Files::Any.text("nowhere.txt").unwrap_err();
        assert!(error.to_string().contains("nowhere.txt"), "{error}");
    }
}
