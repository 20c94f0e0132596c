//! Dictionaries that programs make and change: tables come and go, properties are asked and set.

use std::path::{Path, PathBuf};

use tidemill_xbase::index::Tag;
use tidemill_xbase::{CodePage, Dialect, Field, OpenOptions, Table, TableSet};

use super::file;
use super::indexes::{Indexes, index_of, number_of_key};
use super::object::{Kind, Object, place};
use super::property::{FieldProperty, ObjectKind, PropertyValue, TableProperty, Validation};
use super::rules;
use super::switching::TriggerScope;
use super::values::Values;
use super::{Dictionary, Login};
use crate::connection::{Connection, delete_file};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::work_area::{FieldType, TableOptions, TableType, WorkArea};

/// A table that a dictionary is to have.
#[derive(Debug, Clone, Default)]
pub struct NewTable<'t> {
    /// Its name there; empty for that of its file.
    pub name: &'t str,
    /// Its file, from the folder of the dictionary.
    pub path: &'t str,
    /// What kind of table it is.
    pub table_type: TableType,
    /// Index files beside the one that opens by itself, with semicolons between them.
    pub indexes: &'t str,
    /// What it is about.
    pub comment: &'t str,
}

impl Connection {
    /// Makes a data dictionary without tables and connects to it. Anyone who can write its file can change all of it.
    ///
    /// # Errors
    /// [`ErrorCode::DictionaryExists`]; [`ErrorCode::InvalidPath`] for a name that does not end with `.add`; when it cannot be made.
    pub fn create_dictionary(path: impl AsRef<Path>, description: &str, settings: &Settings) -> Result<Self> {
        let path = path.as_ref();
        if !path.extension().is_some_and(|own| own.eq_ignore_ascii_case("add")) {
            let what = format!("{}: a data dictionary is called .add", path.display());
            return Err(Error::new(ErrorCode::InvalidPath, what));
        }
        file::create(path)?;
        let mut changing = file::Changing::begin(path, settings)?;
        let here = text_of(".\\");
        let paths = place::DATABASE_PATHS.into_iter();
        let values = paths.fold(Values::default(), |values, place| values.with_text(place, &here));
        let mut database = Object::new(Kind::Database, 0, "Database")
            .values(values)
            .info(DATABASE_INFO);
        description.clone_into(&mut database.comment);
        changing.add(database)?;
        changing.commit()?;
        let mut connection = Self::open_dictionary(path, false, settings)?;
        connection.login = Login::Administrator;
        connection.links.credentials.user = connection.user_name().to_owned();
        Ok(connection)
    }

    /// The name that the dictionary has for the table of a file.
    pub(crate) fn dictionary_name(&self, path: &Path) -> Option<String> {
        let table = self.dictionary.as_ref()?.table_at(path)?;
        Some(table.name.clone())
    }

    /// Whether it is a connection to a data dictionary.
    pub fn has_dictionary(&self) -> bool {
        self.dictionary.is_some()
    }

    pub(super) fn dictionary(&self) -> Result<&Dictionary> {
        self.check_process()?;
        self.dictionary.as_ref().ok_or_else(no_dictionary)
    }

    pub(super) fn dictionary_mut(&mut self) -> Result<&mut Dictionary> {
        self.check_process()?;
        self.dictionary.as_mut().ok_or_else(no_dictionary)
    }

