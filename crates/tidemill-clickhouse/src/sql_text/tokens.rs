//! Words, texts in quotes and single signs of a statement.

use std::ops::Range;

/// A word, a text in quotes, or a sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// Where it begins in the statement.
    pub(crate) begin: usize,
}

impl Token<'_> {
    /// Whether it is this word, in any case.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    /// A word, or a name in quotes.
    pub(crate) fn is_name(&self) -> bool {
        self.text
            .starts_with(|first: char| first.is_alphanumeric() || matches!(first, '_' | '`' | '"'))
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.begin..self.begin + self.text.len()
    }
}

/// Words, texts in quotes and single signs, without blanks and comments.
#[derive(Clone)]
pub(crate) struct Tokens<'a> {
    sql: &'a str,
    pub(crate) at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(sql: &'a str, at: usize) -> Self {
        Self { sql, at }
    }

    /// Where the next sign at the depth of the begin is that is one of these, or the end of the text. `None` if brackets or
    /// quotes are not closed.
    pub(crate) fn find(&mut self, signs: &[&str]) -> Option<usize> {
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

    /// Moves past the bracket that closes the one just taken.
    pub(crate) fn close(&mut self) -> Option<()> {
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
    pub(crate) fn next(&mut self) -> Option<Token<'a>> {
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
