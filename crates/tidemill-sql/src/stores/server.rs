//! Servers whose tables are stores.
//!
//! A kind of server is a folder beside this file, and a line in [`KINDS`]: a [`Kind`], which names it, and a [`ServerStore`], which is
//! asked for its tables. Nothing else names one.

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

/// The kinds that a build may leave out: the scheme of their URLs, and the feature of this crate that has them.
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

/// What a kind of server is called, and how a session begins with it.
pub(super) struct Kind {
    /// The scheme of its URLs, in lower case.
    pub(super) scheme: &'static str,
    /// Other schemes that mean the same.
    pub(super) aliases: &'static [&'static str],
    /// Its name as a format: `clickhouse`.
    pub(super) name: &'static str,
    /// What its tables are in: a database, a keyspace.
    pub(super) container: &'static str,
    /// How its URLs name a database.
    pub(super) address: Address,
    /// The statement that makes a table of this name for rows of this schema; `None` where that takes more than these.
    pub(super) ddl: Option<Ddl>,
    /// A store that has no connections yet.
    pub(super) store: fn() -> Box<dyn ServerStore>,
}

/// Makes a CREATE TABLE statement.
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

/// A kind of server that has tables.
#[derive(Clone, Copy)]
pub struct ServerKind(&'static Kind);

impl ServerKind {
    /// Those of this build.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|kind| Self(kind))
    }

    /// The scheme of its URLs: `clickhouse`.
    pub fn scheme(self) -> &'static str {
        self.0.scheme
    }

    /// What makes its CREATE TABLE statements.
    pub(crate) fn ddl(self) -> Option<Ddl> {
        self.0.ddl
    }

    /// The kind that a scheme tells, in any case.
    pub(crate) fn of_scheme(scheme: &str) -> Option<Self> {
        let mut kinds = KINDS.iter();
        let is_of = |kind: &&&Kind| {
            let mut schemes = kind.aliases.iter().chain([&kind.scheme]);
            schemes.any(|known| scheme.eq_ignore_ascii_case(known))
        };
        kinds.find(is_of).map(|kind| Self(kind))
    }

    /// What the URL of a table looks like: `clickhouse://host/database/table`, `sqlite:shop.db/table`.
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

    /// What its tables are in: `database`.
    pub(crate) fn container(self) -> &'static str {
        self.0.container
    }
}

/// The feature of this crate that a URL needs and the build has not.
pub(crate) fn missing_feature(url: &str) -> Option<&'static str> {
    let (scheme, _) = url.split_once(':')?;
    let mut features = FEATURES.iter();
    let (_, feature) = features.find(|(known, _)| scheme.eq_ignore_ascii_case(known))?;
    ServerKind::of_scheme(scheme).is_none().then_some(feature)
}

/// What the URLs of tables look like, as messages list them.
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

/// Whether a copy fills a table of this name before it gets its own: `orders_tidemill_copy_0123456789abcdef`, or
/// `orders_tidemill_6923f00d_0123456789abcdef` of ClickHouse.
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

/// The servers of one kind that a session asks. Connections are kept: what one statement connected to, the next uses.
///
/// All errors are [`Error::Server`], but for those that say otherwise.
#[async_trait::async_trait]
pub(crate) trait ServerStore: fmt::Debug + Send + Sync {
    /// Opens a table, whose name may differ in case.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when there is no such table.
    async fn open(&self, table: &ServerUrl) -> Result<Arc<dyn TableProvider>>;

    /// The names of the tables of a database, in order.
    async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<String>>;

    /// The name of a table as the server spells it; `None` when there is no such table.
    async fn find(&self, table: &ServerUrl) -> Result<Option<String>>;

    /// How many rows a table has; `None` where counting would read them all, or where the table may keep fewer rows than it was given.
    /// Default: `None`.
    async fn kept_rows(&self, table: &ServerUrl) -> Result<Option<u64>> {
        let _ = table;
        Ok(None)
    }

    /// Runs a statement in the server's own language. Rows come as the server sends them.
    async fn answer(&self, server: &ServerUrl, statement: &str) -> Result<Answer>;

    /// Drops a table or removes its rows.
    async fn change(&self, table: &ServerUrl, change: TableChange) -> Result<()>;

    /// The columns of a table that would be made for rows of a schema, and their types in the server's words.
    async fn new_columns(
        &self,
        table: &ServerUrl,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Vec<(FieldRef, String)>>;

    /// Begins to fill a table.
    async fn fill(&self, table: &ServerUrl, schema: &SchemaRef, filling: &Filling<'_>) -> Result<Box<dyn TableSink>>;

    /// Whether rows can take the place of those with the same primary key ([`IfThere::Update`]). Default: yes.
    fn updates(&self) -> bool {
        true
    }

    /// Whether a table that is being filled has the first rows of the source, so that a copy into it can be resumed. Default: no.
    fn resumes(&self) -> bool {
        false
    }

    /// How a table is filled in several transactions, so that a copy into it can be resumed. Default: it is not.
    fn transactions(&self) -> Option<&dyn Resumable> {
        None
    }

    /// How foreign keys are made. Default: tables have none.
    fn relating(&self) -> Option<&dyn Relating> {
        None
    }

    /// Whether a table gives its rows in the same order each time, so that a copy of it can go on where it broke. Default: no.
    fn is_read_in_order(&self) -> bool {
        false
    }

    /// Ends the inserts of another run of a job, whose program is gone, and waits until they are: what they have stored stays.
    /// Default: there are none.
    async fn end_predecessors(&self, server: &ServerUrl, job: &str) -> Result<()> {
        let _ = (server, job);
        Ok(())
    }
}

/// What is done to a whole table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableChange {
    /// `DROP TABLE`
    Drop {
        /// Whether it is no error that the table is not there.
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

/// The servers of all kinds that a session asks.
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
        // A URL has a kind of this build, and a session all of them.
        let (_, store) = found.ok_or_else(|| Error::Unsupported {
            what: format!("{url}: a server of {kind}"),
            hint: "this is a fault of Tidemill's: please report it".to_owned(),
        })?;
        Ok(&**store)
    }
}
