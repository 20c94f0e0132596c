//! Reads and writes xBase tables (dBASE, Clipper, FoxPro, Harbour, SIx) and Advantage's ADT tables with their memos and indexes, as
//! Arrow arrays. Tables can be changed in place, with locks and in transactions, while other programs have them open.
//!
//! ```
//! use std::sync::Arc;
//! use tidemill_xbase::{CivilDate, CreateOptions, EditOptions, FieldSpec, OpenOptions, Scan, Table, TableEditor, TableWriter, Value};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let path = std::env::temp_dir().join(format!("tides-{}.dbf", std::process::id()));
//!     let today = CivilDate { year: 2026, month: 11, day: 30 };
//!     let fields = [FieldSpec::new("PLACE", 'C', 20, 0), FieldSpec::new("HEIGHT", 'N', 6, 2)];
//!     TableWriter::create(&path, &fields, &CreateOptions::new(today))?.finish()?;
//!
//!     let mut editor = TableEditor::open(&path, &EditOptions::new(today))?;
//!     editor.append_values(&[(0, Value::Text("Husum")), (1, Value::Double(1.4))])?;
//!     drop(editor);
//!
//!     let table = Arc::new(Table::open(&path, &OpenOptions::new())?);
//!     for batch in table.scan(Scan::new())? {
//!         let batch = batch?;
//!         assert_eq!((batch.num_rows(), batch.schema().field(1).name().as_str()), (1, "HEIGHT"));
//!     }
//!     std::fs::remove_file(&path)?;
//!     Ok(())
//! }
//! ```
//!
//! A DBF record has a fixed width, so a column is a strided slice of the file: each column that is asked for is decoded in one
//! loop, from a window of the file into an Arrow array.
//!
//! # What works
//!
//! | | read | create | change |
//! |---|---|---|---|
//! | dBASE III, IV, 5; Clipper, Harbour; FoxPro 2; Visual FoxPro; SIx | yes | yes | yes |
//! | ADT (Advantage) | yes | yes | partly |
//! | FoxBASE | yes | no | yes |
//! | dBASE II, dBASE 7 | yes | no | partly |
//! | compressed tables of DATASUS | yes | no | no |
//! | memos DBT, FPT, SMT, ADM | yes | yes | yes |
//! | indexes CDX, NTX, NSX, IDX, MDX, NDX | yes | yes | yes |
//! | indexes ADI | partly | yes | yes |
//! | encrypted tables | no | no | no |
//!
//! The README says what "partly" leaves out.
//!
//! # Fields and Arrow types
//!
//! | letter | field | Arrow type | null |
//! |---|---|---|---|
//! | `C` | text, up to 65535 bytes through the decimals byte | Utf8 without trailing blanks and NULs | never |
//! | `C` binary | bytes | Binary, the whole width | never |
//! | `N` (w, 0), w ≤ 18 | digits | Int64 | blank, NUL, stars |
//! | `N` (w, d), `F` | digits | Decimal128(min(w + d, 38), d) | blank, NUL, stars |
//! | `N`, `F` with exponents or more decimals than d | digits, a power of ten | Float64 | blank, NUL, stars |
//! | `L` | one letter | Boolean | blank, `?` |
//! | `D` 8 | YYYYMMDD | Date32 | blank, zeros |
//! | `D` 3, 4 | Julian day | Date32 | 0 |
//! | `I`, `+`, `V` 4 | 1 to 4 bytes | Int32 | never |
//! | `I`, `+`, `^` 8 | 8 bytes | Int64 | never |
//! | `I` with decimals d | scaled integer | Decimal128(digits of the width, d) | never |
//! | `B` 8, `O` | double | Float64 | never |
//! | `Y` | currency | Decimal128(19, 4) | never |
//! | `T` 4 | milliseconds of the day | Time32(ms) | never |
//! | `T` 8, `@`, `=` | Julian day, milliseconds; `@` of dBASE 7 a double of milliseconds | Timestamp(ms), no zone | 0 |
//! | `M` | memo | Utf8; no memo is an empty text | never |
//! | `M` binary, `G`, `P`, `W`, `B` 10 | memo | Binary | never |
//! | `V` in Visual FoxPro | text with a length | Utf8 | never |
//! | `Q`, `V` binary | bytes with a length | Binary | never |
//! | `1A`, `1C` (Harbour: `C:U`, `M:U`) | text and memo in UTF-16 | Utf8 | never |
//! | `V` 3 | packed date (SIx, Harbour) | Date32 | 0 |
//! | `V` 6 and more | any type (SIx, Harbour) | Utf8, as text | never |
//!
//! A `C`, `M` or `V` of Visual FoxPro with the binary flag (NOCPTRANS) is the text that it is without the flag where all its values are
//! text ([`OpenOptions::look_at_text`]); it takes both text and bytes.
//!
//! The fields of an ADT have the types of the DBF fields that hold the same, and are null by what they hold
//! ([`AdtType`]); AutoIncrement and RowVersion are Int64, NChar and NMemo Utf8.
//!
//! Whatever the table says, a NULL bit of Visual FoxPro is null, and so is what cannot be read while recovering. In
//! dBASE 7 tables `I`, `+` and `O` of all zero bytes are blank, thus null.
//!
//! A number that is none (letters, two points) is an error that names record and field. Clipper's `VAL()` would make
//! such a field 0 in silence; a damaged table should not add up. Where a record has more digits behind the point than the field
//! declares, as ESRI's programs write them, the column is of doubles: all records of an `F` are looked at, and the first 128 of an
//! `N`. A later number of an `N` that has more decimals is rounded to the declared ones, with a note; where everything is to be
//! [strict](OpenOptions::strict), it is an error.
//!
//! # Orders
//!
//! Index files (CDX, NTX, NSX) are read by the module [`index`]: orders are walked, sought in, bounded, counted, checked.
//! [`TableIndex`] joins them with the expressions of their tags and the table's records.
//!
//! # Filters and aggregates
//!
//! A condition becomes one bit a record ([`aof`]), from orders or from the records' bytes; fields are counted, added up, grouped
//! and ranked without being decoded ([`aggregate`]). [`Columns`] keeps decoded columns and answers for as long as the file is
//! what it was.
//!
//! # Changes and transactions
//!
//! A [`TableEditor`] changes a table in place, alone or beside other programs. Tables that share a [`TransactionLog`] change
//! together, with their memos and orders, or not at all, whatever happens to the process or the machine.
//!
//! # What this crate does not do
//!
//! It knows no SQL and starts no thread; scans do not lock what they read. Encrypted tables are refused.

