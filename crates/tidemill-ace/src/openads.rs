//! Functions that ACE has not: those of OpenADS that mean something here, for programs that were written for it.
//!
//! They have OpenADS's parameters. Where ACE has a function of another name for the same thing, they are that one.

use std::sync::atomic::Ordering;

use tidemill_ads::ErrorCode;

use crate::call::{call, refuse};
use crate::constants::*;
use crate::dictionary::{
    AdsDDAddView, AdsDDGetProcedureProperty, AdsDDRemoveProcedure, AdsDDRemoveTrigger, AdsDDRemoveView,
    AdsDDSetProcedureProperty, add_procedure,
};
use crate::handle::{Handle, with_any, with_connection, with_order};
use crate::lock::{CYCLE_MS, RETRIES};
use crate::pointers::{Bytes, Name, Out};
use crate::table::AdsCopyTableContents;

/// Lets the handle of a table stand for an order, by its name: functions that move, seek and count go in that order then. Without a name
/// the handle stands for the table alone again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetIndexOrder(table: Handle, name: Name) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let name = name.text()?.unwrap_or_default();
            let order = match name.trim() {
                "" => None,
                name => Some(session.connection.area(area)?.order_named(name)?),
            };
            session.lead(area, order);
            Ok(())
        })
    })
}

/// As [`AdsSetIndexOrder`], by the order's handle; 0 is none.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetIndexOrderByHandle(table: Handle, index: Handle) -> u32 {
    call(|| {
        let led = match index {
            0 => None,
            index => Some(with_order(index, |session, area, order| {
                Ok((session.handle, area, order))
            })?),
        };
        with_any(table, |session, area, _| match led {
            Some((connection, its, _)) if (connection, its) != (session.handle, area) => {
                refuse(ErrorCode::InvalidIndexHandle, "the order is one of another table")
            }
            led => {
                session.lead(area, led.map(|(_, _, order)| order));
                Ok(())
            }
        })
    })
}

/// Forgets a savepoint and those after it; what was changed since stays.
#[unsafe(no_mangle)]
pub extern "C" fn AdsReleaseSavepoint(connection: Handle, name: Name) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.release_savepoint(&name.needed()?)
        })
    })
}

/// How often `AdsLockRecord` and `AdsLockTable` of the program ask again for what someone else holds. Default: 0.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetLockRetryCount(_connection: Handle, count: u16) -> u32 {
    RETRIES.store(count, Ordering::Relaxed);
    AE_SUCCESS
}

/// What [`AdsSetLockRetryCount`] has set.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLockRetryCount(_connection: Handle, answer: Out<u16>) -> u32 {
    call(|| answer.set(RETRIES.load(Ordering::Relaxed)))
}

/// How many milliseconds they wait before. Default: 100.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetLockCycle(_connection: Handle, milliseconds: u32) -> u32 {
    CYCLE_MS.store(milliseconds, Ordering::Relaxed);
    AE_SUCCESS
}

/// What [`AdsSetLockCycle`] has set.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLockCycle(_connection: Handle, answer: Out<u32>) -> u32 {
    call(|| answer.set(CYCLE_MS.load(Ordering::Relaxed)))
}

/// As [`AdsCopyTableContents`], whatever filters say.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCopyTableContent(from: Handle, to: Handle) -> u32 {
    AdsCopyTableContents(from, to, ADS_IGNOREFILTERS)
}

/// As [`AdsDDAddView`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateView(connection: Handle, name: Name, comment: Name, statement: Name) -> u32 {
    AdsDDAddView(connection, name, comment, statement)
}

/// As [`AdsDDRemoveView`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDropView(connection: Handle, name: Name) -> u32 {
    AdsDDRemoveView(connection, name)
}

/// As [`AdsDDAddProcedure`](crate::AdsDDAddProcedure); without a kind it is a function of a library.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateProcedure(
    connection: Handle,
    name: Name,
    container: Name,
    function: Name,
    kind: u32,
    input: Name,
    output: Name,
    comment: Name,
) -> u32 {
    call(|| {
        let container = container.text()?.unwrap_or_default();
        let kind = if kind == 0 { ADS_STORED_PROC } else { kind };
        add_procedure(connection, (name, function, comment), kind, &container, (input, output))
    })
}

/// As [`AdsDDRemoveProcedure`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDropProcedure(connection: Handle, name: Name) -> u32 {
    AdsDDRemoveProcedure(connection, name)
}

/// As [`AdsDDGetProcedureProperty`], with OpenADS's numbers of properties too; the length that it tells is without the NUL behind a text.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetProcProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    let property = of_procedure(property);
    match AdsDDGetProcedureProperty(connection, name, property, value, len) {
        AE_SUCCESS if property != ADS_DD_PROC_INVOKE_OPTION => call(|| len.set(len.get()?.saturating_sub(1))),
        code => code,
    }
}

/// As [`AdsDDSetProcedureProperty`], with OpenADS's numbers of properties too.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetProcProperty(connection: Handle, name: Name, property: u16, value: Bytes, len: u16) -> u32 {
    AdsDDSetProcedureProperty(connection, name, of_procedure(property), value, len)
}

/// ACE's number of a procedure's property that OpenADS numbers from 601 on.
fn of_procedure(property: u16) -> u16 {
    match property {
        601 => ADS_DD_PROC_INPUT,
        602 => ADS_DD_PROC_OUTPUT,
        603 => ADS_DD_PROC_DLL_NAME,
        604 => ADS_DD_PROC_DLL_FUNCTION_NAME,
        605 => ADS_DD_COMMENT,
        own => own,
    }
}

/// As [`AdsDDRemoveTrigger`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDropTrigger(connection: Handle, name: Name) -> u32 {
    AdsDDRemoveTrigger(connection, name)
}
