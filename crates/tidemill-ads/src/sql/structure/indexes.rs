//! The indexes of tables: those that keys are kept by, and those that statements make and drop.

use sqlparser::ast::Ident;
use tidemill_xbase::full_text::FullTextOptions;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{Dialect, Field, FieldKind, TableEditor};

use crate::IndexOptions;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::statement::{CreateIndex, CreateTable, Definition, IndexColumn, IndexInFile, TableName};
use crate::sql::tables::Tables;

pub(super) fn create_keys(table: &CreateTable, tables: &mut dyn Tables) -> Result<()> {
    if let Some(primary_key) = &table.primary_key {
        create_primary_key(&table.name, primary_key, tables)?;
    }
    for (number, (index, columns)) in (1..).zip(&table.unique) {
        // The names of orders have 10 bytes.
        let own = format!("UQ{number}_{}", columns.first().map_or("", |column| &column.name.value));
        let own: String = own.chars().filter(char::is_ascii).take(10).collect();
        create_index(
            &CreateIndex {
                name: index.clone().unwrap_or_else(|| Ident::new(own)),
                table: table.name.clone(),
                columns: columns.clone(),
                is_unique: true,
                is_candidate: true,
                is_without_deleted: false,
                is_without_null: true,
                words: None,
                file: None,
            },
            tables,
        )?;
    }
    Ok(())
}

fn create_primary_key(
    name: &TableName,
    (index, columns): &(Option<Ident>, Vec<IndexColumn>),
    tables: &mut dyn Tables,
) -> Result<()> {
    // The names of orders have 10 bytes.
    let own: String = format!("PK_{}", name.last())
        .chars()
        .filter(char::is_ascii)
        .take(10)
        .collect();
    let dialect = tables.snapshot_without_orders(name)?.table().header().dialect;
    let is_candidate = dialect.has_candidate_indexes();
    // As ADS names that of an ADT.
    let own = if dialect == Dialect::Adt {
        "PRIMARYKEY".to_owned()
    } else {
        own
    };
    create_index(
        &CreateIndex {
            name: index.clone().unwrap_or_else(|| Ident::new(own)),
            table: name.clone(),
            columns: columns.clone(),
            is_unique: true,
            is_candidate,
            is_without_deleted: false,
            is_without_null: false,
            words: None,
            file: None,
        },
        tables,
    )
}

/// Adds an order to the production index of a table, or to the index file that is named.
///
/// # Errors
/// [`Kind::NoColumn`], and [`Kind::Unsupported`] for a candidate index of a table that has none.
pub(in crate::sql) fn create_index(index: &CreateIndex, tables: &mut dyn Tables) -> Result<()> {
    if let Some(file) = &index.file {
        return create_index_in(file, index, tables);
    }
    let is_standard = tables.makes_standard_tables();
    if tables.is_made_in_transaction(&index.table) {
        return tables.exclusively(&index.table, &mut |table| add_order(index, is_standard, table));
    }
    let made = add_order(index, is_standard, tables.editor(&index.table)?);
    tables.changed(&index.table);
    made?;
    tables.note_orders(&index.table)
}

fn create_index_in(file: &str, index: &CreateIndex, tables: &mut dyn Tables) -> Result<()> {
    let snapshot = tables.snapshot_without_orders(&index.table)?;
    let (fields, dialect) = (snapshot.table().fields().to_vec(), snapshot.table().header().dialect);
    drop(snapshot);
    let is_adt = dialect == Dialect::Adt;
    let expression = match (&index.words, is_adt) {
        (Some(options), _) => column_of_words(index, options, &fields)?.name.clone(),
        (None, true) => key_of_adt(&index.columns, &fields)?,
        (None, false) => key(&index.columns, &fields)?,
    };
    let condition = match index.is_without_deleted && !is_adt {
        true => "!DELETED()",
        false => "",
    };
    tables.define(&Definition::IndexInFile(IndexInFile {
        table: index.table.to_string(),
        file: file.to_owned(),
        name: index.name.value.to_uppercase(),
        expression,
        condition: condition.to_owned(),
        options: IndexOptions {
            is_unique: index.is_unique && !index.is_candidate,
            is_candidate: index.is_candidate,
            is_descending: is_descending(index),
            is_custom: false,
        },
        words: index.words.as_deref().cloned(),
        may_be_free: false,
    }))
}

fn is_descending(index: &CreateIndex) -> bool {
    index.columns.first().is_some_and(|column| column.is_descending)
}

/// An order of a table. In a standard one UNIQUE is what it is in SQL: no two rows have the same values, and NULL is unlike NULL.
fn add_order(index: &CreateIndex, is_standard: bool, table: &mut TableEditor) -> Result<()> {
    if let Some(options) = &index.words {
        return add_words(index, options, table);
    }
    let is_descending = is_descending(index);
    if index.is_candidate {
        allow_candidates(table)?;
    }
    let dialect = table.header().dialect;
    let is_adt = dialect == Dialect::Adt;
    let is_unique = is_standard && index.is_unique && !index.is_candidate && dialect.has_candidate_indexes();
    let expression = match is_adt {
        true => key_of_adt(&index.columns, table.fields())?,
        false => key(&index.columns, table.fields())?,
    };
    // An ADI knows no other kind of unique one.
    let is_candidate = index.is_candidate || is_unique || index.is_unique && is_adt;
    let mut spec = OrderSpec::new(index.name.value.to_uppercase(), expression)
        .unique(index.is_unique && !is_candidate)
        .candidate(is_candidate)
        .descending(is_descending);
    let mut conditions = Vec::new();
    if index.is_without_deleted && !is_adt {
        conditions.push("!DELETED()".to_owned());
    }
    if (index.is_without_null || is_unique) && !is_adt {
        let columns = index.columns.iter().filter_map(|column| {
            let place = Field::find(table.fields(), &column.name.value)?;
            table.fields().get(place).filter(|field| field.nullable)
        });
        conditions.extend(columns.map(|field| format!("!ISNULL({})", field.name)));
    }
    if !conditions.is_empty() {
        spec = spec.condition(conditions.join(".AND."));
    }
    let created = table.create_order(&spec).map_err(crate::Error::from);
    Ok(created.map_err(crate::Error::of_making)?)
}

