/*
 * Functions beside older ones: with numbers behind their names, for UTF-16, with options. Argument: an empty folder.
 */

#include <unistd.h>

#include "check.h"

static ADSHANDLE connection, table, by_name;

static void filters(void)
{
    UNSIGNED8 buffer[100];
    UNSIGNED16 level = 77, found = 77;
    UNSIGNED32 length = sizeof buffer, count = 77;

    OK(AdsSetFilter100(table, utf16("NAME = 'b'"), ADS_ENCODE_UTF16));
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &count));
    IS(count, 1);
    OK(AdsSetFilter100(table, TEXT("NAME < 'c'"), ADS_ENCODE_UTF8));
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &count));
    IS(count, 2);
    OK(AdsClearFilter(table));
    OK(AdsEvalAOF100(table, utf16("NAME = 'b'"), ADS_ENCODE_UTF16, &level));
    IS(level, ADS_OPTIMIZED_FULL);
    IS(AdsGetAOF100(table, ADS_ENCODE_UTF8, buffer, &length), AE_NO_FILTER);
    OK(AdsSetAOF100(table, utf16("NAME > 'a' .AND. MARK"), ADS_ENCODE_UTF16));
    length = sizeof buffer;
    OK(AdsGetAOF100(table, ADS_ENCODE_UTF8, buffer, &length));
    SAME(buffer, "NAME > 'a' .AND. MARK");
    length = sizeof buffer;
    OK(AdsGetAOF100(table, ADS_ENCODE_UTF16, buffer, &length));
    IS(length, 2 * strlen("NAME > 'a' .AND. MARK"));
    IS(memcmp(buffer, utf16("NAME > 'a' .AND. MARK"), length), 0);
    length = sizeof buffer;
    OK(AdsGetAOFOptLevel100(table, &level, buffer, &length, ADS_ENCODE_UTF8));
    IS(level, ADS_OPTIMIZED_PART);
    IS(length > 0, 1);
    OK(AdsClearAOF(table));
    OK(AdsGotoRecord(table, 2));
    OK(AdsEvalLogicalExprW(table, utf16("NAME = 'b'"), &found));
    IS(found, 1);
    IS(AdsEvalLogicalExprW(table, utf16("NAME"), &found), AE_INVALID_EXPRESSION);
    IS(AdsEvalLogicalExprW(table, NULL, &found), AE_INVALID_POINTER);
}

