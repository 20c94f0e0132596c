//! Decoding the records of a chunk, whatever its type.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut, Range},
};

use crate::{
    Chunk, ChunkHeader, ChunkType, Error, FieldSizes, FileName, ReaderOptions,
    error::Damage,
    field_projection::FieldProjection,
    record_values::RecordSlices,
    simple_chunk::SimpleDecoder,
    transposed_chunk::{self, IncludedFields, TransposedDecoder},
};

/// Decodes chunks one after another into the same buffers.
///
/// ```
/// use tidemill_riegeli::{ChunkDecoder, ChunkReader, ReaderOptions, RecordWriter, WriterOptions};
///
/// let mut writer = RecordWriter::new(Vec::new(), "zstd,transpose".parse::<WriterOptions>()?)?;
/// writer.write_record(b"one")?;
/// writer.write_record(b"two")?;
/// let mut chunks = ChunkReader::from_bytes(writer.close()?)?;
/// let mut decoder = ChunkDecoder::new(&ReaderOptions::new());
/// let mut found = Vec::new();
/// while let Some(chunk) = chunks.next_chunk()? {
///     found.extend(decoder.decode_chunk(&chunk)?.iter().map(<[u8]>::to_vec));
/// }
/// assert_eq!(found, [b"one", b"two"]);
/// # Ok::<(), tidemill_riegeli::Error>(())
/// ```
pub struct ChunkDecoder {
    simple: SimpleDecoder,
    transposed: TransposedDecoder,
    /// The decoder that has the records, if there are any.
    holder: Option<Holder>,
    num_records: u64,
    available: Range<u64>,
    /// Say how much [`Self::decode_chunk`] decodes.
    options: ReaderOptions,
    /// The fields to keep, `None` for all.
    included: Option<IncludedFields>,
    /// What the largest chunk took so far, about; as much as can be after damage, which may lie about it.
    largest: u64,
}

#[derive(Clone, Copy)]
enum Holder {
    Simple,
    Transposed,
}

impl ChunkDecoder {
    /// Returns a decoder. Of the options, the limit and the field projection matter.
    pub fn new(options: &ReaderOptions) -> Self {
        Self {
            simple: SimpleDecoder::default(),
            transposed: TransposedDecoder::default(),
            holder: None,
            num_records: 0,
            available: 0..0,
            options: options.clone(),
            included: IncludedFields::new(&options.field_projection),
            largest: 0,
        }
    }

    /// Returns the records of a chunk, none for a chunk without any. They are borrowed until the next call, and as long as the
    /// chunk.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Unsupported`] for codecs and chunk types that are not known; [`Error::Limit`].
    pub fn decode_chunk<'a>(&'a mut self, chunk: &Chunk<'a>) -> Result<RecordSlices<'a>, Error> {
        let limit = self.options.decoded_limit(None, chunk.data.len());
        self.decode(&chunk.header, chunk.data, limit)
            .map_err(|damage| damage.at(&FileName::default(), chunk.begin, chunk.end))?;
        Ok(self.records(chunk.data))
    }

    /// Returns the file metadata that a chunk holds, a serialized [`RecordsMetadata`](crate::RecordsMetadata); `None` for a
    /// chunk of another type than [`ChunkType::FileMetadata`].
    ///
    /// # Errors
    /// As [`Self::decode_chunk`].
    pub fn decode_metadata(&self, chunk: &Chunk<'_>) -> Result<Option<Vec<u8>>, Error> {
        if chunk.header.chunk_type != ChunkType::FileMetadata {
            return Ok(None);
        }
        let limit = self.options.decoded_limit(None, chunk.data.len());
        decode_metadata(&chunk.header, chunk.data, limit)
            .map(Some)
            .map_err(|damage| damage.at(&FileName::default(), chunk.begin, chunk.end))
    }

    /// Keeps the fields of `projection` in what is decoded from now on.
    pub(crate) fn set_projection(&mut self, projection: &FieldProjection) {
        self.included = IncludedFields::new(projection);
    }

    pub(crate) fn clear(&mut self) {
        self.holder = None;
        self.num_records = 0;
        self.available = 0..0;
    }

    #[inline]
    pub(crate) fn num_records(&self) -> u64 {
        self.num_records
    }

    /// Returns the records of the chunk that was decoded from `data`.
    #[inline]
    pub(crate) fn records<'a>(&'a self, data: &'a [u8]) -> RecordSlices<'a> {
        match self.holder {
            Some(Holder::Simple) => self.simple.records(data),
            Some(Holder::Transposed) => self.transposed.records(data),
            None => RecordSlices::new(&[], &[]),
        }
    }

