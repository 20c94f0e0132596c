/*
 * Statements that libace.so hands to libtidemill_adbc.so. Arguments: an empty folder, and where they are refused a part of the
 * message.
 */

#include "check.h"

#include <time.h>

/* The server's number for what its SQL engine refuses. */
#define SQL_ERROR 7200

static ADSHANDLE connection, statement;

static ADSHANDLE run(const char *sql)
{
    ADSHANDLE cursor = 77;
    OK(AdsExecuteSQLDirect(statement, TEXT(sql), &cursor));
    return cursor;
}

static const char *message(void)
{
    static UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 code;

    text[0] = 0;
    AdsGetLastError(&code, text, &length);
    return (const char *) text;
}

/* A statement is refused, and the message has both parts. */
static void refused(int line, UNSIGNED32 with, const char *sql, const char *part, const char *other)
{
    ADSHANDLE cursor = 0;
    UNSIGNED32 code = AdsExecuteSQLDirect(statement, TEXT(sql), &cursor);

    if (code != with || strstr(message(), part) == NULL || strstr(message(), other) == NULL) {
        fprintf(stderr, "line %d: %s gives %lu: %s\n", line, sql, (unsigned long) code, message());
        failures++;
    }
}

#define REFUSED(sql, part, other) refused(__LINE__, SQL_ERROR, sql, part, other)
#define STOPPED(sql) refused(__LINE__, 7209, sql, "State = HY008", "NativeError = 7209")

/* All rows of a cursor: fields with commas between them, rows with semicolons behind them. */
static const char *all(const char *sql)
{
    static char answer[4096];
    char value[256];
    UNSIGNED16 fields = 0, field, eof = 1;
    ADSHANDLE cursor = run(sql);

    answer[0] = 0;
    OK(AdsGetNumFields(cursor, &fields));
    OK(AdsGotoTop(cursor));
    while (AdsAtEOF(cursor, &eof) == AE_SUCCESS && !eof) {
        for (field = 1; field <= fields; field++) {
            UNSIGNED32 length = sizeof value;
            value[0] = 0;
            OK(AdsGetString(cursor, ADSFIELD(field), (UNSIGNED8 *) value, &length, ADS_TRIM));
            strcat(answer, value);
            strcat(answer, field < fields ? "," : ";");
        }
        OK(AdsSkip(cursor, 1));
    }
    OK(AdsCloseTable(cursor));
    return answer;
}

#define JOIN "SELECT o.id, c.name FROM orders o JOIN customers c ON c.cust = o.cust "

static void make(void)
{
    IS(run("CREATE TABLE customers ( cust Integer, name Char(10), since Date )"), 0);
    IS(run("CREATE INDEX cust ON customers ( cust )"), 0);
    IS(run("CREATE TABLE orders ( id Integer, cust Integer, total Numeric(8,2), [paid at] Date )"), 0);
    IS(run("INSERT INTO customers VALUES ( 1, 'Ada', {d '2020-01-31'} ), ( 2, 'Bob', DEFAULT ), ( 3, 'Cleo', {d '2021-05-01'} )"), 0);
    IS(run("INSERT INTO orders ( id, cust, total ) VALUES ( 10, 1, 5.25 ), ( 11, 2, 7 ), ( 12, 1, 0.75 ), ( 13, 9, 1 )"), 0);
}

