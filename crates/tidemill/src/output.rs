//! Writes rows to a terminal or a pipe.

mod table;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::bail;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use clap::ValueEnum as _;
use tidemill_sql::{Answer, Session, Sink, StreamFormat, stream_sink};

use self::table::TextSink;
pub(crate) use self::table::{Screen, TextStyle, layout, one_line, shortened};
use crate::args::AnswerFormat;
use crate::terminal::{Output, note, tell};

/// Table on a terminal, jsonl in a pipe.
pub(crate) fn default_format() -> AnswerFormat {
    match io::stdout().is_terminal() {
        true => AnswerFormat::Table,
        false => AnswerFormat::Jsonl,
    }
}

/// Writes rows to standard output, up to a limit, and counts the rest for a limited time.
pub(crate) struct RowWriter {
    sink: Box<dyn Sink>,
    /// How many more rows are shown, if limited.
    left: Option<usize>,
    /// How many rows were hidden, and since when.
    hidden: u64,
    hidden_since: Option<Instant>,
    is_whole: bool,
}

impl RowWriter {
    pub(crate) fn new(format: AnswerFormat, schema: &SchemaRef, screen: Screen) -> anyhow::Result<Self> {
        let out: Box<dyn Write + Send> = match format {
            AnswerFormat::Csv | AnswerFormat::Json | AnswerFormat::Jsonl => Output::of_text(),
            _ => Box::new(Output::new()),
        };
        let stream = |format| stream_sink(format, schema, Box::new(BufWriter::new(out)));
        let sink: Box<dyn Sink> = match format {
            AnswerFormat::Table => Box::new(TextSink::new(TextStyle::Table, schema, screen)),
            AnswerFormat::Markdown => Box::new(TextSink::new(TextStyle::Markdown, schema, Screen::default())),
            AnswerFormat::Csv => stream(StreamFormat::Csv)?,
            AnswerFormat::Json => stream(StreamFormat::Json)?,
            AnswerFormat::Jsonl => stream(StreamFormat::JsonLines)?,
            AnswerFormat::Arrow => stream(StreamFormat::Arrow)?,
            AnswerFormat::Parquet => stream(StreamFormat::Parquet)?,
        };
        Ok(Self {
            sink,
            left: match format {
                AnswerFormat::Table => screen.rows,
                _ => screen.asked_rows,
            },
            hidden: 0,
            hidden_since: None,
            is_whole: true,
        })
    }

    /// Writes a batch. Breaks once the hidden rows have been counted long enough.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> anyhow::Result<ControlFlow<()>> {
        let shown = self.left.map_or(batch.num_rows(), |left| left.min(batch.num_rows()));
        if let Some(left) = &mut self.left {
            *left -= shown;
        }
        if shown > 0 || batch.num_rows() == 0 {
            self.sink.write(&batch.slice(0, shown))?;
        }
        self.hidden += (batch.num_rows() - shown) as u64;
        if self.hidden > 0 && self.hidden_since.get_or_insert_with(Instant::now).elapsed() > COUNTED {
            self.is_whole = false;
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.sink.finish()?;
        if self.hidden > 0 {
            let more = if self.is_whole { "" } else { "at least " };
            let rows = if self.hidden == 1 { "row" } else { "rows" };
            note!(
                "{more}{} more {rows}: --rows all shows them, --format csv > FILE keeps them",
                self.hidden
            );
        }
        Ok(())
    }
}

/// How long hidden rows are counted.
const COUNTED: Duration = Duration::from_secs(1);

/// Writes a result, and returns how many rows it had.
pub(crate) async fn write_answer(mut answer: Answer, format: AnswerFormat, screen: Screen) -> anyhow::Result<u64> {
    let mut writer = RowWriter::new(format, &answer.schema(), screen)?;
    let mut rows = 0;
    while let Some(batch) = answer.next().await? {
        rows += batch.num_rows() as u64;
        if writer.write(&batch)?.is_break() {
            break;
        }
    }
    writer.finish()?;
    Ok(rows)
}

/// Writes the results of a text: all rows, and what the last statement changed.
pub(crate) async fn write_answers(
    mut answers: Vec<Answer>,
    format: AnswerFormat,
    screen: Screen,
) -> anyhow::Result<u64> {
    let last = answers.pop();
    let answers = answers.into_iter().filter(|answer| answer.changed().is_none());
    let answers: Vec<Answer> = answers.chain(last).collect();
    let is_one = matches!(format, AnswerFormat::Json | AnswerFormat::Arrow | AnswerFormat::Parquet);
    if is_one && answers.len() > 1 {
        bail!(
            "--format {}: it holds the answer of one statement, and {} statements have answers; run them one by one, or take \
             --format jsonl. The statements were run, and nothing is written",
            format
                .to_possible_value()
                .map_or_else(String::new, |value| value.get_name().to_owned()),
            answers.len()
        );
    }
    let mut rows = 0;
    for answer in answers {
        rows += write_answer(answer, format, screen).await?;
    }
    Ok(rows)
}

/// Prints what recovery skipped to standard error.
pub(crate) fn report_damage(session: &Session) {
    for line in session.notes().into_iter().chain(session.damage()) {
        tell!("{line}");
    }
}
