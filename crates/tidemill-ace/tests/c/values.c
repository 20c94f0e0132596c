/*
 * Values of fields: numbers, times, dates, NULL and blank, raw bytes, counters, memos, texts in UTF-16, and expressions over them.
 * Argument: an empty folder.
 */

#include "check.h"

enum { JULIAN_2024 = 2460311, NOT_NULLABLE = AE_NOT_VFP_NULLABLE_FIELD };

static ADSHANDLE connection, table;
static char folder[400];

static ADSHANDLE create(const char *name, UNSIGNED16 type, const char *fields)
{
    ADSHANDLE made = 0;
    OK(AdsCreateTable71(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0, TEXT(fields),
                        ADS_FREE_TABLE, &made));
    return made;
}

static void numbers(void)
{
    SIGNED64 large = 77;
    SIGNED16 small = 77;
    double number = 77;
    UNSIGNED32 offset = 77;

    OK(AdsSetLongLong(table, TEXT("N"), 1234567890123LL));
    OK(AdsGetLongLong(table, TEXT("N"), &large));
    IS(large == 1234567890123LL, 1);
    IS(AdsGetShort(table, TEXT("N"), &small), AE_VALUE_OVERFLOW);
    OK(AdsSetShort(table, TEXT("N"), -321));
    OK(AdsGetShort(table, TEXT("N"), &small));
    IS(small, -321);
    SAME(trimmed(table, "N"), "-321");
    IS(AdsSetLongLong(table, TEXT("I"), 1LL << 40), AE_DATA_TOO_LONG);
    OK(AdsSetDouble(table, TEXT("PRICE"), 19.95));
    OK(AdsGetMoney(table, TEXT("PRICE"), &large));
    IS(large, 199500);
    OK(AdsGetDouble(table, TEXT("PRICE"), &number));
    IS(number == 19.95, 1);
    OK(AdsGetFieldOffset(table, TEXT("I"), &offset));
    IS(offset, 1 + 14);
    IS(AdsGetFieldOffset(table, TEXT("NONE"), &offset), AE_INVALID_FIELDNAME);
}

static void moments(void)
{
    UNSIGNED8 buffer[40];
    UNSIGNED16 length = sizeof buffer;
    UNSIGNED32 passed = 77;
    SIGNED32 whole = 77;
    double day = 77;

    OK(AdsSetJulian(table, TEXT("DAY"), JULIAN_2024));
    SAME(trimmed(table, "DAY"), "2024-01-01");
    OK(AdsGetJulian(table, TEXT("DAY"), &whole));
    IS(whole, JULIAN_2024);
    OK(AdsConvertStringToJulian(TEXT("2024-01-01"), 10, &day));
    IS(day, JULIAN_2024);
    OK(AdsConvertJulianToString(JULIAN_2024 + 31, buffer, &length));
    SAME(buffer, "2024-02-01");
    IS(AdsConvertStringToJulian(TEXT("2024-13-01"), 10, &day), AE_INVALID_MONTH);
    OK(AdsConvertStringToMilliseconds(TEXT("01:30:15 AM"), 11, &passed));
    IS(passed, 5415000);
    length = sizeof buffer;
    OK(AdsConvertMillisecondsToString(5415000 + 12 * 3600000, buffer, &length));
    SAME(buffer, "01:30:15 PM");
    IS(AdsConvertMillisecondsToString(86400000, buffer, &length), AE_INVALID_VALUE);
    OK(AdsSetTimeStamp(table, TEXT("STAMP"), TEXT("2024-01-01 10:20:30 AM"), 22));
    OK(AdsSetMilliseconds(table, TEXT("STAMP"), 5415000));
    OK(AdsGetMilliseconds(table, TEXT("STAMP"), &whole));
    IS(whole, 5415000);
    length = sizeof buffer;
    OK(AdsGetTime(table, TEXT("STAMP"), buffer, &length));
    SAME(buffer, "01:30:15 AM");
    OK(AdsSetTime(table, TEXT("STAMP"), TEXT("11:59:59 PM"), 11));
    OK(AdsGetMilliseconds(table, TEXT("STAMP"), &whole));
    IS(whole, 86399000);
    OK(AdsGetJulian(table, TEXT("STAMP"), &whole));
    IS(whole, JULIAN_2024);
    IS(AdsGetMilliseconds(table, TEXT("PRICE"), &whole), AE_INVALID_FIELD_TYPE);
}

