//! JSON files: one object per line, objects over several lines, or an array of objects; compressed or not.
//!
//! The first [`LOOKED_AT`] records of each file determine the columns; of a small file, all of them. A key that occurs only in later
//! records is an error if all columns are read. A batch ends at [`BATCH_BYTES`] of text, so that batches of long records take no more
//! memory.

mod shape;
mod text;
mod whole;

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_json::reader::infer_json_schema_from_iterator;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use memchr::memchr_iter;
use serde::de::IgnoredAny;
use tidemill_csv::Packing;
use tidemill_riegeli::{SharedSource, Source};

use self::shape::{Record, Shape};
use self::text::{Form, Pieces, Stop, opened, values, whole_lines};
use self::whole::Records;
use crate::ads_connection::blocking;
use crate::engine::{Batches, Chosen, Engine, EngineTable, Request, estimated_rows};
use crate::location::{Location, Place, SourceReader};
use crate::options::SessionOptions;
use crate::{Error, Result};

/// The number of records that determine the columns.
const LOOKED_AT: usize = 10_000;

/// Files up to this size are read completely to determine the columns.
const SMALL_FILE: u64 = 4 << 20;

/// The most text that is read to determine the columns.
const LOOKED_AT_BYTES: u64 = 32 << 20;

/// The most text of a batch.
const BATCH_BYTES: usize = 8 << 20;

/// The default limit of a record's length.
const MAX_RECORD: u64 = 32 << 20;

/// The default limit of values in a record that is longer than a batch.
const MAX_VALUES: usize = 2_000_000;

/// The most keys in all records, including nested ones.
const MAX_COLUMNS: usize = 100_000;

/// Smaller files are read by a single thread.
const DIVIDED_FROM: u64 = 1 << 20;

pub(super) async fn open(location: &Location, options: &SessionOptions) -> Result<Arc<dyn TableProvider>> {
    let sources = location.sources().await?;
    let limits = match options.reads_long_lines() {
        true => Limits {
            record: u64::MAX,
            values: usize::MAX,
        },
        false => Limits {
            record: MAX_RECORD,
            values: MAX_VALUES,
        },
    };
    let place = location.to_string();
    // Reading blocks, which is not allowed on a thread of the runtime.
    blocking(move || {
        let sources = sources.into_iter().filter_map(|(file, source)| Some((file, source?)));
        let files = sources.map(|(file, source)| File::open(&file, source, limits));
        let files: Vec<File> = files.collect::<Result<_>>()?;
        let schema = Arc::new(columns(&place, &files)?);
        let engines = files.into_iter().map(|file| JsonEngine {
            file: Arc::new(file),
            schema: Arc::clone(&schema),
            divisible: OnceLock::new(),
        });
        let table: Arc<dyn TableProvider> = Arc::new(EngineTable::new(place, engines.collect())?);
        Ok(table)
    })
    .await
}

/// The columns of the first records of the files, in order of appearance, as are the members of their values.
fn columns(place: &str, files: &[File]) -> Result<Schema> {
    let mut failed = None;
    let mut values = files.iter().flat_map(|file| match file.first_records() {
        Ok(values) => values,
        Err(error) => Box::new(std::iter::once(Err(error))),
    });
    let (mut shape, mut members) = (Shape::default(), 0);
    let values = std::iter::from_fn(|| match values.next()? {
        Ok(Record(record)) => {
            members += shape.add(record.shape);
            if members > MAX_COLUMNS {
                failed.get_or_insert(Error::Json {
                    place: place.to_owned(),
                    at: "first records".to_owned(),
                    what: format!("more than {MAX_COLUMNS} different keys, and each is a column; write keys that are data as values"),
                });
                return None;
            }
            Some(Ok(record.value))
        }
        Err(error) => {
            failed.get_or_insert(error);
            None
        }
    });
    let schema = infer_json_schema_from_iterator(values);
    match (failed, schema) {
        (Some(error), _) => Err(error),
        (None, Ok(schema)) => Ok(Schema::new(shape.fields(schema.fields()))),
        (None, Err(error)) => Err(Error::Json {
            place: place.to_owned(),
            at: "first records".to_owned(),
            what: told(&error),
        }),
    }
}

/// The limits of a record.
#[derive(Clone, Copy)]
struct Limits {
    /// Its length in bytes.
    record: u64,
    /// Its values, if it is longer than a batch.
    values: usize,
}

