//! Builds an MDX file in one go: behind the header of the file each tag with its header and its tree.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::IndexDialect;
use super::bplus_packer::BPlusPacker;
use super::key_sorter::KeySorter;
use super::mdx::{ListedTag, MdxFile, PAGE_UNIT, TAGS_MAX};
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
        let known = self.tags.iter().map(|tag| tag.name.as_slice());
        let name = self.kind.name(order, self.codepage, known, TAGS_MAX)?;
        let (header, bytes) = self.kind.tag_header(order, self.codepage)?;
        let (at, header_len) = (self.file.len(), header.len());
        let page = u32::try_from(at as u64 / PAGE_UNIT).map_err(|_| too_large())?;
        let tag = ListedTag::new(name, page, &header);
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
        self.tags.push(tag);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::mdx::HEADER_LEN;
    use crate::index::page::{put, put_u16};
    use crate::index::{Collation, Direction, Index, IndexOptions, KeyType};

    #[test]
    fn a_file_of_dbase_7_has_long_names_and_one_of_long_blocks_has_long_pages() {
        for (version, item_len, pages, name) in [
            (3, 48, 2, "A_NAME_OF_MORE_THAN_TEN_BYTES"),
            (3, 32, 2, "SHORT"),
            (2, 32, 1, "SHORT"),
            (2, 32, 3, "SHORT"),
            (2, 32, 63, "SHORT"),
        ] {
            let mut header = vec![0; HEADER_LEN];
            put(&mut header, 0, &[version]);
            put_u16(&mut header, 20, pages);
            put_u16(&mut header, 22, pages * 512);
            put(&mut header, 26, &[item_len]);
            let kind = MdxFile::like(&header).unwrap();
            let mut builder = MdxBuilder::new(kind, CodePage::Cp437);
            for (name, key_type, key_len) in [(name, KeyType::Character, 20), ("DAY", KeyType::Date, 8)] {
                let spec = OrderSpec::new(name, "X").keys(key_type, key_len);
                let mut keys = KeySorter::new(&spec, IndexDialect::Mdx, 5000).unwrap();
                for recno in 1..=3000_u32 {
                    let key = match key_type {
                        KeyType::Character => format!("{:020}", recno.wrapping_mul(2_654_435_761)).into_bytes(),
                        _ => crate::index::key::sortable(f64::from(2_450_000 + recno % 500)).to_vec(),
                    };
                    keys.push(&key, recno).unwrap();
                }
                builder.add(&spec, keys).unwrap();
            }
            let index = Index::from_bytes(builder.finish().unwrap(), IndexDialect::Mdx, &IndexOptions::new()).unwrap();
            assert_eq!(
                (index.page_len(), index.tags()[0].name.as_str()),
                (pages as u64 * 512, name)
            );
            let orders = [(name, KeyType::Character), ("DAY", KeyType::Date)]
                .map(|(name, key_type)| index.order(name, key_type, &Collation::binary()).unwrap());
            assert_eq!(index.verify(&orders, Some(3000)).unwrap(), [], "{version} {pages}");
            for order in orders {
                assert_eq!(order.walk(Direction::Backward).map(Result::unwrap).count(), 3000);
            }
        }
    }
}
