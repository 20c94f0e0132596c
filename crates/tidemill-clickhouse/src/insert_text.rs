//! Statements that have the rows to insert in their text: `INSERT INTO t VALUES (1, 'a')`, `INSERT INTO t FORMAT CSV …`.
//!
//! A server reads no rows from the text of a statement that comes over the native protocol. It answers with a block that shows
//! the columns, and waits for blocks of rows: to parse the text is the client's work (ClickHouse, `Client/ClientBase.cpp`,
//! `processInsertQuery` and `sendData`). Here the text is taken apart into what the server gets and into rows of [`Literal`]s,
//! which find their types when the columns are known (`rows/literal.rs`).
//!
//! A value of `VALUES` that is no literal (`now()`, `1 + 1`, `toDate('…')`) is an expression, which the server is asked for in front
//! of the insert.
//!
//! Formats that are read: `Values`, `CSV` and `TabSeparated` (`TSV`), each alone, `WithNames` and `WithNamesAndTypes`, and
//! `JSONEachRow` (`JSONLines`, `NDJSON`). Formats with settings of their own (`format_csv_delimiter`) are read as they are
//! without them.

mod delimited;
mod json;
mod literal;
mod statement;

pub(crate) use self::literal::{Literal, is_number, parse_whole};
use self::{
    delimited::{Delimited, Kind},
    json::JsonRows,
    literal::ValuesRows,
    statement::Statement,
};
use crate::{Error, Result};

/// A statement with rows in its text.
#[derive(Debug)]
pub(crate) struct InsertText {
    /// What the server gets: the statement up to its rows.
    pub(crate) query: String,
    rows: String,
    /// Where the rows begin in the statement.
    offset: usize,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Values,
    Delimited(Kind, usize),
    Json,
}

impl InsertText {
    /// Takes a statement apart. `None` if it is no `INSERT`, or has no rows in its text.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for rows in a format that is not read here, and [`Error::InsertText`] if the names of columns in
    /// front of the rows cannot be read.
    pub(crate) fn parse(sql: &str) -> Result<Option<Self>> {
        let Some(statement) = Statement::parse(sql) else {
            return Ok(None);
        };
        let Some(rows) = sql.get(statement.rows..).filter(|rows| !rows.trim().is_empty()) else {
            return Ok(None);
        };
        let format = format(statement.format)?;
        let mut text = Self {
            query: String::new(),
            rows: rows.to_owned(),
            offset: statement.rows,
            format,
        };
        let names = match statement.has_columns {
            true => None,
            false => text.rows()?.names()?,
        };
        text.query = statement.query(sql, names.as_deref());
        Ok(Some(text))
    }

    /// Reads the rows from their begin.
    ///
    /// # Errors
    ///
    /// [`Error::InsertText`] if what is in front of the rows cannot be read.
    pub(crate) fn rows(&self) -> Result<TextRows<'_>> {
        let cursor = Cursor {
            text: &self.rows,
            at: 0,
            row: 0,
            offset: self.offset,
        };
        Ok(TextRows(match self.format {
            Format::Values => Rows::Values(ValuesRows::new(cursor)),
            Format::Delimited(kind, header) => Rows::Delimited(Delimited::new(cursor, kind, header)?),
            Format::Json => Rows::Json(JsonRows::new(cursor)),
        }))
    }

    /// The expressions among the values, in their order: what the server has to be asked for.
    ///
    /// # Errors
    ///
    /// [`Error::InsertText`] if a row cannot be read.
    pub(crate) fn expressions(&self) -> Result<Vec<String>> {
        let mut expressions = Vec::new();
        let mut rows = self.rows()?;
        while let Some(row) = rows.next()? {
            let found = row.into_iter().filter_map(|literal| match literal {
                Literal::Expression(text) => Some(text),
                _ => None,
            });
            expressions.extend(found);
        }
        Ok(expressions)
    }
}

/// The rows of a text, one after another. An object of JSON gives its values in the order of the first object's names.
#[derive(Debug)]
pub(crate) struct TextRows<'a>(Rows<'a>);

#[derive(Debug)]
enum Rows<'a> {
    Values(ValuesRows<'a>),
    Delimited(Delimited<'a>),
    Json(JsonRows<'a>),
}

impl TextRows<'_> {
    /// The next row, `None` after the last.
    ///
    /// # Errors
    ///
    /// [`Error::InsertText`] if it cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Literal>>> {
        match &mut self.0 {
            Rows::Values(rows) => rows.next(),
            Rows::Delimited(rows) => rows.next(),
            Rows::Json(rows) => rows.next(),
        }
    }

    /// The names of the columns, where the format has them.
    fn names(&mut self) -> Result<Option<Vec<String>>> {
        match &mut self.0 {
            Rows::Values(_) => Ok(None),
            Rows::Delimited(rows) => Ok(rows.names()),
            Rows::Json(rows) => rows.names(),
        }
    }
}

