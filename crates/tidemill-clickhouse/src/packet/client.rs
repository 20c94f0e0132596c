//! Packets of a client.

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

/// Who the client is.
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

/// What a client says behind the server's hello, since revision 54458. It is no packet: it has no number.
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
    /// Who asks.
    pub info: ClientInfo,
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
    /// Up to what is done behind the merge.
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

/// A setting of a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: SettingValue,
    /// Whether a server that does not know it fails. Servers before 54429 always do.
    pub is_important: bool,
    /// Whether it is one of the user's own, with a prefix that the server allows.
    pub is_custom: bool,
}

impl Setting {
    /// Makes a setting that servers which do not know it may ignore.
    pub fn new(name: impl Into<String>, value: impl Into<SettingValue>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            is_important: false,
            is_custom: false,
        }
    }
}

/// The value of a setting. Servers before revision 54429 must be told which of the two they expect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SettingValue {
    /// A whole number, a truth value (0 or 1), or a time in its unit (seconds, milliseconds).
    Number(u64),
    /// Everything else, numbers with fractions too.
    Text(String),
}

impl SettingValue {
    /// Takes text for a number where it is one, as on a command line. `true` and `false` are 1 and 0.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "true" => Self::Number(1),
            "false" => Self::Number(0),
            // `+1` and `01` parse as well and are not what the server would write.
            _ => match text.parse::<u64>() {
                Ok(number) if number.to_string() == text => Self::Number(number),
                _ => Self::Text(text.to_owned()),
            },
        }
    }
}

impl From<u64> for SettingValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for SettingValue {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for SettingValue {
    fn from(value: bool) -> Self {
        Self::Number(value.into())
    }
}

impl From<f64> for SettingValue {
    fn from(number: f64) -> Self {
        Self::Text(number.to_string())
    }
}

impl From<&str> for SettingValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SettingValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Who asks a query. Source: `Interpreters/ClientInfo.cpp` of ClickHouse.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientInfo {
    /// Whether a person or a server asks.
    pub kind: QueryKind,
    /// The user of the first query of a distributed one.
    pub initial_user: String,
    /// The name of that query.
    pub initial_query_id: String,
    /// The address where it came from, `host:port`.
    pub initial_address: String,
    /// When it began, in microseconds since 1970. 0: the server's time.
    pub initial_query_start_time_us: i64,
    /// How it came.
    pub interface: Interface,
    /// The key of the quota to use.
    pub quota_key: String,
    /// How many servers passed it on.
    pub distributed_depth: u64,
    /// The third number of the client's version.
    pub version_patch: u64,
    /// The span that the query belongs to.
    pub trace: Option<TraceContext>,
    /// Whether the server works together with the one that asks, how many do, and which of them it is.
    pub parallel_replicas: [u64; 3],
    /// The number of the query in its script.
    pub script_query_number: u64,
    /// The line of the query in its script.
    pub script_line_number: u64,
    /// A JSON Web Token. Empty: none.
    pub jwt: String,
    /// The agent that started the client.
    pub agent: String,
    /// Whether a server made the query for itself.
    pub is_internal: bool,
    /// The roles of the server that sends it.
    pub current_roles: Option<Vec<String>>,
}

impl Default for ClientInfo {
    fn default() -> Self {
        Self {
            kind: QueryKind::Initial,
            initial_user: String::new(),
            initial_query_id: String::new(),
            initial_address: "0.0.0.0:0".to_owned(),
            initial_query_start_time_us: 0,
            interface: Interface::Tcp {
                os_user: String::new(),
                host: String::new(),
                name: String::new(),
                version_major: 0,
                version_minor: 0,
                revision: Revision::NEWEST,
            },
            quota_key: String::new(),
            distributed_depth: 0,
            version_patch: 0,
            trace: None,
            parallel_replicas: [0; 3],
            script_query_number: 0,
            script_line_number: 0,
            jwt: String::new(),
            agent: String::new(),
            is_internal: false,
            current_roles: None,
        }
    }
}

/// Whether a person or a server asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueryKind {
    /// Nobody: all else is left out.
    None,
    /// A client.
    Initial,
    /// A server, for a part of another query.
    Secondary,
}

/// How a query came to the first server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Interface {
    /// By this protocol.
    Tcp {
        /// The user of the client's system.
        os_user: String,
        /// The client's host.
        host: String,
        /// What the client calls itself.
        name: String,
        /// The first number of its version.
        version_major: u64,
        /// The second number.
        version_minor: u64,
        /// Its revision.
        revision: Revision,
    },
    /// By HTTP.
    Http {
        /// The number of the method.
        method: u8,
        /// `User-Agent`.
        user_agent: String,
        /// `X-Forwarded-For`.
        forwarded_for: String,
        /// `Referer`.
        referer: String,
        /// The name of the handler.
        handler: String,
        /// The address that was asked for.
        url: String,
    },
    /// In another way, by its number.
    Other(u8),
}

