/*
 * Numbers of errors that SAP's help names for single functions ("Special Return Codes").
 */
#include <unistd.h>

#include "check.h"

static ADSHANDLE connection;

static ADSHANDLE created(const char *name, UNSIGNED16 type, const char *fields)
{
    ADSHANDLE table = 0;

    OK(AdsCreateTable(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0, TEXT(fields),
                      &table));
    OK(AdsAppendRecord(table));
    return table;
}

static UNSIGNED32 set(ADSHANDLE table, const char *field, const char *value)
{
    return AdsSetField(table, TEXT(field), TEXT(value), LENGTH(value));
}

static const char *whole(ADSHANDLE table, const char *field)
{
    static UNSIGNED8 buffer[64];
    UNSIGNED32 length = sizeof buffer;

    OK(AdsGetString(table, TEXT(field), buffer, &length, ADS_NONE));
    return (const char *) buffer;
}

/* What is too long for a text is cut; the rest is in the field. */
static void texts(void)
{
    static const UNSIGNED16 types[] = {ADS_NTX, ADS_CDX, ADS_VFP, ADS_ADT};
    const char *name = "NAME";
    unsigned i;

    for (i = 0; i < 4; i++) {
        ADSHANDLE table = created("texts", types[i], "NAME,Character,5;AGE,Numeric,3,0;NOTE,Memo"), index = 0;
        UNSIGNED8 key[20];
        UNSIGNED16 length = sizeof key;

        IS(AdsSetString(table, TEXT(name), TEXT("1234567"), 7), AE_DATA_TRUNCATED);
        SAME(whole(table, name), "12345");
        OK(AdsSetString(table, TEXT(name), TEXT("abc"), 3));
        IS(set(table, name, "abcdefgh"), AE_DATA_TRUNCATED);
        SAME(whole(table, name), "abcde");
        IS(AdsSetStringW(table, TEXT(name), utf16("zyxwvu"), 6), AE_DATA_TRUNCATED);
        SAME(whole(table, name), "zyxwv");
        IS(AdsSetFieldW(table, ADSFIELD(1), utf16("123456"), 6), AE_DATA_TRUNCATED);
        OK(AdsWriteRecord(table));
        SAME(whole(table, name), "12345");
        IS(AdsSetStringFromCodePage(table, 1252, TEXT(name), TEXT("caf\xE9s!"), 6), AE_DATA_TRUNCATED);
        SAME(whole(table, name), "caf\xE9s");
        OK(AdsSetString(table, TEXT(name), TEXT("12345"), 5));
        OK(AdsSetString(table, TEXT("NOTE"), TEXT("1234567"), 7));
        IS(set(table, "AGE", "12345"), AE_DATA_TOO_LONG);
        IS(AdsSetDouble(table, TEXT("AGE"), 12345), AE_DATA_TOO_LONG);
        OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT(name), NULL, NULL, types[i] == ADS_NTX ? 0 : ADS_COMPOUND, 0, &index));
        OK(AdsInitRawKey(index));
        IS(AdsSetString(index, TEXT(name), TEXT("1234567"), 7), AE_DATA_TRUNCATED);
        OK(AdsBuildRawKey(index, key, &length));
        IS(length, 5);
        IS(memcmp(key, "12345", 5), 0);
        OK(AdsCloseTable(table));
    }
}

