//! CREATE, ALTER and DROP.

mod indexes;

use sqlparser::ast::Ident;
use tidemill_xbase::{AdtType, Alteration, Dialect, Field, FieldSpec};

use indexes::create_keys;
pub(super) use indexes::{allow_candidates, create_index, drop_index};

use super::answer::Rows;
use super::error::{Error, Kind, Result};
use super::statement::{
    ColumnRule, ColumnSpec, CreateTable, IndexColumn, RuleChange, TableChange, TableName, TypeName,
};
use super::tables::Tables;
use super::value::Type;
use crate::{ErrorCode, FieldType, TableType};

/// Makes a table, and the index of its primary key; the data dictionary takes it in where that is asked for, with the rules of its columns.
/// Where nothing is said, it takes in the tables of its administrator ("CREATE TABLE" in the help of ADS).
///
/// # Errors
/// [`Kind::Exists`], [`Kind::Type`] for a type that a DBF has not; [`Kind::Definition`] for a rule that nobody would keep.
pub(super) fn create_table(table: &CreateTable, tables: &mut dyn Tables) -> Result<()> {
    let (name, location) = (&table.name, table.name.location.0);
    if table.in_database == Some(true) && is_temporary(name) {
        let why = format!("{name} is a temporary table, which is in no data dictionary: leave IN DATABASE out");
        return Err(Error::new(Kind::Definition, why).at(location));
    }
    if table.in_database == Some(true) && tables.in_transaction() {
        let why = "A data dictionary takes in no table in a transaction";
        return Err(Error::new(Kind::Transaction, why).at(location));
    }
    let is_taken_in = match table.in_database {
        Some(said) => said,
        None => !is_temporary(name) && !tables.in_transaction() && tables.takes_in(),
    };
    let rules = rules_of(table.columns.iter(), tables.made_type(name), is_taken_in)?;
    create_files(table, tables)?;
    if !is_taken_in {
        return Ok(());
    }
    let mut taken_in = tables.take_in(name, table.primary_key.is_some());
    if taken_in.is_ok() && !rules.is_empty() {
        taken_in = tables.set_rules(name, &rules);
    }
    if taken_in.is_err() {
        // What could not be done as a whole is not left behind.
        let _ = tables.drop_table(name, false);
    }
    taken_in.map_err(|error| error.at(location))
}

/// The rules that columns are to have in the data dictionary.
///
/// # Errors
/// [`Kind::Definition`] where the table is in none, and NOT NULL for a column of a table whose format does not say it.
fn rules_of<'c>(
    columns: impl Iterator<Item = &'c ColumnSpec>,
    table_type: TableType,
    is_kept: bool,
) -> Result<Vec<RuleChange>> {
    let mut rules = Vec::new();
    for column in columns {
        let mut own = column.rules.clone();
        let is_automatic = field_of_adt(column).is_ok_and(|field| adt_type(&field).is_some_and(AdtType::is_automatic));
        let refused = |why: &str| {
            let why = format!("Column {}: {why}", column.name.value);
            Err(Error::new(Kind::Definition, why).at(column.name.span.start))
        };
        if column.nullable == Some(false) && table_type != TableType::Vfp && !is_automatic {
            match (is_kept, table_type) {
                (true, _) => own.push((ColumnRule::NotNull, String::new())),
                (false, TableType::Adt) => {
                    return refused(
                        "NOT NULL is kept by a data dictionary, and this table is in none: make it IN DATABASE, or leave NOT NULL out",
                    );
                }
                (false, _) => {
                    return refused(
                        "NOT NULL is for tables of Visual FoxPro: this table has no NULL, and an empty field is a value",
                    );
                }
            }
        }
        if !own.is_empty() && !is_kept {
            return refused("constraints and default values are kept by a data dictionary, and this table is in none");
        }
        // A default value before what forbids NULL.
        own.sort_by_key(|(rule, _)| *rule == ColumnRule::NotNull);
        rules.extend(own.into_iter().map(|(rule, value)| RuleChange {
            column: column.name.clone(),
            rule: Some(rule),
            value: Some(value),
        }));
    }
    Ok(rules)
}

