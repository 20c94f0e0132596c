//! Rows of `CSV` and `TabSeparated`: a line each, with fields between commas or tabs.
//!
//! Source: "Formats for Input and Output Data" in ClickHouse's documentation, CSV and TabSeparated.

use super::{
    Cursor,
    literal::{Literal, escaped},
};
use crate::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Commas; fields may be in double quotes, which are doubled within, and a line's end may be in them.
    Csv,
    /// Tabs; what is special is after a backslash.
    TabSeparated,
}

#[derive(Debug)]
pub(super) struct Delimited<'a> {
    cursor: Cursor<'a>,
    kind: Kind,
    names: Option<Vec<String>>,
}

impl<'a> Delimited<'a> {
    /// Begins after so many lines that are no rows, of which the first has the names.
    pub(super) fn new(cursor: Cursor<'a>, kind: Kind, header: usize) -> Result<Self> {
        let mut rows = Self {
            cursor,
            kind,
            names: None,
        };
        for line in 0..header {
            let Some(fields) = rows.line()? else { break };
            if line > 0 {
                continue;
            }
            let names = fields.into_iter().map(|field| match field {
                Literal::Text(name) => String::from_utf8_lossy(&name).into_owned(),
                _ => String::new(),
            });
            rows.names = Some(names.collect());
        }
        Ok(rows)
    }

    pub(super) fn names(&self) -> Option<Vec<String>> {
        self.names.clone()
    }

    pub(super) fn next(&mut self) -> Result<Option<Vec<Literal>>> {
        let row = self.line()?;
        self.cursor.row += u64::from(row.is_some());
        Ok(row)
    }

    fn line(&mut self) -> Result<Option<Vec<Literal>>> {
        if self.cursor.rest().is_empty() {
            return Ok(None);
        }
        let mut fields = Vec::new();
        loop {
            let (field, separator) = match self.kind {
                Kind::Csv => (self.csv_field()?, b','),
                Kind::TabSeparated => (self.tab_field(), b'\t'),
            };
            fields.push(field);
            if self.cursor.take(separator) {
                continue;
            }
            self.cursor.take(b'\r');
            if self.cursor.take(b'\n') || self.cursor.rest().is_empty() {
                return Ok(Some(fields));
            }
            return Err(self.cursor.error("the end of the field: `,` or the end of the line"));
        }
    }

    fn csv_field(&mut self) -> Result<Literal> {
        let rest = self.cursor.rest();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest.as_bytes().get(blanks) == Some(&b'"') {
            self.cursor.at += blanks;
            return self.csv_quoted();
        }
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        let field = rest.get(..end).unwrap_or_default();
        let field = match rest.as_bytes().get(end) {
            Some(b',') => field,
            _ => field.strip_suffix('\r').unwrap_or(field),
        };
        self.cursor.at += field.len();
        Ok(match field {
            "" => Literal::Empty,
            "\\N" => Literal::Null,
            field => Literal::Text(field.into()),
        })
    }

    fn csv_quoted(&mut self) -> Result<Literal> {
        let begin = self.cursor;
        self.cursor.at += 1;
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.cursor.peek() else {
                return Err(begin.error("the end of a field in quotes"));
            };
            self.cursor.at += 1;
            match byte {
                b'"' if self.cursor.take(b'"') => bytes.push(b'"'),
                b'"' => return Ok(Literal::Text(bytes)),
                other => bytes.push(other),
            }
        }
    }

    fn tab_field(&mut self) -> Literal {
        let is_null = self
            .cursor
            .rest()
            .strip_prefix("\\N")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['\t', '\n']) || rest.starts_with("\r\n"));
        if is_null {
            self.cursor.at += 2;
            return Literal::Null;
        }
        let mut bytes = Vec::new();
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\t' | b'\n' => break,
                b'\r' if matches!(self.cursor.rest(), "\r") || self.cursor.rest().starts_with("\r\n") => break,
                b'\\' => {
                    self.cursor.at += 1;
                    if let Some(letter) = self.cursor.peek() {
                        self.cursor.at += 1;
                        escaped(letter, &mut self.cursor, &mut bytes);
                    } else {
                        bytes.push(b'\\');
                    }
                }
                other => {
                    self.cursor.at += 1;
                    bytes.push(other);
                }
            }
        }
        Literal::Text(bytes)
    }
}
