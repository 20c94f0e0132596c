//! Who asks a query, and on whose behalf.
//!
//! Source: `Interpreters/ClientInfo.cpp` of ClickHouse. None of it proves anything: servers that trust it share a secret.

use std::str::FromStr;

use super::{
    super::{MAX_NAME, MAX_TEXT},
    put_strings, strings,
};
use crate::{
    Error, Result, Revision,
    wire::{Reader, put_string, put_varint},
};

/// Who asks a query.
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
#[non_exhaustive]
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

impl FromStr for TraceContext {
    type Err = Error;

    /// Parses the header `traceparent`. Source: W3C, "Trace Context", section 3.2.
    fn from_str(header: &str) -> Result<Self> {
        Self::parse(header).ok_or_else(|| Error::Option {
            option: format!("traceparent={header}"),
            expected: "such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
        })
    }
}

impl TraceContext {
    fn parse(header: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let mut parts = header.split('-');
        let mut part = |length| {
            let part = parts.next()?;
            (part.len() == length && part.bytes().all(is_hex)).then_some(part)
        };
        let version = u8::from_str_radix(part(2)?, 16).ok()?;
        let context = Self {
            trace_id: u128::from_str_radix(part(32)?, 16).ok()?,
            span_id: u64::from_str_radix(part(16)?, 16).ok()?,
            state: String::new(),
            flags: u8::from_str_radix(part(2)?, 16).ok()?,
        };
        // Versions to come may have more after it.
        let has_more = parts.next().is_some();
        let is_sound = context.trace_id != 0 && context.span_id != 0 && version != 0xff && (version > 0 || !has_more);
        is_sound.then_some(context)
    }
}

pub(super) fn decode_info(reader: &mut Reader<'_>, revision: Revision) -> Result<ClientInfo> {
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

pub(super) fn encode_info(info: &ClientInfo, revision: Revision, bytes: &mut Vec<u8>) {
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

/// Numbers of interfaces: `ClientInfo::Interface` of ClickHouse.
const TCP: u8 = 1;
const HTTP: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_contexts_are_those_of_headers() {
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context: TraceContext = header.parse().unwrap();
        assert_eq!(context.trace_id, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        assert_eq!((context.span_id, context.flags), (0xb7ad_6b71_6920_3331, 1));
        let later = header.replace("00-0a", "cc-0a") + "-what-may-come";
        assert_eq!(later.parse::<TraceContext>().unwrap(), context);
        for wrong in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        ] {
            assert!(
                matches!(wrong.parse::<TraceContext>(), Err(Error::Option { .. })),
                "{wrong}"
            );
        }
    }
}
