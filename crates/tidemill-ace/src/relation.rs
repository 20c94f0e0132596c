//! Relations.

use tidemill_ads::{ErrorCode, Result};

use crate::call::{call, refuse};
use crate::handle::{Handle, Object, entered, object, unknown, with_any};
use crate::pointers::Name;
use crate::settings::settings;

/// Lets a table follow another: by an order of it, or by record number.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetRelation(parent: Handle, child: Handle, expression: Name) -> u32 {
    call(|| relate(parent, child, expression, false))
}

/// As [`AdsSetRelation`], and the child shows only the records of the key.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetScopedRelation(parent: Handle, child: Handle, expression: Name) -> u32 {
    call(|| relate(parent, child, expression, true))
}

fn relate(parent: Handle, child: Handle, expression: Name, is_scoped: bool) -> Result<()> {
    let expression = expression.needed()?;
    let (session, child, order) = match object(child) {
        Some(Object::Index(session, area, order)) => (session, area, Some(order)),
        Some(Object::Table(session, area)) if !is_scoped => (session, area, None),
        _ => {
            return refuse(ErrorCode::InvalidIndexHandle, unknown(child, "an order"));
        }
    };
    let (own, parent) = match object(parent) {
        Some(Object::Index(session, area, _) | Object::Table(session, area)) => (session, area),
        _ => {
            return refuse(ErrorCode::InvalidTableHandle, unknown(parent, "a table"));
        }
    };
    if !std::sync::Arc::ptr_eq(&own, &session) {
        return refuse(
            ErrorCode::InvalidRelation,
            "the tables are open on different connections",
        );
    }
    entered(&session)
        .connection
        .set_relation(parent, (child, order), &expression, is_scoped, &settings())
}

/// Nothing follows a table any more.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearRelation(parent: Handle) -> u32 {
    call(|| with_any(parent, |session, area, _| session.connection.clear_relations(area)))
}