/* Whether a field is empty, and whether it is NULL. */
static int blank(ADSHANDLE of, const char *field)
{
    UNSIGNED16 is_empty = 77, is_null = 77;
    OK(AdsIsEmpty(of, TEXT(field), &is_empty));
    OK(AdsIsNull(of, TEXT(field), &is_null));
    return is_empty * 10 + is_null;
}

static void nulls(void)
{
    static const char *const nullable[] = {"NAME", "N", "DAY", "MARK", "I", "LABEL", "WHEN"};
    ADSHANDLE old;
    UNSIGNED16 can = 77;
    unsigned at;

    for (at = 0; at < sizeof nullable / sizeof *nullable; at++) {
        OK(AdsIsNullable(table, TEXT(nullable[at]), &can));
        IS(can, 1);
        OK(AdsSetNull(table, TEXT(nullable[at])));
        IS(blank(table, nullable[at]), 11);
        OK(AdsSetEmpty(table, TEXT(nullable[at])));
        IS(blank(table, nullable[at]), 10);
    }
    OK(AdsIsNullable(table, TEXT("PRICE"), &can));
    IS(can, 0);
    IS(AdsSetNull(table, TEXT("PRICE")), NOT_NULLABLE);
    OK(AdsSetField(table, TEXT("NAME"), TEXT("x"), 1));
    IS(blank(table, "NAME"), 0);

    /* A field that was made without NULL is never NULL. */
    old = create("plain", ADS_VFP, "DAY,Date,8;N,Numeric,6,0");
    OK(AdsAppendRecord(old));
    IS(blank(old, "DAY"), 10);
    IS(blank(old, "N"), 10);
    OK(AdsCloseTable(old));

    /* Tables without NULL have blanks in its place. */
    old = create("old", ADS_CDX, "NAME,Character,6;N,Numeric,6,0");
    OK(AdsAppendRecord(old));
    IS(blank(old, "NAME"), 11);
    OK(AdsSetShort(old, TEXT("N"), 0));
    IS(blank(old, "N"), 0);
    OK(AdsSetNull(old, TEXT("N")));
    IS(blank(old, "N"), 11);
    OK(AdsIsNullable(old, TEXT("N"), &can));
    IS(can, 0);
    OK(AdsCloseTable(old));
}

static void raw(void)
{
    UNSIGNED8 bytes[6] = {0};
    UNSIGNED32 length = sizeof bytes;
    UNSIGNED16 is_binary = 77;

    OK(AdsSetFieldRaw(table, TEXT("CODE"), TEXT("\1\0\2"), 3));
    OK(AdsGetFieldRaw(table, TEXT("CODE"), bytes, &length));
    IS(memcmp(bytes, "\1\0\2", 3), 0);
    OK(AdsIsFieldBinary(table, TEXT("CODE"), &is_binary));
    IS(is_binary, 1);
    OK(AdsIsFieldBinary(table, TEXT("NAME"), &is_binary));
    IS(is_binary, 0);
    IS(AdsSetFieldRaw(table, TEXT("CODE"), TEXT("1234567"), 7), AE_DATA_TOO_LONG);
}

static void wide(void)
{
    WCHAR letters[] = {'a', 0xe9, 0x20ac, 0}, got[20];
    UNSIGNED32 length = 20;

    OK(AdsSetFieldW(table, TEXT("NAME"), letters, 3));
    OK(AdsGetFieldW(table, TEXT("NAME"), got, &length, ADS_TRIM));
    IS(length, 3);
    IS(memcmp(got, letters, sizeof letters), 0);
    SAME(trimmed(table, "NAME"), "a\xe9\x80");
    length = 2;
    IS(AdsGetFieldW(table, TEXT("NAME"), got, &length, ADS_TRIM), AE_INSUFFICIENT_BUFFER);
    IS(length, 3);
}