/// Adds an index of the words of a column ("Full Text Search Index Options").
fn add_words(index: &CreateIndex, options: &FullTextOptions, table: &mut TableEditor) -> Result<()> {
    let field = column_of_words(index, options, table.fields())?;
    let spec = OrderSpec::new(index.name.value.to_uppercase(), field.name.as_str()).full_text(options.clone());
    let created = table.create_order(&spec).map_err(crate::Error::from);
    Ok(created.map_err(crate::Error::of_making)?)
}

/// The field whose words an index has.
fn column_of_words<'f>(index: &CreateIndex, options: &FullTextOptions, fields: &'f [Field]) -> Result<&'f Field> {
    let [column] = index.columns.as_slice() else {
        let why = "A full text index has one column (CONTENT)";
        return Err(Error::new(Kind::Unsupported, why));
    };
    let is_plain = !index.is_unique && !index.is_candidate && !index.is_without_deleted && !column.is_descending;
    if !is_plain {
        let why = "A full text index (CONTENT) is neither UNIQUE, CANDIDATE, NOTDELETED nor DESC";
        return Err(Error::new(Kind::Unsupported, why));
    }
    if options.min_word > options.max_word || options.max_word == 0 {
        let why = format!(
            "MIN WORD {} and MAX WORD {} leave no words",
            options.min_word, options.max_word
        );
        return Err(Error::new(Kind::Value, why));
    }
    let mut known = fields.iter();
    let found = known.find(|field| field.name.eq_ignore_ascii_case(&column.name.value));
    found.ok_or_else(|| no_field(column, fields))
}

/// Refuses candidate indexes of tables that have none.
///
/// # Errors
/// [`Kind::Unsupported`].
pub(in crate::sql) fn allow_candidates(table: &TableEditor) -> Result<()> {
    let dialect = table.header().dialect;
    if dialect.has_candidate_indexes() || dialect == Dialect::Adt {
        return Ok(());
    }
    let why = format!("Tables of {dialect} have no candidate indexes");
    Err(Error::new(Kind::Unsupported, why))
}

/// Takes an order out of its index.
///
/// # Errors
/// What the table says.
pub(in crate::sql) fn drop_index(table: &TableName, index: &Ident, tables: &mut dyn Tables) -> Result<()> {
    tables.may_drop_order(table, &index.value)?;
    let dropped = tables.editor(table)?.drop_order(&index.value);
    tables.changed(table);
    dropped?;
    tables.note_orders(table)
}

pub(super) fn no_field(column: &IndexColumn, fields: &[Field]) -> Error {
    let fields = fields.iter().map(|field| field.name.clone());
    Error::no_column(&column.name.value, fields).at(column.name.span.start)
}

/// The key expression of columns: the column itself, or texts of several one after the other. What runs against the first column is
/// written as DESCEND( … ).
fn key(columns: &[IndexColumn], fields: &[Field]) -> Result<String> {
    let found = columns.iter().map(|column| {
        let field = Field::find(fields, &column.name.value).and_then(|place| fields.get(place));
        field.ok_or_else(|| no_field(column, fields))
    });
    let found = found.collect::<Result<Vec<_>>>()?;
    if let [only] = found.as_slice() {
        return Ok(only.name.clone());
    }
    let is_descending = columns.first().is_some_and(|column| column.is_descending);
    let parts = found.iter().zip(columns).map(|(field, column)| {
        let name = &field.name;
        let part = match field.kind {
            FieldKind::Character => Ok(name.clone()),
            FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => Ok(format!("DTOS({name})")),
            FieldKind::Numeric | FieldKind::Float => Ok(format!("STR({name},{},{})", field.width, field.decimals)),
            FieldKind::Integer => Ok(format!("STR({name},11,{})", field.decimals)),
            _ => {
                let why = format!("Column {name} cannot be a part of a key of several columns");
                Err(Error::new(Kind::Unsupported, why))
            }
        }?;
        Ok(match column.is_descending == is_descending {
            true => part,
            false => format!("DESCEND({part})"),
        })
    });
    Ok(parts.collect::<Result<Vec<_>>>()?.join("+"))
}

/// The key expression of columns of an ADT: their names with semicolons between them. What runs against the first column is written
/// as DESCEND( … ).
fn key_of_adt(columns: &[IndexColumn], fields: &[Field]) -> Result<String> {
    let is_descending = columns.first().is_some_and(|column| column.is_descending);
    let names = columns.iter().map(|column| {
        let Some(field) = Field::find(fields, &column.name.value).and_then(|place| fields.get(place)) else {
            return Err(no_field(column, fields));
        };
        match column.is_descending == is_descending {
            true => Ok(field.name.clone()),
            false => Ok(format!("DESCEND({})", field.name)),
        }
    });
    Ok(names.collect::<Result<Vec<_>>>()?.join(";"))
}
