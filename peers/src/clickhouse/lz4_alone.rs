//! No client: only the decompression that every client has to do. The measure of what there is to win.

use tidemill_clickhouse::{
    Compression as Codec,
    frame::{FrameEncoder, FrameHeader},
};

use super::{BLOCK_ROWS, Compression, Outcome, SELECT_ROWS, Work};
use crate::clock::processor_time;

/// Decompresses the frames of 100 million numbers, a block in each, and tells how much processor time that took. The server
/// makes the same frames: its blocks have as many rows, and its library is the same.
pub(super) fn run(work: Work) -> Outcome {
    if work != Work::Select(Compression::Lz4) {
        return Err(format!("it does not do {work}").into());
    }
    let mut encoder = FrameEncoder::new(Codec::Lz4)?;
    let mut out = vec![0; 8 * BLOCK_ROWS as usize];
    let (mut rows, mut time) = (0, std::time::Duration::ZERO);
    let mut frames = Vec::new();
    while rows < SELECT_ROWS {
        frames.clear();
        let mut begins = Vec::new();
        // A sixteenth of it at a time, so that the memory stays small and the frames are not in the cache.
        let end = SELECT_ROWS.min(rows + SELECT_ROWS / 16);
        while rows < end {
            let count = BLOCK_ROWS.min(SELECT_ROWS - rows);
            let numbers: Vec<u8> = (rows..rows + count).flat_map(u64::to_le_bytes).collect();
            begins.push(frames.len());
            encoder.encode(&numbers, &mut frames)?;
            rows += count;
        }
        begins.push(frames.len());
        let begin = processor_time();
        for frame in begins.windows(2) {
            let data = &frames[frame[0] + FrameHeader::SIZE..frame[1]];
            lz4::block::decompress_to_buffer(data, Some(i32::try_from(out.len())?), &mut out)?;
        }
        time += processor_time() - begin;
    }
    println!("processor {}", time.as_secs_f64());
    Ok(rows)
}
