/*
 * Functions for SAP's own components: parts of keys, marks in records, locks until a record is left, cursors that are read anew.
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

static ADSHANDLE opened(const char *name, UNSIGNED16 type)
{
    ADSHANDLE table = 0;

    OK(AdsOpenTable(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED, &table));
    return table;
}

static void append(ADSHANDLE table, const char *name, double age)
{
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("NAME"), TEXT(name), LENGTH(name)));
    OK(AdsSetDouble(table, TEXT("AGE"), age));
    OK(AdsWriteRecord(table));
}

static ADSHANDLE order(ADSHANDLE table, const char *tag, const char *expression, UNSIGNED32 options)
{
    ADSHANDLE index = 0;

    OK(AdsCreateIndex61(table, NULL, TEXT(tag), TEXT(expression), NULL, NULL, ADS_COMPOUND | options, 0, &index));
    return index;
}

/* A segment is NAME:OFFSET, with a minus behind it where it descends. */
static const char *segment(ADSHANDLE index, UNSIGNED16 number)
{
    static char text[80];
    UNSIGNED8 name[40] = "";
    UNSIGNED16 length = sizeof name, offset = 999, descends = 999;

    OK(AdsGetSegmentFieldname(index, number, name, &length));
    IS(length, strlen((char *) name));
    OK(AdsGetSegmentOffset(index, number, &offset));
    OK(AdsIsSegmentDescending(index, number, &descends));
    snprintf(text, sizeof text, "%s:%d%s", (char *) name, offset, descends ? "-" : "");
    return text;
}

static void segments(void)
{
    ADSHANDLE table = created("parts", ADS_CDX, "NAME,Character,10;BORN,Date;AGE,Numeric,5,0;CITY,Character,8"), index;
    UNSIGNED8 name[40];
    UNSIGNED16 length = sizeof name, number;

    index = order(table, "CITY", "CITY", ADS_DESCENDING);
    SAME(segment(index, 1), "CITY:0-");
    index = order(table, "ALL", "UPPER(CITY) + DTOS(BORN) + STR(AGE, 9) + '+' + NAME", 0);
    SAME(segment(index, 1), "CITY:0");
    SAME(segment(index, 2), "BORN:8");
    SAME(segment(index, 3), "AGE:16");
    SAME(segment(index, 4), "NAME:26");
    IS(AdsGetSegmentFieldname(index, 0, name, &length), AE_INVALID_FIELDNUMBER);
    IS(AdsGetSegmentFieldname(index, 5, name, &length), AE_INVALID_FIELDNUMBER);
    IS(AdsGetSegmentOffset(index, 5, &number), AE_INVALID_FIELDNUMBER);
    IS(AdsIsSegmentDescending(index, 0, &number), AE_INVALID_FIELDNUMBER);
    IS(AdsGetSegmentFieldname(table, 1, name, &length), AE_INVALID_INDEX_HANDLE);
    length = 3;
    IS(AdsGetSegmentFieldname(index, 4, name, &length), AE_INSUFFICIENT_BUFFER);
    /* Where NAME lies depends on the length of what precedes it. */
    index = order(table, "CUT", "TRIM(CITY) + NAME", 0);
    IS(AdsGetSegmentOffset(index, 2, &number), AE_FUNCTION_NOT_AVAILABLE);
    index = order(table, "CUT2", "LEFT(CITY + NAME, 12)", 0);
    IS(AdsGetSegmentOffset(index, 2, &number), AE_FUNCTION_NOT_AVAILABLE);
    OK(AdsCloseTable(table));

    table = created("adtparts", ADS_ADT, "Name,Character,10;Born,Date;Age,Integer");
    index = order(table, "ALL", "Born;Name;Age", 0);
    SAME(segment(index, 1), "Born:0");
    OK(AdsGetSegmentOffset(index, 2, &number));
    OK(AdsGetKeyLength(index, &length));
    SAME(segment(index, 2), number == length - 10 - 4 ? "Name:4" : "Name:8");
    OK(AdsCloseTable(table));
}

static UNSIGNED32 seen(ADSHANDLE index)
{
    UNSIGNED32 count = 99;

    OK(AdsGetRecordCount(index, ADS_RESPECTSCOPES, &count));
    return count;
}