fn create_files(table: &CreateTable, tables: &mut dyn Tables) -> Result<()> {
    let CreateTable {
        name,
        columns,
        primary_key,
        unique,
        ..
    } = table;
    let is_adt = tables.made_type(name) == TableType::Adt;
    let is_standard = tables.makes_standard_tables() && !is_adt;
    let fields = columns.iter().map(|column| match is_adt {
        true => field_of_adt(column),
        false => field(column, is_standard),
    });
    let mut fields = fields.collect::<Result<Vec<_>>>()?;
    let keeps_names = is_temporary(name) || is_standard || is_adt;
    for (field, column) in fields.iter_mut().zip(columns) {
        if !keeps_names {
            field.name = field.name.to_uppercase();
        }
        let is_of = |(_, columns): &(Option<Ident>, Vec<IndexColumn>)| {
            let mut columns = columns.iter();
            columns.any(|key| key.name.value.eq_ignore_ascii_case(&column.name.value))
        };
        let is_key = primary_key.as_ref().is_some_and(is_of);
        if is_standard {
            field.nullable |= column.nullable.is_none() && !is_key && !field.autoincrement;
            // Fields of varying length have no keys.
            if field.letter == 'V' && (is_key || unique.iter().any(is_of)) {
                field.letter = 'C';
            }
        }
    }
    tables.create_table(name, &fields)?;
    let indexed = create_keys(table, tables);
    if indexed.is_err() {
        // A table without its keys is not what was asked for.
        tables.drop_table(name, false)?;
    }
    indexed
}

/// Whether a table is one that its connection alone sees, and whose fields keep their names.
pub(super) fn is_temporary(name: &TableName) -> bool {
    name.last().starts_with('#')
}

/// The fields of a table for rows in memory: what `SELECT … INTO` and `CREATE TABLE … AS` make.
///
/// # Errors
/// [`Kind::Type`] for a name that is too long for a field of a DBF, where the table is no temporary one.
pub(super) fn fields_of(rows: &Rows, table: &TableName, tables: &dyn Tables) -> Result<Vec<FieldSpec>> {
    let is_adt = tables.made_type(table) == TableType::Adt;
    let is_standard = tables.makes_standard_tables() && !is_adt;
    let keeps_names = is_temporary(table) || is_standard || is_adt;
    let too_long = |name: &str| !keeps_names && name.len() > 10;
    if let Some(column) = rows.columns.iter().find(|column| too_long(&column.name)) {
        let (name, bytes) = (&column.name, column.name.len());
        let why = format!(
            "Column {name} has a name of {bytes} bytes, and {table} takes at most 10: name it AS …, or make a temporary table (#{table})"
        );
        return Err(Error::new(Kind::Type, why));
    }
    let columns = rows.columns.iter();
    let specs = columns
        .map(|column| {
            let name = match keeps_names {
                true => column.name.clone(),
                false => column.name.to_uppercase(),
            };
            let length = u16::try_from(column.length).unwrap_or(u16::MAX);
            let decimals = u8::try_from(column.decimals).unwrap_or(0);
            if is_adt {
                return field_of_rows(name, column.field_type, length, decimals);
            }
            let spec = match column.field_type {
                FieldType::Logical => FieldSpec::new(name, 'L', 1, 0),
                FieldType::Numeric => FieldSpec::new(name, 'N', length.clamp(1, 20), decimals),
                FieldType::Date => FieldSpec::new(name, 'D', 8, 0),
                FieldType::String | FieldType::VarcharFox => FieldSpec::new(name, 'C', length.clamp(1, 254), 0),
                FieldType::Double => FieldSpec::new(name, 'B', 8, 4),
                FieldType::Integer | FieldType::Autoincrement => FieldSpec::new(name, 'I', 4, 0),
                FieldType::LongLong => FieldSpec::new(name, 'N', 18, 0),
                FieldType::Time | FieldType::Timestamp => FieldSpec::new(name, 'T', 8, 0),
                FieldType::Money => FieldSpec::new(name, 'Y', 8, 4),
                FieldType::Memo => FieldSpec::new(name, 'M', 4, 0),
                _ => FieldSpec::new(name, 'W', 4, 0),
            };
            spec.nullable(is_standard)
        })
        .collect();
    Ok(specs)
}

