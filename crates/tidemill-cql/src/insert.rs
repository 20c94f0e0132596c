//! Filling a table: a prepared statement a row, many of them under way at a time.
//!
//! Rows of one partition that come together go in one unlogged batch, which the replica writes as one change. Rows of different
//! partitions never share a batch, since a node would have to take them apart again.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use futures::{StreamExt as _, stream::FuturesUnordered};
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::{CellWriter, RowWriter};
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use tidemill_client::with_causes;

use crate::arrow_type;
use crate::client::Client;
use crate::cql_text;
use crate::encode::Encoder;
use crate::error::{Error, Misfit, Result};
use crate::table::{Role, Table};
use crate::table_comment;

/// Puts rows into a table.
///
/// A row whose key is there already takes its place: that is what INSERT means in CQL. Rows of a table of counters are added to
/// what is there.
#[derive(Debug)]
pub struct Insert {
    table: Arc<Table>,
    statement: PreparedStatement,
    /// The columns of the table that are filled, in the order of the statement's values.
    columns: Vec<usize>,
    /// Which of them are the partition key.
    partition: Vec<usize>,
    in_flight: usize,
    rows: u64,
    is_new: bool,
}

impl Insert {
    /// Begins to fill these columns of a table, by their places.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] when a column of the key is missing, [`Error::Request`].
    pub async fn begin(table: Arc<Table>, columns: &[usize]) -> Result<Self> {
        const IN_FLIGHT: usize = 256;
        let partition = table.partition_key();
        let key: Vec<usize> = partition.iter().copied().chain(table.clustering_key()).collect();
        if let Some(missing) = key.iter().find(|column| !columns.contains(column)) {
            return Err(Error::Unsupported {
                what: format!(
                    "{}: rows without {}, which is in the key",
                    table.place(),
                    table.columns[*missing].name
                ),
                hint: "give them all columns of the key".to_owned(),
            });
        }
        let name = |column: &usize| cql_text::name(&table.columns[*column].name);
        let is_counter = |column: &&usize| !key.contains(column) && table.columns[**column].is_counter();
        let columns: Vec<usize> = columns.to_vec();
        let (text, columns, adds) = if columns.iter().any(|column| is_counter(&column)) {
            let values: Vec<usize> = columns.iter().copied().filter(|column| !key.contains(column)).collect();
            let sums = values.iter().map(|column| format!("{0} = {0} + ?", name(column)));
            let sums = sums.collect::<Vec<_>>().join(", ");
            let wheres = key.iter().map(|column| format!("{} = ?", name(column)));
            let wheres = wheres.collect::<Vec<_>>().join(" AND ");
            let text = format!("UPDATE {} SET {sums} WHERE {wheres}", table.text());
            (text, values.into_iter().chain(key).collect(), true)
        } else {
            let names = columns.iter().map(name).collect::<Vec<_>>().join(", ");
            let marks = vec!["?"; columns.len()].join(", ");
            (
                format!("INSERT INTO {} ({names}) VALUES ({marks})", table.text()),
                columns,
                false,
            )
        };
        let mut statement = Statement::new(text);
        // A sum that is sent twice is added twice.
        statement.set_is_idempotent(!adds);
        let prepared = table.client.prepare(statement, &table.place(), "inserting").await?;
        let place = |column: &usize| columns.iter().position(|known| known == column);
        Ok(Self {
            statement: prepared,
            partition: partition.iter().filter_map(place).collect(),
            in_flight: table.client.options.in_flight.unwrap_or(IN_FLIGHT).max(1),
            columns,
            table,
            rows: 0,
            is_new: false,
        })
    }

    /// Leaves out what is null, rather than to delete what may be there. For tables that nobody else fills.
    #[must_use]
    pub fn into_new_table(mut self, is_new: bool) -> Self {
        self.is_new = is_new;
        self
    }

