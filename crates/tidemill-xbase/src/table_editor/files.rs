//! The files of a table: read and written straight, with changes that wait, or through a log.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::{EditOptions, OpenMode, TableEditor};
use crate::error::Result;
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::memo_editor::MemoEditor;
use crate::regular_file;
use crate::storage::{DataFile, Storage, Switched, Way};
use crate::transaction::TransactionLog;

impl TableEditor {
    /// Lets what changes from now on go through a log, as if the table had been opened with it, or straight to the files. Locks
    /// stay as they are.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) while a transaction is under way in the log that the table has now; as [`TableEditor::flush`]. The
    /// table goes on as before then.
    pub fn use_log(&mut self, log: Option<&TransactionLog>) -> Result<()> {
        let has_it = match (&self.options.log, log) {
            (Some(old), Some(new)) => old.is_same(new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if has_it || self.is_in_memory {
            return Ok(());
        }
        if let Some(old) = &self.options.log {
            old.outside("taking a table from its log")?;
        }
        if let Some(follower) = &mut self.follower {
            follower.let_go();
        }
        self.flush()?;
        if let Some(old) = &self.options.log {
            old.settle()?;
        }
        let mode = self.options.mode;
        let way = |file: &DataFile, waits: bool| {
            Ok(match (log, (**file.storage()).as_switched()) {
                (Some(log), Some(switched)) => Way::Through(logged(log, file.path(), switched.file(), mode)?),
                (None, Some(_)) if waits => Way::Waiting,
                _ => Way::Straight,
            })
        };
        let waits = self.options.lets_wait();
        let records = std::iter::once(&self.file).chain(self.memo.as_ref().map(MemoEditor::file));
        let files = records.map(|file| (file, waits));
        // Pages of indexes wait in their editor.
        let files: Vec<_> = files
            .chain(self.orders.data_files().map(|file| (file, false)))
            .collect();
        let ways = files.iter().map(|(file, waits)| way(file, *waits));
        let ways = ways.collect::<Result<Vec<_>>>()?;
        for ((file, _), way) in files.into_iter().zip(ways) {
            if let Some(switched) = (**file.storage()).as_switched() {
                switched.switch(way);
            }
        }
        self.locks.use_log(log);
        if let Some(memo) = &mut self.memo {
            memo.use_log(log);
        }
        if let Some(log) = log {
            log.remember(&self.record_count);
        }
        self.options.log = log.cloned();
        self.orders.use_log(log)
    }
}

/// Opens the table itself, at the path that the caller named, and marks it as open.
pub(super) fn open_table(path: &Path, options: &EditOptions) -> Result<Arc<File>> {
    /// How often the file may have become another one before it is marked.
    const ATTEMPTS: usize = 5;
    let mut left = ATTEMPTS;
    loop {
        let file = match options.mode {
            OpenMode::ReadOnly => regular_file::open_to_read(path)?,
            OpenMode::Exclusive | OpenMode::Shared => regular_file::open_named_to_write(path)?,
        };
        let file = marked(file, path, options)?;
        // Whoever replaced the table meanwhile has left us with a file that no name leads to.
        if left == 0 || regular_file::is_at(path, &file) {
            return Ok(file);
        }
        left -= 1;
    }
}

/// Opens a memo or index file of the table and marks it as open.
pub(super) fn open_file(path: &Path, options: &EditOptions) -> Result<Arc<File>> {
    let file = match options.mode {
        OpenMode::ReadOnly => regular_file::open_to_read(path)?,
        OpenMode::Exclusive | OpenMode::Shared => regular_file::open_to_write(path)?,
    };
    marked(file, path, options)
}

fn marked(file: File, path: &Path, options: &EditOptions) -> Result<Arc<File>> {
    let sharing = match options.mode {
        OpenMode::Exclusive => Sharing::Exclusive,
        OpenMode::Shared | OpenMode::ReadOnly => Sharing::Shared,
    };
    open_shared_or_exclusive(&file, path, sharing, options.lock_timeout)?;
    Ok(Arc::new(file))
}

/// A file of records or memos as it is read and written: as [`data_file`], and alone without a log changes wait.
pub(super) fn record_file(path: &Path, handle: &Arc<File>, options: &EditOptions) -> Result<DataFile> {
    let file = data_file(path, handle, options)?;
    if options.lets_wait()
        && options.log.is_none()
        && let Some(switched) = (**file.storage()).as_switched()
    {
        switched.switch(Way::Waiting);
    }
    Ok(file)
}

/// A file of the table as it is read and written: through the log where there is one.
pub(super) fn data_file(path: &Path, handle: &Arc<File>, options: &EditOptions) -> Result<DataFile> {
    let file = Switched::new(Arc::clone(handle));
    if let Some(log) = &options.log {
        file.switch(Way::Through(logged(log, path, handle, options.mode)?));
    }
    Ok(DataFile::new(path, Box::new(file)))
}

/// A file of the table as it is read and written through a log.
fn logged(log: &TransactionLog, path: &Path, handle: &Arc<File>, mode: OpenMode) -> Result<Box<dyn Storage>> {
    Ok(Box::new(match mode {
        OpenMode::Exclusive => log.attach(path, handle, Sharing::Exclusive)?,
        OpenMode::Shared => log.attach(path, handle, Sharing::Shared)?,
        OpenMode::ReadOnly => log.attach_reader(path, handle)?,
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::Error;
    use crate::header::CivilDate;

    #[test]
    fn a_child_process_that_was_just_started_keeps_nobody_out() {
        let table = tempfile::NamedTempFile::new().unwrap();
        let today = CivilDate {
            year: 2024,
            month: 2,
            day: 29,
        };
        let options = EditOptions::new(today)
            .mode(OpenMode::Exclusive)
            .lock_timeout(Duration::ZERO);
        let parent = open_table(table.path(), &options).unwrap();
        assert!(matches!(open_table(table.path(), &options), Err(Error::Locked(_))));
        // What `fork` does to a file until `exec` closes it.
        let child = parent.try_clone().unwrap();
        drop(parent);
        let exec = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(25));
            drop(child);
        });
        open_table(table.path(), &options).unwrap();
        exec.join().unwrap();
    }
}