/// One file.
struct File {
    name: String,
    source: SharedSource,
    is_local: bool,
    packing: Packing,
    form: Form,
    limits: Limits,
    /// The mean length of the first records, if measured.
    record_bytes: Option<u64>,
}

impl File {
    fn open(file: &Location, source: SharedSource, limits: Limits) -> Result<Self> {
        let name = file.to_string();
        let looked = opened(SourceReader::new(Arc::clone(&source)));
        let (_, packing, form) = looked.map_err(Error::io(&name, "read"))?;
        let mut file = Self {
            name,
            is_local: matches!(file.place, Place::File(_)),
            source,
            packing,
            form,
            limits,
            record_bytes: None,
        };
        // For an object, the beginning would be fetched again.
        if file.is_local {
            file.record_bytes = Some(file.first_lines()?);
        }
        Ok(file)
    }

    /// The text from its beginning.
    fn text(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(opened(SourceReader::new(Arc::clone(&self.source)))?.0)
    }

    fn pieces(&self) -> Result<Pieces> {
        let text = self.text().map_err(Error::io(&self.name, "read"))?;
        Ok(Pieces::new(text, self.limits.record))
    }

    /// The mean length of the first lines.
    fn first_lines(&self) -> Result<u64> {
        let mut pieces = self.pieces()?;
        let piece = pieces.next().map_err(|stop| self.stopped(stop))?.unwrap_or_default();
        let lines = memchr_iter(b'\n', piece).count();
        Ok((piece.len() / lines.max(1)) as u64)
    }

    /// Lines that begin in a range of a file that is not compressed.
    fn pieces_of(&self, range: Range<u64>) -> Result<Pieces> {
        if range.start == 0 {
            let pieces = self.pieces()?;
            return pieces.between(0, range.end).map_err(|stop| self.stopped(stop));
        }
        let bytes = SourceReader::from(Arc::clone(&self.source), range.start - 1);
        let pieces = Pieces::new(Box::new(bytes), self.limits.record);
        pieces
            .between(range.start, range.end)
            .map_err(|stop| self.stopped(stop))
    }

    /// The first records, which determine the columns.
    fn first_records(&self) -> Result<Box<dyn Iterator<Item = Result<Record>> + '_>> {
        let text = self.text().map_err(Error::io(&self.name, "read"))?;
        let text = BufReader::new(text.take(self.looked_at_bytes()));
        let values = serde_json::Deserializer::from_reader(text).into_iter::<Record>();
        let values = values.take(self.looked_at()).enumerate();
        let values = values.map_while(move |(number, value)| match value {
            Ok(value) => Some(Ok(value)),
            // The limit of the text has cut a record.
            Err(error) if error.is_eof() && number > 0 => None,
            Err(error) if error.is_eof() && self.is_longer_than_looked_at() => {
                Some(Err(self.stopped(Stop::LongLine(0))))
            }
            Err(error) if error.is_io() => Some(Err(Error::io(&self.name, "read")(error.into()))),
            Err(error) => {
                let words = error.to_string();
                let words = words.split(" at line ").next().unwrap_or_default();
                Some(Err(self.fault(number as u64, error.line() as u64, words)))
            }
        });
        Ok(Box::new(values))
    }

    /// How many records determine the columns.
    fn looked_at(&self) -> usize {
        let is_small = self.source.size().is_ok_and(|size| size <= SMALL_FILE);
        match is_small && self.packing == Packing::None {
            true => usize::MAX,
            false => LOOKED_AT,
        }
    }

    fn looked_at_bytes(&self) -> u64 {
        LOOKED_AT_BYTES.max(self.limits.record)
    }

    /// Returns false if the file cannot be read; the scan reports that error.
    fn is_longer_than_looked_at(&self) -> bool {
        let length = self.text().and_then(|text| {
            io::copy(
                &mut text.take(self.looked_at_bytes().saturating_add(1)),
                &mut io::sink(),
            )
        });
        length.is_ok_and(|length| length > self.looked_at_bytes())
    }

    fn stopped(&self, stop: Stop) -> Error {
        match stop {
            Stop::Io(error) => Error::io(&self.name, "read")(error),
            Stop::LongLine(at) => Error::TooLarge {
                place: self.name.clone(),
                what: format!(
                    "the record at byte {at} is longer than {} MiB",
                    self.limits.record >> 20
                ),
            },
        }
    }

    /// An error in a record, named by its line, counted from 1, or in an array by the number of records before it.
    fn fault(&self, before: u64, line: u64, what: &str) -> Error {
        Error::Json {
            place: self.name.clone(),
            at: match self.form {
                Form::Lines => format!("line {line}"),
                Form::Array => format!("record {}", before + 1),
            },
            what: what.to_owned(),
        }
    }

    /// Finds the first record that cannot be decoded, starting at an offset in the text. `error` is the error of its batch.
    fn locate(&self, from: u64, (schema, is_strict): (&SchemaRef, bool), error: &ArrowError) -> Result<Error> {
        let mut pieces = self.pieces()?;
        let mut decoder = Records::new(schema, 1, is_strict)?;
        // Of the text so far, and of that before the record. Each array element is on its own line.
        let (mut lines, mut before) = (0, 0);
        loop {
            let place = pieces.place();
            let Some(mut piece) = pieces.next().map_err(|stop| self.stopped(stop))? else {
                return Ok(self.fault(before, before + 1, &told(error)));
            };
            let passed = usize::try_from(from.saturating_sub(place)).unwrap_or(usize::MAX);
            let (skipped, rest) = piece.split_at(passed.min(piece.len()));
            lines += memchr_iter(b'\n', skipped).count() as u64;
            piece = rest;
            while !piece.is_empty() {
                if decoder.is_empty() && !decoder.has_partial_record() {
                    let blanks = piece.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    lines += memchr_iter(b'\n', &piece[..blanks]).count() as u64;
                    (piece, before) = (&piece[blanks..], lines);
                }
                let decoded = decoder.decode(piece).and_then(|taken| {
                    if !decoder.has_partial_record() {
                        decoder.flush()?;
                    }
                    Ok(taken)
                });
                match decoded {
                    Ok(taken) => {
                        lines += memchr_iter(b'\n', &piece[..taken]).count() as u64;
                        piece = &piece[taken..];
                    }
                    Err(error) => return Ok(self.fault(before, before + 1, &told(&error))),
                }
            }
        }
    }
}

