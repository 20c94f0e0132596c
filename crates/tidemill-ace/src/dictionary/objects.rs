//! Properties, names and files of objects of any kind.

use tidemill_ads::{
    Connection, DatabaseProperty, ErrorCode, FieldProperty, ObjectKind, PropertyShape, PropertyValue, Result,
    TableProperty, Validation,
};

use super::{given, given_text, given_wide, kept, put};
use crate::call::{call, refuse};
use crate::constants::*;
use crate::handle::{Handle, with_connection};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;

/// Returns a property of an object of any kind, as `AdsDDGetTableProperty` and the like do. The parent of a field, an order, an index
/// file or a trigger is its table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetObjectProperty(
    connection: Handle,
    kind: u16,
    parent: Name,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| put(&property_of(connection, kind, (parent, name), property)?, value, len))
}

/// As [`AdsDDGetObjectProperty`], with the encoding: `ADS_ENCODE_UTF16` or `ADS_ENCODE_UTF8` for a text, 0 for a number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetObjectProperty100(
    connection: Handle,
    kind: u16,
    parent: Name,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
    encoding: Out<u32>,
) -> u32 {
    call(|| {
        let found = property_of(connection, kind, (parent, name), property)?;
        put(&found, value, len)?;
        if encoding.is_null() {
            return Ok(());
        }
        encoding.set(match found {
            PropertyValue::Wide(_) => ADS_ENCODE_UTF16,
            PropertyValue::Text(_) => ADS_ENCODE_UTF8,
            PropertyValue::Short(_) | PropertyValue::Long(_) | PropertyValue::Bytes(_) => 0,
        })
    })
}

/// Sets a property of an object of any kind. A rule that existing records break is refused.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetObjectProperty(
    connection: Handle,
    kind: u16,
    parent: Name,
    name: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| set_property_of(connection, kind, (parent, name), property, (value, len), 0))
}

/// As [`AdsDDSetObjectProperty`]; a text can be in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetObjectProperty100(
    connection: Handle,
    kind: u16,
    parent: Name,
    name: Name,
    property: u16,
    value: Bytes,
    len: u16,
    encoding: u32,
) -> u32 {
    call(|| set_property_of(connection, kind, (parent, name), property, (value, len), encoding))
}

/// Gives an object of a dictionary another name (SAP's help, "AdsDDRenameObject").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRenameObject(connection: Handle, name: Name, new: Name, kind: u16, options: u32) -> u32 {
    call(|| {
        let (name, new) = (name.needed()?, new.needed()?);
        let kind = known(kind)?;
        if options & !ADS_KEEP_TABLE_FILE_NAME != 0 {
            return refuse(
                ErrorCode::InvalidOption,
                format!("{options:#x} is no option of a new name"),
            );
        }
        let keeps_files = options & ADS_KEEP_TABLE_FILE_NAME != 0;
        with_connection(connection, |session| {
            session
                .connection
                .rename_object(kind, &name, &new, keeps_files, &settings())
        })
    })
}

/// Moves the files of a table, or an index file, to another folder (SAP's help, "AdsDDMoveObjectFile").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDMoveObjectFile(
    connection: Handle,
    kind: u16,
    name: Name,
    folder: Name,
    indexes: Name,
    parent: Name,
    options: u32,
) -> u32 {
    call(|| {
        let (name, folder) = (name.needed()?, folder.needed()?);
        if options != 0 {
            return refuse(ErrorCode::InvalidOption, "there are no options of a move: give 0");
        }
        match kind {
            ADS_DD_TABLE_OBJECT => {
                let indexes = indexes.text()?.unwrap_or_default();
                with_connection(connection, |session| {
                    session
                        .connection
                        .move_table_file(&name, &folder, &indexes, &settings())
                })
            }
            ADS_DD_INDEX_FILE_OBJECT => {
                let parent = parent.needed()?;
                with_connection(connection, |session| {
                    session.connection.move_index_file(&parent, &name, &folder, &settings())
                })
            }
            other => refuse(
                ErrorCode::InvalidObjectType,
                format!("objects of the type {other} have no files that are moved"),
            ),
        }
    })
}

fn known(kind: u16) -> Result<ObjectKind> {
    match ObjectKind::from_number(kind) {
        Some(kind) => Ok(kind),
        None => refuse(
            ErrorCode::InvalidObjectType,
            format!("objects of the type {kind} are not kept in data dictionaries here"),
        ),
    }
}

