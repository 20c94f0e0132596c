/*
 * A data dictionary: who trusts it connects to it, opens its tables by the names that it gives them with all their index files, asks
 * them by statements, and changes none that have rules which are not enforced. Argument: an empty folder.
 */

#define _GNU_SOURCE
#include <unistd.h>

#include "check.h"

static char folder[400];

static char *in_folder(const char *name)
{
    static char paths[4][500];
    static int next;
    next = (next + 1) % 4;
    sprintf(paths[next], "%s/%s", folder, name);
    return paths[next];
}

static ADSHANDLE create(ADSHANDLE connection, const char *name, const char *fields)
{
    ADSHANDLE made = 0;
    OK(AdsCreateTable(connection, TEXT(name), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0, TEXT(fields), &made));
    return made;
}

/* An object of a dictionary, of whose values the first is a path, or nothing. */
static void object(ADSHANDLE table, SIGNED32 parent, const char *type, const char *name, const char *path)
{
    UNSIGNED8 property[275];
    size_t length = path ? strlen(path) + 1 : 0xFFFF;

    memset(property, 0xFF, sizeof property);
    property[0] = (UNSIGNED8) length;
    property[1] = (UNSIGNED8) (length >> 8);
    if (path)
        memcpy(property + 2, path, length);
    OK(AdsAppendRecord(table));
    OK(AdsSetLong(table, TEXT("Parent ID"), parent));
    OK(AdsSetString(table, TEXT("Object Type"), TEXT(type), LENGTH(type)));
    OK(AdsSetString(table, TEXT("Object Name"), TEXT(name), LENGTH(name)));
    OK(AdsSetFieldRaw(table, TEXT("Property"), property, sizeof property));
    OK(AdsWriteRecord(table));
}

/* Two tables with three index files, and a dictionary of them as its layout is known. */
static void make(void)
{
    ADSHANDLE connection, table, order;
    FILE *file;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    table = create(connection, "people", "Name,Char,10;Born,Date");
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("Name"), NULL, NULL, ADS_COMPOUND, 0, &order));
    OK(AdsCreateIndex61(table, TEXT("born"), TEXT("BORN"), TEXT("Born"), NULL, NULL, ADS_COMPOUND, 0, &order));
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("Name"), TEXT("Novak"), 5));
    OK(AdsCloseTable(table));
    table = create(connection, "old", "Code,Char,4");
    OK(AdsAppendRecord(table));
    OK(AdsCloseTable(table));
    table = create(connection, "all",
                   "Object ID,AutoInc;Parent ID,Integer;Object Type,Char,10;Object Name,Char,200;Property,Raw,275;"
                   "More Property,Binary;Info1,Integer;Info2,Integer;Comment,Memo");
    object(table, 0, "Database", "Database", NULL);
    object(table, 1, "Table", "Staff", ".\\PEOPLE.adt");
    object(table, 2, "Index", "people.adi", ".\\people.adi");
    object(table, 2, "Index", "born.adi", ".\\born.adi");
    object(table, 1, "Table", "codes", ".\\old.adt");
    object(table, 1, "Table", "nowhere", NULL);
    object(table, 1, "Table", "far", "Q:\\data\\far.adt");
    object(table, 1, "User", "somebody", "\001\002\003");
    object(table, 2, "Trigger", "watch", NULL);
    OK(AdsGotoRecord(table, 5));
    OK(AdsSetString(table, TEXT("Comment"), TEXT("a memo"), 6));
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
    IS(rename(in_folder("all.adt"), in_folder("all.add")), 0);
    IS(rename(in_folder("all.adm"), in_folder("all.am")), 0);
    file = fopen(in_folder("all.add"), "r+b");
    IS(fwrite("ADS Data Dictionary", 1, 20, file), 20);
    fclose(file);
}

/* The statement stays, and its cursor with it, until the connection goes. */
static UNSIGNED32 run(ADSHANDLE connection, const char *sql, ADSHANDLE *cursor)
{
    ADSHANDLE statement;

    OK(AdsCreateSQLStatement(connection, &statement));
    return AdsExecuteSQLDirect(statement, TEXT(sql), cursor);
}