/// An error message without arrow-json's prefix.
fn told(error: &ArrowError) -> String {
    let words = match error {
        ArrowError::JsonError(words) => words.clone(),
        other => other.to_string(),
    };
    let late_key = words
        .split_once("column '")
        .and_then(|(_, rest)| rest.strip_suffix("' missing from schema"));
    match late_key {
        Some(key) => format!(
            "the first {LOOKED_AT} records have no key {key}, and they tell the columns; name the columns in a SELECT to leave it out, or \
             put a record with it first"
        ),
        None if words.contains("decoding field") => format!("{words}; the first {LOOKED_AT} records tell the types"),
        None => words,
    }
}

pub(super) struct JsonEngine {
    file: Arc<File>,
    /// The columns of all files.
    schema: SchemaRef,
    divisible: OnceLock<bool>,
}

impl JsonEngine {
    /// Whether this is a large local file with a whole record on its first line.
    fn looks_divisible(&self) -> bool {
        let file = &self.file;
        let is_large = file.source.size().is_ok_and(|size| size >= DIVIDED_FROM);
        let is_plain = file.is_local && file.packing == Packing::None && file.form == Form::Lines;
        is_large && is_plain && file.pieces().is_ok_and(|mut pieces| first_line_is_record(&mut pieces))
    }
}

fn first_line_is_record(pieces: &mut Pieces) -> bool {
    let Ok(Some(piece)) = pieces.next() else { return false };
    let mut lines = piece.split(|&byte| byte == b'\n');
    lines
        .find(|line| !line.trim_ascii().is_empty())
        .is_some_and(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok())
}

