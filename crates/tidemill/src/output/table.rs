//! Lays out rows as text.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, SchemaRef};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tidemill_sql::{Sink, with_uuids_as_text};
use tidemill_trust::printable;
use unicode_width::UnicodeWidthStr;

use crate::args::ScreenArgs;
use crate::terminal::Output;

/// The space for output. The default is unlimited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Screen {
    /// Characters per line.
    pub(crate) width: Option<usize>,
    /// Rows of a table.
    pub(crate) rows: Option<usize>,
    /// Rows in any format, if a number was given.
    pub(crate) asked_rows: Option<usize>,
}

impl Screen {
    /// The size of the terminal, unless arguments override it; a pipe is unlimited.
    pub(crate) fn of(args: ScreenArgs) -> Self {
        let size = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
        let (width, height) = size.map_or((None, None), |(width, height)| {
            (Some(usize::from(width.0)), Some(usize::from(height.0)))
        });
        Self {
            width: width.filter(|_| !args.wide),
            rows: match args.rows {
                Some(rows) => rows.0,
                None => height.map(|height| height.saturating_sub(AROUND).max(FEWEST_ROWS)),
            },
            asked_rows: args.rows.and_then(|rows| rows.0),
        }
    }
}

/// Lines of the screen besides rows: the frame, the header, the prompt.
const AROUND: usize = 7;
const FEWEST_ROWS: usize = 10;

#[derive(Clone, Copy)]
pub(crate) enum TextStyle {
    Table,
    Markdown,
}

impl TextStyle {
    /// The text for NULL.
    fn null(self) -> &'static str {
        match self {
            Self::Table => "NULL",
            Self::Markdown => "",
        }
    }
}

/// Lays rows out as text: column names above, numbers aligned right. If they are wider than the screen, texts are shortened first; then
/// columns are omitted, and named below the table.
pub(crate) fn layout(
    style: TextStyle,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    width: Option<usize>,
) -> anyhow::Result<String> {
    let names: Vec<String> = schema.fields().iter().map(|field| one_line(field.name())).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for batch in batches {
        rows.extend(cells(&with_uuids_as_text(batch)?, style)?);
    }
    let widths: Vec<usize> = (0..names.len())
        .map(|column| {
            let cells = rows.iter().map(|row| row[column].width());
            cells.chain([names[column].width()]).max().unwrap_or_default()
        })
        .collect();
    let is_text: Vec<bool> = schema.fields().iter().map(|field| is_text(field.data_type())).collect();
    let fitted = match width {
        Some(width) => fitted(&widths, &is_text, width),
        None => widths.clone(),
    };

    let mut table = Table::new();
    match style {
        TextStyle::Table => table.load_preset(presets::UTF8_FULL_CONDENSED),
        TextStyle::Markdown => table.load_preset(presets::ASCII_MARKDOWN),
    };
    table.set_content_arrangement(ContentArrangement::Disabled);
    let shown = |cells: &[String]| -> Vec<String> {
        let cells = cells.iter().zip(&fitted);
        cells
            .map(|(cell, width)| {
                let cell = shortened(cell, *width).into_owned();
                match style {
                    TextStyle::Table => cell,
                    // It would start another cell.
                    TextStyle::Markdown => cell.replace('|', "\\|"),
                }
            })
            .collect()
    };
    table.set_header(shown(&names));
    for row in &rows {
        table.add_row(shown(row));
    }
    for (index, field) in schema.fields().iter().take(fitted.len()).enumerate() {
        if field.data_type().is_numeric()
            && let Some(column) = table.column_mut(index)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table.to_string();
    text.push('\n');
    let hidden = names.get(fitted.len()..).unwrap_or_default();
    if !hidden.is_empty() {
        text.push_str(&format!(
            "not shown: {} (--wide shows all columns)\n",
            hidden.join(", ")
        ));
    }
    Ok(text)
}

/// The values of a batch as text, row by row.
fn cells(batch: &RecordBatch, style: TextStyle) -> anyhow::Result<Vec<Vec<String>>> {
    let options = FormatOptions::default()
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.3f"))
        .with_null(style.null());
    let columns = batch.columns().iter();
    let columns = columns.map(|column| Ok((column, ArrayFormatter::try_new(column, &options)?)));
    let columns = columns.collect::<anyhow::Result<Vec<_>>>()?;
    let row = |row: usize| {
        let cells = columns.iter().map(|(column, formatter)| {
            let bytes = match column.data_type() {
                _ if column.is_null(row) => None,
                DataType::Binary => Some(column.as_binary::<i32>().value(row)),
                DataType::LargeBinary => Some(column.as_binary::<i64>().value(row)),
                _ => None,
            };
            match (bytes, style) {
                (Some(bytes), TextStyle::Table) if bytes.len() > SHOWN_BYTES => Ok(short_bytes(bytes)),
                _ => Ok(one_line(&formatter.value(row).try_to_string()?)),
            }
        });
        cells.collect::<anyhow::Result<Vec<_>>>()
    };
    (0..batch.num_rows()).map(row).collect()
}

/// How many bytes of a binary value are shown in a table.
const SHOWN_BYTES: usize = 16;

fn short_bytes(bytes: &[u8]) -> String {
    let begin: String = bytes
        .iter()
        .take(SHOWN_BYTES)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{begin}… ({} bytes)", bytes.len())
}

fn is_text(data_type: &DataType) -> bool {
    data_type.is_string() || data_type.is_binary() || data_type.is_nested()
}

/// The least width of a shortened text column.
const NARROWEST: usize = 12;
/// The width of the frame around a column's values.
const FRAME: usize = 3;

/// The widths of the shown columns. Texts are shortened first, all to the same width; then the last columns are omitted.
fn fitted(widths: &[usize], is_text: &[bool], room: usize) -> Vec<usize> {
    let total = |columns: usize, most: usize| {
        let columns = widths.iter().zip(is_text).take(columns);
        let widths = columns.map(|(width, is_text)| if *is_text { (*width).min(most) } else { *width });
        widths.map(|width| width + FRAME).sum::<usize>() + 1
    };
    let mut shown = widths.len();
    while shown > 1 && total(shown, NARROWEST) > room {
        shown -= 1;
    }
    let mut most = room;
    while most > NARROWEST && total(shown, most) > room {
        most -= 1;
    }
    let columns = widths.iter().zip(is_text).take(shown);
    columns
        .map(|(width, is_text)| if *is_text { (*width).min(most) } else { *width })
        .collect()
}

/// A text of at most this width, with `…` at the end if it was cut.
pub(crate) fn shortened(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if short.width() >= width {
            short.pop();
            break;
        }
    }
    short.push('…');
    Cow::Owned(short)
}

