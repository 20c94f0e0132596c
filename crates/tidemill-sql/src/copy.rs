//! `copy`: reads a table and writes it to another place.
//!
//! Rows stream through a bounded channel to a writing thread, so that memory is bounded by a few batches. The result is written to a
//! temporary folder next to its destination, and renamed when it is complete and synced; before that, it is opened like any table, and its
//! rows are counted. A table of a server is filled in the task that reads.
//!
//! Columns and what their values lose are known before anything is written (`mapping.rs`, `text_widths.rs`); on request, columns are compared
//! by checksums (`checksum.rs`).
//!
//! Between two record files (Riegeli, ArrayRecord, TFRecord), records are copied as bytes, without decoding.

mod checksum;
mod draft;
mod empty_values;
mod follow;
mod into_server;
mod keys;
mod mapping;
mod relations;
mod text_widths;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tidemill_csv::CsvOptions;
use tidemill_xbase::{DELETED_COLUMN, Existing, TableSet};

use self::checksum::{Checksums, Places, RecordSum};
use self::draft::Draft;
pub(crate) use self::draft::folder_of;
pub use self::draft::{remains_in, remove_drafts};
use self::empty_values::EmptyValues;
pub use self::follow::Follower;
pub use self::keys::SourceKeys;
pub(crate) use self::mapping::losses;
pub use self::mapping::{Loss, MappedColumn};
pub use self::relations::{SourceRelation, SourceRelations};
use self::text_widths::Again;

use crate::answer::Answer;
use crate::error::Left;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::options::SessionOptions;
use crate::records::{Records, RecordsSink, Skipped};
use crate::route;
use crate::session::Session;
use crate::sink::{FileOptions, ShardedSink, Shares, Sink, file_sink};
use crate::stores::server::{TableOptions, TableSink};
use crate::{Error, Result};

/// The options of a copy.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// Whether an existing destination is replaced. Default: no, it is an error.
    pub overwrite: bool,
    /// How the file is written, for the options of its format.
    pub file: FileOptions,
    /// How a table of a server is created.
    pub table: TableOptions,
    /// Whether columns may be copied whose values may lose something in their new type. Default: no, it is an error.
    pub lossy: bool,
    /// How the copy is verified.
    pub verify: Verify,
    /// Whether a copy into a table of a server resumes an interrupted one: it skips as many rows of the source as the table has. A new
    /// table of ClickHouse is then filled under its final name; one of MySQL, PostgreSQL or SQLite is filled in multiple transactions under
    /// another name. Default: no, rows are added to the table.
    pub resume: bool,
}

impl CopyOptions {
    /// What to do with existing files.
    fn existing(&self) -> Existing {
        match self.overwrite {
            true => Existing::Replace,
            false => Existing::Refuse,
        }
    }
}

/// How a copy is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// Rows of the copy are counted. Default.
    #[default]
    Counts,
    /// The copy is read again, and the checksum of each column, or of the records' bytes, is compared with that of the written rows.
    /// Columns that lose something are left out. A CSV or JSON copy has no types, so that its values cannot be compared.
    Full,
}

/// The progress of a copy.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Rows read so far.
    pub rows: u64,
    /// The expected number of rows, if the source knows it.
    pub expected_rows: Option<u64>,
}

/// The outcome of a copy.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Copied {
    /// Rows written, and counted again in the result.
    pub rows: u64,
    /// The size of the source's files in bytes; 0 for other sources.
    pub source_bytes: u64,
    /// The size of the written files in bytes; 0 for a table of a server.
    pub bytes: u64,
    /// How many columns were compared by checksums under [`Verify::Full`]; 0 for records, whose bytes were compared.
    pub compared_columns: Option<usize>,
}

/// A copy whose columns are known, before anything is written.
pub struct PlannedCopy<'s> {
    session: &'s Session,
    source: Source<'s>,
    destination: &'s Location,
    options: &'s CopyOptions,
    columns: Vec<MappedColumn>,
    source_bytes: u64,
    /// The source, in a form that is equal for each run of the same copy; `None` for a statement.
    name: Option<String>,
    /// Sizes and times of the source's files. If they change, a copy starts again.
    state: String,
}

