//! How many rows a script expects.

use rune::Value;
use rune::runtime::Object;

use super::{Failure, FailureKind};
use crate::target::{Answer, Wanted};

/// The least and the most rows, and what to say when it is otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    least: i64,
    most: i64,
    message: Option<String>,
    /// Whether the statement counts rows itself: then its one value is meant.
    is_count: bool,
}

impl Expected {
    /// Reads `[rows]`, `[least, most]`, `[rows, message]` or `[least, most, message]`.
    /// `statement` is the text whose rows they are.
    pub(super) fn of(arguments: &[Value], statement: &str) -> Result<Self, Failure> {
        let (numbers, message) = match arguments.split_last() {
            Some((last, rest)) => match last.borrow_string_ref() {
                Ok(text) => (rest, Some(text.to_owned())),
                Err(_) => (arguments, None),
            },
            None => (arguments, None),
        };
        let bounds: Option<Vec<i64>> = numbers.iter().map(|v| v.as_integer().ok()).collect();
        match bounds.as_deref() {
            Some(&[rows]) => Ok((rows, rows)),
            Some(&[least, most]) => Ok((least, most)),
            _ => Err(Failure::new(
                FailureKind::Misuse,
                "expected rows are [rows], [least, most], [rows, message] or [least, most, message]",
            )),
        }
        .map(|(least, most)| Self {
            least,
            most,
            message,
            is_count: is_count(statement),
        })
    }

    /// What the answer is wanted for.
    pub(super) fn wanted(&self) -> Wanted {
        if self.is_count { Wanted::Rows } else { Wanted::Count }
    }

    /// How many rows the answer has, or says that there are.
    pub(super) fn found(&self, answer: &Answer) -> u64 {
        let counted = || {
            let row = answer.values.first()?.borrow_ref::<Object>().ok()?;
            row.values().next()?.as_integer().ok()
        };
        if self.is_count {
            counted().unwrap_or(answer.rows)
        } else {
            answer.rows
        }
    }

    pub(super) fn check(&self, rows: u64) -> Result<(), Failure> {
        let Self {
            least, most, message, ..
        } = self;
        if i64::try_from(rows).is_ok_and(|rows| (*least..=*most).contains(&rows)) {
            return Ok(());
        }
        let expected = if least == most {
            format!("{least}")
        } else {
            format!("{least} to {most}")
        };
        let message = message.as_ref().map(|m| format!(" ({m})")).unwrap_or_default();
        let why = format!("expected {expected} rows, found {rows}{message}");
        Err(Failure::new(FailureKind::Validation, why))
    }
}

fn is_count(statement: &str) -> bool {
    let text = statement.trim_start().to_ascii_lowercase();
    let behind = text.strip_prefix("select").map(str::trim_start);
    let behind = behind.and_then(|text| text.strip_prefix("count")).map(str::trim_start);
    behind.is_some_and(|text| text.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rune::to_value;

    fn of(arguments: Vec<Value>) -> Result<Expected, Failure> {
        Expected::of(&arguments, "SELECT a FROM t")
    }

    fn text(text: &str) -> Value {
        to_value(text.to_owned()).unwrap()
    }

    #[test]
    fn one_number_is_exact_and_two_are_a_range() {
        let exact = of(vec![Value::from(2_i64)]).unwrap();
        assert!(exact.check(2).is_ok());
        assert_eq!(exact.check(3).unwrap_err().message, "expected 2 rows, found 3");
        let range = of(vec![Value::from(0_i64), Value::from(1_i64), text("after 100 s")]).unwrap();
        assert!(range.check(0).is_ok());
        assert_eq!(
            range.check(2).unwrap_err().to_string(),
            "validation: expected 0 to 1 rows, found 2 (after 100 s)"
        );
        let named = of(vec![Value::from(7_i64), text("seven")]).unwrap();
        assert_eq!(named.check(0).unwrap_err().message, "expected 7 rows, found 0 (seven)");
    }

    #[test]
    fn knows_a_statement_that_counts() {
        for (text, expected) in [
            ("SELECT COUNT(*) FROM t", true),
            (" select  count (id) from t", true),
            ("SELECT count FROM t", false),
            ("SELECT a, COUNT(*) FROM t", false),
            ("DELETE", false),
        ] {
            assert_eq!(is_count(text), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for arguments in [
            vec![],
            vec![text("many")],
            vec![Value::from(true)],
            vec![Value::from(1_i64); 3],
        ] {
            assert_eq!(of(arguments).unwrap_err().kind, FailureKind::Misuse);
        }
    }
}
