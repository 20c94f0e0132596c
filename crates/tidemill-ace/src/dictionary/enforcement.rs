//! Triggers and relations that are switched off and on, and relations that are looked over.

use tidemill_ads::{ErrorCode, Result, TriggerEvent, TriggerScope};

use super::programs::numbered;
use crate::call::{call, refuse};
use crate::handle::{Handle, with_connection};
use crate::pointers::{Name, Out};
use crate::settings::settings;

/// Switches triggers off: of a table, one of a table where both are named, or those of the connection where neither is (SAP's help,
/// "sp_DisableTriggers"). Those of the whole dictionary have the property `ADS_DD_TRIGGERS_DISABLED` of the database.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDisableTriggers(connection: Handle, object: Name, parent: Name, options: u32) -> u32 {
    call(|| switch_triggers(connection, (object, parent), options, false))
}

/// Switches triggers on again (SAP's help, "sp_EnableTriggers").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDEnableTriggers(connection: Handle, object: Name, parent: Name, options: u32) -> u32 {
    call(|| switch_triggers(connection, (object, parent), options, true))
}

fn switch_triggers(connection: Handle, (object, parent): (Name, Name), options: u32, is_on: bool) -> Result<()> {
    let (object, parent) = (object.text()?.unwrap_or_default(), parent.text()?.unwrap_or_default());
    if options != 0 {
        return refuse(ErrorCode::InvalidOption, "there are no options of triggers: give 0");
    }
    let scope = TriggerScope::of(&object, &parent, false)?;
    with_connection(connection, |session| {
        session.connection.switch_triggers(scope, is_on, &settings())
    })
}

/// Whether the triggers of an event are on for a table, which is named by the number of its object (`ADS_DD_TABLE_OBJ_ID`).
#[unsafe(no_mangle)]
pub extern "C" fn AdsAreTriggersEnabled(connection: Handle, table: i32, event: u8, answer: Out<u32>) -> u32 {
    call(|| {
        let event = u32::from(event);
        let event = numbered(TriggerEvent::from_number(event), event, "event of triggers")?;
        let is_on = with_connection(connection, |session| {
            session.connection.are_triggers_on(table.cast_unsigned(), event)
        })?;
        answer.set(is_on.into())
    })
}

/// Closes what the triggers of a table, or of all where the number is 0, have open for the next time.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloseCachedTrigStatements(connection: Handle, table: i32) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.close_trigger_statements(table.cast_unsigned())
        })
    })
}

/// Changes through the connection are not held to relations any more (SAP's help, "AdsDisableRI").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDisableRI(connection: Handle) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.keep_relations(false, &settings())
        })
    })
}

/// Changes through the connection are held to relations again (SAP's help, "AdsEnableRI").
#[unsafe(no_mangle)]
pub extern "C" fn AdsEnableRI(connection: Handle) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.keep_relations(true, &settings())
        })
    })
}

/// Looks whether all records that refer to others have some; the tables can be open for this alone.
#[unsafe(no_mangle)]
pub extern "C" fn AdsVerifyRI(connection: Handle, is_exclusive: u16) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.verify_relations(is_exclusive != 0, &settings())
        })
    })
}
