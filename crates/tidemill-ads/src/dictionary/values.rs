//! `Property` of an object: a list of values, each behind its length.

/// The values of an object, by their places in its list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values(Vec<Option<Vec<u8>>>);

/// What stands in the place of the length of a value that there is none of.
const NONE: u16 = 0xFFFF;

impl Values {
    /// Reads a list. What is left at its end and has no room for a length belongs to nothing.
    ///
    /// # Errors
    /// What was expected, where a value has not all of its bytes.
    pub(crate) fn parse(mut list: &[u8]) -> Result<Self, String> {
        let mut values = Vec::new();
        while let Some((len, rest)) = list.split_first_chunk() {
            let len = u16::from_le_bytes(*len);
            if len == NONE {
                (list, _) = (rest, values.push(None));
                continue;
            }
            let Some((value, rest)) = rest.split_at_checked(len.into()) else {
                let place = values.len();
                return Err(format!("{len} bytes for value {place}, found {}", rest.len()));
            };
            values.push(Some(value.to_vec()));
            list = rest;
        }
        let mut values = Self(values);
        values.forget_the_end();
        Ok(values)
    }

    /// The bytes of a value; `None` where there is none.
    pub(crate) fn get(&self, place: usize) -> Option<&[u8]> {
        self.0.get(place)?.as_deref()
    }

    /// The bytes of a text, which ends with a NUL.
    pub(crate) fn text(&self, place: usize) -> Option<&[u8]> {
        self.get(place)?.split(|byte| *byte == 0).next()
    }

    /// A whole number of two or four bytes.
    pub(crate) fn number(&self, place: usize) -> Option<u32> {
        match self.get(place)? {
            [one] => Some((*one).into()),
            [low, high] => Some(u16::from_le_bytes([*low, *high]).into()),
            bytes => bytes.try_into().ok().map(u32::from_le_bytes),
        }
    }

    /// The places that have values.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .enumerate()
            .filter_map(|(place, value)| value.as_ref().map(|_| place))
    }

    /// Gives a place a value, or none.
    pub(crate) fn set(&mut self, place: usize, value: Option<Vec<u8>>) {
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        if let Some(slot) = self.0.get_mut(place) {
            *slot = value;
        }
        self.forget_the_end();
    }

    /// With another value.
    #[must_use]
    pub(crate) fn with(mut self, place: usize, value: impl Into<Vec<u8>>) -> Self {
        self.set(place, Some(value.into()));
        self
    }

    /// With a text, and the NUL at its end.
    #[must_use]
    pub(crate) fn with_text(self, place: usize, text: &[u8]) -> Self {
        self.with(place, [text, &[0]].concat())
    }

    /// The list without the places behind its last value. `None` for a value that is too long for its length.
    pub(crate) fn list(&self) -> Option<Vec<u8>> {
        let mut list = Vec::new();
        for value in &self.0 {
            let Some(value) = value else {
                list.extend(NONE.to_le_bytes());
                continue;
            };
            let len = u16::try_from(value.len()).ok().filter(|len| *len != NONE)?;
            list.extend(len.to_le_bytes());
            list.extend(value);
        }
        Some(list)
    }

    fn forget_the_end(&mut self) {
        while self.0.last() == Some(&None) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_written() {
        for (list, expected) in [
            (&b"\x05\0.\\a\0x\xFF\xFF"[..], &[(0, &b".\\a\0x"[..])][..]),
            (
                b"\xFF\xFF\0\0\xFF\xFF\x02\0ab\xFF\xFF\xFF\xFF\xFF",
                &[(1, b""), (3, b"ab")],
            ),
            (b"\xFF", &[]),
            (b"", &[]),
        ] {
            let values = Values::parse(list).unwrap();
            let found: Vec<_> = values
                .places()
                .map(|place| (place, values.get(place).unwrap()))
                .collect();
            assert_eq!(found, expected, "{list:02x?}");
            let written = values.list().unwrap();
            assert_eq!(Values::parse(&written), Ok(values), "{list:02x?}");
            assert!(list.starts_with(&written), "{list:02x?}");
        }
    }

    #[test]
    fn a_value_ends_within_its_list() {
        let list = b"\x02\0ab\xFF\xFF\x03\0xyz";
        for len in 0..list.len() {
            match Values::parse(&list[..len]) {
                Ok(values) => assert!(values.places().all(|place| place == 0), "{len}"),
                Err(expected) => assert!(expected.contains("bytes for value"), "{len}: {expected}"),
            }
        }
        assert_eq!(
            Values::parse(b"\x04\0abc"),
            Err("4 bytes for value 0, found 3".to_owned())
        );
    }

    #[test]
    fn a_text_ends_at_its_nul_and_a_number_has_the_bytes_of_its_value() {
        let values = Values::default()
            .with_text(0, b"name")
            .with(1, *b"\x05\0")
            .with(2, *b"\x01\x02\0\0");
        assert_eq!(values.text(0), Some(&b"name"[..]));
        assert_eq!((values.number(1), values.number(2)), (Some(5), Some(0x201)));
        assert_eq!((values.number(0), values.number(9), values.text(9)), (None, None, None));
        assert_eq!(Values::default().with(0, vec![0; 0xFFFF]).list(), None);
    }
}
