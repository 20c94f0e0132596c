//! Standard input as a file, for what goes back in it: rows, descriptions.

use std::fs::{self, File};
use std::io::{self, BufRead as _, Read as _};
use std::path::Path;

use anyhow::Context;
use tempfile::TempPath;
use tidemill_sql::{Error, Location, standard_input};

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
        // What begins as JSON is no record, and refused where records alone are read.
        let is_text = is_text(io::stdin().lock().fill_buf().context("cannot read standard input")?);
        let mut stream: Box<dyn io::Read> = match is_text {
            true => Box::new(io::stdin().lock()),
            false => Box::new(standard_input()?.1),
        };
        let mut file = tempfile::Builder::new().prefix("tidemill-input-").tempfile()?;
        io::copy(&mut stream, &mut file).context("cannot keep standard input in a temporary file")?;
        let mut path = file.into_temp_path();
        if let Some(extension) = extension_of_text(&path).context("cannot read the temporary file")? {
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

/// Text has no name that tells its format, and no first bytes: objects and arrays are JSON, all else is CSV. `None` of what is no text.
fn extension_of_text(path: &Path) -> io::Result<Option<&'static str>> {
    let mut begin = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut begin)?;
    if !is_text(&begin) {
        return Ok(None);
    }
    let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(Some(match first {
        Some(b'{') => "jsonl",
        Some(b'[') => "json",
        _ => "csv",
    }))
}
