/*
 * ace.h: the C interface of libace.so, the Advantage Client Engine over Tidemill.
 *
 * Names, values, types and layouts are those of version 12 of the Advantage SDK, so that a program compiles against
 * this header or SAP's and runs with either. Where each was found: docs/ace/provenance.md. What each function does
 * here, and which answer AE_FUNCTION_NOT_AVAILABLE: docs/ace/functions.md.
 */

#ifndef __ACE_INCLUDED__
#define __ACE_INCLUDED__

#define ADS_PATH_DELIMITER '/'
#ifndef ADS_LINUX
   #define ADS_LINUX
#endif

/* Calling conventions of Windows, of which Unix has one only. */
#ifndef WINAPI
   #define WINAPI
#endif
#ifndef ENTRYPOINT
   #define ENTRYPOINT
#endif

/* Types */
#ifndef VOID
   #define VOID void
#endif
typedef unsigned char UNSIGNED8;
typedef char SIGNED8;
typedef unsigned short UNSIGNED16;
typedef short SIGNED16;
typedef unsigned int UNSIGNED32;
typedef int SIGNED32;
#ifndef ADS_64INTS
   #define ADS_64INTS
   typedef unsigned long long UNSIGNED64;
   typedef long long SIGNED64;
#endif
typedef double DOUBLE;
/* UTF-16 */
#ifndef WCHAR_DEFINED
   #define WCHAR_DEFINED
   typedef unsigned short WCHAR;
#endif
/* A connection, table, index order, statement or search. As wide as a pointer. */
#ifndef ADSHANDLE_DEFINED
   #define ADSHANDLE_DEFINED
   typedef unsigned long ADSHANDLE;
#endif

/* A field by its number, from 1, where a function asks for its name. */
#define ADSFIELD( number ) ( (UNSIGNED8 *) (long) ( number ) )

/* Yes, no and "as usual" */
#define ADS_DEFAULT_SQL_TIMEOUT                0
#define ADS_FALSE                              0
#define ADS_TRUE                               1
#define ADS_DEFAULT                            0

/* Character types of a table */
#define ADS_ANSI                               1
#define ADS_OEM                                2

/* Checking rights */
#define ADS_CHECKRIGHTS                        1
#define ADS_IGNORERIGHTS                       2
#define ADS_RESPECT_RIGHTS_CHECKING            1
#define ADS_IGNORE_RIGHTS_CHECKING             2

/* Options of a connection (bits) */
#define ADS_INC_USERCOUNT                      0x00000001
#define ADS_STORED_PROC_CONN                   0x00000002
#define ADS_COMPRESS_ALWAYS                    0x00000004
#define ADS_COMPRESS_NEVER                     0x00000008
#define ADS_COMPRESS_INTERNET                  0x0000000C
#define ADS_REPLICATION_CONNECTION             0x00000010
#define ADS_UDP_IP_CONNECTION                  0x00000020
#define ADS_IPX_CONNECTION                     0x00000040
#define ADS_TCP_IP_CONNECTION                  0x00000080
#define ADS_TCP_IP_V6_CONNECTION               0x00000100
#define ADS_NOTIFICATION_CONNECTION            0x00000200
#define ADS_TLS_CONNECTION                     0x00001000
#define ADS_CHECK_FREE_TABLE_ACCESS            0x00002000

/* Options of opening and creating a table (bits) */
#define ADS_EXCLUSIVE                          0x00000001
#define ADS_READONLY                           0x00000002
#define ADS_SHARED                             0x00000004
#define ADS_CLIPPER_MEMOS                      0x00000008
#define ADS_TABLE_PERM_READ                    0x00000010
#define ADS_TABLE_PERM_UPDATE                  0x00000020
#define ADS_TABLE_PERM_INSERT                  0x00000040
#define ADS_TABLE_PERM_DELETE                  0x00000080
#define ADS_REINDEX_ON_COLLATION_MISMATCH      0x00000100
#define ADS_IGNORE_COLLATION_MISMATCH          0x00000200
#define ADS_FREE_TABLE                         0x00001000
#define ADS_TEMP_TABLE                         0x00002000
#define ADS_DICTIONARY_BOUND_TABLE             0x00004000
#define ADS_CACHE_READS                        0x20000000
#define ADS_CACHE_WRITES                       0x40000000

/* Options of creating an index (bits) */
#define ADS_ASCENDING                          0x00000000
#define ADS_UNIQUE                             0x00000001
#define ADS_COMPOUND                           0x00000002
#define ADS_CUSTOM                             0x00000004
#define ADS_DESCENDING                         0x00000008
#define ADS_USER_DEFINED                       0x00000010
#define ADS_FTS_INDEX                          0x00000020
#define ADS_FTS_FIXED                          0x00000040
#define ADS_FTS_CASE_SENSITIVE                 0x00000080
#define ADS_FTS_KEEP_SCORE                     0x00000100
#define ADS_FTS_PROTECT_NUMBERS                0x00000200
#define ADS_NOT_AUTO_OPEN                      0x00000400
#define ADS_CANDIDATE                          0x00000800
#define ADS_BINARY_INDEX                       0x00001000
#define ADS_FTS_ENCODE_UTF8                    0x00002000
#define ADS_FTS_ENCODE_UTF16                   0x00004000
#define ADS_ONLINE                             0x00200000
#define ADS_ALLOW_MULTIPLE_COLLATION           0x10000000
#define ADS_UCHAR_KEY_SHORT                    0x20000000
#define ADS_UCHAR_KEY_LONG                     0x40000000
#define ADS_UCHAR_KEY_XLONG                    0x60000000
#define ADS_INDEX_OPTIONS_MASK                 0x70207FFF

/* How text is given back (bits) */
#define ADS_NONE                               0x00000000
#define ADS_LTRIM                              0x00000001
#define ADS_RTRIM                              0x00000002
#define ADS_TRIM                               0x00000003
#define ADS_GET_UTF8                           0x00000004
#define ADS_DONT_CHECK_CONV_ERR                0x00000008
#define ADS_GET_FORMAT_ANSI                    0x00000010
#define ADS_GET_FORMAT_WEB                     0x00000030
#define ADS_GET_GUID_MIME                      0x00000100
#define ADS_GET_GUID_FILE                      0x00000200
#define ADS_GET_GUID_NUMBERS                   0x00000400
#define ADS_GET_GUID_REGISTRY                  0x00000800
#define ADS_NTS                                ( ( UNSIGNED16 ) -1 )

/* Locking modes */
#define ADS_COMPATIBLE_LOCKING                 0
#define ADS_PROPRIETARY_LOCKING                1

/* Seeks */
#define ADS_SOFTSEEK                           1
#define ADS_HARDSEEK                           2
#define ADS_SEEKGT                             4

/* Types of a key that is sought or set as a scope */
#define ADS_RAWKEY                             1
#define ADS_STRINGKEY                          2
#define ADS_DOUBLEKEY                          4
#define ADS_WSTRINGKEY                         8

/* How long a raw key shall be (AdsBuildRawKey100) */
#define ADS_GET_DEFAULT_KEY_LENGTH             0
#define ADS_GET_PARTIAL_FULL_KEY_LENGTH        1
#define ADS_GET_FULL_KEY_LENGTH                2
#define ADS_GET_PRIMARY_WEIGHT_LENGTH          4

/* The two ends of a scope */
#define ADS_TOP                                1
#define ADS_BOTTOM                             2

/* What a count or a move obeys */
#define ADS_RESPECTFILTERS                     1
#define ADS_IGNOREFILTERS                      2
#define ADS_RESPECTSCOPES                      3
#define ADS_REFRESHCOUNT                       4

/* Types of server (bits) */
#define ADS_LOCAL_SERVER                       0x00000001
#define ADS_REMOTE_SERVER                      0x00000002
#define ADS_AIS_SERVER                         0x00000004

/* Kinds of handle */
#define ADS_CONNECTION                         1
#define ADS_TABLE                              2
#define ADS_INDEX_ORDER                        3
#define ADS_STATEMENT                          4
#define ADS_CURSOR                             5
#define ADS_DATABASE_CONNECTION                6
#define ADS_FTS_INDEX_ORDER                    8

/* SQL cursors */
#define ADS_CURSOR_READONLY                    1
#define ADS_CURSOR_READWRITE                   2
#define ADS_CONSTRAIN                          1
#define ADS_NO_CONSTRAIN                       2
#define ADS_READ_ALL_COLUMNS                   1
#define ADS_READ_SELECT_COLUMNS                2

/* Looking at records under a new constraint */
#define ADS_NO_VALIDATE                        0
#define ADS_VALIDATE_NO_SAVE                   1
#define ADS_VALIDATE_WRITE_FAIL                2
#define ADS_VALIDATE_APPEND_FAIL               3
#define ADS_VALIDATE_RETURN_ERROR              4

/* Answers of AdsCompareBookmarks */
#define ADS_CMP_LESS                           ( -1 )
#define ADS_CMP_EQUAL                          0
#define ADS_CMP_GREATER                        1

/* Properties of a connection */
#define ADS_CONNECTIONPROP_USERNAME            0
#define ADS_CONNECTIONPROP_PASSWORD            1
#define ADS_CONNECTIONPROP_PROTOCOL            2
#define ADS_CONNECTIONPROP_ENCRYPTION_TYPE     3
#define ADS_CONNECTIONPROP_FIPS_MODE           4
#define ADS_CONNECTIONPROP_CERTIFICATE_FILE    5
#define ADS_CONNECTIONPROP_CIPHER_SUITE        6
#define ADS_CONNECTIONPROP_COMMON_NAME         7
#define ADS_CONNECTIONPROP_USING_TCP_IP        1
#define ADS_CONNECTIONPROP_USING_TLC           5

/* Options of a record's check sum (bits) */
#define ADS_CRC_LOCALLY                        0x00000001
#define ADS_CRC_IGNOREMEMOPAGES                0x00000002

/* Events, errors, properties */
#define ADS_EVENT_ASYNC                        1
#define ADS_EVENT_WITH_DATA                    2
#define ADS_PRESERVE_ERR                       1
#define ADS_CODE_PAGE                          1

/* Table types */
#define ADS_DATABASE_TABLE                     0
#define ADS_NTX                                1
#define ADS_CDX                                2
#define ADS_ADT                                3
#define ADS_VFP                                4

/* Forms of a file name */
#define ADS_BASENAME                           1
#define ADS_BASENAMEANDEXT                     2
#define ADS_FULLPATHNAME                       3
#define ADS_DATADICTIONARY_NAME                4
#define ADS_TABLE_OPEN_NAME                    5

/* How far indexes answer a filter */
#define ADS_OPTIMIZED_FULL                     1
#define ADS_OPTIMIZED_PART                     2
#define ADS_OPTIMIZED_NONE                     3

/* Options of an optimised filter (bits) */
#define ADS_DYNAMIC_AOF                        0x00000000
#define ADS_RESOLVE_IMMEDIATE                  0x00000001
#define ADS_RESOLVE_DYNAMIC                    0x00000002
#define ADS_KEYSET_AOF                         0x00000004
#define ADS_FIXED_AOF                          0x00000008
#define ADS_KEEP_AOF_PLAN                      0x00000010
#define ADS_ENCODE_UTF16                       0x00002000
#define ADS_ENCODE_UTF8                        0x00004000
#define ADS_ENCODING_MASK                      0x00006000

/* What AdsCustomizeAOF does */
#define ADS_AOF_ADD_RECORD                     1
#define ADS_AOF_REMOVE_RECORD                  2
#define ADS_AOF_TOGGLE_RECORD                  3

/* Kinds of stored procedure (bits) */
#define ADS_STORED_PROC                        0x00000001
#define ADS_COMSTORED_PROC                     0x00000002
#define ADS_SCRIPT_PROC                        0x00000004
#define ADS_PROC_VARYING_OUTPUT                0x00001000

/* Encryption of tables */
#define ADS_ENCRYPTION_RC4                     3
#define ADS_ENCRYPTION_AES128                  5
#define ADS_ENCRYPTION_AES256                  6

/* Limits (lengths do not count the zero byte at the end) */
#define ADS_MAX_DATEMASK                       12
#define ADS_MAX_ERROR_LEN                      600
#define ADS_MAX_INDEX_EXPR_LEN                 510
#define ADS_MAX_KEY_LENGTH                     4082
#define ADS_MAX_FIELD_NAME                     128
#define ADS_MAX_DBF_FIELD_NAME                 10
#define ADS_MAX_INDEXES                        15
#define ADS_MAX_PATH                           260
#define ADS_MAX_TABLE_NAME                     255
#define ADS_MAX_TAG_NAME                       128
#define ADS_MAX_TAGS                           256
#define ADS_MAX_OBJECT_NAME                    200
#define ADS_MAX_TABLE_AND_PATH                 515
#define ADS_MIN_ADI_PAGESIZE                   512
#define ADS_MAX_ADI_PAGESIZE                   8192

/* Field types */
#define ADS_TYPE_UNKNOWN                       0
#define ADS_LOGICAL                            1
#define ADS_NUMERIC                            2
#define ADS_DATE                               3
#define ADS_STRING                             4
#define ADS_MEMO                               5
#define ADS_BINARY                             6
#define ADS_IMAGE                              7
#define ADS_VARCHAR                            8
#define ADS_COMPACTDATE                        9
#define ADS_DOUBLE                             10
#define ADS_INTEGER                            11
#define ADS_SHORTINT                           12
#define ADS_TIME                               13
#define ADS_TIMESTAMP                          14
#define ADS_AUTOINC                            15
#define ADS_RAW                                16
#define ADS_CURDOUBLE                          17
#define ADS_MONEY                              18
#define ADS_LONGINT                            19
#define ADS_LONGLONG                           19
#define ADS_CISTRING                           20
#define ADS_ROWVERSION                         21
#define ADS_MODTIME                            22
#define ADS_VARCHAR_FOX                        23
#define ADS_VARBINARY_FOX                      24
#define ADS_SYSTEM_FIELD                       25
#define ADS_NCHAR                              26
#define ADS_NVARCHAR                           27
#define ADS_NMEMO                              28
#define ADS_GUID                               29

/* Functions of the program */
#define ADS_INDEX_UDF                          1

/* Management: kinds of server */
#define ADS_MAX_CFG_PATH                       256
#define ADS_MGMT_NETWARE_SERVER                1
#define ADS_MGMT_NETWARE4_OR_OLDER_SERVER      1
#define ADS_MGMT_NT_SERVER                     2
#define ADS_MGMT_LOCAL_SERVER                  3
#define ADS_MGMT_WIN9X_SERVER                  4
#define ADS_MGMT_NETWARE5_OR_NEWER_SERVER      5
#define ADS_MGMT_LINUX_SERVER                  6
#define ADS_MGMT_NT_SERVER_64_BIT              7
#define ADS_MGMT_LINUX_SERVER_64_BIT           8

/* Management: who holds a lock */
#define ADS_MGMT_NO_LOCK                       1
#define ADS_MGMT_RECORD_LOCK                   2
#define ADS_MGMT_FILE_LOCK                     3

/* Management: lengths and locking modes */
#define ADS_REG_OWNER_LEN                      36
#define ADS_REVISION_LEN                       16
#define ADS_INST_DATE_LEN                      16
#define ADS_OEM_CHAR_NAME_LEN                  16
#define ADS_ANSI_CHAR_NAME_LEN                 16
#define ADS_SERIAL_NUM_LEN                     16
#define ADS_MGMT_MAX_PATH                      260
#define ADS_MGMT_PROPRIETARY_LOCKING           1
#define ADS_MGMT_CDX_LOCKING                   2
#define ADS_MGMT_NTX_LOCKING                   3
#define ADS_MGMT_ADT_LOCKING                   4
#define ADS_MGMT_COMIX_LOCKING                 5
#define ADS_MAX_USER_NAME                      50
#define ADS_MAX_ADDRESS_SIZE                   30
#define ADS_MAX_MGMT_APPID_SIZE                70

/* Options of AdsMgKillUser90 */
#define ADS_PROPERTY_UNSPECIFIED               0
#define ADS_DONT_KILL_APPID                    1
#define ADS_RESTRICT_KILL                      2

/* Options of AdsGetFieldLength100 */
#define ADS_CODEUNIT_LENGTH                    0
#define ADS_BYTE_LENGTH                        1
#define ADS_BYTE_LENGTH_IN_BUFFER              2

/* Options of AdsFindServers */
#define ADS_FS_MULTICAST_ONLY                  1
#define ADS_FS_CONNECT_ALL                     2

/* Table caching */
#define ADS_TABLE_CACHE_NONE                   0
#define ADS_TABLE_CACHE_READS                  1
#define ADS_TABLE_CACHE_WRITES                 2

/* Options of AdsGetKeyFilter */
#define ADS_FILTER_FORMAT_ODATA                1
#define ADS_FILTER_ENCODE_UTF8                 2

