//! Parameters as scripts give them: by position or by name.

use rune::Value;
use rune::runtime::TypeValue;

use crate::context::{Failure, FailureKind};

/// Calls `take` with the value of each parameter, in the statement's order; `None` is one that an object does not have. What an object
/// has beyond the parameters does not matter, as in Latte.
///
/// # Errors
/// [`FailureKind::Parameters`]: neither a list nor an object, or a list of another length; and what `take` says.
pub(super) fn for_each<N: AsRef<str>>(
    parameters: &Value,
    names: impl ExactSizeIterator<Item = N>,
    mut take: impl FnMut(usize, Option<&Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Ok(list) = parameters.borrow_ref::<rune::runtime::Vec>() {
        return by_position(&list, names, take);
    }
    match parameters.as_type_value() {
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
                parameters.type_info()
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
