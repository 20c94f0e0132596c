//! Names of files that form one table: patterns, and the numbered shards that data pipelines write, `NAME-00002-of-00010.EXTENSION`.
//!
//! The two ways to name all shards come from the sharded file specifications of google/array_record and of Apache Beam: `NAME@10.EXTENSION`
//! and `NAME-*-of-00010.EXTENSION`.

use std::path::{Path, PathBuf};

/// The shards of `NAME@COUNT` or `NAME-*-of-COUNT`, in order; an extension may follow. `None` for other names.
pub(crate) fn all_of(path: &Path) -> Option<Vec<PathBuf>> {
    let (name, count, extension) = family(path.to_str()?)?;
    Some(numbered(name, count, extension))
}

/// Whether the name stands for shards, as in [`all_of`].
pub(crate) fn is_family(path: &Path) -> bool {
    path.to_str().and_then(family).is_some()
}

/// All shards of the family to which all these files belong; `None` if they belong to none, or to different ones.
pub(crate) fn siblings<'a>(files: impl IntoIterator<Item = &'a Path>) -> Option<Vec<PathBuf>> {
    let mut family = None;
    for file in files {
        let found = member(file.to_str()?)?;
        if *family.get_or_insert(found) != found {
            return None;
        }
    }
    let (name, count, extension) = family?;
    Some(numbered(name, count, extension))
}

/// The files below the folder that match the pattern, sorted by name. In a pattern `*` is any text, `?` any character, `[abc]` one of these
/// characters, and `**` any folders.
///
/// # Errors
///
/// An error in the pattern, or a folder that cannot be listed.
pub(crate) fn matching(folder: &Path, pattern: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = PathBuf::from(glob::Pattern::escape(&folder.to_string_lossy()));
    let paths = glob::glob(&folder.join(pattern).to_string_lossy());
    let paths = paths.map_err(|error| format!("not a pattern: {error}"))?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| error.to_string())?;
        if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Characters that make a name a pattern.
pub(crate) const PATTERN: [char; 3] = ['*', '?', '['];

/// The most shards of a name.
const MOST: u32 = 1_000_000;

/// The name, the count and the extension of `NAME@10.EXTENSION` and `NAME-*-of-00010.EXTENSION`.
fn family(path: &str) -> Option<(&str, u32, &str)> {
    let (name, last) = match path.split_once("-*-of-") {
        Some(parts) => parts,
        None => path.rsplit_once('@')?,
    };
    let (count, extension) = counted(last)?;
    let is_pattern = name.contains(PATTERN) || extension.contains(PATTERN);
    let is_whole = extension.is_empty() || extension.starts_with('.');
    (is_whole && !is_pattern && !extension.contains('/')).then_some((name, count, extension))
}

/// Splits a shard's number from a name: `orders.riegeli` and `-00002-of-00010`, `@10`, `-*-of-00010`, or nothing.
pub(crate) fn without_number(name: &str) -> (&str, &str) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let end = match (name.rsplit_once("-of-"), name.rsplit_once('@')) {
        (Some((first, count)), _) if is_number(count) => match first.rsplit_once('-') {
            Some((rest, number)) if number == "*" || is_number(number) => rest.len(),
            _ => name.len(),
        },
        (_, Some((first, count))) if is_number(count) => first.len(),
        _ => name.len(),
    };
    name.split_at(end)
}

/// The name, the count and the extension of `NAME-00002-of-00010.EXTENSION`.
fn member(path: &str) -> Option<(&str, u32, &str)> {
    let (first, last) = path.rsplit_once("-of-")?;
    let (name, number) = first.rsplit_once('-')?;
    let number: u32 = number.parse().ok()?;
    let (count, extension) = counted(last)?;
    (number < count).then_some((name, count, extension))
}

/// The count and the extension of `00010.EXTENSION`.
fn counted(last: &str) -> Option<(u32, &str)> {
    let digits = last.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(last.len());
    let (count, extension) = last.split_at(digits);
    let count = count.parse().ok().filter(|&count| (1..=MOST).contains(&count))?;
    Some((count, extension))
}

fn numbered(name: &str, count: u32, extension: &str) -> Vec<PathBuf> {
    (0..count)
        .map(|number| PathBuf::from(format!("{name}-{number:05}-of-{count:05}{extension}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_stands_for_all_shards() {
        let shards = all_of(Path::new("data/orders@3.riegeli")).expect("shards");
        assert_eq!(
            shards,
            [0, 1, 2].map(|number| PathBuf::from(format!("data/orders-0000{number}-of-00003.riegeli")))
        );
        for other in [
            "orders.riegeli",
            "orders@.riegeli",
            "me@home.riegeli",
            "orders@0",
            "orders@9999999",
            "orders@3/a.riegeli",
            "a*@3.riegeli",
        ] {
            assert_eq!(all_of(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_star_for_the_number_stands_for_all_shards() {
        let shards = all_of(Path::new("data/orders-*-of-00002.riegeli")).expect("shards");
        assert_eq!(
            shards,
            [0, 1].map(|number| PathBuf::from(format!("data/orders-0000{number}-of-00002.riegeli")))
        );
        for other in [
            "orders-*.riegeli",
            "*-*-of-2",
            "a-*-of-2.?",
            "a-*-of-2/b",
            "a-*-of-2.b/c",
            "a-*-of-0",
        ] {
            assert_eq!(all_of(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn members_of_one_family_stand_for_all_of_it() {
        let of = |names: &[&str]| siblings(names.iter().map(Path::new));
        let all = of(&["a-00001-of-00002.riegeli"]).expect("a family");
        assert_eq!(
            all,
            ["a-00000-of-00002.riegeli", "a-00001-of-00002.riegeli"].map(PathBuf::from)
        );
        assert_eq!(of(&["a-00001-of-00002.riegeli", "b-00001-of-00002.riegeli"]), None);
        assert_eq!(of(&["a-00002-of-00002.riegeli"]), None);
        assert_eq!(of(&["monday.riegeli"]), None);
        assert_eq!(of(&[]), None);
    }
}
