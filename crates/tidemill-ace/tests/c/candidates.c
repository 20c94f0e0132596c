/*
 * Candidate indexes of Visual FoxPro tables: what is asked of them, what they refuse and by which number, what becomes of the
 * record that was refused, and two processes that want one key. Argument: an empty folder.
 */

#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { DUPLICATE = 7057, NOT_MADE = 7059, ROUNDS = 200 };

static ADSHANDLE connection;

static ADSHANDLE opened(const char *name, UNSIGNED16 mode)
{
    ADSHANDLE table = 0;
    OK(AdsOpenTable(connection, TEXT(name), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, mode, &table));
    return table;
}

static ADSHANDLE created(const char *name, UNSIGNED16 type, const char *fields)
{
    ADSHANDLE table = 0;
    OK(AdsCreateTable(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0, TEXT(fields),
                      &table));
    return table;
}

static UNSIGNED32 indexed(ADSHANDLE table, const char *tag, const char *condition, UNSIGNED32 options, ADSHANDLE *order)
{
    return AdsCreateIndex61(table, NULL, TEXT(tag), TEXT(tag), TEXT(condition), NULL, ADS_COMPOUND | options, 0, order);
}

static void put(ADSHANDLE table, const char *code)
{
    OK(AdsSetString(table, TEXT("CODE"), TEXT(code), LENGTH(code)));
}

static UNSIGNED32 appended(ADSHANDLE table, const char *code)
{
    OK(AdsAppendRecord(table));
    put(table, code);
    return AdsWriteRecord(table);
}

static UNSIGNED16 deleted(ADSHANDLE table)
{
    UNSIGNED16 answer = 77;
    OK(AdsIsRecordDeleted(table, &answer));
    return answer;
}

static UNSIGNED32 keys(ADSHANDLE order)
{
    UNSIGNED32 count = 0;
    OK(AdsGetKeyCount(order, ADS_IGNOREFILTERS, &count));
    return count;
}

/* How many records an AOF has, and its level. */
static void filtered(ADSHANDLE table, const char *condition, UNSIGNED32 records, UNSIGNED16 optimized)
{
    UNSIGNED16 level = 77;
    UNSIGNED32 count = 0;

    OK(AdsSetAOF(table, TEXT(condition), ADS_RESOLVE_IMMEDIATE));
    OK(AdsGetAOFOptLevel(table, &level, NULL, NULL));
    IS(level, optimized);
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &count));
    IS(count, records);
    OK(AdsClearAOF(table));
}

static void making(void)
{
    static const char *fields = "CODE,Character,6;NAME,Character,6,NULL;NUM,Integer";
    ADSHANDLE table = created("fox", ADS_CDX, "CODE,Character,6"), order = 0, other = 0;
    UNSIGNED16 answer = 77;
    UNSIGNED32 flags = 0;

    IS(indexed(table, "CODE", NULL, ADS_CANDIDATE, &order), AE_INVALID_OPTION);
    OK(AdsCloseTable(table));

    table = created("stock", ADS_VFP, fields);
    OK(appended(table, "a"));
    OK(appended(table, "b"));
    OK(appended(table, "a"));
    IS(indexed(table, "CODE", NULL, ADS_CANDIDATE, &order), NOT_MADE);
    IS(AdsGetIndexHandle(table, TEXT("CODE"), &order), AE_INVALID_INDEX_ORDER_NAME);
    put(table, "c");
    OK(AdsWriteRecord(table));
    OK(indexed(table, "CODE", NULL, ADS_CANDIDATE | ADS_UNIQUE, &order));
    OK(AdsIsIndexCandidate(order, &answer));
    IS(answer, 1);
    OK(AdsIsIndexUnique(order, &answer));
    IS(answer, 0);
    OK(AdsIsIndexCustom(order, &answer));
    IS(answer, 0);
    OK(AdsGetIndexFlags(order, &flags));
    IS(flags, ADS_COMPOUND | ADS_CANDIDATE);
    filtered(table, "CODE = 'a'", 1, ADS_OPTIMIZED_FULL);
    OK(indexed(table, "NUM", NULL, ADS_DEFAULT, &other));
    OK(AdsIsIndexCandidate(other, &answer));
    IS(answer, 0);
    OK(AdsIsIndexCandidate(order, &answer));
    OK(AdsCloseTable(table));
    IS(AdsIsIndexCandidate(table, &answer), AE_INVALID_INDEX_HANDLE);
}

