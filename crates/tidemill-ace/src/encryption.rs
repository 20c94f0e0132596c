//! Encryption: nothing that is open here is encrypted, and nothing is encrypted here. What SAP's help says of tables of which that is true
//! holds; [`AdsEnableEncryption`](crate::unavailable::AdsEnableEncryption) alone would begin it.

use tidemill_ads::{ErrorCode, ObjectKind, Result};
use tidemill_xbase::OpenMode;

use crate::call::{call, refuse};
use crate::handle::{Handle, with_any, with_area};
use crate::pointers::{Name, Out};
use crate::statement::with_statement;

/// Turns the encryption of what is written off, which it always is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDisableEncryption(table: Handle) -> u32 {
    call(|| with_area(table, |_| Ok(())))
}

/// Decrypts the current record. One that is not encrypted is left as it is, which all are that can be read here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDecryptRecord(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.record_number().map(drop)))
}

/// Decrypts all records of a table that is open exclusively. Those that are not encrypted are skipped, which all are that can be read here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDecryptTable(table: Handle) -> u32 {
    call(|| alone(table))
}

/// Encrypts the current record by the password that was given before; none can be.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEncryptRecord(table: Handle) -> u32 {
    call(|| {
        with_area(table, |area| area.record_number().map(drop))?;
        not_enabled()
    })
}

/// Encrypts all records of a table by the password that was given before; none can be.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEncryptTable(table: Handle) -> u32 {
    call(|| {
        alone(table)?;
        not_enabled()
    })
}

/// Checks what both directions ask for: a table and no cursor, alone, outside of transactions (SAP's help, "AdsEncryptTable").
fn alone(table: Handle) -> Result<()> {
    with_any(table, |session, area, _| {
        let is_cursor = session.statement_of(area).is_some();
        let in_transaction = session.connection.is_in_transaction();
        let area = session.connection.area(area)?;
        let table = area.path().display();
        match () {
            () if is_cursor => refuse(
                ErrorCode::InvalidTableHandle,
                format!("{table}: a table is encrypted or decrypted by its own handle, and this is one of a cursor"),
            ),
            () if area.options().mode != OpenMode::Exclusive => refuse(
                ErrorCode::TableNotExclusive,
                format!("{table}: a table must be open exclusively to be encrypted or decrypted"),
            ),
            () if in_transaction => refuse(
                ErrorCode::IllegalCommandDuringTransaction,
                format!("{table}: no table is encrypted or decrypted in a transaction"),
            ),
            () => Ok(()),
        }
    })
}

fn not_enabled() -> Result<()> {
    refuse(
        ErrorCode::EncryptionNotEnabled,
        "no password was given to encrypt by: AdsEnableEncryption would take it, and is not available",
    )
}

/// Gives the password of a table that a statement uses. A dictionary has the passwords of its tables itself, so that what is given for one of
/// them is ignored (SAP's help, "AdsStmtSetTablePassword"); one of a free table is refused, as it would encrypt what the statement writes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtSetTablePassword(statement: Handle, table: Name, password: Name) -> u32 {
    call(|| {
        let (table, _) = (table.needed()?, password.needed()?);
        with_statement(statement, |statement| {
            let tables = statement.with_session(|session| match session.connection.has_dictionary() {
                true => session.connection.dictionary_objects(ObjectKind::Table, ""),
                false => Ok(Vec::new()),
            });
            match tables?.iter().any(|known| known.eq_ignore_ascii_case(table.trim())) {
                true => Ok(()),
                false => refuse(
                    ErrorCode::NotImplemented,
                    format!(
                        "{table}: encryption is not served, and the table is in no dictionary, where its password would be ignored"
                    ),
                ),
            }
        })
    })
}

/// Is obsolete.
#[unsafe(no_mangle)]
pub extern "C" fn AdsVerifyPassword(_table: Handle, _answer: Out<u16>) -> u32 {
    call(|| refuse(ErrorCode::ObsoleteFunction, "ask AdsIsEncryptionEnabled"))
}
