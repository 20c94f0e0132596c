//! What a client of Arrow Flight SQL says to `tidemill serve`.
//!
//! The first byte tells what the others are (its lowest two bits) and in how many pieces they are sent (its highest two: one, or about
//! two, five and sixteen):
//!
//! | | |
//! |---|---|
//! | 0 | messages: a verb, a kind, a length of two bytes (big-endian), and as many bytes |
//! | 1 | frames of HTTP/2: a type, flags, a stream, a length, and as many bytes |
//! | 2 | everything that the client says behind its first settings |
//! | 3 | a length and as many bytes, which are further headers of `GetFlightInfo`; its message |
//!
//! A verb has the number of a method in its lowest four bits ([`METHODS`]). Then [`MORE`] is one more message of the call before,
//! [`TICKET`] stands for the ticket of the last answer, and [`FIRST`] and [`SECOND`] put the handle in that the last action has given.
//! The kind is that of the command or action ([`COMMANDS`], [`ACTIONS`]); a message of kind 0 is sent as it is. Before the content of
//! `DoPut`, there is the length of its command, in two bytes.

#![no_main]

mod door;
mod http2;
mod protobuf;

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use tidemill_server::Server;

use door::{Line, PATIENCE, Pause, Served};
use protobuf::{field, find};

fuzz_target!(|input: &[u8]| {
    let Some((&plan, bytes)) = input.split_first() else {
        return;
    };
    let served = Served::behind(Server::flight);
    let (line, cuts) = (served.connect(), plan >> 6);
    match plan & 3 {
        0 => converse(Client::begin(line, cuts), bytes),
        1 => {
            let said = [http2::opening(), frames(bytes), http2::ping()].concat();
            expect(line, cuts, &said, http2::is_pong);
        }
        2 => {
            let said = [http2::opening(), bytes.to_vec()].concat();
            expect(line, cuts, &said, |_| false);
        }
        _ => {
            let (headers, message) = short(bytes);
            let call = http2::call(1, "GetFlightInfo", headers, &[message.to_vec()]);
            let said = [http2::opening(), call, http2::ping()].concat();
            expect(line, cuts, &said, |heard| http2::is_over(heard, 1));
        }
    }
    served.settle(|| (), is_answered);
});

/// Says something, and waits for a moment for what comes of it. What the server says is frames, however it ends.
fn expect(mut line: Line, cuts: u8, said: &[u8], is_enough: impl Fn(&[u8]) -> bool) {
    line.say(said, cuts);
    let heard = line.end_after(SILENCE, is_enough);
    assert!(
        !heard.is_whole || http2::is_whole(&heard.bytes),
        "half a frame, and an end"
    );
}

/// Sends calls one after the other, each with its messages, and ends the session.
fn converse(mut client: Client, bytes: &[u8]) {
    let mut messages = messages(bytes).into_iter().take(MOST_MESSAGES).peekable();
    while let Some(first) = messages.next() {
        let method = METHODS[usize::from(first.verb & 15) % METHODS.len()];
        let mut call = vec![client.encoded(method, first)];
        while let Some(more) = messages.next_if(|message| message.verb & MORE != 0) {
            call.push(more.content.to_vec());
        }
        if client.call(method, &call).is_none() {
            break;
        }
    }
    // A transaction would be kept for an hour.
    let _ = client.call("DoAction", &[field(1, b"CloseSession")]);
    client.line.end(Duration::ZERO);
}

/// Whether a query is answered, and its rows come: their columns, and a batch.
fn is_answered(line: Line) -> bool {
    let mut client = Client::begin(line, 0);
    let query = any("CommandStatementQuery", &field(1, b"SELECT COUNT(*) FROM types"));
    let info = client.call("GetFlightInfo", &[descriptor(&query)]);
    let rows = info.and_then(|_| client.call("DoGet", &[field(1, &client.ticket)]));
    rows.is_some_and(|rows| rows.len() >= 2)
}

/// A message of a call.
#[derive(Clone, Copy)]
struct Message<'a> {
    verb: u8,
    kind: u8,
    content: &'a [u8],
}

fn messages(mut bytes: &[u8]) -> Vec<Message<'_>> {
    let mut messages = Vec::new();
    while let [verb, kind, high, low, rest @ ..] = bytes {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (content, rest) = rest.split_at(length);
        messages.push(Message {
            verb: *verb,
            kind: *kind,
            content,
        });
        bytes = rest;
    }
    messages
}

/// A client that keeps to HTTP/2 and gRPC.
struct Client {
    line: Line,
    cuts: u8,
    /// The number of the next call.
    stream: u32,
    /// The ticket of the last `FlightInfo`.
    ticket: Vec<u8>,
    /// What the last action has made: a prepared statement, a transaction, a savepoint.
    handle: Vec<u8>,
}

impl Client {
    fn begin(mut line: Line, cuts: u8) -> Self {
        line.say(&http2::opening(), cuts);
        Self {
            line,
            cuts,
            stream: 1,
            ticket: Vec::new(),
            handle: Vec::new(),
        }
    }

    /// The messages that answer a call; `None` where there is no end of it.
    fn call(&mut self, method: &str, messages: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
        let stream = self.stream;
        self.stream += 2;
        self.line.say(&http2::call(stream, method, b"", messages), self.cuts);
        let pause = self.line.listen(PATIENCE, |heard| http2::is_over(heard, stream));
        assert!(
            !matches!(pause, Pause::Closed | Pause::Reset),
            "the connection was closed instead of an answer to {method}"
        );
        if pause != Pause::Enough {
            return None;
        }
        let answer = http2::messages(&self.line.heard, stream);
        if let Some(first) = answer.first() {
            self.learn(method, first);
        }
        Some(answer)
    }

