//! Orders that are added to an index file of several, and taken out of it.

use std::sync::Arc;

use super::IndexEditor;
use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::index::btree_packer::BTreePacker;
use crate::index::cdx::Cdx;
use crate::index::cdx_builder::{Packer, Place, Shape, name_bytes, order_header};
use crate::index::key_sorter::KeySorter;
use crate::index::nsx::{self, Nsx};
use crate::index::order_spec::OrderSpec;
use crate::index::page::{KeyBytes, put};
use crate::index::{IndexDialect, Tag, cdx, read_headers};
use crate::source::Source;

impl IndexEditor {
    /// Adds an order to a file of several: in a CDX where so many free pages lie one behind the other, else behind all that the file
    /// holds. The file is open for this program alone.
    ///
    /// # Errors
    /// As for the file's builder.
    pub(crate) fn create_order(
        &mut self,
        order: &OrderSpec,
        keys: KeySorter,
        record_count: u32,
        codepage: CodePage,
    ) -> Result<()> {
        self.flush()?;
        let name = &order.name;
        if self.tags.iter().any(|tag| tag.name.eq_ignore_ascii_case(name)) {
            return Err(order.refuse("already exists"));
        }
        let codec = order.codec(self.dialect)?;
        let bytes = KeyBytes::plain(order.key_len, order.trail_of(codec));
        let (page_len, unit) = (self.store.format.page_len() as u64, self.store.format.page_unit());
        let base = self.store.offset(self.store.end());
        let at = usize::try_from(base).map_err(|_| order.refuse("does not fit into the file"))?;
        let (root, mut new, entry) = match self.dialect {
            IndexDialect::Cdx | IndexDialect::Adi => {
                let place = Place {
                    base: at,
                    page_len: self.store.format.page_len(),
                    unit: usize::try_from(unit).unwrap_or(usize::MAX),
                };
                let is_adi = self.dialect == IndexDialect::Adi;
                let shape = Shape { place, is_adi };
                let entry = name_bytes(order, codepage, shape)?;
                let most = shape.key_len_max();
                if bytes.len > most {
                    return Err(order.refuse(&format!("keys of {} bytes, not 1 to {most}", bytes.len)));
                }
                let mut new = order_header(order, codepage, shape)?;
                let mut packer = Packer::at(place, &mut new, None, bytes.len, bytes.trail, record_count);
                keys.finish(|key, recno| {
                    packer.add(key, recno);
                    Ok(())
                })?;
                (packer.finish() as u64, new, entry)
            }
            IndexDialect::Nsx => {
                let known: Vec<_> = self.names(codepage);
                let entry = Nsx::name(order, codepage, known.iter().map(Vec::as_slice))?;
                let mut new = Nsx::tag_header(order, codepage)?;
                let format = self.store.format.clone();
                let mut packer = BTreePacker::new(at, &mut new, &*format, bytes, record_count);
                keys.finish(|key, recno| packer.add(key, recno))?;
                (u64::from(packer.finish(false)?) * format.page_unit(), new, entry)
            }
            IndexDialect::Ntx | IndexDialect::Ndx | IndexDialect::Idx => {
                return Err(order.refuse("the file has one order, and there is one already"));
            }
            IndexDialect::Mdx => return Err(order.refuse("tags cannot be added to an MDX file")),
        };
        let number = |offset: u64| u32::try_from(offset / unit).map_err(|_| order.refuse("does not fit into the file"));
        let (mut root, mut header) = (number(root)?, number(base)?);
        let pages =
            u32::try_from(new.len() as u64 / page_len).map_err(|_| order.refuse("does not fit into the file"))?;
        let free = match self.dialect {
            IndexDialect::Cdx | IndexDialect::Adi => self.store.allocate_run(pages)?,
            _ => None,
        };
        match free {
            None => drop(self.store.allocate_at_end(pages)?),
            Some(first) => {
                let packed_at = header;
                let moved = |page: u32| page.wrapping_sub(packed_at).wrapping_add(first);
                let tree_at = cdx::HEADER_LEN.next_multiple_of(self.store.format.page_len());
                let tree = new.get_mut(tree_at..).unwrap_or_default();
                Cdx::move_tree(tree, self.store.format.page_len(), bytes.len, moved);
                (root, header) = (moved(root), first);
                // The pages are in no list any more before anything is written there.
                self.flush()?;
            }
        }
        let root_at = usize::try_from(self.store.format.root_at(0)).unwrap_or_default();
        put(&mut new, root_at, &root.to_le_bytes());
        self.store.file().write(self.store.offset(header), &new)?;
        // The order is there once its name is.
        match &mut self.directory {
            Some(directory) => {
                directory.insert(&mut self.store, &entry, header)?;
                self.flush()?;
            }
            None => self.list_tags(|names| names.push((entry, header)))?,
        }
        self.reload_tags()
    }

