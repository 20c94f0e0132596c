//! Leaves that an order answers: the records between two of its keys.
//!
//! An order can answer a comparison of what its keys begin with: the bare field, `UPPER(field)`, the first field of a
//! compound key, `DELETED()`. It must hold every record (no FOR, not unique, no custom keys; a candidate index is looked through
//! for that); an order with FOR that is no candidate index answers the leaf that is its condition. What could differ between keys
//! and records is left to the kernels: fields that can be NULL, texts compared under SET EXACT or in another collation than the
//! order's, moments within a day.

use std::sync::Arc;

use crate::bitmap::Bitmap;
use crate::error::Result;
use crate::expression::{BinaryOperator, Environment, Syntax, Value, parse};
use crate::field::{Field, FieldKind};
use crate::header::Dialect;
use crate::index::{Bound, Direction, Key, KeyCodec, KeyEncoding, KeyType, KeyValue, Order};
use crate::kernels::text::TextCell;
use crate::orders::TableOrder;
use crate::table::Table;

use super::leaf::{Compared, KeyCell, Leaf, equal_beginning};
use super::steps::Step;
use super::words::KnownWords;

/// The orders that filters of one table may be answered from.
#[derive(Debug, Clone, Default)]
pub struct FilterOrders {
    known: Vec<Known>,
    words: Vec<KnownWords>,
}

#[derive(Debug, Clone)]
struct Known {
    order: Arc<Order>,
    key: Option<KeyCell>,
    condition: Option<Syntax>,
    /// Whether it need not have an entry of every record.
    is_candidate: bool,
    /// What keys of NULL begin with, in an ADI: its fields can be NULL, and what is deleted has no key.
    null: Option<Key>,
}

impl FilterOrders {
    /// No orders: every leaf is answered by a pass over the table.
    pub fn none() -> Self {
        Self::default()
    }