/// Changes the structure of a table.
///
/// # Errors
/// [`Kind::NoColumn`], [`Kind::Type`], and when values do not fit the new fields.
pub(super) fn alter_table(table: &TableName, changes: &[TableChange], tables: &mut dyn Tables) -> Result<()> {
    if tables.has_own_names(table) {
        let why = format!("{table} has names of more than 10 bytes and is not altered: make another by SELECT … INTO");
        return Err(Error::new(Kind::Unsupported, why));
    }
    if let Some(rules) = rules_alone(table, changes, tables)? {
        return tables.set_rules(table, &rules);
    }
    let is_kept = tables.keeps_rules_of(table)?;
    let snapshot = tables.snapshot_without_orders(table)?;
    let table_type = type_of_table(snapshot.table().header().dialect);
    let has_records = snapshot.table().record_count() > 0;
    drop(snapshot);
    let (mut changed, mut added) = (Vec::new(), Vec::new());
    for change in changes {
        let rules = match change {
            TableChange::Add(column, _) | TableChange::Alter(_, column, _) => {
                rules_of(std::iter::once(column), table_type, is_kept)?
            }
            _ => continue,
        };
        match change {
            TableChange::Alter(old, ..) => {
                let rules = rules.into_iter();
                changed.extend(rules.map(|rule| RuleChange {
                    column: old.clone(),
                    ..rule
                }));
            }
            _ => added.extend(rules),
        }
    }
    let required = added.iter().find(|rule| rule.rule == Some(ColumnRule::NotNull));
    if let Some(rule) = required.filter(|_| has_records) {
        let why = format!("a record has NULL in column {}, which is new", rule.column.value);
        let error: Error = crate::Error::new(ErrorCode::ConstraintValidation, why).into();
        return Err(error.at(rule.column.span.start));
    }
    let is_standard = tables.makes_standard_tables();
    tables.alter(table, &changed, &mut |fields| {
        alteration(fields, changes, (table_type, is_standard))
    })?;
    if added.is_empty() {
        return Ok(());
    }
    tables.set_rules(table, &added).inspect_err(|_| {
        // The columns that were to have them go again; they have no values.
        let _ = tables.alter(table, &[], &mut |fields| {
            let mut new = changes.iter().filter_map(|change| match change {
                TableChange::Add(column, _) => Some(&column.name.value),
                _ => None,
            });
            new.try_fold(Alteration::of(fields), |alteration, name| {
                Ok(alteration.drop_field(name)?)
            })
        });
    })
}

/// What changes make of the fields of a table.
fn alteration(
    fields: &[Field],
    changes: &[TableChange],
    (table_type, is_standard): (TableType, bool),
) -> Result<Alteration> {
    let altered = |column| match table_type {
        TableType::Adt => field_of_adt(column),
        _ => altered(column, is_standard),
    };
    let known = |ident: &Ident| {
        let mut names = fields.iter().map(|field| field.name.as_str());
        let name = names.find(|name| name.eq_ignore_ascii_case(&ident.value));
        name.ok_or_else(|| {
            let names = fields.iter().map(|field| field.name.as_str());
            Error::no_column(&ident.value, names).at(ident.span.start)
        })
    };
    let (mut alteration, mut places) = (Alteration::of(fields), Vec::new());
    for change in changes {
        let (spec, position) = match change {
            TableChange::Add(column, position) | TableChange::Alter(_, column, position) => {
                (altered(column)?, position)
            }
            TableChange::Drop(column) => {
                alteration = alteration.drop_field(known(column)?)?;
                continue;
            }
            TableChange::DropRule(..) | TableChange::DropPrimaryKey => {
                let why = "Constraints and primary keys are dropped by a statement of their own";
                return Err(Error::new(Kind::Unsupported, why));
            }
        };
        let place = position.map(|position| usize::try_from(position).unwrap_or(usize::MAX));
        places.extend(place.map(|place| (spec.name.clone(), place)));
        alteration = match change {
            TableChange::Alter(old, ..) => alteration.change_field(known(old)?, spec)?,
            _ => alteration.add_field(spec),
        };
    }
    Ok(alteration.place_fields(&places)?)
}

