//! Copies the new rows of a table as it grows.
//!
//! The rows after a position are written to the target, then the new position, which is stored next to the target. After an interruption
//! between the two, those rows are copied again: each row arrives at least once. A position in an xBase table is a number of records, in a
//! Riegeli file the offset of a chunk.
//!
//! A position belongs to one source and one target. A target that is missing or empty is filled from the beginning; a target that has lost
//! rows is an error, and so is a source that was packed, sorted, truncated or recreated (`seen.rs`).

mod seen;

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Fields, Schema};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use percent_encoding::percent_decode_str;
use tidemill_riegeli::rows::RowWriter;
use tidemill_riegeli::{ReaderOptions, RecordReader};
use tidemill_xbase::{FieldSpec, Table};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use self::seen::Seen;
use super::{CopyOptions, MappedColumn, mapping};
use crate::ads_connection::blocking;
use crate::answer::Answer;
use crate::engine::BATCHES_IN_FLIGHT;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::options::SessionOptions;
use crate::session::Session;
use crate::sink::{Position, Positions};
use crate::stores::server::examples;
use crate::{Error, Result};

/// How much is copied before the position is stored: records of an xBase table, bytes of a Riegeli file.
const STEP_RECORDS: u64 = 1 << 20;
const STEP_BYTES: u64 = 64 << 20;

/// A copy that continues as its source grows.
pub struct Follower<'s> {
    session: &'s Session,
    source: &'s Location,
    destination: &'s Location,
    options: CopyOptions,
    positions: Positions<'s>,
    reached: Position,
    begins_anew: Option<&'static str>,
    columns: Vec<MappedColumn>,
}

impl Session {
    /// Follows the table at `source`, an xBase table or a Riegeli file, into a table of a server, or into an xBase table or a Riegeli file,
    /// which are created if missing. It starts after the rows that were copied there before from the same file, identified by its path; the
    /// position is stored in a table `tidemill_positions` next to the target.
    ///
    /// Records of an xBase table that another program has just appended and still holds locked are left for later, with those after them.
    /// Records that are changed or marked as deleted after they were copied stay unchanged in the target.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other sources and targets; errors of reading the position.
    pub fn follow<'s>(
        &'s self,
        source: &'s Location,
        destination: &'s Location,
        options: &CopyOptions,
    ) -> BoxFuture<'s, Result<Follower<'s>>> {
        self.begin_to_follow(source, destination, options.clone()).boxed()
    }

    async fn begin_to_follow<'s>(
        &'s self,
        source: &'s Location,
        destination: &'s Location,
        options: CopyOptions,
    ) -> Result<Follower<'s>> {
        let has_positions = matches!(source.format, Format::Xbase | Format::Riegeli);
        let (Place::File(file), true) = (&source.place, has_positions) else {
            return Err(Error::Unsupported {
                what: format!("{source}: following a table that is not a DBF or Riegeli file"),
                hint: "copy it".to_owned(),
            });
        };
        let takes_rows = match &destination.place {
            Place::Server(_) => true,
            Place::File(_) => match destination.format {
                Format::Riegeli => true,
                // Rows can be appended only without deletion marks.
                format => format == Format::Xbase && !self.options.clone().with_marks().marks_deleted(),
            },
            _ => false,
        };
        if !takes_rows {
            return Err(Error::Unsupported {
                what: format!("{destination}: following into what rows, deleted ones too, are not added to"),
                hint: format!(
                    "name a table as {}, a .riegeli, or without deleted records a .dbf",
                    examples()
                ),
            });
        }
        let name = std::fs::canonicalize(file).map_err(Error::io(file, "find"))?;
        if let Place::File(target) = &destination.place
            && std::fs::canonicalize(target).is_ok_and(|target| target == name)
        {
            return Err(Error::Unsupported {
                what: format!("{destination}: following a table into itself, which would never end"),
                hint: "name another target".to_owned(),
            });
        }
        let known = self.name_there(destination).await?;
        let target = known.clone().unwrap_or_else(|| name_of(destination));
        let positions = Positions::new(self, destination, target, name.to_string_lossy().into_owned())?;
        let mut reached = positions.get().await?;
        let begins_anew = match (reached.copied, known) {
            (0, _) => None,
            (_, None) => Some("the target is not there any more"),
            (copied, Some(_)) => match self.rows_there(destination).await? {
                Some(0) => Some("the target has no rows any more"),
                Some(rows) if rows < copied => {
                    return Err(Error::Replaced {
                        place: destination.to_string(),
                        why: format!("it has {rows} rows, and {copied} were copied there"),
                    });
                }
                _ => None,
            },
        };
        if begins_anew.is_some() {
            reached = Position {
                step: reached.step,
                ..Position::default()
            };
        }
        Ok(Follower {
            session: self,
            source,
            destination,
            options: CopyOptions {
                overwrite: false,
                resume: false,
                ..options
            },
            reached,
            begins_anew,
            positions,
            columns: Vec::new(),
        })
    }
}

