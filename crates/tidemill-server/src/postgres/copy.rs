//! `COPY … TO STDOUT` and `COPY … FROM STDIN` ([COPY][docs]): as text, as CSV, in binary.
//!
//! [docs]: https://www.postgresql.org/docs/15/sql-copy.html

mod fields;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{Schema, SchemaRef};
use bytes::{BufMut as _, Bytes, BytesMut};
use pgwire::error::PgWireError;
use sqlparser::ast::{CopyLegacyOption, CopyOption, CopySource, CopyTarget, Ident, Statement};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;
use tidemill_postgres::arrow_type::{column_type, field};
use tidemill_postgres::wire::{ValueFormat, WireRows};
use tidemill_postgres::{CopyReader, Type, copy_of_rows, rows_of_copy};
use tidemill_sql::{Ingest, Session};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use self::fields::{Fields, push_field};
use super::client::Client;
use super::command::{self, Sql};
use super::failure::{self, error};
use super::rows::Rows;

/// A parsed COPY.
#[derive(Clone, Debug)]
pub(crate) struct CopyStatement {
    what: What,
    pub(crate) options: CopyOptions,
}

#[derive(Clone, Debug)]
enum What {
    /// Rows of a query go to the client.
    Query(Sql),
    /// Rows of the client go into a table.
    Table { table: String, columns: Vec<String> },
}

/// How rows are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyOptions {
    pub(super) format: CopyFormat,
    pub(super) delimiter: u8,
    pub(super) null: String,
    pub(super) quote: u8,
    pub(super) escape: u8,
    pub(super) has_header: bool,
    /// Whether the header must name the columns.
    pub(super) header_matches: bool,
    /// The columns whose values are always quoted, `*` for all.
    pub(super) force_quote: Vec<String>,
}

/// The formats of COPY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyFormat {
    Text,
    Csv,
    Binary,
}

impl CopyOptions {
    fn of_format(format: CopyFormat) -> Self {
        let is_csv = format == CopyFormat::Csv;
        Self {
            format,
            delimiter: if is_csv { b',' } else { b'\t' },
            null: if is_csv { "" } else { "\\N" }.to_owned(),
            quote: b'"',
            escape: b'"',
            has_header: false,
            header_matches: false,
            force_quote: Vec::new(),
        }
    }

    /// The protocol's code of the format.
    pub(crate) fn code(&self) -> i8 {
        i8::from(self.format == CopyFormat::Binary)
    }
}

impl CopyStatement {
    /// The query whose rows are sent; `None` for COPY FROM.
    pub(crate) fn query(&self) -> Option<Sql> {
        match &self.what {
            What::Query(sql) => Some(sql.clone()),
            What::Table { .. } => None,
        }
    }
}

/// Parses a COPY.
///
/// # Errors
///
/// SQLSTATE 42601 for a text that is not a COPY, 42501 for files and programs of the server, 0A000 for an unknown option.
pub(super) fn parse(text: &str) -> Result<CopyStatement, PgWireError> {
    let wrong = |what: String| error("42601", what);
    let (statements, header_matches) = match in_words_of_parser(text) {
        Some((tokens, header_matches)) => {
            let mut parser = Parser::new(&PostgreSqlDialect {}).with_tokens(tokens);
            (parser.parse_statements(), header_matches)
        }
        None => (Parser::parse_sql(&PostgreSqlDialect {}, text), false),
    };
    let statements = statements.map_err(|fault| wrong(fault.to_string()))?;
    let [
        Statement::Copy {
            source,
            to,
            target,
            options,
            legacy_options,
            values: _,
        },
    ] = statements.as_slice()
    else {
        return Err(wrong("expected one COPY statement".to_owned()));
    };
    if matches!(target, CopyTarget::File { .. } | CopyTarget::Program { .. }) {
        return Err(failure::hinted(
            "42501",
            "COPY to or from a file of the server is not allowed",
            "use STDIN or STDOUT: psql's \\copy reads and writes files of the client",
        ));
    }
    let mut options = options_of(options, legacy_options)?;
    options.header_matches = header_matches;
    if header_matches && *to {
        return Err(error("0A000", "HEADER MATCH is of COPY … FROM STDIN alone"));
    }
    if !options.force_quote.is_empty() && (!*to || options.format != CopyFormat::Csv) {
        return Err(error("0A000", "FORCE_QUOTE is of COPY … TO STDOUT (FORMAT csv) alone"));
    }
    let what = match (source, to) {
        (CopySource::Query(query), true) => query_of(&query.to_string())?,
        (CopySource::Table { table_name, columns }, true) => {
            let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
            let columns = if columns.is_empty() {
                "*".to_owned()
            } else {
                columns.join(", ")
            };
            query_of(&format!("SELECT {columns} FROM {table_name}"))?
        }
        (CopySource::Table { table_name, columns }, false) => What::Table {
            table: command::plain_name(table_name),
            columns: columns.iter().map(|column| column.value.clone()).collect(),
        },
        (CopySource::Query(_), false) => return Err(wrong("COPY … FROM STDIN wants a table".to_owned())),
    };
    Ok(CopyStatement { what, options })
}