static void queries(void)
{
    UNSIGNED16 type = 77;
    UNSIGNED32 length = 77;
    ADSHANDLE cursor;

    SAME(all(JOIN "ORDER BY o.id"), "10,Ada;11,Bob;12,Ada;");
    SAME(all("SELECT o.id, c.name FROM orders o LEFT OUTER JOIN customers c ON c.cust = o.cust WHERE o.id > 11 ORDER BY 1"),
         "12,Ada;13,;");
    SAME(all("SELECT c.name, SUM(o.total) AS sum, COUNT(*) FROM orders o, customers c WHERE c.cust = o.cust GROUP BY c.name "
             "ORDER BY c.name"),
         "Ada,6.00,2;Bob,7.00,1;");
    SAME(all("SELECT id FROM orders WHERE cust IN ( SELECT cust FROM customers WHERE name LIKE '_o%' ) ORDER BY id"), "11;");
    SAME(all("SELECT name FROM customers c WHERE NOT EXISTS ( SELECT * FROM orders o WHERE o.cust = c.cust )"), "Cleo;");
    SAME(all("SELECT id FROM orders WHERE id < 11 UNION ALL SELECT id FROM orders WHERE id > 12"), "10;13;");
    SAME(all("SELECT a.id, b.id FROM orders a JOIN orders b ON b.cust = a.cust AND b.id > a.id"), "10,12;");
    SAME(all("SELECT id, ROW_NUMBER() OVER ( PARTITION BY cust ORDER BY id DESC ) AS nth FROM orders ORDER BY id"),
         "10,2;11,1;12,1;13,1;");
    SAME(all("WITH big AS ( SELECT * FROM orders WHERE total > 5 ) SELECT c.name FROM big b JOIN customers c ON c.cust = b.cust "
             "ORDER BY c.name"),
         "Ada;Bob;");
    /* What only ADS writes, and blanks, which are values. */
    SAME(all("SELECT TOP 1 c.name, IIF( EMPTY( c.since ), 'new', 'old' ) FROM customers c JOIN orders o ON o.cust = c.cust WHERE "
             "c.since < {d '2020-02-01'} ORDER BY c.name DESC"),
         "Bob,new;");
    SAME(all("SELECT [o].id FROM orders [o] JOIN customers c ON c.cust = [o].cust WHERE EMPTY( [o].[paid at] ) AND [o].id = 10"),
         "10;");
    SAME(all("SELECT UPPER( c.name ) + '!' FROM customers c JOIN orders o ON o.cust = c.cust WHERE LENGTH( c.name ) = 3 AND o.id = 10"),
         "ADA       !;");
    /* The columns of a table keep their types. */
    cursor = run(JOIN);
    OK(AdsGetFieldType(cursor, TEXT("name"), &type));
    OK(AdsGetFieldLength(cursor, TEXT("name"), &length));
    IS(type, ADS_STRING);
    IS(length, 10);
    OK(AdsCloseTable(cursor));
    /* No rows are rows too. */
    SAME(all(JOIN "WHERE c.name = 'Nobody'"), "");
}

static void parameters(void)
{
    ADSHANDLE cursor = 0;
    int id;

    OK(AdsPrepareSQL(statement, TEXT(JOIN "WHERE o.id = :id AND c.name <> ? AND c.since >= :day")));
    OK(AdsSetString(statement, ADSFIELD(2), TEXT("O'Hara; DROP"), 12));
    OK(AdsSetDate(statement, TEXT("day"), TEXT("01/31/2020"), 10));
    for (id = 10; id <= 12; id++) {
        UNSIGNED32 count = 77;
        OK(AdsSetLong(statement, TEXT("id"), id));
        OK(AdsExecuteSQL(statement, &cursor));
        OK(AdsGetRecordCount(cursor, ADS_IGNOREFILTERS, &count));
        IS(count, id == 11 ? 0 : 1);
        OK(AdsCloseTable(cursor));
    }
}

