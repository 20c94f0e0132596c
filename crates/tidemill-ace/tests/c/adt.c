/*
 * Advantage's own tables: every type of field with its NULL, deleted records that are gone, orders of several parts, filters,
 * transactions, statements, copies to other types and from them. Argument: an empty folder.
 */

#include "check.h"

enum { DUPLICATE = 7057, JULIAN_2024 = 2460311 };

static ADSHANDLE connection, table;

static ADSHANDLE create(const char *name, UNSIGNED16 type, const char *fields)
{
    ADSHANDLE made = 0;
    OK(AdsCreateTable90(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_PROPRIETARY_LOCKING, ADS_IGNORERIGHTS, 0, TEXT(fields),
                        ADS_FREE_TABLE, NULL, &made));
    return made;
}

static UNSIGNED32 open_as(const char *name, UNSIGNED16 type, UNSIGNED32 mode, ADSHANDLE *opened)
{
    return AdsOpenTable90(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_PROPRIETARY_LOCKING, ADS_IGNORERIGHTS, mode, NULL,
                          opened);
}

static UNSIGNED32 set(ADSHANDLE of, const char *field, const char *text)
{
    return AdsSetString(of, TEXT(field), TEXT(text), LENGTH(text));
}

static UNSIGNED32 counted(ADSHANDLE of, UNSIGNED16 how)
{
    UNSIGNED32 count = 77;
    OK(AdsGetRecordCount(of, how, &count));
    return count;
}

static UNSIGNED32 number(ADSHANDLE of)
{
    UNSIGNED32 record = 77;
    OK(AdsGetRecordNum(of, ADS_IGNOREFILTERS, &record));
    return record;
}

/* Whether a field is empty, and whether it is NULL: of an ADT both are one. */
static int blank(ADSHANDLE of, const char *field)
{
    UNSIGNED16 is_empty = 77, is_null = 77;
    OK(AdsIsEmpty(of, TEXT(field), &is_empty));
    OK(AdsIsNull(of, TEXT(field), &is_null));
    return is_empty * 10 + is_null;
}

static const char FIELDS[] =
    "Last Name,Character,10;ci,CICharacter,6;n,Numeric,8,2;day,Date;at,Time;stamp,Timestamp;i,Integer;s,ShortInt;l,LongInt;"
    "d,Double,10,3;cur,CurDouble,2;price,Money;code,Raw,4;wide,NChar,8;wnote,NMemo;note,Memo;bytes,Binary;picture,Image;"
    "ok,Logical;id,AutoIncrement;version,RowVersion;changed,ModTime";

static void fields(void)
{
    static const struct {
        const char *name;
        UNSIGNED16 type;
        UNSIGNED32 length;
        UNSIGNED16 decimals, can_be_null;
    } expected[] = {
        {"Last Name", ADS_STRING, 10, 0, 1},    {"ci", ADS_CISTRING, 6, 0, 1},      {"n", ADS_NUMERIC, 8, 2, 1},
        {"day", ADS_DATE, 4, 0, 1},             {"at", ADS_TIME, 4, 0, 1},          {"stamp", ADS_TIMESTAMP, 8, 0, 1},
        {"i", ADS_INTEGER, 4, 0, 1},            {"s", ADS_SHORTINT, 2, 0, 1},       {"l", ADS_LONGLONG, 8, 0, 1},
        {"d", ADS_DOUBLE, 8, 3, 1},             {"cur", ADS_CURDOUBLE, 8, 2, 1},    {"price", ADS_MONEY, 8, 4, 1},
        {"code", ADS_RAW, 4, 0, 1},             {"wide", ADS_NCHAR, 8, 0, 1},       {"wnote", ADS_NMEMO, 9, 0, 1},
        {"note", ADS_MEMO, 9, 0, 1},            {"bytes", ADS_BINARY, 9, 0, 1},     {"picture", ADS_IMAGE, 9, 0, 1},
        {"ok", ADS_LOGICAL, 1, 0, 1},           {"id", ADS_AUTOINC, 4, 0, 0},       {"version", ADS_ROWVERSION, 8, 0, 0},
        {"changed", ADS_MODTIME, 8, 0, 0},
    };
    UNSIGNED16 type = 77, decimals = 77, can = 77, count = 77, length16;
    UNSIGNED32 length = 77;
    UNSIGNED8 name[ADS_MAX_FIELD_NAME + 1];
    unsigned at;

    table = create("all", ADS_ADT, FIELDS);
    OK(AdsGetTableType(table, &type));
    IS(type, ADS_ADT);
    OK(AdsGetNumFields(table, &count));
    IS(count, sizeof expected / sizeof *expected);
    OK(AdsAppendRecord(table));
    for (at = 0; at < sizeof expected / sizeof *expected; at++) {
        UNSIGNED8 *field = TEXT(expected[at].name);
        length16 = sizeof name;
        OK(AdsGetFieldName(table, (UNSIGNED16) (at + 1), name, &length16));
        SAME(name, expected[at].name);
        OK(AdsGetFieldType(table, field, &type));
        IS(type, expected[at].type);
        OK(AdsGetFieldLength(table, field, &length));
        IS(length, expected[at].length);
        OK(AdsGetFieldDecimals(table, field, &decimals));
        IS(decimals, expected[at].decimals);
        OK(AdsIsNullable(table, field, &can));
        IS(can, expected[at].can_be_null);
        /* A record that is appended has nothing but what the table gives it. */
        IS(blank(table, expected[at].name), expected[at].can_be_null ? 11 : 0);
    }
    length16 = sizeof name;
    OK(AdsGetTableFilename(table, ADS_BASENAMEANDEXT, name, &length16));
    SAME(name, "all.adt");
}

