/*
 * Calls functions in a random order with arguments that make little sense: handles of any kind, closed ones and none, null
 * where something must be, numbers of any size, names of nothing. What the contract asks for is kept: a pointer is null or
 * points at as much as is said, and behind that memory ends. Arguments: an empty folder, a seed, how many calls.
 *
 * CALLS comes from ace.h: { name, function, kinds of its parameters }. Kinds: h a handle, n a number, l a length, t a text or
 * bytes, w those of two bytes a letter, f a field, 1, 2, 4 and 8 places of so many bytes, m and q places of 2 and 4 bytes that
 * have a length in them, s structures, b bytes that say themselves how many they are, c a callback. A double is passed in a
 * register of its own.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ace.h"
#include "exact.h"

typedef unsigned long word;
typedef UNSIGNED32 (*any_function)(word, word, word, word, word, word, word, word, word, word, word, word, word, word, word, word, word,
                                   word);

static const struct call {
    const char *name;
    any_function function;
    const char *kinds;
} calls[] = {CALLS};

enum { PARAMETERS = 18, LONGEST = 1000, ROOM = LONGEST * LONGEST, TABLES = 5, HANDLES = 24 };

static word state;
/* Where the memory of each argument ends. */
static unsigned char *ends[PARAMETERS];
/* The length that each argument gives or has in its place. */
static word lengths[PARAMETERS];
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
        "CONTAINS(NOTE, 'a* or b')", "NAME,C,10;PAID,N,10,2;BORN,D;OK,L;NOTE,M", "X,C,0", "X,N,99,99", "X,C,10;X,C,10", "Data Source=.", "C:\\a.dbf",
        "\\\\server\\share", "data.add", "NAME,Character,20", "'", "\"", "a b", "STR(PAID) + NAME", "VAL(NAME) / 0"};
    return texts[random_below(sizeof texts / sizeof *texts)];
}

static int is_length(char kind)
{
    return kind == 'l' || kind == 'm' || kind == 'q';
}

/* Memory of so many bytes for an argument. */
static unsigned char *memory(int at, word length)
{
    return memset(ends[at] - length, 0, length);
}

/* How many bytes are there for an argument: the lengths that stand behind it say so, or the one before it. */
static word room_of(const char *kinds, int at)
{
    char kind = kinds[at], behind = kinds[at + 1];
    word one = kind == 'w' ? 2 : kind >= '1' && kind <= '8' ? (word) (kind - '0') : 1;

    if (kind == 's' && is_length(behind) && is_length(kinds[at + 2]))
        return lengths[at + 1] * lengths[at + 2];
    if (is_length(behind))
        return one * lengths[at + 1];
    if (at > 0 && is_length(kinds[at - 1]) && kind >= '1' && kind <= '8' && lengths[at - 1] > 0)
        return one * lengths[at - 1];
    return one;
}

static word given_text(const char *kinds, int at)
{
    const char *given = text();
    word length = strlen(given) + 1, room = room_of(kinds, at), i;
    unsigned char *place;

    /* Without a length a text ends with a zero, and what says its own length has more than that. */
    if (!is_length(kinds[at + 1]))
        room = kinds[at] == 'b' ? LONGEST : kinds[at] == 'w' ? 2 * length : length;
    place = memory(at, room);
    for (i = 0; i < length && kinds[at] == 'w' && 2 * i + 1 < room; i++)
        place[2 * i] = (unsigned char) given[i];
    if (kinds[at] != 'w')
        memcpy(place, given, length < room ? length : room);
    return (word) place;
}

