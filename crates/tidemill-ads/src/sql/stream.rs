//! Rows of a statement batch by batch, for answers that need not fit in memory.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use tidemill_xbase::Bitmap;

use super::answer::{Answer, ColumnDescription, Rows};
use super::error::{Error, Kind, Result};
use super::expression::Expr;
use super::frames::{KeptChunk, Reader, ScannedFrame, Selection};
use super::prepared::{Facts, Prepared};
use super::select::{Plan, Source};
use super::tables::{Snapshot, Tables, reading};
use super::value::Value;

/// Records of a batch.
const RECORDS: u32 = 1 << 13;
/// Columns of more bytes than these are not kept: they would drive out all others.
const KEPT: usize = 64 << 20;
/// How many bytes of rows are read before the first is given.
pub(super) const AHEAD: usize = 16 << 20;

/// What a statement gives back, with rows that are read as they are taken.
#[derive(Debug)]
#[non_exhaustive]
pub enum Streamed {
    /// Rows.
    Rows(RowStream),
    /// So many records were changed.
    Changed(u64),
    /// It is done, and there is nothing to say.
    Done,
}

/// The rows of a statement, batch by batch. Those of up to 16 MiB are in memory, as one commit has left the table, and so
/// are rows that are ordered or grouped. Of more rows the table is read while they are taken.
#[derive(Debug)]
pub struct RowStream {
    columns: Vec<ColumnDescription>,
    schema: SchemaRef,
    /// What has been read of them.
    ahead: VecDeque<RecordBatch>,
    rows: Origin,
    is_look_up: bool,
}

#[derive(Debug)]
enum Origin {
    Memory(std::vec::IntoIter<RecordBatch>),
    Records(Box<Projection>),
}

/// Columns of selected records.
#[derive(Debug)]
struct Projection {
    prepared: Arc<Prepared>,
    snapshot: Arc<Snapshot>,
    selection: Selection,
    facts: Facts,
    parameters: Vec<Value>,
    /// The fields that are read.
    fields: Vec<usize>,
    /// The record to go on with, counted from 0.
    next: u32,
    kept: KeptChunk,
}

impl Prepared {
    /// Runs it, and gives rows as they are taken where [`Prepared::run`] would hold all of them.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn stream(self: &Arc<Self>, tables: &mut dyn Tables, parameters: &[Value]) -> Result<Streamed> {
        self.check(parameters)?;
        if let Some(plan) = self.plan().filter(|plan| plan.keeps_records())
            && let Source::Table(name, structure) = &plan.source
        {
            let begun = reading(tables, |tables| {
                if let Some(rows) = plan.look_up(tables, parameters)? {
                    return Ok(RowStream {
                        is_look_up: true,
                        ..RowStream::of(rows)
                    });
                }
                let snapshot = tables.snapshot(name)?;
                structure.check(snapshot.structure(), name)?;
                let facts = Facts::of(tables);
                let mut rows = self.records(snapshot, facts, tables.shows_deleted(), parameters)?;
                rows.read_ahead()?;
                Ok(rows)
            });
            tables.affected(None);
            return begun.map(Streamed::Rows).map_err(|error| error.within(self.text()));
        }
        Ok(Streamed::of(self.run_static(tables, parameters)?))
    }

    /// Runs it, and gives what each statement answers to `take`, in order: the rows of every SELECT of a script, and the number of
    /// records that each other statement changed. Statements of a loop answer once a turn, those that EXECUTE IMMEDIATE runs as one.
    /// A text of one statement answers once, as [`Prepared::stream`]. Statements go on once `take` returns; the rows of a script's
    /// are in memory, and may be kept. When `take` breaks, the script ends there, without an error; what was changed stays.
    ///
    /// # Errors
    /// As [`Prepared::run`]: statements before the fault have answered, and what they changed stays.
    pub fn stream_each(
        self: &Arc<Self>,
        tables: &mut dyn Tables,
        parameters: &[Value],
        mut take: impl FnMut(Streamed) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut is_ended = false;
        let is_script = self.run_script(tables, parameters, &mut |answer| {
            let flow = take(Streamed::of(answer));
            is_ended = flow.is_break();
            flow
        });
        if !is_ended && !is_script? {
            let _ = take(self.stream(tables, parameters)?);
        }
        Ok(())
    }

    /// The rows of its plan, which keeps the records of a table.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub(super) fn records(
        self: &Arc<Self>,
        snapshot: Arc<Snapshot>,
        facts: Facts,
        shows_deleted: bool,
        parameters: &[Value],
    ) -> Result<RowStream> {
        let Some(plan) = self.plan() else {
            return Err(Error::new(Kind::Unsupported, "This is not one SELECT"));
        };
        let session = facts.session(parameters);
        let selection = plan.selected(&snapshot, &session, shows_deleted)?;
        let columns = plan.descriptions(Some(&snapshot), &session);
        let schema = plan.schema(Some(&snapshot), &session);
        Ok(RowStream {
            columns,
            schema,
            ahead: VecDeque::new(),
            rows: Origin::Records(Box::new(Projection {
                prepared: Arc::clone(self),
                fields: plan.fields(),
                snapshot,
                selection,
                facts,
                parameters: parameters.to_vec(),
                next: 0,
                kept: KeptChunk::default(),
            })),
            is_look_up: false,
        })
    }
}

