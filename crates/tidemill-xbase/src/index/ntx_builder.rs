//! Builds an NTX file in one go. Its pages are those of Harbour's DBFNTX; only where two pages share their keys at the end
//! do the bytes differ, since Harbour leaves moved items where they were and turns offsets around.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::IndexDialect;
use super::btree_packer::BTreePacker;
use super::key_sorter::KeySorter;
use super::ntx::{Ntx, PAGE_LEN};
use super::order_spec::OrderSpec;
use super::page::{KeyBytes, put};

/// Makes the bytes of an NTX file, which has one order.
#[derive(Debug)]
pub(super) struct NtxBuilder {
    codepage: CodePage,
    record_count: u32,
    file: Vec<u8>,
}

impl NtxBuilder {
    /// A file for a table of `record_count` records whose expressions are in `codepage`.
    pub(super) fn new(record_count: u32, codepage: CodePage) -> Self {
        Self {
            codepage,
            record_count,
            file: Vec::new(),
        }
    }

    /// Sets the order to one with the keys that a [`KeySorter`] for it has been given.
    ///
    /// # Errors
    /// As [`IndexBuilder::add`](super::IndexBuilder::add).
    pub(super) fn add(&mut self, order: &OrderSpec, keys: KeySorter) -> Result<()> {
        if !self.file.is_empty() {
            return Err(order.refuse("an NTX file has one order, and there is one already"));
        }
        let codec = order.codec(IndexDialect::Ntx)?;
        let (layout, mut file) = Ntx::for_order(order, self.codepage)?;
        let bytes = KeyBytes::plain(order.key_len, codec.trail());
        let mut packer = BTreePacker::new(0, &mut file, &layout, bytes, self.record_count);
        keys.finish(|key, recno| packer.add(key, recno))?;
        let root = packer.finish(true)?;
        put(&mut file, 4, &root.to_le_bytes());
        self.file = file;
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] when it has no order.
    pub(super) fn finish(self) -> Result<Vec<u8>> {
        if self.file.len() < PAGE_LEN {
            return Err(Error::Misuse("an NTX file without an order".to_owned()));
        }
        Ok(self.file)
    }
}
