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
/// The first bytes of a frame.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The type of a block that is one byte again and again (RFC 8878, section 3.1.1.2.2).
const REPEATED_BYTE: u32 = 1;

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
    /// Of the frame that was begun.
    header: FrameHeader,
}

/// What the beginning of a frame tells (RFC 8878, section 3.1.1.1).
#[derive(Clone, Copy, Default)]
struct FrameHeader {
    /// Its length; 0 once it was read.
    length: usize,
    checksum: bool,
}

impl Decoder {
    /// Begins a frame of `size` bytes that [`Self::advance`] decompresses piece by piece. False when that is more than is taken at
    /// once.
    pub(super) fn begin(&mut self, compressed: &[u8], size: usize) -> Result<bool, Damage> {
        let Some(header) = FrameHeader::read(compressed).filter(|_| size <= direct_size(compressed)) else {
            return Ok(false);
        };
        self.header = header;
        let context = self.context()?;
        context
            .set_parameter(DParameter::StableOutBuffer(true))
            .map_err(damage)?;
        Ok(true)
    }

    /// Decompresses on until `out` has `until` bytes, of the `size` that the frame must have in all, and returns whether that was
    /// its end. `read` is how much of `compressed` was used. There must be nothing after the frame.
    ///
    /// Blocks are written to their place, and later ones refer to them there. It would continue as far as it has input, so it
    /// gets a block at a time.
    pub(super) fn advance(
        &mut self,
        compressed: &[u8],
        read: &mut usize,
        until: usize,
        size: usize,
        out: &mut Scratch,
    ) -> Result<bool, Damage> {
        let Some(context) = &mut self.context else {
            return Err(cut_off());
        };
        while until >= size || out.len() < until {
            let end = match until < size {
                true => self.header.end_of_block(compressed, *read).unwrap_or(compressed.len()),
                false => compressed.len(),
            };
            self.header.length = 0;
            let mut input = InBuffer {
                src: compressed.get(..end).unwrap_or_default(),
                pos: *read,
            };
            let filled = out.len();
            let mut output = OutBuffer::around_pos(out.whole(size), filled);
            let left = context.decompress_stream(&mut output, &mut input).map_err(damage)?;
            let written = output.pos() - filled;
            *read = input.pos();
            out.advance(written);
            if left == 0 {
                return match (out.len() == size, *read == compressed.len()) {
                    (true, true) => Ok(true),
                    (true, false) => Err(behind()),
                    (false, _) => Err(Damage::Mismatch {
                        what: "decompressed size",
                        expected: size as u64,
                        found: out.len() as u64,
                    }),
                };
            }
            if *read == compressed.len() || *read < end {
                return Err(cut_off());
            }
        }
        Ok(false)
    }

    fn context(&mut self) -> Result<&mut DCtx<'static>, Damage> {
        match &mut self.context {
            Some(context) => {
                context.reset(ResetDirective::SessionOnly).map_err(damage)?;
                context
                    .set_parameter(DParameter::StableOutBuffer(false))
                    .map_err(damage)?;
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

impl FrameHeader {
    /// Reads the header of a frame; `None` when it is not one.
    fn read(compressed: &[u8]) -> Option<Self> {
        let &descriptor = compressed.strip_prefix(&MAGIC)?.first()?;
        let single_segment = descriptor & 0x20 != 0;
        let window = usize::from(!single_segment);
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_size = match descriptor >> 6 {
            0 => usize::from(single_segment),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        Some(Self {
            length: MAGIC.len() + 1 + window + dictionary + content_size,
            checksum: descriptor & 4 != 0,
        })
    }

    /// Returns where the next block ends of a frame of which so much was `read`, the frame's checksum counted with the last one.
    /// `None` when that cannot be told, because the frame is damaged.
    fn end_of_block(self, compressed: &[u8], read: usize) -> Option<usize> {
        let begin = read.checked_add(self.length)?;
        let &[a, b, c] = compressed.get(begin..)?.first_chunk()?;
        let header = u32::from_le_bytes([a, b, c, 0]);
        let (is_last, block_type, size) = (header & 1 != 0, header >> 1 & 3, header >> 3);
        let size = match block_type {
            REPEATED_BYTE => 1,
            _ => usize::try_from(size).ok()?,
        };
        let checksum = if is_last && self.checksum { 4 } else { 0 };
        Some(begin + 3 + size + checksum).filter(|&end| end <= compressed.len())
    }
}

fn behind() -> Damage {
    Damage::Codec {
        codec: "zstd",
        reason: "bytes after the frame".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(content: &[u8], checksum: bool, content_size: bool) -> Vec<u8> {
        let mut context = CCtx::create();
        context
            .set_parameter(CParameter::ChecksumFlag(checksum))
            .expect("a flag");
        context
            .set_parameter(CParameter::ContentSizeFlag(content_size))
            .expect("a flag");
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        context.compress2(&mut frame, content).expect("room");
        frame
    }

    /// Text, bytes that cannot be compressed, and one byte again and again: blocks of every type.
    fn content() -> Vec<u8> {
        let text = b"customer,amount,".iter().copied().cycle().take(300_000);
        let noise = (0..200_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8);
        let noise = noise.scan(1_u8, |state, byte| {
            *state = state.wrapping_mul(137).wrapping_add(byte);
            Some(*state)
        });
        text.chain(noise).chain(std::iter::repeat_n(7, 400_000)).collect()
    }

    #[test]
    fn frames_are_decompressed_part_by_part() {
        for content in [content(), b"short".to_vec(), Vec::new()] {
            for (checksum, content_size) in [(false, true), (true, true), (true, false)] {
                let frame = frame(&content, checksum, content_size);
                let mut decoder = Decoder::default();
                let size = content.len();
                for steps in [&[size][..], &[0, size], &[1, 310_000, 310_001, 700_000, size]] {
                    let mut out = Scratch::default();
                    let mut read = 0;
                    assert!(decoder.begin(&frame, size).expect("a frame"));
                    let mut all = false;
                    for &until in steps.iter().filter(|&&until| until <= size) {
                        if !all {
                            let advanced = decoder.advance(&frame, &mut read, until, size, &mut out);
                            all = advanced.expect("sound");
                        }
                        assert!(out.len() >= until && out.len() <= until + (128 << 10));
                        assert!(out.as_slice() == &content[..out.len()]);
                    }
                    assert!(all);
                }
            }
        }
    }

    #[test]
    fn damage_is_found_part_by_part() {
        let content = content();
        let size = content.len();
        let frame = frame(&content, true, true);
        let mut decoder = Decoder::default();
        let mut check = |frame: &[u8], size: usize, why: &str| {
            let mut out = Scratch::default();
            let mut read = 0;
            let begun = decoder.begin(frame, size).expect("room");
            let mut step = |until| decoder.advance(frame, &mut read, until, size, &mut out);
            let outcome = match begun {
                true => step(1).and_then(|_| step(400_000)).and_then(|_| step(size)),
                false => return,
            };
            assert!(outcome.is_err(), "{why}");
        };
        for cut in (0..frame.len()).step_by(frame.len() / 61).chain([frame.len() - 1]) {
            check(&frame[..cut], size, "cut");
            let mut flipped = frame.clone();
            flipped[cut] ^= 4;
            check(&flipped, size, "flipped");
        }
        check(&[&frame[..], &[0]].concat(), size, "a byte behind");
        check(&frame, size - 1, "one byte less");
        check(&frame, size + 1, "one byte more");
    }
}
