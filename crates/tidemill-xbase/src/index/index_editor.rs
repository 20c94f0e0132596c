//! An index file that is changed entry by entry, and order by order.
//!
//! What this module does not do: it evaluates no expression, and takes no lock.

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
use super::cdx_builder::{Packer, Place, name_bytes, order_header};
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
    /// Another one than before whenever entries or orders may be others.
    version: u64,
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

    /// An index in memory, for tests, fuzzers and callers that have the bytes already. Errors call it `memory.cdx` and so on.
    ///
    /// # Errors
    /// As [`Index::open`].
    pub fn from_bytes(bytes: Vec<u8>, dialect: IndexDialect, options: &IndexOptions) -> Result<Self> {
        let file = DataFile::scratch(Path::new(dialect.memory_name()), bytes);
        let options = options.clone().dialect(dialect);
        Self::new(Arc::new(file), &options, false)
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
            version: 0,
        })
    }

    /// Another number than before whenever entries or orders may be others.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.store.file().path()
    }

    /// The file as it is read and written.
    pub(crate) fn file(&self) -> &DataFile {
        self.store.file()
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

    /// Writes every change to the file and brings it to the disk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.sync_file()
    }

    /// Brings what was flushed to the disk.
    pub(crate) fn sync_file(&self) -> Result<()> {
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
        self.version += 1;
        self.store.start_from(header)?;
        let source = Arc::new(Source::edited(self.store.file())?);
        let headers = read_headers(&source, self.dialect, &self.options)?;
        // Made anew, an order may stand elsewhere.
        let is_same = |(old, new): (&Tag, &Tag)| {
            let (root, header) = (old.root, old.header);
            Tag {
                root,
                header,
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
                (tree.root, tree.root_written) = (tag.root, tag.root);
                tree.root_at = self.store.format.root_at(tag.header);
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
            return Err(order.refuse("is there already"));
        }
        let codec = order.codec(self.dialect)?;
        let bytes = KeyBytes {
            len: order.key_len,
            trail: codec.trail(),
        };
        let (page_len, unit) = (self.store.format.page_len() as u64, self.store.format.page_unit());
        let base = self.store.offset(self.store.end());
        let at = usize::try_from(base).map_err(|_| order.refuse("does not fit into the file"))?;
        let (root, mut new, entry) = match self.dialect {
            IndexDialect::Cdx => {
                let entry = name_bytes(order, codepage)?;
                let place = Place {
                    base: at,
                    page_len: self.store.format.page_len(),
                    unit: usize::try_from(unit).unwrap_or(usize::MAX),
                };
                let most = cdx::key_len_max(place.page_len);
                if bytes.len > most {
                    return Err(order.refuse(&format!("keys of {} bytes, not 1 to {most}", bytes.len)));
                }
                let mut new = order_header(order, codepage, place.page_len)?;
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
            IndexDialect::Ntx => return Err(order.refuse("an NTX file has one order, and there is one already")),
        };
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
        self.version += 1;
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
        let version = self.version + 1;
        *self = Self::new(file, &self.options, self.is_shared)?;
        self.version = version;
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
        self.version += 1;
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
        self.version += u64::from(!matches!(changed, Ok(false)));
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::IndexBuilder;
    use super::super::order::Direction;
    use super::*;
    use crate::storage::Storage;

    /// A file in memory whose nth write stops half way, as on a full disk; the later ones succeed.
    #[derive(Debug, Clone, Default)]
    struct Faulty {
        bytes: Arc<std::sync::Mutex<Vec<u8>>>,
        writes_left: Arc<AtomicU64>,
    }

    impl Storage for Faulty {
        fn len(&self) -> io::Result<u64> {
            Ok(self.bytes.lock().unwrap().len() as u64)
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            let bytes = self.bytes.lock().unwrap();
            let begin = usize::try_from(offset).unwrap();
            let found = bytes
                .get(begin..begin + buf.len())
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            buf.copy_from_slice(found);
            Ok(())
        }

        fn write_all_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
            let fails = self.writes_left.fetch_sub(1, Ordering::Relaxed) == 0;
            let new = if fails { &new[..new.len() / 2] } else { new };
            let begin = usize::try_from(offset).unwrap();
            let mut bytes = self.bytes.lock().unwrap();
            let end = bytes.len().max(begin + new.len());
            bytes.resize(end, 0);
            bytes[begin..begin + new.len()].copy_from_slice(new);
            if fails {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.bytes.lock().unwrap().resize(usize::try_from(len).unwrap(), 0);
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// An order of 400 keys in a file that fails at the given write.
    fn faulty(dialect: IndexDialect, writes_left: u64, is_shared: bool) -> (IndexEditor, Faulty, usize) {
        let spec = OrderSpec::new("T", "X").keys(KeyType::Character, 40);
        let mut builder = IndexBuilder::new(dialect, 10_000, CodePage::Cp437);
        let mut keys = builder.keys(&spec).unwrap();
        for recno in 1..=400 {
            keys.push(&key(recno), recno).unwrap();
        }
        builder.add(&spec, keys).unwrap();
        let storage = Faulty::default();
        *storage.bytes.lock().unwrap() = builder.finish().unwrap();
        storage.writes_left.store(writes_left, Ordering::Relaxed);
        let name = format!("t.{dialect:?}").to_lowercase();
        let file = DataFile::new(Path::new(&name), Box::new(storage.clone()));
        let mut index = IndexEditor::new(Arc::new(file), &IndexOptions::new(), is_shared).unwrap();
        let order = index.order("T", KeyType::Character, &Collation::binary()).unwrap();
        (index, storage, order)
    }

    fn key(recno: u32) -> [u8; 40] {
        let mut key = [b' '; 40];
        let digits = format!("{:08}-{recno:>26}", recno.wrapping_mul(2_654_435_761) % 100_000_000);
        key[..digits.len()].copy_from_slice(digits.as_bytes());
        key
    }

    const ALL: [IndexDialect; 3] = [IndexDialect::Cdx, IndexDialect::Ntx, IndexDialect::Nsx];

    #[test]
    fn a_write_that_fails_is_an_error_and_the_next_flush_writes_everything() {
        for dialect in ALL {
            let mut failures = 0;
            for nth in 0.. {
                let (mut index, storage, order) = faulty(dialect, nth, false);
                for recno in 1..=300 {
                    assert!(index.remove(order, &key(recno), recno).unwrap());
                    assert!(index.insert(order, &key(recno + 1000), recno + 1000).unwrap());
                }
                let flushed = index.flush();
                if let Err(e) = &flushed {
                    assert!(matches!(e, Error::Io { action: "write", .. }), "{e}");
                    failures += 1;
                }
                let reader = index.reader().unwrap();
                let order = reader.order("T", KeyType::Character, &Collation::binary()).unwrap();
                assert_eq!(reader.verify(std::slice::from_ref(&order), Some(10_000)).unwrap(), []);
                let mut found: Vec<u32> = order
                    .walk(Direction::Forward)
                    .map(|entry| entry.unwrap().recno())
                    .collect();
                found.sort_unstable();
                let expected: Vec<u32> = (301..=400).chain(1001..=1300).collect();
                assert_eq!(found, expected, "{dialect:?}, write {nth}");
                if flushed.is_ok() && storage.writes_left.load(Ordering::Relaxed) <= nth {
                    break;
                }
            }
            assert!(failures > 1, "{dialect:?}: {failures} writes");
        }
    }

    #[test]
    fn beside_others_a_flush_that_fails_ends_the_editor_and_one_that_succeeds_is_counted() {
        for dialect in ALL {
            let (mut index, _, order) = faulty(dialect, 0, true);
            index.insert(order, &key(2000), 2000).unwrap();
            assert!(matches!(index.flush(), Err(Error::Io { .. })));
            let error = index.insert(order, &key(2001), 2001).unwrap_err().to_string();
            assert!(error.contains("reindex"), "{error}");

            let (mut index, storage, order) = faulty(dialect, u64::MAX, true);
            let header = || storage.bytes.lock().unwrap()[..COUNTERS_LEN].to_vec();
            let before = header();
            index.flush().unwrap();
            assert_eq!(header(), before, "nothing was changed");
            index.insert(order, &key(2000), 2000).unwrap();
            index.flush().unwrap();
            let counted = header();
            let at = match dialect {
                IndexDialect::Cdx => 11,
                IndexDialect::Ntx => 2,
                IndexDialect::Nsx => 4,
            };
            assert_eq!(counted[at], before[at] + 1, "{dialect:?}");

            // Another editor of the same file notices.
            let file = DataFile::new(index.path(), Box::new(storage.clone()));
            let mut other = IndexEditor::new(Arc::new(file), &IndexOptions::new(), true).unwrap();
            let at = other.order("T", KeyType::Character, &Collation::binary()).unwrap();
            for recno in 3000..3200 {
                other.insert(at, &key(recno), recno).unwrap();
            }
            other.flush().unwrap();
            index.look_again().unwrap();
            assert!(index.contains(order, &key(3100), 3100).unwrap());
            index.insert(order, &key(4000), 4000).unwrap();
            let reader = index.reader().unwrap();
            let order = reader.order("T", KeyType::Character, &Collation::binary()).unwrap();
            assert_eq!(reader.verify(std::slice::from_ref(&order), Some(10_000)).unwrap(), []);
            assert_eq!(order.key_count().unwrap(), 400 + 1 + 200 + 1);
        }
    }

    #[test]
    fn every_byte_of_the_heads_of_pages_may_be_wrong_while_the_file_is_changed() {
        for dialect in ALL {
            let whole = faulty(dialect, u64::MAX, false).1.bytes.lock().unwrap().clone();
            let mut errors = 0;
            for at in (512..whole.len()).filter(|at| at % 1536 < 24) {
                for flip in [0x01, 0xFF] {
                    let (mut index, storage, order) = faulty(dialect, u64::MAX, false);
                    storage.bytes.lock().unwrap()[at] ^= flip;
                    let mut change = || -> Result<()> {
                        for recno in (1..=400).step_by(9) {
                            index.remove(order, &key(recno), recno)?;
                            index.insert(order, &key(recno + 500), recno + 500)?;
                        }
                        index.flush()
                    };
                    match change() {
                        Ok(()) => {}
                        Err(Error::Corrupt(corrupt)) => {
                            errors += 1;
                            assert!(corrupt.path.starts_with(index.path()));
                            assert!(matches!(index.flush(), Err(Error::Misuse(_))));
                        }
                        Err(e) => panic!("{e}"),
                    }
                }
            }
            assert!(errors > 50, "{dialect:?}: {errors}");
        }
    }

    #[test]
    fn a_page_under_two_entries_of_a_branch_is_an_error_although_it_is_in_memory() {
        let (mut index, storage, order) = faulty(IndexDialect::Cdx, u64::MAX, false);
        let root = index.tags()[order].root as usize;
        {
            let mut bytes = storage.bytes.lock().unwrap();
            let child = |slot: usize| root + cdx::BRANCH_HEADER + slot * 48 + 44;
            let first: [u8; 4] = bytes[child(0)..child(0) + 4].try_into().unwrap();
            bytes[child(1)..child(1) + 4].copy_from_slice(&first);
        }
        let mut sorted: Vec<u32> = (1..=400).collect();
        sorted.sort_unstable_by_key(|recno| key(*recno));
        assert!(index.contains(order, &key(sorted[0]), sorted[0]).unwrap());
        let found = sorted.iter().map(|recno| index.contains(order, &key(*recno), *recno));
        let error = found.filter_map(Result::err).next().unwrap().to_string();
        assert!(error.contains("keys from elsewhere"), "{error}");
    }

    /// A CDX of long pages without orders, as its header describes it (Harbour's `hbrddcdx.h`).
    fn long_pages(page_len: usize) -> Faulty {
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
        let storage = Faulty::default();
        storage.writes_left.store(u64::MAX, Ordering::Relaxed);
        *storage.bytes.lock().unwrap() = file;
        storage
    }

    #[test]
    fn orders_are_added_to_a_file_of_long_pages_and_changed_and_dropped_there() {
        for page_len in [1024, 2048, 8192] {
            let storage = long_pages(page_len);
            let open = || {
                let file = DataFile::new(Path::new("t.cdx"), Box::new(storage.clone()));
                IndexEditor::new(Arc::new(file), &IndexOptions::new(), false).unwrap()
            };
            let mut index = open();
            let spec = |name: &str, key_len| OrderSpec::new(name, "X").keys(KeyType::Character, key_len);
            let mut add = |spec: &OrderSpec, keys: &dyn Fn(u32) -> Vec<u8>| {
                let mut sorter = KeySorter::new(spec, IndexDialect::Cdx, 10_000).unwrap();
                (1..=3000).for_each(|recno| sorter.push(&keys(recno), recno).unwrap());
                index.create_order(spec, sorter, 10_000, CodePage::Cp437)
            };
            let long = |recno: u32| [&key(recno)[..], &[b'x'; 300]].concat();
            add(&spec("SHORT", 40), &|recno| key(recno).to_vec()).unwrap();
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
        }
    }
}
