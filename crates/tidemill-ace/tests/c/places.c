/*
 * Places in a table: bookmarks, records that are located, keys that are put together, tables that are opened once more.
 * Argument: an empty folder.
 */

#include "check.h"

static ADSHANDLE connection, table, by_name, by_both;

static UNSIGNED32 record(ADSHANDLE object)
{
    UNSIGNED32 number = 77;
    OK(AdsGetRecordNum(object, ADS_IGNOREFILTERS, &number));
    return number;
}

static UNSIGNED16 answer(UNSIGNED32 (*function)(ADSHANDLE, UNSIGNED16 *), ADSHANDLE object)
{
    UNSIGNED16 found = 77;
    OK(function(object, &found));
    return found;
}

static void add(const char *last, const char *first, double number)
{
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("LAST"), TEXT(last), LENGTH(last)));
    OK(AdsSetString(table, TEXT("FIRST"), TEXT(first), LENGTH(first)));
    OK(AdsSetDouble(table, TEXT("NUM"), number));
    OK(AdsSetString(table, TEXT("NOTE"), TEXT(first), LENGTH(first)));
    OK(AdsWriteRecord(table));
}

static ADSHANDLE order(const char *name, const char *expression)
{
    ADSHANDLE made = 0;
    OK(AdsCreateIndex61(table, NULL, TEXT(name), TEXT(expression), NULL, NULL, ADS_COMPOUND, 512, &made));
    return made;
}

static void bookmarks(void)
{
    UNSIGNED8 first[300], second[300], in_table[8], nothing[8] = {0};
    UNSIGNED32 length = 0, used = sizeof first;
    SIGNED32 result = 77;
    ADSHANDLE mark = 0;

    OK(AdsGotoRecord(table, 3));
    OK(AdsGetBookmark(table, &mark));
    IS(mark, 3);
    OK(AdsGotoTop(table));
    OK(AdsGotoBookmark(table, mark));
    IS(record(table), 3);
    IS(AdsGotoBookmark(table, ~0UL), AE_INVALID_BOOKMARK);

    OK(AdsGetBookmarkLength(table, &length));
    IS(length <= sizeof in_table, 1);
    used = length;
    OK(AdsGetBookmark60(table, in_table, &used));
    IS(used, length);
    OK(AdsGetBookmarkLength(by_name, &length));
    used = length - 1;
    IS(AdsGetBookmark60(by_name, first, &used), AE_INSUFFICIENT_BUFFER);
    IS(used, length);
    OK(AdsGetBookmark60(by_name, first, &used));
    OK(AdsGotoTop(by_name));
    used = sizeof second;
    OK(AdsGetBookmark60(by_name, second, &used));
    IS(record(table), 2);
    OK(AdsGotoBookmark60(by_name, first));
    IS(record(table), 3);
    OK(AdsGotoBookmark60(table, in_table));
    IS(record(table), 3);

    /* By key: Adams of record 2 is before Novak of record 3; by number 1 is before 3. */
    OK(AdsCompareBookmarks(second, first, &result));
    IS(result, ADS_CMP_LESS);
    OK(AdsCompareBookmarks(first, second, &result));
    IS(result, ADS_CMP_GREATER);
    OK(AdsCompareBookmarks(first, first, &result));
    IS(result, ADS_CMP_EQUAL);
    OK(AdsGotoRecord(table, 1));
    used = sizeof second;
    OK(AdsGetBookmark60(table, second, &used));
    OK(AdsCompareBookmarks(second, in_table, &result));
    IS(result, ADS_CMP_LESS);

    IS(AdsGotoBookmark60(table, nothing), AE_INVALID_BOOKMARK);
    IS(AdsGotoBookmark60(table, NULL), AE_INVALID_POINTER);
    memset(nothing, 0x22, 4);
    IS(AdsGotoBookmark60(table, nothing), AE_INVALID_BOOKMARK);
    OK(AdsGotoRecord(table, 0));
    used = sizeof second;
    IS(AdsGetBookmark60(table, second, &used), AE_NO_CURRENT_RECORD);
}

