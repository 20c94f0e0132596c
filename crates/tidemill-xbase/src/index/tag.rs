//! What the header of an order says.

use crate::codepage::CodePage;
use crate::full_text::FullTextOptions;

use super::key::{KeyEncoding, KeyType};
use super::page::KeyForm;

/// An order as its header describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tag {
    /// The name; of an NTX file without one the file's.
    pub name: String,
    /// The key expression's text.
    pub expression: String,
    /// The FOR expression's text; `None` where the order has every record.
    pub condition: Option<String>,
    /// Whether only the first record of each key is in the order.
    pub is_unique: bool,
    /// Whether no two records may have one key: a candidate or primary index of Visual FoxPro (CDX), where none may have a key that is
    /// NULL either, or a unique index of Advantage (ADI).
    pub is_candidate: bool,
    /// Whether keys can be NULL (CDX of Visual FoxPro): each begins with a byte of its own, 80 before a value and 00 for NULL.
    pub is_nullable: bool,
    /// Whether the order runs from the highest key to the lowest.
    pub is_descending: bool,
    /// Whether keys are added and dropped by the program alone.
    pub is_custom: bool,
    /// Whether keys are stored in upper case (Harbour's CDX); what is sought must then be given so.
    pub ignores_case: bool,
    /// The length of every key in bytes, not 0, with the one that says whether it is NULL. Numbers of dBASE's indexes have 8 bytes
    /// here, whatever they have in the file.
    pub key_len: usize,
    /// The decimals of numeric keys (NTX).
    pub decimals: Option<u8>,
    /// The type of the keys, where the file says it (NSX, MDX, text in NDX).
    pub key_type: Option<KeyType>,
    /// The collation that the header names (Visual FoxPro): the keys are then the weights of texts in it. `None` for `MACHINE`,
    /// and where the file does not say it.
    pub collation: Option<String>,
    /// Whether it is a BINARY index of Visual FoxPro 9, which has a bit for each record and no keys.
    pub is_bitmap: bool,
    /// Whether it is an index of full-text search, which has an entry for each word.
    pub is_full_text: bool,
    /// How its words are made; `None` of an order of records, and where Advantage has made the tag, whose options cannot be read.
    pub full_text: Option<Box<FullTextOptions>>,
    /// The byte that packed pages leave out at a key's end, where the header says it (ADI).
    pub(crate) trail: Option<u8>,
    /// Whether dBASE 7 refuses a second record with a key (MDX): DISTINCT tags and those of primary keys.
    pub(crate) is_distinct: bool,
    /// How the file has the keys.
    pub(crate) form: KeyForm,
    /// The root page as the file writes it.
    pub(crate) root: u32,
    /// The offset of the header.
    pub(crate) header: u64,
}

impl Tag {
    pub(super) fn new(name: String, expression: String, key_len: usize, root: u32) -> Self {
        Self {
            name,
            expression,
            condition: None,
            is_unique: false,
            is_candidate: false,
            is_nullable: false,
            is_descending: false,
            is_custom: false,
            ignores_case: false,
            key_len,
            decimals: None,
            key_type: None,
            collation: None,
            is_bitmap: false,
            is_full_text: false,
            full_text: None,
            trail: None,
            is_distinct: false,
            form: KeyForm::Plain,
            root,
            header: 0,
        }
    }
}

impl Tag {
    /// A possible key type of a tag whose expression does not tell it.
    pub(crate) fn any_key_type(&self) -> KeyType {
        match (self.key_type, self.is_bitmap, self.form) {
            (Some(stored), ..) => stored,
            (None, true, _) => KeyType::Logical,
            (None, false, KeyForm::Plain) => KeyType::Character,
            (None, false, _) => KeyType::Number,
        }
    }

    /// How keys of a type are written in a format that has them in binary.
    pub(crate) fn encoding(&self, key_type: KeyType) -> KeyEncoding {
        match (&self.collation, key_type) {
            _ if self.is_bitmap => KeyEncoding::Bitmap,
            (Some(_), KeyType::Character) => KeyEncoding::Collated,
            _ => KeyEncoding::Binary,
        }
    }
}

/// Reads the texts of headers.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderText(pub(super) CodePage);

impl HeaderText {
    /// The text up to a NUL, without blanks around it.
    pub(super) fn read(self, bytes: &[u8]) -> String {
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        self.0.decode(text).trim().to_owned()
    }
}
