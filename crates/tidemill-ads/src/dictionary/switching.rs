//! Triggers and relations that are switched off and on: for a connection, and triggers for a dictionary, a table or one of them.
//!
//! What is off for a dictionary or a part of it is so for everybody, and stays so (SAP's help, "Disabling Triggers").

use super::administration::{found, invalid_name};
use super::object::{Kind, Object, place};
use super::property::PropertyValue;
use super::triggers::{Trigger, TriggerEvent};
use super::{Dictionary, file};
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// Whose triggers are switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerScope<'n> {
    /// Those that changes through the connection fire.
    Connection,
    /// All of the dictionary.
    Database,
    /// Those of a table.
    Table(&'n str),
    /// One.
    Trigger {
        /// Its table.
        table: &'n str,
        /// Its name.
        name: &'n str,
    },
}

impl<'n> TriggerScope<'n> {
    /// The scope that the names of an object and of its table say; `is_all` tells the dictionary from the connection where there is none
    /// (SAP's help, `sp_DisableTriggers`).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table without its trigger.
    pub fn of(object: &'n str, parent: &'n str, is_all: bool) -> Result<Self> {
        match (object.trim(), parent.trim()) {
            ("", "") if is_all => Ok(Self::Database),
            ("", "") => Ok(Self::Connection),
            ("", table) => {
                let what = format!("a trigger of {table} has to be named, or the table as the object");
                Err(Error::new(ErrorCode::InvalidObjectName, what))
            }
            (table, "") => Ok(Self::Table(table)),
            (name, table) => Ok(Self::Trigger { table, name }),
        }
    }
}

impl Connection {
    /// Switches triggers off, or on again. Default: they are on.
    ///
    /// # Errors
    /// [`ErrorCode::UnableToDisableTriggers`] and [`ErrorCode::UnableToEnableTriggers`] within a trigger, and where all triggers of the table
    /// or the dictionary around are off; [`ErrorCode::PermissionDenied`] for who may not change the dictionary, who may switch his own on
    /// alone; [`ErrorCode::InvalidObjectName`] for a table or a trigger that is not there; [`ErrorCode::InvalidDictionaryHandle`] for a
    /// connection without a dictionary; when the dictionary cannot be written.
    pub fn switch_triggers(&mut self, scope: TriggerScope<'_>, is_on: bool, settings: &Settings) -> Result<()> {
        self.dictionary_mut()?.renew()?;
        let refused = |why: String| match is_on {
            true => Error::new(ErrorCode::UnableToEnableTriggers, why),
            false => Error::new(ErrorCode::UnableToDisableTriggers, why),
        };
        if self.acts_for.is_some() {
            return Err(refused("triggers and functions switch no triggers".to_owned()));
        }
        if scope == TriggerScope::Connection {
            if !is_on {
                self.check_administrator()?;
            }
            self.runner.switch(is_on);
            return Ok(());
        }
        let dictionary = self.dictionary_to_change()?;
        dictionary.change(settings, |changing| {
            let mut object = switched(changing, scope)?;
            for around in around(changing, &object) {
                if around.has_triggers_off() {
                    return Err(refused(format!(
                        "the triggers of {around} are off, those of {object} too"
                    )));
                }
            }
            let value = (!is_on).then(|| 1_u16.to_le_bytes().to_vec());
            object.values.set(place::TRIGGERS_DISABLED, value);
            changing.replace(&object)
        })?;
        self.hold_to_new_triggers(settings)
    }

    /// Whether changes through the connection fire triggers, as far as that is the connection's to say.
    pub fn fires_triggers(&self) -> bool {
        self.runner.is_on()
    }

    /// Whether the triggers of an event of a table, by the number of its object, are on: for the connection, the dictionary and the table,
    /// and one at least where the table has any.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there; [`ErrorCode::InvalidDictionaryHandle`].
    pub fn are_triggers_on(&mut self, table: u32, event: TriggerEvent) -> Result<bool> {
        let is_on = self.runner.is_on();
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let mut tables = dictionary.of_kind(Kind::Table).into_iter();
        let table = tables.find(|known| known.number == table);
        let table = table.ok_or_else(|| invalid_name("table of this number"))?;
        let is_off = dictionary.database()?.has_triggers_off() || table.has_triggers_off();
        let triggers = dictionary.children(Kind::Trigger, table.number).into_iter();
        let mut of_event = triggers
            .filter(|object| Trigger::of(object).is_ok_and(|trigger| trigger.event == event))
            .peekable();
        let has_none = of_event.peek().is_none();
        Ok(is_on && !is_off && (has_none || of_event.any(|trigger| !trigger.has_triggers_off())))
    }

