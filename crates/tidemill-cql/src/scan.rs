//! Reading a table: the ring in parts, each page by page, several at a time.
//!
//! The parts of a [`Scan`] are ranges of tokens, or the partitions that its conditions name. A task reads each part and makes a
//! batch of each page, for a range at one of its replicas; a few of them run at a time, and each stops when nobody takes its
//! pages. Batches come in the order of the parts, so rows come in the table's order, whichever page was first to arrive.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use scylla::deserialize::row::ColumnIterator;
use scylla::frame::response::result::{ColumnType, NativeType};
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::routing::Token;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::client::{failed, request};
use crate::cql_text;
use crate::decode::Column;
use crate::error::{Error, Result};
use crate::table::Table;
use crate::table_comment::conform;
use crate::towards_token::TowardsToken;

/// Which rows are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All.
    All,
    /// Those of each of these conditions, as after WHERE, in order. Together they should name no row twice.
    Where(Vec<String>),
}

/// A value of a group of rows. Values that are NULL are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupValue {
    /// The number of rows: `bigint`.
    Rows,
    /// The number of values of a column: `bigint`.
    Count(usize),
    /// The least value of a column; NULL where there is none.
    Min(usize),
    /// The highest value of a column; NULL where there is none.
    Max(usize),
    /// The sum of a column of `tinyint`, `smallint` or `int`: `bigint`; 0 where there is no value.
    Sum(usize),
}

/// What is read of a table.
#[derive(Clone, Debug)]
pub struct Scan {
    table: Arc<Table>,
    columns: Arc<[Selected]>,
    schema: SchemaRef,
    rows: Rows,
    /// DISTINCT, or nothing.
    prefix: &'static str,
    /// GROUP BY, or ORDER BY with a limit for each part.
    suffix: Arc<str>,
    limit: Option<u64>,
}

/// One of the list of a SELECT.
#[derive(Clone, Debug)]
struct Selected {
    text: String,
    typ: ColumnType<'static>,
}

