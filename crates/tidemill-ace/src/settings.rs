//! What a program sets for all its tables.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use tidemill_ads::{AreaId, DateFormat, ErrorCode, Paths, Result, Settings};

use crate::call::{call, refuse};
use crate::constants::{ADS_IGNORE_RIGHTS_CHECKING, ADS_RESPECT_RIGHTS_CHECKING, AE_SUCCESS};
use crate::handle::{Handle, Object, with_any, with_connection};
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

/// How many decimals can be asked for.
pub(crate) const MOST_DECIMALS: u16 = 20;

/// How often they were changed.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// When exactness and the date format of all connections were set last, which those of single ones give way to.
static EXACT_SET: AtomicU64 = AtomicU64::new(0);
static DATE_FORMAT_SET: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Those of the connection that a call of the thread is about, where it has some of its own.
    static ENTERED: RefCell<Option<Arc<Settings>>> = const { RefCell::new(None) };
}

/// Makes the settings of a connection those of the thread, or with `None` those of the program.
pub(crate) fn enter(own: Option<Arc<Settings>>) {
    let _ = ENTERED.try_with(|entered| entered.replace(own));
}

/// The settings as they are now: those of the connection that the call is about.
pub(crate) fn settings() -> Arc<Settings> {
    let entered = ENTERED.try_with(|entered| entered.borrow().clone());
    entered.ok().flatten().unwrap_or_else(of_program)
}

fn of_program() -> Arc<Settings> {
    Arc::clone(&SETTINGS.read().unwrap_or_else(PoisonError::into_inner))
}

/// The settings as a connection saw them last, which most calls need no lock for, and what it has of its own.
#[derive(Debug)]
pub(crate) struct SeenSettings {
    /// How often they had been changed then.
    changes: u64,
    settings: Arc<Settings>,
    /// Its own, and when they were set.
    date_format: Option<(DateFormat, u64)>,
    exact: Option<(bool, u64)>,
    exact_tables: Vec<(AreaId, bool, u64)>,
    has_own: bool,
}

impl SeenSettings {
    pub(crate) fn new() -> Self {
        Self {
            changes: CHANGES.load(Ordering::Acquire),
            settings: of_program(),
            date_format: None,
            exact: None,
            exact_tables: Vec::new(),
            has_own: false,
        }
    }

    /// The settings as they are now.
    pub(crate) fn now(&mut self) -> &Settings {
        if self.changes != CHANGES.load(Ordering::Acquire) {
            self.renew();
        }
        &self.settings
    }

    #[cold]
    fn renew(&mut self) {
        self.changes = CHANGES.load(Ordering::Acquire);
        self.settings = of_program();
        let (date_formats, exacts) = (
            DATE_FORMAT_SET.load(Ordering::Acquire),
            EXACT_SET.load(Ordering::Acquire),
        );
        self.date_format.take_if(|(_, set)| *set < date_formats);
        self.exact.take_if(|(_, set)| *set < exacts);
        let exacts = self.exact.map_or(exacts, |(_, set)| set);
        self.exact_tables.retain(|(_, _, set)| *set >= exacts);
        self.has_own = self.date_format.is_some() || self.exact.is_some();
        if let Some((format, _)) = &self.date_format {
            Arc::make_mut(&mut self.settings).date_format = format.clone();
        }
        if let Some((exact, _)) = self.exact {
            Arc::make_mut(&mut self.settings).exact = exact;
        }
    }

    /// Whether some are the connection's own.
    #[inline]
    pub(crate) fn has_own(&self) -> bool {
        self.has_own
    }

    /// The settings as they are now, where some are the connection's own.
    pub(crate) fn own(&mut self) -> Option<Arc<Settings>> {
        self.now();
        self.has_own.then(|| Arc::clone(&self.settings))
    }

    /// Sets the date format of the connection alone.
    pub(crate) fn set_date_format(&mut self, format: DateFormat) {
        self.date_format = Some((format, tick()));
        self.renew();
    }

    /// Says whether texts of the connection alone are equal only if they have the same length, and of all its tables.
    pub(crate) fn set_exact(&mut self, exact: bool) {
        self.exact = Some((exact, tick()));
        self.renew();
    }

    /// As [`SeenSettings::set_exact`], for the filters that a table gets from now on.
    pub(crate) fn set_exact_of(&mut self, table: AreaId, exact: bool) {
        self.forget_table(table);
        self.exact_tables.push((table, exact, tick()));
        self.renew();
    }

    /// The settings of the filters of a table.
    pub(crate) fn of_filters(&mut self, table: AreaId) -> Arc<Settings> {
        self.now();
        let mut settings = Arc::clone(&self.settings);
        if let Some((_, exact, _)) = self.exact_tables.iter().find(|(known, ..)| *known == table) {
            Arc::make_mut(&mut settings).exact = *exact;
        }
        settings
    }

    /// Forgets what is set for a table.
    pub(crate) fn forget_table(&mut self, table: AreaId) {
        self.exact_tables.retain(|(known, ..)| *known != table);
    }
}

/// The number of a change.
fn tick() -> u64 {
    CHANGES.fetch_add(1, Ordering::Release) + 1
}

