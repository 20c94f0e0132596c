//! Transactions.

use crate::call::call;
use crate::constants::AE_SUCCESS;
use crate::handle::{Handle, with_connection};
use crate::pointers::{Name, Out};
use crate::settings::settings;

/// Begins a transaction over the tables of a connection, or one within that which is under way.
#[unsafe(no_mangle)]
pub extern "C" fn AdsBeginTransaction(connection: Handle) -> u32 {
    call(|| with_connection(connection, |session| session.connection.begin_transaction(&settings())))
}

/// Brings what the transaction changed to the disk.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCommitTransaction(connection: Handle) -> u32 {
    call(|| with_connection(connection, |session| session.connection.commit_transaction()))
}

/// Takes back what the transaction changed.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRollbackTransaction(connection: Handle) -> u32 {
    call(|| with_connection(connection, |session| session.connection.rollback_transaction()))
}

/// Takes back what was changed since a savepoint, or without a name the whole transaction.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRollbackTransaction80(connection: Handle, savepoint: Name, _options: u32) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            match savepoint.text()?.filter(|name| !name.is_empty()) {
                Some(name) => session.connection.rollback_to_savepoint(&name),
                None => session.connection.rollback_transaction(),
            }
        })
    })
}

/// Sets a savepoint.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateSavepoint(connection: Handle, name: Name, _options: u32) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.create_savepoint(&name.needed()?)
        })
    })
}

/// Whether a transaction is under way.
#[unsafe(no_mangle)]
pub extern "C" fn AdsInTransaction(connection: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            answer.set(session.connection.is_in_transaction().into())
        })
    })
}

/// How many transactions of a connection are within each other.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTransactionCount(connection: Handle, answer: Out<u32>) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            answer.set(u32::try_from(session.connection.transaction_count()).unwrap_or(u32::MAX))
        })
    })
}

/// What a dead process left is brought into the tables whenever a folder is connected to.
#[unsafe(no_mangle)]
pub extern "C" fn AdsFailedTransactionRecovery(_server: Name) -> u32 {
    AE_SUCCESS
}
