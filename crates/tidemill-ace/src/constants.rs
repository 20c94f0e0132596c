//! The numbers of the Advantage Client Engine, as its SDK has them: a program that was compiled against SAP's header
//! passes these and compares with these.
//!
//! Each value was read in two public places at least; `docs/ace/provenance.md` names them, and tells where a known
//! source differs. `include/ace.h` has the same constants for C; a test compares the two.
//!
//! A constant has the type of the parameter that it is passed as: an option of [`UNSIGNED32`] bits is a `u32`, a code of
//! [`UNSIGNED16`] is a `u16`. Error codes are `u32`, because every function returns one.
//!
//! Numbers only: what an option does is written at the function that takes it.
//!
//! [`UNSIGNED16`]: u16
//! [`UNSIGNED32`]: u32

/// Makes constants with their documentation, and a table of them by name.
macro_rules! constants {
    ($(#[$about:meta])* $table:ident { $($name:ident: $type:ty = $value:expr, $words:literal;)* }) => {
        $(#[doc = $words] pub const $name: $type = $value;)*

        $(#[$about])*
        pub(crate) const $table: &[(&str, i64)] = &[$((stringify!($name), $name as i64)),*];
    };
}

mod char_sets;
mod dictionary;
mod errors;

pub use char_sets::*;
pub use dictionary::*;
pub use errors::*;

/// Every constant whose value is a number, by name.
pub fn all() -> impl Iterator<Item = (&'static str, i64)> {
    let errors = ERRORS.iter().map(|error| (error.name, i64::from(error.code)));
    [OPTIONS, CHAR_SETS, DICTIONARY]
        .into_iter()
        .flatten()
        .copied()
        .chain(errors)
        .chain(ALIASES.iter().copied())
}

/// Connection strings: encryption by RC4.
pub const ADS_ENCRYPT_STRING_RC4: &str = "RC4";
/// Connection strings: encryption by AES with a key of 128 bits.
pub const ADS_ENCRYPT_STRING_AES128: &str = "AES128";
/// Connection strings: encryption by AES with a key of 256 bits.
pub const ADS_ENCRYPT_STRING_AES256: &str = "AES256";
/// Connection strings: TLS with RC4 and MD5.
pub const ADS_CIPHER_SUITE_STRING_RC4: &str = "RC4-MD5";
/// Connection strings: TLS with AES of 128 bits and SHA.
pub const ADS_CIPHER_SUITE_STRING_AES128: &str = "AES128-SHA";
/// Connection strings: TLS with AES of 256 bits and SHA.
pub const ADS_CIPHER_SUITE_STRING_AES256: &str = "AES256-SHA";
/// The name by which statements call the root dictionary.
pub const ADS_ROOT_DD_ALIAS: &str = "__rootdd";

constants! {
/// Options, codes and limits, by name.
OPTIONS {
    // Yes, no and "as usual".
    ADS_DEFAULT_SQL_TIMEOUT: u16 = 0, "Wait for a statement as long as the client usually does.";
    ADS_FALSE: u16 = 0, "No.";
    ADS_TRUE: u16 = 1, "Yes.";
    ADS_DEFAULT: u16 = 0, "Take the usual value.";

    // Character types of a table.
    ADS_ANSI: u16 = 1, "The ANSI code page.";
    ADS_OEM: u16 = 2, "The OEM code page.";

    // Checking rights.
    ADS_CHECKRIGHTS: u16 = 1, "Look whether the user may use the file.";
    ADS_IGNORERIGHTS: u16 = 2, "Do not look.";
    ADS_RESPECT_RIGHTS_CHECKING: u32 = 1, "Obey `ADS_CHECKRIGHTS`, as before version 10.";
    ADS_IGNORE_RIGHTS_CHECKING: u32 = 2, "Never look, as since version 10.";

    // Options of a connection (bits).
    ADS_INC_USERCOUNT: u32 = 0x0001, "Count the user once more.";
    ADS_STORED_PROC_CONN: u32 = 0x0002, "The connection of a stored procedure.";
    ADS_COMPRESS_ALWAYS: u32 = 0x0004, "Compress what is sent.";
    ADS_COMPRESS_NEVER: u32 = 0x0008, "Do not compress what is sent.";
    ADS_COMPRESS_INTERNET: u32 = 0x000c, "Compress what is sent over the internet.";
    ADS_REPLICATION_CONNECTION: u32 = 0x0010, "A connection for replication.";
    ADS_UDP_IP_CONNECTION: u32 = 0x0020, "Over UDP.";
    ADS_IPX_CONNECTION: u32 = 0x0040, "Over IPX.";
    ADS_TCP_IP_CONNECTION: u32 = 0x0080, "Over TCP.";
    ADS_TCP_IP_V6_CONNECTION: u32 = 0x0100, "Over TCP and IPv6.";
    ADS_NOTIFICATION_CONNECTION: u32 = 0x0200, "A connection for events.";
    ADS_TLS_CONNECTION: u32 = 0x1000, "Over TLS.";
    ADS_CHECK_FREE_TABLE_ACCESS: u32 = 0x2000, "Look whether the user may use tables outside the dictionary.";

    // Options of opening and creating a table (bits).
    ADS_EXCLUSIVE: u32 = 0x0001, "Nobody else may open the table.";
    ADS_READONLY: u32 = 0x0002, "For reading only.";
    ADS_SHARED: u32 = 0x0004, "Others may open the table too.";
    ADS_CLIPPER_MEMOS: u32 = 0x0008, "Memos in a DBT file.";
    ADS_TABLE_PERM_READ: u32 = 0x0010, "The table may be read.";
    ADS_TABLE_PERM_UPDATE: u32 = 0x0020, "The table's records may be changed.";
    ADS_TABLE_PERM_INSERT: u32 = 0x0040, "The table may take new records.";
    ADS_TABLE_PERM_DELETE: u32 = 0x0080, "The table's records may be deleted.";
    ADS_REINDEX_ON_COLLATION_MISMATCH: u32 = 0x0100, "Rebuild indexes that were made with another collation.";
    ADS_IGNORE_COLLATION_MISMATCH: u32 = 0x0200, "Use indexes that were made with another collation as they are.";
    ADS_FREE_TABLE: u32 = 0x1000, "The table belongs to no dictionary.";
    ADS_TEMP_TABLE: u32 = 0x2000, "The table goes when it is closed.";
    ADS_DICTIONARY_BOUND_TABLE: u32 = 0x4000, "The table belongs to a dictionary.";
    ADS_CACHE_READS: u32 = 0x2000_0000, "Keep what was read.";
    ADS_CACHE_WRITES: u32 = 0x4000_0000, "Keep what was read, and write late.";

    // Options of creating an index (bits).
    ADS_ASCENDING: u32 = 0x0000, "From the least key to the greatest.";
    ADS_UNIQUE: u32 = 0x0001, "Of records with one key, the first only.";
    ADS_COMPOUND: u32 = 0x0002, "An order in a file that holds several.";
    ADS_CUSTOM: u32 = 0x0004, "Records enter and leave by calls only.";
    ADS_DESCENDING: u32 = 0x0008, "From the greatest key to the least.";
    ADS_USER_DEFINED: u32 = 0x0010, "The key is made by a function of the program.";
    ADS_FTS_INDEX: u32 = 0x0020, "A full text index.";
    ADS_FTS_FIXED: u32 = 0x0040, "Do not maintain the full text index.";
    ADS_FTS_CASE_SENSITIVE: u32 = 0x0080, "Tell capitals from small letters.";
    ADS_FTS_KEEP_SCORE: u32 = 0x0100, "Count the words.";
    ADS_FTS_PROTECT_NUMBERS: u32 = 0x0200, "Keep numbers with commas and periods whole.";
    ADS_NOT_AUTO_OPEN: u32 = 0x0400, "The index does not open with its table.";
    ADS_CANDIDATE: u32 = 0x0800, "No two records may have one key.";
    ADS_BINARY_INDEX: u32 = 0x1000, "One bit a record for a condition.";
    ADS_FTS_ENCODE_UTF8: u32 = 0x2000, "The parameters of the full text index are UTF-8.";
    ADS_FTS_ENCODE_UTF16: u32 = 0x4000, "The parameters of the full text index are UTF-16.";
    ADS_ONLINE: u32 = 0x0020_0000, "Make the index while others use the table.";
    ADS_ALLOW_MULTIPLE_COLLATION: u32 = 0x1000_0000, "The orders of the file may have different collations.";
    ADS_UCHAR_KEY_SHORT: u32 = 0x2000_0000, "Short keys for Unicode text.";
    ADS_UCHAR_KEY_LONG: u32 = 0x4000_0000, "Long keys for Unicode text.";
    ADS_UCHAR_KEY_XLONG: u32 = 0x6000_0000, "The longest keys for Unicode text.";
    ADS_INDEX_OPTIONS_MASK: u32 = 0x7020_7fff, "Every bit that an index option can have.";

    // How text is given back (bits).
    ADS_NONE: u16 = 0x0000, "As it is stored.";
    ADS_LTRIM: u16 = 0x0001, "Without blanks in front.";
    ADS_RTRIM: u16 = 0x0002, "Without blanks behind.";
    ADS_TRIM: u16 = 0x0003, "Without blanks in front and behind.";
    ADS_GET_UTF8: u16 = 0x0004, "As UTF-8.";
    ADS_DONT_CHECK_CONV_ERR: u16 = 0x0008, "Letters that the code page lacks are no error.";
    ADS_GET_FORMAT_ANSI: u16 = 0x0010, "In the ANSI code page.";
    ADS_GET_FORMAT_WEB: u16 = 0x0030, "In the form for the web.";
    ADS_GET_GUID_MIME: u16 = 0x0100, "A GUID in MIME's form.";
    ADS_GET_GUID_FILE: u16 = 0x0200, "A GUID in a form for file names.";
    ADS_GET_GUID_NUMBERS: u16 = 0x0400, "A GUID as digits only.";
    ADS_GET_GUID_REGISTRY: u16 = 0x0800, "A GUID in the usual form with braces.";
    ADS_NTS: u16 = 0xffff, "The text ends with a zero byte.";

    // Locking modes.
    ADS_COMPATIBLE_LOCKING: u16 = 0, "Lock as other xBase programs do.";
    ADS_PROPRIETARY_LOCKING: u16 = 1, "Lock as only Advantage clients do.";

    // Seeks.
    ADS_SOFTSEEK: u16 = 1, "The next greater key will do.";
    ADS_HARDSEEK: u16 = 2, "The very key or none.";
    ADS_SEEKGT: u16 = 4, "A greater key.";

    // Types of a key that is sought or set as a scope.
    ADS_RAWKEY: u16 = 1, "The bytes as the index holds them.";
    ADS_STRINGKEY: u16 = 2, "A text.";
    ADS_DOUBLEKEY: u16 = 4, "A pointer to a double.";
    ADS_WSTRINGKEY: u16 = 8, "A text in UTF-16.";

    // How long a raw key shall be (`AdsBuildRawKey100`).
    ADS_GET_DEFAULT_KEY_LENGTH: u32 = 0, "As long as the value makes it.";
    ADS_GET_PARTIAL_FULL_KEY_LENGTH: u32 = 1, "With all levels of a partial key.";
    ADS_GET_FULL_KEY_LENGTH: u32 = 2, "The full length.";
    ADS_GET_PRIMARY_WEIGHT_LENGTH: u32 = 4, "With the first level of the collation only.";

    // The two ends of a scope.
    ADS_TOP: u16 = 1, "Where a walk begins.";
    ADS_BOTTOM: u16 = 2, "Where a walk ends.";

    // What a count or a move obeys.
    ADS_RESPECTFILTERS: u16 = 1, "Filters and scopes.";
    ADS_IGNOREFILTERS: u16 = 2, "Neither filters nor scopes.";
    ADS_RESPECTSCOPES: u16 = 3, "Scopes, but not filters.";
    ADS_REFRESHCOUNT: u16 = 4, "Read the count from the table's header again (`AdsGetRecordCount`).";

    // Types of server (bits).
    ADS_LOCAL_SERVER: u16 = 0x0001, "The files themselves.";
    ADS_REMOTE_SERVER: u16 = 0x0002, "A server.";
    ADS_AIS_SERVER: u16 = 0x0004, "A server over the internet.";

    // Kinds of handle.
    ADS_CONNECTION: u16 = 1, "A connection.";
    ADS_TABLE: u16 = 2, "A table.";
    ADS_INDEX_ORDER: u16 = 3, "An index order.";
    ADS_STATEMENT: u16 = 4, "An SQL statement.";
    ADS_CURSOR: u16 = 5, "The result of an SQL statement.";
    ADS_DATABASE_CONNECTION: u16 = 6, "A connection through a dictionary.";
    ADS_FTS_INDEX_ORDER: u16 = 8, "A full text index.";

    // SQL cursors.
    ADS_CURSOR_READONLY: u16 = 1, "The cursor is for reading.";
    ADS_CURSOR_READWRITE: u16 = 2, "The cursor is for reading and writing.";
    ADS_CONSTRAIN: u16 = 1, "Records that leave the condition leave the cursor.";
    ADS_NO_CONSTRAIN: u16 = 2, "Records stay in the cursor.";
    ADS_READ_ALL_COLUMNS: u16 = 1, "Read whole records.";
    ADS_READ_SELECT_COLUMNS: u16 = 2, "Read the columns that the statement names.";

    // Looking at records under a new constraint.
    ADS_NO_VALIDATE: u16 = 0, "Do not look.";
    ADS_VALIDATE_NO_SAVE: u16 = 1, "Drop the records that break it.";
    ADS_VALIDATE_WRITE_FAIL: u16 = 2, "Move the records that break it to a new table.";
    ADS_VALIDATE_APPEND_FAIL: u16 = 3, "Append the records that break it to a table.";
    ADS_VALIDATE_RETURN_ERROR: u16 = 4, "Fail if a record breaks it.";

    // Answers of `AdsCompareBookmarks`.
    ADS_CMP_LESS: i32 = -1, "The first comes before the second.";
    ADS_CMP_EQUAL: i32 = 0, "Both name one record.";
    ADS_CMP_GREATER: i32 = 1, "The first comes after the second.";

    // Properties of a connection.
    ADS_CONNECTIONPROP_USERNAME: u16 = 0, "The user.";
    ADS_CONNECTIONPROP_PASSWORD: u16 = 1, "The password.";
    ADS_CONNECTIONPROP_PROTOCOL: u16 = 2, "The protocol.";
    ADS_CONNECTIONPROP_ENCRYPTION_TYPE: u16 = 3, "The encryption.";
    ADS_CONNECTIONPROP_FIPS_MODE: u16 = 4, "Whether FIPS mode is on.";
    ADS_CONNECTIONPROP_CERTIFICATE_FILE: u16 = 5, "The file of the certificate.";
    ADS_CONNECTIONPROP_CIPHER_SUITE: u16 = 6, "The ciphers.";
    ADS_CONNECTIONPROP_COMMON_NAME: u16 = 7, "The name in the certificate.";
    ADS_CONNECTIONPROP_USING_TCP_IP: u16 = 1, "Answer for the protocol: TCP.";
    ADS_CONNECTIONPROP_USING_TLC: u16 = 5, "Answer for the protocol: TLS.";

    // Options of a record's check sum (bits).
    ADS_CRC_LOCALLY: u16 = 0x0001, "Compute it in the client.";
    ADS_CRC_IGNOREMEMOPAGES: u16 = 0x0002, "Leave the memos out.";

    // Events, errors, properties.
    ADS_EVENT_ASYNC: u16 = 1, "Do not wait for the event.";
    ADS_EVENT_WITH_DATA: u16 = 2, "Events carry data.";
    ADS_PRESERVE_ERR: u16 = 1, "Keep the last error.";
    ADS_CODE_PAGE: u16 = 1, "The property that holds the code page (`AdsGetIntProperty`).";

    // Table types.
    ADS_DATABASE_TABLE: u16 = 0, "A table as its dictionary describes it.";
    ADS_NTX: u16 = 1, "DBF with DBT memos and NTX indexes.";
    ADS_CDX: u16 = 2, "DBF with FPT memos and CDX or IDX indexes.";
    ADS_ADT: u16 = 3, "Advantage's own table type.";
    ADS_VFP: u16 = 4, "Visual FoxPro's DBF with FPT memos and CDX indexes.";

    // Forms of a file name.
    ADS_BASENAME: u16 = 1, "Name only.";
    ADS_BASENAMEANDEXT: u16 = 2, "Name and extension.";
    ADS_FULLPATHNAME: u16 = 3, "The whole path.";
    ADS_DATADICTIONARY_NAME: u16 = 4, "The name in the dictionary.";
    ADS_TABLE_OPEN_NAME: u16 = 5, "The name that opened the table.";

    // How far indexes answer a filter.
    ADS_OPTIMIZED_FULL: u16 = 1, "Wholly.";
    ADS_OPTIMIZED_PART: u16 = 2, "In part.";
    ADS_OPTIMIZED_NONE: u16 = 3, "Not at all.";

    // Options of an optimised filter (bits).
    ADS_DYNAMIC_AOF: u32 = 0x0000, "Kept up to date with the records.";
    ADS_RESOLVE_IMMEDIATE: u32 = 0x0001, "Look at every record at once.";
    ADS_RESOLVE_DYNAMIC: u32 = 0x0002, "Look at records when they are reached.";
    ADS_KEYSET_AOF: u32 = 0x0004, "The set of records is fixed, the records are not.";
    ADS_FIXED_AOF: u32 = 0x0008, "The set of records is fixed.";
    ADS_KEEP_AOF_PLAN: u32 = 0x0010, "Keep the plan of the filter.";
    ADS_ENCODE_UTF16: u32 = 0x2000, "The filter is UTF-16.";
    ADS_ENCODE_UTF8: u32 = 0x4000, "The filter is UTF-8.";
    ADS_ENCODING_MASK: u32 = 0x6000, "Both bits of the encoding.";

    // What `AdsCustomizeAOF` does.
    ADS_AOF_ADD_RECORD: u16 = 1, "Puts records in.";
    ADS_AOF_REMOVE_RECORD: u16 = 2, "Takes records out.";
    ADS_AOF_TOGGLE_RECORD: u16 = 3, "Puts records in that are out and takes out those that are in.";

    // Kinds of stored procedure (bits).
    ADS_STORED_PROC: u32 = 0x0001, "In a library.";
    ADS_COMSTORED_PROC: u32 = 0x0002, "In a COM object.";
    ADS_SCRIPT_PROC: u32 = 0x0004, "In SQL.";
    ADS_PROC_VARYING_OUTPUT: u32 = 0x1000, "Its columns are known when it runs.";

    // Encryption of tables.
    ADS_ENCRYPTION_RC4: u16 = 3, "RC4.";
    ADS_ENCRYPTION_AES128: u16 = 5, "AES with a key of 128 bits.";
    ADS_ENCRYPTION_AES256: u16 = 6, "AES with a key of 256 bits.";

    // Limits (lengths do not count the zero byte at the end).
    ADS_MAX_DATEMASK: u16 = 12, "Bytes of a date format.";
    ADS_MAX_ERROR_LEN: u16 = 600, "Bytes of the text of an error.";
    ADS_MAX_INDEX_EXPR_LEN: u16 = 510, "Bytes of the expression of an index.";
    ADS_MAX_KEY_LENGTH: u16 = 4082, "Bytes of a key (240 in a CDX file, 256 in an NTX file).";
    ADS_MAX_FIELD_NAME: u16 = 128, "Bytes of a field's name.";
    ADS_MAX_DBF_FIELD_NAME: u16 = 10, "Bytes of a field's name in a DBF table.";
    ADS_MAX_INDEXES: u16 = 15, "Index files of a table.";
    ADS_MAX_PATH: u16 = 260, "Bytes of a path.";
    ADS_MAX_TABLE_NAME: u16 = 255, "Bytes of a table's name.";
    ADS_MAX_TAG_NAME: u16 = 128, "Bytes of an order's name.";
    ADS_MAX_TAGS: u16 = 256, "Orders of an index file.";
    ADS_MAX_OBJECT_NAME: u16 = 200, "Bytes of the name of an object in a dictionary.";
    ADS_MAX_TABLE_AND_PATH: u16 = 515, "Bytes of a path with a table's name.";
    ADS_MIN_ADI_PAGESIZE: u16 = 512, "The least page size of an ADI index.";
    ADS_MAX_ADI_PAGESIZE: u16 = 8192, "The greatest page size of an ADI index.";

    // Field types.
    ADS_TYPE_UNKNOWN: u16 = 0, "None of the others.";
    ADS_LOGICAL: u16 = 1, "Yes or no, one byte.";
    ADS_NUMERIC: u16 = 2, "A number in digits.";
    ADS_DATE: u16 = 3, "A date, eight digits in a DBF table.";
    ADS_STRING: u16 = 4, "Text of a fixed width.";
    ADS_MEMO: u16 = 5, "Text in the memo file.";
    ADS_BINARY: u16 = 6, "Bytes in the memo file.";
    ADS_IMAGE: u16 = 7, "An image in the memo file.";
    ADS_VARCHAR: u16 = 8, "Text of variable length.";
    ADS_COMPACTDATE: u16 = 9, "A date in three bytes.";
    ADS_DOUBLE: u16 = 10, "A double.";
    ADS_INTEGER: u16 = 11, "A whole number of 32 bits.";
    ADS_SHORTINT: u16 = 12, "A whole number of 16 bits.";
    ADS_TIME: u16 = 13, "Milliseconds since midnight.";
    ADS_TIMESTAMP: u16 = 14, "Day and time.";
    ADS_AUTOINC: u16 = 15, "A number that counts itself up.";
    ADS_RAW: u16 = 16, "Bytes in the record.";
    ADS_CURDOUBLE: u16 = 17, "An amount of money in a double.";
    ADS_MONEY: u16 = 18, "An amount of money in ten-thousandths.";
    ADS_LONGINT: u16 = 19, "A whole number of 64 bits.";
    ADS_LONGLONG: u16 = 19, "The older name of `ADS_LONGINT`.";
    ADS_CISTRING: u16 = 20, "Text without regard to case.";
    ADS_ROWVERSION: u16 = 21, "A number that every change of a record raises.";
    ADS_MODTIME: u16 = 22, "When the record was changed.";
    ADS_VARCHAR_FOX: u16 = 23, "Visual FoxPro's text of variable length.";
    ADS_VARBINARY_FOX: u16 = 24, "Visual FoxPro's bytes of variable length.";
    ADS_SYSTEM_FIELD: u16 = 25, "A field that clients do not see.";
    ADS_NCHAR: u16 = 26, "Unicode text of a fixed width.";
    ADS_NVARCHAR: u16 = 27, "Unicode text of variable length.";
    ADS_NMEMO: u16 = 28, "Unicode text in the memo file.";
    ADS_GUID: u16 = 29, "A GUID.";

    // Functions of the program.
    ADS_INDEX_UDF: u16 = 1, "One that makes keys of an index.";

    // Management: kinds of server.
    ADS_MAX_CFG_PATH: u16 = 256, "Bytes of a path in the configuration.";
    ADS_MGMT_NETWARE_SERVER: u16 = 1, "NetWare.";
    ADS_MGMT_NETWARE4_OR_OLDER_SERVER: u16 = 1, "NetWare 4 or older.";
    ADS_MGMT_NT_SERVER: u16 = 2, "Windows, 32 bits.";
    ADS_MGMT_LOCAL_SERVER: u16 = 3, "No server: the files themselves.";
    ADS_MGMT_WIN9X_SERVER: u16 = 4, "Windows 95 to ME.";
    ADS_MGMT_NETWARE5_OR_NEWER_SERVER: u16 = 5, "NetWare 5 or newer.";
    ADS_MGMT_LINUX_SERVER: u16 = 6, "Linux, 32 bits.";
    ADS_MGMT_NT_SERVER_64_BIT: u16 = 7, "Windows, 64 bits.";
    ADS_MGMT_LINUX_SERVER_64_BIT: u16 = 8, "Linux, 64 bits.";

    // Management: who holds a lock.
    ADS_MGMT_NO_LOCK: u16 = 1, "Nobody.";
    ADS_MGMT_RECORD_LOCK: u16 = 2, "Someone holds the record.";
    ADS_MGMT_FILE_LOCK: u16 = 3, "Someone holds the table.";

    // Management: lengths and locking modes.
    ADS_REG_OWNER_LEN: u16 = 36, "Bytes of the owner's name.";
    ADS_REVISION_LEN: u16 = 16, "Bytes of the version.";
    ADS_INST_DATE_LEN: u16 = 16, "Bytes of the date of the installation.";
    ADS_OEM_CHAR_NAME_LEN: u16 = 16, "Bytes of the name of the OEM character set.";
    ADS_ANSI_CHAR_NAME_LEN: u16 = 16, "Bytes of the name of the ANSI character set.";
    ADS_SERIAL_NUM_LEN: u16 = 16, "Bytes of the serial number.";
    ADS_MGMT_MAX_PATH: u16 = 260, "Bytes of a path.";
    ADS_MGMT_PROPRIETARY_LOCKING: u16 = 1, "Locks as only Advantage clients take them.";
    ADS_MGMT_CDX_LOCKING: u16 = 2, "Locks as FoxPro takes them.";
    ADS_MGMT_NTX_LOCKING: u16 = 3, "Locks as Clipper takes them.";
    ADS_MGMT_ADT_LOCKING: u16 = 4, "Locks of ADT tables.";
    ADS_MGMT_COMIX_LOCKING: u16 = 5, "Locks as Comix takes them.";
    ADS_MAX_USER_NAME: u16 = 50, "Bytes of a user's name.";
    ADS_MAX_ADDRESS_SIZE: u16 = 30, "Bytes of a network address.";
    ADS_MAX_MGMT_APPID_SIZE: u16 = 70, "Bytes of an application's identifier.";

    // Options of `AdsMgKillUser90`.
    ADS_PROPERTY_UNSPECIFIED: u16 = 0, "No option.";
    ADS_DONT_KILL_APPID: u16 = 1, "Spare the application with this identifier.";
    ADS_RESTRICT_KILL: u16 = 2, "Only if nothing is in progress.";

    // Options of `AdsGetFieldLength100`.
    ADS_CODEUNIT_LENGTH: u32 = 0, "Count code units.";
    ADS_BYTE_LENGTH: u32 = 1, "Count bytes.";
    ADS_BYTE_LENGTH_IN_BUFFER: u32 = 2, "Count bytes in the record.";

    // Options of `AdsFindServers`.
    ADS_FS_MULTICAST_ONLY: u32 = 1, "Ask the network only.";
    ADS_FS_CONNECT_ALL: u32 = 2, "Connect to every address that answers.";

    // Table caching.
    ADS_TABLE_CACHE_NONE: u16 = 0, "None.";
    ADS_TABLE_CACHE_READS: u16 = 1, "What was read.";
    ADS_TABLE_CACHE_WRITES: u16 = 2, "What was read and written.";

    // Options of `AdsGetKeyFilter`.
    ADS_FILTER_FORMAT_ODATA: u32 = 1, "In OData's syntax.";
    ADS_FILTER_ENCODE_UTF8: u32 = 2, "As UTF-8.";
}}
