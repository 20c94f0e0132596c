//! Which library of LZ4 is faster on what ClickHouse sends and is sent: the C library or `lz4_flex`?
//!
//! Data: blocks as frames have them, 65,536 rows of one column: ascending numbers, small and large random numbers, times that
//! go on by some seconds, prices, numbers as texts of 8 to 20 bytes, and lines of a log; 64 MB of each, compressed by the C
//! library. Both libraries decompress the same bytes into memory that was written before, and
//! compress the same blocks. `lz4_flex` is built in its default way, which has no unsafe code.
//!
//! Run: `cargo bench --bench lz4_benchmarks`.

use tidemill_peers::clock::Times;

fn main() {
    println!(
        "{:<12}{:>10}{:>14}{:>14}{:>8}{:>14}{:>14}{:>8}",
        "GB/s", "ratio", "decode C", "lz4_flex", "", "encode C", "lz4_flex", ""
    );
    let random = |row: u64| (row.wrapping_mul(MULTIPLIER) ^ row.rotate_left(29)).wrapping_mul(MULTIPLIER) >> 20;
    measure("ascending", |row| row.to_le_bytes().to_vec());
    measure("small", |row| (random(row) % 1000).to_le_bytes().to_vec());
    measure("random", |row| {
        (row.wrapping_mul(MULTIPLIER) ^ row.rotate_left(29))
            .to_le_bytes()
            .to_vec()
    });
    measure("times", |row| {
        let time = 1_700_000_000 + row * 3 + random(row) % 3;
        u32::try_from(time).unwrap_or_default().to_le_bytes().to_vec()
    });
    measure("prices", |row| {
        ((random(row) % 100_000) as f64 / 100.0).to_le_bytes().to_vec()
    });
    let text = |text: String| {
        let mut value = vec![u8::try_from(text.len()).unwrap_or_default()];
        value.extend(text.bytes());
        value
    };
    measure("texts", |row| {
        let length = 8 + usize::try_from(row % 13).unwrap_or_default();
        text(format!("{row:0length$}"))
    });
    measure("log", |row| {
        let words = [
            "tide", "harbour", "lock", "ebb", "flow", "gauge", "sluice", "opened", "closed", "waits",
        ];
        let line: Vec<&str> = (0..6).map(|at| words[(random(row * 6 + at) % 10) as usize]).collect();
        text(format!("{} ms {}", random(row) % 500, line.join(" ")))
    });
}

fn measure(name: &str, value: impl Fn(u64) -> Vec<u8>) {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    let (mut row, mut total) = (0, 0);
    while total < TOTAL {
        let block: Vec<u8> = (row..row + ROWS).flat_map(&value).collect();
        row += ROWS;
        total += block.len();
        blocks.push(block);
    }
    let compressed: Vec<Vec<u8>> = blocks
        .iter()
        .map(|block| lz4::block::compress(block, None, false).expect("a block"))
        .collect();
    let longest = blocks.iter().map(Vec::len).max().unwrap_or_default();
    let mut out = vec![1; longest];
    let mut decode = |decompress: &dyn Fn(&[u8], &mut [u8])| {
        let times = Times::of(
            || (),
            |()| {
                for (frame, block) in compressed.iter().zip(&blocks) {
                    decompress(frame, &mut out[..block.len()]);
                }
            },
        );
        total as f64 / times.cpu.as_secs_f64() / 1e9
    };
    let decode_c = decode(&|frame, out| {
        let size = i32::try_from(out.len()).expect("a small block");
        lz4::block::decompress_to_buffer(frame, Some(size), out).expect("a frame");
    });
    let decode_flex = decode(&|frame, out| {
        lz4_flex::block::decompress_into(frame, out).expect("a frame");
    });
    let mut room = vec![1; lz4_flex::block::get_maximum_output_size(longest) + 1024];
    let mut encode = |compress: &dyn Fn(&[u8], &mut [u8])| {
        let times = Times::of(|| (), |()| blocks.iter().for_each(|block| compress(block, &mut room)));
        total as f64 / times.cpu.as_secs_f64() / 1e9
    };
    let encode_c = encode(&|block, room| {
        lz4::block::compress_to_buffer(block, None, false, room).expect("room");
    });
    let encode_flex = encode(&|block, room| {
        lz4_flex::block::compress_into(block, room).expect("room");
    });
    println!(
        "{name:<12}{:>10.2}{decode_c:>14.2}{decode_flex:>14.2}{:>8.2}{encode_c:>14.2}{encode_flex:>14.2}{:>8.2}",
        total as f64 / compressed.iter().map(Vec::len).sum::<usize>() as f64,
        decode_flex / decode_c,
        encode_flex / encode_c,
    );
}

const ROWS: u64 = 65_536;
const TOTAL: usize = 64_000_000;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
