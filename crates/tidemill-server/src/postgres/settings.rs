//! The settings of a connection, which `SET` changes and `SHOW` returns.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use pgwire::error::PgWireError;

use super::failure::{error, hinted};
use crate::stores::PUBLIC;

/// The version of PostgreSQL whose protocol and catalogue are emulated. Clients rely on it.
pub(crate) const VERSION: &str = concat!("15.0 (Tidemill ", env!("CARGO_PKG_VERSION"), ")");

/// Names and default values. Those of the first list are reported to clients at the start, and on each change.
const REPORTED: [(&str, &str); 9] = [
    ("server_version", VERSION),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, MDY"),
    ("IntervalStyle", "postgres"),
    ("TimeZone", "UTC"),
    ("integer_datetimes", "on"),
    ("standard_conforming_strings", "on"),
    ("application_name", ""),
];
const OTHERS: [(&str, &str); 29] = [
    ("search_path", "\"$user\", public"),
    ("statement_timeout", "0"),
    ("lock_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    ("extra_float_digits", "1"),
    ("bytea_output", "hex"),
    ("client_min_messages", "notice"),
    ("default_transaction_isolation", "serializable"),
    ("transaction_isolation", "serializable"),
    ("default_transaction_read_only", "off"),
    ("transaction_read_only", "off"),
    ("default_transaction_deferrable", "off"),
    ("synchronous_commit", "on"),
    ("server_version_num", "150000"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("block_size", "8192"),
    ("lc_collate", "C"),
    ("lc_ctype", "C.UTF-8"),
    ("lc_messages", "C"),
    ("lc_monetary", "C"),
    ("lc_numeric", "C"),
    ("lc_time", "C"),
    ("backslash_quote", "safe_encoding"),
    ("escape_string_warning", "on"),
    ("row_security", "on"),
    ("jit", "off"),
    ("enable_seqscan", "on"),
];

/// Settings that cannot change: how values are encoded, and properties of the server.
const FIXED: [&str; 10] = [
    "server_version",
    "server_version_num",
    "server_encoding",
    "integer_datetimes",
    "standard_conforming_strings",
    "bytea_output",
    "IntervalStyle",
    "max_identifier_length",
    "max_index_keys",
    "block_size",
];

/// Boolean settings.
const SWITCHES: [&str; 3] = [READS_ONLY, READS_ONLY_BY_DEFAULT, "default_transaction_deferrable"];

/// Whether the transaction is read-only, and the default for transactions.
pub(crate) const READS_ONLY: &str = "transaction_read_only";
pub(crate) const READS_ONLY_BY_DEFAULT: &str = "default_transaction_read_only";

/// The settings of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    values: BTreeMap<String, String>,
    /// The values at the start of the connection, to which RESET returns.
    startup: BTreeMap<String, String>,
    /// Values that hold until the transaction ends.
    local: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        let all = REPORTED.iter().chain(&OTHERS);
        let values: BTreeMap<String, String> = all
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Self {
            startup: values.clone(),
            values,
            local: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// The settings of a startup message.
    pub(crate) fn of_startup(told: &HashMap<String, String>) -> Result<Self, PgWireError> {
        let mut settings = Self::default();
        for (name, value) in told {
            match name.as_str() {
                "user" | "database" | "replication" => {}
                "options" => {
                    for (name, value) in options(value) {
                        settings.set(&name, &value)?;
                    }
                }
                // Options of the protocol; a server ignores those that it does not know.
                name if name.starts_with("_pq_.") => {}
                name => {
                    settings.set(name, value)?;
                }
            }
        }
        settings.startup = settings.values.clone();
        Ok(settings)
    }

    /// The settings reported to a client at the start.
    pub(crate) fn reported(&self, user: &str) -> Vec<(&'static str, String)> {
        let mut all: Vec<_> = REPORTED
            .iter()
            .map(|(name, _)| (*name, self.get(name).unwrap_or_default().to_owned()))
            .collect();
        all.push(("session_authorization", user.to_owned()));
        all.push(("is_superuser", "off".to_owned()));
        all.push(("in_hot_standby", "off".to_owned()));
        all.push((
            READS_ONLY_BY_DEFAULT,
            self.get(READS_ONLY_BY_DEFAULT).unwrap_or("off").to_owned(),
        ));
        all
    }

    /// The value of a setting.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        // Unless set for the transaction, the default applies.
        let is_open = name.eq_ignore_ascii_case(READS_ONLY) && !self.local.contains_key(READS_ONLY);
        let name = if is_open { READS_ONLY_BY_DEFAULT } else { name };
        self.find(name).map(|(_, value)| value)
    }

    fn find(&self, name: &str) -> Option<(&str, &str)> {
        let mut all = self.local.iter().chain(&self.values);
        let found = all.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All settings, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.values.keys().map(String::as_str);
        names.filter_map(|name| Some((name, self.get(name)?)))
    }

    /// Sets a setting until the transaction ends.
    pub(crate) fn set_local(&mut self, name: &str, value: &str) -> Result<(), PgWireError> {
        let mut tried = self.clone();
        tried.set(name, value)?;
        // Stored under the canonical spelling of the name.
        let found = tried.values.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some((name, value)) = found {
            self.local.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    /// Drops the local settings at the end of a transaction.
    pub(crate) fn end_transaction(&mut self) {
        self.local.clear();
    }

    /// Sets a setting. Returns its name and value if the change is reported to the client.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<Option<(&'static str, String)>, PgWireError> {
        let Some((known, before)) = self.find(name).map(|(name, value)| (name.to_owned(), value.to_owned())) else {
            // A setting of an extension has a dot in its name, and accepts any value.
            if name.contains('.') {
                self.values.insert(name.to_owned(), value.to_owned());
                return Ok(None);
            }
            return Err(error("42704", format!("unrecognized configuration parameter {name:?}")));
        };
        let value = value.trim().trim_matches('\'');
        let only = |expected: &str| {
            hinted(
                "0A000",
                format!("{known} cannot be {value:?}"),
                format!("it is {expected} here: values are sent in one way"),
            )
        };
        match known.as_str() {
            "client_encoding" => {
                let bare = value.replace(['-', '_'], "");
                if !["utf8", "unicode"].iter().any(|name| bare.eq_ignore_ascii_case(name)) {
                    return Err(only("UTF8"));
                }
                return Ok(None);
            }
            "DateStyle" => {
                if !value.to_ascii_lowercase().contains("iso") {
                    return Err(only("ISO"));
                }
                return Ok(None);
            }
            "search_path" => {
                let names = value.split(',').map(|name| name.trim().trim_matches(['"', '\'']));
                let first = names
                    .into_iter()
                    .find(|name| !matches!(*name, "$user" | "pg_catalog" | ""));
                if first.is_some_and(|first| !first.eq_ignore_ascii_case(PUBLIC)) {
                    return Err(hinted(
                        "0A000",
                        format!("search_path cannot begin with {value:?}"),
                        format!("tables without a schema are those of {PUBLIC}; write the schema before the table"),
                    ));
                }
            }
            name if SWITCHES.contains(&name) => {
                let on =
                    is_on(value).ok_or_else(|| error("22023", format!("{known}: {value:?} is neither on nor off")))?;
                let value = if on { "on" } else { "off" };
                self.values.insert(known.clone(), value.to_owned());
                let is_reported = known == READS_ONLY_BY_DEFAULT;
                return Ok(is_reported.then(|| (READS_ONLY_BY_DEFAULT, value.to_owned())));
            }
            "statement_timeout" | "lock_timeout" => {
                milliseconds(value).ok_or_else(|| error("22023", format!("{known}: {value:?} is no time")))?;
            }
            name if FIXED.contains(&name) => {
                return match before.eq_ignore_ascii_case(value) {
                    true => Ok(None),
                    false => Err(only(&before)),
                };
            }
            _ => {}
        }
        self.values.insert(known.clone(), value.to_owned());
        let reported = REPORTED.iter().find(|(name, _)| *name == known);
        Ok(reported.map(|(name, _)| (*name, value.to_owned())))
    }

    /// Resets a setting to its value at the start. Returns its name and value if the change is reported to the client.
    pub(crate) fn reset(&mut self, name: &str) -> Option<(&'static str, String)> {
        self.local
            .retain(|known, _| known == READS_ONLY || !known.eq_ignore_ascii_case(name));
        let known = self
            .values
            .keys()
            .find(|known| known.eq_ignore_ascii_case(name))?
            .clone();
        let before = match self.startup.get(&known) {
            Some(value) => self.values.insert(known.clone(), value.clone()),
            None => self.values.remove(&known),
        };
        let value = self
            .startup
            .get(&known)
            .filter(|value| before.as_ref() != Some(*value))?;
        let mut told = REPORTED.iter().map(|(name, _)| *name).chain([READS_ONLY_BY_DEFAULT]);
        told.find(|name| *name == known).map(|name| (name, value.clone()))
    }

    /// Resets all settings to their values at the start. A read-only transaction stays read-only. Returns the names and values that are
    /// reported to the client.
    pub(crate) fn reset_all(&mut self) -> Vec<(&'static str, String)> {
        let names: Vec<String> = self.values.keys().cloned().collect();
        names.iter().filter_map(|name| self.reset(name)).collect()
    }

    /// The statement timeout.
    pub(crate) fn statement_time(&self) -> Option<Duration> {
        let time = self.get("statement_timeout").and_then(milliseconds)?;
        (!time.is_zero()).then_some(time)
    }

    /// Whether statements may only read.
    pub(crate) fn reads_only(&self) -> bool {
        self.get(READS_ONLY) == Some("on")
    }
}

/// The value of a Boolean setting: `on`, `off`, or a synonym.
fn is_on(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "t" | "yes" | "y" | "1" => Some(true),
        "off" | "of" | "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

/// `30000`, `30s`, `5min`: without a unit it is milliseconds.
fn milliseconds(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let per = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    count.checked_mul(per).map(Duration::from_millis)
}

/// `-c name=value --name=value`, as the environment variable PGOPTIONS has it.
fn options(text: &str) -> Vec<(String, String)> {
    let words = text.split_whitespace().filter(|word| *word != "-c");
    let pairs = words.filter_map(|word| {
        let word = word.trim_start_matches("-c").trim_start_matches("--");
        let (name, value) = word.split_once('=')?;
        Some((name.replace('-', "_"), value.to_owned()))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_that_there_are() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("search_path", "\"$user\", public, shop"),
            ("search_path", "pg_catalog"),
            ("datestyle", "iso, dmy"),
            ("client_encoding", "utf-8"),
            ("statement_timeout", "30s"),
            ("myapp.user", "7"),
            ("standard_conforming_strings", "on"),
        ] {
            assert!(settings.set(name, value).is_ok(), "{name}");
        }
        assert_eq!(settings.statement_time(), Some(Duration::from_secs(30)));
        for (name, value) in [
            ("datestyle", "german"),
            ("client_encoding", "latin1"),
            ("search_path", "shop, public"),
            ("bytea_output", "escape"),
            ("statement_timeout", "soon"),
            ("no_such_thing", "1"),
        ] {
            assert!(settings.set(name, value).is_err(), "{name}");
        }
        settings.set_local("statement_timeout", "5").expect("set");
        assert_eq!(settings.statement_time(), Some(Duration::from_millis(5)));
        settings.end_transaction();
        assert_eq!(settings.statement_time(), Some(Duration::from_secs(30)));
        settings.reset("STATEMENT_TIMEOUT");
        assert_eq!(settings.statement_time(), None);
        settings.set_local("transaction_read_only", "on").expect("set");
        assert!(settings.reads_only());
        assert_eq!(settings.get("transaction_read_only"), Some("on"));
        let _ = settings.reset_all();
        assert!(settings.reads_only());
        settings.end_transaction();
        assert!(!settings.reads_only());
        let told = settings.set("default_transaction_read_only", "TRUE").expect("set");
        assert_eq!(told, Some(("default_transaction_read_only", "on".to_owned())));
        assert_eq!(settings.get("Transaction_Read_Only"), Some("on"));
        settings.set_local("transaction_read_only", "off").expect("set");
        assert!(!settings.reads_only());
        settings.end_transaction();
        assert_eq!(
            settings.reset_all(),
            [("default_transaction_read_only", "off".to_owned())]
        );
        assert!(!settings.reads_only());
        assert!(settings.set("transaction_read_only", "perhaps").is_err());
        assert_eq!(
            options("-c statement_timeout=5 --search-path=public"),
            [
                ("statement_timeout".to_owned(), "5".to_owned()),
                ("search_path".to_owned(), "public".to_owned())
            ]
        );
        assert!(settings.set("application_name", "x").expect("set").is_some());
    }
}
