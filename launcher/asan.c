/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets programs of AddressSanitizer start: its runtime ends a process in which it is not the first library.
 * Since libgmtrace.so takes the place of no function of malloc's kind, ASan works behind it as well.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

#define SEPARATORS ": " /* of LD_PRELOAD */

static bool is_asan(const char *library, size_t length)
{
    static const char *const prefixes[] = {"libasan.so", "libclang_rt.asan"};
    const char *name = library + length;
    while (name > library && name[-1] != '/') {
        name--;
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t bytes = strlen(prefixes[i]);
        if ((size_t)(library + length - name) >= bytes && strncmp(name, prefixes[i], bytes) == 0) {
            return true;
        }
    }
    return false;
}

void gmt_launcher_preload_of_user(const char *list, bool asan, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, SEPARATORS);
        if (length != 0 && is_asan(at, length) == asan && used + length + (used != 0) < bytes) {
            used += (size_t)snprintf(out + used, bytes - used, "%s%.*s", used != 0 ? ":" : "",
                                     (int)length, at);
        }
        at += length + (at[length] != '\0');
    }
}

/* Programs that the program starts may be of ASan, too, and the list of them begins with ours. */
int gmt_launcher_let_asan_start(void)
{
    static const char option[] = "verify_asan_link_order";
    char options[4096];
    const char *before = getenv("ASAN_OPTIONS");
    if (before != NULL && strstr(before, option) != NULL) {
        return 0;
    }
    int length = snprintf(options, sizeof(options), "%s%s%s=0", before != NULL ? before : "",
                          before != NULL && before[0] != '\0' ? ":" : "", option);
    if (length < 0 || (size_t)length >= sizeof(options)) {
        return 0; /* what the user has set stays whole */
    }
    return setenv("ASAN_OPTIONS", options, 1) != 0 ? -errno : 0;
}
