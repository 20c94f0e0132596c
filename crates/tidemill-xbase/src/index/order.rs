//! An order: one tag of an index file, with the type of its keys and their collation.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};

use super::adi::AdiKey;
use super::collation::Collation;
use super::cursor::Cursor;
use super::key::{Key, KeyCodec, KeyEncoding, KeyType, KeyValue};
use super::key_order::KeyOrder;
use super::page::{KeyBytes, KeyForm, NUMBER, Node};
use super::positions::Positions;
use super::sequence::Sequence;
use super::tag::Tag;
use super::tree::{Tree, TreePath};
use super::walk::Walk;
use super::{Index, IndexDialect};

/// One order of records, for reading. It is `Send` and `Sync`; cursors and walks share it through an [`Arc`].
///
/// An order shows the file as it was: its root is the one that was read when the file was opened, and decoded pages stay in
/// a cache. After another program's update the file is opened again.
#[derive(Debug)]
pub struct Order {
    tag: Tag,
    pub(crate) codec: KeyCodec,
    pub(crate) tree: Tree,
    /// Whether the order runs against its tree.
    pub(crate) walks_back: bool,
    positions: OnceLock<Arc<Positions>>,
    sequence: OnceLock<Arc<Sequence>>,
    /// For how many records it was asked whether it has each once, and the answer.
    pub(super) each: OnceLock<(u32, bool)>,
}

impl Order {
    pub(super) fn new(index: &Index, tag: &Tag, key_type: KeyType, collation: &Collation) -> Result<Self> {
        let is_reversed = tag.is_descending && index.format.descends_in_file();
        let (codec, bytes, order) = keys_of(index.dialect, tag, key_type, collation, is_reversed)?;
        Ok(Self {
            walks_back: tag.is_descending && !is_reversed,
            tree: index.tree(tag.root, bytes, order),
            tag: tag.clone(),
            codec,
            positions: OnceLock::new(),
            sequence: OnceLock::new(),
            each: OnceLock::new(),
        })
    }

    /// What the header says.
    pub fn tag(&self) -> &Tag {
        &self.tag
    }

    /// The type of the keys.
    pub fn key_type(&self) -> KeyType {
        self.codec.key_type
    }

    /// Whether the keys are times of a day: timestamps of 1970-01-01.
    pub fn is_of_times(&self) -> bool {
        self.codec.encoding == KeyEncoding::Adi(AdiKey::Time)
    }

    /// What a value looks like when it is sought: text as far as it goes, so that it finds every key that begins so, and
    /// everything else whole. A date in an order of timestamps finds the moments of that day.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a value of another type, or a number or day that no key of this order can hold.
    pub fn key(&self, value: &KeyValue<'_>) -> Result<Key> {
        self.named(self.codec.key(value))
    }

    /// Whether it is known how keys are made and sorted. Where it is not, the order is walked as it is stored, unless it is a
    /// [bitmap](Tag::is_bitmap), and seeks, scopes and changes are refused with [`Error::UnknownCollation`].
    pub fn is_known(&self) -> bool {
        self.codec.is_known() && self.tree.order.is_known()
    }

    /// Names the order in an error that says of no order what is wrong.
    fn named<T>(&self, made: Result<T>) -> Result<T> {
        made.map_err(|e| match e {
            Error::UnknownCollation | Error::UnknownKeys | Error::NoKeys => {
                Error::order(self.tree.source.path(), &self.tag.name, e)
            }
            e => e,
        })
    }

    /// Refuses an order that has no keys.
    fn has_keys(&self) -> Result<()> {
        match self.tag.is_bitmap {
            false => Ok(()),
            true => Err(Error::order(self.tree.source.path(), &self.tag.name, Error::NoKeys)),
        }
    }

    /// As [`Order::key`], in the place of a key that is not needed any more.
    ///
    /// # Errors
    /// As [`Order::key`]; there is no use in the key then.
    pub fn put_key(&self, value: &KeyValue<'_>, key: &mut Key) -> Result<()> {
        self.named(self.codec.put_key(value, key))
    }

    /// The key of a value as the file stores it, of [`Tag::key_len`] bytes.
    ///
    /// # Errors
    /// As [`Order::key`].
    pub fn stored_key(&self, value: &KeyValue<'_>) -> Result<Vec<u8>> {
        self.named(self.codec.encode(value))
    }

