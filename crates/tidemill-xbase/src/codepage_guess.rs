//! The code page of a table that names none, by the look of its text.
//!
//! UTF-8 gives itself away. The pages of Windows and DOS are weighed against each other: read in the right one, letters stand beside
//! letters of their script, capitals begin words, and boxes and signs do not stand within them. The page that a table without a
//! name is read in anyway is preferred, and taken where the text does not decide.
//!
//! The first [`SAMPLE`] bytes of the records are looked at, so that a table keeps its page while records are appended behind them.
//! Memos are not looked at. Not here: pages of several bytes other than UTF-8, Greek, Turkish, Hebrew, Arabic; `.cpg` files and
//! options name them.

use std::sync::OnceLock;

use crate::codepage::CodePage;
use crate::field::{Field, FieldKind};
use crate::note::Note;
use crate::source::Source;
use crate::stamp::FileMemo;

/// What the text of a table tells of its code page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guess {
    /// Nothing: it is ASCII.
    Ascii,
    /// This one.
    Page(CodePage),
    /// It is not ASCII, and may be of several.
    Open,
}

impl Guess {
    /// By the records of a table that begin at `begin`, `stride` bytes each.
    pub(crate) fn of_table(source: &Source, fields: &[Field], records: (u64, usize, u32), usual: CodePage) -> Self {
        static KNOWN: FileMemo<CodePage, Guess> = FileMemo::new(64);
        let stamp = source.stamp();
        let known = stamp.as_ref().and_then(|stamp| KNOWN.get(source.path(), stamp, &usual));
        if let Some(known) = known {
            return known;
        }
        let guess = Self::of_records(source, fields, records, usual);
        if let Some(stamp) = &stamp {
            KNOWN.put(source.path(), stamp, usual, guess);
        }
        guess
    }

    fn of_records(
        source: &Source,
        fields: &[Field],
        (begin, stride, count): (u64, usize, u32),
        usual: CodePage,
    ) -> Self {
        let is_text = |field: &&Field| matches!(field.kind, FieldKind::Character | FieldKind::Varchar) && !field.binary;
        let fields: Vec<&Field> = fields.iter().filter(is_text).collect();
        let there = source.len().saturating_sub(begin) / stride.max(1) as u64;
        let most = (SAMPLE / stride.max(1)).max(1).min(count as usize);
        let records = most.min(usize::try_from(there).unwrap_or(most));
        let mut window = Vec::new();
        let Ok(bytes) = source.read("records", begin, records * stride, &mut window) else {
            return Self::Ascii;
        };
        let cells = bytes.chunks_exact(stride.max(1)).flat_map(|record| {
            let cells = fields
                .iter()
                .filter_map(|field| record.get(field.offset..field.offset + field.width));
            cells.filter(|cell| !cell.is_ascii())
        });
        Self::of_texts(&cells.collect::<Vec<_>>(), usual)
    }

    /// By texts that are not ASCII.
    pub(crate) fn of_texts(texts: &[&[u8]], usual: CodePage) -> Self {
        if texts.is_empty() {
            return Self::Ascii;
        }
        if are_utf8(texts) {
            return Self::Page(CodePage::Utf8);
        }
        let others = CANDIDATES.iter().copied().filter(|page| *page != usual);
        let pages = std::iter::once(usual).chain(others);
        let weighed: Vec<(CodePage, i64)> = pages.map(|page| (page, weight(page, texts))).collect();
        let Some(&(best, most)) = weighed.iter().rev().max_by_key(|(_, weight)| *weight) else {
            return Self::Open;
        };
        // Against other pages than the usual one, what is a little more likely is good enough.
        let same = |page: CodePage| texts.iter().all(|text| page.decode(text) == best.decode(text));
        let is_rival = |page: CodePage| page != best && (best == usual || page == usual) && !same(page);
        let rival = weighed
            .iter()
            .filter(|(page, _)| is_rival(*page))
            .map(|(_, weight)| *weight);
        match most > 0 && most.saturating_sub(rival.max().unwrap_or(i64::MIN)) >= MARGIN {
            true => Self::Page(best),
            false => Self::Open,
        }
    }

    /// The code page to read the table in, and what to say about it.
    pub(crate) fn page(self, usual: CodePage) -> (CodePage, Option<Note>) {
        let (page, look) = match self {
            Self::Ascii => return (usual, None),
            Self::Page(page) => (page, format!("its text looks like {page}")),
            Self::Open => (usual, "its text fits several code pages".to_owned()),
        };
        let what = format!(
            "no code page is named, and {look}: it is read and written as {page}; the option codepage names another"
        );
        let note = Note {
            begin: 29,
            end: 30,
            record: None,
            count: 1,
            what,
        };
        (page, Some(note))
    }
}