static void fields(void)
{
    UNSIGNED32 length = 77, page = 77;
    UNSIGNED64 moment;
    ADSHANDLE statement, cursor;

    OK(AdsGotoRecord(table, 1));
    OK(AdsGetFieldLength100(table, TEXT("NAME"), ADS_CODEUNIT_LENGTH, &length));
    IS(length, 6);
    OK(AdsGetFieldLength100(table, TEXT("NAME"), ADS_BYTE_LENGTH, &length));
    IS(length, 6);
    IS(AdsGetFieldLength100(table, TEXT("NAME"), 9, &length), AE_INVALID_OPTION);
    OK(AdsGetDataLength(table, TEXT("NOTE"), ADS_BYTE_LENGTH, &length));
    IS(length, 0);

    OK(AdsSetTimeStamp(table, TEXT("STAMP"), TEXT("2000-01-02 13:14:15.250"), 23));
    SAME(trimmed(table, "STAMP"), "01/02/2000 01:14:15 PM");
    OK(AdsSetTimeStamp(table, ADSFIELD(3), TEXT("03/04/2001 01:02:03 AM"), 22));
    SAME(trimmed(table, "STAMP"), "03/04/2001 01:02:03 AM");
    moment = 2451545 | (UNSIGNED64) (((1 * 60 + 2) * 60 + 3) * 1000) << 32;
    OK(AdsSetTimeStampRaw(table, TEXT("STAMP"), &moment, 8));
    SAME(trimmed(table, "STAMP"), "01/01/2000 01:02:03 AM");
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsPrepareSQL(statement, TEXT("SELECT :at AS at FROM system.iota")));
    OK(AdsSetTimeStampRaw(statement, TEXT("at"), &moment, 8));
    OK(AdsExecuteSQL(statement, &cursor));
    SAME(trimmed(cursor, "at"), "01/01/2000 01:02:03 AM");
    OK(AdsCloseSQLStatement(statement));
    IS(AdsSetTimeStampRaw(table, TEXT("STAMP"), &moment, 4), AE_INVALID_VALUE);
    IS(AdsSetTimeStampRaw(table, TEXT("STAMP"), NULL, 8), AE_INVALID_POINTER);
    IS(AdsSetTimeStampRaw(table, TEXT("NAME"), &moment, 8), AE_INVALID_FIELD_TYPE);
    moment |= (UNSIGNED64) 0x7FFFFFFF << 32;
    IS(AdsSetTimeStampRaw(table, TEXT("STAMP"), &moment, 8), AE_INVALID_VALUE);
    OK(AdsSetString(table, TEXT("STAMP"), TEXT("12/31/1999"), 10));
    SAME(trimmed(table, "STAMP"), "12/31/1999 12:00:00 AM");
    IS(AdsSetTimeStamp(table, TEXT("STAMP"), TEXT("31/31/1999"), 10), AE_INVALID_MONTH);
    IS(AdsSetTimeStamp(table, TEXT("STAMP"), TEXT("12/31/1999 25:00"), 16), AE_INVALID_VALUE);
    IS(AdsSetTimeStamp(table, TEXT("NAME"), TEXT("12/31/1999"), 10), AE_INVALID_FIELD_TYPE);

    /* An umlaut of code page 850 in a table of 1252, and a letter that 1252 has not got. */
    OK(AdsSetStringFromCodePage(table, 850, TEXT("NAME"), TEXT("\x81x"), 2));
    SAME(trimmed(table, "NAME"), "\xfcx");
    IS(AdsSetStringFromCodePage(table, 866, TEXT("NAME"), TEXT("\x80"), 1), AE_UNICODE_CONVERSION);
    IS(AdsSetStringFromCodePage(table, 7, TEXT("NAME"), TEXT("x"), 1), AE_INVALID_OPTION);
    OK(AdsGetIntProperty(table, ADS_CODE_PAGE, &page));
    IS(page, 1252);
    IS(AdsGetIntProperty(table, 99, &page), AE_INVALID_OPTION);

    OK(AdsSetString(table, TEXT("NOTE"), TEXT("a note"), 6));
    OK(AdsGetDataLength(table, TEXT("NOTE"), ADS_BYTE_LENGTH, &length));
    IS(length, 6);
    OK(AdsBinaryToFileW(table, TEXT("NOTE"), utf16("note.txt")));
    IS(access("note.txt", F_OK), 0);
    OK(AdsSetEmpty(table, TEXT("NOTE")));
    OK(AdsFileToBinaryW(table, TEXT("NOTE"), ADS_BINARY, utf16("note.txt")));
    SAME(trimmed(table, "NOTE"), "a note");
    IS(AdsFileToBinaryW(table, TEXT("NOTE"), ADS_BINARY, utf16("nosuch")), AE_BINARY_FILE_ERROR);
    OK(AdsWriteRecord(table));
}

static void searches(void)
{
    UNSIGNED8 name[100], dictionary[100] = "x";
    UNSIGNED16 length = sizeof name, dictionary_length = sizeof dictionary;
    ADSHANDLE search = 0;

    OK(AdsFindFirstTable62(connection, TEXT("*.dbf"), dictionary, &dictionary_length, name, &length, &search));
    SAME(dictionary, "");
    IS(dictionary_length, 0);
    SAME(name, "variants.dbf");
    length = sizeof name;
    IS(AdsFindNextTable62(connection, search, NULL, NULL, name, &length), AE_NO_FILE_FOUND);
    OK(AdsFindClose(connection, search));
}

