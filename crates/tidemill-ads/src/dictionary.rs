//! Data dictionaries (`.add`): the tables of a database, by which names, where their files are, and by which rules they are changed.
//!
//! A dictionary is an ADT whose records are objects: each has a number, the number of the object that it belongs to, a type, a name, and
//! a list of values (docs/formats/adt.md). [`file`] reads and writes it, [`object`] says which value stands where,
//! [`administration`] and [`relating`] make and change dictionaries for programs, [`rules`] and [`relations`] see to it that they hold.
//!
//! # What this module does not do
//!
//! Users, rights and passwords by Advantage are encrypted, in a way that is not known: a dictionary that has any is opened by who trusts
//! it alone.
//! Tables with rules that are not known are read and not changed.

mod administration;
mod altering;
mod creating;
mod database;
mod file;
mod indexes;
mod links;
mod object;
mod packages;
mod programs;
mod property;
mod relating;
mod relations;
mod renaming;
mod replication;
mod rules;
mod switching;
mod triggers;
mod users;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tidemill_xbase::stamp::{FileMemo, FileStamp};
use tidemill_xbase::{CodePage, LogOptions, TransactionLog};

pub use administration::NewTable;
pub(crate) use links::{Credentials, Links};
pub use links::{LinkOptions, NewLink};
use object::{Kind, Object, place};
pub use programs::{NewFunction, NewProcedure};
pub use property::{
    DatabaseProperty, FieldProperty, ObjectKind, PropertyShape, PropertyValue, TableProperty, Validation,
};
pub use relating::NewRelation;
pub use relations::RelationRule;
pub use replication::{NewArticle, NewSubscription};
pub(crate) use rules::compiled as compiled_rules;
pub use switching::TriggerScope;
pub use triggers::{NewTrigger, TriggerContainer, TriggerEvent, TriggerMoment};
pub(crate) use triggers::{TableTriggers, Trigger, live_view};
pub(crate) use users::Login;
pub use users::Rights;

use crate::error::{Error, ErrorCode, Result};
use crate::paths::Paths;
use crate::settings::Settings;

/// The objects of a data dictionary.
#[derive(Debug)]
pub(crate) struct Dictionary {
    file: PathBuf,
    /// Those that paths in it begin with.
    paths: Paths,
    objects: Vec<Object>,
    tables: Vec<DictionaryTable>,
    /// Of each table that has any, by its number; or which one is not understood.
    triggers: BTreeMap<u32, Result<Arc<TableTriggers>, String>>,
    /// What its file looked like when it was read last.
    seen: FileMemo<(), ()>,
    /// What tables with relations are changed through outside of transactions.
    log: OnceLock<TransactionLog>,
}

#[derive(Debug)]
struct DictionaryTable {
    number: u32,
    name: String,
    /// Where it is, or why it cannot be had.
    file: Result<PathBuf, (ErrorCode, String)>,
    indexes: Vec<PathBuf>,
}

impl Dictionary {
    /// Reads a dictionary. Paths in it that begin with a drive or a share are those of `paths`; others lead nowhere but into its folder.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidDictionaryFile`] for a file that is none; as [`Table::open`](tidemill_xbase::Table::open), and for what is
    /// damaged.
    pub(crate) fn read(file: &Path, paths: &Paths) -> Result<Self> {
        let mut dictionary = Self {
            file: file.to_owned(),
            paths: paths.clone(),
            objects: Vec::new(),
            tables: Vec::new(),
            triggers: BTreeMap::new(),
            seen: FileMemo::new(1),
            log: OnceLock::new(),
        };
        dictionary.renew()?;
        Ok(dictionary)
    }

    /// Looks what the dictionary has now.
    ///
    /// # Errors
    /// As [`Dictionary::read`].
    pub(crate) fn read_again(&mut self) -> Result<()> {
        self.objects = file::read(&self.file)?;
        let mut inside = self.paths.clone();
        inside.confine([self.folder().to_owned()])?;
        let tables = self.objects.iter().filter(|object| object.kind == Kind::Table);
        let mut tables: Vec<_> = tables
            .map(|table| DictionaryTable {
                number: table.number,
                name: table.name.clone(),
                file: self.place_of(table, &inside),
                indexes: Vec::new(),
            })
            .collect();
        for index in self.objects.iter().filter(|object| object.kind == Kind::Index) {
            let table = tables.iter_mut().find(|table| table.number == index.parent);
            if let (Some(table), Ok(path)) = (table, self.place_of(index, &inside)) {
                table.indexes.push(path);
            }
        }
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        self.triggers = Self::triggers_of(&self.objects);
        self.tables = tables;
        Ok(())
    }

