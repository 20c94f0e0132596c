/*
 * What calls are asked for and do, or refuse by the number that ACE has for it: collations, kinds of characters, the blocks of memo
 * files, options of tables and indexes, ways to lock, servers. Argument: an empty folder.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *fields = "NAME,Character,10;NOTE,Memo";
static ADSHANDLE connection;

static UNSIGNED32 created(const char *name, UNSIGNED16 type, UNSIGNED16 characters, UNSIGNED16 block_size, ADSHANDLE *table)
{
    return AdsCreateTable(connection, TEXT(name), NULL, type, characters, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                          block_size, TEXT(fields), table);
}

static UNSIGNED32 created90(const char *collation, UNSIGNED32 options, ADSHANDLE *table)
{
    return AdsCreateTable90(connection, TEXT("collated"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                            0, TEXT(fields), options, TEXT(collation), table);
}

static void collations(void)
{
    static const char *taken[] = {NULL, "", " ", "MACHINE", "machine_vfp_bin_1252"};
    ADSHANDLE table = 0, order = 0;
    UNSIGNED8 name[40];
    UNSIGNED16 length;
    unsigned i;

    IS(created90("GERMAN_VFP_CI_AS_1252", ADS_DEFAULT, &table), AE_UNSUPPORTED_COLLATION);
    for (i = 0; i < sizeof taken / sizeof *taken; i++) {
        OK(created90(taken[i], ADS_DEFAULT, &table));
        IS(AdsCreateIndex90(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0,
                            TEXT("GENERAL_VFP_CI_AS_1252"), &order), AE_UNSUPPORTED_COLLATION);
        OK(AdsCreateIndex90(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND, 0, TEXT(taken[i]), &order));
        OK(AdsCloseTable(table));
        OK(AdsOpenTable90(connection, TEXT("collated"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                          ADS_SHARED, TEXT(taken[i]), &table));
        OK(AdsCloseTable(table));
        OK(AdsRestructureTable90(connection, TEXT("collated"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING,
                                 ADS_IGNORERIGHTS, NULL, NULL, NULL, TEXT(taken[i])));
    }
    IS(AdsOpenTable90(connection, TEXT("collated"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                      ADS_SHARED, TEXT("NORDAN_VFP_CI_AS_1252"), &table), AE_UNSUPPORTED_COLLATION);
    IS(AdsRestructureTable90(connection, TEXT("collated"), NULL, ADS_VFP, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                             NULL, NULL, NULL, TEXT(":de_DE")), AE_UNSUPPORTED_COLLATION);

    /* That of a connection. */
    IS(AdsSetCollation(connection, TEXT("GERMAN_VFP_CI_AS_1252")), AE_UNSUPPORTED_COLLATION);
    OK(AdsSetCollation(connection, TEXT("MACHINE_VFP_BIN_1252")));
    length = sizeof name;
    OK(AdsGetCollation(connection, name, &length));
    SAME(name, "MACHINE_VFP_BIN_1252");
    OK(AdsSetCollation(connection, NULL));
    length = sizeof name;
    OK(AdsGetCollation(connection, name, &length));
    SAME(name, "");

    /* A collation in the place of a kind of characters. */
    IS(created("chars", ADS_VFP, GERMAN_VFP_CI_AS_1252, 0, &table), AE_UNSUPPORTED_COLLATION);
    IS(created("chars", ADS_VFP, ADS_MAX_CHAR_SETS + 1, 0, &table), AE_INVALID_OPTION);
    OK(created("chars", ADS_VFP, MACHINE_VFP_BIN_1252, 0, &table));
    OK(AdsCloseTable(table));
}