/// All columns, as FORCE_QUOTE has them.
const ALL: &str = "*";

/// Rewrites FORCE_QUOTE of all columns, and HEADER MATCH, for the parser. Returns the tokens, and whether it has HEADER MATCH; `None` for
/// other statements.
fn in_words_of_parser(text: &str) -> Option<(Vec<Token>, bool)> {
    let tokens: Vec<Token> = command::tokens(text)
        .ok()?
        .into_iter()
        .map(|token| token.token)
        .collect();
    let is_target = |token: &Token| is_word(Some(token), "STDIN") || is_word(Some(token), "STDOUT");
    let target = tokens.iter().rposition(is_target)?;
    let mut written: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut header_matches = false;
    for (place, token) in tokens.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|before| tokens.get(before));
        match token {
            Token::Mul if place > target && is_word(before, "FORCE_QUOTE") => {
                written.extend([Token::LParen, Token::make_word(ALL, Some('"')), Token::RParen]);
            }
            Token::Mul if place > target && is_word(before, "QUOTE") => {
                written.push(Token::make_word(ALL, Some('"')));
            }
            token if place > target && is_word(Some(token), "MATCH") && is_word(before, "HEADER") => {
                header_matches = true;
            }
            token => written.push(token.clone()),
        }
    }
    (written != tokens).then_some((written, header_matches))
}

/// Whether a token is this unquoted word.
fn is_word(token: Option<&Token>, wanted: &str) -> bool {
    match token {
        Some(Token::Word(word)) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted),
        _ => false,
    }
}

fn query_of(text: &str) -> Result<What, PgWireError> {
    match command::parse(text)? {
        command::Command::Sql(sql) => Ok(What::Query(sql)),
        _ => Err(error("0A000", "COPY of the catalogue is not supported")),
    }
}

