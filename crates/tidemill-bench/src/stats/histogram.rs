//! Latencies in nanoseconds, as HDR histograms of three significant digits.
//!
//! Their text is what HdrHistogram's logs and Latte's reports hold: version 2 of its encoding, deflated, in base64.

use std::{
    fmt,
    io::{Cursor, Read},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer as HdrDeserializer, Serializer as _, V2DeflateSerializer, V2Serializer},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Significant decimal digits that a histogram keeps.
const DIGITS: u8 = 3;
const COARSE_DIGITS: u8 = 2;
/// The encoding has signed numbers.
const MOST_LATENCIES: u64 = i64::MAX as u64;
/// What a histogram of all of u64 and five digits could take at most, and far more than one of ours does.
const ENCODED_LIMIT: u64 = 1 << 23;
const V2_COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x13];
const V2_DEFLATED_COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
/// Cookie, length, offset, digits, lowest, highest, ratio.
const V2_HEADER: usize = 40;

/// A histogram of latencies in nanoseconds.
#[derive(Clone, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, min, max) = (self.count(), self.min(), self.max());
        write!(f, "Latencies({count} of {min} to {max} ns)")
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self(Histogram::new(DIGITS).expect("three digits are within what a histogram keeps"))
    }
}

impl Latencies {
    /// Adds one latency. Zero counts as one nanosecond, which is the least that a histogram tells apart.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        let recorded = self.0.record(nanoseconds.max(1));
        debug_assert!(recorded.is_ok(), "the histogram grows to all of u64");
    }

    /// Adds all latencies of another histogram, exactly. Where a damaged report would make more of them than the encoding can
    /// hold, 2^63, the histogram stays as it is.
    pub fn add(&mut self, other: &Self) {
        if self.count().saturating_add(other.count()) > MOST_LATENCIES {
            return;
        }
        self.0.add(&other.0).expect("a histogram that grows takes any other");
    }

    /// An empty histogram of two significant digits: an eighth of the memory, for what needs no more.
    pub(crate) fn coarse() -> Self {
        Self(Histogram::new(COARSE_DIGITS).expect("two digits are within what a histogram keeps"))
    }

    /// An empty histogram with the room of this one.
    pub(crate) fn emptied(&self) -> Self {
        let mut histogram = Histogram::new_from(&self.0);
        histogram.auto(true);
        Self(histogram)
    }

    /// How many latencies are in it.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The mean in nanoseconds; 0 when empty.
    pub fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The standard deviation in nanoseconds; 0 when empty.
    pub fn deviation(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            _ => self.0.stdev(),
        }
    }

    /// The shortest latency in nanoseconds; 0 when empty.
    pub fn min(&self) -> u64 {
        self.0.min()
    }

    /// The longest latency in nanoseconds; 0 when empty.
    pub fn max(&self) -> u64 {
        self.0.max()
    }

    /// The latency below or at which a share of all lies, in nanoseconds.
    pub fn quantile(&self, share: f64) -> u64 {
        match share {
            share if share <= 0.0 => self.min(),
            share => self.0.value_at_quantile(share.min(1.0)).min(self.max()),
        }
    }

    /// How many latencies are at most each of the given ones, which ascend.
    pub(crate) fn counts_up_to(&self, latencies: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; latencies.len()];
        let mut passed = 0_u64;
        let mut next = 0;
        for bucket in self.0.iter_recorded() {
            while next < latencies.len() && self.0.highest_equivalent(latencies[next]) < bucket.value_iterated_to() {
                counts[next] = passed;
                next += 1;
            }
            passed = passed.saturating_add(bucket.count_at_value());
        }
        counts[next..].fill(passed);
        counts
    }

    /// Version 2 of the encoding, not deflated: small enough to keep, quick to read again.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("memory takes what is written");
        bytes
    }

    /// Reads what [`Self::to_bytes`] gave.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        check_v2(bytes)?;
        let mut histogram: Histogram<u64> = HdrDeserializer::new()
            .deserialize(&mut Cursor::new(bytes))
            .map_err(|error| error.to_string())?;
        histogram.auto(true);
        Ok(Self(histogram))
    }

    /// Version 2 of the encoding, deflated, in base64.
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("memory takes what is written");
        STANDARD.encode(bytes)
    }

    /// Reads the text of a histogram.
    ///
    /// # Errors
    /// What is wrong with the text: it is not base64, not deflated, or not a histogram, or it claims more than it holds.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let bytes = STANDARD.decode(text).map_err(|error| format!("not base64: {error}"))?;
        if bytes.get(..4) != Some(&V2_DEFLATED_COOKIE) {
            return Err("no deflated histogram of version 2".into());
        }
        let deflated = bytes.get(8..).ok_or("a histogram without a length")?;
        let mut plain = Vec::new();
        ZlibDecoder::new(deflated)
            .take(ENCODED_LIMIT)
            .read_to_end(&mut plain)
            .map_err(|error| format!("not deflated: {error}"))?;
        Self::from_bytes(&plain)
    }
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_text(&text).map_err(|problem| de::Error::custom(format!("histogram: {problem}")))
    }
}

