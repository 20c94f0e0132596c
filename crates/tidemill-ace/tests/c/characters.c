/*
 * Text of tables in the code pages of DOS and of Windows: a program sees that of Windows either way. Argument: an empty folder.
 */

#define _GNU_SOURCE
#include <unistd.h>

#include "check.h"

/* "Müller", "Öl" and "Straße" in cp1252 and in cp850. */
static const char *const ansi[] = {"M\xfcller", "\xd6l", "Stra\xdf" "e"};
static const char *const oem[] = {"M\x81ller", "\x99l", "Stra\xe1" "e"};
static const WCHAR wide[][8] = {{'M', 0xfc, 'l', 'l', 'e', 'r'}, {0xd6, 'l'}, {'S', 't', 'r', 'a', 0xdf, 'e'}};
enum { NAMES = 3, WIDTH = 10 };

static ADSHANDLE connection;

static UNSIGNED32 record(ADSHANDLE table)
{
    UNSIGNED32 number = 77;
    OK(AdsGetRecordNum(table, ADS_IGNOREFILTERS, &number));
    return number;
}

static UNSIGNED32 counted(ADSHANDLE object, UNSIGNED16 option)
{
    UNSIGNED32 number = 77;
    OK(AdsGetRecordCount(object, option, &number));
    return number;
}

static void fields(ADSHANDLE table, const char *const *stored)
{
    UNSIGNED8 text[64];
    WCHAR units[16];
    UNSIGNED32 length;
    unsigned i;

    for (i = 0; i < NAMES; i++) {
        OK(AdsGotoRecord(table, i + 1));
        length = sizeof text;
        OK(AdsGetString(table, TEXT("NAME"), text, &length, ADS_RTRIM));
        SAME(text, ansi[i]);
        length = sizeof text;
        OK(AdsGetString(table, TEXT("NOTE"), text, &length, ADS_NONE));
        SAME(text, ansi[i]);
        length = sizeof text;
        OK(AdsGetFieldRaw(table, TEXT("NAME"), text, &length));
        IS(length, WIDTH);
        IS(memcmp(text, stored[i], strlen(stored[i])), 0);
        length = sizeof units / sizeof *units;
        OK(AdsGetStringW(table, TEXT("NAME"), units, &length, ADS_RTRIM));
        IS(length, strlen(ansi[i]));
        IS(memcmp(units, wide[i], length * sizeof *units), 0);
    }
}

static void orders(ADSHANDLE table, const char *const *stored)
{
    static const UNSIGNED32 sorted[NAMES] = {1, 3, 2};
    ADSHANDLE order = 0;
    UNSIGNED8 key[64];
    UNSIGNED16 found, length, is_eof = 77;
    unsigned i;

    OK(AdsGetIndexHandleByOrder(table, 1, &order));
    OK(AdsGotoTop(order));
    for (i = 0; i < NAMES; i++) {
        IS(record(table), sorted[i]);
        OK(AdsSkip(order, 1));
    }
    for (i = 0; i < NAMES; i++) {
        UNSIGNED16 part = (UNSIGNED16) (strlen(ansi[i]) - 1);

        found = 77;
        OK(AdsSeek(order, TEXT(ansi[i]), (UNSIGNED16) strlen(ansi[i]), ADS_STRINGKEY, ADS_HARDSEEK, &found));
        IS(found, ADS_TRUE);
        IS(record(table), i + 1);
        OK(AdsSeek(order, TEXT(ansi[i]), part, ADS_STRINGKEY, ADS_SOFTSEEK, &found));
        IS(found, ADS_TRUE);
        OK(AdsSeekLast(order, (UNSIGNED8 *) wide[i], (UNSIGNED16) (2 * strlen(ansi[i])), ADS_WSTRINGKEY, &found));
        IS(found, ADS_TRUE);
        IS(record(table), i + 1);
        /* A key is as the order has it. */
        length = sizeof key;
        OK(AdsExtractKey(order, key, &length));
        IS(length, WIDTH);
        IS(memcmp(key, stored[i], strlen(stored[i])), 0);
        OK(AdsSeek(order, key, length, ADS_RAWKEY, ADS_HARDSEEK, &found));
        IS(found, ADS_TRUE);
        IS(record(table), i + 1);

        OK(AdsSetScope(order, ADS_TOP, TEXT(ansi[i]), part, ADS_STRINGKEY));
        OK(AdsSetScope(order, ADS_BOTTOM, TEXT(ansi[i]), part, ADS_STRINGKEY));
        IS(counted(order, ADS_RESPECTSCOPES), 1);
        OK(AdsGotoTop(order));
        IS(record(table), i + 1);
        OK(AdsSkip(order, 1));
        OK(AdsAtEOF(table, &is_eof));
        IS(is_eof, ADS_TRUE);
        length = sizeof key;
        OK(AdsGetScope(order, ADS_TOP, key, &length));
        IS(length, part);
        OK(AdsClearScope(order, ADS_TOP));
        OK(AdsClearScope(order, ADS_BOTTOM));
    }
}

