//! Tables: opened, closed, made, described.

use tidemill_ads::{ErrorCode, Result, TableOptions, TableType, WorkArea};
use tidemill_xbase::OpenMode;

use crate::call::{call, refuse};
use crate::callback::watched;
use crate::connect_string::Opening;
use crate::connection::{disconnect, for_each_session, put_all};
use crate::constants::*;
use crate::handle::{Handle, Session, session, with_any, with_area, with_connection};
use crate::movement::counted;
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;

/// Opens a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsOpenTable(
    connection: Handle,
    name: Name,
    alias: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    _rights: u16,
    options: u32,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        let mut opened = given_options(alias, table_type, char_type, lock_type)?;
        let name = name.needed()?;
        opened.mode = match options {
            _ if options & ADS_READONLY != 0 => OpenMode::ReadOnly,
            _ if options & ADS_EXCLUSIVE != 0 => OpenMode::Exclusive,
            _ => OpenMode::Shared,
        };
        with_connection(connection, |session| {
            let settings = settings();
            if table_type == ADS_DEFAULT {
                opened.table_type = session.connection.table_type_of(&name, &settings)?;
            }
            let area = session.connection.open_table(&name, &opened, &settings)?;
            answer.set(session.table_handle(area)?)
        })
    })
}

/// Opens a table; the collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsOpenTable90(
    connection: Handle,
    name: Name,
    alias: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    rights: u16,
    options: u32,
    collation: Name,
    answer: Out<Handle>,
) -> u32 {
    match call(|| sorted_by_bytes(collation)) {
        AE_SUCCESS => AdsOpenTable(
            connection, name, alias, table_type, char_type, lock_type, rights, options, answer,
        ),
        code => code,
    }
}

/// Opens a table as the text of the connection says ([`AdsConnect101`](crate::AdsConnect101)); where it says nothing, beside others, and what
/// its name leads to.
#[unsafe(no_mangle)]
pub extern "C" fn AdsOpenTable101(connection: Handle, name: Name, answer: Out<Handle>) -> u32 {
    let mut opening = Opening::default();
    let found = call(|| {
        with_connection(connection, |session| {
            opening = session.opening;
            Ok(())
        })
    });
    match found {
        AE_SUCCESS => AdsOpenTable(
            connection,
            name,
            Name::none(),
            opening.table_type,
            opening.char_type,
            opening.lock_type,
            ADS_IGNORERIGHTS,
            opening.mode,
            answer,
        ),
        code => code,
    }
}

/// Opens a table once more, with the same index files and filters and at the same record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloneTable(table: Handle, answer: Out<Handle>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let clone = session.connection.clone_table(area, &settings())?;
            answer.set(session.table_handle(clone)?)
        })
    })
}

/// Closes a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloseTable(table: Handle) -> u32 {
    call(|| {
        let (closed, own) = with_any(table, |session, area, _| {
            let closed = session.close_table(area);
            Ok((closed, session.is_of_table.then_some(session.handle)))
        })?;
        match own {
            Some(connection) => closed.and(disconnect(&*session(connection)?)),
            None => closed,
        }
    })
}

/// Makes a table with the fields of a text and opens it exclusively.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateTable(
    connection: Handle,
    name: Name,
    alias: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    _rights: u16,
    memo_block_size: u16,
    fields: Name,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        let mut options = given_options(alias, table_type, char_type, lock_type)?;
        with_connection(connection, |session| {
            let (name, fields, settings) = (name.needed()?, fields.needed()?, settings());
            if table_type == ADS_DEFAULT {
                options.table_type = session.connection.table_type_of(&name, &settings)?;
            }
            options.memo_block_size = options.table_type.memo_block_size(memo_block_size)?;
            let area = session.connection.create_table(&name, &fields, &options, &settings)?;
            answer.set(session.table_handle(area)?)
        })
    })
}

/// As [`AdsCreateTable`]; the table may be named a free one, which every table here is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateTable71(
    connection: Handle,
    name: Name,
    alias: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    rights: u16,
    memo_block_size: u16,
    fields: Name,
    options: u32,
    answer: Out<Handle>,
) -> u32 {
    match call(|| free_table(options)) {
        AE_SUCCESS => AdsCreateTable(
            connection,
            name,
            alias,
            table_type,
            char_type,
            lock_type,
            rights,
            memo_block_size,
            fields,
            answer,
        ),
        code => code,
    }
}

/// As [`AdsCreateTable71`]; the collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateTable90(
    connection: Handle,
    name: Name,
    alias: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    rights: u16,
    memo_block_size: u16,
    fields: Name,
    options: u32,
    collation: Name,
    answer: Out<Handle>,
) -> u32 {
    match call(|| sorted_by_bytes(collation)) {
        AE_SUCCESS => AdsCreateTable71(
            connection,
            name,
            alias,
            table_type,
            char_type,
            lock_type,
            rights,
            memo_block_size,
            fields,
            options,
            answer,
        ),
        code => code,
    }
}

