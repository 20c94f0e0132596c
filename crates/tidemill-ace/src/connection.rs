//! Connections: to folders of this machine.

use std::sync::{Arc, Mutex};

use tidemill_ads::{Connection, Error, ErrorCode, Result, Settings, TableOptions, TableType, WorkArea, host_name};

use crate::call::{call, refuse};
use crate::connect_string::ConnectString;
use crate::constants::*;
use crate::handle::{self, Handle, Object, Session, add_connection, lock, remove, session, with_connection};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;
use crate::statement;
use crate::table::sorted_by_bytes;

/// The version that programs are told: the one whose functions these are.
pub(crate) const VERSION: (u32, u32, u8) = (12, 0, b'T');

/// Connects to a folder.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConnect(folder: Name, answer: Out<Handle>) -> u32 {
    call(|| connect(folder, ADS_LOCAL_SERVER, ("", ""), answer))
}

/// Connects to a folder; the kinds of server must include the local one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConnect26(folder: Name, servers: u16, answer: Out<Handle>) -> u32 {
    call(|| connect(folder, servers, ("", ""), answer))
}

/// Connects to a folder; the kinds of server must include the local one. User and password belong to dictionaries.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConnect60(
    folder: Name,
    servers: u16,
    user: Name,
    password: Name,
    _options: u32,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        let (user, password) = (user.text()?.unwrap_or_default(), password.text()?.unwrap_or_default());
        connect(folder, servers, (&user, &password), answer)
    })
}

/// Connects as a text says: `Data Source=folder;ServerType=ADS_LOCAL_SERVER;…`, whose values may stand in quotes. The options are a table
/// with a record for each, where they are asked for.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConnect101(text: Name, options: Out<Handle>, answer: Out<Handle>) -> u32 {
    call(|| {
        let text = ConnectString::parse(&text.needed()?)?;
        let is_remote = text.get("ServerType").is_some_and(|servers| {
            let servers = servers.to_ascii_uppercase();
            !servers.contains("LOCAL") && servers.parse::<u16>().map_or(true, |bits| bits & ADS_LOCAL_SERVER == 0)
        });
        match text.get("Data Source") {
            Some(folder) if !is_remote => {
                let trusts = text.flag("TrustDictionary")?.unwrap_or(false);
                let (user, password) = (text.get("User ID"), text.get("Password"));
                let user = (user.unwrap_or_default(), password.unwrap_or_default());
                as_asked(&text, (options, answer), |_| {
                    opened(folder, trusts || trusts_dictionaries(), user)
                })
            }
            Some(_) => no_server(),
            None => refuse(ErrorCode::InvalidPath, "the connection has no Data Source"),
        }
    })
}

/// Opens a connection as its text asks for it, and gives its handle and that of its options.
pub(crate) fn as_asked(
    text: &ConnectString,
    (options, answer): (Out<Handle>, Out<Handle>),
    open: impl FnOnce(&ConnectString) -> Result<Connection>,
) -> Result<()> {
    let wishes = text.wishes()?;
    let connection = add_connection(open(text)?)?;
    let given = with_connection(connection, |known| {
        wishes.fulfil(known);
        Ok(())
    })
    .and_then(|()| match options.is_null() {
        true => Ok(()),
        false => text.table(options),
    })
    .and_then(|()| answer.set(connection));
    if given.is_err() {
        disconnect(&*session(connection)?)?;
    }
    given
}

pub(crate) fn connect(folder: Name, servers: u16, user: (&str, &str), answer: Out<Handle>) -> Result<()> {
    if servers != 0 && servers & ADS_LOCAL_SERVER == 0 {
        return no_server();
    }
    answer.set(add_connection(opened(&folder.needed()?, trusts_dictionaries(), user)?)?)
}

/// Lets the program open no connection to the local server any more; those that are open stay. As there is no other server, each attempt is
/// `AE_NO_CONNECTION` then.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDisableLocalConnections() -> u32 {
    call(|| {
        crate::handle::disable_local_connections();
        Ok(())
    })
}

/// Whether the environment says that data dictionaries are opened although nobody's rights are checked.
fn trusts_dictionaries() -> bool {
    std::env::var(TRUST).is_ok_and(|value| is_yes(&value))
}

fn is_yes(value: &str) -> bool {
    ["1", "true", "yes"]
        .iter()
        .any(|yes| value.trim().eq_ignore_ascii_case(yes))
}

/// The environment variable of that.
const TRUST: &str = "TIDEMILL_ACE_TRUST_DICTIONARY";

