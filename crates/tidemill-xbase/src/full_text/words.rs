//! The words of a text.

use std::collections::HashSet;

use super::options::{DEFAULT_CONDITIONALS, DEFAULT_DELIMITERS, DEFAULT_DROP_CHARS, DEFAULT_NOISE, FullTextOptions};

/// Cuts texts into words as the options say.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    delimiters: CharacterSet,
    dropped: CharacterSet,
    conditionals: CharacterSet,
    noise: HashSet<String>,
    min_word: usize,
    is_case_sensitive: bool,
    protects_numbers: bool,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self::new(&FullTextOptions::default())
    }
}

impl Tokenizer {
    /// That of these options.
    pub fn new(options: &FullTextOptions) -> Self {
        let delimiters = CharacterSet::new(&format!("{}\0", options.delimiters.characters(DEFAULT_DELIMITERS)));
        let noise = options.noise.words(DEFAULT_NOISE);
        Self {
            protects_numbers: options.protects_numbers && (delimiters.has('.') || delimiters.has(',')),
            delimiters,
            dropped: CharacterSet::new(&options.drop_chars.characters(DEFAULT_DROP_CHARS)),
            conditionals: CharacterSet::new(&options.conditionals.characters(DEFAULT_CONDITIONALS)),
            noise: noise.split_whitespace().map(str::to_lowercase).collect(),
            min_word: options.min_word.into(),
            is_case_sensitive: options.is_case_sensitive,
        }
    }

    /// The words of a text in their order: in small letters unless case counts, without those that are too short or noise.
    pub fn words(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.each_word(text, |word| words.push(word.to_owned()));
        words
    }

    /// As [`Tokenizer::words`], one after the other.
    pub fn each_word(&self, text: &str, mut take: impl FnMut(&str)) {
        let (mut word, mut rest) = (String::new(), text);
        while !rest.is_empty() {
            let end = self.end_of_word(rest);
            let (own, behind) = rest.split_at(end);
            self.clean_into(own, &mut word);
            if self.counts(&word) {
                take(&word);
            }
            let mut behind = behind.chars();
            let _ = behind.next();
            rest = behind.as_str();
        }
    }

    /// Where the word ends with which a text begins.
    fn end_of_word(&self, text: &str) -> usize {
        let ends = |(at, c): &(usize, char)| {
            self.delimiters.has(*c) && !(self.protects_numbers && matches!(c, '.' | ',') && is_in_number(text, *at))
        };
        text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
    }

    /// A word without the characters that do not belong to it, in small letters unless case counts.
    pub fn cleaned(&self, word: &str) -> String {
        let mut out = String::new();
        self.clean_into(word, &mut out);
        out
    }

    fn clean_into(&self, word: &str, out: &mut String) {
        out.clear();
        let word = word.trim_matches(|c| self.conditionals.has(c) || self.dropped.has(c));
        for c in word.chars().filter(|c| !self.dropped.has(*c)) {
            match (self.is_case_sensitive, c.is_ascii()) {
                (true, _) => out.push(c),
                (false, true) => out.push(c.to_ascii_lowercase()),
                (false, false) => out.extend(c.to_lowercase()),
            }
        }
    }

    /// Whether a cleaned word is long enough, and no noise.
    pub fn counts(&self, word: &str) -> bool {
        let is_long = word.len() >= self.min_word && word.chars().count() >= self.min_word;
        let is_noise = || match self.is_case_sensitive {
            true => self.noise.contains(&word.to_lowercase()),
            false => self.noise.contains(word),
        };
        is_long && !word.is_empty() && !is_noise()
    }
}

/// Whether digits stand on both sides of a place in a text.
fn is_in_number(text: &str, at: usize) -> bool {
    let digit = |at: Option<usize>| {
        let byte = at.and_then(|at| text.as_bytes().get(at));
        byte.is_some_and(u8::is_ascii_digit)
    };
    digit(at.checked_sub(1)) && digit(at.checked_add(1))
}

/// Characters, those of ASCII as bits.
#[derive(Debug, Clone)]
struct CharacterSet {
    ascii: u128,
    others: Vec<char>,
}

impl CharacterSet {
    fn new(text: &str) -> Self {
        let mut set = Self {
            ascii: 0,
            others: Vec::new(),
        };
        for c in text.chars() {
            match c.is_ascii() {
                true => set.ascii |= 1 << u32::from(c),
                false => set.others.push(c),
            }
        }
        set
    }

    fn has(&self, c: char) -> bool {
        match c.is_ascii() {
            true => self.ascii >> u32::from(c) & 1 != 0,
            false => self.others.contains(&c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Listed;
    use super::*;

    fn own(text: &str) -> Listed {
        Listed {
            with_defaults: true,
            own: text.to_owned(),
        }
    }

    #[test]
    fn words_are_those_that_the_help_says() {
        let defaults = FullTextOptions::default();
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        for (options, text, expected) in [
            (
                defaults.clone(),
                "O'Malley said: (48.5), \"A-b_\" test\0case",
                vec!["omalley", "48.5", "a-b", "test", "case"],
            ),
            (defaults.clone(), "The END of It ÄRGER", vec!["end", "ärger"]),
            (defaults.clone(), "", vec![]),
            // "Full Text Search Example Situations": numbers only.
            (
                FullTextOptions {
                    min_word: 2,
                    delimiters: own(letters),
                    ..defaults.clone()
                },
                "123abc456 7",
                vec!["123", "456"],
            ),
            (
                FullTextOptions {
                    min_word: 2,
                    drop_chars: own(letters),
                    ..defaults.clone()
                },
                "123abc456 7",
                vec!["123456"],
            ),
            (
                FullTextOptions {
                    min_word: 1,
                    delimiters: own(",."),
                    ..defaults.clone()
                },
                "1,423.99 one,two.",
                vec!["1", "423", "99", "one", "two"],
            ),
            (
                FullTextOptions {
                    min_word: 1,
                    delimiters: own(",."),
                    protects_numbers: true,
                    ..defaults.clone()
                },
                "1,423.99 one,two. 5, .6",
                vec!["1,423.99", "one", "two", "5", "6"],
            ),
            (
                FullTextOptions {
                    is_case_sensitive: true,
                    ..defaults.clone()
                },
                "Arbitrary THE arbitrary",
                vec!["Arbitrary", "arbitrary"],
            ),
            (
                FullTextOptions {
                    noise: Listed {
                        with_defaults: false,
                        own: "Html".to_owned(),
                    },
                    ..defaults.clone()
                },
                "the HTML page",
                vec!["the", "page"],
            ),
        ] {
            assert_eq!(Tokenizer::new(&options).words(text), expected, "{text} {options:?}");
        }
    }
}
