//! A second table of the same structure, with its records or without.
//!
//! Files are copied as they are: every byte of the header, of the records and of the memo file, but for what belongs to the
//! place: the production index and the database. A table whose database container gives its fields longer names gets a container of
//! its own with these names. What this module does not do: it copies no indexes and packs nothing, and of a container no captions, rules
//! and the like.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::adt;
use crate::beside::belonging;
use crate::container::{BACKLINK, NewContainer};
use crate::cpg_file::CPG_LIMIT;
use crate::error::{Error, Result};
use crate::field_spec::FieldSpec;
use crate::header::{CivilDate, Dialect};
use crate::memo::MemoDialect;
use crate::memo_writer;
use crate::regular_file;
use crate::source::Source;
use crate::storage::{DataFile, Storage};
use crate::table::Table;
use crate::table_set::TableSet;
use crate::table_writer::CreateOptions;

/// How many bytes are copied at once.
const CHUNK: u64 = 1 << 20;
/// Where the flags of the header are; bit 0 is the production index, bit 2 that the table is a database.
const FLAGS: usize = 28;

impl Table {
    /// Makes a table at `path` with the same fields, counters and code page, its memo file with it, and no record. Memo
    /// blocks have the default size of their dialect. Long names that its container has are in a container of the new table.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a table's name that has no room in a container;
    /// [`Error::Exists`] when one of its files is there already; [`Error::Io`] when it cannot be made. Nothing is left behind then.
    /// [`Error::MissingMemo`] when the table's own memo file is not there.
    pub fn copy_structure(&self, path: impl AsRef<Path>) -> Result<()> {
        self.copy(path.as_ref(), 0)
    }

    /// Makes a table at `path` with the same fields and records, deleted ones included, and its memo file. Beside others, the
    /// caller keeps them from changing the table meanwhile. Returns the number of records.
    ///
    /// # Errors
    /// As [`Table::copy_structure`].
    pub fn copy_to(&self, path: impl AsRef<Path>) -> Result<u32> {
        self.copy(path.as_ref(), self.record_count())?;
        Ok(self.record_count())
    }

    fn copy(&self, path: &Path, records: u32) -> Result<()> {
        TableSet::of(path).refuse_existing()?;
        let container = self.container_for_copy(path)?;
        if let Some(container) = &container {
            container.refuse_existing()?;
        }
        let mut made = Made::default();
        let upper = path
            .extension()
            .is_some_and(|extension| extension == "DBF" || extension == "ADT");
        let with = |extension: &str| {
            let extension = if upper {
                extension.to_uppercase()
            } else {
                extension.to_owned()
            };
            path.with_extension(extension)
        };
        if let Some(field) = self.fields().iter().find(|field| field.kind.uses_memo()) {
            let memo = self.memo().ok_or_else(|| Error::MissingMemo {
                path: self.path().to_owned(),
                field: field.name.clone(),
                looked_for: self.memo_looked_for().to_owned(),
            })?;
            let to = with(match memo.dialect() {
                MemoDialect::Dbt3 | MemoDialect::Dbt4 => "dbt",
                MemoDialect::Smt => "smt",
                MemoDialect::Adm => "adm",
                MemoDialect::Fpt | MemoDialect::FptSix | MemoDialect::FptFlex => "fpt",
            });
            let file = made.create(&to)?;
            if records == 0 {
                file.write(0, &memo_writer::empty_of(memo.dialect(), memo.block_size().into()))?;
            } else {
                copy_bytes(memo.source(), 0, memo.file_len(), &file, 0)?;
            }
            file.sync()?;
        }
        if let Ok(cpg) = belonging(self.path(), &["cpg"]) {
            regular_file::stays_beside(&cpg, self.path())?;
            let name = regular_file::read_short(&cpg, "code page", CPG_LIMIT)?;
            made.create(&with("cpg"))?.write(0, &name)?;
        }
        let file = made.create(path)?;
        let mut header = self.header_for_copy(records)?;
        if let Some(container) = &container {
            container.put_backlink(&mut header, self.codepage());
        }
        let (begin, len) = (header.len() as u64, u64::from(records) * self.stride() as u64);
        file.write(0, &header)?;
        copy_bytes(&self.source, self.record_offset(0), len, &file, begin)?;
        if self.header().dialect != Dialect::Adt {
            file.write(begin + len, &[0x1A])?;
        }
        file.sync()?;
        if let Some(container) = &container {
            made.files.extend(container.files());
            let never = CivilDate {
                year: 1980,
                month: 1,
                day: 1,
            };
            let mut create = CreateOptions::new(self.header().last_update.unwrap_or(never));
            create.codepage = self.codepage();
            container.write(&create)?;
        }
        made.files.clear();
        Ok(())
    }

    /// The container of a copy, where names of fields are in one.
    fn container_for_copy(&self, path: &Path) -> Result<Option<NewContainer>> {
        let is_named = |field: &crate::field::Field| field.name != field.short_name;
        if self.container().table().is_none() || !self.fields().iter().any(is_named) {
            return Ok(None);
        }
        let fields = self.fields().iter();
        let fields: Vec<FieldSpec> = fields
            .map(|field| FieldSpec::new(&field.name, field.letter, 0, 0))
            .collect();
        NewContainer::new(path, &fields, self.codepage()).map(Some)
    }

    /// The table's header with this count, at home nowhere.
    fn header_for_copy(&self, records: u32) -> Result<Vec<u8>> {
        let mut window = Vec::new();
        let len = self.header().header_len as usize;
        let mut header = self.source.read("table header", 0, len, &mut window)?.to_vec();
        let dialect = self.header().dialect;
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(slot) = header.get_mut(at..at + bytes.len()) {
                slot.copy_from_slice(bytes);
            }
        };
        if dialect == Dialect::Dbase2 {
            put(1, &u16::try_from(records).unwrap_or(u16::MAX).to_le_bytes());
            return Ok(header);
        }
        if dialect == Dialect::Adt {
            put(adt::RECORD_COUNT_AT as usize, &records.to_le_bytes());
            if records == 0 {
                put(adt::FIRST_FREE_AT as usize, &[0; 4]);
                put(adt::FREE_COUNT_AT as usize, &[0; 4]);
            }
            return Ok(header);
        }
        put(4, &records.to_le_bytes());
        if dialect == Dialect::VisualFoxPro
            && let Some(backlink) = len.checked_sub(BACKLINK)
        {
            put(backlink, &[0; BACKLINK]);
        }
        if let Some(flags) = header.get_mut(FLAGS) {
            *flags &= if dialect == Dialect::VisualFoxPro { !5 } else { !1 };
        }
        Ok(header)
    }
}

fn copy_bytes(from: &Source, mut offset: u64, len: u64, to: &DataFile, mut at: u64) -> Result<()> {
    let (mut left, mut window) = (len, Vec::new());
    while left > 0 {
        let step = left.min(CHUNK);
        let bytes = from.read(
            "what is copied",
            offset,
            usize::try_from(step).unwrap_or(0),
            &mut window,
        )?;
        to.write(at, bytes)?;
        (offset, at, left) = (offset + step, at + step, left - step);
    }
    Ok(())
}

/// New files, which are removed again unless all of them are whole.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
}

impl Made {
    fn create(&mut self, path: &Path) -> Result<DataFile> {
        let file: Arc<dyn Storage> = Arc::new(Arc::new(regular_file::create(path)?));
        self.files.push(path.to_owned());
        Ok(DataFile::new(path, Box::new(file)))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in &self.files {
            let _ = std::fs::remove_file(path);
        }
    }
}
