//! The revisions of the native protocol that change a packet or a block, by number.
//!
//! A block is written for the older of the two revisions that client and server announced; a file of `FORMAT Native` is
//! written for [`Revision::FILE`], which is older than all of them.
//!
//! Numbers: `src/Core/ProtocolDefines.h` of ClickHouse. Those without a name here change nothing that is read or written:
//!
//! | revision | what ClickHouse knows since then |
//! |---|---|
//! | 54457 | `viewIfPermitted` in queries of servers to one another |
//! | 54468 | `system.keywords`, which its own client asks for suggestions |
//! | 54478 | blocks that a server encodes in several threads |
//! | 54484 | progress of asynchronous inserts |
//! | 54487 | the secret of a cluster with questions for the status of tables |
//! | 54489, 54491 | how servers aggregate together, and version 1 of the states of `quantileDeterministic`, which their type tells |

use std::fmt;

/// A revision of the native protocol.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Revision(pub u64);

impl Revision {
    /// No protocol at all: files of `FORMAT Native`.
    pub const FILE: Self = Self(0);
    /// The oldest server that is understood.
    pub const OLDEST: Self = Self(54032);
    /// The server says its time zone in its hello.
    pub const SERVER_TIME_ZONE: Self = Self(54058);
    /// Information about the client has a quota key.
    pub const QUOTA_KEY_IN_CLIENT_INFO: Self = Self(54060);
    /// A client may ask for the status of tables.
    pub const TABLES_STATUS: Self = Self(54226);
    /// The time zone of `DateTime` is a part of its type.
    pub const DATE_TIME_ZONE: Self = Self(54337);
    /// The server says in its hello what it calls itself.
    pub const SERVER_DISPLAY_NAME: Self = Self(54372);
    /// Versions have a third number.
    pub const VERSION_PATCH: Self = Self(54401);
    /// `LowCardinality` is a type of the wire.
    pub const LOW_CARDINALITY: Self = Self(54405);
    /// Servers send lines of their log.
    pub const SERVER_LOGS: Self = Self(54406);
    /// Servers send the columns of a table to insert into, for the values of those that are left out.
    pub const TABLE_COLUMNS: Self = Self(54410);
    /// Progress tells what was written.
    pub const WRITE_INFO: Self = Self(54420);
    /// Settings are written as text, with flags.
    pub const SETTINGS_AS_STRINGS: Self = Self(54429);
    /// A query has a hash for clusters with a secret.
    pub const INTERSERVER_SECRET: Self = Self(54441);
    /// Information about the client has an OpenTelemetry context.
    pub const OPEN_TELEMETRY: Self = Self(54442);
    /// Information about an HTTP client has `X-Forwarded-For`.
    pub const FORWARDED_FOR: Self = Self(54443);
    /// Information about an HTTP client has its referer.
    pub const REFERER: Self = Self(54447);
    /// Information about the client has the depth of distributed queries.
    pub const DISTRIBUTED_DEPTH: Self = Self(54448);
    /// Information about the client has the time when the query began.
    pub const INITIAL_QUERY_START_TIME: Self = Self(54449);
    /// Servers send counters of what a query does, as differences.
    pub const INCREMENTAL_PROFILE_EVENTS: Self = Self(54451);
    /// Types of states of aggregate functions have versions.
    pub const STATE_VERSIONS: Self = Self(54452);
    /// Information about the client has its place among parallel replicas.
    pub const PARALLEL_REPLICAS: Self = Self(54453);
    /// Each column says whether it has a serialization other than its type's own.
    pub const CUSTOM_SERIALIZATION: Self = Self(54454);
    /// Servers send counters of what an insert does, too.
    pub const PROFILE_EVENTS_IN_INSERT: Self = Self(54456);
    /// The client sends an addendum after the server's hello, with its quota key.
    pub const ADDENDUM: Self = Self(54458);
    /// A query has parameters.
    pub const PARAMETERS: Self = Self(54459);
    /// Progress tells the time that the query has taken.
    pub const QUERY_TIME_IN_PROGRESS: Self = Self(54460);
    /// The server tells in its hello what a password must have.
    pub const PASSWORD_RULES: Self = Self(54461);
    /// The server's hello has a number for the hashes of clusters with a secret.
    pub const INTERSERVER_SECRET_V2: Self = Self(54462);
    /// Progress tells how many bytes there are altogether.
    pub const TOTAL_BYTES_IN_PROGRESS: Self = Self(54463);
    /// Servers tell the time zone of the session.
    pub const TIME_ZONE_UPDATES: Self = Self(54464);
    /// Columns of mostly default values may be written as the others and where they are.
    pub const SPARSE_SERIALIZATION: Self = Self(54465);
    /// Servers send bytes to sign, to those who log in by an SSH key.
    pub const SSH_AUTHENTICATION: Self = Self(54466);
    /// Servers tell whether a replicated table is read-only.
    pub const TABLE_READ_ONLY: Self = Self(54467);
    /// The profile tells about rows before aggregation.
    pub const ROWS_BEFORE_AGGREGATION: Self = Self(54469);
    /// Packets may be in chunks.
    pub const CHUNKED_PACKETS: Self = Self(54470);
    /// Both sides tell their version of the protocol of parallel replicas.
    pub const VERSIONED_PARALLEL_REPLICAS: Self = Self(54471);
    /// A query has roles that another server grants.
    pub const EXTERNAL_ROLES: Self = Self(54472);
    /// `Dynamic` and `JSON` are written without their limits.
    pub const DYNAMIC_V2: Self = Self(54473);
    /// The server tells in its hello which settings it changed.
    pub const SERVER_SETTINGS: Self = Self(54474);
    /// Information about the client has the place of the query in a script.
    pub const QUERY_AND_LINE_NUMBERS: Self = Self(54475);
    /// Information about the client may have a JSON Web Token.
    pub const JWT_IN_CLIENT_INFO: Self = Self(54476);
    /// The server tells its version of query plans.
    pub const QUERY_PLANS: Self = Self(54477);
    /// The server tells its version of the protocol of cluster functions.
    pub const VERSIONED_CLUSTER_FUNCTIONS: Self = Self(54479);
    /// The information about a block tells which buckets of an aggregation are out of order.
    pub const OUT_OF_ORDER_BUCKETS: Self = Self(54480);
    /// Logs, profile events and descriptions of columns are compressed as other blocks are.
    pub const COMPRESSED_LOGS: Self = Self(54481);
    /// Columns that repeat their values may be written as indexes into them.
    pub const REPLICATED_SERIALIZATION: Self = Self(54482);
    /// Columns of `Nullable` types may be sparse, too.
    pub const NULLABLE_SPARSE_SERIALIZATION: Self = Self(54483);
    /// Information about the client tells which agent started it.
    pub const CLIENT_AGENT: Self = Self(54485);
    /// Information about the client tells whether a server made the query for itself.
    pub const INTERNAL_QUERY: Self = Self(54486);
    /// Information about the client may have the roles of the server that sends it.
    pub const CURRENT_ROLES: Self = Self(54488);
    /// Information about an HTTP client has the handler and the address that it asked for.
    pub const HTTP_HANDLER: Self = Self(54490);
    /// The values of a `String` column are written behind all of their offsets.
    pub const STRING_OFFSETS: Self = Self(54492);
    /// The newest that is understood in full, which is what a client announces.
    pub const NEWEST: Self = Self(54492);
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