fn options_of(given: &[CopyOption], legacy: &[CopyLegacyOption]) -> Result<CopyOptions, PgWireError> {
    let unknown = |what: String| error("0A000", format!("COPY: {what} is not supported"));
    let letter =
        |letter: char| u8::try_from(letter).map_err(|_| error("22023", format!("COPY: {letter:?} is not one byte")));
    let names = |columns: &[Ident]| columns.iter().map(|column| column.value.clone()).collect::<Vec<_>>();
    let mut format = CopyFormat::Text;
    for option in given {
        if let CopyOption::Format(name) = option {
            format = match name.value.to_lowercase().as_str() {
                "text" => CopyFormat::Text,
                "csv" => CopyFormat::Csv,
                "binary" => CopyFormat::Binary,
                other => return Err(error("22023", format!("COPY format {other:?} not recognized"))),
            };
        }
    }
    for option in legacy {
        match option {
            CopyLegacyOption::Binary => format = CopyFormat::Binary,
            CopyLegacyOption::Csv(_) => format = CopyFormat::Csv,
            _ => {}
        }
    }
    let mut options = CopyOptions::of_format(format);
    for option in given {
        match option {
            CopyOption::Format(_) | CopyOption::Freeze(_) => {}
            CopyOption::Delimiter(delimiter) => options.delimiter = letter(*delimiter)?,
            CopyOption::Null(null) => options.null.clone_from(null),
            CopyOption::Header(has_header) => options.has_header = *has_header,
            CopyOption::Quote(quote) => options.quote = letter(*quote)?,
            CopyOption::Escape(escape) => options.escape = letter(*escape)?,
            CopyOption::ForceQuote(columns) => options.force_quote = names(columns),
            CopyOption::Encoding(name) if name.replace('-', "").eq_ignore_ascii_case("utf8") => {}
            other => return Err(unknown(other.to_string())),
        }
    }
    for option in legacy {
        match option {
            CopyLegacyOption::Binary => {}
            CopyLegacyOption::Delimiter(delimiter) => options.delimiter = letter(*delimiter)?,
            CopyLegacyOption::Null(null) => options.null.clone_from(null),
            CopyLegacyOption::Header => options.has_header = true,
            CopyLegacyOption::Csv(parts) => {
                for part in parts {
                    use sqlparser::ast::CopyLegacyCsvOption as Csv;
                    match part {
                        Csv::Header => options.has_header = true,
                        Csv::Quote(quote) => options.quote = letter(*quote)?,
                        Csv::Escape(escape) => options.escape = letter(*escape)?,
                        Csv::ForceQuote(columns) => options.force_quote = names(columns),
                        other => return Err(unknown(other.to_string())),
                    }
                }
            }
            other => return Err(unknown(other.to_string())),
        }
    }
    Ok(options)
}

/// Rows that are sent to a client.
pub(crate) struct Out {
    rows: Rows,
    options: CopyOptions,
    /// For each column, whether its values are always quoted.
    quoted: Vec<bool>,
    /// The header, sent with the first row.
    head: Option<Bytes>,
    /// How many rows were sent.
    pub(crate) sent: u64,
    is_at_end: bool,
}

