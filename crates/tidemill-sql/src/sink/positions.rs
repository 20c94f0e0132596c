//! Stores the positions of followed tables, in a table next to their targets.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;

use tidemill_ads::sql::{StatementOptions, Value};
use tidemill_ads::{Connection, Executed, Settings};

use crate::ads_connection::blocking;
use crate::copy::folder_of;
use crate::location::{Location, Place};
use crate::session::Session;
use crate::stores::server::{Filling, IfThere, ServerUrl, TableOptions};
use crate::{Error, Result};

/// A row has a target, a source, and the position; among rows of the same target and source, the one with the highest step counts.
const TABLE: &str = "tidemill_positions";

/// How far a source was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// A number of records of an xBase table, an offset in a Riegeli file.
    pub(crate) position: u64,
    /// How many rows were copied.
    pub(crate) copied: u64,
    /// How often the position was stored.
    pub(crate) step: u64,
    /// The fingerprint of the source before the position.
    pub(crate) seen: String,
}

/// The stored position of one source in one target.
pub(crate) struct Positions<'s> {
    session: &'s Session,
    /// On the same server, or in the same folder.
    table: Location,
    target: String,
    source: String,
}

impl<'s> Positions<'s> {
    /// # Errors
    ///
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a target that is neither a table of a server nor a file.
    ///
    /// `name` is the target's exact name, however it was spelled.
    pub(crate) fn new(session: &'s Session, target: &Location, name: String, source: String) -> Result<Self> {
        let (table, target) = match &target.place {
            Place::Server(url) if !session.servers.of(url)?.updates() => {
                return Err(Error::Unsupported {
                    what: format!("{target}: following into a table of {}", url.kind()),
                    hint: "its position cannot be kept there: copy again with --overwrite".to_owned(),
                });
            }
            Place::Server(url) => (Location::server(url.with_table(TABLE))?, name),
            _ => {
                let file = target.file()?;
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                let table = Location::new_file(&file.with_file_name(format!("{TABLE}.dbf")))?;
                return Ok(Self {
                    session,
                    table,
                    target: in_any_code_page(&name),
                    source: in_any_code_page(&source),
                });
            }
        };
        Ok(Self {
            session,
            table,
            target,
            source,
        })
    }

    /// The stored position, or the beginning.
    pub(crate) async fn get(&self) -> Result<Position> {
        let is_there = match &self.table.place {
            Place::File(path) => path.exists(),
            _ => self.session.is_there(&self.table).await?,
        };
        let mut latest = Position::default();
        if !is_there {
            return Ok(latest);
        }
        let mut rows = self.session.read(&self.table, None).await?;
        while let Some(batch) = rows.next().await? {
            let column = |name: &str, wanted: &DataType| -> Result<ArrayRef> {
                let schema = batch.schema();
                // xBase has upper-case names.
                let mut fields = schema.fields().iter();
                let place = fields.position(|field| field.name().eq_ignore_ascii_case(name));
                let place = place.ok_or_else(|| Error::Unsupported {
                    what: format!("{}: a table of positions without a column {name}", self.table),
                    hint: "an earlier version made it: drop it and its targets, and follow from the beginning"
                        .to_owned(),
                })?;
                Ok(cast(batch.column(place), wanted)?)
            };
            let words = |name| column(name, &DataType::Utf8);
            let (targets, sources, seen) = (words("target")?, words("source")?, words("seen")?);
            let number = |name| column(name, &DataType::Int64);
            let (positions, copied, steps) = (number("position")?, number("copied")?, number("step")?);
            for row in 0..batch.num_rows() {
                let number = |column: &ArrayRef| {
                    u64::try_from(column.as_primitive::<Int64Type>().value(row)).unwrap_or_default()
                };
                let is_this = text(&targets, row) == self.target && text(&sources, row) == self.source;
                if is_this && number(&steps) > latest.step {
                    latest = Position {
                        position: number(&positions),
                        copied: number(&copied),
                        step: number(&steps),
                        seen: text(&seen, row).to_owned(),
                    };
                }
            }
        }
        Ok(latest)
    }

    /// Stores a position, whose step must be higher than those stored before.
    pub(crate) async fn set(&self, position: &Position) -> Result<()> {
        match &self.table.place {
            Place::Server(url) => self.set_on(url, position).await,
            _ => self.set_in(self.table.file()?, position).await,
        }
    }

    /// In an xBase table, the row is updated.
    async fn set_in(&self, file: &Path, position: &Position) -> Result<()> {
        let folder = folder_of(file).to_owned();
        let is_there = file.exists();
        let values = [
            Value::Integer(of_u64(position.position)),
            Value::Integer(of_u64(position.copied)),
            Value::Integer(of_u64(position.step)),
            Value::Text(position.seen.clone()),
            Value::Text(self.target.clone()),
            Value::Text(self.source.clone()),
        ];
        blocking(move || {
            let mut connection = Connection::open(std::path::absolute(&folder).map_err(Error::io(&folder, "find"))?)?;
            let (settings, statements) = (Settings::default(), StatementOptions::default());
            let mut execute = |text: &str, values: &[Value]| connection.execute(text, values, &settings, &statements);
            if !is_there {
                let made = format!(
                    "CREATE TABLE {TABLE} ( target Memo, source Memo, position Numeric(20, 0), copied Numeric(20, 0), \
                     step Numeric(20, 0), seen Memo )"
                );
                execute(&made, &[])?;
            }
            let moved = format!(
                "UPDATE {TABLE} SET position = :position, copied = :copied, step = :step, seen = :seen \
                 WHERE target = :target AND source = :source"
            );
            let changed = execute(&moved, &values)?;
            if changed == Executed::Changed(0) {
                let added = format!(
                    "INSERT INTO {TABLE} ( position, copied, step, seen, target, source ) \
                     VALUES ( :position, :copied, :step, :seen, :target, :source )"
                );
                execute(&added, &values)?;
            }
            Ok(())
        })
        .await
    }

    async fn set_on(&self, table: &ServerUrl, position: &Position) -> Result<()> {
        let text = |text: &str| Arc::new(StringArray::from_iter_values([text])) as ArrayRef;
        let number = |number: u64| Arc::new(Int64Array::from_iter_values([of_u64(number)])) as ArrayRef;
        let row = RecordBatch::try_from_iter([
            ("target", text(&self.target)),
            ("source", text(&self.source)),
            ("position", number(position.position)),
            ("copied", number(position.copied)),
            ("step", number(position.step)),
            ("seen", text(&position.seen)),
        ])?;
        let making = TableOptions {
            create: true,
            engine: "ReplacingMergeTree(step)".to_owned(),
            order_by: "(target, source)".to_owned(),
            primary_key: Some("target, source".to_owned()),
            ..TableOptions::default()
        };
        let schema = row.schema();
        let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let filling = Filling {
            columns: &columns,
            making: &making,
            there: IfThere::Update,
            job: None,
            rows_before: 0,
        };
        let server = self.session.servers.of(table)?;
        let mut sink = server.fill(table, &schema, &filling).await?;
        match sink.write(&row).await {
            Ok(()) => sink.finish().await.map(drop),
            Err(error) => {
                sink.give_up().await;
                Err(error)
            }
        }
    }
}

fn text(column: &ArrayRef, row: usize) -> &str {
    column.as_string::<i32>().value(row)
}

fn of_u64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A name in characters that every code page has.
fn in_any_code_page(name: &str) -> String {
    match name.is_ascii() {
        true => name.to_owned(),
        false => name.escape_default().to_string(),
    }
}
