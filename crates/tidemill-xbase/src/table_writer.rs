//! Bulk creation of tables: record batches in, a DBF and its memo file out.
//!
//! A batch becomes one buffer of records, filled column by column, and one write. This module creates; it neither
//! appends to tables that others use nor builds indexes.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};

use crate::adt::layout::NewField;
use crate::adt::{self, AdtType, Counters};
use crate::array_values::{ArrayValues, Cells};
use crate::codepage::CodePage;
use crate::container::NewContainer;
use crate::conversion::{convert, shown};
use crate::error::{BadValue, Error, Result};
use crate::field::FieldKind;
use crate::field_spec::{FieldSpec, InAdt, short_names};
use crate::header::{CivilDate, Dialect};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::memo::MemoDialect;
use crate::memo_writer::{MemoWriter, block_size};
use crate::null_test::NullTest;
use crate::regular_file;
use crate::table::{OpenOptions, Table};
use crate::table_set::{Existing, TableSet};
use crate::value::{Format, Value};

/// What kind of table to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateOptions {
    /// How text is written. The header's language byte names it; where there is no byte for it, a `.cpg` file does.
    pub codepage: CodePage,
    /// [`Dialect::Dbase3`], [`Dialect::Dbase4`], [`Dialect::FoxPro2`], [`Dialect::VisualFoxPro`], [`Dialect::Six`], or
    /// [`Dialect::Adt`], whose names have 128 bytes.
    pub format: Dialect,
    /// How memos are kept; `None` is the format's own way: DBT for dBASE, SMT for SIx, FPT for the others. FoxPro 2 tables
    /// can also have FPT files of SIx or FlexFile.
    pub memo: Option<MemoDialect>,
    /// How many bytes a block of an FPT file has, at least 1. Default: 64. Those of other memo files are fixed.
    pub memo_block_size: Option<u16>,
    /// Whether the fields keep their names whole, up to 128 bytes and in any case: a database container of Visual FoxPro beside
    /// the table has them (`people.dbc`, `.dct`, `.dcx` of `people.dbf`), and the header the short ones of [`short_names`]. For
    /// [`Dialect::VisualFoxPro`]. Default: false, names have 1 to 10 bytes.
    pub long_names: bool,
    /// Whether an ADT is a data dictionary, whose memo file is called `.am`. Default: false.
    pub is_dictionary: bool,
    /// The day that the header names as that of the last change.
    pub last_update: CivilDate,
    /// What becomes of a table that is there. Default: it is replaced. [`Existing::Refuse`] lets one of several that make a table
    /// of one name at once succeed.
    pub existing: Existing,
}

impl CreateOptions {
    /// A FoxPro 2 table (with an FPT file when it has memos) in cp1252.
    pub fn new(last_update: CivilDate) -> Self {
        Self {
            codepage: CodePage::Cp1252,
            format: Dialect::FoxPro2,
            memo: None,
            memo_block_size: None,
            long_names: false,
            is_dictionary: false,
            last_update,
            existing: Existing::Replace,
        }
    }

    /// Refuses to call a DBF as the tables of Advantage are called.
    fn check_extension(&self, table: &Path) -> Result<()> {
        let is_adt = table
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("adt"));
        match is_adt && self.format != Dialect::Adt {
            false => Ok(()),
            true => Err(Error::Misuse(format!(
                "{}: tables of this name are Advantage's own, not {}; call it .dbf",
                table.display(),
                self.format
            ))),
        }
    }

    /// Whether a `.cpg` file names the code page: no byte of an ADT does, and it is otherwise taken for that of Windows.
    fn names_page_beside(&self) -> bool {
        self.format == Dialect::Adt && self.codepage != CodePage::Cp1252
    }

    /// The container of a new table at this path, where it is to have one.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a dialect without containers; as [`NewContainer::new`].
    fn container(&self, table: &Path, fields: &[FieldSpec]) -> Result<Option<NewContainer>> {
        match (self.long_names, self.format) {
            (false, _) => Ok(None),
            (true, Dialect::VisualFoxPro) => NewContainer::new(table, fields, self.codepage).map(Some),
            (true, format) => Err(Error::Misuse(format!(
                "{}: {format} tables have no long names; Visual FoxPro's have",
                table.display()
            ))),
        }
    }
}

