//! Management: what this process has open, and who holds which lock.
//!
//! As with ACE's local server the figures are those of the program itself: each of its connections is a user with a number, and
//! nothing is told of other processes. A connection is as good as a connection for management.
//!
//! Structures are packed, so they are written as the bytes of their fields, as many as the program has room for; the length
//! that it is told is that of the whole structure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tidemill_ads::{Connection, ErrorCode, Result, TableType, WorkArea, host_name, login_name};
use tidemill_xbase::OpenMode;

use crate::call::{call, refuse};
use crate::connection::{AdsDisconnect, VERSION, connect, disconnect};
use crate::constants::*;
use crate::handle::{self, Handle, Object, Session, Usage, add_connection, lock, session};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;

/// Connects for management: as [`AdsConnect`](crate::AdsConnect), to a folder. A drive's letter that stands for no folder, and the word `local`, mean the
/// program itself, wherever its tables are. User and password belong to servers.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgConnect(server: Name, _user: Name, _password: Name, answer: Out<Handle>) -> u32 {
    call(|| {
        let place = server.needed()?;
        let is_program = is_drive(&place) && settings().paths.resolve(&place, Path::new(".")).is_err();
        match is_program || place.trim().eq_ignore_ascii_case("local") {
            true => answer.set(add_connection(Connection::open(".")?)?),
            false => connect(server, ADS_LOCAL_SERVER, ("", ""), answer),
        }
    })
}

fn is_drive(place: &str) -> bool {
    matches!(place.trim().as_bytes(), [letter, b':'] | [letter, b':', b'\\' | b'/'] if letter.is_ascii_alphabetic())
}

/// Ends a connection for management, and whatever is open on it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgDisconnect(connection: Handle) -> u32 {
    AdsDisconnect(connection)
}

/// What kind of server it is: the local one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetServerType(connection: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        session(connection)?;
        answer.set(ADS_MGMT_LOCAL_SERVER)
    })
}

/// What the program has done and has open. The most that were in use at once are exact for connections and tables that were
/// opened and for statements; for files, locks and transactions they are the most that a call of this function has seen.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetActivityInfo(connection: Handle, info: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        session(connection)?;
        let open = open_tables(None)?;
        let files: BTreeSet<&Path> = open.iter().map(|table| table.path.as_path()).collect();
        let indexes: BTreeSet<&Path> = open
            .iter()
            .flat_map(|table| &table.indexes)
            .map(PathBuf::as_path)
            .collect();
        let locks = open.iter().map(|table| table.locks()).sum();
        let in_transactions = |session: &SharedSession| lock(session).connection.is_in_transaction();
        let transactions = sessions()
            .iter()
            .filter(|(_, session)| in_transactions(session))
            .count();
        let [files, indexes, locks, transactions] = most([files.len(), indexes.len(), locks, transactions]);
        let activity = handle::activity();
        let seconds = activity.since.as_secs();

        let mut record = Record::default();
        record.u32(activity.operations).u32(0);
        let up = [seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
        for part in up {
            record.u16(part);
        }
        let users = Usage {
            in_use: activity.connections.in_use.min(1),
            most: activity.connections.most.min(1),
        };
        let none = Usage::default();
        for usage in [
            users,
            activity.connections,
            activity.tables,
            files,
            indexes,
            locks,
            transactions,
        ] {
            record.usage(usage);
        }
        // What transactions change is kept in a log, and in no elements; and there are no threads of a server.
        for usage in [none, none, none, activity.statements] {
            record.usage(usage);
        }
        // Kinds of users belong to servers of the web.
        for usage in [none, none] {
            record.usage(usage);
        }
        record.put(info, len)
    })
}

/// How many messages came and went: none without a network.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetCommStats(connection: Handle, stats: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        session(connection)?;
        let mut record = Record::default();
        record.bytes(&0.0_f64.to_ne_bytes());
        for _ in 0..10 {
            record.u32(0_u32);
        }
        record.put(stats, len)
    })
}

