//! Packets: what client and server say to each other, in both directions.
//!
//! A packet is a number that names its kind, then fields whose presence depends on the older of both sides' revisions.
//! [`client`] has those that a client sends, [`server`] those that a server sends, and [`chunked`] the frame that newer servers
//! may put around them. Packets that carry a block end where the block begins; `Block` is read and written elsewhere.
//!
//! Source: `Core/Protocol.h`, `Client/Connection.cpp` and `Server/TCPHandler.cpp` of ClickHouse.
//!
//! What servers say only to one another (parallel replicas, distributed tasks, query plans) is recognized and refused.

pub mod chunked;
pub mod client;
pub mod server;

/// Which table a question or an answer about its status means.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TableName {
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
}

impl TableName {
    /// Names a table of a database.
    pub fn new(database: impl Into<String>, table: impl Into<String>) -> Self {
        Self {
            database: database.into(),
            table: table.into(),
        }
    }
}

/// Texts that people choose: names, time zones, keys.
pub(crate) const MAX_NAME: usize = 4096;
/// Texts of any length: queries, messages, stack traces.
pub(crate) const MAX_TEXT: usize = 16 << 20;
/// Tables in one question, settings of one query.
pub(crate) const MAX_LIST: usize = 1 << 16;
