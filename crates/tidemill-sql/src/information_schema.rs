//! `information_schema` of the SQL standard (ISO/IEC 9075-11), with the tables that a session can name without a path, and the SHOW
//! statements for it.
//!
//! Tables of the session's own folder or database are in the schema `public`; an attached folder or database is a schema of its name.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use datafusion::catalog::{MemTable, TableProvider};

use crate::Result;
use crate::session::Session;

/// The catalog of all tables.
const CATALOG: &str = "tidemill";
/// The schema of tables that are named without one.
const OWN: &str = "public";

/// A view of `information_schema`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Schemata,
    Tables,
    Columns,
    /// The columns of the table with this name in statements.
    ColumnsOf(String),
}

/// The prefix of such a view's name, before the name of the table.
const COLUMNS_OF: &str = "information_schema.columns of ";

impl View {
    /// The view with this name, without regard to case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some(table) = name.strip_prefix(COLUMNS_OF) {
            return Some(Self::ColumnsOf(table.to_owned()));
        }
        let (schema, view) = name.split_once('.')?;
        if !schema.eq_ignore_ascii_case("information_schema") {
            return None;
        }
        let views = [
            ("schemata", Self::Schemata),
            ("tables", Self::Tables),
            ("columns", Self::Columns),
        ];
        let found = views.into_iter().find(|(name, _)| view.eq_ignore_ascii_case(name));
        found.map(|(_, view)| view)
    }
}

/// The query that implements a SHOW or DESCRIBE statement; `None` for other texts.
///
/// ```text
/// SHOW TABLES            SHOW SCHEMAS            SHOW COLUMNS FROM orders            DESCRIBE orders
/// ```
pub(crate) fn shown(sql: &str) -> Option<String> {
    let words: Vec<&str> = sql.trim().trim_end_matches(';').split_whitespace().collect();
    let is = |word: &str, expected: &str| word.eq_ignore_ascii_case(expected);
    match *words.as_slice() {
        [show, tables] if is(show, "SHOW") && is(tables, "TABLES") => Some(
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY table_schema, table_name"
                .to_owned(),
        ),
        [show, schemas] if is(show, "SHOW") && (is(schemas, "SCHEMAS") || is(schemas, "DATABASES")) => {
            Some("SELECT schema_name FROM information_schema.schemata ORDER BY schema_name".to_owned())
        }
        [show, columns, from, _, ..] if is(show, "SHOW") && is(columns, "COLUMNS") && is(from, "FROM") => {
            of(behind(sql, 3))
        }
        [describe, _, ..] if is(describe, "DESCRIBE") || is(describe, "DESC") => of(behind(sql, 1)),
        _ => None,
    }
}

/// The text after this many words.
fn behind(sql: &str, words: usize) -> &str {
    let after_word = |rest: &'_ str| rest.trim_start().find(char::is_whitespace);
    let mut rest = sql.trim();
    for _ in 0..words {
        rest = rest.trim_start();
        rest = after_word(rest).and_then(|end| rest.get(end..)).unwrap_or_default();
    }
    rest.trim().trim_end_matches(';').trim_end()
}

/// The query of a table's columns; the name may be quoted. `None` if more than a name follows.
fn of(table: &str) -> Option<String> {
    let quotes = [('"', '"'), ('\'', '\''), ('`', '`'), ('[', ']')];
    let quoted = quotes
        .into_iter()
        .find_map(|(open, close)| table.strip_prefix(open)?.strip_suffix(close));
    let name = match quoted {
        Some(name) => name,
        None if table.contains(char::is_whitespace) => return None,
        None => table,
    };
    let view = format!("{COLUMNS_OF}{name}").replace('"', "\"\"");
    Some(format!(
        "SELECT column_name, data_type, is_nullable FROM \"{view}\" ORDER BY ordinal_position"
    ))
}

