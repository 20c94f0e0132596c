/*
 * Walks through the calls that programs use most, and checks what each answers. Argument: an empty folder.
 */

#include "check.h"

static UNSIGNED16 eof(ADSHANDLE table)
{
    UNSIGNED16 answer = 77;
    OK(AdsAtEOF(table, &answer));
    return answer;
}

static UNSIGNED16 bof(ADSHANDLE table)
{
    UNSIGNED16 answer = 77;
    OK(AdsAtBOF(table, &answer));
    return answer;
}

static UNSIGNED32 record(ADSHANDLE table)
{
    UNSIGNED32 number = 77;
    OK(AdsGetRecordNum(table, ADS_IGNOREFILTERS, &number));
    return number;
}

static UNSIGNED32 count(ADSHANDLE object, UNSIGNED16 option)
{
    UNSIGNED32 number = 77;
    OK(AdsGetRecordCount(object, option, &number));
    return number;
}

/* Records from here to the end, in an order. */
static UNSIGNED32 rest(ADSHANDLE table, ADSHANDLE order)
{
    UNSIGNED32 number = 0;
    while (!eof(table) && number < 1000) {
        number++;
        OK(AdsSkip(order, 1));
    }
    return number;
}

static const char *text(ADSHANDLE table, const char *field, UNSIGNED16 option)
{
    static UNSIGNED8 buffer[256];
    UNSIGNED32 length = sizeof buffer;
    buffer[0] = 0;
    OK(AdsGetString(table, TEXT(field), buffer, &length, option));
    IS(length, strlen((char *) buffer));
    return (char *) buffer;
}

static void set(ADSHANDLE table, const char *field, const char *value)
{
    OK(AdsSetString(table, TEXT(field), TEXT(value), LENGTH(value)));
}

static void settings(void)
{
    UNSIGNED8 buffer[64];
    UNSIGNED16 length = sizeof buffer, number = 77;
    UNSIGNED32 major = 0, minor = 0, code = 0;
    UNSIGNED8 letter = 0;

    OK(AdsGetVersion(&major, &minor, &letter, buffer, &length));
    OK(AdsSetDateFormat(TEXT("CCYY-MM-DD")));
    length = sizeof buffer;
    OK(AdsGetDateFormat(buffer, &length));
    SAME(buffer, "CCYY-MM-DD");
    OK(AdsSetEpoch(1950));
    OK(AdsGetEpoch(&number));
    IS(number, 1950);
    OK(AdsSetDecimals(3));
    OK(AdsSetExact(ADS_TRUE));
    OK(AdsGetExact(&number));
    IS(number, ADS_TRUE);
    OK(AdsSetExact(ADS_FALSE));
    OK(AdsShowDeleted(ADS_TRUE));
    OK(AdsGetDeleted(&number));
    IS(number, ADS_TRUE);

    length = sizeof buffer;
    OK(AdsGetErrorString(AE_NO_CURRENT_RECORD, buffer, &length));
    IS(strstr((char *) buffer, "5068") != NULL, 1);
    length = sizeof buffer;
    IS(AdsGetErrorString(4711, buffer, &length), AE_NO_ERROR_MESSAGE);

    /* A function that does nothing yet says so. */
    IS(AdsDDDeployDatabase(NULL, NULL, NULL, NULL, 0, 0, 0, 0), AE_FUNCTION_NOT_AVAILABLE);
    length = sizeof buffer;
    OK(AdsGetLastError(&code, buffer, &length));
    IS(code, AE_FUNCTION_NOT_AVAILABLE);
    IS(strstr((char *) buffer, "AdsDDDeployDatabase") != NULL, 1);
}

static ADSHANDLE make(ADSHANDLE connection)
{
    static const char *names[] = {"Novak", "adams", "Mercer", "Mercer", "Quist", "Baker"};
    ADSHANDLE table = 0;
    int i;

    OK(AdsCreateTable(connection, TEXT("walk.dbf"), TEXT("w"), ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                      ADS_IGNORERIGHTS, 64,
                      TEXT("NAME,Character,10;PAID,Numeric,10,2;BORN,Date;MALE,Logical;NOTE,Memo;PIC,Binary"), &table));
    for (i = 0; i < 6; i++) {
        OK(AdsAppendRecord(table));
        set(table, "NAME", names[i]);
        OK(AdsSetDouble(table, TEXT("PAID"), 100.25 * (i + 1)));
        OK(AdsSetDate(table, TEXT("BORN"), TEXT("1970-02-28"), 10));
        OK(AdsSetLogical(table, TEXT("MALE"), (UNSIGNED16) (i % 2)));
        OK(AdsWriteRecord(table));
    }
    return table;
}

