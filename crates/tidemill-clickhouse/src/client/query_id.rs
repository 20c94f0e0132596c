//! Names for queries that were given none.
//!
//! Each is a random UUID as to its looks, and no two are alike. The system is asked for randomness once for a client, not for
//! each query, which would be one of its three calls into the system: the others follow from the first by a large odd step,
//! which comes round after 2^128 names. They are no secret.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::{Builder, Uuid};

/// The names of one client's queries.
#[derive(Debug)]
pub(crate) struct QueryIds {
    first: u128,
    count: AtomicU64,
}

impl QueryIds {
    pub(crate) fn new() -> Self {
        Self {
            first: Uuid::new_v4().as_u128(),
            count: AtomicU64::new(0),
        }
    }

    pub(crate) fn next(&self) -> String {
        let count = u128::from(self.count.fetch_add(1, Ordering::Relaxed));
        let number = self.first.wrapping_add(count.wrapping_mul(STEP));
        Builder::from_random_bytes(number.to_be_bytes()).into_uuid().to_string()
    }
}

/// 2^128 divided by the golden ratio, to an odd number: the names that follow one another look unlike.
const STEP: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_uuids_and_all_different() {
        let (ids, others) = (QueryIds::new(), QueryIds::new());
        let names: HashSet<String> = (0..10_000).flat_map(|_| [ids.next(), others.next()]).collect();
        assert_eq!(names.len(), 20_000);
        for name in &names {
            let parsed: Uuid = name.parse().unwrap();
            assert_eq!((parsed.get_version_num(), parsed.to_string()), (4, name.clone()));
        }
    }
}
