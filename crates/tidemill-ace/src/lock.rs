//! Locks.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use tidemill_ads::{ErrorCode, Result, WorkArea};

use crate::call::call;
use crate::connection::put_all;
use crate::handle::{Handle, with_area};
use crate::pointers::Out;

/// Locks a record; 0 is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsLockRecord(table: Handle, record: u32) -> u32 {
    call(|| patiently(table, |area| area.lock_record(record)))
}

/// Unlocks a record; 0 is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsUnlockRecord(table: Handle, record: u32) -> u32 {
    call(|| with_area(table, |area| area.unlock_record(record)))
}

/// Locks all records.
#[unsafe(no_mangle)]
pub extern "C" fn AdsLockTable(table: Handle) -> u32 {
    call(|| patiently(table, WorkArea::lock_table))
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

/// Asks for a lock, and as often again as [`AdsSetLockRetryCount`](crate::AdsSetLockRetryCount) says while someone else holds it. Nothing
/// of the connection waits meanwhile.
fn patiently(table: Handle, mut lock: impl FnMut(&mut WorkArea) -> Result<()>) -> Result<()> {
    for _ in 0..RETRIES.load(Ordering::Relaxed) {
        match with_area(table, &mut lock) {
            Err(error) if error.code() == ErrorCode::LockFailed => {}
            told => return told,
        }
        sleep(Duration::from_millis(CYCLE_MS.load(Ordering::Relaxed).into()));
    }
    with_area(table, lock)
}

/// How often a lock is asked for again that someone else holds: never, as in ACE, until a program says otherwise.
pub(crate) static RETRIES: AtomicU16 = AtomicU16::new(0);

/// How long is waited before.
pub(crate) static CYCLE_MS: AtomicU32 = AtomicU32::new(100);
