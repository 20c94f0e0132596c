//! How the keys of an order compare: by their bytes, or as texts of an alphabet.

use std::cmp::Ordering;

use super::collation::Collation;
use super::key::{DOUBLE, Key, KeyType, double};
use super::page::Node;

/// How the keys of one order compare in its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyOrder {
    collation: Collation,
    is_reversed: bool,
}

impl KeyOrder {
    /// `is_reversed`: the tree runs from the highest key to the lowest.
    pub(crate) fn new(key_type: KeyType, collation: &Collation, is_reversed: bool) -> Self {
        let collation = match key_type {
            KeyType::Character => collation.clone(),
            _ => Collation::binary(),
        };
        Self { collation, is_reversed }
    }

    /// The order of the keys' bytes.
    pub(crate) fn by_bytes() -> Self {
        Self {
            collation: Collation::binary(),
            is_reversed: false,
        }
    }

    /// Whether the tree runs from the highest key to the lowest.
    pub(crate) fn is_reversed(&self) -> bool {
        self.is_reversed
    }

    /// Whether it is known how the keys compare.
    pub(crate) fn is_known(&self) -> bool {
        self.collation.is_known()
    }

    /// Whether texts compare as they do under these weights of their bytes; `None` when a byte's weight is itself.
    pub(crate) fn is_by(&self, weights: Option<&[u8; 256]>) -> bool {
        self.collation.is_of_bytes() && self.collation.weights().map(|own| &**own) == weights
    }

    /// Whether each byte of a key says alone where the key stands among those that begin as it does.
    pub(crate) fn is_by_bytes_alone(&self) -> bool {
        self.collation.is_of_bytes()
    }

    /// Whether no two texts are equal that have other bytes, and one that begins as another does begins with its bytes.
    pub(crate) fn tells_all_apart(&self) -> bool {
        self.collation.is_of_bytes() && self.collation.tells_bytes_apart()
    }

    /// What errors call the order of a text's bytes.
    pub(crate) fn collation_name(&self) -> &'static str {
        match self.collation.is_binary() {
            true => "that of bytes",
            false => "that of an alphabet",
        }
    }

    /// Two stored keys. Where it is not known how they compare, all are equal.
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let order = match self.collation.is_binary() {
            true => compare_bytes(a, b),
            false => self.collation.compare(a, b),
        };
        if self.is_reversed { order.reverse() } else { order }
    }

    /// Whether no key of a page comes before the one before it.
    pub(crate) fn is_sorted(&self, page: &Node) -> bool {
        match (page.numbers(), self.collation.is_binary(), self.is_reversed) {
            (Some(numbers), true, false) => numbers.is_sorted(),
            (Some(numbers), true, true) => numbers.is_sorted_by(|a, b| a >= b),
            _ => page.keys().is_sorted_by(|a, b| self.compare(a, b).is_le()),
        }
    }

    /// The first eight bytes of a key as a number: that of a key that comes before is not higher.
    pub(crate) fn prefix(&self, key: &[u8]) -> u64 {
        let prefix = match self.collation.is_binary() {
            true => {
                let mut bytes = [0; 8];
                bytes.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
                u64::from_be_bytes(bytes)
            }
            false => self.collation.prefix(key),
        };
        if self.is_reversed { !prefix } else { prefix }
    }

    /// What is looked for as a number that compares with the eight bytes of a stored key as numbers do, where the tree is in the
    /// order of the keys' bytes.
    pub(crate) fn number(&self, probe: &Key) -> Option<u64> {
        let is_by_bytes = !self.is_reversed && !probe.is_by_day() && self.collation.is_binary();
        let bytes = <[u8; 8]>::try_from(probe.as_bytes()).ok();
        bytes.filter(|_| is_by_bytes).map(u64::from_be_bytes)
    }

    /// What is looked for and a stored key: equal when the key begins with it.
    pub(crate) fn probe(&self, probe: &Key, key: &[u8]) -> Ordering {
        if probe.is_by_day() {
            // A byte in front may say that the key is not NULL.
            let at = probe.as_bytes().len().saturating_sub(DOUBLE);
            let front = |key| <[u8]>::get(key, ..at).unwrap_or_default();
            let day = |key| <[u8]>::get(key, at..).and_then(double).map_or(f64::NAN, f64::floor);
            let (own, stored): (&[u8], _) = (probe.as_bytes(), key);
            let order = front(own).cmp(front(stored)).then(day(own).total_cmp(&day(stored)));
            return if self.is_reversed { order.reverse() } else { order };
        }
        if self.collation.is_binary() {
            return self.compare(probe.as_bytes(), key.get(..probe.as_bytes().len()).unwrap_or(key));
        }
        let order = self.collation.probe(probe.as_bytes(), key);
        if self.is_reversed { order.reverse() } else { order }
    }
}

/// The order of two texts by their bytes, the first eight of them as one number.
pub(super) fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    match (a.split_first_chunk::<8>(), b.split_first_chunk::<8>()) {
        (Some((a, a_rest)), Some((b, b_rest))) => match u64::from_be_bytes(*a).cmp(&u64::from_be_bytes(*b)) {
            Ordering::Equal => a_rest.cmp(b_rest),
            other => other,
        },
        _ => a.cmp(b),
    }
}
