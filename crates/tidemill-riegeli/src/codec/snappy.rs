//! Snappy sections: the raw format, which begins with the decompressed size once more.

mod encoder;

use super::{Scratch, Size};
use crate::error::Damage;

/// A copy of 3 bytes makes at most 64 bytes: what declares more cannot be true.
const MAX_RATIO: usize = 64;

/// How hard the encoder looks for matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Fast.
    One,
    /// Smaller and slower.
    Two,
}

#[derive(Default)]
pub(super) struct Encoder {
    encoder: encoder::Encoder,
}

impl Encoder {
    /// Appends the compressed section.
    pub(super) fn append(&mut self, section: &[u8], level: Level, out: &mut Vec<u8>) -> Result<(), Damage> {
        if u32::try_from(section.len()).is_err() {
            return Err(Damage::Codec {
                codec: "snappy",
                reason: "a section of 4 GiB or more".to_owned(),
            });
        }
        self.encoder.compress(section, level, out);
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
