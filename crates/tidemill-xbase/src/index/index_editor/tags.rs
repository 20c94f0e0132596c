//! Orders that are added to an index file of several, and taken out of it.

use std::sync::Arc;

use super::IndexEditor;
use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::index::bplus_packer::BPlusPacker;
use crate::index::btree_packer::BTreePacker;
use crate::index::cdx::Cdx;
use crate::index::cdx_builder::{Packer, Place, Shape, name_bytes, order_header};
use crate::index::key_sorter::KeySorter;
use crate::index::mdx::{ListedTag, Mdx, MdxFile};
use crate::index::nsx::{self, Nsx};
use crate::index::order_spec::OrderSpec;
use crate::index::page::{KeyBytes, put};
use crate::index::{IndexDialect, Tag, cdx, mdx, read_headers};
use crate::source::Source;

/// What a new order begins with.
struct New {
    /// Its header without the root; its tree follows.
    tag: Vec<u8>,
    /// Its name as the file lists it.
    entry: Vec<u8>,
    keys: KeyBytes,
}

impl IndexEditor {
    /// Adds an order to a file of several: in a CDX and an MDX where so many free pages lie one behind the other, else behind all that the file
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
        let New {
            mut tag,
            entry,
            keys: bytes,
        } = self.new_tag(order, codepage, None)?;
        let (page_len, unit) = (self.store.format.page_len() as u64, self.store.format.page_unit());
        let base = self.store.offset(self.store.end());
        let at = usize::try_from(base).map_err(|_| order.refuse("does not fit into the file"))?;
        let (format, new) = (self.store.format.clone(), &mut tag);
        let root = match self.dialect {
            IndexDialect::Nsx => {
                let mut packer = BTreePacker::new(at, new, &*format, bytes, record_count);
                keys.finish(|key, recno| packer.add(key, recno))?;
                u64::from(packer.finish(false)?) * unit
            }
            IndexDialect::Mdx => {
                let kind = self.mdx()?;
                let header_len = new.len();
                let mut packer = BPlusPacker::new(at, new, &*format, bytes);
                keys.finish(|key, recno| packer.add(key, recno))?;
                let tree = packer.finish()?;
                let tree_len = new.len() - header_len;
                kind.put_tree(new, tree, tree_len);
                u64::from(tree.root) * unit
            }
            _ => {
                let place = self.place(at);
                let mut packer = Packer::at(place, new, None, bytes.len, bytes.trail, record_count);
                keys.finish(|key, recno| {
                    packer.add(key, recno);
                    Ok(())
                })?;
                packer.finish() as u64
            }
        };
        let number = |offset: u64| u32::try_from(offset / unit).map_err(|_| order.refuse("does not fit into the file"));
        let (mut root, mut header) = (number(root)?, number(base)?);
        let pages =
            u32::try_from(tag.len() as u64 / page_len).map_err(|_| order.refuse("does not fit into the file"))?;
        let free = match self.dialect {
            IndexDialect::Cdx | IndexDialect::Adi | IndexDialect::Mdx => self.store.allocate_run(pages)?,
            _ => None,
        };
        match free {
            None => drop(self.store.allocate_at_end(pages)?),
            Some(first) => {
                let packed_at = header;
                let moved = |page: u32| page.wrapping_sub(packed_at).wrapping_add(first);
                if self.dialect == IndexDialect::Mdx {
                    self.mdx()?.layout.move_tag(&mut tag, bytes, moved);
                } else {
                    let tree_at = cdx::HEADER_LEN.next_multiple_of(self.store.format.page_len());
                    let tree = tag.get_mut(tree_at..).unwrap_or_default();
                    Cdx::move_tree(tree, self.store.format.page_len(), bytes.len, moved);
                }
                (root, header) = (moved(root), first);
                // The pages are in no list any more before anything is written there.
                self.flush()?;
            }
        }
        let root_at = usize::try_from(self.store.format.root_at(0)).unwrap_or_default();
        put(&mut tag, root_at, &root.to_le_bytes());
        self.store.file().write(self.store.offset(header), &tag)?;
        // The order is there once its name is.
        match &mut self.directory {
            Some(directory) => {
                directory.insert(&mut self.store, &entry, header)?;
                self.flush()?;
            }
            None if self.dialect == IndexDialect::Mdx => {
                let listed = ListedTag::new(entry, header, &tag);
                self.list_mdx_tags(|layout, items| items.push(layout.new_item(&listed)))?;
            }
            None => self.list_tags(|names| names.push((entry, header)))?,
        }
        self.reload_tags()
    }

    /// Whether the file can have an order, in the place of another one where that goes. Its keys are not looked at.
    ///
    /// # Errors
    /// As for the file's builder.
    pub(crate) fn check_new(&self, order: &OrderSpec, codepage: CodePage, replaced: usize) -> Result<()> {
        self.new_tag(order, codepage, Some(replaced)).map(drop)
    }

    /// What a new order begins with.
    fn new_tag(&self, order: &OrderSpec, codepage: CodePage, replaced: Option<usize>) -> Result<New> {
        let codec = order.codec(self.dialect)?;
        let keys = KeyBytes::plain(order.key_len, order.trail_of(codec));
        match self.dialect {
            IndexDialect::Cdx | IndexDialect::Adi => {
                let is_adi = self.dialect == IndexDialect::Adi;
                let place = self.place(0);
                let shape = Shape { place, is_adi };
                let entry = name_bytes(order, codepage, shape)?;
                let most = shape.key_len_max();
                if !(1..=most).contains(&keys.len) {
                    return Err(order.refuse_key_len(most));
                }
                let tag = order_header(order, codepage, shape)?;
                Ok(New { tag, entry, keys })
            }
            IndexDialect::Nsx => {
                let known = self.names(codepage, replaced);
                let entry = Nsx::name(order, codepage, known.iter().map(Vec::as_slice))?;
                let tag = Nsx::tag_header(order, codepage)?;
                Ok(New { tag, entry, keys })
            }
            IndexDialect::Mdx => {
                let kind = self.mdx()?;
                let known = self.names(codepage, replaced);
                let known = known.iter().map(Vec::as_slice);
                let entry = kind.name(order, codepage, known, kind.layout.list_room())?;
                let (tag, keys) = kind.tag_header(order, codepage)?;
                Ok(New { tag, entry, keys })
            }
            IndexDialect::Ntx | IndexDialect::Ndx | IndexDialect::Idx => {
                Err(order.refuse("the file has one order, and there is one already"))
            }
        }
    }

    /// The layout of an MDX, and the head of its header.
    fn mdx(&self) -> Result<MdxFile> {
        let mut header = vec![0; mdx::HEADER_LEN];
        self.store.file().read("index header", 0, &mut header)?;
        MdxFile::like(&header).map_err(|fault| fault.into_error(self.path(), 0))
    }

    /// Where pages of a CDX or an ADI are packed that follow so many bytes.
    fn place(&self, base: usize) -> Place {
        Place {
            base,
            page_len: self.store.format.page_len(),
            unit: usize::try_from(self.store.format.page_unit()).unwrap_or(usize::MAX),
        }
    }

    /// Takes an order out of a file of several, and gives its pages back. The file is open for this program alone.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the order is not there; [`Error::Corrupt`], [`Error::Io`].
    pub(crate) fn drop_order(&mut self, order: usize) -> Result<()> {
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
                if self.dialect == IndexDialect::Mdx {
                    let page = number(header).to_le_bytes();
                    self.list_mdx_tags(|_, items| items.retain(|item| !item.starts_with(&page)))?;
                } else {
                    self.list_tags(|names| names.retain(|(_, page)| *page != number(header)))?;
                }
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

    /// The names of the orders as the header of an NSX or an MDX has them, but for one that is to go.
    fn names(&self, codepage: CodePage, replaced: Option<usize>) -> Vec<Vec<u8>> {
        let left = self.tags.iter().enumerate().filter(|(at, _)| Some(*at) != replaced);
        let names = left.map(|(_, tag)| {
            let mut name = Vec::new();
            let _ = codepage.encode(&tag.name, &mut name);
            if self.dialect == IndexDialect::Nsx {
                name.resize(nsx::NAME_LEN, 0);
            }
            name
        });
        names.collect()
    }

    /// Changes the list of orders in an MDX header.
    fn list_mdx_tags(&mut self, change: impl FnOnce(Mdx, &mut Vec<Vec<u8>>)) -> Result<()> {
        self.flush()?;
        let layout = self.mdx()?.layout;
        let tags = self.tags.len();
        let mut header = vec![0; layout.list_end(tags)];
        self.store.file().read("list of tags", 0, &mut header)?;
        let mut items = layout.items(&header, tags);
        change(layout, &mut items);
        header.resize(layout.list_end(tags.max(items.len())), 0);
        layout.put_list(items, &mut header);
        self.store.file().write(0, &header)?;
        let header = self.store.read_header()?;
        self.store.start_from(header)
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
