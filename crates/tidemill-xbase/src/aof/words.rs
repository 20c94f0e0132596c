//! CONTAINS() answered from an index of words ("Full Text Search Optimization" in ADS's help).
//!
//! An index tells which records have a word. It does not tell where the words stand, nor how those end that are longer than its keys:
//! for NEAR, phrases and such words it gives candidates, whose texts are read. NOT of a part that it does not tell for certain has every
//! record for a candidate.
//!
//! An index answers where each word that CONTAINS() looks at by its default options is in it, and no text has another one.

use std::sync::Arc;

use crate::bitmap::Bitmap;
use crate::error::{Error, Result};
use crate::expression::{Node, NodeKind, Program, Record, RecordBytes, Value};
use crate::field::Field;
use crate::full_text::{Condition, FieldText, SearchCondition, Term, Tokenizer, WordKeys};
use crate::index::{Bound, Key, Order, TreePath};
use crate::kernels::Block;
use crate::orders::TableOrder;
use crate::table::Table;

/// A CONTAINS() of a field and a condition that is the same for every record.
#[derive(Debug, Clone)]
pub(super) struct Search {
    field: usize,
    condition: Arc<SearchCondition>,
    tokenizer: Arc<Tokenizer>,
    /// Whether the field can be NULL.
    can_be_null: bool,
}

/// An index of words that can answer conditions.
#[derive(Debug, Clone)]
pub(super) struct KnownWords {
    order: Arc<Order>,
    keys: WordKeys,
    /// Whether it has words that the default options pass over.
    has_more: bool,
}

/// The records that an index leaves.
pub(super) struct Candidates {
    pub(super) records: Bitmap,
    /// Whether the condition holds for all of them.
    pub(super) are_exact: bool,
}

/// What a word is to a term.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fits {
    Yes,
    No,
    /// The index does not tell.
    Perhaps,
}

impl Search {
    /// `None` for what is none.
    ///
    /// # Errors
    /// [`Error::Expression`] for a condition that is wrong.
    pub(super) fn new(program: &Program, table: &Table) -> Result<Option<Self>> {
        let NodeKind::Call(function, arguments) = &program.root.kind else {
            return Ok(None);
        };
        let ("CONTAINS", [text, condition]) = (function.name, arguments.as_slice()) else {
            return Ok(None);
        };
        let Some(Value::Character(condition)) = condition.constant() else {
            return Ok(None);
        };
        let tokenizer = Tokenizer::default();
        let written = table.codepage().decode(condition);
        let condition = SearchCondition::parse(&written, &tokenizer)
            .map_err(|fault| Error::expression(1, "a search condition", format!("{written:?}, which {fault}")))?;
        let Some((field, described)) = field_of(text, program, table) else {
            return Ok(None);
        };
        let is_nullable = program.slots.iter().any(|slot| slot.nullable);
        Ok(Some(Self {
            field,
            condition: Arc::new(condition),
            tokenizer: Arc::new(tokenizer),
            can_be_null: is_nullable || table.fields.null_test(described).is_some(),
        }))
    }

    /// Whether it holds for each record of a block, or only for those that are wanted; `None` for NULL.
    ///
    /// # Errors
    /// As [`FieldText::read`].
    pub(super) fn values(&self, table: &Table, block: &Block<'_>, wanted: Option<&[u64]>) -> Result<Vec<Option<bool>>> {
        let (mut text, mut words) = (FieldText::default(), Vec::new());
        // The record of an ADT that is deleted is gone, and so may be its memo.
        let is_adt = table.header().adt.is_some();
        let mut values = Vec::with_capacity(block.len as usize);
        for (i, (recno, bytes)) in (block.first + 1..).zip(block.records()).enumerate() {
            let is_wanted = wanted.is_none_or(|words| words.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 != 0));
            let record = RecordBytes::new(table, recno, bytes);
            if !is_wanted || is_adt && record.is_deleted() {
                values.push(Some(false));
                continue;
            }
            values.push(match text.read(&record, self.field, table.memo())? {
                None => None,
                Some(text) => {
                    words.clear();
                    self.tokenizer.each_word(text, |word| words.push(word.to_owned()));
                    Some(self.condition.holds(&words))
                }
            });
        }
        Ok(values)
    }
}

