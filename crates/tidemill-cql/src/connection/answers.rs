//! What a connection reads: frames, as far as they have come.

use std::io;

use scylla_cql::frame::Compression;

use super::reply;
use super::streams::{Recipient, Streams, Waiting};
use super::{HEADER, Outcome};

/// Where answers are read to.
#[derive(Debug)]
pub(super) struct Answers {
    buffer: Vec<u8>,
    filled: usize,
    compression: Option<Compression>,
}

impl Answers {
    pub(super) fn new(compression: Option<Compression>) -> Self {
        Self {
            buffer: vec![0; READ],
            filled: 0,
            compression,
        }
    }

    /// Where the next bytes go. There is always room for one.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.buffer[self.filled..]
    }

    /// Takes the whole frames out of the buffer, now that `read` bytes more are in it. An error is the end of the connection.
    pub(super) fn take<T: Copy>(
        &mut self,
        read: usize,
        streams: &mut Streams<T>,
        outcomes: &mut Vec<(T, Outcome)>,
    ) -> io::Result<()> {
        self.filled += read;
        let mut rest = &self.buffer[..self.filled];
        let mut wanted = 0;
        while let Some((&[version, flags, high, low, opcode, ref length @ ..], behind)) =
            rest.split_first_chunk::<HEADER>()
        {
            if version != VERSION {
                return Err(invalid(format!(
                    "expected version {VERSION:#04x}, found {version:#04x}"
                )));
            }
            let length = u32::from_be_bytes(*length) as usize;
            if length > LONGEST {
                return Err(invalid(format!("an answer has {length} bytes, more than {LONGEST}")));
            }
            let Some((body, behind)) = behind.split_at_checked(length) else {
                wanted = HEADER + length;
                break;
            };
            let id = i16::from_be_bytes([high, low]);
            match streams.give_back(id) {
                Recipient::Tag(tag) => outcomes.push((tag, reply::parse(flags, opcode, body, self.compression, false))),
                Recipient::WantsRows(tag) => {
                    outcomes.push((tag, reply::parse(flags, opcode, body, self.compression, true)));
                }
                Recipient::Nobody => {}
                Recipient::Unknown => {
                    return Err(invalid(format!("an answer on stream {id}, where nothing was asked")));
                }
            }
            rest = behind;
        }
        let left = rest.len();
        self.buffer.copy_within(self.filled - left..self.filled, 0);
        self.filled = left;
        // A long answer is taken in as it comes, so that a length alone takes no memory.
        if wanted > self.buffer.len() && self.filled == self.buffer.len() {
            let doubled = (2 * self.buffer.len()).min(wanted);
            self.buffer.resize(doubled, 0);
        }
        Ok(())
    }
}

/// What a connection makes of `bytes` that a server sends when `requests` requests are under way, on the streams from 0 on; at most `piece`
/// bytes, and at least one, come at a time; `compression` is what was agreed on. Gives the number of each request that is answered, with what came of it, in the order of the
/// answers, and whether the connection still is one.
///
/// # Errors
/// The second: bytes that are no frame of an answer, and an answer that nobody waits for.
pub fn read_answers(
    requests: usize,
    mut bytes: &[u8],
    piece: usize,
    compression: Option<Compression>,
) -> (Vec<(usize, Outcome)>, io::Result<()>) {
    let (mut answers, mut streams, mut outcomes) = (Answers::new(compression), Streams::new(), Vec::new());
    for number in 0..requests {
        if streams.has_free() {
            streams.take(Waiting::for_ever(number));
        }
    }
    while !bytes.is_empty() {
        let room = answers.room();
        let read = room.len().min(piece.max(1)).min(bytes.len());
        let (come, later) = bytes.split_at(read);
        room[..read].copy_from_slice(come);
        bytes = later;
        if let Err(error) = answers.take(read, &mut streams, &mut outcomes) {
            return (outcomes, Err(error));
        }
    }
    (outcomes, Ok(()))
}

pub(crate) fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// An answer of version 4.
pub(crate) const VERSION: u8 = 0x84;
/// What is read at once.
const READ: usize = 1 << 16;
/// Section 2 of the protocol: 256 MB.
pub(crate) const LONGEST: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::super::Reply;
    use super::*;

    fn frame(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
        let [high, low] = stream.to_be_bytes();
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&[VERSION, 0, high, low, opcode], length.as_slice(), body].concat()
    }

    #[test]
    fn answers_are_the_same_in_pieces_of_any_length() {
        let mut rows = [0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 9].to_vec();
        // More than the buffer has at first.
        rows.resize(5 * READ / 2, 7);
        let bytes = [
            frame(2, 0x08, &[0, 0, 0, 1]),
            frame(0, 0x08, &rows),
            frame(1, 0x00, b"\0\0\x10\x01\0\x04busy"),
        ]
        .concat();
        let shown = |piece| {
            let (outcomes, end) = read_answers(3, &bytes, piece, None);
            end.unwrap();
            format!("{outcomes:?}")
        };
        let whole = shown(bytes.len());
        assert!(whole.contains("count: 9") && whole.contains("Overloaded"), "{whole}");
        for piece in [1, 2, 8, 9, 10, 13, READ - 1, READ, READ + 1] {
            assert_eq!(shown(piece), whole, "{piece}");
        }
        // A cut stream has the answers that are whole, and waits for the others.
        for length in (0..30).chain([bytes.len() - 1]) {
            let (outcomes, end) = read_answers(3, &bytes[..length], 7, None);
            end.unwrap();
            let first = (length >= 13).then_some(2);
            assert_eq!(outcomes.first().map(|(number, _)| *number), first, "{length}");
        }
    }

    #[test]
    fn what_is_no_answer_ends_the_connection() {
        let good = frame(0, 0x08, &[0, 0, 0, 1]);
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        for (bytes, why) in [
            (changed(0, 0x04), "expected version 0x84, found 0x04"),
            (changed(5, 0x11), "more than 268435456"),
            (changed(3, 1), "on stream 1, where nothing was asked"),
            (changed(2, 0xff), "on stream -256, where"),
            ([good.clone(), good.clone()].concat(), "on stream 0, where"),
        ] {
            let end = read_answers(1, &bytes, 5, None).1.unwrap_err();
            assert!(end.to_string().contains(why), "{end}");
        }
        let (outcomes, end) = read_answers(1, &good, 1, None);
        assert!(matches!(outcomes[..], [(0, Ok(Reply::Void))]) && end.is_ok());
    }
}
