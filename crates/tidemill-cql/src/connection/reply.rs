//! Answers to EXECUTE, read where they lie.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use scylla::errors::DbError;
use scylla_cql::frame::parse_response_body_extensions;
use scylla_cql::frame::protocol_features::ProtocolFeatures;
use scylla_cql::frame::response::error::Error as ErrorFrame;
use scylla_cql::frame::response::result::{self, Result as ResultFrame};

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

/// Reads the body of an answer.
#[inline]
pub(super) fn parse(flags: u8, opcode: u8, body: &[u8]) -> Result<Reply, Box<Fault>> {
    if (flags, opcode, body) == (0, RESULT, &VOID) {
        return Ok(Reply::Void);
    }
    parse_other(flags, opcode, body)
}

fn parse_other(flags: u8, opcode: u8, body: &[u8]) -> Result<Reply, Box<Fault>> {
    let unexpected = |what: String| Box::new(Fault::Unexpected(what));
    if flags != 0 {
        let extended = parse_response_body_extensions(flags, None, Bytes::copy_from_slice(body));
        let body = extended.map_err(|e| unexpected(e.to_string()))?.body;
        return parse(0, opcode, &body);
    }
    match opcode {
        RESULT => match rows(body) {
            Some(rows) => Ok(rows),
            None => any_result(body),
        },
        ERROR => {
            let error = ErrorFrame::deserialize(&ProtocolFeatures::default(), &mut &*body);
            let ErrorFrame { error, reason } = error.map_err(|e| unexpected(e.to_string()))?;
            Err(Box::new(Fault::Server(error, reason)))
        }
        other => Err(unexpected(format!("opcode {other:#04x}"))),
    }
}

/// Rows without metadata, as EXECUTE asks for them: section 4.2.5.2 of the protocol.
fn rows(body: &[u8]) -> Option<Reply> {
    let rest = body.strip_prefix(&ROWS)?;
    let (flags, rest) = rest.split_first_chunk()?;
    let (_columns, mut rest) = rest.split_first_chunk::<4>()?;
    let flags = i32::from_be_bytes(*flags);
    let mut paging_state = None;
    if flags & HAS_MORE_PAGES != 0 {
        let (length, behind) = rest.split_first_chunk()?;
        let (state, behind) = behind.split_at_checked(usize::try_from(i32::from_be_bytes(*length)).ok()?)?;
        paging_state = Some(state.into());
        rest = behind;
    }
    if flags & NO_METADATA == 0 {
        return None;
    }
    let (count, _) = rest.split_first_chunk()?;
    let count = u32::try_from(i32::from_be_bytes(*count)).ok()?;
    Some(Reply::Rows { count, paging_state })
}

/// Any result: what the driver's own reader makes of it.
fn any_result(body: &[u8]) -> Result<Reply, Box<Fault>> {
    let unexpected = |why: &dyn fmt::Display| Box::new(Fault::Unexpected(format!("RESULT: {why}")));
    let features = ProtocolFeatures::default();
    let read = result::deserialize_with_features(Bytes::copy_from_slice(body), None, &features);
    let read = read.map_err(|e| unexpected(&e))?;
    let ResultFrame::Rows((rows, paging)) = read else {
        return Ok(Reply::Void);
    };
    let rows = rows.deserialize_metadata().map_err(|e| unexpected(&e))?;
    Ok(Reply::Rows {
        count: u32::try_from(rows.rows_count()).map_err(|e| unexpected(&e))?,
        paging_state: match paging.into_paging_control_flow() {
            ControlFlow::Continue(state) => state.as_bytes_slice().map(|state| Box::from(&state[..])),
            ControlFlow::Break(()) => None,
        },
    })
}

const ERROR: u8 = 0x00;
const RESULT: u8 = 0x08;
const VOID: [u8; 4] = [0, 0, 0, 1];
const ROWS: [u8; 4] = [0, 0, 0, 2];
const HAS_MORE_PAGES: i32 = 0x02;
const NO_METADATA: i32 = 0x04;

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
