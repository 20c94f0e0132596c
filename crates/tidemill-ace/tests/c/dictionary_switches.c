/*
 * Triggers and relations of a data dictionary that are switched off and on: for the connection, a table, a trigger and all of it, heeded by
 * functions for records and by statements. Argument: an empty folder.
 */

#include "check.h"

static char folder[400];
static ADSHANDLE dictionary, statement;

static char *in_folder(const char *name)
{
    static char paths[4][500];
    static int next;
    next = (next + 1) % 4;
    sprintf(paths[next], "%s/%s", folder, name);
    return paths[next];
}

static void execute(const char *sql)
{
    ADSHANDLE cursor = 0;
    OK(AdsExecuteSQLDirect(statement, TEXT(sql), &cursor));
    if (cursor)
        OK(AdsCloseTable(cursor));
}

static void add_table(const char *name, const char *fields, const char *order, UNSIGNED32 options)
{
    ADSHANDLE connection, table, index;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT(name), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0, TEXT(fields), &table));
    OK(AdsCreateIndex61(table, NULL, TEXT(order), TEXT(order), NULL, NULL, options | ADS_COMPOUND, 0, &index));
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
    OK(AdsDDAddTable(dictionary, NULL, TEXT(name), ADS_ADT, ADS_ANSI, NULL, NULL));
}

static ADSHANDLE open_table(ADSHANDLE connection, const char *name)
{
    ADSHANDLE table = 0;
    OK(AdsOpenTable(connection, TEXT(name), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    return table;
}

/* How many rows a table has. */
static UNSIGNED32 count(const char *name)
{
    ADSHANDLE table = open_table(dictionary, name);
    UNSIGNED32 records = 77;
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &records));
    OK(AdsCloseTable(table));
    return records;
}

/* A sale, by the functions for records, and one by a statement. How many of them were noted? */
static UNSIGNED32 sell(ADSHANDLE sales)
{
    UNSIGNED32 before = count("journal");

    OK(AdsAppendRecord(sales));
    OK(AdsSetLong(sales, TEXT("Goods"), 1));
    OK(AdsWriteRecord(sales));
    execute("INSERT INTO sales ( Goods ) VALUES ( 1 )");
    return count("journal") - before;
}

static UNSIGNED32 enabled(UNSIGNED8 event)
{
    UNSIGNED32 number = 77, is_on = 77;
    UNSIGNED16 length = sizeof number;

    OK(AdsDDGetTableProperty(dictionary, TEXT("sales"), ADS_DD_TABLE_OBJ_ID, &number, &length));
    OK(AdsAreTriggersEnabled(dictionary, (SIGNED32) number, event, &is_on));
    return is_on;
}

static void triggers(void)
{
    ADSHANDLE sales, other;
    UNSIGNED16 is_off = 1, length = sizeof is_off;
    UNSIGNED32 answer;

    OK(AdsDDCreateTrigger(dictionary, TEXT("note"), TEXT("sales"), ADS_TRIGTYPE_AFTER, ADS_TRIGEVENT_INSERT, ADS_TRIG_SCRIPT,
                          TEXT("INSERT INTO journal ( What ) VALUES ( 'sold' );"), NULL, 1, NULL, ADS_TRIGOPTIONS_DEFAULT));
    sales = open_table(dictionary, "sales");
    IS(sell(sales), 2);
    IS(enabled(ADS_TRIGEVENT_INSERT), 1);

    /* The connection's own. */
    OK(AdsDDDisableTriggers(dictionary, NULL, NULL, 0));
    IS(sell(sales), 0);
    IS(enabled(ADS_TRIGEVENT_INSERT), 0);
    OK(AdsDDOpen(TEXT(in_folder("shop.add")), NULL, &other));
    OK(AdsAreTriggersEnabled(other, 2, ADS_TRIGEVENT_INSERT, &answer));
    IS(answer, 1);
    OK(AdsDisconnect(other));
    OK(AdsDDEnableTriggers(dictionary, NULL, TEXT(""), 0));
    IS(sell(sales), 2);

    /* Those of a table, one of it, and all. */
    OK(AdsDDDisableTriggers(dictionary, TEXT("sales"), NULL, 0));
    IS(sell(sales), 0);
    IS(AdsDDDisableTriggers(dictionary, TEXT("note"), TEXT("sales"), 0), AE_UNABLE_TO_DISABLE_TRIGGERS);
    IS(AdsDDEnableTriggers(dictionary, TEXT("note"), TEXT("sales"), 0), AE_UNABLE_TO_ENABLE_TRIGGERS);
    OK(AdsDDEnableTriggers(dictionary, TEXT("sales"), NULL, 0));
    OK(AdsDDDisableTriggers(dictionary, TEXT("note"), TEXT("sales"), 0));
    IS(sell(sales), 0);
    IS(enabled(ADS_TRIGEVENT_INSERT), 0);
    IS(enabled(ADS_TRIGEVENT_DELETE), 1);
    OK(AdsDDGetTriggerProperty(dictionary, TEXT("sales::note"), ADS_DD_TRIGGERS_DISABLED, (UNSIGNED8 *) &is_off, &length));
    IS(is_off, 1);
    OK(AdsDDEnableTriggers(dictionary, TEXT("note"), TEXT("sales"), 0));
    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_TRIGGERS_DISABLED, &is_off, sizeof is_off));
    IS(sell(sales), 0);
    is_off = 0;
    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_TRIGGERS_DISABLED, &is_off, sizeof is_off));
    IS(sell(sales), 2);
    OK(AdsCloseCachedTrigStatements(dictionary, 0));
    IS(sell(sales), 2);

    IS(AdsDDDisableTriggers(dictionary, TEXT("none"), NULL, 0), AE_INVALID_OBJECT_NAME);
    IS(AdsDDDisableTriggers(dictionary, NULL, TEXT("sales"), 0), AE_INVALID_OBJECT_NAME);
    IS(AdsDDDisableTriggers(dictionary, NULL, NULL, 1), AE_INVALID_OPTION);
    IS(AdsDDDisableTriggers(sales, NULL, NULL, 0), AE_INVALID_CONNECTION_HANDLE);
    IS(AdsAreTriggersEnabled(dictionary, 9999, ADS_TRIGEVENT_INSERT, &answer), AE_INVALID_OBJECT_NAME);
    IS(AdsAreTriggersEnabled(dictionary, 2, 9, &answer), AE_INVALID_OPTION);
    IS(AdsCloseCachedTrigStatements(dictionary, 9999), AE_INVALID_OBJECT_NAME);
    OK(AdsCloseTable(sales));
    OK(AdsDDRemoveTrigger(dictionary, TEXT("sales::note")));
}

