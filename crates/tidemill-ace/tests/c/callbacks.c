/*
 * Functions that are told how far long work is, that stop it, and that call the library. Argument: an empty folder.
 */

#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { RECORDS = 9000, FIELD = 8, RECORD = 1 + 2 * FIELD };

/* Error codes of the server, which the header has no names for. */
enum { BUSY = 6619, INDEX_ABORTED = 7089, COPY_ABORTED = 7090 };

static ADSHANDLE connection, table;
static int told, falls, last, stop_at;
static long number;

static UNSIGNED32 heard(UNSIGNED16 percent, long id)
{
    falls += percent < last;
    last = percent;
    told++;
    number = id;
    return percent >= stop_at && percent < 100;
}

static UNSIGNED32 plain(UNSIGNED16 percent)
{
    return heard(percent, 0);
}

static UNSIGNED32 numbered(UNSIGNED16 percent, UNSIGNED32 id)
{
    return heard(percent, (long) id);
}

static UNSIGNED32 wide(UNSIGNED16 percent, SIGNED64 id)
{
    return heard(percent, (long) id);
}

/* The library is at work, and says so; what went wrong can be asked all the same. */
static UNSIGNED32 calling(UNSIGNED16 percent)
{
    UNSIGNED8 text[256];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 count, code = 0;

    IS(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count), BUSY);
    IS(AdsCloseTable(table), BUSY);
    IS(AdsDisconnect(connection), BUSY);
    IS(AdsApplicationExit(), BUSY);
    OK(AdsGetLastError(&code, text, &length));
    IS(code, BUSY);
    return heard(percent, 0);
}

/* One that takes itself away is told to the end of what is under way. */
static UNSIGNED32 leaving(UNSIGNED16 percent)
{
    OK(AdsClearProgressCallback());
    return heard(percent, 0);
}

static void listen(int stop)
{
    told = falls = last = 0;
    stop_at = stop;
}

static void told_to_the_end(void)
{
    IS(told > 2, 1);
    IS(falls, 0);
    IS(last, 100);
}

/* A table whose files come from elsewhere, since appending so many records takes long under valgrind. */
static void make(const char *folder, const char *name)
{
    static const unsigned char header[] = {
        3, 126, 1, 1, RECORDS % 256, RECORDS / 256, 0, 0, 97, 0, RECORD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3,
        0, 0, 'I', 'D', 0, 0, 0, 0, 0, 0, 0, 0, 0, 'N', 0, 0, 0, 0, FIELD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        'N', 'A', 'M', 'E', 0, 0, 0, 0, 0, 0, 0, 'C', 0, 0, 0, 0, FIELD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13};
    char path[1000];
    FILE *file;
    int record;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    fwrite(header, 1, sizeof header, file);
    for (record = 1; record <= RECORDS; record++)
        fprintf(file, " %8d%08d", record, record * 7919 % RECORDS);
    fputc(26, file);
    IS(fclose(file), 0);
}

/* The bytes of a file, as a number. */
static unsigned long bytes(const char *name)
{
    unsigned long sum = 5381;
    FILE *file = fopen(name, "rb");
    int byte;

    if (!file)
        return 0;
    while ((byte = fgetc(file)) != EOF)
        sum = sum * 33 + (unsigned long) byte;
    fclose(file);
    return sum;
}

static UNSIGNED32 count(ADSHANDLE object)
{
    UNSIGNED32 answer = 77;
    OK(AdsGetRecordCount(object, ADS_IGNOREFILTERS, &answer));
    return answer;
}

static UNSIGNED32 create(const char *name, const char *expression, ADSHANDLE *order)
{
    return AdsCreateIndex61(table, NULL, TEXT(name), TEXT(expression), NULL, NULL, ADS_COMPOUND, 512, order);
}

