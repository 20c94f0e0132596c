/*
 * Damaged index files: 7017 by whoever opens the table beside others, and who has it alone may make the index anew. Argument: an empty
 * folder.
 */

#include "check.h"

enum { DAMAGED = 7017, RECORDS = 2000, NO_ORDER = AE_INVALID_INDEX_ORDER_NAME };

static ADSHANDLE connection;
static char file[500];

static ADSHANDLE open_table(UNSIGNED32 mode, UNSIGNED32 expected)
{
    ADSHANDLE table = 0;
    IS(AdsOpenTable(connection, TEXT("t"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, mode, &table), expected);
    return table;
}

static void make(void)
{
    ADSHANDLE table, index;
    char name[8];
    int at;

    remove(file);
    OK(AdsCreateTable(connection, TEXT("t"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("A,Character,4"), &table));
    OK(AdsCreateIndex61(table, TEXT("t.cdx"), TEXT("A"), TEXT("A"), NULL, NULL, ADS_COMPOUND, 0, &index));
    OK(AdsCreateIndex61(table, TEXT("t.cdx"), TEXT("B"), TEXT("UPPER(A)"), NULL, NULL, ADS_COMPOUND, 0, &index));
    for (at = 0; at < RECORDS; at++) {
        sprintf(name, "%04d", at % 1000);
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("A"), TEXT(name), 4));
    }
    OK(AdsCloseTable(table));
}

/* Writes over bytes of the index, from its end where the place is negative. */
static void damage(long place, size_t bytes)
{
    FILE *index = fopen(file, "r+b");
    size_t at;
    IS(fseek(index, place, place < 0 ? SEEK_END : SEEK_SET), 0);
    for (at = 0; at < bytes; at++)
        fputc((int) (at * 37 % 251 + 1), index);
    fclose(index);
}

static void check(long place, size_t bytes, UNSIGNED32 remade)
{
    ADSHANDLE table, order = 0;
    UNSIGNED32 count = 77;

    make();
    damage(place, bytes);
    open_table(ADS_SHARED, DAMAGED);
    table = open_table(ADS_EXCLUSIVE, AE_SUCCESS);
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, RECORDS);
    IS(AdsGetIndexHandle(table, TEXT("A"), &order), NO_ORDER);
    IS(AdsReindex(table), remade);
    if (remade == AE_SUCCESS) {
        OK(AdsGetIndexHandle(table, TEXT("B"), &order));
        OK(AdsGetKeyCount(order, ADS_RESPECTSCOPES, &count));
        IS(count, RECORDS);
        OK(AdsGotoBottom(order));
        SAME(trimmed(table, "A"), "0999");
    }
    OK(AdsCloseTable(table));
    if (remade != AE_SUCCESS) {
        /* Without the file the table opens, and its orders can be made. */
        IS(remove(file), 0);
        table = open_table(ADS_EXCLUSIVE, AE_SUCCESS);
        OK(AdsCreateIndex61(table, TEXT("t.cdx"), TEXT("A"), TEXT("A"), NULL, NULL, ADS_COMPOUND, 0, &order));
        OK(AdsCloseTable(table));
    }
    table = open_table(ADS_SHARED, AE_SUCCESS);
    OK(AdsGetIndexHandle(table, TEXT("A"), &order));
    OK(AdsCloseTable(table));
}

/* The statement does what the function does. */
static void by_statement(void)
{
    ADSHANDLE statement, cursor = 0;

    make();
    damage(-512, 512);
    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_CDX));
    OK(AdsExecuteSQLDirect(statement, TEXT("EXECUTE PROCEDURE sp_Reindex( 't' )"), &cursor));
    OK(AdsCloseSQLStatement(statement));
    OK(AdsCloseTable(open_table(ADS_SHARED, AE_SUCCESS)));
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    snprintf(file, sizeof file, "%s/t.cdx", argument[1]);
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    check(-512, 512, AE_SUCCESS);   /* a leaf */
    check(4096, 2048, AE_SUCCESS);  /* pages within */
    check(0, 512, DAMAGED);         /* the file's header */
    check(1024, 512, DAMAGED);      /* the names of the tags */
    check(1536, 512, DAMAGED);      /* the header of a tag */
    check(2048, 512, DAMAGED);      /* its expression */
    by_statement();
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    return failures != 0;
}
