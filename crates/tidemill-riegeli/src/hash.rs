//! HighwayHash-64 under the key of the format: header hashes and data hashes.
//!
//! Source: google/riegeli, `doc/riegeli_records_file_format.md`, "Conventions" (the key spells `Riegeli/records\n` twice).

use highway::{HighwayHash, HighwayHasher, Key};

const KEY: Key = Key([
    0x2f69_6c65_6765_6952,
    0x0a73_6472_6f63_6572,
    0x2f69_6c65_6765_6952,
    0x0a73_6472_6f63_6572,
]);

/// Returns the hash of `bytes`.
pub fn hash(bytes: &[u8]) -> u64 {
    HighwayHasher::new(KEY).hash64(bytes)
}

/// Returns the hash of the concatenation of `parts`, without joining them.
pub(crate) fn hash_parts(parts: &[&[u8]]) -> u64 {
    let mut hasher = HighwayHasher::new(KEY);
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
    fn parts_hash_like_their_concatenation() {
        let bytes: Vec<u8> = (0..=255).collect();
        for cut in [0, 1, 31, 32, 33, 200, 256] {
            assert_eq!(
                hash_parts(&[&bytes[..cut], &bytes[cut..]]),
                hash(&bytes),
                "cut at {cut}"
            );
        }
    }
}
