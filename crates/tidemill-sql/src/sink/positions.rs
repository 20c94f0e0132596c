//! How far tables were followed, kept in a table beside their targets.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::{IfThere, TableOptions, TableSink};
use crate::Result;
use crate::location::Location;
use crate::server_url::ServerUrl;
use crate::session::Session;

/// The table. A row has a target, a source, and how far that was copied there; of several rows the furthest counts.
const TABLE: &str = "tidemill_positions";

/// The position of one source in one target.
pub(crate) struct Positions<'s> {
    session: &'s Session,
    table: ServerUrl,
    target: String,
    source: String,
}

impl<'s> Positions<'s> {
    pub(crate) fn new(session: &'s Session, target: &ServerUrl, source: String) -> Self {
        Self {
            session,
            table: target.sibling(TABLE),
            target: target.last_part().to_owned(),
            source,
        }
    }

    /// 0 where nothing was copied yet.
    pub(crate) async fn get(&self) -> Result<u64> {
        let table = Location::server(self.table.clone())?;
        if !self.session.is_there(&table).await? {
            return Ok(0);
        }
        let mut rows = self.session.read(&table, None).await?;
        let mut furthest = 0;
        while let Some(batch) = rows.next().await? {
            let column = |name: &str, wanted: &DataType| -> Result<ArrayRef> {
                let place = batch.schema().index_of(name)?;
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
        let mut sink = TableSink::begin(&self.table, clients, &schema, &columns, &making, IfThere::Add).await?;
        match sink.write(&row).await {
            Ok(()) => sink.finish().await.map(drop),
            Err(error) => {
                sink.give_up().await;
                Err(error)
            }
        }
    }
}