static void located(void)
{
    UNSIGNED16 found = 77;

    IS(AdsContinue(table, &found), AE_INVALID_CONTINUE);
    OK(AdsLocate(table, TEXT("FIRST = 'Ann'"), ADS_TRUE, &found));
    IS(found, 1);
    IS(record(table), 1);
    OK(AdsContinue(table, &found));
    IS(found, 1);
    IS(record(table), 4);
    OK(AdsContinue(table, &found));
    IS(found, 0);
    IS(answer(AdsAtEOF, table), 1);

    OK(AdsLocate(table, TEXT("FIRST = 'Ann'"), ADS_FALSE, &found));
    IS(record(table), 4);
    OK(AdsContinue(table, &found));
    IS(record(table), 1);
    OK(AdsContinue(table, &found));
    IS(found, 0);
    IS(answer(AdsAtBOF, table), 1);

    /* Filters hide records from it, and an order leads it. */
    OK(AdsSetFilter(table, TEXT("NUM < 4")));
    OK(AdsLocate(table, TEXT("FIRST = 'Ann'"), ADS_FALSE, &found));
    IS(record(table), 1);
    OK(AdsClearFilter(table));
    OK(AdsLocate(by_name, TEXT("NUM > 1"), ADS_TRUE, &found));
    IS(record(table), 2);
    OK(AdsContinue(table, &found));
    IS(record(table), 4);
    IS(AdsLocate(table, TEXT("NUM +"), ADS_TRUE, &found), AE_INVALID_EXPRESSION);
    IS(AdsLocate(table, TEXT("NUM"), ADS_TRUE, &found), AE_INVALID_EXPRESSION);
}

static void raw_keys(void)
{
    UNSIGNED8 key[100];
    UNSIGNED16 length = sizeof key, found = 0;
    ADSHANDLE by_number;

    IS(AdsBuildRawKey(by_both, key, &length), AE_INVALID_INDEX_HANDLE);
    OK(AdsGotoRecord(table, 1));
    OK(AdsInitRawKey(by_both));
    OK(AdsSetString(by_both, TEXT("LAST"), TEXT("Mercer"), 6));
    length = sizeof key;
    OK(AdsBuildRawKey(by_both, key, &length));
    IS(length, 6);
    OK(AdsSetString(by_both, TEXT("FIRST"), TEXT("Ja"), 2));
    length = sizeof key;
    OK(AdsBuildRawKey(by_both, key, &length));
    IS(length, 12);
    IS(memcmp(key, "MERCER    JA", 12), 0);
    OK(AdsSeek(by_both, key, length, ADS_RAWKEY, ADS_HARDSEEK, &found));
    IS(found, 1);
    IS(record(table), 5);
    length = sizeof key;
    OK(AdsBuildRawKey100(by_both, key, &length, ADS_GET_PARTIAL_FULL_KEY_LENGTH));
    IS(length, 18);
    length = sizeof key;
    OK(AdsBuildRawKey100(by_both, key, &length, ADS_GET_FULL_KEY_LENGTH));
    IS(length, 20);
    IS(AdsBuildRawKey100(by_both, key, &length, 9), AE_INVALID_OPTION);
    length = 3;
    IS(AdsBuildRawKey(by_both, key, &length), AE_INSUFFICIENT_BUFFER);

    /* The key begins anew, and the table's own record is as it was. */
    OK(AdsInitRawKey(by_both));
    OK(AdsSetString(by_both, TEXT("LAST"), TEXT("Zz"), 2));
    length = sizeof key;
    OK(AdsBuildRawKey(by_both, key, &length));
    IS(length, 2);
    OK(AdsSeek(by_both, key, length, ADS_RAWKEY, ADS_HARDSEEK, &found));
    IS(found, 0);
    OK(AdsGotoRecord(table, 5));
    {
        UNSIGNED32 room = sizeof key;
        OK(AdsGetString(table, TEXT("LAST"), key, &room, ADS_RTRIM));
        SAME(key, "Mercer");
    }

    by_number = order("NUM", "NUM");
    OK(AdsInitRawKey(by_number));
    OK(AdsSetDouble(by_number, TEXT("NUM"), 4));
    length = sizeof key;
    OK(AdsBuildRawKey(by_number, key, &length));
    IS(length, 8);
    OK(AdsSeek(by_number, key, length, ADS_RAWKEY, ADS_HARDSEEK, &found));
    IS(found, 1);
    IS(record(table), 4);
    IS(AdsInitRawKey(table), AE_INVALID_INDEX_HANDLE);
    OK(AdsDeleteIndex(by_number));
}

