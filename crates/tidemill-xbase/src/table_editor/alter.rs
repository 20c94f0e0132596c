//! A table of another structure in the place of an old one.
//!
//! The new table, its orders, and its memo file if it gets one, are written to new files in a folder beside the old ones and brought
//! to the disk. Then they take their places, all of them or none, whatever happens to the process or the machine: what a crash cuts
//! off is gone on with by [`crate::recover`]. A memo file that is there stays: fields that are kept keep their pointers, and values
//! that become memos are appended to it before. Descriptors of fields that are kept are copied with what they count.
//!
//! A counter that is added numbers the records that are there, in their order and deleted ones too, and one that a field of
//! integers becomes goes on behind the greatest of them, as ADS documents the latter ("AdsRestructureTable").
//!
//! What this module does not do: it alters no tables of dBASE II and dBASE 7, whose descriptors are others.

mod in_adt;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::counters::counter_at;
use super::files::{open_file, record_file};
use super::record::END_OF_FILE;
use super::{OpenMode, TableEditor};
use crate::adt;
use crate::alteration::{Alteration, AlteredColumn};
use crate::array_values::ArrayValues;
use crate::container::{BACKLINK, ContainerLink, ContainerTable, NewContainer};
use crate::conversion::{convert, shown};
use crate::draft::{Draft, DraftFile};
use crate::error::{BrokenRule, Error, Result, RuleKind};
use crate::field::{Field, FieldKind, Fields};
use crate::field_spec::{FieldSpec, short_names};
use crate::header::{CivilDate, Dialect};
use crate::lock::FileLocks;
use crate::memo::MemoDialect;
use crate::memo_editor::MemoEditor;
use crate::memo_writer::{MemoWriter, block_size};
use crate::own_name::folder_of;
use crate::regular_file;
use crate::scan::{Deleted, Scan};
use crate::storage::DataFile;
use crate::table::Table;
use crate::table_set::replace;
use crate::table_writer::{Column, CreateOptions, NULL_FLAGS, descriptor};
use crate::transaction::{Disk, KeptLocks, TheDisk};
use crate::value::Value;

/// Where the flags of the header are, and the bit that says in Visual FoxPro tables that there are memos.
const FLAGS: usize = 28;
const HAS_MEMOS: u8 = 2;
/// Where the flags of a field are in its descriptor.
const FIELD_FLAGS: usize = 18;
/// What they are in Visual FoxPro of a field that counts.
const COUNTS: u8 = 0x0C;
/// How many bytes of records are written at once.
const CHUNK: usize = 1 << 20;