fn opened(folder: &str, trusts: bool, user: (&str, &str)) -> Result<Connection> {
    let settings = settings();
    let is_dictionary = folder.to_ascii_lowercase().trim_end().ends_with(".add");
    let path = settings.paths.resolve(folder, std::path::Path::new("."))?;
    match is_dictionary {
        true => Connection::open_dictionary_as(path, user, trusts, &settings).map_err(how_to_trust),
        false => Connection::open(path),
    }
}

fn how_to_trust(error: Error) -> Error {
    match error.code() {
        ErrorCode::NotImplemented => Error::new(
            ErrorCode::NotImplemented,
            format!(
                "{error}; if every user of this program may do all with its tables, set {TRUST}=1, or TrustDictionary=TRUE in the \
                 text of AdsConnect101"
            ),
        ),
        _ => error,
    }
}

fn no_server() -> Result<()> {
    refuse(
        ErrorCode::NoConnection,
        "only the local server is here; ask for ADS_LOCAL_SERVER",
    )
}

/// Closes a connection and all that is open on it; an open transaction is rolled back.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDisconnect(connection: Handle) -> u32 {
    call(|| {
        let session = session(connection)?;
        disconnect(&session)
    })
}

/// Closes a connection, and takes its handles back.
pub(crate) fn disconnect(session: &Mutex<Session>) -> Result<()> {
    statement::forget_all_of(session);
    let mut session = lock(session);
    let ended = session.connection.end_transactions();
    let closed = session.close_all();
    session.retire();
    remove(session.handle);
    ended.and(closed)
}

/// Makes an ADT in memory, on a connection of its own that is closed with the table. `fill` appends its records.
pub(crate) fn table_of_its_own(
    name: &str,
    fields: &str,
    answer: Out<Handle>,
    fill: impl FnOnce(&mut WorkArea, &Settings) -> Result<()>,
) -> Result<()> {
    let connection = add_connection(Connection::open(".")?)?;
    let made = with_connection(connection, |session| {
        let settings = settings();
        let options = TableOptions {
            table_type: TableType::Adt,
            ..TableOptions::default()
        };
        let tables = &mut session.connection;
        let area = tables.create_memory_table(name, fields, &options, &settings)?;
        session.is_of_table = true;
        fill(session.connection.area(area)?, &settings)?;
        session.connection.go_top(area, None, &settings)?;
        answer.set(session.table_handle(area)?)
    });
    if made.is_err() {
        disconnect(&*session(connection)?)?;
    }
    made
}

/// Closes all that is open on a connection and takes its transaction back; the connection stays.
#[unsafe(no_mangle)]
pub extern "C" fn AdsResetConnection(connection: Handle) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            let ended = session.connection.end_transactions();
            ended.and(session.close_all())
        })
    })
}

/// Closes all connections and all that is open on them.
#[unsafe(no_mangle)]
pub extern "C" fn AdsApplicationExit() -> u32 {
    call(|| {
        let mut closed = Ok(());
        for (handle, object) in handle::all() {
            match object {
                Object::Connection(session) => closed = closed.and(disconnect(&session)),
                Object::Search(_) => drop(remove(handle)),
                Object::Table(..) | Object::Index(..) | Object::Statement(_) => {}
            }
        }
        closed
    })
}

/// A thread needs nothing here that would have to be given back.
#[unsafe(no_mangle)]
pub extern "C" fn AdsThreadExit() -> u32 {
    AE_SUCCESS
}

/// Whether a connection is there.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsConnectionAlive(connection: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        let is_open = matches!(handle::object(connection), Some(Object::Connection(_)));
        answer.set(is_open.into())
    })
}

/// What kind of server a connection goes to.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetConnectionType(connection: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        session(connection)?;
        answer.set(ADS_LOCAL_SERVER)
    })
}

/// The folder of a connection.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetConnectionPath(connection: Handle, path: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            path.put(session.connection.folder().display().to_string().as_bytes(), len)
        })
    })
}

/// The connection to a folder that is open.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindConnection(folder: Name, answer: Out<Handle>) -> u32 {
    call(|| {
        let folder = folder.needed()?;
        let path = settings().paths.resolve(&folder, std::path::Path::new("."))?;
        let wanted = path.canonicalize().ok();
        for (handle, object) in handle::all() {
            if let Object::Connection(session) = object
                && wanted.is_some()
                && lock(&session).connection.folder().canonicalize().ok() == wanted
            {
                return answer.set(handle);
            }
        }
        refuse(ErrorCode::NoConnection, format!("there is no connection to {folder}"))
    })
}

