//! Fills a table of a Cassandra cluster, and creates it on request.
//!
//! Cassandra cannot rename tables, so that a new table has its final name from the start, and is dropped again if its rows are incomplete.
//! They are counted first: rows with equal keys would become one row. Rows are inserted into an existing table as they arrive; after an
//! error the inserted rows remain, including those that replaced rows with the same key. An existing table is never replaced by a new one,
//! since for some time neither would exist.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use tidemill_cql::{Insert, Rows, Scan, Table, accepts, arrow_type};

use super::{NamedTable, error_at};
use crate::error::Left;
use crate::stores::server::fitting::{column_of, fitted, unfit};
use crate::stores::server::{Filling, IfThere, TableOptions, TableSink};
use crate::{Error, Result};

pub(super) struct CassandraSink {
    insert: Insert,
    /// The URL without its password.
    place: String,
    /// The filled columns, in the order of the insert, with the types of the rows.
    expected: SchemaRef,
    /// The names of the columns, in the order of the rows.
    names: Vec<String>,
    is_made: bool,
}

impl CassandraSink {
    /// Starts to fill the table.
    pub(super) async fn begin(named: NamedTable, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Self> {
        let &Filling {
            columns,
            making: options,
            there,
            ..
        } = filling;
        let found = named
            .client
            .tables(&named.keyspace)
            .await
            .map_err(error_at(&named.place))?;
        let is_there = found.contains(&named.table);
        let (table, is_made) = if !options.create || (there.is_by_place() && is_there) {
            (named.find().await?, false)
        } else {
            (
                Self::make(&named, schema, options, is_there.then_some(there)).await?,
                true,
            )
        };
        let table = Arc::new(table);
        let begun = Self::fill(Arc::clone(&table), &named.place, schema, columns, there).await;
        match begun {
            Ok((insert, names)) => {
                let expected = expected(&insert, schema, &names);
                let insert = insert.into_new_table(is_made);
                Ok(Self {
                    insert,
                    place: named.place,
                    expected,
                    names,
                    is_made,
                })
            }
            Err(error) => {
                if is_made {
                    drop_again(&table).await;
                }
                Err(error)
            }
        }
    }

    async fn make(
        named: &NamedTable,
        schema: &SchemaRef,
        options: &TableOptions,
        there: Option<IfThere>,
    ) -> Result<Table> {
        let place = &named.place;
        match there {
            Some(IfThere::Replace) => {
                return Err(Error::Unsupported {
                    what: format!("{place}: replacing a table of Cassandra, which can't rename the new one,"),
                    hint: "DROP the old one there first".to_owned(),
                });
            }
            Some(_) => return Err(Error::Exists { place: place.clone() }),
            None => {}
        }
        let key = options.primary_key.as_deref().ok_or_else(|| Error::Unsupported {
            what: format!("{place}: a table without a primary key"),
            hint: "--primary-key names its columns, e.g. id or \"(city, year), at\"".to_owned(),
        })?;
        let made = named
            .client
            .create_table(&named.keyspace, &named.table, schema, key)
            .await;
        made.map_err(error_at(place))
    }

    /// The insert, and the column names of the rows.
    async fn fill(
        table: Arc<Table>,
        place: &str,
        schema: &SchemaRef,
        columns: &[String],
        there: IfThere,
    ) -> Result<(Insert, Vec<String>)> {
        let known = table.schema();
        let names: Vec<String> = match (columns.is_empty(), there) {
            (false, _) => columns.to_vec(),
            (true, there) if there.is_by_place() => known.fields().iter().map(|field| field.name().clone()).collect(),
            (true, _) => schema.fields().iter().map(|field| field.name().clone()).collect(),
        };
        let place_of = |name: &String| {
            let by_cql = || table.columns().iter().position(|column| column.name == *name);
            let found = column_of(&known, name).or_else(by_cql);
            found.ok_or_else(|| unfit(place, name, "the table has no such column"))
        };
        let places = names.iter().map(place_of).collect::<Result<Vec<_>>>()?;
        let insert = Insert::begin(table, &places).await.map_err(error_at(place))?;
        let names = places.iter().map(|place| known.field(*place).name().clone()).collect();
        Ok((insert, names))
    }
}

#[async_trait::async_trait]
impl TableSink for CassandraSink {
    fn columns(&self) -> Vec<String> {
        self.names.clone()
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let fitted = fitted(batch, &self.expected, &self.place, self.insert.rows())?;
        self.insert.write(&fitted).await.map_err(error_at(&self.place))
    }

    async fn finish(self: Box<Self>) -> Result<u64> {
        let written = self.insert.rows();
        if !self.is_made {
            return Ok(written);
        }
        let counted = match Scan::new(Arc::clone(self.insert.table()), &[], Rows::All) {
            Ok(scan) => scan.count().await,
            Err(error) => Err(error),
        };
        let checked = match counted.map_err(error_at(&self.place)) {
            Ok(found) if found == written => return Ok(written),
            Ok(found) if found < written => Err(Error::Unsupported {
                what: format!("{}: {written} rows with {found} different primary keys", self.place),
                hint: "a key has one row: name columns that tell rows apart; the table was removed".to_owned(),
            }),
            Ok(found) => Err(Error::RowCount {
                place: self.place.clone(),
                written,
                found,
                left: Left::Removed,
            }),
            Err(error) => Err(error),
        };
        self.give_up().await;
        checked
    }

    async fn give_up(self: Box<Self>) {
        if self.is_made {
            drop_again(self.insert.table()).await;
        }
    }
}

/// The first error is reported; if the cluster is unreachable, the table remains.
async fn drop_again(table: &Table) {
    let _ = table.drop_table().await;
}

/// The columns of the insert, each with the type of the rows if it can be converted.
fn expected(insert: &Insert, schema: &SchemaRef, names: &[String]) -> SchemaRef {
    let table = insert.table();
    let known = table.schema();
    let fields = insert.columns().iter().map(|place| {
        let (field, column) = (known.field(*place), &table.columns()[*place]);
        let found = names.iter().position(|name| name == field.name());
        let found = found
            .and_then(|place| schema.fields().get(place))
            .map(|field| field.data_type());
        let data_type = match found.filter(|data_type| accepts(&column.typ, data_type)) {
            Some(data_type) => data_type.clone(),
            None => arrow_type::data_type(&column.typ),
        };
        Field::new(field.name(), data_type, true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
