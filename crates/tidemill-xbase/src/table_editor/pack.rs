//! All records at once: without the deleted ones, or none at all.

use super::TableEditor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::record_file;
use crate::adt;
use crate::draft::Draft;
use crate::error::{Error, Result};
use crate::field::{Field, FieldKind};
use crate::header::Dialect;
use crate::index::Progress;
use crate::lock::FileLocks;
use crate::memo::MemoDialect;
use crate::memo_editor::{MemoEditor, MemoPlace};
use crate::own_name::folder_of;
use crate::regular_file;
use crate::storage::DataFile;
use crate::table::Table;
use crate::table_set::replace;
use crate::transaction::{Disk, KeptLocks, TheDisk};

/// Which records stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    NotDeleted,
    Nothing,
}

/// How many bytes of records are written at once.
const CHUNK: usize = 1 << 20;
/// How many records go by between two reports.
const REPORT_EVERY: u32 = 1 << 12;

impl TableEditor {
    /// Removes the deleted records for good, and with them the blocks of the memo file that no record needs. Returns how
    /// many records are left. Records get new numbers, so the open index files are made anew.
    ///
    /// The packed table, its memo file and the open index files of its folder are written to new files in a folder beside them and
    /// brought to the disk. Then they take the places of the old ones, all of them or none, whatever happens to the process or the
    /// machine: what a crash cuts off is gone on with by [`crate::recover`]. The reports of
    /// [`BuildOptions::progress`](crate::BuildOptions::progress) can stop it before. Memo files of FlexFile and
    /// of tables with fields of any type (`V` of SIx) are left as they are. Index files of other folders are made anew afterwards.
    ///
    /// # Errors
    /// [`Error::Misuse`] unless the table is open exclusively, and when it was opened through a link and has a memo file beside
    /// that; [`Error::Corrupt`] for a memo that cannot be read; [`Error::Cancelled`], [`Error::Io`]: the table is as it was.
    /// [`Error::Unknown`] when the disk failed while the files took their places; close the table then and recover the folder.
    pub fn pack(&mut self) -> Result<u32> {
        let disk: Arc<dyn Disk> = Arc::new(TheDisk);
        self.pack_on(&disk)
    }

    pub(crate) fn pack_on(&mut self, disk: &Arc<dyn Disk>) -> Result<u32> {
        self.alone("packing")?;
        self.followed_by_mdx()?;
        self.committed("packing")?;
        self.rewritten(Keeps::NotDeleted, disk)
    }

    /// Lets the table without some records take the place of the old one, with its memos and orders.
    fn rewritten(&mut self, keeps: Keeps, disk: &Arc<dyn Disk>) -> Result<u32> {
        self.check_known_orders()?;
        if keeps == Keeps::NotDeleted && self.orders.has_candidates() {
            let table = self.table()?;
            self.check_candidates(&table, &self.fields.visible, |record| !record.is_deleted())?;
        }
        let path = regular_file::behind_link(self.path())?;
        let folder = std::fs::canonicalize(folder_of(&path)).map_err(|e| Error::io(&path, "open", e))?;
        let draft = Draft::beside(&path, disk)?;
        let table = draft.file(&path)?;
        let varying = self.fields.visible.iter().any(|f| f.kind == FieldKind::Variant);
        let memo = match &self.memo {
            Some(memo) if memo.dialect() != MemoDialect::FptFlex && (!varying || keeps == Keeps::Nothing) => {
                self.check_beside(memo.path(), &folder)?;
                let new = draft.file(memo.path())?;
                let editor = memo.emptied(new.data().clone())?;
                Some((new, editor))
            }
            _ => None,
        };
        let kept = self.copy_kept(keeps, table.data(), memo.as_ref().map(|(_, editor)| editor))?;
        if let Some((_, editor)) = &memo {
            editor.sync()?;
        }
        let memos = memo.as_ref().map(|(new, _)| new.data());
        let memos = memos.or(self.memo.as_ref().map(MemoEditor::file));
        let packed = Table::edited(table.data(), memos, None, self.codepage, &self.options.open)?;
        let orders = self.draft_orders(&packed, &folder, &draft)?;
        replace(&path, draft.folder(), &[], disk)?;
        // From here on the files of the old numbers are gone.
        self.history.note_all();
        if let (Some((new, editor)), Some(old)) = (memo, &self.memo) {
            let path = old.path().to_owned();
            self.memo = Some(editor.moved(record_file(&path, new.handle(), &self.options)?));
        }
        let path = self.path().to_owned();
        self.file = record_file(&path, table.handle(), &self.options)?;
        let locks = FileLocks::new(Arc::clone(table.handle()), &path)?;
        self.locks = KeptLocks::of_table(locks, self.options.log.as_ref());
        self.count(kept);
        self.move_orders(&folder, &orders)?;
        self.rebuild_orders_but(Some(&folder))?;
        Ok(kept)
    }

    /// Refuses a memo file that lies elsewhere: the two could not take their places as one.
    fn check_beside(&self, memo: &Path, folder: &Path) -> Result<()> {
        let own: Option<PathBuf> = std::fs::canonicalize(folder_of(memo)).ok();
        match own.is_some_and(|own| own == folder) {
            true => Ok(()),
            false => {
                Err(self.misuse("its memo file is next to a link to the table; pack the table under its real path"))
            }
        }
    }

