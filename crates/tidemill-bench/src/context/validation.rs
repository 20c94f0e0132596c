//! How many rows a script expects.

use rune::Value;

use super::{Failure, FailureKind};

/// The least and the most rows, and what to say when it is otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    least: i64,
    most: i64,
    message: Option<String>,
}

impl Expected {
    /// Reads `[rows]`, `[least, most]`, `[rows, message]` or `[least, most, message]`.
    pub(super) fn of(arguments: &[Value]) -> Result<Self, Failure> {
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
        .map(|(least, most)| Self { least, most, message })
    }

    pub(super) fn check(&self, rows: u64) -> Result<(), Failure> {
        let Self { least, most, message } = self;
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

#[cfg(test)]
mod tests {
    use super::*;
    use rune::to_value;

    fn of(arguments: Vec<Value>) -> Result<Expected, Failure> {
        Expected::of(&arguments)
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
