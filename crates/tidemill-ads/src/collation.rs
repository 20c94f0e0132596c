//! Which alphabet the text of an index file is sorted by, and which letters its expressions know: no file says it.
//!
//! The keys at the beginning of each order of text are looked at: where they are not sorted by their bytes, or are not the keys
//! that the records have with ASCII letters alone, a language is taken with which they are. More tables of languages belong to
//! [`Collation::languages`].

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use tidemill_xbase::expression::RecordBytes;
use tidemill_xbase::index::{Collation, Direction, Entry, Index, IndexOptions, KeyType, Tag};
use tidemill_xbase::stamp::{FileMemo, FileStamp};
use tidemill_xbase::{CodePage, KeySettings, OrderKeys, Table};

use crate::error::{Error, ErrorCode, Result};

/// Takes the name of a collation that is asked for: none, or that of Visual FoxPro's order of bytes (`MACHINE`, and
/// `MACHINE_VFP_BIN_` with a code page).
///
/// # Errors
/// [`ErrorCode::UnsupportedCollation`] for every other.
pub fn by_bytes(name: Option<&str>) -> Result<()> {
    let name = name.unwrap_or_default().trim();
    let upper = name.to_ascii_uppercase();
    let is_machine = upper == "MACHINE" || upper.starts_with("MACHINE_VFP_BIN_");
    match name.is_empty() || is_machine {
        true => Ok(()),
        false => Err(Error::new(
            ErrorCode::UnsupportedCollation,
            format!("{name}: text is sorted by its bytes, or by the alphabet that an index already has"),
        )),
    }
}

/// How many entries of an order are looked at.
const ENTRIES: usize = 4096;
/// For how many of them the key is made anew.
const KEYS: usize = 64;

/// What the index files of this process were found to be, under the code page of their tables.
static KNOWN: FileMemo<CodePage, KeySettings> = FileMemo::new(64);

/// How the expressions of an index file are compiled and its text is sorted, as far as its keys tell. What cannot be read is
/// for who opens the file to tell.
///
/// `stamp`, what the file looks like, is found where it is not given.
pub(crate) fn of_index(path: &Path, stamp: Option<&FileStamp>, table: &Table) -> KeySettings {
    let Some(stamp) = stamp.cloned().or_else(|| FileStamp::of(path).ok()) else {
        return found(path, table);
    };
    if let Some(settings) = KNOWN.get(path, &stamp, &table.codepage()) {
        return settings;
    }
    let settings = found(path, table);
    KNOWN.put(path, &stamp, table.codepage(), settings.clone());
    settings
}

fn found(path: &Path, table: &Table) -> KeySettings {
    let plain = KeySettings::new(table.codepage());
    let options = IndexOptions::new()
        .codepage(table.codepage())
        .table_dialect(table.header().dialect);
    let Ok(index) = Index::open(path, &options) else {
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
    let entries: Result<Vec<Entry>, tidemill_xbase::Error> = order.walk(Direction::Forward).take(ENTRIES).collect();
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