/// The library reads lengths and counts as they come; hostile ones are refused here.
fn check_v2(bytes: &[u8]) -> Result<(), String> {
    if bytes.get(..4) != Some(&V2_COOKIE) {
        return Err("no histogram of version 2".into());
    }
    let header = bytes.get(..V2_HEADER).ok_or("a histogram that ends in its header")?;
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let counts = &bytes[V2_HEADER..];
    if number(4) as usize != counts.len() {
        return Err(format!(
            "{} bytes of counts, where {} are claimed",
            counts.len(),
            number(4)
        ));
    }
    if number(12) > u32::from(DIGITS) {
        return Err(format!("{} significant digits, more than {DIGITS}", number(12)));
    }
    let mut total = 0_u64;
    let mut rest = counts;
    while !rest.is_empty() {
        let (encoded, length) = varint(rest).ok_or("a count that ends too early")?;
        rest = &rest[length..];
        // Zigzag: odd numbers are runs of zeros.
        if encoded & 1 == 1 {
            if encoded >> 1 > u64::from(u32::MAX) {
                return Err("a run of zeros longer than any histogram".into());
            }
        } else {
            total = total
                .checked_add(encoded >> 1)
                .filter(|total| *total <= MOST_LATENCIES)
                .ok_or("more latencies than can be counted")?;
        }
    }
    Ok(())
}

/// A number in sevens of bits, at most nine bytes, the ninth whole.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().take(9).enumerate() {
        if index == 8 {
            return Some((value | u64::from(byte) << 56, 9));
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Latencies {
        let mut latencies = Latencies::default();
        for value in 1..=10_000_u64 {
            latencies.record(value * 997);
        }
        latencies
    }

    #[test]
    fn text_and_bytes_round_trip() {
        let latencies = sample();
        assert_eq!(Latencies::from_text(&latencies.to_text()).unwrap(), latencies);
        assert_eq!(Latencies::from_bytes(&latencies.to_bytes()).unwrap(), latencies);
        let empty = Latencies::default();
        assert_eq!(Latencies::from_text(&empty.to_text()).unwrap(), empty);
    }

    #[test]
    fn merging_is_exact() {
        let (mut left, mut right, mut whole) = (Latencies::default(), Latencies::default(), Latencies::default());
        for value in 0..50_000_u64 {
            let latency = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 30;
            whole.record(latency);
            match value % 3 {
                0 => left.record(latency),
                _ => right.record(latency),
            }
        }
        left.add(&right);
        assert_eq!(left, whole);
        assert_eq!(left.count(), 50_000);
    }

    #[test]
    fn counts_beyond_two_to_the_31_stay_exact() {
        let mut latencies = Latencies::default();
        latencies.record(1_000);
        for _ in 0..33 {
            let copy = latencies.clone();
            latencies.add(&copy);
        }
        assert_eq!(latencies.count(), 1 << 33);
        let read = Latencies::from_text(&latencies.to_text()).unwrap();
        assert_eq!(read.count(), 1 << 33);
        assert_eq!(read.counts_up_to(&[999, 1_000]), [0, 1 << 33]);
    }

    #[test]
    fn counts_up_to_agree_with_counting() {
        let latencies = sample();
        let limits = [1, 997, 500_000, 5_000_000, u64::MAX];
        let naive = limits.map(|limit| latencies.0.count_between(0, limit));
        assert_eq!(latencies.counts_up_to(&limits), naive);
    }

    #[test]
    fn hostile_bytes_are_errors() {
        let bytes = sample().to_bytes();
        for end in 0..bytes.len() {
            assert!(Latencies::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        let check = |at: usize, value: &[u8], expected: &str| {
            let mut bytes = bytes.clone();
            bytes[at..at + value.len()].copy_from_slice(value);
            let problem = Latencies::from_bytes(&bytes).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        };
        check(0, &[0], "no histogram of version 2");
        check(4, &[0xff; 4], "are claimed");
        check(15, &[5], "significant digits");
        check(V2_HEADER, &[0xff; 9], "run of zeros");
        let count = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        check(V2_HEADER, &[count; 3].concat(), "more latencies than can be counted");
        assert!(Latencies::from_text("?").unwrap_err().contains("not base64"));
        assert!(Latencies::from_text("").unwrap_err().contains("no deflated"));
        let text = sample().to_text();
        assert!(Latencies::from_text(&text[..text.len() / 8 * 4]).is_err());
    }

    #[test]
    fn more_latencies_than_the_encoding_holds_are_left_out() {
        let mut latencies = Latencies::default();
        latencies.record(1_000);
        for _ in 0..70 {
            let copy = latencies.clone();
            latencies.add(&copy);
        }
        assert_eq!(latencies.count(), 1 << 62);
        assert_eq!(Latencies::from_bytes(&latencies.to_bytes()).unwrap(), latencies);
    }

    #[test]
    fn any_byte_may_be_wrong() {
        let mut small = Latencies::default();
        (1..200).for_each(|value| small.record(value * 31));
        let bytes = small.to_bytes();
        for at in 0..bytes.len() {
            for bit in [0, 3, 7] {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                // It may still be a histogram, but reading ends, and what was read can be asked.
                if let Ok(mut read) = Latencies::from_bytes(&bytes) {
                    read.add(&small);
                    let _ = (read.mean(), read.quantile(0.99), read.max());
                }
            }
        }
    }
}
