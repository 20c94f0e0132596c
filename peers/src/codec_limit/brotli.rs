//! Brotli's C library in one call for each section.

use std::ptr;

use compu_brotli_sys as sys;

/// Compresses `raw` with quality 6 into `room`, which must be large enough.
pub(super) fn compress(raw: &[u8], room: &mut [u8]) {
    let mut size = room.len();
    // SAFETY: the pointers are valid for the lengths given with them, and the call writes no more than `size` bytes.
    let done = unsafe {
        sys::BrotliEncoderCompress(
            6,
            22,
            sys::BrotliEncoderMode_BROTLI_MODE_GENERIC,
            raw.len(),
            raw.as_ptr(),
            ptr::from_mut(&mut size),
            room.as_mut_ptr(),
        )
    };
    assert_eq!(done, 1, "brotli compresses");
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
