//! The keys of an order's records.

mod compile;

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::expression::{Program, Record, RecordBytes, Value};
use crate::field::Field;
use crate::full_text::{FieldText, WordKeys};
use crate::index::{
    AdiKey, Collation, Index, IndexDialect, KeyCodec, KeyEncoding, KeySorter, KeyType, KeyValue, Order, OrderSpec,
};
use crate::table::Table;

use super::KeySettings;
use super::adi_keys::Part;

/// The compiled expressions of an order: which records are in it, and under which key.
///
/// A `.NULL.` has a key of nothing but the byte that fills keys up, as Harbour stores it, or of zeros where the tag of a Visual
/// FoxPro index says that keys can be NULL. Expressions over memos are
/// refused, as Harbour does: an index is made from records alone.
#[derive(Debug, Clone)]
pub struct OrderKeys {
    key: Program,
    condition: Option<Program>,
    codec: KeyCodec,
    /// What becomes of each byte of a key that is stored in capitals.
    capitals: Option<Box<[u8; 256]>>,
    /// Whether it is known how they are sorted.
    is_sorted: bool,
    /// A field whose numbers have more digits than a double keeps, where dBASE keeps them (MDX).
    long: Option<String>,
    /// What an ADI has more.
    adi: Option<Adi>,
    /// Of an index of words, how they are made: a record has any number of keys then.
    words: Option<WordKeys>,
    /// Why the expressions of a tag cannot be compiled: nothing is known of its keys.
    not_compiled: Option<Box<NotCompiled>>,
}

/// Expressions that cannot be compiled.
#[derive(Debug, Clone)]
struct NotCompiled {
    why: String,
    /// Whether they may ask if a record is deleted.
    reads_deletion: bool,
}

/// The parts of the keys of an ADI, of which the first is the key of [`OrderKeys`] too, and its texts as the file has them.
#[derive(Debug, Clone)]
struct Adi {
    parts: Vec<Part>,
    expression: String,
    condition: Option<String>,
    /// The byte that fills keys up.
    trail: u8,
}

impl OrderKeys {
    /// Of an index of words, how they are made.
    pub(crate) fn words(&self) -> Option<&WordKeys> {
        self.words.as_ref()
    }

    /// How its keys are sorted: words by their bytes.
    pub(crate) fn collation<'s>(&'s self, settings: &'s KeySettings) -> Cow<'s, Collation> {
        match (&self.words, &self.not_compiled) {
            (Some(_), _) => Cow::Owned(Collation::binary()),
            (None, Some(_)) => Cow::Owned(Collation::unknown()),
            (None, None) => Cow::Borrowed(&settings.collation),
        }
    }

    /// How keys are written; of several parts the first.
    pub(crate) fn codec(&self) -> KeyCodec {
        self.codec
    }

    /// The order of these keys in an index file.
    ///
    /// # Errors
    /// As [`Index::order`].
    pub(crate) fn order(&self, index: &Index, tag: &str, settings: &KeySettings) -> Result<Arc<Order>> {
        let collation = self.collation(settings);
        // Of these, more is known than the type of the keys says.
        let has_own_codec = index.dialect() == IndexDialect::Adi
            || self.codec.encoding == KeyEncoding::Seconds
            || self.not_compiled.is_some();
        match has_own_codec {
            true => index.order_with(tag, self.codec, &collation),
            false => index.order(tag, self.key_type(), &collation),
        }
    }

    /// Whether the texts that keys begin with are stored in small letters.
    pub(crate) fn is_small(&self) -> bool {
        let first = self.adi.as_ref().and_then(|adi| adi.parts.first());
        first.is_some_and(|part| part.small.is_some())
    }

    /// Refuses to write numbers of more digits than a double has into an MDX: dBASE would look for other keys.
    ///
    /// # Errors
    /// [`Error::Misuse`].
    pub(crate) fn check_digits(&self) -> Result<()> {
        match &self.long {
            None => Ok(()),
            Some(field) => Err(Error::Misuse(format!(
                "numbers of field {field} have more than {DOUBLE_DIGITS} digits, of which keys would keep so many"
            ))),
        }
    }

