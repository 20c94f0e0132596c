/*
 * Lengths that are given with a pointer: what is behind them is neither read nor written. Argument: an empty folder.
 */

#define _GNU_SOURCE
#include "check.h"
#include "exact.h"

static ADSHANDLE connection, table, by_both, by_amount;

/* A copy of bytes that ends where they end. */
static UNSIGNED8 *given(const void *bytes, size_t length)
{
    return memcpy(exact(length), bytes, length);
}

static void keys(void)
{
    double number = 20;
    UNSIGNED16 found = 77, length;

    for (length = 0; length < sizeof number; length++) {
        IS(AdsSeek(by_amount, given(&number, length), length, ADS_DOUBLEKEY, ADS_HARDSEEK, &found), AE_INVALID_KEY_LENGTH);
        IS(AdsSeekLast(by_amount, given(&number, length), length, ADS_DOUBLEKEY, &found), AE_INVALID_KEY_LENGTH);
        IS(AdsLookupKey(by_amount, given(&number, length), length, ADS_DOUBLEKEY, &found), AE_INVALID_KEY_LENGTH);
        IS(AdsSetScope(by_amount, ADS_TOP, given(&number, length), length, ADS_DOUBLEKEY), AE_INVALID_KEY_LENGTH);
    }
    OK(AdsSeek(by_amount, given(&number, sizeof number), sizeof number, ADS_DOUBLEKEY, ADS_HARDSEEK, &found));
    IS(found, 1);
    /* Without a kind of key or of seek: what the order has, and a hard one. */
    found = 77;
    OK(AdsSeek(by_amount, given(&number, sizeof number), sizeof number, ADS_DEFAULT, ADS_DEFAULT, &found));
    IS(found, 1);
    OK(AdsSeek(by_amount, given("20", 2), 2, ADS_DEFAULT, ADS_DEFAULT, &found));
    IS(found, 1);
    number = 19;
    OK(AdsSeek(by_amount, given(&number, sizeof number), sizeof number, ADS_DEFAULT, ADS_DEFAULT, &found));
    IS(found, 0);
    OK(AdsSeek(by_both, given("Nov", 3), 3, ADS_DEFAULT, ADS_SOFTSEEK, &found));
    IS(AdsSeek(by_both, given("Nov", 3), 3, 16, ADS_HARDSEEK, &found), AE_INVALID_DATA_TYPE);
    number = 20;
    OK(AdsSetScope(by_amount, ADS_TOP, given(&number, sizeof number), sizeof number, ADS_DOUBLEKEY));
    OK(AdsClearScope(by_amount, ADS_TOP));
    for (length = 0; length <= 3; length++) {
        OK(AdsSeek(by_both, given("Nov", length), length, ADS_STRINGKEY, ADS_SOFTSEEK, &found));
        OK(AdsSeek(by_both, given("N\0o", length), length, ADS_WSTRINGKEY, ADS_SOFTSEEK, &found));
        OK(AdsSeek(by_both, given("Nov", length), length, ADS_RAWKEY, ADS_SOFTSEEK, &found));
    }
}

/* The order decides how many there are, whatever stands at the place of the count. */
static void segments(void)
{
    UNSIGNED16 count = 0, fields[2] = {0, 0};
    UNSIGNED16 *place = exact(sizeof fields);

    OK(AdsGetSegmentFieldNumbers(by_both, &count, place));
    IS(count, 2);
    memcpy(fields, place, sizeof fields);
    IS(fields[0], 2);
    IS(fields[1], 1);
    count = 7777;
    OK(AdsGetSegmentFieldNumbers(by_both, &count, place));
    IS(count, 2);
}