    /// Those of these orders that can answer anything. One without FOR has its entries counted when it answers for the first time,
    /// which reads every page of it once.
    ///
    /// # Errors
    /// For a condition that cannot be parsed.
    pub fn new<'o>(table: &Table, orders: impl IntoIterator<Item = &'o TableOrder>) -> Result<Self> {
        let mut known = Vec::new();
        for table_order in orders {
            let order = table_order.order();
            let tag = order.tag();
            if !order.is_known() {
                continue;
            }
            // Its conditions name fields by number.
            let is_adi = matches!(order.codec.encoding, KeyEncoding::Adi(_));
            if tag.is_full_text || (is_adi && tag.condition.is_some()) {
                continue;
            }
            if tag.is_unique || tag.is_custom || (tag.is_candidate && tag.condition.is_some()) {
                continue;
            }
            let condition = tag.condition.as_deref().map(parse).transpose()?;
            let key = match condition {
                None if !tag.ignores_case => KeyCell::new(table_order.keys().program(), table),
                _ => None,
            };
            let key = match table_order.keys().is_small() {
                true => key.map(|key| key.in_small_letters(&table_order.keys().program().environment)),
                false => key,
            };
            let null = match (order.codec.encoding, &key) {
                (KeyEncoding::Adi(kind), Some(KeyCell::Text(cell))) => Some(kind.len().unwrap_or(cell.len)),
                (KeyEncoding::Adi(kind), _) => kind.len(),
                _ => None,
            };
            let null = null.map(|len| Key::raw(vec![0; len]));
            if key.is_some() || condition.is_some() {
                known.push(Known {
                    order: Arc::clone(order),
                    key,
                    condition,
                    is_candidate: tag.is_candidate,
                    null,
                });
            }
        }
        Ok(Self {
            known,
            words: Vec::new(),
        })
    }

    /// With these indexes of words, which answer CONTAINS() where they tell what reading the texts would.
    #[must_use]
    pub fn with_words<'o>(mut self, orders: impl IntoIterator<Item = &'o TableOrder>) -> Self {
        self.words = orders.into_iter().filter_map(KnownWords::new).collect();
        self
    }

    /// Whether an index of words answers CONTAINS() of a field.
    pub fn has_words_of(&self, field: usize) -> bool {
        self.words.iter().any(|words| words.field() == field)
    }

    /// Whether an index of words answers CONTAINS() of a field.
    pub fn answers_words(order: &TableOrder, field: usize) -> bool {
        KnownWords::new(order).is_some_and(|words| words.field() == field)
    }

    /// The index of words that answers a leaf, within NOT or not: it does not tell which texts are NULL.
    pub(super) fn words(&self, leaf: &Leaf, is_negated: bool) -> Option<&KnownWords> {
        let search = leaf.search.as_ref()?;
        let can_be_null = leaf.null.is_some() || leaf.program.slots.iter().any(|slot| slot.nullable);
        let mut words = self.words.iter().filter(|_| !is_negated || !can_be_null);
        words.find(|words| words.answers(search))
    }

    /// The records, deleted ones too, whose field has a value, in the order of the table: the answer of a filter that compares the
    /// field with it, without a set of all records. A text is given as wide as its field. `None` where no order answers that, or
    /// where more than `most` records have the value.
    ///
    /// # Errors
    /// As [`Filter::bitmap_by`](super::Filter::bitmap_by).
    pub fn records_with(
        &self,
        table: &Table,
        field: usize,
        value: &KeyValue<'_>,
        most: usize,
    ) -> Result<Option<Vec<u32>>> {
        let Some(described) = table.fields().get(field).filter(|field| !field.nullable) else {
            return Ok(None);
        };
        let range = self.known.iter().find_map(|known| {
            let range = known.equal_to((field, described), value);
            range.filter(|_| known.has_every_record(table))
        });
        match range {
            Some(range) => range.records(table.record_count(), most),
            None => Ok(None),
        }
    }

    /// The records of a leaf as a range of an order, where one fits.
    pub(super) fn range(&self, leaf: &Leaf, table: &Table) -> Option<Range> {
        let can_be_null = leaf.null.is_some() || leaf.program.slots.iter().any(|slot| slot.nullable);
        // Of one field alone the order tells which records are NULL.
        let known = self.known.iter().filter(|known| match &known.null {
            Some(_) => leaf.program.slots.len() == 1,
            None => !can_be_null,
        });
        known.into_iter().find_map(|known| {
            let range = known.range(leaf, table);
            range.filter(|_| known.has_every_record(table))
        })
    }
}

/// The records of an order between two keys.
#[derive(Debug, Clone)]
pub(super) struct Range {
    order: Arc<Order>,
    low: Option<Bound>,
    high: Option<Bound>,
    /// Whether those outside are meant.
    is_outside: bool,
    /// Whether every record has an entry in the order.
    is_whole: bool,
    /// What keys of NULL begin with, where they are among the others.
    null: Option<Key>,
}

impl Range {
    /// The records as a set.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) for pages that cannot be decoded, for a record that the table does not have, and
    /// for an order without FOR that has not as many entries as the table has records: the table was changed without it.
    pub(super) fn bitmap(&self, record_count: u32) -> Result<Bitmap> {
        self.check_count(record_count)?;
        /// Of so few records it is noted where they are.
        const FEW: usize = 64;
        let mut words = vec![0_u64; (record_count as usize).div_ceil(64)];
        let (mut occupied, mut found) = (words.len()..0, 0);
        self.order
            .visit_records(self.low.as_ref(), self.high.as_ref(), record_count, |records| {
                for recno in records {
                    let bit = recno.wrapping_sub(1);
                    if let Some(word) = words.get_mut(bit as usize / 64) {
                        *word |= 1 << (bit % 64);
                    }
                }
                found += records.len();
                if found <= FEW {
                    for at in records.iter().map(|recno| recno.wrapping_sub(1) as usize / 64) {
                        occupied = occupied.start.min(at)..occupied.end.max(at + 1);
                    }
                }
            })?;
        let mut bitmap = Bitmap::from_words(words, record_count);
        if found <= FEW {
            bitmap = bitmap.occupying(occupied);
        }
        if self.is_outside {
            bitmap.invert();
        }
        Ok(bitmap)
    }

