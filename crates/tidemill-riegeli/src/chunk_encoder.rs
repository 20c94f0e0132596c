//! What a writer fills with records and makes a chunk of, whatever kind of chunk that is.
//!
//! An encoder owns its buffers and can move to another thread, between any two calls: `add_record`, then `encode`, then
//! `encoded`, which returns a reference to what is to be written, then `clear`, which keeps the memory for the next chunk.
//!
//! When a chunk is full is not decided here.

use std::cell::Cell;

use crate::{
    Compression, FileName, Result, WriterOptions, chunk_header::ChunkType, error::Damage, simple_chunk::SimpleEncoder,
    transposed_chunk::TransposedEncoder,
};

/// Makes chunks of records, one after another with the same buffers, for a [`ChunkWriter`](crate::ChunkWriter). What
/// [`RecordWriter`](crate::RecordWriter) does by itself: which records share a chunk is the caller's choice here.
///
/// ```
/// use tidemill_riegeli::{ChunkEncoder, ChunkWriter, RecordReader, WriterOptions};
///
/// let mut chunks = ChunkWriter::new(Vec::new(), 0)?;
/// chunks.write_signature()?;
/// let mut encoder = ChunkEncoder::new(&"transpose,zstd".parse::<WriterOptions>()?);
/// for day in [["first", "second"], ["third", "fourth"]] {
///     for record in day {
///         encoder.add_record(record.as_bytes());
///     }
///     let chunk = encoder.encode()?;
///     assert_eq!(chunk.num_records(), 2);
///     chunks.write_chunk(&chunk)?;
/// }
///
/// let mut reader = RecordReader::from_bytes(chunks.into_dest())?;
/// assert_eq!(reader.read_record()?, Some(&b"first"[..]));
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
pub struct ChunkEncoder {
    encoder: Encoder,
    /// Whether the records are those of a chunk that was made.
    is_encoded: bool,
}

impl ChunkEncoder {
    /// Returns an encoder for chunks as the options ask for them: transposed or simple, the codec, and the size of buckets. The
    /// chunk size is a hint to the codec, and bounds nothing.
    pub fn new(options: &WriterOptions) -> Self {
        Self {
            encoder: Encoder::new(options),
            is_encoded: false,
        }
    }

    /// Adds a record to the chunk, or begins the next one with it.
    pub fn add_record(&mut self, record: &[u8]) {
        self.open().add_record(record);
    }

    /// Adds a record that consists of `parts`, or begins the next chunk with it. Each is copied straight into the chunk; only for
    /// transposed chunks they are joined first.
    pub fn add_record_parts(&mut self, parts: &[&[u8]]) {
        self.open().add_record_parts(parts);
    }

    /// Returns the number of records in the chunk so far.
    pub fn num_records(&self) -> u64 {
        match self.is_encoded {
            true => 0,
            false => self.encoder.num_records(),
        }
    }

    /// Returns the sum of their sizes.
    pub fn decoded_data_size(&self) -> u64 {
        match self.is_encoded {
            true => 0,
            false => self.encoder.decoded_data_size(),
        }
    }

    /// Makes a chunk of the records that were added, and returns a reference to it.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when a codec fails, for want of memory.
    pub fn encode(&mut self) -> Result<EncodedChunk<'_>> {
        let encoder = self.open();
        let encoded = encoder.encode();
        self.is_encoded = true;
        encoded.map_err(|damage| damage.at(&FileName::default(), 0, 0))?;
        Ok(self.encoder.encoded())
    }

    /// Drops the records that were added.
    pub fn clear(&mut self) {
        self.is_encoded = true;
    }

    /// Returns the encoder, without the records of a chunk that was made.
    fn open(&mut self) -> &mut Encoder {
        if std::mem::take(&mut self.is_encoded) {
            self.encoder.clear();
        }
        &mut self.encoder
    }
}

