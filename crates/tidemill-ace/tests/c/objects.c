/*
 * What connections, tables, orders, relations and statements say of themselves, and where orders and settings lead. Argument: an empty
 * folder.
 */

#include <unistd.h>

#include "check.h"

static ADSHANDLE connection, table, by_name, by_amount;
static char folder[400];

static ADSHANDLE open_table(ADSHANDLE on, const char *name)
{
    ADSHANDLE opened = 0;
    OK(AdsOpenTable(on, TEXT(name), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED, &opened));
    return opened;
}

static UNSIGNED32 record(ADSHANDLE of)
{
    UNSIGNED32 number = 77;
    OK(AdsGetRecordNum(of, ADS_IGNOREFILTERS, &number));
    return number;
}

static int ends(void)
{
    UNSIGNED16 is_bof = 77, is_eof = 77;
    OK(AdsAtBOF(table, &is_bof));
    OK(AdsAtEOF(table, &is_eof));
    return is_bof * 10 + is_eof;
}

static void connections(void)
{
    char text[500];
    UNSIGNED8 buffer[450], time[20];
    UNSIGNED16 length = sizeof buffer, time_length = sizeof time, number = 77, tables = 77;
    SIGNED32 passed = -1;
    ADSHANDLE found = 0, other = 0;

    OK(AdsFindConnection(TEXT(folder), &found));
    IS(found, connection);
    OK(AdsFindConnection25(TEXT(folder), &found));
    IS(found, connection);
    IS(AdsFindConnection(TEXT("/"), &found), AE_NO_CONNECTION);
    OK(AdsGetConnectionPath(connection, buffer, &length));
    SAME(buffer, folder);
    OK(AdsGetConnectionType(connection, &number));
    IS(number, ADS_LOCAL_SERVER);
    OK(AdsGetNumActiveLinks(connection, &number));
    IS(number, 0);
    length = sizeof buffer;
    OK(AdsGetServerTime(connection, buffer, &length, &passed, time, &time_length));
    IS(length, 10);
    IS(passed >= 0 && passed < 86400000, 1);
    IS(time_length, 11);

    OK(AdsGetNumOpenTables(&tables));
    OK(AdsConnect26(TEXT(folder), ADS_LOCAL_SERVER | ADS_REMOTE_SERVER, &other));
    open_table(other, "orders");
    OK(AdsGetNumOpenTables(&number));
    IS(number, tables + 1);
    OK(AdsDisconnect(other));
    IS(AdsConnect26(TEXT(folder), ADS_REMOTE_SERVER, &other), AE_NO_CONNECTION);
    sprintf(text, "Data Source='%s'; ServerType=\"ADS_LOCAL_SERVER\";", folder);
    OK(AdsConnect101(TEXT(text), NULL, &other));
    open_table(other, "orders");
    OK(AdsDisconnect(other));
    OK(AdsGetNumOpenTables(&number));
    IS(number, tables);
    IS(AdsConnect101(TEXT("ServerType=ADS_LOCAL_SERVER"), NULL, &other), AE_INVALID_PATH);
    OK(AdsFailedTransactionRecovery(NULL));
}

