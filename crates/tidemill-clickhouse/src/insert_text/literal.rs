//! Values as `VALUES` has them.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use super::Cursor;
use crate::{Error, Result, sql_text::Tokens};

/// A value whose text was read, before the type of its column is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    /// A field of CSV without anything in it.
    Empty,
    Bool(bool),
    /// A number as it was written.
    Number(String),
    /// A text in quotes, or a field.
    Text(Vec<u8>),
    List(Vec<Self>),
    Tuple(Vec<Self>),
    Map(Vec<(Self, Self)>),
    /// What only the server knows the value of.
    Expression(String),
}

impl Literal {
    /// Writes the value as JSON. Text that is no UTF-8 has replacement characters.
    pub(crate) fn put_json(&self, out: &mut String) {
        let list = |out: &mut String, items: &[Self]| {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                item.put_json(out);
            }
            out.push(']');
        };
        match self {
            Self::Null | Self::Empty => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(text) => out.push_str(text),
            Self::Text(bytes) => out.push_str(&serde_json::Value::from(String::from_utf8_lossy(bytes)).to_string()),
            Self::Expression(text) => out.push_str(&serde_json::Value::from(text.as_str()).to_string()),
            Self::List(items) | Self::Tuple(items) => list(out, items),
            Self::Map(pairs) => {
                out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    match key {
                        Self::Number(key) => out.push_str(&format!("\"{key}\"")),
                        key => key.put_json(out),
                    }
                    out.push(':');
                    value.put_json(out);
                }
                out.push('}');
            }
        }
    }
}

/// What the server answers for an expression.
impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

macro_rules! numbers {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E>(self, value: $kind) -> std::result::Result<Literal, E> {
            Ok(Literal::Number(value.to_string()))
        }
    )*};
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Literal;

    numbers! {
        visit_i64(i64) visit_i128(i128) visit_u64(u64) visit_u128(u128) visit_f32(f32) visit_f64(f64)
    }

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Literal, E> {
        Ok(Literal::Bool(value))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Literal, E> {
        Ok(Literal::Text(value.into()))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> std::result::Result<Literal, E> {
        Ok(Literal::Text(value.into()))
    }

    fn visit_none<E>(self) -> std::result::Result<Literal, E> {
        Ok(Literal::Null)
    }

    fn visit_unit<E>(self) -> std::result::Result<Literal, E> {
        Ok(Literal::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Literal, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Literal, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Literal::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> std::result::Result<Literal, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = access.next_entry()? {
            pairs.push(pair);
        }
        Ok(Literal::Map(pairs))
    }
}

/// Reads a value that is all of a text, such as `[1, 2]` in a field of CSV. `None` if it is none.
pub(crate) fn parse_whole(text: &str) -> Option<Literal> {
    let mut cursor = Cursor {
        text,
        at: 0,
        row: 0,
        offset: 0,
    };
    let literal = cursor.literal(MAX_DEPTH).ok()?;
    cursor.skip_spaces();
    cursor.rest().is_empty().then_some(literal)
}

/// The rows of `VALUES`: values in parentheses, with commas between the rows or without.
#[derive(Debug)]
pub(super) struct ValuesRows<'a>(Cursor<'a>);

impl<'a> ValuesRows<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        Self(cursor)
    }

    pub(super) fn next(&mut self) -> Result<Option<Vec<Literal>>> {
        let cursor = &mut self.0;
        cursor.skip_spaces();
        let comma = cursor.row > 0 && cursor.take(b',');
        cursor.skip_spaces();
        if !comma && cursor.take(b';') {
            cursor.skip_spaces();
            return match cursor.rest() {
                "" => Ok(None),
                _ => Err(cursor.error("nothing after the rows: one statement at a time")),
            };
        }
        if !comma && cursor.rest().is_empty() {
            return Ok(None);
        }
        if !cursor.take(b'(') {
            return Err(cursor.error("a row in parentheses"));
        }
        let mut row = Vec::new();
        loop {
            row.push(cursor.value()?);
            cursor.skip_spaces();
            if cursor.take(b')') {
                cursor.row += 1;
                return Ok(Some(row));
            }
            if !cursor.take(b',') {
                return Err(cursor.error("`,` or `)`"));
            }
        }
    }
}

impl<'a> Cursor<'a> {
    /// A literal that a comma or the end of the row follows, or an expression.
    fn value(&mut self) -> Result<Literal> {
        self.skip_spaces();
        let begin = *self;
        let read = self.literal(MAX_DEPTH);
        self.skip_spaces();
        if read.is_ok() && matches!(self.peek(), Some(b',' | b')')) {
            return read;
        }
        if let Err(error @ Error::InsertText { expected: TOO_DEEP, .. }) = read {
            return Err(error);
        }
        *self = begin;
        let end = Tokens::new(self.text, self.at).find(&[",", ")"]);
        let text = end.and_then(|end| self.text.get(self.at..end)).map(str::trim);
        match (text, end) {
            (Some(""), _) => Err(self.error("a value")),
            (Some(text), _) if text.eq_ignore_ascii_case("DEFAULT") => {
                Err(self.error("a value; columns that are not named after the table get their defaults"))
            }
            (Some(text), Some(end)) => {
                let text = text.to_owned();
                self.at = end;
                match self.peek() {
                    Some(_) => Ok(Literal::Expression(text)),
                    None => Err(self.error("`,` or `)`")),
                }
            }
            _ if self.peek() == Some(b'\'') => Err(self.error("the end of a string")),
            _ => Err(self.error("the end of the row: a bracket or a quote is not closed")),
        }
    }

