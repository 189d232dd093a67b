/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into a rollback journal as sqlite.org/fileformat2.html describes it. */
#include "libtrace/store/db/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* At the head of a journal; at its end, too, if the name of a super-journal precedes it. */
static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

int gmt_journal_check_file(int fd)
{
    struct stat info;
    unsigned char last[sizeof(magic)] = {0};
    if (fstat(fd, &info) != 0) {
        return -errno;
    }
    if (!S_ISREG(info.st_mode)) {
        return -EBADMSG;
    }
    if (info.st_size < (off_t)sizeof(last)) {
        return 0;
    }
    ssize_t got = pread(fd, last, sizeof(last), info.st_size - (off_t)sizeof(last));
    if (got < 0) {
        return -errno;
    }
    return memcmp(last, magic, sizeof(magic)) == 0 ? -EBADMSG : 0;
}

int gmt_journal_check(const char *database)
{
    char real[PATH_MAX], path[PATH_MAX + 16];
    /* SQLite, too, looks for it beside the file that a link leads to. */
    if (realpath(database, real) == NULL) {
        return errno == ENOENT ? 0 : -errno;
    }
    (void)snprintf(path, sizeof(path), "%s-journal", real);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? 0 : errno == ELOOP ? -EBADMSG : -errno;
    }
    int error = gmt_journal_check_file(fd);
    close(fd);
    return error;
}