/* Where no record is shown a skip is behind the last or before the first, and not both. */
static void no_record(ADSHANDLE table, ADSHANDLE order)
{
    OK(AdsGotoTop(order));
    IS(bof(table), ADS_TRUE);
    IS(eof(table), ADS_TRUE);
    OK(AdsSkip(order, 1));
    IS(bof(table), ADS_FALSE);
    IS(eof(table), ADS_TRUE);
    OK(AdsSkip(order, -1));
    IS(bof(table), ADS_TRUE);
    IS(eof(table), ADS_FALSE);
    OK(AdsGotoBottom(order));
    IS(bof(table), ADS_TRUE);
    IS(eof(table), ADS_TRUE);
}

/* Two records are shown: each end, and the way back from it. */
static void two_records(ADSHANDLE table, ADSHANDLE order, UNSIGNED32 first, UNSIGNED32 last)
{
    OK(AdsGotoTop(order));
    IS(record(table), first);
    IS(bof(table), ADS_FALSE);
    IS(eof(table), ADS_FALSE);
    OK(AdsSkip(order, -1));
    IS(bof(table), ADS_TRUE);
    IS(eof(table), ADS_FALSE);
    OK(AdsSkip(order, 1));
    IS(record(table), first);
    IS(bof(table), ADS_FALSE);
    OK(AdsSkip(order, 2));
    IS(bof(table), ADS_FALSE);
    IS(eof(table), ADS_TRUE);
    OK(AdsSkip(order, -1));
    IS(record(table), last);
    IS(bof(table), ADS_FALSE);
    IS(eof(table), ADS_FALSE);
    OK(AdsSkip(order, -9));
    IS(bof(table), ADS_TRUE);
    IS(eof(table), ADS_FALSE);
    OK(AdsGotoBottom(order));
    IS(record(table), last);
    IS(bof(table), ADS_FALSE);
    OK(AdsSkip(order, 9));
    IS(bof(table), ADS_FALSE);
    IS(eof(table), ADS_TRUE);
}

