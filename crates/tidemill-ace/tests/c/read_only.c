/*
 * Tables that the system does not let the program write: they open for reading, and changes give 5072. Argument: an empty folder.
 * Who may write everything becomes somebody else.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static ADSHANDLE connection;

static ADSHANDLE open_table(UNSIGNED32 mode, UNSIGNED32 expected)
{
    ADSHANDLE table = 0;
    IS(AdsOpenTable(connection, TEXT("kept"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, mode, &table),
       expected);
    return table;
}

static void make(void)
{
    ADSHANDLE table, index;

    OK(AdsCreateTable(connection, TEXT("kept"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("NAME,Character,8;NOTE,Memo,10"), &table));
    OK(AdsCreateIndex61(table, TEXT("kept.cdx"), TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0, &index));
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("NAME"), TEXT("Ada"), 3));
    OK(AdsSetString(table, TEXT("NOTE"), TEXT("a note"), 6));
    OK(AdsWriteRecord(table));
    OK(AdsCloseTable(table));
}

static void statements(void)
{
    static const char *const changes[] = {"UPDATE kept SET name = 'x'", "DELETE FROM kept", "INSERT INTO kept ( name ) VALUES ( 'x' )",
                                          "CREATE INDEX n ON kept ( name )", "DROP TABLE kept", "ALTER TABLE kept ADD a Integer"};
    ADSHANDLE statement, cursor = 0;
    UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    unsigned at;

    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_CDX));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT name FROM kept WHERE name = 'Ada'"), &cursor));
    SAME(trimmed(cursor, "name"), "Ada");
    IS(AdsSetString(cursor, TEXT("name"), TEXT("Bob"), 3), AE_TABLE_READONLY);
    OK(AdsCloseTable(cursor));
    for (at = 0; at < sizeof changes / sizeof *changes; at++) {
        UNSIGNED16 length = sizeof text;
        UNSIGNED32 code = 0;
        IS(AdsExecuteSQLDirect(statement, TEXT(changes[at]), &cursor), 7200);
        OK(AdsGetLastError(&code, text, &length));
        if (!strstr((const char *) text, "NativeError = 5072"))
            same(__LINE__, changes[at], (const char *) text, "NativeError = 5072");
    }
    OK(AdsBeginTransaction(connection));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT name FROM kept"), &cursor));
    SAME(trimmed(cursor, "name"), "Ada");
    OK(AdsCloseTable(cursor));
    OK(AdsRollbackTransaction(connection));
    OK(AdsCloseSQLStatement(statement));
}

int main(int arguments, char **argument)
{
    static const char *const files[] = {"kept.dbf", "kept.fpt", "kept.cdx", ""};
    ADSHANDLE table;
    UNSIGNED32 count = 77, mode = 77;
    char path[500];
    unsigned at;

    if (arguments != 2)
        return 2;
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    make();
    OK(AdsDisconnect(connection));
    for (at = 0; at < sizeof files / sizeof *files; at++) {
        snprintf(path, sizeof path, "%s/%s", argument[1], files[at]);
        IS(chmod(path, *files[at] ? 0444 : 0555), 0);
    }
    snprintf(path, sizeof path, "%s/..", argument[1]);
    IS(chmod(path, 0755), 0);
    if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
        return 3;

    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    table = open_table(ADS_SHARED, AE_SUCCESS);
    SAME(trimmed(table, "NAME"), "Ada");
    SAME(trimmed(table, "NOTE"), "a note");
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, 1);
    OK(AdsGetTableOpenOptions(table, &mode));
    IS(mode & ADS_READONLY, ADS_READONLY);
    IS(AdsSetString(table, TEXT("NAME"), TEXT("Bob"), 3), AE_TABLE_READONLY);
    IS(AdsAppendRecord(table), AE_TABLE_READONLY);
    IS(AdsDeleteRecord(table), AE_TABLE_READONLY);
    OK(AdsCloseTable(table));
    open_table(ADS_EXCLUSIVE, 7004);
    table = open_table(ADS_READONLY, AE_SUCCESS);
    OK(AdsCloseTable(table));
    statements();
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    /* Whoever owns the folder wants to remove it. */
    (void) !chmod(argument[1], 0755);
    return failures != 0;
}
