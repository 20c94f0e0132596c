//! Where in an `INSERT` its table, its columns and its rows are.

use std::ops::Range;

use crate::sql_text;

/// The parts of a statement that has rows behind it, or may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    /// Where the name of the table ends.
    table_end: usize,
    /// Whether columns are named behind it.
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
        let mut tokens = Tokens { sql, at: 0 };
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

/// The blanks and the line's end behind the name of a format, which are no part of the rows.
fn line_end(text: &str) -> usize {
    let blanks = text.len() - text.trim_start_matches([' ', '\t', '\r']).len();
    let is_line = text.get(blanks..).is_some_and(|rest| rest.starts_with('\n'));
    match is_line {
        true => blanks + 1,
        // A tab may be the first field's end, where no line's end parts the rows from the name.
        false => usize::from(blanks > 0),
    }
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    begin: usize,
}

impl Token<'_> {
    fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    /// A word, or a name in quotes.
    fn is_name(&self) -> bool {
        self.text
            .starts_with(|first: char| first.is_alphanumeric() || matches!(first, '_' | '`' | '"'))
    }

    fn range(&self) -> Range<usize> {
        self.begin..self.begin + self.text.len()
    }
}

/// Words, texts in quotes and single signs, without blanks and comments.
#[derive(Clone)]
pub(super) struct Tokens<'a> {
    sql: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(sql: &'a str, at: usize) -> Self {
        Self { sql, at }
    }

    /// Where the next sign at the depth of the begin is that is one of these, or the end of the text. `None` if brackets or
    /// quotes are not closed.
    pub(super) fn find(&mut self, signs: &[&str]) -> Option<usize> {
        loop {
            let before = self.clone();
            let token = match self.next() {
                Some(token) => token,
                None if self.rest().is_empty() => return Some(self.sql.len()),
                None => return None,
            };
            match token.text {
                text if signs.contains(&text) => {
                    self.at = before.at;
                    return Some(token.begin);
                }
                "(" | "[" | "{" => self.close()?,
                _ => {}
            }
        }
    }

    /// Goes behind the bracket that closes the one just taken.
    fn close(&mut self) -> Option<()> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()?.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }

    fn rest(&self) -> &'a str {
        self.sql.get(self.at..).unwrap_or_default()
    }

    /// `None` at the end, and where a quote or a comment is not closed: then something is left.
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            let comment = match rest.as_bytes() {
                [b'-', b'-', ..] | [b'#', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => rest.find("*/")? + 2,
                _ => break,
            };
            self.at += comment;
        }
        let rest = self.rest();
        let first = rest.chars().next()?;
        let length = match first {
            '\'' | '"' | '`' => quoted(rest, first)?,
            first if first.is_alphanumeric() || first == '_' => rest
                .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                .unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let token = Token {
            text: rest.get(..length)?,
            begin: self.at,
        };
        self.at += length;
        Some(token)
    }
}

/// The length of a text in quotes, with them.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            letter if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}
