/*
 * What programs check answers with. A program ends with `return failures != 0;`.
 */
#ifndef TIDEMILL_CHECK_H
#define TIDEMILL_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ace.h"

#define TEXT(text) ((UNSIGNED8 *) (text))
#define LENGTH(text) ((UNSIGNED32) strlen(text))

static int failures;

static void fail(int line, const char *what, unsigned long got, unsigned long expected)
{
    UNSIGNED8 text[ADS_MAX_ERROR_LEN + 1];
    UNSIGNED16 length = sizeof text;
    UNSIGNED32 code;

    text[0] = 0;
    AdsGetLastError(&code, text, &length);
    fprintf(stderr, "line %d: %s is %lu and not %lu (%s)\n", line, what, got, expected, (char *) text);
    failures++;
}

/* A number is as expected; every call gives one. */
#define IS(what, expected)                                                                                             \
    do {                                                                                                               \
        unsigned long got_ = (unsigned long) (what), expected_ = (unsigned long) (expected);                           \
        if (got_ != expected_)                                                                                         \
            fail(__LINE__, #what, got_, expected_);                                                                    \
    } while (0)

#define OK(call) IS(call, AE_SUCCESS)

static void same(int line, const char *what, const char *got, const char *expected)
{
    if (strcmp(got, expected) != 0) {
        fprintf(stderr, "line %d: %s is \"%s\" and not \"%s\"\n", line, what, got, expected);
        failures++;
    }
}

#define SAME(got, expected) same(__LINE__, #got, (const char *) (got), expected)

/* What a field of the current record has, without the blanks behind it, until the next call. */
static inline const char *trimmed(ADSHANDLE table, const char *field)
{
    static UNSIGNED8 buffer[256];
    UNSIGNED32 length = sizeof buffer;
    buffer[0] = 0;
    OK(AdsGetString(table, TEXT(field), buffer, &length, ADS_TRIM));
    return (const char *) buffer;
}

/* UTF-16 of a text in ASCII, until the fourth call from now. */
static inline WCHAR *utf16(const char *text)
{
    static WCHAR units[4][200];
    static int next;
    int at = 0;

    next = (next + 1) % 4;
    do
        units[next][at] = (WCHAR) text[at];
    while (text[at++]);
    return units[next];
}

#endif
