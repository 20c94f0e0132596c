//! One SQL over every store, and `copy` between them.
//!
//! A *store* is a file, a set of files, an object on the network or a table of a server that a [`Location`] names. A [`Session`] opens the
//! stores that a statement mentions, passes them to DataFusion as tables, and returns a stream of Arrow record batches. [`Session::copy`]
//! is the same read with a [`Sink`] at its end.
//!
//! ```no_run
//! # async fn example() -> Result<(), tidemill_sql::Error> {
//! use tidemill_sql::{Session, SessionOptions};
//!
//! let session = Session::new(SessionOptions::default().dir("books"));
//! let answer = session.query("SELECT city, COUNT(*) FROM customers GROUP BY city").await?;
//! for batch in answer.collect().await? {
//!     println!("{} rows", batch.num_rows());
//! }
//! # Ok(()) }
//! ```
//!
//! This crate parses no file format and no network protocol (the engine crates do), changes no xBase table itself (UPDATE, DELETE and
//! transactions are those of `tidemill-ads`), and prints nothing.

mod ads;
mod ads_connection;
mod analysis;
mod answer;
mod binary_forms;
mod binary_functions;
mod blanks;
mod cast;
mod catalog;
mod changes;
mod checked_arithmetic;
mod comparisons;
mod copy;
mod damage;
mod dates_with_numbers;
mod ddl;
mod declared_types;
mod dialect;
mod difference;
mod engine;
mod error;
mod exact_sum;
mod faults;
mod filter_pushdown;
mod floats_with_decimals;
mod folder;
mod format;
mod in_lists;
mod information_schema;
mod ingest;
mod key_columns;
mod location;
mod lowering;
mod many_to_one;
mod moments_as_text;
mod names;
mod null_safe_joins;
mod numeric_forms;
mod numeric_text;
mod opaque;
mod options;
mod outer_join_constants;
mod panics;
mod parameters;
mod parquet_conditions;
mod plain;
mod plan_cache;
mod planned_scan;
mod planner_forms;
mod planning;
mod programs;
mod records;
mod repeated_rows;
mod route;
mod row_changes;
mod row_numbers;
mod scalars;
mod scan_conditions;
mod scan_counts;
mod scope;
mod session;
mod shards;
mod sink;
mod stop;
mod stores;
mod subqueries;
mod summary;
mod top_percent;
mod top_rows;
mod uuid_text;
mod window_names;
#[cfg(feature = "workers")]
mod workers;
mod yielding;

pub use answer::{Answer, Changed};
pub use cast::cast_batch;
pub use catalog::{NamedTables, SchemaTables};
pub use copy::{
    Copied, CopyOptions, Follower, Loss, MappedColumn, PlannedCopy, Progress, SourceKeys, SourceRelation,
    SourceRelations, Verify, remains_in, remove_drafts,
};
pub use ddl::create_table;
pub use difference::{Comparison, Counts};
pub use error::{Error, Fault, Left, Result, is_of_index};
pub use folder::{Folder, LeftOut};
pub use format::{ExcelSheet, Format};
pub use ingest::{Ingest, IngestOptions};
pub use location::{Location, ObjectUrl, Part, Place};
pub use names::{Names, path_of_url};
pub use opaque::Opaque;
pub use options::SessionOptions;
pub use parameters::{stand_ins, values_of};
pub use plain::{FOR_DAMAGED_INDEX, Plain};
pub use programs::{for_programs, from_programs};
pub use records::{Records, Skipped};
pub use route::{is_query, source_is_query};
pub use scan_counts::ScanCount;
pub use session::Session;
pub use sink::{FileOptions, Sink, StreamFormat, check_moments, stream_sink};
pub use stop::stoppable;
pub use stores::server::{ForeignKey, ServerKind, ServerUrl, TableIndex, TableOptions};
pub use stores::standard_input::standard_input;
pub use summary::{BARS, ColumnSummary, KEPT_HASHES, SAMPLE, Summary, as_numbers, text_of_number};
pub use tidemill_ads::sql::function_names;
pub use tidemill_trust::with_causes;
pub use uuid_text::with_uuids_as_text;
#[cfg(feature = "workers")]
pub use workers::{Worker, WorkerTls, Workers};