    /// The step that the records are, with those that are NULL.
    ///
    /// # Errors
    /// As [`Range::bitmap`].
    pub(super) fn step<'p>(&self, record_count: u32) -> Result<Step<'p>> {
        let Some(null) = &self.null else {
            return self.bitmap(record_count).map(Step::Set);
        };
        let bound = Some(Bound {
            key: null.clone(),
            is_included: true,
        });
        let nulls = Self {
            low: bound.clone(),
            high: bound,
            is_outside: false,
            ..self.clone()
        };
        let (mut is_true, is_null) = (self.bitmap(record_count)?, nulls.bitmap(record_count)?);
        is_true.subtract(&is_null);
        Ok(Step::SetAndNulls(is_true, is_null))
    }

    /// The records in the order of the table; `None` when there are more than `most`.
    ///
    /// # Errors
    /// As [`Range::bitmap`].
    fn records(&self, record_count: u32, most: usize) -> Result<Option<Vec<u32>>> {
        self.check_count(record_count)?;
        let (mut found, mut is_within) = (Vec::new(), !self.is_outside);
        self.order
            .visit_records(self.low.as_ref(), self.high.as_ref(), record_count, |records| {
                is_within &= found.len() + records.len() <= most;
                if is_within {
                    found.extend_from_slice(records);
                }
            })?;
        found.sort_unstable();
        found.dedup();
        Ok(is_within.then_some(found))
    }

    fn check_count(&self, record_count: u32) -> Result<()> {
        if !self.is_whole {
            return Ok(());
        }
        let found = self.order.key_count()?;
        if found == u64::from(record_count) {
            return Ok(());
        }
        let (tree, tag) = (&self.order.tree, self.order.tag());
        let expected = format!("{record_count} keys, one a record (reindex)");
        Err(tree.corrupt(
            &format!("index tag {}", tag.name),
            tag.header,
            expected,
            found.to_string(),
        ))
    }

    /// One range for two of the same order, both of which must hold the record.
    pub(super) fn narrowed_by(&self, other: &Self) -> Option<Self> {
        if !Arc::ptr_eq(&self.order, &other.order) || self.is_outside || other.is_outside {
            return None;
        }
        let inner = |a: &Option<Bound>, b: &Option<Bound>, is_low: bool| -> Option<Option<Bound>> {
            let (Some(left), Some(right)) = (a, b) else {
                return Some(a.clone().or_else(|| b.clone()));
            };
            if left.key.is_by_day() || right.key.is_by_day() {
                return None;
            }
            let (l, r) = (left.key.as_bytes(), right.key.as_bytes());
            if l.len() != r.len() {
                return None;
            }
            let order = self.order.tree.order.compare(l, r);
            let order = if self.order.tree.order.is_reversed() {
                order.reverse()
            } else {
                order
            };
            let takes_left = match order.is_eq() {
                true => !left.is_included,
                false => order.is_gt() == is_low,
            };
            Some(Some(if takes_left { left.clone() } else { right.clone() }))
        };
        Some(Self {
            order: Arc::clone(&self.order),
            low: inner(&self.low, &other.low, true)?,
            high: inner(&self.high, &other.high, false)?,
            is_outside: false,
            is_whole: self.is_whole,
            null: self.null.clone(),
        })
    }
}

impl Known {
    /// Whether a candidate index has an entry of every record, as other orders without FOR must have: a damaged one has not, and
    /// the table is read. So it is where stars stand in a number of Visual FoxPro, whose key is one of a number that is none.
    fn has_every_record(&self, table: &Table) -> bool {
        if table.header().dialect == Dialect::VisualFoxPro && self.has_stars() {
            return false;
        }
        if let (Some(_), Some(header)) = (&self.null, &table.header().adt) {
            let live = u64::from(table.record_count()).checked_sub(header.free_count.into());
            return self.order.key_count().ok() == live && live.is_some();
        }
        !self.is_candidate || self.order.has_each(table.record_count()).unwrap_or(false)
    }