/// A span of OpenTelemetry that a query belongs to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TraceContext {
    /// The trace.
    pub trace_id: u128,
    /// The span.
    pub span_id: u64,
    /// What vendors add.
    pub state: String,
    /// Bit 0: the trace is recorded.
    pub flags: u8,
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
            Self::Query(query) => {
                bytes.push(1);
                encode_query(query, revision, bytes)?;
            }
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
    let info = decode_info(reader, revision)?;
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
    let mut parameters = Vec::new();
    if revision >= Revision::PARAMETERS {
        while let Some((name, _, value)) = decode_setting(reader, parameters.len())? {
            let value = unquoted(&value)
                .ok_or_else(|| reader.error("the value of a parameter", "a string in quotes", format!("`{value}`")))?;
            parameters.push((name, value));
        }
    }
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
    for setting in &query.settings {
        put_string(bytes, &setting.name);
        if revision >= Revision::SETTINGS_AS_STRINGS {
            let flags = (u64::from(setting.is_important) * IMPORTANT) | (u64::from(setting.is_custom) * CUSTOM);
            put_varint(bytes, flags);
            match &setting.value {
                SettingValue::Number(number) => put_string(bytes, number.to_string()),
                SettingValue::Text(text) => put_string(bytes, text),
            }
        } else {
            match &setting.value {
                SettingValue::Number(number) => put_varint(bytes, *number),
                SettingValue::Text(text) => put_string(bytes, text),
            }
        }
    }
    put_string(bytes, "");
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
        for (name, value) in &query.parameters {
            put_string(bytes, name);
            put_varint(bytes, CUSTOM);
            put_string(bytes, quoted(value));
        }
        put_string(bytes, "");
    } else if !query.parameters.is_empty() {
        return Err(Error::Unsupported {
            what: format!("query parameters at revision {revision}"),
            hint: "servers know them since revision 54459 (version 22.8)",
        });
    }
    Ok(())
}

fn decode_settings(reader: &mut Reader<'_>, revision: Revision) -> Result<Vec<Setting>> {
    let mut settings = Vec::new();
    if revision < Revision::SETTINGS_AS_STRINGS {
        let name = reader.string("the name of a setting", MAX_NAME)?;
        if name.is_empty() {
            return Ok(settings);
        }
        return Err(Error::Unsupported {
            what: format!("setting `{name}` at revision {revision}"),
            hint: "its type is not known; send settings as text, at revision 54429 or later",
        });
    }
    while let Some((name, flags, value)) = decode_setting(reader, settings.len())? {
        settings.push(Setting {
            name,
            value: SettingValue::Text(value),
            is_important: flags & IMPORTANT != 0,
            is_custom: flags & CUSTOM != 0,
        });
    }
    Ok(settings)
}

fn decode_setting(reader: &mut Reader<'_>, number: usize) -> Result<Option<(String, u64, String)>> {
    let name = reader.string("the name of a setting", MAX_NAME)?;
    if name.is_empty() {
        return Ok(None);
    }
    if number == MAX_LIST {
        return Err(Error::Limit {
            what: "the number of settings",
            limit: MAX_LIST as u64,
            found: MAX_LIST as u64 + 1,
        });
    }
    let flags = reader.varint("the flags of a setting")?;
    Ok(Some((name, flags, reader.string("the value of a setting", MAX_TEXT)?)))
}

