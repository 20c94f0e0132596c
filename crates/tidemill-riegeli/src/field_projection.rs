//! Which fields of the records a reader keeps.
//!
//! A projection saves work only in transposed chunks, where each field has buffers of its own; records of simple chunks are
//! read whole. As in the C++ library (google/riegeli, `riegeli/chunk_encoding/field_projection.h`) a field is a path of field
//! numbers from the root message, and zero at the end of a path keeps the field but not its value.
//!
//! Fields are not known by name here, and a projection does not select among repeated values.

use std::{fmt, str::FromStr};

use crate::{Error, Result};

/// The largest field number of a protobuf message.
const MAX_FIELD_NUMBER: u32 = (1 << 29) - 1;

/// A field to keep, as the path of field numbers that leads to it from the root message. The empty path is the root: all of
/// the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Field(Vec<u32>);

impl Field {
    /// At the end of a path: the field is kept where it is present, with a zero or empty value in place of its own. Of a packed
    /// repeated field that leaves one empty list.
    pub const EXISTENCE_ONLY: u32 = 0;

    /// Returns the field at `path`.
    ///
    /// # Errors
    /// [`Error::Field`] when a number is above 2^29 - 1, or [`Self::EXISTENCE_ONLY`] is not at the end.
    pub fn new(path: impl Into<Vec<u32>>) -> Result<Self> {
        let path = path.into();
        let numbers = path.strip_suffix(&[Self::EXISTENCE_ONLY]).unwrap_or(&path);
        match numbers.iter().all(|number| (1..=MAX_FIELD_NUMBER).contains(number)) {
            true => Ok(Self(path)),
            false => Err(Error::Field {
                text: Self(path).to_string(),
            }),
        }
    }

    /// Returns the root: all of the record.
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns the field without its value.
    #[must_use]
    pub fn existence_only(mut self) -> Self {
        if self.0.last() != Some(&Self::EXISTENCE_ONLY) {
            self.0.push(Self::EXISTENCE_ONLY);
        }
        self
    }

    /// Returns the path, with [`Self::EXISTENCE_ONLY`] at its end if the value is not kept.
    pub fn path(&self) -> &[u32] {
        &self.0
    }
}

impl<const N: usize> From<[u32; N]> for Field {
    /// # Panics
    /// When the path is not one that [`Field::new`] takes.
    fn from(path: [u32; N]) -> Self {
        match Self::new(path) {
            Ok(field) => field,
            Err(error) => panic!("{error}"),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_first() {
            None => f.write_str("root"),
            Some((first, rest)) => {
                write!(f, "{first}")?;
                rest.iter().try_for_each(|number| write!(f, ".{number}"))
            }
        }
    }
}

impl FromStr for Field {
    type Err = Error;

    /// Reads numbers with points between them, or `root`.
    fn from_str(text: &str) -> Result<Self> {
        if text == "root" {
            return Ok(Self::root());
        }
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().ok(),
            false => None,
        };
        text.split('.')
            .map(number)
            .collect::<Option<Vec<u32>>>()
            .and_then(|path| Self::new(path).ok())
            .ok_or_else(|| Error::Field { text: text.to_owned() })
    }
}

/// The fields to keep of every record. Those below a field that is kept whole are kept with it; of messages on the way to a
/// field only the way is kept, empty where the field is not present.
///
/// ```
/// use tidemill_riegeli::{Field, FieldProjection};
///
/// let projection = FieldProjection::new().add_field([2, 3]).add_field(Field::from([4]).existence_only());
/// assert_eq!(projection.to_string(), "2.3,4.0");
/// assert_eq!("2.3,4.0".parse::<FieldProjection>()?, projection);
/// assert!(FieldProjection::all().includes_all());
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldProjection {
    fields: Vec<Field>,
}

impl FieldProjection {
    /// Returns the projection that keeps records as they are.
    pub fn all() -> Self {
        Self::new().add_field(Field::root())
    }

    /// Returns the projection that keeps no field: every record that is a message becomes empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps `field` too.
    #[must_use]
    pub fn add_field(mut self, field: impl Into<Field>) -> Self {
        self.fields.push(field.into());
        self
    }

    /// Returns whether records stay as they are: whether the root is one of the fields.
    pub fn includes_all(&self) -> bool {
        self.fields.iter().any(|field| field.0.is_empty())
    }

    /// Returns the fields in the order in which they were added.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}

impl FromIterator<Field> for FieldProjection {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        Self {
            fields: fields.into_iter().collect(),
        }
    }
}

impl fmt::Display for FieldProjection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            field.fmt(f)?;
        }
        Ok(())
    }
}

impl FromStr for FieldProjection {
    type Err = Error;

    /// Reads fields with commas between them; the empty text keeps no field.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "" => Ok(Self::new()),
            text => text.split(',').map(str::parse).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_is_written() {
        for text in ["", "root", "2.3", "2.3,4.0,root", "0", "536870911", "1,1"] {
            let projection: FieldProjection = text.parse().expect(text);
            assert_eq!(projection.to_string(), text);
        }
        for text in [
            ",",
            "1,",
            "1.",
            ".1",
            "0.1",
            "1.0.0",
            "536870912",
            "-1",
            "+1",
            "Root",
            "1 ",
            "99999999999",
        ] {
            assert!(text.parse::<FieldProjection>().is_err(), "{text}");
        }
    }

    #[test]
    fn existence_is_asked_for_once() {
        let field = Field::from([4]).existence_only();
        assert_eq!(field, Field::from([4, Field::EXISTENCE_ONLY]));
        assert_eq!(field.clone().existence_only(), field);
        assert!(!FieldProjection::new().add_field(field).includes_all());
    }

    #[test]
    #[should_panic(expected = "`1.0.2` is not a field")]
    fn a_path_does_not_go_on_behind_a_zero() {
        let _field = Field::from([1, 0, 2]);
    }
}
