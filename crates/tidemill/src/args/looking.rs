//! The arguments of the commands that look at tables: head, sample, summarize, diff, chart.

#[cfg(feature = "chart")]
use std::path::PathBuf;

#[cfg(feature = "chart")]
use clap::ValueEnum;

use super::{AnswerArgs, LimitArgs, NoteArgs, TableArgs, bytes};

/// Print the first rows of a table.
#[derive(Debug, clap::Args)]
pub(crate) struct HeadArgs {
    /// A table. `-` is a file on standard input.
    pub(crate) table: String,
    /// How many rows.
    #[arg(short = 'n', long, value_name = "ROWS", default_value_t = 10)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Print some rows of a table, chosen at random.
///
/// Every row has the same chance. The rows come in the order of the table, which is read to its end.
#[derive(Debug, clap::Args)]
pub(crate) struct SampleArgs {
    /// A table, or a SELECT statement. `-` is a file on standard input.
    pub(crate) table: String,
    /// How many rows.
    #[arg(short = 'n', long, value_name = "ROWS", default_value_t = 10)]
    pub(crate) limit: usize,
    /// A number that chooses the same rows each time. Default: other rows each time.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Describe the values of each column: NULLs, distinct values, range, mean, distribution, and what looks wrong.
///
/// The table is read once. Up to 16,384 distinct values and 65,536 rows all figures are exact; above, the distinct values are
/// estimated to within about 1 percent (marked ~), and the quartiles and the histogram come from a sample of 65,536 values.
#[derive(Debug, clap::Args)]
pub(crate) struct SummarizeArgs {
    /// A table, or a SELECT statement. `-` is a file on standard input.
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Compare the rows of two tables, whatever their formats. Exits with 1 if they differ.
///
/// Columns are matched by name, in any case. Rows are compared whole, and each as often as it occurs; their order does not matter.
/// With --key, rows of the same key are compared column by column, and each value that changed is listed.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// A table, or a SELECT statement.
    pub(crate) left: String,
    /// The table to compare it with, or a SELECT statement.
    pub(crate) right: String,
    /// The columns that identify a row, separated by commas.
    #[arg(long = "key", value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) keys: Vec<String>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Memory for the comparison, for example 512M. What needs more spills to temporary files. Default: no limit.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory: Option<usize>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Draw a table or the result of a query: bars, a line or points, on the terminal or as an SVG or PNG file.
#[cfg(feature = "chart")]
#[derive(Debug, clap::Args)]
pub(crate) struct ChartArgs {
    /// A table, or a SELECT statement.
    pub(crate) table: String,
    /// What to draw. Default: a line over numbers, dates and times, bars over anything else.
    #[arg(long, value_enum)]
    pub(crate) kind: Option<ChartKind>,
    /// The column of the axis below. Default: the first column.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) x: Option<String>,
    /// The column of numbers. Default: the first one that is not the axis below.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) y: Option<String>,
    /// Write the chart to this new file (.svg, .png) instead.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

#[cfg(feature = "chart")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChartKind {
    Bar,
    Line,
    Scatter,
}
