/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc without stdio. */
#include "libtrace/record/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t gmt_proc_start_time(pid_t pid)
{
    char path[48], text[1024];
    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0) {
        return 0;
    }
    text[got] = '\0';
    /* The second field is the name in parentheses and may hold anything; field 3 follows it. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}
