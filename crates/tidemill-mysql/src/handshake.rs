//! How a connection begins: what the server says first, what is answered, and passwords.
//!
//! MySQL's manual of the protocol, "Connection Phase", and MariaDB's "Connecting". Known are the plugins `mysql_native_password` and
//! `caching_sha2_password`; the latter sends the password itself, where the server does not have it at hand, and then only over
//! connections that nobody else reads.

use ring::digest::{Context, Digest, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use crate::reader::{Reader, push_length_encoded};

/// What the server says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub(crate) version: String,
    pub(crate) connection: u32,
    pub(crate) capabilities: u32,
    pub(crate) nonce: Vec<u8>,
    pub(crate) plugin: String,
}

impl Greeting {
    /// `None` for what is no greeting of version 10.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 10 {
            return None;
        }
        let version = String::from_utf8_lossy(reader.until_nul()?).into_owned();
        let connection = reader.u32()?;
        let mut nonce = reader.bytes(8)?.to_vec();
        reader.bytes(1)?;
        let low = reader.u16()?;
        // The character set and the state.
        reader.bytes(3)?;
        let high = reader.u16()?;
        let nonce_length = usize::from(reader.u8()?);
        reader.bytes(10)?;
        let capabilities = u32::from(low) | (u32::from(high) << 16);
        let rest = reader.bytes(nonce_length.saturating_sub(8).max(13))?;
        // A NUL stands behind it.
        nonce.extend_from_slice(rest.get(..NONCE - 8)?);
        let plugin = match capabilities & PLUGIN_AUTH {
            0 => NATIVE.to_owned(),
            // MySQL before 5.5.10 forgets the NUL.
            _ => text(reader.rest().split(|byte| *byte == 0).next()?),
        };
        Some(Self {
            version,
            connection,
            capabilities,
            nonce,
            plugin,
        })
    }
}

/// What is asked of the server, out of what it offers.
pub(crate) fn capabilities(greeting: &Greeting, is_encrypted: bool, has_database: bool) -> u32 {
    let mut wanted = WANTED & greeting.capabilities;
    if is_encrypted {
        wanted |= SSL;
    }
    if has_database {
        wanted |= CONNECT_WITH_DB;
    }
    wanted
}

/// The begin of the answer, which is all of it before TLS.
pub(crate) fn head(capabilities: u32) -> Vec<u8> {
    let mut out = capabilities.to_le_bytes().to_vec();
    out.extend_from_slice(&LARGEST_PACKET.to_le_bytes());
    out.push(UTF8MB4_GENERAL_CI);
    out.resize(32, 0);
    out
}

/// The answer to the greeting.
pub(crate) fn response(capabilities: u32, user: &str, database: Option<&str>, plugin: &str, proof: &[u8]) -> Vec<u8> {
    let mut out = head(capabilities);
    out.extend_from_slice(user.as_bytes());
    out.push(0);
    // It has at most 32 bytes, for which the length is one byte in every version.
    push_length_encoded(proof.len(), &mut out);
    out.extend_from_slice(proof);
    if let Some(database) = database {
        out.extend_from_slice(database.as_bytes());
        out.push(0);
    }
    if capabilities & PLUGIN_AUTH != 0 {
        out.extend_from_slice(plugin.as_bytes());
        out.push(0);
    }
    if capabilities & CONNECT_ATTRS != 0 {
        let mut attributes = Vec::new();
        for text in ["program_name", "tidemill"] {
            push_length_encoded(text.len(), &mut attributes);
            attributes.extend_from_slice(text.as_bytes());
        }
        push_length_encoded(attributes.len(), &mut out);
        out.extend_from_slice(&attributes);
    }
    out
}

/// The plugin and the nonce that a server goes over to; the payload stands behind its first byte.
pub(crate) fn switch(payload: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut reader = Reader::new(payload);
    let plugin = text(reader.until_nul()?);
    let nonce = reader.rest();
    Some((plugin, nonce.get(..NONCE).unwrap_or(nonce).to_vec()))
}

