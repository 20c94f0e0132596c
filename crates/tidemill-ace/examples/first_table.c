/*
 * Makes a table with an index in a folder, fills it, and looks things up by key and by filter.
 *
 *     cc first_table.c $(pkg-config --cflags --libs ace) -o first_table
 *     ./first_table /tmp
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ace.h"

/* ACE takes texts as UNSIGNED8. */
#define TEXT(text) ((UNSIGNED8 *) (text))

/* Ends the program with what libace.so says about the last error. */
static void check(UNSIGNED32 code, const char *what)
{
    UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    UNSIGNED16 length = sizeof text;

    if (code == AE_SUCCESS)
        return;
    text[0] = 0;
    AdsGetLastError(&code, text, &length);
    fprintf(stderr, "%s: %s\n", what, (char *) text);
    exit(1);
}

static void append(ADSHANDLE table, const char *name, const char *town, double paid)
{
    check(AdsAppendRecord(table), "append");
    check(AdsSetString(table, TEXT("NAME"), TEXT(name), (UNSIGNED32) strlen(name)), "name");
    check(AdsSetString(table, TEXT("TOWN"), TEXT(town), (UNSIGNED32) strlen(town)), "town");
    check(AdsSetDouble(table, TEXT("PAID"), paid), "paid");
    check(AdsWriteRecord(table), "write");
}

static void print_rest(ADSHANDLE table, ADSHANDLE order)
{
    UNSIGNED16 at_end = ADS_FALSE;

    for (check(AdsAtEOF(table, &at_end), "end"); !at_end; check(AdsAtEOF(table, &at_end), "end")) {
        UNSIGNED8 name[21], town[21];
        UNSIGNED32 name_length = sizeof name, town_length = sizeof town;
        double paid;

        /* A field is named, or numbered from 1. */
        check(AdsGetString(table, TEXT("NAME"), name, &name_length, ADS_RTRIM), "name");
        check(AdsGetString(table, ADSFIELD(2), town, &town_length, ADS_RTRIM), "town");
        check(AdsGetDouble(table, TEXT("PAID"), &paid), "paid");
        printf("%-10s %-10s %8.2f\n", (char *) name, (char *) town, paid);
        check(AdsSkip(order, 1), "skip");
    }
}

int main(int count, char **arguments)
{
    const char *folder = count > 1 ? arguments[1] : ".";
    ADSHANDLE connection, table, order;
    UNSIGNED16 found;

    check(AdsConnect60(TEXT(folder), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection), "connect");
    check(AdsCreateTable(connection, TEXT("people.dbf"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                         ADS_IGNORERIGHTS, 0, TEXT("NAME,Character,20;TOWN,Character,20;PAID,Numeric,10,2"), &table),
          "create");
    append(table, "Mercer", "Leeds", 120.5);
    append(table, "Adams", "York", 80);
    append(table, "Novak", "Leeds", 310.25);
    check(AdsCreateIndex61(table, TEXT("people.cdx"), TEXT("NAME"), TEXT("UPPER(NAME)"), NULL, NULL, ADS_COMPOUND, 0,
                           &order),
          "index");

    puts("all, by name:");
    check(AdsGotoTop(order), "top");
    print_rest(table, order);

    puts("from M on:");
    check(AdsSeek(order, TEXT("M"), 1, ADS_STRINGKEY, ADS_SOFTSEEK, &found), "seek");
    print_rest(table, order);

    puts("in Leeds:");
    check(AdsSetAOF(table, TEXT("TOWN = 'Leeds'"), ADS_RESOLVE_IMMEDIATE), "filter");
    check(AdsGotoTop(order), "top");
    print_rest(table, order);

    check(AdsCloseTable(table), "close");
    check(AdsDisconnect(connection), "disconnect");
    return 0;
}
