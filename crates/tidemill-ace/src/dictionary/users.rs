//! Users and groups of a dictionary, and their rights.

use tidemill_ads::{ErrorCode, ObjectKind, PropertyValue, Result, Rights};

use super::programs::{get, set};
use super::{given_text, put};
use crate::call::{call, refuse};
use crate::constants::{ADS_DD_USER_GROUP_MEMBERSHIP, ADS_DD_USER_PASSWORD};
use crate::handle::{Handle, with_area, with_connection};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;

/// Makes a user, who can be a member of a group.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateUser(connection: Handle, group: Name, name: Name, password: Name, comment: Name) -> u32 {
    call(|| {
        let given = |name: Name| Ok::<_, tidemill_ads::Error>(name.text()?.unwrap_or_default());
        let (name, password) = (name.needed()?, given(password)?);
        let (group, comment) = (given(group)?, given(comment)?);
        with_connection(connection, |session| {
            session
                .connection
                .create_user((&name, &password), &group, &comment, &settings())
        })
    })
}

/// Removes a user.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDeleteUser(connection: Handle, name: Name) -> u32 {
    call(|| remove(connection, ObjectKind::User, &name.needed()?))
}

/// Makes a group of users.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateUserGroup(connection: Handle, name: Name, comment: Name) -> u32 {
    call(|| {
        let (name, comment) = (name.needed()?, comment.text()?.unwrap_or_default());
        with_connection(connection, |session| {
            session.connection.create_group(&name, &comment, &settings())
        })
    })
}

/// Removes a group of users.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDeleteUserGroup(connection: Handle, name: Name) -> u32 {
    call(|| remove(connection, ObjectKind::UserGroup, &name.needed()?))
}

fn remove(connection: Handle, kind: ObjectKind, name: &str) -> Result<()> {
    with_connection(connection, |session| {
        session.connection.remove_grantee(kind, name, &settings())
    })
}

/// Makes a user a member of a group.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddUserToGroup(connection: Handle, group: Name, user: Name) -> u32 {
    call(|| set_membership(connection, group, user, true))
}

/// Makes a user no member of a group any more.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveUserFromGroup(connection: Handle, group: Name, user: Name) -> u32 {
    call(|| set_membership(connection, group, user, false))
}

fn set_membership(connection: Handle, group: Name, user: Name, is_member: bool) -> Result<()> {
    let (group, user) = (group.needed()?, user.needed()?);
    with_connection(connection, |session| {
        session.connection.set_membership(&user, &group, is_member, &settings())
    })
}

/// A property of a user.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetUserProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let name = name.needed()?;
        if property != ADS_DD_USER_GROUP_MEMBERSHIP {
            return get(connection, ObjectKind::User, ("", &name), property, (value, len));
        }
        let groups = with_connection(connection, |session| session.connection.groups_of(&name))?;
        put(&PropertyValue::Text(groups.join(";")), value, len)
    })
}

/// Sets a property of a user: the password or the comment.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetUserProperty(connection: Handle, name: Name, property: u16, value: Bytes, len: u16) -> u32 {
    call(|| {
        let name = name.needed()?;
        if property != ADS_DD_USER_PASSWORD {
            return set(connection, ObjectKind::User, ("", &name), property, (value, len));
        }
        let (PropertyValue::Text(password) | PropertyValue::Wide(password)) = given_text(value, len)? else {
            return refuse(ErrorCode::InvalidProperty, "a password is a text");
        };
        with_connection(connection, |session| {
            session.connection.set_password(&name, &password, &settings())
        })
    })
}

/// A property of a group of users.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetUserGroupProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        get(
            connection,
            ObjectKind::UserGroup,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Sets a property of a group of users.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetUserGroupProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| {
        set(
            connection,
            ObjectKind::UserGroup,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Grants rights to a user or a group.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGrantPermission(
    connection: Handle,
    kind: u16,
    object: Name,
    _parent: Name,
    grantee: Name,
    rights: u32,
) -> u32 {
    call(|| set_rights(connection, (kind, object), grantee, rights, true))
}

/// Revokes rights of a user or a group.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRevokePermission(
    connection: Handle,
    kind: u16,
    object: Name,
    _parent: Name,
    grantee: Name,
    rights: u32,
) -> u32 {
    call(|| set_rights(connection, (kind, object), grantee, rights, false))
}

fn set_rights(connection: Handle, (kind, object): (u16, Name), grantee: Name, rights: u32, grants: bool) -> Result<()> {
    let kind = kind_of(kind)?;
    let (object, grantee) = (object.needed()?, grantee.needed()?);
    let rights = match rights {
        ALL => Rights::ALL,
        rights => Rights(rights),
    };
    with_connection(connection, |session| {
        session
            .connection
            .set_rights((kind, &object), &grantee, rights, grants, &settings())
    })
}

/// Tells the rights of a user or a group.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetPermissions(
    connection: Handle,
    grantee: Name,
    kind: u16,
    object: Name,
    _parent: Name,
    inherited: u16,
    answer: Out<u32>,
) -> u32 {
    call(|| {
        let kind = kind_of(kind)?;
        let (object, grantee) = (object.needed()?, grantee.needed()?);
        let rights = with_connection(connection, |session| {
            session.connection.rights_of(&grantee, (kind, &object), inherited != 0)
        })?;
        answer.set(rights.0)
    })
}

/// Returns what the user of a connection may do with a table or a view, as `ADS_PERMISSION_READ` and the like.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDVerifyUserRights(connection: Handle, table: Name, answer: Out<u32>) -> u32 {
    call(|| {
        let table = table.needed()?;
        let rights = with_connection(connection, |session| session.connection.user_rights(&table))?;
        answer.set(rights.0)
    })
}

/// Returns what the user may do with a column of a table: read it, and change it in existing and in new records
/// (`ADS_PERMISSION_READ`, `ADS_PERMISSION_UPDATE`, `ADS_PERMISSION_INSERT`). Rights are those to the table as a whole.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetColumnPermissions(table: Handle, column: u16, answer: Out<u8>) -> u32 {
    call(|| {
        with_area(table, |area| {
            area.column(usize::from(column).wrapping_sub(1))?;
            let of_columns = Rights::READ.0 | Rights::UPDATE.0 | Rights::INSERT.0;
            let rights = area.rights().0 & of_columns;
            answer.set(u8::try_from(rights).unwrap_or_default())
        })
    })
}

fn kind_of(number: u16) -> Result<ObjectKind> {
    match ObjectKind::from_number(number) {
        Some(kind) => Ok(kind),
        None => refuse(
            ErrorCode::InvalidObjectType,
            format!("rights to objects of the type {number} are not kept"),
        ),
    }
}

/// `ADS_PERMISSION_ALL`.
const ALL: u32 = 0xFFFF_FFFF;
