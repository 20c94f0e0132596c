/*
 * What is said and refused where nothing is encrypted, and the list of servers where there are none.
 */
#include <unistd.h>

#include "check.h"

static ADSHANDLE connection;

static ADSHANDLE opened(UNSIGNED32 options)
{
    ADSHANDLE table = 0;

    OK(AdsOpenTable(connection, TEXT("people"), NULL, ADS_ADT, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, options, &table));
    return table;
}

static void tables(void)
{
    ADSHANDLE table = 0, statement = 0, cursor = 0;
    UNSIGNED16 answer = 9;

    OK(AdsCreateTable(connection, TEXT("people"), NULL, ADS_ADT, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("Name,Character,10"), &table));
    OK(AdsAppendRecord(table));
    OK(AdsSetString(table, TEXT("Name"), TEXT("Adams"), 5));
    OK(AdsWriteRecord(table));
    OK(AdsDecryptTable(table));
    SAME(trimmed(table, "Name"), "Adams");
    IS(AdsEnableEncryption(table, TEXT("secret")), AE_FUNCTION_NOT_AVAILABLE);
    IS(AdsEncryptTable(table), AE_ENCRYPTION_NOT_ENABLED);
    IS(AdsEncryptRecord(table), AE_ENCRYPTION_NOT_ENABLED);
    OK(AdsIsRecordEncrypted(table, &answer));
    IS(answer, 0);
    OK(AdsSetTableTransactionFree(table, 0));
    IS(AdsSetTableTransactionFree(table, 1), AE_FUNCTION_NOT_AVAILABLE);
    OK(AdsIsTableTransactionFree(table, &answer));
    IS(answer, 0);
    OK(AdsBeginTransaction(connection));
    IS(AdsDecryptTable(table), AE_ILLEGAL_COMMAND_DURING_TRANS);
    OK(AdsRollbackTransaction(connection));
    OK(AdsCloseTable(table));

    table = opened(ADS_SHARED);
    IS(AdsDecryptTable(table), AE_TABLE_NOT_EXCLUSIVE);
    IS(AdsEncryptTable(table), AE_TABLE_NOT_EXCLUSIVE);
    IS(AdsSetTableTransactionFree(table, 0), AE_TABLE_NOT_EXCLUSIVE);
    OK(AdsCloseTable(table));
    IS(AdsDecryptTable(table), AE_INVALID_TABLE_HANDLE);
    IS(AdsEncryptRecord(table), AE_INVALID_TABLE_HANDLE);

    OK(AdsCreateSQLStatement(connection, &statement));
    OK(AdsStmtSetTableType(statement, ADS_ADT));
    IS(AdsStmtSetTablePassword(statement, TEXT("people"), TEXT("secret")), AE_FUNCTION_NOT_AVAILABLE);
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT * FROM people"), &cursor));
    IS(AdsDecryptTable(cursor), AE_INVALID_TABLE_HANDLE);
    OK(AdsCloseSQLStatement(statement));
    OK(AdsCloseCachedTables(connection));
    IS(AdsStmtSetTablePassword(statement, TEXT("people"), TEXT("secret")), AE_INVALID_SQLSTATEMENT_HANDLE);
}

/* A dictionary has the passwords of its tables itself. */
static void dictionaries(void)
{
    ADSHANDLE dictionary = 0, statement = 0, cursor = 0;

    OK(AdsDDCreate(TEXT("own.add"), 0, NULL, &dictionary));
    OK(AdsDDAddTable(dictionary, TEXT("People"), TEXT("people.adt"), ADS_ADT, ADS_ANSI, NULL, NULL));
    OK(AdsCreateSQLStatement(dictionary, &statement));
    OK(AdsStmtSetTablePassword(statement, TEXT("PEOPLE"), TEXT("secret")));
    IS(AdsStmtSetTablePassword(statement, TEXT("others"), TEXT("secret")), AE_FUNCTION_NOT_AVAILABLE);
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT * FROM People"), &cursor));
    SAME(trimmed(cursor, "Name"), "Adams");
    OK(AdsCloseSQLStatement(statement));
    OK(AdsDisconnect(dictionary));
}

static void servers(void)
{
    const char *names[] = {"IP Addr", "Port", "Multicast Addr", "Server Name", "Serial Number", "Version", "Owner",
                           "Install Date", "User Count", "Server Type", "Up Time", "Operations", "More Info"};
    ADSHANDLE table = 0, its_connection = 0;
    UNSIGNED8 name[64];
    UNSIGNED16 length, fields = 0, i, at_end = 0;
    UNSIGNED32 count = 9;

    OK(AdsFindServers(ADS_DEFAULT, &table));
    OK(AdsGetNumFields(table, &fields));
    IS(fields, 13);
    for (i = 0; i < 13; i++) {
        length = sizeof name;
        OK(AdsGetFieldName(table, i + 1, name, &length));
        SAME(name, names[i]);
    }
    OK(AdsGetRecordCount(table, ADS_IGNOREFILTERS, &count));
    IS(count, 0);
    OK(AdsAtEOF(table, &at_end));
    IS(at_end, 1);
    OK(AdsCopyTable(table, ADS_IGNOREFILTERS, TEXT("findads.adt")));
    IS(access("findads.adt", F_OK), 0);
    OK(AdsGetTableConnection(table, &its_connection));
    OK(AdsCloseTable(table));
    IS(AdsDisconnect(its_connection), AE_INVALID_CONNECTION_HANDLE);
    OK(AdsFindServers(ADS_FS_MULTICAST_ONLY | ADS_FS_CONNECT_ALL, &table));
    OK(AdsCloseTable(table));
    IS(AdsFindServers(4, &table), AE_INVALID_OPTION);
    IS(AdsFindServers(ADS_DEFAULT, NULL), AE_INVALID_POINTER);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    if (chdir(arguments[1]) != 0)
        return 2;
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    tables();
    dictionaries();
    servers();
    OK(AdsDisconnect(connection));
    return failures != 0;
}