/* NULL reads as nothing, blanks, 0. */
static void nothing(void)
{
    UNSIGNED8 buffer[40];
    UNSIGNED32 length = sizeof buffer;
    SIGNED64 large = 77;
    SIGNED32 whole = 77;
    double real = 77;
    UNSIGNED16 is_true = 77;

    OK(AdsGetString(table, TEXT("Last Name"), buffer, &length, ADS_NONE));
    IS(length, 10);
    SAME(buffer, "          ");
    OK(AdsGetLongLong(table, TEXT("l"), &large));
    IS(large, 0);
    OK(AdsGetMoney(table, TEXT("price"), &large));
    IS(large, 0);
    OK(AdsGetLong(table, TEXT("i"), &whole));
    IS(whole, 0);
    OK(AdsGetDouble(table, TEXT("d"), &real));
    IS(real == 0, 1);
    OK(AdsGetDouble(table, TEXT("n"), &real));
    IS(real == 0, 1);
    OK(AdsGetJulian(table, TEXT("day"), &whole));
    IS(whole, 0);
    OK(AdsGetMilliseconds(table, TEXT("at"), &whole));
    IS(whole, 0);
    OK(AdsGetLogical(table, TEXT("ok"), &is_true));
    IS(is_true, 0);
    OK(AdsGetMemoLength(table, TEXT("note"), &length));
    IS(length, 0);
    SAME(trimmed(table, "day"), "");
    SAME(trimmed(table, "i"), "");
}

