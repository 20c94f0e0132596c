//! The arguments of the command line, in one place; help and errors come from here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use prost::Message;
use prost_types::FileDescriptorSet;
use tidemill_riegeli::{FieldProjection, ReaderOptions};
use tidemill_sql::{ServerUrl, Session, SessionOptions, TableOptions, Verify};
use tidemill_xbase::{Blank, CodePage, Deleted, Dialect, KeySettings, Table};

use crate::limits::Limits;

/// Data that is stuck in old places, run, queried, moved and proven.
#[derive(Debug, Parser)]
#[command(name = "tidemill", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Sql(SqlArgs),
    Copy(CopyArgs),
    Inspect(InspectArgs),
    Cat(CatArgs),
    Verify(VerifyArgs),
    Salvage(SalvageArgs),
    Reindex(ReindexArgs),
    Recover(RecoverArgs),
    #[cfg(feature = "bench")]
    Bench(BenchArgs),
    Tour(TourArgs),
}

/// Load tests: run workloads written in Rune against Cassandra, ClickHouse or tables, and measure throughput and latency.
///
/// The same as the program tidemill-bench, with Latte's commands and options.
#[cfg(feature = "bench")]
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) log: tidemill_bench::args::LogArgs,
    #[command(subcommand)]
    pub(crate) command: tidemill_bench::args::Command,
}

/// Answer one SQL statement over any tables.
///
/// A table is named by its path in quotes ('orders.dbf', "data/orders.riegeli", [C:\DATA\ORDERS.DBF]), by its file's
/// name without the extension when it lies under --dir, or by a name that --attach gives it. Names match in any case. INSERT INTO
/// adds rows to a table of a server.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// The statement; `-` reads it from standard input.
    pub(crate) statement: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Have this ClickHouse server run the statement, in its own SQL: clickhouse://host/database.
    #[arg(long, value_name = "URL", value_parser = database, conflicts_with_all = ["explain", "memory"])]
    pub(crate) server: Option<ServerUrl>,
    /// How the answer is written. Default: table on a terminal, jsonl in a pipe.
    #[arg(long, value_enum)]
    pub(crate) format: Option<AnswerFormat>,
    /// Show the plan instead of the answer: which files are scanned, with which columns, filters and limits.
    #[arg(long)]
    pub(crate) explain: bool,
    /// How much memory sorts, groups and joins may take, as in 512M; those that need more write to temporary files, joins of
    /// one thread excepted. Default: no limit.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory: Option<usize>,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Copy a table, a folder of tables or an answer into another format, to a server or into an object store.
