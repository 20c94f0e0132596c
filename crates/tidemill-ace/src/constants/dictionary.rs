//! Numbers of the data dictionary: kinds of object, properties, permissions, triggers, replication.
//!
//! Not all that they name is served: functions that are not answer [`AE_FUNCTION_NOT_AVAILABLE`]. Programs that name them compile
//! all the same.
//!
//! [`AE_FUNCTION_NOT_AVAILABLE`]: super::AE_FUNCTION_NOT_AVAILABLE

constants! {
/// What dictionaries number, by name.
DICTIONARY {
    // Limits.
    ADS_DD_PROPERTY_NOT_AVAIL: u16 = 65_535, "The length that says that a property has no value.";
    ADS_DD_MAX_PROPERTY_LEN: u16 = 65_534, "Bytes of a property.";
    ADS_DD_MAX_OBJECT_NAME_LEN: u16 = 200, "Bytes of an object's name.";

    // Kinds of object.
    ADS_DD_UNKNOWN_OBJECT: u16 = 0, "None of the others.";
    ADS_DD_TABLE_OBJECT: u16 = 1, "A table.";
    ADS_DD_RELATION_OBJECT: u16 = 2, "A rule between tables.";
    ADS_DD_INDEX_FILE_OBJECT: u16 = 3, "An index file.";
    ADS_DD_FIELD_OBJECT: u16 = 4, "A field.";
    ADS_DD_COLUMN_OBJECT: u16 = 4, "A column, which is a field.";
    ADS_DD_INDEX_OBJECT: u16 = 5, "An index order.";
    ADS_DD_VIEW_OBJECT: u16 = 6, "A view.";
    ADS_DD_VIEW_OR_TABLE_OBJECT: u16 = 7, "A view or a table.";
    ADS_DD_USER_OBJECT: u16 = 8, "A user.";
    ADS_DD_USER_GROUP_OBJECT: u16 = 9, "A group of users.";
    ADS_DD_PROCEDURE_OBJECT: u16 = 10, "A stored procedure.";
    ADS_DD_DATABASE_OBJECT: u16 = 11, "The dictionary itself.";
    ADS_DD_LINK_OBJECT: u16 = 12, "A link to another dictionary.";
    ADS_DD_TABLE_VIEW_OR_LINK_OBJECT: u16 = 13, "A table, a view or a link.";
    ADS_DD_TRIGGER_OBJECT: u16 = 14, "A trigger.";
    ADS_DD_PUBLICATION_OBJECT: u16 = 15, "A publication.";
    ADS_DD_ARTICLE_OBJECT: u16 = 16, "An article, that is, a table that is published.";
    ADS_DD_SUBSCRIPTION_OBJECT: u16 = 17, "A subscription.";
    ADS_DD_FUNCTION_OBJECT: u16 = 18, "A function of the user.";
    ADS_DD_PACKAGE_OBJECT: u16 = 19, "A package of functions and procedures.";
    ADS_DD_QUALIFIED_TRIGGER_OBJ: u16 = 20, "A trigger with its table's name.";
    ADS_DD_PERMISSION_OBJECT: u16 = 21, "A permission.";
    ADS_DD_DATABASE_TRIGGER_OBJ: u16 = 22, "A trigger of the dictionary itself.";

    // Properties of every object.
    ADS_DD_COMMENT: u16 = 1, "The comment.";
    ADS_DD_VERSION: u16 = 2, "The version.";
    ADS_DD_USER_DEFINED_PROP: u16 = 3, "Bytes of the program's own.";
    ADS_DD_OBJECT_NAME: u16 = 4, "The name.";
    ADS_DD_TRIGGERS_DISABLED: u16 = 5, "Whether triggers are off.";
    ADS_DD_OBJECT_ID: u16 = 6, "The number.";
    ADS_DD_OPTIONS: u16 = 7, "The options.";

    // Bits of `ADS_DD_QUERY_VIA_ROOT`.
    ADS_DD_QVR_OPT_QUERY: u32 = 0x0001, "Queries.";
    ADS_DD_QVR_OPT_PROCEDURE: u32 = 0x0002, "Procedures.";

    // Properties of the dictionary.
    ADS_DD_DEFAULT_TABLE_PATH: u16 = 100, "The folder of its tables.";
    ADS_DD_ADMIN_PASSWORD: u16 = 101, "The administrator's password.";
    ADS_DD_TEMP_TABLE_PATH: u16 = 102, "The folder of temporary tables.";
    ADS_DD_LOG_IN_REQUIRED: u16 = 103, "Whether users must log in.";
    ADS_DD_VERIFY_ACCESS_RIGHTS: u16 = 104, "Whether rights are checked.";
    ADS_DD_ENCRYPT_TABLE_PASSWORD: u16 = 105, "The password of the tables.";
    ADS_DD_ENCRYPT_NEW_TABLE: u16 = 106, "Whether new tables are encrypted.";
    ADS_DD_ENABLE_INTERNET: u16 = 107, "Whether it may be used over the internet.";
    ADS_DD_INTERNET_SECURITY_LEVEL: u16 = 108, "How safe such a connection must be.";
    ADS_DD_MAX_FAILED_ATTEMPTS: u16 = 109, "How many logins may fail.";
    ADS_DD_ALLOW_ADSSYS_NET_ACCESS: u16 = 110, "Whether the administrator may come over the network.";
    ADS_DD_VERSION_MAJOR: u16 = 111, "The program's version of the dictionary.";
    ADS_DD_VERSION_MINOR: u16 = 112, "The second part of that version.";
    ADS_DD_LOGINS_DISABLED: u16 = 113, "Whether nobody may log in.";
    ADS_DD_LOGINS_DISABLED_ERRSTR: u16 = 114, "The text of the error then.";
    ADS_DD_FTS_DELIMITERS: u16 = 115, "What parts words in full text indexes.";
    ADS_DD_FTS_NOISE: u16 = 116, "Words that full text indexes leave out.";
    ADS_DD_FTS_DROP_CHARS: u16 = 117, "Characters that full text indexes leave out.";
    ADS_DD_FTS_CONDITIONAL_CHARS: u16 = 118, "Characters that full text indexes leave out at the ends of words.";
    ADS_DD_ENCRYPTED: u16 = 119, "Whether the dictionary is encrypted.";
    ADS_DD_ENCRYPT_INDEXES: u16 = 120, "Whether indexes are encrypted.";
    ADS_DD_QUERY_LOG_TABLE: u16 = 121, "The table that queries are logged in.";
    ADS_DD_ENCRYPT_COMMUNICATION: u16 = 122, "Whether connections are encrypted.";
    ADS_DD_DEFAULT_TABLE_RELATIVE_PATH: u16 = 123, "The folder of its tables, seen from the dictionary.";
    ADS_DD_TEMP_TABLE_RELATIVE_PATH: u16 = 124, "The folder of temporary tables, seen from the dictionary.";
    ADS_DD_DISABLE_DLL_CACHING: u16 = 125, "Whether libraries of procedures are unloaded after use.";
    ADS_DD_DATA_ENCRYPTION_TYPE: u16 = 126, "The encryption of the tables.";
    ADS_DD_FTS_DELIMITERS_W: u16 = 127, "`ADS_DD_FTS_DELIMITERS` in UTF-16.";
    ADS_DD_FTS_NOISE_W: u16 = 128, "`ADS_DD_FTS_NOISE` in UTF-16.";
    ADS_DD_FTS_DROP_CHARS_W: u16 = 129, "`ADS_DD_FTS_DROP_CHARS` in UTF-16.";
    ADS_DD_FTS_CONDITIONAL_CHARS_W: u16 = 130, "`ADS_DD_FTS_CONDITIONAL_CHARS` in UTF-16.";
    ADS_DD_QUERY_VIA_ROOT: u16 = 131, "What the root dictionary may ask.";
    ADS_DD_ENFORCE_MAX_FAILED_LOGINS: u16 = 132, "Whether the number of failed logins counts.";
    ADS_DD_DATABASE_TRIGGER_TYPES: u16 = 133, "The kinds of its triggers.";

    // Properties of a table.
    ADS_DD_TABLE_VALIDATION_EXPR: u16 = 200, "The condition that records must meet.";
    ADS_DD_TABLE_VALIDATION_MSG: u16 = 201, "The text of the error when one does not.";
    ADS_DD_TABLE_PRIMARY_KEY: u16 = 202, "The index of the primary key.";
    ADS_DD_TABLE_AUTO_CREATE: u16 = 203, "Whether it is made when it does not exist.";
    ADS_DD_TABLE_TYPE: u16 = 204, "The table type.";
    ADS_DD_TABLE_PATH: u16 = 205, "The path.";
    ADS_DD_TABLE_FIELD_COUNT: u16 = 206, "How many fields it has.";
    ADS_DD_TABLE_RI_GRAPH: u16 = 207, "Its place in the graph of the rules between tables.";
    ADS_DD_TABLE_OBJ_ID: u16 = 208, "Its number.";
    ADS_DD_TABLE_RI_XY: u16 = 209, "Where that graph is drawn.";
    ADS_DD_TABLE_IS_RI_PARENT: u16 = 210, "Whether other tables refer to it.";
    ADS_DD_TABLE_RELATIVE_PATH: u16 = 211, "The path seen from the dictionary.";
    ADS_DD_TABLE_CHAR_TYPE: u16 = 212, "The character type.";
    ADS_DD_TABLE_DEFAULT_INDEX: u16 = 213, "The order that it opens with.";
    ADS_DD_TABLE_ENCRYPTION: u16 = 214, "Whether it is encrypted.";
    ADS_DD_TABLE_MEMO_BLOCK_SIZE: u16 = 215, "Bytes of a block of its memo file.";
    ADS_DD_TABLE_PERMISSION_LEVEL: u16 = 216, "How strictly permissions of columns are checked.";
    ADS_DD_TABLE_TRIGGER_TYPES: u16 = 217, "The kinds of its triggers.";
    ADS_DD_TABLE_TRIGGER_OPTIONS: u16 = 218, "The options of its triggers.";
    ADS_DD_TABLE_CACHING: u16 = 219, "What is kept of it.";
    ADS_DD_TABLE_TXN_FREE: u16 = 220, "Whether transactions leave it out.";
    ADS_DD_TABLE_VALIDATION_EXPR_W: u16 = 221, "`ADS_DD_TABLE_VALIDATION_EXPR` in UTF-16.";
    ADS_DD_TABLE_WEB_DELTA: u16 = 222, "Whether it records its changes.";
    ADS_DD_TABLE_CONCURRENCY_ENABLED: u16 = 223, "Whether changes of others are noticed.";

    // Properties of a field.
    ADS_DD_FIELD_OPT_VFP_NULLABLE: u32 = 2, "Bit of the options: may be null as in Visual FoxPro.";
    ADS_DD_FIELD_OPT_COMPRESSED: u32 = 0x0001_0000, "Bit of the options: compressed.";
    ADS_DD_FIELD_DEFAULT_VALUE: u16 = 300, "The value of new records.";
    ADS_DD_FIELD_CAN_NULL: u16 = 301, "Whether it may be null.";
    ADS_DD_FIELD_MIN_VALUE: u16 = 302, "The least value.";
    ADS_DD_FIELD_MAX_VALUE: u16 = 303, "The greatest value.";
    ADS_DD_FIELD_VALIDATION_MSG: u16 = 304, "The text of the error when a value does not fit.";
    ADS_DD_FIELD_DEFINITION: u16 = 305, "Type, length and decimals as `ADD_FIELD_DESC`.";
    ADS_DD_FIELD_TYPE: u16 = 306, "The type.";
    ADS_DD_FIELD_LENGTH: u16 = 307, "The length.";
    ADS_DD_FIELD_DECIMAL: u16 = 308, "The decimals.";
    ADS_DD_FIELD_NUM: u16 = 309, "The number of the field.";
    ADS_DD_FIELD_OPTIONS: u16 = 310, "The options.";
    ADS_DD_FIELD_DEFAULT_VALUE_W: u16 = 311, "`ADS_DD_FIELD_DEFAULT_VALUE` in UTF-16.";
    ADS_DD_FIELD_MIN_VALUE_W: u16 = 312, "`ADS_DD_FIELD_MIN_VALUE` in UTF-16.";
    ADS_DD_FIELD_MAX_VALUE_W: u16 = 313, "`ADS_DD_FIELD_MAX_VALUE` in UTF-16.";

    // Properties of an index order.
    ADS_DD_INDEX_FILE_NAME: u16 = 400, "The file.";
    ADS_DD_INDEX_EXPRESSION: u16 = 401, "The expression of its keys.";
    ADS_DD_INDEX_CONDITION: u16 = 402, "The condition of its records.";
    ADS_DD_INDEX_OPTIONS: u16 = 403, "The options.";
    ADS_DD_INDEX_KEY_LENGTH: u16 = 404, "Bytes of a key.";
    ADS_DD_INDEX_KEY_TYPE: u16 = 405, "The type of a key.";
    ADS_DD_INDEX_FTS_MIN_LENGTH: u16 = 406, "Letters of the shortest word.";
    ADS_DD_INDEX_FTS_DELIMITERS: u16 = 407, "What parts words.";
    ADS_DD_INDEX_FTS_NOISE: u16 = 408, "Words that it leaves out.";
    ADS_DD_INDEX_FTS_DROP_CHARS: u16 = 409, "Characters that it leaves out.";
    ADS_DD_INDEX_FTS_CONDITIONAL_CHARS: u16 = 410, "Characters that it leaves out at the ends of words.";
    ADS_DD_INDEX_COLLATION: u16 = 411, "The collation.";
    ADS_DD_INDEX_FTS_DELIMITERS_W: u16 = 412, "`ADS_DD_INDEX_FTS_DELIMITERS` in UTF-16.";
    ADS_DD_INDEX_FTS_NOISE_W: u16 = 413, "`ADS_DD_INDEX_FTS_NOISE` in UTF-16.";
    ADS_DD_INDEX_FTS_DROP_CHARS_W: u16 = 414, "`ADS_DD_INDEX_FTS_DROP_CHARS` in UTF-16.";
    ADS_DD_INDEX_FTS_CONDITIONAL_CHARS_W: u16 = 415, "`ADS_DD_INDEX_FTS_CONDITIONAL_CHARS` in UTF-16.";

    // Properties of a rule between tables.
    ADS_DD_RI_PARENT_GRAPH: u16 = 500, "Its place in the graph.";
    ADS_DD_RI_PRIMARY_TABLE: u16 = 501, "The table that is referred to.";
    ADS_DD_RI_PRIMARY_INDEX: u16 = 502, "The index of its primary key.";
    ADS_DD_RI_FOREIGN_TABLE: u16 = 503, "The table that refers.";
    ADS_DD_RI_FOREIGN_INDEX: u16 = 504, "The index of its foreign key.";
    ADS_DD_RI_UPDATERULE: u16 = 505, "What a change of the key does.";
    ADS_DD_RI_DELETERULE: u16 = 506, "What a deletion does.";
    ADS_DD_RI_NO_PKEY_ERROR: u16 = 507, "The text of the error when the primary key lacks.";
    ADS_DD_RI_CASCADE_ERROR: u16 = 508, "The text of the error when a change cannot be carried on.";

    // Properties of a group of users.
    ADS_DD_USER_GROUP_NAME: u16 = 600, "The name.";

    // Properties of a view.
    ADS_DD_VIEW_STMT: u16 = 700, "The statement.";
    ADS_DD_VIEW_STMT_LEN: u16 = 701, "Bytes of the statement.";
    ADS_DD_VIEW_TRIGGER_TYPES: u16 = 702, "The kinds of its triggers.";
    ADS_DD_VIEW_TRIGGER_OPTIONS: u16 = 703, "The options of its triggers.";
    ADS_DD_VIEW_STMT_W: u16 = 704, "`ADS_DD_VIEW_STMT` in UTF-16.";

    // Properties of a stored procedure.
    ADS_DD_PROC_INPUT: u16 = 800, "Its input parameters.";
    ADS_DD_PROC_OUTPUT: u16 = 801, "Its output columns.";
    ADS_DD_PROC_DLL_NAME: u16 = 802, "The library.";
    ADS_DD_PROC_DLL_FUNCTION_NAME: u16 = 803, "The function in the library.";
    ADS_DD_PROC_INVOKE_OPTION: u16 = 804, "How it is called.";
    ADS_DD_PROC_SCRIPT: u16 = 805, "Its SQL text.";
    ADS_DD_PROC_SCRIPT_W: u16 = 806, "`ADS_DD_PROC_SCRIPT` in UTF-16.";

    // Properties of an index file.
    ADS_DD_INDEX_FILE_PATH: u16 = 900, "The path.";
    ADS_DD_INDEX_FILE_PAGESIZE: u16 = 901, "Bytes of a page.";
    ADS_DD_INDEX_FILE_RELATIVE_PATH: u16 = 902, "The path seen from the dictionary.";
    ADS_DD_INDEX_FILE_TYPE: u16 = 903, "The kind of file.";

    // Rights of users and groups.
    ADS_DD_TABLES_RIGHTS: u16 = 1001, "To tables.";
    ADS_DD_VIEWS_RIGHTS: u16 = 1002, "To views.";
    ADS_DD_PROCS_RIGHTS: u16 = 1003, "To stored procedures.";
    ADS_DD_OBJECTS_RIGHTS: u16 = 1004, "To objects.";
    ADS_DD_FREE_TABLES_RIGHTS: u16 = 1005, "To tables outside the dictionary.";

    // Properties of a user.
    ADS_DD_USER_PASSWORD: u16 = 1101, "The password.";
    ADS_DD_USER_GROUP_MEMBERSHIP: u16 = 1102, "The groups.";
    ADS_DD_USER_BAD_LOGINS: u16 = 1103, "How many logins failed.";
    ADS_DD_CURRENT_USER_PASSWORD: u16 = 1104, "The password of the user who asks.";
    ADS_DD_REQUIRE_OLD_PASSWORD: u16 = 1105, "Whether a new password needs the old one.";

    // Properties of a link.
    ADS_DD_LINK_PATH: u16 = 1300, "The path of the other dictionary.";
    ADS_DD_LINK_OPTIONS: u16 = 1301, "The options.";
    ADS_DD_LINK_USERNAME: u16 = 1302, "The user there.";
    ADS_DD_LINK_RELATIVE_PATH: u16 = 1303, "The path seen from this dictionary.";

    // Properties of a trigger.
    ADS_DD_TRIG_TABLEID: u16 = 1400, "The number of its table.";
    ADS_DD_TRIG_EVENT_TYPE: u16 = 1401, "The event.";
    ADS_DD_TRIG_TRIGGER_TYPE: u16 = 1402, "When it runs.";
    ADS_DD_TRIG_CONTAINER_TYPE: u16 = 1403, "What holds it.";
    ADS_DD_TRIG_CONTAINER: u16 = 1404, "The library, object or text.";
    ADS_DD_TRIG_FUNCTION_NAME: u16 = 1405, "The function.";
    ADS_DD_TRIG_PRIORITY: u16 = 1406, "The place among the table's triggers.";
    ADS_DD_TRIG_OPTIONS: u16 = 1407, "The options.";
    ADS_DD_TRIG_TABLENAME: u16 = 1408, "The name of its table.";
    ADS_DD_TRIG_CONTAINER_W: u16 = 1409, "`ADS_DD_TRIG_CONTAINER` in UTF-16.";

    // Properties of replication.
    ADS_DD_PUBLICATION_OPTIONS: u16 = 1500, "The options of a publication.";
    ADS_DD_ARTICLE_FILTER: u16 = 1600, "Which records are published.";
    ADS_DD_ARTICLE_ID_COLUMNS: u16 = 1601, "The columns that name a record.";
    ADS_DD_ARTICLE_ID_COLUMN_NUMBERS: u16 = 1602, "Their numbers.";
    ADS_DD_ARTICLE_FILTER_SHORT: u16 = 1603, "The filter in its short form.";
    ADS_DD_ARTICLE_INCLUDE_COLUMNS: u16 = 1604, "The columns that are published.";
    ADS_DD_ARTICLE_EXCLUDE_COLUMNS: u16 = 1605, "The columns that are not.";
    ADS_DD_ARTICLE_INC_COLUMN_NUMBERS: u16 = 1606, "The numbers of the columns that are.";
    ADS_DD_ARTICLE_INSERT_MERGE: u16 = 1607, "Whether new records merge into those that exist.";
    ADS_DD_ARTICLE_UPDATE_MERGE: u16 = 1608, "Whether changed records are made when they lack.";
    ADS_DD_ARTICLE_FILTER_W: u16 = 1609, "`ADS_DD_ARTICLE_FILTER` in UTF-16.";
    ADS_DD_SUBSCR_PUBLICATION_NAME: u16 = 1700, "The publication of a subscription.";
    ADS_DD_SUBSCR_TARGET: u16 = 1701, "The path of the target.";
    ADS_DD_SUBSCR_USERNAME: u16 = 1702, "The user there.";
    ADS_DD_SUBSCR_PASSWORD: u16 = 1703, "The user's password.";
    ADS_DD_SUBSCR_FORWARD: u16 = 1704, "Whether changes that came by replication go on.";
    ADS_DD_SUBSCR_ENABLED: u16 = 1705, "Whether it is on.";
    ADS_DD_SUBSCR_QUEUE_NAME: u16 = 1706, "The queue.";
    ADS_DD_SUBSCR_OPTIONS: u16 = 1707, "The options.";
    ADS_DD_SUBSCR_QUEUE_NAME_RELATIVE: u16 = 1708, "The queue seen from the dictionary.";
    ADS_DD_SUBSCR_PAUSED: u16 = 1709, "Whether it pauses.";
    ADS_DD_SUBSCR_COMM_TCP_IP: u16 = 1710, "Whether it goes over TCP.";
    ADS_DD_SUBSCR_COMM_TCP_IP_V6: u16 = 1711, "Whether it goes over TCP and IPv6.";
    ADS_DD_SUBSCR_COMM_UDP_IP: u16 = 1712, "Whether it goes over UDP.";
    ADS_DD_SUBSCR_COMM_IPX: u16 = 1713, "Whether it goes over IPX.";
    ADS_DD_SUBSCR_OPTIONS_INTERNAL: u16 = 1714, "All options with those of the connection.";
    ADS_DD_SUBSCR_COMM_TLS: u16 = 1715, "Whether it goes over TLS.";
    ADS_DD_SUBSCR_CONNECTION_STR: u16 = 1716, "The connection string.";

    // Levels of safety over the internet (`ADS_DD_INTERNET_SECURITY_LEVEL`).
    ADS_DD_LEVEL_0: u16 = 0, "The lowest.";
    ADS_DD_LEVEL_1: u16 = 1, "The middle one.";
    ADS_DD_LEVEL_2: u16 = 2, "The highest.";

    // What rules between tables do.
    ADS_DD_RI_CASCADE: u16 = 1, "Carry the change on.";
    ADS_DD_RI_RESTRICT: u16 = 2, "Forbid the change.";
    ADS_DD_RI_SETNULL: u16 = 3, "Set null.";
    ADS_DD_RI_SETDEFAULT: u16 = 4, "Set the default value.";

    // Default values of fields.
    ADS_DD_DFV_UNKNOWN: u16 = 1, "Whether there are some is not known.";
    ADS_DD_DFV_NONE: u16 = 2, "There are none.";
    ADS_DD_DFV_VALUES_STORED: u16 = 3, "There are some.";

    // Permissions (bits).
    ADS_PERMISSION_NONE: u32 = 0x0000, "None.";
    ADS_PERMISSION_READ: u32 = 0x0001, "To read.";
    ADS_PERMISSION_UPDATE: u32 = 0x0002, "To change.";
    ADS_PERMISSION_EXECUTE: u32 = 0x0004, "To run.";
    ADS_PERMISSION_INHERIT: u32 = 0x0008, "Those of the user's groups.";
    ADS_PERMISSION_INSERT: u32 = 0x0010, "To add records.";
    ADS_PERMISSION_DELETE: u32 = 0x0020, "To delete records.";
    ADS_PERMISSION_LINK_ACCESS: u32 = 0x0040, "To use a link.";
    ADS_PERMISSION_CREATE: u32 = 0x0080, "To make objects.";
    ADS_PERMISSION_ALTER: u32 = 0x0100, "To alter objects.";
    ADS_PERMISSION_DROP: u32 = 0x0200, "To remove objects.";
    ADS_PERMISSION_WITH_GRANT: u32 = 0x8000_0000, "To hand permissions on.";
    ADS_PERMISSION_ALL_WITH_GRANT: u32 = 0x8fff_ffff, "All, and to hand them on.";
    ADS_PERMISSION_ALL: u32 = 0xffff_ffff, "All.";
    ADS_GET_PERMISSIONS_WITH_GRANT: u32 = 0x8000_ffff, "Ask which permissions may be handed on.";
    ADS_GET_PERMISSIONS_CREATE: u32 = 0xffff_0080, "Ask for permissions to make objects.";
    ADS_GET_PERMISSIONS_CREATE_WITH_GRANT: u32 = 0x8fff_ff8f, "Ask which of those may be handed on.";

    // Options of a link (bits).
    ADS_LINK_GLOBAL: u32 = 0x0001, "Every user may use it.";
    ADS_LINK_AUTH_ACTIVE_USER: u32 = 0x0002, "Log in there as the user who uses it.";
    ADS_LINK_PATH_IS_STATIC: u32 = 0x0004, "Keep the path as it was given.";

    // Events of triggers.
    ADS_TRIGEVENT_INSERT: u16 = 1, "A new record.";
    ADS_TRIGEVENT_UPDATE: u16 = 2, "A changed record.";
    ADS_TRIGEVENT_DELETE: u16 = 3, "A deleted record.";
    ADS_TRIGEVENT_OPEN_TABLE: u16 = 4, "A table opens.";
    ADS_TRIGEVENT_CLOSE_TABLE: u16 = 5, "A table closes.";
    ADS_TRIGEVENT_CONNECT: u16 = 6, "A user comes.";
    ADS_TRIGEVENT_DISCONNECT: u16 = 7, "A user goes.";

    // When triggers run (bits).
    ADS_TRIGTYPE_BEFORE: u32 = 0x0001, "Before the event.";
    ADS_TRIGTYPE_INSTEADOF: u32 = 0x0002, "Instead of the event.";
    ADS_TRIGTYPE_AFTER: u32 = 0x0004, "After the event.";
    ADS_TRIGTYPE_CONFLICTON: u32 = 0x0008, "When a change by replication conflicts.";

    // What holds a trigger.
    ADS_TRIG_WIN32DLL: u16 = 1, "A library.";
    ADS_TRIG_COM: u16 = 2, "A COM object.";
    ADS_TRIG_SCRIPT: u16 = 3, "SQL text.";

    // Options of triggers (bits).
    ADS_TRIGOPTIONS_NO_VALUES: u32 = 0x0000, "No values.";
    ADS_TRIGOPTIONS_WANT_VALUES: u32 = 0x0001, "The values of the record.";
    ADS_TRIGOPTIONS_WANT_MEMOS_AND_BLOBS: u32 = 0x0002, "Memos and binaries too.";
    ADS_TRIGOPTIONS_DEFAULT: u32 = 0x0003, "Values, memos and binaries.";
    ADS_TRIGOPTIONS_NO_TRANSACTION: u32 = 0x0004, "Without a transaction of its own.";

    // How strictly permissions of columns are checked.
    ADS_DD_TABLE_PERMISSION_LEVEL_1: u16 = 1, "Every column may be searched.";
    ADS_DD_TABLE_PERMISSION_LEVEL_2: u16 = 2, "Columns with permission may be searched.";
    ADS_DD_TABLE_PERMISSION_LEVEL_3: u16 = 3, "Static cursors only.";

    // Options of objects (bits).
    ADS_KEEP_TABLE_FILE_NAME: u32 = 0x0001, "Rename the object, not the file.";
    ADS_IDENTIFY_BY_PRIMARY: u32 = 0x0001, "Records of an article are named by their primary key.";
    ADS_IDENTIFY_BY_ALL: u32 = 0x0002, "Records of an article are named by all their columns.";
    ADS_SUBSCR_QUEUE_IS_STATIC: u32 = 0x0001, "Keep the path of the queue as it was given.";
    ADS_SUBSCR_AIS_TARGET: u32 = 0x0002, "Reach the target over the internet.";
    ADS_SUBSCR_IGNORE_FAILED_REP: u32 = 0x0004, "Drop changes that fail at the target.";
    ADS_SUBSCR_LOG_FAILED_REP_DATA: u32 = 0x0008, "Log the data of changes that fail at the target.";
}}