static void values(void)
{
    static const char *const set_to_null[] = {"Last Name", "ci", "n", "day", "at", "stamp", "i", "s", "l", "d", "cur", "price",
                                              "code", "wide", "wnote", "note", "bytes", "picture", "ok"};
    SIGNED64 large = 77;
    SIGNED32 whole = 77;
    SIGNED16 small = 77;
    double real = 77;
    UNSIGNED8 bytes[40];
    UNSIGNED32 length = sizeof bytes;
    UNSIGNED16 is_true = 77, type = 77;
    WCHAR units[20];
    unsigned at;

    OK(set(table, "Last Name", "Novak"));
    OK(set(table, "ci", "MiXed"));
    OK(set(table, "n", "-1234.56"));
    IS(set(table, "n", "-123456.78"), AE_DATA_TOO_LONG);
    OK(AdsSetJulian(table, TEXT("day"), JULIAN_2024));
    OK(set(table, "at", "01:30:15 PM"));
    OK(set(table, "stamp", "2024-01-01 10:20:30 AM"));
    OK(AdsSetLong(table, TEXT("i"), -2147483647));
    OK(AdsSetShort(table, TEXT("s"), -32767));
    OK(AdsSetLongLong(table, TEXT("l"), 9007199254740993LL));
    OK(AdsSetDouble(table, TEXT("d"), 0.125));
    OK(AdsSetDouble(table, TEXT("cur"), 19.5));
    OK(AdsSetMoney(table, TEXT("price"), 123456));
    OK(AdsSetFieldRaw(table, TEXT("code"), TEXT("\1\0\2\3"), 4));
    OK(AdsSetStringW(table, TEXT("wide"), utf16("wide"), 4));
    OK(set(table, "wnote", "wide n\xf6te"));
    OK(set(table, "note", "a memo"));
    OK(AdsSetBinary(table, TEXT("bytes"), ADS_BINARY, 5, 0, TEXT("\0by\xfft"), 5));
    OK(AdsSetBinary(table, TEXT("picture"), ADS_IMAGE, 2, 0, TEXT("BM"), 2));
    OK(AdsSetLogical(table, TEXT("ok"), 1));
    OK(AdsWriteRecord(table));
    OK(AdsGotoRecord(table, 1));

    SAME(trimmed(table, "Last Name"), "Novak");
    SAME(trimmed(table, "ci"), "MiXed");
    SAME(trimmed(table, "n"), "-1234.56");
    SAME(trimmed(table, "day"), "2024-01-01");
    SAME(trimmed(table, "at"), "01:30:15 PM");
    SAME(trimmed(table, "stamp"), "2024-01-01 10:20:30 AM");
    OK(AdsGetLong(table, TEXT("i"), &whole));
    IS(whole, -2147483647);
    OK(AdsGetShort(table, TEXT("s"), &small));
    IS(small, -32767);
    OK(AdsGetLongLong(table, TEXT("l"), &large));
    IS(large == 9007199254740993LL, 1);
    OK(AdsGetDouble(table, TEXT("d"), &real));
    IS(real == 0.125, 1);
    OK(AdsGetDouble(table, TEXT("cur"), &real));
    IS(real == 19.5, 1);
    OK(AdsGetMoney(table, TEXT("price"), &large));
    IS(large, 123456);
    OK(AdsGetFieldRaw(table, TEXT("code"), bytes, &length));
    IS(memcmp(bytes, "\1\0\2\3", 4), 0);
    SAME(trimmed(table, "wide"), "wide");
    length = 20;
    OK(AdsGetFieldW(table, TEXT("wide"), units, &length, ADS_TRIM));
    IS(length, 4);
    SAME(trimmed(table, "wnote"), "wide n\xf6te");
    OK(AdsGetMemoDataType(table, TEXT("wnote"), &type));
    IS(type, ADS_NMEMO);
    SAME(trimmed(table, "note"), "a memo");
    length = sizeof bytes;
    OK(AdsGetBinary(table, TEXT("bytes"), 0, bytes, &length));
    IS(length, 5);
    IS(memcmp(bytes, "\0by\xfft", 5), 0);
    OK(AdsGetBinaryLength(table, TEXT("picture"), &length));
    IS(length, 2);
    OK(AdsGetLogical(table, TEXT("ok"), &is_true));
    IS(is_true, 1);
    SAME(trimmed(table, "id"), "1");
    OK(AdsGetLongLong(table, TEXT("version"), &large));
    IS(large > 0, 1);
    IS(blank(table, "changed"), 0);
    OK(AdsGetLastAutoinc(table, &length));
    IS(length, 1);

    /* Empty is not NULL of a text, and a number that NULL is has no other meaning. */
    OK(set(table, "Last Name", ""));
    IS(blank(table, "Last Name"), 0);
    IS(AdsSetShort(table, TEXT("s"), -32768), AE_DATA_TOO_LONG);
    IS(AdsSetLong(table, TEXT("s"), 40000), AE_DATA_TOO_LONG);
    IS(AdsSetLong(table, TEXT("id"), 40) != AE_SUCCESS, 1);
    for (at = 0; at < sizeof set_to_null / sizeof *set_to_null; at++) {
        UNSIGNED8 *field = TEXT(set_to_null[at]);
        OK(at % 2 ? AdsSetNull(table, field) : AdsSetEmpty(table, field));
        IS(blank(table, set_to_null[at]), 11);
    }
    OK(AdsWriteRecord(table));
    OK(AdsGotoRecord(table, 1));
    for (at = 0; at < sizeof set_to_null / sizeof *set_to_null; at++)
        IS(blank(table, set_to_null[at]), 11);
    IS(AdsSetNull(table, TEXT("id")), AE_COLUMN_CANNOT_BE_NULL);
    IS(AdsSetEmpty(table, TEXT("version")), AE_COLUMN_CANNOT_BE_NULL);
    OK(AdsCancelUpdate(table));
    OK(AdsCloseTable(table));
}

static void append(const char *name, const char *city, SIGNED32 year)
{
    OK(AdsAppendRecord(table));
    OK(set(table, "Last Name", name));
    if (city)
        OK(set(table, "City", city));
    if (year)
        OK(AdsSetLong(table, TEXT("year"), year));
    OK(AdsWriteRecord(table));
}

