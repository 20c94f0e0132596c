//! Rows of `JSONEachRow`: objects, one after another, with commas between them or without, in brackets or not.
//!
//! Numbers are kept as they were written: a column may have more digits than a float.
//!
//! Source: RFC 8259.

use super::{
    Cursor,
    literal::{Literal, MAX_DEPTH, TOO_DEEP, is_number},
};
use crate::Result;

#[derive(Debug)]
pub(super) struct JsonRows<'a> {
    cursor: Cursor<'a>,
    /// Whether the objects are in brackets.
    is_list: Option<bool>,
    /// The names of the first object.
    names: Option<Vec<Vec<u8>>>,
}

impl<'a> JsonRows<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        Self {
            cursor,
            is_list: None,
            names: None,
        }
    }

    /// The names of the first object, in its order.
    pub(super) fn names(&mut self) -> Result<Option<Vec<String>>> {
        let begin = self.cursor;
        self.next()?;
        let names = self.names.iter().flatten();
        let names: Vec<_> = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        (self.cursor, self.is_list) = (begin, None);
        Ok(Some(names).filter(|names| !names.is_empty()))
    }

    /// The values of the next object, in the order of the first object's names.
    pub(super) fn next(&mut self) -> Result<Option<Vec<Literal>>> {
        let cursor = &mut self.cursor;
        cursor.skip_spaces();
        let is_list = *self.is_list.get_or_insert_with(|| cursor.take(b'['));
        cursor.skip_spaces();
        if cursor.row > 0 {
            cursor.take(b',');
            cursor.skip_spaces();
        }
        let is_end = match is_list {
            true => cursor.take(b']'),
            false => cursor.take(b';') || cursor.rest().is_empty(),
        };
        if is_end {
            cursor.skip_spaces();
            cursor.take(b';');
            cursor.skip_spaces();
            return match cursor.rest() {
                "" => Ok(None),
                _ => Err(cursor.error("nothing after the rows: one statement at a time")),
            };
        }
        if cursor.peek() != Some(b'{') {
            return Err(cursor.error("an object"));
        }
        let mut pairs = cursor.object(MAX_DEPTH)?;
        let names = self
            .names
            .get_or_insert_with(|| pairs.iter().map(|(name, _)| name.clone()).collect());
        let mut row = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            // Most often they are in the same order.
            let place = match pairs.get(at).is_some_and(|(found, _)| found == name) {
                true => Some(at),
                false => pairs.iter().position(|(found, _)| found == name),
            };
            match place.and_then(|place| pairs.get_mut(place)) {
                Some((_, value)) => row.push(std::mem::replace(value, Literal::Null)),
                None => return Err(cursor.error(SAME_NAMES)),
            }
        }
        if pairs.len() != names.len() {
            return Err(cursor.error(SAME_NAMES));
        }
        cursor.row += 1;
        Ok(Some(row))
    }
}

impl Cursor<'_> {
    fn object(&mut self, depth: usize) -> Result<Vec<(Vec<u8>, Literal)>> {
        self.at += 1;
        let mut pairs = Vec::new();
        loop {
            self.skip_spaces();
            if self.take(b'}') {
                return Ok(pairs);
            }
            if self.peek() != Some(b'"') {
                return Err(self.error("a name in double quotes"));
            }
            let name = self.json_string()?;
            self.skip_spaces();
            if !self.take(b':') {
                return Err(self.error("`:` after a name"));
            }
            pairs.push((name, self.json_value(depth)?));
            self.skip_spaces();
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    fn json_value(&mut self, depth: usize) -> Result<Literal> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error(TOO_DEEP));
        };
        self.skip_spaces();
        match self.peek() {
            Some(b'"') => self.json_string().map(Literal::Text),
            Some(b'{') => {
                let pairs = self.object(depth)?.into_iter();
                Ok(Literal::Map(
                    pairs.map(|(name, value)| (Literal::Text(name), value)).collect(),
                ))
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                loop {
                    self.skip_spaces();
                    if self.take(b']') {
                        return Ok(Literal::List(items));
                    }
                    items.push(self.json_value(depth)?);
                    self.skip_spaces();
                    if !self.take(b',') && self.peek() != Some(b']') {
                        return Err(self.error("`,` or `]`"));
                    }
                }
            }
            _ => {
                let word = self.next_word();
                let literal = match word {
                    "null" => Literal::Null,
                    "true" => Literal::Bool(true),
                    "false" => Literal::Bool(false),
                    number if is_number(number) => Literal::Number(number.to_owned()),
                    _ => return Err(self.error("a value of JSON")),
                };
                self.at += word.len();
                Ok(literal)
            }
        }
    }

    fn json_string(&mut self) -> Result<Vec<u8>> {
        let begin = *self;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.peek() else {
                return Err(begin.error("the end of a string"));
            };
            self.at += 1;
            match byte {
                b'"' => return Ok(bytes),
                b'\\' => {
                    let letter = self.peek();
                    self.at += usize::from(letter.is_some());
                    bytes.push(match letter {
                        Some(b'b') => 8,
                        Some(b'f') => 12,
                        Some(b'n') => b'\n',
                        Some(b'r') => b'\r',
                        Some(b't') => b'\t',
                        Some(letter @ (b'"' | b'\\' | b'/')) => letter,
                        Some(b'u') => {
                            let letter = self.utf16().ok_or_else(|| begin.error("a string with sound escapes"))?;
                            bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                            continue;
                        }
                        _ => return Err(begin.error("a string with sound escapes")),
                    });
                }
                other => bytes.push(other),
            }
        }
    }

    /// A character in one or two escapes, of which the first `\u` was taken.
    fn utf16(&mut self) -> Option<char> {
        let first = self.hex4()?;
        let units = match first {
            0xD800..=0xDBFF => {
                self.rest().strip_prefix("\\u")?;
                self.at += 2;
                vec![first, self.hex4()?]
            }
            unit => vec![unit],
        };
        char::decode_utf16(units).next()?.ok()
    }

    fn hex4(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}

const SAME_NAMES: &str = "the names of the first object in every object";
