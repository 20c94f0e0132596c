//! Data dictionaries: made and opened, their tables, their objects, and properties.

mod enforcement;
mod indexes;
mod links;
mod objects;
mod programs;
mod replication;
mod users;

use std::path::Path;
use std::sync::{Arc, Mutex};

use tidemill_ads::{
    Connection, DatabaseProperty, Error, ErrorCode, FieldProperty, NewRelation, NewTable, ObjectKind, PropertyShape,
    PropertyValue, RelationRule, Result, TableProperty, Validation,
};

use crate::call::{call, refuse};
use crate::connect_string::ConnectString;
use crate::connection::{as_asked, connect};
use crate::constants::*;
use crate::find::{Search, next_of};
use crate::handle::{Handle, Object, add, add_connection, object, remove, session, unknown, with_connection};
use crate::pointers::{Bytes, Name, Out, text_of};
use crate::settings::settings;
use crate::table::given_type;

pub use enforcement::*;
pub use indexes::*;
pub use links::*;
pub use objects::*;
pub use programs::*;
pub use replication::*;
pub use users::*;

/// Makes a dictionary and connects to it. It cannot be encrypted.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreate(path: Name, encrypts: u16, description: Name, answer: Out<Handle>) -> u32 {
    call(|| {
        let description = description.text()?.unwrap_or_default();
        answer.set(add_connection(created(&path.needed()?, encrypts != 0, &description)?)?)
    })
}

/// As [`AdsDDCreate`], as a text says: `Data Source=file;Description=…`. A password becomes that of ADSSYS.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreate101(text: Name, options: Out<Handle>, answer: Out<Handle>) -> u32 {
    call(|| {
        let text = ConnectString::parse(&text.needed()?)?;
        let encrypts = text.flag("EncryptDictionary")?.unwrap_or(false);
        let Some(path) = text.get("Data Source") else {
            return refuse(ErrorCode::InvalidPath, "the connection has no Data Source");
        };
        as_asked(&text, (options, answer), |text| {
            let mut made = created(path, encrypts, text.get("Description").unwrap_or_default())?;
            if let Some(password) = text.get("Password").filter(|password| !password.is_empty()) {
                made.set_password("ADSSYS", password, &settings())?;
            }
            Ok(made)
        })
    })
}

fn created(path: &str, encrypts: bool, description: &str) -> Result<Connection> {
    if encrypts {
        return refuse(ErrorCode::NotImplemented, "data dictionaries are not encrypted");
    }
    let settings = settings();
    let path = settings.paths.resolve(path, Path::new("."))?;
    Connection::create_dictionary(path, description, &settings)
}

/// Connects to a dictionary as its administrator.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDOpen(path: Name, password: Name, answer: Out<Handle>) -> u32 {
    call(|| {
        let password = password.text()?.unwrap_or_default();
        connect(path, ADS_LOCAL_SERVER, ("ADSSYS", &password), answer)
    })
}

/// Closes a connection to a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDClose(connection: Handle) -> u32 {
    crate::connection::AdsDisconnect(connection)
}

/// Takes a table into a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddTable(
    connection: Handle,
    name: Name,
    path: Name,
    table_type: u16,
    _char_type: u16,
    indexes: Name,
    comment: Name,
) -> u32 {
    call(|| {
        let (name, path) = (name.text()?.unwrap_or_default(), path.needed()?);
        let (indexes, comment) = (indexes.text()?.unwrap_or_default(), comment.text()?.unwrap_or_default());
        let table = NewTable {
            name: &name,
            path: &path,
            table_type: given_type(table_type)?,
            indexes: &indexes,
            comment: &comment,
        };
        with_connection(connection, |session| {
            session.connection.add_dictionary_table(&table, &settings())
        })
    })
}

/// As [`AdsDDAddTable`]; the collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddTable90(
    connection: Handle,
    name: Name,
    path: Name,
    table_type: u16,
    char_type: u16,
    indexes: Name,
    comment: Name,
    collation: Name,
) -> u32 {
    match call(|| crate::table::sorted_by_bytes(collation)) {
        AE_SUCCESS => AdsDDAddTable(connection, name, path, table_type, char_type, indexes, comment),
        code => code,
    }
}

/// Takes a table out of a dictionary, and removes its files where that is asked for.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveTable(connection: Handle, name: Name, deletes: u16) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session
                .connection
                .remove_dictionary_table(&name, deletes != 0, &settings())
        })
    })
}

/// Begins to list the objects of a kind, and tells the first name.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDFindFirstObject(
    connection: Handle,
    kind: u16,
    parent: Name,
    name: Bytes,
    len: Out<u16>,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        let parent = parent.text()?.unwrap_or_default();
        let Some(known) = ObjectKind::from_number(kind) else {
            return refuse(
                ErrorCode::InvalidObjectType,
                format!("objects of the type {kind} are not listed"),
            );
        };
        let names = with_connection(connection, |session| {
            session.connection.dictionary_objects(known, &parent)
        })?;
        if names.is_empty() {
            return no_object();
        }
        let search = Arc::new(Mutex::new(Search::of(names)));
        answer.set(add(Object::Search(Arc::clone(&search)))?)?;
        next_of(&search, name, len, no_object)
    })
}

