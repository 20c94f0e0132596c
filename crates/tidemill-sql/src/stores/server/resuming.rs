//! Copies in multiple transactions, which can be resumed.
//!
//! A new table is a draft, whose name depends on the source and the table; it is renamed, and gets its indexes, when all rows are there.
//! Transactions are atomic, so that the number of rows shows where to resume.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::{Filling, ForeignKey, IfThere, ServerStore, ServerUrl, TableOptions, TableSink};
use crate::Result;

/// The rows of a transaction.
const ROWS: u64 = 100_000;

/// The most time of a transaction.
const TIME: Duration = Duration::from_secs(10);

/// A store whose tables can be filled in multiple transactions.
#[async_trait::async_trait]
pub(crate) trait Resumable: Send + Sync {
    /// Creates an empty draft of a table for rows of a schema, without the indexes that it gets at the end.
    async fn make_draft(
        &self,
        draft: &ServerUrl,
        table: &ServerUrl,
        schema: &SchemaRef,
        making: &TableOptions,
    ) -> Result<()>;

    /// Waits until nobody adds rows to a table: the transaction of a killed program may still be open.
    async fn wait_for_writers(&self, table: &ServerUrl) -> Result<()>;

    /// Adds the indexes to a draft, and renames it to the table, which it replaces if `replaces` is set.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`](crate::Error::Exists) for an existing table that is not replaced.
    async fn publish_draft(
        &self,
        draft: &ServerUrl,
        table: &ServerUrl,
        schema: &SchemaRef,
        making: &TableOptions,
        replaces: bool,
    ) -> Result<()>;
}

/// The names of a table's drafts.
pub(crate) struct DraftNames {
    /// The common prefix of a table's drafts that are copied from one source.
    begin: String,
    /// The draft of the source in its current state.
    name: String,
}

impl DraftNames {
    /// The names for a table. `source` is a name, and `state` changes with the source's rows.
    pub(crate) fn new(table: &ServerUrl, source: &str, state: &str, schema: &SchemaRef) -> Self {
        let name = table.table_name();
        let mut of_source = DefaultHasher::new();
        (&name, source).hash(&mut of_source);
        let mut of_rows = DefaultHasher::new();
        state.hash(&mut of_rows);
        for field in schema.fields() {
            (field.name(), field.data_type()).hash(&mut of_rows);
        }
        // Names have at most 63 bytes in PostgreSQL, and 64 characters in MySQL.
        let name = name.to_lowercase();
        let kept = (0..=30).rev().find_map(|end| name.get(..end)).unwrap_or_default();
        let short = |hasher: &DefaultHasher| hasher.finish() >> 32;
        let begin = format!("{kept}_tidemill_copy_{:08x}", short(&of_source));
        let name = format!("{begin}{:08x}", short(&of_rows));
        Self { begin, name }
    }

    /// The draft.
    pub(crate) fn draft(&self, table: &ServerUrl) -> ServerUrl {
        table.beside(&self.name)
    }

    /// Whether it is a draft of an earlier state of the source.
    pub(crate) fn is_outdated(&self, name: &str) -> bool {
        let state = name.strip_prefix(&self.begin);
        let is_state = |state: &str| state.len() == 8 && state.bytes().all(|digit| digit.is_ascii_hexdigit());
        name != self.name && state.is_some_and(is_state)
    }
}

/// Fills an existing table in multiple transactions.
pub(crate) struct ResumableSink<'a> {
    store: &'a dyn ServerStore,
    table: &'a ServerUrl,
    schema: SchemaRef,
    making: TableOptions,
    columns: Vec<String>,
    /// The open transaction, its number of rows, and when it began.
    transaction: Option<(Box<dyn TableSink>, u64, Instant)>,
    /// Rows that were there before.
    before: u64,
    /// Committed rows.
    committed: u64,
}

impl<'a> ResumableSink<'a> {
    /// Starts to fill the table, which has the first rows of the source. `foreign_keys` are those of a draft.
    pub(crate) async fn begin(
        store: &'a dyn ServerStore,
        table: &'a ServerUrl,
        schema: &SchemaRef,
        before: u64,
        foreign_keys: &[ForeignKey],
    ) -> Result<Self> {
        let mut sink = Self {
            store,
            table,
            schema: schema.clone(),
            making: TableOptions {
                foreign_keys: foreign_keys.to_vec(),
                ..TableOptions::default()
            },
            columns: Vec::new(),
            transaction: None,
            before,
            committed: 0,
        };
        let transaction = sink.transaction().await?;
        sink.columns = transaction.columns();
        sink.transaction = Some((transaction, 0, Instant::now()));
        Ok(sink)
    }

    async fn transaction(&mut self) -> Result<Box<dyn TableSink>> {
        let filling = Filling {
            columns: &[],
            making: &self.making,
            there: IfThere::Add,
            job: None,
            rows_before: self.before + self.committed,
        };
        self.store.fill(self.table, &self.schema, &filling).await
    }
}

#[async_trait::async_trait]
impl TableSink for ResumableSink<'_> {
    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let (mut transaction, rows, since) = match self.transaction.take() {
            Some(transaction) => transaction,
            None => (self.transaction().await?, 0, Instant::now()),
        };
        let written = transaction.write(batch).await;
        let rows = rows + batch.num_rows() as u64;
        if written.is_ok() && (rows >= ROWS || since.elapsed() >= TIME) {
            self.committed += transaction.finish().await?;
        } else {
            self.transaction = Some((transaction, rows, since));
        }
        written
    }

    async fn finish(self: Box<Self>) -> Result<u64> {
        match self.transaction {
            Some((transaction, ..)) => Ok(self.committed + transaction.finish().await?),
            None => Ok(self.committed),
        }
    }

    async fn give_up(self: Box<Self>) {
        if let Some((transaction, ..)) = self.transaction {
            transaction.give_up().await;
        }
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    #[test]
    fn a_draft_has_the_name_of_its_source_and_of_its_state() {
        let schema = |name: &str| Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, true)]));
        let table = ServerUrl::new("postgres://h/d/s/A%2Frather%20long%20näme%20of%20a%20table").expect("a table");
        let names = DraftNames::new(&table, "/a.dbf", "1 2", &schema("a"));
        let again = DraftNames::new(&table, "/a.dbf", "1 2", &schema("a"));
        assert_eq!(names.name, again.name);
        assert!(names.name.len() <= 63, "{}", names.name);
        assert!(names.name.starts_with("a/rather long näme of a tabl"), "{}", names.name);
        assert!(!names.is_outdated(&again.name));
        for (source, state, column, is_outdated) in [
            ("/a.dbf", "1 3", "a", true),
            ("/a.dbf", "1 2", "b", true),
            ("/b.dbf", "1 2", "a", false),
        ] {
            let other = DraftNames::new(&table, source, state, &schema(column));
            assert_ne!(names.name, other.name);
            assert_eq!(names.is_outdated(&other.name), is_outdated, "{source} {state} {column}");
        }
        assert!(!names.is_outdated(&names.begin) && !names.is_outdated("a"));
    }
}
