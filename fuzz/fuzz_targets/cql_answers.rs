//! What a node of Cassandra answers to the requests of a load test, as bytes: the outcomes are the same however the network cuts them,
//! and no request has two.
//!
//! The first byte tells how many requests are under way, the second how long the pieces are, the third how bodies are compressed. All others
//! are the node's.

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use tidemill_cql::connection::{Compression, read_answers};

fuzz_target!(|input: &[u8]| {
    let [requests, piece, compression, bytes @ ..] = input else {
        return;
    };
    let compression = match compression % 3 {
        0 => None,
        1 => Some(Compression::Lz4),
        _ => Some(Compression::Snappy),
    };
    let requests = usize::from(*requests);
    let (whole, whole_end) = read_answers(requests, bytes, bytes.len(), compression);
    let (cut, cut_end) = read_answers(requests, bytes, usize::from(*piece), compression);
    let answered: HashSet<usize> = whole.iter().map(|(number, _)| *number).collect();
    assert_eq!(answered.len(), whole.len());
    assert!(answered.iter().all(|number| *number < requests));
    assert_eq!(format!("{whole:?}"), format!("{cut:?}"));
    assert_eq!(format!("{whole_end:?}"), format!("{cut_end:?}"));
});
