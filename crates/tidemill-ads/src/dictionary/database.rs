//! Properties of a dictionary as a whole.

use super::administration::{
    found, given_flag, given_text, invalid_property, not_set, put_text, put_user_defined, set_text, text_at,
    user_defined,
};
use super::object::{Kind, Object, place};
use super::property::{DatabaseProperty, PropertyValue};
use super::switching::TriggerScope;
use crate::connection::Connection;
use crate::error::Result;
use crate::settings::Settings;

impl Connection {
    /// A property of the dictionary.
    ///
    /// # Errors
    /// [`ErrorCode::PropertyNotSet`](crate::ErrorCode::PropertyNotSet).
    pub fn database_property(&mut self, property: DatabaseProperty) -> Result<PropertyValue> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let database = dictionary.database()?;
        let [tables, temporary] = place::DATABASE_PATHS;
        match property {
            DatabaseProperty::Comment => set_text(&database.comment),
            DatabaseProperty::DefaultTablePath => text_at(database, tables),
            DatabaseProperty::TempTablePath => text_at(database, temporary),
            DatabaseProperty::AdminPassword => Err(invalid_property()),
            DatabaseProperty::LogInRequired => flag_at(database, place::DATABASE_LOG_IN_REQUIRED),
            DatabaseProperty::VerifyAccessRights => flag_at(database, place::DATABASE_VERIFY_RIGHTS),
            DatabaseProperty::TriggersDisabled => flag_at(database, place::TRIGGERS_DISABLED),
            DatabaseProperty::UserDefined => user_defined(database),
            DatabaseProperty::VersionMajor => version_at(database, place::DATABASE_VERSION[0]),
            DatabaseProperty::VersionMinor => version_at(database, place::DATABASE_VERSION[1]),
        }
    }

    /// Sets a property of the dictionary; an empty text removes it.
    ///
    /// # Errors
    /// [`ErrorCode::DataTooLong`](crate::ErrorCode::DataTooLong); when the dictionary cannot be written.
    pub fn set_database_property(
        &mut self,
        property: DatabaseProperty,
        value: &PropertyValue,
        settings: &Settings,
    ) -> Result<()> {
        if property == DatabaseProperty::AdminPassword {
            return self.set_password("ADSSYS", given_text(value)?, settings);
        }
        if property == DatabaseProperty::TriggersDisabled {
            return self.switch_triggers(TriggerScope::Database, given_flag(value)? == 0, settings);
        }
        if let DatabaseProperty::UserDefined | DatabaseProperty::VersionMajor | DatabaseProperty::VersionMinor =
            property
        {
            return self.note_in_database(property, value, settings);
        }
        let flag = match property {
            DatabaseProperty::LogInRequired => Some(place::DATABASE_LOG_IN_REQUIRED),
            DatabaseProperty::VerifyAccessRights => Some(place::DATABASE_VERIFY_RIGHTS),
            _ => None,
        };
        let number = if flag.is_some() { given_flag(value)? } else { 0 };
        let text = if flag.is_some() { "" } else { given_text(value)? };
        self.dictionary_to_change()?.change(settings, |changing| {
            let mut database = found(changing, |object| object.kind == Kind::Database, "the database")?;
            let [tables, temporary] = place::DATABASE_PATHS;
            match property {
                DatabaseProperty::Comment => text.clone_into(&mut database.comment),
                DatabaseProperty::DefaultTablePath => put_text(&mut database, tables, text),
                DatabaseProperty::TempTablePath => put_text(&mut database, temporary, text),
                _ => {}
            }
            if let Some(place) = flag {
                let value = (number != 0).then(|| 1_u16.to_le_bytes().to_vec());
                database.values.set(place, value);
            }
            changing.replace(&database)
        })
    }
}

impl Connection {
    /// What a program notes in a dictionary for itself.
    fn note_in_database(
        &mut self,
        property: DatabaseProperty,
        value: &PropertyValue,
        settings: &Settings,
    ) -> Result<()> {
        let [major, minor] = place::DATABASE_VERSION;
        let place = if property == DatabaseProperty::VersionMajor {
            major
        } else {
            minor
        };
        let is_version = property != DatabaseProperty::UserDefined;
        let number = if is_version { given_flag(value)? } else { 0 };
        self.dictionary_to_change()?.change(settings, |changing| {
            let mut database = found(changing, |object| object.kind == Kind::Database, "the database")?;
            match is_version {
                true => database.values.set(place, Some(number.to_le_bytes().to_vec())),
                false => put_user_defined(&mut database, value)?,
            }
            changing.replace(&database)
        })
    }
}

fn version_at(object: &Object, place: usize) -> Result<PropertyValue> {
    let number = object
        .values
        .number(place)
        .and_then(|number| u16::try_from(number).ok());
    number.map(PropertyValue::Short).ok_or_else(not_set)
}

fn flag_at(object: &Object, place: usize) -> Result<PropertyValue> {
    let is_set = object.values.number(place).is_some_and(|value| value != 0);
    Ok(PropertyValue::Short(is_set.into()))
}
