//! Checks pages of Parquet before they are decompressed: a file of a few kilobytes may have a page of gigabytes.
//!
//! The Parquet reader allocates the size in a page's header. Here the headers are read when the bytes of a row group arrive. The largest
//! page of each column counts, because all columns are decoded at the same time.
//!
//! Source: the Parquet format's `parquet.thrift`, struct `PageHeader`; Thrift's compact protocol, `thrift-compact-protocol.md`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use object_store::path::Path;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;

use super::expansion::Expansion;
use crate::Error;

/// Creates readers with a limit on the size of pages.
#[derive(Debug)]
pub(super) struct Bounded {
    pub(super) inner: Arc<dyn ParquetFileReaderFactory>,
    /// The files by their paths in their store.
    pub(super) names: Arc<HashMap<Path, String>>,
    /// In bytes.
    pub(super) max_expansion: u64,
}

impl ParquetFileReaderFactory for Bounded {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        metadata_size_hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        let place = &file.object_meta.location;
        let name = self.names.get(place).cloned().unwrap_or_else(|| place.to_string());
        let inner = self.inner.create_reader(partition, file, metadata_size_hint, metrics)?;
        Ok(Box::new(BoundedReader {
            inner,
            name,
            max_expansion: self.max_expansion,
        }))
    }
}

struct BoundedReader {
    inner: Box<dyn AsyncFileReader + Send>,
    name: String,
    max_expansion: u64,
}

impl AsyncFileReader for BoundedReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        self.inner.get_bytes(range)
    }

    /// Reads pages of the columns of a row group.
    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        async move {
            let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
            let chunks = self.inner.get_byte_ranges(ranges).await?;
            self.check(&starts, &chunks)?;
            Ok(chunks)
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        self.inner.get_metadata(options)
    }
}

impl BoundedReader {
    fn check(&self, starts: &[u64], chunks: &[Bytes]) -> ParquetResult<()> {
        let stored = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        let mut needed: u64 = 0;
        for (start, chunk) in starts.iter().zip(chunks) {
            let Some((at, size)) = largest_page(chunk) else {
                continue;
            };
            needed = needed.saturating_add(size);
            if let Some(expansion) = Expansion::of(start + at as u64, stored, needed, self.max_expansion) {
                let too_large = Error::TooLarge {
                    place: self.name.clone(),
                    what: expansion.to_string(),
                };
                return Err(ParquetError::External(Box::new(too_large)));
            }
        }
        Ok(())
    }
}

/// The offset of the largest of these pages, and its decompressed size. Bytes after an invalid header are left to the decoder.
fn largest_page(mut bytes: &[u8]) -> Option<(usize, u64)> {
    let whole = bytes.len();
    let mut largest: Option<(usize, u64)> = None;
    while let Some(page) = PageHeader::read(bytes) {
        let place = whole - bytes.len();
        if largest.is_none_or(|(_, size)| size < page.uncompressed) {
            largest = Some((place, page.uncompressed));
        }
        match page
            .length
            .checked_add(page.compressed)
            .and_then(|length| bytes.get(length..))
        {
            Some(rest) => bytes = rest,
            None => break,
        }
    }
    largest
}

pub(super) struct PageHeader {
    /// The length of the header itself.
    length: usize,
    pub(super) uncompressed: u64,
    compressed: usize,
    /// The number of values in a dictionary page.
    pub(super) dictionary_values: Option<u64>,
}

impl PageHeader {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Compact { bytes };
        let (mut uncompressed, mut compressed, mut dictionary_values) = (None, None, None);
        let mut id = 0;
        while let Some(kind) = reader.field(&mut id)? {
            match (id, kind) {
                (2, I32) => uncompressed = Some(u64::try_from(reader.integer()?).ok()?),
                (3, I32) => compressed = Some(usize::try_from(reader.integer()?).ok()?),
                (7, STRUCT) => dictionary_values = Some(reader.first_number()?),
                _ => reader.skip(kind, MAX_DEPTH)?,
            }
        }
        Some(Self {
            length: bytes.len() - reader.bytes.len(),
            uncompressed: uncompressed?,
            compressed: compressed?,
            dictionary_values,
        })
    }
}

const I32: u8 = 5;
const STRUCT: u8 = 12;
const MAX_DEPTH: usize = 16;

/// A reader of Thrift's compact protocol. Each method returns `None` if the bytes end or are invalid.
struct Compact<'b> {
    bytes: &'b [u8],
}

impl Compact<'_> {
    /// The type of the next field; `Some(None)` at the end of a struct.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        let (delta, kind) = (head >> 4, head & 0x0f);
        if kind == 0 {
            return Some(None);
        }
        *id = match delta {
            0 => self.integer()?,
            delta => id.checked_add(i64::from(delta))?,
        };
        Some(Some(kind))
    }

    /// The first field of a struct, a whole number that is not negative.
    fn first_number(&mut self) -> Option<u64> {
        let (mut id, mut number) = (0, None);
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (1, I32) => number = Some(u64::try_from(self.integer()?).ok()?),
                _ => self.skip(kind, MAX_DEPTH)?,
            }
        }
        number
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // The value of a Boolean field is in its type.
            1 | 2 => {}
            3 => {
                self.byte()?;
            }
            4..=6 => {
                self.varint()?;
            }
            7 => self.pass(8)?,
            8 => {
                let length = self.varint()?;
                self.pass(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let number = match head >> 4 {
                    15 => self.varint()?,
                    number => u64::from(number),
                };
                for _ in 0..number {
                    self.skip_element(head & 0x0f, depth)?;
                }
            }
            11 => {
                let number = self.varint()?;
                let kinds = if number > 0 { self.byte()? } else { 0 };
                for _ in 0..number {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 0x0f, depth)?;
                }
            }
            STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Skips an element of a list or a map, in which a Boolean takes a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => self.pass(1),
            kind => self.skip(kind, depth),
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn pass(&mut self, length: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A zigzag-encoded whole number.
    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::{PageHeader, largest_page};

    /// A dictionary page of 5 bytes that expand to 300, with a struct, a list and a text to skip.
    const HEADER: &[u8] = &[
        0x15, 0x04, // 1: type
        0x15, 0xd8, 0x04, // 2: uncompressed size
        0x15, 0x0a, // 3: compressed size
        0x2c, 0x15, 0x02, 0x18, 0x02, b'a', b'b', 0x19, 0x25, 0x02, 0x04, 0x00, // 5: a struct
        0x2c, 0x15, 0x0e, 0x15, 0x00, 0x00, // 7: of a dictionary page, with 7 values
        0x00,
    ];

    #[test]
    fn headers_are_read() {
        let page = PageHeader::read(HEADER).expect("a header");
        assert_eq!(
            (page.length, page.uncompressed, page.compressed),
            (HEADER.len(), 300, 5)
        );
        assert_eq!(page.dictionary_values, Some(7));
        for length in 0..HEADER.len() {
            assert!(PageHeader::read(&HEADER[..length]).is_none(), "{length} bytes");
        }
    }

    #[test]
    fn the_largest_page_is_found() {
        let small = [0x15, 0x00, 0x15, 0x02, 0x15, 0x02, 0x00, b'x'];
        let pages = [&small, HEADER, &[0; 5], &small[..]].concat();
        assert_eq!(largest_page(&pages), Some((small.len(), 300)));
        assert_eq!(largest_page(b"no page"), None);
    }
}
