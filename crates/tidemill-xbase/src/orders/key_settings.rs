//! How the keys of an index file are made and sorted, given or found.
//!
//! No index file of Clipper or Harbour says by which alphabet its text is sorted, nor which letters `UPPER()` knew. Both are found by
//! its keys: those at the ends of each order of text must be in order, and be the keys of their records. Of what fits, that by
//! bytes is taken first, then the alphabets of the table's code page, then all others. Where none fits, and keys are out of order in
//! letters beyond ASCII, the collation is not known; keys that are out of order in other ways are damage. How dates are written in texts
//! is found by the keys too.

use std::path::{Path, PathBuf};

use crate::codepage::CodePage;
use crate::error::Result;
use crate::expression::{DateOrder, Environment, Letters, RecordBytes};
use crate::header::Dialect;
use crate::index::{
    Collation, Direction, Entry, Index, IndexDialect, IndexOptions, KeyCodec, KeyEncoding, KeyOrder, KeyType, Tag,
};
use crate::stamp::{FileMemo, FileStamp};
use crate::table::Table;

use super::OrderKeys;
use super::windows_order::{Hyphens, may_precede};

/// How the program that made an index compiles expressions and sorts text: no file says it, and all that share a table must
/// agree on it. Who changes an index under another collation puts keys where the others do not find them, and an index that is
/// walked or opened for changes is refused only where its keys show that they are sorted otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct KeySettings {
    pub(crate) environment: Environment,
    pub(crate) collation: Collation,
    /// Whether keys of a table of Visual FoxPro hold moments to the millisecond: Harbour writes them so, FoxPro to the second.
    pub(crate) keeps_milliseconds: bool,
    /// Whether the keys of a CDX or IDX are those of a table of Visual FoxPro, which makes some in other ways than Clipper and Harbour.
    pub(crate) are_foxpro: bool,
}

impl KeySettings {
    /// ASCII letters, sorted by bytes, for expressions and text in this code page: Clipper's defaults, Harbour's `EN` and
    /// FoxPro's `MACHINE`.
    pub fn new(codepage: CodePage) -> Self {
        Self {
            environment: Environment::new(codepage),
            collation: Collation::binary(),
            keeps_milliseconds: false,
            are_foxpro: false,
        }
    }

    /// The letters of a language and their order, as a Harbour program has them behind `HB_CDPSELECT`. Languages are those of
    /// [`Collation::languages`], or the names of Harbour's own modules ([`Collation::modules`]), such as `FRWIN`; `EN` is by bytes with
    /// ASCII letters alone, and `MACHINE` by bytes with all letters of the code page, as in FoxPro.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a language without a table.
    pub fn language(codepage: CodePage, language: &str) -> Result<Self> {
        if language.eq_ignore_ascii_case("EN") {
            return Ok(Self::new(codepage));
        }
        if language.eq_ignore_ascii_case("MACHINE") {
            return Ok(Self::new(codepage).environment(Environment::with_all_letters(codepage)));
        }
        let (collation, letters) = (Collation::national(language, codepage)?, Collation::letters(language)?);
        let module = Collation::modules().find(|(name, _)| name.eq_ignore_ascii_case(language));
        let page = module.map_or(codepage, |(_, page)| page);
        let environment = Environment::new(codepage).letters(Letters::national(page, &letters));
        Ok(Self::new(codepage).environment(environment).collation(collation))
    }

    /// How the keys of the index file at `path` are made and sorted, as far as they tell. A collation that fits none of those that
    /// are known is [`Collation::unknown`]. What cannot be read is for who opens the file to tell: the settings are then those of
    /// [`KeySettings::new`].
    ///
    /// `stamp`, what the file looks like, is found where it is not given. What was found for a table is remembered for as long as the
    /// file looks so.
    pub fn of_index(path: &Path, stamp: Option<&FileStamp>, table: &Table) -> Self {
        static KNOWN: FileMemo<(CodePage, PathBuf), KeySettings> = FileMemo::new(64);
        let Some(stamp) = stamp.cloned().or_else(|| FileStamp::of(path).ok()) else {
            return found(path, table);
        };
        let key = (table.codepage(), table.path().to_owned());
        if let Some(settings) = KNOWN.get(path, &stamp, &key) {
            return settings;
        }
        let settings = found(path, table);
        KNOWN.put(path, &stamp, key, settings.clone());
        settings
    }