static void memo_blocks(void)
{
    static const struct {
        UNSIGNED16 type, asked, expected;
    } known[] = {{ADS_CDX, 0, 64},     {ADS_CDX, 1, 512},     {ADS_CDX, 32, 16384}, {ADS_CDX, 33, 33},
                 {ADS_CDX, 1024, 1024}, {ADS_VFP, 100, 100}, {ADS_NTX, 0, 512},    {ADS_NTX, 5000, 512}};
    char note[3000];
    UNSIGNED8 found[sizeof note + 1];
    ADSHANDLE table = 0;
    UNSIGNED32 length;
    UNSIGNED16 size;
    unsigned i, round;

    memset(note, 'n', sizeof note);
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        OK(created("blocks", known[i].type, ADS_ANSI, known[i].asked, &table));
        size = 77;
        OK(AdsGetTableMemoSize(table, &size));
        IS(size, known[i].expected);
        for (round = 1; round <= 3; round++) {
            OK(AdsAppendRecord(table));
            OK(AdsSetString(table, TEXT("NOTE"), TEXT(note), (UNSIGNED32) sizeof note / round));
            OK(AdsWriteRecord(table));
        }
        OK(AdsCloseTable(table));
        OK(AdsOpenTable(connection, TEXT("blocks"), NULL, known[i].type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                        ADS_EXCLUSIVE, &table));
        OK(AdsGetMemoBlockSize(table, &size));
        IS(size, known[i].expected);
        for (round = 1; round <= 3; round++) {
            OK(AdsGotoRecord(table, round));
            length = sizeof found;
            OK(AdsGetString(table, TEXT("NOTE"), found, &length, ADS_NONE));
            IS(length, sizeof note / round);
            IS(memcmp(found, note, length), 0);
        }
        OK(AdsCopyTableStructure(table, TEXT("copied")));
        OK(AdsCloseTable(table));
        OK(AdsOpenTable(connection, TEXT("copied"), NULL, known[i].type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS,
                        ADS_EXCLUSIVE, &table));
        OK(AdsGetMemoBlockSize(table, &size));
        IS(size, known[i].expected);
        OK(AdsCloseTable(table));
        unlink("copied.dbf");
        unlink("copied.fpt");
        unlink("copied.dbt");
    }
    IS(created("blocks", ADS_CDX, ADS_ANSI, 1025, &table), AE_INVALID_MEMO_BLOCK_SIZE);
}

static void options(void)
{
    static const UNSIGNED32 refused[] = {ADS_BINARY_INDEX, ADS_NOT_AUTO_OPEN};
    ADSHANDLE table = 0, order = 0;
    unsigned i;

    IS(created90(NULL, ADS_TEMP_TABLE, &table), AE_FUNCTION_NOT_AVAILABLE);
    IS(created90(NULL, ADS_DICTIONARY_BOUND_TABLE, &table), AE_FUNCTION_NOT_AVAILABLE);
    IS(created90(NULL, 1, &table), AE_INVALID_OPTION);
    OK(created90(NULL, ADS_FREE_TABLE, &table));
    for (i = 0; i < sizeof refused / sizeof *refused; i++)
        IS(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND | refused[i], 0, &order),
           AE_FUNCTION_NOT_AVAILABLE);
    IS(AdsCreateIndex(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, 0x10000, &order), AE_INVALID_OPTION);
    IS(AdsCreateIndex(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_FTS_CASE_SENSITIVE, &order), AE_INVALID_OPTION);
    IS(AdsCreateIndex(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_FTS_INDEX | ADS_UNIQUE, &order),
       AE_INVALID_OPTION);
    IS(AdsCreateIndex(table, NULL, TEXT("NAME"), TEXT("NAME"), TEXT("NAME = 'x'"), NULL, ADS_FTS_INDEX, &order),
       AE_INVALID_OPTION);
    OK(AdsCreateIndex61(table, NULL, TEXT("NAME"), TEXT("NAME"), NULL, NULL, ADS_COMPOUND | ADS_ONLINE | ADS_UCHAR_KEY_LONG, 0,
                        &order));
    OK(AdsCloseTable(table));
}