impl Scan {
    /// Reads these columns of a table, by their places in its schema.
    ///
    /// # Errors
    ///
    /// [`Error::Arrow`] for a column that the table does not have.
    pub fn new(table: Arc<Table>, columns: &[usize], rows: Rows) -> Result<Self> {
        let schema = Arc::new(table.schema().project(columns)?);
        let columns = columns.iter().map(|&column| table.selected(column));
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            schema,
            table,
            rows,
            prefix: "",
            suffix: "".into(),
            limit: None,
        })
    }

    /// Groups of rows, which the cluster makes: the columns that tell them apart, then a value for each of `values`. The keys are named by
    /// their places in the table's schema, and the columns are called by their places.
    ///
    /// Without keys, all rows of one condition are one group, also where there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Arrow`] for a column that the table does not have; [`Error::Unsupported`] for rows of several conditions, for keys that the
    /// cluster cannot group by (they must be the first columns of the primary key, with its whole partition key unless a condition gives it
    /// one value), and for a sum of other columns than whole numbers of 32 bits at most.
    pub fn groups(table: Arc<Table>, keys: &[usize], values: &[GroupValue], rows: Rows) -> Result<Self> {
        let mut columns = Vec::new();
        let mut fields = Vec::new();
        let schema = table.schema();
        for &key in keys {
            columns.push(table.selected(key)?);
            fields.push(schema.field(key).clone());
        }
        let bigint = || ColumnType::Native(NativeType::BigInt);
        for value in values {
            let (text, typ, data_type) = match *value {
                GroupValue::Rows => ("count(*)".to_owned(), bigint(), DataType::Int64),
                GroupValue::Count(column) => (
                    format!("count({})", table.selected(column)?.text),
                    bigint(),
                    DataType::Int64,
                ),
                GroupValue::Min(column) | GroupValue::Max(column) => {
                    let function = if let GroupValue::Min(_) = value { "min" } else { "max" };
                    let Selected { text, typ } = table.selected(column)?;
                    (
                        format!("{function}({text})"),
                        typ,
                        schema.field(column).data_type().clone(),
                    )
                }
                GroupValue::Sum(column) => {
                    let Selected { text, typ } = table.selected(column)?;
                    let ColumnType::Native(NativeType::TinyInt | NativeType::SmallInt | NativeType::Int) = typ else {
                        return Err(table.ungrouped(format!("a sum of {text}")));
                    };
                    (format!("sum(cast({text} AS bigint))"), bigint(), DataType::Int64)
                }
            };
            fields.push(Field::new(format!("v{}", fields.len()), data_type, true));
            columns.push(Selected { text, typ });
        }
        let partition = table.partition_key();
        let is_distinct = values.is_empty() && rows == Rows::All && {
            let mut sorted = keys.to_vec();
            sorted.sort_unstable();
            let mut wanted = partition.clone();
            wanted.sort_unstable();
            sorted == wanted
        };
        let group_key = table.group_key(keys, &rows)?;
        let suffix = match keys.is_empty() || is_distinct {
            true => String::new(),
            false => format!(" GROUP BY {}", group_key.join(", ")),
        };
        Ok(Self {
            columns: columns.into(),
            schema: Arc::new(Schema::new(fields)),
            table,
            rows,
            prefix: if is_distinct { "DISTINCT " } else { "" },
            suffix: suffix.into(),
            limit: None,
        })
    }

    /// The first rows that each condition of [`Rows::Where`] names, in the order of the first column of the clustering key. Each condition must be
    /// of one partition.
    #[must_use]
    pub fn first_by_clustering_key(mut self, descending: bool, rows: u64) -> Self {
        if let Some(first) = self.table.clustering_key().first() {
            let direction = if descending { "DESC" } else { "ASC" };
            let name = cql_text::name(&self.table.columns[*first].name);
            // CQL's limit is an int.
            let rows = rows.min(i32::MAX as u64);
            self.suffix = format!(" ORDER BY {name} {direction} LIMIT {rows}").into();
        }
        self
    }

    /// Ends after so many rows. Default: after the last.
    #[must_use]
    pub fn limit(mut self, limit: Option<u64>) -> Self {
        self.limit = limit;
        self
    }

    /// The columns of the batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The statements that are sent, those that differ in their values by the first of them.
    pub fn text(&self) -> String {
        let parts = self.parts();
        let first = parts.first().map(|part| self.part_text(part)).unwrap_or_default();
        match parts.len() {
            0 => "none: no row fits".to_owned(),
            1 => first,
            more => format!("{first} ({more} times)"),
        }
    }

    /// The rows, page by page. Reading begins with the first [`Batches::next`], in the tokio runtime of the task that calls it.
    pub fn batches(&self) -> Batches {
        Batches {
            waiting: self.parts().into(),
            running: VecDeque::new(),
            left: self.limit,
            scan: Arc::new(self.clone()),
            statement: None,
        }
    }

    /// The number of the rows.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub async fn count(&self) -> Result<u64> {
        use futures::StreamExt as _;
        let limit = self.limit.unwrap_or(u64::MAX);
        let counting = Self {
            limit: None,
            ..self.clone()
        };
        let statement = counting.prepare("count(*)").await?;
        let counts = counting.parts().into_iter().map(|part| {
            let (counting, statement) = (&counting, statement.as_ref());
            async move {
                let statement = counting.towards(&part, statement);
                let failed =
                    |error: &dyn std::error::Error| failed(&counting.table.place(), "counting its rows", error);
                let (answer, _) = counting
                    .page(&part, "count(*)", statement.as_ref(), PagingState::start())
                    .await?;
                let rows = answer.into_rows_result().map_err(|error| failed(&error))?;
                let (count,) = rows.first_row::<(i64,)>().map_err(|error| failed(&error))?;
                Ok::<_, Error>(u64::try_from(count).unwrap_or_default())
            }
        });
        let mut counts = futures::stream::iter(counts).buffer_unordered(self.in_flight());
        let mut sum = 0_u64;
        while let Some(count) = counts.next().await {
            sum = sum.saturating_add(count?);
            if sum >= limit {
                return Ok(limit);
            }
        }
        Ok(sum)
    }

    fn in_flight(&self) -> usize {
        const PARTS: usize = 8;
        self.table.client.options.in_flight.unwrap_or(PARTS).max(1)
    }

    /// Whether the limit is within a page, so that one statement reads all that is wanted.
    fn is_short(&self) -> bool {
        let page = u64::from(self.table.client.options.page_size.unsigned_abs());
        self.limit.is_some_and(|limit| limit <= page)
    }

    fn parts(&self) -> Vec<Part> {
        match &self.rows {
            Rows::Where(conditions) => conditions.iter().cloned().map(Part::Where).collect(),
            Rows::All if self.is_short() || !self.table.has_token_ranges => vec![Part::Whole],
            Rows::All => {
                let cluster = self.table.client.session.get_cluster_state();
                let ring = cluster.replica_locator().ring();
                token_ranges(ring.iter().map(|(token, _)| token.value()).collect())
                    .into_iter()
                    .map(|(after, to)| Part::Tokens { after, to })
                    .collect()
            }
        }
    }

    fn part_text(&self, part: &Part) -> String {
        self.statement(part, &self.selected())
    }

    fn selected(&self) -> String {
        if self.columns.is_empty() {
            return "count(*)".to_owned();
        }
        let names: Vec<&str> = self.columns.iter().map(|column| column.text.as_str()).collect();
        format!("{}{}", self.prefix, names.join(", "))
    }

    fn statement(&self, part: &Part, selected: &str) -> String {
        let mut text = format!("SELECT {selected} FROM {}", self.table.text());
        match part {
            Part::Whole => {}
            Part::Where(condition) => text += &format!(" WHERE {condition}"),
            Part::Tokens { .. } => {
                let key = self.table.partition_key();
                let key: Vec<_> = key
                    .iter()
                    .map(|column| cql_text::name(&self.table.columns[*column].name))
                    .collect();
                let token = format!("token({})", key.join(", "));
                text += &format!(" WHERE {token} > ? AND {token} <= ?");
            }
        }
        text += &self.suffix;
        if let Some(limit) = self.limit.filter(|_| !self.columns.is_empty()) {
            // CQL's limit is an int.
            text += &format!(" LIMIT {}", limit.min(i32::MAX as u64));
        }
        text
    }

    /// The statement of the parts that differ in their tokens only.
    async fn prepare(&self, selected: &str) -> Result<Option<PreparedStatement>> {
        let part = Part::Tokens { after: 0, to: 0 };
        if self.rows != Rows::All || !self.table.has_token_ranges || (self.is_short() && !self.columns.is_empty()) {
            return Ok(None);
        }
        let mut statement = Statement::new(self.statement(&part, selected));
        statement.set_is_idempotent(true);
        statement.set_page_size(self.table.client.options.page_size);
        let client = &self.table.client;
        client
            .prepare(statement, &self.table.place(), "reading")
            .await
            .map(Some)
    }

    /// The statement for one of the parts, which is sent to a replica of its tokens.
    fn towards(&self, part: &Part, prepared: Option<&PreparedStatement>) -> Option<PreparedStatement> {
        let mut prepared = prepared?.clone();
        if let Part::Tokens { to, .. } = part {
            let client = &self.table.client;
            prepared.set_load_balancing_policy(Some(Arc::new(TowardsToken {
                token: Token::new(*to),
                datacenter: client.options.datacenter.clone(),
                others: Arc::clone(&client.balancing),
            })));
        }
        Some(prepared)
    }

    async fn page(
        &self,
        part: &Part,
        selected: &str,
        prepared: Option<&PreparedStatement>,
        state: PagingState,
    ) -> Result<(QueryResult, PagingStateResponse)> {
        let session = &self.table.client.session;
        let answer = match (part, prepared) {
            (Part::Tokens { after, to }, Some(prepared)) => {
                session.execute_single_page(prepared, (*after, *to), state).await
            }
            _ => {
                let mut statement = Statement::new(self.statement(part, selected));
                statement.set_is_idempotent(true);
                statement.set_page_size(self.table.client.options.page_size);
                session.query_single_page(statement, (), state).await
            }
        };
        answer.map_err(request(&self.table.place(), "reading"))
    }

    /// Reads a part to its end, or until nobody takes its batches.
    async fn read(
        &self,
        part: Part,
        prepared: Option<PreparedStatement>,
        sender: &Sender<Result<RecordBatch>>,
    ) -> Result<()> {
        let selected = self.selected();
        let mut state = PagingState::start();
        let mut left = self.limit;
        let mut last_row = Instant::now();
        loop {
            let (answer, next) = self.page(&part, &selected, prepared.as_ref(), state).await?;
            let rows = answer
                .into_rows_result()
                .map_err(request(&self.table.place(), "reading"))?;
            let count = rows.rows_num() as u64;
            // A page may be empty where rows were deleted, but a node may have no end of them.
            let limit = self
                .table
                .client
                .options
                .timeout
                .saturating_mul(MOST_TIMEOUTS_WITHOUT_ROWS);
            if count == 0 && last_row.elapsed() > limit {
                let what = format!("no row in the pages of {} s", limit.as_secs_f64());
                return Err(self.failed(what));
            }
            if count > 0 {
                last_row = Instant::now();
                let batch = self.decode(&rows)?;
                drop(rows);
                if sender.send(Ok(batch)).await.is_err() {
                    return Ok(());
                }
            }
            left = left.map(|left| left.saturating_sub(count));
            match next.into_paging_control_flow() {
                ControlFlow::Continue(next) if left != Some(0) => state = next,
                _ => return Ok(()),
            }
        }
    }

    fn failed(&self, what: String) -> Error {
        Error::Request {
            place: self.table.place(),
            doing: "reading".to_owned(),
            what,
        }
    }

    /// The batch of a page.
    fn decode(&self, rows: &QueryRowsResult) -> Result<RecordBatch> {
        let table = &self.table;
        let place = table.place();
        let expected = self.columns.iter();
        if rows.column_specs().len() != self.columns.len()
            || rows
                .column_specs()
                .iter()
                .zip(expected)
                .any(|(spec, column)| *spec.typ() != column.typ)
        {
            return Err(self.failed("the table's columns were changed meanwhile".to_owned()));
        }
        // A cell has a length of four bytes at least, whatever the page says of its rows.
        let most = rows.rows_bytes_size() / (4 * self.columns.len().max(1));
        let capacity = rows.rows_num().min(most);
        let fields = self.schema.fields();
        let mut columns: Vec<Column> = self
            .columns
            .iter()
            .zip(fields)
            .map(|(column, field)| Column::wanted(&column.typ, field.data_type(), capacity))
            .collect();
        let failed = |error: &dyn std::error::Error| failed(&place, "reading", error);
        for row in rows.rows::<ColumnIterator<'_, '_>>().map_err(|error| failed(&error))? {
            for (cell, column) in row.map_err(|error| failed(&error))?.zip(&mut columns) {
                let cell = cell.map_err(|error| failed(&error))?;
                let appended = column.append(cell.slice.map(|slice| slice.as_slice()));
                appended.map_err(|misfit| misfit.read(&place, cell.spec.name()))?;
            }
        }
        let columns = columns.into_iter().zip(fields).map(|(column, field)| {
            conform(&column.finish()?, field.data_type()).map_err(|error| Error::Corrupt {
                place: place.clone(),
                column: field.name().clone(),
                expected: field.data_type().to_string(),
                found: error.to_string(),
            })
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.rows_num()));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?)
    }
}

