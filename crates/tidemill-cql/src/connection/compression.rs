//! Bodies of frames made shorter by LZ4 or Snappy: section 5 of the protocol's version 4.

use scylla_cql::frame::{Compression, compress_append, flag};

use super::HEADER;
use super::answers::LONGEST;

/// Compresses the body of the frame that begins at `start` and is the last of the buffer. Where that cannot be done it stays as it is, which
/// the protocol allows for each frame.
pub(super) fn compress(buffer: &mut Vec<u8>, start: usize, compression: Compression, compressed: &mut Vec<u8>) {
    compressed.clear();
    let body = buffer.get(start + HEADER..).unwrap_or_default();
    if compress_append(body, compression, compressed).is_err() {
        return;
    }
    let Ok(length) = u32::try_from(compressed.len()) else {
        return;
    };
    buffer.truncate(start + HEADER);
    buffer.extend_from_slice(compressed);
    if let Some([_, flags, .., a, b, c, d]) = buffer.get_mut(start..start + HEADER) {
        *flags |= flag::COMPRESSION;
        [*a, *b, *c, *d] = length.to_be_bytes();
    }
}

/// Checks the length that a compressed body is said to have, for which the driver takes memory.
///
/// # Errors
/// What is wrong: there is no length, or one that no body of this size, or of any, can have.
pub(crate) fn check(body: &[u8], compression: Compression) -> Result<(), String> {
    let (length, growth) = match compression {
        Compression::Lz4 => {
            let length = body.first_chunk().map(|length| u32::from_be_bytes(*length) as usize);
            (length, LZ4_MOST)
        }
        Compression::Snappy => (snap::raw::decompress_len(body).ok(), SNAPPY_MOST),
    };
    let most = body.len().saturating_mul(growth).min(LONGEST);
    match length {
        Some(length) if length <= most => Ok(()),
        Some(length) => Err(format!(
            "{} bytes that are said to be {length}, more than the {most} that they can be",
            body.len()
        )),
        None => Err(format!("{} bytes without their length", body.len())),
    }
}

/// A further byte of a match's length stands for 255 bytes at most.
const LZ4_MOST: usize = 255;
/// A copy of three bytes stands for 64 at most.
const SNAPPY_MOST: usize = 22;

#[cfg(test)]
mod tests {
    use super::*;
    use scylla_cql::frame::decompress;

    #[test]
    fn what_is_compressed_is_read_and_no_length_is_believed() {
        for compression in [Compression::Lz4, Compression::Snappy] {
            for body in [&[][..], b"abc", &[7; 100_000]] {
                let frame = [b"before", &[4, 0, 0, 1, 10, 0, 0, 0, 0][..], body].concat();
                let mut buffer = frame.clone();
                compress(&mut buffer, 6, compression, &mut Vec::new());
                let (head, compressed) = buffer.split_at(6 + HEADER);
                assert_eq!(head[..11], [b"before", &[4, 1, 0, 1, 10][..]].concat());
                assert_eq!(head[11..], u32::try_from(compressed.len()).unwrap().to_be_bytes());
                check(compressed, compression).unwrap();
                assert_eq!(decompress(compressed, compression).unwrap(), body);
            }
        }
        let huge = check(&[0x7f, 0xff, 0xff, 0xff, 0], Compression::Lz4).unwrap_err();
        assert_eq!(
            huge,
            "5 bytes that are said to be 2147483647, more than the 1275 that they can be"
        );
        let huge = check(&[0xff, 0xff, 0xff, 0xff, 0x07, 0], Compression::Snappy).unwrap_err();
        assert!(huge.contains("2147483647, more than the 132"), "{huge}");
        let mut long = vec![0; 2 << 20];
        long[0] = 0x11;
        let huge = check(&long, Compression::Lz4).unwrap_err();
        assert!(huge.contains("285212672, more than the 268435456"), "{huge}");
        assert_eq!(
            check(&[0; 3], Compression::Lz4).unwrap_err(),
            "3 bytes without their length"
        );
    }
}
