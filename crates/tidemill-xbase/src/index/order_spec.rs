//! What a new order is, whatever the format of its file.

use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::full_text::FullTextOptions;

use super::IndexDialect;
use super::adi::AdiKey;
use super::collation::Collation;
use super::key::{KeyCodec, KeyEncoding, KeyType};
use super::key_order::KeyOrder;
use super::tag::Tag;

/// What a new order is.
#[derive(Debug, Clone)]
pub struct OrderSpec {
    pub(super) name: String,
    pub(super) expression: String,
    pub(super) key_type: KeyType,
    pub(super) key_len: usize,
    pub(super) condition: Option<String>,
    pub(super) is_unique: bool,
    pub(super) is_candidate: bool,
    pub(super) is_nullable: bool,
    pub(super) is_descending: bool,
    pub(super) is_custom: bool,
    pub(super) collation: Collation,
    pub(super) decimals: u8,
    /// The byte that packed pages leave out at a key's end, where the header says it (ADI).
    pub(super) trail: Option<u8>,
    /// How the words are made whose entries it has.
    pub(super) full_text: Option<Box<FullTextOptions>>,
    /// Why nobody can make its keys, of one that is there.
    pub(super) is_unknown: Option<Unknown>,
}

/// What is not known of an order's keys.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unknown {
    Collation,
    Bitmap,
}