static void settings(void)
{
    char elsewhere[420];
    UNSIGNED8 buffer[450];
    UNSIGNED16 length = sizeof buffer, number = 77;
    UNSIGNED32 code = 77;
    ADSHANDLE opened = 0;

    OK(AdsSetDecimals(4));
    OK(AdsGetDecimals(&number));
    IS(number, 4);
    OK(AdsGetDefault(buffer, &length));
    SAME(buffer, "");
    sprintf(elsewhere, "%s/elsewhere", folder);
    OK(AdsSetDefault(TEXT(elsewhere)));
    length = sizeof buffer;
    OK(AdsGetDefault(buffer, &length));
    SAME(buffer, elsewhere);
    IS(AdsOpenTable(connection, TEXT("orders"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &opened),
       AE_FILE_NOT_FOUND);
    AdsGetLastError(&code, NULL, NULL);
    IS(code, AE_FILE_NOT_FOUND);
    OK(AdsClearLastError());
    AdsGetLastError(&code, NULL, NULL);
    IS(code, AE_SUCCESS);
    OK(AdsClearDefault());
    OK(AdsCloseTable(open_table(connection, "orders")));
    OK(AdsSetSearchPath(TEXT(elsewhere)));
    length = sizeof buffer;
    OK(AdsGetSearchPath(buffer, &length));
    SAME(buffer, elsewhere);
    OK(AdsSetSearchPath(NULL));
    length = sizeof buffer;
    OK(AdsGetSearchPath(buffer, &length));
    SAME(buffer, "");
    /* Whether a place is there is found when a table is looked for in it. */
    OK(AdsSetDefault(TEXT("Q:\\data\\orders")));
    length = sizeof buffer;
    OK(AdsGetDefault(buffer, &length));
    SAME(buffer, "Q:\\data\\orders");
    IS(AdsOpenTable(connection, TEXT("orders"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &opened),
       AE_INVALID_PATH);
    OK(AdsSetDefault(NULL));
    OK(AdsSetSearchPath(TEXT("\\\\server\\share; Q:\\data")));
    length = sizeof buffer;
    OK(AdsGetSearchPath(buffer, &length));
    SAME(buffer, "\\\\server\\share;Q:\\data");
    OK(AdsSetSearchPath(NULL));
    OK(AdsCacheOpenTables(3));
    OK(AdsCacheOpenTables(0));
    OK(AdsCacheRecords(table, 10));
    IS(AdsCacheRecords(connection, 10), AE_INVALID_TABLE_HANDLE);
    OK(AdsThreadExit());
}

/* What AdsShowError writes is the title and the last error. */
static void shown_error(void)
{
    char path[420], said[300] = "";
    int kept = dup(2);
    FILE *file;

    sprintf(path, "%s/said", folder);
    IS(AdsGotoTop(0), AE_INVALID_TABLE_HANDLE);
    fflush(stderr);
    IS(freopen(path, "w", stderr) != NULL, 1);
    AdsShowError(TEXT("In the test"));
    fflush(stderr);
    dup2(kept, 2);
    file = fopen(path, "r");
    IS(fread(said, 1, sizeof said - 1, file) > 0, 1);
    fclose(file);
    IS(strstr(said, "In the test") != NULL && strstr(said, "5023") != NULL, 1);
}

static void tables(void)
{
    UNSIGNED8 buffer[40], today[40];
    UNSIGNED16 length = sizeof buffer, today_length = sizeof today, time_length = sizeof buffer;
    SIGNED32 passed;
    ADSHANDLE found = 0, other = 0;

    OK(AdsGetTableConnection(table, &found));
    IS(found, connection);
    OK(AdsGetTableHandle25(connection, TEXT("orders"), &found));
    IS(found, table);
    IS(AdsGetTableHandle25(0, TEXT("names"), &found), AE_NOT_FOUND);
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &other));
    IS(AdsGetTableHandle25(other, TEXT("orders.dbf"), &found), AE_NOT_FOUND);
    OK(AdsDisconnect(other));
    OK(AdsGetServerTime(connection, today, &today_length, &passed, buffer, &time_length));
    OK(AdsGetLastTableUpdate(table, buffer, &length));
    SAME(buffer, (char *) today);
}

