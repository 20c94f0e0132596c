//! Tables as the catalogue describes them (MySQL's manual, "INFORMATION_SCHEMA Tables").

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};

use crate::arrow_type;
use crate::client::Client;
use crate::data_type::Type;
use crate::error::{Error, Result};
use crate::sql_text::{literal, quoted};

/// A table or a view.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// The database, as it is spelt.
    pub database: String,
    /// The name, as it is spelt.
    pub name: String,
    /// What it is.
    pub kind: TableKind,
    /// The columns, in the order of the table.
    pub columns: Vec<Column>,
    /// The columns of the primary key, in its order. Empty without one.
    pub primary_key: Vec<String>,
    /// About how many rows it has; `None` of a view.
    pub estimated_rows: Option<u64>,
    /// The storage engine, such as `InnoDB`; `None` of a view.
    pub engine: Option<String>,
}

/// What has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableKind {
    /// A table.
    Table,
    /// A view, or a table of the catalogue.
    View,
    /// A sequence of MariaDB.
    Sequence,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The name, as it is spelt.
    pub name: String,
    /// The type.
    pub typ: Type,
    /// The type as the table declares it: `int(10) unsigned`.
    pub declared: String,
    /// The character set of its texts: `utf8mb4`. `None` of a column that has none.
    pub character_set: Option<String>,
    /// Whether it takes NULL.
    pub is_nullable: bool,
    /// Whether its values are computed from other columns, so that none can be written.
    pub is_generated: bool,
    /// Whether the server numbers its rows (`AUTO_INCREMENT`).
    pub is_auto_increment: bool,
    /// Whether rows that name no value for it get one.
    pub has_default: bool,
}

impl Column {
    /// The column of a batch.
    #[must_use]
    pub fn field(&self) -> Field {
        arrow_type::field(&self.name, &self.typ, self.is_nullable)
    }
}

impl Table {
    /// Its name in statements: `` `shop`.`Orders` ``.
    #[must_use]
    pub fn quoted_name(&self) -> String {
        format!("{}.{}", quoted(&self.database), quoted(&self.name))
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
        let names: Vec<String> = chosen.map(|column| quoted(&column.name)).collect();
        format!("SELECT {} FROM {}", names.join(", "), self.quoted_name())
    }
}

impl Client {
    /// Finds a table; without a database, in that of [`Options`](crate::Options). A name that no table has in this case of its letters
    /// stands for the one that has it in another.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], which names what is there.
    pub async fn table(&self, database: Option<&str>, name: &str) -> Result<Table> {
        let database = self.database(database)?;
        let shown = format!("{database}.{name}");
        let doing = format!("{shown}: looking for the table");
        if let Some(table) = self.described(database, name, &doing).await? {
            return Ok(table);
        }
        let names = self.tables(Some(database)).await?;
        let mut alike = names.iter().filter(|found| found.to_lowercase() == name.to_lowercase());
        if let (Some(found), None) = (alike.next(), alike.next())
            && let Some(table) = self.described(database, found, &doing).await?
        {
            return Ok(table);
        }
        Err(Error::NotFound {
            kind: "table",
            name: shown,
            hint: listed(&names),
        })
    }

    /// The names of the tables and views of a database, in order; without one, of that of [`Options`](crate::Options).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] without any database; [`Error::Server`], [`Error::Broken`], [`Error::Timeout`].
    pub async fn tables(&self, database: Option<&str>) -> Result<Vec<String>> {
        let database = literal(self.database(database)?);
        let query = format!(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = {database} ORDER BY TABLE_NAME"
        );
        let rows = self.texts("listing tables", &query).await?;
        Ok(rows
            .into_iter()
            .filter_map(|row| row.into_iter().next().flatten())
            .collect())
    }

    /// The database that is named, or that of the options.
    pub(crate) fn database<'a>(&'a self, database: Option<&'a str>) -> Result<&'a str> {
        let found = database.or(self.options().database.as_deref());
        found.ok_or_else(|| Error::NotFound {
            kind: "database",
            name: "the URL's database".to_owned(),
            hint: "name one: mysql://host/database/table".to_owned(),
        })
    }

    async fn described(&self, database: &str, name: &str, doing: &str) -> Result<Option<Table>> {
        let of_table = format!(
            "TABLE_SCHEMA = {} AND TABLE_NAME = {}",
            literal(database),
            literal(name)
        );
        let query = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_ROWS, ENGINE FROM information_schema.TABLES WHERE {of_table}"
        );
        let tables = self.texts(doing, &query).await?;
        let Some([Some(database), Some(name), Some(kind), rows, engine]) =
            tables.into_iter().next().and_then(|row| <[_; 5]>::try_from(row).ok())
        else {
            return Ok(None);
        };
        let query = format!(
            "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, EXTRA, COLUMN_DEFAULT, CHARACTER_SET_NAME FROM information_schema.COLUMNS \
             WHERE {of_table} ORDER BY ORDINAL_POSITION"
        );
        let columns = self.texts(doing, &query).await?;
        let query = format!(
            "SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE {of_table} AND INDEX_NAME = 'PRIMARY' \
             ORDER BY SEQ_IN_INDEX"
        );
        let key = self.texts(doing, &query).await?;
        Ok(Some(Table {
            kind: match kind.as_str() {
                "BASE TABLE" | "SYSTEM VERSIONED" => TableKind::Table,
                "SEQUENCE" => TableKind::Sequence,
                _ => TableKind::View,
            },
            database,
            name,
            columns: columns.into_iter().filter_map(column).collect(),
            primary_key: key.into_iter().flatten().flatten().collect(),
            estimated_rows: rows.and_then(|rows| rows.parse().ok()),
            engine,
        }))
    }

    /// The rows of a query of this crate's own, as texts.
    pub(crate) async fn texts(&self, doing: &str, query: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut lease = self.lease().await?;
        let rows = lease.texts(self, doing, query).await?;
        lease.done();
        Ok(rows)
    }
}

/// Of its name, type, whether it takes NULL, what else there is to it, its default and its character set.
fn column(row: Vec<Option<String>>) -> Option<Column> {
    let [name, declared, is_nullable, extra, default, character_set] = <[_; 6]>::try_from(row).ok()?;
    let (declared, extra) = (declared?, extra.unwrap_or_default().to_ascii_uppercase());
    let is_generated = ["VIRTUAL", "STORED", "PERSISTENT"]
        .iter()
        .any(|word| extra.contains(word));
    let is_auto_increment = extra.contains("AUTO_INCREMENT");
    let is_nullable = is_nullable.is_some_and(|text| text.eq_ignore_ascii_case("yes"));
    Some(Column {
        name: name?,
        typ: Type::named(&declared),
        declared,
        character_set,
        is_nullable,
        is_generated,
        is_auto_increment,
        has_default: is_nullable || is_auto_increment || default.is_some(),
    })
}

/// Names, as a hint lists them.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    match names.get(..SHOWN) {
        _ if names.is_empty() => "there are none".to_owned(),
        Some(first) if names.len() > SHOWN => format!("there are {}, …", first.join(", ")),
        _ => format!("there are {}", names.join(", ")),
    }
}