static void relations(void)
{
    ADSHANDLE sales, goods;

    OK(AdsDDSetTableProperty(dictionary, TEXT("goods"), ADS_DD_TABLE_PRIMARY_KEY, "Id", 3, ADS_NO_VALIDATE, NULL));
    execute("INSERT INTO goods VALUES ( 1, 'apple' )");
    OK(AdsDDCreateRefIntegrity(dictionary, TEXT("sold"), NULL, TEXT("goods"), NULL, TEXT("sales"), TEXT("Goods"), ADS_DD_RI_RESTRICT,
                               ADS_DD_RI_RESTRICT));
    OK(AdsVerifyRI(dictionary, 0));
    sales = open_table(dictionary, "sales");
    OK(AdsAppendRecord(sales));
    OK(AdsSetLong(sales, TEXT("Goods"), 99));
    IS(AdsWriteRecord(sales), AE_NO_PRIMARY_KEY_EXISTS);
    OK(AdsDisableRI(dictionary));
    OK(AdsWriteRecord(sales));
    goods = open_table(dictionary, "goods");
    OK(AdsGotoTop(goods));
    SAME(trimmed(goods, "Name"), "apple");
    OK(AdsDeleteRecord(goods));
    OK(AdsWriteRecord(goods));
    OK(AdsEnableRI(dictionary));
    OK(AdsAppendRecord(sales));
    OK(AdsSetLong(sales, TEXT("Goods"), 99));
    IS(AdsWriteRecord(sales), AE_NO_PRIMARY_KEY_EXISTS);
    OK(AdsCancelUpdate(sales));
    IS(AdsVerifyRI(dictionary, 0), AE_RI_FAILED);
    IS(AdsVerifyRI(dictionary, 1), 7008);
    OK(AdsCloseTable(goods));
    OK(AdsCloseTable(sales));
    IS(AdsVerifyRI(dictionary, 1), AE_RI_FAILED);
    execute("DELETE FROM sales");
    OK(AdsVerifyRI(dictionary, 1));
    IS(AdsVerifyRI(dictionary + 99, 1), AE_INVALID_CONNECTION_HANDLE);
    IS(AdsDisableRI(0x7FFFFFF), AE_INVALID_CONNECTION_HANDLE);
}

int main(int arguments, char **argument)
{
    ADSHANDLE plain;

    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    OK(AdsDDCreate(TEXT(in_folder("shop.add")), 0, NULL, &dictionary));
    add_table("sales", "Goods,Integer;Day,Date", "Goods", 0);
    add_table("goods", "Id,Integer;Name,Char,10", "Id", ADS_UNIQUE);
    add_table("journal", "What,Char,10", "What", 0);
    OK(AdsCreateSQLStatement(dictionary, &statement));
    triggers();
    relations();
    OK(AdsCloseSQLStatement(statement));
    OK(AdsDDClose(dictionary));

    /* A folder has neither. */
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &plain));
    IS(AdsDDDisableTriggers(plain, NULL, NULL, 0), AE_INVALID_DICTIONARY_HANDLE);
    IS(AdsVerifyRI(plain, 0), AE_INVALID_DICTIONARY_HANDLE);
    OK(AdsDisableRI(plain));
    OK(AdsEnableRI(plain));
    OK(AdsDisconnect(plain));
    OK(AdsApplicationExit());
    return failures != 0;
}
