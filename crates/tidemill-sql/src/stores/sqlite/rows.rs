//! Reads rows of a SELECT as batches.

use std::fmt;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Rows, Statement};
use tidemill_trust::printable;
use tokio::sync::{mpsc, oneshot};

use super::database::{Database, Values};
use super::error_at;
use super::kind::{Column, Kind, Seen, Type};
use crate::answer::Answer;
use crate::error::Fault;
use crate::stores::server::begun::{self, Begun, Told};
use crate::{Error, Result};

/// How many rows determine the types of columns.
pub(super) const LOOKED_AT: usize = 1_000;
/// The rows of a batch, and the bytes of its texts.
const ROWS: usize = 8_192;
const BYTES: usize = 16 << 20;

/// Builds batches.
pub(super) struct Batches<'a> {
    columns: Vec<Column>,
    schema: SchemaRef,
    place: &'a str,
    values: Values,
    /// The number of rows in earlier batches, and in this one.
    before: u64,
    rows: usize,
    bytes: usize,
}

impl<'a> Batches<'a> {
    pub(super) fn new(types: &[Type], schema: SchemaRef, place: &'a str, values: Values) -> Self {
        Self {
            columns: types.iter().map(|of| Column::new(*of, ROWS)).collect(),
            schema,
            place,
            values,
            before: 0,
            rows: 0,
            bytes: 0,
        }
    }

    /// Adds a row. Returns the batch if it is full.
    fn push<'v>(&mut self, row: impl Iterator<Item = rusqlite::Result<ValueRef<'v>>>) -> Result<Option<RecordBatch>> {
        for (place, (column, value)) in self.columns.iter_mut().zip(row).enumerate() {
            let value = value.map_err(error_at(self.place))?;
            if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
                self.bytes += bytes.len();
            }
            if column.push(value) {
                continue;
            }
            if self.values == Values::Null {
                column.push_null();
                continue;
            }
            return Err(Error::Server {
                place: self.place.to_owned(),
                fault: Fault::Value,
                is_of_connection: false,
                error: Box::new(OtherType {
                    column: self.schema.field(place).name().clone(),
                    row: self.before + self.rows as u64 + 1,
                    found: shown(value),
                    expected: self.schema.field(place).data_type().to_string(),
                }),
            });
        }
        self.rows += 1;
        match self.rows >= ROWS || self.bytes >= BYTES {
            true => self.finish().map(Some),
            false => Ok(None),
        }
    }

    /// The rows since the last batch.
    fn finish(&mut self) -> Result<RecordBatch> {
        self.before += self.rows as u64;
        (self.rows, self.bytes) = (0, 0);
        let columns: Vec<ArrayRef> = self.columns.iter_mut().map(Column::finish).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// Reads all rows, or while the receiver exists.
    pub(super) fn read(&mut self, rows: &mut Rows<'_>, mut send: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        let width = self.columns.len();
        while let Some(row) = rows.next().map_err(error_at(self.place))? {
            if let Some(batch) = self.push((0..width).map(|place| row.get_ref(place)))?
                && !send(batch)
            {
                return Ok(());
            }
        }
        if self.rows > 0 {
            send(self.finish()?);
        }
        Ok(())
    }
}

/// A value that is not of its column's type.
#[derive(Debug)]
struct OtherType {
    column: String,
    row: u64,
    found: String,
    expected: String,
}

impl fmt::Display for OtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            column,
            row,
            found,
            expected,
        } = self;
        write!(
            f,
            "column {column}, row {row}: expected {expected}, found {found} (?values=text behind the name of the file reads every column as \
             text, ?values=null such values as NULL)"
        )
    }
}

impl std::error::Error for OtherType {}

fn shown(value: ValueRef<'_>) -> String {
    const LETTERS: usize = 40;
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(value) => format!("the whole number {value}"),
        ValueRef::Real(value) => format!("the number {value}"),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => {
                let start: String = text.chars().take(LETTERS).collect();
                format!("the text '{}'", printable(&start))
            }
            Err(_) => format!("text of {} bytes that is not UTF-8", text.len()),
        },
        ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if bytes.len() <= LETTERS => format!("the bytes of '{}'", printable(text)),
            _ => format!("{} bytes", bytes.len()),
        },
    }
}

