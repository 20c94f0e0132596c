//! The indexes of an xBase table, as a database makes them for its copy.

use tidemill_xbase::expression::{self, BinaryOperator, Syntax, SyntaxKind};
use tidemill_xbase::index::{Index, IndexOptions, Tag};
use tidemill_xbase::{Table, production_path};

use crate::format::Format;
use crate::location::Location;
use crate::stores::server::{TableIndex, TableOptions};
use crate::{Result, Session};

/// The indexes of a table that a database can have, and those that it cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceKeys {
    /// The columns of the primary key, which a database container names; empty where none does.
    pub primary_key: Vec<String>,
    /// The other indexes.
    pub indexes: Vec<TableIndex>,
    /// Tags that no database has: by an expression, with a condition, of a part of the records. Each with its expression.
    pub left_out: Vec<String>,
}

impl SourceKeys {
    /// Adds them to how a table is made.
    pub fn add_to(&self, options: &mut TableOptions) {
        if options.primary_key.is_none() && !self.primary_key.is_empty() {
            options.primary_key = Some(self.primary_key.join(", "));
        }
        options.indexes.clone_from(&self.indexes);
    }
}

impl Session {
    /// The tags of an xBase table's production index whose keys are columns: `CUST_NO`, `CITY + NAME`, `DTOS(DAY) + CODE`. Other tables have
    /// none.
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
        let Some(index) = production_path(&table)? else {
            return Ok(keys);
        };
        let options = IndexOptions::new()
            .codepage(table.codepage())
            .table_dialect(table.header().dialect);
        let index = Index::open(index, &options)?;
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
            if primary.is_some_and(|primary| primary.eq_ignore_ascii_case(&tag.name)) {
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

/// The columns of a tag's keys; `None` where they are something else.
fn columns_of(tag: &Tag, table: &Table) -> Option<Vec<String>> {
    let is_whole =
        tag.condition.is_none() && !tag.is_custom && !tag.is_bitmap && !tag.is_full_text && !tag.ignores_case;
    if !is_whole {
        return None;
    }
    let mut columns: Vec<String> = Vec::new();
    // Of Advantage's, whose columns stand between semicolons.
    for part in tag.expression.split(';') {
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

/// The fields that an expression puts one behind the other. Functions that keep the order of a value are passed over where texts are
/// put together.
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
}
