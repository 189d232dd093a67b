/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a whole file or none, and into what is no file. */
#include "libtrace/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/base/memory_short.h"

#define MOST_LINKS 40 /* as many as the kernel follows */

static const char database[] =
    "SQLite format 3"; /* its 0 byte belongs to it (sqlite.org/fileformat.html, 1.3) */

static bool is_database(const char *path)
{
    char begin[sizeof(database)] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return false;
    }
    bool is = read(fd, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
              memcmp(begin, database, sizeof(begin)) == 0;
    close(fd);
    return is;
}

/* What is at the end of a chain of links, the last of which leads to nothing yet. 0 or negative errno. */
static int follow_links(char place[static PATH_MAX])
{
    char target[PATH_MAX], beside[PATH_MAX];
    for (int links = 0; links < MOST_LINKS; links++) {
        ssize_t length = readlink(place, target, sizeof(target) - 1);
        if (length < 0) {
            return 0;
        }
        target[length] = '\0';
        const char *slash = strrchr(place, '/');
        int folder = target[0] != '/' && slash != NULL ? (int)(slash - place) + 1 : 0;
        if (snprintf(beside, sizeof(beside), "%.*s%s", folder, place, target) >=
            (int)sizeof(beside)) {
            return -ENAMETOOLONG;
        }
        memcpy(place, beside, sizeof(beside));
    }
    return -ELOOP;
}

/* False: the name in /proc of an open file leads nowhere by its text. */
static bool leads_to(const char *path, const struct stat *info)
{
    struct stat found;
    return stat(path, &found) == 0 && found.st_dev == info->st_dev && found.st_ino == info->st_ino;
}

int gmt_file_place(const char *path, char place[static PATH_MAX], bool *is_direct)
{
    struct stat info, link;
    char whole[PATH_MAX];
    *is_direct = false;
    if (snprintf(place, PATH_MAX, "%s", path) >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    if (stat(path, &info) != 0) {
        return errno == ENOENT ? follow_links(place) : -errno;
    }
    if (S_ISDIR(info.st_mode)) {
        return -EISDIR;
    }
    if (!S_ISREG(info.st_mode)) {
        *is_direct = true;
    } else if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode)) {
        *is_direct = realpath(path, whole) == NULL || !leads_to(whole, &info);
        if (!*is_direct) {
            memcpy(place, whole, sizeof(whole));
        }
    }
    return 0;
}

static void take_folder(const char *path, char folder[static PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(folder, PATH_MAX, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
                   slash != NULL ? path : ".");
}

int gmt_file_check(const char *path)
{
    char place[PATH_MAX], folder[PATH_MAX];
    bool is_direct;
    int rc = gmt_file_place(path, place, &is_direct);
    if (rc != 0) {
        return rc;
    }
    if (is_direct) {
        return access(place, W_OK) == 0 ? 0 : -errno;
    }
    take_folder(place, folder);
    return is_database(place) ? -EEXIST : access(folder, W_OK | X_OK) != 0 ? -errno : 0;
}

bool gmt_file_is_same(const char *path, const char *other)
{
    char places[2][PATH_MAX], folder[PATH_MAX];
    bool is_direct[2];
    struct stat folders[2];
    if (gmt_file_place(path, places[0], &is_direct[0]) != 0 ||
        gmt_file_place(other, places[1], &is_direct[1]) != 0 || is_direct[0] || is_direct[1]) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        take_folder(places[i], folder);
        if (stat(folder, &folders[i]) != 0) {
            return false;
        }
    }
    const char *slashes[] = {strrchr(places[0], '/'), strrchr(places[1], '/')};
    return folders[0].st_dev == folders[1].st_dev && folders[0].st_ino == folders[1].st_ino &&
           strcmp(slashes[0] != NULL ? slashes[0] + 1 : places[0],
                  slashes[1] != NULL ? slashes[1] + 1 : places[1]) == 0;
}

/* Where standard error is closed, messages would be written into the file that has its number. */
static int above_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return above;
}

/* Lets `write` fill it, and closes it. 0 or negative errno. */
static int fill(int fd, int (*write)(void *context, FILE *out), void *context)
{
    FILE *out = fdopen(fd, "w");
    if (out == NULL) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    int rc = write(context, out);
    if (rc == 0 && gmt_memory_short()) {
        rc = -ENOMEM;
    }
    if (rc == 0 && (fflush(out) != 0 || ferror(out))) {
        rc = errno != 0 ? -errno : -EIO;
    }
    if (fclose(out) != 0 && rc == 0) {
        rc = -errno;
    }
    return rc;
}

/* mkostemp makes files private; what is written here is as readable as any other file. */
static int make_readable(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, 0666 & ~mask) == 0 ? 0 : -errno;
}

static int replace(const char *place, int (*write)(void *context, FILE *out), void *context)
{
    char temporary[PATH_MAX + sizeof(".XXXXXX")];
    (void)snprintf(temporary, sizeof(temporary), "%s.XXXXXX", place);
    int fd = above_streams(mkostemp(temporary, O_CLOEXEC));
    if (fd < 0) {
        return -errno;
    }
    int rc = make_readable(fd);
    if (rc != 0) {
        close(fd);
    } else {
        rc = fill(fd, write, context);
    }
    if (rc == 0 && rename(temporary, place) != 0) {
        rc = -errno;
    }
    if (rc != 0) {
        unlink(temporary);
    }
    return rc;
}

int gmt_file_write(const char *path, int (*write)(void *context, FILE *out), void *context)
{
    char place[PATH_MAX];
    bool is_direct;
    int rc = gmt_file_place(path, place, &is_direct);
    if (rc != 0) {
        return rc;
    }
    if (is_direct) {
        int fd = above_streams(open(place, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
        return fd < 0 ? -errno : fill(fd, write, context);
    }
    return is_database(place) ? -EEXIST : replace(place, write, context);
}
