//! Fills a table of a database, and creates it on request, in one transaction: the rows become visible when all of them are there, and a
//! replaced table is unchanged until then.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow_cast::display::array_value_to_string;
use arrow_schema::{Field, Schema, SchemaRef};
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio::sync::OwnedMutexGuard;

use super::database::Database;
use super::dialect::name;
use super::kind::{Kind, write_date, write_time, write_timestamp};
use super::{error_at, scan};
use crate::error::Left;
use crate::stores::server::fitting::{columns_for, fitted, unfit};
use crate::stores::server::{Filling, IfThere, TableOptions, TableSink};
use crate::{Error, Result};

/// The writer's lock of each database. SQLite has one writer at a time.
#[derive(Debug, Default)]
pub(super) struct Writers(Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>);

/// The lock to write to a database.
pub(super) type Turn = OwnedMutexGuard<()>;

impl Writers {
    /// Waits until no other sink of the session writes to a database.
    pub(super) async fn turn(&self, path: &Path) -> Turn {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let writer = {
            let mut writers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(writers.entry(path).or_default())
        };
        writer.lock_owned().await
    }
}

pub(super) struct SqliteSink {
    database: Database,
    filled: Arc<Mutex<Filled>>,
    /// The columns of the rows, in order.
    expected: SchemaRef,
    rows: u64,
    /// Rows that were there before; errors count rows on from them.
    rows_before: u64,
    /// The new table.
    made: Option<Made>,
    /// Whether the file is new.
    is_new_file: bool,
    _turn: Turn,
}

/// A connection with an open transaction, and the INSERT.
struct Filled {
    connection: Connection,
    insert: String,
    kinds: Vec<Kind>,
}

impl SqliteSink {
    /// Starts to fill the table. Without column names, the rows have all columns of an existing table.
    pub(super) async fn begin(
        database: Database,
        turn: Turn,
        schema: &SchemaRef,
        filling: &Filling<'_>,
    ) -> Result<Self> {
        let (schema, making, there) = (Arc::clone(schema), filling.making.clone(), filling.there);
        let columns = filling.columns.to_vec();
        let is_new_file = !database.path().exists();
        let begun = database.wait(move |database| {
            let begun = Begun::begin(database, &schema, &making, there, &columns);
            if begun.is_err() && is_new_file {
                remove_empty(database.path());
            }
            begun
        });
        let Begun { filled, expected, made } = begun.await?;
        Ok(Self {
            database,
            filled: Arc::new(Mutex::new(filled)),
            expected,
            rows: 0,
            rows_before: filling.rows_before,
            made,
            is_new_file,
            _turn: turn,
        })
    }
}

struct Begun {
    filled: Filled,
    expected: SchemaRef,
    made: Option<Made>,
}

/// A new table.
#[derive(Clone)]
struct Made {
    /// Its quoted name.
    name: String,
    /// The statements that create its indexes after its rows.
    indexes: Vec<String>,
}

impl Begun {
    fn begin(
        database: &Database,
        schema: &SchemaRef,
        making: &TableOptions,
        there: IfThere,
        columns: &[String],
    ) -> Result<Self> {
        let failed = || error_at(database.place());
        let adds = there.keeps_rows();
        // Rows of a new table are inserted before those that they refer to.
        let is_new = (making.create && !adds) || !making.foreign_keys.is_empty();
        let connection = match is_new {
            true => database.make()?,
            false => database.write()?,
        };
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed())?;
        let found = match database.found_by(&connection) {
            Ok(found) => Some(found),
            Err(Error::NotFound { .. }) if making.create => None,
            Err(error) => return Err(error),
        };
        let (table, types, is_made) = match found {
            Some(found) if !making.create || adds => {
                let types = scan::types(database, &connection, &found)?;
                let types = types.into_iter().map(|(name, of)| (name, of.kind)).collect();
                (found, types, false)
            }
            Some(_) if there != IfThere::Replace => {
                return Err(Error::Exists {
                    place: database.place().to_owned(),
                });
            }
            found => {
                if let Some(found) = &found {
                    let dropped = connection.execute_batch(&format!("DROP TABLE {}", name(found)));
                    dropped.map_err(failed())?;
                }
                let types = make(database, &connection, schema, making)?;
                (database.table().to_owned(), types, true)
            }
        };
        let known = types
            .iter()
            .map(|(name, kind)| Field::new(name, kind.data_type(), true));
        let known = Arc::new(Schema::new(known.collect::<Vec<_>>()));
        let expected = columns_for(&known, schema, (columns, there), database.place())?;
        let kinds = expected.fields().iter().filter_map(|field| {
            let mut known = types.iter();
            known.find(|(name, _)| name == field.name()).map(|(_, kind)| *kind)
        });
        let kinds: Vec<Kind> = kinds.collect();
        let names: Vec<String> = expected.fields().iter().map(|field| name(field.name())).collect();
        let marks = vec!["?"; names.len()];
        let verb = match there {
            IfThere::Update => "INSERT OR REPLACE INTO",
            _ => "INSERT INTO",
        };
        let insert = format!(
            "{verb} {} ({}) VALUES ({})",
            name(&table),
            names.join(", "),
            marks.join(", ")
        );
        Ok(Self {
            filled: Filled {
                connection,
                insert,
                kinds,
            },
            expected,
            made: is_made.then(|| Made {
                indexes: indexes(&table, making),
                name: name(&table),
            }),
        })
    }
}

