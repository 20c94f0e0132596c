//! The words and signs of an expression's text.
//!
//! Sources: "Operators" and "Lexical structure" of the CA-Clipper 5.2 reference; Harbour's `macro.y` and `macrolex.c` for
//! `0d` and the alternative spellings; "Date and Time Literals" of the Visual FoxPro documentation for `{^…}`.
//!
//! This module does not know which words name functions and which fields.

use super::syntax::{BinaryOperator, Literal};
use crate::error::{Error, Result};
use crate::julian;

/// A word or sign, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The character, counted from 1.
    pub(super) column: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Literal(Literal),
    /// In capitals.
    Name(String),
    Operator(BinaryOperator),
    Not,
    Open,
    Close,
    Comma,
    /// `->`, and the `.` between an alias and a name.
    Arrow,
    End,
}

/// The tokens of a text, one by one.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    column: u32,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, column: 1 }
    }

    /// The next token; [`TokenKind::End`] at the end, again and again.
    pub(super) fn next(&mut self) -> Result<Token> {
        let blanks = self
            .rest()
            .chars()
            .take_while(|c| c.is_ascii_whitespace() || *c == '\0')
            .count();
        self.advance(blanks);
        let column = self.column;
        let kind = self.kind()?;
        Ok(Token { kind, column })
    }

    fn kind(&mut self) -> Result<TokenKind> {
        let rest = self.rest();
        let mut chars = rest.chars();
        let Some(first) = chars.next() else {
            return Ok(TokenKind::End);
        };
        let second = chars.next();
        match first {
            '\'' | '"' => self.quoted(first),
            '[' => self.quoted(']'),
            '{' => self.braces(),
            '0' if matches!(second, Some('d' | 'D')) => self.compact_date(),
            '0'..='9' => Ok(self.number()),
            '.' if second.is_some_and(|c| c.is_ascii_digit()) => Ok(self.number()),
            '.' => self.dotted(),
            c if c.is_alphabetic() || c == '_' => Ok(self.name()),
            _ => self.sign(),
        }
    }

    fn sign(&mut self) -> Result<TokenKind> {
        use BinaryOperator as B;
        use TokenKind::Operator;
        const SIGNS: [(&str, TokenKind); 24] = [
            ("->", TokenKind::Arrow),
            ("**", Operator(B::Power)),
            ("==", Operator(B::ExactlyEqual)),
            ("<>", Operator(B::NotEqual)),
            ("!=", Operator(B::NotEqual)),
            ("<=", Operator(B::LessOrEqual)),
            ("=<", Operator(B::LessOrEqual)),
            (">=", Operator(B::GreaterOrEqual)),
            ("=>", Operator(B::GreaterOrEqual)),
            ("<", Operator(B::Less)),
            (">", Operator(B::Greater)),
            ("=", Operator(B::Equal)),
            ("#", Operator(B::NotEqual)),
            ("$", Operator(B::Contains)),
            ("+", Operator(B::Plus)),
            ("-", Operator(B::Minus)),
            ("*", Operator(B::Times)),
            ("/", Operator(B::Divide)),
            ("%", Operator(B::Modulo)),
            ("^", Operator(B::Power)),
            ("!", TokenKind::Not),
            ("(", TokenKind::Open),
            (")", TokenKind::Close),
            (",", TokenKind::Comma),
        ];
        let rest = self.rest();
        match SIGNS.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
            Some((sign, kind)) => {
                self.advance(sign.chars().count());
                Ok(kind)
            }
            None => {
                let found = rest.chars().next().unwrap_or_default();
                Err(Error::expression(
                    self.column,
                    "an operator, a name or a value",
                    format!("{found:?}"),
                ))
            }
        }
    }

    /// Text up to the closing quote; no quote can be written within its own kind.
    fn quoted(&mut self, close: char) -> Result<TokenKind> {
        let inner = self.rest().get(1..).unwrap_or_default();
        let Some(end) = inner.find(close) else {
            return Err(Error::expression(
                self.column,
                format!("a text that ends with {close}"),
                "the end",
            ));
        };
        let text = inner.get(..end).unwrap_or_default().to_owned();
        self.advance(text.chars().count() + 2);
        Ok(TokenKind::Literal(Literal::Text(text)))
    }

    fn number(&mut self) -> TokenKind {
        let rest = self.rest();
        let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let behind = rest.get(whole..).unwrap_or_default();
        let fraction = behind
            .strip_prefix('.')
            .map_or(0, |f| f.bytes().take_while(u8::is_ascii_digit).count());
        // `1.AND.2`: a point without digits is not the number's.
        let len = if fraction > 0 { whole + 1 + fraction } else { whole };
        let digits = rest.get(..len).unwrap_or_default().to_owned();
        self.advance(len);
        TokenKind::Literal(Literal::Number(digits))
    }

    /// `.AND.`, `.T.` and their like, and the point between an alias and a name.
    fn dotted(&mut self) -> Result<TokenKind> {
        let inner = self.rest().get(1..).unwrap_or_default();
        let letters = inner.bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = inner.get(..letters).unwrap_or_default().to_ascii_uppercase();
        if inner.as_bytes().get(letters) == Some(&b'.') {
            let kind = match word.as_str() {
                "AND" => TokenKind::Operator(BinaryOperator::And),
                "OR" => TokenKind::Operator(BinaryOperator::Or),
                "NOT" => TokenKind::Not,
                "T" | "Y" => TokenKind::Literal(Literal::Logical(true)),
                "F" | "N" => TokenKind::Literal(Literal::Logical(false)),
                "NULL" => TokenKind::Literal(Literal::Null),
                _ => return Err(self.no_dotted_word(&word)),
            };
            self.advance(letters + 2);
            return Ok(kind);
        }
        if letters == 0 && !inner.starts_with('_') {
            return Err(self.no_dotted_word(""));
        }
        self.advance(1);
        Ok(TokenKind::Arrow)
    }

    fn no_dotted_word(&self, word: &str) -> Error {
        Error::expression(
            self.column,
            ".AND., .OR., .NOT., .T., .F. or .NULL.",
            format!(".{word}"),
        )
    }

    fn name(&mut self) -> TokenKind {
        let rest = self.rest();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        self.advance(name.chars().count());
        // Only ASCII changes: a name keeps its number of characters, and the capitals of others depend on the code page.
        let name = name.to_ascii_uppercase();
        match name.as_str() {
            "AND" => TokenKind::Operator(BinaryOperator::And),
            "OR" => TokenKind::Operator(BinaryOperator::Or),
            "NOT" => TokenKind::Not,
            "NIL" | "NULL" => TokenKind::Literal(Literal::Null),
            _ => TokenKind::Name(name),
        }
    }

    /// `0d20240131`, and `0d0` or `0d00000000` for no day.
    fn compact_date(&mut self) -> Result<TokenKind> {
        let digits: String = self
            .rest()
            .get(2..)
            .unwrap_or_default()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let date = match digits.as_str() {
            "0" | "00000000" => Some(None),
            _ if digits.len() == 8 => date_of(&digits, &['\0']).map(Some),
            _ => None,
        };
        let Some(date) = date else {
            return Err(Error::expression(
                self.column,
                "a day as 0dYYYYMMDD",
                format!("0d{digits}"),
            ));
        };
        self.advance(digits.len() + 2);
        Ok(TokenKind::Literal(Literal::Date(date)))
    }

    /// `{^2024-01-31}`, `{^2024-01-31 12:00:00}`, `{}`.
    fn braces(&mut self) -> Result<TokenKind> {
        let rest = self.rest();
        let fault = |found: &str| {
            let found: String = found.chars().take(40).collect();
            Err(Error::expression(
                self.column,
                "{^YYYY-MM-DD}, {^YYYY-MM-DD hh:mm:ss} or {}",
                found,
            ))
        };
        let Some(end) = rest.find('}') else {
            return fault(rest);
        };
        let whole = rest.get(..=end).unwrap_or_default();
        let inner = rest.get(1..end).unwrap_or_default().trim();
        let literal = if let Some(inner) = inner.strip_prefix('^') {
            let inner = inner.trim();
            let (date, time) = match inner.split_once([' ', 'T', ',']) {
                Some((date, time)) => (date, time.trim()),
                None => (inner, ""),
            };
            match (date_of(date, &['-', '/', '.']), time) {
                (Some(days), "") => Literal::Date(Some(days)),
                (Some(days), time) => match time_of(time) {
                    Some(ms) => Literal::Timestamp(i64::from(days) * 86_400_000 + ms),
                    None => return fault(whole),
                },
                (None, _) => return fault(whole),
            }
        } else if inner.chars().all(|c| matches!(c, '/' | '-' | '.' | ' ')) {
            Literal::Date(None)
        } else {
            return fault(whole);
        };
        self.advance(whole.chars().count());
        Ok(TokenKind::Literal(literal))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn advance(&mut self, chars: usize) {
        for c in self.rest().chars().take(chars) {
            self.at += c.len_utf8();
            self.column = self.column.saturating_add(1);
        }
    }
}

