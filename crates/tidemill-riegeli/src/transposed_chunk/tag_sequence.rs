//! The tags of a chunk in the order of its records, kept as the transitions between neighbours.
//!
//! There are few different transitions, however many records there are: what to write for one is worked out once.

use super::{NONE, pair_table::PairTable};

/// Tags are positions in a list that the encoder has.
#[derive(Default)]
pub(super) struct TagSequence {
    transitions: Vec<Transition>,
    table: PairTable,
    /// The transitions in the order in which their tags were added.
    sequence: Vec<u32>,
    first: Option<u32>,
    last: Option<u32>,
}

/// Two tags that follow one another when decoding, which runs backwards: `from` was added directly after `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transition {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// With its places in the table and its states and routes in the machine.
const BYTES_FOR_TRANSITION: usize = 64;

impl TagSequence {
    /// Returns about how many bytes of memory it and the state machine have for what grows with the records.
    pub(super) fn memory(&self) -> usize {
        BYTES_FOR_TRANSITION * self.transitions.capacity() + size_of::<u32>() * self.sequence.capacity()
    }

    #[inline]
    pub(super) fn push(&mut self, tag: u32) {
        match self.last {
            Some(last) => {
                let new = u32::try_from(self.transitions.len()).unwrap_or(NONE);
                let transition = self.table.get_or_insert(tag, last, new);
                if transition == new {
                    self.transitions.push(Transition { from: tag, to: last });
                }
                self.sequence.push(transition);
            }
            None => self.first = Some(tag),
        }
        self.last = Some(tag);
    }

    pub(super) fn clear(&mut self) {
        self.transitions.clear();
        self.table.clear();
        self.sequence.clear();
        self.first = None;
        self.last = None;
    }

    /// Returns the number of tags, but for the first one.
    pub(super) fn len(&self) -> usize {
        self.sequence.len()
    }

    /// Returns each transition once.
    pub(super) fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Returns positions in [`Self::transitions`], in the order of decoding.
    pub(super) fn decoding_order(&self) -> impl Iterator<Item = usize> {
        self.sequence.iter().rev().map(|&transition| transition as usize)
    }

    /// Returns the tag that decoding begins with.
    pub(super) fn decoded_first(&self) -> Option<u32> {
        self.last
    }

    /// Returns the tag that decoding ends with.
    pub(super) fn decoded_last(&self) -> Option<u32> {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back_in_the_order_of_decoding() {
        let mut sequence = TagSequence::default();
        for tags in [vec![3, 1, 1, 2, 1, 1, 2, 3, 3], vec![5]] {
            for &tag in &tags {
                sequence.push(tag);
            }
            let mut found: Vec<u32> = sequence.decoded_first().into_iter().collect();
            for transition in sequence.decoding_order() {
                let Transition { from, to } = sequence.transitions()[transition];
                assert_eq!(found.last(), Some(&from));
                found.push(to);
            }
            assert!(found.iter().eq(tags.iter().rev()));
            assert_eq!(sequence.decoded_last(), tags.first().copied());
            sequence.clear();
        }
    }
}
