//! An index file that is changed entry by entry.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::source::Source;
use crate::storage::DataFile;

use super::collation::Collation;
use super::key::KeyType;
use super::order::keys_of;
use super::page::COUNTERS_LEN;
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
        let source = Arc::new(Source::changing(Arc::clone(&file))?);
        let headers = read_headers(&source, dialect, options)?;
        Ok(Self {
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
            return Err(Error::Unsupported {
                path: self.path().to_owned(),
                what: "an index whose pages hold a single key is not changed; build it anew".to_owned(),
            });
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
        for tree in self.trees.iter_mut().flatten() {
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
        let source = Source::changing(Arc::clone(self.store.file()))?;
        Index::read(source, self.dialect, &self.options)
    }

    /// Looks whether another program has changed the file, and forgets what it was if so.
    pub(crate) fn look_again(&mut self) -> Result<()> {
        let header = self.store.read_header()?;
        if self.store.is_current(&header) {
            return Ok(());
        }
        self.store.start_from(header)?;
        let source = Arc::new(Source::changing(Arc::clone(self.store.file()))?);
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
        for (tree, tag) in self.trees.iter_mut().zip(&headers.tags) {
            if let Some(tree) = tree {
                tree.root = tag.root;
                tree.root_written = tag.root;
            }
        }
        self.tags = headers.tags;
        Ok(())
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
