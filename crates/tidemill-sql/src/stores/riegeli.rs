//! Riegeli/records files: typed rows, messages of a described type, or records as they are.

mod messages;
mod rows;

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use tidemill_riegeli::rows::RowFile;
use tidemill_riegeli::{MessageSchema, ReaderOptions, RecordReader, RecordType, SharedSource};

use self::messages::MessageEngine;
use self::rows::RowEngine;
use super::object::AT_ONCE;
use crate::damage::DamageLog;
use crate::engine::{Engine, EngineTable};
use crate::location::{Format, Location};
use crate::options::SessionOptions;
use crate::{Error, Result};

pub(super) async fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    let mut engines: Vec<BoxFuture<'static, Result<_>>> = Vec::new();
    for (part, source) in location.sources().await? {
        let Some(source) = source else { continue };
        let (name, options, damage) = (location.to_string(), options.clone(), damage.clone());
        let mut reading = options.reading().stop_at_footer(part.format == Format::ArrayRecord);
        if let Some(positions) = &options.positions {
            reading = reading.chunks(positions.clone());
        }
        // Objects are waited for, which a thread of the runtime must not do.
        let open = move || engine(source, part.to_string(), reading, &options, damage);
        let opened = async move {
            tokio::task::spawn_blocking(open).await.map_err(|panic| Error::Io {
                path: name.into(),
                action: "open",
                source: panic.into(),
            })?
        };
        engines.push(opened.boxed());
    }
    let engines: Vec<_> = stream::iter(engines).buffered(AT_ONCE).try_collect().await?;
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

fn engine(
    source: SharedSource,
    path: String,
    mut reading: ReaderOptions,
    options: &SessionOptions,
    damage: DamageLog,
) -> Result<Box<dyn Engine>> {
    if let Some(projection) = &options.field_projection {
        reading = reading.field_projection(projection.clone());
    }
    let mut reader = RecordReader::from_source(SharedSource::clone(&source), &path, &reading)?;
    // Recovery leaves out what is damaged, so only a scan knows how much is left.
    let rows = match options.recovers() {
        true => Precision::Absent,
        false => Precision::Exact(usize::try_from(reader.count_records()?).unwrap_or(usize::MAX)),
    };
    let metadata = reader.records_metadata()?;
    let record_type = match options.record_type(metadata.record_type_name.as_deref())? {
        Some(given) => Some(given),
        None if metadata.arrow_schema.is_some() && options.field_projection.is_none() => None,
        None => metadata.record_type(),
    };
    Ok(match record_type {
        Some(RecordType { name, descriptors }) => {
            let schema = MessageSchema::new(&descriptors, &name)?;
            let projection = options.field_projection.as_ref();
            Box::new(MessageEngine {
                source,
                path,
                options: reading,
                schema: projection.map_or_else(|| schema.clone(), |projection| schema.project(projection)),
                rows,
                damage,
            })
        }
        None => Box::new(RowEngine {
            file: Arc::new(RowFile::from_source(source, &path, &reading)?),
            path,
            rows,
            damage,
        }),
    })
}
