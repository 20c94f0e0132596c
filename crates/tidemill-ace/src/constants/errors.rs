//! Error codes, and a text for each.
//!
//! The codes are the SDK's. The texts are Tidemill's own: programs compare codes, people read texts.

/// Makes the constants and their table, which is in the order of the codes.
macro_rules! errors {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        $(#[doc = concat!($code, ": ", $text, ".")] pub const $name: u32 = $code;)*

        /// Every error, in the order of the codes.
        pub(crate) const ERRORS: &[ErrorCode] = &[$(ErrorCode { code: $code, name: stringify!($name), text: $text }),*];
    };
}

/// An error code with its name and its text.
pub(crate) struct ErrorCode {
    pub(crate) code: u32,
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// What a code means, in a few words without a period; nothing for a code that is not known.
pub fn error_text(code: u32) -> Option<&'static str> {
    match ERRORS.binary_search_by_key(&code, |error| error.code) {
        Ok(at) => ERRORS.get(at).map(|error| error.text),
        Err(_) => SERVER.iter().find(|(known, _)| *known == code).map(|(_, text)| *text),
    }
}

/// Codes of the server, which the SDK has no names for, as far as they are given here.
const SERVER: &[(u32, &str)] = &[
    (1024, "the lock for appending a record was not to be had"),
    (6619, "the library is at work for this thread"),
    (7004, "the operating system refused to work on a file"),
    (7008, "others have the file open"),
    (7057, "another record has the key"),
    (7059, "two records have one key"),
    (7089, "the making of an index was stopped"),
    (7090, "the copy was stopped"),
];

/// 5158, the newer name of [`AE_INVALID_OBJECT_RIGHT`].
pub const AE_INVALID_OBJECT_PERMISSION: u32 = AE_INVALID_OBJECT_RIGHT;

/// 5042, Tidemill's name of [`AE_NOT_IMPLEMENTED`]: the answer of every function that does nothing yet.
///
/// The SDK has no constant of this name. OpenADS has, with the value 5004, which is [`AE_FILE_NOT_FOUND`] in the SDK: a
/// program would believe that a file lacks.
pub const AE_FUNCTION_NOT_AVAILABLE: u32 = AE_NOT_IMPLEMENTED;

/// Second names of error codes.
pub(crate) const ALIASES: &[(&str, i64)] = &[
    ("AE_INVALID_OBJECT_PERMISSION", AE_INVALID_OBJECT_PERMISSION as i64),
    ("AE_FUNCTION_NOT_AVAILABLE", AE_FUNCTION_NOT_AVAILABLE as i64),
];

