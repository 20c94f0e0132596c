//! The text of a JSON file, in chunks of whole lines.

use std::io::{self, BufRead, BufReader, Read};

use memchr::{memchr, memchr3_iter, memrchr};
use tidemill_csv::Packing;

/// Bytes per read.
const CHUNK: usize = 1 << 20;

/// Opens the text of a file: decompressed, without a byte order mark, an array's elements one per line. Also returns the compression and
/// the form, both detected from the first bytes.
///
/// # Errors
///
/// Errors of reading or decompressing the file.
pub(super) fn opened(file: impl Read + Send + 'static) -> io::Result<(Box<dyn Read + Send>, Packing, Form)> {
    let mut file = BufReader::with_capacity(CHUNK, file);
    let packing = Packing::of_beginning(file.fill_buf()?);
    let mut unpacked = packing.unpacked(file)?;
    let mut beginning = Vec::new();
    let mark_length = BYTE_ORDER_MARK.len() as u64;
    unpacked.by_ref().take(mark_length).read_to_end(&mut beginning)?;
    if beginning == BYTE_ORDER_MARK {
        beginning.clear();
    }
    let mut text = BufReader::with_capacity(CHUNK, io::Cursor::new(beginning).chain(unpacked));
    let blanks = blanks(&mut text)?;
    Ok(match text.fill_buf()?.first() {
        Some(b'[') => (Box::new(Elements::of(text)), packing, Form::Array),
        _ => (Box::new(io::Cursor::new(blanks).chain(text)), packing, Form::Lines),
    })
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The whitespace before the first value, at most [`CHUNK`] bytes.
fn blanks(text: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut blanks = Vec::new();
    while blanks.len() < CHUNK {
        let bytes = text.fill_buf()?;
        let count = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        blanks.extend_from_slice(&bytes[..count]);
        let is_all = count == bytes.len() && count > 0;
        text.consume(count);
        if !is_all {
            break;
        }
    }
    Ok(blanks)
}

/// How the values of a file follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One after another, usually one per line.
    Lines,
    /// As the elements of one array.
    Array,
}

/// An array's elements as lines. Line ends within elements become blanks.
struct Elements<R> {
    text: R,
    depth: usize,
    in_string: bool,
    /// Whether a backslash escapes the next byte.
    is_escaped: bool,
    is_ended: bool,
}

impl<R: BufRead> Elements<R> {
    fn of(text: R) -> Self {
        Self {
            text,
            depth: 0,
            in_string: false,
            is_escaped: false,
            is_ended: false,
        }
    }

    /// The replacement of a byte.
    fn changed(&mut self, byte: u8) -> io::Result<u8> {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Ok(byte);
        }
        if self.is_ended && !byte.is_ascii_whitespace() {
            return Err(invalid("there is text behind the end of the array"));
        }
        Ok(match byte {
            b'\n' | b'\r' => b' ',
            b',' if self.depth == 1 => b'\n',
            b'[' | b'{' => {
                self.depth += 1;
                if self.depth == 1 { b' ' } else { byte }
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_ended = self.depth == 0;
                if self.is_ended { b' ' } else { byte }
            }
            b'"' => {
                self.in_string = true;
                byte
            }
            _ => byte,
        })
    }
}

impl<R: BufRead> Read for Elements<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        if read == 0 && !buffer.is_empty() && !self.is_ended {
            return Err(invalid("the array has no end"));
        }
        for byte in &mut buffer[..read] {
            *byte = self.changed(*byte)?;
        }
        Ok(read)
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The complete first lines of a text within `room` bytes; at least the first line.
pub(super) fn whole_lines(text: &[u8], room: usize) -> &[u8] {
    let Some((within, behind)) = text.split_at_checked(room) else {
        return text;
    };
    let end = memrchr(b'\n', within).or_else(|| memchr(b'\n', behind).map(|end| room + end));
    match end {
        Some(end) => &text[..=end],
        None => text,
    }
}

/// An estimate of the number of values: one per comma.
pub(super) fn values(lines: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, None);
    for at in memchr3_iter(b',', b'"', b'\\', lines) {
        match lines[at] {
            _ if escaped == Some(at) => {}
            b'\\' => escaped = Some(at + 1),
            b'"' => in_string = !in_string,
            _ => count += usize::from(!in_string),
        }
    }
    count
}

/// Reads a text in chunks of whole lines.
pub(super) struct Pieces {
    text: Box<dyn Read + Send>,
    held: Vec<u8>,
    /// How many of the held bytes were returned.
    given: usize,
    /// The offset of the first held byte.
    at: u64,
    /// Lines that begin at this offset or later belong to another part.
    end: u64,
    /// The longest line allowed, in bytes.
    max_line: u64,
    is_read: bool,
}

impl Pieces {
    pub(super) fn new(text: Box<dyn Read + Send>, max_line: u64) -> Self {
        Self {
            text,
            held: Vec::new(),
            given: 0,
            at: 0,
            end: u64::MAX,
            max_line,
            is_read: false,
        }
    }

    /// Restricts it to the lines that begin in `begin..end`. The text starts at `begin`, or one byte earlier unless that is 0.
    ///
    /// # Errors
    ///
    /// As [`Self::next`].
    pub(super) fn between(mut self, begin: u64, end: u64) -> Result<Self, Stop> {
        (self.at, self.end) = (begin, end);
        if let Some(before) = begin.checked_sub(1) {
            // A line that begins earlier belongs to the previous part.
            (self.at, self.end) = (before, begin);
            while self.next()?.is_some() {}
            self.drop_given();
            (self.end, self.is_read) = (end, self.is_read && self.held.is_empty());
        }
        Ok(self)
    }

