//! The columns of the tables of `system`, as the help of ADS 12 has them (pages "system.tables" and so on), and which tables have no rows
//! without a data dictionary.

pub(super) const IOTA: &str = "iota,Logical";
pub(super) const TABLES: &str = "Name,Character,200;Table_Relative_Path,Character,260;Table_Type,ShortInt;Table_Auto_Create,Logical;\
    Table_Primary_Key,Character,128;Table_Default_Index,Character,128;Table_Encryption,Logical;Table_Permission_Level,ShortInt;\
    Table_Memo_Block_Size,ShortInt;Table_Validation_Expr,Memo;Table_Validation_Msg,Memo;Comment,Memo;User_Defined_Prop,Binary;\
    Triggers_Disabled,Logical;Table_Caching,ShortInt;Table_Trans_Free,Logical;Table_WEB_Delta,Logical;Table_Concurrency_Enabled,Logical";
pub(super) const COLUMNS: &str = "Name,Character,200;Parent,Character,200;Field_Num,Integer;Field_Type,ShortInt;Field_Length,Integer;\
    Field_Decimal,ShortInt;Field_Min_Value,Memo;Field_Max_Value,Memo;Field_Can_Be_Null,Logical;Field_Default_Value,Memo;\
    Field_Validation_Msg,Memo;Comment,Memo;User_Defined_Prop,Binary;Field_Options,Integer";
pub(super) const INDEXES: &str = "Name,Character,200;Parent,Character,200;Index_File_Name,Character,200;Index_Expression,Character,510;\
    Index_Condition,Character,510;Index_Options,Integer;Index_Key_Length,Integer;Index_FTS_Min_Length,Integer;\
    Index_FTS_Delimiters,Memo;Index_FTS_Noise,Memo;Index_FTS_Drop_Chars,Memo;Index_FTS_Conditional_Chars,Memo;Comment,Memo;\
    Index_Collation,Character,40";
pub(super) const INDEX_FILES: &str =
    "Name,Character,200;Parent,Character,200;Index_File_Path,Character,260;Index_File_PageSize,Integer";
pub(super) const RELATIONS: &str = "Name,Character,200;RI_Primary_Table,Character,200;RI_Primary_Index,Character,200;RI_Foreign_Table,Character,200;\
         RI_Foreign_Index,Character,200;RI_UpdateRule,ShortInt;RI_DeleteRule,ShortInt;RI_No_Pkey_Error,Memo;RI_Cascade_Error,Memo";
pub(super) const VIEWS: &str = "Name,Character,200;View_Stmt_Len,ShortInt;View_Stmt,Memo;Comment,Memo";
pub(super) const OBJECTS: &str = "SystemView,Character,200;ParentView,Character,200;OrderFields,Character,200";
pub(super) const SYSTEM_PROCEDURES: &str = "Name,Character,200;Proc_Input,Memo;Proc_Output,Memo;Comment,Memo";
pub(super) const FULL_TEXT: &str =
    "FTS_Delimiters,Memo;FTS_Noise_Words,Memo;FTS_Drop_Chars,Memo;FTS_Conditional_Chars,Memo";

const PERMISSIONS: &str = "Name,Character,200;Object_Type,Integer;Parent,Character,200;Grantee,Character,200;Select,Integer;Update,Integer;\
    Insert,Integer;Delete,Integer;Execute,Integer;Access,Integer;Inherit,Integer;Create,Integer;Alter,Integer;Drop,Integer";
const FUNCTIONS: &str = "Name,Character,200;Package,Character,200;Return Type,Character,20;Input Parameters,Memo;Implementation,Memo;\
    Comment,Memo;User_Defined_Prop,Binary";
const ARTICLES: &str = "Name,Character,200;Parent,Character,200;Ident_Columns,Memo;Filter,Memo;Include_Columns,Memo;Exclude_Columns,Memo;\
    Update_Merge,Logical;Insert_Merge,Logical";

/// Tables that tell of a data dictionary, and have no rows without one.
pub(super) const OF_DICTIONARY: &[(&str, &str)] = &[
    ("articles", ARTICLES),
    (
        "dictionary",
        "Version_Major,ShortInt;Version_Minor,ShortInt;Default_Table_Path,Character,260;Temp_Table_Path,Character,260;\
         Log_In_Required,Logical;Verify_Access_Rights,Logical;Encrypt_Table_Password,Character,20;Encrypt_New_Table,Logical;\
         Enable_Internet,Logical;Internet_Security_Level,ShortInt;Max_Failed_Attempts,ShortInt;Logins_Disabled,Logical;\
         Logins_Disabled_msg,Memo;Comment,Memo;User_Defined_Prop,Binary;FTS_Delimiters,Memo;FTS_Noise_Words,Memo;FTS_DropChars,Memo;\
         FTS_Conditional_Chars,Memo;Dictionary_Encrypted,Logical;Encrypt_Indexes,Logical;Encrypt_Communication,Logical;\
         Data_Encryption_Type,Integer;Query_Via_Root,Integer",
    ),
    ("effectivepermissions", PERMISSIONS),
    ("functions", FUNCTIONS),
    (
        "links",
        "Name,Character,200;Link_Path,Character,260;Link_Options,Integer;Link_UserName,Character,200",
    ),
    (
        "packages",
        "Name,Character,200;Options,Integer;Comment,Memo;User_Defined_Prop,Binary",
    ),
    ("permissions", PERMISSIONS),
    ("publicationarticles", ARTICLES),
    (
        "publications",
        "Name,Character,200;Comment,Memo;Options,Integer;User_Defined_Prop,Binary",
    ),
    (
        "storedprocedures",
        "Name,Character,200;Proc_Input,Memo;Proc_Output,Memo;Proc_DLL_Name,Character,260;Proc_DLL_Function_Name,Character,200;\
         Comment,Memo;Proc_Invoke_Option,Integer;SQL_Script,Memo",
    ),
    (
        "subscriptions",
        "Name,Character,200;Publication,Character,200;Target,Character,260;Target_UserName,Character,200;\
         Replication_Queue,Character,260;Forward,Logical;Enabled,Logical;Comment,Memo;Options,Integer;User_Defined_Prop,Binary;\
         Paused,Logical;TCP/IP,Logical;UDP/IP,Logical;IPX,Logical",
    ),
    (
        "triggers",
        "Name,Character,200;Trig_TableName,Character,200;Trig_Event_Type,Integer;Trig_Trigger_Type,Integer;\
         Trig_Container_Type,Integer;Trig_Container,Memo;Trig_Function_Name,Character,260;Trig_Priority,Integer;Trig_Options,Integer;\
         Comment,Memo",
    ),
    ("usergroupmembers", "User_Name,Character,50;Group_Name,Character,100"),
    ("usergroups", "Name,Character,100;Comment,Memo;User_Defined_Prop,Binary"),
    (
        "users",
        "Name,Character,50;Enable_Internet,Logical;Comment,Memo;User_Defined_Prop,Binary",
    ),
];
