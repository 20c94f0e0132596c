//! The most frequent values.

use std::collections::HashMap;

use arrow_array::ArrayRef;

use super::text_of;
use crate::Result;

/// How many are listed.
const GIVEN: usize = 5;

/// Of more distinct values, none are listed.
const COUNTED: usize = 16_384;

/// Values by their hashes.
pub(super) struct Frequent(Option<HashMap<u64, Counted>>);

struct Counted {
    text: String,
    number: u64,
}

impl Default for Frequent {
    fn default() -> Self {
        Self(Some(HashMap::new()))
    }
}

impl Frequent {
    pub(super) fn add(&mut self, values: &ArrayRef, hashes: &[u64]) -> Result<()> {
        let Some(counted) = &mut self.0 else { return Ok(()) };
        for (row, hash) in hashes.iter().enumerate() {
            if let Some(known) = counted.get_mut(hash) {
                known.number += 1;
                continue;
            }
            if counted.len() == COUNTED {
                self.0 = None;
                return Ok(());
            }
            let text = text_of(values, row)?;
            counted.insert(*hash, Counted { text, number: 1 });
        }
        Ok(())
    }

    /// Those that occur more than once, the most frequent first.
    pub(super) fn finish(self) -> Vec<(String, u64)> {
        let counted = self.0.unwrap_or_default().into_values();
        let mut frequent: Vec<_> = counted
            .filter(|counted| counted.number > 1)
            .map(|counted| (counted.text, counted.number))
            .collect();
        frequent.sort_by(|(a, a_number), (b, b_number)| b_number.cmp(a_number).then_with(|| a.cmp(b)));
        frequent.truncate(GIVEN);
        frequent
    }
}
