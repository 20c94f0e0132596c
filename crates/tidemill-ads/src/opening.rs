//! How a connection opens the files of tables: within its transaction, and held to the rules of its data dictionary
//! or its database container.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use tidemill_xbase::{CodePage, KeySettings, OpenMode, RuleTexts, TableEditor};

use crate::connection::{AreaId, Connection};
use crate::dictionary::{Credentials, Dictionary, Rights, TableTriggers, compiled_rules, live_view};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::work_area::{AreaTriggers, TableOptions, WorkArea};

impl Connection {
    /// Connects to a data dictionary (`.add`) without saying who one is. Tables have the names that the dictionary gives them, and open
    /// with their index files. What Advantage has encrypted of users and rights cannot be checked: a dictionary that has any is opened
    /// where it is trusted. Who is trusted may do all.
    ///
    /// # Errors
    /// As [`Connection::open_dictionary_as`].
    pub fn open_dictionary(file: impl AsRef<Path>, is_trusted: bool, settings: &Settings) -> Result<Self> {
        Self::open_dictionary_as(file, ("", ""), is_trusted, settings)
    }

    /// As [`Connection::open_dictionary`], for a user with a password.
    ///
    /// # Errors
    /// As [`Connection::open`], of its folder; [`ErrorCode::InvalidDictionaryFile`] for a file that is no dictionary;
    /// [`ErrorCode::NotImplemented`] for one with encrypted users or passwords that is not trusted; [`ErrorCode::NotAuthenticated`] for a user
    /// that the dictionary does not know, another password, and nobody where users have to say who they are.
    pub fn open_dictionary_as(
        file: impl AsRef<Path>,
        (user, password): (&str, &str),
        is_trusted: bool,
        settings: &Settings,
    ) -> Result<Self> {
        let file = file.as_ref();
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut connection = Self::open(folder.unwrap_or(Path::new(".")))?;
        let dictionary = Dictionary::read(file, &settings.paths)?;
        if let Some(secret) = dictionary.secrets().filter(|_| !is_trusted) {
            let what = format!(
                "{}: it has {secret}, and rights that are encrypted cannot be checked",
                file.display()
            );
            return Err(Error::new(ErrorCode::NotImplemented, what));
        }
        if !is_trusted {
            connection.login = dictionary.login(user, password)?;
        }
        connection.dictionary = Some(dictionary);
        connection.links.credentials = Credentials {
            user: user.to_owned(),
            password: password.to_owned(),
            trusts: is_trusted,
        };
        Ok(connection)
    }

    /// A work area over a file, which belongs to the open transaction.
    ///
    /// # Errors
    /// As [`Connection::open_table`].
    pub(crate) fn area_over(&self, path: &Path, options: &TableOptions, settings: &Settings) -> Result<WorkArea> {
        self.area_in_page(path, options, None, settings)
    }

    /// As [`Connection::area_over`]. Where the code page is known it is not looked for.
    ///
    /// A table whose rules cannot be enforced is opened for reading, where others may have it open too.
    ///
    /// # Errors
    /// As [`Connection::open_table`].
    pub(crate) fn area_in_page(
        &self,
        path: &Path,
        options: &TableOptions,
        codepage: Option<CodePage>,
        settings: &Settings,
    ) -> Result<WorkArea> {
        let rights = self.rights_at(path);
        self.check_rights_at(path, Rights::READ)?;
        let options = self.options_of(path, options);
        let open =
            |options: &TableOptions| WorkArea::open_in(self.transactions.log(), path, options, codepage, settings);
        if options.mode == OpenMode::ReadOnly {
            return open(&options);
        }
        let opened = self.may_write(path, rights).and_then(|()| {
            self.ready_to_write(path)?;
            let mut area = open(&options)?;
            self.hold_area_to_rules(&mut area, settings)?;
            area.set_rights(rights);
            Ok(area)
        });
        match opened {
            Err(error) if options.mode == OpenMode::Shared && error.code() == ErrorCode::TableReadOnly => {
                let mut area = open(&options.into_owned().read_only())?;
                area.is_read_because(error.to_string());
                Ok(area)
            }
            opened => opened,
        }
    }

    /// A table that may not be changed in any way is one to read.
    fn may_write(&self, path: &Path, rights: Rights) -> Result<()> {
        match rights.has_any(Rights::WRITE) {
            true => Ok(()),
            false => {
                let what = format!("{}: the user may read it alone", path.display());
                Err(Error::new(ErrorCode::TableReadOnly, what))
            }
        }
    }

    /// Deletes a file that a program names.
    ///
    /// # Errors
    /// [`ErrorCode::PermissionDenied`] for a user who may not change the data dictionary; as [`Connection::path_of`] and
    /// [`delete_file`](crate::delete_file).
    pub fn delete_named_file(&self, name: &str, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        crate::delete_file(&self.path_of(name, "", settings)?)
    }