///
/// The destination's extension tells the format; s3://, gs:// and az:// are objects, clickhouse://host/database/table and
/// cql://host/keyspace/table are tables of servers. Rows are counted again in what was made before it takes its name.
#[derive(Debug, clap::Args)]
pub(crate) struct CopyArgs {
    /// A table, a folder of tables, or a SELECT statement.
    pub(crate) source: String,
    /// The file or object to be made, or the table of a server to be filled; for a folder of tables, the folder, the prefix of
    /// objects or the database to put them in.
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// For a folder of tables: the extension of the copies (riegeli, parquet, csv, ...).
    #[arg(long, value_name = "EXTENSION")]
    pub(crate) to: Option<String>,
    /// Of a folder or a database: when a table cannot be copied, go on with the others, name it at the end, and exit with 1.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Replace a destination that is there already.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Go on with a copy into a table of a server that broke: as many rows of the source are passed over as the table has. A table
    /// that is made (--create) is then filled under its own name. When the server goes away meanwhile, it is waited for.
    #[arg(long, conflicts_with = "overwrite")]
    pub(crate) resume: bool,
    /// Follow a DBF or Riegeli file that grows into a table of a server, a DBF or a Riegeli file, until interrupted. Begins behind what was
    /// copied there before from the same file; the position is kept in a table tidemill_positions beside the target. Each row arrives at least once.
    #[arg(long, conflicts_with_all = ["overwrite", "resume", "to"])]
    pub(crate) follow: bool,
    /// With --follow: how long to wait before looking for new rows again.
    #[arg(long, value_name = "SECONDS", default_value = "1", requires = "follow", value_parser = seconds)]
    pub(crate) interval: Duration,
    /// Copy columns too whose values may lose something by their new type, such as microseconds in an xBase table, and days before
    /// 1900 into a .native file, which ClickHouse before 26.9 shows as others.
    #[arg(long)]
    pub(crate) lossy: bool,
    /// How the copy is compared with what was read: by counting its rows, or by a checksum of each column, for which it is read again.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) verify: VerifyCopyArg,
    /// How a Riegeli file is written, as the C++ library's option string has it, e.g. zstd:3,chunk_size:1M.
    #[arg(long, value_name = "OPTIONS", default_value = "zstd")]
    pub(crate) riegeli: String,
    /// How an ArrayRecord file is written, as its Python package has it, e.g. group_size:10,zstd:3.
    #[arg(long, value_name = "OPTIONS", default_value = "default")]
    pub(crate) array_record: String,
    /// The code page of an xBase table that is written.
    #[arg(long, value_name = "NAME", default_value = "cp1252")]
    pub(crate) to_codepage: CodePage,
    /// The dialect of an xBase table that is written, which decides its memo file's too.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) to_dialect: DialectArg,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Describe a file: what it is, how it is built, what its columns are.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// A file, or a folder of tables; `-` is a Riegeli, ArrayRecord or TFRecord file on standard input.
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// How the description is written.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Write all rows of a table, or all records of a file of records.
#[derive(Debug, clap::Args)]
pub(crate) struct CatArgs {
    /// The table; `-` is a Riegeli, ArrayRecord or TFRecord file on standard input.
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// How the rows are written. Default: table on a terminal, jsonl in a pipe. `framed` writes each record as its length
    /// (32 bits, little-endian) and its bytes, `raw` its bytes alone.
    #[arg(long, value_enum)]
    pub(crate) format: Option<CatFormat>,
    /// Stop after this many rows.
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Keep only these fields of the messages of a Riegeli file, by their numbers: `2.3,4.0` is field 3 in field 2, and
    /// whether there is a field 4 but not what is in it, which is true or false as a column. `root` is the whole message, and an
    /// empty list none of it. Records as they are (framed, raw) are projected in transposed chunks, where a field that is only to
    /// be there has a zero or empty value.
    #[arg(long, value_name = "FIELDS")]
    pub(crate) project: Option<FieldProjection>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Copy what can be read of a damaged file of records, and say what can't. Exits with 1 if there was damage.
#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    /// The damaged file; `-` is a Riegeli, ArrayRecord or TFRecord file on standard input.
    pub(crate) file: String,
    /// The file or object to be made.
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Replace a destination that is there already.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// How a Riegeli file is written, as the C++ library's option string has it, e.g. zstd:3,chunk_size:1M.
    #[arg(long, value_name = "OPTIONS", default_value = "zstd")]
    pub(crate) riegeli: String,
}

/// Read a file to its end and say where it is damaged. Exits with 1 if it is.
///
/// Of an xBase table the production index is compared with the records too: each key that is missing, wrong or out of its
/// place is told.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// A file, or a folder of tables; `-` is a Riegeli, ArrayRecord or TFRecord file on standard input.
    pub(crate) file: String,
    /// Another index of the table (.cdx, .ntx, .nsx).
    #[arg(long = "index", value_name = "FILE")]
    pub(crate) indexes: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// How the findings are written.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Make the indexes of an xBase table anew: the same orders, with the keys that the records have now.
///
/// The table is opened for this program alone. An index that is made takes the place of the old one when it is whole.
#[derive(Debug, clap::Args)]
pub(crate) struct ReindexArgs {
    /// The table.
    pub(crate) table: String,
    /// The index files. Default: the production index, the .cdx of the table's name.
    pub(crate) indexes: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// Bring xBase tables to what programs that died had committed: their transaction logs are worked off.
///
/// Says first what each log has for which files. A log is obeyed only in what concerns tables, memos and indexes of its own folder. Opening a
/// table to change it does the same.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverArgs {
    /// The folders of the tables; those of a transaction over several, together. Default: the current folder.
    pub(crate) folders: Vec<PathBuf>,
    /// Say what there is to recover, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// How keys of indexes are made and sorted.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The language of the program that made the indexes, whose letters stand in the order of its alphabet (de, es, fr, pl, ru, …),
    /// or the name of one of Harbour's code pages (FRWIN, PL852, …); EN and MACHINE sort by bytes. Default: what the keys tell.
    #[arg(long)]
    pub(crate) language: Option<String>,
}

impl KeyArgs {
    pub(crate) fn settings(&self, index: &Path, table: &Table) -> tidemill_xbase::Result<KeySettings> {
        match &self.language {
            Some(language) => KeySettings::language(table.codepage(), language),
            None => Ok(KeySettings::of_index(index, None, table)),
        }
    }
}

/// See it all work on real files: inspect, query, copy, compare; with a report to keep.
#[derive(Debug, clap::Args)]
pub(crate) struct TourArgs {
    /// A folder of your own tables. Default: a small company's books, made for the occasion.
    pub(crate) dir: Option<PathBuf>,
    /// A database of a server to which the tables are copied too, and which is asked the same: clickhouse://host/database.
    #[arg(long, value_name = "URL", value_parser = database)]
    pub(crate) clickhouse: Option<ServerUrl>,
    /// Where the books, the copies and the report go.
    #[arg(long, default_value = "tidemill-tour")]
    pub(crate) out: PathBuf,
    /// For how long the books are tested under load; 0 leaves that out. Tables of your own are not tested.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) load_test: u32,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// What the command may take, whatever files and servers send.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Give up after this many seconds. Default: no limit; a server that is silent is given up by its own settings.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,
    /// Give up when more memory would be needed, as in 512M. Default: three quarters of what the machine has.
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = LIMITS)]
    pub(crate) max_memory: Option<usize>,
}

