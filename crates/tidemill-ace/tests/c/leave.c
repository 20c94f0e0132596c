/*
 * Fills a table that nobody else has open and leaves without closing anything. Argument: an empty folder.
 */

#include <stdlib.h>

#include "ace.h"

#define TEXT(text) ((UNSIGNED8 *) (text))

static void check(UNSIGNED32 code)
{
    if (code != AE_SUCCESS)
        _Exit(3);
}

int main(int count, char **arguments)
{
    ADSHANDLE connection, table;
    int number;

    if (count != 2)
        return 2;
    check(AdsConnect60(TEXT(arguments[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    check(AdsCreateTable(connection, TEXT("left"), NULL, ADS_CDX, ADS_ANSI, 0, ADS_CHECKRIGHTS, 0,
                         TEXT("NUMBER,Numeric,8,0"), &table));
    for (number = 1; number <= 1000; number++) {
        check(AdsAppendRecord(table));
        check(AdsSetDouble(table, TEXT("NUMBER"), number));
    }
    exit(0);
}
