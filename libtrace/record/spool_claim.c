/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the folder of a spool beside its place, and moves it there in one step. */
#include "libtrace/record/spool_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool_folder.h"

/* The folder between begin and finish: one thread starts the recording. */
static char beside[PATH_MAX + 64];
static bool is_elsewhere; /* in shared memory */

/* What lies in it is the user's alone, whatever the umask. */
static int make_folder(const char *path)
{
    int error = mkdir(path, 0700) == 0 ? 0 : -errno;
    if (error == 0 && chmod(path, 0700) != 0) {
        error = -errno;
        (void)rmdir(path);
    }
    return error;
}

static int create_control(struct gmt_spool_claim *claim)
{
    void *mapping = NULL;
    int folder = open(beside, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        return -errno;
    }
    int error = gmt_spool_file_create(folder, "control", sizeof(struct gmt_control), &mapping,
                                      &claim->control_fd);
    close(folder);
    claim->control = error == 0 ? mapping : NULL;
    return error;
}

/* Processes of several hosts may share the folder: a name that is taken is no failure. */
static int make_beside(struct gmt_spool_claim *claim, const char *directory)
{
    const char *slash = strrchr(directory, '/');
    int length = slash != NULL ? (int)(slash + 1 - directory) : 0, error = -EEXIST;
    for (int attempt = 0; attempt < 100 && error == -EEXIST; attempt++) {
        (void)snprintf(beside, sizeof(beside), "%.*s%s%ld-%" PRIx64 "%s", is_elsewhere ? 0 : length,
                       directory, is_elsewhere ? GMT_SPOOL_SHARED_PREFIX : GMT_SPOOL_CLAIM_PREFIX,
                       (long)getpid(), gmt_clock_monotonic_ns(), is_elsewhere ? ".spool" : "");
        error = make_folder(beside);
    }
    if (error != 0) {
        return error;
    }
    error = create_control(claim);
    if (error != 0) {
        (void)rmdir(beside);
    }
    return error;
}

/* The recorder sees an exec by the loss of this lock, and other processes that the name is taken: POSIX locks
 * are not inherited by fork and go with the descriptor. */
static void lock_control(struct gmt_spool_claim *claim)
{
    /* Out of the way of 0, 1 and 2, which the program may have closed and mean to use. */
    int high = fcntl(claim->control_fd, F_DUPFD_CLOEXEC, 100);
    if (high >= 0) {
        close(claim->control_fd);
        claim->control_fd = high;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    (void)fcntl(claim->control_fd, F_SETLK, &lock);
}

int gmt_spool_claim_begin(struct gmt_spool_claim *claim, const char *directory)
{
    struct stat info;
    *claim = (struct gmt_spool_claim){.control_fd = -1};
    is_elsewhere = false;
    int error = make_beside(claim, directory);
    if (error == -ENODEV || error == -EINVAL) {
        is_elsewhere = true; /* file systems without shared mappings: `directory` is to be a link */
        error = make_beside(claim, directory);
    }
    if (error != 0) {
        return error;
    }
    lock_control(claim);
    if (fstat(claim->control_fd, &info) == 0) {
        claim->device = info.st_dev;
        claim->inode = info.st_ino;
    }
    return 0;
}

int gmt_spool_claim_finish(struct gmt_spool_claim *claim, const char *directory)
{
    struct stat info;
    /* A folder takes the place of no other but an empty one: what was removed of an earlier spool. */
    int failed = is_elsewhere ? symlink(beside, directory) : rename(beside, directory);
    if (failed == 0) {
        return 0;
    }
    int error = -errno;
    /* What had the name may have gone since. In a folder like /tmp EPERM comes first. */
    if (error == -ENOTEMPTY || error == -ENOTDIR || lstat(directory, &info) == 0) {
        error = -EEXIST;
    }
    int folder = gmt_spool_folder_open(beside);
    if (folder >= 0) {
        gmt_spool_folder_remove(folder, beside);
        close(folder);
    }
    gmt_spool_claim_forget(claim);
    return error;
}

int gmt_spool_claim_enter(const struct gmt_spool_claim *claim, const char *directory)
{
    struct stat info;
    int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return -errno;
    }
    if (fstatat(folder, "control", &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        info.st_dev != claim->device || info.st_ino != claim->inode) {
        close(folder);
        return -ESTALE;
    }
    return folder;
}

bool gmt_spool_claim_is_at(const struct gmt_spool_claim *claim, const char *control_path)
{
    struct stat info;
    return stat(control_path, &info) == 0 && info.st_dev == claim->device &&
           info.st_ino == claim->inode;
}

void gmt_spool_claim_forget(struct gmt_spool_claim *claim)
{
    struct stat info;
    if (claim->control != NULL) {
        (void)munmap(claim->control, sizeof(*claim->control));
    }
    /* The program may have closed it, and use its number for something else. */
    if (claim->control_fd >= 0 && fstat(claim->control_fd, &info) == 0 &&
        info.st_dev == claim->device && info.st_ino == claim->inode) {
        close(claim->control_fd);
    }
    *claim = (struct gmt_spool_claim){.control_fd = -1};
}