static UNSIGNED32 refused(ADSHANDLE connection, const char *sql, const char *why)
{
    ADSHANDLE cursor = 0;
    UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 code;

    IS(run(connection, sql, &cursor), 7200);
    OK(AdsGetLastError(&code, text, &length));
    return strstr((char *) text, why) != NULL;
}

int main(int arguments, char **argument)
{
    ADSHANDLE connection = 0, table = 0, cursor = 0;
    UNSIGNED16 count = 77, type = 77;
    UNSIGNED32 mode = 77, code = 77;
    char text[600];
    UNSIGNED16 length = sizeof text;

    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    make();

    /* Nobody is let in without being asked. */
    unsetenv("TIDEMILL_ACE_TRUST_DICTIONARY");
    IS(AdsConnect60(TEXT(in_folder("all.add")), ADS_LOCAL_SERVER, TEXT("ADSSYS"), TEXT("secret"), ADS_DEFAULT, &connection), 5042);
    sprintf(text, "Data Source=%s;ServerType=ADS_LOCAL_SERVER;TrustDictionary=TRUE", in_folder("all.add"));
    OK(AdsConnect101(TEXT(text), NULL, &connection));
    OK(AdsDisconnect(connection));
    setenv("TIDEMILL_ACE_TRUST_DICTIONARY", "1", 1);
    IS(AdsConnect60(TEXT(in_folder("people.add")), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection), AE_FILE_NOT_FOUND);
    OK(AdsConnect60(TEXT(in_folder("all.add")), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));

    OK(AdsOpenTable(connection, TEXT("STAFF"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    OK(AdsGetTableType(table, &type));
    IS(type, ADS_ADT);
    OK(AdsGetNumIndexes(table, &count));
    IS(count, 2);
    SAME(trimmed(table, "Name"), "Novak");
    OK(AdsGetTableOpenOptions(table, &mode));
    IS(mode, ADS_READONLY);
    IS(AdsAppendRecord(table), AE_TABLE_READONLY);
    OK(AdsGetLastError(&code, (UNSIGNED8 *) text, &length));
    IS(strstr(text, "Trigger watch, of which the event is not known, is not enforced") != NULL, 1);
    IS(AdsDeleteRecord(table), AE_TABLE_READONLY);
    OK(AdsCloseTable(table));
    IS(AdsOpenTable(connection, TEXT("Staff"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_EXCLUSIVE, &table), AE_TABLE_READONLY);
    IS(AdsOpenTable(connection, TEXT("far"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table) != AE_SUCCESS, 1);
    IS(AdsOpenTable(connection, TEXT("nowhere"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table) != AE_SUCCESS, 1);

    OK(run(connection, "SELECT Name FROM staff WHERE Born IS NULL", &cursor));
    OK(AdsGotoTop(cursor));
    SAME(trimmed(cursor, "Name"), "Novak");
    OK(AdsCloseTable(cursor));
    OK(run(connection, "SELECT COUNT(*) AS n FROM codes", &cursor));
    SAME(trimmed(cursor, "n"), "1");
    OK(AdsCloseTable(cursor));
    IS(refused(connection, "UPDATE Staff SET Name = 'x'", "NativeError = 5072"), 1);
    IS(refused(connection, "DELETE FROM Staff", "Trigger watch, of which the event is not known, is not enforced"), 1);
    IS(refused(connection, "ALTER TABLE Staff ADD COLUMN a Date", "NativeError = 5072"), 1);
    OK(run(connection, "ALTER TABLE codes ADD COLUMN a Date", &cursor));
    OK(run(connection, "INSERT INTO codes VALUES ( 'x', '2024-02-29' )", &cursor));
    OK(run(connection, "CREATE INDEX code ON codes ( Code )", &cursor));
    OK(run(connection, "DROP TABLE codes FROM DATABASE NO_DELETE", &cursor));
    IS(access(in_folder("old.adt"), F_OK), 0);
    IS(AdsOpenTable(connection, TEXT("codes"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table), AE_FILE_NOT_FOUND);
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    return failures != 0;
}
