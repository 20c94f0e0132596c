//! Locks.

use crate::call::call;
use crate::connection::put_all;
use crate::handle::{Handle, with_area};
use crate::pointers::Out;

/// Locks a record; 0 is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsLockRecord(table: Handle, record: u32) -> u32 {
    call(|| with_area(table, |area| area.lock_record(record)))
}

/// Unlocks a record; 0 is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsUnlockRecord(table: Handle, record: u32) -> u32 {
    call(|| with_area(table, |area| area.unlock_record(record)))
}

/// Locks all records.
#[unsafe(no_mangle)]
pub extern "C" fn AdsLockTable(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.lock_table()))
}

/// Gives all locks back.
#[unsafe(no_mangle)]
pub extern "C" fn AdsUnlockTable(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.unlock_table()))
}

/// Whether this handle holds a record; 0 is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsRecordLocked(table: Handle, record: u32, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |area| answer.set(area.is_record_locked(record)?.into())))
}

/// Whether this handle has locked all records; not where it has the table alone.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsTableLocked(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |area| answer.set(area.is_table_locked().into())))
}

/// How many records this handle holds.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumLocks(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let count = area.locked_records().len();
            answer.set(u16::try_from(count).unwrap_or(u16::MAX))
        })
    })
}

/// The records that this handle holds.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetAllLocks(table: Handle, records: Out<u32>, len: Out<u16>) -> u32 {
    call(|| with_area(table, |area| put_all(&area.locked_records(), records, len)))
}
