//! Texts that stand for numbers and logicals: `order_no = '3'`, `paid = 't'`.
//!
//! A literal in quotes beside a number is that number, if it is one, and beside a logical that logical, as in PostgreSQL, whose drivers
//! send numbers so (15, 10.2. Operators; 8.6. Boolean Type). Other texts stay texts, and do not fit.

use crate::sql::expression::Expr;
use crate::sql::value::{Type, Value};

/// An operand beside one of another type.
pub(super) fn beside(operand: Expr, other: Type) -> Expr {
    match operand {
        Expr::Value(Value::Text(text)) => Expr::Value(literal_of_type(&text, other).unwrap_or(Value::Text(text))),
        operand => operand,
    }
}

/// What a text stands for beside a value of a type; `None` if it is a text there too.
pub fn literal_of_type(text: &str, beside: Type) -> Option<Value> {
    match beside {
        Type::Logical => logical_of(text).map(Value::Logical),
        Type::Integer | Type::Decimal(_) | Type::Double => {
            let text = number_of(text)?;
            match text.strip_prefix('-') {
                Some(digits) => Value::number(digits).map(Value::negated),
                None => Value::number(text),
            }
        }
        _ => None,
    }
}

/// The number that a text spells, without blanks around it and without a plus.
fn number_of(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits.contains(|letter: char| letter.is_ascii_digit())
        && digits.parse::<f64>().is_ok_and(f64::is_finite);
    is_number.then_some(text)
}

/// The logical that a text spells, whole or by its first letters, as in PostgreSQL.
fn logical_of(text: &str) -> Option<bool> {
    let word = text.trim().to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if begins("true", 1) || begins("yes", 1) || word == "on" || word == "1" {
        return Some(true);
    }
    (begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0").then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_numbers_that_they_spell() {
        for (text, expected) in [
            ("3", Some("3")),
            (" +3.50 ", Some("3.50")),
            ("-.5", Some("-.5")),
            ("1e3", Some("1e3")),
            ("", None),
            ("x", None),
            ("3x", None),
            ("--3", None),
            ("inf", None),
            ("nan", None),
            (".", None),
        ] {
            assert_eq!(number_of(text), expected, "{text}");
        }
        for (text, expected) in [
            ("t", Some(true)),
            ("TRUE", Some(true)),
            ("y", Some(true)),
            ("1", Some(true)),
            ("f", Some(false)),
            ("No", Some(false)),
            ("off", Some(false)),
            ("o", None),
            ("", None),
            ("truer", None),
        ] {
            assert_eq!(logical_of(text), expected, "{text}");
        }
    }
}