static void memos(void)
{
    char path[450], back[450];
    UNSIGNED8 bytes[64];
    UNSIGNED32 length = sizeof bytes;
    UNSIGNED16 type = 77;
    FILE *file;

    sprintf(path, "%s/given.bin", folder);
    sprintf(back, "%s/back.bin", folder);
    file = fopen(path, "wb");
    IS(fwrite("\0memo\xff", 1, 6, file), 6);
    fclose(file);
    OK(AdsFileToBinary(table, TEXT("PICTURE"), ADS_BINARY, TEXT(path)));
    OK(AdsGetBinary(table, TEXT("PICTURE"), 0, bytes, &length));
    IS(length, 6);
    IS(memcmp(bytes, "\0memo\xff", 6), 0);
    OK(AdsBinaryToFile(table, TEXT("PICTURE"), TEXT(back)));
    file = fopen(back, "rb");
    IS(fread(bytes, 1, sizeof bytes, file), 6);
    fclose(file);
    IS(memcmp(bytes, "\0memo\xff", 6), 0);
    IS(AdsFileToBinary(table, TEXT("PICTURE"), ADS_BINARY, TEXT("/none/at/all")), AE_BINARY_FILE_ERROR);
    OK(AdsGetMemoDataType(table, TEXT("PICTURE"), &type));
    IS(type, ADS_BINARY);
    OK(AdsGetMemoDataType(table, TEXT("NOTE"), &type));
    IS(type, ADS_MEMO);
    IS(AdsGetMemoDataType(table, TEXT("NAME"), &type), AE_INVALID_FIELD_TYPE);
}

static void expressions(void)
{
    UNSIGNED8 buffer[40];
    UNSIGNED16 answer = 77, length = sizeof buffer;
    double number = 77;

    OK(AdsSetString(table, TEXT("NAME"), TEXT("Novak"), 5));
    OK(AdsSetDouble(table, TEXT("N"), 20));
    OK(AdsEvalLogicalExpr(table, TEXT("N > 19 .AND. NAME = 'Nov'"), &answer));
    IS(answer, 1);
    OK(AdsEvalNumericExpr(table, TEXT("N / 8"), &number));
    IS(number == 2.5, 1);
    OK(AdsEvalStringExpr(table, TEXT("UPPER(TRIM(NAME)) + '!'"), buffer, &length));
    SAME(buffer, "NOVAK!");
    length = 3;
    IS(AdsEvalStringExpr(table, TEXT("NAME"), buffer, &length), AE_INSUFFICIENT_BUFFER);
    IS(AdsEvalLogicalExpr(table, TEXT("NAME"), &answer), AE_INVALID_EXPRESSION);
    IS(AdsEvalNumericExpr(table, TEXT("NAME"), &number), AE_INVALID_EXPRESSION);
    IS(AdsEvalStringExpr(table, TEXT("N"), buffer, &length), AE_INVALID_EXPRESSION);
}

