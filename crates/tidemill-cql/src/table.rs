//! A table of a cluster: its columns, its keys, and their Arrow schema.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use scylla::frame::response::result::ColumnType;

use crate::arrow_type;
use crate::client::{Client, failed, pick, request};
use crate::cql_text;
use crate::error::{Error, Result};
use crate::table_comment;

/// A table or a view, as it was when it was looked up.
pub struct Table {
    pub(crate) client: Client,
    pub(crate) keyspace: String,
    pub(crate) name: String,
    pub(crate) columns: Vec<TableColumn>,
    schema: SchemaRef,
    /// Whether the ring can be parted by tokens that are whole numbers.
    pub(crate) has_token_ranges: bool,
}

/// A column of a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableColumn {
    /// As the table spells it.
    pub name: String,
    /// What its values are.
    pub typ: ColumnType<'static>,
    /// What it is in the table.
    pub role: Role,
}

/// What a column is in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// In the partition key, at this place from 0.
    Partition(usize),
    /// In the clustering key, at this place from 0.
    Clustering(usize),
    /// One value for a partition.
    Static,
    /// Any other.
    Regular,
}

impl Table {
    pub(crate) async fn find(client: &Client, keyspace: &str, name: &str) -> Result<Self> {
        let found = client.keyspace(keyspace).await?;
        let (keyspace, schema) = (found.name.clone(), found.schema());
        let name = pick(name, client.tables_of(&found).await?).map_err(|hint| Error::NotFound {
            kind: "table",
            name: format!("{keyspace}.{name}"),
            hint: format!("the keyspace has {hint}"),
        })?;
        let columns = format!(
            "SELECT column_name, kind, position, type FROM {schema}.columns WHERE keyspace_name = ? AND table_name = ?"
        );
        let place = format!("{keyspace}.{name}");
        let failed = |error: &dyn std::error::Error| failed(&place, "looking up its columns", error);
        let rows = client.system_rows(&columns, (&keyspace, &name)).await?;
        let rows = rows.rows::<(String, String, i32, String)>();
        let mut columns_by_name = HashMap::new();
        for column in rows.map_err(|error| failed(&error))? {
            let (name, kind, position, spelled) = column.map_err(|error| failed(&error))?;
            columns_by_name.insert(name, (role(&kind, position), spelled));
        }
        let text = format!("SELECT * FROM {}.{}", cql_text::name(&keyspace), cql_text::name(&name));
        let prepared = client.prepare(text, &place, "reading").await?;
        let mut columns = Vec::new();
        let mut fields = Vec::new();
        for spec in prepared.get_current_result_set_col_specs().get().iter() {
            let typ = spec.typ().clone().into_owned();
            let (role, spelled) = match columns_by_name.remove(spec.name()) {
                Some(known) => known,
                None => (Role::Regular, cql_text::type_name(&typ)),
            };
            fields.push(arrow_type::spelled_field(spec.name(), &typ, &spelled));
            columns.push(TableColumn {
                name: spec.name().to_owned(),
                typ,
                role,
            });
        }
        let comment = comment(client, schema, &keyspace, &name).await?;
        let mut places: Vec<usize> = (0..columns.len()).collect();
        let mut order = Vec::new();
        for original in table_comment::read(&comment) {
            let is_named = |place: &usize| column_name(&original.name, &columns) == Some(*place);
            if let Some(at) = places.iter().position(is_named) {
                let place = places.remove(at);
                fields[place] = original.restore(fields[place].clone());
                order.push(place);
            }
        }
        order.extend(places);
        let partitioner = client.system_rows("SELECT partitioner FROM system.local", ()).await?;
        let partitioner = partitioner.first_row::<(String,)>().map_err(|error| failed(&error))?;
        Ok(Self {
            client: client.clone(),
            keyspace,
            name,
            columns: order.iter().map(|place| columns[*place].clone()).collect(),
            schema: Arc::new(Schema::new(
                order.iter().map(|place| fields[*place].clone()).collect::<Vec<_>>(),
            )),
            // A virtual table is read whole, of one node.
            has_token_ranges: !found.is_virtual && partitioner.0.ends_with("Murmur3Partitioner"),
        })
    }

    /// The columns of a scan, in the order of [`Table::columns`]: names and types as [`arrow_type`] has them, or as they were in
    /// the rows that the table was made from, where its comment says so. All may be null.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The columns, in the order of `SELECT *`, or of the rows that the table was made from.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// The places of the columns of the partition key, in its order.
    pub fn partition_key(&self) -> Vec<usize> {
        self.key(|role| match role {
            Role::Partition(position) => Some(position),
            _ => None,
        })
    }

    /// The places of the columns of the clustering key, in its order.
    pub fn clustering_key(&self) -> Vec<usize> {
        self.key(|role| match role {
            Role::Clustering(position) => Some(position),
            _ => None,
        })
    }

    fn key(&self, position: impl Fn(Role) -> Option<usize>) -> Vec<usize> {
        let columns = self.columns.iter().enumerate();
        let mut key: Vec<_> = columns
            .filter_map(|(place, column)| Some((position(column.role)?, place)))
            .collect();
        key.sort_unstable();
        key.into_iter().map(|(_, place)| place).collect()
    }

    /// The keyspace and the table, as errors name them.
    pub fn place(&self) -> String {
        format!("{}.{}", self.keyspace, self.name)
    }

    /// The keyspace and the table in the text of a statement.
    pub fn text(&self) -> String {
        format!("{}.{}", cql_text::name(&self.keyspace), cql_text::name(&self.name))
    }

    /// Removes the table and its rows.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub async fn drop_table(&self) -> Result<()> {
        let cql = format!("DROP TABLE IF EXISTS {}", self.text());
        self.client
            .change_schema(&self.place(), "dropping the table", &cql)
            .await
    }
}

/// The column that an Arrow column of this name is: spelled so, or so in small letters.
fn column_name(name: &str, columns: &[TableColumn]) -> Option<usize> {
    let spelled = |name: &str| columns.iter().position(|column| column.name == name);
    spelled(name).or_else(|| spelled(&name.to_lowercase()))
}

fn role(kind: &str, position: i32) -> Role {
    let position = usize::try_from(position).unwrap_or_default();
    match kind {
        "partition_key" => Role::Partition(position),
        "clustering" => Role::Clustering(position),
        "static" => Role::Static,
        _ => Role::Regular,
    }
}

/// The comment of a table; none of a view.
async fn comment(client: &Client, schema: &str, keyspace: &str, table: &str) -> Result<String> {
    let text = format!("SELECT comment FROM {schema}.tables WHERE keyspace_name = ? AND table_name = ?");
    let rows = client.system_rows(&text, (keyspace, table)).await?;
    let row = rows.maybe_first_row::<(Option<String>,)>();
    let row = row.map_err(request(table, "reading its comment"))?;
    Ok(row.and_then(|(comment,)| comment).unwrap_or_default())
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("keyspace", &self.keyspace)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