    /// Where the file of a table or an index is.
    fn place_of(&self, object: &Object, inside: &Paths) -> Result<PathBuf, (ErrorCode, String)> {
        let told = |error: &Error| (error.code(), format!("{}: {object}: {error}", self.file.display()));
        let Some(path) = object.values.text(place::PATH).filter(|path| !path.is_empty()) else {
            return Err((
                ErrorCode::FileNotFound,
                format!("{}: {object} has no file", self.file.display()),
            ));
        };
        let path = CodePage::Cp1252.decode(path);
        let begins_elsewhere = path.get(1..2) == Some(":") || path.starts_with("\\\\") || path.starts_with("//");
        let paths = if begins_elsewhere { &self.paths } else { inside };
        let found = paths.resolve(&path, self.folder()).map_err(|error| told(&error))?;
        Ok(found.canonicalize().unwrap_or(found))
    }

    /// The name of the dictionary's file, without what stands behind its last dot.
    pub(crate) fn database_name(&self) -> Option<&OsStr> {
        self.file.file_stem()
    }

    fn folder(&self) -> &Path {
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    /// What tables with relations are changed through outside of transactions: each change is one.
    pub(crate) fn log(&self, settings: &Settings) -> &TransactionLog {
        let options = LogOptions::new().lock_timeout(settings.lock_timeout);
        self.log.get_or_init(|| TransactionLog::beside_tables(&options))
    }

    /// What about its users cannot be checked; `None` where it has none, and no password.
    pub(crate) fn secrets(&self) -> Option<String> {
        let has_password = |object: &&Object| {
            let mut places = place::DATABASE_SECRETS.into_iter();
            let has_any = object.kind == Kind::Database && places.any(|place| object.values.get(place).is_some());
            has_any && !Self::has_own_password(object)
        };
        let secret = self
            .objects
            .iter()
            .find(|object| has_password(object) || Self::is_foreign(object))?;
        Some(match secret.kind {
            Kind::Database => "a password".to_owned(),
            _ => format!("{secret}"),
        })
    }

    /// The file of a table, by its name in any case; `None` where there is none of this name.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(crate) fn path(&self, name: &str) -> Option<Result<PathBuf>> {
        let name = name.trim();
        let found = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        found.map(|table| table.file.clone().map_err(|(code, what)| Error::new(code, what)))
    }

    /// The names of its tables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|table| table.name.as_str())
    }

    fn table_at(&self, path: &Path) -> Option<&DictionaryTable> {
        let whole = path.canonicalize();
        let path = whole.as_deref().unwrap_or(path);
        let is_at = |table: &&DictionaryTable| table.file.as_deref().is_ok_and(|file| file == path);
        self.tables.iter().find(is_at)
    }

    /// Whether a file is one of its tables.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.table_at(path).is_some()
    }

    /// The index files of a table.
    pub(crate) fn indexes(&self, path: &Path) -> Vec<PathBuf> {
        self.table_at(path).map_or_else(Vec::new, |table| table.indexes.clone())
    }

    /// Refuses to change one of its tables that has rules which are not known.
    ///
    /// # Errors
    /// [`ErrorCode::TableReadOnly`], with the rule.
    pub(crate) fn check_change(&self, path: &Path) -> Result<()> {
        self.table_at(path).map_or(Ok(()), |table| self.check_known(table))
    }

    /// Looks what it has now, where its file may have been changed; returns whether that was so.
    ///
    /// # Errors
    /// As [`Dictionary::read`].
    pub(crate) fn renew(&mut self) -> Result<bool> {
        let stamp = FileStamp::of(&self.file).ok();
        if stamp
            .as_ref()
            .is_some_and(|stamp| self.seen.get(&self.file, stamp, &()).is_some())
        {
            return Ok(false);
        }
        self.read_again()?;
        if let Some(stamp) = stamp {
            self.seen.put(&self.file, &stamp, (), ());
        }
        Ok(true)
    }

    /// Changes the dictionary as a whole or not at all, and looks what it has then.
    ///
    /// # Errors
    /// As `change`; [`ErrorCode::LockFailed`] where others change it; when it cannot be written.
    fn change<T>(&mut self, settings: &Settings, change: impl FnOnce(&mut file::Changing) -> Result<T>) -> Result<T> {
        let mut changing = file::Changing::begin(&self.file, settings)?;
        let done = change(&mut changing)?;
        changing.commit()?;
        self.read_again()?;
        Ok(done)
    }
}
