//! What CAST and CONVERT make of values: a type, and what of it is smaller than the type that the values have here.

use arrow_array::StringArray;

use super::error::{Error, Kind, Result};
use super::value::{Type, Value, decimal_text};
use super::vector::Vector;

/// To which type, and how.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conversion {
    pub(super) to: Type,
    /// The most characters of a text; 0 for as many as there are.
    pub(super) length: u32,
    pub(super) limits: Option<Limits>,
    /// Whether a value that cannot be converted is NULL, and no error.
    pub(super) is_try: bool,
}

/// The numbers that a type holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Limits {
    /// The type as it was written.
    pub(super) name: String,
    /// The least and the greatest, in units of the last digit.
    pub(super) least: i128,
    pub(super) greatest: i128,
    /// The digits behind the point.
    pub(super) scale: u8,
}

impl Conversion {
    /// The type of what it makes.
    pub(super) fn type_of(&self) -> Type {
        match self.to {
            Type::Text(_) => Type::Text(self.length),
            other => other,
        }
    }

    /// Converts a column.
    ///
    /// # Errors
    /// [`Kind::Value`] for a value that is none of the type, unless that is to be NULL.
    pub(super) fn apply(&self, values: &Vector, rows: usize) -> Result<Vector> {
        // All at once, and one by one only where a value does not fit.
        if let Ok(made) = values.clone().cast(self.to, rows)
            && self.fits(&made)
        {
            return Ok(self.cut(made));
        }
        let made = match values {
            Vector::Constant(value) => Vector::Constant(self.one(value)?),
            column => {
                let values = (0..rows).map(|row| self.one(&column.value(row)));
                Vector::of_values(values.collect::<Result<Vec<_>>>()?, self.to)
            }
        };
        Ok(self.cut(made))
    }

    fn one(&self, value: &Value) -> Result<Value> {
        let is_number = value.to_f64().is_some();
        let made = match (value.cast(self.to), &self.limits) {
            (Ok(made), Some(limits)) if !limits.hold(&made) => Err(limits.error(value)),
            (Err(_), Some(limits)) if is_number => Err(limits.error(value)),
            (made, _) => made,
        };
        match made {
            Err(_) if self.is_try => Ok(Value::Null),
            made => made,
        }
    }

    fn fits(&self, made: &Vector) -> bool {
        let Some(limits) = &self.limits else { return true };
        match made {
            Vector::Constant(value) => limits.hold(value),
            Vector::Integer(array) => array.iter().flatten().all(|number| limits.has(number.into())),
            Vector::Decimal(array, _) => array.iter().flatten().all(|number| limits.has(number)),
            _ => true,
        }
    }

    /// Texts of no more characters than the type has.
    fn cut(&self, made: Vector) -> Vector {
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        if length == 0 {
            return made;
        }
        let cut = |text: &str| text.chars().take(length).collect::<String>();
        match made {
            Vector::Constant(Value::Text(text)) => Vector::Constant(Value::Text(cut(&text))),
            Vector::Text(array, _) => Vector::Text(array.iter().map(|text| text.map(cut)).collect::<StringArray>(), 0),
            other => other,
        }
    }
}

impl Limits {
    fn has(&self, unscaled: i128) -> bool {
        (self.least..=self.greatest).contains(&unscaled)
    }

    fn hold(&self, value: &Value) -> bool {
        match value {
            Value::Integer(number) => self.has((*number).into()),
            Value::Decimal { unscaled, .. } => self.has(*unscaled),
            _ => true,
        }
    }

    fn error(&self, value: &Value) -> Error {
        let value = match value {
            Value::Double(number) if number.abs() >= 1e16 => format!("{number:e}"),
            value => value.to_text().trim().to_owned(),
        };
        let [least, greatest] = [self.least, self.greatest].map(|limit| decimal_text(limit, self.scale));
        let why = format!(
            "{value} does not fit {}, which goes from {least} to {greatest}",
            self.name
        );
        Error::new(Kind::Value, why)
    }
}