impl Out {
    /// # Errors
    ///
    /// SQLSTATE 42703 if the rows lack a column of FORCE_QUOTE.
    pub(crate) fn new(rows: Rows, options: CopyOptions) -> Result<Self, PgWireError> {
        let is_all = options.force_quote.iter().any(|name| name == ALL);
        for name in options.force_quote.iter().filter(|name| *name != ALL) {
            if !rows.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
                return Err(error("42703", format!("column {name:?} of FORCE_QUOTE does not exist")));
            }
        }
        let is_named = |column: &str| options.force_quote.iter().any(|name| name.eq_ignore_ascii_case(column));
        let quoted = rows
            .columns
            .iter()
            .map(|column| is_all || is_named(&column.name))
            .collect();
        let head = match options.format {
            CopyFormat::Binary => Some(Bytes::from_static(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0")),
            _ if options.has_header => {
                let mut line = Vec::new();
                for (place, column) in rows.columns.iter().enumerate() {
                    if place > 0 {
                        line.push(options.delimiter);
                    }
                    push_field(column.name.as_bytes(), &options, false, &mut line);
                }
                line.push(b'\n');
                Some(line.into())
            }
            _ => None,
        };
        Ok(Self {
            rows,
            options,
            quoted,
            head,
            sent: 0,
            is_at_end: false,
        })
    }

    /// The codes of the format, of the whole and of each column.
    pub(crate) fn formats(&self) -> (i8, Vec<i16>) {
        (
            self.options.code(),
            vec![i16::from(self.options.code()); self.rows.columns.len()],
        )
    }

    /// The next messages, one per row; `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`Rows::next`].
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Bytes>>, PgWireError> {
        let is_binary = self.options.format == CopyFormat::Binary;
        if !is_binary && let Some(head) = self.head.take() {
            return Ok(Some(vec![head]));
        }
        if self.is_at_end {
            return Ok(None);
        }
        let mut messages = match self.rows.next_batch().await? {
            Some(batch) => {
                self.sent += batch.num_rows() as u64;
                self.write(&batch)?
            }
            None => {
                self.is_at_end = true;
                if !is_binary {
                    return Ok(None);
                }
                vec![Bytes::from_static(&[0xff, 0xff])]
            }
        };
        // Clients that parse each message separately expect the header in the message of the first row, as PostgreSQL sends it.
        if let Some(first) = messages.first_mut()
            && let Some(head) = self.head.take()
        {
            *first = [&head[..], &first[..]].concat().into();
        }
        Ok(Some(messages))
    }

    fn write(&self, batch: &RecordBatch) -> Result<Vec<Bytes>, PgWireError> {
        let is_binary = self.options.format == CopyFormat::Binary;
        let format = if is_binary {
            ValueFormat::Binary
        } else {
            ValueFormat::Text
        };
        let types: Vec<(Type, ValueFormat)> = self
            .rows
            .columns
            .iter()
            .map(|column| (column.typ.clone(), format))
            .collect();
        let of_value = |fault| failure::of_value(&fault);
        let writer = WireRows::new(batch, &types).map_err(of_value)?;
        let count = i16::try_from(types.len()).unwrap_or(i16::MAX);
        let (mut bytes, mut ends, mut value) = (Vec::new(), Vec::with_capacity(batch.num_rows()), Vec::new());
        for row in 0..batch.num_rows() {
            if is_binary {
                bytes.put_i16(count);
                writer.write(row, &mut bytes).map_err(of_value)?;
            } else {
                for column in 0..types.len() {
                    if column > 0 {
                        bytes.push(self.options.delimiter);
                    }
                    value.clear();
                    match writer.write_text(row, column, &mut value).map_err(of_value)? {
                        true => {
                            let is_quoted = self.quoted.get(column).copied().unwrap_or(false);
                            push_field(&value, &self.options, is_quoted, &mut bytes);
                        }
                        false => bytes.extend_from_slice(self.options.null.as_bytes()),
                    }
                }
                bytes.push(b'\n');
            }
            ends.push(bytes.len());
        }
        let mut bytes = BytesMut::from(Bytes::from(bytes));
        let mut begin = 0;
        Ok(ends
            .into_iter()
            .map(|end| {
                let row = bytes.split_to(end - begin);
                begin = end;
                row.freeze()
            })
            .collect())
    }
}

/// Rows that a client sends into a table.
pub(crate) struct In {
    pieces: mpsc::Sender<Piece>,
    filling: JoinHandle<tidemill_sql::Result<u64>>,
    /// The number of columns.
    pub(crate) columns: usize,
    pub(crate) code: i8,
    /// The statement, for errors.
    text: String,
}

/// A message of the client. Without an end, the client disconnected, and the copy is rolled back.
enum Piece {
    Bytes(Bytes),
    End,
    /// The client aborts with this message.
    GivenUp(String),
}

/// The most messages buffered ahead of the reader.
const PIECES: usize = 16;

impl In {
    /// Starts to fill a table.
    ///
    /// # Errors
    ///
    /// SQLSTATE 42P01 and 42703 for a table or columns that do not exist.
    pub(crate) async fn begin(client: &Arc<Client>, copy: CopyStatement, text: &str) -> Result<Self, PgWireError> {
        let What::Table { table, columns } = copy.what else {
            return Err(error("42601", "COPY … FROM STDIN wants a table"));
        };
        let of_session = |fault| failure::of_session(&fault, text);
        let columns = columns_of(&client.session, &table, &columns, text).await?;
        let fields = columns.iter().map(|(name, typ)| field(name, typ, true));
        let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let (pieces, received) = mpsc::channel(PIECES);
        let (code, count) = (copy.options.code(), columns.len());
        let batches = Batches::new(received, columns, copy.options).map_err(|fault| failure::of_value(&fault))?;
        let client = Arc::clone(client);
        client.check_writes("COPY")?;
        // Reports an unknown table before rows are requested.
        client.session.locate(&table).await.map_err(of_session)?;
        let filling = tokio::spawn(async move { client.session.ingest(&table, Ingest::Append, schema, batches).await });
        Ok(Self {
            pieces,
            filling,
            columns: count,
            code,
            text: text.to_owned(),
        })
    }

