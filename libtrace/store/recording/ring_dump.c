/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a new trace of the last seconds of a spool. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/store/db/private_folder.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/recording/ring_internal.h"

#define MOST_DUMPS 10000u

static int build(struct gmt_recording *recording, const char *cause)
{
    int error = gmt_recording_open_database(recording);
    if (error == 0) {
        error = gmt_ring_fill(recording, cause);
    }
    if (error == 0) {
        error = gmt_recording_finish(recording, gmt_process_watch_learn(&recording->watch));
    }
    gmt_recording_close_database(recording);
    return error;
}

static int make(struct gmt_recording *recording, const char *new_file, const char *cause)
{
    struct gmt_private_folder private;
    int error = gmt_private_folder_open(&private, new_file);
    if (error != 0) {
        return error;
    }
    (void)snprintf(recording->output, sizeof(recording->output), "%s", private.path);
    error = gmt_private_folder_begin(&private);
    if (error == 0) {
        error = build(recording, cause);
    }
    if (error == 0) {
        error = gmt_private_folder_install(&private, NULL);
    }
    gmt_private_folder_close(&private);
    return error;
}

int gmt_ring_dump(const char *spool_directory, const char *new_file, const char *cause)
{
    struct gmt_recording recording;
    struct stat info;
    if (lstat(new_file, &info) == 0) {
        return -EEXIST;
    }
    int error = gmt_recording_begin(&recording, spool_directory, GMT_RECORDING_SOURCE_DUMP);
    if (error == 0) {
        error = gmt_ring_is_on(recording.control) ? make(&recording, new_file, cause) : -ENODATA;
    }
    gmt_recording_close(&recording);
    return error;
}

int gmt_ring_dump_beside(const char *spool_directory, const char *output, const char *cause,
                         char file[static PATH_MAX])
{
    size_t length = strlen(output);
    bool has_ending = length > 3 && strcmp(output + length - 3, ".db") == 0;
    int error = -EEXIST;
    for (unsigned i = 1; i < MOST_DUMPS && (error == -EEXIST || error == -EBUSY); i++) {
        int used = snprintf(file, PATH_MAX, "%.*s-%u%s", (int)(has_ending ? length - 3 : length),
                            output, i, has_ending ? ".db" : "");
        if (used < 0 || used >= PATH_MAX) {
            return -ENAMETOOLONG;
        }
        error = gmt_ring_dump(spool_directory, file, cause);
    }
    return error;
}
