//! Tables of `system`, with all columns and numbers that the help of ADS gives them. Of those that tell
//! of a data dictionary those have rows whose objects it keeps.

mod definitions;

use definitions::{
    COLUMNS, FULL_TEXT, INDEX_FILES, INDEXES, IOTA, OBJECTS, OF_DICTIONARY, RELATIONS, SYSTEM_PROCEDURES, TABLES, VIEWS,
};
use tidemill_xbase::full_text::{
    DEFAULT_CONDITIONALS, DEFAULT_DELIMITERS, DEFAULT_DROP_CHARS, DEFAULT_NOISE, FullTextOptions,
};
use tidemill_xbase::index::Tag;
use tidemill_xbase::{Dialect, Field, Table, named_expression, production_path};

use super::answer::{ColumnDescription, Rows};
use super::error::Result;
use super::listing::{Listing, number, text};
use super::procedure;
use super::statement::TableName;
use super::tables::Tables;
use super::value::Value;
use crate::{FieldProperty, FieldType, TableProperty};

/// Tables that have rows, with the table that they tell more of.
const FILLED: &[(&str, &str)] = &[
    ("columns", "tables"),
    ("fts", ""),
    ("indexes", "tables"),
    ("indexfiles", "tables"),
    ("iota", ""),
    ("objects", ""),
    ("relations", ""),
    ("systemprocedures", ""),
    ("tables", ""),
    ("views", ""),
];

/// The names of the tables of `system`.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FILLED.iter().chain(OF_DICTIONARY).map(|(name, _)| *name)
}

/// The rows of a table of `system`; `None` when there is none of this name.
///
/// # Errors
/// When a table of the folder cannot be opened.
pub(super) fn rows(name: &str, tables: &mut dyn Tables) -> Result<Option<Rows>> {
    // Those in another character set are the same here.
    let name = match name.strip_prefix("ansi_") {
        Some(name @ ("columns" | "functions" | "storedprocedures" | "tables" | "triggers" | "views")) => name,
        _ => name,
    };
    let listing = match name {
        "iota" => iota(),
        "fts" => of_full_text(),
        "tables" => of_tables(tables)?,
        "columns" => of_columns(tables)?,
        "indexes" => of_indexes(tables)?,
        "indexfiles" => of_index_files(tables)?,
        "views" => of_views(tables),
        "objects" => of_objects(),
        "relations" => of_relations(tables)?,
        "systemprocedures" => of_procedures(),
        other => match OF_DICTIONARY.iter().find(|(name, _)| *name == other) {
            Some((name, definition)) => {
                let mut listing = Listing::new(definition);
                tables
                    .dictionary_rows(name)?
                    .into_iter()
                    .for_each(|row| listing.row(row));
                listing
            }
            None => return Ok(None),
        },
    };
    listing.finish().map(Some)
}

/// One row, for expressions without a table.
fn iota() -> Listing {
    let mut listing = Listing::new(IOTA);
    listing.row([]);
    listing
}

/// One row: what a full text index is made with that says nothing else.
fn of_full_text() -> Listing {
    let mut listing = Listing::new(FULL_TEXT);
    listing.row(
        [
            DEFAULT_DELIMITERS,
            DEFAULT_NOISE,
            DEFAULT_DROP_CHARS,
            DEFAULT_CONDITIONALS,
        ]
        .map(text),
    );
    listing
}

