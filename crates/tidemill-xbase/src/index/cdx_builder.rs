//! Builds a CDX file in one go: keys are sorted, and packed into pages that are full.
//!
//! Pages are packed and placed as Harbour's DBFCDX does it when it makes an index over a table: its files come out byte for
//! byte. A leaf is closed when the next key does not fit, a branch when it has all the keys that it can have; a page takes the
//! next free place when it is begun.
//!
//! Not here: the keys, which come from who evaluates expressions, and new files with pages longer than 512 bytes.

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::IndexDialect;
use super::adi;
use super::cdx::{
    self, BRANCH_HEADER, Cdx, EntryBits, HARBOUR, HEADER_LEN, LEAF_HEADER, NAME_LEN, OPTION_CANDIDATE, OPTION_COMPACT,
    OPTION_COMPOUND, OPTION_CUSTOM, OPTION_DIRECTORY, OPTION_FOR, OPTION_FULL_TEXT, OPTION_NULLABLE, OPTION_UNIQUE,
    PAGE_LEN, TEXTS,
};
use super::key_sorter::KeySorter;
use super::order_spec::OrderSpec;
use super::page::{NO_PAGE, own_len, put, put_u16, shared_len};
use super::word_options;

/// Makes the bytes of a CDX file, order by order.
#[derive(Debug)]
pub(super) struct CdxBuilder {
    file: Vec<u8>,
    codepage: CodePage,
    record_count: u32,
    names: Vec<(Vec<u8>, u32)>,
    shape: Shape,
}

/// What a CDX and an ADI differ in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) place: Place,
    pub(super) is_adi: bool,
}

impl Shape {
    /// That of a CDX of the usual pages.
    pub(super) const CDX: Self = Self {
        place: Place::FILE,
        is_adi: false,
    };

    fn dialect(self) -> IndexDialect {
        if self.is_adi {
            IndexDialect::Adi
        } else {
            IndexDialect::Cdx
        }
    }

    fn name_len(self) -> usize {
        if self.is_adi { adi::NAME_LEN } else { NAME_LEN }
    }

    pub(super) fn key_len_max(self) -> usize {
        match self.is_adi {
            true => Cdx::adi(self.place.page_len).key_len_max(),
            false => cdx::key_len_max(self.place.page_len),
        }
    }
}

impl CdxBuilder {
    /// A file for a table of `record_count` records whose expressions are in `codepage`.
    pub(super) fn new(record_count: u32, codepage: CodePage) -> Self {
        Self::of(Shape::CDX, record_count, codepage)
    }

    /// An ADI of pages of this length.
    pub(super) fn adi(page_len: usize, record_count: u32, codepage: CodePage) -> Self {
        let place = Place {
            base: 0,
            page_len,
            unit: page_len,
        };
        Self::of(Shape { place, is_adi: true }, record_count, codepage)
    }

    fn of(shape: Shape, record_count: u32, codepage: CodePage) -> Self {
        let page_len = shape.place.page_len;
        Self {
            // The first page of the directory stands right behind the header, whatever comes later.
            file: vec![0; HEADER_LEN.next_multiple_of(page_len) + page_len],
            codepage,
            record_count,
            names: Vec::new(),
            shape,
        }
    }

    pub(super) fn dialect(&self) -> IndexDialect {
        self.shape.dialect()
    }

