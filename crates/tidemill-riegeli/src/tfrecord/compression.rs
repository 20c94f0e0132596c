//! Files compressed as a whole: the records, framed as ever, inside one stream of gzip (RFC 1952) or zlib (RFC 1950), as
//! TensorFlow's options `GZIP` and `ZLIB` write them.
//!
//! gzip's members may follow one another, and zeros may be after each, as gzip and Python have it; after a stream of zlib there must
//! be nothing. zlib's preset dictionaries are not read.

use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::{
    Compression, Decompress, FlushDecompress, Status,
    bufread::GzDecoder,
    write::{GzEncoder, ZlibEncoder},
};

use super::{HEAD_SIZE, fill, is_sound_head};
use crate::error::Damage;

/// How a TFRecord file is compressed as a whole. Default: not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TfRecordCompression {
    /// Not at all.
    #[default]
    None,
    /// As TensorFlow's `GZIP`: by gzip, at its usual level.
    Gzip,
    /// As TensorFlow's `ZLIB`: by zlib, at its usual level.
    Zlib,
}

impl TfRecordCompression {
    /// Returns what a file looks like that begins with these bytes: the first twelve, fewer when there are no more.
    ///
    /// A sound length of a record decides. Where there is none, it is gzip or zlib if it begins so, and not the length of a
    /// record below 4 GiB whose checksum is damaged.
    #[must_use]
    pub fn of_beginning(bytes: &[u8]) -> Self {
        let head = bytes.get(..HEAD_SIZE).unwrap_or(bytes);
        if head.first_chunk().is_some_and(is_sound_head) {
            return Self::None;
        }
        match *head {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            // Method 8 with a window of up to 32 KiB, the check of both bytes, no preset dictionary.
            [method, flags, ..]
                if method & 0x0f == 8
                    && method >> 4 <= 7
                    && u16::from_be_bytes([method, flags]) % 31 == 0
                    && flags & 0x20 == 0
                    && head.get(4..8) != Some(&[0; 4]) =>
            {
                Self::Zlib
            }
            _ => Self::None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "uncompressed",
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
        }
    }
}

/// Returns how a source is compressed whose first bytes are the length of a record, once they are decompressed; `None` where they are
/// not.
///
/// # Errors
/// Those of the source.
pub(crate) fn compression_of_records(source: impl Read) -> io::Result<Option<TfRecordCompression>> {
    let mut input = Input::new(source);
    let compression = input.compression()?;
    let mut head = [0; HEAD_SIZE];
    match fill(&mut input, &mut head) {
        Ok(read) => Ok((read == head.len() && is_sound_head(&head)).then_some(compression)),
        Err(error) if input.damage(&error).is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The framed records of a file, whatever it is compressed by.
pub(super) struct Input<R> {
    state: State<R>,
    wanted: Option<TfRecordCompression>,
}

enum State<R> {
    /// Nothing was read yet.
    New(R),
    Plain(Counted<R>),
    Gzip(Members<R>),
    Zlib(Box<Inflate<R>>),
    /// While one takes the place of another.
    Gone,
}

impl<R: Read> Input<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            state: State::New(source),
            wanted: None,
        }
    }

    /// Reads as compressed this way, whatever the first bytes are. For a source that was not read from.
    pub(super) fn set_compression(&mut self, compression: TfRecordCompression) {
        self.wanted = Some(compression);
    }

    /// Returns how the source is compressed, reading its first bytes if that is needed.
    pub(super) fn compression(&mut self) -> io::Result<TfRecordCompression> {
        self.begin()?;
        Ok(match self.state {
            State::Gzip(_) => TfRecordCompression::Gzip,
            State::Zlib(_) => TfRecordCompression::Zlib,
            _ => TfRecordCompression::None,
        })
    }

    /// How many bytes were taken from the source so far, where they are compressed.
    pub(super) fn compressed_bytes(&self) -> Option<u64> {
        match &self.state {
            State::Gzip(members) => members.source().map(|source| source.get_ref().given),
            State::Zlib(inflate) => Some(inflate.source.get_ref().given),
            State::New(_) | State::Plain(_) | State::Gone => None,
        }
    }

    /// Returns what `error`, of a read, says of the compressed data; `None` when the source itself failed.
    pub(super) fn damage(&self, error: &io::Error) -> Option<Damage> {
        let (compression, source) = match &self.state {
            State::Gzip(members) => (TfRecordCompression::Gzip, members.source()?),
            State::Zlib(inflate) => (TfRecordCompression::Zlib, &inflate.source),
            State::New(_) | State::Plain(_) | State::Gone => return None,
        };
        if source.get_ref().failed {
            return None;
        }
        let at = source.get_ref().given - source.buffer().len() as u64;
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the file ends in them, at byte {at}"),
            _ => format!("{error}, before byte {at} of the file"),
        };
        Some(Damage::Codec {
            codec: compression.name(),
            reason,
        })
    }

    /// Looks at the first bytes, if it was not done.
    fn begin(&mut self) -> io::Result<()> {
        let State::New(source) = &mut self.state else {
            return Ok(());
        };
        let mut head = [0; HEAD_SIZE];
        let length = match self.wanted {
            Some(_) => 0,
            None => fill(source, &mut head)?,
        };
        let State::New(source) = std::mem::replace(&mut self.state, State::Gone) else {
            return Ok(());
        };
        let compression = self
            .wanted
            .unwrap_or_else(|| TfRecordCompression::of_beginning(head.get(..length).unwrap_or_default()));
        let source = Counted {
            head,
            length,
            taken: 0,
            source,
            given: 0,
            failed: false,
        };
        self.state = match compression {
            TfRecordCompression::None => State::Plain(source),
            TfRecordCompression::Gzip => State::Gzip(Members::Inside(Box::new(GzDecoder::new(buffered(source))))),
            TfRecordCompression::Zlib => State::Zlib(Box::new(Inflate {
                source: buffered(source),
                decompress: Decompress::new(true),
                ended: false,
            })),
        };
        Ok(())
    }
}

