//! Settings of a query, in the form that the server's revision knows, and parameters, which look like them.
//!
//! Source: `Core/BaseSettings.h` of ClickHouse. Which settings there are is the server's business.

use super::super::{MAX_LIST, MAX_NAME, MAX_TEXT};
use crate::{
    Error, Result, Revision, sql_text,
    wire::{Reader, put_string, put_varint},
};

/// A setting of a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: SettingValue,
    /// Whether a server that does not know it fails. Servers before 54429 always do.
    pub is_important: bool,
    /// Whether it is one of the user's own, with a prefix that the server allows.
    pub is_custom: bool,
}

impl Setting {
    /// Makes a setting that servers which do not know it may ignore.
    pub fn new(name: impl Into<String>, value: impl Into<SettingValue>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            is_important: false,
            is_custom: false,
        }
    }
}

/// The value of a setting. Servers before revision 54429 must be told which of the two they expect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SettingValue {
    /// A whole number, a truth value (0 or 1), or a time in its unit (seconds, milliseconds).
    Number(u64),
    /// Everything else, numbers with fractions too.
    Text(String),
}

impl SettingValue {
    /// Takes text for a number where it is one, as on a command line. `true` and `false` are 1 and 0.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "true" => Self::Number(1),
            "false" => Self::Number(0),
            // `+1` and `01` parse as well and are not what the server would write.
            _ => match text.parse::<u64>() {
                Ok(number) if number.to_string() == text => Self::Number(number),
                _ => Self::Text(text.to_owned()),
            },
        }
    }
}

impl From<u64> for SettingValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for SettingValue {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for SettingValue {
    fn from(value: bool) -> Self {
        Self::Number(value.into())
    }
}

impl From<f64> for SettingValue {
    fn from(number: f64) -> Self {
        Self::Text(number.to_string())
    }
}

impl From<&str> for SettingValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SettingValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

pub(super) fn encode_settings(settings: &[Setting], revision: Revision, bytes: &mut Vec<u8>) {
    for setting in settings {
        put_string(bytes, &setting.name);
        if revision >= Revision::SETTINGS_AS_STRINGS {
            let flags = (u64::from(setting.is_important) * IMPORTANT) | (u64::from(setting.is_custom) * CUSTOM);
            put_varint(bytes, flags);
            match &setting.value {
                SettingValue::Number(number) => put_string(bytes, number.to_string()),
                SettingValue::Text(text) => put_string(bytes, text),
            }
        } else {
            match &setting.value {
                SettingValue::Number(number) => put_varint(bytes, *number),
                SettingValue::Text(text) => put_string(bytes, text),
            }
        }
    }
    put_string(bytes, "");
}

pub(super) fn decode_settings(reader: &mut Reader<'_>, revision: Revision) -> Result<Vec<Setting>> {
    let mut settings = Vec::new();
    if revision < Revision::SETTINGS_AS_STRINGS {
        let name = reader.string("the name of a setting", MAX_NAME)?;
        if name.is_empty() {
            return Ok(settings);
        }
        return Err(Error::Unsupported {
            what: format!("setting `{name}` at revision {revision}"),
            hint: "its type is not known; send settings as text, at revision 54429 or later",
        });
    }
    while let Some((name, flags, value)) = decode_setting(reader, settings.len())? {
        settings.push(Setting {
            name,
            value: SettingValue::Text(value),
            is_important: flags & IMPORTANT != 0,
            is_custom: flags & CUSTOM != 0,
        });
    }
    Ok(settings)
}

fn decode_setting(reader: &mut Reader<'_>, number: usize) -> Result<Option<(String, u64, String)>> {
    let name = reader.string("the name of a setting", MAX_NAME)?;
    if name.is_empty() {
        return Ok(None);
    }
    if number == MAX_LIST {
        return Err(Error::Limit {
            what: "the number of settings",
            limit: MAX_LIST as u64,
            found: MAX_LIST as u64 + 1,
        });
    }
    let flags = reader.varint("the flags of a setting")?;
    Ok(Some((name, flags, reader.string("the value of a setting", MAX_TEXT)?)))
}

/// Parameters are custom settings whose values are strings in quotes.
pub(super) fn encode_parameters(parameters: &[(String, String)], bytes: &mut Vec<u8>) {
    for (name, value) in parameters {
        put_string(bytes, name);
        put_varint(bytes, CUSTOM);
        put_string(bytes, sql_text::string(value));
    }
    put_string(bytes, "");
}

pub(super) fn decode_parameters(reader: &mut Reader<'_>) -> Result<Vec<(String, String)>> {
    let mut parameters = Vec::new();
    while let Some((name, _, value)) = decode_setting(reader, parameters.len())? {
        let value = sql_text::unquoted(&value)
            .ok_or_else(|| reader.error("the value of a parameter", "a string in quotes", format!("`{value}`")))?;
        parameters.push((name, value));
    }
    Ok(parameters)
}

/// Flags of a setting: `BaseSettingsHelpers::Flags` of ClickHouse.
const IMPORTANT: u64 = 1;
const CUSTOM: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_on_a_command_line_are_numbers_where_they_look_so() {
        for (text, value) in [
            ("8", SettingValue::Number(8)),
            ("true", SettingValue::Number(1)),
            ("false", SettingValue::Number(0)),
            ("0.5", SettingValue::Text("0.5".to_owned())),
            ("08", SettingValue::Text("08".to_owned())),
            ("any", SettingValue::Text("any".to_owned())),
        ] {
            assert_eq!(SettingValue::parse(text), value);
        }
    }
}
