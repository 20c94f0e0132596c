//! Tables that statements make and remove.

use std::path::PathBuf;

use tidemill_xbase::{Alteration, Existing, Field, FieldSpec, TableEditor, TableSet, TableWriter, fits_header};

use super::ConnectionTables;
use super::surroundings::{read_only, today};
use crate::dictionary::{FieldProperty, NewTable, ObjectKind, PropertyValue, TableProperty, Validation};
use crate::progress::Work;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::statement::{ColumnRule, RuleChange, TableName};
use crate::sql::tables::Tables as _;
use crate::work_area::{edit_options, open_editor};
use crate::{TableOptions, TableType};

/// What another structure a table is to have, for its fields.
pub(super) type Making<'m> = dyn FnMut(&[Field]) -> Result<Alteration> + 'm;

impl ConnectionTables<'_> {
    /// Makes a table without records.
    ///
    /// # Errors
    /// As [`Tables::create_table`].
    pub(super) fn make(&mut self, name: &TableName, fields: &[FieldSpec]) -> Result<()> {
        if self.path(name).is_ok() {
            return Err(Error::new(Kind::Exists, format!("ISAM table already exists: {name}")));
        }
        let written = name.to_string();
        let table_type = self.made_type(name);
        let place = self
            .connection
            .place_for(&written, fields.to_vec(), table_type, self.settings);
        let (path, fields) = place?;
        let table = TableOptions {
            table_type,
            ..self.options.table.clone()
        };
        let mut options = table.create_options(today(&(self.options.clock)()));
        options.long_names = self.makes_standard_tables()
            && table_type == TableType::Vfp
            && !fields.iter().all(|field| fits_header(&field.name));
        options.existing = Existing::Refuse;
        let made = TableWriter::create(&path, &fields, &options).and_then(TableWriter::finish);
        if made.is_err() {
            self.connection.temporary.forget(&path);
        }
        made.map_err(|error| match error {
            // Somebody has made it meanwhile, or a file that would be one of its own is there.
            tidemill_xbase::Error::Exists { .. } => Error::new(Kind::Exists, error.to_string()),
            error => error.into(),
        })?;
        self.state().found.remove(name);
        if self.connection.transactions.is_under_way() {
            // As in ADS, a rollback does not remove it.
            let path = self.path(name)?;
            self.state().made.insert(path);
        }
        Ok(())
    }

    /// Takes a table that was made just now into the data dictionary.
    ///
    /// # Errors
    /// As [`Tables::take_in`].
    pub(super) fn take_into_dictionary(&mut self, name: &TableName, has_primary_key: bool) -> Result<()> {
        if !self.connection.has_dictionary() {
            let why =
                format!("{name} IN DATABASE needs a data dictionary, and the connection is to a folder of tables");
            return Err(Error::new(Kind::Unsupported, why));
        }
        let path = self.path(name)?;
        self.state().close(&path);
        let written = path.to_string_lossy().into_owned();
        let table = NewTable {
            name: name.last(),
            path: &written,
            table_type: self.options.table.table_type,
            ..NewTable::default()
        };
        self.connection.add_dictionary_table(&table, self.settings)?;
        if !has_primary_key {
            return Ok(());
        }
        let orders = self.connection.dictionary_objects(ObjectKind::Index, name.last())?;
        let key = PropertyValue::Text(orders.into_iter().next().unwrap_or_default());
        let rule = (TableProperty::PrimaryKey, Validation::None);
        Ok(self
            .connection
            .set_table_property(name.last(), rule, &key, self.settings)?)
    }

    /// Changes the rules of a table of the data dictionary, all or none.
    ///
    /// # Errors
    /// As [`Tables::set_rules`].
    pub(super) fn put_rules(&mut self, name: &TableName, rules: &[RuleChange]) -> Result<()> {
        let path = self.path(name)?;
        self.state().close(&path);
        let table = self.connection.dictionary_name(&path).unwrap_or_default();
        let mut before = Vec::new();
        for change in rules {
            let column = &change.column.value;
            let property = property_of(change);
            let old = self.rule(&table, column, property);
            let value = match (property, &change.value) {
                (Some(FieldProperty::CanBeNull), value) => PropertyValue::Short(u16::from(value.is_none())),
                (_, value) => PropertyValue::Text(value.clone().unwrap_or_default()),
            };
            if let Err(error) = self.set_rule(&table, column, property, (&value, Validation::ReturnError)) {
                for (column, property, old) in before.into_iter().rev() {
                    let _ = self.set_rule(&table, column, property, (&old, Validation::None));
                }
                return Err(error.at(change.column.span.start));
            }
            before.push((column, property, old));
        }
        Ok(())
    }

    /// Opens a table that nobody else has open meanwhile, with all its indexes.
    ///
    /// # Errors
    /// As [`Tables::exclusively`].
    pub(super) fn open_alone(&mut self, name: &TableName) -> Result<TableEditor> {
        self.connection.check_administrator()?;
        let path = self.alone(name, "The structure of a table is not changed")?;
        self.connection.ready_to_write(&path)?;
        let options = self.options.table.clone().exclusive();
        let read = (self.open_options(&path), &Work::default());
        let opened = open_editor(&path, &options, self.settings, read, None);
        let mut editor = opened.map_err(|error| read_only(&path, error))?;
        self.connection.open_indexes_of(&mut editor)?;
        self.connection.hold_to_rules(&mut editor, self.settings)?;
        Ok(editor)
    }

    /// Gives a table another structure.
    ///
    /// # Errors
    /// As [`Tables::alter`].
    pub(super) fn alter_fields(&mut self, name: &TableName, rules: &[RuleChange], make: &mut Making<'_>) -> Result<()> {
        if rules.is_empty() {
            return self.alter_alone(name, make);
        }
        let before = self.rules_now(name, rules)?;
        self.put_rules(name, rules)?;
        let altered = self.alter_alone(name, make);
        if altered.is_err() {
            self.put_rules(name, &before)?;
        }
        altered
    }

    fn alter_alone(&mut self, name: &TableName, make: &mut Making<'_>) -> Result<()> {
        let mut editor = self.open_alone(name)?;
        let path = editor.path().to_owned();
        let alteration = make(editor.fields())?;
        self.connection.alter(&mut editor, alteration, self.settings)?;
        editor.sync()?;
        drop(editor);
        Ok(self.connection.note_keys(&path, self.settings)?)
    }

    /// What rules are now that are to be changed.
    fn rules_now(&mut self, name: &TableName, rules: &[RuleChange]) -> Result<Vec<RuleChange>> {
        let path = self.path(name)?;
        let table = self.connection.dictionary_name(&path).unwrap_or_default();
        let now = rules.iter().map(|change| RuleChange {
            value: match self.rule(&table, &change.column.value, property_of(change)) {
                PropertyValue::Short(0) => Some(String::new()),
                PropertyValue::Text(text) if !text.is_empty() => Some(text),
                _ => None,
            },
            ..change.clone()
        });
        Ok(now.collect())
    }

    /// A rule of a column, or the name of the primary key.
    fn rule(&mut self, table: &str, column: &str, property: Option<FieldProperty>) -> PropertyValue {
        let value = match property {
            Some(property) => self.connection.field_property(table, column, property),
            None => self.connection.table_property(table, TableProperty::PrimaryKey),
        };
        // ADS answers an error for a property that is not set.
        value.unwrap_or_else(|_| match property {
            Some(FieldProperty::CanBeNull) => PropertyValue::Short(1),
            _ => PropertyValue::Text(String::new()),
        })
    }

    fn set_rule(
        &mut self,
        table: &str,
        column: &str,
        property: Option<FieldProperty>,
        (value, validation): (&PropertyValue, Validation),
    ) -> Result<()> {
        let (connection, settings) = (&mut *self.connection, self.settings);
        Ok(match property {
            Some(property) => connection.set_field_property((table, column), (property, validation), value, settings),
            None => connection.set_table_property(table, (TableProperty::PrimaryKey, validation), value, settings),
        }?)
    }

    /// Has the data dictionary know the orders that the files of a table have now.
    pub(super) fn note_orders_of(&mut self, name: &TableName) -> Result<()> {
        if self.connection.dictionary.is_none() || self.connection.temporary.path(&name.to_string()).is_some() {
            return Ok(());
        }
        let path = self.path(name)?;
        Ok(self.connection.note_orders(&path, self.settings)?)
    }

    /// Refuses to drop an order that a primary key or a relation needs.
    pub(super) fn check_order_unused(&mut self, name: &TableName, order: &str) -> Result<()> {
        if self.connection.dictionary.is_none() {
            return Ok(());
        }
        let path = self.path(name)?;
        Ok(self.connection.check_order_unused(&path, order)?)
    }

    /// Removes a table and the files that belong to it, or takes it out of its data dictionary alone.
    ///
    /// # Errors
    /// As [`Tables::drop_table`].
    pub(super) fn remove(&mut self, name: &TableName, keeps_files: bool) -> Result<()> {
        let named = self.find(name)?;
        if std::fs::symlink_metadata(&named).is_ok_and(|found| found.is_symlink()) {
            let table = self.path(name)?;
            let why = format!(
                "{name} is a link to {}: remove the link, or drop the table where it is",
                table.display()
            );
            return Err(Error::new(Kind::Unsupported, why));
        }
        let path = self.alone(name, "A table is not dropped")?;
        if let Some(known) = self.connection.dictionary_name(&path) {
            return Ok(self
                .connection
                .remove_dictionary_table(&known, !keeps_files, self.settings)?);
        }
        if keeps_files {
            let why = format!("{name} is in no data dictionary that it could be taken out of");
            return Err(Error::new(Kind::Unsupported, why));
        }
        self.connection.ready_to_write(&path)?;
        // A program that has the table open would keep a deleted file.
        let options = self.options.table.clone().exclusive();
        let opened = TableEditor::open(&path, &edit_options(&options, self.settings, self.open_options(&path)));
        let opened = opened.map_err(|error| read_only(&path, error.into()));
        drop(self.opened_file(name, opened)?);
        self.state().found.retain(|_, known| *known != path);
        self.state().made.remove(&path);
        let files = TableSet::of(&path).files()?;
        let companions = files.iter().filter(|file| **file != *path && file.is_file());
        for file in std::iter::once(path.as_ref()).chain(companions.map(PathBuf::as_path)) {
            std::fs::remove_file(file)
                .map_err(|error| Error::new(Kind::Engine, format!("cannot remove {}: {error}", file.display())))?;
        }
        self.connection.temporary.forget(&path);
        Ok(())
    }
}

/// The property that keeps a rule; `None` for the primary key.
fn property_of(change: &RuleChange) -> Option<FieldProperty> {
    Some(match change.rule? {
        ColumnRule::NotNull => FieldProperty::CanBeNull,
        ColumnRule::Minimum => FieldProperty::Minimum,
        ColumnRule::Maximum => FieldProperty::Maximum,
        ColumnRule::Message => FieldProperty::ValidationMessage,
        ColumnRule::Default => FieldProperty::DefaultValue,
    })
}