/// Writes a new table. Until [`TableWriter::finish`] the header says that there are no records.
#[derive(Debug)]
pub struct TableWriter {
    path: PathBuf,
    file: BufWriter<File>,
    memo: Option<MemoWriter>,
    columns: Vec<Column>,
    codepage: CodePage,
    stride: usize,
    /// Where `_NullFlags` is in the record.
    null_flags: Option<usize>,
    records: u32,
    buffer: Vec<u8>,
    /// What an ADT counts; `None` of others.
    adt: Option<Counters>,
}

/// A field with its place in the record.
#[derive(Debug)]
pub(crate) struct Column {
    name: String,
    letter: char,
    pub(crate) kind: FieldKind,
    pub(crate) width: usize,
    decimals: u8,
    offset: usize,
    flags: u8,
    null_bit: Option<usize>,
    varlength_bit: Option<usize>,
    counts: bool,
    /// The type in an ADT.
    adt_type: Option<AdtType>,
    /// Whether both text and bytes are taken (NOCPTRANS).
    is_untranslated: bool,
}

impl TableWriter {
    /// Creates the table at `path`, its memo file beside it when a field needs one, its database container when it is to have
    /// long names, and a `.cpg` file when no language byte names the code page. A table that is there already is, if the options let it,
    /// overwritten and its memo file, production index and `.cpg`
    /// file are removed, unless somebody has it open. Whoever wants the old one or the new one after a crash makes the new one in
    /// a folder of its own.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a structure that the format does not allow; [`Error::Locked`] for a table that is open;
    /// [`Error::Exists`] for a table that may not be replaced, and where there is no table, but a file that would become one of the new one's
    /// ([`TableSet::files`]), or beside a table without memo fields a memo file; nothing is changed then.
    /// [`Error::NotRegular`], [`Error::Io`].
    pub fn create(path: impl AsRef<Path>, fields: &[FieldSpec], options: &CreateOptions) -> Result<Self> {
        let path = path.as_ref();
        options.check_extension(path)?;
        let container = options.container(path, fields)?;
        let layout = Layout::new(fields, options)?;
        let memo_dialect = memo_dialect(options)?;
        let file = match std::fs::symlink_metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                TableSet::of(path).refuse_existing()?;
                container.as_ref().map_or(Ok(()), NewContainer::refuse_existing)?;
                let file = regular_file::create(path)?;
                open_shared_or_exclusive(&file, path, Sharing::Exclusive, Duration::ZERO)?;
                file
            }
            _ if options.existing == Existing::Refuse => return Err(Error::Exists { path: path.to_owned() }),
            _ => {
                let file = regular_file::open_named_to_write(path)?;
                open_shared_or_exclusive(&file, path, Sharing::Exclusive, Duration::ZERO)?;
                remove_companions(path, layout.has_memos(), container.as_ref())?;
                file
            }
        };
        let memo = if layout.has_memos() {
            let block_size = memo_block_size(options, memo_dialect)?;
            Some(MemoWriter::create(
                &memo_dialect.beside(path),
                memo_dialect,
                block_size,
            )?)
        } else {
            None
        };
        if options.codepage.language_byte().is_none() || options.names_page_beside() {
            let cpg = path.with_extension("cpg");
            let written = regular_file::create(&cpg)?.write_all(options.codepage.name().as_bytes());
            written.map_err(|e| Error::io(&cpg, "write", e))?;
        }
        let mut header = layout.header(options)?;
        if let Some(container) = &container {
            container.write(options)?;
            container.put_backlink(&mut header, options.codepage);
        }
        file.set_len(0).map_err(|e| Error::io(path, "create", e))?;
        let mut file = BufWriter::with_capacity(1 << 18, file);
        file.write_all(&header).map_err(|e| Error::io(path, "write", e))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            memo,
            columns: layout.columns,
            codepage: options.codepage,
            stride: layout.stride,
            null_flags: layout.null_flags,
            records: 0,
            buffer: Vec::new(),
            adt: (options.format == Dialect::Adt).then(Counters::default),
        })
    }

    /// Appends the rows of a batch, whose columns go to the fields in order; rows where `deleted` is true get the
    /// deletion flag. Values are converted as by [`TableEditor::alter`](crate::TableEditor::alter); times finer than
    /// milliseconds are cut.
    ///
    /// # Errors
    /// [`Error::Value`] with record and field for the first value that does not fit; the table is then of no use.
    /// [`Error::Misuse`] when the batch has other columns, one of a type that [`FieldSpec::from_arrow`] knows no field for, or
    /// the flags another length.
    pub fn write(&mut self, batch: &RecordBatch, deleted: Option<&BooleanArray>) -> Result<()> {
        let rows = batch.num_rows();
        if batch.num_columns() != self.columns.len() {
            let (given, wanted) = (batch.num_columns(), self.columns.len());
            return Err(Error::Misuse(format!(
                "{}: {given} columns for {wanted} fields",
                self.path.display()
            )));
        }
        if deleted.is_some_and(|d| d.len() != rows) {
            return Err(Error::Misuse(format!(
                "{}: deletion flags for another number of rows",
                self.path.display()
            )));
        }
        let records = u32::try_from(rows).ok().and_then(|rows| self.records.checked_add(rows));
        let records = records.ok_or_else(|| Error::Misuse("more than 2^32 - 1 records in one table".to_owned()))?;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.resize(rows * self.stride, b' ');
        if let Some(adt) = &mut self.adt {
            adt.begin(self.records, buffer.chunks_exact_mut(self.stride), deleted);
        } else if let Some(deleted) = deleted {
            for (i, record) in buffer.chunks_exact_mut(self.stride).enumerate() {
                if let (true, Some(flag)) = (deleted.is_valid(i) && deleted.value(i), record.first_mut()) {
                    *flag = b'*';
                }
            }
        }
        if let Some(at) = self.null_flags {
            buffer
                .chunks_exact_mut(self.stride)
                .filter_map(|r| r.get_mut(at..))
                .for_each(|flags| flags.fill(0));
        }
        let columns = std::mem::take(&mut self.columns);
        let filled = columns
            .iter()
            .zip(batch.columns())
            .try_for_each(|(column, array)| self.fill(column, array, &mut buffer));
        self.columns = columns;
        filled?;
        self.file
            .write_all(&buffer)
            .map_err(|e| Error::io(&self.path, "write", e))?;
        self.buffer = buffer;
        self.records = records;
        Ok(())
    }

    /// Completes the files, brings them to the disk and returns the number of records.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<u32> {
        if let Some(memo) = self.memo.take() {
            memo.finish()?;
        }
        let io = |e| Error::io(&self.path, "write", e);
        match &self.adt {
            Some(adt) => {
                for (at, number) in adt.written(self.records) {
                    self.file.seek(SeekFrom::Start(at)).map_err(io)?;
                    self.file.write_all(&number).map_err(io)?;
                }
            }
            None => {
                self.file.write_all(&[0x1A]).map_err(io)?;
                self.file.seek(SeekFrom::Start(4)).map_err(io)?;
                self.file.write_all(&self.records.to_le_bytes()).map_err(io)?;
            }
        }
        self.file.flush().map_err(io)?;
        self.file
            .get_ref()
            .sync_all()
            .map_err(|e| Error::io(&self.path, "sync", e))?;
        Ok(self.records)
    }

    /// Writes one column into the records of `buffer`.
    fn fill(&mut self, column: &Column, given: &ArrayRef, buffer: &mut [u8]) -> Result<()> {
        let (format, values) = (self.format(column), ArrayValues::new(&column.name, given)?);
        let (mut scratch, mut memo) = (Vec::new(), self.memo.take());
        let cells = Cells {
            records: buffer,
            stride: self.stride,
            place: column.offset..column.offset + column.width,
        };
        let filled = values.fill(&format, cells, &mut |i, record| {
            let value = values.get(i);
            if value == Value::Null {
                return self.fill_null(column, i, record);
            }
            let cell = record.get_mut(column.offset..column.offset + column.width);
            let cell = cell.unwrap_or_default();
            let bad = |expected| self.bad(column, i, expected, shown(value));
            let converted =
                convert(value, column.kind, column.is_untranslated).map_err(|expected| bad(expected.to_owned()))?;
            let put = match converted.value() {
                Value::Null => return self.fill_null(column, i, record),
                value if column.kind.uses_memo() => put_memo(&format, value, memo.as_mut(), cell, &mut scratch)?,
                value => format.put(value, cell, &mut scratch),
            };
            let len = put.map_err(bad)?;
            if format.varies() && len < column.width {
                self.set_bit(record, column.varlength_bit);
            }
            Ok(())
        });
        self.memo = memo;
        filled?;
        self.look_at_adt(column, &values, buffer)
    }

    /// Lets an ADT count the values of a column that it counts, and refuses those that would be NULL.
    fn look_at_adt(&mut self, column: &Column, values: &ArrayValues<'_>, buffer: &mut [u8]) -> Result<()> {
        let (Some(adt_type), Some(adt)) = (column.adt_type, &mut self.adt) else {
            return Ok(());
        };
        let cells = column.offset..column.offset + column.width;
        if adt_type.is_automatic() {
            for record in buffer.chunks_exact_mut(self.stride) {
                adt.count(adt_type, record.get_mut(cells.clone()).unwrap_or_default());
            }
            return Ok(());
        }
        let Some(null) = adt_type.null_cell() else {
            return Ok(());
        };
        let null = NullTest::of_cell(null, column.offset, column.width);
        for (i, record) in buffer.chunks_exact(self.stride).enumerate() {
            let is_value = |value: Value<'_>| {
                let is_blank = matches!(value, Value::Text(text) if text.trim().is_empty());
                value != Value::Null && !(is_blank || column.kind.uses_memo())
            };
            if null.is_null(record) && is_value(values.get(i)) {
                let expected = format!("another value: this one is NULL in a field of type {adt_type}");
                return Err(self.bad(column, i, expected, shown(values.get(i))));
            }
        }
        Ok(())
    }

    fn format(&self, column: &Column) -> Format {
        Format {
            kind: column.kind,
            width: column.width,
            decimals: column.decimals,
            codepage: self.codepage,
            is_untranslated: column.is_untranslated,
        }
    }

    fn fill_null(&self, column: &Column, i: usize, record: &mut [u8]) -> Result<()> {
        if let Some(adt_type) = column.adt_type {
            let cell = record.get_mut(column.offset..column.offset + column.width);
            // What is never NULL is counted when the column is filled.
            match adt_type.null_cell() {
                Some(null) => null.put(cell.unwrap_or_default()),
                None => cell.unwrap_or_default().fill(0),
            }
            return Ok(());
        }
        let format = self.format(column);
        if format.blank_is_zero() && column.null_bit.is_none() {
            let expected = "a value (this type has no blank; a nullable field of a Visual FoxPro table keeps null)";
            return Err(self.bad(column, i, expected.to_owned(), "null".to_owned()));
        }
        if let Some(cell) = record.get_mut(column.offset..column.offset + column.width) {
            cell.fill(format.blank_byte());
        }
        self.set_bit(record, column.null_bit);
        self.set_bit(record, column.varlength_bit);
        Ok(())
    }

    fn set_bit(&self, record: &mut [u8], bit: Option<usize>) {
        if let (Some(at), Some(bit)) = (self.null_flags, bit)
            && let Some(byte) = record.get_mut(at + bit / 8)
        {
            *byte |= 1 << (bit % 8);
        }
    }

    fn bad(&self, column: &Column, i: usize, expected: String, found: String) -> Error {
        Error::Value(Box::new(BadValue {
            path: self.path.clone(),
            record: self
                .records
                .saturating_add(u32::try_from(i).unwrap_or(u32::MAX))
                .saturating_add(1),
            field: column.name.clone(),
            expected,
            found,
        }))
    }
}

