//! Locates the tables of a session's statements.

use std::path::{Path, PathBuf};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tidemill_ads::sql::StatementKind;

use super::{Attached, Found, KnownNames, is_object};
use crate::format::Format;
use crate::location::{Location, Place};
use crate::session::Session;
use crate::stores::server::ServerUrl;
use crate::{Error, Result};

impl Session {
    /// Whether a database or a folder is attached under this name.
    ///
    /// # Errors
    ///
    /// As [`Names::path`](super::Names::path).
    pub fn has_schema(&self, name: &str) -> Result<bool> {
        Ok(self.names().attached_schema(name)?.is_some())
    }

    /// Checks that attached files and folders exist; a server is not asked before it is read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a path that does not exist; [`Error::Unsupported`] for a URL of an unknown store.
    pub fn check_attached(&self) -> Result<()> {
        let names = self.names();
        for (name, place) in names.attached() {
            let is_elsewhere = ServerUrl::new(place).is_some() || is_object(place);
            if is_elsewhere || names.attached_schema(name)?.is_some() {
                continue;
            }
            names.find(name)?;
        }
        Ok(())
    }

    /// The table that `name` refers to: an attached name, a path, a pattern, a URL, `-` for standard input, or a file name without its
    /// extension. Among files that differ only in their extension, the xBase table is chosen; [`Session::notes`] lists the others. All
    /// statements find tables by this rule.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the place that was searched and what exists there; [`Error::Ambiguous`] if files of different formats share
    /// the name and none, or more than one, is an xBase table; [`Error::Unsupported`] for what is not a table; [`Error::Io`].
    pub fn locate<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Location>> {
        self.find(name).boxed()
    }

    async fn find(&self, name: &str) -> Result<Location> {
        if let Some(known) = self.known_names.get(name) {
            return Ok(known);
        }
        let folders = KnownNames::folders(self.names(), name);
        match self.names().find(name)? {
            Found::Object(url) => Location::object(url).await,
            Found::Table { location, namesakes } => {
                if let Some(folders) = folders
                    && namesakes.is_empty()
                {
                    self.known_names.insert(name, &location, folders);
                }
                if !namesakes.is_empty() {
                    let others: Vec<String> = namesakes.iter().map(Location::to_string).collect();
                    self.note(format!(
                        "{name} is {location}; {} {} the same name (write the extension, or --attach {name}=FILE)",
                        others.join(", "),
                        if others.len() == 1 { "has" } else { "have" }
                    ));
                }
                Ok(location)
            }
        }
    }

    /// Checks whether an xBase table with this name may be created. Returns its file, if the name belongs to an attached folder.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for the name of a file of another format, or of a table of a server; [`Error::Denied`] for a path if names
    /// are confined.
    fn check_new_table(&self, name: &str) -> Result<Option<PathBuf>> {
        let refused = |what: String, hint: &str| {
            Err(Error::Unsupported {
                what,
                hint: hint.to_owned(),
            })
        };
        match Format::from_name(Path::new(name)) {
            Some(Format::Xbase) | None => {}
            Some(_) => {
                let hint = "CREATE TABLE and INTO make DBF and ADT tables: name it .dbf, or use tidemill copy";
                return refused(format!("{name}: making a table in this format by a statement"), hint);
            }
        }
        match self.names().within_attached(name)? {
            Some((Attached::Database(database), table)) => {
                let hint = "make it with the server's own client, or use tidemill copy --create";
                refused(format!("{name}: making a table {table} on {database}"), hint)
            }
            Some((Attached::Folder(_), table)) if table.contains(['/', '\\']) => {
                let hint = "name a table of the folder";
                refused(format!("{name}: a path behind the name of an attached folder"), hint)
            }
            Some((Attached::Folder(_), _)) => Ok(Some(self.new_table(name)?.file()?.to_owned())),
            None => match self.names().database() {
                Some(database) if !name.starts_with('#') => {
                    let hint = "make it with the server's own client, or use tidemill copy --create";
                    refused(format!("{name}: making a table on {database}"), hint)
                }
                _ if Format::from_name(Path::new(name)).is_none() && has_schema(name) => {
                    let hint = "attach a folder by its name, or give the file a name that ends with .dbf or .adt";
                    refused(format!("{name}: making a table in a schema that there is not"), hint)
                }
                _ => Ok(None),
            },
        }
    }

    /// As [`Session::check_new_table`], with the file of the table if it already exists.
    ///
    /// # Errors
    ///
    /// As [`Session::check_new_table`] and [`Session::locate`].
    pub(crate) async fn new_file(&self, name: &str) -> Result<Option<PathBuf>> {
        let Some(file) = self.check_new_table(name)? else {
            return Ok(None);
        };
        match self.locate(name).await {
            Ok(location) => Ok(Some(location.file()?.to_owned())),
            Err(Error::NotFound { .. }) => Ok(Some(file)),
            Err(error) => Err(error),
        }
    }

    /// The table that a statement changes, found as by queries: statements other than INSERT change only xBase tables.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for another table; as [`Session::locate`], except for a table that does not exist.
    pub(crate) async fn changed_file(&self, kind: &StatementKind) -> Result<Vec<(String, PathBuf)>> {
        let Some(table) = kind.changed_table() else {
            return Ok(Vec::new());
        };
        let name = table.to_string();
        match self.locate(&name).await {
            Ok(location) => match (location.format, &location.place) {
                (Format::Xbase, Place::File(path)) => Ok(vec![(name, path.clone())]),
                _ => Err(Error::Unsupported {
                    what: format!("{location}: changing a table that is not of xBase"),
                    hint: "UPDATE and DELETE also change rows of PostgreSQL, MySQL and SQLite, and INSERT INTO adds rows to tables of \
                           servers; copy writes new tables"
                        .to_owned(),
                }),
            },
            // Temporary tables and cursors of ADS SQL are not files.
            Err(Error::NotFound { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// Whether the name of a table has a schema, and is not that of a file.
fn has_schema(name: &str) -> bool {
    let has_prefix = name.rsplit_once('.').is_some_and(|(schema, _)| !schema.is_empty());
    has_prefix && !name.starts_with('#') && !name.contains(['/', '\\'])
}