    /// Whether the highest of the keys is higher than every number.
    fn has_stars(&self) -> bool {
        let highest = match self.order.walks_back {
            true => Direction::Forward,
            false => Direction::Backward,
        };
        if self.order.key_type() != KeyType::Number {
            return false;
        }
        match self.order.walk(highest).next() {
            None => false,
            Some(Err(_)) => true,
            Some(Ok(entry)) => match self.order.value(entry.key()) {
                Some(KeyValue::Number(number)) => number.is_infinite(),
                _ => false,
            },
        }
    }

    fn range(&self, leaf: &Leaf, table: &Table) -> Option<Range> {
        if let Some(condition) = &self.condition {
            return (*condition == leaf.syntax).then(|| self.all());
        }
        match (self.key.as_ref()?, leaf.compared.as_ref()?) {
            (
                KeyCell::Deleted,
                Compared::Deleted {
                    deleted: yes,
                    other: no,
                },
            ) => self.logical(*yes, *no),
            (KeyCell::Logical { at }, Compared::Logical { at: compared, yes, no }) if at == compared => {
                self.logical(*yes, *no)
            }
            (KeyCell::Text(key), Compared::Text(cell, operator, constant))
                if key.at == cell.at && key.len >= cell.len =>
            {
                let environment = &leaf.program.environment;
                let is_equality = matches!(
                    operator,
                    BinaryOperator::Equal | BinaryOperator::ExactlyEqual | BinaryOperator::NotEqual
                );
                if !(key.map == cell.map || is_equality && constant.is_ascii() && same_in_ascii(key, cell)) {
                    return None;
                }
                if is_equality {
                    return match equal_beginning(cell, *operator, constant, environment) {
                        Some(beginning) => self.equal(self.text(&beginning)?, *operator),
                        None => None,
                    };
                }
                self.ordered_text(cell.len, *operator, constant, environment)
            }
            (KeyCell::Field(key), Compared::Field(index, operator, constant)) if key == index => {
                self.field(table.fields().get(*index)?.kind, *operator, constant)
            }
            _ => None,
        }
    }

    /// The records whose field has a value; a text is as wide as the field.
    fn equal_to(&self, (index, field): (usize, &Field), value: &KeyValue<'_>) -> Option<Range> {
        if self.condition.is_some() {
            return None;
        }
        match (self.key.as_ref()?, value) {
            (KeyCell::Field(key), KeyValue::Number(number)) if *key == index => {
                self.field(field.kind, BinaryOperator::Equal, &Value::Number(*number))
            }
            (KeyCell::Text(key), KeyValue::Character(text))
                if key.at == field.offset
                    && key.map.is_none()
                    && key.len >= field.width
                    && text.len() == field.width =>
            {
                self.equal(self.text(text)?, BinaryOperator::Equal)
            }
            _ => None,
        }
    }

    fn all(&self) -> Range {
        Range {
            order: Arc::clone(&self.order),
            low: None,
            high: None,
            is_outside: false,
            is_whole: self.condition.is_none() && self.null.is_none(),
            null: self.null.clone(),
        }
    }

    fn logical(&self, yes: bool, no: bool) -> Option<Range> {
        let only = |value| self.equal(self.order.key(&KeyValue::Logical(value)).ok()?, BinaryOperator::Equal);
        match (yes, no) {
            (true, true) => Some(self.all()),
            (false, false) => Some(Range {
                is_outside: true,
                ..self.all()
            }),
            (yes, _) => only(yes),
        }
    }

    /// The beginning of a text key, where keys are that long and no two texts are equal.
    fn text(&self, beginning: &[u8]) -> Option<Key> {
        let fits = beginning.len() <= self.order.tag().key_len && self.order.tree.order.tells_all_apart();
        fits.then(|| Key::raw(beginning))
    }

    fn equal(&self, key: Key, operator: BinaryOperator) -> Option<Range> {
        let bound = Some(Bound { key, is_included: true });
        Some(Range {
            low: bound.clone(),
            high: bound,
            is_outside: operator == BinaryOperator::NotEqual,
            ..self.all()
        })
    }