    /// The value of a stored key; `None` when the bytes are no value of this order's type. Text has its blanks.
    pub fn value<'a>(&self, key: &'a [u8]) -> Option<KeyValue<'a>> {
        self.codec.decode(key)
    }

    /// A cursor before the first entry.
    pub fn cursor(self: &Arc<Self>) -> Cursor {
        Cursor::new(Arc::clone(self))
    }

    /// Every entry in order, or from the last to the first.
    pub fn walk(self: &Arc<Self>, direction: Direction) -> Walk {
        Walk::new(self.cursor(), direction)
    }

    /// How many entries the order has. The first call reads the tree once, unless the process has counted the file before and
    /// it is what it was; see [`Cursor::key_no`].
    ///
    /// # Errors
    /// [`Error::Corrupt`] for pages that cannot be decoded and a tree that reaches a page twice.
    pub fn key_count(&self) -> Result<u64> {
        Ok(self.positions()?.total())
    }

    pub(crate) fn positions(&self) -> Result<&Positions> {
        self.has_keys()?;
        if let Some(positions) = self.positions.get() {
            return Ok(positions);
        }
        let positions = Positions::of_file(&self.tree)?;
        Ok(self.positions.get_or_init(|| positions))
    }

    /// The records of the order and their places, for a table of so many records. Read once.
    pub(crate) fn sequence(&self, record_count: u32) -> Result<Arc<Sequence>> {
        self.has_keys()?;
        if let Some(sequence) = self.sequence.get() {
            return Ok(Arc::clone(sequence));
        }
        let sequence = Arc::new(Sequence::read(self, record_count)?);
        Ok(Arc::clone(self.sequence.get_or_init(|| sequence)))
    }

    /// Goes to the first entry in the order, or to the last.
    pub(crate) fn go_end(&self, path: &mut TreePath, end: End) -> Result<bool> {
        self.has_keys()?;
        match (end, self.walks_back) {
            (End::First, false) | (End::Last, true) => path.first(&self.tree),
            (End::Last, false) | (End::First, true) => path.last(&self.tree),
        }
    }

    /// Goes one entry on in the order, or back.
    pub(crate) fn step(&self, path: &mut TreePath, direction: Direction) -> Result<bool> {
        match (direction, self.walks_back) {
            (Direction::Forward, false) | (Direction::Backward, true) => path.next(&self.tree),
            (Direction::Backward, false) | (Direction::Forward, true) => path.previous(&self.tree),
        }
    }

    /// With [`End::First`] the first entry in the order that does not come before the key, with [`End::Last`] the last
    /// that does not come behind it.
    pub(crate) fn go_key(&self, path: &mut TreePath, key: &Key, end: End) -> Result<bool> {
        self.has_keys()?;
        let tree = &self.tree;
        if !tree.order.is_known() {
            return Err(Error::order(
                tree.source.path(),
                &self.tag.name,
                Error::UnknownCollation,
            ));
        }
        let is_first_in_tree = (end == End::First) != self.walks_back;
        let number = match tree.keys.len == NUMBER {
            true => tree.order.number(key),
            false => None,
        };
        if let Some(number) = number {
            if is_first_in_tree {
                return path.seek_slot(tree, |node| node.partition_numbers(|stored| stored < number));
            }
            return match path.seek_slot(tree, |node| node.partition_numbers(|stored| stored <= number))? {
                true => path.previous(tree),
                false => path.last(tree),
            };
        }
        if is_first_in_tree {
            return path.seek(tree, |stored, _| self.tree.order.probe(key, stored).is_gt());
        }
        match path.seek(tree, |stored, _| self.tree.order.probe(key, stored).is_ge())? {
            true => path.previous(tree),
            false => path.last(tree),
        }
    }

    /// Where a key stands against the path's entry in the order: `Less` when it comes before it.
    pub(crate) fn probe(&self, key: &Key, stored: &[u8]) -> std::cmp::Ordering {
        let order = self.tree.order.probe(key, stored);
        if self.walks_back { order.reverse() } else { order }
    }
}

/// How the keys of a tag are written, packed and compared.
///
/// # Errors
/// [`Error::Misuse`] for keys that cannot be of the type.
pub(super) fn keys_of(
    dialect: IndexDialect,
    tag: &Tag,
    key_type: KeyType,
    collation: &Collation,
    is_reversed: bool,
) -> Result<(KeyCodec, KeyBytes, KeyOrder)> {
    if let Some(stored) = tag.key_type.filter(|stored| *stored != key_type) {
        let name = &tag.name;
        return Err(Error::Misuse(format!(
            "index tag {name} has keys of type {stored}, not {key_type}"
        )));
    }
    let encoding = match dialect {
        IndexDialect::Ntx => KeyEncoding::Text(tag.decimals.unwrap_or_default()),
        IndexDialect::Cdx | IndexDialect::Nsx | IndexDialect::Idx => tag.encoding(key_type),
        IndexDialect::Mdx | IndexDialect::Ndx => KeyEncoding::Dbase,
        IndexDialect::Adi => KeyEncoding::Adi(AdiKey::of_type(key_type)),
    };
    if key_type == KeyType::Character && tag.form != KeyForm::Plain {
        let name = &tag.name;
        return Err(Error::Misuse(format!(
            "index tag {name} has keys of numbers or dates, not of type {key_type}"
        )));
    }
    let len = tag.key_len;
    let codec = KeyCodec {
        key_type,
        len,
        encoding,
        is_nullable: tag.is_nullable,
        has_spare: false,
    }
    .of_candidate(tag.is_candidate)
    .check(&tag.name)?;
    let bytes = KeyBytes {
        form: tag.form,
        ..KeyBytes::plain(len, tag.trail.unwrap_or(codec.trail()))
    };
    let order = match encoding {
        KeyEncoding::Collated | KeyEncoding::Adi(_) => KeyOrder::new(key_type, &Collation::binary(), is_reversed),
        _ => KeyOrder::new(key_type, collation, is_reversed),
    };
    Ok((codec, bytes, order))
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.tag.name, self.tree.source.path().display())
    }
}

/// Which way an order is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first entry to the last.
    Forward,
    /// From the last entry to the first.
    Backward,
}

/// Which of several equal entries is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The first in the order.
    First,
    /// The last in the order.
    Last,
}

/// A key of an order and the record that has it. It keeps its decoded page alive.
#[derive(Clone)]
pub struct Entry {
    node: Arc<Node>,
    slot: usize,
}

impl Entry {
    pub(crate) fn new(node: Arc<Node>, slot: usize) -> Self {
        Self { node, slot }
    }

    /// The key's bytes as they are stored, of [`Tag::key_len`].
    pub fn key(&self) -> &[u8] {
        self.node.key(self.slot)
    }

    /// The record, counted from 1.
    pub fn recno(&self) -> u32 {
        self.node.recno(self.slot)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key().escape_ascii().to_string();
        f.debug_struct("Entry")
            .field("key", &key)
            .field("recno", &self.recno())
            .finish()
    }
}
