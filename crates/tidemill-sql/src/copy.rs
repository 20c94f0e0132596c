//! `copy`: a table read at one place and written at another.
//!
//! Rows stream through a bounded channel to a thread that writes them, so memory is bounded by a few batches. The
//! result is made in a temporary folder beside its destination and renamed when it is whole and on disk; then it is
//! opened as any reader would open it, and its rows are counted. A table of a server is filled in the task that reads.
//!
//! Between two files of records (Riegeli, ArrayRecord, TFRecord) records are copied as they are, so that nothing is read into them.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use arrow_array::RecordBatch;
use tempfile::TempDir;
use tidemill_riegeli::ReaderOptions;

use crate::location::{Format, Location, Place};
use crate::records::{Records, RecordsSink, Skipped};
use crate::session::{Answer, Session};
use crate::sink::{ClickHouseSink, FileOptions, IfThere, Sink, TableOptions, file_sink};
use crate::{Error, Result};

/// The settings of a copy.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// Whether a destination that is there already is replaced. Default: no, it is an error.
    pub overwrite: bool,
    /// How the file is written, where its format leaves a choice.
    pub file: FileOptions,
    /// How a table of a server is made.
    pub table: TableOptions,
}

/// How far a copy is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Rows read so far.
    pub rows: u64,
    /// Rows that are expected, where the source says.
    pub expected_rows: Option<u64>,
}

/// What a copy did.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Copied {
    /// Rows written, and found again in the result.
    pub rows: u64,
    /// Bytes of the source's files; 0 for a source that is not files.
    pub source_bytes: u64,
    /// Bytes of the files that were made; 0 for a table of a server.
    pub bytes: u64,
}

impl Session {
    /// Copies the table at `source` to a new file or to a table of a server. `progress` is called after each batch, from this
    /// task.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], what reading or writing meets, and [`Error::RowCount`] when the result does not hold the rows
    /// that were written. The destination is as it was before, whatever the error, unless it is a table of a server to which
    /// rows were added.
    pub async fn copy(
        &self,
        source: &Location,
        destination: &Location,
        options: &CopyOptions,
        progress: impl FnMut(Progress),
    ) -> Result<Copied> {
        if source.format.has_records() && destination.format.has_records() {
            return self.copy_records(source, destination, options, progress).await;
        }
        let expected = self.expected_rows(source).await?;
        let answer = self.read(source, None).await?;
        let mut copied = self.write(answer, expected, destination, options, progress).await?;
        copied.source_bytes = source.bytes()?.unwrap_or_default();
        Ok(copied)
    }

    /// Writes the answer of a statement, as [`Session::copy`] does; `source_bytes` is 0.
    ///
    /// # Errors
    ///
    /// As [`Session::copy`].
    pub async fn copy_query(
        &self,
        sql: &str,
        destination: &Location,
        options: &CopyOptions,
        progress: impl FnMut(Progress),
    ) -> Result<Copied> {
        // A copy keeps a blank as NULL.
        let answer = self.answer(sql, &self.options.of_copies()).await?;
        self.write(answer, None, destination, options, progress).await
    }

