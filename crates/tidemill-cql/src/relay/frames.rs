//! Answers on their way to the driver: each is taken in as it comes, looked through, and given on whole.

use std::fmt;
use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use scylla_cql::frame::{Compression, decompress, flag, parse_response_body_extensions};
use tidemill_client::with_causes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::connection::{HEADER, LONGEST, VERSION, check_compressed, check_result, invalid};

/// The answers of one connection.
pub(super) struct Answers {
    buffer: BytesMut,
    pub(super) rules: Rules,
}

/// What was agreed on between the driver and the node.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) compression: Option<Compression>,
    /// Whether what is prepared has an identity of its columns: an extension of ScyllaDB.
    pub(super) has_metadata_ids: bool,
}

impl Answers {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            buffer: BytesMut::new(),
            rules,
        }
    }

    /// Gives the driver what a node answers: all answers that have come in full, at least one. Where one may not be given, the driver gets
    /// an ERROR on its stream, or on `stream` where it has none, and the error is the end of the connection.
    pub(super) async fn relay_some(
        &mut self,
        server: &mut (impl AsyncRead + Unpin),
        driver: &mut (impl AsyncWrite + Unpin),
        node: &impl fmt::Display,
        stream: [u8; 2],
    ) -> io::Result<()> {
        let mut is_given = false;
        loop {
            let (length, next) = self.checked();
            if let Some(whole @ [_, ..]) = self.buffer.get(..length) {
                // Many answers are one call of the system, as they were on their way here.
                driver.write_all(whole).await?;
                self.buffer.advance(length);
                is_given = true;
            }
            let (stream, what) = match next {
                Next::Unfinished(_) if is_given => {
                    self.shrink();
                    return Ok(());
                }
                Next::Unfinished(wanted) => {
                    self.fill(server, wanted).await?;
                    continue;
                }
                Next::Decompressed { length, frame } => {
                    driver.write_all(&frame).await?;
                    self.buffer.advance(length);
                    is_given = true;
                    continue;
                }
                Next::NoFrame(what) => (stream, what),
                Next::Refused(stream, what) => (stream, what),
            };
            driver
                .write_all(&error(stream, &format!("the node {node}: {what}")))
                .await?;
            driver.flush().await?;
            return Err(invalid(what));
        }
    }

    /// Number of bytes at the start of the buffer that are complete, checked answers, and what follows them.
    fn checked(&self) -> (usize, Next) {
        let mut rest: &[u8] = &self.buffer;
        let next = loop {
            match self.look(rest) {
                Ok(length) => rest = rest.get(length..).unwrap_or_default(),
                Err(next) => break next,
            }
        };
        (self.buffer.len() - rest.len(), next)
    }

    /// The length of the first answer, header and all, when it may be given as it is.
    fn look(&self, bytes: &[u8]) -> Result<usize, Next> {
        let Some((&[version, flags, high, low, opcode, ref length @ ..], rest)) = bytes.split_first_chunk::<HEADER>()
        else {
            return Err(Next::Unfinished(HEADER));
        };
        if version != VERSION {
            return Err(Next::NoFrame(format!(
                "expected an answer of version 4 of the protocol, {VERSION:#04x}, found {version:#04x}; is this the port of CQL?"
            )));
        }
        let refused = |what| Next::Refused([high, low], what);
        let length = u32::from_be_bytes(*length) as usize;
        if length > LONGEST {
            return Err(refused(format!(
                "an answer claims {length} bytes, more than the {LONGEST} of the protocol"
            )));
        }
        let whole = HEADER + length;
        let Some(body) = rest.get(..length) else {
            return Err(Next::Unfinished(whole));
        };
        if flags & flag::COMPRESSION == 0 {
            if opcode == RESULT {
                self.check(flags, body).map_err(refused)?;
            }
            return Ok(whole);
        }
        let Some(compression) = self.rules.compression else {
            return Err(refused(
                "a compressed answer, where no compression was agreed on".to_owned(),
            ));
        };
        check_compressed(body, compression).map_err(refused)?;
        let body = decompress(body, compression).map_err(|error| refused(with_causes(&error)))?;
        let flags = flags & !flag::COMPRESSION;
        if opcode == RESULT {
            self.check(flags, &body).map_err(refused)?;
        }
        let length = u32::try_from(body.len()).map_err(|error| refused(error.to_string()))?;
        let head = [version, flags, high, low, opcode];
        Err(Next::Decompressed {
            length: whole,
            frame: [&head[..], &length.to_be_bytes(), &body].concat(),
        })
    }

    fn check(&self, flags: u8, body: &[u8]) -> Result<(), String> {
        let has_ids = self.rules.has_metadata_ids;
        if flags == 0 {
            return check_result(body, has_ids);
        }
        let extended = parse_response_body_extensions(flags, None, Bytes::copy_from_slice(body));
        check_result(&extended.map_err(|error| with_causes(&error))?.body, has_ids)
    }

    /// Reads until there are `wanted` bytes. Memory is taken for what has come, never for what is claimed.
    async fn fill(&mut self, server: &mut (impl AsyncRead + Unpin), wanted: usize) -> io::Result<()> {
        while self.buffer.len() < wanted {
            self.buffer.reserve(READ);
            if server.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// What a long answer took is not kept for short ones.
    fn shrink(&mut self) {
        if self.buffer.is_empty() && self.buffer.capacity() > 2 * READ {
            self.buffer = BytesMut::new();
        }
    }
}

/// What is after the answers that are given as they are.
enum Next {
    /// An answer that has not come in full: so many bytes are wanted.
    Unfinished(usize),
    /// An answer of so many bytes, which is given so instead.
    Decompressed { length: usize, frame: Vec<u8> },
    /// No frame, or none of this version.
    NoFrame(String),
    /// A frame that may not be given, by its stream.
    Refused([u8; 2], String),
}

/// An ERROR of the server's own, with a text: section 9 of the protocol.
pub(super) fn error([high, low]: [u8; 2], text: &str) -> Vec<u8> {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end).unwrap_or_default().as_bytes();
    // A code, and a text after its length.
    let lengths = u32::try_from(text.len() + 6).ok().zip(u16::try_from(text.len()).ok());
    let (length, text_length) = lengths.unwrap_or_default();
    [
        &[VERSION, 0, high, low, ERROR][..],
        &length.to_be_bytes(),
        &[0; 4],
        &text_length.to_be_bytes(),
        text,
    ]
    .concat()
}