static void clones(void)
{
    ADSHANDLE clone = 0, found = 0, other;
    UNSIGNED16 number = 77, length;
    UNSIGNED8 text[100];
    UNSIGNED32 sum = 0, copied = 1, kept = 0;

    IS(AdsCloneTable(table, &clone), AE_TABLE_NOT_SHARED);
    OK(AdsCloseTable(table));
    OK(AdsOpenTable(connection, TEXT("places"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_SHARED, &table));
    OK(AdsCreateIndex61(table, TEXT("extra.cdx"), TEXT("EXTRA"), TEXT("NUM"), NULL, NULL, ADS_COMPOUND, 512, &other));
    OK(AdsSetFilter(table, TEXT("NUM > 1")));
    OK(AdsGotoRecord(table, 4));
    OK(AdsSetHandleLong(table, 99));
    OK(AdsCloneTable(table, &clone));
    IS(record(clone), 4);
    OK(AdsGetNumIndexes(clone, &number));
    IS(number, 3);
    length = sizeof text;
    OK(AdsGetFilter(clone, text, &length));
    SAME(text, "NUM > 1");
    IS(AdsGetHandleLong(clone, &kept), AE_INVALID_HANDLE);
    OK(AdsGetHandleLong(table, &kept));
    IS(kept, 99);
    IS(AdsSetHandleLong(12345, 1), AE_INVALID_HANDLE);
    OK(AdsGotoTop(clone));
    IS(record(table), 4);

    OK(AdsGotoRecord(clone, 4));
    OK(AdsGetRecordCRC(table, &sum, ADS_DEFAULT));
    OK(AdsGetRecordCRC(clone, &copied, ADS_CRC_LOCALLY));
    IS(sum, copied);
    OK(AdsSetString(clone, TEXT("NOTE"), TEXT("other"), 5));
    OK(AdsWriteRecord(clone));
    OK(AdsGetRecordCRC(clone, &copied, ADS_DEFAULT));
    IS(sum != copied, 1);
    OK(AdsGetRecordCRC(clone, &copied, ADS_CRC_IGNOREMEMOPAGES));
    OK(AdsGotoRecord(table, 4));
    OK(AdsGetRecordCRC(table, &sum, ADS_CRC_IGNOREMEMOPAGES));
    IS(sum, copied);
    OK(AdsCloseTable(clone));
    IS(AdsGetHandleLong(clone, &kept), AE_INVALID_HANDLE);

    OK(AdsGetTableHandle(TEXT("PLACES.DBF"), &found));
    IS(found, table);
    IS(AdsGetTableHandle(TEXT("nosuch"), &found), AE_NOT_FOUND);
    OK(AdsBeginTransaction(connection));
    OK(AdsResetConnection(connection));
    OK(AdsInTransaction(connection, &number));
    IS(number, 0);
    IS(AdsGotoTop(table), AE_INVALID_TABLE_HANDLE);
    OK(AdsOpenTable101(connection, TEXT("places"), &table));
    OK(AdsGetTableOpenOptions(table, &kept));
    IS(kept, ADS_SHARED);
    OK(AdsGetNumIndexes(table, &number));
    IS(number, 2);
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsSetDefault(TEXT(argument[1])));
    OK(AdsCreateTable(connection, TEXT("places"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("LAST,Character,10;FIRST,Character,8;NUM,Numeric,2,0;NOTE,Memo"), &table));
    add("Mercer", "Ann", 1);
    add("Adams", "Joe", 2);
    add("Novak", "Eve", 3);
    add("Bell", "Ann", 4);
    add("Mercer", "Jack", 5);
    by_name = order("NAME", "LAST");
    by_both = order("BOTH", "UPPER(LAST + FIRST) + STR(NUM, 2)");
    bookmarks();
    located();
    raw_keys();
    clones();
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