    /// These settings, for the orders of this table.
    pub(crate) fn over(&self, table: &Table) -> Self {
        Self {
            are_foxpro: table.header().dialect == Dialect::VisualFoxPro && !self.keeps_milliseconds,
            ..self.clone()
        }
    }

    /// Under what the expressions of an index in this format are compiled, by Visual FoxPro or by others.
    pub(crate) fn environment_of(&self, dialect: IndexDialect, are_foxpro: bool) -> Environment {
        let is_of_fox = matches!(dialect, IndexDialect::Cdx | IndexDialect::Idx);
        self.environment.clone().foxpro(are_foxpro && is_of_fox)
    }

    /// Whether it is known how text is sorted.
    pub fn is_known(&self) -> bool {
        self.collation.is_known()
    }

    /// The settings under which expressions are compiled. The order of letters is that of the collation.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment.weights(self.collation.weights().cloned());
        self
    }

    /// How text keys are sorted.
    #[must_use]
    pub fn collation(mut self, collation: Collation) -> Self {
        self.environment = self.environment.weights(collation.weights().cloned());
        self.collation = collation;
        self
    }
}

/// How many entries of an order are looked at from each of its ends.
const ENTRIES: usize = 4096;
/// For how many of them the key is made anew.
const KEYS: usize = 64;

fn found(path: &Path, table: &Table) -> KeySettings {
    let page = table.codepage();
    let plain = KeySettings::new(page);
    let options = IndexOptions::new()
        .codepage(page)
        .access(table.options.access)
        .table_dialect(table.header().dialect);
    let Ok(index) = Index::open(path, &options) else {
        return plain;
    };
    KeySettings {
        keeps_milliseconds: index
            .tags()
            .iter()
            .any(|tag| has_milliseconds(&index, tag, table, &plain)),
        ..with_dates(&index, table, found_for_text(&index, table, &plain))
    }
}

/// These settings, with dates in texts written as the keys have them: no file says what SET DATE and SET CENTURY were.
fn with_dates(index: &Index, table: &Table, settings: KeySettings) -> KeySettings {
    let has_dates = |tag: &&Tag| {
        let expression = tag.expression.to_ascii_uppercase();
        expression.contains("DTOC") || expression.contains("TTOC")
    };
    let tags = index.tags().iter().filter(has_dates);
    let samples: Vec<_> = tags
        .filter_map(|tag| Sample::of(index, tag, table, &settings))
        .collect();
    let fits = |settings: &KeySettings| samples.iter().all(|sample| sample.has_keys(index, table, settings));
    if fits(&settings) {
        return settings;
    }
    let orders = [
        DateOrder::MonthDayYear,
        DateOrder::DayMonthYear,
        DateOrder::YearMonthDay,
    ];
    let forms = orders.into_iter().flat_map(|order| {
        let separators = b"/.-".iter();
        separators.flat_map(move |separator| [false, true].map(|century| (order, *separator, century)))
    });
    let mut found = forms.map(|(order, separator, century)| {
        let environment = settings.environment.clone().date_format(order, separator, century);
        settings.clone().environment(environment)
    });
    found.find(fits).unwrap_or(settings)
}

