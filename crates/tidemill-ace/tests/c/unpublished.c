/*
 * Functions that SAP's help does not describe, and what its help says of arguments that are ignored.
 */
#include <unistd.h>

#include "check.h"

static ADSHANDLE connection;

static ADSHANDLE created(const char *name, UNSIGNED16 type, const char *fields)
{
    ADSHANDLE table = 0;

    OK(AdsCreateTable(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0, TEXT(fields),
                      &table));
    return table;
}

static void texts(void)
{
    UNSIGNED8 text[20] = "GR\xDC\xDF Gott 1", small[20];
    WCHAR units[20];
    UNSIGNED32 length = 20;
    SIGNED16 sign = 7;

    OK(AdsMemCompare(connection, TEXT("ab"), 2, TEXT("abc"), 3, ADS_ANSI, &sign));
    IS(sign, -1);
    OK(AdsMemCompare90(0, TEXT("b"), 1, TEXT("abc"), 3, ADS_OEM, ADS_OEM, &sign));
    IS(sign, 1);
    OK(AdsMemCompare(0, TEXT("B"), 1, TEXT("b"), 1, ADS_ANSI, &sign));
    IS(sign, -1);
    OK(AdsMemICompare(0, TEXT("B"), 1, TEXT("b"), 1, ADS_ANSI, &sign));
    IS(sign, 0);
    OK(AdsMemICompare90(0, TEXT("\xDC"), 1, TEXT("\xFC"), 1, ADS_ANSI, ADS_ANSI, &sign));
    IS(sign, 0);
    OK(AdsMemICompare(0, TEXT("\x9A"), 1, TEXT("\x81"), 1, ADS_OEM, &sign));
    IS(sign, 0);
    OK(AdsMemCompare(0, NULL, 0, TEXT("x"), 1, ADS_ANSI, &sign));
    IS(sign, -1);
    IS(AdsMemCompare(0, NULL, 1, TEXT("x"), 1, ADS_ANSI, &sign), AE_INVALID_POINTER);
    IS(AdsMemCompare(0, TEXT("x"), 1, TEXT("x"), 1, ADS_ANSI, NULL), AE_INVALID_POINTER);
    IS(AdsMemCompare(0, TEXT("x"), 1, TEXT("x"), 1, GERMAN_VFP_CI_AS_1252, &sign), AE_UNSUPPORTED_COLLATION);
    IS(AdsMemICompare90(0, TEXT("x"), 1, TEXT("x"), 1, ADS_ANSI, 77, &sign), AE_UNSUPPORTED_COLLATION);
    OK(AdsMemLwr(0, text, 6, ADS_ANSI));
    SAME(text, "gr\xFC\xDF gott 1");
    OK(AdsMemLwr90(0, text, 0, ADS_ANSI, ADS_ANSI));
    IS(AdsMemLwr90(0, text, 1, ADS_ANSI, 77), AE_UNSUPPORTED_COLLATION);

    OK(AdsConvertCodePageToUnicode(connection, 437, TEXT("\x81x"), 2, units, &length));
    IS(length, 2);
    IS(units[0], 0xFC);
    IS(units[2], 0);
    length = 20;
    OK(AdsConvertUnicodeToCodePage(0, 1252, units, 2, small, &length));
    IS(length, 2);
    SAME(small, "\xFCx");
    length = 20;
    OK(AdsConvertUnicodeToCodePage(0, 850, units, -1, small, &length));
    SAME(small, "\x81x");
    length = 1;
    IS(AdsConvertUnicodeToCodePage(0, 0, units, -1, small, &length), AE_INSUFFICIENT_BUFFER);
    IS(length, 2);
    length = 20;
    OK(AdsConvertCodePageToUnicode(0, 0, TEXT("\x80"), -1, units, &length));
    IS(units[0], 0x20AC);
    IS(AdsConvertUnicodeToCodePage(0, 437, units, -1, small, &length), AE_UNICODE_CONVERSION);
    IS(AdsConvertUnicodeToCodePage(0, 4711, units, -1, small, &length), AE_INVALID_OPTION);
}