/// What shows to a server that the password is known; `None` for plugins that are not known here.
pub(crate) fn proof(plugin: &str, password: &str, nonce: &[u8]) -> Option<Vec<u8>> {
    match plugin {
        // Whoever runs the program is known to the server, through a Unix socket.
        "unix_socket" | "auth_socket" => Some(Vec::new()),
        NATIVE | CACHING_SHA2 if password.is_empty() => Some(Vec::new()),
        NATIVE => {
            let sha1 = |parts: &[&[u8]]| digest(&SHA1_FOR_LEGACY_USE_ONLY, parts);
            let once = sha1(&[password.as_bytes()]);
            let twice = sha1(&[once.as_ref()]);
            Some(xor(&once, &sha1(&[nonce, twice.as_ref()])))
        }
        CACHING_SHA2 => {
            let sha256 = |parts: &[&[u8]]| digest(&SHA256, parts);
            let once = sha256(&[password.as_bytes()]);
            let twice = sha256(&[once.as_ref()]);
            Some(xor(&once, &sha256(&[twice.as_ref(), nonce])))
        }
        _ => None,
    }
}

fn digest(algorithm: &'static ring::digest::Algorithm, parts: &[&[u8]]) -> Digest {
    let mut context = Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish()
}

fn xor(one: &Digest, other: &Digest) -> Vec<u8> {
    one.as_ref().iter().zip(other.as_ref()).map(|(a, b)| a ^ b).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The plugin whose further packets say whether the server has the password at hand.
pub(crate) const CACHING_SHA2: &str = "caching_sha2_password";
const NATIVE: &str = "mysql_native_password";
const NONCE: usize = 20;

// "Capabilities Flags".
const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const LOCAL_FILES: u32 = 1 << 7;
pub(crate) const PROTOCOL_41: u32 = 1 << 9;
pub(crate) const SSL: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
pub(crate) const SECURE_CONNECTION: u32 = 1 << 15;
const MULTI_RESULTS: u32 = 1 << 17;
const PS_MULTI_RESULTS: u32 = 1 << 18;
const PLUGIN_AUTH: u32 = 1 << 19;
const CONNECT_ATTRS: u32 = 1 << 20;
const PLUGIN_AUTH_LENENC_CLIENT_DATA: u32 = 1 << 21;
pub(crate) const DEPRECATE_EOF: u32 = 1 << 24;

const WANTED: u32 = LONG_PASSWORD
    | LONG_FLAG
    | LOCAL_FILES
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | MULTI_RESULTS
    | PS_MULTI_RESULTS
    | PLUGIN_AUTH
    | CONNECT_ATTRS
    | PLUGIN_AUTH_LENENC_CLIENT_DATA
    | DEPRECATE_EOF;

/// The largest `max_allowed_packet` of a server.
const LARGEST_PACKET: u32 = 1 << 30;
/// The collation that stands for UTF-8 in the answer; `SET NAMES` follows.
const UTF8MB4_GENERAL_CI: u8 = 45;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    /// Of MariaDB 10.11.
    fn greeting() -> Vec<u8> {
        let mut bytes = b"\x0a5.5.5-10.11.19-MariaDB\0\x04\0\0\0abcdefgh\0".to_vec();
        bytes.extend_from_slice(b"\xfe\xff\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0");
        bytes.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
        bytes
    }

    #[test]
    fn a_greeting_is_read_and_one_that_is_cut_is_none() {
        let bytes = greeting();
        let found = Greeting::parse(&bytes).unwrap();
        assert_eq!(found.version, "5.5.5-10.11.19-MariaDB");
        assert_eq!(
            (found.connection, found.nonce.as_slice()),
            (4, b"abcdefghijklmnopqrst".as_slice())
        );
        assert_eq!(found.plugin, NATIVE);
        assert_ne!(found.capabilities & SSL, 0);
        let plugin = bytes.len() - "mysql_native_password\0".len();
        for end in 0..plugin {
            assert_eq!(Greeting::parse(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn passwords_are_proved_as_servers_expect_it() {
        // Of the tests of go-sql-driver/mysql, `auth_test.go`.
        let nonce = [
            10, 47, 74, 111, 75, 73, 34, 48, 88, 76, 114, 74, 37, 13, 3, 80, 82, 2, 23, 21,
        ];
        let found = proof(CACHING_SHA2, "secret", &nonce).unwrap();
        assert_eq!(found.get(..4), Some([244, 144, 231, 111].as_slice()));
        assert_eq!(proof(NATIVE, "", &nonce), Some(Vec::new()));
        assert_eq!(proof(NATIVE, "x", &nonce).unwrap().len(), 20);
        assert_eq!(proof("client_ed25519", "x", &nonce), None);
    }
}
