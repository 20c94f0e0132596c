//! CREATE TABLE statements for databases, without connecting to them.

use arrow_schema::Schema;

use crate::stores::server::ServerKind;
use crate::{Error, Result};

/// The statement that creates a table for rows of this schema in a kind of database (`postgres`, `sqlite`, `clickhouse`, `duckdb`, …), with
/// the types that `copy --create` would use.
///
/// # Errors
///
/// [`Error::Unsupported`] for an unknown kind, and for a column whose type the database lacks.
pub fn create_table(kind: &str, table: &str, schema: &Schema) -> Result<String> {
    let known = ServerKind::all().filter_map(|kind| Some((kind.scheme(), kind.ddl()?)));
    let known: Vec<_> = known.collect();
    let is_it = |scheme: &str| ServerKind::of_scheme(kind).is_some_and(|kind| kind.scheme() == scheme);
    match known.iter().find(|(scheme, _)| is_it(scheme)) {
        Some((_, ddl)) => ddl(table, schema),
        None => Err(Error::Unsupported {
            what: format!("the CREATE TABLE of {kind}"),
            hint: format!(
                "this program knows those of {}",
                known.iter().map(|(scheme, _)| *scheme).collect::<Vec<_>>().join(", ")
            ),
        }),
    }
}

/// The text of a statement, with one column per line.
#[cfg(any(feature = "adbc", feature = "clickhouse", feature = "sqlite"))]
pub(crate) fn statement(table: &str, columns: impl Iterator<Item = String>) -> String {
    let columns: Vec<_> = columns.map(|column| format!("\n    {column}")).collect();
    format!("CREATE TABLE {table} ({}\n)", columns.join(","))
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field, TimeUnit};

    use super::*;

    /// The types of `docs/stores.md`, without a server.
    #[test]
    fn statements_have_the_types_of_each_database() {
        let schema = Schema::new(vec![
            Field::new("ID", DataType::Int64, false),
            Field::new("say \"hi\"", DataType::Utf8, true),
            Field::new("PAY", DataType::Decimal128(9, 2), true),
            Field::new("BORN", DataType::Date32, true),
            Field::new("AT", DataType::Timestamp(TimeUnit::Millisecond, None), true),
        ]);
        #[cfg(feature = "postgres")]
        assert_eq!(
            create_table("postgresql", "t", &schema).expect("made"),
            "CREATE TABLE \"t\" (\n    \"id\" bigint NOT NULL,\n    \"say \"\"hi\"\"\" text,\n    \"pay\" numeric(9,2),\n    \"born\" date,\n    \"at\" timestamp\n)"
        );
        #[cfg(feature = "sqlite")]
        assert_eq!(
            create_table("sqlite", "t", &schema).expect("made"),
            "CREATE TABLE \"t\" (\n    \"ID\" INTEGER,\n    \"say \"\"hi\"\"\" TEXT,\n    \"PAY\" DECIMAL(9, 2),\n    \"BORN\" DATE,\n    \"AT\" DATETIME\n)"
        );
        #[cfg(feature = "adbc")]
        assert_eq!(
            create_table("duckdb", "t", &schema).expect("made"),
            "CREATE TABLE \"t\" (\n    \"ID\" BIGINT NOT NULL,\n    \"say \"\"hi\"\"\" VARCHAR,\n    \"PAY\" DECIMAL(9, 2),\n    \"BORN\" DATE,\n    \"AT\" TIMESTAMP_MS\n)"
        );
        #[cfg(feature = "clickhouse")]
        assert_eq!(
            create_table("clickhouse", "t", &schema).expect("made"),
            "CREATE TABLE `t` (\n    `ID` Int64,\n    `say \"hi\"` Nullable(String),\n    `PAY` Nullable(Decimal(9, 2)),\n    `BORN` Nullable(Date32),\n    `AT` Nullable(DateTime64(3))\n)\nENGINE = MergeTree ORDER BY tuple()"
        );
        let other = create_table("oracle", "t", &schema).expect_err("not known").to_string();
        assert!(other.contains("oracle"), "{other}");
    }
}
