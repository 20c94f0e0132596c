/*
 * What the programs here share: calls and texts that are as expected, or are counted as failures.
 */

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