fn decode_info(reader: &mut Reader<'_>, revision: Revision) -> Result<ClientInfo> {
    const WHAT: &str = "information about the client";
    let kind = match reader.u8(WHAT)? {
        0 => QueryKind::None,
        1 => QueryKind::Initial,
        2 => QueryKind::Secondary,
        other => return Err(reader.error("the kind of a query", "0, 1 or 2", other.to_string())),
    };
    let mut info = ClientInfo {
        kind,
        ..ClientInfo::default()
    };
    if kind == QueryKind::None {
        return Ok(info);
    }
    info.initial_user = reader.string(WHAT, MAX_NAME)?;
    info.initial_query_id = reader.string(WHAT, MAX_NAME)?;
    info.initial_address = reader.string(WHAT, MAX_NAME)?;
    if revision >= Revision::INITIAL_QUERY_START_TIME {
        info.initial_query_start_time_us = i64::from_le_bytes(reader.array(WHAT)?);
    }
    info.interface = match reader.u8(WHAT)? {
        TCP => Interface::Tcp {
            os_user: reader.string(WHAT, MAX_NAME)?,
            host: reader.string(WHAT, MAX_NAME)?,
            name: reader.string(WHAT, MAX_NAME)?,
            version_major: reader.varint(WHAT)?,
            version_minor: reader.varint(WHAT)?,
            revision: Revision(reader.varint(WHAT)?),
        },
        HTTP => {
            let method = reader.u8(WHAT)?;
            let mut since = |gate| {
                if revision >= gate {
                    reader.string(WHAT, MAX_TEXT)
                } else {
                    Ok(String::new())
                }
            };
            Interface::Http {
                method,
                user_agent: since(Revision::OLDEST)?,
                forwarded_for: since(Revision::FORWARDED_FOR)?,
                referer: since(Revision::REFERER)?,
                handler: since(Revision::HTTP_HANDLER)?,
                url: since(Revision::HTTP_HANDLER)?,
            }
        }
        other => Interface::Other(other),
    };
    if revision >= Revision::QUOTA_KEY_IN_CLIENT_INFO {
        info.quota_key = reader.string(WHAT, MAX_NAME)?;
    }
    if revision >= Revision::DISTRIBUTED_DEPTH {
        info.distributed_depth = reader.varint(WHAT)?;
    }
    if revision >= Revision::VERSION_PATCH && matches!(info.interface, Interface::Tcp { .. }) {
        info.version_patch = reader.varint(WHAT)?;
    }
    if revision >= Revision::OPEN_TELEMETRY && reader.bool(WHAT)? {
        let high = u64::from_le_bytes(reader.array(WHAT)?);
        let low = u64::from_le_bytes(reader.array(WHAT)?);
        info.trace = Some(TraceContext {
            trace_id: u128::from(high) << 64 | u128::from(low),
            span_id: u64::from_le_bytes(reader.array(WHAT)?),
            state: reader.string(WHAT, MAX_NAME)?,
            flags: reader.u8(WHAT)?,
        });
    }
    if revision >= Revision::PARALLEL_REPLICAS {
        for number in &mut info.parallel_replicas {
            *number = reader.varint(WHAT)?;
        }
    }
    if revision >= Revision::QUERY_AND_LINE_NUMBERS {
        info.script_query_number = reader.varint(WHAT)?;
        info.script_line_number = reader.varint(WHAT)?;
    }
    if revision >= Revision::JWT_IN_CLIENT_INFO && reader.bool(WHAT)? {
        info.jwt = reader.string(WHAT, MAX_TEXT)?;
    }
    if revision >= Revision::CLIENT_AGENT {
        info.agent = reader.string(WHAT, MAX_NAME)?;
    }
    if revision >= Revision::INTERNAL_QUERY {
        info.is_internal = reader.bool(WHAT)?;
    }
    if revision >= Revision::CURRENT_ROLES && reader.bool(WHAT)? {
        info.current_roles = Some(strings(reader, WHAT)?);
    }
    Ok(info)
}

