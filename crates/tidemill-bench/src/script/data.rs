//! Values that leave their thread.

use rune::runtime::{Bytes, Object, OwnedTuple};
use rune::{TypeHash as _, Value};

use super::uuid::Uuid;

/// A copy of a script's value that shares nothing with it, so that every worker can have one.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// `()`.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// A character.
    Char(char),
    /// A whole number.
    Integer(i64),
    /// A byte, or a number that no signed one holds.
    Unsigned(u64),
    /// A float.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// `Some`, `None`.
    Option(Option<Box<Data>>),
    /// `[…]`.
    Vec(Vec<Data>),
    /// `(…)`.
    Tuple(Vec<Data>),
    /// `#{…}`.
    Object(Vec<(String, Data)>),
    /// A UUID.
    Uuid(Uuid),
}

/// A value that holds itself continues for ever; one this deep is taken for it.
const DEEPEST: usize = 100;

impl Data {
    /// A copy of `value`.
    ///
    /// # Errors
    /// What cannot be copied: functions, structs of the script, things that are open, and values more than 100 deep.
    pub fn of(value: &Value) -> Result<Self, String> {
        Self::within(value, DEEPEST)
    }

    fn within(value: &Value, depth: usize) -> Result<Self, String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("a value is more than {DEEPEST} deep, or holds itself"));
        };
        let all = |values: &[Value]| {
            values
                .iter()
                .map(|v| Self::within(v, depth))
                .collect::<Result<Vec<_>, _>>()
        };
        let hash = value.type_hash();
        Ok(if value.into_unit().is_ok() {
            Self::Unit
        } else if let Ok(v) = value.as_bool() {
            Self::Bool(v)
        } else if let Ok(v) = value.as_signed() {
            Self::Integer(v)
        } else if let Ok(v) = value.as_unsigned() {
            Self::Unsigned(v)
        } else if let Ok(v) = value.as_float() {
            Self::Float(v)
        } else if let Ok(v) = value.as_char() {
            Self::Char(v)
        } else if let Ok(text) = value.borrow_string_ref() {
            Self::Text(text.to_owned())
        } else if let Ok(bytes) = value.borrow_ref::<Bytes>() {
            Self::Bytes(bytes.to_vec())
        } else if let Ok(uuid) = value.borrow_ref::<Uuid>() {
            Self::Uuid(*uuid)
        } else if let Ok(option) = value.borrow_ref::<Option<Value>>() {
            let inner = (*option).as_ref().map(|v| Self::within(v, depth)).transpose()?;
            Self::Option(inner.map(Box::new))
        } else if let Ok(vec) = value.borrow_ref::<rune::runtime::Vec>() {
            Self::Vec(all(&vec)?)
        } else if hash == OwnedTuple::HASH {
            let tuple = value.borrow_tuple_ref().map_err(|e| e.to_string())?;
            Self::Tuple(all(&tuple)?)
        } else if let Ok(object) = value.borrow_ref::<Object>() {
            let fields = object
                .iter()
                .map(|(key, v)| Ok((key.as_str().to_owned(), Self::within(v, depth)?)));
            Self::Object(fields.collect::<Result<_, String>>()?)
        } else {
            return Err(format!(
                "a value of the type {} cannot be given to workers",
                value.type_info()
            ));
        })
    }

    /// A value of a script again.
    ///
    /// # Errors
    /// Without memory.
    pub fn into_value(self) -> Result<Value, rune::alloc::Error> {
        let all = |values: Vec<Self>| {
            let mut list = rune::alloc::Vec::try_with_capacity(values.len())?;
            for value in values {
                list.try_push(value.into_value()?)?;
            }
            Ok::<_, rune::alloc::Error>(list)
        };
        Ok(match self {
            Self::Unit => Value::from(()),
            Self::Bool(v) => Value::from(v),
            Self::Char(v) => Value::from(v),
            Self::Integer(v) => Value::from(v),
            Self::Unsigned(v) => Value::from(v),
            Self::Float(v) => Value::from(v),
            Self::Text(text) => text_value(&text)?,
            Self::Bytes(bytes) => Value::new(Bytes::from_vec(rune::alloc::Vec::try_from(bytes)?))?,
            Self::Uuid(uuid) => Value::new(uuid)?,
            Self::Option(option) => Value::new(option.map(|v| v.into_value()).transpose()?)?,
            Self::Vec(values) => Value::vec(all(values)?)?,
            Self::Tuple(values) => Value::tuple(all(values)?)?,
            Self::Object(fields) => {
                let mut object = Object::with_capacity(fields.len())?;
                for (key, value) in fields {
                    object.insert(rune::alloc::String::try_from(key)?, value.into_value()?)?;
                }
                Value::new(object)?
            }
        })
    }
}

/// A text as a value.
fn text_value(text: &str) -> Result<Value, rune::alloc::Error> {
    Value::new(rune::alloc::String::try_from(text)?)
}
