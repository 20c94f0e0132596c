//! Builds an NSX file in one go, order by order: files of Harbour's DBFNSX come out byte for byte, but for what is left over
//! in pages that it used before.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::IndexDialect;
use super::btree_packer::BTreePacker;
use super::key_sorter::KeySorter;
use super::nsx::{Nsx, PAGE_LEN};
use super::order_spec::OrderSpec;
use super::page::{KeyBytes, put};

/// Makes the bytes of an NSX file, order by order.
#[derive(Debug)]
pub(super) struct NsxBuilder {
    codepage: CodePage,
    record_count: u32,
    file: Vec<u8>,
    /// The names and the pages of their headers.
    names: Vec<(Vec<u8>, u32)>,
}

impl NsxBuilder {
    /// A file for a table of `record_count` records whose expressions are in `codepage`.
    pub(super) fn new(record_count: u32, codepage: CodePage) -> Self {
        Self {
            codepage,
            record_count,
            file: vec![0; PAGE_LEN],
            names: Vec::new(),
        }
    }

    /// Adds an order with the keys that a [`KeySorter`] for it has been given.
    ///
    /// # Errors
    /// As [`IndexBuilder::add`](super::IndexBuilder::add).
    pub(super) fn add(&mut self, order: &OrderSpec, keys: KeySorter) -> Result<()> {
        let codec = order.codec(IndexDialect::Nsx)?;
        let name = Nsx::name(order, self.codepage, self.names.iter().map(|(name, _)| name.as_slice()))?;
        let header = Nsx::tag_header(order, self.codepage)?;
        let at = self.file.len();
        self.file.extend_from_slice(&header);
        let bytes = KeyBytes::plain(order.key_len, codec.trail());
        let layout = Nsx::small();
        let mut packer = BTreePacker::new(0, &mut self.file, &layout, bytes, self.record_count);
        let packed = keys.finish(|key, recno| packer.add(key, recno));
        let place = || u32::try_from(at).map_err(|_| Error::Misuse("an NSX file of more than 4 GiB".to_owned()));
        let done = packed.and_then(|()| Ok((packer.finish(false)?, place()?)));
        match done {
            Ok((root, header)) => {
                put(&mut self.file, at + 2, &root.to_le_bytes());
                self.names.push((name, header));
                Ok(())
            }
            Err(e) => {
                self.file.truncate(at);
                Err(e)
            }
        }
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a file that grows beyond 4 GiB.
    pub(super) fn finish(mut self) -> Result<Vec<u8>> {
        let end = u32::try_from(self.file.len());
        let end = end.map_err(|_| Error::Misuse("an NSX file of more than 4 GiB".to_owned()))?;
        let header = Nsx::file_header(&self.names, end);
        put(&mut self.file, 0, &header);
        Ok(self.file)
    }
}
