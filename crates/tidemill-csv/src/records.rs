//! A text in records, and these in values.

use std::io::Read;

use memchr::{memchr, memchr_iter, memchr3};

use crate::error::{Error, Fault, Result, SAY_HOW};

/// The most bytes of one record: a file without an end of a line, or with a quote that is never closed, is not read into memory.
pub(crate) const MOST: usize = 32 << 20;

/// The most values of one record.
const MOST_VALUES: usize = 100_000;

/// The records of a text.
pub(crate) struct Records<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    is_at_end: bool,
    delimiter: u8,
    quote: Option<u8>,
    /// Of the first byte of the buffer.
    offset: u64,
    /// Of the next byte, counted from 1.
    line: u64,
    /// Where the last record began.
    line_of_record: u64,
    /// What begins here or behind it is no record of this part.
    end: u64,
}

/// Values of records, one behind another.
#[derive(Default)]
pub(crate) struct Values {
    text: Vec<u8>,
    ends: Vec<usize>,
    is_quoted: Vec<bool>,
}

impl Values {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.is_quoted.clear();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where their text ends.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// A value, and whether it stood in quotes.
    pub(crate) fn get(&self, at: usize) -> (&[u8], bool) {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        (&self.text[begin..self.ends[at]], self.is_quoted[at])
    }

    fn end_value(&mut self, is_quoted: bool) {
        self.ends.push(self.text.len());
        self.is_quoted.push(is_quoted);
    }

    /// Leaves out what is behind the first `values`, whose text ends at `bytes`.
    fn truncate(&mut self, values: usize, bytes: usize) {
        self.text.truncate(bytes);
        self.ends.truncate(values);
        self.is_quoted.truncate(values);
    }

    /// All as text; the values begin and end at letters, where the whole is UTF-8.
    pub(crate) fn text(&self) -> Result<&str, usize> {
        std::str::from_utf8(&self.text).map_err(|error| error.valid_up_to())
    }

    pub(crate) fn range(&self, at: usize) -> (usize, usize) {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        (begin, self.ends[at])
    }

    pub(crate) fn is_quoted(&self, at: usize) -> bool {
        self.is_quoted[at]
    }
}

/// What ends a value.
#[derive(PartialEq, Eq)]
enum End {
    Value,
    Record,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(input: R, delimiter: u8, quote: Option<u8>) -> Self {
        Self {
            input,
            buffer: vec![0; CHUNK],
            at: 0,
            filled: 0,
            is_at_end: false,
            delimiter,
            quote,
            offset: 0,
            line: 1,
            line_of_record: 1,
            end: u64::MAX,
        }
    }

    /// Ends before the first record that begins at `end` or behind it.
    pub(crate) fn until(mut self, end: u64) -> Self {
        self.end = end;
        self
    }

    /// The line in which the last record began, counted from 1.
    pub(crate) fn line_of_record(&self) -> u64 {
        self.line_of_record
    }

    /// How many bytes were passed.
    pub(crate) fn position(&self) -> u64 {
        self.offset + self.at as u64
    }

    /// Passes the rest of a line, which began before this text.
    pub(crate) fn pass_line(&mut self) -> Result<()> {
        let mut passed = Values::default();
        loop {
            if self.unquoted(&mut passed, 0)? == End::Record {
                return Ok(());
            }
            passed.clear();
        }
    }

    /// Appends the values of the next record, and says how many they are; `None` at the end. An empty line is no record, unless
    /// records `have_one` value.
    pub(crate) fn next(&mut self, values: &mut Values, have_one: bool) -> Result<Option<usize>> {
        loop {
            if self.peek()?.is_none() || self.position() >= self.end {
                return Ok(None);
            }
            let (first, begin) = (values.len(), values.bytes());
            self.line_of_record = self.line;
            let mut is_quoted;
            loop {
                is_quoted = self.quote.is_some() && self.peek()? == self.quote;
                if is_quoted {
                    self.at += 1;
                    self.quoted(values, begin)?;
                }
                let end = self.unquoted(values, begin)?;
                values.end_value(is_quoted);
                if values.len() - first > MOST_VALUES {
                    return Err(fault(
                        self.line_of_record,
                        format!("a record of more than {MOST_VALUES} values"),
                    ));
                }
                if end == End::Record {
                    break;
                }
            }
            let count = values.len() - first;
            if count > 1 || have_one || is_quoted || values.bytes() > begin {
                return Ok(Some(count));
            }
            values.truncate(first, begin);
        }
    }

    /// The rest of a value outside of quotes.
    fn unquoted(&mut self, values: &mut Values, begin: usize) -> Result<End> {
        loop {
            let rest = &self.buffer[self.at..self.filled];
            let Some(found) = self.end_of_value(rest) else {
                values.text.extend_from_slice(rest);
                self.at = self.filled;
                self.check(values, begin)?;
                match self.fill()? {
                    true => continue,
                    false => return Ok(End::Record),
                }
            };
            values.text.extend_from_slice(&rest[..found]);
            let ends_with = rest[found];
            self.at += found + 1;
            if ends_with == self.delimiter {
                return Ok(End::Value);
            }
            if ends_with == b'\r' && self.peek()? == Some(b'\n') {
                self.at += 1;
            }
            self.line += 1;
            return Ok(End::Record);
        }
    }