    /// The table that is filled.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The places of the columns that are filled. [`Insert::write`] takes batches that have them in this order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Inserts the rows of a batch, and waits until the cluster has them all.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] for a value that its column can't hold, [`Error::Request`], both with the number of the row. Other rows
    /// of the batch may be in the table.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let place = self.table.place();
        let mut encoders = Vec::with_capacity(self.columns.len());
        for (column, array) in self.columns.iter().zip(batch.columns()) {
            let column = &self.table.columns[*column];
            let encoder = Encoder::new(&column.typ, array);
            encoders.push(encoder.map_err(|misfit| misfit.written(&place, self.rows + 1, &column.name))?);
        }
        if encoders.len() != self.columns.len() || batch.num_columns() != self.columns.len() {
            return Err(Error::Unsupported {
                what: format!("{place}: {} columns for {}", batch.num_columns(), self.columns.len()),
                hint: "give each column of the insert one".to_owned(),
            });
        }
        let groups = self.groups(&encoders, batch.num_rows())?;
        // Each is some kilobytes large, so there are no more of them than requests in flight.
        let mut under_way = FuturesUnordered::new();
        for rows in &groups {
            if under_way.len() >= self.in_flight
                && let Some(written) = under_way.next().await
            {
                written?;
            }
            under_way.push(self.write_group(&encoders, rows));
        }
        while let Some(written) = under_way.next().await {
            written?;
        }
        drop(under_way);
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// How many rows were inserted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows that go in one request each: those of one partition, as long as they are few.
    fn groups(&self, encoders: &[Encoder], rows: usize) -> Result<Vec<Vec<usize>>> {
        const ROWS: usize = 50;
        // Without a clustering key each row is a partition.
        if self.table.clustering_key().is_empty() || !self.statement.get_is_idempotent() {
            return Ok((0..rows).map(|row| vec![row]).collect());
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut of_key: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut key = Vec::new();
        for row in 0..rows {
            key.clear();
            for column in &self.partition {
                let written = encoders[*column].write(row, CellWriter::new(&mut key));
                written.map_err(|misfit| self.misfit(misfit, row, *column))?;
            }
            match of_key.get(&key) {
                Some(group) if groups[*group].len() < ROWS => groups[*group].push(row),
                _ => {
                    of_key.insert(key.clone(), groups.len());
                    groups.push(vec![row]);
                }
            }
        }
        Ok(groups)
    }

    async fn write_group(&self, encoders: &[Encoder], rows: &[usize]) -> Result<()> {
        let session = &self.table.client.session;
        let first = rows.first().copied().unwrap_or_default();
        let row = |row: &usize| InsertedRow {
            insert: self,
            encoders,
            row: *row,
        };
        let written = match rows {
            [one] => session.execute_unpaged(&self.statement, row(one)).await,
            many => {
                let mut batch = Batch::new(BatchType::Unlogged);
                batch.set_is_idempotent(self.statement.get_is_idempotent());
                for _ in many {
                    batch.append_statement(self.statement.clone());
                }
                session.batch(&batch, many.iter().map(row).collect::<Vec<_>>()).await
            }
        };
        written.map(drop).map_err(|error| match value_error(&error) {
            Some(error) => error,
            None => Error::Request {
                place: self.table.place(),
                doing: match rows.len() {
                    1 => format!("inserting row {}", self.rows + first as u64 + 1),
                    more => format!(
                        "inserting row {} and {} more of its partition",
                        self.rows + first as u64 + 1,
                        more - 1
                    ),
                },
                what: with_causes(&error),
            },
        })
    }

    fn misfit(&self, misfit: Misfit, row: usize, column: usize) -> Error {
        let column = &self.table.columns[self.columns[column]].name;
        misfit.written(&self.table.place(), self.rows + row as u64 + 1, column)
    }
}

/// The values of a row, for the driver to put into a request.
struct InsertedRow<'a> {
    insert: &'a Insert,
    encoders: &'a [Encoder],
    row: usize,
}

impl SerializeRow for InsertedRow<'_> {
    fn serialize(
        &self,
        _context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        for (at, encoder) in self.encoders.iter().enumerate() {
            let cell = writer.make_cell_writer();
            if self.insert.is_new && encoder.is_null(self.row) {
                cell.set_unset();
                continue;
            }
            let written = encoder.write(self.row, cell);
            written.map_err(|misfit| SerializationError::new(self.insert.misfit(misfit, self.row, at)))?;
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.encoders.is_empty()
    }
}

/// Our own error, that the driver was given while it made a request.
fn value_error(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        let own = match error.downcast_ref::<SerializationError>() {
            Some(wrapped) => wrapped.downcast_ref::<Error>(),
            None => error.downcast_ref::<Error>(),
        };
        if let Some(Error::Value {
            place,
            row,
            column,
            expected,
            found,
        }) = own
        {
            return Some(Error::Value {
                place: place.clone(),
                row: *row,
                column: column.clone(),
                expected: expected.clone(),
                found: found.clone(),
            });
        }
        next = error.source();
    }
    None
}

