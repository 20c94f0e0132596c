//! A hash table from pairs of numbers to numbers, for the two lookups that every field of every record needs.
//!
//! It is emptied in constant time, because chunks may be small and many. The hash is a multiplication by a number that is
//! drawn at random, so that no file can be made whose pairs collide.

use std::hash::{BuildHasher, RandomState};

/// Maps pairs to numbers below `u32::MAX`.
pub(super) struct PairTable {
    slots: Vec<Slot>,
    /// Slots of other generations are empty.
    generation: u32,
    length: usize,
    multiplier: u64,
    /// Leaves as many bits of a hash as there are slots.
    shift: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    pair: u64,
    generation: u32,
    value: u32,
}

impl Default for PairTable {
    fn default() -> Self {
        Self {
            slots: vec![Slot::default(); 1 << 6],
            shift: u64::BITS - 6,
            generation: 1,
            length: 0,
            // Odd, which the bound on collisions asks for.
            multiplier: RandomState::new().hash_one(0) | 1,
        }
    }
}

impl PairTable {
    /// Returns the value of the pair, which becomes `new` if there is none.
    #[inline]
    pub(super) fn get_or_insert(&mut self, first: u32, second: u32, new: u32) -> u32 {
        let pair = u64::from(first) << 32 | u64::from(second);
        let mut at = self.home(pair);
        loop {
            let slot = &mut self.slots[at];
            if slot.generation != self.generation {
                *slot = Slot {
                    pair,
                    generation: self.generation,
                    value: new,
                };
                self.length += 1;
                if self.length * 2 > self.slots.len() {
                    self.grow();
                }
                return new;
            }
            if slot.pair == pair {
                return slot.value;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill(Slot::default());
            self.generation = 1;
        }
    }

    #[inline]
    fn home(&self, pair: u64) -> usize {
        // Below the number of slots.
        (pair.wrapping_mul(self.multiplier) >> self.shift) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, slots);
        self.shift -= 1;
        self.length = 0;
        for slot in old {
            if slot.generation == self.generation {
                // Halves of a pair: no bits are lost.
                self.get_or_insert((slot.pair >> 32) as u32, slot.pair as u32, slot.value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_keep_their_first_value_until_the_table_is_cleared() {
        let mut table = PairTable::default();
        for round in 0..3 {
            for first in 0..40 {
                for second in 0..40 {
                    let value = first * 40 + second + round;
                    assert_eq!(table.get_or_insert(first, second, value), value);
                    assert_eq!(table.get_or_insert(first, second, 7), value);
                }
            }
            assert_eq!(table.get_or_insert(3, 4, 0), 124 + round);
            table.clear();
        }
    }

    #[test]
    fn a_table_is_empty_even_when_its_generations_start_again() {
        let mut table = PairTable::default();
        table.get_or_insert(1, 2, 3);
        table.generation = u32::MAX;
        table.get_or_insert(5, 6, 7);
        table.clear();
        assert_eq!(table.get_or_insert(1, 2, 8), 8);
        assert_eq!(table.get_or_insert(5, 6, 9), 9);
    }
}
