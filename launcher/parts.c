/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parts of gmtrace that lie beside the launcher. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "launcher/launcher.h"

int gmt_launcher_part(const char *relative, char *path, size_t bytes)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0) {
        return -ENOENT;
    }
    self[length] = '\0';
    int written = snprintf(path, bytes, "%s/%s", dirname(self), relative);
    return written > 0 && (size_t)written < bytes && access(path, F_OK) == 0 ? 0 : -ENOENT;
}
