/* SPDX-License-Identifier: Apache-2.0 */
/* Writes standard output out, and says when that fails. */
#include "libtrace/base/standard_output.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/base/printable.h"

static bool is_said;
static const char *watched;
static int status_of_failure;

/* The buffer that could not be written is gone, with its reason, unless no call since has set errno. */
static int likely_reason(int error)
{
    static const int reasons[] = {ENOSPC, EDQUOT, EFBIG, EPIPE, EBADF};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (error == reasons[i]) {
            return error;
        }
    }
    return EIO;
}

bool gmt_standard_output_written(const char *program)
{
    int before = errno;
    errno = 0;
    bool is_written = fflush(stdout) == 0;
    int error = errno;
    if (is_written && !ferror(stdout)) {
        errno = before;
        return true;
    }
    if (!is_said) {
        is_said = true;
        gmt_say(stderr, "%s: standard output: %s\n", program,
                strerror(is_written || error == 0 ? likely_reason(before) : error));
    }
    return false;
}

static void look_at_exit(void)
{
    bool was_said = is_said;
    if (!gmt_standard_output_written(watched) && !was_said) {
        _exit(status_of_failure);
    }
}

void gmt_standard_output_watch(const char *program, int status)
{
    watched = program;
    status_of_failure = status;
    (void)atexit(look_at_exit);
}