/// The field that a node is, of those that have texts.
fn field_of<'t>(node: &Node, program: &Program, table: &'t Table) -> Option<(usize, &'t Field)> {
    let NodeKind::Field(slot) = node.kind else { return None };
    let index = program.slots.get(slot)?.index;
    let field = table.fields().get(index)?;
    WordKeys::has_texts(field).then_some((index, field))
}

impl KnownWords {
    /// `None` for an order that cannot answer conditions.
    pub(super) fn new(order: &TableOrder) -> Option<Self> {
        let keys = order.keys().words()?;
        let options = &keys.options;
        (options.has_default_words() && !options.is_fixed).then(|| Self {
            order: Arc::clone(order.order()),
            has_more: !options.has_no_other_words(),
            keys: keys.clone(),
        })
    }

    /// The field whose words it has.
    pub(super) fn field(&self) -> usize {
        self.keys.field
    }

    /// Whether it has the words of the field that a condition is about.
    pub(super) fn answers(&self, search: &Search) -> bool {
        self.keys.field == search.field
    }

    /// Whether the texts of candidates have to be read.
    pub(super) fn is_exact(&self, search: &Search) -> bool {
        self.tells(&search.condition.condition, search.can_be_null)
    }

    fn tells(&self, condition: &Condition, can_be_null: bool) -> bool {
        let tells_of = |word: &str, room: usize| {
            let bytes = self.keys.beginning(word);
            bytes.is_some_and(|bytes| bytes.len() <= room)
        };
        match condition {
            // Without a text there is no answer.
            Condition::Nothing => !can_be_null,
            Condition::Term(Term::Word(word)) => tells_of(word, self.keys.key_len() - 1),
            Condition::Term(Term::Phrase(words)) => match words.as_slice() {
                [word] => tells_of(word, self.keys.key_len() - 1),
                _ => false,
            },
            Condition::Term(Term::Beginning(part)) => tells_of(part, self.keys.key_len()) && !self.has_more,
            // It may be that all keys are whole words, which only they themselves tell.
            Condition::Term(Term::End(_) | Term::Part(_)) => !self.has_more,
            Condition::Not(inner) => !can_be_null && self.tells(inner, can_be_null),
            Condition::And(all) | Condition::Or(all) => all.iter().all(|one| self.tells(one, can_be_null)),
            Condition::Near(..) => false,
        }
    }

    /// The records that a condition can hold for.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for pages that cannot be decoded, and for a record that the table does not have.
    pub(super) fn candidates(&self, search: &Search, record_count: u32) -> Result<Candidates> {
        self.those(&search.condition.condition, search.can_be_null, record_count)
    }

    fn those(&self, condition: &Condition, can_be_null: bool, record_count: u32) -> Result<Candidates> {
        let everything = |are_exact| Candidates {
            records: Bitmap::full(record_count),
            are_exact,
        };
        match condition {
            Condition::Nothing => Ok(everything(!can_be_null)),
            Condition::Term(term) => self.with(term, record_count),
            Condition::Not(inner) => {
                let mut inner = self.those(inner, can_be_null, record_count)?;
                if can_be_null || !inner.are_exact {
                    return Ok(everything(false));
                }
                inner.records.invert();
                Ok(inner)
            }
            Condition::And(all) => {
                let mut found = everything(true);
                for one in all {
                    let one = self.those(one, can_be_null, record_count)?;
                    found.records.intersect(&one.records);
                    found.are_exact &= one.are_exact;
                }
                Ok(found)
            }
            Condition::Or(any) => {
                let mut found = Candidates {
                    records: Bitmap::new(record_count),
                    are_exact: true,
                };
                for one in any {
                    let one = self.those(one, can_be_null, record_count)?;
                    found.records.unite(&one.records);
                    found.are_exact &= one.are_exact;
                }
                Ok(found)
            }
            Condition::Near(left, _, right) => {
                let (mut left, right) = (
                    self.those(left, can_be_null, record_count)?,
                    self.those(right, can_be_null, record_count)?,
                );
                left.records.intersect(&right.records);
                left.are_exact = false;
                Ok(left)
            }
        }
    }

