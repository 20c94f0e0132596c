/*
 * Opens the table that examples/first_table.c makes and prints its first record by name. Argument: the folder.
 */

#include "check.h"

int main(int count, char **arguments)
{
    ADSHANDLE connection, table, order;
    UNSIGNED8 name[21] = "";
    UNSIGNED32 length = sizeof name;

    if (count != 2)
        return 2;
    OK(AdsConnect60(TEXT(arguments[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(AdsOpenTable(connection, TEXT("people"), NULL, ADS_CDX, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &table));
    OK(AdsGetIndexHandle(table, TEXT("NAME"), &order));
    OK(AdsGotoTop(order));
    OK(AdsGetString(table, TEXT("NAME"), name, &length, ADS_RTRIM));
    puts((char *) name);
    return failures != 0;
}
