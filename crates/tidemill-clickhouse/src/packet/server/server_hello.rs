//! The server's hello.

use super::{
    super::{MAX_LIST, MAX_NAME, MAX_TEXT, chunked::Chunking},
    decode_chunking,
};
use crate::{
    Error, Result, Revision,
    wire::{Reader, put_string, put_varint},
};

/// Who the server is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerHello {
    /// The product, `ClickHouse`.
    pub name: String,
    /// The first number of its version.
    pub version_major: u64,
    /// The second number.
    pub version_minor: u64,
    /// The third number; the revision where the server does not say.
    pub version_patch: u64,
    /// The server's revision, which may be newer than ours.
    pub revision: Revision,
    /// The version of its protocol of parallel replicas.
    pub parallel_replicas_version: u64,
    /// The server's time zone, empty where it does not say.
    pub time_zone: String,
    /// What the server calls itself.
    pub display_name: String,
    /// Whether it wants to send in chunks.
    pub send_chunked: Chunking,
    /// Whether it wants to receive in chunks.
    pub receive_chunked: Chunking,
    /// What passwords must have: a pattern, and the message when they do not match it.
    pub password_rules: Vec<(String, String)>,
    /// A number for the hashes of clusters with a secret.
    pub nonce: u64,
    /// Settings that differ from their defaults, by name: flags and text.
    pub settings: Vec<(String, u64, String)>,
    /// The version of its query plans.
    pub query_plan_version: u64,
    /// The version of its protocol of cluster functions.
    pub cluster_function_version: u64,
}

impl Default for ServerHello {
    fn default() -> Self {
        Self {
            name: "ClickHouse".to_owned(),
            version_major: 0,
            version_minor: 0,
            version_patch: 0,
            revision: Revision::NEWEST,
            parallel_replicas_version: 0,
            time_zone: "UTC".to_owned(),
            display_name: String::new(),
            send_chunked: Chunking::NotChunkedOptional,
            receive_chunked: Chunking::NotChunkedOptional,
            password_rules: Vec::new(),
            nonce: 0,
            settings: Vec::new(),
            query_plan_version: 0,
            cluster_function_version: 0,
        }
    }
}

impl ServerHello {
    /// Whether the server is of this version, or a later one. A setting that an older one does not know makes it refuse a query, such
    /// as [`deduplication_token`](crate::client::InsertRequest::deduplication_token) before 22.2.
    #[must_use]
    pub fn is_at_least(&self, major: u64, minor: u64) -> bool {
        (self.version_major, self.version_minor) >= (major, minor)
    }
}

/// Fields depend on the older revision of client and server, and the server's comes early among them.
pub(super) fn decode_hello(reader: &mut Reader<'_>, client: Revision) -> Result<ServerHello> {
    let name = reader.string("the name of the server", MAX_NAME)?;
    let version_major = reader.varint("the version of the server")?;
    let version_minor = reader.varint("the version of the server")?;
    let server = Revision(reader.varint("the revision of the server")?);
    let revision = server.min(client);
    let mut hello = ServerHello {
        name,
        version_major,
        version_minor,
        version_patch: server.0,
        revision: server,
        time_zone: String::new(),
        ..ServerHello::default()
    };
    if revision >= Revision::VERSIONED_PARALLEL_REPLICAS {
        hello.parallel_replicas_version = reader.varint("the version of parallel replicas")?;
    }
    if revision >= Revision::SERVER_TIME_ZONE {
        hello.time_zone = reader.string("the time zone of the server", MAX_NAME)?;
    }
    if revision >= Revision::SERVER_DISPLAY_NAME {
        hello.display_name = reader.string("the name of the server", MAX_NAME)?;
    }
    if revision >= Revision::VERSION_PATCH {
        hello.version_patch = reader.varint("the version of the server")?;
    }
    if revision >= Revision::CHUNKED_PACKETS {
        hello.send_chunked = decode_chunking(reader)?;
        hello.receive_chunked = decode_chunking(reader)?;
    }
    if revision >= Revision::PASSWORD_RULES {
        for _ in 0..reader.count("the number of rules for passwords", MAX_PASSWORD_RULES)? {
            let pattern = reader.string("a rule for passwords", MAX_NAME)?;
            let message = reader.string("a rule for passwords", MAX_NAME)?;
            hello.password_rules.push((pattern, message));
        }
    }
    if revision >= Revision::INTERSERVER_SECRET_V2 {
        hello.nonce = u64::from_le_bytes(reader.array("a number of the server")?);
    }
    if revision >= Revision::SERVER_SETTINGS {
        loop {
            let name = reader.string("the name of a setting", MAX_NAME)?;
            if name.is_empty() {
                break;
            }
            if hello.settings.len() == MAX_LIST {
                return Err(Error::Limit {
                    what: "the number of settings",
                    limit: MAX_LIST as u64,
                    found: MAX_LIST as u64 + 1,
                });
            }
            let flags = reader.varint("the flags of a setting")?;
            let value = reader.string("the value of a setting", MAX_TEXT)?;
            hello.settings.push((name, flags, value));
        }
    }
    if revision >= Revision::QUERY_PLANS {
        hello.query_plan_version = reader.varint("the version of query plans")?;
    }
    if revision >= Revision::VERSIONED_CLUSTER_FUNCTIONS {
        hello.cluster_function_version = reader.varint("the version of cluster functions")?;
    }
    Ok(hello)
}

pub(super) fn encode_hello(hello: &ServerHello, client: Revision, bytes: &mut Vec<u8>) {
    let revision = hello.revision.min(client);
    put_string(bytes, &hello.name);
    put_varint(bytes, hello.version_major);
    put_varint(bytes, hello.version_minor);
    put_varint(bytes, hello.revision.0);
    if revision >= Revision::VERSIONED_PARALLEL_REPLICAS {
        put_varint(bytes, hello.parallel_replicas_version);
    }
    if revision >= Revision::SERVER_TIME_ZONE {
        put_string(bytes, &hello.time_zone);
    }
    if revision >= Revision::SERVER_DISPLAY_NAME {
        put_string(bytes, &hello.display_name);
    }
    if revision >= Revision::VERSION_PATCH {
        put_varint(bytes, hello.version_patch);
    }
    if revision >= Revision::CHUNKED_PACKETS {
        put_string(bytes, hello.send_chunked.as_str());
        put_string(bytes, hello.receive_chunked.as_str());
    }
    if revision >= Revision::PASSWORD_RULES {
        put_varint(bytes, hello.password_rules.len() as u64);
        for (pattern, message) in &hello.password_rules {
            put_string(bytes, pattern);
            put_string(bytes, message);
        }
    }
    if revision >= Revision::INTERSERVER_SECRET_V2 {
        bytes.extend(hello.nonce.to_le_bytes());
    }
    if revision >= Revision::SERVER_SETTINGS {
        for (name, flags, value) in &hello.settings {
            put_string(bytes, name);
            put_varint(bytes, *flags);
            put_string(bytes, value);
        }
        put_string(bytes, "");
    }
    if revision >= Revision::QUERY_PLANS {
        put_varint(bytes, hello.query_plan_version);
    }
    if revision >= Revision::VERSIONED_CLUSTER_FUNCTIONS {
        put_varint(bytes, hello.cluster_function_version);
    }
}

/// ClickHouse's own bound (`DBMS_MAX_PASSWORD_COMPLEXITY_RULES`).
const MAX_PASSWORD_RULES: usize = 256;
