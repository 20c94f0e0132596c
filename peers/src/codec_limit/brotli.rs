//! Brotli's C library in one call for each section.

use std::ptr;

use compu_brotli_sys as sys;

/// Compresses `raw` with quality 6 into `room`, which must be large enough.
pub(super) fn compress(raw: &[u8], size_hint: usize, room: &mut [u8]) {
    let size_hint = u32::try_from(size_hint).expect("a small section");
    let (mut read, mut from) = (raw.len(), raw.as_ptr());
    let (mut left, mut to) = (room.len(), room.as_mut_ptr());
    // SAFETY: the state is made, used and given back here; the pointers are valid for the lengths beside them, and the call
    // reads and writes no more than that.
    let done = unsafe {
        let state = sys::BrotliEncoderCreateInstance(None, None, ptr::null_mut());
        for (parameter, value) in [
            (sys::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, 6),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_LGWIN, 22),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_SIZE_HINT, size_hint),
        ] {
            sys::BrotliEncoderSetParameter(state, parameter, value);
        }
        let done = sys::BrotliEncoderCompressStream(
            state,
            sys::BrotliEncoderOperation_BROTLI_OPERATION_FINISH,
            &mut read,
            &mut from,
            &mut left,
            &mut to,
            ptr::null_mut(),
        );
        sys::BrotliEncoderDestroyInstance(state);
        done
    };
    assert_eq!((done, read), (1, 0), "brotli compresses");
}

/// Decompresses to exactly the length of `raw`.
pub(super) fn decompress(compressed: &[u8], raw: &mut [u8]) {
    let mut size = raw.len();
    // SAFETY: as above.
    let result = unsafe {
        sys::BrotliDecoderDecompress(
            compressed.len(),
            compressed.as_ptr(),
            ptr::from_mut(&mut size),
            raw.as_mut_ptr(),
        )
    };
    assert_eq!(result, sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS);
    assert_eq!(size, raw.len(), "the declared size");
}
