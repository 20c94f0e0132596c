//! HighwayHash-64 under the key of the format: header hashes and data hashes.
//!
//! Source: google/riegeli, `doc/riegeli_records_file_format.md`, "Conventions" (the key spells `Riegeli/records\n` twice).

#[cfg(target_arch = "x86_64")]
mod avx2;

use highway::{HighwayHash, HighwayHasher, Key};

const KEY: [u64; 4] = [
    0x2f69_6c65_6765_6952,
    0x0a73_6472_6f63_6572,
    0x2f69_6c65_6765_6952,
    0x0a73_6472_6f63_6572,
];

/// Returns the hash of `bytes`.
pub fn hash(bytes: &[u8]) -> u64 {
    hash_parts(&[bytes])
}

/// Returns the hash of the concatenation of `parts`, without joining them.
pub(crate) fn hash_parts(parts: &[&[u8]]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(hash) = avx2::hash_parts(KEY, parts) {
        return hash;
    }
    hash_anywhere(parts)
}

/// As [`hash_parts`], on any processor.
fn hash_anywhere(parts: &[&[u8]]) -> u64 {
    let mut hasher = HighwayHasher::new(Key(KEY));
    for part in parts {
        hasher.append(part);
    }
    hasher.finalize64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_nothing_is_the_one_in_every_file_signature() {
        // The `data_hash` of the signature chunk, bytes 0x28..0x30 of every file.
        assert_eq!(hash(b""), 0x72c3_b1e9_c013_9fe1);
    }

    #[test]
    fn parts_hash_like_their_concatenation_on_any_processor() {
        let bytes: Vec<u8> = (0..300_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        for length in 0..=bytes.len() {
            let bytes = &bytes[..length];
            let expected = hash_anywhere(&[bytes]);
            assert_eq!(hash(bytes), expected, "{length} bytes");
            for cut in [0, 1, 31, 32, 33, 63, 200].into_iter().filter(|&cut| cut <= length) {
                let (first, second) = bytes.split_at(cut);
                let parts = [first, &second[..second.len() / 2], &second[second.len() / 2..]];
                assert_eq!(hash_parts(&parts), expected, "{length} bytes, cut at {cut}");
                assert_eq!(hash_anywhere(&parts), expected, "{length} bytes, cut at {cut}");
            }
        }
    }
}