/// Tells the next name.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDFindNextObject(_connection: Handle, search: Handle, name: Bytes, len: Out<u16>) -> u32 {
    call(|| match object(search) {
        Some(Object::Search(search)) => next_of(&search, name, len, no_object),
        _ => refuse(ErrorCode::InvalidFindHandle, unknown(search, "a search")),
    })
}

/// Ends a list.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDFindClose(_connection: Handle, search: Handle) -> u32 {
    call(|| match object(search) {
        Some(Object::Search(_)) => {
            remove(search);
            Ok(())
        }
        _ => refuse(ErrorCode::InvalidFindHandle, unknown(search, "a search")),
    })
}

fn no_object() -> Result<()> {
    refuse(ErrorCode::NoObjectFound, "there are no more such objects")
}

/// A property of the dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetDatabaseProperty(connection: Handle, property: u16, value: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            let property = kept(DatabaseProperty::from_number(property), property)?;
            put(&session.connection.database_property(property)?, value, len)
        })
    })
}

/// Sets a property of the dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetDatabaseProperty(connection: Handle, property: u16, value: Bytes, len: u16) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            let property = kept(DatabaseProperty::from_number(property), property)?;
            let value = given(property.shape(), value, len)?;
            session.connection.set_database_property(property, &value, &settings())
        })
    })
}

/// A property of a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetTableProperty(
    connection: Handle,
    table: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let table = table.needed()?;
        with_connection(connection, |session| {
            let property = kept(TableProperty::from_number(property), property)?;
            put(&session.connection.table_property(&table, property)?, value, len)
        })
    })
}

/// Sets a property of a table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetTableProperty(
    connection: Handle,
    table: Name,
    property: u16,
    value: Bytes,
    len: u16,
    validation: u16,
    _fail_table: Name,
) -> u32 {
    call(|| {
        let table = table.needed()?;
        with_connection(connection, |session| {
            let property = kept(TableProperty::from_number(property), property)?;
            let value = given(property.shape(), value, len)?;
            let rule = (property, validated(validation)?);
            session.connection.set_table_property(&table, rule, &value, &settings())
        })
    })
}

/// A property of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetFieldProperty(
    connection: Handle,
    table: Name,
    field: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let (table, field) = (table.needed()?, field.needed()?);
        with_connection(connection, |session| {
            let property = kept(FieldProperty::from_number(property), property)?;
            put(
                &session.connection.field_property(&table, &field, property)?,
                value,
                len,
            )
        })
    })
}

/// Sets a property of a field.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetFieldProperty(
    connection: Handle,
    table: Name,
    field: Name,
    property: u16,
    value: Bytes,
    len: u16,
    validation: u16,
    _fail_table: Name,
) -> u32 {
    call(|| {
        let (table, field) = (table.needed()?, field.needed()?);
        with_connection(connection, |session| {
            let property = kept(FieldProperty::from_number(property), property)?;
            let value = given(property.shape(), value, len)?;
            let rule = (property, validated(validation)?);
            session
                .connection
                .set_field_property((&table, &field), rule, &value, &settings())
        })
    })
}

/// Makes a relation.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateRefIntegrity(
    connection: Handle,
    name: Name,
    fail_table: Name,
    parent: Name,
    parent_order: Name,
    child: Name,
    child_order: Name,
    on_update: u16,
    on_delete: u16,
) -> u32 {
    let texts = (Name::none(), Name::none());
    let rules = (on_update, on_delete);
    call(|| {
        relate(
            connection,
            (name, fail_table),
            (parent, parent_order),
            (child, child_order),
            rules,
            texts,
        )
    })
}

/// As [`AdsDDCreateRefIntegrity`], with what is said where the primary key lacks, and where a change cannot be carried on.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateRefIntegrity62(
    connection: Handle,
    name: Name,
    fail_table: Name,
    parent: Name,
    parent_order: Name,
    child: Name,
    child_order: Name,
    on_update: u16,
    on_delete: u16,
    no_parent: Name,
    no_cascade: Name,
) -> u32 {
    let (texts, rules) = ((no_parent, no_cascade), (on_update, on_delete));
    call(|| {
        relate(
            connection,
            (name, fail_table),
            (parent, parent_order),
            (child, child_order),
            rules,
            texts,
        )
    })
}

