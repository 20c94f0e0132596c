//! What clients of the Advantage Database Server see, over xBase tables: connections, and on them work areas with a current
//! record, orders, scopes, filters, relations, locks and transactions.
//!
//! Names and behaviour are those of the Advantage Client Engine (ACE), whose C functions the crate `tidemill-ace` gives; the
//! tables themselves, their indexes, expressions and filters are `tidemill-xbase`'s.
//!
//! ```
//! use tidemill_ads::{Connection, Settings, TableOptions};
//!
//! # fn main() -> Result<(), tidemill_ads::Error> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase");
//! let settings = Settings::default();
//! let mut connection = Connection::open(folder)?;
//! let area = connection.open_table("ORD_CDX", &TableOptions::default().read_only(), &settings)?;
//! let order = connection.area(area)?.order_named("T_NAME")?;
//! connection.go_top(area, Some(order), &settings)?;
//! assert_eq!(connection.area(area)?.record_number()?, 36);
//! # Ok(())
//! # }
//! ```
//!
//! # What this crate does not do
//!
//! It opens no network connection and nothing that is encrypted: each is an error that says so. Of a data dictionary it knows tables, their
//! rules and their relations, and no users. It starts no thread; a connection is for one thread at a time.

mod bookmark;
mod collation;
mod connection;
mod copies;
mod date_format;
mod deletion;
mod dictionary;
mod error;
mod events;
mod field_definitions;
mod machine;
mod opening;
mod paths;
mod progress;
mod relation;
mod settings;
mod sole_use;
pub mod sql;
mod statements;
mod temporary;
mod transactions;
mod triggers;
mod work_area;

pub use bookmark::Bookmark;
pub use collation::by_bytes;
pub use connection::{AreaId, Connection, delete_file};
pub use date_format::{DateFormat, clock, now, time_of};
pub use dictionary::{
    DatabaseProperty, FieldProperty, LinkOptions, NewArticle, NewFunction, NewLink, NewProcedure, NewRelation,
    NewSubscription, NewTable, NewTrigger, ObjectKind, PropertyShape, PropertyValue, RelationRule, Rights,
    TableProperty, TriggerContainer, TriggerEvent, TriggerMoment, TriggerScope, Validation,
};
pub use error::{Error, ErrorCode, Refusal, Result};
pub use machine::{host_name, login_name};
pub use paths::Paths;
pub use progress::Progress;
pub use settings::Settings;
pub use sole_use::{Changing, SoleUse};
pub use statements::Executed;
pub use temporary::TemporaryTable;
pub use tidemill_xbase::Durability;
pub use tidemill_xbase::aof::{Customize, OptimizationLevel};
pub use work_area::{
    Counted, FieldType, IndexOptions, KeyLength, OrderId, SeekKey, SeekKind, TableOptions, TableType, WorkArea,
};