/// As [`AdsFindConnection`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindConnection25(folder: Name, answer: Out<Handle>) -> u32 {
    AdsFindConnection(folder, answer)
}

/// Which kind of server has the files at a location: the local one, or 0 and an error where no files can be had.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsServerLoaded(location: Name, answer: Out<u16>) -> u32 {
    call(|| {
        let location = location.needed()?;
        match settings().paths.reach(&location) {
            true => answer.set(ADS_LOCAL_SERVER),
            false => {
                answer.set(0)?;
                let what = format!("{location}: no folder of this machine, and no server");
                refuse(ErrorCode::NoDriveConnection, what)
            }
        }
    })
}

/// The name of the machine that the server is on.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetServerName(connection: Handle, name: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        session(connection)?;
        name.put(host_name().as_bytes(), len)
    })
}

/// Day and time of the server.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetServerTime(
    connection: Handle,
    date: Bytes,
    date_len: Out<u16>,
    milliseconds: Out<i32>,
    time: Bytes,
    time_len: Out<u16>,
) -> u32 {
    call(|| {
        let (day, ms) = tidemill_ads::now();
        let day = with_connection(connection, |session| Ok(session.settings.now().date_format.format(day)))?;
        date.put(day.as_bytes(), date_len)?;
        milliseconds.set(i32::try_from(ms).unwrap_or_default())?;
        time.put(tidemill_ads::clock(ms).as_bytes(), time_len)
    })
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetVersion(major: Out<u32>, minor: Out<u32>, letter: Out<u8>, text: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        major.set(VERSION.0)?;
        minor.set(VERSION.1)?;
        letter.set(VERSION.2)?;
        if text.is_null() {
            return Ok(());
        }
        text.put_cut(concat!("Tidemill ", env!("CARGO_PKG_VERSION")).as_bytes(), len)
    })
}

/// What kind of thing a handle stands for.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetHandleType(object: Handle, answer: Out<u16>) -> u32 {
    call(|| match handle::object(object) {
        Some(Object::Connection(_)) => answer.set(ADS_CONNECTION),
        Some(Object::Table(session, area)) => {
            let is_cursor = lock(&session).connection.area(area)?.is_cursor();
            answer.set(if is_cursor { ADS_CURSOR } else { ADS_TABLE })
        }
        Some(Object::Statement(_)) => answer.set(ADS_STATEMENT),
        Some(Object::Index(..)) => answer.set(ADS_INDEX_ORDER),
        Some(Object::Search(_)) | None => refuse(ErrorCode::InvalidHandle, handle::unknown(object, "anything")),
    })
}

/// Keeps a number with a handle, as long as it is open.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetHandleLong(object: Handle, number: u32) -> u32 {
    call(|| handle::keep_number(object, number))
}

/// The number that was kept with a handle.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetHandleLong(object: Handle, answer: Out<u32>) -> u32 {
    call(|| match handle::kept_number(object) {
        Some(number) => answer.set(number),
        None => refuse(ErrorCode::InvalidHandle, format!("nothing was kept with {object}")),
    })
}

/// A property of a connection: one to a folder has no user, no password, no protocol and no ciphers.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetConnectionProperty(connection: Handle, property: u16, value: Bytes, len: Out<u32>) -> u32 {
    call(|| {
        session(connection)?;
        match property {
            ADS_CONNECTIONPROP_USERNAME
            | ADS_CONNECTIONPROP_PASSWORD
            | ADS_CONNECTIONPROP_CERTIFICATE_FILE
            | ADS_CONNECTIONPROP_CIPHER_SUITE
            | ADS_CONNECTIONPROP_COMMON_NAME => value.put(b"\0", len),
            ADS_CONNECTIONPROP_PROTOCOL => value.put(&0_u32.to_ne_bytes(), len),
            ADS_CONNECTIONPROP_FIPS_MODE => value.put(&0_u16.to_ne_bytes(), len),
            ADS_CONNECTIONPROP_ENCRYPTION_TYPE => refuse(ErrorCode::NotImplemented, "nothing is encrypted here"),
            other => refuse(
                ErrorCode::InvalidOption,
                format!("{other} is no property of a connection"),
            ),
        }
    })
}

/// The collation of the tables that a connection opens, as [`AdsSetCollation`] named it; none at first.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetCollation(connection: Handle, collation: Bytes, len: Out<u16>) -> u32 {
    call(|| with_connection(connection, |session| collation.put(session.collation.as_bytes(), len)))
}

/// Lets candidate indexes of a connection's tables refuse nothing. Two records may have one key then, of which the index has one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDisableUniqueEnforcement(connection: Handle) -> u32 {
    set(connection, |connection| connection.enforce_unique(false))
}

