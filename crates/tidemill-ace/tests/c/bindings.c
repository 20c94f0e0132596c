/*
 * Functions that bindings of other languages call: what an order is made of, records without values, keys of bytes, texts of statements,
 * and what stops or restrains statements. Argument: an empty folder.
 */

#include <time.h>
#include <unistd.h>

#include "check.h"

enum { BUSY = 6619, SQL_ERROR = 7200, SQL_STOPPED = 7209 };

static ADSHANDLE connection, table, by_both, by_amount;

static void orders(void)
{
    UNSIGNED32 flags = 77;
    UNSIGNED16 count = 77, fields[4] = {77, 77, 77, 77}, answer = 77;

    OK(AdsGetIndexFlags(by_both, &flags));
    IS(flags, ADS_COMPOUND);
    OK(AdsGetIndexFlags(by_amount, &flags));
    IS(flags, ADS_COMPOUND | ADS_UNIQUE | ADS_DESCENDING);
    IS(AdsGetIndexFlags(table, &flags), AE_INVALID_INDEX_HANDLE);
    OK(AdsGetNumSegments(by_both, &count));
    IS(count, 2);
    OK(AdsGetSegmentFieldNumbers(by_both, &count, fields));
    IS(count, 2);
    IS(fields[0], 2);
    IS(fields[1], 1);
    IS(fields[2], 77);
    OK(AdsGetNumSegments(by_amount, &count));
    IS(count, 1);
    IS(AdsGetNumSegments(table, &count), AE_INVALID_INDEX_HANDLE);
    IS(AdsGetNumSegments(by_both, NULL), AE_INVALID_POINTER);
    OK(AdsIsIndexUserDefined(by_both, &answer));
    IS(answer, 0);
    IS(AdsIsIndexUserDefined(table, &answer), AE_INVALID_INDEX_HANDLE);
    OK(AdsIsIndexExprValid(table, TEXT("UPPER(NAME)"), &answer));
    IS(answer, 1);
    OK(AdsIsIndexExprValid(table, TEXT("UPPER(NAMES)"), &answer));
    IS(answer, 0);
    OK(AdsIsIndexExprValid(table, TEXT("DATE()"), &answer));
    IS(answer, 0);
    OK(AdsIsExprValid(table, TEXT("DATE()"), &answer));
    IS(answer, 1);
}

static void expressions(void)
{
    static const struct {
        const char *text;
        UNSIGNED16 type;
    } known[] = {
        {"NAME + 'x'", ADS_STRING}, {"AMOUNT * 2", ADS_NUMERIC}, {"AMOUNT > 2", ADS_LOGICAL}, {"DAY + 1", ADS_DATE},
    };
    UNSIGNED16 type = 77;
    unsigned at;

    for (at = 0; at < sizeof known / sizeof *known; at++) {
        OK(AdsEvalTestExpr(table, TEXT(known[at].text), &type));
        IS(type, known[at].type);
    }
    IS(AdsEvalTestExpr(table, TEXT("AMOUNT +"), &type), AE_INVALID_EXPRESSION);
    IS(AdsEvalTestExpr(table, NULL, &type), AE_INVALID_POINTER);
}

