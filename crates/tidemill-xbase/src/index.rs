//! Index files: the orders of a table's records by keys.
//!
//! Each format is a module of its own behind one trait, and gives pages to one tree: a page is decoded once into keys in
//! one buffer and record numbers, and kept. [`Order`]s walk the tree, [`Cursor`]s seek in it, bounded by scopes.
//!
//! ```
//! use tidemill_xbase::index::{Collation, Direction, End, Index, IndexOptions, KeyType, KeyValue};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/ord_cdx.cdx");
//! let index = Index::open(path, &IndexOptions::new())?;
//! let order = index.order("T_ID", KeyType::Number, &Collation::binary())?;
//! let mut cursor = order.cursor();
//! assert!(cursor.seek(&order.key(&KeyValue::Integer(250))?, End::First, false)?);
//! assert_eq!((cursor.recno(), cursor.key_no()?), (Some(250), Some(250)));
//! assert_eq!(order.walk(Direction::Backward).count(), 600);
//! # Ok(())
//! # }
//! ```
//!
//! A file says neither the type of its keys (NSX and MDX do) nor their collation: both are the caller's to give, since they follow
//! from the key expression and the program that wrote the file.
//!
//! [`IndexBuilder`] makes new files from keys, [`IndexEditor`] changes the entries of one.
//!
//! What this module does not do: it evaluates no expression, and takes no locks of records.

mod adi;
mod alphabet;
mod bplus_packer;
mod btree_packer;
mod cdx;
mod cdx_builder;
mod collation;
mod compact_idx_builder;
mod cursor;
mod dbase_key;
mod following;
mod idx;
mod index_builder;
mod index_editor;
mod key;
mod key_order;
mod key_sorter;
mod mdx;
mod mdx_builder;
mod ndx;
mod nsx;
mod nsx_builder;
mod ntx;
mod ntx_builder;
mod order;
mod order_spec;
mod out_of_date;
mod page;
mod page_run;
mod page_set;
mod page_store;
mod positions;
mod sequence;
mod single_builder;
mod tag;
mod tree;
mod tree_editor;
mod verify;
mod walk;
mod word_options;

use std::path::Path;
use std::sync::Arc;

use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::header::Dialect;
use crate::source::{Access, Source};
use crate::stamp::FileMemo;

pub(crate) use sequence::{Bound, Sequence};

pub(crate) use adi::AdiKey;
pub use collation::Collation;
pub use cursor::Cursor;
pub use index_builder::IndexBuilder;
pub use index_editor::IndexEditor;
pub use key::{Key, KeyType, KeyValue};
pub(crate) use key::{KeyCodec, KeyEncoding};
pub use key_sorter::{KeySorter, Progress};
pub use order::{Direction, End, Entry, Order};
pub use order_spec::OrderSpec;
pub use out_of_date::OutOfDate;
pub use tag::Tag;
pub(crate) use tree::TreePath;
pub(crate) use verify::{FINDINGS_MAX, shown, unreadable};
pub use verify::{Finding, IndexFault};
pub use walk::Walk;

pub(crate) use key_order::KeyOrder;
use page::{Fault, KeyBytes, PageFormat, PageWriter};
use tag::HeaderText;
use tree::Tree;

/// The format of an index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexDialect {
    /// FoxPro's compound index.
    Cdx,
    /// Clipper's index of one order.
    Ntx,
    /// The compound index of HiPer-SIx.
    Nsx,
    /// The index of dBASE IV, dBASE 5 and dBASE 7, which holds many orders.
    Mdx,
    /// dBASE III's index of one order.
    Ndx,
    /// FoxBASE's and FoxPro's index of one order, compact or not.
    Idx,
    /// The compound index of Advantage's own tables (ADT).
    Adi,
}

impl IndexDialect {
    /// The format that a file's extension stands for.
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "cdx" | "dcx" => Self::Cdx,
            "ntx" => Self::Ntx,
            "nsx" => Self::Nsx,
            "mdx" => Self::Mdx,
            "ndx" => Self::Ndx,
            "idx" => Self::Idx,
            // A data dictionary has its index under a name of its own.
            "adi" | "ai" => Self::Adi,
            _ => return None,
        })
    }
}

