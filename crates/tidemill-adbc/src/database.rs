//! Databases: a folder of tables, or a database of a server, with attached names.

use std::path::PathBuf;
use std::sync::Arc;

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Database, Optionable};
use tidemill_sql::{ServerUrl, SessionOptions, path_of_url};
use tidemill_xbase::{Blank, CodePage, Deleted};
use tokio::runtime::Runtime;

use crate::connection::TidemillConnection;
use crate::error::{self, invalid, not_implemented, of_session};
use crate::process_bound::ProcessBound;

/// The prefix of the options that attach a place under a name.
pub(crate) const ATTACH: &str = "tidemill.attach.";
const DRIVE: &str = "tidemill.drive.";

/// A folder of tables, or a database of a server.
#[derive(Debug)]
pub struct TidemillDatabase {
    options: Vec<(String, String)>,
    runtime: Arc<ProcessBound<Runtime>>,
}

impl TidemillDatabase {
    /// # Errors
    ///
    /// [`Status::NotImplemented`] for an unknown option, [`Status::InvalidArguments`] for an invalid value, [`Status::NotFound`] if the
    /// folder does not exist.
    pub(crate) fn new(options: impl IntoIterator<Item = (OptionDatabase, OptionValue)>) -> Result<Self> {
        let mut database = Self {
            options: Vec::new(),
            runtime: Arc::new(ProcessBound::new(runtime()?)),
        };
        for (key, value) in options {
            database.set_option(key, value)?;
        }
        Ok(database)
    }

    fn settings(&self) -> Result<SessionOptions> {
        // Programs for databases expect CREATE TABLE to make nullable columns and to keep their names.
        let mut settings = SessionOptions::default().standard_tables(true);
        for (key, value) in &self.options {
            settings = with_option(settings, key, value)?;
        }
        Ok(settings)
    }
}

/// The runtime of statements.
pub(crate) fn runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let built = builder.thread_name("tidemill").enable_all().build();
    built.map_err(|error| Error::with_message_and_status(format!("no threads can be had: {error}"), Status::Internal))
}

fn with_option(settings: SessionOptions, key: &str, value: &str) -> Result<SessionOptions> {
    if let Some(name) = key.strip_prefix(ATTACH) {
        return Ok(settings.attach(name, value));
    }
    if let Some(letter) = key.strip_prefix(DRIVE) {
        let mut letters = letter.chars();
        return match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_alphabetic() => Ok(settings.drive(letter, value)),
            _ => Err(invalid(format!("{key}: a drive is one letter"))),
        };
    }
    Ok(match key {
        "uri" => match ServerUrl::new(value) {
            Some(database) => settings.database(database),
            None => settings.dir(folder(value)?),
        },
        "tidemill.codepage" => settings.codepage(codepage(key, value)?),
        "tidemill.blanks" => settings.blank(match value {
            "null" => Blank::Null,
            "zero" => Blank::Zero,
            _ => return Err(invalid(format!("{key} is null or zero, not {value:?}"))),
        }),
        "tidemill.deleted" => settings.deleted(match value {
            "skip" => Deleted::Skip,
            "include" => Deleted::Include,
            "only" => Deleted::Only,
            _ => return Err(invalid(format!("{key} is skip, include or only, not {value:?}"))),
        }),
        "tidemill.recover" => settings.recover(flag(key, value)?),
        "tidemill.threads" => {
            let threads = value.parse().ok().filter(|threads| *threads > 0);
            settings.threads(threads.ok_or_else(|| invalid(format!("{key} is a number from 1, not {value:?}")))?)
        }
        _ => return Err(not_implemented(format!("a database has no option {key}"))),
    })
}

/// The folder of a path or a URL.
///
/// # Errors
///
/// [`Status::NotFound`] if it does not exist.
fn folder(uri: &str) -> Result<PathBuf> {
    let folder = match path_of_url(uri) {
        Some(folder) => folder.map_err(of_session)?,
        None => PathBuf::from(uri),
    };
    match folder.is_dir() {
        true => Ok(folder),
        false => {
            let why = format!(
                "{}: there is no such folder; the uri is a folder, file:///folder, tidemill:///folder or \
                 clickhouse://host/database",
                folder.display()
            );
            Err(Error::with_message_and_status(why, Status::NotFound))
        }
    }
}

/// Splits the options after the question mark off a URL: `tidemill:///books?tidemill.deleted=include`.
fn without_options(uri: &str) -> (&str, Vec<(String, String)>) {
    let is_ours = uri
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("tidemill"));
    match uri.split_once('?') {
        Some((uri, options)) if is_ours => (
            uri,
            url::form_urlencoded::parse(options.as_bytes()).into_owned().collect(),
        ),
        _ => (uri, Vec::new()),
    }
}

/// # Errors
///
/// [`Status::InvalidArguments`] for an unknown code page.
pub(crate) fn codepage(key: &str, name: &str) -> Result<CodePage> {
    name.parse().map_err(|error| invalid(format!("{key}: {error}")))
}

pub(crate) fn flag(key: &str, value: &str) -> Result<bool> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid(format!("{key} is true or false, not {value:?}"))),
    }
}

/// An option's value as text.
pub(crate) fn text(key: &str, value: OptionValue) -> Result<String> {
    match value {
        OptionValue::String(text) => Ok(text),
        OptionValue::Int(number) => Ok(number.to_string()),
        OptionValue::Double(number) => Ok(number.to_string()),
        // The caller checks whether the option exists.
        OptionValue::Bytes(bytes) => String::from_utf8(bytes)
            .map_err(|_| invalid(format!("{key} takes text, and was given bytes that are none"))),
        _ => Err(invalid(format!("{key} takes text"))),
    }
}

impl Database for TidemillDatabase {
    type ConnectionType = TidemillConnection;

    fn new_connection(&self) -> Result<TidemillConnection> {
        self.new_connection_with_opts([])
    }

    fn new_connection_with_opts(
        &self,
        options: impl IntoIterator<Item = (OptionConnection, OptionValue)>,
    ) -> Result<TidemillConnection> {
        let mut connection = TidemillConnection::new(self.settings()?, Arc::clone(&self.runtime))?;
        for (key, value) in options {
            connection.set_option(key, value)?;
        }
        Ok(connection)
    }
}

impl Optionable for TidemillDatabase {
    type Option = OptionDatabase;

    /// The change does not affect open connections.
    fn set_option(&mut self, key: OptionDatabase, value: OptionValue) -> Result<()> {
        let key = key.as_ref().to_owned();
        let value = text(&key, value)?;
        let (value, behind) = match key.as_str() {
            "uri" => without_options(&value),
            _ => (value.as_str(), Vec::new()),
        };
        for (key, value) in [(key, value.to_owned())].into_iter().chain(behind) {
            with_option(SessionOptions::default(), &key, &value)?;
            self.options.retain(|(known, _)| *known != key);
            self.options.push((key, value));
        }
        Ok(())
    }

    fn get_option_string(&self, key: OptionDatabase) -> Result<String> {
        let key = key.as_ref();
        let found = self.options.iter().find(|(known, _)| known == key);
        found
            .map(|(_, value)| value.clone())
            .ok_or_else(|| error::no_option(key))
    }

    fn get_option_bytes(&self, key: OptionDatabase) -> Result<Vec<u8>> {
        Err(error::no_option(key.as_ref()))
    }

    fn get_option_int(&self, key: OptionDatabase) -> Result<i64> {
        Err(error::no_option(key.as_ref()))
    }

    fn get_option_double(&self, key: OptionDatabase) -> Result<f64> {
        Err(error::no_option(key.as_ref()))
    }
}