/// Appends a memo and lets the cell point at it, or says what the value would have to be.
fn put_memo(
    format: &Format,
    value: Value<'_>,
    memo: Option<&mut MemoWriter>,
    cell: &mut [u8],
    scratch: &mut Vec<u8>,
) -> Result<Result<usize, String>> {
    scratch.clear();
    if let Err(expected) = format.encode(value, scratch) {
        return Ok(Err(expected));
    }
    cell.fill(format.blank_byte());
    // An empty memo has no block.
    if let Some(memo) = memo.filter(|_| !scratch.is_empty()) {
        match memo.append(scratch, format.kind == FieldKind::Memo)? {
            Ok(place) => place.put(memo.dialect(), cell),
            Err(expected) => return Ok(Err(expected.to_owned())),
        }
    }
    Ok(Ok(cell.len()))
}

/// How many bytes a block of the memo file has.
///
/// # Errors
/// [`Error::Misuse`] for a size that the format does not have.
fn memo_block_size(options: &CreateOptions, dialect: MemoDialect) -> Result<u64> {
    let is_fixed = matches!(dialect, MemoDialect::Dbt3 | MemoDialect::Dbt4 | MemoDialect::Smt)
        || dialect == MemoDialect::Adm && !options.memo_block_size.is_none_or(|size| (8..=32_768).contains(&size));
    match options.memo_block_size {
        None => Ok(block_size(dialect)),
        Some(size) if is_fixed || size == 0 => Err(Error::Misuse(format!(
            "{dialect} files do not have memo blocks of {size} bytes"
        ))),
        Some(size) => Ok(size.into()),
    }
}