/* Joins where rows go somewhere else than into a cursor. */
static void consumers(void)
{
    IS(run("SELECT o.id, c.name INTO named FROM orders o JOIN customers c ON c.cust = o.cust"), 0);
    SAME(all("SELECT COUNT(*) FROM named"), "3;");
    IS(run("INSERT INTO named SELECT o.id + 100, c.name FROM orders o JOIN customers c ON c.cust = o.cust WHERE o.id = 11"), 0);
    SAME(all("SELECT id, name FROM named WHERE id > 100"), "111,Bob;");
    REFUSED("INSERT INTO named SELECT o.id FROM orders o JOIN customers c ON c.cust = o.cust", "NativeError", "columns");
    IS(run("CREATE VIEW buyers AS SELECT c.name, o.total FROM customers c JOIN orders o ON o.cust = c.cust"), 0);
    SAME(all("SELECT name FROM buyers WHERE total < 1"), "Ada;");
    SAME(all("DECLARE x Integer; x = 12; SELECT c.name FROM orders o JOIN customers c ON c.cust = o.cust WHERE o.id = x;"), "Ada;");
    IS(run("DROP TABLE named"), 0);
}

/* Records that are chosen by other tables. */
static void changes(void)
{
    SAME(all("SELECT TOP 50 PERCENT START AT 2 o.id, c.name FROM orders o JOIN customers c ON c.cust = o.cust ORDER BY o.id"), "11,Bob;12,Ada;");
    OK(AdsBeginTransaction(connection));
    IS(run("UPDATE orders SET total = 9 WHERE cust IN ( SELECT cust FROM customers WHERE name = 'Ada' )"), 0);
    SAME(all("SELECT COUNT(*) FROM orders WHERE total = 9"), "2;");
    IS(run("DELETE FROM orders WHERE total = ( SELECT MAX( total ) FROM orders )"), 0);
    SAME(all(JOIN "ORDER BY o.id"), "11,Bob;");
    IS(run("MERGE customers c USING orders o ON c.cust = o.cust AND c.cust IN ( SELECT cust FROM orders ) "
           "WHEN MATCHED THEN UPDATE SET name = ( SELECT MAX( x.name ) FROM customers x )"), 0);
    SAME(all(JOIN "ORDER BY o.id"), "11,Cleo;");
    OK(AdsRollbackTransaction(connection));
    SAME(all(JOIN "ORDER BY o.id"), "10,Ada;11,Bob;12,Ada;");
}

/* What the connection has not yet committed is seen by itself and by nobody else. */
static void transaction(const char *folder)
{
    ADSHANDLE other = 0, theirs = 0, mine = statement, table = 0;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, 0, &other));
    OK(AdsCreateSQLStatement(other, &theirs));
    OK(AdsBeginTransaction(connection));
    IS(run("INSERT INTO orders ( id, cust, total ) VALUES ( 20, 3, 2 )"), 0);
    IS(run("DELETE FROM orders WHERE id = 10"), 0);
    SAME(all(JOIN "ORDER BY o.id"), "11,Bob;12,Ada;20,Cleo;");
    SAME(all("SELECT id FROM orders WHERE cust IN ( SELECT cust FROM customers WHERE name = 'Cleo' )"), "20;");
    statement = theirs;
    SAME(all(JOIN "ORDER BY o.id"), "10,Ada;11,Bob;12,Ada;");
    statement = mine;
    /* So is what a work area writes. */
    OK(AdsOpenTable(connection, TEXT("orders.dbf"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED, &table));
    OK(AdsAppendRecord(table));
    OK(AdsSetDouble(table, TEXT("id"), 21));
    OK(AdsSetDouble(table, TEXT("cust"), 3));
    OK(AdsWriteRecord(table));
    SAME(all(JOIN "WHERE c.name = 'Cleo' ORDER BY o.id"), "20,Cleo;21,Cleo;");
    OK(AdsCloseTable(table));
    OK(AdsRollbackTransaction(connection));
    SAME(all(JOIN "ORDER BY o.id"), "10,Ada;11,Bob;12,Ada;");
    OK(AdsCloseSQLStatement(theirs));
    OK(AdsDisconnect(other));
}

/* A join of 4 ^ 18 rows. */
static const char *endless = "SELECT COUNT(*) FROM orders a, orders b, orders c, orders d, orders e, orders f, orders g, orders h, "
                             "orders i, orders j, orders k, orders l, orders m, orders n, orders o, orders p, orders q, orders r "
                             "WHERE a.total + r.total > 0 AND b.id < q.id";
