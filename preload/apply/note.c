/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the launcher and the processes of a run share (note.h). */
#include "preload/apply/note.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_NAME "gmtrace-try"

static struct gmt_try_note *map(int fd)
{
    void *note = mmap(NULL, sizeof(struct gmt_try_note), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return note != MAP_FAILED ? note : NULL;
}

int gmt_try_note_make(char *value, size_t bytes, struct gmt_try_note **note)
{
    int fd = memfd_create(MEMORY_NAME, MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(**note)) != 0 || (*note = map(fd)) == NULL) {
        int error = -errno;
        if (fd >= 0) {
            close(fd);
        }
        return error;
    }
    (*note)->bytes = sizeof(**note);
    (void)snprintf(value, bytes, "%ld:%d", (long)getpid(), fd);
    return fd;
}

struct gmt_try_note *gmt_try_note_open(void)
{
    char link[64], target[64], *end = NULL;
    struct stat info;
    const char *value = getenv(GMT_TRY_VARIABLE);
    long pid = value != NULL ? strtol(value, &end, 10) : 0;
    long number = pid > 0 && *end == ':' ? strtol(end + 1, NULL, 10) : -1;
    if (number < 0) {
        return NULL;
    }
    /* Nothing but such memory is opened: to open another's pipe or device could have an effect. */
    (void)snprintf(link, sizeof(link), "/proc/%ld/fd/%ld", pid, number);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    target[length > 0 ? length : 0] = '\0';
    int fd = strcmp(target, "/memfd:" MEMORY_NAME " (deleted)") == 0
                 ? open(link, O_RDWR | O_CLOEXEC)
                 : -1;
    struct gmt_try_note *note = NULL;
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size == (off_t)sizeof(*note)) {
        note = map(fd);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (note != NULL && note->bytes != sizeof(*note)) {
        (void)munmap(note, sizeof(*note));
        note = NULL;
    }
    return note;
}