/// A text in one line, without control characters for the terminal.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.trim_end();
    let text = match text.contains(['\r', '\n', '\t']) {
        true => Cow::Owned(text.replace("\r\n", "⏎").replace(['\r', '\n'], "⏎").replace('\t', " ")),
        false => Cow::Borrowed(text),
    };
    printable(&text).into_owned()
}

/// Each batch becomes a table, since a table's widths must be known; a long result has more than one.
pub(super) struct TextSink {
    style: TextStyle,
    schema: SchemaRef,
    screen: Screen,
    batches: Vec<RecordBatch>,
    written: bool,
}

impl TextSink {
    pub(super) fn new(style: TextStyle, schema: &SchemaRef, screen: Screen) -> Self {
        Self {
            style,
            schema: SchemaRef::clone(schema),
            screen,
            batches: Vec::new(),
            written: false,
        }
    }

    fn lay_out(&mut self) -> tidemill_sql::Result<()> {
        let text = layout(self.style, &self.schema, &self.batches, self.screen.width)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BinaryArray, Int64Array, StringArray};

    use super::*;

    fn batch() -> RecordBatch {
        let long = "a text that is rather long";
        RecordBatch::try_from_iter_with_nullable([
            (
                "number",
                Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef,
                true,
            ),
            ("text", Arc::new(StringArray::from(vec![Some(long), Some("")])), true),
            ("other", Arc::new(StringArray::from(vec![None, Some(long)])), true),
            (
                "photo",
                Arc::new(BinaryArray::from(vec![Some(&[7_u8; 1000][..]), None])),
                true,
            ),
        ])
        .expect("a batch")
    }

    fn laid_out(width: Option<usize>) -> String {
        let batch = batch();
        layout(TextStyle::Table, &batch.schema(), &[batch], width).expect("text")
    }

    #[test]
    fn null_is_told_from_an_empty_text() {
        let text = laid_out(None);
        assert!(
            text.contains("│   NULL ┆                            ┆ a text that"),
            "{text}"
        );
        assert!(
            text.contains(" 07070707070707070707070707070707… (1000 bytes) │"),
            "{text}"
        );
    }

    #[test]
    fn tables_fit_the_screen() {
        for (width, parts) in [
            (130, &["a text that is rather long ┆", "(1000 bytes)"][..]),
            (70, &["a text that is r… ┆ NULL", "0707070707070707… │"]),
            (
                45,
                &["a text that i… ┆ NULL", "not shown: photo (--wide shows all columns)"],
            ),
            (12, &["│      1 │", "not shown: text, other, photo (--wide"]),
        ] {
            let text = laid_out(Some(width));
            let lines = text.lines().filter(|line| !line.starts_with("not shown"));
            assert!(
                lines.map(UnicodeWidthStr::width).max() <= Some(width),
                "{width}\n{text}"
            );
            for part in parts {
                assert!(text.contains(part), "{width}: {part}\n{text}");
            }
        }
    }

    #[test]
    fn wide_letters_count_as_what_they_take() {
        assert_eq!(shortened("日本語の表", 6), "日本…");
        assert_eq!(shortened("abc", 3), "abc");
    }
}
