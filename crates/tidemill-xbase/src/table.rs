//! An open table: its header, its fields, its memo file and how to read them.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arrow_schema::SchemaRef;

use crate::adt;
use crate::codepage::CodePage;
use crate::codepage_guess::Guess;
use crate::container::{ContainerLink, link_of};
use crate::cpg_file::{self, Named};
use crate::damage::{Damage, DamageLog};
use crate::error::{Error, Result};
use crate::expression::RecordBytes;
use crate::field::{Field, FieldKind, Fields};
use crate::header::{Deletion, Dialect, Header};
use crate::imploded;
use crate::memo::{self, Memo};
use crate::note::{Note, NoteLog};
use crate::own_disk;
use crate::regular_file::stays_beside;
use crate::scan::{Batches, Scan};
use crate::source::{Access, Source};
use crate::stamp::FileMemo;
use crate::storage::DataFile;
use crate::transaction::{self, Readable};
use crate::untranslated;

/// What blank numbers, starred numbers and undecided logicals become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Blank {
    /// Null, since nobody entered a value. Default.
    #[default]
    Null,
    /// 0 and false, as Clipper and ADS programs see them. Blank dates stay null, and so does a NULL of Visual FoxPro.
    Zero,
}

/// How to open a table.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    codepage: Option<CodePage>,
    pub(crate) blank: Blank,
    pub(crate) keep_trailing_blanks: bool,
    pub(crate) recover: bool,
    pub(crate) access: Access,
    despite_pending: bool,
    field_names: Option<Arc<[String]>>,
    short_names: bool,
    trusts_default: bool,
    pub(crate) strict: bool,
    pub(crate) null_for_bad_values: bool,
}

impl OpenOptions {
    /// Every option at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads text in this code page, whatever the table says.
    ///
    /// Default: the `.cpg` file beside the table, else the language driver of dBASE 7, else the language byte, else what the text
    /// looks like ([`OpenOptions::look_at_text`]), else cp1252 for Visual FoxPro and cp437 for all others.
    #[must_use]
    pub fn codepage(mut self, codepage: CodePage) -> Self {
        self.codepage = Some(codepage);
        self
    }

    /// Whether the text of a table that names no code page is looked at: UTF-8, and the pages of Windows and DOS for Western, Central
    /// European and Cyrillic letters are told by the text of its first 256 KiB, and text is then read and written so. A table
    /// whose text is not ASCII has a note that says it.
    ///
    /// Fields of Visual FoxPro that are exempt from code page translation (NOCPTRANS) are looked at, too, record by record: those
    /// whose values are text are columns of text, with a note; memos where the memo file has at most 4 MiB. Otherwise they are
    /// columns of bytes. Default: true.
    #[must_use]
    pub fn look_at_text(mut self, look: bool) -> Self {
        self.trusts_default = !look;
        self
    }

    /// What blank numbers and logicals become. Default: [`Blank::Null`].
    #[must_use]
    pub fn blank(mut self, blank: Blank) -> Self {
        self.blank = blank;
        self
    }

    /// Keeps the blanks at the end of character fields, so that every value has the field's width. Default: false.
    #[must_use]
    pub fn keep_trailing_blanks(mut self, keep: bool) -> Self {
        self.keep_trailing_blanks = keep;
        self
    }

    /// Goes on behind damage: what cannot be read becomes null or is left out, and [`Table::damage`] lists it.
    /// Default: false, the first fault is an error.
    #[must_use]
    pub fn recover(mut self, recover: bool) -> Self {
        self.recover = recover;
        self
    }

    /// Refuses what contradicts the format even where there is no doubt about the records, such as a record length with a byte to
    /// spare, and a number of more decimals than its field declares, which is rounded otherwise. Default: false, [`Table::notes`]
    /// tells it.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Reads a cell that holds no value of its type as null, and counts it in [`Table::notes`]; memos too. Default: false, the first
    /// one is an error.
    #[must_use]
    pub fn null_for_bad_values(mut self, null: bool) -> Self {
        self.null_for_bad_values = null;
        self
    }

    /// Whether bad values are passed over.
    pub(crate) fn passes_over(&self) -> bool {
        self.recover || self.null_for_bad_values
    }

