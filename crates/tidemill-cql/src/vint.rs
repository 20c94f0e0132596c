//! Numbers of variable length: as many ones in front as bytes follow the first, then the number, the highest byte first
//! (CQL binary protocol v5, section 3, `[unsigned vint]` and `[vint]`).

/// Takes an unsigned number from the front of `bytes`; `None` when they end before it does.
pub(crate) fn take_unsigned(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    let behind = first.leading_ones() as usize;
    let (more, rest) = rest.split_at_checked(behind)?;
    // Eight ones leave no bit of the first byte.
    let highest = u64::from(first) & 0xff_u64.checked_shr(behind as u32 + 1).unwrap_or(0);
    *bytes = rest;
    Some(more.iter().fold(highest, |number, byte| number << 8 | u64::from(*byte)))
}

/// Takes a signed number, which is stored with its sign in the lowest bit.
pub(crate) fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let folded = take_unsigned(bytes)?;
    Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
}

/// Puts an unsigned number behind `out`.
pub fn put_unsigned(out: &mut Vec<u8>, number: u64) {
    let bits = (u64::BITS - number.leading_zeros()).max(1);
    let behind = if bits > 56 { 8 } else { bits.div_ceil(7) as usize - 1 };
    let ones = (0xff00_u16 >> behind) as u8;
    let first = number.checked_shr(8 * behind as u32).unwrap_or(0) as u8;
    out.push(ones | first);
    out.extend_from_slice(&number.to_be_bytes()[8 - behind..]);
}

/// Puts a signed number behind `out`.
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_unsigned(out, ((number << 1) ^ (number >> 63)) as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_bytes_of_the_protocol() {
        for (number, bytes) in [
            (0, &[0x00][..]),
            (1, &[0x01]),
            (127, &[0x7f]),
            (128, &[0x80, 0x80]),
            (256_000, &[0xc3, 0xe8, 0x00]),
            (u64::MAX, &[0xff; 9]),
        ] {
            let mut out = Vec::new();
            put_unsigned(&mut out, number);
            assert_eq!(out, bytes, "{number}");
            let mut rest = bytes;
            assert_eq!(take_unsigned(&mut rest), Some(number));
            assert!(rest.is_empty());
            for end in 0..bytes.len() {
                assert_eq!(take_unsigned(&mut &bytes[..end]), None, "{number} cut at {end}");
            }
        }
    }

    #[test]
    fn signs_come_back() {
        for number in [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN, 86_400_000_000_000] {
            let mut out = Vec::new();
            put_signed(&mut out, number);
            assert_eq!(take_signed(&mut out.as_slice()), Some(number));
        }
    }
}
