//! An index file that is changed entry by entry.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::source::Source;
use crate::storage::DataFile;

use super::btree_packer::BTreePacker;
use super::cdx;
use super::cdx_builder::{Packer, name_bytes, order_header};
use super::collation::Collation;
use super::key::KeyType;
use super::key_sorter::KeySorter;
use super::nsx::{self, Nsx};
use super::order::keys_of;
use super::order_spec::OrderSpec;
use super::page::{COUNTERS_LEN, KeyBytes, put};
use super::page_store::PageStore;
use super::tag::Tag;
use super::tree_editor::TreeEditor;
use super::{Index, IndexDialect, IndexOptions, read_headers};

/// An index file whose entries are changed.
///
/// Changes are kept in memory until [`IndexEditor::flush`]. Keys are given as they are stored, of [`Tag::key_len`] bytes:
/// what keys a record has is for who evaluates expressions.
///
/// ```
/// use tidemill_xbase::index::{Collation, IndexEditor, IndexOptions, KeyType};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("upd_cdx.cdx");
/// # std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/upd_cdx.cdx"), &path)?;
/// let mut index = IndexEditor::open(&path, &IndexOptions::new())?;
/// let code = index.order("T_CODE", KeyType::Character, &Collation::binary())?;
/// assert!(index.insert(code, b"ZZ9 ", 1596)?);
/// assert!(!index.insert(code, b"ZZ9 ", 1596)?);
/// assert!(index.remove(code, b"ZZ9 ", 1596)?);
/// index.flush()?;
/// # Ok(())
/// # }
/// ```
///
/// A change that fails half way (a page that cannot be read or decoded) leaves this editor unusable: whatever it is asked
/// next is an error, and the file is as it was at the last flush. A flush that fails can be tried again when the
/// file is open for this program alone.
#[derive(Debug)]
pub struct IndexEditor {
    store: PageStore,
    dialect: IndexDialect,
    options: IndexOptions,
    tags: Vec<Tag>,
    /// In the order of the tags; `None` until the type of the keys is known.
    trees: Vec<Option<TreeEditor>>,
    /// The tree of the tags' names, where the file has one.
    directory: Option<TreeEditor>,
    is_shared: bool,
    is_broken: bool,
}

impl IndexEditor {
    /// Opens the file at `path` for this program alone.
    ///
    /// # Errors
    /// As [`Index::open`]; [`Error::Locked`] when other programs have the file open.
    pub fn open(path: impl AsRef<Path>, options: &IndexOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = File::options().read(true).write(true).open(path);
        let file = file.map_err(|e| Error::io(path, "open", e))?;
        open_shared_or_exclusive(&file, path, Sharing::Exclusive, Duration::ZERO)?;
        let file = DataFile::new(path, Box::new(Arc::new(file)));
        Self::new(Arc::new(file), options, false)
    }

