/*
 * Goes through the calls for SQL, and checks what each answers. Argument: an empty folder.
 */

#include "check.h"

/* The server's number for what its SQL engine refuses. */
#define SQL_ERROR 7200

static ADSHANDLE connection, statement;

/* Runs a statement and returns its cursor. */
static ADSHANDLE run(const char *sql)
{
    ADSHANDLE cursor = 77;
    OK(AdsExecuteSQLDirect(statement, TEXT(sql), &cursor));
    return cursor;
}

static UNSIGNED32 changed(void)
{
    UNSIGNED32 count = 77;
    OK(AdsGetRecordCount(statement, ADS_IGNOREFILTERS, &count));
    return count;
}

static UNSIGNED32 rows(ADSHANDLE cursor)
{
    UNSIGNED32 count = 77;
    OK(AdsGetRecordCount(cursor, ADS_RESPECTFILTERS, &count));
    return count;
}

static UNSIGNED32 counted(ADSHANDLE cursor, UNSIGNED16 option)
{
    UNSIGNED32 count = 77;
    OK(AdsGetRecordCount(cursor, option, &count));
    return count;
}

/* A cursor is counted by the rows of its statement, a table by its records. */
static void counts(void)
{
    static const UNSIGNED16 options[] = {ADS_DEFAULT, ADS_RESPECTFILTERS, ADS_IGNOREFILTERS, ADS_RESPECTSCOPES};
    static const char *const texts[] = {"SELECT * FROM people WHERE id > 2", "SELECT {static} * FROM people WHERE id > 2",
                                        "SELECT id + 1 FROM people WHERE id > 2", "SELECT id FROM people WHERE id > 2 ORDER BY id"};
    ADSHANDLE cursor;
    unsigned at, option;

    for (at = 0; at < sizeof texts / sizeof *texts; at++) {
        cursor = run(texts[at]);
        for (option = 0; option < sizeof options / sizeof *options; option++)
            IS(counted(cursor, options[option]), 3);
        OK(AdsCloseTable(cursor));
    }
    cursor = run(texts[0]);
    OK(AdsSetFilter(cursor, TEXT("ID = 3")));
    IS(counted(cursor, ADS_RESPECTFILTERS), 1);
    IS(counted(cursor, ADS_IGNOREFILTERS), 3);
    OK(AdsClearFilter(cursor));
    OK(AdsSetAOF(cursor, TEXT("ID = 3"), ADS_RESOLVE_IMMEDIATE));
    IS(counted(cursor, ADS_RESPECTFILTERS), 1);
    IS(counted(cursor, ADS_IGNOREFILTERS), 3);
    OK(AdsCloseTable(cursor));
}

/* The usual test of a connection, and what tools ask the catalogue. */
static void catalogue(void)
{
    ADSHANDLE cursor = run("SELECT * FROM system.iota");
    UNSIGNED16 fields = 77, is_null = 77;
    SIGNED32 type = 77;

    OK(AdsGetNumFields(cursor, &fields));
    IS(fields, 1);
    OK(AdsIsNull(cursor, TEXT("iota"), &is_null));
    IS(is_null, 1);
    OK(AdsCloseTable(cursor));
    cursor = run("SELECT Field_Type FROM system.columns WHERE parent = 'people' AND name = 'ID'");
    OK(AdsGetLong(cursor, TEXT("Field_Type"), &type));
    IS(type, ADS_INTEGER);
    OK(AdsCloseTable(cursor));
    cursor = run("EXECUTE PROCEDURE sp_mgGetAllTables()");
    IS(rows(cursor), 0);
    OK(AdsCloseTable(cursor));
    cursor = run("SELECT TABLE_NAME FROM (EXECUTE PROCEDURE sp_GetTables( NULL, NULL, 'p%', NULL )) p");
    SAME(trimmed(cursor, "TABLE_NAME"), "people");
    OK(AdsCloseTable(cursor));
}

static const char *first_text(const char *sql)
{
    static char buffer[256];
    ADSHANDLE cursor = run(sql);
    strcpy(buffer, trimmed(cursor, (const char *) ADSFIELD(1)));
    OK(AdsCloseTable(cursor));
    return buffer;
}

static UNSIGNED16 kind(ADSHANDLE handle)
{
    UNSIGNED16 answer = 77;
    OK(AdsGetHandleType(handle, &answer));
    return answer;
}

static void making(void)
{
    IS(run("CREATE TABLE people ( id Integer, name Char(10), born Date, pay Money, note Memo, photo Blob )"), 0);
    IS(run("CREATE INDEX id ON people ( id )"), 0);
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO people ( id, name ) VALUES ( 1, 'Ada' ), ( 2, 'Bob' )"), NULL));
    IS(changed(), 2);
}