/// Whether texts that are not ASCII look like those of a page, whatever others they could be of.
pub(crate) fn look_like(texts: &[&[u8]], page: CodePage) -> bool {
    let count = |is: fn(&u8) -> bool| {
        texts
            .iter()
            .flat_map(|text| text.iter())
            .filter(|byte| is(byte))
            .count()
    };
    // Most letters of Latin are ASCII; pages of several bytes have few.
    let is_cyrillic = matches!(page, CodePage::Cp1251 | CodePage::Cp866);
    let has_letters = is_cyrillic || count(|byte| !byte.is_ascii()) <= count(u8::is_ascii_alphabetic);
    has_letters
        && weight(page, texts) >= MARGIN
        && match Guess::of_texts(texts, page) {
            Guess::Page(best) => best == page,
            Guess::Ascii | Guess::Open => true,
        }
}

/// How many bytes of records are looked at.
const SAMPLE: usize = 256 << 10;
/// By how much a page must weigh more than the usual one, or that more than all that make other letters of the text.
const MARGIN: i64 = 3;

/// Letters that languages of Western Europe use much, and of Central Europe.
const WESTERN: &str = "éèàçñäöüßåøæáíóúâêîôûãõÉÄÖÜÁÍÓÚÑÇÅØÃÕ";
const CENTRAL: &str = "ąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůžČĎĚŇŘŠŤŮŽýÝőűŐŰľĽđĐ";

/// The pages that are told apart, the more usual ones first.
const CANDIDATES: [CodePage; 7] = [
    CodePage::Cp1252,
    CodePage::Cp437,
    CodePage::Cp850,
    CodePage::Cp1251,
    CodePage::Cp866,
    CodePage::Cp1250,
    CodePage::Cp852,
];

/// Whether all texts are UTF-8, and one has more than the beginning of a letter that the width of its field cut off.
fn are_utf8(texts: &[&[u8]]) -> bool {
    let mut has_letter = false;
    let are = texts.iter().all(|text| match std::str::from_utf8(text) {
        Ok(_) => {
            has_letter = true;
            true
        }
        Err(e) => {
            let valid = text.get(..e.valid_up_to()).unwrap_or_default();
            has_letter |= !valid.is_ascii();
            e.error_len().is_none()
        }
    });
    are && has_letter
}

/// The letters of a page by their bytes.
fn letters(page: CodePage) -> Vec<char> {
    let letter = |byte: u8| {
        page.decode(&[byte])
            .chars()
            .next()
            .unwrap_or(char::REPLACEMENT_CHARACTER)
    };
    (0..=255).map(letter).collect()
}

/// How well texts look in a page.
fn weight(page: CodePage, texts: &[&[u8]]) -> i64 {
    static LETTERS: OnceLock<Vec<(CodePage, Vec<char>)>> = OnceLock::new();
    let known = LETTERS.get_or_init(|| CANDIDATES.iter().map(|page| (*page, letters(*page))).collect());
    let Some((_, letters)) = known.iter().find(|(known, _)| *known == page) else {
        return i64::MIN;
    };
    let weights = texts.iter().map(|text| {
        let text: Vec<char> = text
            .iter()
            .filter_map(|byte| letters.get(usize::from(*byte)).copied())
            .collect();
        (0..text.len()).map(|at| weight_at(&text, at)).sum::<i64>()
    });
    weights.sum()
}