/// The name of a collation, which must be that of bytes or none.
pub(crate) fn sorted_by_bytes(collation: Name) -> Result<()> {
    tidemill_ads::by_bytes(collation.text()?.as_deref())
}

fn free_table(options: u32) -> Result<()> {
    match options & !ADS_FREE_TABLE {
        0 => Ok(()),
        ADS_TEMP_TABLE => refuse(
            ErrorCode::NotImplemented,
            "tables that go with their connection are not made",
        ),
        ADS_DICTIONARY_BOUND_TABLE => refuse(ErrorCode::NotImplemented, "data dictionaries are not served"),
        other => refuse(
            ErrorCode::InvalidOption,
            format!("{other:#x} is no option of a new table"),
        ),
    }
}

pub(crate) fn given_type(table_type: u16) -> Result<TableType> {
    match table_type {
        ADS_NTX => Ok(TableType::Ntx),
        ADS_CDX | ADS_DEFAULT => Ok(TableType::Cdx),
        ADS_VFP => Ok(TableType::Vfp),
        ADS_ADT => Ok(TableType::Adt),
        other => refuse(ErrorCode::InvalidTableType, format!("{other} is no type of a table")),
    }
}

pub(crate) fn given_options(alias: Name, table_type: u16, char_type: u16, lock_type: u16) -> Result<TableOptions> {
    let is_proprietary = match (table_type, lock_type) {
        // SAP's help: the way is ignored here, and `AdsGetTableLockType` of a local server names the compatible one.
        (ADS_ADT, _) | (_, ADS_COMPATIBLE_LOCKING) => false,
        (_, ADS_PROPRIETARY_LOCKING) => true,
        (ADS_DEFAULT, _) => false,
        (_, other) => return refuse(ErrorCode::InvalidOption, format!("{other} is no way to lock")),
    };
    let table_type = given_type(table_type)?;
    let is_oem = match char_type {
        ADS_DEFAULT | ADS_ANSI | MACHINE_VFP_BIN_1252 => false,
        ADS_OEM => true,
        CZECH_VFP_CI_AS_1250..=ADS_MAX_CHAR_SETS => {
            let what = format!(
                "collation {char_type}: text is sorted by its bytes, or by the alphabet that an index already has"
            );
            return refuse(ErrorCode::UnsupportedCollation, what);
        }
        other => return refuse(ErrorCode::InvalidOption, format!("{other} is no type of characters")),
    };
    let alias = alias.text()?.filter(|alias| !alias.trim().is_empty());
    Ok(TableOptions {
        table_type,
        alias,
        is_oem,
        is_proprietary,
        ..TableOptions::default()
    })
}

/// Adds fields to a table, takes some out and changes others.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRestructureTable(
    connection: Handle,
    name: Name,
    alias: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    _rights: u16,
    added: Name,
    dropped: Name,
    changed: Name,
) -> u32 {
    call(|| {
        let mut options = given_options(alias, table_type, char_type, lock_type)?;
        let [added, dropped, changed] =
            [added.text()?, dropped.text()?, changed.text()?].map(Option::unwrap_or_default);
        with_connection(connection, |session| {
            let (name, settings) = (name.needed()?, settings());
            if table_type == ADS_DEFAULT {
                options.table_type = session.connection.table_type_of(&name, &settings)?;
            }
            session
                .connection
                .restructure_table(&name, (&added, &dropped, &changed), &options, &settings)
        })
    })
}

/// As [`AdsRestructureTable`]; tables of these types have no collation of their own.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRestructureTable90(
    connection: Handle,
    name: Name,
    password: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    rights: u16,
    added: Name,
    dropped: Name,
    changed: Name,
    collation: Name,
) -> u32 {
    match call(|| sorted_by_bytes(collation)) {
        AE_SUCCESS => AdsRestructureTable(
            connection, name, password, table_type, char_type, lock_type, rights, added, dropped, changed,
        ),
        code => code,
    }
}

/// As [`AdsRestructureTable90`]; the size of memo blocks stays.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRestructureTable120(
    connection: Handle,
    name: Name,
    password: Name,
    table_type: u16,
    char_type: u16,
    lock_type: u16,
    rights: u16,
    added: Name,
    dropped: Name,
    changed: Name,
    collation: Name,
    memo_block_size: u32,
    _options: u32,
) -> u32 {
    match call(|| same_blocks(memo_block_size)) {
        AE_SUCCESS => AdsRestructureTable90(
            connection, name, password, table_type, char_type, lock_type, rights, added, dropped, changed, collation,
        ),
        code => code,
    }
}

