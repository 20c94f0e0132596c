/*
 * Children that have their parent's handles: each use is an error and never waits, their end changes nothing of the parent's, and
 * they may open connections of their own. Another thread is in the library whenever the process is forked. Argument: an empty
 * folder.
 */

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { FORKS = 40, RECORDS = 20 };

static ADSHANDLE connection, table, statement;
static UNSIGNED8 *folder;
static volatile int done;

static void *busy(void *nothing)
{
    ADSHANDLE own, other;

    (void) nothing;
    OK(AdsConnect60(folder, ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &own));
    while (!done) {
        OK(AdsOpenTable(own, TEXT("busy"), NULL, ADS_CDX, ADS_ANSI, 0, ADS_CHECKRIGHTS, ADS_SHARED, &other));
        OK(AdsLockRecord(other, 1));
        OK(AdsUnlockRecord(other, 1));
        OK(AdsCloseTable(other));
    }
    OK(AdsDisconnect(own));
    return NULL;
}

static void in_child(void)
{
    ADSHANDLE own, cursor, other;
    UNSIGNED32 count = 0;
    UNSIGNED16 begun;

    failures = 0;
    alarm(20);
    IS(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count), AE_INVALID_TABLE_HANDLE);
    IS(AdsAppendRecord(table), AE_INVALID_TABLE_HANDLE);
    IS(AdsGotoTop(table), AE_INVALID_TABLE_HANDLE);
    IS(AdsInTransaction(connection, &begun), AE_INVALID_CONNECTION_HANDLE);
    IS(AdsCommitTransaction(connection), AE_INVALID_CONNECTION_HANDLE);
    IS(AdsDisconnect(connection) != AE_SUCCESS, 1);
    IS(AdsExecuteSQLDirect(statement, TEXT("SELECT COUNT(*) FROM busy"), &cursor) != AE_SUCCESS, 1);

    OK(AdsConnect60(folder, ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &own));
    IS(own == connection, 0);
    OK(AdsOpenTable(own, TEXT("busy"), NULL, ADS_CDX, ADS_ANSI, 0, ADS_CHECKRIGHTS, ADS_SHARED, &other));
    IS(other == table, 0);
    /* What the parent has locked is locked. */
    IS(AdsLockRecord(other, 2), AE_LOCK_FAILED);
    OK(AdsLockRecord(other, 3));
    OK(AdsUnlockRecord(other, 3));
    OK(AdsGetRecordCount(other, ADS_IGNOREFILTERS, &count));
    IS(count, 3);
    OK(AdsDisconnect(own));
    exit(failures != 0);
}

int main(int argument_count, char **arguments)
{
    ADSHANDLE locked;
    pthread_t thread;
    UNSIGNED32 count = 0;
    int number, status;
    pid_t child;

    if (argument_count != 2)
        return 2;
    folder = TEXT(arguments[1]);
    OK(AdsConnect60(folder, ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT("busy"), NULL, ADS_CDX, ADS_ANSI, 0, ADS_CHECKRIGHTS, 0, TEXT("N,Numeric,8,0"), &locked));
    for (number = 1; number <= 3; number++)
        OK(AdsAppendRecord(locked));
    OK(AdsCloseTable(locked));
    OK(AdsOpenTable(connection, TEXT("busy"), NULL, ADS_CDX, ADS_ANSI, 0, ADS_CHECKRIGHTS, ADS_SHARED, &locked));
    OK(AdsLockRecord(locked, 2));
    OK(AdsCreateTable(connection, TEXT("own"), NULL, ADS_CDX, ADS_ANSI, 0, ADS_CHECKRIGHTS, 0, TEXT("N,Numeric,8,0"), &table));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsExecuteSQLDirect(statement, TEXT("CREATE TABLE #t ( n Integer )"), NULL));
    OK(AdsBeginTransaction(connection));
    for (number = 1; number <= RECORDS; number++) {
        OK(AdsAppendRecord(table));
        OK(AdsSetDouble(table, TEXT("N"), number));
    }
    IS(pthread_create(&thread, NULL, busy, NULL), 0);
    for (number = 0; number < FORKS && failures == 0; number++) {
        child = fork();
        if (child == 0)
            in_child();
        IS(waitpid(child, &status, 0), child);
        IS(WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
    }
    done = 1;
    pthread_join(thread, NULL);
    OK(AdsCommitTransaction(connection));
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, RECORDS);
    OK(AdsGotoBottom(table));
    SAME(trimmed(table, "N"), "20");
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO #t VALUES ( 1 )"), NULL));
    OK(AdsDisconnect(connection));
    return failures != 0;
}
