//! How far tables were followed, kept in a table beside their targets.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;

use tidemill_ads::sql::{StatementOptions, Value};
use tidemill_ads::{Connection, Executed, Settings};

use super::{IfThere, TableOptions, TableSink};
use crate::location::{Location, Place};
use crate::server_url::ServerUrl;
use crate::session::Session;
use crate::transaction::blocking;
use crate::{Error, Result};

/// The table. A row has a target, a source, and how far that was copied there; of several rows the furthest counts.
const TABLE: &str = "tidemill_positions";

/// The position of one source in one target.
pub(crate) struct Positions<'s> {
    session: &'s Session,
    /// Of the same server, or in the same folder.
    table: Location,
    target: String,
    source: String,
}

impl<'s> Positions<'s> {
    /// # Errors
    ///
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a target that is neither a table of a server nor a file.
    pub(crate) fn new(session: &'s Session, target: &Location, source: String) -> Result<Self> {
        let (table, target) = match &target.place {
            Place::Server(url) => (Location::server(url.with_table(TABLE))?, url.last_part().to_owned()),
            _ => {
                let file = target.file()?;
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                let table = Location::new_file(&file.with_file_name(format!("{TABLE}.dbf")))?;
                return Ok(Self {
                    session,
                    table,
                    target: in_any_code_page(&name),
                    source: in_any_code_page(&source),
                });
            }
        };
        Ok(Self {
            session,
            table,
            target,
            source,
        })
    }

    /// 0 where nothing was copied yet.
    pub(crate) async fn get(&self) -> Result<u64> {
        let is_there = match &self.table.place {
            Place::File(path) => path.exists(),
            _ => self.session.is_there(&self.table).await?,
        };
        if !is_there {
            return Ok(0);
        }
        let mut rows = self.session.read(&self.table, None).await?;
        let mut furthest = 0;
        while let Some(batch) = rows.next().await? {
            let column = |name: &str, wanted: &DataType| -> Result<ArrayRef> {
                let schema = batch.schema();
                // xBase has its names in capitals.
                let mut fields = schema.fields().iter();
                let place = fields.position(|field| field.name().eq_ignore_ascii_case(name));
                let place = place.map_or_else(|| schema.index_of(name), Ok)?;
                Ok(cast(batch.column(place), wanted)?)
            };
            let (targets, sources) = (column("target", &DataType::Utf8)?, column("source", &DataType::Utf8)?);
            let positions = column("position", &DataType::Int64)?;
            let names = targets.as_string::<i32>().iter().zip(sources.as_string::<i32>());
            for (names, position) in names.zip(positions.as_primitive::<Int64Type>()) {
                if names == (Some(&self.target), Some(&self.source)) {
                    furthest = furthest.max(position.and_then(|position| u64::try_from(position).ok()).unwrap_or(0));
                }
            }
        }
        Ok(furthest)
    }

    /// Keeps a position, which is not before those that were kept.
    pub(crate) async fn set(&self, position: u64) -> Result<()> {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        match &self.table.place {
            Place::Server(url) => self.set_on(url, position).await,
            _ => self.set_in(self.table.file()?, position).await,
        }
    }

    /// In an xBase table, where a row is changed.
    async fn set_in(&self, file: &Path, position: i64) -> Result<()> {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let is_there = file.exists();
        let values = [
            Value::Integer(position),
            Value::Text(self.target.clone()),
            Value::Text(self.source.clone()),
        ];
        blocking(move || {
            let mut connection = Connection::open(std::path::absolute(&folder).map_err(Error::io(&folder, "find"))?)?;
            let (settings, statements) = (Settings::default(), StatementOptions::default());
            let mut execute = |text: &str| connection.execute(text, &values, &settings, &statements);
            if !is_there {
                execute(&format!(
                    "CREATE TABLE {TABLE} ( target Memo, source Memo, position Numeric(20, 0) )"
                ))?;
            }
            let changed = execute(&format!(
                "UPDATE {TABLE} SET position = :position WHERE target = :target AND source = :source"
            ))?;
            if changed == Executed::Changed(0) {
                execute(&format!(
                    "INSERT INTO {TABLE} ( position, target, source ) VALUES ( :position, :target, :source )"
                ))?;
            }
            Ok(())
        })
        .await
    }

    async fn set_on(&self, table: &ServerUrl, position: i64) -> Result<()> {
        let text = |text: &str| Arc::new(StringArray::from_iter_values([text])) as ArrayRef;
        let row = RecordBatch::try_from_iter([
            ("target", text(&self.target)),
            ("source", text(&self.source)),
            (
                "position",
                Arc::new(Int64Array::from_iter_values([position])) as ArrayRef,
            ),
        ])?;
        let making = TableOptions {
            create: true,
            engine: "ReplacingMergeTree(position)".to_owned(),
            order_by: "(target, source)".to_owned(),
            primary_key: Some("target, source".to_owned()),
        };
        let (clients, schema) = (&self.session.clients, row.schema());
        let columns: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut sink = TableSink::begin(table, clients, &schema, &columns, &making, IfThere::Add).await?;
        match sink.write(&row).await {
            Ok(()) => sink.finish().await.map(drop),
            Err(error) => {
                sink.give_up().await;
                Err(error)
            }
        }
    }
}

/// A name in letters that every code page has.
fn in_any_code_page(name: &str) -> String {
    match name.is_ascii() {
        true => name.to_owned(),
        false => name.escape_default().to_string(),
    }
}