impl<R: Read> Read for Input<R> {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Plain(source) if source.taken == source.length => source.source.read(buffer),
            _ => self.read_otherwise(buffer),
        }
    }
}

impl<R: Read> Input<R> {
    #[inline(never)]
    fn read_otherwise(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.begin()?;
        match &mut self.state {
            State::Plain(source) => source.read(buffer),
            State::Gzip(members) => members.read(buffer),
            State::Zlib(inflate) => inflate.read(buffer),
            State::New(_) | State::Gone => Ok(0),
        }
    }
}

/// A source whose first bytes were looked at.
struct Counted<R> {
    head: [u8; HEAD_SIZE],
    /// How many of them there are, and how many were given again.
    length: usize,
    taken: usize,
    source: R,
    /// How many bytes were given in all.
    given: u64,
    /// Whether the source returned an error.
    failed: bool,
}

impl<R: Read> Read for Counted<R> {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = if self.taken < self.length {
            let left = self.head.get(self.taken..self.length).unwrap_or_default();
            let count = left.len().min(buffer.len());
            buffer[..count].copy_from_slice(&left[..count]);
            self.taken += count;
            count
        } else {
            let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
            let read = self.source.read(buffer);
            read.inspect_err(|error| self.failed = !interrupted(error))?
        };
        self.given += read as u64;
        Ok(read)
    }
}

/// Reads the members of a gzip file.
///
/// flate2's own reader takes the zeros for the header of another member.
enum Members<R> {
    Inside(Box<GzDecoder<BufReader<Counted<R>>>>),
    /// Behind a member, and perhaps zeros.
    Behind(BufReader<Counted<R>>),
    /// While one takes the place of the other.
    Between,
}

impl<R: Read> Members<R> {
    /// Returns the compressed source.
    fn source(&self) -> Option<&BufReader<Counted<R>>> {
        match self {
            Self::Inside(decoder) => Some(decoder.get_ref()),
            Self::Behind(source) => Some(source),
            Self::Between => None,
        }
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self {
                Self::Inside(decoder) => match decoder.read(buffer)? {
                    0 => {
                        if let Self::Inside(decoder) = std::mem::replace(self, Self::Between) {
                            *self = Self::Behind(decoder.into_inner());
                        }
                    }
                    read => return Ok(read),
                },
                Self::Behind(source) => {
                    let bytes = source.fill_buf()?;
                    if bytes.is_empty() {
                        return Ok(0);
                    }
                    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
                    let is_padding = zeros == bytes.len();
                    source.consume(zeros);
                    if !is_padding && let Self::Behind(source) = std::mem::replace(self, Self::Between) {
                        *self = Self::Inside(Box::new(GzDecoder::new(source)));
                    }
                }
                Self::Between => return Ok(0),
            }
        }
    }
}

/// Reads a stream of zlib to its end, and nothing behind.
///
/// flate2's own reader takes the end of a source for that of the stream.
struct Inflate<R> {
    source: BufReader<Counted<R>>,
    decompress: Decompress,
    ended: bool,
}

impl<R: Read> Read for Inflate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let input = self.source.fill_buf()?;
            if self.ended {
                return match input.is_empty() {
                    true => Ok(0),
                    false => Err(invalid("bytes after the end of the stream")),
                };
            }
            let (read_before, written_before) = (self.decompress.total_in(), self.decompress.total_out());
            let status = self.decompress.decompress(input, buffer, FlushDecompress::None);
            let cut_off = input.is_empty();
            // Both are parts of slices.
            let part = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
            let read = part(self.decompress.total_in() - read_before);
            let written = part(self.decompress.total_out() - written_before);
            self.source.consume(read);
            match status {
                Err(_) => return Err(invalid("corrupt stream")),
                Ok(Status::StreamEnd) => self.ended = true,
                Ok(_) => {}
            }
            if written > 0 {
                return Ok(written);
            }
            match (self.ended, cut_off, read) {
                (true, ..) => {}
                (false, true, _) => return Err(io::ErrorKind::UnexpectedEof.into()),
                (false, false, 0) => return Err(invalid("corrupt stream")),
                (false, false, _) => {}
            }
        }
    }
}

/// Where framed records go.
pub(super) enum Output<W: Write> {
    Plain(W),
    Gzip(Box<GzEncoder<W>>),
    Zlib(Box<ZlibEncoder<W>>),
}

impl<W: Write> Output<W> {
    pub(super) fn new(dest: W, compression: TfRecordCompression) -> Self {
        let level = Compression::default();
        match compression {
            TfRecordCompression::None => Self::Plain(dest),
            TfRecordCompression::Gzip => Self::Gzip(Box::new(GzEncoder::new(dest, level))),
            TfRecordCompression::Zlib => Self::Zlib(Box::new(ZlibEncoder::new(dest, level))),
        }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(dest) => dest.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
            Self::Zlib(encoder) => encoder.write_all(bytes),
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(dest) => dest.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zlib(encoder) => encoder.flush(),
        }
    }

    /// Ends the stream, flushes, and returns what was written to.
    pub(super) fn finish(self) -> io::Result<W> {
        let mut dest = match self {
            Self::Plain(dest) => dest,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zlib(encoder) => encoder.finish()?,
        };
        dest.flush()?;
        Ok(dest)
    }
}

fn buffered<R: Read>(source: Counted<R>) -> BufReader<Counted<R>> {
    BufReader::with_capacity(64 << 10, source)
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