/* Character types that name a collation */
#define CZECH_VFP_CI_AS_1250                   3
#define GENERAL_VFP_CI_AS_1250                 4
#define HUNGARY_VFP_CI_AS_1250                 5
#define MACHINE_VFP_BIN_1250                   6
#define POLISH_VFP_CI_AS_1250                  7
#define SLOVAK_VFP_CI_AS_1250                  8
#define MACHINE_VFP_BIN_1251                   9
#define RUSSIAN_VFP_CI_AS_1251                 10
#define DUTCH_VFP_CI_AS_1252                   11
#define GENERAL_VFP_CI_AS_1252                 12
#define GERMAN_VFP_CI_AS_1252                  13
#define ICELAND_VFP_CI_AS_1252                 14
#define MACHINE_VFP_BIN_1252                   15
#define NORDAN_VFP_CI_AS_1252                  16
#define SPANISH_VFP_CI_AS_1252                 17
#define SWEFIN_VFP_CI_AS_1252                  18
#define UNIQWT_VFP_CS_AS_1252                  19
#define GREEK_VFP_CI_AS_1253                   20
#define MACHINE_VFP_BIN_1253                   21
#define GENERAL_VFP_CI_AS_1254                 22
#define MACHINE_VFP_BIN_1254                   23
#define TURKISH_VFP_CI_AS_1254                 24
#define DUTCH_VFP_CI_AS_437                    25
#define GENERAL_VFP_CI_AS_437                  26
#define GERMAN_VFP_CI_AS_437                   27
#define ICELAND_VFP_CI_AS_437                  28
#define MACHINE_VFP_BIN_437                    29
#define NORDAN_VFP_CI_AS_437                   30
#define SPANISH_VFP_CI_AS_437                  31
#define SWEFIN_VFP_CI_AS_437                   32
#define UNIQWT_VFP_CS_AS_437                   33
#define GENERAL_VFP_CI_AS_620                  34
#define MACHINE_VFP_BIN_620                    35
#define POLISH_VFP_CI_AS_620                   36
#define GREEK_VFP_CI_AS_737                    37
#define MACHINE_VFP_BIN_737                    38
#define DUTCH_VFP_CI_AS_850                    39
#define GENERAL_VFP_CI_AS_850                  40
#define ICELAND_VFP_CI_AS_850                  41
#define MACHINE_VFP_BIN_850                    42
#define NORDAN_VFP_CI_AS_850                   43
#define SPANISH_VFP_CI_AS_850                  44
#define SWEFIN_VFP_CI_AS_850                   45
#define UNIQWT_VFP_CS_AS_850                   46
#define CZECH_VFP_CI_AS_852                    47
#define GENERAL_VFP_CI_AS_852                  48
#define HUNGARY_VFP_CI_AS_852                  49
#define MACHINE_VFP_BIN_852                    50
#define POLISH_VFP_CI_AS_852                   51
#define SLOVAK_VFP_CI_AS_852                   52
#define GENERAL_VFP_CI_AS_857                  53
#define MACHINE_VFP_BIN_857                    54
#define TURKISH_VFP_CI_AS_857                  55
#define GENERAL_VFP_CI_AS_861                  56
#define ICELAND_VFP_CI_AS_861                  57
#define MACHINE_VFP_BIN_861                    58
#define GENERAL_VFP_CI_AS_865                  59
#define MACHINE_VFP_BIN_865                    60
#define NORDAN_VFP_CI_AS_865                   61
#define SWEFIN_VFP_CI_AS_865                   62
#define MACHINE_VFP_BIN_866                    63
#define RUSSIAN_VFP_CI_AS_866                  64
#define CZECH_VFP_CI_AS_895                    65
#define GENERAL_VFP_CI_AS_895                  66
#define MACHINE_VFP_BIN_895                    67
#define SLOVAK_VFP_CI_AS_895                   68
#define DANISH_ADS_CS_AS_1252                  69
#define DUTCH_ADS_CS_AS_1252                   70
#define ENGL_AMER_ADS_CS_AS_1252               71
#define ENGL_CAN_ADS_CS_AS_1252                72
#define ENGL_UK_ADS_CS_AS_1252                 73
#define FINNISH_ADS_CS_AS_1252                 74
#define FRENCH_ADS_CS_AS_1252                  75
#define FRENCH_CAN_ADS_CS_AS_1252              76
#define GERMAN_ADS_CS_AS_1252                  77
#define ICELANDIC_ADS_CS_AS_1252               78
#define ITALIAN_ADS_CS_AS_1252                 79
#define NORWEGIAN_ADS_CS_AS_1252               80
#define PORTUGUESE_ADS_CS_AS_1252              81
#define SPANISH_ADS_CS_AS_1252                 82
#define SPAN_MOD_ADS_CS_AS_1252                83
#define SWEDISH_ADS_CS_AS_1252                 84
#define RUSSIAN_ADS_CS_AS_1251                 85
#define ASCII_ADS_CS_AS_1252                   86
#define TURKISH_ADS_CS_AS_1254                 87
#define POLISH_ADS_CS_AS_1250                  88
#define BALTIC_ADS_CS_AS_1257                  89
#define UKRAINIAN_ADS_CS_AS_1251               90
#define DUDEN_DE_ADS_CS_AS_1252                91
#define USA_ADS_CS_AS_437                      92
#define DANISH_ADS_CS_AS_865                   93
#define DUTCH_ADS_CS_AS_850                    94
#define FINNISH_ADS_CS_AS_865                  95
#define FRENCH_ADS_CS_AS_863                   96
#define GERMAN_ADS_CS_AS_850                   97
#define GREEK437_ADS_CS_AS_437                 98
#define GREEK851_ADS_CS_AS_851                 99
#define ICELD850_ADS_CS_AS_850                 100
#define ICELD861_ADS_CS_AS_861                 101
#define ITALIAN_ADS_CS_AS_850                  102
#define NORWEGN_ADS_CS_AS_865                  103
#define PORTUGUE_ADS_CS_AS_860                 104
#define SPANISH_ADS_CS_AS_852                  105
#define SWEDISH_ADS_CS_AS_865                  106
#define MAZOVIA_ADS_CS_AS_852                  107
#define PC_LATIN_ADS_CS_AS_852                 108
#define ISOLATIN_ADS_CS_AS_850                 109
#define RUSSIAN_ADS_CS_AS_866                  110
#define NTXCZ852_ADS_CS_AS_852                 111
#define NTXCZ895_ADS_CS_AS_895                 112
#define NTXSL852_ADS_CS_AS_852                 113
#define NTXSL895_ADS_CS_AS_895                 114
#define NTXHU852_ADS_CS_AS_852                 115
#define NTXPL852_ADS_CS_AS_852                 116
#define TURKISH_ADS_CS_AS_857                  117
#define BOSNIAN_ADS_CS_AS_775                  118
#define ADS_MAX_CHAR_SETS                      118

/*
 * Error codes. AE_FUNCTION_NOT_AVAILABLE is Tidemill's name of AE_NOT_IMPLEMENTED: what functions answer that do
 * nothing yet. The SDK does not have the name.
 */
#define AE_SUCCESS                             0
#define AE_ALLOCATION_FAILED                   5001
#define AE_COMM_MISMATCH                       5002
#define AE_DATA_TOO_LONG                       5003
#define AE_FILE_NOT_FOUND                      5004
#define AE_INSUFFICIENT_BUFFER                 5005
#define AE_INVALID_BOOKMARK                    5006
#define AE_INVALID_CALLBACK                    5007
#define AE_INVALID_CENTURY                     5008
#define AE_INVALID_DATEFORMAT                  5009
#define AE_INVALID_DECIMALS                    5010
#define AE_INVALID_EXPRESSION                  5011
#define AE_INVALID_FIELDDEF                    5012
#define AE_INVALID_FILTER_OPTION               5013
#define AE_INVALID_INDEX_HANDLE                5014
#define AE_INVALID_INDEX_NAME                  5015
#define AE_INVALID_INDEX_ORDER_NAME            5016
#define AE_INVALID_INDEX_TYPE                  5017
#define AE_INVALID_HANDLE                      5018
#define AE_INVALID_OPTION                      5019
#define AE_INVALID_PATH                        5020
#define AE_INVALID_POINTER                     5021
#define AE_INVALID_RECORD_NUMBER               5022
#define AE_INVALID_TABLE_HANDLE                5023
#define AE_INVALID_CONNECTION_HANDLE           5024
#define AE_INVALID_TABLETYPE                   5025
#define AE_INVALID_WORKAREA                    5026
#define AE_INVALID_CHARSETTYPE                 5027
#define AE_INVALID_LOCKTYPE                    5028
#define AE_INVALID_RIGHTSOPTION                5029
#define AE_INVALID_FIELDNUMBER                 5030
#define AE_INVALID_KEY_LENGTH                  5031
#define AE_INVALID_FIELDNAME                   5032
#define AE_NO_DRIVE_CONNECTION                 5033
#define AE_FILE_NOT_ON_SERVER                  5034
#define AE_LOCK_FAILED                         5035
#define AE_NO_CONNECTION                       5036
#define AE_NO_FILTER                           5037
#define AE_NO_SCOPE                            5038
#define AE_NO_TABLE                            5039
#define AE_NO_WORKAREA                         5040
#define AE_NOT_FOUND                           5041
#define AE_NOT_IMPLEMENTED                     5042
#define AE_MAX_THREADS_EXCEEDED                5043
#define AE_START_THREAD_FAIL                   5044
#define AE_TOO_MANY_INDEXES                    5045
#define AE_TOO_MANY_TAGS                       5046
#define AE_TRANS_OUT_OF_SEQUENCE               5047
#define AE_UNKNOWN_ERRCODE                     5048
#define AE_UNSUPPORTED_COLLATION               5049
#define AE_NAME_TOO_LONG                       5050
#define AE_DUPLICATE_ALIAS                     5051
#define AE_TABLE_CLOSED_IN_TRANSACTION         5053
#define AE_PERMISSION_DENIED                   5054
#define AE_STRING_NOT_FOUND                    5055
#define AE_UNKNOWN_CHAR_SET                    5056
#define AE_INVALID_OEM_CHAR_FILE               5057
#define AE_INVALID_MEMO_BLOCK_SIZE             5058
#define AE_NO_FILE_FOUND                       5059
#define AE_NO_INF_LOCK                         5060
#define AE_INF_FILE_ERROR                      5061
#define AE_RECORD_NOT_LOCKED                   5062
#define AE_ILLEGAL_COMMAND_DURING_TRANS        5063
#define AE_TABLE_NOT_SHARED                    5064
#define AE_INDEX_ALREADY_OPEN                  5065
#define AE_INVALID_FIELD_TYPE                  5066
#define AE_TABLE_NOT_EXCLUSIVE                 5067
#define AE_NO_CURRENT_RECORD                   5068
#define AE_PRECISION_LOST                      5069
#define AE_INVALID_DATA_TYPE                   5070
#define AE_DATA_TRUNCATED                      5071
#define AE_TABLE_READONLY                      5072
#define AE_INVALID_RECORD_LENGTH               5073
#define AE_NO_ERROR_MESSAGE                    5074
#define AE_INDEX_SHARED                        5075
#define AE_INDEX_EXISTS                        5076
#define AE_CYCLIC_RELATION                     5077
#define AE_INVALID_RELATION                    5078
#define AE_INVALID_DAY                         5079
#define AE_INVALID_MONTH                       5080
#define AE_CORRUPT_TABLE                       5081
#define AE_INVALID_BINARY_OFFSET               5082
#define AE_BINARY_FILE_ERROR                   5083
#define AE_INVALID_DELETED_BYTE_VALUE          5084
#define AE_NO_PENDING_UPDATE                   5085
#define AE_PENDING_UPDATE                      5086
#define AE_TABLE_NOT_LOCKED                    5087
#define AE_CORRUPT_INDEX                       5088
#define AE_AUTOOPEN_INDEX                      5089
#define AE_SAME_TABLE                          5090
#define AE_INVALID_IMAGE                       5091
#define AE_COLLATION_SEQUENCE_MISMATCH         5092
#define AE_INVALID_INDEX_ORDER                 5093
#define AE_TABLE_CACHED                        5094
#define AE_INVALID_DATE                        5095
#define AE_ENCRYPTION_NOT_ENABLED              5096
#define AE_INVALID_PASSWORD                    5097
#define AE_TABLE_ENCRYPTED                     5098
#define AE_SERVER_MISMATCH                     5099
#define AE_INVALID_USERNAME                    5100
#define AE_INVALID_VALUE                       5101
#define AE_INVALID_CONTINUE                    5102
#define AE_UNRECOGNIZED_VERSION                5103
#define AE_RECORD_ENCRYPTED                    5104
#define AE_UNRECOGNIZED_ENCRYPTION             5105
#define AE_INVALID_SQLSTATEMENT_HANDLE         5106
#define AE_INVALID_SQLCURSOR_HANDLE            5107
#define AE_NOT_PREPARED                        5108
#define AE_CURSOR_NOT_CLOSED                   5109
#define AE_INVALID_SQL_PARAM_NUMBER            5110
#define AE_INVALID_SQL_PARAM_NAME              5111
#define AE_INVALID_COLUMN_NUMBER               5112
#define AE_INVALID_COLUMN_NAME                 5113
#define AE_INVALID_READONLY_OPTION             5114
#define AE_IS_CURSOR_HANDLE                    5115
#define AE_INDEX_EXPR_NOT_FOUND                5116
#define AE_NOT_DML                             5117
#define AE_INVALID_CONSTRAIN_TYPE              5118
#define AE_INVALID_CURSORHANDLE                5119
#define AE_OBSOLETE_FUNCTION                   5120
#define AE_TADSDATASET_GENERAL                 5121
#define AE_UDF_OVERWROTE_BUFFER                5122
#define AE_INDEX_UDF_NOT_SET                   5123
#define AE_CONCURRENT_PROBLEM                  5124
#define AE_INVALID_DICTIONARY_HANDLE           5125
#define AE_INVALID_PROPERTY_ID                 5126
#define AE_INVALID_PROPERTY                    5127
#define AE_DICTIONARY_ALREADY_EXISTS           5128
#define AE_INVALID_FIND_HANDLE                 5129
#define AE_DD_REQUEST_NOT_COMPLETED            5130
#define AE_INVALID_OBJECT_ID                   5131
#define AE_INVALID_OBJECT_NAME                 5132
#define AE_INVALID_PROPERTY_LENGTH             5133
#define AE_INVALID_KEY_OPTIONS                 5134
#define AE_CONSTRAINT_VALIDATION_ERROR         5135
#define AE_INVALID_OBJECT_TYPE                 5136
#define AE_NO_OBJECT_FOUND                     5137
#define AE_PROPERTY_NOT_SET                    5138
#define AE_NO_PRIMARY_KEY_EXISTS               5139
#define AE_LOCAL_CONN_DISABLED                 5140
#define AE_RI_RESTRICT                         5141
#define AE_RI_CASCADE                          5142
#define AE_RI_FAILED                           5143
#define AE_RI_CORRUPTED                        5144
#define AE_RI_UNDO_FAILED                      5145
#define AE_RI_RULE_EXISTS                      5146
#define AE_COLUMN_CANNOT_BE_NULL               5147
#define AE_MIN_CONSTRAINT_VIOLATION            5148
#define AE_MAX_CONSTRAINT_VIOLATION            5149
#define AE_RECORD_CONSTRAINT_VIOLATION         5150
#define AE_CANNOT_DELETE_TEMP_INDEX            5151
#define AE_RESTRUCTURE_FAILED                  5152
#define AE_INVALID_STATEMENT                   5153
#define AE_STORED_PROCEDURE_FAILED             5154
#define AE_INVALID_DICTIONARY_FILE             5155
#define AE_NOT_MEMBER_OF_GROUP                 5156
#define AE_ALREADY_MEMBER_OF_GROUP             5157
#define AE_INVALID_OBJECT_RIGHT                5158
#define AE_INVALID_OBJECT_PERMISSION           5158
#define AE_CANNOT_OPEN_DATABASE_TABLE          5159
#define AE_INVALID_CONSTRAINT                  5160
#define AE_NOT_ADMINISTRATOR                   5161
#define AE_NO_TABLE_ENCRYPTION_PASSWORD        5162
#define AE_TABLE_NOT_ENCRYPTED                 5163
#define AE_INVALID_ENCRYPTION_VERSION          5164
#define AE_NO_STORED_PROC_EXEC_RIGHTS          5165
#define AE_DD_UNSUPPORTED_DEPLOYMENT           5166
#define AE_INFO_AUTO_CREATION_OCCURRED         5168
#define AE_INFO_COPY_MADE_BY_CLIENT            5169
#define AE_DATABASE_REQUIRES_NEW_SERVER        5170
#define AE_COLUMN_PERMISSION_DENIED            5171
#define AE_DATABASE_REQUIRES_NEW_CLIENT        5172
#define AE_INVALID_LINK_NUMBER                 5173
#define AE_LINK_ACTIVATION_FAILED              5174
#define AE_INDEX_COLLATION_MISMATCH            5175
#define AE_ILLEGAL_USER_OPERATION              5176
#define AE_TRIGGER_FAILED                      5177
#define AE_NO_ASA_FUNCTION_FOUND               5178
#define AE_VALUE_OVERFLOW                      5179
#define AE_UNRECOGNIZED_FTS_VERSION            5180
#define AE_TRIG_CREATION_FAILED                5181
#define AE_MEMTABLE_SIZE_EXCEEDED              5182
#define AE_OUTDATED_CLIENT_VERSION             5183
#define AE_FREE_TABLE                          5184
#define AE_LOCAL_CONN_RESTRICTED               5185
#define AE_OLD_RECORD                          5186
#define AE_QUERY_NOT_ACTIVE                    5187
#define AE_KEY_EXCEEDS_PAGE_SIZE               5188
#define AE_TABLE_FOUND                         5189
#define AE_TABLE_NOT_FOUND                     5190
#define AE_LOCK_OBJECT                         5191
#define AE_INVALID_REPLICATION_IDENT           5192
#define AE_ILLEGAL_COMMAND_DURING_BACKUP       5193
#define AE_NO_MEMO_FILE                        5194
#define AE_SUBSCRIPTION_QUEUE_NOT_EMPTY        5195
#define AE_UNABLE_TO_DISABLE_TRIGGERS          5196
#define AE_UNABLE_TO_ENABLE_TRIGGERS           5197
#define AE_BACKUP                              5198
#define AE_FREETABLEFAILED                     5199
#define AE_BLURRY_SNAPSHOT                     5200
#define AE_INVALID_VERTICAL_FILTER             5201
#define AE_INVALID_USE_OF_HANDLE_IN_AEP        5202
#define AE_COLLATION_NOT_RECOGNIZED            5203
#define AE_INVALID_COLLATION                   5204
#define AE_NOT_VFP_NULLABLE_FIELD              5205
#define AE_NOT_VFP_VARIABLE_FIELD              5206
#define AE_ILLEGAL_EVENT_COMMAND               5207
#define AE_KEY_CANNOT_BE_NULL                  5208
#define AE_COLLATIONS_DO_NOT_MATCH             5209
#define AE_INVALID_APPID                       5210
#define AE_UNICODE_CONVERSION                  5211
#define AE_UNICODE_COLLATION                   5212
#define AE_SERVER_ENUMERATION_ERROR            5213
#define AE_UNABLE_TO_LOAD_SSL                  5214
#define AE_UNABLE_TO_VERIFY_SIGNATURE          5215
#define AE_UNABLE_TO_LOAD_SSL_ENTRYPOINT       5216
#define AE_CRYPTO_ERROR                        5217
#define AE_UNRECOGNIZED_CIPHER                 5218
#define AE_FIPS_MODE_ENCRYPTION                5219
#define AE_FIPS_REQUIRED                       5220
#define AE_FIPS_NOT_ALLOWED                    5221
#define AE_FIPS_MODE_FAILED                    5222
#define AE_PASSWORD_REQUIRED                   5223
#define AE_CONNECTION_TIMED_OUT                5224
#define AE_DELTA_SUPPORT_NOT_POSSIBLE          5225
#define AE_QUERY_LOGGING_ERROR                 5226
#define AE_COMPRESSION_FAILED                  5227
#define AE_INVALID_DATA                        5228
#define AE_ROWVERSION_REQUIRED                 5229
#define AE_FUNCTION_NOT_AVAILABLE              AE_NOT_IMPLEMENTED

/* Data dictionaries, which are not served yet. */

/* Limits */
#define ADS_DD_PROPERTY_NOT_AVAIL              65535
#define ADS_DD_MAX_PROPERTY_LEN                65534
#define ADS_DD_MAX_OBJECT_NAME_LEN             200

/* Kinds of object */
#define ADS_DD_UNKNOWN_OBJECT                  0
#define ADS_DD_TABLE_OBJECT                    1
#define ADS_DD_RELATION_OBJECT                 2
#define ADS_DD_INDEX_FILE_OBJECT               3
#define ADS_DD_FIELD_OBJECT                    4
#define ADS_DD_COLUMN_OBJECT                   4
#define ADS_DD_INDEX_OBJECT                    5
#define ADS_DD_VIEW_OBJECT                     6
#define ADS_DD_VIEW_OR_TABLE_OBJECT            7
#define ADS_DD_USER_OBJECT                     8
#define ADS_DD_USER_GROUP_OBJECT               9
#define ADS_DD_PROCEDURE_OBJECT                10
#define ADS_DD_DATABASE_OBJECT                 11
#define ADS_DD_LINK_OBJECT                     12
#define ADS_DD_TABLE_VIEW_OR_LINK_OBJECT       13
#define ADS_DD_TRIGGER_OBJECT                  14
#define ADS_DD_PUBLICATION_OBJECT              15
#define ADS_DD_ARTICLE_OBJECT                  16
#define ADS_DD_SUBSCRIPTION_OBJECT             17
#define ADS_DD_FUNCTION_OBJECT                 18
#define ADS_DD_PACKAGE_OBJECT                  19
#define ADS_DD_QUALIFIED_TRIGGER_OBJ           20
#define ADS_DD_PERMISSION_OBJECT               21
#define ADS_DD_DATABASE_TRIGGER_OBJ            22