fn relate(
    connection: Handle,
    (name, fail_table): (Name, Name),
    (parent, parent_order): (Name, Name),
    (child, child_order): (Name, Name),
    (on_update, on_delete): (u16, u16),
    (no_parent, no_cascade): (Name, Name),
) -> Result<()> {
    let given = |name: Name| Ok::<_, Error>(name.text()?.unwrap_or_default());
    if !given(fail_table)?.is_empty() {
        return refuse(
            ErrorCode::NotImplemented,
            "records that refer to none are not moved away; give no table for them",
        );
    }
    let rule = |number: u16| match RelationRule::from_number(number.into()) {
        Some(rule) => Ok(rule),
        None => refuse(
            ErrorCode::InvalidOption,
            format!("{number} is no rule of a relation: 1 to 4 are"),
        ),
    };
    let [name, parent, child, child_order] = [name.needed()?, parent.needed()?, child.needed()?, child_order.needed()?];
    let relation = NewRelation {
        name: &name,
        parent: &parent,
        parent_order: &given(parent_order)?,
        child: &child,
        child_order: &child_order,
        on_update: rule(on_update)?,
        on_delete: rule(on_delete)?,
        no_parent: &given(no_parent)?,
        no_cascade: &given(no_cascade)?,
    };
    with_connection(connection, |session| {
        session.connection.create_relation(&relation, &settings())
    })
}

/// Drops a relation.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveRefIntegrity(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session.connection.drop_relation(&name, &settings())
        })
    })
}

/// A property of a relation.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetRefIntegrityProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            put(&session.connection.relation_property(&name, property)?, value, len)
        })
    })
}

/// Frees an ADT of a dictionary that is not at hand, so that it can be changed without it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDFreeTable(path: Name, _password: Name) -> u32 {
    call(|| {
        let (path, settings) = (path.needed()?, settings());
        let session = session(0)?;
        let mut session = crate::handle::lock(&session);
        session.connection.free_dictionary_table(&path, &settings)
    })
}

/// A property that is kept.
fn kept<T>(property: Option<T>, number: u16) -> Result<T> {
    match property {
        Some(property) => Ok(property),
        None => refuse(
            ErrorCode::InvalidPropertyId,
            format!("the property {number} is not kept in data dictionaries here"),
        ),
    }
}

/// What is done about records that do not fulfil a rule.
fn validated(number: u16) -> Result<Validation> {
    match Validation::from_number(number) {
        Some(validation) => Ok(validation),
        None => refuse(
            ErrorCode::InvalidOption,
            format!("{number} does not say what is done about records that break a new rule"),
        ),
    }
}

/// Gives a program a value: a text with the NUL at its end, which its length counts.
fn put(value: &PropertyValue, buffer: Bytes, len: Out<u16>) -> Result<()> {
    match value {
        PropertyValue::Text(text) => buffer.put(&[text.as_bytes(), &[0]].concat(), len),
        PropertyValue::Wide(text) => {
            let units = text.encode_utf16().chain([0]);
            let bytes: Vec<u8> = units.flat_map(u16::to_ne_bytes).collect();
            buffer.put(&bytes, len)
        }
        PropertyValue::Short(number) => buffer.put(&number.to_ne_bytes(), len),
        PropertyValue::Long(number) => buffer.put(&number.to_ne_bytes(), len),
        PropertyValue::Bytes(bytes) => buffer.put(bytes, len),
    }
}

/// What a program gives for a property.
fn given(shape: PropertyShape, value: Bytes, len: u16) -> Result<PropertyValue> {
    match shape {
        PropertyShape::Text => given_text(value, len),
        PropertyShape::Wide => given_wide(value, len),
        PropertyShape::Short => given_short(value, len),
        PropertyShape::Long => given_long(value, len),
        PropertyShape::Bytes if value.is_null() => Ok(PropertyValue::Bytes(Vec::new())),
        PropertyShape::Bytes => Ok(PropertyValue::Bytes(value.read(len.into())?.to_vec())),
    }
}

/// A text that a program gives, up to its NUL; none for null.
fn given_text(value: Bytes, len: u16) -> Result<PropertyValue> {
    let bytes = if value.is_null() { &[] } else { value.read(len.into())? };
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(PropertyValue::Text(text_of(text)))
}

/// As [`given_text`], in UTF-16.
fn given_wide(value: Bytes, len: u16) -> Result<PropertyValue> {
    let bytes = if value.is_null() { &[] } else { value.read(len.into())? };
    let (units, _) = bytes.as_chunks();
    let units: Vec<u16> = units.iter().map(|unit| u16::from_ne_bytes(*unit)).collect();
    let units: Vec<u16> = units.into_iter().take_while(|unit| *unit != 0).collect();
    match String::from_utf16(&units) {
        Ok(text) => Ok(PropertyValue::Text(text)),
        Err(_) => refuse(ErrorCode::InvalidProperty, "the text is no UTF-16"),
    }
}

fn given_short(value: Bytes, len: u16) -> Result<PropertyValue> {
    match value.read(len.into())?.try_into() {
        Ok(bytes) => Ok(PropertyValue::Short(u16::from_ne_bytes(bytes))),
        Err(_) => refuse(
            ErrorCode::InvalidPropertyLength,
            format!("the property is a number of 2 bytes, and {len} are given"),
        ),
    }
}

fn given_long(value: Bytes, len: u16) -> Result<PropertyValue> {
    match value.read(len.into())?.try_into() {
        Ok(bytes) => Ok(PropertyValue::Long(u32::from_ne_bytes(bytes))),
        Err(_) => refuse(
            ErrorCode::InvalidPropertyLength,
            format!("the property is a number of 4 bytes, and {len} are given"),
        ),
    }
}