/// How the table keeps memos, if it has any.
///
/// # Errors
/// [`Error::Misuse`] for what the format does not have.
pub(crate) fn memo_dialect(options: &CreateOptions) -> Result<MemoDialect> {
    let own = match options.format {
        Dialect::Dbase3 => MemoDialect::Dbt3,
        Dialect::Dbase4 => MemoDialect::Dbt4,
        Dialect::Six => MemoDialect::Smt,
        Dialect::Adt => MemoDialect::Adm,
        _ => MemoDialect::Fpt,
    };
    match (options.memo, options.format) {
        (None, _) => Ok(own),
        (Some(memo @ (MemoDialect::FptSix | MemoDialect::FptFlex)), Dialect::FoxPro2) => Ok(memo),
        (Some(memo), _) if memo == own => Ok(memo),
        (Some(memo), format) => Err(Error::Misuse(format!("{format} tables do not keep memos in {memo}"))),
    }
}

/// The structure of the table: where every field lies.
pub(crate) struct Layout {
    columns: Vec<Column>,
    names: Vec<Vec<u8>>,
    stride: usize,
    null_flags: Option<usize>,
    null_flags_len: usize,
    is_adt: bool,
}

impl Layout {
    pub(crate) fn new(fields: &[FieldSpec], options: &CreateOptions) -> Result<Self> {
        if options.format == Dialect::Adt {
            return Self::of_adt(fields, options);
        }
        let vfp = match options.format {
            Dialect::VisualFoxPro => true,
            Dialect::Dbase3 | Dialect::Dbase4 | Dialect::FoxPro2 | Dialect::Six => false,
            other => return Err(Error::Misuse(format!("tables of {other:?} are read and not written"))),
        };
        let (mut columns, mut names) = (Vec::with_capacity(fields.len()), Vec::with_capacity(fields.len()));
        let (mut offset, mut bits, mut seen) = (1, 0, HashSet::new());
        let given = fields.iter().map(|spec| spec.name.as_str());
        let short: Vec<String> = match options.long_names {
            true => short_names(given, options.codepage),
            false => given.map(str::to_owned).collect(),
        };
        for (spec, short) in fields.iter().zip(&short) {
            let mut name = Vec::new();
            let encoded = options.codepage.encode(short, &mut name);
            if encoded.is_err() || !(1..=10).contains(&name.len()) || !seen.insert(spec.name.to_uppercase()) {
                let name = &spec.name;
                return Err(Error::Misuse(format!(
                    "field {name:?}: field names have 1 to 10 bytes and must be unique"
                )));
            }
            names.push(name);
            let mut column = Column::new(spec, options.format)?;
            column.offset = offset;
            offset += column.width;
            let mut bit = |wanted: bool| {
                bits += usize::from(wanted);
                wanted.then(|| bits - 1)
            };
            // As Harbour does, every format has bits for the lengths; only Visual FoxPro has bits for NULL.
            column.varlength_bit = bit(matches!(column.kind, FieldKind::Varchar | FieldKind::Varbinary));
            column.null_bit = bit(vfp && spec.nullable);
            columns.push(column);
        }
        let null_flags_len = bits.div_ceil(8);
        let null_flags = (bits > 0).then_some(offset);
        let stride = offset + null_flags_len;
        if columns.is_empty() || stride > usize::from(u16::MAX) || columns.len() > 2046 {
            let fields = columns.len();
            return Err(Error::Misuse(format!(
                "{fields} columns of {stride} bytes a record: a table has 1 to 2046 columns of at most 65535 bytes; leave some out, or make long texts memos"
            )));
        }
        Ok(Self {
            columns,
            names,
            stride,
            null_flags,
            null_flags_len,
            is_adt: false,
        })
    }

