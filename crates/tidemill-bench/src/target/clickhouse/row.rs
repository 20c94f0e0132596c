//! A script's value as a row of an INSERT.

use rune::Value;
use rune::runtime::{Bytes, Object, TypeValue};
use serde::ser::{Error as _, SerializeMap as _, SerializeSeq as _, SerializeTuple as _};
use serde::{Serialize, Serializer};

use crate::context::{Failure, FailureKind};
use crate::script::Uuid;

/// A row: a list or a tuple has a value for each column, an object names them.
pub(super) struct Row(Value);

impl Row {
    pub(super) fn new(value: Value, columns: &[String]) -> Result<Self, Failure> {
        let misfit = |why: String| Failure::new(FailureKind::Parameters, why);
        let length = if let Ok(list) = value.borrow_ref::<rune::runtime::Vec>() {
            list.len()
        } else {
            match value.as_type_value() {
                Ok(TypeValue::Tuple(tuple)) => tuple.len(),
                Ok(TypeValue::Object(object)) => {
                    check_names(&object, columns)?;
                    object.len()
                }
                _ => {
                    return Err(misfit(format!(
                        "a row is a list, a tuple or an object, found {}",
                        value.type_info()
                    )));
                }
            }
        };
        if !columns.is_empty() && length != columns.len() {
            return Err(misfit(format!(
                "the INSERT has {} columns, found {length} values",
                columns.len()
            )));
        }
        Ok(Self(value))
    }
}

fn check_names(object: &Object, columns: &[String]) -> Result<(), Failure> {
    let unknown = object
        .keys()
        .find(|key| !columns.is_empty() && !columns.iter().any(|c| c == key.as_str()));
    match unknown {
        Some(key) => {
            let why = format!("the INSERT has no column {}", key.as_str());
            Err(Failure::new(FailureKind::Parameters, why))
        }
        None => Ok(()),
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(list) = self.0.borrow_ref::<rune::runtime::Vec>() {
            return tuple(&list, serializer);
        }
        Item(&self.0).serialize(serializer)
    }
}

/// A value of a row.
struct Item<'v>(&'v Value);

fn tuple<S: Serializer>(items: &[Value], serializer: S) -> Result<S::Ok, S::Error> {
    let mut tuple = serializer.serialize_tuple(items.len())?;
    for item in items {
        tuple.serialize_element(&Item(item))?;
    }
    tuple.end()
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if let Ok(integer) = value.as_signed() {
            return serializer.serialize_i64(integer);
        }
        if let Ok(integer) = value.as_unsigned() {
            return serializer.serialize_u64(integer);
        }
        if let Ok(float) = value.as_float() {
            return serializer.serialize_f64(float);
        }
        if let Ok(truth) = value.as_bool() {
            return serializer.serialize_bool(truth);
        }
        if let Ok(text) = value.borrow_string_ref() {
            return serializer.serialize_str(&text);
        }
        if let Ok(uuid) = value.borrow_ref::<Uuid>() {
            return serializer.collect_str(&uuid.0);
        }
        if let Ok(bytes) = value.borrow_ref::<Bytes>() {
            return serializer.serialize_bytes(&bytes);
        }
        if let Ok(option) = value.borrow_ref::<Option<Value>>() {
            return match option.as_ref() {
                Some(value) => Item(value).serialize(serializer),
                None => serializer.serialize_none(),
            };
        }
        if let Ok(list) = value.borrow_ref::<rune::runtime::Vec>() {
            let mut seq = serializer.serialize_seq(Some(list.len()))?;
            for item in list.iter() {
                seq.serialize_element(&Item(item))?;
            }
            return seq.end();
        }
        match value.as_type_value() {
            Ok(TypeValue::Unit) => serializer.serialize_none(),
            Ok(TypeValue::Tuple(items)) => tuple(&items, serializer),
            Ok(TypeValue::Object(object)) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (name, item) in object.iter() {
                    map.serialize_entry(name.as_str(), &Item(item))?;
                }
                map.end()
            }
            _ => Err(S::Error::custom(format!(
                "a column holds no value of the type {}",
                value.type_info()
            ))),
        }
    }
}
