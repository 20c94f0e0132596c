//! Packets of a client.

mod client_info;
mod setting;

use std::sync::Arc;

pub use self::{
    client_info::{ClientInfo, Interface, QueryKind, TraceContext},
    setting::{Setting, SettingValue},
};
use self::{
    client_info::{decode_info, encode_info},
    setting::{decode_parameters, decode_settings, encode_parameters, encode_settings},
};
use super::{MAX_LIST, MAX_NAME, MAX_TEXT, TableName, chunked::Chunking, server::decode_chunking};
use crate::{
    Error, Result, Revision,
    wire::{Reader, put_string, put_varint},
};

/// A packet that a client sends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientPacket {
    /// Who the client is.
    Hello(ClientHello),
    /// A query. Its external tables follow as [`ClientPacket::Data`], up to an empty block.
    Query(Box<Query>),
    /// A block of a table follows; an empty one without a name is the end of the data.
    Data {
        /// The external table, empty for the data of an `INSERT`.
        table: String,
    },
    /// Stop the query, and say when it has ended.
    Cancel,
    /// Are you there?
    Ping,
    /// A question about tables.
    TablesStatusRequest(Vec<TableName>),
    /// Nothing, so that the connection is used.
    KeepAlive,
    /// A block with the value of a scalar subquery follows: of servers to one another.
    Scalar {
        /// The name of the scalar.
        name: String,
    },
    /// Give me bytes to sign.
    SshChallengeRequest,
    /// The signature of the challenge.
    SshChallengeResponse(Vec<u8>),
}

/// Who the client is. [`ClientHello::default`]: this library, the newest revision, the user `default` without a password, and the
/// user's own database.
#[derive(Clone, Eq, PartialEq)]
pub struct ClientHello {
    /// What the client calls itself.
    pub name: String,
    /// The first number of its version.
    pub version_major: u64,
    /// The second number.
    pub version_minor: u64,
    /// Its revision.
    pub revision: Revision,
    /// The database that names without one mean.
    pub database: String,
    /// The user.
    pub user: String,
    /// The user's password.
    pub password: String,
}

impl Default for ClientHello {
    fn default() -> Self {
        Self {
            name: concat!("Tidemill ", env!("CARGO_PKG_VERSION")).to_owned(),
            version_major: 0,
            version_minor: 1,
            revision: Revision::NEWEST,
            database: String::new(),
            user: "default".to_owned(),
            password: String::new(),
        }
    }
}

/// The password is not shown.
impl std::fmt::Debug for ClientHello {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientHello")
            .field("name", &self.name)
            .field("revision", &self.revision)
            .field("database", &self.database)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// What a client says after the server's hello, since revision 54458. It is no packet: it has no number.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Addendum {
    /// The key of the quota to use.
    pub quota_key: String,
    /// Whether the client sends in chunks: what was agreed on.
    pub send_chunked: Chunking,
    /// Whether the client receives in chunks: what was agreed on.
    pub receive_chunked: Chunking,
    /// The version of its protocol of parallel replicas.
    pub parallel_replicas_version: u64,
}

impl Addendum {
    /// Reads an addendum.
    ///
    /// # Errors
    ///
    /// Those of [`ClientPacket::decode`].
    pub fn decode(reader: &mut Reader<'_>, revision: Revision) -> Result<Self> {
        let mut addendum = Self::default();
        if revision >= Revision::ADDENDUM {
            addendum.quota_key = reader.string("a quota key", MAX_NAME)?;
        }
        if revision >= Revision::CHUNKED_PACKETS {
            addendum.send_chunked = decode_chunking(reader)?;
            addendum.receive_chunked = decode_chunking(reader)?;
        }
        if revision >= Revision::VERSIONED_PARALLEL_REPLICAS {
            addendum.parallel_replicas_version = reader.varint("the version of parallel replicas")?;
        }
        Ok(addendum)
    }

    /// Writes an addendum: nothing before revision 54458.
    pub fn encode(&self, revision: Revision, bytes: &mut Vec<u8>) {
        if revision >= Revision::ADDENDUM {
            put_string(bytes, &self.quota_key);
        }
        if revision >= Revision::CHUNKED_PACKETS {
            put_string(bytes, self.send_chunked.as_str());
            put_string(bytes, self.receive_chunked.as_str());
        }
        if revision >= Revision::VERSIONED_PARALLEL_REPLICAS {
            put_varint(bytes, self.parallel_replicas_version);
        }
    }
}