impl IndexDialect {
    /// What errors call an index in memory.
    fn memory_name(self) -> &'static str {
        match self {
            Self::Cdx => "memory.cdx",
            Self::Ntx => "memory.ntx",
            Self::Nsx => "memory.nsx",
            Self::Mdx => "memory.mdx",
            Self::Ndx => "memory.ndx",
            Self::Idx => "memory.idx",
            Self::Adi => "memory.adi",
        }
    }
}

/// How to open an index file.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    codepage: CodePage,
    access: Access,
    dialect: Option<IndexDialect>,
    has_candidates: bool,
    cache_bytes: usize,
}

impl IndexOptions {
    /// Every option at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads names and expressions in this code page. Default: cp437.
    #[must_use]
    pub fn codepage(mut self, codepage: CodePage) -> Self {
        self.codepage = codepage;
        self
    }

    /// How the bytes are reached. Default: [`Access::Positional`].
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The format. Default: by the file's extension.
    #[must_use]
    pub fn dialect(mut self, dialect: IndexDialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Of which dialect the table is: Visual FoxPro marks candidate indexes in a CDX as others mark custom orders. Default: one that
    /// has no candidate indexes.
    #[must_use]
    pub fn table_dialect(mut self, dialect: Dialect) -> Self {
        self.has_candidates = dialect.has_candidate_indexes();
        self
    }

    /// About how many bytes of decoded pages each order keeps. Default: 64 MiB.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    fn dialect_of(&self, path: &Path) -> Result<IndexDialect> {
        self.dialect.or_else(|| IndexDialect::from_path(path)).ok_or_else(|| {
            let path = path.display();
            Error::Misuse(format!(
                "{path}: an index is called .cdx, .ntx, .nsx, .mdx, .ndx, .idx or .adi, or its format is given"
            ))
        })
    }
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            codepage: CodePage::Cp437,
            access: Access::default(),
            dialect: None,
            has_candidates: false,
            cache_bytes: 64 << 20,
        }
    }
}

/// An index file that is open for reading.
#[derive(Debug)]
pub struct Index {
    source: Arc<Source>,
    dialect: IndexDialect,
    format: Arc<dyn PageFormat>,
    tags: Vec<Tag>,
    /// The tree of the tags' names, where a file has one.
    directory: Option<Tree>,
    /// The first page of the list of free ones, as the file writes it.
    first_free: u32,
    /// Where the header of the file ends.
    first_page: u64,
    /// The length of the header of a tag.
    header_len: u64,
    cache_bytes: usize,
}

impl Index {
    /// Opens the file at `path` and reads the headers of its tags.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Misuse`] for an extension that names no format; [`Error::Corrupt`] for headers that
    /// contradict themselves or the file's length; [`Error::Unsupported`] for an NTX file of several orders.
    pub fn open(path: impl AsRef<Path>, options: &IndexOptions) -> Result<Self> {
        let path = path.as_ref();
        let dialect = options.dialect_of(path)?;
        Self::read(Source::open(path, options.access)?, dialect, options)
    }

    /// An index in memory, for tests, fuzzers and callers that have the bytes already. Errors call it `memory.cdx` and so
    /// on.
    ///
    /// # Errors
    /// As [`Index::open`].
    pub fn from_bytes(bytes: Vec<u8>, dialect: IndexDialect, options: &IndexOptions) -> Result<Self> {
        Self::read(Source::from_bytes(dialect.memory_name(), bytes), dialect, options)
    }

