//! What a program sets for all its tables.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use tidemill_ads::{DateFormat, ErrorCode, Paths, Result, Settings};

use crate::call::{call, refuse};
use crate::constants::{ADS_IGNORE_RIGHTS_CHECKING, ADS_RESPECT_RIGHTS_CHECKING, AE_SUCCESS};
use crate::handle::{Handle, session};
use crate::pointers::{Bytes, Name, Out};

/// The environment variable that says which folders drives and shares are: `C:=/srv/data;\\SERVER\SHARE=/srv/share`.
const DRIVES: &str = "TIDEMILL_ACE_DRIVES";

static SETTINGS: LazyLock<RwLock<Arc<Settings>>> = LazyLock::new(|| {
    let drives = std::env::var(DRIVES).unwrap_or_default();
    let paths = Paths::with_drives(&drives).unwrap_or_else(|error| {
        eprintln!("{DRIVES}: {error}");
        Paths::default()
    });
    RwLock::new(Arc::new(Settings {
        paths,
        ..Settings::default()
    }))
});

/// How often they were changed.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// The settings as they are now.
pub(crate) fn settings() -> Arc<Settings> {
    Arc::clone(&SETTINGS.read().unwrap_or_else(PoisonError::into_inner))
}

/// The settings as a connection saw them last, which most calls need no lock for.
#[derive(Debug)]
pub(crate) struct SeenSettings {
    /// How often they had been changed then.
    changes: u64,
    settings: Arc<Settings>,
}

impl SeenSettings {
    pub(crate) fn new() -> Self {
        let changes = CHANGES.load(Ordering::Acquire);
        let settings = settings();
        Self { changes, settings }
    }

    /// The settings as they are now.
    pub(crate) fn now(&mut self) -> &Settings {
        if self.changes != CHANGES.load(Ordering::Acquire) {
            *self = Self::new();
        }
        &self.settings
    }
}

fn change(change: impl FnOnce(&mut Settings)) -> Result<()> {
    let mut settings = SETTINGS.write().unwrap_or_else(PoisonError::into_inner);
    change(Arc::make_mut(&mut settings));
    CHANGES.fetch_add(1, Ordering::Release);
    Ok(())
}

/// How many closed cursors stay open for the next statement over the same table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCacheOpenCursors(cursors: u16) -> u32 {
    call(|| change(|settings| settings.cached_cursors = cursors.into()))
}

/// Whether deleted records are shown.
#[unsafe(no_mangle)]
pub extern "C" fn AdsShowDeleted(is_shown: u16) -> u32 {
    call(|| change(|settings| settings.show_deleted = is_shown != 0))
}

/// Whether deleted records are shown.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDeleted(answer: Out<u16>) -> u32 {
    call(|| answer.set(settings().show_deleted.into()))
}

/// Whether texts are equal only if they have the same length.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetExact(is_exact: u16) -> u32 {
    call(|| change(|settings| settings.exact = is_exact != 0))
}

/// Whether texts are equal only if they have the same length.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetExact(answer: Out<u16>) -> u32 {
    call(|| answer.set(settings().exact.into()))
}

/// How many decimals numbers have in texts.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetDecimals(decimals: u16) -> u32 {
    call(|| match decimals {
        0..=20 => change(|settings| settings.decimals = decimals),
        _ => refuse(ErrorCode::InvalidDecimals, format!("{decimals} decimals are too many")),
    })
}

/// How many decimals numbers have in texts.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDecimals(answer: Out<u16>) -> u32 {
    call(|| answer.set(settings().decimals))
}

/// How dates are written.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetDateFormat(format: Name) -> u32 {
    call(|| {
        let format = DateFormat::new(&format.needed()?)?;
        change(|settings| settings.date_format = format)
    })
}

/// How dates are written.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDateFormat(format: Bytes, len: Out<u16>) -> u32 {
    call(|| format.put(settings().date_format.picture().as_bytes(), len))
}

/// How dates are written: with connection 0 as [`AdsSetDateFormat`]. A connection has no format of its own.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetDateFormat60(connection: Handle, format: Name) -> u32 {
    match connection {
        0 => AdsSetDateFormat(format),
        _ => call(|| {
            session(connection)?;
            refuse(
                ErrorCode::NotImplemented,
                "connections have no date format of their own: AdsSetDateFormat sets it for all",
            )
        }),
    }
}

