//! Batches of a file.

use std::io::{self, Read};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use memchr::{memchr, memchr3};

use crate::dialect::{Dialect, Look};
use crate::error::{Error, Result};
use crate::misfit::misfit;
use crate::records::{Records, Values, fault};
use crate::sniff::other_count;
use crate::types::array;
use crate::{Encoding, Packing};

/// The batches of a file, or of a part of one.
pub struct CsvReader<'a> {
    records: Records<Box<dyn Read + Send + 'a>>,
    columns: SchemaRef,
    projected: SchemaRef,
    projection: Vec<usize>,
    decimal: u8,
    has_header: bool,
    batch_rows: usize,
    is_at_end: bool,
    values: Values,
    /// The lines of the records of a batch.
    lines: Vec<u64>,
}

/// Text of one batch, beyond which it ends before it has all its rows.
const BATCH_BYTES: usize = 8 << 20;

impl<'a> CsvReader<'a> {
    /// Reads a file, given as it is stored, with the columns of this look; `projection` are the numbers of those that are wanted.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::Fault`] of the header; [`Error::Arrow`] for a column that there is not.
    pub fn new(file: impl Read + Send + 'a, look: &Look, projection: &[usize], batch_rows: usize) -> Result<Self> {
        let text = look.dialect.encoding.decoded(look.dialect.packing.unpacked(file)?);
        let mut reader = Self::of_text(text, look, projection, batch_rows)?;
        if look.dialect.has_sep_line {
            reader.records.pass_line()?;
        }
        if look.dialect.has_header {
            reader.records.next(&mut reader.values, false)?;
            reader.values.clear();
        }
        Ok(reader)
    }

    /// Reads the records that begin in a part of a file which [`divides`]. `rest` are its bytes from the one before the part, and the part
    /// has `len` bytes. The first part of a file is the beginning of [`CsvReader::new`], as [`CsvReader::until`] has it.
    ///
    /// # Errors
    ///
    /// As [`CsvReader::new`].
    pub fn of_part(
        rest: impl Read + Send + 'a,
        len: u64,
        look: &Look,
        projection: &[usize],
        batch_rows: usize,
    ) -> Result<Self> {
        let mut reader = Self::of_text(Box::new(rest), look, projection, batch_rows)?;
        reader.records.pass_line()?;
        Ok(reader.until(len.saturating_add(1)))
    }

    /// Ends before the first record that begins at `end` or behind it, for files that [divide](divides).
    #[must_use]
    pub fn until(mut self, end: u64) -> Self {
        self.records = self.records.until(end);
        self
    }

    fn of_text(text: Box<dyn Read + Send + 'a>, look: &Look, projection: &[usize], batch_rows: usize) -> Result<Self> {
        let Dialect { delimiter, quote, .. } = look.dialect;
        Ok(Self {
            records: Records::new(text, delimiter, quote),
            columns: Arc::clone(&look.columns),
            projected: Arc::new(look.columns.project(projection)?),
            projection: projection.to_vec(),
            decimal: look.dialect.decimal,
            has_header: look.dialect.has_header,
            batch_rows: batch_rows.max(1),
            is_at_end: false,
            values: Values::default(),
            lines: Vec::new(),
        })
    }

    /// The columns of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.projected
    }

    /// The next batch; `None` at the end.
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let columns = self.columns.fields().len();
        self.values.clear();
        self.lines.clear();
        while self.lines.len() < self.batch_rows && self.values.bytes() < BATCH_BYTES {
            let Some(found) = self.records.next(&mut self.values, columns == 1)? else {
                break;
            };
            let line = self.records.line_of_record();
            if found != columns {
                return Err(other_count(line, columns, found, self.has_header));
            }
            self.lines.push(line);
        }
        let rows = self.lines.len();
        if rows == 0 {
            return Ok(None);
        }
        let (values, lines) = (&self.values, &self.lines);
        let text = values.text().map_err(|at| {
            let value = (0..values.len())
                .find(|value| values.range(*value).1 > at)
                .unwrap_or_default();
            let name = self.columns.field(value % columns).name();
            fault(
                lines[value / columns],
                format!("column {name}: bytes that are not UTF-8"),
            )
        })?;
        let arrays = self
            .projection
            .iter()
            .zip(self.projected.fields())
            .map(|(&column, field)| {
                let of_column = (0..rows).map(|row| {
                    let at = row * columns + column;
                    let (begin, end) = values.range(at);
                    let is_quoted = values.is_quoted(at);
                    (begin < end || is_quoted).then(|| (&text[begin..end], is_quoted))
                });
                array(field.data_type(), self.decimal, of_column).map_err(|row| {
                    let (begin, end) = values.range(row * columns + column);
                    let value = &text[begin..end];
                    let reason = misfit(field.data_type(), self.decimal, value);
                    let shown: String = value.chars().take(SHOWN).collect();
                    let what = format!("column {}: '{shown}' {reason}", field.name());
                    Error::Fault(crate::Fault {
                        line: lines[row],
                        what,
                        hint: "'FILE.csv?types=text' reads all columns as text",
                    })
                })
            });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema: Arc<Schema> = Arc::clone(&self.projected);
        Ok(Some(RecordBatch::try_new_with_options(schema, arrays, &options)?))
    }
}