    /// Takes an order out of a file of several, and gives its pages back. The file is open for this program alone.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the order is not there; [`Error::Corrupt`], [`Error::Io`].
    pub(crate) fn drop_order(&mut self, order: usize) -> Result<()> {
        if self.dialect == IndexDialect::Mdx {
            let path = self.path().display();
            return Err(Error::Misuse(format!(
                "{path}: tags cannot be removed from an MDX file"
            )));
        }
        self.flush()?;
        self.version += 1;
        let Some(mut tree) = self.trees.get_mut(order).and_then(Option::take) else {
            return Err(Error::Misuse(format!(
                "{}: no index tag {order}",
                self.path().display()
            )));
        };
        // Whatever fails from here on leaves half of an order.
        self.is_broken = true;
        let header = self.tags.get(order).map_or(0, |tag| tag.header);
        let unit = self.store.format.page_unit();
        let number = |offset: u64| u32::try_from(offset / unit).unwrap_or(u32::MAX);
        let mut entry = Vec::new();
        if let Some(tag) = self.tags.get(order) {
            // The name has been read in this code page.
            let _ = self.options.codepage.encode(&tag.name, &mut entry);
        }
        match &mut self.directory {
            Some(directory) => {
                entry.resize(directory.keys.len, b' ');
                if !directory.remove(&mut self.store, &entry, number(header))? {
                    let (expected, found) = ("the name of the order", "none");
                    return Err(self.store.corrupt(directory.root, expected, found));
                }
            }
            None => {
                self.is_broken = false;
                self.list_tags(|names| names.retain(|(_, page)| *page != number(header)))?;
                self.is_broken = true;
            }
        }
        tree.free_all(&mut self.store)?;
        let page_len = self.store.format.page_len() as u64;
        let header_len = match self.dialect {
            IndexDialect::Cdx | IndexDialect::Adi => cdx::HEADER_LEN as u64,
            _ => page_len,
        };
        for page in 0..header_len.div_ceil(page_len) {
            self.store.free(number(header + page * page_len));
        }
        self.trees.remove(order);
        self.tags.remove(order);
        self.is_broken = false;
        self.flush()
    }

    /// The names of the orders as an NSX header has them.
    fn names(&self, codepage: CodePage) -> Vec<Vec<u8>> {
        let names = self.tags.iter().map(|tag| {
            let mut name = Vec::new();
            let _ = codepage.encode(&tag.name, &mut name);
            name.resize(nsx::NAME_LEN, 0);
            name
        });
        names.collect()
    }

    /// Changes the list of orders in an NSX header.
    fn list_tags(&mut self, change: impl FnOnce(&mut Vec<(Vec<u8>, u32)>)) -> Result<()> {
        self.flush()?;
        let mut header = vec![0; nsx::PAGE_LEN];
        self.store.file().read("index header", 0, &mut header)?;
        let mut names = Nsx::listed(&header);
        change(&mut names);
        Nsx::list(&names, &mut header);
        self.store.file().write(0, &header)?;
        let header = self.store.read_header()?;
        self.store.start_from(header)?;
        // Counts the change.
        self.store.flush_header(true, true, None)
    }

