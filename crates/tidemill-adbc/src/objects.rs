//! The tables of a connection, as ADBC lists them.
//!
//! There is one catalog, without a name. The tables of the database itself are in a schema without a name, and an attached
//! database of a server is a schema of its name.

use adbc_core::error::Result;
use adbc_core::options::ObjectDepth;
use adbc_core::schemas::GET_OBJECTS_SCHEMA;
use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use serde::Serialize;
use tidemill_sql::{Location, Session};

/// The only type of tables.
pub(crate) const TABLE: &str = "TABLE";

/// What is listed: `None` is everything, the empty text what has no name, all else a pattern of LIKE.
pub(crate) struct Patterns<'p> {
    pub(crate) catalog: Option<&'p str>,
    pub(crate) db_schema: Option<&'p str>,
    pub(crate) table_name: Option<&'p str>,
    pub(crate) column_name: Option<&'p str>,
    /// Whether tables are among the types that are asked for.
    pub(crate) has_tables: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Catalog {
    catalog_name: Option<String>,
    catalog_db_schemas: Option<Vec<DbSchema>>,
}

#[derive(Debug, Serialize)]
struct DbSchema {
    db_schema_name: Option<String>,
    db_schema_tables: Option<Vec<Table>>,
}

#[derive(Debug, Serialize)]
struct Table {
    table_name: String,
    table_type: &'static str,
    table_columns: Option<Vec<Column>>,
    table_constraints: Option<Vec<()>>,
}

#[derive(Debug, Serialize)]
struct Column {
    column_name: String,
    ordinal_position: i32,
    remarks: Option<String>,
    xdbc_type_name: String,
    xdbc_nullable: i16,
    xdbc_is_nullable: &'static str,
}

/// The tables as a batch.
///
/// # Errors
///
/// None is known.
pub(crate) fn batch(catalogs: &[Catalog]) -> Result<RecordBatch> {
    let schema = GET_OBJECTS_SCHEMA.clone();
    let mut decoder = ReaderBuilder::new(schema.clone())
        .with_batch_size(catalogs.len().max(1))
        .build_decoder()?;
    decoder.serialize(catalogs)?;
    Ok(decoder.flush()?.unwrap_or_else(|| RecordBatch::new_empty(schema)))
}

/// Looks for tables. One that cannot be opened has no columns.
///
/// # Errors
///
/// When the folder cannot be read, or a server cannot be asked.
pub(crate) async fn find(
    session: &Session,
    depth: ObjectDepth,
    patterns: &Patterns<'_>,
) -> tidemill_sql::Result<Vec<Catalog>> {
    if !fits(patterns.catalog, "") {
        return Ok(Vec::new());
    }
    let mut schemas = Vec::new();
    if depth != ObjectDepth::Catalogs {
        for (name, tables) in session.all_tables().await? {
            if !fits(patterns.db_schema, name.as_deref().unwrap_or_default()) {
                continue;
            }
            let tables = match depth {
                ObjectDepth::Schemas => None,
                _ => Some(described(session, tables, depth, patterns).await),
            };
            schemas.push(DbSchema {
                db_schema_name: name,
                db_schema_tables: tables,
            });
        }
    }
    Ok(vec![Catalog {
        catalog_name: None,
        catalog_db_schemas: (depth != ObjectDepth::Catalogs).then_some(schemas),
    }])
}

async fn described(
    session: &Session,
    tables: Vec<(String, Location)>,
    depth: ObjectDepth,
    patterns: &Patterns<'_>,
) -> Vec<Table> {
    let mut described = Vec::new();
    let tables = tables.into_iter().filter(|_| patterns.has_tables);
    for (name, location) in tables.filter(|(name, _)| fits(patterns.table_name, name)) {
        let columns = match depth {
            ObjectDepth::Tables => None,
            _ => session.schema(&location).await.ok().map(|schema| {
                let columns = schema
                    .fields()
                    .iter()
                    .zip(1..)
                    .filter(|(field, _)| fits(patterns.column_name, field.name()));
                columns
                    .map(|(field, place)| Column {
                        column_name: field.name().clone(),
                        ordinal_position: place,
                        remarks: remarks(field),
                        xdbc_type_name: field.data_type().to_string(),
                        xdbc_nullable: i16::from(field.is_nullable()),
                        xdbc_is_nullable: if field.is_nullable() { "YES" } else { "NO" },
                    })
                    .collect()
            }),
        };
        described.push(Table {
            table_name: name,
            table_type: TABLE,
            table_constraints: columns.is_some().then(Vec::new),
            table_columns: columns,
        });
    }
    described
}

/// The field of an xBase table as its programs write it: `N(8,2)`.
fn remarks(field: &arrow_schema::Field) -> Option<String> {
    let get = |key: &str| field.metadata().get(key);
    let (letter, width, decimals) = (get("xbase.type")?, get("xbase.width")?, get("xbase.decimals")?);
    Some(match decimals.as_str() {
        "0" => format!("{letter}({width})"),
        _ => format!("{letter}({width},{decimals})"),
    })
}

fn fits(pattern: Option<&str>, name: &str) -> bool {
    match pattern {
        None => true,
        Some("") => name.is_empty(),
        Some(pattern) => {
            let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
            is_like(&pattern, &name)
        }
    }
}

/// `%` is any text, `_` any letter; others are equal in any case.
fn is_like(pattern: &[char], name: &[char]) -> bool {
    // Where the last `%` stood and what it had taken: nothing before it need be tried again.
    let (mut at, mut place, mut star) = (0, 0, None);
    while let Some(letter) = name.get(place) {
        match pattern.get(at) {
            Some('%') => {
                star = Some((at, place));
                at += 1;
            }
            Some(wanted) if *wanted == '_' || wanted.to_lowercase().eq(letter.to_lowercase()) => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, place) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|rest| *rest == '%')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_are_those_of_like() {
        let rows = [
            (None, "orders", true),
            (Some(""), "", true),
            (Some(""), "orders", false),
            (Some("ORDERS"), "orders", true),
            (Some("or%"), "ORDERS", true),
            (Some("%d_rs"), "orders", true),
            (Some("%d%d%"), "orders", false),
            (Some("%%s"), "orders", true),
            (Some("_rder"), "orders", false),
            (Some("%"), "", true),
        ];
        for (pattern, name, expected) in rows {
            assert_eq!(fits(pattern, name), expected, "{pattern:?} {name:?}");
        }
        let long = "a".repeat(5_000);
        assert!(!fits(Some(&"%a".repeat(40).replace("a", "ab")), &long));
    }
}
