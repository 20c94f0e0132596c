//! Brotli sections, through the C library: the speed of its encoder is what writers of the default codec wait for.
//!
//! The parameters are those that the C++ library sets: quality, window, size hint, and large windows where one is asked for.

#![expect(
    unsafe_code,
    reason = "the C brotli library has no safe binding that keeps its speed"
)]

mod memory;

use std::{marker::PhantomData, ptr};

use compu_brotli_sys as sys;

pub(super) use self::memory::Memory;
use super::{Scratch, Size, next_room};
use crate::error::Damage;

/// So much waits for the encoder at most, so that it is not called for every short record.
const PIECE: usize = 4 << 10;

/// What the encoder is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    quality: u32,
    window_log: u32,
    /// What the section is expected to grow to.
    size_hint: Option<u64>,
}

impl Parameters {
    pub(super) fn new(quality: u32, window_log: Option<u32>, size_hint: Option<u64>) -> Self {
        Self {
            quality,
            window_log: window_log.unwrap_or(22),
            size_hint,
        }
    }

    /// Returns whether pieces give the same bytes as the whole section. The fastest qualities make a block of each piece, and
    /// without a hint the size of the first piece is taken for one.
    pub(super) fn take_pieces(self) -> bool {
        self.quality > 1 && self.size_hint.is_some_and(|hint| hint > 0)
    }
}

pub(super) fn decompress(compressed: &[u8], size: Size, memory: &mut Memory, out: &mut Scratch) -> Result<(), Damage> {
    let decoder = Decoder::new(memory)?;
    let start = out.len();
    let mut left = compressed;
    loop {
        let wanted = next_room(compressed.len(), out.len() - start, size.bound());
        let room = out.room(wanted);
        let (step, read, written) = decoder.step(left, &mut room[..wanted]);
        left = left.get(read..).unwrap_or_default();
        out.advance(written);
        if out.len() - start > size.bound() {
            return Err(size.exceeded());
        }
        match step {
            Step::Done if left.is_empty() => return Ok(()),
            Step::Done => return Err(damage("bytes after the stream")),
            Step::NeedsOutput => {}
            Step::NeedsInput => return Err(damage("the stream is cut off")),
            Step::Failed => return Err(damage("the stream is invalid")),
        }
    }
}

fn damage(reason: &str) -> Damage {
    Damage::Codec {
        codec: "brotli",
        reason: reason.to_owned(),
    }
}

/// Compresses sections one after another, with the same memory.
pub(super) struct Encoder {
    /// Of the section that was begun.
    state: Option<ptr::NonNull<sys::BrotliEncoderState>>,
    /// What the state lives in. It is owned, and reached by this pointer only, which the library has too.
    memory: ptr::NonNull<Memory>,
}

// SAFETY: nobody else has the pointers, and the library does not care which thread calls it.
unsafe impl Send for Encoder {}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            state: None,
            memory: ptr::NonNull::from(Box::leak(Box::default())),
        }
    }
}

impl Encoder {
    /// Compresses what waits and `piece`, unless that is little. One byte waits at least: the encoder has to know the last ones
    /// from the others.
    pub(super) fn push(
        &mut self,
        piece: &[u8],
        waiting: &mut Vec<u8>,
        parameters: Parameters,
        out: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let mut later = piece;
        if waiting.len() + piece.len() > PIECE {
            let process = sys::BrotliEncoderOperation_BROTLI_OPERATION_PROCESS;
            self.run(process, waiting, parameters, out)?;
            waiting.clear();
            if piece.len() > PIECE {
                let (now, last) = piece.split_at(piece.len() - 1);
                self.run(process, now, parameters, out)?;
                later = last;
            }
        }
        waiting.extend_from_slice(later);
        Ok(())
    }

    /// Compresses the rest of a section, or all of it.
    pub(super) fn finish(&mut self, rest: &[u8], parameters: Parameters, out: &mut Vec<u8>) -> Result<(), Damage> {
        let finish = sys::BrotliEncoderOperation_BROTLI_OPERATION_FINISH;
        let finished = self.run(finish, rest, parameters, out);
        self.abandon();
        finished
    }

    /// Forgets the section that was begun.
    pub(super) fn abandon(&mut self) {
        if let Some(state) = self.state.take() {
            // SAFETY: the library made the state, and it was taken.
            unsafe { sys::BrotliEncoderDestroyInstance(state.as_ptr()) }
        }
    }

