//! The files of the tables that statements name.

use std::path::PathBuf;

use super::ConnectionTables;
use crate::dictionary::Dictionary;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::statement::TableName;

impl ConnectionTables<'_> {
    /// The file of a table, whatever the case of its name, with its extension or without. The name of a link or of the data dictionary may
    /// stand before it. Any other name before it is an error: a table of another database is not the one of the same name here.
    pub(super) fn find(&mut self, name: &TableName) -> Result<PathBuf> {
        if let [link, table] = name.parts.as_slice()
            && let Some(path) = self.connection.linked_table(link, table, self.settings)?
        {
            return Ok(path);
        }
        let written = name.to_string();
        let own = self.options.table.table_type.extension();
        let other = if own == "adt" { "dbf" } else { "adt" };
        let mut candidates = vec![
            written.clone(),
            format!("{written}.{own}"),
            format!("{written}.{other}"),
        ];
        if let [database, table] = name.parts.as_slice()
            && self.is_database(database)
        {
            candidates.push(table.clone());
        }
        for candidate in &candidates {
            let path = self.connection.path_of(candidate, own, self.settings)?;
            if path.is_file() {
                return Ok(path);
            }
        }
        let why = format!(
            "Either ACE could not find the specified file, or you do not have sufficient rights to access the file.  Table name: {name}"
        );
        Err(Error::new(Kind::NoTable, why))
    }

    /// Whether a name is that of the connection's data dictionary.
    fn is_database(&self, name: &str) -> bool {
        let dictionary = self.connection.dictionary.as_ref();
        dictionary
            .and_then(Dictionary::database_name)
            .is_some_and(|known| known.eq_ignore_ascii_case(name))
    }
}
