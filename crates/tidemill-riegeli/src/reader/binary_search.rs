//! Bisection where a test may not know the answer, and where the next position is known only after a test.
//!
//! Source of the rules: google/riegeli, `riegeli/base/binary_search.h`: positions that the test cannot judge are stepped over
//! to the right; if all of them up to the upper bound are like that, the search continues left of where it began to step.

use std::cmp::Ordering;

use crate::Result;

/// What a test says about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    /// Whether the position is before (`Less`) or behind (`Greater`) the wanted one; `None` when that is not known.
    pub(super) ordering: Option<Ordering>,
    /// For `Less` and `None` the next position, else the position itself, or an earlier one that stands for it.
    pub(super) next: u64,
}

/// Where a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// `Equal`: an equal position was found. `Greater`: none, but positions behind, the first of them. `Less`: all are before.
    /// `None`: nothing is known of any.
    pub(super) ordering: Option<Ordering>,
    /// The position; for `Less` and `None` the end of the range.
    pub(super) pos: u64,
}

/// A range of positions to search.
pub(super) trait Positions {
    /// Returns a position from `low` on and below `high` near their middle; `None` when there is none.
    fn middle(&mut self, low: u64, high: u64) -> Result<Option<u64>>;

    /// Judges the position.
    fn test(&mut self, pos: u64) -> Result<Judgement>;
}

/// Searches the positions from `low` on and below `high`.
pub(super) fn binary_search(positions: &mut impl Positions, mut low: u64, mut high: u64) -> Result<Found> {
    let mut found = Found {
        ordering: None,
        pos: high,
    };
    while let Some(middle) = positions.middle(low, high)? {
        let mut pos = middle;
        let mut stepped = false;
        loop {
            let Judgement { ordering, next } = positions.test(pos)?;
            // Every test must get further, or the search would not end.
            let behind = next.max(pos + 1);
            match ordering {
                Some(Ordering::Equal) => {
                    return Ok(Found { ordering, pos: next });
                }
                Some(Ordering::Less) => {
                    found.ordering = found.ordering.or(ordering);
                    low = behind;
                    break;
                }
                Some(Ordering::Greater) => {
                    found = Found { ordering, pos: next };
                    high = if stepped { middle } else { next.min(pos) };
                    break;
                }
                None if behind >= high => {
                    high = middle;
                    break;
                }
                None => {
                    pos = behind;
                    stepped = true;
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every number is a position, judged by a table.
    struct Table<'a> {
        judged: &'a [Option<Ordering>],
        tests: Vec<u64>,
    }

    impl Positions for Table<'_> {
        fn middle(&mut self, low: u64, high: u64) -> Result<Option<u64>> {
            Ok((low < high).then(|| low + (high - low) / 2))
        }

        fn test(&mut self, pos: u64) -> Result<Judgement> {
            assert!(!self.tests.contains(&pos), "{pos} is judged again");
            self.tests.push(pos);
            let ordering = self.judged[usize::try_from(pos).expect("small")];
            let next = match ordering {
                Some(Ordering::Equal | Ordering::Greater) => pos,
                _ => pos + 1,
            };
            Ok(Judgement { ordering, next })
        }
    }

    fn search(judged: &[Option<Ordering>]) -> (Found, usize) {
        let mut table = Table {
            judged,
            tests: Vec::new(),
        };
        let found = binary_search(&mut table, 0, judged.len() as u64).expect("no errors");
        (found, table.tests.len())
    }

    proptest! {
        #[test]
        fn the_answer_is_that_of_looking_at_all_positions(
            less in 0_usize..40,
            equal in 0_usize..3,
            greater in 0_usize..40,
            unknown in prop::collection::vec(0_usize..80, 0..60),
        ) {
            let mut judged = vec![Some(Ordering::Less); less];
            judged.resize(less + equal, Some(Ordering::Equal));
            judged.resize(less + equal + greater, Some(Ordering::Greater));
            for at in unknown {
                if let Some(place) = judged.get_mut(at) {
                    *place = None;
                }
            }
            let (found, _) = search(&judged);
            let first = |wanted| judged.iter().position(|&ordering| ordering == Some(wanted));
            match (first(Ordering::Equal), first(Ordering::Greater), first(Ordering::Less)) {
                (Some(_), _, _) => {
                    prop_assert_eq!(found.ordering, Some(Ordering::Equal));
                    prop_assert_eq!(judged[found.pos as usize], Some(Ordering::Equal));
                }
                (None, Some(at), _) => {
                    prop_assert_eq!(found, Found { ordering: Some(Ordering::Greater), pos: at as u64 });
                }
                (None, None, less) => {
                    let ordering = less.map(|_| Ordering::Less);
                    prop_assert_eq!(found, Found { ordering, pos: judged.len() as u64 });
                }
            }
        }
    }

    #[test]
    fn a_million_positions_take_twenty_tests() {
        let mut judged = vec![Some(Ordering::Less); 700_000];
        judged.resize(1_000_000, Some(Ordering::Greater));
        let (found, tests) = search(&judged);
        assert_eq!(found.pos, 700_000);
        assert!(tests <= 20, "{tests}");
    }
}
