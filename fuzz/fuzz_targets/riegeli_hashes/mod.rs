//! Riegeli files of any bytes whose hashes are right, so that what they would catch comes through to the decoders.

use tidemill_riegeli::{
    BLOCK_HEADER_SIZE, BLOCK_SIZE, BlockHeader, CHUNK_HEADER_SIZE, ChunkHeader, ChunkType, Damage, Error,
    ReaderOptions, hash,
};

/// What a chunk may take of memory.
const LIMIT: u64 = 1 << 22;
/// The number of records of a chunk that says to have more than its file has bytes is taken modulo this one.
const FEW_RECORDS: u64 = 1 << 12;

/// Returns options under which a mutated size takes little time.
pub(crate) fn options() -> ReaderOptions {
    ReaderOptions::default().max_chunk_size(LIMIT)
}

/// Returns a file of the chunks that `input` seems to have, one behind another: a signature first, then whatever stands where
/// headers are expected. Sizes that do not fit the file are made to fit; hashes and block headers are right.
pub(crate) fn with_sound_hashes(input: &[u8]) -> Vec<u8> {
    let mut file = input.to_vec();
    let mut begin = 0;
    while begin == 0 || begin < file.len() {
        let places: Vec<usize> = stored(begin).take(CHUNK_HEADER_SIZE).collect();
        let data_begin = places.last().map_or(begin, |last| last + 1);
        if begin == 0 && file.len() < data_begin {
            file.resize(data_begin, 0);
        }
        let Some(bytes) = bytes_at(&file, places.iter().copied()) else {
            break;
        };
        let bytes: [u8; CHUNK_HEADER_SIZE] = bytes.try_into().expect("as many as places");
        let mut header = ChunkHeader::from_bytes(&bytes);
        if begin == 0 {
            header = ChunkHeader {
                data_size: 0,
                chunk_type: ChunkType::FileSignature,
                num_records: 0,
                decoded_data_size: 0,
                ..header
            };
        }
        let data_size = usize::try_from(header.data_size).unwrap_or(usize::MAX);
        let left = stored(data_begin).take_while(|&at| at < file.len());
        let data_places: Vec<usize> = left.take(data_size).collect();
        let data = bytes_at(&file, data_places.iter().copied()).expect("they are left");
        header.data_size = data.len() as u64;
        if begin as u64 + header.num_records > file.len() as u64 {
            header.num_records %= FEW_RECORDS;
        }
        if header.decoded_data_size > LIMIT {
            header.decoded_data_size %= LIMIT;
        }
        header.data_hash = hash(&data);
        header.header_hash = header.computed_hash();

        let data_end = data_places.last().map_or(data_begin, |last| last + 1);
        let end = data_end.max(boundary(begin + usize::try_from(header.num_records).expect("few")));
        file.resize(file.len().max(end), 0);
        for (at, byte) in places.into_iter().zip(header.to_bytes()) {
            file[at] = byte;
        }
        let blocks = (begin..end).filter(|at| at.is_multiple_of(BLOCK_SIZE as usize));
        for block in blocks.collect::<Vec<_>>() {
            let header = BlockHeader::new((block - begin) as u64, (end - block) as u64).to_bytes();
            let room = &mut file[block..end.min(block + BLOCK_HEADER_SIZE)];
            room.copy_from_slice(&header[..room.len()]);
        }
        begin = end;
    }
    file
}

/// Checks that no hash was wrong.
pub(crate) fn check(error: &Error) {
    if let Error::Corrupt(corrupt) = error {
        assert!(
            !matches!(
                corrupt.damage,
                Damage::BlockHeaderHash { .. }
                    | Damage::BlockHeaderDisagrees { .. }
                    | Damage::ChunkHeaderHash { .. }
                    | Damage::ChunkDataHash { .. }
                    | Damage::ChunkBoundary
                    | Damage::MissingSignature
            ),
            "{error}"
        );
    }
}

/// The places of bytes from `begin` on that are not of block headers.
fn stored(begin: usize) -> impl Iterator<Item = usize> {
    (begin..).filter(|at| at % BLOCK_SIZE as usize >= BLOCK_HEADER_SIZE)
}

fn bytes_at(file: &[u8], places: impl Iterator<Item = usize>) -> Option<Vec<u8>> {
    places.map(|at| file.get(at).copied()).collect()
}

/// Returns `pos`, or the first position behind it where a chunk may begin.
fn boundary(pos: usize) -> usize {
    match pos % BLOCK_SIZE as usize {
        0 => pos,
        in_block => pos + (BLOCK_HEADER_SIZE + 1).saturating_sub(in_block),
    }
}