static void records(void)
{
    UNSIGNED8 record[64], key[64], other[64];
    UNSIGNED32 length = 0;
    UNSIGNED16 key_length = sizeof key, other_length = sizeof other;
    DOUBLE number = 77;

    OK(AdsGetRecordLength(table, &length));
    memset(record, 'x', sizeof record);
    OK(AdsGetNullRecord(table, record, length));
    IS(strspn((char *) record, " "), length);
    IS(record[length], 'x');
    IS(AdsGetNullRecord(table, record, length - 1), AE_INSUFFICIENT_BUFFER);
    IS(AdsGetNullRecord(table, NULL, length), AE_INVALID_POINTER);
    OK(AdsGotoRecord(table, 2));
    OK(AdsGetRecord(table, record, &length));
    OK(AdsBuildKeyFromRecord(by_both, record, length, key, &key_length));
    OK(AdsExtractKey(by_both, other, &other_length));
    IS(key_length, other_length);
    IS(memcmp(key, other, key_length), 0);
    IS(AdsBuildKeyFromRecord(by_both, record, length - 1, key, &key_length), AE_INVALID_RECORD_LENGTH);
    OK(AdsClearRecordBuffer(table, record, length));
    IS(strspn((char *) record, " "), length);

    other_length = sizeof other;
    OK(AdsExtractKey(by_amount, other, &other_length));
    IS(other_length, 8);
    OK(AdsConvertKeyToDouble(other, &number));
    IS(number == -20.5, 1);
    OK(AdsGotoRecord(table, 1));
    other_length = sizeof other;
    OK(AdsExtractKey(by_amount, other, &other_length));
    OK(AdsConvertKeyToDouble(other, &number));
    IS(number == 10.25, 1);
    IS(AdsConvertKeyToDouble(NULL, &number), AE_INVALID_POINTER);
}

static void dates(void)
{
    UNSIGNED8 text[20];
    DOUBLE day = 77;

    OK(AdsConvertDateToJulian(connection, TEXT("01/31/2024"), 10, &day));
    IS((unsigned long) day, 2460341);
    IS(AdsConvertDateToJulian(table, TEXT("01/31/2024"), 10, &day), AE_INVALID_CONNECTION_HANDLE);
    memset(text, 'x', sizeof text);
    OK(AdsDBFDateToString(TEXT("20240131"), text));
    SAME(text, "01/31/2024");
    OK(AdsDBFDateToString(TEXT("        "), text));
    SAME(text, "  /  /    ");
    IS(AdsDBFDateToString(TEXT("20241331"), text), AE_INVALID_MONTH);
    IS(AdsDBFDateToString(NULL, text), AE_INVALID_POINTER);
}

static void texts(void)
{
    char text[200] = "SELECT :b, '-- :no' -- :c\nFROM t /* :d */ WHERE x = :a AND y = :B";

    OK(AdsRemoveSQLComments(TEXT(text)));
    SAME(text, "SELECT :b, '-- :no' \nFROM t   WHERE x = :a AND y = :B");
    OK(AdsGetSQLStmtParams(TEXT(text)));
    SAME(text, ":B :A");
    strcpy(text, "SELECT 1 FROM t");
    OK(AdsGetSQLStmtParams(TEXT(text)));
    SAME(text, "");
    strcpy(text, "SELECT 'open");
    IS(AdsGetSQLStmtParams(TEXT(text)), SQL_ERROR);
    SAME(text, "SELECT 'open");
    IS(AdsRemoveSQLComments(NULL), AE_INVALID_POINTER);
}

static ADSHANDLE statement_of(const char *sql, ADSHANDLE *cursor)
{
    ADSHANDLE statement = 0;

    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_CDX));
    if (sql != NULL)
        OK(AdsExecuteSQLDirect(statement, TEXT(sql), cursor));
    return statement;
}

