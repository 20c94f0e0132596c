//! Views: what a dictionary keeps as SQL.

use tidemill_ads::{ErrorCode, ObjectKind, PropertyShape, PropertyValue, Result};

use super::{given_text, put};
use crate::call::{call, refuse};
use crate::handle::{Handle, with_connection};
use crate::pointers::{Bytes, Name, Out, WideName};
use crate::settings::settings;

/// Adds a view to a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddView(connection: Handle, name: Name, comment: Name, statement: Name) -> u32 {
    call(|| add_view(connection, name, comment, &statement.needed()?))
}

/// As [`AdsDDAddView`], with the statement in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddView100(connection: Handle, name: Name, comment: Name, statement: WideName) -> u32 {
    call(|| add_view(connection, name, comment, &statement.needed()?))
}

fn add_view(connection: Handle, name: Name, comment: Name, statement: &str) -> Result<()> {
    let (name, comment) = (name.needed()?, comment.text()?.unwrap_or_default());
    with_connection(connection, |session| {
        session.connection.add_view(&name, &comment, statement, &settings())
    })
}

/// Removes a view from a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveView(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| session.connection.remove_view(&name, &settings()))
    })
}

/// A property of a view.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetViewProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        get(
            connection,
            ObjectKind::View,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Sets a property of a view.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetViewProperty(connection: Handle, name: Name, property: u16, value: Bytes, len: u16) -> u32 {
    call(|| {
        set(
            connection,
            ObjectKind::View,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// A property of an object, which is named with its parent.
fn get(
    connection: Handle,
    kind: ObjectKind,
    object: (&str, &str),
    property: u16,
    (value, len): (Bytes, Out<u16>),
) -> Result<()> {
    with_connection(connection, |session| {
        put(&session.connection.object_property(kind, object, property)?, value, len)
    })
}

/// Sets a property of an object.
fn set(
    connection: Handle,
    kind: ObjectKind,
    object: (&str, &str),
    property: u16,
    (value, len): (Bytes, u16),
) -> Result<()> {
    let value = match kind.shape_of(property) {
        Some(PropertyShape::Wide) => {
            let bytes = if value.is_null() { &[] } else { value.read(len.into())? };
            let units = bytes.chunks_exact(2).map(|unit| u16::from_ne_bytes([unit[0], unit[1]]));
            let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
            PropertyValue::Text(String::from_utf16_lossy(&units))
        }
        Some(PropertyShape::Long) => match value.read(len.into())?.try_into() {
            Ok(bytes) => PropertyValue::Long(u32::from_ne_bytes(bytes)),
            Err(_) => {
                return refuse(
                    ErrorCode::InvalidPropertyLength,
                    format!("the property is a number of 4 bytes, and {len} are given"),
                );
            }
        },
        _ => given_text(value, len)?,
    };
    with_connection(connection, |session| {
        session
            .connection
            .set_object_property(kind, object, property, &value, &settings())
    })
}
