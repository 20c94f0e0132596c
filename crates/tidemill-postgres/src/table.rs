//! Tables as the catalogue describes them.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use tokio_postgres::Row;

use crate::arrow_type;
use crate::client::Client;
use crate::data_type::Type;
use crate::error::{Error, Result};
use crate::read::types;
use crate::sql_text::quoted;

/// A table, a view, or what else has rows: materialised views, partitioned and foreign tables.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// The schema, as it is spelt.
    pub schema_name: String,
    /// The name, as it is spelt.
    pub name: String,
    /// What it is.
    pub kind: TableKind,
    /// The columns, in the order of `SELECT *`.
    pub columns: Vec<Column>,
    /// The columns of the primary key, in its order. Empty without one.
    pub primary_key: Vec<String>,
    /// About how many rows it has, as the last ANALYZE estimated; `None` before the first.
    pub estimated_rows: Option<u64>,
}

/// What has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableKind {
    /// A table, partitioned or not.
    Table,
    /// A view.
    View,
    /// A materialised view.
    MaterializedView,
    /// A table of another server.
    Foreign,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The name, as it is spelt.
    pub name: String,
    /// The type.
    pub typ: Type,
    /// The type as the table declares it: also the name of a domain.
    pub declared: String,
    /// What the catalogue says of the type beyond its name, also of the type that a domain is made of (`atttypmod`); -1 for nothing.
    pub(crate) modifier: i32,
    /// Whether it takes NULL.
    pub is_nullable: bool,
    /// Whether its values are computed from other columns, so that none can be written.
    pub is_generated: bool,
    /// Whether the server numbers its rows.
    pub is_identity: bool,
    /// Whether rows that name no value for it get one.
    pub has_default: bool,
}

impl Column {
    /// What a SELECT has for the column, so that [`Read`](crate::Read) reads it: the name, with a cast to text where values are read as text.
    #[must_use]
    pub fn expression(&self) -> String {
        let name = quoted(&self.name);
        match &self.typ {
            typ if typ.is_known() => name,
            // A cast puts the mask behind each address.
            Type::Other(typ) if typ == "inet" => format!("nullif(format('%s', {name}), '') AS {name}"),
            _ => format!("{name}::text AS {name}"),
        }
    }

    /// The column of a batch.
    #[must_use]
    pub fn field(&self) -> Field {
        arrow_type::field(&self.name, &self.typ, self.is_nullable)
    }
}

impl Table {
    /// Its name in statements: `"public"."Orders"`.
    #[must_use]
    pub fn quoted_name(&self) -> String {
        format!("{}.{}", quoted(&self.schema_name), quoted(&self.name))
    }

    /// The columns of its batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(Column::field);
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// The query of some of its columns, by their places in [`Table::columns`]: all rows, in no order.
    #[must_use]
    pub fn select(&self, columns: &[usize]) -> String {
        let chosen = columns.iter().filter_map(|index| self.columns.get(*index));
        let expressions: Vec<String> = chosen.map(Column::expression).collect();
        format!("SELECT {} FROM {}", expressions.join(", "), self.quoted_name())
    }
}

impl Client {
    /// Finds a table. Without a schema it is looked for along the session's search path. A name that no table has in this case of
    /// its letters stands for the one that has it in another.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], which names what is there.
    pub async fn table(&self, schema: Option<&str>, name: &str) -> Result<Table> {
        let shown = shown(schema, name);
        let doing = format!("{shown}: looking for the table");
        let rows = self.rows(&doing, FIND, &[&schema, &name]).await?;
        let found = rows
            .iter()
            .map(|row| Found::of(row, &doing))
            .collect::<Result<Vec<_>>>()?;
        let exact = found.iter().position(|table| table.name == name);
        let index = match (exact, found.len()) {
            (Some(index), _) => index,
            (None, 1) => 0,
            _ => return Err(self.not_found(schema, &shown).await),
        };
        let Some(found) = found.into_iter().nth(index) else {
            return Err(self.not_found(schema, &shown).await);
        };
        self.described(found, &doing).await
    }

    /// The names of the tables and views of a schema, in order; without one, those along the session's search path.
    ///
    /// # Errors
    ///
    /// [`Error::Server`], [`Error::Broken`], [`Error::Timeout`].
    pub async fn tables(&self, schema: Option<&str>) -> Result<Vec<String>> {
        let doing = "listing tables";
        let rows = self.rows(doing, TABLES, &[&schema]).await?;
        rows.iter().map(|row| cell(row, 0, doing)).collect()
    }