const LIMITS: &str = "Limits";

impl LimitArgs {
    /// Settings of tables whose records may take as much memory as the command, where a limit is given.
    pub(crate) fn of_tables(&self, options: SessionOptions) -> SessionOptions {
        match self.max_memory {
            Some(bytes) => options.max_expansion(bytes as u64),
            None => options,
        }
    }

    /// The same for readers of records.
    pub(crate) fn of_records(&self, options: ReaderOptions) -> ReaderOptions {
        match self.max_memory {
            Some(bytes) => options.max_expansion(bytes as u64).max_chunk_size(u64::MAX),
            None => options,
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            timeout: self.timeout,
            max_memory: self.max_memory.map(|bytes| bytes as u64),
        }
    }
}

/// How a table of a server is made.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MakingArgs {
    /// Make the table of a server that rows go to. Without this it must be there, and rows are added to it.
    #[arg(long, help_heading = MAKING)]
    pub(crate) create: bool,
    /// The engine of a ClickHouse table that is made.
    #[arg(long, value_name = "ENGINE", default_value = "MergeTree", requires = "create", help_heading = MAKING)]
    pub(crate) engine: String,
    /// The order key of a ClickHouse table that is made, e.g. "(city, at)". Its columns take no NULL. Default:
    /// rows stay in the order in which they come.
    #[arg(long, value_name = "KEY", default_value = "tuple()", requires = "create", hide_default_value = true,
        help_heading = MAKING)]
    pub(crate) order_by: String,
    /// The primary key of a Cassandra table that is made, e.g. "id" or "(city, year), at".
    #[arg(long, value_name = "KEY", requires = "create", help_heading = MAKING)]
    pub(crate) primary_key: Option<String>,
}

const MAKING: &str = "Tables of servers";

impl MakingArgs {
    pub(crate) fn options(&self) -> TableOptions {
        TableOptions {
            create: self.create,
            engine: self.engine.clone(),
            order_by: self.order_by.clone(),
            primary_key: self.primary_key.clone(),
        }
    }
}

/// How tables are found and read.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TableArgs {
    /// The folder, or the database (clickhouse://host/database, cql://host/keyspace), whose tables may be named by their names
    /// alone.
    #[arg(long = "dir", value_name = "DIR", id = "tables_dir", help_heading = TABLES)]
    pub(crate) dir: Option<PathBuf>,
    /// Give a table a name of its own, or a database, whose tables are then NAME.table.
    #[arg(long, value_name = "NAME=URL", value_parser = name_and_place, help_heading = TABLES)]
    pub(crate) attach: Vec<(String, String)>,
    /// Say which folder a Windows drive letter means, for paths like C:\DATA\X.DBF.
    #[arg(long, value_name = "LETTER=FOLDER", value_parser = drive_and_folder, help_heading = TABLES)]
    pub(crate) drive: Vec<(char, PathBuf)>,
    /// The code page of xBase tables, over what they say themselves (cp437, cp850, cp1252, koi8-r, ...).
    #[arg(long, value_name = "NAME", help_heading = TABLES)]
    pub(crate) codepage: Option<CodePage>,
    /// What a blank number, logical or date of an xBase table is; zero is what Clipper and ADS programs see (0, false). Default: null.
    #[arg(long, value_enum, help_heading = TABLES)]
    pub(crate) blank: Option<BlankArg>,
    /// What becomes of records that are marked as deleted.
    #[arg(long, value_enum, default_value_t, help_heading = TABLES)]
    pub(crate) deleted: DeletedArg,
    /// Go on behind damage; what was left out is reported on standard error.
    #[arg(long, help_heading = TABLES)]
    pub(crate) recover: bool,
    /// Refuse xBase tables that contradict their format, even where there is no doubt about their records. Default: they are read, and
    /// inspect and verify tell what it is.
    #[arg(long, help_heading = TABLES)]
    pub(crate) strict: bool,
    /// The types of the messages in files of records, as protoc --descriptor_set_out --include_imports writes them. Default:
    /// what a Riegeli file says itself.
    #[arg(long, value_name = "FILE", value_parser = descriptors, help_heading = TABLES)]
    pub(crate) descriptor: Option<FileDescriptorSet>,
    /// The message type of the records, by its full name: one of the descriptor file, tensorflow.Example or
    /// tensorflow.SequenceExample, whose features become columns, or none for records as they are. Default: what the file or its
    /// first records tell.
    #[arg(long, value_name = "TYPE", help_heading = TABLES)]
    pub(crate) message: Option<String>,
}

