/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, lock and removal of a spool directory. */
#include "libtrace/store/spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/record/spool_names.h"
#include "libtrace/store/spool_reader.h"

static int join_path(char *path, size_t bytes, const char *directory, const char *name)
{
    int length = snprintf(path, bytes, "%s/%s", directory, name);
    return length > 0 && (size_t)length < bytes ? 0 : -ENAMETOOLONG;
}

int gmt_spool_file_open(const char *directory, const char *name, int flags)
{
    char path[PATH_MAX];
    int error = join_path(path, sizeof(path), directory, name);
    if (error != 0) {
        return error;
    }
    int fd = open(path, flags | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : -errno;
}

static int check_control(const struct gmt_control *control)
{
    uint64_t magic = __atomic_load_n(&control->magic, __ATOMIC_ACQUIRE);
    if (magic == 0) {
        return -ENODATA;
    }
    if (magic == __builtin_bswap64(GMT_SPOOL_MAGIC)) {
        return -EILSEQ;
    }
    if (magic != GMT_SPOOL_MAGIC) {
        return -EBADMSG;
    }
    if (control->byte_order != GMT_SPOOL_BYTE_ORDER) {
        return -EILSEQ;
    }
    return control->version >= GMT_SPOOL_OLDEST_VERSION && control->version <= GMT_SPOOL_VERSION
               ? 0
               : -EPROTONOSUPPORT;
}

int gmt_spool_control_map(const char *directory, struct gmt_control **control, int *fd)
{
    struct stat info;
    *fd = gmt_spool_file_open(directory, "control", O_RDWR);
    if (*fd < 0) {
        return *fd;
    }
    if (fstat(*fd, &info) != 0) {
        return -errno;
    }
    if (info.st_size < (off_t)sizeof(struct gmt_control)) {
        return -ENODATA;
    }
    void *map = mmap(NULL, sizeof(struct gmt_control), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (map == MAP_FAILED) {
        return -errno;
    }
    *control = map;
    return check_control(map);
}

bool gmt_spool_chunk_index(const char *name, uint32_t *index)
{
    const char *digits;
    if (!gmt_spool_name_is_numbered(name, "chunk", &digits)) {
        return false;
    }
    errno = 0;
    unsigned long value = strtoul(digits, NULL, 10);
    *index = (uint32_t)value;
    return errno == 0 && value <= UINT32_MAX;
}

bool gmt_spool_chunk_give_back(const char *directory, uint32_t index)
{
    char name[32], from[PATH_MAX], to[PATH_MAX];
    (void)snprintf(name, sizeof(name), "chunk-%u", index);
    if (join_path(from, sizeof(from), directory, name) != 0) {
        return false;
    }
    (void)snprintf(name, sizeof(name), "free-%u", index);
    return join_path(to, sizeof(to), directory, name) == 0 && rename(from, to) == 0;
}

int gmt_spool_chunk_unlink(const char *directory, uint32_t index, uint64_t *bytes)
{
    char name[32], path[PATH_MAX];
    struct stat info;
    (void)snprintf(name, sizeof(name), "chunk-%u", index);
    int error = join_path(path, sizeof(path), directory, name);
    if (error != 0) {
        return error;
    }
    *bytes = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}

static bool locks_unsupported(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

int gmt_spool_lock(const char *directory)
{
    struct stat info;
    int fd = gmt_spool_file_open(directory, "lock", O_RDWR | O_CREAT);
    if (fd < 0) {
        return fd;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int error = 0;
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0 && !locks_unsupported(errno)) {
        error = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
    } else if (fstat(fd, &info) == 0 && info.st_nlink == 0) {
        error = -ENOENT; /* the last holder has finished and removed the spool */
    }
    if (error != 0) {
        close(fd);
        return error;
    }
    return fd;
}

int gmt_spool_lock_held(const char *directory)
{
    int fd = gmt_spool_file_open(directory, "lock", O_RDWR);
    if (fd == -EACCES || fd == -EROFS) {
        fd = gmt_spool_file_open(directory, "lock", O_RDONLY);
    }
    if (fd == -ENOENT) {
        char path[PATH_MAX];
        int error = join_path(path, sizeof(path), directory, "control");
        return error == 0 && access(path, F_OK) == 0 ? 0 : -ENOENT;
    }
    if (fd < 0) {
        return fd;
    }
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    int held = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return held;
}

static bool is_free(const char *name)
{
    const char *digits;
    return gmt_spool_name_is_numbered(name, "free", &digits);
}

/* How many files of such names were removed. */
static uint64_t unlink_all(const char *directory, bool (*is_wanted)(const char *name))
{
    DIR *entries = opendir(directory);
    const struct dirent *entry;
    char path[PATH_MAX];
    uint64_t removed = 0;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        removed += is_wanted(entry->d_name) &&
                   join_path(path, sizeof(path), directory, entry->d_name) == 0 &&
                   unlink(path) == 0;
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return removed;
}

void gmt_spool_free_remove(const char *directory, struct gmt_control *control)
{
    uint64_t removed = unlink_all(directory, is_free);
    __atomic_fetch_sub(&control->bytes_in_use, removed * GMT_CHUNK_BYTES, __ATOMIC_RELAXED);
}

void gmt_spool_remove(const char *directory)
{
    char target[PATH_MAX];
    bool link = false;
    struct stat info;
    if (lstat(directory, &info) == 0 && S_ISLNK(info.st_mode)) {
        link = realpath(directory, target) != NULL;
    }
    (void)unlink_all(directory, gmt_spool_name_is_ours);
    if (link) {
        (void)rmdir(target);
        (void)unlink(directory);
    } else {
        (void)rmdir(directory);
    }
}