    /// The names of the objects of a kind; of fields, index files and orders those of the table `parent`.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there.
    pub fn dictionary_objects(&mut self, kind: ObjectKind, parent: &str) -> Result<Vec<String>> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let of_table = |kind| Ok::<_, Error>(dictionary.children(kind, dictionary.table(parent)?.number));
        let objects = match kind {
            ObjectKind::Table => return Ok(dictionary.names().map(str::to_owned).collect()),
            ObjectKind::View => dictionary.of_kind(Kind::View),
            ObjectKind::Procedure => dictionary.of_kind(Kind::StoredProc),
            ObjectKind::User => dictionary.of_kind(Kind::User),
            ObjectKind::UserGroup => dictionary.of_kind(Kind::Group),
            ObjectKind::Package => dictionary.of_kind(Kind::Package),
            ObjectKind::Function if !parent.trim().is_empty() => {
                let package = dictionary.object(ObjectKind::Package, ("", parent))?.number;
                dictionary.children(Kind::Function, package)
            }
            ObjectKind::Function => dictionary.children(Kind::Function, dictionary.database()?.number),
            ObjectKind::Link => dictionary.of_kind(Kind::Link),
            ObjectKind::Publication => dictionary.of_kind(Kind::Publication),
            ObjectKind::Subscription => dictionary.of_kind(Kind::Subscription),
            ObjectKind::Article => {
                let publication = dictionary.object(ObjectKind::Publication, ("", parent))?;
                dictionary.children(Kind::Article, publication.number)
            }
            ObjectKind::ViewOrTable | ObjectKind::TableViewOrLink => {
                let links = dictionary.of_kind(Kind::Link).into_iter();
                let links = links.filter(|_| kind == ObjectKind::TableViewOrLink);
                let views = dictionary.of_kind(Kind::View).into_iter().chain(links);
                let views = views.map(|view| view.name.as_str());
                let mut names: Vec<String> = dictionary.names().chain(views).map(str::to_owned).collect();
                names.sort();
                return Ok(names);
            }
            ObjectKind::Trigger if !parent.trim().is_empty() => {
                dictionary.children(Kind::Trigger, dictionary.with_triggers(parent)?.number)
            }
            ObjectKind::Trigger => dictionary.of_kind(Kind::Trigger),
            ObjectKind::QualifiedTrigger => {
                let triggers = dictionary.of_kind(Kind::Trigger).into_iter();
                let qualified = |trigger: &Object| {
                    let table = dictionary.trigger_parent(trigger)?;
                    Some(format!("{table}::{}", trigger.name))
                };
                return Ok(triggers.filter_map(qualified).collect());
            }
            ObjectKind::Relation => dictionary.of_kind(Kind::Relation),
            ObjectKind::IndexFile => of_table(Kind::Index)?,
            ObjectKind::Field => {
                let mut fields = of_table(Kind::Field)?;
                fields.sort_by_key(|field| field.info[0]);
                fields
            }
            ObjectKind::Index => of_table(Kind::Key)?,
        };
        Ok(objects.into_iter().map(|object| object.name.clone()).collect())
    }

    /// Takes a table into the dictionary. An ADT then says so in its header, and is changed by connections to the dictionary alone.
    ///
    /// # Errors
    /// [`ErrorCode::DdRequestNotCompleted`] for a name or a file that the dictionary has, and a table of another dictionary;
    /// [`ErrorCode::InvalidPath`] for a file outside of the folder of the dictionary; [`ErrorCode::FileInUse`] for an ADT that others
    /// have open; [`ErrorCode::IllegalCommandDuringTransaction`].
    pub fn add_dictionary_table(&mut self, table: &NewTable<'_>, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("adding a table to a data dictionary")?;
        let dictionary = self.dictionary()?;
        let path = dictionary.file_inside(table.path, table.table_type.extension())?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = if table.name.trim().is_empty() {
            &stem
        } else {
            table.name.trim()
        };
        if dictionary.has(&path) {
            return Err(not_completed(&format!(
                "{} is in the data dictionary already",
                path.display()
            )));
        }
        let indexes = table
            .indexes
            .split(';')
            .map(str::trim)
            .filter(|index| !index.is_empty());
        let extension = table.table_type.index_extension();
        let indexes = indexes.map(|index| dictionary.file_inside(index, extension));
        let indexes = indexes.collect::<Result<Vec<_>>>()?;
        let own = dictionary.own_name();
        let mut area = self.area_to_bind(&path, table.table_type, settings)?;
        if let Some(other) = area.dictionary() {
            return Err(not_completed(&format!("{} belongs to {other}", path.display())));
        }
        for index in &indexes {
            if !area.is_production(index) {
                area.open_index(index)?;
            }
        }
        let mut objects = Objects::of(&area, &path, self.dictionary()?)?;
        table.comment.clone_into(&mut objects.table.comment);
        name.clone_into(&mut objects.table.name);
        let dictionary = self.dictionary_to_change()?;
        let number = dictionary.change(settings, |changing| objects.add_to(changing))?;
        if area.is_adt()
            && let Err(error) = area.editor()?.bind_to_dictionary(Some((&own, number)))
        {
            dictionary.change(settings, |changing| changing.remove(number))?;
            return Err(error.into());
        }
        self.statements.forget_names();
        Ok(())
    }

    /// Takes a table out of the dictionary, and removes its files where that is asked for.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there; [`ErrorCode::FileInUse`] for one that others have open;
    /// [`ErrorCode::DdRequestNotCompleted`] for one that others refer to; [`ErrorCode::IllegalCommandDuringTransaction`].
    pub fn remove_dictionary_table(&mut self, name: &str, deletes: bool, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("removing a table from a data dictionary")?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let number = dictionary.table(name)?.number;
        if let Some(relation) = dictionary.relations_of(number).next() {
            return Err(not_completed(&format!("{relation} refers to {name}: drop that first")));
        }
        let path = dictionary.path(name).transpose()?.filter(|path| path.is_file());
        let indexes = path.as_ref().map(|path| dictionary.indexes(path)).unwrap_or_default();
        if let Some(path) = &path {
            let mut area = self.area_to_bind(path, TableType::default(), settings)?;
            if area.is_adt() {
                area.editor()?.bind_to_dictionary(None)?;
            }
        }
        self.dictionary_to_change()?
            .change(settings, |changing| changing.remove(number))?;
        self.statements.forget_names();
        let Some(path) = path.filter(|_| deletes) else {
            return Ok(());
        };
        let mut files = TableSet::of(&path).files()?;
        files.extend(indexes.into_iter().filter(|index| index.is_file()));
        files.sort();
        files.dedup();
        files.iter().try_for_each(|file| delete_file(file))
    }

    /// Lets an ADT say of no dictionary any more that it belongs to it, for who has the dictionary no more.
    ///
    /// # Errors
    /// [`ErrorCode::FileInUse`] for a table that others have open; as [`Connection::open_table`].
    pub fn free_dictionary_table(&mut self, name: &str, settings: &Settings) -> Result<()> {
        let path = self.path_of(name, TableType::Adt.extension(), settings)?;
        let mut area = self.area_to_bind(&path, TableType::Adt, settings)?;
        Ok(area.editor()?.bind_to_dictionary(None)?)
    }

    /// A table that a dictionary takes in or lets go: an ADT is open here alone.
    fn area_to_bind(&mut self, path: &Path, table_type: TableType, settings: &Settings) -> Result<WorkArea> {
        self.statements.close(path);
        let mut options = TableOptions {
            table_type,
            ..TableOptions::default()
        };
        if path.extension().is_some_and(|own| own.eq_ignore_ascii_case("adt")) {
            options = options.exclusive();
        }
        WorkArea::open(path, &options, settings)
    }

    /// A property of a table.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there, [`ErrorCode::PropertyNotSet`].
    pub fn table_property(&mut self, name: &str, property: TableProperty) -> Result<PropertyValue> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let table = dictionary.table(name)?;
        match property {
            TableProperty::Comment => set_text(&table.comment),
            TableProperty::ObjectId => Ok(PropertyValue::Long(table.number)),
            TableProperty::ValidationExpression => text_at(table, place::TABLE_VALIDATION),
            TableProperty::ValidationMessage => text_at(table, place::TABLE_MESSAGE),
            TableProperty::PrimaryKey => match dictionary.primary_key(table) {
                Some(key) => set_text(&key.name),
                None => Err(not_set()),
            },
            TableProperty::Type => Ok(PropertyValue::Short(dictionary.type_of(name)?.number())),
            TableProperty::Path => {
                let path = dictionary.path(name).transpose()?.unwrap_or_default();
                set_text(&path.to_string_lossy())
            }
            TableProperty::RelativePath => text_at(table, place::PATH),
            TableProperty::FieldCount => {
                let count = dictionary.children(Kind::Field, table.number).len();
                Ok(PropertyValue::Short(u16::try_from(count).unwrap_or(u16::MAX)))
            }
            TableProperty::IsParent => {
                let mut relations = dictionary.of_kind(Kind::Relation).into_iter();
                let is_parent = relations.any(|relation| relation.values.number(0) == Some(table.number));
                Ok(PropertyValue::Short(is_parent.into()))
            }
            TableProperty::DefaultIndex => text_at(table, place::TABLE_DEFAULT_INDEX),
            TableProperty::TriggersDisabled => Ok(PropertyValue::Short(table.has_triggers_off().into())),
            TableProperty::UserDefined => user_defined(table),
            TableProperty::Caching | TableProperty::WebDelta | TableProperty::ConcurrencyEnabled
                if let Some((place, _)) = property.number_kept()
                    && let Some(number) = table.values.number(place) =>
            {
                Ok(PropertyValue::Short(u16::try_from(number).unwrap_or(0)))
            }
            // What is not known of a table may be just that.
            TableProperty::Absent
            | TableProperty::Caching
            | TableProperty::WebDelta
            | TableProperty::ConcurrencyEnabled => {
                match table.values.places().all(|place| place::TABLE_KNOWN.contains(&place)) {
                    true => Ok(PropertyValue::Short(0)),
                    false => Err(not_set()),
                }
            }
        }
    }

    /// Sets a property of a table; an empty text removes it.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there, and a primary key that is no order of it;
    /// [`ErrorCode::InvalidKeyOptions`] for a primary key that is not unique; [`ErrorCode::InvalidPropertyId`] for a property that is not
    /// set; [`ErrorCode::DataTooLong`]; when the dictionary cannot be written.
    pub fn set_table_property(
        &mut self,
        name: &str,
        (property, validation): (TableProperty, Validation),
        value: &PropertyValue,
        settings: &Settings,
    ) -> Result<()> {
        if property == TableProperty::TriggersDisabled {
            return self.switch_triggers(TriggerScope::Table(name), given_flag(value)? == 0, settings);
        }
        if property == TableProperty::Absent {
            self.dictionary_to_change()?.table(name)?;
            return match given_flag(value)? {
                0 => Ok(()),
                _ => Err(Error::new(ErrorCode::NotImplemented, "no table has this property here")),
            };
        }
        let number = match property.number_kept() {
            Some((place, most)) => match given_flag(value)? {
                number if number <= most => Some((place, number)),
                number => {
                    let what = format!("{number} is more than the property can be: {most}");
                    return Err(Error::new(ErrorCode::InvalidProperty, what));
                }
            },
            None => None,
        };
        let text = if property == TableProperty::UserDefined || number.is_some() {
            ""
        } else {
            given_text(value)?
        };
        let path = self.dictionary()?.path(name).transpose()?.unwrap_or_default();
        let key = match property {
            TableProperty::PrimaryKey if !text.trim().is_empty() => Some(self.unique_order(name, text, settings)?),
            _ => None,
        };
        self.dictionary_to_change()?.change(settings, |changing| {
            let mut table = found(
                changing,
                |object| object.kind == Kind::Table && object.is_called(name),
                name,
            )?;
            match property {
                TableProperty::Comment => text.clone_into(&mut table.comment),
                TableProperty::ValidationExpression => put_text(&mut table, place::TABLE_VALIDATION, text),
                TableProperty::ValidationMessage => put_text(&mut table, place::TABLE_MESSAGE, text),
                TableProperty::DefaultIndex => put_text(&mut table, place::TABLE_DEFAULT_INDEX, text),
                TableProperty::UserDefined => put_user_defined(&mut table, value)?,
                TableProperty::Caching | TableProperty::WebDelta | TableProperty::ConcurrencyEnabled => {
                    if let Some((place, number)) = number {
                        let bytes = (number != 0).then(|| number.to_le_bytes().to_vec());
                        table.values.set(place, bytes);
                    }
                }
                TableProperty::PrimaryKey => {
                    let number = match &key {
                        Some((index, tag)) => number_of_key(changing, table.number, (index, tag))?,
                        None => 0,
                    };
                    table = table.info(number);
                }
                TableProperty::ObjectId
                | TableProperty::Type
                | TableProperty::Path
                | TableProperty::FieldCount
                | TableProperty::IsParent
                | TableProperty::TriggersDisabled
                | TableProperty::Absent
                | TableProperty::RelativePath => return Err(invalid_property()),
            }
            changing.replace(&table)?;
            match property.is_rule() {
                true => rules::check(
                    &rules::texts_of(changing.objects(), table.number),
                    &path,
                    validation,
                    settings,
                ),
                false => Ok(()),
            }
        })?;
        self.hold_to_new_rules(settings)
    }

    /// The order of a table that a primary key is to be, and the object of its file.
    fn unique_order(&mut self, name: &str, order: &str, settings: &Settings) -> Result<(Object, Tag)> {
        let dictionary = self.dictionary()?;
        dictionary.table(name)?;
        let path = dictionary.path(name).transpose()?.unwrap_or_default();
        let mut area = WorkArea::open(&path, &TableOptions::default().read_only(), settings)?;
        for index in dictionary.indexes(&path) {
            if !area.is_production(&index) && index.is_file() {
                area.open_index(&index)?;
            }
        }
        let Ok(found) = area.order_named(order.trim()) else {
            return Err(Error::new(
                ErrorCode::InvalidObjectName,
                format!("{name} has no order {order}"),
            ));
        };
        let tag = area.order_tag(found)?;
        if !tag.is_candidate || tag.condition.is_some() {
            let what = format!("a primary key is a unique order of all records, and order {order} of {name} is none");
            return Err(Error::new(ErrorCode::InvalidKeyOptions, what));
        }
        Ok((index_of(area.index_path(found)?, self.dictionary()?), tag))
    }

    /// A property of a field.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table or a field that is not there, [`ErrorCode::PropertyNotSet`].
    pub fn field_property(&mut self, table: &str, field: &str, property: FieldProperty) -> Result<PropertyValue> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let field = dictionary.field(table, field)?;
        let definition = |place: usize| {
            let bytes = field
                .values
                .get(place::FIELD_DEFINITION)?
                .get(2 * place..)?
                .first_chunk()?;
            Some(PropertyValue::Short(u16::from_le_bytes(*bytes)))
        };
        match property {
            FieldProperty::Comment => set_text(&field.comment),
            FieldProperty::DefaultValue => text_at(field, place::FIELD_DEFAULT),
            FieldProperty::CanBeNull => {
                let can_be_null = field.values.get(place::FIELD_NOT_NULL).is_none();
                Ok(PropertyValue::Short(can_be_null.into()))
            }
            FieldProperty::Minimum => text_at(field, place::FIELD_MINIMUM),
            FieldProperty::Maximum => text_at(field, place::FIELD_MAXIMUM),
            FieldProperty::ValidationMessage => text_at(field, place::FIELD_MESSAGE),
            FieldProperty::Type => definition(0).ok_or_else(not_set),
            FieldProperty::Length => definition(1).ok_or_else(not_set),
            FieldProperty::Decimals => definition(2).ok_or_else(not_set),
            FieldProperty::Number => {
                let number = field.refers_to().and_then(|number| u16::try_from(number).ok());
                number.map(PropertyValue::Short).ok_or_else(not_set)
            }
            FieldProperty::UserDefined => user_defined(field),
        }
    }

    /// Sets a property of a field; an empty text removes it.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table or a field that is not there; [`ErrorCode::InvalidPropertyId`] for a property that is
    /// not set; [`ErrorCode::DataTooLong`]; when the dictionary cannot be written.
    pub fn set_field_property(
        &mut self,
        (table, name): (&str, &str),
        (property, validation): (FieldProperty, Validation),
        value: &PropertyValue,
        settings: &Settings,
    ) -> Result<()> {
        let path = self.dictionary()?.path(table).transpose()?.unwrap_or_default();
        self.dictionary_to_change()?.change(settings, |changing| {
            let number = found(
                changing,
                |object| object.kind == Kind::Table && object.is_called(table),
                table,
            )?
            .number;
            let mut field = found(
                changing,
                |object| object.is(Kind::Field, number) && object.is_called(name),
                name,
            )?;
            match (property, value) {
                (FieldProperty::CanBeNull, PropertyValue::Short(can_be_null)) => {
                    let value = (*can_be_null == 0).then(Vec::new);
                    field.values.set(place::FIELD_NOT_NULL, value);
                }
                (FieldProperty::UserDefined, _) => put_user_defined(&mut field, value)?,
                (FieldProperty::Comment, _) => given_text(value)?.clone_into(&mut field.comment),
                (FieldProperty::DefaultValue, _) => put_text(&mut field, place::FIELD_DEFAULT, given_text(value)?),
                (FieldProperty::Minimum, _) => put_text(&mut field, place::FIELD_MINIMUM, given_text(value)?),
                (FieldProperty::Maximum, _) => put_text(&mut field, place::FIELD_MAXIMUM, given_text(value)?),
                (FieldProperty::ValidationMessage, _) => put_text(&mut field, place::FIELD_MESSAGE, given_text(value)?),
                _ => return Err(invalid_property()),
            }
            changing.replace(&field)?;
            match property.is_rule() {
                true => rules::check(
                    &rules::texts_of(changing.objects(), number),
                    &path,
                    validation,
                    settings,
                ),
                false => Ok(()),
            }
        })?;
        self.hold_to_new_rules(settings)
    }
}

