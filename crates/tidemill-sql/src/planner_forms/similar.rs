//! `SIMILAR TO`, whose pattern is a regular expression of SQL: `%` is any text, `_` any letter, and the whole text has to match. The engine
//! takes it for one of its own regular expressions, in which these are letters. (PostgreSQL 15, 9.7.2. SIMILAR TO Regular Expressions.)

use sqlparser::ast::{Expr, UnaryOperator, Value};

use super::call;
use crate::{Error, Result};

/// The condition as a match of a regular expression; `None` of another expression.
///
/// # Errors
///
/// [`Error::Unsupported`] for a pattern that is no literal.
pub(super) fn as_match(expr: &Expr) -> Result<Option<Expr>> {
    let Expr::SimilarTo {
        negated,
        expr: text,
        pattern,
        escape_char,
    } = expr
    else {
        return Ok(None);
    };
    let escape = match escape_char.as_ref().map(|escape| &escape.value) {
        None => Some('\\'),
        Some(Value::SingleQuotedString(escape)) => escape.chars().next(),
        Some(_) => return Err(unsupported(expr)),
    };
    let Expr::Value(pattern) = &**pattern else {
        return Err(unsupported(expr));
    };
    let Value::SingleQuotedString(words) = &pattern.value else {
        return Err(unsupported(expr));
    };
    let regex = Value::SingleQuotedString(regex(words, escape)).with_span(pattern.span);
    let matched = call("regexp_like", [text.as_ref().clone(), Expr::Value(regex)].into_iter());
    Ok(Some(match negated {
        false => matched,
        true => Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr: Box::new(Expr::Nested(Box::new(matched))),
        },
    }))
}

fn unsupported(expr: &Expr) -> Error {
    Error::Unsupported {
        what: format!("{expr}: a pattern that is no text in quotes"),
        hint: "write the pattern itself, or use regexp_like".to_owned(),
    }
}

fn regex(pattern: &str, escape: Option<char>) -> String {
    let mut made = String::from("^(?s:");
    let (mut letters, mut is_in_brackets) = (pattern.chars(), false);
    while let Some(letter) = letters.next() {
        match letter {
            letter if Some(letter) == escape => {
                if let Some(letter) = letters.next() {
                    literal(&mut made, letter);
                }
            }
            '[' => {
                is_in_brackets = true;
                made.push('[');
            }
            ']' => {
                is_in_brackets = false;
                made.push(']');
            }
            letter if is_in_brackets => match letter {
                '\\' | '&' | '~' => literal(&mut made, letter),
                letter => made.push(letter),
            },
            '%' => made.push_str(".*"),
            '_' => made.push('.'),
            '|' | '*' | '+' | '?' | '{' | '}' | '(' | ')' => made.push(letter),
            letter => literal(&mut made, letter),
        }
    }
    made.push_str(")$");
    made
}

/// A letter that stands for itself.
fn literal(regex: &mut String, letter: char) {
    if !letter.is_alphanumeric() && !letter.is_whitespace() && letter.is_ascii() {
        regex.push('\\');
    }
    regex.push(letter);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_regular_expressions_of_the_whole_text() {
        for (pattern, expected) in [
            ("A%", "^(?s:A.*)$"),
            ("a_c", "^(?s:a.c)$"),
            ("%(b|d)%", "^(?s:.*(b|d).*)$"),
            ("a.c$^", "^(?s:a\\.c\\$\\^)$"),
            ("[a-c%]+x{2}", "^(?s:[a-c%]+x{2})$"),
            ("50\\%", "^(?s:50\\%)$"),
            ("é ü", "^(?s:é ü)$"),
        ] {
            assert_eq!(regex(pattern, Some('\\')), expected, "{pattern}");
        }
        assert_eq!(regex("50#%", Some('#')), "^(?s:50\\%)$");
        assert_eq!(regex("a\\d", None), "^(?s:a\\\\d)$");
    }
}
