//! An index file that is changed entry by entry, and (in [`tags`]) order by order.
//!
//! What this module does not do: it evaluates no expression, and takes no lock.

#[cfg(test)]
mod mdx_tests;
mod tags;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::lock::{Sharing, open_shared_or_exclusive};
use crate::regular_file;
use crate::source::Source;
use crate::stamp::FileStamp;
use crate::storage::DataFile;

use super::collation::Collation;
use super::key::KeyType;
use super::key_order::KeyOrder;
use super::order::keys_of;
use super::page::COUNTERS_LEN;
use super::page_store::PageStore;
use super::tag::Tag;
use super::tree_editor::TreeEditor;
use super::{Index, IndexBuilder, IndexDialect, IndexOptions, read_headers, told_by_header};

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
    /// How often another program was found to have made, dropped or changed orders.
    relisted: u64,
}

impl IndexEditor {
    /// Opens the file at `path` for this program alone.
    ///
    /// # Errors
    /// As [`Index::open`]; [`Error::Locked`] when other programs have the file open.
    pub fn open(path: impl AsRef<Path>, options: &IndexOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = regular_file::open_to_write(path)?;
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
        let dialect = told_by_header(&source, dialect)?;
        let headers = read_headers(&source, dialect, options)?;
        let directory = headers
            .directory
            .map(|(root, names)| TreeEditor::new(names, KeyOrder::by_bytes(), root, headers.format.root_at(0), false));
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
            relisted: 0,
        })
    }

    /// Another number than before whenever entries or orders may be others.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// How often another program was found to have made, dropped or changed orders: those are to be asked for again then.
    pub(crate) fn relisted(&self) -> u64 {
        self.relisted
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

    /// What makes the file anew: see [`IndexBuilder::like`].
    pub(crate) fn builder(&self, record_count: u32, codepage: CodePage) -> Result<IndexBuilder> {
        let header = |len| {
            let mut header = vec![0; len];
            self.file().read("index header", 0, &mut header)?;
            Ok(header)
        };
        let is_compact = self.store.format.branches_copy_entries();
        let old = (self.path(), self.dialect, is_compact);
        IndexBuilder::like_file(old, header, record_count, codepage)
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
                "{path}: no index tag is called {tag:?}; there are {known}"
            )));
        };
        if tag.is_distinct {
            return Err(self.unsupported("tags of dBASE 7 that refuse repeated keys are not changed"));
        }
        let format = &self.store.format;
        let is_reversed = tag.is_descending && format.descends_in_file();
        let (_, keys, order) = keys_of(self.dialect, tag, key_type, collation, is_reversed)?;
        if format.branch_room(keys) < 2 {
            return Err(self.unsupported("an index whose pages hold a single key cannot be changed; rebuild it"));
        }
        let is_unique = tag.is_unique || tag.is_candidate;
        let tree = TreeEditor::new(keys, order, tag.root, format.root_at(tag.header), is_unique);
        if let Some(place) = self.trees.get_mut(at)
            && place.is_none()
        {
            *place = Some(tree);
        }
        Ok(at)
    }

    /// Puts an entry into an order, given by its place. `false` when it is there already, or in an order of unique keys or a
    /// candidate index another record with the key.
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

    /// A record that has a key in an order.
    ///
    /// # Errors
    /// As [`IndexEditor::insert`].
    pub(crate) fn holder(&mut self, order: usize, key: &[u8]) -> Result<Option<u32>> {
        let mut holder = None;
        // Any record does for the length of the key to be looked at.
        self.change(order, key, 1, |tree, store, key, _| {
            holder = tree.holder(store, key)?;
            Ok(false)
        })?;
        Ok(holder)
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
        let tag_len = self.store.format.tag_counters_len();
        for tree in self.trees.iter_mut().flatten().filter(|_| tag_len > 0) {
            let Some(change) = tree.change else { continue };
            let mut header = vec![0; tag_len];
            self.store.file().read("header of a tag", tree.root_at, &mut header)?;
            self.store.format.count_tag_change(change, &mut header);
            self.store.file().write(tree.root_at, &header)?;
            tree.change = None;
            has_changed = true;
        }
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

    /// What the file looks like, if everything that was changed is in it.
    pub(crate) fn stamp(&mut self) -> Result<Option<FileStamp>> {
        self.flush()?;
        Ok(self.store.file().storage().stamp())
    }

    /// Whether another program has changed the file, as far as its header tells.
    pub(crate) fn has_been_changed(&mut self) -> Result<bool> {
        let header = self.store.read_header()?;
        Ok(!self.store.is_current(&header))
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
            self.trees = headers.tags.iter().map(|_| None).collect();
            self.relisted += 1;
        }
        for (tree, tag) in self.trees.iter_mut().zip(&headers.tags) {
            if let Some(tree) = tree {
                (tree.root, tree.root_written) = (tag.root, tag.root);
                tree.root_at = self.store.format.root_at(tag.header);
            }
        }
        if let (Some(tree), Some((root, _))) = (&mut self.directory, headers.directory) {
            (tree.root, tree.root_written) = (root, root);
        }
        self.tags = headers.tags;
        Ok(())
    }

    /// Flushes, but for an editor that is unusable: who made it so has been told.
    pub(crate) fn flush_if_sound(&mut self) -> Result<()> {
        if self.is_broken { Ok(()) } else { self.flush() }
    }

    /// Writes another file's bytes in the place of this one's. The file is open for this program alone, and its orders have
    /// to be asked for again.
    pub(crate) fn replace_by(&mut self, bytes: &[u8]) -> Result<()> {
        self.is_broken = true;
        let file = Arc::clone(self.store.file());
        file.write(0, bytes)?;
        file.set_len(bytes.len() as u64)?;
        self.move_to(file)
    }

    /// Goes on with another file, which has taken the place of this one.
    pub(crate) fn move_to(&mut self, file: Arc<DataFile>) -> Result<()> {
        let (version, relisted) = (self.version + 1, self.relisted);
        *self = Self::new(file, &self.options, self.is_shared)?;
        (self.version, self.relisted) = (version, relisted);
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
            return Err(Error::Misuse(format!("{path}: index tag {order} was not opened")));
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

    use super::super::order::Direction;
    use super::super::{IndexBuilder, OrderSpec, cdx};
    use super::*;
    use crate::codepage::CodePage;
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
                IndexDialect::Ntx => 2,
                IndexDialect::Nsx => 4,
                _ => 11,
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
}