impl Table {
    fn selected(&self, column: usize) -> Result<Selected> {
        let found = self.columns.get(column).ok_or_else(|| {
            let what = format!("{}: column {column} of {}", self.place(), self.columns.len());
            Error::Arrow(arrow_schema::ArrowError::SchemaError(what))
        })?;
        Ok(Selected {
            text: cql_text::name(&found.name).into_owned(),
            typ: found.typ.clone(),
        })
    }

    /// The first columns of the primary key that tell groups by these keys apart. A condition gives every column of the partition key one
    /// value; of several conditions, two may be of one partition.
    fn group_key(&self, keys: &[usize], rows: &Rows) -> Result<Vec<String>> {
        let (partition, clustering) = (self.partition_key(), self.clustering_key());
        let is_one = matches!(rows, Rows::Where(conditions) if conditions.len() == 1);
        let is_known = |column: &usize| keys.contains(column) || is_one;
        let count = clustering.iter().take_while(|column| keys.contains(column)).count();
        let first: Vec<usize> = partition.iter().chain(clustering.iter().take(count)).copied().collect();
        let is_whole = (is_one || *rows == Rows::All)
            && partition.iter().all(is_known)
            && keys.iter().all(|key| first.contains(key));
        match is_whole {
            true => first.iter().map(|&column| Ok(self.selected(column)?.text)).collect(),
            false => Err(self.ungrouped("groups by other columns than the first ones of the primary key".to_owned())),
        }
    }