    /// Where a value outside of quotes ends. Most are short, for which setting up a search takes longer than looking.
    #[inline]
    fn end_of_value(&self, rest: &[u8]) -> Option<usize> {
        const SHORT: usize = 16;
        let is_end = |byte: &u8| *byte == self.delimiter || *byte == b'\n' || *byte == b'\r';
        let begin = rest.iter().take(SHORT).position(is_end);
        begin.or_else(|| {
            let behind = rest.get(SHORT..)?;
            Some(SHORT + memchr3(self.delimiter, b'\n', b'\r', behind)?)
        })
    }

    /// What stands in quotes, behind the one that opens it.
    fn quoted(&mut self, values: &mut Values, begin: usize) -> Result<()> {
        let (quote, line) = (self.quote.unwrap_or_default(), self.line);
        loop {
            let rest = &self.buffer[self.at..self.filled];
            let found = memchr(quote, rest);
            let passed = &rest[..found.unwrap_or(rest.len())];
            values.text.extend_from_slice(passed);
            self.line += memchr_iter(b'\n', passed).count() as u64;
            self.at += passed.len();
            if found.is_none() {
                self.check(values, begin)?;
                if self.fill()? {
                    continue;
                }
                let what = "a quote is opened and never closed".to_owned();
                return Err(fault(line, what));
            }
            self.at += 1;
            if self.peek()? != Some(quote) {
                return Ok(());
            }
            values.text.push(quote);
            self.at += 1;
        }
    }

    fn check(&self, values: &Values, begin: usize) -> Result<()> {
        match values.bytes() - begin > MOST {
            true => {
                let what = format!("a record of more than {} MiB, without the end of a line", MOST >> 20);
                Err(fault(self.line_of_record, what))
            }
            false => Ok(()),
        }
    }

    #[inline]
    fn peek(&mut self) -> Result<Option<u8>> {
        match self.at < self.filled || self.fill()? {
            true => Ok(self.buffer.get(self.at).copied()),
            false => Ok(None),
        }
    }

    /// Reads on, where everything was passed; `false` at the end.
    fn fill(&mut self) -> Result<bool> {
        if self.is_at_end {
            return Ok(false);
        }
        self.offset += self.filled as u64;
        (self.at, self.filled) = (0, 0);
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(0) => {
                    self.is_at_end = true;
                    return Ok(false);
                }
                Ok(read) => {
                    self.filled = read;
                    return Ok(true);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

pub(crate) fn fault(line: u64, what: String) -> Error {
    Error::Fault(Fault {
        line,
        what,
        hint: SAY_HOW,
    })
}

/// Bytes that are read at once: as many as callers' buffers have, which then are passed by.
const CHUNK: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, quote: Option<u8>) -> Result<Vec<Vec<String>>> {
        let mut records = Records::new(text.as_bytes(), b',', quote);
        let mut all = Vec::new();
        let mut values = Values::default();
        while let Some(count) = records.next(&mut values, false)? {
            let of_record = (0..count).map(|at| {
                let (value, is_quoted) = values.get(at);
                let value = String::from_utf8_lossy(value).into_owned();
                if is_quoted { format!("<{value}>") } else { value }
            });
            all.push(of_record.collect());
            values.clear();
        }
        Ok(all)
    }

    #[test]
    fn values_are_told_apart() {
        let lists: [(&str, &[&[&str]]); 14] = [
            ("", &[]),
            ("\n\n", &[]),
            ("a,b\n1,2", &[&["a", "b"], &["1", "2"]]),
            ("a,b\r\n1,2\r\n", &[&["a", "b"], &["1", "2"]]),
            ("a\rb\r", &[&["a"], &["b"]]),
            ("a,\n", &[&["a", ""]]),
            ("a,", &[&["a", ""]]),
            (",\n,", &[&["", ""], &["", ""]]),
            ("\"a,b\",\"c\nd\"\n", &[&["<a,b>", "<c\nd>"]]),
            ("\"it is \"\"so\"\"\",\"\"\n", &[&["<it is \"so\">", "<>"]]),
            ("\"\"\n", &[&["<>"]]),
            ("5\" pipe,6\"\n", &[&["5\" pipe", "6\""]]),
            ("\"a\"b,c\n", &[&["<ab>", "c"]]),
            ("a\n\n\nb\n", &[&["a"], &["b"]]),
        ];
        for (text, expected) in lists {
            assert_eq!(read(text, Some(b'"')).expect(text), expected, "{text:?}");
        }
        assert_eq!(read("\"a,b\n", None).expect("letters"), [["\"a", "b"]]);
    }

    #[test]
    fn what_has_no_end_is_an_error_with_its_line() {
        let error = read("a\nb,\"c\nd", Some(b'"')).expect_err("open").to_string();
        assert!(
            error.starts_with("line 2: a quote is opened and never closed"),
            "{error}"
        );
        let mut records = Records::new(std::io::repeat(b'x'), b',', Some(b'"'));
        let error = records
            .next(&mut Values::default(), false)
            .expect_err("endless")
            .to_string();
        assert!(error.starts_with("line 1: a record of more than 32 MiB"), "{error}");
    }
}