/// What changes do to the data dictionary, where they leave the fields as they are; `None` where a field becomes another.
///
/// # Errors
/// [`Kind::Definition`] for a table that is in no data dictionary, and [`Kind::NoColumn`].
fn rules_alone(table: &TableName, changes: &[TableChange], tables: &mut dyn Tables) -> Result<Option<Vec<RuleChange>>> {
    let concerns_rules = |change: &TableChange| match change {
        TableChange::DropRule(..) | TableChange::DropPrimaryKey => true,
        TableChange::Alter(_, column, _) => !column.rules.is_empty() || column.nullable == Some(false),
        _ => false,
    };
    let is_kept = tables.keeps_rules_of(table)?;
    if !changes.iter().any(concerns_rules) || !is_kept && !changes.iter().all(is_dropped) {
        return Ok(None);
    }
    if !is_kept {
        let why = format!("{table} is in no data dictionary that could keep constraints or a primary key for it");
        return Err(Error::new(Kind::Definition, why).at(table.location.0));
    }
    let snapshot = tables.snapshot_without_orders(table)?;
    let fields = snapshot.table().fields();
    let table_type = type_of_table(snapshot.table().header().dialect);
    let is_adt = table_type == TableType::Adt;
    let mut rules = Vec::new();
    for change in changes {
        let (column, change) = match change {
            TableChange::DropRule(column, rule) => (column, Some((*rule, None))),
            TableChange::DropPrimaryKey => {
                rules.push(RuleChange {
                    column: Ident::new(""),
                    rule: None,
                    value: None,
                });
                continue;
            }
            TableChange::Alter(old, column, None) if is_same(old, column, fields, is_adt)? => {
                rules.extend(rules_of(std::iter::once(column), table_type, true)?);
                (old, None)
            }
            // The dictionary knows the fields.
            _ => return Ok(None),
        };
        if Field::find(fields, &column.value).is_none() {
            let names = fields.iter().map(|field| field.name.clone());
            return Err(Error::no_column(&column.value, names).at(column.span.start));
        }
        rules.extend(change.map(|(rule, value)| RuleChange {
            column: column.clone(),
            rule: Some(rule),
            value,
        }));
    }
    Ok(Some(rules))
}

/// The type of a table, as far as it matters to NULL.
fn type_of_table(dialect: Dialect) -> TableType {
    match dialect {
        Dialect::Adt => TableType::Adt,
        Dialect::VisualFoxPro => TableType::Vfp,
        _ => TableType::Cdx,
    }
}

fn is_dropped(change: &TableChange) -> bool {
    matches!(change, TableChange::DropRule(..) | TableChange::DropPrimaryKey)
}

fn adt_type(spec: &FieldSpec) -> Option<AdtType> {
    spec.in_adt.map(|field| field.adt_type)
}

/// Whether a column is described as it is.
fn is_same(old: &Ident, column: &ColumnSpec, fields: &[Field], is_adt: bool) -> Result<bool> {
    let Some(now) = Field::find(fields, &old.value).and_then(|place| fields.get(place)) else {
        return Ok(false);
    };
    let spec = match is_adt {
        true => field_of_adt(column)?,
        false => field(column, false)?,
    };
    let has_width = matches!(
        adt_type(&spec),
        None | Some(AdtType::Character | AdtType::CiCharacter | AdtType::Numeric | AdtType::Raw | AdtType::NChar)
    );
    Ok(now.name.eq_ignore_ascii_case(&column.name.value)
        && now.adt_type == adt_type(&spec)
        && (is_adt || now.letter == spec.letter)
        && (is_adt || column.nullable.is_none_or(|nullable| nullable == now.nullable))
        && (!has_width || (now.width == usize::from(spec.width) && now.decimals == spec.decimals)))
}

/// The field of a column in a table that is there already.
fn altered(column: &ColumnSpec, is_standard: bool) -> Result<FieldSpec> {
    let mut field = field(column, is_standard)?;
    match is_standard {
        true => field.nullable |= column.nullable.is_none() && !field.autoincrement,
        false => field.name = field.name.to_uppercase(),
    }
    Ok(field)
}