    fn literal(&mut self, depth: usize) -> Result<Literal> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error(TOO_DEEP));
        };
        self.skip_spaces();
        match self.peek() {
            Some(b'\'') => self.string().map(Literal::Text),
            Some(b'[') => Ok(Literal::List(self.items(depth, b']')?.0)),
            Some(b'(') => {
                let (mut items, has_comma) = self.items(depth, b')')?;
                match (items.pop(), has_comma || !items.is_empty()) {
                    // In parentheses, as in SQL.
                    (Some(item), false) => Ok(item),
                    (last, _) => {
                        items.extend(last);
                        Ok(Literal::Tuple(items))
                    }
                }
            }
            Some(b'{') => self.map(depth),
            _ => self.word(),
        }
    }

    /// Values up to a closing bracket, and whether a comma is after the last.
    fn items(&mut self, depth: usize, close: u8) -> Result<(Vec<Literal>, bool)> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_spaces();
            if self.take(close) {
                let has_comma = !items.is_empty();
                return Ok((items, has_comma));
            }
            items.push(self.literal(depth)?);
            self.skip_spaces();
            if self.take(close) {
                return Ok((items, false));
            }
            if !self.take(b',') {
                return Err(self.error("`,` or a closing bracket"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Literal> {
        self.at += 1;
        let mut pairs = Vec::new();
        loop {
            self.skip_spaces();
            if self.take(b'}') {
                return Ok(Literal::Map(pairs));
            }
            let key = self.literal(depth)?;
            self.skip_spaces();
            if !self.take(b':') {
                return Err(self.error("`:` after the key of a map"));
            }
            let value = self.literal(depth)?;
            pairs.push((key, value));
            self.skip_spaces();
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    /// A number, or one of the words that are values.
    fn word(&mut self) -> Result<Literal> {
        let word = self.next_word();
        let literal = match word {
            _ if word.eq_ignore_ascii_case("null") => Literal::Null,
            _ if word.eq_ignore_ascii_case("true") => Literal::Bool(true),
            _ if word.eq_ignore_ascii_case("false") => Literal::Bool(false),
            _ if is_number(word) => Literal::Number(word.to_owned()),
            _ => return Err(self.error("a value")),
        };
        self.at += word.len();
        Ok(literal)
    }

    /// The letters of a number or a word that come next.
    pub(super) fn next_word(&self) -> &'a str {
        let rest = self.rest();
        let is_other = |letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '.' | '+' | '-'));
        rest.get(..rest.find(is_other).unwrap_or(rest.len()))
            .unwrap_or_default()
    }

    /// A text in single quotes.
    ///
    /// Source: `Parsers/Lexer.cpp` and `IO/ReadHelpers.cpp` of ClickHouse, `parseComplexEscapeSequence`.
    fn string(&mut self) -> Result<Vec<u8>> {
        let begin = *self;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.peek() else {
                return Err(begin.error("the end of a string"));
            };
            self.at += 1;
            match byte {
                b'\'' if self.take(b'\'') => bytes.push(b'\''),
                b'\'' => return Ok(bytes),
                b'\\' => {
                    let Some(letter) = self.peek() else {
                        return Err(begin.error("the end of a string"));
                    };
                    self.at += 1;
                    escaped(letter, self, &mut bytes);
                }
                other => bytes.push(other),
            }
        }
    }
}

/// What a letter after a backslash stands for. Of a letter that stands for nothing, the backslash stays.
pub(super) fn escaped(letter: u8, cursor: &mut Cursor<'_>, bytes: &mut Vec<u8>) {
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'e' => 27,
        b'0' => 0,
        b'x' => {
            let digits = cursor.text.as_bytes().get(cursor.at..cursor.at + 2);
            let byte = digits
                .and_then(|digits| std::str::from_utf8(digits).ok())
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            match byte {
                Some(byte) => {
                    cursor.at += 2;
                    byte
                }
                None => {
                    bytes.push(b'\\');
                    b'x'
                }
            }
        }
        b'\\' | b'\'' | b'"' | b'`' | b'/' => letter,
        other => {
            if !other.is_ascii_control() {
                bytes.push(b'\\');
            }
            other
        }
    };
    bytes.push(byte);
}

/// Whether a word is a decimal number, or one of the floats that are words.
pub(crate) fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if ["inf", "infinity", "nan"]
        .iter()
        .any(|name| unsigned.eq_ignore_ascii_case(name))
    {
        return true;
    }
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !(whole.is_empty() && part.is_empty())
        && are_digits(whole)
        && are_digits(part)
        && exponent.is_none_or(|digits| !digits.is_empty() && are_digits(digits))
}

/// How deep values may be in others: deeper than any type can be.
pub(super) const MAX_DEPTH: usize = 100;
pub(super) const TOO_DEEP: &str = "fewer parts within parts";