fn same_blocks(memo_block_size: u32) -> Result<()> {
    match memo_block_size {
        0 => Ok(()),
        other => refuse(
            ErrorCode::NotImplemented,
            format!("memo blocks stay as they are, and {other} bytes are asked for"),
        ),
    }
}

/// Makes an empty table with the fields of another.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCopyTableStructure(table: Handle, name: Name) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let extension = session.connection.area(area)?.options().table_type.extension();
            let path = session.connection.path_of(&name.needed()?, extension, &settings())?;
            Ok(session.connection.area(area)?.table()?.copy_structure(path)?)
        })
    })
}

/// Copies records into a new table: those that are shown, or all.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCopyTable(object: Handle, option: u16, name: Name) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            let extension = session.connection.area(area)?.options().table_type.extension();
            let path = session.connection.path_of(&name.needed()?, extension, &settings())?;
            let counted = counted(option)?;
            session.connection.copy_table(area, order, &path, counted, &watched())
        })
    })
}

/// Copies records into a new table of another type: those that are shown, or all.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertTable(object: Handle, option: u16, name: Name, table_type: u16) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            let (counted, table_type) = (counted(option)?, given_type(table_type)?);
            let path = session
                .connection
                .path_of(&name.needed()?, table_type.extension(), &settings())?;
            session
                .connection
                .convert_table(area, order, &path, table_type, counted, &watched())
        })
    })
}

/// Appends the records of a table to another: those that are shown, or all. Fields of the same name are copied.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCopyTableContents(from: Handle, to: Handle, option: u16) -> u32 {
    call(|| {
        let target = with_any(to, |session, area, _| Ok((session.handle, area)))?;
        with_any(from, |session, area, order| {
            if session.handle != target.0 {
                return refuse(
                    ErrorCode::InvalidRelation,
                    "the tables are open on different connections",
                );
            }
            let counted = counted(option)?;
            session
                .connection
                .copy_contents((area, order), target.1, counted, &watched())
        })
    })
}

/// Takes deleted records out of a table for good.
#[unsafe(no_mangle)]
pub extern "C" fn AdsPackTable(table: Handle) -> u32 {
    call(|| with_any(table, |session, area, _| session.connection.pack(area, &watched())))
}

/// As [`AdsPackTable`]; the size of memo blocks stays.
#[unsafe(no_mangle)]
pub extern "C" fn AdsPackTable120(table: Handle, memo_block_size: u32, _options: u32) -> u32 {
    match call(|| same_blocks(memo_block_size)) {
        AE_SUCCESS => AdsPackTable(table),
        code => code,
    }
}

/// Takes all records out of a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsZapTable(table: Handle) -> u32 {
    call(|| with_any(table, |session, area, _| session.connection.zap(area, &settings())))
}

/// The alias of a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableAlias(table: Handle, alias: Bytes, len: Out<u16>) -> u32 {
    call(|| with_area(table, |area| alias.put(area.alias().as_bytes(), len)))
}

/// The name of a table's file: its base, with the extension, or whole.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableFilename(table: Handle, option: u16, name: Bytes, len: Out<u16>) -> u32 {
    call(|| with_area(table, |area| name.put(part_of(area.path(), option)?.as_bytes(), len)))
}

/// A part of a path.
pub(crate) fn part_of(path: &std::path::Path, option: u16) -> Result<String> {
    let whole = || {
        std::path::absolute(path)
            .unwrap_or_else(|_| path.to_owned())
            .display()
            .to_string()
    };
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    match option {
        ADS_BASENAME => Ok(part(path.file_stem())),
        ADS_BASENAMEANDEXT => Ok(part(path.file_name())),
        ADS_FULLPATHNAME => Ok(whole()),
        other => refuse(ErrorCode::InvalidOption, format!("{other} is no part of a path")),
    }
}

/// The type of a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableType(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            answer.set(match area.options().table_type {
                TableType::Ntx => ADS_NTX,
                TableType::Cdx => ADS_CDX,
                TableType::Vfp => ADS_VFP,
                TableType::Adt => ADS_ADT,
            })
        })
    })
}

/// Whether a table's text is in the code page of Windows or of DOS.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableCharType(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            answer.set(if area.options().is_oem { ADS_OEM } else { ADS_ANSI })
        })
    })
}

/// How a table was opened.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableOpenOptions(table: Handle, answer: Out<u32>) -> u32 {
    call(|| {
        with_area(table, |area| {
            answer.set(match area.options().mode {
                OpenMode::Exclusive => ADS_EXCLUSIVE,
                OpenMode::ReadOnly => ADS_READONLY,
                OpenMode::Shared => ADS_SHARED,
            })
        })
    })
}

