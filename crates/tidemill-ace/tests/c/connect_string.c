/*
 * What the text of a connection says, and settings of one connection or table.
 */
#include <unistd.h>

#include "check.h"

static const char *folder;

static UNSIGNED32 connected(const char *options, ADSHANDLE *table, ADSHANDLE *connection)
{
    char text[900];

    snprintf(text, sizeof text, "Data Source='%s';ServerType=LOCAL;%s", folder, options);
    *connection = 0;
    return AdsConnect101(TEXT(text), table, connection);
}

static ADSHANDLE opened(ADSHANDLE connection, const char *name)
{
    ADSHANDLE table = 0;

    OK(AdsOpenTable101(connection, TEXT(name), &table));
    return table;
}

/* A DBF and an ADT of the same name. */
static void make(ADSHANDLE connection)
{
    ADSHANDLE table = 0;
    UNSIGNED16 type;

    for (type = ADS_CDX; type <= ADS_ADT; type++) {
        OK(AdsCreateTable(connection, TEXT("people"), NULL, type, ADS_OEM, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                          TEXT("NAME,Character,10;BORN,Date;NOTE,Memo"), &table));
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("NAME"), TEXT("Adams"), 5));
        OK(AdsSetJulian(table, TEXT("BORN"), 2460311));
        OK(AdsWriteRecord(table));
        OK(AdsCloseTable(table));
    }
}

static UNSIGNED16 type_of(ADSHANDLE table)
{
    UNSIGNED16 type = 0;

    OK(AdsGetTableType(table, &type));
    return type;
}

static UNSIGNED32 mode_of(ADSHANDLE table)
{
    UNSIGNED32 mode = 0;

    OK(AdsGetTableOpenOptions(table, &mode));
    return mode;
}

static void tables(void)
{
    ADSHANDLE connection, table;
    UNSIGNED16 number = 9;

    OK(connected("TableType=ADT;ReadOnly=TRUE", NULL, &connection));
    table = opened(connection, "people");
    IS(type_of(table), ADS_ADT);
    IS(mode_of(table), ADS_READONLY);
    IS(AdsAppendRecord(table), AE_TABLE_READONLY);
    OK(AdsDisconnect(connection));

    OK(connected("TableType=ADS_CDX;Shared=FALSE;LockMode=PROPRIETARY;CharType=OEM", NULL, &connection));
    table = opened(connection, "people");
    IS(type_of(table), ADS_CDX);
    IS(mode_of(table), ADS_EXCLUSIVE);
    OK(AdsGetTableLockType(table, &number));
    IS(number, ADS_PROPRIETARY_LOCKING);
    OK(AdsGetTableCharType(table, &number));
    IS(number, ADS_OEM);
    OK(AdsDisconnect(connection));

    OK(connected("TableType = CDX; tabletype = adt; CharType=OEM; LockMode=Compatible", NULL, &connection));
    table = opened(connection, "people");
    IS(type_of(table), ADS_ADT);
    IS(mode_of(table), ADS_SHARED);
    OK(AdsDisconnect(connection));

    IS(connected("TableType=DBF", NULL, &connection), AE_INVALID_OPTION);
    IS(connection, 0);
    IS(connected("ReadOnly=maybe", NULL, &connection), AE_INVALID_OPTION);
    IS(connected("Decimals=21", NULL, &connection), AE_INVALID_OPTION);
    IS(connected("DateFormat=x", NULL, &connection), AE_INVALID_DATEFORMAT);
    IS(connected("Collation=GERMAN_VFP_CI_AS_1252", NULL, &connection), AE_UNSUPPORTED_COLLATION);
    IS(connected("EncryptionPassword=secret", NULL, &connection), AE_FUNCTION_NOT_AVAILABLE);
    IS(connected("CheckFreeTableAccess=TRUE", NULL, &connection), AE_FUNCTION_NOT_AVAILABLE);
    IS(connected("Password='x", NULL, &connection), AE_INVALID_OPTION);
    IS(connected("nothing", NULL, &connection), AE_INVALID_OPTION);
    IS(AdsOpenTable101(connection + 77, TEXT("people"), &table), AE_INVALID_CONNECTION_HANDLE);
}

/* A folder whose name has a semicolon. */
static void quotes(void)
{
    ADSHANDLE connection = 0;
    char text[900];

    OK(access("a;b", F_OK) ? 0 : 1);
    if (system("mkdir 'a;b'") != 0)
        failures++;
    OK(AdsConnect101(TEXT("Data Source='a;b';ServerType=LOCAL|REMOTE"), NULL, &connection));
    OK(AdsDisconnect(connection));
    OK(AdsConnect101(TEXT("Data Source=\"a;b\"; ServerType=1"), NULL, &connection));
    OK(AdsDisconnect(connection));
    snprintf(text, sizeof text, "data  source = %s ; data source = a ; Data Source = %s", "nowhere", folder);
    OK(AdsConnect101(TEXT(text), NULL, &connection));
    OK(AdsDisconnect(connection));
    IS(AdsConnect101(TEXT("Data Source=.;ServerType=2"), NULL, &connection), AE_NO_CONNECTION);
}

