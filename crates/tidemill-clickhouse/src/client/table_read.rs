//! Reading a table by several connections, each a part of its own.
//!
//! The parts are conditions over a row's own values, and each row fulfils exactly one of them, whatever its values are: with bounds
//! *b₁ … bₙ₋₁* the first part is `k < b₁`, the next `NOT (k < b₁) AND k < b₂`, and so on to the last, `NOT (k < b₁) AND … AND NOT (k < bₙ₋₁)`; by a hash
//! it is its remainder. So parts are disjoint and complete for any bounds, also for rows that are inserted while they are read. Columns
//! whose comparison may be NULL or is not total (`Nullable`, floats) are not used.
//!
//! What is not guaranteed: the parts are queries of their own, which begin one after another. A row that is inserted meanwhile is in the answer once
//! or not at all, and so is one that is deleted; rows of one INSERT can be there in part. A row whose value in the dividing column is
//! changed meanwhile, which tables of the MergeTree family refuse for columns of their key, can come twice or not at all. Of several servers
//! in the options, or of replicas of a cluster, one may lag behind the others, and rows of its parts are missing then. A view must give the same rows
//! each time.

use std::{
    future::{self, Future},
    sync::Arc,
    time::Duration,
};

use arrow_array::{RecordBatch, cast::AsArray, types::UInt64Type};
use arrow_schema::{Schema, SchemaRef};
use tokio::{sync::mpsc, task::JoinSet};

use super::{Client, QueryStream, QuerySummary, Request};
use crate::{
    DataType, Error, Result,
    arrow_type::StringType,
    sql_text::{self, SqlValue},
};

/// How a table is divided: see [`Client::table_parts`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableParts {
    /// A condition for each part, in SQL. Each row of the table fulfils exactly one. `1` where there is one part.
    pub conditions: Vec<String>,
    /// What divides the rows.
    pub by: PartedBy,
}

/// What divides the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartedBy {
    /// Nothing: it is read as a whole.
    Nothing,
    /// Ranges of this column, the first of the key that the table is sorted by: each connection reads a part of the table.
    Key(String),
    /// A hash of these columns: each connection has the server read them of the whole table, and sends its own rows.
    Hash(Vec<String>),
}

/// A table that is to be read by several connections. Awaiting [`TableRead::stream`] begins it.
#[derive(Clone, Debug)]
#[must_use = "a table is read when it is asked for"]
pub struct TableRead {
    client: Client,
    table: String,
    columns: Vec<String>,
    condition: Option<String>,
    connections: usize,
    deadline: Option<Duration>,
}

/// The rows of a table, in no order, as the connections bring them.
///
/// Dropping it before the end cancels what runs.
#[derive(Debug)]
pub struct TableStream {
    schema: SchemaRef,
    batches: mpsc::Receiver<Result<RecordBatch>>,
    parts: JoinSet<Option<QuerySummary>>,
    by: PartedBy,
    summaries: Vec<QuerySummary>,
    /// Whether a part ended early.
    is_broken: bool,
}

impl Client {
    /// Divides a table, which is written as in SQL, into `count` parts or fewer, whose conditions are for the `WHERE` of as many queries.
    /// `table` may be a table function too, such as `cluster('shards', db.t)`.
    ///
    /// A table of the MergeTree family, and one of the engine Distributed over such, is divided by ranges of the first column of its sorting
    /// key, whose bounds are those of a sample; that asks the server for the column. Others are divided by a hash of columns.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when there is no such table, and those of [`Request::collect`].
    pub async fn table_parts(&self, table: &str, count: usize) -> Result<TableParts> {
        let whole = TableParts {
            conditions: vec!["1".to_owned()],
            by: PartedBy::Nothing,
        };
        let count = count.min(MOST_PARTS);
        if count < 2 {
            return Ok(whole);
        }
        let columns = self.columns_of(table).await?;
        if let Some(key) = self.key_of(table, &columns).await?
            && let Some(bounds) = self.bounds_of(table, key, count).await?
        {
            return Ok(TableParts {
                conditions: ranges(&sql_text::name(&key.0), &bounds),
                by: PartedBy::Key(key.0.clone()),
            });
        }
        let hashed = columns.iter().filter(|(_, data_type)| has_hash(data_type));
        let hashed: Vec<_> = hashed.take(MOST_HASHED).collect();
        if hashed.is_empty() {
            return Ok(whole);
        }
        let names: Vec<_> = hashed.iter().map(|(name, _)| sql_text::name(name)).collect();
        let hash = format!("cityHash64({}) % {count}", names.join(", "));
        Ok(TableParts {
            conditions: (0..count).map(|part| format!("{hash} = {part}")).collect(),
            by: PartedBy::Hash(hashed.iter().map(|(name, _)| name.clone()).collect()),
        })
    }

