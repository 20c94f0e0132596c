/*
 * Links from one data dictionary to another: a connection's own and those that a dictionary keeps, what they tell of themselves, and the rows
 * that statements read through them. Argument: an empty folder.
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

/* An archive with a table of two records, and a dictionary that has none. */
static void make(void)
{
    ADSHANDLE connection, archive, table;
    int at;

    OK(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsCreateTable(connection, TEXT("old"), NULL, ADS_ADT, ADS_ANSI, 0, 0, 0, TEXT("Name,Char,10;Note,Memo"), &table));
    for (at = 0; at < 2; at++) {
        OK(AdsAppendRecord(table));
        OK(AdsSetString(table, TEXT("Name"), TEXT(at ? "Ben" : "Ada"), 3));
    }
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(connection));
    OK(AdsDDCreate(TEXT(in_folder("archive.add")), 0, NULL, &archive));
    OK(AdsDDAddTable(archive, TEXT("patrons"), TEXT("old.adt"), ADS_ADT, ADS_ANSI, NULL, NULL));
    OK(AdsDDClose(archive));
    OK(AdsDDCreate(TEXT(in_folder("house.add")), 0, NULL, &dictionary));
    OK(AdsCreateSQLStatement(dictionary, &statement));
}

/* The first name that a query finds. */
static const char *first(const char *sql)
{
    static char found[20];
    ADSHANDLE cursor = 0;

    found[0] = 0;
    OK(AdsExecuteSQLDirect(statement, TEXT(sql), &cursor));
    if (!cursor)
        return found;
    OK(AdsGotoTop(cursor));
    strcpy(found, trimmed(cursor, "Name"));
    OK(AdsCloseTable(cursor));
    return found;
}

static UNSIGNED16 links(void)
{
    UNSIGNED16 number = 77;
    OK(AdsGetNumActiveLinks(dictionary, &number));
    return number;
}

static void own(void)
{
    UNSIGNED8 info[500];
    UNSIGNED16 length = sizeof info;
    ADSHANDLE cursor = 0;

    IS(links(), 0);
    IS(AdsGetActiveLinkInfo(dictionary, 1, info, &length), AE_INVALID_LINK_NUMBER);
    OK(AdsDDCreateLink(dictionary, TEXT("LinkA"), TEXT("archive.add"), TEXT("ADSSYS"), NULL, ADS_DEFAULT));
    IS(AdsDDCreateLink(dictionary, TEXT("linka"), TEXT("archive.add"), NULL, NULL, ADS_DEFAULT), AE_INVALID_OBJECT_NAME);
    IS(AdsDDCreateLink(dictionary, TEXT("LinkB"), TEXT("none.add"), NULL, NULL, ADS_DEFAULT), AE_LINK_ACTIVATION_FAILED);
    IS(AdsDDCreateLink(dictionary, TEXT("LinkB"), TEXT("archive.add"), TEXT("ann"), TEXT("x"), ADS_DEFAULT), AE_LINK_ACTIVATION_FAILED);
    IS(AdsDDCreateLink(dictionary, TEXT("LinkB"), TEXT("archive.add"), NULL, NULL, 8), AE_INVALID_OPTION);
    IS(AdsDDCreateLink(dictionary, NULL, TEXT("archive.add"), NULL, NULL, 0), AE_INVALID_POINTER);
    IS(links(), 1);
    length = sizeof info;
    OK(AdsGetActiveLinkInfo(dictionary, 1, info, &length));
    IS(length, strlen((char *) info));
    IS(strncmp((char *) info, "LinkA;ADSSYS;", 13), 0);
    SAME((char *) info + length - 12, "/archive.add");
    length = 5;
    IS(AdsGetActiveLinkInfo(dictionary, 1, info, &length), AE_INSUFFICIENT_BUFFER);
    SAME(first("SELECT * FROM LinkA.patrons WHERE Name > 'B'"), "Ben");
    IS(AdsExecuteSQLDirect(statement, TEXT("UPDATE LinkA.patrons SET Name = 'x'"), &cursor), 7200);
    OK(AdsDDDropLink(dictionary, TEXT("LINKA"), 0));
    IS(AdsDDDropLink(dictionary, TEXT("LinkA"), 0), AE_INVALID_OBJECT_NAME);
    IS(links(), 0);
}

static void kept(void)
{
    UNSIGNED8 text[500];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 options = 77;

    OK(AdsDDCreateLink(dictionary, TEXT("archive"), TEXT("archive.add"), NULL, NULL, ADS_LINK_GLOBAL | ADS_LINK_AUTH_ACTIVE_USER));
    IS(links(), 0);
    SAME(first("SELECT * FROM archive.patrons"), "Ada");
    IS(links(), 1);
    OK(AdsDDGetLinkProperty(dictionary, TEXT("archive"), ADS_DD_LINK_RELATIVE_PATH, text, &length));
    SAME(text, ".\\archive.add");
    length = sizeof text;
    OK(AdsDDGetLinkProperty(dictionary, TEXT("archive"), ADS_DD_LINK_PATH, text, &length));
    SAME((char *) text + length - 13, "/archive.add");
    length = sizeof options;
    OK(AdsDDGetLinkProperty(dictionary, TEXT("archive"), ADS_DD_LINK_OPTIONS, (UNSIGNED8 *) &options, &length));
    IS(options, ADS_LINK_GLOBAL | ADS_LINK_AUTH_ACTIVE_USER);
    length = sizeof text;
    IS(AdsDDGetLinkProperty(dictionary, TEXT("archive"), ADS_DD_LINK_USERNAME, text, &length), AE_PROPERTY_NOT_SET);
    OK(AdsDDModifyLink(dictionary, TEXT("archive"), TEXT("archive.add"), TEXT("ADSSYS"), NULL, ADS_DEFAULT));
    IS(links(), 0);
    length = sizeof text;
    OK(AdsDDGetObjectProperty(dictionary, ADS_DD_LINK_OBJECT, NULL, TEXT("archive"), ADS_DD_LINK_USERNAME, text, &length));
    SAME(text, "ADSSYS");
    SAME(first("SELECT * FROM archive.patrons"), "Ada");
    IS(AdsDDModifyLink(dictionary, TEXT("none"), TEXT("archive.add"), NULL, NULL, ADS_DEFAULT), AE_INVALID_OBJECT_NAME);
    IS(AdsDDGetLinkProperty(dictionary, TEXT("archive"), 999, text, &length), AE_INVALID_PROPERTY_ID);
    IS(AdsDDGetLinkProperty(dictionary, TEXT("none"), ADS_DD_LINK_PATH, text, &length), AE_INVALID_OBJECT_NAME);
    OK(AdsDDDropLink(dictionary, TEXT("archive"), 1));
    IS(AdsDDDropLink(dictionary, TEXT("archive"), 1), AE_INVALID_OBJECT_NAME);
    IS(links(), 0);
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    strcpy(folder, argument[1]);
    make();
    own();
    kept();
    OK(AdsCloseSQLStatement(statement));
    OK(AdsDDClose(dictionary));
    OK(AdsApplicationExit());
    return failures != 0;
}
