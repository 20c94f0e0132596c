//! Where in an `INSERT` its table, its columns and its rows are.

use std::ops::Range;

use crate::sql_text::{self, Token, Tokens};

/// The parts of a statement that has rows after it, or may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    /// Where the name of the table ends.
    table_end: usize,
    /// Whether columns are named after it.
    pub(super) has_columns: bool,
    /// The word that the rows stand behind.
    keyword: Range<usize>,
    pub(super) format: &'a str,
    /// Where the rows begin.
    pub(super) rows: usize,
}

impl<'a> Statement<'a> {
    /// Finds the parts of a statement, `None` if it is no `INSERT` or its rows come from elsewhere.
    pub(super) fn parse(sql: &'a str) -> Option<Self> {
        let mut tokens = Tokens::new(sql, 0);
        tokens.next().filter(|token| token.is("INSERT"))?;
        let mut token = tokens.next()?;
        if token.is("INTO") {
            token = tokens.next()?;
        }
        // A table may be called so.
        if token.is("TABLE")
            && !tokens
                .clone()
                .next()
                .is_some_and(|next| next.text == "." || next.text == "(")
        {
            token = tokens.next()?;
        }
        let is_function = token.is("FUNCTION") && tokens.clone().next().is_none_or(|next| next.text != "(");
        if is_function {
            token = tokens.next()?;
        }
        if !token.is_name() {
            return None;
        }
        while tokens.clone().next().is_some_and(|next| next.text == ".") {
            tokens.next()?;
            tokens.next().filter(Token::is_name)?;
        }
        if is_function {
            tokens.next().filter(|token| token.text == "(")?;
            tokens.close()?;
        }
        let table_end = tokens.at;
        let mut has_columns = false;
        loop {
            let token = tokens.next()?;
            match token.text {
                "(" => {
                    if tokens
                        .clone()
                        .next()
                        .is_some_and(|next| next.is("SELECT") || next.is("WITH"))
                    {
                        return None;
                    }
                    has_columns = true;
                    tokens.close()?;
                }
                _ if ["SELECT", "WITH", "WATCH", "FROM"].iter().any(|word| token.is(word)) => return None,
                _ if token.is("VALUES") => {
                    return Some(Self {
                        table_end,
                        has_columns,
                        keyword: token.range(),
                        format: "Values",
                        rows: tokens.at,
                    });
                }
                _ if token.is("FORMAT") => {
                    let name = tokens.next().filter(Token::is_name)?;
                    return Some(Self {
                        table_end,
                        has_columns,
                        keyword: token.range(),
                        format: name.text,
                        rows: tokens.at + line_end(sql.get(tokens.at..).unwrap_or_default()),
                    });
                }
                _ => {}
            }
        }
    }

    /// The statement without its rows, with the columns of these names where it names none.
    pub(super) fn query(&self, sql: &str, names: Option<&[String]>) -> String {
        let part = |range: Range<usize>| sql.get(range).unwrap_or_default();
        let names = names.map_or(String::new(), |names| {
            let names: Vec<_> = names.iter().map(|name| sql_text::name(name)).collect();
            format!(" ({})", names.join(", "))
        });
        format!(
            "{}{names}{}VALUES",
            part(0..self.table_end),
            part(self.table_end..self.keyword.start)
        )
    }
}

/// The blanks and the line's end after the name of a format, which are no part of the rows.
fn line_end(text: &str) -> usize {
    let blanks = text.len() - text.trim_start_matches([' ', '\t', '\r']).len();
    let is_line = text.get(blanks..).is_some_and(|rest| rest.starts_with('\n'));
    match is_line {
        true => blanks + 1,
        // A tab may be the first field's end, where no line's end parts the rows from the name.
        false => usize::from(blanks > 0),
    }
}