impl Dictionary {
    pub(super) fn of_kind(&self, kind: Kind) -> Vec<&Object> {
        self.objects.iter().filter(|object| object.kind == kind).collect()
    }

    pub(super) fn children(&self, kind: Kind, parent: u32) -> Vec<&Object> {
        self.objects.iter().filter(|object| object.is(kind, parent)).collect()
    }

    pub(super) fn database(&self) -> Result<&Object> {
        let found = self.objects.iter().find(|object| object.kind == Kind::Database);
        found.ok_or_else(|| {
            let what = format!(
                "{}: expected an object of type Database, found none",
                self.file.display()
            );
            Error::new(ErrorCode::InvalidDictionaryFile, what)
        })
    }

    /// A table or a view: what has triggers.
    pub(super) fn with_triggers(&self, name: &str) -> Result<&Object> {
        let mut objects = self.objects.iter().filter(|object| object.has_triggers());
        objects
            .find(|object| object.is_called(name))
            .ok_or_else(|| invalid_name(name))
    }

    pub(super) fn table(&self, name: &str) -> Result<&Object> {
        let mut tables = self.objects.iter().filter(|object| object.kind == Kind::Table);
        tables
            .find(|table| table.is_called(name))
            .ok_or_else(|| invalid_name(name))
    }