/// Counts messages from 0 on, where they are.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgResetCommStats(connection: Handle) -> u32 {
    call(|| session(connection).map(drop))
}

/// The limits of the library: how many handles there are. What belongs to a server is 0, and no memory is set aside.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetConfigInfo(
    connection: Handle,
    values: Bytes,
    values_len: Out<u16>,
    memory: Bytes,
    memory_len: Out<u16>,
) -> u32 {
    call(|| {
        session(connection)?;
        let mut record = Record::default();
        // Connections, work areas, tables and indexes.
        for _ in 0..4 {
            record.u32(handle::MOST);
        }
        record.zeros(7 * 4 + 4 * 2);
        record.u32(SORT_MEMORY);
        record.zeros(3 * usize::from(ADS_MAX_CFG_PATH) + 2 + 2 * 2 + 2 + 3 * 4 + 4 + 2 * 2 + 4 + 2 + 4 + 2);
        if !values.is_null() {
            record.put(values, values_len)?;
        }
        let mut record = Record::default();
        record.zeros(14 * 4);
        match memory.is_null() {
            true => Ok(()),
            false => record.put(memory, memory_len),
        }
    })
}

/// How many bytes of keys are sorted in memory.
const SORT_MEMORY: u32 = 256 << 20;

/// The version, and the code pages of texts; there is no owner, no date and no number of an installation.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetInstallInfo(connection: Handle, info: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        session(connection)?;
        let mut record = Record::default();
        let version = format!("{}.{:02}", VERSION.0, VERSION.1);
        record
            .u32(0_u32)
            .text("", ADS_REG_OWNER_LEN)
            .text(&version, ADS_REVISION_LEN)
            .text("", ADS_INST_DATE_LEN)
            .text("cp850", ADS_OEM_CHAR_NAME_LEN)
            .text("cp1252", ADS_ANSI_CHAR_NAME_LEN)
            .text("", ADS_INST_DATE_LEN)
            .text("", ADS_SERIAL_NUM_LEN)
            .u32(0_u32)
            .u32(0_u32);
        record.put(info, len)
    })
}

/// The connections; with the name of a file those that have it open as a table or an index.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetUserNames(
    connection: Handle,
    file: Name,
    users: Bytes,
    count: Out<u16>,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let file = named_file(connection, file)?;
        let with_file = |file: &Path| -> Result<BTreeSet<u16>> {
            let has = |table: &OpenTable| table.path == file || table.indexes.iter().any(|index| index == file);
            Ok(open_tables(None)?
                .iter()
                .filter(|table| has(table))
                .map(|table| table.connection)
                .collect())
        };
        let numbers = match &file {
            Some(file) => with_file(file)?,
            None => sessions().into_iter().map(|(handle, _)| number_of(handle)).collect(),
        };
        let records: Vec<Record> = numbers.into_iter().map(user).collect();
        put_all(&records, &user(0), users, count, len)
    })
}

/// The tables that are open, or those of one user.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetOpenTables(
    connection: Handle,
    user: Name,
    number: u16,
    tables: Bytes,
    count: Out<u16>,
    len: Out<u16>,
) -> u32 {
    call(|| {
        session(connection)?;
        let record = |path: &Path, lock_type: u16| {
            let mut record = Record::default();
            record
                .text(&path.display().to_string(), ADS_MGMT_MAX_PATH)
                .u16(lock_type);
            record
        };
        let open: BTreeSet<(PathBuf, u16)> = open_tables(Some((user, number)))?
            .into_iter()
            .map(|table| (table.path, table.lock_type))
            .collect();
        let records: Vec<Record> = open.iter().map(|(path, lock_type)| record(path, *lock_type)).collect();
        put_all(&records, &record(Path::new(""), 0), tables, count, len)
    })
}