static const char *born(ADSHANDLE table)
{
    return trimmed(table, "BORN");
}

/* Dates and exactness are the connection's, or the table's; what is set for all counts from then on. */
static void settings(void)
{
    ADSHANDLE one, other, first, second, statement = 0, cursor = 0;
    UNSIGNED8 text[40];
    UNSIGNED16 length = sizeof text, number = 9;
    UNSIGNED32 count = 9;
    SIGNED32 passed;
    UNSIGNED8 time[20];
    UNSIGNED16 time_length = sizeof time;
    DOUBLE day = 0;

    OK(connected("TableType=CDX;DateFormat=DD.MM.CCYY;Exact=TRUE;SQLTimeout=9;ApplicationID=Tester", NULL, &one));
    OK(connected("TableType=CDX;", NULL, &other));
    first = opened(one, "people");
    second = opened(other, "people");
    SAME(born(first), "01.01.2024");
    SAME(born(second), "01/01/2024");
    OK(AdsGetDateFormat60(one, text, &length));
    SAME(text, "DD.MM.CCYY");
    length = sizeof text;
    OK(AdsGetDateFormat60(other, text, &length));
    SAME(text, "MM/DD/CCYY");
    length = sizeof text;
    OK(AdsGetDateFormat(text, &length));
    SAME(text, "MM/DD/CCYY");
    OK(AdsSetDateFormat60(other, TEXT("CCYY-MM-DD")));
    SAME(born(second), "2024-01-01");
    SAME(born(first), "01.01.2024");
    OK(AdsSetField(first, TEXT("BORN"), TEXT("31.12.2023"), 10));
    OK(AdsWriteRecord(first));
    SAME(born(first), "31.12.2023");
    OK(AdsSetDate(first, TEXT("BORN"), TEXT("30.12.2023"), 10));
    OK(AdsWriteRecord(first));
    OK(AdsRefreshRecord(second));
    SAME(born(second), "2023-12-30");
    OK(AdsConvertDateToJulian(one, TEXT("30.12.2023"), 10, &day));
    IS(day, 2460309);
    IS(AdsConvertDateToJulian(other, TEXT("30.12.2023"), 10, &day), AE_INVALID_DAY);
    length = sizeof text;
    OK(AdsGetServerTime(one, text, &length, &passed, time, &time_length));
    IS(text[2], '.');
    OK(AdsCreateSQLStatement(one, &statement));
    OK(AdsPrepareSQL(statement, TEXT("SELECT NAME FROM people WHERE BORN = :DAY")));
    OK(AdsSetDate(statement, TEXT("DAY"), TEXT("30.12.2023"), 10));
    OK(AdsExecuteSQL(statement, &cursor));
    SAME(trimmed(cursor, "NAME"), "Adams");
    OK(AdsStmtSetTableType(statement, ADS_CDX));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT BORN, ApplicationID() AS WHO FROM people"), &cursor));
    SAME(born(cursor), "30.12.2023");
    SAME(trimmed(cursor, "WHO"), "Tester");
    OK(AdsCloseSQLStatement(statement));

    OK(AdsGetExact22(one, &number));
    IS(number, 1);
    OK(AdsGetExact22(first, &number));
    IS(number, 1);
    OK(AdsGetExact22(second, &number));
    IS(number, 0);
    OK(AdsGetExact(&number));
    IS(number, 0);
    OK(AdsSetFilter(first, TEXT("NAME = 'Ad'")));
    OK(AdsGetRecordCount(first, ADS_RESPECTFILTERS, &count));
    IS(count, 0);
    OK(AdsSetFilter(second, TEXT("NAME = 'Ad'")));
    OK(AdsGetRecordCount(second, ADS_RESPECTFILTERS, &count));
    IS(count, 1);
    OK(AdsSetExact22(second, 1));
    OK(AdsGetExact22(second, &number));
    IS(number, 1);
    OK(AdsGetExact22(other, &number));
    IS(number, 0);
    OK(AdsSetAOF(second, TEXT("NAME = 'Ad'"), ADS_DEFAULT));
    OK(AdsGetRecordCount(second, ADS_RESPECTFILTERS, &count));
    IS(count, 0);
    OK(AdsSetExact22(other, 0));
    OK(AdsGetExact22(second, &number));
    IS(number, 0);
    OK(AdsSetExact22(other, 1));
    OK(AdsSetExact(0));
    OK(AdsGetExact22(one, &number));
    IS(number, 0);
    OK(AdsGetExact22(second, &number));
    IS(number, 0);
    OK(AdsSetDateFormat(TEXT("CCYY/MM/DD")));
    SAME(born(first), "2023/12/30");
    OK(AdsSetDateFormat(TEXT("MM/DD/CCYY")));
    SAME(born(second), "12/30/2023");
    IS(AdsSetExact22(77, 1), AE_INVALID_HANDLE);
    IS(AdsSetDateFormat60(first, TEXT("CCYY/MM/DD")), AE_INVALID_CONNECTION_HANDLE);
    IS(AdsSetDateFormat60(one, TEXT("x")), AE_INVALID_DATEFORMAT);
    OK(AdsDisconnect(one));
    OK(AdsDisconnect(other));

    OK(connected("Decimals=5;Epoch=1950;ShowDeleted=FALSE", NULL, &one));
    OK(AdsGetDecimals(&number));
    IS(number, 5);
    OK(AdsGetEpoch(&number));
    IS(number, 1950);
    OK(AdsGetDeleted(&number));
    IS(number, 0);
    OK(AdsSetDecimals(2));
    OK(AdsSetEpoch(1900));
    OK(AdsShowDeleted(1));
    OK(AdsDisconnect(one));
}

