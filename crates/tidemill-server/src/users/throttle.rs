//! Who guesses passwords waits, and longer each time. Who gave the right one need not have it checked again.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong passwords by the address that they came from.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<HashMap<IpAddr, Tries>>);

#[derive(Clone, Copy, Debug)]
struct Tries {
    wrong: u32,
    last: Instant,
}

/// So many wrong passwords are answered at once.
const FREE: u32 = 3;
/// The first wait behind these; each later one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);
/// After this time without a wrong password an address begins anew.
const MEMORY: Duration = Duration::from_secs(600);
/// So many addresses are remembered.
const ADDRESSES: usize = 10_000;

impl Throttle {
    /// How long an address still has to wait before it may try; `None` when it may.
    pub(crate) fn wait(&self, address: IpAddr) -> Option<Duration> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tries = known.get(&address)?;
        let over = tries.wrong.checked_sub(FREE)?;
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(over)).min(LONGEST);
        wait.checked_sub(tries.last.elapsed())
    }

    /// Somebody gave a wrong password.
    pub(crate) fn wrong(&self, address: IpAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= ADDRESSES {
            known.retain(|_, tries| tries.last.elapsed() < MEMORY);
        }
        if known.len() >= ADDRESSES {
            known.clear();
        }
        let now = Instant::now();
        let tries = known.entry(address).or_insert(Tries { wrong: 0, last: now });
        if tries.last.elapsed() > MEMORY {
            tries.wrong = 0;
        }
        *tries = Tries {
            wrong: tries.wrong.saturating_add(1),
            last: now,
        };
    }

    /// Somebody gave the right password.
    pub(crate) fn right(&self, address: IpAddr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    }
}

/// Names and passwords that were right, which take milliseconds to check. They are kept as keyed hashes.
#[derive(Debug, Default)]
pub(crate) struct Logins(Mutex<HashSet<[u8; 32]>>);

impl Logins {
    /// Whether a login was right before.
    pub(crate) fn has(&self, login: &[u8; 32]) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(login)
    }

    /// A login is right. The users stay the same as long as the server runs.
    pub(crate) fn add(&self, login: [u8; 32]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(login);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end() {
        let (throttle, address) = (Throttle::default(), IpAddr::from([127, 0, 0, 1]));
        for _ in 0..FREE - 1 {
            throttle.wrong(address);
            assert_eq!(throttle.wait(address), None);
        }
        let mut longest = Duration::ZERO;
        for _ in 0..40 {
            throttle.wrong(address);
            let wait = throttle.wait(address).expect("it waits");
            assert!(
                wait + Duration::from_millis(100) >= longest && wait <= LONGEST,
                "{wait:?}"
            );
            longest = wait;
        }
        assert_eq!(throttle.wait(IpAddr::from([127, 0, 0, 2])), None);
        throttle.right(address);
        assert_eq!(throttle.wait(address), None);
    }
}