    /// Closes the tables and statements that triggers of the connection have open for the next time that they fire. `table` is the number
    /// of the object of a table, or 0 for all; triggers share what they have open, so that all of it is closed.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there; [`ErrorCode::InvalidDictionaryHandle`].
    pub fn close_trigger_statements(&mut self, table: u32) -> Result<()> {
        let dictionary = self.dictionary()?;
        let mut tables = dictionary.of_kind(Kind::Table).into_iter();
        if table != 0 && !tables.any(|known| known.number == table) {
            return Err(invalid_name("table of this number"));
        }
        self.runner.lay_down();
        Ok(())
    }

    /// Keeps the relations of the dictionary in changes through the connection, or not (SAP's help, `AdsDisableRI`). Default: they are
    /// kept. Others are not concerned.
    ///
    /// # Errors
    /// When a table that is open cannot be held to its rules.
    pub fn keep_relations(&mut self, keeps: bool, settings: &Settings) -> Result<()> {
        self.check_process()?;
        self.runner.keep_relations(keeps);
        if self.dictionary.is_none() {
            return Ok(());
        }
        self.statements.forget_names();
        self.hold_to_new_rules(settings)
    }

    /// Looks through the tables for records that refer to none. The tables are open here alone where that is asked for.
    ///
    /// # Errors
    /// [`ErrorCode::RiFailed`] with the first that there is; [`ErrorCode::FileInUse`]; [`ErrorCode::IllegalCommandDuringTransaction`];
    /// [`ErrorCode::InvalidDictionaryHandle`]; when a table cannot be read.
    pub fn verify_relations(&mut self, alone: bool, settings: &Settings) -> Result<()> {
        self.outside_of_transactions("verifying relations")?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let relations = dictionary.of_kind(Kind::Relation).into_iter();
        let names: Vec<String> = relations.map(|relation| relation.name.clone()).collect();
        for name in names {
            let text = |property| match self.relation_property(&name, property)? {
                PropertyValue::Text(text) => Ok(text),
                _ => Err(invalid_name(&name)),
            };
            let [parent, primary, child, foreign] = [501, 502, 503, 504].map(text);
            let (parent, primary, child, foreign) = (parent?, primary?, child?, foreign?);
            self.check_references(&name, (&parent, &primary), (&child, &foreign), alone, settings)?;
        }
        Ok(())
    }
}

impl Dictionary {
    /// The name of the table or the view that a trigger belongs to.
    pub(super) fn trigger_parent(&self, trigger: &Object) -> Option<&str> {
        let mut objects = self.objects.iter().filter(|object| object.has_triggers());
        objects
            .find(|object| object.number == trigger.parent)
            .map(|object| object.name.as_str())
    }

    /// Whether changes of a table fire triggers, as far as that is the dictionary's to say.
    pub(super) fn fires_any(&self, table: u32) -> bool {
        let known = self.triggers.get(&table);
        known.is_some_and(|known| known.as_ref().is_ok_and(|known| !known.is_empty()) || known.is_err())
    }
}

impl Object {
    /// Whether it is what triggers belong to: a table or a view.
    pub(super) fn has_triggers(&self) -> bool {
        matches!(self.kind, Kind::Table | Kind::View)
    }

    /// Whether the triggers that belong to it, or which it is, are switched off.
    pub(super) fn has_triggers_off(&self) -> bool {
        let value = self.values.number(place::TRIGGERS_DISABLED);
        value.is_some_and(|value| value != 0)
    }
}

/// The object whose triggers are switched.
fn switched(changing: &file::Changing, scope: TriggerScope<'_>) -> Result<Object> {
    let table_of = |name: &str| found(changing, |known| known.has_triggers() && known.is_called(name), name);
    match scope {
        TriggerScope::Connection | TriggerScope::Database => {
            found(changing, |known| known.kind == Kind::Database, "database")
        }
        TriggerScope::Table(name) => table_of(name),
        TriggerScope::Trigger { table, name } => {
            let table = table_of(table)?.number;
            found(
                changing,
                |known| known.is(Kind::Trigger, table) && known.is_called(name),
                name,
            )
        }
    }
}

/// What an object belongs to.
fn around(changing: &file::Changing, object: &Object) -> Vec<Object> {
    let known = changing.objects().iter();
    let is_around = |known: &&Object| match object.kind {
        Kind::Trigger => known.number == object.parent || known.kind == Kind::Database,
        Kind::Table | Kind::View => known.kind == Kind::Database,
        _ => false,
    };
    known.filter(is_around).cloned().collect()
}