/* The last number that a table's or a statement's own record got; others' are not theirs. */
static void counters(void)
{
    ADSHANDLE made = create("counted", ADS_VFP, "ID,Autoinc,4;NAME,Character,6"), statement, other, cursor;
    UNSIGNED32 last = 77;

    OK(AdsGetLastAutoinc(made, &last));
    IS(last, 0);
    OK(AdsAppendRecord(made));
    OK(AdsGetLastAutoinc(made, &last));
    IS(last, 1);
    OK(AdsCloseTable(made));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsGetLastAutoinc(statement, &last));
    IS(last, 0);
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO counted ( NAME ) VALUES ( 'two' )"), &cursor));
    OK(AdsGetLastAutoinc(statement, &last));
    IS(last, 2);
    /* The same number from another table is as good, one that another statement got is not. */
    OK(AdsCloseTable(create("others", ADS_VFP, "ID,Autoinc,4;NAME,Character,6")));
    OK(AdsCreateSQLStatement(connection, &other));
    OK(AdsExecuteSQLDirect(other, TEXT("INSERT INTO others ( NAME ) VALUES ( 'one' ), ( 'two' )"), &cursor));
    OK(AdsGetLastAutoinc(other, &last));
    IS(last, 2);
    OK(AdsExecuteSQLDirect(other, TEXT("UPDATE counted SET NAME = 'x'"), &cursor));
    OK(AdsGetLastAutoinc(other, &last));
    IS(last, 2);
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO others ( NAME ) VALUES ( 'three' )"), &cursor));
    OK(AdsGetLastAutoinc(statement, &last));
    IS(last, 3);
    OK(AdsExecuteSQLDirect(other, TEXT("INSERT INTO counted ( NAME ) VALUES ( 'three' )"), &cursor));
    OK(AdsGetLastAutoinc(other, &last));
    IS(last, 3);

    /* Through a table that the connection has open, each gets its own. */
    OK(AdsOpenTable(connection, TEXT("counted"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &made));
    OK(AdsAppendRecord(made));
    OK(AdsWriteRecord(made));
    OK(AdsExecuteSQLDirect(other, TEXT("UPDATE counted SET NAME = 'y'"), &cursor));
    OK(AdsGetLastAutoinc(other, &last));
    IS(last, 3);
    OK(AdsExecuteSQLDirect(other, TEXT("INSERT INTO counted ( NAME ) VALUES ( 'five' )"), &cursor));
    OK(AdsGetLastAutoinc(other, &last));
    IS(last, 5);
    OK(AdsGetLastAutoinc(made, &last));
    IS(last, 4);
    OK(AdsCloseTable(made));
    OK(AdsCloseSQLStatement(other));
    OK(AdsCloseSQLStatement(statement));
    OK(AdsGetLastAutoinc(table, &last));
    IS(last, 0);
}