impl Session {
    /// The exact name of a table, found without regard to case; `None` if it does not exist.
    async fn name_there(&self, table: &Location) -> Result<Option<String>> {
        match &table.place {
            Place::Server(url) => self.servers.of(url)?.find(url).await,
            Place::File(path) => Ok(path.exists().then(|| name_of(table))),
            _ => Ok(self.is_there(table).await?.then(|| name_of(table))),
        }
    }

    /// The number of rows of a followed table; `None` if counting would read them all, or if the table may have dropped rows.
    async fn rows_there(&self, table: &Location) -> Result<Option<u64>> {
        match &table.place {
            Place::Server(url) => self.servers.of(url)?.kept_rows(url).await,
            Place::File(_) => Ok(self.expected_rows(table).await?),
            _ => Ok(None),
        }
    }
}

/// The name of a table in its place.
fn name_of(table: &Location) -> String {
    percent_decode_str(&table.table_name()).decode_utf8_lossy().into_owned()
}

impl Follower<'_> {
    /// How far the source was copied: a number of records of an xBase table, an offset in a Riegeli file.
    pub fn position(&self) -> u64 {
        self.reached.position
    }

    /// Why a source that was copied in part is copied from the beginning; `None` otherwise.
    pub fn begins_anew(&self) -> Option<&'static str> {
        self.begins_anew
    }

    /// The columns with their types in the source and in the copy; empty before the first rows.
    pub fn columns(&self) -> &[MappedColumn] {
        &self.columns
    }

    /// Copies the rows after the position, up to a limit, and stores the new position. `None` if there is nothing new, otherwise the number
    /// of rows: 0 if all are marked as deleted.
    ///
    /// # Errors
    ///
    /// [`Error::Shrunk`] if the source is shorter than the part already copied, [`Error::Replaced`] if it is another table; as
    /// [`Session::copy`].
    pub fn step(&mut self) -> BoxFuture<'_, Result<Option<u64>>> {
        self.next_step().boxed()
    }

    async fn next_step(&mut self) -> Result<Option<u64>> {
        let grown = self.grown().await?;
        if grown.is_empty() {
            return Ok(None);
        }
        let end = grown.end;
        let settings = self.session.options.clone().with_marks().within(grown);
        let answer = self.session.read_under(self.source, None, &settings).await?;
        let rows = match &self.destination.place {
            Place::File(path) if path.exists() => self.add(answer, path).await?,
            _ => {
                let mut options = self.options.clone();
                if matches!(self.destination.place, Place::Server(_)) {
                    options.table.create &= !self.session.is_there(self.destination).await?;
                }
                let copy = self.session.plan(answer, None, false, None, self.destination, &options);
                let copy = copy.await?;
                self.columns = copy.columns().to_vec();
                copy.run(|_| {}).await?.rows
            }
        };
        let (path, format) = (self.source.file()?.to_path_buf(), self.source.format);
        let reached = Position {
            position: end,
            copied: self.reached.copied + rows,
            step: self.reached.step + 1,
            seen: blocking(move || Seen::of(&path, format, end)).await?.to_string(),
        };
        self.positions.set(&reached).await?;
        self.reached = reached;
        Ok(Some(rows))
    }

    /// Appends rows to a file. Rows are appended to an xBase table all or none, under the field names that a table created for them would
    /// have.
    async fn add(&mut self, mut answer: Answer, path: &Path) -> Result<u64> {
        let (mut schema, format) = (answer.schema(), self.destination.format);
        self.columns = mapping::of_file(&schema, format)?;
        mapping::refuse_losses(&self.columns, self.destination, &self.options)?;
        if format == Format::Xbase {
            let fields = schema.fields().iter().zip(FieldSpec::from_schema(&schema)?);
            let fields = fields.map(|(field, spec)| field.as_ref().clone().with_name(spec.name));
            schema = Arc::new(Schema::new(fields.collect::<Fields>()));
        }
        let path = std::path::absolute(path).map_err(Error::io(path, "find"))?;
        let (sender, mut receiver) = mpsc::channel::<Result<RecordBatch>>(BATCHES_IN_FLIGHT);
        let named = Arc::clone(&schema);
        let reading = async move {
            while let Some(batch) = answer.next().await.transpose() {
                let batch =
                    batch.and_then(|batch| Ok(RecordBatch::try_new(Arc::clone(&named), batch.columns().to_vec())?));
                if sender.send(batch).await.is_err() {
                    break;
                }
            }
        };
        let mut batches = std::iter::from_fn(move || receiver.blocking_recv());
        if format == Format::Xbase {
            let path = path.to_string_lossy();
            let (rows, ()) = tokio::join!(self.session.append(&path, batches), reading);
            return rows;
        }
        let options = self.options.file.riegeli.clone();
        let writing = blocking(move || {
            let mut writer = RowWriter::append(&path, schema, options)?;
            batches.try_for_each(|batch| Ok::<_, Error>(writer.write(&batch?)?))?;
            let rows = writer.finish()?;
            let synced = File::open(&path).and_then(|file| file.sync_all());
            synced.map_err(Error::io(&path, "synchronise"))?;
            Ok(rows)
        });
        let (rows, ()) = tokio::join!(writing, reading);
        rows
    }

    /// The range after the position.
    async fn grown(&self) -> Result<Range<u64>> {
        let path = self.source.file()?.to_path_buf();
        let (format, from, options) = (self.source.format, self.reached.position, self.session.options.clone());
        let seen = self.reached.seen.parse::<Seen>().ok();
        let place = self.source.to_string();
        let end = spawn_blocking(move || -> Result<u64> {
            let end = end_of(&path, format, from, &options)?;
            if let Some(seen) = seen.filter(|_| 0 < from && from <= end)
                && let Some(why) = seen.differs_from(&path, format)?
            {
                let why = why.to_owned();
                return Err(Error::Replaced { place, why });
            }
            Ok(end)
        });
        let file = self.source.file()?;
        let end = end.await.map_err(|panic| Error::io(file, "read")(panic.into()))??;
        match end < from {
            true => Err(Error::Shrunk {
                place: self.source.to_string(),
                copied: from,
                found: end,
            }),
            false => Ok(from..end),
        }
    }
}

/// The end of one step from a position.
fn end_of(path: &Path, format: Format, from: u64, options: &SessionOptions) -> Result<u64> {
    if format == Format::Xbase {
        let table = Table::open(path, options.xbase_options())?;
        let filled = table.filled_records(u32::try_from(from).unwrap_or(u32::MAX))?;
        return Ok(u64::from(filled).min(from.saturating_add(STEP_RECORDS)));
    }
    let size = std::fs::metadata(path).map_err(Error::io(path, "open"))?.len();
    if size < from {
        return Ok(size);
    }
    let reader = RecordReader::open(path, &ReaderOptions::default().chunks(from..u64::MAX))?;
    Ok(reader.end_of_chunks(STEP_BYTES)?)
}