    fn field(&self, table: &str, name: &str) -> Result<&Object> {
        let table = self.table(table)?.number;
        let mut fields = self.objects.iter().filter(|object| object.is(Kind::Field, table));
        fields
            .find(|field| field.is_called(name))
            .ok_or_else(|| invalid_name(name))
    }

    /// The key that is the primary one of a table.
    pub(super) fn primary_key(&self, table: &Object) -> Option<&Object> {
        let number = table.refers_to()?;
        self.objects
            .iter()
            .find(|object| object.kind == Kind::Key && object.number == number)
    }

    /// The relations that a table is the parent or the child of.
    pub(super) fn relations_of(&self, table: u32) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(move |object| {
            let mut ends = [0, 2].into_iter();
            object.kind == Kind::Relation && ends.any(|place| object.values.number(place) == Some(table))
        })
    }

    /// What its tables call it.
    pub(super) fn own_name(&self) -> String {
        format!(".\\{}", self.file.file_name().unwrap_or_default().to_string_lossy())
    }

    /// The kind of a table.
    pub(super) fn type_of(&self, name: &str) -> Result<TableType> {
        let path = self.path(name).transpose()?.unwrap_or_default();
        let is_of_clipper = |index: &PathBuf| index.extension().is_some_and(|own| own.eq_ignore_ascii_case("ntx"));
        let header = Table::open(&path, &OpenOptions::new())?.header().dialect;
        Ok(match header {
            Dialect::Adt => TableType::Adt,
            Dialect::VisualFoxPro => TableType::Vfp,
            _ if self.indexes(&path).iter().any(is_of_clipper) => TableType::Ntx,
            _ => TableType::Cdx,
        })
    }

    /// The file of a name that a program gives, which lies in the folder of the dictionary or below it.
    fn file_inside(&self, name: &str, extension: &str) -> Result<PathBuf> {
        let has_extension = name.rsplit(['/', '\\']).next().is_some_and(|file| file.contains('.'));
        let name = match has_extension {
            true => name.trim().to_owned(),
            false => format!("{}.{extension}", name.trim()),
        };
        self.place_inside(&name, self.folder())
    }

    /// What a program names, from a folder, and lies in the folder of the dictionary or below it.
    pub(super) fn place_inside(&self, name: &str, from: &Path) -> Result<PathBuf> {
        let path = self.paths.resolve(name, from)?;
        let whole = path.canonicalize();
        let whole =
            whole.map_err(|error| Error::new(ErrorCode::FileNotFound, format!("{}: {error}", path.display())))?;
        let folder = self.folder().canonicalize().unwrap_or_default();
        match whole.starts_with(&folder) {
            true => Ok(whole),
            false => {
                let what = format!(
                    "{} is not in {}, the folder of the dictionary, nor below it",
                    whole.display(),
                    folder.display()
                );
                Err(Error::new(ErrorCode::InvalidPath, what))
            }
        }
    }

    /// The path of a file as the dictionary has it.
    pub(super) fn relative(&self, path: &Path) -> String {
        let folder = self.folder().canonicalize().unwrap_or_default();
        let inside = path.strip_prefix(&folder).unwrap_or(path);
        let parts = inside
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned());
        format!(".\\{}", parts.collect::<Vec<_>>().join("\\"))
    }
}

