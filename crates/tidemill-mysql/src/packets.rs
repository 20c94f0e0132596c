//! Packets on a stream.
//!
//! | bytes | meaning |
//! |---|---|
//! | `int<3>` | the length of the payload; `0xffffff` when the next packet goes on with it |
//! | `int<1>` | a number that counts the packets of a command and its answer |
//! | bytes | the payload |
//!
//! MySQL's manual of the protocol, "MySQL Packets". A payload is held as it comes, never more than the server has sent. One that is no row
//! has at most [`SMALL`] bytes, a row at most [`LARGEST`].

use std::io;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A stream of packets in both directions.
pub(crate) struct Packets<S> {
    stream: S,
    buffer: BytesMut,
    /// How many bytes of the buffer were given out.
    given: usize,
    /// A payload that came in several packets.
    joined: Vec<u8>,
    is_joined_whole: bool,
    /// The number of the next packet.
    number: u8,
    out: Vec<u8>,
    is_broken: bool,
}

impl<S> Packets<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            given: 0,
            joined: Vec::new(),
            is_joined_whole: false,
            number: 0,
            out: Vec::new(),
            is_broken: false,
        }
    }

    /// The stream, and packets over another one made of it, which go on with the count.
    pub(crate) fn into_stream(self) -> (S, u8) {
        (self.stream, self.number)
    }

    pub(crate) fn with_number(mut self, number: u8) -> Self {
        self.number = number;
        self
    }

    /// Whether the server has sent more than was asked for.
    pub(crate) fn has_more(&self) -> bool {
        self.buffer.len() > self.given
    }

    /// Whether the connection is known to be gone.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// The next packet is the first of a command.
    pub(crate) fn restart(&mut self) {
        self.number = 0;
    }

    /// Goes to the next payload, of at most so many bytes; false when it has not come whole.
    pub(crate) fn advance(&mut self, largest: usize) -> io::Result<bool> {
        self.buffer.advance(std::mem::take(&mut self.given));
        if self.is_joined_whole {
            self.is_joined_whole = false;
            self.joined = Vec::new();
        }
        loop {
            let Some([a, b, c, number]) = self.buffer.first_chunk().copied() else {
                return Ok(false);
            };
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            if number != self.number {
                return Err(not_mysql(format!(
                    "expected the packet number {}, found number {number} with {length} bytes",
                    self.number
                )));
            }
            if self.joined.len() + length > largest {
                return Err(not_mysql(format!(
                    "expected a packet of at most {largest} bytes, found a longer one"
                )));
            }
            if self.buffer.len() < HEADER + length {
                return Ok(false);
            }
            self.number = self.number.wrapping_add(1);
            if length < LONGEST && self.joined.is_empty() {
                self.given = HEADER + length;
                return Ok(true);
            }
            self.buffer.advance(HEADER);
            self.joined.extend_from_slice(&self.buffer.split_to(length));
            if length < LONGEST {
                self.is_joined_whole = true;
                return Ok(true);
            }
        }
    }

    /// The payload that [`Packets::advance`] went to.
    pub(crate) fn payload(&self) -> &[u8] {
        match self.is_joined_whole {
            true => &self.joined,
            false => self.buffer.get(HEADER..self.given).unwrap_or_default(),
        }
    }
}

impl<S: AsyncRead + Unpin> Packets<S> {
    /// Waits for more bytes. Nothing is lost when this is given up.
    ///
    /// # Errors
    ///
    /// Also when the server has closed the connection.
    pub(crate) async fn fill(&mut self) -> io::Result<()> {
        self.buffer.reserve(PIECE);
        let read = self.stream.read_buf(&mut self.buffer).await;
        self.is_broken |= !matches!(read, Ok(1..));
        match read? {
            0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the server closed the connection",
            )),
            _ => Ok(()),
        }
    }

    /// The next payload, which is no row.
    pub(crate) async fn read(&mut self) -> io::Result<&[u8]> {
        while !self.advance(SMALL)? {
            self.fill().await?;
        }
        Ok(self.payload())
    }
}

impl<S: AsyncWrite + Unpin> Packets<S> {
    /// Sends a payload, in as many packets as it takes.
    pub(crate) async fn write(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut rest = payload;
        loop {
            let (piece, behind) = rest.split_at_checked(LONGEST).unwrap_or((rest, &[]));
            let [a, b, c, ..] = (piece.len() as u64).to_le_bytes();
            self.out.clear();
            self.out.extend_from_slice(&[a, b, c, self.number]);
            self.out.extend_from_slice(piece);
            self.number = self.number.wrapping_add(1);
            let written = self.stream.write_all(&self.out).await;
            self.is_broken |= written.is_err();
            written?;
            rest = behind;
            if piece.len() < LONGEST {
                break;
            }
        }
        self.stream.flush().await
    }
}

fn not_mysql(what: String) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{what}; is this a MySQL or MariaDB server?"),
    )
}

const HEADER: usize = 4;
/// The payload of a packet that another one goes on with.
const LONGEST: usize = 0xff_ffff;
/// The largest `max_allowed_packet` of a server.
pub(crate) const LARGEST: usize = 1 << 30;
/// More than the definition of a column has, or an error.
const SMALL: usize = 16 << 10;
/// Bytes that are asked of the stream at a time.
const PIECE: usize = 128 << 10;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    fn feed(packets: &mut Packets<tokio::io::Empty>, bytes: &[u8]) {
        packets.buffer.extend_from_slice(bytes);
    }

    #[test]
    fn packets_come_however_they_are_cut() {
        let stream = b"\x03\0\0\0abc\0\0\0\x01\x01\0\0\x02z";
        for size in 1..=stream.len() {
            let mut packets = Packets::new(tokio::io::empty());
            let mut found = Vec::new();
            for piece in stream.chunks(size) {
                feed(&mut packets, piece);
                while packets.advance(LARGEST).unwrap() {
                    found.push(packets.payload().to_vec());
                }
            }
            assert_eq!(found, [b"abc".as_slice(), b"", b"z"], "{size}");
        }
    }

    #[tokio::test]
    async fn a_long_payload_is_several_packets() {
        for length in [LONGEST - 1, LONGEST, LONGEST + 1, 2 * LONGEST] {
            let (client, server) = tokio::io::duplex(1 << 20);
            let payload: Vec<u8> = (0..length).map(|byte| (byte % 251) as u8).collect();
            let sent = payload.clone();
            let writer = tokio::spawn(async move { Packets::new(client).write(&sent).await });
            let mut packets = Packets::new(server);
            while !packets.advance(LARGEST).unwrap() {
                packets.fill().await.unwrap();
            }
            assert!(packets.payload() == payload, "{length}");
            writer.await.unwrap().unwrap();
            assert!(!packets.has_more());
        }
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        for (bytes, named) in [(b"HTTP/1.1".as_slice(), "MySQL"), (b"\x01\0\0\x07a", "number 7")] {
            let mut packets = Packets::new(tokio::io::empty());
            feed(&mut packets, bytes);
            let error = packets.advance(LARGEST).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
        let mut packets = Packets::new(tokio::io::empty());
        let refused = (0..70_u8).find_map(|number| {
            feed(&mut packets, &[0xff, 0xff, 0xff, number]);
            feed(&mut packets, &vec![0; LONGEST]);
            packets.advance(LARGEST).err()
        });
        assert!(refused.unwrap().to_string().contains("at most 1073741824 bytes"));
    }
}
