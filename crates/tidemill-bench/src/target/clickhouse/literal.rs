//! Values as ClickHouse's SQL writes them.

use std::fmt::Write as _;

use rune::Value;
use rune::runtime::{Bytes, TypeValue};
use tidemill_clickhouse::sql_text;

use super::super::Parameters;
use crate::context::{Failure, FailureKind};
use crate::script::Uuid;

/// The text between the pieces of which the parameters stand as literals.
pub(super) fn fill(pieces: &[String], parameters: &Value) -> Result<String, Failure> {
    let marks = pieces.len().saturating_sub(1);
    let mut text = pieces.first().cloned().unwrap_or_default();
    Parameters::Value(parameters).for_each((0..marks).map(|_| "?"), |at, value| {
        write(value, &mut text)?;
        text.push_str(&pieces[at + 1]);
        Ok(())
    })?;
    Ok(text)
}

/// The text of a server's parameter, which is what a field of TSV has: no quotes, and `\N` for NULL.
pub(super) fn parameter(value: Option<&Value>, name: &str) -> Result<String, Failure> {
    let Some(value) = value else {
        return Err(Failure::new(
            FailureKind::Parameters,
            format!("the parameter {name} has no value"),
        ));
    };
    if let Ok(text) = value.borrow_string_ref() {
        return Ok(text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n"));
    }
    if let Ok(uuid) = value.borrow_ref::<Uuid>() {
        return Ok(uuid.0.to_string());
    }
    if is_none(value) {
        return Ok("\\N".to_owned());
    }
    let mut text = String::new();
    write(Some(value), &mut text)?;
    Ok(text)
}

fn is_none(value: &Value) -> bool {
    value.into_unit().is_ok() || value.borrow_ref::<Option<Value>>().is_ok_and(|option| option.is_none())
}

fn write(value: Option<&Value>, text: &mut String) -> Result<(), Failure> {
    let Some(value) = value else {
        return Err(Failure::new(
            FailureKind::Parameters,
            "? takes values by position: a list or a tuple",
        ));
    };
    if let Ok(option) = value.borrow_ref::<Option<Value>>() {
        return match option.as_ref() {
            Some(value) => write(Some(value), text),
            None => {
                text.push_str("NULL");
                Ok(())
            }
        };
    }
    if value.into_unit().is_ok() {
        text.push_str("NULL");
    } else if let Ok(integer) = value.as_signed() {
        // Writing to a string does not fail.
        let _ = write!(text, "{integer}");
    } else if let Ok(integer) = value.as_unsigned() {
        let _ = write!(text, "{integer}");
    } else if let Ok(float) = value.as_float() {
        let _ = write!(text, "{float:?}");
    } else if let Ok(truth) = value.as_bool() {
        text.push(if truth { '1' } else { '0' });
    } else if let Ok(string) = value.borrow_string_ref() {
        text.push_str(&sql_text::string(&string));
    } else if let Ok(uuid) = value.borrow_ref::<Uuid>() {
        let _ = write!(text, "'{}'", uuid.0);
    } else if let Ok(bytes) = value.borrow_ref::<Bytes>() {
        text.push_str("unhex('");
        for byte in bytes.iter() {
            let _ = write!(text, "{byte:02x}");
        }
        text.push_str("')");
    } else if let Ok(list) = value.borrow_ref::<rune::runtime::Vec>() {
        items(&list, ['[', ']'], text)?;
    } else if let Ok(TypeValue::Tuple(tuple)) = value.as_type_value() {
        items(&tuple, ['(', ')'], text)?;
    } else {
        let why = format!(
            "ClickHouse has no literal for a value of the type {}",
            value.type_info()
        );
        return Err(Failure::new(FailureKind::Parameters, why));
    }
    Ok(())
}

fn items(items: &[Value], [open, close]: [char; 2], text: &mut String) -> Result<(), Failure> {
    text.push(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        write(Some(item), text)?;
    }
    text.push(close);
    Ok(())
}

#[cfg(test)]
mod tests {
    use rune::to_value;

    use super::*;

    fn filled(values: Vec<Value>) -> Result<String, Failure> {
        let pieces: Vec<String> = vec!["f(".into(); 1]
            .into_iter()
            .chain(vec![", ".into(); values.len() - 1])
            .chain([")".into()])
            .collect();
        fill(&pieces, &to_value(values).unwrap())
    }

    #[test]
    fn values_stand_as_literals() {
        let text = |text: &str| to_value(text.to_owned()).unwrap();
        let values = vec![
            Value::from(-5_i64),
            Value::from(1.5),
            Value::from(true),
            text("it's \\"),
            to_value(None::<Value>).unwrap(),
            to_value(vec![1_i64, 2]).unwrap(),
            to_value((1_i64, "x".to_owned())).unwrap(),
        ];
        let expected = r"f(-5, 1.5, 1, 'it\'s \\', NULL, [1, 2], (1, 'x'))";
        assert_eq!(filled(values).unwrap(), expected);
    }

    #[test]
    fn numbers_of_values_and_marks_must_agree() {
        let one = to_value(vec![1_i64]).unwrap();
        assert_eq!(fill(&["a".into()], &one).unwrap_err().kind, FailureKind::Parameters);
        assert_eq!(
            fill(&["a".into(), "b".into(), "c".into()], &one).unwrap_err().kind,
            FailureKind::Parameters
        );
    }

    #[test]
    fn parameters_of_the_server_have_no_quotes() {
        let text = to_value("a\tb\\c".to_owned()).unwrap();
        assert_eq!(parameter(Some(&text), "x").unwrap(), r"a\tb\\c");
        assert_eq!(parameter(Some(&to_value(None::<Value>).unwrap()), "x").unwrap(), r"\N");
        assert!(parameter(None, "x").is_err());
    }
}
