//! `LIKE pattern ESCAPE '!'`: the planner knows the backslash alone.

use sqlparser::ast::{Expr, Value};

/// Writes a pattern with another escape character with backslashes. One that is not a text in the statement stays, and is refused.
pub(super) fn put(expr: &mut Expr) {
    let (Expr::Like {
        pattern, escape_char, ..
    }
    | Expr::ILike {
        pattern, escape_char, ..
    }) = expr
    else {
        return;
    };
    let escape = match escape_char.as_ref().map(|escape| &escape.value) {
        Some(Value::SingleQuotedString(text)) => single(text),
        _ => None,
    };
    let (Some(escape), Expr::Value(value)) = (escape, pattern.as_mut()) else {
        return;
    };
    let Value::SingleQuotedString(text) = &mut value.value else {
        return;
    };
    let mut written = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == escape {
            // Whatever follows stands for itself.
            if let Some(next) = letters.next() {
                if ['%', '_', '\\'].contains(&next) {
                    written.push('\\');
                }
                written.push(next);
            }
        } else if letter == '\\' {
            written.push_str("\\\\");
        } else {
            written.push(letter);
        }
    }
    *text = written;
    *escape_char = None;
}

fn single(text: &str) -> Option<char> {
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none())
}
