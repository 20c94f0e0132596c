//! The options of a full-text index, and how the header of its tag has them.
//!
//! Where Advantage keeps them in an ADI or a CDX is not known. Here they stand in bytes of the header that nothing else uses: from 32 to
//! 494, and what does not fit there behind the expressions.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 4 | `TMFT` |
//! | 4 | 1 | 1, the version |
//! | 5 | 1 | case sensitive 01, word counts 02, not maintained 04, numbers whole 08; with the default delimiters 10, noise words 20, drop characters 40, conditional drop characters 80 |
//! | 6 | 2 | length of the shortest word |
//! | 8 | 2 | length of the longest word, that of the keys |
//! | 10 | 8 | bytes of the four texts, 2 each |
//! | 18 | | own delimiters, noise words, drop characters and conditional drop characters, in the table's code page |

use crate::codepage::CodePage;
use crate::header::u16_at;

/// What parts words: white space.
pub const DEFAULT_DELIMITERS: &str = " \u{8}\t\n\u{B}\u{C}\r";
/// What is left out wherever it stands.
pub const DEFAULT_DROP_CHARS: &str = "\"'`";
/// What is left out at the ends of a word.
pub const DEFAULT_CONDITIONALS: &str = ",.?!;:@#$%^&()-_";
/// Words that are passed over.
pub const DEFAULT_NOISE: &str = "about after all also and another any are because been before being between both but came can come could did does \
    each else for from get got had has have her here him himself his how into its just like make many might more most much must never now \
    only other our out over said same see should since some still such take than that the their them then there these they this those \
    through too under use very want was way well were what when where which while who will with would you your";

/// Characters or words of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Whether the default ones count too: no `NEW` before the option.
    pub with_defaults: bool,
    /// Those that were given.
    pub own: String,
}

impl Default for Listed {
    fn default() -> Self {
        Self {
            with_defaults: true,
            own: String::new(),
        }
    }
}

impl Listed {
    /// The default characters as far as they count, and the own ones.
    pub fn characters(&self, defaults: &str) -> String {
        match self.with_defaults {
            true => format!("{defaults}{}", self.own),
            false => self.own.clone(),
        }
    }

    /// The default words as far as they count, and the own ones, with a blank between.
    pub fn words(&self, defaults: &str) -> String {
        match (self.with_defaults, self.own.trim()) {
            (true, "") => defaults.to_owned(),
            (true, own) => format!("{defaults} {own}"),
            (false, own) => own.to_owned(),
        }
    }
}

/// How the words of a full-text index are made ("Full Text Search Index Options").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTextOptions {
    /// `MIN WORD`: words of fewer characters are passed over. Default: 3.
    pub min_word: u16,
    /// `MAX WORD`: the length of the keys in bytes; longer words are cut. Default: 30.
    pub max_word: u16,
    /// `DELIMITERS`: what parts words, besides NUL. Default: [`DEFAULT_DELIMITERS`].
    pub delimiters: Listed,
    /// `NOISE`: words that are passed over, in whatever case, with blanks between. Default: [`DEFAULT_NOISE`].
    pub noise: Listed,
    /// `DROPCHARS`: what is left out wherever it stands. Default: [`DEFAULT_DROP_CHARS`].
    pub drop_chars: Listed,
    /// `CONDITIONALS`: what is left out at the ends of words. Default: [`DEFAULT_CONDITIONALS`].
    pub conditionals: Listed,
    /// `CASESENSITIVE`. Default: false.
    pub is_case_sensitive: bool,
    /// `KEEPSCORE`: noted and told; words are counted in the texts. Default: false.
    pub keeps_score: bool,
    /// `NOTMAINTAINED`: changes of records leave the index as it is, and conditions are not answered from it. Default: false.
    pub is_fixed: bool,
    /// `PROTECTNUMBERS`: a comma or period between two digits parts no words. Default: false.
    pub protects_numbers: bool,
}

impl Default for FullTextOptions {
    fn default() -> Self {
        Self {
            min_word: 3,
            max_word: 30,
            delimiters: Listed::default(),
            noise: Listed::default(),
            drop_chars: Listed::default(),
            conditionals: Listed::default(),
            is_case_sensitive: false,
            keeps_score: false,
            is_fixed: false,
            protects_numbers: false,
        }
    }
}

const MARK: [u8; 4] = *b"TMFT";
const VERSION: u8 = 1;
const TEXTS_AT: usize = 18;