/// Lets candidate indexes refuse a second record with a key again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEnableUniqueEnforcement(connection: Handle) -> u32 {
    set(connection, |connection| connection.enforce_unique(true))
}

/// Lets programs give the autoincrement fields of a connection's tables values, through the functions that set fields and by
/// statements. What the tables give themselves goes on behind the greatest.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDisableAutoIncEnforcement(connection: Handle) -> u32 {
    set(connection, |connection| connection.enforce_autoincrement(false))
}

/// Lets the tables of a connection alone give autoincrement fields their values again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEnableAutoIncEnforcement(connection: Handle) -> u32 {
    set(connection, |connection| connection.enforce_autoincrement(true))
}

/// Sets something of a connection that cannot be refused.
fn set(connection: Handle, set: impl FnOnce(&mut Connection)) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            set(&mut session.connection);
            Ok(())
        })
    })
}

/// Names the collation of the tables that a connection opens, which must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetCollation(connection: Handle, collation: Name) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            sorted_by_bytes(collation)?;
            session.collation = collation.text()?.unwrap_or_default().trim().to_owned();
            Ok(())
        })
    })
}

/// Whether a file is there.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCheckExistence(connection: Handle, name: Name, answer: Out<u16>) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            let path = session.connection.path_of(&name.needed()?, "", &settings())?;
            answer.set(path.is_file().into())
        })
    })
}

/// Deletes a file.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDeleteFile(connection: Handle, name: Name) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.delete_named_file(&name.needed()?, &settings())
        })
    })
}

/// Hands what waits to be written in every table to the operating system.
#[unsafe(no_mangle)]
pub extern "C" fn AdsWriteAllRecords() -> u32 {
    call(|| {
        for_each_session(|session| {
            let open: Vec<_> = session.connection.areas().map(|(area, _)| area).collect();
            open.into_iter()
                .try_for_each(|area| Ok(session.connection.area(area)?.editor()?.flush()?))
        })
    })
}

/// Closes every table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloseAllTables() -> u32 {
    call(|| for_each_session(Session::close_all))
}

/// How many tables are open.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumOpenTables(answer: Out<u16>) -> u32 {
    call(|| {
        let mut count = 0;
        for_each_session(|session| {
            count += session.connection.areas().count();
            Ok(())
        })?;
        answer.set(u16::try_from(count).unwrap_or(u16::MAX))
    })
}

/// The handles of all open tables.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetAllTables(tables: Out<Handle>, len: Out<u16>) -> u32 {
    call(|| {
        let mut handles = Vec::new();
        for_each_session(|session| {
            handles.extend(session.table_handles());
            Ok(())
        })?;
        put_all(&handles, tables, len)
    })
}

/// Closes the cursors that stay open for the next statement.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloseCachedTables(connection: Handle) -> u32 {
    call(|| match connection {
        0 => for_each_session(|session| {
            session.connection.close_cached_cursors();
            Ok(())
        }),
        _ => with_connection(connection, |session| {
            session.connection.close_cached_cursors();
            Ok(())
        }),
    })
}

/// Writes as many values as an array has room for, and says how many there are; without an array it says that alone.
pub(crate) fn put_all<T: Copy>(values: &[T], array: Out<T>, len: Out<u16>) -> Result<()> {
    let room = usize::from(len.get()?);
    len.set(u16::try_from(values.len()).unwrap_or(u16::MAX))?;
    if array.is_null() {
        return Ok(());
    }
    for (at, value) in values.iter().take(room).enumerate() {
        array.set_at(at, *value)?;
    }
    match values.len() > room {
        true => refuse(
            ErrorCode::InsufficientBuffer,
            format!("{} do not fit into {room}", values.len()),
        ),
        false => Ok(()),
    }
}

pub(crate) fn for_each_session(mut work: impl FnMut(&mut Session) -> Result<()>) -> Result<()> {
    let sessions: Vec<Arc<_>> = handle::all()
        .into_iter()
        .filter_map(|(_, object)| match object {
            Object::Connection(session) => Some(session),
            _ => None,
        })
        .collect();
    sessions
        .iter()
        .map(|session| work(&mut lock(session)))
        .fold(Ok(()), Result::and)
}

/// Closes the connections that are kept for programs that may want them again: none are.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearCachePool(_connections: Name) -> u32 {
    AE_SUCCESS
}

/// As [`AdsClearCachePool`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsReapUnusedConnections() -> u32 {
    AE_SUCCESS
}
