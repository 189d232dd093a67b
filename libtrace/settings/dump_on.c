/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the value of option --dump-on. */
#include "libtrace/settings/dump_on.h"

#include <errno.h>
#include <string.h>

int gmt_dump_on_read(const char *text, char step[static GMT_SETTINGS_STEP_BYTES])
{
    static const char word[] = "slow-step";
    const size_t length = sizeof(word) - 1;
    step[0] = '\0';
    if (strncmp(text, word, length) != 0 || (text[length] != '\0' && text[length] != '=')) {
        return -EINVAL;
    }
    if (text[length] == '\0') {
        return 0;
    }
    const char *name = text + length + 1;
    size_t bytes = strlen(name) + 1;
    if (bytes == 1) {
        return -EINVAL;
    }
    if (bytes > GMT_SETTINGS_STEP_BYTES) {
        return -ENAMETOOLONG;
    }
    memcpy(step, name, bytes);
    return 0;
}