    /// A text as keys have it that begin with it: in small letters where a part of the keys is of CICharacter fields.
    pub fn folded<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let parts = self.adi.as_ref().map_or(&[][..], |adi| &adi.parts);
        if parts.iter().all(|part| part.small.is_none()) {
            return Cow::Borrowed(text);
        }
        let mut folded = text.to_vec();
        let mut rest = folded.as_mut_slice();
        for part in parts {
            let len = part.codec.len.min(rest.len());
            let (own, behind) = rest.split_at_mut(len);
            if let Some(small) = &part.small {
                own.iter_mut().for_each(|byte| *byte = small[usize::from(*byte)]);
            }
            rest = behind;
        }
        Cow::Owned(folded)
    }

    /// The parts of a key, in their order: the fields of each by their places, and how many bytes of the key are its. Only the keys of an
    /// ADT have more than one.
    pub fn parts(&self) -> Vec<(Vec<usize>, usize)> {
        match &self.adi {
            Some(adi) => {
                let parts = adi.parts.iter();
                parts.map(|part| (part.program.fields(), part.codec.len)).collect()
            }
            None => vec![(self.key.fields(), self.key_len())],
        }
    }

    /// The compiled key expression.
    pub(crate) fn program(&self) -> &Program {
        &self.key
    }

    /// Whether keys can be made and their places found. Those of a collation that is not known stay as they are.
    pub fn are_known(&self) -> bool {
        self.codec.is_known() && self.is_sorted
    }

    /// Whether the keys of records can be made.
    pub(crate) fn can_be_made(&self) -> bool {
        self.codec.is_known()
    }

    /// Refuses changes of an order whose keys are not known.
    ///
    /// # Errors
    /// [`Error::UnknownCollation`], [`Error::NoKeys`].
    pub(crate) fn check_known(&self) -> Result<()> {
        if let Some(why) = self.why_not_compiled() {
            return Err(Error::UnknownExpression { why: why.to_owned() });
        }
        match self.codec.encoding {
            KeyEncoding::Bitmap => Err(Error::NoKeys),
            KeyEncoding::Unknown => Err(Error::UnknownKeys),
            _ if !self.are_known() => Err(Error::UnknownCollation),
            _ => Ok(()),
        }
    }

    /// Whether a field is one that the keys are made of, or that its condition names.
    pub(crate) fn reads(&self, fields: &[Field], field: &Field) -> bool {
        if self.not_compiled.is_some() {
            return true;
        }
        self.programs().flat_map(Program::fields).any(|used| {
            let used = fields.get(used);
            used.is_some_and(|used| used.offset == field.offset)
        })
    }

    /// The expressions.
    fn programs(&self) -> impl Iterator<Item = &Program> {
        let parts = self
            .adi
            .iter()
            .flat_map(|adi| adi.parts.iter().map(|part| &part.program));
        [Some(&self.key), self.condition.as_ref()]
            .into_iter()
            .flatten()
            .chain(parts)
    }

    /// Whether a record has the key that it had, as far as its fields and its deletion flag tell.
    pub(crate) fn is_untouched(&self, fields: &[Field], before: &[u8], after: &[u8]) -> bool {
        // Any field may be one that such expressions read.
        if let Some(not) = &self.not_compiled {
            let is_same_flag = before.first() == after.first() || !not.reads_deletion;
            return is_same_flag && before.get(1..) == after.get(1..);
        }
        let used = self.programs().flat_map(Program::fields);
        let used: Vec<&Field> = used.filter_map(|field| fields.get(field)).collect();
        // What says that a value is NULL, or how long a varying one is, stands elsewhere.
        let are_plain = used
            .iter()
            .all(|field| field.null_bit.is_none() && field.varlength_bit.is_none());
        let mut cells = used.iter().map(|field| field.offset..field.offset + field.width);
        match are_plain {
            true => before.first() == after.first() && cells.all(|cell| before.get(cell.clone()) == after.get(cell)),
            false => before == after,
        }
    }

    /// The type of the keys.
    pub fn key_type(&self) -> KeyType {
        self.codec.key_type
    }

    /// The length of each key in bytes.
    pub fn key_len(&self) -> usize {
        self.codec.len
    }

    /// The decimals of numbers in an NTX file.
    pub fn decimals(&self) -> Option<u8> {
        match self.codec.encoding {
            KeyEncoding::Text(decimals) if self.key_type() == KeyType::Number => Some(decimals),
            _ => None,
        }
    }

    /// The key of a record, of [`OrderKeys::key_len`] bytes; `None` where the condition leaves the record out.
    ///
    /// # Errors
    /// What the record gives as an error, and [`Error::Misuse`] for a number or day that no key can hold.
    pub fn key(&self, record: &dyn Record) -> Result<Option<Vec<u8>>> {
        let mut key = Vec::with_capacity(self.key_len());
        Ok(self.put_key(record, &mut key)?.then_some(key))
    }

    /// The key of a value as the file stores it, of [`OrderKeys::key_len`] bytes.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a value of another type, or a number or day that no key can hold.
    pub fn stored_key(&self, value: &KeyValue<'_>) -> Result<Vec<u8>> {
        self.codec.encode(value)
    }

    /// Puts the key of a record behind `keys` and returns whether it has one.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub(crate) fn put_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<bool> {
        Ok(self.put_key_or_null(record, keys)? != MadeKey::LeftOut)
    }

    /// Whether the condition leaves a record out.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub(crate) fn is_left_out(&self, record: &dyn Record) -> Result<bool> {
        match &self.condition {
            Some(condition) => Ok(!condition.matches(record)?),
            None => Ok(false),
        }
    }

    /// Whether the key of a record is NULL, which is stored as a blank one.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub fn is_null(&self, record: &dyn Record) -> Result<bool> {
        Ok(self.put_any_key(record, &mut Vec::new())? == MadeKey::Null)
    }

    /// As [`OrderKeys::put_key`], telling a key that is NULL from a blank one.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub(crate) fn put_key_or_null(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<MadeKey> {
        // What is deleted from an ADT is gone.
        if self.adi.is_some() && record.is_deleted() {
            return Ok(MadeKey::LeftOut);
        }
        if let Some(condition) = &self.condition
            && !condition.matches(record)?
        {
            return Ok(MadeKey::LeftOut);
        }
        self.put_any_key(record, keys)
    }

    /// As [`OrderKeys::put_key`], for the entry of a candidate index: every record has a key there.
    ///
    /// # Errors
    /// As [`OrderKeys::key`], and [`Error::NullKey`].
    pub(crate) fn put_candidate_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<bool> {
        match self.put_key_or_null(record, keys)? {
            MadeKey::LeftOut => Ok(false),
            MadeKey::Value => Ok(true),
            // Advantage takes NULL for a key as others are.
            MadeKey::Null if self.adi.is_some() => Ok(true),
            MadeKey::Null => Err(Error::NullKey {
                record: record.record_no(),
            }),
        }
    }

    /// The key of a record, whether the condition leaves it out or not.
    ///
    /// # Errors
    /// As [`OrderKeys::key`].
    pub fn key_whatever_the_condition(&self, record: &dyn Record) -> Result<Vec<u8>> {
        let mut key = Vec::with_capacity(self.key_len());
        self.put_any_key(record, &mut key)?;
        Ok(key)
    }

    fn put_any_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<MadeKey> {
        if self.words.is_some() {
            return Err(Error::expression(
                1,
                "an order of records",
                "one of words (full-text search)",
            ));
        }
        if self.not_compiled.is_some() {
            return self.check_known().map(|()| MadeKey::LeftOut);
        }
        match self.codec.encoding {
            KeyEncoding::Collated => return Err(Error::UnknownCollation),
            KeyEncoding::Bitmap => return Err(Error::NoKeys),
            KeyEncoding::Unknown => return Err(Error::UnknownKeys),
            KeyEncoding::Binary
            | KeyEncoding::Text(_)
            | KeyEncoding::Dbase
            | KeyEncoding::Seconds
            | KeyEncoding::Adi(_) => {}
        }
        if let Some(adi) = &self.adi {
            return adi.put_key(record, keys);
        }
        let begin = keys.len();
        let value = self.key.evaluate_record(record)?;
        let value = key_value(&value);
        if let Some(value) = &value {
            self.codec.put(value, keys)?;
        }
        let fill = match &value {
            None if self.codec.is_nullable => 0,
            _ => self.codec.trail(),
        };
        keys.resize(begin + self.key_len(), fill);
        if let (Some(capitals), Some(key)) = (&self.capitals, keys.get_mut(begin..)) {
            for byte in key {
                *byte = capitals[usize::from(*byte)];
            }
        }
        Ok(match value {
            Some(_) => MadeKey::Value,
            None => MadeKey::Null,
        })
    }

    /// Gives the keys of all records, deleted ones included, to the sorter of an order.
    ///
    /// # Errors
    /// As [`OrderKeys::key`] and [`KeySorter::push`], [`Error::NullKey`] in a candidate index, and when the table cannot be read
    /// to its end.
    pub(crate) fn sort(&self, table: &Table, sorter: &mut KeySorter) -> Result<()> {
        self.sort_those(table, |_| true, sorter)
    }

    /// As [`OrderKeys::sort`], of some records.
    pub(crate) fn sort_those(
        &self,
        table: &Table,
        are_meant: impl Fn(&RecordBytes<'_>) -> bool,
        sorter: &mut KeySorter,
    ) -> Result<()> {
        let mut key = Vec::with_capacity(self.key_len());
        if let Some(words) = &self.words {
            let (mut text, memo) = (FieldText::default(), words.memo_of(table));
            return table.each_record(|record| {
                if are_meant(record) {
                    words.put_keys(record, memo, &mut text, &mut key)?;
                    let mut keys = key.chunks_exact(self.key_len().max(1));
                    keys.try_for_each(|key| sorter.push(key, record.record_no()))?;
                }
                Ok(())
            });
        }
        let put = match sorter.is_candidate() {
            true => Self::put_candidate_key,
            false => Self::put_key,
        };
        table.each_record(|record: &RecordBytes<'_>| {
            key.clear();
            if are_meant(record) && put(self, record, &mut key)? {
                sorter.push(&key, record.record_no())?;
            }
            Ok(())
        })
    }

    /// An order with keys of this type and length.
    pub(crate) fn of_order(&self, order: &OrderSpec, settings: &KeySettings) -> OrderSpec {
        let order = match &self.adi {
            Some(adi) => order.as_in_adi(&adi.expression, adi.condition.as_deref(), adi.trail),
            None => order.clone(),
        };
        order
            .keys(self.key_type(), self.key_len())
            .nullable(self.codec.is_nullable)
            .decimals(self.decimals().unwrap_or_default())
            .collation(self.collation(settings).into_owned())
    }
}