static void indexes(void)
{
    ADSHANDLE order, other;
    UNSIGNED8 text[100];
    UNSIGNED16 length = sizeof text, orders = 0;
    unsigned long before;

    IS(AdsRegisterProgressCallback(NULL), AE_INVALID_CALLBACK);
    IS(AdsRegisterCallbackFunction(NULL, 1), AE_INVALID_CALLBACK);
    listen(200);
    OK(AdsRegisterCallbackFunction(numbered, 7));
    OK(create("ID", "ID", &order));
    told_to_the_end();
    IS(number, 7);
    OK(AdsRegisterCallbackFunction101(wide, 1L << 40));
    listen(200);
    OK(AdsReindex(table));
    told_to_the_end();
    IS(number, 1L << 40);
    OK(AdsGetIndexHandle(table, TEXT("ID"), &order));
    IS(count(order), RECORDS);

    /* Whatever is stopped, at whichever percent, leaves the files as they were. */
    OK(AdsRegisterProgressCallback(plain));
    before = bytes("big.cdx");
    for (stop_at = 0; stop_at < 95; stop_at += 30) {
        listen(stop_at);
        IS(create("NAME", "NAME", &other), INDEX_ABORTED);
        IS(last, 100);
        IS(AdsReindex(table), INDEX_ABORTED);
        IS(bytes("big.cdx"), before);
        OK(AdsGetNumIndexes(table, &orders));
        IS(orders, 1);
    }
    /* One that would take the place of another, too. */
    listen(20);
    IS(create("ID", "NAME", &other), INDEX_ABORTED);
    IS(bytes("big.cdx"), before);
    OK(AdsGetIndexHandle(table, TEXT("ID"), &order));
    OK(AdsGetIndexExpr(order, text, &length));
    SAME(text, "ID");
    IS(count(order), RECORDS);
    listen(60);
    OK(create("ID", "NAME", &other));
    length = sizeof text;
    OK(AdsGetIndexExpr(other, text, &length));
    SAME(text, "NAME");
    IS(AdsGetIndexExpr(order, text, &length), AE_INVALID_INDEX_HANDLE);

    IS(AdsCreateIndex61(table, TEXT("alone.cdx"), TEXT("A"), TEXT("ID"), NULL, NULL, ADS_COMPOUND, 512, &other),
       INDEX_ABORTED);
    IS(access("alone.cdx", F_OK), -1);
    listen(200);
    OK(AdsRegisterProgressCallback(calling));
    OK(create("MORE", "ID", &other));
    told_to_the_end();
    OK(AdsRegisterProgressCallback(leaving));
    listen(200);
    OK(create("MORE", "NAME", &other));
    told_to_the_end();
    listen(200);
    OK(create("MORE", "ID", &other));
    IS(told, 0);
}

static void packing(void)
{
    unsigned long before;

    OK(AdsGotoRecord(table, 17));
    OK(AdsDeleteRecord(table));
    OK(AdsWriteRecord(table));
    OK(AdsFlushFileBuffers(table));
    before = bytes("big.dbf");
    OK(AdsRegisterProgressCallback(plain));
    listen(0);
    IS(AdsPackTable(table), INDEX_ABORTED);
    OK(AdsFlushFileBuffers(table));
    IS(bytes("big.dbf"), before);
    IS(count(table), RECORDS);
    listen(200);
    OK(AdsPackTable(table));
    IS(told > 2, 1);
    IS(last, 100);
    IS(count(table), RECORDS - 1);
}

static void copies(void)
{
    ADSHANDLE other, order;
    UNSIGNED16 type = 77, found = 0;

    listen(40);
    IS(AdsCopyTable(table, ADS_IGNOREFILTERS, TEXT("copy")), COPY_ABORTED);
    IS(last, 100);
    IS(access("copy.dbf", F_OK), -1);
    IS(AdsConvertTable(table, ADS_IGNOREFILTERS, TEXT("other"), ADS_NTX), COPY_ABORTED);
    IS(access("other.dbf", F_OK), -1);

    listen(200);
    OK(AdsSetFilter(table, TEXT("ID <= 100")));
    OK(AdsGetIndexHandle(table, TEXT("ID"), &order));
    OK(AdsConvertTable(order, ADS_RESPECTFILTERS, TEXT("other"), ADS_VFP));
    told_to_the_end();
    IS(AdsConvertTable(order, ADS_RESPECTFILTERS, TEXT("other"), ADS_VFP) != AE_SUCCESS, 1);
    IS(AdsConvertTable(order, ADS_RESPECTFILTERS, TEXT("none"), 9), AE_INVALID_TABLETYPE);
    OK(AdsOpenTable(connection, TEXT("other"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_EXCLUSIVE, &other));
    OK(AdsGetTableType(other, &type));
    IS(type, ADS_VFP);
    IS(count(other), 99);

    /* What was copied into a table that was there stays. */
    OK(AdsClearFilter(table));
    listen(40);
    IS(AdsCopyTableContents(table, other, ADS_IGNOREFILTERS), COPY_ABORTED);
    IS(count(other) > 99 + RECORDS / 3 && count(other) < 99 + RECORDS / 2, 1);
    OK(AdsCheckExistence(connection, TEXT("other.dbf"), &found));
    IS(found, 1);
    OK(AdsCloseTable(other));
}

/* Each thread has a function of its own, or none. */
static void *elsewhere(void *unused)
{
    ADSHANDLE order;

    (void) unused;
    listen(0);
    OK(create("THREAD", "ID", &order));
    IS(told, 0);
    return NULL;
}

int main(int arguments, char **argument)
{
    pthread_t thread;

    if (arguments != 2 || chdir(argument[1]) != 0)
        return 2;
    make(".", "big.dbf");
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsOpenTable(connection, TEXT("big"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_EXCLUSIVE, &table));
    indexes();
    packing();
    copies();
    IS(pthread_create(&thread, NULL, elsewhere, NULL), 0);
    IS(pthread_join(thread, NULL), 0);
    OK(AdsClearCallbackFunction());
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