static ADSHANDLE order(const char *tag, const char *expression, const char *condition, UNSIGNED32 options)
{
    ADSHANDLE made = 0;
    OK(AdsCreateIndex90(table, NULL, TEXT(tag), TEXT(expression), TEXT(condition), NULL, ADS_COMPOUND | options, 512, NULL, &made));
    return made;
}

/* The numbers of the records of an order, one after the other. */
static const char *walk(ADSHANDLE along)
{
    static char numbers[200];
    UNSIGNED16 is_end = 0;

    numbers[0] = 0;
    OK(AdsGotoTop(along));
    for (;;) {
        OK(AdsAtEOF(table, &is_end));
        if (is_end)
            return numbers;
        sprintf(numbers + strlen(numbers), "%lu ", (unsigned long) number(table));
        OK(AdsSkip(along, 1));
    }
}

static UNSIGNED16 sought(ADSHANDLE along, const char *key, UNSIGNED16 kind)
{
    UNSIGNED16 is_found = 77;
    OK(AdsSeek(along, TEXT(key), (UNSIGNED16) strlen(key), ADS_STRINGKEY, kind, &is_found));
    return is_found;
}

static void orders(void)
{
    ADSHANDLE by_name, by_city, by_year, open, again[8], late;
    UNSIGNED8 text[200], key[ADS_MAX_KEY_LENGTH];
    UNSIGNED16 length = sizeof text, is_true = 77, is_found = 77, segments = 77;
    UNSIGNED32 count = 77;
    double year = 1990;

    table = create("people", ADS_ADT, "Last Name,Char,12;City,CIChar,10;year,Integer;id,AutoInc;note,Memo");
    append("Novak", "Praha", 1990);
    append("Adam", "BRNO", 1985);
    append("Zeman", NULL, 1990);
    append("Novak", "Brno", 0);
    append("Baker", "Oslo", 2001);
    IS(counted(table, ADS_IGNOREFILTERS), 5);

    by_name = order("BYNAME", "Last Name;year", "", 0);
    by_city = order("BYCITY", "City", "", 0);
    by_year = order("BYYEAR", "year", "year > 1988", ADS_DESCENDING);
    OK(AdsGetIndexExpr(by_name, text, &length));
    SAME(text, "Last Name;year");
    length = sizeof text;
    OK(AdsGetIndexCondition(by_year, text, &length));
    SAME(text, "year > 1988");
    OK(AdsGetNumSegments(by_name, &segments));
    IS(segments, 2);
    SAME(walk(by_name), "2 5 4 1 3 ");
    SAME(walk(by_city), "3 2 4 5 1 ");
    SAME(walk(by_year), "5 3 1 ");
    IS(sought(by_city, "brno", ADS_HARDSEEK), 1);
    IS(number(table), 2);
    IS(sought(by_city, "bRNo", ADS_HARDSEEK), 1);
    IS(sought(by_name, "Nov", ADS_SOFTSEEK), 1);
    IS(number(table), 4);
    IS(sought(by_name, "Kafka", ADS_SOFTSEEK), 0);
    IS(number(table), 4);

    /* A key of the parts that are set, and of all of them. */
    OK(AdsInitRawKey(by_name));
    OK(AdsSetString(by_name, TEXT("Last Name"), TEXT("Novak       "), 12));
    OK(AdsSetLong(by_name, TEXT("year"), 1990));
    length = sizeof key;
    OK(AdsBuildRawKey(by_name, key, &length));
    IS(length, 20);
    OK(AdsSeek(by_name, key, length, ADS_RAWKEY, ADS_HARDSEEK, &is_found));
    IS(is_found, 1);
    IS(number(table), 1);

    OK(AdsSetScope(by_year, ADS_TOP, (UNSIGNED8 *) &year, sizeof year, ADS_DOUBLEKEY));
    OK(AdsSetScope(by_year, ADS_BOTTOM, (UNSIGNED8 *) &year, sizeof year, ADS_DOUBLEKEY));
    SAME(walk(by_year), "3 1 ");
    OK(AdsGetKeyCount(by_year, ADS_RESPECTSCOPES, &count));
    IS(count, 2);
    OK(AdsClearScope(by_year, ADS_TOP));
    OK(AdsClearScope(by_year, ADS_BOTTOM));

    /* No record of NULL is like another value, and who asks for NULL gets it. */
    OK(AdsSetAOF(table, TEXT("year < 2000"), ADS_RESOLVE_IMMEDIATE));
    SAME(walk(table), "1 2 3 ");
    OK(AdsSetAOF(table, TEXT("ISNULL(year) .OR. ISNULL(City)"), ADS_RESOLVE_IMMEDIATE));
    SAME(walk(table), "3 4 ");
    OK(AdsClearAOF(table));

    /* A unique order refuses a second record with a key; NULL is a key as others are. */
    open = order("BYID", "id", "", ADS_UNIQUE);
    OK(AdsIsIndexUnique(open, &is_true));
    IS(is_true, 1);
    IS(AdsCreateIndex61(table, NULL, TEXT("BAD"), TEXT("Last Name"), NULL, NULL, ADS_COMPOUND | ADS_UNIQUE, 0, &late), 7059);
    open = order("ONEYEAR", "Last Name;year", "", ADS_UNIQUE);
    OK(AdsAppendRecord(table));
    OK(set(table, "Last Name", "Adam"));
    OK(AdsSetLong(table, TEXT("year"), 1985));
    IS(AdsWriteRecord(table), DUPLICATE);
    OK(AdsSetLong(table, TEXT("year"), 1986));
    OK(AdsWriteRecord(table));
    IS(counted(table, ADS_IGNOREFILTERS), 6);

    /* The index of its name opens with the table; orders change with it. */
    OK(AdsCloseTable(table));
    OK(open_as("people", ADS_ADT, ADS_EXCLUSIVE, &table));
    OK(AdsGetNumIndexes(table, &segments));
    IS(segments, 5);
    OK(AdsGetIndexHandle(table, TEXT("BYCITY"), &by_city));
    OK(AdsGotoRecord(table, 5));
    OK(set(table, "City", "aachen"));
    OK(AdsWriteRecord(table));
    SAME(walk(by_city), "3 6 5 2 4 1 ");
    OK(AdsReindex(table));
    SAME(walk(by_city), "3 6 5 2 4 1 ");
    length = 8;
    OK(AdsGetAllIndexes(table, again, &length));
    IS(length, 5);
    OK(AdsGetIndexHandle(table, TEXT("ONEYEAR"), &late));
    OK(AdsDeleteIndex(late));

    /* An index file of another name is opened by hand. */
    OK(AdsCreateIndex61(table, TEXT("other"), TEXT("UPNAME"), TEXT("UPPER(Last Name)"), NULL, NULL, ADS_COMPOUND, 1024, &late));
    length = sizeof text;
    OK(AdsGetIndexFilename(late, ADS_BASENAMEANDEXT, text, &length));
    SAME(text, "other.adi");
    OK(AdsCloseIndex(late));
    length = 8;
    OK(AdsOpenIndex(table, TEXT("other"), again, &length));
    IS(length, 1);
    SAME(walk(again[0]), "2 6 5 1 4 3 ");
    OK(AdsCloseIndex(again[0]));
}