/// The objects of a table that is taken in.
struct Objects {
    table: Object,
    fields: Vec<Object>,
    indexes: Indexes,
}

impl Objects {
    fn of(area: &WorkArea, path: &Path, dictionary: &Dictionary) -> Result<Self> {
        let count = u16::try_from(area.fields().len()).unwrap_or(u16::MAX);
        let values = Values::default()
            .with_text(place::PATH, &text_of(&dictionary.relative(path)))
            .with(place::TABLE_FIELD_COUNT, count.to_le_bytes());
        let mut table = Object::new(Kind::Table, dictionary.database()?.number, "").values(values);
        table.info = [Some(0), Some(0)];
        let fields = (1..).zip(area.fields()).map(|(number, field)| {
            let values = Values::default()
                .with(place::FIELD_DEFINITION, definition_of(field, area.dialect()))
                .with(place::FIELD_OPTIONS, [0; 4]);
            Object::new(Kind::Field, 0, &field.name).values(values).info(number)
        });
        let fields = fields.collect();
        Ok(Self {
            table,
            fields,
            indexes: Indexes::of(area, dictionary)?,
        })
    }

    /// Adds them and returns the number of the table.
    fn add_to(self, changing: &mut file::Changing) -> Result<u32> {
        let name = &self.table.name;
        let mut known = changing.objects().iter();
        let is_table = |object: &Object| matches!(object.kind, Kind::Table | Kind::View) && object.is_called(name);
        if let Some(known) = known.find(|object| is_table(object)) {
            return Err(not_completed(&format!("the data dictionary has a {known} already")));
        }
        let table = changing.add(self.table)?;
        for field in self.fields {
            changing.add(Object { parent: table, ..field })?;
        }
        self.indexes.add_to(changing, table)?;
        Ok(table)
    }
}