static ADSHANDLE shared(ADSHANDLE by, UNSIGNED16 locking)
{
    ADSHANDLE table = 0;
    UNSIGNED16 answer = 77;

    OK(AdsOpenTable(by, TEXT("locked"), NULL, ADS_CDX, ADS_ANSI, locking, ADS_IGNORERIGHTS, ADS_SHARED, &table));
    OK(AdsGetTableLockType(table, &answer));
    IS(answer, locking);
    return table;
}

/* Whether another process finds the byte locked that FoxPro locks for the first record of a table without an index. */
static int is_locked_for_foxpro(long header, long first)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000000 + header + first, .l_len = 1};
        int file = open("locked.dbf", O_RDWR);
        _exit(file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void locking(void)
{
    ADSHANDLE other = 0, table = 0, compatible, proprietary;
    UNSIGNED8 head[12];
    FILE *file;

    IS(AdsOpenTable(connection, TEXT("locked"), NULL, ADS_CDX, ADS_ANSI, 2, ADS_IGNORERIGHTS, ADS_SHARED, &table),
       AE_INVALID_OPTION);
    OK(created("locked", ADS_CDX, ADS_ANSI, 0, &table));
    OK(AdsAppendRecord(table));
    OK(AdsCloseTable(table));
    file = fopen("locked.dbf", "rb");
    IS(file != NULL && fread(head, 1, sizeof head, file) == sizeof head, 1);
    if (file != NULL)
        fclose(file);

    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &other));
    compatible = shared(connection, ADS_COMPATIBLE_LOCKING);
    proprietary = shared(other, ADS_PROPRIETARY_LOCKING);
    IS(is_locked_for_foxpro(head[8] + 256 * head[9], 0), 0);
    OK(AdsLockRecord(proprietary, 1));
    IS(is_locked_for_foxpro(head[8] + 256 * head[9], 0), 1);
    IS(AdsLockRecord(compatible, 1), AE_LOCK_FAILED);
    OK(AdsUnlockRecord(proprietary, 1));
    OK(AdsLockRecord(compatible, 1));
    IS(is_locked_for_foxpro(head[8] + 256 * head[9], 0), 1);
    IS(AdsLockRecord(proprietary, 1), AE_LOCK_FAILED);
    OK(AdsDisconnect(other));
    OK(AdsCloseTable(compatible));
}

static void servers(const char *folder)
{
    static const char *nowhere[] = {"/no/such/folder/x.dbf", "Q:\\data", "\\\\server\\share"};
    UNSIGNED16 type = 77;
    unsigned i;

    OK(AdsIsServerLoaded(TEXT(folder), &type));
    IS(type, ADS_LOCAL_SERVER);
    type = 77;
    OK(AdsIsServerLoaded(TEXT("locked.dbf"), &type));
    IS(type, ADS_LOCAL_SERVER);
    for (i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        type = 77;
        IS(AdsIsServerLoaded(TEXT(nowhere[i]), &type), AE_NO_DRIVE_CONNECTION);
        IS(type, 0);
    }
    IS(AdsIsServerLoaded(NULL, &type), AE_INVALID_POINTER);
}

int main(int arguments, char **argument)
{
    UNSIGNED8 alias[16];
    UNSIGNED16 length = sizeof alias;
    ADSHANDLE table = 0, other = 0;

    if (arguments != 2 || chdir(argument[1]) != 0)
        return 2;
    OK(AdsConnect60(TEXT("."), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    OK(created("first", ADS_CDX, ADS_ANSI, 0, &table));
    OK(AdsGetTableAlias(table, alias, &length));
    SAME(alias, "first");
    IS(created("first", ADS_CDX, ADS_ANSI, 0, &other), 7008);
    OK(AdsAppendRecord(table));
    OK(AdsCloseTable(table));
    collations();
    memo_blocks();
    options();
    locking();
    servers(argument[1]);
    OK(AdsDisconnect(connection));
    printf("%d failures\n", failures);
    return failures != 0;
}
