//! Servers whose tables are stores.
//!
//! A kind of server is a folder next to this file, and a line in [`KINDS`]: a [`Kind`], which names it, and a [`ServerStore`], which opens
//! its tables. No other code names a kind.

#[cfg(any(
    feature = "clickhouse",
    feature = "flight",
    feature = "mysql",
    feature = "postgres",
    feature = "sqlite"
))]
mod average;
#[cfg(any(feature = "adbc", feature = "sqlite"))]
pub(super) mod begun;
#[cfg_attr(
    not(any(feature = "clickhouse", feature = "postgres")),
    expect(dead_code, reason = "no server of this build is asked to compute")
)]
pub(super) mod computed;
#[cfg_attr(
    not(any(
        feature = "adbc",
        feature = "clickhouse",
        feature = "flight",
        feature = "mysql",
        feature = "postgres",
        feature = "sqlite"
    )),
    expect(dead_code, reason = "no server of this build is asked for rows by conditions")
)]
pub(super) mod condition;
#[cfg(any(
    feature = "cassandra",
    feature = "clickhouse",
    feature = "flight",
    feature = "mysql",
    feature = "postgres",
    feature = "sqlite"
))]
pub(super) mod counted;
pub(crate) mod fitting;
mod foreign_key;
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) mod new_table;
#[cfg_attr(
    not(any(
        feature = "clickhouse",
        feature = "flight",
        feature = "mysql",
        feature = "postgres",
        feature = "sqlite"
    )),
    expect(dead_code, reason = "no server of this build does what it is asked")
)]
pub(crate) mod push_down;
mod read_text;
pub(crate) mod resuming;
pub(crate) mod scan;
#[cfg(any(
    feature = "clickhouse",
    feature = "flight",
    feature = "mysql",
    feature = "postgres",
    feature = "sqlite"
))]
pub(super) mod select;
mod sink;
mod url;

use std::fmt;
use std::sync::Arc;

use arrow_schema::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;

pub use self::foreign_key::ForeignKey;
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) use self::foreign_key::KeyTable;
pub(crate) use self::foreign_key::Relating;
use self::resuming::Resumable;
pub(crate) use self::sink::{Filling, IfThere, TableSink};
pub use self::sink::{TableIndex, TableOptions};
pub use self::url::ServerUrl;
use crate::answer::Answer;
use crate::{Error, Result};

/// The kinds of servers in this build.
const KINDS: &[&Kind] = &[
    #[cfg(feature = "adbc")]
    &super::adbc::KIND,
    #[cfg(feature = "clickhouse")]
    &super::clickhouse::KIND,
    #[cfg(feature = "cassandra")]
    &super::cassandra::KIND,
    #[cfg(feature = "adbc")]
    &super::adbc::DUCKDB,
    #[cfg(feature = "flight")]
    &super::flight::KIND,
    #[cfg(feature = "mysql")]
    &super::mysql::KIND,
    #[cfg(feature = "postgres")]
    &super::postgres::KIND,
    #[cfg(feature = "sqlite")]
    &super::sqlite::KIND,
];

/// The optional kinds of a build: the scheme of their URLs, and the feature of this crate that enables them.
const FEATURES: &[(&str, &str)] = &[
    ("adbc", "adbc"),
    ("clickhouse", "clickhouse"),
    ("cql", "cassandra"),
    ("duckdb", "adbc"),
    ("flight", "flight"),
    ("flightsql", "flight"),
    ("mariadb", "mysql"),
    ("mysql", "mysql"),
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("sqlite", "sqlite"),
];

/// The names of a kind of server, and its constructor.
pub(super) struct Kind {
    /// The scheme of its URLs, in lower case.
    pub(super) scheme: &'static str,
    /// Other schemes that mean the same.
    pub(super) aliases: &'static [&'static str],
    /// Its name as a format: `clickhouse`.
    pub(super) name: &'static str,
    /// What contains its tables: a database, a keyspace.
    pub(super) container: &'static str,
    /// How its URLs name a database.
    pub(super) address: Address,
    /// The statement that creates a table with a name and a schema; `None` if it needs more than these.
    pub(super) ddl: Option<Ddl>,
    /// Creates a store without connections.
    pub(super) store: fn() -> Box<dyn ServerStore>,
}

