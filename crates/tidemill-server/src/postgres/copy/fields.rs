//! Lines of fields: the formats text and CSV of COPY ("File Formats" in the documentation of COPY).

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::{Field, Schema};
use tidemill_postgres::wire::{ValueFormat, parameters};
use tidemill_postgres::{Error, Type};

use super::{CopyFormat, CopyOptions};

/// Rows per batch.
const BATCH: usize = 8192;
/// Limits the memory for a line that does not end.
const LONGEST_LINE: usize = 256 << 20;

/// Parses fields from data that arrives in pieces.
pub(super) struct Fields {
    options: CopyOptions,
    /// Column by column, a value for each row.
    columns: Vec<Vec<Option<String>>>,
    rows: usize,
    /// The number of rows in earlier batches.
    before: u64,
    /// The incomplete last line.
    line: Vec<u8>,
    /// Whether the incomplete line ends within quotes.
    is_quoted: bool,
    skips_header: bool,
    /// The names that a header must have, if it is checked.
    names: Vec<String>,
    is_at_end: bool,
}

impl Fields {
    pub(super) fn new(options: CopyOptions, columns: usize) -> Self {
        Self {
            skips_header: options.has_header,
            options,
            columns: vec![Vec::new(); columns],
            rows: 0,
            before: 0,
            line: Vec::new(),
            is_quoted: false,
            names: Vec::new(),
            is_at_end: false,
        }
    }

    /// Sets the names that a header must have.
    pub(super) fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// The number of rows in earlier batches.
    pub(super) fn rows_before(&self) -> u64 {
        self.before
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= BATCH
    }

    /// Takes the parsed rows, column by column.
    pub(super) fn take(&mut self) -> Vec<Vec<Option<String>>> {
        self.before += self.rows as u64;
        self.rows = 0;
        let count = self.columns.len();
        std::mem::replace(&mut self.columns, vec![Vec::new(); count])
    }

