/*
 * Management: figures of what this program has open, beside those that it knows of itself. Argument: an empty folder.
 */

#include <limits.h>
#include <unistd.h>

#include "check.h"

static ADSHANDLE first, second, management, table, other;
static char folder[PATH_MAX], path[PATH_MAX + 20], index_path[PATH_MAX + 20];

static ADS_MGMT_ACTIVITY_INFO activity(void)
{
    ADS_MGMT_ACTIVITY_INFO info;
    UNSIGNED16 size = sizeof info;

    memset(&info, 0x55, sizeof info);
    OK(AdsMgGetActivityInfo(management, &info, &size));
    IS(size, sizeof info);
    return info;
}

static ADSHANDLE open_table(ADSHANDLE connection, UNSIGNED16 mode)
{
    ADSHANDLE opened = 0;
    OK(AdsOpenTable(connection, TEXT("stock"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, mode,
                    &opened));
    return opened;
}

static void what_is_open(void)
{
    ADS_MGMT_TABLE_INFO tables[4];
    ADS_MGMT_INDEX_INFO indexes[4];
    ADS_MGMT_USER_INFO users[4];
    UNSIGNED8 host[300], named[600];
    UNSIGNED16 count = 4, size = sizeof tables[0], length = sizeof host;

    memset(tables, 0x55, sizeof tables);
    OK(AdsMgGetOpenTables(management, NULL, 0, tables, &count, &size));
    IS(count, 1);
    IS(size, sizeof tables[0]);
    SAME(tables[0].aucTableName, path);
    IS(tables[0].usLockType, ADS_MGMT_CDX_LOCKING);
    IS(tables[1].aucTableName[0], 0x55);

    OK(AdsGetServerName(first, host, &length));
    count = 4;
    OK(AdsMgGetOpenTables(management, host, 0, tables, &count, &size));
    IS(count, 1);
    count = 4;
    OK(AdsMgGetOpenTables(management, TEXT("nobody"), 0, tables, &count, &size));
    IS(count, 0);

    count = 4;
    size = sizeof indexes[0];
    OK(AdsMgGetOpenIndexes(management, TEXT("stock"), NULL, 0, indexes, &count, &size));
    IS(count, 1);
    SAME(indexes[0].aucIndexName, index_path);
    count = 4;
    OK(AdsMgGetOpenIndexes(management, TEXT("other"), NULL, 0, indexes, &count, &size));
    IS(count, 0);

    /* Both connections have the table, all three are users. */
    count = 4;
    size = sizeof users[0];
    OK(AdsMgGetUserNames(management, NULL, users, &count, &size));
    IS(count, 3);
    IS(size, sizeof users[0]);
    SAME(users[0].aucUserName, (const char *) host);
    IS(users[0].usConnNumber != users[1].usConnNumber, 1);
    IS(strstr((char *) users[0].aucApplicationID, "program") != NULL, 1);
    snprintf((char *) named, sizeof named, "%s\\%s", (char *) host, (char *) users[0].aucOSUserLoginName);
    count = 4;
    size = sizeof tables[0];
    OK(AdsMgGetOpenTables(management, named, 0, tables, &count, &size));
    IS(count, 1);
    count = 1;
    size = sizeof users[0];
    OK(AdsMgGetUserNames(management, TEXT(path), users, &count, &size));
    IS(count, 1);
    count = 4;
    OK(AdsMgGetUserNames(management, TEXT(index_path), users, &count, &size));
    IS(count, 2);

    /* An older program has shorter structures; each is filled as far as it goes. */
    memset(users, 0x55, sizeof users);
    count = 4;
    size = 10;
    OK(AdsMgGetUserNames(management, NULL, users, &count, &size));
    IS(count, 3);
    IS(size, sizeof users[0]);
    IS(memcmp((char *) users + 10, host, 9 < strlen((char *) host) ? 9 : strlen((char *) host)), 0);
    IS(((UNSIGNED8 *) users)[30], 0x55);
}

static void locks(void)
{
    ADS_MGMT_RECORD_INFO records[8];
    ADS_MGMT_USER_INFO user;
    UNSIGNED16 count = 8, size = sizeof records[0], user_size = sizeof user, kind = 0;

    OK(AdsLockRecord(table, 3));
    OK(AdsLockRecord(other, 5));
    OK(AdsMgGetLocks(management, TEXT(path), NULL, 0, records, &count, &size));
    IS(count, 2);
    IS(records[0].ulRecordNumber, 3);
    IS(records[1].ulRecordNumber, 5);
    OK(AdsMgGetLockOwner(management, TEXT(path), 5, &user, &user_size, &kind));
    IS(kind, ADS_MGMT_RECORD_LOCK);
    IS(user_size, sizeof user);
    IS(activity().stLocks.ulInUse, 2);

    /* One connection's alone, and nobody's. */
    count = 8;
    OK(AdsMgGetLocks(management, TEXT(path), NULL, user.usConnNumber, records, &count, &size));
    IS(count, 1);
    IS(records[0].ulRecordNumber, 5);
    OK(AdsMgGetLockOwner(management, TEXT(path), 4, &user, &user_size, &kind));
    IS(kind, ADS_MGMT_NO_LOCK);
    IS(user.aucUserName[0], 0);
    IS(AdsMgGetLockOwner(management, NULL, 4, &user, &user_size, &kind), AE_INVALID_PATH);

    OK(AdsUnlockRecord(table, 3));
    OK(AdsUnlockRecord(other, 5));
    OK(AdsLockTable(table));
    count = 8;
    OK(AdsMgGetLocks(management, TEXT("stock"), NULL, 0, records, &count, &size));
    IS(count, 1);
    IS(records[0].ulRecordNumber, 0);
    OK(AdsMgGetLockOwner(management, TEXT("stock.dbf"), 0, &user, &user_size, &kind));
    IS(kind, ADS_MGMT_FILE_LOCK);
    OK(AdsUnlockTable(table));
    count = 8;
    OK(AdsMgGetLocks(management, TEXT(path), NULL, 0, records, &count, &size));
    IS(count, 0);
    IS(activity().stLocks.ulInUse, 0);
    IS(activity().stLocks.ulMaxUsed, 2);
}

static void figures(void)
{
    ADS_MGMT_ACTIVITY_INFO before = activity(), after;
    ADS_MGMT_COMM_STATS stats;
    ADS_MGMT_INSTALL_INFO install;
    ADS_MGMT_CONFIG_PARAMS values;
    ADS_MGMT_CONFIG_MEMORY memory;
    ADS_MGMT_THREAD_ACTIVITY threads[2];
    UNSIGNED16 size = sizeof stats, memory_size = sizeof memory, count = 2, type = 0;
    ADSHANDLE third;
    int call;

    IS(before.stConnections.ulInUse, 3);
    IS(before.stWorkAreas.ulInUse, 2);
    IS(before.stTables.ulInUse, 1);
    IS(before.stIndexes.ulInUse, 1);
    IS(before.stQueries.ulInUse, 0);
    IS(before.stStatelessUsers.ulRejected, 0);
    third = open_table(first, ADS_SHARED);
    for (call = 0; call < 100; call++)
        OK(AdsGotoTop(third));
    OK(AdsCloseTable(third));
    after = activity();
    IS(after.stWorkAreas.ulInUse, 2);
    IS(after.stWorkAreas.ulMaxUsed >= 3, 1);
    IS(after.ulOperations - before.ulOperations >= 102 && after.ulOperations - before.ulOperations < 120, 1);
    IS(after.stUpTime.usDays, 0);

    memset(&stats, 0x55, sizeof stats);
    OK(AdsMgResetCommStats(management));
    OK(AdsMgGetCommStats(management, &stats, &size));
    IS(size, sizeof stats);
    IS(stats.ulTotalPackets, 0);
    IS(stats.ulSendToErrors, 0);
    size = sizeof install;
    OK(AdsMgGetInstallInfo(management, &install, &size));
    IS(size, sizeof install);
    SAME(install.aucVersionStr, "12.00");
    SAME(install.aucAnsiCharName, "cp1252");
    size = sizeof values;
    OK(AdsMgGetConfigInfo(management, &values, &size, &memory, &memory_size));
    IS(size, sizeof values);
    IS(memory_size, sizeof memory);
    IS(values.ulNumTables, 1 << 20);
    IS(values.ulSortBuffSize, 256 << 20);
    IS(values.usReceiveSSLPort, 0);
    IS(memory.ulQueryMem, 0);
    size = sizeof threads[0];
    OK(AdsMgGetWorkerThreadActivity(management, threads, &count, &size));
    IS(count, 0);
    IS(size, sizeof threads[0]);
    OK(AdsMgGetServerType(management, &type));
    IS(type, ADS_MGMT_LOCAL_SERVER);
    IS(AdsMgGetServerType(table, &type), AE_INVALID_CONNECTION_HANDLE);
    IS(AdsMgGetActivityInfo(management, NULL, &size), AE_INVALID_POINTER);
    IS(AdsMgGetActivityInfo(management, &before, NULL), AE_INVALID_POINTER);
}

static void statements_and_transactions(void)
{
    ADSHANDLE statement = 0, other_statement = 0, cursor = 0;
    ADS_MGMT_ACTIVITY_INFO now = activity();

    IS(now.stQueries.ulInUse, 0);
    IS(now.stTpsHeaderElems.ulInUse, 0);
    OK(AdsCreateSQLStatement(first, &statement));
    OK(AdsCreateSQLStatement(first, &other_statement));
    OK(AdsStmtSetTableType(statement, ADS_CDX));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT * FROM stock"), &cursor));
    OK(AdsBeginTransaction(second));
    now = activity();
    IS(now.stQueries.ulInUse, 2);
    IS(now.stTpsHeaderElems.ulInUse, 1);
    IS(now.stTpsVisElems.ulInUse, 0);
    IS(now.stWorkerThreads.ulInUse, 0);
    OK(AdsRollbackTransaction(second));
    OK(AdsCloseSQLStatement(statement));
    now = activity();
    IS(now.stQueries.ulInUse, 1);
    IS(now.stTpsHeaderElems.ulInUse, 0);
    OK(AdsCloseSQLStatement(other_statement));
    OK(AdsCloseCachedTables(first));
    now = activity();
    IS(now.stQueries.ulInUse, 0);
    IS(now.stQueries.ulMaxUsed, 2);
    IS(now.stTpsHeaderElems.ulMaxUsed, 1);
}

static void killing(void)
{
    ADS_MGMT_USER_INFO user;
    UNSIGNED8 host[300];
    UNSIGNED16 size = sizeof user, kind, length = sizeof host, alive = 1;
    UNSIGNED32 count;

    OK(AdsGetServerName(first, host, &length));
    IS(AdsMgKillUser(management, host, 0), AE_INVALID_OPTION);
    IS(AdsMgKillUser(management, TEXT("nobody"), 0), AE_NOT_FOUND);
    IS(AdsMgKillUser(management, NULL, 60000), AE_NOT_FOUND);
    IS(AdsMgKillUser90(management, NULL, 1, ADS_RESTRICT_KILL, NULL, 0), AE_INVALID_OPTION);

    /* The transaction of the one who held the record is taken back, and the record is free. */
    OK(AdsBeginTransaction(second));
    OK(AdsGotoRecord(other, 5));
    OK(AdsLockRecord(other, 5));
    OK(AdsSetString(other, TEXT("NAME"), TEXT("gone"), 4));
    OK(AdsWriteRecord(other));
    OK(AdsMgGetLockOwner(management, TEXT(path), 5, &user, &size, &kind));
    IS(kind, ADS_MGMT_RECORD_LOCK);
    OK(AdsMgKillUser90(management, NULL, user.usConnNumber, ADS_PROPERTY_UNSPECIFIED, NULL, 0));
    OK(AdsIsConnectionAlive(second, &alive));
    IS(alive, 0);
    IS(AdsGetRecordCount(other, ADS_IGNOREFILTERS, &count), AE_INVALID_TABLE_HANDLE);
    OK(AdsGotoRecord(table, 5));
    OK(AdsLockRecord(table, 5));
    length = sizeof host;
    count = sizeof host;
    OK(AdsGetString(table, TEXT("NAME"), host, &count, ADS_RTRIM));
    SAME(host, "name 5");
    OK(AdsUnlockRecord(table, 5));
}

/* A drive that stands for no folder is this machine's, and so is the local server by its name; other servers are not here. */
static void program_itself(void)
{
    const char *const places[] = {"C:", "c:\\", "local"};
    UNSIGNED16 kind;
    ADSHANDLE place;
    int number;

    for (number = 0; number < 3; number++) {
        OK(AdsMgConnect(TEXT(places[number]), NULL, NULL, &place));
        kind = 77;
        OK(AdsMgGetServerType(place, &kind));
        IS(kind, ADS_MGMT_LOCAL_SERVER);
        OK(AdsMgDisconnect(place));
    }
    IS(AdsMgConnect(TEXT("\\\\other\\share"), NULL, NULL, &place), AE_NO_CONNECTION);
    IS(AdsMgConnect(TEXT("C:\\nowhere"), NULL, NULL, &place), AE_INVALID_PATH);
}

int main(int arguments, char **argument)
{
    ADSHANDLE order;
    int number;

    if (arguments != 2 || chdir(argument[1]) != 0 || !getcwd(folder, sizeof folder))
        return 2;
    snprintf(path, sizeof path, "%s/stock.dbf", folder);
    snprintf(index_path, sizeof index_path, "%s/stock.cdx", folder);
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &first));
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &second));
    OK(AdsMgConnect(TEXT(folder), NULL, NULL, &management));
    OK(AdsCreateTable(first, TEXT("stock"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("NAME,Character,10"), &table));
    for (number = 1; number <= 9; number++) {
        char name[12];
        snprintf(name, sizeof name, "name %d", number);
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("NAME"), TEXT(name), 6));
    }
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 512, &order));
    OK(AdsCloseTable(table));
    table = open_table(first, ADS_SHARED);
    other = open_table(second, ADS_SHARED);

    what_is_open();
    locks();
    figures();
    statements_and_transactions();
    killing();
    program_itself();
    OK(AdsMgDisconnect(management));
    IS(AdsMgResetCommStats(management), AE_INVALID_CONNECTION_HANDLE);
    OK(AdsDisconnect(first));
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
