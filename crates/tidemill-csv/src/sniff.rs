//! What the beginning of a file tells of how it is written.

use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;

use arrow_schema::{Field, Fields, Schema};

use crate::dialect::{Dialect, Look};
use crate::error::{Error, Fault, Result, TOO_FEW, TOO_MANY};
use crate::options::CsvOptions;
use crate::records::{Records, Values};
use crate::types::Kind;
use crate::{Encoding, Packing};

/// How many records, at the beginning of a file, tell the types of its columns.
pub const LOOKED_AT: usize = 10_000;

/// How many bytes of text are looked at.
const SAMPLE: u64 = 1 << 20;
/// How many records tell the delimiter.
const COUNTED: usize = 1000;
/// How many records tell one delimiter from another by the types of their values.
const TYPED: usize = 100;
const DELIMITERS: [u8; 4] = *b",;\t|";

impl Look {
    /// Looks at the beginning of a file, given as it is stored. `usual` is the delimiter that its name tells.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io); [`Error::Fault`](crate::Error::Fault) for a text that is no table by any delimiter.
    pub fn at<'a>(file: impl Read + Send + 'a, options: &CsvOptions, usual: u8) -> Result<Self> {
        let mut file: Box<dyn Read + Send + 'a> = Box::new(file);
        let mut beginning = Vec::new();
        file.by_ref().take(4).read_to_end(&mut beginning)?;
        let packing = Packing::of_beginning(&beginning);
        let mut stored = packing.unpacked(std::io::Cursor::new(beginning).chain(file))?;
        let mut bytes = Vec::new();
        stored.by_ref().take(SAMPLE).read_to_end(&mut bytes)?;
        let is_whole = bytes.len() < SAMPLE as usize;
        let encoding = match (Encoding::of_mark(&bytes), options.encoding) {
            (Some(marked), _) => marked,
            (None, Some(said)) => said,
            (None, None) => Encoding::of_text(&bytes),
        };
        let mut text = Vec::new();
        encoding.decoded(Box::new(bytes.as_slice())).read_to_end(&mut text)?;
        let quote = options.quote.unwrap_or(Some(b'"'));
        let sep_line = sep_line(&text, quote);
        let sample = Sample {
            text,
            is_whole,
            has_sep_line: sep_line.is_some(),
        };

        let delimiter = match options.delimiter.or(sep_line) {
            Some(delimiter) => delimiter,
            None => sample.delimiter(usual, quote),
        };
        let (records, uneven) = sample.records(delimiter, quote, LOOKED_AT + 1)?;
        let decimal = match options.decimal {
            Some(decimal) => decimal,
            None if delimiter != b',' && has_decimal_commas(&records) => b',',
            None => b'.',
        };
        let has_header = options.header.unwrap_or_else(|| has_header(&records, decimal));
        if let Some(Uneven { line, count }) = uneven {
            let expected = records.first().map_or(0, Vec::len);
            return Err(other_count(line, expected, count, has_header));
        }
        let names = names(records.first().filter(|_| has_header), &records);
        let rows = records.get(usize::from(has_header)..).unwrap_or_default();
        let mut has_values = Vec::with_capacity(names.len());
        let fields = names.into_iter().enumerate().map(|(column, name)| {
            let mut values = rows
                .iter()
                .filter_map(|row| row.get(column))
                .filter(|value| !value.is_empty())
                .peekable();
            has_values.push(values.peek().is_some());
            let kind = match options.all_text {
                true => Kind::Text,
                false => values.fold(Kind::Nothing, |kind, value| match kind {
                    Kind::Text => kind,
                    _ => kind.and(Kind::of(value, decimal)),
                }),
            };
            Field::new(name, kind.data_type(), true)
        });
        let fields: Fields = fields.collect();
        Ok(Self {
            columns: Arc::new(Schema::new(fields)),
            has_values,
            begin: sample.begin(delimiter, quote, has_header)?,
            dialect: Dialect {
                packing,
                encoding,
                delimiter,
                quote,
                has_sep_line: sample.has_sep_line,
                has_header,
                decimal,
            },
        })
    }
}

/// A record that has another number of values than the first.
struct Uneven {
    line: u64,
    count: usize,
}

struct Sample {
    text: Vec<u8>,
    is_whole: bool,
    has_sep_line: bool,
}

impl Sample {
    /// The delimiter by which every record has as many values as the first: the one with the most values, of equals the one by which more
    /// of them are no text, then the usual one. Where there is none, the one by which most records have as many.
    fn delimiter(&self, usual: u8, quote: Option<u8>) -> u8 {
        let others = DELIMITERS.into_iter().filter(|delimiter| *delimiter != usual);
        let mut best = ((false, 0, 0, 0), usual);
        for delimiter in std::iter::once(usual).chain(others) {
            let Ok(counts) = self.counts(delimiter, quote) else {
                continue;
            };
            let Some(&first) = counts.first().filter(|first| **first > 1) else {
                continue;
            };
            let same = counts.iter().filter(|count| **count == first).count();
            let is_even = same == counts.len();
            let (values, agreeing) = if is_even { (first, 0) } else { (0, same) };
            let weight = (is_even, values, agreeing, self.typed(delimiter, quote));
            if weight > best.0 {
                best = (weight, delimiter);
            }
        }
        best.1
    }

