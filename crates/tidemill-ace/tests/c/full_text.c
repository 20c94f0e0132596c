/*
 * Full-text indexes: made with options, told, answering filters and statements, kept through changes and transactions, made anew and
 * dropped; with tables of FoxPro and of Advantage. Argument: an empty folder.
 */

#include "check.h"

static ADSHANDLE connection;

static ADSHANDLE create(const char *name, UNSIGNED16 type)
{
    ADSHANDLE made = 0;
    OK(AdsCreateTable90(connection, TEXT(name), NULL, type, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                        TEXT("Id,Integer;Title,Character,40;Note,Memo"), ADS_FREE_TABLE, NULL, &made));
    return made;
}

static void append(ADSHANDLE table, SIGNED32 id, const char *title, const char *note)
{
    OK(AdsAppendRecord(table));
    OK(AdsSetLong(table, TEXT("Id"), id));
    OK(AdsSetString(table, TEXT("Title"), TEXT(title), LENGTH(title)));
    OK(AdsSetString(table, TEXT("Note"), TEXT(note), LENGTH(note)));
    OK(AdsWriteRecord(table));
}

static UNSIGNED32 found(ADSHANDLE table, const char *condition)
{
    UNSIGNED32 count = 77;
    OK(AdsSetAOF(table, TEXT(condition), ADS_RESOLVE_IMMEDIATE));
    OK(AdsGetRecordCount(table, ADS_RESPECTFILTERS, &count));
    return count;
}

static UNSIGNED16 level(ADSHANDLE table)
{
    UNSIGNED16 answer = 77, length = 0;
    OK(AdsGetAOFOptLevel(table, &answer, NULL, &length));
    return answer;
}

static UNSIGNED16 words(ADSHANDLE table)
{
    UNSIGNED16 count = 77;
    OK(AdsGetNumFTSIndexes(table, &count));
    return count;
}

static UNSIGNED32 made(ADSHANDLE table, const char *file, const char *tag, const char *field, const char *noise, UNSIGNED32 options)
{
    return AdsCreateFTSIndex(table, TEXT(file), TEXT(tag), TEXT(field), ADS_DEFAULT, 3, 30, 1, NULL, 1, (VOID *) noise, 1, NULL, 1,
                             TEXT("[]"), NULL, NULL, options);
}

static void information(ADSHANDLE index)
{
    UNSIGNED8 buffer[1200], *field, *delimiters, *noise, *dropped, *conditionals;
    WCHAR wide[1200], *wide_field, *wide_noise;
    UNSIGNED32 length = 0, needed, least = 0, most = 0, options = 0;

    IS(AdsGetFTSIndexInfo(index, NULL, &length, &field, &least, &most, &delimiters, &noise, &dropped, &conditionals, NULL, NULL,
                          &options),
       AE_INSUFFICIENT_BUFFER);
    needed = length;
    OK(AdsGetFTSIndexInfo(index, buffer, &length, &field, &least, &most, &delimiters, &noise, &dropped, &conditionals, NULL, NULL,
                          &options));
    IS(length, needed);
    IS(field == buffer, 1);
    IS(strcmp((char *) field, "Note") == 0 || strcmp((char *) field, "NOTE") == 0, 1);
    SAME(delimiters, " \b\t\n\v\f\r");
    IS(strncmp((char *) noise, "about after all ", 16), 0);
    SAME(noise + strlen((char *) noise) - 13, "your document");
    SAME(dropped, "\"'`");
    SAME(conditionals, ",.?!;:@#$%^&()-_[]");
    IS(conditionals + strlen((char *) conditionals) + 1 == buffer + length, 1);
    IS(least, 3);
    IS(most, 30);
    IS(options, ADS_FTS_INDEX | ADS_FTS_KEEP_SCORE);
    length = sizeof wide / sizeof *wide;
    OK(AdsGetFTSIndexInfoW(index, wide, &length, &wide_field, NULL, NULL, NULL, &wide_noise, NULL, NULL, NULL, NULL, NULL));
    IS(length, needed);
    IS(wide_field == wide, 1);
    IS(wide_noise[0], 'a');
    length = needed - 1;
    IS(AdsGetFTSIndexInfo(index, buffer, &length, &field, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), AE_INSUFFICIENT_BUFFER);
    IS(length, needed);
}

