//! Index files and orders of the tables of a dictionary, and files that a dictionary describes.

use tidemill_ads::{PropertyValue, Result};

use super::{given_text, put};
use crate::call::call;
use crate::handle::{Handle, with_connection};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;

/// Takes an index file of a table into a dictionary (SAP's help, "AdsDDAddIndexFile").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddIndexFile(connection: Handle, table: Name, path: Name, comment: Name) -> u32 {
    call(|| {
        let (table, path) = (table.needed()?, path.needed()?);
        let comment = comment.text()?.unwrap_or_default();
        with_connection(connection, |session| {
            session.connection.add_index_file(&table, &path, &comment, &settings())
        })
    })
}

/// Takes an index file out of a dictionary, and deletes it where that is asked for (SAP's help, "AdsDDRemoveIndexFile").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveIndexFile(connection: Handle, table: Name, index: Name, deletes: u16) -> u32 {
    call(|| {
        let (table, index) = (table.needed()?, index.needed()?);
        with_connection(connection, |session| {
            session
                .connection
                .remove_index_file(&table, &index, deletes != 0, &settings())
        })
    })
}

/// Drops an order of a table (SAP's help, "AdsDDDeleteIndex").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDeleteIndex(connection: Handle, table: Name, index: Name) -> u32 {
    call(|| {
        let (table, index) = (table.needed()?, index.needed()?);
        with_connection(connection, |session| {
            session.connection.delete_dictionary_index(&table, &index, &settings())
        })
    })
}

/// A property of an index file (SAP's help, "AdsDDGetIndexFileProperty").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetIndexFileProperty(
    connection: Handle,
    table: Name,
    index: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let (table, index) = (table.needed()?, index.needed()?);
        let found = with_connection(connection, |session| {
            session.connection.index_file_property(&table, &index, property)
        })?;
        put(&found, value, len)
    })
}

/// A property of an order (SAP's help, "AdsDDGetIndexProperty").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetIndexProperty(
    connection: Handle,
    table: Name,
    index: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let (table, index) = (table.needed()?, index.needed()?);
        let found = with_connection(connection, |session| {
            session.connection.index_property(&table, &index, property, &settings())
        })?;
        put(&found, value, len)
    })
}

/// Sets a property of an order: what it is about (SAP's help, "AdsDDSetIndexProperty").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetIndexProperty(
    connection: Handle,
    table: Name,
    index: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| {
        let (table, index) = (table.needed()?, index.needed()?);
        set_index(connection, (&table, &index), property, &given_text(value, len)?)
    })
}

fn set_index(connection: Handle, (table, index): (&str, &str), property: u16, value: &PropertyValue) -> Result<()> {
    with_connection(connection, |session| {
        session
            .connection
            .set_index_property(table, index, property, value, &settings())
    })
}

/// Makes the file of a table that is gone, empty, as the dictionary describes it. The collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAutoCreateTable(connection: Handle, table: Name, collation: Name) -> u32 {
    call(|| {
        crate::table::sorted_by_bytes(collation)?;
        let table = table.needed()?;
        with_connection(connection, |session| {
            session.connection.auto_create_table(&table, &settings())
        })
    })
}

/// Makes an index file that is gone, or one of its orders, as the dictionary describes it. The collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAutoCreateIndex(connection: Handle, table: Name, index: Name, collation: Name) -> u32 {
    call(|| {
        crate::table::sorted_by_bytes(collation)?;
        let (table, index) = (table.needed()?, index.needed()?);
        with_connection(connection, |session| {
            session.connection.auto_create_index(&table, &index, &settings())
        })
    })
}
