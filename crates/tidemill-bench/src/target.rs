//! What a workload is run against. Each target has a file; here is the list of them, and what they have in common.

mod arrow_rows;
pub(crate) mod clickhouse;
pub(crate) mod cql;
pub(crate) mod embedded;
mod parameters;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::task::Context;
use std::time::{Duration, Instant};

use rune::Value;

use crate::args::ConnectionArgs;
use crate::context::Failure;
use crate::error::Result;

pub(crate) use parameters::Parameters;
use tidemill_cql::with_causes;

/// A kind of store, and how one of it is reached. Workers share it; each makes its own session.
#[expect(
    async_fn_in_trait,
    reason = "a session and its futures stay on the thread that made them"
)]
pub trait Target: Sized + Send + Sync {
    /// A connection, or what stands for one.
    type Session: Session;

    /// What `latte::target()` gives.
    const NAME: &'static str;

    /// The target of these addresses, or `None` when they are another's.
    ///
    /// # Errors
    /// Addresses and options that make no sense for it.
    fn open(options: &ConnectionArgs) -> Result<Option<Self>>;

    /// Makes a session on the thread that will use it.
    ///
    /// # Errors
    /// [`Error::Connect`](crate::error::Error::Connect).
    async fn connect(&self) -> Result<Self::Session>;

    /// Whether its data end with this process: then a run makes them first.
    fn is_ephemeral(&self) -> bool {
        false
    }
}

/// What a script's context asks of a target. Statements are in the target's own language.
#[expect(
    async_fn_in_trait,
    reason = "a session and its futures stay on the thread that made them"
)]
pub trait Session {
    /// Prepares a statement for as long as the session lives, and gives its number.
    ///
    /// # Errors
    /// What the store says, and what this target cannot do.
    async fn prepare(&self, text: &str, options: &StatementOptions) -> Result<usize, Failure>;

    /// Runs a statement without parameters.
    ///
    /// # Errors
    /// What the store says.
    async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure>;

    /// Runs a prepared statement. `parameters` is a list or a tuple, by position, or an object or a struct, by name.
    ///
    /// # Errors
    /// What the store says, and parameters that do not fit.
    async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure>;

    /// Gets ready for an owner who polls it: from now on [`Session::poll`] is called whenever its waker is woken. Requests may cost less
    /// then.
    async fn attend(&self) {}

    /// Begins a prepared statement whose rows nobody wants to see, without waiting. `cycle` says whose it is.
    #[expect(unused_variables, reason = "the names of what targets get")]
    fn begin(&self, statement: usize, parameters: Parameters<'_>, cycle: u32, now: Instant) -> Begun {
        Begun::Not
    }

    /// Does what can be done without waiting, and puts the requests of [`Session::begin`] that have ended behind `ended`. Wakes the owner
    /// when there is more.
    #[expect(unused_variables, reason = "the names of what targets get")]
    fn poll(&self, context: &mut Context<'_>, ended: &mut Vec<(u32, Ended)>) {}

    /// Does the rest of a request that was begun and is not finished.
    ///
    /// # Errors
    /// As [`Session::execute_prepared`].
    #[expect(unused_variables, reason = "the names of what targets get")]
    async fn finish(&self, statement: usize, parameters: &Value, rest: Rest) -> Result<Answer, Failure> {
        self.execute_prepared(statement, parameters, Wanted::Count).await
    }

    /// Runs prepared statements as one.
    ///
    /// # Errors
    /// As [`Session::execute_prepared`].
    async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure>;

    /// The name and version of the store.
    ///
    /// # Errors
    /// What the store says.
    async fn about(&self) -> Result<About, Failure>;

    /// How often something was sent again since the last call without being asked to, by whatever the target is made of.
    fn take_resent(&self) -> u32 {
        0
    }

    /// The data centres of the store, as far as it has them.
    fn data_centres(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What the answer is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Only how many rows there are.
    Count,
    /// The rows, for the script.
    Rows,
}

/// What came of a request.
#[derive(Debug, Default)]
pub struct Answer {
    /// How many rows came back or were written.
    pub rows: u64,
    /// The rows that were [`Wanted`], each an object.
    pub values: rune::alloc::Vec<Value>,
}

/// How a request began.
#[derive(Debug)]
pub enum Begun {
    /// Its end comes with [`Session::poll`].
    Sent,
    /// It is over: the number of rows.
    Ended(Result<u64, Failure>),
    /// It was not begun: [`Session::execute_prepared`] can do it.
    Not,
}

/// What came of a request that was begun.
#[derive(Debug)]
pub enum Ended {
    /// It is over: the number of rows.
    Over(Result<u64, Failure>),
    /// [`Session::finish`] has to do the rest.
    Unfinished(Rest),
}

/// What is left of a request.
#[derive(Debug, Default)]
pub struct Rest {
    /// How many rows there were.
    pub rows: u64,
    /// Where the next page begins. `None` is from the start, again.
    pub paging_state: Option<Box<[u8]>>,
    /// Whether this is another attempt.
    pub is_sent_again: bool,
}

/// What a statement has of its own. What is not given is as the command line has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatementOptions {
    /// The consistency, by its CQL name.
    pub consistency: Option<String>,
    /// The consistency of conditional updates.
    pub serial_consistency: Option<String>,
    /// How many rows a page has.
    pub page_size: Option<i32>,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// Whether it may be sent twice.
    pub is_idempotent: Option<bool>,
}

/// How the statements of a batch belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchKind {
    /// All or none.
    #[default]
    Logged,
    /// Each for itself.
    Unlogged,
    /// Counters.
    Counter,
}

