//! The indexes of an xBase table, for its copy in a database.

use tidemill_xbase::expression::{self, BinaryOperator, Syntax, SyntaxKind, UnaryOperator};
use tidemill_xbase::index::Tag;
use tidemill_xbase::{Dialect, Table, named_expression, production_path};

use super::relations::open_index;
use crate::format::Format;
use crate::location::Location;
use crate::stores::server::{TableIndex, TableOptions};
use crate::{Result, Session};

/// The indexes that a database can have, and those that it cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceKeys {
    /// The columns of the primary key: the one in the database container, or else a candidate key that CREATE TABLE made of PRIMARY KEY
    /// (`PK`, `PK_…`, or `PRIMARYKEY` in an ADT), or else an AutoInc column that is a candidate key. Empty if there is none.
    pub primary_key: Vec<String>,
    /// The other indexes.
    pub indexes: Vec<TableIndex>,
    /// The columns that are never NULL: those declared so in a Visual FoxPro table, if their type has no blank.
    pub required: Vec<String>,
    /// Tags that no database supports: of an expression, with a condition, or of a part of the records. Each with its expression.
    pub left_out: Vec<String>,
}

impl SourceKeys {
    /// Adds them to the options of a new table.
    pub fn add_to(&self, options: &mut TableOptions) {
        if options.primary_key.is_none() && !self.primary_key.is_empty() {
            options.primary_key = Some(self.primary_key.join(", "));
        }
        options.indexes.clone_from(&self.indexes);
    }
}

impl Session {
    /// The tags of an xBase table's production index whose keys are columns: `CUST_NO`, `CITY + NAME`, `DTOS(DAY) + CODE`. Other tables
    /// have none.
    ///
    /// # Errors
    ///
    /// As opening the table and its index.
    pub fn keys_of(&self, source: &Location) -> Result<SourceKeys> {
        let mut keys = SourceKeys::default();
        let Some(path) = source.file().ok().filter(|_| source.format == Format::Xbase) else {
            return Ok(keys);
        };
        let table = Table::open(path, self.options.xbase_options())?;
        if table.header().dialect == Dialect::VisualFoxPro {
            // A blank is NULL in the copy.
            let fields = table.fields().iter();
            let required = fields.filter(|field| !field.nullable && !field.has_blank());
            keys.required = required.map(|field| field.name.clone()).collect();
        }
        let Some(index) = production_path(&table)? else {
            return Ok(keys);
        };
        let index = open_index(&table, index)?;
        let container = table.container().table();
        let primary = container.and_then(|table| table.primary_key.as_deref());
        for tag in index.tags() {
            let Some(columns) = columns_of(tag, &table) else {
                let condition = tag.condition.as_ref().map(|condition| format!(" FOR {condition}"));
                let condition = condition.unwrap_or_default();
                keys.left_out
                    .push(format!("{} ({}{condition})", tag.name, tag.expression));
                continue;
            };
            let is_primary = match primary {
                Some(primary) => primary.eq_ignore_ascii_case(&tag.name),
                None => {
                    keys.primary_key.is_empty() && tag.is_candidate && (is_named(&tag.name) || counts(&table, &columns))
                }
            };
            if is_primary {
                keys.primary_key = columns;
                continue;
            }
            let index = TableIndex {
                columns,
                is_unique: tag.is_candidate,
            };
            if !keys.indexes.contains(&index) {
                keys.indexes.push(index);
            }
        }
        Ok(keys)
    }
}

/// Whether a tag has the name that CREATE TABLE, or SQLAlchemy's dialect, gives the primary key's.
fn is_named(tag: &str) -> bool {
    let tag = tag.to_ascii_uppercase();
    matches!(tag.as_str(), "PK" | "PRIMARYKEY") || tag.starts_with("PK_")
}

/// Whether the columns are a single AutoInc column.
fn counts(table: &Table, columns: &[String]) -> bool {
    let [column] = columns else { return false };
    let mut fields = table.fields().iter();
    fields.any(|field| field.name == *column && field.autoincrement.is_some())
}