/// The types of a statement's columns, from its first rows.
pub(super) fn types(statement: &mut Statement<'_>, declared: &[Option<Kind>]) -> rusqlite::Result<Vec<Type>> {
    let mut seen: Vec<Seen> = declared.iter().copied().map(Seen::new).collect();
    let mut rows = statement.raw_query();
    for _ in 0..LOOKED_AT {
        let Some(row) = rows.next()? else { break };
        for (place, seen) in seen.iter_mut().enumerate() {
            seen.look_at(row.get_ref(place)?);
        }
    }
    Ok(seen.into_iter().map(Seen::decide).collect())
}

/// The answer of statements in SQLite's own SQL: the rows of the first one that returns rows. All of them run.
pub(super) async fn answer(database: Database, statements: &str) -> Result<Answer> {
    let statements = statements.to_owned();
    begun::answer(|told| async move { database.wait(move |database| run(database, &statements, told)).await }).await
}

fn run(database: &Database, statements: &str, told: Told) -> Result<()> {
    let failed = || error_at(database.place());
    // A missing database must not be created.
    database.read()?;
    let connection = database.write()?;
    let mut batch = rusqlite::Batch::new(&connection, statements);
    let Told { begun, rows: sender } = told;
    let (mut changed, mut begun) = (None, Some(begun));
    while let Some(mut statement) = batch.next().map_err(failed())? {
        if statement.column_count() > 0 {
            match begun.take() {
                Some(begun) => give(database, &mut statement, begun, &sender)?,
                None => {
                    let mut rows = statement.raw_query();
                    while rows.next().map_err(failed())?.is_some() {}
                }
            }
            continue;
        }
        let before = connection.total_changes();
        statement.raw_execute().map_err(failed())?;
        let all = connection.total_changes() - before;
        // Rows changed by triggers and foreign keys are not counted.
        let rows = match all > 0 && changes_rows(&statement) {
            true => connection.changes(),
            false => all,
        };
        changed = (rows > 0 || changes_rows(&statement)).then_some(rows);
    }
    if let Some(begun) = begun {
        // The receiver may be gone.
        let _ = begun.send(Begun::Changed(changed));
    }
    Ok(())
}

/// Whether a statement changes rows, even if it found none.
fn changes_rows(statement: &Statement<'_>) -> bool {
    let text = statement.expanded_sql().unwrap_or_default();
    let word = text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    ["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"].contains(&word.as_str())
}

/// Sends the rows of a statement; the first rows determine the types of its columns.
fn give(
    database: &Database,
    statement: &mut Statement<'_>,
    begun: oneshot::Sender<Begun>,
    sender: &mpsc::Sender<Result<RecordBatch>>,
) -> Result<()> {
    let failed = || error_at(database.place());
    let columns = statement.columns();
    let columns = columns.map(|column| (column.name().to_owned(), column.decl_type().and_then(Kind::declared)));
    let (names, mut seen): (Vec<String>, Vec<Seen>) = columns.map(|(name, kind)| (name, Seen::new(kind))).unzip();
    // Stored, since running the statement again could change something.
    let mut first: Vec<Vec<Value>> = Vec::new();
    let mut rows = statement.raw_query();
    while first.len() < LOOKED_AT {
        let Some(row) = rows.next().map_err(failed())? else {
            break;
        };
        let mut values = Vec::with_capacity(names.len());
        for (place, seen) in seen.iter_mut().enumerate() {
            let value = row.get_ref(place).map_err(failed())?;
            seen.look_at(value);
            values.push(Value::try_from(value).map_err(|error| failed()(error.into()))?);
        }
        first.push(values);
    }
    let types: Vec<Type> = seen.into_iter().map(Seen::decide).collect();
    let fields = names.iter().zip(&types);
    let fields = fields.map(|(name, of)| Field::new(name, of.kind.data_type(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    if begun.send(Begun::Rows(Arc::clone(&schema))).is_err() {
        return Ok(());
    }
    let mut batches = Batches::new(&types, schema, database.place(), database.values());
    for row in first {
        if let Some(batch) = batches.push(row.iter().map(|value| Ok(value.into())))?
            && sender.blocking_send(Ok(batch)).is_err()
        {
            return Ok(());
        }
    }
    batches.read(&mut rows, |batch| sender.blocking_send(Ok(batch)).is_ok())
}
