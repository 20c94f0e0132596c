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

pub(super) fn append(
    section: &[u8],
    quality: u32,
    window_log: u32,
    size_hint: Option<u64>,
    memory: &mut Memory,
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    let encoder = Encoder::new(memory)?;
    encoder.set(sys::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, quality)?;
    encoder.set(
        sys::BrotliEncoderParameter_BROTLI_PARAM_LARGE_WINDOW,
        u32::from(window_log > 24),
    )?;
    encoder.set(sys::BrotliEncoderParameter_BROTLI_PARAM_LGWIN, window_log)?;
    let size_hint = size_hint.map_or(0, |hint| u32::try_from(hint).unwrap_or(u32::MAX));
    encoder.set(sys::BrotliEncoderParameter_BROTLI_PARAM_SIZE_HINT, size_hint)?;
    encoder.finish(section, out)
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
            Step::Done => return Err(damage("bytes behind the stream")),
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

/// Owns an encoder of the C library, which borrows the memory.
struct Encoder<'a>(ptr::NonNull<sys::BrotliEncoderState>, PhantomData<&'a mut Memory>);

impl<'a> Encoder<'a> {
    fn new(memory: &'a mut Memory) -> Result<Self, Damage> {
        // SAFETY: the functions are made for this memory, which is borrowed until `self` drops.
        let state =
            unsafe { sys::BrotliEncoderCreateInstance(Some(memory::allocate), Some(memory::release), memory.opaque()) };
        ptr::NonNull::new(state)
            .map(|state| Self(state, PhantomData))
            .ok_or_else(|| damage("out of memory"))
    }

    fn set(&self, parameter: sys::BrotliEncoderParameter, value: u32) -> Result<(), Damage> {
        // SAFETY: the state is alive until `self` drops; unknown parameters and values are refused by the call.
        let done = unsafe { sys::BrotliEncoderSetParameter(self.0.as_ptr(), parameter, value) };
        if done == 0 {
            Err(damage("the encoder refuses an option"))
        } else {
            Ok(())
        }
    }

    fn finish(&self, section: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        let mut next_in = section.as_ptr();
        let mut available_in = section.len();
        loop {
            let mut available_out = 0;
            let mut next_out = ptr::null_mut();
            // SAFETY: `next_in` points to `available_in` readable bytes of `section`, both updated by the call; there is no
            // output space, so nothing is written through `next_out` and the output stays in the encoder.
            let done = unsafe {
                sys::BrotliEncoderCompressStream(
                    self.0.as_ptr(),
                    sys::BrotliEncoderOperation_BROTLI_OPERATION_FINISH,
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
                let output = sys::BrotliEncoderTakeOutput(self.0.as_ptr(), &mut size);
                if size == 0 {
                    &[][..]
                } else {
                    std::slice::from_raw_parts(output, size)
                }
            };
            out.extend_from_slice(output);
            // SAFETY: the state is alive.
            if unsafe { sys::BrotliEncoderIsFinished(self.0.as_ptr()) } != 0 {
                return Ok(());
            }
        }
    }
}

impl Drop for Encoder<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `new`, dropped once.
        unsafe { sys::BrotliEncoderDestroyInstance(self.0.as_ptr()) }
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