    /// An editor of a file that is open. Beside others the caller holds the index lock around
    /// [`IndexEditor::look_again`], the changes and the flush.
    pub(crate) fn new(file: Arc<DataFile>, options: &IndexOptions, is_shared: bool) -> Result<Self> {
        let dialect = options.dialect_of(file.path())?;
        let source = Arc::new(Source::edited(&file)?);
        let headers = read_headers(&source, dialect, options)?;
        let directory = headers
            .directory
            .map(|tree| TreeEditor::new(tree.keys, tree.order, tree.root, headers.format.root_at(0), false));
        Ok(Self {
            directory,
            store: PageStore::open(file, headers.format, options.cache_bytes)?,
            dialect,
            options: options.clone(),
            trees: headers.tags.iter().map(|_| None).collect(),
            tags: headers.tags,
            is_shared,
            is_broken: false,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.store.file().path()
    }

    /// The format.
    pub fn dialect(&self) -> IndexDialect {
        self.dialect
    }

    /// What the headers say, in the order in which the tags were made: by the place of their headers.
    pub fn tags(&self) -> &[Tag] {
        &self.tags
    }

    /// Gets an order ready to be changed and returns its place among [`IndexEditor::tags`]. Type and collation are those of
    /// [`Index::order`].
    ///
    /// # Errors
    /// As [`Index::order`]; [`Error::Unsupported`] for an NTX file whose pages hold a single key.
    pub fn order(&mut self, tag: &str, key_type: KeyType, collation: &Collation) -> Result<usize> {
        let Some((at, tag)) = self
            .tags
            .iter()
            .enumerate()
            .find(|(_, known)| known.name.eq_ignore_ascii_case(tag))
        else {
            let known: Vec<_> = self.tags.iter().map(|tag| tag.name.as_str()).collect();
            let (path, known) = (self.path().display(), known.join(", "));
            return Err(Error::Misuse(format!(
                "{path}: no order is called {tag:?}; there are {known}"
            )));
        };
        let format = &self.store.format;
        let is_reversed = tag.is_descending && format.descends_in_file();
        let (_, keys, order) = keys_of(self.dialect, tag, key_type, collation, is_reversed)?;
        if format.branch_room(keys) < 2 {
            return Err(self.unsupported("an index whose pages hold a single key is not changed; build it anew"));
        }
        let tree = TreeEditor::new(keys, order, tag.root, format.root_at(tag.header), tag.is_unique);
        if let Some(place) = self.trees.get_mut(at)
            && place.is_none()
        {
            *place = Some(tree);
        }
        Ok(at)
    }

    /// Puts an entry into an order, given by its place. `false` when it is there already, or in an order of unique keys
    /// another record with the key.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a key of another length, record 0, and an order that [`IndexEditor::order`] was not asked for;
    /// [`Error::Corrupt`] with file and page; [`Error::Io`].
    pub fn insert(&mut self, order: usize, key: &[u8], recno: u32) -> Result<bool> {
        self.change(order, key, recno, TreeEditor::insert)
    }

    /// Takes an entry out of an order; `false` when it is not there.
    ///
    /// # Errors
    /// As [`IndexEditor::insert`].
    pub fn remove(&mut self, order: usize, key: &[u8], recno: u32) -> Result<bool> {
        self.change(order, key, recno, TreeEditor::remove)
    }

    /// Whether an entry is in an order.
    ///
    /// # Errors
    /// As [`IndexEditor::insert`].
    pub fn contains(&mut self, order: usize, key: &[u8], recno: u32) -> Result<bool> {
        self.change(order, key, recno, TreeEditor::contains)
    }

    /// Writes every change to the file.
    ///
    /// # Errors
    /// [`Error::Io`]; what is not written yet is written by the next flush.
    pub fn flush(&mut self) -> Result<()> {
        self.sound()?;
        let flushed = self.flush_all();
        // Others see half of a change then, and may change the file on top of it.
        self.is_broken = self.is_shared && flushed.is_err();
        flushed
    }

    fn flush_all(&mut self) -> Result<()> {
        let mut has_changed = self.store.flush_pages()?;
        let mut in_header = None;
        for tree in self.trees.iter_mut().flatten().chain(&mut self.directory) {
            if tree.root == tree.root_written {
                continue;
            }
            has_changed = true;
            if tree.root_at < COUNTERS_LEN as u64 {
                in_header = Some((tree.root_at, tree.root));
            } else {
                self.store.file().write(tree.root_at, &tree.root.to_le_bytes())?;
            }
            tree.root_written = tree.root;
        }
        self.store.flush_header(has_changed, self.is_shared, in_header)
    }

    /// Brings what was flushed to the disk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.store.file().sync()
    }

    /// Flushes, and opens the file as it is now for reading.
    ///
    /// # Errors
    /// As [`IndexEditor::flush`] and [`Index::open`].
    pub fn reader(&mut self) -> Result<Index> {
        self.flush()?;
        let source = Source::edited(self.store.file())?;
        Index::read(source, self.dialect, &self.options)
    }

    /// Looks whether another program has changed the file, and forgets what it was if so.
    pub(crate) fn look_again(&mut self) -> Result<()> {
        let header = self.store.read_header()?;
        if self.store.is_current(&header) {
            return Ok(());
        }
        self.read_again(header)
    }

    /// Forgets what was changed and not flushed, and what the file was.
    pub(crate) fn reload(&mut self) -> Result<()> {
        self.is_broken = false;
        let header = self.store.read_header()?;
        self.read_again(header)
    }

    fn read_again(&mut self, header: [u8; COUNTERS_LEN]) -> Result<()> {
        self.store.start_from(header)?;
        let source = Arc::new(Source::edited(self.store.file())?);
        let headers = read_headers(&source, self.dialect, &self.options)?;
        let is_same = |(old, new): (&Tag, &Tag)| {
            Tag {
                root: old.root,
                ..new.clone()
            } == *old
        };
        if headers.tags.len() != self.tags.len() || !self.tags.iter().zip(&headers.tags).all(is_same) {
            let path = self.path().display();
            let why = "another program has made, dropped or changed an order; open the file again";
            return Err(Error::Misuse(format!("{path}: {why}")));
        }
        let roots = headers.tags.iter().map(|tag| tag.root);
        for (tree, root) in self.trees.iter_mut().zip(roots) {
            if let Some(tree) = tree {
                (tree.root, tree.root_written) = (root, root);
            }
        }
        if let (Some(tree), Some(directory)) = (&mut self.directory, headers.directory) {
            (tree.root, tree.root_written) = (directory.root, directory.root);
        }
        self.tags = headers.tags;
        Ok(())
    }

    /// Flushes, but for an editor that is unusable: who made it so has been told.
    pub(crate) fn flush_if_sound(&mut self) -> Result<()> {
        if self.is_broken { Ok(()) } else { self.flush() }
    }

    /// Adds an order to a file of several, behind all that it holds. The file is open for this program alone.
    ///
    /// # Errors
    /// As for the file's builder; [`Error::Unsupported`] for a CDX of pages longer than 512 bytes.
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
            return Err(order.refuse("is there already"));
        }
        let codec = order.codec(self.dialect)?;
        let bytes = KeyBytes {
            len: order.key_len,
            trail: codec.trail(),
        };
        let page_len = self.store.format.page_len() as u64;
        let base = self.store.offset(self.store.end());
        let at = usize::try_from(base).map_err(|_| order.refuse("does not fit into the file"))?;
        let (root, mut new, entry) = match self.dialect {
            IndexDialect::Cdx if page_len == cdx::PAGE_LEN as u64 => {
                let entry = name_bytes(order, codepage)?;
                let mut new = order_header(order, codepage)?;
                let mut packer = Packer::behind(at, &mut new, None, bytes.len, bytes.trail, record_count);
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
            IndexDialect::Cdx => return Err(self.unsupported("an order is not added to a CDX of long pages")),
            IndexDialect::Ntx => return Err(order.refuse("an NTX file has one order, and there is one already")),
        };
        let unit = self.store.format.page_unit();
        let number = |offset: u64| u32::try_from(offset / unit).map_err(|_| order.refuse("does not fit into the file"));
        let (root, header) = (number(root)?, number(base)?);
        let root_at = usize::try_from(self.store.format.root_at(0)).unwrap_or_default();
        put(&mut new, root_at, &root.to_le_bytes());
        let pages =
            u32::try_from(new.len() as u64 / page_len).map_err(|_| order.refuse("does not fit into the file"))?;
        self.store.allocate_at_end(pages)?;
        self.store.file().write(base, &new)?;
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
        self.flush()?;
        let Some(mut tree) = self.trees.get_mut(order).and_then(Option::take) else {
            return Err(Error::Misuse(format!("{}: no order {order}", self.path().display())));
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
            IndexDialect::Cdx => cdx::HEADER_LEN as u64,
            IndexDialect::Nsx | IndexDialect::Ntx => page_len,
        };
        for page in 0..header_len.div_ceil(page_len) {
            self.store.free(number(header + page * page_len));
        }
        self.trees.remove(order);
        self.tags.remove(order);
        self.is_broken = false;
        self.flush()
    }