/* The bounds of a scope belong to it; a key that is stepped to leaves them out. */
static void steps(void)
{
    ADSHANDLE table = created("steps", ADS_CDX, "NAME,Character,4;AGE,Numeric,5,0"), by_name, by_age;
    UNSIGNED8 key[16];
    UNSIGNED16 length = sizeof key;
    const char *names[] = {"anna", "bert", "bert", "cleo"};
    unsigned i;

    for (i = 0; i < 4; i++)
        append(table, names[i], 10.0 * i);
    by_name = order(table, "NAME", "NAME", 0);
    by_age = order(table, "AGE", "AGE", 0);
    memcpy(key, "bert", 4);
    OK(AdsSetScope(by_name, ADS_TOP, key, 4, ADS_RAWKEY));
    IS(seen(by_name), 3);
    OK(AdsStepIndexKey(by_name, key, 4, 1));
    OK(AdsSetScope(by_name, ADS_TOP, key, 4, ADS_RAWKEY));
    IS(seen(by_name), 1);
    OK(AdsStepIndexKey(by_name, key, 4, -1));
    IS(memcmp(key, "bert", 4), 0);

    OK(AdsGotoRecord(table, 3));
    OK(AdsExtractKey(by_age, key, &length));
    IS(length, 8);
    OK(AdsSetScope(by_age, ADS_BOTTOM, key, length, ADS_RAWKEY));
    IS(seen(by_age), 3);
    OK(AdsStepIndexKey(by_age, key, length, -7));
    OK(AdsSetScope(by_age, ADS_BOTTOM, key, length, ADS_RAWKEY));
    IS(seen(by_age), 2);

    memcpy(key, "a\xFF\xFF", 3);
    OK(AdsStepIndexKey(by_name, key, 3, 1));
    IS(memcmp(key, "b\0\0", 3), 0);
    OK(AdsStepIndexKey(by_name, key, 3, -1));
    IS(memcmp(key, "a\xFF\xFF", 3), 0);
    memcpy(key, "\xFF\xFF", 2);
    IS(AdsStepIndexKey(by_name, key, 2, 1), AE_INVALID_KEY_LENGTH);
    IS(memcmp(key, "\xFF\xFF", 2), 0);
    IS(AdsStepIndexKey(by_name, key, 0, 1), AE_INVALID_KEY_LENGTH);
    IS(AdsStepIndexKey(by_name, key, 2, 0), AE_INVALID_OPTION);
    IS(AdsStepIndexKey(table, key, 2, 1), AE_INVALID_INDEX_HANDLE);
    OK(AdsCloseTable(table));
}

static void marks(void)
{
    ADSHANDLE table = created("marks", ADS_VFP, "NAME,Character,10,NULL;AGE,Numeric,5,0,NOCPTRANS;BORN,Date,NULL"), other;
    UNSIGNED8 record[64];
    UNSIGNED32 length = sizeof record;
    UNSIGNED16 is_null = 9;

    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("NAME"), TEXT("Adams"), 5));
    OK(AdsSetNull(table, TEXT("BORN")));
    OK(AdsWriteRecord(table));
    OK(AdsGetRecord(table, record, &length));
    OK(AdsAccessVfpSystemField(table, TEXT("NAME"), record, 1, &is_null));
    IS(is_null, 0);
    OK(AdsAccessVfpSystemField(table, ADSFIELD(3), record, 1, &is_null));
    IS(is_null, 1);
    is_null = 1;
    OK(AdsAccessVfpSystemField(table, TEXT("NAME"), record, 2, &is_null));
    is_null = 0;
    OK(AdsAccessVfpSystemField(table, TEXT("BORN"), record, 2, &is_null));
    IS(memcmp(record + 1, "Adams", 5), 0);
    OK(AdsSetRecord(table, record, length));
    OK(AdsWriteRecord(table));
    OK(AdsIsNull(table, TEXT("NAME"), &is_null));
    IS(is_null, 1);
    OK(AdsIsNull(table, TEXT("BORN"), &is_null));
    IS(is_null, 0);
    IS(AdsAccessVfpSystemField(table, TEXT("AGE"), record, 1, &is_null), AE_NOT_VFP_NULLABLE_FIELD);
    IS(AdsAccessVfpSystemField(table, TEXT("NONE"), record, 1, &is_null), AE_INVALID_FIELDNAME);
    IS(AdsAccessVfpSystemField(table, TEXT("NAME"), record, 4, &is_null), AE_FUNCTION_NOT_AVAILABLE);
    IS(AdsAccessVfpSystemField(table, TEXT("NAME"), record, 5, &is_null), AE_INVALID_OPTION);
    IS(AdsAccessVfpSystemField(table, TEXT("NAME"), NULL, 1, &is_null), AE_INVALID_POINTER);
    OK(AdsCloseTable(table));

    other = created("nomarks", ADS_CDX, "NAME,Character,10");
    IS(AdsAccessVfpSystemField(other, TEXT("NAME"), record, 1, &is_null), AE_NOT_VFP_NULLABLE_FIELD);
    OK(AdsCloseTable(other));
}

