//! Builds an index file of any format.

use std::path::Path;

use crate::codepage::CodePage;
use crate::error::Result;

use super::cdx;
use super::cdx_builder::CdxBuilder;
use super::compact_idx_builder::CompactIdxBuilder;
use super::key_sorter::KeySorter;
use super::mdx::{self, MdxFile};
use super::mdx_builder::MdxBuilder;
use super::nsx_builder::NsxBuilder;
use super::ntx_builder::NtxBuilder;
use super::order_spec::OrderSpec;
use super::page::PageFormat;
use super::single_builder::SingleBuilder;
use super::{Index, IndexDialect};

/// Makes the bytes of an index file, order by order.
///
/// ```
/// use tidemill_xbase::CodePage;
/// use tidemill_xbase::index::{Index, IndexBuilder, IndexDialect, IndexOptions, KeyType, OrderSpec};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = IndexBuilder::new(IndexDialect::Nsx, 2, CodePage::Cp437);
/// let order = OrderSpec::new("CODE", "CODE").keys(KeyType::Character, 2);
/// let mut keys = builder.keys(&order)?.memory_limit(1 << 20);
/// keys.push(b"B ", 1)?;
/// keys.push(b"A ", 2)?;
/// builder.add(&order, keys)?;
/// let index = Index::from_bytes(builder.finish()?, IndexDialect::Nsx, &IndexOptions::new())?;
/// assert_eq!(index.tags()[0].expression, "CODE");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct IndexBuilder {
    format: Format,
    record_count: u32,
}

#[derive(Debug)]
enum Format {
    Cdx(CdxBuilder),
    Ntx(NtxBuilder),
    Nsx(NsxBuilder),
    Mdx(MdxBuilder),
    /// NDX, and IDX that is not compact.
    Single(SingleBuilder),
    CompactIdx(CompactIdxBuilder),
}

impl IndexBuilder {
    /// A file for a table of `record_count` records whose expressions are in `codepage`.
    pub fn new(dialect: IndexDialect, record_count: u32, codepage: CodePage) -> Self {
        let format = match dialect {
            IndexDialect::Cdx => Format::Cdx(CdxBuilder::new(record_count, codepage)),
            IndexDialect::Adi => Format::Cdx(CdxBuilder::adi(cdx::PAGE_LEN, record_count, codepage)),
            IndexDialect::Ntx => Format::Ntx(NtxBuilder::new(record_count, codepage)),
            IndexDialect::Nsx => Format::Nsx(NsxBuilder::new(record_count, codepage)),
            IndexDialect::Mdx => Format::Mdx(MdxBuilder::new(MdxFile::new(), codepage)),
            IndexDialect::Ndx => Format::Single(SingleBuilder::new(dialect, codepage)),
            IndexDialect::Idx => Format::CompactIdx(CompactIdxBuilder::new(record_count, codepage)),
        };
        Self { format, record_count }
    }

    /// A file in the place of another one, with what the header of that says of the file itself: the length of blocks in an MDX, and
    /// whether an IDX is compact.
    pub(crate) fn like(old: &Index, record_count: u32, codepage: CodePage) -> Result<Self> {
        let header = |len| {
            let mut window = Vec::new();
            let header = old.source.read("index header", 0, len, &mut window)?;
            Ok(header.to_vec())
        };
        let old = (old.path(), old.dialect, old.is_compact());
        Self::like_file(old, header, record_count, codepage)
    }

    /// As [`IndexBuilder::like`], of a file at a path, with its format, whether its pages are those of a CDX, and so many bytes of
    /// its header.
    pub(super) fn like_file(
        (path, dialect, is_compact): (&Path, IndexDialect, bool),
        header: impl FnOnce(usize) -> Result<Vec<u8>>,
        record_count: u32,
        codepage: CodePage,
    ) -> Result<Self> {
        let format = match dialect {
            IndexDialect::Mdx => {
                let kind = MdxFile::like(&header(mdx::HEADER_LEN)?);
                let kind = kind.map_err(|fault| fault.into_error(path, 0))?;
                Format::Mdx(MdxBuilder::new(kind, codepage))
            }
            IndexDialect::Adi => {
                let layout = cdx::Cdx::from_adi_header(&header(cdx::HEADER_LEN)?);
                let layout = layout.map_err(|fault| fault.into_error(path, 0))?;
                Format::Cdx(CdxBuilder::adi(PageFormat::page_len(&layout), record_count, codepage))
            }
            IndexDialect::Idx if !is_compact => Format::Single(SingleBuilder::new(dialect, codepage)),
            dialect => return Ok(Self::new(dialect, record_count, codepage)),
        };
        Ok(Self { format, record_count })
    }

    /// What sorts the keys of an order of this file.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a length that keys of the order's type do not have.
    pub fn keys(&self, order: &OrderSpec) -> Result<KeySorter> {
        KeySorter::new(order, self.dialect(), self.record_count)
    }

    /// Adds an order with its keys.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a name or an expression that the file cannot hold, a name that is there
    /// already, more orders than the format has, and a file that grows too large; [`Error::Io`](crate::Error::Io) when the keys
    /// were sorted in a file that cannot be read any more.
    pub fn add(&mut self, order: &OrderSpec, keys: KeySorter) -> Result<()> {
        match &mut self.format {
            Format::Cdx(builder) => builder.add(order, keys),
            Format::Ntx(builder) => builder.add(order, keys),
            Format::Nsx(builder) => builder.add(order, keys),
            Format::Mdx(builder) => builder.add(order, keys),
            Format::Single(builder) => builder.add(order, keys),
            Format::CompactIdx(builder) => builder.add(order, keys),
        }
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a file that grows too large, and one of a single order without it.
    pub fn finish(self) -> Result<Vec<u8>> {
        match self.format {
            Format::Cdx(builder) => builder.finish(),
            Format::Ntx(builder) => builder.finish(),
            Format::Nsx(builder) => builder.finish(),
            Format::Mdx(builder) => builder.finish(),
            Format::Single(builder) => builder.finish(),
            Format::CompactIdx(builder) => builder.finish(),
        }
    }

    fn dialect(&self) -> IndexDialect {
        match &self.format {
            Format::Cdx(builder) => builder.dialect(),
            Format::Ntx(_) => IndexDialect::Ntx,
            Format::Nsx(_) => IndexDialect::Nsx,
            Format::Mdx(_) => IndexDialect::Mdx,
            Format::Single(builder) => builder.dialect(),
            Format::CompactIdx(_) => IndexDialect::Idx,
        }
    }
}