    /// Prepares to read a table, which is written as in SQL, by as many connections as [`Options::parallel`](super::Options::parallel) says.
    pub fn read_table(&self, table: impl Into<String>) -> TableRead {
        TableRead {
            table: table.into(),
            columns: Vec::new(),
            condition: None,
            connections: self.options().parallel,
            deadline: None,
            client: self.clone(),
        }
    }

    /// The names and types of the columns that are stored.
    async fn columns_of(&self, table: &str) -> Result<Vec<(String, DataType)>> {
        let described = self.query(format!("DESCRIBE TABLE {table}")).collect().await?;
        let mut columns = Vec::new();
        for batch in described {
            let text = |name: &str| {
                batch
                    .column_by_name(name)
                    .and_then(|column| column.as_string_opt::<i32>())
            };
            let (Some(names), Some(types), Some(kinds)) = (text("name"), text("type"), text("default_type")) else {
                return Err(Error::Unsupported {
                    what: format!("what DESCRIBE TABLE {table} says"),
                    hint: "read it by one connection",
                });
            };
            for ((name, data_type), kind) in names.iter().zip(types).zip(kinds) {
                // An alias is an expression, perhaps a different one each time, and an ephemeral column is not there.
                if let (Some(name), Some(data_type)) = (name, data_type)
                    && !matches!(kind, Some("ALIAS" | "EPHEMERAL"))
                    && let Ok(data_type) = data_type.parse()
                {
                    columns.push((name.to_owned(), data_type));
                }
            }
        }
        Ok(columns)
    }