static void cursors(void)
{
    ADSHANDLE cursor = 0, statement;
    UNSIGNED8 text[64];
    UNSIGNED16 length = sizeof text, number = 77;
    UNSIGNED32 count = 77;

    statement = statement_of("SELECT amount AS paid, name FROM bindings WHERE amount > 0", &cursor);
    OK(AdsGetBaseFieldName(cursor, 1, text, &length));
    SAME(text, "AMOUNT");
    OK(AdsGetBaseFieldNum(cursor, TEXT("PAID"), &number));
    IS(number, 3);
    IS(AdsGetBaseFieldNum(cursor, TEXT("DAY"), &number), AE_INVALID_FIELDNAME);
    IS(AdsGetBaseFieldName(cursor, 0, text, &length), AE_INVALID_FIELDNUMBER);

    /* As the table has them, and as the statement does. */
    OK(AdsSetBaseTableAccess(cursor, 1));
    length = sizeof text;
    OK(AdsGetFieldName(cursor, 3, text, &length));
    SAME(text, "AMOUNT");
    OK(AdsGetNumFields(cursor, &number));
    IS(number > 3, 1);
    OK(AdsGetFieldType(cursor, TEXT("DAY"), &number));
    IS(AdsGetFieldType(cursor, TEXT("PAID"), &number), AE_INVALID_FIELDNAME);
    OK(AdsSetBaseTableAccess(cursor, 0));
    OK(AdsGetNumFields(cursor, &number));
    IS(number, 2);
    IS(AdsGetFieldType(cursor, TEXT("DAY"), &number), AE_INVALID_FIELDNAME);
    length = sizeof text;
    OK(AdsGetFieldName(cursor, 1, text, &length));
    SAME(text, "paid");
    OK(AdsSetBaseTableAccess(table, 1));
    OK(AdsGetFieldType(table, TEXT("DAY"), &number));
    OK(AdsSetBaseTableAccess(table, 0));
    OK(AdsSetCursorAOF(cursor, TEXT("NAME = 'a'"), ADS_RESOLVE_IMMEDIATE));
    OK(AdsGetRecordCount(cursor, ADS_RESPECTFILTERS, &count));
    IS(count, 1);
    length = sizeof text;
    OK(AdsGetCursorAOF(cursor, text, &length));
    SAME(text, "NAME = 'a'");
    OK(AdsClearCursorAOF(cursor));
    OK(AdsGetRecordCount(cursor, ADS_RESPECTFILTERS, &count));
    IS(count, 2);
    IS(AdsSetCursorAOF(table, TEXT("NAME = 'a'"), ADS_RESOLVE_IMMEDIATE), AE_INVALID_HANDLE);
    IS(AdsClearCursorAOF(table), AE_INVALID_HANDLE);
    OK(AdsCloseSQLStatement(statement));
    statement = statement_of("SELECT COUNT(*) AS n FROM bindings", &cursor);
    IS(AdsGetBaseFieldName(cursor, 1, text, &length), AE_INVALID_HANDLE);
    IS(AdsSetBaseTableAccess(cursor, 1), AE_INVALID_HANDLE);
    OK(AdsCloseSQLStatement(statement));
}

static void constraints(void)
{
    ADSHANDLE cursor = 0, statement = statement_of(NULL, NULL);
    DOUBLE amount = 77;

    IS(AdsStmtConstrainUpdates(statement, 9), AE_INVALID_CONSTRAIN_TYPE);
    IS(AdsStmtConstrainUpdates(table, ADS_CONSTRAIN), AE_INVALID_SQLSTATEMENT_HANDLE);
    OK(AdsStmtConstrainUpdates(statement, ADS_CONSTRAIN));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT * FROM bindings WHERE amount > 5"), &cursor));
    OK(AdsGotoTop(cursor));
    OK(AdsSetDouble(cursor, TEXT("AMOUNT"), 4));
    IS(AdsWriteRecord(cursor), AE_RECORD_CONSTRAINT_VIOLATION);
    OK(AdsCancelUpdate(cursor));
    OK(AdsSetDouble(cursor, TEXT("AMOUNT"), 6));
    OK(AdsWriteRecord(cursor));
    OK(AdsCloseTable(cursor));
    OK(AdsStmtConstrainUpdates(statement, ADS_NO_CONSTRAIN));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT * FROM bindings WHERE amount > 5"), &cursor));
    OK(AdsGotoTop(cursor));
    OK(AdsSetDouble(cursor, TEXT("AMOUNT"), 4));
    OK(AdsWriteRecord(cursor));
    OK(AdsCloseSQLStatement(statement));
    OK(AdsGotoRecord(table, 1));
    OK(AdsGetDouble(table, TEXT("AMOUNT"), &amount));
    IS((long) amount, 4);

    statement = statement_of(NULL, NULL);
    OK(AdsStmtSetTableCollation(statement, NULL));
    OK(AdsStmtSetTableCollation(statement, TEXT("")));
    IS(AdsStmtSetTableCollation(statement, TEXT("GERMAN_VFP_CI_AS_1252")), AE_UNSUPPORTED_COLLATION);
    OK(AdsCloseSQLStatement(statement));
}

