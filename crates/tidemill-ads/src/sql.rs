//! ADS SQL over xBase tables.
//!
//! A text is parsed once ([`parse`]), bound to the tables that it names and run as often as it is needed ([`Prepared`],
//! [`Statements`]). What a statement can reach is a trait ([`Tables`]); [`ConnectionTables`] is the tables of a connection.
//!
//! ```
//! use tidemill_ads::sql::{Answer, StatementOptions, Statements, Value};
//! use tidemill_ads::{Connection, Settings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let mut connection = Connection::open(folder.path())?;
//! let (settings, options) = (Settings::default(), StatementOptions::default());
//! let mut tables = connection.tables(&settings, &options);
//! let statements = Statements::default();
//! statements.run("CREATE TABLE orders ( id Integer, tag Char(4), amt Numeric(8,2) )", &mut tables, &[])?;
//! statements.run("INSERT INTO orders VALUES ( 1, 'AAAA', 12.5 ), ( 2, 'BBBB', 7 )", &mut tables, &[])?;
//! let sql = "SELECT tag, SUM(amt) FROM orders WHERE amt > :least GROUP BY tag";
//! let answer = statements.run(sql, &mut tables, &[Value::Integer(10)])?;
//! let Answer::Rows(rows) = answer else { panic!("rows") };
//! assert_eq!(rows.count(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Lanes
//!
//! A SELECT of one table's own columns whose condition is a filter and whose order is an index's is a live cursor ([`Answer::Live`]). All
//! else over one table is answered here, in memory ([`Answer::Rows`]): aggregates and groups by kernels that read the records' bytes,
//! expressions over cached Arrow columns. EXPLAIN names the lane, the index and the optimisation level.
//!
//! # Values
//!
//! A blank of a field that cannot hold NULL is a value: 0, false, an empty text, a date before every day; aggregates count it. In tables
//! of xBase `IS NULL`, `IFNULL` and `COALESCE` take it for NULL; in those of Visual FoxPro only what was made with NULL is NULL. With
//! [`StatementOptions::blanks`] blanks of all but texts and memos are NULL. NULL sorts before every value. Blanks at the end of texts do not count in comparisons. Whole
//! numbers and decimals are exact, division gives a double, and NULL by zero. Texts sort by their characters' code points.
//!
//! # What this module does not do
//!
//! Joins, subqueries, windows and common table expressions need an [`Analytical`] engine; without one they are an error of
//! [`Kind::NeedsAnalytical`]. Nothing is sent to the subscriptions that a data dictionary keeps.

mod analytical;
mod answer;
mod append;
mod arithmetic;
mod bind;
mod change;
mod clauses;
mod collate;
mod comments;
mod condition;
mod connection_tables;
mod conversion;
mod dialect;
mod distinct_from;
mod error;
mod evaluate;
mod explain;
mod expression;
mod frames;
mod functions;
mod given;
mod group;
mod interner;
mod join;
mod like;
mod listing;
mod nesting;
mod parser;
mod prepared;
mod procedure;
mod quantified;
mod row_id;
mod scalar;
mod scores;
mod script;
mod select;
mod sort;
mod statement;
mod stored;
mod stream;
mod structure;
mod system;
mod tables;
mod tokens;
mod user_functions;
mod value;
mod vector;
mod views;
pub mod walk;
mod watch;
mod work;

pub use analytical::{
    Analytical, AnalyticalQuery, BLANK_IS_NULL, RECORD_COUNT, TableScan, TableSource, columns_with_blanks,
};
pub use answer::{Answer, ColumnDescription, Live, Rows};
pub use bind::{has_form, literal_of_type};
pub use clauses::{Reader, refuse_ignored};
pub use comments::without_comments;
pub(crate) use connection_tables::StatementTables;
pub(crate) use connection_tables::no_trigger;
pub use connection_tables::{ConnectionTables, LastRead, StatementOptions};
pub use distinct_from::join_distinct_from;
pub use error::{Error, Kind, Result};
pub use evaluate::ConnectionFacts;
pub use functions::{changes_between_statements, function_names, function_takes, is_volatile};
pub(crate) use given::{GivenTables, run_trigger};
pub use group::DEFAULT_LENGTH as GROUP_CONCAT_LENGTH;
pub use join::{join_constraint, join_constraint_mut};
pub use nesting::{balance_conditions, joined_in_pairs, limit_nesting};
pub use parser::parse;
pub use prepared::{Prepared, Statements, parameters};
pub use row_id::prefix as row_id_prefix;
pub use scalar::{Scalar, ScalarColumn};
pub(crate) use script::check as check_script;
/// A place in a statement, by line and column, counted from 1.
pub use sqlparser::tokenizer::Location;
pub use statement::*;
pub(crate) use stored::{StoredProgram, definitions};
pub use stream::{RowStream, Streamed};
pub use tables::{Clock, FiredChange, Snapshot, TableInUse, Tables};
pub use user_functions::UserFunctions;
pub(crate) use user_functions::{FunctionTexts, check as check_function};
pub use value::{EMPTY_DATE, EMPTY_TIMESTAMP, Type, Value};
pub(crate) use views::select_of as view_of;
pub use watch::Watch;
