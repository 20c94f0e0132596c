//! What is a letter, and which capital belongs to which small one: tables over the bytes of a code page.
//!
//! A Harbour program knows the letters of one language (`HB_CDPSELECT`), and only ASCII ones under its default `EN`;
//! FoxPro and ADS know all letters of the code page. The golden tables have Harbour's own maps.
//!
//! The order of letters is not here: see `Environment::weights`.

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex};

use crate::codepage::{CodePage, Decoder};
use crate::stamp::locked_soon;

/// The letters of a code page. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Letters(Arc<Tables>);

#[derive(Clone, PartialEq, Eq)]
struct Tables {
    upper: [u8; 256],
    lower: [u8; 256],
    is_letter: [bool; 256],
}

impl Letters {
    /// A to Z alone: Clipper's, and Harbour's `EN`.
    pub fn ascii() -> Self {
        static ASCII: LazyLock<Letters> = LazyLock::new(Letters::made_ascii);
        ASCII.clone()
    }

    fn made_ascii() -> Self {
        let mut tables = Tables {
            upper: [0; 256],
            lower: [0; 256],
            is_letter: [false; 256],
        };
        for byte in 0..=255u8 {
            let at = usize::from(byte);
            tables.upper[at] = byte.to_ascii_uppercase();
            tables.lower[at] = byte.to_ascii_lowercase();
            tables.is_letter[at] = byte.is_ascii_alphabetic();
        }
        Self(Arc::new(tables))
    }

    /// Every letter that a code page of single bytes has, with its pair where the page has both: FoxPro's and ADS's.
    /// For pages of several bytes (UTF-8, Shift-JIS, …) as [`Letters::ascii`].
    pub fn of(page: CodePage) -> Self {
        static KNOWN: Mutex<Vec<(CodePage, Letters)>> = Mutex::new(Vec::new());
        let mut known = locked_soon(&KNOWN);
        let found = known
            .iter()
            .flat_map(|known| known.iter())
            .find(|(known, _)| *known == page);
        if let Some((_, letters)) = found {
            return letters.clone();
        }
        let all: String = (128..=255u8).map(|byte| page.decode(&[byte])).collect();
        let letters = Self::national(page, &all);
        if let Some(known) = &mut known {
            known.push((page, letters.clone()));
        }
        letters
    }

    /// ASCII and the letters of a language, capital or small: each brings its pair with it. Letters that the code page
    /// lacks, and pages of several bytes, add none.
    pub fn national(page: CodePage, letters: &str) -> Self {
        let mut tables = (*Self::ascii().0).clone();
        if let Decoder::Single(_) = page.decoder() {
            for letter in letters.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()) {
                let upper = single(letter.to_uppercase()).and_then(|c| byte(page, c));
                let lower = single(letter.to_lowercase()).and_then(|c| byte(page, c));
                for byte in [byte(page, letter), upper, lower].into_iter().flatten() {
                    tables.is_letter[usize::from(byte)] = true;
                }
                // Turkish ı has an ASCII capital, which keeps its own small letter.
                if let (Some(upper @ 128..), Some(lower @ 128..)) = (upper, lower) {
                    tables.lower[usize::from(upper)] = lower;
                    tables.upper[usize::from(lower)] = upper;
                }
            }
        }
        Self(Arc::new(tables))
    }

    /// The capital of each byte; what is no small letter stays.
    pub fn upper(&self) -> &[u8; 256] {
        &self.0.upper
    }

    /// The small letter of each byte; what is no capital stays.
    pub fn lower(&self) -> &[u8; 256] {
        &self.0.lower
    }

    /// The capital of a letter: by the code page for a letter that it has, else by Unicode, as far as that is one letter.
    pub(super) fn capital(&self, page: CodePage, letter: char) -> char {
        match byte(page, letter) {
            Some(byte) => paired(page, letter, self.0.upper[usize::from(byte)]),
            None => single(letter.to_uppercase()).unwrap_or(letter),
        }
    }

    /// The small letter of a capital, as [`Self::capital`].
    pub(super) fn small(&self, page: CodePage, letter: char) -> char {
        match byte(page, letter) {
            Some(byte) => paired(page, letter, self.0.lower[usize::from(byte)]),
            None => single(letter.to_lowercase()).unwrap_or(letter),
        }
    }

    /// Whether a byte is a letter.
    pub fn is_letter(&self, byte: u8) -> bool {
        self.0.is_letter[usize::from(byte)]
    }

    /// Whether a byte is a capital letter: one that has a small one.
    pub fn is_upper(&self, byte: u8) -> bool {
        self.0.lower[usize::from(byte)] != byte
    }

    /// Whether a byte is a small letter: one that has a capital.
    pub fn is_lower(&self, byte: u8) -> bool {
        self.0.upper[usize::from(byte)] != byte
    }
}

impl fmt::Debug for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.is_letter.iter().filter(|is| **is).count();
        write!(f, "Letters({count})")
    }
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

fn paired(page: CodePage, letter: char, pair: u8) -> char {
    single(page.decode(&[pair]).chars()).unwrap_or(letter)
}

fn byte(page: CodePage, c: char) -> Option<u8> {
    let mut bytes = Vec::new();
    page.encode(c.encode_utf8(&mut [0; 4]), &mut bytes).ok()?;
    match bytes[..] {
        [byte] => Some(byte),
        _ => None,
    }
}