static const char *shown(ADSHANDLE table, UNSIGNED16 option)
{
    static UNSIGNED8 buffer[40];
    UNSIGNED32 length = sizeof buffer;

    OK(AdsGetString(table, TEXT("NAME"), buffer, &length, option));
    return (const char *) buffer;
}

static void blanks(void)
{
    ADSHANDLE connection, table;
    WCHAR units[20];
    UNSIGNED32 length = 20;

    OK(connected("TableType=CDX;TrimTrailingSpaces=TRUE", NULL, &connection));
    table = opened(connection, "people");
    SAME(shown(table, ADS_NONE), "Adams");
    SAME(shown(table, ADS_LTRIM), "Adams     ");
    OK(AdsGetStringW(table, TEXT("NAME"), units, &length, ADS_NONE));
    IS(length, 5);
    OK(AdsDisconnect(connection));
    OK(connected("TableType=CDX", NULL, &connection));
    SAME(shown(opened(connection, "people"), ADS_NONE), "Adams     ");
    OK(AdsDisconnect(connection));
}

static void options(void)
{
    ADSHANDLE connection, table = 0;
    UNSIGNED32 count = 0;

    OK(connected("ReadOnly=TRUE;Unknown=\"a;b\"", &table, &connection));
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, 4);
    OK(AdsGotoTop(table));
    SAME(trimmed(table, "Name"), "Data Source");
    SAME(trimmed(table, "Value"), folder);
    OK(AdsGotoBottom(table));
    SAME(trimmed(table, "Name"), "Unknown");
    SAME(trimmed(table, "Value"), "a;b");
    OK(AdsDisconnect(connection));
    OK(AdsGotoTop(table));
    OK(AdsCloseTable(table));
}

static void dictionaries(void)
{
    ADSHANDLE dictionary = 0, connection, options = 0;

    OK(AdsDDCreate101(TEXT("Data Source=made.add;Password='se;cret';Description=\"a; b\";DateFormat=DD.MM.CCYY"), &options,
                      &dictionary));
    OK(AdsCloseTable(options));
    OK(AdsDisconnect(dictionary));
    IS(AdsConnect101(TEXT("Data Source=made.add;User ID=ADSSYS;Password=other"), NULL, &connection) != AE_SUCCESS, 1);
    OK(AdsConnect101(TEXT("Data Source=made.add;User ID=ADSSYS;Password='se;cret'"), NULL, &connection));
    OK(AdsDisconnect(connection));
    IS(AdsDDCreate101(TEXT("Data Source=none.add;TableType=x"), NULL, &dictionary), AE_INVALID_OPTION);
    IS(access("none.add", F_OK), -1);
    IS(AdsDDCreate101(TEXT("Data Source=none.add;EncryptDictionary=TRUE"), NULL, &dictionary), AE_FUNCTION_NOT_AVAILABLE);
    IS(AdsDDCreate101(TEXT("Description=x"), NULL, &dictionary), AE_INVALID_PATH);
}

int main(int count, char **arguments)
{
    ADSHANDLE connection = 0;

    if (count != 2 || chdir(arguments[1]) != 0)
        return 2;
    folder = arguments[1];
    OK(AdsConnect(TEXT("."), &connection));
    make(connection);
    OK(AdsDisconnect(connection));
    tables();
    quotes();
    settings();
    blanks();
    options();
    dictionaries();
    return failures != 0;
}