    /// Keeps what later calls name.
    fn learn(&mut self, method: &str, answer: &[u8]) {
        match method {
            "GetFlightInfo" => {
                let endpoint = find(answer, 3).and_then(|endpoint| find(endpoint, 1));
                if let Some(ticket) = endpoint.and_then(|ticket| find(ticket, 1)) {
                    self.ticket = ticket.to_vec();
                }
            }
            "DoAction" => {
                let result = find(answer, 1).and_then(|body| find(body, 2));
                if let Some(handle) = result.and_then(|result| find(result, 1)) {
                    self.handle = handle.to_vec();
                }
            }
            _ => {}
        }
    }

    /// The first message of a call.
    fn encoded(&self, method: &str, message: Message<'_>) -> Vec<u8> {
        let Message { verb, kind, content } = message;
        let kind = usize::from(kind);
        if method == "DoGet" && verb & TICKET != 0 {
            return field(1, &self.ticket);
        }
        if kind == 0 {
            return content.to_vec();
        }
        let command = |content: &[u8]| any(COMMANDS[kind % COMMANDS.len()], &self.with_handle(verb, content));
        match method {
            "GetFlightInfo" | "PollFlightInfo" | "GetSchema" => descriptor(&command(content)),
            "DoGet" => field(1, &command(content)),
            "DoPut" | "DoExchange" => {
                let (length, rest) = content.split_first_chunk().unwrap_or((&[0; 2], content));
                let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
                let (content, rest) = rest.split_at(length);
                [field(1, &descriptor(&command(content))), rest.to_vec()].concat()
            }
            "DoAction" => {
                let (name, request) = ACTIONS[kind % ACTIONS.len()];
                let body = match request {
                    "" => content.to_vec(),
                    request => any(request, &self.with_handle(verb, content)),
                };
                [field(1, name.as_bytes()), field(2, &body)].concat()
            }
            _ => content.to_vec(),
        }
    }

    fn with_handle(&self, verb: u8, content: &[u8]) -> Vec<u8> {
        let given = |bit: u8, number: u32| match verb & bit {
            0 => Vec::new(),
            _ => field(number, &self.handle),
        };
        [given(FIRST, 1), content.to_vec(), given(SECOND, 2)].concat()
    }
}

/// A `FlightDescriptor` of a command.
fn descriptor(command: &[u8]) -> Vec<u8> {
    [b"\x08\x02".to_vec(), field(2, command)].concat()
}

/// A `google.protobuf.Any` with a message of Flight SQL.
fn any(name: &str, message: &[u8]) -> Vec<u8> {
    let url = format!("type.googleapis.com/arrow.flight.protocol.sql.{name}");
    [field(1, url.as_bytes()), field(2, message)].concat()
}

/// Frames with the lengths that they have.
fn frames(mut bytes: &[u8]) -> Vec<u8> {
    let mut frames = Vec::new();
    while let [kind, flags, stream, rest @ ..] = bytes {
        let (content, rest) = short(rest);
        frames.extend(http2::frame(*kind, *flags, u32::from(*stream), content));
        bytes = rest;
    }
    frames
}

/// As many bytes as the first says, or are there, and the rest.
fn short(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.split_first() {
        Some((length, rest)) => rest.split_at(rest.len().min(usize::from(*length))),
        None => (bytes, bytes),
    }
}

/// The bits of a verb above the number of its method.
const MORE: u8 = 0x10;
const FIRST: u8 = 0x20;
const TICKET: u8 = 0x40;
const SECOND: u8 = 0x80;

/// The methods of the service ([Flight.proto](https://github.com/apache/arrow/blob/main/format/Flight.proto)).
const METHODS: [&str; 10] = [
    "Handshake",
    "ListFlights",
    "GetFlightInfo",
    "PollFlightInfo",
    "GetSchema",
    "DoGet",
    "DoPut",
    "DoExchange",
    "DoAction",
    "ListActions",
];

/// Messages of descriptors and tickets ([FlightSql.proto](https://github.com/apache/arrow/blob/main/format/FlightSql.proto)). The first stands for a
/// message as it is.
const COMMANDS: [&str; 17] = [
    "",
    "CommandStatementQuery",
    "CommandPreparedStatementQuery",
    "CommandStatementUpdate",
    "CommandPreparedStatementUpdate",
    "CommandStatementIngest",
    "TicketStatementQuery",
    "CommandGetCatalogs",
    "CommandGetDbSchemas",
    "CommandGetTables",
    "CommandGetTableTypes",
    "CommandGetSqlInfo",
    "CommandGetXdbcTypeInfo",
    "CommandGetPrimaryKeys",
    "CommandGetExportedKeys",
    "CommandGetImportedKeys",
    "CommandGetCrossReference",
];

/// Names of actions, and the messages in them; none where the action has its request as it is.
const ACTIONS: [(&str, &str); 10] = [
    ("", ""),
    ("CreatePreparedStatement", "ActionCreatePreparedStatementRequest"),
    ("ClosePreparedStatement", "ActionClosePreparedStatementRequest"),
    ("BeginTransaction", "ActionBeginTransactionRequest"),
    ("EndTransaction", "ActionEndTransactionRequest"),
    ("BeginSavepoint", "ActionBeginSavepointRequest"),
    ("EndSavepoint", "ActionEndSavepointRequest"),
    ("CancelQuery", "ActionCancelQueryRequest"),
    ("CancelFlightInfo", ""),
    ("CloseSession", ""),
];

/// So many messages are sent of an input.
const MOST_MESSAGES: usize = 16;

/// How long a client waits for an answer to what may be no call.
const SILENCE: Duration = Duration::from_millis(20);