/// What a dictionary says of a field: its type, width and decimals.
pub(super) fn definition_of(field: &Field, dialect: Dialect) -> Vec<u8> {
    let definition = [
        FieldType::of(field, dialect) as u16,
        u16::try_from(field.width).unwrap_or(u16::MAX),
        field.decimals.into(),
    ];
    definition.map(u16::to_le_bytes).concat()
}

/// An object of a dictionary that is being changed.
pub(super) fn found(changing: &file::Changing, is_it: impl Fn(&Object) -> bool, name: &str) -> Result<Object> {
    let object = changing.objects().iter().find(|object| is_it(object));
    object.cloned().ok_or_else(|| invalid_name(name))
}

pub(super) fn text_of(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    match file::CODEPAGE.encode(text, &mut bytes) {
        Ok(()) => bytes,
        // What the code page has no letter for stays as it is written elsewhere.
        Err(_) => text.as_bytes().to_vec(),
    }
}

pub(super) fn put_text(object: &mut Object, place: usize, text: &str) {
    let value = (!text.is_empty()).then(|| [text_of(text), vec![0]].concat());
    object.values.set(place, value);
}

pub(super) fn text_at(object: &Object, place: usize) -> Result<PropertyValue> {
    let text = object.values.text(place).map(|text| CodePage::Cp1252.decode(text));
    text.map(PropertyValue::Text).ok_or_else(not_set)
}