static void dates(void)
{
    ADSHANDLE table = created("dates", ADS_ADT, "Born,Date;Seen,Timestamp"), statement = 0;

    OK(set(table, "Born", "02/29/2024"));
    IS(set(table, "Born", "13/01/2024"), AE_INVALID_MONTH);
    IS(set(table, "Born", "00/01/2024"), AE_INVALID_MONTH);
    IS(set(table, "Born", "02/29/2023"), AE_INVALID_DAY);
    IS(set(table, "Born", "04/31/2023"), AE_INVALID_DAY);
    IS(set(table, "Born", "04/00/2023"), AE_INVALID_DAY);
    IS(set(table, "Born", "nothing1"), AE_INVALID_DATE);
    IS(set(table, "Born", "01/01/0000"), AE_INVALID_DATE);
    IS(AdsSetDate(table, TEXT("Born"), TEXT("13/01/2024"), 10), AE_INVALID_MONTH);
    IS(AdsSetTimeStamp(table, TEXT("Seen"), TEXT("02/30/2024 10:00:00"), 19), AE_INVALID_DAY);
    SAME(whole(table, "Born"), "02/29/2024");
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_ADT));
    OK(AdsPrepareSQL(statement, TEXT("UPDATE dates SET Born = :DAY")));
    IS(AdsSetDate(statement, TEXT("DAY"), TEXT("14/01/2024"), 10), AE_INVALID_MONTH);
    OK(AdsCloseSQLStatement(statement));
    OK(AdsCloseTable(table));
}

static void others(void)
{
    ADSHANDLE table = created("others", ADS_NTX, "NAME,Character,5"), index = 0;
    UNSIGNED16 answer = 9;

    IS(AdsClearFilter(table), AE_NO_FILTER);
    OK(AdsSetFilter(table, TEXT("NAME = 'x'")));
    OK(AdsClearFilter(table));
    IS(AdsClearFilter(table), AE_NO_FILTER);
    IS(AdsClearAOF(table), AE_NO_FILTER);
    OK(AdsWriteRecord(table));
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, 0, 0, &index));
    IS(AdsIsIndexCustom(index, &answer), AE_INVALID_INDEX_TYPE);
    OK(AdsCloseTable(table));
    OK(AdsOpenTable(connection, TEXT("others"), NULL, ADS_NTX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &table));
    IS(AdsUnlockRecord(table, 1), AE_RECORD_NOT_LOCKED);
    IS(AdsUnlockRecord(table, 2), AE_RECORD_NOT_LOCKED);
    IS(AdsUnlockRecord(table, 3), AE_INVALID_RECORD_NUMBER);
    IS(AdsUnlockTable(table), AE_TABLE_NOT_LOCKED);
    OK(AdsCloseTable(table));
}

static void dictionaries(void)
{
    ADSHANDLE dictionary = 0, table;

    table = created("kept", ADS_ADT, "Name,Character,5");
    OK(AdsCloseTable(table));
    OK(AdsDDCreate(TEXT("own.add"), 0, NULL, &dictionary));
    IS(AdsDDCreate(TEXT("own.add"), 0, NULL, &table), AE_DICTIONARY_ALREADY_EXISTS);
    OK(AdsDDAddTable(dictionary, TEXT("Kept"), TEXT("kept.adt"), ADS_ADT, ADS_ANSI, NULL, NULL));
    OK(AdsDDCreateUser(dictionary, NULL, TEXT("Ann"), NULL, NULL));
    OK(AdsDDGrantPermission(dictionary, ADS_DD_TABLE_OBJECT, TEXT("Kept"), NULL, TEXT("Ann"), ADS_PERMISSION_READ));
    IS(AdsDDGrantPermission(dictionary, ADS_DD_TABLE_OBJECT, TEXT("Kept"), NULL, TEXT("Ann"), ADS_PERMISSION_EXECUTE),
       AE_INVALID_OBJECT_PERMISSION);
    IS(AdsDDRevokePermission(dictionary, ADS_DD_TABLE_OBJECT, TEXT("Kept"), NULL, TEXT("Ann"), ADS_PERMISSION_EXECUTE),
       AE_INVALID_OBJECT_PERMISSION);
    OK(AdsDisconnect(dictionary));
}

int main(int count, char **arguments)
{
    if (count != 2 || chdir(arguments[1]) != 0)
        return 2;
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    texts();
    dates();
    others();
    dictionaries();
    OK(AdsDisconnect(connection));
    return failures != 0;
}