impl Engine for JsonEngine {
    fn scan_name(&self) -> &'static str {
        "JsonScan"
    }

    fn file(&self) -> String {
        self.file.name.clone()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn row_count(&self) -> Precision<usize> {
        let (size, is_packed) = (self.file.source.size().ok(), self.file.packing != Packing::None);
        let known = size.zip(self.file.record_bytes);
        known.map_or(Precision::Absent, |(size, length)| {
            estimated_rows(size, is_packed, length)
        })
    }

    fn row_bytes(&self) -> Option<u64> {
        self.file.record_bytes
    }

    fn divisible(&self) -> bool {
        *self.divisible.get_or_init(|| self.looks_divisible())
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let ((part, parts), batch_rows) = (request.part, request.batch_rows);
        let chosen = Chosen::needed(request);
        let needed = Arc::new(self.schema.project(chosen.columns())?);
        // Otherwise columns were left out on purpose.
        let is_strict = needed.fields().len() == self.schema.fields().len();
        let pieces = match parts {
            ..=1 => self.file.pieces()?,
            parts => {
                let size = self.file.source.size().map_err(Error::io(&self.file.name, "read"))?;
                let at = |part: usize| u64::try_from(u128::from(size) * part as u128 / parts as u128);
                self.file
                    .pieces_of(at(part).unwrap_or(size)..at(part + 1).unwrap_or(size))?
            }
        };
        Ok(Box::new(Rows {
            decoder: Records::new(&needed, batch_rows, is_strict)?,
            is_strict,
            flushed_at: pieces.place(),
            fed: pieces.place(),
            pieces,
            piece: Vec::new(),
            taken: 0,
            values: 0,
            file: Arc::clone(&self.file),
            needed,
            chosen,
            is_ended: false,
        }))
    }
}

struct Rows {
    decoder: Records,
    is_strict: bool,
    pieces: Pieces,
    /// The lines read last.
    piece: Vec<u8>,
    /// How many of their bytes the decoder has consumed.
    taken: usize,
    /// The values since the last batch, of lines longer than a batch.
    values: usize,
    /// Offsets in the text: the end of the last batch, and the end of the decoder's input.
    flushed_at: u64,
    fed: u64,
    file: Arc<File>,
    needed: SchemaRef,
    chosen: Chosen,
    is_ended: bool,
}

impl Rows {
    fn read_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.taken == self.piece.len() {
                self.taken = 0;
                self.piece.clear();
                match self.pieces.next().map_err(|stop| self.file.stopped(stop))? {
                    Some(piece) => self.piece.extend_from_slice(piece),
                    None => {
                        self.is_ended = true;
                        return self.flush();
                    }
                }
            }
            let (room, rest) = (BATCH_BYTES.saturating_sub(self.held()), &self.piece[self.taken..]);
            let lines = whole_lines(rest, room);
            if lines.len() > room {
                // A line longer than a batch becomes its own batch.
                if !self.decoder.is_empty() && !self.decoder.has_partial_record() {
                    return self.flush();
                }
                self.values += values(lines);
                if self.values > self.file.limits.values {
                    return Err(Error::TooLarge {
                        place: self.file.name.clone(),
                        what: format!(
                            "the record at byte {} has more than {} values",
                            self.flushed_at, self.file.limits.values
                        ),
                    });
                }
            }
            let (length, decoded) = (lines.len(), self.decoder.decode(lines));
            let taken = decoded.map_err(|error| self.located(&error))?;
            self.taken += taken;
            self.fed += taken as u64;
            match self.decoder.has_partial_record() {
                true if self.fed - self.flushed_at > self.file.limits.record.max(2 * BATCH_BYTES as u64) => {
                    return Err(self.file.stopped(Stop::LongLine(self.flushed_at)));
                }
                true => {}
                // The decoder accepts no more than a batch.
                false if taken < length || self.held() >= BATCH_BYTES => {
                    if let Some(batch) = self.flush()? {
                        return Ok(Some(batch));
                    }
                }
                false => {}
            }
        }
    }

    /// The decoder's input since the last batch, in bytes.
    fn held(&self) -> usize {
        usize::try_from(self.fed - self.flushed_at).unwrap_or(usize::MAX)
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>> {
        match self.decoder.flush() {
            Ok(batch) => {
                (self.flushed_at, self.values) = (self.fed, 0);
                Ok(batch)
            }
            Err(error) => Err(self.located(&error)),
        }
    }

    fn located(&self, error: &ArrowError) -> Error {
        self.file
            .locate(self.flushed_at, (&self.needed, self.is_strict), error)
            .unwrap_or_else(|error| error)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_ended || self.chosen.is_full() {
            return None;
        }
        let batch = match self.read_batch() {
            Ok(None) => return None,
            Ok(Some(batch)) => self.chosen.of(batch),
            Err(error) => Err(error),
        };
        self.is_ended |= batch.is_err();
        Some(batch)
    }
}
