//! `tidemill summarize`.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use tidemill_sql::{Answer, ColumnSummary, Session, Summary, source_is_query};

use crate::Outcome;
use crate::args::{AnswerFormat, SummarizeArgs};
use crate::commands::counted;
use crate::output::{RowWriter, Screen, TextStyle, default_format, layout, one_line, report_damage, shortened};
use crate::progress::CopyProgress;
use crate::terminal::{Output, shown};

pub(crate) async fn run(args: SummarizeArgs) -> anyhow::Result<Outcome> {
    let session = Session::new(args.limits.of_tables(args.tables.options()));
    let answer = match source_is_query(&args.table) {
        true => session.rows_of(&args.table).await?,
        false => {
            let table = session.locate(&args.table).await?;
            args.tables.check(&table)?;
            session.read(&table, None).await?
        }
    };
    let summary = read(answer, &args.table).await?;
    let format = args.answer.format.unwrap_or_else(default_format);
    match format {
        AnswerFormat::Table | AnswerFormat::Markdown => write_text(&summary, format, Screen::of(args.answer.screen))?,
        format => {
            let batch = whole(&summary)?;
            let mut writer = RowWriter::new(format, &batch.schema(), Screen::default())?;
            let _ = writer.write(&batch)?;
            writer.finish()?;
        }
    }
    report_damage(&session);
    Ok(Outcome::Done)
}

async fn read(answer: Answer, what: &str) -> anyhow::Result<Summary> {
    let mut progress = CopyProgress::new(what, 0);
    let summary = Summary::of(answer, |rows| progress.update_rows(rows, None)).await?;
    progress.finish();
    Ok(summary)
}

/// Writes the columns as a table, then the details that need more room and the number of rows.
fn write_text(summary: &Summary, format: AnswerFormat, screen: Screen) -> anyhow::Result<()> {
    let style = match format {
        AnswerFormat::Markdown => TextStyle::Markdown,
        _ => TextStyle::Table,
    };
    let columns = &summary.columns;
    // A statistic that a column lacks is shown as empty, not as NULL.
    let blank = |text: &dyn Fn(&ColumnSummary) -> Option<String>| {
        texts(columns, |column| Some(text(column).unwrap_or_default()))
    };
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("column", texts(columns, |column| Some(column.name.clone())), false),
        (
            "type",
            texts(columns, |column| Some(column.data_type.to_string())),
            false,
        ),
        ("nulls", numbers(columns, |column| Some(column.nulls)), false),
        ("distinct", blank(&distinct), false),
        ("least", blank(&|column| column.least.clone()), false),
        ("median", blank(&|column| quartile(column, 1)), false),
        ("greatest", blank(&|column| column.greatest.clone()), false),
        ("mean", blank(&|column| column.mean.map(rounded)), false),
        ("spread", blank(&|column| column.histogram.as_deref().map(bars)), false),
    ])?;
    let mut out = Output::of_text();
    out.write_all(layout(style, &batch.schema(), &[batch], screen.width)?.as_bytes())?;
    for column in columns.iter().filter(|column| !column.frequent.is_empty()) {
        writeln!(out, "{}: most often {}", shown(&column.name), shown(&frequent(column)))?;
    }
    for column in columns {
        for suspicion in &column.suspicions {
            writeln!(out, "{}: note: {}", shown(&column.name), shown(suspicion))?;
        }
    }
    writeln!(out, "{}", counted(summary.rows, "row"))?;
    out.flush()?;
    Ok(())
}

/// All statistics, one row per column.
fn whole(summary: &Summary) -> anyhow::Result<RecordBatch> {
    let columns = &summary.columns;
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("column", texts(columns, |column| Some(column.name.clone())), false),
        (
            "type",
            texts(columns, |column| Some(column.data_type.to_string())),
            false,
        ),
        ("rows", numbers(columns, |_| Some(summary.rows)), false),
        ("nulls", numbers(columns, |column| Some(column.nulls)), false),
        ("distinct", numbers(columns, |column| column.distinct), true),
        ("least", texts(columns, |column| column.least.clone()), true),
        ("q25", texts(columns, |column| quartile(column, 0)), true),
        ("median", texts(columns, |column| quartile(column, 1)), true),
        ("q75", texts(columns, |column| quartile(column, 2)), true),
        ("greatest", texts(columns, |column| column.greatest.clone()), true),
        ("mean", doubles(columns, |column| column.mean), true),
        ("deviation", doubles(columns, |column| column.deviation), true),
        (
            "histogram",
            texts(columns, |column| {
                let bars = column.histogram.as_ref()?.iter().map(u64::to_string);
                Some(bars.collect::<Vec<_>>().join(" "))
            }),
            true,
        ),
        (
            "frequent",
            texts(columns, |column| {
                (!column.frequent.is_empty()).then(|| frequent(column))
            }),
            true,
        ),
        (
            "notes",
            texts(columns, |column| {
                (!column.suspicions.is_empty()).then(|| column.suspicions.join("; "))
            }),
            true,
        ),
    ])?)
}

fn texts(columns: &[ColumnSummary], text: impl Fn(&ColumnSummary) -> Option<String>) -> ArrayRef {
    Arc::new(columns.iter().map(text).collect::<StringArray>())
}

fn numbers(columns: &[ColumnSummary], number: impl Fn(&ColumnSummary) -> Option<u64>) -> ArrayRef {
    Arc::new(columns.iter().map(number).collect::<UInt64Array>())
}

fn doubles(columns: &[ColumnSummary], number: impl Fn(&ColumnSummary) -> Option<f64>) -> ArrayRef {
    Arc::new(columns.iter().map(number).collect::<Float64Array>())
}

fn distinct(column: &ColumnSummary) -> Option<String> {
    let about = if column.is_estimate { "~" } else { "" };
    Some(format!("{about}{}", column.distinct?))
}

fn quartile(column: &ColumnSummary, which: usize) -> Option<String> {
    column.quartiles.as_ref()?.get(which).cloned()
}

/// `London (312), Paris (201)`.
fn frequent(column: &ColumnSummary) -> String {
    const LONGEST: usize = 30;
    let values = column.frequent.iter();
    let values = values.map(|(value, number)| format!("{} ({number})", shortened(&one_line(value), LONGEST)));
    values.collect::<Vec<_>>().join(", ")
}

/// A number with six digits.
fn rounded(number: f64) -> String {
    const DIGITS: i32 = 6;
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 308")]
    let before = number.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(DIGITS - before).unwrap_or_default();
    match decimals {
        0..=12 => {
            let text = format!("{number:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => format!("{number:.5e}"),
    }
}

/// A histogram in one line: a block per bar, as high as its share of the largest bar.
fn bars(histogram: &[u64]) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = histogram.iter().max().copied().unwrap_or_default().max(1);
    let block = |bar: &u64| {
        let height = usize::try_from((bar * 8).div_ceil(highest)).unwrap_or_default();
        BLOCKS.get(height).copied().unwrap_or('█')
    };
    histogram.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_for_the_eye() {
        for (number, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (2.333_333_333, "2.33333"),
            (1_234_567.89, "1234568"),
            (-0.001_234_567_8, "-0.00123457"),
            (1e-12, "1.00000e-12"),
        ] {
            assert_eq!(rounded(number), text);
        }
        assert_eq!(bars(&[0, 1, 50, 100]), " ▁▄█");
    }
}
