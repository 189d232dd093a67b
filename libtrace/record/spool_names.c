/* SPDX-License-Identifier: Apache-2.0 */
/* Which files in a spool's folder are the spool's. */
#include "libtrace/record/spool_names.h"

#include <stddef.h>
#include <string.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/layout_coverage.h"

bool gmt_spool_name_is_numbered(const char *name, const char *kind, const char **digits)
{
    size_t length = strlen(kind);
    if (strncmp(name, kind, length) != 0 || name[length] != '-' || name[length + 1] == '\0') {
        return false;
    }
    *digits = name + length + 1;
    return (*digits)[strspn(*digits, "0123456789")] == '\0';
}

bool gmt_spool_name_is_ours(const char *name)
{
    static const char *const names[] = {
        "control", "lock", GMT_COVERAGE_FILE, GMT_CUBIN_FILE, "base", "clock", "live", "settings"};
    const char *digits;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return gmt_spool_name_is_numbered(name, "chunk", &digits) ||
           gmt_spool_name_is_numbered(name, "free", &digits);
}
