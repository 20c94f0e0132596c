//! Verification: every hash and every chunk of a file.

use std::path::Path;

use crate::{ReaderOptions, RecordReader, Result, SkippedRegion, Source, error::Error};

/// What is in a file and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Records in chunks that are sound.
    pub records: u64,
    /// What could not be read, in the order of the file.
    pub damaged: Vec<SkippedRegion>,
}

/// Reads all of the file at `path`, going on behind damage, and decodes every record.
///
/// # Errors
/// [`Error::Io`]; [`Error::Limit`]; [`Error::Unsupported`] for codecs and chunk types that are not known.
pub fn verify(path: impl AsRef<Path>) -> Result<Verification, Error> {
    verify_reader(RecordReader::open(path, &ReaderOptions::new().recover(true))?)
}

/// Reads all of a source, which errors call `name`, as [`verify`] does.
///
/// # Errors
/// As [`verify`].
pub fn verify_source<S: Source>(source: S, name: &str) -> Result<Verification> {
    verify_reader(RecordReader::from_source(
        source,
        name,
        &ReaderOptions::new().recover(true),
    )?)
}

fn verify_reader<S: Source>(mut reader: RecordReader<S>) -> Result<Verification> {
    let mut records = 0_u64;
    while let Some(count) = reader.verify_chunk()? {
        records = records.saturating_add(count);
    }
    reader.check_end()?;
    Ok(Verification {
        records,
        damaged: reader.skipped().to_vec(),
    })
}