    /// Removes all records for good, all memos, and all entries of the open index files: of all files or of none, whatever happens
    /// to the process or the machine, as [`TableEditor::pack`] does; with a log as a part of its transaction, which can be rolled
    /// back. Without a log, a memo file that lies elsewhere, beside a link to the table, is emptied afterwards.
    ///
    /// # Errors
    /// [`Error::Misuse`] unless the table is open exclusively, [`Error::Io`], and [`Error::Unknown`] as [`TableEditor::pack`].
    pub fn zap(&mut self) -> Result<()> {
        let disk: Arc<dyn Disk> = Arc::new(TheDisk);
        self.zap_on(&disk)
    }

    pub(crate) fn zap_on(&mut self, disk: &Arc<dyn Disk>) -> Result<()> {
        self.alone("zapping")?;
        if self.has_follower() {
            return Err(self.misuse("a table with relations is not emptied at once: delete its records"));
        }
        self.followed_by_mdx()?;
        if self.is_in_memory || self.options.log.is_some() || !self.has_memos_beside()? {
            return self.as_one(Self::zap_alone);
        }
        self.committed("zapping")?;
        self.rewritten(Keeps::Nothing, disk).map(drop)
    }

    fn has_memos_beside(&self) -> Result<bool> {
        let path = regular_file::behind_link(self.path())?;
        let folder = |path: &Path| std::fs::canonicalize(folder_of(path)).ok();
        let memo = self.memo.as_ref().map(|memo| folder(memo.path()));
        Ok(memo.is_none_or(|memo| memo == folder(&path)))
    }

    fn zap_alone(&mut self) -> Result<()> {
        self.check_known_orders()?;
        let before = self.record_count();
        self.history.note_all();
        self.count(0);
        // From here on no record is there, whatever happens next.
        if let Err(e) = self.write_header() {
            self.count(before);
            return Err(e);
        }
        let end = u64::from(self.header.header_len);
        self.file.set_len(end)?;
        match self.is_adt() {
            true => Self::forget_free(&self.file, true)?,
            false => self.file.write(end, &[0x1A])?,
        }
        if let Some(memo) = &self.memo {
            memo.zap()?;
        }
        self.rebuild_orders()?;
        self.flush()
    }

    fn copy_kept(&self, keeps: Keeps, to: &DataFile, memos: Option<&MemoEditor>) -> Result<u32> {
        let mut header = vec![0; self.header.header_len as usize];
        self.file.read("table header", 0, &mut header)?;
        let stride = self.header.record_len as usize;
        let memo_fields: Vec<&Field> = self.fields.visible.iter().filter(|f| f.kind.uses_memo()).collect();
        let (mut out, mut at, mut kept) = (header, 0, 0u32);
        let total = Some(u64::from(self.record_count()));
        let last = match keeps {
            Keeps::NotDeleted => self.record_count(),
            Keeps::Nothing => 0,
        };
        for record in 1..=last {
            if record.is_multiple_of(REPORT_EVERY) {
                let keys = u64::from(record);
                self.options.build.tell(Progress { keys, total })?;
            }
            let mut bytes = self.record_bytes(record)?;
            if self.header.dialect.is_deleted(&bytes) {
                continue;
            }
            if let (Some(from), Some(to)) = (&self.memo, memos) {
                for field in &memo_fields {
                    let cell = bytes.get_mut(field.offset..field.offset + field.width);
                    self.copy_memo(record, field, (from, to), cell.unwrap_or_default())?;
                }
            }
            out.extend_from_slice(&bytes);
            kept += 1;
            if out.len() >= CHUNK.max(stride) {
                to.write(at, &out)?;
                at += out.len() as u64;
                out.clear();
            }
        }
        if !self.is_adt() {
            out.push(0x1A);
        }
        to.write(at, &out)?;
        // The day stays that of the last flush, which was just now; dBASE II counts elsewhere.
        if self.is_adt() {
            to.write(adt::RECORD_COUNT_AT, &kept.to_le_bytes())?;
            Self::forget_free(to, keeps == Keeps::Nothing)?;
        } else if self.header.dialect == Dialect::Dbase2 {
            let count = u16::try_from(kept).unwrap_or(u16::MAX);
            to.write(1, &count.to_le_bytes())?;
        } else {
            to.write(4, &kept.to_le_bytes())?;
        }
        to.sync()?;
        Ok(kept)
    }

    /// Copies the memo that a cell points at, if it does, and lets the cell point at the copy.
    fn copy_memo(
        &self,
        record: u32,
        field: &Field,
        (from, to): (&MemoEditor, &MemoEditor),
        cell: &mut [u8],
    ) -> Result<()> {
        let bad = |found| self.bad(record, field, "a memo that can be copied".to_owned(), found);
        let pointer = from.dialect().pointer(cell).map_err(|fault| bad(fault.found))?;
        let Some((block, len)) = pointer else {
            return Ok(());
        };
        let block = u32::try_from(block).map_err(|_| bad(format!("a pointer to block {block}")))?;
        let framed = from.framed(MemoPlace { block, len })?;
        let framed = framed.ok_or_else(|| bad(format!("none at block {block}")))?;
        let block = to.append(&framed)?.map_err(|expected| bad(expected.to_owned()))?;
        let kind = cell.first_chunk::<2>().copied();
        MemoPlace { block, len }.put(from.dialect(), cell);
        // SIx keeps the type of the value in the record.
        if let (MemoDialect::Smt, Some(kind), Some(slot)) = (from.dialect(), kind, cell.get_mut(..2)) {
            slot.copy_from_slice(&kind);
        }
        Ok(())
    }
}
