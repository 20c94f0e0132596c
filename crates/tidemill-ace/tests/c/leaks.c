/*
 * Opens things in a random order and closes them in one way or another, again and again: afterwards no handle, no file and no
 * lock is left. Argument: an empty folder.
 */

#include <dirent.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 40, TABLES = 4, PLACE = 0xfffff };

static unsigned long state = 42, most;

static unsigned random_below(unsigned limit)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned) (state >> 33) % limit;
}

/* A handle is a place in a list and how often the place was given away: places that are not given back add up. */
static ADSHANDLE seen(ADSHANDLE handle)
{
    if ((handle & PLACE) > most)
        most = handle & PLACE;
    return handle;
}

static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* What calls the library while it is at work leaves nothing behind either. */
static UNSIGNED32 progress(UNSIGNED16 percent)
{
    ADSHANDLE connection;

    IS(AdsConnect(TEXT("."), &connection), 6619);
    IS(AdsCloseAllTables(), 6619);
    return percent > random_below(200);
}

static void make(ADSHANDLE connection, int number)
{
    ADSHANDLE table, order;
    char name[16];
    int record;

    snprintf(name, sizeof name, "t%d", number);
    OK(AdsCreateTable(connection, TEXT(name), NULL, number % 2 ? ADS_CDX : ADS_NTX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                      ADS_IGNORERIGHTS, 0, TEXT("NAME,Character,8;NUM,Numeric,4,0;NOTE,Memo"), &table));
    for (record = 1; record <= 20; record++) {
        OK(AdsAppendRecord(table));
        OK(AdsSetDouble(table, TEXT("NUM"), record));
    }
    OK(AdsCreateIndex61(table, TEXT(name), TEXT("NUM"), TEXT("NUM"), NULL, NULL, ADS_COMPOUND, 512, &order));
    OK(AdsCloseTable(table));
}

/* Something with a table that may open, lock or remember something. */
static void use(ADSHANDLE connection, ADSHANDLE table, ADSHANDLE other)
{
    ADSHANDLE handles[10], found = 0;
    UNSIGNED8 name[100];
    UNSIGNED16 count = 10, length = sizeof name, is_found;

    switch (random_below(12)) {
    case 0:
        if (AdsGetAllIndexes(table, handles, &count) == AE_SUCCESS && count > 0)
            OK(AdsGotoTop(seen(handles[0])));
        break;
    case 1:
        AdsLockRecord(table, 1 + random_below(20));
        break;
    case 2:
        OK(AdsSetFilter(table, TEXT("NUM > 3")));
        break;
    case 3:
        OK(AdsSetAOF(table, TEXT("NUM < 9"), ADS_RESOLVE_DYNAMIC));
        break;
    case 4:
        /* In a transaction the table may be held by what it has changed. */
        OK(AdsInTransaction(connection, &is_found));
        if (!is_found && AdsCloneTable(table, &found) == AE_SUCCESS)
            OK(AdsCloseTable(seen(found)));
        break;
    case 5:
        if (AdsFindFirstTable(connection, TEXT("t*.dbf"), name, &length, &found) == AE_SUCCESS)
            OK(AdsFindClose(connection, seen(found)));
        break;
    case 6:
        OK(AdsLocate(table, TEXT("NUM = 7"), ADS_TRUE, &is_found));
        break;
    case 7:
        AdsBeginTransaction(connection);
        break;
    case 8:
        AdsSetRelation(table, other, TEXT("NUM"));
        break;
    case 9:
        if (AdsGetAllIndexes(table, handles, &count) == AE_SUCCESS && count > 0)
            AdsInitRawKey(seen(handles[0]));
        break;
    case 10:
        /* Refused, stopped or done: the file is made in any case anew the next time. */
        AdsCreateIndex61(table, TEXT("more.cdx"), TEXT("MORE"), TEXT("NUM"), NULL, NULL, ADS_COMPOUND, 512, &found);
        break;
    default:
        if (AdsGotoRecord(table, 5) == AE_SUCCESS)
            AdsSetString(table, TEXT("NOTE"), TEXT("text"), 4);
    }
}

static void close_one_way(ADSHANDLE connection, ADSHANDLE *tables, int count)
{
    int at;

    switch (random_below(4)) {
    case 0:
        for (at = 0; at < count; at++)
            OK(AdsCloseTable(tables[at]));
        break;
    case 1:
        OK(AdsCloseAllTables());
        break;
    case 2:
        OK(AdsResetConnection(connection));
        break;
    default:
        for (at = 0; at < count; at++)
            AdsCloseAllIndexes(tables[at]);
    }
    OK(AdsDisconnect(connection));
    for (at = 0; at < count; at++)
        IS(AdsGotoTop(tables[at]), AE_INVALID_TABLE_HANDLE);
}

int main(int arguments, char **argument)
{
    ADSHANDLE connection, tables[TABLES];
    ADS_MGMT_ACTIVITY_INFO info;
    UNSIGNED8 alias[20];
    UNSIGNED16 size = sizeof info, length = sizeof alias;
    int round, at, count, files;

    if (arguments != 2 || chdir(argument[1]) != 0)
        return 2;
    OK(AdsConnect(TEXT("."), &connection));
    for (at = 0; at < TABLES; at++)
        make(connection, at);
    OK(AdsDisconnect(connection));
    OK(AdsRegisterProgressCallback(progress));
    files = open_files();
    for (round = 0; round < ROUNDS; round++) {
        OK(AdsConnect(TEXT("."), &connection));
        seen(connection);
        count = 1 + (int) random_below(TABLES);
        for (at = 0; at < count; at++) {
            char name[16];
            snprintf(name, sizeof name, "t%d", at);
            OK(AdsOpenTable(connection, TEXT(name), NULL, at % 2 ? ADS_CDX : ADS_NTX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                            ADS_IGNORERIGHTS, random_below(4) ? ADS_SHARED : ADS_EXCLUSIVE, &tables[at]));
            seen(tables[at]);
        }
        for (at = (int) random_below(20); at > 0; at--)
            use(connection, tables[random_below((unsigned) count)], tables[random_below((unsigned) count)]);
        close_one_way(connection, tables, count);
        unlink("more.cdx");
    }
    IS(open_files(), files);
    /* One connection, four tables with a few orders each, and a clone. */
    IS(most < 24, 1);
    OK(AdsClearProgressCallback());
    OK(AdsConnect(TEXT("."), &connection));
    OK(AdsMgGetActivityInfo(connection, &info, &size));
    IS(info.stConnections.ulInUse, 1);
    IS(info.stWorkAreas.ulInUse, 0);
    IS(info.stLocks.ulInUse, 0);
    OK(AdsOpenTable(connection, TEXT("t1"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_EXCLUSIVE, &tables[0]));
    OK(AdsGetTableAlias(tables[0], alias, &length));
    SAME(alias, "t1");
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
