//! What a writer fills with records and makes a chunk of, whatever kind of chunk that is.
//!
//! An encoder owns its buffers and can move to another thread, between any two calls: `add_record`, then `encode`, then
//! `encoded`, which lends what is to be written, then `clear`, which keeps the memory for the next chunk.
//!
//! A deferred encoder only collects records, so that taking them apart can happen on another thread too.
//!
//! When a chunk is full is not decided here.

use crate::{
    WriterOptions, chunk_header::ChunkType, error::Damage, simple_chunk::SimpleEncoder,
    transposed_chunk::TransposedEncoder,
};

/// Collects the records of a chunk and encodes them.
pub(crate) enum ChunkEncoder {
    Simple(Box<SimpleEncoder>),
    Transposed(Box<TransposedEncoder>),
    Deferred(Box<DeferredEncoder>),
}

/// Records of a chunk that an encoder gets when they are to be encoded.
pub(crate) struct DeferredEncoder {
    records: Vec<u8>,
    limits: Vec<usize>,
    encoder: TransposedEncoder,
}

/// An encoded chunk. Its data are the parts one after another.
pub(crate) struct EncodedChunk<'a> {
    pub(crate) chunk_type: ChunkType,
    pub(crate) parts: [&'a [u8]; 2],
    pub(crate) num_records: u64,
    pub(crate) decoded_data_size: u64,
}

impl ChunkEncoder {
    /// Returns an encoder for the chunks that the options ask for.
    pub(crate) fn new(options: &WriterOptions) -> Self {
        let compression = options.compression;
        if options.transpose {
            Self::Transposed(Box::new(TransposedEncoder::new(compression, options.bucket_size())))
        } else {
            Self::Simple(Box::new(SimpleEncoder::new(
                compression,
                options.effective_chunk_size(),
            )))
        }
    }

    /// Makes adding a record as cheap as it can be, at the cost of a copy when the chunk is encoded.
    pub(crate) fn deferred(self) -> Self {
        match self {
            Self::Transposed(encoder) => Self::Deferred(Box::new(DeferredEncoder {
                records: Vec::new(),
                limits: Vec::new(),
                encoder: *encoder,
            })),
            other => other,
        }
    }

    /// Adds a record.
    pub(crate) fn add_record(&mut self, record: &[u8]) {
        match self {
            Self::Simple(encoder) => encoder.add_record(record),
            Self::Transposed(encoder) => encoder.add_record(record),
            Self::Deferred(_) => self.add_record_parts(&[record]),
        }
    }

    /// Adds a record that consists of `parts`.
    pub(crate) fn add_record_parts(&mut self, parts: &[&[u8]]) {
        match self {
            Self::Simple(encoder) => encoder.add_record_parts(parts),
            Self::Transposed(encoder) => encoder.add_record_parts(parts),
            Self::Deferred(deferred) => {
                for part in parts {
                    deferred.records.extend_from_slice(part);
                }
                deferred.limits.push(deferred.records.len());
            }
        }
    }

    /// Returns the number of records that were added.
    pub(crate) fn num_records(&self) -> u64 {
        match self {
            Self::Simple(encoder) => encoder.num_records(),
            Self::Transposed(encoder) => encoder.num_records(),
            Self::Deferred(deferred) => deferred.limits.len() as u64,
        }
    }

    /// Returns the sum of the sizes of the records that were added.
    pub(crate) fn decoded_data_size(&self) -> u64 {
        match self {
            Self::Simple(encoder) => encoder.decoded_data_size(),
            Self::Transposed(encoder) => encoder.decoded_data_size(),
            Self::Deferred(deferred) => deferred.records.len() as u64,
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
            Self::Deferred(deferred) => {
                let mut start = 0;
                for &limit in &deferred.limits {
                    deferred.encoder.add_record(&deferred.records[start..limit]);
                    start = limit;
                }
                deferred.encoder.encode()
            }
        }
    }

    /// Lends the chunk that [`Self::encode`] made.
    pub(crate) fn encoded(&self) -> EncodedChunk<'_> {
        let (chunk_type, parts) = match self {
            Self::Simple(encoder) => (ChunkType::Simple, encoder.encoded_parts()),
            Self::Transposed(encoder) => (ChunkType::Transposed, encoder.encoded_parts()),
            Self::Deferred(deferred) => (ChunkType::Transposed, deferred.encoder.encoded_parts()),
        };
        EncodedChunk {
            chunk_type,
            parts,
            num_records: self.num_records(),
            decoded_data_size: self.decoded_data_size(),
        }
    }

    /// Drops the records and what was encoded, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Simple(encoder) => encoder.clear(),
            Self::Transposed(encoder) => encoder.clear(),
            Self::Deferred(deferred) => {
                deferred.records.clear();
                deferred.limits.clear();
                deferred.encoder.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoders_move_between_threads() {
        fn moves<T: Send>() {}
        moves::<ChunkEncoder>();
    }
}