    /// Adds what each field takes in the chunk, if it is a transposed one, to `sizes`.
    pub(crate) fn add_field_sizes(
        &mut self,
        header: &ChunkHeader,
        data: &[u8],
        limit: usize,
        sizes: &mut FieldSizes,
    ) -> Result<(), Damage> {
        self.clear();
        check_memory(header, limit)?;
        match header.chunk_type {
            ChunkType::Transposed => self.transposed.add_field_sizes(data, limit, sizes),
            _ => Ok(()),
        }
    }

    /// Returns whether a record is available. All are, unless only some were wanted.
    #[inline]
    pub(crate) fn is_available(&self, index: u64) -> bool {
        self.available.contains(&index)
    }

    /// Makes the record of number `index` available, or all of them when there is none. `data` are those that the chunk was
    /// decoded from. After an error there are no records.
    pub(crate) fn extend(&mut self, data: &[u8], index: u64) -> Result<(), Damage> {
        let extended = match self.holder {
            Some(Holder::Simple) => self.simple.extend(data, index),
            Some(Holder::Transposed) => self.transposed.extend(data, index),
            None => return Ok(()),
        };
        extended.inspect_err(|_| {
            self.clear();
            self.largest = u64::MAX;
        })?;
        self.available = self.available_now();
        Ok(())
    }

    fn available_now(&self) -> Range<u64> {
        match self.holder {
            Some(Holder::Simple) => self.simple.available(),
            Some(Holder::Transposed) => self.transposed.available(),
            None => 0..0,
        }
    }

    /// Returns the record to ask for when any that tells of the others will do: the one that takes the least to decode.
    pub(crate) fn cheapest(header: &ChunkHeader) -> u64 {
        match header.chunk_type {
            // They are stored back to front.
            ChunkType::Transposed => header.num_records.saturating_sub(1),
            _ => 0,
        }
    }

    /// Decodes a chunk. Chunks of types that hold no records are checked for that. No section may grow beyond `limit` bytes.
    /// After an error there are no records.
    pub(crate) fn decode(&mut self, header: &ChunkHeader, data: &[u8], limit: usize) -> Result<(), Damage> {
        self.decode_until(header, data, limit, u64::MAX)
    }

    /// As [`Self::decode`], where other records than that of number `wanted` may be left to [`Self::extend`].
    pub(crate) fn decode_until(
        &mut self,
        header: &ChunkHeader,
        data: &[u8],
        limit: usize,
        wanted: u64,
    ) -> Result<(), Damage> {
        self.clear();
        let (num_records, size) = (header.num_records, header.decoded_data_size);
        check_memory(header, limit)?;
        let largest = num_records.saturating_mul(16).saturating_add(size).max(self.largest);
        self.largest = u64::MAX;
        self.decode_records(header, data, limit, wanted)?;
        self.largest = largest;
        Ok(())
    }

    fn decode_records(&mut self, header: &ChunkHeader, data: &[u8], limit: usize, wanted: u64) -> Result<(), Damage> {
        let (num_records, size) = (header.num_records, header.decoded_data_size);
        let holder = match header.chunk_type {
            ChunkType::Simple => {
                self.simple.decode(data, num_records, size, limit, wanted)?;
                Holder::Simple
            }
            ChunkType::Transposed => {
                self.transposed
                    .decode(data, num_records, size, self.included.as_ref(), limit, wanted)?;
                Holder::Transposed
            }
            _ => {
                check_no_records(header)?;
                return match num_records {
                    0 => Ok(()),
                    _ => Err(Damage::UnknownChunkType {
                        chunk_type: header.chunk_type,
                        num_records,
                    }),
                };
            }
        };
        self.holder = Some(holder);
        self.num_records = num_records;
        self.available = self.available_now();
        Ok(())
    }
}

/// A decoder with the memory of the last one of its thread, and for the next one: what begins from nothing spends more on a small file,
/// in the kernel, on memory for its buffers than on the records.
pub(crate) struct SparedDecoder(ChunkDecoder);

/// The memory of a decoder is kept as long as its chunks were no larger.
const LARGEST_SPARED: u64 = 2 << 20;

thread_local! {
    static SPARE: Cell<Option<Box<ChunkDecoder>>> = const { Cell::new(None) };
}

impl SparedDecoder {
    pub(crate) fn new(projection: &FieldProjection) -> Self {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut decoder = spare.map_or_else(ChunkDecoder::default, |spare| *spare);
        decoder.set_projection(projection);
        Self(decoder)
    }
}

impl Drop for SparedDecoder {
    fn drop(&mut self) {
        if (1..=LARGEST_SPARED).contains(&self.largest) {
            let mut decoder = std::mem::take(&mut self.0);
            decoder.clear();
            // A thread that ends keeps nothing.
            let _ = SPARE.try_with(|spare| spare.set(Some(Box::new(decoder))));
        }
    }
}

