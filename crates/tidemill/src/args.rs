//! The arguments of the command line, in one place; help and errors come from here.

mod choices;
mod looking;
mod unused;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Parser, Subcommand};
use prost::Message;
use prost_types::FileDescriptorSet;
use tidemill_riegeli::{FieldProjection, ReaderOptions};
use tidemill_sql::{Names, ServerUrl, Session, SessionOptions, TableOptions};
use tidemill_xbase::{Blank, CodePage, KeySettings, Table};

use crate::limits::Limits;

pub(crate) use choices::{AnswerFormat, BlankArg, CatFormat, DeletedArg, DialectArg, ReportFormat, VerifyCopyArg};
#[cfg(feature = "chart")]
pub(crate) use looking::{ChartArgs, ChartKind};
pub(crate) use looking::{DiffArgs, HeadArgs, SampleArgs, SummarizeArgs};

/// Query, convert and check data in legacy formats: dBASE, FoxPro, Clipper and Advantage tables, Riegeli record files.
#[derive(Debug, Parser)]
#[command(name = "tidemill", version, long_version = LONG_VERSION, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Version, commit, and what this program was built with.
pub(crate) const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("TIDEMILL_COMMIT"),
    ")\nfeatures: ",
    env!("TIDEMILL_FEATURES")
);

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Sql(SqlArgs),
    #[cfg(feature = "shell")]
    Shell(ShellArgs),
    Copy(CopyArgs),
    Inspect(InspectArgs),
    Cat(CatArgs),
    Head(HeadArgs),
    Sample(SampleArgs),
    Summarize(SummarizeArgs),
    Diff(DiffArgs),
    #[cfg(feature = "chart")]
    Chart(ChartArgs),
    Verify(VerifyArgs),
    Salvage(SalvageArgs),
    Reindex(ReindexArgs),
    Recover(RecoverArgs),
    #[cfg(feature = "bench")]
    Bench(BenchArgs),
    #[cfg(feature = "serve")]
    Serve(crate::commands::serve::ServeArgs),
    #[cfg(feature = "serve")]
    User(crate::commands::user::UserArgs),
    #[cfg(feature = "workers")]
    Worker(crate::commands::worker::WorkerArgs),
    Tour(TourArgs),
    SelfCheck(crate::commands::self_check::SelfCheckArgs),
    Completions(CompletionsArgs),
    #[command(hide = true)]
    Man(ManArgs),
}

/// Load-test Cassandra, ClickHouse, PostgreSQL, SQLite or local tables with workloads written in Rune.
///
/// The same as the program tidemill-bench, with the commands and options of Latte.
#[cfg(feature = "bench")]
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) log: tidemill_bench::args::LogArgs,
    #[command(subcommand)]
    pub(crate) command: tidemill_bench::args::Command,
}

/// Run an SQL statement over files, folders and servers.
///
/// Name a table by its path in quotes ('orders.dbf', "data/orders.riegeli", [C:\DATA\ORDERS.DBF]), by its file name without
/// the extension if it is in the --dir folder, or by a name that --attach gives it. Table and column names are
/// case-insensitive. INSERT, UPDATE, DELETE and other statements of ADS SQL change xBase tables; INSERT INTO also adds rows to
/// a table of a server.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// The SQL statement. `-` reads it from standard input.
    pub(crate) statement: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Send the statement to this database, in its own SQL: clickhouse://host/database, mysql://host/database, postgres://host/database, sqlite:FILE.
    #[arg(long, value_name = "URL", value_parser = database, conflicts_with_all = ["explain", "memory", "TableArgs", "MakingArgs"])]
    pub(crate) server: Option<ServerUrl>,
    /// Format of the result. Default: table on a terminal, jsonl in a pipe.
    #[arg(long, value_enum)]
    pub(crate) format: Option<AnswerFormat>,
    #[command(flatten)]
    pub(crate) screen: ScreenArgs,
    /// Show the query plan instead of the result: the files to scan, with columns, filters and limits.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print on standard error what each scan read: rows, bytes that came from a server or a Parquet file, and what was asked.
    #[arg(long, conflicts_with_all = ["explain", "server"])]
    pub(crate) stats: bool,
    /// Memory for sorting, grouping and joining, for example 512M. What needs more spills to temporary files, except joins that
    /// run in a single thread. Default: no limit.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory: Option<usize>,
    #[cfg(feature = "workers")]
    #[command(flatten)]
    pub(crate) workers: crate::commands::worker::WorkersArgs,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Type statements at a prompt, with history and completion.
