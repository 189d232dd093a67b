/* SPDX-License-Identifier: Apache-2.0 */
/* Files and removal of a spool, through a descriptor of its folder. */
#include "libtrace/store/spool/spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/record/spool_names.h"
#include "libtrace/store/spool/spool_reader.h"

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

/* Files of a spool that are mapped carry no right to write, so that nobody truncates them (record/chunk.h).
 * Their owner may take it for the moment in which this one is opened. */
static int open_control(int folder)
{
    int fd = gmt_spool_file_open(folder, "control", O_RDWR);
    if (fd != -EACCES) {
        return fd;
    }
    int readable = gmt_spool_file_open(folder, "control", O_RDONLY);
    if (readable >= 0 && fchmod(readable, 0600) == 0) {
        fd = gmt_spool_file_open(folder, "control", O_RDWR);
        (void)fchmod(readable, 0400);
    }
    if (readable >= 0) {
        close(readable);
    }
    return fd;
}

/* Of the file: somebody may write to it, or truncate it, while the copy is used. */
static int copy_control(int fd, struct gmt_control *control)
{
    ssize_t got = pread(fd, control, sizeof(*control), 0);
    control->output[sizeof(control->output) - 1] = '\0';
    control->boot_id[sizeof(control->boot_id) - 1] = '\0';
    control->host[sizeof(control->host) - 1] = '\0';
    control->run[sizeof(control->run) - 1] = '\0';
    return got < 0 ? -errno : got < (ssize_t)sizeof(*control) ? -ENODATA : check_control(control);
}

int gmt_spool_control_map(int folder, bool as_copy, struct gmt_control **control, int *fd)
{
    struct stat info;
    *fd = as_copy ? gmt_spool_file_open(folder, "control", O_RDONLY) : open_control(folder);
    if (*fd < 0) {
        return *fd;
    }
    if (fstat(*fd, &info) != 0) {
        return -errno;
    }
    if (info.st_size < (off_t)sizeof(struct gmt_control)) {
        return -ENODATA;
    }
    void *map = mmap(NULL, sizeof(struct gmt_control), PROT_READ | PROT_WRITE,
                     as_copy ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, as_copy ? -1 : *fd, 0);
    if (map == MAP_FAILED) {
        return -errno;
    }
    *control = map;
    return as_copy ? copy_control(*fd, map) : check_control(map);
}

int gmt_spool_control_read(int folder, struct gmt_control *control)
{
    int fd = gmt_spool_file_open(folder, "control", O_RDONLY);
    if (fd < 0) {
        return fd;
    }
    int error = copy_control(fd, control);
    close(fd);
    return error;
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

uint64_t gmt_spool_chunks_present(int folder, uint64_t made)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    const struct dirent *entry;
    uint64_t present = 0;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        uint32_t index;
        present += gmt_spool_chunk_index(entry->d_name, &index) && index < made;
    }
    if (entries != NULL) {
        (void)closedir(entries);
    } else if (again >= 0) {
        close(again);
    }
    return present < made ? present : made;
}

bool gmt_spool_chunk_give_back(int folder, uint32_t index)
{
    char from[32], to[32];
    (void)snprintf(from, sizeof(from), "chunk-%u", index);
    (void)snprintf(to, sizeof(to), "free-%u", index);
    return renameat(folder, from, folder, to) == 0;
}

int gmt_spool_chunk_unlink(int folder, uint32_t index, uint64_t *bytes)
{
    char name[32];
    struct stat info;
    (void)snprintf(name, sizeof(name), "chunk-%u", index);
    *bytes = fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)info.st_size : 0;
    return unlinkat(folder, name, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

static bool is_free(const char *name)
{
    const char *digits;
    return gmt_spool_name_is_numbered(name, "free", &digits);
}

void gmt_spool_free_remove(int folder, struct gmt_control *control)
{
    uint64_t removed = gmt_spool_folder_unlink(folder, is_free);
    __atomic_fetch_sub(&control->bytes_in_use, removed * GMT_CHUNK_BYTES, __ATOMIC_RELAXED);
}

void gmt_spool_remove(const char *directory)
{
    int folder = gmt_spool_folder_open(directory);
    if (folder >= 0) {
        gmt_spool_folder_remove(folder, directory);
        close(folder);
    }
}