static void errors(void)
{
    UNSIGNED8 text[100];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 code = 0;

    OK(AdsSetLastError(5035, TEXT("as the program says")));
    OK(AdsGetLastError(&code, text, &length));
    IS(code, 5035);
    SAME(text, "as the program says");
    OK(AdsSetInternalError(9001, TEXT("walk.c"), 77));
    length = sizeof text;
    OK(AdsGetLastError(&code, text, &length));
    IS(code, 9001);
    SAME(text, "Error 9001:  walk.c, line 77");
}

static void people(ADSHANDLE table)
{
    const char *names[] = {"Novak", "Adams", "Mercer", "Baker", "Young"};
    unsigned i;

    for (i = 0; i < 5; i++) {
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("NAME"), TEXT(names[i]), LENGTH(names[i])));
        OK(AdsSetDouble(table, TEXT("AGE"), 20 + 10 * i));
        OK(AdsWriteRecord(table));
    }
}

static void copies(void)
{
    ADSHANDLE from = created("people", ADS_CDX, "NAME,Character,10;AGE,Numeric,5,0"), by_name = 0, to = 0;
    UNSIGNED32 count = 0, page = 0;
    UNSIGNED8 prefix[13] = "";

    people(from);
    OK(AdsCreateIndex61(from, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0, &by_name));
    OK(AdsGetIndexPageSize(by_name, &page));
    IS(page, 512);
    IS(AdsGetIndexPageSize(from, &page), AE_INVALID_INDEX_HANDLE);
    OK(AdsGetROWIDPrefix(from, prefix, sizeof prefix));
    IS(strlen((char *) prefix), 12);
    IS(AdsGetROWIDPrefix(from, prefix, 11), AE_INSUFFICIENT_BUFFER);

    OK(AdsCopyTableStructure81(from, TEXT("some"), ADS_DEFAULT));
    IS(AdsCopyTableStructure81(from, TEXT("more"), 0x100), AE_INVALID_OPTION);
    OK(AdsOpenTable(connection, TEXT("some"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_EXCLUSIVE,
                    &to));
    OK(AdsCopyTableTop(from, to, 2));
    OK(AdsCopyTableTop100(by_name, to, 2, 1));
    OK(AdsCopyTableTop(by_name, to, 0));
    OK(AdsGetRecordCount(to, ADS_IGNOREFILTERS, &count));
    IS(count, 4);
    OK(AdsGotoRecord(to, 1));
    SAME(trimmed(to, "NAME"), "Novak");
    OK(AdsGotoRecord(to, 3));
    SAME(trimmed(to, "NAME"), "Baker");
    OK(AdsSetFilter(from, TEXT("AGE > 30")));
    OK(AdsCopyTableTop100(from, to, 9, 2));
    OK(AdsGetRecordCount(to, ADS_IGNOREFILTERS, &count));
    IS(count, 5);
    OK(AdsGotoRecord(to, 5));
    SAME(trimmed(to, "NAME"), "Young");
    IS(AdsCopyTableTop(to, to, 1), AE_INVALID_RELATION);
    OK(AdsClearFilter(from));

    OK(AdsDeleteTable(to));
    IS(AdsCloseTable(to), AE_INVALID_TABLE_HANDLE);
    IS(access("some.dbf", F_OK), -1);
    OK(AdsDeleteTable(from));
    IS(access("people.dbf", F_OK), -1);
    IS(access("people.cdx", F_OK), -1);
    from = created("people", ADS_CDX, "NAME,Character,10;AGE,Numeric,5,0;NOTE,Memo");
    OK(AdsCloseTable(from));
    OK(AdsOpenTable(connection, TEXT("people"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &from));
    IS(AdsDeleteTable(from), AE_TABLE_NOT_EXCLUSIVE);
    IS(AdsDeleteTable(0), AE_INVALID_TABLE_HANDLE);
    OK(AdsCloseTable(from));
}

static UNSIGNED32 shown(ADSHANDLE table)
{
    UNSIGNED32 count = 99;

    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &count));
    return count;
}