/* Keys of amounts and of whole numbers of 64 bits are no doubles. */
static void amounts(void)
{
    ADSHANDLE by_price, by_number;
    double price = -2.5, whole = 5000000000.0;
    UNSIGNED16 is_found = 77;

    table = create("amounts", ADS_ADT, "price,Money;number,LongInt;id,AutoIncrement,67");
    OK(AdsAppendRecord(table));
    SAME(trimmed(table, "id"), "67");
    OK(AdsSetMoney(table, TEXT("price"), 99000));
    OK(AdsSetLongLong(table, TEXT("number"), 5000000000LL));
    OK(AdsAppendRecord(table));
    OK(AdsSetMoney(table, TEXT("price"), -25000));
    OK(AdsSetLongLong(table, TEXT("number"), -1));
    OK(AdsAppendRecord(table));
    OK(AdsWriteRecord(table));
    SAME(trimmed(table, "id"), "69");
    by_price = order("PRICE", "price", "", 0);
    by_number = order("NUMBER", "number", "", ADS_DESCENDING);
    SAME(walk(by_price), "3 2 1 ");
    SAME(walk(by_number), "1 2 3 ");
    OK(AdsSeek(by_price, (UNSIGNED8 *) &price, sizeof price, ADS_DOUBLEKEY, ADS_HARDSEEK, &is_found));
    IS(is_found, 1);
    IS(number(table), 2);
    OK(AdsSeek(by_number, (UNSIGNED8 *) &whole, sizeof whole, ADS_DOUBLEKEY, ADS_HARDSEEK, &is_found));
    IS(is_found, 1);
    IS(number(table), 1);
    OK(AdsCloseTable(table));
}

static void stamp(UNSIGNED32 ms, const char *stamp)
{
    OK(AdsAppendRecord(table));
    OK(AdsSetMilliseconds(table, TEXT("at"), (SIGNED32) ms));
    OK(AdsSetField(table, TEXT("stamp"), TEXT(stamp), LENGTH(stamp)));
    OK(AdsWriteRecord(table));
}

