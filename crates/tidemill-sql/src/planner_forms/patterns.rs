//! Patterns of dates and times as PostgreSQL and Oracle write them: `to_char(day, 'YYYY-MM-DD')`.
//!
//! The engine's functions take the letters of `strftime`, as in `'%Y-%m-%d'`, and copy all others: they would answer `YYYY-MM-DD`. So a
//! pattern without a `%` becomes what it means. (PostgreSQL 15, 9.8. Data Type Formatting Functions, tables 9.27 and 9.28.)

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value};

use crate::{Error, Result};

/// Functions whose later arguments are patterns.
const FUNCTIONS: [&str; 3] = ["to_char", "to_date", "to_timestamp"];

/// What each stands for, and what it stands for behind FM, which takes zeros and blanks away. The longer ones come first.
const PATTERNS: [(&str, Option<&str>, Option<&str>); 37] = [
    ("YYYY", Some("%Y"), Some("%Y")),
    ("IYYY", Some("%G"), Some("%G")),
    ("HH24", Some("%H"), Some("%-H")),
    ("HH12", Some("%I"), Some("%-I")),
    ("A.M.", None, None),
    ("P.M.", None, None),
    ("SSSS", None, None),
    // Blanks follow to the width of the longest name, which `strftime` has not.
    ("MONTH", None, Some("%B")),
    ("IDDD", None, None),
    ("YYY", None, None),
    ("DDD", Some("%j"), Some("%-j")),
    ("DAY", None, Some("%A")),
    ("MON", Some("%b"), Some("%b")),
    ("TZH", None, None),
    ("TZM", None, None),
    ("FF3", Some("%3f"), Some("%3f")),
    ("FF6", Some("%6f"), Some("%6f")),
    ("HH", Some("%I"), Some("%-I")),
    ("MI", Some("%M"), Some("%-M")),
    ("SS", Some("%S"), Some("%-S")),
    ("MS", Some("%3f"), Some("%3f")),
    ("US", Some("%6f"), Some("%6f")),
    ("YY", Some("%y"), Some("%y")),
    ("MM", Some("%m"), Some("%-m")),
    ("DD", Some("%d"), Some("%-d")),
    ("DY", Some("%a"), Some("%a")),
    ("ID", Some("%u"), Some("%u")),
    ("IW", Some("%V"), Some("%-V")),
    ("AM", Some("%p"), Some("%p")),
    ("PM", Some("%p"), Some("%p")),
    ("TZ", Some("%Z"), Some("%Z")),
    ("OF", Some("%:z"), Some("%:z")),
    ("TH", None, None),
    ("WW", None, None),
    ("CC", None, None),
    ("BC", None, None),
    ("Q", Some("%q"), Some("%q")),
];

/// Patterns of one letter, which `strftime` has not.
const UNKNOWN: &str = "YIWDJ";

/// Gives the function's patterns the letters of `strftime`.
///
/// # Errors
///
/// [`Error::Unsupported`] for a pattern that these cannot say.
pub(super) fn put(function: &mut Function) -> Result<()> {
    let name = function.name.to_string();
    if !FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
        return Ok(());
    }
    let FunctionArguments::List(list) = &mut function.args else {
        return Ok(());
    };
    for argument in list.args.iter_mut().skip(1) {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value))) = argument
            && let Value::SingleQuotedString(pattern) = &mut value.value
            && !pattern.contains('%')
        {
            *pattern = strftime(pattern).map_err(|unknown| Error::Unsupported {
                what: format!("{unknown} in the pattern '{pattern}' of {name}"),
                hint: "write the pattern in strftime's letters, as in '%Y-%m-%d %H:%M:%S'".to_owned(),
            })?;
        }
    }
    Ok(())
}

/// The pattern in the letters of `strftime`, or the part that these cannot say.
fn strftime(pattern: &str) -> std::result::Result<String, &str> {
    let (mut made, mut rest) = (String::new(), pattern);
    while let Some(letter) = rest.chars().next() {
        if letter == '"' {
            let text = rest.get(1..).unwrap_or_default();
            let (text, behind) = text.split_once('"').ok_or(rest)?;
            made.push_str(text);
            rest = behind;
            continue;
        }
        let is_filled = !begins(rest, "FM");
        let behind = if is_filled {
            rest
        } else {
            rest.get(2..).unwrap_or_default()
        };
        let known = PATTERNS.iter().find(|(known, ..)| begins(behind, known));
        let Some((known, filled, bare)) = known else {
            let is_unknown = UNKNOWN.contains(letter.to_ascii_uppercase()) || !is_filled;
            let (letter, behind) = rest.split_at(letter.len_utf8());
            if is_unknown {
                return Err(letter);
            }
            made.push_str(letter);
            rest = behind;
            continue;
        };
        let (found, behind) = behind.split_at(known.len());
        let means = if is_filled { filled } else { bare }.ok_or(found)?;
        made.push_str(match (means, found) {
            ("%p", "am" | "pm") => "%P",
            // Names are written with one capital, or else not by strftime.
            ("%a" | "%A" | "%b" | "%B", _) if !is_capitalised(found) => return Err(found),
            (means, _) => means,
        });
        rest = behind;
    }
    Ok(made)
}

fn begins(text: &str, pattern: &str) -> bool {
    let begin = text.get(..pattern.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(pattern))
}

fn is_capitalised(text: &str) -> bool {
    let (first, rest) = text.split_at(1);
    first.bytes().all(|byte| byte.is_ascii_uppercase()) && rest.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_say_the_same() {
        for (pattern, expected) in [
            ("YYYY-MM-DD", "%Y-%m-%d"),
            ("yyyy/mm/dd hh24:mi:ss", "%Y/%m/%d %H:%M:%S"),
            ("DD Mon YY", "%d %b %y"),
            ("FMDD. FMMonth YYYY", "%-d. %B %Y"),
            ("Dy, HH12:MI AM", "%a, %I:%M %p"),
            ("HH:MI pm", "%I:%M %P"),
            ("YYYY-MM-DD\"T\"HH24:MI:SS.MS", "%Y-%m-%dT%H:%M:%S.%3f"),
            ("IYYY-IW-ID", "%G-%V-%u"),
            ("DDD", "%j"),
            ("YYYY-\"Q\"Q", "%Y-Q%q"),
            ("é – .", "é – ."),
        ] {
            assert_eq!(strftime(pattern), Ok(expected.to_owned()), "{pattern}");
        }
        for (pattern, unknown) in [
            ("Month", "Month"),
            ("DD MON", "MON"),
            ("YYYY W", "W"),
            ("DDth", "th"),
            ("\"open", "\"open"),
            ("FMx", "F"),
        ] {
            assert_eq!(strftime(pattern), Err(unknown), "{pattern}");
        }
    }
}
