//! Files that belong to a table: they stand beside it under its name, in any case.

use std::path::{Path, PathBuf};

use crate::regular_file::behind_link;

/// The file beside `table` that has its name with one of the extensions (given in small letters), the first of them that is
/// there. Otherwise the names that were tried.
pub(crate) fn beside<E: AsRef<str>>(table: &Path, extensions: &[E]) -> Result<PathBuf, String> {
    let extensions = || extensions.iter().map(AsRef::as_ref);
    let mut exact = extensions()
        .flat_map(|extension| [extension.to_owned(), extension.to_uppercase()])
        .map(|extension| table.with_extension(extension));
    if let Some(found) = exact.find(|path| path.is_file()) {
        return Ok(found);
    }
    let stem = table.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let names: Vec<String> = extensions().map(|extension| format!("{stem}.{extension}")).collect();
    let folder = match table.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut best: Option<(usize, PathBuf)> = None;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let rank = names.iter().position(|known| *known == name);
        if let Some(rank) = rank.filter(|rank| best.as_ref().is_none_or(|best| *rank < best.0)) {
            best = Some((rank, entry.path()));
        }
    }
    best.map(|best| best.1).ok_or_else(|| names.join(", "))
}

/// As [`beside`], of a table that is open: where its path is a link, and nothing like that lies beside the link, beside the table that it
/// leads to. Otherwise a change through the link would leave the table's own index and memos behind.
pub(crate) fn belonging<E: AsRef<str>>(table: &Path, extensions: &[E]) -> Result<PathBuf, String> {
    beside(table, extensions).or_else(|names| match behind_link(table) {
        Ok(real) if real != table => beside(&real, extensions),
        _ => Err(names),
    })
}