///
/// `tidemill` alone does the same on a terminal. Statements end with a semicolon; \? lists the commands of the shell. In a pipe,
/// the statements of standard input are run up to the first that fails.
#[cfg(feature = "shell")]
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ShellArgs {
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Format of answers. Default: table on a terminal, jsonl in a pipe.
    #[arg(long, value_enum)]
    pub(crate) format: Option<AnswerFormat>,
    #[command(flatten)]
    pub(crate) screen: ScreenArgs,
}

/// Copy a table, a folder of tables or the result of a query to another format, a server or an object store.
///
/// The extension of the destination gives its format. s3://, gs:// and az:// are objects; clickhouse://host/database/table,
/// cql://host/keyspace/table, mysql://host/database/table, postgres://host/database/table and sqlite:FILE/table are tables of databases.
/// Tidemill counts the rows of the finished copy before it gets its name.
#[derive(Debug, clap::Args)]
pub(crate) struct CopyArgs {
    /// A table, a folder of tables, or a SELECT statement. `-` is a file on standard input.
    pub(crate) source: String,
    /// The file or object to create, or the table of a server to fill. For a folder of tables, and with --to: the folder, the
    /// object prefix or the database for the copies.
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// The extension of the copies (riegeli, parquet, csv, ...), each of which is a file of the folder under the name of its table.
    #[arg(long, value_name = "EXTENSION")]
    pub(crate) to: Option<String>,
    /// For a folder or a database: if a table cannot be copied, continue with the others, list the failed ones at the end, and
    /// exit with 1.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Show what would be copied where, the type of each column in the copy, and what it cannot hold. Copy nothing.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) dry_run: bool,
    /// For a folder or a database: how many tables to copy at the same time.
    #[arg(long, value_name = "NUMBER", default_value = "1",
        value_parser = |text: &str| text.parse::<NonZeroUsize>().map_err(|_| "expected a whole number from 1"))]
    pub(crate) jobs: NonZeroUsize,
    /// With --create: also give the new table the indexes of the DBF or ADT table, and its primary key.
    ///
    /// For MySQL, PostgreSQL and SQLite. The primary key is the FoxPro container's, or else an AutoInc column that is a candidate key.
    /// Index tags by an expression or with a condition are listed and left out. For a folder, relations of the FoxPro container become
    /// foreign keys; what cannot be one is listed with the reason.
    #[arg(long, requires = "create")]
    pub(crate) keys: bool,
    /// Replace the destination if it exists; a table of a database with --create only.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Resume an interrupted copy to a table of ClickHouse, MySQL, PostgreSQL or SQLite: skip the rows that it already has.
    ///
    /// Rows are committed in parts. With --create, a new table has another name until it is complete, except in ClickHouse. If the
    /// server becomes unreachable, the copy waits for it.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Keep copying the rows that are added to a DBF or Riegeli file, until interrupted.
    ///
    /// The destination is a table of a server, a DBF or a Riegeli file. The copy starts after the last row that an earlier run
    /// copied there from the same file; the table tidemill_positions next to the destination keeps that position. Every row
    /// arrives at least once.
    #[arg(long, conflicts_with_all = ["overwrite", "resume", "to"])]
    pub(crate) follow: bool,
    /// With --follow: how often to check for new rows.
    #[arg(long, value_name = "SECONDS", default_value = "1", requires = "follow", value_parser = seconds)]
    pub(crate) interval: Duration,
    /// Also copy columns whose new type cannot hold every value exactly.
    ///
    /// Examples: microseconds in an xBase table; dates before 1900 in a .native file, which ClickHouse before 26.9 shows as other
    /// dates.
    #[arg(long)]
    pub(crate) lossy: bool,
    /// How to check the copy: count its rows (`counts`), or read it again and compare a checksum of each column (`full`).
    #[arg(long, value_enum, default_value_t)]
    pub(crate) verify: VerifyCopyArg,
    /// Options for a new Riegeli file, in the syntax of the C++ library, e.g. zstd:3,chunk_size:1M. Default: zstd.
    #[arg(long, value_name = "OPTIONS")]
    pub(crate) riegeli: Option<String>,
    /// Options for a new ArrayRecord file, in the syntax of its Python package, e.g. group_size:10,zstd:3. Default: one
    /// record per chunk, zstd:3.
    #[arg(long, value_name = "OPTIONS")]
    pub(crate) array_record: Option<String>,
    /// Code page of a new xBase table. Default: cp1252.
    #[arg(long, value_name = "NAME")]
    pub(crate) to_codepage: Option<CodePage>,
    /// Dialect of a new DBF table and its memo file. Default: foxpro.
    #[arg(long, value_enum)]
    pub(crate) to_dialect: Option<DialectArg>,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Describe a file or a folder of tables: format, structure and columns.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// Files, or folders of tables. `-` is a file on standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Format of the description.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ReportFormat,
    /// Print the CREATE TABLE statement for this database instead, with the types that copy --create would give: postgres, sqlite,
    /// clickhouse, duckdb, ...
    #[arg(long, value_name = "DATABASE", conflicts_with = "format")]
    pub(crate) ddl: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Print all rows of a table or all records of a record file.
