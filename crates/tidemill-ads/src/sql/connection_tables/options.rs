//! How statements open and make tables.

use tidemill_xbase::{Access, Blank, Durability};

use super::surroundings::system_clock;
use crate::sql::tables::Clock;
use crate::sql::watch::Watch;
use crate::{TableOptions, TableType};

/// How the statements of a connection open and make tables.
#[derive(Debug, Clone)]
pub struct StatementOptions {
    /// How tables are opened; they are always shared. Default: those of Visual FoxPro, which alone have all types of SQL.
    pub table: TableOptions,
    /// How files are read. Default: [`Access::Positional`].
    pub access: Access,
    /// What a power cut may take of statements that stand in no transaction. Default: nothing, each is on the disk when it is done.
    pub durability: Durability,
    /// What the clock shows, for a test. Default: the system's, local time.
    pub clock: fn() -> Clock,
    /// Who is asked whether a statement goes on. Default: nobody, it does.
    pub watch: Watch,
    /// Whether tables of Visual FoxPro are made as SQL has them: columns can be NULL unless NOT NULL is said, and keep the names that they
    /// are given, in a database container where these do not fit the header. Default: no, as ADS makes them.
    pub standard_tables: bool,
    /// Whether a new record takes the place of a deleted one that has its key in a candidate index, as SQL has it: what is deleted is gone.
    /// Default: no, it is refused as in ADS.
    pub reuses_deleted: bool,
    /// Whether records that are written through a cursor have to fulfil the condition of its statement. Default: no.
    pub constrains: bool,
    /// What a blank number, logical, date or moment is to a statement. With [`Blank::Null`] it is NULL, wherever the statement meets it:
    /// in conditions and indexes, in what is computed, grouped, sorted and joined; a blank text or memo is an empty one. Default:
    /// [`Blank::Zero`], as ADS has it: 0, false, and a date before every day, which only leaves as NULL. A statement that was prepared
    /// under one is [`Kind::StructureChanged`](crate::sql::Kind::StructureChanged) under the other.
    pub blanks: Blank,
    /// How many records a query sorts, or groups in a way that takes memory for each. Of more it is
    /// [`Kind::Large`](crate::sql::Kind::Large), before a column is decoded: for a caller whose own engine has threads, and spills. In a
    /// transaction it sorts and groups any number. Default: any number.
    pub most_sorted: Option<usize>,
}

impl Default for StatementOptions {
    fn default() -> Self {
        Self {
            table: TableOptions {
                table_type: TableType::Vfp,
                ..TableOptions::default()
            },
            access: Access::Positional,
            durability: Durability::Commit,
            clock: system_clock,
            watch: Watch::default(),
            standard_tables: false,
            reuses_deleted: false,
            constrains: false,
            blanks: Blank::Zero,
            most_sorted: None,
        }
    }
}