    fn ungrouped(&self, what: String) -> Error {
        Error::Unsupported {
            what: format!("{}: {what}", self.place()),
            hint: "the cluster groups by its partitions".to_owned(),
        }
    }
}

/// For how many times as long as a request may take pages may come without a row.
const MOST_TIMEOUTS_WITHOUT_ROWS: u32 = 10;

/// What one statement reads.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Where(String),
    /// Partitions whose tokens are after the first and not after the second.
    Tokens {
        after: i64,
        to: i64,
    },
}

/// The ring of these tokens in ranges that begin after one token and end with another. Ranges are cut until there are enough
/// to be read in parallel.
fn token_ranges(mut tokens: Vec<i64>) -> Vec<(i64, i64)> {
    const ENOUGH: usize = 32;
    tokens.extend([i64::MIN, i64::MAX]);
    tokens.sort_unstable();
    tokens.dedup();
    let cuts = ENOUGH.div_ceil(tokens.len() - 1);
    let mut ranges = Vec::new();
    for pair in tokens.windows(2) {
        let (first, last) = (i128::from(pair[0]), i128::from(pair[1]));
        let mut after = pair[0];
        for cut in 1..=cuts as i128 {
            // Between the two, which are tokens.
            let to = i64::try_from(first + (last - first) * cut / cuts as i128).unwrap_or(pair[1]);
            if to > after {
                ranges.push((after, to));
                after = to;
            }
        }
    }
    ranges
}

