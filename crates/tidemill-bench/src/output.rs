//! Rows for a person or a pipe.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::writer::StreamWriter;
use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::Result;

/// The form of rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
#[non_exhaustive]
pub enum Format {
    /// A table for people.
    Table,
    /// Comma-separated values with a header line.
    Csv,
    /// One JSON array of objects.
    Json,
    /// One JSON object per line.
    Jsonl,
    /// An Arrow IPC stream.
    Arrow,
    /// A Markdown table.
    Markdown,
}

impl Format {
    /// Table on a terminal, jsonl in a pipe.
    pub(crate) fn for_stdout() -> Self {
        match io::stdout().is_terminal() {
            true => Self::Table,
            false => Self::Jsonl,
        }
    }
}

/// How a report is laid out as text.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
#[non_exhaustive]
pub enum Layout {
    /// Numbers with confidence intervals, for people.
    Full,
    /// The labels, units and columns of Latte's fork, for programs that read them.
    Latte,
}

impl Layout {
    /// The one that is asked for; else that of the name by which the program was called: a program called `latte` prints as Latte does.
    pub(crate) fn or_by_program_name(asked: Option<Self>) -> Self {
        let program = std::env::args_os().next().unwrap_or_default();
        asked.unwrap_or(match Path::new(&program).file_stem() {
            Some(name) if name == "latte" => Self::Latte,
            _ => Self::Full,
        })
    }
}

/// Writes rows. Missing values are empty or null.
///
/// # Errors
/// [`crate::Error::Output`] when they can't be written, [`crate::Error::Rows`] when they can't be laid out.
pub(crate) fn write_rows(rows: &RecordBatch, format: Format, out: &mut dyn Write) -> Result<()> {
    match format {
        Format::Table => out.write_all(layout(presets::UTF8_FULL_CONDENSED, rows)?.as_bytes())?,
        Format::Markdown => out.write_all(layout(presets::ASCII_MARKDOWN, rows)?.as_bytes())?,
        Format::Csv => arrow_csv::Writer::new(out).write(rows)?,
        Format::Json => {
            let mut writer = arrow_json::ArrayWriter::new(out);
            writer.write(rows)?;
            writer.finish()?;
        }
        Format::Jsonl => {
            let mut writer = arrow_json::LineDelimitedWriter::new(out);
            writer.write(rows)?;
            writer.finish()?;
        }
        Format::Arrow => {
            let mut writer = StreamWriter::try_new(out, &rows.schema())?;
            writer.write(rows)?;
            writer.finish()?;
        }
    }
    Ok(())
}

fn layout(preset: &str, rows: &RecordBatch) -> Result<String> {
    let mut table = Table::new();
    table.load_preset(preset);
    table.set_content_arrangement(ContentArrangement::Disabled);
    let schema = rows.schema();
    table.set_header(schema.fields().iter().map(|field| field.name()));
    let options = FormatOptions::default();
    let columns = rows
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    for row in 0..rows.num_rows() {
        let cells = columns.iter().map(|column| column.value(row).try_to_string());
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        table.add_row(cells.iter().map(|cell| cell.replace(['\r', '\n'], "⏎")));
    }
    for (index, field) in schema.fields().iter().enumerate() {
        if field.data_type().is_numeric()
            && let Some(column) = table.column_mut(index)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    Ok(format!("{table}\n"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, StringArray};
    use arrow_ipc::reader::StreamReader;

    use super::*;

    #[test]
    fn every_format() {
        let name = Arc::new(StringArray::from(vec!["p99", "p|x\ny"])) as _;
        let value = Arc::new(Float64Array::from(vec![Some(1.5), None])) as _;
        let rows = RecordBatch::try_from_iter([("name", name), ("value_ms", value)]).unwrap();
        let written = |format| {
            let mut out = Vec::new();
            write_rows(&rows, format, &mut out).unwrap();
            out
        };
        let text = |format| String::from_utf8(written(format)).unwrap();
        assert_eq!(text(Format::Csv), "name,value_ms\np99,1.5\n\"p|x\ny\",\n");
        assert_eq!(
            text(Format::Json),
            r#"[{"name":"p99","value_ms":1.5},{"name":"p|x\ny"}]"#
        );
        assert_eq!(
            text(Format::Jsonl),
            "{\"name\":\"p99\",\"value_ms\":1.5}\n{\"name\":\"p|x\\ny\"}\n"
        );
        assert!(text(Format::Table).contains("│ p|x⏎y ┆"), "{}", text(Format::Table));
        assert!(
            text(Format::Markdown).starts_with("| name  | value_ms |"),
            "{}",
            text(Format::Markdown)
        );
        let arrow = written(Format::Arrow);
        let read = StreamReader::try_new(&arrow[..], None)
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        assert_eq!(read, rows);
    }
}
