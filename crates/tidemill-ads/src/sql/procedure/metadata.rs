//! Procedures that clients ask what a database is made of: its keys, indexes and stored procedures.
//!
//! SAP's help has no pages of them. Their arguments are those of the methods of JDBC's `DatabaseMetaData` that have their names, and so are
//! their columns, as far as the clients that are read show ("sp_GetIndexInfo" and its like in FireDAC's `FireDAC.Phys.ADSMeta.pas`, in
//! `AdsConnection` and `AdsCommand` of `Advantage.Data.Provider`, and in SAP's adapter for Active Record). Where these clients say more, they
//! are followed: the first row of `sp_GetIndexInfo` is that of the table, whose index has the name of no letters, and
//! `sp_GetForeignKeyColumns` counts from 0 and has the rules of `System.Data.Rule`.
//!
//! They do not look into a linked dictionary: where a link is the catalogue, there are no rows.

use tidemill_xbase::{Dialect, Field, named_expression};

use super::answers::{Arguments, odbc_type};
use crate::FieldType;
use crate::field_definitions::{fields, type_of_adt};
use crate::sql::answer::ColumnDescription;
use crate::sql::error::Result;
use crate::sql::like::Pattern;
use crate::sql::listing::{Listing, number, text};
use crate::sql::statement::TableName;
use crate::sql::tables::{Snapshot, Tables};
use crate::sql::value::Value;
use crate::{RelationRule, TableProperty, TableType};

/// The catalogue of whatever the database has: `DATABASE()`.
pub(super) fn catalog(tables: &dyn Tables) -> Value {
    text(tables.database())
}