impl Streamed {
    fn of(answer: Answer) -> Self {
        match answer {
            Answer::Rows(rows) => Self::Rows(RowStream::of(rows)),
            Answer::Changed(count) => Self::Changed(count),
            Answer::Live(_) | Answer::Done => Self::Done,
        }
    }
}

impl Plan {
    /// Whether its rows are records of its table, in the order of the table.
    fn keeps_records(&self) -> bool {
        self.grouping.is_none() && self.order.is_empty() && !self.is_distinct && !self.has_row_numbers()
    }

    /// The fields that its items are made of.
    fn fields(&self) -> Vec<usize> {
        let mut fields = Vec::new();
        for item in &self.items {
            item.expr.visit(&mut |part| {
                if let Expr::Column(index) = part
                    && !fields.contains(index)
                {
                    fields.push(*index);
                }
            });
        }
        fields
    }
}

impl RowStream {
    pub(super) fn of(rows: Rows) -> Self {
        let first = rows.batches.first();
        let schema = first.map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
        Self {
            columns: rows.columns,
            schema,
            ahead: VecDeque::new(),
            rows: Origin::Memory(rows.batches.into_iter()),
            is_look_up: false,
        }
    }

    /// Takes the columns from those that the connection keeps, and keeps what is read: for tables that are asked again and again, and
    /// that fit into what is kept.
    pub(super) fn kept(mut self) -> Self {
        if let Origin::Records(projection) = &mut self.rows {
            let table = projection.snapshot.table();
            let fields = projection.fields.iter().filter_map(|field| table.fields().get(*field));
            // Offsets and values of a decoded field are at most as wide as that.
            let width: usize = fields.map(|field| field.width.max(16) + 8).sum();
            projection.kept.keeps = width.saturating_mul(table.record_count() as usize) <= KEPT;
        }
        self
    }

    /// Reads rows until there are [`AHEAD`] bytes of them, or no more.
    fn read_ahead(&mut self) -> Result<()> {
        let Origin::Records(projection) = &mut self.rows else {
            return Ok(());
        };
        let mut bytes = 0;
        while bytes < AHEAD
            && let Some(batch) = projection.next()?
        {
            bytes += batch.get_array_memory_size();
            self.ahead.push_back(batch);
        }
        Ok(())
    }

    /// The rows, where all of them have been read.
    ///
    /// # Errors
    /// The stream, where more are to come.
    pub fn into_memory(mut self) -> std::result::Result<Vec<RecordBatch>, Box<Self>> {
        match &mut self.rows {
            Origin::Memory(batches) => Ok(self.ahead.into_iter().chain(batches).collect()),
            Origin::Records(projection) if projection.is_over() => Ok(self.ahead.into()),
            Origin::Records(_) => Err(Box::new(self)),
        }
    }

    /// Whether an order of the table has answered, as it does to [`Prepared::look_up`].
    pub fn is_look_up(&self) -> bool {
        self.is_look_up
    }

    /// The columns, as clients of ADS are told of them.
    pub fn columns(&self) -> &[ColumnDescription] {
        &self.columns
    }

    /// The columns, as the batches have them.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl Iterator for RowStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.ahead.pop_front() {
            return Some(Ok(batch));
        }
        match &mut self.rows {
            Origin::Memory(batches) => batches.next().map(Ok),
            Origin::Records(projection) => projection.next().transpose(),
        }
    }
}

impl Projection {
    fn is_over(&self) -> bool {
        self.next >= self.snapshot.table().record_count()
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(plan) = self.prepared.plan() else {
            return Ok(None);
        };
        let count = self.snapshot.table().record_count();
        while self.next < count {
            let records = self.next..self.next.saturating_add(RECORDS).min(count);
            self.next = records.end;
            let reader = Reader::new(&self.snapshot, &plan.columns);
            let Some(frame) = ScannedFrame::read(&reader, &self.selection, records, &self.fields, &mut self.kept)?
            else {
                continue;
            };
            let session = self.facts.session(&self.parameters);
            let batch = plan.batch(&frame, &session, &self.snapshot);
            return batch.map(Some).map_err(|error| error.within(self.prepared.text()));
        }
        Ok(None)
    }
}

impl Selection {
    /// Of these records so many, behind so many that are passed over.
    pub(super) fn limited(self, snapshot: &Snapshot, offset: usize, limit: Option<usize>) -> Self {
        if offset == 0 && limit.is_none() {
            return self;
        }
        let count = snapshot.table().record_count();
        let mut set = Bitmap::new(count);
        let limit = limit.unwrap_or(usize::MAX);
        match &self {
            Self::All => (1..=count)
                .skip(offset)
                .take(limit)
                .for_each(|record| set.set(record, true)),
            Self::Set(all) => all
                .iter()
                .skip(offset)
                .take(limit)
                .for_each(|record| set.set(record, true)),
        }
        Self::Set(set)
    }
}
