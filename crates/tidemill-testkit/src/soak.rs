//! Tests that go on for as long as one likes, each time with other numbers.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// For how long such a test goes on: as many seconds as `TIDEMILL_SOAK_SECONDS` says, which `cargo xtask soak` sets, else `otherwise`.
#[must_use]
pub fn soak_time(otherwise: Duration) -> Duration {
    let seconds = env::var("TIDEMILL_SOAK_SECONDS").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    seconds.map_or(otherwise, Duration::from_secs)
}

/// Numbers by chance, from a seed that can be given again.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Numbers of the seed in `TIDEMILL_SOAK_SEED`, or of one that differs each time. The seed is printed, with the name of the test.
    #[must_use]
    pub fn new(test: &str) -> Self {
        let given = env::var("TIDEMILL_SOAK_SEED").ok().and_then(|seed| seed.parse().ok());
        // Of zero there are zeros only.
        let seed = given
            .filter(|seed| *seed != 0)
            .unwrap_or_else(|| RandomState::new().build_hasher().finish() | 1);
        println!("{test}: TIDEMILL_SOAK_SEED={seed}");
        Self(seed)
    }

    /// Numbers of a seed.
    #[must_use]
    pub fn of(seed: usize) -> Self {
        Self(seed as u64 | 1)
    }

    /// A number below `end`, which is at least 1 (xorshift64, Marsaglia 2003).
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.0 % end).unwrap_or_default()
    }

    /// Bytes that are cut somewhere, or of which some are others, or both, or neither.
    #[must_use]
    pub fn damaged(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        let how = self.below(4);
        if how & 1 != 0 {
            bytes.truncate(self.below(bytes.len() + 1));
        }
        if how & 2 != 0 && !bytes.is_empty() {
            for _ in 0..=self.below(4) {
                // Heads decide more than what is behind them.
                let end = if self.below(2) == 0 {
                    bytes.len().min(64)
                } else {
                    bytes.len()
                };
                let at = self.below(end);
                bytes[at] = u8::try_from(self.below(256)).unwrap_or_default();
            }
        }
        bytes
    }
}