fn weight_at(text: &[char], at: usize) -> i64 {
    let letter_at = |at: Option<usize>| at.and_then(|at| text.get(at)).copied().filter(|c| c.is_alphabetic());
    let Some(c) = text.get(at).copied().filter(|c| !c.is_ascii()) else {
        return 0;
    };
    let (before, behind) = (letter_at(at.checked_sub(1)), letter_at(at.checked_add(1)));
    match c {
        char::REPLACEMENT_CHARACTER | '\u{80}'..='\u{9F}' => -6,
        '\u{2500}'..='\u{25FF}' => -4,
        'ª' | 'º' => match (before, behind) {
            (_, Some(_)) => -3,
            _ => 0,
        },
        c if c.is_alphabetic() => {
            let of_others = [before, behind]
                .into_iter()
                .flatten()
                .filter(|other| script(*other) != script(c));
            let mut weight = 1 - 4 * i64::try_from(of_others.count()).unwrap_or_default();
            weight += match script(c) {
                Script::Latin if WESTERN.contains(c) => 2,
                Script::Latin if CENTRAL.contains(c) => 1,
                Script::Cyrillic if ('А'..='я').contains(&c) => 2,
                _ => 0,
            };
            if c.is_uppercase() && before.is_some_and(char::is_lowercase) {
                weight -= 3;
            }
            let is_capital = |c: Option<char>| c.is_some_and(char::is_uppercase);
            if c.is_lowercase() && c != 'ß' && is_capital(before) && is_capital(behind) {
                weight -= 3;
            }
            if before.is_none() && behind.is_none() {
                weight -= 1;
            }
            let is_accented = |c: Option<char>| c.is_some_and(|c| !c.is_ascii());
            let third = letter_at(at.checked_sub(2));
            if script(c) == Script::Latin && is_accented(before) && is_accented(third) {
                weight -= 4;
            }
            weight
        }
        '’' | '·' | '´' => 0,
        _ if before.is_some() && behind.is_some() => -3,
        '“' | '”' | '‘' | '–' | '—' | '…' | '°' | '«' | '»' | '€' | '£' | '§' | '©' | '®' | '™' | '¿' | '¡' | '½'
        | '¼' | '²' | '³' | '±' | '×' | '\u{A0}' | '№' => 0,
        _ => -1,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Other,
}

fn script(c: char) -> Script {
    match c {
        'A'..='Z' | 'a'..='z' | '\u{AA}'..='\u{24F}' => Script::Latin,
        '\u{370}'..='\u{3FF}' => Script::Greek,
        '\u{400}'..='\u{52F}' => Script::Cyrillic,
        _ => Script::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(page: CodePage, texts: &[&str], usual: CodePage) -> Guess {
        let texts: Vec<Vec<u8>> = texts
            .iter()
            .map(|text| {
                let mut bytes = Vec::new();
                page.encode(text, &mut bytes).unwrap();
                bytes.resize(bytes.len() + 3, b' ');
                bytes
            })
            .filter(|text| !text.is_ascii())
            .collect();
        Guess::of_texts(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>(), usual)
    }

    #[test]
    fn the_page_of_a_text_is_seen_by_its_letters() {
        use CodePage::{Cp437, Cp850, Cp852, Cp866, Cp1250, Cp1251, Cp1252, Utf8};
        let german = ["Müller", "Größe", "STRAßE", "Österreich", "ÜBUNG", "Bär"];
        let french = ["Château d'eau", "élève", "Noël", "ça et là", "ÉTÉ"];
        let spanish = ["España", "Ñandú", "corazón", "Jesús Ángel"];
        let portuguese = ["São Paulo", "Açaí", "MARANHÃO", "coração"];
        let russian = ["Привет", "МОСКВА", "улица Ленина"];
        let polish = ["Łódź", "Kraków", "zażółć gęślą jaźń", "ŻÓŁW"];
        let danish = ["Ærø", "København", "Århus", "smørrebrød"];
        for (texts, pages) in [
            (&german[..], &[Cp437, Cp1252, Utf8][..]),
            (&french, &[Cp1252, Utf8, Cp850]),
            (&spanish, &[Cp1252, Utf8, Cp850]),
            (&portuguese, &[Cp850, Cp1252, Utf8]),
            (&russian, &[Cp866, Cp1251, Utf8]),
            (&polish, &[Cp852, Cp1250, Utf8]),
            (&danish, &[Cp850, Cp1252, Utf8]),
        ] {
            for page in pages {
                for usual in [Cp437, Cp1252] {
                    let (found, _) = guess(*page, texts, usual).page(usual);
                    for text in texts {
                        let mut bytes = Vec::new();
                        page.encode(text, &mut bytes).unwrap();
                        assert_eq!(found.decode(&bytes), *text, "{page} of {usual} taken for {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_does_not_tell_is_left_as_it_is_read_anyway() {
        use CodePage::{Cp437, Cp1252, Utf8};
        assert_eq!(Guess::of_texts(&[], Cp437), Guess::Ascii);
        assert_eq!(guess(Cp437, &["plain"], Cp437), Guess::Ascii);
        // A letter alone, ß or á.
        assert_eq!(Guess::of_texts(&[b"\xE1"], Cp437), Guess::Open);
        // A letter that the width of the field cut off.
        assert_eq!(
            Guess::of_texts(&["Größe".as_bytes(), b"Gr\xC3"], Cp437),
            Guess::Page(Utf8)
        );
        assert_ne!(Guess::of_texts(&[b"Gr\xC3"], Cp437), Guess::Page(Utf8));
        assert_eq!(guess(Cp1252, &["café"], Cp437), Guess::Page(Cp1252));
        assert_eq!(Guess::Ascii.page(Cp437), (Cp437, None));
        let (page, note) = Guess::Page(Cp1252).page(Cp437);
        assert_eq!(page, Cp1252);
        assert!(note.unwrap().what.contains("looks like cp1252"));
    }
}