/// `sp_GetPrimaryKeys`: the columns of each primary key, counted from 1.
pub(super) fn primary_keys(listing: &mut Listing, arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<()> {
    for name in tables_asked_for(arguments, tables)? {
        let Some(primary) = primary_key(&name, tables)? else {
            continue;
        };
        for (place, column) in (1_i64..).zip(primary.columns) {
            let table = [catalog(tables), Value::Null, text(name.as_str())];
            listing.row(
                table
                    .into_iter()
                    .chain([text(column), number(place), text(primary.name.as_str())]),
            );
        }
    }
    Ok(())
}

/// `sp_GetIndexInfo`: of each table a row that tells how many records it has, and one for each column of each order. An index of words tells
/// nothing of order, and is not among them.
pub(super) fn indexes(listing: &mut Listing, arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<()> {
    /// `tableIndexStatistic` and `tableIndexOther` of `DatabaseMetaData`.
    const OF_TABLE: i64 = 0;
    const OTHER: i64 = 3;
    let is_unique_wanted = arguments.is_true(3);
    for name in tables_asked_for(arguments, tables)? {
        let snapshot = tables.snapshot(&TableName::new(name.clone()))?;
        let mut row = |is_unique: bool, index: &str, told: [Value; 7]| {
            let table = [catalog(tables), Value::Null, text(name.as_str())];
            let index = [Value::Logical(!is_unique), Value::Null, text(index)];
            listing.row(table.into_iter().chain(index).chain(told));
        };
        let mut told = [const { Value::Null }; 7];
        (told[0], told[4]) = (number(OF_TABLE), number(snapshot.table().record_count()));
        row(true, "", told);
        let mut keys = keys_of(&snapshot)?;
        keys.retain(|key| key.is_unique || !is_unique_wanted);
        keys.sort_by(|one, other| (!one.is_unique, &one.name).cmp(&(!other.is_unique, &other.name)));
        for key in keys {
            let direction = if key.is_descending { "D" } else { "A" };
            let columns = match key.columns.is_empty() {
                true => vec![key.expression],
                false => key.columns,
            };
            for (place, column) in (1_i64..).zip(columns) {
                let told = [
                    number(OTHER),
                    number(place),
                    text(column),
                    text(direction),
                    Value::Null,
                    Value::Null,
                    key.condition.as_deref().map_or(Value::Null, text),
                ];
                row(key.is_unique, &key.name, told);
            }
        }
    }
    Ok(())
}

/// `sp_GetBestRowIdentifier`: the columns of the primary key, or else of the first candidate index, or else the counter, or else the row
/// version (SAP's help has this order at `AdsGetKeyColumn`).
pub(super) fn row_identifiers(listing: &mut Listing, arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<()> {
    /// `bestRowSession` and `bestRowNotPseudo` of `DatabaseMetaData`.
    const WHILE_CONNECTED: i64 = 2;
    const A_COLUMN: i64 = 1;
    for name in tables_asked_for(arguments, tables)? {
        let primary = primary_key(&name, tables)?;
        let snapshot = tables.snapshot(&TableName::new(name))?;
        let table = snapshot.table();
        let of_candidate = || keys_of(&snapshot).map(|keys| keys.into_iter().find(|key| key.is_candidate));
        let key = match primary {
            Some(primary) => Some(primary),
            None => of_candidate()?,
        };
        let given: [fn(&Field) -> bool; 2] = [|field| field.autoincrement.is_some(), |field| field.letter == '^'];
        let given = || {
            given
                .iter()
                .find_map(|is_given| table.fields().iter().find(|field| is_given(field)))
        };
        let fields: Vec<&Field> = match key {
            Some(key) => key
                .columns
                .iter()
                .filter_map(|column| table.fields().iter().find(|field| field.name == *column))
                .collect(),
            None => given().into_iter().collect(),
        };
        for field in fields {
            let column = ColumnDescription::of_field(field.name.clone(), field, table);
            let (code, type_name, is_number) = odbc_type(column.field_type);
            let width = number(i64::try_from(field.width).unwrap_or(i64::MAX));
            listing.row([
                number(WHILE_CONNECTED),
                text(column.name),
                number(code),
                text(type_name),
                width.clone(),
                width,
                if is_number {
                    number(column.decimals)
                } else {
                    Value::Null
                },
                number(A_COLUMN),
            ]);
        }
    }
    Ok(())
}

/// `sp_GetImportedKeys` and `sp_GetForeignKeyColumns`: the columns of the relations whose child a table is. The latter can be asked for a
/// relation by its name, too.
pub(super) fn foreign_keys(
    listing: &mut Listing,
    is_imported: bool,
    arguments: &Arguments<'_>,
    tables: &mut dyn Tables,
) -> Result<()> {
    /// `importedKeyNotDeferrable` of `DatabaseMetaData`.
    const AT_ONCE: i64 = 7;
    let children = tables_asked_for(arguments, tables)?;
    let relations = tables.relations()?.into_iter().map(|relation| {
        let [name, parent, parent_order, child, child_order, on_update, on_delete, ..] = relation;
        let texts = [name, parent, parent_order, child, child_order].map(|value| value.to_text().trim().to_owned());
        (texts, [on_update, on_delete])
    });
    let mut relations: Vec<_> = relations.collect();
    if !is_imported {
        keep_called(&arguments.text(3), &mut relations, |([name, ..], _)| name);
    }
    for ([name, parent, parent_order, child, child_order], rules) in relations {
        if !children.iter().any(|known| known.eq_ignore_ascii_case(&child)) {
            continue;
        }
        let mut columns = |table: &str, order: &str| -> Result<Vec<String>> {
            let key = key_called(table, order, tables)?;
            Ok(key.map(|key| key.columns).unwrap_or_default())
        };
        let (parent_columns, child_columns) = (columns(&parent, &parent_order)?, columns(&child, &child_order)?);
        let pairs = parent_columns.into_iter().zip(child_columns);
        for (place, (parent_column, child_column)) in (0_i64..).zip(pairs) {
            let of_table = |table: &str, column| [catalog(tables), Value::Null, text(table), text(column)];
            let row = of_table(&parent, parent_column)
                .into_iter()
                .chain(of_table(&child, child_column))
                .chain([number(place + i64::from(is_imported))])
                .chain(rules.iter().map(|rule| rule_number(rule, is_imported)))
                .chain([text(child_order.as_str()), text(parent_order.as_str())]);
            let last = match is_imported {
                true => number(AT_ONCE),
                false => text(name.as_str()),
            };
            listing.row(row.chain([last]));
        }
    }
    Ok(())
}

/// `sp_GetProcedures`: the procedures of the dictionary.
pub(super) fn procedures(listing: &mut Listing, arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<()> {
    /// `procedureNoResult` and `procedureReturnsResult` of `DatabaseMetaData`.
    const NO_ROWS: i64 = 1;
    const ROWS: i64 = 2;
    for procedure in procedures_asked_for(arguments, tables)? {
        let kind = match procedure.output.trim().is_empty() {
            true => NO_ROWS,
            false => ROWS,
        };
        let null = Value::Null;
        listing.row([
            catalog(tables),
            null.clone(),
            text(procedure.name),
            null.clone(),
            null.clone(),
            null,
            procedure.comment,
            number(kind),
        ]);
    }
    Ok(())
}

/// `sp_GetProcedureColumns`: what the procedures of the dictionary take, and the columns of what they give.
pub(super) fn procedure_columns(
    listing: &mut Listing,
    arguments: &Arguments<'_>,
    tables: &mut dyn Tables,
) -> Result<()> {
    /// `procedureColumnIn` and `procedureColumnResult`, and `procedureNullable` of `DatabaseMetaData`.
    const TAKEN: i64 = 1;
    const GIVEN: i64 = 3;
    const CAN_BE_NULL: i64 = 1;
    for procedure in procedures_asked_for(arguments, tables)? {
        let taken = procedure.input.split(';').map(|definition| (definition, TAKEN));
        let given = procedure.output.split(';').map(|definition| (definition, GIVEN));
        let mut columns: Vec<_> = taken
            .chain(given)
            .filter_map(|(definition, kind)| Some((Parameter::read(definition)?, kind)))
            .collect();
        keep_called(&arguments.text(3), &mut columns, |(parameter, _)| &parameter.name);
        for (parameter, kind) in columns {
            let (code, type_name, is_number) = odbc_type(parameter.field_type);
            let of_number = |told: Value| if is_number { told } else { Value::Null };
            listing.row([
                catalog(tables),
                Value::Null,
                text(procedure.name.as_str()),
                text(parameter.name),
                number(kind),
                number(code),
                text(type_name),
                number(parameter.width),
                number(parameter.width),
                of_number(number(parameter.decimals)),
                of_number(number(10)),
                number(CAN_BE_NULL),
            ]);
        }
    }
    Ok(())
}

/// An order, as clients see it.
struct Key {
    name: String,
    /// The fields that its expression names, in their order.
    columns: Vec<String>,
    expression: String,
    condition: Option<String>,
    is_unique: bool,
    is_candidate: bool,
    is_descending: bool,
}

/// The orders of a table.
fn keys_of(snapshot: &Snapshot) -> Result<Vec<Key>> {
    let table = snapshot.table();
    let written = |expression: &str| match table.header().dialect {
        Dialect::Adt => named_expression(expression, table.fields()),
        _ => expression.to_owned(),
    };
    let keys = snapshot.orders()?.iter().map(|order| {
        let tag = order.order().tag();
        let mut columns: Vec<String> = Vec::new();
        for place in order.keys().parts().into_iter().flat_map(|(fields, _)| fields) {
            match table.fields().get(place) {
                Some(field) if !columns.contains(&field.name) => columns.push(field.name.clone()),
                _ => {}
            }
        }
        Key {
            name: tag.name.clone(),
            columns,
            expression: written(&tag.expression),
            condition: tag.condition.as_deref().map(written),
            is_unique: tag.is_unique || tag.is_candidate,
            is_candidate: tag.is_candidate,
            is_descending: tag.is_descending,
        }
    });
    Ok(keys.collect())
}

/// An order of a table by its name, in any case.
fn key_called(table: &str, order: &str, tables: &mut dyn Tables) -> Result<Option<Key>> {
    let snapshot = tables.snapshot(&TableName::new(table))?;
    let keys = keys_of(&snapshot)?.into_iter();
    Ok(keys.into_iter().find(|key| key.name.eq_ignore_ascii_case(order)))
}

/// What a dictionary says is the primary key of a table. No other table has one.
fn primary_key(table: &str, tables: &mut dyn Tables) -> Result<Option<Key>> {
    match tables.table_rule(table, TableProperty::PrimaryKey) {
        Value::Null => Ok(None),
        name => key_called(table, name.to_text().trim(), tables),
    }
}

/// The number of a relation's rule: as `System.Data.Rule` has it, or as `DatabaseMetaData` for imported keys.
fn rule_number(rule: &Value, is_imported: bool) -> Value {
    let rule = rule.to_i64().and_then(|rule| u32::try_from(rule).ok());
    let Some(rule) = rule.and_then(RelationRule::from_number) else {
        return Value::Null;
    };
    let (in_data, imported) = match rule {
        RelationRule::Cascade => (1, 0),
        RelationRule::Restrict => (0, 3),
        RelationRule::SetNull => (2, 2),
        RelationRule::SetDefault => (3, 4),
    };
    number(if is_imported { imported } else { in_data })
}

/// A procedure of the dictionary.
struct Procedure {
    name: String,
    input: String,
    output: String,
    comment: Value,
}

fn procedures_asked_for(arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<Vec<Procedure>> {
    if is_elsewhere(arguments, tables)? {
        return Ok(Vec::new());
    }
    let rows = tables.dictionary_rows("storedprocedures")?.into_iter().map(|row| {
        let told = |place: usize| row.get(place).cloned().unwrap_or(Value::Null);
        let written = |place: usize| match told(place) {
            Value::Null => String::new(),
            value => value.to_text().trim().to_owned(),
        };
        Procedure {
            name: written(0),
            input: written(1),
            output: written(2),
            comment: told(5),
        }
    });
    let mut procedures: Vec<Procedure> = rows.collect();
    keep_called(&arguments.text(2), &mut procedures, |procedure| &procedure.name);
    procedures.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(procedures)
}

/// A parameter of a procedure, or a column of what it gives.
struct Parameter {
    name: String,
    field_type: FieldType,
    width: u16,
    decimals: u8,
}

impl Parameter {
    /// Reads a definition as in `AdsCreateTable`; `None` for one that is no such thing.
    fn read(definition: &str) -> Option<Self> {
        let spec = fields(definition, TableType::Adt).ok()?.into_iter().next()?;
        let written = definition.split(',').nth(1)?.trim().to_ascii_uppercase();
        let (width, decimals) = match spec.in_adt {
            Some(in_adt) => (in_adt.width, in_adt.decimals),
            None => (spec.width, spec.decimals),
        };
        Some(Self {
            name: spec.name,
            field_type: FieldType::of_adt(type_of_adt(&written)?),
            width,
            decimals,
        })
    }
}

/// The tables that the third argument names, temporary ones too: all for NULL. None where the catalogue is another one.
fn tables_asked_for(arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<Vec<String>> {
    if is_elsewhere(arguments, tables)? {
        return Ok(Vec::new());
    }
    let mut names = tables.temporary_names();
    names.extend(tables.table_names()?);
    keep_called(&arguments.text(2), &mut names, String::as_str);
    names.sort();
    Ok(names)
}

/// Whether the catalogue that is asked for is a link of the dictionary.
fn is_elsewhere(arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<bool> {
    let catalog = arguments.text(0);
    if catalog.is_empty() {
        return Ok(false);
    }
    let links = tables.dictionary_rows("links")?;
    let mut names = links.iter().filter_map(|link| link.first());
    Ok(names.any(|name| name.to_text().trim().eq_ignore_ascii_case(&catalog)))
}

/// Keeps what an argument means: that of this very name, in any case, or else what the pattern matches; all for an empty one. `_` is part of
/// many names, and means itself where one is called so.
fn keep_called<T>(wanted: &str, items: &mut Vec<T>, name: impl Fn(&T) -> &str) {
    if wanted.is_empty() {
        return;
    }
    let is_it = |item: &T| name(item).eq_ignore_ascii_case(wanted);
    if items.iter().any(is_it) {
        items.retain(is_it);
        return;
    }
    let pattern = Pattern::new(&wanted.to_lowercase(), None);
    items.retain(|item| pattern.matches(&name(item).to_lowercase()));
}