    /// How many values of the first records are no text.
    fn typed(&self, delimiter: u8, quote: Option<u8>) -> usize {
        let (records, _) = self
            .records(delimiter, quote, TYPED)
            .ok()
            .filter(|(_, uneven)| uneven.is_none())
            .unwrap_or_default();
        let is_typed = |value: &&String| {
            let decimals = if delimiter == b',' { &b"."[..] } else { b".," };
            decimals.iter().any(|decimal| Kind::of(value, *decimal) != Kind::Text)
        };
        records.iter().flatten().filter(is_typed).count()
    }

    /// How many values the first records have.
    fn counts(&self, delimiter: u8, quote: Option<u8>) -> Result<Vec<usize>> {
        let (mut records, mut values) = (self.reader(delimiter, quote)?, Values::default());
        let mut counts = Vec::new();
        while counts.len() < COUNTED {
            match records.next(&mut values, false) {
                Ok(Some(count)) => counts.push(count),
                Ok(None) => break,
                // The sample may end within quotes.
                Err(_) if !self.is_whole && !counts.is_empty() => return Ok(counts),
                Err(error) => return Err(error),
            }
            values.clear();
        }
        if !self.is_whole && counts.len() > 1 && counts.len() < COUNTED {
            counts.pop();
        }
        Ok(counts)
    }

    /// Where what follows the header begins.
    fn begin(&self, delimiter: u8, quote: Option<u8>, has_header: bool) -> Result<u64> {
        let mut records = self.reader(delimiter, quote)?;
        if has_header {
            records.next(&mut Values::default(), false)?;
        }
        Ok(records.position())
    }

    /// All records.
    fn reader(&self, delimiter: u8, quote: Option<u8>) -> Result<Records<&[u8]>> {
        let mut records = Records::new(self.text.as_slice(), delimiter, quote);
        if self.has_sep_line {
            records.pass_line()?;
        }
        Ok(records)
    }

    /// The first records, up to one that has another number of values than the first.
    fn records(&self, delimiter: u8, quote: Option<u8>, most: usize) -> Result<(Vec<Vec<String>>, Option<Uneven>)> {
        let (mut reader, mut values) = (self.reader(delimiter, quote)?, Values::default());
        let mut records: Vec<Vec<String>> = Vec::new();
        while records.len() < most {
            values.clear();
            let have_one = records.first().is_some_and(|first| first.len() == 1);
            let count = match reader.next(&mut values, have_one) {
                Ok(Some(count)) => count,
                Ok(None) => break,
                Err(_) if !self.is_whole && !records.is_empty() => return Ok((records, None)),
                Err(error) => return Err(error),
            };
            let is_cut = !self.is_whole && reader.position() == self.text.len() as u64;
            if is_cut && !records.is_empty() {
                break;
            }
            if let Some(first) = records.first()
                && first.len() != count
            {
                let line = reader.line_of_record();
                return Ok((records, Some(Uneven { line, count })));
            }
            records.push(
                (0..count)
                    .map(|at| String::from_utf8_lossy(values.get(at).0).into_owned())
                    .collect(),
            );
        }
        Ok((records, None))
    }
}

/// The delimiter that the first line tells Excel: `sep=;`.
fn sep_line(text: &[u8], quote: Option<u8>) -> Option<u8> {
    let (&delimiter, rest) = text.strip_prefix(b"sep=")?.split_first()?;
    let is_alone = matches!(rest, [] | [b'\r' | b'\n', ..]);
    let divides = delimiter.is_ascii() && !matches!(delimiter, b'\r' | b'\n' | b'"') && quote != Some(delimiter);
    (is_alone && divides).then_some(delimiter)
}

/// What is wrong with a record of another number of values.
pub(crate) fn other_count(line: u64, expected: usize, found: usize, has_header: bool) -> Error {
    let fields = if found == 1 { "field" } else { "fields" };
    let first = if has_header { "header" } else { "first line" };
    Error::Fault(Fault {
        line,
        what: format!("{found} {fields}, and the {first} has {expected}"),
        hint: if found < expected { TOO_FEW } else { TOO_MANY },
    })
}

/// Whether numbers have a comma before their fraction, and none has a point.
fn has_decimal_commas(records: &[Vec<String>]) -> bool {
    let values = || records.iter().flatten().map(String::as_str);
    let is_number = |value: &str, decimal| matches!(Kind::of(value, decimal), Kind::Number(_));
    values().any(|value| is_number(value, b',') && value.contains(','))
        && !values().any(|value| is_number(value, b'.') && value.contains('.'))
}

