//! Answers to EXECUTE, read where they lie.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use scylla::errors::DbError;
use scylla_cql::frame::protocol_features::ProtocolFeatures;
use scylla_cql::frame::response::error::Error as ErrorFrame;
use scylla_cql::frame::response::result;
use scylla_cql::frame::{Compression, flag, parse_response_body_extensions};

use super::columns::{self, ROWS};
use super::compression;
use super::page::Page;
use tidemill_client::with_causes;

/// A good answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// RESULT of the kind VOID, or one that says that a table was changed.
    Void,
    /// A page of rows.
    Rows {
        /// How many rows it has.
        count: u32,
        /// What the next page is asked with, when there is one.
        paging_state: Option<Box<[u8]>>,
    },
    /// A page of rows, where they are wanted.
    Page(Box<Page>),
}

/// Why there is no good answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Fault {
    /// The server says why.
    Server(DbError, String),
    /// No answer in time.
    Timeout(Duration),
    /// The connection broke before there was an answer.
    Broken(String),
    /// The answer is none to an EXECUTE.
    Unexpected(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The words of the driver.
            Self::Server(error, why) => write!(f, "Database returned an error: {error}, Error message: {why}"),
            Self::Timeout(limit) => {
                let limit = limit.as_millis();
                write!(f, "Request execution exceeded a client timeout of {limit}ms")
            }
            Self::Broken(why) => write!(f, "Connection broken, reason: {why}"),
            Self::Unexpected(what) => write!(f, "Received unexpected response from the server: {what}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Reads the body of an answer. `compression` is what was agreed on.
#[inline]
pub(super) fn parse(
    flags: u8,
    opcode: u8,
    body: &[u8],
    compression: Option<Compression>,
    wants_rows: bool,
) -> Result<Reply, Box<Fault>> {
    if (flags, opcode, body) == (0, RESULT, &VOID) {
        return Ok(Reply::Void);
    }
    parse_other(flags, opcode, body, compression, wants_rows)
}

fn parse_other(
    flags: u8,
    opcode: u8,
    body: &[u8],
    compression: Option<Compression>,
    wants_rows: bool,
) -> Result<Reply, Box<Fault>> {
    let unexpected = |what: String| Box::new(Fault::Unexpected(what));
    if flags != 0 {
        if flags & flag::COMPRESSION != 0
            && let Some(compression) = compression
        {
            compression::check(body, compression).map_err(unexpected)?;
        }
        let extended = parse_response_body_extensions(flags, compression, Bytes::copy_from_slice(body));
        let body = extended.map_err(|e| unexpected(with_causes(&e)))?.body;
        return parse(0, opcode, &body, None, wants_rows);
    }
    match opcode {
        RESULT => result(body, wants_rows),
        ERROR => {
            let error = ErrorFrame::deserialize(&ProtocolFeatures::default(), &mut &*body);
            let ErrorFrame { error, reason } = error.map_err(|e| unexpected(e.to_string()))?;
            Err(Box::new(Fault::Server(error, reason)))
        }
        other => Err(unexpected(format!("opcode {other:#04x}"))),
    }
}

/// A result: section 4.2.5 of the protocol.
fn result(body: &[u8], wants_rows: bool) -> Result<Reply, Box<Fault>> {
    let unexpected = |why: &dyn fmt::Display| Box::new(Fault::Unexpected(format!("RESULT: {why}")));
    let Some((kind, rest)) = body.split_first_chunk() else {
        return Err(unexpected(&format_args!("a kind has 4 bytes, found {}", body.len())));
    };
    match *kind {
        VOID => Ok(Reply::Void),
        ROWS => match rows(rest) {
            Some(Reply::Rows { paging_state, .. }) if wants_rows => {
                let page = Page::new(body, paging_state).map_err(|why| unexpected(&why))?;
                Ok(Reply::Page(Box::new(page)))
            }
            Some(reply) => Ok(reply),
            None => Err(unexpected(&"rows that end too early, or whose columns make no sense")),
        },
        SET_KEYSPACE | SCHEMA_CHANGE => {
            let features = ProtocolFeatures::default();
            let read = result::deserialize_with_features(Bytes::copy_from_slice(body), None, &features);
            read.map(|_| Reply::Void).map_err(|e| unexpected(&e))
        }
        // What was prepared is no answer to EXECUTE.
        kind => Err(unexpected(&format_args!("the kind {:#04x}", u32::from_be_bytes(kind)))),
    }
}

/// Rows: section 4.2.5.2 of the protocol. EXECUTE asks for them without a description of their columns. One that comes all the same is
/// passed over.
fn rows(body: &[u8]) -> Option<Reply> {
    let (paging_state, rest) = columns::behind_rows(body, false)?;
    let (count, _) = rest.split_first_chunk()?;
    let count = u32::try_from(i32::from_be_bytes(*count)).ok()?;
    let paging_state = paging_state.map(Into::into);
    Some(Reply::Rows { count, paging_state })
}

const ERROR: u8 = 0x00;
const RESULT: u8 = 0x08;
const VOID: [u8; 4] = [0, 0, 0, 1];
const SET_KEYSPACE: [u8; 4] = [0, 0, 0, 3];
const SCHEMA_CHANGE: [u8; 4] = [0, 0, 0, 5];

#[cfg(test)]
mod tests {
    use super::super::columns::HAS_MORE_PAGES;
    use super::*;

    /// An answer where no compression was agreed on.
    fn parse(flags: u8, opcode: u8, body: &[u8]) -> Result<Reply, Box<Fault>> {
        super::parse(flags, opcode, body, None, false)
    }

    fn rows_body(flags: i32, paging: &[u8], count: i32) -> Vec<u8> {
        let mut body = [2_i32, flags, 3].map(i32::to_be_bytes).concat();
        if flags & HAS_MORE_PAGES != 0 {
            body.extend(i32::try_from(paging.len()).unwrap().to_be_bytes());
            body.extend(paging);
        }
        body.extend(count.to_be_bytes());
        body
    }

    #[test]
    fn reads_results() {
        assert_eq!(parse(0, RESULT, &VOID).unwrap(), Reply::Void);
        let last = parse(0, RESULT, &rows_body(4, &[], 7)).unwrap();
        assert_eq!(
            last,
            Reply::Rows {
                count: 7,
                paging_state: None
            }
        );
        let more = parse(0, RESULT, &rows_body(6, b"next", 5)).unwrap();
        let paging_state = Some(b"next".as_slice().into());
        assert_eq!(more, Reply::Rows { count: 5, paging_state });
        // A warning in front of VOID.
        let warned = [b"\0\x01\0\x03low".as_slice(), &VOID].concat();
        assert_eq!(parse(8, RESULT, &warned).unwrap(), Reply::Void);
        let keyspace = b"\0\0\0\x03\0\x02ks";
        assert_eq!(parse(0, RESULT, keyspace).unwrap(), Reply::Void);
    }

    #[test]
    fn passes_over_descriptions_of_columns() {
        let columns: [&[u8]; 8] = [
            b"\0\x02id\0\x02",
            b"\0\x01l\0\x20\0\x0d",
            b"\0\x01s\0\x22\0\x09",
            b"\0\x01m\0\x21\0\x0d\0\x20\0\x09",
            b"\0\x01u\0\x30\0\x02ks\0\x03udt\0\x02\0\x01a\0\x09\0\x01b\0\x0d",
            b"\0\x01t\0\x31\0\x02\0\x15\0\x22\0\x0c",
            b"\0\x01v\0\0\0\x05Class",
            b"\0\0\0\x14",
        ];
        let head = |flags: i32, columns: i32| [2, flags, columns].map(i32::to_be_bytes).concat();
        let one = [
            &head(1, 8),
            b"\0\x02ks\0\x01t".as_slice(),
            &columns.concat(),
            &[0, 0, 0, 3],
        ]
        .concat();
        let each = columns.map(|column| [b"\0\x02ks\0\x01t".as_slice(), column].concat());
        let each = [&head(0, 8), each.concat().as_slice(), &[0, 0, 0, 3]].concat();
        let expected = Reply::Rows {
            count: 3,
            paging_state: None,
        };
        for body in [one, each] {
            assert_eq!(parse(0, RESULT, &body).unwrap(), expected);
            for length in 0..body.len() {
                assert!(parse(0, RESULT, &body[..length]).is_err(), "{length}");
            }
        }
    }

    #[test]
    fn descriptions_that_make_no_sense_are_errors() {
        let rows = |columns: i32, types: &[u8]| {
            let head = [2, 1, columns].map(i32::to_be_bytes).concat();
            let body = [&head, b"\0\x02ks\0\x01t\0\x01a".as_slice(), types, &[0, 0, 0, 3]].concat();
            parse(0, RESULT, &body)
        };
        let nested = |depth: usize| [b"\0\x20".repeat(depth), b"\0\x09".to_vec()].concat();
        assert!(rows(1, &nested(63)).is_ok());
        assert!(rows(1, &nested(64)).is_err());
        // Read type by type, this would take more than the stack has.
        assert!(rows(1, &nested(1_000_000)).is_err());
        // More columns than there is memory for.
        assert!(rows(i32::MAX, b"\0\x09").is_err());
        assert!(rows(1, b"\0\x16").is_err());
        // What was prepared, with as many columns.
        let prepared = [b"\0\0\0\x04\0\x01x\0\0\0\0".as_slice(), &[0x7f; 8]].concat();
        assert!(parse(0, RESULT, &prepared).is_err());
    }

    #[test]
    fn reads_errors() {
        let overloaded = b"\0\0\x10\x01\0\x04busy";
        match *parse(0, ERROR, overloaded).unwrap_err() {
            Fault::Server(DbError::Overloaded, why) => assert_eq!(why, "busy"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_cut_answer_is_an_error() {
        let whole = rows_body(6, b"next", 5);
        for length in 0..whole.len() {
            assert!(parse(0, RESULT, &whole[..length]).is_err(), "{length}");
        }
        for (flags, opcode, body) in [
            (0, RESULT, rows_body(4, &[], -1)),
            (0, RESULT, vec![0, 0, 0, 9]),
            (1, RESULT, VOID.to_vec()),
            (0, 0x06, VOID.to_vec()),
            (0, ERROR, vec![0, 0]),
        ] {
            assert!(parse(flags, opcode, &body).is_err(), "{flags} {opcode} {body:02x?}");
        }
        // Compressed, but said to be longer than it can be.
        let huge = super::parse(1, RESULT, &[0x7f, 0, 0, 0, 0], Some(Compression::Lz4), false).unwrap_err();
        assert!(huge.to_string().contains("said to be 2130706432"), "{huge}");
    }
}