static int asked;

static UNSIGNED32 WINAPI stop(void)
{
    asked++;
    return asked > 2;
}

/* Joins are stopped by the time that they may take, and by the program. */
static void stopped(void)
{
    time_t begun = time(NULL);

    OK(AdsSetSQLTimeout(statement, 1));
    STOPPED(endless);
    OK(AdsSetSQLTimeout(statement, ADS_DEFAULT_SQL_TIMEOUT));
    OK(AdsRegisterSQLAbortFunc(stop));
    STOPPED(endless);
    OK(AdsClearSQLAbortFunc());
    IS(time(NULL) - begun < 30, 1);
    SAME(all(JOIN "ORDER BY o.id"), "10,Ada;11,Bob;12,Ada;");
}

static void faults(void)
{
    REFUSED(JOIN "WHERE o.nothing = 1", "State = S0022", "NativeError = 2121");
    REFUSED("SELECT * FROM orders o JOIN nothing n ON n.id = o.id", "NativeError = 7041", "nothing");
    REFUSED("SELECT cust FROM orders JOIN customers ON customers.cust = orders.cust", "NativeError = 2229", "cust");
    REFUSED("SELECT o.id FROM orders o JOIN", "NativeError = 2115", "Location of error");
    /* Places are those of the text that the program gave, however the engine was asked. */
    REFUSED("SELECT o.id\n  FROM orders o JOIN customers c ON c.cust = o.cust\n  WHERE c.cust > 1 AND o.cust2 = 1",
            "Column not found: cust2", "Location of error in the SQL statement is: 90 (line: 3 column: 26)");
    REFUSED("SELECT o.id FROM orders o JOIN customers c ON c.cust = x.cust", "Column not found: x.cust",
            "(line: 1 column: 56)");
    REFUSED("SELECT   UPPER( c.name ), cust FROM orders o JOIN customers c ON c.cust = o.cust",
            "Ambiguous reference: cust", "(line: 1 column: 27)");
    REFUSED("SELECT o.id FROM orders o JOIN customers c ON c.cust = o.cust WHERE 1 = 1 AND  LEFT( c.name, 1 ) + o.id = 5",
            "NativeError = 2124", "(line: 1 column: 80)");
    REFUSED("SELECT o.id, COUNT(*) FROM orders o JOIN customers c ON c.cust = o.cust", "NativeError = 2149",
            "(line: 1 column: 10)");
    /* While rows come there is no place, in either lane. */
    REFUSED("SELECT CONVERT( name, SQL_INTEGER ) FROM customers", "State = 22000;   NativeError = 2213",
            "]Cannot convert \"Ada\" to numeric");
    REFUSED("SELECT CONVERT( c.name, SQL_INTEGER ) FROM orders o JOIN customers c ON c.cust = o.cust",
            "State = 22000;   NativeError = 2213", "]Cannot convert \"Ada\" to numeric");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    OK(AdsConnect60(TEXT(argv[1]), ADS_LOCAL_SERVER, NULL, NULL, 0, &connection));
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsShowDeleted(ADS_FALSE));
    make();
    if (argc > 2) {
        REFUSED(JOIN, argv[2], "State = HYC00;   NativeError = 2208");
        REFUSED("SELECT id FROM orders WHERE cust IN ( SELECT cust FROM customers )", argv[2], "libtidemill_adbc.so");
        /* What needs no other library is answered. */
        SAME(all("SELECT id FROM orders WHERE id < 11 UNION ALL SELECT id FROM orders WHERE id > 12"), "10;13;");
    } else {
        queries();
        parameters();
        consumers();
        changes();
        transaction(argv[1]);
        stopped();
        faults();
    }
    OK(AdsCloseSQLStatement(statement));
    OK(AdsDisconnect(connection));
    return failures != 0;
}
