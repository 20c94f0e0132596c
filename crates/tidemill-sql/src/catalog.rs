//! The tables that statements of a session can name without a path.

use std::path::Path;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::folder::Folder;
use crate::location::Location;
use crate::names::Attached;
use crate::session::Session;
use crate::{Error, Result};

/// Tables by their names in statements.
pub type NamedTables = Vec<(String, Location)>;

/// The name of an attached database or folder, and its tables; `None` for those of the session itself.
pub type SchemaTables = (Option<String>, NamedTables);

impl Session {
    /// The tables of the session's folder or database, with those attached by a name; then the tables of each attached database and folder.
    ///
    /// Files whose names differ only in the extension are listed with it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the folder cannot be listed; [`Error::Server`](crate::Error::Server) if a server does not answer.
    pub fn all_tables(&self) -> BoxFuture<'_, Result<Vec<SchemaTables>>> {
        self.list_tables().boxed()
    }

    async fn list_tables(&self) -> Result<Vec<SchemaTables>> {
        let names = self.names();
        let mut own = match names.database() {
            Some(database) => named(self.tables_of(database).await?),
            None => named(Folder::list(names.folder().unwrap_or(Path::new(".")))?.tables),
        };
        let mut databases = Vec::new();
        for (name, _) in names.attached() {
            let tables = match names.attached_schema(name)? {
                Some(Attached::Database(database)) => Some(self.tables_of(&database).await?),
                Some(Attached::Folder(folder)) => Some(Folder::list(&folder)?.tables),
                None => None,
            };
            match tables {
                Some(tables) => databases.push((Some(name.to_owned()), named(tables))),
                None => match self.locate(name).await {
                    Ok(location) => own.push((name.to_owned(), location)),
                    // An attached place that does not exist is not listed.
                    Err(Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                },
            }
        }
        let mut all = vec![(None, own)];
        all.append(&mut databases);
        Ok(all)
    }
}

pub(crate) fn named(locations: Vec<Location>) -> NamedTables {
    let stems: Vec<String> = locations.iter().map(Location::table_name).collect();
    let name = |(location, stem): (Location, &String)| {
        let namesakes = stems.iter().filter(|other| other.eq_ignore_ascii_case(stem)).count();
        let file = location.file().ok().and_then(Path::file_name);
        let name = match (namesakes, file) {
            (2.., Some(file)) => file.to_string_lossy().into_owned(),
            _ => stem.clone(),
        };
        (name, location)
    };
    locations.into_iter().zip(&stems).map(name).collect()
}
