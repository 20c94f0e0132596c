/*
 * What a data dictionary keeps as SQL, made and asked by the functions of the dictionary, and used by statements and by functions for
 * records. Argument: an empty folder.
 */

#include "check.h"

static char folder[400];
static ADSHANDLE dictionary;

static char *in_folder(const char *name)
{
    static char path[500];
    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* The value in the first column and row of what a statement answers. */
static const char *answer(const char *sql)
{
    static char value[300];
    ADSHANDLE statement, cursor = 0;
    UNSIGNED8 column[ADS_MAX_FIELD_NAME + 1];
    UNSIGNED16 length = sizeof column;

    value[0] = 0;
    OK(AdsCreateSQLStatement(dictionary, &statement));
    OK(AdsStmtSetTableType(statement, ADS_ADT));
    OK(AdsExecuteSQLDirect(statement, TEXT(sql), &cursor));
    if (cursor) {
        OK(AdsGetFieldName(cursor, 1, column, &length));
        strcpy(value, trimmed(cursor, (char *) column));
    }
    OK(AdsCloseSQLStatement(statement));
    return value;
}

/* The error of a statement that is refused. */
static UNSIGNED32 refused(const char *sql)
{
    ADSHANDLE statement, cursor = 0;
    UNSIGNED32 code;

    OK(AdsCreateSQLStatement(dictionary, &statement));
    OK(AdsStmtSetTableType(statement, ADS_ADT));
    code = AdsExecuteSQLDirect(statement, TEXT(sql), &cursor);
    AdsCloseSQLStatement(statement);
    return code;
}

static void run(const char *sql)
{
    IS(refused(sql), AE_SUCCESS);
}

static void make_tables(void)
{
    OK(AdsDDCreate(TEXT(in_folder("shop.add")), 0, TEXT("A shop"), &dictionary));
    run("CREATE TABLE goods ( id Integer, name Char(20), price Integer ) AS FREE TABLE");
    run("CREATE TABLE journal ( what Char(60) ) AS FREE TABLE");
    OK(AdsDDAddTable(dictionary, NULL, TEXT("goods.adt"), ADS_ADT, ADS_ANSI, NULL, NULL));
    OK(AdsDDAddTable(dictionary, NULL, TEXT("journal.adt"), ADS_ADT, ADS_ANSI, NULL, NULL));
    run("INSERT INTO goods VALUES ( 1, 'apple', 3 ), ( 2, 'pear', 5 ), ( 3, 'melon', 9 )");
}

static void views(void)
{
    UNSIGNED16 wide[100], length, number = 77;
    UNSIGNED8 text[300];
    ADSHANDLE table, search;

    OK(AdsDDAddView(dictionary, TEXT("dear"), TEXT("What is dear"), TEXT("SELECT id, name FROM goods WHERE price > 4")));
    IS(AdsDDAddView(dictionary, TEXT("Dear"), NULL, TEXT("SELECT id FROM goods")), AE_DD_REQUEST_NOT_COMPLETED);
    IS(AdsDDAddView(dictionary, TEXT("none"), NULL, TEXT("DELETE FROM goods")), 7200);
    OK(AdsDDAddView100(dictionary, TEXT("cheap"), NULL, utf16("SELECT name FROM goods WHERE price <= 4")));
    SAME(answer("SELECT COUNT(*) FROM dear"), "2");
    SAME(answer("SELECT name FROM cheap"), "apple");
    SAME(answer("SELECT comment FROM system.views WHERE name = 'dear'"), "What is dear");

    length = sizeof text;
    OK(AdsDDGetViewProperty(dictionary, TEXT("DEAR"), ADS_DD_VIEW_STMT, text, &length));
    SAME(text, "SELECT id, name FROM goods WHERE price > 4");
    IS(length, 43);
    length = sizeof number;
    OK(AdsDDGetViewProperty(dictionary, TEXT("dear"), ADS_DD_VIEW_STMT_LEN, &number, &length));
    IS(number, 42);
    length = sizeof wide;
    OK(AdsDDGetViewProperty(dictionary, TEXT("dear"), ADS_DD_VIEW_STMT_W, wide, &length));
    IS(wide[0], 'S');
    IS(length, 86);
    length = sizeof text;
    IS(AdsDDGetViewProperty(dictionary, TEXT("cheap"), ADS_DD_COMMENT, text, &length), AE_PROPERTY_NOT_SET);
    IS(AdsDDGetViewProperty(dictionary, TEXT("cheap"), ADS_DD_TRIG_PRIORITY, text, &length), AE_INVALID_PROPERTY_ID);
    IS(AdsDDGetViewProperty(dictionary, TEXT("nothing"), ADS_DD_COMMENT, text, &length), AE_INVALID_OBJECT_NAME);
    OK(AdsDDSetViewProperty(dictionary, TEXT("dear"), ADS_DD_VIEW_STMT, "SELECT id, name FROM goods WHERE id > 2", 40));
    SAME(answer("SELECT COUNT(*) FROM dear"), "1");
    OK(AdsDDSetViewProperty(dictionary, TEXT("dear"), ADS_DD_VIEW_STMT_W, utf16("SELECT id, name FROM goods WHERE id > 1"), 80));
    SAME(answer("SELECT COUNT(*) FROM dear"), "2");

    length = sizeof text;
    OK(AdsDDFindFirstObject(dictionary, ADS_DD_VIEW_OBJECT, NULL, text, &length, &search));
    SAME(text, "dear");
    OK(AdsDDFindClose(dictionary, search));

    /* A view of one table is a cursor over the table. */
    OK(AdsOpenTable(dictionary, TEXT("dear"), NULL, ADS_ADT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    SAME(trimmed(table, "name"), "pear");
    OK(AdsSetString(table, TEXT("name"), TEXT("peach"), 5));
    OK(AdsWriteRecord(table));
    OK(AdsCloseTable(table));
    SAME(answer("SELECT name FROM goods WHERE id = 2"), "peach");
    OK(AdsDDRemoveView(dictionary, TEXT("dear")));
    OK(AdsDDRemoveView(dictionary, TEXT("cheap")));
    IS(AdsDDRemoveView(dictionary, TEXT("cheap")), AE_INVALID_OBJECT_NAME);
}

static void triggers(void)
{
    UNSIGNED16 length;
    UNSIGNED8 text[300];
    UNSIGNED32 number = 77;
    ADSHANDLE table, search;

    OK(AdsDDCreateTrigger(dictionary, TEXT("sold"), TEXT("goods"), ADS_TRIGTYPE_AFTER, ADS_TRIGEVENT_DELETE, ADS_TRIG_SCRIPT,
                          TEXT("INSERT INTO journal VALUES ( 'sold ' + __old.name )"), NULL, 2, TEXT("What is sold"), ADS_TRIGOPTIONS_DEFAULT));
    OK(AdsDDCreateTrigger100(dictionary, TEXT("fair"), TEXT("goods"), ADS_TRIGTYPE_BEFORE, ADS_TRIGEVENT_UPDATE, ADS_TRIG_SCRIPT,
                             utf16("IF __new.price > 9 THEN INSERT INTO __error VALUES ( 900, 'Unfair' ); END"), NULL, 1, NULL,
                             ADS_TRIGOPTIONS_WANT_VALUES));
    IS(AdsDDCreateTrigger(dictionary, TEXT("late"), TEXT("goods"), ADS_TRIGTYPE_INSTEADOF, ADS_TRIGEVENT_UPDATE, ADS_TRIG_SCRIPT,
                          TEXT("RAISE"), NULL, 1, NULL, 0), AE_TRIG_CREATION_FAILED);
    IS(AdsDDCreateTrigger(dictionary, TEXT("late"), TEXT("goods"), 3, ADS_TRIGEVENT_UPDATE, ADS_TRIG_SCRIPT, TEXT("RAISE"), NULL, 1, NULL, 0),
       AE_INVALID_OPTION);
    IS(AdsDDCreateTrigger(dictionary, TEXT("late"), NULL, ADS_TRIGTYPE_AFTER, ADS_TRIGEVENT_CONNECT, ADS_TRIG_SCRIPT, TEXT("RAISE"), NULL, 1,
                          NULL, 0), AE_FUNCTION_NOT_AVAILABLE);

    OK(AdsOpenTable(dictionary, TEXT("goods"), NULL, ADS_ADT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    OK(AdsSetLong(table, TEXT("price"), 10));
    IS(AdsWriteRecord(table), AE_TRIGGER_FAILED);
    OK(AdsSetLong(table, TEXT("price"), 8));
    OK(AdsWriteRecord(table));
    OK(AdsDeleteRecord(table));
    OK(AdsGotoBottom(table));
    SAME(answer("SELECT what FROM journal"), "sold apple");
    OK(AdsCloseTable(table));
    IS(refused("UPDATE goods SET price = 20"), 7200);
    run("DELETE FROM goods WHERE id = 3");
    SAME(answer("SELECT COUNT(*) FROM journal"), "2");

    length = sizeof text;
    OK(AdsDDGetTriggerProperty(dictionary, TEXT("goods::SOLD"), ADS_DD_TRIG_TABLENAME, text, &length));
    SAME(text, "goods");
    length = sizeof number;
    OK(AdsDDGetTriggerProperty(dictionary, TEXT("goods::sold"), ADS_DD_TRIG_PRIORITY, &number, &length));
    IS(number, 2);
    number = 5;
    OK(AdsDDSetTriggerProperty(dictionary, TEXT("goods::sold"), ADS_DD_TRIG_PRIORITY, (UNSIGNED8 *) &number, sizeof number));
    IS(AdsDDSetTriggerProperty(dictionary, TEXT("goods::sold"), ADS_DD_TRIG_PRIORITY, (UNSIGNED8 *) &number, 2), AE_INVALID_PROPERTY_LENGTH);
    SAME(answer("SELECT Trig_Priority FROM system.triggers WHERE Name = 'sold'"), "5");
    length = sizeof text;
    OK(AdsDDFindFirstObject(dictionary, ADS_DD_QUALIFIED_TRIGGER_OBJ, NULL, text, &length, &search));
    SAME(text, "goods::sold");
    OK(AdsDDFindClose(dictionary, search));
    OK(AdsDDRemoveTrigger(dictionary, TEXT("goods::sold")));
    OK(AdsDDRemoveTrigger(dictionary, TEXT("fair")));
    IS(AdsDDRemoveTrigger(dictionary, TEXT("goods::fair")), AE_INVALID_OBJECT_NAME);
    run("UPDATE goods SET price = 20");
}

/* A view that is rows of its own is changed by its triggers, by statements and through a handle. */
static void view_triggers(void)
{
    ADSHANDLE table;
    UNSIGNED16 empty;

    run("INSERT INTO goods VALUES ( 10, 'fig', 4 ), ( 11, 'nut', 6 )");
    run("CREATE VIEW labels AS SELECT id, TRIM( name ) + '!' AS label FROM goods WHERE id >= 10");
    run("CREATE VIEW live AS SELECT id FROM goods");
    OK(AdsDDCreateTrigger(dictionary, TEXT("put"), TEXT("labels"), ADS_TRIGTYPE_INSTEADOF, ADS_TRIGEVENT_INSERT, ADS_TRIG_SCRIPT,
                          TEXT("INSERT INTO goods ( id, name ) VALUES ( __new.id, IFNULL( __new.label, 'none' ) )"), NULL, 1, NULL,
                          ADS_TRIGOPTIONS_DEFAULT));
    OK(AdsDDCreateTrigger(dictionary, TEXT("set"), TEXT("Labels"), ADS_TRIGTYPE_INSTEADOF, ADS_TRIGEVENT_UPDATE, ADS_TRIG_SCRIPT,
                          TEXT("UPDATE goods SET name = __new.label WHERE id = __old.id"), NULL, 1, NULL, ADS_TRIGOPTIONS_DEFAULT));
    OK(AdsDDCreateTrigger(dictionary, TEXT("cut"), TEXT("labels"), ADS_TRIGTYPE_INSTEADOF, ADS_TRIGEVENT_DELETE, ADS_TRIG_SCRIPT,
                          TEXT("DELETE FROM goods WHERE id = __old.id"), NULL, 1, NULL, ADS_TRIGOPTIONS_DEFAULT));
    IS(AdsDDCreateTrigger(dictionary, TEXT("x"), TEXT("labels"), ADS_TRIGTYPE_AFTER, ADS_TRIGEVENT_DELETE, ADS_TRIG_SCRIPT,
                          TEXT("DELETE FROM goods"), NULL, 1, NULL, 0), AE_TRIG_CREATION_FAILED);
    IS(AdsDDCreateTrigger(dictionary, TEXT("x"), TEXT("live"), ADS_TRIGTYPE_INSTEADOF, ADS_TRIGEVENT_DELETE, ADS_TRIG_SCRIPT,
                          TEXT("DELETE FROM goods"), NULL, 1, NULL, 0), 7133);
    IS(AdsDDCreateTrigger(dictionary, TEXT("x"), TEXT("goods"), ADS_TRIGTYPE_CONFLICTON, ADS_TRIGEVENT_INSERT, ADS_TRIG_SCRIPT,
                          TEXT("DELETE FROM goods"), NULL, 1, NULL, 0), AE_TRIG_CREATION_FAILED);
    run("UPDATE labels SET label = 'plum' WHERE id = 10");
    SAME(answer("SELECT name FROM goods WHERE id = 10"), "plum");

    OK(AdsOpenTable(dictionary, TEXT("labels"), NULL, ADS_ADT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    /* The first free record of the table was the last one to be deleted. */
    SAME(trimmed(table, "label"), "nut!");
    OK(AdsGotoRecord(table, 2));
    SAME(trimmed(table, "label"), "plum!");
    OK(AdsSetString(table, TEXT("label"), TEXT("date"), 4));
    OK(AdsWriteRecord(table));
    SAME(answer("SELECT name FROM goods WHERE id = 10"), "date");
    SAME(trimmed(table, "label"), "date");
    OK(AdsAppendRecord(table));
    OK(AdsIsEmpty(table, TEXT("label"), &empty));
    IS(empty, 1);
    OK(AdsSetLong(table, TEXT("id"), 12));
    OK(AdsWriteRecord(table));
    SAME(answer("SELECT name FROM goods WHERE id = 12"), "none");
    OK(AdsGotoRecord(table, 2));
    OK(AdsDeleteRecord(table));
    OK(AdsWriteRecord(table));
    SAME(answer("SELECT COUNT(*) FROM goods WHERE id = 10"), "0");
    OK(AdsDDRemoveTrigger(dictionary, TEXT("labels::set")));
    OK(AdsCloseTable(table));

    OK(AdsOpenTable(dictionary, TEXT("labels"), NULL, ADS_ADT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    OK(AdsSetString(table, TEXT("label"), TEXT("kiwi"), 4));
    IS(AdsWriteRecord(table), 7135);
    OK(AdsCancelUpdate(table));
    OK(AdsCloseTable(table));
    SAME(answer("SELECT name FROM goods WHERE id = 11"), "nut");
    OK(AdsDDRemoveView(dictionary, TEXT("labels")));
    OK(AdsDDRemoveView(dictionary, TEXT("live")));
    run("DELETE FROM goods WHERE id >= 10");
}

static void procedures(void)
{
    UNSIGNED16 length;
    UNSIGNED8 text[300];
    UNSIGNED32 number = 77;

    OK(AdsDDAddProcedure(dictionary, TEXT("add"), TEXT("INSERT INTO __output VALUES ( _a + _b )"), NULL, ADS_SCRIPT_PROC,
                         TEXT("a,Integer;b,Integer"), TEXT("total,Integer"), TEXT("Adds")));
    IS(AdsDDAddProcedure(dictionary, TEXT("ADD"), TEXT("RAISE"), NULL, ADS_SCRIPT_PROC, NULL, NULL, NULL), AE_DD_REQUEST_NOT_COMPLETED);
    IS(AdsDDAddProcedure(dictionary, TEXT("bad"), TEXT("RAISE"), NULL, ADS_SCRIPT_PROC, TEXT("a,Nothing"), NULL, NULL), AE_INVALID_FIELDDEF);
    IS(AdsDDAddProcedure(dictionary, TEXT("bad"), TEXT("RAISE"), NULL, 7, NULL, NULL, NULL), AE_INVALID_OPTION);
    OK(AdsDDAddProcedure100(dictionary, TEXT("note"), utf16("INSERT INTO journal VALUES ( 'noted' )"), NULL, ADS_SCRIPT_PROC, NULL, NULL, NULL));
    OK(AdsDDAddProcedure(dictionary, TEXT("native"), TEXT("shop.aep"), TEXT("Native"), ADS_STORED_PROC, NULL, NULL, NULL));
    SAME(answer("EXECUTE PROCEDURE add( 3, 4 )"), "7");
    SAME(answer("SELECT total FROM ( EXECUTE PROCEDURE add( 1, 1 ) ) a"), "2");
    run("DELETE FROM journal");
    run("EXECUTE PROCEDURE note()");
    SAME(answer("SELECT what FROM journal"), "noted");
    IS(refused("EXECUTE PROCEDURE native()"), 7200);

    length = sizeof text;
    OK(AdsDDGetProcedureProperty(dictionary, TEXT("add"), ADS_DD_PROC_INPUT, text, &length));
    SAME(text, "a,Integer;b,Integer");
    length = sizeof number;
    OK(AdsDDGetProcedureProperty(dictionary, TEXT("native"), ADS_DD_PROC_INVOKE_OPTION, &number, &length));
    IS(number, ADS_STORED_PROC);
    length = sizeof text;
    IS(AdsDDGetProcedureProperty(dictionary, TEXT("native"), ADS_DD_PROC_SCRIPT, text, &length), AE_PROPERTY_NOT_SET);
    OK(AdsDDSetProcedureProperty(dictionary, TEXT("add"), ADS_DD_PROC_SCRIPT, "INSERT INTO __output VALUES ( _a - _b )", 40));
    SAME(answer("EXECUTE PROCEDURE add( 3, 4 )"), "-1");
    IS(AdsDDSetProcedureProperty(dictionary, TEXT("add"), ADS_DD_PROC_INVOKE_OPTION, &number, sizeof number), AE_INVALID_PROPERTY_ID);
    OK(AdsDDRemoveProcedure(dictionary, TEXT("add")));
    IS(AdsDDRemoveProcedure(dictionary, TEXT("add")), AE_INVALID_OBJECT_NAME);
    OK(AdsDDRemoveProcedure(dictionary, TEXT("note")));
    OK(AdsDDRemoveProcedure(dictionary, TEXT("native")));

    OK(AdsDDCreateFunction(dictionary, TEXT("twice"), TEXT("INTEGER"), 1, TEXT("n INTEGER"), TEXT("RETURN 2 * n"), TEXT("Doubles")));
    IS(AdsDDCreateFunction(dictionary, TEXT("Twice"), TEXT("INTEGER"), 0, NULL, TEXT("RETURN 2"), NULL), AE_DD_REQUEST_NOT_COMPLETED);
    SAME(answer("SELECT twice( 21 ) FROM system.iota"), "42");
    SAME(answer("SELECT Comment FROM system.functions"), "Doubles");
    OK(AdsDDDropFunction(dictionary, TEXT("twice")));
    OK(AdsDDCreateFunction100(dictionary, TEXT("twice"), TEXT("INTEGER"), 1, TEXT("n INTEGER"), TEXT(utf16("RETURN 3 * n")), NULL,
                              ADS_ENCODE_UTF16, 0));
    SAME(answer("SELECT twice( 21 ) FROM system.iota"), "63");
    IS(AdsDDCreateFunction100(dictionary, TEXT("f"), TEXT("INTEGER"), 0, NULL, TEXT("RETURN 1"), NULL, 1, 0), AE_INVALID_OPTION);
    IS(AdsDDCreateFunction100(dictionary, TEXT("f"), TEXT("INTEGER"), 0, NULL, TEXT("RETURN 1"), NULL, 0, 1), AE_INVALID_OPTION);
    OK(AdsDDDropFunction(dictionary, TEXT("twice")));
    OK(AdsDDCreateFunction100(dictionary, TEXT("twice"), TEXT("INTEGER"), 1, TEXT("n INTEGER"), TEXT("RETURN 2 * n"), NULL, 0, 0));
    SAME(answer("SELECT twice( 21 ) FROM system.iota"), "42");
    OK(AdsDDDropFunction(dictionary, TEXT("twice")));
    IS(AdsDDDropFunction(dictionary, TEXT("twice")), AE_INVALID_OBJECT_NAME);

    OK(AdsDDCreatePackage(dictionary, TEXT("sums"), TEXT("Sums and the like")));
    IS(AdsDDCreatePackage(dictionary, TEXT("SUMS"), NULL), AE_DD_REQUEST_NOT_COMPLETED);
    IS(AdsDDCreatePackage(dictionary, NULL, NULL), AE_INVALID_POINTER);
    OK(AdsDDCreateFunction(dictionary, TEXT("sums.twice"), TEXT("INTEGER"), 1, TEXT("n INTEGER"), TEXT("RETURN 2 * n"), NULL));
    SAME(answer("SELECT sums.twice( 21 ) FROM system.iota"), "42");
    SAME(answer("SELECT Comment FROM system.packages"), "Sums and the like");
    OK(AdsDDDropPackage(dictionary, TEXT("sums")));
    IS(AdsDDDropPackage(dictionary, TEXT("sums")), AE_INVALID_OBJECT_NAME);
    IS(AdsDDDropFunction(dictionary, TEXT("sums.twice")), AE_INVALID_OBJECT_NAME);
}

static ADSHANDLE login(const char *user, const char *password, UNSIGNED32 expected)
{
    ADSHANDLE connection = 0;
    IS(AdsConnect60(TEXT(in_folder("shop.add")), ADS_LOCAL_SERVER, TEXT(user), TEXT(password), ADS_DEFAULT, &connection), expected);
    return connection;
}

static void users(void)
{
    UNSIGNED16 length, on = 1, off = 0;
    UNSIGNED8 text[300], column = 77;
    UNSIGNED32 rights = 0;
    ADSHANDLE ann, table, own = dictionary;

    OK(AdsDDCreateUserGroup(dictionary, TEXT("clerks"), TEXT("Who sells")));
    OK(AdsDDCreateUser(dictionary, TEXT("clerks"), TEXT("ann"), TEXT("secret"), TEXT("A clerk")));
    OK(AdsDDCreateUser(dictionary, NULL, TEXT("bob"), NULL, NULL));
    IS(AdsDDCreateUser(dictionary, NULL, TEXT("BOB"), NULL, NULL), AE_INVALID_OBJECT_NAME);
    OK(AdsDDAddUserToGroup(dictionary, TEXT("clerks"), TEXT("bob")));
    IS(AdsDDAddUserToGroup(dictionary, TEXT("clerks"), TEXT("bob")), AE_ALREADY_MEMBER_OF_GROUP);
    OK(AdsDDRemoveUserFromGroup(dictionary, TEXT("clerks"), TEXT("bob")));
    IS(AdsDDRemoveUserFromGroup(dictionary, TEXT("clerks"), TEXT("bob")), AE_NOT_MEMBER_OF_GROUP);
    length = sizeof text;
    OK(AdsDDGetUserProperty(dictionary, TEXT("ann"), ADS_DD_USER_GROUP_MEMBERSHIP, text, &length));
    SAME(text, "clerks");
    length = sizeof text;
    IS(AdsDDGetUserProperty(dictionary, TEXT("ann"), ADS_DD_USER_PASSWORD, text, &length), AE_INVALID_PROPERTY_ID);
    OK(AdsDDSetUserProperty(dictionary, TEXT("ann"), ADS_DD_USER_PASSWORD, "other", 6));
    OK(AdsDDSetUserProperty(dictionary, TEXT("ann"), ADS_DD_COMMENT, "The clerk", 10));
    length = sizeof text;
    OK(AdsDDGetUserGroupProperty(dictionary, TEXT("clerks"), ADS_DD_COMMENT, text, &length));
    SAME(text, "Who sells");
    OK(AdsDDSetUserGroupProperty(dictionary, TEXT("clerks"), ADS_DD_COMMENT, "Clerks", 7));
    SAME(answer("SELECT comment FROM system.usergroups WHERE name = 'clerks'"), "Clerks");

    OK(AdsDDGrantPermission(dictionary, ADS_DD_TABLE_OBJECT, TEXT("goods"), NULL, TEXT("clerks"), ADS_PERMISSION_READ | ADS_PERMISSION_INSERT));
    OK(AdsDDGrantPermission(dictionary, ADS_DD_TABLE_OBJECT, TEXT("journal"), NULL, TEXT("clerks"), ADS_PERMISSION_ALL));
    OK(AdsDDRevokePermission(dictionary, ADS_DD_TABLE_OBJECT, TEXT("journal"), NULL, TEXT("clerks"), ADS_PERMISSION_ALL));
    IS(AdsDDGrantPermission(dictionary, ADS_DD_TABLE_OBJECT, TEXT("goods"), NULL, TEXT("clerks"), ADS_PERMISSION_ALTER), AE_INVALID_OPTION);
    IS(AdsDDGrantPermission(dictionary, ADS_DD_COLUMN_OBJECT, TEXT("name"), TEXT("goods"), TEXT("clerks"), ADS_PERMISSION_READ),
       AE_INVALID_OBJECT_TYPE);
    OK(AdsDDGetPermissions(dictionary, TEXT("ann"), ADS_DD_TABLE_OBJECT, TEXT("goods"), NULL, 1, &rights));
    IS(rights, ADS_PERMISSION_READ | ADS_PERMISSION_INSERT | ADS_PERMISSION_INHERIT);
    OK(AdsDDGetPermissions(dictionary, TEXT("ann"), ADS_DD_TABLE_OBJECT, TEXT("goods"), NULL, 0, &rights));
    IS(rights, ADS_PERMISSION_INHERIT);
    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_VERIFY_ACCESS_RIGHTS, (UNSIGNED8 *) &on, sizeof on));
    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_LOG_IN_REQUIRED, (UNSIGNED8 *) &on, sizeof on));

    login("ann", "secret", 7078);
    login("", "", 7078);
    ann = login("ann", "other", AE_SUCCESS);
    IS(AdsOpenTable(ann, TEXT("journal"), NULL, ADS_ADT, ADS_ANSI, 0, 0, ADS_SHARED, &table), 7079);
    OK(AdsOpenTable(ann, TEXT("goods"), NULL, ADS_ADT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    IS(AdsSetLong(table, TEXT("price"), 1), 7080);
    OK(AdsGetColumnPermissions(table, 1, &column));
    IS(column, ADS_PERMISSION_READ | ADS_PERMISSION_INSERT);
    IS(AdsGetColumnPermissions(table, 0, &column), AE_INVALID_FIELDNUMBER);
    IS(AdsGetColumnPermissions(table, 99, &column), AE_INVALID_FIELDNUMBER);
    OK(AdsDDVerifyUserRights(ann, TEXT("goods"), &rights));
    IS(rights, ADS_PERMISSION_READ | ADS_PERMISSION_INSERT | ADS_PERMISSION_INHERIT);
    OK(AdsDDVerifyUserRights(ann, TEXT("journal"), &rights));
    IS(rights & (ADS_PERMISSION_READ | ADS_PERMISSION_UPDATE | ADS_PERMISSION_INSERT | ADS_PERMISSION_DELETE), 0);
    OK(AdsDDVerifyUserRights(dictionary, TEXT("journal"), &rights));
    IS(rights & (ADS_PERMISSION_READ | ADS_PERMISSION_DELETE), ADS_PERMISSION_READ | ADS_PERMISSION_DELETE);
    IS(AdsDDVerifyUserRights(ann, TEXT("none"), &rights), AE_INVALID_OBJECT_NAME);
    IS(AdsDeleteRecord(table), 7080);
    OK(AdsAppendRecord(table));
    OK(AdsSetLong(table, TEXT("price"), 1));
    OK(AdsWriteRecord(table));
    OK(AdsCloseTable(table));
    IS(AdsDDRemoveTable(ann, TEXT("goods"), 0), AE_PERMISSION_DENIED);
    IS(AdsDeleteFile(ann, TEXT("journal.adt")), AE_PERMISSION_DENIED);
    IS(AdsDDSetDatabaseProperty(ann, ADS_DD_VERIFY_ACCESS_RIGHTS, (UNSIGNED8 *) &off, sizeof off), AE_PERMISSION_DENIED);
    dictionary = ann;
    IS(refused("SELECT * FROM journal"), 7200);
    SAME(answer("SELECT USER() FROM system.iota"), "ann");
    dictionary = own;
    OK(AdsDisconnect(ann));
    OK(AdsDDDeleteUser(dictionary, TEXT("ann")));
    IS(AdsDDDeleteUser(dictionary, TEXT("ann")), AE_INVALID_OBJECT_NAME);
    OK(AdsDDDeleteUserGroup(dictionary, TEXT("clerks")));
    login("ann", "other", 7078);
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    make_tables();
    views();
    triggers();
    view_triggers();
    procedures();
    users();
    OK(AdsDDClose(dictionary));
    OK(AdsApplicationExit());
    return failures != 0;
}