/// Collects the records of a chunk and encodes them.
pub(crate) enum Encoder {
    Simple(Box<SimpleEncoder>),
    Transposed(Box<TransposedEncoder>),
}

/// An encoded chunk, ready to be written. Its data are the parts one after another.
#[derive(Clone, Copy, Debug)]
pub struct EncodedChunk<'a> {
    pub(crate) chunk_type: ChunkType,
    pub(crate) parts: Parts<'a>,
    pub(crate) num_records: u64,
    pub(crate) decoded_data_size: u64,
}

/// The data of a chunk, one part after the other. Some may be empty.
type Parts<'a> = [&'a [u8]; 4];

impl EncodedChunk<'_> {
    /// Returns the type.
    pub fn chunk_type(&self) -> ChunkType {
        self.chunk_type
    }

    /// Returns the number of records.
    pub fn num_records(&self) -> u64 {
        self.num_records
    }

    /// Returns the sum of the sizes of the records.
    pub fn decoded_data_size(&self) -> u64 {
        self.decoded_data_size
    }

    /// Returns the bytes of the data, without the header.
    pub fn data_size(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }
}

/// Larger memory than this is not kept for another encoder.
const LARGEST_SPARE: usize = 8 << 20;

/// Whether the codec's own memory is a few megabytes at most.
fn has_small_context(compression: Compression) -> bool {
    match compression {
        Compression::None | Compression::Snappy | Compression::SnappyDense => true,
        Compression::Brotli { quality, window_log } => quality <= 6 && window_log.is_none(),
        Compression::Zstd { level, window_log } => level <= 3 && window_log.is_none(),
    }
}

thread_local! {
    /// The encoder of the last writer that this thread closed. One that begins from nothing spends more on a small file, in the
    /// kernel, on memory for its buffers than on the records.
    static SPARE: Cell<Option<Encoder>> = const { Cell::new(None) };
}

impl Encoder {
    /// Returns an encoder for the chunks that the options ask for.
    pub(crate) fn new(options: &WriterOptions) -> Self {
        if options.transpose {
            Self::transposed(options.compression, options.bucket_size())
        } else {
            let size_hint = Some(options.effective_chunk_size());
            match Self::spare() {
                Some(Self::Simple(mut spare)) if spare.compression() == options.compression => {
                    spare.set_size_hint(size_hint);
                    Self::Simple(spare)
                }
                _ => Self::Simple(Box::new(SimpleEncoder::new(options.compression, size_hint))),
            }
        }
    }

    /// Returns an encoder for simple chunks of any size.
    pub(crate) fn simple(compression: Compression) -> Self {
        Self::Simple(Box::new(SimpleEncoder::new(compression, None)))
    }

    /// Returns an encoder for transposed chunks, with the memory of the last one that this thread left if it made such chunks.
    pub(crate) fn transposed(compression: Compression, bucket_size: u64) -> Self {
        match Self::spare() {
            Some(Self::Transposed(spare)) if spare.makes(compression, bucket_size) => Self::Transposed(spare),
            _ => Self::Transposed(Box::new(TransposedEncoder::new(compression, bucket_size))),
        }
    }

    /// Takes the encoder that this thread left.
    fn spare() -> Option<Self> {
        SPARE.try_with(Cell::take).ok().flatten()
    }

    /// Adds a record.
    #[inline]
    pub(crate) fn add_record(&mut self, record: &[u8]) {
        match self {
            Self::Simple(encoder) => encoder.add_record(record),
            Self::Transposed(encoder) => encoder.add_record(record),
        }
    }

    /// Adds `records`, which end at `limits`, to an empty chunk. Leaves anything in `records`.
    pub(crate) fn add_records(&mut self, records: &mut Vec<u8>, limits: &[usize]) {
        match self {
            Self::Simple(encoder) => encoder.add_records(records, limits),
            Self::Transposed(encoder) => {
                let mut start = 0;
                for &limit in limits {
                    encoder.add_record(&records[start..limit]);
                    start = limit;
                }
            }
        }
    }