pub(super) fn set_text(text: &str) -> Result<PropertyValue> {
    match text.is_empty() {
        true => Err(not_set()),
        false => Ok(PropertyValue::Text(text.to_owned())),
    }
}

pub(super) fn given_text(value: &PropertyValue) -> Result<&str> {
    match value {
        PropertyValue::Text(text) | PropertyValue::Wide(text) => Ok(text),
        PropertyValue::Short(_) | PropertyValue::Long(_) | PropertyValue::Bytes(_) => Err(Error::new(
            ErrorCode::InvalidProperty,
            "the property is a text, and something else is given",
        )),
    }
}

/// What a program keeps in an object for itself.
pub(super) fn user_defined(object: &Object) -> Result<PropertyValue> {
    let bytes = object.values.get(place::USER_DEFINED).map(<[u8]>::to_vec);
    bytes.map(PropertyValue::Bytes).ok_or_else(not_set)
}

pub(super) fn put_user_defined(object: &mut Object, value: &PropertyValue) -> Result<()> {
    let bytes = match value {
        PropertyValue::Bytes(bytes) => bytes.clone(),
        PropertyValue::Text(text) | PropertyValue::Wide(text) => text_of(text),
        _ => return Err(Error::new(ErrorCode::InvalidProperty, "the property is bytes")),
    };
    object
        .values
        .set(place::USER_DEFINED, Some(bytes).filter(|bytes| !bytes.is_empty()));
    Ok(())
}

/// A number of two bytes that says whether something is so.
pub(super) fn given_flag(value: &PropertyValue) -> Result<u16> {
    match value {
        PropertyValue::Short(number) => Ok(*number),
        _ => Err(Error::new(ErrorCode::InvalidProperty, "the property is a number")),
    }
}

fn no_dictionary() -> Error {
    let what = "the connection is to a folder of tables, and not to a data dictionary";
    Error::new(ErrorCode::InvalidDictionaryHandle, what)
}

pub(super) fn invalid_name(name: &str) -> Error {
    Error::new(
        ErrorCode::InvalidObjectName,
        format!("the data dictionary has no {name} there"),
    )
}

pub(super) fn invalid_property() -> Error {
    Error::new(ErrorCode::InvalidPropertyId, "the property is not set by programs")
}

pub(super) fn not_set() -> Error {
    Error::new(ErrorCode::PropertyNotSet, "the property is not set")
}

pub(super) fn not_completed(why: &str) -> Error {
    Error::new(ErrorCode::DdRequestNotCompleted, why)
}

/// What `Info1` of the dictionary is in the files at hand.
const DATABASE_INFO: u32 = 4;