    fn read(source: Source, dialect: IndexDialect, options: &IndexOptions) -> Result<Self> {
        let source = Arc::new(source);
        let dialect = told_by_header(&source, dialect)?;
        let headers = read_headers(&source, dialect, options)?;
        Ok(Self {
            directory: headers.directory(&source),
            source,
            dialect,
            format: headers.format,
            tags: headers.tags,
            first_free: headers.first_free,
            first_page: headers.first_page,
            header_len: headers.header_len,
            cache_bytes: options.cache_bytes,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// The format.
    pub fn dialect(&self) -> IndexDialect {
        self.dialect
    }

    /// The length of its pages in bytes.
    pub fn page_len(&self) -> u64 {
        self.format.page_len() as u64
    }

    /// What the headers say, in the order in which the tags were made: by the place of their headers.
    pub fn tags(&self) -> &[Tag] {
        &self.tags
    }

    /// An order of the file. Tags are found in any case.
    ///
    /// The type of the keys is that of the key expression; the collation is that of the program that wrote the file, and
    /// does not matter to keys other than text.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the file has no such tag, or keys that cannot be of the type.
    pub fn order(&self, tag: &str, key_type: KeyType, collation: &Collation) -> Result<Arc<Order>> {
        Ok(Arc::new(Order::new(self, self.tag(tag)?, key_type, collation)?))
    }

    /// An order whose keys are as this codec makes them, where the expression says more of them than their type.
    pub(crate) fn order_with(&self, tag: &str, codec: KeyCodec, collation: &Collation) -> Result<Arc<Order>> {
        let mut order = Order::new(self, self.tag(tag)?, codec.key_type, collation)?;
        order.codec = codec;
        Ok(Arc::new(order))
    }

    fn tag(&self, tag: &str) -> Result<&Tag> {
        let Some(tag) = self.tags.iter().find(|known| known.name.eq_ignore_ascii_case(tag)) else {
            let known: Vec<_> = self.tags.iter().map(|tag| tag.name.as_str()).collect();
            let (path, known) = (self.path().display(), known.join(", "));
            return Err(Error::Misuse(format!(
                "{path}: no index tag is called {tag:?}; there are {known}"
            )));
        };
        Ok(tag)
    }

    /// Whether its pages are those of a CDX.
    fn is_compact(&self) -> bool {
        self.format.branches_copy_entries()
    }

    fn tree(&self, root: u32, keys: KeyBytes, order: KeyOrder) -> Tree {
        let (source, format) = (Arc::clone(&self.source), Arc::clone(&self.format));
        Tree::new(source, format, root, keys, order, self.cache_bytes)
    }
}

/// What the headers of a file say.
#[derive(Debug, Clone)]
struct Headers {
    format: Arc<dyn PageWriter>,
    tags: Vec<Tag>,
    /// The root of the tree of the tags' names, and what its keys are.
    directory: Option<(u32, KeyBytes)>,
    first_free: u32,
    /// Where the header of the file ends.
    first_page: u64,
    /// The length of the header of a tag.
    header_len: u64,
}

/// What the headers of files were found to say, with their text in a code page, where there are candidate indexes and where not.
static HEADERS: FileMemo<(IndexDialect, CodePage, bool), Headers> = FileMemo::new(64);

/// The format of a file: a compact index of one order may be called `.cdx` (CodeBase), which does not tell it from a compound one.
fn told_by_header(source: &Source, dialect: IndexDialect) -> Result<IndexDialect> {
    let mut window = Vec::new();
    if dialect != IndexDialect::Cdx || source.len() < cdx::HEADER_LEN as u64 {
        return Ok(dialect);
    }
    let header = source.read("index header", 0, cdx::HEADER_LEN, &mut window)?;
    let kinds = cdx::OPTION_COMPACT | cdx::OPTION_COMPOUND | cdx::OPTION_DIRECTORY;
    Ok(
        match idx::options(header) & kinds == cdx::OPTION_COMPACT && cdx::has_expression(header) {
            true => IndexDialect::Idx,
            false => dialect,
        },
    )
}

fn read_headers(source: &Arc<Source>, dialect: IndexDialect, options: &IndexOptions) -> Result<Headers> {
    let (stamp, key) = (source.stamp(), (dialect, options.codepage, options.has_candidates));
    let known = stamp.as_ref().and_then(|stamp| HEADERS.get(source.path(), stamp, &key));
    if let Some(headers) = known {
        return Ok(headers);
    }
    let text = HeaderText(options.codepage);
    let headers = match dialect {
        IndexDialect::Cdx => read_cdx(source, text, options.has_candidates),
        IndexDialect::Adi => read_adi(source, text),
        IndexDialect::Ntx => read_ntx(source, text),
        IndexDialect::Nsx => read_nsx(source, text),
        IndexDialect::Mdx => read_mdx(source, text),
        IndexDialect::Ndx => read_ndx(source, text),
        IndexDialect::Idx => read_idx(source, text),
    }?;
    if let Some(stamp) = &stamp {
        HEADERS.put(source.path(), stamp, key, headers.clone());
    }
    Ok(headers)
}

impl Headers {
    fn directory(&self, source: &Arc<Source>) -> Option<Tree> {
        let (root, names) = self.directory?;
        let format = Arc::<dyn PageWriter>::clone(&self.format);
        let order = KeyOrder::by_bytes();
        Some(Tree::new(
            Arc::clone(source),
            format,
            root,
            names,
            order,
            DIRECTORY_CACHE,
        ))
    }
}

fn read_cdx(source: &Arc<Source>, text: HeaderText, has_candidates: bool) -> Result<Headers> {
    let mut window = Vec::new();
    let header = source.read("index header", 0, cdx::HEADER_LEN, &mut window)?;
    let layout = cdx::Cdx::from_header(header).map_err(|fault| fault.into_error(source.path(), 0))?;
    read_compound(source, layout, text, has_candidates)
}

fn read_adi(source: &Arc<Source>, text: HeaderText) -> Result<Headers> {
    let mut window = Vec::new();
    let header = source.read("index header", 0, cdx::HEADER_LEN, &mut window)?;
    let layout = cdx::Cdx::from_adi_header(header).map_err(|fault| fault.into_error(source.path(), 0))?;
    read_compound(source, layout, text, false)
}

/// The headers of a file with a directory of tags.
fn read_compound(source: &Arc<Source>, layout: cdx::Cdx, text: HeaderText, has_candidates: bool) -> Result<Headers> {
    let at = |offset| move |fault: Fault| fault.into_error(source.path(), offset);
    let mut window = Vec::new();
    let header = source.read("index header", 0, cdx::HEADER_LEN, &mut window)?;
    let (root, len) = layout.directory(header).map_err(at(0))?;
    let first_free = cdx::first_free(header).map_err(at(0))?;
    let format: Arc<dyn PageWriter> = Arc::new(layout);
    let names = KeyBytes::plain(len, b' ');
    let directory = Tree::new(
        Arc::clone(source),
        Arc::<dyn PageWriter>::clone(&format),
        root,
        names,
        KeyOrder::by_bytes(),
        DIRECTORY_CACHE,
    );
    let mut tags = Vec::new();
    let mut path = TreePath::default();
    let mut found = path.first(&directory)?;
    while found {
        if let Some(step) = path.entry() {
            let name = text.read(step.node.key(step.slot));
            let offset = directory.offset(step.node.recno(step.slot));
            let header = source.read(
                format_args!("header of tag {name}"),
                offset,
                cdx::HEADER_LEN,
                &mut window,
            )?;
            let mut tag = layout.tag(name, header, text, has_candidates).map_err(at(offset))?;
            tag.header = offset;
            tags.push(tag);
        }
        found = path.next(&directory)?;
    }
    tags.sort_by_key(|tag| tag.header);
    Ok(Headers {
        format,
        tags,
        directory: Some((root, names)),
        first_free,
        first_page: cdx::HEADER_LEN as u64,
        header_len: cdx::HEADER_LEN as u64,
    })
}

fn read_ntx(source: &Arc<Source>, text: HeaderText) -> Result<Headers> {
    let at = |fault: Fault| fault.into_error(source.path(), 0);
    let mut window = Vec::new();
    let header = source.read("index header", 0, ntx::PAGE_LEN, &mut window)?;
    if ntx::is_compound(header) {
        return Err(Error::Unsupported {
            path: source.path().to_owned(),
            what: "an NTX file of several orders (CTX); make a file of each".to_owned(),
        });
    }
    let (layout, tag) = ntx::Ntx::from_header(header, stem(source), text).map_err(at)?;
    Ok(Headers {
        format: Arc::new(layout),
        tags: vec![tag],
        directory: None,
        first_free: ntx::first_free(header).map_err(at)?,
        first_page: ntx::PAGE_LEN as u64,
        header_len: ntx::PAGE_LEN as u64,
    })
}

fn read_nsx(source: &Arc<Source>, text: HeaderText) -> Result<Headers> {
    let at = |offset| move |fault: Fault| fault.into_error(source.path(), offset);
    let mut window = Vec::new();
    let header = source.read("index header", 0, nsx::PAGE_LEN, &mut window)?;
    let (layout, items) = nsx::Nsx::from_header(header, text).map_err(at(0))?;
    let first_free = nsx::first_free(header).map_err(at(0))?;
    let mut tags = Vec::with_capacity(items.len());
    for (name, page) in items {
        let offset = u64::from(page) * layout.page_unit();
        let header = source.read(format_args!("header of tag {name}"), offset, nsx::PAGE_LEN, &mut window)?;
        let mut tag = layout.tag(name, header, text).map_err(at(offset))?;
        tag.header = offset;
        tags.push(tag);
    }
    tags.sort_by_key(|tag| tag.header);
    Ok(Headers {
        format: Arc::new(layout),
        tags,
        directory: None,
        first_free,
        first_page: nsx::PAGE_LEN as u64,
        header_len: nsx::PAGE_LEN as u64,
    })
}

fn read_mdx(source: &Arc<Source>, text: HeaderText) -> Result<Headers> {
    let at = |offset| move |fault: Fault| fault.into_error(source.path(), offset);
    let mut window = Vec::new();
    let header = source.read("index header", 0, mdx::HEADER_LEN, &mut window)?;
    let (layout, count) = mdx::Mdx::from_header(header).map_err(at(0))?;
    let first_free = mdx::Mdx::first_free(header).map_err(at(0))?;
    let mut tags = Vec::with_capacity(count);
    for slot in 0..count {
        let (offset, len) = layout.item(slot);
        let item = source.read(format_args!("tag {} in the list", slot + 1), offset, len, &mut window)?;
        let (name, page) = layout.listed(item, text).map_err(at(offset))?;
        let offset = u64::from(page) * mdx::PAGE_UNIT;
        let len = mdx::TAG_HEADER_LEN.min(layout.page_len());
        let header = source.read(format_args!("header of tag {name}"), offset, len, &mut window)?;
        let mut tag = layout.tag(name, header, text).map_err(at(offset))?;
        tag.header = offset;
        tags.push(tag);
    }
    tags.sort_by_key(|tag| tag.header);
    let first_page = tags.first().map_or(mdx::FILE_HEADER_LEN, |tag| tag.header);
    Ok(Headers {
        header_len: layout.page_len() as u64,
        format: Arc::new(layout),
        tags,
        directory: None,
        first_free,
        first_page,
    })
}

fn read_ndx(source: &Arc<Source>, text: HeaderText) -> Result<Headers> {
    let at = |fault: Fault| fault.into_error(source.path(), 0);
    let mut window = Vec::new();
    let header = source.read("index header", 0, ndx::PAGE_LEN, &mut window)?;
    Ok(Headers {
        tags: vec![ndx::Ndx::tag(stem(source), header, text).map_err(at)?],
        format: Arc::new(ndx::Ndx),
        directory: None,
        first_free: 0,
        first_page: ndx::PAGE_LEN as u64,
        header_len: ndx::PAGE_LEN as u64,
    })
}

fn read_idx(source: &Arc<Source>, text: HeaderText) -> Result<Headers> {
    let at = |fault: Fault| fault.into_error(source.path(), 0);
    let mut window = Vec::new();
    let header = source.read("index header", 0, idx::PAGE_LEN, &mut window)?;
    let options = idx::options(header);
    if options & idx::OPTION_COMPACT == 0 {
        return Ok(Headers {
            tags: vec![idx::Idx::tag(stem(source), header, text).map_err(at)?],
            format: Arc::new(idx::Idx),
            directory: None,
            first_free: idx::first_free(header).map_err(at)?,
            first_page: idx::PAGE_LEN as u64,
            header_len: idx::PAGE_LEN as u64,
        });
    }
    if options & idx::OPTION_COMPOUND != 0 {
        return read_cdx(source, text, false);
    }
    let header = source.read("index header", 0, cdx::HEADER_LEN, &mut window)?;
    let layout = cdx::Cdx::from_header(header).map_err(at)?;
    Ok(Headers {
        tags: vec![layout.tag(stem(source), header, text, false).map_err(at)?],
        format: Arc::new(layout),
        directory: None,
        first_free: cdx::first_free(header).map_err(at)?,
        first_page: cdx::HEADER_LEN as u64,
        header_len: cdx::HEADER_LEN as u64,
    })
}

/// What an order is called whose file does not say it: as the file.
fn stem(source: &Source) -> String {
    let stem = source.path().file_stem();
    stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Enough for the names of a thousand tags.
const DIRECTORY_CACHE: usize = 1 << 16;
