/*
 * Eight threads that use one connection, one handle of a table and those of its orders, each without asking the others. Every
 * call does all it is there for or answers with the number of a reason that another thread can have given, and no thread is given
 * a record that nobody has written. Arguments: an empty folder and, if need be, how many calls a thread makes.
 */

#include <pthread.h>

#include "check.h"

enum { THREADS = 8, RECORDS = 300, LENGTH = 1 + 6 + 7 + 12, APPENDS = 40, SLOTS = 4 };

static ADSHANDLE connection, table, by_id, by_name;
static int rounds = 200, appended;
/* The tables that threads open and close for each other, and what their records begin with. */
static ADSHANDLE slots[SLOTS];
static const char letters[SLOTS + 1] = "axax";
static UNSIGNED16 mode;

typedef struct {
    unsigned long state;
    int number;
} thread;

static unsigned below(thread *of, unsigned limit)
{
    of->state = of->state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned) (of->state >> 33) % limit;
}

/* The call succeeded, or failed for one of the reasons. */
static UNSIGNED32 one_of(int line, const char *what, UNSIGNED32 code, int count, const UNSIGNED32 *reasons)
{
    UNSIGNED32 last = 0;
    int at;

    if (code == AE_SUCCESS)
        return code;
    /* Another thread's last error is not this one's. */
    AdsGetLastError(&last, NULL, NULL);
    if (last != code)
        fail(line, "the last error", last, code);
    for (at = 0; at < count; at++)
        if (reasons[at] == code)
            return code;
    fail(line, what, code, AE_SUCCESS);
    return code;
}

