//! Texts inside the program, for scripts that want something to choose from.
//!
//! They have the names of Latte's resources and contents of their own. The two long ones are sentences made of the others' words.

use std::borrow::Cow;
use std::sync::LazyLock;

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// The text of that name.
pub(super) fn resource(name: &str) -> Option<&'static str> {
    Some(match name {
        "adventures.txt" => &ADVENTURES,
        "careers.txt" => include_str!("../../resources/careers.txt"),
        "companies.txt" => include_str!("../../resources/companies.txt"),
        "jobdescription.txt" => include_str!("../../resources/jobdescription.txt"),
        "lastnames.txt" => include_str!("../../resources/lastnames.txt"),
        "lorem_ipsum_full.txt" => &LOREM_IPSUM,
        "names.txt" => include_str!("../../resources/names.txt"),
        "numbers.txt" => include_str!("../../resources/numbers.txt"),
        "types5.txt" => include_str!("../../resources/types5.txt"),
        "variable_words.txt" => include_str!("../../resources/variable_words.txt"),
        _ => return None,
    })
}

static ADVENTURES: LazyLock<String> = LazyLock::new(|| {
    let words: Vec<Cow<'_, str>> = include_str!("../../resources/variable_words.txt")
        .lines()
        .flat_map(|line| line.split('_'))
        .map(Cow::Borrowed)
        .chain(
            include_str!("../../resources/careers.txt")
                .lines()
                .map(|c| c.to_lowercase().into()),
        )
        .collect();
    prose(&words, 10_000, 1)
});

static LOREM_IPSUM: LazyLock<String> = LazyLock::new(|| {
    let words: Vec<Cow<'_, str>> = LATIN.split(' ').map(Cow::Borrowed).collect();
    prose(&words, 1_500, 75)
});

/// Sentences of 6 to 14 words; `sentences` of them, so many in a line.
fn prose(words: &[Cow<'_, str>], sentences: usize, line: usize) -> String {
    let mut random = SmallRng::seed_from_u64(0);
    let mut text = String::new();
    for sentence in 0..sentences {
        for place in 0..random.random_range(6..=14) {
            let word = &words[random.random_range(0..words.len())];
            if place > 0 {
                text.push(' ');
                text.push_str(word);
            } else {
                text.extend(word.chars().take(1).flat_map(char::to_uppercase));
                text.extend(word.chars().skip(1));
            }
        }
        text.push_str(if (sentence + 1) % line == 0 { ".\n" } else { ". " });
    }
    text
}

const LATIN: &str = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore \
                     magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat \
                     duis aute irure in reprehenderit voluptate velit esse cillum eu fugiat nulla pariatur excepteur sint occaecat \
                     cupidatat non proident sunt culpa qui officia deserunt mollit anim id est laborum";
