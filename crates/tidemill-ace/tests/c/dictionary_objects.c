/*
 * Objects of a data dictionary: index files and orders come, tell what they are and go, tables get other names and folders, and files that
 * are gone are made anew. Argument: an empty folder.
 */

#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char folder[400];
static ADSHANDLE dictionary;

static char *in_folder(const char *name)
{
    static char paths[4][500];
    static int next;
    next = (next + 1) % 4;
    sprintf(paths[next], "%s/%s", folder, name);
    return paths[next];
}

static int is_file(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

/* The names of the orders that a table opens with. */
static char *orders(const char *name)
{
    static char all[300];
    ADSHANDLE table, handles[20];
    UNSIGNED16 count = 20, length;
    UNSIGNED8 tag[ADS_MAX_TAG_NAME + 1];
    int at;

    all[0] = 0;
    OK(AdsOpenTable(dictionary, TEXT(name), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    OK(AdsGetAllIndexes(table, handles, &count));
    for (at = 0; at < count; at++) {
        length = sizeof tag;
        OK(AdsGetIndexName(handles[at], tag, &length));
        strcat(strcat(all, (char *) tag), ";");
    }
    OK(AdsCloseTable(table));
    return all;
}

static void make(void)
{
    ADSHANDLE connection, table, order;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT("people"), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0,
                      TEXT("Id,AutoInc;Last Name,CIChar,20;Born,Date;Note,Memo"), &table));
    OK(AdsCreateIndex61(table, NULL, TEXT("ID"), TEXT("Id"), NULL, NULL, ADS_UNIQUE | ADS_COMPOUND, 0, &order));
    OK(AdsCreateIndex61(table, TEXT("born"), TEXT("BORN"), TEXT("Born"), TEXT("Id > 3"), NULL, ADS_COMPOUND, 0, &order));
    OK(AdsCreateIndex61(table, TEXT("born"), TEXT("NAME"), TEXT("Last Name"), NULL, NULL, ADS_COMPOUND | ADS_DESCENDING, 0, &order));
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
    OK(AdsDDCreate(TEXT(in_folder("house.add")), 0, NULL, &dictionary));
    OK(AdsDDAddTable(dictionary, TEXT("Staff"), TEXT("people.adt"), ADS_ADT, ADS_ANSI, NULL, NULL));
}

static void index_files(void)
{
    UNSIGNED8 text[500];
    UNSIGNED16 length = sizeof text, number = 77;
    UNSIGNED32 options = 77;
    ADSHANDLE table;

    SAME(orders("Staff"), "ID;");
    OK(AdsDDAddIndexFile(dictionary, TEXT("Staff"), TEXT("born.adi"), TEXT("By day")));
    SAME(orders("Staff"), "ID;BORN;NAME;");
    IS(AdsDDAddIndexFile(dictionary, TEXT("Staff"), TEXT("born.adi"), NULL), AE_INDEX_ALREADY_OPEN);
    IS(AdsDDAddIndexFile(dictionary, TEXT("nobody"), TEXT("born.adi"), NULL), AE_INVALID_OBJECT_NAME);
    IS(AdsDDAddIndexFile(dictionary, TEXT("Staff"), NULL, NULL), AE_INVALID_POINTER);
    OK(AdsDDGetIndexFileProperty(dictionary, TEXT("Staff"), TEXT("born.adi"), ADS_DD_INDEX_FILE_PATH, text, &length));
    IS(length, strlen((char *) text) + 1);
    IS(access((char *) text, F_OK), 0);
    length = sizeof options;
    OK(AdsDDGetIndexFileProperty(dictionary, TEXT("Staff"), TEXT("born.adi"), ADS_DD_INDEX_FILE_PAGESIZE, &options, &length));
    IS(options, 512);
    IS(AdsDDGetIndexFileProperty(dictionary, TEXT("Staff"), TEXT("none.adi"), ADS_DD_INDEX_FILE_PATH, text, &length), AE_INVALID_OBJECT_NAME);
    IS(AdsDDGetIndexFileProperty(dictionary, TEXT("Staff"), TEXT("born.adi"), 999, text, &length), AE_INVALID_PROPERTY_ID);

    length = sizeof text;
    OK(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_INDEX_FILE_NAME, text, &length));
    SAME(text, "born.adi");
    length = 3;
    IS(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_INDEX_EXPRESSION, text, &length), AE_INSUFFICIENT_BUFFER);
    IS(length, 10);
    OK(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_INDEX_EXPRESSION, text, &length));
    SAME(text, "Last Name");
    length = sizeof options;
    OK(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_INDEX_OPTIONS, &options, &length));
    IS(options, ADS_COMPOUND | ADS_DESCENDING);
    length = sizeof number;
    OK(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("born"), ADS_DD_INDEX_KEY_TYPE, &number, &length));
    IS(number, ADS_DATE);
    OK(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_INDEX_KEY_LENGTH, &number, &length));
    IS(number, 20);
    length = sizeof text;
    IS(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_COMMENT, text, &length), AE_PROPERTY_NOT_SET);
    OK(AdsDDSetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_COMMENT, "From the last", 14));
    OK(AdsDDGetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_COMMENT, text, &length));
    SAME(text, "From the last");
    IS(AdsDDSetIndexProperty(dictionary, TEXT("Staff"), TEXT("name"), ADS_DD_INDEX_EXPRESSION, "Id", 3), AE_INVALID_PROPERTY_ID);
    IS(AdsDDSetIndexProperty(dictionary, TEXT("Staff"), TEXT("none"), ADS_DD_COMMENT, "x", 2), AE_INVALID_OBJECT_NAME);

    /* Whoever has the table open keeps its orders. */
    OK(AdsOpenTable(dictionary, TEXT("Staff"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    IS(AdsDDDeleteIndex(dictionary, TEXT("Staff"), TEXT("name")), 7008);
    IS(AdsDDRemoveIndexFile(dictionary, TEXT("Staff"), TEXT("born.adi"), 0), 7008);
    OK(AdsCloseTable(table));
    OK(AdsDDDeleteIndex(dictionary, TEXT("Staff"), TEXT("name")));
    IS(AdsDDDeleteIndex(dictionary, TEXT("Staff"), TEXT("name")), AE_INVALID_OBJECT_NAME);
    SAME(orders("Staff"), "ID;BORN;");
    OK(AdsDDRemoveIndexFile(dictionary, TEXT("Staff"), TEXT("born.adi"), 0));
    IS(is_file("born.adi"), 1);
    SAME(orders("Staff"), "ID;");
    IS(AdsDDRemoveIndexFile(dictionary, TEXT("Staff"), TEXT("born.adi"), 0), AE_INVALID_OBJECT_NAME);
    OK(AdsDDAddIndexFile(dictionary, TEXT("Staff"), TEXT("born"), NULL));
    OK(AdsDDRemoveIndexFile(dictionary, TEXT("Staff"), TEXT("born.adi"), 1));
    IS(is_file("born.adi"), 0);
}

static void properties(void)
{
    UNSIGNED8 text[500];
    WCHAR wide[200];
    UNSIGNED16 length, number = 77, never = 0;
    UNSIGNED32 encoding = 77;

    OK(AdsDDAddView(dictionary, TEXT("all"), NULL, TEXT("SELECT * FROM Staff")));
    OK(AdsDDSetObjectProperty(dictionary, ADS_DD_DATABASE_OBJECT, NULL, NULL, ADS_DD_COMMENT, "Our house", 10));
    OK(AdsDDSetObjectProperty(dictionary, ADS_DD_TABLE_OBJECT, NULL, TEXT("Staff"), ADS_DD_COMMENT, "Who works here", 15));
    OK(AdsDDSetObjectProperty(dictionary, ADS_DD_FIELD_OBJECT, TEXT("Staff"), TEXT("Born"), ADS_DD_FIELD_CAN_NULL, &never, sizeof never));
    OK(AdsDDSetObjectProperty(dictionary, ADS_DD_INDEX_OBJECT, TEXT("Staff"), TEXT("Id"), ADS_DD_COMMENT, "The number", 11));
    OK(AdsDDSetObjectProperty100(dictionary, ADS_DD_VIEW_OBJECT, NULL, TEXT("all"), ADS_DD_COMMENT, utf16("Everybody"), 20, ADS_ENCODE_UTF16));
    length = sizeof text;
    OK(AdsDDGetObjectProperty(dictionary, ADS_DD_DATABASE_OBJECT, NULL, NULL, ADS_DD_COMMENT, text, &length));
    SAME(text, "Our house");
    length = sizeof text;
    OK(AdsDDGetTableProperty(dictionary, TEXT("Staff"), ADS_DD_COMMENT, text, &length));
    SAME(text, "Who works here");
    length = sizeof number;
    OK(AdsDDGetObjectProperty(dictionary, ADS_DD_FIELD_OBJECT, TEXT("Staff"), TEXT("Born"), ADS_DD_FIELD_CAN_NULL, &number, &length));
    IS(number, 0);
    length = sizeof text;
    OK(AdsDDGetObjectProperty(dictionary, ADS_DD_INDEX_OBJECT, TEXT("Staff"), TEXT("Id"), ADS_DD_COMMENT, text, &length));
    SAME(text, "The number");
    length = sizeof text;
    OK(AdsDDGetObjectProperty(dictionary, ADS_DD_INDEX_FILE_OBJECT, TEXT("Staff"), TEXT("people.adi"), ADS_DD_INDEX_FILE_RELATIVE_PATH, text, &length));
    SAME(text, ".\\people.adi");
    length = sizeof text;
    OK(AdsDDGetObjectProperty100(dictionary, ADS_DD_VIEW_OBJECT, NULL, TEXT("all"), ADS_DD_COMMENT, text, &length, &encoding));
    SAME(text, "Everybody");
    IS(encoding, ADS_ENCODE_UTF8);
    length = sizeof wide;
    OK(AdsDDGetObjectProperty100(dictionary, ADS_DD_VIEW_OBJECT, NULL, TEXT("all"), ADS_DD_VIEW_STMT_W, wide, &length, &encoding));
    IS(encoding, ADS_ENCODE_UTF16);
    IS(wide[0], 'S');
    IS(length, 40);
    IS(AdsDDGetObjectProperty(dictionary, 77, NULL, TEXT("all"), ADS_DD_COMMENT, text, &length), AE_INVALID_OBJECT_TYPE);
    IS(AdsDDGetObjectProperty(dictionary, ADS_DD_VIEW_OBJECT, NULL, NULL, ADS_DD_COMMENT, text, &length), AE_INVALID_POINTER);
    IS(AdsDDGetObjectProperty(dictionary, ADS_DD_VIEW_OBJECT, NULL, TEXT("none"), ADS_DD_COMMENT, text, &length), AE_INVALID_OBJECT_NAME);
    IS(AdsDDSetObjectProperty(dictionary, ADS_DD_RELATION_OBJECT, NULL, TEXT("r"), ADS_DD_COMMENT, "x", 2), AE_INVALID_PROPERTY_ID);
    IS(AdsDDSetObjectProperty100(dictionary, ADS_DD_VIEW_OBJECT, NULL, TEXT("all"), ADS_DD_COMMENT, "x", 2, 1), AE_INVALID_OPTION);
    IS(AdsDDSetObjectProperty(dictionary, ADS_DD_DATABASE_OBJECT, NULL, NULL, ADS_DD_LOGINS_DISABLED, &never, sizeof never), AE_INVALID_PROPERTY_ID);
}

static void names_and_folders(void)
{
    ADSHANDLE table;

    OK(AdsDDRenameObject(dictionary, TEXT("Staff"), TEXT("Crew"), ADS_DD_TABLE_OBJECT, 0));
    IS(is_file("people.adt"), 0);
    IS(is_file("Crew.adt") && is_file("Crew.adi") && is_file("Crew.adm"), 1);
    SAME(orders("crew"), "ID;");
    OK(AdsOpenTable(dictionary, TEXT("Crew"), NULL, ADS_DEFAULT, ADS_ANSI, 0, 0, ADS_SHARED, &table));
    IS(AdsDDRenameObject(dictionary, TEXT("Crew"), TEXT("Staff"), ADS_DD_TABLE_OBJECT, 0), 7008);
    IS(AdsDDMoveObjectFile(dictionary, ADS_DD_TABLE_OBJECT, TEXT("Crew"), TEXT("."), NULL, NULL, 0), 7008);
    OK(AdsCloseTable(table));
    OK(AdsDDRenameObject(dictionary, TEXT("Crew"), TEXT("Staff"), ADS_DD_TABLE_OBJECT, ADS_KEEP_TABLE_FILE_NAME));
    IS(is_file("Crew.adt"), 1);
    OK(AdsDDRenameObject(dictionary, TEXT("all"), TEXT("everybody"), ADS_DD_VIEW_OBJECT, 0));
    IS(AdsDDRenameObject(dictionary, TEXT("everybody"), TEXT("Staff"), ADS_DD_VIEW_OBJECT, 0), AE_INVALID_OBJECT_NAME);
    IS(AdsDDRenameObject(dictionary, TEXT("everybody"), TEXT(""), ADS_DD_VIEW_OBJECT, 0), AE_INVALID_OBJECT_NAME);
    IS(AdsDDRenameObject(dictionary, TEXT("everybody"), TEXT("x"), ADS_DD_VIEW_OBJECT, 2), AE_INVALID_OPTION);
    IS(AdsDDRenameObject(dictionary, TEXT("Born"), TEXT("x"), ADS_DD_FIELD_OBJECT, 0), AE_INVALID_OBJECT_TYPE);
    mkdir(in_folder("there"), 0755);
    OK(AdsDDMoveObjectFile(dictionary, ADS_DD_TABLE_OBJECT, TEXT("Staff"), TEXT(in_folder("there")), NULL, NULL, 0));
    IS(is_file("there/Crew.adt") && is_file("there/Crew.adi") && is_file("there/Crew.adm"), 1);
    SAME(orders("Staff"), "ID;");
    IS(AdsDDMoveObjectFile(dictionary, ADS_DD_TABLE_OBJECT, TEXT("Staff"), TEXT("/"), NULL, NULL, 0), AE_INVALID_PATH);
    IS(AdsDDMoveObjectFile(dictionary, ADS_DD_INDEX_FILE_OBJECT, TEXT("Crew.adi"), TEXT(folder), NULL, TEXT("Staff"), 0), AE_DD_REQUEST_NOT_COMPLETED);
    IS(AdsDDMoveObjectFile(dictionary, ADS_DD_VIEW_OBJECT, TEXT("everybody"), TEXT("there"), NULL, NULL, 0), AE_INVALID_OBJECT_TYPE);
}

static void made_anew(void)
{
    IS(AdsDDAutoCreateTable(dictionary, TEXT("Staff"), NULL), AE_DD_REQUEST_NOT_COMPLETED);
    IS(AdsDDAutoCreateIndex(dictionary, TEXT("Staff"), TEXT("Crew.adi"), NULL), AE_INDEX_EXISTS);
    remove(in_folder("there/Crew.adi"));
    OK(AdsDDAutoCreateIndex(dictionary, TEXT("Staff"), TEXT("Crew.adi"), NULL));
    SAME(orders("Staff"), "ID;");
    remove(in_folder("there/Crew.adt"));
    remove(in_folder("there/Crew.adm"));
    remove(in_folder("there/Crew.adi"));
    OK(AdsDDAutoCreateTable(dictionary, TEXT("Staff"), TEXT("")));
    SAME(orders("Staff"), "ID;");
    IS(AdsDDAutoCreateTable(dictionary, TEXT("none"), NULL), AE_INVALID_OBJECT_NAME);
    IS(AdsDDAutoCreateIndex(dictionary, TEXT("Staff"), TEXT("none"), NULL), AE_INVALID_OBJECT_NAME);
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    make();
    index_files();
    properties();
    names_and_folders();
    made_anew();
    OK(AdsDDClose(dictionary));
    OK(AdsApplicationExit());
    return failures != 0;
}
