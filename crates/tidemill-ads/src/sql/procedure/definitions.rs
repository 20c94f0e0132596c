//! The procedures that there are: names, parameters and columns of their rows, as the help of ADS 12 has them. Those of `metadata` are as
//! clients have them.

/// A procedure: its name, what it takes and what it gives, both as in `AdsCreateTable`.
pub(super) type Definition = (&'static str, &'static str, &'static str);

const USER: &str = "UserName,Character,50;ConnNumber,Integer;DictionaryUser,Character,50;Address,Character,30;OSUserLoginName,Character,50;\
    TSAddress,Character,30";
const OPEN_TABLES: &str = "TableName,Character,255;LockType,Character,10;LockTypeValue,Integer";
const TOLD_EVENT: &str = "EventName,Character,200;EventCount,Integer;StringData,Memo";
const OPEN_INDEXES: &str = "IndexName,Character,255";
const LOCKS: &str = "LockedRecNo,Integer";
const ONE_TABLE: &str = "TableName,Character,515";
const NAMED_TABLE: &str = "TableName,Character,255";
const NAMED_USER: &str = "UserName,Character,200";
const INDEX: &str = "TableName,Character,515;FileName,Character,515;TagName,Character,128;Expression,Character,510;Condition,Character,510;\
    Options,Integer;PageSize,Integer";

/// The columns of `DatabaseMetaData.getImportedKeys`.
const IMPORTED_KEYS: &str = "PKTABLE_CAT,Character,200;PKTABLE_SCHEM,Character,200;PKTABLE_NAME,Character,255;PKCOLUMN_NAME,Character,200;\
    FKTABLE_CAT,Character,200;FKTABLE_SCHEM,Character,200;FKTABLE_NAME,Character,255;FKCOLUMN_NAME,Character,200;KEY_SEQ,ShortInt;\
    UPDATE_RULE,ShortInt;DELETE_RULE,ShortInt;FK_NAME,Character,200;PK_NAME,Character,200;DEFERRABILITY,ShortInt";
/// The same without DEFERRABILITY, and with the name of the relation.
const FOREIGN_KEY_COLUMNS: &str = "PKTABLE_CAT,Character,200;PKTABLE_SCHEM,Character,200;PKTABLE_NAME,Character,255;\
    PKCOLUMN_NAME,Character,200;FKTABLE_CAT,Character,200;FKTABLE_SCHEM,Character,200;FKTABLE_NAME,Character,255;\
    FKCOLUMN_NAME,Character,200;KEY_SEQ,ShortInt;UPDATE_RULE,ShortInt;DELETE_RULE,ShortInt;FK_NAME,Character,200;PK_NAME,Character,200;\
    NAME,Character,200";
const ASKED_TABLE: &str = "catalog,Character,200;schema,Character,200;table,Character,255";

/// What changes something, and gives no rows.
pub(super) const ACTIONS: &[Definition] = &[
    (
        "sp_AddIndexFileToDatabase",
        "TableName,Character,200;IndexFilePath,Character,515;Comment,Memo",
        "",
    ),
    (
        "sp_AddTableToDatabase",
        "TableName,Character,200;TablePath,Character,515;TableType,ShortInt;CharType,ShortInt;IndexFiles,Memo;Comment,Memo",
        "",
    ),
    ("sp_AddUserToGroup", "UserName,Character,50;GroupName,Character,100", ""),
    ("sp_BeginTransaction", "", ""),
    (
        "sp_ChangeCurrentUserPassword",
        "OldPassword,Character,20;NewPassword,Character,20",
        "",
    ),
    ("sp_CommitTransaction", "", ""),
    (
        "sp_CreateArticle",
        "PublicationName,Character,200;ObjectName,Character,200;IdentColumns,Memo;Filter,NMemo;Options,Integer",
        "",
    ),
    ("sp_CreateEvent", "EventName,Character,200;Options,Integer", ""),
    ("sp_CreateGroup", "GroupName,Character,100;Comment,Memo", ""),
    ("sp_CreateIndex", INDEX, ""),
    (
        "sp_CreateIndex90",
        "TableName,Character,515;FileName,Character,515;TagName,Character,128;Expression,Character,510;Condition,Character,510;\
         Options,Integer;PageSize,Integer;Collation,Character,50",
        "",
    ),
    (
        "sp_CreateLink",
        "Name,Character,200;Dictionary,Character,515;Global,Logical;StaticPath,Logical;AuthenticateActiveUser,Logical;\
         UserName,Character,50;Password,Character,20",
        "",
    ),
    (
        "sp_CreatePublication",
        "PublicationName,Character,200;Comments,Memo;Options,Integer",
        "",
    ),
    (
        "sp_CreateReferentialIntegrity",
        "Name,Character,200;PrimaryTable,Character,200;ForeignTable,Character,200;ForeignKey,Character,200;UpdateRule,ShortInt;\
         DeleteRule,ShortInt;FailTable,Character,515;PrimaryKeyError,Memo;CascadeError,Memo",
        "",
    ),
    ("sp_CreateSavepoint", "Name,Character,128", ""),
    (
        "sp_CreateSubscription",
        "SubscriptionName,Character,200;PublicationName,Character,200;Target,Character,260;UserName,Character,50;\
         Password,Character,20;ReplicationQueue,Character,260;Forward,Logical;Comments,Memo;Options,Integer",
        "",
    ),
    (
        "sp_CreateUser",
        "UserName,Character,50;Password,Character,20;Comment,Memo",
        "",
    ),
    ("sp_DisableQueryLogging", "", ""),
    (
        "sp_DisableTriggers",
        "ObjectName,Character,200;Parent,Character,200;AllUsers,Logical;Options,Integer",
        "",
    ),
    ("sp_DropAllEvents", "Options,Integer", ""),
    (
        "sp_DropArticle",
        "PublicationName,Character,200;ObjectName,Character,200",
        "",
    ),
    ("sp_DropEvent", "EventName,Character,200;Options,Integer", ""),
    ("sp_DropGroup", "GroupName,Character,100", ""),
    ("sp_DropLink", "Name,Character,515;Global,Logical", ""),
    ("sp_DropPublication", "PublicationName,Character,200", ""),
    ("sp_DropReferentialIntegrity", "Name,Character,200", ""),
    ("sp_DropSubscription", "SubscriptionName,Character,200", ""),
    ("sp_DropUser", "UserName,Character,50", ""),
    (
        "sp_EnableTriggers",
        "ObjectName,Character,200;Parent,Character,200;AllUsers,Logical;Options,Integer",
        "",
    ),
    (
        "sp_IgnoreTableTransactions",
        "TableName,Character,515;IgnoreTransactions,Logical",
        "",
    ),
    ("sp_mgKillUser", NAMED_USER, ""),
    (
        "sp_ModifyArticleProperty",
        "PublicationName,Character,200;ObjectName,Character,200;Property,Character,200;Value,Memo",
        "",
    ),
    ("sp_ModifyDatabase", "Property,Character,200;Value,Memo", ""),
    (
        "sp_ModifyFieldProperty",
        "TableName,Character,200;FieldName,Character,200;Property,Character,200;Value,Memo;ValidationOption,Character,25;\
         FailTable,Character,515",
        "",
    ),
    (
        "sp_ModifyIndexProperty",
        "TableName,Character,200;IndexName,Character,200;Property,Character,200;Value,Memo",
        "",
    ),
    (
        "sp_ModifyTableProperty",
        "TableName,Character,200;Property,Character,200;Value,Memo;ValidationOption,Character,25;FailTable,Character,515",
        "",
    ),
    (
        "sp_ModifyGroupProperty",
        "GroupName,Character,100;Property,Character,200;Value,Memo",
        "",
    ),
    (
        "sp_ModifyLink",
        "Name,Character,200;Dictionary,Character,515;StaticPath,Logical;AuthenticateActiveUser,Logical;UserName,Character,50;\
         Password,Character,20",
        "",
    ),
    (
        "sp_ModifyProcedureProperty",
        "ProcName,Character,200;Property,Character,200;Value,Memo",
        "",
    ),
    (
        "sp_ModifyPublicationProperty",
        "PublicationName,Character,200;Property,Character,200;Value,Memo",
        "",
    ),
    (
        "sp_ModifySubscriptionProperty",
        "SubscriptionName,Character,200;Property,Character,200;Value,Memo",
        "",
    ),
    (
        "sp_ModifyUserProperty",
        "UserName,Character,50;Property,Character,200;Value,Memo",
        "",
    ),
    (
        "sp_ModifyViewProperty",
        "ViewName,Character,200;Property,Character,200;Value,Memo",
        "",
    ),
    (
        "sp_MoveDDObjectFile",
        "ObjectType,Integer;ObjectName,Character,200;NewFilePath,Character,260;IndexFiles,Memo;Parent,Character,260;Options,Integer",
        "",
    ),
    ("sp_mgResetCommStats", "", ""),
    (
        "sp_SignalEvent",
        "EventName,Character,200;WaitForCommit,Logical;Options,Integer;EventData,Memo",
        "",
    ),
    ("sp_PackTable", ONE_TABLE, ""),
    ("sp_Reindex", "TableName,Character,515;PageSize,Integer", ""),
    (
        "sp_RemoveIndexFile",
        "TableName,Character,200;IndexFileName,Character,200;DeleteFile,Logical",
        "",
    ),
    (
        "sp_RenameDDObject",
        "ObjectName,Character,200;NewObjectName,Character,200;ObjectType,Integer;Options,Integer",
        "",
    ),
    (
        "sp_RemoveUserFromGroup",
        "UserName,Character,50;GroupName,Character,100",
        "",
    ),
    ("sp_RollbackTransaction", "", ""),
    (
        "sp_RollbackTransaction80",
        "Savepoint,Character,128;Options,Integer",
        "",
    ),
    ("sp_SetApplicationID", "ApplicationID,Memo", ""),
    ("sp_SetRequestPriority", "Priority,Memo", ""),
    ("sp_SetStatementLimit", "Limit,Integer", ""),
    ("sp_ZapTable", ONE_TABLE, ""),
];

/// What gives rows.
pub(super) const ANSWERS: &[Definition] = &[
    (
        "sp_AllowMultipleCollations",
        "Pattern,Character,100;AllowMultiple,Logical",
        "Result,Character,100",
    ),
    ("sp_GetApplicationID", "", "ApplicationID,Memo"),
    (
        "sp_GetBestRowIdentifier",
        "catalog,Character,200;schema,Character,200;table,Character,255;scope,ShortInt;nullable,Logical",
        "SCOPE,ShortInt;COLUMN_NAME,Character,200;DATA_TYPE,ShortInt;TYPE_NAME,Character,20;COLUMN_SIZE,Integer;BUFFER_LENGTH,Integer;\
         DECIMAL_DIGITS,ShortInt;PSEUDO_COLUMN,ShortInt",
    ),
    ("sp_GetCatalogs", "", "TABLE_CAT,Character,200"),
    (
        "sp_GetCollations",
        "Pattern,Character,100",
        "Name,Character,100;ShortName,Character,8;Description,Memo;Version,Integer;CodePage,Integer;FoxCompat,Logical;\
         UnicodeLocale,Character,16;AllowMultiple,Logical",
    ),
    (
        "sp_GetCollationTable",
        "Name,Character,100;ShortName,Character,8;CodePage,Integer",
        "CollationID,Integer;Name,Character,100;ShortName,Character,8;Version,Integer;CodePage,Integer;CE,Binary;Upper,Binary;\
         Lower,Binary;NumContractions,Integer;Contractions,Binary;AllowMultiple,Logical",
    ),
    (
        "sp_GetColumns",
        "catalog,Character,200;schemaPattern,Character,200;tableNamePattern,Character,255;columnNamePattern,Character,200",
        "TABLE_CAT,Character,200;TABLE_SCHEM,Character,200;TABLE_NAME,Character,255;COLUMN_NAME,Character,200;DATA_TYPE,ShortInt;\
         TYPE_NAME,Character,20;COLUMN_SIZE,Integer;BUFFER_LENGTH,Integer;DECIMAL_DIGITS,ShortInt;NUM_PREC_RADIX,Integer;\
         NULLABLE,ShortInt;REMARKS,Memo;COLUMN_DEF,Memo;SQL_DATA_TYPE,Integer;SQL_DATETIME_SUB,Integer;CHAR_OCTET_LENGTH,Integer;\
         ORDINAL_POSITION,Integer;IS_NULLABLE,Character,4;NOCPTRANS,ShortInt",
    ),
    (
        "sp_GetForeignKeyColumns",
        "catalog,Character,200;schema,Character,200;table,Character,255;name,Character,200",
        FOREIGN_KEY_COLUMNS,
    ),
    ("sp_GetImportedKeys", ASKED_TABLE, IMPORTED_KEYS),
    (
        "sp_GetIndexInfo",
        "catalog,Character,200;schema,Character,200;table,Character,255;unique,Logical;approximate,Logical",
        "TABLE_CAT,Character,200;TABLE_SCHEM,Character,200;TABLE_NAME,Character,255;NON_UNIQUE,Logical;INDEX_QUALIFIER,Character,200;\
         INDEX_NAME,Character,200;TYPE,ShortInt;ORDINAL_POSITION,ShortInt;COLUMN_NAME,Character,200;ASC_OR_DESC,Character,1;\
         CARDINALITY,Integer;PAGES,Integer;FILTER_CONDITION,Memo",
    ),
    ("sp_GetLinks", "", "LinkAlias,Character,200;Path,Character,260"),
    (
        "sp_GetPrimaryKeys",
        ASKED_TABLE,
        "TABLE_CAT,Character,200;TABLE_SCHEM,Character,200;TABLE_NAME,Character,255;COLUMN_NAME,Character,200;KEY_SEQ,ShortInt;\
         PK_NAME,Character,200",
    ),
    (
        "sp_GetProcedureColumns",
        "catalog,Character,200;schemaPattern,Character,200;procedureNamePattern,Character,200;columnNamePattern,Character,200",
        "PROCEDURE_CAT,Character,200;PROCEDURE_SCHEM,Character,200;PROCEDURE_NAME,Character,200;COLUMN_NAME,Character,200;\
         COLUMN_TYPE,ShortInt;DATA_TYPE,ShortInt;TYPE_NAME,Character,20;PRECISION,Integer;LENGTH,Integer;SCALE,ShortInt;\
         RADIX,ShortInt;NULLABLE,ShortInt;REMARKS,Memo",
    ),
    (
        "sp_GetProcedures",
        "catalog,Character,200;schemaPattern,Character,200;procedureNamePattern,Character,200",
        "PROCEDURE_CAT,Character,200;PROCEDURE_SCHEM,Character,200;PROCEDURE_NAME,Character,200;NUM_INPUT_PARAMS,Integer;\
         NUM_OUTPUT_PARAMS,Integer;NUM_RESULT_SETS,Integer;REMARKS,Memo;PROCEDURE_TYPE,ShortInt",
    ),
    (
        "sp_GetQueryLoggingResults",
        "EncryptionPassword,Character,255",
        "ID,Integer;Start Time,Timestamp;Optimized,Logical;Return Code,Integer;Rows Affected,Integer;End Time,Timestamp;Run Time,Double;\
         Database,Character,255;User Name,Character,100;Connection Name,Character,100;Application ID,Memo;Query,Memo",
    ),
    (
        "sp_GetRecordCRC",
        "TableName,Character,256;RecordNumber,Integer",
        "CRCInteger,Integer;CRCString,Character,12",
    ),
    (
        "sp_GetSecurityInfo",
        "",
        "FIPSMode,Logical;EncryptionType,Character,10;DictionaryEncrypted,Logical;CommType,Character,10;TLSCipher,Character,20;\
         TLSVersion,Character,20",
    ),
    ("sp_GetSQLKeywords", "", "Keyword,Character,50"),
    (
        "sp_GetSQLStatements",
        "",
        "Query Number,Integer;Active,Logical;Percent Complete,Double;Connection Name,Character,100;Database User,Character,100;\
         Database,Character,255;Query,Memo;Is Script,Logical;Full Script,Memo;Start Time,Time;Seconds Until Finished,Integer;\
         ApplicationID,Character,70",
    ),
    ("sp_GetTableEncryptionType", ONE_TABLE, "EncryptionType,Character,10"),
    (
        "sp_GetTables",
        "catalog,Character,200;schemaPattern,Character,200;tableNamePattern,Character,255;Types,Memo",
        "TABLE_CAT,Character,200;TABLE_SCHEM,Character,200;TABLE_NAME,Character,255;TABLE_TYPE,Character,17;REMARKS,Memo",
    ),
    (
        "sp_GetTableSizeInfo",
        ONE_TABLE,
        "TableHeaderSize,Integer;RecordLength,Integer;RawRecordCount,Integer;DeletedRecordCount,Integer;MemoHeaderSize,Integer;\
         MemoBlockSize,Integer;MemoBlockCount,Integer",
    ),
    (
        "sp_mgGetActivityInfo",
        "",
        "Operations,Integer;LoggedErrors,Integer;UpTime,Character,50;EQThreshold,Integer;EQActiveThreads,Integer;EQOperations,Integer",
    ),
    ("sp_mgGetAllIndexes", "", OPEN_INDEXES),
    ("sp_mgGetAllLocks", NAMED_TABLE, LOCKS),
    ("sp_mgGetAllTables", "", OPEN_TABLES),
    (
        "sp_mgGetCommStats",
        "",
        "PercentCheckSums,Double;TotalPackets,Integer;RcvPktOutOfSeq,Integer;NotLoggedIn,Integer;RcvReqOutOfSeq,Integer;\
         CheckSumFailures,Integer;DisconnectedUsers,Integer;PartialConnects,Integer;InvalidPackets,Integer;RcvFromErrors,Integer;\
         SendToErrors,Integer",
    ),
    ("sp_mgGetConfigInfo", "", "Item,Character,30;Value,Character,260"),
    (
        "sp_mgGetConfigMemory",
        "",
        "Item,Character,30;Value,Integer;Memory,Integer",
    ),
    (
        "sp_mgGetConnectedUsers",
        "",
        "UserName,Character,50;ConnNumber,Integer;DictionaryUser,Character,50;Address,Character,30;OSUserLoginName,Character,50;\
         TSAddress,Character,30;ApplicationID,Character,70;AverageCost,Integer",
    ),
    (
        "sp_mgGetCrashDumpInfo",
        "",
        "CrashDumpName,Character,260;CreationTime,Timestamp;FileSize,Integer",
    ),
    (
        "sp_mgGetErrorLog",
        "MaxAdtEntries,Integer;MaxDbfEntries,Integer",
        "Error_Number,Integer;DateTime,Timestamp;Error_Code,Integer;Ads_Source,Character,50;src_Line,Integer;FileName,Memo",
    ),
    ("sp_mgGetIndexUsers", "IndexName,Character,255", USER),
    (
        "sp_mgGetInstallInfo",
        "",
        "Owner,Character,80;SerialNumber,Character,20;UserOption,Integer;Version,Character,16;InstallDate,Character,16;\
         EvalExpireDate,Character,16;ANSI,Character,30;OEM,Character,30;ReplicationEnabled,Logical;MaxStatefulUsers,Integer;\
         MaxStatelessUsers,Integer",
    ),
    (
        "sp_mgGetLockOwner",
        "TableName,Character,255;RecordNumber,Integer",
        "UserName,Character,50;ConnNumber,Integer;DictionaryUser,Character,50;Address,Character,30;LockType,Character,20;\
         OSUserLoginName,Character,50;TSAddress,Character,30",
    ),
    (
        "sp_mgGetServerType",
        "",
        "ServerType,Character,30;ServerTypeValue,Integer;OSMajor,Integer;OSMinor,Integer",
    ),
    ("sp_mgGetTableIndexes", NAMED_TABLE, OPEN_INDEXES),
    ("sp_mgGetTableUsers", NAMED_TABLE, USER),
    (
        "sp_mgGetUsageInfo",
        "",
        "Item,Character,30;InUse,Integer;MaxUsed,Integer;Configured,Integer;Rejected,Integer",
    ),
    ("sp_mgGetUserIndexes", NAMED_USER, OPEN_INDEXES),
    (
        "sp_mgGetUserLocks",
        "TableName,Character,255;UserName,Character,200",
        LOCKS,
    ),
    ("sp_mgGetUserTables", NAMED_USER, OPEN_TABLES),
    (
        "sp_mgGetWorkerThreadActivity",
        "",
        "ThreadNumber,Integer;OpCode,Character,30;UserName,Character,50;ConnNumber,Integer;OSUserLoginName,Character,50",
    ),
    (
        "sp_mgSetConfigValue",
        "Setting,Character,30;Value,Character,256",
        "OldValue,Character,256;Result,Integer;ResultText,Character,100",
    ),
    ("sp_ViewQueryLogging", "", "Database,Character,260;Table,Character,260"),
    (
        "sp_WaitForAnyEvent",
        "Timeout,Integer;PollInterval,Integer;Options,Integer",
        TOLD_EVENT,
    ),
    (
        "sp_WaitForEvent",
        "EventName,Character,200;Timeout,Integer;PollInterval,Integer;Options,Integer",
        TOLD_EVENT,
    ),
];

/// Reserved keywords of ADS SQL ("Reserved Keywords" in its help).
pub(super) const KEYWORDS: &str = "ADD ALL ALTER AND ANY AS ASC AT AVG BEGIN BETWEEN BY CASE CAST CLOSE COLUMN COMMIT CONSTRAINT CONVERT COUNT \
    CREATE CURSOR DECLARE DEFAULT DELETE DESC DISTINCT DROP ELSE END ESCAPE EXECUTE EXISTS FALSE FETCH FROM FULL FUNCTION GRANT GROUP \
    HAVING IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE MATCHED MAX MERGE MIN NOT NULL OF ON OPEN OR ORDER OUTER OUTPUT PRIMARY \
    PROCEDURE RETURN RETURNS REVOKE RIGHT ROLLBACK SAVEPOINT SELECT SET SQL SUM TABLE THEN TO TRANSACTION TRIGGER TRUE UNION UNIQUE \
    UPDATE USER USING VALUES VARCHAR VIEW WHEN WHERE WORK";