/// How dates are written on a connection: as on all.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDateFormat60(connection: Handle, format: Bytes, len: Out<u16>) -> u32 {
    match call(|| session(connection).map(drop)) {
        AE_SUCCESS => AdsGetDateFormat(format, len),
        code => code,
    }
}

/// Whether texts are equal only if they have the same length: for object 0 as [`AdsSetExact`]. Connections and tables have no
/// setting of their own.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetExact22(object: Handle, is_exact: u16) -> u32 {
    match object {
        0 => AdsSetExact(is_exact),
        _ => call(|| {
            let what = "connections and tables have no such setting of their own: AdsSetExact sets it for all";
            refuse(ErrorCode::NotImplemented, what)
        }),
    }
}

/// Whether texts are equal only if they have the same length, for an object: as for all.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetExact22(object: Handle, answer: Out<u16>) -> u32 {
    call(|| match crate::handle::object(object) {
        None if object != 0 => refuse(ErrorCode::InvalidHandle, crate::handle::unknown(object, "anything")),
        _ => answer.set(settings().exact.into()),
    })
}

/// Whether the user's rights are looked at before a file is opened: never, which is what version 10 and later do.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetRightsChecking(options: u32) -> u32 {
    call(|| match options {
        ADS_IGNORE_RIGHTS_CHECKING => Ok(()),
        ADS_RESPECT_RIGHTS_CHECKING => refuse(
            ErrorCode::NotImplemented,
            "the operating system alone looks at rights, when a file is opened",
        ),
        other => refuse(ErrorCode::InvalidOption, format!("{other} is no way to look at rights")),
    })
}

/// Texts always end with a NUL: the function is obsolete, and says so as in ACE.
#[unsafe(no_mangle)]
pub extern "C" fn AdsNullTerminateStrings(_is_terminated: u16) -> u32 {
    call(|| refuse(ErrorCode::ObsoleteFunction, "texts always end with a NUL"))
}

/// Is obsolete (SAP's help, "AdsGetCollationLang"), and answers so.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetCollationLang(_language: Bytes, _len: Out<u16>) -> u32 {
    call(|| refuse(ErrorCode::ObsoleteFunction, COLLATION_OF_TABLES))
}

/// Is obsolete (SAP's help, "AdsSetCollationLang"), and answers so.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetCollationLang(_language: Name) -> u32 {
    call(|| refuse(ErrorCode::ObsoleteFunction, COLLATION_OF_TABLES))
}

const COLLATION_OF_TABLES: &str = "a collation belongs to a table and is given when that is opened";

/// The first of the hundred years that two digits mean.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetEpoch(year: u16) -> u32 {
    call(|| change(|settings| settings.epoch = year))
}

/// The first of the hundred years that two digits mean.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetEpoch(answer: Out<u16>) -> u32 {
    call(|| answer.set(settings().epoch))
}

/// The folder of names without one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetDefault(folder: Name) -> u32 {
    call(|| {
        let folder = folder.text()?.filter(|folder| !folder.trim().is_empty());
        let folder = match folder {
            Some(folder) => Some(settings().paths.resolve(&folder, &PathBuf::from("."))?),
            None => None,
        };
        change(|settings| settings.paths.default_folder = folder)
    })
}

/// The folder of names without one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDefault(folder: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        let settings = settings();
        let path = settings
            .paths
            .default_folder
            .as_deref()
            .map(|path| path.display().to_string());
        folder.put(path.unwrap_or_default().as_bytes(), len)
    })
}

/// Names without a folder belong to the connection's again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearDefault() -> u32 {
    call(|| change(|settings| settings.paths.default_folder = None))
}

/// Where names are looked for that are not in the folder of the connection, separated by semicolons.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetSearchPath(path: Name) -> u32 {
    call(|| {
        let path = path.text()?.unwrap_or_default();
        let known = settings();
        let folders = path.split(';').map(str::trim).filter(|folder| !folder.is_empty());
        let folders = folders
            .map(|folder| known.paths.resolve(folder, &PathBuf::from(".")))
            .collect::<Result<_>>()?;
        change(|settings| settings.paths.search_path = folders)
    })
}

/// Where names are looked for that are not in the folder of the connection.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSearchPath(path: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        let settings = settings();
        let folders: Vec<String> = settings
            .paths
            .search_path
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        path.put(folders.join(";").as_bytes(), len)
    })
}

/// Which kinds of server may be used. Only the local one is here, and it always may.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetServerType(_servers: u16) -> u32 {
    AE_SUCCESS
}