/// Letters of a value that a message has.
const SHOWN: usize = 60;

impl Iterator for CsvReader<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_at_end {
            return None;
        }
        let batch = self.batch().transpose();
        self.is_at_end = !matches!(batch, Some(Ok(_)));
        batch
    }
}

/// Whether parts of a file can be read by themselves, each from the end of any line: places in the file are those in its text, for it is UTF-8
/// without a mark and not compressed, and no end of a line stands in quotes. Reads the file to its end, or to such an end of a line.
///
/// # Errors
///
/// What the system says.
pub fn divides(mut file: impl Read, dialect: &Dialect) -> io::Result<bool> {
    if dialect.packing != Packing::None || dialect.encoding != Encoding::UTF8 {
        return Ok(false);
    }
    let mut beginning = Vec::new();
    file.by_ref().take(3).read_to_end(&mut beginning)?;
    if Encoding::of_mark(&beginning).is_some() {
        return Ok(false);
    }
    let mut file = beginning.as_slice().chain(file);
    let Some(quote) = dialect.quote else { return Ok(true) };
    let mut buffer = vec![0; 1 << 18];
    // The byte before the next one, and whether it closed a value, which a quote behind it opens again.
    let (mut before, mut is_quoted, mut may_double) = (b'\n', false, false);
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = &buffer[..read];
        let mut at = 0;
        while at < read {
            if std::mem::take(&mut may_double) && bytes[at] == quote {
                is_quoted = true;
                before = quote;
                at += 1;
                continue;
            }
            let rest = &bytes[at..];
            let found = match is_quoted {
                true => memchr3(quote, b'\n', b'\r', rest),
                false => memchr(quote, rest),
            };
            let Some(found) = found else {
                before = rest.last().copied().unwrap_or(before);
                break;
            };
            let previous = found.checked_sub(1).map_or(before, |at| rest[at]);
            if is_quoted {
                if rest[found] != quote {
                    return Ok(false);
                }
                (is_quoted, may_double) = (false, true);
            } else if [dialect.delimiter, b'\n', b'\r'].contains(&previous) {
                is_quoted = true;
            }
            before = quote;
            at += found + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CsvOptions;

    #[test]
    fn line_breaks_in_quotes_are_found() {
        for (text, expected) in [
            ("a,b\n1,2\n", true),
            ("a,b\n1,\"it is \"\"so\"\"\"\n", true),
            ("a,b\n1,\"two\nlines\"\n", false),
            ("a,b\n5\" pipe,\"two\nlines\"\n", false),
            ("a,b\n5\" pipe,6\n", true),
            ("a,b\n\"x\"y,6\n", true),
            ("a,b\n\"\"\"\n\",6\n", false),
            ("\"a\nb\",b\n1,2\n", false),
        ] {
            let look = Look::at(text.as_bytes(), &CsvOptions::NONE, b',').expect(text);
            assert_eq!(
                divides(text.as_bytes(), &look.dialect).expect("read"),
                expected,
                "{text:?}"
            );
            // However the bytes come.
            let slow = text
                .as_bytes()
                .chunks(1)
                .fold(Box::new(io::empty()) as Box<dyn Read>, |rest, byte| {
                    Box::new(rest.chain(byte))
                });
            assert_eq!(divides(slow, &look.dialect).expect("read"), expected, "{text:?}");
        }
    }
}
