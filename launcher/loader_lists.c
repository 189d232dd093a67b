/* SPDX-License-Identifier: Apache-2.0 */
/* The lists by which the loader finds what is ours: LD_PRELOAD is divided at spaces and colons, LD_LIBRARY_PATH at colons and
 * semicolons. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"

bool gmt_launcher_can_preload(const char *path)
{
    return path[strcspn(path, " :")] == '\0';
}

int gmt_launcher_search_first(const char *folder)
{
    char real[PATH_MAX], *list = NULL;
    const char *before = getenv("LD_LIBRARY_PATH");
    bool is_alone = before == NULL || before[0] == '\0';
    if (realpath(folder, real) == NULL) {
        return -errno;
    }
    if (real[strcspn(real, ":;")] != '\0') {
        gmt_say(stderr,
                "gmtrace: the loader finds nothing in '%s': it divides names at colons and "
                "semicolons; move gmtrace to another folder\n",
                real);
        return -EINVAL;
    }
    if (asprintf(&list, "%s%s%s", real, is_alone ? "" : ":", is_alone ? "" : before) < 0) {
        return -ENOMEM;
    }
    int rc = setenv("LD_LIBRARY_PATH", list, 1) != 0 ? -errno : 0;
    free(list);
    return rc;
}

int gmt_launcher_name_library(char *path)
{
    char *slash = strrchr(path, '/');
    if (gmt_launcher_can_preload(path) || slash == NULL) {
        return 0;
    }
    *slash = '\0';
    int rc = gmt_launcher_search_first(path);
    (void)memmove(path, slash + 1, strlen(slash + 1) + 1);
    return rc;
}