static void refusing(void)
{
    ADSHANDLE table = opened("stock", ADS_SHARED), order = 0;
    UNSIGNED16 answer = 77;
    UNSIGNED32 count = 0;

    OK(AdsGetIndexHandle(table, TEXT("CODE"), &order));
    OK(AdsIsIndexCandidate(order, &answer));
    IS(answer, 1);

    /* What was refused waits, until it gets another key or is cancelled. */
    IS(appended(table, "b"), DUPLICATE);
    SAME(trimmed(table, "CODE"), "b");
    IS(AdsSkip(table, -1), DUPLICATE);
    put(table, "d");
    OK(AdsWriteRecord(table));
    IS(keys(order), 4);
    OK(AdsGotoRecord(table, 1));
    put(table, "d");
    IS(AdsWriteRecord(table), DUPLICATE);
    OK(AdsCancelUpdate(table));
    SAME(trimmed(table, "CODE"), "a");
    IS(deleted(table), 0);

    /* An appended record that is cancelled is blank and deleted, the current one, and has no key. */
    IS(appended(table, "b"), DUPLICATE);
    OK(AdsCancelUpdate(table));
    SAME(trimmed(table, "CODE"), "");
    IS(deleted(table), 1);
    OK(AdsAppendRecord(table));
    OK(AdsCancelUpdate(table));
    IS(deleted(table), 1);
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, 6);
    IS(keys(order), 4);
    /* Such records are in the table and not in the index, which answers no filter then. */
    filtered(table, "CODE = ' '", 2, ADS_OPTIMIZED_NONE);

    /* One that is left blank has the blank key; a second one may not. */
    OK(AdsAppendRecord(table));
    OK(AdsWriteRecord(table));
    IS(keys(order), 5);
    OK(AdsAppendRecord(table));
    IS(AdsGotoTop(table), DUPLICATE);
    OK(AdsCancelUpdate(table));
    OK(AdsGotoRecord(table, 6));
    IS(AdsRecallRecord(table), DUPLICATE);
    OK(AdsCloseTable(table));

    /* Closing gives up what was refused. */
    table = opened("stock", ADS_SHARED);
    IS(appended(table, "a"), DUPLICATE);
    IS(AdsCloseTable(table), DUPLICATE);
    table = opened("stock", ADS_EXCLUSIVE);
    OK(AdsGotoBottom(table));
    IS(deleted(table), 1);

    /* Two deleted records without keys are in the way of a reindex; packing takes them away. */
    IS(AdsReindex(table), DUPLICATE);
    OK(AdsGetIndexHandle(table, TEXT("CODE"), &order));
    IS(keys(order), 5);
    OK(AdsPackTable(table));
    OK(AdsReindex(table));
    OK(AdsGetIndexHandle(table, TEXT("CODE"), &order));
    OK(AdsIsIndexCandidate(order, &answer));
    IS(answer, 1);
    IS(keys(order), 5);
    OK(AdsCloseTable(table));
    OK(AdsRestructureTable(connection, TEXT("stock"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                           TEXT("MORE,Character,5"), NULL, TEXT("CODE,CODE,Character,9")));
    table = opened("stock", ADS_EXCLUSIVE);
    IS(appended(table, "b"), DUPLICATE);
    OK(AdsCancelUpdate(table));
    OK(AdsZapTable(table));
    OK(appended(table, "b"));
    IS(appended(table, "b"), DUPLICATE);
    OK(AdsCancelUpdate(table));
    OK(AdsCloseTable(table));
}

static void nulls_and_conditions(void)
{
    ADSHANDLE table = opened("stock", ADS_EXCLUSIVE), order = 0;

    OK(AdsZapTable(table));
    OK(AdsGetIndexHandle(table, TEXT("CODE"), &order));
    OK(AdsDeleteIndex(order));
    OK(indexed(table, "NAME", "!DELETED()", ADS_CANDIDATE, &order));
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("NAME"), TEXT("x"), 1));
    OK(AdsWriteRecord(table));
    OK(AdsSetNull(table, TEXT("NAME")));
    IS(AdsWriteRecord(table), AE_KEY_CANNOT_BE_NULL);
    OK(AdsCancelUpdate(table));
    OK(AdsDeleteRecord(table));
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("NAME"), TEXT("x"), 1));
    OK(AdsWriteRecord(table));
    OK(AdsGotoRecord(table, 1));
    IS(AdsRecallRecord(table), DUPLICATE);
    IS(deleted(table), 1);
    OK(AdsCloseTable(table));
}

