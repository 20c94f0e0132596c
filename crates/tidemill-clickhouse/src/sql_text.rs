//! Names, strings and other values in the text of a statement, as ClickHouse writes them.
//!
//! Source: `IO/WriteHelpers.h` of ClickHouse, `writeAnyEscapedString`.

mod tokens;
mod value;

pub(crate) use self::tokens::{Token, Tokens};
pub use self::value::{Bytes, Identifier, SqlValue};

/// A name in backquotes: any text can be one.
///
/// ```
/// assert_eq!(tidemill_clickhouse::sql_text::name("a`b"), r"`a\`b`");
/// ```
#[must_use]
pub fn name(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// A string in single quotes.
///
/// ```
/// assert_eq!(tidemill_clickhouse::sql_text::string("it's"), r"'it\'s'");
/// ```
#[must_use]
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        match ESCAPES.iter().find(|(_, plain)| *plain == character) {
            Some((letter, _)) => out.extend(['\\', *letter]),
            None => out.push(character),
        }
    }
    out.push('\'');
    out
}

/// What is in a string in single quotes; `None` when it is none.
pub(crate) fn unquoted(text: &str) -> Option<String> {
    let mut characters = text.strip_prefix('\'')?.strip_suffix('\'')?.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => {
                let letter = characters.next()?;
                ESCAPES
                    .iter()
                    .find(|(known, _)| *known == letter)
                    .map_or(letter, |(_, plain)| *plain)
            }
            '\'' => return None,
            other => other,
        });
    }
    Some(out)
}

/// The letter after a backslash, and what both stand for.
const ESCAPES: [(char, char); 8] = [
    ('b', '\u{8}'),
    ('f', '\u{c}'),
    ('n', '\n'),
    ('r', '\r'),
    ('t', '\t'),
    ('0', '\0'),
    ('\\', '\\'),
    ('\'', '\''),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quoted_text_comes_back(text in any::<String>()) {
            let back = unquoted(&string(&text));
            prop_assert_eq!(back.as_deref(), Some(text.as_str()));
        }
    }
}
