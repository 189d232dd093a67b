/* SPDX-License-Identifier: Apache-2.0 */
/* A page of the launcher's memory, reached through /proc: descriptors that are handed down can be closed. */
#include "preload/session/run_note.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_NAME "gmtrace-run"

int gmt_run_note_make(const char *run, char *value, size_t bytes)
{
    (void)snprintf(value, bytes, "%s", run);
    int fd = memfd_create(MEMORY_NAME, MFD_CLOEXEC);
    size_t length = strlen(run) + 1;
    if (fd < 0 || ftruncate(fd, sizeof(struct gmt_run_note)) != 0 ||
        pwrite(fd, run, length, 0) != (ssize_t)length) {
        int error = -errno;
        if (fd >= 0) {
            close(fd);
        }
        return error;
    }
    (void)snprintf(value, bytes, "%s:%ld:%d", run, (long)getpid(), fd);
    return fd;
}

void gmt_run_note_read(int fd, struct gmt_run_note *note)
{
    if (fd < 0 || pread(fd, note, sizeof(*note), 0) != (ssize_t)sizeof(*note)) {
        *note = (struct gmt_run_note){0};
    }
    note->path[sizeof(note->path) - 1] = '\0';
}

/* Nothing but the memory of a launcher is opened: to open another's pipe or device could have an effect. */
static int open_note(const char *value, size_t name)
{
    char link[64], target[64];
    char *end = NULL;
    long pid = strtol(value + name + 1, &end, 10);
    long number = end != NULL && *end == ':' ? strtol(end + 1, NULL, 10) : -1;
    if (pid <= 0 || number < 0) {
        return -1;
    }
    (void)snprintf(link, sizeof(link), "/proc/%ld/fd/%ld", pid, number);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    target[length > 0 ? length : 0] = '\0';
    return strcmp(target, "/memfd:" MEMORY_NAME " (deleted)") == 0 ? open(link, O_RDWR | O_CLOEXEC)
                                                                   : -1;
}

/* Written through a mapping, which a limit on the size of files (and its signal) does not concern. */
bool gmt_run_note_write(const char *path, int error)
{
    const char *value = getenv(GMT_RUN_VARIABLE);
    size_t name = value != NULL ? strcspn(value, ":") : 0;
    struct stat info;
    if (value == NULL || value[name] == '\0' || name >= sizeof(((struct gmt_run_note *)0)->run)) {
        return false;
    }
    int fd = open_note(value, name);
    struct gmt_run_note *note = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size == (off_t)sizeof(*note)) {
        note = mmap(NULL, sizeof(*note), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (note == MAP_FAILED) {
        return false;
    }
    bool is_ours = strncmp(note->run, value, name) == 0 && note->run[name] == '\0';
    if (is_ours && error == 0) {
        note->recording = 1;
    } else if (is_ours) {
        (void)snprintf(note->path, sizeof(note->path), "%s", path);
        note->error = error;
    }
    (void)munmap(note, sizeof(*note));
    return is_ours;
}