/// Whether an order has keys of moments that Visual FoxPro does not write.
fn has_milliseconds(index: &Index, tag: &Tag, table: &Table, settings: &KeySettings) -> bool {
    let Ok(keys) = OrderKeys::of_tag(tag, index.dialect(), table.fields(), settings) else {
        return false;
    };
    if keys.codec().encoding != KeyEncoding::Seconds {
        return false;
    }
    let Ok(order) = index.order_with(&tag.name, keys.codec(), &Collation::binary()) else {
        return false;
    };
    let exact = KeyCodec {
        encoding: KeyEncoding::Binary,
        ..keys.codec()
    };
    // FoxPro writes a few of its keys a step beside the second, and Harbour three quarters of the whole seconds as FoxPro does.
    let (mut of_foxpro, mut of_others) = (0, 0);
    for entry in order.walk(Direction::Forward).take(ENTRIES).map_while(Result::ok) {
        let Some(value) = order.value(entry.key()) else {
            continue;
        };
        let is_made_by = |codec: KeyCodec| codec.encode(&value).is_ok_and(|key| key == entry.key());
        of_foxpro += u32::from(is_made_by(keys.codec()));
        of_others += u32::from(is_made_by(exact));
    }
    of_others > of_foxpro
}

/// As far as orders of text tell.
fn found_for_text(index: &Index, table: &Table, plain: &KeySettings) -> KeySettings {
    let (page, plain) = (table.codepage(), plain.clone());
    let samples: Vec<Sample<'_>> = index
        .tags()
        .iter()
        .filter_map(|tag| Sample::of(index, tag, table, &plain))
        .collect();
    let are_sorted = |settings: &KeySettings| samples.iter().all(|sample| sample.is_sorted(&settings.collation));
    let fits = |settings: &KeySettings| {
        let have_keys = || samples.iter().all(|sample| sample.has_keys(index, table, settings));
        are_sorted(settings) && have_keys()
    };
    if fits(&plain) {
        return plain;
    }
    let all_letters = KeySettings::new(page).environment(Environment::with_all_letters(page));
    let own = || Collation::modules().filter(|(_, own)| *own == page);
    let others = || Collation::modules().filter(|(_, own)| *own != page);
    let settings_of = |name| KeySettings::language(page, name).ok();
    let of_page = || {
        let names = own().map(|(name, _)| name).chain(Collation::languages());
        names.filter_map(settings_of)
    };
    let national = || of_page().chain(others().map(|(name, _)| name).filter_map(settings_of));
    let are_by_bytes = are_sorted(&plain);
    // Other code pages sort the letters of some languages by bytes: Russian ones in 866 and 1251. The keys then tell the capitals.
    let pages = CodePage::all().filter(|other| are_by_bytes && *other != page);
    let elsewhere = pages.flat_map(|other| {
        let settings = Collation::languages().filter_map(move |name| KeySettings::language(other, name).ok());
        settings.filter(|settings| settings.collation.weights().is_none())
    });
    // An alphabet of another code page may fit such keys by chance.
    if samples.iter().any(Sample::mixes_capitals)
        && !of_page().any(|settings| fits(&settings))
        && [Hyphens::Low, Hyphens::Ignored]
            .into_iter()
            .any(|hyphens| samples.iter().all(|sample| sample.is_as_in_windows(page, hyphens)))
    {
        return plain.collation(Collation::unknown());
    }
    let mut candidates = std::iter::once(all_letters).chain(national()).chain(elsewhere);
    if let Some(settings) = candidates.find(fits) {
        return settings;
    }
    // Records may have been changed without the index.
    if are_by_bytes {
        return plain;
    }
    if let Some(settings) = national().find(are_sorted) {
        return settings;
    }
    match samples.iter().all(Sample::may_be_of_other_letters) {
        true => plain.collation(Collation::unknown()),
        false => plain,
    }
}

/// The ends of an order of text.
struct Sample<'i> {
    tag: &'i Tag,
    /// In the order's direction.
    ends: [Vec<Entry>; 2],
}