/// Days since 1970-01-01 of year, month and day between one of the separators, or of eight digits (`\0`).
fn date_of(text: &str, separators: &[char]) -> Option<i32> {
    let parts: Vec<&str> = match separators {
        ['\0'] => vec![text.get(..4)?, text.get(4..6)?, text.get(6..)?],
        _ => text.split(separators).collect(),
    };
    let [year, month, day] = parts[..] else { return None };
    if !parts
        .iter()
        .all(|p| (1..=4).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
    {
        return None;
    }
    julian::unix_days_from_civil(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
}

/// Milliseconds since midnight of `hh[:mm[:ss[.fff]]] [AM|PM]`.
pub(super) fn time_of(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_uppercase();
    let (clock, half) = match (text.strip_suffix("AM"), text.strip_suffix("PM")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (_, Some(clock)) => (clock.trim_end(), Some(12)),
        _ => (text.as_str(), None),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':').map(|part| {
        let is_number = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| part.parse::<i64>().ok()).flatten()
    });
    let hour = parts.next()??;
    let minute = parts.next().unwrap_or(Some(0))?;
    let second = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || fraction.len() > 3 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let ms: i64 = format!("{fraction:0<3}").parse().ok()?;
    let hour = match half {
        Some(offset) if (1..=12).contains(&hour) => hour % 12 + offset,
        Some(_) => return None,
        None => hour,
    };
    (hour < 24 && minute < 60 && second < 60).then(|| ((hour * 60 + minute) * 60 + second) * 1000 + ms)
}
