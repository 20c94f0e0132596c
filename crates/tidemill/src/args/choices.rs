//! Options that are one of several words.

use clap::ValueEnum;
use tidemill_sql::Verify;
use tidemill_xbase::{Blank, Deleted, Dialect};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    Table,
    Markdown,
    Csv,
    Json,
    Jsonl,
    Arrow,
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CatFormat {
    Table,
    Markdown,
    Csv,
    Json,
    Jsonl,
    Arrow,
    Parquet,
    Framed,
    Raw,
}

impl CatFormat {
    /// The format of rows; `None` for those that write records as they are.
    pub(crate) fn of_rows(self) -> Option<AnswerFormat> {
        Some(match self {
            Self::Table => AnswerFormat::Table,
            Self::Markdown => AnswerFormat::Markdown,
            Self::Csv => AnswerFormat::Csv,
            Self::Json => AnswerFormat::Json,
            Self::Jsonl => AnswerFormat::Jsonl,
            Self::Arrow => AnswerFormat::Arrow,
            Self::Parquet => AnswerFormat::Parquet,
            Self::Framed | Self::Raw => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people.
    #[default]
    Text,
    /// A JSON object on a line for each file.
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DialectArg {
    /// dBASE III and Clipper, memos in a DBT.
    Dbase3,
    /// dBASE IV, memos in a DBT.
    Dbase4,
    /// FoxPro 2, memos in an FPT.
    Foxpro,
    /// Visual FoxPro: NULL values are kept.
    VisualFoxpro,
}

impl From<DialectArg> for Dialect {
    fn from(arg: DialectArg) -> Self {
        match arg {
            DialectArg::Dbase3 => Self::Dbase3,
            DialectArg::Dbase4 => Self::Dbase4,
            DialectArg::Foxpro => Self::FoxPro2,
            DialectArg::VisualFoxpro => Self::VisualFoxPro,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum BlankArg {
    Null,
    Zero,
}

impl From<BlankArg> for Blank {
    fn from(arg: BlankArg) -> Self {
        match arg {
            BlankArg::Null => Self::Null,
            BlankArg::Zero => Self::Zero,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeletedArg {
    #[default]
    Skip,
    Include,
    Only,
}

impl From<DeletedArg> for Deleted {
    fn from(arg: DeletedArg) -> Self {
        match arg {
            DeletedArg::Skip => Self::Skip,
            DeletedArg::Include => Self::Include,
            DeletedArg::Only => Self::Only,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyCopyArg {
    #[default]
    Counts,
    Full,
}

impl From<VerifyCopyArg> for Verify {
    fn from(arg: VerifyCopyArg) -> Self {
        match arg {
            VerifyCopyArg::Counts => Self::Counts,
            VerifyCopyArg::Full => Self::Full,
        }
    }
}