impl Session {
    /// The current contents of a view of `information_schema`. A table that cannot be opened has no columns.
    ///
    /// # Errors
    ///
    /// As [`Session::all_tables`].
    pub(crate) async fn information(&self, view: View) -> Result<Arc<dyn TableProvider>> {
        let mut schemas = match &view {
            View::ColumnsOf(_) => Vec::new(),
            _ => self.all_tables().await?,
        };
        // The session's own folder may also be attached under the name of its schema.
        let own = schemas.iter().position(|(name, _)| name.is_none());
        let attached = schemas.iter().position(|(name, _)| name.as_deref() == Some(OWN));
        if let (Some(own), Some(attached)) = (own, attached) {
            let is_same = match (schemas.get(own), schemas.get(attached)) {
                (Some((_, own)), Some((_, attached))) => attached.iter().all(|table| own.contains(table)),
                _ => false,
            };
            if is_same {
                schemas.remove(attached);
            }
        }
        let schemas = schemas
            .into_iter()
            .map(|(name, tables)| (name.unwrap_or_else(|| OWN.to_owned()), tables));
        let batch = match view {
            View::Schemata => {
                let names: Vec<String> = schemas.map(|(name, _)| name).collect();
                RecordBatch::try_from_iter([
                    ("catalog_name", repeated(CATALOG, names.len())),
                    ("schema_name", texts(names)),
                ])?
            }
            View::Tables => {
                let (mut in_schema, mut names) = (Vec::new(), Vec::new());
                for (schema, tables) in schemas {
                    for (name, _) in tables {
                        in_schema.push(schema.clone());
                        names.push(name);
                    }
                }
                let rows = names.len();
                RecordBatch::try_from_iter([
                    ("table_catalog", repeated(CATALOG, rows)),
                    ("table_schema", texts(in_schema)),
                    ("table_name", texts(names)),
                    ("table_type", repeated("BASE TABLE", rows)),
                ])?
            }
            View::ColumnsOf(table) => {
                let schema = self.schema(&self.locate(&table).await?).await?;
                let fields = || schema.fields().iter();
                RecordBatch::try_from_iter([
                    (
                        "column_name",
                        texts(fields().map(|field| field.name().clone()).collect()),
                    ),
                    (
                        "ordinal_position",
                        Arc::new((1..).take(schema.fields().len()).collect::<Int32Array>()) as ArrayRef,
                    ),
                    (
                        "data_type",
                        texts(fields().map(|field| field.data_type().to_string()).collect()),
                    ),
                    (
                        "is_nullable",
                        texts(
                            fields()
                                .map(|field| yes_or_no(field.is_nullable()).to_owned())
                                .collect(),
                        ),
                    ),
                ])?
            }
            View::Columns => {
                let (mut in_schema, mut of_table, mut names) = (Vec::new(), Vec::new(), Vec::new());
                let (mut places, mut types, mut nullable) = (Vec::new(), Vec::new(), Vec::new());
                for (schema, tables) in schemas {
                    for (table, location) in tables {
                        let Ok(columns) = self.schema(&location).await else {
                            continue;
                        };
                        for (field, place) in columns.fields().iter().zip(1..) {
                            in_schema.push(schema.clone());
                            of_table.push(table.clone());
                            names.push(field.name().clone());
                            places.push(place);
                            types.push(field.data_type().to_string());
                            nullable.push(yes_or_no(field.is_nullable()));
                        }
                    }
                }
                RecordBatch::try_from_iter([
                    ("table_catalog", repeated(CATALOG, names.len())),
                    ("table_schema", texts(in_schema)),
                    ("table_name", texts(of_table)),
                    ("column_name", texts(names)),
                    ("ordinal_position", Arc::new(Int32Array::from(places)) as ArrayRef),
                    ("data_type", texts(types)),
                    ("is_nullable", Arc::new(StringArray::from(nullable)) as ArrayRef),
                ])?
            }
        };
        Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
    }
}

fn yes_or_no(value: bool) -> &'static str {
    if value { "YES" } else { "NO" }
}

fn texts(values: Vec<String>) -> ArrayRef {
    Arc::new(StringArray::from(values))
}

fn repeated(value: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from(vec![value; rows]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn show_statements_are_queries() {
        for sql in [
            "SHOW TABLES",
            "show schemas;",
            "SHOW COLUMNS FROM x.\"t\"",
            "describe T",
        ] {
            let query = shown(sql).expect(sql);
            assert!(query.contains("information_schema."), "{query}");
        }
        for (sql, table) in [
            ("DESCRIBE t", "t"),
            ("DESC 'o''x';", "o''x"),
            ("DESCRIBE\n\"my orders.csv\"", "my orders.csv"),
            ("SHOW COLUMNS FROM pg.t", "pg.t"),
        ] {
            let query = shown(sql).expect(sql);
            assert!(query.contains(&format!("\"{COLUMNS_OF}{table}\"")), "{query}");
        }
        for sql in [
            "SELECT 1",
            "SHOW",
            "SHOW TABLES LIKE 'x'",
            "DESCRIBE",
            "DESC a b",
            "SHOW COLUMNS FROM t WHERE x",
        ] {
            assert_eq!(shown(sql), None, "{sql}");
        }
        assert_eq!(View::named("Information_Schema.TABLES"), Some(View::Tables));
        assert_eq!(View::named("tables"), None);
    }
}