#define MAY(call, ...)                                                                                                 \
    one_of(__LINE__, #call, call, sizeof((UNSIGNED32[]){__VA_ARGS__}) / sizeof(UNSIGNED32), (UNSIGNED32[]){__VA_ARGS__})

/* A record whose fields all follow from its first. */
static void make(UNSIGNED8 *record, char letter, unsigned id)
{
    char text[LENGTH + 1];
    sprintf(text, " %6u%7u%c%06u     ", id, 3 * id, letter, id);
    memcpy(record, text, LENGTH);
}

/* The record is one that `make` makes, deleted or not. One that nobody has filled yet is blank. */
static int is_made(const UNSIGNED8 *record, char letter)
{
    UNSIGNED8 expected[LENGTH];
    unsigned at, is_blank = 1;

    make(expected, letter, (unsigned) strtoul((const char *) record + 15, NULL, 10));
    for (at = 1; at < LENGTH; at++)
        is_blank &= record[at] == ' ';
    return is_blank || memcmp(record + 1, expected + 1, LENGTH - 1) == 0;
}

static ADSHANDLE any_handle(thread *of)
{
    ADSHANDLE handles[] = {table, by_id, by_name};
    return handles[below(of, 3)];
}

static void move(thread *of)
{
    UNSIGNED8 key[8];
    UNSIGNED16 found = 77, is_end = 77;
    UNSIGNED32 number;
    double id = 1 + below(of, RECORDS);

    switch (below(of, 6)) {
    case 0:
        OK(AdsGotoTop(any_handle(of)));
        break;
    case 1:
        OK(AdsGotoBottom(any_handle(of)));
        break;
    case 2:
        OK(AdsSkip(any_handle(of), (SIGNED32) below(of, 40) - 20));
        break;
    case 3:
        OK(AdsGotoRecord(table, 1 + below(of, RECORDS)));
        break;
    case 4:
        OK(AdsSeek(by_id, (UNSIGNED8 *) &id, sizeof id, ADS_DOUBLEKEY, ADS_SOFTSEEK, &found));
        IS(found > 1, 0);
        break;
    default:
        sprintf((char *) key, "a%06u", 1 + below(of, RECORDS));
        OK(AdsSeek(by_name, key, 7, ADS_STRINGKEY, ADS_HARDSEEK, &found));
        IS(found > 1, 0);
    }
    OK(AdsAtEOF(table, &is_end));
    IS(is_end > 1, 0);
    if (MAY(AdsGetRecordNum(table, ADS_IGNOREFILTERS, &number), AE_NO_CURRENT_RECORD) == AE_SUCCESS)
        IS(number > RECORDS + APPENDS + 1, 0);
}

static void look(thread *of)
{
    UNSIGNED8 record[LENGTH + 1], name[13], bookmark[64];
    char expected[13];
    UNSIGNED32 length = sizeof record, count = 0;
    double id = -1;

    switch (below(of, 5)) {
    case 0:
        if (MAY(AdsGetRecord(table, record, &length), AE_NO_CURRENT_RECORD) == AE_SUCCESS)
            IS(length == LENGTH && is_made(record, 'a'), 1);
        break;
    case 1:
        length = sizeof name;
        if (MAY(AdsGetString(table, TEXT("NAME"), name, &length, ADS_RTRIM), AE_NO_CURRENT_RECORD) == AE_SUCCESS && length) {
            sprintf(expected, "a%06u", (unsigned) atoi((char *) name + 1) % 1000000);
            SAME(name, expected);
        }
        break;
    case 2:
        if (MAY(AdsGetDouble(table, TEXT("ID"), &id), AE_NO_CURRENT_RECORD) == AE_SUCCESS)
            IS(id >= 0 && id <= RECORDS, 1);
        break;
    case 3:
        OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
        IS(count >= RECORDS && count <= RECORDS + APPENDS, 1);
        OK(AdsGetKeyCount(by_name, ADS_IGNOREFILTERS, &count));
        IS(count >= RECORDS && count <= RECORDS + APPENDS, 1);
        break;
    default:
        length = sizeof bookmark;
        if (MAY(AdsGetBookmark60(table, bookmark, &length), AE_NO_CURRENT_RECORD) == AE_SUCCESS)
            OK(AdsGotoBookmark60(table, bookmark));
    }
}

static void change(thread *of)
{
    UNSIGNED8 record[LENGTH];

    switch (below(of, 6)) {
    case 0:
        MAY(AdsDeleteRecord(table), AE_NO_CURRENT_RECORD, AE_LOCK_FAILED);
        break;
    case 1:
        MAY(AdsRecallRecord(table), AE_NO_CURRENT_RECORD, AE_LOCK_FAILED);
        break;
    case 2:
        if (__atomic_fetch_add(&appended, 1, __ATOMIC_RELAXED) < APPENDS)
            OK(AdsAppendRecord(table));
        break;
    case 3:
        OK(AdsWriteRecord(table));
        break;
    default:
        make(record, 'a', 1 + below(of, RECORDS));
        MAY(AdsSetRecord(table, record, LENGTH), AE_NO_CURRENT_RECORD, AE_LOCK_FAILED);
    }
}

static void narrow(thread *of)
{
    double low = below(of, RECORDS), high = RECORDS - below(of, 20);

    switch (below(of, 7)) {
    case 0:
        OK(AdsSetAOF(table, TEXT("ID > 50"), ADS_RESOLVE_IMMEDIATE));
        break;
    case 1:
        MAY(AdsClearAOF(table), AE_NO_FILTER);
        break;
    case 2:
        OK(AdsSetFilter(table, TEXT("NAME < 'a000250'")));
        break;
    case 3:
        MAY(AdsClearFilter(table), AE_NO_FILTER);
        break;
    case 4:
        OK(AdsSetScope(by_id, ADS_TOP, (UNSIGNED8 *) &low, sizeof low, ADS_DOUBLEKEY));
        break;
    case 5:
        OK(AdsSetScope(by_id, ADS_BOTTOM, (UNSIGNED8 *) &high, sizeof high, ADS_DOUBLEKEY));
        break;
    default:
        MAY(AdsClearScope(by_id, below(of, 2) ? ADS_TOP : ADS_BOTTOM), AE_NO_SCOPE);
    }
}

/* A statement of this thread's own over the table that all change. */
static void ask(void)
{
    ADSHANDLE statement = 0, cursor = 0;
    double count = -1;

    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT COUNT(*) FROM common WHERE ID * 3 <> TRIPLE"), &cursor));
    OK(AdsGetDouble(cursor, ADSFIELD(1), &count));
    IS(count, 0);
    OK(AdsCloseSQLStatement(statement));
}

static void *use(void *place)
{
    thread *of = place;
    int round;

    for (round = 0; round < rounds && failures < 6; round++)
        switch (below(of, 20)) {
        case 0:
            narrow(of);
            break;
        case 1:
            if (mode == ADS_SHARED && below(of, 8) == 0)
                ask();
            break;
        case 2:
        case 3:
        case 4:
        case 5:
            change(of);
            break;
        default:
            move(of);
            look(of);
        }
    return NULL;
}

static ADSHANDLE open_table(char letter, UNSIGNED16 how)
{
    ADSHANDLE opened = 0;
    OK(AdsOpenTable(connection, TEXT(letter == 'a' ? "common" : "other"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                    ADS_IGNORERIGHTS, how, &opened));
    return opened;
}

/* Threads that find each other's tables closed while they use them. */
static void *take_away(void *place)
{
    thread *of = place;
    UNSIGNED8 record[LENGTH + 1];
    int round;

    for (round = 0; round < rounds && failures < 6; round++) {
        unsigned at = below(of, SLOTS);
        ADSHANDLE known = __atomic_load_n(&slots[at], __ATOMIC_SEQ_CST);
        UNSIGNED32 length = sizeof record;
        if (below(of, 8) == 0) {
            known = __atomic_exchange_n(&slots[at], open_table(letters[at], ADS_SHARED), __ATOMIC_SEQ_CST);
            OK(AdsCloseTable(known));
            IS(AdsCloseTable(known), AE_INVALID_TABLE_HANDLE);
            continue;
        }
        MAY(AdsGotoRecord(known, 1 + below(of, RECORDS)), AE_INVALID_TABLE_HANDLE, AE_INVALID_HANDLE);
        if (MAY(AdsGetRecord(known, record, &length), AE_INVALID_TABLE_HANDLE, AE_INVALID_HANDLE, AE_NO_CURRENT_RECORD) ==
            AE_SUCCESS)
            IS(is_made(record, letters[at]), 1);
    }
    return NULL;
}

/* One of the threads ends the connection that the others use. */
static void *end(void *place)
{
    thread *of = place;
    UNSIGNED8 record[LENGTH + 1];
    UNSIGNED32 length, code = AE_SUCCESS;

    while (code == AE_SUCCESS && of->number != 0 && failures < 6) {
        length = sizeof record;
        MAY(AdsSkip(slots[of->number % SLOTS], 1), AE_INVALID_TABLE_HANDLE, AE_INVALID_HANDLE);
        code = MAY(AdsGetRecord(slots[of->number % SLOTS], record, &length), AE_INVALID_TABLE_HANDLE, AE_INVALID_HANDLE,
                   AE_NO_CURRENT_RECORD);
        if (code == AE_SUCCESS)
            IS(is_made(record, letters[of->number % SLOTS]), 1);
        if (code == AE_NO_CURRENT_RECORD)
            code = MAY(AdsGotoTop(slots[of->number % SLOTS]), AE_INVALID_TABLE_HANDLE, AE_INVALID_HANDLE);
    }
    if (of->number == 0)
        OK(AdsDisconnect(connection));
    return NULL;
}

static void together(void *(*work)(void *))
{
    pthread_t running[THREADS];
    thread all[THREADS];
    int at;

    for (at = 0; at < THREADS; at++) {
        all[at].state = 77 + (unsigned) at;
        all[at].number = THREADS - 1 - at;
        IS(pthread_create(&running[at], NULL, work, &all[at]), 0);
    }
    for (at = 0; at < THREADS; at++)
        IS(pthread_join(running[at], NULL), 0);
}

static void make_table(char letter)
{
    UNSIGNED8 record[LENGTH];
    ADSHANDLE made, order;
    unsigned id;

    OK(AdsCreateTable(connection, TEXT(letter == 'a' ? "common" : "other"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                      ADS_IGNORERIGHTS, 0, TEXT("ID,Numeric,6,0;TRIPLE,Numeric,7,0;NAME,Character,12"), &made));
    for (id = 1; id <= RECORDS; id++) {
        make(record, letter, id);
        OK(AdsAppendRecord(made));
        OK(AdsSetRecord(made, record, LENGTH));
    }
    OK(AdsCreateIndex61(made, NULL, TEXT("ID"), TEXT("ID"), NULL, NULL, ADS_COMPOUND, 512, &order));
    OK(AdsCreateIndex61(made, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND | ADS_DESCENDING, 512, &order));
    OK(AdsCloseTable(made));
}

static UNSIGNED16 is_at_end(void)
{
    UNSIGNED16 is_end = ADS_TRUE;
    OK(AdsAtEOF(table, &is_end));
    return is_end;
}

/* Every record is sound, and each order has each of them once, in its order. */
static void all_is_there(void)
{
    ADSHANDLE orders[2];
    UNSIGNED8 record[LENGTH + 1], last[LENGTH + 1];
    UNSIGNED32 count, length, seen;
    int at;

    table = open_table('a', ADS_EXCLUSIVE);
    OK(AdsGetIndexHandle(table, TEXT("ID"), &orders[0]));
    OK(AdsGetIndexHandle(table, TEXT("NAME"), &orders[1]));
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, RECORDS + (appended < APPENDS ? appended : APPENDS));
    for (at = 0; at < 2; at++) {
        seen = 0;
        OK(AdsGotoTop(orders[at]));
        while (!is_at_end() && seen <= count) {
            length = sizeof record;
            OK(AdsGetRecord(table, record, &length));
            IS(is_made(record, 'a'), 1);
            if (seen > 0)
                IS(at == 0 ? memcmp(record + 1, last + 1, 6) >= 0 : memcmp(record + 14, last + 14, 12) <= 0, 1);
            memcpy(last, record, sizeof last);
            seen++;
            OK(AdsSkip(orders[at], 1));
        }
        IS(seen, count);
    }
    OK(AdsCloseTable(table));
}

static void use_together(UNSIGNED16 how)
{
    mode = how;
    table = open_table('a', how);
    OK(AdsGetIndexHandle(table, TEXT("ID"), &by_id));
    OK(AdsGetIndexHandle(table, TEXT("NAME"), &by_name));
    together(use);
    OK(AdsWriteRecord(table));
    OK(AdsCloseTable(table));
    all_is_there();
}

int main(int count, char **arguments)
{
    int at;

    if (count < 2)
        return 2;
    if (count > 2)
        rounds = atoi(arguments[2]);
    OK(AdsConnect60(TEXT(arguments[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    make_table('a');
    make_table('x');
    use_together(ADS_EXCLUSIVE);
    use_together(ADS_SHARED);

    for (at = 0; at < SLOTS; at++)
        slots[at] = open_table(letters[at], ADS_SHARED);
    together(take_away);
    together(end);
    IS(AdsGotoTop(slots[0]), AE_INVALID_TABLE_HANDLE);
    OK(AdsApplicationExit());
    return failures != 0;
}
