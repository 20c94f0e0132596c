//! The properties of an object: a list of values in the memo field PROPERTY.
//!
//! A value is its length (4 bytes, these included), the length of its number (2 bytes), its number, and its bytes; texts end at a
//! NUL. Learned from the containers of X#'s Northwind and of infused/dbf, which Visual FoxPro wrote.

use crate::codepage::CodePage;
use crate::header::u16_at;

use super::{ContainerField, ContainerRelation, ContainerTable, IntegrityRule};

/// The numbers of properties that are read and written.
pub(super) const FILE: u8 = 0x01;
pub(super) const KIND: u8 = 0x02;
const COMMENT: u8 = 0x07;
const RULE: u8 = 0x09;
const RULE_TEXT: u8 = 0x0A;
const DEFAULT: u8 = 0x0B;
const INSERT_TRIGGER: u8 = 0x0E;
const UPDATE_TRIGGER: u8 = 0x0F;
const DELETE_TRIGGER: u8 = 0x10;
const TAG: u8 = 0x0D;
const PARENT: u8 = 0x12;
const PARENT_TAG: u8 = 0x13;
const PRIMARY_KEY: u8 = 0x14;
pub(super) const VERSION: u8 = 0x18;
const INPUT_MASK: u8 = 0x36;
const FORMAT: u8 = 0x37;
const CAPTION: u8 = 0x38;

/// What an object has, by number.
pub(super) struct Properties(Vec<(u8, String)>);

/// The values of an object that are texts. What cannot be read ends the list.
pub(super) fn properties(mut bytes: &[u8], codepage: CodePage) -> Properties {
    let mut found = Vec::new();
    while let Some((number, value, rest)) = split(bytes) {
        let value = value.split(|byte| *byte == 0).next().unwrap_or_default();
        found.push((number, codepage.decode(value)));
        bytes = rest;
    }
    Properties(found)
}

/// The first value's number and bytes, and what follows it.
fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let len = usize::try_from(u32::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let (whole, rest) = bytes.split_at_checked(len)?;
    let number_len = usize::from(u16_at(whole, 4)?);
    let (number, value) = whole.get(6..)?.split_at_checked(number_len)?;
    Some((*number.first()?, value, rest))
}

/// Appends a value as a container keeps it.
pub(super) fn put(out: &mut Vec<u8>, number: u8, value: &[u8]) {
    let len = u32::try_from(value.len() + 7).unwrap_or(u32::MAX);
    out.extend(len.to_le_bytes());
    out.extend([1, 0, number]);
    out.extend(value);
}

impl Properties {
    fn take(&mut self, number: u8) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| *known == number)?;
        let (_, value) = self.0.swap_remove(at);
        (!value.is_empty()).then_some(value)
    }

    pub(super) fn table(mut self, name: String) -> ContainerTable {
        ContainerTable {
            name,
            file: self.take(FILE),
            comment: self.take(COMMENT),
            rule: self.take(RULE),
            rule_text: self.take(RULE_TEXT),
            primary_key: self.take(PRIMARY_KEY),
            insert_trigger: self.take(INSERT_TRIGGER),
            update_trigger: self.take(UPDATE_TRIGGER),
            delete_trigger: self.take(DELETE_TRIGGER),
            fields: Vec::new(),
            relations: Vec::new(),
        }
    }

    /// A relation, with the letters of its rules: for updates, deletions and insertions. `None` where a part is missing.
    pub(super) fn relation(mut self, rules: &[u8]) -> Option<ContainerRelation> {
        let rule = |place: usize| rules.get(place).copied().and_then(IntegrityRule::of_letter);
        Some(ContainerRelation {
            tag: self.take(TAG)?,
            parent: self.take(PARENT)?,
            parent_tag: self.take(PARENT_TAG)?,
            on_update: rule(0),
            on_delete: rule(1),
            on_insert: rule(2),
        })
    }

    pub(super) fn field(mut self, name: String) -> ContainerField {
        ContainerField {
            name,
            caption: self.take(CAPTION),
            comment: self.take(COMMENT),
            default: self.take(DEFAULT),
            rule: self.take(RULE),
            rule_text: self.take(RULE_TEXT),
            input_mask: self.take(INPUT_MASK),
            format: self.take(FORMAT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_where_it_cannot_be_read() {
        let mut bytes = Vec::new();
        put(&mut bytes, CAPTION, b"Order ID\0");
        put(&mut bytes, COMMENT, b"unique\0");
        for len in 0..=bytes.len() {
            let cut = bytes.get(..len).unwrap_or_default();
            let field = properties(cut, CodePage::Cp1252).field("id".to_owned());
            assert_eq!(field.caption.is_some(), len >= 16, "{len}");
            assert_eq!(
                field.comment.as_deref(),
                (len == bytes.len()).then_some("unique"),
                "{len}"
            );
        }
        // Lengths that lead nowhere.
        for bad in [[0u8; 7], [0xFF; 7], [7, 0, 0, 0, 9, 0, 1]] {
            assert!(properties(&bad, CodePage::Cp1252).0.is_empty());
        }
    }
}
