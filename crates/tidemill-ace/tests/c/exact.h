/*
 * Memory that ends where it is said to end: the page behind it cannot be touched. AddressSanitizer sees only what the program
 * itself touches; a library that reads or writes one byte more ends here whatever it is built with.
 */
#ifndef TIDEMILL_EXACT_H
#define TIDEMILL_EXACT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The first byte behind so many bytes that may be touched. */
static unsigned char *edge(size_t room)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE), pages = (room + page - 1) / page;
    unsigned char *begin = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (begin == MAP_FAILED || mprotect(begin + pages * page, page, PROT_NONE) != 0) {
        perror("a page that cannot be touched");
        exit(2);
    }
    return begin + pages * page;
}

/* Memory of so many bytes. The next call takes its place. */
static void *exact(size_t length)
{
    static unsigned char *end;
    enum { ROOM = 1 << 16 };

    if (end == NULL)
        end = edge(ROOM);
    return memset(end - length, 'x', length);
}

#endif