impl Client {
    /// Makes a table for rows of this schema, whose comment remembers what Cassandra has no types for. `primary_key` is as behind
    /// PRIMARY KEY: `id`, or `(city, year), at`; names are found in any case. Names that differ in more than their case become
    /// small letters.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a type that Cassandra has no place for and for a key that names no column;
    /// [`Error::NotFound`] for a keyspace that is not there; [`Error::Request`], as when the table is there already.
    pub async fn create_table(&self, keyspace: &str, name: &str, schema: &Schema, primary_key: &str) -> Result<Table> {
        let keyspace = self.keyspace(keyspace).await?.name;
        let place = format!("{keyspace}.{name}");
        let names = new_names(schema);
        let mut columns = Vec::new();
        for (field, name) in schema.fields().iter().zip(&names) {
            columns.push(format!("{} {}", cql_text::name(name), arrow_type::column_type(field)?));
        }
        let cql = format!(
            "CREATE TABLE {}.{} ({}, PRIMARY KEY ({})) WITH comment = {}",
            cql_text::name(&keyspace),
            cql_text::name(name),
            columns.join(", "),
            key_text(primary_key, &names).map_err(|why| Error::Unsupported {
                what: format!("{place}: the primary key {primary_key:?}, {why}"),
                hint: "write it as after PRIMARY KEY, e.g. id or (city, year), at".to_owned(),
            })?,
            cql_text::string(&table_comment::comment(schema)),
        );
        self.change_schema(&place, "making the table", &cql).await?;
        self.table(&keyspace, name).await
    }
}

/// The names of a new table's columns: in small letters, where these tell them apart.
fn new_names(schema: &Schema) -> Vec<String> {
    let small: Vec<String> = schema
        .fields()
        .iter()
        .map(|field| field.name().to_lowercase())
        .collect();
    let fields = schema.fields().iter().zip(&small);
    fields
        .map(
            |(field, name)| match small.iter().filter(|other| *other == name).count() {
                1 => name.clone(),
                _ => field.name().clone(),
            },
        )
        .collect()
}

/// The primary key as CQL has it, its names spelled as the table's columns are.
fn key_text(key: &str, names: &[String]) -> Result<String, String> {
    let mut text = String::new();
    let mut depth = 0;
    let mut rest = key.trim();
    while let Some(first) = rest.chars().next() {
        match first {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' | ' ' => {}
            _ => {
                let (name, behind) = match rest.strip_prefix('"') {
                    Some(quoted) => quoted.split_once('"').ok_or("whose quotes have no end")?,
                    None => rest.split_at(rest.find(['(', ')', ',', ' ']).unwrap_or(rest.len())),
                };
                let column = names.iter().find(|known| *known == name);
                let column = column.or_else(|| names.iter().find(|known| known.to_lowercase() == name.to_lowercase()));
                let column = column.ok_or_else(|| format!("where the rows have no column {name}"))?;
                text += &cql_text::name(column);
                rest = behind;
                continue;
            }
        }
        if !(0..=2).contains(&depth) {
            return Err("whose parentheses do not fit".to_owned());
        }
        text.push(first);
        rest = &rest[1..];
    }
    match (depth, text.is_empty()) {
        (0, false) => Ok(text),
        (0, true) => Err("which names no column".to_owned()),
        _ => Err("whose parentheses do not fit".to_owned()),
    }
}

impl crate::table::TableColumn {
    fn is_counter(&self) -> bool {
        use scylla::frame::response::result::{ColumnType, NativeType};
        matches!(self.typ, ColumnType::Native(NativeType::Counter)) && self.role == Role::Regular
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_spelled_as_the_columns_are() {
        let names = ["id", "City", "at", "order"].map(str::to_owned);
        for (key, expected) in [
            ("ID", "id"),
            ("(city, id), AT", "(\"City\", id), at"),
            ("\"City\",at", "\"City\",at"),
            ("((Order), id)", "((\"order\"), id)"),
        ] {
            assert_eq!(key_text(key, &names).as_deref(), Ok(expected));
        }
        for (key, why) in [
            ("", "no column"),
            ("nr", "nr"),
            ("(id", "parentheses"),
            ("id))", "parentheses"),
            ("\"id", "quotes"),
            ("id; DROP TABLE x", "id;"),
        ] {
            let error = key_text(key, &names).unwrap_err();
            assert!(error.contains(why), "{key}: {error}");
        }
    }
}