static void parameters(void)
{
    UNSIGNED16 count = 77, length = 100;
    UNSIGNED8 sql[100];
    ADSHANDLE cursor = 77, again = 0;
    int id;

    IS(AdsExecuteSQL(statement + 1, &cursor), AE_INVALID_SQLSTATEMENT_HANDLE);
    OK(AdsCreateSQLStatement(connection, &again));
    IS(AdsExecuteSQL(again, &cursor), AE_NOT_PREPARED);
    OK(AdsCloseSQLStatement(again));
    IS(AdsCloseSQLStatement(again), AE_INVALID_SQLSTATEMENT_HANDLE);

    OK(AdsPrepareSQL(statement, TEXT("INSERT INTO people ( id, name, born, pay, note, photo ) VALUES ( :id, :name, :born, :pay, :note, :photo )")));
    OK(AdsGetNumParams(statement, &count));
    IS(count, 6);
    IS(AdsExecuteSQL(statement, &cursor), AE_INVALID_SQL_PARAM_NUMBER);
    IS(AdsSetLong(statement, TEXT("nothing"), 1), AE_INVALID_SQL_PARAM_NAME);
    IS(AdsSetLong(statement, ADSFIELD(7), 1), AE_INVALID_SQL_PARAM_NUMBER);
    for (id = 3; id <= 5; id++) {
        OK(AdsSetLong(statement, TEXT("id"), id));
        OK(AdsSetString(statement, TEXT(":Name"), TEXT("Cleo"), 4));
        OK(AdsSetDate(statement, ADSFIELD(3), TEXT("02/29/2024"), 10));
        OK(AdsSetMoney(statement, TEXT("pay"), 123456 * id));
        OK(AdsSetString(statement, TEXT("note"), TEXT("a note"), 6));
        OK(AdsSetBinary(statement, TEXT("photo"), ADS_BINARY, 6, 0, TEXT("\x01\x00\x02"), 3));
        IS(AdsSetBinary(statement, TEXT("photo"), ADS_BINARY, 6, 5, TEXT("late"), 1), AE_INVALID_BINARY_OFFSET);
        OK(AdsSetBinary(statement, TEXT("photo"), ADS_BINARY, 6, 3, TEXT("end"), 3));
        OK(AdsExecuteSQL(statement, &cursor));
        IS(cursor, 0);
        IS(changed(), 1);
    }
    OK(AdsGetSQLStatement(statement, sql, &length) == AE_INSUFFICIENT_BUFFER ? AE_SUCCESS : 1);
    OK(AdsClearSQLParams(statement));
    IS(AdsExecuteSQL(statement, &cursor), AE_INVALID_SQL_PARAM_NUMBER);

    OK(AdsPrepareSQL(statement, TEXT("SELECT * FROM people WHERE id = ?")));
    for (id = 1; id <= 5; id++) {
        OK(AdsSetDouble(statement, ADSFIELD(1), id));
        OK(AdsExecuteSQL(statement, &cursor));
        IS(rows(cursor), 1);
        SAME(trimmed(cursor, "name"), id == 1 ? "Ada" : id == 2 ? "Bob" : "Cleo");
        OK(AdsCloseTable(cursor));
    }
    OK(AdsPrepareSQL(statement, TEXT("SELECT id FROM people WHERE name = :name AND id < 4")));
    {
        static WCHAR ada[] = {'A', 'd', 'a'};
        OK(AdsSetStringW(statement, TEXT("name"), ada, 3));
    }
    OK(AdsExecuteSQL(statement, &cursor));
    SAME(trimmed(cursor, "id"), "1");
    OK(AdsCloseTable(cursor));
    OK(AdsSetStringFromCodePage(statement, 850, TEXT("name"), TEXT("Cleo"), 4));
    OK(AdsExecuteSQL(statement, &cursor));
    SAME(trimmed(cursor, "id"), "3");
    OK(AdsCloseTable(cursor));
    SAME(first_text("SELECT born FROM people WHERE id = 4"), "02/29/2024");
    SAME(first_text("SELECT LENGTH(photo) FROM people WHERE id = 5"), "6");
    SAME(first_text("SELECT SUM(pay) FROM people"), "148.1472");
}

