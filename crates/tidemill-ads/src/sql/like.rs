//! Patterns of `LIKE`: `%` for any text, `_` for any character. `ILIKE` is `LIKE` of both sides in capitals.

/// A pattern, taken apart once.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Char(char),
    Any,
    Rest,
}

impl Pattern {
    pub(super) fn new(text: &str, escape: Option<char>) -> Self {
        let mut parts = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            parts.push(match c {
                c if Some(c) == escape => Part::Char(chars.next().unwrap_or(c)),
                '%' if parts.last() == Some(&Part::Rest) => continue,
                '%' => Part::Rest,
                '_' => Part::Any,
                c => Part::Char(c),
            });
        }
        Self { parts }
    }

    /// The text that a pattern of the form `text%` begins with.
    pub(super) fn prefix(&self) -> Option<String> {
        let (Part::Rest, begin) = self.parts.split_last()? else {
            return None;
        };
        begin
            .iter()
            .map(|part| match part {
                Part::Char(c) => Some(*c),
                _ => None,
            })
            .collect()
    }

    /// The text of a pattern without `%` and `_`.
    pub(super) fn whole(&self) -> Option<String> {
        let chars = self.parts.iter().map(|part| match part {
            Part::Char(c) => Some(*c),
            _ => None,
        });
        chars.collect()
    }

    /// In steps of at most text × pattern: a `%` takes one more character whenever what follows it does not fit.
    pub(super) fn matches(&self, text: &str) -> bool {
        let (mut rest, mut at) = (text, 0);
        let mut back: Option<(&str, usize)> = None;
        loop {
            let mut chars = rest.chars();
            match (self.parts.get(at), chars.next()) {
                (Some(Part::Rest), _) => {
                    back = Some((rest, at + 1));
                    at += 1;
                    continue;
                }
                (Some(Part::Any), Some(_)) => {
                    (rest, at) = (chars.as_str(), at + 1);
                    continue;
                }
                (Some(Part::Char(wanted)), Some(c)) if *wanted == c => {
                    (rest, at) = (chars.as_str(), at + 1);
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((from, part)) = back else {
                return false;
            };
            let mut chars = from.chars();
            if chars.next().is_none() {
                return false;
            }
            (rest, at) = (chars.as_str(), part);
            back = Some((rest, part));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_text() {
        for (pattern, text, expected) in [
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("a%c", "abbc", true),
            ("%b%", "abc", true),
            ("%ab%ab", "ababab", true),
            ("_b_", "abc", true),
            ("_", "", false),
            ("%", "", true),
            ("50!%", "50%", true),
            ("50!%", "500", false),
        ] {
            assert_eq!(
                Pattern::new(pattern, Some('!')).matches(text),
                expected,
                "{text} LIKE {pattern}"
            );
        }
        assert_eq!(Pattern::new("ab%", None).prefix().as_deref(), Some("ab"));
        assert_eq!(Pattern::new("a_%", None).prefix(), None);
    }

    /// The definition, without a thought for speed.
    fn matches(parts: &[char], text: &[char]) -> bool {
        match parts.split_first() {
            None => text.is_empty(),
            Some(('%', rest)) => (0..=text.len()).any(|from| matches(rest, &text[from..])),
            Some((part, rest)) => text
                .split_first()
                .is_some_and(|(c, text)| (*part == '_' || part == c) && matches(rest, text)),
        }
    }

    proptest! {
        #[test]
        fn patterns_match_what_their_definition_says(pattern in "[ab%_]{0,6}", text in "[ab]{0,8}") {
            let (parts, chars): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
            prop_assert_eq!(Pattern::new(&pattern, None).matches(&text), matches(&parts, &chars));
        }
    }
}
