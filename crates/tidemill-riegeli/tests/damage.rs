//! Damage anywhere in a file is found or does no harm: no record is returned that was not written.

use std::collections::HashMap;

use tidemill_riegeli::{BytesSource, ReaderOptions, RecordReader, RecordWriter, WriterOptions};

/// Returns a file of about 300 KiB, whose records are known by their first eight bytes.
fn file(options: &str, size: usize) -> (Vec<u8>, HashMap<[u8; 8], Vec<u8>>) {
    let options: WriterOptions = options.parse().expect("options");
    let mut writer = RecordWriter::new(Vec::new(), options).expect("memory");
    let mut records = HashMap::new();
    let mut state = 1_u64;
    while writer.estimated_size() < 300 << 10 {
        let key = (records.len() as u64).to_be_bytes();
        let mut record = key.to_vec();
        while record.len() < size {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            record.extend_from_slice(&state.to_le_bytes());
        }
        writer.write_record(&record).expect("memory");
        records.insert(key, record);
    }
    (writer.close().expect("memory"), records)
}

/// The places of headers: block headers, and chunk headers where no block header interrupts them.
fn headers(file: &[u8]) -> Vec<usize> {
    let chunks = RecordReader::from_bytes(file)
        .expect("memory")
        .list_chunks()
        .expect("sound");
    let blocks = (0..file.len()).step_by(65_536).flat_map(|block| block..block + 24);
    let chunk_headers = chunks.iter().flat_map(|chunk| {
        let begin = chunk.begin as usize;
        begin..begin + 40
    });
    let mut headers: Vec<usize> = blocks.chain(chunk_headers).filter(|&at| at < file.len()).collect();
    headers.sort_unstable();
    headers.dedup();
    headers
}

/// Flips a bit and reads the part of the file that it is in, and all of it for some flips.
fn check(file: &mut [u8], records: &HashMap<[u8; 8], Vec<u8>>, at: usize, bit: u32, whole: bool) {
    file[at] ^= 1 << bit;
    let options = ReaderOptions::new().recover(true);
    let mut reader = RecordReader::new(BytesSource(&*file), &options).expect("memory");
    let end = match whole {
        true => u64::MAX,
        false => {
            // From the chunk before the flip to behind the next block header that the flip can disturb.
            reader
                .seek_numeric((at as u64).saturating_sub(5_000))
                .expect("recovers");
            at as u64 + 140_000
        }
    };
    let mut found = 0;
    while let Some(record) = reader.read_record().expect("recovers") {
        let key: [u8; 8] = record[..8].try_into().expect("eight bytes");
        assert!(records[&key] == record, "bit {bit} of byte {at}");
        found += 1;
        if reader.last_pos().chunk_begin > end {
            break;
        }
    }
    if whole {
        let skipped = reader.skipped().len();
        assert!(
            skipped > 0 || found == records.len(),
            "bit {bit} of byte {at} went unnoticed"
        );
        assert!(reader.close().expect("recovers").len() >= usize::from(found < records.len()));
    }
    file[at] ^= 1 << bit;
}

#[test]
fn every_flipped_bit_of_a_header_is_found_or_harmless() {
    let (mut file, records) = file("uncompressed,chunk_size:40000", 700);
    let headers = headers(&file);
    assert!(headers.len() > 400, "{}", headers.len());
    for (number, at) in headers.into_iter().enumerate() {
        for bit in 0..8 {
            check(&mut file, &records, at, bit, (number + bit as usize).is_multiple_of(16));
        }
    }
}

#[test]
fn flipped_bits_of_data_are_found_or_harmless() {
    for (options, size) in [
        ("uncompressed", 100),
        ("zstd:1,chunk_size:30000", 100),
        ("transpose,snappy", 300),
    ] {
        let (mut file, records) = file(options, size);
        // 1,009 is a prime number: any place in chunks and blocks.
        for (number, at) in (64..file.len()).step_by(1_009).enumerate() {
            check(&mut file, &records, at, (number % 8) as u32, number % 10 == 0);
        }
    }
}