/* A time is sought as text or as milliseconds, a timestamp as a date with a time. */
static void moments(void)
{
    const double hour = 3600000, never = 86400000;
    ADSHANDLE by_time, by_stamp;
    UNSIGNED16 is_found = 77;

    table = create("moments", ADS_ADT, "at,Time;stamp,TimeStamp");
    stamp(45000000, "2024-02-29 12:30:00");
    stamp(3600000, "2024-02-29 15:25:00");
    stamp(0, "2024-03-01");
    by_time = order("ATTIME", "at", "", 0);
    by_stamp = order("ATSTAMP", "stamp", "", 0);
    SAME(walk(by_time), "3 2 1 ");
    IS(sought(by_time, "12:30:00 PM", ADS_HARDSEEK), 1);
    IS(number(table), 1);
    IS(sought(by_time, "12:30", ADS_HARDSEEK), 1);
    IS(sought(by_time, "00:30", ADS_SOFTSEEK), 0);
    IS(number(table), 2);
    OK(AdsSeek(by_time, (UNSIGNED8 *) &hour, sizeof hour, ADS_DOUBLEKEY, ADS_HARDSEEK, &is_found));
    IS(is_found, 1);
    IS(number(table), 2);
    IS(AdsSeek(by_time, (UNSIGNED8 *) &never, sizeof never, ADS_DOUBLEKEY, ADS_HARDSEEK, &is_found), AE_INVALID_VALUE);
    OK(AdsSetScope(by_time, ADS_TOP, TEXT("01:00:00"), 8, ADS_STRINGKEY));
    SAME(walk(by_time), "2 1 ");
    IS(sought(by_stamp, "2024-02-29 3:25pm", ADS_HARDSEEK), 1);
    IS(number(table), 2);
    IS(sought(by_stamp, "2024-02-29 12:30:01", ADS_SOFTSEEK), 0);
    IS(number(table), 2);
    IS(sought(by_stamp, "20240301", ADS_HARDSEEK), 1);
    IS(number(table), 3);
    OK(AdsCloseTable(table));
}

/* What is deleted is gone once it is written, and its place is the next record's. */
static void deletions(void)
{
    ADSHANDLE by_name = 0;
    UNSIGNED16 is_deleted = 77, is_shown = 77, is_locked = 77;

    OK(AdsShowDeleted(1));
    OK(AdsGetIndexHandle(table, TEXT("BYNAME"), &by_name));
    OK(AdsGotoRecord(table, 2));
    OK(AdsDeleteRecord(table));
    OK(AdsIsRecordDeleted(table, &is_deleted));
    IS(is_deleted, 1);
    OK(AdsRecallRecord(table));
    OK(AdsWriteRecord(table));
    OK(AdsIsRecordDeleted(table, &is_deleted));
    IS(is_deleted, 0);
    IS(counted(table, ADS_IGNOREFILTERS), 6);
    OK(AdsDeleteRecord(table));
    OK(AdsSkip(table, 1));
    IS(number(table), 3);
    IS(counted(table, ADS_IGNOREFILTERS), 5);
    IS(counted(table, ADS_RESPECTFILTERS), 5);
    SAME(walk(table), "1 3 4 5 6 ");
    SAME(walk(by_name), "6 5 4 1 3 ");
    IS(AdsGotoRecord(table, 2), AE_INVALID_RECORD_NUMBER);
    OK(AdsGetDeleted(&is_shown));
    IS(is_shown, 1);

    /* From a record that was deleted just now both ways lead on. */
    OK(AdsGotoRecord(table, 5));
    OK(AdsDeleteRecord(table));
    OK(AdsWriteRecord(table));
    OK(AdsSkip(by_name, 1));
    IS(number(table), 4);
    append("Young", "Riga", 1970);
    IS(number(table), 5);
    append("Adler", "Riga", 1971);
    IS(number(table), 2);
    append("Quinn", "Riga", 1972);
    IS(number(table), 7);
    SAME(walk(by_name), "6 2 4 1 7 5 3 ");

    /* A record that is given up is deleted as well. */
    OK(AdsAppendRecord(table));
    OK(set(table, "Last Name", "Nobody"));
    /* Who counts it does not write it. */
    IS(counted(table, ADS_IGNOREFILTERS), 8);
    OK(AdsCancelUpdate(table));
    IS(counted(table, ADS_IGNOREFILTERS), 7);
    OK(AdsPackTable(table));
    SAME(walk(by_name), "6 2 4 1 7 5 3 ");
    IS(counted(table, ADS_IGNOREFILTERS), 7);
    IS(AdsRecallAllRecords(table) != AE_SUCCESS, 1);
    OK(AdsCloseTable(table));

    /* Its lock goes with a record. */
    OK(open_as("people", ADS_DEFAULT, ADS_SHARED, &table));
    OK(AdsLockRecord(table, 7));
    OK(AdsGotoRecord(table, 7));
    OK(AdsDeleteRecord(table));
    OK(AdsWriteRecord(table));
    OK(AdsIsRecordLocked(table, 7, &is_locked));
    IS(is_locked, 0);
    IS(counted(table, ADS_IGNOREFILTERS), 6);
}

