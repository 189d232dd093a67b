/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a whole file or none. */
#include "libtrace/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/base/memory_short.h"

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

int gmt_file_write(const char *path, int (*write)(void *context, FILE *out), void *context)
{
    size_t length = strlen(path);
    char *temporary = malloc(length + sizeof(".XXXXXX"));
    FILE *out = NULL;
    int rc = 0, fd = -1;

    if (temporary == NULL) {
        return -ENOMEM;
    }
    if (is_database(path)) {
        free(temporary);
        return -EEXIST;
    }
    memcpy(temporary, path, length);
    memcpy(temporary + length, ".XXXXXX", sizeof(".XXXXXX"));
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        rc = -errno;
        free(temporary);
        return rc;
    }
    out = fdopen(fd, "w");
    if (out == NULL) {
        rc = -errno;
        close(fd);
        goto out;
    }
    rc = write(context, out);
    if (rc == 0 && gmt_memory_short()) {
        rc = -ENOMEM;
    }
    if (rc == 0 && (fflush(out) != 0 || ferror(out))) {
        rc = errno != 0 ? -errno : -EIO;
    }
    /* mkostemp makes files private; what is written here is as readable as any other file. */
    mode_t mask = umask(0);
    umask(mask);
    if (rc == 0 && fchmod(fd, 0666 & ~mask) != 0) {
        rc = -errno;
    }
    if (fclose(out) != 0 && rc == 0) {
        rc = -errno;
    }
    if (rc == 0 && rename(temporary, path) != 0) {
        rc = -errno;
    }
out:
    if (rc != 0) {
        unlink(temporary);
    }
    free(temporary);
    return rc;
}
