//! Record files: Riegeli, ArrayRecord and TFRecord, with typed rows, messages of a described type, examples of TensorFlow, or records as
//! bytes.

mod messages;
mod rows;

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use tidemill_riegeli::array_record::ArrayRecordReader;
use tidemill_riegeli::rows::RowFile;
use tidemill_riegeli::tensorflow_example::ExampleKind;
use tidemill_riegeli::{MessageSchema, RecordIndex, RecordReader, RecordType, RecordsMetadata, SharedSource};

use self::messages::MessageEngine;
use self::rows::RowEngine;
use super::object::AT_ONCE;
use super::records::{self, RecordEngine, RecordFile, RecordKind};
use crate::damage::DamageLog;
use crate::engine::{Engine, EngineTable};
use crate::format::Format;
use crate::location::{Location, Place};
use crate::options::{MessageOption, SessionOptions};
use crate::{Error, Result};

pub(super) async fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    let mut files = Vec::new();
    for (part, source) in location.sources().await? {
        let Some(source) = source else { continue };
        let mut reading = options.reading().stop_at_footer(part.format == Format::ArrayRecord);
        if let Some(positions) = &options.positions {
            reading = reading.chunks(positions.clone());
        }
        files.push(RecordFile {
            source,
            path: part.to_string(),
            format: part.format,
            reading,
            positions: options.positions.clone(),
            index: None,
            first_length: None,
            is_local: matches!(part.place, Place::File(_)),
        });
    }
    // Opening an object blocks, which is not allowed on a thread of the runtime.
    let place = location.to_string();
    let mut opened: Vec<BoxFuture<'static, Result<Opened>>> = Vec::new();
    for file in files.clone() {
        let options = options.clone();
        let place = place.clone();
        let opening = async move {
            let work = tokio::task::spawn_blocking(move || Opened::open(file, &options));
            work.await.map_err(|panic| Error::io(place, "open")(panic.into()))?
        };
        opened.push(opening.boxed());
    }
    let opened: Vec<Opened> = stream::iter(opened).buffered(AT_ONCE).try_collect().await?;
    // The columns of examples depend on all files.
    let is_bytes = opened
        .iter()
        .all(|opened| matches!(opened.kind, Kind::Bytes(_) | Kind::Example(..)));
    let message = match (options.message_option(), opened.first().map(|opened| &opened.kind)) {
        (MessageOption::Found, Some(Kind::Example(kind, _))) => MessageOption::Example(*kind),
        (message, _) => message,
    };
    let kind = match (is_bytes, message) {
        (true, MessageOption::Example(_) | MessageOption::Found) if options.field_projection.is_none() => {
            let sampling = tokio::task::spawn_blocking(move || match message {
                MessageOption::Example(kind) => records::sample(kind, &files),
                _ => Ok(records::sample_unasked(&files)),
            });
            let sampled = sampling
                .await
                .map_err(|panic| Error::io(&place, "read")(panic.into()))?;
            sampled?.map(RecordKind::Example)
        }
        _ => None,
    };
    let engines = opened.into_iter().map(|opened| opened.engine(kind.clone(), damage));
    let engines: Vec<Box<dyn Engine>> = engines.collect::<Result<_>>()?;
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

/// A file with its kind of records.
struct Opened {
    file: RecordFile,
    kind: Kind,
}

enum Kind {
    Message(MessageSchema),
    /// Messages that the file's metadata declares as examples; their columns are found by sampling.
    Example(ExampleKind, MessageSchema),
    /// Typed rows, or projected fields of messages of an unknown type.
    Rows(RowFile),
    /// Records of an unknown type, with the reader to use if they are not examples; `None` if this is not the reader of rows.
    Bytes(Option<RowFile>),
}

impl Opened {
    fn open(mut file: RecordFile, options: &SessionOptions) -> Result<Self> {
        let mut reading = file.reading.clone();
        if let Some(projection) = &options.field_projection {
            reading = reading.field_projection(projection.clone());
        }
        if file.format == Format::TfRecord {
            // For an object, the beginning would be fetched again. The scan reports read errors.
            if file.is_local {
                file.first_length = file.measure().ok();
            }
            let kind = match options.record_type(None)? {
                Some(RecordType { name, descriptors }) => Kind::Message(MessageSchema::new(&descriptors, &name)?),
                None => Kind::Bytes(None),
            };
            return Ok(Self { file, kind });
        }
        let source = || SharedSource::clone(&file.source);
        let mut reader = RecordReader::from_source(source(), &file.path, &reading)?;
        let index = match (options.recovers(), file.format, &options.positions) {
            (true, ..) => None,
            (false, Format::ArrayRecord, None) => {
                let indexed = ArrayRecordReader::from_source(source(), &file.path, &reading)?;
                Some(RecordIndex::of_array_record(&indexed))
            }
            (false, ..) => Some(reader.index_records()?),
        };
        let mut metadata = reader.records_metadata()?;
        if options.message_option() == MessageOption::None {
            metadata = RecordsMetadata {
                arrow_schema: metadata.arrow_schema,
                ..RecordsMetadata::default()
            };
        }
        let record_type = match options.record_type(metadata.record_type_name.as_deref())? {
            Some(given) => Some(given),
            None if metadata.arrow_schema.is_some() && options.field_projection.is_none() => None,
            None => metadata.record_type(),
        };
        let kind = match record_type {
            Some(RecordType { name, descriptors }) => {
                let schema = MessageSchema::new(&descriptors, &name)?;
                let example = ExampleKind::from_message_name(&name).filter(|_| !options.has_descriptors());
                match (&options.field_projection, example) {
                    (Some(projection), _) => Kind::Message(schema.project(projection)),
                    (None, Some(kind)) => Kind::Example(kind, schema),
                    (None, None) => Kind::Message(schema),
                }
            }
            None => {
                let is_bytes = metadata.arrow_schema.is_none() && options.field_projection.is_none();
                // The row reader would use the schema that the option `none` ignores.
                let is_plain = options.message_option() == MessageOption::None;
                match (is_bytes, is_plain) {
                    (true, true) => Kind::Bytes(None),
                    (true, false) => Kind::Bytes(Some(RowFile::from_source(source(), &file.path, &reading)?)),
                    (false, _) => Kind::Rows(RowFile::from_source(source(), &file.path, &reading)?),
                }
            }
        };
        Ok(Self {
            file: RecordFile {
                reading,
                index: index.map(Arc::new),
                ..file
            },
            kind,
        })
    }

    /// `example` is the detected kind of records of unknown type.
    fn engine(self, example: Option<RecordKind>, damage: &DamageLog) -> Result<Box<dyn Engine>> {
        let Self { file, kind } = self;
        let damage = damage.clone();
        let kind = match kind {
            Kind::Message(schema) if file.format == Format::TfRecord => RecordKind::Message(schema),
            Kind::Example(..) if let Some(example) = example => example,
            Kind::Message(schema) | Kind::Example(_, schema) => {
                return Ok(Box::new(MessageEngine { file, schema, damage }));
            }
            Kind::Bytes(read) => match (example, read) {
                (Some(example), _) => example,
                (None, None) => RecordKind::Bytes,
                (None, Some(read)) => return Ok(row_engine(read, file, damage)),
            },
            Kind::Rows(read) => return Ok(row_engine(read, file, damage)),
        };
        Ok(Box::new(RecordEngine { file, kind, damage }))
    }
}

fn row_engine(read: RowFile, file: RecordFile, damage: DamageLog) -> Box<dyn Engine> {
    Box::new(RowEngine {
        file,
        read: Arc::new(read),
        damage,
    })
}
