//! Searches for tables of a folder.

use std::sync::{Arc, Mutex};

use tidemill_ads::{ErrorCode, ObjectKind, Result};

use crate::call::{call, refuse};
use crate::constants::AE_SUCCESS;
use crate::handle::{Handle, Object, add, lock, object, remove, unknown, with_connection};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;

/// What a search has found and not told yet, the next one last.
#[derive(Debug)]
pub(crate) struct Search {
    names: Vec<String>,
}

impl Search {
    /// A search that has found names, to be told in this order.
    pub(crate) fn of(names: Vec<String>) -> Self {
        Self {
            names: names.into_iter().rev().collect(),
        }
    }
}

/// Begins a search by a mask with `*` and `?`, and tells the first name. On a connection to a data dictionary its tables are found without a
/// mask.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindFirstTable(
    connection: Handle,
    mask: Name,
    name: Bytes,
    len: Out<u16>,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        let names = with_connection(connection, |session| match mask.bytes() {
            None | Some(b"") if session.connection.has_dictionary() => {
                session.connection.dictionary_objects(ObjectKind::ViewOrTable, "")
            }
            _ => session.connection.find_files(&mask.needed()?, &settings()),
        })?;
        let search = Arc::new(Mutex::new(Search::of(names)));
        if lock(&search).names.is_empty() {
            return refuse(ErrorCode::NoFileFound, "no file has such a name");
        }
        answer.set(add(Object::Search(Arc::clone(&search)))?)?;
        next_of(&search, name, len, no_file)
    })
}

/// Tells the next name of a search.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindNextTable(_connection: Handle, search: Handle, name: Bytes, len: Out<u16>) -> u32 {
    call(|| match object(search) {
        Some(Object::Search(search)) => next_of(&search, name, len, no_file),
        _ => refuse(ErrorCode::InvalidFindHandle, unknown(search, "a search")),
    })
}

fn no_file() -> Result<()> {
    refuse(ErrorCode::NoFileFound, "there are no more files")
}

/// Gives the next name, or the code that says there are no more.
pub(crate) fn next_of(
    search: &Mutex<Search>,
    name: Bytes,
    len: Out<u16>,
    no_more: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let mut search = lock(search);
    let Some(found) = search.names.last() else {
        return no_more();
    };
    name.put(found.as_bytes(), len)?;
    search.names.pop();
    Ok(())
}

/// As [`AdsFindFirstTable`]; the dictionary of the file has no name.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindFirstTable62(
    connection: Handle,
    mask: Name,
    dictionary: Bytes,
    dictionary_len: Out<u16>,
    name: Bytes,
    len: Out<u16>,
    answer: Out<Handle>,
) -> u32 {
    match call(|| no_dictionary(dictionary, dictionary_len)) {
        AE_SUCCESS => AdsFindFirstTable(connection, mask, name, len, answer),
        code => code,
    }
}

/// As [`AdsFindNextTable`]; the dictionary of the file has no name.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindNextTable62(
    connection: Handle,
    search: Handle,
    dictionary: Bytes,
    dictionary_len: Out<u16>,
    name: Bytes,
    len: Out<u16>,
) -> u32 {
    match call(|| no_dictionary(dictionary, dictionary_len)) {
        AE_SUCCESS => AdsFindNextTable(connection, search, name, len),
        code => code,
    }
}

fn no_dictionary(name: Bytes, len: Out<u16>) -> Result<()> {
    match name.is_null() || len.is_null() {
        true => Ok(()),
        false => name.put(b"", len),
    }
}

/// Ends a search.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindClose(_connection: Handle, search: Handle) -> u32 {
    call(|| match object(search) {
        Some(Object::Search(_)) => {
            remove(search);
            Ok(())
        }
        _ => refuse(ErrorCode::InvalidFindHandle, unknown(search, "a search")),
    })
}