/* Properties of every object */
#define ADS_DD_COMMENT                         1
#define ADS_DD_VERSION                         2
#define ADS_DD_USER_DEFINED_PROP               3
#define ADS_DD_OBJECT_NAME                     4
#define ADS_DD_TRIGGERS_DISABLED               5
#define ADS_DD_OBJECT_ID                       6
#define ADS_DD_OPTIONS                         7

/* Bits of ADS_DD_QUERY_VIA_ROOT */
#define ADS_DD_QVR_OPT_QUERY                   0x00000001
#define ADS_DD_QVR_OPT_PROCEDURE               0x00000002

/* Properties of the dictionary */
#define ADS_DD_DEFAULT_TABLE_PATH              100
#define ADS_DD_ADMIN_PASSWORD                  101
#define ADS_DD_TEMP_TABLE_PATH                 102
#define ADS_DD_LOG_IN_REQUIRED                 103
#define ADS_DD_VERIFY_ACCESS_RIGHTS            104
#define ADS_DD_ENCRYPT_TABLE_PASSWORD          105
#define ADS_DD_ENCRYPT_NEW_TABLE               106
#define ADS_DD_ENABLE_INTERNET                 107
#define ADS_DD_INTERNET_SECURITY_LEVEL         108
#define ADS_DD_MAX_FAILED_ATTEMPTS             109
#define ADS_DD_ALLOW_ADSSYS_NET_ACCESS         110
#define ADS_DD_VERSION_MAJOR                   111
#define ADS_DD_VERSION_MINOR                   112
#define ADS_DD_LOGINS_DISABLED                 113
#define ADS_DD_LOGINS_DISABLED_ERRSTR          114
#define ADS_DD_FTS_DELIMITERS                  115
#define ADS_DD_FTS_NOISE                       116
#define ADS_DD_FTS_DROP_CHARS                  117
#define ADS_DD_FTS_CONDITIONAL_CHARS           118
#define ADS_DD_ENCRYPTED                       119
#define ADS_DD_ENCRYPT_INDEXES                 120
#define ADS_DD_QUERY_LOG_TABLE                 121
#define ADS_DD_ENCRYPT_COMMUNICATION           122
#define ADS_DD_DEFAULT_TABLE_RELATIVE_PATH     123
#define ADS_DD_TEMP_TABLE_RELATIVE_PATH        124
#define ADS_DD_DISABLE_DLL_CACHING             125
#define ADS_DD_DATA_ENCRYPTION_TYPE            126
#define ADS_DD_FTS_DELIMITERS_W                127
#define ADS_DD_FTS_NOISE_W                     128
#define ADS_DD_FTS_DROP_CHARS_W                129
#define ADS_DD_FTS_CONDITIONAL_CHARS_W         130
#define ADS_DD_QUERY_VIA_ROOT                  131
#define ADS_DD_ENFORCE_MAX_FAILED_LOGINS       132
#define ADS_DD_DATABASE_TRIGGER_TYPES          133

/* Properties of a table */
#define ADS_DD_TABLE_VALIDATION_EXPR           200
#define ADS_DD_TABLE_VALIDATION_MSG            201
#define ADS_DD_TABLE_PRIMARY_KEY               202
#define ADS_DD_TABLE_AUTO_CREATE               203
#define ADS_DD_TABLE_TYPE                      204
#define ADS_DD_TABLE_PATH                      205
#define ADS_DD_TABLE_FIELD_COUNT               206
#define ADS_DD_TABLE_RI_GRAPH                  207
#define ADS_DD_TABLE_OBJ_ID                    208
#define ADS_DD_TABLE_RI_XY                     209
#define ADS_DD_TABLE_IS_RI_PARENT              210
#define ADS_DD_TABLE_RELATIVE_PATH             211
#define ADS_DD_TABLE_CHAR_TYPE                 212
#define ADS_DD_TABLE_DEFAULT_INDEX             213
#define ADS_DD_TABLE_ENCRYPTION                214
#define ADS_DD_TABLE_MEMO_BLOCK_SIZE           215
#define ADS_DD_TABLE_PERMISSION_LEVEL          216
#define ADS_DD_TABLE_TRIGGER_TYPES             217
#define ADS_DD_TABLE_TRIGGER_OPTIONS           218
#define ADS_DD_TABLE_CACHING                   219
#define ADS_DD_TABLE_TXN_FREE                  220
#define ADS_DD_TABLE_VALIDATION_EXPR_W         221
#define ADS_DD_TABLE_WEB_DELTA                 222
#define ADS_DD_TABLE_CONCURRENCY_ENABLED       223

/* Properties of a field */
#define ADS_DD_FIELD_OPT_VFP_NULLABLE          2
#define ADS_DD_FIELD_OPT_COMPRESSED            65536
#define ADS_DD_FIELD_DEFAULT_VALUE             300
#define ADS_DD_FIELD_CAN_NULL                  301
#define ADS_DD_FIELD_MIN_VALUE                 302
#define ADS_DD_FIELD_MAX_VALUE                 303
#define ADS_DD_FIELD_VALIDATION_MSG            304
#define ADS_DD_FIELD_DEFINITION                305
#define ADS_DD_FIELD_TYPE                      306
#define ADS_DD_FIELD_LENGTH                    307
#define ADS_DD_FIELD_DECIMAL                   308
#define ADS_DD_FIELD_NUM                       309
#define ADS_DD_FIELD_OPTIONS                   310
#define ADS_DD_FIELD_DEFAULT_VALUE_W           311
#define ADS_DD_FIELD_MIN_VALUE_W               312
#define ADS_DD_FIELD_MAX_VALUE_W               313

/* Properties of an index order */
#define ADS_DD_INDEX_FILE_NAME                 400
#define ADS_DD_INDEX_EXPRESSION                401
#define ADS_DD_INDEX_CONDITION                 402
#define ADS_DD_INDEX_OPTIONS                   403
#define ADS_DD_INDEX_KEY_LENGTH                404
#define ADS_DD_INDEX_KEY_TYPE                  405
#define ADS_DD_INDEX_FTS_MIN_LENGTH            406
#define ADS_DD_INDEX_FTS_DELIMITERS            407
#define ADS_DD_INDEX_FTS_NOISE                 408
#define ADS_DD_INDEX_FTS_DROP_CHARS            409
#define ADS_DD_INDEX_FTS_CONDITIONAL_CHARS     410
#define ADS_DD_INDEX_COLLATION                 411
#define ADS_DD_INDEX_FTS_DELIMITERS_W          412
#define ADS_DD_INDEX_FTS_NOISE_W               413
#define ADS_DD_INDEX_FTS_DROP_CHARS_W          414
#define ADS_DD_INDEX_FTS_CONDITIONAL_CHARS_W   415

/* Properties of a rule between tables */
#define ADS_DD_RI_PARENT_GRAPH                 500
#define ADS_DD_RI_PRIMARY_TABLE                501
#define ADS_DD_RI_PRIMARY_INDEX                502
#define ADS_DD_RI_FOREIGN_TABLE                503
#define ADS_DD_RI_FOREIGN_INDEX                504
#define ADS_DD_RI_UPDATERULE                   505
#define ADS_DD_RI_DELETERULE                   506
#define ADS_DD_RI_NO_PKEY_ERROR                507
#define ADS_DD_RI_CASCADE_ERROR                508

/* Properties of a group of users */
#define ADS_DD_USER_GROUP_NAME                 600

/* Properties of a view */
#define ADS_DD_VIEW_STMT                       700
#define ADS_DD_VIEW_STMT_LEN                   701
#define ADS_DD_VIEW_TRIGGER_TYPES              702
#define ADS_DD_VIEW_TRIGGER_OPTIONS            703
#define ADS_DD_VIEW_STMT_W                     704

/* Properties of a stored procedure */
#define ADS_DD_PROC_INPUT                      800
#define ADS_DD_PROC_OUTPUT                     801
#define ADS_DD_PROC_DLL_NAME                   802
#define ADS_DD_PROC_DLL_FUNCTION_NAME          803
#define ADS_DD_PROC_INVOKE_OPTION              804
#define ADS_DD_PROC_SCRIPT                     805
#define ADS_DD_PROC_SCRIPT_W                   806

/* Properties of an index file */
#define ADS_DD_INDEX_FILE_PATH                 900
#define ADS_DD_INDEX_FILE_PAGESIZE             901
#define ADS_DD_INDEX_FILE_RELATIVE_PATH        902
#define ADS_DD_INDEX_FILE_TYPE                 903

/* Rights of users and groups */
#define ADS_DD_TABLES_RIGHTS                   1001
#define ADS_DD_VIEWS_RIGHTS                    1002
#define ADS_DD_PROCS_RIGHTS                    1003
#define ADS_DD_OBJECTS_RIGHTS                  1004
#define ADS_DD_FREE_TABLES_RIGHTS              1005

/* Properties of a user */
#define ADS_DD_USER_PASSWORD                   1101
#define ADS_DD_USER_GROUP_MEMBERSHIP           1102
#define ADS_DD_USER_BAD_LOGINS                 1103
#define ADS_DD_CURRENT_USER_PASSWORD           1104
#define ADS_DD_REQUIRE_OLD_PASSWORD            1105

/* Properties of a link */
#define ADS_DD_LINK_PATH                       1300
#define ADS_DD_LINK_OPTIONS                    1301
#define ADS_DD_LINK_USERNAME                   1302
#define ADS_DD_LINK_RELATIVE_PATH              1303

/* Properties of a trigger */
#define ADS_DD_TRIG_TABLEID                    1400
#define ADS_DD_TRIG_EVENT_TYPE                 1401
#define ADS_DD_TRIG_TRIGGER_TYPE               1402
#define ADS_DD_TRIG_CONTAINER_TYPE             1403
#define ADS_DD_TRIG_CONTAINER                  1404
#define ADS_DD_TRIG_FUNCTION_NAME              1405
#define ADS_DD_TRIG_PRIORITY                   1406
#define ADS_DD_TRIG_OPTIONS                    1407
#define ADS_DD_TRIG_TABLENAME                  1408
#define ADS_DD_TRIG_CONTAINER_W                1409

/* Properties of replication */
#define ADS_DD_PUBLICATION_OPTIONS             1500
#define ADS_DD_ARTICLE_FILTER                  1600
#define ADS_DD_ARTICLE_ID_COLUMNS              1601
#define ADS_DD_ARTICLE_ID_COLUMN_NUMBERS       1602
#define ADS_DD_ARTICLE_FILTER_SHORT            1603
#define ADS_DD_ARTICLE_INCLUDE_COLUMNS         1604
#define ADS_DD_ARTICLE_EXCLUDE_COLUMNS         1605
#define ADS_DD_ARTICLE_INC_COLUMN_NUMBERS      1606
#define ADS_DD_ARTICLE_INSERT_MERGE            1607
#define ADS_DD_ARTICLE_UPDATE_MERGE            1608
#define ADS_DD_ARTICLE_FILTER_W                1609
#define ADS_DD_SUBSCR_PUBLICATION_NAME         1700
#define ADS_DD_SUBSCR_TARGET                   1701
#define ADS_DD_SUBSCR_USERNAME                 1702
#define ADS_DD_SUBSCR_PASSWORD                 1703
#define ADS_DD_SUBSCR_FORWARD                  1704
#define ADS_DD_SUBSCR_ENABLED                  1705
#define ADS_DD_SUBSCR_QUEUE_NAME               1706
#define ADS_DD_SUBSCR_OPTIONS                  1707
#define ADS_DD_SUBSCR_QUEUE_NAME_RELATIVE      1708
#define ADS_DD_SUBSCR_PAUSED                   1709
#define ADS_DD_SUBSCR_COMM_TCP_IP              1710
#define ADS_DD_SUBSCR_COMM_TCP_IP_V6           1711
#define ADS_DD_SUBSCR_COMM_UDP_IP              1712
#define ADS_DD_SUBSCR_COMM_IPX                 1713
#define ADS_DD_SUBSCR_OPTIONS_INTERNAL         1714
#define ADS_DD_SUBSCR_COMM_TLS                 1715
#define ADS_DD_SUBSCR_CONNECTION_STR           1716

/* Levels of safety over the internet (ADS_DD_INTERNET_SECURITY_LEVEL) */
#define ADS_DD_LEVEL_0                         0
#define ADS_DD_LEVEL_1                         1
#define ADS_DD_LEVEL_2                         2

/* What rules between tables do */
#define ADS_DD_RI_CASCADE                      1
#define ADS_DD_RI_RESTRICT                     2
#define ADS_DD_RI_SETNULL                      3
#define ADS_DD_RI_SETDEFAULT                   4

/* Default values of fields */
#define ADS_DD_DFV_UNKNOWN                     1
#define ADS_DD_DFV_NONE                        2
#define ADS_DD_DFV_VALUES_STORED               3

/* Permissions (bits) */
#define ADS_PERMISSION_NONE                    0x00000000
#define ADS_PERMISSION_READ                    0x00000001
#define ADS_PERMISSION_UPDATE                  0x00000002
#define ADS_PERMISSION_EXECUTE                 0x00000004
#define ADS_PERMISSION_INHERIT                 0x00000008
#define ADS_PERMISSION_INSERT                  0x00000010
#define ADS_PERMISSION_DELETE                  0x00000020
#define ADS_PERMISSION_LINK_ACCESS             0x00000040
#define ADS_PERMISSION_CREATE                  0x00000080
#define ADS_PERMISSION_ALTER                   0x00000100
#define ADS_PERMISSION_DROP                    0x00000200
#define ADS_PERMISSION_WITH_GRANT              0x80000000
#define ADS_PERMISSION_ALL_WITH_GRANT          0x8FFFFFFF
#define ADS_PERMISSION_ALL                     0xFFFFFFFF
#define ADS_GET_PERMISSIONS_WITH_GRANT         0x8000FFFF
#define ADS_GET_PERMISSIONS_CREATE             0xFFFF0080
#define ADS_GET_PERMISSIONS_CREATE_WITH_GRANT  0x8FFFFF8F

/* Options of a link (bits) */
#define ADS_LINK_GLOBAL                        0x00000001
#define ADS_LINK_AUTH_ACTIVE_USER              0x00000002
#define ADS_LINK_PATH_IS_STATIC                0x00000004

/* Events of triggers */
#define ADS_TRIGEVENT_INSERT                   1
#define ADS_TRIGEVENT_UPDATE                   2
#define ADS_TRIGEVENT_DELETE                   3
#define ADS_TRIGEVENT_OPEN_TABLE               4
#define ADS_TRIGEVENT_CLOSE_TABLE              5
#define ADS_TRIGEVENT_CONNECT                  6
#define ADS_TRIGEVENT_DISCONNECT               7

/* When triggers run (bits) */
#define ADS_TRIGTYPE_BEFORE                    0x00000001
#define ADS_TRIGTYPE_INSTEADOF                 0x00000002
#define ADS_TRIGTYPE_AFTER                     0x00000004
#define ADS_TRIGTYPE_CONFLICTON                0x00000008

/* What holds a trigger */
#define ADS_TRIG_WIN32DLL                      1
#define ADS_TRIG_COM                           2
#define ADS_TRIG_SCRIPT                        3

/* Options of triggers (bits) */
#define ADS_TRIGOPTIONS_NO_VALUES              0x00000000
#define ADS_TRIGOPTIONS_WANT_VALUES            0x00000001
#define ADS_TRIGOPTIONS_WANT_MEMOS_AND_BLOBS   0x00000002
#define ADS_TRIGOPTIONS_DEFAULT                0x00000003
#define ADS_TRIGOPTIONS_NO_TRANSACTION         0x00000004

/* How strictly permissions of columns are checked */
#define ADS_DD_TABLE_PERMISSION_LEVEL_1        1
#define ADS_DD_TABLE_PERMISSION_LEVEL_2        2
#define ADS_DD_TABLE_PERMISSION_LEVEL_3        3

/* Options of objects (bits) */
#define ADS_KEEP_TABLE_FILE_NAME               0x00000001
#define ADS_IDENTIFY_BY_PRIMARY                0x00000001
#define ADS_IDENTIFY_BY_ALL                    0x00000002
#define ADS_SUBSCR_QUEUE_IS_STATIC             0x00000001
#define ADS_SUBSCR_AIS_TARGET                  0x00000002
#define ADS_SUBSCR_IGNORE_FAILED_REP           0x00000004
#define ADS_SUBSCR_LOG_FAILED_REP_DATA         0x00000008

/* Names in connection strings and statements */
#define ADS_ENCRYPT_STRING_RC4                 "RC4"
#define ADS_ENCRYPT_STRING_AES128              "AES128"
#define ADS_ENCRYPT_STRING_AES256              "AES256"
#define ADS_CIPHER_SUITE_STRING_RC4            "RC4-MD5"
#define ADS_CIPHER_SUITE_STRING_AES128         "AES128-SHA"
#define ADS_CIPHER_SUITE_STRING_AES256         "AES256-SHA"
#define ADS_ROOT_DD_ALIAS                      "__rootdd"

/* Structures have no padding. */
#pragma pack( push, 1 )

/* AdsMgGetCommStats: what went over the network, 48 bytes. */
typedef struct {
   DOUBLE     dPercentCheckSums;
   UNSIGNED32 ulTotalPackets;
   UNSIGNED32 ulRcvPktOutOfSeq;
   UNSIGNED32 ulNotLoggedIn;
   UNSIGNED32 ulRcvReqOutOfSeq;
   UNSIGNED32 ulCheckSumFailures;
   UNSIGNED32 ulDisconnectedUsers;
   UNSIGNED32 ulPartialConnects;
   UNSIGNED32 ulInvalidPackets;
   UNSIGNED32 ulRecvFromErrors;
   UNSIGNED32 ulSendToErrors;
} ADS_MGMT_COMM_STATS;

/* AdsMgGetConfigInfo: how the server is set up. */
typedef struct {
   UNSIGNED32 ulNumConnections;
   UNSIGNED32 ulNumWorkAreas;
   UNSIGNED32 ulNumTables;
   UNSIGNED32 ulNumIndexes;
   UNSIGNED32 ulNumLocks;
   UNSIGNED32 ulUserBufferSize;
   UNSIGNED32 ulStatDumpInterval;
   UNSIGNED32 ulErrorLogMax;
   UNSIGNED32 ulNumTPSHeaderElems;
   UNSIGNED32 ulNumTPSVisibilityElems;
   UNSIGNED32 ulNumTPSMemoTransElems;
   UNSIGNED16 usNumReceiveECBs;
   UNSIGNED16 usNumSendECBs;
   UNSIGNED16 usNumBurstPackets;
   UNSIGNED16 usNumWorkerThreads;
   UNSIGNED32 ulSortBuffSize;
   UNSIGNED8  aucErrorLog[ADS_MAX_CFG_PATH];
   UNSIGNED8  aucSemaphore[ADS_MAX_CFG_PATH];
   UNSIGNED8  aucTransaction[ADS_MAX_CFG_PATH];
   UNSIGNED8  ucReserved3;
   UNSIGNED8  ucReserved4;
   UNSIGNED16 usSendIPPort;
   UNSIGNED16 usReceiveIPPort;
   UNSIGNED8  ucUseIPProtocol;
   UNSIGNED8  ucFlushEveryUpdate;
   UNSIGNED32 ulGhostTimeout;
   UNSIGNED32 ulFlushFrequency;
   UNSIGNED32 ulKeepAliveTimeOut;
   UNSIGNED8  ucDisplayNWLoginNames;
   UNSIGNED8  ucUseSemaphoreFiles;
   UNSIGNED8  ucUseDynamicAOFs;
   UNSIGNED8  ucUseInternet;
   UNSIGNED16 usInternetPort;
   UNSIGNED16 usMaxConnFailures;
   UNSIGNED32 ulInternetKeepAlive;
   UNSIGNED16 usCompressionLevel;
   UNSIGNED32 ulNumQueries;
   UNSIGNED16 usReceiveSSLPort;
} ADS_MGMT_CONFIG_PARAMS;