/// The field for a column of an ADT ("Supported Data Types in the Advantage SQL Engine", ADS's help).
fn field_of_adt(column: &ColumnSpec) -> Result<FieldSpec> {
    let TypeName { name, length, decimals } = &column.type_of;
    let fault = |why: String| Error::new(Kind::Type, why).at(name.span.start);
    let written = name.value.to_ascii_uppercase();
    let adt_type = match written.as_str() {
        "CHAR" | "CHARACTER" | "STRING" => AdtType::Character,
        "CICHAR" | "CICHARACTER" => AdtType::CiCharacter,
        "VARCHAR" => AdtType::VarCharFox,
        "VARBINARY" => AdtType::VarBinaryFox,
        "NCHAR" => AdtType::NChar,
        "NVARCHAR" => AdtType::NVarChar,
        "NMEMO" => AdtType::NMemo,
        "NUMERIC" | "DECIMAL" => AdtType::Numeric,
        "DATE" => AdtType::Date,
        "TIME" => AdtType::Time,
        "TIMESTAMP" | "DATETIME" => AdtType::Timestamp,
        "MODTIME" => AdtType::ModTime,
        "ROWVERSION" => AdtType::RowVersion,
        "LOGICAL" | "BIT" | "BOOLEAN" => AdtType::Logical,
        "MEMO" => AdtType::Memo,
        "BLOB" | "BINARY" => AdtType::Binary,
        "IMAGE" => AdtType::Image,
        "RAW" | "GUID" => AdtType::Raw,
        "DOUBLE" | "FLOAT" | "REAL" => AdtType::Double,
        "CURDOUBLE" => AdtType::CurDouble,
        "MONEY" => AdtType::Money,
        "INTEGER" | "INT" => AdtType::Integer,
        "SHORT" | "SMALLINT" | "SHORTINT" => AdtType::ShortInteger,
        "LONGINT" | "BIGINT" => AdtType::LongInteger,
        "AUTOINC" | "AUTOINCREMENT" => AdtType::AutoIncrement,
        other => return Err(fault(format!("An ADT has no columns of the type {other}"))),
    };
    let default = if written == "GUID" { 16 } else { 10 };
    let letters = length.unwrap_or(default);
    let width = match adt_type {
        AdtType::NChar => letters.saturating_mul(2),
        _ => letters,
    };
    let width = u16::try_from(width).map_err(|_| fault(format!("{letters} is too long for a column")))?;
    let decimals = match adt_type {
        AdtType::Numeric => decimals.unwrap_or(0),
        AdtType::Double | AdtType::CurDouble => decimals.or(*length).unwrap_or(4),
        _ => 0,
    };
    let digits = u8::try_from(decimals).map_err(|_| fault(format!("{decimals} decimals are too many")))?;
    Ok(FieldSpec::of_adt(column.name.value.clone(), adt_type, width, digits))
}

/// The field of an ADT for a column of rows.
fn field_of_rows(name: String, field_type: FieldType, length: u16, decimals: u8) -> FieldSpec {
    let (adt_type, width) = match field_type {
        FieldType::Logical => (AdtType::Logical, 1),
        FieldType::Numeric => (AdtType::Numeric, length.clamp(2, 32)),
        FieldType::Date | FieldType::CompactDate => (AdtType::Date, 4),
        FieldType::String | FieldType::Varchar | FieldType::VarcharFox if length > 0 => (AdtType::Character, length),
        FieldType::CaseInsensitiveString => (AdtType::CiCharacter, length),
        FieldType::Raw => (AdtType::Raw, length),
        FieldType::NChar => (AdtType::NChar, length),
        FieldType::Double => (AdtType::Double, 8),
        FieldType::CurrencyDouble => (AdtType::CurDouble, 8),
        FieldType::Integer => (AdtType::Integer, 4),
        FieldType::ShortInteger => (AdtType::ShortInteger, 2),
        FieldType::LongLong | FieldType::Autoincrement | FieldType::RowVersion => (AdtType::LongInteger, 8),
        FieldType::Time => (AdtType::Time, 4),
        FieldType::Timestamp | FieldType::ModificationTime => (AdtType::Timestamp, 8),
        FieldType::Money => (AdtType::Money, 8),
        FieldType::Image => (AdtType::Image, 9),
        FieldType::NMemo => (AdtType::NMemo, 9),
        FieldType::Memo | FieldType::String | FieldType::Varchar | FieldType::VarcharFox => (AdtType::Memo, 9),
        _ => (AdtType::Binary, 9),
    };
    FieldSpec::of_adt(name, adt_type, width, decimals)
}

