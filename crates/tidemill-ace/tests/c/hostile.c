/*
 * Calls functions in a random order with arguments that make little sense: handles of any kind, closed ones and none, null
 * where something must be, numbers of any size, names of nothing. What the contract asks for is kept: a pointer is null or
 * points at as much as is said. Arguments: an empty folder, a seed, how many calls.
 *
 * CALLS comes from ace.h: { name, function, kinds of its parameters }. Kinds: h a handle, n a number, l a length, t a text,
 * f a field, p a place for an answer with its length in it, c a callback. A double is passed in a register of its own.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ace.h"

typedef unsigned long word;
typedef UNSIGNED32 (*any_function)(word, word, word, word, word, word, word, word, word, word, word, word, word, word);

static const struct call {
    const char *name;
    any_function function;
    const char *kinds;
} calls[] = {CALLS};

enum { PARAMETERS = 14, ROOM = 1 << 20, LONGEST = 1000, HANDLES = 64 };

static word state;
static char *room[PARAMETERS];
static ADSHANDLE handles[HANDLES];

static word random_below(word limit)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (state >> 33) % limit;
}

static word one_of(const word *numbers, word count)
{
    return numbers[random_below(count)];
}

static UNSIGNED32 progress(UNSIGNED16 percent, UNSIGNED32 id)
{
    return percent + id > 90;
}

static word number(void)
{
    static const word edges[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 100, 255, 256, 1000, 4095, 0x7fff, 0x8000, 0xffff,
                                 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffffffffffe};
    return one_of(edges, random_below(3) ? 9 : sizeof edges / sizeof *edges);
}

static const char *text(void)
{
    static const char *texts[] = {
        "",     "a",          "a.dbf",  "A.DBF",       "b",       "b.cdx",          "c.ntx",     "*.dbf",   "NAME",
        "PAID", "name",       "NOTE",   "UPPER(NAME)", "PAID",    "PAID > 1",       "NAME = 'x'", "DELETED()", "((((",
        "BAD(", "NOSUCH = 1", "\xff\xfe", "12.5",      "1970-01-01", "CCYY-MM-DD", "x",         "T",       "RECNO() % 2 = 0",
        "NAME,C,10;PAID,N,10,2;BORN,D;OK,L;NOTE,M", "X,C,0", "X,N,99,99", "X,C,10;X,C,10", "Data Source=.", "C:\\a.dbf",
        "\\\\server\\share", "data.add", "NAME,Character,20", "'", "\"", "a b", "STR(PAID) + NAME", "VAL(NAME) / 0"};
    return texts[random_below(sizeof texts / sizeof *texts)];
}

static word argument(char kind, char *place)
{
    UNSIGNED32 length = (UNSIGNED32) random_below(LONGEST);

    memset(place, 0, LONGEST * 2);
    switch (kind) {
    case 'h':
        return random_below(20) ? handles[random_below(HANDLES)] : number();
    case 'l':
        return random_below(LONGEST);
    case 'f':
        if (random_below(2))
            return random_below(9);
        /* fallthrough */
    case 't':
        strcpy(place, text());
        return random_below(30) ? (word) place : 0;
    case 'p':
        memcpy(place, &length, sizeof length);
        return random_below(30) ? (word) place : 0;
    case 'c':
        return (word) progress;
    default:
        return number();
    }
}

static void keep_handle(const struct call *call, const word *arguments)
{
    size_t count = strlen(call->kinds);
    ADSHANDLE handle = 0;

    if (count == 0 || call->kinds[count - 1] != 'p' || arguments[count - 1] == 0)
        return;
    memcpy(&handle, (const void *) arguments[count - 1], sizeof handle);
    if (handle != 0)
        handles[random_below(HANDLES)] = handle;
}

static void start(void)
{
    ADSHANDLE connection = 0;
    int i;

    AdsConnect60((UNSIGNED8 *) ".", ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection);
    handles[0] = connection;
    for (i = 1; i < 6; i++) {
        char name[] = "a.dbf";
        name[0] = (char) ('a' + i);
        AdsCreateTable(connection, (UNSIGNED8 *) name, NULL, i % 2 ? ADS_CDX : ADS_NTX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                       ADS_IGNORERIGHTS, 0, (UNSIGNED8 *) "NAME,C,10;PAID,N,10,2;BORN,D;OK,L;NOTE,M", &handles[i]);
        AdsAppendRecord(handles[i]);
        AdsWriteRecord(handles[i]);
    }
}

int main(int count, char **arguments)
{
    struct rlimit files = {64 << 20, 64 << 20};
    word done, wanted;
    UNSIGNED16 open_tables = 77;
    UNSIGNED32 code;
    int i;

    if (count != 4 || chdir(arguments[1]) != 0)
        return 2;
    state = strtoul(arguments[2], NULL, 10);
    wanted = strtoul(arguments[3], NULL, 10);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &files);
    for (i = 0; i < PARAMETERS; i++)
        room[i] = calloc(ROOM, 1);

    start();
    for (done = 0; done < wanted; done++) {
        const struct call *call = &calls[random_below(sizeof calls / sizeof *calls)];
        word a[PARAMETERS] = {0};
        const char *kind;

        for (kind = call->kinds, i = 0; *kind; kind++, i++)
            a[i] = argument(*kind, room[i]);
        if (getenv("CALLS")) {
            fprintf(stderr, "%lu %s", done, call->name);
            for (kind = call->kinds, i = 0; *kind; kind++, i++)
                fprintf(stderr, *kind == 't' && a[i] ? " \"%s\"" : " %lx", a[i]);
            fputc('\n', stderr);
        }
        code = call->function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]);
        if (code == AE_SUCCESS)
            keep_handle(call, a);
        if (code > 20000) {
            fprintf(stderr, "%s answers %u\n", call->name, code);
            return 3;
        }
        if (done % 500 == 499)
            start();
    }
    code = AdsApplicationExit();
    AdsGetNumOpenTables(&open_tables);
    if (code != AE_SUCCESS || open_tables != 0) {
        UNSIGNED8 why[ADS_MAX_ERROR_LEN + 1] = "";
        UNSIGNED16 length = sizeof why;

        AdsGetLastError(&code, why, &length);
        fprintf(stderr, "%u tables are still open: %s\n", open_tables, (char *) why);
        return 4;
    }
    for (i = 0; i < PARAMETERS; i++)
        free(room[i]);
    return 0;
}