static void orders(void)
{
    UNSIGNED8 buffer[450];
    char path[450];
    UNSIGNED16 length = sizeof buffer, answer = 77;
    ADSHANDLE found = 0, custom = 0;
    UNSIGNED32 keys = 77;

    OK(AdsGetIndexName(by_amount, buffer, &length));
    SAME(buffer, "AMOUNT");
    length = sizeof buffer;
    OK(AdsGetIndexFilename(by_amount, ADS_BASENAMEANDEXT, buffer, &length));
    SAME(buffer, "orders.cdx");
    length = sizeof buffer;
    OK(AdsGetIndexFilename(by_amount, ADS_FULLPATHNAME, buffer, &length));
    sprintf(path, "%s/orders.cdx", folder);
    SAME(buffer, path);
    OK(AdsGetIndexHandleByExpr(table, TEXT("upper(NAME)"), ADS_ASCENDING, &found));
    IS(found, by_name);
    OK(AdsGetIndexHandleByExpr(table, TEXT("AMOUNT"), ADS_DESCENDING, &found));
    IS(found, by_amount);
    IS(AdsGetIndexHandleByExpr(table, TEXT("AMOUNT"), ADS_ASCENDING, &found), AE_NOT_FOUND);
    OK(AdsGetIndexOrderByHandle(by_name, &answer));
    OK(AdsGetIndexHandleByOrder(table, answer, &found));
    IS(found, by_name);
    OK(AdsGetKeyLength(by_name, &answer));
    IS(answer, 8);
    OK(AdsGetKeyLength(by_amount, &answer));
    IS(answer, 8);
    OK(AdsIsIndexCompound(by_name, &answer));
    IS(answer, 1);
    OK(AdsIsIndexUnique(by_name, &answer));
    IS(answer, 0);
    OK(AdsIsIndexUnique(by_amount, &answer));
    IS(answer, 1);
    OK(AdsIsIndexCustom(by_name, &answer));
    IS(answer, 0);

    /* An order that the program fills. */
    OK(AdsCreateIndex61(table, NULL, TEXT("MINE"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND | ADS_CUSTOM, 512, &custom));
    OK(AdsIsIndexCustom(custom, &answer));
    IS(answer, 1);
    OK(AdsGotoRecord(table, 3));
    OK(AdsAddCustomKey(custom));
    OK(AdsGotoRecord(table, 1));
    OK(AdsAddCustomKey(custom));
    OK(AdsGetKeyCount(custom, ADS_IGNOREFILTERS, &keys));
    IS(keys, 2);
    OK(AdsDeleteCustomKey(custom));
    OK(AdsGotoTop(custom));
    IS(record(table), 3);
    OK(AdsSkip(custom, 1));
    IS(ends(), 1);
}

static void movement(void)
{
    double place = 77;
    UNSIGNED16 is_shown = 77;

    OK(AdsGotoBOF(by_name));
    IS(ends(), 10);
    OK(AdsGotoEOF(by_name));
    IS(ends(), 1);
    OK(AdsGetRelKeyPos(by_name, &place));
    IS(place == 1.0, 1);
    OK(AdsSetRelKeyPos(by_name, 0.0));
    IS(record(table), 3);
    OK(AdsGetRelKeyPos(by_name, &place));
    IS(place >= 0.0 && place < 0.25, 1);
    OK(AdsSetRelKeyPos(by_name, 1.0));
    IS(record(table), 4);
    OK(AdsGetRelKeyPos(by_name, &place));
    IS(place > 0.75 && place <= 1.0, 1);
    OK(AdsSetRelKeyPos(by_name, 0.5));
    IS(record(table), 2);
    IS(AdsSetRelKeyPos(by_name, 1.5), AE_INVALID_VALUE);

    OK(AdsSetIndexDirection(by_name, 1));
    OK(AdsGotoTop(by_name));
    IS(record(table), 4);
    OK(AdsSetIndexDirection(by_name, 0));
    OK(AdsGotoTop(by_name));
    IS(record(table), 3);

    /* A record that is shown in the table may be out of an order's scope. */
    OK(AdsSetScope(by_name, ADS_TOP, TEXT("C"), 1, ADS_STRINGKEY));
    OK(AdsIsRecordVisible(table, &is_shown));
    IS(is_shown, 1);
    OK(AdsIsRecordVisible(by_name, &is_shown));
    IS(is_shown, 0);
    OK(AdsGotoRecord(table, 4));
    OK(AdsIsRecordVisible(by_name, &is_shown));
    IS(is_shown, 1);
    IS(record(table), 4);
    OK(AdsClearScope(by_name, ADS_TOP));
    OK(AdsGotoEOF(table));
    IS(AdsIsRecordVisible(table, &is_shown), AE_NO_CURRENT_RECORD);
}

static void filters(void)
{
    UNSIGNED8 buffer[40];
    UNSIGNED16 length = sizeof buffer;
    UNSIGNED32 count = 77;
    ADSHANDLE other = open_table(connection, "orders");

    IS(AdsGetAOF(table, buffer, &length), AE_NO_FILTER);
    OK(AdsSetAOF(table, TEXT("AMOUNT > 20"), ADS_RESOLVE_IMMEDIATE));
    OK(AdsGetAOF(table, buffer, &length));
    SAME(buffer, "AMOUNT > 20");
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &count));
    IS(count, 2);
    OK(AdsGotoRecord(other, 1));
    OK(AdsSetDouble(other, TEXT("AMOUNT"), 70));
    OK(AdsCloseTable(other));
    OK(AdsRefreshAOF(table));
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &count));
    IS(count, 3);
    OK(AdsClearAOF(table));
}

