/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of this process (command_line.h). */
#include "preload/session/command_line.h"

#include <fcntl.h>
#include <unistd.h>

void gmt_command_line_read(char *text, size_t bytes)
{
    size_t used = 0;
    ssize_t got = 1;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used + 1 < bytes && got > 0) {
        got = read(fd, text + used, bytes - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    for (size_t i = 0; i + 1 < used; i++) {
        text[i] = text[i] == '\0' ? '\x1f' : text[i];
    }
    text[used] = '\0';
}