    fn of_adt(fields: &[FieldSpec], options: &CreateOptions) -> Result<Self> {
        let names = adt::layout::names(fields, options.codepage)?;
        let mut columns = Vec::with_capacity(fields.len());
        let mut offset = adt::RECORD_PROLOGUE;
        for spec in fields {
            let column = Column::of_adt(spec, adt::layout::field_of(spec)?, offset);
            offset += column.width;
            columns.push(column);
        }
        adt::layout::check_len(columns.len(), offset)?;
        Ok(Self {
            columns,
            names,
            stride: offset,
            null_flags: None,
            null_flags_len: 0,
            is_adt: true,
        })
    }

    pub(crate) fn has_memos(&self) -> bool {
        self.columns.iter().any(|c| c.kind.uses_memo())
    }

    pub(crate) fn header(&self, options: &CreateOptions) -> Result<Vec<u8>> {
        if self.is_adt {
            let columns = self.columns.iter().zip(&self.names);
            let fields = columns.map(|(column, name)| NewField {
                name,
                adt_type: column.adt_type.unwrap_or(AdtType::Character),
                offset: column.offset,
                width: column.width,
                decimals: column.decimals,
            });
            return Ok(adt::layout::header(fields, options.is_dictionary));
        }
        let vfp = options.format == Dialect::VisualFoxPro;
        let varies = |c: &Column| matches!(c.letter, 'V' | 'Q' | 'W');
        let version = match (options.format, self.has_memos()) {
            (Dialect::VisualFoxPro, _) => {
                if self.columns.iter().any(varies) {
                    0x32
                } else if self.columns.iter().any(|column| column.counts) {
                    0x31
                } else {
                    0x30
                }
            }
            (_, false) => 0x03,
            (Dialect::Dbase3, true) => 0x83,
            (Dialect::Dbase4, true) => 0x8B,
            (Dialect::Six, true) => 0xE5,
            (_, true) => 0xF5,
        };
        let fields = self.columns.len() + usize::from(self.null_flags.is_some());
        let length = 32 + 32 * fields + 1 + if vfp { 263 } else { 0 };
        let too_long = || {
            Error::Misuse(format!(
                "{fields} columns: the header would have {length} bytes, 65535 are the most; leave some out"
            ))
        };
        let date = options.last_update;
        let year = u8::try_from(date.year.saturating_sub(1900)).unwrap_or_default();
        let mut header = vec![version, year, date.month, date.day];
        header.extend(0u32.to_le_bytes());
        header.extend(u16::try_from(length).map_err(|_| too_long())?.to_le_bytes());
        header.extend(u16::try_from(self.stride).map_err(|_| too_long())?.to_le_bytes());
        header.resize(32, 0);
        header[28] = if vfp && self.has_memos() { 2 } else { 0 };
        header[29] = options.codepage.language_byte().unwrap_or_default();
        for (column, name) in self.columns.iter().zip(&self.names) {
            header.extend(column.descriptor(name, if vfp { column.offset } else { 0 })?);
        }
        if let (Some(at), Ok(len)) = (self.null_flags, u8::try_from(self.null_flags_len)) {
            header.extend(descriptor(NULL_FLAGS, '0', at, len, 0, 5));
        }
        header.push(0x0D);
        header.resize(length, 0);
        Ok(header)
    }
}