enum Source<'s> {
    Records(&'s Location),
    Rows {
        answer: Answer,
        expected: Option<u64>,
        /// Whether the order of rows is the same when they are read again.
        in_order: bool,
    },
}

impl Session {
    /// Copies the table at `source` to a new file or to a table of a server. `progress` is called after each batch, in this task.
    ///
    /// If deleted records of an xBase table are rows too, their marks are a column `_deleted`, which becomes marks again in an xBase table.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], [`Error::Lossy`], errors of reading and writing, [`Error::RowCount`] if the result has another number of rows
    /// than were written, and [`Error::Checksum`] if its values differ. After an error the destination is unchanged, unless it is a table
    /// of a server to which rows were added.
    pub fn copy<'s>(
        &'s self,
        source: &'s Location,
        destination: &'s Location,
        options: &'s CopyOptions,
        progress: impl FnMut(Progress) + Send + 's,
    ) -> BoxFuture<'s, Result<Copied>> {
        let planned = self.plan_copy(source, destination, options);
        async move { planned.await?.run(progress).await }.boxed()
    }

    /// Writes the answer of a statement, as [`Session::copy`] does; `source_bytes` is 0.
    ///
    /// # Errors
    ///
    /// As [`Session::copy`].
    pub fn copy_query<'s>(
        &'s self,
        sql: &'s str,
        destination: &'s Location,
        options: &'s CopyOptions,
        progress: impl FnMut(Progress) + Send + 's,
    ) -> BoxFuture<'s, Result<Copied>> {
        let planned = self.plan_copy_query(sql, destination, options);
        async move { planned.await?.run(progress).await }.boxed()
    }

    /// Plans [`Session::copy`], before anything is written. For a new xBase table, the text columns of the source are read, since they
    /// become fields as wide as their longest values.
    ///
    /// # Errors
    ///
    /// As opening the source; a column type that the destination lacks.
    pub fn plan_copy<'s>(
        &'s self,
        source: &'s Location,
        destination: &'s Location,
        options: &'s CopyOptions,
    ) -> BoxFuture<'s, Result<PlannedCopy<'s>>> {
        self.plan_table(source, destination, options).boxed()
    }

    async fn plan_table<'s>(
        &'s self,
        source: &'s Location,
        destination: &'s Location,
        options: &'s CopyOptions,
    ) -> Result<PlannedCopy<'s>> {
        let source_bytes = source.bytes()?.unwrap_or_default();
        if source.format.has_records() && destination.format.has_records() {
            draft::check_destination(destination, options.existing()).await?;
            return Ok(PlannedCopy {
                session: self,
                source: Source::Records(source),
                destination,
                options,
                columns: Vec::new(),
                source_bytes,
                name: None,
                state: String::new(),
            });
        }
        let expected = self.expected_rows(source).await?;
        let reading = self.options.clone().with_marks();
        let answer = self.read_under(source, None, &reading).await?;
        let in_order = match &source.place {
            Place::Server(url) => self.servers.of(url)?.is_read_in_order(),
            _ => true,
        };
        let again = Again::Table(source, &reading);
        let mut copy = self
            .plan(answer, expected, in_order, Some(&again), destination, options)
            .await?;
        copy.source_bytes = source_bytes;
        copy.state = state_of(source)?;
        copy.name = Some(match &source.place {
            Place::File(path) => fs::canonicalize(path)
                .map_err(Error::io(path, "find"))?
                .display()
                .to_string(),
            place => place.to_string(),
        });
        Ok(copy)
    }

    /// Plans [`Session::copy_query`], before anything is written. For a new xBase table, a query with text columns runs twice, as
    /// [`Session::plan_copy`] reads a table twice.
    ///
    /// # Errors
    ///
    /// As planning the statement; a column type that the destination lacks.
    pub fn plan_copy_query<'s>(
        &'s self,
        sql: &'s str,
        destination: &'s Location,
        options: &'s CopyOptions,
    ) -> BoxFuture<'s, Result<PlannedCopy<'s>>> {
        async move {
            route::check_query(sql)?;
            // A copy stores a blank as NULL.
            let reading = self.options.of_copies();
            let answer = self.answer(sql, &reading).await?;
            let again = Again::Query(sql, &reading);
            self.plan(answer, None, false, Some(&again), destination, options).await
        }
        .boxed()
    }

    pub(crate) async fn plan<'s>(
        &'s self,
        answer: Answer,
        expected: Option<u64>,
        in_order: bool,
        again: Option<&Again<'_>>,
        destination: &'s Location,
        options: &'s CopyOptions,
    ) -> Result<PlannedCopy<'s>> {
        // Sinks of xBase tables and sheets make the names unique themselves, and tables of servers have their own names.
        let answer = match (&destination.place, destination.format) {
            (Place::Server(_), _) | (_, Format::Xbase | Format::Excel(_)) => answer,
            _ => answer.with_distinct_names()?,
        };
        if matches!(destination.place, Place::Server(_)) && options.overwrite && !options.table.create {
            return Err(Error::Unsupported {
                what: format!("{destination}: replacing a table by its own columns and types"),
                hint: "add --create to make it again from the source, or leave out --overwrite to add the rows"
                    .to_owned(),
            });
        }
        let is_server = matches!(destination.place, Place::Server(_));
        if options.verify == Verify::Full && !is_server && !destination.format.has_types() {
            return Err(Error::Unsupported {
                what: format!("{destination}: comparing checksums of a copy that has no types"),
                hint: "compare by counts, or copy to Parquet or Arrow".to_owned(),
            });
        }
        draft::check_destination(destination, options.existing()).await?;
        // What cannot be made is refused before the rows are read for their widths.
        let answer = match again {
            Some(again) => self.with_text_widths(answer, again, destination, &options.file).await?,
            None => answer,
        };
        let schema = answer.schema();
        let columns = match &destination.place {
            Place::Server(url) if options.table.create => {
                self.columns_of_new_table(&schema, url, &options.table).await?
            }
            Place::Server(_) => mapping::into_table(&schema, &*self.schema(destination).await?),
            _ => mapping::of_file(&schema, destination.format)
                .map_err(|error| error.of_copy(&destination.to_string()))?,
        };
        Ok(PlannedCopy {
            session: self,
            source: Source::Rows {
                answer,
                expected,
                in_order,
            },
            destination,
            options,
            columns,
            source_bytes: 0,
            name: None,
            state: String::new(),
        })
    }
}

