//! ClickHouse's clients, each put to the same work against the same server.
//!
//! A contender is a program of its own: this one, which is started again with the contender's name and the work, or a program
//! written in another language. So the processor time, the peak of memory and the time on the wall that are noted are those
//! of one client alone, with the start of its process.

pub mod ch_go;
mod clickhouse_arrow;
mod http;
mod klickhouse;
mod lz4_alone;
mod official_client;
mod socket;
mod tidemill;

use std::{fmt, str::FromStr};

pub use self::{official_client::OfficialClient, tidemill::Runtime};

/// The outcome of a contender.
pub type Outcome = Result<u64, Box<dyn std::error::Error>>;

/// What a contender does. As text it is words that programs in other languages understand too.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// Asks so many small questions, one after the other, over one connection.
    Small(Small, u32),
    /// Reads 100 million numbers.
    Select(Compression),
    /// Writes 10 million rows of (UInt64, String of 8 to 20 bytes) that were made before, as the same block of 65,536 rows
    /// again and again.
    Insert(Compression),
}

/// A small question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Small {
    /// 1000 rows of 3 columns.
    Rows1000,
    /// 100 rows of 10 columns.
    Columns10,
    /// 10,000 rows of 1 column.
    Rows10000,
}

/// How blocks travel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compression {
    /// As they are.
    None,
    /// In frames of LZ4.
    Lz4,
    /// In frames of Zstandard.
    Zstd,
}

impl Small {
    /// The question in SQL.
    #[must_use]
    pub fn sql(self) -> String {
        let (columns, rows) = (self.columns(), self.rows());
        let columns: Vec<_> = (0..columns).map(|at| format!("number + {at} AS c{at}")).collect();
        format!("SELECT {} FROM system.numbers LIMIT {rows}", columns.join(", "))
    }

    /// Columns of the answer, each of UInt64.
    #[must_use]
    pub fn columns(self) -> usize {
        match self {
            Self::Rows1000 => 3,
            Self::Columns10 => 10,
            Self::Rows10000 => 1,
        }
    }

    /// Rows of the answer.
    #[must_use]
    pub fn rows(self) -> u64 {
        match self {
            Self::Rows1000 => 1000,
            Self::Columns10 => 100,
            Self::Rows10000 => 10_000,
        }
    }
}

impl Work {
    /// The rows that are read or written.
    #[must_use]
    pub fn rows(self) -> u64 {
        match self {
            Self::Small(small, count) => small.rows() * u64::from(count),
            Self::Select(_) => SELECT_ROWS,
            Self::Insert(_) => INSERT_BLOCKS * BLOCK_ROWS,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(small, count) => write!(f, "small {} {} {count}", small.columns(), small.rows()),
            Self::Select(compression) => write!(f, "select {compression}"),
            Self::Insert(compression) => write!(f, "insert {compression}"),
        }
    }
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split(' ').collect();
        let compression = |word: &str| match word {
            "none" => Ok(Compression::None),
            "lz4" => Ok(Compression::Lz4),
            "zstd" => Ok(Compression::Zstd),
            other => Err(format!("no compression {other}")),
        };
        match words.as_slice() {
            ["small", columns, _, count] => {
                let small = match *columns {
                    "3" => Small::Rows1000,
                    "10" => Small::Columns10,
                    _ => Small::Rows10000,
                };
                Ok(Self::Small(small, count.parse().map_err(|_| "no count")?))
            }
            ["select", word] => compression(word).map(Self::Select),
            ["insert", word] => compression(word).map(Self::Insert),
            _ => Err(format!("no work {text}")),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        })
    }
}

/// A contender that is a part of this program, by its name.
///
/// # Errors
///
/// Those of the client, and one for a name that nobody has.
pub fn run(name: &str, native: &str, http: &str, work: Work) -> Outcome {
    match name {
        "tidemill" => tidemill::run(Runtime::OneThread, native, work),
        "tidemill-threads" => tidemill::run(Runtime::Threads, native, work),
        "tidemill-blocking" => tidemill::run(Runtime::Blocking, native, work),
        "klickhouse" => tokio_run(klickhouse::run(native, work)),
        "clickhouse-arrow" => tokio_run(clickhouse_arrow::run(native, work)),
        "clickhouse-http" => tokio_run(http::run(http, work)),
        "lz4" => lz4_alone::run(work),
        "socket" => socket::run(native, work),
        other => Err(format!("no contender {other}").into()),
    }
}

fn tokio_run(client: impl Future<Output = Outcome>) -> Outcome {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(client)
}

/// The number and the text of each row of the block that is inserted.
fn rows() -> impl Iterator<Item = (u64, String)> {
    (0..BLOCK_ROWS).map(|id| {
        let length = 8 + usize::try_from(id % 13).unwrap_or_default();
        (id, format!("{id:0length$}"))
    })
}

/// The query of [`Work::Select`].
const SELECT: &str = "SELECT number FROM system.numbers_mt LIMIT 100000000";
const SELECT_ROWS: u64 = 100_000_000;
/// The table of [`Work::Insert`].
const TABLE: &str = "nowhere";
/// What makes that table.
pub const CREATE_TABLE: &str = "CREATE TABLE nowhere (id UInt64, s String) ENGINE = Null";
const BLOCK_ROWS: u64 = 65_536;
const INSERT_BLOCKS: u64 = 153;
