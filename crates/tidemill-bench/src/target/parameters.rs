//! Parameters as scripts give them: by position or by name.

use rune::runtime::{Object, TypeValue};
use rune::{Value, alloc};

use crate::context::{Failure, FailureKind};

/// The parameters of a statement.
#[derive(Debug, Clone, Copy)]
pub enum Parameters<'a> {
    /// A list or a tuple, by position, or an object or a struct, by name.
    Value(&'a Value),
    /// By position.
    List(&'a [Value]),
    /// By name: the names, and as many values.
    Named(&'a [String], &'a [Value]),
}

impl Parameters<'_> {
    /// Calls `take` with the value of each parameter, in the statement's order; `None` is one that an object does not have. What an object
    /// has beyond the parameters does not matter, as in Latte.
    ///
    /// # Errors
    /// [`FailureKind::Parameters`]: neither a list nor an object, or a list of another length; and what `take` says.
    #[inline]
    pub(super) fn for_each<N: AsRef<str>>(
        self,
        names: impl ExactSizeIterator<Item = N>,
        mut take: impl FnMut(usize, Option<&Value>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::List(values) => by_position(values, names, take),
            Self::Named(fields, values) => names.enumerate().try_for_each(|(at, name)| {
                let field = fields.iter().position(|field| field == name.as_ref());
                take(at, field.and_then(|field| values.get(field)))
            }),
            Self::Value(value) => of_value(value, names, take),
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::List(values) | Self::Named(_, values) => values.is_empty(),
            Self::Value(value) => {
                value.into_unit().is_ok()
                    || value
                        .borrow_ref::<rune::runtime::Vec>()
                        .is_ok_and(|list| list.is_empty())
            }
        }
    }

    /// The same as one value.
    ///
    /// # Errors
    /// Without memory.
    pub fn to_value(self) -> alloc::Result<Value> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::List(values) => {
                let mut list = alloc::Vec::try_with_capacity(values.len())?;
                for value in values {
                    list.try_push(value.clone())?;
                }
                Value::vec(list)
            }
            Self::Named(fields, values) => {
                let mut object = Object::new();
                for (field, value) in fields.iter().zip(values) {
                    object.insert(alloc::String::try_from(field.as_str())?, value.clone())?;
                }
                Value::new(object)
            }
        }
    }
}

fn of_value<N: AsRef<str>>(
    value: &Value,
    names: impl ExactSizeIterator<Item = N>,
    mut take: impl FnMut(usize, Option<&Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Ok(list) = value.borrow_ref::<rune::runtime::Vec>() {
        return by_position(&list, names, take);
    }
    match value.as_type_value() {
        Ok(TypeValue::Unit) => by_position(&[], names, take),
        Ok(TypeValue::Tuple(tuple)) => by_position(&tuple, names, take),
        Ok(TypeValue::Object(object)) => names
            .enumerate()
            .try_for_each(|(at, name)| take(at, object.get(name.as_ref()))),
        Ok(TypeValue::Struct(fields)) => names
            .enumerate()
            .try_for_each(|(at, name)| take(at, fields.get(name.as_ref()))),
        _ => Err(Failure::new(
            FailureKind::Parameters,
            format!(
                "parameters are a list, a tuple, an object or a struct, found {}",
                value.type_info()
            ),
        )),
    }
}

fn by_position<N>(
    values: &[Value],
    names: impl ExactSizeIterator<Item = N>,
    mut take: impl FnMut(usize, Option<&Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if values.len() != names.len() {
        let why = format!(
            "the statement has {} parameters, found {} values",
            names.len(),
            values.len()
        );
        return Err(Failure::new(FailureKind::Parameters, why));
    }
    values
        .iter()
        .enumerate()
        .try_for_each(|(at, value)| take(at, Some(value)))
}
