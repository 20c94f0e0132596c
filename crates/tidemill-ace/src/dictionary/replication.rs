//! Publications, articles and subscriptions: what a dictionary keeps of replication.

use tidemill_ads::{ErrorCode, NewArticle, NewSubscription, ObjectKind, Result};

use super::programs::{get, set};
use crate::call::{call, refuse};
use crate::constants::{ADS_IDENTIFY_BY_ALL, ADS_IDENTIFY_BY_PRIMARY};
use crate::handle::{Handle, with_connection};
use crate::pointers::{Bytes, Name, Out, WideName};
use crate::settings::settings;

/// Makes a publication.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreatePublication(connection: Handle, name: Name, comment: Name, options: u32) -> u32 {
    call(|| {
        if options != 0 {
            return refuse(
                ErrorCode::InvalidOption,
                "there are no options of a publication: give 0",
            );
        }
        let (name, comment) = (name.needed()?, comment.text()?.unwrap_or_default());
        with_connection(connection, |session| {
            session.connection.create_publication(&name, &comment, &settings())
        })
    })
}

/// Removes a publication and its articles.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDeletePublication(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session.connection.drop_publication(&name, &settings())
        })
    })
}

/// A property of a publication.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetPublicationProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let name = name.needed()?;
        get(connection, ObjectKind::Publication, ("", &name), property, (value, len))
    })
}

/// Sets a property of a publication.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetPublicationProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| {
        let name = name.needed()?;
        set(connection, ObjectKind::Publication, ("", &name), property, (value, len))
    })
}

/// Takes a table into a publication.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateArticle(
    connection: Handle,
    publication: Name,
    table: Name,
    columns: Name,
    filter: Name,
    options: u32,
) -> u32 {
    call(|| {
        let filter = filter.text()?.unwrap_or_default();
        create_article(connection, (publication, table, columns), &filter, options)
    })
}

/// As [`AdsDDCreateArticle`], with the filter in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateArticle100(
    connection: Handle,
    publication: Name,
    table: Name,
    columns: Name,
    filter: WideName,
    options: u32,
) -> u32 {
    call(|| {
        let filter = if filter.is_null() {
            String::new()
        } else {
            filter.needed()?
        };
        create_article(connection, (publication, table, columns), &filter, options)
    })
}

fn create_article(
    connection: Handle,
    (publication, table, columns): (Name, Name, Name),
    filter: &str,
    options: u32,
) -> Result<()> {
    if options & !(ADS_IDENTIFY_BY_PRIMARY | ADS_IDENTIFY_BY_ALL) != 0 {
        return refuse(
            ErrorCode::InvalidOption,
            format!("{options:#x} is no option of an article"),
        );
    }
    let (publication, table) = (publication.needed()?, table.needed()?);
    let article = NewArticle {
        table: &table,
        id_columns: &columns.text()?.unwrap_or_default(),
        filter,
        by_primary_key: options & ADS_IDENTIFY_BY_PRIMARY != 0,
        by_all: options & ADS_IDENTIFY_BY_ALL != 0,
    };
    with_connection(connection, |session| {
        session.connection.create_article(&publication, &article, &settings())
    })
}

/// Takes a table out of a publication.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDeleteArticle(connection: Handle, publication: Name, table: Name) -> u32 {
    call(|| {
        let (publication, table) = (publication.needed()?, table.needed()?);
        with_connection(connection, |session| {
            session.connection.drop_article(&publication, &table, &settings())
        })
    })
}

/// A property of an article.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetArticleProperty(
    connection: Handle,
    publication: Name,
    table: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let names = (publication.needed()?, table.needed()?);
        let names = (names.0.as_str(), names.1.as_str());
        get(connection, ObjectKind::Article, names, property, (value, len))
    })
}

/// Sets a property of an article.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetArticleProperty(
    connection: Handle,
    publication: Name,
    table: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| {
        let names = (publication.needed()?, table.needed()?);
        let names = (names.0.as_str(), names.1.as_str());
        set(connection, ObjectKind::Article, names, property, (value, len))
    })
}

/// Makes a subscription. A password is not kept, and refused.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateSubscription(
    connection: Handle,
    name: Name,
    publication: Name,
    target: Name,
    user: Name,
    password: Name,
    queue: Name,
    forwards: u16,
    comment: Name,
    options: u32,
) -> u32 {
    call(|| {
        let given = |name: Name| Ok::<_, tidemill_ads::Error>(name.text()?.unwrap_or_default());
        let subscription = NewSubscription {
            name: &name.needed()?,
            publication: &publication.needed()?,
            target: &target.needed()?,
            user: &given(user)?,
            password: &given(password)?,
            queue: &queue.needed()?,
            forwards: forwards != 0,
            comment: &given(comment)?,
            options,
        };
        if options & !0xF != 0 {
            return refuse(
                ErrorCode::InvalidOption,
                format!("{options:#x} is no option of a subscription"),
            );
        }
        with_connection(connection, |session| {
            session.connection.create_subscription(&subscription, &settings())
        })
    })
}

/// Removes a subscription.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDeleteSubscription(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session.connection.drop_subscription(&name, &settings())
        })
    })
}

/// A property of a subscription.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetSubscriptionProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        let name = name.needed()?;
        get(
            connection,
            ObjectKind::Subscription,
            ("", &name),
            property,
            (value, len),
        )
    })
}

/// Sets a property of a subscription.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetSubscriptionProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| {
        let name = name.needed()?;
        set(
            connection,
            ObjectKind::Subscription,
            ("", &name),
            property,
            (value, len),
        )
    })
}
