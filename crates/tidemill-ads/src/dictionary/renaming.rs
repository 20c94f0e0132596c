//! Objects of a dictionary get other names, and the files of tables other names and folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tidemill_xbase::TableSet;

use super::administration::{found, not_completed, text_of};
use super::object::{Kind, Object, place};
use super::property::ObjectKind;
use super::users;
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

impl Connection {
    /// Gives an object another name; triggers are named with their tables, `table::trigger`. The files of a table get the name too,
    /// unless `keeps_files` (SAP's help, `AdsDDRenameObject`). It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for an object that is not there, and a name that another has; [`ErrorCode::InvalidObjectType`] for
    /// a kind whose objects keep their names; [`ErrorCode::DdRequestNotCompleted`] for a file that is there already;
    /// [`ErrorCode::FileInUse`] for a table that others have open; [`ErrorCode::IllegalCommandDuringTransaction`] for a table; when files
    /// or the dictionary cannot be written.
    pub fn rename_object(
        &mut self,
        kind: ObjectKind,
        name: &str,
        new: &str,
        keeps_files: bool,
        settings: &Settings,
    ) -> Result<()> {
        let rivals = rivals_of(kind)?;
        self.dictionary_to_change()?.renew()?;
        let (table, new) = match new.split_once("::") {
            Some((table, new)) if kind == ObjectKind::Trigger => (Some(table), new.trim()),
            _ => (None, new.trim()),
        };
        if new.is_empty() {
            return Err(Error::new(
                ErrorCode::InvalidObjectName,
                "an object of a data dictionary has a name",
            ));
        }
        let dictionary = self.dictionary()?;
        let object = dictionary.object(kind, ("", name))?.clone();
        if let Some(table) = table.filter(|table| !table.trim().is_empty())
            && dictionary.with_triggers(table)?.number != object.parent
        {
            let what = format!("{name} stays a trigger of its table, and {table} is another");
            return Err(Error::new(ErrorCode::InvalidObjectName, what));
        }
        if matches!(kind, ObjectKind::User | ObjectKind::UserGroup) {
            users::check_name(&object.name, new)?;
        }
        let is_taken = |known: &&Object| {
            let has_space = matches!(kind, ObjectKind::Trigger | ObjectKind::Function);
            let is_beside = !has_space || known.parent == object.parent;
            rivals.contains(&known.kind) && is_beside && known.number != object.number && known.is_called(new)
        };
        if let Some(known) = dictionary.objects.iter().find(is_taken) {
            let what = format!("the data dictionary has a {known} already");
            return Err(Error::new(ErrorCode::InvalidObjectName, what));
        }
        if matches!(kind, ObjectKind::Function | ObjectKind::Package) && new.contains(['.', ':']) {
            let what = format!("{new}: the name of a function or a package has no points and colons");
            return Err(Error::new(ErrorCode::InvalidObjectName, what));
        }
        if kind == ObjectKind::Table {
            return self.rename_table(&object, new, keeps_files, settings);
        }
        self.dictionary_to_change()?.change(settings, |changing| {
            let mut object = found(changing, |known| known.number == object.number, name)?;
            new.clone_into(&mut object.name);
            changing.replace(&object)
        })?;
        self.statements.forget_names();
        self.hold_to_new_rules(settings)
    }

    fn rename_table(&mut self, table: &Object, new: &str, keeps_files: bool, settings: &Settings) -> Result<()> {
        self.outside_of_transactions("renaming a table")?;
        // Nobody has it open.
        let area = self.area_alone(&table.name, settings)?;
        let path = self.dictionary()?.path(&table.name).transpose()?.unwrap_or_default();
        let mut moves = Moves::default();
        if !keeps_files {
            if new.contains(['/', '\\', ':', '\0']) || [".", ".."].contains(&new) {
                let what = format!("{new:?} is no name of a file: give ADS_KEEP_TABLE_FILE_NAME");
                return Err(Error::new(ErrorCode::InvalidObjectName, what));
            }
            for file in TableSet::of(&path).files()? {
                let mut name = OsString::from(new);
                if let Some(extension) = file.extension() {
                    name.push(".");
                    name.push(extension);
                }
                moves.add(&file, file.with_file_name(name))?;
            }
        }
        self.move_files(table, Some(new), moves, settings)?;
        drop(area);
        Ok(())
    }

