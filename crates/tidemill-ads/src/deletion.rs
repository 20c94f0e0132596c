//! Tables that go with their files.

use tidemill_xbase::{OpenMode, TableSet};

use crate::connection::{AreaId, Connection, delete_file};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

impl Connection {
    /// Closes a table that is open exclusively and removes its files: its memos and the index files that are open with it. Of a table
    /// that a data dictionary has, the dictionary forgets it too.
    ///
    /// # Errors
    /// [`ErrorCode::TableNotExclusive`]; [`ErrorCode::IllegalCommandDuringTransaction`]; [`ErrorCode::InvalidHandle`]; as
    /// [`Connection::remove_dictionary_table`]; when a file cannot be removed.
    pub fn delete_table(&mut self, id: AreaId, settings: &Settings) -> Result<()> {
        self.outside_of_transactions("deleting a table")?;
        let area = self.area(id)?;
        let path = area.path().to_owned();
        if area.options().mode != OpenMode::Exclusive || area.is_cursor() {
            let what = format!("{}: the table is not open exclusively", path.display());
            return Err(Error::new(ErrorCode::TableNotExclusive, what));
        }
        let indexes = area.index_files();
        let known = self.dictionary_name(&path);
        if known.is_none() && self.temporary.field_names(&path).is_none() {
            self.check_administrator()?;
        }
        self.close_table(id)?;
        self.statements.close(&path);
        if let Some(known) = known {
            return self.remove_dictionary_table(&known, true, settings);
        }
        let mut files = TableSet::of(&path).files()?;
        files.extend(indexes);
        files.retain(|file| *file != path && file.is_file());
        files.sort();
        files.dedup();
        // The table first: what is left without it harms nobody.
        delete_file(&path)?;
        self.temporary.forget(&path);
        self.statements.forget_names();
        files.iter().try_for_each(|file| delete_file(file))
    }
}