static const char *key_columns(ADSHANDLE table)
{
    static UNSIGNED8 columns[200];
    UNSIGNED16 length = sizeof columns;

    OK(AdsGetKeyColumn(table, columns, &length));
    IS(length, strlen((const char *) columns));
    return (const char *) columns;
}

/* Which columns tell records apart, and whether a key can be NULL. */
static void described(void)
{
    ADSHANDLE table = created("badges", ADS_VFP, "ID,AutoInc;CODE,Character,6;NAME,Character,6,NULL;DAY,Date"), order = 0;
    ADSHANDLE other = 0, statement = 0, cursor = 0;
    UNSIGNED16 answer = 77;

    OK(indexed(table, "NAME", NULL, ADS_DEFAULT, &order));
    OK(AdsIsIndexNullable(order, &answer));
    IS(answer, 1);
    SAME(key_columns(table), "ID");
    OK(AdsCreateIndex61(table, NULL, TEXT("BOTH"), TEXT("UPPER(CODE)+DTOS(DAY)"), NULL, NULL, ADS_COMPOUND | ADS_CANDIDATE, 0,
                        &other));
    OK(AdsIsIndexNullable(other, &answer));
    IS(answer, 0);
    SAME(key_columns(table), "CODE;DAY");
    OK(AdsCloseTable(table));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_VFP));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT id, code c, day FROM badges"), &cursor));
    SAME(key_columns(cursor), "c;DAY");
    OK(AdsCloseTable(cursor));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT id, code FROM badges"), &cursor));
    SAME(key_columns(cursor), "ID");
    OK(AdsCloseTable(cursor));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT code FROM badges"), &cursor));
    SAME(key_columns(cursor), "");
    OK(AdsCloseTable(cursor));
    OK(AdsCloseSQLStatement(statement));
}

static void transactions(void)
{
    ADSHANDLE table = created("ledger", ADS_VFP, "CODE,Character,6"), order = 0;

    OK(indexed(table, "CODE", NULL, ADS_CANDIDATE, &order));
    OK(appended(table, "a"));
    OK(AdsCloseTable(table));
    table = opened("ledger", ADS_SHARED);
    OK(AdsBeginTransaction(connection));
    OK(appended(table, "b"));
    IS(appended(table, "a"), DUPLICATE);
    put(table, "c");
    OK(AdsWriteRecord(table));
    OK(AdsRollbackTransaction(connection));
    OK(appended(table, "b"));
    OK(AdsGetIndexHandle(table, TEXT("CODE"), &order));
    IS(keys(order), 2);
    OK(AdsCloseTable(table));
}