    /// Adds an order with the keys that a [`KeySorter`] for it has been given.
    ///
    /// # Errors
    /// As [`IndexBuilder::add`](super::IndexBuilder::add).
    pub(super) fn add(&mut self, order: &OrderSpec, keys: KeySorter) -> Result<()> {
        let (name, header) = self.check(order)?;
        let codec = order.codec(self.dialect())?;
        let at = self.file.len();
        self.file.extend_from_slice(&header);
        let (place, trail) = (self.shape.place, order.trail_of(codec));
        let mut packer = Packer::at(place, &mut self.file, None, order.key_len, trail, self.record_count);
        let sorted = keys.finish(|key, recno| {
            packer.add(key, recno);
            Ok(())
        });
        let root = packer.finish();
        if let Err(e) = sorted {
            self.file.truncate(at);
            return Err(e);
        }
        let unit = self.shape.place.unit;
        let place = |at: usize| u32::try_from(at / unit).map_err(|_| too_large());
        place(self.file.len())?;
        put(&mut self.file, at, &place(root)?.to_le_bytes());
        self.names.push((name, place(at)?));
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a file that grows beyond 4 GiB.
    pub(super) fn finish(mut self) -> Result<Vec<u8>> {
        self.names.sort_unstable();
        let last = self.names.iter().map(|(_, header)| *header).max().unwrap_or_default();
        let Shape { place, is_adi } = self.shape;
        let (name_len, first) = (self.shape.name_len(), HEADER_LEN.next_multiple_of(place.page_len));
        let mut packer = Packer::at(place, &mut self.file, Some(first), name_len, b' ', last);
        for (name, header) in &self.names {
            packer.add(name, *header);
        }
        let root = packer.finish();
        let root = u32::try_from(root / place.unit).map_err(|_| too_large())?;
        let options = match is_adi {
            true => OPTION_COMPOUND | OPTION_COMPACT,
            false => OPTION_DIRECTORY | OPTION_COMPOUND | OPTION_COMPACT,
        };
        let mut header = header_page(name_len, options, false, &[], &[]);
        put(&mut header, 0, &root.to_le_bytes());
        if is_adi {
            put(&mut header, 15, b" ");
            put_u16(&mut header, 18, place.page_len);
            put(&mut header, 20, &adi::STAMP);
            // Neither texts nor a place for them.
            put(&mut header, 502, &[0; 10]);
        } else {
            put(&mut header, 20, &HARBOUR);
        }
        put(&mut self.file, 0, &header);
        Ok(self.file)
    }

    /// The name and the header of an order that the file can hold.
    fn check(&self, order: &OrderSpec) -> Result<(Vec<u8>, Vec<u8>)> {
        order.codec(self.dialect())?;
        let (len, most) = (order.key_len, self.shape.key_len_max());
        if !(1..=most).contains(&len) {
            return Err(order.refuse_key_len(most));
        }
        let name = name_bytes(order, self.codepage, self.shape)?;
        if self.names.iter().any(|(known, _)| *known == name) {
            return Err(order.refuse("already exists"));
        }
        Ok((name, order_header(order, self.codepage, self.shape)?))
    }
}

/// The name of an order as the directory has it.
pub(super) fn name_bytes(order: &OrderSpec, codepage: CodePage, shape: Shape) -> Result<Vec<u8>> {
    let most = shape.name_len();
    let mut name = order.encode(codepage, &order.name.to_uppercase())?;
    if name.is_empty() || name.len() > most {
        return Err(order.refuse(&format!("a name of {} bytes, not 1 to {most}", name.len())));
    }
    name.resize(most, b' ');
    Ok(name)
}

/// The header of an order without its root, and what is left of the last page that it takes.
pub(super) fn order_header(order: &OrderSpec, codepage: CodePage, shape: Shape) -> Result<Vec<u8>> {
    let page_len = shape.place.page_len;
    let expression = order.encode(codepage, &order.expression)?;
    let condition = order.encode(codepage, order.condition.as_deref().unwrap_or_default())?;
    // Both texts end in a NUL.
    let room = HEADER_LEN - TEXTS - 2;
    if expression.is_empty() || expression.len() + condition.len() > room {
        let found = expression.len() + condition.len();
        return Err(order.refuse(&format!("expressions of {found} bytes, not 1 to {room}")));
    }
    let mut options = OPTION_COMPACT | OPTION_COMPOUND;
    for (is_set, option) in [
        (order.is_unique, OPTION_UNIQUE),
        // Advantage has the bit of UNIQUE for what refuses a second key.
        (order.is_candidate && shape.is_adi, OPTION_UNIQUE),
        (order.is_candidate && !shape.is_adi, OPTION_CANDIDATE),
        (order.is_custom, OPTION_CUSTOM),
        (order.is_nullable, OPTION_NULLABLE),
        (!condition.is_empty(), OPTION_FOR),
        (order.full_text.is_some(), OPTION_FULL_TEXT),
    ] {
        options |= if is_set { option } else { 0 };
    }
    let mut header = header_page(order.key_len, options, order.is_descending, &expression, &condition);
    put_u16(&mut header, 18, page_len);
    if shape.is_adi {
        // The condition follows the key's text without saying where.
        put(&mut header, 15, &[order.trail.unwrap_or_default()]);
        put_u16(&mut header, 18, 0);
        put_u16(&mut header, 504, 0);
    } else if order.is_candidate || order.is_nullable {
        // With these lengths the order would be a custom or a temporary one of Harbour.
        put(&mut header, 16, &[0; 4]);
    }
    word_options::put(order, codepage, expression.len() + condition.len() + 2, &mut header)?;
    header.resize(HEADER_LEN.next_multiple_of(page_len), 0);
    Ok(header)
}

/// A header without its root. The key's text begins the pool, that of the condition follows.
fn header_page(key_len: usize, options: u8, is_descending: bool, expression: &[u8], condition: &[u8]) -> Vec<u8> {
    let mut header = vec![0; HEADER_LEN];
    let (key_text, for_text) = (expression.len() + 1, condition.len() + 1);
    for (at, number) in [
        (12, key_len),
        (16, HEADER_LEN),
        (18, PAGE_LEN),
        (502, usize::from(is_descending)),
        (504, key_text),
        (506, for_text),
        (510, key_text),
    ] {
        put_u16(&mut header, at, number);
    }
    put(&mut header, 14, &[options, 1]);
    put(&mut header, TEXTS, expression);
    put(&mut header, TEXTS + key_text, condition);
    header
}

fn too_large() -> Error {
    Error::Misuse("an index file of more than 2^32 - 1 places".to_owned())
}

/// Where pages are packed, and how long they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// How many bytes of the file come before those that are given.
    pub(super) base: usize,
    pub(super) page_len: usize,
    /// What a page number counts, in bytes.
    pub(super) unit: usize,
}

