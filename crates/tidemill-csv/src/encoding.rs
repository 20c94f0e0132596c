//! How the letters of a file are stored.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use tidemill_xbase::CodePage;

/// How the letters of a file are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As bytes of a code page, UTF-8 among them.
    Page(CodePage),
    /// As units of two bytes, the low one first.
    Utf16Le,
    /// As units of two bytes, the high one first.
    Utf16Be,
}

impl Encoding {
    /// UTF-8.
    pub const UTF8: Self = Self::Page(CodePage::Utf8);

    /// The mark at the beginning of a file that says its encoding.
    fn mark(self) -> &'static [u8] {
        match self {
            Self::Page(CodePage::Utf8) => b"\xEF\xBB\xBF",
            Self::Utf16Le => b"\xFF\xFE",
            Self::Utf16Be => b"\xFE\xFF",
            Self::Page(_) => b"",
        }
    }

    /// The encoding that a mark at the beginning tells.
    pub(crate) fn of_mark(beginning: &[u8]) -> Option<Self> {
        [Self::UTF8, Self::Utf16Le, Self::Utf16Be]
            .into_iter()
            .find(|encoding| beginning.starts_with(encoding.mark()))
    }

    /// The encoding by the look of a text's beginning: UTF-16 by its zeros, UTF-8 where all of it is, else the code page whose letters
    /// make words.
    pub(crate) fn of_text(beginning: &[u8]) -> Self {
        if let Some(marked) = Self::of_mark(beginning) {
            return marked;
        }
        let zeros = |at: usize| beginning.iter().skip(at).step_by(2).filter(|byte| **byte == 0).count();
        let pairs = beginning.len() / 2;
        if pairs > 1 {
            // Texts in letters of Latin have a zero for each.
            match (zeros(0), zeros(1)) {
                (0, low) if low * 2 > pairs => return Self::Utf16Le,
                (high, 0) if high * 2 > pairs => return Self::Utf16Be,
                _ => {}
            }
        }
        match std::str::from_utf8(beginning) {
            Ok(_) => Self::UTF8,
            // The sample may end within a letter.
            Err(error) if error.error_len().is_none() => Self::UTF8,
            Err(_) => {
                let words = beginning.split(|byte| !byte.is_ascii_alphabetic() && byte.is_ascii());
                let words: Vec<&[u8]> = words.filter(|word| !word.is_ascii()).collect();
                Self::Page(CodePage::guess(&words, CodePage::Cp1252))
            }
        }
    }

    /// The text as UTF-8, without its mark.
    pub(crate) fn decoded<'a>(self, bytes: Box<dyn Read + Send + 'a>) -> Box<dyn Read + Send + 'a> {
        let unmarked = Unmarked {
            inner: bytes,
            mark: self.mark(),
            held: Vec::new(),
            at: 0,
            is_begun: false,
        };
        match self {
            Self::Page(CodePage::Utf8) => Box::new(unmarked),
            encoding => Box::new(Decoded {
                inner: unmarked,
                encoding,
                raw: Vec::new(),
                text: Vec::new(),
                at: 0,
                is_at_end: false,
            }),
        }
    }

    /// Appends `text`, as it is stored.
    ///
    /// # Errors
    ///
    /// The letter that the encoding does not have.
    pub(crate) fn encode(self, text: &str, out: &mut Vec<u8>) -> Result<(), char> {
        match self {
            Self::Page(CodePage::Utf8) => out.extend_from_slice(text.as_bytes()),
            Self::Page(page) => return page.encode(text, out),
            Self::Utf16Le => text.encode_utf16().for_each(|unit| out.extend(unit.to_le_bytes())),
            Self::Utf16Be => text.encode_utf16().for_each(|unit| out.extend(unit.to_be_bytes())),
        }
        Ok(())
    }

    /// What a file that is written begins with: the mark, where the encoding cannot be told without it.
    pub(crate) fn written_mark(self) -> &'static [u8] {
        match self {
            Self::Page(_) => b"",
            marked => marked.mark(),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(page) => f.write_str(page.name()),
            Self::Utf16Le => f.write_str("utf-16le"),
            Self::Utf16Be => f.write_str("utf-16be"),
        }
    }
}

impl FromStr for Encoding {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
            "utf16" | "utf16le" => Ok(Self::Utf16Le),
            "utf16be" => Ok(Self::Utf16Be),
            _ => name.parse().map(Self::Page).map_err(|_| ()),
        }
    }
}

/// Bytes without the mark that they may begin with.
struct Unmarked<'a> {
    inner: Box<dyn Read + Send + 'a>,
    mark: &'static [u8],
    /// What was read to look for the mark.
    held: Vec<u8>,
    at: usize,
    is_begun: bool,
}

