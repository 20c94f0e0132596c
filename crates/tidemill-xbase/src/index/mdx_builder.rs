//! Builds an MDX file in one go: behind the header of the file each tag with its header and its tree.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::IndexDialect;
use super::bplus_packer::BPlusPacker;
use super::key_sorter::KeySorter;
use super::mdx::{ListedTag, MdxFile, PAGE_UNIT};
use super::order_spec::OrderSpec;

/// Makes the bytes of an MDX file, order by order.
#[derive(Debug)]
pub(super) struct MdxBuilder {
    codepage: CodePage,
    kind: MdxFile,
    file: Vec<u8>,
    tags: Vec<ListedTag>,
}

impl MdxBuilder {
    /// A file whose expressions are in `codepage`.
    pub(super) fn new(kind: MdxFile, codepage: CodePage) -> Self {
        Self {
            file: vec![0; kind.header_len()],
            codepage,
            kind,
            tags: Vec::new(),
        }
    }

    /// Adds an order with the keys that a [`KeySorter`] for it has been given.
    ///
    /// # Errors
    /// As [`IndexBuilder::add`](super::IndexBuilder::add).
    pub(super) fn add(&mut self, order: &OrderSpec, keys: KeySorter) -> Result<()> {
        order.codec(IndexDialect::Mdx)?;
        let name = self.kind.name(order, self.codepage, &self.tags)?;
        let (header, bytes) = self.kind.tag_header(order, self.codepage)?;
        let (at, header_len) = (self.file.len(), header.len());
        let page = u32::try_from(at as u64 / PAGE_UNIT).map_err(|_| too_large())?;
        let [format, letter] = [8, 9].map(|at| header.get(at).copied().unwrap_or_default());
        self.file.extend_from_slice(&header);
        let mut packer = BPlusPacker::new(0, &mut self.file, &self.kind.layout, bytes);
        let packed = keys.finish(|key, recno| packer.add(key, recno));
        let packed = packed.and_then(|()| packer.finish());
        let tree = match packed {
            Ok(tree) => tree,
            Err(e) => {
                self.file.truncate(at);
                return Err(e);
            }
        };
        let tree_len = self.file.len() - at - header_len;
        let header = self.file.get_mut(at..at + header_len).unwrap_or_default();
        self.kind.put_tree(header, tree, tree_len);
        self.tags.push(ListedTag {
            name,
            page,
            format,
            letter,
        });
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a file that grows beyond what page numbers reach.
    pub(super) fn finish(mut self) -> Result<Vec<u8>> {
        u32::try_from(self.file.len() as u64 / PAGE_UNIT).map_err(|_| too_large())?;
        self.kind.put_header(&mut self.file, &self.tags);
        Ok(self.file)
    }
}

fn too_large() -> Error {
    Error::Misuse("an MDX file of more than 2 TiB".to_owned())
}
