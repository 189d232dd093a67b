/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at work on a spool: the lock of its writer, and that of its reader. */
#include "libtrace/record/spool_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int gmt_spool_file_open(int folder, const char *name, int flags)
{
    struct stat info;
    /* O_NONBLOCK: a pipe of that name is not waited for. */
    int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return -EBADMSG;
    }
    return fd;
}

static bool locks_unsupported(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

int gmt_spool_lock(int folder)
{
    struct stat info;
    int fd = gmt_spool_file_open(folder, "lock", O_RDWR | O_CREAT);
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

int gmt_spool_lock_held(int folder)
{
    int fd = gmt_spool_file_open(folder, "lock", O_RDONLY);
    if (fd == -ENOENT) {
        return faccessat(folder, "control", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -ENOENT;
    }
    if (fd < 0) {
        return fd;
    }
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    int held = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return held;
}

bool gmt_spool_is_written(int folder)
{
    int fd = gmt_spool_file_open(folder, "control", O_RDONLY);
    if (fd < 0) {
        return false;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    bool locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return locked;
}
