/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc without stdio. */
#include "libtrace/record/proc.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAT_BYTES 512u /* a name of 64 bytes and 22 numbers */

/* False: nothing could be read. */
static bool read_text(const char *path, char *text, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, bytes - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

void gmt_proc_boot_id(char *text, size_t bytes)
{
    (void)read_text("/proc/sys/kernel/random/boot_id", text, bytes);
    text[strcspn(text, "\n")] = '\0';
}

/* What follows the name in /proc/<pid>/stat; NULL: there is no such process, or no /proc. */
static const char *read_stat(pid_t pid, char text[static STAT_BYTES])
{
    char path[48];
    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    if (!read_text(path, text, STAT_BYTES)) {
        return NULL;
    }
    /* The second field is the name in parentheses and may hold anything; field 3 follows it. */
    return strrchr(text, ')');
}

uint64_t gmt_proc_start_time(pid_t pid)
{
    char text[STAT_BYTES];
    const char *at = read_stat(pid, text);
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

char gmt_proc_state(pid_t pid)
{
    char text[STAT_BYTES];
    const char *at = read_stat(pid, text);
    return at != NULL && at[1] == ' ' ? at[2] : '\0';
}