    /// Parses the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while let Some(end) = self.end_of_line(rest) {
            let (line, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.line.extend_from_slice(line);
            let line = std::mem::take(&mut self.line);
            self.read(&line)?;
            rest = behind.get(1..).unwrap_or_default();
        }
        self.line.extend_from_slice(rest);
        match self.line.len() > LONGEST_LINE {
            true => Err(self.wrong(
                format!("a line of at most {LONGEST_LINE} bytes"),
                "one that does not end",
            )),
            false => Ok(()),
        }
    }

    /// Parses the last line, which may lack its end.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        if self.is_quoted {
            return Err(self.wrong("a quote at the end of the last field", "the end of the data"));
        }
        let line = std::mem::take(&mut self.line);
        match line.is_empty() {
            true => Ok(()),
            false => self.read(&line),
        }
    }

    /// The offset of the line's end in these bytes, which follow the incomplete line.
    fn end_of_line(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.options.format != CopyFormat::Csv {
            return bytes.iter().position(|byte| *byte == b'\n');
        }
        // A doubled quote within a field ends and reopens the quoting; any other escape character hides the quote after it.
        let mut is_escaped = false;
        for (at, byte) in bytes.iter().enumerate() {
            if is_escaped {
                is_escaped = false;
            } else if self.is_quoted && self.options.escape != self.options.quote && *byte == self.options.escape {
                is_escaped = true;
            } else if *byte == self.options.quote {
                self.is_quoted = !self.is_quoted;
            } else if *byte == b'\n' && !self.is_quoted {
                return Some(at);
            }
        }
        None
    }

    fn read(&mut self, line: &[u8]) -> Result<(), Error> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if std::mem::take(&mut self.skips_header) {
            return self.check_header(line);
        }
        self.is_at_end |= line == b"\\.";
        if self.is_at_end {
            return Ok(());
        }
        let values = self.values(line);
        let values: Vec<Option<Vec<u8>>> = match (self.columns.len(), line.is_empty()) {
            (0, true) => Vec::new(),
            _ => values,
        };
        if values.len() != self.columns.len() {
            let (expected, found) = (self.columns.len(), values.len());
            return Err(self.wrong(format!("{expected} fields"), format!("{found}")));
        }
        for (place, value) in values.into_iter().enumerate() {
            let value = value.map(String::from_utf8).transpose();
            let value = value.map_err(|fault| self.wrong("UTF-8", fault.utf8_error().to_string()))?;
            if let Some(column) = self.columns.get_mut(place) {
                column.push(value);
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn values(&self, line: &[u8]) -> Vec<Option<Vec<u8>>> {
        match self.options.format {
            CopyFormat::Csv => csv(line, &self.options),
            _ => text(line, &self.options),
        }
    }

    /// Checks that a header names the columns, without regard to case, if it must.
    fn check_header(&self, line: &[u8]) -> Result<(), Error> {
        if !self.options.header_matches {
            return Ok(());
        }
        let found = self.values(line).into_iter().map(Option::unwrap_or_default);
        let found: Vec<String> = found.map(|name| String::from_utf8_lossy(&name).into_owned()).collect();
        let is_same = found.len() == self.names.len()
            && found
                .iter()
                .zip(&self.names)
                .all(|(found, name)| found.eq_ignore_ascii_case(name));
        match is_same {
            true => Ok(()),
            false => Err(self.wrong(format!("a header of {}", self.names.join(", ")), found.join(", "))),
        }
    }

    fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::Value {
            place: "COPY".to_owned(),
            row: self.before + self.rows as u64 + 1,
            column: "(the line)".to_owned(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// The fields of a line of the format text.
fn text(line: &[u8], options: &CopyOptions) -> Vec<Option<Vec<u8>>> {
    let (mut fields, mut raw) = (Vec::new(), Vec::new());
    let mut bytes = line.iter();
    let mut ended = false;
    while !ended {
        raw.clear();
        loop {
            match bytes.next() {
                None => {
                    ended = true;
                    break;
                }
                Some(byte) if *byte == options.delimiter => break,
                Some(b'\\') => {
                    raw.push(b'\\');
                    raw.extend(bytes.next());
                }
                Some(byte) => raw.push(*byte),
            }
        }
        // NULL is recognised in the raw text, before escapes are decoded.
        fields.push((raw != options.null.as_bytes()).then(|| unescaped(&raw)));
    }
    fields
}

fn unescaped(raw: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            value.push(byte);
            continue;
        }
        let Some(escaped) = bytes.next() else {
            value.push(b'\\');
            break;
        };
        value.push(match escaped {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'x' if bytes.peek().is_some_and(u8::is_ascii_hexdigit) => number(&mut bytes, 0, 16, 2),
            b'0'..=b'7' => number(&mut bytes, u32::from(escaped - b'0'), 8, 2),
            other => other,
        });
    }
    value
}

/// A byte given by a digit and up to `most` further ones.
fn number(bytes: &mut std::iter::Peekable<impl Iterator<Item = u8>>, first: u32, base: u32, most: usize) -> u8 {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = bytes.peek().and_then(|byte| char::from(*byte).to_digit(base)) else {
            break;
        };
        bytes.next();
        value = value * base + digit;
    }
    u8::try_from(value & 0xff).unwrap_or(0)
}

/// The fields of a line of the format CSV.
fn csv(line: &[u8], options: &CopyOptions) -> Vec<Option<Vec<u8>>> {
    let mut fields = Vec::new();
    let mut bytes = line.iter().copied().peekable();
    loop {
        let (mut value, mut was_quoted, mut is_quoted, mut ended) = (Vec::new(), false, false, false);
        loop {
            let Some(byte) = bytes.next() else {
                ended = true;
                break;
            };
            let next_is_special =
                |next: Option<&u8>| next.is_some_and(|next| *next == options.quote || *next == options.escape);
            if is_quoted && byte == options.escape && next_is_special(bytes.peek()) {
                value.extend(bytes.next());
            } else if byte == options.quote {
                is_quoted = !is_quoted;
                was_quoted = true;
            } else if byte == options.delimiter && !is_quoted {
                break;
            } else {
                value.push(byte);
            }
        }
        let is_null = !was_quoted && value == options.null.as_bytes();
        fields.push((!is_null).then_some(value));
        if ended {
            return fields;
        }
    }
}

/// Appends the text of a value that is not null.
///
/// In CSV it is quoted if necessary, or if `is_quoted` is set.
pub(super) fn push_field(value: &[u8], options: &CopyOptions, is_quoted: bool, out: &mut Vec<u8>) {
    if options.format != CopyFormat::Csv {
        for byte in value {
            let escape = match byte {
                b'\\' => b'\\',
                8 => b'b',
                12 => b'f',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                11 => b'v',
                byte if *byte == options.delimiter => *byte,
                byte => {
                    out.push(*byte);
                    continue;
                }
            };
            out.extend_from_slice(&[b'\\', escape]);
        }
        return;
    }
    let is_special = |byte: &u8| {
        *byte == options.delimiter || *byte == options.quote || *byte == options.escape || matches!(byte, b'\n' | b'\r')
    };
    // A line `\.` ends the data.
    let needs_quotes = is_quoted || value == options.null.as_bytes() || value == b"\\." || value.iter().any(is_special);
    if !needs_quotes {
        return out.extend_from_slice(value);
    }
    out.push(options.quote);
    for byte in value {
        if *byte == options.quote || *byte == options.escape {
            out.push(options.escape);
        }
        out.push(*byte);
    }
    out.push(options.quote);
}

/// Decodes the text of `bytea` columns, such as `\x00ff`.
pub(super) fn with_bytes(batch: &RecordBatch, types: &[Type]) -> Result<RecordBatch, Error> {
    if !types.contains(&Type::Bytea) {
        return Ok(batch.clone());
    }
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for ((array, field), typ) in batch.columns().iter().zip(batch.schema_ref().fields()).zip(types) {
        let array: ArrayRef = match typ {
            Type::Bytea => {
                let values = array.as_string::<i32>().iter().map(|text| {
                    let Some(text) = text else { return Ok(None) };
                    let value = parameters(&[(Type::Bytea, ValueFormat::Text, Some(text.as_bytes()))])?;
                    Ok(value
                        .columns()
                        .first()
                        .map(|bytes| bytes.as_binary::<i32>().value(0).to_vec()))
                });
                Arc::new(
                    values
                        .collect::<Result<Vec<_>, Error>>()?
                        .iter()
                        .map(Option::as_deref)
                        .collect::<BinaryArray>(),
                )
            }
            _ => Arc::clone(array),
        };
        fields.push(Field::new(field.name(), array.data_type().clone(), true));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|fault| Error::Unsupported {
        what: fault.to_string(),
        hint: "copy the rows in binary".to_owned(),
    })
}

/// Adds the rows of earlier batches to the row number of an error.
pub(super) fn counted_from(mut fault: Error, before: u64) -> Error {
    if let Error::Value { row, .. } = &mut fault {
        *row += before;
    }
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(format: CopyFormat) -> CopyOptions {
        CopyOptions::of_format(format)
    }

    fn read(format: CopyFormat, columns: usize, data: &[u8], piece: usize) -> Result<Vec<Vec<Option<String>>>, Error> {
        let mut fields = Fields::new(options(format), columns);
        for piece in data.chunks(piece) {
            fields.feed(piece)?;
        }
        fields.finish()?;
        Ok(fields.take())
    }

    #[test]
    fn fields_are_read_whatever_pieces_they_come_in() {
        let some = |text: &str| Some(text.to_owned());
        let csv = b"a,\"b\"\"c\nd\"\r\n,\"\"\n\"x,y\",z\n";
        let text = b"a\tb\\tc\\\\\n\\N\t\n\\x41\\102\tz\n";
        for piece in [1, 2, 3, 100] {
            let found = read(CopyFormat::Csv, 2, csv, piece).expect("csv");
            assert_eq!(
                found,
                [
                    vec![some("a"), None, some("x,y")],
                    vec![some("b\"c\nd"), some(""), some("z")]
                ]
            );
        }
        for piece in [1, 2, 3, 100] {
            let found = read(CopyFormat::Text, 2, text, piece).expect("text");
            assert_eq!(
                found,
                [
                    vec![some("a"), None, some("AB")],
                    vec![some("b\tc\\"), some(""), some("z")]
                ]
            );
        }
    }

    #[test]
    fn a_header_has_to_match_where_it_is_asked_to() {
        for (header, is_right) in [("A,b", true), ("b,a", false), ("a", false), ("a,b,c", false)] {
            let options = CopyOptions {
                has_header: true,
                header_matches: true,
                ..options(CopyFormat::Csv)
            };
            let mut fields = Fields::new(options, 2).with_names(vec!["a".to_owned(), "b".to_owned()]);
            let fed = fields.feed(format!("{header}\n1,2\n").as_bytes());
            assert_eq!(fed.is_ok(), is_right, "{header}");
        }
    }

    #[test]
    fn wrong_lines_are_told() {
        for (format, data) in [
            (CopyFormat::Csv, &b"a\n"[..]),
            (CopyFormat::Csv, b"a,\"b\n"),
            (CopyFormat::Text, b"a\tb\tc\n"),
            (CopyFormat::Text, b"a\t\xff\n"),
        ] {
            let error = read(format, 2, data, 100).expect_err("wrong").to_string();
            assert!(error.contains("row 1"), "{error}");
        }
        assert!(read(CopyFormat::Text, 2, b"a\tb\n\\.\nx\n", 100).is_ok());
    }

    #[test]
    fn what_is_written_is_read_back() {
        for format in [CopyFormat::Csv, CopyFormat::Text] {
            for value in ["", "a", "\\N", "a,b\t\"c\"\n\r\\", "\\.", "ä"] {
                let mut line = Vec::new();
                push_field(value.as_bytes(), &options(format), false, &mut line);
                line.push(b'\n');
                let found = read(format, 1, &line, 1).expect("a line");
                assert_eq!(found, [[Some(value.to_owned())]], "{format:?} {value:?}");
            }
        }
    }
}