/// The name of the field with the bits.
pub(crate) const NULL_FLAGS: &[u8] = b"_NullFlags";

pub(crate) fn descriptor(name: &[u8], letter: char, offset: usize, width: u8, decimals: u8, flags: u8) -> [u8; 32] {
    let mut out = [0; 32];
    out.iter_mut().zip(name).for_each(|(slot, byte)| *slot = *byte);
    out[11] = u8::try_from(letter).unwrap_or(b'?');
    out[12..16].copy_from_slice(&u32::try_from(offset).unwrap_or_default().to_le_bytes());
    (out[16], out[17], out[18]) = (width, decimals, flags);
    out
}

impl Column {
    /// The descriptor of 32 bytes, with a displacement where the format has one.
    pub(crate) fn descriptor(&self, name: &[u8], displacement: usize) -> Result<[u8; 32]> {
        let width = u16::try_from(self.width).map_err(|_| {
            let (name, width) = (&self.name, self.width);
            Error::Misuse(format!("field {name}: {width} bytes, 65535 are the most"))
        })?;
        let [low, high] = width.to_le_bytes();
        // Clipper keeps the upper byte of a long width where the decimals are.
        let decimals = if self.letter == 'C' { high } else { self.decimals };
        let mut described = descriptor(name, self.letter, displacement, low, decimals, self.flags);
        if self.counts {
            // The first value and the step.
            (described[19], described[23]) = (1, 1);
        }
        Ok(described)
    }

