//! Text that somebody else wrote, on its way to a person.
//!
//! A terminal obeys control characters: they move the cursor, clear the screen, set its title or answer for the person who sits there
//! (ECMA-48, section 8.3). Others reorder the letters of a line (Unicode Standard Annex 9, "Directional Formatting Characters") or
//! are not seen at all.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The text with what a terminal would obey, or a reader could not see, spelled out: `\x1b`, `\u{202e}`. Line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match u32::from(letter) {
            _ if !is_obeyed(letter) => shown.push(letter),
            // Writing to a string does not fail.
            number @ 0..0x100 => drop(write!(shown, "\\x{number:02x}")),
            number => drop(write!(shown, "\\u{{{number:x}}}")),
        }
    }
    Cow::Owned(shown)
}

/// Whether a letter is obeyed or hidden rather than shown.
fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        // C0 and C1.
        letter if letter.is_control() => true,
        // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs; what has no width.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => true,
        _ => false,
    }
}

/// Writes text to a terminal as [`printable`] shows it, a line at a time. Carriage returns before a line's end stay.
///
/// What is not UTF-8 goes out with `\u{fffd}` in its place.
#[derive(Debug)]
pub struct TerminalWriter<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> TerminalWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, line: Vec::new() }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let text = String::from_utf8_lossy(&self.line);
        let (text, end) = match text.strip_suffix("\r\n") {
            Some(text) => (text, "\r\n"),
            None => (&*text, ""),
        };
        let written = self.out.write_all(printable(text).as_bytes());
        let written = written.and_then(|()| self.out.write_all(end.as_bytes()));
        self.line.clear();
        written
    }
}

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.write_line()?;
        }
        self.out.flush()
    }
}

impl<W: Write> Drop for TerminalWriter<W> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        for (text, shown) in [
            ("plain, ünïcode 漢字 🙂", "plain, ünïcode 漢字 🙂"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
            ("a\rb\u{9b}2J\u{7f}", r"a\x0db\x9b2J\x7f"),
            ("gnp.\u{202e}exe", r"gnp.\u{202e}exe"),
            ("zero\u{200b}width\u{feff}", r"zero\u{200b}width\u{feff}"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn lines_that_come_in_pieces_are_shown_whole() {
        let mut shown = Vec::new();
        let mut writer = TerminalWriter::new(&mut shown);
        for piece in ["a,\u{1b}".as_bytes(), b"[2J\r", b"\n\xc3", b"\xbc,x"] {
            writer.write_all(piece).expect("written");
        }
        drop(writer);
        assert_eq!(String::from_utf8_lossy(&shown), "a,\\x1b[2J\r\nü,x");
    }

    proptest! {
        #[test]
        fn nothing_that_is_shown_is_obeyed(text in any::<String>()) {
            let shown = printable(&text);
            prop_assert!(!shown.contains(is_obeyed));
            prop_assert_eq!(printable(&shown), shown.clone());
        }
    }
}