static void transactions(void)
{
    OK(AdsBeginTransaction(connection));
    append("Wolf", "Wien", 1999);
    OK(AdsGotoRecord(table, 1));
    OK(AdsDeleteRecord(table));
    OK(AdsGotoRecord(table, 3));
    OK(set(table, "note", "changed"));
    OK(AdsWriteRecord(table));
    IS(counted(table, ADS_IGNOREFILTERS), 6);
    OK(AdsRollbackTransaction(connection));
    IS(counted(table, ADS_IGNOREFILTERS), 6);
    OK(AdsGotoRecord(table, 1));
    SAME(trimmed(table, "Last Name"), "Novak");
    OK(AdsGotoRecord(table, 3));
    IS(blank(table, "note"), 11);
    OK(AdsBeginTransaction(connection));
    append("Wolf", "Wien", 1999);
    OK(AdsCommitTransaction(connection));
    IS(counted(table, ADS_IGNOREFILTERS), 7);
}

static const char *asked(const char *sql)
{
    static char answer[400];
    ADSHANDLE statement = 0, cursor = 0;
    UNSIGNED16 columns = 0, is_end = 1, column, is_null;
    UNSIGNED8 text[100];
    UNSIGNED32 length;

    answer[0] = 0;
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_ADT));
    OK(AdsExecuteSQLDirect(statement, TEXT(sql), &cursor));
    if (cursor) {
        OK(AdsGetNumFields(cursor, &columns));
        OK(AdsGotoTop(cursor));
        while (AdsAtEOF(cursor, &is_end) == AE_SUCCESS && !is_end) {
            for (column = 1; column <= columns; column++) {
                length = sizeof text;
                OK(AdsGetField(cursor, ADSFIELD(column), text, &length, ADS_TRIM));
                OK(AdsIsNull(cursor, ADSFIELD(column), &is_null));
                sprintf(answer + strlen(answer), "%s%s", is_null ? "NULL" : (char *) text, column == columns ? ";" : ",");
            }
            OK(AdsSkip(cursor, 1));
        }
        OK(AdsCloseTable(cursor));
    }
    OK(AdsCloseSQLStatement(statement));
    return answer;
}

static void statements(void)
{
    FILE *file;
    char magic[16] = {0}, path[500];
    UNSIGNED8 folder[400];
    UNSIGNED16 length = sizeof folder;

    SAME(asked("SELECT [Last Name], year FROM people WHERE year IS NULL"), "Novak,NULL;");
    SAME(asked("SELECT COUNT(*), COUNT(year) FROM people"), "7,6;");
    SAME(asked("CREATE TABLE stock ( [Part No] Char(8), qty ShortInt, price Money, at TimeStamp, id AutoInc, memo Memo )"), "");
    SAME(asked("INSERT INTO stock ( [Part No], qty, price ) VALUES ( 'A1', 5, 1.25 ), ( 'B2', NULL, 3.5 ), ( 'C3', 7, NULL )"), "");
    SAME(asked("SELECT [Part No], qty, price, id FROM stock WHERE qty > 1 OR price IS NOT NULL"), "A1,5,1.2500,1;B2,NULL,3.5000,2;C3,7,NULL,3;");
    SAME(asked("CREATE UNIQUE INDEX bypart ON stock ( [Part No], qty )"), "");
    SAME(asked("SELECT Index_Expression FROM system.indexes WHERE Parent = 'stock'"), "Part No;qty;");
    SAME(asked("UPDATE stock SET qty = 8 WHERE [Part No] = 'B2'"), "");
    SAME(asked("DELETE FROM stock WHERE [Part No] = 'A1'"), "");
    SAME(asked("INSERT INTO stock ( [Part No] ) VALUES ( 'D4' )"), "");
    SAME(asked("SELECT [Part No], qty, id FROM stock ORDER BY [Part No]"), "B2,8,2;C3,7,3;D4,NULL,4;");
    SAME(asked("SELECT [Part No], SUM(qty) AS [all of it] INTO #sums FROM stock GROUP BY [Part No]"), "");
    SAME(asked("SELECT [all of it] FROM #sums ORDER BY 1 DESC"), "8;7;NULL;");
    SAME(asked("DROP INDEX stock.bypart"), "");
    OK(AdsGetConnectionPath(connection, folder, &length));
    sprintf(path, "%s/stock.adt", (char *) folder);
    file = fopen(path, "rb");
    IS(file != NULL, 1);
    if (file) {
        IS(fread(magic, 1, 15, file), 15);
        fclose(file);
        SAME(magic, "Advantage Table");
    }
    SAME(asked("DROP TABLE stock"), "");
    file = fopen(path, "rb");
    IS(file == NULL, 1);
}

