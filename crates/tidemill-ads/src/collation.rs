//! Which alphabet the text of an index file is sorted by, and which letters its expressions know: no file says it.
//!
//! The keys at the beginning of each order of text are looked at: where they are not sorted by their bytes, or are not the keys
//! that the records have with ASCII letters alone, a language is taken with which they are. More tables of languages belong to
//! [`Collation::languages`].

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tidemill_xbase::expression::RecordBytes;
use tidemill_xbase::index::{Collation, Direction, Entry, Index, IndexOptions, KeyType, Tag};
use tidemill_xbase::{CodePage, KeySettings, OrderKeys, Table};

/// How many entries of an order are looked at.
const ENTRIES: usize = 4096;
/// For how many of them the key is made anew.
const KEYS: usize = 64;

/// How many index files are remembered.
const FILES: usize = 64;
/// A file that changed so lately may change again without another time of its change.
const RACY: Duration = Duration::from_secs(2);

/// What the index files of this process were found to be, the last one last, as long as nobody changes them.
static KNOWN: Mutex<Vec<(FileState, KeySettings)>> = Mutex::new(Vec::new());

/// An index file as it was when its keys were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState {
    place: (u64, u64),
    len: u64,
    changed: (i64, i64, i64, i64),
    codepage: CodePage,
}

impl FileState {
    /// `None` for a file that changed too lately to be known again.
    fn of(path: &Path, codepage: CodePage) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        let age = SystemTime::now().duration_since(meta.modified().ok()?).ok()?;
        (age > RACY).then(|| Self {
            place: (meta.dev(), meta.ino()),
            len: meta.len(),
            changed: (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()),
            codepage,
        })
    }
}

/// How the expressions of an index file are compiled and its text is sorted, as far as its keys tell. What cannot be read is
/// for who opens the file to tell.
pub(crate) fn of_index(path: &Path, table: &Table) -> KeySettings {
    let Some(state) = FileState::of(path, table.codepage()) else {
        return found(path, table);
    };
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, settings)) = known().iter().find(|(known, _)| *known == state) {
        return settings.clone();
    }
    let settings = found(path, table);
    let mut known = known();
    known.retain(|(known, _)| known.place != state.place);
    if known.len() >= FILES {
        known.remove(0);
    }
    known.push((state, settings.clone()));
    settings
}

fn found(path: &Path, table: &Table) -> KeySettings {
    let plain = KeySettings::new(table.codepage());
    let Ok(index) = Index::open(path, &IndexOptions::new().codepage(table.codepage())) else {
        return plain;
    };
    let Ok(file) = File::open(table.path()) else {
        return plain;
    };
    if fits(&index, (table, &file), &plain, &Collation::binary()) {
        return plain;
    }
    let pages = [table.codepage()]
        .into_iter()
        .chain(CodePage::all().filter(|page| *page != table.codepage()));
    for page in pages {
        for language in Collation::languages() {
            if let (Ok(settings), Ok(collation)) = (
                KeySettings::language(page, language),
                Collation::national(language, page),
            ) && fits(&index, (table, &file), &settings, &collation)
            {
                return settings;
            }
        }
    }
    plain
}

fn fits(index: &Index, table: (&Table, &File), settings: &KeySettings, collation: &Collation) -> bool {
    index
        .tags()
        .iter()
        .all(|tag| tag_fits(index, tag, table, settings, collation).unwrap_or(true))
}

/// Whether an order of text is sorted so, and has the keys of the records; `None` for other orders.
fn tag_fits(
    index: &Index,
    tag: &Tag,
    (table, file): (&Table, &File),
    settings: &KeySettings,
    collation: &Collation,
) -> Option<bool> {
    let keys = OrderKeys::of_tag(tag, index.dialect(), table.fields(), settings).ok()?;
    if keys.key_type() != KeyType::Character {
        return None;
    }
    let order = index.order(&tag.name, KeyType::Character, collation).ok()?;
    let entries: Result<Vec<Entry>, _> = order.walk(Direction::Forward).take(ENTRIES).collect();
    let Ok(entries) = entries else { return Some(false) };
    let weights = collation.weights();
    let weight = |byte: &u8| {
        weights.map_or(*byte, |weights| {
            weights.get(usize::from(*byte)).copied().unwrap_or(*byte)
        })
    };
    let is_sorted = entries.windows(2).all(|pair| match pair {
        [first, second] => {
            let (low, high) = if tag.is_descending {
                (second, first)
            } else {
                (first, second)
            };
            low.key().iter().map(weight).le(high.key().iter().map(weight))
        }
        _ => true,
    });
    if !is_sorted {
        return Some(false);
    }
    let (start, len) = (u64::from(table.header().header_len), table.header().record_len);
    let mut bytes = vec![0; len as usize];
    for entry in entries.iter().step_by(entries.len() / KEYS + 1) {
        let offset = start + u64::from(entry.recno().checked_sub(1)?) * u64::from(len);
        file.read_exact_at(&mut bytes, offset).ok()?;
        let key = keys.key_whatever_the_condition(&RecordBytes::new(table, entry.recno(), &bytes));
        if key.is_ok_and(|key| key != entry.key()) {
            return Some(false);
        }
    }
    Some(true)
}