impl<'s> PlannedCopy<'s> {
    /// The columns, with their types in the source and in the copy; empty if records are copied as bytes.
    pub fn columns(&self) -> &[MappedColumn] {
        &self.columns
    }

    /// Runs the copy.
    ///
    /// # Errors
    ///
    /// As [`Session::copy`].
    pub fn run(self, progress: impl FnMut(Progress) + Send + 's) -> BoxFuture<'s, Result<Copied>> {
        self.run_with(Box::new(progress)).boxed()
    }

    async fn run_with(self, progress: Box<dyn FnMut(Progress) + Send + 's>) -> Result<Copied> {
        let source_bytes = self.source_bytes;
        let mut copied = match self.source {
            Source::Records(source) => {
                let (session, options) = (self.session, self.options);
                session
                    .copy_records(source, self.destination, options, progress)
                    .await?
            }
            Source::Rows {
                answer,
                expected,
                in_order,
            } => {
                mapping::refuse_losses(&self.columns, self.destination, self.options)?;
                let writing = Writing {
                    session: self.session,
                    in_order,
                    destination: self.destination,
                    options: self.options,
                    columns: &self.columns,
                    name: self.name.as_deref(),
                    state: &self.state,
                };
                writing.run(answer, expected, progress).await?
            }
        };
        copied.source_bytes = source_bytes;
        Ok(copied)
    }
}

impl Session {
    pub(crate) async fn is_there(&self, location: &Location) -> Result<bool> {
        match self.schema(location).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Copies records as bytes, with the file's metadata.
    async fn copy_records(
        &self,
        source: &Location,
        target: &Location,
        options: &CopyOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Copied> {
        let (place, format) = (target.to_string(), target.format);
        let draft = Draft::of(target)?;
        let reading = self.options.reading();
        let records = Records::open(source, &reading).await?;
        if format == Format::TfRecord && self.options.says_record_type() {
            return Err(Error::Unsupported {
                what: format!("{place}: a record type in a file of {format}"),
                hint: "leave out --descriptor and --message, or copy to .riegeli".to_owned(),
            });
        }
        let (files, writing, types) = (draft.files.clone(), options.file.clone(), self.options.clone());
        let expected = match files.len() > 1 && source.place != Place::StandardInput {
            true => self.expected_rows(source).await?,
            false => None,
        };
        let is_full = options.verify == Verify::Full;
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let work = tokio::task::spawn_blocking(move || {
            let metadata = types.with_record_type(records.metadata()?)?;
            let sinks = files.iter().map(|file| {
                let sink = RecordsSink::create(format, file, &writing, metadata.clone())?;
                Ok((sink, file.as_path()))
            });
            let sinks = sinks.collect::<Result<Vec<_>>>()?;
            write_records(records, sinks, expected, is_full, &tell)
        });
        while let Some(rows) = told.recv().await {
            progress(Progress {
                rows,
                expected_rows: None,
            });
        }
        let (written, skipped) = work.await.map_err(|panic| Error::io(&place, "write")(panic.into()))??;
        for skipped in skipped {
            self.note_damage(&skipped.file, &skipped.region);
        }

        let copy = Location {
            place: draft.place(target),
            format,
        };
        let reading = reading.recover(false);
        let records = Records::open(&copy, &reading).await?;
        let shown = place.clone();
        let compared = tokio::task::spawn_blocking(move || match is_full {
            true => written.compare(&sum_of(records)?, &shown),
            false => written.compare_counts(records.count()?, &shown),
        });
        compared
            .await
            .map_err(|panic| Error::io(&place, "read")(panic.into()))??;
        let bytes = draft.publish(target, options.existing()).await?;
        if let (Place::Object(_), true) = (&target.place, is_full) {
            let records = Records::open(target, &reading).await?;
            let shown = place.clone();
            let compared = tokio::task::spawn_blocking(move || written.compare(&sum_of(records)?, &shown));
            let same = compared
                .await
                .map_err(|panic| Error::io(&place, "read")(panic.into()))?;
            same.map_err(Error::of_kept_copy)?;
        }
        Ok(Copied {
            rows: written.records(),
            source_bytes: 0,
            bytes,
            compared_columns: is_full.then_some(0),
        })
    }
}

/// Sizes and times of a source's files, including memo files.
fn state_of(source: &Location) -> Result<String> {
    let files = match (&source.place, source.format) {
        (Place::File(path), Format::Xbase) => TableSet::of(path).files()?,
        (Place::File(path), _) => vec![path.clone()],
        (Place::Shards { files, .. }, _) => files.clone(),
        _ => Vec::new(),
    };
    let states = files.iter().map(|path: &PathBuf| {
        let file = fs::metadata(path).map_err(Error::io(path, "read"))?;
        let changed = file.modified().map_err(Error::io(path, "read"))?;
        let since = changed.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{} {}", file.len(), since.as_nanos()))
    });
    Ok(states.collect::<Result<Vec<_>>>()?.join(" "))
}

/// The checksum of all readable records.
fn sum_of(records: Records) -> Result<RecordSum> {
    let mut sum = RecordSum::new(true);
    records.read(|record| {
        sum.add(record);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(sum)
}

/// The state of a copy of rows.
struct Writing<'s> {
    session: &'s Session,
    in_order: bool,
    destination: &'s Location,
    options: &'s CopyOptions,
    columns: &'s [MappedColumn],
    name: Option<&'s str>,
    state: &'s str,
}

impl Writing<'_> {
    async fn run(
        &self,
        mut answer: Answer,
        expected_rows: Option<u64>,
        mut progress: impl FnMut(Progress) + Send,
    ) -> Result<Copied> {
        let schema = answer.schema();
        let mut sums = self.checksums(&schema)?;
        let place = self.destination.to_string();
        let mut step = |batch: &RecordBatch, rows: u64, sums: &mut Option<Checksums>| -> Result<()> {
            if let Some(sums) = sums {
                sums.add(batch, &place)?;
            }
            progress(Progress { rows, expected_rows });
            Ok(())
        };
        if let Place::Server(url) = &self.destination.place {
            return self.fill_table(url, answer, sums, &mut step).await;
        }
        if self.options.resume {
            return Err(Error::Unsupported {
                what: format!("{}: going on with a file", self.destination),
                hint: "a file that was not finished is not there; copy it again".to_owned(),
            });
        }
        let draft = Draft::of(self.destination)?;
        let sinks = draft.files.iter().map(|file| {
            let sink = file_sink(self.destination.format, file, &schema, &self.options.file);
            sink.map_err(|error| draft.named(error, &place))
        });
        let mut sinks = sinks.collect::<Result<Vec<_>>>()?;
        let sink = match sinks.pop() {
            Some(only) if sinks.is_empty() => only,
            last => Box::new(ShardedSink::new(sinks.into_iter().chain(last).collect(), expected_rows)),
        };
        let mut writer = Writer::start(sink);
        let mut empty_values = EmptyValues::of(self.destination, &self.options.file, &schema);
        let mut rows = 0;
        while let Some(batch) = answer.next().await? {
            rows += batch.num_rows() as u64;
            if let Some(empty_values) = &mut empty_values {
                empty_values.add(&batch)?;
            }
            step(&batch, rows, &mut sums)?;
            if !writer.send(batch) {
                break;
            }
        }
        writer.finish().map_err(|error| error.of_copy(&place))?;

        let format = match self.destination.format {
            // A header of numbers must not be taken for a row.
            Format::Csv(options) => Format::Csv(CsvOptions {
                header: Some(options.header.unwrap_or(true)),
                ..options
            }),
            format => format,
        };
        let copy = Location {
            place: draft.place(self.destination),
            format,
        };
        match &sums {
            None => self.compare(rows, self.session.count_under(&copy, &self.reading()).await?)?,
            Some(sums) => {
                let (found_rows, found) = self.found(&copy, sums).await?;
                self.compare(rows, found_rows)?;
                sums.compare(&found, &place)?;
            }
        }
        let bytes = draft.publish(self.destination, self.options.existing()).await?;
        if let (Place::Object(_), Some(sums)) = (&self.destination.place, &sums) {
            let (found_rows, found) = self.found(self.destination, sums).await?;
            let same = self.compare(rows, found_rows);
            let same = same.and_then(|()| sums.compare(&found, &place));
            same.map_err(Error::of_kept_copy)?;
        }
        for note in empty_values
            .iter()
            .flat_map(|empty_values| empty_values.notes(self.destination))
        {
            self.session.note(note);
        }
        Ok(self.copied(rows, bytes, sums.as_ref()))
    }

    /// Empty checksums of the columns that lose nothing.
    fn checksums(&self, schema: &SchemaRef) -> Result<Option<Checksums>> {
        if self.options.verify == Verify::Counts {
            return Ok(None);
        }
        let is_kept = |column: usize| self.columns.get(column).is_none_or(|column| column.loss.is_none());
        Ok(Some(Checksums::new(schema, is_kept)))
    }

    /// Reads the copy: its number of rows, and their checksums.
    async fn found(&self, copy: &Location, written: &Checksums) -> Result<(u64, Checksums)> {
        let place = self.destination.to_string();
        let mut answer = self.session.read_under(copy, None, &self.reading()).await?;
        let mark = self.columns.iter().position(|column| column.name == DELETED_COLUMN);
        let places = match (&copy.place, copy.format, mark) {
            (Place::Server(_), _, _) => Places::ByName,
            (_, Format::Xbase, Some(mark)) => Places::LastIs(mark),
            _ => Places::Same,
        };
        let mut found = written.of_copy(&answer.schema(), places, &place)?;
        let mut rows = 0;
        while let Some(batch) = answer.next().await? {
            rows += batch.num_rows() as u64;
            found.add(&batch, &place)?;
        }
        Ok((rows, found))
    }

    /// The options to read the copy with; those about the source's files do not apply to it.
    fn reading(&self) -> SessionOptions {
        let has_marks = self.columns.iter().any(|column| column.name == DELETED_COLUMN);
        self.session.options.of_result(has_marks)
    }

    fn compare(&self, written: u64, found: u64) -> Result<()> {
        match found == written {
            true => Ok(()),
            false => Err(Error::RowCount {
                place: self.destination.to_string(),
                written,
                found,
                left: Left::Removed,
            }),
        }
    }

    fn copied(&self, rows: u64, bytes: u64, sums: Option<&Checksums>) -> Copied {
        Copied {
            rows,
            source_bytes: 0,
            bytes,
            compared_columns: sums.map(Checksums::column_count),
        }
    }
}

/// Inserts an answer into a table of a server. `progress` is called for each batch, with the number of rows so far.
pub(crate) async fn insert(
    mut answer: Answer,
    mut sink: Box<dyn TableSink + '_>,
    mut progress: impl FnMut(&RecordBatch, u64) -> Result<()>,
) -> Result<u64> {
    let mut rows = 0;
    loop {
        let written = match answer.next().await {
            Ok(None) => return sink.finish().await,
            Ok(Some(batch)) => {
                rows += batch.num_rows() as u64;
                match progress(&batch, rows) {
                    Ok(()) => sink.write(&batch).await,
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            sink.give_up().await;
            return Err(error);
        }
    }
}

/// Writes all records to new files, and reports their number from time to time. Returns the number, the checksum if `is_full`, and what was
/// skipped.
fn write_records(
    records: Records,
    mut sinks: Vec<(RecordsSink, &Path)>,
    expected: Option<u64>,
    is_full: bool,
    tell: &tokio::sync::mpsc::UnboundedSender<u64>,
) -> Result<(RecordSum, Vec<Skipped>)> {
    const STEP: u64 = 1 << 16;
    let mut written = RecordSum::new(is_full);
    let mut shares = Shares::new(sinks.len(), expected);
    let skipped = records.read(|record| {
        if let Some((sink, _)) = sinks.get_mut(shares.next(1).0) {
            sink.write(record)?;
        }
        written.add(record);
        if written.records().is_multiple_of(STEP) {
            // The receiver is gone if the copy was aborted; the thread ends with the file.
            let _ = tell.send(written.records());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for (sink, file) in sinks {
        sink.finish(file)?;
    }
    Ok((written, skipped))
}

/// The writing thread, and the channel to it.
struct Writer {
    batches: Option<mpsc::SyncSender<RecordBatch>>,
    thread: Option<thread::JoinHandle<Result<()>>>,
}

impl Writer {
    fn start(mut sink: Box<dyn Sink>) -> Self {
        const BATCHES_IN_FLIGHT: usize = 2;
        let (sender, receiver) = mpsc::sync_channel::<RecordBatch>(BATCHES_IN_FLIGHT);
        let thread = thread::spawn(move || {
            for batch in receiver {
                sink.write(&batch)?;
            }
            sink.finish()
        });
        Self {
            batches: Some(sender),
            thread: Some(thread),
        }
    }

    /// Waits while the channel is full. `false` if the writer has stopped; [`Writer::finish`] returns the error.
    fn send(&mut self, batch: RecordBatch) -> bool {
        let Some(sender) = &self.batches else { return false };
        // Engines read on their own threads, so that blocking here delays no other task.
        sender.send(batch).is_ok()
    }

    fn finish(mut self) -> Result<()> {
        drop(self.batches.take());
        match self.thread.take().map(thread::JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}