    /// The column that the rows are sorted by first, where ranges of it can be told apart.
    async fn key_of<'a>(
        &self,
        table: &str,
        columns: &'a [(String, DataType)],
    ) -> Result<Option<&'a (String, DataType)>> {
        let Some((database, name)) = names(table) else {
            return Ok(None);
        };
        let mut place = (
            database.map_or("currentDatabase()".to_owned(), |name| sql_text::string(&name)),
            name,
        );
        // A table of the engine Distributed is over one that this server has, as a rule.
        for _ in 0..2 {
            let sql = format!(
                "SELECT engine, sorting_key, engine_full FROM system.tables WHERE database = {} AND name = {}",
                place.0,
                sql_text::string(&place.1),
            );
            let found = match self.query(sql).collect().await {
                Ok(found) => found,
                // A server that tells no keys, or does not tell them to everybody.
                Err(Error::Server(_)) => return Ok(None),
                Err(error) => return Err(error),
            };
            let row = found.iter().find(|batch| batch.num_rows() > 0);
            let text = |column: usize| Some(row?.columns().get(column)?.as_string_opt::<i32>()?.value(0).to_owned());
            let (Some(engine), Some(key), Some(full)) = (text(0), text(1), text(2)) else {
                return Ok(None);
            };
            if engine.ends_with("MergeTree") {
                let first = names(key.split(',').next().unwrap_or_default().trim());
                let column = columns.iter().find(|(name, _)| Some((None, name.clone())) == first);
                return Ok(column.filter(|(_, data_type)| has_ranges(data_type)));
            }
            match distributed_over(&engine, &full) {
                Some((database, name)) => place = (sql_text::string(&database), name),
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Where the parts begin, but for the first, as constants in SQL. None where there are too few values to divide by.
    async fn bounds_of(
        &self,
        table: &str,
        (key, data_type): &(String, DataType),
        count: usize,
    ) -> Result<Option<Vec<String>>> {
        let key = sql_text::name(key);
        let rows = self.query(format!("SELECT count() FROM {table}")).collect().await?;
        let rows = rows.iter().find(|batch| batch.num_rows() > 0);
        let rows = rows.and_then(|batch| Some(batch.column(0).as_primitive_opt::<UInt64Type>()?.value(0)));
        let share = (rows.unwrap_or_default() / (SAMPLE * count as u64)).max(1);
        let sql = format!("SELECT toString({key}) FROM {table} WHERE rand() % {share} = 0 ORDER BY {key}");
        let mut sample = Vec::new();
        for batch in self.query(sql).strings(StringType::Binary).collect().await? {
            let Some(values) = batch.column(0).as_binary_opt::<i32>() else {
                return Ok(None);
            };
            sample.extend(values.iter().flatten().map(<[u8]>::to_vec));
        }
        let mut bounds: Vec<&[u8]> = Vec::new();
        for part in 1..count {
            if let Some(bound) = sample.get(part * sample.len() / count)
                && bounds.last() != Some(&bound.as_slice())
                && sample.first() != Some(bound)
            {
                bounds.push(bound);
            }
        }
        if bounds.is_empty() {
            return Ok(None);
        }
        let literal = |bound: &[u8]| {
            let mut literal = String::new();
            sql_text::Bytes(bound).write_sql(&mut literal);
            format!("CAST({literal} AS {data_type})")
        };
        Ok(Some(bounds.into_iter().map(literal).collect()))
    }
}

impl TableRead {
    /// Chooses what is read: names or expressions, in SQL. Default: all columns, as `SELECT *`.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Reads only rows that fulfil a condition, in SQL.
    pub fn condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Chooses by how many connections, up to the pool's size.
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Ends each query after `limit`, as [`Request::deadline`].
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// The queries, one for each part, and what divides them.
    ///
    /// # Errors
    ///
    /// Those of [`Client::table_parts`].
    pub async fn requests(&self) -> Result<(Vec<Request>, PartedBy)> {
        let connections = self.connections.clamp(1, self.client.options().pool_size);
        let parts = self.client.table_parts(&self.table, connections).await?;
        let columns = match self.columns.is_empty() {
            true => "*".to_owned(),
            false => self.columns.join(", "),
        };
        let request = |part: &String| {
            let condition = match &self.condition {
                // Behind a line's end, for it may end with a comment.
                Some(condition) => format!("({condition}\n) AND {part}"),
                None => part.clone(),
            };
            let sql = format!("SELECT {columns} FROM {} WHERE {condition}", self.table);
            let mut request = self.client.query(sql);
            if let Some(limit) = self.deadline {
                request = request.deadline(limit);
            }
            request
        };
        Ok((parts.conditions.iter().map(request).collect(), parts.by))
    }

    /// Begins to read.
    ///
    /// # Errors
    ///
    /// Those of [`TableRead::requests`] and [`Request::stream`].
    pub async fn stream(self) -> Result<TableStream> {
        let (requests, by) = self.requests().await?;
        let (sender, batches) = mpsc::channel(2);
        let mut parts = JoinSet::new();
        let mut requests = requests.into_iter();
        let first = match requests.next() {
            Some(request) => request.stream().await?,
            None => return Err(Error::RowNotFound),
        };
        let schema = first.schema();
        parts.spawn(read_part(future::ready(Ok(first)), sender.clone()));
        for request in requests {
            parts.spawn(read_part(request.stream(), sender.clone()));
        }
        Ok(TableStream {
            schema: schema.unwrap_or_else(|| Arc::new(Schema::empty())),
            batches,
            parts,
            by,
            summaries: Vec::new(),
            is_broken: false,
        })
    }
}

/// Sends the rows of a part, or its error. Its summary when it has ended as it should.
async fn read_part(
    stream: impl Future<Output = Result<QueryStream>>,
    sender: mpsc::Sender<Result<RecordBatch>>,
) -> Option<QuerySummary> {
    let read = async {
        let mut stream = stream.await?;
        while let Some(batch) = stream.next().await? {
            if sender.send(Ok(batch)).await.is_err() {
                // Nobody reads on. The query is cancelled.
                return Ok(None);
            }
        }
        Ok(Some(stream.into_summary()))
    };
    match read.await {
        Ok(summary) => summary,
        Err(error) => {
            let _ = sender.send(Err(error)).await;
            None
        }
    }
}

impl TableStream {
    /// The columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// What divides the rows between the connections.
    #[must_use]
    pub fn parted_by(&self) -> &PartedBy {
        &self.by
    }

    /// Waits for the next rows, of any part. `None` when all parts have ended as they should.
    ///
    /// # Errors
    ///
    /// Those of [`QueryStream::next`](super::QueryStream::next), of whichever part fails first; the others are cancelled then. Rows of an answer that
    /// is not whole are never followed by `None`.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(batch) = self.batches.recv().await {
            if batch.is_err() {
                self.batches.close();
                self.parts.abort_all();
            }
            return batch.map(Some);
        }
        // All parts have ended. Behind an error there is nothing but errors.
        while let Some(ended) = self.parts.join_next().await {
            match ended {
                Ok(Some(summary)) => self.summaries.push(summary),
                Ok(None) | Err(_) => self.is_broken = true,
            }
        }
        match self.is_broken {
            true => Err(Error::Closed {
                why: "a part of the table was not read to its end",
            }),
            false => Ok(None),
        }
    }

    /// What is known of the queries when all have ended, one for each part, in the order of their ends.
    #[must_use]
    pub fn summaries(&self) -> &[QuerySummary] {
        &self.summaries
    }
}

/// The parts of all values by these bounds, which may be any.
fn ranges(key: &str, bounds: &[String]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut behind = String::new();
    for bound in bounds {
        parts.push(format!("{behind}{key} < {bound}"));
        behind += &format!("NOT ({key} < {bound}) AND ");
    }
    parts.push(behind.trim_end_matches(" AND ").to_owned());
    parts
}