/// The index files that are open, or those of one table, or of one user.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetOpenIndexes(
    connection: Handle,
    table: Name,
    user: Name,
    number: u16,
    indexes: Bytes,
    count: Out<u16>,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let wanted = named_file(connection, table)?;
        let record = |path: &Path| {
            let mut record = Record::default();
            record.text(&path.display().to_string(), ADS_MGMT_MAX_PATH);
            record
        };
        let open: BTreeSet<PathBuf> = open_tables(Some((user, number)))?
            .into_iter()
            .filter(|table| wanted.as_ref().is_none_or(|wanted| table.path == *wanted))
            .flat_map(|table| table.indexes)
            .collect();
        let records: Vec<Record> = open.iter().map(|path| record(path)).collect();
        put_all(&records, &record(Path::new("")), indexes, count, len)
    })
}

/// The records of a table that are locked, or those that one user has locked; record 0 is the whole table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetLocks(
    connection: Handle,
    table: Name,
    user: Name,
    number: u16,
    locks: Bytes,
    count: Out<u16>,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let wanted = needed_file(connection, table)?;
        let open = open_tables(Some((user, number)))?;
        let of_table = open.iter().filter(|table| table.path == wanted);
        let mut locked = BTreeSet::new();
        for table in of_table {
            match table.is_locked {
                true => drop(locked.insert(0)),
                false => locked.extend(&table.records),
            }
        }
        if locked.contains(&0) {
            locked = BTreeSet::from([0]);
        }
        let record = |number: u32| {
            let mut record = Record::default();
            record.u32(number);
            record
        };
        let records: Vec<Record> = locked.into_iter().map(record).collect();
        put_all(&records, &record(0), locks, count, len)
    })
}

/// Who has locked a record, or the table; for record 0 only the table is looked at.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetLockOwner(
    connection: Handle,
    table: Name,
    number: u32,
    info: Bytes,
    len: Out<u16>,
    kind: Out<u16>,
) -> u32 {
    call(|| {
        let wanted = needed_file(connection, table)?;
        let open = open_tables(None)?;
        let mut of_table = open.iter().filter(|table| table.path == wanted);
        let owner = of_table.find_map(|table| match table.is_locked {
            true => Some((table.connection, ADS_MGMT_FILE_LOCK)),
            false => {
                (number != 0 && table.records.contains(&number)).then_some((table.connection, ADS_MGMT_RECORD_LOCK))
            }
        });
        match owner {
            Some((owner, lock)) => {
                kind.set(lock)?;
                user(owner).put(info, len)
            }
            None => {
                kind.set(ADS_MGMT_NO_LOCK)?;
                let mut nobody = Record::default();
                nobody.zeros(user(0).0.len());
                nobody.put(info, len)
            }
        }
    })
}

/// What the threads of the server do: there are none.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgGetWorkerThreadActivity(
    connection: Handle,
    threads: Bytes,
    count: Out<u16>,
    len: Out<u16>,
) -> u32 {
    call(|| {
        session(connection)?;
        let mut thread = Record::default();
        thread.zeros(4 + 2 + 2 * usize::from(ADS_MAX_USER_NAME) + 2 * 2);
        put_all(&[], &thread, threads, count, len)
    })
}

/// Disconnects another connection of the program, by its number: what it has open is closed, and its transaction taken back. The
/// user of all connections is the program itself, and is not killed.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgKillUser(connection: Handle, user: Name, number: u16) -> u32 {
    call(|| {
        session(connection)?;
        if let Some(name) = user.text()?.filter(|name| !name.is_empty()) {
            return match is_user(&name) {
                true => refuse(
                    ErrorCode::InvalidOption,
                    format!("{name} is this program itself: AdsDisconnect closes its connections"),
                ),
                false => refuse(ErrorCode::NotFound, format!("no user {name:?} is connected")),
            };
        }
        let found = sessions().into_iter().find(|(handle, _)| number_of(*handle) == number);
        match found {
            Some((handle, _)) if handle == connection => refuse(
                ErrorCode::InvalidOption,
                format!("{number} is the connection that asks: AdsDisconnect closes it"),
            ),
            Some((_, session)) => disconnect(&session),
            None => refuse(ErrorCode::NotFound, format!("there is no connection {number}")),
        }
    })
}