    async fn not_found(&self, schema: Option<&str>, shown: &str) -> Error {
        let hint = match self.tables(schema).await {
            Ok(names) if names.is_empty() => "there are none".to_owned(),
            Ok(names) => {
                const SHOWN: usize = 20;
                let more = if names.len() > SHOWN { ", …" } else { "" };
                let names: Vec<String> = names.into_iter().take(SHOWN).collect();
                format!("there are {}{more}", names.join(", "))
            }
            Err(error) => return error,
        };
        Error::NotFound {
            kind: "table",
            name: shown.to_owned(),
            hint,
        }
    }

    async fn described(&self, found: Found, doing: &str) -> Result<Table> {
        let rows = self.rows(doing, COLUMNS, &[&found.oid]).await?;
        let key = self.rows(doing, PRIMARY_KEY, &[&found.oid]).await?;
        let mut table = Table {
            schema_name: found.schema,
            name: found.name,
            kind: found.kind,
            columns: Vec::with_capacity(rows.len()),
            primary_key: key.iter().map(|row| cell(row, 0, doing)).collect::<Result<_>>()?,
            estimated_rows: found.rows,
        };
        let names = rows
            .iter()
            .map(|row| cell::<String>(row, 0, doing))
            .collect::<Result<Vec<_>>>()?;
        // The server tells the base types of domains where it describes a statement.
        let list: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let query = format!("SELECT {} FROM {}", list.join(", "), table.quoted_name());
        let lease = self.lease().await?;
        let statement = self.within(doing, lease.driver().prepare(&query)).await?;
        let types = types(&statement);
        let modifiers: Vec<i32> = statement
            .columns()
            .iter()
            .map(|column| column.type_modifier())
            .collect();
        drop(statement);
        lease.done();
        for ((row, name), (typ, modifier)) in rows.iter().zip(names).zip(types.into_iter().zip(modifiers)) {
            table.columns.push(Column {
                name,
                typ,
                declared: cell(row, 1, doing)?,
                modifier,
                is_nullable: !cell::<bool>(row, 2, doing)?,
                is_generated: cell(row, 3, doing)?,
                is_identity: cell(row, 4, doing)?,
                has_default: cell(row, 5, doing)?,
            });
        }
        Ok(table)
    }
}

/// A row of [`FIND`].
struct Found {
    oid: u32,
    schema: String,
    name: String,
    kind: TableKind,
    rows: Option<u64>,
}

impl Found {
    fn of(row: &Row, doing: &str) -> Result<Self> {
        // Before 14, and until the first ANALYZE, the estimate of an empty table is 0 or -1.
        let rows: f32 = cell(row, 4, doing)?;
        Ok(Self {
            oid: cell(row, 0, doing)?,
            schema: cell(row, 1, doing)?,
            name: cell(row, 2, doing)?,
            kind: match cell::<String>(row, 3, doing)?.as_str() {
                "v" => TableKind::View,
                "m" => TableKind::MaterializedView,
                "f" => TableKind::Foreign,
                _ => TableKind::Table,
            },
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "an estimate, above 0"
            )]
            rows: (rows > 0.0).then_some(rows as u64),
        })
    }
}

/// A value of the catalogue.
pub(crate) fn cell<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, index: usize, doing: &str) -> Result<T> {
    row.try_get(index).map_err(|error| Error::of(doing, &error))
}

pub(crate) fn shown(schema: Option<&str>, name: &str) -> String {
    match schema {
        Some(schema) => format!("{schema}.{name}"),
        None => name.to_owned(),
    }
}

/// Tables of this name in any case of letters, the first of the search path first.
const FIND: &str = "
    SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.reltuples
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND lower(c.relname) = lower($2)
      AND CASE WHEN $1::text IS NULL THEN n.nspname = ANY (pg_catalog.current_schemas(true)) ELSE n.nspname = $1 END
    ORDER BY pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname), c.relname";

const TABLES: &str = "
    SELECT DISTINCT c.relname::text
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND CASE WHEN $1::text IS NULL THEN n.nspname = ANY (pg_catalog.current_schemas(false)) ELSE n.nspname = $1 END
    ORDER BY 1";

const COLUMNS: &str = "
    SELECT a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated <> '', a.attidentity <> '', a.atthasdef
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum";

const PRIMARY_KEY: &str = "
    SELECT a.attname::text
    FROM pg_catalog.pg_index i
    CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k (number, place)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE i.indrelid = $1 AND i.indisprimary AND k.place <= i.indnkeyatts
    ORDER BY k.place";
