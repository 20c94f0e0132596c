//! Zstandard sections.
//!
//! The parameters are those that the C++ library sets: level, window, no checksum. A section is compressed by one call, so
//! the frame tells its size, which lets decoders write it straight to its place.

use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name,
    zstd_sys::ZSTD_EndDirective,
};

use super::{Scratch, Size, next_room};
use crate::error::Damage;

/// Sections up to this size are decompressed by one call to their place, without a window buffer.
const DIRECT_SIZE: usize = 4 << 20;
/// So are sections that are at most this many times larger than their compressed bytes.
const DIRECT_RATIO: usize = 64;
/// The largest window that the others may ask for: 128 MiB.
const MAX_WINDOW_LOG: u32 = 27;

#[derive(Default)]
pub(super) struct Encoder {
    context: Option<CCtx<'static>>,
}

impl Encoder {
    pub(super) fn append(
        &mut self,
        section: &[u8],
        level: i32,
        window_log: Option<u32>,
        out: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let context = match &mut self.context {
            Some(context) => {
                context.reset(ResetDirective::SessionOnly).map_err(damage)?;
                context
            }
            empty => {
                let mut context = CCtx::create();
                context
                    .set_parameter(CParameter::CompressionLevel(level))
                    .map_err(damage)?;
                if let Some(window_log) = window_log {
                    context
                        .set_parameter(CParameter::WindowLog(window_log))
                        .map_err(damage)?;
                }
                empty.insert(context)
            }
        };
        out.reserve(zstd_safe::compress_bound(section.len()));
        let start = out.len();
        let mut output = OutBuffer::around_pos(out, start);
        let mut input = InBuffer::around(section);
        loop {
            let left = context
                .compress_stream2(&mut output, &mut input, ZSTD_EndDirective::ZSTD_e_end)
                .map_err(damage)?;
            if left == 0 {
                return Ok(());
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Decoder {
    context: Option<DCtx<'static>>,
}

impl Decoder {
    /// Begins a frame that [`Self::advance`] decompresses piece by piece. False when that takes a buffer that is too large to
    /// be taken on the word of the frame.
    pub(super) fn begin(&mut self, compressed: &[u8]) -> Result<bool, Damage> {
        match window_size(compressed) {
            Some(size) if size <= direct_size(compressed) as u64 => self.context().map(|_| true),
            _ => Ok(false),
        }
    }

    /// Decompresses on until `out` has `until` bytes, of the `size` that the frame must have in all. `read` is how much of
    /// `compressed` was used. At the end there must be nothing behind the frame.
    pub(super) fn advance(
        &mut self,
        compressed: &[u8],
        read: &mut usize,
        until: usize,
        size: usize,
        out: &mut Scratch,
    ) -> Result<(), Damage> {
        let Some(context) = &mut self.context else {
            return Err(cut_off());
        };
        let mut input = InBuffer {
            src: compressed,
            pos: *read,
        };
        loop {
            if until < size && out.len() >= until {
                *read = input.pos();
                return Ok(());
            }
            // One byte more than there may be, to see the end.
            let wanted = until.saturating_sub(out.len()) + usize::from(until >= size);
            let wanted = wanted.min(next_room(compressed.len(), out.len(), size));
            let mut output = OutBuffer::around(&mut out.room(wanted)[..wanted]);
            let left = context.decompress_stream(&mut output, &mut input).map_err(damage)?;
            let written = output.pos();
            out.advance(written);
            if out.len() > size {
                return Err(Size::Exactly(size).exceeded());
            }
            if left == 0 {
                *read = input.pos();
                return match (out.len() == size, input.pos() == compressed.len()) {
                    (true, true) => Ok(()),
                    (true, false) => Err(behind()),
                    (false, _) => Err(Damage::Mismatch {
                        what: "decompressed size",
                        expected: size as u64,
                        found: out.len() as u64,
                    }),
                };
            }
            if input.pos() == compressed.len() && written < wanted {
                return Err(cut_off());
            }
        }
    }

    fn context(&mut self) -> Result<&mut DCtx<'static>, Damage> {
        match &mut self.context {
            Some(context) => {
                context.reset(ResetDirective::SessionOnly).map_err(damage)?;
                Ok(context)
            }
            empty => {
                let mut context = DCtx::create();
                context
                    .set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))
                    .map_err(damage)?;
                Ok(empty.insert(context))
            }
        }
    }

    pub(super) fn decompress(&mut self, compressed: &[u8], size: Size, out: &mut Scratch) -> Result<(), Damage> {
        let context = self.context()?;
        if let Size::Exactly(expected) = size
            && expected <= direct_size(compressed)
        {
            // One frame and nothing else: the call below would take several, or none.
            if zstd_safe::find_frame_compressed_size(compressed).map_err(damage)? != compressed.len() {
                return Err(behind());
            }
            let written = context
                .decompress(&mut out.room(expected)[..expected], compressed)
                .map_err(damage)?;
            out.advance(written);
            return Ok(());
        }
        let start = out.len();
        let mut input = InBuffer::around(compressed);
        loop {
            let wanted = next_room(compressed.len(), out.len() - start, size.bound());
            let room = out.room(wanted);
            let room = &mut room[..wanted];
            let mut output = OutBuffer::around(room);
            let left = context.decompress_stream(&mut output, &mut input).map_err(damage)?;
            let written = output.pos();
            out.advance(written);
            if out.len() - start > size.bound() {
                return Err(size.exceeded());
            }
            if left == 0 {
                break;
            }
            if input.pos() == compressed.len() && written < wanted {
                return Err(cut_off());
            }
        }
        match input.pos() == compressed.len() {
            true => Ok(()),
            false => Err(behind()),
        }
    }
}

/// Returns the size up to which memory for a section is taken at once.
fn direct_size(compressed: &[u8]) -> usize {
    compressed.len().saturating_mul(DIRECT_RATIO).max(DIRECT_SIZE)
}

/// Returns the size of the buffer that a frame asks for (RFC 8878, sections 3.1.1.1.1 and 3.1.1.1.2). A frame without a window
/// asks for one of its content's size.
fn window_size(compressed: &[u8]) -> Option<u64> {
    let &[_, _, _, _, descriptor, window, ..] = compressed else {
        return None;
    };
    let single_segment = descriptor & 0x20 != 0;
    if single_segment {
        return zstd_safe::get_frame_content_size(compressed).ok().flatten();
    }
    let base = 1_u64 << (10 + (window >> 3));
    Some(base + base / 8 * u64::from(window & 7))
}

fn behind() -> Damage {
    Damage::Codec {
        codec: "zstd",
        reason: "bytes behind the frame".to_owned(),
    }
}

fn cut_off() -> Damage {
    Damage::Codec {
        codec: "zstd",
        reason: "the frame is cut off".to_owned(),
    }
}

fn damage(code: usize) -> Damage {
    Damage::Codec {
        codec: "zstd",
        reason: get_error_name(code).to_owned(),
    }
}