static void cursors(void)
{
    UNSIGNED16 count = 77, type = 77;
    UNSIGNED8 name[100], is_live = 77;
    UNSIGNED16 length = sizeof name;
    ADSHANDLE found = 0;
    ADSHANDLE live = run("SELECT name AS who, id FROM people WHERE id >= 2 ORDER BY id DESC");

    IS(kind(live), ADS_CURSOR);
    IS(kind(statement), ADS_STATEMENT);
    OK(AdsGetSQLStatementHandle(live, &found));
    IS(found, statement);
    OK(AdsSqlPeekStatement(live, &is_live));
    IS(is_live, 1);
    OK(AdsGetNumFields(live, &count));
    IS(count, 2);
    OK(AdsGetFieldName(live, 1, name, &length));
    SAME(name, "who");
    OK(AdsGetFieldNum(live, TEXT("ID"), &count));
    IS(count, 2);
    IS(AdsGetFieldNum(live, TEXT("born"), &count), AE_INVALID_FIELDNAME);
    SAME(trimmed(live, "id"), "5");
    OK(AdsSkip(live, 3));
    SAME(trimmed(live, "who"), "Bob");
    OK(AdsSetString(live, TEXT("who"), TEXT("Robert"), 6));
    OK(AdsWriteRecord(live));
    SAME(first_text("SELECT name FROM people WHERE id = 2"), "Robert");
    OK(AdsSetAOF(live, TEXT("ID < 4"), ADS_RESOLVE_IMMEDIATE));
    IS(rows(live), 2);
    OK(AdsClearAOF(live));
    IS(rows(live), 4);
    OK(AdsCloseTable(live));

    live = run("SELECT COUNT(*) AS how_many_people, MAX(name) AS last FROM people");
    OK(AdsSqlPeekStatement(live, &is_live));
    IS(is_live, 0);
    SAME(trimmed(live, "how_many_people"), "5");
    OK(AdsGetFieldType(live, TEXT("how_many_people"), &type));
    IS(type, ADS_INTEGER);
    IS(AdsSetLong(live, ADSFIELD(1), 6), AE_TABLE_READONLY);
    OK(AdsCloseTable(live));
    IS(AdsGetSQLStatementHandle(statement, &found), AE_INVALID_TABLE_HANDLE);

    OK(AdsStmtSetTableReadOnly(statement, ADS_CURSOR_READONLY));
    live = run("SELECT * FROM people");
    IS(AdsSetLong(live, TEXT("id"), 6), AE_TABLE_READONLY);
    OK(AdsStmtSetTableReadOnly(statement, ADS_CURSOR_READWRITE));
    OK(AdsCloseTable(live));
    IS(AdsStmtSetTableReadOnly(statement, 9), AE_INVALID_OPTION);
}

static void errors(void)
{
    UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 code = 0;
    ADSHANDLE cursor;

    IS(AdsExecuteSQLDirect(statement, TEXT("SELECT * FORM people"), &cursor), SQL_ERROR);
    OK(AdsGetLastError(&code, text, &length));
    IS(code, SQL_ERROR);
    IS(strncmp((char *) text, "Error 7200:  AQE Error:  State = 42000;   NativeError = 2115;", 60), 0);
    IS(strstr((char *) text, "Location of error in the SQL statement is: 10 (line: 1 column: 10)") != NULL, 1);
    IS(AdsExecuteSQLDirect(statement, TEXT("SELECT * FROM nobody"), &cursor), SQL_ERROR);
    length = sizeof text;
    OK(AdsGetLastError(&code, text, &length));
    IS(strstr((char *) text, "NativeError = 7041;") != NULL, 1);
    OK(AdsVerifySQL(statement, TEXT("SELECT * FROM nobody")));
    IS(AdsVerifySQL(statement, TEXT("SELECT * FORM nobody")), SQL_ERROR);
}

static void transactions(void)
{
    ADSHANDLE table = 0;

    OK(AdsOpenTable(connection, TEXT("people"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_SHARED, &table));
    OK(AdsBeginTransaction(connection));
    OK(AdsAppendRecord(table));
    OK(AdsSetLong(table, TEXT("id"), 60));
    OK(AdsWriteRecord(table));
    run("DELETE FROM people WHERE id = 1");
    run("INSERT INTO people ( id ) VALUES ( 61 )");
    SAME(first_text("SELECT COUNT(*) FROM people WHERE id >= 60"), "2");
    OK(AdsRollbackTransaction(connection));
    SAME(first_text("SELECT MAX(id) FROM people"), "5");
    SAME(first_text("SELECT MIN(id) FROM people"), "1");
    OK(AdsCloseTable(table));
    /* A table that is open alone is reached through its handle. */
    OK(AdsOpenTable(connection, TEXT("people"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_EXCLUSIVE, &table));
    OK(AdsAppendRecord(table));
    OK(AdsSetLong(table, TEXT("id"), 6));
    OK(AdsWriteRecord(table));
    SAME(first_text("SELECT MAX(id) FROM people"), "6");
    run("UPDATE people SET id = 7 WHERE id = 6");
    OK(AdsRefreshRecord(table));
    SAME(trimmed(table, "id"), "7");
    OK(AdsCloseTable(table));
}

int main(int argc, char **argv)
{
    UNSIGNED16 type;
    ADSHANDLE table;
    if (argc != 2)
        return 2;
    OK(AdsShowDeleted(0));
    OK(AdsConnect60(TEXT(argv[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateSQLStatement(connection, &statement));
    making();
    parameters();
    counts();
    catalogue();
    cursors();
    errors();
    transactions();
    OK(AdsCloseSQLStatement(statement));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsCloseTable(run("SELECT * FROM people WHERE id = 7")));
    IS(rows(run("SELECT * FROM people")) > 0, 1);
    OK(AdsDisconnect(connection));
    IS(AdsGetHandleType(statement, &type), AE_INVALID_HANDLE);
    /* Neither open cursors nor those that are kept hold a file behind the end of their connection. */
    OK(AdsConnect60(TEXT(argv[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsOpenTable(connection, TEXT("people"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_EXCLUSIVE, &table));
    OK(AdsDisconnect(connection));
    return failures != 0;
}