static void settings(void)
{
    UNSIGNED8 buffer[100];
    UNSIGNED16 length = sizeof buffer, number = 77, user;
    UNSIGNED32 room = sizeof buffer, protocol = 77;

    OK(AdsSetDateFormat60(0, TEXT("DD.MM.CCYY")));
    OK(AdsGetDateFormat60(connection, buffer, &length));
    SAME(buffer, "DD.MM.CCYY");
    OK(AdsSetDateFormat60(connection, TEXT("CCYY-MM-DD")));
    length = sizeof buffer;
    OK(AdsGetDateFormat60(connection, buffer, &length));
    SAME(buffer, "CCYY-MM-DD");
    OK(AdsSetDateFormat60(0, TEXT("MM/DD/CCYY")));
    OK(AdsSetExact22(0, ADS_TRUE));
    OK(AdsGetExact22(table, &number));
    IS(number, 1);
    OK(AdsSetExact22(table, ADS_FALSE));
    OK(AdsGetExact22(table, &number));
    IS(number, 0);
    OK(AdsSetExact22(0, ADS_FALSE));
    OK(AdsGetExact22(0, &number));
    IS(number, 0);
    OK(AdsSetRightsChecking(ADS_IGNORE_RIGHTS_CHECKING));
    IS(AdsSetRightsChecking(ADS_RESPECT_RIGHTS_CHECKING), AE_FUNCTION_NOT_AVAILABLE);
    IS(AdsNullTerminateStrings(ADS_FALSE), AE_OBSOLETE_FUNCTION);
    IS(AdsSetCollationLang(TEXT("GERMAN")), AE_OBSOLETE_FUNCTION);
    IS(AdsGetCollationLang(buffer, &length), AE_OBSOLETE_FUNCTION);
    OK(AdsGetTableRights(table, &number));
    IS(number, ADS_IGNORERIGHTS);

    OK(AdsGetConnectionProperty(connection, ADS_CONNECTIONPROP_USERNAME, buffer, &room));
    SAME(buffer, "");
    room = sizeof protocol;
    OK(AdsGetConnectionProperty(connection, ADS_CONNECTIONPROP_PROTOCOL, &protocol, &room));
    IS(protocol, 0);
    IS(room, sizeof protocol);
    room = sizeof user;
    OK(AdsGetConnectionProperty(connection, ADS_CONNECTIONPROP_FIPS_MODE, &user, &room));
    IS(user, 0);
    room = sizeof buffer;
    IS(AdsGetConnectionProperty(connection, 99, buffer, &room), AE_INVALID_OPTION);
    IS(AdsGetConnectionProperty(table, ADS_CONNECTIONPROP_USERNAME, buffer, &room), AE_INVALID_CONNECTION_HANDLE);
    length = sizeof buffer;
    OK(AdsGetCollation(connection, buffer, &length));
    IS(length, 0);
    length = sizeof buffer;
    OK(AdsGetTableCollation(table, buffer, &length));
    IS(length, 0);
    length = sizeof buffer;
    OK(AdsGetIndexCollation(by_name, buffer, &length));
    IS(length, 0);
    OK(AdsIsIndexFTS(by_name, &number));
    IS(number, 0);
    OK(AdsIsIndexPrimaryKey(by_name, &number));
    IS(number, 0);
    IS(AdsIsIndexPrimaryKey(table, &number), AE_INVALID_INDEX_HANDLE);
    OK(AdsIsTableTransactionFree(table, &number));
    IS(number, 0);
}

static void structures(void)
{
    UNSIGNED32 count = 77;
    UNSIGNED16 number = 77;

    OK(AdsGotoRecord(table, 1));
    OK(AdsDeleteRecord(table));
    IS(AdsPackTable120(table, 512, 0), AE_FUNCTION_NOT_AVAILABLE);
    OK(AdsPackTable120(table, ADS_DEFAULT, 0));
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, 2);
    OK(AdsReindex61(table, ADS_DEFAULT));
    OK(AdsGetKeyCount(by_name, ADS_IGNOREFILTERS, &count));
    IS(count, 2);
    OK(AdsCloseTable(table));
    OK(AdsRestructureTable90(connection, TEXT("variants"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                             ADS_IGNORERIGHTS, TEXT("MORE,Character,5"), NULL, NULL, NULL));
    IS(AdsRestructureTable90(connection, TEXT("variants"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                             ADS_IGNORERIGHTS, NULL, TEXT("MORE"), NULL, TEXT("GERMAN_VFP_CI_AS_1252")),
       AE_UNSUPPORTED_COLLATION);
    OK(AdsRestructureTable120(connection, TEXT("variants"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                              ADS_IGNORERIGHTS, NULL, TEXT("MARK"), NULL, NULL, ADS_DEFAULT, 0));
    OK(AdsOpenTable101(connection, TEXT("variants"), &table));
    OK(AdsGetNumFields(table, &number));
    IS(number, 4);
    OK(AdsGotoTop(table));
    SAME(trimmed(table, "MORE"), "");
    SAME(trimmed(table, "NAME"), "b");
}

int main(int arguments, char **argument)
{
    const char *names[] = {"a", "b", "c"};
    int at;

    if (arguments != 2 || chdir(argument[1]) != 0)
        return 2;
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT("variants"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("NAME,Character,6;MARK,Logical;STAMP,Timestamp;NOTE,Memo"), &table));
    for (at = 0; at < 3; at++) {
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("NAME"), TEXT(names[at]), 1));
    }
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 512, &by_name));
    filters();
    fields();
    searches();
    settings();
    structures();
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