impl Place {
    /// A whole file of pages of the usual length.
    const FILE: Self = Self {
        base: 0,
        page_len: PAGE_LEN,
        unit: 1,
    };

    /// The number of the page at an offset.
    fn number(self, at: usize) -> u32 {
        match at {
            NONE => NO_PAGE,
            at => (at / self.unit) as u32,
        }
    }
}

/// Packs sorted keys into the pages of one tree.
pub(super) struct Packer<'a> {
    file: &'a mut Vec<u8>,
    place: Place,
    /// A place that is kept for the first page.
    first_page: Option<usize>,
    key_len: usize,
    trail: u8,
    bits: EntryBits,
    /// The open page of each level, leaves first.
    levels: Vec<OpenPage>,
    last: Vec<u8>,
    last_recno: u32,
}

struct OpenPage {
    at: usize,
    left: usize,
    count: usize,
    /// What has been written of the entries.
    entries: Vec<u8>,
    /// A leaf's texts: they grow from the page's end, the last one first.
    texts: Vec<u8>,
    /// A branch's last record.
    last_recno: u32,
}

/// No page.
const NONE: usize = usize::MAX;

impl<'a> Packer<'a> {
    pub(super) fn new(
        file: &'a mut Vec<u8>,
        first_page: Option<usize>,
        key_len: usize,
        trail: u8,
        last_recno: u32,
    ) -> Self {
        Self::at(Place::FILE, file, first_page, key_len, trail, last_recno)
    }

    /// A packer of pages that follow those of `file`.
    pub(super) fn at(
        place: Place,
        file: &'a mut Vec<u8>,
        first_page: Option<usize>,
        key_len: usize,
        trail: u8,
        last_recno: u32,
    ) -> Self {
        Self {
            file,
            place,
            first_page,
            key_len,
            trail,
            bits: EntryBits::new(key_len, last_recno),
            levels: Vec::new(),
            last: Vec::new(),
            last_recno: 0,
        }
    }

