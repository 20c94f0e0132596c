//! Base-128 variable-length integers, as in protobuf's wire format: seven bits a byte, least significant first.
//!
//! Readers take the bytes left and return the value with what follows it. Nothing here looks beyond its slice.

/// The longest encoding of a 64-bit value.
pub(crate) const MAX_VARINT64: usize = 10;

/// Splits a varint off the front of `bytes`. `None` when it is cut off or does not fit 64 bits.
#[inline]
pub(crate) fn read_varint64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        &[byte @ ..0x80, ref rest @ ..] => Some((u64::from(byte), rest)),
        // Lengths of records and texts are often this long.
        &[first, second @ ..0x80, ref rest @ ..] => {
            let value = u64::from(first & 0x7f) | u64::from(second) << 7;
            Some((value, rest))
        }
        [] => None,
        _ => read_long(bytes),
    }
}

/// Splits a varint of at most 32 bits off the front of `bytes`.
#[inline]
pub(crate) fn read_varint32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (value, rest) = read_varint64(bytes)?;
    if bytes.len() - rest.len() > 5 {
        return None;
    }
    Some((u32::try_from(value).ok()?, rest))
}

/// Appends `value` to `out`.
#[inline]
pub(crate) fn write_varint64(value: u64, out: &mut Vec<u8>) {
    if value < 0x80 {
        out.push(low_bits(value));
        return;
    }
    let (bytes, length) = varint64_bytes(value);
    out.extend_from_slice(&bytes[..length]);
}

/// Returns the bytes of `value`, and how many of them there are.
#[inline]
pub(crate) fn varint64_bytes(mut value: u64) -> ([u8; MAX_VARINT64], usize) {
    let mut bytes = [0_u8; MAX_VARINT64];
    let mut length = 0;
    while value >= 0x80 {
        bytes[length] = low_bits(value) | 0x80;
        value >>= 7;
        length += 1;
    }
    bytes[length] = low_bits(value);
    (bytes, length + 1)
}

/// Returns the number of bytes that `value` takes.
#[inline]
pub(crate) fn varint64_length(value: u64) -> usize {
    match value {
        0 => 1,
        // ilog2 is below 64, so the quotient is below 10.
        _ => value.ilog2() as usize / 7 + 1,
    }
}

#[inline]
fn low_bits(value: u64) -> u8 {
    (value & 0x7f) as u8
}

#[cold]
fn read_long(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(MAX_VARINT64) {
        let bits = u64::from(byte & 0x7f);
        if index == MAX_VARINT64 - 1 && bits > 1 {
            return None;
        }
        value |= bits << (7 * index);
        if byte < 0x80 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: u64, encoded: &[u8]) {
        let mut out = Vec::new();
        write_varint64(value, &mut out);
        assert_eq!(out, encoded, "{value}");
        assert_eq!(varint64_length(value), encoded.len(), "{value}");
        assert_eq!(read_varint64(&out), Some((value, &[][..])), "{value}");
        for cut in 0..out.len() {
            assert_eq!(read_varint64(&out[..cut]), None, "{value} cut to {cut} bytes");
        }
    }

    #[test]
    fn values_at_the_edges_of_their_lengths() {
        check(0, &[0]);
        check(127, &[0x7f]);
        check(128, &[0x80, 1]);
        check(16_383, &[0xff, 0x7f]);
        check(16_384, &[0x80, 0x80, 1]);
        check(u64::from(u32::MAX), &[0xff, 0xff, 0xff, 0xff, 0x0f]);
        check(u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }

    #[test]
    fn a_65th_bit_is_refused() {
        assert_eq!(
            read_varint64(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]),
            None
        );
        assert_eq!(read_varint64(&[0x80; 11]), None);
        assert_eq!(read_varint32(&[0xff, 0xff, 0xff, 0xff, 0x1f]), None);
    }
}