/// Bytes of a text in a field of Visual FoxPro.
const LONGEST_FIELD: u16 = 254;

/// The field for a column ("Supported Data Types in the Advantage SQL Engine", ADS's help; what of it a DBF has). A standard table has more:
/// TIME, as Harbour has it, and memos for texts and bytes that are longer than a field.
fn field(column: &ColumnSpec, is_standard: bool) -> Result<FieldSpec> {
    let TypeName { name, length, decimals } = &column.type_of;
    let fault = |why: String| Error::new(Kind::Type, why).at(name.span.start);
    let narrow = |number: Option<u64>, default: u16| match number {
        None => Ok(default),
        Some(number) => u16::try_from(number).map_err(|_| fault(format!("{number} is too long for a column"))),
    };
    let written = name.value.to_ascii_uppercase();
    let length = |default| narrow(*length, default);
    let (letter, width, digits) = match written.as_str() {
        "TIME" if is_standard => ('T', 4, 0),
        "VARCHAR" if is_standard && length(10)? > LONGEST_FIELD => ('M', 4, 0),
        "VARBINARY" if is_standard && length(10)? > LONGEST_FIELD => ('W', 4, 0),
        "CHAR" | "CHARACTER" | "CICHAR" | "STRING" => ('C', length(10)?, 0),
        "VARCHAR" => ('V', length(10)?, 0),
        "NUMERIC" | "DECIMAL" => ('N', length(10)?, narrow(*decimals, 0)?),
        "DATE" => ('D', 8, 0),
        "LOGICAL" | "BIT" | "BOOLEAN" => ('L', 1, 0),
        "MEMO" => ('M', 4, 0),
        "DOUBLE" | "FLOAT" | "REAL" => ('B', 8, 4),
        "SHORT" | "SMALLINT" | "SHORTINT" | "INTEGER" | "INT" => ('I', 4, 0),
        "AUTOINC" | "AUTOINCREMENT" => ('+', 4, 0),
        "LONGINT" | "BIGINT" => ('N', 18, 0),
        "MONEY" | "CURDOUBLE" => ('Y', 8, 4),
        "TIMESTAMP" | "DATETIME" => ('T', 8, 0),
        "BLOB" | "BINARY" => ('W', 4, 0),
        "VARBINARY" => ('Q', length(10)?, 0),
        "RAW" => ('C', length(10)?, 0),
        other => return Err(fault(format!("A DBF has no columns of the type {other}"))),
    };
    let digits = u8::try_from(digits).map_err(|_| fault(format!("{digits} decimals are too many")))?;
    let is_binary = column.binary || written == "RAW";
    Ok(FieldSpec::new(column.name.value.clone(), letter, width, digits)
        .nullable(column.nullable.unwrap_or(false))
        .autoincrement(letter == '+')
        .binary(is_binary))
}

/// The type of a variable.
///
/// # Errors
/// [`Kind::Type`] for a name that is none of ADS's types.
pub(super) fn variable_type(type_name: &TypeName) -> Result<Type> {
    let written = type_name.name.value.to_ascii_uppercase();
    Ok(match written.as_str() {
        "STRING" | "CHAR" | "CHARACTER" | "CICHAR" | "VARCHAR" | "NCHAR" | "NVARCHAR" | "MEMO" | "NMEMO" => {
            Type::Text(0)
        }
        "INTEGER" | "INT" | "SHORT" | "SMALLINT" | "SHORTINT" | "LONGINT" | "BIGINT" => Type::Integer,
        "NUMERIC" | "DECIMAL" => Type::Decimal(u8::try_from(type_name.decimals.unwrap_or(0).min(30)).unwrap_or(30)),
        "MONEY" => Type::Decimal(4),
        "DOUBLE" | "FLOAT" | "REAL" | "CURDOUBLE" => Type::Double,
        "LOGICAL" | "BIT" | "BOOLEAN" => Type::Logical,
        "DATE" => Type::Date,
        "TIME" => Type::Time,
        "TIMESTAMP" | "DATETIME" => Type::Timestamp,
        "BLOB" | "BINARY" | "RAW" | "VARBINARY" | "GUID" => Type::Bytes,
        other => {
            let why = format!("There are no variables of the type {other}");
            return Err(Error::new(Kind::Type, why).at(type_name.name.span.start));
        }
    })
}