    /// Writes another file's bytes in the place of this one's. The file is open for this program alone, and its orders have
    /// to be asked for again.
    pub(crate) fn replace_by(&mut self, bytes: &[u8]) -> Result<()> {
        self.is_broken = true;
        let file = Arc::clone(self.store.file());
        file.write(0, bytes)?;
        file.set_len(bytes.len() as u64)?;
        *self = Self::new(file, &self.options, self.is_shared)?;
        Ok(())
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

    /// Reads the headers again after an order was added at the end.
    fn reload_tags(&mut self) -> Result<()> {
        let source = Arc::new(Source::edited(self.store.file())?);
        self.tags = read_headers(&source, self.dialect, &self.options)?.tags;
        self.trees.resize_with(self.tags.len(), || None);
        Ok(())
    }

    fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported {
            path: self.path().to_owned(),
            what: what.to_owned(),
        }
    }

    fn change(
        &mut self,
        order: usize,
        key: &[u8],
        recno: u32,
        change: impl FnOnce(&mut TreeEditor, &mut PageStore, &[u8], u32) -> Result<bool>,
    ) -> Result<bool> {
        self.sound()?;
        if self.store.is_full() {
            self.flush()?;
            self.store.drop_pages();
        }
        let Some(tree) = self.trees.get_mut(order).and_then(Option::as_mut) else {
            let path = self.store.file().path().display();
            return Err(Error::Misuse(format!("{path}: order {order} was not asked for")));
        };
        if key.len() != tree.keys.len || recno == 0 {
            let (path, len, wanted) = (self.store.file().path().display(), key.len(), tree.keys.len);
            return Err(Error::Misuse(format!(
                "{path}: a key of {len} bytes for record {recno}, where keys have {wanted}"
            )));
        }
        let changed = change(tree, &mut self.store, key, recno);
        self.is_broken = changed.is_err();
        changed
    }

    fn sound(&self) -> Result<()> {
        if self.is_broken {
            let path = self.path().display();
            let why = "a change of the index failed half way; reindex";
            return Err(Error::Misuse(format!("{path}: {why}")));
        }
        Ok(())
    }
}
