/*
 * Threads of one of several processes that share a table through libace.so: each appends records and counts up a number in
 * record 1. Arguments: a folder, "ntx", "cdx" or "adt", the number of the process, how many threads, how many rounds. In an ADT each
 * also appends records that it deletes, whose places others take. With 0 threads it makes the index, and of an ADT the table, with -8 it looks whether all is there that so many processes of 8 threads have written.
 */

#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 16, TRIES = 20000 };

static ADSHANDLE common;
static UNSIGNED16 type;
static int process, threads, rounds;
static const char *folder;

static ADSHANDLE connect(void)
{
    ADSHANDLE connection = 0;
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    return connection;
}

static ADSHANDLE open_table(ADSHANDLE connection)
{
    ADSHANDLE table = 0;
    OK(AdsOpenTable(connection, TEXT("shared"), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &table));
    return table;
}

static void key(char *text, int of_process, int of_thread, int round)
{
    sprintf(text, "P%02d-T%02d-%04d", of_process, of_thread, round);
}

static void append(ADSHANDLE table, int thread, int round)
{
    char text[32];
    UNSIGNED32 code = 1;
    int try;

    for (try = 0; try < TRIES && (code = AdsAppendRecord(table)) != AE_SUCCESS; try++)
        usleep(200);
    IS(code, AE_SUCCESS);
    key(text, process, thread, round);
    OK(AdsSetString(table, TEXT("NAME"), TEXT(text), LENGTH(text)));
    OK(AdsSetDouble(table, TEXT("COUNT"), round));
    OK(AdsWriteRecord(table));
}

/* A record that is there for a moment. */
static void append_in_vain(ADSHANDLE table)
{
    UNSIGNED32 code = 1;
    int try;

    for (try = 0; try < TRIES && (code = AdsAppendRecord(table)) != AE_SUCCESS; try++)
        usleep(200);
    IS(code, AE_SUCCESS);
    OK(AdsSetString(table, TEXT("NAME"), TEXT("in vain"), 7));
    OK(AdsWriteRecord(table));
    OK(AdsDeleteRecord(table));
    for (try = 0; try < TRIES && (code = AdsWriteRecord(table)) != AE_SUCCESS; try++)
        usleep(200);
    IS(code, AE_SUCCESS);
}

static void count_up(ADSHANDLE table)
{
    double number = -1;
    UNSIGNED32 code = 1;
    int try;

    OK(AdsGotoRecord(table, 1));
    for (try = 0; try < TRIES && (code = AdsLockRecord(table, 1)) != AE_SUCCESS; try++)
        usleep(200);
    IS(code, AE_SUCCESS);
    OK(AdsGetDouble(table, TEXT("COUNT"), &number));
    OK(AdsSetDouble(table, TEXT("COUNT"), number + 1));
    OK(AdsUnlockRecord(table, 1));
}

/* Every other thread has a connection of its own; the others share one. */
static void *work(void *place)
{
    int thread = *(int *) place, round;
    ADSHANDLE own = thread % 2 ? connect() : 0, table = open_table(own ? own : common);

    for (round = 0; round < rounds; round++) {
        if (type == ADS_ADT)
            append_in_vain(table);
        append(table, thread, round);
        count_up(table);
        if (failures > 5)
            exit(1);
    }
    OK(AdsCloseTable(table));
    if (own)
        OK(AdsDisconnect(own));
    return NULL;
}

static void write_all(void)
{
    pthread_t running[THREADS];
    int numbers[THREADS], thread;

    common = connect();
    for (thread = 0; thread < threads; thread++) {
        numbers[thread] = thread;
        IS(pthread_create(&running[thread], NULL, work, &numbers[thread]), 0);
    }
    for (thread = 0; thread < threads; thread++)
        IS(pthread_join(running[thread], NULL), 0);
    OK(AdsDisconnect(common));
}

static void make_index(void)
{
    ADSHANDLE connection = connect(), table = 0, order;

    if (type == ADS_ADT) {
        OK(AdsCreateTable(connection, TEXT("shared"), NULL, type, ADS_ANSI, ADS_PROPRIETARY_LOCKING, ADS_IGNORERIGHTS, 0,
                          TEXT("NAME,Character,12;COUNT,Numeric,8"), &table));
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("NAME"), TEXT("counter"), 7));
        OK(AdsSetDouble(table, TEXT("COUNT"), 0));
    } else {
        OK(AdsOpenTable(connection, TEXT("shared"), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                        ADS_EXCLUSIVE, &table));
    }
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 512, &order));
}

/* Every record of every thread of every process is found by its key, once, and nothing else. */
static void look(int processes, int of_threads)
{
    ADSHANDLE table = open_table(connect()), order = 0;
    UNSIGNED32 count = 0, keys = 0, seen = 0;
    UNSIGNED16 found, is_eof = 0;
    char text[32], last[32] = "";
    UNSIGNED8 name[32];
    double number = -1;
    int at, thread, round;

    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, 1 + processes * of_threads * rounds);
    OK(AdsGotoRecord(table, 1));
    OK(AdsGetDouble(table, TEXT("COUNT"), &number));
    IS(number, processes * of_threads * rounds);
    OK(AdsGetIndexHandle(table, TEXT("NAME"), &order));
    OK(AdsGetKeyCount(order, ADS_IGNOREFILTERS, &keys));
    IS(keys, count);
    for (at = 0; at < processes; at++)
        for (thread = 0; thread < of_threads; thread++)
            for (round = 0; round < rounds; round++) {
                key(text, at, thread, round);
                found = 0;
                OK(AdsSeek(order, TEXT(text), (UNSIGNED16) LENGTH(text), ADS_STRINGKEY, ADS_HARDSEEK, &found));
                IS(found, 1);
                OK(AdsGetDouble(table, TEXT("COUNT"), &number));
                IS(number, round);
            }
    OK(AdsGotoTop(order));
    OK(AdsAtEOF(table, &is_eof));
    while (!is_eof && seen <= count) {
        UNSIGNED32 length = sizeof name;
        OK(AdsGetString(table, TEXT("NAME"), name, &length, ADS_RTRIM));
        IS(seen == 0 || strcmp(last, (char *) name) < 0, 1);
        strcpy(last, (char *) name);
        seen++;
        OK(AdsSkip(order, 1));
        OK(AdsAtEOF(table, &is_eof));
    }
    SAME(last, "counter");
    IS(seen, count);
}

int main(int count, char **arguments)
{
    if (count != 6)
        return 2;
    folder = arguments[1];
    type = strcmp(arguments[2], "adt") == 0 ? ADS_ADT : strcmp(arguments[2], "ntx") == 0 ? ADS_NTX : ADS_CDX;
    process = atoi(arguments[3]);
    threads = atoi(arguments[4]);
    rounds = atoi(arguments[5]);
    if (threads > 0 && threads <= THREADS)
        write_all();
    else if (threads == 0)
        make_index();
    else
        look(process, -threads);
    OK(AdsApplicationExit());
    return failures != 0;
}
