/*
 * A data dictionary of our own: a program makes it, takes tables in, sets and asks properties, lists what there is, breaks each rule, and
 * lets a table go. Argument: an empty folder.
 */

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

static void make_tables(void)
{
    ADSHANDLE connection, table, order;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT("people"), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0,
                      TEXT("Id,AutoInc;Last Name,CIChar,20;Born,Date"), &table));
    OK(AdsCreateIndex61(table, NULL, TEXT("ID"), TEXT("Id"), NULL, NULL, ADS_UNIQUE | ADS_COMPOUND, 0, &order));
    OK(AdsCreateIndex61(table, TEXT("names"), TEXT("NAME"), TEXT("Last Name"), NULL, NULL, ADS_COMPOUND, 0, &order));
    OK(AdsCloseTable(table));
    OK(AdsCreateTable(connection, TEXT("old"), NULL, ADS_CDX, ADS_ANSI, 0, 0, 0, TEXT("CODE,Char,4"), &table));
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
}

static char *objects(ADSHANDLE connection, UNSIGNED16 kind, const char *parent)
{
    static char all[500];
    UNSIGNED8 name[ADS_DD_MAX_OBJECT_NAME_LEN + 1];
    UNSIGNED16 length = sizeof name;
    ADSHANDLE search;
    UNSIGNED32 code = AdsDDFindFirstObject(connection, kind, TEXT(parent), name, &length, &search);

    all[0] = 0;
    if (code)
        return all;
    do {
        strcat(strcat(all, (char *) name), ";");
        length = sizeof name;
        code = AdsDDFindNextObject(connection, search, name, &length);
    } while (code == AE_SUCCESS);
    IS(code, AE_NO_OBJECT_FOUND);
    OK(AdsDDFindClose(connection, search));
    return all;
}

static char *tables(ADSHANDLE connection)
{
    static char all[500];
    UNSIGNED8 name[ADS_MAX_TABLE_NAME + 1];
    UNSIGNED16 length = sizeof name;
    ADSHANDLE search;
    UNSIGNED32 code = AdsFindFirstTable(connection, TEXT(""), name, &length, &search);

    for (all[0] = 0; code == AE_SUCCESS; code = AdsFindNextTable(connection, search, name, &length)) {
        strcat(strcat(all, (char *) name), ";");
        length = sizeof name;
    }
    IS(code, AE_NO_FILE_FOUND);
    OK(AdsFindClose(connection, search));
    return all;
}

/* What the last error says. */
static char *said(void)
{
    static UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 code;

    OK(AdsGetLastError(&code, text, &length));
    return (char *) text;
}

static void set_field(ADSHANDLE dictionary, const char *field, UNSIGNED16 property, const char *value)
{
    OK(AdsDDSetFieldProperty(dictionary, TEXT("Staff"), TEXT(field), property, (void *) value, LENGTH(value) + 1, ADS_VALIDATE_RETURN_ERROR, NULL));
}