    /// Copies records byte for byte, with the file's metadata.
    async fn copy_records(
        &self,
        source: &Location,
        target: &Location,
        options: &CopyOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Copied> {
        let destination = target.file()?;
        let format = target.format;
        let draft = Draft::checked(destination, options)?;
        let reading = ReaderOptions::default().recover(self.recovers());
        let records = Records::open(source, &reading).await?;
        let (file, writing) = (draft.file.clone(), options.file.clone());
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let work = tokio::task::spawn_blocking(move || write_records(records, format, &file, &writing, &tell));
        while let Some(rows) = told.recv().await {
            progress(Progress {
                rows,
                expected_rows: None,
            });
        }
        let (rows, skipped) = work
            .await
            .map_err(|panic| Error::io(destination, "write")(panic.into()))??;
        for skipped in skipped {
            self.note_damage(&skipped.file, &skipped.region);
        }

        let copy = Location {
            place: Place::File(draft.file.clone()),
            format,
        };
        let records = Records::open(&copy, &ReaderOptions::default()).await?;
        let count = tokio::task::spawn_blocking(move || records.count());
        let found = count
            .await
            .map_err(|panic| Error::io(destination, "read")(panic.into()))??;
        if found != rows {
            return Err(Error::RowCount {
                place: destination.display().to_string(),
                written: rows,
                found,
            });
        }
        Ok(Copied {
            rows,
            source_bytes: source.bytes()?.unwrap_or_default(),
            bytes: draft.publish(destination)?,
        })
    }

    async fn write(
        &self,
        mut answer: Answer,
        expected_rows: Option<u64>,
        target: &Location,
        options: &CopyOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Copied> {
        if let Place::Server(url) = &target.place {
            let there = if options.overwrite {
                IfThere::Replace
            } else {
                IfThere::Refuse
            };
            let sink = ClickHouseSink::begin(url, &self.clients, &answer.schema(), &[], &options.table, there).await?;
            let rows = insert(answer, sink, |rows| progress(Progress { rows, expected_rows })).await?;
            return Ok(Copied {
                rows,
                source_bytes: 0,
                bytes: 0,
            });
        }
        let destination = target.file()?;
        let draft = Draft::checked(destination, options)?;
        let sink = file_sink(target.format, &draft.file, &answer.schema(), &options.file)?;
        let mut writer = Writer::start(sink);
        let mut rows = 0;
        while let Some(batch) = answer.next().await? {
            rows += batch.num_rows() as u64;
            if !writer.send(batch) {
                break;
            }
            progress(Progress { rows, expected_rows });
        }
        writer.finish()?;

        let found = self
            .count(&Location {
                place: Place::File(draft.file.clone()),
                format: target.format,
            })
            .await?;
        if found != rows {
            return Err(Error::RowCount {
                place: destination.display().to_string(),
                written: rows,
                found,
            });
        }
        Ok(Copied {
            rows,
            source_bytes: 0,
            bytes: draft.publish(destination)?,
        })
    }
}

/// Puts an answer into a table of a server, and calls `progress` with the number of rows after each batch.
pub(crate) async fn insert(mut answer: Answer, mut sink: ClickHouseSink, mut progress: impl FnMut(u64)) -> Result<u64> {
    let mut rows = 0;
    loop {
        let written = match answer.next().await {
            Ok(None) => return sink.finish().await,
            Ok(Some(batch)) => {
                rows += batch.num_rows() as u64;
                sink.write(&batch).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            sink.give_up().await;
            return Err(error);
        }
        progress(rows);
    }
}

/// Writes all records to a new file, and tells now and then how many there are. Returns their number and what was left out.
fn write_records(
    records: Records,
    format: Format,
    file: &Path,
    options: &FileOptions,
    tell: &tokio::sync::mpsc::UnboundedSender<u64>,
) -> Result<(u64, Vec<Skipped>)> {
    const STEP: u64 = 1 << 16;
    let mut sink = RecordsSink::create(format, file, options, records.metadata()?)?;
    let mut rows = 0_u64;
    let skipped = records.read(|record| {
        sink.write(record)?;
        rows += 1;
        if rows.is_multiple_of(STEP) {
            // Nobody listens any more when the copy was given up; the thread ends with the file.
            let _ = tell.send(rows);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    sink.finish(file)?;
    Ok((rows, skipped))
}

/// The thread that writes, and the channel to it.
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

    /// Waits while the channel is full. `false` when the writer has stopped: [`Writer::finish`] says why.
    fn send(&mut self, batch: RecordBatch) -> bool {
        let Some(sender) = &self.batches else { return false };
        // The engines read on threads of their own, so the task that waits here keeps nobody else waiting.
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

/// Files in the making, in a folder of their own that goes away with this value.
struct Draft {
    folder: TempDir,
    file: PathBuf,
}

impl Draft {
    /// A draft of a destination that is not there yet, or may be replaced.
    fn checked(destination: &Path, options: &CopyOptions) -> Result<Self> {
        if !options.overwrite && destination.exists() {
            return Err(Error::Exists {
                place: destination.display().to_string(),
            });
        }
        Self::beside(destination)
    }

    fn beside(destination: &Path) -> Result<Self> {
        let parent = parent(destination);
        let name = destination.file_name().ok_or_else(|| Error::Unsupported {
            what: format!("{}: a destination without a file name", destination.display()),
            hint: "name the file to be made".to_owned(),
        })?;
        let folder = tempfile::Builder::new().prefix(".tidemill-").tempdir_in(parent);
        let folder = folder.map_err(Error::io(parent, "write to"))?;
        Ok(Self {
            file: folder.path().join(name),
            folder,
        })
    }

    /// Moves the files to where they belong, the table itself last: who sees the table finds its memo file.
    fn publish(self, destination: &Path) -> Result<u64> {
        let parent = parent(destination);
        let mut bytes = 0;
        let mut made = Vec::new();
        for entry in fs::read_dir(self.folder.path()).map_err(Error::io(parent, "list"))? {
            let path = entry.map_err(Error::io(parent, "list"))?.path();
            bytes += fs::metadata(&path).map_err(Error::io(&path, "read"))?.len();
            made.push(path);
        }
        made.sort_by_key(|path| *path == self.file);
        for path in made {
            let Some(name) = path.file_name() else { continue };
            fs::rename(&path, parent.join(name)).map_err(Error::io(destination, "rename the copy to"))?;
        }
        File::open(parent)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io(parent, "synchronise"))?;
        Ok(bytes)
    }
}

fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