static int asked;

static UNSIGNED32 WINAPI stop(void)
{
    UNSIGNED32 count = 0;

    asked++;
    IS(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count), BUSY);
    return 1;
}

/* How many seconds a script that never ends takes until it is stopped. */
static double stopped_after(ADSHANDLE statement)
{
    static const char *endless = "DECLARE i Integer; i = 0; WHILE TRUE DO i = 1 - i; END WHILE;";
    struct timespec begin, end;
    ADSHANDLE cursor = 0;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    IS(AdsExecuteSQLDirect(statement, TEXT(endless), &cursor), SQL_STOPPED);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double) (end.tv_sec - begin.tv_sec) + (double) (end.tv_nsec - begin.tv_nsec) / 1e9;
}

static void stopping(void)
{
    ADSHANDLE statement = statement_of(NULL, NULL);
    double seconds;

    OK(AdsSetSQLTimeout(connection, 1));
    seconds = stopped_after(statement);
    IS(seconds >= 1, 1);
    /* That of a statement comes before that of its connection. */
    OK(AdsSetSQLTimeout(statement, 2));
    seconds = stopped_after(statement);
    IS(seconds >= 2, 1);
    OK(AdsSetSQLTimeout(statement, ADS_DEFAULT_SQL_TIMEOUT));
    OK(AdsSetSQLTimeout(connection, ADS_DEFAULT_SQL_TIMEOUT));
    IS(AdsSetSQLTimeout(table, 1), AE_INVALID_CONNECTION_HANDLE);

    IS(AdsRegisterSQLAbortFunc(NULL), AE_INVALID_CALLBACK);
    OK(AdsRegisterSQLAbortFunc(stop));
    seconds = stopped_after(statement);
    IS(seconds >= 2, 1);
    IS(asked, 1);
    OK(AdsClearSQLAbortFunc());
    OK(AdsSetSQLTimeout(statement, 1));
    stopped_after(statement);
    IS(asked, 1);
    OK(AdsCloseSQLStatement(statement));
}

int main(int arguments, char **argument)
{
    static const char *names[] = {"a", "b", "c"};
    static const DOUBLE amounts[] = {10.25, -20.5, 3};
    int at;

    if (arguments != 2 || chdir(argument[1]) != 0)
        return 2;
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT("bindings"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("FIRST,Character,5;NAME,Character,6;AMOUNT,Numeric,8,2;DAY,Date"), &table));
    for (at = 0; at < 3; at++) {
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("FIRST"), TEXT("f"), 1));
        OK(AdsSetString(table, TEXT("NAME"), TEXT(names[at]), 1));
        OK(AdsSetDouble(table, TEXT("AMOUNT"), amounts[at]));
    }
    OK(AdsCreateIndex61(table, NULL, TEXT("BOTH"), TEXT("UPPER(NAME)+FIRST+NAME"), NULL, NULL, ADS_COMPOUND, 512, &by_both));
    OK(AdsCreateIndex61(table, NULL, TEXT("AMOUNT"), TEXT("AMOUNT"), NULL, NULL,
                        ADS_COMPOUND | ADS_UNIQUE | ADS_DESCENDING, 512, &by_amount));
    OK(AdsCloseTable(table));
    OK(AdsOpenTable(connection, TEXT("bindings"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                    ADS_SHARED, &table));
    OK(AdsGetIndexHandle(table, TEXT("BOTH"), &by_both));
    OK(AdsGetIndexHandle(table, TEXT("AMOUNT"), &by_amount));
    orders();
    expressions();
    records();
    dates();
    texts();
    cursors();
    constraints();
    stopping();
    OK(AdsClearCachePool(TEXT("")));
    OK(AdsReapUnusedConnections());
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    printf("%d failures\n", failures);
    return failures != 0;
}