static void conditions(ADSHANDLE table)
{
    char condition[64];
    unsigned i;

    for (i = 0; i < NAMES; i++) {
        sprintf(condition, "NAME = '%s'", ansi[i]);
        OK(AdsSetFilter(table, TEXT(condition)));
        OK(AdsGotoTop(table));
        IS(record(table), i + 1);
        OK(AdsClearFilter(table));
        OK(AdsSetAOF(table, TEXT(condition), ADS_RESOLVE_IMMEDIATE));
        IS(counted(table, ADS_RESPECTFILTERS), 1);
        OK(AdsGotoTop(table));
        IS(record(table), i + 1);
        OK(AdsClearAOF(table));
    }
}

static void check(UNSIGNED16 table_type, UNSIGNED16 characters, const char *const *stored)
{
    ADSHANDLE table = 0, order = 0;
    UNSIGNED16 type = 77;
    unsigned i, is_wide;

    for (is_wide = 0; is_wide < 2; is_wide++) {
        OK(AdsCreateTable(connection, TEXT("letters"), NULL, table_type, characters, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                          TEXT("NAME,Character,10;NOTE,Memo"), &table));
        OK(AdsGetTableCharType(table, &type));
        IS(type, characters);
        OK(AdsCreateIndex61(table, TEXT("letters"), TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0, &order));
        for (i = 0; i < NAMES; i++) {
            UNSIGNED32 length = (UNSIGNED32) strlen(ansi[i]);

            OK(AdsAppendRecord(table));
            OK(AdsSetString(table, TEXT("NOTE"), TEXT(ansi[i]), length));
            if (is_wide)
                OK(AdsSetStringW(table, TEXT("NAME"), (WCHAR *) wide[i], length));
            else
                OK(AdsSetString(table, TEXT("NAME"), TEXT(ansi[i]), length));
            OK(AdsWriteRecord(table));
        }
        OK(AdsCloseTable(table));
        OK(AdsOpenTable(connection, TEXT("letters"), NULL, table_type, characters, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                        ADS_SHARED, &table));
        if (table_type == ADS_NTX)
            OK(AdsOpenIndex(table, TEXT("letters"), NULL, NULL));
        fields(table, stored);
        orders(table, stored);
        conditions(table);
        OK(AdsCloseTable(table));
        unlink("letters.dbf");
        unlink("letters.fpt");
        unlink("letters.dbt");
        unlink("letters.ntx");
        unlink("letters.cdx");
    }
}

int main(int arguments, char **argument)
{
    if (arguments != 2 || chdir(argument[1]) != 0)
        return 2;
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    check(ADS_CDX, ADS_ANSI, ansi);
    check(ADS_CDX, ADS_OEM, oem);
    check(ADS_VFP, ADS_OEM, oem);
    check(ADS_NTX, ADS_ANSI, ansi);
    check(ADS_NTX, ADS_OEM, oem);
    OK(AdsDisconnect(connection));
    printf("%d failures\n", failures);
    return failures != 0;
}