static UNSIGNED16 locked(ADSHANDLE table, UNSIGNED32 record)
{
    UNSIGNED16 is_locked = 9;

    OK(AdsIsRecordLocked(table, record, &is_locked));
    return is_locked;
}

static void locks(void)
{
    ADSHANDLE table = created("locks", ADS_CDX, "NAME,Character,10;AGE,Numeric,5,0"), other;
    UNSIGNED16 is_bof = 9;

    append(table, "anna", 1);
    append(table, "bert", 2);
    OK(AdsCloseTable(table));
    table = opened("locks", ADS_CDX);
    other = opened("locks", ADS_CDX);
    OK(AdsGotoRecord(table, 1));
    OK(AdsLockRecordImplicitly(table, 0));
    IS(locked(table, 1), 1);
    IS(AdsLockRecord(other, 1), AE_LOCK_FAILED);
    IS(AdsLockRecordImplicitly(table, 2), AE_INVALID_RECORD_NUMBER);
    OK(AdsGotoRecord(table, 2));
    IS(locked(table, 1), 0);
    OK(AdsLockRecord(other, 1));
    OK(AdsUnlockRecord(other, 1));
    OK(AdsLockRecordImplicitly(table, 2));
    OK(AdsSetDouble(table, TEXT("AGE"), 3));
    OK(AdsWriteRecord(table));
    IS(locked(table, 2), 0);
    OK(AdsGotoRecord(other, 2));
    OK(AdsLockRecord(other, 2));
    IS(AdsLockRecordImplicitly(table, 2), AE_LOCK_FAILED);
    OK(AdsUnlockTable(other));

    OK(AdsAtBOF(table, &is_bof));
    IS(is_bof, 0);
    OK(AdsSetBOFFlag(table, 1));
    OK(AdsAtBOF(table, &is_bof));
    IS(is_bof, 1);
    SAME(trimmed(table, "NAME"), "bert");
    OK(AdsSkip(table, -1));
    OK(AdsAtBOF(table, &is_bof));
    IS(is_bof, 0);
    SAME(trimmed(table, "NAME"), "anna");
    OK(AdsSetBOFFlag(table, 1));
    OK(AdsSetBOFFlag(table, 0));
    OK(AdsAtBOF(table, &is_bof));
    IS(is_bof, 0);
    OK(AdsCloseTable(other));
    OK(AdsCloseTable(table));
    IS(AdsLockRecordImplicitly(table, 0), AE_INVALID_TABLE_HANDLE);
    IS(AdsSetBOFFlag(table, 0), AE_INVALID_TABLE_HANDLE);
}

static void letters(void)
{
    ADSHANDLE table = 0, adt;
    UNSIGNED8 record[16];
    UNSIGNED32 length = sizeof record;
    UNSIGNED16 type = 0;

    OK(AdsCreateTable(connection, TEXT("letters"), NULL, ADS_CDX, ADS_OEM, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("NAME,Character,4"), &table));
    OK(AdsAppendRecord(table));
    OK(AdsSetTableCharType(table, ADS_ANSI));
    OK(AdsGetTableCharType(table, &type));
    IS(type, ADS_ANSI);
    OK(AdsSetTableCharType(table, ADS_OEM));
    OK(AdsGetTableCharType(table, &type));
    IS(type, ADS_OEM);
    OK(AdsSetString(table, TEXT("NAME"), TEXT("\xFC"), 1));
    SAME(trimmed(table, "NAME"), "\xFC");
    OK(AdsGetRecord(table, record, &length));
    IS(record[1], 0x81);
    OK(AdsSetTableCharType(table, ADS_ANSI));
    SAME(trimmed(table, "NAME"), "\x81");
    IS(AdsSetTableCharType(table, GERMAN_VFP_CI_AS_1252), AE_UNSUPPORTED_COLLATION);
    IS(AdsSetTableCharType(table, 999), AE_INVALID_OPTION);
    OK(AdsCloseTable(table));
    adt = created("letters", ADS_ADT, "Name,Character,4");
    OK(AdsSetTableCharType(adt, ADS_ANSI));
    IS(AdsSetTableCharType(adt, ADS_OEM), AE_INVALID_OPTION);
    OK(AdsCloseTable(adt));
}

