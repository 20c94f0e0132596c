//! The tables of a connection, as ADBC lists them.
//!
//! There is one catalog, without a name. The tables of the database are in a schema whose name is empty; each attached database is a schema
//! of its name.

use adbc_core::error::Result;
use adbc_core::options::ObjectDepth;
use adbc_core::schemas::GET_OBJECTS_SCHEMA;
use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, TimeUnit};
use serde::Serialize;
use tidemill_sql::{Location, Session, SourceKeys};

/// The only type of tables.
pub(crate) const TABLE: &str = "TABLE";

/// The requested objects: `None` matches everything, the empty text what has no name, any other text is a LIKE pattern.
pub(crate) struct Patterns<'p> {
    pub(crate) catalog: Option<&'p str>,
    pub(crate) db_schema: Option<&'p str>,
    pub(crate) table_name: Option<&'p str>,
    pub(crate) column_name: Option<&'p str>,
    /// Whether tables are among the requested types.
    pub(crate) has_tables: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Catalog {
    catalog_name: Option<String>,
    catalog_db_schemas: Option<Vec<DbSchema>>,
}

#[derive(Debug, Serialize)]
struct DbSchema {
    db_schema_name: String,
    db_schema_tables: Option<Vec<Table>>,
}

#[derive(Debug, Serialize)]
struct Table {
    table_name: String,
    table_type: &'static str,
    table_columns: Option<Vec<Column>>,
    table_constraints: Option<Vec<Constraint>>,
}

#[derive(Debug, Serialize)]
struct Constraint {
    constraint_name: Option<String>,
    constraint_type: &'static str,
    constraint_column_names: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Column {
    column_name: String,
    ordinal_position: i32,
    remarks: Option<String>,
    xdbc_data_type: i16,
    xdbc_type_name: String,
    xdbc_column_size: Option<i32>,
    xdbc_decimal_digits: Option<i16>,
    xdbc_num_prec_radix: Option<i16>,
    xdbc_nullable: i16,
    xdbc_sql_data_type: i16,
    xdbc_datetime_sub: Option<i16>,
    xdbc_is_nullable: &'static str,
}

/// The tables as a batch.
///
/// # Errors
///
/// None known.
pub(crate) fn batch(catalogs: &[Catalog]) -> Result<RecordBatch> {
    let schema = GET_OBJECTS_SCHEMA.clone();
    let mut decoder = ReaderBuilder::new(schema.clone())
        .with_batch_size(catalogs.len().max(1))
        .build_decoder()?;
    decoder.serialize(catalogs)?;
    Ok(decoder.flush()?.unwrap_or_else(|| RecordBatch::new_empty(schema)))
}

/// Finds the tables. A table that cannot be opened has no columns.
///
/// # Errors
///
/// If the folder cannot be read, or a server does not answer.
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
                db_schema_name: name.unwrap_or_default(),
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
        let has_columns = depth != ObjectDepth::Tables;
        let keys = has_columns.then(|| session.keys_of(&location).unwrap_or_default());
        let keys = keys.unwrap_or_default();
        let columns = match depth {
            ObjectDepth::Tables => None,
            _ => session.schema(&location).await.ok().map(|schema| {
                let columns = schema
                    .fields()
                    .iter()
                    .zip(1..)
                    .filter(|(field, _)| fits(patterns.column_name, field.name()));
                columns
                    .map(|(field, place)| {
                        let may_be_null = field.is_nullable() && !keys.required.contains(field.name());
                        described_column(field, place, may_be_null)
                    })
                    .collect()
            }),
        };
        described.push(Table {
            table_name: name,
            table_type: TABLE,
            table_constraints: columns.as_ref().map(|_| constraints(keys)),
            table_columns: columns,
        });
    }
    described
}

