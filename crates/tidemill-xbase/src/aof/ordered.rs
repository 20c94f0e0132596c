//! A set of records along an order.
//!
//! The order is read once, without keys, into the records one behind the other and the place of each. A set is then a bitmap
//! over places, so that a step costs no page and no record: nothing is sought, whatever the order and the set are.

use std::sync::Arc;

use crate::bitmap::Bitmap;
use crate::error::Result;
use crate::index::{Order, Sequence};

/// The records of a set that an order has, in that order. It shows the set and the order as they were.
#[derive(Debug, Clone)]
pub struct OrderedRecords {
    sequence: Arc<Sequence>,
    /// The place that counts from 0 is bit n, thus "record" n + 1 of this set.
    places: Bitmap,
}

impl OrderedRecords {
    /// The records of `set` in an order. The first time that an order is asked it is read from one end to the other, which
    /// takes eight bytes a record.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) for pages that cannot be decoded, and for a record behind the set's end.
    pub fn new(set: &Bitmap, order: &Order) -> Result<Self> {
        let sequence = order.sequence(set.len())?;
        let mut words = vec![0_u64; (sequence.len() as usize).div_ceil(64)];
        let mut add = |place: u32| {
            if let Some(word) = words.get_mut(place as usize / 64) {
                *word |= 1 << (place % 64);
            }
        };
        match sequence.has_repeats() {
            false => set.iter().filter_map(|recno| sequence.place(recno)).for_each(&mut add),
            true => (0..sequence.len())
                .filter(|place| sequence.record(*place).is_some_and(|recno| set.contains(recno)))
                .for_each(&mut add),
        }
        let places = Bitmap::from_words(words, sequence.len());
        Ok(Self { sequence, places })
    }

    /// The number of records.
    pub fn count(&self) -> u32 {
        self.places.count()
    }

    /// The first record.
    pub fn first(&self) -> Option<u32> {
        self.record(self.places.first())
    }

    /// The last record.
    pub fn last(&self) -> Option<u32> {
        self.record(self.places.last())
    }

    /// The record that lies `count` records of the set behind a record in the order, or before it when that is negative; the
    /// record itself for 0. The record need not be in the set. `None` when there are not so many, and when the order has not
    /// got the record.
    pub fn skip(&self, recno: u32, count: i64) -> Option<u32> {
        self.record(self.places.skip(self.sequence.place(recno)? + 1, count))
    }

    /// The number of a record of the set in the order, from 1: `None` when it is not there.
    pub fn key_no(&self, recno: u32) -> Option<u32> {
        let place = self.sequence.place(recno)? + 1;
        self.places.contains(place).then(|| self.places.rank(place))
    }

    /// The record with this number, counted from 1.
    pub fn nth(&self, number: u32) -> Option<u32> {
        self.record(self.places.select(number))
    }

    /// The records from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.places.iter().filter_map(|place| self.record(Some(place)))
    }

    fn record(&self, place: Option<u32>) -> Option<u32> {
        self.sequence.record(place?.checked_sub(1)?)
    }
}
