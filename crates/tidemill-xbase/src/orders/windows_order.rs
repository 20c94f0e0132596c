//! The sort order of Windows, which Visual Objects and X# use by default. Index files do not record it.
//!
//! Case and accents do not count at first. Digits precede letters, and other characters precede digits, in the order that Microsoft documents
//! for Excel. Hyphens and apostrophes precede all other characters, or are ignored. Further rules for equal texts, and letters that are not
//! Latin, are not implemented: the order only distinguishes such an index from a damaged one, and is not used for searches.

use std::cmp::Ordering;

use crate::codepage::CodePage;

/// How hyphens and apostrophes are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hyphens {
    /// Before every other character.
    Low,
    /// Ignored.
    Ignored,
}

/// The other characters of ASCII, in ascending order.
const SIGNS: &[u8] = b"'- !\"#$%&()*,./:;?@[\\]^_`{|}~+<=>";

/// Letters with accents, and their base letters.
const LETTERS: [(&str, char); 8] = [
    (
        "\u{c0}\u{c1}\u{c2}\u{c3}\u{c4}\u{c5}\u{e0}\u{e1}\u{e2}\u{e3}\u{e4}\u{e5}",
        'a',
    ),
    ("\u{c7}\u{e7}", 'c'),
    ("\u{c8}\u{c9}\u{ca}\u{cb}\u{e8}\u{e9}\u{ea}\u{eb}", 'e'),
    ("\u{cc}\u{cd}\u{ce}\u{cf}\u{ec}\u{ed}\u{ee}\u{ef}", 'i'),
    ("\u{d1}\u{f1}", 'n'),
    ("\u{d2}\u{d3}\u{d4}\u{d5}\u{d6}\u{f2}\u{f3}\u{f4}\u{f5}\u{f6}", 'o'),
    ("\u{d9}\u{da}\u{db}\u{dc}\u{f9}\u{fa}\u{fb}\u{fc}", 'u'),
    ("\u{dd}\u{fd}\u{ff}", 'y'),
];

/// Whether a text may precede another one. `true` if that is unknown.
pub(super) fn may_precede(low: &[u8], high: &[u8], page: CodePage, hyphens: Hyphens) -> bool {
    let places = |text: &[u8]| -> Vec<Option<u16>> {
        let text = page.decode(text);
        let is_passed_over = |c: &char| hyphens == Hyphens::Ignored && matches!(c, '-' | '\'');
        text.chars().filter(|c| !is_passed_over(c)).map(place).collect()
    };
    let (low, high) = (places(low), places(high));
    let differ = low.iter().zip(&high).find(|(low, high)| low != high);
    match differ {
        Some((Some(low), Some(high))) => low.cmp(high) != Ordering::Greater,
        _ => true,
    }
}

fn place(c: char) -> Option<u16> {
    let own = LETTERS.iter().find(|(letters, _)| letters.contains(c));
    let c = own.map_or(c, |(_, letter)| *letter).to_ascii_lowercase();
    match c {
        'a'..='z' | '0'..='9' => Some(256 + c as u16),
        _ => {
            let sign = SIGNS.iter().position(|sign| char::from(*sign) == c)?;
            u16::try_from(sign).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_as_windows_sorts_them() {
        let precedes = |low: &str, high: &str, hyphens| {
            let bytes = |text: &str| {
                let mut bytes = Vec::new();
                CodePage::Cp1252.encode(text, &mut bytes).unwrap();
                bytes
            };
            may_precede(&bytes(low), &bytes(high), CodePage::Cp1252, hyphens)
        };
        let texts = [
            "'tis",
            "-x",
            " x",
            "!x",
            "_x",
            "+x",
            "0x",
            "9",
            "Abel",
            "abel",
            "\u{c4}bte",
            "ac",
            "B",
            "Lemons",
            "LeMont",
            "z",
        ];
        for hyphens in [Hyphens::Low, Hyphens::Ignored] {
            let from = if hyphens == Hyphens::Low { 0 } else { 2 };
            for (at, low) in texts.iter().enumerate().skip(from) {
                for high in &texts[at + 1..] {
                    let is_one = low.eq_ignore_ascii_case(high);
                    assert!(precedes(low, high, hyphens), "{low} {high}");
                    assert_eq!(precedes(high, low, hyphens), is_one, "{high} {low}");
                }
            }
        }
        assert!(precedes("Jean-Piere", "Jean      ", Hyphens::Low));
        assert!(!precedes("Jean-Piere", "Jean      ", Hyphens::Ignored));
        assert!(precedes("co-op", "coot", Hyphens::Ignored));
        assert!(precedes("\u{de}", "\u{d0}", Hyphens::Low), "not known");
    }
}