    pub(super) fn add(&mut self, key: &[u8], recno: u32) {
        let room = own_len(key, self.trail);
        let trailing = self.key_len - room;
        let mut shared = shared_len(key, &self.last).min(room);
        let free = self
            .levels
            .first()
            .map(|leaf| self.place.page_len - LEAF_HEADER - leaf.count * self.bits.width - leaf.texts.len());
        if free.is_none_or(|free| free < self.key_len - shared - trailing + self.bits.width) {
            shared = 0;
            let last = std::mem::take(&mut self.last);
            self.begin_page(0, &last, self.last_recno);
        }
        let own = key.get(shared..self.key_len - trailing).unwrap_or_default();
        let packed = self.bits.pack(recno, shared, trailing);
        if let Some(leaf) = self.levels.first_mut() {
            leaf.entries
                .extend_from_slice(packed.get(..self.bits.width).unwrap_or_default());
            leaf.texts.splice(0..0, own.iter().copied());
            leaf.count += 1;
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        self.last_recno = recno;
    }

    /// The place of the root.
    pub(super) fn finish(mut self) -> usize {
        if self.levels.is_empty() {
            self.begin_page(0, &[], 0);
        }
        let last = std::mem::take(&mut self.last);
        let mut level = 0;
        loop {
            let at = self.levels.get(level).map_or(0, |page| page.at);
            let is_root = level + 1 == self.levels.len();
            if !is_root {
                self.add_branch(level + 1, &last, self.last_recno, at);
            }
            self.close_page(level, NONE, is_root);
            if is_root {
                return at;
            }
            level += 1;
        }
    }

    fn add_branch(&mut self, level: usize, key: &[u8], recno: u32, below: usize) {
        let most = (self.place.page_len - BRANCH_HEADER) / (self.key_len + 8);
        if self.levels.get(level).is_none_or(|page| page.count >= most) {
            let (last, last_recno) = self.levels.get(level).map_or((Vec::new(), 0), |page| {
                let begin = (page.count - 1) * (self.key_len + 8);
                (
                    page.entries
                        .get(begin..begin + self.key_len)
                        .unwrap_or_default()
                        .to_vec(),
                    page.last_recno,
                )
            });
            self.begin_page(level, &last, last_recno);
        }
        if let Some(page) = self.levels.get_mut(level) {
            page.entries.extend_from_slice(key);
            page.entries.extend_from_slice(&recno.to_be_bytes());
            page.entries.extend_from_slice(&self.place.number(below).to_be_bytes());
            page.last_recno = recno;
            page.count += 1;
        }
    }

    /// Begins a page on a level. The one that was open there gets an entry in the branch above.
    fn begin_page(&mut self, level: usize, last: &[u8], last_recno: u32) {
        let at = self.first_page.take().unwrap_or_else(|| {
            let at = self.file.len();
            self.file.resize(at + self.place.page_len, 0);
            self.place.base + at
        });
        let before = self.levels.get(level).map(|page| page.at);
        if let Some(before) = before {
            self.add_branch(level + 1, last, last_recno, before);
            self.close_page(level, at, false);
        }
        let page = OpenPage {
            at,
            left: before.unwrap_or(NONE),
            count: 0,
            entries: Vec::new(),
            texts: Vec::new(),
            last_recno: 0,
        };
        match self.levels.get_mut(level) {
            Some(open) => *open = page,
            None => self.levels.push(page),
        }
    }

    fn close_page(&mut self, level: usize, right: usize, is_root: bool) {
        let Some(open) = self.levels.get(level) else { return };
        let page_len = self.place.page_len;
        let mut page = vec![0; page_len];
        put_u16(&mut page, 0, usize::from(is_root) + if level == 0 { 2 } else { 0 });
        put_u16(&mut page, 2, open.count);
        put(&mut page, 4, &self.place.number(open.left).to_le_bytes());
        put(&mut page, 8, &self.place.number(right).to_le_bytes());
        if level == 0 {
            put_u16(
                &mut page,
                12,
                page_len - LEAF_HEADER - open.entries.len() - open.texts.len(),
            );
            self.bits.put(&mut page);
            put(&mut page, LEAF_HEADER, &open.entries);
            put(&mut page, page_len - open.texts.len(), &open.texts);
        } else {
            put(&mut page, BRANCH_HEADER, &open.entries);
        }
        put(self.file, open.at - self.place.base, &page);
    }
}