/* What a connection lets programs give a counter, it goes on behind. */
static void counters_given(void)
{
    ADSHANDLE made = create("given", ADS_VFP, "ID,Autoinc,4;NAME,Character,6"), statement, cursor;
    SIGNED32 number = 0;

    OK(AdsAppendRecord(made));
    IS(AdsSetLong(made, TEXT("ID"), 100), AE_DATA_TOO_LONG);
    OK(AdsDisableAutoIncEnforcement(connection));
    OK(AdsSetLong(made, TEXT("ID"), 100));
    OK(AdsAppendRecord(made));
    OK(AdsGetLong(made, TEXT("ID"), &number));
    IS(number, 101);
    /* No two need be different. */
    OK(AdsSetString(made, TEXT("ID"), TEXT("100"), 3));
    OK(AdsWriteRecord(made));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO given VALUES ( 200, 'two' )"), &cursor));
    OK(AdsExecuteSQLDirect(statement, TEXT("UPDATE given SET ID = 300 WHERE ID = 200"), &cursor));
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO given ( NAME ) VALUES ( 'next' )"), &cursor));
    OK(AdsEnableAutoIncEnforcement(connection));
    IS(AdsExecuteSQLDirect(statement, TEXT("UPDATE given SET ID = 300"), &cursor), 7200);
    IS(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO given VALUES ( 500, 'no' )"), &cursor), 7200);
    OK(AdsCloseSQLStatement(statement));
    OK(AdsGotoBottom(made));
    OK(AdsGetLong(made, TEXT("ID"), &number));
    IS(number, 301);
    IS(AdsSetLong(made, TEXT("ID"), 1), AE_DATA_TOO_LONG);
    OK(AdsGotoRecord(made, 2));
    OK(AdsGetLong(made, TEXT("ID"), &number));
    IS(number, 100);
    IS(AdsDisableAutoIncEnforcement(made), AE_INVALID_CONNECTION_HANDLE);
    OK(AdsCloseTable(made));
}

/* A counter that is added numbers the records that are there. */
static void counters_added(void)
{
    ADSHANDLE made = create("numbered", ADS_VFP, "NAME,Character,6;CODE,Integer");
    double number = 0;
    UNSIGNED32 last = 77;
    int i;

    for (i = 1; i <= 3; i++) {
        OK(AdsAppendRecord(made));
        OK(AdsSetDouble(made, TEXT("CODE"), 10 * i));
        if (i == 2)
            OK(AdsDeleteRecord(made));
    }
    OK(AdsCloseTable(made));
    OK(AdsRestructureTable(connection, TEXT("numbered"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                           TEXT("ID,AutoInc"), NULL, TEXT("CODE,CODE,AutoInc")));
    OK(AdsOpenTable(connection, TEXT("numbered"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &made));
    for (i = 1; i <= 3; i++) {
        OK(AdsGotoRecord(made, i));
        OK(AdsGetDouble(made, TEXT("ID"), &number));
        IS(number, i);
        OK(AdsGetDouble(made, TEXT("CODE"), &number));
        IS(number, 10 * i);
    }
    OK(AdsAppendRecord(made));
    OK(AdsGetDouble(made, TEXT("ID"), &number));
    IS(number, 4);
    OK(AdsGetLastAutoinc(made, &last));
    IS(last, 31);
    OK(AdsCloseTable(made));
}

static void changes(void)
{
    UNSIGNED16 is_shown = 77, is_locked = 77;
    UNSIGNED32 count = 77;

    OK(AdsWriteRecord(table));
    OK(AdsSetString(table, TEXT("NAME"), TEXT("other"), 5));
    OK(AdsCancelUpdate90(table, 0));
    SAME(trimmed(table, "NAME"), "Novak");
    OK(AdsShowDeleted(0));
    OK(AdsDeleteRecord(table));
    OK(AdsIsRecordVisible(table, &is_shown));
    IS(is_shown, 0);
    OK(AdsRecallAllRecords(table));
    OK(AdsIsRecordVisible(table, &is_shown));
    IS(is_shown, 1);
    OK(AdsShowDeleted(1));
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, 1);
    OK(AdsIsTableLocked(table, &is_locked));
    IS(is_locked, 0);
    OK(AdsIsTableEncrypted(table, &is_locked));
    IS(is_locked, 0);
    OK(AdsIsRecordEncrypted(table, &is_locked));
    IS(is_locked, 0);
    OK(AdsIsEncryptionEnabled(table, &is_locked));
    IS(is_locked, 0);
}

/* Fields come and go, and the values of those that stay do. */
static void restructured(void)
{
    UNSIGNED16 count = 77;

    OK(AdsCloseTable(table));
    OK(AdsRestructureTable(connection, TEXT("values"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                           TEXT("MORE,Character,4;"), TEXT("CODE;STAMP;"), TEXT("NAME,TITLE,Character,20;")));
    OK(AdsOpenTable(connection, TEXT("values"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &table));
    OK(AdsGetNumFields(table, &count));
    IS(count, 11);
    OK(AdsGotoTop(table));
    SAME(trimmed(table, "TITLE"), "Novak");
    SAME(trimmed(table, "MORE"), "");
    IS(AdsGetFieldNum(table, TEXT("CODE"), &count), AE_INVALID_FIELDNAME);
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsSetDateFormat(TEXT("CCYY-MM-DD")));
    table = create("values", ADS_VFP,
                   "N,Numeric:N,14,0;I,Integer:N,4;NAME,Character:N,8;DAY,Date:N,8;MARK,Logical:N,1;PRICE,Money;"
                   "STAMP,Timestamp;CODE,Raw,6;NOTE,Memo,4;PICTURE,Binary,4;LABEL,Varchar:N,6;WHEN,Timestamp:N");
    OK(AdsAppendRecord(table));
    numbers();
    moments();
    nulls();
    raw();
    wide();
    memos();
    expressions();
    counters();
    counters_given();
    counters_added();
    changes();
    restructured();
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    return failures != 0;
}