/// Creates an empty table without indexes.
pub(super) async fn make_draft(draft: &Database, schema: &SchemaRef, making: &TableOptions) -> Result<()> {
    let (schema, making) = (Arc::clone(schema), making.clone());
    let made = draft.wait(move |draft| make(draft, &draft.write()?, &schema, &making).map(drop));
    made.await
}

/// Adds the indexes to a filled draft, and renames it to the table.
pub(super) async fn publish_draft(
    table: &Database,
    draft: String,
    making: &TableOptions,
    replaces: bool,
) -> Result<()> {
    let making = making.clone();
    let published = table.wait(move |table| {
        let failed = || error_at(table.place());
        let connection = table.make()?;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed())?;
        let old = match table.found_by(&connection) {
            Ok(_) if !replaces => {
                return Err(Error::Exists {
                    place: table.place().to_owned(),
                });
            }
            Ok(old) => Some(old),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut statements = Vec::new();
        statements.extend(old.map(|old| format!("DROP TABLE {}", name(&old))));
        statements.push(format!(
            "ALTER TABLE {} RENAME TO {}",
            name(&draft),
            name(table.table())
        ));
        statements.extend(indexes(table.table(), &making));
        statements.push("COMMIT".to_owned());
        // Dropping the connection rolls back.
        statements
            .iter()
            .try_for_each(|statement| connection.execute_batch(statement).map_err(failed()))
    });
    published.await
}

/// Creates the table, with columns for rows of this schema.
fn make(
    database: &Database,
    connection: &Connection,
    schema: &Schema,
    making: &TableOptions,
) -> Result<Vec<(String, Kind)>> {
    let mut types = Vec::new();
    for field in schema.fields() {
        types.push((field.name().clone(), Kind::of_arrow(field, database.place())?));
    }
    let columns = types.iter().map(|(column, kind)| declared(column, *kind));
    let mut columns: Vec<String> = columns.collect();
    if let Some(key) = &making.primary_key {
        columns.push(format!("PRIMARY KEY ({key})"));
    }
    columns.extend(making.foreign_keys.iter().map(|key| {
        let names = |columns: &[String]| columns.iter().map(|column| name(column)).collect::<Vec<_>>();
        key.clause(&names(&key.columns), &name(&key.parent), &names(&key.parent_columns))
    }));
    let made = format!("CREATE TABLE {} ({})", name(database.table()), columns.join(", "));
    connection.execute_batch(&made).map_err(error_at(database.place()))?;
    Ok(types)
}

fn declared(column: &str, kind: Kind) -> String {
    format!("{} {}", name(column), kind.declaration())
}

/// The statement that creates a table with this name.
pub(super) fn ddl(table: &str, schema: &Schema) -> Result<String> {
    let columns = schema.fields().iter();
    let columns = columns.map(|field| Ok(declared(field.name(), Kind::of_arrow(field, table)?)));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(crate::ddl::statement(&name(table), columns.into_iter()))
}

/// The statements that create the indexes of a table.
fn indexes(table: &str, making: &TableOptions) -> Vec<String> {
    let statements = making.indexes.iter().map(|index| {
        let columns: Vec<String> = index.columns.iter().map(|column| name(column)).collect();
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        let called = format!("{table}_{}_idx", index.columns.join("_"));
        format!(
            "CREATE {unique}INDEX IF NOT EXISTS {} ON {} ({})",
            name(&called),
            name(table),
            columns.join(", ")
        )
    });
    statements.collect()
}