/// What a name of a format stands for.
fn format(name: &str) -> Result<Format> {
    let lower = name.to_ascii_lowercase();
    let (plain, header) = match (lower.strip_suffix("withnamesandtypes"), lower.strip_suffix("withnames")) {
        (Some(plain), _) => (plain, 2),
        (None, Some(plain)) => (plain, 1),
        (None, None) => (lower.as_str(), 0),
    };
    Ok(match (plain, header) {
        ("values", 0) => Format::Values,
        ("csv", _) => Format::Delimited(Kind::Csv, header),
        ("tsv" | "tabseparated", _) => Format::Delimited(Kind::TabSeparated, header),
        ("jsoneachrow" | "jsonlines" | "ndjson", 0) => Format::Json,
        _ => {
            return Err(Error::Unsupported {
                what: format!("an INSERT with its rows in the text, in the format {name},"),
                hint: "the formats Values, CSV, TabSeparated (each also WithNames) and JSONEachRow are read; send rows in \
                       others by `insert` (or copy a file into the table)",
            });
        }
    })
}

/// A place in the text of the rows.
#[derive(Clone, Copy, Debug)]
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// How many rows are complete.
    row: u64,
    /// Where the text begins in the statement.
    offset: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes a byte if it is this one.
    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn error(&self, expected: &'static str) -> Error {
        let mut found: String = self.rest().chars().take(EXCERPT).flat_map(char::escape_debug).collect();
        if found.is_empty() {
            found.push_str("the end of the text");
        }
        Error::InsertText {
            row: self.row,
            offset: (self.offset + self.at) as u64,
            expected,
            found,
        }
    }
}

