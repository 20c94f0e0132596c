//! Procedures that ADS's server alone has, or that something is missing for here: they are refused by name, each with its reason.

use crate::sql::error::{Error, Kind};

const BACKUP: &str =
    "ADS's server alone makes and reads backups, and its local server none: copy the files while nobody has them open";
const ONLINE: &str = "ADS's server alone does it while others have the table open: sp_PackTable and sp_Reindex do it for one who has it alone";
const ENCRYPTION: &str = "encryption is not served";
const REPLICATION: &str = "nothing is replicated here";

const REFUSED: &[(&str, &str)] = &[
    ("sp_BackupDatabase", BACKUP),
    ("sp_BackupFreeTables", BACKUP),
    ("sp_CancelQuery", "it is for queries of other users at a server"),
    ("sp_DecryptTable", ENCRYPTION),
    ("sp_DeleteReplicationEntry", REPLICATION),
    ("sp_EnableQueryLogging", "queries are not logged"),
    ("sp_EncryptTable", ENCRYPTION),
    ("sp_GetReplicationEntryDetails", REPLICATION),
    ("sp_PackAllTablesOnline", ONLINE),
    ("sp_PackTableOnline", ONLINE),
    ("sp_ProcessReplicationQueues", REPLICATION),
    ("sp_ReindexOnline", ONLINE),
    ("sp_RestoreDatabase", BACKUP),
    ("sp_RestoreFreeTables", BACKUP),
    ("sp_SetDDEncryptionType", ENCRYPTION),
    ("sp_TestReplicationConnection", REPLICATION),
];

/// Why a procedure does not run: it is one of these, or none at all.
pub(super) fn refusal(name: &str) -> Error {
    match REFUSED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((known, why)) => Error::new(Kind::Unsupported, format!("{known}: {why}")),
        None => Error::new(Kind::NoFunction, format!("Procedure not found: {name}")),
    }
}