    /// Passes data on. Errors in it are reported at the end.
    pub(crate) async fn feed(&self, bytes: Bytes) {
        // The receiver is gone if the data was wrong.
        let _ = self.pieces.send(Piece::Bytes(bytes)).await;
    }

    /// Ends the copy, and returns the number of rows.
    ///
    /// # Errors
    ///
    /// The error in a row, or of the table.
    pub(crate) async fn finish(self) -> Result<usize, PgWireError> {
        // The receiver is gone if the data was wrong.
        let _ = self.pieces.send(Piece::End).await;
        let filled = self.filling.await.map_err(|fault| error("XX000", fault.to_string()))?;
        let rows = filled.map_err(|fault| match fault.external::<tidemill_postgres::Error>() {
            Some(value) => failure::of_value(value),
            None => failure::of_session(&fault, &self.text),
        })?;
        Ok(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// Rolls back the copy.
    pub(crate) async fn give_up(self, why: &str) {
        let _ = self.pieces.send(Piece::GivenUp(why.to_owned())).await;
        // It ends with the error that it was sent.
        let _ = self.filling.await;
    }
}

/// The columns that the rows have, in the order of the statement.
async fn columns_of(
    session: &Session,
    table: &str,
    wanted: &[String],
    text: &str,
) -> Result<Vec<(String, Type)>, PgWireError> {
    let of_session = |fault| failure::of_session(&fault, text);
    let location = session.locate(table).await.map_err(of_session)?;
    let schema = session.schema(&location).await.map_err(of_session)?;
    let known = |name: &str| {
        schema
            .fields()
            .iter()
            .find(|field| field.name().eq_ignore_ascii_case(name))
    };
    let fields = match wanted.is_empty() {
        true => schema.fields().iter().collect(),
        false => {
            let missing = |name: &String| error("42703", format!("column {name:?} of {table:?} does not exist"));
            wanted
                .iter()
                .map(|name| known(name).ok_or_else(|| missing(name)))
                .collect::<Result<Vec<_>, _>>()?
        }
    };
    let columns = fields.into_iter().map(|field| {
        let typ = column_type(field).map_err(|fault| failure::of_value(&fault))?;
        Ok((field.name().clone(), typ))
    });
    columns.collect()
}

/// The rows of a copy, as batches for a table.
struct Batches {
    received: mpsc::Receiver<Piece>,
    columns: Vec<(String, Type)>,
    reader: Reader,
    is_at_end: bool,
}

enum Reader {
    Binary(CopyReader),
    Fields(Fields),
}

/// The error with the client's message.
#[derive(Debug, thiserror::Error)]
#[error("COPY from stdin failed: {0}")]
struct GivenUp(String);

impl Batches {
    fn new(
        received: mpsc::Receiver<Piece>,
        columns: Vec<(String, Type)>,
        options: CopyOptions,
    ) -> tidemill_postgres::Result<Self> {
        let reader = match options.format {
            CopyFormat::Binary => Reader::Binary(CopyReader::new(&columns)?),
            _ => {
                let names = columns.iter().map(|(name, _)| name.clone()).collect();
                Reader::Fields(Fields::new(options, columns.len()).with_names(names))
            }
        };
        Ok(Self {
            received,
            columns,
            reader,
            is_at_end: false,
        })
    }

    fn next_batch(&mut self) -> tidemill_sql::Result<Option<RecordBatch>> {
        let external = |fault: tidemill_postgres::Error| outside(Box::new(fault));
        while !self.is_at_end {
            let piece = self.received.blocking_recv();
            let piece = piece.unwrap_or_else(|| Piece::GivenUp("the connection has ended".to_owned()));
            let batch = match (piece, &mut self.reader) {
                (Piece::GivenUp(why), _) => return Err(outside(Box::new(GivenUp(why)))),
                (Piece::Bytes(bytes), Reader::Binary(reader)) => reader.feed(&bytes).map_err(external)?,
                (Piece::End, Reader::Binary(reader)) => {
                    self.is_at_end = true;
                    reader.finish().map_err(external)?;
                    continue;
                }
                (Piece::Bytes(bytes), Reader::Fields(fields)) => {
                    fields.feed(&bytes).map_err(external)?;
                    match fields.is_full() {
                        true => self.of_fields()?,
                        false => continue,
                    }
                }
                (Piece::End, Reader::Fields(fields)) => {
                    self.is_at_end = true;
                    fields.finish().map_err(external)?;
                    self.of_fields()?
                }
            };
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The rows read so far, converted to the types of the columns.
    fn of_fields(&mut self) -> tidemill_sql::Result<RecordBatch> {
        let Reader::Fields(fields) = &mut self.reader else {
            return Ok(RecordBatch::new_empty(Arc::new(Schema::empty())));
        };
        let before = fields.rows_before();
        let texts = fields.take().into_iter().zip(&self.columns);
        let texts =
            texts.map(|(values, (name, _))| (name.as_str(), Arc::new(StringArray::from(values)) as ArrayRef, true));
        let batch = RecordBatch::try_from_iter_with_nullable(texts)?;
        let types: Vec<Type> = self.columns.iter().map(|(_, typ)| typ.clone()).collect();
        let converted = fields::with_bytes(&batch, &types)
            .and_then(|batch| copy_of_rows(&batch, &types))
            .and_then(|copy| rows_of_copy(&self.columns, &copy, copy.len()));
        converted.map_err(|fault| outside(Box::new(fields::counted_from(fault, before))))
    }
}

/// Wraps an error to pass it through a session.
fn outside(fault: Box<dyn std::error::Error + Send + Sync>) -> tidemill_sql::Error {
    arrow_schema::ArrowError::ExternalError(fault).into()
}

impl Iterator for Batches {
    type Item = tidemill_sql::Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_statement() {
        let csv = CopyOptions::of_format(CopyFormat::Csv);
        for (text, expected) in [
            ("COPY t TO STDOUT", CopyOptions::of_format(CopyFormat::Text)),
            ("COPY t FROM STDIN WITH (FORMAT csv)", csv.clone()),
            (
                "COPY t (a, b) FROM STDIN CSV HEADER",
                CopyOptions {
                    has_header: true,
                    ..csv.clone()
                },
            ),
            (
                "COPY (SELECT 1) TO STDOUT WITH (FORMAT csv, HEADER true, DELIMITER ';', NULL '-')",
                CopyOptions {
                    has_header: true,
                    delimiter: b';',
                    null: "-".to_owned(),
                    ..csv
                },
            ),
            (
                "COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE *)",
                CopyOptions {
                    force_quote: vec!["*".to_owned()],
                    ..CopyOptions::of_format(CopyFormat::Csv)
                },
            ),
            (
                "COPY t TO STDOUT CSV FORCE QUOTE a, b",
                CopyOptions {
                    force_quote: vec!["a".to_owned(), "b".to_owned()],
                    ..CopyOptions::of_format(CopyFormat::Csv)
                },
            ),
            (
                "COPY t FROM STDIN (FORMAT csv, HEADER MATCH)",
                CopyOptions {
                    has_header: true,
                    header_matches: true,
                    ..CopyOptions::of_format(CopyFormat::Csv)
                },
            ),
            (
                "COPY t TO STDOUT (FORMAT binary)",
                CopyOptions::of_format(CopyFormat::Binary),
            ),
        ] {
            assert_eq!(parse(text).expect(text).options, expected, "{text}");
        }
        for text in [
            "COPY t TO '/tmp/x'",
            "COPY t FROM PROGRAM 'id'",
            "COPY t TO STDOUT (FORMAT parquet)",
            "COPY t FROM STDIN (ENCODING 'latin1')",
            "COPY (SELECT 1) FROM STDIN",
            "COPY t TO STDOUT (FORMAT csv, HEADER MATCH)",
            "COPY t FROM STDIN (FORMAT csv, FORCE_QUOTE *)",
            "COPY t TO STDOUT (FORCE_QUOTE *)",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