/* AdsMgGetConfigInfo: bytes of memory that each thing takes. */
typedef struct {
   UNSIGNED32 ulTotalConfigMem;
   UNSIGNED32 ulConnectionMem;
   UNSIGNED32 ulWorkAreaMem;
   UNSIGNED32 ulTableMem;
   UNSIGNED32 ulIndexMem;
   UNSIGNED32 ulLockMem;
   UNSIGNED32 ulUserBufferMem;
   UNSIGNED32 ulTPSHeaderElemMem;
   UNSIGNED32 ulTPSVisibilityElemMem;
   UNSIGNED32 ulTPSMemoTransElemMem;
   UNSIGNED32 ulReceiveEcbMem;
   UNSIGNED32 ulSendEcbMem;
   UNSIGNED32 ulWorkerThreadMem;
   UNSIGNED32 ulQueryMem;
} ADS_MGMT_CONFIG_MEMORY;

/* AdsMgGetInstallInfo: what is installed. */
typedef struct {
   UNSIGNED32 ulUserOption;
   UNSIGNED8  aucRegisteredOwner[ADS_REG_OWNER_LEN];
   UNSIGNED8  aucVersionStr[ADS_REVISION_LEN];
   UNSIGNED8  aucInstallDate[ADS_INST_DATE_LEN];
   UNSIGNED8  aucOemCharName[ADS_OEM_CHAR_NAME_LEN];
   UNSIGNED8  aucAnsiCharName[ADS_ANSI_CHAR_NAME_LEN];
   UNSIGNED8  aucEvalExpireDate[ADS_INST_DATE_LEN];
   UNSIGNED8  aucSerialNumber[ADS_SERIAL_NUM_LEN];
   UNSIGNED32 ulMaxStatefulUsers;
   UNSIGNED32 ulMaxStatelessUsers;
} ADS_MGMT_INSTALL_INFO;

/* How long the server runs. */
typedef struct {
   UNSIGNED16 usDays;
   UNSIGNED16 usHours;
   UNSIGNED16 usMinutes;
   UNSIGNED16 usSeconds;
} ADS_MGMT_UPTIME_INFO;

/* How many of a thing are in use, were at most, and were refused. */
typedef struct {
   UNSIGNED32 ulInUse;
   UNSIGNED32 ulMaxUsed;
   UNSIGNED32 ulRejected;
} ADS_MGMT_USAGE_INFO;

/* AdsMgGetActivityInfo: what the server does. */
typedef struct {
   UNSIGNED32           ulOperations;
   UNSIGNED32           ulLoggedErrors;
   ADS_MGMT_UPTIME_INFO stUpTime;
   ADS_MGMT_USAGE_INFO  stUsers;
   ADS_MGMT_USAGE_INFO  stConnections;
   ADS_MGMT_USAGE_INFO  stWorkAreas;
   ADS_MGMT_USAGE_INFO  stTables;
   ADS_MGMT_USAGE_INFO  stIndexes;
   ADS_MGMT_USAGE_INFO  stLocks;
   ADS_MGMT_USAGE_INFO  stTpsHeaderElems;
   ADS_MGMT_USAGE_INFO  stTpsVisElems;
   ADS_MGMT_USAGE_INFO  stTpsMemoElems;
   ADS_MGMT_USAGE_INFO  stWorkerThreads;
   ADS_MGMT_USAGE_INFO  stQueries;
   ADS_MGMT_USAGE_INFO  stStatefulUsers;
   ADS_MGMT_USAGE_INFO  stStatelessUsers;
} ADS_MGMT_ACTIVITY_INFO;

/* AdsMgGetUserNames, AdsMgGetLockOwner: a user. */
typedef struct {
   UNSIGNED8  aucUserName[ADS_MAX_USER_NAME];
   UNSIGNED16 usConnNumber;
   UNSIGNED8  aucAuthUserName[ADS_MAX_USER_NAME];
   UNSIGNED8  aucAddress[ADS_MAX_ADDRESS_SIZE];
   UNSIGNED8  aucOSUserLoginName[ADS_MAX_USER_NAME];
   UNSIGNED8  aucTSAddress[ADS_MAX_ADDRESS_SIZE];
   UNSIGNED8  aucApplicationID[ADS_MAX_MGMT_APPID_SIZE];
   UNSIGNED32 ulAveRequestCost;
   UNSIGNED16 usReserved1;
} ADS_MGMT_USER_INFO;

/* AdsMgGetOpenTables: a table and its locking mode. */
typedef struct {
   UNSIGNED8  aucTableName[ADS_MGMT_MAX_PATH];
   UNSIGNED16 usLockType;
} ADS_MGMT_TABLE_INFO;

/* AdsMgGetOpenIndexes: an index file. */
typedef struct {
   UNSIGNED8 aucIndexName[ADS_MGMT_MAX_PATH];
} ADS_MGMT_INDEX_INFO;

/* AdsMgGetLocks: a record that is locked. */
typedef struct {
   UNSIGNED32 ulRecordNumber;
} ADS_MGMT_RECORD_INFO;

/* AdsMgGetWorkerThreadActivity: a thread of the server. */
typedef struct {
   UNSIGNED32 ulThreadNumber;
   UNSIGNED16 usOpCode;
   UNSIGNED8  aucUserName[ADS_MAX_USER_NAME];
   UNSIGNED16 usConnNumber;
   UNSIGNED16 usReserved1;
   UNSIGNED8  aucOSUserLoginName[ADS_MAX_USER_NAME];
} ADS_MGMT_THREAD_ACTIVITY;

/* A GUID. */
typedef struct {
   UNSIGNED32 Data1;
   UNSIGNED16 Data2;
   UNSIGNED16 Data3;
   UNSIGNED64 Data4;
} ADS_GUID_DATA;

/* The definition of a field in a dictionary. */
typedef struct {
   UNSIGNED16 usFieldType;
   UNSIGNED16 usFieldLength;
   UNSIGNED16 usFieldDecimal;
} ADD_FIELD_DESC;

#pragma pack( pop )

/* What a library of stored procedures or triggers offers. */
typedef UNSIGNED32 (WINAPI *STORED_PROCEDURE_PTR)(
    UNSIGNED32 ulConnectionID, UNSIGNED8 *pucUserName, UNSIGNED8 *pucPassword, UNSIGNED8 *pucProcName,
    UNSIGNED32 ulRecNum, UNSIGNED8 *pucTable1, UNSIGNED8 *pucTable2);
typedef UNSIGNED32 (WINAPI *STARTUP_PROCEDURE_PTR)(
    UNSIGNED32 ulConnectionID, UNSIGNED8 *pucUserName, UNSIGNED8 *pucPassword);
typedef UNSIGNED32 (WINAPI *SHUTDOWN_PROCEDURE_PTR)(
    UNSIGNED32 ulConnectionID, UNSIGNED8 *pucUserName, UNSIGNED8 *pucPassword);
typedef UNSIGNED32 (WINAPI *STORED_PROCEDURE2_PTR)(
    UNSIGNED32 ulConnectionID, ADSHANDLE hConnection, UNSIGNED32 *pulNumRowsAffected);
typedef UNSIGNED32 (WINAPI *STARTUP_PROCEDURE2_PTR)(UNSIGNED32 ulConnectionID, ADSHANDLE hConnection);
typedef UNSIGNED32 (WINAPI *SHUTDOWN_PROCEDURE2_PTR)(UNSIGNED32 ulConnectionID, ADSHANDLE hConnection);
typedef UNSIGNED32 (WINAPI *TRIGGER_FUNCTION_PTR)(
    UNSIGNED32 ulConnectionID, ADSHANDLE hConnection, UNSIGNED8 *pucTriggerName, UNSIGNED8 *pucTableName,
    UNSIGNED32 ulEventType, UNSIGNED32 ulTriggerType, UNSIGNED32 ulRecNo);
typedef UNSIGNED32 (WINAPI *GET_INTERFACE_VERSION_PTR)(void);