    /// Reads a table as its files are, although a log beside it has changes of it that a program left unfinished: rows may be
    /// those of before, and memos those of other rows. Default: false, [`Error::Pending`].
    #[must_use]
    pub fn despite_pending(mut self, despite: bool) -> Self {
        self.despite_pending = despite;
        self
    }

    /// The names of the visible fields, in table order, whatever the file calls them: for who keeps longer names than the 10 bytes
    /// of a field descriptor elsewhere. Default: those of the file.
    #[must_use]
    pub fn field_names(mut self, names: Option<Arc<[String]>>) -> Self {
        self.field_names = names;
        self
    }

    /// Whether the fields of a Visual FoxPro table have the long names of its database container, where that lies beside it
    /// ([`Table::container`]). Default: true; those of [`OpenOptions::field_names`] go before.
    #[must_use]
    pub fn long_names(mut self, long: bool) -> Self {
        self.short_names = !long;
        self
    }

    /// How the bytes are reached. Default: [`Access::Positional`].
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }
}

/// A table that is open for reading. It is `Send` and `Sync`; scans share it through an [`Arc`].
#[derive(Debug)]
pub struct Table {
    pub(crate) source: Source,
    header: Header,
    pub(crate) fields: Arc<Fields>,
    codepage: CodePage,
    container: ContainerLink,
    is_compressed: bool,
    memo: Result<Memo, String>,
    pub(crate) options: OpenOptions,
    record_count: u32,
    deleted_count: OnceLock<u32>,
    on_own_disk: OnceLock<bool>,
    pub(crate) damage: Arc<DamageLog>,
    /// What was found beside the table.
    opening_notes: Vec<Note>,
    pub(crate) notes: NoteLog,
}

