//! Verification: every hash and every chunk of a file, and the index of an ArrayRecord file.

use std::path::Path;

use crate::{ReaderOptions, RecordReader, Result, SkippedRegion, Source, array_record::Ending, error::Error};

/// What is in a file and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// Records in chunks that are sound. The footer and the postscript of an ArrayRecord file are none.
    pub records: u64,
    /// What could not be read, and where the footer of an ArrayRecord file disagrees with its chunks, in the order of the file.
    pub damaged: Vec<SkippedRegion>,
}

/// Reads all of the file at `path`, continuing after damage, and decodes the metadata and every record. An ArrayRecord
/// file must have the chunks that its footer says, with as many records and bytes of them, and a postscript: where that is missing
/// after a footer, it is damage.
///
/// # Errors
/// [`Error::Io`]; [`Error::Limit`]; [`Error::Unsupported`] for codecs and chunk types that are not known.
pub fn verify(path: impl AsRef<Path>) -> Result<Verification, Error> {
    verify_reader(RecordReader::open(path, &ReaderOptions::new().recover(true))?)
}

/// Reads all of a source, which errors call `name`, as [`verify`] does. Of a stream the footer is known by
/// what is in it, and not compared.
///
/// # Errors
/// As [`verify`].
pub fn verify_source<S: Source>(source: S, name: &str) -> Result<Verification> {
    verify_source_within(source, name, &ReaderOptions::new())
}

/// [`verify_source`] within the limits of these options ([`ReaderOptions::max_expansion`], [`ReaderOptions::max_chunk_size`]).
///
/// # Errors
/// As [`verify`].
pub fn verify_source_within<S: Source>(source: S, name: &str, limits: &ReaderOptions) -> Result<Verification> {
    verify_reader(RecordReader::from_source(source, name, &limits.clone().recover(true))?)
}

fn verify_reader<S: Source>(mut reader: RecordReader<S>) -> Result<Verification> {
    let metadata = reader.metadata_damage()?;
    let ending = reader.find_ending()?;
    let footer = ending.footer();
    if !reader.supports_random_access() || matches!(ending, Ending::Unknown(_)) {
        reader.pass_index();
    }
    let mut records = 0_u64;
    let mut chunks = Vec::new();
    while let Some(chunk) = reader.verify_chunk()? {
        match footer {
            None => {}
            Some(footer) if chunk.begin < footer => chunks.push(chunk),
            // The footer and the postscript.
            Some(_) => continue,
        }
        records = records.saturating_add(chunk.num_records);
    }
    reader.check_end()?;
    let mut damaged = reader.skipped().to_vec();
    if let Some(metadata) = metadata
        && !damaged
            .iter()
            .any(|region| region.begin <= metadata.begin && metadata.begin < region.end)
    {
        damaged.push(metadata);
        damaged.sort_by_key(|region| region.begin);
    }
    if let Ending::NoPostscript(lost) = ending {
        // What is wrong with what is left of it is the same damage.
        damaged.retain(|region| region.begin < lost.footer_end);
        damaged.push(lost.region());
    }
    if let Some(footer) = footer {
        damaged.extend(reader.footer_disagreements(footer, &chunks)?);
        damaged.sort_by_key(|region| region.begin);
    }
    Ok(Verification { records, damaged })
}