static word argument(const char *kinds, int at)
{
    word length = random_below(3) ? random_below(20) : random_below(LONGEST);
    UNSIGNED16 short_length = (UNSIGNED16) length;

    switch (kinds[at]) {
    case 'h':
        return random_below(20) ? handles[random_below(HANDLES)] : number();
    case 'l':
        return lengths[at] = length;
    case 'm':
        lengths[at] = length;
        return random_below(30) ? (word) memcpy(memory(at, 2), &short_length, 2) : 0;
    case 'q':
        lengths[at] = length;
        return random_below(30) ? (word) memcpy(memory(at, 4), &length, 4) : 0;
    case 'f':
        if (random_below(2))
            return random_below(9);
        /* fallthrough */
    case 't':
    case 'w':
    case 'b':
        return random_below(30) ? given_text(kinds, at) : 0;
    case '1':
    case '2':
    case '4':
    case '8':
    case 's':
        return random_below(30) ? (word) memory(at, room_of(kinds, at)) : 0;
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

    if (count == 0 || call->kinds[count - 1] != '8' || arguments[count - 1] == 0)
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
    for (i = 1; i <= TABLES; i++) {
        char name[] = "a.dbf", first[] = "fa", second[] = "sa";
        ADSHANDLE table = 0;

        name[0] = first[1] = second[1] = (char) ('a' + i);
        AdsCreateTable(connection, (UNSIGNED8 *) name, NULL, i % 2 ? ADS_CDX : ADS_NTX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                       ADS_IGNORERIGHTS, 0, (UNSIGNED8 *) "NAME,C,10;PAID,N,10,2;BORN,D;OK,L;NOTE,M", &table);
        AdsAppendRecord(table);
        AdsWriteRecord(table);
        AdsCreateIndex61(table, (UNSIGNED8 *) first, (UNSIGNED8 *) "BOTH", (UNSIGNED8 *) "UPPER(NAME)+DTOS(BORN)", NULL, NULL,
                         ADS_COMPOUND, 0, &handles[TABLES + i]);
        AdsCreateIndex61(table, (UNSIGNED8 *) second, (UNSIGNED8 *) "PAID", (UNSIGNED8 *) "PAID", NULL, NULL, ADS_COMPOUND, 0,
                         &handles[2 * TABLES + i]);
        if (table != 0)
            handles[i] = table;
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
        ends[i] = edge(ROOM);

    start();
    for (done = 0; done < wanted; done++) {
        const struct call *call = &calls[random_below(sizeof calls / sizeof *calls)];
        word a[PARAMETERS] = {0};
        const char *kind;
        int is_lengths_turn;

        /* The lengths first: the others have as much memory as these say. */
        for (is_lengths_turn = 1; is_lengths_turn >= 0; is_lengths_turn--)
            for (i = 0; call->kinds[i]; i++)
                if (is_length(call->kinds[i]) == is_lengths_turn)
                    a[i] = argument(call->kinds, i);
        if (getenv("CALLS")) {
            fprintf(stderr, "%lu %s", done, call->name);
            for (kind = call->kinds, i = 0; *kind; kind++, i++)
                fprintf(stderr, *kind == 't' && a[i] && !is_length(kind[1]) ? " \"%s\"" : " %lx", a[i]);
            fputc('\n', stderr);
        }
        code = call->function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16],
                              a[17]);
        if (code == AE_SUCCESS)
            keep_handle(call, a);
        if (code > 20000) {
            fprintf(stderr, "%s answers %u\n", call->name, code);
            return 3;
        }
        /* Some calls close everything. */
        if (done % 500 == 499 || (AdsGetNumOpenTables(&open_tables) == AE_SUCCESS && open_tables == 0))
            start();
    }
    /* The first may tell of a record that cannot be written, as one with bytes in a date that are no day. */
    code = AdsApplicationExit();
    if (code == AE_DATA_TOO_LONG)
        code = AdsApplicationExit();
    open_tables = 77;
    AdsGetNumOpenTables(&open_tables);
    if (code != AE_SUCCESS || open_tables != 0) {
        UNSIGNED8 why[ADS_MAX_ERROR_LEN + 1] = "";
        UNSIGNED16 length = sizeof why;

        AdsGetLastError(&code, why, &length);
        fprintf(stderr, "%u tables are still open: %s\n", open_tables, (char *) why);
        return 4;
    }
    return 0;
}