impl Read for Unmarked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_begun {
            let wanted = self.mark.len().saturating_sub(self.held.len()) as u64;
            self.inner.by_ref().take(wanted).read_to_end(&mut self.held)?;
            self.is_begun = true;
            if self.held == self.mark {
                self.held.clear();
            }
        }
        let held = self.held.get(self.at..).unwrap_or_default();
        if held.is_empty() {
            return self.inner.read(buffer);
        }
        let read = held.len().min(buffer.len());
        buffer[..read].copy_from_slice(&held[..read]);
        self.at += read;
        Ok(read)
    }
}

/// Text of a code page or of UTF-16 as UTF-8. What cannot be decoded is U+FFFD.
struct Decoded<'a> {
    inner: Unmarked<'a>,
    encoding: Encoding,
    raw: Vec<u8>,
    text: Vec<u8>,
    at: usize,
    is_at_end: bool,
}

impl Decoded<'_> {
    /// How many of the bytes that are there end with a whole letter.
    fn whole(&self) -> usize {
        match self.encoding {
            _ if self.is_at_end => self.raw.len(),
            // In pages of several bytes the end of a line is never a part of a letter.
            Encoding::Page(page) if page.is_multibyte() => {
                self.raw.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
            }
            Encoding::Page(_) => self.raw.len(),
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let even = self.raw.len() & !1;
                let last = self.raw.get(even.wrapping_sub(2)..even).map(|unit| self.unit(unit));
                match last {
                    Some(0xD800..=0xDBFF) => even - 2,
                    _ => even,
                }
            }
        }
    }

    fn unit(&self, bytes: &[u8]) -> u16 {
        match (self.encoding, bytes) {
            (Encoding::Utf16Be, [high, low]) | (_, [low, high]) => u16::from_le_bytes([*low, *high]),
            _ => u16::from(u8::MAX),
        }
    }
}

impl Read for Decoded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() && !self.is_at_end {
            let begin = self.raw.len();
            self.raw.resize(begin + CHUNK, 0);
            let read = self.inner.read(&mut self.raw[begin..]);
            self.raw.truncate(begin + *read.as_ref().unwrap_or(&0));
            self.is_at_end = read? == 0;
            let whole = self.whole();
            if whole == 0 && self.raw.len() > crate::records::MOST {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line without an end"));
            }
            let text = match self.encoding {
                Encoding::Page(page) => page.decode(&self.raw[..whole]),
                _ => char::decode_utf16(self.raw[..whole].chunks(2).map(|unit| self.unit(unit)))
                    .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect(),
            };
            self.raw.drain(..whole);
            self.text = text.into_bytes();
            self.at = 0;
        }
        let rest = &self.text[self.at..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.at += read;
        Ok(read)
    }
}

/// Bytes that are decoded at once.
const CHUNK: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives a byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let wanted = buffer.len().min(1);
            Read::read(&mut self.0, &mut buffer[..wanted])
        }
    }

    #[test]
    fn text_comes_back_from_every_encoding() {
        let utf16 = [Encoding::Utf16Le, Encoding::Utf16Be];
        let pages = CodePage::all().map(Encoding::Page);
        for encoding in pages.chain(utf16) {
            for text in ["", "a;b\n1;2\n", "é\n", "日本\nd", "ж", "𝄞\n𝄞"] {
                let mut stored = encoding.written_mark().to_vec();
                if encoding.encode(text, &mut stored).is_err() {
                    continue;
                }
                for is_slow in [false, true] {
                    let bytes: Box<dyn Read + Send> = match is_slow {
                        true => Box::new(Slow(&stored)),
                        false => Box::new(stored.as_slice()),
                    };
                    let mut found = String::new();
                    encoding.decoded(bytes).read_to_string(&mut found).expect("text");
                    assert_eq!(found, text, "{encoding}");
                }
                assert_eq!(encoding.to_string().parse(), Ok(encoding));
            }
        }
    }

    #[test]
    fn the_look_of_a_text_tells_its_encoding() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        for (bytes, expected) in [
            (b"a,b\n1,2".to_vec(), Encoding::UTF8),
            (b"\xEF\xBB\xBFa,b".to_vec(), Encoding::UTF8),
            ("Größe".as_bytes().to_vec(), Encoding::UTF8),
            (b"\xC3".to_vec(), Encoding::UTF8),
            (
                b"name;ort\nM\xFCller;K\xF6ln\nJ\xE4ger;L\xFCbeck\n".to_vec(),
                Encoding::Page(CodePage::Cp1252),
            ),
            (
                b"name;ort\nM\x81ller;K\x94ln\nJ\x84ger;L\x81beck\n".to_vec(),
                Encoding::Page(CodePage::Cp850),
            ),
            (utf16("name;ort\nx;y"), Encoding::Utf16Le),
            ([&b"\xFF\xFE"[..], &utf16("日本")].concat(), Encoding::Utf16Le),
            (Vec::new(), Encoding::UTF8),
        ] {
            let found = Encoding::of_text(&bytes);
            let is_dos = |encoding| matches!(encoding, Encoding::Page(CodePage::Cp850 | CodePage::Cp437));
            assert!(
                found == expected || is_dos(found) && is_dos(expected),
                "{bytes:?}: {found}"
            );
        }
    }
}
