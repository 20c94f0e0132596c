//! Functions that do nothing yet: each answers [`AE_FUNCTION_NOT_AVAILABLE`], so that a program loads and learns at the
//! call what it cannot have. None pretends success.
//!
//! To write a function, delete its line here and put the shim into the file of its kind. `tests/exports.rs` then says
//! what else names it.
//!
//! None of these looks at its arguments, so they are declared without parameters: on the C ABIs of Unix the caller puts
//! arguments where it likes and takes them away itself, and a function that takes none leaves them alone.
//!
//! What they would do is not here; `docs/ace/functions.md` lists them with every other function.

#![expect(
    unsafe_code,
    reason = "a symbol that C programs find by its name must have that very name"
)]
#![allow(non_snake_case, reason = "the names are those of the Advantage Client Engine")]

use crate::constants::AE_FUNCTION_NOT_AVAILABLE;

/// A function that does nothing yet.
#[derive(Debug, Clone, Copy)]
pub struct Unavailable {
    /// Its name, which is that of its symbol.
    pub name: &'static str,
    /// Why it does nothing.
    pub why: Why,
    /// The function.
    pub function: extern "C" fn() -> u32,
}

/// Why a function does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It comes later.
    Planned,
    /// Statements are not served yet.
    Sql,
    /// Dictionaries, their users and their rules are not served.
    Dictionary,
    /// Tables are not encrypted, and encrypted ones are not read.
    Encryption,
    /// Full text indexes are not served.
    FullText,
    /// It is exported for SAP's own components.
    Internal,
    /// It is exported, and nothing more is known of it.
    Unpublished,
    /// It handles things that only Windows has.
    Windows,
}

impl Why {
    /// The reason in a few words, as `functions.csv` has it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Planned => "not written yet",
            Self::Sql => "SQL is not served yet",
            Self::Dictionary => "data dictionaries are not served",
            Self::Encryption => "encryption is not served",
            Self::FullText => "full text indexes are not served",
            Self::Internal => "SAP's own components use it; nothing public says what it does",
            Self::Unpublished => "no public source gives its parameters",
            Self::Windows => "Windows only",
        }
    }
}

/// Makes the functions, and the list of them.
macro_rules! unavailable {
    ($($why:ident { $($name:ident)* })*) => {
        $($(
            #[doc = concat!("Answers [`AE_FUNCTION_NOT_AVAILABLE`] ([`Why::", stringify!($why), "`]).")]
            // SAFETY: no other function of the library has the name, and C reaches this one by it.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> u32 {
                AE_FUNCTION_NOT_AVAILABLE
            }
        )*)*

        /// Every function that does nothing yet.
        pub const UNAVAILABLE: &[Unavailable] = &[$($(
            Unavailable { name: stringify!($name), why: Why::$why, function: $name },
        )*)*];
    };
}

