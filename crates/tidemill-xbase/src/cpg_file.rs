//! The `.cpg` file beside a table, which names its code page in the way of ESRI, GDAL, Windows or others.

use std::io;
use std::path::{Path, PathBuf};

use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::note::Note;
use crate::regular_file;

/// More bytes than any such file has: a name, and perhaps a line end.
pub(crate) const CPG_LIMIT: u64 = 4096;

/// What the file says.
pub(crate) enum Named {
    /// This code page.
    Page(CodePage),
    /// A name that stands for whatever the writer's system had, or one that is not known.
    Other(PathBuf, String),
}

impl Named {
    /// An error about a name that is not known.
    pub(crate) fn refused(path: &Path, name: &str) -> Error {
        let name = shown(name);
        let expected = "a name such as cp1252 or UTF-8 (an option overrides it)";
        Error::corrupt(path, "code page", 0, expected, name)
    }

    /// A word about a name that is not known.
    pub(crate) fn note(path: &Path, name: &str) -> Note {
        Note {
            begin: 0,
            end: 0,
            record: None,
            count: 1,
            what: format!(
                "{}: no code page is called {}; it is passed over",
                path.display(),
                shown(name)
            ),
        }
    }
}

/// A name as messages show it: what is no name may be anything.
fn shown(name: &str) -> String {
    let is_name = name.len() <= 32
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_ ./".contains(letter));
    match is_name {
        true => format!("{name:?}"),
        false => "what it holds, which is no name".to_owned(),
    }
}

/// What the `.cpg` file beside the table says; `None` when there is none.
///
/// # Errors
/// [`Error::NotRegular`], [`Error::Io`] when it cannot be read, [`Error::Corrupt`] when it is too long.
pub(crate) fn read(table: &Path) -> Result<Option<Named>> {
    let real = regular_file::behind_link(table).unwrap_or_else(|_| table.to_owned());
    let (own, names) = (["cpg", "CPG"].map(|name| table.with_extension(name)), ["cpg", "CPG"]);
    // Of a link to a table, where there is none beside the link.
    let others = names.map(|name| real.with_extension(name));
    for path in own.into_iter().chain(others) {
        regular_file::stays_beside(&path, table)?;
        match regular_file::read_short(&path, "code page", CPG_LIMIT) {
            Ok(text) => return Ok(Some(named(path, &text))),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

fn named(path: PathBuf, text: &[u8]) -> Named {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let line = text
        .split(|byte| matches!(byte, b'\n' | b'\r' | 0))
        .next()
        .unwrap_or_default();
    let name = String::from_utf8_lossy(line.get(..64.min(line.len())).unwrap_or_default())
        .trim()
        .to_owned();
    match page(&name) {
        Some(page) => Named::Page(page),
        None => Named::Other(path, name),
    }
}

/// The code page of a name: with or without the family before it (`ANSI 1252`, `OEM 850`), or a language byte (`LDID/87`).
fn page(name: &str) -> Option<CodePage> {
    if let Some(byte) = name.strip_prefix("LDID/") {
        return byte.trim().parse().ok().and_then(CodePage::from_language_byte);
    }
    let families = ["ANSI ", "OEM ", "ISO ", "Windows "];
    let bare = families.iter().find_map(|family| {
        let front = name.get(..family.len())?;
        front.eq_ignore_ascii_case(family).then(|| name.get(family.len()..))?
    });
    let page = bare.and_then(|bare| bare.parse().ok()).or_else(|| name.parse().ok());
    page.or_else(|| name.parse().ok().and_then(CodePage::from_language_byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_program_are_understood() {
        for (text, expected) in [
            ("88591", Some(CodePage::Iso8859_1)),
            ("88599", Some(CodePage::Cp1254)),
            ("885911", Some(CodePage::Cp874)),
            ("885915", Some(CodePage::Iso8859_15)),
            ("ISO 8859-2", Some(CodePage::Iso8859_2)),
            ("ISO-8859-1\r\n", Some(CodePage::Iso8859_1)),
            ("ISO88595", Some(CodePage::Iso8859_5)),
            ("ANSI 1252", Some(CodePage::Cp1252)),
            ("ansi 1251", Some(CodePage::Cp1251)),
            ("ANSI", Some(CodePage::Cp1252)),
            ("OEM 850", Some(CodePage::Cp850)),
            ("windows-1250", Some(CodePage::Cp1250)),
            ("\u{feff}UTF-8", Some(CodePage::Utf8)),
            ("utf8", Some(CodePage::Utf8)),
            ("65001", Some(CodePage::Utf8)),
            ("EUC-JP", Some(CodePage::EucJp)),
            ("Big5", Some(CodePage::Cp950)),
            ("GB18030", Some(CodePage::Cp936)),
            ("SJIS", Some(CodePage::Cp932)),
            ("LDID/87", Some(CodePage::Cp1252)),
            ("87", Some(CodePage::Cp1252)),
            ("System", None),
            ("OEM", None),
            ("LDID/0", None),
            ("", None),
        ] {
            let found = match named(PathBuf::new(), text.as_bytes()) {
                Named::Page(page) => Some(page),
                Named::Other(..) => None,
            };
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
