//! Standard input as a file, for what goes back in it: rows, descriptions.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::Context;
use tempfile::TempPath;
use tidemill_csv::Packing;
use tidemill_sql::{Error, Location};

/// A file of what came by standard input, which is there as long as this value.
pub(crate) struct Spooled {
    _file: TempPath,
    pub(crate) location: Location,
}

impl Spooled {
    /// Reads standard input to its end.
    pub(crate) async fn read() -> anyhow::Result<Self> {
        tokio::task::spawn_blocking(Self::read_here).await?
    }

    fn read_here() -> anyhow::Result<Self> {
        let mut file = tempfile::Builder::new().prefix("tidemill-input-").tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file).context("cannot keep standard input in a temporary file")?;
        let mut path = file.into_temp_path();
        if let Some(extension) = extension_of(&path).context("cannot read the temporary file")? {
            let named = path.with_extension(extension);
            fs::rename(&path, &named).context("cannot rename the temporary file")?;
            path.keep().ok();
            path = TempPath::try_from_path(named)?;
        }
        // With its end it is known whether it is an ArrayRecord file.
        let location = Location::existing(&path).map_err(|error| match error {
            Error::NotATable { what, hint, .. } => Error::NotATable {
                place: "standard input".to_owned(),
                what,
                hint,
            },
            error => error,
        })?;
        Ok(Self { _file: path, location })
    }
}

/// So many bytes tell whether they are text.
pub(crate) const LOOKED_AT: u64 = 4096;

/// Whether bytes are text: they have no control characters but tabs and ends of lines.
pub(crate) fn is_text(begin: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127);
    !begin.is_empty() && !begin.iter().any(is_control)
}

/// Text, compressed or not, has no name that tells its format, and no first bytes: objects and arrays are JSON, all else is CSV. A
/// workbook is a ZIP archive like others. `None` of what its bytes tell.
fn extension_of(path: &Path) -> io::Result<Option<String>> {
    let mut begin = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut begin)?;
    // The first part of a workbook says what its parts are.
    let parts = b"[Content_Types].xml";
    if begin.starts_with(b"PK") && begin.windows(parts.len()).any(|window| window == parts) {
        return Ok(Some("xlsx".to_owned()));
    }
    let packing = Packing::of_beginning(&begin);
    if packing != Packing::None {
        begin.clear();
        // What is damaged is told by who reads all of it.
        let _ = packing
            .unpacked(File::open(path)?)?
            .take(LOOKED_AT)
            .read_to_end(&mut begin);
    }
    let is_utf16 = begin.starts_with(b"\xff\xfe") || begin.starts_with(b"\xfe\xff");
    if !is_utf16 && !is_text(&begin) {
        return Ok(None);
    }
    let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
    let format = match first {
        Some(b'{') => "jsonl",
        Some(b'[') => "json",
        _ => "csv",
    };
    Ok(Some(match packing {
        Packing::None => format.to_owned(),
        Packing::Gzip => format!("{format}.gz"),
        Packing::Zstd => format!("{format}.zst"),
    }))
}