    /// # Errors
    /// [`Error::Misuse`] for what the format does not have.
    pub(crate) fn new(spec: &FieldSpec, format: Dialect) -> Result<Self> {
        let vfp = format == Dialect::VisualFoxPro;
        let memo_width = if vfp { 4 } else { 10 };
        let binary = spec.binary && (vfp || (spec.letter == 'M' && !spec.is_text));
        let refuse = |why: &str| Err(spec.refused(why));
        let (letter, kind, width) = match spec.letter {
            'C' if binary => ('C', FieldKind::CharacterBinary, spec.width),
            'C' => ('C', FieldKind::Character, spec.width),
            'V' if vfp && binary => ('V', FieldKind::Varbinary, spec.width),
            'V' if vfp => ('V', FieldKind::Varchar, spec.width),
            // Only Visual FoxPro has text of a varying length within the record.
            'V' => ('C', FieldKind::Character, spec.width),
            'Q' => ('Q', FieldKind::Varbinary, spec.width),
            'N' => ('N', FieldKind::Numeric, spec.width),
            'F' => ('F', FieldKind::Float, spec.width),
            'L' => ('L', FieldKind::Logical, 1),
            'D' => ('D', FieldKind::Date, 8),
            'I' | '+' if spec.autoincrement && !vfp => ('+', FieldKind::Integer, spec.width),
            'I' | '+' | '^' => ('I', FieldKind::Integer, spec.width),
            'B' | 'O' => ('B', FieldKind::Double, 8),
            'Y' => ('Y', FieldKind::Currency, 8),
            'T' if spec.width == 4 => ('T', FieldKind::Time, 4),
            '=' if !vfp => ('=', FieldKind::Timestamp, 8),
            'T' | '@' | '=' => (if vfp { 'T' } else { '@' }, FieldKind::Timestamp, 8),
            'M' if binary => (if vfp { 'M' } else { 'P' }, FieldKind::MemoBinary, memo_width),
            'M' => ('M', FieldKind::Memo, memo_width),
            letter @ ('G' | 'P' | 'W') if format != Dialect::Dbase3 => (letter, FieldKind::MemoBinary, memo_width),
            'G' | 'P' | 'W' => return refuse("memos of dBASE III hold text only; take another format"),
            letter => return refuse(&format!("{format} tables have no such type as {letter:?}")),
        };
        match kind {
            FieldKind::Character if vfp && width > 254 => return Err(spec.text_refused("at most 254")),
            FieldKind::Character | FieldKind::CharacterBinary if width == 0 => return refuse("at least 1 byte"),
            FieldKind::Varchar | FieldKind::Varbinary if !(1..=254).contains(&width) => {
                return Err(spec.text_refused("1 to 254"));
            }
            _ if spec.autoincrement && kind != FieldKind::Integer => {
                return refuse("only whole numbers are counted on");
            }
            FieldKind::Integer if spec.autoincrement && width != 4 => return refuse("a counter has 4 bytes"),
            FieldKind::Integer if !matches!(width, 1..=4 | 8) => {
                return refuse("whole numbers of 1, 2, 3, 4 or 8 bytes");
            }
            FieldKind::Numeric | FieldKind::Float
                if !(1..=255).contains(&width) || (spec.decimals > 0 && u16::from(spec.decimals) >= width) =>
            {
                return Err(spec.number_refused("a field has 1 to 255"));
            }
            _ => {}
        }
        let stored = matches!(
            kind,
            FieldKind::CharacterBinary | FieldKind::MemoBinary | FieldKind::Integer | FieldKind::Double
        ) || matches!(
            kind,
            FieldKind::Currency | FieldKind::Timestamp | FieldKind::Time | FieldKind::Varbinary
        );
        let decimals = match kind {
            FieldKind::Numeric | FieldKind::Float | FieldKind::Integer => spec.decimals,
            FieldKind::Currency => 4,
            _ => 0,
        };
        let column = Self {
            name: spec.name.clone(),
            letter,
            kind,
            width: usize::from(width),
            decimals,
            offset: 0,
            flags: if vfp {
                u8::from(spec.autoincrement) * 8 + u8::from(stored) * 4 + u8::from(spec.nullable) * 2
            } else {
                0
            },
            null_bit: None,
            varlength_bit: None,
            counts: spec.autoincrement,
            adt_type: None,
            is_untranslated: binary && matches!(letter, 'C' | 'M' | 'V'),
        };
        Ok(column)
    }