/// The primary key and the unique keys of a table. Empty if its index is damaged: statements that use the index report that.
fn constraints(keys: SourceKeys) -> Vec<Constraint> {
    let constraint = |constraint_type, constraint_column_names| Constraint {
        constraint_name: None,
        constraint_type,
        constraint_column_names,
    };
    let primary = (!keys.primary_key.is_empty()).then(|| constraint("PRIMARY KEY", keys.primary_key));
    let unique = keys.indexes.into_iter().filter(|index| index.is_unique);
    let unique = unique.map(|index| constraint("UNIQUE", index.columns));
    primary.into_iter().chain(unique).collect()
}

fn described_column(field: &Field, place: i32, may_be_null: bool) -> Column {
    let shape = XdbcType::of(field.data_type());
    Column {
        column_name: field.name().clone(),
        ordinal_position: place,
        remarks: remarks(field),
        xdbc_data_type: shape.code,
        xdbc_type_name: field.data_type().to_string(),
        xdbc_column_size: shape.size,
        xdbc_decimal_digits: shape.digits,
        xdbc_num_prec_radix: shape.radix,
        xdbc_nullable: i16::from(may_be_null),
        xdbc_sql_data_type: shape.datetime.map_or(shape.code, |_| SQL_DATETIME),
        xdbc_datetime_sub: shape.datetime,
        xdbc_is_nullable: if may_be_null { "YES" } else { "NO" },
    }
}

/// ODBC's type for dates and times (`sql.h`, SQL_DATETIME).
const SQL_DATETIME: i16 = 9;

/// A type as XDBC describes it.
#[derive(Debug, Default, PartialEq, Eq)]
struct XdbcType {
    code: i16,
    size: Option<i32>,
    digits: Option<i16>,
    radix: Option<i16>,
    /// SQL_CODE_DATE, SQL_CODE_TIME or SQL_CODE_TIMESTAMP.
    datetime: Option<i16>,
}

impl XdbcType {
    /// The codes are those of ODBC's `sql.h` and `sqlext.h`; other types are SQL_UNKNOWN_TYPE.
    fn of(data_type: &DataType) -> Self {
        let sized = |code, size: i32| Self {
            code,
            size: Some(size),
            ..Self::default()
        };
        let number = |code, size: i32, digits: i8| Self {
            digits: Some(digits.into()),
            radix: Some(10),
            ..sized(code, size)
        };
        let moment = |code, datetime, size: i32, digits: i8| Self {
            digits: Some(digits.into()),
            datetime: Some(datetime),
            ..sized(code, size)
        };
        let plain = |code| Self {
            code,
            ..Self::default()
        };
        match data_type {
            DataType::Boolean => sized(-7, 1),
            DataType::Int8 | DataType::UInt8 => number(-6, 3, 0),
            DataType::Int16 | DataType::UInt16 => number(5, 5, 0),
            DataType::Int32 | DataType::UInt32 => number(4, 10, 0),
            DataType::Int64 => number(-5, 19, 0),
            DataType::UInt64 => number(-5, 20, 0),
            DataType::Float16 | DataType::Float32 => number(7, 7, 0),
            DataType::Float64 => number(8, 15, 0),
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale)
            | DataType::Decimal256(precision, scale) => number(3, (*precision).into(), *scale),
            DataType::Date32 | DataType::Date64 => moment(91, 1, 10, 0),
            DataType::Time32(unit) | DataType::Time64(unit) => moment(92, 2, 8, digits_of(*unit)),
            DataType::Timestamp(unit, _) => moment(93, 3, 19, digits_of(*unit)),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => plain(12),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => plain(-3),
            DataType::FixedSizeBinary(size) => sized(-2, *size),
            DataType::Dictionary(_, values) => Self::of(values),
            _ => plain(0),
        }
    }
}

/// The number of digits of fractional seconds.
fn digits_of(unit: TimeUnit) -> i8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// The type of an xBase field as xBase programs write it: `N(8,2)`.
fn remarks(field: &Field) -> Option<String> {
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

/// LIKE without regard to case: `%` matches any text, `_` any character.
fn is_like(pattern: &[char], name: &[char]) -> bool {
    // The last `%`, and how far it reaches: earlier ones need no further attempt.
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