impl OrderSpec {
    /// An ascending order of every record.
    pub fn new(name: impl Into<String>, expression: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            expression: expression.into(),
            key_type: KeyType::Character,
            key_len: 0,
            condition: None,
            is_unique: false,
            is_candidate: false,
            is_nullable: false,
            is_descending: false,
            is_custom: false,
            collation: Collation::binary(),
            decimals: 0,
            trail: None,
            full_text: None,
            is_unknown: None,
        }
    }

    /// The type of the keys, and the length of each: 8 for numbers (4 for integers), dates and times, 1 for logicals, up to
    /// 240 for text. [`build_index`](crate::build_index) takes them from the expression.
    #[must_use]
    pub fn keys(mut self, key_type: KeyType, key_len: usize) -> Self {
        (self.key_type, self.key_len) = (key_type, key_len);
        self
    }

    /// The FOR expression that chose the records. Default: none.
    #[must_use]
    pub fn condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Keeps only the first record of each key. Default: false.
    #[must_use]
    pub fn unique(mut self, is_unique: bool) -> Self {
        self.is_unique = is_unique;
        self
    }

    /// Refuses a second record with a key, deleted ones included, and a key that is NULL. A candidate index of Visual FoxPro:
    /// only the CDX of such a table has them. It is no UNIQUE order then. Default: false.
    #[must_use]
    pub fn candidate(mut self, is_candidate: bool) -> Self {
        self.is_candidate = is_candidate;
        self.is_unique &= !is_candidate;
        self
    }

    /// From the highest key to the lowest. Default: false.
    #[must_use]
    pub fn descending(mut self, is_descending: bool) -> Self {
        self.is_descending = is_descending;
        self
    }

    /// Keys are added and dropped by the program alone. Default: false.
    #[must_use]
    pub fn custom(mut self, is_custom: bool) -> Self {
        self.is_custom = is_custom;
        self
    }

    /// An index of the words of a field, which the expression names (CDX, ADI). It has every record with a word, and neither a condition
    /// nor a direction. Default: an order of records.
    #[must_use]
    pub fn full_text(mut self, options: FullTextOptions) -> Self {
        self.full_text = Some(Box::new(options));
        self
    }

    /// How text is sorted. Default: by bytes.
    #[must_use]
    pub fn collation(mut self, collation: Collation) -> Self {
        self.collation = collation;
        self
    }

    /// The decimals of numeric keys in an NTX file, which writes them as text. Default: 0.
    #[must_use]
    pub fn decimals(mut self, decimals: u8) -> Self {
        self.decimals = decimals;
        self
    }

    /// Whether keys begin with a byte that says whether they are NULL, as [`Tag::is_nullable`] tells.
    pub(crate) fn nullable(mut self, is_nullable: bool) -> Self {
        self.is_nullable = is_nullable;
        self
    }

    /// The same with the texts that an ADI has, and the byte that fills its keys up. A unique order of an ADI is a candidate index: it
    /// knows none that leaves records out ("ADI Unique Indexes", ADS's help).
    pub(crate) fn as_in_adi(&self, expression: &str, condition: Option<&str>, trail: u8) -> Self {
        Self {
            expression: expression.to_owned(),
            condition: condition.map(str::to_owned),
            trail: Some(trail),
            is_unique: false,
            is_candidate: self.is_candidate || self.is_unique,
            ..self.clone()
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_custom(&self) -> bool {
        self.is_custom
    }

    pub(crate) fn is_candidate(&self) -> bool {
        self.is_candidate
    }

    /// How the words are made whose entries it has.
    pub(crate) fn words(&self) -> Option<&FullTextOptions> {
        self.full_text.as_deref()
    }

    pub(crate) fn expression(&self) -> &str {
        &self.expression
    }

    pub(crate) fn for_expression(&self) -> Option<&str> {
        self.condition.as_deref()
    }

    /// How its keys are written in a format.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a length that keys of its type do not have, and a candidate index that is none;
    /// [`Error::UnknownCollation`], [`Error::NoKeys`].
    pub(super) fn codec(&self, dialect: IndexDialect) -> Result<KeyCodec> {
        let has_candidates = matches!(dialect, IndexDialect::Cdx | IndexDialect::Adi);
        if self.is_candidate && (!has_candidates || self.is_unique || self.is_custom) {
            return Err(self.refuse("only a CDX has candidate indexes, which are neither UNIQUE nor custom"));
        }
        if self.full_text.is_some() {
            let has_words = matches!(dialect, IndexDialect::Cdx | IndexDialect::Adi);
            let is_plain = !self.is_candidate && !self.is_unique && !self.is_custom && !self.is_descending;
            if !has_words || !is_plain || self.condition.is_some() {
                let why = "an index of words is a tag of a CDX or ADI, and neither unique, custom, descending nor of some records";
                return Err(self.refuse(why));
            }
        }
        match self.is_unknown {
            Some(Unknown::Bitmap) => return Err(Error::NoKeys),
            Some(Unknown::Collation) => return Err(Error::UnknownCollation),
            None if self.key_type == KeyType::Character && !self.collation.is_known() => {
                return Err(Error::UnknownCollation);
            }
            None => {}
        }
        let encoding = match dialect {
            IndexDialect::Ntx => KeyEncoding::Text(self.decimals),
            IndexDialect::Cdx | IndexDialect::Nsx | IndexDialect::Idx => KeyEncoding::Binary,
            IndexDialect::Mdx | IndexDialect::Ndx => KeyEncoding::Dbase,
            IndexDialect::Adi => KeyEncoding::Adi(AdiKey::of_type(self.key_type)),
        };
        let (key_type, len) = (self.key_type, self.key_len);
        KeyCodec {
            key_type,
            len,
            encoding,
            is_nullable: self.is_nullable,
            has_spare: false,
        }
        .of_candidate(self.is_candidate)
        .check(&self.name)
    }

    /// The byte that packed pages leave out at a key's end.
    pub(super) fn trail_of(&self, codec: KeyCodec) -> u8 {
        self.trail.unwrap_or(codec.trail())
    }

    /// How its keys compare in the tree of a format.
    pub(super) fn key_order(&self, dialect: IndexDialect) -> KeyOrder {
        let is_reversed = self.is_descending && matches!(dialect, IndexDialect::Ntx | IndexDialect::Mdx);
        KeyOrder::new(self.key_type, &self.collation, is_reversed)
    }

    /// A text of its header, in the code page of the table.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a character that the code page lacks, and NUL.
    pub(super) fn encode(&self, codepage: CodePage, text: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match codepage.encode(text, &mut bytes) {
            Ok(()) if !bytes.contains(&0) => Ok(bytes),
            Ok(()) => Err(self.refuse("a text with a NUL")),
            Err(c) => Err(self.refuse(&format!("{codepage} has no {c:?}"))),
        }
    }

    /// Refuses keys of no bytes, or of more than the file can have.
    pub(super) fn refuse_key_len(&self, most: usize) -> Error {
        let (key, len) = (&self.expression, self.key_len);
        let what = match (len, self.full_text.is_some()) {
            (0, _) => format!(": {key} gives no text of a certain length"),
            (_, true) => String::new(),
            (_, false) => format!(": {key} is too long; index a part of it, as LEFT({key}, {most})"),
        };
        self.refuse(&format!("keys of {len} bytes, not 1 to {most}{what}"))
    }

    pub(super) fn refuse(&self, why: &str) -> Error {
        Error::Misuse(format!("index tag {}: {why}", self.name))
    }
}

impl From<&Tag> for OrderSpec {
    /// An order as one that is there, its keys of another type than text without their type.
    fn from(tag: &Tag) -> Self {
        Self {
            condition: tag.condition.clone(),
            is_unique: tag.is_unique,
            is_candidate: tag.is_candidate,
            is_nullable: tag.is_nullable,
            is_descending: tag.is_descending,
            is_custom: tag.is_custom,
            decimals: tag.decimals.unwrap_or_default(),
            trail: tag.trail,
            full_text: tag.full_text.clone(),
            is_unknown: match (&tag.collation, tag.is_bitmap) {
                (_, true) => Some(Unknown::Bitmap),
                (Some(_), false) => Some(Unknown::Collation),
                (None, false) => None,
            },
            ..Self::new(&tag.name, &tag.expression).keys(tag.key_type.unwrap_or(KeyType::Character), tag.key_len)
        }
    }
}