/// A query and all that goes with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The name of the query, unique among those that run. Empty: the server chooses.
    pub id: String,
    /// Who asks: most often the same for many queries.
    pub info: Arc<ClientInfo>,
    /// Settings for this query.
    pub settings: Vec<Setting>,
    /// Roles that another server grants.
    pub external_roles: Vec<String>,
    /// The hash for clusters with a secret.
    pub secret_hash: String,
    /// How far the query is processed.
    pub stage: Stage,
    /// Whether blocks are compressed, in both directions.
    pub is_compressed: bool,
    /// The statement.
    pub text: String,
    /// Values for `{name:Type}` in the statement, by name, as text of the type.
    pub parameters: Vec<(String, String)>,
}

impl Query {
    /// Sets a setting, in place of one of the same name.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<SettingValue>) {
        let setting = Setting::new(name, value);
        self.settings.retain(|other| other.name != setting.name);
        self.settings.push(setting);
    }

    /// [`Query::set`] of a setting that a server must know.
    pub(crate) fn require(&mut self, name: impl Into<String>, value: impl Into<SettingValue>) {
        self.set(name, value);
        if let Some(setting) = self.settings.last_mut() {
            setting.is_important = true;
        }
    }

    /// [`ClientPacket::encode`] of a query that somebody keeps.
    pub(crate) fn encode_packet(&self, revision: Revision, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.push(1);
        encode_query(self, revision, bytes)
    }
}

/// How far a query is processed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Stage {
    /// Only the columns that are needed are read.
    FetchColumns,
    /// Up to states that can be merged.
    WithMergeableState,
    /// To the end.
    #[default]
    Complete,
    /// Up to what is done after the merge.
    WithMergeableStateAfterAggregation,
    /// The same, with limits applied.
    WithMergeableStateAfterAggregationAndLimit,
}

impl Stage {
    const ALL: [Self; 5] = [
        Self::FetchColumns,
        Self::WithMergeableState,
        Self::Complete,
        Self::WithMergeableStateAfterAggregation,
        Self::WithMergeableStateAfterAggregationAndLimit,
    ];

    fn number(self) -> u64 {
        match self {
            Self::FetchColumns => 0,
            Self::WithMergeableState => 1,
            Self::Complete => 2,
            Self::WithMergeableStateAfterAggregation => 3,
            Self::WithMergeableStateAfterAggregationAndLimit => 4,
        }
    }
}

impl ClientPacket {
    /// Reads a packet, up to its block if it has one. `revision` is the older of both sides'; a hello does not need it.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] when the packet is not complete, [`Error::Protocol`] and [`Error::Limit`] when it is not sound,
    /// [`Error::Unsupported`] for settings in the form before 54429, which cannot be told apart, and for what servers say
    /// only to one another.
    pub fn decode(reader: &mut Reader<'_>, revision: Revision) -> Result<Self> {
        let number = reader.varint("the kind of a packet")?;
        Ok(match number {
            0 => Self::Hello(ClientHello {
                name: reader.string("the name of the client", MAX_NAME)?,
                version_major: reader.varint("the version of the client")?,
                version_minor: reader.varint("the version of the client")?,
                revision: Revision(reader.varint("the revision of the client")?),
                database: reader.string("a database", MAX_NAME)?,
                user: reader.string("a user", MAX_NAME)?,
                password: reader.string("a password", MAX_TEXT)?,
            }),
            1 => Self::Query(Box::new(decode_query(reader, revision)?)),
            2 => Self::Data {
                table: reader.string("the table of a block", MAX_NAME)?,
            },
            3 => Self::Cancel,
            4 => Self::Ping,
            5 => {
                let mut tables = Vec::new();
                for _ in 0..reader.count("the number of tables", MAX_LIST)? {
                    tables.push(TableName {
                        database: reader.string("a database", MAX_NAME)?,
                        table: reader.string("a table", MAX_NAME)?,
                    });
                }
                Self::TablesStatusRequest(tables)
            }
            6 => Self::KeepAlive,
            7 => Self::Scalar {
                name: reader.string("the name of a scalar", MAX_NAME)?,
            },
            8..=10 | 13 | 14 => {
                return Err(Error::Unsupported {
                    what: format!("packet {number} of a client"),
                    hint: "servers send it to one another",
                });
            }
            11 => Self::SshChallengeRequest,
            12 => {
                let length = reader.count("a signature", MAX_TEXT)?;
                Self::SshChallengeResponse(reader.bytes(length, "a signature")?.to_vec())
            }
            other => return Err(reader.error("the kind of a packet", "0 to 14", other.to_string())),
        })
    }

