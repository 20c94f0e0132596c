//! Standard input as a stream of records, or as a temporary file that can be read more than once.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, StdinLock};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempPath;
use tidemill_csv::Packing;
use tokio::sync::OnceCell;

use crate::ads_connection::blocking;
use crate::format::{Format, read_beginning};
use crate::location::Location;
use crate::{Error, Result};

/// The bytes read from standard input that turned out not to be records.
static UNREAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Standard input from its first byte, with the detected format of its records: Riegeli, also for an ArrayRecord file, or TFRecord. An
/// unknown beginning is taken for Riegeli, whose reader reports the error.
///
/// # Errors
///
/// [`Error::Io`]; [`Error::Unsupported`] for other formats: [`Session::spooled`](crate::Session::spooled) can still read it.
pub fn standard_input() -> Result<(Format, impl Read)> {
    let mut stdin = from_unread();
    let beginning = read_beginning(&mut stdin).map_err(Error::io("standard input", "read"))?;
    let no_records = match beginning.as_slice() {
        [] => Some("standard input: nothing, where records are expected,"),
        text if is_text(text) => Some("standard input: text, where records are expected,"),
        _ => None,
    };
    let format = match no_records {
        Some(what) => Err(Error::Unsupported {
            what: what.to_owned(),
            hint: "name the file instead of -".to_owned(),
        }),
        None => Format::of_stream(&beginning, &"standard input"),
    };
    match format {
        Ok(format) => Ok((format, Cursor::new(beginning).chain(stdin))),
        Err(error) => {
            *UNREAD.lock().unwrap_or_else(PoisonError::into_inner) = beginning;
            Err(error)
        }
    }
}

fn from_unread() -> io::Chain<Cursor<Vec<u8>>, StdinLock<'static>> {
    let unread = std::mem::take(&mut *UNREAD.lock().unwrap_or_else(PoisonError::into_inner));
    Cursor::new(unread).chain(io::stdin().lock())
}

/// Standard input as a temporary file of a session, which lives as long as this value.
#[derive(Debug, Default)]
pub(crate) struct StandardInput(OnceCell<Spooled>);

#[derive(Debug)]
struct Spooled {
    _file: TempPath,
    location: Location,
}

impl StandardInput {
    /// The file. The first call reads standard input to its end.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::NotATable`].
    pub(crate) async fn location(&self) -> Result<&Location> {
        let spooled = self.0.get_or_try_init(|| blocking(Spooled::read)).await?;
        Ok(&spooled.location)
    }
}

/// The temporary files of this process.
static SPOOLED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of a program that ends.
pub(crate) fn remove() {
    let files = std::mem::take(&mut *SPOOLED.lock().unwrap_or_else(PoisonError::into_inner));
    files.iter().for_each(|file| drop(fs::remove_file(file)));
}

fn remember(file: &Path) {
    let mut files = SPOOLED.lock().unwrap_or_else(PoisonError::into_inner);
    files.push(file.to_path_buf());
}

impl Spooled {
    fn read() -> Result<Self> {
        let failed = |error| Error::io("standard input", "keep in a temporary file")(error);
        let mut file = tempfile::Builder::new()
            .prefix("tidemill-input-")
            .tempfile()
            .map_err(failed)?;
        remember(file.path());
        io::copy(&mut from_unread(), &mut file).map_err(failed)?;
        let mut path = file.into_temp_path();
        if let Some(extension) = extension_of(&path).map_err(failed)? {
            let named = path.with_extension(extension);
            remember(&named);
            fs::rename(&path, &named).map_err(failed)?;
            path.keep().ok();
            path = TempPath::try_from_path(named).map_err(failed)?;
        }
        // The end shows whether it is an ArrayRecord file.
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

/// How many bytes are inspected for text.
const LOOKED_AT: u64 = 4096;

/// Whether bytes are text: they contain no control characters except tabs and line ends.
fn is_text(begin: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127);
    !begin.is_empty() && !begin.iter().any(is_control)
}

/// The extension for formats without a magic number: text, compressed or not, is JSON if it begins with an object or an array, and
/// otherwise CSV. A workbook is a ZIP archive like others. `None` if the bytes determine the format.
fn extension_of(path: &Path) -> io::Result<Option<String>> {
    let mut begin = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut begin)?;
    // The first part of a workbook lists the types of its parts.
    let parts = b"[Content_Types].xml";
    if begin.starts_with(b"PK") && begin.windows(parts.len()).any(|window| window == parts) {
        return Ok(Some("xlsx".to_owned()));
    }
    let packing = Packing::of_beginning(&begin);
    if packing != Packing::None {
        begin.clear();
        // Damage is reported when the whole file is read.
        let _ = packing
            .unpacked(File::open(path)?)?
            .take(LOOKED_AT)
            .read_to_end(&mut begin);
    }
    let is_utf16 = begin.starts_with(b"\xff\xfe") || begin.starts_with(b"\xfe\xff");
    if !is_utf16 && !is_text(&begin) {
        return Ok(None);
    }
    // For UTF-16, the byte order mark and the zero bytes are skipped too.
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || is_utf16 && matches!(byte, 0 | 0xFE | 0xFF);
    let first = begin.iter().find(|byte| !is_blank(byte));
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