    /// The records that can have a term.
    fn with(&self, term: &Term, record_count: u32) -> Result<Candidates> {
        match term {
            Term::Word(word) => self.with_word(word, record_count),
            Term::Phrase(words) => {
                let mut found = Candidates {
                    records: Bitmap::full(record_count),
                    are_exact: words.len() < 2,
                };
                for word in words {
                    let one = self.with_word(word, record_count)?;
                    found.records.intersect(&one.records);
                    found.are_exact &= one.are_exact;
                }
                Ok(found)
            }
            Term::Beginning(part) => match self.keys.beginning(part) {
                Some(mut bytes) => {
                    let is_whole = bytes.len() <= self.keys.key_len();
                    bytes.truncate(self.keys.key_len());
                    let range = Some(Key::raw(bytes));
                    self.among(range, record_count, |_, is_vague| match (is_whole, is_vague) {
                        (true, _) => Fits::Yes,
                        (false, true) => Fits::Perhaps,
                        (false, false) => Fits::No,
                    })
                }
                None => self.among(None, record_count, |word, is_vague| {
                    told(word.starts_with(part.as_str()), is_vague)
                }),
            },
            Term::End(part) => self.among(None, record_count, |word, is_vague| match is_vague {
                true => Fits::Perhaps,
                false => told(word.ends_with(part.as_str()), false),
            }),
            Term::Part(part) => self.among(None, record_count, |word, is_vague| {
                told(word.contains(part.as_str()), is_vague)
            }),
        }
    }

    fn with_word(&self, wanted: &str, record_count: u32) -> Result<Candidates> {
        let len = self.keys.key_len();
        match self.keys.beginning(wanted) {
            Some(mut bytes) => {
                // A key that is full may be that of a longer word.
                let is_whole = bytes.len() < len;
                bytes.resize(len, crate::full_text::TRAIL);
                let fits = if is_whole { Fits::Yes } else { Fits::Perhaps };
                self.among(Some(Key::raw(bytes)), record_count, |_, _| fits)
            }
            None => self.among(None, record_count, |word, is_vague| match is_vague {
                true => Fits::Perhaps,
                false => told(word == wanted, false),
            }),
        }
    }

    /// The records of the words that fit, among those that begin so.
    fn among(
        &self,
        beginning: Option<Key>,
        record_count: u32,
        fits: impl Fn(&str, bool) -> Fits,
    ) -> Result<Candidates> {
        let (tree, defaults) = (&self.order.tree, Tokenizer::default());
        let mut found = Candidates {
            records: Bitmap::new(record_count),
            are_exact: true,
        };
        let bound = beginning.map(|key| Bound { key, is_included: true });
        let is_before = |stored: &[u8]| {
            bound
                .as_ref()
                .is_some_and(|bound| tree.order.probe(&bound.key, stored).is_gt())
        };
        let is_behind = |stored: &[u8]| {
            bound
                .as_ref()
                .is_some_and(|bound| tree.order.probe(&bound.key, stored).is_lt())
        };
        let (mut last, mut fit) = (Vec::new(), Fits::No);
        let mut path = TreePath::default();
        let mut is_there = path.seek(tree, |stored, _| is_before(stored))?;
        while let Some(step) = path.entry().filter(|_| is_there) {
            let (key, recno) = (step.node.key(step.slot), step.node.recno(step.slot));
            if last != key {
                if is_behind(key) {
                    break;
                }
                let (word, is_vague) = (self.keys.word(key), self.keys.is_vague(key));
                fit = match fits(&word, is_vague) {
                    // The default options pass over it.
                    Fits::Yes | Fits::Perhaps if self.has_more && !is_vague && !defaults.counts(&word) => Fits::No,
                    Fits::Yes if self.has_more && is_vague => Fits::Perhaps,
                    fit => fit,
                };
                last.clear();
                last.extend_from_slice(key);
            }
            if recno == 0 || recno > record_count {
                let expected = format!("1 to {record_count}");
                return Err(tree.corrupt("record number", tree.offset(step.page), expected, recno.to_string()));
            }
            if fit != Fits::No {
                found.records.set(recno, true);
                found.are_exact &= fit == Fits::Yes;
            }
            is_there = path.next(tree)?;
        }
        Ok(found)
    }
}

fn told(fits: bool, is_vague: bool) -> Fits {
    match (fits, is_vague) {
        (true, _) => Fits::Yes,
        (false, true) => Fits::Perhaps,
        (false, false) => Fits::No,
    }
}