const ERROR: u8 = 0x00;
const RESULT: u8 = 0x08;
const LONGEST_TEXT: usize = 4096;
/// What is read at once.
const READ: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(flags: u8, opcode: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&[VERSION, flags, 0, 9, opcode], length.as_slice(), body].concat()
    }

    /// What the driver gets of what a node says, and what was wrong with it.
    async fn given(says: &[u8], compression: Option<Compression>) -> (Vec<u8>, io::Error) {
        let mut answers = Answers::new(Rules {
            compression,
            has_metadata_ids: false,
        });
        let (mut server, mut driver) = (says, Vec::new());
        loop {
            if let Err(error) = answers.relay_some(&mut server, &mut driver, &"n1", [0, 3]).await {
                return (driver, error);
            }
        }
    }

    #[tokio::test]
    async fn whole_answers_are_given_and_cut_ones_are_not() {
        let rows = [2_i32, 4, 3, 0].map(i32::to_be_bytes).concat();
        let long = [rows.as_slice(), &[7; 200_000]].concat();
        let says = [
            frame(0, 0x06, &[0, 0]),
            frame(0, RESULT, &rows),
            frame(0, RESULT, &long),
            frame(0, 0x0e, b""),
        ]
        .concat();
        let (told, _) = given(&says, None).await;
        assert!(told == says);
        for length in [0, 8, 9, 12, says.len() - 9 - 100_000] {
            let (told, error) = given(&says[..length], None).await;
            assert!(says.starts_with(&told));
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[tokio::test]
    async fn compressed_answers_are_given_as_they_are_meant() {
        let rows = [2_i32, 4, 3, 0].map(i32::to_be_bytes).concat();
        let body = [rows.as_slice(), &[7; 100_000]].concat();
        for compression in [Compression::Lz4, Compression::Snappy] {
            let mut short = Vec::new();
            scylla_cql::frame::compress_append(&body, compression, &mut short).unwrap();
            let (told, _) = given(&frame(flag::COMPRESSION, RESULT, &short), Some(compression)).await;
            assert!(told == frame(0, RESULT, &body));
        }
    }

    #[tokio::test]
    async fn what_the_driver_could_not_bear_is_an_error_that_says_so() {
        const MOST: i32 = i32::MAX;
        let rows = |numbers: &[i32], behind: &[u8]| {
            let head: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
            frame(0, RESULT, &[head.as_slice(), behind].concat())
        };
        let prepared = |numbers: [i32; 3], behind: &[u8]| {
            let head = [
                &4_i32.to_be_bytes()[..],
                b"\0\x01x",
                &numbers.map(i32::to_be_bytes).concat(),
            ]
            .concat();
            frame(0, RESULT, &[head.as_slice(), behind].concat())
        };
        let table = b"\0\x02ks\0\x01t\0\x01a";
        let nested = [&table[..], &b"\0\x20".repeat(100_000), b"\0\x09"].concat();
        let class = format!("{}Int32Type{}", "ListType(".repeat(5000), ")".repeat(5000));
        let class = [&table[..], b"\0\0", &50_009_u16.to_be_bytes(), class.as_bytes()].concat();
        for (what, says, stream, told) in [
            (
                "4 GiB",
                frame(0, 0x06, &[0xff; 2])[..5].to_vec(),
                9,
                "claims 4294967295 bytes",
            ),
            ("HTTP", b"HTTP/1.1 400 Bad Request".to_vec(), 3, "found 0x48"),
            (
                "a newer version",
                [&[0x85][..], &frame(0, 6, b"")[1..]].concat(),
                3,
                "found 0x85",
            ),
            (
                "compressed",
                frame(1, RESULT, &[0x7f, 0, 0, 0, 0]),
                9,
                "no compression was agreed on",
            ),
            ("columns", rows(&[2, 1, MOST], table), 9, "columns"),
            ("columns less than none", rows(&[2, 1, -1], table), 9, "columns"),
            ("nested types", rows(&[2, 1, 1], &nested), 9, "columns"),
            ("a nested class", rows(&[2, 1, 1], &class), 9, "columns"),
            ("a key of many columns", prepared([1, 1, MOST], table), 9, "prepared"),
            ("many parameters", prepared([1, MOST, 0], table), 9, "prepared"),
            (
                "a custom payload that is not there",
                frame(4, RESULT, &[0xff]),
                9,
                "payload",
            ),
        ] {
            let mut says = says;
            if what == "4 GiB" {
                says.extend([0xff; 4]);
            }
            let (driver, error) = given(&says, None).await;
            let text = String::from_utf8_lossy(&driver);
            assert!(text.contains(told) && text.contains("the node n1: "), "{what}: {text}");
            assert_eq!(driver[..5], [VERSION, 0, 0, stream, 0], "{what}");
            assert_eq!(driver.len(), 9 + usize::from(driver[7]) * 256 + usize::from(driver[8]));
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{what}");
        }
        let short = frame(1, RESULT, &[0x7f, 0, 0, 0, 0]);
        let (driver, _) = given(&short, Some(Compression::Lz4)).await;
        assert!(String::from_utf8_lossy(&driver).contains("said to be 2130706432"));
    }
}
