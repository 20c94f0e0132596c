//! Searches for tables of a folder.

use std::sync::{Arc, Mutex};

use tidemill_ads::{ErrorCode, Result};

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

/// Begins a search by a mask with `*` and `?`, and tells the first name.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindFirstTable(
    connection: Handle,
    mask: Name,
    name: Bytes,
    len: Out<u16>,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        let names = with_connection(connection, |session| {
            session.connection.find_files(&mask.needed()?, &settings())
        })?;
        let search = Arc::new(Mutex::new(Search {
            names: names.into_iter().rev().collect(),
        }));
        if lock(&search).names.is_empty() {
            return refuse(ErrorCode::NoFileFound, "no file has such a name");
        }
        answer.set(add(Object::Search(Arc::clone(&search)))?)?;
        next(&search, name, len)
    })
}

/// Tells the next name of a search.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFindNextTable(_connection: Handle, search: Handle, name: Bytes, len: Out<u16>) -> u32 {
    call(|| match object(search) {
        Some(Object::Search(search)) => next(&search, name, len),
        _ => refuse(ErrorCode::InvalidFindHandle, unknown(search, "a search")),
    })
}

fn next(search: &Mutex<Search>, name: Bytes, len: Out<u16>) -> Result<()> {
    let mut search = lock(search);
    let Some(found) = search.names.last() else {
        return refuse(ErrorCode::NoFileFound, "there are no more files");
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