/* What fits is there, and what does not is refused with the length that it has. */
static void texts(void)
{
    UNSIGNED32 room, length;
    UNSIGNED16 short_length;
    UNSIGNED8 *place;

    OK(AdsGotoTop(by_both));
    for (room = 0; room < 12; room++) {
        length = room;
        place = exact(room);
        IS(AdsGetString(table, TEXT("NAME"), place, &length, ADS_NONE), room < 10 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        IS(length, 10);
        if (room > 10)
            SAME(place, "Novak     ");
        length = room;
        place = exact(room * 2);
        IS(AdsGetStringW(table, TEXT("NAME"), (WCHAR *) place, &length, ADS_NONE),
           room < 10 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        length = room;
        OK(AdsGetBinary(table, TEXT("NOTE"), 0, exact(room), &length));
        IS(length, room < 4 ? room : 4);
        short_length = (UNSIGNED16) room;
        IS(AdsGetDate(table, TEXT("BORN"), exact(room), &short_length), room < 10 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        IS(short_length, 10);
        short_length = (UNSIGNED16) room;
        IS(AdsExtractKey(by_amount, exact(room), &short_length), room < 8 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        short_length = (UNSIGNED16) room;
        IS(AdsGetFieldName(table, 1, exact(room), &short_length), room < 5 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        short_length = (UNSIGNED16) room;
        OK(AdsGetErrorString(AE_NO_CURRENT_RECORD, exact(room), &short_length));
    }
    for (length = 0; length <= 10; length++)
        OK(AdsSetString(table, TEXT("NAME"), given("Ninechars.", length), length));
    OK(AdsSetDate(table, TEXT("BORN"), given("01/31/2024", 10), 10));
    OK(AdsSetBinary(table, TEXT("NOTE"), ADS_BINARY, 4, 0, given("note", 4), 4));
    OK(AdsSetStringW(table, TEXT("NAME"), (WCHAR *) given("N\0o\0", 4), 2));
    OK(AdsCancelUpdate(table));
}

static void records(void)
{
    UNSIGNED32 length = 0, room;

    OK(AdsGetRecordLength(table, &length));
    room = length - 1;
    IS(AdsGetRecord(table, exact(room), &room), AE_INSUFFICIENT_BUFFER);
    IS(room, length);
    OK(AdsGetRecord(table, exact(room), &room));
    OK(AdsGetNullRecord(table, exact(length), length));
    IS(AdsGetNullRecord(table, exact(length - 1), length - 1), AE_INSUFFICIENT_BUFFER);
    for (room = 0; room < length; room++)
        IS(AdsSetRecord(table, exact(room), room), AE_INVALID_RECORD_LENGTH);
    OK(AdsCancelUpdate(table));
}

static void lists(void)
{
    UNSIGNED16 room, length;

    OK(AdsLockRecord(table, 1));
    for (room = 0; room < 3; room++) {
        length = room;
        IS(AdsGetAllIndexes(table, exact(room * sizeof(ADSHANDLE)), &length), room < 2 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        IS(length, 2);
        length = room;
        IS(AdsGetAllTables(exact(room * sizeof(ADSHANDLE)), &length), room < 1 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        IS(length, 1);
        length = room;
        IS(AdsGetAllLocks(table, exact(room * sizeof(UNSIGNED32)), &length), room < 1 ? AE_INSUFFICIENT_BUFFER : AE_SUCCESS);
        IS(length, 1);
    }
    /* Without an array the count is told. */
    length = 0;
    OK(AdsGetAllIndexes(table, NULL, &length));
    IS(length, 2);
    OK(AdsGetAllLocks(table, NULL, &length));
    IS(length, 1);
    OK(AdsUnlockTable(table));
    for (room = 0; room <= sizeof(ADS_MGMT_ACTIVITY_INFO); room++) {
        length = room;
        OK(AdsMgGetActivityInfo(connection, exact(room), &length));
        IS(length, sizeof(ADS_MGMT_ACTIVITY_INFO));
    }
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT("lengths"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("FIRST,Character,5;NAME,Character,10;AMOUNT,Numeric,8,2;BORN,Date;NOTE,Memo"), &table));
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("NAME"), TEXT("Novak"), 5));
    OK(AdsSetDouble(table, TEXT("AMOUNT"), 20));
    OK(AdsSetString(table, TEXT("NOTE"), TEXT("note"), 4));
    OK(AdsCreateIndex61(table, NULL, TEXT("BOTH"), TEXT("NAME+FIRST"), NULL, NULL, ADS_COMPOUND, 0, &by_both));
    OK(AdsCreateIndex61(table, NULL, TEXT("AMOUNT"), TEXT("AMOUNT"), NULL, NULL, ADS_COMPOUND, 0, &by_amount));
    OK(AdsCloseTable(table));
    OK(AdsOpenTable(connection, TEXT("lengths"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_SHARED, &table));
    OK(AdsGetIndexHandle(table, TEXT("BOTH"), &by_both));
    OK(AdsGetIndexHandle(table, TEXT("AMOUNT"), &by_amount));
    keys();
    segments();
    texts();
    records();
    lists();
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
    printf("%d failures\n", failures);
    return failures != 0;
}
