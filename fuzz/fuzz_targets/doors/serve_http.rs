//! What a client of HTTP says to `tidemill serve`.
//!
//! The first byte tells what the others are (its lowest two bits), which format of answers is accepted (the next two) and in how many
//! pieces they are sent (its highest two: one, or about two, five and sixteen). In texts, it is a digit:
//!
//! | | |
//! |---|---|
//! | 0 | a method and a path, headers, an empty line, and a body, with line feeds only; the host and the body's length are added |
//! | 1 | the body of `POST /sql`, which is JSON |
//! | 2 | the same as the text of a statement |
//! | 3 | everything that the client says |

#![no_main]

mod door;

use std::thread;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use tidemill_server::Server;

use door::{Heard, LONGEST_END, Line, PATIENCE, Served};

fuzz_target!(|input: &[u8]| {
    let Some((&plan, bytes)) = input.split_first() else {
        return;
    };
    let kind = plan & 3;
    let format = FORMATS[usize::from((plan >> 2) & 3)];
    let said = match kind {
        0 => {
            let (head, body) = parted(bytes, b"\n\n").unwrap_or((bytes, b""));
            request(head, body)
        }
        1 => statement("application/json", format, bytes),
        2 => statement("text/plain", format, bytes),
        _ => bytes.to_vec(),
    };
    let served = Served::behind(Server::http);
    let mut line = served.connect();
    line.say(&said, plan >> 6);
    // A client that ends before it is answered is not answered. What is no request has no answer either.
    let heard = line.end(match kind {
        3 => SILENCE,
        _ => PATIENCE,
    });
    if matches!(kind, 1 | 2) {
        check(&heard);
    }
    served.settle(|| end_copies(served), is_answered);
});

/// The answer of a request is whole, whatever it says.
fn check(heard: &Heard) {
    if !heard.is_whole {
        return;
    }
    assert!(heard.bytes.starts_with(b"HTTP/1.1 "), "a request has no answer");
    let (head, body) = parted(&heard.bytes, b"\r\n\r\n").expect("an end of the headers");
    let head = String::from_utf8_lossy(head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    if let Some(length) = length {
        assert_eq!(length.parse().ok(), Some(body.len()), "{head}");
    }
}

/// Whether a query is answered.
fn is_answered(mut line: Line) -> bool {
    line.say(&statement("text/plain", FORMATS[0], b"SELECT COUNT(*) FROM types"), 0);
    line.end(LONGEST_END).bytes.starts_with(b"HTTP/1.1 200 ")
}

/// Stops the copies that go on in the background, and waits for them.
fn end_copies(served: &Served) {
    let ask = |what: &str| {
        let mut line = served.connect();
        line.say(&request(what.as_bytes(), b""), 0);
        String::from_utf8_lossy(&line.end(LONGEST_END).bytes).into_owned()
    };
    let begun = Instant::now();
    loop {
        let list = ask("GET /copies");
        let ids: Vec<&str> = list
            .split("\"id\":\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        if ids.is_empty() {
            return;
        }
        assert!(
            begun.elapsed() < LONGEST_END,
            "copies go on after they were stopped: {list}"
        );
        for id in ids {
            // It stops one that runs, and removes one that has ended.
            let _ = ask(&format!("DELETE /copies/{id}"));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A request to run a statement.
fn statement(kind: &str, format: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("POST /sql\nContent-Type: {kind}\nAccept: {format}");
    request(head.as_bytes(), body)
}

/// A request of lines, with what has to be right that the server gets to the rest.
fn request(head: &[u8], body: &[u8]) -> Vec<u8> {
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut request = lines.next().unwrap_or_default().to_vec();
    request.extend_from_slice(b" HTTP/1.1\r\n");
    for line in lines {
        request.extend_from_slice(line);
        request.extend_from_slice(b"\r\n");
    }
    let added = format!(
        "Host: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    request.extend_from_slice(added.as_bytes());
    request.extend_from_slice(body);
    request
}

/// What comes before and behind the first of some bytes.
fn parted<'a>(bytes: &'a [u8], between: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let place = bytes.windows(between.len()).position(|window| window == between)?;
    Some((bytes.get(..place)?, bytes.get(place + between.len()..)?))
}

const FORMATS: [&str; 4] = [
    "application/json",
    "text/csv",
    "application/vnd.apache.arrow.stream",
    "application/vnd.apache.parquet",
];

/// How long a client waits for an answer to what may be no request.
const SILENCE: Duration = Duration::from_millis(20);