fn encode_info(info: &ClientInfo, revision: Revision, bytes: &mut Vec<u8>) {
    bytes.push(match info.kind {
        QueryKind::None => 0,
        QueryKind::Initial => 1,
        QueryKind::Secondary => 2,
    });
    if info.kind == QueryKind::None {
        return;
    }
    put_string(bytes, &info.initial_user);
    put_string(bytes, &info.initial_query_id);
    put_string(bytes, &info.initial_address);
    if revision >= Revision::INITIAL_QUERY_START_TIME {
        bytes.extend(info.initial_query_start_time_us.to_le_bytes());
    }
    match &info.interface {
        Interface::Tcp {
            os_user,
            host,
            name,
            version_major,
            version_minor,
            revision,
        } => {
            bytes.push(TCP);
            put_string(bytes, os_user);
            put_string(bytes, host);
            put_string(bytes, name);
            put_varint(bytes, *version_major);
            put_varint(bytes, *version_minor);
            put_varint(bytes, revision.0);
        }
        Interface::Http {
            method,
            user_agent,
            forwarded_for,
            referer,
            handler,
            url,
        } => {
            bytes.extend([HTTP, *method]);
            for (gate, text) in [
                (Revision::OLDEST, user_agent),
                (Revision::FORWARDED_FOR, forwarded_for),
                (Revision::REFERER, referer),
                (Revision::HTTP_HANDLER, handler),
                (Revision::HTTP_HANDLER, url),
            ] {
                if revision >= gate {
                    put_string(bytes, text);
                }
            }
        }
        Interface::Other(number) => bytes.push(*number),
    }
    if revision >= Revision::QUOTA_KEY_IN_CLIENT_INFO {
        put_string(bytes, &info.quota_key);
    }
    if revision >= Revision::DISTRIBUTED_DEPTH {
        put_varint(bytes, info.distributed_depth);
    }
    if revision >= Revision::VERSION_PATCH && matches!(info.interface, Interface::Tcp { .. }) {
        put_varint(bytes, info.version_patch);
    }
    if revision >= Revision::OPEN_TELEMETRY {
        bytes.push(u8::from(info.trace.is_some()));
        if let Some(trace) = &info.trace {
            // A UUID on the wire is its upper half, then its lower half, each with its lowest byte first.
            bytes.extend(trace.trace_id.rotate_left(64).to_le_bytes());
            bytes.extend(trace.span_id.to_le_bytes());
            put_string(bytes, &trace.state);
            bytes.push(trace.flags);
        }
    }
    if revision >= Revision::PARALLEL_REPLICAS {
        for number in info.parallel_replicas {
            put_varint(bytes, number);
        }
    }
    if revision >= Revision::QUERY_AND_LINE_NUMBERS {
        put_varint(bytes, info.script_query_number);
        put_varint(bytes, info.script_line_number);
    }
    if revision >= Revision::JWT_IN_CLIENT_INFO {
        bytes.push(u8::from(!info.jwt.is_empty()));
        if !info.jwt.is_empty() {
            put_string(bytes, &info.jwt);
        }
    }
    if revision >= Revision::CLIENT_AGENT {
        put_string(bytes, &info.agent);
    }
    if revision >= Revision::INTERNAL_QUERY {
        bytes.push(u8::from(info.is_internal));
    }
    if revision >= Revision::CURRENT_ROLES {
        bytes.push(u8::from(info.current_roles.is_some()));
        if let Some(roles) = &info.current_roles {
            put_strings(bytes, roles);
        }
    }
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

/// A string in single quotes, as ClickHouse writes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        match ESCAPES.iter().find(|(_, plain)| *plain == character) {
            Some((letter, _)) => out.extend(['\\', *letter]),
            None => out.push(character),
        }
    }
    out.push('\'');
    out
}

fn unquoted(text: &str) -> Option<String> {
    let mut characters = text.strip_prefix('\'')?.strip_suffix('\'')?.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => {
                let letter = characters.next()?;
                ESCAPES
                    .iter()
                    .find(|(known, _)| *known == letter)
                    .map_or(letter, |(_, plain)| *plain)
            }
            '\'' => return None,
            other => other,
        });
    }
    Some(out)
}

/// The letter behind a backslash, and what both stand for.
const ESCAPES: [(char, char); 8] = [
    ('b', '\u{8}'),
    ('f', '\u{c}'),
    ('n', '\n'),
    ('r', '\r'),
    ('t', '\t'),
    ('0', '\0'),
    ('\\', '\\'),
    ('\'', '\''),
];

/// Flags of a setting: `BaseSettingsHelpers::Flags` of ClickHouse.
const IMPORTANT: u64 = 1;
const CUSTOM: u64 = 2;

/// Numbers of interfaces: `ClientInfo::Interface` of ClickHouse.
const TCP: u8 = 1;
const HTTP: u8 = 2;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(interface: Interface) -> Query {
        Query {
            id: "q".to_owned(),
            info: ClientInfo {
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
            },
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
            info: ClientInfo {
                kind: QueryKind::None,
                ..ClientInfo::default()
            },
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
    fn settings_on_a_command_line_are_numbers_where_they_look_so() {
        for (text, value) in [
            ("8", SettingValue::Number(8)),
            ("true", SettingValue::Number(1)),
            ("false", SettingValue::Number(0)),
            ("0.5", SettingValue::Text("0.5".to_owned())),
            ("08", SettingValue::Text("08".to_owned())),
            ("any", SettingValue::Text("any".to_owned())),
        ] {
            assert_eq!(SettingValue::parse(text), value);
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        let Some(hello @ ClientPacket::Hello(_)) = one_of_each().into_iter().next() else {
            panic!("no hello");
        };
        assert!(!format!("{hello:?}").contains("\"p\""));
    }

    proptest! {
        #[test]
        fn quoted_text_comes_back(text in any::<String>()) {
            let back = unquoted(&quoted(&text));
            prop_assert_eq!(back.as_deref(), Some(text.as_str()));
        }
    }
}