const CASE_SENSITIVE: u8 = 0x01;
const KEEPS_SCORE: u8 = 0x02;
const FIXED: u8 = 0x04;
const PROTECTS_NUMBERS: u8 = 0x08;
/// Of the four texts, in their order.
const WITH_DEFAULTS: [u8; 4] = [0x10, 0x20, 0x40, 0x80];

impl FullTextOptions {
    /// `ADS_FTS_INDEX`, `ADS_FTS_FIXED`, `ADS_FTS_CASE_SENSITIVE`, `ADS_FTS_KEEP_SCORE` and `ADS_FTS_PROTECT_NUMBERS` of `ace.h`, as far as
    /// they hold.
    pub fn option_bits(&self) -> u32 {
        let bits = [
            (true, 0x20),
            (self.is_fixed, 0x40),
            (self.is_case_sensitive, 0x80),
            (self.keeps_score, 0x100),
            (self.protects_numbers, 0x200),
        ];
        bits.iter().filter(|(holds, _)| *holds).map(|(_, bit)| bit).sum()
    }

    /// Whether the words of a text and the answers to conditions are those of the default options, but for words that are longer than
    /// keys, shorter than others or noise.
    pub(crate) fn splits_as_default(&self) -> bool {
        let same = |listed: &Listed, defaults: &str| {
            let sorted = |text: &str| {
                let mut all: Vec<char> = text.chars().filter(|c| *c != '\0').collect();
                all.sort_unstable();
                all.dedup();
                all
            };
            sorted(&listed.characters(defaults)) == sorted(defaults)
        };
        same(&self.delimiters, DEFAULT_DELIMITERS)
            && same(&self.drop_chars, DEFAULT_DROP_CHARS)
            && same(&self.conditionals, DEFAULT_CONDITIONALS)
            && !self.is_case_sensitive
    }

    /// Whether an index of these options has every word that the default ones give.
    pub(crate) fn has_default_words(&self) -> bool {
        let defaults = Self::default();
        let known = |word: &str| {
            DEFAULT_NOISE
                .split_whitespace()
                .any(|noise| noise == word.to_lowercase())
        };
        // Noise is told apart as words are, that is without conditional characters.
        let words = self.noise.words(DEFAULT_NOISE);
        self.splits_as_default() && self.min_word <= defaults.min_word && words.split_whitespace().all(known)
    }

    /// Whether an index of these options has no word that the default ones pass over, given that it has those.
    pub(crate) fn has_no_other_words(&self) -> bool {
        let words = self.noise.words(DEFAULT_NOISE).to_lowercase();
        let has = |noise: &str| words.split_whitespace().any(|word| word == noise);
        self.min_word >= Self::default().min_word && DEFAULT_NOISE.split_whitespace().all(has)
    }

    fn texts(&self) -> [&Listed; 4] {
        [&self.delimiters, &self.noise, &self.drop_chars, &self.conditionals]
    }

