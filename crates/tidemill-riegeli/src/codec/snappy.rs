//! Snappy sections: the raw format, which begins with the decompressed size once more.

mod dense_encoder;

use self::dense_encoder::DenseEncoder;
use super::{Scratch, Size};
use crate::error::Damage;

/// A copy of 3 bytes makes at most 64 bytes: what declares more cannot be true.
const MAX_RATIO: usize = 64;

pub(super) struct Encoder {
    encoder: snap::raw::Encoder,
    dense: DenseEncoder,
    compressed: Scratch,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            encoder: snap::raw::Encoder::new(),
            dense: DenseEncoder::default(),
            compressed: Scratch::default(),
        }
    }
}

impl Encoder {
    /// Appends the section, compressed at level 1.
    pub(super) fn append(&mut self, section: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        // The encoder wants room for the worst case, which is not worth clearing for every section.
        self.compressed.clear();
        let room = self.compressed.room(snap::raw::max_compress_len(section.len()));
        let length = self.encoder.compress(section, room).map_err(damage)?;
        out.extend_from_slice(&room[..length]);
        Ok(())
    }

    /// Appends the section, compressed at level 2.
    pub(super) fn append_dense(&mut self, section: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        if u32::try_from(section.len()).is_err() {
            return Err(Damage::Codec {
                codec: "snappy",
                reason: "a section of 4 GiB or more".to_owned(),
            });
        }
        self.dense.compress(section, &mut self.compressed);
        out.extend_from_slice(self.compressed.as_slice());
        Ok(())
    }
}

pub(super) struct Decoder {
    decoder: snap::raw::Decoder,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            decoder: snap::raw::Decoder::new(),
        }
    }
}

impl Decoder {
    pub(super) fn decompress(&mut self, compressed: &[u8], size: Size, out: &mut Scratch) -> Result<(), Damage> {
        let length = snap::raw::decompress_len(compressed).map_err(damage)?;
        if length > size.bound() {
            return Err(size.exceeded());
        }
        if length > compressed.len().saturating_mul(MAX_RATIO) {
            return Err(Damage::Codec {
                codec: "snappy",
                reason: "the size cannot be reached".to_owned(),
            });
        }
        let room = out.room(length);
        let written = self
            .decoder
            .decompress(compressed, &mut room[..length])
            .map_err(damage)?;
        out.advance(written);
        Ok(())
    }
}

fn damage(error: snap::Error) -> Damage {
    Damage::Codec {
        codec: "snappy",
        reason: error.to_string(),
    }
}