static void filters(void)
{
    ADSHANDLE table = created("filtered", ADS_CDX, "NAME,Character,10;AGE,Numeric,5,0");
    UNSIGNED8 text[40] = "";
    UNSIGNED16 length = sizeof text;

    people(table);
    IS(AdsDeactivateAOF(table), AE_NO_FILTER);
    IS(AdsActivateAOF(table), AE_NO_FILTER);
    OK(AdsSetAOF(table, TEXT("AGE >= 40"), ADS_DEFAULT));
    IS(shown(table), 3);
    OK(AdsDeactivateAOF(table));
    IS(shown(table), 5);
    IS(AdsGetAOF(table, text, &length), AE_NO_FILTER);
    OK(AdsGotoRecord(table, 1));
    OK(AdsSetDouble(table, TEXT("AGE"), 77));
    OK(AdsWriteRecord(table));
    OK(AdsActivateAOF(table));
    IS(shown(table), 4);
    length = sizeof text;
    OK(AdsGetAOF(table, text, &length));
    SAME(text, "AGE >= 40");
    OK(AdsDeactivateAOF(table));
    OK(AdsClearAOF(table));
    IS(AdsActivateAOF(table), AE_NO_FILTER);
    OK(AdsSetAOF(table, TEXT("AGE >= 40"), ADS_DEFAULT));
    OK(AdsDeactivateAOF(table));
    OK(AdsSetAOF(table, TEXT("AGE < 40"), ADS_DEFAULT));
    IS(AdsActivateAOF(table), AE_NO_FILTER);
    IS(shown(table), 1);
    OK(AdsSetProperty(connection, 1, 1));
    OK(AdsSetProperty90(table, 2, 0));
    IS(AdsSetProperty(table, 56, 0), AE_INVALID_OPTION);
    IS(AdsSetProperty(0x7777, 2, 0), AE_INVALID_TABLE_HANDLE);
    OK(AdsDisableEncryption(table));
    OK(AdsGotoTop(table));
    OK(AdsDecryptRecord(table));
    IS(AdsVerifyPassword(table, NULL), AE_OBSOLETE_FUNCTION);
    OK(AdsDeleteTable(table));
}