/* A filter needs no order, of whatever type the table is, and says that none helped. */
static void filters_without_orders(void)
{
    static const UNSIGNED16 types[] = {ADS_NTX, ADS_CDX, ADS_VFP};
    unsigned at;

    for (at = 0; at < sizeof types / sizeof *types; at++) {
        ADSHANDLE made = 0;
        UNSIGNED16 level = 77;
        UNSIGNED32 count = 77;
        int number;

        OK(AdsCreateTable(connection, TEXT("plain"), NULL, types[at], ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                          TEXT("N,Numeric,4,0"), &made));
        for (number = 0; number < 5; number++) {
            OK(AdsAppendRecord(made));
            OK(AdsSetLongLong(made, TEXT("N"), number));
        }
        OK(AdsSetAOF(made, TEXT("N > 2"), ADS_RESOLVE_DYNAMIC));
        OK(AdsGetRecordCount(made, ADS_RESPECTFILTERS, &count));
        IS(count, 2);
        OK(AdsGotoTop(made));
        IS(record(made), 4);
        OK(AdsGetAOFOptLevel(made, &level, NULL, NULL));
        IS(level, ADS_OPTIMIZED_NONE);
        OK(AdsCloseTable(made));
    }
}

static void relations(void)
{
    ADSHANDLE parent, child = open_table(connection, "orders"), order = 0;
    UNSIGNED32 keys = 77;

    OK(AdsCreateTable(connection, TEXT("names"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("WHO,Character,8"), &parent));
    OK(AdsAppendRecord(parent));
    OK(AdsSetField(parent, TEXT("WHO"), TEXT("DORA"), 4));
    OK(AdsAppendRecord(parent));
    OK(AdsSetField(parent, TEXT("WHO"), TEXT("ADAM"), 4));
    OK(AdsGetIndexHandle(child, TEXT("NAME"), &order));
    OK(AdsSetScopedRelation(parent, order, TEXT("WHO")));
    OK(AdsGotoTop(parent));
    IS(record(child), 4);
    OK(AdsGetKeyCount(order, ADS_RESPECTSCOPES, &keys));
    IS(keys, 1);
    OK(AdsSkip(parent, 1));
    IS(record(child), 3);
    OK(AdsClearRelation(parent));
    OK(AdsGotoTop(parent));
    IS(record(child), 3);
    OK(AdsCloseTable(parent));
    OK(AdsCloseTable(child));
}

static void transactions(void)
{
    UNSIGNED32 depth = 77;

    OK(AdsGetTransactionCount(connection, &depth));
    IS(depth, 0);
    OK(AdsBeginTransaction(connection));
    OK(AdsGetTransactionCount(connection, &depth));
    IS(depth, 1);
    OK(AdsCommitTransaction(connection));
    OK(AdsGetTransactionCount(connection, &depth));
    IS(depth, 0);
    OK(AdsWriteAllRecords());
}

static void statements(void)
{
    ADSHANDLE statement = 0, prepared = 0, cursor = 0;
    double count = 77;

    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableCharType(statement, ADS_OEM));
    OK(AdsStmtSetTableCharType(statement, ADS_ANSI));
    IS(AdsStmtSetTableCharType(statement, 99), AE_INVALID_OPTION);
    OK(AdsStmtSetTableLockType(statement, ADS_COMPATIBLE_LOCKING));
    IS(AdsStmtSetTableLockType(statement, 99), AE_INVALID_OPTION);
    OK(AdsStmtSetTableRights(statement, ADS_CHECKRIGHTS));
    IS(AdsStmtSetTableRights(statement, 99), AE_INVALID_OPTION);
    OK(AdsStmtReadAllColumns(statement, 1));
    OK(AdsStmtClearTablePasswords(statement));
    OK(AdsStmtDisableEncryption(statement));
    OK(AdsStmtSetTableType(statement, ADS_CDX));
    OK(AdsVerifySQLW(statement, utf16("SELECT * FROM orders")));
    IS(AdsVerifySQLW(statement, utf16("SELECT FROM WHERE")), 7200);
    OK(AdsExecuteSQLDirectW(statement, utf16("SELECT COUNT(*) FROM orders"), &cursor));
    OK(AdsGetDouble(cursor, ADSFIELD(1), &count));
    IS(count, 4);
    OK(AdsPrepareSQLW(statement, utf16("SELECT COUNT(*) FROM orders WHERE NAME = :who")));
    OK(AdsSetFieldW(statement, TEXT("who"), utf16("Dora"), 4));
    OK(AdsExecuteSQL(statement, &cursor));
    OK(AdsGetDouble(cursor, ADSFIELD(1), &count));
    IS(count, 1);
    OK(AdsCloseSQLStatement(statement));

    OK(AdsCachePrepareSQL(connection, TEXT("SELECT COUNT(*) FROM orders WHERE AMOUNT > ?"), &prepared));
    OK(AdsSetShort(prepared, ADSFIELD(1), 25));
    OK(AdsExecuteSQL(prepared, &cursor));
    OK(AdsGetDouble(cursor, ADSFIELD(1), &count));
    IS(count, 3);
    OK(AdsCloseSQLStatement(prepared));
    OK(AdsCachePrepareSQLW(connection, utf16("SELECT COUNT(*) FROM orders"), &prepared));
    OK(AdsExecuteSQL(prepared, &cursor));
    OK(AdsGetDouble(cursor, ADSFIELD(1), &count));
    IS(count, 4);
    OK(AdsCloseSQLStatement(prepared));
}

