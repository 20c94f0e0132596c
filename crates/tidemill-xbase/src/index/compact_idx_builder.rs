//! Builds a compact IDX file: the header of the order is that of the file, and its pages are those of a CDX.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::IndexDialect;
use super::cdx::OPTION_COMPOUND;
use super::cdx_builder::{Packer, Shape, order_header};
use super::key_sorter::KeySorter;
use super::order_spec::OrderSpec;
use super::page::{NO_PAGE, put};

/// Makes the bytes of a file of one order.
#[derive(Debug)]
pub(super) struct CompactIdxBuilder {
    record_count: u32,
    codepage: CodePage,
    file: Vec<u8>,
}

impl CompactIdxBuilder {
    /// A file for a table of `record_count` records whose expressions are in `codepage`.
    pub(super) fn new(record_count: u32, codepage: CodePage) -> Self {
        Self {
            record_count,
            codepage,
            file: Vec::new(),
        }
    }

    /// Sets the order to one with the keys that a [`KeySorter`] for it has been given.
    ///
    /// # Errors
    /// As [`IndexBuilder::add`](super::IndexBuilder::add).
    pub(super) fn add(&mut self, order: &OrderSpec, keys: KeySorter) -> Result<()> {
        if !self.file.is_empty() {
            return Err(order.refuse("the file has one order, and there is one already"));
        }
        let codec = order.codec(IndexDialect::Idx)?;
        if order.is_custom {
            return Err(order.refuse("a file of this format has no custom orders"));
        }
        if !(1..=KEY_LEN_MAX).contains(&order.key_len) {
            return Err(order.refuse_key_len(KEY_LEN_MAX));
        }
        let mut file = order_header(order, self.codepage, Shape::CDX)?;
        if let Some(options) = file.get_mut(OPTIONS_AT) {
            *options &= !OPTION_COMPOUND;
        }
        put(&mut file, 4, &NO_PAGE.to_le_bytes());
        let mut packer = Packer::new(&mut file, None, order.key_len, codec.trail(), self.record_count);
        keys.finish(|key, recno| {
            packer.add(key, recno);
            Ok(())
        })?;
        let root = packer.finish();
        let root = u32::try_from(root).map_err(|_| Error::Misuse("an IDX file of more than 4 GiB".to_owned()))?;
        put(&mut file, 0, &root.to_le_bytes());
        self.file = file;
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] when it has no order.
    pub(super) fn finish(self) -> Result<Vec<u8>> {
        if self.file.is_empty() {
            return Err(Error::Misuse("an IDX file without an order".to_owned()));
        }
        Ok(self.file)
    }
}

const OPTIONS_AT: usize = 14;
/// The longest key that FoxPro makes.
const KEY_LEN_MAX: usize = 240;