impl Table {
    /// Opens the table at `path` and finds its memo file and its `.cpg` file beside it, whatever their case.
    ///
    /// A missing memo file is no error here: scans that ask for a memo column give [`Error::MissingMemo`].
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Corrupt`] for a header that contradicts itself or the file's length (not while
    /// recovering, as far as anything can be read), [`Error::Unsupported`] for encrypted tables. A `.cpg` file that names no code
    /// page is a note, or [`Error::Corrupt`] where everything is to be [strict](OpenOptions::strict).
    /// [`Error::NotRegular`] for a pipe, a device or a folder in the place of one of its files. [`Error::Pending`] when a log in
    /// its folder has changes of it that a program left unfinished ([`crate::recover`] writes them), also while recovering: what
    /// a crash left is no damage.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        /// How long a table is waited for that somebody is replacing by another.
        const REPLACED_WITHIN: Duration = Duration::from_secs(2);
        let path = path.as_ref();
        let begin = Instant::now();
        loop {
            let table = Source::open(path, options.access).and_then(|source| Self::over(source, options));
            if options.despite_pending {
                return table;
            }
            // The log is looked for behind the files, so that none of them can have been replaced unseen.
            let readable = transaction::readable(path)?;
            let is_one = table.as_ref().map_or(true, |table| table.source.is_at_its_path());
            if readable == Readable::Yes && is_one {
                return table;
            }
            if begin.elapsed() > REPLACED_WITHIN {
                let holder = Error::Misuse(format!("{}: somebody keeps replacing it", path.display()));
                return Err(holder);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Opens the table in a file that is open already.
    pub(crate) fn of_open(path: &Path, file: Arc<File>, options: &OpenOptions) -> Result<Self> {
        Self::over(Source::of_open(path, file, options.access)?, options)
    }

    fn over(mut source: Source, options: &OpenOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let mut notes = Vec::new();
        let header = read_header(&mut source)?;
        let expanded = imploded::expanded(&source, &header)?;
        let is_compressed = expanded.is_some();
        if let Some(bytes) = expanded {
            notes.push(compressed_note(source.len(), bytes.len()));
            source = source.seen_as(bytes);
        }
        let codepage = match options.codepage {
            Some(codepage) => Some(codepage),
            // One that cannot be read is told even while recovering: nobody knows what it says.
            None => match cpg_file::read(&path) {
                Err(Error::Corrupt(_)) if options.recover => None,
                found => match found? {
                    None => None,
                    Some(Named::Page(page)) => Some(page),
                    Some(Named::Other(cpg, name)) if options.strict => return Err(Named::refused(&cpg, &name)),
                    Some(Named::Other(cpg, name)) => {
                        notes.push(Named::note(&cpg, &name));
                        None
                    }
                },
            },
        };
        let memo = |header: &Header| {
            let found = memo::find(&path, header.dialect)?;
            // Programs that failed leave such files; there is nothing in them to contradict the table.
            if std::fs::metadata(&found).is_ok_and(|found| found.is_file() && found.len() == 0) {
                return Err(format!("a sound memo file ({} is empty)", found.display()));
            }
            Ok(stays_beside(&found, &path).and_then(|()| Memo::open(&found, options.access, header)))
        };
        let mut table = Self::new(source, header, None, codepage, memo, options)?;
        table.opening_notes.splice(..0, notes);
        table.is_compressed = is_compressed;
        Ok(table)
    }

    /// A table in memory, for tests, fuzzers and callers that have the bytes already. Errors call it `memory.dbf`.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn from_bytes(dbf: Vec<u8>, memo: Option<Vec<u8>>, options: &OpenOptions) -> Result<Self> {
        let mut source = Source::from_bytes("memory.dbf", dbf);
        let header = Header::read(&source)?;
        let expanded = imploded::expanded(&source, &header)?;
        let is_compressed = expanded.is_some();
        if let Some(bytes) = expanded {
            source = source.seen_as(bytes);
        }
        let memo = |header: &Header| {
            let bytes = memo.ok_or_else(|| "memory.memo".to_owned())?;
            Ok(Memo::from_bytes(bytes, header))
        };
        let mut table = Self::new(source, header, None, options.codepage, memo, options)?;
        table.is_compressed = is_compressed;
        Ok(table)
    }

    /// A table that is open for changes, as it is seen there; its fields are those that the editor knows, where there are.
    pub(crate) fn edited(
        file: &DataFile,
        memo: Option<&DataFile>,
        known: Option<&Arc<Fields>>,
        codepage: CodePage,
        options: &OpenOptions,
    ) -> Result<Self> {
        let mut source = Source::edited(file)?;
        let header = read_header(&mut source)?;
        let memo = |header: &Header| {
            let memo = memo.ok_or_else(|| "a memo file, which was not there".to_owned())?;
            Ok(Source::edited(memo).and_then(|source| Memo::named(source, header)))
        };
        Self::new(source, header, known, Some(codepage), memo, options)
    }

    fn new(
        source: Source,
        header: Header,
        known: Option<&Arc<Fields>>,
        codepage: Option<CodePage>,
        memo: impl FnOnce(&Header) -> Result<Result<Memo>, String>,
        options: &OpenOptions,
    ) -> Result<Self> {
        if header.encrypted {
            let what = match header.dialect {
                Dialect::Adt => {
                    "the records are encrypted under a password (Advantage, bytes 56 to 75); decrypt the table with Advantage"
                }
                _ => "the records are encrypted (dBASE IV, byte 15); decrypt the table with the program that wrote it",
            };
            return Err(Error::Unsupported {
                path: source.path().to_owned(),
                what: what.to_owned(),
            });
        }
        let damage = Arc::new(DamageLog::default());
        let recover = options.recover.then_some(&*damage);
        let named = codepage
            .or_else(|| CodePage::from_language_driver(&header.language_driver))
            .or_else(|| CodePage::from_language_byte(header.language));
        let (codepage, note) = match (named, header.dialect) {
            (Some(codepage), _) => (codepage, None),
            (None, Dialect::VisualFoxPro | Dialect::Adt) => {
                codepage_by_text(&source, &header, CodePage::Cp1252, options)
            }
            (None, _) => codepage_by_text(&source, &header, CodePage::Cp437, options),
        };
        let mut container = ContainerLink::Free;
        let fields = match known {
            Some(fields) => Arc::clone(fields),
            None => {
                let fields = read_fields(&source, &header, codepage, (recover, options.strict))?;
                match &options.field_names {
                    Some(names) => Arc::new(fields.renamed(names).ok_or_else(|| {
                        let (path, own) = (source.path().display(), fields.visible.len());
                        Error::Misuse(format!("{path}: {} names for {own} fields", names.len()))
                    })?),
                    None if options.short_names || source.is_in_memory() => fields,
                    None => {
                        let named;
                        (container, named) = link_of(&source, &header, &fields, codepage);
                        named
                    }
                }
            }
        };
        let record_count = records_in_file(&source, &header, recover)?;
        // Beside a table without memo fields, a memo file is a stranger.
        let memo = if fields.visible.iter().any(|f| f.kind.uses_memo()) {
            match (memo(&header), recover) {
                (Ok(Ok(memo)), _) => Ok(memo),
                (Ok(Err(e)), None) => return Err(e),
                (Ok(Err(e)), Some(_)) => Err(format!("a sound memo file ({e})")),
                (Err(names), _) => Err(names),
            }
        } else {
            Err("none, since no field needs it".to_owned())
        };
        let fields = match known {
            None if !options.trusts_default => {
                untranslated::as_text((&source, &header, memo.as_ref().ok()), fields, codepage)?
            }
            _ => fields,
        };
        Ok(Self {
            source,
            header,
            fields,
            codepage,
            container,
            is_compressed: false,
            memo,
            options: options.clone(),
            record_count,
            deleted_count: OnceLock::new(),
            on_own_disk: OnceLock::new(),
            damage,
            opening_notes: note.into_iter().collect(),
            notes: NoteLog::default(),
        })
    }

    /// The table's file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// The file's length in bytes when it was opened.
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// Whether the table and its memo file certainly hold what they held when they were opened, so that what was
    /// derived from them still stands. False as well when they had been written to within the last tick of the file
    /// system's clock then, since another change in that tick would not show; open the table again later to be certain.
    /// Tables in memory never change. Changes through a mapping of another program may show late.
    ///
    /// # Errors
    /// [`Error::Io`] when a file is no longer there.
    pub fn is_current(&self) -> Result<bool> {
        let memo = self.memo.as_ref().ok();
        Ok(self.source.is_current()? && memo.map_or(Ok(true), Memo::is_current)? && self.container.is_current())
    }

    /// As [`Table::is_current`], of the records and the names of the fields alone: what memos hold may be another.
    ///
    /// # Errors
    /// As [`Table::is_current`].
    pub fn has_current_records(&self) -> Result<bool> {
        Ok(self.source.is_current()? && self.container.is_current())
    }

    /// Whether [`Table::is_current`] can be true, and tells at once what other programs do: the table was not being written to when
    /// it was opened, and lies on a file system of this machine. On one of the network the answer may be seconds old where no lock was
    /// taken before.
    pub fn tells_changes_at_once(&self) -> bool {
        let is_at_rest = self.source.stamp().is_some_and(|stamp| stamp.is_at_rest());
        is_at_rest && *self.on_own_disk.get_or_init(|| own_disk::has(self.path()))
    }

    /// Whether the file is a compressed table of DATASUS (`.dbc`), which is held in memory as it is when it is expanded, and not
    /// changed. Offsets are those of the expanded table.
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// What the first bytes say.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The visible fields in table order; the system's own (`_NullFlags`) are left out. Indices into this slice are
    /// what [`Scan`] and [`Table::schema`] use.
    pub fn fields(&self) -> &[Field] {
        &self.fields.visible
    }

    /// The Arrow schema of the visible fields. Every column is nullable.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.fields.schema)
    }

    /// The number of records, deleted ones included: the header's, and while recovering at most what the file holds.
    pub fn record_count(&self) -> u32 {
        self.record_count
    }

    /// The number of deleted records: one pass over the deletion flags, remembered.
    ///
    /// # Errors
    /// When the file cannot be read to its end.
    pub fn deleted_count(&self) -> Result<u32> {
        if let Some(count) = self.deleted_count.get() {
            return Ok(*count);
        }
        let stride = self.stride();
        let per_window = self.window_records(8192);
        let (mut next, mut deleted, mut window) = (0, 0, Vec::new());
        while next < self.record_count {
            let count = per_window.min(self.record_count - next);
            let bytes = self.read_records(next, count, &mut window)?;
            deleted += bytes
                .chunks_exact(stride)
                .map(|record| u32::from(self.deletion().is_deleted(record)))
                .sum::<u32>();
            next += count;
        }
        Ok(*self.deleted_count.get_or_init(|| deleted))
    }

    /// What blank numbers and logicals become, as the table was opened ([`OpenOptions::blank`]).
    pub fn blank(&self) -> Blank {
        self.options.blank
    }

    /// The code page that text is read in.
    pub fn codepage(&self) -> CodePage {
        self.codepage
    }

    /// The database container that a Visual FoxPro table names, and what it says of the table: long names, captions, comments.
    pub fn container(&self) -> &ContainerLink {
        &self.container
    }

    /// The place in [`Table::fields`] of the field of this name, in any case: by its own name, else by its short one.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        Field::find(self.fields(), name)
    }

    /// The memo file, where a field uses one and it is there.
    pub fn memo(&self) -> Option<&Memo> {
        self.memo.as_ref().ok()
    }

    /// What was left out so far while recovering, in file order; opening and every scan add to it.
    pub fn damage(&self) -> Vec<Damage> {
        self.damage.list()
    }

    /// What is not as the format has it and is read all the same: in the header, behind the last record, and, with
    /// [`OpenOptions::null_for_bad_values`], the values that were passed over so far.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = self.opening_notes.clone();
        notes.extend(self.fields.notes.iter().cloned());
        notes.extend(self.uncounted());
        notes.extend(self.notes.list());
        notes
    }

    /// Whole records behind the last one that the header counts.
    fn uncounted(&self) -> Option<Note> {
        let begin = self.record_offset(self.record_count);
        let (behind, stride) = (self.source.len().saturating_sub(begin), self.stride() as u64);
        // One byte is the end of the file, and some programs leave more of them.
        let records = (behind / stride).min(u64::from(u32::MAX - self.record_count));
        let mut window = Vec::new();
        let flag = self
            .source
            .read("the bytes after the records", begin, 1, &mut window)
            .ok()?
            .first()
            .copied();
        let is_flag = match (self.header.dialect, flag) {
            (Dialect::Adt, Some(flag)) => adt::is_flag(flag),
            (_, flag) => matches!(flag, Some(b' ' | b'*')),
        };
        let are_records = records > 0 && stride > 1 && is_flag;
        are_records.then(|| Note {
            begin,
            end: begin + records * stride,
            record: Some(self.record_count + 1),
            count: records,
            what: format!("the header counts {} records, but more follow", self.record_count),
        })
    }

    /// Reads records as batches. Nothing is read before the first batch is asked for.
    ///
    /// # Errors
    /// [`Error::Misuse`] for columns or records that the table does not have, [`Error::MissingMemo`] when a memo column
    /// is asked for and the memo file is not there.
    pub fn scan(self: &Arc<Self>, scan: Scan) -> Result<Batches> {
        Batches::new(Arc::clone(self), scan, Arc::clone(&self.damage), self.options.recover)
    }

    /// The names under which a missing memo file was looked for.
    pub(crate) fn memo_looked_for(&self) -> &str {
        self.memo.as_ref().err().map_or("", String::as_str)
    }

    /// Whether a number of more decimals than a field declares is one of the field, rounded.
    pub(crate) fn rounds(&self, field: &Field) -> bool {
        field.kind == FieldKind::Float || !self.options.strict
    }

    /// How a record says that it is deleted.
    pub(crate) fn deletion(&self) -> Deletion {
        self.header.dialect.deletion()
    }

    pub(crate) fn stride(&self) -> usize {
        self.header.record_len.max(1) as usize
    }

    pub(crate) fn record_offset(&self, record: u32) -> u64 {
        u64::from(self.header.header_len) + u64::from(record) * u64::from(self.header.record_len)
    }

    /// How many records are read at once: about a mebibyte, more where a batch of wide records needs it, and a whole
    /// batch where the bytes are lent.
    pub(crate) fn window_records(&self, batch_rows: usize) -> u32 {
        if self.source.lends() {
            return u32::try_from(batch_rows).unwrap_or(u32::MAX).max(1);
        }
        let bytes = (batch_rows.saturating_mul(self.stride())).clamp(1 << 20, 4 << 20);
        u32::try_from(bytes / self.stride()).unwrap_or(u32::MAX).max(1)
    }

    /// The bytes of `count` records from `first` on.
    pub(crate) fn read_records<'a>(&'a self, first: u32, count: u32, window: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let len = (count as usize).saturating_mul(self.stride());
        self.source.read(
            format_args!("record {}", u64::from(first) + 1),
            self.record_offset(first),
            len,
            window,
        )
    }

    /// Shows every record, deleted ones included, in the order of the file.
    pub(crate) fn each_record(&self, mut visit: impl FnMut(&RecordBytes<'_>) -> Result<()>) -> Result<()> {
        let per_window = self.window_records(8192);
        let (mut next, mut window) = (0, Vec::new());
        while next < self.record_count {
            let count = per_window.min(self.record_count - next);
            let bytes = self.read_records(next, count, &mut window)?;
            for (record, bytes) in (next + 1..).zip(bytes.chunks_exact(self.stride())) {
                visit(&RecordBytes::new(self, record, bytes))?;
            }
            next += count;
        }
        Ok(())
    }
}

/// The header's record count, checked against the file's length.
/// Others may append meanwhile: first the records and then the header that counts them, so that they are found by looking at the
/// length again.
fn read_header(source: &mut Source) -> Result<Header> {
    let header = Header::read(source)?;
    let records = u64::from(header.record_count) * u64::from(header.record_len);
    if u64::from(header.header_len) + records > source.len() {
        source.measure_again()?;
    }
    Ok(header)
}

fn compressed_note(packed: u64, expanded: usize) -> Note {
    Note {
        begin: 0,
        end: packed,
        record: None,
        count: 1,
        what: format!(
            "a compressed table of DATASUS: {packed} bytes, {expanded} when it is expanded, where offsets count"
        ),
    }
}

/// The code page of a table that names none, and what to say about it.
fn codepage_by_text(
    source: &Source,
    header: &Header,
    usual: CodePage,
    options: &OpenOptions,
) -> (CodePage, Option<Note>) {
    // What is wrong with the fields is told when they are read for good.
    let log = DamageLog::default();
    let recover = options.recover.then_some(&log);
    match read_fields(source, header, usual, (recover, options.strict)) {
        Ok(fields) if !options.trusts_default => {
            let records = (
                u64::from(header.header_len),
                header.record_len as usize,
                header.record_count,
            );
            let (page, mut note) = Guess::of_table(source, &fields.visible, records, usual).page(usual);
            // No byte of an ADT is for it.
            if let (Dialect::Adt, Some(note)) = (header.dialect, &mut note) {
                (note.begin, note.end) = (0, 0);
            }
            (page, note)
        }
        _ => (usual, None),
    }
}

/// What the fields of files were found to be, under the code page of their names.
static FIELDS: FileMemo<CodePage, Arc<Fields>> = FileMemo::new(64);

fn read_fields(
    source: &Source,
    header: &Header,
    codepage: CodePage,
    (recover, strict): (Option<&DamageLog>, bool),
) -> Result<Arc<Fields>> {
    // What recovering finds is told each time.
    let stamp = source.stamp().filter(|_| recover.is_none() && !strict);
    let known = stamp
        .as_ref()
        .and_then(|stamp| FIELDS.get(source.path(), stamp, &codepage));
    if let Some(fields) = known {
        return Ok(fields);
    }
    let fields = Arc::new(Fields::read(source, header, codepage, (recover, strict))?);
    if let Some(stamp) = &stamp {
        FIELDS.put(source.path(), stamp, codepage, Arc::clone(&fields));
    }
    Ok(fields)
}

fn records_in_file(source: &Source, header: &Header, recover: Option<&DamageLog>) -> Result<u32> {
    let begin = u64::from(header.header_len);
    let room = source
        .len()
        .saturating_sub(begin)
        .checked_div(u64::from(header.record_len))
        .unwrap_or(0);
    let room = u32::try_from(room).unwrap_or(u32::MAX);
    if header.record_count <= room {
        return Ok(header.record_count);
    }
    let at = match header.dialect {
        Dialect::Dbase2 => 1,
        Dialect::Adt => adt::RECORD_COUNT_AT,
        _ => 4,
    };
    let expected = format!("at most {room}, what a file of {} bytes has room for", source.len());
    let Some(log) = recover else {
        return Err(Error::corrupt(
            source.path(),
            "record count",
            at,
            expected,
            header.record_count.to_string(),
        ));
    };
    log.add(Damage {
        begin: begin + u64::from(room) * u64::from(header.record_len),
        end: begin + u64::from(header.record_count) * u64::from(header.record_len),
        records: Some(room..header.record_count),
        why: format!("record count: expected {expected}, found {}", header.record_count),
    });
    Ok(room)
}