const TABLES: &str = "Tables";

impl TableArgs {
    pub(crate) fn session(&self) -> Session {
        Session::new(self.options())
    }

    pub(crate) fn options(&self) -> SessionOptions {
        let mut options = SessionOptions::default()
            .deleted(self.deleted.into())
            .strict(self.strict)
            .recover(self.recover);
        if let Some(blank) = self.blank {
            options = options.blank(blank.into());
        }
        if let Some(dir) = &self.dir {
            options = options.dir(dir);
        }
        for (name, place) in &self.attach {
            options = options.attach(name, place);
        }
        for (letter, folder) in &self.drive {
            options = options.drive(*letter, folder);
        }
        if let Some(codepage) = self.codepage {
            options = options.codepage(codepage);
        }
        if let Some(descriptors) = &self.descriptor {
            options = options.descriptors(descriptors.clone());
        }
        if let Some(message) = &self.message {
            options = options.message(message);
        }
        options
    }

    pub(crate) fn xbase(&self) -> tidemill_xbase::OpenOptions {
        let options = tidemill_xbase::OpenOptions::default()
            .blank(self.blank.map_or(Blank::Null, Into::into))
            .strict(self.strict)
            .recover(self.recover);
        match self.codepage {
            Some(codepage) => options.codepage(codepage),
            None => options,
        }
    }
}

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
    /// Lines for a person.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum DialectArg {
    /// dBASE III and Clipper, memos in a DBT.
    Dbase3,
    /// dBASE IV, memos in a DBT.
    Dbase4,
    /// FoxPro 2, memos in an FPT.
    #[default]
    Foxpro,
    /// Visual FoxPro: nulls are kept.
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

/// A number of bytes, perhaps in units of 2^10 (K), 2^20 (M), 2^30 (G).
fn bytes(text: &str) -> Result<usize, String> {
    let text = text.trim().to_ascii_uppercase();
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err("expected a number with K, M or G behind it".to_owned()),
    };
    let number: usize = digits
        .parse()
        .map_err(|_| "expected a number of bytes, as in 512M".to_owned())?;
    number
        .checked_mul(unit)
        .ok_or_else(|| "more bytes than there are".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds, such as 1 or 0.5".to_owned())
}

fn name_and_place(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, place)) if !name.is_empty() && !place.is_empty() => Ok((name.to_owned(), place.to_owned())),
        _ => Err("expected NAME=URL".to_owned()),
    }
}

fn database(text: &str) -> Result<ServerUrl, String> {
    match ServerUrl::new(text) {
        Some(url) if !url.names_table() && url.to_string().starts_with("clickhouse:") => Ok(url),
        _ => Err("expected clickhouse://host/database".to_owned()),
    }
}

fn descriptors(path: &str) -> Result<FileDescriptorSet, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    FileDescriptorSet::decode(bytes.as_slice()).map_err(|error| format!("not a descriptor file: {error}"))
}

fn drive_and_folder(text: &str) -> Result<(char, PathBuf), String> {
    let (letter, folder) = text.split_once('=').ok_or("expected LETTER=FOLDER")?;
    let mut letters = letter.trim_end_matches(':').chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => Ok((letter, PathBuf::from(folder))),
        _ => Err("a drive is one letter".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Args::command().debug_assert();
    }
}