/// Which way to lock a table was opened with. Either way it is locked as other xBase programs do.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableLockType(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            answer.set(match area.options().is_proprietary {
                true => ADS_PROPRIETARY_LOCKING,
                false => ADS_COMPATIBLE_LOCKING,
            })
        })
    })
}

/// Whether the user's rights are looked at: the operating system does.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableRights(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |_| answer.set(ADS_IGNORERIGHTS)))
}

/// The collation that a table was opened with: that of bytes has no name here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableCollation(table: Handle, collation: Bytes, len: Out<u16>) -> u32 {
    call(|| with_area(table, |_| collation.put(b"", len)))
}

/// Whether transactions leave a table out: none does.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsTableTransactionFree(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |_| answer.set(0)))
}

/// Lets transactions leave a table out that is open exclusively, or take it in, as they do with each. Nothing public says where a table
/// keeps the first, so that it is refused.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetTableTransactionFree(table: Handle, is_free: u16) -> u32 {
    call(|| {
        with_area(table, |area| match (area.options().mode, is_free) {
            (OpenMode::Exclusive, 0) => Ok(()),
            (OpenMode::Exclusive, _) => refuse(
                ErrorCode::NotImplemented,
                "transactions take in every table here: nothing public says where a table keeps that they do not",
            ),
            (OpenMode::Shared | OpenMode::ReadOnly, _) => refuse(
                ErrorCode::TableNotExclusive,
                "a table must be open exclusively to change what transactions do with it",
            ),
        })
    })
}

/// A number that describes a table: the one of its code page.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIntProperty(table: Handle, property: u32, answer: Out<u32>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let page = area.codepage().name();
            if property != u32::from(ADS_CODE_PAGE) {
                return refuse(
                    ErrorCode::InvalidOption,
                    format!("{property} is no property of a table"),
                );
            }
            match page.trim_start_matches("cp").parse() {
                Ok(number) => answer.set(number),
                Err(_) => refuse(ErrorCode::InvalidOption, format!("the code page {page} has no number")),
            }
        })
    })
}

/// The connection of a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableConnection(table: Handle, answer: Out<Handle>) -> u32 {
    call(|| with_any(table, |session, _, _| answer.set(session.handle)))
}

/// A table that is open, by the name of its file.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableHandle(name: Name, answer: Out<Handle>) -> u32 {
    AdsGetTableHandle25(0, name, answer)
}

/// As [`AdsGetTableHandle`], on one connection; 0 is any.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableHandle25(connection: Handle, name: Name, answer: Out<Handle>) -> u32 {
    call(|| {
        let name = name.needed()?;
        let mut found = None;
        let mut look = |session: &mut Session| {
            found = found.or(open_of_name(session, &name)?);
            Ok(())
        };
        match connection {
            0 => for_each_session(look)?,
            _ => with_connection(connection, &mut look)?,
        }
        match found {
            Some(table) => answer.set(table),
            None => refuse(ErrorCode::NotFound, format!("{name} is not open")),
        }
    })
}

fn open_of_name(session: &mut Session, name: &str) -> Result<Option<Handle>> {
    let settings = settings();
    let extension = session.connection.table_type_of(name, &settings)?.extension();
    let path = session
        .connection
        .path_of(name, extension, &settings)?
        .canonicalize()
        .ok();
    let is_meant = |area: &WorkArea| path.is_some() && area.path().canonicalize().ok() == path;
    let found = session
        .connection
        .areas()
        .find(|(_, area)| is_meant(area))
        .map(|(id, _)| id);
    found.map(|area| session.table_handle(area)).transpose()
}

/// The day of the last change.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLastTableUpdate(table: Handle, date: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let day = area.last_update()?;
            date.put(settings().date_format.format(day).as_bytes(), len)
        })
    })
}

/// The block size of a table's memo file.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetMemoBlockSize(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| match area.table()?.memo() {
            Some(memo) => answer.set(u16::try_from(memo.block_size()).unwrap_or(u16::MAX)),
            None => refuse(ErrorCode::NoMemoFile, "the table has no memo file"),
        })
    })
}

/// The older name of [`AdsGetMemoBlockSize`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableMemoSize(table: Handle, answer: Out<u16>) -> u32 {
    AdsGetMemoBlockSize(table, answer)
}

/// The handles of all open orders of a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetAllIndexes(table: Handle, indexes: Out<Handle>, len: Out<u16>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let orders: Vec<_> = session.connection.area(area)?.orders().collect();
            let handles = orders
                .into_iter()
                .map(|order| session.index_handle(area, order))
                .collect::<Result<Vec<_>>>()?;
            put_all(&handles, indexes, len)
        })
    })
}