impl Adi {
    /// Puts the key of a record behind `keys`, part by part; NULL is zeros.
    fn put_key(&self, record: &dyn Record, keys: &mut Vec<u8>) -> Result<MadeKey> {
        let mut made = MadeKey::Null;
        for part in &self.parts {
            let begin = keys.len();
            let value = part.program.evaluate_record(record)?;
            let key = match (part.codec.encoding, &value) {
                // A time of day has no day to count from.
                (KeyEncoding::Adi(AdiKey::Time), Value::Timestamp(ms)) => Some(KeyValue::Timestamp(Some(*ms))),
                (_, value) => key_value(value),
            };
            let fill = match key {
                Some(value) => {
                    part.codec.put(&value, keys)?;
                    made = MadeKey::Value;
                    b' '
                }
                None => 0,
            };
            keys.resize(begin + part.codec.len, fill);
            if let (Some(small), Some(key)) = (&part.small, keys.get_mut(begin..)) {
                for byte in key {
                    *byte = small[usize::from(*byte)];
                }
            }
        }
        Ok(made)
    }
}

/// Every number of so many digits is a double.
const DOUBLE_DIGITS: usize = 15;

/// What a record has for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MadeKey {
    /// None: the condition leaves the record out.
    LeftOut,
    /// NULL, which is stored as a blank key.
    Null,
    /// One with a value.
    Value,
}

fn key_value<'v>(value: &'v Value<'_>) -> Option<KeyValue<'v>> {
    Some(match value {
        Value::Null => return None,
        Value::Character(text) => KeyValue::Character(text),
        Value::Number(number) => KeyValue::Number(*number),
        Value::Logical(value) => KeyValue::Logical(*value),
        Value::Date(_) => KeyValue::Date(value.unix_days()),
        Value::Timestamp(_) => KeyValue::Timestamp(value.unix_ms()),
    })
}