/// The batches of a [`Scan`].
#[derive(Debug)]
pub struct Batches {
    scan: Arc<Scan>,
    waiting: VecDeque<Part>,
    running: VecDeque<Reading>,
    /// Rows that are wanted still.
    left: Option<u64>,
    statement: Option<Option<PreparedStatement>>,
}

impl Batches {
    /// The next batch, none of which is empty; `None` after the last.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] when the cluster does not answer any more, [`Error::Corrupt`]. Nothing comes after an error.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let next = self.advance().await;
        if !matches!(next, Ok(Some(_))) {
            self.waiting.clear();
            self.running.clear();
        }
        next
    }

    async fn advance(&mut self) -> Result<Option<RecordBatch>> {
        const PAGES_IN_FLIGHT: usize = 1;
        if self.left == Some(0) {
            return Ok(None);
        }
        let statement = match &self.statement {
            Some(statement) => statement,
            None => {
                let prepared = self.scan.prepare(&self.scan.selected()).await?;
                self.statement.insert(prepared)
            }
        };
        loop {
            while self.running.len() < self.scan.in_flight() {
                let Some(part) = self.waiting.pop_front() else { break };
                let (sender, batches) = channel(PAGES_IN_FLIGHT);
                let (scan, statement) = (Arc::clone(&self.scan), self.scan.towards(&part, statement.as_ref()));
                let task = tokio::spawn(async move {
                    if let Err(error) = scan.read(part, statement, &sender).await {
                        // Nobody wants to know when nobody is there.
                        let _ = sender.send(Err(error)).await;
                    }
                });
                self.running.push_back(Reading { batches, task });
            }
            let Some(first) = self.running.front_mut() else {
                return Ok(None);
            };
            match first.batches.recv().await {
                Some(batch) => {
                    let mut batch = batch?;
                    if let Some(left) = &mut self.left {
                        let rows = usize::try_from(*left).unwrap_or(usize::MAX).min(batch.num_rows());
                        batch = batch.slice(0, rows);
                        *left -= rows as u64;
                    }
                    return Ok(Some(batch));
                }
                None => {
                    // The task that reads a part has ended; whether it was at the part's end is to be seen.
                    let ended = (&mut first.task).await;
                    ended.map_err(request(&self.scan.table.place(), "reading"))?;
                    self.running.pop_front();
                }
            }
        }
    }

    /// The columns of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.scan.schema()
    }
}

/// A part that is being read, until this is dropped.
#[derive(Debug)]
struct Reading {
    batches: Receiver<Result<RecordBatch>>,
    task: JoinHandle<()>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_ring_once() {
        for tokens in [
            vec![],
            vec![0],
            vec![i64::MIN, i64::MAX],
            vec![5, 6, 7, -3],
            (0..300).map(|n| n * 12_345_678_901 - 7).collect(),
        ] {
            let ranges = token_ranges(tokens.clone());
            assert!(ranges.len() >= 16);
            assert_eq!(ranges.first().map(|range| range.0), Some(i64::MIN));
            assert_eq!(ranges.last().map(|range| range.1), Some(i64::MAX));
            assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert!(ranges.iter().all(|range| range.0 < range.1));
            assert!(
                tokens
                    .iter()
                    .all(|token| *token == i64::MIN || ranges.iter().any(|range| range.1 == *token))
            );
        }
    }
}