/// As [`AdsMgKillUser`]; the property must be the one that says nothing.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMgKillUser90(
    connection: Handle,
    user: Name,
    number: u16,
    property: u16,
    _value: Bytes,
    _len: u16,
) -> u32 {
    match property {
        ADS_PROPERTY_UNSPECIFIED => AdsMgKillUser(connection, user, number),
        other => call(|| {
            refuse(
                ErrorCode::InvalidOption,
                format!("{other} is no property that a user is killed by here"),
            )
        }),
    }
}

/// A table that a connection has open.
struct OpenTable {
    connection: u16,
    path: PathBuf,
    lock_type: u16,
    indexes: Vec<PathBuf>,
    is_locked: bool,
    records: Vec<u32>,
}

impl OpenTable {
    fn of(connection: u16, area: &WorkArea) -> Self {
        let indexes = area
            .orders()
            .filter_map(|order| Some(whole(area.index_path(order).ok()?)));
        let is_shared = area.options().mode != OpenMode::Exclusive;
        Self {
            connection,
            path: whole(area.path()),
            lock_type: match area.options().table_type {
                TableType::Ntx => ADS_MGMT_NTX_LOCKING,
                TableType::Cdx | TableType::Vfp => ADS_MGMT_CDX_LOCKING,
                TableType::Adt => ADS_MGMT_PROPRIETARY_LOCKING,
            },
            indexes: indexes.collect(),
            is_locked: is_shared && area.is_table_locked(),
            records: area.locked_records(),
        }
    }

    fn locks(&self) -> usize {
        self.records.len() + usize::from(self.is_locked)
    }
}

/// The tables that are open, or those of a user, by name or by the number of the connection.
fn open_tables(user: Option<(Name, u16)>) -> Result<Vec<OpenTable>> {
    let (name, number) = match user {
        Some((name, number)) => (name.text()?.filter(|name| !name.is_empty()), number),
        None => (None, 0),
    };
    let is_meant = |connection: u16| match &name {
        Some(name) => is_user(name),
        None => number == 0 || number == connection,
    };
    let mut open = Vec::new();
    for (handle, session) in sessions() {
        let connection = number_of(handle);
        if is_meant(connection) {
            let session = lock(&session);
            let areas = session.connection.areas();
            open.extend(areas.map(|(_, area)| OpenTable::of(connection, area)));
        }
    }
    Ok(open)
}

type SharedSession = std::sync::Arc<Mutex<Session>>;

fn sessions() -> Vec<(Handle, SharedSession)> {
    let open = handle::all().into_iter().filter_map(|(handle, object)| match object {
        Object::Connection(session) => Some((handle, session)),
        _ => None,
    });
    open.collect()
}

/// The number of a connection, from 1.
fn number_of(connection: Handle) -> u16 {
    u16::try_from(connection % u64::from(handle::MOST) + 1).unwrap_or(u16::MAX)
}

/// Whether a name is that of this machine, perhaps with that of the user behind a backslash.
fn is_user(name: &str) -> bool {
    let (machine, login) = name.split_once('\\').unwrap_or((name, ""));
    machine.eq_ignore_ascii_case(&host_name()) && (login.is_empty() || login == login_name())
}

/// The user of a connection.
fn user(number: u16) -> Record {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut record = Record::default();
    record
        .text(&host_name(), ADS_MAX_USER_NAME)
        .u16(number)
        .text("", ADS_MAX_USER_NAME)
        .text("", ADS_MAX_ADDRESS_SIZE)
        .text(&login_name(), ADS_MAX_USER_NAME)
        .text("", ADS_MAX_ADDRESS_SIZE)
        .text(&program, ADS_MAX_MGMT_APPID_SIZE)
        .u32(0_u32)
        .u16(0_u16);
    record
}

