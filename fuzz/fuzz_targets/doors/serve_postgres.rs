//! What a client of PostgreSQL's protocol says to `tidemill serve`.
//!
//! The first byte tells what the others are (its lowest two bits) and in how many pieces they are sent (its highest two: one, or about
//! two, five and sixteen):
//!
//! | | |
//! |---|---|
//! | 0 | packets behind a startup message that is right: a type, a length, and as many bytes; `X` follows them |
//! | 1 | bytes behind such a message |
//! | 2 | everything that the client says |
//! | 3 | a length and as many bytes, which are the parameters of the startup message; packets |

#![no_main]

mod door;

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tidemill_server::Server;

use door::{Heard, LONGEST_END, Line, PATIENCE, Served};

fuzz_target!(|input: &[u8]| {
    let Some((&plan, bytes)) = input.split_first() else {
        return;
    };
    let kind = plan & 3;
    let said = match kind {
        0 => [startup(PARAMETERS), packets(bytes)].concat(),
        1 => [startup(PARAMETERS), bytes.to_vec()].concat(),
        2 => bytes.to_vec(),
        _ => {
            let (parameters, rest) = short(bytes);
            [startup(parameters), packets(rest)].concat()
        }
    };
    let served = Served::behind(Server::postgres);
    let mut line = served.connect();
    line.say(&said, plan >> 6);
    // Only behind whole packets is `X` understood.
    let heard = line.end(match kind {
        0 | 3 => PATIENCE,
        _ => Duration::ZERO,
    });
    if kind == 0 {
        check(&heard);
    }
    served.settle(|| (), is_answered);
});

/// The first message of the server accepts the login, and only messages follow.
fn check(heard: &Heard) {
    assert!(
        !heard.is_whole || heard.bytes.starts_with(b"R\0\0\0\x08\0\0\0\0"),
        "the client was not let in"
    );
    let _ = kinds(&heard.bytes);
}

/// Whether a query is answered.
fn is_answered(mut line: Line) -> bool {
    let query = message(b'Q', b"SELECT COUNT(*) FROM types\0");
    line.say(&[startup(PARAMETERS), query, message(b'X', b"")].concat(), 0);
    let kinds = kinds(&line.end(LONGEST_END).bytes);
    kinds.contains(&b'D') && !kinds.contains(&b'E')
}

/// The types of the messages of a server, of which the last may be cut.
fn kinds(mut said: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    while let [kind, a, b, c, d, rest @ ..] = said {
        let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).expect("64 bits");
        assert!(
            OF_SERVERS.contains(kind) && length >= 4,
            "no message of a server: type {kind}, {length} bytes"
        );
        assert!(
            !matches!(kind, b'E' | b'N') || length <= LONGEST_ERROR,
            "an error of {length} bytes"
        );
        kinds.push(*kind);
        let Some(rest) = rest.get(length - 4..) else { break };
        said = rest;
    }
    kinds
}

/// The startup message of version 3.0.
fn startup(parameters: &[u8]) -> Vec<u8> {
    let length = u32::try_from(parameters.len() + 8).expect("short");
    [&length.to_be_bytes()[..], b"\0\x03\0\0", parameters].concat()
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 4).expect("short");
    [&[kind][..], &length.to_be_bytes(), content].concat()
}

/// Messages with the lengths that they have, and the one that ends a connection.
fn packets(mut bytes: &[u8]) -> Vec<u8> {
    let mut packets = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        let (content, rest) = short(rest);
        packets.extend(message(*kind, content));
        bytes = rest;
    }
    packets.extend(message(b'X', b""));
    packets
}

/// As many bytes as the first says, or are there, and the rest.
fn short(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.split_first() {
        Some((length, rest)) => rest.split_at(rest.len().min(usize::from(*length))),
        None => (bytes, bytes),
    }
}

const PARAMETERS: &[u8] = b"user\0ann\0database\0tidemill\0\0";

/// The types of messages that servers send (PostgreSQL's [Message Formats](https://www.postgresql.org/docs/15/protocol-message-formats.html)).
const OF_SERVERS: &[u8] = b"123ACDEGHIKNRSTVWZcdnstv";

/// A message quotes a part of the statement at most.
const LONGEST_ERROR: usize = 1 << 18;