impl<'i> Sample<'i> {
    /// `None` for what is no order of text that is known, and what cannot be read.
    fn of(index: &Index, tag: &'i Tag, table: &Table, settings: &KeySettings) -> Option<Self> {
        let keys = OrderKeys::of_tag(tag, index.dialect(), table.fields(), &settings.over(table)).ok()?;
        if keys.key_type() != KeyType::Character || tag.collation.is_some() || tag.is_full_text {
            return None;
        }
        let order = index.order(&tag.name, KeyType::Character, &Collation::unknown()).ok()?;
        let walk = |direction| {
            let entries = order.walk(direction).take(ENTRIES);
            entries.collect::<Result<Vec<Entry>>>().ok()
        };
        let first = walk(Direction::Forward)?;
        let mut last = match first.len() < ENTRIES {
            true => Vec::new(),
            false => walk(Direction::Backward)?,
        };
        last.reverse();
        Some(Self {
            tag,
            ends: [first, last],
        })
    }

    fn neighbours(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let pairs = self.ends.iter().flat_map(|entries| entries.windows(2));
        pairs.filter_map(|pair| match pair {
            [first, second] if self.tag.is_descending => Some((second.key(), first.key())),
            [first, second] => Some((first.key(), second.key())),
            _ => None,
        })
    }

    fn is_sorted(&self, collation: &Collation) -> bool {
        let order = KeyOrder::new(KeyType::Character, collation, false);
        self.neighbours().all(|(low, high)| order.compare(low, high).is_le())
    }

    /// Whether letters of ASCII stand in another order than that of their bytes, as small ones before capitals.
    fn mixes_capitals(&self) -> bool {
        self.neighbours().any(|(low, high)| {
            let differ = low.iter().zip(high).find(|(low, high)| low != high);
            differ.is_some_and(|(low, high)| low > high && low.is_ascii())
        })
    }

    /// Whether Windows sorts the keys so.
    fn is_as_in_windows(&self, page: CodePage, hyphens: Hyphens) -> bool {
        self.neighbours()
            .all(|(low, high)| may_precede(low, high, page, hyphens))
    }

    /// Whether the keys are those of their records.
    fn has_keys(&self, index: &Index, table: &Table, settings: &KeySettings) -> bool {
        let keys = OrderKeys::of_tag(self.tag, index.dialect(), table.fields(), &settings.over(table));
        let (Ok(keys), false) = (keys, self.tag.is_custom) else {
            return true;
        };
        let mut window = Vec::new();
        self.ends.iter().all(|entries| {
            entries.iter().step_by(entries.len() / KEYS + 1).all(|entry| {
                let Some(record) = entry
                    .recno()
                    .checked_sub(1)
                    .filter(|_| entry.recno() <= table.record_count())
                else {
                    return true;
                };
                let Ok(bytes) = table.read_records(record, 1, &mut window) else {
                    return true;
                };
                let key = keys.key_whatever_the_condition(&RecordBytes::new(table, entry.recno(), bytes));
                key.map_or(true, |key| key == entry.key())
            })
        })
    }

    /// Whether some alphabet may sort the keys so: where they are not in the order of their bytes, letters beyond ASCII are met, and
    /// the ASCII ones stand in one order throughout.
    fn may_be_of_other_letters(&self) -> bool {
        let (mut are_sorted, mut has_letters) = (true, false);
        // Which ASCII bytes come behind each.
        let mut behind = vec![0_u128; 128];
        for (low, high) in self.neighbours() {
            let Some((low, high)) = low.iter().zip(high).find(|(low, high)| low != high) else {
                continue;
            };
            are_sorted &= low < high;
            has_letters |= low > high && !(low.is_ascii() && high.is_ascii());
            if let (Some(behind), true) = (behind.get_mut(usize::from(*low)), high.is_ascii()) {
                *behind |= 1 << high;
            }
        }
        are_sorted || (has_letters && !has_circle(&behind))
    }
}

/// Whether a byte stands behind itself.
fn has_circle(behind: &[u128]) -> bool {
    // Bytes behind which nothing is left are taken away until none is.
    let mut left = u128::MAX;
    loop {
        let ends = (0..128).filter(|byte| left >> byte & 1 == 1 && behind.get(*byte).is_none_or(|b| b & left == 0));
        let ends = ends.fold(0_u128, |ends, byte| ends | 1 << byte);
        if ends == 0 {
            return left != 0;
        }
        left &= !ends;
    }
}
