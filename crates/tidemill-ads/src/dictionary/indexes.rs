//! Adds, removes, describes and drops the index files and orders that a dictionary lists for a table.

use std::path::{Path, PathBuf};

use tidemill_xbase::index::{KeyType, Tag};

use super::administration::{
    found, given_text, invalid_name, invalid_property, not_completed, not_set, set_text, text_at, text_of,
};
use super::object::{Kind, Object, place};
use super::property::PropertyValue;
use super::values::Values;
use super::{Dictionary, Rights, file};
use crate::connection::{Connection, delete_file};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::sql::IndexInFile;
use crate::work_area::{FieldType, TableOptions, TableType, WorkArea};

/// The objects of index files, each with those of its orders.
pub(super) struct Indexes(Vec<(Object, Vec<Object>)>);

impl Indexes {
    /// Those of the index files that are open.
    pub(super) fn of(area: &WorkArea, dictionary: &Dictionary) -> Result<Self> {
        let mut files: Vec<PathBuf> = Vec::new();
        for order in area.orders() {
            let file = area.index_path(order)?.to_owned();
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let indexes = files.iter().map(|file| Self::of_file(area, file, dictionary));
        Ok(Self(indexes.collect::<Result<_>>()?))
    }

    fn of_file(area: &WorkArea, file: &Path, dictionary: &Dictionary) -> Result<(Object, Vec<Object>)> {
        let keys = area.orders_of(file).into_iter();
        let keys = keys
            .map(|order| Ok(key_of(&area.order_tag(order)?)))
            .collect::<Result<_>>()?;
        Ok((index_of(file, dictionary), keys))
    }

    /// Adds them to a table.
    pub(super) fn add_to(self, changing: &mut file::Changing, table: u32) -> Result<()> {
        for (index, keys) in self.0 {
            let index = changing.add(Object { parent: table, ..index })?;
            for key in keys {
                changing.add(Object { parent: table, ..key }.info(index))?;
            }
        }
        Ok(())
    }
}

impl Indexes {
    /// Writes down what the orders of a table are now, where the dictionary knows them.
    pub(super) fn renew(self, changing: &mut file::Changing, table: u32) -> Result<()> {
        for (index, keys) in self.0 {
            let is_file = |known: &&Object| known.is(Kind::Index, table) && known.is_called(&index.name);
            let Some(file) = changing.objects().iter().find(is_file).map(|file| file.number) else {
                continue;
            };
            for key in keys {
                let is_it = |known: &&Object| {
                    known.is(Kind::Key, table) && known.refers_to() == Some(file) && known.is_called(&key.name)
                };
                let Some(mut known) = changing.objects().iter().find(is_it).cloned() else {
                    continue;
                };
                for place in [place::KEY_EXPRESSION, place::KEY_CONDITION, place::KEY_LENGTH] {
                    known.values.set(place, key.values.get(place).map(<[u8]>::to_vec));
                }
                changing.replace(&known)?;
            }
        }
        Ok(())
    }
}

impl Connection {
    /// Takes an index file of a table into the dictionary: the table opens with it from now on (SAP's help, `AdsDDAddIndexFile`). A name
    /// without a folder is one beside the table.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there; [`ErrorCode::IndexAlreadyOpen`] for a file that the dictionary has
    /// of the table; [`ErrorCode::InvalidPath`] for one outside of the folder of the dictionary; [`ErrorCode::FileInUse`] for a table that
    /// others have open; [`ErrorCode::IllegalCommandDuringTransaction`]; as [`WorkArea::open_index`].
    pub fn add_index_file(&mut self, table: &str, index: &str, comment: &str, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("adding an index file to a data dictionary")?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let number = dictionary.table(table)?.number;
        let path = dictionary.path(table).transpose()?.unwrap_or_default();
        let file = dictionary.index_beside(index, &path, dictionary.type_of(table)?)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if dictionary.indexes(&path).contains(&file) || dictionary.index_file(number, &name).is_ok() {
            let what = format!("the data dictionary has an index file {name} of {table} already");
            return Err(Error::new(ErrorCode::IndexAlreadyOpen, what));
        }
        let mut area = self.area_alone(table, settings)?;
        if !area.is_production(&file) {
            area.open_index(&file)?;
        }
        let (mut object, keys) = Indexes::of_file(&area, &file, self.dictionary()?)?;
        comment.clone_into(&mut object.comment);
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_table = |known: &Object| known.kind == Kind::Table && known.number == number;
            found(changing, is_table, table)?;
            Indexes(vec![(object, keys)]).add_to(changing, number)
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// Makes an order in an index file of its own, which the dictionary has the table open with from now on (SAP's help, "CREATE INDEX").
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that the dictionary has not; [`ErrorCode::InvalidPath`] for a new file in another folder
    /// than the table; as [`Connection::add_index_file`] and [`WorkArea::create_index`].
    pub(crate) fn create_index_in(&mut self, new: &IndexInFile, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("making an index file")?;
        let is_known = match self.dictionary.as_mut() {
            Some(dictionary) => {
                dictionary.renew()?;
                dictionary.table(&new.table).is_ok()
            }
            None => false,
        };
        if !is_known {
            return self.create_free_index(new, settings);
        }
        let dictionary = self.dictionary()?;
        let path = dictionary.path(&new.table).transpose()?.unwrap_or_default();
        let table_type = dictionary.type_of(&new.table)?;
        let file = match dictionary.index_beside(&new.file, &path, table_type) {
            Err(error) if error.code() == ErrorCode::FileNotFound && !new.file.contains(['/', '\\', ':']) => {
                path.with_file_name(with_extension(&new.file, table_type))
            }
            Err(error) if error.code() == ErrorCode::FileNotFound => {
                let what = format!(
                    "{}: a new index file lies beside its table; give its name alone",
                    new.file
                );
                return Err(Error::new(ErrorCode::InvalidPath, what));
            }
            found => found?,
        };
        let (is_new, is_listed) = (!file.exists(), dictionary.indexes(&path).contains(&file));
        let mut area = self.area_alone(&new.table, settings)?;
        if !is_new && !is_listed && !area.is_production(&file) {
            area.open_index(&file)?;
        }
        make_in(&mut area, &file, new, settings)?;
        drop(area);
        self.statements.forget_names();
        if is_listed {
            return self.note_orders(&path, settings);
        }
        let listed = self.add_index_file(&new.table, &file.to_string_lossy(), "", settings);
        if listed.is_err() && is_new {
            // A file that nothing opens would miss the next change.
            let _ = delete_file(&file);
        }
        listed
    }

    fn create_free_index(&mut self, new: &IndexInFile, settings: &Settings) -> Result<()> {
        if !new.may_be_free {
            let what = format!(
                "{} is no table of a data dictionary, so that nothing would open the index file {} with it: leave IN FILE out",
                new.table, new.file
            );
            return Err(Error::new(ErrorCode::NotImplemented, what));
        }
        let table_type = self.table_type_of(&new.table, settings)?;
        let path = self.path_of(&new.table, table_type.extension(), settings)?;
        let file = self.index_path(&new.file, table_type.index_extension(), &path, settings)?;
        self.statements.close(&path);
        let options = TableOptions {
            table_type,
            ..TableOptions::default()
        };
        let mut area = WorkArea::open(&path, &options.exclusive(), settings)?;
        if file.exists() && !area.is_production(&file) {
            area.open_index(&file)?;
        }
        make_in(&mut area, &file, new, settings)
    }

    /// Takes an index file of a table out of the dictionary, and removes it where that is asked for (SAP's help,
    /// `AdsDDRemoveIndexFile`). The file that opens with its table by itself is let go only if it is removed.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table or a file that is not there; [`ErrorCode::DdRequestNotCompleted`] for a file with an
    /// order that a primary key or a relation needs, and one that would open all the same; [`ErrorCode::FileInUse`] for a table that
    /// others have open; [`ErrorCode::IllegalCommandDuringTransaction`]; when it cannot be removed.
    pub fn remove_index_file(&mut self, table: &str, index: &str, deletes: bool, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("removing an index file from a data dictionary")?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let object = dictionary.index_file(dictionary.table(table)?.number, index)?.clone();
        for key in dictionary.keys_in(&object) {
            dictionary.check_unused(key)?;
        }
        let file = dictionary.path_of_index(&object)?;
        let mut area = self.area_alone(table, settings)?;
        let is_own = area.is_production(&file);
        if is_own && !deletes {
            return Err(not_completed(&format!(
                "{index} opens with {table} by itself: it is let go only if it is removed"
            )));
        }
        if is_own {
            // With the last order goes the file, and what the table says of it.
            for order in area.orders_of(&file) {
                area.delete_index(order)?;
            }
        }
        drop(area);
        self.forget_index(&object, settings)?;
        match deletes && file.is_file() {
            true => delete_file(&file),
            false => Ok(()),
        }
    }

    /// Drops an order of a table, and with the last one of a file the file (SAP's help, `AdsDDDeleteIndex`).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table or an order that is not there; [`ErrorCode::DdRequestNotCompleted`] for one that a
    /// primary key or a relation needs; [`ErrorCode::FileInUse`] for a table that others have open;
    /// [`ErrorCode::IllegalCommandDuringTransaction`]; as [`WorkArea::delete_index`].
    pub fn delete_dictionary_index(&mut self, table: &str, order: &str, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("dropping an order")?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let number = dictionary.table(table)?.number;
        let key = dictionary.key(number, order).ok().cloned();
        if let Some(key) = &key {
            dictionary.check_unused(key)?;
        }
        let mut area = self.area_alone(table, settings)?;
        match (area.order_named(order.trim()), &key) {
            (Ok(open), _) => area.delete_index(open)?,
            // The dictionary alone still knows it.
            (Err(_), Some(_)) => {}
            (Err(_), None) => return Err(invalid_name(order)),
        }
        drop(area);
        let Some(key) = key else { return Ok(()) };
        let dictionary = self.dictionary()?;
        let mut files = dictionary.children(Kind::Index, number).into_iter();
        let index = files.find(|index| key.refers_to() == Some(index.number)).cloned();
        let gone = index.filter(|index| dictionary.path_of_index(index).is_ok_and(|file| !file.is_file()));
        match gone {
            Some(index) => self.forget_index(&index, settings),
            None => self.remove_number(key.number, settings),
        }
    }

    /// Has the dictionary know the orders that the index files of one of its tables have now (SAP's help, "CREATE INDEX": a new one is
    /// there for everybody). Those that are gone leave it, unless a primary key or a relation needs them.
    ///
    /// # Errors
    /// When a file cannot be read, or the dictionary cannot be written.
    pub(crate) fn note_orders(&mut self, path: &Path, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let Some(table) = dictionary.table_at(path) else {
            return Ok(());
        };
        let (number, name) = (table.number, table.name.clone());
        let Indexes(now) = Indexes::of(&self.area_to_relate(&name, settings)?, self.dictionary()?)?;
        let dictionary = self.dictionary()?;
        let is_there = |key: &&Object| {
            let file = dictionary.children(Kind::Index, number).into_iter();
            let mut file = file.filter(|file| key.refers_to() == Some(file.number));
            let file = file.next().map_or("", |file| file.name.as_str());
            let mut keys = now
                .iter()
                .filter(|(index, _)| index.is_called(file))
                .flat_map(|(_, keys)| keys);
            keys.any(|known| known.is_called(&key.name))
        };
        let known = dictionary.children(Kind::Key, number);
        let gone = known
            .iter()
            .filter(|key| !is_there(key) && dictionary.check_unused(key).is_ok());
        let gone: Vec<u32> = gone.map(|key| key.number).collect();
        let has_all = known.len() - gone.len() == now.iter().map(|(_, keys)| keys.len()).sum::<usize>();
        if gone.is_empty() && has_all {
            return Ok(());
        }
        self.dictionary_to_change()?.change(settings, |changing| {
            gone.into_iter().try_for_each(|key| changing.remove(key))?;
            for (index, keys) in now {
                let is_file = |known: &&Object| known.is(Kind::Index, number) && known.is_called(&index.name);
                let file = changing.objects().iter().find(is_file).map(|file| file.number);
                let file = match file {
                    Some(file) => file,
                    None => changing.add(Object {
                        parent: number,
                        ..index
                    })?,
                };
                for key in keys {
                    let is_it = |known: &Object| {
                        known.is(Kind::Key, number) && known.refers_to() == Some(file) && known.is_called(&key.name)
                    };
                    if !changing.objects().iter().any(is_it) {
                        changing.add(Object { parent: number, ..key }.info(file))?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Refuses to drop an order of one of its tables that a primary key or a relation needs.
    ///
    /// # Errors
    /// [`ErrorCode::DdRequestNotCompleted`].
    pub(crate) fn check_order_unused(&self, path: &Path, order: &str) -> Result<()> {
        let Some(dictionary) = &self.dictionary else {
            return Ok(());
        };
        let Some(table) = dictionary.table_at(path) else {
            return Ok(());
        };
        dictionary
            .key(table.number, order)
            .map_or(Ok(()), |key| dictionary.check_unused(key))
    }

    /// A property of an index file by its number (`ADS_DD_INDEX_FILE_PATH` and its like).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table or a file that is not there, [`ErrorCode::InvalidPropertyId`],
    /// [`ErrorCode::PropertyNotSet`]; [`ErrorCode::PermissionDenied`] for who may not read the table.
    pub fn index_file_property(&mut self, table: &str, index: &str, property: u16) -> Result<PropertyValue> {
        let may_read = self.user_rights(table)?.has(Rights::READ);
        let dictionary = self.dictionary()?;
        let object = dictionary.index_file(dictionary.table(table)?.number, index)?;
        if !may_read {
            let what = format!("the user may not read {table}, nor what its index files are");
            return Err(Error::new(ErrorCode::PermissionDenied, what));
        }
        match property {
            COMMENT => set_text(&object.comment),
            INDEX_FILE_PATH => set_text(&dictionary.path_of_index(object)?.to_string_lossy()),
            INDEX_FILE_PAGE => {
                let page = object.values.number(place::INDEX_PAGE);
                page.map(PropertyValue::Long).ok_or_else(not_set)
            }
            INDEX_FILE_RELATIVE_PATH => text_at(object, place::PATH),
            _ => Err(invalid_property()),
        }
    }

    /// A property of an order by its number (`ADS_DD_INDEX_EXPRESSION` and its like).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table or an order that is not there, [`ErrorCode::InvalidPropertyId`],
    /// [`ErrorCode::PropertyNotSet`]; [`ErrorCode::PermissionDenied`] for the expression, the condition and the options, of who may not change
    /// the dictionary.
    pub fn index_property(
        &mut self,
        table: &str,
        order: &str,
        property: u16,
        settings: &Settings,
    ) -> Result<PropertyValue> {
        self.dictionary_mut()?.renew()?;
        if [INDEX_EXPRESSION, INDEX_CONDITION, INDEX_OPTIONS].contains(&property) {
            self.check_administrator()?;
        }
        let dictionary = self.dictionary()?;
        let number = dictionary.table(table)?.number;
        let key = dictionary.key(number, order)?;
        let short = |place| {
            let number = key.values.number(place).and_then(|number| u16::try_from(number).ok());
            number.map(PropertyValue::Short).ok_or_else(not_set)
        };
        match property {
            COMMENT => set_text(&key.comment),
            INDEX_FILE_NAME => {
                let mut files = dictionary.children(Kind::Index, number).into_iter();
                let file = files.find(|index| key.refers_to() == Some(index.number));
                file.map_or_else(|| Err(not_set()), |file| set_text(&file.name))
            }
            INDEX_EXPRESSION => text_at(key, place::KEY_EXPRESSION),
            INDEX_CONDITION => text_at(key, place::KEY_CONDITION),
            INDEX_OPTIONS => {
                let options = key.values.number(place::KEY_OPTIONS);
                options.map(PropertyValue::Long).ok_or_else(not_set)
            }
            INDEX_KEY_LENGTH => short(place::KEY_LENGTH),
            INDEX_KEY_TYPE => {
                let noted = short(place::KEY_TYPE);
                // The file knows better than the note.
                let Ok(area) = self.area_to_relate(table, settings) else {
                    return noted;
                };
                let key_type = area.order_named(order.trim()).and_then(|order| area.key_type(order));
                key_type.map_or(noted, |key_type| {
                    Ok(PropertyValue::Short(match key_type {
                        KeyType::Character => FieldType::String as u16,
                        KeyType::Number => FieldType::Numeric as u16,
                        KeyType::Date => FieldType::Date as u16,
                        KeyType::Logical => FieldType::Logical as u16,
                        KeyType::Timestamp => FieldType::Raw as u16,
                    }))
                })
            }
            _ => Err(invalid_property()),
        }
    }

    /// Sets a property of an order: what it is about, which is all that programs set.
    ///
    /// # Errors
    /// As [`Connection::index_property`]; when the dictionary cannot be written.
    pub fn set_index_property(
        &mut self,
        table: &str,
        order: &str,
        property: u16,
        value: &PropertyValue,
        settings: &Settings,
    ) -> Result<()> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let number = dictionary.key(dictionary.table(table)?.number, order)?.number;
        if property != COMMENT {
            return Err(invalid_property());
        }
        let text = given_text(value)?;
        dictionary.change(settings, |changing| {
            let mut key = found(changing, |known| known.number == number, order)?;
            text.clone_into(&mut key.comment);
            changing.replace(&key)
        })
    }

    /// A table of the dictionary with its index files, which nobody else has open.
    pub(super) fn area_alone(&mut self, table: &str, settings: &Settings) -> Result<WorkArea> {
        let dictionary = self.dictionary()?;
        let path = dictionary.path(table).transpose()?.unwrap_or_default();
        let options = TableOptions {
            table_type: dictionary.type_of(table)?,
            ..TableOptions::default()
        };
        self.statements.close(&path);
        let mut area = WorkArea::open(&path, &options.exclusive(), settings)?;
        for index in self.dictionary()?.indexes(&path) {
            if !area.is_production(&index) && index.is_file() {
                area.open_index(&index)?;
            }
        }
        Ok(area)
    }

    /// Takes the object of an index file, and those of its orders, out of the dictionary.
    fn forget_index(&mut self, index: &Object, settings: &Settings) -> Result<()> {
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_in = |key: &&Object| key.is(Kind::Key, index.parent) && key.refers_to() == Some(index.number);
            let keys = changing.objects().iter().filter(is_in).map(|key| key.number);
            let gone: Vec<u32> = keys.chain([index.number]).collect();
            gone.into_iter().try_for_each(|number| changing.remove(number))
        })?;
        self.statements.forget_names();
        Ok(())
    }

    fn remove_number(&mut self, number: u32, settings: &Settings) -> Result<()> {
        self.dictionary_to_change()?
            .change(settings, |changing| changing.remove(number))?;
        self.statements.forget_names();
        Ok(())
    }
}

impl Dictionary {
    /// The index file of a table, by its name with the extension.
    pub(super) fn index_file(&self, table: u32, name: &str) -> Result<&Object> {
        let mut files = self.children(Kind::Index, table).into_iter();
        files
            .find(|file| file.is_called(name))
            .ok_or_else(|| invalid_name(name))
    }

    /// An order of a table.
    pub(super) fn key(&self, table: u32, name: &str) -> Result<&Object> {
        let mut keys = self.children(Kind::Key, table).into_iter();
        keys.find(|key| key.is_called(name)).ok_or_else(|| invalid_name(name))
    }

    /// The orders of an index file.
    pub(super) fn keys_in<'d>(&'d self, index: &'d Object) -> impl Iterator<Item = &'d Object> {
        let keys = self.objects.iter().filter(|key| key.is(Kind::Key, index.parent));
        keys.filter(|key| key.refers_to() == Some(index.number))
    }

    /// Refuses to do without an order that a primary key or a relation needs.
    fn check_unused(&self, key: &Object) -> Result<()> {
        let tables = self.objects.iter().filter(|object| object.kind == Kind::Table);
        for table in tables {
            if table.refers_to() == Some(key.number) {
                let why = format!("{} is the primary key of {}", key.name, table.name);
                return Err(not_completed(&why));
            }
        }
        let places = [place::RELATION_PARENT_KEY, place::RELATION_CHILD_KEY];
        let mut relations = self.of_kind(Kind::Relation).into_iter();
        let needs = |relation: &&Object| {
            let mut places = places.into_iter();
            places.any(|place| relation.values.number(place) == Some(key.number))
        };
        match relations.find(needs) {
            Some(relation) => Err(not_completed(&format!("{relation} needs the order {}", key.name))),
            None => Ok(()),
        }
    }

    /// Where an index file is.
    pub(super) fn path_of_index(&self, index: &Object) -> Result<PathBuf> {
        let mut inside = self.paths.clone();
        inside.confine([self.folder().to_owned()])?;
        self.place_of(index, &inside)
            .map_err(|(code, what)| Error::new(code, what))
    }

    /// The index file that a program names: beside its table, or else from the folder of the dictionary.
    fn index_beside(&self, name: &str, table: &Path, table_type: TableType) -> Result<PathBuf> {
        let name = with_extension(name, table_type);
        let folder = table.parent().unwrap_or(Path::new("."));
        match self.place_inside(&name, folder) {
            Err(error) if error.code() == ErrorCode::FileNotFound => self.place_inside(&name, self.folder()),
            found => found,
        }
    }
}

fn with_extension(name: &str, table_type: TableType) -> String {
    let has_extension = name.rsplit(['/', '\\']).next().is_some_and(|file| file.contains('.'));
    match has_extension {
        true => name.trim().to_owned(),
        false => format!("{}.{}", name.trim(), table_type.index_extension()),
    }
}

fn make_in(area: &mut WorkArea, file: &Path, new: &IndexInFile, settings: &Settings) -> Result<()> {
    let condition = Some(new.condition.as_str()).filter(|condition| !condition.is_empty());
    let made = match &new.words {
        Some(words) => area.create_full_text_index(Some(file), &new.name, &new.expression, words, settings),
        None => area.create_index(
            Some(file),
            &new.name,
            &new.expression,
            condition,
            &new.options,
            settings,
        ),
    };
    made?;
    Ok(area.editor()?.sync()?)
}

pub(super) fn index_of(file: &Path, dictionary: &Dictionary) -> Object {
    let whole = file.canonicalize();
    let relative = dictionary.relative(whole.as_deref().unwrap_or(file));
    let values = Values::default()
        .with_text(place::PATH, &text_of(&relative))
        .with(place::INDEX_KIND, 1_u16.to_le_bytes())
        .with(place::INDEX_PAGE, INDEX_PAGE.to_le_bytes());
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Object::new(Kind::Index, 0, &name).values(values).info(INDEX_INFO)
}

/// The object of an order.
fn key_of(tag: &Tag) -> Object {
    let is_compound = tag.expression.contains(';');
    let mut options = COMPOUND;
    for (is_set, bit) in [
        (tag.is_unique || tag.is_candidate, UNIQUE),
        (tag.is_custom, CUSTOM),
        (tag.is_descending, DESCENDING),
    ] {
        options |= if is_set { bit } else { 0 };
    }
    let key_type = match is_compound {
        true => FieldType::Raw,
        false => FieldType::String,
    };
    let mut values = Values::default()
        .with_text(place::KEY_EXPRESSION, &text_of(&tag.expression))
        .with(place::KEY_OPTIONS, options.to_le_bytes())
        .with(
            place::KEY_LENGTH,
            u16::try_from(tag.key_len).unwrap_or(u16::MAX).to_le_bytes(),
        )
        .with(place::KEY_TYPE, (key_type as u16).to_le_bytes())
        .with(place::KEY_COLLATION, [0]);
    if let Some(condition) = &tag.condition {
        values = values.with_text(place::KEY_CONDITION, &text_of(condition));
    }
    Object::new(Kind::Key, 0, &tag.name.to_uppercase()).values(values)
}

/// The number of the object of an order, which is added where it was made since the table was taken in.
pub(super) fn number_of_key(changing: &mut file::Changing, table: u32, (index, tag): (&Object, &Tag)) -> Result<u32> {
    let of_table = |object: &&Object| object.is(Kind::Index, table) && object.is_called(&index.name);
    let known = changing.objects().iter().find(of_table).map(|object| object.number);
    let file = match known {
        Some(number) => number,
        None => changing.add(Object {
            parent: table,
            ..index.clone()
        })?,
    };
    let is_it = |object: &&Object| {
        object.is(Kind::Key, table) && object.refers_to() == Some(file) && object.is_called(&tag.name)
    };
    match changing.objects().iter().find(is_it) {
        Some(key) => Ok(key.number),
        None => changing.add(
            Object {
                parent: table,
                ..key_of(tag)
            }
            .info(file),
        ),
    }
}

/// Properties, as `ace.h` numbers them.
const COMMENT: u16 = 1;
const INDEX_FILE_NAME: u16 = 400;
const INDEX_EXPRESSION: u16 = 401;
const INDEX_CONDITION: u16 = 402;
const INDEX_OPTIONS: u16 = 403;
const INDEX_KEY_LENGTH: u16 = 404;
const INDEX_KEY_TYPE: u16 = 405;
const INDEX_FILE_PATH: u16 = 900;
const INDEX_FILE_PAGE: u16 = 901;
const INDEX_FILE_RELATIVE_PATH: u16 = 902;

/// What `Info1` of an index file is in the files at hand, and the length of a page there.
const INDEX_INFO: u32 = 6;
const INDEX_PAGE: u32 = 512;

/// Options of orders, as in `ace.h`.
const UNIQUE: u32 = 1;
const COMPOUND: u32 = 2;
const CUSTOM: u32 = 4;
const DESCENDING: u32 = 8;