#[derive(Debug, clap::Args)]
pub(crate) struct CatArgs {
    /// The table. `-` is a file on standard input.
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Format of the rows. Default: table on a terminal, jsonl in a pipe. `framed` writes the length of each record (32 bits,
    /// little-endian) and its bytes; `raw` writes the bytes only.
    #[arg(long, value_enum)]
    pub(crate) format: Option<CatFormat>,
    #[command(flatten)]
    pub(crate) screen: ScreenArgs,
    /// Stop after this many rows.
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Read only these fields of the messages in a Riegeli file, by field number.
    ///
    /// `2.3` is field 3 inside field 2. `4.0` tells whether field 4 is present, as true or false. `root` is the whole message, and
    /// an empty list is no field at all. Separate several fields by commas. With --format framed or raw, fields are dropped from
    /// transposed chunks only, and a field that is asked for as `4.0` has a zero or empty value.
    #[arg(long, value_name = "FIELDS")]
    pub(crate) project: Option<FieldProjection>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Copy every readable record of a damaged record file, and list what was skipped. Exits with 1 if there was damage.
#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    /// The damaged file. `-` is a Riegeli, ArrayRecord or TFRecord file on standard input.
    pub(crate) file: String,
    /// The file or object to create.
    pub(crate) destination: String,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Replace the destination if it exists.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Options for a new Riegeli file, in the syntax of the C++ library, e.g. zstd:3,chunk_size:1M. Default: zstd.
    #[arg(long, value_name = "OPTIONS")]
    pub(crate) riegeli: Option<String>,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Read a whole file and list its damage. Exits with 1 if there is any.
///
/// For an xBase table, the keys of the production index are compared with the records: keys that are missing, wrong or out of
/// order are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// A file or a folder of tables. `-` is a file on standard input.
    pub(crate) file: String,
    /// Another index file of the table (.cdx, .ntx, .nsx, .mdx, .ndx, .idx).
    #[arg(long = "index", value_name = "FILE")]
    pub(crate) indexes: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    /// Format of the findings.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Rebuild the index files of an xBase table from its current records.
///
/// The index files keep their tags and options. The table is opened exclusively. A new index file replaces the old one only when
/// it is complete.
#[derive(Debug, clap::Args)]
pub(crate) struct ReindexArgs {
    /// The table.
    pub(crate) table: String,
    /// The index files. Default: the production index, which has the table's name.
    pub(crate) indexes: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// Apply the transactions that a crashed program had committed but not yet written to its xBase tables.
///
/// Lists first which files each transaction log changes. A log can change only tables, memos and indexes in its own folder.
/// Opening a table for changes recovers it too.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverArgs {
    /// The folders of the tables. If a transaction covers several folders, give all of them. Default: the current folder.
    pub(crate) folders: Vec<PathBuf>,
    /// List what would be recovered, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) notes: NoteArgs,
}

/// How keys of indexes are made and sorted.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// Sort order of the index keys: a language (de, es, fr, pl, ru, …) or the name of a Harbour code page (FRWIN, PL852, …). EN
    /// and MACHINE sort by bytes. Default: found from the keys.
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

/// Try Tidemill on sample tables: inspect, query, copy, compare, load-test; with an HTML report.
#[derive(Debug, clap::Args)]
pub(crate) struct TourArgs {
    /// A folder of your own tables. Default: the books of a small company, which the tour creates.
    pub(crate) dir: Option<PathBuf>,
    /// Also copy the tables to this database, and ask it the same questions: clickhouse://host/database.
    #[arg(long, value_name = "URL", value_parser = clickhouse)]
    pub(crate) clickhouse: Option<ServerUrl>,
    /// Folder for the books, the copies and the report.
    #[arg(long, default_value = "tidemill-tour")]
    pub(crate) out: PathBuf,
    /// Length of the load test; 0 skips it. Your own tables are not load-tested.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) load_test: u32,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// Print the completion script for a shell.
///
/// For bash: tidemill completions bash > ~/.local/share/bash-completion/completions/tidemill
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Write a man page for each command to a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder, which must exist.
    pub(crate) folder: PathBuf,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct AnswerArgs {
    /// Format of the answer. Default: table on a terminal, jsonl in a pipe.
    #[arg(long, value_enum)]
    pub(crate) format: Option<AnswerFormat>,
    #[command(flatten)]
    pub(crate) screen: ScreenArgs,
}

/// How tables are shown on a terminal.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ScreenArgs {
    /// On a terminal: show all columns and whole texts, even if lines wrap. Default: texts are shortened to fit the width, and columns
    /// that do not fit are named below the table.
    #[arg(long)]
    pub(crate) wide: bool,
    /// How many rows to show: a number or `all`. Default: all; of a table on a
    /// terminal, one screen.
    #[arg(long, value_name = "ROWS", value_parser = row_count)]
    pub(crate) rows: Option<RowCount>,
}

/// A number of rows; `None` is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowCount(pub(crate) Option<usize>);

fn row_count(text: &str) -> Result<RowCount, String> {
    match text {
        "all" => Ok(RowCount(None)),
        number => match number.parse() {
            Ok(number) => Ok(RowCount(Some(number))),
            Err(_) => Err("expected a number of rows, or all".to_owned()),
        },
    }
}

/// What is written to standard error.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct NoteArgs {
    /// Print no progress and no summary on standard error: errors, damage and what was left out only.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What the command may take, whatever files and servers send.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Stop with an error after this many seconds. Default: no limit. Timeouts of servers are set in their URLs.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,
    /// Stop with an error when the process needs more memory than this, for example 512M. Default: three quarters of the
    /// machine's memory.
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
    /// Create the destination table in the database. Without this option the table must exist, and rows are added to it.
    #[arg(long, help_heading = MAKING)]
    pub(crate) create: bool,
    /// With --create: the engine of the ClickHouse table. Default: MergeTree.
    #[arg(long, value_name = "ENGINE", requires = "create", help_heading = MAKING)]
    pub(crate) engine: Option<String>,
    /// With --create: the sorting key (ORDER BY) of the ClickHouse table, e.g. "(city, at)". Its columns cannot be NULL.
    /// Default: none; rows keep their order.
    #[arg(long, value_name = "KEY", requires = "create", help_heading = MAKING)]
    pub(crate) order_by: Option<String>,
    /// With --create: the primary key of the table, e.g. "id", or of a Cassandra table "(city, year), at".
    #[arg(long, value_name = "KEY", requires = "create", help_heading = MAKING)]
    pub(crate) primary_key: Option<String>,
}

const MAKING: &str = "Tables of databases";

impl MakingArgs {
    pub(crate) fn options(&self) -> TableOptions {
        let mut options = TableOptions {
            create: self.create,
            primary_key: self.primary_key.clone(),
            ..TableOptions::default()
        };
        if let Some(engine) = &self.engine {
            options.engine.clone_from(engine);
        }
        if let Some(order_by) = &self.order_by {
            options.order_by.clone_from(order_by);
        }
        options
    }
}

/// How tables are found and read.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TableArgs {
    /// Folder or database (postgres://host/database, sqlite:FILE, ...) whose tables can be named without a path.
    /// Default: the current folder.
    #[arg(long = "dir", value_name = "DIR", id = "tables_dir", value_parser = folder_or_database, help_heading = TABLES)]
    pub(crate) dir: Option<PathBuf>,
    /// Give a table a name, or give a folder or database a name whose tables are then NAME.table.
    #[arg(long, value_name = "NAME=URL", value_parser = name_and_place, help_heading = TABLES)]
    pub(crate) attach: Vec<(String, String)>,
    /// Map a Windows drive letter to a folder, for paths like C:\DATA\X.DBF.
    #[arg(long, value_name = "LETTER=FOLDER", value_parser = drive_and_folder, help_heading = TABLES)]
    pub(crate) drive: Vec<(char, PathBuf)>,
    /// Override the code page stored in xBase tables (cp437, cp850, cp1252, koi8-r, ...).
    #[arg(long, value_name = "NAME", help_heading = TABLES)]
    pub(crate) codepage: Option<CodePage>,
    /// Read blank numbers, logicals and dates of xBase tables as NULL (`null`), or as Clipper and ADS programs see them: 0, false
    /// and an empty date (`zero`). Default: null.
    #[arg(long, value_enum, help_heading = TABLES)]
    pub(crate) blank: Option<BlankArg>,
    /// Whether to skip records marked as deleted, include them, or read only them.
    #[arg(long, value_enum, default_value_t, help_heading = TABLES)]
    pub(crate) deleted: DeletedArg,
    /// Skip damaged parts, and report on standard error what was skipped.
    #[arg(long, help_heading = TABLES)]
    pub(crate) recover: bool,
    /// Refuse xBase tables whose header breaks the rules of the format, even if their records are unambiguous. Default: they are
    /// read, and inspect and verify report what is wrong.
    #[arg(long, help_heading = TABLES)]
    pub(crate) strict: bool,
    /// Message types for record files: a file written by protoc --descriptor_set_out --include_imports. Default: the types stored
    /// in the Riegeli file.
    #[arg(long, value_name = "FILE", value_parser = descriptors, help_heading = TABLES)]
    pub(crate) descriptor: Option<FileDescriptorSet>,
    /// Full name of the message type of the records: a type of the descriptor file, tensorflow.Example or
    /// tensorflow.SequenceExample (each feature becomes a column), or `none` for records as bytes. Default: found in the file or
    /// from its first records.
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
            .standard_input()
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

/// A number of bytes, perhaps in units of 2^10 (K), 2^20 (M), 2^30 (G).
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let text = text.trim().to_ascii_uppercase();
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err("expected a number followed by K, M or G, for example 512M".to_owned()),
    };
    let number: usize = digits
        .parse()
        .map_err(|_| "expected a number of bytes, for example 512M".to_owned())?;
    number
        .checked_mul(unit)
        .ok_or_else(|| "too large a number of bytes".to_owned())
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds, for example 1 or 0.5".to_owned())
}

