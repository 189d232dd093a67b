/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUPTI would be used? For programs that only report it. */
#include "libtrace/cupti/base/locate.h"

#include <errno.h>
#include <stdio.h>

#include "libtrace/cupti/base/loader.h"

int gmt_cupti_locate(const char *given, char *path, size_t bytes, uint32_t *version)
{
    static struct gmt_cupti_api api;
    int error = gmt_cupti_load(&api, given);
    if (error == 0 || error == -ENOTSUP) {
        (void)snprintf(path, bytes, "%s", api.path);
        *version = api.version;
    }
    return error;
}
