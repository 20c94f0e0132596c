//! A script's value as a parameter of a type of PostgreSQL.
//!
//! | type | values of scripts | sent as |
//! |---|---|---|
//! | `smallint`, `integer`, `bigint`, `oid` | whole numbers | binary |
//! | `real`, `double precision` | numbers | binary |
//! | `boolean`, `bytea` | truth values; bytes | binary |
//! | `text`, `varchar`, `char`, `name`, `xml`, `json`, enums | texts | binary |
//! | `jsonb` | texts | binary |
//! | `uuid` | UUIDs, and their texts | binary, and text |
//! | `timestamp`, `timestamp with time zone` | whole numbers: milliseconds since 1970, as in CQL; texts | binary, and text |
//! | `numeric` | numbers, texts | text |
//! | arrays | lists of numbers, truth values, texts and UUIDs; texts | text |
//! | others | texts | text |

use rune::Value;
use rune::runtime::Bytes;
use tidemill_postgres::{Parameter, Type};

use crate::context::{Failure, FailureKind};
use crate::script::Uuid;

/// The value of the parameter `at`, which the script knows as `name`. None is NULL.
pub(super) fn parameter(value: Option<&Value>, typ: &Type, at: usize, name: &str) -> Result<Parameter, Failure> {
    let Some(value) = value else {
        return Ok(Parameter::Null);
    };
    if let Ok(option) = value.borrow_ref::<Option<Value>>() {
        return parameter(option.as_ref().as_ref(), typ, at, name);
    }
    if value.into_unit().is_ok() {
        return Ok(Parameter::Null);
    }
    encoded(value, typ).ok_or_else(|| {
        let number = format!("${}", at + 1);
        let name = if name == number {
            number
        } else {
            format!("{number} ({name})")
        };
        let found = match value.as_integer::<i64>() {
            Ok(number) => format!("{} {number}", value.type_info()),
            Err(_) => value.type_info().to_string(),
        };
        let why = format!("parameter {name}: expected {typ}, found {found}");
        Failure::new(FailureKind::Parameters, why)
    })
}

/// None where the value does not fit.
fn encoded(value: &Value, typ: &Type) -> Option<Parameter> {
    let integer = || value.as_integer::<i64>().ok();
    let float = || value.as_float().ok().or_else(|| integer().map(|number| number as f64));
    let text = || value.borrow_string_ref().ok().map(|text| text.to_owned());
    let bytes = |bytes: &[u8]| Some(Parameter::Binary(bytes.to_vec()));
    match typ {
        Type::Bool => bytes(&[u8::from(value.as_bool().ok()?)]),
        Type::Int2 => bytes(&i16::try_from(integer()?).ok()?.to_be_bytes()),
        Type::Int4 => bytes(&i32::try_from(integer()?).ok()?.to_be_bytes()),
        Type::Int8 => bytes(&integer()?.to_be_bytes()),
        Type::Oid => bytes(&u32::try_from(integer()?).ok()?.to_be_bytes()),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "what a real keeps of it is what is asked for"
        )]
        Type::Float4 => bytes(&(float()? as f32).to_be_bytes()),
        Type::Float8 => bytes(&float()?.to_be_bytes()),
        Type::Text | Type::Varchar(_) | Type::Bpchar(_) | Type::Name | Type::Xml | Type::Json | Type::Enum(_) => {
            bytes(text()?.as_bytes())
        }
        // The version of the format.
        Type::Jsonb => bytes(&[&[1], text()?.as_bytes()].concat()),
        Type::Bytea => bytes(&value.borrow_ref::<Bytes>().ok()?),
        Type::Uuid => match value.borrow_ref::<Uuid>() {
            Ok(uuid) => bytes(uuid.0.as_bytes()),
            Err(_) => text().map(Parameter::Text),
        },
        Type::Timestamp | Type::TimestampTz => match integer() {
            Some(millis) => {
                let micros = millis.checked_mul(1000)?.checked_sub(EPOCH_MICROS)?;
                bytes(&micros.to_be_bytes())
            }
            None => text().map(Parameter::Text),
        },
        Type::Numeric(_) => {
            let number = integer().map(|number| number.to_string());
            let number = number.or_else(|| value.as_float().ok().map(|number| number.to_string()));
            number.or_else(text).map(Parameter::Text)
        }
        Type::Array(element) => match value.borrow_ref::<rune::runtime::Vec>() {
            Ok(list) => array(&list, element).map(Parameter::Text),
            Err(_) => text().map(Parameter::Text),
        },
        _ => text().map(Parameter::Text),
    }
}

/// PostgreSQL's manual, "Array Value Input".
fn array(items: &[Value], element: &Type) -> Option<String> {
    let items = items.iter().map(|item| {
        // That the element fits is checked as of a parameter.
        encoded(item, element)?;
        if let Ok(list) = item.borrow_ref::<rune::runtime::Vec>() {
            return array(&list, element);
        }
        let text = match (item.as_integer::<i64>(), item.as_float(), item.as_bool()) {
            (Ok(number), _, _) => number.to_string(),
            (_, Ok(number), _) => number.to_string(),
            (_, _, Ok(truth)) => truth.to_string(),
            _ => match item.borrow_ref::<Uuid>() {
                Ok(uuid) => uuid.0.to_string(),
                Err(_) => item.borrow_string_ref().ok()?.to_owned(),
            },
        };
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        Some(format!("\"{escaped}\""))
    });
    let items: Option<Vec<String>> = items.collect();
    Some(format!("{{{}}}", items?.join(",")))
}

/// From 1970 to 2000, where PostgreSQL's times begin.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

#[cfg(test)]
mod tests {
    use rune::to_value;

    use super::*;

    #[test]
    fn values_are_of_the_types_of_the_statement() {
        let text = |text: &str| to_value(text.to_owned()).unwrap();
        let binary = |bytes: &[u8]| Parameter::Binary(bytes.to_vec());
        for (value, typ, expected) in [
            (Value::from(-2_i64), Type::Int2, binary(&[0xff, 0xfe])),
            (Value::from(1_i64), Type::Float8, binary(&1_f64.to_be_bytes())),
            (Value::from(true), Type::Bool, binary(&[1])),
            (text("{}"), Type::Jsonb, binary(b"\x01{}")),
            (
                Value::from(946_684_800_001_i64),
                Type::TimestampTz,
                binary(&1000_i64.to_be_bytes()),
            ),
            (Value::from(1.5), Type::Numeric(None), Parameter::Text("1.5".to_owned())),
            (text("2030-01-31"), Type::Date, Parameter::Text("2030-01-31".to_owned())),
            (to_value(None::<Value>).unwrap(), Type::Int4, Parameter::Null),
            (
                to_value(vec!["a\"b".to_owned(), "c".to_owned()]).unwrap(),
                Type::Array(Box::new(Type::Text)),
                Parameter::Text("{\"a\\\"b\",\"c\"}".to_owned()),
            ),
        ] {
            assert_eq!(parameter(Some(&value), &typ, 0, "$1").unwrap(), expected, "{typ}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let text = to_value("x".to_owned()).unwrap();
        let failure = parameter(Some(&text), &Type::Int8, 1, "id").unwrap_err();
        assert_eq!(
            failure.to_string(),
            "parameters: parameter $2 (id): expected bigint, found ::std::string::String"
        );
        let failure = parameter(Some(&Value::from(40_000_i64)), &Type::Int2, 0, "$1").unwrap_err();
        assert_eq!(
            failure.to_string(),
            "parameters: parameter $1: expected smallint, found ::std::i64 40000"
        );
    }
}