/* Each rule is broken by functions for records and by statements. */
static void break_rules(ADSHANDLE dictionary)
{
    ADSHANDLE table, statement, cursor;
    UNSIGNED16 never = 0;

    OK(AdsDDSetFieldProperty(dictionary, TEXT("Staff"), TEXT("Born"), ADS_DD_FIELD_CAN_NULL, &never, sizeof never, ADS_VALIDATE_RETURN_ERROR, NULL));
    set_field(dictionary, "Born", ADS_DD_FIELD_VALIDATION_MSG, "Everybody was born once");
    set_field(dictionary, "Last Name", ADS_DD_FIELD_DEFAULT_VALUE, "'nobody'");
    set_field(dictionary, "Last Name", ADS_DD_FIELD_MIN_VALUE, "b");
    set_field(dictionary, "Last Name", ADS_DD_FIELD_MAX_VALUE, "x");
    OK(AdsDDSetTableProperty(dictionary, TEXT("Staff"), ADS_DD_TABLE_VALIDATION_EXPR, "Last Name <> 'Moss' .OR. YEAR(Born) > 1950", 43,
                             ADS_NO_VALIDATE, NULL));
    OK(AdsDDSetTableProperty(dictionary, TEXT("Staff"), ADS_DD_TABLE_VALIDATION_MSG, "No old Moss", 12, ADS_NO_VALIDATE, NULL));
    IS(AdsDDSetTableProperty(dictionary, TEXT("Staff"), ADS_DD_TABLE_VALIDATION_EXPR, "Last Name", 10, ADS_NO_VALIDATE, NULL), AE_INVALID_CONSTRAINT);
    IS(AdsDDSetTableProperty(dictionary, TEXT("Staff"), ADS_DD_TABLE_VALIDATION_EXPR, ".T.", 4, 9, NULL), AE_INVALID_OPTION);

    OK(AdsOpenTable(dictionary, TEXT("Staff"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    OK(AdsAppendRecord(table));
    SAME(trimmed(table, "Last Name"), "nobody");
    IS(AdsWriteRecord(table), AE_COLUMN_CANNOT_BE_NULL);
    IS(strstr(said(), "Everybody was born once") != NULL, 1);
    OK(AdsSetDate(table, TEXT("Born"), TEXT("01/31/1944"), 10));
    OK(AdsSetString(table, TEXT("Last Name"), TEXT("Adams"), 5));
    IS(AdsWriteRecord(table), AE_MIN_CONSTRAINT_VIOLATION);
    OK(AdsSetString(table, TEXT("Last Name"), TEXT("Young"), 5));
    IS(AdsWriteRecord(table), AE_MAX_CONSTRAINT_VIOLATION);
    OK(AdsSetString(table, TEXT("Last Name"), TEXT("Moss"), 4));
    IS(AdsWriteRecord(table), AE_RECORD_CONSTRAINT_VIOLATION);
    IS(strstr(said(), "No old Moss") != NULL, 1);
    OK(AdsSetString(table, TEXT("Last Name"), TEXT("Novak"), 5));
    OK(AdsWriteRecord(table));
    OK(AdsCloseTable(table));
    OK(AdsCreateSQLStatement(dictionary, &statement));
    IS(AdsExecuteSQLDirect(statement, TEXT("UPDATE Staff SET Born = NULL"), &cursor), 7200);
    IS(strstr(said(), "NativeError = 5147") != NULL, 1);
    IS(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO Staff ( Born ) VALUES ( NULL )"), &cursor), 7200);
    IS(strstr(said(), "Everybody was born once") != NULL, 1);
    OK(AdsExecuteSQLDirect(statement, TEXT("INSERT INTO Staff ( Born ) VALUES ( '2000-01-31' )"), &cursor));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT COUNT(*) AS n FROM Staff WHERE [Last Name] = 'nobody'"), &cursor));
    SAME(trimmed(cursor, "n"), "1");
    OK(AdsCloseSQLStatement(statement));
}

/* Visits refer to people: a change of a person's number is carried on, and nobody who has a visit is deleted. */
static void relate(ADSHANDLE dictionary)
{
    ADSHANDLE free, visits, people, order;
    UNSIGNED8 text[300];
    UNSIGNED16 length, rule = 77;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &free));
    OK(AdsCreateTable(free, TEXT("visits"), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0, TEXT("Person,Integer;Day,Date"), &visits));
    OK(AdsCreateIndex61(visits, NULL, TEXT("PERSON"), TEXT("Person"), NULL, NULL, ADS_COMPOUND, 0, &order));
    OK(AdsCloseTable(visits));
    OK(AdsCreateTable(free, TEXT("guests"), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0, TEXT("Id,Integer;Name,Char,10"), &people));
    OK(AdsCreateIndex61(people, NULL, TEXT("ID"), TEXT("Id"), NULL, NULL, ADS_UNIQUE | ADS_COMPOUND, 0, &order));
    OK(AdsAppendRecord(people));
    OK(AdsSetLong(people, TEXT("Id"), 7));
    OK(AdsCloseTable(people));
    OK(AdsDisconnect(free));
    OK(AdsDDAddTable(dictionary, NULL, TEXT("visits"), ADS_ADT, ADS_ANSI, NULL, NULL));
    OK(AdsDDAddTable(dictionary, NULL, TEXT("guests"), ADS_ADT, ADS_ANSI, NULL, NULL));
    IS(AdsDDCreateRefIntegrity(dictionary, TEXT("who"), NULL, TEXT("guests"), NULL, TEXT("visits"), TEXT("PERSON"), ADS_DD_RI_CASCADE,
                               ADS_DD_RI_RESTRICT), AE_RI_FAILED);
    OK(AdsDDSetTableProperty(dictionary, TEXT("guests"), ADS_DD_TABLE_PRIMARY_KEY, "ID", 3, ADS_NO_VALIDATE, NULL));
    OK(AdsDDCreateRefIntegrity(dictionary, TEXT("who"), NULL, TEXT("guests"), NULL, TEXT("visits"), TEXT("PERSON"), ADS_DD_RI_CASCADE,
                               ADS_DD_RI_RESTRICT));
    OK(AdsDDRemoveRefIntegrity(dictionary, TEXT("who")));
    OK(AdsDDCreateRefIntegrity62(dictionary, TEXT("who"), NULL, TEXT("guests"), TEXT("ID"), TEXT("visits"), TEXT("PERSON"), ADS_DD_RI_CASCADE,
                                 ADS_DD_RI_RESTRICT, TEXT("Nobody knows this guest"), NULL));
    IS(AdsDDCreateRefIntegrity(dictionary, TEXT("who"), NULL, TEXT("guests"), NULL, TEXT("visits"), TEXT("PERSON"), 1, 1), AE_RI_RULE_EXISTS);
    SAME(objects(dictionary, ADS_DD_RELATION_OBJECT, ""), "who;");
    length = sizeof rule;
    OK(AdsDDGetRefIntegrityProperty(dictionary, TEXT("who"), ADS_DD_RI_DELETERULE, (UNSIGNED8 *) &rule, &length));
    IS(rule, ADS_DD_RI_RESTRICT);
    length = sizeof text;
    OK(AdsDDGetRefIntegrityProperty(dictionary, TEXT("who"), ADS_DD_RI_FOREIGN_TABLE, text, &length));
    SAME((char *) text, "visits");

    OK(AdsOpenTable(dictionary, TEXT("guests"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &people));
    OK(AdsOpenTable(dictionary, TEXT("visits"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &visits));
    OK(AdsAppendRecord(visits));
    OK(AdsSetLong(visits, TEXT("Person"), 8));
    IS(AdsWriteRecord(visits), AE_NO_PRIMARY_KEY_EXISTS);
    IS(strstr(said(), "Nobody knows this guest") != NULL, 1);
    OK(AdsSetLong(visits, TEXT("Person"), 7));
    OK(AdsWriteRecord(visits));
    OK(AdsGotoTop(people));
    OK(AdsDeleteRecord(people));
    IS(AdsWriteRecord(people), AE_RI_RESTRICT);
    OK(AdsCancelUpdate(people));
    OK(AdsBeginTransaction(dictionary));
    OK(AdsSetLong(people, TEXT("Id"), 9));
    OK(AdsWriteRecord(people));
    OK(AdsRefreshRecord(visits));
    SAME(trimmed(visits, "Person"), "9");
    OK(AdsRollbackTransaction(dictionary));
    OK(AdsRefreshRecord(visits));
    SAME(trimmed(visits, "Person"), "7");
    OK(AdsSetLong(people, TEXT("Id"), 12));
    OK(AdsWriteRecord(people));
    OK(AdsRefreshRecord(visits));
    SAME(trimmed(visits, "Person"), "12");
    OK(AdsCloseTable(people));
    OK(AdsCloseTable(visits));
    OK(AdsDDRemoveRefIntegrity(dictionary, TEXT("who")));
    OK(AdsDDRemoveTable(dictionary, TEXT("visits"), 1));
    OK(AdsDDRemoveTable(dictionary, TEXT("guests"), 1));
}

int main(int arguments, char **argument)
{
    ADSHANDLE dictionary = 0, other = 0, table = 0;
    UNSIGNED8 text[600];
    UNSIGNED16 length, number = 77;
    UNSIGNED16 never = 0;

    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    make_tables();

    OK(AdsDDCreate(TEXT(in_folder("house.add")), 0, TEXT("The house"), &dictionary));
    IS(AdsDDCreate(TEXT(in_folder("house.add")), 0, NULL, &other), AE_DICTIONARY_ALREADY_EXISTS);
    IS(AdsDDCreate(TEXT(in_folder("safe.add")), 1, NULL, &other), AE_FUNCTION_NOT_AVAILABLE);
    OK(AdsDDAddTable(dictionary, TEXT("Staff"), TEXT("people.adt"), ADS_ADT, ADS_ANSI, TEXT("names.adi"), TEXT("Who works here")));
    OK(AdsDDAddTable90(dictionary, NULL, TEXT("old.dbf"), ADS_CDX, ADS_ANSI, NULL, NULL, NULL));
    IS(AdsDDAddTable(dictionary, TEXT("staff"), TEXT("old"), ADS_CDX, ADS_ANSI, NULL, NULL), AE_DD_REQUEST_NOT_COMPLETED);

    SAME(objects(dictionary, ADS_DD_TABLE_OBJECT, ""), "Staff;old;");
    SAME(objects(dictionary, ADS_DD_FIELD_OBJECT, "Staff"), "Id;Last Name;Born;");
    SAME(objects(dictionary, ADS_DD_INDEX_FILE_OBJECT, "Staff"), "people.adi;names.adi;");
    SAME(objects(dictionary, ADS_DD_INDEX_OBJECT, "Staff"), "ID;NAME;");
    SAME(objects(dictionary, ADS_DD_RELATION_OBJECT, ""), "");
    SAME(tables(dictionary), "Staff;old;");
    length = sizeof text;
    IS(AdsDDFindFirstObject(dictionary, ADS_DD_FIELD_OBJECT, TEXT("nobody"), text, &length, &other), AE_INVALID_OBJECT_NAME);

    /* Somebody else sees what is set, without being trusted: there is nobody whose rights would have to be checked. */
    OK(AdsDDSetTableProperty(dictionary, TEXT("Staff"), ADS_DD_TABLE_PRIMARY_KEY, "ID", 3, ADS_NO_VALIDATE, NULL));
    OK(AdsDDSetFieldProperty(dictionary, TEXT("Staff"), TEXT("Born"), ADS_DD_FIELD_CAN_NULL, &never, sizeof never, ADS_NO_VALIDATE, NULL));
    OK(AdsDDSetFieldProperty(dictionary, TEXT("Staff"), TEXT("Last Name"), ADS_DD_FIELD_DEFAULT_VALUE, "'none'", 7, ADS_NO_VALIDATE, NULL));
    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_COMMENT, "Our house", 10));
    OK(AdsDDOpen(TEXT(in_folder("house.add")), NULL, &other));
    length = sizeof text;
    OK(AdsDDGetTableProperty(other, TEXT("staff"), ADS_DD_TABLE_PRIMARY_KEY, text, &length));
    SAME((char *) text, "ID");
    IS(length, 3);
    length = sizeof text;
    OK(AdsDDGetTableProperty(other, TEXT("staff"), ADS_DD_COMMENT, text, &length));
    SAME((char *) text, "Who works here");
    length = sizeof number;
    OK(AdsDDGetFieldProperty(other, TEXT("Staff"), TEXT("Born"), ADS_DD_FIELD_CAN_NULL, &number, &length));
    IS(number, 0);
    IS(length, 2);
    OK(AdsDDGetFieldProperty(other, TEXT("Staff"), TEXT("Born"), ADS_DD_FIELD_TYPE, &number, &length));
    IS(number, ADS_DATE);
    length = 3;
    IS(AdsDDGetFieldProperty(other, TEXT("Staff"), TEXT("Last Name"), ADS_DD_FIELD_DEFAULT_VALUE, text, &length), AE_INSUFFICIENT_BUFFER);
    IS(length, 7);
    OK(AdsDDGetFieldProperty(other, TEXT("Staff"), TEXT("Last Name"), ADS_DD_FIELD_DEFAULT_VALUE, text, &length));
    SAME((char *) text, "'none'");
    length = sizeof text;
    OK(AdsDDGetDatabaseProperty(other, ADS_DD_COMMENT, text, &length));
    SAME((char *) text, "Our house");
    length = sizeof text;
    IS(AdsDDGetFieldProperty(other, TEXT("Staff"), TEXT("Born"), ADS_DD_FIELD_MIN_VALUE, text, &length), AE_PROPERTY_NOT_SET);
    IS(AdsDDGetTableProperty(other, TEXT("Staff"), 999, text, &length), AE_INVALID_PROPERTY_ID);
    OK(AdsOpenTable(other, TEXT("staff"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    OK(AdsGetNumIndexes(table, &number));
    IS(number, 2);

    IS(AdsDDRemoveTable(dictionary, TEXT("Staff"), 0), 7008);
    OK(AdsDDClose(other));
    break_rules(dictionary);
    relate(dictionary);
    OK(AdsDDRemoveTable(dictionary, TEXT("Staff"), 1));
    IS(AdsDDRemoveTable(dictionary, TEXT("Staff"), 1), AE_INVALID_OBJECT_NAME);
    SAME(tables(dictionary), "old;");
    OK(AdsDDClose(dictionary));
    sprintf((char *) text, "Data Source=%s;Description=another", in_folder("garden.add"));
    OK(AdsDDCreate101(text, NULL, &dictionary));
    length = sizeof text;
    OK(AdsDDGetDatabaseProperty(dictionary, ADS_DD_COMMENT, text, &length));
    SAME((char *) text, "another");
    OK(AdsDDClose(dictionary));

    /* An ADT whose dictionary is gone is freed. */
    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &other));
    IS(AdsDDSetDatabaseProperty(other, ADS_DD_COMMENT, "x", 2), AE_INVALID_DICTIONARY_HANDLE);
    OK(AdsDisconnect(other));
    make_tables();
    OK(AdsDDFreeTable(TEXT(in_folder("people.adt")), NULL));
    OK(AdsApplicationExit());
    return failures != 0;
}