fn of_tables(tables: &mut dyn Tables) -> Result<Listing> {
    let mut listing = Listing::new(TABLES);
    for name in tables.table_names()? {
        let snapshot = tables.snapshot_without_orders(&TableName::new(name.clone()))?;
        let table = snapshot.table();
        let memo = table.memo().map_or(Value::Null, |memo| number(memo.block_size()));
        let (no, null) = (Value::Logical(false), Value::Null);
        let mut rule = |property| tables.table_rule(&name, property);
        let path = match rule(TableProperty::RelativePath) {
            Value::Null => text(file_name(table.path())),
            path => path,
        };
        listing.row([
            text(name.as_str()),
            path,
            number(type_of(table)),
            no.clone(),
            rule(TableProperty::PrimaryKey),
            rule(TableProperty::DefaultIndex),
            no.clone(),
            null,
            memo,
            rule(TableProperty::ValidationExpression),
            rule(TableProperty::ValidationMessage),
            rule(TableProperty::Comment),
            rule(TableProperty::UserDefined),
            Value::Logical(rule(TableProperty::TriggersDisabled) == number(1)),
            match rule(TableProperty::Caching) {
                Value::Null => number(0),
                kept => kept,
            },
            no,
            Value::Logical(rule(TableProperty::WebDelta) == number(1)),
            Value::Logical(rule(TableProperty::ConcurrencyEnabled) == number(1)),
        ]);
    }
    Ok(listing)
}

/// `ADS_NTX`, `ADS_CDX`, `ADS_ADT` and `ADS_VFP` of `ace.h`.
pub(super) fn type_of(table: &Table) -> i64 {
    match table.header().dialect {
        Dialect::VisualFoxPro => 4,
        Dialect::Adt => 3,
        Dialect::FoxPro2 => 2,
        _ => 1,
    }
}

fn of_columns(tables: &mut dyn Tables) -> Result<Listing> {
    /// `ADS_DD_FIELD_OPT_VFP_BINARY` and `ADS_DD_FIELD_OPT_VFP_NULLABLE` of `ace.h`.
    const BINARY: i64 = 1;
    const NULLABLE: i64 = 2;
    let mut listing = Listing::new(COLUMNS);
    for name in tables.table_names()? {
        let snapshot = tables.snapshot_without_orders(&TableName::new(name.clone()))?;
        let table = snapshot.table();
        let is_vfp = table.header().dialect == Dialect::VisualFoxPro;
        for (place, field) in (1_i64..).zip(table.fields()) {
            let column = ColumnDescription::of_field(field.name.clone(), field, table);
            // Unicode text is counted in its units.
            let width = match column.field_type {
                FieldType::NChar => field.width / 2,
                _ => field.width,
            };
            let mut options = 0;
            if is_vfp && is_untranslated(field) {
                options |= BINARY;
            }
            if is_vfp && field.nullable {
                options |= NULLABLE;
            }
            let mut rule = |property| tables.field_rule(&name, &field.name, property);
            listing.row([
                text(column.name),
                text(name.as_str()),
                number(place),
                number(column.field_type as u16),
                number(i64::try_from(width).unwrap_or(i64::MAX)),
                number(column.decimals),
                rule(FieldProperty::Minimum),
                rule(FieldProperty::Maximum),
                Value::Logical((field.nullable || !is_vfp) && rule(FieldProperty::CanBeNull) != number(0)),
                rule(FieldProperty::DefaultValue),
                rule(FieldProperty::ValidationMessage),
                rule(FieldProperty::Comment),
                rule(FieldProperty::UserDefined),
                number(options),
            ]);
        }
    }
    Ok(listing)
}

fn of_relations(tables: &mut dyn Tables) -> Result<Listing> {
    let mut listing = Listing::new(RELATIONS);
    for relation in tables.relations()? {
        listing.row(relation);
    }
    Ok(listing)
}

/// Whether a field of text was made with NOCPTRANS.
pub(super) fn is_untranslated(field: &Field) -> bool {
    field.binary && matches!(field.letter, 'C' | 'M' | 'V')
}