    /// Adds a record that consists of `parts`.
    pub(crate) fn add_record_parts(&mut self, parts: &[&[u8]]) {
        match self {
            Self::Simple(encoder) => encoder.add_record_parts(parts),
            Self::Transposed(encoder) => encoder.add_record_parts(parts),
        }
    }

    /// Returns the number of records that were added.
    #[inline]
    pub(crate) fn num_records(&self) -> u64 {
        match self {
            Self::Simple(encoder) => encoder.num_records(),
            Self::Transposed(encoder) => encoder.num_records(),
        }
    }

    /// Returns the sum of the sizes of the records that were added.
    pub(crate) fn decoded_data_size(&self) -> u64 {
        match self {
            Self::Simple(encoder) => encoder.decoded_data_size(),
            Self::Transposed(encoder) => encoder.decoded_data_size(),
        }
    }

    /// Encodes the chunk of the records that were added. No records may be added then until the encoder is cleared.
    ///
    /// # Errors
    /// [`Damage::Codec`] when a codec fails, which is memory or an option that it refuses.
    pub(crate) fn encode(&mut self) -> Result<(), Damage> {
        match self {
            Self::Simple(encoder) => encoder.encode(),
            Self::Transposed(encoder) => encoder.encode(),
        }
    }

    /// Lends the chunk that [`Self::encode`] made.
    pub(crate) fn encoded(&self) -> EncodedChunk<'_> {
        let (chunk_type, parts) = match self {
            Self::Simple(encoder) => {
                let [head, values] = encoder.encoded_parts();
                (ChunkType::Simple, [head, values, &[], &[]])
            }
            Self::Transposed(encoder) => (ChunkType::Transposed, encoder.encoded_parts()),
        };
        EncodedChunk {
            chunk_type,
            parts,
            num_records: self.num_records(),
            decoded_data_size: self.decoded_data_size(),
        }
    }

    /// Returns whether chunks such as the last one are dear enough to encode for a thread.
    pub(crate) fn pays_threads(&self) -> bool {
        match self {
            Self::Simple(encoder) => encoder.pays_threads(),
            Self::Transposed(encoder) => encoder.pays_threads(),
        }
    }

    /// Swaps the parts of the data that [`Self::encode`] made for memory to use instead.
    pub(crate) fn swap_encoded(&mut self, parts: &mut [Vec<u8>; 2]) {
        match self {
            Self::Simple(encoder) => encoder.swap_encoded(parts),
            Self::Transposed(encoder) => encoder.swap_encoded(parts),
        }
    }

    /// Returns a chunk that consists of one record, which is borrowed, not copied; no other one was added. `None` when that is not
    /// possible, since records are not stored as they are.
    pub(crate) fn encode_alone<'a>(&'a mut self, record: &'a [u8]) -> Option<EncodedChunk<'a>> {
        match self {
            Self::Simple(encoder) => {
                let [head, values] = encoder.encode_alone(record)?;
                Some(EncodedChunk {
                    chunk_type: ChunkType::Simple,
                    parts: [head, values, &[], &[]],
                    num_records: 1,
                    decoded_data_size: record.len() as u64,
                })
            }
            Self::Transposed(_) => None,
        }
    }

    /// Lets the next encoder of this thread, if it is to make such chunks, be this one with its memory.
    pub(crate) fn into_spare(mut self) {
        let compression = match &self {
            Self::Simple(encoder) => encoder.compression(),
            Self::Transposed(encoder) => encoder.compression(),
        };
        if has_small_context(compression) && self.memory() <= LARGEST_SPARE {
            self.clear();
            // A thread that ends keeps nothing.
            let _ = SPARE.try_with(|spare| spare.set(Some(self)));
        }
    }

    /// Returns how many bytes its buffers have.
    fn memory(&self) -> usize {
        match self {
            Self::Simple(encoder) => encoder.memory(),
            Self::Transposed(encoder) => encoder.memory(),
        }
    }

    /// Drops the records and what was encoded, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Simple(encoder) => encoder.clear(),
            Self::Transposed(encoder) => encoder.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare_memory() -> Option<usize> {
        let spare = SPARE.take();
        let memory = spare.as_ref().map(Encoder::memory);
        SPARE.set(spare);
        memory
    }

    #[test]
    fn the_memory_of_an_encoder_is_used_again_for_the_same_options() -> Result<(), Box<dyn std::error::Error>> {
        let encoded = |options: &WriterOptions, records: &[&[u8]]| {
            let mut encoder = Encoder::new(options);
            records.iter().for_each(|record| encoder.add_record(record));
            encoder.encode()?;
            let data = encoder.encoded().parts.concat();
            Ok::<_, Damage>((encoder, data))
        };
        let (messages, texts): ([&[u8]; 2], [&[u8]; 2]) =
            ([b"\x08\x01\x12\x03abc", b"\x08\x02"], [b"not a", b"message"]);
        let options: WriterOptions = "transpose,snappy".parse()?;
        assert_eq!(spare_memory(), None);
        let (first, data) = encoded(&options, &messages)?;
        first.into_spare();
        assert!(spare_memory().is_some_and(|memory| memory > 0));
        let (other, text) = encoded(&options, &texts)?;
        assert_eq!(spare_memory(), None);
        other.into_spare();
        let (again, same) = encoded(&options, &messages)?;
        assert!(same == data && same != text);
        again.into_spare();
        // Other options make it go, and so does much memory.
        encoded(&"transpose,uncompressed".parse()?, &messages)?.0.into_spare();
        let (_, same) = encoded(&options, &messages)?;
        assert!(same == data);
        let large = vec![0xff; LARGEST_SPARE];
        encoded(&options, &[&large])?.0.into_spare();
        assert_eq!(spare_memory(), None);
        encoded(&"transpose,zstd:19".parse()?, &messages)?.0.into_spare();
        assert_eq!(spare_memory(), None);
        Ok(())
    }

    #[test]
    fn an_encoder_writes_the_same_with_the_memory_of_another() -> Result<(), Box<dyn std::error::Error>> {
        let text: Vec<u8> = (0..40_000_u32)
            .flat_map(|number| number.wrapping_mul(77).to_le_bytes())
            .collect();
        let encoded = |options: WriterOptions| -> Result<Vec<u8>, Damage> {
            let mut encoder = Encoder::new(&options);
            text.chunks(1_000).for_each(|record| encoder.add_record(record));
            encoder.encode()?;
            let data = encoder.encoded().parts.concat();
            encoder.into_spare();
            Ok(data)
        };
        for options in [
            "uncompressed",
            "snappy",
            "snappy:2",
            "zstd:3",
            "brotli:1",
            "brotli:6",
            "transpose,brotli:6",
        ] {
            // The size that a chunk is expected to have decides bytes of Brotli's.
            let chunk_sizes = [1_u64 << 20, 4_096, 300_000];
            let with =
                |chunk_size: u64| Ok::<_, crate::Error>(options.parse::<WriterOptions>()?.chunk_size(chunk_size));
            for chunk_size in chunk_sizes {
                SPARE.take();
                let fresh = encoded(with(chunk_size)?)?;
                for other in chunk_sizes {
                    encoded(with(other)?)?;
                    assert!(spare_memory().is_some_and(|memory| memory > 0), "{options}");
                    assert!(
                        encoded(with(chunk_size)?)? == fresh,
                        "{options}, {chunk_size} behind {other}"
                    );
                }
            }
        }
        Ok(())
    }

    #[test]
    fn encoders_move_between_threads() {
        fn moves<T: Send>() {}
        moves::<Encoder>();
    }
}
