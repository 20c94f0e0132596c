//! `sp_CreateEvent` and its like.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ConnectionTables;
use crate::events::{Signal, Told};
use crate::sql::answer::Answer;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::listing::{Listing, number, text};
use crate::sql::procedure::{Arguments, output_of};
use crate::sql::tables::Tables as _;
use crate::sql::value::Value;

/// `ADS_EVENT_WITH_DATA` of `ace.h`.
const WITH_DATA: i64 = 2;

impl ConnectionTables<'_> {
    /// Runs a procedure of events; `None` for another one.
    ///
    /// # Errors
    /// [`Kind::NoFunction`] without a needed argument, [`Kind::Unsupported`] for a signal by a statement of a program where a data
    /// dictionary leaves that to triggers, and for an event that was not created.
    pub(super) fn event_procedure(&mut self, name: &str, arguments: &[Value]) -> Result<Option<Answer>> {
        let given = Arguments(arguments);
        let needed = |place| given.needed(place, name);
        let whole = |place: usize| arguments.get(place).and_then(Value::to_i64);
        match name.to_ascii_lowercase().as_str() {
            "sp_createevent" => {
                let has_data = whole(1).unwrap_or(0) & WITH_DATA != 0;
                let database = self.database_of_events();
                self.connection.events.create(&database, &needed(0)?, has_data);
            }
            "sp_dropevent" => {
                let event = needed(0)?;
                if !self.connection.events.leave(&event) {
                    return Err(not_created(&event));
                }
            }
            "sp_dropallevents" => self.connection.events.leave_all(),
            "sp_signalevent" => {
                let connection = &mut *self.connection;
                let is_within = connection.acts_for.is_some() || connection.statements.lent_rights > 0;
                if connection.has_dictionary() && !is_within {
                    let why = format!("{name} of a data dictionary is for triggers and stored procedures");
                    return Err(Error::new(Kind::Unsupported, why));
                }
                let signal = Signal {
                    name: needed(0)?,
                    data: match arguments.get(3) {
                        None | Some(Value::Null) => None,
                        Some(data) => Some(data.to_text().into_owned()),
                    },
                };
                let database = self.database_of_events();
                match given.is_true(1) && self.connection.transaction_count() > 0 {
                    true => self.connection.events.hold(&database, signal),
                    false => signal.send(&database),
                }
            }
            "sp_waitforevent" => {
                let event = needed(0)?;
                return self.wait(name, Some(&event), whole(1)).map(Some);
            }
            "sp_waitforanyevent" => return self.wait(name, None, whole(0)).map(Some),
            _ => return Ok(None),
        }
        Ok(Some(Answer::Done))
    }

    /// Waits so many milliseconds, or without an end where they are negative.
    fn wait(&mut self, procedure: &str, event: Option<&str>, time: Option<i64>) -> Result<Answer> {
        let time = u64::try_from(time.unwrap_or(0)).ok().map(Duration::from_millis);
        let watch = self.watch();
        let told = self.connection.events.wait(event, time, || watch.check())?;
        let mut told = told.ok_or_else(|| not_created(event.unwrap_or("any")))?;
        if told.is_empty() {
            told.push(Told {
                name: event.unwrap_or_default().to_owned(),
                count: 0,
                data: None,
            });
        }
        let mut listing = Listing::new(output_of(procedure).unwrap_or_default());
        for Told { name, count, data } in told {
            let name = if name.is_empty() { Value::Null } else { text(name) };
            listing.row([name, number(count), data.map_or(Value::Null, text)]);
        }
        listing.finish().map(Answer::Rows)
    }

    /// Whose connections share events: those to a data dictionary, or to a folder.
    fn database_of_events(&self) -> PathBuf {
        let place = match &self.connection.dictionary {
            Some(dictionary) => dictionary.file(),
            None => self.connection.folder(),
        };
        let place: &Path = place;
        place.canonicalize().unwrap_or_else(|_| place.to_owned())
    }
}

fn not_created(event: &str) -> Error {
    let why = format!("The connection has not created the event {event}: sp_CreateEvent does");
    Error::new(Kind::Unsupported, why)
}