    /// Moves the files of a table to another folder, with index files that are named with semicolons between them; the index file that
    /// opens with it goes along unnamed (SAP's help, `AdsDDMoveObjectFile`). It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table or an index file that is not there; [`ErrorCode::InvalidPath`] for a folder that is
    /// none, or lies outside of that of the dictionary; as [`Connection::rename_object`].
    pub fn move_table_file(&mut self, table: &str, folder: &str, indexes: &str, settings: &Settings) -> Result<()> {
        let folder = self.folder_to_move_to(folder, "moving a table")?;
        let dictionary = self.dictionary()?;
        let object = dictionary.table(table)?.clone();
        let path = dictionary.path(table).transpose()?.unwrap_or_default();
        let mut files = TableSet::of(&path).files()?;
        for index in indexes.split(';').map(str::trim).filter(|index| !index.is_empty()) {
            let file = dictionary.path_of_index(dictionary.index_file(object.number, index)?)?;
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let moves = Moves::into_folder(&files, &folder)?;
        let area = self.area_alone(table, settings)?;
        self.move_files(&object, None, moves, settings)?;
        drop(area);
        Ok(())
    }

    /// Moves an index file to another folder. The one that opens with its table by itself stays beside it.
    ///
    /// # Errors
    /// As [`Connection::move_table_file`]; [`ErrorCode::DdRequestNotCompleted`] for an index file that stays.
    pub fn move_index_file(&mut self, table: &str, index: &str, folder: &str, settings: &Settings) -> Result<()> {
        let folder = self.folder_to_move_to(folder, "moving an index file")?;
        let dictionary = self.dictionary()?;
        let object = dictionary.table(table)?.clone();
        let file = dictionary.path_of_index(dictionary.index_file(object.number, index)?)?;
        let area = self.area_alone(table, settings)?;
        if area.is_production(&file) {
            return Err(not_completed(&format!(
                "{index} opens with {table} and stays beside it"
            )));
        }
        let moves = Moves::into_folder(&[file], &folder)?;
        self.move_files(&object, None, moves, settings)?;
        drop(area);
        Ok(())
    }

    fn folder_to_move_to(&mut self, folder: &str, what: &str) -> Result<PathBuf> {
        self.dictionary_to_change()?.renew()?;
        self.outside_of_transactions(what)?;
        let dictionary = self.dictionary()?;
        let place = dictionary.place_inside(folder, dictionary.folder()).map_err(|error| {
            let code = match error.code() {
                ErrorCode::FileNotFound => ErrorCode::InvalidPath,
                code => code,
            };
            Error::new(code, error.to_string())
        })?;
        match place.is_dir() {
            true => Ok(place),
            false => Err(Error::new(
                ErrorCode::InvalidPath,
                format!("{} is no folder", place.display()),
            )),
        }
    }

    /// Moves files of a table, and notes in the dictionary where they are and how the table is called.
    fn move_files(&mut self, table: &Object, new: Option<&str>, moves: Moves, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary()?;
        let mut moved: Vec<(u32, PathBuf)> = Vec::new();
        for object in dictionary
            .children(Kind::Index, table.number)
            .into_iter()
            .chain([table])
        {
            let file = match object.kind {
                Kind::Table => dictionary.path(&table.name).transpose()?.unwrap_or_default(),
                _ => dictionary.path_of_index(object)?,
            };
            if let Some(to) = moves.of(&file) {
                moved.push((object.number, to.to_owned()));
            }
        }
        let named: Vec<_> = moved
            .into_iter()
            .map(|(number, to)| (number, text_of(&dictionary.relative(&to)), to))
            .collect();
        moves.make()?;
        let noted = self.dictionary_to_change().and_then(|dictionary| {
            dictionary.change(settings, |changing| {
                for (number, path, to) in &named {
                    let mut object = found(changing, |known| known.number == *number, &table.name)?;
                    object.values.set(place::PATH, Some([path.as_slice(), &[0]].concat()));
                    if object.kind == Kind::Index {
                        object.name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    }
                    changing.replace(&object)?;
                }
                let Some(new) = new else { return Ok(()) };
                let mut object = found(changing, |known| known.number == table.number, &table.name)?;
                new.clone_into(&mut object.name);
                changing.replace(&object)
            })
        });
        if noted.is_err() {
            moves.take_back();
        }
        self.statements.forget_names();
        noted
    }
}

/// Files that get other names, all or none.
#[derive(Debug, Default)]
struct Moves(Vec<(PathBuf, PathBuf)>);

impl Moves {
    fn into_folder(files: &[PathBuf], folder: &Path) -> Result<Self> {
        let mut moves = Self::default();
        for file in files {
            moves.add(file, folder.join(file.file_name().unwrap_or_default()))?;
        }
        Ok(moves)
    }

    fn add(&mut self, from: &Path, to: PathBuf) -> Result<()> {
        let is_file = std::fs::symlink_metadata(from).is_ok_and(|from| from.is_file());
        if !is_file {
            return Err(not_completed(&format!("{} is no file of its own", from.display())));
        }
        if to != from && to.symlink_metadata().is_ok() {
            return Err(not_completed(&format!("{} is there already", to.display())));
        }
        self.0.push((from.to_owned(), to));
        Ok(())
    }

    /// Where a file goes.
    fn of(&self, file: &Path) -> Option<&Path> {
        let found = self.0.iter().find(|(from, _)| from == file);
        found.map(|(_, to)| to.as_path())
    }

    fn make(&self) -> Result<()> {
        for (done, (from, to)) in self.0.iter().enumerate() {
            if let Err(error) = std::fs::rename(from, to) {
                for (from, to) in self.0.iter().take(done) {
                    let _ = std::fs::rename(to, from);
                }
                let what = format!("cannot move {} to {}: {error}", from.display(), to.display());
                return Err(Error::new(ErrorCode::FileError, what));
            }
        }
        Ok(())
    }

    fn take_back(&self) {
        for (from, to) in &self.0 {
            let _ = std::fs::rename(to, from);
        }
    }
}

/// The kinds of objects that a new name of one may not have.
fn rivals_of(kind: ObjectKind) -> Result<&'static [Kind]> {
    Ok(match kind {
        ObjectKind::Table | ObjectKind::View => &[Kind::Table, Kind::View],
        ObjectKind::Link => &[Kind::Link, Kind::Table, Kind::View, Kind::StoredProc, Kind::Function],
        ObjectKind::Relation => &[Kind::Relation],
        ObjectKind::User | ObjectKind::UserGroup => &[Kind::User, Kind::Group],
        ObjectKind::Procedure => &[Kind::StoredProc],
        ObjectKind::Function => &[Kind::Function],
        ObjectKind::Package => &[Kind::Package],
        ObjectKind::Trigger => &[Kind::Trigger],
        _ => {
            let what = "tables, views, links, relations, users, groups, procedures, functions, packages and triggers get other names";
            return Err(Error::new(ErrorCode::InvalidObjectType, what));
        }
    })
}