/// What a store says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The product or the cluster.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The targets. A new one is a file and a line at the end of this macro's call.
macro_rules! targets {
    ($($variant:ident = $target:ty,)+) => {
        /// One of the targets.
        #[expect(clippy::large_enum_variant, reason = "there is one for each thread")]
        #[derive(Debug)]
        #[non_exhaustive]
        pub(crate) enum AnyTarget {
            $(#[doc = concat!("`", stringify!($target), "`")] $variant($target),)+
        }

        /// A session of one of the targets.
        #[derive(Debug)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "a worker has only one, and a box would cost every request a jump")]
        pub enum AnySession {
            $(#[doc = concat!("of `", stringify!($target), "`")] $variant(<$target as Target>::Session),)+
        }

        impl AnyTarget {
            /// The first target of the list that takes the addresses for its own.
            ///
            /// # Errors
            /// As [`Target::open`].
            pub(crate) fn open(options: &ConnectionArgs) -> Result<Self> {
                $(if let Some(target) = <$target>::open(options)? {
                    return Ok(Self::$variant(target));
                })+
                Err(crate::error::Error::Misuse(format!("no target has the address {}", options.shown_addresses())))
            }

            /// What `latte::target()` gives.
            pub(crate) fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => <$target as Target>::NAME,)+ }
            }

            /// As [`Target::is_ephemeral`].
            pub(crate) fn is_ephemeral(&self) -> bool {
                match self { $(Self::$variant(target) => target.is_ephemeral(),)+ }
            }

            /// As [`Target::connect`].
            ///
            /// # Errors
            /// As [`Target::connect`].
            pub(crate) async fn connect(&self) -> Result<AnySession> {
                Ok(match self { $(Self::$variant(target) => AnySession::$variant(target.connect().await?),)+ })
            }
        }

        impl Session for AnySession {
            async fn prepare(&self, text: &str, options: &StatementOptions) -> Result<usize, Failure> {
                match self { $(Self::$variant(session) => session.prepare(text, options).await,)+ }
            }

            async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure> {
                match self { $(Self::$variant(session) => session.execute(text, rows).await,)+ }
            }

            async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure> {
                match self { $(Self::$variant(session) => session.execute_prepared(statement, parameters, rows).await,)+ }
            }

            async fn attend(&self) {
                match self { $(Self::$variant(session) => session.attend().await,)+ }
            }

            #[inline]
            fn begin(&self, statement: usize, parameters: Parameters<'_>, cycle: u32, now: Instant) -> Begun {
                match self { $(Self::$variant(session) => session.begin(statement, parameters, cycle, now),)+ }
            }

            fn poll(&self, context: &mut Context<'_>, ended: &mut Vec<(u32, Ended)>) {
                match self { $(Self::$variant(session) => session.poll(context, ended),)+ }
            }

            async fn finish(&self, statement: usize, parameters: &Value, rest: Rest) -> Result<Answer, Failure> {
                match self { $(Self::$variant(session) => session.finish(statement, parameters, rest).await,)+ }
            }

            async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure> {
                match self { $(Self::$variant(session) => session.batch(kind, statements).await,)+ }
            }

            async fn about(&self) -> Result<About, Failure> {
                match self { $(Self::$variant(session) => session.about().await,)+ }
            }

            fn take_resent(&self) -> u32 {
                match self { $(Self::$variant(session) => session.take_resent(),)+ }
            }

            fn data_centres(&self) -> Vec<String> {
                match self { $(Self::$variant(session) => session.data_centres(),)+ }
            }
        }
    };
}

targets! {
    ClickHouse = clickhouse::ClickHouse,
    Embedded = embedded::Embedded,
    Postgres = postgres::Postgres,
    Sqlite = sqlite::Sqlite,
    // Last, because an address without a scheme is its.
    Cql = cql::Cql,
}
