//! Builds the files of one order whose branches hold keys without records: NDX, and IDX that is not compact.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::IndexDialect;
use super::bplus_packer::BPlusPacker;
use super::idx::Idx;
use super::key_sorter::KeySorter;
use super::ndx::Ndx;
use super::order_spec::OrderSpec;

/// Makes the bytes of a file of one order.
#[derive(Debug)]
pub(super) struct SingleBuilder {
    dialect: IndexDialect,
    codepage: CodePage,
    file: Vec<u8>,
}

impl SingleBuilder {
    /// A file in one of the two formats whose expressions are in `codepage`.
    pub(super) fn new(dialect: IndexDialect, codepage: CodePage) -> Self {
        Self {
            dialect,
            codepage,
            file: Vec::new(),
        }
    }

    pub(super) fn dialect(&self) -> IndexDialect {
        self.dialect
    }

    /// Sets the order to one with the keys that a [`KeySorter`] for it has been given.
    ///
    /// # Errors
    /// As [`IndexBuilder::add`](super::IndexBuilder::add).
    pub(super) fn add(&mut self, order: &OrderSpec, keys: KeySorter) -> Result<()> {
        if !self.file.is_empty() {
            return Err(order.refuse("the file has one order, and there is one already"));
        }
        let codec = order.codec(self.dialect)?;
        if order.is_custom {
            return Err(order.refuse("a file of this format has no custom orders"));
        }
        let is_ndx = self.dialect == IndexDialect::Ndx;
        let (mut file, bytes) = match is_ndx {
            true => Ndx::header(order, self.codepage)?,
            false => Idx::header(order, self.codepage, codec.trail())?,
        };
        let mut packer = match is_ndx {
            true => BPlusPacker::new(0, &mut file, &Ndx, bytes),
            false => BPlusPacker::new(0, &mut file, &Idx, bytes),
        };
        keys.finish(|key, recno| packer.add(key, recno))?;
        let root = packer.finish()?.root;
        match is_ndx {
            true => Ndx::put_tree(&mut file, root),
            false => Idx::put_tree(&mut file, root),
        }
        self.file = file;
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] when it has no order, and for an IDX of more than 4 GiB.
    pub(super) fn finish(self) -> Result<Vec<u8>> {
        if self.file.is_empty() {
            return Err(Error::Misuse("an index file of one order without it".to_owned()));
        }
        Ok(self.file)
    }
}