unavailable! {
    Planned {
        AdsAddCustomKey
        AdsAppendRecord
        AdsApplicationExit
        AdsAtBOF
        AdsAtEOF
        AdsBeginTransaction
        AdsBinaryToFile
        AdsBinaryToFileW
        AdsBuildRawKey
        AdsBuildRawKey100
        AdsCacheOpenCursors
        AdsCacheOpenTables
        AdsCacheRecords
        AdsCancelUpdate
        AdsCancelUpdate90
        AdsCheckExistence
        AdsClearAOF
        AdsClearAllScopes
        AdsClearCachePool
        AdsClearCallbackFunction
        AdsClearDefault
        AdsClearFilter
        AdsClearProgressCallback
        AdsClearRelation
        AdsClearSQLAbortFunc
        AdsClearScope
        AdsCloneTable
        AdsCloseAllIndexes
        AdsCloseAllTables
        AdsCloseCachedTables
        AdsCloseIndex
        AdsCloseTable
        AdsCommitTransaction
        AdsCompareBookmarks
        AdsConnect
        AdsConnect101
        AdsConnect26
        AdsConnect60
        AdsContinue
        AdsConvertTable
        AdsCopyTable
        AdsCopyTableContents
        AdsCopyTableStructure
        AdsCreateIndex
        AdsCreateIndex61
        AdsCreateIndex90
        AdsCreateSavepoint
        AdsCreateTable
        AdsCreateTable71
        AdsCreateTable90
        AdsCustomizeAOF
        AdsDeleteCustomKey
        AdsDeleteFile
        AdsDeleteIndex
        AdsDeleteRecord
        AdsDisableAutoIncEnforcement
        AdsDisableLocalConnections
        AdsDisableUniqueEnforcement
        AdsDisconnect
        AdsEnableAutoIncEnforcement
        AdsEnableUniqueEnforcement
        AdsEvalAOF
        AdsEvalAOF100
        AdsEvalLogicalExpr
        AdsEvalLogicalExprW
        AdsEvalNumericExpr
        AdsEvalStringExpr
        AdsEvalTestExpr
        AdsExtractKey
        AdsFailedTransactionRecovery
        AdsFileToBinary
        AdsFileToBinaryW
        AdsFindClose
        AdsFindConnection
        AdsFindConnection25
        AdsFindFirstTable
        AdsFindFirstTable62
        AdsFindNextTable
        AdsFindNextTable62
        AdsFindServers
        AdsFlushFileBuffers
        AdsGetAOF
        AdsGetAOF100
        AdsGetAOFOptLevel
        AdsGetAOFOptLevel100
        AdsGetActiveLinkInfo
        AdsGetAllIndexes
        AdsGetAllLocks
        AdsGetAllTables
        AdsGetBinary
        AdsGetBinaryLength
        AdsGetBookmark
        AdsGetBookmark60
        AdsGetBookmarkLength
        AdsGetCollation
        AdsGetCollationLang
        AdsGetConnectionPath
        AdsGetConnectionProperty
        AdsGetConnectionType
        AdsGetDataLength
        AdsGetDate
        AdsGetDateFormat
        AdsGetDateFormat60
        AdsGetDecimals
        AdsGetDefault
        AdsGetDeleted
        AdsGetDouble
        AdsGetEpoch
        AdsGetErrorString
        AdsGetExact
        AdsGetExact22
        AdsGetField
        AdsGetFieldDecimals
        AdsGetFieldLength
        AdsGetFieldLength100
        AdsGetFieldName
        AdsGetFieldNum
        AdsGetFieldOffset
        AdsGetFieldType
        AdsGetFieldW
        AdsGetFilter
        AdsGetHandleLong
        AdsGetHandleType
        AdsGetIndexCollation
        AdsGetIndexCondition
        AdsGetIndexExpr
        AdsGetIndexFilename
        AdsGetIndexHandle
        AdsGetIndexHandleByExpr
        AdsGetIndexHandleByOrder
        AdsGetIndexName
        AdsGetIndexOrderByHandle
        AdsGetIntProperty
        AdsGetJulian
        AdsGetKeyCount
        AdsGetKeyLength
        AdsGetKeyNum
        AdsGetKeyType
        AdsGetLastAutoinc
        AdsGetLastError
        AdsGetLastTableUpdate
        AdsGetLogical
        AdsGetLong
        AdsGetLongLong
        AdsGetMemoBlockSize
        AdsGetMemoDataType
        AdsGetMemoLength
        AdsGetMilliseconds
        AdsGetMoney
        AdsGetNumActiveLinks
        AdsGetNumFields
        AdsGetNumIndexes
        AdsGetNumLocks
        AdsGetNumOpenTables
        AdsGetRecord
        AdsGetRecordCRC
        AdsGetRecordCount
        AdsGetRecordLength
        AdsGetRecordNum
        AdsGetRelKeyPos
        AdsGetScope
        AdsGetSearchPath
        AdsGetServerName
        AdsGetServerTime
        AdsGetShort
        AdsGetString
        AdsGetStringW
        AdsGetTableAlias
        AdsGetTableCharType
        AdsGetTableCollation
        AdsGetTableConnection
        AdsGetTableFilename
        AdsGetTableHandle
        AdsGetTableHandle25
        AdsGetTableLockType
        AdsGetTableMemoSize
        AdsGetTableOpenOptions
        AdsGetTableRights
        AdsGetTableType
        AdsGetTime
        AdsGetTransactionCount
        AdsGetVersion
        AdsGotoBookmark
        AdsGotoBookmark60
        AdsGotoBottom
        AdsGotoRecord
        AdsGotoTop
        AdsInTransaction
        AdsInitRawKey
        AdsIsConnectionAlive
        AdsIsEmpty
        AdsIsExprValid
        AdsIsFieldBinary
        AdsIsFound
        AdsIsIndexCandidate
        AdsIsIndexCompound
        AdsIsIndexCustom
        AdsIsIndexDescending
        AdsIsIndexFTS
        AdsIsIndexNullable
        AdsIsIndexPrimaryKey
        AdsIsIndexUnique
        AdsIsIndexUserDefined
        AdsIsNull
        AdsIsNullable
        AdsIsRecordDeleted
        AdsIsRecordInAOF
        AdsIsRecordLocked
        AdsIsRecordVisible
        AdsIsServerLoaded
        AdsIsTableLocked
        AdsIsTableTransactionFree
        AdsLocate
        AdsLockRecord
        AdsLockTable
        AdsLookupKey
        AdsMgConnect
        AdsMgDisconnect
        AdsMgDumpInternalTables
        AdsMgGetActivityInfo
        AdsMgGetCommStats
        AdsMgGetConfigInfo
        AdsMgGetInstallInfo
        AdsMgGetLockOwner
        AdsMgGetLocks
        AdsMgGetOpenIndexes
        AdsMgGetOpenTables
        AdsMgGetServerType
        AdsMgGetUserNames
        AdsMgGetWorkerThreadActivity
        AdsMgKillUser
        AdsMgKillUser90
        AdsMgResetCommStats
        AdsNullTerminateStrings
        AdsOpenIndex
        AdsOpenTable
        AdsOpenTable101
        AdsOpenTable90
        AdsPackTable
        AdsPackTable120
        AdsReapUnusedConnections
        AdsRecallAllRecords
        AdsRecallRecord
        AdsRefreshAOF
        AdsRefreshRecord
        AdsRegisterCallbackFunction
        AdsRegisterCallbackFunction101
        AdsRegisterProgressCallback
        AdsRegisterSQLAbortFunc
        AdsRegisterUDF
        AdsReindex
        AdsReindex61
        AdsResetConnection
        AdsRestructureTable
        AdsRestructureTable120
        AdsRestructureTable90
        AdsRollbackTransaction
        AdsRollbackTransaction80
        AdsSeek
        AdsSeekLast
        AdsSetAOF
        AdsSetAOF100
        AdsSetBinary
        AdsSetCollation
        AdsSetCollationLang
        AdsSetDate
        AdsSetDateFormat
        AdsSetDateFormat60
        AdsSetDecimals
        AdsSetDefault
        AdsSetDouble
        AdsSetEmpty
        AdsSetEpoch
        AdsSetExact
        AdsSetExact22
        AdsSetField
        AdsSetFieldW
        AdsSetFilter
        AdsSetFilter100
        AdsSetHandleLong
        AdsSetIndexDirection
        AdsSetJulian
        AdsSetLogical
        AdsSetLong
        AdsSetLongLong
        AdsSetMilliseconds
        AdsSetMoney
        AdsSetNull
        AdsSetRecord
        AdsSetRelKeyPos
        AdsSetRelation
        AdsSetRightsChecking
        AdsSetScope
        AdsSetScopedRelation
        AdsSetSearchPath
        AdsSetServerType
        AdsSetShort
        AdsSetString
        AdsSetStringFromCodePage
        AdsSetStringW
        AdsSetTableTransactionFree
        AdsSetTime
        AdsSetTimeStamp
        AdsShowDeleted
        AdsShowError
        AdsSkip
        AdsSkipUnique
        AdsThreadExit
        AdsUnlockRecord
        AdsUnlockTable
        AdsWriteAllRecords
        AdsWriteRecord
        AdsZapTable
    }

    Sql {
        AdsCachePrepareSQL
        AdsCachePrepareSQLW
        AdsClearCursorAOF
        AdsClearSQLParams
        AdsCloseSQLStatement
        AdsCreateSQLStatement
        AdsExecuteSQL
        AdsExecuteSQLDirect
        AdsExecuteSQLDirectW
        AdsGetCursorAOF
        AdsGetKeyColumn
        AdsGetKeyFilter
        AdsGetNumParams
        AdsGetPreparedFields
        AdsGetSQLStatement
        AdsGetSQLStatementHandle
        AdsGetSQLStmtParams
        AdsPrepareSQL
        AdsPrepareSQLNow
        AdsPrepareSQLNowW
        AdsPrepareSQLW
        AdsRefreshView
        AdsRemoveSQLComments
        AdsSetBaseTableAccess
        AdsSetCursorAOF
        AdsSetSQLTimeout
        AdsSqlPeekStatement
        AdsStmtClearTablePasswords
        AdsStmtConstrainUpdates
        AdsStmtDisableEncryption
        AdsStmtEnableEncryption
        AdsStmtReadAllColumns
        AdsStmtSetTableCharType
        AdsStmtSetTableCollation
        AdsStmtSetTableLockType
        AdsStmtSetTablePassword
        AdsStmtSetTableReadOnly
        AdsStmtSetTableRights
        AdsStmtSetTableType
        AdsVerifySQL
        AdsVerifySQLW
    }

    Dictionary {
        AdsAreTriggersEnabled
        AdsCloseCachedTrigStatements
        AdsDDAddIndexFile
        AdsDDAddProcedure
        AdsDDAddProcedure100
        AdsDDAddTable
        AdsDDAddTable90
        AdsDDAddUserToGroup
        AdsDDAddView
        AdsDDAddView100
        AdsDDAutoCreateIndex
        AdsDDAutoCreateTable
        AdsDDClose
        AdsDDCreate
        AdsDDCreate101
        AdsDDCreateASA
        AdsDDCreateArticle
        AdsDDCreateArticle100
        AdsDDCreateFunction
        AdsDDCreateFunction100
        AdsDDCreateLink
        AdsDDCreatePackage
        AdsDDCreatePublication
        AdsDDCreateRefIntegrity
        AdsDDCreateRefIntegrity62
        AdsDDCreateSubscription
        AdsDDCreateTrigger
        AdsDDCreateTrigger100
        AdsDDCreateUser
        AdsDDCreateUserGroup
        AdsDDDeleteArticle
        AdsDDDeleteIndex
        AdsDDDeletePublication
        AdsDDDeleteSubscription
        AdsDDDeleteUser
        AdsDDDeleteUserGroup
        AdsDDDeployDatabase
        AdsDDDisableTriggers
        AdsDDDropFunction
        AdsDDDropLink
        AdsDDDropPackage
        AdsDDEnableTriggers
        AdsDDExecuteProcedure
        AdsDDFindClose
        AdsDDFindFirstObject
        AdsDDFindNextObject
        AdsDDFreeTable
        AdsDDGetArticleProperty
        AdsDDGetDatabaseProperty
        AdsDDGetFieldProperty
        AdsDDGetIndexFileProperty
        AdsDDGetIndexProperty
        AdsDDGetLinkProperty
        AdsDDGetObjectProperty
        AdsDDGetObjectProperty100
        AdsDDGetPermissions
        AdsDDGetProcInterfaceVersion
        AdsDDGetProcedureProperty
        AdsDDGetPublicationProperty
        AdsDDGetRefIntegrityProperty
        AdsDDGetSubscriptionProperty
        AdsDDGetTableProperty
        AdsDDGetTriggerProperty
        AdsDDGetUserGroupProperty
        AdsDDGetUserProperty
        AdsDDGetViewProperty
        AdsDDGrantPermission
        AdsDDModifyLink
        AdsDDMoveObjectFile
        AdsDDOpen
        AdsDDRemoveIndexFile
        AdsDDRemoveProcedure
        AdsDDRemoveRefIntegrity
        AdsDDRemoveTable
        AdsDDRemoveTrigger
        AdsDDRemoveUserFromGroup
        AdsDDRemoveView
        AdsDDRenameObject
        AdsDDRevokePermission
        AdsDDSetActiveDictionary
        AdsDDSetArticleProperty
        AdsDDSetDatabaseProperty
        AdsDDSetFieldProperty
        AdsDDSetIndexProperty
        AdsDDSetObjectAccessRights
        AdsDDSetObjectProperty
        AdsDDSetObjectProperty100
        AdsDDSetProcedureProperty
        AdsDDSetPublicationProperty
        AdsDDSetSubscriptionProperty
        AdsDDSetTableProperty
        AdsDDSetTriggerProperty
        AdsDDSetUserGroupProperty
        AdsDDSetUserProperty
        AdsDDSetViewProperty
        AdsDDVerifyUserRights
        AdsDisableRI
        AdsEnableRI
        AdsGetColumnPermissions
        AdsPerformRI
        AdsSetupRI
        AdsVerifyRI
    }

    Encryption {
        AdsDecryptRecord
        AdsDecryptTable
        AdsDisableEncryption
        AdsEnableEncryption
        AdsEncryptRecord
        AdsEncryptTable
        AdsIsEncryptionEnabled
        AdsIsRecordEncrypted
        AdsIsTableEncrypted
        AdsVerifyPassword
        ObsAdsDecryptBuffer
        ObsAdsEncryptBuffer
    }

    FullText {
        AdsCreateFTSIndex
        AdsGetFTSIndexInfo
        AdsGetFTSIndexInfoW
        AdsGetFTSIndexes
        AdsGetFTSScore
        AdsGetNumFTSIndexes
        AdsReindexFTS
    }

    Internal {
        AdsAccessVfpSystemField
        AdsActivateAOF
        AdsAddToAOF
        AdsBuildKeyFromRecord
        AdsClearLastError
        AdsClearRecordBuffer
        AdsConvertCodePageToUnicode
        AdsConvertDateToJulian
        AdsConvertJulianToString
        AdsConvertKeyToDouble
        AdsConvertMillisecondsToString
        AdsConvertStringToJulian
        AdsConvertStringToMilliseconds
        AdsConvertUnicodeToCodePage
        AdsCopyTableStructure81
        AdsCopyTableTop
        AdsCopyTableTop100
        AdsCreateCriticalSection
        AdsCreateMemTable
        AdsCreateMemTable90
        AdsDBFDateToString
        AdsDeactivateAOF
        AdsDeleteTable
        AdsEcho
        AdsEvalExpr
        AdsExpressionLongToShort
        AdsExpressionLongToShort100
        AdsExpressionLongToShort90
        AdsExpressionShortToLong
        AdsExpressionShortToLong90
        AdsExtractPathPart
        AdsFreeExpr
        AdsGetBaseFieldName
        AdsGetBaseFieldNum
        AdsGetFieldRaw
        AdsGetIndexFlags
        AdsGetIndexPageSize
        AdsGetNullRecord
        AdsGetNumSegments
        AdsGetROWIDPrefix
        AdsGetSegmentFieldNumbers
        AdsGetSegmentFieldname
        AdsGetSegmentOffset
        AdsGetTableWAN
        AdsGotoBOF
        AdsGotoEOF
        AdsIsIndexExprValid
        AdsIsSegmentDescending
        AdsLockRecordImplicitly
        AdsMemCompare
        AdsMemCompare90
        AdsMemICompare
        AdsMemICompare90
        AdsMemLwr
        AdsMemLwr90
        AdsMergeAOF
        AdsReadRecordNumbers
        AdsReadRecords
        AdsReleaseObject
        AdsSetBOFFlag
        AdsSetCollationSequence
        AdsSetFieldRaw
        AdsSetFlushFlag
        AdsSetInternalError
        AdsSetLastError
        AdsSetPacketSize
        AdsSetProperty
        AdsSetProperty90
        AdsSetTableCharType
        AdsSetTimeStampRaw
        AdsStepIndexKey
        AdsWaitForObject
    }

    Unpublished {
        AdsCloseFile
        AdsDDCreateASA101
        AdsDDGetTableOpenOptions
        AdsFreeTokenBuffer
        AdsGetConnectionHandle
        AdsGetDeleteStatementW
        AdsGetFieldCreationString
        AdsGetFilePosition
        AdsGetIndexInfo
        AdsGetInsertStatementW
        AdsGetLibraryVersion
        AdsGetMergeStatementW
        AdsGetRILookupInfo
        AdsGetRecordPointer
        AdsGetSelectStatementW
        AdsGetTableCreationString
        AdsGetUpdateStatementW
        AdsInitTokenBuffer
        AdsMakeNameUnique
        AdsOpenFileRaw
        AdsParseExpr
        AdsParseExpr100
        AdsPullTrigger
        AdsReadFile
        AdsSeekInFile
        AdsStmtGetCursorHandle
        AdsStmtGetNumParams
    }

    Windows {
        AdsImageToClipboard
        AdsImageToHBitmap
        AdsStmtSetOptimization
        AdsWriteMiniDump
    }
}
