//! Chunks: lengths around packets, so that a proxy can follow a connection without knowing what is in it.
//!
//! Since revision 54470 both sides may agree on them in the handshake, for each direction on its own ([`agree`]). Then a packet
//! is one or more chunks, each of a length in four bytes and so many bytes, and a length of 0 after the last.
//!
//! Source: `IO/ReadBufferFromPocoSocketChunked.h` of ClickHouse.

use crate::{Error, Result};

/// What one side wants for one direction of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Chunking {
    /// Chunks, or no connection.
    Chunked,
    /// Chunks, unless the other side insists on none.
    ChunkedOptional,
    /// No chunks, or no connection.
    NotChunked,
    /// No chunks, unless the other side insists on them.
    #[default]
    NotChunkedOptional,
}

impl Chunking {
    /// Returns the word of the handshake.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chunked => "chunked",
            Self::ChunkedOptional => "chunked_optional",
            Self::NotChunked => "notchunked",
            Self::NotChunkedOptional => "notchunked_optional",
        }
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        [
            Self::Chunked,
            Self::ChunkedOptional,
            Self::NotChunked,
            Self::NotChunkedOptional,
        ]
        .into_iter()
        .find(|chunking| chunking.as_str() == word)
    }

    fn is_chunked(self) -> bool {
        matches!(self, Self::Chunked | Self::ChunkedOptional)
    }

    fn is_optional(self) -> bool {
        matches!(self, Self::ChunkedOptional | Self::NotChunkedOptional)
    }
}

/// Whether a direction has chunks, from what both sides want. The client decides when the server leaves it open.
///
/// # Errors
///
/// [`Error::Protocol`] when both insist on different things.
pub fn agree(server: Chunking, client: Chunking) -> Result<bool> {
    if server.is_optional() {
        Ok(client.is_chunked())
    } else if client.is_optional() || client.is_chunked() == server.is_chunked() {
        Ok(server.is_chunked())
    } else {
        Err(Error::Protocol {
            what: "chunks of packets",
            offset: 0,
            expected: "what the client insists on",
            found: format!("`{}` of the server", server.as_str()),
        })
    }
}

/// Takes chunks off what was received.
#[derive(Clone, Debug, Default)]
pub struct Dechunker {
    /// Bytes of the current chunk that did not come yet.
    left: usize,
    /// The part of a length that came.
    length: [u8; 4],
    length_bytes: usize,
}

impl Dechunker {
    /// Appends what is inside of the chunks in `received` to `bytes`. A chunk may continue in the next call.
    pub fn take_off(&mut self, mut received: &[u8], bytes: &mut Vec<u8>) {
        while !received.is_empty() {
            if self.left == 0 {
                let (Some((byte, rest)), Some(place)) =
                    (received.split_first(), self.length.get_mut(self.length_bytes))
                else {
                    return;
                };
                *place = *byte;
                received = rest;
                self.length_bytes += 1;
                if self.length_bytes == self.length.len() {
                    self.length_bytes = 0;
                    self.left = usize::try_from(u32::from_le_bytes(self.length)).unwrap_or(usize::MAX);
                }
            } else {
                let (inside, rest) = received.split_at(self.left.min(received.len()));
                bytes.extend_from_slice(inside);
                self.left -= inside.len();
                received = rest;
            }
        }
    }
}

/// Writes a packet as chunks.
pub fn put_chunked(bytes: &mut Vec<u8>, packet: &[u8]) {
    for chunk in packet.chunks(MAX_CHUNK) {
        // A chunk is at most `MAX_CHUNK` bytes.
        bytes.extend(u32::try_from(chunk.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(chunk);
    }
    bytes.extend([0; 4]);
}

const MAX_CHUNK: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packets_come_out_of_their_chunks_in_whatever_pieces_they_arrive(
            packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..50), 1..10),
            piece in 1..20_usize,
        ) {
            let mut chunks = Vec::new();
            for packet in &packets {
                put_chunked(&mut chunks, packet);
            }
            let mut dechunker = Dechunker::default();
            let mut bytes = Vec::new();
            for piece in chunks.chunks(piece) {
                dechunker.take_off(piece, &mut bytes);
            }
            prop_assert_eq!(bytes, packets.concat());
        }
    }

    #[test]
    fn sides_agree_on_chunks_as_clickhouse_does() {
        use Chunking::{Chunked, ChunkedOptional, NotChunked, NotChunkedOptional};
        // (server, client, what they agree on), from `is_chunked` in Client/Connection.cpp.
        for (server, client, agreed) in [
            (NotChunkedOptional, Chunked, Some(true)),
            (ChunkedOptional, NotChunkedOptional, Some(false)),
            (Chunked, NotChunkedOptional, Some(true)),
            (NotChunked, ChunkedOptional, Some(false)),
            (Chunked, Chunked, Some(true)),
            (Chunked, NotChunked, None),
            (NotChunked, Chunked, None),
        ] {
            assert_eq!(agree(server, client).ok(), agreed, "{server:?} {client:?}");
        }
    }

    #[test]
    fn words_are_those_of_the_handshake() {
        assert_eq!(Chunking::of_word("chunked_optional"), Some(Chunking::ChunkedOptional));
        assert_eq!(Chunking::of_word("chunk"), None);
    }
}
