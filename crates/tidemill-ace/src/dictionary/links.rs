//! Links to other data dictionaries.

use tidemill_ads::{ErrorCode, LinkOptions, NewLink, Result};

use super::put;
use crate::call::{call, refuse};
use crate::handle::{Handle, with_connection};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;

/// Makes a link to another dictionary (SAP's help, "AdsDDCreateLink").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateLink(
    connection: Handle,
    alias: Name,
    path: Name,
    user: Name,
    password: Name,
    options: u32,
) -> u32 {
    call(|| {
        with_link((alias, path), (user, password), options, |link| {
            with_connection(connection, |session| session.connection.create_link(link, &settings()))
        })
    })
}

/// Gives a link that a dictionary keeps another definition (SAP's help, "AdsDDModifyLink").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDModifyLink(
    connection: Handle,
    alias: Name,
    path: Name,
    user: Name,
    password: Name,
    options: u32,
) -> u32 {
    call(|| {
        with_link((alias, path), (user, password), options, |link| {
            with_connection(connection, |session| session.connection.modify_link(link, &settings()))
        })
    })
}

fn with_link(
    (alias, path): (Name, Name),
    (user, password): (Name, Name),
    options: u32,
    work: impl FnOnce(&NewLink<'_>) -> Result<()>,
) -> Result<()> {
    let known = LinkOptions::GLOBAL.0 | LinkOptions::ACTIVE_USER.0 | LinkOptions::STATIC_PATH.0;
    if options & !known != 0 {
        return refuse(ErrorCode::InvalidOption, format!("{options:#x} is no option of a link"));
    }
    let given = |name: Name| Ok::<_, tidemill_ads::Error>(name.text()?.unwrap_or_default());
    work(&NewLink {
        alias: &alias.needed()?,
        path: &path.needed()?,
        user: (&given(user)?, &given(password)?),
        options: LinkOptions(options),
    })
}

/// Drops a link of the connection, by its name or its path, or one that the dictionary keeps (SAP's help, "AdsDDDropLink").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDropLink(connection: Handle, name: Name, is_global: u16) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session.connection.drop_link(&name, is_global != 0, &settings())
        })
    })
}

/// A property of a link that the dictionary keeps (SAP's help, "AdsDDGetLinkProperty").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetLinkProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let name = name.needed()?;
        let found = with_connection(connection, |session| session.connection.link_property(&name, property))?;
        put(&found, value, len)
    })
}

/// How many links are open on a connection (SAP's help, "AdsGetNumActiveLinks").
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumActiveLinks(connection: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        let count = with_connection(connection, |session| Ok(session.connection.active_links().len()))?;
        answer.set(u16::try_from(count).unwrap_or(u16::MAX))
    })
}

/// Returns an open link as `name;user;path`. Links are numbered from 1 (SAP's help, "AdsGetActiveLinkInfo").
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetActiveLinkInfo(connection: Handle, number: u16, info: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        let links = with_connection(connection, |session| Ok(session.connection.active_links()))?;
        match usize::from(number).checked_sub(1).and_then(|at| links.get(at)) {
            Some(link) => info.put(link.as_bytes(), len),
            None => refuse(
                ErrorCode::InvalidLinkNumber,
                format!("there is no link {number}: {} are open", links.len()),
            ),
        }
    })
}