/// The names of a parent and of an object. A dictionary is one, and needs no name.
fn names_of(kind: u16, (parent, name): (Name, Name)) -> Result<(String, String)> {
    let parent = parent.text()?.unwrap_or_default();
    match kind {
        ADS_DD_DATABASE_OBJECT => Ok((parent, String::new())),
        _ => Ok((parent, name.needed()?)),
    }
}

fn property_of(connection: Handle, kind: u16, names: (Name, Name), property: u16) -> Result<PropertyValue> {
    let (parent, name) = names_of(kind, names)?;
    with_connection(connection, |session| {
        let connection = &mut session.connection;
        if kind == ADS_DD_DATABASE_OBJECT {
            return connection.database_property(kept(DatabaseProperty::from_number(property), property)?);
        }
        match known(kind)? {
            ObjectKind::Table => {
                let property = kept(TableProperty::from_number(property), property)?;
                connection.table_property(&name, property)
            }
            ObjectKind::Field => {
                let property = kept(FieldProperty::from_number(property), property)?;
                connection.field_property(&parent, &name, property)
            }
            ObjectKind::Relation => connection.relation_property(&name, property),
            ObjectKind::Link => connection.link_property(&name, property),
            ObjectKind::IndexFile => connection.index_file_property(&parent, &name, property),
            ObjectKind::Index => connection.index_property(&parent, &name, property, &settings()),
            ObjectKind::User if property == ADS_DD_USER_GROUP_MEMBERSHIP => {
                Ok(PropertyValue::Text(connection.groups_of(&name)?.join(";")))
            }
            kind => connection.object_property(kind, (&parent, &name), property),
        }
    })
}

fn set_property_of(
    connection: Handle,
    kind: u16,
    names: (Name, Name),
    property: u16,
    (value, len): (Bytes, u16),
    encoding: u32,
) -> Result<()> {
    let (parent, name) = names_of(kind, names)?;
    if encoding & !ADS_ENCODING_MASK != 0 || encoding == ADS_ENCODING_MASK {
        return refuse(
            ErrorCode::InvalidOption,
            format!("{encoding:#x} is no encoding of a text"),
        );
    }
    let text = || match encoding {
        ADS_ENCODE_UTF16 => given_wide(value, len),
        _ => given_text(value, len),
    };
    let settings = settings();
    with_connection(connection, |session| {
        let connection: &mut Connection = &mut session.connection;
        if kind == ADS_DD_DATABASE_OBJECT {
            let property = kept(DatabaseProperty::from_number(property), property)?;
            let given = match property.shape() {
                PropertyShape::Text => text()?,
                shape => given(shape, value, len)?,
            };
            return connection.set_database_property(property, &given, &settings);
        }
        match known(kind)? {
            ObjectKind::Table => {
                let property = kept(TableProperty::from_number(property), property)?;
                let given = match property.shape() {
                    PropertyShape::Text => text()?,
                    shape => given(shape, value, len)?,
                };
                connection.set_table_property(&name, (property, Validation::ReturnError), &given, &settings)
            }
            ObjectKind::Field => {
                let property = kept(FieldProperty::from_number(property), property)?;
                let given = match property.shape() {
                    PropertyShape::Text => text()?,
                    shape => given(shape, value, len)?,
                };
                let rule = (property, Validation::ReturnError);
                connection.set_field_property((&parent, &name), rule, &given, &settings)
            }
            ObjectKind::Index => connection.set_index_property(&parent, &name, property, &text()?, &settings),
            ObjectKind::User if property == ADS_DD_USER_PASSWORD => match text()? {
                PropertyValue::Text(password) => connection.set_password(&name, &password, &settings),
                _ => refuse(ErrorCode::InvalidProperty, "a password is a text"),
            },
            ObjectKind::Relation | ObjectKind::IndexFile | ObjectKind::Link => refuse(
                ErrorCode::InvalidPropertyId,
                "programs set no properties of relations, index files and links",
            ),
            kind => {
                let given = match kind.shape_of(property) {
                    None | Some(PropertyShape::Text) => text()?,
                    Some(shape) => given(shape, value, len)?,
                };
                connection.set_object_property(kind, (&parent, &name), property, &given, &settings)
            }
        }
    })
}