mod adm;
mod adt;
pub mod aggregate;
mod alteration;
pub mod aof;
mod array_values;
mod beside;
mod bitmap;
mod codepage;
mod codepage_guess;
mod column;
mod column_cache;
mod columns;
mod container;
mod conversion;
mod copy;
mod cpg_file;
mod damage;
mod digits;
mod draft;
mod error;
pub mod expression;
mod field;
mod field_spec;
mod file_overlay;
pub mod full_text;
mod header;
mod imploded;
pub mod index;
pub mod julian;
mod kernels;
mod language_driver;
mod lock;
mod memo;
mod memo_editor;
mod memo_writer;
mod note;
mod null_test;
mod numeric_text;
mod orders;
mod own_disk;
pub mod own_name;
pub mod process;
mod regular_file;
mod rules;
mod scan;
mod sibling;
mod single_records;
mod source;
pub mod stamp;
mod storage;
mod table;
mod table_cursor;
mod table_editor;
mod table_set;
mod table_writer;
mod transaction;
mod under_way;
mod untranslated;
mod value;
mod variant;
mod verify;
mod waiting_writes;
mod wide;

/// The crates whose types stand in public signatures, in their versions.
pub use arrow_array;
pub use arrow_schema;

pub use adt::{AdtHeader, AdtType};
pub use alteration::Alteration;
pub use bitmap::{Bitmap, Members};
pub use codepage::CodePage;
pub use column_cache::ColumnCache;
pub use columns::{Columns, Sharing};
pub use container::{Container, ContainerField, ContainerLink, ContainerRelation, ContainerTable, IntegrityRule};
pub use damage::Damage;
pub use error::{
    BadExpression, BadValue, BrokenRule, Corrupt, Error, IncompleteTransaction, NotRecovered, PendingChanges,
    RefusedLog, Result, RuleKind, UnknownOutcome,
};
pub use field::{Autoincrement, Field, FieldKind};
pub use field_spec::{FieldSpec, InAdt, fits_header, short_names};
pub use header::{CivilDate, Dialect, Header};
pub use lock::{
    CommitGate, IndexLock, LockHolder, LockKind, LockRange, LockRefused, LockScheme, LockSubject, TableLocks,
};
pub use memo::{Memo, MemoDialect};
pub use note::Note;
pub use orders::{
    BuildOptions, KeySettings, OrderKeys, TableIndex, TableOrder, build_index, build_index_with, named_expression,
    numbered_expression, production_path,
};
pub use rules::{FieldRuleTexts, RuleOrigin, RuleTexts, Rules};
pub use scan::{Batches, DELETED_COLUMN, Deleted, RowFilter, Scan};
pub use single_records::SingleRecords;
pub use source::Access;
pub use table::{Blank, OpenOptions, Table};
pub use table_cursor::{Place, TableCursor};
pub use table_editor::{ChangeNumber, Changes, EditOptions, Follower, OpenMode, RecordChange, TableEditor};
pub use table_set::{Existing, TableSet};
pub use table_writer::{CreateOptions, TableWriter};
pub use transaction::{
    Durability, LockRequest, LogContents, LogOptions, LoggedChange, LoggedReplacement, LoggedTransaction, PendingLog,
    Recovered, Savepoint, Transaction, TransactionLog, pending_logs, recover, recover_folders, recover_table,
};
pub use under_way::{abandoned_files, remove_drafts};
pub use value::Value;
pub use verify::Verification;

/// The examples of the README run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