    /// Writes a packet as [`ClientPacket::decode`] reads it. The block is the caller's.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for parameters before revision 54459.
    pub fn encode(&self, revision: Revision, bytes: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Hello(hello) => {
                bytes.push(0);
                put_string(bytes, &hello.name);
                put_varint(bytes, hello.version_major);
                put_varint(bytes, hello.version_minor);
                put_varint(bytes, hello.revision.0);
                put_string(bytes, &hello.database);
                put_string(bytes, &hello.user);
                put_string(bytes, &hello.password);
            }
            Self::Query(query) => query.encode_packet(revision, bytes)?,
            Self::Data { table } => {
                bytes.push(2);
                put_string(bytes, table);
            }
            Self::Cancel => bytes.push(3),
            Self::Ping => bytes.push(4),
            Self::TablesStatusRequest(tables) => {
                bytes.push(5);
                put_varint(bytes, tables.len() as u64);
                for name in tables {
                    put_string(bytes, &name.database);
                    put_string(bytes, &name.table);
                }
            }
            Self::KeepAlive => bytes.push(6),
            Self::Scalar { name } => {
                bytes.push(7);
                put_string(bytes, name);
            }
            Self::SshChallengeRequest => bytes.push(11),
            Self::SshChallengeResponse(signature) => {
                bytes.push(12);
                put_string(bytes, signature);
            }
        }
        Ok(())
    }
}

fn decode_query(reader: &mut Reader<'_>, revision: Revision) -> Result<Query> {
    let id = reader.string("the name of a query", MAX_NAME)?;
    let info = Arc::new(decode_info(reader, revision)?);
    let settings = decode_settings(reader, revision)?;
    let external_roles = if revision >= Revision::EXTERNAL_ROLES {
        let length = reader.count("roles", MAX_TEXT)?;
        let roles = reader.bytes(length, "roles")?;
        if roles.is_empty() {
            Vec::new()
        } else {
            strings(&mut Reader::new(roles), "roles").map_err(|error| match error {
                // The string is complete: more bytes of the packet do not help.
                Error::Truncated { what, .. } => reader.error(what, "all of them", "a part".to_owned()),
                other => other,
            })?
        }
    } else {
        Vec::new()
    };
    let secret_hash = if revision >= Revision::INTERSERVER_SECRET {
        reader.string("a hash", MAX_NAME)?
    } else {
        String::new()
    };
    let stage = reader.varint("the stage of a query")?;
    let stage = Stage::ALL
        .into_iter()
        .find(|known| known.number() == stage)
        .ok_or_else(|| reader.error("the stage of a query", "0 to 4", stage.to_string()))?;
    let is_compressed = reader.varint("whether blocks are compressed")? != 0;
    let text = reader.string("a statement", MAX_TEXT)?;
    let parameters = if revision >= Revision::PARAMETERS {
        decode_parameters(reader)?
    } else {
        Vec::new()
    };
    Ok(Query {
        id,
        info,
        settings,
        external_roles,
        secret_hash,
        stage,
        is_compressed,
        text,
        parameters,
    })
}

