/*
 * Functions of OpenADS: orders that the handle of a table stands for, and objects of a dictionary by OpenADS's names.
 * Argument: an empty folder.
 */

#include <time.h>

#include "check.h"

static ADSHANDLE made(ADSHANDLE connection, const char *name)
{
    ADSHANDLE table = 0;
    OK(AdsCreateTable(connection, TEXT(name), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("TOWN,Character,8;NUM,Numeric,4,0"), &table));
    return table;
}

static void add(ADSHANDLE table, const char *town, double number)
{
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("TOWN"), TEXT(town), LENGTH(town)));
    OK(AdsSetDouble(table, TEXT("NUM"), number));
    OK(AdsWriteRecord(table));
}

static UNSIGNED32 record(ADSHANDLE table)
{
    UNSIGNED32 number = 77;
    OK(AdsGetRecordNum(table, ADS_IGNOREFILTERS, &number));
    return number;
}

static UNSIGNED32 first(ADSHANDLE table)
{
    OK(AdsGotoTop(table));
    return record(table);
}

static void orders(ADSHANDLE connection)
{
    ADSHANDLE table = made(connection, "towns"), other = made(connection, "others"), by_town, by_number, elsewhere;
    UNSIGNED32 number = 77;
    UNSIGNED16 found = 77;

    add(table, "York", 1);
    add(table, "Leeds", 3);
    add(table, "Hull", 2);
    OK(AdsCreateIndex61(table, NULL, TEXT("TOWN"), TEXT("TOWN"), NULL, NULL, ADS_COMPOUND, 0, &by_town));
    OK(AdsCreateIndex61(table, NULL, TEXT("BIG"), TEXT("NUM"), TEXT("NUM > 1"), NULL, ADS_COMPOUND, 0, &by_number));
    OK(AdsCreateIndex61(other, NULL, TEXT("TOWN"), TEXT("TOWN"), NULL, NULL, ADS_COMPOUND, 0, &elsewhere));

    /* The order of the file, as ACE has it: until a program says otherwise. */
    IS(first(table), 1);
    OK(AdsGotoTop(by_town));
    IS(first(table), 1);

    OK(AdsSetIndexOrder(table, TEXT("town")));
    IS(first(table), 3);
    OK(AdsSkip(table, 1));
    IS(record(table), 2);
    OK(AdsGotoBottom(table));
    IS(record(table), 1);
    OK(AdsSetIndexOrderByHandle(table, by_number));
    IS(first(table), 3);
    OK(AdsGetKeyNum(table, ADS_RESPECTFILTERS, &number));
    IS(number, 1);
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &number));
    IS(number, 2);
    OK(AdsSeek(table, TEXT("3"), 1, ADS_STRINGKEY, ADS_HARDSEEK, &found));
    IS(found, 1);
    IS(record(table), 2);
    IS(first(table), 3);
    OK(AdsSkip(table, 1));
    IS(record(table), 2);
    OK(AdsSkip(table, 1));
    IS(record(table), 4);
    /* An order's handle is still that order. */
    OK(AdsGotoTop(by_town));
    IS(record(table), 3);

    IS(AdsSetIndexOrder(table, TEXT("none")), AE_INVALID_INDEX_ORDER_NAME);
    IS(AdsSetIndexOrderByHandle(table, elsewhere), AE_INVALID_INDEX_HANDLE);
    IS(AdsSetIndexOrderByHandle(table, table), AE_INVALID_INDEX_HANDLE);
    IS(AdsSetIndexOrder(0, TEXT("town")), AE_INVALID_TABLE_HANDLE);
    OK(AdsGotoBottom(table));
    IS(record(table), 2);

    OK(AdsSetIndexOrder(table, NULL));
    IS(first(table), 1);
    IS(AdsGetKeyNum(table, ADS_RESPECTFILTERS, &number), AE_INVALID_INDEX_HANDLE);
    OK(AdsSetIndexOrderByHandle(table, by_number));
    OK(AdsSetIndexOrderByHandle(table, 0));
    IS(first(table), 1);

    /* An order that is gone leads no longer. */
    OK(AdsSetIndexOrderByHandle(table, by_number));
    OK(AdsDeleteIndex(by_number));
    IS(first(table), 1);

    OK(AdsCopyTableContent(table, other));
    OK(AdsGotoBottom(other));
    IS(record(other), 3);
    OK(AdsCloseTable(table));
    OK(AdsCloseTable(other));
}

