//! Limits the rows of a batch of Parquet where rows are long.
//!
//! The reader makes batches of a fixed number of rows. It copies a text of a dictionary for each row that has it, so a file of a kilobyte
//! can produce batches of gigabytes.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Type;
use parquet::column::page::{Page, PageReader as _};
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::pages::PageHeader;

/// The memory of a batch of the longest rows.
const BATCH_BYTES: u64 = 16 << 20;

/// Larger dictionaries are not inspected.
const MOST_LOOKED_AT: u64 = 64 << 20;

/// Dictionaries of shorter values are not inspected.
const LONG_VALUE: u64 = 256;

/// The number of rows that a batch of a file may have, at most `batch_rows`.
///
/// # Errors
///
/// Errors of reading or decoding a dictionary page.
pub(super) fn of_a_batch(metadata: &ParquetMetaData, path: &Path, batch_rows: usize) -> Result<usize> {
    let file = Arc::new(File::open(path)?);
    let mut longest = 1;
    for group in metadata.row_groups() {
        let mut length: u64 = 0;
        for column in group.columns() {
            length = length.saturating_add(value_length(group, column, &file, batch_rows)?);
        }
        longest = longest.max(length);
    }
    let rows = usize::try_from(BATCH_BYTES / longest).unwrap_or(usize::MAX);
    Ok(rows.clamp(1, batch_rows.max(1)))
}

/// The length of a column's value in a row: the longest value of its dictionary, or the mean length.
fn value_length(
    group: &RowGroupMetaData,
    column: &ColumnChunkMetaData,
    file: &Arc<File>,
    batch_rows: usize,
) -> Result<u64> {
    let rows = u64::try_from(group.num_rows()).unwrap_or_default().max(1);
    let average = u64::try_from(column.uncompressed_size()).unwrap_or_default() / rows;
    let values = u64::try_from(column.num_values()).unwrap_or_default() / rows;
    let dictionary = match column.column_type() {
        Type::BYTE_ARRAY => longest_in_dictionary(group, column, file, rows.min(batch_rows as u64))?,
        _ => 0,
    };
    Ok(average.max(dictionary.saturating_mul(values.max(1))))
}

fn longest_in_dictionary(
    group: &RowGroupMetaData,
    column: &ColumnChunkMetaData,
    file: &Arc<File>,
    batch_rows: u64,
) -> Result<u64> {
    let Some(page) = dictionary_header(column, file)? else {
        return Ok(0);
    };
    let is_large = page.uncompressed.saturating_mul(batch_rows) > BATCH_BYTES;
    let is_long = page.uncompressed / page.dictionary_values.unwrap_or(1).max(1) >= LONG_VALUE;
    // Larger pages are refused when they are read.
    if !is_large || !is_long || page.uncompressed > MOST_LOOKED_AT {
        return Ok(0);
    }
    let rows = usize::try_from(group.num_rows()).unwrap_or_default();
    let mut pages = SerializedPageReader::new(Arc::clone(file), column, rows, None)?;
    match pages.get_next_page()? {
        Some(Page::DictionaryPage { buf, .. }) => Ok(longest(&buf)),
        _ => Ok(0),
    }
}

fn dictionary_header(column: &ColumnChunkMetaData, file: &File) -> io::Result<Option<PageHeader>> {
    const LARGEST: u64 = 256;
    let Some(at) = column.dictionary_page_offset().and_then(|at| u64::try_from(at).ok()) else {
        return Ok(None);
    };
    let mut file = file;
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(PageHeader::read(&bytes))
}

/// The longest of byte arrays, each preceded by its length.
///
/// Source: the Parquet format, `Encodings.md`, "Plain".
fn longest(mut values: &[u8]) -> u64 {
    let mut longest = 0;
    while let Some((length, rest)) = values.split_first_chunk() {
        let length = u32::from_le_bytes(*length);
        longest = longest.max(u64::from(length));
        values = rest.get(length as usize..).unwrap_or_default();
    }
    longest
}

#[cfg(test)]
mod tests {
    use arrow_array::{RecordBatch, StringArray};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::file::reader::FileReader as _;
    use parquet::file::serialized_reader::SerializedFileReader;

    use super::*;

    fn rows_of(values: Vec<String>) -> usize {
        let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, false)]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(StringArray::from(values))]);
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut writer = ArrowWriter::try_new(file.reopen().expect("open"), schema, None).expect("a writer");
        writer.write(&batch.expect("a batch")).expect("written");
        writer.close().expect("closed");
        let reader = SerializedFileReader::new(file.reopen().expect("open")).expect("Parquet");
        of_a_batch(reader.metadata(), file.path(), 8192).expect("sound pages")
    }

    #[test]
    fn batches_of_long_texts_have_fewer_rows() {
        let short: Vec<String> = (0..10_000).map(|number| format!("text {number}")).collect();
        assert_eq!(rows_of(short), 8192);
        // All rows have the same text, whose length is only in its dictionary.
        assert_eq!(rows_of(vec!["x".repeat(32 << 10); 2_000]), 512);
        let long = ('a'..='z').map(|letter| letter.to_string().repeat(4 << 20)).collect();
        assert!(rows_of(long) <= 4);
    }

    #[test]
    fn cut_values_end_the_search() {
        let values = [&3_u32.to_le_bytes()[..], b"abc", &9_u32.to_le_bytes(), b"x"].concat();
        for length in 0..values.len() {
            assert!(longest(&values[..length]) <= 9);
        }
        assert_eq!(longest(&values), 9);
        assert_eq!(longest(&values[..7]), 3);
    }
}
