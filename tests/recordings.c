/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings of tests/data, which lie there packed. */
#include "tests/recordings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static size_t take(void *buffer, size_t bytes, void *file)
{
    int got = gzread(file, buffer, (unsigned)bytes);

    return got < 0 ? (size_t)-1 : (size_t)got;
}

json_t *gmt_recording_load(const char *path, json_error_t *error)
{
    gzFile file = gzopen(path, "rb");

    if (file == NULL) {
        *error = (json_error_t){.line = -1};
        snprintf(error->text, sizeof(error->text), "%s", strerror(errno));
        return NULL;
    }
    json_t *document = json_load_callback(take, file, JSON_REJECT_DUPLICATES, error);
    gzclose(file);
    return document;
}
