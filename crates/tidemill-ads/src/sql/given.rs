//! Tables in memory that a script is given: `__old`, `__new` and `__error` of a trigger, `__input` and `__output` of a procedure.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use tidemill_xbase::expression::Environment;
use tidemill_xbase::{
    AdtType, CodePage, ColumnCache, Columns, CreateOptions, Dialect, EditOptions, Field, FieldKind, FieldSpec,
    OpenOptions, Sharing, TableEditor, Value as Stored,
};

use super::answer::Rows;
use super::bind::Parameters;
use super::change::{all_of, rows_of};
use super::error::Result;
use super::prepared::Facts;
use super::script::{Given, Row};
use super::select::Query;
use super::statement::TableName;
use super::tables::{Snapshot, Tables, reading};
use super::value::Value;
use super::{StatementOptions, script};
use crate::settings::today;
use crate::{Connection, ErrorCode, Settings};

/// Tables in memory by their names, in small letters.
#[derive(Debug, Default)]
pub(crate) struct GivenTables(BTreeMap<String, TableEditor>);

impl GivenTables {
    /// Gives a table with the fields of another and one record, whose bytes are in the layout of the other one. Memos are those that
    /// are given, and else those that the record has.
    ///
    /// # Errors
    /// When the other table has fields that are not where they are in a new one; when a memo cannot be read.
    pub(crate) fn give(
        &mut self,
        name: &str,
        other: &TableEditor,
        (record, bytes): (u32, &[u8]),
        memos: &[(usize, Option<Vec<u8>>)],
        with_memos: bool,
    ) -> crate::Result<()> {
        let mut table = like(name, other)?;
        table.append()?;
        let mut values: Vec<(usize, bool, Vec<u8>)> = Vec::new();
        for (place, field) in other.fields().iter().enumerate() {
            if !with_memos || !field.kind.uses_memo() {
                continue;
            }
            let value = match memos.iter().find(|(changed, _)| *changed == place) {
                Some((_, value)) => value.clone(),
                None => Some(other.memo_bytes(record, bytes, place)?).filter(|value| !value.is_empty()),
            };
            let is_text = matches!(field.kind, FieldKind::Memo | FieldKind::MemoWide);
            values.extend(value.map(|value| (place, is_text, value)));
        }
        let values: Vec<(usize, Stored<'_>)> = values
            .iter()
            .map(|(place, is_text, value)| match is_text {
                true => (*place, Stored::Encoded(value)),
                false => (*place, Stored::Bytes(value)),
            })
            .collect();
        table.replace_bytes(1, bytes, &values)?;
        self.put(name, table);
        Ok(())
    }

    /// Empties the fields of a table that its table gives values itself, so that a record of it can be appended there.
    ///
    /// # Errors
    /// As [`TableEditor::replace`].
    pub(crate) fn empty_counters(&mut self, name: &str, other: &TableEditor) -> crate::Result<()> {
        let given =
            other.fields().iter().enumerate().filter(|(_, field)| {
                field.autoincrement.is_some() || field.adt_type.is_some_and(AdtType::is_automatic)
            });
        let nothing: Vec<(usize, Stored<'_>)> = given.map(|(place, _)| (place, Stored::Null)).collect();
        match self.0.get_mut(name) {
            Some(table) if other.header().dialect == Dialect::Adt => Ok(table.replace(1, &nothing)?),
            _ => Ok(()),
        }
    }

    /// Gives a table without records.
    ///
    /// # Errors
    /// As [`TableEditor::in_memory`].
    pub(crate) fn make(&mut self, name: &str, fields: &[FieldSpec]) -> crate::Result<()> {
        let table = in_memory(name, fields, Dialect::Adt, CodePage::Cp1252)?;
        self.put(name, table);
        Ok(())
    }

    pub(crate) fn put(&mut self, name: &str, table: TableEditor) {
        self.0.insert(name.to_owned(), table);
    }

    /// The table of a name, in any case.
    pub(super) fn get(&mut self, name: &TableName) -> Option<&mut TableEditor> {
        match name.parts.as_slice() {
            [only] if only.starts_with("__") => self.0.get_mut(&only.to_ascii_lowercase()),
            _ => None,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}

/// A table in memory with the fields of another, but for what the other gives itself: those are numbers and moments here.
pub(crate) fn like(name: &str, other: &TableEditor) -> crate::Result<TableEditor> {
    let fields: Vec<FieldSpec> = other.fields().iter().map(spec_of).collect();
    let table = in_memory(name, &fields, other.header().dialect, other.opened().codepage())?;
    let are_alike = |own: &Field, other: &Field| (own.offset, own.width) == (other.offset, other.width);
    let mut both = table.fields().iter().zip(other.fields());
    if table.header().record_len == other.header().record_len && both.all(|(own, other)| are_alike(own, other)) {
        return Ok(table);
    }
    let what = format!(
        "{}: its fields overlap or leave gaps, so a trigger cannot be given its records",
        other.path().display()
    );
    Err(crate::Error::new(ErrorCode::TriggerFailed, what))
}

fn in_memory(name: &str, fields: &[FieldSpec], dialect: Dialect, codepage: CodePage) -> crate::Result<TableEditor> {
    let mut create = CreateOptions::new(today());
    (create.format, create.codepage) = (dialect, codepage);
    let (fields, names) = names_in_file(fields, dialect);
    let open = OpenOptions::new().codepage(codepage).field_names(names);
    let edit = EditOptions::new(today()).open(open);
    Ok(TableEditor::in_memory(name, &fields, &create, &edit)?)
}

/// Fields under names that a DBF takes, and the names that they have.
fn names_in_file(fields: &[FieldSpec], dialect: Dialect) -> (Cow<'_, [FieldSpec]>, Option<Arc<[String]>>) {
    let is_short = |name: &str| name.len() <= 10 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if dialect == Dialect::Adt || fields.iter().all(|field| is_short(&field.name)) {
        return (Cow::Borrowed(fields), None);
    }
    let numbered = (1..).zip(fields).map(|(number, field)| {
        let mut field = field.clone();
        field.name = format!("F{number}");
        field
    });
    let names = fields.iter().map(|field| field.name.clone()).collect();
    (Cow::Owned(numbered.collect()), Some(names))
}

fn spec_of(field: &Field) -> FieldSpec {
    let width = u16::try_from(field.width).unwrap_or(u16::MAX);
    if let Some(adt_type) = field.adt_type {
        let adt_type = match adt_type {
            AdtType::AutoIncrement => AdtType::Integer,
            AdtType::RowVersion => AdtType::LongInteger,
            AdtType::ModTime => AdtType::Timestamp,
            other => other,
        };
        return FieldSpec::of_adt(&field.name, adt_type, width, field.decimals);
    }
    FieldSpec::new(&field.name, field.letter, width, field.decimals)
        .nullable(field.nullable)
        .binary(field.binary)
}

/// A table that is given, as statements read it.
pub(super) fn snapshot_of(
    table: &mut TableEditor,
    options: &OpenOptions,
    cache: &Arc<ColumnCache>,
) -> Result<Arc<Snapshot>> {
    // Those that a DBF does not take are kept beside it.
    let is_adt = table.header().dialect == Dialect::Adt;
    let names: Option<Arc<[String]>> =
        (!is_adt).then(|| table.fields().iter().map(|field| field.name.clone()).collect());
    let options = options.clone().field_names(names);
    let table = Arc::new(table.table_with(&options)?);
    let environment = Environment::with_all_letters(table.codepage());
    let columns = Columns::new(&table, cache, Sharing::Shared)?;
    Ok(Arc::new(Snapshot::new(columns, false, environment)))
}

/// The rows of a table that is given.
pub(super) fn rows(name: &str, tables: &mut dyn Tables) -> Result<(Vec<String>, Vec<Vec<Value>>)> {
    let rows = answer(name, tables)?;
    let names = rows.columns.iter().map(|column| column.name.clone()).collect();
    Ok((names, rows_of(&rows)?))
}

/// As [`rows`], as an answer.
pub(super) fn answer(name: &str, tables: &mut dyn Tables) -> Result<Rows> {
    let query = Query::bind_any(&all_of(&TableName::new(name))?, tables, &mut Parameters::default())?;
    let facts = Facts::of(tables);
    reading(tables, |tables| query.rows(tables, &facts.session(&[])))
}

/// Runs the script of a trigger over the tables that the connection is given.
///
/// # Errors
/// The first fault that the script does not catch, and what it puts into `__error`.
pub(crate) fn run_trigger(
    text: &str,
    connection: &mut Connection,
    settings: &Settings,
    options: &StatementOptions,
) -> crate::Result<()> {
    let given = &mut connection.statements.given;
    given.remove("__error");
    given.make(
        "__error",
        &[
            FieldSpec::of_adt("errno", AdtType::Integer, 4, 0),
            FieldSpec::of_adt("message", AdtType::Memo, 9, 0),
        ],
    )?;
    let names = ["__old", "__new"].into_iter().filter(|name| given.has(name));
    let names: Vec<&str> = names.collect();
    let mut tables = connection.tables(settings, options);
    let mut around = Given::default();
    for name in names {
        let (columns, values) = rows(name, &mut tables)?;
        let values = values.into_iter().next().unwrap_or_default();
        around.rows.push(Row {
            name: name.to_ascii_uppercase(),
            columns,
            values,
        });
    }
    script::run(text, around, &mut tables)?;
    let (_, errors) = rows("__error", &mut tables)?;
    match errors.into_iter().next() {
        None => Ok(()),
        Some(error) => {
            let part = |at: usize| error.get(at).filter(|part| !part.is_null());
            let number = part(0).map_or_else(String::new, |number| format!("{}: ", number.to_text()));
            let message = part(1).map_or_else(|| "it failed".to_owned(), |text| text.to_text().into_owned());
            let what = format!("{number}{}", message.trim_end());
            Err(crate::Error::new(ErrorCode::TriggerFailed, what))
        }
    }
}