    /// How a file is opened: a temporary table has names for its fields.
    pub(crate) fn options_of<'o>(&self, path: &Path, options: &'o TableOptions) -> Cow<'o, TableOptions> {
        match self.temporary.field_names(path) {
            None => Cow::Borrowed(options),
            names => Cow::Owned(TableOptions {
                field_names: names,
                ..options.clone()
            }),
        }
    }

    /// As [`Connection::hold_to_rules`]; one with relations is changed through a log.
    ///
    /// # Errors
    /// As [`Connection::hold_to_rules`].
    pub(crate) fn hold_area_to_rules(&self, area: &mut WorkArea, settings: &Settings) -> Result<()> {
        if area.is_in_memory() {
            // What a view shows keeps the triggers that it was opened with.
            return Ok(());
        }
        self.hold_to_rules(area.editor_to_read(), settings)?;
        let dictionary = self.dictionary.as_ref();
        area.set_triggers(dictionary.and_then(|dictionary| {
            let triggers = dictionary.triggers_at(area.path())?;
            Some(self.area_triggers(triggers, dictionary, settings))
        }));
        let log = dictionary.filter(|_| area.editor_to_read().has_follower());
        area.rest_in(log.map(|dictionary| dictionary.log(settings)))
    }

    fn area_triggers(
        &self,
        triggers: Arc<TableTriggers>,
        dictionary: &Dictionary,
        settings: &Settings,
    ) -> AreaTriggers {
        AreaTriggers {
            triggers,
            runner: Arc::clone(&self.runner),
            dictionary: dictionary.file().to_owned(),
            user: self.user_name().to_owned(),
            settings: settings.clone(),
            analytical: self.analytical.clone(),
            view: None,
        }
    }

    /// Has what a view shows be changed by the triggers of the view, where it has any.
    ///
    /// # Errors
    /// [`ErrorCode::TriggerFailed`] for a trigger that is not understood.
    pub(crate) fn hold_area_to_view(&mut self, view: &str, area: AreaId, settings: &Settings) -> Result<()> {
        let Some(dictionary) = &self.dictionary else {
            return Ok(());
        };
        let Some(triggers) = dictionary.triggers_of_view(view)? else {
            return Ok(());
        };
        let triggers = self.area_triggers(triggers, dictionary, settings);
        let (current, resting) = (self.transactions.log().cloned(), dictionary.log(settings).clone());
        let area = self.area(area)?;
        match area.is_in_memory() {
            true => area.change_by_triggers(triggers, current.as_ref(), &resting),
            false => {
                // The view was another when it was given triggers.
                area.is_read_because(live_view(view).to_string());
                Ok(())
            }
        }
    }

    /// Holds a table to the rules that the data dictionary or the database container has for it.
    ///
    /// # Errors
    /// [`ErrorCode::TableReadOnly`] for rules that cannot be enforced, and for a table of a dictionary that this is no connection to.
    pub(crate) fn hold_to_rules(&self, editor: &mut TableEditor, settings: &Settings) -> Result<()> {
        match &self.dictionary {
            Some(dictionary) if dictionary.has(editor.path()) => dictionary.enforce(editor, &self.runner, settings),
            _ => {
                refuse_of_others(editor)?;
                hold_to_container(editor, settings)
            }
        }
    }

    /// Opens the index files that a dictionary has of a table beside its production index.
    ///
    /// # Errors
    /// As [`TableEditor::open_index_with`].
    pub(crate) fn open_indexes_of(&self, editor: &mut TableEditor) -> Result<()> {
        let indexes = self
            .dictionary
            .as_ref()
            .map(|dictionary| dictionary.indexes(editor.path()));
        for index in indexes.unwrap_or_default() {
            let is_it = |file: &Path| file.canonicalize().is_ok_and(|file| file == index);
            let is_open = editor.orders_of_files().any(|(file, _)| is_it(file));
            if !is_open && index.is_file() {
                let keys = KeySettings::of_index(&index, None, editor.opened());
                editor.open_index_with(&index, &keys)?;
            }
        }
        Ok(())
    }

    /// Looks what the data dictionary has now, where others may have changed it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn renew_dictionary(&mut self) -> Result<()> {
        let is_new = self.dictionary.as_mut().map_or(Ok(false), Dictionary::renew)?;
        let has_new_links = self.links.renew();
        if is_new || has_new_links {
            self.statements.forget_names();
        }
        Ok(())
    }

    /// Holds the open tables to the rules that the data dictionary has now.
    ///
    /// # Errors
    /// As [`Connection::hold_to_rules`].
    pub(crate) fn hold_to_new_rules(&mut self, settings: &Settings) -> Result<()> {
        let mut areas = std::mem::take(&mut self.areas);
        let changed = areas
            .iter_mut()
            .filter(|(_, area)| area.options().mode != OpenMode::ReadOnly);
        let held = changed
            .map(|(_, area)| self.hold_area_to_rules(area, settings))
            .fold(Ok(()), Result::and);
        self.areas = areas;
        held
    }
}

/// Refuses to change a table that belongs to a dictionary which lies beside it.
fn refuse_of_others(editor: &TableEditor) -> Result<()> {
    let header = editor.header().adt.as_deref().filter(|adt| adt.in_dictionary);
    let Some(name) = header
        .and_then(|adt| adt.dictionary.rsplit(['\\', '/']).next())
        .filter(|name| !name.is_empty())
    else {
        return Ok(());
    };
    // Nothing is opened by this name.
    match editor.path().with_file_name(name).is_file() {
        false => Ok(()),
        true => {
            let what = format!(
                "{} belongs to the data dictionary {name}: connect to that to change it",
                editor.path().display()
            );
            Err(Error::new(ErrorCode::TableReadOnly, what))
        }
    }
}

/// Holds a table to the rules that its database container of Visual FoxPro has for it.
///
/// # Errors
/// [`ErrorCode::TableReadOnly`] for a rule that cannot be enforced.
fn hold_to_container(editor: &mut TableEditor, settings: &Settings) -> Result<()> {
    let table = editor.opened();
    let Some(texts) = RuleTexts::of_container(table) else {
        return Ok(());
    };
    let rules = compiled_rules(&texts, table, settings).map_err(|error| {
        let what = format!(
            "{} can only be read: its database container has a rule that is not understood here; change the table in Visual FoxPro, \
             or change a copy of it: {error}",
            table.path().display(),
        );
        Error::new(ErrorCode::TableReadOnly, what)
    })?;
    editor.set_rules(Some(rules));
    Ok(())
}