static void handles(ADSHANDLE table, ADSHANDLE by_id)
{
    ADSHANDLE index = 0, all[4] = {0, 0, 0, 0};
    UNSIGNED16 length = 4, number = 77;
    UNSIGNED32 flags = 0, count;
    UNSIGNED8 text[100];

    OK(AdsGetIndexHandle(table, TEXT("notes"), &index));
    OK(AdsGetFTSIndexes(table, all, &length));
    IS(length, 1);
    IS(all[0] == index, 1);
    length = 0;
    IS(AdsGetFTSIndexes(table, all, &length), AE_INSUFFICIENT_BUFFER);
    IS(length, 1);
    OK(AdsGetNumIndexes(table, &number));
    IS(number, 1);
    OK(AdsIsIndexFTS(index, &number));
    IS(number, 1);
    OK(AdsIsIndexFTS(by_id, &number));
    IS(number, 0);
    OK(AdsGetIndexOrderByHandle(index, &number));
    IS(number, 0);
    OK(AdsGetIndexFlags(index, &flags));
    IS(flags, ADS_COMPOUND | ADS_FTS_INDEX | ADS_FTS_KEEP_SCORE);
    length = sizeof text;
    OK(AdsGetIndexName(index, text, &length));
    SAME(text, "NOTES");
    information(index);
    IS(AdsGotoTop(index), AE_INVALID_INDEX_HANDLE);
    IS(AdsGetKeyCount(index, ADS_IGNOREFILTERS, &count), AE_INVALID_INDEX_HANDLE);
    IS(AdsGetFTSIndexInfo(by_id, text, &count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), AE_INVALID_INDEX_HANDLE);
}

static void scores(ADSHANDLE table)
{
    ADSHANDLE index = 0;
    UNSIGNED32 score = 77;

    OK(AdsGetIndexHandle(table, TEXT("notes"), &index));
    OK(AdsGetFTSScore(index, 3, TEXT("SKIING"), 6, ADS_STRINGKEY, ADS_HARDSEEK, &score));
    IS(score, 2);
    OK(AdsGetFTSScore(index, 3, TEXT("doc"), 3, ADS_STRINGKEY, ADS_SOFTSEEK, &score));
    IS(score, 1);
    OK(AdsGetFTSScore(index, 3, TEXT("doc"), 3, ADS_STRINGKEY, ADS_HARDSEEK, &score));
    IS(score, 0);
    IS(AdsGetFTSScore(index, 99, TEXT("doc"), 3, ADS_STRINGKEY, ADS_HARDSEEK, &score), AE_INVALID_RECORD_NUMBER);
    IS(AdsGetFTSScore(index, 1, TEXT("doc"), 3, ADS_DOUBLEKEY, ADS_HARDSEEK, &score), AE_INVALID_OPTION);
}

static void statements(const char *name)
{
    ADSHANDLE statement = 0, cursor = 0;
    UNSIGNED32 count = 77;
    char text[300];

    OK(AdsCreateSQLStatement(connection, &statement));
    snprintf(text, sizeof text, "SELECT Id FROM %s WHERE CONTAINS( Note, 'skiing' ) ORDER BY SCORE( Note, 'skiing' ) DESC", name);
    OK(AdsExecuteSQLDirect(statement, TEXT(text), &cursor));
    OK(AdsGetRecordCount(cursor, ADS_IGNOREFILTERS, &count));
    IS(count, 2);
    SAME(trimmed(cursor, "Id"), "3");
    OK(AdsCloseTable(cursor));
    snprintf(text, sizeof text, "SELECT Name FROM system.indexes WHERE Parent = '%s' AND Index_FTS_Min_Length = 3", name);
    OK(AdsExecuteSQLDirect(statement, TEXT(text), &cursor));
    SAME(trimmed(cursor, "Name"), "NOTES");
    OK(AdsCloseTable(cursor));
    OK(AdsCloseSQLStatement(statement));
}