/// The file that a program names, if it names one.
fn named_file(connection: Handle, name: Name) -> Result<Option<PathBuf>> {
    let session = session(connection)?;
    match name.text()?.filter(|name| !name.trim().is_empty()) {
        Some(name) => {
            let (session, settings) = (lock(&session), settings());
            let extension = session.connection.table_type_of(&name, &settings)?.extension();
            Ok(Some(whole(&session.connection.path_of(&name, extension, &settings)?)))
        }
        None => Ok(None),
    }
}

fn needed_file(connection: Handle, name: Name) -> Result<PathBuf> {
    match named_file(connection, name)? {
        Some(file) => Ok(file),
        None => refuse(ErrorCode::InvalidPath, "a table must be named"),
    }
}

fn whole(path: &Path) -> PathBuf {
    let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
    whole.unwrap_or_else(|_| path.to_owned())
}

/// How many there are now, with the most that were seen.
fn most(now: [usize; 4]) -> [Usage; 4] {
    static MOST: Mutex<[u32; 4]> = Mutex::new([0; 4]);
    let mut seen = MOST.lock().unwrap_or_else(PoisonError::into_inner);
    let mut usages = [Usage::default(); 4];
    for ((now, seen), usage) in now.into_iter().zip(seen.iter_mut()).zip(&mut usages) {
        let in_use = u32::try_from(now).unwrap_or(u32::MAX);
        *seen = in_use.max(*seen);
        *usage = Usage { in_use, most: *seen };
    }
    usages
}

/// A packed structure as it is put together.
#[derive(Default)]
struct Record(Vec<u8>);

impl Record {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u16(&mut self, number: impl TryInto<u16>) -> &mut Self {
        self.bytes(&number.try_into().unwrap_or(u16::MAX).to_ne_bytes())
    }

    fn u32(&mut self, number: impl TryInto<u32>) -> &mut Self {
        self.bytes(&number.try_into().unwrap_or(u32::MAX).to_ne_bytes())
    }

    fn usage(&mut self, usage: Usage) -> &mut Self {
        self.u32(usage.in_use).u32(usage.most).u32(0_u32)
    }

    fn zeros(&mut self, count: usize) -> &mut Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    /// A text with a NUL behind it in a place of so many bytes, which what is longer is cut for.
    fn text(&mut self, text: &str, room: u16) -> &mut Self {
        let room = usize::from(room);
        let len = text.floor_char_boundary(room.saturating_sub(1)).min(text.len());
        self.bytes(text.get(..len).unwrap_or_default().as_bytes());
        self.zeros(room - len)
    }

    /// Writes as much as there is room for, and tells the whole length.
    fn put(&self, place: Bytes, len: Out<u16>) -> Result<()> {
        let room = usize::from(len.get()?).min(self.0.len());
        len.set(u16::try_from(self.0.len()).unwrap_or(u16::MAX))?;
        place.write(self.0.get(..room).unwrap_or_default(), room)
    }
}

/// Writes as many structures as there is room for, each in the length that the program has for one, and tells how many and how
/// long one is.
fn put_all(records: &[Record], one: &Record, place: Bytes, count: Out<u16>, len: Out<u16>) -> Result<()> {
    let (room, stride) = (usize::from(count.get()?), usize::from(len.get()?));
    let mut bytes = Vec::new();
    for record in records.iter().take(room) {
        let part = record.0.get(..stride).unwrap_or(&record.0);
        bytes.extend_from_slice(part);
        bytes.resize(bytes.len() + stride - part.len(), 0);
    }
    count.set(u16::try_from(records.len().min(room)).unwrap_or(u16::MAX))?;
    len.set(u16::try_from(one.0.len()).unwrap_or(u16::MAX))?;
    place.write(&bytes, bytes.len())
}
