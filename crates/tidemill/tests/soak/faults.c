/*
 * Lets the nth system call fail that changes a file below a folder, or ends the process there.
 *
 * Preloaded into the program (ld.so(8), LD_PRELOAD). FAULT_FOLDER says below which folder calls count, FAULT_AT which of them fails,
 * counted from 1, and FAULT_HOW by what: an errno, or 0 for SIGKILL before the call. FAULT_COUNT names a file into which the number
 * of calls goes when the process ends by itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static int counts_path(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    char whole[PATH_MAX];
    if (!folder || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole)) return 0;
        return strncmp(whole, folder, strlen(folder)) == 0;
    }
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int counts_fd(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return path[0] == '/' && counts_path(path);
}

/* Whether this call fails; errno is set then. */
static int fails(int counts) {
    if (!counts) return 0;
    const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW");
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (!at || number != atol(at)) return 0;
    int error = how ? atoi(how) : 0;
    if (error == 0) kill(getpid(), SIGKILL);
    errno = error;
    return 1;
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t length) {
    return fails(counts_fd(fd)) ? -1 : NEXT(write)(fd, bytes, length);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    return fails(counts_fd(fd)) ? -1 : NEXT(pwrite64)(fd, bytes, length, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    return fails(counts_fd(fd)) ? -1 : NEXT(writev)(fd, parts, count);
}
int ftruncate64(int fd, off64_t length) { return fails(counts_fd(fd)) ? -1 : NEXT(ftruncate64)(fd, length); }
int fsync(int fd) { return fails(counts_fd(fd)) ? -1 : NEXT(fsync)(fd); }
int fdatasync(int fd) { return fails(counts_fd(fd)) ? -1 : NEXT(fdatasync)(fd); }
int rename(const char *from, const char *to) {
    return fails(counts_path(from)) ? -1 : NEXT(rename)(from, to);
}
int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    return fails(counts_path(from)) ? -1 : NEXT(renameat2)(from_fd, from, to_fd, to, flags);
}
int unlink(const char *path) { return fails(counts_path(path)) ? -1 : NEXT(unlink)(path); }
int unlinkat(int fd, const char *path, int flags) {
    return fails(path[0] == '/' ? counts_path(path) : counts_fd(fd)) ? -1 : NEXT(unlinkat)(fd, path, flags);
}
int mkdir(const char *path, mode_t mode) { return fails(counts_path(path)) ? -1 : NEXT(mkdir)(path, mode); }
int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if ((flags & O_ACCMODE) != O_RDONLY && fails(counts_path(path))) return -1;
    return NEXT(open64)(path, flags, mode);
}
