//! How the bytes of character keys are compared: as they are, or in the order of a national alphabet.
//!
//! A Clipper or Harbour program sorts by the tables of its country. These all follow one rule, so that an alphabet is
//! enough to make one: the capital letters stand, in the alphabet's order, where the first of them stands among the
//! bytes, the small letters where the first of those stands, and all other bytes keep their order around them. An
//! alphabet whose letters ascend as bytes do sorts by bytes. Learned from the orders of the corpus, where Harbour sorted
//! every byte from 32 to 255, and from `cpdeDE850`'s table in Harbour's `cpde850.c`.
//!
//! Not here: letters of two characters (Czech `ch`) and accents that count only between equal words (French).

use std::sync::Arc;

use crate::codepage::CodePage;
use crate::error::{Error, Result};

use super::alphabet::{ALPHABETS, Alphabet};

/// An order of bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collation {
    /// `None`: by bytes.
    weights: Option<Arc<[u8; 256]>>,
}

impl Collation {
    /// By bytes: Clipper's, FoxPro's `MACHINE` and Harbour's `EN`. Default.
    pub fn binary() -> Self {
        Self::default()
    }

    /// The order of a language's alphabet in a code page; languages have the names of [`Collation::languages`].
    ///
    /// # Errors
    /// [`Error::Misuse`] for a language without a table.
    pub fn national(language: &str, page: CodePage) -> Result<Self> {
        let alphabet = Alphabet::of(language)?;
        Ok(Self::from_alphabet(page, alphabet.capital, alphabet.small))
    }

    /// The small letters of a language, of which [`Letters::national`](crate::expression::Letters::national) makes what
    /// `UPPER()` and its kin know.
    ///
    /// # Errors
    /// As [`Collation::national`].
    pub fn letters(language: &str) -> Result<&'static str> {
        Ok(Alphabet::of(language)?.small)
    }

    /// The languages that have a table, by their ISO 639 codes.
    pub fn languages() -> impl Iterator<Item = &'static str> {
        ALPHABETS.iter().map(|alphabet| alphabet.language)
    }

    /// The order of an alphabet of your own. Letters that the code page lacks, and repeated ones, are passed over.
    pub fn from_alphabet(page: CodePage, capital: &str, small: &str) -> Self {
        let mut is_letter = [false; 256];
        let mut encode = |letters: &str| -> Vec<u8> {
            let mut encoded = Vec::new();
            for letter in letters.chars() {
                let mut bytes = Vec::new();
                if page.encode(letter.encode_utf8(&mut [0; 4]), &mut bytes).is_err() {
                    continue;
                }
                if let [byte] = bytes[..] {
                    let known = &mut is_letter[usize::from(byte)];
                    if !std::mem::replace(known, true) {
                        encoded.push(byte);
                    }
                }
            }
            encoded
        };
        let (capital, small) = (encode(capital), encode(small));
        if capital.is_sorted() && small.is_sorted() {
            return Self::binary();
        }
        let first = |letters: &[u8]| letters.iter().min().copied().unwrap_or(u8::MAX);
        let (first_capital, first_small) = (first(&capital), first(&small));
        let others = |place: fn(u8, u8, u8) -> bool| {
            (0..=255_u8).filter(move |byte| !is_letter[usize::from(*byte)] && place(*byte, first_capital, first_small))
        };
        let order = others(|byte, capital, _| byte < capital)
            .chain(capital.iter().copied())
            .chain(others(|byte, capital, small| byte >= capital && byte < small))
            .chain(small.iter().copied())
            .chain(others(|byte, capital, small| byte >= capital && byte >= small));
        let mut weights = [0; 256];
        for (weight, byte) in (0..=255).zip(order) {
            weights[usize::from(byte)] = weight;
        }
        Self {
            weights: Some(Arc::new(weights)),
        }
    }

    /// Whether bytes are compared as they are.
    pub fn is_binary(&self) -> bool {
        self.weights.is_none()
    }

    /// The weight of each byte, as an [`Environment`](crate::expression::Environment) takes it; `None` when it is the byte
    /// itself.
    pub fn weights(&self) -> Option<&Arc<[u8; 256]>> {
        self.weights.as_ref()
    }
}

impl Alphabet {
    fn of(language: &str) -> Result<&'static Self> {
        let known = ALPHABETS.iter().find(|alphabet| alphabet.language == language);
        known.ok_or_else(|| {
            let known: Vec<_> = Collation::languages().collect();
            let message = format!("no collation for language {language:?}; there are {}", known.join(", "));
            Error::Misuse(message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_together_and_other_bytes_keep_their_order() {
        let german = Collation::national("de", CodePage::Cp850).unwrap();
        let weights = german.weights().unwrap();
        let weight = |text: &str| {
            let mut bytes = Vec::new();
            CodePage::Cp850.encode(text, &mut bytes).unwrap();
            weights[usize::from(bytes[0])]
        };
        let order = [
            "@", "A", "Ä", "B", "O", "Ö", "P", "Z", "[", "`", "a", "ä", "b", "s", "ß", "t", "z", "{", "Ç", "é",
        ];
        assert!(order.is_sorted_by(|a, b| weight(a) < weight(b)));
        let mut all = weights.to_vec();
        all.sort_unstable();
        assert_eq!(all, (0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn alphabets_in_the_order_of_their_bytes_are_binary() {
        for page in [CodePage::Cp866, CodePage::Cp1251] {
            assert!(Collation::national("ru", page).unwrap().is_binary());
        }
        assert!(!Collation::national("es", CodePage::Cp1252).unwrap().is_binary());
        let error = Collation::national("xx", CodePage::Cp437).unwrap_err().to_string();
        assert!(error.contains("\"xx\"") && error.contains("de"), "{error}");
    }
}
