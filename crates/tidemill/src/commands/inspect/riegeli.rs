//! Describes a Riegeli file: its metadata, its chunks, and the size of each field of its messages.

use anyhow::bail;
use serde::Serialize;
use tidemill_riegeli::{
    ChunkSummary, FieldSize, FieldSizes, ReaderOptions, RecordReader, RecordType, RecordsMetadata, SharedSource, Source,
};
use tidemill_sql::{Location, Session};

use super::{ColumnDescription, column_table, columns, lines, table};
use crate::args::TableArgs;

#[derive(Serialize)]
pub(crate) struct RiegeliDescription {
    pub(super) file: String,
    format: &'static str,
    bytes: u64,
    records: u64,
    record_bytes: u64,
    record_type: Option<String>,
    comment: Option<String>,
    writer_options: Option<String>,
    chunks: Vec<ChunkDescription>,
    fields: Vec<FieldDescription>,
    columns: Vec<ColumnDescription>,
}

/// All chunks of one kind.
#[derive(Serialize)]
struct ChunkDescription {
    r#type: String,
    codec: Option<String>,
    chunks: u64,
    records: u64,
    stored_bytes: u64,
    record_bytes: u64,
}

/// The size of a field in transposed chunks.
#[derive(Serialize)]
struct FieldDescription {
    path: String,
    name: Option<String>,
    bytes: u64,
    stored_bytes: u64,
}

/// Describes a file or an object.
pub(super) async fn describe(
    location: &Location,
    session: &Session,
    args: &TableArgs,
) -> anyhow::Result<RiegeliDescription> {
    let name = location.to_string();
    // The footer and the postscript of an ArrayRecord file are not records.
    let options = ReaderOptions::default().recover(args.recover).stop_at_footer(true);
    let Some(source) = location.source().await? else {
        bail!("{name}: this can be described once it is a file");
    };
    let schema = session.schema(location).await?;
    let bytes = source.size()?;
    let reading = move || Contents::read(source, &name, &options);
    let Contents {
        chunks,
        fields,
        metadata,
        is_array_record,
    } = tokio::task::spawn_blocking(reading).await??;
    let record_type = match session.record_type(metadata.record_type_name.as_deref())? {
        Some(given) => Some(given),
        None => metadata.record_type(),
    };
    let fields = fields
        .iter()
        .map(|(path, size)| FieldDescription::new(path, *size, record_type.as_ref()));
    Ok(RiegeliDescription {
        file: location.to_string(),
        format: match is_array_record {
            true => ARRAY_RECORD,
            false => "riegeli",
        },
        bytes,
        records: chunks.iter().map(|chunk| chunk.records).sum(),
        record_bytes: chunks
            .iter()
            .filter(|chunk| chunk.records > 0)
            .map(|chunk| chunk.record_bytes)
            .sum(),
        fields: fields.collect(),
        record_type: metadata.record_type_name,
        comment: metadata.file_comment,
        writer_options: metadata.record_writer_options,
        chunks,
        columns: columns(&schema),
    })
}

/// What is collected for a description.
struct Contents {
    chunks: Vec<ChunkDescription>,
    fields: FieldSizes,
    metadata: RecordsMetadata,
    /// Whether the chunks end at the footer of an ArrayRecord file.
    is_array_record: bool,
}

impl Contents {
    fn read(source: SharedSource, name: &str, options: &ReaderOptions) -> anyhow::Result<Self> {
        let mut reader = RecordReader::from_source(source, name, options)?;
        Ok(Self {
            chunks: summed(reader.list_chunks()?),
            fields: reader.field_sizes()?,
            metadata: reader.records_metadata()?,
            is_array_record: reader.footer_offset().is_some(),
        })
    }
}

fn summed(list: Vec<ChunkSummary>) -> Vec<ChunkDescription> {
    let mut kinds: Vec<ChunkDescription> = Vec::new();
    for chunk in list {
        let r#type = chunk.chunk_type.to_string();
        let codec = chunk.compression.map(|codec| codec.to_string());
        let known = kinds
            .iter()
            .position(|known| known.r#type == r#type && known.codec == codec);
        let index = known.unwrap_or_else(|| {
            kinds.push(ChunkDescription {
                r#type,
                codec,
                chunks: 0,
                records: 0,
                stored_bytes: 0,
                record_bytes: 0,
            });
            kinds.len() - 1
        });
        let kind = &mut kinds[index];
        kind.chunks += 1;
        kind.records += chunk.num_records;
        kind.stored_bytes += chunk.end - chunk.begin;
        kind.record_bytes += chunk.decoded_data_size;
    }
    kinds
}

impl FieldDescription {
    fn new(path: &[u32], size: FieldSize, record_type: Option<&RecordType>) -> Self {
        let numbers: Vec<String> = path.iter().map(u32::to_string).collect();
        Self {
            path: numbers.join("."),
            name: record_type.and_then(|record_type| record_type.field_name(path)),
            bytes: size.decoded,
            stored_bytes: size.stored,
        }
    }
}

impl RiegeliDescription {
    /// The description in one line, for lists of files.
    pub(super) fn line(&self) -> String {
        let format = match self.format {
            ARRAY_RECORD => "ArrayRecord",
            _ => "Riegeli",
        };
        format!(
            "{}: {format}, {} records of {}, {} columns, {} bytes",
            self.file,
            self.records,
            self.record_type.as_deref().unwrap_or("no declared type"),
            self.columns.len(),
            self.bytes
        )
    }

    /// The description as lines of names and values, with tables of the chunks, the fields and the columns.
    pub(super) fn text(&self) -> String {
        let format = match self.format {
            ARRAY_RECORD => "ArrayRecord",
            _ => "Riegeli/records",
        };
        let told = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let mut text = lines(&[
            ("file", self.file.clone()),
            ("format", format.to_owned()),
            ("size", format!("{} bytes", self.bytes)),
            (
                "records",
                format!("{} of {} bytes together", self.records, self.record_bytes),
            ),
            ("record type", told(&self.record_type)),
            ("comment", told(&self.comment)),
            ("written with", told(&self.writer_options)),
        ]);
        let chunks = self.chunks.iter().map(|chunk| {
            vec![
                chunk.r#type.clone(),
                chunk.codec.clone().unwrap_or_default(),
                chunk.chunks.to_string(),
                chunk.records.to_string(),
                chunk.stored_bytes.to_string(),
                chunk.record_bytes.to_string(),
                ratio(chunk.stored_bytes, chunk.record_bytes),
            ]
        });
        text += &table(
            &[
                "chunks of type",
                "codec",
                "chunks",
                "records",
                "stored bytes",
                "record bytes",
                "ratio",
            ],
            chunks,
        );
        if !self.fields.is_empty() {
            let fields = self.fields.iter().map(|field| {
                vec![
                    match field.path.as_str() {
                        "" => "(no message)".to_owned(),
                        path => path.to_owned(),
                    },
                    field.name.clone().unwrap_or_default(),
                    field.bytes.to_string(),
                    field.stored_bytes.to_string(),
                    ratio(field.stored_bytes, field.bytes),
                ]
            });
            text += &table(&["field", "name", "bytes", "stored bytes", "ratio"], fields);
        }
        text += &column_table(&self.columns);
        text
    }
}

/// Stored bytes per byte; empty for zero bytes.
fn ratio(stored: u64, bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        _ => format!("{:.3}", stored as f64 / bytes as f64),
    }
}

/// The format name of an ArrayRecord file in JSON.
const ARRAY_RECORD: &str = "array_record";