/// Returns a CREATE TABLE statement.
pub(crate) type Ddl = fn(&str, &Schema) -> Result<String>;

/// How URLs name a database and a table in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A server: `scheme://user@host/database/table?settings`.
    #[cfg_attr(
        not(any(
            feature = "cassandra",
            feature = "clickhouse",
            feature = "flight",
            feature = "mysql",
            feature = "postgres"
        )),
        expect(dead_code, reason = "no kind of this build is a server")
    )]
    Host,
    /// A file with one of these extensions: `scheme:FILE/table?settings`.
    #[cfg_attr(
        not(any(feature = "adbc", feature = "sqlite")),
        expect(dead_code, reason = "no kind of this build is in files")
    )]
    File(&'static [&'static str]),
    /// Options of a driver: `scheme:table=NAME;option=value;…`.
    Options,
}

/// A kind of server with tables.
#[derive(Clone, Copy)]
pub struct ServerKind(&'static Kind);

impl ServerKind {
    /// All kinds of this build.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|kind| Self(kind))
    }

    /// The scheme of its URLs: `clickhouse`.
    pub fn scheme(self) -> &'static str {
        self.0.scheme
    }

    /// The function for its CREATE TABLE statements.
    pub(crate) fn ddl(self) -> Option<Ddl> {
        self.0.ddl
    }

    /// The kind of a scheme, without regard to case.
    pub(crate) fn of_scheme(scheme: &str) -> Option<Self> {
        let mut kinds = KINDS.iter();
        let is_of = |kind: &&&Kind| {
            let mut schemes = kind.aliases.iter().chain([&kind.scheme]);
            schemes.any(|known| scheme.eq_ignore_ascii_case(known))
        };
        kinds.find(is_of).map(|kind| Self(kind))
    }

    /// An example of a table's URL: `clickhouse://host/database/table`, `sqlite:shop.db/table`.
    pub(crate) fn example(self) -> String {
        let Kind { scheme, container, .. } = self.0;
        match self.0.address {
            Address::Host => format!("{scheme}://host/{container}/table"),
            Address::File(extensions) => {
                let extension = extensions.first().copied().unwrap_or_default();
                format!("{scheme}:shop.{extension}/table")
            }
            Address::Options => format!("{scheme}:table=NAME;driver=NAME;uri=URI"),
        }
    }

    /// How its URLs name a database.
    fn address(self) -> Address {
        self.0.address
    }

    /// What contains its tables: `database`.
    pub(crate) fn container(self) -> &'static str {
        self.0.container
    }
}

/// The feature of this crate that a URL needs and the build lacks.
pub(crate) fn missing_feature(url: &str) -> Option<&'static str> {
    let (scheme, _) = url.split_once(':')?;
    let mut features = FEATURES.iter();
    let (_, feature) = features.find(|(known, _)| scheme.eq_ignore_ascii_case(known))?;
    ServerKind::of_scheme(scheme).is_none().then_some(feature)
}

/// Examples of tables' URLs, for messages.
pub(crate) fn examples() -> String {
    let examples = KINDS.iter().map(|kind| ServerKind(kind).example());
    examples.collect::<Vec<_>>().join(", ")
}

impl PartialEq for ServerKind {
    fn eq(&self, other: &Self) -> bool {
        self.0.scheme == other.0.scheme
    }
}

impl Eq for ServerKind {}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Debug for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerKind({self})")
    }
}