static void copies(void)
{
    ADSHANDLE copy = 0;
    UNSIGNED16 type = 77;

    OK(AdsCopyTable(table, ADS_RESPECTFILTERS, TEXT("copy")));
    OK(open_as("copy", ADS_ADT, ADS_SHARED, &copy));
    IS(counted(copy, ADS_IGNOREFILTERS), 7);
    OK(AdsGotoRecord(copy, 4));
    IS(blank(copy, "year"), 11);
    SAME(trimmed(copy, "id"), "4");
    OK(AdsCloseTable(copy));
    OK(AdsCopyTableStructure(table, TEXT("like")));
    OK(open_as("like", ADS_DEFAULT, ADS_EXCLUSIVE, &copy));
    IS(counted(copy, ADS_IGNOREFILTERS), 0);
    OK(AdsCopyTableContents(table, copy, ADS_RESPECTFILTERS));
    IS(counted(copy, ADS_IGNOREFILTERS), 7);
    OK(AdsZapTable(copy));
    IS(counted(copy, ADS_IGNOREFILTERS), 0);
    OK(AdsCloseTable(copy));
    OK(AdsConvertTable(table, ADS_RESPECTFILTERS, TEXT("asdbf"), ADS_VFP));
    OK(open_as("asdbf", ADS_VFP, ADS_SHARED, &copy));
    IS(counted(copy, ADS_IGNOREFILTERS), 7);
    SAME(trimmed(copy, "City"), "Praha");
    OK(AdsConvertTable(copy, ADS_RESPECTFILTERS, TEXT("back"), ADS_ADT));
    OK(AdsCloseTable(copy));
    OK(open_as("back.adt", ADS_DEFAULT, ADS_SHARED, &copy));
    OK(AdsGetTableType(copy, &type));
    IS(type, ADS_ADT);
    IS(counted(copy, ADS_IGNOREFILTERS), 7);
    OK(AdsCloseTable(copy));
    IS(open_as("asdbf.dbf", ADS_ADT, ADS_SHARED, &copy), AE_INVALID_TABLETYPE);
    IS(AdsCreateTable(connection, TEXT("packed"), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0, TEXT("m,Memo,Compressed"), &copy),
       AE_INVALID_FIELDDEF);
    OK(AdsCloseTable(table));
}

/* Fields come, go and change, and the values of those that stay do. */
static void restructured(void)
{
    ADSHANDLE by_name = 0;
    UNSIGNED16 length = 40;
    UNSIGNED8 text[40];

    OK(AdsRestructureTable90(connection, TEXT("people"), NULL, ADS_ADT, ADS_ANSI, 0, 0, TEXT("Born,Date;"), TEXT("note;"),
                             TEXT("Last Name,Family Name,CICharacter,14;year,year,Double,2;"), NULL));
    OK(open_as("people", ADS_ADT, ADS_SHARED, &table));
    OK(AdsGetNumFields(table, &length));
    IS(length, 5);
    OK(AdsGetIndexHandle(table, TEXT("BYNAME"), &by_name));
    length = sizeof text;
    OK(AdsGetIndexExpr(by_name, text, &length));
    SAME(text, "Family Name;year");
    IS(sought(by_name, "QUINN", ADS_HARDSEEK), 0);
    IS(sought(by_name, "yOUNG", ADS_HARDSEEK), 1);
    SAME(trimmed(table, "year"), "1970.00");
    IS(blank(table, "Born"), 11);
    OK(AdsCloseTable(table));
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsSetDateFormat(TEXT("CCYY-MM-DD")));
    fields();
    nothing();
    values();
    amounts();
    moments();
    orders();
    deletions();
    transactions();
    statements();
    copies();
    restructured();
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    return failures != 0;
}