    /// The bytes that the header of a tag has.
    ///
    /// # Errors
    /// The first character that the code page lacks.
    pub(crate) fn encode(&self, codepage: CodePage) -> Result<Vec<u8>, char> {
        let mut flags = 0;
        for (is_set, flag) in [
            (self.is_case_sensitive, CASE_SENSITIVE),
            (self.keeps_score, KEEPS_SCORE),
            (self.is_fixed, FIXED),
            (self.protects_numbers, PROTECTS_NUMBERS),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let (mut lens, mut texts) = (Vec::new(), Vec::new());
        for (text, flag) in self.texts().into_iter().zip(WITH_DEFAULTS) {
            flags |= if text.with_defaults { flag } else { 0 };
            let begin = texts.len();
            codepage.encode(&text.own, &mut texts)?;
            // What is longer does not fit into the header, which its writer sees.
            lens.extend(u16::try_from(texts.len() - begin).unwrap_or(u16::MAX).to_le_bytes());
        }
        let mut out = [&MARK[..], &[VERSION, flags]].concat();
        out.extend(self.min_word.to_le_bytes());
        out.extend(self.max_word.to_le_bytes());
        out.extend(lens);
        out.extend(texts);
        Ok(out)
    }

    /// The options in the bytes of a header that are theirs to use; `None` where they are not there, or of a version that is not known.
    ///
    /// # Errors
    /// Where in the bytes something is wrong, and what was expected and found.
    pub(crate) fn decode(bytes: &[u8], codepage: CodePage) -> Result<Option<Self>, OptionsFault> {
        let Some(([b'T', b'M', b'F', b'T', VERSION, flags], _)) = bytes.split_first_chunk() else {
            return Ok(None);
        };
        let number = |at| u16_at(bytes, at).unwrap_or_default();
        let (min_word, max_word) = (number(6), number(8));
        if min_word > max_word || max_word == 0 {
            return Err(OptionsFault {
                at: 6,
                expected: "lengths of words, the lesser one first".to_owned(),
                found: format!("{min_word} and {max_word}"),
            });
        }
        let mut at = TEXTS_AT;
        let mut listed = (0..4_usize).zip(WITH_DEFAULTS).map(|(place, flag)| {
            let len = usize::from(number(10 + 2 * place));
            let own = bytes.get(at..at + len).ok_or_else(|| OptionsFault {
                at: 10 + 2 * place,
                expected: format!("at most {} bytes", bytes.len().saturating_sub(at)),
                found: len.to_string(),
            })?;
            at += len;
            Ok(Listed {
                with_defaults: flags & flag != 0,
                own: codepage.decode(own),
            })
        });
        let mut next = || listed.next().unwrap_or_else(|| Ok(Listed::default()));
        Ok(Some(Self {
            min_word,
            max_word,
            delimiters: next()?,
            noise: next()?,
            drop_chars: next()?,
            conditionals: next()?,
            is_case_sensitive: flags & CASE_SENSITIVE != 0,
            keeps_score: flags & KEEPS_SCORE != 0,
            is_fixed: flags & FIXED != 0,
            protects_numbers: flags & PROTECTS_NUMBERS != 0,
        }))
    }
}

/// What is wrong with the options in a header.
#[derive(Debug)]
pub(crate) struct OptionsFault {
    pub(crate) at: usize,
    pub(crate) expected: String,
    pub(crate) found: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> FullTextOptions {
        FullTextOptions {
            min_word: 2,
            max_word: 50,
            delimiters: Listed {
                with_defaults: true,
                own: "<>é".to_owned(),
            },
            noise: Listed {
                with_defaults: false,
                own: "html href".to_owned(),
            },
            is_case_sensitive: true,
            protects_numbers: true,
            ..FullTextOptions::default()
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_what_is_cut_off_is_told() {
        for options in [FullTextOptions::default(), some()] {
            let bytes = options.encode(CodePage::Cp1252).unwrap();
            let decoded = FullTextOptions::decode(&bytes, CodePage::Cp1252).unwrap();
            assert_eq!(decoded.as_ref(), Some(&options));
            for len in 0..bytes.len() {
                let cut = FullTextOptions::decode(&bytes[..len], CodePage::Cp1252);
                assert!(
                    !matches!(cut, Ok(Some(decoded)) if decoded == options && len < TEXTS_AT),
                    "{len}"
                );
            }
        }
        let mut bytes = some().encode(CodePage::Cp1252).unwrap();
        bytes[12] = 0xFF;
        let fault = FullTextOptions::decode(&bytes, CodePage::Cp1252).unwrap_err();
        assert_eq!((fault.at, fault.found.as_str()), (12, "255"));
        bytes[4] = 9;
        assert_eq!(FullTextOptions::decode(&bytes, CodePage::Cp1252).unwrap(), None);
        assert_eq!(some().encode(CodePage::Cp437).unwrap().len(), TEXTS_AT + 12);
    }

    #[test]
    fn an_index_of_more_words_than_the_default_has_the_default_ones() {
        let with = |change: fn(&mut FullTextOptions)| {
            let mut options = FullTextOptions::default();
            change(&mut options);
            options.has_default_words()
        };
        assert!(with(|_| ()));
        assert!(with(|options| options.min_word = 1));
        assert!(with(|options| options.max_word = 5));
        assert!(with(|options| options.noise = Listed {
            with_defaults: false,
            own: "the".to_owned()
        }));
        assert!(with(|options| options.delimiters.own = "\t".to_owned()));
        assert!(!with(|options| options.min_word = 4));
        assert!(!with(|options| options.noise.own = "document".to_owned()));
        assert!(!with(|options| options.delimiters.own = "-".to_owned()));
        assert!(!with(|options| options.is_case_sensitive = true));
    }
}