/// Whether a table name is that of a copy's draft: `orders_tidemill_copy_0123456789abcdef`, or `orders_tidemill_6923f00d_0123456789abcdef`
/// for ClickHouse.
pub(crate) fn is_draft(name: &str) -> bool {
    let Some((_, mark)) = name.rsplit_once("_tidemill_") else {
        return false;
    };
    let is_hex = |text: &str, length| text.len() == length && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match mark.split_once('_') {
        Some((begin, number)) => (begin == "copy" || is_hex(begin, 8)) && is_hex(number, 16),
        None => false,
    }
}

/// The servers of one kind, with the connections of a session, which statements reuse.
///
/// All errors are [`Error::Server`], unless documented otherwise.
#[async_trait::async_trait]
pub(crate) trait ServerStore: fmt::Debug + Send + Sync {
    /// Opens a table, whose name may differ in case.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is no such table.
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>>;

    /// The names of the tables of a database, sorted.
    async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<String>>;

    /// The server's spelling of a table's name; `None` if there is no such table.
    async fn find(&self, table: &ServerUrl) -> Result<Option<String>>;

    /// The number of rows of a table; `None` if counting would read them all, or if the table may keep fewer rows than it was given.
    /// Default: `None`.
    async fn kept_rows(&self, table: &ServerUrl) -> Result<Option<u64>> {
        let _ = table;
        Ok(None)
    }

    /// Runs a statement in the server's own language. Rows are streamed as the server sends them.
    async fn answer(&self, server: &ServerUrl, statement: &str) -> Result<Answer>;

    /// Drops a table or removes its rows.
    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()>;

    /// The columns of a new table for rows of a schema, and their types in the server's terms.
    async fn new_columns(
        &self,
        table: &ServerUrl,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>>;

    /// Starts to fill a table.
    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>>;

    /// Whether rows can replace those with the same primary key ([`IfThere::Update`]). Default: yes.
    fn updates(&self) -> bool {
        true
    }

    /// Whether an interrupted copy leaves the first rows of the source, so that it can be resumed. Default: no.
    fn resumes(&self) -> bool {
        false
    }

    /// How a table is filled in multiple transactions, so that a copy can be resumed. Default: not supported.
    fn transactions(&self) -> Option<&dyn Resumable> {
        None
    }

    /// How foreign keys are created. Default: not supported.
    fn relating(&self) -> Option<&dyn Relating> {
        None
    }

    /// Whether a table returns its rows in the same order each time, so that a copy of it can be resumed. Default: no.
    fn is_read_in_order(&self) -> bool {
        false
    }

    /// Ends the inserts of another run of a job, whose program is gone, and waits for them; stored rows remain. Default: there are none.
    async fn end_predecessors(&self, server: &ServerUrl, job: &str) -> Result<()> {
        let _ = (server, job);
        Ok(())
    }
}

/// A change of a whole table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableChange {
    /// `DROP TABLE`
    Drop {
        /// Whether a missing table is no error.
        if_exists: bool,
    },
    /// `TRUNCATE TABLE`
    Truncate,
}

impl fmt::Display for TableChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drop { if_exists: true } => "DROP TABLE IF EXISTS",
            Self::Drop { if_exists: false } => "DROP TABLE",
            Self::Truncate => "TRUNCATE TABLE",
        })
    }
}

/// The servers of all kinds, with the connections of a session.
#[derive(Debug)]
pub(crate) struct Servers(Vec<(ServerKind, Box<dyn ServerStore>)>);

impl Default for Servers {
    fn default() -> Self {
        let stores = KINDS.iter().map(|kind| (ServerKind(kind), (kind.store)()));
        Self(stores.collect())
    }
}

impl Servers {
    /// The servers of a URL's kind.
    pub(crate) fn of(&self, url: &ServerUrl) -> Result<&dyn ServerStore> {
        let kind = url.kind();
        let found = self.0.iter().find(|(known, _)| *known == kind);
        // Only a kind outside of this build is missing.
        let (_, store) = found.ok_or_else(|| Error::Unsupported {
            what: format!("{url}: a server of {kind}"),
            hint: "this is a fault of Tidemill's: please report it".to_owned(),
        })?;
        Ok(&**store)
    }
}