#ifdef __cplusplus
extern "C" {
#endif

/* Library, settings and errors */
UNSIGNED32 ENTRYPOINT AdsApplicationExit(void);
UNSIGNED32 ENTRYPOINT AdsCacheOpenCursors(UNSIGNED16 usOpen);
UNSIGNED32 ENTRYPOINT AdsCacheOpenTables(UNSIGNED16 usOpen);
UNSIGNED32 ENTRYPOINT AdsClearDefault(void);
UNSIGNED32 ENTRYPOINT AdsClearLastError(void);
UNSIGNED32 ENTRYPOINT AdsConvertCodePageToUnicode(
    ADSHANDLE hConn, UNSIGNED32 ulCodePage, UNSIGNED8 *pucBuffer, SIGNED32 lByteLen, WCHAR *pwcBuffer,
    UNSIGNED32 *pulCodeUnits);
UNSIGNED32 ENTRYPOINT AdsConvertDateToJulian(
    ADSHANDLE hConnect, UNSIGNED8 *pucDate, UNSIGNED16 usLen, DOUBLE *pdJulian);
UNSIGNED32 ENTRYPOINT AdsConvertJulianToString(DOUBLE dJulian, UNSIGNED8 *pucJulian, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsConvertKeyToDouble(UNSIGNED8 *pucKey, DOUBLE *pdValue);
UNSIGNED32 ENTRYPOINT AdsConvertMillisecondsToString(
    UNSIGNED32 ulMSeconds, UNSIGNED8 *pucTime, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsConvertStringToJulian(UNSIGNED8 *pucJulian, UNSIGNED16 usLen, DOUBLE *pdJulian);
UNSIGNED32 ENTRYPOINT AdsConvertStringToMilliseconds(
    UNSIGNED8 *pucTime, UNSIGNED16 usLen, UNSIGNED32 *pulMSeconds);
UNSIGNED32 ENTRYPOINT AdsConvertUnicodeToCodePage(
    ADSHANDLE hConn, UNSIGNED32 ulCodePage, WCHAR *pwcBuffer, SIGNED32 lCodeUnits, UNSIGNED8 *pucBuffer,
    UNSIGNED32 *pulByteLen);
UNSIGNED32 ENTRYPOINT AdsDBFDateToString(UNSIGNED8 *pucDBFDate, UNSIGNED8 *pucFormattedDate);
UNSIGNED32 ENTRYPOINT AdsDisableLocalConnections(void);
UNSIGNED32 ENTRYPOINT AdsExtractPathPart(
    UNSIGNED16 usPart, UNSIGNED8 *pucFile, UNSIGNED8 *pucPart, UNSIGNED16 *pusPartLen);
UNSIGNED32 ENTRYPOINT AdsGetDateFormat(UNSIGNED8 *pucFormat, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetDateFormat60(ADSHANDLE hConnect, UNSIGNED8 *pucFormat, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetDecimals(UNSIGNED16 *pusDecimals);
UNSIGNED32 ENTRYPOINT AdsGetDefault(UNSIGNED8 *pucDefault, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetDeleted(UNSIGNED16 *pbUseDeleted);
UNSIGNED32 ENTRYPOINT AdsGetEpoch(UNSIGNED16 *pusCentury);
UNSIGNED32 ENTRYPOINT AdsGetErrorString(UNSIGNED32 ulErrCode, UNSIGNED8 *pucBuf, UNSIGNED16 *pusBufLen);
UNSIGNED32 ENTRYPOINT AdsGetExact(UNSIGNED16 *pbExact);
UNSIGNED32 ENTRYPOINT AdsGetExact22(ADSHANDLE hObj, UNSIGNED16 *pbExact);
UNSIGNED32 ENTRYPOINT AdsGetHandleLong(ADSHANDLE hObj, UNSIGNED32 *pulVal);
UNSIGNED32 ENTRYPOINT AdsGetHandleType(ADSHANDLE hObj, UNSIGNED16 *pusType);
UNSIGNED32 ENTRYPOINT AdsGetIntProperty(ADSHANDLE hObj, UNSIGNED32 ulPropertyID, UNSIGNED32 *pulProperty);
UNSIGNED32 ENTRYPOINT AdsGetLastError(UNSIGNED32 *pulErrCode, UNSIGNED8 *pucBuf, UNSIGNED16 *pusBufLen);
UNSIGNED32 ENTRYPOINT AdsGetSearchPath(UNSIGNED8 *pucPath, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetVersion(
    UNSIGNED32 *pulMajor, UNSIGNED32 *pulMinor, UNSIGNED8 *pucLetter, UNSIGNED8 *pucDesc,
    UNSIGNED16 *pusDescLen);
UNSIGNED32 ENTRYPOINT AdsMemCompare(
    ADSHANDLE hConnect, UNSIGNED8 *pucStr1, UNSIGNED32 ulStr1Len, UNSIGNED8 *pucStr2, UNSIGNED32 ulStr2Len,
    UNSIGNED16 usCharSet, SIGNED16 *psResult);
UNSIGNED32 ENTRYPOINT AdsMemCompare90(
    ADSHANDLE hConnect, UNSIGNED8 *pucStr1, UNSIGNED32 ulStr1Len, UNSIGNED8 *pucStr2, UNSIGNED32 ulStr2Len,
    UNSIGNED16 usCharSet, UNSIGNED32 ulCollationID, SIGNED16 *psResult);
UNSIGNED32 ENTRYPOINT AdsMemICompare(
    ADSHANDLE hConnect, UNSIGNED8 *pucStr1, UNSIGNED32 ulStr1Len, UNSIGNED8 *pucStr2, UNSIGNED32 ulStr2Len,
    UNSIGNED16 usCharSet, SIGNED16 *psResult);
UNSIGNED32 ENTRYPOINT AdsMemICompare90(
    ADSHANDLE hConnect, UNSIGNED8 *pucStr1, UNSIGNED32 ulStr1Len, UNSIGNED8 *pucStr2, UNSIGNED32 ulStr2Len,
    UNSIGNED16 usCharSet, UNSIGNED32 ulCollationID, SIGNED16 *psResult);
UNSIGNED32 ENTRYPOINT AdsMemLwr(
    ADSHANDLE hConnect, UNSIGNED8 *pucStr, UNSIGNED16 usStrLen, UNSIGNED16 usCharSet);
UNSIGNED32 ENTRYPOINT AdsMemLwr90(
    ADSHANDLE hConnect, UNSIGNED8 *pucStr, UNSIGNED16 usStrLen, UNSIGNED16 usCharSet,
    UNSIGNED32 ulCollationID);
UNSIGNED32 ENTRYPOINT AdsNullTerminateStrings(UNSIGNED16 bNullTerminate);
UNSIGNED32 ENTRYPOINT AdsSetCollationSequence(UNSIGNED8 *pucSequence);
UNSIGNED32 ENTRYPOINT AdsSetDateFormat(UNSIGNED8 *pucFormat);
UNSIGNED32 ENTRYPOINT AdsSetDateFormat60(ADSHANDLE hConnect, UNSIGNED8 *pucFormat);
UNSIGNED32 ENTRYPOINT AdsSetDecimals(UNSIGNED16 usDecimals);
UNSIGNED32 ENTRYPOINT AdsSetDefault(UNSIGNED8 *pucDefault);
UNSIGNED32 ENTRYPOINT AdsSetEpoch(UNSIGNED16 usCentury);
UNSIGNED32 ENTRYPOINT AdsSetExact(UNSIGNED16 bExact);
UNSIGNED32 ENTRYPOINT AdsSetExact22(ADSHANDLE hObj, UNSIGNED16 bExact);
UNSIGNED32 ENTRYPOINT AdsSetHandleLong(ADSHANDLE hObj, UNSIGNED32 ulVal);
UNSIGNED32 ENTRYPOINT AdsSetInternalError(UNSIGNED32 ulErrCode, UNSIGNED8 *pucFile, UNSIGNED32 ulLine);
UNSIGNED32 ENTRYPOINT AdsSetLastError(UNSIGNED32 ulErrCode, UNSIGNED8 *pucDetails);
UNSIGNED32 ENTRYPOINT AdsSetProperty(ADSHANDLE hObj, UNSIGNED32 ulOperation, UNSIGNED32 ulValue);
UNSIGNED32 ENTRYPOINT AdsSetProperty90(ADSHANDLE hObj, UNSIGNED32 ulOperation, UNSIGNED64 uqValue);
UNSIGNED32 ENTRYPOINT AdsSetRightsChecking(UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsSetSearchPath(UNSIGNED8 *pucPath);
UNSIGNED32 ENTRYPOINT AdsSetServerType(UNSIGNED16 usServerOptions);
UNSIGNED32 ENTRYPOINT AdsShowDeleted(UNSIGNED16 bShowDeleted);
UNSIGNED32 ENTRYPOINT AdsShowError(UNSIGNED8 *pucTitle);
UNSIGNED32 ENTRYPOINT AdsThreadExit(void);

/* Callbacks */
UNSIGNED32 ENTRYPOINT AdsClearCallbackFunction(void);
UNSIGNED32 ENTRYPOINT AdsClearProgressCallback(void);
UNSIGNED32 ENTRYPOINT AdsClearSQLAbortFunc(void);
UNSIGNED32 ENTRYPOINT AdsRegisterCallbackFunction(
    UNSIGNED32 (WINAPI *lpfnCallback)(UNSIGNED16 usPercent, UNSIGNED32 ulCallbackID),
    UNSIGNED32 ulCallbackID);
UNSIGNED32 ENTRYPOINT AdsRegisterCallbackFunction101(
    UNSIGNED32 (WINAPI *lpfnCallback)(UNSIGNED16 usPercent, SIGNED64 qCallbackID), SIGNED64 qCallbackID);
UNSIGNED32 ENTRYPOINT AdsRegisterProgressCallback(UNSIGNED32 (WINAPI *lpfnCallback)(UNSIGNED16 usPercent));
UNSIGNED32 ENTRYPOINT AdsRegisterSQLAbortFunc(UNSIGNED32 (WINAPI *lpfnCallback)(void));
UNSIGNED32 ENTRYPOINT AdsRegisterUDF(ADSHANDLE hObj, UNSIGNED16 usType, UNSIGNED32 (WINAPI *lpfnUDF)(void));

/* Management */
UNSIGNED32 ENTRYPOINT AdsMgConnect(
    UNSIGNED8 *pucServerName, UNSIGNED8 *pucUserName, UNSIGNED8 *pucPassword, ADSHANDLE *phMgmtHandle);
UNSIGNED32 ENTRYPOINT AdsMgDisconnect(ADSHANDLE hMgmtHandle);
UNSIGNED32 ENTRYPOINT AdsMgDumpInternalTables(ADSHANDLE hMgmtHandle);
UNSIGNED32 ENTRYPOINT AdsMgGetActivityInfo(
    ADSHANDLE hMgmtHandle, ADS_MGMT_ACTIVITY_INFO *pstActivityInfo, UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetCommStats(
    ADSHANDLE hMgmtHandle, ADS_MGMT_COMM_STATS *pstCommStats, UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetConfigInfo(
    ADSHANDLE hMgmtHandle, ADS_MGMT_CONFIG_PARAMS *pstConfigValues, UNSIGNED16 *pusConfigValuesStructSize,
    ADS_MGMT_CONFIG_MEMORY *pstConfigMemory, UNSIGNED16 *pusConfigMemoryStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetInstallInfo(
    ADSHANDLE hMgmtHandle, ADS_MGMT_INSTALL_INFO *pstInstallInfo, UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetLockOwner(
    ADSHANDLE hMgmtHandle, UNSIGNED8 *pucTableName, UNSIGNED32 ulRecordNumber,
    ADS_MGMT_USER_INFO *pstUserInfo, UNSIGNED16 *pusStructSize, UNSIGNED16 *pusLockType);
UNSIGNED32 ENTRYPOINT AdsMgGetLocks(
    ADSHANDLE hMgmtHandle, UNSIGNED8 *pucTableName, UNSIGNED8 *pucUserName, UNSIGNED16 usConnNumber,
    ADS_MGMT_RECORD_INFO *astRecordInfo, UNSIGNED16 *pusArrayLen, UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetOpenIndexes(
    ADSHANDLE hMgmtHandle, UNSIGNED8 *pucTableName, UNSIGNED8 *pucUserName, UNSIGNED16 usConnNumber,
    ADS_MGMT_INDEX_INFO *astOpenIndexInfo, UNSIGNED16 *pusArrayLen, UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetOpenTables(
    ADSHANDLE hMgmtHandle, UNSIGNED8 *pucUserName, UNSIGNED16 usConnNumber,
    ADS_MGMT_TABLE_INFO *astOpenTableInfo, UNSIGNED16 *pusArrayLen, UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetServerType(ADSHANDLE hMgmtHandle, UNSIGNED16 *pusServerType);
UNSIGNED32 ENTRYPOINT AdsMgGetUserNames(
    ADSHANDLE hMgmtHandle, UNSIGNED8 *pucFileName, ADS_MGMT_USER_INFO *astUserInfo, UNSIGNED16 *pusArrayLen,
    UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgGetWorkerThreadActivity(
    ADSHANDLE hMgmtHandle, ADS_MGMT_THREAD_ACTIVITY *astWorkerThreadActivity, UNSIGNED16 *pusArrayLen,
    UNSIGNED16 *pusStructSize);
UNSIGNED32 ENTRYPOINT AdsMgKillUser(ADSHANDLE hMgmtHandle, UNSIGNED8 *pucUserName, UNSIGNED16 usConnNumber);
UNSIGNED32 ENTRYPOINT AdsMgKillUser90(
    ADSHANDLE hMgmtHandle, UNSIGNED8 *pucUserName, UNSIGNED16 usConnNumber, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsMgResetCommStats(ADSHANDLE hMgmtHandle);

/* Data dictionaries */
UNSIGNED32 ENTRYPOINT AdsAreTriggersEnabled(
    ADSHANDLE hConnection, SIGNED32 lTableID, UNSIGNED8 ucUpdateType, UNSIGNED32 *pulEnabled);
UNSIGNED32 ENTRYPOINT AdsCloseCachedTrigStatements(ADSHANDLE hConnection, SIGNED32 lTableID);
UNSIGNED32 ENTRYPOINT AdsDDAddIndexFile(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTableName, UNSIGNED8 *pucIndexFilePath, UNSIGNED8 *pucComment);
UNSIGNED32 ENTRYPOINT AdsDDAddProcedure(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucContainer, UNSIGNED8 *pucProcName,
    UNSIGNED32 ulInvokeOption, UNSIGNED8 *pucInParams, UNSIGNED8 *pucOutParams, UNSIGNED8 *pucComments);
UNSIGNED32 ENTRYPOINT AdsDDAddProcedure100(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, WCHAR *pwcContainer, UNSIGNED8 *pucProcName,
    UNSIGNED32 ulInvokeOption, UNSIGNED8 *pucInParams, UNSIGNED8 *pucOutParams, UNSIGNED8 *pucComments);
UNSIGNED32 ENTRYPOINT AdsDDAddTable(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTableName, UNSIGNED8 *pucTablePath, UNSIGNED16 usTableType,
    UNSIGNED16 usCharType, UNSIGNED8 *pucIndexFiles, UNSIGNED8 *pucComments);
UNSIGNED32 ENTRYPOINT AdsDDAddTable90(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTableName, UNSIGNED8 *pucTablePath, UNSIGNED16 usTableType,
    UNSIGNED16 usCharType, UNSIGNED8 *pucIndexFiles, UNSIGNED8 *pucComments, UNSIGNED8 *pucCollation);
UNSIGNED32 ENTRYPOINT AdsDDAddUserToGroup(
    ADSHANDLE hDictionary, UNSIGNED8 *pucGroupName, UNSIGNED8 *pucUserName);
UNSIGNED32 ENTRYPOINT AdsDDAddView(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucComments, UNSIGNED8 *pucSQL);
UNSIGNED32 ENTRYPOINT AdsDDAddView100(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucComments, WCHAR *pwcSQL);
UNSIGNED32 ENTRYPOINT AdsDDAutoCreateIndex(
    ADSHANDLE hConnect, UNSIGNED8 *pucTableName, UNSIGNED8 *pucIndexName, UNSIGNED8 *pucCollation);
UNSIGNED32 ENTRYPOINT AdsDDAutoCreateTable(
    ADSHANDLE hConnect, UNSIGNED8 *pucTableName, UNSIGNED8 *pucCollation);
UNSIGNED32 ENTRYPOINT AdsDDClose(ADSHANDLE hDictionary);
UNSIGNED32 ENTRYPOINT AdsDDCreate(
    UNSIGNED8 *pucDictionaryPath, UNSIGNED16 usEncrypt, UNSIGNED8 *pucDescription, ADSHANDLE *phDictionary);
UNSIGNED32 ENTRYPOINT AdsDDCreate101(
    UNSIGNED8 *pucConnectString, ADSHANDLE *phConnectOptions, ADSHANDLE *phDictionary);
UNSIGNED32 ENTRYPOINT AdsDDCreateASA(
    ADSHANDLE hConnect, UNSIGNED8 *pucDictionaryPath, UNSIGNED16 usEncrypt, UNSIGNED8 *pucDescription,
    UNSIGNED8 *pucPassword);
UNSIGNED32 ENTRYPOINT AdsDDCreateArticle(
    ADSHANDLE hDictionary, UNSIGNED8 *pucPublicationName, UNSIGNED8 *pucObjectName,
    UNSIGNED8 *pucRowIdentColumns, UNSIGNED8 *pucFilter, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreateArticle100(
    ADSHANDLE hDictionary, UNSIGNED8 *pucPublicationName, UNSIGNED8 *pucObjectName,
    UNSIGNED8 *pucRowIdentColumns, WCHAR *pwcFilter, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreateFunction(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucReturnType, UNSIGNED16 usInputParamCnt,
    UNSIGNED8 *pucInputParams, UNSIGNED8 *pucFuncBody, UNSIGNED8 *pucComments);
UNSIGNED32 ENTRYPOINT AdsDDCreateFunction100(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucReturnType, UNSIGNED16 usInputParamCnt,
    UNSIGNED8 *pucInputParams, UNSIGNED8 *pucFuncBody, UNSIGNED8 *pucComments, UNSIGNED32 ulEncoding,
    UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreateLink(
    ADSHANDLE hDBConn, UNSIGNED8 *pucLinkAlias, UNSIGNED8 *pucLinkedDDPath, UNSIGNED8 *pucUserName,
    UNSIGNED8 *pucPassword, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreatePackage(ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucComments);
UNSIGNED32 ENTRYPOINT AdsDDCreatePublication(
    ADSHANDLE hDictionary, UNSIGNED8 *pucPublicationName, UNSIGNED8 *pucComments, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreateRefIntegrity(
    ADSHANDLE hDictionary, UNSIGNED8 *pucRIName, UNSIGNED8 *pucFailTable, UNSIGNED8 *pucParentTableName,
    UNSIGNED8 *pucParentTagName, UNSIGNED8 *pucChildTableName, UNSIGNED8 *pucChildTagName,
    UNSIGNED16 usUpdateRule, UNSIGNED16 usDeleteRule);
UNSIGNED32 ENTRYPOINT AdsDDCreateRefIntegrity62(
    ADSHANDLE hDictionary, UNSIGNED8 *pucRIName, UNSIGNED8 *pucFailTable, UNSIGNED8 *pucParentTableName,
    UNSIGNED8 *pucParentTagName, UNSIGNED8 *pucChildTableName, UNSIGNED8 *pucChildTagName,
    UNSIGNED16 usUpdateRule, UNSIGNED16 usDeleteRule, UNSIGNED8 *pucNoPrimaryError,
    UNSIGNED8 *pucCascadeError);
UNSIGNED32 ENTRYPOINT AdsDDCreateSubscription(
    ADSHANDLE hDictionary, UNSIGNED8 *pucSubscriptionName, UNSIGNED8 *pucPublicationName,
    UNSIGNED8 *pucTarget, UNSIGNED8 *pucUser, UNSIGNED8 *pucPassword, UNSIGNED8 *pucReplicationQueue,
    UNSIGNED16 usForward, UNSIGNED8 *pucComments, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreateTrigger(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucTableName, UNSIGNED32 ulTriggerType,
    UNSIGNED32 ulEventTypes, UNSIGNED32 ulContainerType, UNSIGNED8 *pucContainer, UNSIGNED8 *pucFunctionName,
    UNSIGNED32 ulPriority, UNSIGNED8 *pucComments, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreateTrigger100(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucTableName, UNSIGNED32 ulTriggerType,
    UNSIGNED32 ulEventTypes, UNSIGNED32 ulContainerType, WCHAR *pwcContainer, UNSIGNED8 *pucFunctionName,
    UNSIGNED32 ulPriority, UNSIGNED8 *pucComments, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDCreateUser(
    ADSHANDLE hDictionary, UNSIGNED8 *pucGroupName, UNSIGNED8 *pucUserName, UNSIGNED8 *pucPassword,
    UNSIGNED8 *pucDescription);
UNSIGNED32 ENTRYPOINT AdsDDCreateUserGroup(
    ADSHANDLE hDictionary, UNSIGNED8 *pucGroupName, UNSIGNED8 *pucDescription);
UNSIGNED32 ENTRYPOINT AdsDDDeleteArticle(
    ADSHANDLE hDictionary, UNSIGNED8 *pucPublicationName, UNSIGNED8 *pucObjectName);
UNSIGNED32 ENTRYPOINT AdsDDDeleteIndex(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTableName, UNSIGNED8 *pucIndexName);
UNSIGNED32 ENTRYPOINT AdsDDDeletePublication(ADSHANDLE hDictionary, UNSIGNED8 *pucPublicationName);
UNSIGNED32 ENTRYPOINT AdsDDDeleteSubscription(ADSHANDLE hDictionary, UNSIGNED8 *pucSubscriptionName);
UNSIGNED32 ENTRYPOINT AdsDDDeleteUser(ADSHANDLE hDictionary, UNSIGNED8 *pucUserName);
UNSIGNED32 ENTRYPOINT AdsDDDeleteUserGroup(ADSHANDLE hDictionary, UNSIGNED8 *pucGroupName);
UNSIGNED32 ENTRYPOINT AdsDDDeployDatabase(
    UNSIGNED8 *pucDestination, UNSIGNED8 *pucDestinationPassword, UNSIGNED8 *pucSource,
    UNSIGNED8 *pucSourcePassword, UNSIGNED16 usServerTypes, UNSIGNED16 usValidateOption,
    UNSIGNED16 usBackupFiles, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDDisableTriggers(
    ADSHANDLE hDictionary, UNSIGNED8 *pucObjectName, UNSIGNED8 *pucParent, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDDropFunction(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDDropLink(ADSHANDLE hDBConn, UNSIGNED8 *pucLinkedDD, UNSIGNED16 usDropGlobal);
UNSIGNED32 ENTRYPOINT AdsDDDropPackage(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDEnableTriggers(
    ADSHANDLE hDictionary, UNSIGNED8 *pucObjectName, UNSIGNED8 *pucParent, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDExecuteProcedure(
    ADSHANDLE hDictionary, UNSIGNED8 *pucProcName, UNSIGNED8 *pucInput, UNSIGNED8 *pucOutput,
    UNSIGNED32 *pulRowsAffected, UNSIGNED32 ulInvokeType);
UNSIGNED32 ENTRYPOINT AdsDDFindClose(ADSHANDLE hObject, ADSHANDLE hFindHandle);
UNSIGNED32 ENTRYPOINT AdsDDFindFirstObject(
    ADSHANDLE hObject, UNSIGNED16 usFindObjectType, UNSIGNED8 *pucParentName, UNSIGNED8 *pucObjectName,
    UNSIGNED16 *pusObjectNameLen, ADSHANDLE *phFindHandle);
UNSIGNED32 ENTRYPOINT AdsDDFindNextObject(
    ADSHANDLE hObject, ADSHANDLE hFindHandle, UNSIGNED8 *pucObjectName, UNSIGNED16 *pusObjectNameLen);
UNSIGNED32 ENTRYPOINT AdsDDFreeTable(UNSIGNED8 *pucTableName, UNSIGNED8 *pucPassword);
UNSIGNED32 ENTRYPOINT AdsDDGetArticleProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucPublicationName, UNSIGNED8 *pucObjectName, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetDatabaseProperty(
    ADSHANDLE hObject, UNSIGNED16 usPropertyID, VOID *pvProperty, UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetFieldProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucTableName, UNSIGNED8 *pucFieldName, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetIndexFileProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucTableName, UNSIGNED8 *pucIndexFileName, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetIndexProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucTableName, UNSIGNED8 *pucIndexName, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetLinkProperty(
    ADSHANDLE hConnect, UNSIGNED8 *pucLinkName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetObjectProperty(
    ADSHANDLE hDictionary, UNSIGNED16 usObjectType, UNSIGNED8 *pucParent, UNSIGNED8 *pucName,
    UNSIGNED16 usPropertyID, VOID *pvProperty, UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetObjectProperty100(
    ADSHANDLE hDictionary, UNSIGNED16 usObjectType, UNSIGNED8 *pucParent, UNSIGNED8 *pucName,
    UNSIGNED16 usPropertyID, VOID *pvProperty, UNSIGNED16 *pusPropertyLen, UNSIGNED32 *pulEncoding);
UNSIGNED32 ENTRYPOINT AdsDDGetPermissions(
    ADSHANDLE hDBConn, UNSIGNED8 *pucGrantee, UNSIGNED16 usObjectType, UNSIGNED8 *pucObjectName,
    UNSIGNED8 *pucParentName, UNSIGNED16 usGetInherited, UNSIGNED32 *pulPermissions);
UNSIGNED32 ENTRYPOINT AdsDDGetProcInterfaceVersion(
    ADSHANDLE hDictionary, UNSIGNED8 *pucProcName, UNSIGNED32 *pulInterfaceVersion);
UNSIGNED32 ENTRYPOINT AdsDDGetProcedureProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucProcName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetPublicationProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucPublicationName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetRefIntegrityProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucRIName, UNSIGNED16 usPropertyID, UNSIGNED8 *pucProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetSubscriptionProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucSubscriptionName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetTableProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucTableName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetTriggerProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucTriggerName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetUserGroupProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucUserGroupName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetUserProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucUserName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGetViewProperty(
    ADSHANDLE hObject, UNSIGNED8 *pucViewName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 *pusPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDGrantPermission(
    ADSHANDLE hAdminConn, UNSIGNED16 usObjectType, UNSIGNED8 *pucObjectName, UNSIGNED8 *pucParentName,
    UNSIGNED8 *pucGrantee, UNSIGNED32 ulPermissions);
UNSIGNED32 ENTRYPOINT AdsDDModifyLink(
    ADSHANDLE hDBConn, UNSIGNED8 *pucLinkAlias, UNSIGNED8 *pucLinkedDDPath, UNSIGNED8 *pucUserName,
    UNSIGNED8 *pucPassword, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDMoveObjectFile(
    ADSHANDLE hDictionary, UNSIGNED16 usObjectType, UNSIGNED8 *pucObjectName, UNSIGNED8 *pucNewPath,
    UNSIGNED8 *pucIndexFiles, UNSIGNED8 *pucParent, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDOpen(
    UNSIGNED8 *pucDictionaryPath, UNSIGNED8 *pucPassword, ADSHANDLE *phDictionary);
UNSIGNED32 ENTRYPOINT AdsDDRemoveIndexFile(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTableName, UNSIGNED8 *pucIndexFileName, UNSIGNED16 usDeleteFile);
UNSIGNED32 ENTRYPOINT AdsDDRemoveProcedure(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDRemoveRefIntegrity(ADSHANDLE hDictionary, UNSIGNED8 *pucRIName);
UNSIGNED32 ENTRYPOINT AdsDDRemoveTable(ADSHANDLE hObject, UNSIGNED8 *pucTableName, UNSIGNED16 usDeleteFiles);
UNSIGNED32 ENTRYPOINT AdsDDRemoveTrigger(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDRemoveUserFromGroup(
    ADSHANDLE hDictionary, UNSIGNED8 *pucGroupName, UNSIGNED8 *pucUserName);
UNSIGNED32 ENTRYPOINT AdsDDRemoveView(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDRenameObject(
    ADSHANDLE hDictionary, UNSIGNED8 *pucObjectName, UNSIGNED8 *pucNewObjectName, UNSIGNED16 usObjectType,
    UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsDDRevokePermission(
    ADSHANDLE hAdminConn, UNSIGNED16 usObjectType, UNSIGNED8 *pucObjectName, UNSIGNED8 *pucParentName,
    UNSIGNED8 *pucGrantee, UNSIGNED32 ulPermissions);
UNSIGNED32 ENTRYPOINT AdsDDSetActiveDictionary(
    ADSHANDLE hConnect, UNSIGNED8 *pucLinkName, ADSHANDLE *phDictionary);
UNSIGNED32 ENTRYPOINT AdsDDSetArticleProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucPublicationName, UNSIGNED8 *pucObjectName, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetDatabaseProperty(
    ADSHANDLE hDictionary, UNSIGNED16 usPropertyID, VOID *pvProperty, UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetFieldProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTableName, UNSIGNED8 *pucFieldName, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 usPropertyLen, UNSIGNED16 usValidateOption, UNSIGNED8 *pucFailTable);
UNSIGNED32 ENTRYPOINT AdsDDSetIndexProperty(
    ADSHANDLE hAdminConn, UNSIGNED8 *pucTableName, UNSIGNED8 *pucIndexName, UNSIGNED16 usPropertyID,
    VOID *pvProperty, UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetObjectAccessRights(
    ADSHANDLE hDictionary, UNSIGNED8 *pucObjectName, UNSIGNED8 *pucAccessorName, UNSIGNED8 *pucAllowedAccess);
UNSIGNED32 ENTRYPOINT AdsDDSetObjectProperty(
    ADSHANDLE hDictionary, UNSIGNED16 usObjectType, UNSIGNED8 *pucParent, UNSIGNED8 *pucName,
    UNSIGNED16 usPropertyID, VOID *pvProperty, UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetObjectProperty100(
    ADSHANDLE hDictionary, UNSIGNED16 usObjectType, UNSIGNED8 *pucParent, UNSIGNED8 *pucName,
    UNSIGNED16 usPropertyID, VOID *pvProperty, UNSIGNED16 usPropertyLen, UNSIGNED32 ulEncoding);
UNSIGNED32 ENTRYPOINT AdsDDSetProcedureProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucProcedureName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetPublicationProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucPublicationName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetSubscriptionProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucSubscriptionName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetTableProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTableName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 usPropertyLen, UNSIGNED16 usValidateOption, UNSIGNED8 *pucFailTable);
UNSIGNED32 ENTRYPOINT AdsDDSetTriggerProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucTriggerName, UNSIGNED16 usPropertyID, UNSIGNED8 *pucProperty,
    UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetUserGroupProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucUserGroupName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetUserProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucUserName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDSetViewProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucViewName, UNSIGNED16 usPropertyID, VOID *pvProperty,
    UNSIGNED16 usPropertyLen);
UNSIGNED32 ENTRYPOINT AdsDDVerifyUserRights(
    ADSHANDLE hObject, UNSIGNED8 *pucTableName, UNSIGNED32 *pulUserRights);
UNSIGNED32 ENTRYPOINT AdsDisableRI(ADSHANDLE hConnection);
UNSIGNED32 ENTRYPOINT AdsEnableRI(ADSHANDLE hConnection);
UNSIGNED32 ENTRYPOINT AdsGetColumnPermissions(
    ADSHANDLE hTable, UNSIGNED16 usColumnNum, UNSIGNED8 *pucPermissions);
UNSIGNED32 ENTRYPOINT AdsPerformRI(ADSHANDLE hTable, UNSIGNED32 ulRecNum, UNSIGNED8 *pucRecBuffer);
UNSIGNED32 ENTRYPOINT AdsSetupRI(
    ADSHANDLE hConnection, SIGNED32 lTableID, UNSIGNED8 ucOpen, UNSIGNED32 ulServerWAN);
UNSIGNED32 ENTRYPOINT AdsVerifyRI(ADSHANDLE hConnect, UNSIGNED16 usExclusive);

/* Encryption */
UNSIGNED32 ENTRYPOINT AdsDecryptRecord(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsDecryptTable(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsDisableEncryption(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsEnableEncryption(ADSHANDLE hTable, UNSIGNED8 *pucPassword);
UNSIGNED32 ENTRYPOINT AdsEncryptRecord(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsEncryptTable(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsIsEncryptionEnabled(ADSHANDLE hTable, UNSIGNED16 *pusEnabled);
UNSIGNED32 ENTRYPOINT AdsIsRecordEncrypted(ADSHANDLE hTable, UNSIGNED16 *pbEncrypted);
UNSIGNED32 ENTRYPOINT AdsIsTableEncrypted(ADSHANDLE hTable, UNSIGNED16 *pbEncrypted);
UNSIGNED32 ENTRYPOINT AdsVerifyPassword(ADSHANDLE hTable, UNSIGNED16 *pusEnabled);
UNSIGNED32 ENTRYPOINT ObsAdsDecryptBuffer(UNSIGNED8 *pucPassword, UNSIGNED8 *pucBuffer, UNSIGNED16 usLen);
UNSIGNED32 ENTRYPOINT ObsAdsEncryptBuffer(UNSIGNED8 *pucPassword, UNSIGNED8 *pucBuffer, UNSIGNED16 usLen);

/* SQL statements and cursors */
UNSIGNED32 ENTRYPOINT AdsCachePrepareSQL(ADSHANDLE hConnect, UNSIGNED8 *pucSQL, ADSHANDLE *phStatement);
UNSIGNED32 ENTRYPOINT AdsCachePrepareSQLW(ADSHANDLE hConnect, WCHAR *pwcSQL, ADSHANDLE *phStatement);
UNSIGNED32 ENTRYPOINT AdsClearCursorAOF(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsClearSQLParams(ADSHANDLE hStatement);
UNSIGNED32 ENTRYPOINT AdsCloseSQLStatement(ADSHANDLE hStatement);
UNSIGNED32 ENTRYPOINT AdsCreateSQLStatement(ADSHANDLE hConnect, ADSHANDLE *phStatement);
UNSIGNED32 ENTRYPOINT AdsExecuteSQL(ADSHANDLE hStatement, ADSHANDLE *phCursor);
UNSIGNED32 ENTRYPOINT AdsExecuteSQLDirect(ADSHANDLE hStatement, UNSIGNED8 *pucSQL, ADSHANDLE *phCursor);
UNSIGNED32 ENTRYPOINT AdsExecuteSQLDirectW(ADSHANDLE hStatement, WCHAR *pwcSQL, ADSHANDLE *phCursor);
UNSIGNED32 ENTRYPOINT AdsGetCursorAOF(ADSHANDLE hCursor, UNSIGNED8 *pucFilter, UNSIGNED16 *pusFilterLen);
UNSIGNED32 ENTRYPOINT AdsGetKeyColumn(ADSHANDLE hCursor, UNSIGNED8 *pucKeyColumn, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetKeyFilter(
    ADSHANDLE hTable, UNSIGNED8 *pucValuesTable, UNSIGNED32 ulOptions, UNSIGNED8 *pucFilter,
    UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGetNumParams(ADSHANDLE hStatement, UNSIGNED16 *pusNumParams);
UNSIGNED32 ENTRYPOINT AdsGetPreparedFields(
    ADSHANDLE hStatement, UNSIGNED8 *pucBuffer, UNSIGNED32 *pulBufferLen, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsGetSQLStatement(ADSHANDLE hStmt, UNSIGNED8 *pucSQL, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetSQLStatementHandle(ADSHANDLE hCursor, ADSHANDLE *phStmt);
UNSIGNED32 ENTRYPOINT AdsGetSQLStmtParams(UNSIGNED8 *pucStatement);
UNSIGNED32 ENTRYPOINT AdsPrepareSQL(ADSHANDLE hStatement, UNSIGNED8 *pucSQL);
UNSIGNED32 ENTRYPOINT AdsPrepareSQLNow(
    ADSHANDLE hStatement, UNSIGNED8 *pucSQL, UNSIGNED8 *pucFieldInfo, UNSIGNED16 *pusFieldInfoLen);
UNSIGNED32 ENTRYPOINT AdsPrepareSQLNowW(
    ADSHANDLE hStatement, WCHAR *pwcSQL, UNSIGNED8 *pucFieldInfo, UNSIGNED16 *pusFieldInfoLen);
UNSIGNED32 ENTRYPOINT AdsPrepareSQLW(ADSHANDLE hStatement, WCHAR *pwcSQL);
UNSIGNED32 ENTRYPOINT AdsRefreshView(ADSHANDLE *phCursor);
UNSIGNED32 ENTRYPOINT AdsRemoveSQLComments(UNSIGNED8 *pucStatement);
UNSIGNED32 ENTRYPOINT AdsSetBaseTableAccess(ADSHANDLE hTbl, UNSIGNED16 usAccessBase);
UNSIGNED32 ENTRYPOINT AdsSetCursorAOF(ADSHANDLE hTable, UNSIGNED8 *pucFilter, UNSIGNED16 usResolve);
UNSIGNED32 ENTRYPOINT AdsSetSQLTimeout(ADSHANDLE hObj, UNSIGNED32 ulTimeout);
UNSIGNED32 ENTRYPOINT AdsSqlPeekStatement(ADSHANDLE hCursor, UNSIGNED8 *pucIsLive);
UNSIGNED32 ENTRYPOINT AdsStmtClearTablePasswords(ADSHANDLE hStatement);
UNSIGNED32 ENTRYPOINT AdsStmtConstrainUpdates(ADSHANDLE hStatement, UNSIGNED16 usConstrain);
UNSIGNED32 ENTRYPOINT AdsStmtDisableEncryption(ADSHANDLE hStatement);
UNSIGNED32 ENTRYPOINT AdsStmtEnableEncryption(ADSHANDLE hStatement, UNSIGNED8 *pucPassword);
UNSIGNED32 ENTRYPOINT AdsStmtReadAllColumns(ADSHANDLE hStatement, UNSIGNED16 usReadColumns);
UNSIGNED32 ENTRYPOINT AdsStmtSetTableCharType(ADSHANDLE hStatement, UNSIGNED16 usCharType);
UNSIGNED32 ENTRYPOINT AdsStmtSetTableCollation(ADSHANDLE hStatement, UNSIGNED8 *pucCollation);
UNSIGNED32 ENTRYPOINT AdsStmtSetTableLockType(ADSHANDLE hStatement, UNSIGNED16 usLockType);
UNSIGNED32 ENTRYPOINT AdsStmtSetTablePassword(
    ADSHANDLE hStatement, UNSIGNED8 *pucTableName, UNSIGNED8 *pucPassword);
UNSIGNED32 ENTRYPOINT AdsStmtSetTableReadOnly(ADSHANDLE hStatement, UNSIGNED16 usReadOnly);
UNSIGNED32 ENTRYPOINT AdsStmtSetTableRights(ADSHANDLE hStatement, UNSIGNED16 usCheckRights);
UNSIGNED32 ENTRYPOINT AdsStmtSetTableType(ADSHANDLE hStatement, UNSIGNED16 usTableType);
UNSIGNED32 ENTRYPOINT AdsVerifySQL(ADSHANDLE hStatement, UNSIGNED8 *pucSQL);
UNSIGNED32 ENTRYPOINT AdsVerifySQLW(ADSHANDLE hStatement, WCHAR *pwcSQL);

/* Transactions */
UNSIGNED32 ENTRYPOINT AdsBeginTransaction(ADSHANDLE hConnect);
UNSIGNED32 ENTRYPOINT AdsCommitTransaction(ADSHANDLE hConnect);
UNSIGNED32 ENTRYPOINT AdsCreateSavepoint(ADSHANDLE hConnect, UNSIGNED8 *pucSavepoint, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsFailedTransactionRecovery(UNSIGNED8 *pucServer);
UNSIGNED32 ENTRYPOINT AdsGetTransactionCount(ADSHANDLE hConnect, UNSIGNED32 *pulTransactionCount);
UNSIGNED32 ENTRYPOINT AdsInTransaction(ADSHANDLE hConnect, UNSIGNED16 *pbInTrans);
UNSIGNED32 ENTRYPOINT AdsIsTableTransactionFree(ADSHANDLE hTable, UNSIGNED16 *pusTransFree);
UNSIGNED32 ENTRYPOINT AdsRollbackTransaction(ADSHANDLE hConnect);
UNSIGNED32 ENTRYPOINT AdsRollbackTransaction80(
    ADSHANDLE hConnect, UNSIGNED8 *pucSavepoint, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsSetTableTransactionFree(ADSHANDLE hTable, UNSIGNED16 usTransFree);

/* Connections and servers */
UNSIGNED32 ENTRYPOINT AdsClearCachePool(UNSIGNED8 *pucConnectString);
UNSIGNED32 ENTRYPOINT AdsConnect(UNSIGNED8 *pucServerName, ADSHANDLE *phConnect);
UNSIGNED32 ENTRYPOINT AdsConnect101(
    UNSIGNED8 *pucConnectString, ADSHANDLE *phConnectionOptions, ADSHANDLE *phConnect);
UNSIGNED32 ENTRYPOINT AdsConnect26(UNSIGNED8 *pucServerName, UNSIGNED16 usServerTypes, ADSHANDLE *phConnect);
UNSIGNED32 ENTRYPOINT AdsConnect60(
    UNSIGNED8 *pucServerPath, UNSIGNED16 usServerTypes, UNSIGNED8 *pucUserName, UNSIGNED8 *pucPassword,
    UNSIGNED32 ulOptions, ADSHANDLE *phConnect);
UNSIGNED32 ENTRYPOINT AdsDisconnect(ADSHANDLE hConnect);
UNSIGNED32 ENTRYPOINT AdsEcho(ADSHANDLE hConnect, UNSIGNED8 *pucData, UNSIGNED16 usLen);
UNSIGNED32 ENTRYPOINT AdsFindConnection(UNSIGNED8 *pucServerName, ADSHANDLE *phConnect);
UNSIGNED32 ENTRYPOINT AdsFindConnection25(UNSIGNED8 *pucFullPath, ADSHANDLE *phConnect);
UNSIGNED32 ENTRYPOINT AdsFindServers(UNSIGNED32 ulOptions, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsGetActiveLinkInfo(
    ADSHANDLE hDBConn, UNSIGNED16 usLinkNum, UNSIGNED8 *pucLinkInfo, UNSIGNED16 *pusBufferLen);
UNSIGNED32 ENTRYPOINT AdsGetConnectionPath(
    ADSHANDLE hConnect, UNSIGNED8 *pucConnectionPath, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetConnectionProperty(
    ADSHANDLE hConnect, UNSIGNED16 usPropertyID, VOID *pvProperty, UNSIGNED32 *pulPropertyLen);
UNSIGNED32 ENTRYPOINT AdsGetConnectionType(ADSHANDLE hConnect, UNSIGNED16 *pusConnectType);
UNSIGNED32 ENTRYPOINT AdsGetNumActiveLinks(ADSHANDLE hDBConn, UNSIGNED16 *pusNumLinks);
UNSIGNED32 ENTRYPOINT AdsGetServerName(ADSHANDLE hConnect, UNSIGNED8 *pucName, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetServerTime(
    ADSHANDLE hConnect, UNSIGNED8 *pucDateBuf, UNSIGNED16 *pusDateBufLen, SIGNED32 *plTime,
    UNSIGNED8 *pucTimeBuf, UNSIGNED16 *pusTimeBufLen);
UNSIGNED32 ENTRYPOINT AdsIsConnectionAlive(ADSHANDLE hConnect, UNSIGNED16 *pbConnectionIsAlive);
UNSIGNED32 ENTRYPOINT AdsIsServerLoaded(UNSIGNED8 *pucServer, UNSIGNED16 *pbLoaded);
UNSIGNED32 ENTRYPOINT AdsReapUnusedConnections(void);
UNSIGNED32 ENTRYPOINT AdsResetConnection(ADSHANDLE hConnect);
UNSIGNED32 ENTRYPOINT AdsSetFlushFlag(ADSHANDLE hConnect, UNSIGNED16 usFlushEveryUpdate);
UNSIGNED32 ENTRYPOINT AdsSetPacketSize(ADSHANDLE hConnect, UNSIGNED16 usPacketLength);

/* Full text search */
UNSIGNED32 ENTRYPOINT AdsCreateFTSIndex(
    ADSHANDLE hTable, UNSIGNED8 *pucFileName, UNSIGNED8 *pucTag, UNSIGNED8 *pucField, UNSIGNED32 ulPageSize,
    UNSIGNED32 ulMinWordLen, UNSIGNED32 ulMaxWordLen, UNSIGNED16 usUseDefaultDelim, VOID *pvDelimiters,
    UNSIGNED16 usUseDefaultNoise, VOID *pvNoiseWords, UNSIGNED16 usUseDefaultDrop, VOID *pvDropChars,
    UNSIGNED16 usUseDefaultConditionals, VOID *pvConditionalChars, UNSIGNED8 *pucCollation,
    UNSIGNED8 *pucReserved1, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsGetFTSIndexInfo(
    ADSHANDLE hIndex, UNSIGNED8 *pucOutput, UNSIGNED32 *pulBufLen, UNSIGNED8 **ppucField,
    UNSIGNED32 *pulMinWordLen, UNSIGNED32 *pulMaxWordLen, UNSIGNED8 **ppucDelimiters,
    UNSIGNED8 **ppucNoiseWords, UNSIGNED8 **ppucDropChars, UNSIGNED8 **ppucConditionalChars,
    UNSIGNED8 **ppucReserved1, UNSIGNED8 **ppucReserved2, UNSIGNED32 *pulOptions);
UNSIGNED32 ENTRYPOINT AdsGetFTSIndexInfoW(
    ADSHANDLE hIndex, WCHAR *pwcOutput, UNSIGNED32 *pulBufLen, WCHAR **ppwcField, UNSIGNED32 *pulMinWordLen,
    UNSIGNED32 *pulMaxWordLen, WCHAR **ppwcDelimiters, WCHAR **ppwcNoiseWords, WCHAR **ppwcDropChars,
    WCHAR **ppwcConditionalChars, WCHAR **ppwcReserved1, WCHAR **ppwcReserved2, UNSIGNED32 *pulOptions);
UNSIGNED32 ENTRYPOINT AdsGetFTSIndexes(ADSHANDLE hTable, ADSHANDLE *ahIndex, UNSIGNED16 *pusArrayLen);
UNSIGNED32 ENTRYPOINT AdsGetFTSScore(
    ADSHANDLE hIndex, UNSIGNED32 ulRecord, UNSIGNED8 *pucKey, UNSIGNED16 usKeyLen, UNSIGNED16 usDataType,
    UNSIGNED16 usSeekType, UNSIGNED32 *pulScore);
UNSIGNED32 ENTRYPOINT AdsGetNumFTSIndexes(ADSHANDLE hTable, UNSIGNED16 *pusNum);
UNSIGNED32 ENTRYPOINT AdsReindexFTS(ADSHANDLE hObject, UNSIGNED32 ulPageSize);

/* Filters */
UNSIGNED32 ENTRYPOINT AdsActivateAOF(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsAddToAOF(
    ADSHANDLE hTable, UNSIGNED8 *pucFilter, UNSIGNED16 usOperation, UNSIGNED16 usWhichAOF);
UNSIGNED32 ENTRYPOINT AdsClearAOF(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsClearFilter(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsCustomizeAOF(
    ADSHANDLE hTable, UNSIGNED32 ulNumRecords, UNSIGNED32 *pulRecords, UNSIGNED16 usOption);
UNSIGNED32 ENTRYPOINT AdsDeactivateAOF(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsEvalAOF(ADSHANDLE hTable, UNSIGNED8 *pucFilter, UNSIGNED16 *pusOptLevel);
UNSIGNED32 ENTRYPOINT AdsEvalAOF100(
    ADSHANDLE hTable, VOID *pvFilter, UNSIGNED32 ulOptions, UNSIGNED16 *pusOptLevel);
UNSIGNED32 ENTRYPOINT AdsGetAOF(ADSHANDLE hTable, UNSIGNED8 *pucFilter, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetAOF100(
    ADSHANDLE hTable, UNSIGNED32 ulOptions, VOID *pvFilter, UNSIGNED32 *pulLen);
UNSIGNED32 ENTRYPOINT AdsGetAOFOptLevel(
    ADSHANDLE hTable, UNSIGNED16 *pusOptLevel, UNSIGNED8 *pucNonOpt, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetAOFOptLevel100(
    ADSHANDLE hTable, UNSIGNED16 *pusOptLevel, VOID *pvNonOpt, UNSIGNED32 *pulExprLen, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsGetFilter(ADSHANDLE hTable, UNSIGNED8 *pucFilter, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsIsRecordInAOF(ADSHANDLE hTable, UNSIGNED32 ulRecordNum, UNSIGNED16 *pusIsInAOF);
UNSIGNED32 ENTRYPOINT AdsMergeAOF(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsRefreshAOF(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsSetAOF(ADSHANDLE hTable, UNSIGNED8 *pucFilter, UNSIGNED16 usOptions);
UNSIGNED32 ENTRYPOINT AdsSetAOF100(ADSHANDLE hTable, VOID *pvFilter, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsSetFilter(ADSHANDLE hTable, UNSIGNED8 *pucFilter);
UNSIGNED32 ENTRYPOINT AdsSetFilter100(ADSHANDLE hTable, VOID *pvFilter, UNSIGNED32 ulOptions);

/* Scopes */
UNSIGNED32 ENTRYPOINT AdsClearAllScopes(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsClearScope(ADSHANDLE hIndex, UNSIGNED16 usScopeOption);
UNSIGNED32 ENTRYPOINT AdsGetScope(
    ADSHANDLE hIndex, UNSIGNED16 usScopeOption, UNSIGNED8 *pucScope, UNSIGNED16 *pusBufLen);
UNSIGNED32 ENTRYPOINT AdsSetScope(
    ADSHANDLE hIndex, UNSIGNED16 usScopeOption, UNSIGNED8 *pucScope, UNSIGNED16 usScopeLen,
    UNSIGNED16 usDataType);

/* Relations */
UNSIGNED32 ENTRYPOINT AdsClearRelation(ADSHANDLE hTableParent);
UNSIGNED32 ENTRYPOINT AdsSetRelation(ADSHANDLE hTableParent, ADSHANDLE hIndexChild, UNSIGNED8 *pucExpr);
UNSIGNED32 ENTRYPOINT AdsSetScopedRelation(ADSHANDLE hTableParent, ADSHANDLE hIndexChild, UNSIGNED8 *pucExpr);

/* Locks */
UNSIGNED32 ENTRYPOINT AdsCreateCriticalSection(ADSHANDLE hObj, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsGetAllLocks(ADSHANDLE hTable, UNSIGNED32 *aulLocks, UNSIGNED16 *pusArrayLen);
UNSIGNED32 ENTRYPOINT AdsGetNumLocks(ADSHANDLE hTable, UNSIGNED16 *pusNum);
UNSIGNED32 ENTRYPOINT AdsGetTableLockType(ADSHANDLE hTable, UNSIGNED16 *pusLockType);
UNSIGNED32 ENTRYPOINT AdsIsRecordLocked(ADSHANDLE hTable, UNSIGNED32 ulRec, UNSIGNED16 *pbLocked);
UNSIGNED32 ENTRYPOINT AdsIsTableLocked(ADSHANDLE hTable, UNSIGNED16 *pbLocked);
UNSIGNED32 ENTRYPOINT AdsLockRecord(ADSHANDLE hTable, UNSIGNED32 ulRec);
UNSIGNED32 ENTRYPOINT AdsLockRecordImplicitly(ADSHANDLE hTbl, UNSIGNED32 ulRec);
UNSIGNED32 ENTRYPOINT AdsLockTable(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsReleaseObject(ADSHANDLE hObj);
UNSIGNED32 ENTRYPOINT AdsUnlockRecord(ADSHANDLE hTable, UNSIGNED32 ulRec);
UNSIGNED32 ENTRYPOINT AdsUnlockTable(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsWaitForObject(ADSHANDLE hObj, UNSIGNED32 ulOptions);

/* Indexes and keys */
UNSIGNED32 ENTRYPOINT AdsAddCustomKey(ADSHANDLE hIndex);
UNSIGNED32 ENTRYPOINT AdsBuildKeyFromRecord(
    ADSHANDLE hTag, UNSIGNED8 *pucRecBuffer, UNSIGNED32 ulRecordLen, UNSIGNED8 *pucKey,
    UNSIGNED16 *pusKeyLen);
UNSIGNED32 ENTRYPOINT AdsBuildRawKey(ADSHANDLE hIndex, UNSIGNED8 *pucKey, UNSIGNED16 *pusKeyLen);
UNSIGNED32 ENTRYPOINT AdsBuildRawKey100(
    ADSHANDLE hIndex, UNSIGNED8 *pucKey, UNSIGNED16 *pusKeyLen, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsCloseAllIndexes(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsCloseIndex(ADSHANDLE hIndex);
UNSIGNED32 ENTRYPOINT AdsCreateIndex(
    ADSHANDLE hObj, UNSIGNED8 *pucFileName, UNSIGNED8 *pucTag, UNSIGNED8 *pucExpr, UNSIGNED8 *pucCondition,
    UNSIGNED8 *pucWhile, UNSIGNED32 ulOptions, ADSHANDLE *phIndex);
UNSIGNED32 ENTRYPOINT AdsCreateIndex61(
    ADSHANDLE hObj, UNSIGNED8 *pucFileName, UNSIGNED8 *pucTag, UNSIGNED8 *pucExpr, UNSIGNED8 *pucCondition,
    UNSIGNED8 *pucWhile, UNSIGNED32 ulOptions, UNSIGNED32 ulPageSize, ADSHANDLE *phIndex);
UNSIGNED32 ENTRYPOINT AdsCreateIndex90(
    ADSHANDLE hObj, UNSIGNED8 *pucFileName, UNSIGNED8 *pucTag, UNSIGNED8 *pucExpr, UNSIGNED8 *pucCondition,
    UNSIGNED8 *pucWhile, UNSIGNED32 ulOptions, UNSIGNED32 ulPageSize, UNSIGNED8 *pucCollation,
    ADSHANDLE *phIndex);
UNSIGNED32 ENTRYPOINT AdsDeleteCustomKey(ADSHANDLE hIndex);
UNSIGNED32 ENTRYPOINT AdsDeleteIndex(ADSHANDLE hIndex);
UNSIGNED32 ENTRYPOINT AdsExtractKey(ADSHANDLE hIndex, UNSIGNED8 *pucKey, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetAllIndexes(ADSHANDLE hTable, ADSHANDLE *ahIndex, UNSIGNED16 *pusArrayLen);
UNSIGNED32 ENTRYPOINT AdsGetCollation(ADSHANDLE hConnect, UNSIGNED8 *pucCollation, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetCollationLang(UNSIGNED8 *pucLang, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetIndexCollation(ADSHANDLE hIndex, UNSIGNED8 *pucCollation, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetIndexCondition(ADSHANDLE hIndex, UNSIGNED8 *pucExpr, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetIndexExpr(ADSHANDLE hIndex, UNSIGNED8 *pucExpr, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetIndexFilename(
    ADSHANDLE hIndex, UNSIGNED16 usOption, UNSIGNED8 *pucName, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetIndexFlags(ADSHANDLE hIndex, UNSIGNED32 *pulFlags);
UNSIGNED32 ENTRYPOINT AdsGetIndexHandle(ADSHANDLE hTable, UNSIGNED8 *pucIndexOrder, ADSHANDLE *phIndex);
UNSIGNED32 ENTRYPOINT AdsGetIndexHandleByExpr(
    ADSHANDLE hTable, UNSIGNED8 *pucExpr, UNSIGNED32 ulDescending, ADSHANDLE *phIndex);
UNSIGNED32 ENTRYPOINT AdsGetIndexHandleByOrder(ADSHANDLE hTable, UNSIGNED16 usOrderNum, ADSHANDLE *phIndex);
UNSIGNED32 ENTRYPOINT AdsGetIndexName(ADSHANDLE hIndex, UNSIGNED8 *pucName, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetIndexOrderByHandle(ADSHANDLE hIndex, UNSIGNED16 *pusIndexOrder);
UNSIGNED32 ENTRYPOINT AdsGetIndexPageSize(ADSHANDLE hIndex, UNSIGNED32 *pulPageSize);
UNSIGNED32 ENTRYPOINT AdsGetKeyCount(ADSHANDLE hIndex, UNSIGNED16 usFilterOption, UNSIGNED32 *pulCount);
UNSIGNED32 ENTRYPOINT AdsGetKeyLength(ADSHANDLE hIndex, UNSIGNED16 *pusKeyLength);
UNSIGNED32 ENTRYPOINT AdsGetKeyNum(ADSHANDLE hIndex, UNSIGNED16 usFilterOption, UNSIGNED32 *pulKey);
UNSIGNED32 ENTRYPOINT AdsGetKeyType(ADSHANDLE hIndex, UNSIGNED16 *usKeyType);
UNSIGNED32 ENTRYPOINT AdsGetNumIndexes(ADSHANDLE hTable, UNSIGNED16 *pusNum);
UNSIGNED32 ENTRYPOINT AdsGetNumSegments(ADSHANDLE hTag, UNSIGNED16 *pusSegments);
UNSIGNED32 ENTRYPOINT AdsGetRelKeyPos(ADSHANDLE hIndex, DOUBLE *pdPos);
UNSIGNED32 ENTRYPOINT AdsGetSegmentFieldNumbers(
    ADSHANDLE hTag, UNSIGNED16 *pusNumSegments, UNSIGNED16 *pusSegFieldNumbers);
UNSIGNED32 ENTRYPOINT AdsGetSegmentFieldname(
    ADSHANDLE hTag, UNSIGNED16 usSegmentNum, UNSIGNED8 *pucFieldname, UNSIGNED16 *pusFldnameLen);
UNSIGNED32 ENTRYPOINT AdsGetSegmentOffset(ADSHANDLE hTag, UNSIGNED16 usSegmentNum, UNSIGNED16 *pusOffset);
UNSIGNED32 ENTRYPOINT AdsInitRawKey(ADSHANDLE hIndex);
UNSIGNED32 ENTRYPOINT AdsIsIndexCandidate(ADSHANDLE hIndex, UNSIGNED16 *pbCandidate);
UNSIGNED32 ENTRYPOINT AdsIsIndexCompound(ADSHANDLE hIndex, UNSIGNED16 *pbCompound);
UNSIGNED32 ENTRYPOINT AdsIsIndexCustom(ADSHANDLE hIndex, UNSIGNED16 *pbCustom);
UNSIGNED32 ENTRYPOINT AdsIsIndexDescending(ADSHANDLE hIndex, UNSIGNED16 *pbDescending);
UNSIGNED32 ENTRYPOINT AdsIsIndexExprValid(ADSHANDLE hTbl, UNSIGNED8 *pucExpr, UNSIGNED16 *pbValid);
UNSIGNED32 ENTRYPOINT AdsIsIndexFTS(ADSHANDLE hIndex, UNSIGNED16 *pbFTS);
UNSIGNED32 ENTRYPOINT AdsIsIndexNullable(ADSHANDLE hIndex, UNSIGNED16 *pbNullable);
UNSIGNED32 ENTRYPOINT AdsIsIndexPrimaryKey(ADSHANDLE hIndex, UNSIGNED16 *pbPrimaryKey);
UNSIGNED32 ENTRYPOINT AdsIsIndexUnique(ADSHANDLE hIndex, UNSIGNED16 *pbUnique);
UNSIGNED32 ENTRYPOINT AdsIsIndexUserDefined(ADSHANDLE hIndex, UNSIGNED16 *pbUserDefined);
UNSIGNED32 ENTRYPOINT AdsIsSegmentDescending(
    ADSHANDLE hTag, UNSIGNED16 usSegmentNum, UNSIGNED16 *pbDescending);
UNSIGNED32 ENTRYPOINT AdsLookupKey(
    ADSHANDLE hIndex, UNSIGNED8 *pucKey, UNSIGNED16 usKeyLen, UNSIGNED16 usDataType, UNSIGNED16 *pbFound);
UNSIGNED32 ENTRYPOINT AdsOpenIndex(
    ADSHANDLE hTable, UNSIGNED8 *pucName, ADSHANDLE *ahIndex, UNSIGNED16 *pusArrayLen);
UNSIGNED32 ENTRYPOINT AdsReindex(ADSHANDLE hObject);
UNSIGNED32 ENTRYPOINT AdsReindex61(ADSHANDLE hObject, UNSIGNED32 ulPageSize);
UNSIGNED32 ENTRYPOINT AdsSeek(
    ADSHANDLE hIndex, UNSIGNED8 *pucKey, UNSIGNED16 usKeyLen, UNSIGNED16 usDataType, UNSIGNED16 usSeekType,
    UNSIGNED16 *pbFound);
UNSIGNED32 ENTRYPOINT AdsSeekLast(
    ADSHANDLE hIndex, UNSIGNED8 *pucKey, UNSIGNED16 usKeyLen, UNSIGNED16 usDataType, UNSIGNED16 *pbFound);
UNSIGNED32 ENTRYPOINT AdsSetCollation(ADSHANDLE hConnect, UNSIGNED8 *pucCollation);
UNSIGNED32 ENTRYPOINT AdsSetCollationLang(UNSIGNED8 *pucLang);
UNSIGNED32 ENTRYPOINT AdsSetIndexDirection(ADSHANDLE hIndex, UNSIGNED16 usReverseDirection);
UNSIGNED32 ENTRYPOINT AdsSetRelKeyPos(ADSHANDLE hIndex, DOUBLE dPos);
UNSIGNED32 ENTRYPOINT AdsStepIndexKey(
    ADSHANDLE hIndex, UNSIGNED8 *pucKey, UNSIGNED16 usLen, SIGNED16 sDirection);

/* Memos and binaries */
UNSIGNED32 ENTRYPOINT AdsBinaryToFile(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED8 *pucFileName);
UNSIGNED32 ENTRYPOINT AdsBinaryToFileW(ADSHANDLE hTable, UNSIGNED8 *pucFldName, WCHAR *pwcFileName);
UNSIGNED32 ENTRYPOINT AdsFileToBinary(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 usBinaryType, UNSIGNED8 *pucFileName);
UNSIGNED32 ENTRYPOINT AdsFileToBinaryW(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 usBinaryType, WCHAR *pwcFileName);
UNSIGNED32 ENTRYPOINT AdsGetBinary(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED32 ulOffset, UNSIGNED8 *pucBuf, UNSIGNED32 *pulLen);
UNSIGNED32 ENTRYPOINT AdsGetBinaryLength(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGetMemoBlockSize(ADSHANDLE hTable, UNSIGNED16 *pusBlockSize);
UNSIGNED32 ENTRYPOINT AdsGetMemoDataType(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pusType);
UNSIGNED32 ENTRYPOINT AdsGetMemoLength(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGetTableMemoSize(ADSHANDLE hTable, UNSIGNED16 *pusMemoSize);
UNSIGNED32 ENTRYPOINT AdsImageToClipboard(ADSHANDLE hTable, UNSIGNED8 *pucFldName);
UNSIGNED32 ENTRYPOINT AdsIsFieldBinary(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pbBinary);
UNSIGNED32 ENTRYPOINT AdsSetBinary(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 usBinaryType, UNSIGNED32 ulTotalLength,
    UNSIGNED32 ulOffset, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);

/* Bookmarks */
UNSIGNED32 ENTRYPOINT AdsCompareBookmarks(
    UNSIGNED8 *pucBookmark1, UNSIGNED8 *pucBookmark2, SIGNED32 *plResult);
UNSIGNED32 ENTRYPOINT AdsGetBookmark(ADSHANDLE hTable, ADSHANDLE *phBookmark);
UNSIGNED32 ENTRYPOINT AdsGetBookmark60(ADSHANDLE hObj, UNSIGNED8 *pucBookmark, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGetBookmarkLength(ADSHANDLE hObj, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGotoBookmark(ADSHANDLE hTable, ADSHANDLE hBookmark);
UNSIGNED32 ENTRYPOINT AdsGotoBookmark60(ADSHANDLE hObj, UNSIGNED8 *pucBookmark);

/* Expressions */
UNSIGNED32 ENTRYPOINT AdsContinue(ADSHANDLE hTable, UNSIGNED16 *pbFound);
UNSIGNED32 ENTRYPOINT AdsEvalExpr(
    ADSHANDLE hTable, UNSIGNED8 *pucPCode, UNSIGNED8 *pucResult, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsEvalLogicalExpr(ADSHANDLE hTable, UNSIGNED8 *pucExpr, UNSIGNED16 *pbResult);
UNSIGNED32 ENTRYPOINT AdsEvalLogicalExprW(ADSHANDLE hTable, WCHAR *pwcExpr, UNSIGNED16 *pbResult);
UNSIGNED32 ENTRYPOINT AdsEvalNumericExpr(ADSHANDLE hTable, UNSIGNED8 *pucExpr, DOUBLE *pdResult);
UNSIGNED32 ENTRYPOINT AdsEvalStringExpr(
    ADSHANDLE hTable, UNSIGNED8 *pucExpr, UNSIGNED8 *pucResult, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsEvalTestExpr(ADSHANDLE hTable, UNSIGNED8 *pucExpr, UNSIGNED16 *pusType);
UNSIGNED32 ENTRYPOINT AdsExpressionLongToShort(
    ADSHANDLE hTable, UNSIGNED8 *pucLongExpr, UNSIGNED8 *pucShortExpr, UNSIGNED16 *pusBufferLen);
UNSIGNED32 ENTRYPOINT AdsExpressionLongToShort100(
    ADSHANDLE hTable, UNSIGNED8 *pucLongExpr, UNSIGNED8 *pucShortExpr, UNSIGNED32 *pulBufferLen,
    UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsExpressionLongToShort90(
    ADSHANDLE hTable, UNSIGNED8 *pucLongExpr, UNSIGNED8 *pucShortExpr, UNSIGNED32 *pulBufferLen);
UNSIGNED32 ENTRYPOINT AdsExpressionShortToLong(
    ADSHANDLE hTable, UNSIGNED8 *pucShortExpr, UNSIGNED8 *pucLongExpr, UNSIGNED16 *pusBufferLen);
UNSIGNED32 ENTRYPOINT AdsExpressionShortToLong90(
    ADSHANDLE hTable, UNSIGNED8 *pucShortExpr, UNSIGNED8 *pucLongExpr, UNSIGNED32 *pulBufferLen);
UNSIGNED32 ENTRYPOINT AdsFreeExpr(ADSHANDLE hTable, UNSIGNED8 *pucPCode);
UNSIGNED32 ENTRYPOINT AdsIsExprValid(ADSHANDLE hTable, UNSIGNED8 *pucExpr, UNSIGNED16 *pbValid);
UNSIGNED32 ENTRYPOINT AdsLocate(
    ADSHANDLE hTable, UNSIGNED8 *pucExpr, UNSIGNED16 bForward, UNSIGNED16 *pbFound);

/* Files */
UNSIGNED32 ENTRYPOINT AdsCheckExistence(ADSHANDLE hConnect, UNSIGNED8 *pucFileName, UNSIGNED16 *pusOnDisk);
UNSIGNED32 ENTRYPOINT AdsDeleteFile(ADSHANDLE hConnect, UNSIGNED8 *pucFileName);
UNSIGNED32 ENTRYPOINT AdsFindClose(ADSHANDLE hConnect, ADSHANDLE lHandle);
UNSIGNED32 ENTRYPOINT AdsFindFirstTable(
    ADSHANDLE hConnect, UNSIGNED8 *pucFileMask, UNSIGNED8 *pucFirstFile, UNSIGNED16 *pusFileLen,
    ADSHANDLE *plHandle);
UNSIGNED32 ENTRYPOINT AdsFindFirstTable62(
    ADSHANDLE hConnect, UNSIGNED8 *pucFileMask, UNSIGNED8 *pucFirstDD, UNSIGNED16 *pusDDLen,
    UNSIGNED8 *pucFirstFile, UNSIGNED16 *pusFileLen, ADSHANDLE *plHandle);
UNSIGNED32 ENTRYPOINT AdsFindNextTable(
    ADSHANDLE hConnect, ADSHANDLE lHandle, UNSIGNED8 *pucFileName, UNSIGNED16 *pusFileLen);
UNSIGNED32 ENTRYPOINT AdsFindNextTable62(
    ADSHANDLE hConnect, ADSHANDLE lHandle, UNSIGNED8 *pucDDName, UNSIGNED16 *pusDDLen, UNSIGNED8 *pucFileName,
    UNSIGNED16 *pusFileLen);
UNSIGNED32 ENTRYPOINT AdsFlushFileBuffers(ADSHANDLE hTable);

/* Moving among records */
UNSIGNED32 ENTRYPOINT AdsAtBOF(ADSHANDLE hTable, UNSIGNED16 *pbBof);
UNSIGNED32 ENTRYPOINT AdsAtEOF(ADSHANDLE hTable, UNSIGNED16 *pbEof);
UNSIGNED32 ENTRYPOINT AdsGetRecordNum(ADSHANDLE hTable, UNSIGNED16 usFilterOption, UNSIGNED32 *pulRec);
UNSIGNED32 ENTRYPOINT AdsGotoBOF(ADSHANDLE hObj);
UNSIGNED32 ENTRYPOINT AdsGotoBottom(ADSHANDLE hObj);
UNSIGNED32 ENTRYPOINT AdsGotoEOF(ADSHANDLE hObj);
UNSIGNED32 ENTRYPOINT AdsGotoRecord(ADSHANDLE hTable, UNSIGNED32 ulRec);
UNSIGNED32 ENTRYPOINT AdsGotoTop(ADSHANDLE hObj);
UNSIGNED32 ENTRYPOINT AdsIsFound(ADSHANDLE hObj, UNSIGNED16 *pbFound);
UNSIGNED32 ENTRYPOINT AdsReadRecordNumbers(
    ADSHANDLE hObj, UNSIGNED32 ulRecordNum, UNSIGNED8 ucDirection, UNSIGNED32 *pulRecords,
    UNSIGNED32 *pulArrayLen, UNSIGNED16 *pusHitEOF);
UNSIGNED32 ENTRYPOINT AdsReadRecords(ADSHANDLE hObj, UNSIGNED32 ulRecordNum, UNSIGNED8 ucDirection);
UNSIGNED32 ENTRYPOINT AdsSetBOFFlag(ADSHANDLE hTbl, UNSIGNED16 usBOF);
UNSIGNED32 ENTRYPOINT AdsSkip(ADSHANDLE hObj, SIGNED32 lRecs);
UNSIGNED32 ENTRYPOINT AdsSkipUnique(ADSHANDLE hIndex, SIGNED32 lRecs);

/* Fields */
UNSIGNED32 ENTRYPOINT AdsAccessVfpSystemField(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED8 *pucRecBuf, UNSIGNED32 ulOptions, UNSIGNED16 *puFlag);
UNSIGNED32 ENTRYPOINT AdsGetBaseFieldName(
    ADSHANDLE hTbl, UNSIGNED16 usFld, UNSIGNED8 *pucName, UNSIGNED16 *pusBufLen);
UNSIGNED32 ENTRYPOINT AdsGetBaseFieldNum(
    ADSHANDLE hCursor, UNSIGNED8 *pucColumnName, UNSIGNED16 *pusBaseFieldNum);
UNSIGNED32 ENTRYPOINT AdsGetDataLength(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED32 ulOptions, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGetDate(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetDouble(ADSHANDLE hTable, UNSIGNED8 *pucFldName, DOUBLE *pdValue);
UNSIGNED32 ENTRYPOINT AdsGetField(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 *pulLen, UNSIGNED16 usOption);
UNSIGNED32 ENTRYPOINT AdsGetFieldDecimals(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pusDecimals);
UNSIGNED32 ENTRYPOINT AdsGetFieldLength(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGetFieldLength100(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED32 ulOptions, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsGetFieldName(
    ADSHANDLE hTable, UNSIGNED16 usFld, UNSIGNED8 *pucName, UNSIGNED16 *pusBufLen);
UNSIGNED32 ENTRYPOINT AdsGetFieldNum(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pusNum);
UNSIGNED32 ENTRYPOINT AdsGetFieldOffset(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED32 *pulOffset);
UNSIGNED32 ENTRYPOINT AdsGetFieldRaw(
    ADSHANDLE hTbl, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 *pulLen);
UNSIGNED32 ENTRYPOINT AdsGetFieldType(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pusType);
UNSIGNED32 ENTRYPOINT AdsGetFieldW(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, WCHAR *pwcBuf, UNSIGNED32 *pulLen, UNSIGNED16 usOption);
UNSIGNED32 ENTRYPOINT AdsGetJulian(ADSHANDLE hTable, UNSIGNED8 *pucFldName, SIGNED32 *plDate);
UNSIGNED32 ENTRYPOINT AdsGetLastAutoinc(ADSHANDLE hObj, UNSIGNED32 *pulAutoIncVal);
UNSIGNED32 ENTRYPOINT AdsGetLogical(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pbValue);
UNSIGNED32 ENTRYPOINT AdsGetLong(ADSHANDLE hTable, UNSIGNED8 *pucFldName, SIGNED32 *plValue);
UNSIGNED32 ENTRYPOINT AdsGetLongLong(ADSHANDLE hTable, UNSIGNED8 *pucFldName, SIGNED64 *pqValue);
UNSIGNED32 ENTRYPOINT AdsGetMilliseconds(ADSHANDLE hTable, UNSIGNED8 *pucFldName, SIGNED32 *plTime);
UNSIGNED32 ENTRYPOINT AdsGetMoney(ADSHANDLE hTbl, UNSIGNED8 *pucFldName, SIGNED64 *pqValue);
UNSIGNED32 ENTRYPOINT AdsGetNumFields(ADSHANDLE hTable, UNSIGNED16 *pusCount);
UNSIGNED32 ENTRYPOINT AdsGetShort(ADSHANDLE hTable, UNSIGNED8 *pucFldName, SIGNED16 *psValue);
UNSIGNED32 ENTRYPOINT AdsGetString(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 *pulLen, UNSIGNED16 usOption);
UNSIGNED32 ENTRYPOINT AdsGetStringW(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, WCHAR *pwcBuf, UNSIGNED32 *pulLen, UNSIGNED16 usOption);
UNSIGNED32 ENTRYPOINT AdsGetTime(
    ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsIsEmpty(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pbEmpty);
UNSIGNED32 ENTRYPOINT AdsIsNull(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pbNull);
UNSIGNED32 ENTRYPOINT AdsIsNullable(ADSHANDLE hTable, UNSIGNED8 *pucFldName, UNSIGNED16 *pbNullable);
UNSIGNED32 ENTRYPOINT AdsSetDate(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED8 *pucValue, UNSIGNED16 usLen);
UNSIGNED32 ENTRYPOINT AdsSetDouble(ADSHANDLE hObj, UNSIGNED8 *pucFldName, DOUBLE dValue);
UNSIGNED32 ENTRYPOINT AdsSetEmpty(ADSHANDLE hObj, UNSIGNED8 *pucFldName);
UNSIGNED32 ENTRYPOINT AdsSetField(ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsSetFieldRaw(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsSetFieldW(ADSHANDLE hObj, UNSIGNED8 *pucFldName, WCHAR *pwcBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsSetJulian(ADSHANDLE hObj, UNSIGNED8 *pucFldName, SIGNED32 lDate);
UNSIGNED32 ENTRYPOINT AdsSetLogical(ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED16 bValue);
UNSIGNED32 ENTRYPOINT AdsSetLong(ADSHANDLE hObj, UNSIGNED8 *pucFldName, SIGNED32 lValue);
UNSIGNED32 ENTRYPOINT AdsSetLongLong(ADSHANDLE hObj, UNSIGNED8 *pucFldName, SIGNED64 qValue);
UNSIGNED32 ENTRYPOINT AdsSetMilliseconds(ADSHANDLE hObj, UNSIGNED8 *pucFldName, SIGNED32 lTime);
UNSIGNED32 ENTRYPOINT AdsSetMoney(ADSHANDLE hObj, UNSIGNED8 *pucFldName, SIGNED64 qValue);
UNSIGNED32 ENTRYPOINT AdsSetNull(ADSHANDLE hTable, UNSIGNED8 *pucFldName);
UNSIGNED32 ENTRYPOINT AdsSetShort(ADSHANDLE hObj, UNSIGNED8 *pucFldName, SIGNED16 sValue);
UNSIGNED32 ENTRYPOINT AdsSetString(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsSetStringFromCodePage(
    ADSHANDLE hObj, UNSIGNED32 ulCodePage, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsSetStringW(ADSHANDLE hObj, UNSIGNED8 *pucFldName, WCHAR *pwcBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsSetTime(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED8 *pucValue, UNSIGNED16 usLen);
UNSIGNED32 ENTRYPOINT AdsSetTimeStamp(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsSetTimeStampRaw(
    ADSHANDLE hObj, UNSIGNED8 *pucFldName, UNSIGNED64 *pucBuf, UNSIGNED32 ulLen);

/* Records */
UNSIGNED32 ENTRYPOINT AdsAppendRecord(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsCacheRecords(ADSHANDLE hTable, UNSIGNED16 usNumRecords);
UNSIGNED32 ENTRYPOINT AdsCancelUpdate(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsCancelUpdate90(ADSHANDLE hTable, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsClearRecordBuffer(ADSHANDLE hTbl, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsDeleteRecord(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsDisableAutoIncEnforcement(ADSHANDLE hConnection);
UNSIGNED32 ENTRYPOINT AdsDisableUniqueEnforcement(ADSHANDLE hConnection);
UNSIGNED32 ENTRYPOINT AdsEnableAutoIncEnforcement(ADSHANDLE hConnection);
UNSIGNED32 ENTRYPOINT AdsEnableUniqueEnforcement(ADSHANDLE hConnection);
UNSIGNED32 ENTRYPOINT AdsGetNullRecord(ADSHANDLE hTbl, UNSIGNED8 *pucBuf, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsGetROWIDPrefix(ADSHANDLE hTable, UNSIGNED8 *pucRowIDPrefix, UNSIGNED16 usBufferLen);
UNSIGNED32 ENTRYPOINT AdsGetRecord(ADSHANDLE hTable, UNSIGNED8 *pucRec, UNSIGNED32 *pulLen);
UNSIGNED32 ENTRYPOINT AdsGetRecordCRC(ADSHANDLE hTable, UNSIGNED32 *pulCRC, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsGetRecordCount(ADSHANDLE hTable, UNSIGNED16 usFilterOption, UNSIGNED32 *pulCount);
UNSIGNED32 ENTRYPOINT AdsGetRecordLength(ADSHANDLE hTable, UNSIGNED32 *pulLength);
UNSIGNED32 ENTRYPOINT AdsIsRecordDeleted(ADSHANDLE hTable, UNSIGNED16 *pbDeleted);
UNSIGNED32 ENTRYPOINT AdsIsRecordVisible(ADSHANDLE hObj, UNSIGNED16 *pbVisible);
UNSIGNED32 ENTRYPOINT AdsRecallAllRecords(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsRecallRecord(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsRefreshRecord(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsSetRecord(ADSHANDLE hObj, UNSIGNED8 *pucRec, UNSIGNED32 ulLen);
UNSIGNED32 ENTRYPOINT AdsWriteAllRecords(void);
UNSIGNED32 ENTRYPOINT AdsWriteRecord(ADSHANDLE hTable);

/* Tables */
UNSIGNED32 ENTRYPOINT AdsCloneTable(ADSHANDLE hTable, ADSHANDLE *phClone);
UNSIGNED32 ENTRYPOINT AdsCloseAllTables(void);
UNSIGNED32 ENTRYPOINT AdsCloseCachedTables(ADSHANDLE hConnection);
UNSIGNED32 ENTRYPOINT AdsCloseTable(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsConvertTable(
    ADSHANDLE hObj, UNSIGNED16 usFilterOption, UNSIGNED8 *pucFile, UNSIGNED16 usTableType);
UNSIGNED32 ENTRYPOINT AdsCopyTable(ADSHANDLE hObj, UNSIGNED16 usFilterOption, UNSIGNED8 *pucFile);
UNSIGNED32 ENTRYPOINT AdsCopyTableContents(ADSHANDLE hObjFrom, ADSHANDLE hTableTo, UNSIGNED16 usFilterOption);
UNSIGNED32 ENTRYPOINT AdsCopyTableStructure(ADSHANDLE hTable, UNSIGNED8 *pucFile);
UNSIGNED32 ENTRYPOINT AdsCopyTableStructure81(ADSHANDLE hTable, UNSIGNED8 *pucFile, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsCopyTableTop(ADSHANDLE hObj, ADSHANDLE hDestTbl, UNSIGNED32 ulNumTopRecords);
UNSIGNED32 ENTRYPOINT AdsCopyTableTop100(
    ADSHANDLE hObj, ADSHANDLE hDestTbl, UNSIGNED32 ulNumTopRecords, UNSIGNED32 ulOffset);
UNSIGNED32 ENTRYPOINT AdsCreateMemTable(
    ADSHANDLE hConnection, UNSIGNED8 *pucName, UNSIGNED16 usTableType, UNSIGNED16 usCharType,
    UNSIGNED8 *pucFields, UNSIGNED32 ulSize, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsCreateMemTable90(
    ADSHANDLE hConnection, UNSIGNED8 *pucName, UNSIGNED16 usTableType, UNSIGNED16 usCharType,
    UNSIGNED8 *pucFields, UNSIGNED32 ulSize, UNSIGNED8 *pucCollation, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsCreateTable(
    ADSHANDLE hConnection, UNSIGNED8 *pucName, UNSIGNED8 *pucAlias, UNSIGNED16 usTableType,
    UNSIGNED16 usCharType, UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED16 usMemoSize,
    UNSIGNED8 *pucFields, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsCreateTable71(
    ADSHANDLE hConnection, UNSIGNED8 *pucName, UNSIGNED8 *pucDBObjName, UNSIGNED16 usTableType,
    UNSIGNED16 usCharType, UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED16 usMemoSize,
    UNSIGNED8 *pucFields, UNSIGNED32 ulOptions, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsCreateTable90(
    ADSHANDLE hConnection, UNSIGNED8 *pucName, UNSIGNED8 *pucDBObjName, UNSIGNED16 usTableType,
    UNSIGNED16 usCharType, UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED16 usMemoSize,
    UNSIGNED8 *pucFields, UNSIGNED32 ulOptions, UNSIGNED8 *pucCollation, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsDeleteTable(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsGetAllTables(ADSHANDLE *ahTable, UNSIGNED16 *pusArrayLen);
UNSIGNED32 ENTRYPOINT AdsGetLastTableUpdate(ADSHANDLE hTable, UNSIGNED8 *pucDate, UNSIGNED16 *pusDateLen);
UNSIGNED32 ENTRYPOINT AdsGetNumOpenTables(UNSIGNED16 *pusNum);
UNSIGNED32 ENTRYPOINT AdsGetTableAlias(ADSHANDLE hTable, UNSIGNED8 *pucAlias, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetTableCharType(ADSHANDLE hTable, UNSIGNED16 *pusCharType);
UNSIGNED32 ENTRYPOINT AdsGetTableCollation(ADSHANDLE hTbl, UNSIGNED8 *pucCollation, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetTableConnection(ADSHANDLE hTable, ADSHANDLE *phConnect);
UNSIGNED32 ENTRYPOINT AdsGetTableFilename(
    ADSHANDLE hTable, UNSIGNED16 usOption, UNSIGNED8 *pucName, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsGetTableHandle(UNSIGNED8 *pucName, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsGetTableHandle25(ADSHANDLE hConnect, UNSIGNED8 *pucName, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsGetTableOpenOptions(ADSHANDLE hTable, UNSIGNED32 *pulOptions);
UNSIGNED32 ENTRYPOINT AdsGetTableRights(ADSHANDLE hTable, UNSIGNED16 *pusRights);
UNSIGNED32 ENTRYPOINT AdsGetTableType(ADSHANDLE hTable, UNSIGNED16 *pusType);
UNSIGNED32 ENTRYPOINT AdsGetTableWAN(ADSHANDLE hTable, UNSIGNED16 *pusWAN);
UNSIGNED32 ENTRYPOINT AdsOpenTable(
    ADSHANDLE hConnect, UNSIGNED8 *pucName, UNSIGNED8 *pucAlias, UNSIGNED16 usTableType,
    UNSIGNED16 usCharType, UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED32 ulOptions,
    ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsOpenTable101(ADSHANDLE hConnect, UNSIGNED8 *pucName, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsOpenTable90(
    ADSHANDLE hConnect, UNSIGNED8 *pucName, UNSIGNED8 *pucAlias, UNSIGNED16 usTableType,
    UNSIGNED16 usCharType, UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED32 ulOptions,
    UNSIGNED8 *pucCollation, ADSHANDLE *phTable);
UNSIGNED32 ENTRYPOINT AdsPackTable(ADSHANDLE hTable);
UNSIGNED32 ENTRYPOINT AdsPackTable120(ADSHANDLE hTable, UNSIGNED32 ulMemoBlockSize, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsRestructureTable(
    ADSHANDLE hObj, UNSIGNED8 *pucName, UNSIGNED8 *pucPassword, UNSIGNED16 usTableType, UNSIGNED16 usCharType,
    UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED8 *pucAddFields, UNSIGNED8 *pucDeleteFields,
    UNSIGNED8 *pucChangeFields);
UNSIGNED32 ENTRYPOINT AdsRestructureTable120(
    ADSHANDLE hObj, UNSIGNED8 *pucName, UNSIGNED8 *pucPassword, UNSIGNED16 usTableType, UNSIGNED16 usCharType,
    UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED8 *pucAddFields, UNSIGNED8 *pucDeleteFields,
    UNSIGNED8 *pucChangeFields, UNSIGNED8 *pucCollation, UNSIGNED32 ulMemoBlockSize, UNSIGNED32 ulOptions);
UNSIGNED32 ENTRYPOINT AdsRestructureTable90(
    ADSHANDLE hObj, UNSIGNED8 *pucName, UNSIGNED8 *pucPassword, UNSIGNED16 usTableType, UNSIGNED16 usCharType,
    UNSIGNED16 usLockType, UNSIGNED16 usCheckRights, UNSIGNED8 *pucAddFields, UNSIGNED8 *pucDeleteFields,
    UNSIGNED8 *pucChangeFields, UNSIGNED8 *pucCollation);
UNSIGNED32 ENTRYPOINT AdsSetTableCharType(ADSHANDLE hTbl, UNSIGNED16 usCharType);
UNSIGNED32 ENTRYPOINT AdsZapTable(ADSHANDLE hTable);

/* Functions of OpenADS, which ACE has not */

UNSIGNED32 ENTRYPOINT AdsCopyTableContent(ADSHANDLE hFrom, ADSHANDLE hTo);
UNSIGNED32 ENTRYPOINT AdsDDCreateProcedure(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucContainer, UNSIGNED8 *pucFunction,
    UNSIGNED32 ulInvokeOption, UNSIGNED8 *pucInput, UNSIGNED8 *pucOutput, UNSIGNED8 *pucComment);
UNSIGNED32 ENTRYPOINT AdsDDCreateView(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED8 *pucComment, UNSIGNED8 *pucStatement);
UNSIGNED32 ENTRYPOINT AdsDDDropProcedure(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDDropTrigger(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDDropView(ADSHANDLE hDictionary, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsDDGetProcProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED16 usProperty, VOID *pvValue, UNSIGNED16 *pusLen);
UNSIGNED32 ENTRYPOINT AdsDDSetProcProperty(
    ADSHANDLE hDictionary, UNSIGNED8 *pucName, UNSIGNED16 usProperty, VOID *pvValue, UNSIGNED16 usLen);
UNSIGNED32 ENTRYPOINT AdsGetLockCycle(ADSHANDLE hConnect, UNSIGNED32 *pulMilliseconds);
UNSIGNED32 ENTRYPOINT AdsGetLockRetryCount(ADSHANDLE hConnect, UNSIGNED16 *pusCount);
UNSIGNED32 ENTRYPOINT AdsReleaseSavepoint(ADSHANDLE hConnect, UNSIGNED8 *pucSavepoint);
UNSIGNED32 ENTRYPOINT AdsSetIndexOrder(ADSHANDLE hTable, UNSIGNED8 *pucName);
UNSIGNED32 ENTRYPOINT AdsSetIndexOrderByHandle(ADSHANDLE hTable, ADSHANDLE hIndex);
UNSIGNED32 ENTRYPOINT AdsSetLockCycle(ADSHANDLE hConnect, UNSIGNED32 ulMilliseconds);
UNSIGNED32 ENTRYPOINT AdsSetLockRetryCount(ADSHANDLE hConnect, UNSIGNED16 usCount);

#ifdef __cplusplus
}
#endif

#endif
