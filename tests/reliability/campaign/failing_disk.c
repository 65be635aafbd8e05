/* A disk that fails at one call within a folder, and from then on if it stays so: loaded before all other libraries, so
   that whatever code makes the call meets it, in whatever process of a command. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Shared by all processes of a command: how many calls there have been, and how many have failed. */
struct counts { atomic_long calls, failed; };

static char folder[PATH_MAX];
static size_t length;
static long at;
static int stays;
static struct counts *counts;

/* Let the call of a number fail, in a folder; the counts lie in a file, which must have room for them. */
int fail_at(const char *where, long number, int from_then_on, const char *file) {
    int handle = open(file, O_RDWR | O_CLOEXEC);
    if (handle < 0) return -1;
    struct counts *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    close(handle);
    if (found == MAP_FAILED) return -1;
    length = strlen(where);
    memcpy(folder, where, length + 1);
    at = number;
    stays = from_then_on;
    counts = found;
    return 0;
}

/* Programs that a command starts get the same disk. */
__attribute__((constructor)) static void inherit(void) {
    const char *where = getenv("FAILING_DISK"), *file = getenv("FAILING_DISK_COUNTS");
    const char *number = getenv("FAILING_DISK_AT"), *from = getenv("FAILING_DISK_STAYS");
    if (where && file && number && from) fail_at(where, atol(number), atoi(from), file);
}

static int fails(void) {
    long call = atomic_fetch_add(&counts->calls, 1) + 1;
    if (call != at && !(stays && call > at)) return 0;
    atomic_fetch_add(&counts->failed, 1);
    errno = ENOSPC;
    return 1;
}

static int inside(const char *path) {
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int of_handle(int handle) {
    if (!counts || handle < 0) return 0;
    char link[64], path[PATH_MAX];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, path, sizeof path - 1);
    errno = before;
    if (size <= 0) return 0;
    path[size] = 0;
    return inside(path);
}

static int of_path(int directory, const char *path) {
    if (!counts || !path) return 0;
    if (path[0] == '/') return inside(path);
    char link[64], whole[2 * PATH_MAX];
    int before = errno;
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t size = readlink(link, whole, PATH_MAX - 1);
    errno = before;
    if (size <= 0) return 0;
    snprintf(whole + size, sizeof whole - size, "/%s", path);
    return inside(whole);
}

#define MAKES(flags) ((flags) & (O_CREAT | O_TRUNC))
#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        NEXT(name); \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        if (MAKES(flags) && of_path(AT_FDCWD, path) && fails()) return -1; \
        return next(path, flags, mode); \
    }
#define OPENS_AT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        NEXT(name); \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        if (MAKES(flags) && of_path(directory, path) && fails()) return -1; \
        return next(directory, path, flags, mode); \
    }
#define FAILS(type, name, parameters, ours, arguments) \
    type name parameters { NEXT(name); if ((ours) && fails()) return -1; return next arguments; }

OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
FAILS(int, mkdir, (const char *path, mode_t mode), of_path(AT_FDCWD, path), (path, mode))
FAILS(int, mkdirat, (int directory, const char *path, mode_t mode), of_path(directory, path), (directory, path, mode))
FAILS(int, rename, (const char *from, const char *to), of_path(AT_FDCWD, to), (from, to))
FAILS(int, renameat, (int one, const char *from, int other, const char *to), of_path(other, to), (one, from, other, to))
FAILS(int, link, (const char *from, const char *to), of_path(AT_FDCWD, to), (from, to))
FAILS(int, symlink, (const char *from, const char *to), of_path(AT_FDCWD, to), (from, to))
FAILS(int, fsync, (int handle), of_handle(handle), (handle))
FAILS(int, fdatasync, (int handle), of_handle(handle), (handle))
FAILS(int, ftruncate, (int handle, off_t size), of_handle(handle), (handle, size))
FAILS(int, ftruncate64, (int handle, off64_t size), of_handle(handle), (handle, size))
FAILS(ssize_t, write, (int handle, const void *from, size_t size), of_handle(handle), (handle, from, size))
FAILS(ssize_t, pwrite, (int handle, const void *from, size_t size, off_t place), of_handle(handle),
      (handle, from, size, place))
FAILS(ssize_t, pwrite64, (int handle, const void *from, size_t size, off64_t place), of_handle(handle),
      (handle, from, size, place))
FAILS(ssize_t, writev, (int handle, const struct iovec *parts, int number), of_handle(handle), (handle, parts, number))
FAILS(ssize_t, sendfile, (int to, int from, off_t *place, size_t size), of_handle(to), (to, from, place, size))
FAILS(ssize_t, sendfile64, (int to, int from, off64_t *place, size_t size), of_handle(to), (to, from, place, size))
FAILS(ssize_t, copy_file_range, (int from, off64_t *one, int to, off64_t *other, size_t size, unsigned flags),
      of_handle(to), (from, one, to, other, size, flags))

size_t fwrite(const void *from, size_t size, size_t number, FILE *file) {
    NEXT(fwrite);
    if (of_handle(fileno(file)) && fails()) return 0;
    return next(from, size, number, file);
}