impl Deref for SparedDecoder {
    type Target = ChunkDecoder;

    #[inline]
    fn deref(&self) -> &ChunkDecoder {
        &self.0
    }
}

impl DerefMut for SparedDecoder {
    #[inline]
    fn deref_mut(&mut self) -> &mut ChunkDecoder {
        &mut self.0
    }
}

impl Default for ChunkDecoder {
    fn default() -> Self {
        Self::new(&ReaderOptions::new())
    }
}

/// Refuses a chunk whose records would take more memory than `limit`, by what its header says: decoders do not go beyond that.
pub(crate) fn check_memory(header: &ChunkHeader, limit: usize) -> Result<(), Damage> {
    let copies = match header.chunk_type {
        // The values of their fields, and the records that are made of them.
        ChunkType::Transposed => 2,
        _ => 1,
    };
    let found = (header.decoded_data_size.saturating_mul(copies)).saturating_add(header.num_records.saturating_mul(9));
    match found <= limit as u64 {
        true => Ok(()),
        false => Err(Damage::TooLarge {
            what: "the memory for the records",
            limit: limit as u64,
            found,
        }),
    }
}

/// Decodes a chunk of file metadata. No section may grow beyond `limit` bytes.
pub(crate) fn decode_metadata(header: &ChunkHeader, data: &[u8], limit: usize) -> Result<Vec<u8>, Damage> {
    check_no_records(header)?;
    transposed_chunk::decode_record(data, header.decoded_data_size, limit)
}

/// Checks a chunk of a type that has no records.
pub(crate) fn check_no_records(header: &ChunkHeader) -> Result<(), Damage> {
    let fields: &[(&'static str, u64)] = match header.chunk_type {
        ChunkType::FileSignature => &[
            ("data size", header.data_size),
            ("number of records", header.num_records),
            ("decoded data size", header.decoded_data_size),
        ],
        ChunkType::FileMetadata => &[("number of records", header.num_records)],
        ChunkType::Padding => &[
            ("number of records", header.num_records),
            ("decoded data size", header.decoded_data_size),
        ],
        _ => &[],
    };
    match fields.iter().find(|(_, value)| *value != 0) {
        Some(&(field, found)) => Err(Damage::NotEmpty {
            chunk_type: header.chunk_type,
            field,
            found,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CHUNK_HEADER_SIZE, RecordReader, RecordWriter, Result, WriterOptions};

    fn file(options: &str, records: &[&[u8]]) -> Result<Vec<u8>> {
        let mut writer = RecordWriter::new(Vec::new(), options.parse::<WriterOptions>()?)?;
        records.iter().try_for_each(|record| writer.write_record(record))?;
        writer.close()
    }

    fn read(file: &[u8], fields: &str) -> Result<Vec<Vec<u8>>> {
        let mut reader = RecordReader::from_bytes(file)?;
        reader.set_field_projection(fields.parse()?)?;
        let mut records = Vec::new();
        while let Some(record) = reader.read_record()? {
            records.push(record.to_vec());
        }
        Ok(records)
    }

    fn has_spare() -> bool {
        let spare = SPARE.take();
        let has = spare.is_some();
        SPARE.set(spare);
        has
    }

    #[test]
    fn the_memory_of_a_decoder_is_used_again_and_nothing_else_of_it() -> Result<()> {
        let messages: [&[u8]; 2] = [b"\x08\x01\x12\x03abc", b"\x08\x02"];
        let (simple, transposed) = (file("zstd", &messages)?, file("transpose,zstd", &messages)?);
        assert!(!has_spare());
        for _ in 0..3 {
            assert_eq!(read(&transposed, "1")?, [&b"\x08\x01"[..], b"\x08\x02"]);
            assert!(has_spare());
            assert_eq!(read(&transposed, "root")?, messages);
            assert_eq!(read(&simple, "root")?, messages);
            assert!(read(&file("zstd", &[])?, "root")?.is_empty());
            assert!(has_spare());
        }
        // What damage or large chunks made of it is not kept.
        let mut damaged = file("uncompressed", &messages)?;
        let (header, data) = damaged.split_at_mut(64 + CHUNK_HEADER_SIZE);
        data[1] = 7;
        let header: &mut [u8; CHUNK_HEADER_SIZE] = header.last_chunk_mut().expect("a chunk");
        *header = ChunkHeader::new(ChunkType::Simple, data.len() as u64, crate::hash(data), 2, 9).to_bytes();
        assert!(read(&damaged, "root").is_err());
        assert!(!has_spare());
        read(&simple, "root")?;
        assert!(has_spare());
        let large = vec![1; 3 << 20];
        read(&file("zstd", &[&large])?, "root")?;
        assert!(!has_spare());
        Ok(())
    }
}