/// The columns of a tag's keys; `None` for other keys.
pub(super) fn columns_of(tag: &Tag, table: &Table) -> Option<Vec<String>> {
    let condition = tag.condition.as_deref().map(expression::parse).transpose().ok()?;
    let is_whole = !tag.is_custom && !tag.is_bitmap && !tag.is_full_text && !tag.ignores_case;
    if !is_whole || !condition.is_none_or(|condition| leaves_out_no_row(&condition)) {
        return None;
    }
    let expression = match table.header().dialect {
        // ADT expressions refer to fields by number.
        Dialect::Adt => named_expression(&tag.expression, table.fields()),
        _ => tag.expression.clone(),
    };
    let mut columns: Vec<String> = Vec::new();
    // Advantage separates columns by semicolons.
    for part in expression.split(';') {
        let syntax = expression::parse(part).ok()?;
        for name in fields_of(&syntax, true)? {
            let mut fields = table.fields().iter();
            let field = fields.find(|field| field.name.eq_ignore_ascii_case(&name))?;
            if !columns.contains(&field.name) {
                columns.push(field.name.clone());
            }
        }
    }
    Some(columns)
}

/// Whether a condition only excludes deleted records or NULL; a database's index of the columns is then equivalent.
fn leaves_out_no_row(condition: &Syntax) -> bool {
    match &condition.kind {
        SyntaxKind::Binary(BinaryOperator::And, left, right) => leaves_out_no_row(left) && leaves_out_no_row(right),
        SyntaxKind::Unary(UnaryOperator::Not, of) => match &of.kind {
            SyntaxKind::Call { name, arguments } => match arguments.as_slice() {
                [] => name == "DELETED",
                [field] => name == "ISNULL" && matches!(field.kind, SyntaxKind::Field { .. }),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// The fields that an expression concatenates. Functions that preserve the order of a value are ignored within a concatenation.
fn fields_of(syntax: &Syntax, is_alone: bool) -> Option<Vec<String>> {
    match &syntax.kind {
        SyntaxKind::Field { alias: None, name } => Some(vec![name.clone()]),
        SyntaxKind::Binary(BinaryOperator::Plus, left, right) => {
            let mut fields = fields_of(left, false)?;
            fields.extend(fields_of(right, false)?);
            Some(fields)
        }
        SyntaxKind::Call { name, arguments } => {
            let keeps_order = name == "DTOS" || (name == "STR" && !is_alone) || (name == "STR" && arguments.len() > 1);
            let field = arguments.first().filter(|_| keeps_order)?;
            fields_of(field, is_alone)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_where_keys_are_made_of_nothing_else() {
        for (text, fields) in [
            ("cust_no", Some(vec!["CUST_NO"])),
            ("CITY + NAME", Some(vec!["CITY", "NAME"])),
            ("DTOS(DAY)+STR(NO, 6)", Some(vec!["DAY", "NO"])),
            ("UPPER(NAME)", None),
            ("LEFT(NAME, 3)", None),
            ("-NO", None),
            ("A->NO", None),
        ] {
            let syntax = expression::parse(text).expect(text);
            let found = fields_of(&syntax, true);
            let found = found.as_ref().map(|fields| fields.iter().map(String::as_str).collect());
            assert_eq!(found, fields, "{text}");
        }
    }

    #[test]
    fn conditions_are_passed_over_that_leave_out_no_row() {
        for (text, expected) in [
            ("!DELETED()", true),
            (".NOT. DELETED() .AND. !ISNULL(NO)", true),
            ("DELETED()", false),
            ("!ISNULL(NO + 1)", false),
            ("NO > 0", false),
            ("!DELETED() .OR. NO > 0", false),
        ] {
            let condition = expression::parse(text).expect(text);
            assert_eq!(leaves_out_no_row(&condition), expected, "{text}");
        }
    }
}