fn encode_query(query: &Query, revision: Revision, bytes: &mut Vec<u8>) -> Result<()> {
    put_string(bytes, &query.id);
    encode_info(&query.info, revision, bytes);
    encode_settings(&query.settings, revision, bytes);
    if revision >= Revision::EXTERNAL_ROLES {
        let mut roles = Vec::new();
        put_strings(&mut roles, &query.external_roles);
        put_string(bytes, roles);
    }
    if revision >= Revision::INTERSERVER_SECRET {
        put_string(bytes, &query.secret_hash);
    }
    put_varint(bytes, query.stage.number());
    put_varint(bytes, u64::from(query.is_compressed));
    put_string(bytes, &query.text);
    if revision >= Revision::PARAMETERS {
        encode_parameters(&query.parameters, bytes);
    } else if !query.parameters.is_empty() {
        return Err(Error::Unsupported {
            what: format!("query parameters at revision {revision}"),
            hint: "servers know them since revision 54459 (version 22.8)",
        });
    }
    Ok(())
}

fn strings(reader: &mut Reader<'_>, what: &'static str) -> Result<Vec<String>> {
    let count = reader.count(what, MAX_LIST)?;
    (0..count).map(|_| reader.string(what, MAX_NAME)).collect()
}

fn put_strings(bytes: &mut Vec<u8>, strings: &[String]) {
    put_varint(bytes, strings.len() as u64);
    for string in strings {
        put_string(bytes, string);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(interface: Interface) -> Query {
        Query {
            id: "q".to_owned(),
            info: Arc::new(ClientInfo {
                kind: QueryKind::Secondary,
                initial_user: "u".to_owned(),
                initial_query_id: "i".to_owned(),
                initial_query_start_time_us: 5,
                interface,
                quota_key: "k".to_owned(),
                distributed_depth: 1,
                trace: Some(TraceContext {
                    trace_id: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10,
                    span_id: 3,
                    state: "s".to_owned(),
                    flags: 1,
                }),
                parallel_replicas: [1, 2, 3],
                script_query_number: 4,
                script_line_number: 5,
                jwt: "j".to_owned(),
                agent: "a".to_owned(),
                is_internal: true,
                current_roles: Some(vec!["r".to_owned()]),
                ..ClientInfo::default()
            }),
            settings: vec![Setting {
                is_important: true,
                ..Setting::new("max_threads", "8")
            }],
            external_roles: vec!["r".to_owned(), "s".to_owned()],
            secret_hash: "h".to_owned(),
            stage: Stage::Complete,
            is_compressed: true,
            text: "SELECT {n:UInt8}".to_owned(),
            parameters: vec![("n".to_owned(), "it's\t\\".to_owned())],
        }
    }

    fn one_of_each() -> Vec<ClientPacket> {
        let http = Interface::Http {
            method: 2,
            user_agent: "ua".to_owned(),
            forwarded_for: "ff".to_owned(),
            referer: "rf".to_owned(),
            handler: "h".to_owned(),
            url: "/".to_owned(),
        };
        vec![
            ClientPacket::Hello(ClientHello {
                name: "Tidemill".to_owned(),
                version_major: 0,
                version_minor: 1,
                revision: Revision::NEWEST,
                database: "d".to_owned(),
                user: "u".to_owned(),
                password: "p".to_owned(),
            }),
            ClientPacket::Query(Box::new(query(ClientInfo::default().interface))),
            ClientPacket::Query(Box::new(query(http))),
            ClientPacket::Query(Box::new(query(Interface::Other(6)))),
            ClientPacket::Data { table: "t".to_owned() },
            ClientPacket::Cancel,
            ClientPacket::Ping,
            ClientPacket::TablesStatusRequest(vec![TableName {
                database: "d".to_owned(),
                table: "t".to_owned(),
            }]),
            ClientPacket::KeepAlive,
            ClientPacket::Scalar { name: "s".to_owned() },
            ClientPacket::SshChallengeRequest,
            ClientPacket::SshChallengeResponse(vec![0xfe, 1]),
        ]
    }

    #[test]
    fn every_packet_comes_back_and_no_part_of_it_does() {
        for packet in one_of_each() {
            let mut bytes = Vec::new();
            packet.encode(Revision::NEWEST, &mut bytes).unwrap();
            let mut reader = Reader::new(&bytes);
            assert_eq!(ClientPacket::decode(&mut reader, Revision::NEWEST).unwrap(), packet);
            assert!(reader.rest().is_empty());
            for end in 0..bytes.len() {
                let part = ClientPacket::decode(&mut Reader::new(&bytes[..end]), Revision::NEWEST);
                assert!(matches!(part, Err(Error::Truncated { .. })), "cut at {end}: {part:?}");
            }
        }
    }

    #[test]
    fn packets_are_those_of_the_corpus() {
        let mut bytes = Vec::new();
        for packet in one_of_each() {
            packet.encode(Revision::NEWEST, &mut bytes).unwrap();
        }
        let path = "clickhouse/packets/client-54492.bin";
        if std::env::var_os("TIDEMILL_BLESS").is_some() {
            std::fs::write(tidemill_testkit::corpus(path), &bytes).unwrap();
        }
        assert_eq!(
            bytes.escape_ascii().to_string(),
            tidemill_testkit::corpus_bytes(path).escape_ascii().to_string()
        );
    }

    #[test]
    fn every_packet_reads_to_its_end_at_every_revision() {
        for packet in one_of_each() {
            for revision in (Revision::SETTINGS_AS_STRINGS.0..=Revision::NEWEST.0).map(Revision) {
                let mut packet = packet.clone();
                if revision < Revision::PARAMETERS
                    && let ClientPacket::Query(query) = &mut packet
                {
                    query.parameters.clear();
                }
                let mut bytes = Vec::new();
                packet.encode(revision, &mut bytes).unwrap();
                let mut reader = Reader::new(&bytes);
                let decoded = ClientPacket::decode(&mut reader, revision).unwrap();
                assert!(reader.rest().is_empty(), "{decoded:?} at {revision}");
            }
        }
    }

    #[test]
    fn settings_of_old_servers_are_numbers_and_strings() {
        let query = Query {
            settings: vec![
                Setting::new("max_threads", 300_u64),
                Setting::new("totals_mode", "before"),
            ],
            info: Arc::new(ClientInfo {
                kind: QueryKind::None,
                ..ClientInfo::default()
            }),
            text: "T".to_owned(),
            ..Query::default()
        };
        let mut bytes = Vec::new();
        encode_query(&query, Revision(54412), &mut bytes).unwrap();
        assert_eq!(
            bytes,
            b"\x00\x00\x0bmax_threads\xac\x02\x0btotals_mode\x06before\x00\x02\x00\x01T"
        );
        assert!(matches!(
            decode_query(&mut Reader::new(&bytes), Revision(54412)),
            Err(Error::Unsupported { .. })
        ));
    }

    #[test]
    fn parameters_need_a_server_that_knows_them() {
        let query = Query {
            parameters: vec![("n".to_owned(), "1".to_owned())],
            ..Query::default()
        };
        let encoded = encode_query(&query, Revision(54458), &mut Vec::new());
        assert!(matches!(encoded, Err(Error::Unsupported { .. })));
    }

    #[test]
    fn changed_bytes_never_panic() {
        for packet in one_of_each() {
            let mut bytes = Vec::new();
            packet.encode(Revision::NEWEST, &mut bytes).unwrap();
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut changed = bytes.clone();
                    changed[at] ^= 1 << bit;
                    if let Ok(packet) = ClientPacket::decode(&mut Reader::new(&changed), Revision::NEWEST) {
                        let mut again = Vec::new();
                        packet.encode(Revision::NEWEST, &mut again).unwrap();
                        let decoded = ClientPacket::decode(&mut Reader::new(&again), Revision::NEWEST);
                        assert_eq!(decoded.unwrap(), packet);
                    }
                }
            }
        }
    }

    #[test]
    fn addenda_come_back_at_every_revision() {
        let addendum = Addendum {
            quota_key: "k".to_owned(),
            send_chunked: Chunking::Chunked,
            receive_chunked: Chunking::NotChunked,
            parallel_replicas_version: 8,
        };
        let mut bytes = Vec::new();
        addendum.encode(Revision::NEWEST, &mut bytes);
        assert_eq!(
            Addendum::decode(&mut Reader::new(&bytes), Revision::NEWEST).unwrap(),
            addendum
        );
        let mut none = Vec::new();
        addendum.encode(Revision(54457), &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn passwords_are_not_shown() {
        let Some(hello @ ClientPacket::Hello(_)) = one_of_each().into_iter().next() else {
            panic!("no hello");
        };
        assert!(!format!("{hello:?}").contains("\"p\""));
    }
}
