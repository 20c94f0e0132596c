//! What stands around a connection: the program and its open tables, the clock, and how tables are made.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tidemill_xbase::stamp::FileStamp;
use tidemill_xbase::{CivilDate, CodePage, CreateOptions, OpenMode, Table, production_path};

use crate::sql::tables::{Clock, TableInUse};
use crate::sql::value::{DAY_MS, day_of};
use crate::{ErrorCode, TableOptions, TableType, WorkArea};

impl TableInUse {
    pub(super) fn of(area: &WorkArea) -> Self {
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let indexes = area
            .orders()
            .filter_map(|order| Some(whole(area.index_path(order).ok()?)));
        let mut indexes: Vec<PathBuf> = indexes.collect();
        indexes.dedup();
        let is_shared = area.options().mode != OpenMode::Exclusive;
        Self {
            path: area.path().to_owned(),
            locking: match area.options().table_type {
                TableType::Ntx => ("NTX", 3),
                TableType::Cdx | TableType::Vfp => ("CDX", 2),
                TableType::Adt => ("Proprietary", 1),
            },
            indexes,
            is_locked: is_shared && area.is_table_locked(),
            records: area.locked_records(),
        }
    }
}

/// The name of the program's file.
pub(super) fn program() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl TableOptions {
    /// How tables of this type are made.
    pub(crate) fn create_options(&self, today: CivilDate) -> CreateOptions {
        let mut create = CreateOptions::new(today);
        create.format = self.table_type.dialect();
        create.codepage = self.codepage.unwrap_or(match self.is_oem {
            true => CodePage::Cp850,
            false => CodePage::Cp1252,
        });
        create.memo_block_size = self.memo_block_size;
        create
    }
}

pub(super) fn system_clock() -> Clock {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let utc = i64::try_from(since.as_millis()).unwrap_or(0);
    let utc_offset = i64::from(chrono::Local::now().offset().local_minus_utc()) * 1000;
    Clock {
        local: utc + utc_offset,
        utc_offset,
    }
}

pub(super) fn today(clock: &Clock) -> CivilDate {
    let day = day_of(clock.local - clock.local.rem_euclid(DAY_MS));
    let (year, month, day) = tidemill_xbase::julian::civil_from_unix_days(day);
    CivilDate {
        year: u16::try_from(year).unwrap_or(1970),
        month: u8::try_from(month).unwrap_or(1),
        day: u8::try_from(day).unwrap_or(1),
    }
}

/// Whether the system lets us read a file and not write it, so that nothing of it is under way.
pub(super) fn is_read_only(path: &Path) -> bool {
    use std::io::ErrorKind as K;
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(path);
    opened.is_err_and(|error| matches!(error.kind(), K::PermissionDenied | K::ReadOnlyFilesystem))
}

/// What cannot be written is told as a table for reading alone.
pub(super) fn read_only(path: &Path, error: crate::Error) -> crate::Error {
    match error.is_no_permission() {
        true => crate::Error::new(
            ErrorCode::TableReadOnly,
            format!("{}: the system does not allow to write it", path.display()),
        ),
        false => error,
    }
}

/// A file as it was at one moment; without a stamp it could not be looked at.
#[derive(Debug)]
pub(super) struct FileState {
    path: PathBuf,
    stamp: Option<FileStamp>,
}

impl FileState {
    /// The production index of a table as it is now. A table that gets one is another then, for its header says so.
    pub(super) fn of_index(table: &Table) -> Option<Self> {
        let path = production_path(table).ok().flatten()?;
        let stamp = FileStamp::of(&path).ok();
        Some(Self { path, stamp })
    }

    /// Whether the file certainly is what it was.
    pub(super) fn is_current(&self) -> bool {
        match (&self.stamp, FileStamp::of(&self.path)) {
            (Some(stamp), Ok(now)) => stamp.vouches_for(&now),
            (None, Err(_)) => true,
            _ => false,
        }
    }

    /// Whether [`FileState::is_current`] can be true of a file that is there.
    pub(super) fn is_at_rest(&self) -> bool {
        self.stamp.as_ref().is_some_and(FileStamp::is_at_rest)
    }
}
