//! The users, and their rights.
//!
//! A file of users has one line for each: the name, the verifier of the password, and the rights that differ from the default. Empty lines
//! and lines that begin with `#` are ignored.
//!
//! ```text
//! ann SCRAM-SHA-256$4096:…$…:… write
//! bob SCRAM-SHA-256$4096:…$…:… schemas=public,shop time=30s memory=256M rows=100000
//! ```

mod login;
mod throttle;
mod verifier;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

pub(crate) use login::{Refused, credentials};
pub(crate) use throttle::{Logins, Throttle};
pub use verifier::Verifier;
pub(crate) use verifier::{Exchange, keyed, random};

use crate::error::{Error, Result};

/// A user and the user's rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The verifier of the password.
    pub verifier: Verifier,
    /// The rights.
    pub rights: Rights,
}

/// The rights of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Whether statements may change tables. Default: no.
    pub may_write: bool,
    /// The schemas whose tables may be named. Default: all served ones.
    pub schemas: Option<Vec<String>>,
    /// The most time of a statement. Default: no limit.
    pub statement_time: Option<Duration>,
    /// The most bytes of memory for the statements of a connection. Default: the server's limit.
    pub memory: Option<usize>,
    /// The most rows of a result. Default: no limit.
    pub rows: Option<u64>,
}

impl Rights {
    /// The rights on a server without users, which only this machine can reach.
    pub(crate) fn of_everybody() -> Self {
        Self {
            may_write: true,
            ..Self::to_read()
        }
    }

    fn to_read() -> Self {
        Self {
            may_write: false,
            schemas: None,
            statement_time: None,
            memory: None,
            rows: None,
        }
    }

    /// Whether tables of a schema may be named.
    pub(crate) fn has_schema(&self, schema: &str) -> bool {
        let Some(schemas) = &self.schemas else { return true };
        schemas.iter().any(|known| known.eq_ignore_ascii_case(schema))
    }
}

/// The users of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users(BTreeMap<String, User>);

impl Users {
    /// Reads a file of users.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Users`] with the number of a line that is not a user.
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).map_err(|source| Error::Io {
            what: format!("{}: cannot read the users", file.display()),
            source,
        })?;
        Self::parse(&text).map_err(|(line, what)| Error::Users {
            place: format!("{}, line {line}", file.display()),
            what,
        })
    }

    /// Adds a user, or replaces the user of this name.
    pub fn put(&mut self, user: User) {
        self.0.insert(user.name.clone(), user);
    }

    /// Removes a user. Returns whether there was one of this name.
    pub fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// Whether there are no users.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&User> {
        self.0.get(name)
    }

    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut users = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let user = parse_user(line).map_err(|what| (number + 1, what))?;
            if users.find(&user.name).is_some() {
                return Err((
                    number + 1,
                    format!("the user {:?} stands here a second time", user.name),
                ));
            }
            users.put(user);
        }
        Ok(users)
    }

    /// The lines of a file of these users.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for user in self.0.values() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{} {}", user.name, user.verifier);
            let Rights {
                may_write,
                schemas,
                statement_time,
                memory,
                rows,
            } = &user.rights;
            if *may_write {
                text.push_str(" write");
            }
            if let Some(schemas) = schemas {
                let _ = write!(text, " schemas={}", schemas.join(","));
            }
            if let Some(time) = statement_time {
                let _ = write!(text, " time={}ms", time.as_millis());
            }
            if let Some(memory) = memory {
                let _ = write!(text, " memory={memory}");
            }
            if let Some(rows) = rows {
                let _ = write!(text, " rows={rows}");
            }
            text.push('\n');
        }
        text
    }
}

fn parse_user(line: &str) -> Result<User, String> {
    let mut words = line.split_whitespace();
    let (Some(name), Some(verifier)) = (words.next(), words.next()) else {
        return Err("expected a name and a verifier of a password (`tidemill user add` writes them)".to_owned());
    };
    let verifier = Verifier::parse(verifier)?;
    let mut rights = Rights::to_read();
    for word in words {
        match word.split_once('=') {
            None if word == "write" => rights.may_write = true,
            Some(("schemas", list)) => rights.schemas = Some(list.split(',').map(str::to_owned).collect()),
            Some(("time", time)) => rights.statement_time = Some(parse_time(time)?),
            Some(("memory", size)) => rights.memory = Some(parse_size(size)?),
            Some(("rows", rows)) => {
                let count = rows.parse();
                rights.rows = Some(count.map_err(|_| format!("rows={rows}: expected a whole number"))?);
            }
            _ => return Err(format!("{word:?}: expected write, schemas=, time=, memory= or rows=")),
        }
    }
    Ok(User {
        name: name.to_owned(),
        verifier,
        rights,
    })
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("time={text}: expected a time such as 500ms, 30s or 5m");
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let count: u64 = text
        .strip_suffix(unit)
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(wrong)?;
    match unit {
        "ms" => Ok(Duration::from_millis(count)),
        "s" | "" => Ok(Duration::from_secs(count)),
        "m" => Ok(Duration::from_secs(count.saturating_mul(60))),
        _ => Err(wrong()),
    }
}

fn parse_size(text: &str) -> Result<usize, String> {
    let wrong = || format!("memory={text}: expected a size such as 256M");
    let (digits, shift) = match text.split_at_checked(text.len().saturating_sub(1)) {
        Some((digits, "K" | "k")) => (digits, 10),
        Some((digits, "M" | "m")) => (digits, 20),
        Some((digits, "G" | "g")) => (digits, 30),
        _ => (text, 0),
    };
    let count: usize = digits.parse().map_err(|_| wrong())?;
    count.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_users_is_read_back() {
        let mut users = Users::default();
        for (name, rights) in [
            ("ann", Rights::of_everybody()),
            (
                "bob",
                Rights {
                    schemas: Some(vec!["public".to_owned(), "shop".to_owned()]),
                    statement_time: Some(Duration::from_secs(30)),
                    memory: Some(256 << 20),
                    rows: Some(1000),
                    ..Rights::to_read()
                },
            ),
        ] {
            users.put(User {
                name: name.to_owned(),
                verifier: Verifier::of_password(name),
                rights,
            });
        }
        let text = format!("# users\n\n{}", users.to_text());
        assert_eq!(Users::parse(&text), Ok(users));
        assert_eq!(parse_time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_size("2K"), Ok(2048));
    }

    #[test]
    fn what_is_no_user_is_told_with_its_line() {
        let verifier = Verifier::of_password("x");
        for (line, says) in [
            ("ann", "a verifier"),
            ("ann secret", "SCRAM-SHA-256$"),
            (&*format!("ann {verifier} wirte"), "wirte"),
            (&*format!("ann {verifier} time=x"), "time=x"),
            (&*format!("ann {verifier} memory=9999999999999G"), "memory="),
            (&*format!("ann {verifier}\nann {verifier}"), "second time"),
        ] {
            let (number, what) = Users::parse(&format!("\n{line}")).expect_err(line);
            assert!(number >= 2 && what.contains(says), "{line}: {number} {what}");
        }
    }
}