    /// The range that a comparison with a key stands for. Keys with which a bound is equal belong to it where the operator
    /// says so.
    fn compared(&self, key: Key, operator: BinaryOperator) -> Option<Range> {
        use BinaryOperator as B;
        let bound = |is_included| {
            Some(Bound {
                key: key.clone(),
                is_included,
            })
        };
        let (low, high) = match operator {
            B::Less => (None, bound(false)),
            B::LessOrEqual => (None, bound(true)),
            B::Greater => (bound(false), None),
            B::GreaterOrEqual => (bound(true), None),
            _ => return self.equal(key, operator),
        };
        Some(Range {
            low,
            high,
            ..self.all()
        })
    }

    fn ordered_text(
        &self,
        cell_len: usize,
        operator: BinaryOperator,
        constant: &[u8],
        environment: &Environment,
    ) -> Option<Range> {
        use BinaryOperator as B;
        let same_collation = self.order.tree.order.is_by(environment.weights.as_deref());
        if environment.exact || !same_collation || constant.is_empty() {
            return None;
        }
        let len = constant.len().min(cell_len);
        let key = self.text(constant.get(..len)?)?;
        // A text that is shorter than the constant and begins it comes before it.
        let operator = match (operator, cell_len < constant.len()) {
            (B::Less, true) => B::LessOrEqual,
            (B::GreaterOrEqual, true) => B::Greater,
            (operator, _) => operator,
        };
        self.compared(key, operator)
    }

    fn field(&self, kind: FieldKind, operator: BinaryOperator, constant: &Value<'_>) -> Option<Range> {
        let is_double = matches!(
            kind,
            FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble
        );
        match constant {
            // Two zeros and what is no number have keys of their own.
            Value::Number(_) if is_double => None,
            Value::Number(number) if number.is_finite() => {
                let key = self.order.key(&KeyValue::Number(*number)).ok()?;
                let stored = self.order.value(key.as_bytes())?;
                // A key that was rounded stands for another number.
                let is_exact = match stored {
                    KeyValue::Number(stored) => stored == *number,
                    #[expect(clippy::cast_precision_loss, reason = "a key of four bytes")]
                    KeyValue::Integer(stored) => stored as f64 == *number,
                    _ => false,
                };
                is_exact.then(|| self.compared(key, operator))?
            }
            // Keys to the second have the end of a day on the next one.
            Value::Date(_) if self.order.codec.encoding == KeyEncoding::Seconds => None,
            Value::Date(_) if kind != FieldKind::Time => {
                let days = match (constant.day(), constant.unix_days()) {
                    (0, _) => None,
                    (_, None) => return None,
                    (_, days) => days,
                };
                self.day(days, operator)
            }
            Value::Timestamp(_) if matches!(kind, FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked) => {
                let days = constant.unix_days();
                days?;
                self.day(days, operator)
            }
            _ => None,
        }
    }

    /// The range that a comparison with a day stands for; `None` is the blank one, which comes before all others.
    fn day(&self, days: Option<i32>, operator: BinaryOperator) -> Option<Range> {
        use BinaryOperator as B;
        let key = self.order.key(&KeyValue::Date(days)).ok()?;
        if self.order.codec.encoding != KeyEncoding::Dbase {
            return self.compared(key, operator);
        }
        // In dBASE's indexes blank days are behind all others, or zeros before them.
        days?;
        let from = |is_included| Range {
            low: Some(Bound {
                key: key.clone(),
                is_included,
            }),
            high: Some(Bound {
                key: KeyCodec::end_of_days(),
                is_included: false,
            }),
            ..self.all()
        };
        let before = |range: Range| Range {
            is_outside: true,
            ..range
        };
        match operator {
            B::Greater => Some(from(false)),
            B::GreaterOrEqual => Some(from(true)),
            B::Less => Some(before(from(true))),
            B::LessOrEqual => Some(before(from(false))),
            _ => self.compared(key, operator),
        }
    }
}
/// Whether two texts are seen in the same letters as far as they are of ASCII. What is not of ASCII stays so in all letters, and is
/// equal to nothing that is.
fn same_in_ascii(left: &TextCell, right: &TextCell) -> bool {
    match (&left.map, &right.map) {
        (Some(left), Some(right)) => left[..128] == right[..128],
        _ => false,
    }
}