/// Where a field of the new table gets its bytes.
enum Source<'a> {
    /// The bytes of an old field.
    Bytes(&'a Field),
    /// The values of an old field, in this column of a scan.
    Values(&'a Field, usize),
    /// The number of the record.
    Numbers,
    Blank,
}

/// The values that a new counter has given out: in this field of the new table, and the greatest of them.
struct Counted {
    field: usize,
    greatest: i64,
}

impl TableEditor {
    /// Gives the table another structure. Records keep their numbers and deletion flags, fields that are only renamed or
    /// moved their bytes. Values of changed fields are converted: text to numbers, dates and logicals where it says one, all
    /// but bytes to text (dates as YYYYMMDD), numbers to numbers without loss; doubles are rounded to the decimals of an N. A
    /// counter that is added numbers the records; one that a field becomes keeps its values, and goes on behind the greatest.
    ///
    /// The orders of all open index files are made anew, with keys as long as their expressions are now; custom orders are
    /// empty then. Those of the table's folder take their places with it, those of other folders are made anew afterwards.
    ///
    /// # Errors
    /// [`Error::Value`] with record, field and value for the first value that does not fit; [`Error::Misuse`] unless the table
    /// is open exclusively, in a transaction, and for a structure that the format does not allow; [`Error::Order`] when an
    /// order could not be made over the new fields, with [`Error::DuplicateKey`] when they gave two records one key in a candidate
    /// index; [`Error::Unsupported`] for tables of dBASE II and
    /// dBASE 7, those with fields that are not read, and those of a database container that has other tables or more than the names of
    /// fields: one of their own is made anew with them. The table is as before
    /// then, though values that were to become memos may stay behind in the memo file. [`Error::Io`]; [`Error::Unknown`] when the disk
    /// failed while the files took their places; close the table then and recover the folder.
    pub fn alter(&mut self, alteration: &Alteration) -> Result<()> {
        let disk: Arc<dyn Disk> = Arc::new(TheDisk);
        self.alter_on(alteration, &disk)
    }

    pub(crate) fn alter_on(&mut self, alteration: &Alteration, disk: &Arc<dyn Disk>) -> Result<()> {
        if !self.is_adt() {
            return self.alter_so(alteration, disk);
        }
        let alteration = in_adt::without_idle_changes(&self.fields.visible, alteration);
        self.renumber_orders(Some(&in_adt::renumbered(&self.fields.visible, &alteration)));
        let done = self.alter_so(&alteration, disk);
        self.renumber_orders(None);
        done
    }

    fn alter_so(&mut self, alteration: &Alteration, disk: &Arc<dyn Disk>) -> Result<()> {
        self.alone("altering")?;
        self.followed_by_mdx()?;
        self.committed("altering")?;
        let container = self.altered_container(alteration)?;
        let long_names: Vec<String> = alteration.columns.iter().map(|column| column.name.clone()).collect();
        let named = |fields: &Arc<Fields>| match &container {
            Some(_) => fields
                .with_long_names(&long_names)
                .map_or_else(|| Arc::clone(fields), Arc::new),
            None => Arc::clone(fields),
        };
        let table = Arc::new(self.table()?);
        let structure = Structure::new(self, alteration, container.is_some())?;
        let real = regular_file::behind_link(self.path())?;
        let folder = std::fs::canonicalize(folder_of(&real)).map_err(|e| Error::io(&real, "open", e))?;
        let draft = Draft::beside(&real, disk)?;
        let file = draft.file(&real)?;
        file.data().write(0, &structure.header)?;
        let mut new = self.altered(&file)?;
        new.fields = named(&new.fields);
        self.check_orders(&new.fields.visible)?;
        let memo = structure.open_memo(self, &mut new, draft.folder())?;
        let count = self.record_count();
        let copy = || self.copy_altered(&table, &new, alteration);
        let written = self.options.log.as_ref().map_or_else(copy, |log| log.statement(copy));
        written.map_err(|e| self.named_here(e))?;
        new.count(count);
        new.write_header()?;
        // With what the counters say now.
        let counted = new.table()?;
        new.fields = named(&counted.fields);
        if self.orders.has_candidates() {
            let altered = new.table()?;
            self.check_candidates(&altered, &new.fields.visible, |_| true)?;
        }
        new.file.sync()?;
        if let Some(memo) = &new.memo {
            memo.sync()?;
        }
        let whole = new.table()?;
        let orders = self.draft_orders_over(&new.fields.visible, &whole, &folder, &draft)?;
        if let Some(container) = &container {
            container.write_in(draft.folder(), &self.container_options())?;
        }
        // Nothing points at it any more; left behind it would only be in the way.
        let gone = self.memo.as_ref().filter(|_| matches!(memo, NewMemo::Gone));
        let gone: Vec<PathBuf> = gone.map(|memo| memo.path().to_owned()).into_iter().collect();
        let is_beside = |path: &PathBuf| std::fs::canonicalize(folder_of(path)).is_ok_and(|found| found == folder);
        let (beside, elsewhere): (Vec<_>, Vec<_>) = gone.into_iter().partition(is_beside);
        replace(&real, draft.folder(), &beside, disk)?;
        self.history.note_all();
        let path = self.path().to_owned();
        self.file = record_file(&path, file.handle(), &self.options)?;
        self.locks = KeptLocks::of_table(
            FileLocks::new(Arc::clone(file.handle()), &path)?,
            self.options.log.as_ref(),
        );
        match memo {
            NewMemo::Kept => {}
            NewMemo::Gone => self.memo = None,
            NewMemo::Created { path, handle } => {
                let data = record_file(&path, &handle, &self.options)?;
                self.memo = new.memo.take().map(|memo| memo.moved(data));
            }
        }
        for gone in elsewhere {
            std::fs::remove_file(&gone).map_err(|e| Error::io(&gone, "remove", e))?;
        }
        self.header = new.header.clone();
        self.fields = Arc::clone(&new.fields);
        self.look_at_fields();
        self.ranges = self.options.scheme.table(&self.header);
        self.remake_orders(&folder, &orders)?;
        if container.is_some() {
            let open = self.options.open.clone().codepage(self.codepage);
            let opened = Table::of_open(&path, Arc::clone(file.handle()), &open)?;
            self.know_container(opened);
        }
        Ok(())
    }

    /// The container of the new table, where the old one has one of its own; `None` for a free table.
    fn altered_container(&self, alteration: &Alteration) -> Result<Option<NewContainer>> {
        let ContainerLink::Used { container, .. } = self.opened().container() else {
            return Ok(None);
        };
        let fields = alteration.columns.iter();
        let fields: Vec<FieldSpec> = fields.map(|column| FieldSpec::new(&column.name, 'C', 1, 0)).collect();
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = fields.iter().find(|field| !seen.insert(field.name.to_uppercase())) {
            return Err(self.misuse(&format!("field {:?} exists twice", twice.name)));
        }
        let new = NewContainer::new(self.path(), &fields, self.codepage)?;
        // What else it says of the table, and other tables, cannot be written anew.
        let says_more = self.opened().container().table().is_none_or(ContainerTable::says_more);
        if says_more || !container.is_only_of(self.path()) || new.path() != container.path() {
            let what = format!(
                "its fields are described in {}, which has more than their names and would no longer agree with them; remove the \
                 table from the database first, or copy it",
                container.path().display()
            );
            let path = self.path().to_owned();
            return Err(Error::Unsupported { path, what });
        }
        Ok(Some(new))
    }

    fn container_options(&self) -> CreateOptions {
        let never = CivilDate {
            year: 1980,
            month: 1,
            day: 1,
        };
        let mut create = CreateOptions::new(self.header.last_update.unwrap_or(never));
        create.codepage = self.codepage;
        create
    }

    /// An editor of the new file, which has a header so far.
    fn altered(&self, new: &DraftFile) -> Result<Self> {
        let file = new.data().clone();
        let table = Table::edited(&file, None, None, self.codepage, &self.options.open)?;
        let mut options = self.options.clone();
        options.log = None;
        options.mode = OpenMode::Exclusive;
        let locks = FileLocks::new(Arc::clone(new.handle()), file.path())?;
        options.keys = None;
        let locks = KeptLocks::of_table(locks, None);
        let editor = Self::of(table, file, None, locks, &options);
        editor.count(0);
        Ok(editor)
    }

    fn copy_altered(&self, table: &Arc<Table>, new: &Self, alteration: &Alteration) -> Result<()> {
        let mut projection = Vec::new();
        let sources: Vec<_> = alteration
            .columns
            .iter()
            .zip(&new.fields.visible)
            .map(|(column, field)| {
                match column
                    .from
                    .and_then(|from| Some((from, self.fields.visible.get(from)?)))
                {
                    Some((from, old))
                        if column.spec.is_some() || old.varlength_bit.is_some() != field.varlength_bit.is_some() =>
                    {
                        projection.push(from);
                        Source::Values(old, projection.len() - 1)
                    }
                    Some((_, old)) => Source::Bytes(old),
                    None if field.autoincrement.is_some() => Source::Numbers,
                    None => Source::Blank,
                }
            })
            .collect();
        let made = |(field, source): (usize, &Source<'_>)| {
            new.fields.visible.get(field)?.autoincrement?;
            let greatest = match source {
                Source::Bytes(_) => return None,
                Source::Values(old, _) => old.autoincrement.map(|counter| i64::from(counter.next) - 1),
                Source::Numbers | Source::Blank => None,
            };
            let greatest = greatest.unwrap_or_default();
            Some(Counted { field, greatest })
        };
        let mut counted: Vec<Counted> = sources.iter().enumerate().filter_map(made).collect();
        let blank = new.blank_record();
        let mut out = Vec::with_capacity(CHUNK + blank.len());
        let (mut at, mut record) = (u64::from(new.header.header_len), 0);
        let mut put = |record: u32, values: Option<(&RecordBatch, usize)>| -> Result<()> {
            let old = self.record_bytes(record)?;
            let start = out.len();
            out.extend_from_slice(&blank);
            let bytes = out.get_mut(start..).unwrap_or_default();
            self.fill_altered((record, &old), values, new, (&sources, &mut counted), bytes)?;
            if out.len() >= CHUNK {
                new.file.write(at, &out)?;
                at += out.len() as u64;
                out.clear();
            }
            Ok(())
        };
        if projection.is_empty() {
            (1..=self.record_count()).try_for_each(|record| put(record, None))?;
        } else {
            let scan = Scan::new().projection(projection).deleted(Deleted::Include);
            for batch in table.scan(scan)? {
                let batch = batch?;
                for row in 0..batch.num_rows() {
                    record += 1;
                    put(record, Some((&batch, row)))?;
                }
            }
        }
        if !self.is_adt() {
            out.push(END_OF_FILE);
        }
        new.file.write(at, &out)?;
        counted.iter().try_for_each(|counter| new.go_on_behind(counter))
    }

    /// Lets a counter go on behind the values that its field has.
    fn go_on_behind(&self, counter: &Counted) -> Result<()> {
        let Some(field) = self.fields.visible.get(counter.field) else {
            return Ok(());
        };
        let next = u32::try_from(counter.greatest.saturating_add(1)).unwrap_or(u32::MAX);
        self.file
            .write(counter_at(self.header.dialect, field), &next.to_le_bytes())
    }

    fn fill_altered(
        &self,
        (record, old): (u32, &[u8]),
        values: Option<(&RecordBatch, usize)>,
        new: &Self,
        (sources, counted): (&[Source<'_>], &mut [Counted]),
        bytes: &mut [u8],
    ) -> Result<()> {
        // The flag, and in an ADT the link of the list of free records, of which nothing else is of any use.
        let own = if self.is_adt() { adt::RECORD_PROLOGUE } else { 1 };
        if let (Some(to), Some(from)) = (bytes.get_mut(..own), old.get(..own)) {
            to.copy_from_slice(from);
        }
        if self.is_adt() && self.header.dialect.is_deleted(old) {
            return Ok(());
        }
        for (index, (source, field)) in sources.iter().zip(&new.fields.visible).enumerate() {
            if let Source::Bytes(from) | Source::Values(from, _) = source
                && self.bit(old, from.null_bit)
                && field.null_bit.is_none()
                && field.autoincrement.is_none()
            {
                if !self.header.dialect.is_deleted(old) {
                    return Err(self.null_lost(record, from));
                }
                let zero = match field.letter {
                    'I' | 'Y' => Value::Integer(0),
                    'B' => Value::Double(0.0),
                    _ => Value::Null,
                };
                new.fill(record, bytes, [(index, zero)])?;
                continue;
            }
            match (source, values) {
                (Source::Bytes(from), _) => {
                    let (cell, old_cell) = (
                        bytes.get_mut(field.offset..field.offset + field.width),
                        old.get(from.offset..from.offset + from.width),
                    );
                    if let (Some(cell), Some(old_cell)) = (cell, old_cell) {
                        cell.copy_from_slice(old_cell);
                    }
                    new.set_bit(bytes, field.null_bit, self.bit(old, from.null_bit));
                    new.set_bit(bytes, field.varlength_bit, self.bit(old, from.varlength_bit));
                }
                (Source::Values(from, column), Some((batch, row))) => {
                    // A number that nobody entered does not become 0, in whichever way the table shows it.
                    if !self.is_adt() && is_blank(from, old) && matches!(field.letter, 'C' | 'F' | 'L' | 'N') {
                        continue;
                    }
                    let value = ArrayValues::new(&from.name, batch.column(*column))?.get(row);
                    // NULL stays NULL, and becomes no empty text.
                    if self.is_adt() && matches!(value, Value::Null) {
                        continue;
                    }
                    let converted = convert(value, field.kind, field.is_untranslated())
                        .map_err(|expected| self.bad(record, from, expected.to_owned(), shown(value)))?;
                    match counted.iter_mut().find(|counter| counter.field == index) {
                        Some(counter) => new.put_counted(record, (field, counter), converted.value(), bytes)?,
                        None => new.fill(record, bytes, [(index, converted.value())])?,
                    }
                }
                (Source::Numbers, _) => {
                    if let Some(counter) = counted.iter_mut().find(|counter| counter.field == index) {
                        new.put_counted(record, (field, counter), Value::Integer(record.into()), bytes)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// That NULL would become a blank, which is a value.
    fn null_lost(&self, record: u32, field: &Field) -> Error {
        Error::Rule(Box::new(BrokenRule {
            path: self.path().to_owned(),
            record,
            field: Some(field.name.clone()),
            rule: RuleKind::Required,
            message: None,
        }))
    }

    /// Gives a record a value of a counter. NULL is blank.
    fn put_counted(
        &self,
        record: u32,
        (field, counter): (&Field, &mut Counted),
        value: Value<'_>,
        bytes: &mut [u8],
    ) -> Result<()> {
        match value {
            Value::Null => return Ok(()),
            Value::Integer(number) => counter.greatest = counter.greatest.max(number),
            _ => {}
        }
        self.put_own(record, field, value, bytes)
    }

    /// An error of the new file as one of this table.
    fn named_here(&self, e: Error) -> Error {
        match e {
            Error::Value(mut bad) => {
                self.path().clone_into(&mut bad.path);
                Error::Value(bad)
            }
            e => e,
        }
    }
}

/// Whether a number or a logical has no value.
fn is_blank(field: &Field, record: &[u8]) -> bool {
    let cell = record.get(field.offset..field.offset + field.width).unwrap_or_default();
    match field.letter {
        'F' | 'N' => cell.iter().all(|byte| *byte == b' '),
        'L' => cell.iter().all(|byte| matches!(byte, b' ' | b'?')),
        _ => false,
    }
}

/// What becomes of the memo file.
enum NewMemo {
    Kept,
    /// A new one in the draft, which is to have this path.
    Created {
        path: PathBuf,
        handle: Arc<File>,
    },
    Gone,
}

/// The header of the new table, and how it keeps memos.
struct Structure {
    header: Vec<u8>,
    memo: Option<MemoDialect>,
}

impl Structure {
    fn new(table: &TableEditor, alteration: &Alteration, has_container: bool) -> Result<Self> {
        let dialect = table.header.dialect;
        let refuse = |what: &str| {
            Err(Error::Unsupported {
                path: table.path().to_owned(),
                what: what.to_owned(),
            })
        };
        if dialect == Dialect::Adt {
            return in_adt::structure(table, alteration);
        }
        if matches!(dialect, Dialect::Dbase2 | Dialect::Dbase7) {
            return refuse(&format!("the structure of {dialect} tables is read and not altered"));
        }
        let null_flags = table.fields.null_flags.map_or(0, |(_, width)| width);
        let known = 1 + null_flags + table.fields.visible.iter().map(|field| field.width).sum::<usize>();
        if known != table.header.record_len as usize {
            return refuse("it has fields that are not read, and altering would lose them");
        }
        let mut old = vec![0; table.header.header_len as usize];
        table.file.read("table header", 0, &mut old)?;
        let vfp = dialect == Dialect::VisualFoxPro;
        let (mut descriptors, mut kinds, mut letters) = (Vec::<[u8; 32]>::new(), Vec::new(), Vec::new());
        let (mut offset, mut bits) = (1, 0);
        let names = match has_container {
            true => short_names_of(table, &alteration.columns)?,
            false => names(table, &alteration.columns)?,
        };
        for (column, name) in alteration.columns.iter().zip(names) {
            let (kind, width, described) = match (
                &column.spec,
                column.from.and_then(|from| table.fields.visible.get(from)),
            ) {
                (None, Some(field)) => {
                    let at = usize::try_from(field.descriptor_at).unwrap_or(usize::MAX);
                    let kept = old.get(at..).and_then(<[u8]>::first_chunk::<32>);
                    let mut kept = *kept.ok_or_else(|| table.misuse("a field without a descriptor"))?;
                    kept[..11].fill(0);
                    kept.iter_mut().zip(&name).for_each(|(slot, byte)| *slot = *byte);
                    if vfp {
                        kept[12..16].copy_from_slice(&u32::try_from(offset).unwrap_or_default().to_le_bytes());
                    }
                    (field.kind, field.width, kept)
                }
                (Some(spec), _) => {
                    let new = Column::new(spec, dialect)?;
                    (
                        new.kind,
                        new.width,
                        new.descriptor(&name, if vfp { offset } else { 0 })?,
                    )
                }
                (None, None) => return Err(table.misuse("the alteration is of another table")),
            };
            offset += width;
            bits += usize::from(matches!(kind, FieldKind::Varchar | FieldKind::Varbinary));
            bits += usize::from(vfp && described[FIELD_FLAGS] & 2 != 0);
            letters.push(described[11]);
            kinds.push(kind);
            descriptors.push(described);
        }
        if bits > 0 {
            let width = bits.div_ceil(8);
            let len = u8::try_from(width).map_err(|_| table.misuse("too many fields that can be null"))?;
            let mut described = descriptor(NULL_FLAGS, '0', offset, len, 0, 5);
            if let Some(flags) = old_null_flags(table, &old) {
                described[FIELD_FLAGS] = flags;
            }
            descriptors.push(described);
            offset += width;
        }
        let has_memos = kinds.iter().any(|kind| kind.uses_memo());
        let header_len = 32 + 32 * descriptors.len() + 1 + if vfp { BACKLINK } else { 0 };
        let (Ok(header_len_bytes), Ok(record_len)) = (u16::try_from(header_len), u16::try_from(offset)) else {
            return Err(table.misuse(&format!(
                "{} fields in {offset} bytes: too large for a table",
                kinds.len()
            )));
        };
        if kinds.is_empty() {
            return Err(table.misuse("a table has at least one field"));
        }
        let memo = memo_dialect(table, alteration, has_memos)?;
        let mut header = old.get(..32).unwrap_or_default().to_vec();
        header.resize(32, 0);
        let counts = vfp
            && descriptors
                .iter()
                .any(|described| described[FIELD_FLAGS] & COUNTS == COUNTS);
        header[0] = version(table, memo, &letters, counts);
        header[4..8].fill(0);
        header[8..10].copy_from_slice(&header_len_bytes.to_le_bytes());
        header[10..12].copy_from_slice(&record_len.to_le_bytes());
        if vfp {
            header[FLAGS] = header[FLAGS] & !HAS_MEMOS | if has_memos { HAS_MEMOS } else { 0 };
        }
        header.extend_from_slice(descriptors.as_flattened());
        header.push(0x0D);
        if vfp {
            let backlink = old.len().checked_sub(BACKLINK).and_then(|at| old.get(at..));
            header.extend_from_slice(backlink.unwrap_or(&[0; BACKLINK]));
        }
        Ok(Self { header, memo })
    }

    /// Gives the new table the memo file of the old one, or one of its own in the folder `draft`.
    fn open_memo(&self, old: &TableEditor, new: &mut TableEditor, draft: &Path) -> Result<NewMemo> {
        let Some(dialect) = self.memo else {
            return Ok(if old.memo.is_some() {
                NewMemo::Gone
            } else {
                NewMemo::Kept
            });
        };
        if let Some(memo) = &old.memo {
            new.memo = Some(memo.beside());
            return Ok(NewMemo::Kept);
        }
        let path = dialect.beside(old.path());
        if path.exists() {
            return Err(old.misuse(&format!("{} already exists and does not belong to it", path.display())));
        }
        let drafted = draft.join(path.file_name().unwrap_or_default());
        MemoWriter::create(&drafted, dialect, block_size(dialect))?.finish()?;
        let handle = open_file(&drafted, &old.options)?;
        // It goes past the log, which knows nothing of drafts.
        let file = DataFile::new(&drafted, Box::new(Arc::clone(&handle)));
        new.memo = Some(MemoEditor::created(file, dialect));
        Ok(NewMemo::Created { path, handle })
    }
}

/// The flags of the old field with the bits: programs differ in them.
fn old_null_flags(table: &TableEditor, header: &[u8]) -> Option<u8> {
    table.fields.null_flags?;
    let descriptors = header.get(32..)?.chunks_exact(32);
    let found = descriptors
        .take_while(|d| d.first() != Some(&0x0D))
        .find(|d| d.get(11) == Some(&b'0'))?;
    found.get(FIELD_FLAGS).copied()
}

/// The names of the new fields in the table's code page.
fn names(table: &TableEditor, columns: &[AlteredColumn]) -> Result<Vec<Vec<u8>>> {
    let mut seen = std::collections::HashSet::new();
    let encode = |column: &AlteredColumn| {
        let mut name = Vec::new();
        let encoded = table.codepage.encode(&column.name, &mut name);
        if encoded.is_err() || !(1..=10).contains(&name.len()) || !seen.insert(column.name.to_uppercase()) {
            let why = format!(
                "field {:?}: field names have 1 to 10 bytes and must be unique",
                column.name
            );
            return Err(table.misuse(&why));
        }
        Ok(name)
    };
    columns.iter().map(encode).collect()
}

/// The names that fields with longer ones have in the header: those that they have, and others for new ones.
fn short_names_of(table: &TableEditor, columns: &[AlteredColumn]) -> Result<Vec<Vec<u8>>> {
    let old = |column: &AlteredColumn| {
        let field = table.fields.visible.get(column.from?)?;
        (field.name == column.name).then(|| field.short_name.clone())
    };
    let mut taken: Vec<String> = columns.iter().filter_map(old).collect();
    let mut names = Vec::with_capacity(columns.len());
    for column in columns {
        let name = old(column).unwrap_or_else(|| {
            let all = taken.iter().map(String::as_str).chain([column.name.as_str()]);
            let short = short_names(all, table.codepage).pop().unwrap_or_default();
            taken.push(short.clone());
            short
        });
        let mut bytes = Vec::new();
        if table.codepage.encode(&name, &mut bytes).is_err() || bytes.is_empty() {
            return Err(table.misuse(&format!("field {:?}: the code page has no such name", column.name)));
        }
        names.push(bytes);
    }
    Ok(names)
}

/// How the new table keeps memos, if it has any: as the old one, or in the way of its format.
fn memo_dialect(table: &TableEditor, alteration: &Alteration, has_memos: bool) -> Result<Option<MemoDialect>> {
    if !has_memos {
        return Ok(None);
    }
    if let Some(memo) = &table.memo {
        return Ok(Some(memo.dialect()));
    }
    if table.fields.visible.iter().any(|field| field.kind.uses_memo()) {
        return Err(table.misuse("the table's memo file is not there"));
    }
    let dialect = match (alteration.memo, table.header.dialect) {
        (None, Dialect::Dbase4) => MemoDialect::Dbt4,
        (None, Dialect::Six) => MemoDialect::Smt,
        (None, Dialect::Adt) => MemoDialect::Adm,
        (None, _) => MemoDialect::Fpt,
        (Some(memo), _) => memo,
    };
    let has = match table.header.dialect {
        Dialect::Dbase3 => !matches!(dialect, MemoDialect::Dbt4),
        Dialect::Dbase4 => dialect == MemoDialect::Dbt4,
        Dialect::VisualFoxPro => dialect == MemoDialect::Fpt,
        Dialect::Adt => dialect == MemoDialect::Adm,
        _ => false,
    };
    if !has {
        let why = format!("{} tables do not keep memos in {dialect}", table.header.dialect);
        return Err(table.misuse(&why));
    }
    Ok(Some(dialect))
}

/// The version byte of a table with these fields, one of which may count.
fn version(table: &TableEditor, memo: Option<MemoDialect>, letters: &[u8], counts: bool) -> u8 {
    let old = table.header.version;
    match (old, memo) {
        (0x30 | 0x31, _) if letters.iter().any(|letter| matches!(letter, b'V' | b'Q' | b'W')) => 0x32,
        (0x30, _) if counts => 0x31,
        (0x30..=0x32 | 0x05, _) => old,
        (_, None) => 0x03,
        (_, Some(_)) if table.memo.is_some() => old,
        (_, Some(MemoDialect::Dbt3)) => 0x83,
        (_, Some(MemoDialect::Dbt4)) => 0x8B,
        (_, Some(MemoDialect::Smt)) => 0xE5,
        (_, Some(_)) => 0xF5,
    }
}