/// Changes the settings of the program, and tells the number of the change.
pub(crate) fn change(change: impl FnOnce(&mut Settings)) -> u64 {
    let mut settings = SETTINGS.write().unwrap_or_else(PoisonError::into_inner);
    change(Arc::make_mut(&mut settings));
    tick()
}

fn set(new: impl FnOnce(&mut Settings)) -> Result<()> {
    change(new);
    Ok(())
}

/// How many closed cursors stay open for the next statement over the same table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCacheOpenCursors(cursors: u16) -> u32 {
    call(|| set(|settings| settings.cached_cursors = cursors.into()))
}

/// Whether deleted records are shown.
#[unsafe(no_mangle)]
pub extern "C" fn AdsShowDeleted(is_shown: u16) -> u32 {
    call(|| set(|settings| settings.show_deleted = is_shown != 0))
}

/// Whether deleted records are shown.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDeleted(answer: Out<u16>) -> u32 {
    call(|| answer.set(settings().show_deleted.into()))
}

/// Whether texts are equal only if they have the same length.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetExact(is_exact: u16) -> u32 {
    call(|| {
        EXACT_SET.store(change(|settings| settings.exact = is_exact != 0), Ordering::Release);
        Ok(())
    })
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
        0..=MOST_DECIMALS => set(|settings| settings.decimals = decimals),
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
        DATE_FORMAT_SET.store(change(|settings| settings.date_format = format), Ordering::Release);
        Ok(())
    })
}

/// How dates are written.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDateFormat(format: Bytes, len: Out<u16>) -> u32 {
    call(|| format.put(settings().date_format.picture().as_bytes(), len))
}

/// How dates are written on a connection; with connection 0 as [`AdsSetDateFormat`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetDateFormat60(connection: Handle, format: Name) -> u32 {
    match connection {
        0 => AdsSetDateFormat(format),
        _ => call(|| {
            let format = DateFormat::new(&format.needed()?)?;
            with_connection(connection, |session| {
                session.settings.set_date_format(format);
                Ok(())
            })
        }),
    }
}

/// How dates are written on a connection; with connection 0 as [`AdsGetDateFormat`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDateFormat60(connection: Handle, format: Bytes, len: Out<u16>) -> u32 {
    match connection {
        0 => AdsGetDateFormat(format, len),
        _ => call(|| {
            with_connection(connection, |session| {
                format.put(session.settings.now().date_format.picture().as_bytes(), len)
            })
        }),
    }
}

/// Whether texts are equal only if they have the same length: on a connection, in the filters that a table gets from now on, or for
/// object 0 as [`AdsSetExact`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetExact22(object: Handle, is_exact: u16) -> u32 {
    let is_exact_now = is_exact != 0;
    call(|| match crate::handle::object(object) {
        None if object == 0 => match AdsSetExact(is_exact) {
            AE_SUCCESS => Ok(()),
            _ => refuse(ErrorCode::InternalError, "the setting was not taken"),
        },
        Some(Object::Connection(_)) => with_connection(object, |session| {
            session.settings.set_exact(is_exact_now);
            Ok(())
        }),
        Some(Object::Table(..) | Object::Index(..)) => with_any(object, |session, area, _| {
            session.settings.set_exact_of(area, is_exact_now);
            Ok(())
        }),
        _ => no_object(object),
    })
}

/// What [`AdsSetExact22`] has set.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetExact22(object: Handle, answer: Out<u16>) -> u32 {
    call(|| match crate::handle::object(object) {
        None if object == 0 => answer.set(of_program().exact.into()),
        Some(Object::Connection(_)) => {
            with_connection(object, |session| answer.set(session.settings.now().exact.into()))
        }
        Some(Object::Table(..) | Object::Index(..)) => with_any(object, |session, area, _| {
            answer.set(session.settings.of_filters(area).exact.into())
        }),
        _ => no_object(object),
    })
}

fn no_object(object: Handle) -> Result<()> {
    refuse(
        ErrorCode::InvalidHandle,
        crate::handle::unknown(object, "a connection or a table"),
    )
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
    call(|| set(|settings| settings.epoch = year))
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
        set(|settings| settings.paths.default_folder = folder)
    })
}

/// The folder of names without one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetDefault(folder: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        let named = settings().paths.default_folder.clone();
        folder.put(named.unwrap_or_default().as_bytes(), len)
    })
}

/// Names without a folder belong to the connection's again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearDefault() -> u32 {
    call(|| set(|settings| settings.paths.default_folder = None))
}

/// Where names are looked for that are not in the folder of the connection, separated by semicolons.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetSearchPath(path: Name) -> u32 {
    call(|| {
        let path = path.text()?.unwrap_or_default();
        let folders = path.split(';').map(str::trim).filter(|folder| !folder.is_empty());
        let folders = folders.map(str::to_owned).collect();
        set(|settings| settings.paths.search_path = folders)
    })
}

/// Where names are looked for that are not in the folder of the connection.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSearchPath(path: Bytes, len: Out<u16>) -> u32 {
    call(|| path.put(settings().paths.search_path.join(";").as_bytes(), len))
}

/// Which kinds of server may be used. Only the local one is here, and it always may.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetServerType(_servers: u16) -> u32 {
    AE_SUCCESS
}
