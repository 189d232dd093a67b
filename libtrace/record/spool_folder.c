/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and removes the folder of a spool without following links. */
#include "libtrace/record/spool_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/checked.h"
#include "libtrace/record/spool_names.h"

enum { TARGET_BYTES = 64 };

/* Where a link leads that gmt_spool_open may have made: false for any other. */
static bool shared_target(const char *path, char target[static TARGET_BYTES])
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode) || info.st_uid != geteuid()) {
        return false;
    }
    ssize_t length = readlink(path, target, TARGET_BYTES - 1);
    const size_t prefix = sizeof(GMT_SPOOL_SHARED_PREFIX) - 1;
    target[length > 0 ? length : 0] = '\0';
    return strncmp(target, GMT_SPOOL_SHARED_PREFIX, prefix) == 0 &&
           strchr(target + prefix, '/') == NULL;
}

int gmt_spool_folder_open(const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    char target[TARGET_BYTES];
    int folder = open(path, flags);
    if (folder >= 0) {
        return folder;
    }
    int error = errno;
    if (error != ELOOP && error != ENOTDIR) {
        return -error;
    }
    if (shared_target(path, target)) {
        folder = open(target, flags);
        return folder >= 0 ? folder : -errno;
    }
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? -ELOOP : -error;
}

bool gmt_spool_folder_is_at(int folder, const char *path)
{
    struct stat open_one, named;
    return fstat(folder, &open_one) == 0 && stat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

bool gmt_spool_folder_is_own(int folder)
{
    struct stat info;
    return fstat(folder, &info) == 0 && info.st_uid == geteuid();
}

static DIR *entries_of(int folder)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    if (entries == NULL && again >= 0) {
        close(again);
    }
    return entries;
}

int64_t gmt_spool_folder_bytes(int folder)
{
    int64_t bytes = 0;
    DIR *entries = entries_of(folder);
    const struct dirent *entry;
    struct stat info;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode)) {
            bytes = gmt_add_clamped(bytes, info.st_size);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return bytes;
}

uint64_t gmt_spool_folder_unlink(int folder, bool (*is_wanted)(const char *name))
{
    uint64_t removed = 0;
    DIR *entries = entries_of(folder);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        removed += is_wanted(entry->d_name) && unlinkat(folder, entry->d_name, 0) == 0;
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return removed;
}

static bool is_ours_but_the_lock(const char *name)
{
    return gmt_spool_name_is_ours(name) && strcmp(name, "lock") != 0;
}

/* The lock goes last: who holds it is at work as long as there is a control file. */
void gmt_spool_folder_remove(int folder, const char *path)
{
    char target[TARGET_BYTES];
    (void)gmt_spool_folder_unlink(folder, is_ours_but_the_lock);
    (void)gmt_spool_folder_unlink(folder, gmt_spool_name_is_ours);
    if (!shared_target(path, target)) {
        (void)rmdir(path);
    } else if (gmt_spool_folder_is_at(folder, target)) { /* not the link of a later spool */
        (void)unlink(path);
        (void)rmdir(target);
    }
}