errors! {
    AE_SUCCESS = 0, "the call did what it was asked to do";
    AE_ALLOCATION_FAILED = 5001, "not enough memory";
    AE_COMM_MISMATCH = 5002, "client and server speak different versions of their protocol";
    AE_DATA_TOO_LONG = 5003, "the value is longer than the field that is to hold it";
    AE_FILE_NOT_FOUND = 5004, "the file does not exist";
    AE_INSUFFICIENT_BUFFER = 5005, "the buffer is too small for the answer";
    AE_INVALID_BOOKMARK = 5006, "the bookmark does not name a record of this table";
    AE_INVALID_CALLBACK = 5007, "the callback function is not valid";
    AE_INVALID_CENTURY = 5008, "the setting of the century is not valid";
    AE_INVALID_DATEFORMAT = 5009, "the date format is not valid";
    AE_INVALID_DECIMALS = 5010, "the number of decimals is not valid";
    AE_INVALID_EXPRESSION = 5011, "the expression is not valid";
    AE_INVALID_FIELDDEF = 5012, "the definition of the fields is not valid";
    AE_INVALID_FILTER_OPTION = 5013, "the filter option is not valid";
    AE_INVALID_INDEX_HANDLE = 5014, "the handle is not one of an index";
    AE_INVALID_INDEX_NAME = 5015, "the name of the index is not valid";
    AE_INVALID_INDEX_ORDER_NAME = 5016, "the name of the index order is not valid";
    AE_INVALID_INDEX_TYPE = 5017, "the kind of index is not valid";
    AE_INVALID_HANDLE = 5018, "the handle is not valid";
    AE_INVALID_OPTION = 5019, "the option is not valid";
    AE_INVALID_PATH = 5020, "the path is not valid";
    AE_INVALID_POINTER = 5021, "a pointer that must point to something is null";
    AE_INVALID_RECORD_NUMBER = 5022, "the record number is not one of the table";
    AE_INVALID_TABLE_HANDLE = 5023, "the handle is not one of a table";
    AE_INVALID_CONNECTION_HANDLE = 5024, "the handle is not one of a connection";
    AE_INVALID_TABLETYPE = 5025, "the table type is not valid";
    AE_INVALID_WORKAREA = 5026, "the work area is not valid";
    AE_INVALID_CHARSETTYPE = 5027, "the character type is not valid";
    AE_INVALID_LOCKTYPE = 5028, "the locking mode is not valid";
    AE_INVALID_RIGHTSOPTION = 5029, "the option for checking rights is not valid";
    AE_INVALID_FIELDNUMBER = 5030, "the table has no field of this number";
    AE_INVALID_KEY_LENGTH = 5031, "the length of the key is not valid";
    AE_INVALID_FIELDNAME = 5032, "the table has no field of this name";
    AE_NO_DRIVE_CONNECTION = 5033, "the drive has no connection";
    AE_FILE_NOT_ON_SERVER = 5034, "the file is not on the server";
    AE_LOCK_FAILED = 5035, "the lock is held by someone else";
    AE_NO_CONNECTION = 5036, "there is no connection";
    AE_NO_FILTER = 5037, "no filter is set";
    AE_NO_SCOPE = 5038, "no scope is set";
    AE_NO_TABLE = 5039, "no table is open";
    AE_NO_WORKAREA = 5040, "there is no work area";
    AE_NOT_FOUND = 5041, "what was sought does not exist";
    AE_NOT_IMPLEMENTED = 5042, "the function is not available";
    AE_MAX_THREADS_EXCEEDED = 5043, "too many threads";
    AE_START_THREAD_FAIL = 5044, "a thread could not be started";
    AE_TOO_MANY_INDEXES = 5045, "the table has too many index files open";
    AE_TOO_MANY_TAGS = 5046, "the index file has too many orders";
    AE_TRANS_OUT_OF_SEQUENCE = 5047, "the call does not fit the state of the transaction";
    AE_UNKNOWN_ERRCODE = 5048, "the error code is unknown";
    AE_UNSUPPORTED_COLLATION = 5049, "the collation is not supported";
    AE_NAME_TOO_LONG = 5050, "the name is too long";
    AE_DUPLICATE_ALIAS = 5051, "the alias is in use";
    AE_TABLE_CLOSED_IN_TRANSACTION = 5053, "the table was closed in a transaction that changed it";
    AE_PERMISSION_DENIED = 5054, "permission was denied";
    AE_STRING_NOT_FOUND = 5055, "the string was not found";
    AE_UNKNOWN_CHAR_SET = 5056, "the character set is unknown";
    AE_INVALID_OEM_CHAR_FILE = 5057, "the file of the OEM character set is not valid";
    AE_INVALID_MEMO_BLOCK_SIZE = 5058, "the block size of the memo file is not valid";
    AE_NO_FILE_FOUND = 5059, "no file fits, or no more files do";
    AE_NO_INF_LOCK = 5060, "the information file could not be locked";
    AE_INF_FILE_ERROR = 5061, "the information file could not be used";
    AE_RECORD_NOT_LOCKED = 5062, "the record is not locked";
    AE_ILLEGAL_COMMAND_DURING_TRANS = 5063, "the call is not allowed in a transaction";
    AE_TABLE_NOT_SHARED = 5064, "the table is not open for sharing";
    AE_INDEX_ALREADY_OPEN = 5065, "the index is open already";
    AE_INVALID_FIELD_TYPE = 5066, "the field type does not fit the call";
    AE_TABLE_NOT_EXCLUSIVE = 5067, "the table is not open for exclusive use";
    AE_NO_CURRENT_RECORD = 5068, "there is no current record";
    AE_PRECISION_LOST = 5069, "digits of the number were lost";
    AE_INVALID_DATA_TYPE = 5070, "the data type is not valid";
    AE_DATA_TRUNCATED = 5071, "the value was cut to fit";
    AE_TABLE_READONLY = 5072, "the table is open for reading only";
    AE_INVALID_RECORD_LENGTH = 5073, "the length of the record is not valid";
    AE_NO_ERROR_MESSAGE = 5074, "there is no text for this error";
    AE_INDEX_SHARED = 5075, "the index is open for sharing";
    AE_INDEX_EXISTS = 5076, "the index exists already";
    AE_CYCLIC_RELATION = 5077, "the relation would lead back to its parent";
    AE_INVALID_RELATION = 5078, "the relation is not valid";
    AE_INVALID_DAY = 5079, "the day is not valid";
    AE_INVALID_MONTH = 5080, "the month is not valid";
    AE_CORRUPT_TABLE = 5081, "the table is damaged";
    AE_INVALID_BINARY_OFFSET = 5082, "the offset is past the end of the binary value";
    AE_BINARY_FILE_ERROR = 5083, "the file of the binary value could not be used";
    AE_INVALID_DELETED_BYTE_VALUE = 5084, "the byte that marks deleted records holds something else";
    AE_NO_PENDING_UPDATE = 5085, "no change waits to be written";
    AE_PENDING_UPDATE = 5086, "a change waits to be written";
    AE_TABLE_NOT_LOCKED = 5087, "the table is not locked";
    AE_CORRUPT_INDEX = 5088, "the index is damaged";
    AE_AUTOOPEN_INDEX = 5089, "the index opens with its table and cannot be closed or deleted alone";
    AE_SAME_TABLE = 5090, "source and destination are the same table";
    AE_INVALID_IMAGE = 5091, "the image is not valid";
    AE_COLLATION_SEQUENCE_MISMATCH = 5092, "client and server use different collations";
    AE_INVALID_INDEX_ORDER = 5093, "the index order is not valid";
    AE_TABLE_CACHED = 5094, "the table is kept open by the cache";
    AE_INVALID_DATE = 5095, "the date is not valid";
    AE_ENCRYPTION_NOT_ENABLED = 5096, "encryption is not enabled for the table";
    AE_INVALID_PASSWORD = 5097, "the password is wrong";
    AE_TABLE_ENCRYPTED = 5098, "the table is encrypted";
    AE_SERVER_MISMATCH = 5099, "the tables are on different servers";
    AE_INVALID_USERNAME = 5100, "the user name is not valid";
    AE_INVALID_VALUE = 5101, "the value is not valid";
    AE_INVALID_CONTINUE = 5102, "there is no search to continue";
    AE_UNRECOGNIZED_VERSION = 5103, "the version is not known";
    AE_RECORD_ENCRYPTED = 5104, "the record is encrypted";
    AE_UNRECOGNIZED_ENCRYPTION = 5105, "the encryption is not known";
    AE_INVALID_SQLSTATEMENT_HANDLE = 5106, "the handle is not one of a statement";
    AE_INVALID_SQLCURSOR_HANDLE = 5107, "the handle is not one of a cursor";
    AE_NOT_PREPARED = 5108, "the statement is not prepared";
    AE_CURSOR_NOT_CLOSED = 5109, "the statement has an open cursor";
    AE_INVALID_SQL_PARAM_NUMBER = 5110, "the statement has no parameter of this number";
    AE_INVALID_SQL_PARAM_NAME = 5111, "the statement has no parameter of this name";
    AE_INVALID_COLUMN_NUMBER = 5112, "the cursor has no column of this number";
    AE_INVALID_COLUMN_NAME = 5113, "the cursor has no column of this name";
    AE_INVALID_READONLY_OPTION = 5114, "the option for reading only is not valid";
    AE_IS_CURSOR_HANDLE = 5115, "the call does not work on a cursor";
    AE_INDEX_EXPR_NOT_FOUND = 5116, "no index has this expression";
    AE_NOT_DML = 5117, "the statement does not change data";
    AE_INVALID_CONSTRAIN_TYPE = 5118, "the kind of constraint is not valid";
    AE_INVALID_CURSORHANDLE = 5119, "the cursor is not valid";
    AE_OBSOLETE_FUNCTION = 5120, "the function is obsolete";
    AE_TADSDATASET_GENERAL = 5121, "an error of the Delphi data set";
    AE_UDF_OVERWROTE_BUFFER = 5122, "a user's function wrote past its buffer";
    AE_INDEX_UDF_NOT_SET = 5123, "no user's function is set for the index";
    AE_CONCURRENT_PROBLEM = 5124, "another call on the connection is in progress";
    AE_INVALID_DICTIONARY_HANDLE = 5125, "the handle is not one of a dictionary";
    AE_INVALID_PROPERTY_ID = 5126, "the object has no property of this number";
    AE_INVALID_PROPERTY = 5127, "the property is not valid";
    AE_DICTIONARY_ALREADY_EXISTS = 5128, "the dictionary exists already";
    AE_INVALID_FIND_HANDLE = 5129, "the handle is not one of a search";
    AE_DD_REQUEST_NOT_COMPLETED = 5130, "the dictionary could not do all that was asked";
    AE_INVALID_OBJECT_ID = 5131, "the dictionary has no object of this number";
    AE_INVALID_OBJECT_NAME = 5132, "the dictionary has no object of this name";
    AE_INVALID_PROPERTY_LENGTH = 5133, "the length of the property is not valid";
    AE_INVALID_KEY_OPTIONS = 5134, "the options of the key are not valid";
    AE_CONSTRAINT_VALIDATION_ERROR = 5135, "records of the table break the new constraint";
    AE_INVALID_OBJECT_TYPE = 5136, "the kind of object is not valid";
    AE_NO_OBJECT_FOUND = 5137, "there is no such object, or no further one";
    AE_PROPERTY_NOT_SET = 5138, "the property is not set";
    AE_NO_PRIMARY_KEY_EXISTS = 5139, "the table has no primary key";
    AE_LOCAL_CONN_DISABLED = 5140, "local connections are switched off";
    AE_RI_RESTRICT = 5141, "other records refer to this one";
    AE_RI_CASCADE = 5142, "the change could not be carried to the records that refer to this one";
    AE_RI_FAILED = 5143, "the rules between the tables could not be applied";
    AE_RI_CORRUPTED = 5144, "the rules between the tables are damaged";
    AE_RI_UNDO_FAILED = 5145, "a change under the rules between the tables could not be undone";
    AE_RI_RULE_EXISTS = 5146, "the rule between the tables exists already";
    AE_COLUMN_CANNOT_BE_NULL = 5147, "the column must have a value";
    AE_MIN_CONSTRAINT_VIOLATION = 5148, "the value is below the column's least";
    AE_MAX_CONSTRAINT_VIOLATION = 5149, "the value is above the column's greatest";
    AE_RECORD_CONSTRAINT_VIOLATION = 5150, "the record breaks the table's constraint";
    AE_CANNOT_DELETE_TEMP_INDEX = 5151, "a temporary index cannot be deleted";
    AE_RESTRUCTURE_FAILED = 5152, "the table could not be given its new structure";
    AE_INVALID_STATEMENT = 5153, "the statement is not valid";
    AE_STORED_PROCEDURE_FAILED = 5154, "the stored procedure failed";
    AE_INVALID_DICTIONARY_FILE = 5155, "the file is not a dictionary";
    AE_NOT_MEMBER_OF_GROUP = 5156, "the user does not belong to the group";
    AE_ALREADY_MEMBER_OF_GROUP = 5157, "the user belongs to the group already";
    AE_INVALID_OBJECT_RIGHT = 5158, "the right is not one of this kind of object";
    AE_CANNOT_OPEN_DATABASE_TABLE = 5159, "a table of the dictionary is opened through the dictionary only";
    AE_INVALID_CONSTRAINT = 5160, "the constraint is not valid";
    AE_NOT_ADMINISTRATOR = 5161, "only an administrator may do this";
    AE_NO_TABLE_ENCRYPTION_PASSWORD = 5162, "the dictionary has no password for its tables";
    AE_TABLE_NOT_ENCRYPTED = 5163, "the table is not encrypted";
    AE_INVALID_ENCRYPTION_VERSION = 5164, "the version of the encryption is not valid";
    AE_NO_STORED_PROC_EXEC_RIGHTS = 5165, "the user may not run the stored procedure";
    AE_DD_UNSUPPORTED_DEPLOYMENT = 5166, "the dictionary may not be used here";
    AE_INFO_AUTO_CREATION_OCCURRED = 5168, "not an error: the table was made because it did not exist";
    AE_INFO_COPY_MADE_BY_CLIENT = 5169, "not an error: the client made the copy";
    AE_DATABASE_REQUIRES_NEW_SERVER = 5170, "the dictionary needs a newer server";
    AE_COLUMN_PERMISSION_DENIED = 5171, "the user may not use the column";
    AE_DATABASE_REQUIRES_NEW_CLIENT = 5172, "the dictionary needs a newer client";
    AE_INVALID_LINK_NUMBER = 5173, "there is no link of this number";
    AE_LINK_ACTIVATION_FAILED = 5174, "the link could not be used";
    AE_INDEX_COLLATION_MISMATCH = 5175, "the index was made with another collation";
    AE_ILLEGAL_USER_OPERATION = 5176, "the user may not do this";
    AE_TRIGGER_FAILED = 5177, "the trigger failed";
    AE_NO_ASA_FUNCTION_FOUND = 5178, "the server has no such function";
    AE_VALUE_OVERFLOW = 5179, "the number does not fit the field";
    AE_UNRECOGNIZED_FTS_VERSION = 5180, "the version of the full text index is not known";
    AE_TRIG_CREATION_FAILED = 5181, "the trigger could not be made";
    AE_MEMTABLE_SIZE_EXCEEDED = 5182, "the table in memory is too large";
    AE_OUTDATED_CLIENT_VERSION = 5183, "the client is too old for this";
    AE_FREE_TABLE = 5184, "the table belongs to no dictionary";
    AE_LOCAL_CONN_RESTRICTED = 5185, "a local connection may not do this";
    AE_OLD_RECORD = 5186, "the record is an older version";
    AE_QUERY_NOT_ACTIVE = 5187, "the query does not run";
    AE_KEY_EXCEEDS_PAGE_SIZE = 5188, "the key does not fit a page of the index";
    AE_TABLE_FOUND = 5189, "the table exists";
    AE_TABLE_NOT_FOUND = 5190, "the table does not exist";
    AE_LOCK_OBJECT = 5191, "the object could not be locked";
    AE_INVALID_REPLICATION_IDENT = 5192, "the mark of the replication is not valid";
    AE_ILLEGAL_COMMAND_DURING_BACKUP = 5193, "the call is not allowed while a backup runs";
    AE_NO_MEMO_FILE = 5194, "the table has no memo file";
    AE_SUBSCRIPTION_QUEUE_NOT_EMPTY = 5195, "the queue of the subscription is not empty";
    AE_UNABLE_TO_DISABLE_TRIGGERS = 5196, "the triggers could not be switched off";
    AE_UNABLE_TO_ENABLE_TRIGGERS = 5197, "the triggers could not be switched on";
    AE_BACKUP = 5198, "the backup failed";
    AE_FREETABLEFAILED = 5199, "the table could not be taken out of the dictionary";
    AE_BLURRY_SNAPSHOT = 5200, "the copy may mix states of different times";
    AE_INVALID_VERTICAL_FILTER = 5201, "the list of columns is not valid";
    AE_INVALID_USE_OF_HANDLE_IN_AEP = 5202, "a procedure may not use the handle this way";
    AE_COLLATION_NOT_RECOGNIZED = 5203, "the collation is not known";
    AE_INVALID_COLLATION = 5204, "the collation is not valid";
    AE_NOT_VFP_NULLABLE_FIELD = 5205, "the field cannot hold a Visual FoxPro null";
    AE_NOT_VFP_VARIABLE_FIELD = 5206, "the field is not of variable length as in Visual FoxPro";
    AE_ILLEGAL_EVENT_COMMAND = 5207, "the call does not fit the event";
    AE_KEY_CANNOT_BE_NULL = 5208, "the key must have a value";
    AE_COLLATIONS_DO_NOT_MATCH = 5209, "the collations differ";
    AE_INVALID_APPID = 5210, "the application's identifier is not valid";
    AE_UNICODE_CONVERSION = 5211, "the text could not be converted from or to Unicode";
    AE_UNICODE_COLLATION = 5212, "the Unicode collation failed";
    AE_SERVER_ENUMERATION_ERROR = 5213, "the servers could not be listed";
    AE_UNABLE_TO_LOAD_SSL = 5214, "the TLS library could not be loaded";
    AE_UNABLE_TO_VERIFY_SIGNATURE = 5215, "the signature could not be checked";
    AE_UNABLE_TO_LOAD_SSL_ENTRYPOINT = 5216, "the TLS library lacks a function";
    AE_CRYPTO_ERROR = 5217, "the encryption failed";
    AE_UNRECOGNIZED_CIPHER = 5218, "the cipher is not known";
    AE_FIPS_MODE_ENCRYPTION = 5219, "the encryption is not allowed in FIPS mode";
    AE_FIPS_REQUIRED = 5220, "FIPS mode is required";
    AE_FIPS_NOT_ALLOWED = 5221, "FIPS mode is not allowed";
    AE_FIPS_MODE_FAILED = 5222, "FIPS mode could not be entered";
    AE_PASSWORD_REQUIRED = 5223, "a password is required";
    AE_CONNECTION_TIMED_OUT = 5224, "the connection timed out";
    AE_DELTA_SUPPORT_NOT_POSSIBLE = 5225, "the table cannot record its changes";
    AE_QUERY_LOGGING_ERROR = 5226, "the query could not be logged";
    AE_COMPRESSION_FAILED = 5227, "the data could not be compressed or unpacked";
    AE_INVALID_DATA = 5228, "the data are not valid";
    AE_ROWVERSION_REQUIRED = 5229, "the table needs a row version column";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_rise_so_that_they_can_be_searched() {
        assert!(ERRORS.is_sorted_by_key(|error| error.code));
    }

    #[test]
    fn codes_have_their_texts() {
        for (code, text) in [
            (AE_NO_CURRENT_RECORD, Some("there is no current record")),
            (AE_FUNCTION_NOT_AVAILABLE, Some("the function is not available")),
            (7089, Some("the making of an index was stopped")),
            (5052, None),
            (u32::MAX, None),
        ] {
            assert_eq!(error_text(code), text, "{code}");
        }
    }
}