    fn run(
        &mut self,
        operation: sys::BrotliEncoderOperation,
        piece: &[u8],
        parameters: Parameters,
        out: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let state = match self.state {
            Some(state) => state,
            None => self.begin(parameters)?,
        };
        let mut next_in = piece.as_ptr();
        let mut available_in = piece.len();
        loop {
            let mut available_out = 0;
            let mut next_out = ptr::null_mut();
            // SAFETY: `next_in` points to `available_in` readable bytes of `piece`, both updated by the call; there is no
            // output space, so nothing is written through `next_out` and the output stays in the encoder.
            let done = unsafe {
                sys::BrotliEncoderCompressStream(
                    state.as_ptr(),
                    operation,
                    &mut available_in,
                    &mut next_in,
                    &mut available_out,
                    &mut next_out,
                    ptr::null_mut(),
                )
            };
            if done == 0 {
                return Err(damage("the encoder failed"));
            }
            let mut size = 0;
            // SAFETY: size 0 asks for all output there is; the pointer is valid for `size` bytes until the next call on the
            // encoder, and it is copied before that.
            let output = unsafe {
                let output = sys::BrotliEncoderTakeOutput(state.as_ptr(), &mut size);
                if size == 0 {
                    &[][..]
                } else {
                    std::slice::from_raw_parts(output, size)
                }
            };
            if output.is_empty() && available_in == 0 {
                return Ok(());
            }
            out.extend_from_slice(output);
        }
    }

    fn begin(&mut self, parameters: Parameters) -> Result<ptr::NonNull<sys::BrotliEncoderState>, Damage> {
        // SAFETY: the functions are made for this memory, which outlives the state, see `drop`.
        let state = unsafe {
            sys::BrotliEncoderCreateInstance(
                Some(memory::allocate),
                Some(memory::release),
                self.memory.as_ptr().cast(),
            )
        };
        let state = *self
            .state
            .insert(ptr::NonNull::new(state).ok_or_else(|| damage("out of memory"))?);
        let size_hint = parameters
            .size_hint
            .map_or(0, |hint| u32::try_from(hint).unwrap_or(u32::MAX));
        for (parameter, value) in [
            (sys::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, parameters.quality),
            (
                sys::BrotliEncoderParameter_BROTLI_PARAM_LARGE_WINDOW,
                u32::from(parameters.window_log > 24),
            ),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_LGWIN, parameters.window_log),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_SIZE_HINT, size_hint),
        ] {
            // SAFETY: the state is alive; unknown parameters and values are refused by the call.
            if unsafe { sys::BrotliEncoderSetParameter(state.as_ptr(), parameter, value) } == 0 {
                return Err(damage("the encoder refuses an option"));
            }
        }
        Ok(state)
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        self.abandon();
        // SAFETY: the box that `default` leaked, and no state is left that uses it.
        drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
    }
}

/// Owns a decoder of the C library, which borrows the memory.
struct Decoder<'a>(ptr::NonNull<sys::BrotliDecoderState>, PhantomData<&'a mut Memory>);

enum Step {
    Done,
    NeedsInput,
    NeedsOutput,
    Failed,
}

impl<'a> Decoder<'a> {
    fn new(memory: &'a mut Memory) -> Result<Self, Damage> {
        // SAFETY: the functions are made for this memory, which is borrowed until `self` drops.
        let state =
            unsafe { sys::BrotliDecoderCreateInstance(Some(memory::allocate), Some(memory::release), memory.opaque()) };
        let decoder = ptr::NonNull::new(state)
            .map(|state| Self(state, PhantomData))
            .ok_or_else(|| damage("out of memory"))?;
        // SAFETY: the state is alive and unused, the only time when parameters may be set.
        unsafe {
            let large_window = sys::BrotliDecoderParameter_BROTLI_DECODER_PARAM_LARGE_WINDOW;
            sys::BrotliDecoderSetParameter(decoder.0.as_ptr(), large_window, 1);
        }
        Ok(decoder)
    }

    /// Returns what to do next, the number of bytes read and the number of bytes written.
    fn step(&self, input: &[u8], output: &mut [u8]) -> (Step, usize, usize) {
        let (mut available_in, mut available_out) = (input.len(), output.len());
        let (mut next_in, mut next_out) = (input.as_ptr(), output.as_mut_ptr());
        // SAFETY: the pointers are valid for the lengths next to them, for reading and for writing; the call reads and writes
        // no more than that and updates both.
        let result = unsafe {
            sys::BrotliDecoderDecompressStream(
                self.0.as_ptr(),
                &mut available_in,
                &mut next_in,
                &mut available_out,
                &mut next_out,
                ptr::null_mut(),
            )
        };
        let step = match result {
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS => Step::Done,
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT => Step::NeedsInput,
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT => Step::NeedsOutput,
            _ => Step::Failed,
        };
        (step, input.len() - available_in, output.len() - available_out)
    }
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `new`, dropped once.
        unsafe { sys::BrotliDecoderDestroyInstance(self.0.as_ptr()) }
    }
}
