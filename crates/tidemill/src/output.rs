//! Rows for a person or a pipe.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::SchemaRef;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tidemill_sql::{Answer, Session, Sink, StreamFormat, stream_sink, with_uuids_as_text};
use tidemill_trust::printable;

use crate::args::AnswerFormat;
use crate::terminal::{Output, tell};

/// Table on a terminal, jsonl in a pipe.
pub(crate) fn default_format() -> AnswerFormat {
    match io::stdout().is_terminal() {
        true => AnswerFormat::Table,
        false => AnswerFormat::Jsonl,
    }
}

/// Writes rows to standard output.
pub(crate) struct RowWriter(Box<dyn Sink>);

impl RowWriter {
    pub(crate) fn new(format: AnswerFormat, schema: &SchemaRef) -> anyhow::Result<Self> {
        let out: Box<dyn Write + Send> = match format {
            AnswerFormat::Csv | AnswerFormat::Json | AnswerFormat::Jsonl => Output::of_text(),
            _ => Box::new(Output::new()),
        };
        let stream = |format| stream_sink(format, schema, Box::new(BufWriter::new(out)));
        Ok(Self(match format {
            AnswerFormat::Table => Box::new(TextSink::new(TextStyle::Table, schema)),
            AnswerFormat::Markdown => Box::new(TextSink::new(TextStyle::Markdown, schema)),
            AnswerFormat::Csv => stream(StreamFormat::Csv)?,
            AnswerFormat::Json => stream(StreamFormat::Json)?,
            AnswerFormat::Jsonl => stream(StreamFormat::JsonLines)?,
            AnswerFormat::Arrow => stream(StreamFormat::Arrow)?,
            AnswerFormat::Parquet => stream(StreamFormat::Parquet)?,
        }))
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        Ok(self.0.write(batch)?)
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        Ok(self.0.finish()?)
    }
}

/// Writes a whole answer and says how many rows it had.
pub(crate) async fn write_answer(mut answer: Answer, format: AnswerFormat) -> anyhow::Result<u64> {
    let mut writer = RowWriter::new(format, &answer.schema())?;
    let mut rows = 0;
    while let Some(batch) = answer.next().await? {
        writer.write(&batch)?;
        rows += batch.num_rows() as u64;
    }
    writer.finish()?;
    Ok(rows)
}

/// Says on standard error what recovery left out.
pub(crate) fn report_damage(session: &Session) {
    for line in session.notes().into_iter().chain(session.damage()) {
        tell!("{line}");
    }
}

#[derive(Clone, Copy)]
pub(crate) enum TextStyle {
    Table,
    Markdown,
}

/// Lays rows out as text: names above, numbers to the right, missing values empty.
pub(crate) fn layout(style: TextStyle, schema: &SchemaRef, batches: &[RecordBatch]) -> anyhow::Result<String> {
    let mut table = Table::new();
    match style {
        TextStyle::Table => table.load_preset(presets::UTF8_FULL_CONDENSED),
        TextStyle::Markdown => table.load_preset(presets::ASCII_MARKDOWN),
    };
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(schema.fields().iter().map(|field| one_line(field.name())));
    let options = FormatOptions::default().with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.3f"));
    for batch in batches {
        let batch = with_uuids_as_text(batch)?;
        let columns = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| column.value(row).try_to_string());
            let cells = cells.collect::<Result<Vec<_>, _>>()?;
            table.add_row(cells.iter().map(|cell| one_line(cell)));
        }
    }
    for (index, field) in schema.fields().iter().enumerate() {
        if field.data_type().is_numeric()
            && let Some(column) = table.column_mut(index)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table.to_string();
    text.push('\n');
    Ok(text)
}

/// A memo of many lines stays one row of the table, and a terminal obeys nothing of it.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.trim_end();
    let text = match text.contains(['\r', '\n', '\t']) {
        true => Cow::Owned(text.replace("\r\n", "⏎").replace(['\r', '\n'], "⏎").replace('\t', " ")),
        false => Cow::Borrowed(text),
    };
    printable(&text).into_owned()
}

/// A table is laid out when its widths are known, so a long answer comes as several tables.
struct TextSink {
    style: TextStyle,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    written: bool,
}

impl TextSink {
    fn new(style: TextStyle, schema: &SchemaRef) -> Self {
        Self {
            style,
            schema: SchemaRef::clone(schema),
            batches: Vec::new(),
            written: false,
        }
    }

    fn lay_out(&mut self) -> tidemill_sql::Result<()> {
        let text = layout(self.style, &self.schema, &self.batches)
            .map_err(|error| arrow_schema::ArrowError::from_external_error(error.into()))?;
        self.batches.clear();
        self.written = true;
        let mut out = Output::new();
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(arrow_schema::ArrowError::from)?;
        Ok(())
    }
}

impl Sink for TextSink {
    fn write(&mut self, batch: &RecordBatch) -> tidemill_sql::Result<()> {
        const ROWS_PER_TABLE: usize = 10_000;
        self.batches.push(batch.clone());
        match self.batches.iter().map(RecordBatch::num_rows).sum::<usize>() >= ROWS_PER_TABLE {
            true => self.lay_out(),
            false => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> tidemill_sql::Result<()> {
        match self.batches.is_empty() && self.written {
            true => Ok(()),
            false => self.lay_out(),
        }
    }
}
