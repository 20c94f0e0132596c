//! Records: appended, written, deleted, read whole.

use crate::call::{call, refuse};
use crate::constants::{ADS_CRC_IGNOREMEMOPAGES, AE_SUCCESS};
use crate::handle::{Handle, is_statement, with_any, with_area};
use crate::pointers::{Bytes, Out};
use crate::statement::with_statement;

use tidemill_ads::ErrorCode;

/// Appends a blank record and goes to it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsAppendRecord(table: Handle) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            session.connection.append(area, session.settings.now()).map(drop)
        })
    })
}

/// Writes what was changed in the current record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsWriteRecord(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.write_record()))
}

/// Forgets what was changed in the current record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCancelUpdate(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.cancel_update()))
}

/// As [`AdsCancelUpdate`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsCancelUpdate90(table: Handle, _options: u32) -> u32 {
    AdsCancelUpdate(table)
}

/// Marks the current record as deleted.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDeleteRecord(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.set_deleted(true)))
}

/// Takes the mark of deletion from the current record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRecallRecord(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.set_deleted(false)))
}

/// Takes the mark of deletion from every record.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRecallAllRecords(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.recall_all()))
}

/// Whether the current record is marked as deleted.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsRecordDeleted(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |area| answer.set(area.is_deleted()?.into())))
}

/// Whether the current record is shown by filters, and for an order by its condition and scope.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsRecordVisible(object: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_any(object, |session, area, order| {
            let (area, settings) = (session.connection.area(area)?, session.settings.now());
            answer.set(area.is_visible(order, settings)?.into())
        })
    })
}

/// Reads the current record anew, and forgets what was changed in it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRefreshRecord(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.refresh_record()))
}

/// The bytes of the current record, the deletion flag first.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetRecord(table: Handle, record: Bytes, len: Out<u32>) -> u32 {
    call(|| with_area(table, |area| record.put(area.record_bytes()?, len)))
}

/// Replaces the bytes of the current record, but for the deletion flag and memos.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetRecord(table: Handle, record: Bytes, len: u32) -> u32 {
    call(|| with_area(table, |area| area.set_record(record.read(len as usize)?)))
}

/// The bytes of a record without values, as an append makes it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNullRecord(table: Handle, record: Bytes, len: u32) -> u32 {
    call(|| {
        with_area(table, |area| {
            let blank = area.blank_record();
            if blank.len() > len as usize {
                let what = format!("a record has {} bytes, and there is room for {len}", blank.len());
                return refuse(ErrorCode::InsufficientBuffer, what);
            }
            record.write(&blank, blank.len())
        })
    })
}

/// As [`AdsGetNullRecord`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearRecordBuffer(table: Handle, record: Bytes, len: u32) -> u32 {
    AdsGetNullRecord(table, record, len)
}

/// A check sum of the current record, with its memos unless the options leave them out: the same for the same values, and not
/// the number that SAP's library gives.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetRecordCRC(table: Handle, answer: Out<u32>, options: u32) -> u32 {
    call(|| {
        let with_memos = options & u32::from(ADS_CRC_IGNOREMEMOPAGES) == 0;
        with_area(table, |area| answer.set(area.check_sum(with_memos)?))
    })
}

/// The length of a record in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetRecordLength(table: Handle, answer: Out<u32>) -> u32 {
    call(|| with_area(table, |area| answer.set(area.record_len())))
}

/// Brings what was written to the disk.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFlushFileBuffers(table: Handle) -> u32 {
    call(|| with_area(table, |area| Ok(area.editor()?.sync()?)))
}

/// How many records to read ahead: nothing depends on it here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCacheRecords(table: Handle, _records: u16) -> u32 {
    call(|| with_area(table, |_| Ok(())))
}

/// How many closed tables to keep open: none here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCacheOpenTables(_tables: u16) -> u32 {
    AE_SUCCESS
}

/// Whether the current record is encrypted: no table that opens has such.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsRecordEncrypted(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |_| answer.set(0)))
}

/// Whether a table is encrypted: none that opens is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsTableEncrypted(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |_| answer.set(0)))
}

/// Whether records are encrypted as they are written: never.
#[unsafe(no_mangle)]
pub extern "C" fn AdsIsEncryptionEnabled(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |_| answer.set(0)))
}

/// The value that the last record appended through a table or a statement has in an autoincrement field; 0 for none.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetLastAutoinc(table: Handle, answer: Out<u32>) -> u32 {
    call(|| match is_statement(table) {
        true => with_statement(table, |statement| answer.set(statement.last_autoincrement)),
        false => with_area(table, |area| answer.set(area.last_autoincrement())),
    })
}
