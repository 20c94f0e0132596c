//! The entries of an index of words: of each record one for every word that its field has.

use std::sync::Arc;

use super::options::FullTextOptions;
use super::words::Tokenizer;
use crate::codepage::CodePage;
use crate::error::{BadValue, Error, Result};
use crate::expression::{Record, RecordBytes, Value};
use crate::field::{Field, FieldKind};
use crate::memo::{Memo, MemoReader};
use crate::table::Table;

/// Makes the keys of an index of words.
#[derive(Debug, Clone)]
pub(crate) struct WordKeys {
    /// The place of the field among those of the table.
    pub(crate) field: usize,
    pub(crate) options: Arc<FullTextOptions>,
    tokenizer: Arc<Tokenizer>,
    codepage: CodePage,
    /// Whether a deleted record has no entries.
    leaves_deleted: bool,
}

/// What fills keys up.
pub(crate) const TRAIL: u8 = b' ';
/// What a key has in the place of a character that the code page lacks: it parts words, so that no word has it.
const UNKNOWN: u8 = 0;

impl WordKeys {
    /// # Errors
    /// [`Error::Expression`] for a field that has no texts.
    pub(crate) fn new(
        (field, described): (usize, &Field),
        options: FullTextOptions,
        codepage: CodePage,
        leaves_deleted: bool,
    ) -> Result<Self> {
        if !Self::has_texts(described) {
            let expected = "a field of text in the table's code page, or of bytes, for an index of words";
            let found = format!("{}, whose values are others", described.name);
            return Err(Error::expression(1, expected, found));
        }
        Ok(Self {
            field,
            tokenizer: Arc::new(Tokenizer::new(&options)),
            options: Arc::new(options),
            codepage,
            leaves_deleted,
        })
    }

    /// Whether a field has texts, or bytes that are read as such ("Valid Field Types for Full Text Search Indexes").
    pub(crate) fn has_texts(field: &Field) -> bool {
        use FieldKind as K;
        matches!(
            field.kind,
            K::Character | K::CharacterBinary | K::Varchar | K::Varbinary | K::Memo | K::MemoBinary
        )
    }

    /// The length of the keys.
    pub(crate) fn key_len(&self) -> usize {
        self.options.max_word.into()
    }

    /// Whether the field's texts are in a memo file.
    pub(crate) fn reads_memo(&self, fields: &[Field]) -> bool {
        fields.get(self.field).is_some_and(|field| field.kind.uses_memo())
    }

    /// Puts the keys of a record behind one another into `keys`, sorted and each once.
    ///
    /// # Errors
    /// As [`FieldText::read`].
    pub(crate) fn put_keys(
        &self,
        record: &RecordBytes<'_>,
        memo: Option<&Memo>,
        text: &mut FieldText,
        keys: &mut Vec<u8>,
    ) -> Result<()> {
        keys.clear();
        if self.leaves_deleted && record.is_deleted() {
            return Ok(());
        }
        let Some(text) = text.read(record, self.field, memo)? else {
            return Ok(());
        };
        let len = self.key_len();
        let (mut made, mut count) = (Vec::with_capacity(text.len()), 0_usize);
        self.tokenizer.each_word(text, |word| {
            self.put_key(word, &mut made);
            count += 1;
        });
        let mut places: Vec<&[u8]> = made.chunks_exact(len.max(1)).collect();
        places.sort_unstable();
        places.dedup();
        keys.reserve(places.len() * len);
        places.into_iter().for_each(|key| keys.extend_from_slice(key));
        Ok(())
    }

    /// Puts the key of a word behind `out`.
    fn put_key(&self, word: &str, out: &mut Vec<u8>) {
        let begin = out.len();
        self.encode(word, out);
        out.resize(begin + self.key_len(), TRAIL);
    }

    /// Puts the bytes of a word behind `out`; whether the code page has all its characters.
    pub(crate) fn encode(&self, word: &str, out: &mut Vec<u8>) -> bool {
        if word.is_ascii() {
            out.extend_from_slice(word.as_bytes());
            return true;
        }
        let (mut has_all, mut buffer) = (true, [0; 4]);
        for c in word.chars() {
            if self.codepage.encode(c.encode_utf8(&mut buffer), out).is_err() {
                out.push(UNKNOWN);
                has_all = false;
            }
        }
        has_all
    }

    /// The word of a key, as far as it goes.
    pub(crate) fn word(&self, key: &[u8]) -> String {
        let end = key.iter().rposition(|byte| *byte != TRAIL).map_or(0, |last| last + 1);
        self.codepage.decode(key.get(..end).unwrap_or_default())
    }
}

/// Reads the texts of a field, one record after the other.
#[derive(Debug, Default)]
pub(crate) struct FieldText {
    memos: MemoReader,
    bytes: Vec<u8>,
    text: Vec<u8>,
}

impl FieldText {
    /// The text of a field of a record; `None` where it is NULL.
    ///
    /// # Errors
    /// [`Error::Value`] for a memo that cannot be read, [`Error::MissingMemo`].
    pub(crate) fn read(&mut self, record: &RecordBytes<'_>, field: usize, memo: Option<&Memo>) -> Result<Option<&str>> {
        let table = record.table();
        let Some(described) = table.fields().get(field) else {
            return Err(Error::Misuse(format!("there is no field with index {field}")));
        };
        self.bytes.clear();
        if described.kind.uses_memo() {
            let null = table.fields.null_test(described);
            if null.is_some_and(|null| null.is_null(record.bytes())) {
                return Ok(None);
            }
            let Some(memo) = memo else {
                return Err(Error::MissingMemo {
                    path: table.path().to_owned(),
                    field: described.name.clone(),
                    looked_for: table.memo_looked_for().to_owned(),
                });
            };
            let cell = record.bytes().get(described.offset..described.offset + described.width);
            let read = self.memos.read(memo, cell.unwrap_or_default(), &mut self.bytes);
            if let Err(fault) = read {
                return Err(Error::Value(Box::new(BadValue {
                    path: table.path().to_owned(),
                    record: record.record_no(),
                    field: described.name.clone(),
                    expected: fault.expected,
                    found: format!("{} (byte {} of {})", fault.found, fault.offset, memo.path().display()),
                })));
            }
        } else {
            match record.value(field)? {
                Value::Character(text) => self.bytes.extend_from_slice(&text),
                _ => return Ok(None),
            }
        }
        self.text.clear();
        match self.bytes.is_ascii() {
            true => self.text.extend_from_slice(&self.bytes),
            false => table.codepage().decoder().decode_into(&self.bytes, &mut self.text),
        }
        match std::str::from_utf8(&self.text) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Error::Misuse(format!(
                "the text of field {} was not decoded",
                described.name
            ))),
        }
    }
}

impl WordKeys {
    /// The bytes with which the key of a word begins that is this one, or begins so; `None` where the code page does not tell.
    pub(crate) fn beginning(&self, word: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let has_all = self.encode(word, &mut bytes);
        (has_all && self.codepage.decode(&bytes) == word).then_some(bytes)
    }

    /// Whether a key stands for other words, too, than the one that can be read there.
    pub(crate) fn is_vague(&self, key: &[u8]) -> bool {
        key.last().is_some_and(|byte| *byte != TRAIL) || key.contains(&UNKNOWN)
    }

    /// The memo of a table that the texts are in.
    pub(crate) fn memo_of<'t>(&self, table: &'t Table) -> Option<&'t Memo> {
        table.memo().filter(|_| self.reads_memo(table.fields()))
    }
}