/// Whether the first record has names: unless a value of it is of the type of the values below it, and none is text above values that
/// are not.
fn has_header(records: &[Vec<String>], decimal: u8) -> bool {
    let Some((first, rows)) = records.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return true;
    };
    let mut is_like_values = false;
    for (column, name) in first.iter().enumerate() {
        let values = rows
            .iter()
            .filter_map(|row| row.get(column))
            .filter(|value| !value.is_empty());
        let below = values.fold(Kind::Nothing, |kind, value| kind.and(Kind::of(value, decimal)));
        if matches!(below, Kind::Nothing | Kind::NotFinite | Kind::Text) || name.is_empty() {
            continue;
        }
        // `inf` above numbers is a name.
        match Kind::of(name, decimal) {
            Kind::NotFinite => return true,
            kind if below.and(kind) == Kind::Text => return true,
            _ => is_like_values = true,
        }
    }
    !is_like_values
}

/// Names that differ from each other, whatever their case: those of the header, `column3` where there is none, and `name_2` for the second
/// of the same.
fn names(header: Option<&Vec<String>>, records: &[Vec<String>]) -> Vec<String> {
    let columns = records.first().map_or(0, Vec::len);
    let mut used = HashSet::new();
    let names = (0..columns).map(|column| {
        let name = match header.and_then(|header| header.get(column)).map(|name| name.trim()) {
            None | Some("") => format!("column{}", column + 1),
            Some(name) => name.to_owned(),
        };
        let mut unique = name.clone();
        let mut number = 2;
        while !used.insert(unique.to_lowercase()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &[u8]) -> Look {
        Look::at(text, &CsvOptions::NONE, b',').expect("a table")
    }

    fn shown(look: &Look) -> String {
        let fields = look.columns.fields().iter();
        let columns: Vec<String> = fields
            .map(|field| format!("{}:{}", field.name(), field.data_type()))
            .collect();
        columns.join(" ")
    }

    #[test]
    fn the_delimiter_and_the_header_are_found() {
        for (text, dialect, columns) in [
            ("a,b\n1,x\n", "delimiter ,, header, utf-8", "a:Int64 b:Utf8"),
            (
                "a;b\n1;2,5\n",
                "delimiter ;, decimal comma, header, utf-8",
                "a:Int64 b:Float64",
            ),
            ("a;b\n1;2.5\n", "delimiter ;, header, utf-8", "a:Int64 b:Float64"),
            (
                "a\tb\n1\t2,5\n",
                "delimiter tab, decimal comma, header, utf-8",
                "a:Int64 b:Float64",
            ),
            ("a|b|c\n1|2|3", "delimiter |, header, utf-8", "a:Int64 b:Int64 c:Int64"),
            (
                "id,tags\n1,a;b;c\n2,d;e;f\n",
                "delimiter ,, header, utf-8",
                "id:Int64 tags:Utf8",
            ),
            ("\"x;y\",b\n1,2\n", "delimiter ,, header, utf-8", "x;y:Int64 b:Int64"),
            ("a\n1\n2\n", "delimiter ,, header, utf-8", "a:Int64"),
            (
                "1,2\n3,4\n",
                "delimiter ,, no header, utf-8",
                "column1:Int64 column2:Int64",
            ),
            (
                "x,2\ny,4\n",
                "delimiter ,, no header, utf-8",
                "column1:Utf8 column2:Int64",
            ),
            (
                "name,2019\nx,4\n",
                "delimiter ,, no header, utf-8",
                "column1:Utf8 column2:Int64",
            ),
            ("name,city\nx,y\n", "delimiter ,, header, utf-8", "name:Utf8 city:Utf8"),
            ("1,2\n", "delimiter ,, header, utf-8", "1:Utf8 2:Utf8"),
            (
                "a,a,A,a_2,\n1,2,3,4,5\n",
                "delimiter ,, header, utf-8",
                "a:Int64 a_2:Int64 A_3:Int64 a_2_2:Int64 column5:Int64",
            ),
            ("zip\n00123\n", "delimiter ,, header, utf-8", "zip:Utf8"),
            ("a\n\n", "delimiter ,, header, utf-8", "a:Utf8"),
            ("", "delimiter ,, header, utf-8", ""),
            ("\u{FEFF}a,b\n1,2\n", "delimiter ,, header, utf-8", "a:Int64 b:Int64"),
        ] {
            let found = look(text.as_bytes());
            assert_eq!(found.dialect.to_string(), dialect, "{text:?}");
            assert_eq!(shown(&found), columns, "{text:?}");
        }
    }

    #[test]
    fn what_is_said_overrules_the_look() {
        let said = |options: &str| {
            let options = CsvOptions::parse(options).expect(options);
            shown(&Look::at(&b"1;2,5\n3;4,5\n"[..], &options, b',').expect("a table"))
        };
        assert_eq!(said(""), "column1:Int64 column2:Float64");
        assert_eq!(said("header=yes"), "1:Int64 2,5:Float64");
        assert_eq!(said("delim=,"), "column1:Utf8 column2:Int64");
        assert_eq!(said("types=text"), "column1:Utf8 column2:Utf8");
        assert_eq!(said("decimal=point"), "column1:Int64 column2:Utf8");
    }

    #[test]
    fn a_record_of_another_length_is_told_with_its_line() {
        let error = Look::at(&b"a,b\n1,2\n\n3\n"[..], &CsvOptions::NONE, b',')
            .expect_err("uneven")
            .to_string();
        assert!(error.starts_with("line 4: 1 field, and the header has 2; "), "{error}");
    }
}