pub(crate) fn name_and_place(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, place)) if !name.is_empty() && !place.is_empty() => Ok((name.to_owned(), place.to_owned())),
        _ => Err("expected NAME=PATH or NAME=URL, for example orders=orders.parquet".to_owned()),
    }
}

/// A folder that is there, in any case of its letters. What has a colon is a URL, or begins with the letter of a drive.
fn folder_or_database(text: &str) -> Result<PathBuf, String> {
    match Names::default().path(text) {
        _ if text.contains(':') => Ok(text.into()),
        Ok(Some(_)) => Ok(text.into()),
        Ok(None) => Err("no such folder".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn database(text: &str) -> Result<ServerUrl, String> {
    ServerUrl::new(text)
        .filter(|url| !url.names_table())
        .ok_or_else(|| "expected clickhouse://host/database or sqlite:FILE".to_owned())
}

fn clickhouse(text: &str) -> Result<ServerUrl, String> {
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
    let (letter, folder) = text
        .split_once('=')
        .ok_or("expected LETTER=FOLDER, for example C=data")?;
    let mut letters = letter.trim_end_matches(':').chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => match Names::default().path(folder) {
            Ok(Some(found)) if found.is_dir() => Ok((letter, PathBuf::from(folder))),
            _ => Err(format!("{folder}: no such folder")),
        },
        _ => Err("expected one letter before the =, for example C=data".to_owned()),
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