static void in_memory(void)
{
    ADSHANDLE table = 0, again = 0, statement = 0, cursor = 0, other = 0;
    UNSIGNED32 count = 0;

    OK(AdsCreateMemTable(connection, TEXT("kept"), ADS_CDX, ADS_ANSI, TEXT("NAME,Character,10;AGE,Numeric,5,0"), 0, &table));
    people(table);
    IS(access("kept.dbf", F_OK), -1);
    IS(AdsCreateMemTable90(connection, TEXT("kept"), ADS_CDX, ADS_ANSI, TEXT("NAME,Character,10"), 100, NULL, &again), 7004);
    IS(AdsCreateMemTable90(connection, TEXT("two"), ADS_CDX, ADS_ANSI, TEXT("NAME,Character,10"), 100, TEXT("GERMAN"), &again),
       AE_UNSUPPORTED_COLLATION);
    IS(AdsCreateMemTable(connection, TEXT(""), ADS_CDX, ADS_ANSI, TEXT("NAME,Character,10"), 0, &again), AE_INVALID_PATH);
    OK(AdsCloseTable(table));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT name FROM #kept WHERE age > 25"), &cursor));
    OK(AdsGetRecordCount(cursor, ADS_RESPECTFILTERS, &count));
    IS(count, 4);
    OK(AdsCloseSQLStatement(statement));

    OK(AdsConnect(TEXT("."), &other));
    IS(AdsOpenTable(other, TEXT("#kept"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED, &table),
       AE_FILE_NOT_FOUND);
    OK(AdsDisconnect(other));
    OK(AdsCreateMemTable90(connection, TEXT("gone"), ADS_ADT, ADS_ANSI, TEXT("Long Name,Character,10"), 0, NULL, &table));
    OK(AdsDeleteTable(table));
    OK(AdsCreateMemTable(connection, TEXT("gone"), ADS_ADT, ADS_ANSI, TEXT("Long Name,Character,10"), 0, &table));
    OK(AdsCloseTable(table));
}

/* "When usTableType is ADS_ADT, this parameter is ignored" (AdsCreateTable, AdsOpenTable, AdsRestructureTable). */
static void ignored(void)
{
    ADSHANDLE table = 0, order = 0;
    UNSIGNED16 answer = 7, length = 40;
    UNSIGNED32 long_length = 40;
    UNSIGNED8 text[40];

    OK(AdsCreateTable(connection, TEXT("ignored"), NULL, ADS_ADT, ADS_ANSI, 7, ADS_IGNORERIGHTS, 0,
                      TEXT("Last Name,Character,20;City,Character,20"), &table));
    OK(AdsGetTableLockType(table, &answer));
    IS(answer, ADS_COMPATIBLE_LOCKING);
    OK(AdsExpressionLongToShort(table, TEXT("City;UPPER(Last Name)"), text, &length));
    SAME(text, "F2;UPPER(F1)");
    IS(length, 12);
    length = 40;
    OK(AdsExpressionShortToLong(table, TEXT("F2;UPPER(F1)"), text, &length));
    SAME(text, "City;UPPER(Last Name)");
    OK(AdsExpressionLongToShort90(table, TEXT("City"), text, &long_length));
    SAME(text, "F2");
    long_length = 40;
    OK(AdsExpressionLongToShort100(table, TEXT("Last Name"), text, &long_length, 0));
    SAME(text, "F1");
    long_length = 40;
    IS(AdsExpressionLongToShort100(table, TEXT("Last Name"), text, &long_length, 9), AE_INVALID_OPTION);
    OK(AdsExpressionShortToLong90(table, TEXT("F1"), text, &long_length));
    SAME(text, "Last Name");
    long_length = 3;
    IS(AdsExpressionShortToLong90(table, TEXT("F1"), text, &long_length), AE_INSUFFICIENT_BUFFER);
    IS(long_length, 9);
    IS(AdsExpressionShortToLong90(table, NULL, text, &long_length), AE_INVALID_POINTER);
    OK(AdsCloseTable(table));
    IS(AdsOpenTable(connection, TEXT("ignored"), NULL, ADS_CDX, ADS_ANSI, 7, ADS_IGNORERIGHTS, ADS_SHARED, &table),
       AE_INVALID_OPTION);
    OK(AdsOpenTable(connection, TEXT("ignored"), NULL, ADS_ADT, ADS_ANSI, 7, ADS_IGNORERIGHTS, ADS_SHARED, &table));

    /* Where there is no record, no lock is in the list. */
    answer = 7;
    OK(AdsIsRecordLocked(table, 0, &answer));
    IS(answer, 0);
    OK(AdsCloseTable(table));

    table = created("ordered", ADS_CDX, "NAME,Character,10");
    long_length = 5;
    OK(AdsExpressionLongToShort90(table, TEXT("NAME"), text, &long_length));
    SAME(text, "NAME");
    OK(AdsAppendRecord(table));
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0, &order));
    IS(AdsAddCustomKey(order), AE_INVALID_INDEX_HANDLE);
    IS(AdsDeleteCustomKey(order), AE_INVALID_INDEX_HANDLE);
    IS(AdsCreateIndex61(table, TEXT("words.fts"), TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0, &order),
       AE_INVALID_INDEX_NAME);
    IS(AdsCreateFTSIndex(table, TEXT("words.fts"), TEXT("WORDS"), TEXT("NAME"), 0, 3, 30, 1, NULL, 1, NULL, 1, NULL, 1, NULL, NULL,
                         NULL, 0),
       AE_INVALID_INDEX_NAME);
    OK(AdsCloseTable(table));
}

int main(int argc, char **argv)
{
    if (argc != 2 || chdir(argv[1]) != 0)
        return 2;
    OK(AdsConnect(TEXT("."), &connection));
    texts();
    errors();
    copies();
    filters();
    in_memory();
    ignored();
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    return failures != 0;
}
