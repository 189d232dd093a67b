/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace dump: writes a trace of the last seconds of a program that runs under gmtrace --ring. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/recorded.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/recording/ring.h"

struct arguments {
    const char *pid, *output;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "write this file, which must not exist; else trace-1.db, trace-2.db, ... beside "
     "the output that the program was started with",
     0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o': arguments->output = value; return 0;
    case ARGP_KEY_ARG:
        if (arguments->pid != NULL) {
            argp_error(state, "one process at a time");
        }
        arguments->pid = value;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name the process"); return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "PID",
    .doc = "Write a trace of the last seconds of a program that runs under gmtrace --ring. The "
           "program "
           "goes on, and so does the recording.",
};

static int report(const struct gmt_recorded *recorded, const char *file, int error)
{
    if (error == 0) {
        gmt_say(stderr, "gmtrace: wrote %s; next: gmanalyze %s\n", file, file);
        return 0;
    }
    gmt_say(stderr, "gmtrace: no dump of process %ld: %s%s%s\n", (long)recorded->pid,
            error == -EEXIST ? file : "", error == -EEXIST ? ": " : "",
            error == -ENODATA
                ? "it is recorded as a whole, not with --ring: its trace comes when it ends"
            : error == -EEXIST ? "there is a file of that name"
            : error == -ENOENT ? "its recording has just ended"
                               : gmt_recording_explain(error));
    return GMT_EXIT_FAILED;
}

int gmt_launcher_dump(int argc, char *argv[])
{
    struct arguments arguments = {0};
    struct gmt_recorded recorded;
    char file[PATH_MAX], name[] = "gmtrace dump";
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0 ||
        gmt_recorded_find_named(arguments.pid, &recorded) != 0) {
        return GMT_EXIT_FAILED;
    }
    if (arguments.output == NULL) {
        return report(
            &recorded, file,
            gmt_ring_dump_beside(recorded.spool, recorded.control.output, "gmtrace dump", file));
    }
    (void)snprintf(file, sizeof(file), "%s", arguments.output);
    return report(&recorded, file, gmt_ring_dump(recorded.spool, file, "gmtrace dump"));
}