#[async_trait::async_trait]
impl TableSink for SqliteSink {
    fn columns(&self) -> Vec<String> {
        self.expected
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let before = self.rows_before + self.rows;
        let fitted = fitted(batch, &self.expected, self.database.place(), before)?;
        let filled = Arc::clone(&self.filled);
        let written = self.database.wait(move |database| {
            let filled = filled.lock().unwrap_or_else(PoisonError::into_inner);
            filled.write(&fitted, database.place(), before)
        });
        written.await?;
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<u64> {
        let (filled, made, written) = (Arc::clone(&self.filled), self.made.clone(), self.rows);
        let finished = self.database.wait(move |database| {
            let failed = || error_at(database.place());
            let filled = filled.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = made {
                for index in &made.indexes {
                    filled.connection.execute_batch(index).map_err(failed())?;
                }
                let count = format!("SELECT count(*) FROM {}", made.name);
                let found = filled.connection.query_row(&count, [], |row| row.get::<_, i64>(0));
                let found = u64::try_from(found.map_err(failed())?).unwrap_or_default();
                if found != written {
                    return Err(Error::RowCount {
                        place: database.place().to_owned(),
                        written,
                        found,
                        left: Left::Removed,
                    });
                }
            }
            filled.connection.execute_batch("COMMIT").map_err(failed())
        });
        match finished.await {
            Ok(()) => Ok(written),
            Err(error) => {
                self.give_up().await;
                Err(error)
            }
        }
    }

    async fn give_up(self: Box<Self>) {
        let (filled, is_new_file) = (Arc::clone(&self.filled), self.is_new_file);
        let undone = self.database.wait(move |database| {
            let filled = filled.lock().unwrap_or_else(PoisonError::into_inner);
            // After some errors, SQLite has rolled back already.
            let _ = filled.connection.execute_batch("ROLLBACK");
            if is_new_file {
                remove_empty(database.path());
            }
            Ok(())
        });
        // The first error is reported.
        let _ = undone.await;
    }
}

/// Removes the file that SQLite has created for a database that was not filled.
fn remove_empty(path: &Path) {
    if std::fs::metadata(path).is_ok_and(|file| file.len() == 0) {
        let _ = std::fs::remove_file(path);
    }
}

impl Filled {
    /// Inserts the rows of a batch; `before` is the number of earlier rows.
    fn write(&self, batch: &RecordBatch, place: &str, before: u64) -> Result<()> {
        let failed = || error_at(place);
        let mut insert = self.connection.prepare_cached(&self.insert).map_err(failed())?;
        let columns = batch.columns().iter().zip(&self.kinds);
        let columns: Vec<Values<'_>> = columns.map(|(column, kind)| Values::of(column, *kind)).collect();
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for (index, (column, values)) in batch.columns().iter().zip(&columns).enumerate() {
                text.clear();
                let value = match column.is_null(row) {
                    true => Some(ValueRef::Null),
                    false => values.get(row, &mut text),
                };
                let value = value.ok_or_else(|| {
                    let (number, value) = (
                        before + row as u64 + 1,
                        array_value_to_string(column, row).unwrap_or_default(),
                    );
                    let why = format!(
                        "row {number}: {value}: SQLite's dates have the years 0 to 9999, and its numbers no NaN"
                    );
                    unfit(place, batch.schema().field(index).name(), why)
                })?;
                let bound = insert.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(value));
                bound.map_err(failed())?;
            }
            insert.raw_execute().map_err(failed())?;
        }
        Ok(())
    }
}

/// The values of a column, in the type in which they are stored.
enum Values<'a> {
    Integer(&'a Int64Array),
    Boolean(&'a BooleanArray),
    Real(&'a Float64Array),
    Decimal(&'a Decimal128Array, i8),
    Text(&'a StringArray),
    Blob(&'a BinaryArray),
    Date(&'a Date32Array),
    Timestamp(&'a TimestampMicrosecondArray, bool),
    Time(&'a Time64MicrosecondArray),
}

impl<'a> Values<'a> {
    fn of(column: &'a ArrayRef, kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integer(column.as_primitive()),
            Kind::Boolean => Self::Boolean(column.as_boolean()),
            Kind::Real => Self::Real(column.as_primitive()),
            Kind::Decimal(_, scale) => Self::Decimal(column.as_primitive(), scale),
            Kind::Text => Self::Text(column.as_string()),
            Kind::Blob => Self::Blob(column.as_binary()),
            Kind::Date => Self::Date(column.as_primitive()),
            Kind::Timestamp { zoned } => Self::Timestamp(column.as_primitive(), zoned),
            Kind::Time => Self::Time(column.as_primitive()),
        }
    }

    /// The value of a row, which may borrow from `text`; `None` for a value that SQLite lacks: NaN, or a date outside its years.
    fn get<'t>(&self, row: usize, text: &'t mut String) -> Option<ValueRef<'t>>
    where
        'a: 't,
    {
        match self {
            Self::Integer(values) => Some(ValueRef::Integer(values.value(row))),
            Self::Boolean(values) => Some(ValueRef::Integer(i64::from(values.value(row)))),
            Self::Real(values) => Some(ValueRef::Real(values.value(row))).filter(|_| !values.value(row).is_nan()),
            // At most 15 digits, which a double represents exactly.
            Self::Decimal(values, scale) => Some(match (scale, i64::try_from(values.value(row))) {
                (0, Ok(digits)) => ValueRef::Integer(digits),
                _ => ValueRef::Real(values.value(row) as f64 / 10_f64.powi(i32::from(*scale))),
            }),
            Self::Text(values) => Some(ValueRef::Text(values.value(row).as_bytes())),
            Self::Blob(values) => Some(ValueRef::Blob(values.value(row))),
            Self::Date(values) => write_date(values.value(row), text),
            Self::Timestamp(values, zoned) => write_timestamp(values.value(row), *zoned, text),
            Self::Time(values) => write_time(values.value(row), text),
        }
    }
}
