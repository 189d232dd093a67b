/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze recover: a new trace of a spool that nobody will finish, wherever that comes from. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/time_limit.h"
#include "analyzer/commands/commands.h"
#include "analyzer/trace/open.h"
#include "libtrace/base/memory_limit.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/recording/recording.h"

struct recover_options {
    const char *spool, *output;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct recover_options *options = state->input;

    switch (key) {
    case 'o': options->output = argument; return 0;
    case ARGP_KEY_ARG: gmt_command_take(state, &options->spool, argument); return 0;
    case ARGP_KEY_END:
        if (options->spool == NULL) {
            argp_error(state, "no spool given");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static bool ends_in(const char *text, size_t length, const char *end)
{
    size_t bytes = strlen(end);
    return length > bytes && strncmp(text + length - bytes, end, bytes) == 0;
}

/* "x.db.spool" for "x.db", too; and "x.recovered.db". */
static int name_files(const struct recover_options *options, char *spool, char *output)
{
    size_t length = strlen(options->spool);
    while (length > 1 && options->spool[length - 1] == '/') {
        length--;
    }
    length -= ends_in(options->spool, length, ".spool") ? strlen(".spool") : 0;
    int used = snprintf(spool, PATH_MAX, "%.*s.spool", (int)length, options->spool);
    length -= ends_in(options->spool, length, ".db") ? strlen(".db") : 0;
    int put = options->output != NULL
                  ? snprintf(output, PATH_MAX, "%s", options->output)
                  : snprintf(output, PATH_MAX, "%.*s.recovered.db", (int)length, options->spool);
    return used < PATH_MAX && put < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int gmt_command_recover(int argc, char **argv)
{
    static const char doc[] =
        "The records are read from the spool and from the unfinished trace next to it. A spool "
        "of this user and this boot of the machine needs no command: gmanalyze finishes its trace "
        "when it reads it. With any other spool, no file that it names is opened: frames have no "
        "names until gmanalyze symbolize adds them. Exit status: 0; 2 usage; 3 no trace "
        "could be made.";
    struct recover_options options = {0};
    char spool[PATH_MAX], output[PATH_MAX], message[512] = "";
    sqlite3 *db = NULL;

    gmt_command_parse(GMT_COMMAND_RECOVER, parse_option, doc, argc, argv, &options);
    int rc = name_files(&options, spool, output);
    if (rc == 0) {
        /* One of the user's own also gets names, from the program's own files. */
        int64_t foreign_bytes = gmt_recording_foreign_bytes(spool);
        if (foreign_bytes >= 0) {
            gmt_memory_limit(gmt_guard_memory_of(foreign_bytes));
            gmt_time_limit_process(options.spool, gmt_guard_time_of(foreign_bytes));
        }
        rc = gmt_recording_extract(spool, output);
        gmt_time_limit_process_end();
    }
    if (rc != 0) {
        bool is_missing = rc == -ENOENT && access(spool, F_OK) != 0;
        bool has_no_spool = is_missing && access(options.spool, F_OK) == 0;

        gmt_say(stderr, "gmanalyze: %s: no trace was made: %s\n",
                rc == -EEXIST ? output : options.spool,
                has_no_spool ? "it has no spool; a finished trace needs none"
                : is_missing ? strerror(ENOENT)
                             : gmt_recording_explain(rc));
        return GMT_EXIT_UNREADABLE;
    }
    if (gmt_trace_open(output, GMT_TRACE_ALLOW_INCOMPLETE, &db, message, sizeof(message)) != 0) {
        gmt_say(stderr, "gmanalyze: %s\n", message);
        return GMT_EXIT_UNREADABLE;
    }
    gmt_say(stdout, "wrote %s: %s\n", output, gmt_recovered_count(db).text);
    sqlite3_close(db);
    return gmt_command_printed(GMT_EXIT_OK);
}
