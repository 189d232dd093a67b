/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a database out of everybody's reach. */
#include "libtrace/store/db/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libtrace/record/spool_lock.h"
#include "libtrace/store/db/journal.h"

#define DATABASE "trace.db"
#define COPY_BYTES ((size_t)1 << 20)

static const char *const files[] = {DATABASE, DATABASE "-journal"};

static void clear(const struct gmt_private_folder *folder)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)unlinkat(folder->folder, files[i], 0);
    }
}

static int split(struct gmt_private_folder *folder, const char *target, char *parent)
{
    char text[PATH_MAX];
    const char *slash = strrchr(target, '/'), *name = slash != NULL ? slash + 1 : target;
    int length = snprintf(text, sizeof(text), "%.*s", slash != NULL ? (int)(name - target) : 1,
                          slash != NULL ? target : ".");
    if (length < 0 || (size_t)length >= sizeof(text) || strlen(name) >= sizeof(folder->name)) {
        return -ENAMETOOLONG;
    }
    (void)strcpy(folder->name, name);
    return realpath(text, parent) != NULL ? 0 : -errno;
}

static int open_folder(struct gmt_private_folder *folder, const char *name)
{
    struct stat info;
    if (mkdirat(folder->parent, name, 0700) != 0 && errno != EEXIST) {
        return -errno;
    }
    folder->folder = openat(folder->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->folder < 0) {
        return errno == ENOTDIR ? -EEXIST : -errno;
    }
    bool is_private = fstat(folder->folder, &info) == 0 && info.st_uid == geteuid() &&
                      (info.st_mode & 077) == 0;
    if (!is_private) {
        return -EEXIST;
    }
    /* Two that make the same file would remove each other's. It goes with the descriptor. */
    return flock(folder->folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK ? 0 : -EBUSY;
}

int gmt_private_folder_open(struct gmt_private_folder *folder, const char *target)
{
    char parent[PATH_MAX], name[NAME_MAX + 16];
    *folder = (struct gmt_private_folder){.parent = -1, .folder = -1};
    int error = split(folder, target, parent);
    if (error != 0) {
        return error;
    }
    (void)snprintf(name, sizeof(name), "%s.recovery", folder->name);
    int length = snprintf(folder->path, sizeof(folder->path), "%s/%s/" DATABASE, parent, name);
    if (length < 0 || (size_t)length >= sizeof(folder->path)) {
        return -ENAMETOOLONG;
    }
    folder->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    error = folder->parent < 0 ? -errno : open_folder(folder, name);
    if (error != 0 && folder->folder >= 0) {
        close(folder->folder);
    }
    if (error != 0 && folder->parent >= 0) {
        close(folder->parent);
    }
    return error;
}

void gmt_private_folder_close(struct gmt_private_folder *folder)
{
    char name[NAME_MAX + 16];
    clear(folder);
    (void)snprintf(name, sizeof(name), "%s.recovery", folder->name);
    (void)unlinkat(folder->parent, name, AT_REMOVEDIR);
    close(folder->folder);
    close(folder->parent);
}

static int create(const struct gmt_private_folder *folder, const char *name)
{
    int fd = openat(folder->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : -errno;
}

int gmt_private_folder_begin(struct gmt_private_folder *folder)
{
    clear(folder);
    int fd = create(folder, DATABASE);
    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? fd : 0;
}

/* With the buffer, whatever file systems the two are on. */
static int copy_bytes(int from, int to)
{
    char *buffer = malloc(COPY_BYTES);
    ssize_t got = 0;
    int error = buffer != NULL ? 0 : -ENOMEM;
    for (off_t at = 0; error == 0 && (got = pread(from, buffer, COPY_BYTES, at)) > 0; at += got) {
        for (ssize_t done = 0, put; error == 0 && done < got; done += put) {
            put = write(to, buffer + done, (size_t)(got - done));
            error = put < 0 ? -errno : put == 0 ? -EIO : 0;
        }
    }
    error = error == 0 && got < 0 ? -errno : error;
    free(buffer);
    return error;
}

static int copy(const struct gmt_private_folder *folder, int from, const char *name)
{
    int to = create(folder, name);
    if (to < 0) {
        return to;
    }
    /* Shares the blocks, where the file system can. */
    int error = ioctl(to, FICLONE, from) == 0 ? 0 : copy_bytes(from, to);
    if (close(to) != 0 && error == 0) {
        error = -errno;
    }
    return error;
}

int gmt_private_folder_copy(struct gmt_private_folder *folder, int source, int journal_folder,
                            const char *journal_name)
{
    clear(folder);
    int journal = gmt_spool_file_open(journal_folder, journal_name, O_RDONLY);
    if (journal < 0 && journal != -ENOENT) {
        return journal == -ELOOP ? -EBADMSG : journal;
    }
    int error = journal >= 0 ? copy(folder, journal, files[1]) : 0;
    if (error == 0) {
        error = copy(folder, source, files[0]);
    }
    if (journal >= 0) {
        close(journal);
    }
    /* Of the copy: nobody changes that after it was looked at. */
    return error == 0 ? gmt_journal_check(folder->path) : error;
}

static int rename_to_no_file(const struct gmt_private_folder *folder)
{
    if (renameat2(folder->folder, DATABASE, folder->parent, folder->name, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -errno;
    }
    /* Not on all file systems; a second name is, on most. */
    if (linkat(folder->folder, DATABASE, folder->parent, folder->name, 0) == 0) {
        (void)unlinkat(folder->folder, DATABASE, 0);
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP) {
        return -errno;
    }
    struct stat info;
    if (fstatat(folder->parent, folder->name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        return -EEXIST;
    }
    return renameat(folder->folder, DATABASE, folder->parent, folder->name) == 0 ? 0 : -errno;
}

int gmt_private_folder_install(struct gmt_private_folder *folder, const struct stat *before)
{
    struct stat info;
    char journal[NAME_MAX + 16];
    (void)snprintf(journal, sizeof(journal), "%s-journal", folder->name);
    if (fstatat(folder->parent, journal, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        if (before == NULL || info.st_uid != geteuid()) {
            return -EEXIST;
        }
        if (unlinkat(folder->parent, journal, 0) != 0) {
            return -errno;
        }
    }
    if (before == NULL) {
        return rename_to_no_file(folder);
    }
    if (fstatat(folder->parent, folder->name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        info.st_ino != before->st_ino || info.st_dev != before->st_dev) {
        return -EEXIST;
    }
    return renameat(folder->folder, DATABASE, folder->parent, folder->name) == 0 ? 0 : -errno;
}
