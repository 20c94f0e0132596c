//! Limits guesses of passwords by growing waits, and remembers right logins, so that they are not checked again.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong passwords by the network addresses of clients.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<HashMap<IpAddr, Tries>>);

#[derive(Clone, Copy, Debug)]
struct Tries {
    wrong: u32,
    last: Instant,
}

/// The wrong passwords allowed without a wait.
const FREE: u32 = 3;
/// The first wait after these; it doubles each time.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);
/// The count of an address is reset after this time without a wrong password.
const MEMORY: Duration = Duration::from_secs(600);
/// The most clients that are stored.
const CLIENTS: usize = 10_000;

/// The address that stands for a client. A client of IPv6 has a whole network of 64 bits
/// ([RFC 4291, section 2.5.4](https://www.rfc-editor.org/rfc/rfc4291#section-2.5.4)), so that only the network counts.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            std::net::Ipv6Addr::from(network).into()
        }
    }
}

impl Throttle {
    /// How long an address must still wait before the next attempt; `None` if it need not.
    pub(crate) fn wait(&self, address: IpAddr) -> Option<Duration> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tries = known.get(&client(address))?;
        let over = tries.wrong.checked_sub(FREE)?;
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(over)).min(LONGEST);
        wait.checked_sub(tries.last.elapsed())
    }

    /// Records a wrong password.
    pub(crate) fn wrong(&self, address: IpAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CLIENTS {
            forget_half(&mut known);
        }
        let now = Instant::now();
        let tries = known.entry(client(address)).or_insert(Tries { wrong: 0, last: now });
        if tries.last.elapsed() > MEMORY {
            tries.wrong = 0;
        }
        *tries = Tries {
            wrong: tries.wrong.saturating_add(1),
            last: now,
        };
    }

    /// Records a right password.
    pub(crate) fn right(&self, address: IpAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&client(address));
    }
}

/// Forgets the half of the clients that have guessed least, and of these those that did it long ago.
fn forget_half(known: &mut HashMap<IpAddr, Tries>) {
    // One time for all: an order that changes while it sorts is none.
    let now = Instant::now();
    let rank = |tries: &Tries| (now.duration_since(tries.last) <= MEMORY, tries.wrong, tries.last);
    let mut clients: Vec<_> = known.iter().map(|(client, tries)| (rank(tries), *client)).collect();
    clients.sort_unstable();
    for (_, client) in clients.iter().take(clients.len() / 2) {
        known.remove(client);
    }
}

/// Right logins, as keyed hashes: a check of a password takes milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Logins(Mutex<HashSet<[u8; 32]>>);

impl Logins {
    /// Whether a login was right before.
    pub(crate) fn has(&self, login: &[u8; 32]) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(login)
    }

    /// Adds a right login. Users do not change while the server runs.
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

    #[test]
    fn a_client_does_not_escape_by_other_addresses() {
        let throttle = Throttle::default();
        let of = |text: &str| text.parse::<IpAddr>().expect(text);
        for host in 1..20 {
            throttle.wrong(of(&format!("2001:db8::{host}")));
        }
        assert!(throttle.wait(of("2001:db8::ffff:1")).is_some());
        assert_eq!(throttle.wait(of("2001:db8:0:1::1")), None);
        // Nor does it by many wrong passwords from elsewhere.
        for network in 0..3 * CLIENTS {
            throttle.wrong(of(&format!(
                "2001:db8:{:x}:{:x}::1",
                1 + network / 0x1_0000,
                network % 0x1_0000
            )));
        }
        assert!(throttle.wait(of("2001:db8::1")).is_some());
        assert!(throttle.0.lock().expect("no panic").len() <= CLIENTS);
        for _ in 0..=FREE {
            throttle.wrong(of("::ffff:192.0.2.1"));
        }
        assert!(throttle.wait(of("192.0.2.1")).is_some());
    }
}