    fn of_adt(spec: &FieldSpec, field: InAdt, offset: usize) -> Self {
        let adt_type = field.adt_type;
        Self {
            name: spec.name.clone(),
            letter: adt_type.letter(),
            kind: adt_type.kind(),
            width: usize::from(field.width),
            decimals: field.decimals,
            offset,
            flags: 0,
            null_bit: None,
            varlength_bit: None,
            counts: adt_type == AdtType::AutoIncrement,
            adt_type: Some(adt_type),
            is_untranslated: false,
        }
    }
}

/// Removes what belongs to a table that is written over.
///
/// # Errors
/// [`Error::Exists`] for a memo file or a container that is not the old table's where the new one needs one: nothing is removed then;
/// [`Error::Io`].
fn remove_companions(table: &Path, needs_memo: bool, container: Option<&NewContainer>) -> Result<()> {
    let lenient = OpenOptions::new().recover(true).codepage(CodePage::Cp437);
    let old = Table::open(table, &lenient);
    let had_memos = old.is_ok_and(|old| old.fields().iter().any(|field| field.kind.uses_memo()));
    let is_memo = |path: &Path| {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        ["fpt", "dbt", "smt", "adm"].iter().any(|memo| extension == *memo)
    };
    let files = TableSet::of(table).files()?;
    let (memos, others): (Vec<_>, Vec<_>) = files
        .into_iter()
        .filter(|path| path.file_name() != table.file_name())
        .partition(|path| is_memo(path));
    if let (true, false, Some(path)) = (needs_memo, had_memos, memos.first()) {
        return Err(Error::Exists { path: path.clone() });
    }
    if let Some(container) = container {
        container.refuse_strangers(&others)?;
    }
    let memos = memos.into_iter().filter(|_| had_memos);
    others
        .into_iter()
        .chain(memos)
        .try_for_each(|path| std::fs::remove_file(&path).map_err(|e| Error::io(&path, "remove", e)))
}