/// Whether any two values of a type are less, equal or greater, and their text is that of one value.
fn has_ranges(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::LowCardinality(inner) => matches!(**inner, T::String | T::FixedString(_)),
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => true,
        T::Int128 | T::Int256 | T::UInt128 | T::UInt256 => true,
        T::String | T::FixedString(_) | T::Date | T::Date32 | T::DateTime(_) | T::DateTime64(..) | T::Uuid => true,
        _ => false,
    }
}

/// Whether a value has a hash, the same each time and on every server.
fn has_hash(data_type: &DataType) -> bool {
    use DataType as T;
    let is_whole = matches!(
        data_type,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64
    );
    let is_text = matches!(data_type, T::String | T::FixedString(_) | T::Enum8(_) | T::Enum16(_));
    is_whole || is_text || matches!(data_type, T::Float32 | T::Float64 | T::Date | T::DateTime(_))
}

/// `name` or `database.name`, where the names are plain or in backquotes. None for all else, such as a function of a table.
fn names(text: &str) -> Option<(Option<String>, String)> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    loop {
        let (name, behind) = match rest.strip_prefix('`') {
            // A quoted name with escapes is not taken apart.
            Some(quoted) => quoted.split_once('`').filter(|(name, _)| !name.contains('\\'))?,
            None => {
                let end = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        if name.is_empty() {
            return None;
        }
        names.push(name.to_owned());
        match behind.strip_prefix('.') {
            Some(more) => rest = more,
            None if behind.is_empty() => break,
            None => return None,
        }
    }
    match (names.pop(), names.pop(), names.pop()) {
        (Some(name), database, None) => Some((database, name)),
        _ => None,
    }
}

/// The database and name of the table that one of the engine Distributed is over, as `system.tables` tells it:
/// `Distributed('cluster', 'db', 'table', rand())`, with quotes or without.
fn distributed_over(engine: &str, full: &str) -> Option<(String, String)> {
    if engine != "Distributed" {
        return None;
    }
    let arguments = full.strip_prefix("Distributed(")?;
    let mut arguments = arguments
        .split([',', ')'])
        .map(|argument| argument.trim().trim_matches(['\'', '`', '"']));
    let (_, database, name) = (arguments.next()?, arguments.next()?, arguments.next()?);
    let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_plain(database) && is_plain(name)).then(|| (database.to_owned(), name.to_owned()))
}

/// Values that are looked at for each part.
const SAMPLE: u64 = 256;
/// Further columns tell rows apart hardly better.
const MOST_HASHED: usize = 8;
/// More connections help nobody.
const MOST_PARTS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_a_partition_whatever_the_bounds_are() {
        // As a server would judge them, with bounds in no order and twice.
        for bounds in [&[][..], &[5], &[3, 7], &[7, 3], &[4, 4, 4], &[9, 1, 5, 5, 2]] {
            let texts: Vec<String> = bounds.iter().map(ToString::to_string).collect();
            let parts = ranges("k", &texts);
            assert_eq!(parts.len(), bounds.len() + 1);
            for k in 0..12 {
                let fulfilled = parts.iter().filter(|part| holds(part, k)).count();
                assert_eq!(fulfilled, 1, "{k} in {parts:?}");
            }
        }
    }

    /// Judges `k < 5` and `NOT (k < 5)`, joined by AND.
    fn holds(condition: &str, k: i32) -> bool {
        condition.split(" AND ").filter(|one| !one.is_empty()).all(|one| {
            let (is, text) = match one.strip_prefix("NOT (") {
                Some(text) => (false, text.trim_end_matches(')')),
                None => (true, one),
            };
            let bound: i32 = text.strip_prefix("k < ").unwrap().parse().unwrap();
            (k < bound) == is
        })
    }

    #[test]
    fn names_are_taken_apart() {
        let some = |database: Option<&str>, name: &str| Some((database.map(str::to_owned), name.to_owned()));
        for (text, expected) in [
            ("t", some(None, "t")),
            ("db.t", some(Some("db"), "t")),
            ("`a b`.`c.d`", some(Some("a b"), "c.d")),
            (" `t` ", some(None, "t")),
            ("a.b.c", None),
            ("cluster('c', db.t)", None),
            ("(SELECT 1)", None),
            ("`a\\`b`", None),
            ("", None),
            ("t FINAL", None),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn tables_under_distributed_ones_are_found() {
        let found = |full: &str| distributed_over("Distributed", full);
        let expected = Some(("db".to_owned(), "t".to_owned()));
        assert_eq!(found("Distributed('c', 'db', 't', rand())"), expected);
        assert_eq!(found("Distributed(c, db, t)"), expected);
        assert_eq!(found("Distributed('c', currentDatabase(), 't')"), None);
        assert_eq!(distributed_over("Memory", "Memory"), None);
    }
}
