/*
 * A program that knows nothing of libace.so and shares a table with those that use it: it takes the byte ranges that Harbour
 * takes, and reads and writes the file by itself. Arguments: the table, "ntx" or "cdx", its number, how many rounds.
 *
 * A record is a deletion flag, a name of 12 letters and a number of 8 digits. Clipper's scheme locks the byte 1000000000 while
 * records are appended, and that of its number behind it for a record; FoxPro's, for a table without an index, 0x40000000 and
 * the record's own place behind it. Whoever has the file open holds a shared lock of the whole of it.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 12, COUNT = 8, RECORD = 1 + NAME + COUNT, HEADER = 32 + 2 * 32 + 1 };

static int file, is_clipper;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void range(off_t start, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = start, .l_len = 1};
    if (fcntl(file, F_SETLKW, &lock) != 0)
        fail("fcntl");
}

static off_t header_byte(void)
{
    return is_clipper ? 1000000000 : 0x40000000;
}

static off_t record_byte(long record)
{
    return is_clipper ? 1000000000 + record : 0x40000000 + HEADER + (record - 1) * RECORD;
}

static off_t place(long record)
{
    return HEADER + (record - 1) * (off_t) RECORD;
}

static void append(int process, int round)
{
    char record[64];
    unsigned char count[4];
    struct stat about;
    long number;
    int at;

    range(header_byte(), F_WRLCK);
    if (fstat(file, &about) != 0)
        fail("fstat");
    number = (about.st_size - HEADER) / RECORD + 1;
    snprintf(record, sizeof record, " F%02d-T00-%04d%*d", process, round, COUNT, round);
    if (pwrite(file, record, RECORD, place(number)) != RECORD)
        fail("pwrite");
    for (at = 0; at < 4; at++)
        count[at] = (unsigned char) (number >> 8 * at);
    if (pwrite(file, count, 4, 4) != 4)
        fail("pwrite");
    range(header_byte(), F_UNLCK);
}

static void count_up(void)
{
    char digits[COUNT + 1] = {0}, now[32];

    range(record_byte(1), F_WRLCK);
    if (pread(file, digits, COUNT, place(1) + 1 + NAME) != COUNT)
        fail("pread");
    snprintf(now, sizeof now, "%*ld", COUNT, atol(digits) + 1);
    if (pwrite(file, now, COUNT, place(1) + 1 + NAME) != COUNT)
        fail("pwrite");
    range(record_byte(1), F_UNLCK);
}

int main(int count, char **arguments)
{
    int round;

    if (count != 5)
        return 2;
    file = open(arguments[1], O_RDWR);
    if (file < 0 || flock(file, LOCK_SH) != 0)
        fail(arguments[1]);
    is_clipper = strcmp(arguments[2], "ntx") == 0;
    for (round = 0; round < atoi(arguments[4]); round++) {
        append(atoi(arguments[3]), round);
        count_up();
    }
    return 0;
}