/* The ends of what a filter, an AOF, a scope and deletion leave, in the order of the file and in orders both ways. */
static void ends(ADSHANDLE connection)
{
    static const char *names[] = {"b", "d", "a", "c", "e"};
    ADSHANDLE table = 0, up = 0, down = 0, born = 0, male = 0;
    UNSIGNED16 type = 77;
    unsigned i;

    OK(AdsCreateTable(connection, TEXT("ends"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("NAME,C,5;BORN,Date;MALE,Logical"), &table));
    OK(AdsCreateIndex61(table, NULL, TEXT("UP"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0, &up));
    OK(AdsCreateIndex61(table, NULL, TEXT("DOWN"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND | ADS_DESCENDING, 0, &down));
    OK(AdsCreateIndex61(table, NULL, TEXT("BORN"), TEXT("BORN"), NULL, NULL, ADS_COMPOUND, 0, &born));
    OK(AdsCreateIndex61(table, NULL, TEXT("MALE"), TEXT("MALE"), NULL, NULL, ADS_COMPOUND, 0, &male));
    OK(AdsGetKeyType(up, &type));
    IS(type, ADS_STRING);
    OK(AdsGetKeyType(born, &type));
    IS(type, ADS_DATE);
    OK(AdsGetKeyType(male, &type));
    IS(type, ADS_LOGICAL);
    no_record(table, table);
    no_record(table, up);
    no_record(table, down);
    for (i = 0; i < 5; i++) {
        OK(AdsAppendRecord(table));
        set(table, "NAME", names[i]);
        OK(AdsWriteRecord(table));
    }

    OK(AdsSetFilter(table, TEXT("NAME = 'c' .OR. NAME = 'd'")));
    two_records(table, table, 2, 4);
    two_records(table, up, 4, 2);
    two_records(table, down, 2, 4);
    OK(AdsSetFilter(table, TEXT("NAME = 'x'")));
    no_record(table, table);
    no_record(table, up);
    no_record(table, down);
    OK(AdsClearFilter(table));

    OK(AdsSetAOF(table, TEXT("NAME = 'c' .OR. NAME = 'd'"), ADS_RESOLVE_IMMEDIATE));
    two_records(table, table, 2, 4);
    two_records(table, up, 4, 2);
    two_records(table, down, 2, 4);
    OK(AdsSetAOF(table, TEXT("NAME = 'x'"), ADS_RESOLVE_IMMEDIATE));
    no_record(table, table);
    no_record(table, up);
    no_record(table, down);
    OK(AdsClearAOF(table));

    OK(AdsSetScope(up, ADS_TOP, TEXT("c"), 1, ADS_STRINGKEY));
    OK(AdsSetScope(up, ADS_BOTTOM, TEXT("d"), 1, ADS_STRINGKEY));
    two_records(table, up, 4, 2);
    OK(AdsSetScope(down, ADS_TOP, TEXT("d"), 1, ADS_STRINGKEY));
    OK(AdsSetScope(down, ADS_BOTTOM, TEXT("c"), 1, ADS_STRINGKEY));
    two_records(table, down, 2, 4);
    OK(AdsSetFilter(table, TEXT("NAME = 'a'")));
    no_record(table, up);
    no_record(table, down);
    OK(AdsClearFilter(table));
    OK(AdsSetScope(up, ADS_TOP, TEXT("x"), 1, ADS_STRINGKEY));
    OK(AdsSetScope(up, ADS_BOTTOM, TEXT("y"), 1, ADS_STRINGKEY));
    no_record(table, up);
    OK(AdsClearAllScopes(table));

    OK(AdsShowDeleted(ADS_FALSE));
    for (i = 1; i <= 5; i += 2) {
        OK(AdsGotoRecord(table, i));
        OK(AdsDeleteRecord(table));
    }
    two_records(table, table, 2, 4);
    two_records(table, up, 4, 2);
    two_records(table, down, 2, 4);
    for (i = 2; i <= 4; i += 2) {
        OK(AdsGotoRecord(table, i));
        OK(AdsDeleteRecord(table));
    }
    no_record(table, table);
    no_record(table, up);
    no_record(table, down);
    OK(AdsShowDeleted(ADS_TRUE));
    OK(AdsCloseTable(table));
    OK(AdsDeleteFile(connection, TEXT("ends.dbf")));
    OK(AdsDeleteFile(connection, TEXT("ends.cdx")));
}

static void empty_table(ADSHANDLE connection)
{
    ADSHANDLE table = 0;
    UNSIGNED16 answer = 77;

    OK(AdsCreateTable(connection, TEXT("empty"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("A,C,5"), &table));
    OK(AdsGotoTop(table));
    IS(bof(table), ADS_TRUE);
    IS(eof(table), ADS_TRUE);
    no_record(table, table);
    IS(count(table, ADS_IGNOREFILTERS), 0);
    IS(AdsDeleteRecord(table), AE_NO_CURRENT_RECORD);
    IS(AdsIsRecordDeleted(table, &answer), AE_NO_CURRENT_RECORD);
    OK(AdsCloseTable(table));
}

static void fields(ADSHANDLE table)
{
    UNSIGNED8 buffer[64];
    WCHAR wide[16];
    UNSIGNED16 number = 77, length;
    UNSIGNED32 long_length;
    SIGNED32 whole;
    double value = 77;

    OK(AdsGetNumFields(table, &number));
    IS(number, 6);
    length = sizeof buffer;
    OK(AdsGetFieldName(table, 2, buffer, &length));
    SAME(buffer, "PAID");
    OK(AdsGetFieldType(table, TEXT("PAID"), &number));
    IS(number, ADS_NUMERIC);
    OK(AdsGetFieldType(table, ADSFIELD(3), &number));
    IS(number, ADS_DATE);
    OK(AdsGetFieldType(table, ADSFIELD(4), &number));
    IS(number, ADS_LOGICAL);
    OK(AdsGetFieldType(table, ADSFIELD(5), &number));
    IS(number, ADS_MEMO);
    OK(AdsGetFieldLength(table, TEXT("paid"), &long_length));
    IS(long_length, 10);
    OK(AdsGetFieldDecimals(table, TEXT("PAID"), &number));
    IS(number, 2);
    IS(AdsGetFieldType(table, TEXT("NONE"), &number), AE_INVALID_FIELDNAME);
    IS(AdsGetFieldType(table, ADSFIELD(7), &number), AE_INVALID_FIELDNUMBER);

    OK(AdsGotoTop(table));
    SAME(text(table, "NAME", ADS_NONE), "Novak     ");
    SAME(text(table, "NAME", ADS_RTRIM), "Novak");
    OK(AdsGetDouble(table, TEXT("PAID"), &value));
    IS(value == 100.25, 1);
    OK(AdsGetLong(table, ADSFIELD(2), &whole));
    IS(whole, 100);
    OK(AdsGetLogical(table, TEXT("MALE"), &number));
    IS(number, ADS_FALSE);
    length = sizeof buffer;
    OK(AdsGetDate(table, TEXT("BORN"), buffer, &length));
    SAME(buffer, "1970-02-28");
    OK(AdsGetJulian(table, TEXT("BORN"), &whole));
    IS(whole, 2440646);
    long_length = 16;
    OK(AdsGetStringW(table, TEXT("NAME"), wide, &long_length, ADS_RTRIM));
    IS(long_length, 5);
    IS(wide[0], 'N');
    IS(wide[5], 0);

    /* A buffer that is too small says how large it has to be. */
    long_length = 3;
    IS(AdsGetString(table, TEXT("NAME"), buffer, &long_length, ADS_NONE), AE_INSUFFICIENT_BUFFER);
    IS(long_length >= 10, 1);

    /* Behind the end there is no record. */
    OK(AdsGotoRecord(table, 0));
    IS(eof(table), ADS_TRUE);
    long_length = sizeof buffer;
    IS(AdsGetString(table, TEXT("NAME"), buffer, &long_length, ADS_NONE), AE_NO_CURRENT_RECORD);
    IS(AdsGetDouble(table, TEXT("PAID"), &value), AE_NO_CURRENT_RECORD);
}

static void orders(ADSHANDLE table)
{
    ADSHANDLE by_name = 0, by_paid = 0, down = 0, found_order = 0;
    UNSIGNED8 buffer[64];
    UNSIGNED16 length, number = 77, found = 77;
    UNSIGNED32 key = 77;
    double place = 401;

    OK(AdsCreateIndex61(table, TEXT("walk.cdx"), TEXT("NAME"), TEXT("UPPER(NAME)"), NULL, NULL, ADS_COMPOUND, 0,
                        &by_name));
    OK(AdsCreateIndex61(table, TEXT("walk.cdx"), TEXT("PAID"), TEXT("PAID"), NULL, NULL, ADS_COMPOUND, 0, &by_paid));
    OK(AdsCreateIndex61(table, TEXT("walk.cdx"), TEXT("DOWN"), TEXT("NAME"), TEXT("PAID > 150"), NULL,
                        ADS_COMPOUND | ADS_DESCENDING, 0, &down));
    OK(AdsGetNumIndexes(table, &number));
    IS(number, 3);
    OK(AdsGetIndexHandle(table, TEXT("name"), &found_order));
    IS(found_order, by_name);
    OK(AdsGetIndexHandleByOrder(table, 2, &found_order));
    IS(found_order, by_paid);
    length = sizeof buffer;
    OK(AdsGetIndexExpr(by_name, buffer, &length));
    SAME(buffer, "UPPER(NAME)");
    length = sizeof buffer;
    OK(AdsGetIndexCondition(down, buffer, &length));
    SAME(buffer, "PAID > 150");
    OK(AdsIsIndexDescending(down, &number));
    IS(number, ADS_TRUE);
    OK(AdsIsIndexDescending(by_name, &number));
    IS(number, ADS_FALSE);
    OK(AdsGetKeyType(by_name, &number));
    IS(number, ADS_STRING);
    OK(AdsGetKeyType(by_paid, &number));
    IS(number, ADS_NUMERIC);

    OK(AdsGotoTop(by_name));
    SAME(text(table, "NAME", ADS_RTRIM), "adams");
    IS(rest(table, by_name), 6);
    OK(AdsGotoTop(down));
    SAME(text(table, "NAME", ADS_RTRIM), "adams");
    IS(rest(table, down), 5);

    OK(AdsSeek(by_name, TEXT("MERCER"), 6, ADS_STRINGKEY, ADS_HARDSEEK, &found));
    IS(found, ADS_TRUE);
    IS(record(table), 3);
    OK(AdsSeekLast(by_name, TEXT("MERCER"), 6, ADS_STRINGKEY, &found));
    IS(found, ADS_TRUE);
    IS(record(table), 4);
    OK(AdsSeek(by_name, TEXT("ME"), 2, ADS_STRINGKEY, ADS_HARDSEEK, &found));
    IS(found, ADS_TRUE);
    IS(record(table), 3);
    OK(AdsSeek(by_name, TEXT("N"), 1, ADS_STRINGKEY, ADS_SOFTSEEK, &found));
    IS(record(table), 1);
    OK(AdsSeek(by_name, TEXT("C"), 1, ADS_STRINGKEY, ADS_SOFTSEEK, &found));
    IS(found, ADS_FALSE);
    IS(record(table), 3);
    OK(AdsSeek(by_name, TEXT("X"), 1, ADS_STRINGKEY, ADS_HARDSEEK, &found));
    IS(found, ADS_FALSE);
    IS(eof(table), ADS_TRUE);
    OK(AdsSeek(by_paid, TEXT(&place), sizeof place, ADS_DOUBLEKEY, ADS_HARDSEEK, &found));
    IS(found, ADS_TRUE);
    IS(record(table), 4);
    OK(AdsIsFound(table, &number));
    IS(number, ADS_TRUE);
    OK(AdsGetKeyNum(by_paid, ADS_RESPECTFILTERS, &key));
    IS(key, 4);
    OK(AdsGetKeyCount(down, ADS_RESPECTFILTERS, &key));
    IS(key, 5);

    /* Many more keys than there are end at once. */
    OK(AdsGotoTop(by_name));
    OK(AdsSkipUnique(by_name, 2));
    SAME(text(table, "NAME", ADS_RTRIM), "Mercer");
    OK(AdsSkipUnique(by_name, 1));
    SAME(text(table, "NAME", ADS_RTRIM), "Novak");
    OK(AdsSkipUnique(by_name, -0x7fffffff - 1));
    IS(bof(table), ADS_TRUE);
    OK(AdsGotoTop(by_name));
    OK(AdsSkipUnique(by_name, 0x7fffffff));
    IS(eof(table), ADS_TRUE);

    /* Scopes. */
    length = sizeof buffer;
    IS(AdsGetScope(by_name, ADS_TOP, buffer, &length), AE_NO_SCOPE);
    OK(AdsSetScope(by_name, ADS_TOP, TEXT("B"), 1, ADS_STRINGKEY));
    OK(AdsSetScope(by_name, ADS_BOTTOM, TEXT("N"), 1, ADS_STRINGKEY));
    length = sizeof buffer;
    OK(AdsGetScope(by_name, ADS_TOP, buffer, &length));
    IS(length, 1);
    IS(buffer[0], 'B');
    OK(AdsGotoTop(by_name));
    SAME(text(table, "NAME", ADS_RTRIM), "Baker");
    IS(rest(table, by_name), 4);
    OK(AdsGetKeyCount(by_name, ADS_RESPECTSCOPES, &key));
    IS(key, 4);
    OK(AdsClearScope(by_name, ADS_TOP));
    OK(AdsClearScope(by_name, ADS_BOTTOM));
    length = sizeof buffer;
    IS(AdsGetScope(by_name, ADS_BOTTOM, buffer, &length), AE_NO_SCOPE);

    /* Orders are handles of their own; a table is no order. */
    IS(AdsGetIndexExpr(table, buffer, &length), AE_INVALID_INDEX_HANDLE);
}

static void filters(ADSHANDLE table)
{
    UNSIGNED8 buffer[64];
    UNSIGNED16 length, level = 77, answer = 77;
    UNSIGNED32 numbers[2] = {1, 2};

    length = sizeof buffer;
    IS(AdsGetFilter(table, buffer, &length), AE_NO_FILTER);
    OK(AdsSetFilter(table, TEXT("PAID > 300")));
    OK(AdsGotoTop(table));
    IS(record(table), 3);
    IS(rest(table, table), 4);
    length = sizeof buffer;
    OK(AdsGetFilter(table, buffer, &length));
    SAME(buffer, "PAID > 300");
    OK(AdsClearFilter(table));

    OK(AdsSetAOF(table, TEXT("PAID > 300"), ADS_RESOLVE_IMMEDIATE));
    IS(count(table, ADS_RESPECTFILTERS), 4);
    length = sizeof buffer;
    OK(AdsGetAOFOptLevel(table, &level, buffer, &length));
    IS(level, ADS_OPTIMIZED_FULL);
    OK(AdsCustomizeAOF(table, 2, numbers, ADS_AOF_ADD_RECORD));
    IS(count(table, ADS_RESPECTFILTERS), 6);
    OK(AdsCustomizeAOF(table, 1, numbers, ADS_AOF_REMOVE_RECORD));
    OK(AdsIsRecordInAOF(table, 1, &answer));
    IS(answer, ADS_FALSE);
    OK(AdsGotoTop(table));
    IS(record(table), 2);
    OK(AdsClearAOF(table));
    IS(count(table, ADS_RESPECTFILTERS), 6);
    IS(AdsSetAOF(table, TEXT("NOSUCH = 1"), ADS_RESOLVE_IMMEDIATE) != AE_SUCCESS, 1);
    OK(AdsEvalAOF(table, TEXT("PAID = 1"), &level));
    IS(level, ADS_OPTIMIZED_FULL);
    OK(AdsIsExprValid(table, TEXT("PAID + 1"), &answer));
    IS(answer, ADS_TRUE);
    OK(AdsIsExprValid(table, TEXT("PAID +"), &answer));
    IS(answer, ADS_FALSE);
}

static void append(ADSHANDLE table, const char *name)
{
    OK(AdsAppendRecord(table));
    set(table, "NAME", name);
    OK(AdsWriteAllRecords());
}

static void change(ADSHANDLE table, UNSIGNED32 number, const char *name)
{
    OK(AdsGotoRecord(table, number));
    set(table, "NAME", name);
    OK(AdsWriteAllRecords());
}

/* Scopes of an order of several pages whose cursor has not been moved since a record came. */
static void scopes_over_new_records(ADSHANDLE connection)
{
    ADSHANDLE table, order;
    char name[5];
    int number;

    OK(AdsCreateTable(connection, TEXT("scoped"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("NAME,Character,4"), &table));
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 512, &order));
    for (number = 0; number < 400; number++) {
        sprintf(name, "%04d", number * 7 % 400);
        append(table, name);
    }
    OK(AdsSetAOF(table, TEXT("NAME <> 'y'"), ADS_RESOLVE_IMMEDIATE));
    OK(AdsGotoTop(order));
    change(table, 1, "yes");
    OK(AdsGotoTop(order));
    append(table, "zero");
    OK(AdsSetScope(order, ADS_TOP, TEXT("0390"), 4, ADS_STRINGKEY));
    OK(AdsGotoTop(order));
    IS(rest(table, order), 11);
    change(table, 2, "you");
    OK(AdsGotoTop(order));
    append(table, "zone");
    OK(AdsClearScope(order, ADS_TOP));
    OK(AdsGotoTop(order));
    IS(rest(table, order), 400);
    OK(AdsCloseTable(table));
}

static void records(ADSHANDLE table)
{
    UNSIGNED8 buffer[128];
    UNSIGNED16 answer = 77, length;
    UNSIGNED32 long_length, locks[4];

    OK(AdsGotoRecord(table, 2));
    OK(AdsLockRecord(table, 0));
    OK(AdsIsRecordLocked(table, 2, &answer));
    IS(answer, ADS_TRUE);
    OK(AdsGetNumLocks(table, &answer));
    IS(answer, 1);
    length = 4;
    OK(AdsGetAllLocks(table, locks, &length));
    IS(length, 1);
    IS(locks[0], 2);
    set(table, "NAME", "Zola");
    OK(AdsWriteRecord(table));
    OK(AdsUnlockRecord(table, 2));
    SAME(text(table, "NAME", ADS_RTRIM), "Zola");

    OK(AdsDeleteRecord(table));
    OK(AdsIsRecordDeleted(table, &answer));
    IS(answer, ADS_TRUE);
    OK(AdsShowDeleted(ADS_FALSE));
    OK(AdsGotoTop(table));
    OK(AdsSkip(table, 1));
    IS(record(table), 3);
    OK(AdsShowDeleted(ADS_TRUE));
    OK(AdsGotoRecord(table, 2));
    OK(AdsRecallRecord(table));
    OK(AdsIsRecordDeleted(table, &answer));
    IS(answer, ADS_FALSE);

    long_length = sizeof buffer;
    OK(AdsGetRecord(table, buffer, &long_length));
    IS(buffer[0], ' ');
    IS(memcmp(buffer + 1, "Zola      ", 10), 0);
    memcpy(buffer + 1, "adams     ", 10);
    OK(AdsSetRecord(table, buffer, long_length));
    OK(AdsWriteRecord(table));
    SAME(text(table, "NAME", ADS_RTRIM), "adams");
}

static void memos(ADSHANDLE table)
{
    UNSIGNED8 buffer[256], bytes[4] = {0, 1, 2, 255};
    UNSIGNED32 length = 77;

    OK(AdsGotoRecord(table, 5));
    set(table, "NOTE", "a note that is longer than a field of this table would hold");
    OK(AdsSetBinary(table, TEXT("PIC"), ADS_BINARY, sizeof bytes, 0, bytes, sizeof bytes));
    OK(AdsWriteRecord(table));
    OK(AdsGetMemoLength(table, TEXT("NOTE"), &length));
    IS(length, 59);
    SAME(text(table, "NOTE", ADS_NONE), "a note that is longer than a field of this table would hold");
    OK(AdsGetBinaryLength(table, TEXT("PIC"), &length));
    IS(length, 4);
    length = sizeof buffer;
    OK(AdsGetBinary(table, TEXT("PIC"), 1, buffer, &length));
    IS(length, 3);
    IS(memcmp(buffer, bytes + 1, 3), 0);
}

static void transactions(ADSHANDLE connection, ADSHANDLE table)
{
    UNSIGNED16 answer = 77;
    UNSIGNED32 depth = 77;

    OK(AdsBeginTransaction(connection));
    OK(AdsInTransaction(connection, &answer));
    IS(answer, ADS_TRUE);
    OK(AdsGotoRecord(table, 1));
    set(table, "NAME", "Changed");
    OK(AdsAppendRecord(table));
    set(table, "NAME", "New");
    OK(AdsWriteRecord(table));
    IS(count(table, ADS_IGNOREFILTERS), 7);
    OK(AdsRollbackTransaction(connection));
    OK(AdsInTransaction(connection, &answer));
    IS(answer, ADS_FALSE);
    OK(AdsGotoRecord(table, 1));
    SAME(text(table, "NAME", ADS_RTRIM), "Novak");

    OK(AdsBeginTransaction(connection));
    set(table, "NAME", "Kept");
    OK(AdsWriteRecord(table));
    OK(AdsCommitTransaction(connection));
    SAME(text(table, "NAME", ADS_RTRIM), "Kept");
    IS(AdsCommitTransaction(connection), AE_TRANS_OUT_OF_SEQUENCE);

    /* One within another only counts: the end of the outermost keeps what was done. */
    OK(AdsBeginTransaction(connection));
    OK(AdsBeginTransaction(connection));
    set(table, "NAME", "Deep");
    OK(AdsWriteRecord(table));
    OK(AdsGetTransactionCount(connection, &depth));
    IS(depth, 2);
    OK(AdsCommitTransaction(connection));
    OK(AdsGetTransactionCount(connection, &depth));
    IS(depth, 1);
    OK(AdsRollbackTransaction(connection));
    SAME(text(table, "NAME", ADS_RTRIM), "Kept");
    OK(AdsGetTransactionCount(connection, &depth));
    IS(depth, 0);
    OK(AdsBeginTransaction(connection));
    OK(AdsBeginTransaction(connection));
    set(table, "NAME", "Deep");
    OK(AdsCommitTransaction(connection));
    OK(AdsCommitTransaction(connection));
    SAME(text(table, "NAME", ADS_RTRIM), "Deep");
    IS(AdsCommitTransaction(connection), AE_TRANS_OUT_OF_SEQUENCE);

    OK(AdsBeginTransaction(connection));
    set(table, "NAME", "One");
    OK(AdsWriteRecord(table));
    OK(AdsCreateSavepoint(connection, TEXT("half"), ADS_DEFAULT));
    set(table, "NAME", "Two");
    OK(AdsWriteRecord(table));
    OK(AdsRollbackTransaction80(connection, TEXT("half"), ADS_DEFAULT));
    SAME(text(table, "NAME", ADS_RTRIM), "One");
    OK(AdsInTransaction(connection, &answer));
    IS(answer, ADS_TRUE);
    OK(AdsCommitTransaction(connection));
    SAME(text(table, "NAME", ADS_RTRIM), "One");
}

static void reopen(ADSHANDLE connection)
{
    ADSHANDLE table = 0, order = 0, search = 0;
    UNSIGNED8 name[ADS_MAX_PATH + 1];
    UNSIGNED16 length, number = 77;
    UNSIGNED32 code, found = 0;

    /* The index of the table's name opens with it. Backslashes and letters of either case are as good. */
    OK(AdsOpenTable(connection, TEXT(".\\WALK.DBF"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_EXCLUSIVE, &table));
    OK(AdsGetNumIndexes(table, &number));
    IS(number, 3);
    OK(AdsGetIndexHandle(table, TEXT("NAME"), &order));
    OK(AdsGotoTop(order));
    SAME(text(table, "NAME", ADS_RTRIM), "adams");
    length = sizeof name;
    OK(AdsGetTableFilename(table, ADS_BASENAME, name, &length));
    IS(strcmp((char *) name, "walk") == 0 || strcmp((char *) name, "WALK") == 0, 1);
    OK(AdsGetHandleType(table, &number));
    IS(number, ADS_TABLE);
    OK(AdsGetHandleType(order, &number));
    IS(number, ADS_INDEX_ORDER);
    OK(AdsGetHandleType(connection, &number));
    IS(number, ADS_CONNECTION);

    OK(AdsGotoRecord(table, 3));
    OK(AdsDeleteRecord(table));
    OK(AdsPackTable(table));
    IS(count(table, ADS_IGNOREFILTERS) <= 6, 1);
    OK(AdsReindex(table));
    OK(AdsZapTable(table));
    IS(count(table, ADS_IGNOREFILTERS), 0);
    OK(AdsCloseTable(table));

    length = sizeof name;
    for (code = AdsFindFirstTable(connection, TEXT("*.dbf"), name, &length, &search); code == AE_SUCCESS;
         code = AdsFindNextTable(connection, search, name, &length)) {
        found++;
        length = sizeof name;
    }
    IS(code, AE_NO_FILE_FOUND);
    IS(found, 2);
    OK(AdsFindClose(connection, search));

    /* A handle that is closed, one of another kind, and none at all. */
    IS(AdsGotoTop(table) != AE_SUCCESS, 1);
    IS(AdsGotoTop(connection) != AE_SUCCESS, 1);
    IS(AdsGotoTop(0) != AE_SUCCESS, 1);
    IS(AdsCloseTable(table), AE_INVALID_TABLE_HANDLE);
    IS(AdsOpenTable(connection, TEXT("nosuch.dbf"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_SHARED, &table) != AE_SUCCESS, 1);
    IS(AdsOpenTable(connection, NULL, NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &table), AE_INVALID_POINTER);
}

int main(int arguments, char **argument)
{
    ADSHANDLE connection = 0, table;

    if (arguments != 2)
        return 2;
    OK(AdsSetServerType(ADS_LOCAL_SERVER));
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    settings();
    empty_table(connection);
    ends(connection);
    table = make(connection);
    fields(table);
    orders(table);
    filters(table);
    OK(AdsCloseTable(table));

    OK(AdsOpenTable(connection, TEXT("walk"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_SHARED, &table));
    records(table);
    memos(table);
    transactions(connection, table);
    OK(AdsCloseTable(table));
    reopen(connection);
    scopes_over_new_records(connection);
    OK(AdsDisconnect(connection));
    IS(AdsDisconnect(connection), AE_INVALID_CONNECTION_HANDLE);
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