/* A lock that someone else holds is asked for again; a released savepoint is none, and what followed it stays. */
static void waiting(ADSHANDLE connection)
{
    ADSHANDLE one, other;
    UNSIGNED32 cycle = 77;
    UNSIGNED16 count = 77;
    struct timespec before, behind;
    long waited;

    OK(AdsGetLockRetryCount(0, &count));
    IS(count, 0);
    OK(AdsGetLockCycle(0, &cycle));
    IS(cycle, 100);
    OK(AdsOpenTable(connection, TEXT("towns"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &one));
    OK(AdsOpenTable(connection, TEXT("towns"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &other));
    OK(AdsLockRecord(one, 1));
    IS(AdsLockRecord(other, 1), AE_LOCK_FAILED);
    OK(AdsSetLockCycle(0, 20));
    OK(AdsSetLockRetryCount(0, 3));
    clock_gettime(CLOCK_MONOTONIC, &before);
    IS(AdsLockRecord(other, 1), AE_LOCK_FAILED);
    clock_gettime(CLOCK_MONOTONIC, &behind);
    waited = (behind.tv_sec - before.tv_sec) * 1000 + (behind.tv_nsec - before.tv_nsec) / 1000000;
    IS(waited >= 59, 1);
    OK(AdsSetLockRetryCount(0, 0));
    OK(AdsUnlockRecord(one, 1));

    OK(AdsBeginTransaction(connection));
    OK(AdsCreateSavepoint(connection, TEXT("before"), ADS_DEFAULT));
    OK(AdsGotoRecord(one, 1));
    OK(AdsLockRecord(one, 1));
    OK(AdsSetDouble(one, TEXT("NUM"), 9));
    OK(AdsWriteRecord(one));
    IS(AdsReleaseSavepoint(connection, TEXT("other")), AE_NOT_FOUND);
    OK(AdsReleaseSavepoint(connection, TEXT("before")));
    IS(AdsRollbackTransaction80(connection, TEXT("before"), ADS_DEFAULT), AE_NOT_FOUND);
    OK(AdsCommitTransaction(connection));
    SAME(trimmed(one, "NUM"), "9");
    OK(AdsCloseTable(one));
    OK(AdsCloseTable(other));
}

static const char *property(ADSHANDLE dictionary, const char *procedure, UNSIGNED16 number)
{
    static UNSIGNED8 text[64];
    UNSIGNED16 length = sizeof text;
    memset(text, 0, sizeof text);
    OK(AdsDDGetProcProperty(dictionary, TEXT(procedure), number, text, &length));
    IS(length, strlen((const char *) text));
    return (const char *) text;
}

static void objects(const char *folder)
{
    char path[512];
    UNSIGNED8 text[64];
    UNSIGNED16 length = sizeof text;
    ADSHANDLE dictionary = 0, table;

    snprintf(path, sizeof path, "%s/shop.add", folder);
    OK(AdsDDCreate(TEXT(path), 0, TEXT("a shop"), &dictionary));
    table = made(dictionary, "stock");
    OK(AdsCloseTable(table));
    OK(AdsDDAddTable(dictionary, TEXT("stock"), TEXT("stock.dbf"), ADS_CDX, ADS_ANSI, NULL, NULL));

    OK(AdsDDCreateView(dictionary, TEXT("few"), TEXT("to buy"), TEXT("SELECT * FROM stock WHERE NUM < 10")));
    OK(AdsDDGetViewProperty(dictionary, TEXT("few"), ADS_DD_VIEW_STMT, text, &length));
    SAME(text, "SELECT * FROM stock WHERE NUM < 10");
    OK(AdsDDDropView(dictionary, TEXT("few")));
    IS(AdsDDGetViewProperty(dictionary, TEXT("few"), ADS_DD_VIEW_STMT, text, &length), AE_INVALID_OBJECT_NAME);

    OK(AdsDDCreateProcedure(dictionary, TEXT("buy"), TEXT("buying.so"), TEXT("buy"), 0, TEXT("howmany,Integer"),
                            TEXT("done,Logical"), TEXT("buys")));
    SAME(property(dictionary, "buy", 601), "howmany,Integer");
    SAME(property(dictionary, "buy", 602), "done,Logical");
    SAME(property(dictionary, "buy", 603), "buying.so");
    SAME(property(dictionary, "buy", 604), "buy");
    SAME(property(dictionary, "buy", 605), "buys");
    SAME(property(dictionary, "buy", ADS_DD_PROC_DLL_NAME), "buying.so");
    OK(AdsDDSetProcProperty(dictionary, TEXT("buy"), 605, TEXT("buys more"), 10));
    SAME(property(dictionary, "buy", ADS_DD_COMMENT), "buys more");
    OK(AdsDDDropProcedure(dictionary, TEXT("buy")));
    length = sizeof text;
    IS(AdsDDGetProcProperty(dictionary, TEXT("buy"), 605, text, &length), AE_INVALID_OBJECT_NAME);

    OK(AdsDDCreateTrigger(dictionary, TEXT("told"), TEXT("stock"), ADS_TRIGTYPE_AFTER, ADS_TRIGEVENT_INSERT,
                          ADS_TRIG_SCRIPT, TEXT("UPDATE stock SET NUM = 1"), TEXT(""), 1, TEXT(""), 0));
    OK(AdsDDDropTrigger(dictionary, TEXT("told")));
    IS(AdsDDDropTrigger(dictionary, TEXT("told")), AE_INVALID_OBJECT_NAME);
    OK(AdsDisconnect(dictionary));
}

int main(int arguments, char **argument)
{
    ADSHANDLE connection = 0;

    if (arguments != 2)
        return 2;
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    orders(connection);
    waiting(connection);
    objects(argument[1]);
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