fn of_indexes(tables: &mut dyn Tables) -> Result<Listing> {
    let mut listing = Listing::new(INDEXES);
    for name in tables.table_names()? {
        let snapshot = tables.snapshot(&TableName::new(name.clone()))?;
        let file = production_path(snapshot.table()).ok().flatten();
        let file = file.map_or(Value::Null, |file| text(file_name(&file)));
        let table = snapshot.table();
        let written = |expression: &str| match table.header().dialect {
            Dialect::Adt => named_expression(expression, table.fields()),
            _ => expression.to_owned(),
        };
        for order in snapshot.orders()?.iter().chain(snapshot.word_orders()?) {
            let tag = order.order().tag();
            let words = tag.full_text.as_deref();
            let of_words = |told: &dyn Fn(&FullTextOptions) -> Value| words.map_or(Value::Null, told);
            listing.row([
                text(tag.name.as_str()),
                text(name.as_str()),
                file.clone(),
                text(written(&tag.expression)),
                tag.condition
                    .as_deref()
                    .map_or(Value::Null, |condition| text(written(condition))),
                number(options_of(tag, table)),
                number(i64::try_from(tag.key_len).unwrap_or(i64::MAX)),
                of_words(&|words| number(words.min_word)),
                of_words(&|words| text(words.delimiters.characters(DEFAULT_DELIMITERS))),
                of_words(&|words| text(words.noise.words(DEFAULT_NOISE))),
                of_words(&|words| text(words.drop_chars.characters(DEFAULT_DROP_CHARS))),
                of_words(&|words| text(words.conditionals.characters(DEFAULT_CONDITIONALS))),
            ]);
        }
    }
    Ok(listing)
}

/// `ADS_UNIQUE`, `ADS_COMPOUND`, `ADS_CUSTOM`, `ADS_DESCENDING`, `ADS_CANDIDATE` and those of full text (`ADS_FTS_INDEX` …) of `ace.h`, as
/// far as they hold.
fn options_of(tag: &Tag, table: &Table) -> i64 {
    let is_adt = table.header().dialect == Dialect::Adt;
    let bits = [
        (tag.is_unique || tag.is_candidate && is_adt, 0x1),
        (true, 0x2),
        (tag.is_custom, 0x4),
        (tag.is_descending, 0x8),
        (tag.is_candidate && !is_adt, 0x800),
    ];
    let words = tag.full_text.as_ref().map_or(0, |words| i64::from(words.option_bits()));
    words + bits.iter().filter(|(holds, _)| *holds).map(|(_, bit)| bit).sum::<i64>()
}

fn of_index_files(tables: &mut dyn Tables) -> Result<Listing> {
    /// The size of a page of a CDX file.
    const PAGE: i64 = 512;
    let mut listing = Listing::new(INDEX_FILES);
    for name in tables.table_names()? {
        let snapshot = tables.snapshot_without_orders(&TableName::new(name.clone()))?;
        if let Some(file) = production_path(snapshot.table()).ok().flatten() {
            let whole = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
            listing.row([
                text(file_name(&file)),
                text(name),
                text(whole.to_string_lossy()),
                number(PAGE),
            ]);
        }
    }
    Ok(listing)
}

fn of_views(tables: &mut dyn Tables) -> Listing {
    let mut listing = Listing::new(VIEWS);
    for [name, statement, comment] in tables.views() {
        let comment = if comment.is_empty() { Value::Null } else { text(comment) };
        listing.row([text(name), number(statement.len()), text(statement), comment]);
    }
    listing
}

fn of_objects() -> Listing {
    let mut listing = Listing::new(OBJECTS);
    let others = OF_DICTIONARY.iter().map(|(name, _)| (*name, ""));
    let mut known: Vec<(&str, &str)> = FILLED.iter().copied().chain(others).collect();
    known.sort_unstable();
    for (name, parent) in known {
        let parent = if parent.is_empty() { Value::Null } else { text(parent) };
        listing.row([text(name), parent]);
    }
    listing
}

fn of_procedures() -> Listing {
    let mut listing = Listing::new(SYSTEM_PROCEDURES);
    for (name, input, output) in procedure::known() {
        listing.row([text(name), text(input), text(output)]);
    }
    listing
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name()
        .map(|file| file.to_string_lossy().into_owned())
        .unwrap_or_default()
}