/// How many characters of a text an error shows.
const EXCERPT: usize = 30;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Literal::*, *};

    fn rows(sql: &str) -> (String, Vec<Vec<Literal>>) {
        let text = InsertText::parse(sql).unwrap().expect(sql);
        let (mut rows, mut all) = (text.rows().unwrap(), Vec::new());
        while let Some(row) = rows.next().unwrap_or_else(|error| panic!("{sql}: {error}")) {
            all.push(row);
        }
        (text.query, all)
    }

    fn number(text: &str) -> Literal {
        Number(text.to_owned())
    }

    fn text(text: &str) -> Literal {
        Text(text.as_bytes().to_vec())
    }

    #[test]
    fn a_statement_is_taken_apart_into_its_query_and_its_rows() {
        let check = |sql: &str, query: &str, expected: Vec<Vec<Literal>>| {
            assert_eq!(rows(sql), (query.to_owned(), expected), "{sql}");
        };
        check(
            "INSERT INTO t VALUES (1, 'a'), (-2.5e3, NULL) (true, [])  ;",
            "INSERT INTO t VALUES",
            vec![
                vec![number("1"), text("a")],
                vec![number("-2.5e3"), Null],
                vec![Bool(true), List(vec![])],
            ],
        );
        check(
            "-- why\n insert into d.`t (` (a, `b)`) /* VALUES */ SETTINGS x = 'VALUES' values\n('it''s\\n\\'\\x41\\%')",
            "-- why\n insert into d.`t (` (a, `b)`) /* VALUES */ SETTINGS x = 'VALUES' VALUES",
            vec![vec![text("it's\n'A\\%")]],
        );
        check(
            "INSERT INTO TABLE FUNCTION remote('h', d.t) VALUES ((1, [('x', {'k': 1})]), now() + f(')', 1), {p:UInt8}, (1))",
            "INSERT INTO TABLE FUNCTION remote('h', d.t) VALUES",
            vec![vec![
                Tuple(vec![
                    number("1"),
                    List(vec![Tuple(vec![text("x"), Map(vec![(text("k"), number("1"))])])]),
                ]),
                Expression("now() + f(')', 1)".to_owned()),
                Expression("{p:UInt8}".to_owned()),
                number("1"),
            ]],
        );
        check(
            "INSERT INTO t FORMAT CSV\n1,\"a \"\"b\"\",\n\",\\N,\r\n2,x y,,3",
            "INSERT INTO t VALUES",
            vec![
                vec![text("1"), text("a \"b\",\n"), Null, Empty],
                vec![text("2"), text("x y"), Empty, text("3")],
            ],
        );
        check(
            "INSERT INTO t FORMAT CSVWithNames n,\"a`b\"\n1,2\n",
            "INSERT INTO t (`n`, `a\\`b`) VALUES",
            vec![vec![text("1"), text("2")]],
        );
        check(
            "INSERT INTO t (n) FORMAT TSVWithNamesAndTypes\nm\nUInt8\na\\tb\\\\\\N\n\\N\n",
            "INSERT INTO t (n) VALUES",
            vec![vec![text("a\tb\\\\N")], vec![Null]],
        );
        check(
            "INSERT INTO t FORMAT JSONEachRow [{\"n\": 18446744073709551616, \"s\": \"\\u00e9\\ud83c\\udf0a\"},\n{\"s\":null,\"n\":[{\"a\":1.50}]}]",
            "INSERT INTO t (`n`, `s`) VALUES",
            vec![
                vec![number("18446744073709551616"), text("é🌊")],
                vec![List(vec![Map(vec![(text("a"), number("1.50"))])]), Null],
            ],
        );
    }

    proptest! {
        /// No text panics or continues for ever, and rows end.
        #[test]
        fn any_text_is_read_or_refused(
            pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24),
            any in ".{0,8}",
        ) {
            let rows = pieces.concat() + &any;
            for format in ["VALUES", "FORMAT CSV", "FORMAT CSVWithNames\n", "FORMAT TSV", "FORMAT TSVWithNames\n", "FORMAT JSONEachRow"] {
                let sql = format!("INSERT INTO t {format} {rows}");
                if let Ok(Some(text)) = InsertText::parse(&sql) {
                    let mut rows = text.rows()?;
                    let mut count = 0;
                    while let Ok(Some(_)) = rows.next() {
                        count += 1;
                        prop_assert!(count <= sql.len(), "{sql:?}");
                    }
                }
            }
        }
    }

    const PIECES: [&str; 26] = [
        "(", ")", "[", "]", "{", "}", "'", "\"", "`", "\\", "\\N", "\\x", "\\u", ",", ":", ";", "1", "-1.5e3", "é",
        " ", "\n", "\r\n", "\t", "--", "/*", "null",
    ];

    #[test]
    fn other_statements_are_left_alone() {
        for sql in [
            "SELECT 'INSERT INTO t VALUES (1)'",
            "INSERT INTO t SELECT 1 FORMAT Values",
            "INSERT INTO t (a) WITH 1 AS x SELECT x",
            "INSERT INTO t (SELECT 1)",
            "INSERT INTO t (a) (SELECT 1)",
            "INSERT INTO t FROM INFILE 'x' FORMAT CSV",
            "INSERT INTO t VALUES",
            "INSERT INTO t VALUES ",
            "INSERT INTO t FORMAT CSV\n",
            "INSERT INTO t FORMAT Native",
            "INSERT INTO",
            "INSERT INTO t (a",
            "INSERT INTO `t",
            "",
        ] {
            assert!(InsertText::parse(sql).unwrap().is_none(), "{sql}");
        }
        let error = InsertText::parse("INSERT INTO t FORMAT Parquet PAR1").unwrap_err();
        assert!(error.to_string().contains("format Parquet"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_row_and_place() {
        let deep = format!("INSERT INTO t VALUES ({}", "[".repeat(100_000));
        for (sql, row, offset, expected) in [
            ("INSERT INTO t VALUES (1), (2", 1, 28, "`,` or `)`"),
            ("INSERT INTO t VALUES (1), ", 1, 26, "a row in parentheses"),
            ("INSERT INTO t VALUES 1", 0, 21, "a row in parentheses"),
            ("INSERT INTO t VALUES (1); SELECT 1", 1, 26, "nothing after the rows"),
            ("INSERT INTO t VALUES ('a", 0, 22, "the end of a string"),
            ("INSERT INTO t VALUES (1, )", 0, 25, "a value"),
            ("INSERT INTO t VALUES (DEFAULT)", 0, 22, "a value; columns"),
            ("INSERT INTO t FORMAT CSV\n\"a", 0, 25, "the end of a field in quotes"),
            ("INSERT INTO t FORMAT CSV\n\"a\"b", 0, 28, "the end of the field"),
            (
                "INSERT INTO t FORMAT JSONEachRow {\"a\":1} {\"b\":1}",
                1,
                48,
                "the names of the first object",
            ),
            ("INSERT INTO t FORMAT JSONEachRow {\"a\":1", 0, 39, "`,` or `}`"),
            (deep.as_str(), 0, 0, "fewer parts"),
        ] {
            let read = InsertText::parse(sql).and_then(|text| text.expect(sql).expressions());
            match read {
                Err(Error::InsertText {
                    row: found_row,
                    offset: found_offset,
                    expected: found,
                    ..
                }) => {
                    let is_there = offset == 0 || found_offset == offset;
                    assert!(
                        found_row == row && is_there && found.starts_with(expected),
                        "{sql:.60}: {found_row} {found_offset} {found}"
                    );
                }
                other => panic!("{sql:.60}: {other:?}"),
            }
        }
    }
}