    /// Reads the headers again after an order was added, wherever its header is among the others.
    fn reload_tags(&mut self) -> Result<()> {
        self.version += 1;
        let source = Arc::new(Source::edited(self.store.file())?);
        let tags = read_headers(&source, self.dialect, &self.options)?.tags;
        let old = self.tags.iter().map(|tag| tag.header);
        let mut trees: Vec<_> = old.zip(std::mem::take(&mut self.trees)).collect();
        let tree_of = |tag: &Tag| {
            let known = trees.iter_mut().find(|(header, _)| *header == tag.header);
            known.and_then(|(_, tree)| tree.take())
        };
        self.trees = tags.iter().map(tree_of).collect();
        self.tags = tags;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::index::{Collation, Direction, IndexOptions, KeyType};
    use crate::storage::DataFile;

    /// A CDX of long pages without orders, as its header describes it (Harbour's `hbrddcdx.h`).
    fn long_pages(page_len: usize) -> DataFile {
        let header_len = cdx::HEADER_LEN.next_multiple_of(page_len);
        let mut file = vec![0; header_len + page_len];
        put(
            &mut file,
            0,
            &u32::try_from(header_len / page_len).unwrap().to_le_bytes(),
        );
        for (at, number) in [(12, cdx::NAME_LEN), (16, cdx::HEADER_LEN), (18, page_len)] {
            put(&mut file, at, &u16::try_from(number).unwrap().to_le_bytes());
        }
        put(&mut file, 14, &[0xE0, 0x21]);
        put(&mut file, 20, &cdx::HARBOUR);
        // A root without names.
        put(
            &mut file,
            header_len,
            &[3, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        );
        DataFile::scratch(Path::new("t.cdx"), file)
    }

    fn key(recno: u32) -> Vec<u8> {
        let digits = recno.wrapping_mul(2_654_435_761) % 100_000_000;
        format!("{digits:08}-{recno:>31}").into_bytes()
    }

    #[test]
    fn orders_are_added_to_a_file_of_long_pages_and_changed_and_dropped_there() {
        for page_len in [1024, 2048, 8192] {
            let file = Arc::new(long_pages(page_len));
            let open = || IndexEditor::new(Arc::clone(&file), &IndexOptions::new(), false).unwrap();
            let mut index = open();
            let spec = |name: &str, key_len| OrderSpec::new(name, "X").keys(KeyType::Character, key_len);
            let mut add = |spec: &OrderSpec, keys: &dyn Fn(u32) -> Vec<u8>| {
                let mut sorter = KeySorter::new(spec, IndexDialect::Cdx, 10_000).unwrap();
                (1..=3000).for_each(|recno| sorter.push(&keys(recno), recno).unwrap());
                index.create_order(spec, sorter, 10_000, CodePage::Cp437)
            };
            let long = |recno: u32| [&key(recno)[..], &[b'x'; 300]].concat();
            add(&spec("SHORT", 40), &key).unwrap();
            add(&spec("LONG", 340), &long).unwrap();
            let most = cdx::key_len_max(page_len);
            let refused = add(&spec("LONGER", most + 1), &|recno| {
                [&key(recno)[..], &vec![b'x'; most - 39]].concat()
            });
            assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
            drop(index);
            let mut index = open();
            assert_eq!(
                index.tags().iter().map(|tag| &*tag.name).collect::<Vec<_>>(),
                ["SHORT", "LONG"]
            );
            let orders =
                ["SHORT", "LONG"].map(|name| index.order(name, KeyType::Character, &Collation::binary()).unwrap());
            for recno in 1..=1000 {
                assert!(index.remove(orders[0], &key(recno), recno).unwrap());
                assert!(index.remove(orders[1], &long(recno), recno).unwrap());
                assert!(index.insert(orders[1], &long(recno + 5000), recno + 5000).unwrap());
            }
            index.flush().unwrap();
            let check = |index: &mut IndexEditor, expected: &[(&str, usize)]| {
                let reader = index.reader().unwrap();
                let orders: Vec<_> = reader
                    .tags()
                    .iter()
                    .map(|tag| {
                        reader
                            .order(&tag.name, KeyType::Character, &Collation::binary())
                            .unwrap()
                    })
                    .collect();
                assert_eq!(reader.verify(&orders, Some(10_000)).unwrap(), [], "{page_len}");
                let counts: Vec<_> = orders
                    .iter()
                    .map(|order| {
                        (
                            order.tag().name.as_str(),
                            order.walk(Direction::Backward).map(Result::unwrap).count(),
                        )
                    })
                    .collect();
                assert_eq!(counts, expected);
            };
            check(&mut index, &[("SHORT", 2000), ("LONG", 3000)]);
            index.drop_order(orders[0]).unwrap();
            check(&mut index, &[("LONG", 3000)]);
            // What is made again goes where the old one was.
            let mut most = 0;
            for turn in 0..12 {
                let short = index.tags().iter().position(|tag| tag.name == "SHORT");
                if let Some(short) = short {
                    index.drop_order(short).unwrap();
                }
                let records = 2000 - 100 * turn;
                let spec = spec("SHORT", 40);
                let mut sorter = KeySorter::new(&spec, IndexDialect::Cdx, 10_000).unwrap();
                (1..=records).for_each(|recno| sorter.push(&key(recno), recno).unwrap());
                index.create_order(&spec, sorter, 10_000, CodePage::Cp437).unwrap();
                for name in ["SHORT", "LONG"] {
                    index.order(name, KeyType::Character, &Collation::binary()).unwrap();
                }
                let count = usize::try_from(records).unwrap();
                check(&mut index, &[("SHORT", count), ("LONG", 3000)]);
                let len = file.len().unwrap();
                most = if turn == 0 { len } else { most };
                assert!(
                    len <= most,
                    "{page_len}: {len} bytes after {turn} turns, and {most} at first"
                );
            }
        }
    }
}