/* For as long as a connection does not want it, nothing is refused. */
static void enforcement(void)
{
    ADSHANDLE table = opened("ledger", ADS_SHARED), statement = 0, cursor = 0;

    OK(AdsDisableUniqueEnforcement(connection));
    OK(appended(table, "a"));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO ledger VALUES ( 'a' )"), &cursor));
    OK(AdsCloseTable(table));
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO ledger VALUES ( 'a' )"), &cursor));
    OK(AdsEnableUniqueEnforcement(connection));
    IS(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO ledger VALUES ( 'a' )"), &cursor), 7200);
    OK(AdsExecuteSQLDirect(statement, TEXT("DELETE FROM ledger WHERE code = 'a'"), &cursor));
    OK(AdsCloseSQLStatement(statement));
    table = opened("ledger", ADS_SHARED);
    IS(appended(table, "a"), DUPLICATE);
    OK(AdsCancelUpdate(table));
    OK(AdsCloseTable(table));
    IS(AdsDisableUniqueEnforcement(table), AE_INVALID_CONNECTION_HANDLE);
}

static void statements(void)
{
    static const struct {
        const char *text;
        const char *error;
    } run[] = {
        {"CREATE TABLE people ( id Integer PRIMARY KEY, name Char(8) )", NULL},
        {"CREATE INDEX by_name ON people ( name ) CANDIDATE NOTDELETED", NULL},
        {"INSERT INTO people VALUES ( 1, 'a' ), ( 2, 'b' )", NULL},
        {"INSERT INTO people VALUES ( 1, 'c' )", "NativeError = 7057"},
        {"INSERT INTO people VALUES ( 3, 'c' ), ( 4, 'b' )", "NativeError = 7057"},
        {"UPDATE people SET name = 'a' WHERE id = 2", "NativeError = 7057"},
        {"UPDATE people SET id = 5 WHERE id = 2", NULL},
        {"DELETE FROM people WHERE id = 1", NULL},
        {"INSERT INTO people VALUES ( 6, 'a' )", NULL},
        {"INSERT INTO people VALUES ( 1, 'c' )", "NativeError = 7057"},
        {"UPDATE people SET name = 'd'", "NativeError = 7057"},
        {"CREATE INDEX twice ON people ( name ) CANDIDATE", "NativeError = 7059"},
    };
    ADSHANDLE statement = 0, cursor = 0;
    UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    UNSIGNED16 length;
    UNSIGNED32 code, count = 0;
    unsigned i;

    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_VFP));
    for (i = 0; i < sizeof run / sizeof *run; i++) {
        code = AdsExecuteSQLDirect(statement, TEXT(run[i].text), &cursor);
        if ((code != AE_SUCCESS) != (run[i].error != NULL))
            fail(__LINE__, run[i].text, code, run[i].error ? 7200 : 0);
        if (run[i].error) {
            length = sizeof text;
            OK(AdsGetLastError(&code, text, &length));
            if (!strstr((const char *) text, run[i].error))
                same(__LINE__, run[i].text, (const char *) text, run[i].error);
        }
    }
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT {static} * FROM people"), &cursor));
    OK(AdsGetRecordCount(cursor, ADS_IGNOREFILTERS, &count));
    IS(count, 3);
    OK(AdsCloseTable(cursor));
    OK(AdsCloseSQLStatement(statement));
}

/* Appends every key that the other process has not, and tells how many those were. */
static int contend(const char *folder, int step)
{
    ADSHANDLE table;
    char code[16];
    int turn, won = 0;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    table = opened("contest", ADS_SHARED);
    for (turn = 0; turn < ROUNDS; turn++) {
        UNSIGNED32 answer;
        sprintf(code, "K%d", turn * step % ROUNDS);
        while ((answer = AdsAppendRecord(table)) != AE_SUCCESS)
            usleep(200);
        put(table, code);
        answer = AdsWriteRecord(table);
        if (answer == AE_SUCCESS)
            won++;
        else {
            IS(answer, DUPLICATE);
            OK(AdsCancelUpdate(table));
        }
    }
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
    return won;
}

/* Before this process has called the library: each of the two has one of its own. */
static void contest(const char *folder)
{
    int way[2], won, other = -1, status = 0;
    pid_t child;
    ADSHANDLE table, order = 0;

    child = fork();
    if (child == 0) {
        OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
        table = created("contest", ADS_VFP, "CODE,Character,6");
        OK(indexed(table, "CODE", NULL, ADS_CANDIDATE, &order));
        OK(AdsDisconnect(connection));
        _exit(failures != 0);
    }
    waitpid(child, &status, 0);
    IS(status, 0);
    IS(pipe(way), 0);
    child = fork();
    if (child == 0) {
        won = contend(folder, 7);
        if (write(way[1], &won, sizeof won) != sizeof won)
            failures++;
        _exit(failures != 0);
    }
    won = contend(folder, 1);
    waitpid(child, &status, 0);
    IS(status, 0);
    IS(read(way[0], &other, sizeof other), sizeof other);
    IS(won + other, ROUNDS);
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    table = opened("contest", ADS_SHARED);
    OK(AdsGetIndexHandle(table, TEXT("CODE"), &order));
    IS(keys(order), ROUNDS);
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    contest(argument[1]);
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    making();
    refusing();
    nulls_and_conditions();
    described();
    transactions();
    enforcement();
    statements();
    OK(AdsDisconnect(connection));
    printf("%d failures\n", failures);
    return failures != 0;
}