static void connections(void)
{
    ADSHANDLE table = created("flushed", ADS_CDX, "NAME,Character,10;AGE,Numeric,5,0"), statement = 0, cursor = 0;
    UNSIGNED8 data[5] = "ping";
    UNSIGNED16 wan = 9;

    OK(AdsEcho(connection, data, 4));
    SAME(data, "ping");
    OK(AdsEcho(connection, data, 0));
    IS(AdsEcho(connection, NULL, 4), AE_INVALID_POINTER);
    IS(AdsEcho(table, data, 4), AE_INVALID_CONNECTION_HANDLE);
    OK(AdsSetPacketSize(connection, 512));
    IS(AdsSetPacketSize(table, 512), AE_INVALID_CONNECTION_HANDLE);
    OK(AdsGetTableWAN(table, &wan));
    IS(wan, 0);
    IS(AdsGetTableWAN(connection, &wan), AE_INVALID_TABLE_HANDLE);

    /* Who has a table alone keeps what is written, unless each update is to be on the disk. */
    OK(AdsSetFlushFlag(connection, 1));
    append(table, "anna", 1);
    {
        FILE *file = fopen("flushed.dbf", "rb");
        char bytes[256] = "";
        size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        IS(count, 32 + 2 * 32 + 1 + 16 + 1);
        IS(bytes[4], 1);
        if (file)
            fclose(file);
    }
    OK(AdsGotoTop(table));
    OK(AdsDeleteRecord(table));
    OK(AdsRecallRecord(table));
    OK(AdsBeginTransaction(connection));
    OK(AdsSetDouble(table, TEXT("AGE"), 2));
    OK(AdsWriteRecord(table));
    OK(AdsCommitTransaction(connection));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsExecuteSQLDirect(statement, TEXT("UPDATE flushed SET AGE = AGE + 1"), &cursor));
    OK(AdsGotoTop(table));
    SAME(trimmed(table, "AGE"), "3");
    OK(AdsSetFlushFlag(connection, 0));
    append(table, "bert", 1);
    OK(AdsCloseSQLStatement(statement));
    OK(AdsCloseTable(table));
    IS(AdsSetFlushFlag(table, 1), AE_INVALID_CONNECTION_HANDLE);
}

static void views(void)
{
    ADSHANDLE table = created("viewed", ADS_CDX, "NAME,Character,10;AGE,Numeric,5,0"), statement = 0, cursor = 0, old;
    UNSIGNED32 count = 0;

    append(table, "anna", 1);
    OK(AdsCloseTable(table));
    table = opened("viewed", ADS_CDX);
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_CDX));
    OK(AdsPrepareSQL(statement, TEXT("-- all of them\nSELECT {static} NAME FROM viewed WHERE AGE > :LEAST")));
    OK(AdsSetDouble(statement, TEXT("LEAST"), 0));
    OK(AdsExecuteSQL(statement, &cursor));
    append(table, "bert", 2);
    OK(AdsGetRecordCount(cursor, ADS_IGNOREFILTERS, &count));
    IS(count, 1);
    old = cursor;
    OK(AdsRefreshView(&cursor));
    OK(AdsGetRecordCount(cursor, ADS_IGNOREFILTERS, &count));
    IS(count, 2);
    SAME(trimmed(cursor, "NAME"), "anna");
    IS(AdsCloseTable(old), AE_INVALID_TABLE_HANDLE);
    OK(AdsSetDouble(statement, TEXT("LEAST"), 1));
    OK(AdsRefreshView(&cursor));
    SAME(trimmed(cursor, "NAME"), "bert");

    old = table;
    IS(AdsRefreshView(&old), AE_INVALID_HANDLE);
    old = 0;
    IS(AdsRefreshView(&old), AE_INVALID_TABLE_HANDLE);
    IS(AdsRefreshView(NULL), AE_INVALID_POINTER);
    OK(AdsPrepareSQL(statement, TEXT("SELECT AGE FROM viewed")));
    IS(AdsRefreshView(&cursor), AE_NOT_PREPARED);
    SAME(trimmed(cursor, "NAME"), "bert");
    OK(AdsExecuteSQLDirect(statement, TEXT("DECLARE @a INTEGER; SET @a = 1; SELECT @a AS A FROM viewed"), &cursor));
    IS(AdsRefreshView(&cursor), AE_FUNCTION_NOT_AVAILABLE);
    OK(AdsCloseSQLStatement(statement));
    OK(AdsCloseTable(table));
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    if (chdir(arguments[1]) != 0)
        return 2;
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    segments();
    steps();
    marks();
    locks();
    letters();
    connections();
    views();
    OK(AdsDisconnect(connection));
    return failures != 0;
}