static void with(const char *name, UNSIGNED16 type)
{
    ADSHANDLE table = create(name, type), by_id = 0, index = 0;
    UNSIGNED32 count = 77;

    append(table, 1, "First", "Skiing in Oslo");
    append(table, 2, "Second", "The doctor's medicine");
    append(table, 3, "Third", "Skiing, skiing (doctors)");
    OK(AdsCreateIndex61(table, NULL, TEXT("byid"), TEXT("Id"), NULL, NULL, ADS_COMPOUND, 512, &by_id));
    IS(words(table), 0);
    IS(found(table, "CONTAINS(Note, 'skiing')"), 2);
    IS(level(table), ADS_OPTIMIZED_NONE);
    OK(AdsClearAOF(table));

    OK(made(table, NULL, "notes", "Note", "document", ADS_COMPOUND | ADS_FTS_KEEP_SCORE));
    IS(words(table), 1);
    handles(table, by_id);
    scores(table);
    IS(made(table, NULL, "wrong", "None", NULL, 0) != AE_SUCCESS, 1);
    IS(made(table, NULL, "wrong", "Id", NULL, 0) != AE_SUCCESS, 1);
    IS(made(table, NULL, "wrong", "Note", NULL, ADS_UNIQUE), AE_INVALID_OPTION);
    IS(made(table, NULL, "wrong", "Note", "x", ADS_FTS_ENCODE_UTF8 | ADS_FTS_ENCODE_UTF16), AE_INVALID_OPTION);
    IS(AdsCreateFTSIndex(table, NULL, TEXT("wrong"), TEXT("Note"), 0, 9, 3, 1, NULL, 1, NULL, 1, NULL, 1, NULL, NULL, NULL, 0),
       AE_INVALID_OPTION);
    IS(AdsCreateFTSIndex(table, NULL, TEXT("wrong"), TEXT("Note"), 0, 3, 70000, 1, NULL, 1, NULL, 1, NULL, 1, NULL, NULL, NULL, 0),
       AE_INVALID_OPTION);
    statements(name);
    IS(words(table), 1);

    /* Of the words that are noise to it filters cannot be answered; with the default options they are. */
    IS(found(table, "CONTAINS(Note, 'skiing')"), 2);
    IS(level(table), ADS_OPTIMIZED_NONE);
    OK(AdsClearAOF(table));
    OK(AdsCreateIndex61(table, NULL, TEXT("notes"), TEXT("Note"), NULL, NULL, ADS_COMPOUND | ADS_FTS_INDEX, 512, &index));
    IS(words(table), 1);
    IS(found(table, "CONTAINS(Note, 'skiing')"), 2);
    IS(level(table), ADS_OPTIMIZED_FULL);
    IS(found(table, "CONTAINS(Note, 'skiing near doctors') .AND. Id > 1"), 1);
    IS(level(table), ADS_OPTIMIZED_PART);
    OK(AdsClearAOF(table));

    /* Changes follow at once, and what is rolled back has not been. */
    OK(AdsGotoRecord(table, 1));
    OK(AdsSetString(table, TEXT("Note"), TEXT("Rowing in Oslo"), 14));
    OK(AdsWriteRecord(table));
    IS(found(table, "CONTAINS(Note, 'skiing')"), 1);
    OK(AdsClearAOF(table));
    OK(AdsBeginTransaction(connection));
    append(table, 4, "Fourth", "Skiing once more");
    IS(found(table, "CONTAINS(Note, 'skiing')"), 2);
    OK(AdsClearAOF(table));
    OK(AdsRollbackTransaction(connection));
    IS(found(table, "CONTAINS(Note, 'skiing')"), 1);
    OK(AdsClearAOF(table));

    /* A file of words alone is made anew by itself. */
    OK(made(table, "apart", "apart", "Title", NULL, ADS_FTS_FIXED));
    IS(words(table), 2);
    OK(AdsReindexFTS(table, ADS_DEFAULT));
    OK(AdsReindex(table));
    IS(words(table), 2);
    OK(AdsPackTable(table));
    IS(found(table, "CONTAINS(Note, 'oslo')"), 1);
    IS(level(table), ADS_OPTIMIZED_FULL);
    OK(AdsClearAOF(table));
    OK(AdsDeleteIndex(index));
    IS(words(table), 1);
    OK(AdsGetIndexHandle(table, TEXT("apart"), &index));
    OK(AdsCloseIndex(index));
    IS(words(table), 0);
    IS(AdsIsIndexFTS(index, (UNSIGNED16 *) &count), AE_INVALID_INDEX_HANDLE);
    OK(AdsCloseTable(table));
}

int main(int arguments, char **argument)
{
    if (arguments != 2)
        return 2;
    OK(AdsConnect60(TEXT(argument[1]), ADS_LOCAL_SERVER, NULL, NULL, ADS_DEFAULT, &connection));
    with("fox", ADS_CDX);
    with("visual", ADS_VFP);
    with("own", ADS_ADT);
    OK(AdsDisconnect(connection));
    OK(AdsApplicationExit());
    return failures != 0;
}