/* A closed cursor keeps others from having its table alone, unless none is kept. */
static void kept_cursors(void)
{
    ADSHANDLE statement = 0, cursor = 0, alone = 0, other = 0;
    UNSIGNED32 code;
    int kept;

    OK(AdsCloseTable(table));
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &other));
    for (kept = 1; kept >= 0; kept--) {
        OK(AdsCacheOpenCursors((UNSIGNED16) (kept * 5)));
        OK(AdsCloseCachedTables(connection));
        OK(AdsCreateSQLStatement(connection, &statement));
        OK(AdsStmtSetTableType(statement, ADS_CDX));
        OK(AdsExecuteSQLDirect(statement, TEXT("SELECT * FROM orders"), &cursor));
        OK(AdsCloseTable(cursor));
        code = AdsOpenTable(other, TEXT("orders"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                            ADS_EXCLUSIVE, &alone);
        IS(code == AE_SUCCESS, !kept);
        if (code == AE_SUCCESS)
            OK(AdsCloseTable(alone));
        OK(AdsCloseSQLStatement(statement));
    }
}

int main(int arguments, char **argument)
{
    static const char *const names[] = {"Bert", "bert", "Adam", "Dora"};
    ADSHANDLE other = 0;
    UNSIGNED16 number = 77;
    int at;

    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsSetDateFormat(TEXT("CCYY-MM-DD")));
    OK(AdsCreateTable(connection, TEXT("orders"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("NAME,Character,8;AMOUNT,Numeric,8,2"), &table));
    for (at = 0; at < 4; at++) {
        OK(AdsAppendRecord(table));
        OK(AdsSetField(table, TEXT("NAME"), TEXT(names[at]), 4));
        OK(AdsSetDouble(table, TEXT("AMOUNT"), 10 * (at + 1)));
    }
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("UPPER(NAME)"), NULL, NULL, ADS_COMPOUND, 512, &by_name));
    OK(AdsCreateIndex61(table, NULL, TEXT("AMOUNT"), TEXT("AMOUNT"), NULL, NULL, ADS_COMPOUND | ADS_UNIQUE | ADS_DESCENDING, 512,
                        &by_amount));
    OK(AdsCloseTable(table));
    table = open_table(connection, "orders");
    OK(AdsGetIndexHandle(table, TEXT("NAME"), &by_name));
    OK(AdsGetIndexHandle(table, TEXT("AMOUNT"), &by_amount));
    connections();
    settings();
    shown_error();
    tables();
    movement();
    filters();
    filters_without_orders();
    relations();
    transactions();
    statements();
    OK(AdsCloseTable(table));
    OK(AdsOpenTable(connection, TEXT("orders"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_EXCLUSIVE,
                    &table));
    OK(AdsGetIndexHandle(table, TEXT("NAME"), &by_name));
    OK(AdsGetIndexHandle(table, TEXT("AMOUNT"), &by_amount));
    orders();
    kept_cursors();

    /* What is open stays open. */
    OK(AdsDisableLocalConnections());
    OK(AdsGetNumActiveLinks(connection, &number));
    IS(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &other), AE_NO_CONNECTION);
    OK(AdsDisconnect(connection));
    IS(AdsOpenTable(0, TEXT("orders"), NULL, ADS_CDX, ADS_ANSI, 0, 0, ADS_SHARED, &other), AE_NO_CONNECTION);
    OK(AdsApplicationExit());
    return failures != 0;
}