    /// The offset after the lines returned so far.
    pub(super) fn place(&self) -> u64 {
        self.at + self.given as u64
    }

    /// The next whole lines; `None` at the end. The last line may lack its line end.
    ///
    /// # Errors
    ///
    /// Errors of the text; [`Stop::LongLine`].
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Stop> {
        self.drop_given();
        if self.at >= self.end {
            return Ok(None);
        }
        let mut looked_at = 0;
        loop {
            if let Some(length) = self.lines(looked_at) {
                self.given = length;
                return Ok(Some(&self.held[..length]));
            }
            looked_at = self.held.len();
            if looked_at as u64 > self.max_line {
                return Err(Stop::LongLine(self.at));
            }
            if self.is_read {
                self.given = looked_at;
                return Ok((looked_at > 0).then_some(&self.held));
            }
            self.read_more()?;
        }
    }

    fn drop_given(&mut self) {
        self.at += self.given as u64;
        self.held.drain(..self.given);
        self.given = 0;
    }

    /// The length of this part's whole lines among the held bytes. The first `first` bytes contain no line end.
    fn lines(&self, first: usize) -> Option<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        // The last line may extend beyond the part.
        match self.held.get(left - 1..) {
            Some(behind) => memchr(b'\n', behind).map(|end| left + end),
            None => memrchr(b'\n', &self.held[first..]).map(|end| first + end + 1),
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        let begin = self.held.len();
        self.held.resize(begin + CHUNK, 0);
        let read = loop {
            match self.text.read(&mut self.held[begin..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.held.truncate(begin + *read.as_ref().unwrap_or(&0));
        self.is_read = read? == 0;
        Ok(())
    }
}

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stop {
    Io(io::Error),
    /// The line at this offset exceeds the limit.
    LongLine(u64),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut pieces: Pieces) -> Result<String, Stop> {
        let mut text = String::new();
        while let Some(piece) = pieces.next()? {
            text.push_str(std::str::from_utf8(piece).expect("UTF-8"));
        }
        Ok(text)
    }

    /// Returns one byte at a time.
    struct Slow(io::Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn parts_have_each_line_once() {
        for text in ["", "{}", "{}\n", "{\"a\":1}\n\n{\"a\":22}\n{\"a\":333}", "\n\n\nx\n"] {
            for parts in 1..=text.len() + 2 {
                let mut found = String::new();
                for part in 0..parts {
                    let at = |part: usize| (text.len() * part / parts) as u64;
                    let (begin, end) = (at(part), at(part + 1));
                    let from = usize::try_from(begin.saturating_sub(1)).expect("a length");
                    let bytes = Slow(io::Cursor::new(text.as_bytes()[from..].to_vec()));
                    let pieces = Pieces::new(Box::new(bytes), 100).between(begin, end).expect("a part");
                    found += &all(pieces).expect("lines");
                }
                assert_eq!(found, text, "{parts} parts");
            }
        }
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (lines, expected) in [("", 0), ("[1,2,3]", 2), (r#"{"a,":"\\\",,","b\\":[1,2]}"#, 2)] {
            assert_eq!(values(lines.as_bytes()), expected, "{lines}");
        }
    }

    #[test]
    fn lines_are_cut_at_their_ends() {
        for (room, expected) in [
            (0, "a\n"),
            (2, "a\n"),
            (3, "a\n"),
            (5, "a\nbb\n"),
            (6, "a\nbb\n"),
            (9, "a\nbb\nccc"),
        ] {
            assert_eq!(whole_lines(b"a\nbb\nccc", room), expected.as_bytes(), "{room}");
        }
        assert_eq!(whole_lines(b"ccc", 1), b"ccc");
    }

    #[test]
    fn elements_become_lines() {
        for (array, expected) in [
            ("[]", "  "),
            (" [1,\n2 ]\n", " 1\n 2   "),
            (
                r#"[{"a":[1,2],"b":"],\"["},{}]"#,
                " {\"a\":[1,2],\"b\":\"],\\\"[\"}\n{} ",
            ),
        ] {
            let file = Slow(io::Cursor::new(array.as_bytes().to_vec()));
            let (mut text, _, form) = opened(file).expect("text");
            let mut found = String::new();
            text.read_to_string(&mut found).expect("an array");
            assert_eq!((form, found.as_str()), (Form::Array, expected), "{array}");
        }
        for (array, expected) in [("[1", "no end"), ("[1] 2", "behind")] {
            let (mut text, _, _) = opened(array.as_bytes()).expect("text");
            let error = text.read_to_string(&mut String::new()).expect_err(array);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn long_lines_and_marks_are_found() {
        let text = format!("\u{feff}{{}}\n{}\n", "x".repeat(3 * CHUNK));
        let (bytes, packing, form) = opened(Slow(io::Cursor::new(text.into_bytes()))).expect("text");
        assert_eq!((packing, form), (Packing::None, Form::Lines));
        let stop = all(Pieces::new(bytes, CHUNK as u64)).expect_err("a long line");
        assert!(matches!(stop, Stop::LongLine(3)), "{stop:?}");
    }
}
