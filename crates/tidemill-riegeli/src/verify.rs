//! Verification: every hash and every chunk of a file.

use std::path::Path;

use crate::{ReaderOptions, RecordReader, Result, SkippedRegion, error::Error};

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
    let mut reader = RecordReader::open(path, &ReaderOptions::new().recover(true))?;
    verify_reader(&mut reader)
}

fn verify_reader<S: crate::Source>(reader: &mut RecordReader<S>) -> Result<Verification> {
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
